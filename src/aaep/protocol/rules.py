"""
Rules on single messages that their shapes cannot express.

Each rule is a small function that yields violations, and exists only here: the
producer raises them, the subscriber reports them, the validator prints them,
the conformance suite judges by them.

:func:`check_every_rule` runs all of them. :func:`check` gives the same result
and is what everything else calls: for each type of message the rules are
arranged by the members they read, so that a rule runs again only when those
have changed.

* A rule that reads members whose values recur from event to event (the producer,
  the language, the tool …) declares so with :func:`reads`. Its result is cached
  under those values, be it an error, a note or nothing.
* Rules about characters run only on a message that has others than plain ASCII,
  those about sizes only on one that is long or may hold any value.
* All others run on every message, or with :func:`only_if` on those for which a
  condition on recurring members holds.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from operator import attrgetter
from typing import Any, Final, Literal, TypeAlias, TypeVar, cast

import msgspec
from msgspec import UNSET, inspect

from ..errors import Severity, Violation
from ..text import languages, redaction
from ..text.sanitize import LANG_MARKUP
from . import events, messages, timestamps
from .attend_extension import attend_member, attend_registry
from .events import CRITICAL, Envelope
from .extensions import Registry
from .fields import CORE_CONTEXT, STATES, URI_PATTERN, Message, get_member, json_pointer, struct_fields

__all__ = [
    "BUNDLED_REGISTRY",
    "FREE_MEMBERS",
    "PUBLISHED_VERSIONS",
    "assess_stakes",
    "check",
    "check_every_rule",
    "check_patterns",
    "check_shape",
    "is_newer_version",
    "iter_human_texts",
    "pattern_test",
    "required_members",
    "rule_for_member",
]

Grade: TypeAlias = Severity | Literal[""]
F = TypeVar("F", bound=Callable[..., Any])

BUNDLED_REGISTRY: Final = attend_registry()
PUBLISHED_VERSIONS: Final = ("0.1.0-draft", "1.0.0")  # C-20
_SAFE_INTEGER: Final = 2**53
_MAX_CACHED: Final = 4096  # combinations of recurring values cached for one type
_RECURRING_IDS: Final = frozenset(("session_id", "output_id", "tool_call_id"))  # each is on several events
_LONG_MESSAGE_BYTES: Final = 16_384  # bytes; a longer message may break a limit on its parts

# I18N-002 §11.1: the members written for people.
TEXT_MEMBERS: Final = (*languages.VARIANT_FIELDS, "chunk", "request_text")


# -- declaring what a rule reads ----------------------------------------------------


def reads(*names: str) -> Callable[[F], F]:
    """
    Declare that a rule reads only these members, whose values recur from event to event.

    Its violations are cached under the values. Of a member whose name ends in ``?``
    only the presence is read.
    """

    def declare(rule: F) -> F:
        rule.reads = names  # type: ignore[attr-defined]  # a function may have attributes of its own
        return rule

    return declare


def only_if(condition: Callable[[Any], bool], *names: str) -> Callable[[F], F]:
    """Declare that a rule finds nothing unless a condition holds, which reads only these recurring members."""

    def declare(rule: F) -> F:
        rule.condition = reads(*names)(condition)  # type: ignore[attr-defined]  # a function may have attributes
        return rule

    return declare


@cache
def _text_fields(cls: type[Message]) -> tuple[tuple[str, str], ...]:
    """Return the attributes of a type that are written for people, each with its JSON pointer."""
    attributes = {name: "context_" if name == "context" else name for name in TEXT_MEMBERS}
    return tuple(
        (attributes[name], json_pointer(name)) for name in TEXT_MEMBERS if attributes[name] in cls.__struct_fields__
    )


def iter_human_texts(event: Message) -> Iterator[tuple[str, str]]:
    """Yield every text in an event that is written for people, with its JSON pointer."""
    cls = type(event)
    for attribute, path in _text_fields(cls):
        value = getattr(event, attribute)
        if isinstance(value, str):
            yield path, value
    if cls is events.ProgressUpdated:
        progress = get_member(event, "progress")
        if isinstance(progress, events.Progress) and isinstance(progress.description, str):
            yield "/progress/description", progress.description
    elif cls is events.AwaitingClarification:
        choices = get_member(event, "choices")
        for index, choice in enumerate(choices if isinstance(choices, tuple) else ()):
            if isinstance(choice, events.Choice) and isinstance(choice.label, str):
                yield json_pointer("choices", index, "label"), choice.label
    for name, value in event.unknown.items():
        if isinstance(value, str) and languages.parse_variant_name(name):
            yield json_pointer(name), value


def is_newer_version(version: object) -> bool:
    """Whether a version is a 1.x newer than any known one, so that unknown members only warn (C-02, C-61)."""
    match = re.fullmatch(r"1\.([0-9]+)\.([0-9]+)", version) if isinstance(version, str) else None
    return match is not None and (int(match[1]), int(match[2])) > (0, 0)


# -- patterns and uniqueness, compiled from the shapes -------------------------------


# C-25, C-48, C-84: patterns that only the schemas have; a breach is a warning for a peer, not an error.
_SCHEMA_ONLY_MEMBERS: Final = ("tool", "tool_call_id", "output_id", "content_type", "error_code", "cancellation_reason")
_FORM_HINTS: Final = {
    "event_id": "Use evt_ and 1 to 64 letters or digits.",
    "session_id": "Use sess_ and 1 to 64 letters or digits.",
    "reply_token": "Use rpl_ and 1 to 64 letters or digits.",
    "subscription_id": "Use sub_ and 1 to 64 letters or digits.",
    "tool_call_id": "Use call_ and 1 to 64 letters or digits.",
    "output_id": "Use out_ and 1 to 64 letters or digits.",
    "aaep_version": "Use a version such as 1.0.0.",
    **dict.fromkeys(
        [
            "manifest_uri",
            "subscriber_manifest_uri",
            "alternative_manifest_uri",
            "result_uri",
            "error_uri",
            "target_uri",
            "supported_extensions",
            "extensions_supported",
        ],
        "Use an absolute URI by RFC 3986, with other characters written as %XX.",
    ),
}


def _schema_keyword(type_: inspect.Type, keyword: str) -> Any:
    if isinstance(type_, inspect.Metadata):
        value = (type_.extra_json_schema or {}).get(keyword)
        return value or _schema_keyword(type_.type, keyword)
    if isinstance(type_, inspect.UnionType):
        return next((value for member in type_.types if (value := _schema_keyword(member, keyword))), None)
    if isinstance(type_, inspect.VarTupleType) and keyword == "pattern":
        return _schema_keyword(type_.item_type, keyword)
    return None


def _is_integer(type_: inspect.Type) -> bool:
    """Whether the type takes only whole numbers."""
    if isinstance(type_, inspect.Metadata):
        return _is_integer(type_.type)
    if isinstance(type_, inspect.VarTupleType):
        return _is_integer(type_.item_type)
    if isinstance(type_, inspect.UnionType):
        has_float = any(isinstance(member, inspect.FloatType) for member in type_.types)
        return any(map(_is_integer, type_.types)) and not has_float
    return isinstance(type_, inspect.IntType) or (isinstance(type_, inspect.LiteralType) and 1 in type_.values)


class _Constraint(msgspec.Struct, frozen=True):
    """Constraints on one member that its decoder does not check."""

    attribute: str
    name: str
    test: Callable[[str], object] | None  # returns None for text that does not match the pattern
    is_unique: bool
    is_integer: bool


def _compile_pattern(pattern: str, name: str) -> Callable[[str], object]:
    test = re.compile(pattern).fullmatch
    return lru_cache(_MAX_CACHED)(lambda value: test(value) and True) if name in _RECURRING_IDS else test


@cache
def _constraints(cls: type[Message]) -> tuple[_Constraint, ...]:
    constraints = []
    for field in cast(inspect.StructType, inspect.type_info(cls)).fields:
        pattern = _schema_keyword(field.type, "pattern")
        is_unique = bool(_schema_keyword(field.type, "uniqueItems"))
        is_integer = _is_integer(field.type)
        if field.encode_name != "@context" and (pattern or is_unique or is_integer):
            # C-10: the whole text has to match, so that a newline at the end is caught.
            test = _compile_pattern(pattern, field.name) if pattern and field.name != "timestamp" else None
            constraints.append(_Constraint(field.name, field.encode_name, test, is_unique, is_integer))
    return tuple(constraints)


def check_patterns(message: Message, at: str = "", rule: str = "") -> Iterator[Violation]:
    """Find members that break their pattern, repeat an item, or write 3.0 where 3 is meant."""
    for constraint in _constraints(type(message)):
        value = getattr(message, constraint.attribute, UNSET)
        test = constraint.test
        is_sound_text = type(value) is str and (test is None or test(value) is not None)
        if value is not UNSET and not is_sound_text:  # both are usual
            yield from _check_constraint(message, constraint, at, rule)


def _check_constraint(message: Message, constraint: _Constraint, at: str = "", rule: str = "") -> Iterator[Violation]:
    name = constraint.name
    test = constraint.test
    cls = type(message)
    value = getattr(message, constraint.attribute, UNSET)
    path = at + json_pointer(name)
    rule_id = rule or rule_for_member(cls, name)
    is_list = isinstance(value, tuple)
    values = value if isinstance(value, tuple) else (value,)
    for index, item in enumerate(values):
        if test is not None and isinstance(item, str) and test(item) is None:
            severity: Grade = "warning" if name in _SCHEMA_ONLY_MEMBERS else ""
            broken = "CAP-026" if not rule and "*" in item and cls is messages.EventFilters else rule_id
            form = _FORM_HINTS.get(name, "Look up the schema of this message for the allowed form.")
            text = f"{name} has the wrong form; found {item!r}. {form}"
            yield Violation(broken, text, path + (json_pointer(index) if is_list else ""), severity=severity)
    if constraint.is_unique and is_list and len({*map(repr, values)}) != len(values):
        yield Violation(rule_id, f"{name} names something twice.", path)
    # CF-070: exact types in the exchange; an event's 3.0 reads as 3 (ENV-046).
    has_fraction = any(isinstance(item, float) for item in values)
    if constraint.is_integer and has_fraction and not isinstance(message, (Envelope, events.Progress)):
        yield Violation(rule_id, f"{name} takes whole numbers, written without a point.", path)


def pattern_test(cls: type[Message], name: str) -> Callable[[str], object]:
    """Return the test of a member's pattern; the test returns None for text that does not match."""
    tests = (constraint.test for constraint in _constraints(cls) if constraint.attribute == name)
    return next(test for test in tests if test is not None)


