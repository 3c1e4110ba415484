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

``python bench/kills.py 1000`` kills a thousand agents and a thousand hubs, and then a
tenth as many while the reader is slow: it falls behind, and is sent what it missed made short.
"""

from __future__ import annotations

import asyncio
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
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Self

import msgspec

from aaep.journal.base import Retention
from aaep.journal.sqlite import SqliteJournal
from aaep.protocol.attend_extension import attend_member
from aaep.protocol.events import OutputStreaming, SessionCompleted, SessionStarted, StateChanged
from aaep.subscriber.connection import Reconnect, SubscriberRuntime
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
            with session.thinking(), session.deciding():
                session.write("I pay a bill. Then the next one.")
            with session.thinking():
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
MAX_PAYMENTS = 4  # payments after which an agent or a hub is killed, at the latest ...
MAX_PAYMENTS_IF_SLOW = 80  # ... so that a slow reader has the time to fall behind
MAX_DELAY = 0.1  # seconds after such a payment at which it is killed, so that it may be doing anything
RETRY_DELAY = 0.02  # seconds after which the reader tries to connect again
MAX_WAIT = 200.0  # seconds for the reader to have the last event
SLOW_SHARE = 10  # one of so many kills is with a slow reader
EVENTS_BETWEEN_PAUSES = 1000  # which a slow reader gets before it pauses, on average
MISSED_PAYMENTS = 50  # payments that a slow reader pauses for; more than all buffers hold
MAX_PAUSE = 8.0  # seconds that a slow reader pauses at the longest; it is closed after 10


class Verdict(NamedTuple):
    """What was found after all kills; everything but the first four should be 0."""

    kills: int
    done: int
    heard: int
    heard_as_one: int  # changes of state that stand for several, as a reader that fell behind gets them
    done_twice: int
    unknown_to_the_journal: int
    done_and_told_as_not_done: int
    heard_and_in_no_journal: int
    lost_for_the_reader: tuple[str, ...]  # a line each
    doubled_for_the_reader: int

    @property
    def is_good(self) -> bool:
        """Whether the journal told the truth, and the reader got all of it once."""
        return not any(self[4:])


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
    """
    A reader that connects again whenever it can, and notes the events that it gets.

    A slow one pauses now and then until it has fallen behind, so that it is sent what it missed made short.
    """

    def __init__(self, folder: Path, *, is_slow: bool) -> None:
        self.event_ids: list[str] = []
        self.states: dict[str, list[tuple[str, str]]] = {}  # the changes that came, by session
        self._has_first = threading.Event()
        self._has_last = threading.Event()
        self._folder = folder
        self._is_slow = is_slow
        runtime = SubscriberRuntime(sleep=_sleep_briefly, max_queued_events=16 if is_slow else 10_000)
        self._subscriber = Subscriber(
            f"unix://{folder}/reader.sock", reconnect=Reconnect(after_goodbye=True), replies=False, runtime=runtime
        )
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
            if self._is_slow and random.randrange(EVENTS_BETWEEN_PAUSES) == 0:
                _wait_for_payments(self._folder, MISSED_PAYMENTS, MAX_PAUSE)
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


async def _sleep_briefly(_delay: float) -> None:
    """Knock again at once, so that there is a reader for nearly every kill."""
    await asyncio.sleep(RETRY_DELAY)


def kill_agents(folder: Path, kills: int, *, is_slow: bool = False, seed: int = 0) -> Verdict:
    """Kill an agent a number of times, recover its journal each time, and judge it."""
    with _Reader(folder, is_slow=is_slow) as reader:
        agent = _start_agent(folder, 0, "agent")
        reader.wait_for_first()
        for number in _wait_for_moments(folder, kills, is_slow=is_slow, seed=seed):
            agent.kill()
            agent = _start_agent(folder, number, "agent")
        _end(agent, reader)
    return _judge(folder, kills, reader)


def kill_hubs(folder: Path, kills: int, *, is_slow: bool = False, seed: int = 0) -> Verdict:
    """Kill the hub of an agent a number of times, and judge what the reader of the hub got."""
    hub = _start_hub(folder)
    with _Reader(folder, is_slow=is_slow) as reader:
        agent = _start_agent(folder, 0, "hub")
        reader.wait_for_first()
        for _ in _wait_for_moments(folder, kills, is_slow=is_slow, seed=seed):
            hub.kill()
            hub = _start_hub(folder)
        _end(agent, reader)
    hub.kill()
    return _judge(folder, kills, reader)


def _wait_for_moments(folder: Path, kills: int, *, is_slow: bool, seed: int) -> Iterator[int]:
    """
    Yield the number of each kill when it is due: some payments after the one before, and a little later.

    So a slow machine has as much to judge as a fast one.
    """
    chance = random.Random(seed)
    max_payments = MAX_PAYMENTS_IF_SLOW if is_slow else MAX_PAYMENTS
    for number in range(1, kills + 1):
        assert _wait_for_payments(folder, chance.randint(0, max_payments), MAX_WAIT), "The agent does not go on."
        time.sleep(chance.uniform(0.0, MAX_DELAY))
        yield number


def _wait_for_payments(folder: Path, payments: int, max_wait: float) -> bool:
    """Wait until an agent has made so many more payments; return whether it did in time."""
    wanted = _count_payments(folder) + payments
    give_up = time.monotonic() + max_wait
    while _count_payments(folder) < wanted:
        if time.monotonic() > give_up:
            return False
        time.sleep(0.001)
    return True


def _count_payments(folder: Path) -> int:
    return (folder / "ledger").read_bytes().count(b"\n")


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
    expected: dict[str, str] = {}  # what each event is, by its id
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
            expected[entry.event_id] = f"{event['type']} {entry.event_id} of {entry.session_id}"
        if event["type"] == "aaep:agent.tool.invoked" and event["tool"] == "pay":
            invoked.add(event["args_summary"].removeprefix("bill: "))
        not_done.update(_NOT_DONE.findall(event.get("summary_normal", "")))
    received = {*reader.event_ids}
    return Verdict(
        kills=kills,
        done=len(done),
        heard=len(reader.event_ids),
        heard_as_one=len([event_id for event_id in received if "m" in event_id]),
        done_twice=len(done) - len({*done}),
        unknown_to_the_journal=len({*done} - invoked),
        done_and_told_as_not_done=len(not_done & {*done}),
        heard_and_in_no_journal=len([event_id for event_id in heard if event_id.partition("m")[0] not in ids]),
        lost_for_the_reader=(
            *(what for event_id, what in expected.items() if event_id not in received),
            *_find_broken_chains(expected_states, reader.states),
        ),
        doubled_for_the_reader=len(reader.event_ids) - len(received),
    )


def _find_broken_chains(
    expected: dict[str, list[tuple[str, str]]], received: dict[str, list[tuple[str, str]]]
) -> Iterator[str]:
    """Yield the sessions in which the states that came do not lead from the first state to the last without a gap."""
    for session_id, changes in expected.items():
        came = received.get(session_id, [])
        chain = [changes[0][0], *(state for change in came for state in change), changes[-1][1]]
        if any(left != entered for left, entered in zip(chain[::2], chain[1::2], strict=True)):
            yield f"states of {session_id}: sent {changes}, came {came}"


def main() -> int:
    """Print what was found; return 1 if the journal did not tell the truth, or the reader did not get it."""
    logging.disable()  # that the connection is lost is what this is about
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    verdicts = []
    for kill in (kill_agents, kill_hubs):
        for is_slow in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                Path(folder).chmod(0o700)
                verdict = kill(Path(folder), max(1, kills // SLOW_SHARE) if is_slow else kills, is_slow=is_slow)
            what = "agents" if kill is kill_agents else "hubs"
            print(f"{what}, with a {'slow' if is_slow else 'fast'} reader:", flush=True)
            for name, value in verdict._asdict().items():
                lines = value if isinstance(value, tuple) else ()
                print(f"  {name.replace('_', ' ')}: {len(lines) if isinstance(value, tuple) else value}")
                for line in lines:
                    print(f"    {line}", flush=True)
            verdicts.append(verdict)
    return 0 if all(verdict.is_good for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
