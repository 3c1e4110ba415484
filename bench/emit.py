"""
What one emit costs its caller, against building and encoding the same event with msgspec alone.

An emit is ``session.progress()``, ``out.write()`` of a chunk that goes out as
it is, or a tool's block with nothing in it, which sends four events. All checks
are made, the default journal keeps the events, the hub runs in its thread, with
one reader attached or with none. Events come in bursts of forty, as from a
streaming model; what the other threads do with a burst is waited for outside
the time measured, and told as the rate that can be kept up for ever. A longer
burst would have the caller wait for its readers, as it is meant to (see
HubSettings.max_backlog_bytes).

Usually an output goes out in whole sentences, and has to be searched for their
ends first. What that adds is told beside it.

The other side constructs the same Structs with every text ready made, gives
each a fresh random id (cut from 4,096 bytes of os.urandom at a time) and a
timestamp (the text of the second kept, the milliseconds from a table), and
encodes them. Nothing else: no checks, no lock, no journal, no hub.

One run, taking turns, the best of many rounds each. Then how long a reply
takes from being sent to the waiting thread going on, in the same process and
over HTTP.
"""

from __future__ import annotations

import gc
import itertools
import os
import queue
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import msgspec

from aaep.identity.peer import Peer
from aaep.producer.producer import Producer
from aaep.producer.questions import Ask
from aaep.producer.session import Session
from aaep.protocol.events import (
    LocalizationHints,
    OutputStreaming,
    Progress,
    ProgressUpdated,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from aaep.protocol.messages import Capabilities, SubscriptionAccepted, SubscriptionClose, SubscriptionRequest
from aaep.testing import Listener
from aaep.text.summaries import summarize_state

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench import _http
from bench._recording import Writer

BURST = 40
ROUNDS = 120
REPLIES = 400
SUSTAINED = 20_000
MOST_BUILDING = 8.0
FOUND = "a sentence of output, with finding it"


def main() -> None:
    within = []
    with tempfile.TemporaryDirectory() as folder:
        for readers in (0, 1):
            with speaking(folder, readers) as session:
                within += compare(session, readers)
        print("From a reply to the waiting thread going on, milliseconds:")
        told("in the same process", replies_here(folder))
        told("over HTTP", replies_over_http(folder))
    if not all(within):
        raise SystemExit(f"An emit costs its caller more than {MOST_BUILDING} times what msgspec alone does.")


# -- emits ---------------------------------------------------------------------------------


@contextmanager
def speaking(folder: str, readers: int) -> Iterator[Session]:
    """A session with the default journal, and so many readers."""
    journal = str(Path(folder) / f"journal-{readers}")
    with Producer("bank-assistant", name="Bank Assistant", journal=journal) as producer:
        producer.hub.start()
        for _ in range(readers):
            producer.hub.run(attach(producer))
        with producer.session("Looking after your accounts.") as session:
            yield session


class Reader:
    """One that takes everything at once."""

    def __init__(self) -> None:
        self.frame: Callable[[str, bytes], bytes] = _frame

    def write(self, data: bytes) -> None: ...

    def count_unsent_bytes(self) -> int:
        return 0

    def close(self, message: SubscriptionClose | None) -> None: ...


def _frame(event_id: str, data: bytes) -> bytes:
    return b"id: %b\ndata: %b\n\n" % (event_id.encode(), data)


async def attach(producer: Producer) -> None:
    asked = SubscriptionRequest(
        aaep_version="1.0.0", subscriber_id="aaep-bench", subscriber_name="Bench", capabilities=Capabilities()
    )
    answer = producer.hub.subscribe(asked, Peer())
    assert isinstance(answer, SubscriptionAccepted)
    producer.hub.connect(answer.subscription_id, Peer(), Reader())


def compare(session: Session, readers: int) -> list[bool]:
    """Measure each kind of emit and tell of it; whether each is within its bound."""
    alone, said = Alone(session), sentences()
    whole, output = session.output(boundary="none"), session.output()
    contenders: dict[str, tuple[int, Callable[[], None], Callable[[], bytes | list[bytes]]]] = {}

    def tool() -> None:
        with session.tool("check_balance", risk="low"):
            pass

    contenders["progress"] = (1, lambda: session.progress(40), alone.progress)
    contenders["a chunk of output"] = (1, lambda: whole.write(next(said)), alone.chunk)
    contenders[FOUND] = (1, lambda: output.write(next(said)), alone.chunk)
    contenders["a tool's block"] = (4, tool, alone.tool)
    best = {name: [float("inf")] * 2 for name in contenders}
    within: list[bool] = []
    gc.disable()
    for name, (events, emit, build) in contenders.items():
        if name == "a tool's block":
            whole.close()
            output.close()
        emit()
        emit()
        same(session, build())
        for _ in range(ROUNDS):
            for side, run in enumerate((emit, build)):
                gc.collect(0)
                start = time.perf_counter()
                for _ in range(BURST // events):
                    run()
                best[name][side] = min(best[name][side], (time.perf_counter() - start) / (BURST // events))
                settle(session)
    gc.enable()
    print(f"{'One reader' if readers else 'No reader'}, microseconds per emit, and with msgspec alone:")
    for name, (events, _, _) in contenders.items():
        emitted, built = best[name]
        count = f", {events} events" if events > 1 else ""
        bound = "" if name == FOUND else f" Bound: {MOST_BUILDING}."
        ratio = f"{emitted / built:.2f} times.{bound}"
        within.append(name == FOUND or emitted <= MOST_BUILDING * built)
        print(f"  {name}{count}: {emitted * 1e6:.2f}, {built * 1e6:.2f}: {ratio}")
    start = time.perf_counter()
    for _ in range(SUSTAINED):
        session.progress(40)
    settle(session)
    print(f"  kept up for ever: {SUSTAINED / (time.perf_counter() - start):.0f} events per second")
    print(f"  one by itself, the other threads asleep: {single(session) * 1e6:.0f} (median)")
    return within


def sentences() -> Iterator[str]:
    """Sentences of about 75 characters, each of them many others before it comes again."""
    writer = Writer(1)
    return itertools.cycle([writer.text(13, 15) + " " for _ in range(5000)])


def single(session: Session) -> float:
    times = []
    for _ in range(ROUNDS):
        settle(session)
        start = time.perf_counter()
        session.progress(40)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def settle(session: Session) -> None:
    """Wait until the journal and the hub have nothing more to do."""

    async def nothing() -> None: ...

    session.producer.hub.journal.sync()
    session.producer.hub.run(nothing())


def same(session: Session, built: bytes | list[bytes]) -> None:
    """See that both sides make the same events."""
    mine = built if isinstance(built, list) else [built]
    journal = session.producer.hub.journal
    kept = [entry.data for entry in journal.read(session=session.session_id, limit=100_000)][-len(mine) :]
    new = dict.fromkeys(("event_id", "timestamp", "tool_call_id", "output_id", "position", "chunk", "coalesce_hint"))
    for one, other in zip(map(msgspec.json.decode, mine), map(msgspec.json.decode, kept), strict=True):
        if {**one, **new} != {**other, **new} or [*one] != [*other]:
            raise SystemExit(f"These are meant to be alike:\n{one}\n{other}")


class Alone:
    """The same events with msgspec and nothing else."""

    def __init__(self, session: Session) -> None:
        self.session_id = session.session_id
        self.producer = session.producer.info
        self.hints = LocalizationHints(primary_language="en-US", text_direction="ltr", available_languages=("en-US",))
        self.output_id = self.id("out_")
        self.position = 0
        self.sentences = sentences()

    _encode = msgspec.json.Encoder().encode
    _digits, _place = "", 0
    _second, _text = -1, ""
    _milliseconds = tuple(f"{number:03}Z" for number in range(1000))

    def id(self, prefix: str) -> str:
        place = self._place
        if place == len(self._digits):
            self._digits, place = os.urandom(4096).hex(), 0
        self._place = place + 32
        return prefix + self._digits[place : place + 32]

    def timestamp(self) -> str:
        milliseconds = int(time.time() * 1000)
        second = milliseconds // 1000
        if second != self._second:
            self._second, self._text = second, time.strftime("%Y-%m-%dT%H:%M:%S.", time.gmtime(second))
        return self._text + self._milliseconds[milliseconds % 1000]

    def progress(self) -> bytes:
        return self._encode(
            ProgressUpdated(
                aaep_version="1.0.0",
                event_id=self.id("evt_"),
                session_id=self.session_id,
                timestamp=self.timestamp(),
                producer=self.producer,
                verbosity="normal",
                urgency="background",
                localization_hints=self.hints,
                progress=Progress(percent=40),
                summary_terse="40 percent.",
                summary_normal="40 percent.",
                summary_detailed="40 percent.",
            )
        )

    def chunk(self) -> bytes:
        chunk = next(self.sentences)
        self.position += len(chunk)
        return self._encode(
            OutputStreaming(
                aaep_version="1.0.0",
                event_id=self.id("evt_"),
                session_id=self.session_id,
                timestamp=self.timestamp(),
                producer=self.producer,
                verbosity="normal",
                urgency="normal",
                localization_hints=self.hints,
                chunk=chunk,
                position=self.position,
                complete=False,
                coalesce_hint="sentence",
                output_id=self.output_id,
            )
        )

    def tool(self) -> list[bytes]:
        call = self.id("call_")
        return [
            self._state("thinking", "calling_tool", "normal"),
            self._encode(
                ToolInvoked(
                    aaep_version="1.0.0",
                    event_id=self.id("evt_"),
                    session_id=self.session_id,
                    timestamp=self.timestamp(),
                    producer=self.producer,
                    verbosity="normal",
                    urgency="normal",
                    localization_hints=self.hints,
                    tool="check_balance",
                    tool_call_id=call,
                    summary_terse="Check balance.",
                    summary_normal="Calling check balance.",
                    summary_detailed="Calling check balance.",
                    risk_level="low",
                    irreversible=False,
                )
            ),
            self._encode(
                ToolCompleted(
                    aaep_version="1.0.0",
                    event_id=self.id("evt_"),
                    session_id=self.session_id,
                    timestamp=self.timestamp(),
                    producer=self.producer,
                    verbosity="normal",
                    urgency="normal",
                    localization_hints=self.hints,
                    tool="check_balance",
                    tool_call_id=call,
                    status="success",
                    duration_ms=0,
                    summary_terse="Check balance finished.",
                    summary_normal="Check balance finished.",
                    summary_detailed="Check balance finished.",
                )
            ),
            self._state("calling_tool", "thinking", "background"),
        ]

    def _state(self, left: str, entered: str, urgency: Literal["background", "normal"]) -> bytes:
        terse, normal, detailed = summarize_state(entered)
        return self._encode(
            StateChanged(
                aaep_version="1.0.0",
                event_id=self.id("evt_"),
                session_id=self.session_id,
                timestamp=self.timestamp(),
                producer=self.producer,
                verbosity="normal",
                urgency=urgency,
                localization_hints=self.hints,
                from_state=left,
                to_state=entered,
                summary_terse=terse,
                summary_normal=normal,
                summary_detailed=detailed,
            )
        )


# -- replies -------------------------------------------------------------------------------


def replies_here(folder: str) -> list[float]:
    with Producer("bank-assistant", name="Bank Assistant", journal=str(Path(folder) / "journal-here")) as producer:
        listener = Listener(producer)
        return waited_for(producer, lambda ask: listener.reply(ask.event, True))  # type: ignore[arg-type]  # it is put


def replies_over_http(folder: str) -> list[float]:
    journal = str(Path(folder) / "journal-http")
    with Producer("bank-assistant", journal=journal, listen="http://127.0.0.1:0") as producer:
        (address,) = producer.addresses
        with _http.connected(address) as reading, _http.connected(address) as replying:
            subscription = _http.subscribe(
                replying, supports_confirmation_reply=True, supports_clarification_reply=True
            )
            _http.stream(reading, subscription)
            producer.reader().wait(30)
            threading.Thread(target=drained, args=[reading], daemon=True).start()

            def reply(ask: Ask) -> None:
                assert ask.event is not None
                message = {
                    "type": "clarification.reply",
                    "reply_token": ask.event.reply_token,
                    "response": True,
                    "subscription_id": subscription,
                    "timestamp": "2026-05-24T08:00:00.000Z",
                }
                _http.post(replying, "/aaep/v1/replies", message)

            found = waited_for(producer, reply)
            reading.shutdown(socket.SHUT_RDWR)
            return found


def drained(reading: socket.socket) -> None:
    with suppress(OSError):  # closed, for it is over
        while reading.recv(65_536):
            pass


def waited_for(producer: Producer, reply: Callable[[Ask], None]) -> list[float]:
    """How long each reply took. This thread asks and waits; another one replies."""
    asked: queue.SimpleQueue[Ask | None] = queue.SimpleQueue()
    sent: list[float] = []

    def replier() -> None:
        while (ask := asked.get()) is not None:
            sent.append(time.perf_counter())
            reply(ask)

    thread = threading.Thread(target=replier)
    thread.start()
    resumed = []
    with producer.session("Asking.") as session:
        for _ in range(REPLIES):
            ask = session.clarify("Shall I go on?", kinds=["yes_no"], timeout=60)
            asked.put(ask)
            if not ask.wait(60):
                raise SystemExit("A reply was not taken.")
            resumed.append(time.perf_counter())
    asked.put(None)
    thread.join()
    return [after - before for before, after in zip(sent, resumed, strict=True)]


def told(where: str, times: list[float]) -> None:
    cuts = statistics.quantiles(times, n=100)
    print(f"  {where}: half within {cuts[49] * 1e3:.2f}, 99 of 100 within {cuts[98] * 1e3:.2f}, of {len(times)}")


if __name__ == "__main__":
    main()
