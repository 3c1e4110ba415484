"""
Kill an agent or its hub at random moments, again and again, and look whether the journal tells the truth.

The agent asks, is accepted, and its tool writes a line into a ledger, which is
the effect. A listener notes what it heard. Both write with one system call, as
early as they can. Then the agent is killed, and the next one recovers the journal.
Or the hub is killed that the agent is attached to, and the next hub takes its
place. All the while a reader listens, and connects again whenever it can.

Afterwards every line of the ledger has to be known to the journal, and to be there
once; nothing that was done may be told as not done; nothing may have been heard that
the journal does not have; and the reader must have got every event once, however often
it was cut off. Of changes of state several may have come as one, as a reader that falls
behind gets them, but not one may be missing from their chain.

``python bench/kills.py 1000`` kills a thousand agents and a thousand hubs.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from aaep.journal.base import Retention
from aaep.journal.sqlite import SqliteJournal
from aaep.protocol.attend_extension import attend_member
from aaep.protocol.events import OutputStreaming, SessionCompleted, SessionStarted, StateChanged
from aaep.subscriber.connection import Reconnect
from aaep.subscriber.subscriber import Subscriber

AGENT_ID = "bank"
AGENT = """
import os, sys, threading, time
import aaep
from aaep.hub.settings import HubSettings
from aaep.journal.base import Retention
from aaep.journal.sqlite import SqliteJournal
from aaep.testing import Listener

folder, number, place = sys.argv[1:]
ledger = os.open(f"{folder}/ledger", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
heard = os.open(f"{folder}/heard", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
journal = SqliteJournal(f"{folder}/journal.db", retention=Retention(max_bytes=2**40))
where = {"listen": f"unix://{folder}/reader.sock"} if place == "agent" else {"hub": f"unix://{folder}/reader.sock"}
with aaep.Producer("bank", journal=journal, settings=HubSettings(max_replay_entries=10**9), **where) as producer:
    Listener(producer, "accept", on_announcement=lambda said: os.write(heard, f"{said.event_id}\\n".encode()))

    @producer.tool(action="Pay bill {bill}.", consequence="The money is gone.")
    def pay(bill):
        os.write(ledger, f"{bill}\\n".encode())

    @producer.tool(risk="low")
    def look():
        pass

    is_told_to_end = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), is_told_to_end.set()), daemon=True).start()
    print("ready", flush=True)
    count = 0
    while not is_told_to_end.is_set():
        with producer.session("Paying bills.") as session:
            session.write("I pay a bill. Then the next one.")
            look()
            pay(f"{number}-{count}")
        count += 1
        if place == "hub":
            time.sleep(0.05)  # a hub that is dead most of the time could never catch up with an agent that never pauses
    with producer.session("The last one."):
        pass
    print("done", flush=True)
    threading.Event().wait()  # the reader may still be catching up; it is killed then
"""
HUB = """
import os, sys, threading
from aaep.cli import main

folder = sys.argv[1]

def tell():
    while not os.path.exists(f"{folder}/reader.sock"):
        threading.Event().wait(0.005)
    print("ready", flush=True)

if os.path.exists(f"{folder}/reader.sock"):
    os.unlink(f"{folder}/reader.sock")  # of the one that was killed
