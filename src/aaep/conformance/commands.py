"""Commands, as somebody writes them on a line."""

from __future__ import annotations

import shlex

from ..errors import AaepError

__all__ = ["apart"]


def apart(command: str) -> list[str]:
    """The words of a command, as a shell would tell them apart."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise AaepError(f"The command {command!r} cannot be taken apart: {str(error).lower()}.") from error
