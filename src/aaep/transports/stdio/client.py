"""The client side of stdio: an agent is started as a child process and read over its pipes (Appendix B.6)."""

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
from .lines import CLOSE, EVENT, PING, RENEGOTIATE, REPLY, SUBSCRIBE, encode_error
from .process import AgentProcess, start_agent

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


class _RpcError(msgspec.Struct):
    code: int = 0
    message: str = ""


_DECODERS: Final[dict[type[Any], Callable[[bytes], Any]]] = {
    shape: msgspec.json.Decoder(shape).decode for shape in (_Head, _RpcError)
}


class _StdioConnection:
    """One subscription on an agent's pipes, which stay open after it."""

    def __init__(self, agent: AgentProcess) -> None:
        self._agent = agent
        self._pending_call_id = 0  # id of the call whose answer is pending; 0 for none
        self._subscription_id = ""
        self._is_ended = False

    async def send(self, message: bytes) -> None:
        """Send a message as a JSON-RPC call or notification."""
        method = _METHODS[_decode_or_default(message, _Head).type]
        if method in (SUBSCRIBE, RENEGOTIATE):
            self._pending_call_id = next(self._agent.call_ids)
            self._agent.write(encode_jsonrpc(message, method=method, call=self._pending_call_id))
        else:
            self._is_ended = self._is_ended or method == CLOSE
            self._agent.write(encode_jsonrpc(message, method=method))

    async def receive(self) -> bytes | ChannelRefused | None:
        """Return the next message of the subscription; None when it has ended."""
        while not self._is_ended or self._pending_call_id:
            item = await self._agent.next_frame()
            if not item.method:
                if self._pending_call_id and (
                    item.call == self._pending_call_id or (item.is_error and item.call is None)
                ):
                    return self._handle_answer(item)
            elif item.call is not None:
                # STDIO-009: an agent may send pings and no other calls.
                is_ping = item.method == PING
                self._agent.write(encode_jsonrpc(b"{}", call=item.call) if is_ping else encode_error(-32601, item.call))
            elif self._subscription_id and item.method in (EVENT, CLOSE):
                # Without a subscription they belong to an earlier one.
                is_close = item.method == CLOSE
                self._is_ended = (
                    is_close and _decode_or_default(item.data, _Head).subscription_id == self._subscription_id
                )
                return item.data
        return None

    def _handle_answer(self, item: Frame) -> bytes | ChannelRefused:
        self._pending_call_id = 0
        if item.is_error:
            rpc_error = _decode_or_default(item.data, _RpcError)
            return ChannelRefused(f"The agent refused that: {sanitize(rpc_error.message)[:500]} ({rpc_error.code}).")
        head = _decode_or_default(item.data, _Head)
        if head.type == "subscription.accepted":
            self._subscription_id = head.subscription_id
        return item.data

    async def close(self) -> None:
        """End the subscription. The pipes stay open."""
        if self._subscription_id and not self._is_ended:
            message = SubscriptionClose(subscription_id=self._subscription_id, reason_code="subscriber_shutdown")
            with contextlib.suppress(ChannelRefused):  # the agent has already ended
                await self.send(encode(message))


class StdioChannel(DuplexChannel):
    """A subscriber's channel to an agent's process, which is started once, with the first request."""

    def __init__(self, command: Sequence[str], exit_timeout: float) -> None:
        super().__init__(self._open_connection, self._refuse_manifest)
        self._command = command
        self._exit_timeout = exit_timeout
        self._agent: AgentProcess | None = None

    async def close(self) -> None:
        """End the subscription and the agent's process."""
        try:
            await super().close()
        finally:
            await self._end_agent()

    async def _open_connection(self) -> _StdioConnection:
        if self._agent is None:
            self._agent = await start_agent(self._command)
            if self._is_closed:
                await self._end_agent()
        return _StdioConnection(self._agent)

    async def _end_agent(self) -> None:
        if self._agent is not None:
            await self._agent.end(self._exit_timeout)

    async def _refuse_manifest(self) -> bytes:
        raise ChannelRefused("An agent on pipes has no place for a manifest. Ask for a signed one.")  # CF-118


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> StdioChannel:
    """
    Return a channel to the agent that a command starts. It is started with the first request, without a shell.

    Closing the channel closes the agent's input. An agent that has not exited after
    ``options.exit_timeout`` seconds gets SIGTERM, and after the same time again SIGKILL. An agent
    that has exited is not restarted: its work might be done twice.
    """
    try:
        command = shlex.split(url.partition(":")[2])
    except ValueError as error:
        raise AaepError(f"{url!r} cannot be taken apart: {error}. Write stdio:COMMAND ARGS.") from None
    if not command:
        raise AaepError("Which agent? Write stdio:COMMAND ARGS.")
    return StdioChannel(command, options.exit_timeout)


def _decode_or_default(data: bytes, shape: type[T]) -> T:
    """Return decoded JSON; an empty ``shape`` if it does not fit."""
    try:
        return cast(T, _DECODERS[shape](data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return shape()
