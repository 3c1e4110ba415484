"""What a process does when a signal tells it to stop, so that those who listen are told and not cut off."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable
from types import FrameType
from typing import Final

from .background import is_in_event_loop

__all__ = ["EXIT_TERMINATED", "SIGTERM_EXIT", "EndBeforeStop", "SigtermExit"]

EXIT_TERMINATED: Final = 128 + signal.SIGTERM  # the exit status of a program that ended because of SIGTERM

_Handler = Callable[[int, FrameType | None], object]

_STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_MAX_ENDING_TIME: Final = 1.8  # seconds until the server is told, whether everything has ended or not


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


class _LoopWaker:
    """
    Wakes the event loop of the main thread when a signal comes.

    A signal that arrives just before the loop waits for its sockets does not interrupt that wait, and Python would
    call the handler only after it. So the interpreter writes a byte for each signal, which the loop then reads.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._receiver, self._sender = socket.socketpair()
        for end in (self._receiver, self._sender):
            end.setblocking(False)
        loop.add_reader(self._receiver, self._drain)
        previous = signal.set_wakeup_fd(self._sender.fileno(), warn_on_full_buffer=False)
        if previous != -1:  # somebody does the same already, as a loop with signal handlers of its own does
            signal.set_wakeup_fd(previous)

    def close(self) -> None:
        """Wake nobody any more. On the main thread, as only there the interpreter can be told."""
        current = signal.set_wakeup_fd(-1)
        if current not in (-1, self._sender.fileno()):
            signal.set_wakeup_fd(current)
        if not self._loop.is_closed():
            self._loop.remove_reader(self._receiver)
        self._receiver.close()
        self._sender.close()

    def _drain(self) -> None:
        with contextlib.suppress(BlockingIOError):  # nothing is left
            self._receiver.recv(4096)


class SigtermExit:
    """
    Makes SIGTERM end the program as Ctrl-C does, by leaving its ``with`` blocks, with :data:`EXIT_TERMINATED`.

    That is an exception in the main thread, or the cancellation of a task that a user names. A handler is installed
    only where there is none, and removed with its last user. Another one that is installed later is left alone.
    """

    def __init__(self) -> None:
        self._cancel_by_user: dict[int, Callable[[], object] | None] = {}
        self._ending_users: set[int] = set()
        self._wakers: dict[int, _LoopWaker] = {}  # by user
        self._pid = os.getpid()

    def acquire(
        self,
        user: object,
        cancel: Callable[[], object] | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> bool:
        """
        Handle SIGTERM for a user as well; return False where that is not possible, or others handle it.

        Where an event loop runs when the signal comes, ``cancel`` is called in place of raising an exception, which
        would cut off all tasks of the loop at once, those that serve readers too. ``loop`` is the one that runs on
        the main thread now, if any does.
        """
        if self._pid != os.getpid():  # a forked process has inherited the handler, but not those that use it
            self._pid = os.getpid()
            self._cancel_by_user.clear()
            self._ending_users.clear()
            self._wakers.clear()
        if not _is_main_thread():  # only there may handlers be installed
            return False
        current = signal.getsignal(signal.SIGTERM)
        if current != self._handle:
            if current is not signal.SIG_DFL:  # the application's
                return False
            signal.signal(signal.SIGTERM, self._handle)
        self._cancel_by_user[id(user)] = cancel
        if loop is not None:
            with contextlib.suppress(NotImplementedError):  # a proactor loop has no readers
                self._wakers[id(user)] = _LoopWaker(loop)
        return True

    def begin_ending(self, user: object) -> None:
        """Ignore SIGTERM until the user is released: what it asks for is being done."""
        self._ending_users.add(id(user))

    def release(self, user: object) -> None:
        """Forget a user, and remove the handler with the last one."""
        self._cancel_by_user.pop(id(user), None)
        self._ending_users.discard(id(user))
        if _is_main_thread() and (waker := self._wakers.pop(id(user), None)) is not None:
            waker.close()
        if not self._cancel_by_user and _is_main_thread() and signal.getsignal(signal.SIGTERM) == self._handle:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if not self._cancel_by_user or self._pid != os.getpid():  # the last user was released in another thread
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        if self._ending_users:
            return
        cancels = [cancel for cancel in self._cancel_by_user.values() if cancel is not None]
        if not cancels or not is_in_event_loop():
            raise SystemExit(EXIT_TERMINATED)
        for cancel in cancels:
            cancel()


SIGTERM_EXIT: Final = SigtermExit()  # of this process, which has one handler for each signal


class EndBeforeStop:
    """
    Ends something before the server that runs on an event loop is told to stop, by SIGINT or SIGTERM.

    A server such as uvicorn waits until all connections are closed, and only then tells the application that it
    stops: a stream that goes on until then would never end. So ``end`` is called first, in a thread of its own, and
    the handlers that were there before are called after it, for all signals that came meanwhile: a terminal and a
    supervisor may each send one. That takes two seconds at most.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, end: Callable[[], object]) -> None:
        self.loop = loop
        self._end = end
        self._previous_handlers: dict[int, _Handler] = {}
        self._pending_signals: deque[int] = deque()  # of which the previous handlers have yet to be told
        self._is_over = False

    def install(self) -> None:
        """Install the handlers, on the main thread and where the server has handlers of its own."""
        if not _is_main_thread():
            return
        for number in _STOP_SIGNALS:
            previous = signal.getsignal(number)
            if not callable(previous) or _belongs_to_no_server(previous):
                continue
            self._previous_handlers[number] = previous
            signal.signal(number, self._handle)
            if getattr(getattr(previous, "__self__", None), "should_exit", False):  # uvicorn was told already
                self.loop.call_soon(self._begin)
                return

    def remove(self) -> None:
        """Install the previous handlers again where nobody else has installed one since. For any thread."""
        with contextlib.suppress(RuntimeError):  # the loop has ended, and the server has removed the handlers
            self.loop.call_soon_threadsafe(self._remove)

    def _remove(self) -> None:
        if self._pending_signals or not _is_main_thread():
            return
        for number, previous in self._previous_handlers.items():
            if signal.getsignal(number) == self._handle:
                signal.signal(number, previous)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._is_over or self.loop.is_closed():
            self._previous_handlers[number](number, frame)
            return
        self._pending_signals.append(number)
        if len(self._pending_signals) == 1:
            self.loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        # A thread of its own: those of the loop's executor may all be waiting for the answers that are taken back.
        threading.Thread(target=self._run, name="aaep-stop").start()
        self.loop.call_later(_MAX_ENDING_TIME, self._pass_on)

    def _run(self) -> None:
        try:
            self._end()
        finally:
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                self.loop.call_soon_threadsafe(self._pass_on)

    def _pass_on(self) -> None:
        """Tell the previous handlers of the signals, each once."""
        self._is_over = True
        while self._pending_signals:
            number = self._pending_signals.popleft()
            self._previous_handlers[number](number, None)
        self._remove()


def _belongs_to_no_server(handler: _Handler) -> bool:
    """Whether a handler is one of Python or our own, which end the program by themselves."""
    owner = getattr(getattr(handler, "func", handler), "__self__", None)  # that of asyncio.run is a partial
    return handler is signal.default_int_handler or isinstance(owner, asyncio.Runner | SigtermExit)
