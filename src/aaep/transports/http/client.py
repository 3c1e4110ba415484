"""
The client side of HTTP: POST for requests, server-sent events for the stream (Appendix B.1).

Credentials and replies are sent to the configured origin only: a redirect is
followed only within one https origin (CF-116).
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
from ..addresses import make_client_ssl_context
from ..base import (
    ChannelLost,
    ChannelRefused,
    ReceivedMessage,
    build_authorization_header,
    read_message_type,
    resolve_target,
)
from ..options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from .routes import ACCEPT, EVENTS, MANIFEST, REPLIES, SUBSCRIPTIONS

__all__ = ["TRANSIENT_STATUSES", "HttpChannel", "connect", "describe_broken_connection", "find_proxy"]

log: Final = logging.getLogger("aaep.http")

_MAX_REDIRECTS: Final = 5
_FOREIGN_STATUSES: Final = frozenset({404, 405, 410, 501})  # of who does not know our paths
TRANSIENT_STATUSES: Final = frozenset({408, 425, 429, 500, 502, 503, 504})  # a retry may help


class _ErrorBody(msgspec.Struct):
    """The JSON body of an error response."""

    message: str = ""


_decode_error_body: Final = msgspec.json.Decoder(_ErrorBody).decode


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> HttpChannel:
    """Return a channel to the producer at an http or https URL. Nothing is sent yet."""
    resolve_target(url, ("http", "https"), options)  # raises if the URL is unusable
    return HttpChannel(url, options)


class HttpChannel:
    """A subscriber's channel to a producer over HTTP. Used on one event loop."""

    def __init__(self, url: str, options: ConnectOptions) -> None:
        self.url = url.rstrip("/")
        self._origin = web_origin(url)
        self._token = options.token
        self._ssl = make_client_ssl_context(options.tls)
        self._proxy = find_proxy(url)
        self._timeout = aiohttp.ClientTimeout(total=options.timeout)
        self._stream_timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=options.timeout, sock_read=options.max_silence
        )
        self._stream_urls: dict[str, str] = {}  # Location by subscription id (SSE-008)
        self._session: aiohttp.ClientSession | None = None
        self._is_closed = False

    async def manifest(self) -> bytes:
        """Return the producer's manifest, as a JWS if it is signed, else JSON (CF-124)."""
        async with self._send_request("GET", f"{self._origin}{MANIFEST}", headers={"Accept": ACCEPT}) as response:
            if response.status == 200:
                return await _read_body(response)
            raise await self._build_error(response)

    async def request(self, message: bytes) -> bytes:
        """Send a handshake message and return the answer, accepted or rejected."""
        is_first = read_message_type(message) == "subscription.request"
        path = SUBSCRIPTIONS if is_first else REPLIES
        async with self._send_request("POST", f"{self.url}{path}", message) as response:
            body = await _read_body(response)
            kind = read_message_type(body)
            if kind == "subscription.accepted" and response.status in (200, 201):
                self._remember_stream_url(body, response.headers.get("Location", ""))
                return body
            if kind == "subscription.rejected":  # CF-087: the body decides, not the status
                return body
            raise await self._build_error(response, body)

    async def send(self, message: bytes) -> None:
        """Send a message that has no answer: a reply or a close."""
        async with self._send_request("POST", f"{self.url}{REPLIES}", message) as response:
            if not 200 <= response.status < 300:
                raise await self._build_error(response)

    async def receive_messages(self, subscription_id: str, after: str = "") -> AsyncGenerator[ReceivedMessage, None]:
        """Yield messages of the producer until the connection ends, resuming after the event ``after`` if given."""
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-cache", "Accept-Encoding": "identity"}  # SSE-021
        if after:
            headers["Last-Event-ID"] = after  # SSE-018
        url = self._stream_urls.get(subscription_id) or self._default_stream_url(subscription_id)
        decoder = SseDecoder()
        async with self._send_request("GET", url, headers=headers, timeout=self._stream_timeout) as response:
            if response.status != 200:
                raise await self._build_error(response)
            if response.content_type != "text/event-stream":
                raise ChannelRefused(
                    f"{url} answered, but with no event stream: its content type is {response.content_type}, "
                    "not text/event-stream. Is this an AAEP server?",
                    foreign=True,
                )
            connection = response.connection
            try:
                async for piece in response.content.iter_any():
                    for item in decoder.feed(piece):
                        if isinstance(item, FrameError):
                            log.warning("Something in the stream from %s was skipped. %s", self._origin, item)
                            yield ReceivedMessage(b"")
                        else:  # CF-088: a close has no id to resume after
                            resume_id = "" if item.event == "aaep.close" else item.id
                            yield ReceivedMessage(item.data, resume_id, item.event)
            finally:
                # Do not wait for the closing handshake of TLS.
                if connection is not None and connection.transport is not None:
                    connection.transport.abort()

    async def close(self) -> None:
        """Close every connection. Closing twice is fine."""
        self._is_closed = True
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    # -- requests --------------------------------------------------------------------------

    def _default_stream_url(self, subscription_id: str) -> str:
        query = f"?subscription_id={quote(subscription_id, safe='')}" if subscription_id else ""  # CF-093
        return f"{self.url}{EVENTS}{query}"

    def _remember_stream_url(self, accepted: bytes, location: str) -> None:
        """Store the URL of a stream, unless it is outside our URL: a proxy may not rewrite the path in Location."""
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
        """Send a request, follow redirects and yield the response. Errors of aiohttp are converted."""
        all_headers = {"Content-Type": "application/json"} if body is not None else {}  # SSE-022
        all_headers.update(headers or {})
        all_headers.update(build_authorization_header(self._token))
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
                    url = self._resolve_redirect(method, url, response)
            raise ChannelRefused(f"{self._origin} keeps redirecting. Use the address it means.", foreign=True)
        except aiohttp.ClientConnectorCertificateError as error:
            text = f"The certificate of {self._origin} is not trusted: {error}."
            message = f"{text} Give its authority with --ca, or tls= in Python."
            raise ChannelRefused(message) from error
        except aiohttp.ClientConnectorError as error:
            raise ChannelLost(f"Nobody answers at {self._origin}. Is the agent running?") from error
        except TimeoutError as error:
            raise ChannelLost(f"Nothing was heard from {self._origin} for too long.") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ChannelLost(describe_broken_connection(self._origin, error)) from error

    def _open_session(self) -> aiohttp.ClientSession:
        if self._is_closed:
            raise ChannelLost("This channel is closed. Connect again.")
        if self._session is None:
            headers = {"User-Agent": f"aaep/{__version__}"}
            # No cookies: they are not credentials here (CF-089).
            self._session = aiohttp.ClientSession(headers=headers, cookie_jar=aiohttp.DummyCookieJar())
        return self._session

    def _resolve_redirect(self, method: str, url: str, response: aiohttp.ClientResponse) -> str:
        """Return the target of a redirect, or raise if it must not be followed (CF-116)."""
        target = _resolve_location(url, response.headers.get("Location", ""))
        is_method_kept = response.status in (307, 308) or (method == "GET" and response.status in (301, 302))
        if not is_method_kept or urlsplit(target).scheme != "https" or web_origin(target) != self._origin:
            raise ChannelRefused(
                f"{self._origin} sends us elsewhere, to {target or 'no address'}. That is not followed: "
                "credentials and replies stay with the server they are meant for. Use that address if you trust it.",
                foreign=True,
            )
        return target

    async def _build_error(self, response: aiohttp.ClientResponse, body: bytes | None = None) -> AaepError:
        """Return the channel error for an unexpected response."""
        body = await _read_body(response) if body is None else body
        is_json = True
        try:
            message = _decode_error_body(body).message
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = ""
            is_json = False
        reason = message[:500] or response.reason or "no reason given"
        text = ensure_full_stop(f"{self._origin} answered {response.status}: {reason}")
        if response.status in TRANSIENT_STATUSES:
            return ChannelLost(text)
        is_foreign = response.status in _FOREIGN_STATUSES or (response.status < 400 and not is_json)
        return ChannelRefused(text, gone=response.status in (204, 404, 410), foreign=is_foreign)  # CF-092


