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
from typing import Any, Final, Protocol, TextIO

import msgspec

from ..errors import AaepError, ProtocolError
from ..presentation.announce import Announcement, Outputs, announce
from ..presentation.preferences import USUAL, Preferences
from ..presentation.queue import NAME, Action, Queue, Speak
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
from ..runtime.background import Later
from ..subscriber.status import Status
from ..text.phrases import PHRASES, brief, span
from ..text.sanitize import cut, neutralise
from ..transports.base import ChannelLost
from .keyboard import Accept, Answer, Do, Echo, Intent, Keys, Reject, Tell, Time
from .stdin import Nobody, Source, source

__all__ = ["Nobody", "Page", "Reader", "Sender", "Source", "Terminal", "signals", "source", "why"]

CLOSING: Final = 1.5  # seconds that taking leave may take
_NEXT: Final[Mapping[Verbosity, Verbosity]] = {"terse": "normal", "normal": "detailed", "detailed": "terse"}


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
        typed: Source,
        page: Page,
        *,
        preferences: Preferences = USUAL,
        replies: bool = True,
        session: str = "",
        once: bool = False,
        record: Callable[[Envelope], None] | None = None,
        announced: Callable[[Announcement, str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.keys = Keys(lines=typed.lines, replies=replies)
        self.preferences = msgspec.structs.replace(
            preferences, lines=typed.lines, keys=preferences.keys if replies else {}
        )
        self._connect, self._source, self._page = connect, typed, page
        self._session, self._once, self._record, self._clock = session, once, record, clock
        self._announced = announced
        self._queue = Queue(self.preferences)
        self._queue.answered = self.keys.sent
        self._outputs = Outputs(self.preferences)
        self._inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._sender = Sender(self._post, self._ended)
        self._woken, self._waker = socket.socketpair()
        self._reader: Reader | None = None
        self._connected = False
        self._lost = self._unread = False
        self._farewell = ""  # why the producer ended it
        self._status: int | None = None
        self._error: AaepError | None = None
        self._open: set[str] = set()  # tokens of the prompts that are open
        self._sessions: dict[str, int] = {}  # numbered as they came
        self._active: set[str] = set()

    # -- from beginning to end -------------------------------------------------------------

    def run(self) -> int:
        """
        Listen until the stream ends, the person quits, or a signal comes; the exit status.

        Raises what went wrong if there never was a connection.
        """
        self._woken.setblocking(False)
        self._waker.setblocking(False)
        with self._source, signals(self._waker.fileno(), self._signalled, lambda: self._post(self._source.resume)):
            for work in (self._follow, self._sender.run):
                threading.Thread(target=work, name="aaep-listen", daemon=True).start()
            try:
                self._greet()
                while self._status is None:
                    self._turn()
            finally:
                self._leave()
                self._woken.close()
                self._waker.close()
        if self._error is not None and not self._connected:
            raise self._error
        return self._status or 0

    def _greet(self) -> None:
        if isinstance(self._source, Nobody):
            self._page.line("Not interactive: prompts will be shown and not answered.")
        elif not self._source.interactive:
            self._page.line("Not interactive: commands are read from standard input, one on each line.")
        else:
            self._page.line("Write help and Enter for help." if self._source.lines else "Press ? for help, q to quit.")

    def _turn(self) -> None:
        """Wait for whatever comes first, and deal with it."""
        typed = self._source.fileno()
        waited = [self._woken.fileno(), *([] if typed is None else [typed])]
        ready = select.select(waited, [], [], self._patience())[0]
        # What was typed comes first: it was typed before what is printed now.
        if typed in ready:
            self._typed()
        with contextlib.suppress(BlockingIOError):  # it was not this that woke us
            self._woken.recv(4096)
        for _ in range(self._inbox.qsize()):  # what comes meanwhile waits, so that a flood keeps no key from us
            if self._status is None:
                self._inbox.get()()
        if self._status is None:
            self._tick()

    def _patience(self) -> float | None:
        if not self._inbox.empty():
            return 0.0
        now = self._clock()
        moments = [one for one in (self._queue.due(now), self.keys.due) if one is not None]
        return max(0.0, min(moments) - now) if moments else None

    def _tick(self) -> None:
        now = self._clock()
        self._perform(self._queue.advance(now), now)
        told = self.keys.advance(now)
        self._do(told)
        if told:  # a prompt is closed, and perhaps another is open
            self._focus()
            self._perform(self._queue.remind(now), now)

    def _leave(self) -> None:
        """Take leave of the producer, but not for long."""
        self._sender.stop()
        if self._error is None or self._connected:  # or nothing began, and whoever called says what went wrong
            with contextlib.suppress(OSError):  # nobody reads any more
                left = f" Prompts left open: {len(self._open)}." if self._open else ""
                self._page.line(f"Stopped listening.{left}")
        reader = self._reader
        if reader is not None:
            closing = threading.Thread(target=self._close, args=(reader,), name="aaep-close", daemon=True)
            closing.start()
            closing.join(CLOSING)

    @staticmethod
    def _close(reader: Reader) -> None:
        with contextlib.suppress(AaepError, OSError):  # it is over anyway
            reader.close()

    def _signalled(self, status: int) -> None:
        self._post(lambda: self._end(status))

    def _end(self, status: int) -> None:
        self._status = status if self._status is None else self._status

    def _post(self, call: Callable[[], None]) -> None:
        """Have the loop call something. From any thread, and from a signal."""
        self._inbox.put(call)
        with contextlib.suppress(OSError):  # full: it is awake anyway; closed: nobody listens any more
            self._waker.send(b"\0")

    # -- the stream ------------------------------------------------------------------------

    def _follow(self) -> None:
        """In a thread of its own: pass on what comes."""
        error: Exception | None = None
        try:
            self._reader = self._sender.reader = self._connect(lambda status: self._post(lambda: self._stands(status)))
            for event in self._reader:
                self._post(partial(self._take, event))
        except Exception as problem:
            error = problem
        self._post(partial(self._ended, error))

    def _stands(self, status: Status) -> None:
        """Say how the connection is, once for each change and not at every try."""
        if status.kind in ("connected", "resumed", "gap"):
            producer = self._reader.producer if self._reader is not None else None
            name = get_member(producer, "agent_name") or producer.agent_id if producer is not None else ""
            self._page.line(f"Connected to {name}." if name and status.kind == "connected" else status.text)
            self._connected, self._lost = True, False
            self._consider_terms()
        elif status.kind == "waiting" and not self._lost:
            self._lost = True
            self._page.line(f"The connection is lost. {status.text}" if self._connected else status.text)
            self._page.line("Waiting. This goes on by itself.")
        elif status.kind == "unread" and not self._unread:
            self._unread = True  # one line for all that come in a row
            self._page.line(f"Attention. {status.text}")
        elif status.kind == "ended":
            self._farewell = status.text

    def _consider_terms(self) -> None:
        """SUB-033: the producer need not let us answer."""
        terms = self._reader.terms if self._reader is not None else None
        if terms is None or not self.keys.replies:
            return
        if not (terms.supports_confirmation_reply is True or terms.supports_clarification_reply is True):
            self._page.line("The agent takes no answers from this reader. Prompts will be shown and not answered.")
            self._cannot_reply()

    def _cannot_reply(self) -> None:
        self.keys.replies = False
        self._prefer(msgspec.structs.replace(self.preferences, keys={}))

    def _ended(self, error: Exception | None) -> None:
        if error is not None and not isinstance(error, AaepError):
            raise error  # a mistake in the program, which must not end in silence
        if error is not None:
            self._error = error
            if self._connected:
                self._page.line(f"The connection has ended for good. {why(error)}")
        elif self._farewell:
            self._page.line(self._farewell)
        self._end(1 if error is not None else 0)

    def _take(self, event: Envelope) -> None:
        """Say what there is to say about an event."""
        self._connected, self._unread = True, False
        now = self._clock()
        if self._session and event.session_id != self._session:
            self._elsewhere(event)
            return
        if self._record is not None:
            self._record(event)
        self._sessions.setdefault(event.session_id, len(self._sessions) + 1)
        self._active.add(event.session_id)
        for said in self._outputs.tell(event):
            self._push(said, now)
        if CORE_EVENTS.get(event.type) in TERMINAL:
            self._active.discard(event.session_id)
            if self._once:
                self._end(0)

    def _elsewhere(self, event: Envelope) -> None:
        """What is not asked for is left out, but that somebody waits for an answer is not kept back (SEC-009)."""
        if CORE_EVENTS.get(event.type) in (AwaitingConfirmation, AwaitingClarification):
            self._page.line(f"The session {event.session_id} asks something. Prompts of other sessions are not shown.")
            self._do(self.keys.heard(""))

    def _push(self, said: Announcement, now: float) -> None:
        self._focus()
        actions = self._queue.push(said, now)
        # Before anything is printed: another prompt may be, and its keys must not meet those of one that ended.
        self._perform(actions, now, self._closed(said, now))

    def _focus(self) -> None:
        self._queue.focus = self.keys.prompt.prompt if self.keys.prompt is not None else ""

    def _closed(self, said: Announcement, now: float) -> list[Intent]:
        """Void the keys of prompts that ended; what to say about it behind what ended them."""
        before, self._open = self._open, {prompt.prompt for prompt in self._queue.prompts}
        told: list[Intent] = []
        for token in before - self._open:
            if said.prompt != token:  # or what is said is its outcome
                told.append(Tell(PHRASES["outcome.other"]))
            told += self.keys.closed(token, now)
        return told

    def _perform(self, actions: list[Action], now: float, behind: list[Intent] | None = None) -> None:
        """Print: a line is said as soon as it is there. ``behind`` the first of them something is told."""
        while actions:
            spoken = [one for one in actions if isinstance(one, Speak)]
            for one in spoken:
                self._print(one, now)
            self._do(behind or [])
            behind = []
            actions = self._queue.finished(now, spoken[-1].number) if spoken else []
        self._do(behind or [])

    def _print(self, one: Speak, now: float) -> None:
        said = one.announcement
        mark = "Attention. " if said.interrupts else ""
        label = self._label(said)
        waiting = {prompt.prompt for prompt in self._queue.prompts}
        # In full: merely how much time is left must not turn the keys to another prompt.
        asks = said.asks and said.prompt in waiting and one.text.endswith(said.text)
        with self._fresh(asks):
            if self._announced is not None:
                self._announced(said, f"{label}{one.text}")
            elif self._record is None:
                self._page.line(f"{mark}{label}{one.text}")
            if said.prompt and not asks and not (said.asks and self._record):  # a countdown is not recorded
                self._do(self.keys.heard(said.prompt))
            if asks:
                whole = self._record is not None  # of a recorded event all was printed
                self._do(self.keys.shown(msgspec.structs.replace(said, keys=said.detail_keys) if whole else said, now))
        self._go_on_writing()

    def _label(self, said: Announcement) -> str:
        """Which session it is about, if there are several, and whose it is where that is not plain."""
        several = len(self._active | {said.session_id}) > 1
        number = f"Session {self._sessions.get(said.session_id, 0)}" if several else ""
        begins = said.asks or isinstance(said.event, SessionStarted)
        label = ", ".join(filter(None, (number, self._speaker(said.event) if several or begins else "")))
        return f"{label}. " if label else ""

    def _speaker(self, event: Envelope) -> str:
        """The agent, where we are connected to another, such as a hub: who is asked has to know by whom."""
        producer = self._reader.producer if self._reader is not None else None
        if producer is None or producer.agent_id == event.producer.agent_id or isinstance(event, OutputStreaming):
            return ""  # an output says it
        return cut(neutralise(get_member(event.producer, "agent_name") or event.producer.agent_id), 80)

    @contextlib.contextmanager
    def _fresh(self, wanted: bool = True) -> Iterator[None]:
        """
        Around what is printed to be answered: what was typed before cannot be meant for it.

        A person's keys are forgotten after it was printed, which takes its time. A program writes when it has read,
        and is not to lose an answer that is quick.
        """
        if wanted and self._source.lines:
            self._forget()
        yield
        if wanted and not self._source.lines:
            self._forget()

    def _forget(self) -> None:
        if self.keys.writing is None and self._source.discard():
            self._page.line("What was typed before this line does not count.")

    def _go_on_writing(self) -> None:
        """Something was printed while the person was writing: what was written so far is shown again."""
        if self.keys.writing:
            self._page.echo(f"You were writing: {self.keys.writing}")

    # -- the person ------------------------------------------------------------------------

    def _typed(self) -> None:
        came = self._source.read(self._clock())
        if came and not self._source.lines:
            self._do(self.keys.press(came, self._clock()))
        for line in came if self._source.lines else ():
            intents = self.keys.line(line, self._clock())
            self._do(intents)
            if self._status is not None or any(isinstance(one, Tell) and one.fresh for one in intents):
                break  # the lines behind it were written before this was read
        if self._source.lines and self._source.fileno() is None:
            self._deserted()

    def _deserted(self) -> None:
        """Nobody can answer any more."""
        self._page.line("Standard input has ended. Listening goes on; prompts will be shown and not answered.")
        if self.keys.replies:
            self._cannot_reply()
            self._send(lambda reader: reader.renegotiate(replies=False))  # CF-035: it is not to wait for us

    def _do(self, intents: list[Intent]) -> None:
        for one in intents:
            if isinstance(one, Tell):
                with self._fresh(one.fresh):
                    self._page.line(one.text)
            elif isinstance(one, Echo):
                self._page.echo(one.text)
            elif isinstance(one, Do):
                self._command(one)
            else:
                self._decided(one)

    def _command(self, one: Do) -> None:
        now = self._clock()
        if one.what == "quit":
            self._end(0)
        elif one.what == "help":
            self._page.line(self.keys.help())
        elif one.what == "verbosity":
            self._verbosity(_NEXT[self.preferences.verbosity])
        elif one.what == "next":
            if self.keys.next is not None:
                self._again(self.keys.next, False, now)
        elif self.keys.prompt is not None:  # a prompt that is open is what matters, whatever was said since
            self._again(self.keys.prompt, one.what == "more", now)
        else:
            actions = self._queue.more(now) if one.what == "more" else self._queue.repeat(now)
            if not actions:
                self._page.line("Nothing was said yet.")
            self._perform(actions, now)

    def _again(self, prompt: Announcement, whole: bool, now: float) -> None:
        """Print a prompt again, with the time that is left; what was cut in full once that was asked for (C-22)."""
        said = announce(prompt.event, self.preferences, remaining=self.keys.left(prompt, now)) or prompt
        accept = self.preferences.keys.get("accept")
        if whole or (accept in dict(prompt.keys) and accept not in dict(said.keys)):
            said = msgspec.structs.replace(said, text=said.detail, keys=said.detail_keys)
        with self._fresh():
            self._page.line(f"{self._label(said)}{said.text}")
            self._do(self.keys.shown(said, now))

    def _verbosity(self, verbosity: Verbosity) -> None:
        self._prefer(msgspec.structs.replace(self.preferences, verbosity=verbosity))
        self._page.line(f"Verbosity: {verbosity}.")
        self._send(lambda reader: reader.renegotiate(verbosity=verbosity))

    def _prefer(self, preferences: Preferences) -> None:
        self.preferences = self._queue.preferences = self._outputs.preferences = preferences

    # -- answers ---------------------------------------------------------------------------

    def _decided(self, one: Accept | Reject | Answer | Time) -> None:
        """Send it, and say so. Whether it counted comes as an event; only that it could not be sent is told here."""
        event, about = one.prompt.event, self._about(one.prompt)
        if isinstance(one, Time):
            self._page.line(f"Asking for {span(one.seconds)}.{about}")
            self._send(lambda reader: reader.renegotiate(patience=one.seconds), one.prompt, self._granted)
        elif isinstance(one, Accept):
            self._page.line(f"Sending: accept.{about}")
            self._send(lambda reader: reader.accept(event), one.prompt)
        elif isinstance(one, Reject):
            self._page.line(f"Sending: refuse.{about}")
            self._send(lambda reader: reader.reject(event), one.prompt)
        else:
            self._page.line(f"Sending: {one.said}")
            if about:  # on a line of its own, or it could be taken for a part of the answer
                self._page.line(about)
            self._send(lambda reader: reader.answer(event, one.response), one.prompt)

    def _about(self, prompt: Announcement) -> str:
        """Which one it is, if there are several."""
        several = len(self._open) > 1 and prompt.about
        return f" {PHRASES['about'].format(brief(prompt.about, NAME))}" if several else ""

    def _granted(self, terms: Capabilities | None) -> None:
        """CF-028: a producer that knows our extension says what it grants, and asks again."""
        ours = terms.unknown.get(PREFIX) if terms is not None else None
        if not (isinstance(ours, dict) and "minimum_timeout_seconds" in ours):
            self._page.line("The agent does not grant more time.")

    def _send(
        self,
        call: Callable[[Reader], Later[Any]],
        prompt: Announcement | None = None,
        done: Callable[[Any], None] = lambda value: None,
    ) -> None:
        self._sender.send(call, done, lambda reason: self._unsent(reason, prompt))

    def _unsent(self, reason: str, prompt: Announcement | None) -> None:
        self._page.line(f"It could not be sent. {reason}")
        if prompt is not None and prompt.prompt not in self._open:
            self._do(self.keys.heard(prompt.prompt))
        elif prompt is not None:
            with self._fresh():
                self._page.line(f"The prompt is still open.{self._about(prompt)}")
                self._do(self.keys.failed(prompt, self._clock()))


# -- page --


class Page:
    """Lines on a stream. Whatever a text holds, it stays on its line and moves nothing (C-26, C-59)."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = False  # something was echoed and its line has not ended

    def line(self, text: str) -> None:
        self._stream.write(("\n" if self._begun else "") + neutralise(text) + "\n")
        self._stream.flush()
        self._begun = False

    def echo(self, text: str) -> None:
        if text == "\n" and not self._begun:
            return
        self._stream.write(text)
        self._stream.flush()
        self._begun = not text.endswith("\n")


# -- sending --

SENDING: Final = 30.0  # seconds that sending may take


class Reader(Protocol):
    """What a terminal needs of a subscriber."""

    @property
    def terms(self) -> Capabilities | None: ...

    @property
    def producer(self) -> ProducerInfo | None: ...

    def __iter__(self) -> Iterator[Envelope]: ...

    def accept(self, prompt: Envelope, /) -> Later[Any]: ...

    def reject(self, prompt: Envelope, /) -> Later[Any]: ...

    def answer(self, prompt: Envelope, response: Any, /) -> Later[Any]: ...

    def renegotiate(self, **wishes: Any) -> Later[Any]: ...

    def close(self) -> object: ...


class Sender:
    """
    Sends one thing after the other, in order, from a thread of its own.

    ``post`` has the loop of the terminal call something; ``broken`` is told of
    a mistake in the program.
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], broken: Callable[[Exception], None]) -> None:
        self.reader: Reader | None = None
        self._post, self._broken = post, broken
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def send(
        self, call: Callable[[Reader], Later[Any]], done: Callable[[Any], None], failed: Callable[[str], None]
    ) -> None:
        """Have it sent; then ``done`` is called with what came of it, or ``failed`` with the reason."""
        self._jobs.put(partial(self._try, call, done, failed))

    def _try(
        self, call: Callable[[Reader], Later[Any]], done: Callable[[Any], None], failed: Callable[[str], None]
    ) -> None:
        try:
            if self.reader is None:
                raise ChannelLost("There is no connection yet.")
            value = call(self.reader).wait(SENDING)
        except (AaepError, TimeoutError, OSError, CancelledError) as error:
            self._post(partial(failed, why(error)))
        except Exception as error:
            self._post(partial(self._broken, error))
        else:
            self._post(partial(done, value))

    def run(self) -> None:
        """What its thread does until :meth:`stop`."""
        while (job := self._jobs.get()) is not None:
            job()

    def stop(self) -> None:
        self._jobs.put(None)


