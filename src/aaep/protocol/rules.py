"""
Rules on one message that its shape cannot say.

Each rule is one small function that yields violations, and is written here
only: the producer raises them, the subscriber reports them, the validator
prints them, the conformance suite judges by them. :func:`every` runs them all;
:mod:`aaep.protocol.quick` knows when they would find nothing.
"""

from __future__ import annotations

import base64
import binascii
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec
from msgspec import UNSET, inspect

from ..errors import Severity, Violation
from ..text import languages, redaction
from ..text.sanitize import MARKUP
from . import events, messages, timestamps
from .attend_extension import attend_member, attend_registry
from .events import CRITICAL, Envelope
from .extensions import Registry
from .fields import CORE_CONTEXT, STATES, URI, Message, get_member, pointer, struct_fields

__all__ = [
    "BUNDLED",
    "PAYLOADS",
    "PUBLISHED",
    "TEXTS",
    "check_every_rule",
    "check_shape",
    "human_texts",
    "is_newer_version",
    "pattern_test",
    "required_members",
    "rule_for_member",
    "stakes_of",
]

Grade: TypeAlias = Severity | Literal[""]

BUNDLED: Final = attend_registry()
PUBLISHED: Final = ("0.1.0-draft", "1.0.0")  # C-20
_SAFE: Final = 2**53

# I18N-002 §11.1: what is written for people.
TEXTS: Final = (*languages.VARIANT_FIELDS, "chunk", "request_text")
_URGENCY: Final[Mapping[type[Envelope], tuple[str, tuple[str, ...]]]] = {  # §3.3.2
    events.SessionStarted: ("URG-001", ("normal",)),
    events.SessionCompleted: ("URG-002", ("normal",)),
    events.SessionCancelled: ("URG-003", ("normal",)),
    events.StateChanged: ("URG-004", ("background", "normal")),
    events.ProgressUpdated: ("URG-005", ("background",)),
    events.ToolInvoked: ("URG-006", ("normal",)),
    events.ToolCompleted: ("URG-007", ("normal",)),
    events.OutputStreaming: ("URG-008", ("normal",)),
}
# C-25, C-48, C-84: patterns that only the schemas know; a peer is warned, not failed.
_SCHEMA_ONLY: Final = ("tool", "tool_call_id", "output_id", "content_type", "error_code", "cancellation_reason")


def is_newer_version(version: object) -> bool:
    """Whether a version is a 1.x newer than any we know: unknown things are then only warned about (C-02, C-61)."""
    match = re.fullmatch(r"1\.([0-9]+)\.([0-9]+)", version) if isinstance(version, str) else None
    return match is not None and (int(match[1]), int(match[2])) > (0, 0)


def human_texts(event: Message) -> Iterator[tuple[str, str]]:
    """Everything in an event that is written for people, with where it stands."""
    for name in TEXTS:
        value = getattr(event, "context_" if name == "context" else name, UNSET)
        if isinstance(value, str):
            yield pointer(name), value
    progress = get_member(event, "progress")
    if isinstance(progress, events.Progress) and isinstance(progress.description, str):
        yield "/progress/description", progress.description
    choices = get_member(event, "choices")
    for index, choice in enumerate(choices if isinstance(choices, tuple) else ()):
        if isinstance(choice, events.Choice) and isinstance(choice.label, str):
            yield pointer("choices", index, "label"), choice.label
    for name, value in event.unknown.items():
        if isinstance(value, str) and languages.variant(name):
            yield pointer(name), value


# -- patterns and uniqueness, compiled from the shapes -------------------------


def _extra(type_: inspect.Type, keyword: str) -> Any:
    if isinstance(type_, inspect.Metadata):
        found = (type_.extra_json_schema or {}).get(keyword)
        return found or _extra(type_.type, keyword)
    if isinstance(type_, inspect.UnionType):
        return next((found for one in type_.types if (found := _extra(one, keyword))), None)
    if isinstance(type_, inspect.VarTupleType) and keyword == "pattern":
        return _extra(type_.item_type, keyword)
    return None


