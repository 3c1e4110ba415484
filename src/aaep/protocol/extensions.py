"""
Extensions and profiles: declarations of what a vocabulary or rule set adds to the core. Chapter 7, §9.6

An extension adds to the core and never changes it. A profile adds requirements
on top of a level. Both are small declarations that another package can register
under the entry points ``aaep.extensions`` and ``aaep.profiles``. Context
documents are never fetched (CF-136): a :class:`Registry` is the only source.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, get_args

import msgspec

from ..errors import ExtensionError, Violation
from .catalogue import all_rules, merged_rules
from .events import CORE_EVENTS, Envelope
from .fields import CORE_CONTEXT, URI_PATTERN, Urgency
from .messages import MESSAGES, Capabilities

__all__ = ["Extension", "Profile", "Registry", "add_installed", "check_declaration"]

CORE_NAMESPACE: Final = "https://aaep-protocol.org/"
_PREFIX: Final = re.compile(r"[a-z][a-z0-9_-]{1,31}")  # CF-135
_URI: Final = re.compile(URI_PATTERN)
_MAJOR_VERSION: Final = re.compile(r"/v[0-9]+(?=/|#|$)")
_RULE_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9]{0,31}")
_LEVELS: Final = (1, 2, 3)
_URGENCIES: Final = get_args(Urgency)
_ENVELOPE_MEMBERS: Final = frozenset(Envelope.__struct_encode_fields__) | {"extensions"}
_CORE_NAMES: Final = _ENVELOPE_MEMBERS | frozenset(Capabilities.__struct_encode_fields__)


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """
    A vocabulary that adds to the core.

    ``fields`` is the shape of ``extensions.<prefix>`` on an event, ``events`` the
    payload of each of its own event types, ``urgencies`` the urgency of each
    (EXT-028), ``capabilities`` the shape of its object in a handshake.
    """

    namespace: str
    prefix: str
    context: str
    fields: type[msgspec.Struct] | None = None
    events: Mapping[str, type[msgspec.Struct]] = {}
    urgencies: Mapping[str, Urgency] = {}
    capabilities: type[msgspec.Struct] | None = None
    description: str = ""
    contact: str = ""

    def __post_init__(self) -> None:
        # Built here: two threads that build the first decoder of a Struct at the same time crash the process.
        for shape in (self.fields, self.capabilities, *self.events.values()):
            if _is_struct_class(shape):
                msgspec.json.Decoder(shape)

    @property
    def family(self) -> str:
        """The namespace without its major version: v1 and v2 are one family (CF-062)."""
        return _strip_major_version(self.namespace)


def _strip_major_version(uri: str) -> str:
    return _MAJOR_VERSION.sub("", str(uri))


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """
    A named set of further rules on top of a level. EXT-044 §7.10

    Each of ``checks`` takes a message and yields violations whose rule ids
    start with ``prefix`` and a dash, so that no core rule can be restated.

    Raises :exc:`~aaep.errors.ExtensionError` if it does anything but add.
    """

    uri: str
    version: str
    prefix: str
    level: int
    extensions: tuple[str, ...] = ()
    statements: Mapping[str, str] = {}
    checks: tuple[Callable[[Any], Iterable[Violation]], ...] = ()

    def __post_init__(self) -> None:
        # Checked here because an audit takes profiles without a registry.
        errors = [*_find_profile_violations(self)]
        if errors:
            raise ExtensionError(f"The profile {self.uri} cannot be used.", errors)

    def check(self, message: Any) -> Iterator[Violation]:
        """Yield the violations that the profile's checks find, all under its own rules. TERM-026 §2.2.17"""
        for check in self.checks:
            for violation in check(message):
                if not violation.rule.startswith(f"{self.prefix}-"):
                    text = f"A check found {violation.rule}, which is not its own to judge. Use {self.prefix}-…."
                    raise ExtensionError(f"The profile {self.uri} cannot be used.", [Violation("TERM-026", text)])
                yield violation


def _find_profile_violations(profile: Profile) -> Iterator[Violation]:
    """Find what is wrong with a profile by itself. TERM-026"""
    if not _URI.fullmatch(str(profile.uri)):
        yield Violation("TERM-026", "A profile needs a URI of its own, an absolute one.", "/uri")
    if profile.level not in _LEVELS:
        yield Violation("TERM-026", f"A profile stands on level 1, 2 or 3; found {profile.level!r}.", "/level")
    core_prefixes = {id_.partition("-")[0] for id_ in (*all_rules(), *merged_rules())}
    if not _RULE_PREFIX.fullmatch(str(profile.prefix)):
        text = f"The prefix {profile.prefix!r} is not usable: it should be letters and digits, such as MEDICAL."
        yield Violation("TERM-026", text, "/prefix")
    elif profile.prefix.upper() in core_prefixes:
        text = f"The prefix {profile.prefix} belongs to rules of the protocol. Choose another."
        yield Violation("TERM-026", text, "/prefix")
    for rule in profile.statements:
        if not rule.startswith(f"{profile.prefix}-"):
            yield Violation("TERM-026", f"{rule} is not its own to state. Use {profile.prefix}-….", "/statements")


