"""The recording that a command makes of its own agent, for ``--capture``."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

import click

from ..recording.capture import LineFile
from ..testing import Listener
from ._command import CannotRun, to_printable

__all__ = ["Recording"]


class Recording:
    """
    The file of ``--capture``, for its owner alone. It has whole lines however the command ends.

    It is opened before the work begins, so that one that cannot be written is told then, and removed again if
    nothing was recorded.
    """

    def __init__(self, path: Path | None, *, source: str) -> None:
        self.is_wanted = path is not None
        self._path = path
        self._source = source
        self._file: LineFile | None = None
        self._listener: Listener | None = None
        self._is_whole = True
        self._saved: set[bytes] = set()

    def __enter__(self) -> Self:
        if self._path is not None:
            if self._path.is_file():
                raise CannotRun(f"{to_printable(str(self._path))} is there already. Give another name.")
            self._file = LineFile(self._path)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        try:
            self.save()
        finally:
            self._file.close()
        if self._saved:
            click.echo(f"Recorded in {to_printable(str(self._path))}.")

    def begin(self, listener: Listener, *, whole: bool) -> None:
        """Record what a listener hears; ``whole`` says that nobody else replies."""
        self._listener = listener
        self._is_whole = whole

    def save(self) -> None:
        """Write what was recorded since the last time."""
        if self._file is None or self._listener is None:
            return
        lines = self._listener.capture_lines(source=self._source, whole=self._is_whole)
        new = [line for line in lines if line not in self._saved]
        self._file.write(b"".join(new))  # with one call, so that no signal comes between two lines
        self._saved.update(new)
