"""Serves a hub's ASGI application with uvicorn on the hub's loop, for trials and tests."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import socket
from typing import Any, Final

from ...errors import AaepError
from ...identity.origins import format_host, is_loopback, split_server_url
from ...protocol.framing import MAX_MESSAGE_BYTES
from ..addresses import bind_socket, resolve_host
from ..http.routes import TRANSPORTS

__all__ = ["AsgiServer", "serve_application"]


class AsgiServer:
    """A hub's ASGI application, served by uvicorn on the hub's loop."""

    transports: Final = TRANSPORTS

    def __init__(self, url: str, application: Any, uvicorn_server: Any, bound: socket.socket) -> None:
        self.url = url
        self.is_closed = False
        self._application = application
        self._server = uvicorn_server
        self._socket = bound
        self._serving: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start serving at the bound socket."""
        self._server.config.load()
        self._server.lifespan = self._server.config.lifespan_class(self._server.config)
        await self._server.startup(sockets=[self._socket])
        self._serving = asyncio.get_running_loop().create_task(self._server.main_loop())

    async def close(self) -> None:
        """Stop listening and end every connection. Closing twice is fine."""
        if self._serving is None:
            return
        serving, self._serving = self._serving, None
        self.is_closed = True
        await self._application.close()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        with contextlib.suppress(TimeoutError):  # SIGTERM has two seconds in all
            async with asyncio.timeout(1.0):
                await self._server.shutdown(sockets=[self._socket])
        self._socket.close()


async def serve_application(url: str, application: Any) -> AsgiServer:
    """Serve an application at a loopback URL. Needs uvicorn."""
    try:
        uvicorn = importlib.import_module("uvicorn")
    except ImportError as error:
        raise AaepError(
            f"{url!r} needs uvicorn: pip install uvicorn. "
            "Without it, use http://, or mount producer.asgi() where you serve."
        ) from error
    parts, port = split_server_url(url.removeprefix("asgi+"), ("http", "https"))
    host = parts.hostname or "127.0.0.1"
    numeric = await resolve_host(host, port)
    if parts.scheme != "http" or parts.path not in ("", "/") or not is_loopback(numeric):  # TR-024, TR-027
        raise AaepError(f"{url!r} cannot be served. It is for this machine only; write asgi+http://127.0.0.1:0.")
    bound = bind_socket(url, numeric, port)
    try:
        config = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,  # URLs contain subscription ids
            server_header=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=MAX_MESSAGE_BYTES,
            timeout_graceful_shutdown=1,
        )
        bound_url = f"asgi+http://{format_host(host)}:{bound.getsockname()[1]}"
        server = AsgiServer(bound_url, application, uvicorn.Server(config), bound)
        await server.open()
    except BaseException:
        bound.close()
        raise
    return server