def _is_struct_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, msgspec.Struct)


def _find_type_violations(extension: Extension, type_: str, payload: object) -> Iterator[Violation]:
    """Find what is wrong with one event type of an extension."""
    if not type_.startswith(f"{extension.prefix}:"):
        yield Violation("EXT-012", f"{type_} is not in the namespace of {extension.prefix}.", "/types")
    if type_ in CORE_EVENTS or type_ in MESSAGES:
        yield Violation("EXT-012", f"{type_} is a core type.", "/types")
    if not _is_struct_class(payload):
        text = f"The payload of {type_} should be a class of msgspec.Struct; found {payload!r}."
        yield Violation("EXT-027", text, "/types")
    for name in getattr(payload, "__struct_encode_fields__", ()):
        if name in _ENVELOPE_MEMBERS:  # ENV-059 §3.5: the envelope's names keep their meaning on every event.
            yield Violation("ENV-059", f"The payload of {type_} redefines the envelope's {name}.", "/types")
        elif name.startswith("aaep_"):  # CF-128
            text = f"The payload of {type_} has {name}; names that start with aaep_ are reserved. Rename it."
            yield Violation("ENV-058", text, "/types")
        elif name.startswith("@"):  # CF-128
            text = f"The payload of {type_} has {name}; names that start with @ belong to JSON-LD. Rename it."
            yield Violation("ENV-060", text, "/types")
    urgency = extension.urgencies.get(type_)
    if urgency is None:
        yield Violation("EXT-028", f"{type_} has no urgency. Say how urgent it is.", "/urgencies")
    elif urgency not in _URGENCIES:
        text = f"The urgency of {type_} should be one of {', '.join(_URGENCIES)}; found {urgency!r}."
        yield Violation("EXT-028", text, "/urgencies")


def check_declaration(
    *, namespace: object, prefix: object, context: object, types: Iterable[object] = ()
) -> Iterator[Violation]:
    """Yield everything that is wrong with an extension's declaration."""
    yield from _find_prefix_violations(prefix)
    if not isinstance(namespace, str) or not _URI.fullmatch(namespace):
        yield Violation(
            "EXT-014", "An extension needs a namespace: an absolute URI its publisher controls.", "/namespace"
        )
    elif namespace.startswith(CORE_NAMESPACE):
        yield Violation("EXT-012", f"The namespace {namespace} belongs to the core. Use one of your own.", "/namespace")
    elif not _MAJOR_VERSION.search(namespace):
        yield Violation("EXT-016", "The namespace should carry the major version, such as /v1.", "/namespace")
    if not isinstance(context, str) or not _URI.fullmatch(context) or context.startswith(CORE_NAMESPACE):
        yield Violation("EXT-014", "An extension needs a context: an absolute URI outside the core.", "/context")
    for index, type_ in enumerate(types):
        if not isinstance(type_, str):
            yield Violation("EXT-012", f"{type_!r} is no event type. Use {prefix}:name.", f"/types/{index}")
        elif type_.startswith("aaep:") or type_.startswith(CORE_NAMESPACE):
            yield Violation("EXT-012", f"{type_} is in the core's namespace. Use {prefix}:name.", f"/types/{index}")


def _find_prefix_violations(prefix: object) -> Iterator[Violation]:
    if not isinstance(prefix, str):
        yield Violation("EXT-017", "An extension needs a short prefix.", "/prefix")
    elif prefix.startswith("@"):
        yield Violation("EXT-024", "Names that start with @ belong to JSON-LD. Choose another prefix.", "/prefix")
    elif prefix.lower() == "aaep":
        yield Violation("EXT-022", "The prefix aaep belongs to the core. Choose another.", "/prefix")
    elif prefix.lower() in ("xsd", "rdf", "rdfs"):
        yield Violation("EXT-023", f"The prefix {prefix} belongs to RDF. Choose another.", "/prefix")
    elif not _PREFIX.fullmatch(prefix) or prefix in _CORE_NAMES:
        expected = "two to 32 lower-case letters, digits, - or _, and no name the core uses"
        yield Violation("EXT-017", f"The prefix {prefix!r} is not usable: it should be {expected}.", "/prefix")
    elif not 3 <= len(prefix) <= 12:
        yield Violation("EXT-017", "A prefix usually has 3 to 12 characters.", "/prefix", severity="warning")


