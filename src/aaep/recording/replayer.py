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
from functools import partial
from itertools import count, islice
from typing import Any, Final, Literal, TypeAlias

from msgspec import UNSET

from ..hub.hub import Hub
from ..hub.recovery import build_closing_events
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
from ..protocol.session import SessionState
from ..runtime.background import Waitable
from ..runtime.ids import format_timestamp, new_id
from ..text.summaries import Summaries, summarize_cancellation, summarize_outcome
from .replay_plan import PENDING, UNSEEN, PromptResult, ReplayPlan

__all__ = ["ReplayedSession", "Replayer", "ReplyPolicy"]

ReplyPolicy: TypeAlias = Literal["recorded", "given", "accept", "reject"]

_PROMPTS: Final = (AwaitingConfirmation, AwaitingClarification)
# What may be merged on its way to a reader, as long as nothing hangs on it: it is shaped as the live event was.
_MERGEABLE_EVENTS: Final = (StateChanged, ProgressUpdated, OutputStreaming)
_EVENTS_PER_CHECK: Final = 8  # events played without delay between two looks at whether the readers follow
_POLL_INTERVAL: Final = 0.005
_SIGNAL_CHECK_INTERVAL: Final = 0.2  # seconds between two chances for a signal, where waiting has no end of its own
_MAX_PROMPT_TIMEOUT: Final = 86_400
_DELIVERY_TIMEOUT: Final = 15.0  # seconds that readers have to take the last of it
_END_SUMMARIES: Final = Summaries(
    "Stopped.", "The recording stops here.", "The recording that is being played stops here, so this stops too."
)
_DIVERGED_SUMMARIES: Final = Summaries(
    "Stopped.",
    "The recording has nothing for this answer. It stops here.",
    "The recording that is being played went another way after this question, so it has nothing for this answer and "
    "stops here.",
)
_INTERRUPTED_SUMMARIES: Final = Summaries(
    "Stopped.", "The playing of the recording was stopped.", "The playing of the recording was stopped."
)
_RESOLUTION_BY_OUTCOME: Final = {
    "accepted": "accept",
    "rejected": "reject",
    "answered": "answer",
    "timed_out": "timeout",
}
_FORCED_RESULTS: Final = {"accept": PromptResult("accepted"), "reject": PromptResult("rejected")}


