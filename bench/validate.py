"""
How fast recordings are validated, against the parsing of the same bytes.

Four recordings of 20,000 events, in one run, the contenders taking turns:

* ideal: nothing to say about any event
* own: what a subscriber got of our own producer through a hub
* foreign: another producer's layout, with one warning and four notes on every event
* errors: the ideal one, with an error in every twentieth event

Each contender goes through the whole recording, a part at a time, in several
rounds; the best times of the parts are added up, for a shared machine seldom
leaves a whole round undisturbed. Memory is measured in processes of their own.
"""

from __future__ import annotations

import contextlib
import gc
import io
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path

import orjson
from jsonschema import Draft202012Validator

from aaep.hub.hub import Hub
from aaep.hub.relay.relay import AgentRegistry
from aaep.journal.memory import MemoryJournal
from aaep.producer.producer import Producer
from aaep.protocol import schema
from aaep.protocol.audit import Audit
from aaep.protocol.events import ProducerInfo, SessionCompleted
from aaep.protocol.messages import SHAPES
from aaep.protocol.negotiation import Offer
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import serve

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench._recording import recording

EVENTS = 20_000
PART = 400  # events timed together
ROUNDS = 20
SAMPLE = 400  # events for jsonschema, which takes its time
BOUNDS = {"ideal": 3.0, "own": 6.0, "foreign": 6.0}  # times orjson.loads
LEAST_JSONSCHEMA = 60.0
MEMORY_EVENTS = (500_000, 1_000_000)  # what is remembered is bounded, and full by then
MAX_GROWTH = 1.1  # of the memory for twice as many events