def _whole(type_: inspect.Type) -> bool:
    """Whether only whole numbers belong there."""
    if isinstance(type_, inspect.Metadata):
        return _whole(type_.type)
    if isinstance(type_, inspect.VarTupleType):
        return _whole(type_.item_type)
    if isinstance(type_, inspect.UnionType):
        return any(map(_whole, type_.types)) and not any(isinstance(one, inspect.FloatType) for one in type_.types)
    return isinstance(type_, inspect.IntType) or (isinstance(type_, inspect.LiteralType) and 1 in type_.values)


class _Row(msgspec.Struct, frozen=True):
    attribute: str
    name: str
    test: Callable[[str], object] | None
    unique: bool
    whole: bool  # a whole number is meant


@cache
def _rows(cls: type[Message]) -> tuple[_Row, ...]:
    """The members of a type about which its shape has more to say than its decoder checks."""
    rows = []
    for field in cast(inspect.StructType, inspect.type_info(cls)).fields:
        pattern = _extra(field.type, "pattern")
        unique = bool(_extra(field.type, "uniqueItems"))
        whole = _whole(field.type)
        if field.encode_name != "@context" and (pattern or unique or whole):
            # C-10: the whole is matched, so that a newline at the end is caught.
            test = re.compile(pattern).fullmatch if pattern and field.name != "timestamp" else None
            rows.append(_Row(field.name, field.encode_name, test, unique, whole))
    return tuple(rows)


def check_patterns(message: Message, at: str = "", rule: str = "") -> Iterator[Violation]:
    """Members that break their pattern, or name something twice, or write 3.0 where 3 is meant."""
    cls = type(message)
    for row in _rows(cls):
        value = getattr(message, row.attribute, UNSET)
        if type(value) is str and (row.test is None or row.test(value) is not None):
            continue  # as nearly always
        path = at + pointer(row.name)
        named = rule or rule_for_member(cls, row.name)
        many = isinstance(value, tuple)
        for index, one in enumerate(value if isinstance(value, tuple) else (value,)):
            if row.test is not None and isinstance(one, str) and row.test(one) is None:
                severity: Grade = "warning" if row.name in _SCHEMA_ONLY else ""
                broken = "CAP-026" if not rule and "*" in one and cls is messages.EventFilters else named
                text = f"{row.name} has the wrong form; found {one!r}. {_form(row.name)}"
                yield Violation(broken, text, path + (pointer(index) if many else ""), severity=severity)
        if row.unique and isinstance(value, tuple) and len({*map(repr, value)}) != len(value):
            yield Violation(named, f"{row.name} names something twice.", path)
        # CF-070: exact types in the exchange; an event's 3.0 reads as 3 (ENV-046).
        fraction = any(isinstance(one, float) for one in (value if isinstance(value, tuple) else (value,)))
        if row.whole and fraction and not isinstance(message, (Envelope, events.Progress)):
            yield Violation(named, f"{row.name} takes whole numbers, written without a point.", path)


def pattern_test(cls: type[Message], name: str) -> Callable[[str], object]:
    """The test of a member that has a pattern."""
    return next(row.test for row in _rows(cls) if row.attribute == name and row.test is not None)


@cache
def required_members(cls: type[Message]) -> frozenset[str]:
    """The members a type needs on the wire."""
    return frozenset(field.encode_name for field in struct_fields(cls) if field.default is not UNSET)


def rule_for_member(cls: type[Message], name: str) -> str:
    """The rule that a bad member breaks."""
    return (
        cls.rules.get(name)
        or cls.rules.get("*" if name in required_members(cls) else "?")
        or cls.rules.get("*")
        or "ENV-059"
    )


