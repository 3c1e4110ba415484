"""What whoever connects shows to be let in: a token, or a function that gives the token of the day. CF-149"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from ..errors import AaepError
from .base import ChannelLost

__all__ = ["Token", "authorization"]

Token = str | Callable[[], str] | None

_SHOWN: Final = re.compile(r"[!-~]+")  # what can stand in a header, and more than any token has


def authorization(token: Token, name: str = "Authorization") -> dict[str, str]:
    """
    The header that shows a token; none without one. A function is asked each time, and must not wait.

    One that fails is asked again with the next try: who gives tokens may be away, as anybody may.
    """
    if token is None:
        return {}
    # The line break that a token has from the file it was read from is not part of it.
    given = _asked(token).strip() if callable(token) else token.strip()
    if _SHOWN.fullmatch(given) is None:
        why = "holds what no token holds, such as a space, a line break or a letter with an accent"
        raise AaepError(f"The token {why if given else 'is empty'}. Give it as it was made, or leave it out.")
    return {name: f"Bearer {given}"}


def _asked(token: Callable[[], str]) -> str:
    try:
        return str(token())
    except Exception as error:
        raise ChannelLost(
            f"There is no token to show: the function for it failed with {type(error).__name__}."
        ) from error