class Registry:
    """The extensions and profiles that a program knows."""

    def __init__(self, extensions: Iterable[Extension] = ()) -> None:
        self._by_context: dict[str, Extension] = {}
        self._by_prefix: dict[str, list[Extension]] = {}
        self.profiles: dict[str, Profile] = {}
        for extension in extensions:
            self.add(extension)

    def add(self, extension: Extension) -> None:
        """
        Register an extension, or raise :exc:`~aaep.errors.ExtensionError` with the reasons. EXT-013 §7.2

        Registering an equal extension again has no effect.
        """
        if extension in self._by_context.values():
            return
        violations = [*self._find_violations(extension)]
        errors = [
            violation for violation in violations if violation.severity != "warning" and violation.rule != "EXT-016"
        ]
        if errors:
            raise ExtensionError(f"The extension {extension.prefix!r} was not registered.", errors)
        self._by_context[extension.context] = extension
        self._by_prefix.setdefault(extension.prefix, []).append(extension)

    def add_profile(self, profile: Profile) -> None:
        """
        Register a profile, whose URI and rule ids have to be its own. TERM-026 §2.2.17

        Registering an equal profile again has no effect.
        """
        for other in self.profiles.values():
            if other == profile:
                return
            if other.uri == profile.uri:
                text = "Another profile has this URI. Give what has changed one of its own, such as /v2."
                raise ExtensionError(f"The profile {profile.uri} was not registered. {text}")
            if other.prefix == profile.prefix and _strip_major_version(other.uri) != _strip_major_version(profile.uri):
                text = f"The prefix {profile.prefix} is taken by {other.uri}. Choose another."
                raise ExtensionError(f"The profile {profile.uri} was not registered. {text}")
        registered = {extension.namespace for extension in self._by_context.values()}
        missing = [uri for uri in profile.extensions if uri not in registered]
        if missing:
            raise ExtensionError(f"The profile {profile.uri} needs these extensions registered first: {missing}")
        self.profiles[profile.uri] = profile

    def context(self, uri: str) -> Extension | None:
        """Return the extension with this context, or None."""
        return self._by_context.get(uri)

    def namespace(self, uri: str) -> Extension | None:
        """Return the extension with this namespace, the URI that a subscriber lists, or None."""
        return next((extension for extension in self._by_context.values() if extension.namespace == uri), None)

    def prefix(self, prefix: str) -> Extension | None:
        """Return the newest extension with this prefix, or None."""
        extensions = self._by_prefix.get(prefix)
        return extensions[-1] if extensions else None

    def declared(self, contexts: Iterable[str]) -> tuple[dict[str, Extension], bool]:
        """
        Return the extensions that an event's contexts declare, by prefix. C-07, ENV-052 §3.4.3

        The second value tells whether some context is not registered: an unclaimed
        prefix may then belong to it.
        """
        claimed: dict[str, Extension] = {}
        has_unregistered = False
        for uri in contexts:
            if uri == CORE_CONTEXT or not isinstance(uri, str):
                continue
            extension = self._by_context.get(uri)
            if extension is None:
                has_unregistered = True
            else:
                claimed.setdefault(extension.prefix, extension)
        return claimed, has_unregistered

    def _find_violations(self, extension: Extension) -> Iterator[Violation]:
        yield from check_declaration(
            namespace=extension.namespace,
            prefix=extension.prefix,
            context=extension.context,
            types=extension.events,
        )
        for name, shape in (("fields", extension.fields), ("capabilities", extension.capabilities)):
            if shape is not None and not _is_struct_class(shape):
                yield Violation("EXT-027", f"{name} should be a class of msgspec.Struct; found {shape!r}.", f"/{name}")
        for type_, payload in extension.events.items():
            if isinstance(type_, str):  # any other was reported by check_declaration()
                yield from _find_type_violations(extension, type_, payload)
        for type_ in extension.urgencies:
            if type_ not in extension.events:
                text = f"{type_} has an urgency, but is none of its events. Leave it out."
                yield Violation("EXT-028", text, "/urgencies")
        yield from self._find_clashes(extension)

    def _find_clashes(self, extension: Extension) -> Iterator[Violation]:
        """
        Find names of the extension that an earlier one has taken.

        There is one context and one shape for each namespace, and one family for each prefix.
        """
        for other in self._by_context.values():
            if other.namespace == extension.namespace:
                if other.prefix != extension.prefix:
                    text = f"{other.namespace} has the prefix {other.prefix}. Use that, or a namespace of your own."
                else:
                    text = f"{other.namespace} is declared in another way already. Give what has changed a new version."
                yield Violation("EXT-014", text, "/namespace")
                continue
            if other.context == extension.context:
                text = f"The context {other.context} belongs to {other.namespace}. Use one of your own."
                yield Violation("EXT-017", text, "/context")
            if other.prefix == extension.prefix and other.family != extension.family:
                text = f"The prefix {extension.prefix} is taken by {other.namespace}."
                yield Violation("EXT-019", text, "/prefix", severity="error")


def add_installed(registry: Registry) -> Registry:
    """Register what installed packages declare under the entry points, and return the registry."""
    points: list[tuple[EntryPoint, Callable[[Any], None]]]
    points = [(point, registry.add) for point in entry_points(group="aaep.extensions")]
    points += [(point, registry.add_profile) for point in entry_points(group="aaep.profiles")]
    for point, add in points:
        try:
            add(point.load())
        except Exception as error:  # another package's module may raise anything
            raise ExtensionError(f"{point.group} {point.name} ({point.value}) cannot be used: {error}") from error
    return registry
