"""
The short way to "nothing to say".

Nearly every event of a sound stream is like others before it that were found
sound: the same producer, language and urgency, the same few values where
:mod:`aaep.protocol.rules` looks at values. :func:`check` compares those, tests what is
new on every event (ids, times, odd characters), and runs the rules only when
something is out of the ordinary. No rule is written here; what passes here is
less than what the rules allow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, cast

import msgspec
from msgspec import NODEFAULT, UNSET, UnsetType
from msgspec.json import encode

from ..errors import Violation
from ..text import redaction
from . import events
from .events import CORE_EVENTS, Envelope
from .extensions import Registry
from .fields import Message, per_type, struct_fields
from .messages import ClarificationReply, ConfirmationReply
from .rules import BUNDLED, PAYLOADS, check_every_rule, human_texts, pattern_test
from .timestamps import is_clean

__all__ = ["PLANS", "Plan", "check", "met"]

_MOST: Final = 4096  # values remembered of each kind

# Ids found sound, of each kind. An output's and a session's come again and again.
_SESSIONS: Final[set[str]] = set()
_CALLS: Final[set[str]] = set()
_OUTPUTS: Final[set[str]] = set()
_TESTS: Final[dict[str, tuple[set[str], Callable[[str], object]]]] = {
    "sess": (_SESSIONS, pattern_test(events.SessionStarted, "session_id")),
    "call": (_CALLS, pattern_test(events.ToolInvoked, "tool_call_id")),
    "out_": (_OUTPUTS, pattern_test(events.OutputStreaming, "output_id")),
    "rpl_": (set(), pattern_test(events.AwaitingConfirmation, "reply_token")),
}
_event_id: Final = pattern_test(events.SessionStarted, "event_id")


def met(id_: str, kind: str) -> bool:
    """Whether an id is sound."""
    sound, test = _TESTS[kind]
    if id_ in sound:
        return True
    if test(id_) is None:
        return False
    if len(sound) >= _MOST:
        sound.clear()
    sound.add(id_)
    return True


# -- what is particular to each type: what the rules look at, or None if they had better look themselves --------


def _started(event: events.SessionStarted) -> object:
    if event.request_text is not UNSET and redaction.suspicious(event.request_text):
        return None
    return event.tools_available


def _completed(event: events.SessionCompleted) -> object:
    return True if event.result_uri is UNSET else None


def _errored(event: events.SessionErrored) -> object:
    return (event.error_category, event.error_code, event.recoverable) if event.error_uri is UNSET else None


def _cancelled(event: events.SessionCancelled) -> object:
    return event.cancellation_reason


def _state(event: events.StateChanged) -> object:
    if event.summary_normal is UNSET or event.summary_terse is UNSET or event.summary_detailed is UNSET:
        return None
    return event.from_state, event.to_state


def _progress(event: events.ProgressUpdated) -> object:
    now = event.progress
    if event.summary_normal is UNSET or (now.percent is UNSET and now.step is UNSET):
        return None
    return True if now.step is UNSET or now.total_steps is UNSET or now.step <= now.total_steps else None


def _invoked(event: events.ToolInvoked) -> object:
    call = event.tool_call_id
    if event.summary_terse is UNSET or event.summary_detailed is UNSET or call is UNSET:
        return None
    if not (call in _CALLS or met(call, "call")):
        return None
    if event.args_summary is not UNSET and redaction.suspicious(event.args_summary):
        return None
    return event.tool, event.risk_level, event.irreversible


def _returned(event: events.ToolCompleted) -> object:
    call = event.tool_call_id
    if event.status != "success" or event.summary_normal is UNSET or call is UNSET:
        return None
    return event.tool if call in _CALLS or met(call, "call") else None


def _output(event: events.OutputStreaming) -> object:
    id_ = event.output_id
    if event.coalesce_hint is UNSET or not (id_ is UNSET or id_ in _OUTPUTS or met(id_, "out_")):
        return None
    return event.coalesce_hint, event.complete, event.content_type, event.language


def _confirmation(event: events.AwaitingConfirmation) -> object:
    if event.summary_normal is UNSET or event.summary_terse is UNSET or event.summary_detailed is UNSET:
        return None
    if not _flat(event.extra_context) or not met(event.reply_token, "rpl_"):
        return None
    reach = (event.risk_level, event.irreversible, event.reversibility)
    return event.timeout_seconds, event.default_decision, reach, event.allowed_replies


def _clarification(event: events.AwaitingClarification) -> object:
    choices = event.choices
    if event.summary_normal is UNSET or choices is UNSET or len({*choices}) != len(choices):
        return None
    return (event.timeout_seconds, event.accepted_response_kinds) if met(event.reply_token, "rpl_") else None


def _handoff(event: events.HandoffRequested) -> object:
    if event.summary_normal is UNSET or event.target_uri is not UNSET or not _flat(event.packaged_context):
        return None
    return True


def _flat(free: object) -> bool:
    return free is UNSET or (isinstance(free, dict) and all(type(value) is str for value in free.values()))


_PARTICULAR: Final[dict[type[Envelope], Callable[[Any], object]]] = {
    events.SessionStarted: _started,
    events.SessionCompleted: _completed,
    events.SessionErrored: _errored,
    events.SessionCancelled: _cancelled,
    events.StateChanged: _state,
    events.ProgressUpdated: _progress,
    events.ToolInvoked: _invoked,
    events.ToolCompleted: _returned,
    events.OutputStreaming: _output,
    events.AwaitingConfirmation: _confirmation,
    events.AwaitingClarification: _clarification,
    events.HandoffRequested: _handoff,
}


# -- the way ---------------------------------------------------------------------------------------------------


def _quiet(event: Any, raw: bytes, common: tuple[Any, ...], particular: Callable[[Any], object], sound: Any) -> bool:
    """Whether an event is like others that were sound, and its own ids, time and characters are ordinary."""
    producer, hints, urgency, verbosity, version, context = common
    return (
        event.producer == producer
        and event.localization_hints == hints
        and event.urgency == urgency
        and event.verbosity == verbosity
        and event.aaep_version == version
        and event.context == context
        and event.extensions is UNSET
        and particular(event) in sound
        and raw.isascii()
        and 60 not in raw  # <
        and (92 not in raw or b"\\u" not in raw)  # a backslash
        and len(raw) <= 16_384
        and is_clean(event.timestamp)
        and (event.session_id in _SESSIONS or met(event.session_id, "sess"))
        and _event_id(event.event_id) is not None
    )


_QUIET: Final = per_type(_quiet, CORE_EVENTS.values())


class Rest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, gc=False):
    """
    What stands behind the members that all events share.

    In a stream those are compared as bytes and need not be parsed; whoever
    judges the rest finds it where the event has it.
    """

    event_id: ClassVar[str] = ""
    extensions: ClassVar[UnsetType] = UNSET


def _rest(cls: type[Envelope]) -> type[Rest]:
    """The rest of an event of this type; if it uses extensions, it is not of this shape."""
    shared = {field.name for field in struct_fields(Envelope)} - {"correlation_id"} | {"extensions"}
    fields = [
        (one.name, one.type) if one.default is NODEFAULT else (one.name, one.type, one.default)
        for one in struct_fields(cls)
        if one.name not in shared
    ]
    names = {one.name: one.encode_name for one in struct_fields(cls)}
    made = msgspec.defstruct(cls.__name__, fields, bases=(Rest,), rename=names, frozen=True, kw_only=True, gc=False)
    return cast(type[Rest], made)


class Plan:
    """What was found sound on events of one type."""

    __slots__ = ("agent", "common", "decode", "head", "particular", "quiet", "rest", "shared", "size", "sound", "start")

    def __init__(self, cls: type[Envelope]) -> None:
        self.rest = _rest(cls)
        self.decode = msgspec.json.Decoder(self.rest).decode
        self.particular = _PARTICULAR[cls]
        self.quiet = _QUIET[cls]
        self.common: tuple[Any, ...] = (None,) * 6  # what the events that came last shared
        self.head = self.shared = b"\0"  # the same as bytes, in our own layout: before the ids, and behind the time
        self.start = 0  # where the event_id begins, behind its evt_
        self.size = 0  # of the second of them
        self.agent = ""
        self.sound: set[object] = set()  # what was particular to them

    def remember(self, event: Envelope) -> None:
        """Nothing was wrong with this event."""
        hints = event.localization_hints
        # Whether an event has text decides if these may be absent, so only events that have them are remembered.
        if event.verbosity is UNSET or hints is UNSET or hints.primary_language is UNSET:
            return
        common = (event.producer, hints, event.urgency, event.verbosity, event.aaep_version, event.context)
        if common != self.common or len(self.sound) >= _MOST:
            self.common = common
            self.sound.clear()
            self._shape(event)
        particular = self.particular(event)
        if particular is not None:
            self.sound.add(particular)

    def _shape(self, event: Envelope) -> None:
        """How the common part reads in our own layout."""
        written = encode(event)
        self.agent = event.producer.agent_id
        self.start = written.index(b'"event_id":"evt_') + 16
        self.head = written[: self.start]
        end = written.index(b'"localization_hints":') + 21 + len(encode(event.localization_hints))
        self.shared = b'Z",' + written[written.index(b'"producer":') : end] + b","
        self.size = len(self.shared)


PLANS: Final[dict[type[Any], Plan]] = {cls: Plan(cls) for cls in CORE_EVENTS.values()}


def check(event: Message, raw: bytes, known: Registry = BUNDLED, strict: bool = False) -> tuple[Violation, ...]:
    """
    Every rule on a message whose shape is sound, as fast as it can be.

    ``raw`` is the message as JSON. An empty answer is the usual one and costs
    less than parsing the message did.
    """
    plan = PLANS.get(type(event))
    if plan is None:
        return () if _plain(event) else tuple(check_every_rule(event, raw, known, strict=strict))
    # Strictness only adds a look at every text for secrets.
    if plan.quiet(event, raw, plan.common, plan.particular, plan.sound) and not (strict and _telltale(event)):
        return ()
    found = tuple(check_every_rule(event, raw, known, strict=strict))
    if not found:
        plan.remember(cast(Envelope, event))
    return found


def _plain(message: Any) -> bool:
    """Whether a message is a reply whose ids and time are ordinary: the rules look at nothing else in it."""
    tests = _REPLIES.get(type(message))
    if tests is None:
        return False
    token, subscription = tests
    return bool(token(message.reply_token) and subscription(message.subscription_id)) and is_clean(message.timestamp)


_REPLIES: Final = {
    cls: (pattern_test(cls, "reply_token"), pattern_test(cls, "subscription_id"))
    for cls in (ConfirmationReply, ClarificationReply)
    if cls not in PAYLOADS
}


def _telltale(event: Message) -> bool:
    return any(redaction.suspicious(text) for _, text in human_texts(event))
