"""Rules that are arranged by what they read find exactly what running all of them finds."""

from __future__ import annotations

import itertools
import json
import random
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from aaep.errors import Violation
from aaep.protocol import codec, rules
from aaep.protocol.audit import Audit, Finding
from aaep.protocol.events import CORE_EVENTS, Envelope
from aaep.protocol.extensions import Registry
from aaep.protocol.fields import Message
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


def compact(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


CHANGES: tuple[Change, ...] = (*(drop, retype, spoil_text, shift_time, reorder, number, swap_state, others_id),)


def garbled(line: bytes, chance: random.Random) -> bytes:
    """One byte is lost, added or another; or the type is."""
    place, byte = (
        chance.randrange(len(line)),
        chance.choice([b'"', b"\\", b",", b"0", b"}", b" ", b"\n", b"\xff", b"x"]),
    )
    how = chance.randrange(4)
    if how == 3:
        return re.sub(
            rb"agent\.[a-z.]+", b"agent." + chance.choice([b"state.changed", b"output.streaming"]), line, count=1
        )
    return line[:place] + (byte if how else b"") + line[place + (how < 2) :]


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
            yield compact(event)
        elif fate < 0.14:
            yield garbled(line, chance)
        else:
            yield line
        before = line


Found = list[tuple[int, list[Finding]]]


def ordered(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: (finding.rule, finding.path, finding.message))


def judged(lines: list[bytes], audit: Audit) -> Found:
    return [(place, ordered(found)) for place, line in enumerate(lines) if (found := audit.feed(line))]


def all_rules_run(
    message: Message, raw: bytes, registry: Registry = rules.BUNDLED_REGISTRY, strict: bool = False
) -> tuple[Violation, ...]:
    return tuple(rules.check_every_rule(message, raw, registry, strict=strict))


def judged_by_every_rule(lines: list[bytes], audit: Audit) -> Found:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "check", all_rules_run)
        return judged(lines, audit)


def same(lines: list[bytes], whole: bool = True) -> set[str]:
    """Both ways find the same; the rules they name."""
    compiled, every = Audit(whole=whole), Audit(whole=whole)
    expected = judged_by_every_rule(lines, every)
    assert judged(lines, compiled) == expected
    assert compiled.finish() == every.finish()
    assert (compiled.events, compiled.sessions) == (every.events, every.sessions)
    return {finding.rule for _, findings in expected for finding in findings}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(6))
def test_a_spoilt_recording_is_judged_as_by_every_rule(seed: int, whole: bool) -> None:
    assert len(same([*spoilt(seed, 3000)], whole)) > 20


@pytest.mark.parametrize("seed", range(4))
def test_sessions_may_take_turns(seed: int) -> None:
    chance = random.Random(seed)
    streams = [spoilt(seed + 10, 800), recording(800, seed + 20), recording(800, seed + 30)]
    lines = []
    while streams:
        one = chance.choice(streams)
        some = [*itertools.islice(one, chance.randint(1, 6))]
        lines += some
        if not some:
            streams.remove(one)
    same(lines)


