"""
Negotiate the terms of a subscription: what a producer grants of a request. §5.3 to §5.7

Everything is decided from the request and the :class:`Offer` alone: the same
request always gets the same answer. Nothing granted is wider than the request
(:func:`aaep.protocol.subscription.find_wider` finds nothing), every core member
that has a value is named (CF-043), and the notes say what was narrowed in plain
sentences that repeat none of the peer's own text.

A request is often decoded leniently, so a member may hold what its type does
not allow; :func:`usable_capabilities` is the one place that sorts this out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import UNSET

from ..text.languages import filter_supported_languages
from . import attend_extension
from .codec import canonical_type
from .events import ProducerInfo
from .extensions import Extension, Registry
from .fields import AAEP_VERSION, Message, get_member
from .messages import (
    Capabilities,
    EventFilters,
    SubscriptionAccepted,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from .rules import check_patterns
from .subscription import ALL_EVENT_PATTERNS, ORDERED_VALUES, apply_resets, merge_capabilities, with_defaults

__all__ = [
    "Offer",
    "apply_change",
    "cut_lists",
    "negotiate",
    "renegotiate",
    "select_kept",
    "tighten",
    "usable_capabilities",
]

_ALIASES: Final = {"0.1.0-draft": "1.0.0"}  # CF-048
_VERSION: Final = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:-[A-Za-z0-9.-]+)?")
_MAJOR: Final = re.compile(r"/v([0-9]{1,9})(?=/|#|$)")
_MAX_VALUES: Final = {"max_events_per_second": 100_000, "pace_wpm": 1000}  # CF-057: more is not refused, only lowered
_MAX_LENGTHS: Final = {"languages": 32, "supported_extensions": 64}  # items that are kept ...
_MAX_ITEMS: Final = {"languages": 64, "supported_conformance_levels": 16}  # ... and of which longer lists are not read,
_MAX_OTHER_ITEMS: Final = 64  # as looking at each item takes time that other readers wait
_UNUSABLE_NOTE: Final = "Values that cannot be used were lowered or left out."
_MAX_NOTE_LENGTH: Final = 4096  # characters: SUB-026, SUB-042

Version = tuple[int, int, int]


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """
    The versions, levels, languages and extensions that a producer can grant.

    ``namespaces`` are the extensions it sends data of; ``registry`` has to know
    them, for it holds the prefix of each (CF-061). A producer whose ``levels`` end
    at 1 takes no replies. ``origins`` are further addresses it is reached at, such
    as a proxy's (CF-120).
    """

    producer: ProducerInfo
    versions: tuple[str, ...] = (AAEP_VERSION,)
    levels: tuple[Literal[1, 2, 3], ...] = (1, 2, 3)
    languages: tuple[str, ...] = ("en-US",)
    registry: Registry = msgspec.field(default_factory=attend_extension.attend_registry)
    namespaces: tuple[str, ...] = ()
    max_events_per_second: int | None = None
    max_subscriptions: int | None = None
    retry_after_seconds: int = 30
    manifest_uri: str | None = None
    signed_manifest: str | None = None
    origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("versions", "levels", "languages"):
            if not getattr(self, name):
                raise ValueError(f"An offer needs {name}.")
        if any(_parse_version(version) is None for version in self.versions):
            raise ValueError(f"A version is three numbers, such as {AAEP_VERSION}.")
        if self.max_events_per_second is not None and self.max_events_per_second < 1:
            raise ValueError("max_events_per_second is at least 1, or None for no limit.")
        for uri in self.namespaces:
            if self.registry.namespace(uri) is None:
                raise ValueError(f"The extension {uri} is offered, but not registered.")


# -- reading a request ---------------------------------------------------------------------


def usable_capabilities(capabilities: Capabilities) -> tuple[Capabilities, tuple[str, ...]]:
    """
    Return the members that can be used, and the names of those that cannot.

    Of a list the usable items are kept, since leaving one out asks for less
    (§12.2); but filters are all or nothing, since leaving out an exclude asks for
    more. A number above its range is lowered to the highest allowed (CF-057). A list
    that is longer than any reader needs cannot be used.
    """
    usable: dict[str, Any] = {}
    unusable: list[str] = []
    for name in Capabilities.__struct_fields__:
        value = getattr(capabilities, name)
        if value is UNSET:
            continue
        if _is_too_long(name, value):
            unusable.append(name)
            continue
        if isinstance(value, tuple):
            items = dict.fromkeys(item for item in value if _is_usable(name, (item,)))
            value = tuple(items)[: _MAX_LENGTHS.get(name)]
        elif name in _MAX_VALUES and isinstance(value, int):
            value = min(value, _MAX_VALUES[name])
        if _is_usable(name, value):
            usable[name] = value
        else:
            unusable.append(name)
    return _with_unknown(Capabilities(**usable), capabilities.unknown), tuple(unusable)


def _is_too_long(name: str, value: object) -> bool:
    """Whether the value of a capability is a list, or has one, with more items than are read."""
    lists = (value.include, value.exclude) if isinstance(value, EventFilters) else (value,)
    max_items = _MAX_ITEMS.get(name, _MAX_OTHER_ITEMS)
    return any(isinstance(items, (tuple, list)) and len(items) > max_items for items in lists)


def cut_lists(capabilities: dict[str, Any]) -> bool:
    """Cut the lists of a decoded request to one item more than is read; return whether there was a longer one."""
    filters = capabilities.get("event_filters")
    was_cut = False
    for members in (capabilities, filters if isinstance(filters, dict) else {}):
        for value in members.values():
            if isinstance(value, list) and len(value) > _MAX_OTHER_ITEMS + 1:
                del value[_MAX_OTHER_ITEMS + 1 :]
                was_cut = True
    return was_cut


def select_kept(capabilities: Capabilities, offer: Offer) -> Capabilities:
    """Return what has to be remembered of a request until its terms change: nothing that could never be granted."""
    usable, _ = usable_capabilities(capabilities)
    extensions = [offer.registry.namespace(uri) for uri in offer.namespaces]
    shapes = {extension.prefix: extension.capabilities for extension in extensions if extension is not None}
    usable.__dict__["unknown"] = {
        prefix: value
        for prefix, value in usable.unknown.items()
        if (shape := shapes.get(prefix)) is not None and _has_shape(value, shape)
    }
    return usable


def _is_usable(name: str, value: object) -> bool:
    try:
        capabilities = msgspec.convert({name: msgspec.to_builtins(value)}, Capabilities)
    except msgspec.ValidationError:
        return False
    filters = get_member(capabilities, "event_filters")
    return not any(True for part in (capabilities, filters) if part is not None for _ in check_patterns(part))


def _with_unknown(terms: Capabilities, unknown: Any) -> Capabilities:
    if unknown:
        terms.__dict__["unknown"] = dict(unknown)
    return terms


def apply_change(asked: Capabilities, change: SubscriptionRenegotiate) -> Capabilities:
    """
    Return what a subscriber asks for after a renegotiation, to keep for the next one.

    CF-042: a member that is present replaces the whole member, null resets it to
    its default, and one that cannot be used leaves it as it was (CF-041).
    """
    previous, _ = usable_capabilities(asked)
    changes, _ = usable_capabilities(change.capabilities)
    merged = merge_capabilities(apply_resets(previous, change), changes)
    merged.__dict__["unknown"] = {prefix: value for prefix, value in merged.unknown.items() if value is not None}
    return merged


# -- answering a request -------------------------------------------------------------------


def negotiate(
    request: SubscriptionRequest, offer: Offer, subscription_id: str, *, active: int = 0, start: str | None = None
) -> SubscriptionAccepted | SubscriptionRejected:
    """
    Answer a subscription request with the terms, or with the reason to reject it. SUB-016 §5.4, SUB-039 §5.5

    ``subscription_id`` is a fresh one and ``active`` the number of existing
    subscriptions. ``start`` is the last event before the subscription, which is
    named to who asks for it. Authorization (SUB-052 to SUB-054) is decided before.
    """
    manifest_uri = _or_unset(offer.manifest_uri)
    version = _choose_version(request.aaep_version, offer)
    if version is None:
        versions = dict.fromkeys(_ALIASES.get(offered, offered) for offered in offer.versions)
        served = ", ".join(versions)
        text = f"That version is not served here. Served: {served}."
        return _build_rejected("version_unsupported", text, manifest_uri)  # SUB-048
    if offer.max_subscriptions is not None and active >= offer.max_subscriptions:  # SUB-051
        text = f"There are too many subscriptions. Try again in {offer.retry_after_seconds} seconds."
        return _build_rejected("rate_limit", text, retry_after=offer.retry_after_seconds)
    asked, unusable = usable_capabilities(request.capabilities)
    too_long = [name for name in unusable if _is_too_long(name, getattr(request.capabilities, name))]
    if too_long:
        max_items = _MAX_ITEMS.get(too_long[0], _MAX_OTHER_ITEMS)
        text = f"{too_long[0]} has too many entries. Send at most {max_items}."
        return _build_rejected("capabilities_incompatible", text, manifest_uri)
    if unusable:
        text = f"These capabilities cannot be used as they are: {', '.join(unusable)}."
        return _build_rejected("capabilities_incompatible", text, manifest_uri)
    wanted = with_defaults(asked)
    if wanted.accept_signed_manifests_only is True and offer.signed_manifest is None:
        return _reject_unsigned(manifest_uri)
    if not filter_supported_languages(_to_tuple(wanted.languages), offer.languages):  # CF-045
        text = f"None of the languages asked for is offered. Offered: {', '.join(offer.languages)}."
        return _build_rejected("capabilities_incompatible", text, manifest_uri)
    _, clashing = _select_extensions(wanted, offer)
    if clashing:  # EXT-019 §7.3.1
        text = f"Two extensions share the prefix {clashing[0]}. Ask for one of them."
        return _build_rejected("capabilities_incompatible", text, manifest_uri)
    notes = [_UNUSABLE_NOTE] if asked != request.capabilities else []
    if version != request.aaep_version:
        notes.append(f"Version {version} is spoken.")
    return _build_accepted(wanted, offer, subscription_id, version, notes, start)


def renegotiate(
    asked: Capabilities, change: SubscriptionRenegotiate, offer: Offer, *, version: str = AAEP_VERSION
) -> SubscriptionAccepted | SubscriptionRejected:
    """
    Answer a change of terms with the full set of terms. SUB-057 §5.7

    ``asked`` is what the subscriber has asked for so far; keep the result of
    :func:`apply_change` for the next time. ``version`` is the one agreed on. A
    rejection would end the subscription and with it the way to reply, so what
    cannot be granted is left out and noted (CF-041); the only exception is a
    demanded signature that does not exist (CAP-045).
    """
    wanted = with_defaults(apply_change(asked, change))
    if wanted.accept_signed_manifests_only is True and offer.signed_manifest is None:
        return _reject_unsigned(_or_unset(offer.manifest_uri))
    changes, unusable = usable_capabilities(change.capabilities)
    notes = []
    if unusable:
        notes.append(f"These capabilities could not be used and stay as they were: {', '.join(unusable)}.")
    elif changes != change.capabilities:
        notes.append(_UNUSABLE_NOTE)
    return _build_accepted(wanted, offer, change.subscription_id, version, notes)


def _build_accepted(
    wanted: Capabilities,
    offer: Offer,
    subscription_id: str,
    version: str,
    notes: list[str],
    start: str | None = None,
) -> SubscriptionAccepted:
    extensions, clashing_prefixes = _select_extensions(wanted, offer)
    terms, entries = _grant_terms(wanted, offer, extensions, clashing_prefixes, notes)
    entries = _answer_start(entries, start)
    signed_manifest = offer.signed_manifest if wanted.accept_signed_manifests_only is True else None  # CF-068
    accepted = SubscriptionAccepted(
        subscription_id=subscription_id,
        aaep_version=version,
        producer=offer.producer,
        honored_capabilities=terms,
        manifest_uri=_or_unset(offer.manifest_uri),
        signed_manifest=_or_unset(signed_manifest),
        negotiation_notes=_shorten(" ".join(notes)) if notes else UNSET,
    )
    if entries:  # CAP-050: members the type does not name are sent in the raw form
        sent = msgspec.to_builtins(accepted)
        sent["honored_capabilities"] |= entries
        accepted.__dict__["raw"] = msgspec.json.encode(sent)
    return accepted


def _answer_start(entries: dict[str, Any], start: str | None) -> dict[str, Any]:
    """Return the entries with the event after which a subscription starts, if that was asked for. CF-084"""
    entry = entries.get(attend_extension.PREFIX, {})
    if entry.get("start") is not True:
        return entries
    answered = {name: value for name, value in entry.items() if name != "start"}
    if start is not None:
        answered["start"] = start
    others = {prefix: value for prefix, value in entries.items() if prefix != attend_extension.PREFIX}
    return {**others, attend_extension.PREFIX: answered} if answered else others


def _grant_terms(
    wanted: Capabilities, offer: Offer, extensions: list[Extension], clashing_prefixes: list[str], notes: list[str]
) -> tuple[Capabilities, dict[str, Any]]:
    """Return the terms and the entries of extensions; append to the notes what was narrowed. SUB-028 §5.4.4"""
    rate = _grant_rate(wanted, offer, notes)
    languages = _grant_languages(wanted, offer, notes)
    may_reply = max(offer.levels) >= 2
    if not may_reply and True in (wanted.supports_confirmation_reply, wanted.supports_clarification_reply):
        notes.append("Replies are not taken here.")
    may_confirm = wanted.supports_confirmation_reply is True and may_reply
    levels = _grant_levels(wanted, offer, notes, may_reply=may_reply, may_confirm=may_confirm)
    entries = _grant_entries(wanted, extensions, clashing_prefixes, notes)
    filters = get_member(wanted, "event_filters") or EventFilters()
    terms = msgspec.structs.replace(
        wanted,
        max_events_per_second=rate,
        languages=languages,
        supports_confirmation_reply=may_confirm,
        supports_clarification_reply=wanted.supports_clarification_reply is True and may_reply,
        event_filters=EventFilters(
            include=_compact_patterns(ALL_EVENT_PATTERNS if filters.include is UNSET else filters.include),
            exclude=_compact_patterns(() if filters.exclude is UNSET else filters.exclude),
        ),
        supported_conformance_levels=levels,
        supported_extensions=tuple(extension.namespace for extension in extensions),
    )
    return _with_unknown(terms, entries), entries


def _grant_rate(wanted: Capabilities, offer: Offer, notes: list[str]) -> Any:
    """Return the lower of both rate limits; UNSET if neither side has one (CAP-003)."""
    both_limits = (get_member(wanted, "max_events_per_second"), offer.max_events_per_second)
    limits = [limit for limit in both_limits if limit is not None]
    rate = min(*limits, _MAX_VALUES["max_events_per_second"]) if limits else UNSET
    if rate != wanted.max_events_per_second:
        notes.append(f"At most {rate} events per second are sent, not counting critical ones.")
    return rate


def _grant_languages(wanted: Capabilities, offer: Offer, notes: list[str]) -> tuple[str, ...]:
    requested = _to_tuple(wanted.languages)
    languages = filter_supported_languages(requested, offer.languages)
    if not languages:
        # Only in a renegotiation. No event is dropped for its language (CF-045), and an empty list cannot be sent.
        notes.append(f"None of the languages asked for is offered. Text stays in {offer.languages[0]}.")
        return requested
    if len(languages) < len(requested):
        notes.append("Not every language asked for is offered.")
    return languages


def _grant_levels(
    wanted: Capabilities, offer: Offer, notes: list[str], *, may_reply: bool, may_confirm: bool
) -> tuple[Literal[1, 2, 3], ...]:
    """Return the granted levels: the highest includes the lower ones, and above 1 replies are needed (CF-058)."""
    levels = _to_tuple(wanted.supported_conformance_levels)
    ceiling = min(max(levels), max(offer.levels) if may_confirm else 1)
    granted = tuple(level for level in levels if level <= ceiling) or (ceiling,)
    if granted != levels:
        reason = "" if may_confirm or not may_reply else ", for it cannot answer confirmations"
        notes.append(f"The subscription is served as Level {max(granted)}{reason}.")
    return granted


def _grant_entries(
    wanted: Capabilities, extensions: list[Extension], clashing_prefixes: list[str], notes: list[str]
) -> dict[str, Any]:
    """Return the entries under the prefixes of the granted extensions."""
    if clashing_prefixes:
        notes.append(f"Extensions that share the prefix {clashing_prefixes[0]} are left out.")
    if len(extensions) < len(_to_tuple(wanted.supported_extensions)):
        notes.append("Not every extension asked for is in use.")
    entries = {
        extension.prefix: value
        for extension in extensions
        if (value := wanted.unknown.get(extension.prefix)) is not None
        and extension.capabilities is not None
        and _has_shape(value, extension.capabilities)
    }
    if len(entries) < len(wanted.unknown):  # CAP-048: ignored, and never a reason to reject
        notes.append("Capabilities that are not known here, or of extensions that are not listed, are ignored.")
    return entries


def _has_shape(value: object, shape: type[msgspec.Struct]) -> bool:
    try:
        entry = msgspec.convert(value, shape)
    except msgspec.ValidationError:
        return False
    return not any(True for _ in check_patterns(cast(Message, entry), rule="CAP-047"))


def _compact_patterns(patterns: Iterable[str]) -> tuple[str, ...]:
    """Return the patterns without duplicates, full URIs in their short form (CF-051)."""
    return tuple(dict.fromkeys(canonical_type(pattern) for pattern in patterns))


def _select_extensions(wanted: Capabilities, offer: Offer) -> tuple[list[Extension], list[str]]:
    """Return the granted extensions, one for each prefix, and the prefixes that two of them claim."""
    families: dict[str, dict[str, Extension]] = {}
    for uri in _to_tuple(wanted.supported_extensions):
        extension = offer.registry.namespace(uri) if uri in offer.namespaces else None  # CF-064: others are inert
        if extension is not None:
            family = families.setdefault(extension.prefix, {})
            # CF-062: two major versions are one extension; the higher is used.
            rival = family.get(extension.family, extension)
            family[extension.family] = max(rival, extension, key=_major_version)
    clashing_prefixes = [prefix for prefix, family in families.items() if len(family) > 1]
    selected = [extension for family in families.values() if len(family) == 1 for extension in family.values()]
    return selected, clashing_prefixes


def _major_version(extension: Extension) -> int:
    match = _MAJOR.search(extension.namespace)
    return int(match[1]) if match is not None else 0


def _parse_version(text: str) -> Version | None:
    match = _VERSION.fullmatch(_ALIASES.get(text, text))
    return (int(match[1]), int(match[2]), int(match[3] or 0)) if match is not None else None


def _choose_version(requested: str, offer: Offer) -> str | None:
    """Return the lower of the requested version and our highest of that major, or None (CF-047, C-62)."""
    wanted = _parse_version(requested)
    if wanted is None:
        return None
    offered = [version for text in offer.versions if (version := _parse_version(text)) is not None]
    same_major = [version for version in offered if version[0] == wanted[0]]
    return "{}.{}.{}".format(*min(wanted, max(same_major))) if same_major else None


def _reject_unsigned(manifest_uri: Any) -> SubscriptionRejected:
    """Reject a request for a signature that does not exist. SUB-049 §5.5.3, CAP-045 §5.3.1.12"""
    return _build_rejected("manifest_signature_required", "There is no signed manifest here.", manifest_uri)


def _build_rejected(code: Any, text: str, manifest_uri: Any = UNSET, retry_after: Any = UNSET) -> SubscriptionRejected:
    return SubscriptionRejected(
        reason_code=code,
        reason_message=_shorten(text),
        retry_after_seconds=retry_after,
        alternative_manifest_uri=manifest_uri,
    )


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_NOTE_LENGTH else text[: _MAX_NOTE_LENGTH - 1] + "…"


def _or_unset(value: str | None) -> Any:
    return UNSET if value is None else value


def _to_tuple(value: Any) -> tuple[Any, ...]:
    return () if value is UNSET else tuple(value)


# -- using the answer ------------------------------------------------------------------------


def tighten(asked: Capabilities, honoured: Capabilities) -> Capabilities:
    """
    Return the tighter of requested and honoured terms, member by member, for the subscriber to use. CF-148

    A member that the producer left out, or that cannot be used, is as requested
    (CF-043). A list is empty where the two have nothing in common. These terms are
    for local use only; they are not sent.
    """
    requested = with_defaults(usable_capabilities(asked)[0])
    granted = usable_capabilities(honoured)[0]
    tightened: dict[str, Any] = {}
    for name in Capabilities.__struct_fields__:
        wanted_value = getattr(requested, name)
        granted_value = getattr(granted, name)
        if granted_value is UNSET or wanted_value is UNSET:
            tightened[name] = wanted_value if granted_value is UNSET else granted_value
        elif name in ORDERED_VALUES:
            tightened[name] = min(wanted_value, granted_value, key=ORDERED_VALUES[name].index)
        elif name == "event_filters":
            tightened[name] = _intersect_filters(wanted_value, granted_value)
        elif name == "accept_signed_manifests_only":
            tightened[name] = wanted_value or granted_value
        elif isinstance(wanted_value, bool):
            tightened[name] = wanted_value and granted_value
        elif isinstance(wanted_value, int):
            tightened[name] = min(wanted_value, granted_value)
        elif name == "supported_conformance_levels":  # CF-058
            ceiling = min(max(wanted_value), max(granted_value))
            tightened[name] = tuple(level for level in wanted_value if level <= ceiling) or (ceiling,)
        else:
            granted_items = {item.lower() for item in granted_value}
            tightened[name] = tuple(item for item in wanted_value if item.lower() in granted_items)
    entries = {prefix: value for prefix, value in granted.unknown.items() if prefix in requested.unknown}
    return _with_unknown(Capabilities(**tightened), entries)


def _intersect_filters(first: EventFilters, second: EventFilters) -> EventFilters:
    """
    Return filters that admit exactly what both admit.

    Of two patterns that overlap, one is always inside the other.
    """
    first_include, second_include = (
        _compact_patterns(ALL_EVENT_PATTERNS if filters.include is UNSET else filters.include)
        for filters in (first, second)
    )
    include = [
        narrower
        for first_pattern in first_include
        for second_pattern in second_include
        if (narrower := _narrower_pattern(first_pattern, second_pattern)) is not None
    ]
    exclude = (*_compact_patterns(_to_tuple(first.exclude)), *_compact_patterns(_to_tuple(second.exclude)))
    return EventFilters(include=tuple(dict.fromkeys(include)), exclude=tuple(dict.fromkeys(exclude)))


def _narrower_pattern(first: str, second: str) -> str | None:
    """Return the narrower of two patterns, or None if neither contains the other."""
    for wide, narrow in ((first, second), (second, first)):
        if wide == narrow or (wide.endswith("*") and narrow.startswith(wide[:-1])):
            return narrow
    return None
