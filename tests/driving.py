"""Driving the commands from outside: a demo that waits for a reader, and somebody who answers what a command asks."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["AAEP", "LONG", "answered", "demo_at"]

AAEP = str(Path(sys.executable).parent / "aaep")
LONG = 60.0


@contextmanager
def demo_at() -> Iterator[str]:
    """The demo, which waits for a reader that can answer; its address."""
    command = [AAEP, "demo", "--answer", "remote", "--pace", "0"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().split()[-1]
            assert process.wait(LONG) == 0
        finally:
            process.kill()


def answered(command: list[str], answer: str) -> list[str]:
    """Run a reader, give one answer to all it asks, and give back what was heard of the session."""
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(command, stdin=subprocess.PIPE, text=True, **output) as process:  # type: ignore[call-overload]  # either pipes or nothing
        try:
            said = []
            for line in process.stdout:
                said.append(line.rstrip("\n"))
                if line.startswith("Attention. ") and " Confirm. " in line:  # at a hub the agent stands between
                    process.stdin.write(answer + "\n")
                    process.stdin.flush()
                elif "Write yes to accept" in line:
                    process.stdin.write("yes\n")
                    process.stdin.flush()
            assert process.wait(LONG) == 0, said
        finally:
            process.kill()
    first = next(place for place, line in enumerate(said) if "Started." in line)
    last = max(place for place, line in enumerate(said) if line.startswith("Done."))
    return said[first : last + 1]
