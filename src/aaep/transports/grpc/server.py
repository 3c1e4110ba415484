"""A hub served over gRPC: the address, who is let in there, and one client's stream."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import grpc
from cryptography.x509 import load_pem_x509_certificate

from ...errors import AaepError
from ...hub.face import HubFace
from ...identity.credentials import (
    Credentials,
    Identity,
    TooManyAttempts,
    Unauthenticated,
    Unauthorised,
    authenticate_peer,
)
from ...identity.origins import format_host, split_server_url
from ...identity.peer import Peer
from ...protocol.codec import encode
from ...protocol.messages import SubscriptionClose, SubscriptionRejected
from ..addresses import bind_socket, choose_identity, make_ssl_context, resolve_listen_address
from ..duplex_server import Conversation
from ..options import DEFAULT_SERVER_OPTIONS, ServerOptions, Tls
from .client import connect
from .messages import ENVELOPE, LENGTH, METHODS, SERVICE, batch, each, pack, unpack

__all__ = ["Context", "GrpcConversation", "GrpcServer", "connect", "reject", "serve", "status_of"]

log: Final = logging.getLogger("aaep.grpc")

TRANSPORT: Final = "grpc"  # its name in a manifest (CF-119)
_GRACE: Final = 0.4  # seconds for what is under way when a server closes
_MAX_IDLE: Final = 300_000  # milliseconds that a connection may be open without a call
_SPARE_CALLS: Final = 100  # beside those that are subscriptions
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")  # a proxy sends these for its clients
_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_ALT_NAMES: Final = {"peer_dns": "DNS", "peer_uri": "URI", "peer_email": "email", "peer_ip": "IP Address"}


class GrpcServer:
    """An address where a hub is served over gRPC."""

    transports: Final = (TRANSPORT,)

    def __init__(self, hub: HubFace, identity: Identity, *, is_local: bool, options: ServerOptions) -> None:
        self.url = ""
        self.conversations: set[GrpcConversation] = set()
        self._hub = hub
        self._identity = identity
        self._is_local = is_local
        self._limit = options.max_message_bytes
        self._request_timeout = options.request_timeout
        self._server: grpc.aio.Server | None = None

    async def open(self, url: str, address: str, encryption: grpc.ServerCredentials | None) -> int:
        """Listen, and return the port."""
        max_subscriptions = self._hub.offer.max_subscriptions or self._hub.settings.max_subscriptions
        server = grpc.aio.server(options=self._options(), maximum_concurrent_rpcs=max_subscriptions + _SPARE_CALLS)
        handlers: tuple[Any, Any] = (
            grpc.stream_stream_rpc_method_handler(self._subscribe),
            grpc.unary_unary_rpc_method_handler(self._manifest),
        )
        methods = dict(zip(METHODS, handlers, strict=True))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
        try:
            if encryption is None:
                port = server.add_insecure_port(address)
            else:
                port = server.add_secure_port(address, encryption)
        except RuntimeError as error:
            raise AaepError(f"Cannot listen at {url!r}. Choose another port, or 0 for any free one.") from error
        await server.start()
        self._server = server
        return port

    async def close(self) -> None:
        """Stop listening and end every stream. Closing twice is fine."""
        server, self._server = self._server, None
        if server is None:
            return
        for conversation in [*self.conversations]:
            conversation.leave()
        await server.stop(_GRACE)

    def _options(self) -> list[tuple[str, int]]:
        heartbeat = max(1, int(self._hub.settings.heartbeat_interval * 1000))  # milliseconds
        return [
            ("grpc.so_reuseport", 0),  # else two agents could share one port without knowing
            ("grpc.max_receive_message_length", self._limit + ENVELOPE),  # CF-114
            ("grpc.max_send_message_length", -1),
            ("grpc.keepalive_time_ms", heartbeat),
            ("grpc.keepalive_timeout_ms", 2 * heartbeat),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.http2.min_ping_interval_without_data_ms", min(heartbeat, 5000)),  # clients may ping us as well
            ("grpc.server_handshake_timeout_ms", int(self._request_timeout * 1000)),
            ("grpc.max_connection_idle_ms", _MAX_IDLE),
        ]

    # -- the two methods -------------------------------------------------------------------

    async def _subscribe(self, requests: AsyncIterator[bytes], context: Context) -> None:
        try:
            try:
                peer = await self._admit(context)
            except (Unauthenticated, Unauthorised) as refused:
                return await reject(context, rejection_for(refused))
            if self._server is None:  # it was closed while this client was admitted
                context.set_code(grpc.StatusCode.UNAVAILABLE)
                return context.set_details(_SHUTTING_DOWN)
            conversation = GrpcConversation(self._hub, peer, context, limit=self._limit)
            self.conversations.add(conversation)
            try:
                await conversation.run(self._request_timeout)
            finally:
                self.conversations.discard(conversation)
        except grpc.aio.BaseError:
            log.debug("A reader left while it was written to.")
        except Exception:
            log.exception("A stream failed. This is a bug.")
            _set_failed(context)

    async def _manifest(self, request: bytes, context: Context) -> bytes:
        try:
            await self._admit(context)
            return pack(encode(self._hub.manifest()), typed=False)
        except (Unauthenticated, Unauthorised) as refused:
            context.set_code(status_of(rejection_for(refused).reason_code))
            context.set_details(str(refused))
        except Exception:
            log.exception("The manifest could not be given. This is a bug.")
            _set_failed(context)
        return b""

    async def _admit(self, context: Context) -> Peer:
        """Return who the client is, before anything is read (GRPC-008)."""
        metadata = [(key, str(value)) for key, value in context.invocation_metadata() or ()]
        if any(key in ("origin", "sec-fetch-site") for key, _ in metadata):
            # Only browsers send these, and no web page has a reason to speak gRPC.
            raise Unauthorised("Web pages may not use this server.")
        return await authenticate_peer(self._identity, credentials_of(context, metadata, is_local=self._is_local))


def _set_failed(context: Context) -> None:
    context.set_code(grpc.StatusCode.INTERNAL)
    context.set_details("The server failed, which is a defect.")


# -- admission -----------------------------------------------------------------------------


def rejection_for(refused: Unauthenticated | Unauthorised) -> SubscriptionRejected:
    """Return what a client is told that is not let in."""
    if isinstance(refused, TooManyAttempts):
        return SubscriptionRejected(
            reason_code="rate_limit", reason_message=str(refused), retry_after_seconds=refused.retry_after
        )
    if isinstance(refused, Unauthenticated):
        return SubscriptionRejected(reason_code="authentication_required", reason_message=str(refused))
    return SubscriptionRejected(reason_code="authorization_denied", reason_message=str(refused))


def credentials_of(context: Context, metadata: list[tuple[str, str]], *, is_local: bool) -> Credentials:
    """Return what a call shows of the client that made it."""
    authorizations = [value for key, value in metadata if key == "authorization"]  # CF-108: in lower case
    kind, _, bearer = authorizations[0].partition(" ") if len(authorizations) == 1 else ("", "", "")
    return Credentials(
        transport=TRANSPORT,
        bearer=bearer.strip() if kind.lower() == "bearer" else "",
        certificate=_certificate(context.auth_context()),
        is_loopback=is_local and not any(key in _FORWARDED for key, _ in metadata),
        address=_address(context.peer()),
    )


def _certificate(auth_context: Mapping[str, Iterable[bytes]]) -> dict[str, Any] | None:
    """Return what counts of a certificate that TLS has verified, in the form of ssl's getpeercert()."""
    pem = next(iter(auth_context.get("x509_pem_cert", ())), None)
    if pem is None:
        return None
    expires = load_pem_x509_certificate(pem).not_valid_after_utc
    common_names = [name.decode(errors="replace") for name in auth_context.get("x509_common_name", ())]
    return {
        "subject": tuple((("commonName", name),) for name in common_names),
        "subjectAltName": tuple(
            (kind, name.decode(errors="replace"))
            for field, kind in _ALT_NAMES.items()
            for name in auth_context.get(field, ())
        ),
        "notAfter": expires.strftime(f"{_MONTHS[expires.month - 1]} %d %H:%M:%S %Y GMT"),  # %b depends on the locale
    }


