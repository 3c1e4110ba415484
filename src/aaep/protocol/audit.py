"""
Audit a stream of messages: each by itself, in its session, and on its subscription.

The validator, the subscriber and the conformance suite share :class:`Audit`.
Bytes go in, findings come out; memory stays bounded however long the stream is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET

from ..errors import Severity, Violation
from . import codec, timestamps
from .attend_extension import PREFIX, attend_member
from .catalogue import all_rules, find_grading
from .consent import response_violation
from .events import (
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    ProducerInfo,
    SessionStarted,
    ToolInvoked,
    UnknownEvent,
)
from .extensions import Profile, Registry
from .fields import Message
from .messages import (
    ClarificationReply,
    ConfirmationReply,
    Manifest,
    Reply,
    SubscriptionAccepted,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from .rules import BUNDLED_REGISTRY
from .session import SessionState
from .states import LIFECYCLE_TRANSITIONS
from .subscription import Handshake

__all__ = ["MAX_REMEMBERED", "Audit", "Direction", "Finding", "explain", "find_misdirected", "forget_older_half"]

Direction: TypeAlias = Literal["out", "in", ""]  # from the producer, from the subscriber, not known

MAX_REMEMBERED: Final = 4096  # event ids, sessions, subscriptions and tokens remembered
_MAX_KEPT_BYTES: Final = 16_384  # bytes of a message kept for comparison; of a longer one its hash is kept
_TIMESTAMP_PRECISION: Final = 0.001  # seconds (ENV-022)
_PROMPTS: Final = (AwaitingConfirmation, AwaitingClarification)
_PROMPTS_AND_TERMINAL: Final = frozenset([*_PROMPTS, *TERMINAL])
_UNANNOUNCED_RULES: Final = frozenset(["LVL-007", "HITL-021", "HITL-030"])  # broken where no state was announced
_CONSENT_RULES: Final = frozenset(["TOOL-002", "TOOL-003", "HITL-002", "HITL-020", "CONF-006"])
# Their notes are about the producer, the type or the context, which recur from event to event.
_STANDING_RULES: Final = frozenset(["ENV-010", "ENV-032", "ENV-052"])
_PRODUCER_MESSAGES: Final = (Envelope, SubscriptionAccepted, SubscriptionRejected, Manifest)
_SUBSCRIBER_MESSAGES: Final = (ConfirmationReply, ClarificationReply, SubscriptionRequest, SubscriptionRenegotiate)


class Finding(msgspec.Struct, frozen=True):
    """A graded violation and where it was found."""

    rule: str
    section: str
    severity: Severity
    path: str
    message: str
    event_id: str = ""
    session_id: str = ""

    def __str__(self) -> str:
        where = f" at {self.path}" if self.path else ""
        return f"{self.severity} {self.rule} ({self.section}){where}: {self.message}"


def explain(raw: bytes | str, registry: Registry = BUNDLED_REGISTRY, *, strict: bool = False) -> list[Finding]:
    """Return everything that is wrong with one message, graded, in the order of the nine steps of §3.9."""
    return Audit(registry, strict=strict).grade(codec.find_violations(raw, registry, strict=strict))


def _digest(raw: bytes) -> bytes:
    """Return what is kept of a message for comparison if it is too long to keep."""
    return hash(raw).to_bytes(8, signed=True)


def forget_older_half(entries: dict[Any, Any]) -> None:
    """Delete the older half of a dictionary's entries."""
    for key in [*entries][: len(entries) // 2]:
        del entries[key]


def find_misdirected(message: Message | None, direction: Direction) -> list[Violation]:
    """
    Return the violation of a message that came from the wrong side, which has no effect (CF-038).

    The side that asks cannot answer for the user: CONF-063 §6.6(3), CLAR-016 §6.5.5
    """
    if direction == "out" and isinstance(message, _SUBSCRIBER_MESSAGES):
        rules = {ConfirmationReply: "CONF-063", ClarificationReply: "CLAR-016"}
        text = "The producer sent what only a subscriber sends, so it does not count."
        return [Violation(rules.get(type(message), "VAL-001"), text, "/type")]
    if direction == "in" and isinstance(message, _PRODUCER_MESSAGES):
        return [Violation("VAL-001", "A subscriber sent what only the producer sends, so it does not count.", "/type")]
    return []


class _ToldNotes:
    """The notes told of one session that recur with every event, and what came last: in all, and besides them."""

    __slots__ = ("notes", "others", "violations")

    def __init__(self) -> None:
        self.notes: set[tuple[str, str]] = set()  # rule and text
        self.violations: Sequence[Violation] = ()
        self.others: Sequence[Violation] = ()


def _is_standing_note(violation: Violation) -> bool:
    """Whether a violation is a note about what all events of a session have alike."""
    return violation.severity == "info" and violation.rule in _STANDING_RULES


class Audit:
    """
    Audits messages in the order they were sent.

    ``whole`` says that everything sent in either direction is fed in, as for
    :class:`~aaep.protocol.session.SessionState`. ``level`` leaves out rules that
    only a higher level demands; ``strict`` grades as a producer grades itself.
    """

    def __init__(
        self,
        registry: Registry = BUNDLED_REGISTRY,
        *,
        whole: bool = False,
        strict: bool = False,
        level: int = 3,
        profiles: Iterable[Profile] = (),
    ) -> None:
        self.registry = registry
        self.whole = whole
        self.strict = strict
        self.level = level
        self.profiles = tuple(profiles)
        self.has_manifest_address = True  # false for agents on pipes, which cannot name one (CF-118)
        self.events = 0  # events fed so far
        self.outside_sessions = 0  # events that belong to no session
        self.sessions = 0  # sessions seen so far
        self.open_sessions: dict[str, SessionState] = {}
        self._ended_sessions: dict[str, SessionState] = {}
        self._seen: dict[str, bytes] = {}  # by event_id and subscription
        self._tokens: dict[str, list[SessionState]] = {}
        self._gaps: dict[str, None] = {}  # subscriptions on which messages are missing
        self._resumed: dict[str, str] = {}  # subscriptions that go on where another was cut off, and that one
        self._last_event_ids: dict[str, str] = {}  # by subscription
        self._start_readers: dict[str, str] = {}  # by the event after which the subscription of a reader started
        # Open sessions whose beginning or a part is not known; true for one that may have been released.
        self._joined_midway: dict[str, bool] = {}
        self._has_released = False
        self._told_notes: dict[str, _ToldNotes] = {}  # by session
        self._other_findings: list[Finding] = []  # about another session than the event's
        self.subscriptions: dict[str, Handshake] = {}
        self._scratch = bytearray(65_536)  # a buffer to encode messages into for comparison

    def feed(self, raw: bytes, at: str = "", via: str = "", direction: Direction = "") -> list[Finding]:
        """Audit the next message: ``at`` is when it was seen, ``via`` its subscription, ``direction`` its sender."""
        message, violations = codec.read(raw, self.registry, self.strict, self._scratch)
        return self.feed_message(message, violations, raw, at, via, direction)

    def feed_message(
        self,
        message: Message | None,
        violations: Sequence[Violation],
        raw: bytes,
        at: str = "",
        via: str = "",
        direction: Direction = "",
    ) -> list[Finding]:
        """Audit the next message, given what :func:`~aaep.protocol.codec.read` returned for it."""
        if not isinstance(message, Envelope):
            return self._feed_other(message, violations, raw, at, via, direction)
        self.events += 1
        if direction == "in":
            self.outside_sessions += 1
            more = find_misdirected(message, direction)
        else:
            more = self._feed_event(message, raw, at, via)
            if self.profiles:
                more = [*more, *(violation for profile in self.profiles for violation in profile.check(message))]
        if violations:
            violations = self._omit_told_notes(violations, message.session_id)
        if not violations and not more and not self._other_findings:
            return []
        other_findings = self._other_findings
        self._other_findings = []
        return [*other_findings, *self.grade([*violations, *more], message.event_id, message.session_id)]

    def _feed_other(
        self,
        message: Message | None,
        violations: Sequence[Violation],
        raw: bytes,
        at: str,
        via: str,
        direction: Direction,
    ) -> list[Finding]:
        """Audit a message that is no event, or cannot be used."""
        if message is not None:
            more = find_misdirected(message, direction) or self._feed_handshake(message, at, via)
            # One defect, one finding.
            reported = {(violation.rule, violation.path) for violation in violations}
            more = [violation for violation in more if (violation.rule, violation.path) not in reported]
            violations = [*violations, *more]
        elif direction != "in":
            self.skip_unusable(raw, via)
        return self.grade(violations)

    def _omit_told_notes(self, violations: Sequence[Violation], session_id: str) -> Sequence[Violation]:
        """Leave out notes that were told of the session before, if they are about what all its events have alike."""
        told = self._told_notes.get(session_id)
        if told is None:
            if len(self._told_notes) >= MAX_REMEMBERED:
                forget_older_half(self._told_notes)
            told = self._told_notes[session_id] = _ToldNotes()
        elif violations == told.violations:  # those of the event before, as nearly always
            return told.others
        told.violations = violations
        told.others = [violation for violation in violations if not _is_standing_note(violation)]
        new = []
        for violation in violations:
            if _is_standing_note(violation):
                note = (violation.rule, violation.message)
                if note in told.notes:
                    continue
                if len(told.notes) >= MAX_REMEMBERED:
                    told.notes.clear()
                told.notes.add(note)
                if "manifest_uri" in violation.message and not self.has_manifest_address:
                    continue  # it is to be filled in when it is known
            new.append(violation)
        return new

    def has_seen(self, event: Envelope, raw: bytes, via: str = "") -> bool:
        """Whether this very event was fed before on the same subscription (TR-014)."""
        content = raw if len(raw) <= _MAX_KEPT_BYTES else _digest(raw)
        return self._seen.get(event.event_id + self._resumed.get(via, via)) == content

    def missed(self, via: str) -> None:
        """Record that messages on a subscription are missing, so what follows there stands alone (C-83)."""
        if len(self._gaps) >= MAX_REMEMBERED:
            forget_older_half(self._gaps)
        self._gaps[via] = None
        reader = self._resumed.get(via, via)
        for name, session in self.open_sessions.items():
            if name == session.session_id + reader:
                self._restart_session(name, session)
        if via in self.subscriptions:
            self.subscriptions[via].is_whole = False

    def skip_unusable(self, raw: bytes, via: str = "") -> None:
        """
        Follow the sessions past a message that cannot be used, so that the next one is not accused in its place.

        What the message says of its session is applied. Where that is not enough, the
        session is followed anew from here (C-83). A line that is no attempt at an
        object, such as one of a log, is no part of any session.
        """
        value, violations = codec.parse_json(raw)
        if not isinstance(value, dict) and not (value is codec.UNREADABLE and raw.lstrip().startswith(b"{")):
            return
        members = value if isinstance(value, dict) else {}
        if members and not issubclass(codec.identify(members, self.registry)[0], Envelope):
            return
        session_id = members.get("session_id")
        reader = self._resumed.get(via, via)
        if isinstance(session_id, str) and session_id:
            names = [session_id + reader]
        else:
            session_id = ""
            names = [name for name, session in self.open_sessions.items() if name == session.session_id + reader]
        is_ambiguous = any(violation.rule in ("ENC-002", "ENC-005") for violation in violations)  # C-26
        if len(names) == 1 and not is_ambiguous and self._apply_unusable(members, names[0], via):
            return
        for name in names:
            if name in self.open_sessions:
                self._restart_session(name, self.open_sessions[name])
            elif name not in self._ended_sessions and len(self.open_sessions) < MAX_REMEMBERED:
                self.sessions += 1
                self.open_sessions[name] = _build_midway_session(session_id)
                self._joined_midway[name] = False
        if not names:
            self.missed(via)  # it may have been the start of a session

    def _apply_unusable(self, members: Mapping[str, Any], name: str, via: str) -> bool:
        """Apply an unusable event to the session of this name; return whether the session is known from there on."""
        session = self.open_sessions.get(name)
        agents = [*session.agents] if session is not None else []
        session_id = name.removesuffix(self._resumed.get(via, via))
        envelope: dict[str, Any] = {"session_id": session_id, "event_id": "", "timestamp": ""}
        if len(agents) < 2:
            envelope["producer"] = ProducerInfo(agent_id=agents[0] if agents else "")
        if session is not None:
            envelope["timestamp"] = session.last_timestamp
        event = codec.view_unusable(members, envelope)
        if event is None:
            return False
        if session is None:
            if not isinstance(event, SessionStarted):
                return True  # the session has not begun, whatever is wrong with this event
            session = self._open_session(name, event, via)
        session.apply(event, _parse_time(event.timestamp))
        if type(event) in _PROMPTS_AND_TERMINAL:
            self._remember_turn(event, session, name)
        return True

    @property
    def _is_complete(self) -> bool:
        """Whether missing messages were never sent; with ``strict``, others may still have replied."""
        return self.whole or self.strict

    def finish(self) -> list[Finding]:
        """End the stream and return findings about what is missing."""
        findings = []
        for session in self.open_sessions.values():
            findings += self.grade(session.finish(), "", session.session_id)
        for handshake in self.subscriptions.values():
            findings += self.grade(handshake.finish())
        return findings

    def _feed_event(self, event: Envelope, raw: bytes, at: str, via: str) -> list[Violation]:
        """Audit an event in the context of those before it."""
        seen = self._seen
        reader = via
        if via:
            reader = self._resumed.get(via, via)
            if len(self._last_event_ids) >= MAX_REMEMBERED:
                forget_older_half(self._last_event_ids)
            self._last_event_ids[reader] = event.event_id
        key = event.event_id + reader
        content = raw if len(raw) <= _MAX_KEPT_BYTES else _digest(raw)
        if key in seen:
            reuse = self._find_reuse(event, content, seen[key])
            if reuse is not None:
                return reuse
        elif len(seen) >= MAX_REMEMBERED:
            forget_older_half(seen)
        seen[key] = content
        if via and event.extensions is not UNSET:
            self._note_position(event, reader)
        typed_event = event if type(event) is not UnknownEvent else codec.view_as_core_event(event)
        name = event.session_id + reader
        session = self.open_sessions.get(name) or self._open_session(name, typed_event, via)
        is_turning_point = type(typed_event) in _PROMPTS_AND_TERMINAL
        # Only prompts need a clock, and parsing a timestamp is not free.
        now = _parse_time(at or event.timestamp) if is_turning_point or session.deadline is not None else 0.0
        violations = session.feed(typed_event, now)
        if violations and (name in self._joined_midway or name not in self.open_sessions):
            violations = _soften_unknown(
                typed_event, session, violations, is_released=self._joined_midway.get(name, True)
            )
        if is_turning_point:
            self._remember_turn(typed_event, session, name)
        handshake = self.subscriptions.get(via)
        if handshake is not None:
            breaches = handshake.feed_event(event)
            if breaches:
                violations = [*breaches, *violations]
        return violations

    def _remember_turn(self, event: Envelope, session: SessionState, name: str) -> None:
        """Remember a prompt that was issued, or a session that ended."""
        if isinstance(event, _PROMPTS):
            if len(self._tokens) >= MAX_REMEMBERED:
                forget_older_half(self._tokens)
            self._tokens.setdefault(event.reply_token, []).append(session)
        elif name in self.open_sessions:
            if len(self._ended_sessions) >= MAX_REMEMBERED:
                forget_older_half(self._ended_sessions)
            self._ended_sessions[name] = self.open_sessions.pop(name)
            self._joined_midway.pop(name, None)

    def _find_reuse(self, event: Envelope, content: bytes, previous_content: bytes) -> list[Violation] | None:
        """
        Return the violations of an event_id seen before. ENV-013 §3.2.3

        None means that the id belongs to an event of another producer.
        """
        if previous_content == content:
            return []  # TR-014: the same event delivered again
        previous = codec.decode(previous_content) if previous_content.startswith(b"{") else event
        if not isinstance(previous, Envelope) or previous.producer.agent_id != event.producer.agent_id:
            return None
        self.outside_sessions += 1
        text = "The event_id was used for another event. Make a new one for every event."
        return [Violation("ENV-013", text, "/event_id", event.event_id)]

    def _open_session(self, name: str, event: Envelope, via: str) -> SessionState:
        """Return the state of a session that is not open yet, creating it unless it has ended."""
        ended = self._ended_sessions.get(name)
        if ended is not None:
            return ended
        is_start = isinstance(event, SessionStarted)
        is_full = len(self.open_sessions) >= MAX_REMEMBERED
        if not is_start and self._has_released:  # it may have been released; no other is released for it
            session = _build_midway_session(event.session_id)
            if not is_full:
                self.open_sessions[name] = session
                self._joined_midway[name] = True
            return session
        if is_full:  # sessions that never end must not fill the memory
            self._release_session(next(iter(self.open_sessions)))
        self.sessions += 1
        if not is_start and via in self._gaps:
            self._joined_midway[name] = False
            session = _build_midway_session(event.session_id)
        else:
            is_late = self._is_late(event, via)
            session = SessionState(event.session_id, whole=self._is_complete, late=is_late, others=not self.whole)
        self.open_sessions[name] = session
        return session

    def _is_late(self, event: Envelope, via: str) -> bool:
        """Whether a session began before its subscription, or the terms leave out some of it. C-83"""
        handshake = self.subscriptions.get(via)
        return handshake is not None and (handshake.is_partial or _parse_time(event.timestamp) < handshake.since)

    def _release_session(self, name: str) -> None:
        """Stop following a session and report that; whether it ends is not judged. SEQ-003 §4.1"""
        id_ = self.open_sessions.pop(name).session_id
        self._joined_midway.pop(name, None)
        self._has_released = True
        text = f"More than {MAX_REMEMBERED:,} sessions are open at once, so {id_} is not followed any more."
        self._other_findings.append(Finding("SEQ-003", all_rules()["SEQ-003"].section, "warning", "", text, "", id_))

    def _restart_session(self, name: str, previous: SessionState) -> None:
        """Follow a session anew from here; only its pending prompts are carried over."""
        session = self.open_sessions[name] = _build_midway_session(previous.session_id)
        session.last_timestamp = previous.last_timestamp
        session.parent_session_id = previous.parent_session_id
        session.deadline = previous.deadline
        for token, prompt in previous.prompts.items():
            if prompt.outcome == "pending" and token in self._tokens:
                session.prompts[token] = prompt
                askers = self._tokens[token]
                self._tokens[token] = [session if asker is previous else asker for asker in askers]
        self._joined_midway.setdefault(name, False)

    def _feed_handshake(self, message: Message, at: str, via: str) -> list[Violation]:
        """Audit a handshake message or a reply."""
        if isinstance(message, (ConfirmationReply, ClarificationReply)):
            return self._feed_reply(message, at, via)
        handshake = self.subscriptions.get(via)
        if handshake is None:
            if len(self.subscriptions) >= MAX_REMEMBERED:
                forget_older_half(self.subscriptions)
            handshake = self.subscriptions[via] = Handshake(whole=self._is_complete)
        if isinstance(message, SubscriptionRequest):
            self._note_resumption(message, via)
        if isinstance(message, SubscriptionAccepted):
            self._note_start(message, via)
            if at:
                handshake.since = _parse_time(at) - _TIMESTAMP_PRECISION
        return [*handshake.feed(message)]

    def _note_resumption(self, message: SubscriptionRequest, via: str) -> None:
        """
        Note that a subscription goes on after the last event of another. CF-084

        A connection that is a subscription cannot be taken up again, so a reader
        that was cut off has a new one for what is to it the same stream.
        """
        asked = message.capabilities.unknown.get(PREFIX)
        members = asked if isinstance(asked, dict) else {}
        if via in self._resumed:
            return
        start = members.get("start")
        if isinstance(start, str) and self._start_readers.get(start, via) != via:
            self._remember_resumption(via, self._start_readers[start])
            return
        after = members.get("resume_after")
        if not isinstance(after, str) or not after:
            return
        heard_by = [
            reader
            for reader, last_id in self._last_event_ids.items()
            if reader != via and (last_id == after or after + reader in self._seen)
        ]
        left_off = [reader for reader in heard_by if self._last_event_ids[reader] == after]
        if left_off or len(heard_by) == 1:
            self._remember_resumption(via, (left_off or heard_by)[0])

    def _remember_resumption(self, via: str, reader: str) -> None:
        if len(self._resumed) >= MAX_REMEMBERED:
            forget_older_half(self._resumed)
        self._resumed[via] = reader

    def _note_start(self, message: SubscriptionAccepted, via: str) -> None:
        """Note the event after which a subscription starts: who is cut off before it was caught up names it again."""
        granted = message.honored_capabilities.unknown.get(PREFIX)
        start = granted.get("start") if isinstance(granted, dict) else None
        if isinstance(start, str):
            if len(self._start_readers) >= MAX_REMEMBERED:
                forget_older_half(self._start_readers)
            self._start_readers[start] = self._resumed.get(via, via)

    def _note_position(self, event: Envelope, reader: str) -> None:
        """Note the event after which a reader that was caught up will resume: all up to it counts as heard. CF-084"""
        position = attend_member(event, "position")
        if attend_member(event, "resync") is True and isinstance(position, str):
            self._last_event_ids[reader] = position

    def _feed_reply(self, message: Reply, at: str, via: str) -> list[Violation]:
        violations = [*self._find_misplaced(message, via)]
        askers: list[SessionState] = self._tokens.get(message.reply_token, [])
        if not askers and self.events and (self._is_complete or not via) and via not in self._gaps:
            violations.append(Violation("CONF-016", "No question with this reply_token was asked.", "/reply_token"))
        for session in askers:
            prompt = session.prompts.get(message.reply_token)
            if prompt is None:  # asked after the session's end, which was reported then
                continue
            if isinstance(message, ClarificationReply) and prompt.kind == "clarification":
                rule = response_violation(message, prompt)
                if rule and not violations:
                    violations.append(Violation(rule, "The answer is not of a kind the question accepts.", "/response"))
            if not violations:
                session.reply(message, _parse_time(at or message.timestamp), via)
        return violations

    def _find_misplaced(self, message: Reply, via: str) -> Iterator[Violation]:
        """Find why this subscription may not send a reply."""
        if via and message.subscription_id != via:
            text = f"The reply came on {via} but names {message.subscription_id}."
            yield Violation(type(message).rules["subscription_id"], text, "/subscription_id")
        handshake = self.subscriptions.get(via)
        terms = handshake.terms if handshake is not None else None
        if isinstance(message, ConfirmationReply) and terms is not None and not terms.supports_confirmation_reply:
            text = "The subscription was not granted confirmation replies; another has to send it."
            yield Violation("CONF-063", text, "/subscription_id")

    def grade(self, violations: Iterable[Violation], event_id: str = "", session_id: str = "") -> list[Finding]:
        """Turn violations into findings, leaving out those that only a higher level demands."""
        findings = []
        for violation in violations:
            severity, section, level = find_grading(violation.rule, violation.severity, self.strict)
            if level <= self.level:
                where = violation.event_id or event_id
                findings.append(
                    Finding(violation.rule, section, severity, violation.path, violation.message, where, session_id)
                )
        return findings


def _build_midway_session(session_id: str) -> SessionState:
    """Return the state of a session whose beginning is not known."""
    session = SessionState(session_id, whole=False, others=True)
    session.stage = LIFECYCLE_TRANSITIONS["none", "started"]
    return session


def _soften_unknown(
    event: Envelope, session: SessionState, violations: list[Violation], *, is_released: bool
) -> list[Violation]:
    """Return the violations that hold if not everything before the event is known. C-83"""
    agent = session.agents.get(event.producer.agent_id)
    if agent is not None and not agent.has_moved:  # its state may have been announced in the missing part
        violations = [violation for violation in violations if violation.rule not in _UNANNOUNCED_RULES]
    if is_released and isinstance(event, ToolInvoked):
        # The recording is complete; it is the audit that did not follow, and an unjudged call is not a sound one.
        violations = [
            _to_unjudged(violation) if violation.rule in _CONSENT_RULES else violation for violation in violations
        ]
    return violations


def _to_unjudged(violation: Violation) -> Violation:
    text = "Whether the user agreed to this call was not judged: too many sessions are open to follow this one."
    return Violation(violation.rule, text, event_id=violation.event_id)


def _parse_time(text: str) -> float:
    moment = timestamps.parse_instant(text)
    return 0.0 if moment is None else moment
