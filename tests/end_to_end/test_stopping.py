"""An agent that is told to stop does so at once, whoever listens. Two seconds are a promise, so they are measured."""

from __future__ import annotations

import signal
import time
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Final

import pytest

from tests.end_to_end.processes import COMMAND, Agent, Program
from tests.end_to_end.readers import ANSWERS, LISTENS, PROMPT, Raw, kinds
from tests.end_to_end.wires import Stream, Wire

PROMISE: Final = 2.0  # seconds
LOOK: Final = 0.05  # seconds between two looks at how much of them is left


def stop(program: Program) -> int:
    """
    Ask it to end; it has two seconds.

    Where the machine lets others run although the program could go on, that
    is not the program's time. On a machine with nothing else to do there is none of it.
    """
    process = program.process
    before = kept_waiting(process.pid)
    waited, began = before, time.monotonic()
    process.send_signal(signal.SIGTERM)
    while time.monotonic() - began - sum(waited.values()) + sum(before.values()) < PROMISE:
        with suppress(TimeoutExpired):  # not yet
            return process.wait(LOOK)
        waited = waited | kept_waiting(process.pid)
    raise AssertionError(f"It goes on, {time.monotonic() - began:.1f} s after it was told to stop.")


def kept_waiting(pid: int) -> dict[str, float]:
    """For how many seconds each thread of a process was ready and had no processor, as far as the system tells."""
    waited = {}
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # it has ended meanwhile
            waited[thread.parent.name] = int(thread.read_text().split()[1]) / 1e9
    return waited


def rest(reader: Raw, stream: Stream) -> str:
    """What a reader hears until the producer has said goodbye, and why it did."""
    assert reader.take(stream, lambda _: False) is None
    assert stream.closing is not None
    return str(stream.closing["reason_code"])


def demo(wire: Wire) -> tuple[Program, str]:
    program = Program(*COMMAND, "demo", "--answer", "remote", "--listen", wire.listen)
    line = program.hear()
    assert line.startswith("Other readers can join: aaep listen ")
    return program, line.split()[-1]


def test_the_demo_stops_while_it_waits_for_somebody_who_can_answer(wire: Wire) -> None:
    program, url = demo(wire)
    with program:
        reader = Raw(wire, url, **LISTENS)
        with reader.connect() as stream, wire.stream(url) as bare:
            assert stop(program) == 143
            assert rest(reader, stream) == "producer_shutdown"
            assert [*bare] == [] and bare.closing is not None


def test_the_demo_stops_while_its_question_is_open(wire: Wire) -> None:
    program, url = demo(wire)
    with program:
        replier, watcher = Raw(wire, url, **ANSWERS), Raw(wire, url, **LISTENS)
        with watcher.connect() as idle, wire.stream(url), replier.connect() as stream:
            replier.wait(stream, PROMPT)
            assert stop(program) == 143
            for reader, one in ((replier, stream), (watcher, idle)):
                assert rest(reader, one) == "producer_shutdown"
                assert kinds(reader.got)[-1] == "session.cancelled"
                assert reader.errors() == []


@pytest.mark.parametrize("readers", [0, 1, 20])
def test_a_plain_agent_stops_with_idle_readers_attached(wire: Wire, tmp_path: Path, readers: int) -> None:
    with Agent(wire.listen, tmp_path / "agent.db", tmp_path / "ledger") as agent:
        group = [Raw(wire, agent.url, **ANSWERS) for _ in range(readers)]
        streams = [one.connect() for one in group]
        agent.tell("wait")
        assert agent.hear() == "waiting"
        assert stop(agent) == 0
        for one, stream in zip(group, streams, strict=True):
            with stream:
                assert rest(one, stream) == "producer_shutdown"
                assert kinds(one.got) == ["session.started", "session.cancelled"]
