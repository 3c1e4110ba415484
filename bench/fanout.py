"""
How fast events reach many readers, beside a bare server that writes ready-made frames.

Ours is a producer with its journal, a session and its HTTP door, in a process of
its own. Its readers have five different terms. An agent in a thread sends events
as fast as it can, a burst at a time, and sees after each burst in the hub's own
numbers that the readers take what they are sent. What is ready when the hub comes
to it goes out in one write, so ours writes several frames at once; how many on
average is told. The bare server is uvloop and a list of connections: it writes
ready-made frames of the same size to each, once one in a write, once as many as
ours, and waits for the readers by the same rule.

Both have the same readers, which live in this process, ask the kernel for what
came and count it. Servers have one processor, the readers another. They take
turns, the best of several rounds each. The bound is for what is delivered in a
second, beside the bare server that writes each frame as it is. Memory is what the
server's process grew by while its readers joined.
"""

from __future__ import annotations

import asyncio
import os
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import uvloop

from aaep.producer import Producer
from aaep.work import Session

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import _http

PROCESSORS = sorted(os.sched_getaffinity(0))  # the first is for servers: else where both happen to be is measured
READERS = (1, 100, 1000)
ROUNDS = 10
SECONDS = 0.3
BURSTS = (1, 8, 64)  # events that the agent sends before it looks at the readers
LOOK = 64  # of its events after which it looks whether the readers keep up
UNSENT = 64 * 1024  # bytes that a reader may leave while the next are sent
LEAST_BARE = 0.8
TERMS: tuple[dict[str, Any], ...] = (
    {},
    {"preferred_verbosity": "terse"},
    {"preferred_verbosity": "detailed"},
    {"cognitive_load": "high"},
    {"coalesce_boundaries": ["paragraph"]},
)
TEXT = "Reading the statements of last year."


def main() -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    if len(sys.argv) > 1:
        ours() if sys.argv[1] == "ours" else asyncio_run(bare(int(sys.argv[2])))
        return
    os.sched_setaffinity(0, {PROCESSORS[-1]})
    best: dict[tuple[str, int, int], Rate] = {}
    growth: dict[tuple[str, int], int] = {}
    for readers in READERS:
        with server("ours") as talk, Joined(talk, readers, TERMS) as ours_:
            size = ours_.rate(1).size
            with server("bare", str(round(size))) as listening, Joined(listening, readers, ()) as bare_:
                both = (("ours", ours_), ("bare", bare_))
                for name, joined in both:
                    growth[name, readers] = joined.grown
                for _, burst in product(range(ROUNDS), BURSTS):
                    mine = ours_.rate(burst)
                    turns = (("ours", mine), ("bare", bare_.rate(1)), ("bare alike", bare_.rate(round(mine.together))))
                    for name, rate in turns:
                        best[name, readers, burst] = max(rate, best.get((name, readers, burst), Rate()))
    print(f"Frames of {size:.0f} bytes delivered in a second, {len(TERMS)} terms:")
    for burst, readers in product(BURSTS, READERS):
        mine, alike = best["ours", readers, burst], best["bare alike", readers, burst]
        plain = best["bare", readers, burst]
        bound = f" Bound: {LEAST_BARE}." if readers == READERS[-1] else ""
        print(f"  {readers} readers, bursts of {burst}: {mine.delivered:.0f}; bare {plain.delivered:.0f}.", end=" ")
        print(f"That is {mine.delivered / plain.delivered:.2f} of it.{bound}")
        print(f"    Ours has {mine.together:.1f} frames in a write. Bare with as many: {alike.delivered:.0f}.")
    for name in ("ours", "bare"):
        kept = ", ".join(f"{growth[name, readers] / readers / 1024:.1f} for {readers}" for readers in READERS[1:])
        print(f"KiB of memory per idle reader, {name}: {kept}.")


# -- the readers ---------------------------------------------------------------------------


class Rate(NamedTuple):
    """Frames per second, how many of them in one write, and the bytes of one."""

    delivered: float = 0.0
    together: float = 1.0
    size: float = 0.0


