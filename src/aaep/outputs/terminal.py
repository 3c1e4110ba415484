"""
A plain terminal: whole sentences, one on each line, and keys to answer with.

Lines are only ever added, nothing is drawn over, and no meaning is in a
colour, so that a screen reader, a braille display and a log read the same. The
loop here waits for three things at once: the stream, the person, and time.
"""

from __future__ import annotations

import contextlib
import select
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import CancelledError
from functools import partial
from queue import SimpleQueue
from types import FrameType
from typing import Any, Final, Protocol, TextIO, Unpack

import msgspec

from ..errors import AaepError, ProtocolError
from ..presentation.announce import Announcement, Outputs, announce
from ..presentation.preferences import DEFAULT_PREFERENCES, Preferences
from ..presentation.queue import MAX_PROMPT_NAME_LENGTH, Queue, Speak, SpeechAction
from ..protocol.attend_extension import PREFIX
from ..protocol.events import (
    CORE_EVENTS,
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    OutputStreaming,
    ProducerInfo,
    SessionStarted,
)
from ..protocol.fields import Verbosity, get_member
from ..protocol.messages import Capabilities
from ..runtime.background import Waitable
from ..subscriber.request import TermsChanges
from ..subscriber.status import Status
from ..text.phrases import PHRASES, format_duration, truncate_with_notice
from ..text.sanitize import sanitize, truncate
from ..transports.base import ChannelLost
from .keyboard import Accept, Echo, InputInterpreter, Intent, PrintLine, Reject, RequestTime, RunCommand, SendAnswer
from .stdin import InputSource, NoInput, detect_input

__all__ = [
    "InputSource",
    "LinePrinter",
    "NoInput",
    "Reader",
    "Sender",
    "Terminal",
    "describe_error",
    "detect_input",
    "handle_signals",
]

CLOSE_TIMEOUT: Final = 1.5  # seconds that taking leave may take
_NEXT_VERBOSITY: Final[Mapping[Verbosity, Verbosity]] = {"terse": "normal", "normal": "detailed", "detailed": "terse"}


