"""Transport over HTTP: server-sent events, POST and WebSocket on one port (Appendix B.1 and B.2)."""

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
    """Return a channel to the server at a URL: a WebSocket for ws and wss, else server-sent events and POST."""
    if scheme_of(url) in ("ws", "wss"):
        return connect_websocket(url, options)
    return connect_sse(url, options)
