"""An event loop in a thread, and values that plain programs and asyncio ones wait for alike."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Generator, Iterable
from concurrent.futures import Future, InvalidStateError
from typing import Any, Final, Generic, TypeVar

from ..errors import AaepError

__all__ = ["BackgroundLoop", "Waitable", "close_server", "is_in_event_loop"]

T = TypeVar("T")


_POLL_INTERVAL: Final = 0.25  # seconds


_MAX_ATTEMPTS: Final = 4  # that a task is told to end, or that the loop turns until what was begun is over


_log: Final = logging.getLogger("aaep.runtime")


class Waitable(Generic[T]):
    """Something that comes later: ``.wait()`` for it in a plain program, ``await`` it in asyncio."""

    def __init__(self, future: Future[T] | None = None) -> None:
        self._future: Future[T] = Future() if future is None else future

    @property
    def done(self) -> bool:
        return self._future.done()

    def set_result(self, value: T) -> bool:
        """Give it its value, once. False when it has one already."""
        try:
            self._future.set_result(value)
        except InvalidStateError:
            return False
        return True

    def set_exception(self, error: BaseException) -> None:
        """Say that it will not come, and why."""
        with contextlib.suppress(InvalidStateError):  # it has come already
            self._future.set_exception(error)

    def wait(self, timeout: float | None = None) -> T:
        """Wait for it. Raises :exc:`TimeoutError` when it takes too long."""
        if threading.current_thread() is not threading.main_thread():
            return self._future.result(timeout)
        # A signal that comes in the moment before a wait does not end it, so a wait is never a long one.
        end = None if timeout is None else time.monotonic() + timeout
        while not self._future.done():
            left = _POLL_INTERVAL if end is None else min(_POLL_INTERVAL, end - time.monotonic())
            if left <= 0:
                raise TimeoutError
            concurrent.futures.wait([self._future], left)
        return self._future.result()

    def __await__(self) -> Generator[Any, None, T]:
        # Shielded: who stops waiting takes back his own waiting, not the value that others wait for.
        return asyncio.shield(asyncio.wrap_future(self._future)).__await__()


class BackgroundLoop:
    """
    An event loop in a thread of its own, so that plain scripts and asyncio programs use the same code.

    Or the caller's own loop, when one is given; then nothing is started or stopped here.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self.loop = _new_loop() if loop is None else loop
        self._thread: threading.Thread | None = None
        if loop is None:
            self._thread = threading.Thread(target=self._run_loop, name=name, daemon=True)
            self._thread.start()

    @property
    def is_on_loop(self) -> bool:
        """Whether the caller is on this loop, and so must not wait for it."""
        if self._thread is not None:  # in which nothing else runs
            return threading.get_ident() == self._thread.ident
        try:
            return asyncio.get_running_loop() is self.loop
        except RuntimeError:
            return False

    def check_alive(self) -> None:
        """Raise where its thread is not: in a process that was forked off later. It would be waited for in vain."""
        if self._thread is not None and not self._thread.is_alive():
            raise AaepError("This was made before the process forked. Make it in the process that uses it.")

    def call_soon(self, function: Callable[..., object], *args: Any) -> None:
        """Have the loop call something soon. From any thread."""
        try:
            if self.is_on_loop:  # and so awake
                self.loop.call_soon(function, *args)
            else:
                self.loop.call_soon_threadsafe(function, *args)
        except RuntimeError:  # the loop is closed: there is nobody left to tell
            return

    def run(self, coroutine: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Wait, from another thread, until the loop has done something."""
        if self.is_on_loop:
            coroutine.close()
            raise RuntimeError("This would wait for its own event loop. Use the awaitable form instead.")
        try:
            self.check_alive()
        except AaepError:
            coroutine.close()
            raise
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout)

    def stop(self) -> None:
        """Stop the loop and end the thread, if they are ours."""
        if self._thread is None:
            return
        self.call_soon(self.loop.stop)
        if threading.current_thread() is not self._thread:
            self._thread.join()
        self._thread = None

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.run_until_complete(_cancel_tasks(asyncio.all_tasks(self.loop)))
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()


async def close_server(server: asyncio.AbstractServer) -> None:
    """Let nobody in any more. Whom asyncio has let in, and not yet greeted, it would forget (its issue 109564)."""
    try:
        if isinstance(server, asyncio.Server):  # other loops have servers of their own
            loop = asyncio.get_running_loop()
            for listening in server.sockets:
                with contextlib.suppress(NotImplementedError):  # a loop that has no such thing
                    loop.remove_reader(listening.fileno())
            for _ in range(_MAX_ATTEMPTS):
                await asyncio.sleep(0)  # lets the loop turn until whoever was let in last has been greeted
    finally:  # also when there is no time left for that
        server.close()


async def _cancel_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """
    Cancel tasks until they have ended.

    Once may not do: who waited for something that came in this very moment does not notice that he was cancelled.
    """
    left = {*tasks} - {asyncio.current_task()}
    for _ in range(_MAX_ATTEMPTS):
        for task in left:
            task.cancel()
        if left:
            done, left = await asyncio.wait(left, timeout=_POLL_INTERVAL)
            await asyncio.gather(*done, return_exceptions=True)  # what they failed with matters no more
    for _ in range(_MAX_ATTEMPTS):
        await asyncio.sleep(0)  # lets who was accepted last be told that nobody serves any more
    if left:
        _log.warning("%d tasks could not be ended, and are left behind.", len(left))


def is_in_event_loop() -> bool:
    """Whether the caller is on an event loop, any at all, and so must not wait."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop  # noqa: PLC0415  # where there is one
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