def _address(peer: str) -> str:
    """Return the address in ``ipv4:127.0.0.1:1234`` or ``ipv6:%5B::1%5D:1234``."""
    return peer.partition(":")[2].rpartition(":")[0].removeprefix("%5B").removesuffix("%5D").strip("[]")


# -- opening a server ----------------------------------------------------------------------


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> GrpcServer:
    """
    Serve a hub at a grpc or grpcs URL. Port 0 takes any free port; the server's ``url`` has the real one.

    Without an identity or a token only this machine's user may connect. Beyond this machine one of them
    and TLS, as files, are required (TR-024). With ``tls.ca``, a client that shows no certificate of that
    authority does not get as far as the identity.
    """
    parts, port = split_server_url(url, ("grpc", "grpcs"))
    encryption = _encryption(url, parts.scheme, options.tls)
    listen_address = await resolve_listen_address(
        url, parts, port, choose_identity(options), is_encrypted=encryption is not None
    )
    bind_socket(url, listen_address.numeric, port).close()  # what is wrong with it is said better here
    server = GrpcServer(hub, listen_address.identity, is_local=listen_address.is_local, options=options)
    bound_to = f"{format_host(listen_address.numeric)}:{port}"
    server.url = listen_address.url(await server.open(url, bound_to, encryption))
    return server


