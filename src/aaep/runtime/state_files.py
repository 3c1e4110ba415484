"""Where journals are, and whether a file there is safe to use."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..journal.base import JournalError, JournalUnsafe

__all__ = ["existing", "file_name", "folder", "make_folder", "path_for", "private", "safe_folder"]

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


def folder(environment: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
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
        raise JournalError("There is no home folder to keep the journal in: name a file for it.") from error


def file_name(agent_id: str) -> str:
    """What files of an agent are called. Its id may be any string, so only a harmless one is their name (CF-103)."""
    if _NAME.fullmatch(agent_id) is not None and agent_id not in (".", ".."):
        return agent_id
    return "id-" + hashlib.sha256(agent_id.encode(errors="surrogatepass")).hexdigest()[:32]


def path_for(agent_id: str) -> Path:
    """The journal of one agent."""
    return folder() / f"{file_name(agent_id)}.db"


def make_folder(place: Path) -> None:
    """Make what is missing of a path, for its owner alone; ``parents=True`` would make the upper ones for everybody."""
    for one in reversed([place, *place.parents]):
        if not one.exists():
            one.mkdir(mode=0o700, exist_ok=True)


def safe_folder(place: Path) -> None:
    """Whoever may rename files in the folder could put another one in our place."""
    if os.name != "posix":
        return
    found = place.stat()
    if found.st_uid not in (os.geteuid(), 0):
        raise JournalUnsafe(f"The folder {place} belongs to another user: name a file in a folder of your own.")
    if found.st_mode & 0o022 and not found.st_mode & stat.S_ISVTX:
        raise JournalUnsafe(f"Other users may write in the folder {place}: run chmod go-w on it, or name another file.")


def existing(path: Path) -> os.stat_result:
    try:
        return path.lstat()
    except FileNotFoundError as error:
        raise JournalError(f"There is no journal {path}.") from error


def private(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise JournalUnsafe(f"{path} is not a plain file: name another one.")
    if os.name != "posix":
        return
    if found.st_uid != os.geteuid():
        raise JournalUnsafe(f"The file {path} belongs to another user: name another one.")
    if found.st_mode & 0o077:
        raise JournalUnsafe(f"Other users may read or write the file {path}: run chmod 600 on it, or name another one.")
