"""
How fast events reach many readers, beside a bare server that writes ready-made frames.

Ours is a producer with its journal, a session and its HTTP door, in a process of
its own. Its readers have five different terms. An agent in a thread sends a burst
of events, and the next when all readers have been written to: one at a time, so
that each frame is a write of its own, or several, which the hub puts into one
write where it can. The bare server is uvloop and a list of connections. It writes
ready-made frames of the same size, five different ones: one in a write, and as
many in a write as ours. Both look now and then whether the readers keep up.

Both have the same readers, which live in this process and are woken for 16 KiB
at a time, so that what they cost a server does not depend on how fast it is.
Servers have one processor, the readers another. They take turns; told is the
median of all rounds, and of what each round of ours was of the bare one's next
to it. For 1,000 readers both are started several times: where their connections
happen to lie in memory makes a difference of a tenth. The bound is for 1,000
readers, beside the server that writes frame by frame; what one would do that
puts as many into a write as ours is told too.

Then, for each number of readers: what an emit takes of its caller's time, how
long a reply takes from being posted to the agent going on, and by how much the
server's process grew while the readers joined.
"""

from __future__ import annotations

import asyncio
import os
import queue
import resource
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import cycle, product
from pathlib import Path
from statistics import median, quantiles
from typing import IO, Any, NamedTuple, cast

import msgspec
import uvloop

from aaep.hub.hub import Hub
from aaep.identity.credentials import Credentials, Local
from aaep.producer.producer import Producer
from aaep.producer.session import Session
from aaep.protocol.messages import Capabilities, SubscriptionAccepted, SubscriptionClose, SubscriptionRequest

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import _http

PROCESSORS = sorted(os.sched_getaffinity(0))  # the first is for servers: else where both happen to be is measured
READERS = (1, 100, 1000)
SERVERS = (1, 1, 7)  # pairs of them, for each number of readers; the bound is for the last
ROUNDS = 5  # with each pair
SECONDS = 0.4
BURSTS = (1, 8, 64)
LOOK = 64  # events after which a server looks whether the readers keep up
UNSENT = 64 * 1024  # bytes that a reader may leave while the next are sent
AT_ONCE = 16 * 1024  # bytes for which a reader is woken
REPLIES = 200
LEAST_BARE = 0.75
TERMS: tuple[dict[str, Any], ...] = (
    {},
    {"preferred_verbosity": "terse"},
    {"preferred_verbosity": "detailed"},
    {"cognitive_load": "high"},
    {"coalesce_boundaries": ["paragraph"]},
)
TEXT = "Reading the statements of last year."


class Rate(NamedTuple):
    """Frames per second, how many of them in one write, the bytes of one, and the caller's seconds for one emit."""

    delivered: float
    together: float
    size: float
    emit: float


class Round(NamedTuple):
    """One round: ours, and the bare server with one frame in a write and with as many as ours."""

    ours: Rate
    single: Rate
    alike: Rate


def main() -> None:
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    if len(sys.argv) > 1:
        ours() if sys.argv[1] == "ours" else asyncio_run(bare(int(sys.argv[2])))
        return
    os.sched_setaffinity(0, {PROCESSORS[-1]})
    rounds: dict[tuple[int, int], list[Round]] = {}
    growth: dict[tuple[str, int], int] = {}
    trips: dict[int, list[float]] = {}
    for readers in [readers for readers, times in zip(READERS, SERVERS, strict=True) for _ in range(times)]:
        with server("ours") as talk, Joined(talk, readers, TERMS) as ours_:
            size = ours_.rate(1).size
            with server("bare", str(round(size))) as listening, Joined(listening, readers, ()) as bare_:
                growth["ours", readers], growth["bare", readers] = ours_.grown, bare_.grown
                for _, burst in product(range(ROUNDS), BURSTS):
                    mine, single = ours_.rate(burst), bare_.rate(1)
                    alike = single if burst == 1 else bare_.rate(round(mine.together))
                    rounds.setdefault((burst, readers), []).append(Round(mine, single, alike))
            trips[readers] = ours_.trips()
    fast = told(size, rounds)
    told_growth(rounds, trips, growth)
    if not fast:
        raise SystemExit(f"Readers get less than {LEAST_BARE} of what the bare server gives them.")


def told(size: float, rounds: dict[tuple[int, int], list[Round]]) -> bool:
    """Tell what was measured; whether the bound is kept."""
    fast = True
    print(f"Frames of {size:.0f} bytes delivered in a second, {len(TERMS)} terms:")
    for (burst, readers), all_ in rounds.items():
        mine, single, alike = (median(one[which].delivered for one in all_) for which in range(3))
        beside_single = median(one.ours.delivered / one.single.delivered for one in all_)
        beside_alike = median(one.ours.delivered / one.alike.delivered for one in all_)
        bound = f" Bound: {LEAST_BARE}." if readers == READERS[-1] else ""
        fast = fast and not (bound and beside_single < LEAST_BARE)
        many = "one event at a time" if burst == 1 else f"{burst} events at a time"
        print(f"  Readers: {readers}, {many}: {mine:.0f}.")
        print(f"    Bare, one frame in a write: {single:.0f}. Ours is {beside_single:.2f} of it.{bound}")
        if burst > 1:
            together = median(one.ours.together for one in all_)
            print(f"    Bare, {together:.0f} in a write like ours: {alike:.0f}. Ours is {beside_alike:.2f} of it.")
    return fast