def asides(seed: int, count: int) -> Iterator[bytes]:
    """A recording with remarks of a second agent in between, some of them late."""
    chance = random.Random(seed)
    for line in recording(count, seed):
        yield line
        for _ in range(chance.choice([0] * 8 + [1, 2, 3])):
            event = json.loads(line)
            moment = datetime.fromisoformat(event["timestamp"]) - timedelta(milliseconds=chance.choice([0, 0, 1, 500]))
            common = {name: event[name] for name in ("@context", "aaep_version", "type", "event_id", "session_id")}
            common |= {"type": "aaep:agent.progress.updated", "event_id": f"evt_{chance.getrandbits(128):032x}"}
            common |= {"timestamp": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")}
            common |= {"producer": {**event["producer"], "agent_id": "clerk"}, "verbosity": "normal"}
            common |= {"urgency": "background", "localization_hints": event["localization_hints"]}
            yield compact(common | {"progress": {"percent": 10}, "summary_normal": "Looking it up."})


@pytest.mark.parametrize("seed", range(4))
def test_agents_may_share_a_session(seed: int) -> None:
    assert "ENV-027" in same([*asides(seed, 1500)])


TEXT = b'"chunk":"Your'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (TEXT, b'"chunk":"A \\"quote\\", a line\\n, a \\/ slash, Your'),
        (TEXT, b'"chunk":"'),
        (TEXT, b'"chunk": "Your'),
        (TEXT, b'"chunk":"\n'),
        (TEXT, b'"chunk":"\x7f'),
        (TEXT, b'"chunk":"<span lang=\'fr\'>'),
        (TEXT, b'"chunk":"e\\u0301'),
        (TEXT, b'"chunk":"\\ud800'),
        (TEXT, b'"chunk":"\xc3\xa9'),
        (TEXT, b'"chunk":"\xff'),
        (TEXT, b'"chunk":"" "'),
        (TEXT, b'"chunk":"","chunk":"Your'),
        (TEXT, b'"correlation_id":"x","chunk":"Your'),
        (TEXT, b'"urgency":"normal","chunk":"Your'),
        (TEXT, b'"chunk":"Your","position":0,"chunk":"'),
        (TEXT, b'"chunk":["Your'),
        (TEXT, b'"text":"Your'),
        (TEXT, b'"chank":"Your'),
        (b"output.streaming", b"state.changed"),
        (b"output.streaming", b"tool.completed"),
        (b'"position":', b'"position":1'),
        (b'"position":', b'"position": '),
        (b'"position":', b'"position":0'),
        (b'"position":', b'"Position":'),
        (b'"complete":false', b'"complete":true'),
        (b'"complete":false', b'"complete":0'),
        (b'"coalesce_hint":"sentence"', b'"coalesce_hint":"completion"'),
        (b'"coalesce_hint":"sentence",', b""),
        (b'"output_id":"out_', b'"output_id":"out_f'),
        (b'"output_id":"out_', b'"output_id":"out-'),
        (b'"content_type":"text/plain"', b'"content_type":"text/plain","extensions":{}'),
        (b'"content_type":"text/plain"', b'"content_type":"plain"'),
        (b"}\n", b"} \n"),
        (b"}\n", b"\n"),
        (b'"event_id":"evt_', b'"event_id":"evt_f'),
        (b'"event_id":"evt_', b'"event_id":"evt_' + b"f" * 64),
        (b'"event_id":"evt_', b'"event_id":"evt_-'),
        (b'"event_id":"evt_', b'"event_id":"evt_","session_id":"'),
        (b'"session_id":"sess_', b'"session_id":"sess_f'),
        (b'Z","producer"', b'z","producer"'),
        (b'Z","producer"', b'+00:00","producer"'),
        (b'"timestamp":"2026', b'"timestamp":"2025'),
        (b'"timestamp":"2026', b'"sequence_number":1,"timestamp":"2026'),
        (b'"verbosity":"normal"', b'"verbosity":"terse"'),
    ],
)
def test_a_chunk_in_the_middle_of_an_output_is_looked_at_closely(old: bytes, new: bytes) -> None:
    lines = [*recording(200)]
    middle = [i for i, line in enumerate(lines) if b"output.streaming" in line and line.count(b'"complete":false')]
    place = middle[5]
    sound = re.sub(rb'"chunk":"[A-Z][a-z]+', TEXT, lines[place]) + b"\n"
    length = len(json.loads(sound)["chunk"]) - len(json.loads(lines[place])["chunk"])
    assert sound.count(old) == 1
    lines[place] = sound.replace(old, new).removesuffix(b"\n")
    # The chunks behind it go on from a length that only a look at this one tells.
    for later in range(place + 1, middle[middle.index(place) + 3] + 1):
        event = json.loads(lines[later])
        lines[later] = compact(event | {"position": event.get("position", 0) + length})
    same(lines)
    same(lines, whole=False)