class Terminal:
    """
    One person at one terminal, listening to one producer.

    ``connect`` makes a reader of the stream, which says through the callback it
    is given how the connection is. With ``record`` every event goes there, and
    only what is not an event is printed; so with ``announced``, but for what is said of it.
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
        on_event: Callable[[Envelope], None] | None = None,
        on_announcement: Callable[[Announcement, str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.interpreter = InputInterpreter(lines=input_source.is_line_based, replies=replies)
        self.preferences = msgspec.structs.replace(
            preferences, lines=input_source.is_line_based, keys=preferences.keys if replies else {}
        )
        self._connect, self._input_source, self._printer = connect, input_source, printer
        self._session_id, self._once, self._on_event, self._clock = session_id, once, on_event, clock
        self._on_announcement = on_announcement
        self._queue = Queue(self.preferences)
        self._queue.answered_tokens = self.interpreter.answered_prompts
        self._outputs = Outputs(self.preferences)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._sender = Sender(self._call_soon, self._handle_end)
        self._wakeup_receiver, self._wakeup_sender = socket.socketpair()
        self._reader: Reader | None = None
        self._has_connected = False
        self._is_connection_lost = self._has_reported_unread = False
        self._close_reason = ""  # why the producer ended it
        self._exit_status: int | None = None
        self._error: AaepError | None = None
        self._open_tokens: set[str] = set()  # tokens of the prompts that are open
        self._session_numbers: dict[str, int] = {}  # numbered as they came
        self._active_sessions: set[str] = set()

    # -- from beginning to end -------------------------------------------------------------

    def run(self) -> int:
        """
        Listen until the stream ends, the person quits, or a signal comes; the exit status.

        Raises what went wrong if there never was a connection.
        """
        self._wakeup_receiver.setblocking(False)
        self._wakeup_sender.setblocking(False)
        with (
            self._input_source,
            handle_signals(
                self._wakeup_sender.fileno(), self._handle_signal, lambda: self._call_soon(self._input_source.resume)
            ),
        ):
            for work in (self._read_events, self._sender.run):
                threading.Thread(target=work, name="aaep-listen", daemon=True).start()
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
        if isinstance(self._input_source, NoInput):
            self._printer.print_line("Not interactive: prompts will be shown and not answered.")
        elif not self._input_source.is_interactive:
            self._printer.print_line("Not interactive: commands are read from standard input, one on each line.")
        else:
            self._printer.print_line(
                "Write help and Enter for help." if self._input_source.is_line_based else "Press ? for help, q to quit."
            )

    def _run_once(self) -> None:
        """Wait for whatever comes first, and deal with it."""
        typed = self._input_source.fileno()
        waited = [self._wakeup_receiver.fileno(), *([] if typed is None else [typed])]
        ready = select.select(waited, [], [], self._select_timeout())[0]
        # What was typed comes first: it was typed before what is printed now.
        if typed in ready:
            self._handle_input()
        with contextlib.suppress(BlockingIOError):  # it was not this that woke us
            self._wakeup_receiver.recv(4096)
        for _ in range(self._inbox.qsize()):  # what comes meanwhile waits, so that a flood keeps no key from us
            if self._exit_status is None:
                self._inbox.get()()
        if self._exit_status is None:
            self._advance()

    def _select_timeout(self) -> float | None:
        if not self._inbox.empty():
            return 0.0
        now = self._clock()
        moments = [one for one in (self._queue.next_deadline(now), self.interpreter.next_deadline) if one is not None]
        return max(0.0, min(moments) - now) if moments else None

    def _advance(self) -> None:
        now = self._clock()
        self._perform_actions(self._queue.advance(now), now)
        told = self.interpreter.advance(now)
        self._perform_intents(told)
        if told:  # a prompt is closed, and perhaps another is open
            self._update_focus()
            self._perform_actions(self._queue.remind(now), now)

    def _shut_down(self) -> None:
        """Take leave of the producer, but not for long."""
        self._sender.stop()
        if self._error is None or self._has_connected:  # or nothing began, and whoever called says what went wrong
            with contextlib.suppress(OSError):  # nobody reads any more
                left = f" Prompts left open: {len(self._open_tokens)}." if self._open_tokens else ""
                self._printer.print_line(f"Stopped listening.{left}")
        reader = self._reader
        if reader is not None:
            closing = threading.Thread(target=self._close_reader, args=(reader,), name="aaep-close", daemon=True)
            closing.start()
            closing.join(CLOSE_TIMEOUT)

    @staticmethod
    def _close_reader(reader: Reader) -> None:
        with contextlib.suppress(AaepError, OSError):  # it is over anyway
            reader.close()

    def _handle_signal(self, status: int) -> None:
        self._call_soon(lambda: self._request_exit(status))

    def _request_exit(self, status: int) -> None:
        self._exit_status = status if self._exit_status is None else self._exit_status

    def _call_soon(self, call: Callable[[], None]) -> None:
        """Have the loop call something. From any thread, and from a signal."""
        self._inbox.put(call)
        with contextlib.suppress(OSError):  # full: it is awake anyway; closed: nobody listens any more
            self._wakeup_sender.send(b"\0")

    # -- the stream ------------------------------------------------------------------------

    def _read_events(self) -> None:
        """In a thread of its own: pass on what comes."""
        error: Exception | None = None
        try:
            self._reader = self._sender.reader = self._connect(
                lambda status: self._call_soon(lambda: self._handle_status(status))
            )
            for event in self._reader:
                self._call_soon(partial(self._handle_event, event))
        except Exception as problem:
            error = problem
        self._call_soon(partial(self._handle_end, error))

    def _handle_status(self, status: Status) -> None:
        """Say how the connection is, once for each change and not at every try."""
        if status.kind in ("connected", "resumed", "gap"):
            producer = self._reader.producer if self._reader is not None else None
            name = get_member(producer, "agent_name") or producer.agent_id if producer is not None else ""
            self._printer.print_line(f"Connected to {name}." if name and status.kind == "connected" else status.text)
            self._has_connected, self._is_connection_lost = True, False
            self._check_terms()
        elif status.kind == "waiting" and not self._is_connection_lost:
            self._is_connection_lost = True
            self._printer.print_line(f"The connection is lost. {status.text}" if self._has_connected else status.text)
            self._printer.print_line("Waiting. This goes on by itself.")
        elif status.kind == "unread" and not self._has_reported_unread:
            self._has_reported_unread = True  # one line for all that come in a row
            self._printer.print_line(f"Attention. {status.text}")
        elif status.kind == "ended":
            self._close_reason = status.text

    def _check_terms(self) -> None:
        """SUB-033: the producer need not let us answer."""
        terms = self._reader.terms if self._reader is not None else None
        if terms is None or not self.interpreter.can_reply:
            return
        if not (terms.supports_confirmation_reply is True or terms.supports_clarification_reply is True):
            self._printer.print_line(
                "The agent takes no answers from this reader. Prompts will be shown and not answered."
            )
            self._disable_replies()

    def _disable_replies(self) -> None:
        self.interpreter.can_reply = False
        self._set_preferences(msgspec.structs.replace(self.preferences, keys={}))

    def _handle_end(self, error: Exception | None) -> None:
        if error is not None and not isinstance(error, AaepError):
            raise error  # a mistake in the program, which must not end in silence
        if error is not None:
            self._error = error
            if self._has_connected:
                self._printer.print_line(f"The connection has ended for good. {describe_error(error)}")
        elif self._close_reason:
            self._printer.print_line(self._close_reason)
        self._request_exit(1 if error is not None else 0)

    def _handle_event(self, event: Envelope) -> None:
        """Say what there is to say about an event."""
        self._has_connected, self._has_reported_unread = True, False
        now = self._clock()
        if self._session_id and event.session_id != self._session_id:
            self._handle_other_session(event)
            return
        if self._on_event is not None:
            self._on_event(event)
        self._session_numbers.setdefault(event.session_id, len(self._session_numbers) + 1)
        self._active_sessions.add(event.session_id)
        for said in self._outputs.announce(event):
            self._enqueue(said, now)
        if CORE_EVENTS.get(event.type) in TERMINAL:
            self._active_sessions.discard(event.session_id)
            if self._once:
                self._request_exit(0)

    def _handle_other_session(self, event: Envelope) -> None:
        """What is not asked for is left out, but that somebody waits for an answer is not kept back (SEC-009)."""
        if CORE_EVENTS.get(event.type) in (AwaitingConfirmation, AwaitingClarification):
            self._printer.print_line(
                f"The session {event.session_id} asks something. Prompts of other sessions are not shown."
            )
            self._perform_intents(self.interpreter.prompt_mentioned(""))

    def _enqueue(self, said: Announcement, now: float) -> None:
        self._update_focus()
        actions = self._queue.push(said, now)
        # Before anything is printed: another prompt may be, and its keys must not meet those of one that ended.
        self._perform_actions(actions, now, self._close_prompts(said, now))

    def _update_focus(self) -> None:
        self._queue.focused_token = (
            self.interpreter.current_prompt.prompt if self.interpreter.current_prompt is not None else ""
        )

    def _close_prompts(self, said: Announcement, now: float) -> list[Intent]:
        """Void the keys of prompts that ended; what to say about it behind what ended them."""
        before, self._open_tokens = self._open_tokens, {prompt.prompt for prompt in self._queue.prompts}
        told: list[Intent] = []
        for token in before - self._open_tokens:
            if said.prompt != token:  # or what is said is its outcome
                told.append(PrintLine(PHRASES["outcome.other"]))
            told += self.interpreter.prompt_closed(token, now)
        return told

    def _perform_actions(self, actions: list[SpeechAction], now: float, behind: list[Intent] | None = None) -> None:
        """Print: a line is said as soon as it is there. ``behind`` the first of them something is told."""
        while actions:
            spoken = [one for one in actions if isinstance(one, Speak)]
            for one in spoken:
                self._print_speech(one, now)
            self._perform_intents(behind or [])
            behind = []
            actions = self._queue.utterance_finished(now, spoken[-1].utterance_id) if spoken else []
        self._perform_intents(behind or [])

    def _print_speech(self, one: Speak, now: float) -> None:
        said = one.announcement
        mark = "Attention. " if said.interrupts else ""
        label = self._session_label(said)
        waiting = {prompt.prompt for prompt in self._queue.prompts}
        # In full: merely how much time is left must not turn the keys to another prompt.
        asks = said.asks and said.prompt in waiting and one.text.endswith(said.text)
        with self._without_typeahead(asks):
            if self._on_announcement is not None:
                self._on_announcement(said, f"{label}{one.text}")
            elif self._on_event is None:
                self._printer.print_line(f"{mark}{label}{one.text}")
            if said.prompt and not asks and not (said.asks and self._on_event):  # a countdown is not recorded
                self._perform_intents(self.interpreter.prompt_mentioned(said.prompt))
            if asks:
                whole = self._on_event is not None  # of a recorded event all was printed
                self._perform_intents(
                    self.interpreter.prompt_shown(
                        msgspec.structs.replace(said, keys=said.detail_keys) if whole else said, now
                    )
                )
        self._reprint_draft()

    def _session_label(self, said: Announcement) -> str:
        """Which session it is about, if there are several, and whose it is where that is not plain."""
        several = len(self._active_sessions | {said.session_id}) > 1
        number = f"Session {self._session_numbers.get(said.session_id, 0)}" if several else ""
        begins = said.asks or isinstance(said.event, SessionStarted)
        label = ", ".join(filter(None, (number, self._other_agent_name(said.event) if several or begins else "")))
        return f"{label}. " if label else ""

    def _other_agent_name(self, event: Envelope) -> str:
        """The agent, where we are connected to another, such as a hub: who is asked has to know by whom."""
        producer = self._reader.producer if self._reader is not None else None
        if producer is None or producer.agent_id == event.producer.agent_id or isinstance(event, OutputStreaming):
            return ""  # an output says it
        return truncate(sanitize(get_member(event.producer, "agent_name") or event.producer.agent_id), 80)

    @contextlib.contextmanager
    def _without_typeahead(self, wanted: bool = True) -> Iterator[None]:
        """
        Around what is printed to be answered: what was typed before cannot be meant for it.

        A person's keys are forgotten after it was printed, which takes its time. A program writes when it has read,
        and is not to lose an answer that is quick.
        """
        if wanted and self._input_source.is_line_based:
            self._discard_typeahead()
        yield
        if wanted and not self._input_source.is_line_based:
            self._discard_typeahead()

    def _discard_typeahead(self) -> None:
        if self.interpreter.draft is None and self._input_source.discard():
            self._printer.print_line("What was typed before this line does not count.")

    def _reprint_draft(self) -> None:
        """Something was printed while the person was writing: what was written so far is shown again."""
        if self.interpreter.draft:
            self._printer.echo(f"You were writing: {self.interpreter.draft}")

    # -- the person ------------------------------------------------------------------------

    def _handle_input(self) -> None:
        came = self._input_source.read(self._clock())
        if came and not self._input_source.is_line_based:
            self._perform_intents(self.interpreter.press(came, self._clock()))
        for line in came if self._input_source.is_line_based else ():
            intents = self.interpreter.enter_line(line, self._clock())
            self._perform_intents(intents)
            if self._exit_status is not None or any(
                isinstance(one, PrintLine) and one.discard_typeahead for one in intents
            ):
                break  # the lines behind it were written before this was read
        if self._input_source.is_line_based and self._input_source.fileno() is None:
            self._handle_input_end()

    def _handle_input_end(self) -> None:
        """Nobody can answer any more."""
        self._printer.print_line("Standard input has ended. Listening goes on; prompts will be shown and not answered.")
        if self.interpreter.can_reply:
            self._disable_replies()
            self._send(lambda reader: reader.renegotiate(replies=False))  # CF-035: it is not to wait for us

    def _perform_intents(self, intents: list[Intent]) -> None:
        for one in intents:
            if isinstance(one, PrintLine):
                with self._without_typeahead(one.discard_typeahead):
                    self._printer.print_line(one.text)
            elif isinstance(one, Echo):
                self._printer.echo(one.text)
            elif isinstance(one, RunCommand):
                self._run_command(one)
            else:
                self._send_decision(one)

    def _run_command(self, one: RunCommand) -> None:
        now = self._clock()
        if one.command == "quit":
            self._request_exit(0)
        elif one.command == "help":
            self._printer.print_line(self.interpreter.help_text())
        elif one.command == "verbosity":
            self._change_verbosity(_NEXT_VERBOSITY[self.preferences.verbosity])
        elif one.command == "next":
            if self.interpreter.next_prompt is not None:
                self._reprint_prompt(self.interpreter.next_prompt, False, now)
        elif (
            self.interpreter.current_prompt is not None
        ):  # a prompt that is open is what matters, whatever was said since
            self._reprint_prompt(self.interpreter.current_prompt, one.command == "more", now)
        else:
            actions = self._queue.speak_detail(now) if one.command == "more" else self._queue.repeat(now)
            if not actions:
                self._printer.print_line("Nothing was said yet.")
            self._perform_actions(actions, now)

    def _reprint_prompt(self, prompt: Announcement, whole: bool, now: float) -> None:
        """Print a prompt again, with the time that is left; what was cut in full once that was asked for (C-22)."""
        said = announce(prompt.event, self.preferences, remaining=self.interpreter.seconds_left(prompt, now)) or prompt
        accept = self.preferences.keys.get("accept")
        if whole or (accept in dict(prompt.keys) and accept not in dict(said.keys)):
            said = msgspec.structs.replace(said, text=said.detail, keys=said.detail_keys)
        with self._without_typeahead():
            self._printer.print_line(f"{self._session_label(said)}{said.text}")
            self._perform_intents(self.interpreter.prompt_shown(said, now))

    def _change_verbosity(self, verbosity: Verbosity) -> None:
        self._set_preferences(msgspec.structs.replace(self.preferences, verbosity=verbosity))
        self._printer.print_line(f"Verbosity: {verbosity}.")
        self._send(lambda reader: reader.renegotiate(verbosity=verbosity))

    def _set_preferences(self, preferences: Preferences) -> None:
        self.preferences = self._queue.preferences = self._outputs.preferences = preferences

    # -- answers ---------------------------------------------------------------------------

    def _send_decision(self, one: Accept | Reject | SendAnswer | RequestTime) -> None:
        """Send it, and say so. Whether it counted comes as an event; only that it could not be sent is told here."""
        event, about = one.prompt.event, self._prompt_reference(one.prompt)
        if isinstance(one, RequestTime):
            self._printer.print_line(f"Asking for {format_duration(one.seconds)}.{about}")
            self._send(
                lambda reader: reader.renegotiate(minimum_timeout=one.seconds), one.prompt, self._check_granted_time
            )
        elif isinstance(one, Accept):
            self._printer.print_line(f"Sending: accept.{about}")
            self._send(lambda reader: reader.accept(event), one.prompt)
        elif isinstance(one, Reject):
            self._printer.print_line(f"Sending: refuse.{about}")
            self._send(lambda reader: reader.reject(event), one.prompt)
        else:
            self._printer.print_line(f"Sending: {one.display_text}")
            if about:  # on a line of its own, or it could be taken for a part of the answer
                self._printer.print_line(about)
            self._send(lambda reader: reader.answer(event, one.response), one.prompt)

    def _prompt_reference(self, prompt: Announcement) -> str:
        """Which one it is, if there are several."""
        several = len(self._open_tokens) > 1 and prompt.about
        return (
            f" {PHRASES['about'].format(truncate_with_notice(prompt.about, MAX_PROMPT_NAME_LENGTH))}" if several else ""
        )

    def _check_granted_time(self, terms: Capabilities | None) -> None:
        """CF-028: a producer that knows our extension says what it grants, and asks again."""
        ours = terms.unknown.get(PREFIX) if terms is not None else None
        if not (isinstance(ours, dict) and "minimum_timeout_seconds" in ours):
            self._printer.print_line("The agent does not grant more time.")

    def _send(
        self,
        call: Callable[[Reader], Waitable[Any]],
        prompt: Announcement | None = None,
        done: Callable[[Any], None] = lambda value: None,
    ) -> None:
        self._sender.send(call, done, lambda reason: self._handle_send_failure(reason, prompt))

    def _handle_send_failure(self, reason: str, prompt: Announcement | None) -> None:
        self._printer.print_line(f"It could not be sent. {reason}")
        if prompt is not None and prompt.prompt not in self._open_tokens:
            self._perform_intents(self.interpreter.prompt_mentioned(prompt.prompt))
        elif prompt is not None:
            with self._without_typeahead():
                self._printer.print_line(f"The prompt is still open.{self._prompt_reference(prompt)}")
                self._perform_intents(self.interpreter.send_failed(prompt, self._clock()))


# -- page --


class LinePrinter:
    """Lines on a stream. Whatever a text holds, it stays on its line and moves nothing (C-26, C-59)."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_mid_line = False  # something was echoed and its line has not ended

    def print_line(self, text: str) -> None:
        self._stream.write(("\n" if self._is_mid_line else "") + sanitize(text) + "\n")
        self._stream.flush()
        self._is_mid_line = False

    def echo(self, text: str) -> None:
        if text == "\n" and not self._is_mid_line:
            return
        self._stream.write(text)
        self._stream.flush()
        self._is_mid_line = not text.endswith("\n")


