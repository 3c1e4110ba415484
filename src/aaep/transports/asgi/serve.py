"""A hub's ASGI application served by uvicorn, on the hub's loop. For trying it, and for tests."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import socket
from typing import Any, Final

from ...errors import AaepError
from ...identity.origins import is_loopback, split
from ...protocol.framing import MAX_MESSAGE_BYTES
from ..addresses import address, listening

__all__ = ["ServedDoor", "served"]


class ServedDoor:
    """An application of a hub, served by uvicorn on the hub's loop."""

    transport: Final = "sse"

    def __init__(self, url: str, application: Any, server: Any, opened: socket.socket) -> None:
        self.url = url
        self._application, self._server, self._socket = application, server, opened
        self._serving: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Answer what comes to the socket."""
        self._server.config.load()
        self._server.lifespan = self._server.config.lifespan_class(self._server.config)
        await self._server.startup(sockets=[self._socket])
        self._serving = asyncio.get_running_loop().create_task(self._server.main_loop())

    async def close(self) -> None:
        """Stop listening and let go of every connection. Closing twice is fine."""
        if self._serving is None:
            return
        serving, self._serving = self._serving, None
        await self._application.close()
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        with contextlib.suppress(TimeoutError):  # SIGTERM has two seconds in all
            async with asyncio.timeout(1.0):
                await self._server.shutdown(sockets=[self._socket])
        self._socket.close()


async def served(url: str, application: Any) -> ServedDoor:
    """Serve an application at a URL of this machine."""
    try:
        uvicorn = importlib.import_module("uvicorn")
    except ImportError as error:
        raise AaepError(
            f"{url!r} needs uvicorn: pip install uvicorn. Without it, use http://, or mount producer.asgi() yourself."
        ) from error
    parts, port = split(url.removeprefix("asgi+"))
    host = parts.hostname or "127.0.0.1"
    numeric = await address(host, port)
    if parts.scheme != "http" or parts.path not in ("", "/") or not is_loopback(numeric):  # TR-024, TR-027
        raise AaepError(f"{url!r} cannot be served. It is for this machine only; write asgi+http://127.0.0.1:0.")
    opened = listening(url, numeric, port)
    try:
        config = uvicorn.Config(
            application,
            log_config=None,
            access_log=False,  # a subscription id is in the URL
            server_header=False,
            lifespan="off",
            ws="websockets-sansio",
            ws_max_size=MAX_MESSAGE_BYTES,
            timeout_graceful_shutdown=1,
        )
        shown = f"[{host}]" if ":" in host else host
        where = f"asgi+http://{shown}:{opened.getsockname()[1]}"
        door = ServedDoor(where, application, uvicorn.Server(config), opened)
        await door.open()
    except BaseException:
        opened.close()
        raise
    return door