@cache
def required_members(cls: type[Message]) -> frozenset[str]:
    """Return the members that a type requires on the wire."""
    return frozenset(field.encode_name for field in struct_fields(cls) if field.default is not UNSET)


def rule_for_member(cls: type[Message], name: str) -> str:
    """Return the rule that a bad member breaks."""
    kind = "*" if name in required_members(cls) else "?"
    return cls.rules.get(name) or cls.rules.get(kind) or cls.rules.get("*") or "ENV-059"


# -- the envelope ---------------------------------------------------------------------

_URGENCY_RULES: Final[Mapping[type[Envelope], tuple[str, tuple[str, ...]]]] = {  # §3.3.2
    events.SessionStarted: ("URG-001", ("normal",)),
    events.SessionCompleted: ("URG-002", ("normal",)),
    events.SessionCancelled: ("URG-003", ("normal",)),
    events.StateChanged: ("URG-004", ("background", "normal")),
    events.ProgressUpdated: ("URG-005", ("background",)),
    events.ToolInvoked: ("URG-006", ("normal",)),
    events.ToolCompleted: ("URG-007", ("normal",)),
    events.OutputStreaming: ("URG-008", ("normal",)),
}


@reads("context")
def check_context(event: Envelope) -> Iterator[Violation]:
    """Check the JSON-LD context. ENV-002, ENV-003 §3.2.1, VER-011 §12.3.1"""
    value: object = event.context
    first = value[0] if isinstance(value, (tuple, list)) and value else value
    if value == CORE_CONTEXT or value is UNSET:
        return
    if isinstance(first, str) and re.fullmatch(r"https://aaep-protocol\.org/context/v(?!1$)[0-9]+", first):
        yield Violation("VER-011", f"{first} is another major version of AAEP; this is version 1.", "/@context")
    elif not isinstance(value, (tuple, list)):
        yield Violation("ENV-002", f"@context should be {CORE_CONTEXT}; found {value!r}.", "/@context")
    elif CORE_CONTEXT not in value:
        yield Violation(
            "ENV-002", f"The list in @context should start with {CORE_CONTEXT}; it is not there.", "/@context"
        )
    elif first != CORE_CONTEXT:
        yield Violation("ENV-003", f"{CORE_CONTEXT} should come first in @context. Move it to the front.", "/@context")
    else:
        for index, uri in enumerate(value):
            if not isinstance(uri, str) or not re.fullmatch(URI_PATTERN, uri):
                yield Violation("ENV-002", f"{uri!r} in @context is not a URI.", json_pointer("@context", index))


