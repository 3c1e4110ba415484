"""HTTP: server-sent events, POST and WebSocket, all on one port."""

from __future__ import annotations

from typing import Any

from ...identity.origins import scheme_of
from ..base import Channel
from .client import connect as connect_sse
from .server import serve
from .websocket_client import connect as connect_websocket

__all__ = ["connect", "serve"]


def connect(url: str, **settings: Any) -> Channel:
    """Return a channel to the server at a URL: over a WebSocket for ws and wss, else server-sent events and POST."""
    return (connect_websocket if scheme_of(url) in ("ws", "wss") else connect_sse)(url, **settings)
