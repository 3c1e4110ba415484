"""A page of docs/ that a script writes, or checks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path


def run(text: Callable[[], str], page: Path, script: str, about: str | None, arguments: list[str] | None) -> int:
    """Write the page; with ``--check`` only say, by exiting with 1, that it is stale."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the page is stale")
    parser.add_argument("page", nargs="?", type=Path, default=page, help="the page to write or check")
    given = parser.parse_args(arguments)
    if not given.check:
        given.page.write_text(text(), encoding="utf-8")
        return 0
    if given.page.exists() and given.page.read_text(encoding="utf-8") == text():
        return 0
    print(f"{given.page.name} is stale. Run: python scripts/{script}", file=sys.stderr)
    return 1
