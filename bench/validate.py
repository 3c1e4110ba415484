"""
How fast recordings are validated, against the parsing of the same bytes and against jsonschema.

One recording of 20,000 mixed events, one run, the contenders taking turns. Each
goes through the whole recording, a part at a time, in several rounds; the best
times of the parts are added up, for a shared machine seldom leaves a whole round
undisturbed. Memory is measured in processes of their own.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson
from jsonschema import Draft202012Validator

from aaep.protocol import schema
from aaep.protocol.audit import Audit
from aaep.protocol.messages import SHAPES

sys.path.insert(0, str(Path(__file__).parent.parent))
from bench._recording import recording

EVENTS = 20_000
PART = 400  # events timed together
ROUNDS = 50  # of the two that the first bound is about
FEW = 4
SAMPLE = 400  # events for jsonschema, which takes its time
MOST_PARSE = 3.0
LEAST_JSONSCHEMA = 60.0

Run = Callable[[list[bytes]], None]


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == "--memory":
        print(_peak(int(sys.argv[2])))
        return
    lines = [*recording(EVENTS)]
    foreign = [json.dumps(orjson.loads(line), sort_keys=True).encode() for line in lines]
    sample = lines[:: EVENTS // SAMPLE]
    validators = {type_: Draft202012Validator(schema.schema_document(type_)) for type_ in SHAPES}
    contenders: dict[str, tuple[list[bytes], Callable[[], Run]]] = {
        "parse": (lines, lambda: _parse),
        "validate": (lines, _validation),
        "parse, other layout": (foreign, lambda: _parse),
        "validate, other layout": (foreign, _validation),
        "parse and jsonschema": (sample, lambda: lambda part: _each(validators, part)),
    }
    times: dict[str, list[list[float]]] = {name: [] for name in contenders}
    gc.disable()
    for round_ in range(ROUNDS):
        for name, (recorded, begin) in contenders.items():
            if round_ < FEW or name in ("parse", "validate"):
                gc.collect()
                times[name].append(_timed(begin(), recorded))
    gc.enable()
    best = {name: sum(map(min, zip(*rounds, strict=True))) / len(contenders[name][0]) for name, rounds in times.items()}
    size = sum(map(len, lines)) / len(lines)
    print(f"{EVENTS} events of {size:.0f} bytes on average, microseconds per event:")
    for name, seconds in best.items():
        print(f"  {name}: {seconds * 1e6:.2f}")
    ratio = best["validate"] / best["parse"]
    other = best["validate, other layout"] / best["parse, other layout"]
    speed = best["parse and jsonschema"] / best["validate"]
    print(f"Full validation with sequences takes {ratio:.2f} times orjson.loads. Bound: {MOST_PARSE}.")
    print(f"With members sorted by name and spaces between them it takes {other:.2f} times.")
    print(f"It is {speed:.0f} times as fast as jsonschema on the shape alone. Bound: {LEAST_JSONSCHEMA:.0f}.")
    peaks = [_memory(count) for count in (EVENTS, 10 * EVENTS)]
    print(f"Peak memory: {peaks[0] / 1024:.1f} MiB for {EVENTS} events, {peaks[1] / 1024:.1f} MiB for {10 * EVENTS}.")


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
            findings = audit.feed(line)
            if any(finding.severity != "info" for finding in findings):
                raise SystemExit(f"The recording is meant to be sound: {findings}")
        audit.finish()

    return run


def _each(validators: dict[str, Draft202012Validator], sample: list[bytes]) -> None:
    for line in sample:
        event = orjson.loads(line)
        if not validators[event["type"]].is_valid(event):
            raise SystemExit(f"The recording is meant to be sound: {event}")


def _memory(count: int) -> int:
    run = [sys.executable, __file__, "--memory", str(count)]
    return int(subprocess.run(run, check=True, capture_output=True, text=True).stdout)


def _peak(count: int) -> int:
    """The most memory, in KiB, that `aaep validate` takes for a file of so many events."""
    from aaep.cli.validate import main as validate  # noqa: PLC0415  # only in the measured process

    with tempfile.NamedTemporaryFile(suffix=".ndjson") as file:
        for line in recording(count):
            file.write(line + b"\n")
        file.flush()
        with contextlib.redirect_stdout(io.StringIO()):
            code = validate.main([file.name], standalone_mode=False)
    if code:
        raise SystemExit(f"validate ended with {code}")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
