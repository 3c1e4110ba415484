"""An address where a hub is served over gRPC, and who is let in there."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
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
from ...identity.origins import split
from ...identity.peer import Peer
from ...protocol.codec import encode
from ...protocol.fields import Message
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...protocol.messages import SubscriptionClose, SubscriptionRejected
from ..addresses import admitting, context, listening, placed
from ..duplex_server import Exchange
from .client import connect
from .messages import ENVELOPE, LENGTH, METHODS, SERVICE, batch, each, pack, unpack

__all__ = ["Context", "Conversation", "GrpcDoor", "connect", "reject", "serve", "status_of"]

log: Final = logging.getLogger("aaep.grpc")

_GRACE: Final = 0.4  # seconds for what is under way when a door closes
_IDLE: Final = 300_000  # milliseconds that a connection may be open for nothing
_SPARE: Final = 100  # calls beside those that are subscriptions
_FORWARDED: Final = ("forwarded", "x-forwarded-for", "x-real-ip", "via")  # a proxy stands there for others
_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()
_NAMES: Final = {"peer_dns": "DNS", "peer_uri": "URI", "peer_email": "email", "peer_ip": "IP Address"}


class GrpcDoor:
    """An address where a hub is served over gRPC."""

    transport: Final = "grpc"  # its name in a manifest (CF-119)

    def __init__(self, hub: HubFace, identity: Identity, *, local: bool, limit: int, patience: float) -> None:
        self.url = ""
        self._hub, self._identity, self._local = hub, identity, local
        self._limit, self._patience = limit, patience
        self.conversations: set[Conversation] = set()
        self._server: grpc.aio.Server | None = None

    async def open(self, url: str, place: str, encryption: grpc.ServerCredentials | None) -> int:
        """Listen, and give back the port."""
        most = self._hub.offer.max_subscriptions or self._hub.settings.max_subscriptions
        server = grpc.aio.server(options=self._options(), maximum_concurrent_rpcs=most + _SPARE)
        kinds: tuple[Any, Any] = (
            grpc.stream_stream_rpc_method_handler(self._subscribe),
            grpc.unary_unary_rpc_method_handler(self._manifest),
        )
        methods = dict(zip(METHODS, kinds, strict=True))
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, methods),))
        try:
            port = server.add_insecure_port(place) if encryption is None else server.add_secure_port(place, encryption)
        except RuntimeError as error:
            raise AaepError(f"Cannot listen at {url!r}. Choose another port, or 0 for any free one.") from error
        await server.start()
        self._server = server
        return port

    async def close(self) -> None:
        """Stop listening and let go of every stream. Closing twice is fine."""
        server, self._server = self._server, None
        if server is None:
            return
        for one in [*self.conversations]:
            one.leave()
        await server.stop(_GRACE)

    def _options(self) -> list[tuple[str, int]]:
        beat = max(1, int(self._hub.settings.heartbeat_interval * 1000))
        return [
            ("grpc.so_reuseport", 0),  # else two agents could share one port without knowing
            ("grpc.max_receive_message_length", self._limit + ENVELOPE),  # CF-114
            ("grpc.max_send_message_length", -1),
            ("grpc.keepalive_time_ms", beat),
            ("grpc.keepalive_timeout_ms", 2 * beat),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.http2.min_ping_interval_without_data_ms", min(beat, 5000)),  # readers may look after us as well
            ("grpc.server_handshake_timeout_ms", int(self._patience * 1000)),
            ("grpc.max_connection_idle_ms", _IDLE),
        ]

    # -- the two methods -------------------------------------------------------------------

    async def _subscribe(self, requests: AsyncIterator[bytes], context: Context) -> None:
        try:
            try:
                peer = await self._admitted(context)
            except (Unauthenticated, Unauthorised) as refused:
                return await reject(context, rejection(refused))
            if self._server is None:  # the door was closed while this one came through it
                context.set_code(grpc.StatusCode.UNAVAILABLE)
                return context.set_details("The agent's side is shutting down.")
            one = Conversation(self._hub, peer, context, limit=self._limit, patience=self._patience)
            self.conversations.add(one)
            try:
                await one.hold()
            finally:
                self.conversations.discard(one)
        except grpc.aio.BaseError:
            log.debug("A reader left while it was written to.")
        except Exception:
            log.exception("A stream failed. This is a bug.")
            _failed(context)

    async def _manifest(self, request: bytes, context: Context) -> bytes:
        try:
            await self._admitted(context)
            return pack(encode(self._hub.manifest()), typed=False)
        except (Unauthenticated, Unauthorised) as refused:
            context.set_code(status_of(rejection(refused).reason_code))
            context.set_details(str(refused))
        except Exception:
            log.exception("The manifest could not be given. This is a bug.")
            _failed(context)
        return b""

    async def _admitted(self, context: Context) -> Peer:
        """Who this is, before anything is read. GRPC-008"""
        shown = [(key, str(value)) for key, value in context.invocation_metadata() or ()]
        if any(key in ("origin", "sec-fetch-site") for key, _ in shown):
            # Only browsers send these, and no web page has a reason to speak gRPC.
            raise Unauthorised("Web pages may not use this server.")
        return await authenticate_peer(self._identity, credentials(context, shown, self.transport, local=self._local))


def _failed(context: Context) -> None:
    context.set_code(grpc.StatusCode.INTERNAL)
    context.set_details("The server failed, which is a defect.")


# -- who is there --------------------------------------------------------------------------


def rejection(refused: Unauthenticated | Unauthorised) -> SubscriptionRejected:
    """What is said to somebody who is not let in."""
    if isinstance(refused, TooManyAttempts):
        return SubscriptionRejected(
            reason_code="rate_limit", reason_message=str(refused), retry_after_seconds=refused.retry_after
        )
    if isinstance(refused, Unauthenticated):
        return SubscriptionRejected(reason_code="authentication_required", reason_message=str(refused))
    return SubscriptionRejected(reason_code="authorization_denied", reason_message=str(refused))


def credentials(context: Context, shown: list[tuple[str, str]], transport: str, *, local: bool) -> Credentials:
    """What a call shows of who made it."""
    given = [value for key, value in shown if key == "authorization"]  # CF-108: in lower case
    kind, _, bearer = given[0].partition(" ") if len(given) == 1 else ("", "", "")
    return Credentials(
        transport=transport,
        bearer=bearer.strip() if kind.lower() == "bearer" else "",
        certificate=_certificate(context.auth_context()),
        is_loopback=local and not any(key in _FORWARDED for key, _ in shown),
        address=_address(context.peer()),
    )


def _certificate(proved: Mapping[str, Iterable[bytes]]) -> dict[str, Any] | None:
    """What counts of a certificate that TLS has verified, in the form of ssl's getpeercert()."""
    pem = next(iter(proved.get("x509_pem_cert", ())), None)
    if pem is None:
        return None
    ends = load_pem_x509_certificate(pem).not_valid_after_utc
    common = [one.decode(errors="replace") for one in proved.get("x509_common_name", ())]
    return {
        "subject": tuple((("commonName", one),) for one in common),
        "subjectAltName": tuple(
            (kind, one.decode(errors="replace")) for field, kind in _NAMES.items() for one in proved.get(field, ())
        ),
        "notAfter": ends.strftime(f"{_MONTHS[ends.month - 1]} %d %H:%M:%S %Y GMT"),  # %b is for people who read it
    }