def check_timestamp(message: Message) -> Iterator[Violation]:
    """Check the timestamp. ENV-021 to ENV-024 §3.2.5; on replies CONF-024, CLAR-005."""
    value = get_member(message, "timestamp")
    defect = timestamps.find_defect(value) if isinstance(value, str) and not timestamps.is_clean(value) else None
    if defect is not None:
        rule, severity, sentence = defect
        if not isinstance(message, Envelope):
            if rule == "ENV-022":
                return
            rule = type(message).rules["timestamp"]
        yield Violation(rule, f"timestamp {value!r} {sentence}.", "/timestamp", severity=cast(Grade, severity))


@reads("aaep_version")
def check_version(event: Message) -> Iterator[Violation]:
    """Check the protocol version. ENV-055, ENV-056 §3.4.4"""
    value = get_member(event, "aaep_version")
    if value is None:
        yield Violation("ENV-056", "aaep_version is missing. Say which version of AAEP you speak.")
    elif (
        isinstance(value, str) and value not in PUBLISHED_VERSIONS and pattern_test(type(event), "aaep_version")(value)
    ):
        yield Violation("ENV-055", f"{value} is not a published version of AAEP.", "/aaep_version", severity="warning")


@reads("urgency")  # also the attend extension, but an event with extensions is checked by every rule anyway
def check_urgency(event: Envelope) -> Iterator[Violation]:
    """Check that the urgency suits the type. ENV-041 §3.3.2, TERM-020 §2.2.9, URG-001 to URG-008"""
    value = get_member(event, "urgency")
    row = _URGENCY_RULES.get(type(event))
    if value is None:
        if not isinstance(event, CRITICAL):  # the shape of those four demands it: URG-009 to URG-012
            yield Violation("ENV-041", "urgency is missing. Say how urgent the event is.")
    elif row is not None and value == "critical":
        if not attend_member(event, "outcome"):  # CF-025: the outcome of a prompt may be critical
            yield Violation("TERM-020", "critical is for what the user has to act on. Use normal.", "/urgency")
    elif row is not None and value in ("background", "normal") and value not in row[1]:
        yield Violation(row[0], f"urgency is {value}; {' or '.join(row[1])} is recommended for this type.", "/urgency")


@reads("producer")
def check_producer(event: Message) -> Iterator[Violation]:
    """Note missing members of the producer. ENV-032 §3.2.6"""
    producer = get_member(event, "producer")
    if not isinstance(producer, events.ProducerInfo):
        return
    yield from check_patterns(producer, "/producer")
    for name in ("agent_version", "agent_name", "model", "manifest_uri"):
        if getattr(producer, name) is UNSET:
            yield Violation("ENV-032", f"producer.{name} is missing; fill it in when you know it.", severity="info")


@reads("localization_hints")
def check_language(event: Envelope) -> Iterator[Violation]:
    """Check language tags and text direction. I18N-008 §11.1.2, I18N-032 §11.4.1"""
    hints = get_member(event, "localization_hints")
    if not isinstance(hints, events.LocalizationHints):
        return
    for name in ("primary_language", "available_languages", "fallback_chain"):
        value = get_member(hints, name)
        is_list = isinstance(value, (tuple, list))
        for index, tag in enumerate(value if isinstance(value, (tuple, list)) else (value,)):
            if isinstance(tag, str) and not languages.is_well_formed_tag(tag):
                path = json_pointer("localization_hints", name, *([index] if is_list else []))
                yield Violation("I18N-008", f"{tag!r} is not a well-formed language tag. Use one such as en-US.", path)
    for violation in check_patterns(hints, "/localization_hints"):
        if "twice" in violation.message or violation.rule != "I18N-008":
            yield violation
    primary = get_member(hints, "primary_language")
    if hints.text_direction is UNSET and isinstance(primary, str) and languages.is_right_to_left(primary):
        message = f"{primary} is written from right to left, but text_direction is missing."
        yield Violation("I18N-032", message, "/localization_hints", severity="warning")


