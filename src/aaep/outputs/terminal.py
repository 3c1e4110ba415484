"""
A plain terminal: whole sentences, one on each line, and keys to answer with.

Lines are only ever added, nothing is overwritten, and colour carries no meaning,
so that a screen reader, a braille display and a log read the same. The loop here
waits for four things at once: the stream, the person's input, what the outputs report, and time.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, Literal

import msgspec

from ..errors import AaepError
from ..presentation.announce import Announcement, announce, announce_line
from ..presentation.earcons import Earcon, choose_earcon
from ..presentation.flow import NO_LIMIT, FellBehind, Flow
from ..presentation.preferences import DEFAULT_PREFERENCES, Preferences
from ..presentation.presenter import Presenter
from ..presentation.queue import MAX_PROMPT_NAME_LENGTH, Queue, Speak, SpeechAction, Stop
from ..protocol.attend_extension import PREFIX
from ..protocol.events import (
    CORE_EVENTS,
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    SessionStarted,
)
from ..protocol.fields import Verbosity, get_member
from ..protocol.messages import Capabilities
from ..runtime.background import Waitable
from ..subscriber.request import Terms, TermsChanges
from ..subscriber.status import Status
from ..text.imitation import guard_name
from ..text.languages import describe_language
from ..text.phrases import find_phrases, truncate_with_notice
from .base import Finished, KeyPressed, Output, OutputEvent, PromptAnswered
from .composer import Composer
from .intents import (
    Accept,
    Command,
    Echo,
    Intent,
    PrintLine,
    RefuseAndQuit,
    Reject,
    RequestTime,
    RunCommand,
    SendAnswer,
    SendRequest,
)
from .interpreter import InputInterpreter
from .pacing import Pacer
from .printer import LinePrinter
from .readers import choose_reader, find_lane
from .sender import Reader, Sender, describe_error
from .signals import handle_signals
from .stdin import InputSource, NoInput

__all__ = ["Terminal"]

CLOSE_TIMEOUT: Final = 1.5  # seconds
INTERRUPTED: Final = 130  # the exit status after Ctrl-C
GOODBYE_TIMEOUT: Final = 3.0  # seconds in which the last line is spoken
_NEXT_VERBOSITY: Final[Mapping[Verbosity, Verbosity]] = {"terse": "normal", "normal": "detailed", "detailed": "terse"}


class Terminal:
    """
    A terminal at which one person listens to agents and answers their prompts.

    ``connect`` returns a reader of the stream, of one agent or of several, which reports the status of the
    connection to the callback it is given. ``on_event`` is called with every
    event, and then only what is not an event is printed; ``on_announcement`` is
    called with the announcements that would be printed otherwise. The bell is rung for what ``earcons`` names, and
    ``on_earcon`` is called with every earcon. ``notices`` are sentences that are printed at the beginning, after
    ``greeting`` where nobody can type; with
    ``do_not_disturb`` only questions and what is critical is said at first. ``time_extension`` is how many times as
    long is asked for on demand.

    What is printed is presented on ``outputs`` too, such as a voice or a braille display. Where one of them reports
    the ends of utterances, the next announcement begins, and a prompt can be answered, only after that. When speech
    falls behind, the person is told, and agents are asked for fewer and longer pieces until it has caught up: then
    for what ``terms`` ask for again. With ``may_say_less`` they are also asked to say less.
    """

    def __init__(
        self,
        connect: Callable[[Callable[[Status], None]], Reader],
        input_source: InputSource,
        printer: LinePrinter,
        *,
        preferences: Preferences = DEFAULT_PREFERENCES,
        replies: bool = True,
        session_id: str = "",
        once: bool = False,
        earcons: Collection[Earcon] = (),
        greeting: str = "",
        notices: Collection[str] = (),
        do_not_disturb: bool = False,
        max_interruptions_per_minute: int = 5,
        time_extension: float = 2.0,
        outputs: Sequence[Output] = (),
        terms: Terms | None = None,
        may_say_less: bool = False,
        on_earcon: Callable[[Earcon], None] | None = None,
        on_event: Callable[[Envelope], None] | None = None,
        on_announcement: Callable[[Announcement, str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._phrases = preferences.phrases
        self._pacer = Pacer(outputs)
        self.interpreter = InputInterpreter(
            lines=input_source.is_line_based,
            replies=replies,
            time_extension=time_extension,
            speech=self._pacer.has_paced,
            phrases=self._phrases,
        )
        self.preferences = msgspec.structs.replace(
            preferences, lines=input_source.is_line_based, keys=preferences.keys if replies else {}
        )
        self._connect = connect
        self._input_source = input_source
        self._printer = printer
        self._session_id = session_id
        self._once = once
        self._earcons = earcons
        self._on_earcon = on_earcon
        self._on_event = on_event
        self._on_announcement = on_announcement
        self._clock = clock
        self._greeting = greeting
        self._notices = notices
        self._begins_quiet = do_not_disturb
        self._queue = Queue(self.preferences, max_interruptions_per_minute=max_interruptions_per_minute)
        self._queue.answered_tokens = self.interpreter.answered_prompts
        self._presenter = Presenter(self.preferences, can_answer=replies)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._sender = Sender(self._call_soon, self._handle_end, self._phrases)
        self._flow = Flow(preferences.pace)
        self._usual_terms = terms or Terms()
        self._may_say_less = may_say_less
        self._verbosity_before: Verbosity | None = None  # while less is said because speech is behind
        self._utterance_began_at: float | None = None  # None where its time does not tell how fast it is heard
        self._wakeup_receiver, self._wakeup_sender = socket.socketpair()
        self._reader: Reader | None = None
        self._has_connected = False
        self._is_connection_lost = False
        self._has_reported_unread = False
        self._close_reason = ""  # why the producer ended the subscription
        self._exit_status: int | None = None
        self._final_status: int | None = None  # with which to exit once everything was spoken
        self._spoken_prompt: Announcement | None = None  # shown by the utterance that is being presented
        # Printed and not spoken yet, with whether a key was the reason, and the sound.
        self._unsaid_lines: list[tuple[str, bool, str]] = []
        self._is_answering_key = False
        self._last_command: Command | Literal[""] = ""
        self._discards_lines = False  # lines that came with the one in hand are about to be dropped
        self._error: AaepError | None = None
        self._open_tokens: set[str] = set()  # reply tokens of the open prompts
        self._refusals_before_exit: set[str] | None = None  # tokens of what is refused, after which to quit
        self._on_request: Callable[[str], None] | None = None
        self._on_interrupt: Callable[[], bool] | None = None
        self._on_input_end: Callable[[], None] | None = None
        self._on_session_end: Callable[[], None] | None = None

    def enable_writing(
        self,
        on_request: Callable[[str], None],
        *,
        on_interrupt: Callable[[], bool],
        on_input_end: Callable[[], None],
        on_session_end: Callable[[], None],
    ) -> None:
        """
        Let the person write to the agent while nothing is asked, before :meth:`run`.

        ``on_request`` is called with what was written. ``on_interrupt`` is called for Ctrl-C, and returns whether to
        go on all the same; ``on_input_end`` when nothing more can be written, and ``on_session_end`` when the end of
        a session was told. None of them may wait.
        """
        self.interpreter.composer = Composer(lines=self._input_source.is_line_based, phrases=self._phrases)
        self._on_request = on_request
        self._on_interrupt = on_interrupt
        self._on_input_end = on_input_end
        self._on_session_end = on_session_end

    def print_soon(self, text: str) -> None:
        """Print a line, from any thread."""

        def print_line() -> None:
            self._printer.print_line(text)
            self._reprint_draft()

        self._call_soon(print_line)

    def end_soon(self, status: int = 0) -> None:
        """End :meth:`run` with an exit status, from any thread, after what was scheduled before."""
        self._call_soon(lambda: self._request_exit(status))

    # -- the loop --------------------------------------------------------------------------

    def run(self) -> int:
        """
        Listen until the stream ends, the person quits or a signal arrives, and return the exit status.

        Raises the error that occurred if there never was a connection.
        """
        self._wakeup_receiver.setblocking(False)
        self._wakeup_sender.setblocking(False)
        with (
            self._input_source,
            handle_signals(
                self._wakeup_sender.fileno(), self._handle_signal, lambda: self._call_soon(self._input_source.resume)
            ),
        ):
            for target in (self._read_events, self._sender.run):
                threading.Thread(target=target, name="aaep-listen", daemon=True).start()
            try:
                self._open_outputs()
                self._greet()
                self._say_lines()
                while self._exit_status is None:
                    self._run_once()
            finally:
                self._shut_down()
                self._pacer.close()
                self._wakeup_receiver.close()
                self._wakeup_sender.close()
        if self._error is not None and not self._has_connected:
            raise self._error
        return self._exit_status or 0

    def _greet(self) -> None:
        self._phrases.load()
        self._tell_missing_language()
        if isinstance(self._input_source, NoInput):
            self._print_line(self._greeting or self._phrases["greeting-none"])
        elif not self._input_source.is_interactive:
            self._print_line(self._phrases["greeting-pipe"])
        else:
            self._print_line(self._phrases[f"greeting-{'lines' if self._input_source.is_line_based else 'keys'}"])
        for notice in self._notices:
            self._print_line(notice)
        if self._begins_quiet:
            self._switch_do_not_disturb(self._clock())

    def _tell_missing_language(self) -> None:
        """Say once which language is spoken if none of the wanted ones is."""
        wanted = self.preferences.languages
        if wanted and find_phrases(wanted) is None:
            languages = self._phrases.join(describe_language(tag, self._phrases.language) for tag in wanted)
            self._print_line(self._phrases.format("language-none", languages=languages))

    def _run_once(self) -> None:
        """Wait for input, a scheduled call or a deadline, and handle it."""
        input_fd = self._input_source.fileno()
        descriptors = [self._wakeup_receiver.fileno(), *([] if input_fd is None else [input_fd])]
        ready = select.select(descriptors, [], [], self._select_timeout())[0]
        # Input first: it was typed before what is printed now.
        if input_fd in ready:
            with self._answering_key():
                self._handle_input()
        with contextlib.suppress(BlockingIOError):  # something else woke the loop
            self._wakeup_receiver.recv(4096)
        for _ in range(self._inbox.qsize()):  # later calls wait, so that a flood of events does not block input
            if self._exit_status is None:
                self._inbox.get()()
        if self._exit_status is None:
            self._advance()
            self._say_lines()
            self._update_prompts()
        if self._final_status is not None and self._queue.is_idle:
            self._request_exit(self._final_status)

    def _select_timeout(self) -> float | None:
        if not self._inbox.empty():
            return 0.0
        now = self._clock()
        deadlines = [
            self._queue.next_deadline(now),
            self._presenter.next_deadline(now),
            self.interpreter.next_deadline,
            self._pacer.next_deadline(),
            self._flow.next_deadline() if self._measures_flow else None,
        ]
        earliest = min((deadline for deadline in deadlines if deadline is not None), default=None)
        return None if earliest is None else max(0.0, earliest - now)

    def _advance(self) -> None:
        now = self._clock()
        overdue = self._pacer.take_overdue(now)
        if overdue is not None:
            self._utterance_began_at = None
            self._finish_utterance(overdue)
        for announcement in self._presenter.advance(now):
            self._enqueue(announcement, now)
        self._perform_actions(self._queue.advance(now), now)
        intents = self.interpreter.advance(now)
        self._perform_intents(intents)
        if intents:  # a prompt was closed, and another may be open
            self._update_focus()
            self._perform_actions(self._queue.remind(now), now)
        self._watch_flow(now)

    def _shut_down(self) -> None:
        """Close the subscription, without waiting long for the producer."""
        self._sender.stop()
        if self._error is None or self._has_connected:  # otherwise run() raises the error
            with contextlib.suppress(OSError):  # the output may be closed
                self._print_line(f"{self._phrases['goodbye']} {self._describe_unanswered()}".rstrip())
        reader = self._reader
        if reader is not None:
            thread = threading.Thread(target=self._close_reader, args=(reader,), name="aaep-close", daemon=True)
            thread.start()
            self._speak_goodbye()
            thread.join(CLOSE_TIMEOUT)

    def _speak_goodbye(self) -> None:
        """Speak the last lines in place of whatever is being spoken, without waiting long for their end."""
        text = " ".join(line for line, _, _ in self._unsaid_lines)
        self._unsaid_lines = []
        if not (text and self._pacer.outputs):
            return
        now = self._clock()
        self._perform_actions(self._queue.say_now(announce_line(text, self._phrases.language), now), now)
        deadline = time.monotonic() + GOODBYE_TIMEOUT
        while self._pacer.utterance is not None and self._pacer.utterance.text == text:
            try:
                self._inbox.get(timeout=max(0.0, deadline - time.monotonic()))()
            except Empty:
                return

    def _describe_unanswered(self) -> str:
        count = sum(token not in self.interpreter.answered_prompts for token in self._open_tokens)
        if not count:
            return ""
        return self._phrases.format("goodbye-open", count=count)

    @staticmethod
    def _close_reader(reader: Reader) -> None:
        with contextlib.suppress(AaepError, OSError):  # the subscription ends in any case
            reader.close()

    def _handle_signal(self, status: int) -> None:
        self._call_soon(lambda: self._end_for_signal(status))

    def _end_for_signal(self, status: int) -> None:
        goes_on = status == INTERRUPTED and self._on_interrupt is not None and self._on_interrupt()
        if not goes_on:
            self._request_exit(status)

    def _request_exit_after_speech(self, status: int) -> None:
        """Exit once everything that came was spoken, or when the person quits before."""
        if self._pacer.outputs:
            self._final_status = status if self._final_status is None else self._final_status
        else:
            self._request_exit(status)

    def _request_exit(self, status: int) -> None:
        self._exit_status = status if self._exit_status is None else self._exit_status

    def _call_soon(self, callback: Callable[[], None]) -> None:
        """Schedule a call on the loop, from any thread or signal handler."""
        self._inbox.put(callback)
        with contextlib.suppress(OSError):  # full: the loop is awake anyway; closed: it has ended
            self._wakeup_sender.send(b"\0")

    # -- the stream ------------------------------------------------------------------------

    def _read_events(self) -> None:
        """Connect and pass events on to the loop, in a thread of its own."""
        error: Exception | None = None
        try:
            self._reader = self._sender.reader = self._connect(
                lambda status: self._call_soon(lambda: self._handle_status(status))
            )
            for event in self._reader:
                self._call_soon(partial(self._handle_event, event))
        except Exception as caught:  # handled on the loop
            error = caught
        self._call_soon(partial(self._handle_end, error))

    def _handle_status(self, status: Status) -> None:
        """Print the status of the connection, once for each change and not at every attempt."""
        if status.kind in ("connected", "resumed", "gap"):
            producer = self._reader.producer if self._reader is not None else None
            name = get_member(producer, "agent_name") or producer.agent_id if producer is not None else ""
            self._print_line(
                self._phrases.format("connected-name", agent=guard_name(name, phrases=self._phrases))
                if name and status.kind == "connected"
                else status.text
            )
            self._has_connected = True
            self._is_connection_lost = False
            self._check_terms()
        elif status.kind == "waiting" and not self._is_connection_lost:
            self._is_connection_lost = True
            is_lost = self._has_connected and not status.reason_code  # otherwise the agent took its leave
            text = self._phrases.format("connection-lost", reason=status.text) if is_lost else status.text
            self._print_line(text)
            self._print_line(self._phrases["waiting"])
        elif status.kind == "unread" and not self._has_reported_unread:
            self._has_reported_unread = True  # one line for several in a row
            self._print_line(self._phrases.format("attention", text=status.text))
        elif status.kind == "notice":
            self._print_line(status.text)
        elif status.kind == "ended":
            self._close_reason = status.text

    def _check_terms(self) -> None:
        """Turn replies off if the producer does not take them. SUB-033"""
        terms = self._reader.terms if self._reader is not None else None
        if terms is None or not self.interpreter.can_reply:
            return
        if not (terms.supports_confirmation_reply is True or terms.supports_clarification_reply is True):
            self._print_line(f"{self._phrases['no_answers']} {self._phrases['prompts-shown']}")
            self._disable_replies()

    def _disable_replies(self) -> None:
        self.interpreter.can_reply = False
        self._set_preferences(msgspec.structs.replace(self.preferences, keys={}))

    def _handle_end(self, error: Exception | None) -> None:
        if error is not None and not isinstance(error, AaepError):
            raise error  # a bug, which must not be hidden
        now = self._clock()
        for announcement in self._presenter.flush():  # what was begun is all that will come of it
            self._enqueue(announcement, now)
        if error is not None:
            self._error = error
            if self._has_connected:
                self._print_line(self._phrases.format("connection-ended", reason=describe_error(error, self._phrases)))
        elif self._close_reason:
            self._print_line(self._close_reason)
        self._request_exit_after_speech(1 if error is not None else 0)

    def _handle_event(self, event: Envelope) -> None:
        """Print the announcements of an event."""
        if self._final_status is not None:
            return
        self._has_connected = True
        self._has_reported_unread = False
        now = self._clock()
        if self._session_id and event.session_id != self._session_id:
            self._handle_other_session(event)
            return
        if self._on_event is not None:
            self._on_event(event)
        for announcement in self._presenter.present(event, now):
            self._enqueue(announcement, now)
        if CORE_EVENTS.get(event.type) in TERMINAL:
            if self._on_session_end is not None:
                self._on_session_end()
            if self._once:
                self._request_exit_after_speech(0)

    def _handle_other_session(self, event: Envelope) -> None:
        """Say that another session asks something; everything else of it is left out (SEC-009)."""
        if CORE_EVENTS.get(event.type) in (AwaitingConfirmation, AwaitingClarification):
            self._print_line(self._phrases["other_session"])
            self._perform_intents(self.interpreter.prompt_mentioned(""))

    def _enqueue(self, announcement: Announcement, now: float) -> None:
        self._update_focus()
        actions = self._queue.push(announcement, now)
        # Before another prompt is printed: keys for one that was closed must not count for that one.
        intents = self._close_prompts(announcement, now)
        self._perform_actions(actions, now, intents)

    def _update_focus(self) -> None:
        self._queue.focused_token = (
            self.interpreter.current_prompt.prompt if self.interpreter.current_prompt is not None else ""
        )

    def _close_prompts(self, announcement: Announcement, now: float) -> list[Intent]:
        """Void the keys of prompts that an announcement closed; return what to print after it."""
        tokens_before = self._open_tokens
        self._open_tokens = {prompt.prompt for prompt in self._queue.prompts}
        intents: list[Intent] = []
        for token in tokens_before - self._open_tokens:
            if announcement.replaces == token:  # which goes on
                continue
            if announcement.prompt != token:  # otherwise the announcement itself is the outcome
                intents.append(PrintLine(self._phrases["outcome-other"]))
            intents += self.interpreter.prompt_closed(token, now)
        return intents

    def _perform_actions(self, actions: list[SpeechAction], now: float, intents: list[Intent] | None = None) -> None:
        """
        Print and present what the queue speaks, and perform intents after the first of it.

        Without an output that takes its time, each utterance ends at once.
        """
        pending_intents = intents or []
        while actions:
            begun: Speak | None = None
            for action in actions:
                if isinstance(action, Stop):
                    self._stop_utterance(action.utterance_id)
                else:
                    self._begin_utterance(action, now)
                    begun = action
            self._perform_intents(pending_intents)
            pending_intents = []
            has_ended = begun is not None and self._pacer.utterance is None
            actions = self._queue.utterance_finished(now, begun.utterance_id) if begun is not None and has_ended else []
        self._perform_intents(pending_intents)

    def _print_speech(self, utterance: Speak, now: float) -> Speak:
        """Print an utterance, and return it as it is to be presented on other outputs."""
        announcement = utterance.announcement
        label = self._session_label(announcement)
        open_tokens = {prompt.prompt for prompt in self._queue.prompts}
        is_open_prompt = announcement.asks and announcement.prompt in open_tokens
        # Only in full: a countdown must not direct the keys to another prompt.
        shows_prompt = is_open_prompt and utterance.text.endswith(announcement.text)
        text = utterance.text
        # The same prompt with more time is the one that is being answered.
        answers_other = self.interpreter.is_answering_other(announcement.replaces or announcement.prompt)
        if shows_prompt and answers_other:
            text = f"{label}{self.interpreter.waiting_text()}"
            self._print_waiting(announcement, text, now)
            return msgspec.structs.replace(utterance, text=text)
        if shows_prompt and announcement.cut and self.interpreter.has_heard_all(announcement.prompt):
            prefix = text.removesuffix(announcement.text)
            announcement = self._announce_again(announcement, announcement.timeout)
            text = prefix + announcement.text
        earcon = choose_earcon(announcement) if shows_prompt or not announcement.asks else None
        self._ring(earcon)
        with self._without_typeahead(shows_prompt):
            if self._on_announcement is not None:
                self._on_announcement(announcement, f"{label}{text}")
            elif self._on_event is None:
                attention = self._phrases.format("attention", text="") if announcement.interrupts else ""
                is_quoted = announcement.quoted and text.endswith(announcement.text)
                own_words = text.removesuffix(announcement.text) if is_quoted else ""
                self._printer.print_lines(
                    text.removeprefix(own_words), f"{attention}{label}{own_words}", quoted=is_quoted
                )
            is_unprinted_countdown = announcement.asks and self._on_event
            if announcement.prompt and not shows_prompt and not is_unprinted_countdown:
                self._perform_intents(self.interpreter.prompt_mentioned(announcement.prompt))
            if shows_prompt:
                if self._on_event is not None:  # which gets the event as a whole
                    announcement = msgspec.structs.replace(announcement, keys=announcement.detail_keys)
                # From after it was printed: what is typed meanwhile was typed before it could be read.
                is_heard = not self._pacer.has_paced
                self._spoken_prompt = None if is_heard else announcement
                self._perform_intents(self.interpreter.prompt_shown(announcement, self._clock(), is_heard=is_heard))
        self._reprint_draft()
        return msgspec.structs.replace(utterance, text=f"{label}{text}", announcement=announcement, earcon=earcon or "")

    def _ring(self, earcon: Earcon | None) -> None:
        if earcon in self._earcons:
            self._printer.ring()
        if earcon is not None and self._on_earcon is not None:
            self._on_earcon(earcon)

    def _print_waiting(self, announcement: Announcement, text: str, now: float) -> None:
        """Print that a prompt waits while another one is being answered, which keeps the keys."""
        self._ring("needs-you")
        # What it asks is heard on demand. A whole event was given to on_event, and can be accepted then.
        keys = () if self._on_event is None else announcement.detail_keys
        if self._on_announcement is not None:
            self._on_announcement(announcement, text)
        else:
            # It is presented as an utterance.
            self._printer.print_line(self._phrases.format("attention", text=text))
        self._perform_intents(self.interpreter.prompt_waiting(msgspec.structs.replace(announcement, keys=keys), now))
        self._reprint_draft()

    def _session_label(self, announcement: Announcement) -> str:
        """Return the agent's name where it is not obvious, as at a hub, and the announcement has no name yet."""
        is_named = bool(announcement.background.session_name)
        if is_named or not (announcement.asks or isinstance(announcement.event, SessionStarted)):
            return ""
        name = self._other_agent_name(announcement.event)
        return f"{name}. " if name else ""

    def _other_agent_name(self, event: Envelope) -> str:
        """Return the name of an event's agent if it is not the connected producer itself, as at a hub."""
        producer = self._reader.producer if self._reader is not None else None
        if producer is None or producer.agent_id == event.producer.agent_id or isinstance(event, OutputStreaming):
            return ""  # an output names its agent itself
        return guard_name(get_member(event.producer, "agent_name") or event.producer.agent_id, phrases=self._phrases)

    @contextlib.contextmanager
    def _without_typeahead(self, enabled: bool = True) -> Iterator[None]:
        """
        Discard what was typed before the lines printed in the block, as it cannot be an answer to them.

        Keys are discarded after printing, which takes time. Lines are discarded before it: a program writes as
        soon as it has read, and must not lose a quick answer.
        """
        if enabled and self._input_source.is_line_based:
            self._discard_typeahead()
        yield
        if enabled and not self._input_source.is_line_based:
            self._discard_typeahead()

    def _discard_typeahead(self) -> None:
        if self.interpreter.draft is not None:
            return
        if self._input_source.discard() or self._discards_lines:
            self._print_line(self._phrases["typed_before"])

    def _reprint_draft(self) -> None:
        """Show the answer as typed so far again, after something was printed in between."""
        if self.interpreter.draft:
            self._printer.echo(self._phrases.format("draft", text=self.interpreter.draft))

    # -- other outputs ---------------------------------------------------------------------

    def _open_outputs(self) -> None:
        for output in [*self._pacer.outputs]:
            try:
                output.open(lambda event, output=output: self._call_soon(partial(self._handle_output, output, event)))  # type: ignore[misc]  # mypy cannot infer a default
            except AaepError as error:
                self._pacer.remove(output)
                self._print_line(str(error))

    def _handle_output(self, output: Output, event: OutputEvent) -> None:
        """Handle what an output reports."""
        if isinstance(event, Finished):
            ended = self._pacer.finish(output, event.utterance_id)
            if ended is not None:
                self._finish_utterance(ended)
        elif isinstance(event, KeyPressed):
            with self._answering_key():
                self._perform_intents(self.interpreter.press([event.key], self._clock()))
        elif isinstance(event, PromptAnswered):
            self._handle_answer(event)
        else:
            self._print_line(event.text)

    def _handle_answer(self, answer: PromptAnswered) -> None:
        """Send what was decided on an output; what needs a second key is not accepted there."""
        prompt = next((prompt for prompt in self._queue.prompts if prompt.prompt == answer.prompt), None)
        if prompt is None:
            self._print_line(self._phrases["outcome-other"])
        elif answer.decision == "reject":
            self._send_decision(Reject(prompt))
        elif prompt.careful or prompt.cut:
            self._print_line(self._phrases["notification-answer"])
        else:
            self._send_decision(Accept(prompt))

    def _begin_utterance(self, utterance: Speak, now: float) -> None:
        self._spoken_prompt = None
        if not utterance.is_own:
            utterance = self._print_speech(utterance, now)
        elif utterance.announcement.asks and self._pacer.has_paced:
            self._spoken_prompt = utterance.announcement
        self._update_prompts()
        self._utterance_began_at = self._clock()
        self._pacer.present(utterance, now)

    def _update_prompts(self) -> None:
        """Tell outputs that keep a prompt in view which prompts are open now."""
        current = self.interpreter.current_prompt
        open_tokens = frozenset(prompt.prompt for prompt in self._queue.prompts)
        self._pacer.update_prompts(open_tokens, current.prompt if current is not None else "")
        self._pacer.update_draft(self.interpreter.draft or "")

    def _stop_utterance(self, utterance_id: int) -> None:
        self._pacer.stop(utterance_id)
        if self._spoken_prompt is not None:
            self.interpreter.prompt_silenced(self._spoken_prompt, self._clock())
        self._spoken_prompt = None

    def _finish_utterance(self, utterance: Speak) -> None:
        """Go on after an utterance: a prompt that was spoken can be answered, and the next utterance begins."""
        now = self._clock()
        if self._utterance_began_at is not None:
            self._flow.meter.note(utterance.text, now - self._utterance_began_at)
        prompt = self._spoken_prompt
        self._spoken_prompt = None
        if prompt is not None:
            self._perform_intents(self.interpreter.prompt_heard(prompt, now))
        self._perform_actions(self._queue.utterance_finished(now, utterance.utterance_id), now)

    def _print_line(self, text: str, earcon: Earcon | Literal[""] = "") -> None:
        """Print a line of the reader itself, and have it spoken."""
        self._printer.print_line(text)
        if self._pacer.outputs:
            self._unsaid_lines.append((text, self._is_answering_key, earcon))

    def _say_lines(self) -> None:
        """Speak the lines that were printed meanwhile."""
        lines = self._unsaid_lines
        self._unsaid_lines = []
        now = self._clock()
        for text, is_answer, earcon in lines:
            self._perform_actions(
                self._queue.say(announce_line(text, self._phrases.language), now, urgent=is_answer, earcon=earcon), now
            )

    @contextlib.contextmanager
    def _answering_key(self) -> Iterator[None]:
        """Have the lines that are printed in the block spoken at once: a key was pressed."""
        self._is_answering_key = True
        try:
            yield
        finally:
            self._is_answering_key = False

    def _switch_pause(self, now: float) -> None:
        if self._pacer.is_paused:
            self._pacer.resume(now)
        elif self._pacer.utterance is not None and self._pacer.adjustable:
            self._pacer.pause()
            self._utterance_began_at = None
            self._printer.print_line(self._phrases["speech-paused"])
        else:
            self._print_line(self._phrases["speech-nothing"])

    @property
    def _measures_flow(self) -> bool:
        """Whether speech can fall behind: it takes its time, and is not held by the person."""
        return self._pacer.has_paced and not self._pacer.is_paused and self._final_status is None

    def _watch_flow(self, now: float) -> None:
        """Tell the person once that speech has fallen behind, and have agents slow down until it has caught up."""
        change = self._flow.update(self._queue.measure_backlog(), now) if self._measures_flow else None
        if change is None:
            return
        if not isinstance(change, FellBehind):
            self._restore_flow()
            return
        duration = self._phrases.format_time_left(change.seconds)
        way = "line" if self._input_source.is_line_based else "key"
        line = self._phrases.format(f"behind-{way}", duration=duration)
        self._printer.print_line(line)
        self._perform_actions(self._queue.say_behind(announce_line(line, self._phrases.language), now), now)
        verbosity = self.preferences.verbosity
        terms = self._flow.choose_terms(
            limit=self._usual_terms.max_events_per_second, verbosity=verbosity if self._may_say_less else None
        )
        changes = TermsChanges(
            max_events_per_second=terms.max_events_per_second, boundaries=terms.boundaries, pace_wpm=terms.pace_wpm
        )
        if terms.verbosity is not None and terms.verbosity != verbosity:
            self._verbosity_before = verbosity
            self._set_preferences(msgspec.structs.replace(self.preferences, verbosity=terms.verbosity))
            changes["verbosity"] = terms.verbosity
        self._renegotiate_flow(changes)

    def _restore_flow(self) -> None:
        """Ask agents to go on as before; the pace that was measured is still true."""
        usual = self._usual_terms
        changes = TermsChanges(
            max_events_per_second=usual.max_events_per_second or NO_LIMIT, boundaries=usual.boundaries
        )
        if self._verbosity_before is not None:
            self._set_preferences(msgspec.structs.replace(self.preferences, verbosity=self._verbosity_before))
            changes["verbosity"] = self._verbosity_before
            self._verbosity_before = None
        self._renegotiate_flow(changes)

    def _renegotiate_flow(self, changes: TermsChanges) -> None:
        # Who cannot be asked goes on as before. The person did not ask for this and can do nothing about it.
        self._sender.send(lambda reader: reader.renegotiate(**changes), lambda _: None, lambda _: None)

    def _skip_to_now(self, now: float) -> None:
        count, actions = self._queue.skip_to_now(now)
        if not count:
            self._print_line(self._phrases["behind-nothing"])
        self._perform_actions(actions, now)

    def _change_rate(self, steps: int) -> None:
        rates = [output.change_rate(steps) for output in self._pacer.adjustable]
        self._print_line(
            self._phrases.format("speech-rate", count=rates[0]) if rates else self._phrases["speech-nothing"]
        )

    # -- input -----------------------------------------------------------------------------

    def _handle_input(self) -> None:
        keys_or_lines = self._input_source.read(self._clock())
        if not self._input_source.is_line_based:
            if keys_or_lines:
                self._perform_intents(self.interpreter.press(keys_or_lines, self._clock()))
            return
        for number, line in enumerate(keys_or_lines, start=1):
            intents = self.interpreter.enter_line(line, self._clock())
            discards_rest = any(isinstance(intent, PrintLine) and intent.discard_typeahead for intent in intents)
            self._discards_lines = discards_rest and number < len(keys_or_lines)
            self._perform_intents(intents)
            self._discards_lines = False
            if self._exit_status is not None or discards_rest:
                break  # the lines after it were written before this was read
        if self._input_source.fileno() is None:
            self._handle_input_end()

    def _handle_input_end(self) -> None:
        """Turn replies off at the end of the input."""
        if self.interpreter.is_leaving:
            self._request_exit(0)
            return
        self._print_line(f"{self._phrases['input-ended']} {self._phrases['prompts-shown']}")
        if self._on_input_end is not None:
            self._on_input_end()
        if self.interpreter.can_reply:
            self._disable_replies()
            self._send(lambda reader: reader.renegotiate(replies=False))  # CF-035: the producer must not wait for us

    def _perform_intents(self, intents: list[Intent]) -> None:
        for intent in intents:
            if isinstance(intent, PrintLine):
                with self._without_typeahead(intent.discard_typeahead):
                    self._print_line(intent.text)
            elif isinstance(intent, Echo):
                self._printer.echo(intent.text)
            elif isinstance(intent, RunCommand):
                self._run_command(intent.command)
            elif isinstance(intent, SendRequest):
                if self._on_request is not None:
                    self._on_request(intent.text)
            elif isinstance(intent, RefuseAndQuit):
                self._refuse_and_quit(intent.prompts)
            else:
                self._send_decision(intent)

    def _run_command(self, command: Command) -> None:
        now = self._clock()
        is_second_repeat = command == self._last_command == "repeat"
        self._last_command = "" if is_second_repeat else command
        if command == "quit":
            self._request_exit(0)
        elif command == "help":
            self._print_line(self.interpreter.help_text())
        elif command == "verbosity":
            self._change_verbosity(_NEXT_VERBOSITY[self.preferences.verbosity])
        elif command == "silence":
            self._perform_actions(self._queue.silence(now), now)
        elif command == "pause":
            self._switch_pause(now)
        elif command == "skip":
            self._skip_to_now(now)
        elif command in ("faster", "slower"):
            self._change_rate(1 if command == "faster" else -1)
        elif command == "quiet":
            self._switch_do_not_disturb(now)
        elif command in ("back", "forward"):
            actions = self._queue.go_back(now) if command == "back" else self._queue.go_forward(now)
            if not actions:
                self._print_line(self._phrases["nothing_before" if command == "back" else "nothing_after"])
            self._perform_actions(actions, now)
        elif command == "next":
            if self.interpreter.next_prompt is not None:
                self._reprint_prompt(self.interpreter.next_prompt, now)
        elif self.interpreter.current_prompt is not None:  # an open prompt comes before anything said since
            self._reprint_prompt(
                self.interpreter.current_prompt, now, goes_on=command == "more", is_whole=is_second_repeat
            )
        else:
            actions = self._queue.speak_detail(now) if command == "more" else self._queue.repeat(now)
            if not actions:
                self._print_line(self._phrases["nothing_said"])
            self._perform_actions(actions, now)

    def _switch_do_not_disturb(self, now: float) -> None:
        if not self._queue.is_do_not_disturb:
            self._print_line(self._phrases["quiet-begin"])
            self._perform_actions(self._queue.begin_do_not_disturb(now), now)
            return
        count = self._queue.end_do_not_disturb()
        hint = self._phrases[f"quiet-hear-{'line' if self._input_source.is_line_based else 'key'}"] if count else ""
        self._print_line(f"{self._phrases.format('quiet-end', count=count)} {hint}".rstrip())

    def _reprint_prompt(
        self, prompt: Announcement, now: float, *, goes_on: bool = False, is_whole: bool = False
    ) -> None:
        """
        Print a prompt again with the time that is left, shortened or as a whole, or go on where it was cut.

        With its rest it was printed in full, and can be accepted from then on (C-22).
        """
        announcement = self._announce_again(prompt, self.interpreter.seconds_left(prompt, now))
        if goes_on or is_whole:
            text = announcement.detail if is_whole else announcement.rest or announcement.detail
            announcement = msgspec.structs.replace(announcement, text=text, keys=announcement.detail_keys)
        is_heard = not self._pacer.has_paced
        label = self._session_label(announcement)
        with self._without_typeahead():
            self._printer.print_lines(announcement.text, label)
            self._perform_intents(self.interpreter.prompt_shown(announcement, self._clock(), is_heard=is_heard))
        if self._pacer.outputs:
            spoken = msgspec.structs.replace(announcement, text=f"{label}{announcement.text}")
            self._perform_actions(self._queue.say_now(spoken, now), now)

    def _announce_again(self, prompt: Announcement, seconds_left: float) -> Announcement:
        """Return a prompt as it is told now; it can be accepted if it was heard in full, though it may be shortened."""
        is_heard = self.interpreter.has_heard_all(prompt.prompt)
        announcement = announce(
            prompt.event, self.preferences, remaining=seconds_left, heard=is_heard, background=prompt.background
        )
        return announcement or prompt

    def _change_verbosity(self, verbosity: Verbosity) -> None:
        self._verbosity_before = None  # what the person chooses stays
        self._set_preferences(msgspec.structs.replace(self.preferences, verbosity=verbosity))
        self._print_line(self._phrases.format("verbosity", verbosity=verbosity))
        self._send(lambda reader: reader.renegotiate(verbosity=verbosity))

    def _set_preferences(self, preferences: Preferences) -> None:
        self.preferences = preferences
        self._queue.preferences = preferences
        self._presenter.preferences = preferences

    # -- sending ---------------------------------------------------------------------------

    def _send_decision(self, intent: Accept | Reject | SendAnswer | RequestTime) -> None:
        """Send a decision and print that it is being sent; its outcome arrives as an event."""
        prompt = intent.prompt
        event = prompt.event
        reference = self._prompt_reference(prompt)
        self._ring("sent")
        if isinstance(intent, RequestTime):
            duration = self._phrases.format_time_left(intent.seconds)
            self._print_line(f"{self._phrases.format('asking_time', duration=duration)}{reference}", "sent")
            self._send(
                lambda reader: choose_reader(reader, event).renegotiate(minimum_timeout=intent.seconds),
                prompt,
                self._check_granted_time,
            )
        elif isinstance(intent, Accept):
            self._presenter.note_answer(prompt.prompt, "accepted")
            self._print_line(f"{self._phrases['sending-accept']}{reference}", "sent")
            self._send(lambda reader: reader.accept(event), prompt)
        elif isinstance(intent, Reject):
            self._presenter.note_answer(prompt.prompt, "rejected")
            self._print_line(f"{self._phrases['sending-reject']}{reference}", "sent")
            self._send(lambda reader: reader.reject(event), prompt)
        else:
            self._presenter.note_answer(prompt.prompt, "answered")
            self._print_line(self._phrases.format("sending", answer=intent.display_text), "sent")
            if reference:  # on a line of its own, or it could be mistaken for a part of the answer
                self._print_line(reference)
            self._send(lambda reader: reader.answer(event, intent.response), prompt)

    def _refuse_and_quit(self, prompts: tuple[Announcement, ...]) -> None:
        """Refuse prompts, and quit once that is sent; if it cannot be, the person is told and stays."""
        self._refusals_before_exit = {prompt.prompt for prompt in prompts}
        for prompt in prompts:
            self._refuse_before_exit(prompt)

    def _refuse_before_exit(self, prompt: Announcement) -> None:
        event = prompt.event
        self._print_line(f"{self._phrases['sending-reject']}{self._prompt_reference(prompt)}")
        self._send(lambda reader: reader.reject(event), prompt, lambda _value: self._handle_refused(prompt.prompt))

    def _handle_refused(self, token: str) -> None:
        if self._refusals_before_exit is not None:
            self._refusals_before_exit.discard(token)
            if not self._refusals_before_exit:
                self._request_exit(0)

    def _prompt_reference(self, prompt: Announcement) -> str:
        """Return a sentence that names a prompt if several are open."""
        if len(self._open_tokens) <= 1 or not prompt.about:
            return ""
        about = truncate_with_notice(prompt.about, MAX_PROMPT_NAME_LENGTH, self._phrases)
        return f" {self._phrases.format('about', action=about)}"

    def _check_granted_time(self, terms: Capabilities | None) -> None:
        """Say so if no time was granted; otherwise a producer with our extension asks again. CF-028"""
        attend_members = terms.unknown.get(PREFIX) if terms is not None else None
        if not (isinstance(attend_members, dict) and "minimum_timeout_seconds" in attend_members):
            self._print_line(self._phrases["no_time"])

    def _send(
        self,
        call: Callable[[Reader], Waitable[Any]],
        prompt: Announcement | None = None,
        on_success: Callable[[Any], None] = lambda value: None,
    ) -> None:
        lane = find_lane(self._reader, prompt.event) if prompt is not None else ""
        self._sender.send(call, on_success, lambda reason: self._handle_send_failure(reason, prompt), lane=lane)

    def _handle_send_failure(self, reason: str, prompt: Announcement | None) -> None:
        self._refusals_before_exit = None
        self._print_line(self._phrases.format("unsent", reason=reason))
        if prompt is not None:
            self._presenter.forget_answer(prompt.prompt)
        if prompt is not None and prompt.prompt not in self._open_tokens:
            self._perform_intents(self.interpreter.prompt_mentioned(prompt.prompt))
        elif prompt is not None:
            with self._without_typeahead():
                self._print_line(f"{self._phrases['still_open']}{self._prompt_reference(prompt)}")
                self._perform_intents(self.interpreter.send_failed(prompt, self._clock()))