def _form(name: str) -> str:
    forms = {
        "event_id": "Use evt_ and 1 to 64 letters or digits.",
        "session_id": "Use sess_ and 1 to 64 letters or digits.",
        "reply_token": "Use rpl_ and 1 to 64 letters or digits.",
        "subscription_id": "Use sub_ and 1 to 64 letters or digits.",
        "tool_call_id": "Use call_ and 1 to 64 letters or digits.",
        "output_id": "Use out_ and 1 to 64 letters or digits.",
        "aaep_version": "Use a version such as 1.0.0.",
        "manifest_uri": "Use an absolute URI.",
    }
    return forms.get(name, "Look up the schema of this message for the allowed form.")


# -- the envelope ---------------------------------------------------------------


def context(event: Envelope, _raw: bytes, _known: Registry) -> Iterator[Violation]:
    """ENV-002, ENV-003 §3.2.1, VER-011 §12.3.1"""
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
            if not isinstance(uri, str) or not re.fullmatch(URI, uri):
                yield Violation("ENV-002", f"{uri!r} in @context is not a URI.", pointer("@context", index))


def timestamp(event: Message, _raw: bytes, _known: Registry) -> Iterator[Violation]:
    """ENV-021 to ENV-024 §3.2.5; on replies CONF-024, CLAR-005."""
    value = get_member(event, "timestamp")
    found = timestamps.find_defect(value) if isinstance(value, str) and not timestamps.is_clean(value) else None
    if found is not None:
        rule, severity, sentence = found
        if not isinstance(event, Envelope):
            if rule == "ENV-022":
                return
            rule = type(event).rules["timestamp"]
        yield Violation(rule, f"timestamp {value!r} {sentence}.", "/timestamp", severity=cast(Grade, severity))


def version(event: Message, _raw: bytes, _known: Registry) -> Iterator[Violation]:
    """ENV-055, ENV-056 §3.4.4"""
    value = get_member(event, "aaep_version")
    if value is None:
        yield Violation("ENV-056", "aaep_version is missing. Say which version of AAEP you speak.")
    elif isinstance(value, str) and value not in PUBLISHED and pattern_test(type(event), "aaep_version")(value):
        yield Violation("ENV-055", f"{value} is not a published version of AAEP.", "/aaep_version", severity="warning")


def urgency(event: Envelope, _raw: bytes, _known: Registry) -> Iterator[Violation]:
    """ENV-041 §3.3.2, TERM-020 §2.2.9, URG-001 to URG-008"""
    value = get_member(event, "urgency")
    row = _URGENCY.get(type(event))
    if value is None:
        if not isinstance(event, CRITICAL):  # those four are told by their shape: URG-009 to URG-012
            yield Violation("ENV-041", "urgency is missing. Say how urgent the event is.")
    elif row is not None and value == "critical":
        if not attend_member(event, "outcome"):  # CF-025: the outcome of a prompt may be critical
            yield Violation("TERM-020", "critical is for what the user has to act on. Use normal.", "/urgency")
    elif row is not None and value in ("background", "normal") and value not in row[1]:
        yield Violation(row[0], f"urgency is {value}; {' or '.join(row[1])} is recommended for this type.", "/urgency")


def verbosity(event: Envelope, _raw: bytes, _known: Registry) -> Iterator[Violation]:
    """ENV-038 §3.3.1"""
    if event.verbosity is UNSET and any(text for _, text in human_texts(event)):
        yield Violation("ENV-038", "verbosity is missing on an event with text.")


def producer(event: Message, _raw: bytes, _known: Registry) -> Iterator[Violation]:
    """ENV-032 §3.2.6: notes only."""
    who = get_member(event, "producer")
    if not isinstance(who, events.ProducerInfo):
        return
    yield from (v for v in check_patterns(who, "/producer"))
    for name in ("agent_version", "agent_name", "model", "manifest_uri"):
        if getattr(who, name) is UNSET:
            yield Violation("ENV-032", f"producer.{name} is missing; fill it in when you know it.", severity="info")


