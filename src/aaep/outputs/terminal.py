"""
A plain terminal: whole sentences, one on each line, and keys to answer with.

Lines are only ever added, nothing is overwritten, and colour carries no meaning,
so that a screen reader, a braille display and a log read the same. The loop here
waits for three things at once: the stream, the person's input, and time.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Literal

import msgspec

from ..errors import AaepError
from ..presentation.announce import Announcement, announce
from ..presentation.earcons import Earcon, choose_earcon
from ..presentation.preferences import DEFAULT_PREFERENCES, Preferences
from ..presentation.presenter import Presenter
from ..presentation.queue import MAX_PROMPT_NAME_LENGTH, Queue, Speak, SpeechAction
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
from ..subscriber.status import Status
from ..text.imitation import guard_name
from ..text.languages import describe_language
from ..text.phrases import find_phrases, truncate_with_notice
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
)
from .interpreter import InputInterpreter
from .printer import LinePrinter
from .sender import Reader, Sender, describe_error
from .signals import handle_signals
from .stdin import InputSource, NoInput

__all__ = ["Terminal"]

CLOSE_TIMEOUT: Final = 1.5  # seconds
_NEXT_VERBOSITY: Final[Mapping[Verbosity, Verbosity]] = {"terse": "normal", "normal": "detailed", "detailed": "terse"}


class Terminal:
    """
    A terminal at which one person listens to one producer and answers its prompts.

    ``connect`` returns a reader of the stream, which reports the status of the
    connection to the callback it is given. ``on_event`` is called with every
    event, and then only what is not an event is printed; ``on_announcement`` is
    called with the announcements that would be printed otherwise. The bell is rung for what ``earcons`` names.
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
        on_event: Callable[[Envelope], None] | None = None,
        on_announcement: Callable[[Announcement, str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._phrases = preferences.phrases
        self.interpreter = InputInterpreter(lines=input_source.is_line_based, replies=replies, phrases=self._phrases)
        self.preferences = msgspec.structs.replace(
            preferences, lines=input_source.is_line_based, keys=preferences.keys if replies else {}
        )
        self._connect = connect
        self._input_source = input_source
        self._printer = printer
        self._session_id = session_id
        self._once = once
        self._earcons = earcons
        self._on_event = on_event
        self._on_announcement = on_announcement
        self._clock = clock
        self._queue = Queue(self.preferences)
        self._queue.answered_tokens = self.interpreter.answered_prompts
        self._presenter = Presenter(self.preferences, can_answer=replies)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._sender = Sender(self._call_soon, self._handle_end, self._phrases)
        self._wakeup_receiver, self._wakeup_sender = socket.socketpair()
        self._reader: Reader | None = None
        self._has_connected = False
        self._is_connection_lost = False
        self._has_reported_unread = False
        self._close_reason = ""  # why the producer ended the subscription
        self._exit_status: int | None = None
        self._last_command: Command | Literal[""] = ""
        self._discards_lines = False  # lines that came with the one in hand are about to be dropped
        self._error: AaepError | None = None
        self._open_tokens: set[str] = set()  # reply tokens of the open prompts
        self._refusals_before_exit: set[str] | None = None  # tokens of what is refused, after which to quit

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
                self._greet()
                while self._exit_status is None:
                    self._run_once()
            finally:
                self._shut_down()
                self._wakeup_receiver.close()
                self._wakeup_sender.close()
        if self._error is not None and not self._has_connected:
            raise self._error
        return self._exit_status or 0

    def _greet(self) -> None:
        self._phrases.load()
        self._tell_missing_language()
        if isinstance(self._input_source, NoInput):
            self._printer.print_line(self._phrases["greeting-none"])
        elif not self._input_source.is_interactive:
            self._printer.print_line(self._phrases["greeting-pipe"])
        else:
            self._printer.print_line(
                self._phrases[f"greeting-{'lines' if self._input_source.is_line_based else 'keys'}"]
            )

    def _tell_missing_language(self) -> None:
        """Say once which language is spoken if none of the wanted ones is."""
        wanted = self.preferences.languages
        if wanted and find_phrases(wanted) is None:
            languages = self._phrases.join(describe_language(tag, self._phrases.language) for tag in wanted)
            self._printer.print_line(self._phrases.format("language-none", languages=languages))

    def _run_once(self) -> None:
        """Wait for input, a scheduled call or a deadline, and handle it."""
        input_fd = self._input_source.fileno()
        descriptors = [self._wakeup_receiver.fileno(), *([] if input_fd is None else [input_fd])]
        ready = select.select(descriptors, [], [], self._select_timeout())[0]
        # Input first: it was typed before what is printed now.
        if input_fd in ready:
            self._handle_input()
        with contextlib.suppress(BlockingIOError):  # something else woke the loop
            self._wakeup_receiver.recv(4096)
        for _ in range(self._inbox.qsize()):  # later calls wait, so that a flood of events does not block input
            if self._exit_status is None:
                self._inbox.get()()
        if self._exit_status is None:
            self._advance()

    def _select_timeout(self) -> float | None:
        if not self._inbox.empty():
            return 0.0
        now = self._clock()
        deadlines = [
            self._queue.next_deadline(now),
            self._presenter.next_deadline(now),
            self.interpreter.next_deadline,
        ]
        earliest = min((deadline for deadline in deadlines if deadline is not None), default=None)
        return None if earliest is None else max(0.0, earliest - now)

    def _advance(self) -> None:
        now = self._clock()
        for announcement in self._presenter.advance(now):
            self._enqueue(announcement, now)
        self._perform_actions(self._queue.advance(now), now)
        intents = self.interpreter.advance(now)
        self._perform_intents(intents)
        if intents:  # a prompt was closed, and another may be open
            self._update_focus()
            self._perform_actions(self._queue.remind(now), now)

    def _shut_down(self) -> None:
        """Close the subscription, without waiting long for the producer."""
        self._sender.stop()
        if self._error is None or self._has_connected:  # otherwise run() raises the error
            with contextlib.suppress(OSError):  # the output may be closed
                self._printer.print_line(f"{self._phrases['goodbye']} {self._describe_unanswered()}".rstrip())
        reader = self._reader
        if reader is not None:
            thread = threading.Thread(target=self._close_reader, args=(reader,), name="aaep-close", daemon=True)
            thread.start()
            thread.join(CLOSE_TIMEOUT)

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
        self._call_soon(lambda: self._request_exit(status))

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
            self._printer.print_line(
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
            self._printer.print_line(text)
            self._printer.print_line(self._phrases["waiting"])
        elif status.kind == "unread" and not self._has_reported_unread:
            self._has_reported_unread = True  # one line for several in a row
            self._printer.print_line(self._phrases.format("attention", text=status.text))
        elif status.kind == "ended":
            self._close_reason = status.text

    def _check_terms(self) -> None:
        """Turn replies off if the producer does not take them. SUB-033"""
        terms = self._reader.terms if self._reader is not None else None
        if terms is None or not self.interpreter.can_reply:
            return
        if not (terms.supports_confirmation_reply is True or terms.supports_clarification_reply is True):
            self._printer.print_line(f"{self._phrases['no_answers']} {self._phrases['prompts-shown']}")
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
                self._printer.print_line(
                    self._phrases.format("connection-ended", reason=describe_error(error, self._phrases))
                )
        elif self._close_reason:
            self._printer.print_line(self._close_reason)
        self._request_exit(1 if error is not None else 0)

    def _handle_event(self, event: Envelope) -> None:
        """Print the announcements of an event."""
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
        if self._once and CORE_EVENTS.get(event.type) in TERMINAL:
            self._request_exit(0)

    def _handle_other_session(self, event: Envelope) -> None:
        """Say that another session asks something; everything else of it is left out (SEC-009)."""
        if CORE_EVENTS.get(event.type) in (AwaitingConfirmation, AwaitingClarification):
            self._printer.print_line(self._phrases["other_session"])
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
        """Print what the queue speaks, each utterance ending at once, and perform intents after the first of it."""
        pending_intents = intents or []
        while actions:
            utterances = [action for action in actions if isinstance(action, Speak)]
            for utterance in utterances:
                self._print_speech(utterance, now)
            self._perform_intents(pending_intents)
            pending_intents = []
            actions = self._queue.utterance_finished(now, utterances[-1].utterance_id) if utterances else []
        self._perform_intents(pending_intents)

    def _print_speech(self, utterance: Speak, now: float) -> None:
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
            self._print_waiting(announcement, f"{label}{self.interpreter.waiting_text()}", now)
            return
        if shows_prompt and announcement.cut and self.interpreter.has_heard_all(announcement.prompt):
            prefix = text.removesuffix(announcement.text)
            announcement = self._announce_again(announcement, announcement.timeout)
            text = prefix + announcement.text
        if self._earcons and (shows_prompt or not announcement.asks):
            self._ring(choose_earcon(announcement))
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
                self._perform_intents(self.interpreter.prompt_shown(announcement, self._clock()))
        self._reprint_draft()

    def _ring(self, earcon: Earcon | None) -> None:
        if earcon in self._earcons:
            self._printer.ring()

    def _print_waiting(self, announcement: Announcement, text: str, now: float) -> None:
        """Print that a prompt waits while another one is being answered, which keeps the keys."""
        self._ring("needs-you")
        # What it asks is heard on demand. A whole event was given to on_event, and can be accepted then.
        keys = () if self._on_event is None else announcement.detail_keys
        if self._on_announcement is not None:
            self._on_announcement(announcement, text)
        else:
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
            self._printer.print_line(self._phrases["typed_before"])

    def _reprint_draft(self) -> None:
        """Show the answer as typed so far again, after something was printed in between."""
        if self.interpreter.draft:
            self._printer.echo(self._phrases.format("draft", text=self.interpreter.draft))

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
        self._printer.print_line(f"{self._phrases['input-ended']} {self._phrases['prompts-shown']}")
        if self.interpreter.can_reply:
            self._disable_replies()
            self._send(lambda reader: reader.renegotiate(replies=False))  # CF-035: the producer must not wait for us

    def _perform_intents(self, intents: list[Intent]) -> None:
        for intent in intents:
            if isinstance(intent, PrintLine):
                with self._without_typeahead(intent.discard_typeahead):
                    self._printer.print_line(intent.text)
            elif isinstance(intent, Echo):
                self._printer.echo(intent.text)
            elif isinstance(intent, RunCommand):
                self._run_command(intent.command)
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
            self._printer.print_line(self.interpreter.help_text())
        elif command == "verbosity":
            self._change_verbosity(_NEXT_VERBOSITY[self.preferences.verbosity])
        elif command == "quiet":
            self._switch_do_not_disturb(now)
        elif command in ("back", "forward"):
            actions = self._queue.go_back(now) if command == "back" else self._queue.go_forward(now)
            if not actions:
                self._printer.print_line(self._phrases["nothing_before" if command == "back" else "nothing_after"])
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
                self._printer.print_line(self._phrases["nothing_said"])
            self._perform_actions(actions, now)

    def _switch_do_not_disturb(self, now: float) -> None:
        if not self._queue.is_do_not_disturb:
            self._printer.print_line(self._phrases["quiet-begin"])
            self._perform_actions(self._queue.begin_do_not_disturb(now), now)
            return
        count = self._queue.end_do_not_disturb()
        hint = self._phrases[f"quiet-hear-{'line' if self._input_source.is_line_based else 'key'}"] if count else ""
        self._printer.print_line(f"{self._phrases.format('quiet-end', count=count)} {hint}".rstrip())

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
        with self._without_typeahead():
            self._printer.print_lines(announcement.text, self._session_label(announcement))
            self._perform_intents(self.interpreter.prompt_shown(announcement, self._clock()))

    def _announce_again(self, prompt: Announcement, seconds_left: float) -> Announcement:
        """Return a prompt as it is told now; it can be accepted if it was heard in full, though it may be shortened."""
        is_heard = self.interpreter.has_heard_all(prompt.prompt)
        announcement = announce(
            prompt.event, self.preferences, remaining=seconds_left, heard=is_heard, background=prompt.background
        )
        return announcement or prompt

    def _change_verbosity(self, verbosity: Verbosity) -> None:
        self._set_preferences(msgspec.structs.replace(self.preferences, verbosity=verbosity))
        self._printer.print_line(self._phrases.format("verbosity", verbosity=verbosity))
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
            self._printer.print_line(f"{self._phrases.format('asking_time', duration=duration)}{reference}")
            self._send(
                lambda reader: reader.renegotiate(minimum_timeout=intent.seconds), prompt, self._check_granted_time
            )
        elif isinstance(intent, Accept):
            self._presenter.note_answer(prompt.prompt, "accepted")
            self._printer.print_line(f"{self._phrases['sending-accept']}{reference}")
            self._send(lambda reader: reader.accept(event), prompt)
        elif isinstance(intent, Reject):
            self._presenter.note_answer(prompt.prompt, "rejected")
            self._printer.print_line(f"{self._phrases['sending-reject']}{reference}")
            self._send(lambda reader: reader.reject(event), prompt)
        else:
            self._presenter.note_answer(prompt.prompt, "answered")
            self._printer.print_line(self._phrases.format("sending", answer=intent.display_text))
            if reference:  # on a line of its own, or it could be mistaken for a part of the answer
                self._printer.print_line(reference)
            self._send(lambda reader: reader.answer(event, intent.response), prompt)

    def _refuse_and_quit(self, prompts: tuple[Announcement, ...]) -> None:
        """Refuse prompts, and quit once that is sent; if it cannot be, the person is told and stays."""
        self._refusals_before_exit = {prompt.prompt for prompt in prompts}
        for prompt in prompts:
            self._refuse_before_exit(prompt)

    def _refuse_before_exit(self, prompt: Announcement) -> None:
        event = prompt.event
        self._printer.print_line(f"{self._phrases['sending-reject']}{self._prompt_reference(prompt)}")
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
            self._printer.print_line(self._phrases["no_time"])

    def _send(
        self,
        call: Callable[[Reader], Waitable[Any]],
        prompt: Announcement | None = None,
        on_success: Callable[[Any], None] = lambda value: None,
    ) -> None:
        self._sender.send(call, on_success, lambda reason: self._handle_send_failure(reason, prompt))

    def _handle_send_failure(self, reason: str, prompt: Announcement | None) -> None:
        self._refusals_before_exit = None
        self._printer.print_line(self._phrases.format("unsent", reason=reason))
        if prompt is not None:
            self._presenter.forget_answer(prompt.prompt)
        if prompt is not None and prompt.prompt not in self._open_tokens:
            self._perform_intents(self.interpreter.prompt_mentioned(prompt.prompt))
        elif prompt is not None:
            with self._without_typeahead():
                self._printer.print_line(f"{self._phrases['still_open']}{self._prompt_reference(prompt)}")
                self._perform_intents(self.interpreter.send_failed(prompt, self._clock()))
