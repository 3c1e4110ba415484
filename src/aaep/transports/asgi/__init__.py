"""A hub as an ASGI application."""

from __future__ import annotations

from .application import Application, connect, serve

__all__ = ["Application", "connect", "serve"]