def language(event: Envelope, _raw: bytes, _known: Registry) -> Iterator[Violation]:
    """I18N-002 §11.1, I18N-008 §11.1.2, I18N-032 §11.4.1"""
    hints = get_member(event, "localization_hints")
    if hints is not None and not isinstance(hints, events.LocalizationHints):
        return
    primary = get_member(hints, "primary_language") if hints is not None else None
    if primary is None and any(text for _, text in human_texts(event)):
        yield Violation("I18N-002", "The event has text but does not say its language. Set primary_language.")
    if hints is None:
        return
    for name in ("primary_language", "available_languages", "fallback_chain"):
        value = get_member(hints, name)
        many = isinstance(value, (tuple, list))
        for index, tag in enumerate(value if isinstance(value, (tuple, list)) else (value,)):
            if isinstance(tag, str) and not languages.well_formed(tag):
                path = pointer("localization_hints", name, *([index] if many else []))
                yield Violation("I18N-008", f"{tag!r} is not a well-formed language tag. Use one such as en-US.", path)
    yield from (v for v in check_patterns(hints, "/localization_hints") if "twice" in v.message or v.rule != "I18N-008")
    if hints.text_direction is UNSET and isinstance(primary, str) and languages.right_to_left(primary):
        message = f"{primary} is written from right to left, but text_direction is missing."
        yield Violation("I18N-032", message, "/localization_hints", severity="warning")


def extensions(event: Envelope, _raw: bytes, known: Registry) -> Iterator[Violation]:
    """ENV-052 §3.4.3, VAL-008 §3.9 step 8"""
    used = get_member(event, "extensions")
    if not isinstance(used, dict):
        return
    claimed, unknown = known.declared(event.context if isinstance(event.context, (tuple, list)) else ())
    for prefix, value in used.items():
        path, extension = pointer("extensions", prefix), claimed.get(prefix)
        if extension is None and not unknown:
            message = f"@context declares no extension with the prefix {prefix}. Add its context URI after the core's."
            yield Violation("ENV-052", message, path)
        elif extension is None:
            message = f"Whether {prefix} is declared cannot be told: a context in @context is not registered here."
            yield Violation("ENV-052", message, path, severity="info")
        elif extension.fields is not None and isinstance(value, dict):
            yield from check_shape(value, extension.fields, "VAL-008", path)


def check_shape(value: object, shape: type[msgspec.Struct], rule: str, path: str) -> Iterator[Violation]:
    """Whether a free object has the shape that an extension declares for it."""
    try:
        msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        sentence, _, where = str(error).partition(" - at `$")
        inner = "".join(pointer(part) for part in re.findall(r"[^.`\[\]]+", where))
        yield Violation(rule, f"{sentence}.", path + inner)


# -- size and numbers -------------------------------------------------------------


def limits(event: Message, raw: bytes, _known: Registry) -> Iterator[Violation]:
    """LIM-001 to LIM-005 §3.7, ENC-006 §3.8: counted as C-23 counts."""
    if len(raw) > 65_536:
        yield Violation("LIM-001", f"The event has {len(raw)} bytes; 65536 is the limit. Point to bulky data by link.")
    whole = msgspec.json.decode(raw) if raw else msgspec.to_builtins(event)
    used = whole.get("extensions")
    fields = len(whole) + (len(used) if isinstance(used, dict) else 0)
    if fields > 32:
        yield Violation("LIM-003", f"The event has {fields} fields at its top; 32 is the limit.")
    yield from _walk(whole, ())


def _walk(value: object, parts: tuple[str | int, ...]) -> Iterator[Violation]:
    if isinstance(value, (dict, list)):
        if len(parts) == 8:
            yield Violation("LIM-004", "The event is nested more than 8 levels deep.", pointer(*parts))
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            if not (isinstance(inner, str) and len(inner) <= 4096):  # most are short texts
                yield from _walk(inner, (*parts, name))
    elif isinstance(value, str) and len(value.encode()) > 16_384:
        message = f"The text has {len(value.encode())} bytes; 16384 is the limit. Split it."
        yield Violation("LIM-005", message, pointer(*parts))
    elif isinstance(value, int) and not isinstance(value, bool) and abs(value) >= _SAFE:
        severity: Grade = "warning" if abs(value) == _SAFE else ""  # C-27
        message = f"{value} is too large for a JSON number. Send it as a string."
        yield Violation("ENC-006", message, pointer(*parts), severity=severity)


