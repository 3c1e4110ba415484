"""The subscriber's end of Appendix B.6: an agent that is started to be listened to."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, cast

import msgspec

from ...errors import AaepError
from ...protocol.codec import encode
from ...protocol.framing import Frame, encode_jsonrpc
from ...protocol.messages import SubscriptionClose
from ...text.sanitize import sanitize
from ..base import ChannelRefused
from ..duplex_client import DuplexChannel
from ..options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from .lines import CLOSE, EVENT, PING, RENEGOTIATE, REPLY, SUBSCRIBE, error
from .process import Agent, start

__all__ = ["StdioChannel", "connect"]

T = TypeVar("T", bound=msgspec.Struct)

_METHODS: Final = {
    "subscription.request": SUBSCRIBE,
    "subscription.renegotiate": RENEGOTIATE,
    "subscription.close": CLOSE,
    "confirmation.reply": REPLY,
    "clarification.reply": REPLY,
}


class _Head(msgspec.Struct):
    type: str = ""
    subscription_id: str = ""


class _Problem(msgspec.Struct):
    code: int = 0
    message: str = ""


_DECODERS: Final[dict[type[Any], Callable[[bytes], Any]]] = {
    shape: msgspec.json.Decoder(shape).decode for shape in (_Head, _Problem)
}


class _StdioConnection:
    """One subscription on an agent's pipes, which outlive it."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._call = 0  # the id of the call that waits for an answer
        self._subscription_id = ""
        self._is_over = False

    async def send(self, message: bytes) -> None:
        """Send a message, as a call or a notification."""
        method = _METHODS[_read(message, _Head).type]
        if method in (SUBSCRIBE, RENEGOTIATE):
            self._call = next(self._agent.calls)
            self._agent.write(encode_jsonrpc(message, method=method, call=self._call))
        else:
            self._is_over = self._is_over or method == CLOSE
            self._agent.write(encode_jsonrpc(message, method=method))

    async def receive(self) -> bytes | ChannelRefused | None:
        """Return the next message of the subscription; None when that is over."""
        while not self._is_over or self._call:
            item = await self._agent.next()
            if not item.method:
                if self._call and (item.call == self._call or (item.is_error and item.call is None)):
                    return self._take_answer(item)
            elif item.call is not None:
                # STDIO-009: it may ask whether we are there, and nothing else.
                self._agent.write(
                    encode_jsonrpc(b"{}", call=item.call) if item.method == PING else error(-32601, item.call)
                )
            elif self._subscription_id and item.method in (EVENT, CLOSE):
                # Without a subscription they are left of an earlier one.
                is_close = item.method == CLOSE
                self._is_over = is_close and _read(item.data, _Head).subscription_id == self._subscription_id
                return item.data
        return None

    def _take_answer(self, item: Frame) -> bytes | ChannelRefused:
        self._call = 0
        if item.is_error:
            problem = _read(item.data, _Problem)
            return ChannelRefused(f"The agent refused that: {sanitize(problem.message)[:500]} ({problem.code}).")
        head = _read(item.data, _Head)
        if head.type == "subscription.accepted":
            self._subscription_id = head.subscription_id
        return item.data

    async def close(self) -> None:
        """End the subscription. The pipes stay open."""
        if self._subscription_id and not self._is_over:
            message = SubscriptionClose(subscription_id=self._subscription_id, reason_code="subscriber_shutdown")
            with contextlib.suppress(ChannelRefused):  # it has ended before
                await self.send(encode(message))


class StdioChannel(DuplexChannel):
    """A subscriber's channel to an agent that is started for it, once, with the first request."""

    def __init__(self, command: Sequence[str], exit_timeout: float) -> None:
        super().__init__(self._open_connection, self._refuse_manifest)
        self._command = command
        self._exit_timeout = exit_timeout
        self._agent: Agent | None = None

    async def close(self) -> None:
        """End the subscription, and the agent."""
        try:
            await super().close()
        finally:
            if self._agent is not None:
                await self._agent.end(self._exit_timeout)

    async def _open_connection(self) -> _StdioConnection:
        if self._agent is None:
            self._agent = await start(self._command)
        return _StdioConnection(self._agent)

    async def _refuse_manifest(self) -> bytes:
        raise ChannelRefused("An agent on pipes has no place for a manifest. Ask for a signed one.")  # CF-118


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> StdioChannel:
    """
    Return a channel to the agent that a command starts, with the first request and without a shell.

    When the channel is closed, so is the agent's input. An agent that goes on for
    ``options.exit_timeout`` seconds is told to end (SIGTERM), and after as many more is made to. One that has ended is
    not started again: what it was doing might be done twice.
    """
    try:
        command = shlex.split(url.partition(":")[2])
    except ValueError as problem:
        raise AaepError(f"{url!r} cannot be taken apart: {problem}. Write stdio:COMMAND ARGS.") from None
    if not command:
        raise AaepError("Which agent? Write stdio:COMMAND ARGS.")
    return StdioChannel(command, options.exit_timeout)


def _read(data: bytes, shape: type[T]) -> T:
    try:
        return cast(T, _DECODERS[shape](data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return shape()
