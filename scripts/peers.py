"""
Judges all our peers, right and broken, with the conformance suite, and prints a table of the verdicts.

Exits with 1 if a verdict is not the expected one. Progress goes to standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).parent.parent))  # the peers are part of the tests

from tests.peers import Peer, all_peers

_HEADINGS: Final = ("peer", "expected", "verdict", "")


async def judge_peers(peers: list[Peer]) -> list[str]:
    """Return the verdict on each peer. Those of one kind are judged side by side."""
    verdicts: dict[Peer, str] = {}
    for at_once, group in groupby(peers, lambda peer: peer.at_once):
        gate = asyncio.Semaphore(at_once)

        async def judge(peer: Peer, gate: asyncio.Semaphore = gate) -> None:
            async with gate:
                try:
                    verdicts[peer] = peer.expected.describe(await peer.judge())
                except Exception as error:  # whatever it is, it is the row's verdict
                    verdicts[peer] = f"could not be judged: {error!r}"
            print(f"{len(verdicts)} of {len(peers)}: {peer.side} {peer.name}: {verdicts[peer]}", file=sys.stderr)

        await asyncio.gather(*map(judge, group))
    return [verdicts[peer] for peer in peers]


def format_table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table in plain text, with columns as wide as they have to be."""
    lines = [*rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]


def main(arguments: list[str] | None = None) -> int:
    """Judge the peers whose name contains a word, or all, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("word", nargs="?", default="", help="judge only those whose side or name contains this")
    word = parser.parse_args(arguments).word
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        peers = [peer for peer in all_peers(folder) if word.lower() in f"{peer.side} {peer.name}".lower()]
        verdicts = asyncio.run(judge_peers(peers))
    rows = [
        (f"{peer.side} {peer.name}", str(peer.expected), verdict, "" if verdict == str(peer.expected) else "differs")
        for peer, verdict in zip(peers, verdicts, strict=True)
    ]
    print("\n".join(format_table([_HEADINGS, *rows])))
    differing = sum(row[-1] != "" for row in rows)
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    print(f"\n{len(rows)} peers, {differing} with another verdict than expected, in {minutes} min {seconds} s.")
    return 1 if differing or not rows else 0


if __name__ == "__main__":
    raise SystemExit(main())