Run = Callable[[list[bytes]], None]


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] == "--memory":
        print(_peak(int(sys.argv[2])))
        return 0
    peaks = [_memory(number) for number in MEMORY_EVENTS]  # first: a child's peak is never below its parent's
    ideal = [*recording(EVENTS)]
    recordings = {"ideal": ideal, "own": [*own(EVENTS)], "foreign": [*map(foreign, ideal)], "errors": [*broken(ideal)]}
    _check_severities(recordings)
    times: dict[tuple[str, str], list[list[float]]] = {}
    gc.disable()
    for _ in range(ROUNDS):
        for name, lines in recordings.items():
            for contender, begin in (("parse", lambda: _parse), ("validate", _validation)):
                gc.collect()
                times.setdefault((name, contender), []).append(_timed(begin(), lines))
    gc.enable()
    best = {key: sum(map(min, zip(*rounds, strict=True))) / EVENTS for key, rounds in times.items()}
    missed = False
    for name, lines in recordings.items():
        parse, validate = best[name, "parse"], best[name, "validate"]
        size = sum(map(len, lines)) / len(lines)
        bound = f" Bound: {BOUNDS[name]}." if name in BOUNDS else ""
        print(f"{name}: {EVENTS} events of {size:.0f} bytes; microseconds for each:")
        print(f"  parse {parse * 1e6:.2f}, validate {validate * 1e6:.2f}: {validate / parse:.2f} times.{bound}")
        missed |= name in BOUNDS and validate / parse > BOUNDS[name]
    jsonschema = _time_jsonschema(ideal[:: EVENTS // SAMPLE]) / best["ideal", "validate"]
    print(f"It is {jsonschema:.0f} times as fast as jsonschema on the shape alone. Bound: {LEAST_JSONSCHEMA:.0f}.")
    sizes = [f"{peak / 1024:.1f} for {number} events" for peak, number in zip(peaks, MEMORY_EVENTS, strict=True)]
    print(f"Peak memory, MiB: {', '.join(sizes)}.")
    if missed or jsonschema < LEAST_JSONSCHEMA or peaks[1] > MAX_GROWTH * peaks[0]:
        print("A bound is missed.", file=sys.stderr)
        return 1
    return 0


# -- recordings ------------------------------------------------------------------------------


def own(number: int) -> Iterator[bytes]:
    """Events of our own producer as a subscriber of a hub receives them, repeated with other ids."""
    received: list[bytes] = []
    hub = Hub(Offer(producer=ProducerInfo(agent_id="hub", agent_name="Hub")), MemoryJournal())
    relays = AgentRegistry(hub)
    hub.agents = relays
    try:
        url = hub.run(serve(hub, "http://127.0.0.1:0")).url

        def collect(direction: str, message: bytes) -> None:
            if direction == "out" and b'"type":"aaep:agent.' in message:
                received.append(message)

        with (
            Subscriber(url, on_message=collect) as subscriber,
            Producer("bank", hub=url.replace("http:", "ws:"), journal=None) as producer,
        ):
            subscriber.ready().wait(30)
            producer.reader().wait(30)
            _work(producer)
            done = (event for event in subscriber if isinstance(event, SessionCompleted))
            next(done)
            hub.run(relays.close())
    finally:
        hub.close()
    return islice(_repeated(received), number)


def _work(producer: Producer) -> None:
    @producer.tool(risk="low", summary="Looking up {what}.")
    def look(what: str) -> str:
        return f"All about {what}."

    with producer.session("Looking through the accounts.", request="How am I doing?") as session:
        for step in range(1, 51):
            with session.thinking():
                session.progress(2 * step, step=step, total=50)
            look(what=f"account {step}")
            with session.output() as output:
                for word in "The balance is higher than last month. The rent came late. ".split(" "):
                    output.write(f"{word} ")


def _repeated(lines: list[bytes]) -> Iterator[bytes]:
    for copy in count():
        for line in lines:
            yield re.sub(rb"(evt|sess|out|call)_[0-9a-f]{24}", rb"\g<1>_%024x" % copy, line)


def foreign(line: bytes) -> bytes:
    """An event as another producer might send it: sorted by name, and with five things to remark."""
    event = orjson.loads(line)
    event["producer"] = {"agent_id": event["producer"]["agent_id"]}  # three notes
    event["localization_hints"].pop("text_direction", None)  # a note
    del event["aaep_version"]  # a warning
    return orjson.dumps(event, option=orjson.OPT_SORT_KEYS)


def broken(lines: list[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        yield line.replace(b'"urgency":"', b'"urgency":"very ', 1) if number % 20 == 19 else line


def _check_severities(recordings: dict[str, list[bytes]]) -> None:
    """A recording that is not what its name says would make the numbers mean something else."""
    for name, lines in recordings.items():
        audit = Audit()
        found = Counter(finding.severity for line in lines for finding in audit.feed(line))
        per_event = {severity: found[severity] / len(lines) for severity in ("error", "warning", "info")}
        print(f"{name}: on each event " + ", ".join(f"{value:.2f} {key}" for key, value in per_event.items()))


# -- contenders ------------------------------------------------------------------------------


def _timed(run: Run, lines: list[bytes]) -> list[float]:
    """How long each part of the lines took."""
    times = []
    for first in range(0, len(lines), PART):
        part = lines[first : first + PART]
        start = time.perf_counter()
        run(part)
        times.append(time.perf_counter() - start)
    return times


def _parse(lines: list[bytes]) -> None:
    for line in lines:
        orjson.loads(line)


def _validation() -> Run:
    """One audit of a whole recording, fed part by part."""
    audit = Audit()

    def run(lines: list[bytes]) -> None:
        for line in lines:
            audit.feed(line)

    return run


def _time_jsonschema(sample: list[bytes]) -> float:
    validators = {type_: Draft202012Validator(schema.schema_document(type_)) for type_ in SHAPES}
    start = time.perf_counter()
    for line in sample:
        event = orjson.loads(line)
        if not validators[event["type"]].is_valid(event):
            raise SystemExit(f"The recording is meant to be sound: {event}")
    return (time.perf_counter() - start) / len(sample)


# -- memory ----------------------------------------------------------------------------------


def _memory(number: int) -> int:
    run = [sys.executable, __file__, "--memory", str(number)]
    return int(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def _peak(number: int) -> int:
    """The most memory, in KiB, that `aaep validate` takes for a file of so many events."""
    from aaep.cli.validate import main as validate  # noqa: PLC0415  # only in the measured process

    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        for line in recording(number):
            file.write(line + b"\n")
        file.flush()
        with contextlib.redirect_stdout(io.StringIO()):
            code = validate.main([file.name], standalone_mode=False)
    if code:
        raise SystemExit(f"validate ended with {code}")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    sys.exit(main())
