"""Unix sockets."""

from __future__ import annotations

from .client import connect
from .server import serve

__all__ = ["connect", "serve"]
