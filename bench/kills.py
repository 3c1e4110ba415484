"""
Kill an agent at random moments, again and again, and look whether its journal tells the truth.

The agent asks, is accepted, and its tool writes a line into a ledger, which is
the effect. A listener notes what it heard. Both write with one system call, as
early as they can. Then the process is killed, and the next one recovers the journal.

Afterwards every line of the ledger has to be known to the journal, and to be there
once; nothing that was done may be told as not done; and nothing may have been heard
that the journal does not have. ``python bench/kills.py 1000`` kills a thousand times.
"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from aaep.journal.base import Retention
from aaep.journal.sqlite import SqliteJournal
from aaep.producer.producer import Producer

AGENT = """
import os, sys
import aaep
from aaep.journal.base import Retention
from aaep.journal.sqlite import SqliteJournal
from aaep.testing import Listener

folder, number = sys.argv[1:]
ledger = os.open(f"{folder}/ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
heard = os.open(f"{folder}/heard", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
journal = SqliteJournal(f"{folder}/journal.db", retention=Retention(max_bytes=2**40))
with aaep.Producer("bank", journal=journal) as producer:
    Listener(producer, "accept", on_announcement=lambda said: os.write(heard, f"{said.event_id}\\n".encode()))

    @producer.tool(action="Pay bill {bill}.", consequence="The money is gone.")
    def pay(bill):
        os.write(ledger, f"{bill}\\n".encode())

    @producer.tool(risk="low")
    def look():
        pass

    print("ready", flush=True)
    for count in range(10_000):
        with producer.session("Paying bills.") as session:
            session.write("I pay a bill. Then the next one.")
            look()
            pay(f"{number}-{count}")
"""
_NOT_DONE = re.compile(r"Pay bill (\S+) was not done")
MAX_DELAY = 0.3  # seconds after which an agent is killed, at the latest


class Verdict(NamedTuple):
    """What was found after all kills; everything but the first two should be 0."""

    kills: int
    done: int
    done_twice: int
    unknown_to_the_journal: int
    done_and_told_as_not_done: int
    heard_and_in_no_journal: int
    sessions_without_end: int

    @property
    def is_good(self) -> bool:
        """Whether the journal told the truth."""
        return not any(self[2:])


def kill_agents(folder: Path, kills: int, seed: int = 0) -> Verdict:
    """Start and kill an agent a number of times, recover its journal, and judge it."""
    chance = random.Random(seed)
    for number in range(kills):
        with subprocess.Popen(
            [sys.executable, "-c", AGENT, str(folder), str(number)], stdout=subprocess.PIPE, text=True
        ) as agent:
            assert agent.stdout is not None
            assert agent.stdout.readline() == "ready\n", "The agent did not start."
            time.sleep(chance.uniform(0.0, MAX_DELAY))
            os.kill(agent.pid, signal.SIGKILL)
    journal = SqliteJournal(folder / "journal.db", retention=Retention(max_bytes=2**40))
    try:
        with Producer("bank", journal=journal):
            pass  # recovers what the last one left
        return _judge(journal, folder, kills)
    finally:
        journal.close()


def _judge(journal: SqliteJournal, folder: Path, kills: int) -> Verdict:
    entries = journal.read(limit=sys.maxsize)
    done = (folder / "ledger").read_text().split()
    heard = (folder / "heard").read_text().split()
    invoked = set()
    not_done = set()
    ids = set()
    for entry in entries:
        ids.add(entry.event_id)
        event = msgspec.json.decode(entry.data)
        if event["type"] == "aaep:agent.tool.invoked" and event["tool"] == "pay":
            invoked.add(event["args_summary"].removeprefix("bill: "))
        not_done.update(_NOT_DONE.findall(event.get("summary_normal", "")))
    return Verdict(
        kills=kills,
        done=len(done),
        done_twice=len(done) - len({*done}),
        unknown_to_the_journal=len({*done} - invoked),
        done_and_told_as_not_done=len(not_done & {*done}),
        heard_and_in_no_journal=len([event_id for event_id in heard if event_id.partition("m")[0] not in ids]),
        sessions_without_end=len(journal.list_sessions()),
    )


def main() -> int:
    """Print what was found; return 1 if the journal did not tell the truth."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as folder:
        verdict = kill_agents(Path(folder), kills)
    for name, value in verdict._asdict().items():
        print(f"{name.replace('_', ' ')}: {value}")
    return 0 if verdict.is_good else 1


if __name__ == "__main__":
    sys.exit(main())
