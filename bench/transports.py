"""
How much each transport carries, beside a bare program that uses the same library for the same bytes.

Two things are measured. Frames: a hub delivers events to fifty readers, and to
one, each event by itself, and eight at a time. The bare server sends a frame
that is one of ours, byte for byte, once to each reader for every event, with
what its library has for that; beside HTTP stands also the loop without any
library. Events are ready made on our side as frames are on the other; what it
takes to make one is in bench/emit.py. Ours puts what is ready at the same time
into one write; the bare server does what its library does. Told is how many
frames there were for each second of the server's processor, so that a busy
machine does not count. Where there is one reader, what a hub does once for each
event, whoever listens, stands against a single write: that has no bound.

Replies: a reader answers a confirmation and waits for the outcome, which comes
as an event; over HTTP for the answer to its request as well. The bare server
sends as much, when it has got as much, in the same places, and looks at nothing.
Ours reads the reply, judges it, looks whose it is and which session's, and
delivers the outcome. That is ready made as well; how long a real session takes
to decide is in bench/emit.py. The quickest tenth counts.

Servers have a process and a processor of their own; the readers, which are the
same for both sides, have another. They take turns, in many short rounds.
"""

from __future__ import annotations

import asyncio
import os
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain, cycle, islice
from pathlib import Path
from typing import IO, Any, Final, Literal

import uvloop
from msgspec import structs

import aaep.transports
from aaep.hub.sessions import SessionSnapshot
from aaep.hub.settings import HubSettings
from aaep.hub.stream import Subscription
from aaep.producer.producer import Producer
from aaep.producer.session import Session
from aaep.protocol.codec import decode, encode
from aaep.protocol.events import Envelope, StateChanged
from aaep.protocol.messages import ConfirmationReply, Reply
from aaep.runtime.ids import new_id
from aaep.text.summaries import summarize_outcome

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench._bare import BARE, Bare
from bench._readers import READERS, Reader, Taken
from tests.serving import served

PACKAGES: Final = [path.parent.name for path in Path(aaep.transports.__path__[0]).glob("*/__init__.py")]
NAMES: Final = sorted([*PACKAGES, "websocket"])  # which the server of http serves too
URLS: Final = {"asgi": "asgi+http", "websocket": "ws"}
PROCESSORS: Final = sorted(os.sched_getaffinity(0))  # the first is for servers
MANY: Final = 50
BURSTS: Final = (1, 8)
ROUNDS: Final = 30
FRAMES: Final = 2000  # in a round, over all readers
REPLIES: Final = 20  # in a round
UNSENT: Final = 64 * 1024  # bytes that a reader may leave while the next are sent
PAUSE: Final = 0.001  # seconds until it is looked at again
LOOK: Final = 16  # events between two looks at that
LEAST_FRAMES: Final = 0.8  # of the bare server's, to many readers
LEAST_REPLIES: Final = 0.6
TEXT: Final = "Reading the statements of last year."
TOKEN: Final = b"rpl_" + b"0" * 32


def main() -> None:
    if sys.argv[1:2] in (["ours"], ["bare"]):
        side, name, *more = sys.argv[1:]
        serve_ours(name, *more) if side == "ours" else serve_bare(name, *more)
        return
    os.sched_setaffinity(0, {PROCESSORS[-1]})
    bounds = f"{LEAST_REPLIES} for replies and {LEAST_FRAMES} for frames to {MANY} readers"
    print(f"Ours beside the library alone. The bounds for the ratios are {bounds}.", flush=True)
    if not all([fast for name in sys.argv[1:] or NAMES for fast in compared(name)]):
        raise SystemExit("Something is slower than its bound.")


def compared(name: str) -> Iterator[bool]:
    """Measure one transport and tell of it; whether each figure is within its bound."""
    if name not in BARE or name not in READERS:
        raise SystemExit(f"There is nothing to compare {name} with. Add it to bench/_bare.py and bench/_readers.py.")
    for library in BARE[name]:
        with Side("ours", name) as ours, Side("bare", name, library, *ours.sample()) as bare:
            same(ours, bare)
            yield from measured(f"{name}, beside {library}", ours, bare)


def measured(what: str, ours: Side, bare: Side) -> Iterator[bool]:
    if bare.answers:
        trips = [(ours.trips(), bare.trips()) for _ in range(ROUNDS)]
        times = [statistics.quantiles(chain(*each), n=10)[0] * 1e6 for each in zip(*trips, strict=True)]
        yield told(f"{what}: a reply, microseconds", *times, ratio=times[1] / times[0], least=LEAST_REPLIES)
    for readers in (1, MANY) if not what.startswith("stdio") else (1,):  # a process has one standard output
        ours.join(readers)
        bare.join(readers)
        for burst in BURSTS:
            pairs = [(ours.rate(burst), bare.rate(burst)) for _ in range(ROUNDS)]
            best = [max(each) for each in zip(*pairs, strict=True)]
            bound = LEAST_FRAMES if readers == MANY else 0.0
            what_is = f"{what}: frames a second to {readers}, {burst} at a time"
            yield told(what_is, *best, ratio=best[0] / best[1], least=bound)


