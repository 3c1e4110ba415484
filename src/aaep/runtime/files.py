"""
Opening a file whose path somebody gave.

What is read again when it changes, or by a library that opens it a second
time, has to be a regular file. Opening a pipe would wait for somebody to
write, without end, and opening a device may do something.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

__all__ = ["at_once", "regular"]

_NEEDED: Final = "a regular file is needed, and this is none"


def regular(path: str | Path) -> BinaryIO:
    """A regular file, opened to be read. Anything else is an OSError, at once."""
    _check(path, os.stat(path))
    file = at_once(path)
    try:
        _check(path, os.fstat(file.fileno()))  # something else may have come there since
    except OSError:
        file.close()
        raise
    return file


def at_once(path: str | Path) -> BinaryIO:
    """Whatever is there, opened to be read. A pipe that nobody writes to counts as empty, and is not waited for."""
    file = open(path, "rb", opener=_opened)  # noqa: SIM115  # who asked for it closes it
    if hasattr(os, "set_blocking"):
        os.set_blocking(file.fileno(), True)  # what somebody is writing is waited for
    return file


def _opened(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))  # Windows has neither


def _check(path: str | Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, _NEEDED, str(path))
