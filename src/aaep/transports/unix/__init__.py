"""Transport over Unix domain sockets (Appendix B.4)."""

from __future__ import annotations

from typing import Final

from .client import connect
from .server import serve

__all__ = ["CONNECT_OPTIONS", "SERVER_OPTIONS", "connect", "serve"]

SERVER_OPTIONS: Final = frozenset({"identity", "max_message_bytes", "request_timeout"})
CONNECT_OPTIONS: Final = frozenset({"framing"})
