"""Writes the five short sounds of :mod:`aaep.presentation.earcons`: plain tones, the same bytes on every machine."""

from __future__ import annotations

import argparse
import io
import math
import sys
import wave
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aaep.presentation.earcons import EARCONS, Earcon

SOUNDS: Final = Path(__file__).parent.parent / "src" / "aaep" / "outputs" / "sounds"
RATE: Final = 22_050  # frames a second
FADE: Final = 0.008  # seconds at either end of a tone, so that it does not click
LOUDNESS: Final = 0.35

# Tones of each sound: frequency in hertz, 0 for a pause, and seconds. They differ in number, direction and rhythm,
# so that they can be told apart without hearing absolute pitch.
TONES: Final[Mapping[Earcon, tuple[tuple[float, float], ...]]] = {
    "sent": ((880.0, 0.06),),
    "working": ((330.0, 0.05), (0.0, 0.04), (330.0, 0.05)),
    "done": ((523.25, 0.09), (783.99, 0.16)),
    "needs-you": ((659.26, 0.09), (0.0, 0.03), (880.0, 0.09), (0.0, 0.03), (659.26, 0.09)),
    "error": ((220.0, 0.12), (155.56, 0.22)),
}


def make_sound(earcon: Earcon) -> bytes:
    """Return a sound as the bytes of a WAV file."""
    samples = array("h")
    for frequency, seconds in TONES[earcon]:
        count = round(seconds * RATE)
        fade = round(FADE * RATE)
        for index in range(count):
            level = min(1.0, index / fade, (count - index) / fade)
            # Rounded to 12 bits, so that the last digit of a sine, which machines compute differently, does not count.
            value = round(math.sin(2 * math.pi * frequency * index / RATE) * level * LOUDNESS * 2047)
            samples.append(value * 16)
    if sys.byteorder == "big":
        samples.byteswap()
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(RATE)
        sound.writeframes(samples.tobytes())
    return file.getvalue()


def main() -> int:
    """Write the sounds, or with ``--check`` tell whether they are up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    is_check = parser.parse_args().check
    for earcon in EARCONS:
        path = SOUNDS / f"{earcon}.wav"
        if not is_check:
            path.write_bytes(make_sound(earcon))
        elif not path.exists() or path.read_bytes() != make_sound(earcon):
            print(f"{path.name} is out of date. Run scripts/earcons.py.", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
