"""Unix sockets."""

from __future__ import annotations

from .server import connect, serve

__all__ = ["connect", "serve"]
