"""
Judging a stream of messages: each by itself, each in its session, each on its subscription.

An :class:`Audit` is what the validator, the subscriber and the conformance
suite share. Bytes go in, findings come out; memory stays bounded however long
the stream is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from ..errors import Severity, Violation
from . import codec, timestamps
from .catalogue import all_rules, grade
from .consent import response_violation
from .events import (
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
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
from .rules import BUNDLED
from .session import SessionState
from .states import LIFECYCLE
from .subscription import Handshake

__all__ = ["MAX_REMEMBERED", "Audit", "Direction", "Finding", "explain", "find_misdirected", "forget_older_half"]

Direction: TypeAlias = Literal["out", "in", ""]  # from the producer, from the subscriber, not known

_PROMPTS: Final = (AwaitingConfirmation, AwaitingClarification)
_TURNING: Final = frozenset([*_PROMPTS, *TERMINAL])
MAX_REMEMBERED: Final = 4096  # event ids, sessions, subscriptions and tokens remembered
_MILLISECOND: Final = 0.001  # which is as exact as events are (ENV-022)
_MAX_KEPT_BYTES: Final = 16_384  # bytes of a message kept to compare with; of a longer one its hash
_ANNOUNCED: Final = frozenset(["LVL-007", "HITL-021", "HITL-030"])  # broken where no state was announced before
_CONSENT: Final = frozenset(["TOOL-002", "TOOL-003", "HITL-002", "HITL-020", "CONF-006"])
_PRODUCERS: Final = (Envelope, SubscriptionAccepted, SubscriptionRejected, Manifest)
_SUBSCRIBERS: Final = (ConfirmationReply, ClarificationReply, SubscriptionRequest, SubscriptionRenegotiate)


class Finding(msgspec.Struct, frozen=True):
    """A violation, graded, and where it was found."""

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


def explain(raw: bytes | str, registry: Registry = BUNDLED, *, strict: bool = False) -> list[Finding]:
    """Everything that is wrong with one message, graded, in the order of the nine steps of §3.9."""
    return Audit(registry, strict=strict).grade(codec.find_violations(raw, registry, strict=strict))


def _digest_if_long(raw: bytes) -> bytes:
    """Return a message to compare others with; of one that is too long to keep, its hash."""
    return raw if len(raw) <= _MAX_KEPT_BYTES else hash(raw).to_bytes(8, signed=True)


def forget_older_half(recent: dict[Any, Any]) -> None:
    """Forget the older half."""
    for old in [*recent][: len(recent) // 2]:
        del recent[old]


def find_misdirected(message: Message | None, direction: Direction) -> list[Violation]:
    """
    A message of one side that came from the other: it is told, and counts for nothing (CF-038).

    Whoever asks cannot answer for the user: CONF-063 §6.6(3), CLAR-016 §6.5.5
    """
    if direction == "out" and isinstance(message, _SUBSCRIBERS):
        rules = {ConfirmationReply: "CONF-063", ClarificationReply: "CLAR-016"}
        text = "The producer sent what only a subscriber sends, so it does not count."
        return [Violation(rules.get(type(message), "VAL-001"), text, "/type")]
    if direction == "in" and isinstance(message, _PRODUCERS):
        return [Violation("VAL-001", "A subscriber sent what only the producer sends, so it does not count.", "/type")]
    return []


class Audit:
    """
    Judges messages in the order they were sent.

    ``whole`` as for :class:`~aaep.protocol.session.Session`. ``level`` leaves out rules
    that only a higher level demands; ``strict`` grades as a producer grades
    itself.
    """

    def __init__(
        self,
        registry: Registry = BUNDLED,
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
        self.events = 0
        self.outside_sessions = 0  # events that took no part in a session
        self.sessions = 0
        self.open_sessions: dict[str, SessionState] = {}
        self._ended_sessions: dict[str, SessionState] = {}
        self._seen: dict[str, bytes] = {}  # by event_id and subscription
        self._tokens: dict[str, list[SessionState]] = {}
        self._gaps: dict[str, None] = {}  # subscriptions on which something is missing
        # Open sessions of which the beginning, or a part, is not known; true of one that we may have let go of.
        self._joined_midway: dict[str, bool] = {}
        self._has_released = False
        self._other_findings: list[Finding] = []  # about another session than that of the event
        self.subscriptions: dict[str, Handshake] = {}
        self._scratch = bytearray(65_536)  # to encode messages into, for comparing

    def feed(self, raw: bytes, at: str = "", via: str = "", direction: Direction = "") -> list[Finding]:
        """Judge the next message: when it was seen, on which subscription it travelled, and who sent it."""
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
        """Judge the next message, which :func:`~aaep.protocol.codec.read` has read and found these violations in."""
        if not isinstance(message, Envelope):
            if message is not None:
                more = find_misdirected(message, direction) or self._feed_handshake(message, at, via)
                told = {(violation.rule, violation.path) for violation in violations}  # one defect, one finding
                more = [violation for violation in more if (violation.rule, violation.path) not in told]
                violations = [*violations, *more]
            return self.grade(violations)
        self.events += 1
        if direction == "in":
            self.outside_sessions += 1
            more = find_misdirected(message, direction)
        else:
            more = self._feed_event(message, raw, at, via)
            if self.profiles:
                more = [*more, *(violation for profile in self.profiles for violation in profile.check(message))]
        if not violations and not more and not self._other_findings:
            return []
        others, self._other_findings = self._other_findings, []
        return [*others, *self.grade([*violations, *more], message.event_id, message.session_id)]

    def has_seen(self, event: Envelope, raw: bytes, via: str = "") -> bool:
        """Whether this very event was fed before, on the same subscription (TR-014)."""
        return self._seen.get(event.event_id + via) == _digest_if_long(raw)

    def missed(self, via: str) -> None:
        """The recording says that messages on a subscription are missing: what comes next follows from none (C-83)."""
        if len(self._gaps) >= MAX_REMEMBERED:
            forget_older_half(self._gaps)
        self._gaps[via] = None
        for name, before in self.open_sessions.items():
            if name == before.session_id + via:
                self._restart_session(name, before)
        if via in self.subscriptions:
            self.subscriptions[via].whole = False

    @property
    def _is_complete(self) -> bool:
        """Whether what is missing was never sent. Who grades itself is told so too, but others may have replied."""
        return self.whole or self.strict

    def finish(self) -> list[Finding]:
        """The stream is over: judge what is missing."""
        found = []
        for session in self.open_sessions.values():
            found += self.grade(session.finish(), "", session.session_id)
        for handshake in self.subscriptions.values():
            found += self.grade(handshake.finish())
        return found

    def _feed_event(self, event: Envelope, raw: bytes, at: str, via: str) -> list[Violation]:
        """Judge an event among those that came before it."""
        seen, key = self._seen, event.event_id + via
        kept = _digest_if_long(raw)
        if key in seen:
            reuse = self._find_reuse(event, kept, seen[key])
            if reuse is not None:
                return reuse
        elif len(seen) >= MAX_REMEMBERED:
            forget_older_half(seen)
        seen[key] = kept
        meant = event if type(event) is not UnknownEvent else codec.as_meant(event)
        name = event.session_id + via
        session = self.open_sessions.get(name) or self._open_session(name, meant, via)
        is_turning = type(meant) in _TURNING
        # Only prompts need a clock, and reading one from text is not free.
        now = _moment(at or event.timestamp) if is_turning or session.deadline is not None else 0.0
        violations = session.feed(meant, now)
        if violations and (name in self._joined_midway or name not in self.open_sessions):
            violations = _undetermined(meant, session, violations, released=self._joined_midway.get(name, True))
        if is_turning:
            self._remember_turn(meant, session, name)
        if via in self.subscriptions:
            violations = [*self.subscriptions[via].feed(event), *violations]
        return violations

    def _remember_turn(self, event: Envelope, session: SessionState, name: str) -> None:
        """A prompt was issued, or a session ended."""
        if isinstance(event, _PROMPTS):
            if len(self._tokens) >= MAX_REMEMBERED:
                forget_older_half(self._tokens)
            self._tokens.setdefault(event.reply_token, []).append(session)
        elif name in self.open_sessions:
            if len(self._ended_sessions) >= MAX_REMEMBERED:
                forget_older_half(self._ended_sessions)
            self._ended_sessions[name] = self.open_sessions.pop(name)
            self._joined_midway.pop(name, None)

    def _find_reuse(self, event: Envelope, raw: bytes, before: bytes) -> list[Violation] | None:
        """ENV-013 §3.2.3: what to say of an event_id seen before; None when it is another producer's."""
        if before == raw:
            return []  # TR-014: the same event delivered again
        other = codec.decode(before) if before.startswith(b"{") else event
        if not isinstance(other, Envelope) or other.producer.agent_id != event.producer.agent_id:
            return None
        self.outside_sessions += 1
        text = "The event_id was used for another event. Make a new one for every event."
        return [Violation("ENV-013", text, "/event_id", event.event_id)]

    def _open_session(self, name: str, event: Envelope, via: str) -> SessionState:
        ended = self._ended_sessions.get(name)
        if ended is not None:
            return ended
        begins, full = isinstance(event, SessionStarted), len(self.open_sessions) >= MAX_REMEMBERED
        if not begins and self._has_released:  # perhaps one that was let go of; no other makes room for it
            session = _midway(event.session_id)
            if not full:
                self.open_sessions[name], self._joined_midway[name] = session, True
            return session
        if full:  # sessions that never end must not fill the memory
            self._let_go(next(iter(self.open_sessions)))
        self.sessions += 1
        if not begins and via in self._gaps:
            self._joined_midway[name] = False
            session = _midway(event.session_id)
        else:
            late, others = self._is_late(event, via), not self.whole
            session = SessionState(event.session_id, whole=self._is_complete, late=late, others=others)
        self.open_sessions[name] = session
        return session

    def _is_late(self, event: Envelope, via: str) -> bool:
        """Whether a session began before its subscription did, or not all of it is wanted there. C-83"""
        handshake = self.subscriptions.get(via)
        return handshake is not None and (handshake.partial or _moment(event.timestamp) < handshake.since)

    def _let_go(self, name: str) -> None:
        """Follow a session no more, and say so: whether it ends is not judged. SEQ-003 §4.1"""
        id_ = self.open_sessions.pop(name).session_id
        self._joined_midway.pop(name, None)
        self._has_released = True
        text = f"More than {MAX_REMEMBERED:,} sessions are open at once, so {id_} is not followed any more."
        self._other_findings.append(Finding("SEQ-003", all_rules()["SEQ-003"].section, "warning", "", text, "", id_))

    def _restart_session(self, name: str, before: SessionState) -> None:
        """Follow a session from here on. Of what came before only the open questions still matter."""
        session = self.open_sessions[name] = _midway(before.session_id)
        session.last_timestamp, session.parent_session_id, session.deadline = (
            before.last_timestamp,
            before.parent_session_id,
            before.deadline,
        )
        for token, ask in before.prompts.items():
            if ask.outcome == "pending" and token in self._tokens:
                session.prompts[token] = ask
                self._tokens[token] = [session if one is before else one for one in self._tokens[token]]
        self._joined_midway.setdefault(name, False)

    def _feed_handshake(self, message: Message, at: str, via: str) -> list[Violation]:
        """A handshake message or a reply."""
        if isinstance(message, (ConfirmationReply, ClarificationReply)):
            return self._feed_reply(message, at, via)
        handshake = self.subscriptions.get(via)
        if handshake is None:
            if len(self.subscriptions) >= MAX_REMEMBERED:
                forget_older_half(self.subscriptions)
            handshake = self.subscriptions[via] = Handshake(whole=self._is_complete)
        if isinstance(message, SubscriptionAccepted) and at:
            handshake.since = _moment(at) - _MILLISECOND
        return [*handshake.feed(message)]

    def _feed_reply(self, message: Reply, at: str, via: str) -> list[Violation]:
        found = [*self._find_misplaced(message, via)]
        asked: list[SessionState] = self._tokens.get(message.reply_token, [])
        if not asked and self.events and (self._is_complete or not via) and via not in self._gaps:
            found.append(Violation("CONF-016", "No question with this reply_token was asked.", "/reply_token"))
        for session in asked:
            ask = session.prompts.get(message.reply_token)
            if ask is None:  # asked after the session's end, and told of then
                continue
            if isinstance(message, ClarificationReply) and ask.kind == "clarification":
                rule = response_violation(message, ask)
                if rule and not found:
                    found.append(Violation(rule, "The answer is not of a kind the question accepts.", "/response"))
            if not found:
                session.reply(message, _moment(at or message.timestamp), via)
        return found

    def _find_misplaced(self, message: Reply, via: str) -> Iterator[Violation]:
        """A reply that this subscription may not send."""
        if via and message.subscription_id != via:
            text = f"The reply came on {via} but names {message.subscription_id}."
            yield Violation(type(message).rules["subscription_id"], text, "/subscription_id")
        handshake = self.subscriptions.get(via)
        terms = handshake.terms if handshake is not None else None
        if isinstance(message, ConfirmationReply) and terms is not None and not terms.supports_confirmation_reply:
            text = "The subscription was not granted confirmation replies; another has to send it."
            yield Violation("CONF-063", text, "/subscription_id")

    def grade(self, violations: Iterable[Violation], event_id: str = "", session_id: str = "") -> list[Finding]:
        """Make findings of violations, but for those that only a higher level demands."""
        findings = []
        for violation in violations:
            rule = all_rules().get(violation.rule)
            if rule is not None and rule.level > self.level and not rule.always:
                continue
            findings.append(
                Finding(
                    violation.rule,
                    rule.section if rule is not None else "",
                    grade(violation, strict=self.strict),
                    violation.path,
                    violation.message,
                    violation.event_id or event_id,
                    session_id,
                )
            )
        return findings


def _midway(session_id: str) -> SessionState:
    """A session whose beginning is not known."""
    session = SessionState(session_id, whole=False, others=True)
    session.stage = LIFECYCLE["none", "started"]
    return session


def _undetermined(event: Envelope, session: SessionState, found: list[Violation], *, released: bool) -> list[Violation]:
    """What can be said of an event if not all before it is known. C-83"""
    agent = session.agents.get(event.producer.agent_id)
    if agent is not None and not agent.has_moved:  # what it is in was perhaps announced where nobody heard it
        found = [violation for violation in found if violation.rule not in _ANNOUNCED]
    if released and isinstance(event, ToolInvoked):
        # Nothing is missing in the recording; it is we who do not know, and what we did not judge is not fine.
        found = [_unjudged(violation) if violation.rule in _CONSENT else violation for violation in found]
    return found


def _unjudged(violation: Violation) -> Violation:
    text = "Whether the user agreed to this call was not judged: too many sessions are open to follow this one."
    return Violation(violation.rule, text, event_id=violation.event_id)


def _moment(text: str) -> float:
    moment = timestamps.parse_instant(text)
    return 0.0 if moment is None else moment