class ReplayedSession:
    """One session of the recording, as it is played: a source to the hub."""

    audience: frozenset[str] | None = None  # whoever may listen to the replay

    def __init__(self, replayer: Replayer, recorded_id: str) -> None:
        self._replayer = replayer
        producer = replayer.producer
        self._hub: Hub = producer.hub
        self._wall = replayer.wall
        self._emitter = Emitter(
            producer.info,
            self._hub.journal,
            partial(self._hub.publish, self),
            language=producer.language,
            registry=producer.registry,
            clock=replayer.clock,
            wall=replayer.wall,
        )
        if replayer.keep_ids:
            self._emitter.session_id = recorded_id
        self.session_id = self._emitter.session_id
        self.state = SessionState(self.session_id)
        self.is_over = False
        self.open_prompts: dict[
            str, tuple[PromptState, PromptResult]
        ] = {}  # prompts whose end was not played yet, and their recorded end
        self._lock = self._emitter.lock
        self._started_event: SessionStarted | None = None
        self._last_event: Envelope | None = None
        self._latest_time = 0.0

    # -- playing -----------------------------------------------------------------------------

    @property
    def has_answered_prompt(self) -> bool:
        """Whether a prompt has ended whose end is still to be played."""
        return any(ask.outcome != PENDING for ask, _ in self.open_prompts.values())

    def prompts_ended_by(self, event: Envelope) -> list[tuple[PromptState, PromptResult]]:
        """The prompts whose end a recorded event shows."""
        if isinstance(event, TERMINAL):
            return [*self.open_prompts.values()]
        told = self._replayer.reply_tokens.get(str(attend_member(event, "reply_token")))
        if told is not None:
            return [self.open_prompts[told]] if told in self.open_prompts else []
        leaves = isinstance(event, StateChanged) and event.from_state == "awaiting_input"
        if not leaves and not isinstance(event, (ToolInvoked, *_PROMPTS)):
            return []
        agent = event.producer.agent_id
        return [one for one in self.open_prompts.values() if one[0].event.producer.agent_id == agent]

    def is_superfluous(self, event: Envelope) -> bool:
        """What told how much time was left to answer has nothing more to tell."""
        agents = {ask.event.producer.agent_id for ask, _ in self.open_prompts.values() if ask.outcome != PENDING}
        return isinstance(event, ProgressUpdated) and event.producer.agent_id in agents

    def play(self, event: Envelope) -> None:
        """Send a recorded event, as of now."""
        with self._lock:
            new = None if self.is_over else self._renew(event)
            if new is None:
                return
            if isinstance(new, _PROMPTS):
                self._send_prompt(
                    new, self._replayer.plan.prompt_results.get(getattr(event, "reply_token", ""), PromptResult(UNSEEN))
                )
            else:
                self._send(new)
            if isinstance(new, SessionStarted):
                self._started_event = self._started_event or new
            if isinstance(new, TERMINAL):
                self._end()

    def resolve_prompt(self, ask: PromptState, how: PromptResult) -> None:
        """A prompt has ended, if nobody ended it then as the recording says."""
        with self._lock:
            self.state.resolve(ask, _RESOLUTION_BY_OUTCOME.get(how.outcome, "withdraw"))
            self.open_prompts.pop(ask.token, None)

    def stop_diverged(self, ask: PromptState, how: PromptResult) -> None:
        """The recording has nothing for this answer: tell it, and stop."""
        self.resolve_prompt(ask, how)
        with self._lock:
            known = how.outcome if how.outcome in _RESOLUTION_BY_OUTCOME else "withdrawn"
            about = ask.event.action if isinstance(ask.event, AwaitingConfirmation) else ask.event.question
            left = self._agent_state(ask.event.producer.agent_id)
            self._send(
                StateChanged(
                    **self._build_envelope(ask.event, summarize_outcome(known, about)),
                    context=_contexts(ask.event),
                    urgency="critical",
                    from_state=left,
                    to_state="thinking" if left != "thinking" else "deciding",
                    extensions={PREFIX: {"reply_token": ask.token, "outcome": known}},
                )
            )
            self.stop(_DIVERGED_SUMMARIES)

    def stop(self, why: Summaries, by: Literal["user", "producer"] = "producer", reason: str | None = None) -> None:
        """End the session before its time, with all that is open in it."""
        with self._lock:
            last = self._last_event
            if self.is_over or last is None:
                self._end()
                return
            for event in [*build_closing_events(self.state, last, self._current_time())][
                :-1
            ]:  # the last is of an agent that failed
                self._send(event)
            self._send(
                SessionCancelled(
                    **self._build_envelope(last, why),
                    urgency="normal",
                    cancelled_by=by,
                    cancellation_reason=UNSET if reason is None else reason,
                )
            )
            self._end()

    def _end(self) -> None:
        if not self.is_over:
            self.is_over = True
            self.open_prompts.clear()
            self._hub.end_session(self)

    def _send(self, event: Envelope) -> None:
        """Keep it and send it, legal or not: it is a recording, and may be of what went wrong."""
        data = codec.encode(event)
        if self._last_event is None:
            self._hub.open_session(self)
        self._hub.journal.append(event.event_id, self.session_id, data, at=self._wall())
        self.state.apply(event, self._replayer.clock())
        self._last_event, self._emitter.last_event_id = event, event.event_id
        self._hub.publish(self, event, data)

    def _send_prompt(self, event: AwaitingConfirmation | AwaitingClarification, recorded: PromptResult) -> None:
        kind: Literal["confirmation", "clarification"]
        kind = "confirmation" if isinstance(event, AwaitingConfirmation) else "clarification"
        repliers = self._hub.eligible_repliers(self, kind)
        # CF-028: the one who needs longest decides.
        needed = min(self._hub.longest_requested_timeout(self), _MAX_PROMPT_TIMEOUT)
        if needed > event.timeout_seconds:
            event = codec.replace(event, timeout_seconds=needed)
        # CF-001: where nobody can answer, the recording does, as whoever answered then.
        self._send(event)
        ask = self.state.prompts[event.reply_token]
        ask.eligible = repliers
        self.open_prompts[ask.token] = (ask, recorded)
        self._hub.call_at(ask.deadline, self._expire_prompts)

    # -- making it new ---------------------------------------------------------------------------

    def _renew(self, event: Envelope) -> Envelope | None:
        """C-66: another id, another session, another token, and the time it is; None for what is nothing new."""
        rehearsal = self._replayer
        ours = dict(attend_members(event))
        changes: dict[str, Any] = {"timestamp": self._timestamp()}
        if ours.pop("resync", None) and isinstance(event, StateChanged):
            state = self._agent_state(event.producer.agent_id)
            if state == event.to_state:
                return None
            changes["from_state"] = state  # what a reader that joined was told of, happens here
        if event.sequence_number is not UNSET:
            changes["sequence_number"] = UNSET
        if isinstance(event, _PROMPTS):
            changes["reply_token"] = rehearsal.reply_tokens[event.reply_token] = new_id("rpl_")
        if not rehearsal.keep_ids:
            changes |= {"event_id": new_id("evt_"), "session_id": self.session_id}
            if ours or not isinstance(event, _MERGEABLE_EVENTS):
                ours["replay_of"] = event.event_id
        for name, known in (("reply_token", rehearsal.reply_tokens), ("parent_session_id", rehearsal.session_ids)):
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

    def _build_envelope(self, like: Envelope, said: Summaries) -> dict[str, Any]:
        """The envelope of an event that is not in the recording."""
        stamp = self._emitter.envelope()
        stamp |= {"timestamp": self._timestamp(), "producer": like.producer, "verbosity": "normal"}
        return {**stamp, "summary_terse": said.terse, "summary_normal": said.normal, "summary_detailed": said.detailed}

    def _current_time(self) -> float:
        self._latest_time = max(self._latest_time, self._wall())
        return self._latest_time

    def _timestamp(self) -> str:
        return format_timestamp(self._current_time())  # ENV-027: never back

    def _agent_state(self, agent_id: str) -> str:
        agent = self.state.agents.get(agent_id)
        return "idle" if agent is None else agent.state

    # -- for the hub -----------------------------------------------------------------------------

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """What a listener who comes now has to know: CF-007, CF-146, C-36."""
        with self._lock:
            last = self._last_event
            if self.is_over or last is None:
                return SessionSnapshot()
            pending: list[Envelope] = []
            for ask, _ in self.open_prompts.values():
                if ask.outcome == PENDING:
                    pending.append(ask.event)
                    if subscription.may_answer(type(ask.event)) and ask.eligible is not None:
                        ask.eligible.add(subscription.id)
            resync = self._emitter.build_resync(self._agent_state(last.producer.agent_id))
            return SessionSnapshot(self._started_event, pending, resync, self._emitter.last_event_id)

    def owns_token(self, token: str) -> bool:
        return token in self.state.prompts

    def reply(self, message: Reply, via: str) -> None:
        with self._lock:
            honoured = self.state.reply(message, self._replayer.clock(), via).is_honoured
        if honoured:
            self._replayer.notify()

    def terms_changed(self, subscription: Subscription) -> None:
        with self._lock:
            for ask, _ in self.open_prompts.values():
                if ask.eligible is not None and subscription.may_answer(type(ask.event)):
                    ask.eligible.add(subscription.id)
                elif ask.eligible is not None:
                    ask.eligible.discard(subscription.id)
        self._replayer.notify()

    def subscription_ended(self, subscription_id: str) -> None:
        with self._lock:
            for ask, _ in self.open_prompts.values():
                if ask.eligible is not None:
                    ask.eligible.discard(subscription_id)
        self._replayer.notify()

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """Somebody wants it stopped (CF-147)."""
        self.stop(summarize_cancellation(by), by, reason)
        self._replayer.notify()

    def _expire_prompts(self) -> None:
        with self._lock:
            self.state.expire(self._replayer.clock())
        self._replayer.notify()