def _encryption(url: str, scheme: str, tls: Tls | None) -> grpc.ServerCredentials | None:
    """Return what to encrypt with, if the URL says so. gRPC itself takes nothing older than TLS 1.2 (TR-027)."""
    if scheme == "grpcs" and (tls is None or tls.cert is None or tls.key is None or tls.context is not None):
        raise AaepError("grpcs:// needs tls=Tls(cert=…, key=…), two files in PEM format.")
    # The library has its own TLS, and says little about what is wrong with a file.
    if make_ssl_context(url, scheme, tls) is None or tls is None or tls.cert is None or tls.key is None:
        return None
    roots = None if tls.ca is None else Path(tls.ca).read_bytes()
    chain = (Path(tls.key).read_bytes(), Path(tls.cert).read_bytes())
    return grpc.ssl_server_credentials([chain], roots, require_client_auth=roots is not None)


# -- one client ------------------------------------------------------------------------------

Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]

_SHUTTING_DOWN: Final = "The agent's side is shutting down."
_STATUS: Final = {  # CF-108: a summary; the detail is in the message before it
    "authentication_required": grpc.StatusCode.UNAUTHENTICATED,
    "authentication_expired": grpc.StatusCode.UNAUTHENTICATED,
    "authorization_denied": grpc.StatusCode.PERMISSION_DENIED,
    "rate_limit": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "slow_consumer": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "transport_unavailable": grpc.StatusCode.UNAVAILABLE,
    "producer_shutdown": grpc.StatusCode.UNAVAILABLE,
    "server_closing": grpc.StatusCode.UNAVAILABLE,
    "unknown": grpc.StatusCode.UNAVAILABLE,
    "version_unsupported": grpc.StatusCode.FAILED_PRECONDITION,
    "capabilities_incompatible": grpc.StatusCode.FAILED_PRECONDITION,
    "manifest_signature_required": grpc.StatusCode.FAILED_PRECONDITION,
    "superseded": grpc.StatusCode.ABORTED,
    "protocol_error": grpc.StatusCode.INVALID_ARGUMENT,
    "no_request": grpc.StatusCode.DEADLINE_EXCEEDED,  # GRPC-006
    "failed": grpc.StatusCode.INTERNAL,
    "subscriber_shutdown": grpc.StatusCode.OK,
}
_DETAILS: Final = {
    "protocol_error": "Malformed message.",
    "subscriber_shutdown": "",
    "server_closing": _SHUTTING_DOWN,
    "no_request": "No subscription.request came in time.",
    "failed": "The server failed, which is a defect.",
}