# -- text ---------------------------------------------------------------------------


def script(event: Envelope, _raw: bytes, _known: Registry) -> Iterator[Violation]:
    """I18N-026 §11.3.2, I18N-031 §11.3.3, I18N-035 §11.4.2"""
    hints = get_member(event, "localization_hints")
    automatic = hints is not None and get_member(hints, "text_direction") == "auto"
    for path, text in human_texts(event):
        if text.isascii():
            continue
        if not unicodedata.is_normalized("NFC", text):
            yield Violation("I18N-026", "The text is not in normal form C. Normalise before emitting.", path)
        if text and unicodedata.category(text[0]).startswith("M"):
            yield Violation("I18N-031", "The text starts with a combining mark that has nothing to sit on.", path)
        if re.search("[\u202a-\u202e]", text) and re.match("/(action|consequence|question|choices)", path):
            # C-59: an override can show another payee than the one that is confirmed.
            message = "The text holds a direction override, which can disguise it. Use isolates (U+2066 to U+2069)."
            yield Violation("I18N-035", message, path, severity="error")
        elif not automatic and not re.search("[\u2066-\u2069]", text):
            strong = {unicodedata.bidirectional(char) for char in text}
            if "L" in strong and strong & {"R", "AL"}:
                message = "The text mixes directions. Use isolates, or text_direction auto."
                yield Violation("I18N-035", message, path)


def markup(event: Envelope, raw: bytes, _known: Registry) -> Iterator[Violation]:
    """I18N-041 §11.5.2"""
    for path, text in human_texts(event) if b"<" in raw or b"\\u003" in raw else ():
        if MARKUP.search(text):
            yield Violation(
                "I18N-041", "The text holds inline markup. Use a variant field such as summary_normal_yo.", path
            )


def secrets(event: Message, *, strict: bool) -> Iterator[Violation]:
    """
    TOOL-005 §4.3.1, EVT-003, SEC-023 §10.2.2 T5

    Arguments and requests are where secrets turn up, and are always looked
    through; every other text only under ``strict``, for it costs (CF-143).
    """
    own = {"/args_summary": "TOOL-005", "/request_text": "EVT-003"}
    for path, text in human_texts(event):
        if (strict or path in own) and any(True for _ in redaction.find(text)):
            yield Violation(
                own.get(path, "SEC-023"), "The text seems to hold a secret. Redact it before emitting.", path
            )


# -- all of them ----------------------------------------------------------------------

_ENVELOPE: Final = (context, timestamp, version, urgency, verbosity, producer, language, extensions, script, markup)


def check_every_rule(
    message: Message, raw: bytes, known: Registry = BUNDLED, *, strict: bool = False
) -> Iterator[Violation]:
    """Every rule on one message that its shape cannot say."""
    yield from check_patterns(message)
    if isinstance(message, Envelope):
        for judge in _ENVELOPE:
            yield from judge(message, raw, known)
        yield from secrets(message, strict=strict)
        yield from limits(message, raw, known)
    else:
        yield from timestamp(message, raw, known)
        for name in ("producer", "capabilities", "honored_capabilities"):
            inner = get_member(message, name)
            if isinstance(inner, Message):
                rule = "" if name == "capabilities" else type(message).rules[name]
                yield from check_patterns(inner, pointer(name), rule)
                filters = get_member(inner, "event_filters")
                if isinstance(filters, Message):
                    yield from check_patterns(filters, pointer(name, "event_filters"), rule)
    for payload in PAYLOADS.get(type(message), ()):
        yield from payload(message)


# -- payloads --


