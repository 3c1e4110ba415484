"""Files that a command writes: before it begins it is known that they can be, and they are written whole or not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from ._command import CannotRun, to_printable

__all__ = ["check_output_files", "write_output_file"]


def check_output_files(inputs: Sequence[str], targets: Sequence[str]) -> None:
    """Nothing that is read, or just written, is written over, and there is a place for each target."""
    places = [os.path.realpath(file) for file in (*inputs, *targets) if file != "-"]
    for target in targets:
        if target == "-":
            raise CannotRun("- is no file. Give a name, or ./- for a file that is called so.")
        if places.count(os.path.realpath(target)) > 1:
            raise CannotRun(f"{to_printable(target)} is given twice. Give every file a name of its own.")
        place = Path(os.path.realpath(target))
        if not _is_special(place):
            with _file_errors(target):
                tempfile.TemporaryFile(dir=place.parent).close()


def write_output_file(target: str, parts: Iterable[str], *, private: bool) -> None:
    """
    The whole file or none of it; what is no file, such as a pipe, is written to as it is.

    One that is ``private`` and new can be read by its owner only.
    """
    place = Path(os.path.realpath(target))
    with _file_errors(target):
        if _is_special(place):
            with _open_text(place) as file:
                file.writelines(parts)
            return
        handle, name = tempfile.mkstemp(prefix=".aaep-", dir=place.parent)
        try:
            with _open_text(handle) as file:
                file.writelines(parts)
            if place.exists():
                os.chmod(name, place.stat().st_mode & 0o777)
            elif not private:
                os.chmod(name, 0o666 & ~_read_umask())
            os.replace(name, place)
        except BaseException:
            with suppress(OSError):  # what went wrong first is what is told
                os.unlink(name)
            raise


def _is_special(place: Path) -> bool:
    return place.exists() and not place.is_file()


def _open_text(place: Path | int) -> IO[str]:
    return open(place, "w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _read_umask() -> int:
    """What new files are not open to. It can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def _file_errors(target: str) -> Iterator[None]:
    """Whatever fails is told by the name that was given."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotRun(f"{to_printable(target)}: {error.strerror or error}.") from error
