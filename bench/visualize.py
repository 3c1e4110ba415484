"""
How long a trace of 100,000 events takes, with its text, drawing and page, and what memory that needs.

Each run is a process of its own. Memory grows with the sessions: ten times as
many need about ten times as much on top of the program itself, and one long
session needs no more than a short one.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from aaep.cli._visualize import visualize

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench._recording import Writer, recording

EVENTS = 100_000
MOST_GROWTH = 1.5  # of what one session needs, when it is ten times as long


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] == "--run":
        _run(sys.argv[2], int(sys.argv[3]))
        return
    for kind in ("many", "one"):
        small, large = (_measured(kind, count) for count in (EVENTS // 10, EVENTS))
        name = "many sessions" if kind == "many" else "one session"
        print(f"{EVENTS:,} events in {name}: {large[0]:.1f} seconds, {large[1] / 1024:.0f} MiB at most.")
        print(f"  {EVENTS // 10:,} events: {small[0]:.1f} seconds, {small[1] / 1024:.0f} MiB.")
        if kind == "one" and large[1] > MOST_GROWTH * small[1]:
            raise SystemExit("The memory grows with the events of a session.")


def _measured(kind: str, count: int) -> tuple[float, int]:
    done = subprocess.run(
        [sys.executable, __file__, "--run", kind, str(count)], capture_output=True, text=True, check=True
    )
    seconds, peak = done.stdout.split()
    return float(seconds), int(peak)


def _run(kind: str, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "recording.ndjson"
        with file.open("wb") as out:
            out.writelines(line + b"\n" for line in (recording(count) if kind == "many" else _session(count)))
        start = time.perf_counter()
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            visualize([str(file)], str(Path(folder) / "a.svg"), str(Path(folder) / "a.html"))
        print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def _session(count: int) -> Iterator[bytes]:
    writer = Writer(1)
    writer.session = writer.id("sess")
    yield writer.event("session.started", summary_normal="Writing.")
    yield writer.event("state.changed", from_state="idle", to_state="writing_output", summary_normal="Writing.")
    for number in range(count - 2):
        chunk = {"chunk": "All is well. ", "position": 13 * number, "complete": False, "output_id": "out_1"}
        yield writer.event("output.streaming", "normal", coalesce_hint="sentence", **chunk)


if __name__ == "__main__":
    main()
