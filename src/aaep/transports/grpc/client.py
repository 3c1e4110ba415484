"""
The client side of gRPC (Appendix B.5).

Each stream has its own connection. A proxy named by the environment is used,
except for loopback addresses.
"""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any, Final

import grpc

from ...errors import AaepError
from ...identity.origins import format_host, is_loopback
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...runtime.loop_errors import install_loop_error_handler
from ...text.phrases import ensure_full_stop
from ...text.sanitize import sanitize
from ...version import __version__
from ..base import ChannelLost, ChannelRefused, build_authorization_header, resolve_target
from ..duplex_client import DuplexChannel
from ..options import DEFAULT_CONNECT_OPTIONS, ConnectOptions, Tls
from .messages import ENVELOPE_BYTES, METHODS, SERVICE, pack, unpack

__all__ = ["GrpcChannel", "connect"]

_MAX_PING_SILENCE: Final = 900.0  # seconds; any server accepts pings that are this rare
_DEADLINE: Final = 12 * 3600.0  # seconds; GRPC-009
_SUBSCRIBE, _MANIFEST = (f"/{SERVICE}/{name}" for name in METHODS)
_REFUSALS: Final = frozenset(  # after any other status a retry may help
    {
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.PERMISSION_DENIED,
        grpc.StatusCode.FAILED_PRECONDITION,
        grpc.StatusCode.INVALID_ARGUMENT,
        grpc.StatusCode.UNIMPLEMENTED,
        grpc.StatusCode.NOT_FOUND,
    }
)


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> GrpcChannel:
    """Return a channel to the producer at a grpc or grpcs URL. Nothing is sent yet."""
    parts, port = resolve_target(url, ("grpc", "grpcs"), options)
    if parts.path not in ("", "/"):
        raise AaepError(f"{url!r} is not the address of a gRPC server. Write it like grpc://127.0.0.1:8138.")
    credentials = _load_credentials(Tls() if options.tls is None else options.tls) if parts.scheme == "grpcs" else None
    target = f"{format_host(parts.hostname or '')}:{port}"
    return GrpcChannel(url, target, credentials, options)


def _load_credentials(tls: Tls) -> grpc.ChannelCredentials:
    if tls.context is not None:
        raise AaepError("gRPC reads certificates from files. Give tls=Tls(ca=…, cert=…, key=…) without a context.")
    if (tls.cert is None) != (tls.key is None):
        raise AaepError("cert= and key= belong together: give both, or none.")
    try:
        pems = [None if path is None else Path(path).read_bytes() for path in (tls.ca, tls.key, tls.cert)]
    except OSError as error:
        raise AaepError(f"A certificate or key cannot be read: {error}. Check ca=, cert= and key=.") from error
    return grpc.ssl_channel_credentials(*pems)


class _GrpcConnection:
    """One open stream on its own connection."""

    def __init__(self, owner: GrpcChannel, channel: grpc.aio.Channel) -> None:
        self._owner = owner
        self._channel = channel
        self._call: Any = channel.stream_stream(_SUBSCRIBE)(timeout=_DEADLINE, metadata=owner.metadata)
        self._has_received = False

    async def send(self, message: bytes) -> None:
        """Send a message."""
        try:
            await self._call.write(pack(message))
        except grpc.aio.AioRpcError as error:
            raise self._owner.convert_error(error, gone=self._has_received) from error
        except (grpc.aio.BaseError, asyncio.InvalidStateError) as error:
            raise ChannelLost("The stream has ended, and this may not have arrived.") from error

    async def receive(self) -> bytes | None:
        """Return the next message; None when the stream has ended."""
        try:
            raw = await self._call.read()
        except grpc.aio.AioRpcError as error:
            raise self._owner.convert_error(error, gone=self._has_received) from error
        except grpc.aio.BaseError as error:
            raise ChannelLost("The stream broke.") from error
        if not isinstance(raw, bytes):
            return None
        self._has_received = True
        try:
            return unpack(raw)
        except ValueError as error:
            raise ChannelLost("What answers does not speak AAEP.") from error

    async def close(self) -> None:
        """End the stream and its connection."""
        self._call.cancel()
        # The library still has to report the end of the call to the loop, which may be closed soon. Reports come in
        # order, so wait for that of another call, one whose deadline is over before it starts.
        with contextlib.suppress(grpc.aio.AioRpcError):  # always raised: the deadline is exceeded
            expired_call: Any = self._channel.unary_unary(_MANIFEST)
            await expired_call(b"", timeout=0)
        await self._channel.close()


