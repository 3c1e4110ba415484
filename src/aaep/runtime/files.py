"""
Opening a file whose path somebody gave.

What is read again when it changes, or by a library that opens it a second
time, has to be a regular file. Opening a pipe would wait for somebody to
write, without end, and opening a device may do something.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Final

from ..errors import AaepError

__all__ = [
    "UnsafeFile",
    "agent_file_name",
    "check_file_private",
    "check_folder_safe",
    "create_private_folder",
    "default_journal_path",
    "open_regular_file",
    "open_without_waiting",
    "user_state_folder",
]

_NOT_REGULAR: Final = "a regular file is needed, and this is none"


def open_regular_file(path: str | Path) -> BinaryIO:
    """A regular file, opened to be read. Anything else is an OSError, at once."""
    _check_regular(path, os.stat(path))
    file = open_without_waiting(path)
    try:
        _check_regular(path, os.fstat(file.fileno()))  # something else may have come there since
    except OSError:
        file.close()
        raise
    return file


def open_without_waiting(path: str | Path) -> BinaryIO:
    """Whatever is there, opened to be read. A pipe that nobody writes to counts as empty, and is not waited for."""
    file = open(path, "rb", opener=_open_nonblocking)  # noqa: SIM115  # who asked for it closes it
    if hasattr(os, "set_blocking"):
        os.set_blocking(file.fileno(), True)  # what somebody is writing is waited for
    return file


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))  # Windows has neither


def _check_regular(path: str | Path, file_stat: os.stat_result) -> None:
    if not stat.S_ISREG(file_stat.st_mode):
        raise OSError(errno.EINVAL, _NOT_REGULAR, str(path))


# -- the user's own state files ------------------------------------------------------------


class UnsafeFile(AaepError):
    """A file, or its folder, is open to other users, or is not a plain file."""


_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


def user_state_folder(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """The folder for what programs keep of a user's sessions. Not made by asking for it."""
    environment = os.environ if environment is None else environment
    try:
        if platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "AAEP"
        if platform == "win32":
            return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "AAEP"
        given = environment.get("XDG_STATE_HOME", "")
        # The XDG specification has relative paths ignored.
        return (Path(given) if given.startswith("/") else Path.home() / ".local" / "state") / "aaep"
    except RuntimeError as error:
        raise AaepError("There is no home folder to keep files in: name a file instead.") from error


def agent_file_name(agent_id: str) -> str:
    """What files of an agent are called. Its id may be any string, so only a harmless one is their name (CF-103)."""
    if _SAFE_NAME.fullmatch(agent_id) is not None and agent_id not in (".", ".."):
        return agent_id
    return "id-" + hashlib.sha256(agent_id.encode(errors="surrogatepass")).hexdigest()[:32]


def default_journal_path(agent_id: str) -> Path:
    """The journal of one agent."""
    return user_state_folder() / f"{agent_file_name(agent_id)}.db"


def create_private_folder(path: Path) -> None:
    """Make what is missing of a path, for its owner alone; ``parents=True`` would make the upper ones for everybody."""
    for one in reversed([path, *path.parents]):
        if not one.exists():
            one.mkdir(mode=0o700, exist_ok=True)


def check_folder_safe(path: Path) -> None:
    """Whoever may rename files in the folder could put another one in our place."""
    if os.name != "posix":
        return
    found = path.stat()
    if found.st_uid not in (os.geteuid(), 0):
        raise UnsafeFile(f"The folder {path} belongs to another user: name a file in a folder of your own.")
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        raise UnsafeFile(f"Other users may write in the folder {path}: run chmod go-w on it, or name another file.")


def check_file_private(path: Path, file_stat: os.stat_result) -> None:
    if not stat.S_ISREG(file_stat.st_mode):
        raise UnsafeFile(f"{path} is not a plain file: name another one.")
    if os.name != "posix":
        return
    if file_stat.st_uid != os.geteuid():
        raise UnsafeFile(f"The file {path} belongs to another user: name another one.")
    if file_stat.st_mode & 0o077:
        raise UnsafeFile(f"Other users may read or write the file {path}: run chmod 600 on it, or name another one.")
