"""Programs that are started, talked to, and ended."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tests.end_to_end.wires import LONG

ROOT: Final = Path(__file__).parents[2]
# What the `aaep` command runs, with an address of ours that only tests know.
COMMAND: Final = ("-c", "import tests.end_to_end.pipes; from aaep.cli import main; main()")
AGENT: Final = Path(__file__).with_name("agent.py")


class Program:
    """A process whose standard input and output are ours."""

    def __init__(self, *command: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])},
        )

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def hear(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"It ended: {self._said()}"
        return line.rstrip("\n")

    def kill(self) -> None:
        """As the kernel does it, without a word to the program."""
        self.process.kill()
        self.process.wait(LONG)

    def _said(self) -> str:
        return self.process.stderr.read() if self.process.stderr is not None else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate(timeout=LONG)


class Agent(Program):
    """The agent of ``agent.py``."""

    def __init__(self, url: str, journal: Path | None, ledger: Path) -> None:
        super().__init__(str(AGENT), url, "-" if journal is None else str(journal), str(ledger))
        self.url = self.hear()
