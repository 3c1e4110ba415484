"""
The server side of stdio: JSON-RPC 2.0 over standard input and output (Appendix B.6).

``stdio:`` serves on the pipes of this process; ``stdio:COMMAND ARGS`` starts an
agent and subscribes to it. A line is one JSON-RPC object in UTF-8, terminated by LF
(CF-111). The pipes stay open after a subscription has ended or was rejected, and
another may be requested.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
import sys
from collections.abc import Callable
from typing import Final, cast

from ...errors import AaepError, FrameError, RemoteProtocolError
from ...hub.face import HubFace, UnknownSubscription
from ...identity.credentials import Credentials, Local
from ...identity.peer import Peer
from ...protocol.codec import encode
from ...protocol.fields import Message
from ...protocol.framing import Frame, encode_jsonrpc
from ...protocol.messages import (
    ClarificationReply,
    ConfirmationReply,
    SubscriptionClose,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from ..duplex_server import Conversation
from ..options import DEFAULT_SERVER_OPTIONS, ServerOptions
from .client import connect
from .lines import CLOSE, EVENT, PING, RENEGOTIATE, REPLY, SUBSCRIBE, CallDecoder, InvalidLine, encode_error
from .pipes import PipeEnd

__all__ = ["StdioServer", "connect", "serve"]

log: Final = logging.getLogger("aaep.stdio")

TRANSPORT: Final = "stdio-jsonrpc"  # its name in a manifest (CF-119)
_CALLS: Final[dict[str, tuple[type[Message], ...]]] = {  # STDIO-004, STDIO-006
    SUBSCRIBE: (SubscriptionRequest,),
    RENEGOTIATE: (SubscriptionRenegotiate,),
}
_NOTIFICATIONS: Final[dict[str, tuple[type[Message], ...]]] = {  # STDIO-007, STDIO-008
    REPLY: (ConfirmationReply, ClarificationReply),
    CLOSE: (SubscriptionClose,),
}
_GRACE: Final = 0.4  # seconds to flush pending output when a server closes
_EVENT_HEAD: Final = encode_jsonrpc(b"{}", method=EVENT).partition(b"{}")[0]  # everything before the event in its line


def _frame_event(event_id: str, data: bytes) -> bytes:
    if 10 in data or 13 in data:  # rare: JSON with line breaks
        return encode_jsonrpc(data, method=EVENT)
    return b"%b%b}\n" % (_EVENT_HEAD, data)  # STDIO-003


def _discard(data: bytes) -> None:
    """Discard data: the pipe has ended, and the hub is about to be notified."""


# -- the pipes -----------------------------------------------------------------------------


class _OutputProtocol(asyncio.BaseProtocol):
    """Protocol of the output pipe: forwards asyncio's callbacks to the conversation."""

    def __init__(self, conversation: StdioConversation) -> None:
        self._conversation = conversation

    def pause_writing(self) -> None:
        """Tell the conversation that the output buffer is full."""
        self._conversation.pause_writing()

    def resume_writing(self) -> None:
        """Tell the conversation that the output buffer has room again."""
        self._conversation.resume_writing()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Tell the conversation that the output pipe is closed."""
        self._conversation.output_lost()


class StdioConversation(Conversation, asyncio.Protocol):
    """The only client: asyncio's Protocol for the input pipe, the hub's FrameWriter for the output pipe."""

    def __init__(self, hub: HubFace, peer: Peer, max_message_bytes: int) -> None:
        super().__init__(hub, peer)
        self.frame = _frame_event
        # Replaced by the pipe's own methods once it is connected.
        self.write: Callable[[bytes], None] = _discard
        self.count_unsent_bytes: Callable[[], int] = int
        self.sink: asyncio.WriteTransport
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._max_unsent = 2 * hub.settings.high_water_bytes
        self._decoder = CallDecoder(max_message_bytes)
        self._input: asyncio.ReadTransport | None = None
        self._output: asyncio.WriteTransport
        self._call_id: int | str | None = None  # id of the call that is being answered
        self._has_one_socket = False

    async def open(self, reading: int, writing: int) -> None:
        """Serve on two file descriptors, which are closed at the end."""
        loop = asyncio.get_running_loop()
        if _is_same_file(reading, writing):  # one socket for both, as from inetd
            self._has_one_socket = True
            os.close(writing)
            await loop.create_connection(lambda: self, sock=socket.socket(fileno=reading))
        else:
            self._output, _ = await loop.connect_write_pipe(lambda: _OutputProtocol(self), PipeEnd(writing, loop))
            await loop.connect_read_pipe(lambda: self, PipeEnd(reading, loop))

    # -- callbacks of asyncio --------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the input pipe; the output pipe is open already."""
        self._input = cast(asyncio.ReadTransport, transport)
        if self._has_one_socket:
            self._output = cast(asyncio.WriteTransport, transport)
        self.write = self._output.write
        self.count_unsent_bytes = self._output.get_write_buffer_size
        self.sink = self._output
        # Events stop at high_water_bytes. Beyond it there are only answers that the client does not read.
        self._output.set_write_buffer_limits(high=self._max_unsent)

    def data_received(self, data: bytes) -> None:
        """Handle the lines that are complete."""
        for item in self._decoder.feed(data):
            if self.is_open:
                self._handle_line(item)

    def eof_received(self) -> None:
        """End the pipes: a client that stops sending has left, and an incomplete line is dropped."""
        self.shut_down()

    def connection_lost(self, exc: BaseException | None) -> None:
        """End the pipes because the input is closed."""
        if self._has_one_socket:
            self.output_lost()
        self.shut_down()

    def pause_reading(self) -> None:
        """Stop reading from the client."""
        if self._input is not None and self.is_open:
            self._input.pause_reading()

    def resume_reading(self) -> None:
        """Read from the client again."""
        if self._input is not None and self.is_open:
            self._input.resume_reading()

    def pause_writing(self) -> None:
        """Stop reading from a client that does not read its answers."""
        self.pause_reading()

    def resume_writing(self) -> None:
        """Resume reading from a client that reads its answers again."""
        self.resume_reading()

    def output_lost(self) -> None:
        """Record that the client no longer reads the output pipe."""
        if not self.ended.done():
            self.ended.set_result(None)
        self.shut_down()
        self.mark_lost()

    # -- closing ---------------------------------------------------------------------------

    def close(self, message: SubscriptionClose | None) -> None:
        """End the subscription. The pipes stay open for another one."""
        if message is not None:
            self.send_message(message)
        self.subscription_id = None

    def end(self, reason: str, message: SubscriptionClose | None = None) -> None:
        """End the pipes after a protocol error; keep them open after a closed or rejected subscription."""
        if reason == "protocol_error":
            self.shut_down()

    def shut_down(self) -> None:
        """Stop reading, and write only what is already buffered."""
        super().end("server_closing")

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Close both pipes."""
        self.write = _discard
        if self._input is not None:
            self._input.close()
        self._output.close()

    def abort(self) -> None:
        """Discard output that the client has not read."""
        if not self.ended.done():
            self._output.abort()

    # -- lines -----------------------------------------------------------------------------

    def _handle_line(self, item: Frame | FrameError) -> None:
        if isinstance(item, InvalidLine):
            log.info("A line was refused: it is no call that is known here.")
            if item.code:
                self.write(encode_error(item.code, item.call))
        if isinstance(item, FrameError):
            if item.fatal:  # CF-114
                self.refuse()
        elif item.method in _NOTIFICATIONS:
            self._handle_notification(item)
        elif item.method == PING:
            self._acknowledge(item)
        elif item.call is None:
            log.info("A notification was ignored: it has no meaning here.")  # JSON-RPC 2.0 §4.1: never answered
        elif item.method in _CALLS:
            self._handle_call(item, item.call)
        elif item.method:
            self.write(encode_error(-32601, item.call))
        else:
            log.info("An answer was ignored: nothing was asked.")

    def _handle_notification(self, item: Frame) -> None:
        try:
            self.handle_message(item.data, _NOTIFICATIONS[item.method])
        except (RemoteProtocolError, UnknownSubscription):
            log.info("A notification was refused.")  # CF-110: without an error to the client
        self._acknowledge(item)

    def _acknowledge(self, item: Frame) -> None:
        """Send the empty result to a ping, or to a notification sent as a call (CF-012, CF-110)."""
        if item.call is not None:
            self.write(encode_jsonrpc(b"{}", call=item.call))

    def _handle_call(self, item: Frame, call: int | str) -> None:
        self._call_id = call
        try:
            self.handle_message(item.data, _CALLS[item.method])
        except (RemoteProtocolError, UnknownSubscription):
            self.write(encode_error(-32602, call))

    def send_message(self, message: Message) -> None:
        """Send a message other than an event: a close as a notification, an answer as the result of its call."""
        if isinstance(message, SubscriptionClose):
            self.write(encode_jsonrpc(encode(message), method=CLOSE))  # STDIO-008
        else:
            # STDIO-005, CF-110: a rejection is a result too
            self.write(encode_jsonrpc(encode(message), call=self._call_id))


# -- the server ----------------------------------------------------------------------------


class StdioServer:
    """A hub served on the pipes of this process. The future ``ended`` is done when the client has left."""

    transports: Final = (TRANSPORT,)

    def __init__(self, conversation: StdioConversation) -> None:
        self.url = "stdio:"
        self.ended = conversation.ended
        self._conversation = conversation

    async def close(self) -> None:
        """Close the pipes. Closing twice is fine."""
        self._conversation.shut_down()
        if not self.ended.done():
            await asyncio.wait([self.ended], timeout=_GRACE)
        self._conversation.abort()


async def serve(
    hub: HubFace,
    url: str,
    options: ServerOptions = DEFAULT_SERVER_OPTIONS,
    *,
    reading: int | None = None,
    writing: int | None = None,
) -> StdioServer:
    """
    Serve a hub on this process's standard input and output, for the parent process.

    From then on printed text goes to standard error, so that it cannot mix with the
    messages (STDIO-011). ``reading`` and ``writing`` are file descriptors to use instead.
    """
    if url.partition(":")[2].strip("/ "):
        raise AaepError("An agent serves on the pipes it was started with. Write stdio: and nothing after it.")
    if (reading is None) != (writing is None):
        raise AaepError("Give both reading= and writing=, or none of them.")
    identity = Local() if options.identity is None else options.identity
    peer = identity.authenticate(Credentials(transport=TRANSPORT, is_over_pipes=True))
    conversation = StdioConversation(hub, peer, options.max_message_bytes)
    if reading is None or writing is None:
        reading, writing = _take_standard_streams()
    await conversation.open(reading, writing)
    return StdioServer(conversation)


def _take_standard_streams() -> tuple[int, int]:
    """Return duplicates of standard input and output, and redirect the originals away from the messages."""
    for descriptor, name in enumerate(("input", "output")):
        if not _is_pipe(descriptor):
            raise AaepError(
                f"Standard {name} is not a pipe. stdio: is for agents that a reader starts: "
                "aaep listen 'stdio:COMMAND ARGS'."
            )
    if _is_same_file(1, 2):
        raise AaepError(
            "Standard output and standard error are one pipe, so that what is printed would get between "
            "the messages. Keep them apart."
        )
    reading, writing = os.dup(0), os.dup(1)
    devnull = os.open(os.devnull, os.O_RDWR)
    os.dup2(devnull, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # this process has no standard error
        os.dup2(devnull, 1)
    os.close(devnull)
    if sys.stdout is not None:
        sys.stdout.flush()  # text that was printed before
    return reading, writing


def _is_pipe(descriptor: int) -> bool:
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _is_same_file(first: int, second: int) -> bool:
    try:
        return os.path.samestat(os.fstat(first), os.fstat(second))
    except OSError:
        return False
