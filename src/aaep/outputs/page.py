"""Plain lines."""

from __future__ import annotations

from typing import TextIO

from ..text.phrases import neutralise

__all__ = ["Page"]


class Page:
    """Lines on a stream. Whatever a text holds, it stays on its line and moves nothing (C-26, C-59)."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = False  # something was echoed and its line has not ended

    def line(self, text: str) -> None:
        self._stream.write(("\n" if self._begun else "") + neutralise(text) + "\n")
        self._stream.flush()
        self._begun = False

    def echo(self, text: str) -> None:
        if text == "\n" and not self._begun:
            return
        self._stream.write(text)
        self._stream.flush()
        self._begun = not text.endswith("\n")
