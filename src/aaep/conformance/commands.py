"""Command lines that start a peer or one of its tasks."""

from __future__ import annotations

import shlex

from ..errors import AaepError

__all__ = ["split_command"]


def split_command(command: str) -> list[str]:
    """Split a command into words as a shell does; raise :exc:`~aaep.errors.AaepError` if its quotes do not match."""
    try:
        return shlex.split(command)
    except ValueError as error:
        raise AaepError(f"The command {command!r} cannot be taken apart: {str(error).lower()}.") from error