def told_growth(
    rounds: dict[tuple[int, int], list[Round]], trips: dict[int, list[float]], growth: dict[tuple[str, int], int]
) -> None:
    counts = ", ".join(map(str, READERS))
    print(f"With {counts} readers:")
    emits = [median(one.ours.emit for one in rounds[1, readers]) * 1e6 for readers in READERS]
    print("  one emit, of its caller's time, microseconds:", ", ".join(f"{one:.0f}" for one in emits))
    cuts = [quantiles(trips[readers], n=100) for readers in READERS]
    halves, most = (", ".join(f"{one[at] * 1e3:.2f}" for one in cuts) for at in (49, 98))
    print(f"  from a reply to the agent going on, milliseconds: half within {halves}; 99 of 100 within {most}")
    for name in ("ours", "bare"):
        kept = ", ".join(f"{growth[name, readers] / readers / 1024:.1f} for {readers}" for readers in READERS[1:])
        print(f"  memory for each idle reader, KiB, {name}: {kept}")


# -- the readers ---------------------------------------------------------------------------


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
        self._opened: list[socket.socket] = []
        self._address = talk.hear()
        before = int(talk.ask("memory"))
        with _http.connected(self._address) as asking:
            for number in range(readers):
                self._join(_http.subscribe(asking, **terms[number % len(terms)]) if terms else "")
        self._rest()
        self.grown = int(talk.ask("memory")) - before

    def _join(self, subscription: str) -> socket.socket:
        opened = _http.connected(self._address)
        _http.stream(opened, subscription)
        self._opened.append(opened)
        return opened

    def __enter__(self) -> Joined:
        return self

    def __exit__(self, *_: object) -> None:
        for opened in self._opened:
            opened.close()

    def rate(self, batch: int) -> Rate:
        first = time.perf_counter()
        self._talk.say(str(batch))
        size = self._until(self._talk.reading)
        more, last = self._rest()
        self._talk.hear()  # that this was all
        frames, writes, emit = self._talk.hear().split()
        return Rate(int(frames) / (last - first), int(frames) / int(writes), (size + more) / int(frames), float(emit))

    def _until(self, over: IO[bytes]) -> int:
        """Take what comes until the server says that this is all; how many bytes."""
        buffer, size = bytearray(1024 * 1024), 0
        with select.epoll() as poll:
            by_number = {opened.fileno(): opened for opened in self._opened}
            for number, opened in by_number.items():
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, AT_ONCE)
                poll.register(number, select.EPOLLIN)
            poll.register(over.fileno(), select.EPOLLIN)
            while True:
                for number, _ in poll.poll(60, 256):
                    if number == over.fileno():
                        return size
                    size += _received(by_number[number], buffer)

    def _rest(self, quiet: float = 0.1) -> tuple[int, float]:
        """Take what is left, until nothing comes for some seconds; how many bytes, and when the last of them came."""
        buffer, size, last = bytearray(1024 * 1024), 0, time.perf_counter()
        with select.epoll() as poll:
            by_number = {opened.fileno(): opened for opened in self._opened}
            for number, opened in by_number.items():
                opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1)
                poll.register(number, select.EPOLLIN)
            while ready := poll.poll(quiet, 256):
                size += sum(_received(by_number[number], buffer) for number, _ in ready)
                last = time.perf_counter()
        return size, last

    def trips(self) -> list[float]:
        """Seconds from replies to the agent going on, with all readers there."""
        found = []
        with _http.connected(self._address) as replying:
            subscription = _http.subscribe(replying, supports_clarification_reply=True)
            reading = self._join(subscription)
            self._rest()
            for _ in range(REPLIES):
                token = self._talk.ask("ask")
                prompt = b""
                while token.encode() not in prompt:  # it is the last to get it
                    prompt += reading.recv(65_536)
                self._rest(0.01)
                message = {
                    "type": "clarification.reply",
                    "reply_token": token,
                    "response": True,
                    "subscription_id": subscription,
                    "timestamp": "2026-05-24T08:00:00.000Z",
                }
                sent = time.perf_counter()
                _http.post(replying, "/aaep/v1/replies", message)
                found.append(float(self._talk.hear()) - sent)
        return found


def _received(opened: socket.socket, buffer: bytearray) -> int:
    came = opened.recv_into(buffer)
    if not came:
        raise SystemExit("The server has hung up.")
    return came


# -- our server ----------------------------------------------------------------------------