class Talk:
    """What is said to a server's process, line by line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        self.writing: IO[bytes] = process.stdin
        self.reading: IO[bytes] = process.stdout

    def say(self, line: str) -> None:
        self.writing.write(line.encode() + b"\n")
        self.writing.flush()

    def hear(self) -> str:
        line = self.reading.readline()
        if not line:
            raise SystemExit("The server ended too early.")
        return line.decode().strip()

    def ask(self, line: str) -> str:
        self.say(line)
        return self.hear()


@contextmanager
def server(*which: str) -> Iterator[Talk]:
    run = [sys.executable, __file__, *which]
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as process:
        os.sched_setaffinity(process.pid, {PROCESSORS[0]})
        talk = Talk(process)
        yield talk
        talk.say("end")


class Joined:
    """Readers of a server, and the bytes of memory by which it grew for them."""

    def __init__(self, talk: Talk, readers: int, terms: tuple[dict[str, Any], ...]) -> None:
        self._talk = talk
        self._opened = []
        address = talk.hear()
        before = int(talk.ask("memory"))
        with _http.connected(address) as asking:
            for number in range(readers):
                opened = _http.connected(address)
                _http.stream(opened, _http.subscribe(asking, **terms[number % len(terms)]) if terms else "")
                self._opened.append(opened)
        counted(self._opened, None)
        self.grown = int(talk.ask("memory")) - before

    def __enter__(self) -> Joined:
        return self

    def __exit__(self, *_: object) -> None:
        for opened in self._opened:
            opened.close()

    def rate(self, batch: int) -> Rate:
        self._talk.say(str(batch))
        size, first, last = counted(self._opened, self._talk.reading)
        frames, writes = map(int, self._talk.hear().split())
        return Rate(frames / (last - first), frames / writes, size / frames)


def counted(joined: list[socket.socket], until: IO[bytes] | None) -> tuple[int, float, float]:
    """Take what comes until the server says that this is all; how many bytes, from when to when."""
    poll = select.epoll()
    by_number = {opened.fileno(): opened for opened in joined}
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    if until is not None:
        poll.register(until.fileno(), select.EPOLLIN)
    buffer = bytearray(1024 * 1024)
    size, first, last, over = 0, 0.0, 0.0, until is None
    while ready := poll.poll(0.1 if over else 60, 256):
        for number, _ in ready:
            opened = by_number.get(number)
            if opened is None:
                poll.unregister(number)
                over = True
            else:
                if not (came := opened.recv_into(buffer)):
                    raise SystemExit("The server has hung up.")
                size += came
                last = time.perf_counter()
        first = first or last
    poll.close()
    return size, first, last


# -- our server ----------------------------------------------------------------------------


def memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def ours() -> None:
    with tempfile.TemporaryDirectory() as folder:
        journal, listen = str(Path(folder) / "journal"), "http://127.0.0.1:0"
        with (
            Producer("bank-assistant", name="Bank Assistant", journal=journal, listen=listen) as producer,
            ExitStack() as block,
        ):
            session = block.enter_context(producer.session("Adding up."))
            print(producer.addresses[0], flush=True)
            while (line := sys.stdin.readline().strip()) != "end":
                if line == "memory":
                    print(memory(), flush=True)
                    continue
                before = numbers(producer)
                feed(session, int(line))
                while not producer.hub.delivery.idle or (now := numbers(producer))["aaep_unsent_bytes"]:
                    pass
                if now["aaep_slow_consumers_total"] or now["aaep_streams"] != min(len(TERMS), now["aaep_readers"]):
                    raise SystemExit(f"Readers were let go, or their terms are not different: {now}")
                print(*(now[name] - before[name] for name in ("aaep_frames_total", "aaep_writes_total")), flush=True)


def feed(session: Session, burst: int) -> None:
    """Send events without a pause, and see now and then that the readers keep up."""
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        for _ in range(burst):
            session.progress(40, description=TEXT)
        taken(session.producer)


def numbers(producer: Producer) -> dict[str, int]:
    """The hub's numbers, once it has done what was asked of it so far."""

    async def ask() -> str:
        return producer.hub.metrics()

    lines = [line.split() for line in producer.hub.run(ask()).splitlines() if not line.startswith("#")]
    return {name: int(value) for name, value in lines}


def taken(producer: Producer) -> None:
    """Wait until the readers have taken nearly all."""
    while (now := numbers(producer))["aaep_unsent_bytes"] > UNSENT * max(1, now["aaep_readers"]):
        pass


# -- the bare one --------------------------------------------------------------------------


class Bare(asyncio.Protocol):
    """Answers whatever it is asked with the head of a stream."""

    def __init__(self, joined: list[asyncio.Transport]) -> None:
        self._joined = joined

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        self._joined.append(self._transport)


def asyncio_run(work: Any) -> None:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(work)


async def bare(size: int) -> None:
    joined: list[asyncio.Transport] = []
    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Bare(joined), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", flush=True)
    text = b"id: evt\nevent: aaep.event\ndata: "
    text += b"x" * (size - 7 - len(text) - 2) + b"\n\n"
    frame = b"%x\r\n%b\r\n" % (len(text), text)
    while (line := (await loop.run_in_executor(None, sys.stdin.readline)).strip()) != "end":
        if line == "memory":
            print(memory(), flush=True)
            continue
        rounds, end = 0, time.perf_counter() + SECONDS
        batch = frame * int(line)
        while time.perf_counter() < end:
            for _ in range(max(1, LOOK // int(line))):
                for transport in joined:
                    transport.write(batch)
                await asyncio.sleep(0)
                rounds += 1
            while sum(one.get_write_buffer_size() for one in joined) > UNSENT * len(joined):
                await asyncio.sleep(0)
        while any(one.get_write_buffer_size() for one in joined):
            await asyncio.sleep(0)
        print(rounds * int(line) * len(joined), rounds * len(joined), flush=True)
    listening.close()


if __name__ == "__main__":
    main()
