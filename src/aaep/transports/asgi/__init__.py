"""A hub as an ASGI application."""

from __future__ import annotations

from typing import Final

from .application import Application, connect, serve

__all__ = ["CONNECT_OPTIONS", "SERVER_OPTIONS", "Application", "connect", "serve"]

SERVER_OPTIONS: Final = frozenset({"identity", "token", "origins", "hosts", "max_message_bytes", "request_timeout"})
CONNECT_OPTIONS: Final = frozenset({"token", "timeout", "max_silence"})
