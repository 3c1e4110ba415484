"""The fast way through long recordings finds exactly what the slow way finds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from aaep import quick, rules, stream, wire
from aaep.audit import Audit, Finding
from aaep.events import Envelope
from bench._recording import recording
from examples.medical_extension import registry
from tests import vectors

REGISTRY = registry()
Change = Callable[[dict[str, Any], random.Random], None]


def drop(event: dict[str, Any], chance: random.Random) -> None:
    del event[chance.choice([*event])]


def retype(event: dict[str, Any], chance: random.Random) -> None:
    event[chance.choice([*event])] = chance.choice([None, 3, "", [], {}, True, "x" * 20_000])


def spoil_text(event: dict[str, Any], chance: random.Random) -> None:
    name = chance.choice([name for name in event if isinstance(event[name], str)])
    event[name] += chance.choice(["\n", "é", "e\u0301", "<span lang='fr'>", "\\", '"', "\u202e", "שלום"])


def shift_time(event: dict[str, Any], chance: random.Random) -> None:
    event["timestamp"] = chance.choice(
        ["2026-02-30T10:00:00.000Z", "2025-05-24T10:00:00.000Z", "2026-05-24T10:00:00Z", "2027-05-24T10:00:00.0Z"]
    )


def reorder(event: dict[str, Any], chance: random.Random) -> None:
    members = [*event.items()]
    chance.shuffle(members)
    event.clear()
    event.update(members)


def number(event: dict[str, Any], chance: random.Random) -> None:
    event["sequence_number"] = chance.choice([0, 1, 7, -1, 1.0])


def swap_state(event: dict[str, Any], chance: random.Random) -> None:
    event["from_state"] = chance.choice(["idle", "thinking", "pondering"])


def others_id(event: dict[str, Any], chance: random.Random) -> None:
    event[chance.choice(["event_id", "session_id"])] = chance.choice(["evt_1", "sess_1", "evt_\n", "sess_é"])


CHANGES: tuple[Change, ...] = (*(drop, retype, spoil_text, shift_time, reorder, number, swap_state, others_id),)


def spoilt(seed: int, count: int) -> Iterator[bytes]:
    """A recording in which every tenth line or so is changed, doubled, lost or broken."""
    chance = random.Random(seed)
    before = b""
    for line in recording(count, seed):
        fate = chance.random()
        if fate < 0.02:
            continue
        if fate < 0.04:
            yield before or line
        elif fate < 0.05:
            yield line[: chance.randrange(len(line))]
        elif fate < 0.06:
            yield line.replace(b'"urgency":', b'"urgency":"normal","urgency":', 1)
        elif fate < 0.12:
            event = json.loads(line)
            chance.choice(CHANGES)(event, chance)
            yield json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()
        else:
            yield line
        before = line


def slowly(lines: list[bytes], audit: Audit) -> list[tuple[int, list[Finding]]]:
    return [(place, found) for place, line in enumerate(lines) if (found := audit.feed(line))]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_the_fast_way_finds_what_the_slow_way_finds(seed: int, whole: bool) -> None:
    lines = [*spoilt(seed, 3000)]
    fast, slow = Audit(whole=whole), Audit(whole=whole)
    expected = slowly(lines, slow)
    assert [*stream.judge(fast, lines)] == expected
    assert fast.finish() == slow.finish()
    assert (fast.events, fast.sessions) == (slow.events, slow.sessions)
    assert len({finding.rule for _, findings in expected for finding in findings}) > 20


def test_terms_are_kept_to_on_the_fast_way_too() -> None:
    lines = [*recording(60)]
    filters = {"set": {"/honored_capabilities/event_filters": {"include": ["aaep:agent.*"], "exclude": []}}}
    lines[20:20] = [
        vectors.message({"base": "subscription.request"}),
        vectors.message({"base": "subscription.accepted"} | filters),
    ]
    lines[40:40] = [vectors.message({"base": "subscription.close"})]
    expected = slowly(lines, Audit())
    assert [*stream.judge(Audit(), lines)] == expected
    assert {finding.rule for _, findings in expected for finding in findings} == {"SUB-068"}


def test_strictness_takes_the_slow_way() -> None:
    lines = [*recording(300)]
    assert [*stream.judge(Audit(strict=True), lines)] == slowly(lines, Audit(strict=True))


def test_a_sound_recording_has_no_findings() -> None:
    audit = Audit()
    assert [*stream.judge(audit, recording(5000))] == []
    assert audit.events == 5000


def test_the_short_way_to_nothing_to_say_agrees_with_the_rules() -> None:
    """Whatever was remembered from sound events, an unsound one is still told of."""
    for line in recording(2000):
        wire.read(line)
    for case in vectors.cases("message"):
        raw = vectors.message(case["message"])
        message = wire._exact(raw, bytearray())
        if isinstance(message, Envelope):
            for strict in (False, True):
                expected = tuple(rules.every(message, raw, REGISTRY, strict=strict))
                assert quick.check(message, raw, REGISTRY, strict) == expected, case["id"]