def summaries(event: Envelope) -> Iterator[Violation]:
    """TERM-013 §2.2.8, LVL-013 §9.3.1(9)"""
    announced = isinstance(event, (events.StateChanged, events.ToolInvoked, events.AwaitingConfirmation))
    for name in ("summary_terse", "summary_detailed") if announced else ():
        if getattr(event, name) is UNSET:
            yield Violation("TERM-013", f"{name} is missing. Give all three summaries on what is announced.")
    if not isinstance(event, events.ToolInvoked) and getattr(event, "summary_normal", "") is UNSET:
        yield Violation("LVL-013", "summary_normal is missing, so there is nothing to announce.")


def state_names(event: events.StateChanged) -> Iterator[Violation]:
    """STATE-004 §4.2.1"""
    for name in ("from_state", "to_state"):
        value = getattr(event, name)
        if isinstance(value, str) and value and value not in STATES:
            yield Violation("STATE-004", f"{value!r} is not one of the seven usual states.", pointer(name))


def error(event: events.SessionErrored) -> Iterator[Violation]:
    """C-77"""
    if event.error_category == "permanent" and event.recoverable is True:
        message = "A permanent error cannot be recoverable. Leave recoverable out, or say transient."
        yield Violation("EVT-012", message, "/recoverable", severity="warning")


def progress(event: events.ProgressUpdated) -> Iterator[Violation]:
    """EVT-023, EVT-025 §4.2.2"""
    now = event.progress
    if not isinstance(now, events.Progress):
        return
    if not any(getattr(now, name) is not UNSET for name in now.__struct_fields__) and not now.unknown:
        yield Violation("EVT-023", "progress is empty. Give percent, step, total_steps or description.", "/progress")
    if isinstance(now.step, int) and isinstance(now.total_steps, int) and now.step > now.total_steps:
        yield Violation(
            "EVT-025", f"Step {now.step} is beyond the {now.total_steps} steps there are.", "/progress/step"
        )


def invoked(event: events.ToolInvoked) -> Iterator[Violation]:
    """TOOL-011 §4.5.2, HITL-003 §2.3.5"""
    if event.tool_call_id is UNSET:
        yield Violation("TOOL-011", "tool_call_id is missing. It tells calls of the same tool apart.")
    for name in ("risk_level", "irreversible"):
        if getattr(event, name) is UNSET:
            yield Violation("HITL-003", f"{name} is missing. Classify every tool.")


def completed(event: events.ToolCompleted) -> Iterator[Violation]:
    """TOOL-011 §4.5.2, EVT-030"""
    if event.tool_call_id is UNSET:
        yield Violation("TOOL-011", "tool_call_id is missing. It tells calls of the same tool apart.")
    if event.status in ("error", "timeout") and event.error_message is UNSET:
        yield Violation("EVT-030", f"status is {event.status}, but error_message does not say why.")


# C-82: the ends of sentences in other scripts too, and what may close behind them.
_ENDS: Final = tuple(".!?\u3002\uff01\uff1f\u061f\u0964\u0965\u1362\u104b")
_CLOSING: Final = "\"'\u201d\u2019)]"


def _ends_sentence(text: str) -> bool:
    said = text.rstrip()
    return "\n" in text[len(said) :] or said.rstrip(_CLOSING).endswith(_ENDS)


def chunk(event: events.OutputStreaming) -> Iterator[Violation]:
    """OUT-008 §4.3.3, LVL-010 §9.3.1(6)"""
    hint = get_member(event, "coalesce_hint")
    if (hint == "completion") is not (event.complete is True) and hint is not None:
        text = "The hint completion belongs on the last chunk, and only there."
        yield Violation("OUT-008", text, "/coalesce_hint", severity="warning")
    open_ = hint is None and event.complete is False and isinstance(event.chunk, str)
    if open_ and not _ends_sentence(event.chunk):
        yield Violation("LVL-010", "The chunk ends inside a sentence and has no coalesce_hint.")


# §6.4.1 as the readings decide (C-39, CF-022): what a default of accept breaks.
_DEFAULTS: Final = {
    (True, "high"): "HITL-006",
    (True, "medium"): "HITL-007",
    (True, "low"): "CONF-046",
    (False, "high"): "CONF-047",
}
_WAITS: Final = {"high": (180, 600), "medium": (60, 180), "low": (30, 90)}  # §6.4.2


