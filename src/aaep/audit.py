"""
Judging a stream of messages: each by itself, each in its session, each on its subscription.

An :class:`Audit` is what the validator, the subscriber and the conformance
suite share. Bytes go in, findings come out; memory stays bounded however long
the stream is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from . import timestamps, wire
from .asks import ill_typed
from .catalogue import grade, rules
from .errors import Severity, Violation
from .events import (
    CORE_EVENTS,
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
)
from .extensions import Profile, Registry
from .fields import Message, per_type
from .messages import ClarificationReply, ConfirmationReply
from .rules import BUNDLED
from .session import ANY, MOVES, Session
from .subscription import Handshake

__all__ = ["Audit", "Finding"]

_ASKING: Final = (AwaitingConfirmation, AwaitingClarification)
_TURNING: Final = frozenset([*_ASKING, *TERMINAL])
_MOST: Final = 4096  # event ids, sessions, subscriptions and tokens remembered
_MOST_KEPT: Final = 16_384  # bytes of a message kept to compare with; of a longer one its hash


class Finding(msgspec.Struct, frozen=True):
    """A violation, graded, and where it was found."""

    rule: str
    section: str
    severity: Severity
    path: str
    message: str
    event_id: str = ""
    session_id: str = ""


def _digest(raw: bytes) -> bytes:
    """Stands for a message too long to keep."""
    return hash(raw).to_bytes(8, signed=True)


def _trim(recent: dict[str, Any]) -> None:
    """Forget the older half."""
    for old in [*recent][: len(recent) // 2]:
        del recent[old]


class Audit:
    """
    Judges messages in the order they were sent.

    ``whole`` as for :class:`~aaep.session.Session`. ``level`` leaves out rules
    that only a higher level demands; ``strict`` grades as a producer grades
    itself.
    """

    def __init__(
        self,
        known: Registry = BUNDLED,
        *,
        whole: bool = False,
        strict: bool = False,
        level: int = 3,
        profiles: Iterable[Profile] = (),
    ) -> None:
        self.known, self.whole, self.strict, self.level = known, whole or strict, strict, level
        self.profiles = tuple(profiles)
        self.events = 0
        self.sessions = 0
        self._open: dict[str, Session] = {}
        self._ended: dict[str, Session] = {}
        self._seen: dict[str, bytes] = {}
        self._tokens: dict[str, list[Session]] = {}
        self._subscriptions: dict[str, Handshake] = {}
        self._scratch = bytearray(65_536)

    def feed(self, raw: bytes, at: str = "", via: str = "") -> list[Finding]:
        """Judge the next message. ``at`` is when it was seen, ``via`` the subscription it travelled on."""
        message, violations = wire.read(raw, self.known, self.strict, self._scratch)
        if not isinstance(message, Envelope):
            if message is not None:
                violations = [*violations, *self._exchange(message, at, via)]
            return self._graded(violations)
        self.events += 1
        found = self._event(message, raw if len(raw) <= _MOST_KEPT else _digest(raw), at, via)
        if self.profiles:
            found = [*found, *(v for one in self.profiles for check in one.checks for v in check(message))]
        if not violations and not found:
            return []
        return self._graded([*violations, *found], message.event_id, message.session_id)

    def stream(self, lines: Iterable[bytes]) -> Iterator[tuple[int, list[Finding]]]:
        """
        Judge many bare messages; gives the place (from 0) and the findings of each that has any.

        The same as calling :meth:`feed` for each, only faster: an event in the
        usual layout that is like others before it goes straight to its session.
        """
        if self.strict or self.profiles or self._subscriptions:
            yield from ((place, found) for place, raw in enumerate(lines) if (found := self.feed(raw)))
            return
        usual, step, scratch, seen, opened = wire.usual, _STEP.get, self._scratch, self._seen, self._open
        for place, raw in enumerate(lines):
            event = usual(raw, scratch)
            if event is None:
                found = self.feed(raw)
                if found:
                    yield place, found
                continue
            violations = step(type(event), _never)(event, raw, seen, opened)
            if violations is None:
                violations = self._event(event, raw, "", "")
            elif len(seen) >= _MOST:
                _trim(seen)
            if violations:
                yield place, self._graded(violations, event.event_id, event.session_id)
            self.events += 1

    def finish(self) -> list[Finding]:
        """The stream is over: judge what is missing."""
        found = []
        for session in self._open.values():
            found += self._graded(session.finish(), "", session.session_id)
        for handshake in self._subscriptions.values():
            found += self._graded(handshake.finish())
        return found

    def _event(self, event: Envelope, raw: bytes, at: str, via: str) -> list[Violation]:
        """Judge an event among those that came before it."""
        seen, key = self._seen, event.event_id + via
        if key in seen:
            repeated = self._repeated(event, raw, seen[key])
            if repeated is not None:
                return repeated
        elif len(seen) >= _MOST:
            _trim(seen)
        seen[key] = raw
        name = event.session_id + via
        session = self._open.get(name) or self._session(name, event.session_id)
        turning = type(event) in _TURNING
        # Only prompts need a clock, and reading one from text is not free.
        timed = turning or session.deadline is not None
        found = session.feed(event, _moment(at or event.timestamp) if timed else 0.0)
        if turning:
            self._turned(event, session, name)
        if via in self._subscriptions:
            found = [*self._subscriptions[via].feed(event), *found]
        return found

    def _turned(self, event: Envelope, session: Session, name: str) -> None:
        """A prompt was issued, or a session ended."""
        if isinstance(event, _ASKING):
            if len(self._tokens) >= _MOST:
                _trim(self._tokens)
            self._tokens.setdefault(event.reply_token, []).append(session)
        elif name in self._open:
            if len(self._ended) >= _MOST:
                _trim(self._ended)
            self._ended[name] = self._open.pop(name)

    def _repeated(self, event: Envelope, raw: bytes, before: bytes) -> list[Violation] | None:
        """ENV-013 §3.2.3: what to say of an event_id seen before; None when it is another producer's."""
        if before == raw:
            return []  # TR-014: the same event delivered again
        other = wire.decode(before) if before.startswith(b"{") else event
        if not isinstance(other, Envelope) or other.producer.agent_id != event.producer.agent_id:
            return None
        text = "The event_id was used for another event. Make a new one for every event."
        return [Violation("ENV-013", text, "/event_id", event.event_id)]

    def _session(self, name: str, session_id: str) -> Session:
        ended = self._ended.get(name)
        if ended is not None:
            return ended
        if len(self._open) >= _MOST:  # sessions that never end must not fill the memory
            del self._open[next(iter(self._open))]
        self.sessions += 1
        session = self._open[name] = Session(session_id, whole=self.whole)
        return session

    def _exchange(self, message: Message, at: str, via: str) -> list[Violation]:
        """A handshake message or a reply."""
        if not isinstance(message, (ConfirmationReply, ClarificationReply)):
            handshake = self._subscriptions.get(via)
            if handshake is None:
                if len(self._subscriptions) >= _MOST:
                    _trim(self._subscriptions)
                handshake = self._subscriptions[via] = Handshake(whole=self.whole)
            return [*handshake.feed(message)]
        found = []
        mine = type(message).rules["subscription_id"]
        if via and message.subscription_id != via:
            text = f"The reply came on {via} but names {message.subscription_id}."
            found.append(Violation(mine, text, "/subscription_id"))
        handshake = self._subscriptions.get(via)
        terms = handshake.terms if handshake is not None else None
        if isinstance(message, ConfirmationReply) and terms is not None and not terms.supports_confirmation_reply:
            text = "The subscription was not granted confirmation replies; another has to send it."
            found.append(Violation("CONF-063", text, "/subscription_id"))
        asked: list[Session] = self._tokens.get(message.reply_token, [])
        if not asked and self.events and (self.whole or not via):
            found.append(Violation("CONF-016", "No question with this reply_token was asked.", "/reply_token"))
        for session in asked:
            ask = session.asks.get(message.reply_token)
            if ask is None:  # asked after the session's end, and told of then
                continue
            if isinstance(message, ClarificationReply) and ask.kind == "clarification":
                rule = ill_typed(message, ask)
                if rule and not found:
                    found.append(Violation(rule, "The answer is not of a kind the question accepts.", "/response"))
            if not found:
                session.reply(message, _moment(at or message.timestamp), via)
        return found

    def _graded(self, violations: Iterable[Violation], event_id: str = "", session_id: str = "") -> list[Finding]:
        graded = []
        for violation in violations:
            rule = rules().get(violation.rule)
            if rule is not None and rule.level > self.level and not rule.always:
                continue
            graded.append(
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
        return graded


def _moment(text: str) -> float:
    moment = timestamps.instant(text)
    return 0.0 if moment is None else moment


def _step(
    event: Any,
    raw: bytes,
    seen: dict[str, bytes],
    opened: dict[str, Session],
    judge: Callable[..., None] | None = None,
    applied: Callable[..., None] | None = None,
) -> list[Violation] | None:
    """
    What :meth:`Audit._event` comes down to in the middle of a session with nothing pending; None if it is not that.

    The event is not numbered (:func:`~aaep.wire.usual` says so). If it is new and
    not early, it can only be out of order among its own kind. The hottest path
    there is; see :func:`~aaep.fields.per_type`.
    """
    session, id_, stamp = opened.get(event.session_id), event.event_id, event.timestamp
    if session is None or not session.plain or stamp < session.last or id_ in seen:
        return None
    agent = session.agents.get(event.producer.agent_id)
    if agent is None:
        return None
    seen[id_] = raw
    found: list[Violation] = []
    if judge is not None:
        judge(session, event, agent, found)
    agent.timestamp = session.last = stamp
    if applied is not None:
        applied(session, event, agent, 0.0)
    return found


def _never(*_: object) -> None:
    """The first and last events of a session, and prompts, are never the usual ones."""


_MIDDLE: Final = {
    cls: MOVES.get(cls, ANY)[1:]
    for cls in CORE_EVENTS.values()
    if MOVES.get(cls, ANY)[0] == "other" and cls not in _TURNING
}
_STEP: Final[dict[type, Callable[..., list[Violation] | None]]] = per_type(_step, _MIDDLE, _MIDDLE)