def _lacks_language(event: Envelope) -> bool:
    hints = get_member(event, "localization_hints")
    if hints is None:
        return True
    return isinstance(hints, events.LocalizationHints) and get_member(hints, "primary_language") is None


@only_if(lambda event: event.verbosity is UNSET or _lacks_language(event), "verbosity", "localization_hints")
def check_text_is_described(event: Envelope) -> Iterator[Violation]:
    """Check that an event with text states its verbosity and language. ENV-038 §3.3.1, I18N-002 §11.1"""
    if not any(text for _, text in iter_human_texts(event)):
        return
    if event.verbosity is UNSET:
        yield Violation("ENV-038", "verbosity is missing on an event with text.")
    if _lacks_language(event):
        yield Violation("I18N-002", "The event has text but does not say its language. Set primary_language.")


def check_extensions(event: Envelope, registry: Registry) -> Iterator[Violation]:
    """Check extension members against the declared extensions. ENV-052 §3.4.3, VAL-008 §3.9 step 8"""
    extensions = get_member(event, "extensions")
    if not isinstance(extensions, dict):
        return
    claimed, has_unregistered = registry.declared(event.context if isinstance(event.context, (tuple, list)) else ())
    for prefix, value in extensions.items():
        path = json_pointer("extensions", prefix)
        extension = claimed.get(prefix)
        if extension is None and not has_unregistered:
            message = f"@context declares no extension with the prefix {prefix}. Add its context URI after the core's."
            yield Violation("ENV-052", message, path)
        elif extension is None:
            message = f"Whether {prefix} is declared cannot be told: a context in @context is not registered here."
            yield Violation("ENV-052", message, path, severity="info")
        elif extension.fields is not None and isinstance(value, dict):
            yield from check_shape(value, extension.fields, "VAL-008", path)


def check_shape(value: object, shape: type[msgspec.Struct], rule: str, path: str) -> Iterator[Violation]:
    """Find where a free object departs from the shape that an extension declares for it."""
    try:
        msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        sentence, _, where = str(error).partition(" - at `$")
        inner = "".join(json_pointer(part) for part in re.findall(r"[^.`\[\]]+", where))
        yield Violation(rule, f"{sentence}.", path + inner)


# -- size and numbers -------------------------------------------------------------------


def check_limits(event: Message, raw: bytes) -> Iterator[Violation]:
    """Check size, depth and number limits, counted by C-23. LIM-001 to LIM-005 §3.7, ENC-006 §3.8"""
    if len(raw) > 65_536:
        yield Violation("LIM-001", f"The event has {len(raw)} bytes; 65536 is the limit. Point to bulky data by link.")
    members = msgspec.json.decode(raw) if raw else msgspec.to_builtins(event)
    extensions = members.get("extensions")
    field_count = len(members) + (len(extensions) if isinstance(extensions, dict) else 0)
    if field_count > 32:
        yield Violation("LIM-003", f"The event has {field_count} fields at its top; 32 is the limit.")
    yield from _check_values(members, ())


def _check_values(value: object, parts: tuple[str | int, ...]) -> Iterator[Violation]:
    if isinstance(value, (dict, list)):
        if len(parts) == 8:
            yield Violation("LIM-004", "The event is nested more than 8 levels deep.", json_pointer(*parts))
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if not (isinstance(inner, str) and len(inner) <= 4096):  # most are short texts
                yield from _check_values(inner, (*parts, name))
    elif isinstance(value, str) and len(value.encode()) > 16_384:
        message = f"The text has {len(value.encode())} bytes; 16384 is the limit. Split it."
        yield Violation("LIM-005", message, json_pointer(*parts))
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _SAFE_INTEGER:
        severity: Grade = "warning" if abs(value) == _SAFE_INTEGER else ""  # C-27
        message = f"{value} is too large for a JSON number. Send it as a string."
        yield Violation("ENC-006", message, json_pointer(*parts), severity=severity)


# -- text -------------------------------------------------------------------------------


_OVERRIDES: Final = re.compile("[\u202a-\u202e]")
_ISOLATES: Final = re.compile("[\u2066-\u2069]")
# The blocks that hold every character written from right to left, and others.
_MAYBE_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def check_script(event: Envelope, _raw: bytes) -> Iterator[Violation]:
    """Check normalization, combining marks and directions. I18N-026 §11.3.2, I18N-031 §11.3.3, I18N-035 §11.4.2"""
    hints = get_member(event, "localization_hints")
    is_automatic = hints is not None and get_member(hints, "text_direction") == "auto"
    for path, text in iter_human_texts(event):
        if text.isascii():
            continue
        if not unicodedata.is_normalized("NFC", text):
            yield Violation("I18N-026", "The text is not in normal form C. Normalise before emitting.", path)
        if text and unicodedata.category(text[0]).startswith("M"):
            yield Violation("I18N-031", "The text starts with a combining mark that has nothing to sit on.", path)
        if _OVERRIDES.search(text) and re.match("/(action|consequence|question|choices)", path):
            # C-59: an override can show another payee than the one that is confirmed.
            message = "The text holds a direction override, which can disguise it. Use isolates (U+2066 to U+2069)."
            yield Violation("I18N-035", message, path, severity="error")
        elif not is_automatic and _MAYBE_RIGHT_TO_LEFT.search(text) and not _ISOLATES.search(text):
            directions = {unicodedata.bidirectional(char) for char in text}
            if "L" in directions and directions & {"R", "AL"}:
                message = "The text mixes directions. Use isolates, or text_direction auto."
                yield Violation("I18N-035", message, path)


