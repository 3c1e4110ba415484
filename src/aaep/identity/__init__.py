"""Who is at the other end of a connection, what that one may do, and how a producer proves who it is."""

from __future__ import annotations

from .credentials import Certificates, Credentials, First, Grant, Identity, Local, Parent, Users

__all__ = ["Certificates", "Credentials", "First", "Grant", "Identity", "Local", "Parent", "Users"]
