"""One connection to a door that speaks HTTP, and how it is answered."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from .guard import Refusal
from .routes import ALWAYS, Said, refused

__all__ = ["Connection", "answered"]


class Closing(Protocol):
    """A door, as far as its connections know it."""

    closed: bool


class Connection(web.RequestHandler):
    """aiohttp's connection, which answers in JSON to what is no HTTP too, and ends with its door."""

    __slots__ = ("_closing",)

    def __init__(self, door: Closing, server: web.Server, log: logging.Logger, patience: float) -> None:
        # No access log: a subscription id is in the URL, and what people are asked is nobody else's business.
        super().__init__(
            server,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # aiohttp's own way to say none
            logger=log,
            auto_decompress=False,
            keepalive_timeout=patience,  # also the time to send a head
            lingering_time=5.0,
        )
        self._closing = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self._closing.closed:  # since it was accepted
            cast(asyncio.Transport, transport).abort()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if isinstance(exc, HttpProcessingError) and status < 500:
            refusal = Refusal(status, "bad_request", "This cannot be read as an HTTP request.")
        else:
            if not isinstance(exc, ConnectionError):  # a peer that left is no defect
                self.logger.error("A request could not be answered.", exc_info=exc)
            refusal = Refusal(500, "internal_error", "The server failed, which is a defect.")
        response = answered(refused(refusal))
        response.force_close()
        return response


def answered(said: Said, kind: str = "application/json") -> web.Response:
    """An answer as aiohttp wants it. ``kind`` is that of its body, if it has one."""
    headers = {**ALWAYS, **said.headers}
    if not said.body:
        return web.Response(status=said.status, headers=headers)
    return web.Response(status=said.status, body=said.body, content_type=kind, headers=headers)
