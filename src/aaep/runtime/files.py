"""
Safe opening of files at paths from the outside, and the user's private state files.

A file that is read again when it changes, or that a library opens a second
time, has to be a regular file: opening a pipe could block for ever, and opening
a device may have side effects.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO, Final

from ..errors import AaepError

__all__ = [
    "FileVersion",
    "UnsafeFile",
    "agent_file_name",
    "check_file_private",
    "check_folder_safe",
    "create_private_folder",
    "default_journal_path",
    "get_file_version",
    "open_regular_file",
    "open_without_waiting",
    "user_config_folder",
    "user_state_folder",
    "write_private_file",
]

FileVersion = tuple[int, ...]  # empty where the file cannot be found

_NOT_REGULAR: Final = "a regular file is needed, and this is none"
_SAFE_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class UnsafeFile(AaepError):
    """A file, or its folder, is open to other users, or is not a plain file."""


# -- opening files -------------------------------------------------------------------------


def open_regular_file(path: str | Path) -> BinaryIO:
    """Open a regular file for reading. Anything else raises :exc:`OSError` at once."""
    _check_regular(path, os.stat(path))
    file = open_without_waiting(path)
    try:
        _check_regular(path, os.fstat(file.fileno()))  # the path may have been replaced since
    except OSError:
        file.close()
        raise
    return file


def open_without_waiting(path: str | Path) -> BinaryIO:
    """Open any file for reading, without waiting for a writer: a pipe that has none reads as empty."""
    file = open(path, "rb", opener=_open_nonblocking)  # noqa: SIM115  # the caller closes it
    if hasattr(os, "set_blocking"):
        os.set_blocking(file.fileno(), True)  # reading does wait for a writer that is there
    return file


def _open_nonblocking(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0))  # Windows has neither


def _check_regular(path: str | Path, file_stat: os.stat_result) -> None:
    if not stat.S_ISREG(file_stat.st_mode):
        raise OSError(errno.EINVAL, _NOT_REGULAR, str(path))


def get_file_version(file_stat: os.stat_result) -> FileVersion:
    """Return a value that differs whenever a file was replaced or written since."""
    return file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ctime_ns


# -- the user's state files ----------------------------------------------------------------


def user_state_folder(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """Return the folder for the user's journals and tokens, without creating it."""
    environment = os.environ if environment is None else environment
    try:
        if platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "AAEP"
        if platform == "win32":
            return Path(environment.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "AAEP"
        state_home = environment.get("XDG_STATE_HOME", "")
        # The XDG specification requires relative paths to be ignored.
        return (Path(state_home) if state_home.startswith("/") else Path.home() / ".local" / "state") / "aaep"
    except RuntimeError as error:
        raise AaepError("There is no home folder to keep files in: name a file instead.") from error


def user_config_folder(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """Return the folder for the user's settings, without creating it."""
    environment = os.environ if environment is None else environment
    try:
        if platform == "darwin":
            return Path.home() / "Library" / "Application Support" / "AAEP"
        if platform == "win32":
            return Path(environment.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "AAEP"
        config_home = environment.get("XDG_CONFIG_HOME", "")
        # The XDG specification requires relative paths to be ignored.
        return (Path(config_home) if config_home.startswith("/") else Path.home() / ".config") / "aaep"
    except RuntimeError as error:
        raise AaepError("There is no home folder to keep settings in: name a file with AAEP_SETTINGS.") from error


def agent_file_name(agent_id: str) -> str:
    """Return the base name of an agent's files: its id, or a hash of an id that is not safe as a file name (CF-103)."""
    if _SAFE_NAME.fullmatch(agent_id) is not None and agent_id not in (".", ".."):
        return agent_id
    return "id-" + hashlib.sha256(agent_id.encode(errors="surrogatepass")).hexdigest()[:32]


def default_journal_path(agent_id: str) -> Path:
    """Return the path of an agent's journal in the user's state folder."""
    return user_state_folder() / f"{agent_file_name(agent_id)}.db"


def create_private_folder(path: Path) -> None:
    """Create a folder and its missing parents with mode 700; ``mkdir(parents=True)`` would leave parents open."""
    for folder in reversed([path, *path.parents]):
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)


def write_private_file(path: Path, data: bytes) -> None:
    """Write a file atomically, readable by its owner only."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(draft, flags | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def check_folder_safe(path: Path) -> None:
    """Raise :exc:`UnsafeFile` if other users could replace files in a folder."""
    if os.name != "posix":
        return
    folder_stat = path.stat()
    if folder_stat.st_uid not in (os.geteuid(), 0):
        raise UnsafeFile(f"The folder {path} belongs to another user: name a file in a folder of your own.")
    if folder_stat.st_mode & 0o022 and not folder_stat.st_mode & stat.S_ISVTX:
        raise UnsafeFile(f"Other users may write in the folder {path}: run chmod go-w on it, or name another file.")


def check_file_private(path: Path, file_stat: os.stat_result) -> None:
    """Raise :exc:`UnsafeFile` unless a file is a plain one that only this user can read and write."""
    if not stat.S_ISREG(file_stat.st_mode):
        raise UnsafeFile(f"{path} is not a plain file: name another one.")
    if os.name != "posix":
        return
    if file_stat.st_uid != os.geteuid():
        raise UnsafeFile(f"The file {path} belongs to another user: name another one.")
    if file_stat.st_mode & 0o077:
        raise UnsafeFile(f"Other users may read or write the file {path}: run chmod 600 on it, or name another one.")