def check_markup(event: Envelope, raw: bytes) -> Iterator[Violation]:
    """Find inline language markup. I18N-041 §11.5.2"""
    if not (60 in raw or (92 in raw and b"\\u003" in raw)):  # no <, not even an escaped one
        return
    for path, text in iter_human_texts(event):
        if LANG_MARKUP.search(text):
            yield Violation(
                "I18N-041", "The text holds inline markup. Use a variant field such as summary_normal_yo.", path
            )


def check_searched_secrets(event: Message) -> Iterator[Violation]:
    """Find secrets in arguments and requests, where they are most likely. TOOL-005 §4.3.1, EVT-003"""
    for name, rule in (("args_summary", "TOOL-005"), ("request_text", "EVT-003")):
        text = getattr(event, name, UNSET)
        if isinstance(text, str) and redaction.may_contain_secret(text):
            yield from _check_secret(text, rule, json_pointer(name))


def check_secrets(event: Message) -> Iterator[Violation]:
    """Find secrets in every other text, under ``strict`` only because of the cost (CF-143). SEC-023 §10.2.2 T5"""
    for path, text in iter_human_texts(event):
        if redaction.may_contain_secret(text) and path not in ("/args_summary", "/request_text"):
            yield from _check_secret(text, "SEC-023", path)


def _check_secret(text: str, rule: str, path: str) -> Iterator[Violation]:
    if any(True for _ in redaction.find_secrets(text)):
        yield Violation(rule, "The text seems to hold a secret. Redact it before emitting.", path)


# -- payloads of single types -------------------------------------------------------------


@reads("summary_terse?", "summary_normal?", "summary_detailed?")
def check_summaries(event: Envelope) -> Iterator[Violation]:
    """Check that announced events have their summaries. TERM-013 §2.2.8, LVL-013 §9.3.1(9)"""
    is_announced = isinstance(event, (events.StateChanged, events.ToolInvoked, events.AwaitingConfirmation))
    for name in ("summary_terse", "summary_detailed") if is_announced else ():
        if getattr(event, name) is UNSET:
            yield Violation("TERM-013", f"{name} is missing. Give all three summaries on what is announced.")
    if not isinstance(event, events.ToolInvoked) and getattr(event, "summary_normal", "") is UNSET:
        yield Violation("LVL-013", "summary_normal is missing, so there is nothing to announce.")


@reads("from_state", "to_state")
def check_state_names(event: events.StateChanged) -> Iterator[Violation]:
    """Check that states are among the seven usual ones. STATE-004 §4.2.1"""
    for name in ("from_state", "to_state"):
        value = getattr(event, name)
        if isinstance(value, str) and value and value not in STATES:
            yield Violation("STATE-004", f"{value!r} is not one of the seven usual states.", json_pointer(name))


@reads("error_category", "recoverable")
def check_error(event: events.SessionErrored) -> Iterator[Violation]:
    """Check that a permanent error is not called recoverable. C-77"""
    if event.error_category == "permanent" and event.recoverable is True:
        message = "A permanent error cannot be recoverable. Leave recoverable out, or say transient."
        yield Violation("EVT-012", message, "/recoverable", severity="warning")


_NO_PROGRESS: Final = events.Progress()


def check_progress(event: events.ProgressUpdated) -> Iterator[Violation]:
    """Check that progress is not empty and its step exists. EVT-023, EVT-025 §4.2.2"""
    progress = event.progress
    if not isinstance(progress, events.Progress):
        return
    step = progress.step
    total = progress.total_steps
    if progress == _NO_PROGRESS and not progress.unknown:
        yield Violation("EVT-023", "progress is empty. Give percent, step, total_steps or description.", "/progress")
    if isinstance(step, int) and isinstance(total, int) and step > total:
        yield Violation("EVT-025", f"Step {step} is beyond the {total} steps there are.", "/progress/step")


@reads("tool_call_id?", "risk_level?", "irreversible?")
def check_invoked(event: events.ToolInvoked) -> Iterator[Violation]:
    """Check that a tool call has an id and is classified. TOOL-011 §4.5.2, HITL-003 §2.3.5"""
    if event.tool_call_id is UNSET:
        yield Violation("TOOL-011", "tool_call_id is missing. It tells calls of the same tool apart.")
    for name in ("risk_level", "irreversible"):
        if getattr(event, name) is UNSET:
            yield Violation("HITL-003", f"{name} is missing. Classify every tool.")


@reads("tool_call_id?", "status", "error_message?")
def check_completed(event: events.ToolCompleted) -> Iterator[Violation]:
    """Check that a finished call has an id and a failed one an error message. TOOL-011 §4.5.2, EVT-030"""
    if event.tool_call_id is UNSET:
        yield Violation("TOOL-011", "tool_call_id is missing. It tells calls of the same tool apart.")
    if event.status in ("error", "timeout") and event.error_message is UNSET:
        yield Violation("EVT-030", f"status is {event.status}, but error_message does not say why.")


