"""An address where a hub is served over gRPC, and who is let in there."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import grpc
from cryptography.x509 import load_pem_x509_certificate

from ...errors import AaepError
from ...hub.hub import Hub
from ...identity.credentials import Credentials, Identity, TooManyGuesses, Unauthenticated, Unauthorised, admitted
from ...protocol.codec import encode
from ...protocol.framing import LIMIT
from ...protocol.messages import SubscriptionRejected
from ..addresses import admitting, placed
from ..base import Peer
from ..http_address import context, listening, split
from .client import connect
from .messages import ENVELOPE, METHODS, SERVICE, pack
from .talk import Context, Conversation, reject, status_of

__all__ = ["GrpcDoor", "connect", "serve"]

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

    def __init__(self, hub: Hub, identity: Identity, *, local: bool, limit: int, patience: float) -> None:
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
        beat = max(1, int(self._hub.settings.heartbeat * 1000))
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
        return await admitted(self._identity, credentials(context, shown, self.transport, local=self._local))


def _failed(context: Context) -> None:
    context.set_code(grpc.StatusCode.INTERNAL)
    context.set_details("The server failed, which is a defect.")


# -- who is there --------------------------------------------------------------------------


def rejection(refused: Unauthenticated | Unauthorised) -> SubscriptionRejected:
    """What is said to somebody who is not let in."""
    if isinstance(refused, TooManyGuesses):
        return SubscriptionRejected(
            reason_code="rate_limit", reason_message=str(refused), retry_after_seconds=refused.seconds
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
        loopback=local and not any(key in _FORWARDED for key, _ in shown),
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
    hub: Hub,
    url: str,
    *,
    identity: Identity | None = None,
    token: str | None = None,
    cert: str | None = None,
    key: str | None = None,
    client_ca: str | None = None,
    limit: int = LIMIT,
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