# -- sending --

SEND_TIMEOUT: Final = 30.0  # seconds that sending may take


class Reader(Protocol):
    """What a terminal needs of a subscriber."""

    @property
    def terms(self) -> Capabilities | None: ...

    @property
    def producer(self) -> ProducerInfo | None: ...

    def __iter__(self) -> Iterator[Envelope]: ...

    def accept(self, prompt: Envelope, /) -> Waitable[Any]: ...

    def reject(self, prompt: Envelope, /) -> Waitable[Any]: ...

    def answer(self, prompt: Envelope, response: Any, /) -> Waitable[Any]: ...

    def renegotiate(self, **changes: Unpack[TermsChanges]) -> Waitable[Any]: ...

    def close(self) -> object: ...


class Sender:
    """
    Sends one thing after the other, in order, from a thread of its own.

    ``post`` has the loop of the terminal call something; ``broken`` is told of
    a mistake in the program.
    """

    def __init__(self, call_soon: Callable[[Callable[[], None]], None], on_error: Callable[[Exception], None]) -> None:
        self.reader: Reader | None = None
        self._call_soon, self._on_error = call_soon, on_error
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def send(
        self,
        call: Callable[[Reader], Waitable[Any]],
        on_success: Callable[[Any], None],
        on_failure: Callable[[str], None],
    ) -> None:
        """Have it sent; then ``done`` is called with what came of it, or ``failed`` with the reason."""
        self._jobs.put(partial(self._run_job, call, on_success, on_failure))

    def _run_job(
        self,
        call: Callable[[Reader], Waitable[Any]],
        on_success: Callable[[Any], None],
        on_failure: Callable[[str], None],
    ) -> None:
        try:
            if self.reader is None:
                raise ChannelLost("There is no connection yet.")
            value = call(self.reader).wait(SEND_TIMEOUT)
        except (AaepError, TimeoutError, OSError, CancelledError) as error:
            self._call_soon(partial(on_failure, describe_error(error)))
        except Exception as error:
            self._call_soon(partial(self._on_error, error))
        else:
            self._call_soon(partial(on_success, value))

    def run(self) -> None:
        """What its thread does until :meth:`stop`."""
        while (job := self._jobs.get()) is not None:
            job()

    def stop(self) -> None:
        self._jobs.put(None)