# C-82: sentence ends, also of other scripts, and the marks that may close after them.
_SENTENCE_ENDS: Final = tuple(".!?\u3002\uff01\uff1f\u061f\u0964\u0965\u1362\u104b")
_CLOSING_MARKS: Final = "\"'\u201d\u2019)]"


def _is_sentence_end(text: str) -> bool:
    stripped = text.rstrip()
    return "\n" in text[len(stripped) :] or stripped.rstrip(_CLOSING_MARKS).endswith(_SENTENCE_ENDS)


@reads("coalesce_hint", "complete")
def check_hint(event: events.OutputStreaming) -> Iterator[Violation]:
    """Check that the hint completion is on the last chunk only. OUT-008 §4.3.3"""
    hint = get_member(event, "coalesce_hint")
    if (hint == "completion") is not (event.complete is True) and hint is not None:
        text = "The hint completion belongs on the last chunk, and only there."
        yield Violation("OUT-008", text, "/coalesce_hint", severity="warning")


@only_if(lambda event: event.coalesce_hint is UNSET and event.complete is False, "coalesce_hint", "complete")
def check_chunk(event: events.OutputStreaming) -> Iterator[Violation]:
    """Check that a chunk without a hint ends at a sentence. LVL-010 §9.3.1(6)"""
    is_open = event.coalesce_hint is UNSET and event.complete is False
    if is_open and isinstance(event.chunk, str) and not _is_sentence_end(event.chunk):
        yield Violation("LVL-010", "The chunk ends inside a sentence and has no coalesce_hint.")


# §6.4.1 as the readings decide (C-39, CF-022): the rule that a default of accept breaks.
_ACCEPT_DEFAULT_RULES: Final = {
    (True, "high"): "HITL-006",
    (True, "medium"): "HITL-007",
    (True, "low"): "CONF-046",
    (False, "high"): "CONF-047",
}
_SUGGESTED_SECONDS: Final = {"high": (180, 600), "medium": (60, 180), "low": (30, 90)}  # §6.4.2


def assess_stakes(event: events.AwaitingConfirmation) -> tuple[bool, str]:
    """
    Return whether a confirmation is about something irreversible, and its risk.

    What is not stated counts as the worst (CF-021, C-41).
    """
    stated = get_member(event, "irreversible")
    reversibility = get_member(event, "reversibility")
    risk = get_member(event, "risk_level")
    is_irreversible = stated is True or reversibility == "irreversible" or (stated is None and reversibility is None)
    return is_irreversible, risk if isinstance(risk, str) and risk else "high"


@reads("irreversible", "reversibility", "risk_level", "default_decision", "timeout_seconds", "allowed_replies")
def check_confirmation(event: events.AwaitingConfirmation) -> Iterator[Violation]:
    """
    Check a confirmation's default, timeout and allowed replies.

    HITL-006, HITL-007 §6.4.1, CONF-046, CONF-047, HITL-033, HITL-036
    """
    stated = get_member(event, "irreversible")
    reversibility = get_member(event, "reversibility")
    is_irreversible, risk = assess_stakes(event)
    if event.default_decision == "accept":
        rule = _ACCEPT_DEFAULT_RULES.get((is_irreversible, risk))
        if rule is not None:
            what = "an irreversible" if is_irreversible else "a reversible"
            message = f"The default is accept for {what}, {risk}-risk action. Silence is not consent: use reject."
            yield Violation(rule, message, "/default_decision")
    if stated is not None and reversibility is not None and stated is not (reversibility == "irreversible"):
        message = "irreversible and reversibility contradict each other; it counts as irreversible."
        yield Violation("HITL-003", message, "/irreversible")
    low, high = _SUGGESTED_SECONDS.get(risk, _SUGGESTED_SECONDS["high"])
    if isinstance(event.timeout_seconds, int) and not low <= event.timeout_seconds <= high:
        message = f"{event.timeout_seconds} seconds is outside the {low} to {high} suggested for {risk} risk."
        yield Violation("HITL-033", message, "/timeout_seconds")
    replies = get_member(event, "allowed_replies")
    if isinstance(replies, tuple) and "reject" not in replies:
        yield Violation(
            "HITL-036", "allowed_replies leaves the user no way to refuse. List reject.", "/allowed_replies"
        )
    elif isinstance(replies, tuple) and any(reply not in ("accept", "reject") for reply in replies):
        message = "Only accept and reject are core replies; others need an extension."
        yield Violation("HITL-036", message, "/allowed_replies", severity="warning")


@reads("accepted_response_kinds", "choices?", "timeout_seconds")
def check_clarification(event: events.AwaitingClarification) -> Iterator[Violation]:
    """Check a clarification's choices and timeout. EVT-037, CONF-054 §6.4.2"""
    kinds = get_member(event, "accepted_response_kinds")
    if isinstance(kinds, tuple) and "multiple_choice" in kinds and event.choices is UNSET:
        yield Violation("EVT-037", "multiple_choice is listed, but there are no choices to choose from.")
    if isinstance(event.timeout_seconds, int) and not 60 <= event.timeout_seconds <= 300:
        message = f"{event.timeout_seconds} seconds is outside the 60 to 300 suggested for a question."
        yield Violation("CONF-054", message, "/timeout_seconds")


# -- handshake and manifest ------------------------------------------------------------------