def stakes_of(event: events.AwaitingConfirmation) -> tuple[bool, str]:
    """CF-021, C-41: whether what is asked about is irreversible, and its risk; silence about either is the worst."""
    stated, reach, risk = (
        get_member(event, "irreversible"),
        get_member(event, "reversibility"),
        get_member(event, "risk_level"),
    )
    irreversible = stated is True or reach == "irreversible" or (stated is None and reach is None)
    return irreversible, risk if isinstance(risk, str) and risk else "high"


def confirmation(event: events.AwaitingConfirmation) -> Iterator[Violation]:
    """HITL-006, HITL-007 §6.4.1, CONF-046, CONF-047, HITL-033, HITL-036"""
    stated, reach = get_member(event, "irreversible"), get_member(event, "reversibility")
    irreversible, risk = stakes_of(event)
    if event.default_decision == "accept":
        rule = _DEFAULTS.get((irreversible, risk))
        if rule is not None:
            what = "an irreversible" if irreversible else "a reversible"
            message = f"The default is accept for {what}, {risk}-risk action. Silence is not consent: use reject."
            yield Violation(rule, message, "/default_decision")
    if stated is not None and reach is not None and stated is not (reach == "irreversible"):
        message = "irreversible and reversibility contradict each other; it counts as irreversible."
        yield Violation("HITL-003", message, "/irreversible")
    low, high = _WAITS.get(risk, _WAITS["high"])
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


def clarification(event: events.AwaitingClarification) -> Iterator[Violation]:
    """EVT-037, CONF-054 §6.4.2"""
    kinds = get_member(event, "accepted_response_kinds")
    if isinstance(kinds, tuple) and "multiple_choice" in kinds and event.choices is UNSET:
        yield Violation("EVT-037", "multiple_choice is listed, but there are no choices to choose from.")
    if isinstance(event.timeout_seconds, int) and not 60 <= event.timeout_seconds <= 300:
        message = f"{event.timeout_seconds} seconds is outside the 60 to 300 suggested for a question."
        yield Violation("CONF-054", message, "/timeout_seconds")


# -- handshake and manifest ----------------------------------------------------------------


def capabilities(message: messages.SubscriptionRequest | messages.SubscriptionRenegotiate) -> Iterator[Violation]:
    """CAP-016 §5.3.1.4"""
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


def signature(message: messages.SubscriptionAccepted) -> Iterator[Violation]:
    """MAN-018 §10.4.1(2): ES256, RS256 or EdDSA; never none, never HMAC (CF-121)."""
    signed = get_member(message, "signed_manifest")
    if not isinstance(signed, str) or not re.fullmatch(messages.COMPACT_JWS, signed):
        return
    try:
        head = signed.split(".")[0]
        header = msgspec.json.decode(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)), type=dict[str, Any])
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        header = {}
    if header.get("alg") not in ("ES256", "RS256", "EdDSA"):
        found = header.get("alg", "no readable header")
        text = f"The manifest is signed with {found!r}. Use ES256, RS256 or EdDSA."
        yield Violation("MAN-018", text, "/signed_manifest")


PAYLOADS: Final[Mapping[type[Message], tuple[Callable[[Any], Iterable[Violation]], ...]]] = {
    events.SessionErrored: (error,),
    events.StateChanged: (summaries, state_names),
    events.ProgressUpdated: (summaries, progress),
    events.ToolInvoked: (summaries, invoked),
    events.ToolCompleted: (summaries, completed),
    events.OutputStreaming: (chunk,),
    events.AwaitingConfirmation: (summaries, confirmation),
    events.AwaitingClarification: (summaries, clarification),
    events.HandoffRequested: (summaries,),
    messages.SubscriptionRequest: (capabilities,),
    messages.SubscriptionAccepted: (signature,),
}
