"""
The subscriber's end of HTTP: POST one way, server-sent events the other (Appendix B.1).

Credentials and replies go to the origin they were meant for and to no other:
a redirect is followed only within one https origin (CF-116).
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import msgspec

from ...errors import AaepError, FrameError
from ...identity.origins import is_loopback, split_url, web_origin
from ...protocol.framing import MAX_MESSAGE_BYTES, SseDecoder
from ...text.phrases import ensure_full_stop
from ...version import __version__
from ..addresses import client_ssl_context
from ..base import Arrival, ChannelLost, ChannelRefused, authorization, connection_target, type_of
from ..options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from .routes import ACCEPT, EVENTS, MANIFEST, REPLIES, SUBSCRIPTIONS

__all__ = ["TRANSIENT_STATUSES", "HttpChannel", "connect", "describe_broken_connection", "proxy_for"]

log: Final = logging.getLogger("aaep.http")

_MAX_REDIRECTS: Final = 5
TRANSIENT_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})  # the request may work another time


class _ErrorBody(msgspec.Struct):
    """The JSON body of an error."""

    message: str = ""


_decode_error: Final = msgspec.json.Decoder(_ErrorBody).decode


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> HttpChannel:
    """Return a channel to the producer at an http or https URL. Nothing is sent yet."""
    connection_target(url, ("http", "https"), options)
    return HttpChannel(url, options)


class HttpChannel:
    """A subscriber's channel to a producer over HTTP. Used on one event loop."""

    def __init__(self, url: str, options: ConnectOptions) -> None:
        self.url = url.rstrip("/")
        self._origin = web_origin(url)
        self._token = options.token
        self._ssl = client_ssl_context(options.tls)
        self._proxy = proxy_for(url)
        self._timeout = aiohttp.ClientTimeout(total=options.timeout)
        self._stream_timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=options.timeout, sock_read=options.max_silence
        )
        self._stream_urls: dict[str, str] = {}  # the Location of each subscription (SSE-008)
        self._session: aiohttp.ClientSession | None = None
        self._closed = False

    async def manifest(self) -> bytes:
        """Return the producer's manifest, as a JWS where it is signed, else JSON (CF-124)."""
        async with self._send_request("GET", f"{self._origin}{MANIFEST}", headers={"Accept": ACCEPT}) as response:
            if response.status == 200:
                return await _read_body(response)
            raise await self._error_for(response)

    async def request(self, message: bytes) -> bytes:
        """Send a handshake message and return its answer, accepted or rejected."""
        is_first = type_of(message) == "subscription.request"
        path = SUBSCRIPTIONS if is_first else REPLIES
        async with self._send_request("POST", f"{self.url}{path}", message) as response:
            body = await _read_body(response)
            kind = type_of(body)
            if kind == "subscription.accepted" and response.status in (200, 201):
                self._remember_stream_url(body, response.headers.get("Location", ""))
                return body
            if kind == "subscription.rejected":  # CF-087: clients go by the body
                return body
            raise await self._error_for(response, body)

    async def send(self, message: bytes) -> None:
        """Send what is not answered: a reply, a close."""
        async with self._send_request("POST", f"{self.url}{REPLIES}", message) as response:
            if not 200 <= response.status < 300:
                raise await self._error_for(response)

    async def arrivals(self, subscription_id: str, after: str = "") -> AsyncGenerator[Arrival, None]:
        """Yield what the producer sends, after an event if one is named, until the connection ends."""
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-cache", "Accept-Encoding": "identity"}  # SSE-021
        if after:
            headers["Last-Event-ID"] = after  # SSE-018
        url = self._stream_urls.get(subscription_id) or self._default_stream_url(subscription_id)
        decoder = SseDecoder()
        async with self._send_request("GET", url, headers=headers, timeout=self._stream_timeout) as response:
            if response.status != 200:
                raise await self._error_for(response)
            if response.content_type != "text/event-stream":
                raise ChannelRefused(f"{url} answered, but with no event stream. Is this an AAEP server?")
            connection = response.connection
            try:
                async for piece in response.content.iter_any():
                    for item in decoder.feed(piece):
                        if isinstance(item, FrameError):
                            log.warning("Something in the stream from %s was skipped. %s", self._origin, item)
                            yield Arrival(b"")
                        else:  # CF-088: a close has no id to resume after
                            yield Arrival(item.data, "" if item.event == "aaep.close" else item.id)
            finally:
                # A subscriber that stops listening does not wait for the goodbye of TLS.
                if connection is not None and connection.transport is not None:
                    connection.transport.abort()

    async def close(self) -> None:
        """Close every connection. Closing twice is fine."""
        self._closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    # -- one request -----------------------------------------------------------------------

    def _default_stream_url(self, subscription_id: str) -> str:
        query = f"?subscription_id={quote(subscription_id, safe='')}" if subscription_id else ""  # CF-093
        return f"{self.url}{EVENTS}{query}"

    def _remember_stream_url(self, accepted: bytes, location: str) -> None:
        """Remember where a stream is. Only below our own URL: a proxy in front of a server may not rewrite the path."""
        url = _resolve_location(f"{self.url}/", location) if location else ""
        if url.startswith(f"{self.url}/") and web_origin(url) == self._origin:
            self._stream_urls[msgspec.json.decode(accepted)["subscription_id"]] = url

    @asynccontextmanager
    async def _send_request(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        *,
        headers: dict[str, str] | None = None,
        timeout: aiohttp.ClientTimeout | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send a request and yield its answer, after redirects; what goes wrong below is raised as our own errors."""
        all_headers = {"Content-Type": "application/json"} if body is not None else {}  # SSE-022
        all_headers.update(headers or {})
        all_headers.update(authorization(self._token))
        try:
            for _ in range(_MAX_REDIRECTS):
                async with self._open_session().request(
                    method,
                    url,
                    data=body,
                    headers=all_headers,
                    timeout=timeout or self._timeout,
                    allow_redirects=False,
                    proxy=self._proxy,
                    ssl=self._ssl or True,
                ) as response:
                    if response.status not in (301, 302, 303, 307, 308):
                        yield response
                        return
                    url = self._redirect_target(method, url, response)
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
            raise ChannelLost(describe_broken_connection(self._origin, error)) from error

    def _open_session(self) -> aiohttp.ClientSession:
        if self._closed:
            raise ChannelLost("This channel is closed. Connect again.")
        if self._session is None:
            headers = {"User-Agent": f"aaep/{__version__}"}
            # No cookies: they are no credential here (CF-089).
            self._session = aiohttp.ClientSession(headers=headers, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _redirect_target(self, method: str, url: str, response: aiohttp.ClientResponse) -> str:
        """Return where a redirect leads, or refuse to follow it (CF-116)."""
        target = _resolve_location(url, response.headers.get("Location", ""))
        keeps_method = response.status in (307, 308) or (method == "GET" and response.status in (301, 302))
        if not keeps_method or urlsplit(target).scheme != "https" or web_origin(target) != self._origin:
            raise ChannelRefused(
                f"{self._origin} sends us elsewhere, to {target or 'no address'}. That is not followed: "
                "credentials and replies stay with the server they are meant for. Use that address if you trust it."
            )
        return target

    async def _error_for(self, response: aiohttp.ClientResponse, body: bytes | None = None) -> AaepError:
        """Return the error that an answer stands for which is not the one that was asked for."""
        body = await _read_body(response) if body is None else body
        try:
            message = _decode_error(body).message
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = ""
        why = message[:500] or response.reason or "no reason given"
        text = ensure_full_stop(f"{self._origin} answered {response.status}: {why}")
        if response.status in TRANSIENT_STATUSES:
            return ChannelLost(text)
        return ChannelRefused(text, gone=response.status in (204, 404, 410))  # CF-092


def describe_broken_connection(server: str, error: aiohttp.ClientError | OSError) -> str:
    """Return how a connection ended, for people; what the library calls it goes to the log."""
    log.debug("The connection to %s broke: %r", server, error)
    if isinstance(error, aiohttp.ClientResponseError):
        return f"What {server} sends cannot be read as HTTP. Is this an AAEP server?"
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError)):
        return f"The connection to {server} ended in the middle. The agent may have stopped."
    why = error.strerror if isinstance(error, OSError) else None
    return f"The connection to {server} broke: {why}." if why else f"The connection to {server} broke."


def _resolve_location(base: str, location: str) -> str:
    """Return where a Location header leads; empty if nowhere."""
    try:
        return split_url(urljoin(base, location)).geturl()
    except (ValueError, AaepError):
        return ""


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    """Return a body of a size that a message may have (CF-114)."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > MAX_MESSAGE_BYTES:
            raise ChannelRefused(f"The answer of {response.url.origin()} is longer than {MAX_MESSAGE_BYTES} bytes.")
    return bytes(body)


def proxy_for(url: str) -> str | None:
    """Return the proxy that the environment names for a URL; none for this machine itself."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)
