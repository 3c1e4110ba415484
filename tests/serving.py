"""Hubs that are served, for tests that have no producer to do it."""

from __future__ import annotations

from typing import Any

from aaep.hub.hub import Hub
from aaep.transports.base import serve
from tests.options import server_options


def served(hub: Hub, url: str, **options: Any) -> str:
    """Serve a hub at a URL and give back the real one."""
    return hub.run(serve(hub, url, server_options(**options))).url
