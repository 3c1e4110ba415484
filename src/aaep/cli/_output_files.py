"""Output files of commands: checked before the work begins, and written completely or not at all."""

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
    """Raise :exc:`CannotRun` if a target is also an input or another target, or its folder is not writable."""
    paths = [os.path.realpath(file) for file in (*inputs, *targets) if file != "-"]
    for target in targets:
        if target == "-":
            raise CannotRun("- is no file. Give a name, or ./- for a file that is called so.")
        path = os.path.realpath(target)
        if paths.count(path) > 1:
            raise CannotRun(f"{to_printable(target)} is given twice. Give every file a name of its own.")
        if not _is_special(Path(path)):
            with _convert_file_errors(target):
                tempfile.TemporaryFile(dir=Path(path).parent).close()


def write_output_file(target: str, parts: Iterable[str], *, private: bool) -> None:
    """
    Write a file completely or not at all; write directly to a target that is no regular file, such as a pipe.

    With ``private``, a new file can be read by its owner only.
    """
    path = Path(os.path.realpath(target))
    with _convert_file_errors(target):
        if _is_special(path):
            with _open_text(path) as file:
                file.writelines(parts)
            return
        fd, temporary = tempfile.mkstemp(prefix=".aaep-", dir=path.parent)
        try:
            with _open_text(fd) as file:
                file.writelines(parts)
            if path.exists():
                os.chmod(temporary, path.stat().st_mode & 0o777)
            elif not private:
                os.chmod(temporary, 0o666 & ~_read_umask())
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):  # the first error is the one to report
                os.unlink(temporary)
            raise


def _is_special(path: Path) -> bool:
    return path.exists() and not path.is_file()


def _open_text(file: Path | int) -> IO[str]:
    return open(file, "w", encoding="utf-8", errors="backslashreplace", newline="\n")


def _read_umask() -> int:
    """Return the umask, which can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


@contextmanager
def _convert_file_errors(target: str) -> Iterator[None]:
    """Raise :exc:`CannotRun` with the name of the target for an error of the operating system."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise CannotRun(f"{to_printable(target)}: {error.strerror or error}.") from error
