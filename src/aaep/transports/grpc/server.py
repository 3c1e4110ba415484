"""The server side of gRPC: the server, the authentication of calls, and the clients' streams."""

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
from ..addresses import bind_socket, choose_identity, make_server_ssl_context, resolve_listen_address
from ..duplex_server import Conversation
from ..options import DEFAULT_SERVER_OPTIONS, ServerOptions, Tls
from .client import connect
from .messages import ENVELOPE_BYTES, LENGTH_BYTES, METHODS, SERVICE, pack, pack_with_length, split_packed, unpack

__all__ = ["Context", "GrpcConversation", "GrpcServer", "connect", "reject", "serve", "status_for_reason"]

log: Final = logging.getLogger("aaep.grpc")

Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]

TRANSPORT: Final = "grpc"  # its name in a manifest (CF-119)
_GRACE: Final = 0.4  # seconds for open streams to end when a server closes
_MAX_IDLE_TIME: Final = 300_000  # milliseconds that a connection may stay open without a call
_MAX_UNREAD_BYTES: Final = 16 * 1024  # of one stream, on the way: what an agent says last stands behind them
_SPARE_CALLS: Final = 100  # concurrent calls beyond the number of subscriptions
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")  # metadata that proxies add
_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_ALT_NAMES: Final = {"peer_dns": "DNS", "peer_uri": "URI", "peer_email": "email", "peer_ip": "IP Address"}
_SHUTTING_DOWN: Final = "The agent's side is shutting down."
_STATUS: Final = {  # CF-108: a summary; the message before it has the details
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


class GrpcServer:
    """An address at which a hub is served over gRPC."""

    transports: Final = (TRANSPORT,)

    def __init__(self, hub: HubFace, identity: Identity, *, is_local: bool, options: ServerOptions) -> None:
        self.url = ""
        self.conversations: set[GrpcConversation] = set()
        self._hub = hub
        self._identity = identity
        self._is_local = is_local
        self._max_message_bytes = options.max_message_bytes
        self._request_timeout = options.request_timeout
        self._server: grpc.aio.Server | None = None

    async def open(self, url: str, address: str, encryption: grpc.ServerCredentials | None) -> int:
        """Start listening and return the bound port."""
        max_subscriptions = self._hub.offer.max_subscriptions or self._hub.settings.max_subscriptions
        server = grpc.aio.server(
            options=self._build_options(), maximum_concurrent_rpcs=max_subscriptions + _SPARE_CALLS
        )
        handlers: tuple[Any, Any] = (
            grpc.stream_stream_rpc_method_handler(self._handle_subscribe),
            grpc.unary_unary_rpc_method_handler(self._handle_get_manifest),
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

    @property
    def manifest_uri(self) -> str:
        """The method that returns the manifest, at this address."""
        return f"{self.url}/{SERVICE}/{METHODS[1]}"

    async def close(self) -> None:
        """Stop listening and end every stream. Closing twice is fine."""
        server, self._server = self._server, None
        if server is None:
            return
        for conversation in [*self.conversations]:
            conversation.shut_down()
        await server.stop(_GRACE)

    def _build_options(self) -> list[tuple[str, int]]:
        heartbeat = max(1, int(self._hub.settings.heartbeat_interval * 1000))  # milliseconds
        return [
            ("grpc.so_reuseport", 0),  # otherwise two agents could share a port unknowingly
            ("grpc.max_receive_message_length", self._max_message_bytes + ENVELOPE_BYTES),  # CF-114
            ("grpc.max_send_message_length", -1),
            ("grpc.keepalive_time_ms", heartbeat),
            ("grpc.keepalive_timeout_ms", 2 * heartbeat),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.http2.min_ping_interval_without_data_ms", min(heartbeat, 5000)),  # clients may send pings too
            ("grpc.server_handshake_timeout_ms", int(self._request_timeout * 1000)),
            ("grpc.max_connection_idle_ms", _MAX_IDLE_TIME),
            ("grpc.http2.bdp_probe", 0),  # what an agent says last would stand behind megabytes that are on the way
            ("grpc.http2.lookahead_bytes", _MAX_UNREAD_BYTES),
        ]

    # -- methods of the service ------------------------------------------------------------

    async def _handle_subscribe(self, requests: AsyncIterator[bytes], context: Context) -> None:
        try:
            try:
                peer = await self._authenticate(context)
            except (Unauthenticated, Unauthorised) as error:
                return await reject(context, build_rejection(error))
            if self._server is None:  # closed during authentication
                context.set_code(grpc.StatusCode.UNAVAILABLE)
                return context.set_details(_SHUTTING_DOWN)
            conversation = GrpcConversation(self._hub, peer, context, max_message_bytes=self._max_message_bytes)
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

    async def _handle_get_manifest(self, request: bytes, context: Context) -> bytes:
        try:
            await self._authenticate(context)
            return pack(encode(self._hub.manifest()), typed=False)
        except (Unauthenticated, Unauthorised) as error:
            context.set_code(status_for_reason(build_rejection(error).reason_code))
            context.set_details(str(error))
        except Exception:
            log.exception("The manifest could not be given. This is a bug.")
            _set_failed(context)
        return b""

    async def _authenticate(self, context: Context) -> Peer:
        """Return the authenticated client of a call, before any message is read (GRPC-008)."""
        metadata = [(key, str(value)) for key, value in context.invocation_metadata() or ()]
        if any(key in ("origin", "sec-fetch-site") for key, _ in metadata):
            # Only browsers send these, and web pages have no reason to use gRPC.
            raise Unauthorised("Web pages may not use this server.")
        return await authenticate_peer(
            self._identity, credentials_from_call(context, metadata, is_local=self._is_local)
        )


def _set_failed(context: Context) -> None:
    context.set_code(grpc.StatusCode.INTERNAL)
    context.set_details("The server failed, which is a defect.")


# -- authentication ------------------------------------------------------------------------


def build_rejection(error: Unauthenticated | Unauthorised) -> SubscriptionRejected:
    """Return the rejection for a client that failed authentication or authorization."""
    if isinstance(error, TooManyAttempts):
        return SubscriptionRejected(
            reason_code="rate_limit", reason_message=str(error), retry_after_seconds=error.retry_after
        )
    if isinstance(error, Unauthenticated):
        return SubscriptionRejected(reason_code="authentication_required", reason_message=str(error))
    return SubscriptionRejected(reason_code="authorization_denied", reason_message=str(error))


def credentials_from_call(context: Context, metadata: list[tuple[str, str]], *, is_local: bool) -> Credentials:
    """Return the credentials that a call carries."""
    authorizations = [value for key, value in metadata if key == "authorization"]  # CF-108: in lower case
    kind, _, bearer = authorizations[0].partition(" ") if len(authorizations) == 1 else ("", "", "")
    return Credentials(
        transport=TRANSPORT,
        bearer=bearer.strip() if kind.lower() == "bearer" else "",
        certificate=_parse_certificate(context.auth_context()),
        is_loopback=is_local and not any(key in _FORWARDED for key, _ in metadata),
        address=_parse_address(context.peer()),
    )


def _parse_certificate(auth_context: Mapping[str, Iterable[bytes]]) -> dict[str, Any] | None:
    """Return the relevant fields of the verified client certificate, in the form of ssl's getpeercert()."""
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


def _parse_address(peer: str) -> str:
    """Return the address of a peer such as ``ipv4:127.0.0.1:1234`` or ``ipv6:%5B::1%5D:1234``."""
    return peer.partition(":")[2].rpartition(":")[0].removeprefix("%5B").removesuffix("%5D").strip("[]")


# -- opening of servers --------------------------------------------------------------------


async def serve(hub: HubFace, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> GrpcServer:
    """
    Serve a hub at a grpc or grpcs URL. Port 0 takes any free port; the server's ``url`` has the bound one.

    Without an identity or a token only the user of this machine may connect. An address that other
    machines can reach requires one of them and TLS, as files (TR-024). With ``tls.ca``, clients without
    a certificate of that authority fail in the TLS handshake.
    """
    parts, port = split_server_url(url, ("grpc", "grpcs"))
    encryption = _load_server_credentials(url, parts.scheme, options.tls)
    listen_address = await resolve_listen_address(
        url, parts, port, choose_identity(options), is_encrypted=encryption is not None
    )
    bind_socket(url, listen_address.ip_address, port).close()  # for better error messages
    server = GrpcServer(hub, listen_address.identity, is_local=listen_address.is_local, options=options)
    bound_to = f"{format_host(listen_address.ip_address)}:{port}"
    server.url = listen_address.build_url(await server.open(url, bound_to, encryption))
    return server


def _load_server_credentials(url: str, scheme: str, tls: Tls | None) -> grpc.ServerCredentials | None:
    """Return the TLS credentials for a grpcs URL; None for grpc. gRPC itself requires TLS 1.2 (TR-027)."""
    if scheme == "grpcs" and (tls is None or tls.cert is None or tls.key is None or tls.context is not None):
        raise AaepError("grpcs:// needs tls=Tls(cert=…, key=…), two files in PEM format.")
    # The context is made only to check the files: gRPC has its own TLS and hardly explains what is wrong with them.
    if make_server_ssl_context(url, scheme, tls) is None or tls is None or tls.cert is None or tls.key is None:
        return None
    roots = None if tls.ca is None else Path(tls.ca).read_bytes()
    chain = (Path(tls.key).read_bytes(), Path(tls.cert).read_bytes())
    return grpc.ssl_server_credentials([chain], roots, require_client_auth=roots is not None)


# -- streams ---------------------------------------------------------------------------------


def status_for_reason(reason: str) -> grpc.StatusCode:
    """Return the gRPC status that summarises a reason; FAILED_PRECONDITION for an unknown one."""
    return _STATUS.get(reason, grpc.StatusCode.FAILED_PRECONDITION)


async def reject(context: Context, rejection: SubscriptionRejected) -> None:
    """Send a rejection before any message is read (CF-108)."""
    context.set_code(status_for_reason(rejection.reason_code))
    context.set_details(rejection.reason_message)
    await context.write(pack(encode(rejection)))


class GrpcConversation(Conversation):
    """One client's stream. Runs on the hub's loop; only :meth:`run` waits."""

    def __init__(self, hub: HubFace, peer: Peer, context: Context, *, max_message_bytes: int) -> None:
        super().__init__(hub, peer)
        self.frame = pack_with_length
        self.sink = self  # its buffer holds nothing but what was written
        self._context = context
        self._max_message_bytes = max_message_bytes
        self._high_water_bytes = hub.settings.high_water_bytes
        self._queue: deque[bytes] = deque()
        self._queued_bytes = 0  # including the message that is being written
        self._is_handling = False
        self._is_writing = False
        self._has_work = asyncio.Event()
        self._has_room = asyncio.Event()
        self._send_deadline = asyncio.timeout(None)  # set when the client stops reading

    # -- called by the hub -------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        """Queue one or more frames."""
        if self.is_open:
            self._queue.append(data)
            self._queued_bytes += len(data)
            if not self._is_handling:
                self._has_work.set()

    def count_unsent_bytes(self) -> int:
        """Return how many bytes were not passed to the library yet."""
        return self._queued_bytes

    # -- lifecycle -----------------------------------------------------------------------------

    async def run(self, request_timeout: float) -> None:
        """Send and receive until the stream ends. The library cancels this when the client leaves (TR-017)."""
        self.start(request_timeout)
        reading = asyncio.get_running_loop().create_task(self._read())
        try:
            async with self._send_deadline:
                await self._send()
        except TimeoutError:
            log.debug("A reader did not take what was said last.")
        finally:
            self.mark_lost()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    def hang_up(self, reason: str, message: SubscriptionClose | None) -> None:
        """Set the final status of the stream, which ends once the queue is sent."""
        if message is None:
            details = _DETAILS.get(reason, f"The subscription was refused: {reason}.")
        else:
            details = message.reason_message if isinstance(message.reason_message, str) else ""
        self._context.set_code(status_for_reason(reason))
        self._context.set_details(details)
        self._has_work.set()

    def abort(self) -> None:
        """Discard the queue and end the stream."""
        self._send_deadline.reschedule(asyncio.get_running_loop().time())

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
            for message in split_packed(data):
                await self._context.write(message[LENGTH_BYTES:])
                self._queued_bytes -= len(message)
                if self._queued_bytes <= self._high_water_bytes:
                    self._has_room.set()
        finally:
            self._is_writing = False

    async def _send_queued(self) -> None:
        """Send the answer to the message just handled from this task, which saves waking the other one."""
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
                self._is_handling = True
                self._handle_raw(raw)
                self._is_handling = False
                await self._send_queued()
                while self._queued_bytes > self._high_water_bytes:  # stop reading from a client that does not read
                    self._has_room.clear()
                    await self._has_room.wait()
                await self.wait_while_paused()
        except grpc.aio.BaseError:
            return  # the client has left; the sending task ends by itself
        except Exception:
            log.exception("A message could not be taken. This is a bug.")
            self.end("failed")
        # A client that has ended its side may still read.
        if self.is_open and self.subscription_id is None:
            self.refuse()

    def _handle_raw(self, raw: bytes) -> None:
        try:
            json = unpack(raw)
        except ValueError:
            json = b""
        if json and len(json) <= self._max_message_bytes:  # CF-114
            self.receive(json)
        else:
            self.refuse()
