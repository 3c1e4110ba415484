"""Hubs that are served, for tests that have no producer to do it."""

from __future__ import annotations

from typing import Any

from aaep.hub.hub import Hub
from aaep.transports.base import serve
from aaep.transports.stdio import server as stdio
from tests.options import server_options


def served(hub: Hub, url: str, **options: Any) -> str:
    """Serve a hub at a URL and give back the real one."""
    ends: dict[str, int] = {name: options.pop(name) for name in ("reading", "writing") if name in options}
    if ends:
        return hub.run(serve_pipes(hub, url, ends, **options)).url
    return hub.run(serve(hub, url, server_options(**options))).url


async def serve_pipes(hub: Hub, url: str, ends: dict[str, int], **options: Any) -> stdio.StdioServer:
    """Serve a hub on two pipes in place of standard input and output."""
    hub.start()
    server = await stdio.serve(hub, url, server_options(**options), **ends)
    hub.add_server(server)
    return server
