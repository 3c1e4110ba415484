"""Transport over standard input and output, as lines of JSON-RPC (Appendix B.6)."""

from __future__ import annotations

from typing import Final

from .client import connect
from .server import serve

__all__ = ["CONNECT_OPTIONS", "SERVER_OPTIONS", "connect", "serve"]

SERVER_OPTIONS: Final = frozenset({"identity", "max_message_bytes"})
CONNECT_OPTIONS: Final = frozenset({"exit_timeout"})
