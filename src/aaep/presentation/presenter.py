"""
What one listener hears of a stream of events, with what was heard before taken into account.

:func:`~aaep.presentation.announce.announce` knows one event at a time. A :class:`Presenter`
remembers the stream: text that has not come to a boundary yet, the sessions that go on and
what was asked in them, how to answer, and which progress was told. So nothing is said twice
that the listener knows. Nothing here reads a clock: ``now`` is an argument, in seconds
of any monotonic clock.

Text is heard before what came after it, and no word in two pieces. So what comes in the middle
of a word waits a moment for the rest of it. What is critical never waits: text is heard before it
as far as it goes, for the last word may be whole and a warning, and a word that goes on after it
is heard again from its beginning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from ..protocol.attend_extension import attend_member, attend_members
from ..protocol.events import (
    CORE_EVENTS,
    CRITICAL,
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    ProgressUpdated,
    SessionStarted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from ..protocol.fields import Message, get_member
from ..text.actions import shorten_action
from ..text.imitation import guard_name
from ..text.phrases import Phrases
from ..text.sanitize import sanitize, truncate
from ..text.summaries import summarize_call
from .announce import Announcement, announce
from .outputs import Outputs
from .preferences import DEFAULT_PREFERENCES, Background, Preferences, find_agent_phrases
from .progress import ProgressCondenser

__all__ = ["Presenter"]

POSTPONEMENT: Final = 1.0  # seconds for which an announcement in the background waits for a sentence to end
WORD_WAIT: Final = 1.0  # seconds for which one that is not critical waits for the end of a word
_NOT_DONE_OUTCOMES: Final = frozenset(("rejected", "timed_out", "withdrawn", "unavailable", "no_reply_channel"))
_MAX_SESSIONS: Final = 1000  # that are remembered; a peer may begin any number and end none
_MAX_REMEMBERED: Final = 1000  # calls of a session, and tools
_MAX_WAITING: Final = 200  # events that wait for the end of a word
_MAX_NAME_LENGTH: Final = 40  # characters of the sentence that names a session
_CONFIRMATION_CONTENT: Final = (
    "action",
    "consequence",
    "risk_level",
    "irreversible",
    "reversibility",
    "default_decision",
    "allowed_replies",
)
_CLARIFICATION_CONTENT: Final = ("question", "context_", "choices", "accepted_response_kinds", "default_response")

_Prompt = AwaitingConfirmation | AwaitingClarification


class _Session(msgspec.Struct, eq=False):
    """What is remembered of a session that goes on."""

    agent_id: str
    agent_name: str
    name: str = ""  # what it is about, in few words
    summary: str = ""  # the same in the author's words
    is_part: bool = False  # of another session
    undone: dict[str, None] = {}  # actions that were asked for and not done, in order
    running_calls: set[str] = set()  # their ids
    parallel_calls: set[str] = set()  # the ids of those that ran beside others
    call_summaries: dict[str, str] = {}  # of running calls, by id
    agreed_calls: dict[str, str] = {}  # the actions that were agreed to, by the id of their call
    has_agreed: bool = False  # something that names no call was just agreed to
    prompts: dict[str, _Prompt] = {}  # by reply token
    state_times: dict[str, float] = {}  # when each state was announced last
    taken_back: StateChanged | None = None  # the outcome of a prompt that is about to be asked again


class _Waiting(msgspec.Struct, eq=False):
    """What came of a session while its text stood within a word, until when it waits for the rest of that."""

    deadline: float
    events: list[Envelope] = []


class Presenter:
    """
    Turns the events of a stream into the announcements that one listener hears, in order.

    ``can_answer`` says whether the listener is one who could answer prompts; then an answer of which
    :meth:`note_answer` was not told came from somebody else. ``can_wait`` says that :meth:`advance` is
    called in time; if not, nothing waits for the rest of a word.
    """

    def __init__(
        self, preferences: Preferences = DEFAULT_PREFERENCES, *, can_answer: bool = True, can_wait: bool = True
    ) -> None:
        self.can_answer = can_answer
        self.can_wait = can_wait
        self._outputs = Outputs(preferences)
        # By session: what is heard after the sentence that it came in the middle of, and until when it waits for it.
        self._postponed: dict[str, tuple[float, dict[str, Envelope]]] = {}
        self._waiting: dict[str, _Waiting] = {}  # by session
        self._progress = ProgressCondenser(preferences)
        self._sessions: dict[str, _Session] = {}  # that go on, by id
        self._heard_session = ""  # the id of the one that was heard last
        self._familiar_types: set[type[Envelope]] = set()  # of prompts that were heard with how to answer them
        self._unstated_tools: set[str] = set()  # whose effect nobody stated, which was heard
        self._answers: dict[str, str] = {}  # the listener's own, by reply token

    @property
    def preferences(self) -> Preferences:
        """How the listener wants events to be announced."""
        return self._outputs.preferences

    @preferences.setter
    def preferences(self, preferences: Preferences) -> None:
        self._outputs.preferences = preferences
        self._progress.preferences = preferences

    def note_answer(self, token: str, outcome: str) -> None:
        """Note that the listener answers a prompt, with ``accepted``, ``rejected`` or ``answered`` as its outcome."""
        self._answers[token] = outcome

    def forget_answer(self, token: str) -> None:
        """Note that the listener's answer to a prompt could not be sent."""
        self._answers.pop(token, None)

    # -- events ----------------------------------------------------------------------------

    def present(self, event: Envelope, now: float) -> list[Announcement]:
        """Process an event and return what is announced: text that was written before it, then the event itself."""
        announcements = [*self._release_due(now), *self._present_in_order(event, now)]
        return [announcement for announcement in announcements if not announcement.redundant]

    def flush(self, session_id: str = "") -> list[Announcement]:
        """Return announcements of everything that is held, of one session or of all."""
        announcements: list[Announcement] = []
        while waiting_ids := [each for each in self._waiting if session_id in ("", each)]:
            announcements += self._release_waiting(waiting_ids[0])
        announcements += self._flush_text(session_id)
        return [announcement for announcement in announcements if not announcement.redundant]

    def advance(self, now: float) -> list[Announcement]:
        """Return the announcements that are due by now."""
        announcements = self._release_due(now)
        announcements += [self._name_session(announcement) for announcement in self._outputs.advance(now)]
        for session_id, (deadline, _) in [*self._postponed.items()]:
            if session_id in self._waiting or (deadline > now and self._outputs.is_waiting(session_id)):
                continue
            if self._await_words(session_id):
                self._waiting[session_id] = _Waiting(deadline + WORD_WAIT)
                announcements += self._release_due(now)
            else:
                announcements += self._flush_text(session_id)
        for event in self._progress.advance(now):
            announcements += self._announce(event, Background())
        return [announcement for announcement in announcements if not announcement.redundant]

    def next_deadline(self, now: float) -> float | None:
        """Return when to call :meth:`advance` next, None while there is nothing to wait for."""
        deadlines = [deadline for each, (deadline, _) in self._postponed.items() if each not in self._waiting]
        deadlines += [waiting.deadline for waiting in self._waiting.values()]
        others = (self._outputs.next_deadline(), self._progress.next_deadline())
        deadlines += [deadline for deadline in others if deadline is not None]
        return max(min(deadlines), now) if deadlines else None

    def _present_in_order(self, event: Envelope, now: float) -> list[Announcement]:
        """Return the announcements of an event after all that came before it, unless it waits for that."""
        session_id = event.session_id
        waiting = self._waiting.get(session_id)
        if waiting is not None and not _is_urgent(event) and len(waiting.events) < _MAX_WAITING:
            return self._add_waiting(event, waiting, now)
        announcements = [] if waiting is None else self.flush(session_id)
        if isinstance(event, OutputStreaming):
            announcements += self._present_own(event, now)
            if session_id in self._postponed and not self._outputs.is_waiting(session_id):
                announcements += self._release_postponed(session_id)
        elif _may_wait(event) and self._outputs.is_waiting(session_id):
            _, postponed = self._postponed.setdefault(session_id, (now + POSTPONEMENT, {}))
            postponed[event.type] = event  # of several states or reports of progress the last one counts
        elif not _is_urgent(event) and self._await_words(session_id):
            self._waiting[session_id] = _Waiting(now + WORD_WAIT, [event])
        else:
            announcements += [*self._present_earlier(event), *self._present_own(event, now)]
        if CORE_EVENTS.get(event.type) in TERMINAL:
            self._sessions.pop(session_id, None)
            self._outputs.end_session(session_id)
        return announcements

    def _present_earlier(self, event: Envelope) -> Iterator[Announcement]:
        """Yield what came before an event and has to be heard before it: text above all, which may be a warning."""
        yield from self._flush_text(event.session_id)
        if CORE_EVENTS.get(event.type) in TERMINAL:
            for report in self._progress.close(event.session_id):
                yield from self._announce(report, Background())
        elif isinstance(event, (ToolCompleted, AwaitingConfirmation, AwaitingClarification)):
            self._progress.drop(event)

    def _flush_text(self, session_id: str) -> list[Announcement]:
        """Return announcements of text that is held, and of what came in the middle of it and could wait."""
        announcements = [self._name_session(announcement) for announcement in self._outputs.flush(session_id)]
        for postponed_id in [session_id] if session_id else [*self._postponed]:
            announcements += self._release_postponed(postponed_id)
        return announcements

    def _release_postponed(self, session_id: str) -> list[Announcement]:
        deadline, postponed = self._postponed.pop(session_id, (0.0, {}))
        return [announcement for event in postponed.values() for announcement in self._present_own(event, deadline)]

    # -- waiting for the end of a word -------------------------------------------------------

    def _await_words(self, session_id: str) -> bool:
        """Return whether text of a session may end within a word, which is awaited then."""
        return self.can_wait and self._outputs.await_words(session_id)

    def _add_waiting(self, event: Envelope, waiting: _Waiting, now: float) -> list[Announcement]:
        """Keep an event behind those that wait; text that ends the word releases them all."""
        if not isinstance(event, OutputStreaming):
            waiting.events.append(event)
            return []
        rest = self._outputs.finish_word(event, now)
        if rest is not None:
            waiting.events.append(rest)
        if self._outputs.is_awaited(event.session_id):
            return []
        return self._release_waiting(event.session_id, now)

    def _release_due(self, now: float) -> list[Announcement]:
        """Return the announcements of what has waited long enough for the end of a word."""
        due = [session_id for session_id, waiting in self._waiting.items() if waiting.deadline <= now]
        return [announcement for session_id in due for announcement in self._release_waiting(session_id, now)]

    def _release_waiting(self, session_id: str, now: float | None = None) -> list[Announcement]:
        waiting = self._waiting.pop(session_id)
        announcements = self._flush_text(session_id)
        for event in waiting.events:
            announcements += self._present_in_order(event, waiting.deadline if now is None else now)
        return announcements

    def _present_own(self, event: Envelope, now: float) -> Iterator[Announcement]:
        session = self._find_session(event)
        if session.taken_back is not None:
            replaced = attend_member(session.taken_back, "reply_token")
            if _is_plain_wait(event):  # the prompt follows
                return
            taken_back = session.taken_back
            session.taken_back = None
            if isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
                before = session.prompts.get(str(replaced))
                if before is not None and _is_same_prompt(before, event) and replaced not in self._answers:
                    yield from self._present_longer(event, session, str(replaced))
                    return
            yield from self._present_outcome(taken_back, session)
        if isinstance(event, OutputStreaming):
            yield from (self._name_session(announcement) for announcement in self._outputs.add(event, now))
        elif isinstance(event, ProgressUpdated):
            report = self._progress.add(event, now)
            if report is not None:
                yield from self._announce(report, Background())
        elif isinstance(event, SessionStarted):
            yield from self._present_start(event, session)
        elif isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
            yield from self._present_prompt(event, session)
        elif isinstance(event, StateChanged) and "outcome" in attend_members(event):
            if attend_member(event, "asked_again") is True and attend_member(event, "reply_token") in session.prompts:
                session.taken_back = event
            else:
                yield from self._present_outcome(event, session)
        elif isinstance(event, StateChanged):
            yield from self._present_state(event, session, now)
        elif isinstance(event, ToolInvoked):
            yield from self._present_call(event, session)
        elif isinstance(event, ToolCompleted):
            yield from self._present_call_end(event, session)
        else:
            yield from self._announce(event, Background(undone=tuple(session.undone)))

    # -- sessions ----------------------------------------------------------------------------

    def _find_session(self, event: Envelope) -> _Session:
        session = self._sessions.get(event.session_id)
        if session is None:
            agent_name = sanitize(_get_text(event.producer, "agent_name")) or sanitize(event.producer.agent_id)
            agent_name = guard_name(agent_name, _MAX_NAME_LENGTH, self.preferences.phrases)
            session = _Session(agent_id=event.producer.agent_id, agent_name=agent_name)
            if len(self._sessions) >= _MAX_SESSIONS:
                self._sessions.pop(next(iter(self._sessions)))
            self._sessions[event.session_id] = session
        return session

    def _present_start(self, event: SessionStarted, session: _Session) -> Iterator[Announcement]:
        parent = self._sessions.get(str(attend_member(event, "parent_session_id")))
        session.is_part = parent is not None and parent is not session
        summary = sanitize(_get_text(event, "summary_normal"))
        if summary != find_agent_phrases(event)["started"]:
            session.summary = summary
            session.name = _shorten_name(summary, self.preferences.phrases)
        yield from self._announce(event, Background(parent_name=parent.summary if session.is_part and parent else ""))

    def _get_session_name(self, event: Envelope) -> str:
        """Return what tells a session from the others that go on, if it is not the one that was heard last."""
        session = self._sessions.get(event.session_id)
        if session is None or len(self._sessions) < 2:
            return ""
        # The end of a part could be taken for that of the whole.
        is_end_of_part = session.is_part and CORE_EVENTS.get(event.type) in TERMINAL
        if self._heard_session == event.session_id and not is_end_of_part:
            return ""
        if isinstance(event, SessionStarted):  # which says itself what it is about
            return session.agent_name if self._has_several_agents() else ""
        name = self._describe_session(session)
        same_names = [each for each in self._sessions.values() if self._describe_session(each) == name]
        number = same_names.index(session) + 1
        return name if number == 1 else f"{name} {number}"

    def _has_several_agents(self) -> bool:
        return len({session.agent_id for session in self._sessions.values()}) > 1

    def _describe_session(self, session: _Session) -> str:
        """Return the agent's name where that is enough, else what the session is about."""
        siblings = [each for each in self._sessions.values() if each.agent_id == session.agent_id]
        is_only_one = len(siblings) == 1
        return session.agent_name if is_only_one or not session.name else session.name

    def _name_session(self, announcement: Announcement) -> Announcement:
        """Put the name of the session before an announcement that is not of the one heard last."""
        name = self._get_session_name(announcement.event)
        self._heard_session = announcement.session_id
        phrases = self.preferences.phrases
        labels = tuple(phrases.format(phrase, agent=name) for phrase in ("says", "says-quoted"))
        if not name or announcement.text.startswith(labels):
            return announcement
        return msgspec.structs.replace(
            announcement,
            text=phrases.format("session", work=name, text=announcement.text),
            detail=phrases.format("session", work=name, text=announcement.detail),
        )

    def _announce(self, event: Envelope, background: Background) -> Iterator[Announcement]:
        name = self._get_session_name(event)
        if name:
            background = msgspec.structs.replace(background, session_name=name)
        announcement = announce(event, self.preferences, background=background)
        if announcement is None:
            return
        if not announcement.redundant:
            self._heard_session = event.session_id
        yield announcement

    # -- states and calls --------------------------------------------------------------------

    def _present_state(self, event: StateChanged, session: _Session, now: float) -> Iterator[Announcement]:
        """Announce a state, unless the same was announced just before."""
        heard_before = self._heard_session
        for announcement in self._announce(event, Background()):
            announced_at = session.state_times.get(announcement.text, float("-inf"))
            is_repeated = now - announced_at < self.preferences.progress_interval
            closes_prompts = event.from_state == "awaiting_input"  # which the queue has to know
            if is_repeated and not closes_prompts:
                self._heard_session = heard_before
                return
            if not announcement.redundant:
                if len(session.state_times) >= _MAX_REMEMBERED:
                    session.state_times.clear()
                session.state_times[announcement.text] = now
            yield announcement

    def _present_call(self, event: ToolInvoked, session: _Session) -> Iterator[Announcement]:
        call_id = _get_text(event, "tool_call_id")
        is_agreed = call_id in session.agreed_calls or session.has_agreed
        action = session.agreed_calls.pop(call_id, "")
        session.has_agreed = False
        summary = sanitize(_get_text(event, "summary_normal"))
        if not summary or summary == summarize_call(sanitize(event.tool), "", find_agent_phrases(event)).normal:
            summary = shorten_action(
                action, self.preferences.phrases
            )  # what was agreed to tells more than the tool's name
        if call_id and summary and len(session.call_summaries) < _MAX_REMEMBERED:
            session.call_summaries[call_id] = truncate(summary, 2 * _MAX_NAME_LENGTH)
        if call_id and len(session.running_calls) < _MAX_REMEMBERED:
            session.running_calls.add(call_id)
            if len(session.running_calls) > 1:
                session.parallel_calls |= session.running_calls
        yield from self._announce(event, Background(is_agreed=is_agreed))

    def _present_call_end(self, event: ToolCompleted, session: _Session) -> Iterator[Announcement]:
        call_id = _get_text(event, "tool_call_id")
        summary = session.call_summaries.pop(call_id, "")
        is_parallel = call_id in session.parallel_calls
        session.running_calls.discard(call_id)
        session.parallel_calls.discard(call_id)
        yield from self._announce(event, Background(call_summary=summary, is_parallel=is_parallel))

    # -- prompts -----------------------------------------------------------------------------

    def _present_prompt(self, event: _Prompt, session: _Session) -> Iterator[Announcement]:
        tool = _get_tool(event)
        background = Background(
            is_familiar=type(event) in self._familiar_types, is_effect_told=tool in self._unstated_tools
        )
        if self.preferences.verbosity != "terse":  # where how to answer is left out
            self._familiar_types.add(type(event))
        is_unstated = _get_text(event, "consequence") == find_agent_phrases(event)["consequence-unstated"]
        if tool and is_unstated and len(self._unstated_tools) < _MAX_REMEMBERED:
            self._unstated_tools.add(tool)
        session.prompts[event.reply_token] = event
        yield from self._announce(event, background)

    def _present_longer(self, event: _Prompt, session: _Session, replaced: str) -> Iterator[Announcement]:
        """Announce only the new time of a prompt that is asked again, because everything else was heard. CF-028"""
        session.prompts.pop(replaced, None)
        for announcement in self._present_prompt(event, session):
            phrases = self.preferences.phrases
            text = phrases.format("longer", duration=phrases.format_time_left(announcement.timeout))
            yield msgspec.structs.replace(
                announcement, text=text, replaces=replaced, interrupts=False, urgency="normal"
            )

    def _present_outcome(self, event: StateChanged, session: _Session) -> Iterator[Announcement]:
        token = str(attend_member(event, "reply_token"))
        outcome = attend_member(event, "outcome")
        prompt = session.prompts.pop(token, None)
        own_answer = self._answers.pop(token, None)
        action = prompt.action if isinstance(prompt, AwaitingConfirmation) else _find_unasked_action(event)
        is_default_accept = isinstance(prompt, AwaitingConfirmation) and prompt.default_decision == "accept"
        is_granted = outcome == "accepted" or (outcome == "timed_out" and is_default_accept)
        if action and is_granted:
            session.undone.pop(action, None)
            session.agreed_calls[_get_call_id(prompt)] = action
            session.has_agreed = not _get_call_id(prompt)
        elif action and outcome in _NOT_DONE_OUTCOMES and attend_member(event, "asked_again") is not True:
            session.undone[action] = None
        background = Background(action=action, is_default_accept=is_default_accept)
        if self.can_answer and prompt is not None:
            is_own = own_answer == outcome
            background = msgspec.structs.replace(background, answered_by="listener" if is_own else "other")
        yield from self._announce(event, background)


