"""
Pipes that can be connected to, so that what is tested here for many readers is tested for pipes too.

An agent on pipes has the one reader that started it. Here each connection to a
socket is handed to an agent as the pipes of a reader of its own, as ``inetd``
does. ``pipes:///path`` is such an address. Importing this makes it known.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from aaep.hub.hub import Hub
from aaep.transports import base
from aaep.transports import stdio as stdio_package
from aaep.transports.options import DEFAULT_SERVER_OPTIONS, ServerOptions
from aaep.transports.stdio import server


class PipesServer:
    """A socket, and a server for each connection to it."""

    transports = (server.TRANSPORT,)

    def __init__(self, hub: Hub, url: str, options: ServerOptions) -> None:
        self.url, self._hub, self._options = url, hub, options
        self._path = Path(urlsplit(url).path)
        self._path.unlink(missing_ok=True)
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(self._path))
        self._socket.listen(100)
        self._socket.setblocking(False)
        self._servers: list[server.StdioServer] = []
        self._loop = asyncio.get_running_loop()
        self._accepting = self._loop.create_task(self._accept())

    async def _accept(self) -> None:
        while True:
            line, _ = await self._loop.sock_accept(self._socket)
            ends: Any = {"reading": os.dup(line.fileno()), "writing": line.detach()}
            self._servers.append(await server.serve(self._hub, "stdio:", self._options, **ends))

    async def close(self) -> None:
        self._accepting.cancel()
        await asyncio.gather(self._accepting, return_exceptions=True)
        self._socket.close()
        await asyncio.gather(*(one.close() for one in self._servers))


SERVER_OPTIONS = stdio_package.SERVER_OPTIONS
CONNECT_OPTIONS = stdio_package.CONNECT_OPTIONS


async def serve(hub: Hub, url: str, options: ServerOptions = DEFAULT_SERVER_OPTIONS) -> PipesServer:
    return PipesServer(hub, url, options)


sys.modules["aaep.transports.pipes"] = sys.modules[__name__]
base._PACKAGES["pipes"] = "pipes"