def why(error: Exception) -> str:
    """What went wrong, in sentences and without the numbers of rules."""
    if isinstance(error, ProtocolError):
        return " ".join([str(error).split("\n", 1)[0], *(one.message for one in error.violations)])
    return str(error) or "It took too long, and may have arrived or not."


# -- signals --

_ENDING: Final = {"SIGINT": 130, "SIGTERM": 0, "SIGHUP": 0}  # and the exit status


@contextlib.contextmanager
def signals(waker: int, end: Callable[[int], None], resume: Callable[[], None]) -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP end the loop; after a stop the terminal is taken again."""
    if threading.current_thread() is not threading.main_thread():  # nobody else may have them
        yield
        return
    found = {getattr(signal, name): status for name, status in _ENDING.items() if hasattr(signal, name)}

    def ended(number: int, frame: FrameType | None) -> None:
        end(found[number])

    def resumed(number: int, frame: FrameType | None) -> None:
        resume()

    # By the descriptor too: a signal in the moment before a wait would be seen only after it.
    wakes = signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
    kept: dict[Any, Any] = {number: signal.signal(number, ended) for number in found}
    if hasattr(signal, "SIGCONT"):
        kept[signal.SIGCONT] = signal.signal(signal.SIGCONT, resumed)
    try:
        yield
    finally:
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
        for number, before in kept.items():
            signal.signal(number, before)