def _is_urgent(event: Envelope) -> bool:
    """Whether an event is never held: a critical one, one that ends a session, and one that closes a prompt."""
    is_final = CORE_EVENTS.get(event.type) in (*CRITICAL, *TERMINAL)  # CF-074
    closes_prompt = getattr(event, "from_state", "") == "awaiting_input" or "outcome" in attend_members(event)
    return is_final or event.urgency == "critical" or closes_prompt


def _may_wait(event: Envelope) -> bool:
    """Whether an event may be heard after the sentence that it comes in the middle of."""
    if not isinstance(event, (StateChanged, ProgressUpdated)) or event.urgency != "background":
        return False
    return not attend_members(event) and getattr(event, "from_state", "") != "awaiting_input"


def _is_plain_wait(event: Envelope) -> bool:
    """Whether an event only says that a prompt follows."""
    return isinstance(event, StateChanged) and event.to_state == "awaiting_input" and not attend_members(event)


def _is_same_prompt(before: _Prompt, after: _Prompt) -> bool:
    """Whether all that a person decides on is the same in two prompts."""
    names = _CONFIRMATION_CONTENT if isinstance(before, AwaitingConfirmation) else _CLARIFICATION_CONTENT
    return type(before) is type(after) and all(getattr(before, name) == getattr(after, name) for name in names)


