"""Printing of lines that a screen reader, a braille display and a log read alike."""

from __future__ import annotations

import re
from typing import Final, TextIO

from ..text.sanitize import sanitize

__all__ = ["QUOTE_MARK", "LinePrinter"]

QUOTE_MARK: Final = "| "  # before each line of an agent's own words; most voices are silent about it

_WORDS: Final = re.compile(r"[^ ]+(?: [^ ]+)*")  # what stands between wider spaces


class LinePrinter:
    """Prints sanitized lines to a stream: whatever a text contains, it stays on its line (C-26, C-59)."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_mid_line = False  # something was echoed and its line has not ended

    def print_line(self, text: str) -> None:
        """Print a text on a line of its own."""
        self._stream.write(("\n" if self._is_mid_line else "") + sanitize(text) + "\n")
        self._stream.flush()
        self._is_mid_line = False

    def print_lines(self, text: str, label: str = "", *, quoted: bool = False) -> None:
        """
        Print a label and a text of one or several lines, each on its own and with its indentation (C-26, C-59).

        What is ``quoted`` is the agent's, and each of its lines has a mark that lines of ours never begin with.
        """
        mark = QUOTE_MARK if quoted else ""
        first, *others = text.split("\n")
        self.print_line(f"{label}{mark}{first}")
        for line in others:
            self._stream.write(mark + _WORDS.sub(lambda match: sanitize(match[0]), line) + "\n")
        self._stream.flush()

    def ring(self) -> None:
        """Ring the bell of a terminal; a file or a pipe has none."""
        if self._stream.isatty():
            self._stream.write("\a")
            self._stream.flush()

    def echo(self, text: str) -> None:
        """Print typed text as it is, without ending the line."""
        if text == "\n" and not self._is_mid_line:
            return
        self._stream.write(text)
        self._stream.flush()
        self._is_mid_line = not text.endswith("\n")