def _address(peer: str) -> str:
    """The address in ``ipv4:127.0.0.1:1234`` or ``ipv6:%5B::1%5D:1234``."""
    return peer.partition(":")[2].rpartition(":")[0].removeprefix("%5B").removesuffix("%5D").strip("[]")


# -- opening a door ------------------------------------------------------------------------


async def serve(
    hub: HubFace,
    url: str,
    *,
    identity: Identity | None = None,
    token: str | None = None,
    cert: str | None = None,
    key: str | None = None,
    client_ca: str | None = None,
    limit: int = MAX_MESSAGE_BYTES,
    patience: float = 30.0,
) -> GrpcDoor:
    """
    Serve a hub at a grpc or grpcs URL. Port 0 takes any free one; the door's ``url`` has the real one.

    Who may connect is this machine's user, or whom the ``identity`` lets in; ``token``
    is short for one token that never expires. Beyond this machine one of them and TLS
    (the files ``cert`` and ``key``) are required. With ``client_ca``, a file too, nobody
    gets as far as the identity who does not show a certificate of that authority.
    ``patience`` is how long, in seconds, a subscription.request may take to come.
    """
    parts, port = split(url, ("grpc", "grpcs"))
    encryption = _encryption(url, parts.scheme, cert, key, client_ca)
    place = await placed(url, parts, port, admitting(identity, token), encrypted=encryption is not None)
    listening(url, place.numeric, port).close()  # what is wrong with it is said better here
    door = GrpcDoor(hub, place.admits, local=place.local, limit=limit, patience=patience)
    where = f"[{place.numeric}]:{port}" if ":" in place.numeric else f"{place.numeric}:{port}"
    door.url = place.at(await door.open(url, where, encryption))
    return door