class GrpcChannel(DuplexChannel):
    """A subscriber's channel to a producer over gRPC. Used on one event loop."""

    def __init__(
        self,
        url: str,
        target: str,
        credentials: grpc.ChannelCredentials | None,
        options: ConnectOptions,
    ) -> None:
        super().__init__(self._open_connection, self._fetch_manifest)
        self.url = url.rstrip("/")
        self._token = options.token
        self._target = target
        self._credentials = credentials
        self._is_local = is_loopback(target.rpartition(":")[0].strip("[]"))
        self._timeout = options.timeout
        self._max_silence = options.max_silence
        self._is_closed = False

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of every call: the token, if there is one."""
        return tuple(build_authorization_header(self._token, "authorization").items())  # CF-108: in lower case

    async def close(self) -> None:
        """Close the connection. Closing twice is fine."""
        self._is_closed = True
        await super().close()

    async def _open_connection(self) -> _GrpcConnection:
        return _GrpcConnection(self, self._open_channel())

    async def _fetch_manifest(self) -> bytes:
        async with self._open_channel() as channel:
            try:
                method: Any = channel.unary_unary(_MANIFEST)
                return unpack(await method(b"", timeout=self._timeout, metadata=self.metadata))
            except grpc.aio.AioRpcError as error:
                raise self.convert_error(error) from error
            except ValueError as error:
                raise ChannelRefused(f"{self.url} answered with what is no manifest.") from error

    def _open_channel(self) -> grpc.aio.Channel:
        if self._is_closed:
            raise ChannelLost("This channel is closed. Connect again.")
        install_loop_error_handler(asyncio.get_running_loop())
        options = (
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES + ENVELOPE_BYTES),  # CF-114
            ("grpc.enable_http_proxy", int(not self._is_local)),
            ("grpc.enable_retries", 0),  # a reply must not be sent twice; the subscriber handles lost replies
            ("grpc.keepalive_time_ms", int(self._max_silence * 1000 / 3)),
            ("grpc.keepalive_timeout_ms", int(self._max_silence * 2000 / 3)),
            ("grpc.http2.max_pings_without_data", 0),
            ("grpc.primary_user_agent", f"aaep/{__version__}"),
        )
        if self._credentials is None:
            return grpc.aio.insecure_channel(self._target, options)
        return grpc.aio.secure_channel(self._target, self._credentials, options)

    def convert_error(self, error: grpc.aio.AioRpcError, *, gone: bool = False) -> ChannelLost | ChannelRefused:
        """
        Return the channel error for a gRPC error.

        ``gone``: a message was received before, so the error concerns an existing subscription and a new one may help.
        """
        code = error.code()
        details = sanitize((error.details() or "")[:500])
        if "CERTIFICATE_VERIFY_FAILED" in details:
            why = "is not trusted. Give its authority with --ca, or tls=Tls(ca=…) in Python."
            return ChannelRefused(f"The certificate of {self.url} {why}")
        if "Hostname Verification Check failed" in details:
            return ChannelRefused(f"The certificate of {self.url} is for another name. Use the name it is for.")
        if "too_many_pings" in f"{details} {error.debug_error_string()}":
            self._max_silence = min(2 * self._max_silence, _MAX_PING_SILENCE)
        text = ensure_full_stop(f"{self.url} answered {code.name}: {details or 'no reason given'}")
        if code in _REFUSALS:
            return ChannelRefused(text, gone=gone)
        if code is grpc.StatusCode.UNAVAILABLE and "connect" in details:
            return ChannelLost(f"Nobody answers at {self.url}. Is the agent running?")
        return ChannelLost(text)