def told(what: str, ours: float, bare: float, *, ratio: float, least: float) -> bool:
    """Print one line; whether the bound is kept."""
    missed = ratio < least
    print(f"  {what}: {ours:.0f}; bare {bare:.0f}; ratio {ratio:.2f}.{' Too slow.' * missed}", flush=True)
    return not missed


def same(ours: Side, bare: Side) -> None:
    """See that both sides send the same bytes."""
    if ours.frame != bare.one() or (bare.answers and ours.answer != bare.talk(ours.reply)):
        raise SystemExit("The two sides are meant to send the same bytes.")


# -- one side, as the readers see it -------------------------------------------------------


class Side:
    """A server in a process of its own, and its readers."""

    def __init__(self, side: str, name: str, *more: str) -> None:
        self.ours, self._name = side == "ours", name
        self._block = ExitStack()
        there, here = os.pipe(), os.pipe()
        run = [sys.executable, __file__, side, name, str(there[0]), str(here[1]), *more]
        process = subprocess.Popen(
            run, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, pass_fds=(there[0], here[1])
        )
        os.sched_setaffinity(process.pid, {PROCESSORS[0]})
        self._process = self._block.enter_context(process)
        for number in (there[0], here[1]):
            os.close(number)
        self._pipes = (here[0], there[1])
        assert process.stdin is not None and process.stdout is not None
        self._writing: IO[bytes] = process.stdin
        self._reading: IO[bytes] = process.stdout
        addresses = self.hear().split()
        self._address = addresses[0]
        self._readers: list[Reader] = []
        self.join(1)
        self.answers = len(addresses) > 1
        self._talker = self._readers[0] if addresses[-1] == addresses[0] else self._joined(addresses[1])
        self.frame = self.answer = self.reply = b""

    def __enter__(self) -> Side:
        return self

    def __exit__(self, *_: object) -> None:
        self.say("end")
        self._block.close()
        for reader in {*self._readers, self._talker}:
            reader.close()

    def say(self, line: str) -> None:
        self._writing.write(line.encode() + b"\n")
        self._writing.flush()

    def hear(self) -> str:
        line = self._reading.readline()
        if not line:
            raise SystemExit("The server ended too early.")
        return line.decode().strip()

    def _joined(self, address: str) -> Reader:
        return READERS[self._name](address, ours=self.ours, pipes=self._pipes)

    def join(self, readers: int) -> None:
        """Have so many readers."""
        self._readers += [self._joined(self._address) for _ in range(readers - len(self._readers))]
        quiet(*self._readers)  # who joins is told what goes on

    # -- frames --------------------------------------------------------------------------

    def one(self) -> bytes:
        """What comes with one frame."""
        self.say("run 1 1 1")
        self.hear()
        self.frame = quiet(self._readers[0])
        return self.frame

    def rate(self, burst: int) -> float:
        """Frames over all readers for each second of the server's processor."""
        count = max(burst, FRAMES // len(self._readers) // burst * burst)
        left = count * len(self._readers) * self._readers[0].measure(self.frame)
        taken, before = Taken(self._readers), self.spent()
        self.say(f"run {count} {burst} {len(self._readers)}")
        for came in taken:
            left -= came
            if left <= 0:
                break
        self.hear()
        spent = self.spent() - before
        taken.close()
        if left:
            raise SystemExit("More arrived than was sent.")
        return count * len(self._readers) / spent

    def spent(self) -> float:
        """Seconds of processor time so far."""
        self.say("spent")
        return float(self.hear())

    # -- replies -------------------------------------------------------------------------

    def sample(self) -> tuple[str, str]:
        """A frame and an outcome, as a bare program gives them to its library; in hexadecimal."""
        self.reply = encode(
            ConfirmationReply(
                reply_token=TOKEN.decode(),
                decision="accept",
                subscription_id=self._talker.subscription,
                timestamp="2026-05-24T08:00:00.000Z",
                decided_by="user:local",
            )
        )
        frame, answer = self.one(), self.talk(self.reply)
        payload = self._talker.payload
        return payload(frame).hex(), payload(answer).hex()

    def talk(self, message: bytes) -> bytes:
        """Send a message, and give back what came in answer."""
        self._talker.send(message)
        self.reply, self.answer = message, quiet(self._talker)
        self._talker.acknowledged()
        return self.answer

    def trips(self) -> list[float]:
        """How long replies take until their outcome is there, in seconds."""
        times = []
        for _ in range(REPLIES):
            start = time.perf_counter()
            self._talker.send(self.reply)
            self._talker.until(lambda data: len(data) >= len(self.answer))
            self._talker.acknowledged()
            times.append(time.perf_counter() - start)
        return times


def quiet(*readers: Reader) -> bytes:
    """All that comes, until nothing comes any more."""
    data = b""
    while ready := select.select(readers, [], [], 0.3)[0]:
        data += b"".join([reader.receive() for reader in ready])
    return data


# -- our server ----------------------------------------------------------------------------


def serve_ours(name: str, reading: str, writing: str) -> None:
    with tempfile.TemporaryDirectory() as folder, ExitStack() as block:
        producer = block.enter_context(Producer("bank-assistant", name="Bank Assistant", journal=None))
        producer.hub.settings = HubSettings(heartbeat_interval=3600)  # nothing but what is counted
        more: dict[str, Any] = {}
        url = f"{URLS.get(name, name)}://127.0.0.1:0"
        if name == "unix":
            url = f"unix://{folder}/ours.sock"
        elif name == "stdio":
            url, more = "stdio:", {"reading": int(reading), "writing": int(writing)}
        address = served(producer.hub, url, **more)
        session = block.enter_context(producer.session("Adding up."))
        events = cycle(ready_made(session))
        producer.hub.open_session(Decided(producer))
        print(address, address, flush=True)
        while (line := sys.stdin.readline().split() or ["end"])[0] != "end":
            if line[0] == "spent":
                print(time.process_time(), flush=True)
                continue
            count, burst, _ = map(int, line[1:])
            producer.hub.run(feed(session, events, count, burst))
            print("sent", flush=True)


def ready_made(session: Session) -> list[tuple[Envelope, bytes]]:
    """Events of a session, more than a stream keeps for those who come back."""
    for _ in range(2000):
        session.progress(40, description=TEXT)
    kept = session.producer.hub.journal.read(session=session.session_id, limit=10_000)
    made = [(decode(entry.data), entry.data) for entry in kept if b"progress.updated" in entry.data]
    return [(event, data) for event, data in made if isinstance(event, Envelope)]


class Decided:
    """A session with a question that may be answered again and again. What it says then is ready made."""

    audience = None

    def __init__(self, producer: Producer) -> None:
        with producer.session("Paying.") as session:
            said = session._emitter.emit(
                StateChanged,
                summarize_outcome("accepted", "Pay the rent."),
                urgency="critical",
                from_state="idle",
                to_state="thinking",
                attend={"reply_token": TOKEN.decode(), "outcome": "accepted"},
            )
        self.session_id = session.session_id
        self._hub = producer.hub
        stamped = [structs.replace(said, event_id=new_id("evt_")) for _ in range(2000)]
        self._said = cycle([(event, encode(event)) for event in stamped])

    def owns_token(self, token: str) -> bool:
        return token == TOKEN.decode()

    def reply(self, message: Reply, via: str) -> None:
        self._hub.publish(self, *next(self._said))

    def join(self, subscription: Subscription) -> SessionSnapshot:
        return SessionSnapshot()

    def terms_changed(self, subscription: Subscription) -> None: ...

    def subscription_ended(self, subscription_id: str) -> None: ...

    def cancel(self, *, by: Literal["user"], reason: str) -> None: ...


async def feed(session: Session, events: Iterator[tuple[Envelope, bytes]], count: int, burst: int) -> None:
    """Publish events as an agent on the hub's own loop does."""
    hub = session.producer.hub
    outlets = [one.writer for one in hub.subscriptions.all() if one.writer is not None]
    for number in range(0, count, burst):
        for event, data in islice(events, burst):
            hub.publish(session._source, event, data)
        await asyncio.sleep(0)  # lets the sockets be served
        if number % LOOK == 0:
            while sum(outlet.count_unsent_bytes() for outlet in outlets) > UNSENT * len(outlets):
                await asyncio.sleep(PAUSE)  # for the readers to keep up


# -- the bare one --------------------------------------------------------------------------


def serve_bare(name: str, reading: str, writing: str, library: str, frame: str, answer: str) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        server = BARE[name][library]()
        runner.run(bare(server, bytes.fromhex(frame), bytes.fromhex(answer), folder, (int(reading), int(writing))))


async def bare(server: Bare, frame: bytes, answer: bytes, folder: str, pipes: tuple[int, int]) -> None:
    loop = asyncio.get_running_loop()
    print(*await server.open(frame, answer, folder, pipes), flush=True)
    while (line := (await loop.run_in_executor(None, sys.stdin.readline)).split() or ["end"])[0] != "end":
        if line[0] == "spent":
            print(time.process_time(), flush=True)
            continue
        count, burst, readers = map(int, line[1:])
        while server.readers() < readers:
            await asyncio.sleep(0)  # lets the sockets be served
        for number in range(0, count, burst):
            for _ in range(burst):
                sending = server.broadcast()
                if sending is not None:
                    await sending
            await asyncio.sleep(0)  # lets the sockets be served
            if number % LOOK == 0:
                while server.count_unsent_bytes() > UNSENT * readers:
                    await asyncio.sleep(PAUSE)  # for the readers to keep up
        print("sent", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
