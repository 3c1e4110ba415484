"""
Replaying a recording through a producer, with real handshakes, shaping and prompts that wait for replies.

Replayed events are new events: they get ids, sessions, tokens and timestamps
of their own, and ``attend.replay_of`` holds the id of the recorded event,
except on events that a hub may merge (C-66). Recorded replies do not count for
replayed prompts, and new replies do not change the recording.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import count, islice
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET

from ..hub.hub import Hub
from ..hub.recovery import build_closing_events, build_resync
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
# Events that a hub merges only if they carry no extension members, so that they are shaped as live events are.
_MERGEABLE_EVENTS: Final = (StateChanged, ProgressUpdated, OutputStreaming)
_EVENTS_PER_CHECK: Final = 8  # events played without delay between two checks for back pressure
_POLL_INTERVAL: Final = 0.005  # seconds
_SIGNAL_CHECK_INTERVAL: Final = 0.2  # seconds; a wait without a timeout would block Ctrl+C
_MAX_PROMPT_TIMEOUT: Final = 86_400  # seconds
_DELIVERY_TIMEOUT: Final = 15.0  # seconds that readers have to receive the last events
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


class _OpenPrompt(msgspec.Struct):
    """A replayed prompt whose end is still to be played, and its result in the recording."""

    state: PromptState
    recorded: PromptResult


class ReplayedSession:
    """A session of the recording while it is replayed, and its source for the hub."""

    audience: frozenset[str] | None = None  # every subscriber

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
        self.open_prompts: dict[str, _OpenPrompt] = {}  # by reply token
        self._lock = self._emitter.lock
        self._started_event: SessionStarted | None = None
        self._last_event: Envelope | None = None
        self._latest_time = 0.0

    # -- playing -----------------------------------------------------------------------------

    @property
    def has_answered_prompt(self) -> bool:
        """Whether a prompt has ended whose end is still to be played."""
        return any(prompt.state.outcome != PENDING for prompt in self.open_prompts.values())

    def prompts_ended_by(self, event: Envelope) -> list[_OpenPrompt]:
        """Return the open prompts that have ended, as a recorded event shows."""
        if isinstance(event, TERMINAL):
            return [*self.open_prompts.values()]
        token = self._replayer.reply_tokens.get(str(attend_member(event, "reply_token")))
        if token is not None:
            return [self.open_prompts[token]] if token in self.open_prompts else []
        leaves_prompt = isinstance(event, StateChanged) and event.from_state == "awaiting_input"
        if not leaves_prompt and not isinstance(event, (ToolInvoked, *_PROMPTS)):
            return []
        agent_id = event.producer.agent_id
        return [prompt for prompt in self.open_prompts.values() if prompt.state.event.producer.agent_id == agent_id]

    def is_superfluous(self, event: Envelope) -> bool:
        """Whether an event only shows the time left to answer a prompt that is answered already."""
        answered = (prompt.state for prompt in self.open_prompts.values() if prompt.state.outcome != PENDING)
        agent_ids = {state.event.producer.agent_id for state in answered}
        return isinstance(event, ProgressUpdated) and event.producer.agent_id in agent_ids

    def play(self, event: Envelope) -> None:
        """Send a recorded event as a new event."""
        with self._lock:
            new_event = None if self.is_over else self._renew(event)
            if new_event is None:
                return
            if isinstance(new_event, _PROMPTS):
                recorded_token = getattr(event, "reply_token", "")
                recorded = self._replayer.plan.prompt_results.get(recorded_token, PromptResult(UNSEEN))
                self._send_prompt(new_event, recorded)
            else:
                self._send(new_event)
            if isinstance(new_event, SessionStarted):
                self._started_event = self._started_event or new_event
            if isinstance(new_event, TERMINAL):
                self._end()

    def resolve_prompt(self, prompt: PromptState, result: PromptResult) -> None:
        """End a prompt with the given result, unless a reply has ended it already."""
        with self._lock:
            self.state.resolve(prompt, _RESOLUTION_BY_OUTCOME.get(result.outcome, "withdraw"))
            self.open_prompts.pop(prompt.token, None)

    def stop_diverged(self, prompt: PromptState, result: PromptResult) -> None:
        """Announce the result of a prompt for which the recording has no continuation, and stop the session."""
        self.resolve_prompt(prompt, result)
        with self._lock:
            event = prompt.event
            outcome = result.outcome if result.outcome in _RESOLUTION_BY_OUTCOME else "withdrawn"
            action = event.action if isinstance(event, AwaitingConfirmation) else ""
            from_state = self._agent_state(event.producer.agent_id)
            self._send(
                StateChanged(
                    **self._build_envelope(event, summarize_outcome(outcome, action, self._emitter.phrases)),
                    context=_contexts(event),
                    urgency="critical",
                    from_state=from_state,
                    to_state="thinking" if from_state != "thinking" else "deciding",
                    extensions={PREFIX: {"reply_token": prompt.token, "outcome": outcome}},
                )
            )
            self.stop(_DIVERGED_SUMMARIES)

    def stop(
        self, summaries: Summaries, by: Literal["user", "producer"] = "producer", reason: str | None = None
    ) -> None:
        """Cancel the session, and close its open prompts, tool calls and outputs first."""
        with self._lock:
            last = self._last_event
            if self.is_over or last is None:
                self._end()
                return
            *closing_events, _session_errored = build_closing_events(self.state, last, self._current_time())
            for event in closing_events:
                self._send(event)
            self._send(
                SessionCancelled(
                    **self._build_envelope(last, summaries),
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
        """Write an event to the journal and publish it, even if it breaks rules: the recording may show a fault."""
        data = codec.encode(event)
        if self._last_event is None:
            self._hub.open_session(self)
        self._hub.journal.append(event.event_id, self.session_id, data, at=self._wall())
        self.state.apply(event, self._replayer.clock())
        self._last_event = event
        self._emitter.last_event_id = event.event_id
        self._hub.publish(self, event, data)

    def _send_prompt(self, event: AwaitingConfirmation | AwaitingClarification, recorded: PromptResult) -> None:
        kind: Literal["confirmation", "clarification"]
        kind = "confirmation" if isinstance(event, AwaitingConfirmation) else "clarification"
        repliers = self._hub.eligible_repliers(self, kind)
        # CF-028: the reader that needs longest decides.
        timeout = min(self._hub.longest_requested_timeout(self), _MAX_PROMPT_TIMEOUT)
        if timeout > event.timeout_seconds:
            event = codec.replace(event, timeout_seconds=timeout)
        # CF-001: if no subscriber can reply, the prompt is still sent; the recorded result then resolves it.
        self._send(event)
        prompt = self.state.prompts[event.reply_token]
        prompt.eligible = repliers
        self.open_prompts[prompt.token] = _OpenPrompt(prompt, recorded)
        self._hub.call_at(prompt.deadline, self._expire_prompts)

    # -- building new events ---------------------------------------------------------------------

    def _renew(self, event: Envelope) -> Envelope | None:
        """C-66: copy an event with a new id, session, token and time; return None for a resync without news."""
        replayer = self._replayer
        attend = {name: value for name, value in attend_members(event).items() if name != "position"}
        changes: dict[str, Any] = {"timestamp": self._timestamp()}
        if attend.pop("resync", None) and isinstance(event, StateChanged):
            state = self._agent_state(event.producer.agent_id)
            if state == event.to_state:
                return None
            changes["from_state"] = state  # the change before the recording began is replayed as one that happens now
        if event.sequence_number is not UNSET:
            changes["sequence_number"] = UNSET
        if isinstance(event, _PROMPTS):
            changes["reply_token"] = replayer.reply_tokens[event.reply_token] = new_id("rpl_")
        if not replayer.keep_ids:
            changes |= {"event_id": new_id("evt_"), "session_id": self.session_id}
            if attend or not isinstance(event, _MERGEABLE_EVENTS):
                attend["replay_of"] = event.event_id
        for name, new_ids in (("reply_token", replayer.reply_tokens), ("parent_session_id", replayer.session_ids)):
            if name in attend:
                attend[name] = new_ids.get(str(attend[name]), attend[name])
        recorded_extensions = event.extensions if isinstance(event.extensions, dict) else {}
        extensions = {prefix: value for prefix, value in recorded_extensions.items() if prefix != PREFIX}
        if attend:
            extensions[PREFIX] = attend
        if extensions != recorded_extensions:
            changes["extensions"] = extensions or UNSET
        if attend:
            changes["context"] = _contexts(event)
        return codec.replace(event, **changes)

    def _build_envelope(self, like: Envelope, summaries: Summaries) -> dict[str, Any]:
        """Return the envelope of an event that is not in the recording."""
        return {
            **self._emitter.envelope(),
            "timestamp": self._timestamp(),
            "producer": like.producer,
            "verbosity": "normal",
            "summary_terse": summaries.terse,
            "summary_normal": summaries.normal,
            "summary_detailed": summaries.detailed,
        }

    def _current_time(self) -> float:
        self._latest_time = max(self._latest_time, self._wall())
        return self._latest_time

    def _timestamp(self) -> str:
        return format_timestamp(self._current_time())  # ENV-027: never earlier than the last one

    def _agent_state(self, agent_id: str) -> str:
        agent = self.state.agents.get(agent_id)
        return "idle" if agent is None else agent.state

    # -- calls from the hub ----------------------------------------------------------------------

    def join(self, subscription: Subscription) -> SessionSnapshot:
        """Return the state that a new subscriber needs: CF-007, CF-146, C-36."""
        with self._lock:
            last = self._last_event
            if self.is_over or last is None:
                return SessionSnapshot()
            pending: list[Envelope] = []
            for open_prompt in self.open_prompts.values():
                prompt = open_prompt.state
                if prompt.outcome == PENDING:
                    pending.append(prompt.event)
                    if subscription.may_answer(type(prompt.event)) and prompt.eligible is not None:
                        prompt.eligible.add(subscription.id)
            envelope = {**self._emitter.composed_envelope(), "producer": last.producer}
            resync = build_resync(
                self.state, self._agent_state(last.producer.agent_id), self._emitter.phrases, **envelope
            )
            return SessionSnapshot(self._started_event, pending, resync, self._emitter.last_event_id)

    def owns_token(self, token: str) -> bool:
        """Whether this session issued a reply token."""
        return token in self.state.prompts

    def reply(self, message: Reply, via: str) -> None:
        """Apply a reply to the prompt it belongs to."""
        with self._lock:
            is_honoured = self.state.reply(message, self._replayer.clock(), via).is_honoured
        if is_honoured:
            self._replayer.notify()

    def terms_changed(self, subscription: Subscription) -> None:
        """Update which prompts a subscription may answer after its terms have changed."""
        with self._lock:
            for open_prompt in self.open_prompts.values():
                prompt = open_prompt.state
                if prompt.eligible is not None and subscription.may_answer(type(prompt.event)):
                    prompt.eligible.add(subscription.id)
                elif prompt.eligible is not None:
                    prompt.eligible.discard(subscription.id)
        self._replayer.notify()

    def subscription_ended(self, subscription_id: str) -> None:
        """Stop waiting for replies from a subscription that has ended."""
        with self._lock:
            for open_prompt in self.open_prompts.values():
                if open_prompt.state.eligible is not None:
                    open_prompt.state.eligible.discard(subscription_id)
        self._replayer.notify()

    def cancel(self, *, by: Literal["user"], reason: str) -> None:
        """Stop the session because a subscriber asks for it (CF-147)."""
        self.stop(summarize_cancellation(by, self._emitter.phrases), by, reason)
        self._replayer.notify()

    def _expire_prompts(self) -> None:
        with self._lock:
            self.state.expire(self._replayer.clock())
        self._replayer.notify()


class Replayer:
    """
    Plays a replay plan through a producer.

    ``on_reply`` selects the continuation after a prompt: "recorded" goes on as
    the recording does, "given" as the reply demands, "accept" and "reject" as
    if that had been the reply. A session stops if the recording has no such
    continuation. A prompt that no subscriber can answer gets its recorded
    result. ``speed`` is 2 for twice as fast, and None for no delay at all.
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
        self.producer = producer
        self.plan = plan
        self.keep_ids = keep_ids
        self.clock = clock
        self.wall = wall
        self.played_count = 0
        self.session_ids: dict[str, str] = {}  # of this round, by recorded id
        self.reply_tokens: dict[str, str] = {}  # of this round, by recorded token
        self._on_reply = on_reply
        self._speed = speed
        self._report = report
        self._condition = threading.Condition()

    def play(self, *, rounds: int | None = 1, wait: bool = True, replies: bool = False) -> None:
        """
        Play the recording a number of times, or with ``rounds=None`` for ever.

        Each round waits for a reader, with ``replies`` for one that can answer prompts; ``wait=False`` starts at once.
        """
        for _ in islice(count(), rounds):
            if wait:
                self._wait_for_reader(self.producer.reader(replies=replies))
            self._play_round()
            self._wait_for_delivery()
            self.producer.hub.journal.trim(self.wall())

    def notify(self) -> None:
        """Wake up the replay, because the state of a prompt has changed."""
        with self._condition:
            self._condition.notify_all()

    def _play_round(self) -> None:
        self.session_ids.clear()
        self.reply_tokens.clear()
        sessions: dict[str, ReplayedSession] = {}
        try:
            self._play_steps(sessions)
        except BaseException:
            for session in sessions.values():
                session.stop(_INTERRUPTED_SUMMARIES, "user")
            raise
        for session in sessions.values():
            session.stop(_END_SUMMARIES)

    def _play_steps(self, sessions: dict[str, ReplayedSession]) -> None:
        due = self.clock()
        last_at: float | None = None
        ended_sessions: set[str] = set()  # those that were played to their end
        late_count = 0  # events after the end of their session
        for step in self.plan.iter_steps():
            event = step.event
            gap = 0.0 if last_at is None else max(0.0, step.at - last_at)
            last_at = step.at
            session = self._session_for(sessions, event.session_id)
            late_count += event.session_id in ended_sessions
            if session is None or session.is_superfluous(event):
                continue
            due = self._wait_until_due(session, due, gap)
            ended_prompts = session.prompts_ended_by(event)
            if self._resolve_prompts(session, ended_prompts):
                session.play(event)
                self.played_count += 1
                if isinstance(event, TERMINAL):
                    ended_sessions.add(event.session_id)
            if ended_prompts:  # the time spent waiting for replies does not count
                due = self.clock()
            if session.is_over:
                del sessions[event.session_id]
        if late_count:
            text = "Events that stand after the end of their session in the recording were left out"
            self._report(f"{text}: {late_count}. Are its lines in order?")

    def _session_for(self, sessions: dict[str, ReplayedSession], recorded_id: str) -> ReplayedSession | None:
        """Return the replayed session of a recorded one, created if it is new; None if it is over."""
        session = sessions.get(recorded_id)
        if session is None and recorded_id not in self.session_ids:
            session = sessions[recorded_id] = ReplayedSession(self, recorded_id)
            self.session_ids[recorded_id] = session.session_id
        return session

    def _wait_until_due(self, session: ReplayedSession, due: float, gap: float) -> float:
        """Wait until an event is due, or until a prompt before it is answered early; return the new due time."""
        if self._speed is None:
            if self.played_count % _EVENTS_PER_CHECK == 0:
                self._wait_while(lambda hub: hub.delivery.is_under_pressure)
            return due
        due += gap / self._speed
        with self._condition:
            while (remaining := due - self.clock()) > 0 and not session.has_answered_prompt:
                self._condition.wait(remaining)
        return min(due, self.clock())

    def _resolve_prompts(self, session: ReplayedSession, prompts: list[_OpenPrompt]) -> bool:
        """Wait for the results of prompts and resolve them; return whether the recording can go on from there."""
        for open_prompt in prompts:
            prompt = open_prompt.state
            recorded = open_prompt.recorded
            if recorded.outcome != "withdrawn":  # a withdrawn prompt is withdrawn again, without waiting
                self._wait_for_answer(session, prompt)
            if session.is_over:
                return False
            given = recorded if prompt.outcome == PENDING else PromptResult(prompt.outcome, prompt.response)
            wanted = given if self._on_reply == "given" else recorded
            if prompt.kind == "confirmation":
                wanted = _FORCED_RESULTS.get(self._on_reply, wanted)
            if not wanted.is_compatible_with(recorded):
                # A forced result is named too: it is what the recording lacks, not the reply.
                answer = _describe_result(given)
                if wanted != given:
                    answer += f", and is taken as {_describe_result(wanted)}"
                self._report(f"The answer was {answer}, for which the recording has nothing. The session stops.")
                session.stop_diverged(prompt, wanted)
                return False
            if not given.is_compatible_with(recorded):
                self._report(
                    f"The answer was {_describe_result(given)}. It goes on as recorded: {_describe_result(recorded)}."
                )
            session.resolve_prompt(prompt, recorded)
        return True

    def _wait_for_answer(self, session: ReplayedSession, prompt: PromptState) -> None:
        """Wait until a prompt is answered, has timed out, or has no subscriber left that can answer."""
        with self._condition:
            while prompt.outcome == PENDING and prompt.eligible and not session.is_over:
                self._condition.wait(_SIGNAL_CHECK_INTERVAL)

    def _wait_for_reader(self, reader: Waitable[str]) -> None:
        while not reader.done:
            with suppress(TimeoutError):  # short waits, so that Ctrl+C gets through
                reader.wait(_SIGNAL_CHECK_INTERVAL)

    def _wait_for_delivery(self) -> None:
        """Wait until the readers have received everything, or the delivery timeout is over."""
        deadline = self.clock() + _DELIVERY_TIMEOUT
        self._wait_while(lambda hub: not hub.delivery.is_idle and self.clock() < deadline)

    def _wait_while(self, condition: Callable[[Hub], bool]) -> None:
        """Wait as long as a condition, checked on the hub's loop, is true."""
        hub = self.producer.hub

        async def check() -> bool:
            return condition(hub)

        while hub.run(check()):
            time.sleep(_POLL_INTERVAL)  # the hub has no notification for this


def _contexts(event: Envelope) -> tuple[str, ...]:
    """ENV-052: return the contexts of an event and that of the attend extension."""
    recorded = (event.context,) if isinstance(event.context, str) else tuple(event.context)
    return tuple(dict.fromkeys((*recorded, ATTEND.context)))


def _describe_result(result: PromptResult) -> str:
    outcome = result.outcome.replace("_", " ")
    return outcome if result.response is None else f"{outcome}, {result.response!r}"
