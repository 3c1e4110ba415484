"""
What an agent that speaks too much, and readers that ask too much, do to everybody else.

An agent, in a process of its own with its journal, speaks as fast as it is asked to,
and then as fast as it can; ten readers in this process see when each event comes. Then
the same through a hub, which is one process more. A question is asked now and then in
the middle of it: it is for people, so it has to be there at once.

After that: how long a reader waits while another one resumes a long session, what an
idle reader takes of the memory, and whether a third person gets a place after two have
taken all they could.

``python bench/overload.py 600`` takes ten minutes for each flood. A machine that has
other work to do is slower than the bounds.

A virtual machine may lose a processor to others for a tenth of a second and more. On each
processor a watcher with real-time priority, which nothing of ours can delay, sleeps for a
millisecond at a time and notes when it overslept. What a question took beyond such pauses
is what is judged; what it took with them is printed beside it, and how much of the
processors' time was taken away. Without the right to that priority nothing is left out.
"""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple

from aaep.hub.hub import Hub
from aaep.hub.settings import HubSettings
from aaep.identity.peer import Peer
from aaep.journal.base import Retention
from aaep.journal.sqlite import SqliteJournal
from aaep.producer.producer import Producer
from aaep.protocol.messages import Capabilities, SubscriptionAccepted, SubscriptionRequest

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import _http

SECONDS: Final = 20.0  # of each flood, unless the command line says how many
HUB_SCHEMES: Final = ("unix", "ws", "grpc")
READERS: Final = 10
RATE: Final = 10_000  # events in a second that ought to be held ...
LEAST_RATE: Final = 0.95  # ... of which so much has to be: it is kept by sleeping, which is not exact
ASK_EVERY: Final = 0.5  # seconds
MAX_DELAY: Final = 0.250  # seconds from emitting an event to reading it, for 99 of 100
MAX_QUESTION_DELAY: Final = 0.100  # seconds, for all
WATCH_INTERVAL: Final = 0.001  # seconds that a watcher of a processor sleeps
MIN_PAUSE: Final = 0.005  # seconds that make a pause
MAX_GROWTH: Final = 16 * 2**20  # bytes from the first quarter of a flood to its end
STORED_EVENTS: Final = 45_000
MAX_WAIT: Final = 0.050  # seconds that others wait while one resumes
IDLE_READERS: Final = 500
MAX_IDLE_BYTES: Final = 12 * 1024
PLACES: Final = 100
QUESTION: Final = b"agent.awaiting.clarification"
_TIME: Final = re.compile(rb"Read at (\d+\.\d+)")


class Flood(NamedTuple):
    """What came of a flood: events in a second, the delays of events and of questions, and growth in bytes."""

    rate: float
    delay: float
    question_delay: float  # of the slowest, beyond the pauses of the machine
    question_time: float  # of the slowest, with them
    questions: int
    growth: int
    stolen: float  # seconds of processors that others had


class Figure(NamedTuple):
    """One line of the table; a bound that is kept, or is not."""

    name: str
    found: str
    bound: str
    is_kept: bool


def main() -> None:
    if sys.argv[1:2] == ["agent"]:
        run_agent(sys.argv[2:])
        return
    if sys.argv[1:2] == ["store"]:
        run_stored()
        return
    if sys.argv[1:2] == ["watch"]:
        watch_processor(int(sys.argv[2]))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    figures = [
        *measure_floods("", seconds),
        *[figure for scheme in HUB_SCHEMES for figure in measure_floods(f"to a hub by {scheme}, ", seconds, scheme)],
        measure_resume(),
        measure_idle(),
        measure_places(),
    ]
    width = max(len(figure.name) for figure in figures)
    for figure in figures:
        verdict = "" if figure.is_kept else "  missed"
        print(f"{figure.name:{width}}  {figure.found:>12}  bound {figure.bound}{verdict}")
    missed = [figure for figure in figures if not figure.is_kept]
    if missed:
        raise SystemExit(f"{len(missed)} of {len(figures)} bounds are missed.")


