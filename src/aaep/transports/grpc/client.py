"""
The subscriber's end of Appendix B.5.

One stream is one connection. A proxy that the environment names is used, but
never for this machine itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any, Final

import grpc

from ... import __version__
from ...errors import AaepError
from ...identity.origins import is_loopback, split
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...runtime.loop_errors import install_loop_error_handler
from ...text.phrases import ensure_full_stop
from ...text.sanitize import sanitize
from ..base import ChannelLost, ChannelRefused, Token, authorization
from ..duplex_client import Duplex
from .messages import ENVELOPE, METHODS, SERVICE, pack, unpack

__all__ = ["GrpcChannel", "connect"]

_PATIENCE: Final = 30.0
_SILENCE: Final = 45.0  # seconds: three heartbeats (CF-090)
_LONGEST: Final = 900.0  # what any server puts up with
_DEADLINE: Final = 12 * 3600.0  # GRPC-009
_SUBSCRIBE, _MANIFEST = (f"/{SERVICE}/{name}" for name in METHODS)
_REFUSED: Final = frozenset(  # the rest may work another time
    {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.NOT_FOUND,
    }
)


def connect(
    url: str,
    *,
    token: Token = None,
    ca: str | None = None,
    cert: str | None = None,
    key: str | None = None,
    patience: float = _PATIENCE,
    silence: float = _SILENCE,
) -> GrpcChannel:
    """
    A way to the producer at a URL. Nothing is sent yet.

    ``token`` may be a function, see HTTP's; it is called for each connection.
    ``ca`` is a file with the server's certificate authority, ``cert`` and ``key`` are
    files that show who we are; all in PEM format. ``patience`` is how long, in seconds,
    a connection may take; after ``silence`` without a sign of life it counts as lost.
    """
    parts, port = split(url, ("grpc", "grpcs"))
    host = parts.hostname
    if not host or parts.path not in ("", "/"):
        raise AaepError(f"{url!r} is not the address of a gRPC server. Write it like grpc://127.0.0.1:8138.")
    credentials = None
    if parts.scheme == "grpcs":
        credentials = _credentials(ca, cert, key)
    elif ca is not None or cert is not None or key is not None:
        raise AaepError(f"{url!r} would not be encrypted although certificates are given. Use grpcs://.")
    elif token is not None and not is_loopback(host):  # TR-027
        raise AaepError(f"The token would travel unencrypted to {host}. Use grpcs://.")
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return GrpcChannel(url, place, credentials, token=token, patience=patience, silence=silence)


def _credentials(ca: str | None, cert: str | None, key: str | None) -> grpc.ChannelCredentials:
    if (cert is None) != (key is None):
        raise AaepError("cert= and key= belong together: give both, or none.")
    try:
        pems = [None if one is None else Path(one).read_bytes() for one in (ca, key, cert)]
    except OSError as error:
        raise AaepError(f"A certificate or key cannot be read: {error}. Check ca=, cert= and key=.") from error
    return grpc.ssl_channel_credentials(*pems)


class _Line:
    """One open stream, on a connection of its own."""

    def __init__(self, owner: GrpcChannel, channel: grpc.aio.Channel) -> None:
        self._owner, self._channel = owner, channel
        self._call: Any = channel.stream_stream(_SUBSCRIBE)(timeout=_DEADLINE, metadata=owner.metadata)
        self._heard = False

    async def send(self, message: bytes) -> None:
        try:
            await self._call.write(pack(message))
        except grpc.aio.AioRpcError as error:
            raise self._owner.problem(error, gone=self._heard) from error
        except (grpc.aio.BaseError, asyncio.InvalidStateError) as error:
            raise ChannelLost("The stream has ended, and this may not have arrived.") from error

    async def receive(self) -> bytes | None:
        try:
            raw = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise self._owner.problem(error, gone=self._heard) from error
        except grpc.aio.BaseError as error:
            raise ChannelLost("The stream broke.") from error
        if not isinstance(raw, bytes):
            return None
        self._heard = True
        try:
            return unpack(raw)
        except ValueError as error:
            raise ChannelLost("What answers does not speak AAEP.") from error

    async def close(self) -> None:
        self._call.cancel()
        # The library still has something to tell the loop about the call, which may be closed soon. It tells
        # things in their order, so wait for one more: a call that is too late before it begins.
        with contextlib.suppress(grpc.aio.AioRpcError):  # as it must
            late: Any = self._channel.unary_unary(_MANIFEST)
            await late(b"", timeout=0)
        await self._channel.close()


class GrpcChannel(Duplex):
    """A subscriber's way to a producer over gRPC. Used on one event loop."""

    def __init__(
        self,
        url: str,
        place: str,
        credentials: grpc.ChannelCredentials | None,
        *,
        token: Token,
        patience: float,
        silence: float,
    ) -> None:
        super().__init__(self._dialled, self._asked)
        self.url = url.rstrip("/")
        self._token = token
        self._place, self._credentials = place, credentials
        self._local = is_loopback(place.rpartition(":")[0].strip("[]"))
        self._patience, self._silence = patience, silence
        self._closed = False

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """What goes along with a call."""
        return tuple(authorization(self._token, "authorization").items())  # CF-108: in lower case

    async def close(self) -> None:
        self._closed = True
        await super().close()

    async def _dialled(self) -> _Line:
        return _Line(self, self._channel())

    async def _asked(self) -> bytes:
        async with self._channel() as channel:
            try:
                asked: Any = channel.unary_unary(_MANIFEST)
                return unpack(await asked(b"", timeout=self._patience, metadata=self.metadata))
            except grpc.aio.AioRpcError as error:
                raise self.problem(error) from error
            except ValueError as error:
                raise ChannelRefused(f"{self.url} answered with what is no manifest.") from error

    def _channel(self) -> grpc.aio.Channel:
        if self._closed:
            raise ChannelLost("This channel is closed. Connect again.")
        install_loop_error_handler(asyncio.get_running_loop())
        options = (
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES + ENVELOPE),  # CF-114
            ("grpc.enable_http_proxy", int(not self._local)),
            ("grpc.enable_retries", 0),  # a reply is said once; what to do when it is lost is for others to decide
            ("grpc.keepalive_time_ms", int(self._silence * 1000 / 3)),
            ("grpc.keepalive_timeout_ms", int(self._silence * 2000 / 3)),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.primary_user_agent", f"aaep/{__version__}"),
        )
        if self._credentials is None:
            return grpc.aio.insecure_channel(self._place, options)
        return grpc.aio.secure_channel(self._place, self._credentials, options)

    def problem(self, error: grpc.aio.AioRpcError, *, gone: bool = False) -> ChannelLost | ChannelRefused:
        """
        What a status that is not OK means.

        Once something was heard it is about a subscription that we had: then a new one may help.
        """
        code, said = error.code(), sanitize((error.details() or "")[:500])
        if "CERTIFICATE_VERIFY_FAILED" in said:
            why = "is not trusted. Give its authority with --ca, or ca= in Python."
            return ChannelRefused(f"The certificate of {self.url} {why}")
        if "Hostname Verification Check failed" in said:
            return ChannelRefused(f"The certificate of {self.url} is for another name. Use the name it is for.")
        if "too_many_pings" in f"{said} {error.debug_error_string()}":
            self._silence = min(2 * self._silence, _LONGEST)
        text = ensure_full_stop(f"{self.url} answered {code.name}: {said or 'no reason given'}")
        if code in _REFUSED:
            return ChannelRefused(text, gone=gone)
        if code is grpc.StatusCode.UNAVAILABLE and "connect" in said:
            return ChannelLost(f"Nobody answers at {self.url}. Is the agent running?")
        return ChannelLost(text)