def check_capabilities(
    message: messages.SubscriptionRequest | messages.SubscriptionRenegotiate,
) -> Iterator[Violation]:
    """Check that levels 2 and 3 come with replies. CAP-016 §5.3.1.4"""
    asked = message.capabilities
    if not isinstance(asked, messages.Capabilities) or isinstance(message, messages.SubscriptionRenegotiate):
        return
    levels = get_member(asked, "supported_conformance_levels")
    if not isinstance(levels, tuple) or (2 not in levels and 3 not in levels):
        return
    if asked.supports_confirmation_reply is not True:
        text = "Level 2 or 3 is listed, so supports_confirmation_reply has to be true."
        yield Violation("CAP-016", text, "/capabilities")
    elif asked.supports_clarification_reply is not True:  # CF-059
        text = "Level 2 or 3 is listed, but clarifications cannot be answered."
        yield Violation("CAP-016", text, "/capabilities", severity="warning")


def check_signature(message: messages.SubscriptionAccepted) -> Iterator[Violation]:
    """Check a manifest's algorithm: ES256, RS256 or EdDSA, never none or HMAC (CF-121). MAN-018 §10.4.1(2)"""
    signed_manifest = get_member(message, "signed_manifest")
    if not isinstance(signed_manifest, str) or not re.fullmatch(messages.COMPACT_JWS, signed_manifest):
        return
    try:
        encoded_header = signed_manifest.split(".")[0]
        header = msgspec.json.decode(
            base64.urlsafe_b64decode(encoded_header + "=" * (-len(encoded_header) % 4)), type=dict[str, Any]
        )
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        header = {}
    if header.get("alg") not in ("ES256", "RS256", "EdDSA"):
        algorithm = header.get("alg", "no readable header")
        text = f"The manifest is signed with {algorithm!r}. Use ES256, RS256 or EdDSA."
        yield Violation("MAN-018", text, "/signed_manifest")


@cache
def _nested_members(cls: type[Message]) -> tuple[str, ...]:
    """Return the members of a handshake message that have patterns inside."""
    return tuple(name for name in ("producer", "capabilities", "honored_capabilities") if name in cls.__struct_fields__)


def check_nested(message: Message) -> Iterator[Violation]:
    """Find broken patterns inside the capabilities and the producer of a handshake message."""
    for name in _nested_members(type(message)):
        inner = getattr(message, name)
        if isinstance(inner, Message):
            rule = "" if name == "capabilities" else type(message).rules[name]
            yield from check_patterns(inner, json_pointer(name), rule)
            filters = get_member(inner, "event_filters")
            if isinstance(filters, Message):
                yield from check_patterns(filters, json_pointer(name, "event_filters"), rule)


# -- running every rule ------------------------------------------------------------------------

Rule: TypeAlias = Callable[[Any], Iterable[Violation]]

_ENVELOPE_RULES: Final[tuple[Rule, ...]] = (
    check_context,
    check_timestamp,
    check_version,
    check_urgency,
    check_producer,
    check_language,
    check_text_is_described,
)
_CHARACTER_RULES: Final = (check_script, check_markup)
_PAYLOAD_RULES: Final[Mapping[type[Message], tuple[Rule, ...]]] = {
    events.SessionErrored: (check_error,),
    events.StateChanged: (check_summaries, check_state_names),
    events.ProgressUpdated: (check_summaries, check_progress),
    events.ToolInvoked: (check_summaries, check_invoked),
    events.ToolCompleted: (check_summaries, check_completed),
    events.OutputStreaming: (check_hint, check_chunk),
    events.AwaitingConfirmation: (check_summaries, check_confirmation),
    events.AwaitingClarification: (check_summaries, check_clarification),
    events.HandoffRequested: (check_summaries,),
    messages.SubscriptionRequest: (check_capabilities,),
    messages.SubscriptionAccepted: (check_signature,),
}


def check_every_rule(
    message: Message, raw: bytes, registry: Registry = BUNDLED_REGISTRY, *, strict: bool = False
) -> Iterator[Violation]:
    """Run every rule that applies to a message."""
    yield from check_patterns(message)
    if isinstance(message, Envelope):
        for rule in _ENVELOPE_RULES:
            yield from rule(message)
        yield from check_extensions(message, registry)
        yield from check_searched_secrets(message)
        if strict:
            yield from check_secrets(message)
        for check_characters in _CHARACTER_RULES:
            yield from check_characters(message, raw)
        yield from check_limits(message, raw)
    else:
        yield from check_timestamp(message)
        yield from check_nested(message)
    for rule in _PAYLOAD_RULES.get(type(message), ()):
        yield from rule(message)


# -- running rules by what they read -------------------------------------------------------------

# Members whose values do not recur: their patterns are tested on every event.
_FRESH_MEMBERS: Final = frozenset(
    "event_id session_id tool_call_id output_id reply_token result_uri error_uri target_uri choices".split()
)
# These may hold any value, nested to any depth.
FREE_MEMBERS: Final = frozenset(("extensions", "extra_context", "packaged_context", "modified_action"))
_SEARCHED_MEMBERS: Final = frozenset(("args_summary", "request_text"))
Violations: TypeAlias = tuple[Violation, ...]
Memo: TypeAlias = dict[Any, tuple[Violations, tuple[Rule, ...]]]


_is_event_id: Final = pattern_test(Envelope, "event_id")
_is_session_id: Final = pattern_test(Envelope, "session_id")


