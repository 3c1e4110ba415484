"""
The subscriber's end of Appendix B.1: HTTP POST one way, server-sent events the other.

Credentials and replies go to the origin they were meant for and to no other:
a redirect is followed only within one https origin (CF-116).
"""

from __future__ import annotations

import logging
import ssl as tls
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import msgspec

from ... import __version__
from ...errors import AaepError, FrameError
from ...identity.origins import is_loopback, origin_of, parts_of, split
from ...protocol.framing import MAX_MESSAGE_BYTES, SseDecoder
from ...text.phrases import ensure_full_stop
from ..base import Arrival, ChannelLost, ChannelRefused, Token, authorization, type_of
from .routes import ACCEPT

__all__ = ["LATER", "HttpChannel", "broken", "connect", "proxy_for"]

log: Final = logging.getLogger("aaep.http")

_SILENCE: Final = 45.0  # seconds: three heartbeats (CF-090)
_PATIENCE: Final = 30.0
_HOPS: Final = 5
LATER: Final = frozenset({408, 425, 429, 500, 502, 503, 504})  # it may work another time


class _Said(msgspec.Struct):
    """The JSON body of an error."""

    message: str = ""


_said: Final = msgspec.json.Decoder(_Said).decode


def connect(
    url: str,
    *,
    token: Token = None,
    ssl: tls.SSLContext | None = None,
    patience: float = _PATIENCE,
    silence: float = _SILENCE,
) -> HttpChannel:
    """
    A way to the producer at a URL. Nothing is sent yet.

    ``token`` may be a function that gives the token of the day, for those that expire; it
    is called for each request and must not wait. ``ssl`` is a context that knows the
    server's certificate authority. ``patience`` is how long, in seconds, an answer may
    take; after ``silence`` without even a heartbeat
    the connection counts as lost.
    """
    parts, _ = split(url)
    if not parts.hostname:
        raise AaepError(f"{url!r} names no host. Write it like http://127.0.0.1:8137.")
    if token is not None and parts.scheme == "http" and not is_loopback(parts.hostname):  # TR-027
        raise AaepError(f"The token would travel unencrypted to {parts.hostname}. Use https://.")
    return HttpChannel(url, token=token, ssl=ssl, patience=patience, silence=silence)