def measure_floods(where: str, seconds: float, hub_scheme: str = "") -> Iterator[Figure]:
    """Flood the readers at the rate that ought to be held, and then as fast as the agent can."""
    with served(hub_scheme) as (agent, process, address):
        readers = Readers(address, READERS)
        if not hub_scheme:
            paced = readers.measure_flood(agent, process, RATE, seconds)
            yield figure(f"events a second, of {RATE:,}", paced.rate, RATE * LEAST_RATE, is_least=True)
            yield figure("99 of 100 of them are there within, ms", paced.delay * 1e3, MAX_DELAY * 1e3)
            yield figure("growth of memory meanwhile, MiB", paced.growth / 2**20, MAX_GROWTH / 2**20)
            print_flood(f"at {RATE:,} events a second", paced)
        flood = readers.measure_flood(agent, process, 0, seconds)
        readers.close()
    print_flood(f"{where}as fast as the agent can", flood)
    name = f"{where}slowest of {flood.questions} questions in a flood, ms"
    yield figure(name, flood.question_delay * 1e3, MAX_QUESTION_DELAY * 1e3)
    yield figure(f"{where}growth of memory in a flood, MiB", flood.growth / 2**20, MAX_GROWTH / 2**20)


def print_flood(how: str, flood: Flood) -> None:
    print(
        f"{how}: {flood.rate:,.0f} events a second; the slowest question took {flood.question_time * 1e3:.1f} ms, "
        f"{flood.question_delay * 1e3:.1f} without pauses of the machine; "
        f"processors were taken away for {flood.stolen:.1f} s.",
        flush=True,
    )


def figure(name: str, found: float, bound: float, *, is_least: bool = False) -> Figure:
    is_kept = found >= bound if is_least else found <= bound
    return Figure(name, f"{found:,.1f}", f"{'>=' if is_least else '<='} {bound:,.0f}", is_kept)


def find_percentile(counts: Counter[int], percent: int) -> int:
    """Return the smallest value that so many of a hundred do not exceed."""
    wanted = counts.total() * percent / 100
    for value in sorted(counts):
        wanted -= counts[value]
        if wanted <= 0:
            break
    return value


def read_stolen_time() -> float:
    """Return the seconds of all processors that other virtual machines have had instead, since this one started."""
    ticks = Path("/proc/stat").read_text().splitlines()[0].split()[8]
    return int(ticks) / os.sysconf("SC_CLK_TCK")


# -- pauses of the machine -----------------------------------------------------------------


def watch_processor(number: int) -> None:
    """Note when this process overslept, which nothing but the machine can make it; print all when it is terminated."""
    try:
        os.sched_setaffinity(0, {number})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except PermissionError:
        sys.exit()
    is_over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: is_over.set())
    print("watching", flush=True)
    pauses: list[tuple[float, float]] = []  # a pipe nobody reads meanwhile would be full after some minutes
    while not is_over.is_set():
        before = time.time()
        time.sleep(WATCH_INTERVAL)
        after = time.time()
        if after - before > MIN_PAUSE:
            pauses.append((before % 1e6, after % 1e6))
    for begin, end in pauses:
        print(begin, end)


class Pauses:
    """When a processor of this machine stood still."""

    def __init__(self) -> None:
        self._times: list[tuple[float, float]] = []
        self._watchers = [
            subprocess.Popen([sys.executable, __file__, "watch", str(number)], stdout=subprocess.PIPE, text=True)
            for number in sorted(os.sched_getaffinity(0))
        ]
        for watcher in self._watchers:
            assert watcher.stdout is not None
            watcher.stdout.readline()

    def end(self) -> None:
        """Stop watching, and put in order what was seen."""
        for watcher in self._watchers:
            watcher.terminate()
            for line in watcher.communicate()[0].splitlines():
                begin, end = map(float, line.split())
                self._times.append((begin, end))
        self._times.sort()

    def measure(self, begin: float, end: float) -> float:
        """Return how much of a time was within pauses, of whichever processor."""
        paused = 0.0
        for pause_begin, pause_end in self._times:
            if pause_begin < end and pause_end > begin:
                paused += min(end, pause_end) - max(begin, pause_begin)
                begin = max(begin, min(end, pause_end))
        return paused


# -- the processes -------------------------------------------------------------------------


