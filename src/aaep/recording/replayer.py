"""
A producer that plays a recording: real handshakes, real shaping, and prompts that really wait.

What is played is new, and says so: every event, session and token has an id of
its own, the time is now, and ``attend.replay_of`` names the event that it was,
on all but those that a hub may merge (C-66). No answer of long ago counts
today, and none of today goes back to then.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count, islice
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET

from ..hub.hub import Hub
from ..hub.recovery import endings
from ..hub.sessions import SessionSnapshot
from ..hub.stream import Subscription
from ..producer.emitter import Emitter
from ..producer.producer import Producer
from ..protocol import codec
from ..protocol.attend_extension import ATTEND, PREFIX, attend_member, attend_members
from ..protocol.consent import PromptState
from ..protocol.events import (
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    ProgressUpdated,
    SessionCancelled,
    SessionStarted,
    StateChanged,
    ToolInvoked,
)
from ..protocol.messages import Reply
from ..protocol.session import SessionState as Order
from ..runtime.background import Later
from ..runtime.ids import identifier, timestamp
from ..text.summaries import Said, cancelled, outcome
from .replay_plan import PENDING, UNSEEN, Ending, Script

__all__ = ["OnReply", "Part", "Rehearsal"]

OnReply: TypeAlias = Literal["recorded", "given", "accept", "reject"]

_ASKING: Final = (AwaitingConfirmation, AwaitingClarification)
# What may be merged on its way to a reader, as long as nothing hangs on it: it is shaped as the live event was.
_MERGED: Final = (StateChanged, ProgressUpdated, OutputStreaming)
_CHECKED: Final = 8  # events played without delay between two looks at whether the readers follow
_POLL: Final = 0.005
_PATIENCE: Final = 0.2  # seconds between two chances for a signal, where waiting has no end of its own
_LONGEST: Final = 86_400
_SETTLING: Final = 15.0  # seconds that readers have to take the last of it
_ENDS_HERE: Final = Said(
    "Stopped.", "The recording stops here.", "The recording that is being played stops here, so this stops too."
)
_OTHER_WAY: Final = Said(
    "Stopped.",
    "The recording has nothing for this answer. It stops here.",
    "The recording that is being played went another way after this question, so it has nothing for this answer and "
    "stops here.",
)
_INTERRUPTED: Final = Said(
    "Stopped.", "The playing of the recording was stopped.", "The playing of the recording was stopped."
)
_VERBS: Final = {"accepted": "accept", "rejected": "reject", "answered": "answer", "timed_out": "timeout"}
_FORCED: Final = {"accept": Ending("accepted"), "reject": Ending("rejected")}


class Part:
    """One session of the recording, as it is played: a source to the hub."""

    audience: frozenset[str] | None = None  # whoever may listen to the replay

    def __init__(self, rehearsal: Rehearsal, recorded: str) -> None:
        self._rehearsal = rehearsal
        producer = rehearsal.producer
        self._hub: Hub = producer.hub
        self._wall = rehearsal.wall
        self._voice = Emitter(
            self,
            producer.info,
            self._hub.journal,
            self._hub,
            language=producer.language,
            known=producer.known,
            clock=rehearsal.clock,
            wall=rehearsal.wall,
        )
        if rehearsal.keep_ids:
            self._voice.session_id = recorded
        self.session_id = self._voice.session_id
        self.order = Order(self.session_id)
        self.over = False
        self.asked: dict[
            str, tuple[PromptState, Ending]
        ] = {}  # prompts whose end was not played yet, and their recorded end
        self._lock = self._voice.lock
        self._opening: SessionStarted | None = None
        self._last: Envelope | None = None
        self._latest = 0.0

    # -- playing -----------------------------------------------------------------------------

    @property
    def answered(self) -> bool:
        """Whether a prompt has ended whose end is still to be played."""
        return any(ask.outcome != PENDING for ask, _ in self.asked.values())

    def ended_by(self, event: Envelope) -> list[tuple[PromptState, Ending]]:
        """The prompts whose end a recorded event shows."""
        if isinstance(event, TERMINAL):
            return [*self.asked.values()]
        told = self._rehearsal.tokens.get(str(attend_member(event, "reply_token")))
        if told is not None:
            return [self.asked[told]] if told in self.asked else []
        leaves = isinstance(event, StateChanged) and event.from_state == "awaiting_input"
        if not leaves and not isinstance(event, (ToolInvoked, *_ASKING)):
            return []
        agent = event.producer.agent_id
        return [one for one in self.asked.values() if one[0].event.producer.agent_id == agent]

    def superfluous(self, event: Envelope) -> bool:
        """What told how much time was left to answer has nothing more to tell."""
        agents = {ask.event.producer.agent_id for ask, _ in self.asked.values() if ask.outcome != PENDING}
        return isinstance(event, ProgressUpdated) and event.producer.agent_id in agents

    def play(self, event: Envelope) -> None:
        """Send a recorded event, as of now."""
        with self._lock:
            new = None if self.over else self._renewed(event)
            if new is None:
                return
            if isinstance(new, _ASKING):
                self._ask(new, self._rehearsal.script.endings.get(getattr(event, "reply_token", ""), Ending(UNSEEN)))
            else:
                self._send(new)
            if isinstance(new, SessionStarted):
                self._opening = self._opening or new
            if isinstance(new, TERMINAL):
                self._shut()

    def conclude(self, ask: PromptState, how: Ending) -> None:
        """A prompt has ended, if nobody ended it then as the recording says."""
        with self._lock:
            self.order.resolve(ask, _VERBS.get(how.outcome, "withdraw"))
            self.asked.pop(ask.token, None)

    def leave(self, ask: PromptState, how: Ending) -> None:
        """The recording has nothing for this answer: tell it, and stop."""
        self.conclude(ask, how)
        with self._lock:
            known = how.outcome if how.outcome in _VERBS else "withdrawn"
            about = ask.event.action if isinstance(ask.event, AwaitingConfirmation) else ask.event.question
            left = self._state(ask.event.producer.agent_id)
            self._send(
                StateChanged(
                    **self._own(ask.event, outcome(known, about)),
                    context=_contexts(ask.event),
                    urgency="critical",
                    from_state=left,
                    to_state="thinking" if left != "thinking" else "deciding",
                    extensions={PREFIX: {"reply_token": ask.token, "outcome": known}},
                )
            )
            self.stop(_OTHER_WAY)

    def stop(self, why: Said, by: Literal["user", "producer"] = "producer", reason: str | None = None) -> None:
        """End the session before its time, with all that is open in it."""
        with self._lock:
            last = self._last
            if self.over or last is None:
                self._shut()
                return
            for event in [*endings(self.order, last, self._moment())][:-1]:  # the last is of an agent that failed
                self._send(event)
            self._send(
                SessionCancelled(
                    **self._own(last, why),
                    urgency="normal",
                    cancelled_by=by,
                    cancellation_reason=UNSET if reason is None else reason,
                )
            )
            self._shut()

    def _shut(self) -> None:
        if not self.over:
            self.over = True
            self.asked.clear()
            self._hub.end_session(self)

    def _send(self, event: Envelope) -> None:
        """Keep it and send it, legal or not: it is a recording, and may be of what went wrong."""
        data = codec.encode(event)
        if self._last is None:
            self._hub.open_session(self)
        self._hub.journal.append(event.event_id, self.session_id, data, at=self._wall())
        self.order.apply(event, self._rehearsal.clock())
        self._last, self._voice.last_event_id = event, event.event_id
        self._hub.publish(self, event, data)

    def _ask(self, event: AwaitingConfirmation | AwaitingClarification, recorded: Ending) -> None:
        kind: Literal["confirmation", "clarification"]
        kind = "confirmation" if isinstance(event, AwaitingConfirmation) else "clarification"
        repliers = self._hub.eligible_repliers(self, kind)
        # CF-028: the one who needs longest decides.
        needed = min(self._hub.longest_requested_timeout(self), _LONGEST)
        if needed > event.timeout_seconds:
            event = codec.replace(event, timeout_seconds=needed)
        # CF-001: where nobody can answer, the recording does, as whoever answered then.
        self._send(event)
        ask = self.order.prompts[event.reply_token]
        ask.eligible = repliers
        self.asked[ask.token] = (ask, recorded)
        self._hub.call_at(ask.deadline, self._expire)

    # -- making it new ---------------------------------------------------------------------------

    def _renewed(self, event: Envelope) -> Envelope | None:
        """C-66: another id, another session, another token, and the time it is; None for what is nothing new."""
        rehearsal = self._rehearsal
        ours = dict(attend_members(event))
        changes: dict[str, Any] = {"timestamp": self._stamp()}
        if ours.pop("resync", None) and isinstance(event, StateChanged):
            state = self._state(event.producer.agent_id)
            if state == event.to_state:
                return None
            changes["from_state"] = state  # what a reader that joined was told of, happens here
        if event.sequence_number is not UNSET:
            changes["sequence_number"] = UNSET
        if isinstance(event, _ASKING):
            changes["reply_token"] = rehearsal.tokens[event.reply_token] = identifier("rpl_")
        if not rehearsal.keep_ids:
            changes |= {"event_id": identifier("evt_"), "session_id": self.session_id}
            if ours or not isinstance(event, _MERGED):
                ours["replay_of"] = event.event_id
        for name, known in (("reply_token", rehearsal.tokens), ("parent_session_id", rehearsal.names)):
            if name in ours:
                ours[name] = known.get(str(ours[name]), ours[name])
        given = event.extensions if isinstance(event.extensions, dict) else {}
        others = {prefix: value for prefix, value in given.items() if prefix != PREFIX}
        extensions = {**others, **({PREFIX: ours} if ours else {})}
        if extensions != given:
            changes["extensions"] = extensions or UNSET
        if ours:
            changes["context"] = _contexts(event)
        return codec.replace(event, **changes)

    def _own(self, like: Envelope, said: Said) -> dict[str, Any]:
        """The envelope of an event that is not in the recording."""
        stamp = self._voice.stamp()
        stamp |= {"timestamp": self._stamp(), "producer": like.producer, "verbosity": "normal"}
        return {**stamp, "summary_terse": said.terse, "summary_normal": said.normal, "summary_detailed": said.detailed}

    def _moment(self) -> float:
        self._latest = max(self._latest, self._wall())
        return self._latest

    def _stamp(self) -> str:
        return timestamp(self._moment())  # ENV-027: never back

    def _state(self, agent_id: str) -> str:
        agent = self.order.agents.get(agent_id)
        return "idle" if agent is None else agent.state

    # -- for the hub -----------------------------------------------------------------------------

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """What a listener who comes now has to know: CF-007, CF-146, C-36."""
        with self._lock:
            last = self._last
            if self.over or last is None:
                return SessionSnapshot()
            pending: list[Envelope] = []
            for ask, _ in self.asked.values():
                if ask.outcome == PENDING:
                    pending.append(ask.event)
                    if subscription.may_answer(type(ask.event)) and ask.eligible is not None:
                        ask.eligible.add(subscription.id)
            resync = self._voice.resync(self._state(last.producer.agent_id))
            return SessionSnapshot(self._opening, pending, resync, self._voice.last_event_id)

    def owns_token(self, token: str) -> bool:
        return token in self.order.prompts

    def reply(self, message: Reply, via: str) -> None:
        with self._lock:
            honoured = self.order.reply(message, self._rehearsal.clock(), via).is_honoured
        if honoured:
            self._rehearsal.wake()

    def terms_changed(self, subscription: Subscription) -> None:
        with self._lock:
            for ask, _ in self.asked.values():
                if ask.eligible is not None and subscription.may_answer(type(ask.event)):
                    ask.eligible.add(subscription.id)
                elif ask.eligible is not None:
                    ask.eligible.discard(subscription.id)
        self._rehearsal.wake()

    def subscription_ended(self, subscription_id: str) -> None:
        with self._lock:
            for ask, _ in self.asked.values():
                if ask.eligible is not None:
                    ask.eligible.discard(subscription_id)
        self._rehearsal.wake()

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """Somebody wants it stopped (CF-147)."""
        self.stop(cancelled(by), by, reason)
        self._rehearsal.wake()

    def _expire(self) -> None:
        with self._lock:
            self.order.expire(self._rehearsal.clock())
        self._rehearsal.wake()


class Rehearsal:
    """
    Plays a script through a producer.

    ``on_reply`` says how it goes on once a prompt is answered: as "recorded",
    whatever was answered; as the answer "given" says; or as if it had been
    "accept" or "reject". Where the recording went another way, the session is
    stopped. A prompt that nobody who listens could answer is answered by the
    recording. ``speed`` is 2 for twice as fast, and None for no delay at all.
    """

    def __init__(
        self,
        producer: Producer,
        script: Script,
        *,
        on_reply: OnReply = "recorded",
        speed: float | None = 1.0,
        keep_ids: bool = False,
        say: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.producer, self.script = producer, script
        self.keep_ids = keep_ids
        self.clock, self.wall = clock, wall
        self.played = 0
        self.names: dict[str, str] = {}  # sessions of this round, by what they were
        self.tokens: dict[str, str] = {}  # and tokens
        self._on_reply, self._speed, self._say = on_reply, speed, say
        self._changed = threading.Condition()

    def play(self, *, rounds: int | None = 1, wait: bool = True, replies: bool = False) -> None:
        """
        Play it once, some times, or, with None, for ever.

        Each time when somebody listens, or can answer if ``replies`` says so; with ``wait=False`` at once.
        """
        for _ in islice(count(), rounds):
            if wait:
                self._wait_for(self.producer.reader(replies=replies))
            self._round()
            self._settle()
            self.producer.hub.journal.trim(self.wall())

    def wake(self) -> None:
        """Something has happened to a prompt."""
        with self._changed:
            self._changed.notify_all()

    def _round(self) -> None:
        self.names.clear()
        self.tokens.clear()
        parts: dict[str, Part] = {}
        try:
            self._perform(parts)
        except BaseException:
            for part in parts.values():
                part.stop(_INTERRUPTED, "user")
            raise
        for part in parts.values():
            part.stop(_ENDS_HERE)

    def _perform(self, parts: dict[str, Part]) -> None:
        due, last = self.clock(), None
        ended, late = set[str](), 0  # sessions that were played to their end, and events that come after it
        for cue in self.script.cues():
            gap, last = 0.0 if last is None else max(0.0, cue.at - last), cue.at
            part = self._part(parts, cue.event.session_id)
            late += cue.event.session_id in ended
            if part is None or part.superfluous(cue.event):
                continue
            due = self._pause(part, due, gap)
            asked = part.ended_by(cue.event)
            if self._concluded(part, asked):
                part.play(cue.event)
                self.played += 1
                if isinstance(cue.event, TERMINAL):
                    ended.add(cue.event.session_id)
            if asked:  # time stood still meanwhile
                due = self.clock()
            if part.over:
                del parts[cue.event.session_id]
        if late:
            text = "Events that stand after the end of their session in the recording were left out"
            self._say(f"{text}: {late}. Are its lines in order?")

    def _part(self, parts: dict[str, Part], recorded: str) -> Part | None:
        """The session that an event is of; None if it is over, for good or because it stopped early."""
        part = parts.get(recorded)
        if part is None and recorded not in self.names:
            part = parts[recorded] = Part(self, recorded)
            self.names[recorded] = part.session_id
        return part

    def _pause(self, part: Part, due: float, gap: float) -> float:
        """Wait until an event is due; for one behind a prompt that was answered before its time, no longer."""
        if self._speed is None:
            if self.played % _CHECKED == 0:
                self._while(lambda hub: hub.delivery.pressed)
            return due
        due += gap / self._speed
        with self._changed:
            while (left := due - self.clock()) > 0 and not part.answered:
                self._changed.wait(left)
        return min(due, self.clock())

    def _concluded(self, part: Part, asked: list[tuple[PromptState, Ending]]) -> bool:
        """Wait for the prompts that an event shows the end of; whether the recording goes on from there."""
        for ask, recorded in asked:
            if recorded.outcome != "withdrawn":  # what the agent took back then, it takes back now
                self._await(part, ask)
            if part.over:
                return False
            given = recorded if ask.outcome == PENDING else Ending(ask.outcome, ask.response)
            wanted = given if self._on_reply == "given" else recorded
            if ask.kind == "confirmation":
                wanted = _FORCED.get(self._on_reply, wanted)
            if not wanted.meets(recorded):
                # Who forces another way has to hear that it is this one that is missing, and not what was answered.
                said = _named(given) + (f", and is taken as {_named(wanted)}" if wanted != given else "")
                self._say(f"The answer was {said}, for which the recording has nothing. The session stops.")
                part.leave(ask, wanted)
                return False
            if not given.meets(recorded):
                self._say(f"The answer was {_named(given)}. It goes on as recorded: {_named(recorded)}.")
            part.conclude(ask, recorded)
        return True

    def _await(self, part: Part, ask: PromptState) -> None:
        """Wait until a prompt is answered, its time is up, or nobody is left who could answer."""
        with self._changed:
            while ask.outcome == PENDING and ask.eligible and not part.over:
                self._changed.wait(_PATIENCE)

    def _wait_for(self, reader: Later[str]) -> None:
        while not reader.done:
            with suppress(TimeoutError):  # in short waits, so that stopping gets through
                reader.wait(_PATIENCE)

    def _settle(self) -> None:
        """Let the readers have all of it."""
        until = self.clock() + _SETTLING
        self._while(lambda hub: not hub.delivery.idle and self.clock() < until)

    def _while(self, holds: Callable[[Hub], bool]) -> None:
        """Wait as long as something holds on the hub's loop."""
        hub = self.producer.hub

        async def look() -> bool:
            return holds(hub)

        while hub.run(look()):
            time.sleep(_POLL)  # nobody tells when readers have caught up


def _contexts(event: Envelope) -> tuple[str, ...]:
    """ENV-052: the event's own, and that of our extension."""
    own = (event.context,) if isinstance(event.context, str) else tuple(event.context)
    return tuple(dict.fromkeys((*own, ATTEND.context)))


def _named(ending: Ending) -> str:
    said = ending.outcome.replace("_", " ")
    return said if ending.response is None else f"{said}, {ending.response!r}"