def _get_text(message: Message, name: str) -> str:
    value = get_member(message, name)
    return value if isinstance(value, str) else ""


def _find_unasked_action(event: StateChanged) -> str:
    """Return what our own producer says was not done because nobody could be asked; there was no prompt with it."""
    phrases = find_agent_phrases(event)
    label = f"{phrases['outcome-no_reply_channel']} "
    summary = sanitize(_get_text(event, "summary_normal"))
    values = phrases.extract("undone", summary.removeprefix(label)) if summary.startswith(label) else None
    return "" if values is None else values["action"]


def _get_context(prompt: _Prompt | None, name: str) -> str:
    context = get_member(prompt, "extra_context") if isinstance(prompt, AwaitingConfirmation) else None
    value = context.get(name) if isinstance(context, dict) else None
    return value if isinstance(value, str) else ""


def _get_tool(prompt: _Prompt | None) -> str:
    return _get_context(prompt, "tool")


def _get_call_id(prompt: _Prompt | None) -> str:
    return _get_context(prompt, "tool_call_id")


def _shorten_name(summary: str, phrases: Phrases) -> str:
    """Return a sentence as the name of a session: cut at a word, without a full stop."""
    return guard_name(truncate(summary, _MAX_NAME_LENGTH).rstrip(" .!…:;,"), phrases=phrases)
