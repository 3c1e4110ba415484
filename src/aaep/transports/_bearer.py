"""What whoever connects shows to be let in: a token, or a function that gives the token of the day. CF-149"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Token", "authorization"]

Token = str | Callable[[], str] | None


def authorization(token: Token, name: str = "Authorization") -> dict[str, str]:
    """The header that shows a token; none without one. A function is asked each time, and must not wait."""
    if token is None:
        return {}
    return {name: f"Bearer {token() if callable(token) else token}"}