class Replayer:
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
        plan: ReplayPlan,
        *,
        on_reply: ReplyPolicy = "recorded",
        speed: float | None = 1.0,
        keep_ids: bool = False,
        report: Callable[[str], object] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.producer, self.plan = producer, plan
        self.keep_ids = keep_ids
        self.clock, self.wall = clock, wall
        self.played_count = 0
        self.session_ids: dict[str, str] = {}  # sessions of this round, by what they were
        self.reply_tokens: dict[str, str] = {}  # and tokens
        self._on_reply, self._speed, self._report = on_reply, speed, report
        self._condition = threading.Condition()

    def play(self, *, rounds: int | None = 1, wait: bool = True, replies: bool = False) -> None:
        """
        Play it once, some times, or, with None, for ever.

        Each time when somebody listens, or can answer if ``replies`` says so; with ``wait=False`` at once.
        """
        for _ in islice(count(), rounds):
            if wait:
                self._wait_for_reader(self.producer.reader(replies=replies))
            self._play_round()
            self._wait_for_delivery()
            self.producer.hub.journal.trim(self.wall())

    def notify(self) -> None:
        """Something has happened to a prompt."""
        with self._condition:
            self._condition.notify_all()

    def _play_round(self) -> None:
        self.session_ids.clear()
        self.reply_tokens.clear()
        parts: dict[str, ReplayedSession] = {}
        try:
            self._play_steps(parts)
        except BaseException:
            for part in parts.values():
                part.stop(_INTERRUPTED_SUMMARIES, "user")
            raise
        for part in parts.values():
            part.stop(_END_SUMMARIES)

    def _play_steps(self, parts: dict[str, ReplayedSession]) -> None:
        due, last = self.clock(), None
        ended, late = set[str](), 0  # sessions that were played to their end, and events that come after it
        for cue in self.plan.iter_steps():
            gap, last = 0.0 if last is None else max(0.0, cue.at - last), cue.at
            part = self._session_for(parts, cue.event.session_id)
            late += cue.event.session_id in ended
            if part is None or part.is_superfluous(cue.event):
                continue
            due = self._wait_until_due(part, due, gap)
            asked = part.prompts_ended_by(cue.event)
            if self._resolve_prompts(part, asked):
                part.play(cue.event)
                self.played_count += 1
                if isinstance(cue.event, TERMINAL):
                    ended.add(cue.event.session_id)
            if asked:  # time stood still meanwhile
                due = self.clock()
            if part.is_over:
                del parts[cue.event.session_id]
        if late:
            text = "Events that stand after the end of their session in the recording were left out"
            self._report(f"{text}: {late}. Are its lines in order?")

    def _session_for(self, parts: dict[str, ReplayedSession], recorded: str) -> ReplayedSession | None:
        """The session that an event is of; None if it is over, for good or because it stopped early."""
        part = parts.get(recorded)
        if part is None and recorded not in self.session_ids:
            part = parts[recorded] = ReplayedSession(self, recorded)
            self.session_ids[recorded] = part.session_id
        return part

    def _wait_until_due(self, part: ReplayedSession, due: float, gap: float) -> float:
        """Wait until an event is due; for one behind a prompt that was answered before its time, no longer."""
        if self._speed is None:
            if self.played_count % _EVENTS_PER_CHECK == 0:
                self._wait_while(lambda hub: hub.delivery.is_under_pressure)
            return due
        due += gap / self._speed
        with self._condition:
            while (left := due - self.clock()) > 0 and not part.has_answered_prompt:
                self._condition.wait(left)
        return min(due, self.clock())

    def _resolve_prompts(self, part: ReplayedSession, asked: list[tuple[PromptState, PromptResult]]) -> bool:
        """Wait for the prompts that an event shows the end of; whether the recording goes on from there."""
        for ask, recorded in asked:
            if recorded.outcome != "withdrawn":  # what the agent took back then, it takes back now
                self._wait_for_answer(part, ask)
            if part.is_over:
                return False
            given = recorded if ask.outcome == PENDING else PromptResult(ask.outcome, ask.response)
            wanted = given if self._on_reply == "given" else recorded
            if ask.kind == "confirmation":
                wanted = _FORCED_RESULTS.get(self._on_reply, wanted)
            if not wanted.is_compatible_with(recorded):
                # Who forces another way has to hear that it is this one that is missing, and not what was answered.
                said = _describe_result(given) + (
                    f", and is taken as {_describe_result(wanted)}" if wanted != given else ""
                )
                self._report(f"The answer was {said}, for which the recording has nothing. The session stops.")
                part.stop_diverged(ask, wanted)
                return False
            if not given.is_compatible_with(recorded):
                self._report(
                    f"The answer was {_describe_result(given)}. It goes on as recorded: {_describe_result(recorded)}."
                )
            part.resolve_prompt(ask, recorded)
        return True

    def _wait_for_answer(self, part: ReplayedSession, ask: PromptState) -> None:
        """Wait until a prompt is answered, its time is up, or nobody is left who could answer."""
        with self._condition:
            while ask.outcome == PENDING and ask.eligible and not part.is_over:
                self._condition.wait(_SIGNAL_CHECK_INTERVAL)

    def _wait_for_reader(self, reader: Waitable[str]) -> None:
        while not reader.done:
            with suppress(TimeoutError):  # in short waits, so that stopping gets through
                reader.wait(_SIGNAL_CHECK_INTERVAL)

    def _wait_for_delivery(self) -> None:
        """Let the readers have all of it."""
        until = self.clock() + _DELIVERY_TIMEOUT
        self._wait_while(lambda hub: not hub.delivery.is_idle and self.clock() < until)

    def _wait_while(self, holds: Callable[[Hub], bool]) -> None:
        """Wait as long as something holds on the hub's loop."""
        hub = self.producer.hub

        async def look() -> bool:
            return holds(hub)

        while hub.run(look()):
            time.sleep(_POLL_INTERVAL)  # nobody tells when readers have caught up


def _contexts(event: Envelope) -> tuple[str, ...]:
    """ENV-052: the event's own, and that of our extension."""
    own = (event.context,) if isinstance(event.context, str) else tuple(event.context)
    return tuple(dict.fromkeys((*own, ATTEND.context)))


def _describe_result(ending: PromptResult) -> str:
    said = ending.outcome.replace("_", " ")
    return said if ending.response is None else f"{said}, {ending.response!r}"