def output(*chunks: dict[str, Any]) -> list[bytes]:
    """The start of a session, and one output of these chunks, with their positions unless they say others."""
    lines = [line for line in recording(40) if not re.search(rb"agent\.(tool|progress|awaiting)|calling_tool", line)]
    start = next(place for place, line in enumerate(lines) if b"output.streaming" in line)
    events, position = [], 0
    for number, changed in enumerate(chunks):
        event = json.loads(lines[start]) | {
            "chunk": "Word by word. ",
            "position": position,
            "event_id": f"evt_{number}",
        }
        events.append(event | changed)
        position = events[-1]["position"] + len(events[-1]["chunk"])
    return [*lines[:start], *map(compact, events)]


LAST = {"complete": True, "coalesce_hint": "completion"}


@pytest.mark.parametrize(
    ("chunks", "rule"),
    [
        ([{}, {}, {}, LAST], ""),
        ([{}, {}, LAST, {}], "OUT-005"),
        ([{}, {}, LAST, LAST], "OUT-005"),
        ([{}, {}, {"position": 20}, {}], "OUT-001"),
        ([{}, {}, {"position": 0}, {}], "OUT-002"),
        ([{"position": 2**53 - 20}, {}, {}, {}], "ENC-006"),
        # Counted in UTF-8 bytes, and then no longer.
        ([{"chunk": "Naïve. "}, {"position": 8}, {}, {}, {}], "OUT-001"),
        ([{"chunk": "Naïve. "}, {"position": 8}, {}, {"position": 35}, {"position": 49}], "OUT-001"),
        ([{}, {}, {"chunk": "Long. " * 2700}, {}], ""),
    ],
)
def test_an_output_is_followed_to_its_end(chunks: list[dict[str, Any]], rule: str) -> None:
    lines = output(*chunks)
    assert rule in {*same(lines), ""}
    # Each of them a second time is a redelivery, and that is fine.
    assert same([*lines, *lines]) == same(lines)


def test_a_chunk_after_the_agent_stopped_writing_is_told_of() -> None:
    lines = output({}, {}, {}, {})
    pause = next(line for line in recording(100) if b'"from_state":"writing_output"' in line)
    event = json.loads(lines[-1])
    moved = json.loads(pause) | {name: event[name] for name in ("session_id", "timestamp")}
    assert "LVL-007" not in same(lines)
    assert "LVL-007" in same([*lines[:-1], compact(moved), lines[-1]])


def test_what_one_agent_did_is_not_put_down_to_another() -> None:
    """A time before that of another agent's event is warned of; one before that of the agent's own is an error."""
    lines = [line for line in recording(60) if b"agent.progress" not in line]
    done = next(place for place, line in enumerate(lines) if b"tool.completed" in line)
    remarks = [line for line in asides(1, 400) if b'"clerk"' in line][:4]
    session, stamp = (json.loads(lines[done - 1])[name] for name in ("session_id", "timestamp"))
    remarks = [compact(json.loads(line) | {"session_id": session, "timestamp": stamp}) for line in remarks]
    found = judged([*lines[:done], *remarks[:3], lines[done], remarks[3]], Audit(whole=True))
    assert same([*lines[:done], *remarks[:3], lines[done], remarks[3]])
    assert [finding.severity for _, findings in found for finding in findings if finding.rule == "ENV-027"] == [
        "warning"
    ]


@pytest.mark.parametrize("stamp", ["1970-01-01T00:00:05.000Z", "2026-05-24T14:22:05.000Z"])
def test_a_minute_once_seen_does_not_make_every_moment_in_it_sound(stamp: str) -> None:
    start, *_ = lines = [*recording(100)]
    progress = next(line for line in lines if b"progress.updated" in line)
    session = json.loads(start)["session_id"]
    for second in ("00.000", "05.00a", "06,000", "06.0 0", "5 .000", "60.000", "99.000"):
        stamps = [stamp, stamp, f"{stamp[:17]}{second}Z"]
        events = [json.loads(line) for line in (start, progress, progress)]
        recorded = [
            compact(event | {"session_id": session, "timestamp": moment, "event_id": f"evt_{place}"})
            for place, (event, moment) in enumerate(zip(events, stamps, strict=True))
        ]
        expected = {"ENV-021", "ENV-024"} if stamp < "2000" or second != "00.000" else {"ENV-027"}
        assert expected & same(recorded), second


