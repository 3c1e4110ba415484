"""The file that settings are kept in: where it is, reading it whatever its state, and changing it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from ..errors import AaepError
from ..runtime.files import create_private_folder, open_regular_file, user_config_folder, write_private_file
from ..text.phrases import ENGLISH, Phrases
from .toml_text import remove_entry, set_entry

__all__ = ["FileText", "change_setting", "find_settings_file", "load_settings_file", "read_settings_file"]

MAX_FILE_BYTES: Final = 1_048_576
_BEGINNING: Final = "# Settings of aaep. The command aaep settings lists all that there are.\n\n"
_WRITE_BY_OTHERS: Final = 0o022


class FileText(msgspec.Struct, frozen=True):
    """What a settings file says, or in a sentence why that does not count."""

    path: Path
    text: str = ""
    problem: str = ""


def find_settings_file(environment: Mapping[str, str] | None = None) -> Path:
    """Return the path of the settings file: the one that ``AAEP_SETTINGS`` names, or the one in the user's folder."""
    environment = os.environ if environment is None else environment
    named = environment.get("AAEP_SETTINGS", "")
    return Path(named).expanduser() if named else user_config_folder(environment) / "settings.toml"


def read_settings_file(path: Path, *, is_named: bool = False, phrases: Phrases = ENGLISH) -> FileText:
    """Return the text of a settings file. ``is_named`` says that somebody named it, so that it has to be there."""
    try:
        with open_regular_file(path) as file:
            file_stat = os.fstat(file.fileno())
            data = file.read(MAX_FILE_BYTES)
    except FileNotFoundError:
        return FileText(path, problem=phrases.format("settings-missing", file=str(path)) if is_named else "")
    except OSError as error:
        return FileText(path, problem=phrases.format("settings-unreadable", reason=f"{path}: {error.strerror}."))
    if os.name == "posix" and file_stat.st_uid not in (0, os.geteuid()):
        return FileText(path, problem=phrases.format("settings-stranger", file=str(path)))
    if os.name == "posix" and file_stat.st_mode & _WRITE_BY_OTHERS:
        return FileText(path, problem=phrases.format("settings-unsafe", file=str(path)))
    try:
        return FileText(path, data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = phrases.format("settings-encoding", line=line)
        return FileText(path, problem=phrases.format("settings-unreadable", reason=reason))


def load_settings_file(environment: Mapping[str, str] | None = None, phrases: Phrases = ENGLISH) -> FileText:
    """Return the text of this user's settings file."""
    environment = os.environ if environment is None else environment
    is_named = bool(environment.get("AAEP_SETTINGS"))
    return read_settings_file(find_settings_file(environment), is_named=is_named, phrases=phrases)


def change_setting(path: Path, key: str, value: Any | None) -> None:
    """Set a value in the file, or remove it if None; the file and its folder are made if they are missing."""
    found = read_settings_file(path)
    if found.problem:
        raise AaepError(f"{found.problem} Nothing was changed.")
    text = remove_entry(found.text, key) if value is None else set_entry(found.text or _BEGINNING, key, value)
    if text == found.text:
        return
    target = Path(os.path.realpath(path))  # where the file is a link, as in a folder under version control
    create_private_folder(target.parent)
    write_private_file(target, text.encode())
    if os.name == "posix" and stat.S_IMODE(target.stat().st_mode) != 0o600:
        target.chmod(0o600)