class _EventRules:
    """
    The rules on one type of event, arranged by the members they read.

    Violations are cached by the values of the envelope's recurring members and then
    by those of the payload's, together with the rules that have to run on every
    event with those values.
    """

    def __init__(self, cls: type[Envelope]) -> None:
        fields = {*cls.__struct_fields__}
        rules: list[Rule] = [*_ENVELOPE_RULES, *_PAYLOAD_RULES.get(cls, ())]
        rules.remove(check_timestamp)
        if fields & _SEARCHED_MEMBERS:
            rules.append(check_searched_secrets)
        # Members of the payload whose values do not recur, each with a test and the rule that runs if it fails.
        self._fresh: list[tuple[str, Callable[[str], object], Rule]] = []
        self._id_rules: list[Rule] = []
        self._patterns: list[Rule] = []
        read: set[str] = set()
        for constraint in _constraints(cls):
            rule: Rule = partial(_check_constraint, constraint=constraint)
            if constraint.attribute not in _FRESH_MEMBERS and (constraint.test or constraint.is_unique):
                self._patterns.append(rule)
                read.add(constraint.attribute)
            elif constraint.attribute in ("event_id", "session_id"):
                self._id_rules.append(rule)
            elif constraint.test:
                self._fresh.append((constraint.attribute, constraint.test, rule))
            elif constraint.is_unique:
                rules.append(rule)
        self._recurring = [rule for rule in rules if hasattr(rule, "reads")]
        self._others = [rule for rule in rules if not hasattr(rule, "reads")]
        self._texts = [attribute for attribute, _ in _text_fields(cls)]
        self._is_free = bool(fields & FREE_MEMBERS - {"extensions"})  # with those, every rule runs anyway
        for rule in rules:
            read.update(getattr(getattr(rule, "condition", rule), "reads", ()))
        shared = {name for name in read if name.rstrip("?") in Envelope.__struct_fields__}
        self._envelope_key = _member_getter(shared)
        self._payload_key = _member_getter(read - shared)
        self._memos: dict[Any, Memo] = {}
        self._envelope: Any = None  # of the last event
        self._memo: Memo = {}  # for that envelope
        self._sound_session_id = ""  # the last one

    def check(self, event: Any, raw: bytes, registry: Registry, strict: bool) -> Violations:
        """Return what is wrong with an event whose shape is sound."""
        if event.extensions is not UNSET:
            return tuple(check_every_rule(event, raw, registry, strict=strict))
        envelope = self._envelope_key(event)
        if envelope != self._envelope:
            self._envelope = envelope
            self._memo = _clear_if_full(self._memos).setdefault(envelope, {})
        key = self._payload_key(event)
        violations, rules = self._memo.get(key) or self._find_recurring(event, key)
        for rule in rules:
            violations += tuple(rule(event))
        if event.session_id != self._sound_session_id and _is_session_id(event.session_id):
            self._sound_session_id = event.session_id
        if event.session_id != self._sound_session_id or not _is_event_id(event.event_id):
            violations += tuple(violation for rule in self._id_rules for violation in rule(event))
        if not timestamps.is_clean(event.timestamp):
            violations += tuple(check_timestamp(event))
        for name, test, rule in self._fresh:
            value = getattr(event, name)
            if value is not UNSET and not test(value):
                violations += tuple(rule(event))
        if strict and self._may_contain_secret(event):
            violations += tuple(check_secrets(event))
        if not raw.isascii() or 60 in raw or (92 in raw and b"\\u" in raw):  # 60 is <, 92 a backslash
            violations += tuple(violation for rule in _CHARACTER_RULES for violation in rule(event, raw))
        if self._is_free or len(raw) > _LONG_MESSAGE_BYTES:
            violations += tuple(check_limits(event, raw))
        return violations

    def _may_contain_secret(self, event: Any) -> bool:
        """Whether a text may contain a secret, or has to be looked for where only some events have one."""
        for attribute in self._texts:
            text = getattr(event, attribute)
            if text is not UNSET and redaction.may_contain_secret(text):
                return True
        if type(event) is events.ProgressUpdated:
            description = event.progress.description
            return bool(event.unknown) or (description is not UNSET and redaction.may_contain_secret(description))
        return bool(event.unknown) or type(event) is events.AwaitingClarification

    def _find_recurring(self, event: Any, key: Any) -> tuple[Violations, tuple[Rule, ...]]:
        """Run the rules on recurring members and cache the result under the key."""
        violations = [violation for rule in (*self._patterns, *self._recurring) for violation in rule(event)]
        rules = [rule for rule in self._others if getattr(rule, "condition", _always)(event)]
        entry = _clear_if_full(self._memo)[key] = (_share(tuple(violations)), tuple(rules))
        return entry


def _member_getter(names: Iterable[str]) -> Callable[[Any], Any]:
    """Return a function that gets these members of an event, or only the types of those with a ``?``."""
    attributes = sorted(name.replace("?", ".__class__") for name in names)
    return attrgetter(*attributes) if attributes else _always


@lru_cache(_MAX_CACHED)
def _share(violations: Violations) -> Violations:
    """Return one object for equal violations of all types, which are compared from event to event."""
    return violations


def _always(_event: Any) -> bool:
    return True


def _clear_if_full(memo: dict[Any, Any]) -> dict[Any, Any]:
    """Empty a cache that has grown too large, and return it."""
    if len(memo) >= _MAX_CACHED:
        memo.clear()
    return memo


_RULES_BY_TYPE: Final[dict[type[Message], _EventRules]] = {cls: _EventRules(cls) for cls in events.CORE_EVENTS.values()}


def check(message: Message, raw: bytes, registry: Registry = BUNDLED_REGISTRY, strict: bool = False) -> Violations:
    """
    Return what :func:`check_every_rule` finds in a message whose shape is sound, without running rules needlessly.

    ``raw`` is the message as JSON.
    """
    event_rules = _RULES_BY_TYPE.get(type(message))
    if event_rules is None:  # it is no event, or one of an extension
        return tuple(check_every_rule(message, raw, registry, strict=strict))
    return event_rules.check(message, raw, registry, strict)