class Process:
    """A process of ours, and what is said to it line by line."""

    def __init__(self, *arguments: str) -> None:
        self.opened = subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if arguments[0] == "-m" else None,
            bufsize=0,
        )

    def say(self, line: str) -> None:
        assert self.opened.stdin is not None
        self.opened.stdin.write(line.encode() + b"\n")

    def hear(self) -> str:
        assert self.opened.stdout is not None
        line = self.opened.stdout.readline()
        if not line:
            raise SystemExit("A process ended too early.")
        return line.decode().strip()

    def count_bytes(self) -> int:
        """Return how much memory it has."""
        pages = Path(f"/proc/{self.opened.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        if self.opened.stdin is not None:
            self.opened.stdin.close()
        self.opened.terminate()
        self.opened.wait()


@contextmanager
def served(hub_scheme: str = "") -> Iterator[tuple[Process, Process, str]]:
    """Start an agent, and a hub if it goes to one; return it, the process that readers come to, and its address."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as block:
        if not hub_scheme:
            agent = block.enter_context(Process(__file__, "agent", folder, "listen", "http://127.0.0.1:0"))
            yield agent, agent, agent.hear()
            return
        port = find_free_port()
        address = f"http://127.0.0.1:{port}"
        place = f"{folder}/hub.sock" if hub_scheme == "unix" else f"//127.0.0.1:{find_free_port()}"
        hub_url = f"{hub_scheme}:{place}"
        run = ["-m", "aaep", "serve", "--listen", address, "--listen", hub_url, "--journal", f"{folder}/hub.db"]
        hub = block.enter_context(Process(*run, "--log", "warning"))
        wait_until_served(port)
        agent = block.enter_context(Process(__file__, "agent", folder, "hub", hub_url))
        agent.hear()
        yield agent, hub, address


def find_free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_until_served(port: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise SystemExit("The hub does not come.")


def run_agent(arguments: list[str]) -> None:
    """Speak as fast as each line of standard input says: events in a second, 0 for no limit, and seconds."""
    folder, way, url = arguments
    journal = SqliteJournal(f"{folder}/agent.db")
    with Producer("bank-assistant", name="Bank Assistant", journal=journal, **{way: url}) as producer:  # type: ignore[arg-type]
        print(producer.addresses[0] if producer.addresses else "", flush=True)
        if way == "hub":
            producer.reader(replies=False).wait(30)
        for line in sys.stdin:
            rate, seconds = map(float, line.split())
            asking = threading.Thread(target=ask_now_and_then, args=(producer, seconds))
            asking.start()
            print(speak(producer, rate, seconds), flush=True)
            asking.join()
    journal.close()


def speak(producer: Producer, rate: float, seconds: float) -> int:
    """Write sentences for some seconds; return how many. Each names the time at which it was written."""
    count, start = 0, time.time()
    end = start + seconds
    while (now := time.time()) < end:
        with producer.session("Reading statements.") as session, session.output() as out:
            while (now := time.time()) < end and count % 10_000 != 9_999:
                if rate and count > (now - start) * rate:
                    time.sleep(0.001)
                    continue
                out.write(f"Read at {now % 1e6:.4f} the statement of another month of the year. ")
                count += 1
        count += 1
    return count


def ask_now_and_then(producer: Producer, seconds: float) -> None:
    end = time.monotonic() + seconds
    with producer.session("Asking.") as session:
        while time.monotonic() < end:
            time.sleep(ASK_EVERY)
            question = f"Read at {time.time() % 1e6:.4f}. Shall I go on?"
            session.withdraw(session.clarify(question, kinds=["yes_no"], timeout=60))


# -- the readers ---------------------------------------------------------------------------


class Readers:
    """Readers that look at nothing but the times in what they are sent."""

    def __init__(self, address: str, count: int) -> None:
        self._opened = [self._join(address) for _ in range(count)]
        self._rests = {opened.fileno(): b"" for opened in self._opened}

    def _join(self, address: str) -> socket.socket:
        with _http.connected(address) as asking:
            subscription = _http.subscribe(asking, supports_clarification_reply=True)
        opened = _http.connected(address)
        _http.stream(opened, subscription)
        return opened

    def close(self) -> None:
        for opened in self._opened:
            opened.close()

    def measure_flood(self, agent: Process, process: Process, rate: float, seconds: float) -> Flood:
        """Have an agent speak, and return how fast it was, how late its events came, and what that took of memory."""
        delays: Counter[int] = Counter()  # by ms: a list of millions stops this process whenever garbage is collected
        questions: list[tuple[float, float]] = []  # when each was asked, and when it came
        pauses = Pauses()
        stolen_before = read_stolen_time()
        agent.say(f"{rate} {seconds}")
        start = time.monotonic()
        before = 0
        assert agent.opened.stdout is not None
        with select.epoll() as poll:
            by_number = {opened.fileno(): opened for opened in self._opened}
            for number in by_number:
                poll.register(number, select.EPOLLIN)
            poll.register(agent.opened.stdout.fileno(), select.EPOLLIN)
            is_over = False
            while not is_over:
                for number, _ in poll.poll(1, 64):
                    if number in by_number:
                        self._take(by_number[number], delays, questions)
                    else:
                        is_over = True
                if not before and time.monotonic() - start > seconds / 4:
                    before = agent.count_bytes() + process.count_bytes()
        count = int(agent.hear())
        took = time.monotonic() - start
        growth = agent.count_bytes() + process.count_bytes() - before
        while select.select(self._opened, [], [], 1.0)[0]:  # what is still on its way
            for opened in select.select(self._opened, [], [], 0)[0]:
                self._take(opened, delays, questions)
        stolen = read_stolen_time() - stolen_before
        pauses.end()
        if agent is process:
            growth //= 2
        return Flood(
            count / took,
            find_percentile(delays, 99) / 1e3,
            max(came - asked - pauses.measure(asked, came) for asked, came in questions),
            max(came - asked for asked, came in questions),
            len(questions) // len(self._opened),
            growth,
            stolen,
        )

    def _take(self, opened: socket.socket, delays: Counter[int], questions: list[tuple[float, float]]) -> None:
        data = opened.recv(2**20)
        now = time.time() % 1e6
        if not data:
            raise SystemExit("The server has hung up.")
        whole, end, rest = (self._rests[opened.fileno()] + data).rpartition(b"\n")
        self._rests[opened.fileno()] = rest
        if not end:
            return
        delays.update([ceil((now - float(at)) * 1e3) for at in _TIME.findall(whole)])
        if QUESTION in whole:
            for line in whole.split(b"\n"):
                if QUESTION in line and (found := _TIME.search(line)):
                    questions.append((float(found[1]), now))


# -- costly requests -----------------------------------------------------------------------


def run_stored() -> None:
    """Serve a long session, and say its address and the id of its first event."""
    with tempfile.TemporaryDirectory() as folder:
        journal = SqliteJournal(f"{folder}/agent.db", retention=Retention(max_bytes=2**30))
        with (
            Producer("bank-assistant", journal=journal, listen="http://127.0.0.1:0") as producer,
            producer.session("Reading statements.") as session,
            session.output() as out,
        ):
            for number in range(STORED_EVENTS):
                out.write(f"Read statement {number} of the year. ")
            journal.flush()
            print(producer.addresses[0], journal.read(limit=1)[0].event_id, flush=True)
            sys.stdin.read()
        journal.close()


def measure_resume() -> Figure:
    """Ask for a sign of life again and again, while another reader resumes a long session from its beginning."""
    with Process(__file__, "store") as process:
        address, event_id = process.hear().split()
        with _http.connected(address) as asking, _http.connected(address) as resuming:
            subscription = _http.subscribe(asking)
            path = f"/aaep/v1/events?subscription_id={subscription}".encode()
            head = b"GET %b HTTP/1.1\r\nHost: %b\r\nLast-Event-ID: %b\r\n\r\n"
            host = address.removeprefix("http://").encode()
            resuming.sendall(head % (path, host, event_id.encode()))
            slowest, came, is_over = 0.0, 0, False
            while not is_over:
                start = time.monotonic()
                asking.sendall(b"GET /healthz HTTP/1.1\r\nHost: %b\r\n\r\n" % host)
                asking.recv(65_536)
                slowest = max(slowest, time.monotonic() - start)
                while select.select([resuming], [], [], 0)[0]:
                    came += resuming.recv(2**20).count(b"event: aaep.event")
                is_over = came >= STORED_EVENTS
    return figure("others wait while 45,000 events are resumed, ms", slowest * 1e3, MAX_WAIT * 1e3)


def measure_idle() -> Figure:
    """Have readers join that hear nothing, and return by how much the agent's process grew for each."""
    with served() as (_, process, address):
        Readers(address, 50)  # what the first ones need is not theirs alone
        time.sleep(0.5)
        before = process.count_bytes()
        readers = Readers(address, IDLE_READERS)
        time.sleep(0.5)
        grown = (process.count_bytes() - before) / IDLE_READERS
        readers.close()
    return figure("memory of an idle reader over HTTP, KiB", grown / 1024, MAX_IDLE_BYTES / 1024)


def measure_places() -> Figure:
    """Let two users take all the places they get, and return how many a third one gets."""
    with Producer("bank-assistant", journal=None, settings=HubSettings(max_subscriptions=PLACES)) as producer:
        places = {user: producer.hub.run(take_places(producer.hub, Peer(user))) for user in ("bob", "eve", "ada")}
    return figure(f"places left of {PLACES} for a third user", places["ada"], 1, is_least=True)


async def take_places(hub: Hub, peer: Peer) -> int:
    request = SubscriptionRequest(
        aaep_version="1.0.0", subscriber_id="aaep-bench", subscriber_name="Bench", capabilities=Capabilities()
    )
    taken = 0
    while isinstance(hub.subscribe(request, peer), SubscriptionAccepted):
        taken += 1
    return taken


if __name__ == "__main__":
    main()