@pytest.mark.parametrize("kind", ["tool_call_id", "output_id", "reply_token", "event_id"])
def test_an_id_of_one_kind_is_not_one_of_another(kind: str) -> None:
    """Whatever ids were found sound before, each only serves where its kind belongs."""
    lines = [*recording(400)]
    assert same(lines) <= {"SEQ-003"}
    other = next(event[kind] for line in lines if kind in (event := json.loads(line)))
    session = json.loads(lines[0])["session_id"]
    borrowed = [line.replace(session.encode(), other.encode()) for line in lines]
    assert "ENV-017" in same(borrowed)


def of_one_producer(count: int, **producer: str) -> list[bytes]:
    """A recording in which the producer says less, or something else, of itself."""
    changed = []
    for line in recording(count):
        event = json.loads(line)
        event["producer"] = {"agent_id": "bank-assistant", **producer}
        changed.append(compact(event))
    return changed


@pytest.mark.parametrize("lines", [[*recording(3000)], of_one_producer(3000), of_one_producer(3000, manifest_uri="x")])
def test_a_rule_runs_again_only_when_what_it_reads_has_changed(lines: list[bytes]) -> None:
    """Notes and warnings on every event cost no more than silence."""
    runs: list[str] = []

    def counting(rule: Any) -> Any:
        def run(event: Envelope) -> Any:
            runs.append(rule.__name__)
            return rule(event)

        return run

    compiled = {cls: rules._EventRules(cls) for cls in CORE_EVENTS.values()}
    for one in compiled.values():
        one._recurring = [counting(rule) for rule in one._recurring]
    for line in lines:
        event = codec._decode_exact(line, bytearray())
        assert event is not None
        found = compiled[type(event)].check(event, line, REGISTRY, False)  # type: ignore[index]  # an event
        assert sorted(map(str, found)) == sorted(map(str, all_rules_run(event, line, REGISTRY)))
    assert len(runs) < len(lines) / 2  # of five rules and more on each


def test_terms_are_kept_to() -> None:
    lines = [*recording(60)]
    filters = {"set": {"/honored_capabilities/event_filters": {"include": ["aaep:agent.*"], "exclude": []}}}
    lines[20:20] = [
        vectors.message({"base": "subscription.request"}),
        vectors.message({"base": "subscription.accepted"} | filters),
    ]
    lines[40:40] = [vectors.message({"base": "subscription.close"})]
    expected = judged_by_every_rule(lines, Audit())
    assert judged(lines, Audit()) == expected
    assert {finding.rule for _, findings in expected for finding in findings} == {"SUB-068"}


def test_strictness_looks_for_secrets_everywhere() -> None:
    lines = [*recording(300)]
    assert judged(lines, Audit(strict=True)) == judged_by_every_rule(lines, Audit(strict=True))


def test_a_sound_recording_has_no_findings() -> None:
    audit = Audit()
    assert judged([*recording(5000)], audit) == []
    assert audit.events == 5000


def test_whatever_was_remembered_an_unsound_event_is_told_of() -> None:
    for line in recording(2000):
        codec.read(line)
    for case in vectors.cases("message"):
        raw = vectors.message(case["message"])
        message = codec._decode_exact(raw, bytearray())
        if isinstance(message, Envelope):
            for strict in (False, True):
                expected = sorted(map(str, rules.check_every_rule(message, raw, REGISTRY, strict=strict)))
                assert sorted(map(str, rules.check(message, raw, REGISTRY, strict))) == expected, case["id"]


def test_the_blocks_looked_through_hold_every_character_from_right_to_left() -> None:
    """I18N-035"""
    missing = [
        code
        for code in range(sys.maxunicode + 1)
        if unicodedata.bidirectional(chr(code)) in ("R", "AL") and not rules._MAYBE_RIGHT_TO_LEFT.search(chr(code))
    ]
    assert missing == []
