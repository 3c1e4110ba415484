"""HTTP: server-sent events, POST and WebSocket, all on one port."""

from __future__ import annotations

from typing import Final

from ...identity.origins import scheme_of
from ..base import Channel
from ..options import DEFAULT_CONNECT_OPTIONS, ConnectOptions
from .client import connect as connect_sse
from .server import serve
from .websocket_client import connect as connect_websocket

__all__ = ["CONNECT_OPTIONS", "SERVER_OPTIONS", "connect", "serve"]

SERVER_OPTIONS: Final = frozenset(
    {"identity", "token", "tls", "origins", "hosts", "max_message_bytes", "request_timeout"}
)
CONNECT_OPTIONS: Final = frozenset({"token", "tls", "timeout", "max_silence"})


def connect(url: str, options: ConnectOptions = DEFAULT_CONNECT_OPTIONS) -> Channel:
    """Return a channel to the server at a URL: over a WebSocket for ws and wss, else server-sent events and POST."""
    return (connect_websocket if scheme_of(url) in ("ws", "wss") else connect_sse)(url, options)
