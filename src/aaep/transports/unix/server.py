"""
The server side of Unix domain sockets (Appendix B.4).

The URL is ``unix:///path/to/agent.sock``, or ``unix:AGENT_ID`` for the conventional
path of an agent's socket. Messages are length-prefixed or lines of JSON, whichever
the client begins with (CF-106).
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, cast
from urllib.parse import quote

import msgspec
from msgspec import UNSET

from ...errors import FrameError
from ...hub.face import HubFace
from ...identity.credentials import Credentials, Identity, Local, Unauthenticated, Unauthorised
from ...protocol.codec import encode, replace
from ...protocol.fields import Message
from ...protocol.framing import (
    Decoder,
    NdjsonDecoder,
    choose_decoder,
    encode_length_prefixed,
    encode_ndjson,
)
from ...protocol.messages import SubscriptionAccepted, SubscriptionClose, SubscriptionRejected
from ...runtime.background import close_server
from ...runtime.files import write_private_file
from ...runtime.loop_errors import check_files_left
from ..duplex_server import NO_PEER, Conversation
from ..options import DEFAULT_SERVER_OPTIONS, ServerOptions
from .paths import (
    BACKLOG,
    choose_socket_path,
    get_manifest_path,
    get_peer_ids,
    open_listening_socket,
    remove_socket,
)

__all__ = ["UnixServer", "serve"]

log: Final = logging.getLogger("aaep.unix")

TRANSPORT: Final = "unix-socket"  # its name in a manifest (CF-119)
_GRACE: Final = 0.4  # seconds for open connections to end when a server closes


def _frame_length_prefixed(event_id: str, data: bytes) -> bytes:
    return encode_length_prefixed(data)  # UDS-007


def _frame_line(event_id: str, data: bytes) -> bytes:
    return encode_ndjson(data)  # UDS-008


def _discard(data: bytes) -> None:
    """Discard data: the connection has ended, and the hub is about to be notified."""


# -- connections ---------------------------------------------------------------------------


class UnixConversation(Conversation, asyncio.Protocol):
    """One client's connection: asyncio's Protocol on one side, the hub's FrameWriter on the other."""

    def __init__(self, server: UnixServer) -> None:
        super().__init__(server.hub, NO_PEER)
        self.frame = _frame_length_prefixed
        # Replaced by the transport's own methods once the connection is made.
        self.write: Callable[[bytes], None] = _discard
        self.count_unsent_bytes: Callable[[], int] = int
        self.sink: asyncio.Transport
        self._server = server
        self._transport: asyncio.Transport
        self._decoder: Decoder | None = None

    # -- callbacks of asyncio --------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Authenticate the client by the uid and pid that the kernel reports."""
        self._transport = cast(asyncio.Transport, transport)
        if self._server.is_closed:  # after the connection was accepted
            self._transport.abort()
            return
        self.write = self._transport.write
        self.count_unsent_bytes = self._transport.get_write_buffer_size
        self.sink = self._transport
        # Events stop at high_water_bytes. Beyond it there are only answers that the client does not read.
        self._transport.set_write_buffer_limits(high=2 * self._server.hub.settings.high_water_bytes)
        self._server.conversations.add(self)
        check_files_left(transport)
        uid, pid = get_peer_ids(self._transport.get_extra_info("socket"))  # CF-107: for every connection
        credentials = Credentials(transport=TRANSPORT, uid=uid, pid=pid, address=f"uid {uid}")
        try:
            self.peer = self._server.identity.authenticate(credentials)
        except Unauthenticated as refused:
            self._reject_client("authentication_required", str(refused))
        except Unauthorised as refused:
            self._reject_client("authorization_denied", str(refused))
        except Exception:
            log.exception("It could not be decided who this is, so it is not let in.")
            self._reject_client("unknown", "The agent's side failed.")
        else:
            self.start(self._server.request_timeout)

    def data_received(self, data: bytes) -> None:
        """Decode and handle received data; discard it once the connection has ended."""
        if not self.is_open:
            return
        if self._decoder is not None and self.subscription_id is not None:
            message = self._decoder.extract_single(data)
            if message and message.isascii():  # invalid JSON is refused by receive()
                self.receive(message)
                return
        self._decode(data)

    def _decode(self, data: bytes) -> None:
        try:
            if self._decoder is None:
                self._decoder = choose_decoder(data)(self._server.max_message_bytes)  # CF-106, UDS-009
                if isinstance(self._decoder, NdjsonDecoder):
                    self.frame = _frame_line
            frames = self._decoder.feed(data)
        except FrameError as error:
            frames = [error]
        for item in frames:
            if not self.is_open:  # an earlier message ended the connection
                return
            if isinstance(item, FrameError):  # CF-113, CF-114
                self.refuse()
            else:
                self.receive(item.data)

    def eof_received(self) -> bool:
        """Let the connection end: a client that stops sending has left, and an incomplete message is dropped."""
        return False

    def pause_reading(self) -> None:
        """Stop reading from a client."""
        if self.is_open:
            self._transport.pause_reading()

    def resume_reading(self) -> None:
        """Read from a client again."""
        if self.is_open:
            self._transport.resume_reading()

    def pause_writing(self) -> None:
        """Stop reading from a client that does not read its answers."""
        self.pause_reading()

    def resume_writing(self) -> None:
        """Resume reading from a client that reads its answers again."""
        self.resume_reading()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Notify the hub and the server that the connection is lost."""
        self.write = _discard
        self.mark_lost()
        self._server.forget(self)

    # -- sending and closing ---------------------------------------------------------------

    def send_message(self, message: Message) -> None:
        """Send a message other than an event, with the manifest's URI added to subscription.accepted."""
        super().send_message(self._server.add_manifest_uri(message))

    def _reject_client(self, reason: str, text: str) -> None:
        """Reject the client before any data was read, and therefore in the preferred framing (UDS-007)."""
        log.info("A connection was refused: %s.", reason)
        self.reject(SubscriptionRejected(reason_code=cast(Literal["unknown"], reason), reason_message=text))

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Half-close the connection. Incoming data is read and discarded, so that the last messages still arrive."""
        self.write = _discard
        if not self._transport.is_closing():
            self._transport.resume_reading()
            self._transport.write_eof()

    def abort(self) -> None:
        """Drop the connection at once."""
        self._transport.abort()

    def shut_down(self) -> None:
        """End the connection because its server closes."""
        self.write = _discard
        self.mark_lost()
        self._transport.close()


# -- the server ----------------------------------------------------------------------------


class UnixServer:
    """A Unix socket at which a hub is served."""

    transports: Final = (TRANSPORT,)

    def __init__(self, hub: HubFace, identity: Identity, path: Path, options: ServerOptions) -> None:
        self.url = f"unix://{quote(os.fspath(path))}"
        self.hub = hub
        self.identity = identity
        self.max_message_bytes = options.max_message_bytes
        self.request_timeout = options.request_timeout
        self.conversations: set[UnixConversation] = set()
        self.is_closed = False
        self._path = path
        self._inode = path.lstat().st_ino
        self._written_manifest = b""
        self._server: asyncio.AbstractServer | None = None
        self._all_gone: asyncio.Future[None] | None = None

    async def open(self, listening: socket.socket) -> None:
        """Accept connections at a listening socket."""
        self._write_manifest()
        self._server = await asyncio.get_running_loop().create_unix_server(
            lambda: UnixConversation(self), sock=listening, backlog=BACKLOG
        )

    async def close(self) -> None:
        """Stop listening and end every connection. Closing twice is fine."""
        if self._server is None:
            return
        server, self._server = self._server, None
        self.is_closed = True
        remove_socket(self._path, self._inode)
        await close_server(server)
        for conversation in [*self.conversations]:
            conversation.shut_down()
        if self.conversations:
            self._all_gone = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._all_gone], timeout=_GRACE)
        for conversation in [*self.conversations]:
            conversation.abort()

    def forget(self, conversation: UnixConversation) -> None:
        """Remove a connection that has ended."""
        self.conversations.discard(conversation)
        if not self.conversations and self._all_gone is not None and not self._all_gone.done():
            self._all_gone.set_result(None)

    # -- the manifest ----------------------------------------------------------------------

    @property
    def manifest_uri(self) -> str:
        """The file beside the socket, which is there as soon as somebody has subscribed."""
        return get_manifest_path(self._path).as_uri()

    def add_manifest_uri(self, message: Message) -> Message:
        """Return a message with the manifest's URI added, if it is a subscription.accepted without one (CF-118)."""
        if not isinstance(message, SubscriptionAccepted) or message.manifest_uri is not UNSET:
            return message
        if not self._write_manifest():
            return message
        return replace(message, manifest_uri=self.manifest_uri)

    def _write_manifest(self) -> bool:
        """Write the manifest beside the socket if it has changed; return whether it is up to date."""
        manifest = self.hub.manifest()
        if TRANSPORT not in manifest.transports_supported:  # the hub adds this server only once it is open
            transports = (*manifest.transports_supported, TRANSPORT)
            manifest = msgspec.structs.replace(manifest, transports_supported=transports)
        data = encode(manifest)
        if data != self._written_manifest:
            try:
                write_private_file(get_manifest_path(self._path), data)
            except OSError as error:
                log.warning("The manifest could not be written beside the socket: %s.", error.strerror)
                return False
            self._written_manifest = data
        return True


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> UnixServer:
    """
    Serve a hub at a Unix socket; ``unix:`` alone means the conventional path of its agent.

    Without an identity only the user who owns this process may connect.
    """
    path = choose_socket_path(url, hub.offer.producer.agent_id)
    listening, path = await asyncio.to_thread(open_listening_socket, path)
    try:
        identity = Local(os.geteuid()) if options.identity is None else options.identity  # UDS-011
        server = UnixServer(hub, identity, path, options)
        await server.open(listening)
    except BaseException:
        listening.close()
        raise
    return server
