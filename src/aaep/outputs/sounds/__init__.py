"""
The sounds of earcons, and playing them with whatever program of the machine does.

``scripts/earcons.py`` makes the files beside this module.
"""

from __future__ import annotations

import contextlib
import importlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

from ...presentation.earcons import EARCONS, Earcon

__all__ = ["SoundPlayer", "find_player", "sound_path"]

_PLAYERS: Final = (("paplay",), ("pw-play",), ("aplay", "-q"), ("afplay",))
_Play = Callable[[Path], "subprocess.Popen[bytes] | None"]


def sound_path(earcon: Earcon) -> Path:
    """Return the file of a sound: 22,050 Hz, mono, 16 bits."""
    return Path(__file__).parent / f"{earcon}.wav"


def find_player() -> _Play | None:
    """Return a function that begins to play a file and returns at once, or None if nothing here plays sounds."""
    if sys.platform == "win32":
        winsound: Any = importlib.import_module("winsound")
        return lambda path: winsound.PlaySound(str(path), winsound.SND_FILENAME | winsound.SND_ASYNC)
    for program, *options in _PLAYERS:
        found = shutil.which(program)
        if found is not None:
            return lambda path: subprocess.Popen(
                [found, *options, str(path)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
    return None


class SoundPlayer:
    """Plays the sounds that a listener wants to hear, without waiting for their end."""

    def __init__(self, wanted: Collection[Earcon] = EARCONS) -> None:
        self._wanted = wanted
        self._play = find_player()
        self._playing: subprocess.Popen[bytes] | None = None

    @property
    def is_available(self) -> bool:
        """Whether this machine can play sounds."""
        return self._play is not None

    def play(self, earcon: Earcon) -> None:
        """Play a sound if it is wanted, unless another one is still being played: two at once are noise."""
        if self._play is None or earcon not in self._wanted:
            return
        if self._playing is not None and self._playing.poll() is None:
            return
        with contextlib.suppress(OSError):  # whatever has a sound is said in words too
            self._playing = self._play(sound_path(earcon))

    def close(self) -> None:
        """Wait for the end of the sound that is being played, which is short, or end it."""
        if self._playing is None:
            return
        try:
            self._playing.wait(1)
        except subprocess.TimeoutExpired:
            self._playing.kill()
            self._playing.wait()
        self._playing = None