def _encryption(
    url: str, scheme: str, cert: str | None, key: str | None, client_ca: str | None
) -> grpc.ServerCredentials | None:
    """What to encrypt with, if the URL says so. gRPC itself takes nothing older than TLS 1.2 (TR-027)."""
    if scheme == "grpcs" and (cert is None or key is None):
        raise AaepError("grpcs:// needs cert= and key=, two files in PEM format.")
    # The library has its own TLS, and says little about what is wrong with a file.
    if context(url, scheme, None, cert, key, client_ca) is None or cert is None or key is None:
        return None
    roots = None if client_ca is None else Path(client_ca).read_bytes()
    chain = (Path(key).read_bytes(), Path(cert).read_bytes())
    return grpc.ssl_server_credentials([chain], roots, require_client_auth=roots is not None)


# -- one subscriber --


Context: TypeAlias = grpc.aio.ServicerContext[bytes, bytes]

_LINGER: Final = 10.0  # seconds for a reader to take what was written before its stream ended
_STATUS: Final = {  # CF-108: a summary; the detail is in the message before it
    "authentication_required": grpc.StatusCode.UNAUTHENTICATED,
    "authentication_expired": grpc.StatusCode.UNAUTHENTICATED,
    "authorization_denied": grpc.StatusCode.PERMISSION_DENIED,
    "rate_limit": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "slow_consumer": grpc.StatusCode.RESOURCE_EXHAUSTED,
    "transport_unavailable": grpc.StatusCode.UNAVAILABLE,
    "producer_shutdown": grpc.StatusCode.UNAVAILABLE,
    "unknown": grpc.StatusCode.UNAVAILABLE,
    "version_unsupported": grpc.StatusCode.FAILED_PRECONDITION,
    "capabilities_incompatible": grpc.StatusCode.FAILED_PRECONDITION,
    "manifest_signature_required": grpc.StatusCode.FAILED_PRECONDITION,
    "superseded": grpc.StatusCode.ABORTED,
    "protocol_error": grpc.StatusCode.INVALID_ARGUMENT,
    "subscriber_shutdown": grpc.StatusCode.OK,
}
_DETAILS: Final = {"protocol_error": "Malformed message.", "subscriber_shutdown": ""}


def status_of(reason: str) -> grpc.StatusCode:
    """The status that sums a reason up. Reasons that are not known are refusals."""
    return _STATUS.get(reason, grpc.StatusCode.FAILED_PRECONDITION)


async def reject(context: Context, message: SubscriptionRejected) -> None:
    """Say no before anything was read (CF-108)."""
    context.set_code(status_of(message.reason_code))
    context.set_details(message.reason_message)
    await context.write(pack(encode(message)))