def describe_error(error: Exception) -> str:
    """What went wrong, in sentences and without the numbers of rules."""
    if isinstance(error, ProtocolError):
        return " ".join([str(error).split("\n", 1)[0], *(one.message for one in error.violations)])
    return str(error) or "It took too long, and may have arrived or not."


# -- signals --

_EXIT_STATUS_BY_SIGNAL: Final = {"SIGINT": 130, "SIGTERM": 0, "SIGHUP": 0}  # and the exit status


@contextlib.contextmanager
def handle_signals(wakeup_fd: int, on_end: Callable[[int], None], on_resume: Callable[[], None]) -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP end the loop; after a stop the terminal is taken again."""
    if threading.current_thread() is not threading.main_thread():  # nobody else may have them
        yield
        return
    found = {getattr(signal, name): status for name, status in _EXIT_STATUS_BY_SIGNAL.items() if hasattr(signal, name)}

    def ended(number: int, frame: FrameType | None) -> None:
        on_end(found[number])

    def resumed(number: int, frame: FrameType | None) -> None:
        on_resume()

    # By the descriptor too: a signal in the moment before a wait would be seen only after it.
    wakes = signal.set_wakeup_fd(wakeup_fd, warn_on_full_buffer=False)
    kept: dict[Any, Any] = {number: signal.signal(number, ended) for number in found}
    if hasattr(signal, "SIGCONT"):
        kept[signal.SIGCONT] = signal.signal(signal.SIGCONT, resumed)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        for number, before in kept.items():
            signal.signal(number, before)