def status_of(reason: str) -> grpc.StatusCode:
    """Return the status that sums a reason up. Reasons that are not known are refusals."""
    return _STATUS.get(reason, grpc.StatusCode.FAILED_PRECONDITION)


async def reject(context: Context, rejection: SubscriptionRejected) -> None:
    """Say no before anything was read (CF-108)."""
    context.set_code(status_of(rejection.reason_code))
    context.set_details(rejection.reason_message)
    await context.write(pack(encode(rejection)))


class GrpcConversation(Conversation):
    """One client's stream. On the hub's loop; only :meth:`run` waits."""

    def __init__(self, hub: HubFace, peer: Peer, context: Context, *, limit: int) -> None:
        super().__init__(hub, peer)
        self.frame = batch
        self.sink = self  # nothing waits here but what was written
        self._context = context
        self._limit = limit
        self._high_water = hub.settings.high_water_bytes
        self._queue: deque[bytes] = deque()
        self._size = 0  # bytes of it, with what the library is about to take
        self._is_taking = False
        self._is_writing = False
        self._has_work = asyncio.Event()
        self._has_room = asyncio.Event()
        self._deadline = asyncio.timeout(None)  # for sending, once the client has lingered too long

    # -- what the hub calls ------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Queue frames."""
        if self.is_open:
            self._queue.append(data)
            self._size += len(data)
            if not self._is_taking:
                self._has_work.set()

    def waiting(self) -> int:
        """Return how many bytes the library has not taken yet."""
        return self._size

    # -- from the beginning to the end ---------------------------------------------------------

    async def run(self, request_timeout: float) -> None:
        """Talk until it is over. Cancelled by the library when the client is gone (TR-017)."""
        self.start(request_timeout)
        reading = asyncio.get_running_loop().create_task(self._read())
        try:
            async with self._deadline:
                await self._send()
        except TimeoutError:
            log.debug("A reader did not take what was said last.")
        finally:
            self.lost()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Set the status that the stream ends with; it ends when the queue is sent."""
        if message is None:
            details = _DETAILS.get(reason, f"The subscription was refused: {reason}.")
        else:
            details = message.reason_message if isinstance(message.reason_message, str) else ""
        self._context.set_code(status_of(reason))
        self._context.set_details(details)
        self._has_work.set()

    def abort(self) -> None:
        """Send nothing of what is left."""
        self._deadline.reschedule(asyncio.get_running_loop().time())

    # -- sending -------------------------------------------------------------------------------

    async def _send(self) -> None:
        while True:
            while self._queue and not self._is_writing:
                await self._write_out(self._queue.popleft())
            if not self.is_open and not self._is_writing:
                return
            self._has_work.clear()
            await self._has_work.wait()

    async def _write_out(self, data: bytes) -> None:
        self._is_writing = True
        try:
            for message in each(data):
                await self._context.write(message[LENGTH:])
                self._size -= len(message)
                if self._size <= self._high_water:
                    self._has_room.set()
        finally:
            self._is_writing = False

    async def _answer_now(self) -> None:
        """Write what comes of a message that was just taken, so that no other task has to be woken for it."""
        if self._queue and not self._is_writing:
            await self._write_out(self._queue.popleft())
        if self._queue or not self.is_open:
            self._has_work.set()

    # -- receiving -----------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            while self.is_open:
                raw: Any = await self._context.read()
                if raw is grpc.aio.EOF:
                    break
                self._is_taking = True
                self._take_message(raw)
                self._is_taking = False
                await self._answer_now()
                while self._size > self._high_water:  # a client that does not read is not answered either
                    self._has_room.clear()
                    await self._has_room.wait()
        except grpc.aio.BaseError:
            return  # it is gone, and the task that sends is told
        except Exception:
            log.exception("A message could not be taken. This is a bug.")
            self.end("failed")
        # A client that sends no more may still listen.
        if self.is_open and self.subscription_id is None:
            self.refuse()

    def _take_message(self, raw: bytes) -> None:
        try:
            json = unpack(raw)
        except ValueError:
            json = b""
        if json and len(json) <= self._limit:  # CF-114
            self.receive(json)
        else:
            self.refuse()
