"""Authentication and authorisation of peers, and signed manifests that prove a producer's identity."""

from __future__ import annotations

from .credentials import Certificates, Credentials, First, Grant, Identity, Local, Parent, Users

__all__ = ["Certificates", "Credentials", "First", "Grant", "Identity", "Local", "Parent", "Users"]