class Conversation:
    """A stream, as the hub and the :class:`Exchange` see it. On the hub's loop; only :meth:`hold` waits."""

    frame: Callable[[str, bytes], bytes] = staticmethod(batch)

    def __init__(self, hub: HubFace, peer: Peer, context: Context, *, limit: int, patience: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._context = context
        self._limit, self._patience = limit, patience
        self._most = hub.settings.high_water_bytes
        self._queue: deque[bytes] = deque()
        self._size = 0  # bytes of it, with what the library is about to take
        self._open = True
        self._taking = self._writing = False
        self._more, self._room = asyncio.Event(), asyncio.Event()
        self.sink = self  # nothing waits here but what was written
        self._linger = asyncio.timeout(None)
        self._timers: list[asyncio.TimerHandle] = []
        self._exchange = Exchange(hub, peer, self, self._say, self._end)

    # -- what the hub calls ------------------------------------------------------------------

    def write(self, data: bytes) -> None:
        if self._open:
            self._queue.append(data)
            self._size += len(data)
            if not self._taking:
                self._more.set()

    def waiting(self) -> int:
        return self._size

    def close(self, message: SubscriptionClose | None) -> None:
        if message is None:
            # The exchange says why, if it was its subscriber; else the subscription was closed from elsewhere.
            self._loop.call_soon(self._end, "subscriber_shutdown")
            return
        self._say(message)
        text = message.reason_message if isinstance(message.reason_message, str) else ""
        self._finish(status_of(message.reason_code), text)

    # -- from the beginning to the end ---------------------------------------------------------

    async def hold(self) -> None:
        """Talk until it is over. Cancelled by the library when the other side is gone (TR-017)."""
        self._later(self._patience, self._shake_hands)
        listening = self._loop.create_task(self._listen())
        try:
            async with self._linger:
                await self._speak()
        except TimeoutError:
            log.debug("A reader did not take what was said last.")
        finally:
            self._open = False
            for timer in self._timers:
                timer.cancel()
            listening.cancel()
            self._exchange.lost()
            await asyncio.gather(listening, return_exceptions=True)

    def leave(self) -> None:
        """The door closes."""
        self._finish(grpc.StatusCode.UNAVAILABLE, "The agent's side is shutting down.")

    async def _speak(self) -> None:
        while True:
            while self._queue and not self._writing:
                await self._write(self._queue.popleft())
            if not self._open and not self._writing:
                return
            self._more.clear()
            await self._more.wait()

    async def _write(self, data: bytes) -> None:
        self._writing = True
        try:
            for message in each(data):
                await self._context.write(message[LENGTH:])
                self._size -= len(message)
                if self._size <= self._most:
                    self._room.set()
        finally:
            self._writing = False

    async def _answer(self) -> None:
        """Write what comes of a message that was just taken, so that nobody has to be woken for it."""
        if self._queue and not self._writing:
            await self._write(self._queue.popleft())
        if self._queue or not self._open:
            self._more.set()

    async def _listen(self) -> None:
        try:
            while self._open:
                raw: Any = await self._context.read()
                if raw is grpc.aio.EOF:
                    break
                self._taking = True
                self._take(raw)
                self._taking = False
                await self._answer()
                while self._size > self._most:  # whoever does not read is not answered either
                    self._room.clear()
                    await self._room.wait()
        except grpc.aio.BaseError:
            return  # it is gone, and whoever speaks is told
        except Exception:
            log.exception("A message could not be taken. This is a bug.")
            self._finish(grpc.StatusCode.INTERNAL, "The server failed, which is a defect.")
        # Whoever has no more to say may still listen.
        if self._open and self._exchange.subscription_id is None:
            self._exchange.refuse()

    def _take(self, raw: bytes) -> None:
        try:
            json = unpack(raw)
        except ValueError:
            json = b""
        if json and len(json) <= self._limit:  # CF-114
            self._exchange.receive(json)
        else:
            self._exchange.refuse()

    def _say(self, message: Message) -> None:
        self.write(batch("", encode(message)))

    def _end(self, reason: str) -> None:
        self._finish(status_of(reason), _DETAILS.get(reason, f"The subscription was refused: {reason}."))

    def _finish(self, code: grpc.StatusCode, text: str) -> None:
        if not self._open:
            return
        self._open = False
        self._context.set_code(code)
        self._context.set_details(text)
        self._more.set()
        # What waits for a reader that takes nothing would be kept for ever.
        self._linger.reschedule(self._loop.time() + _LINGER)

    # -- time ------------------------------------------------------------------------------------

    def _later(self, seconds: float, call: Callable[[], object]) -> None:
        self._timers.append(self._loop.call_later(seconds, call))

    def _shake_hands(self) -> None:
        """GRPC-006: whoever has said nothing by now does not mean to."""
        if self._exchange.subscription_id is None:
            self._finish(grpc.StatusCode.DEADLINE_EXCEEDED, "No subscription.request came in time.")