class HttpChannel:
    """A subscriber's way to a producer over HTTP. Used on one event loop."""

    def __init__(
        self,
        url: str,
        *,
        token: Token,
        ssl: tls.SSLContext | None,
        patience: float,
        silence: float,
    ) -> None:
        self.url = url.rstrip("/")
        self._origin = origin_of(url)
        self._token = token
        self._ssl = ssl
        self._proxy = proxy_for(url)
        self._timeout = aiohttp.ClientTimeout(total=patience)
        self._streaming = aiohttp.ClientTimeout(total=None, sock_connect=patience, sock_read=silence)
        self._silence = silence
        self._streams: dict[str, str] = {}  # the Location of each subscription (SSE-008)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def manifest(self) -> bytes:
        place = f"{self._origin}/.well-known/aaep-manifest.json"
        async with self._exchange("GET", place, headers={"Accept": ACCEPT}) as response:  # CF-124
            if response.status == 200:
                return await _whole(response)
            raise await self._refusal(response)

    async def request(self, message: bytes) -> bytes:
        first = type_of(message) == "subscription.request"
        place = "subscriptions" if first else "replies"  # SSE-003, SSE-002
        async with self._exchange("POST", f"{self.url}/aaep/v1/{place}", message) as response:
            body = await _whole(response)
            kind = type_of(body)
            if kind == "subscription.accepted" and response.status in (200, 201):
                self._remember(body, response.headers.get("Location", ""))
                return body
            if kind == "subscription.rejected":  # CF-087: clients go by the body
                return body
            raise await self._refusal(response, body)

    async def send(self, message: bytes) -> None:
        async with self._exchange("POST", f"{self.url}/aaep/v1/replies", message) as response:
            if not 200 <= response.status < 300:
                raise await self._refusal(response)

    async def arrivals(self, subscription_id: str, after: str = "") -> AsyncGenerator[Arrival, None]:
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-cache", "Accept-Encoding": "identity"}  # SSE-021
        if after:
            headers["Last-Event-ID"] = after  # SSE-018
        place = self._streams.get(subscription_id) or self._place(subscription_id)
        decoder = SseDecoder()
        async with self._exchange("GET", place, headers=headers, timeout=self._streaming) as response:
            if response.status != 200:
                raise await self._refusal(response)
            if response.content_type != "text/event-stream":
                raise ChannelRefused(f"{place} answered, but with no event stream. Is this an AAEP server?")
            line = response.connection
            try:
                async for piece in response.content.iter_any():
                    for item in decoder.feed(piece):
                        if isinstance(item, FrameError):
                            log.warning("Something in the stream from %s was skipped. %s", self._origin, item)
                            yield Arrival(b"")
                        else:  # CF-088: a close has no id to resume after
                            yield Arrival(item.data, "" if item.event == "aaep.close" else item.id)
            finally:
                # Whoever stops listening waits for nothing, not even for a goodbye of TLS.
                if line is not None and line.transport is not None:
                    line.transport.abort()

    async def close(self) -> None:
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    # -- one exchange ----------------------------------------------------------------------

    def _place(self, subscription_id: str) -> str:
        query = f"?subscription_id={quote(subscription_id, safe='')}" if subscription_id else ""  # CF-093
        return f"{self.url}/aaep/v1/events{query}"

    def _remember(self, accepted: bytes, location: str) -> None:
        """Where its stream is. Only below our own URL: what stands in front of a server may not rewrite the path."""
        place = _joined(f"{self.url}/", location) if location else ""
        if place.startswith(f"{self.url}/") and origin_of(place) == self._origin:
            self._streams[msgspec.json.decode(accepted)["subscription_id"]] = place

    @asynccontextmanager
    async def _exchange(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        *,
        headers: dict[str, str] | None = None,
        timeout: aiohttp.ClientTimeout | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """One request and its answer, wherever it was redirected to; what goes wrong below is told in our terms."""
        sent = {"Content-Type": "application/json"} if body is not None else {}  # SSE-022
        sent.update(headers or {})
        sent.update(authorization(self._token))
        try:
            for _ in range(_HOPS):
                async with self._ready().request(
                    method,
                    url,
                    data=body,
                    headers=sent,
                    timeout=timeout or self._timeout,
                    allow_redirects=False,
                    proxy=self._proxy,
                    ssl=self._ssl or True,
                ) as response:
                    if response.status not in (301, 302, 303, 307, 308):
                        yield response
                        return
                    url = self._redirected(method, url, response)
            raise ChannelRefused(f"{self._origin} keeps redirecting. Use the address it means.")
        except aiohttp.ClientConnectorCertificateError as error:
            text = f"The certificate of {self._origin} is not trusted: {error}."
            message = f"{text} Give its authority with --ca, or ssl= in Python."
            raise ChannelRefused(message) from error
        except aiohttp.ClientConnectorError as error:
            raise ChannelLost(f"Nobody answers at {self._origin}. Is the agent running?") from error
        except TimeoutError as error:
            raise ChannelLost(f"Nothing was heard from {self._origin} for too long.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ChannelLost(broken(self._origin, error)) from error

    def _ready(self) -> aiohttp.ClientSession:
        if self._closed:
            raise ChannelLost("This channel is closed. Connect again.")
        if self._session is None:
            headers = {"User-Agent": f"aaep/{__version__}"}
            # No cookies: they are no credential here (CF-089).
            self._session = aiohttp.ClientSession(headers=headers, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _redirected(self, method: str, url: str, response: aiohttp.ClientResponse) -> str:
        """Where to go instead (CF-116)."""
        target = _joined(url, response.headers.get("Location", ""))
        kept = response.status in (307, 308) or (method == "GET" and response.status in (301, 302))
        if not kept or urlsplit(target).scheme != "https" or origin_of(target) != self._origin:
            raise ChannelRefused(
                f"{self._origin} sends us elsewhere, to {target or 'no address'}. That is not followed: "
                "credentials and replies stay with the server they are meant for. Use that address if you trust it."
            )
        return target

    async def _refusal(self, response: aiohttp.ClientResponse, body: bytes | None = None) -> AaepError:
        """What an answer that is none means."""
        body = await _whole(response) if body is None else body
        try:
            said = _said(body).message
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            said = ""
        why = said[:500] or response.reason or "no reason given"
        text = ensure_full_stop(f"{self._origin} answered {response.status}: {why}")
        if response.status in LATER:
            return ChannelLost(text)
        return ChannelRefused(text, gone=response.status in (204, 404, 410))  # CF-092


def broken(place: str, error: aiohttp.ClientError | OSError) -> str:
    """How a connection ended, for people; what the library calls it goes to the log."""
    log.debug("The connection to %s broke: %r", place, error)
    if isinstance(error, aiohttp.ClientResponseError):
        return f"What {place} sends cannot be read as HTTP. Is this an AAEP server?"
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError)):
        return f"The connection to {place} ended in the middle. The agent may have stopped."
    why = error.strerror if isinstance(error, OSError) else None
    return f"The connection to {place} broke: {why}." if why else f"The connection to {place} broke."


def _joined(base: str, location: str) -> str:
    """Where a Location header leads; empty if nowhere."""
    try:
        return parts_of(urljoin(base, location)).geturl()
    except (ValueError, AaepError):
        return ""


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    """A body of a size that a message may have (CF-114)."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > MAX_MESSAGE_BYTES:
            raise ChannelRefused(f"The answer of {response.url.origin()} is longer than {MAX_MESSAGE_BYTES} bytes.")
    return bytes(body)


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for a URL. Never for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)