def describe_broken_connection(server: str, error: aiohttp.ClientError | OSError) -> str:
    """Return a readable sentence about a broken connection; the original error is logged."""
    log.debug("The connection to %s broke: %r", server, error)
    if isinstance(error, aiohttp.ClientResponseError):
        return f"What {server} sends cannot be read as HTTP. Is this an AAEP server?"
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError)):
        return f"The connection to {server} ended in the middle. The agent may have stopped."
    reason = error.strerror if isinstance(error, OSError) else None
    return f"The connection to {server} broke: {reason}." if reason else f"The connection to {server} broke."


def _resolve_location(base: str, location: str) -> str:
    """Return the absolute URL of a Location header; empty if it is invalid."""
    try:
        return split_url(urljoin(base, location)).geturl()
    except (ValueError, AaepError):
        return ""


async def _read_body(response: aiohttp.ClientResponse) -> bytes:
    """Return a response's body; raise if it is longer than a message may be (CF-114)."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > MAX_MESSAGE_BYTES:
            raise ChannelRefused(f"The answer of {response.url.origin()} is longer than {MAX_MESSAGE_BYTES} bytes.")
    return bytes(body)


def find_proxy(url: str) -> str | None:
    """Return the proxy that the environment names for a URL; None for loopback addresses."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host) or proxy_bypass(host):
        return None
    return getproxies().get(parts.scheme)