class Last:
    """A reader in the server's own process. It joined after all others: what it is given, they have been given."""

    def __init__(self, hub: Hub) -> None:
        self.frame: Callable[[str, bytes], bytes] = lambda event_id, data: b"."
        self._hub = hub
        self._frames = self._writes = 0
        self._given: queue.SimpleQueue[int] = queue.SimpleQueue()
        hub.run(self._join(hub))
        self._before = numbers(hub)

    async def _join(self, hub: Hub) -> None:
        request = SubscriptionRequest(
            aaep_version="1.0.0", subscriber_id="last", subscriber_name="Last", capabilities=Capabilities()
        )
        peer = Local().authenticate(
            Credentials(transport="bench", is_loopback=True)
        )  # as the others are, who share its stream
        answer = hub.subscribe(request, peer)
        assert isinstance(answer, SubscriptionAccepted)
        hub.connect(answer.subscription_id, peer, self)
        while not self._given.empty():  # what it needs to begin
            self._given.get()
        self._frames = self._writes = 0

    def write(self, data: bytes) -> None:
        self._frames += len(data)
        self._writes += 1
        self._given.put(len(data))

    def count_unsent_bytes(self) -> int:
        return 0

    def close(self, message: SubscriptionClose | None) -> None: ...

    def wait(self, frames: int) -> None:
        while frames > 0:
            frames -= self._given.get(timeout=60)

    def told(self) -> tuple[int, int]:
        """How many frames were written to the others since it was last asked, and in how many writes."""
        before, now = self._before, numbers(self._hub)
        if now["aaep_slow_consumers_total"] or now["aaep_streams"] != min(len(TERMS), now["aaep_readers"] - 1):
            raise SystemExit(f"Readers were let go, or their terms are not different: {now}")
        frames = now["aaep_frames_total"] - before["aaep_frames_total"] - self._frames
        writes = now["aaep_writes_total"] - before["aaep_writes_total"] - self._writes
        self._before, self._frames, self._writes = now, 0, 0
        return frames, writes


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
            hub, last = producer.hub, None
            hub.offer = msgspec.structs.replace(hub.offer, max_subscriptions=READERS[-1] + 2)  # for our own
            print(producer.addresses[0], flush=True)
            while (line := sys.stdin.readline().strip()) != "end":
                if line == "memory":
                    print(memory(), flush=True)
                elif line == "ask":
                    ask = session.clarify("Shall I go on?", kinds=["yes_no"], timeout=60)
                    print(ask.event.reply_token if ask.event is not None else "", flush=True)
                    if not ask.wait(60):
                        raise SystemExit("A reply was not taken.")
                    print(time.perf_counter(), flush=True)
                else:
                    last = last or Last(hub)
                    emit = fed(session, last, int(line))
                    print("done", flush=True)
                    print(*last.told(), emit, flush=True)


def fed(session: Session, last: Last, burst: int) -> float:
    """Send bursts of events, and wait until they are taken; the time of one emit."""
    hub = session.producer.hub
    sent, spent, end = 0, 0.0, time.perf_counter() + SECONDS
    while (start := time.perf_counter()) < end:
        for _ in range(burst):
            session.progress(40, description=TEXT)
        spent += time.perf_counter() - start
        sent += burst
        last.wait(burst)
        if sent % LOOK == 0:
            hub.run(taken(hub, UNSENT))
    hub.run(taken(hub, 0))
    return spent / sent


def numbers(hub: Hub) -> dict[str, int]:
    """The hub's numbers, once it has done what was asked of it so far."""

    async def ask() -> str:
        return hub.metrics()

    lines = [line.split() for line in hub.run(ask()).splitlines() if not line.startswith("#")]
    return {name: int(value) for name, value in lines}


async def taken(hub: Hub, unsent: int) -> None:
    """Wait until the readers have taken nearly all."""
    outlets = [one.writer for one in hub.subscriptions.all() if one.writer is not None]
    while sum(one.count_unsent_bytes() for one in outlets) > unsent * len(outlets):
        await asyncio.sleep(0)  # lets the sockets be served


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
    frames = [ready_made(size, letter) for letter in b"abcde"]
    while (line := (await loop.run_in_executor(None, sys.stdin.readline)).strip()) != "end":
        if line == "memory":
            print(memory(), flush=True)
            continue
        rounds, end = 0, time.perf_counter() + SECONDS
        batches = [frame * int(line) for frame in frames]
        while time.perf_counter() < end:
            for _ in range(max(1, LOOK // int(line))):
                for transport, batch in zip(joined, cycle(batches), strict=False):
                    transport.write(batch)
                await asyncio.sleep(0)  # lets the sockets be served
                rounds += 1
            while sum(one.get_write_buffer_size() for one in joined) > UNSENT * len(joined):
                await asyncio.sleep(0)  # lets the sockets be served
        while any(one.get_write_buffer_size() for one in joined):
            await asyncio.sleep(0)  # lets the sockets be served
        print("done", flush=True)
        print(rounds * int(line) * len(joined), rounds * len(joined), 0, flush=True)
    listening.close()


def ready_made(size: int, letter: int) -> bytes:
    text = b"id: evt\nevent: aaep.event\ndata: "
    text += bytes([letter]) * (size - 7 - len(text) - 2) + b"\n\n"
    return b"%x\r\n%b\r\n" % (len(text), text)


if __name__ == "__main__":
    main()