threading.Thread(target=tell).start()
main(["serve", "--listen", f"unix://{folder}/reader.sock", "--journal", f"{folder}/hub.db", "--log", "warning"])
"""
_NOT_DONE = re.compile(r"Pay bill (\S+) was not done")
MAX_DELAY = 0.3  # seconds after which an agent or a hub is killed, at the latest
MAX_WAIT = 60.0  # seconds for the reader to have the last event


class Verdict(NamedTuple):
    """What was found after all kills; everything but the first three should be 0."""

    kills: int
    done: int
    heard: int
    done_twice: int
    unknown_to_the_journal: int
    done_and_told_as_not_done: int
    heard_and_in_no_journal: int
    lost_for_the_reader: int
    doubled_for_the_reader: int

    @property
    def is_good(self) -> bool:
        """Whether the journal told the truth, and the reader got all of it once."""
        return not any(self[3:])


class _Process:
    """A program that says on its first line that it is ready."""

    def __init__(self, *command: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # that nobody is there is what this is about
            text=True,
        )

    def read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "The program has ended."
        return line.strip()

    def write_line(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        os.kill(self._process.pid, signal.SIGKILL)
        self._process.communicate()


class _Reader:
    """A reader that connects again whenever it can, and notes the events that it gets."""

    def __init__(self, url: str) -> None:
        self.event_ids: list[str] = []
        self.states: dict[str, list[tuple[str, str]]] = {}  # the changes that came, by session
        self._has_first = threading.Event()
        self._has_last = threading.Event()
        self._subscriber = Subscriber(url, reconnect=Reconnect(after_goodbye=True), replies=False)
        self._thread = threading.Thread(target=self._read)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._subscriber.close().wait()
        self._thread.join()

    def wait_for_first(self) -> None:
        """Wait for the first event: what was said before anybody listened is not lost."""
        assert self._has_first.wait(MAX_WAIT), "The reader did not get any event."

    def wait_for_last(self) -> None:
        """Wait for the end of the session that the agent calls its last."""
        assert self._has_last.wait(MAX_WAIT), "The reader did not get the last event."

    def _read(self) -> None:
        last_session = ""
        for event in self._subscriber:
            self._has_first.set()
            if not isinstance(
                event, OutputStreaming
            ):  # pieces of text may be joined on the way, with an id of their own
                self.event_ids.append(event.event_id)
            is_own = event.producer.agent_id == AGENT_ID and not attend_member(event, "resync")
            if isinstance(event, StateChanged) and is_own:  # a hub says in its own name that an agent is away
                self.states.setdefault(event.session_id, []).append((event.from_state, event.to_state))
            if isinstance(event, SessionStarted) and event.summary_normal == "The last one.":
                last_session = event.session_id
            elif event.session_id == last_session and isinstance(event, SessionCompleted):
                self._has_last.set()


def kill_agents(folder: Path, kills: int, seed: int = 0) -> Verdict:
    """Kill an agent a number of times, recover its journal each time, and judge it."""
    chance = random.Random(seed)
    with _Reader(f"unix://{folder}/reader.sock") as reader:
        for number in range(kills):
            agent = _start_agent(folder, number, "agent")
            reader.wait_for_first()
            time.sleep(chance.uniform(0.0, MAX_DELAY))
            agent.kill()
        _end(_start_agent(folder, kills, "agent"), reader)
    return _judge(folder, kills, reader)


def kill_hubs(folder: Path, kills: int, seed: int = 0) -> Verdict:
    """Kill the hub of an agent a number of times, and judge what the reader of the hub got."""
    chance = random.Random(seed)
    hub = _start_hub(folder)
    with _Reader(f"unix://{folder}/reader.sock") as reader:
        agent = _start_agent(folder, 0, "hub")
        reader.wait_for_first()
        for _ in range(kills):
            time.sleep(chance.uniform(0.0, MAX_DELAY))
            hub.kill()
            hub = _start_hub(folder)
        _end(agent, reader)
    hub.kill()
    return _judge(folder, kills, reader)


def _start_agent(folder: Path, number: int, place: str) -> _Process:
    agent = _Process("-c", AGENT, str(folder), str(number), place)
    assert agent.read_line() == "ready"
    return agent


def _start_hub(folder: Path) -> _Process:
    hub = _Process("-c", HUB, str(folder))
    assert hub.read_line() == "ready"
    return hub


def _end(agent: _Process, reader: _Reader) -> None:
    agent.write_line()
    assert agent.read_line() == "done"
    reader.wait_for_last()
    agent.kill()


def _judge(folder: Path, kills: int, reader: _Reader) -> Verdict:
    with contextlib.closing(SqliteJournal(folder / "journal.db", retention=Retention(max_bytes=2**40))) as journal:
        entries = journal.read(limit=sys.maxsize)
    done = (folder / "ledger").read_text().split()
    heard = (folder / "heard").read_text().split()
    invoked = set()
    not_done = set()
    ids = {entry.event_id for entry in entries}
    first_id = next(event_id for event_id in reader.event_ids if event_id in ids)
    has_reader = False
    expected = set()
    expected_states: dict[str, list[tuple[str, str]]] = {}
    later_sessions = set()  # those that began after the reader got its first event
    for entry in entries:
        event = msgspec.json.decode(entry.data)
        if event["type"] == "aaep:agent.session.started" and has_reader:
            later_sessions.add(entry.session_id)
        has_reader = has_reader or entry.event_id == first_id
        if entry.session_id in later_sessions and event["type"] == "aaep:agent.state.changed":
            change = (event["from_state"], event["to_state"])
            expected_states.setdefault(entry.session_id, []).append(change)
        elif entry.session_id in later_sessions and event["type"] != "aaep:agent.output.streaming":
            expected.add(entry.event_id)
        if event["type"] == "aaep:agent.tool.invoked" and event["tool"] == "pay":
            invoked.add(event["args_summary"].removeprefix("bill: "))
        not_done.update(_NOT_DONE.findall(event.get("summary_normal", "")))
    received = {*reader.event_ids}
    return Verdict(
        kills=kills,
        done=len(done),
        heard=len(reader.event_ids),
        done_twice=len(done) - len({*done}),
        unknown_to_the_journal=len({*done} - invoked),
        done_and_told_as_not_done=len(not_done & {*done}),
        heard_and_in_no_journal=len([event_id for event_id in heard if event_id.partition("m")[0] not in ids]),
        lost_for_the_reader=len(expected - received) + _count_broken_chains(expected_states, reader.states),
        doubled_for_the_reader=len(reader.event_ids) - len(received),
    )


def _count_broken_chains(expected: dict[str, list[tuple[str, str]]], received: dict[str, list[tuple[str, str]]]) -> int:
    """Return in how many sessions the states that came do not lead from the first state to the last without a gap."""
    count = 0
    for session_id, changes in expected.items():
        state = changes[0][0]
        for from_state, to_state in received.get(session_id, []):
            if from_state != state:
                break
            state = to_state
        else:
            count += state != changes[-1][1]
            continue
        count += 1
    return count


def main() -> int:
    """Print what was found; return 1 if the journal did not tell the truth, or the reader did not get it."""
    logging.disable()  # that the connection is lost is what this is about
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    is_good = True
    for what, kill in (("agents", kill_agents), ("hubs", kill_hubs)):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder).chmod(0o700)
            verdict = kill(Path(folder), kills)
        print(f"{what}:")
        for name, value in verdict._asdict().items():
            print(f"  {name.replace('_', ' ')}: {value}")
        is_good = is_good and verdict.is_good
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
