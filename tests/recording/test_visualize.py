"""Traces: what happened, how long it took, where it broke a rule, as text, as a drawing and as a page."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from html.parser import HTMLParser
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep import Audit
from aaep.cli._visualize import visualize
from aaep.recording.trace import Trace, render_html, render_svg, render_text
from aaep.recording.trace.model import (
    MAX_STEPS_PER_SECTION,
    SessionTrace,
    Step,
    StepBuffer,
    format_exact_duration,
    quote_text,
)
from aaep.text.html_page import isolate_text, render_page
from bench._recording import recording
from tests import sessions, vectors
from tests.sessions import event, token

ROOT = Path(__file__).parents[2]
BANK = ROOT / "examples" / "bank.ndjson"
ENTRIES: list[dict[str, Any]] = [json.loads(line) for line in BANK.read_text(encoding="utf-8").splitlines()]
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&\u202e\x1b[2J]]>"


def traced(messages: Iterable[bytes | tuple[bytes, str]], *, whole: bool = True, name: str = "test") -> Trace:
    """A trace of messages, in one recording; one may have a subscription, and comes when its own time says."""
    trace = Trace()
    trace.begin_recording(name, Audit(whole=whole))
    for line, one in enumerate(messages, start=1):
        raw, via = one if isinstance(one, tuple) else (one, "")
        trace.feed(raw, line, json.loads(raw).get("timestamp", "") if via else "", via)
    trace.end_recording()
    return trace


def steps(trace: Trace) -> list[Step]:
    return [*trace.session_traces[-1].steps]


def page(trace: Trace) -> str:
    return "".join(render_html(trace))


def drawing(trace: Trace) -> ElementTree.Element:
    return ElementTree.fromstring("".join(render_svg(trace)))


def words(element: ElementTree.Element) -> str:
    return " ".join(element.itertext())


def reply(number: int, decision: str, asked: int = 2) -> bytes:
    given = {"base": "confirmation.reply", "set": {"/reply_token": token(asked), "/decision": decision}}
    return vectors.message(given, number)


def asking(*after: bytes, timeout: int = 300, default: str = "reject") -> list[bytes]:
    """A session that asks, and what comes then."""
    members = {"reply_token": token(2), "timeout_seconds": timeout, "default_decision": default, "extra_context": {}}
    return [
        event("session.started", 0),
        event("state.changed", 1, from_state="idle", to_state="awaiting_input"),
        event("awaiting.confirmation", 2, **members),
        *after,
    ]


# -- the trace -------------------------------------------------------------------------------


def test_the_example_is_told_in_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert visualize([str(BANK)]) == 0
    told = capsys.readouterr().out
    lines = told.splitlines()
    assert lines[0] == "bank.ndjson: 16 events in 1 session, and 4 other messages."
    assert lines[-1] == "Result: no errors, no warnings."
    assert "It began on 3 November 2026 at 09:14:06 UTC, lasted 16.2 seconds and completed." in lines
    assert "16 events: 2 calls of tools, 1 output, 1 prompt." in lines
    asked = next(line for line in lines if "Confirmation is asked for" in line)
    assert '"Transfer 500 dollars from checking to savings." It lasted 11.2 seconds: accepted.' in asked
    assert "A reply comes: accept." in told
    assert all(line.rstrip().endswith((".", '"')) for line in lines if line)  # read aloud, each is a sentence


def test_a_broken_rule_stands_directly_behind_the_step_that_broke_it() -> None:
    trace = traced(
        [
            event("session.started", 0),
            event("tool.invoked", 1, tool="wipe_disk", risk_level="high", irreversible=True),
            event("session.completed", 2, tool_invocations_count=1),
        ]
    )
    lines = [*render_text(trace)]
    at = next(place for place, line in enumerate(lines) if "Tool wipe disk is called" in line)
    told = [line.strip() for line in lines[at + 1 : at + 4]]
    wanted = "Error TOOL-002, section 4.3.1"
    assert any(line.startswith(wanted) and "line 2. The tool needs the user's consent" in line for line in told)
    call = steps(trace)[1]
    assert (call.seconds, call.outcome) == (1.0, "never completed")


@pytest.mark.parametrize(
    ("after", "whole", "ended", "seconds"),
    [
        ([reply(5, "accept")], True, "accepted", 3.0),
        ([reply(5, "reject")], True, "refused", 3.0),
        ([event("progress.updated", 40)], True, "nobody answered in time, so it was refused", 30.0),
        ([event("session.cancelled", 4)], True, "withdrawn", 2.0),
        ([sessions.outcome(4, token(2), "rejected")], False, "refused", 2.0),
        (
            [event("state.changed", 4, from_state="awaiting_input", to_state="thinking")],
            False,
            "over, but the recording does not show how",
            2.0,
        ),
        ([], False, "", None),
    ],
)
def test_a_prompt_says_how_it_ended_and_when(
    after: list[bytes], whole: bool, ended: str, seconds: float | None
) -> None:
    trace = traced(asking(*after, timeout=30), whole=whole)
    prompt = next(step for step in steps(trace) if step.kind == "prompt" and step.has_duration)
    assert (prompt.outcome, prompt.seconds) == (ended, seconds)
    if seconds is None:
        assert any("It never ended in this recording." in line for line in render_text(trace))


def test_a_prompt_that_time_accepts_says_so() -> None:
    trace = traced(asking(event("progress.updated", 40), timeout=30, default="accept"))
    prompt = next(step for step in steps(trace) if step.kind == "prompt")
    assert prompt.outcome == "nobody answered in time, so it was accepted"


def test_calls_that_run_side_by_side_end_each_for_itself() -> None:
    low = {"risk_level": "low", "irreversible": False}
    trace = traced(
        [
            event("session.started", 0),
            event("state.changed", 1, from_state="idle", to_state="calling_tool"),
            event("tool.invoked", 2, tool="a", tool_call_id="call_1", **low),
            event("tool.invoked", 3, tool="a", tool_call_id="call_2", **low),
            event("tool.completed", 5, tool="a", tool_call_id="call_2", status="success"),
            event("tool.completed", 9, tool="a", tool_call_id="call_1", status="error", error_message="No luck."),
        ],
        whole=False,
    )
    calls = [step for step in steps(trace) if step.kind == "tool"]
    assert [(one.seconds, one.outcome) for one in calls if one.has_duration] == [(7.0, "failed"), (2.0, "successful")]
    assert calls[-1].quote == "No luck."
    bars = [one for one in drawing(trace).findall(".//{*}rect") if "tool" in one.get("class", "")]
    assert len({bar.get("y") for bar in bars}) == 2  # none covers the other


def test_the_pieces_of_an_output_are_one_step_and_so_is_progress_after_progress() -> None:
    pieces = [
        event(
            "output.streaming",
            2 + at,
            chunk="ab",
            position=2 * at,
            complete=at == 9,
            output_id="out_1",
            coalesce_hint="completion" if at == 9 else "none",
        )
        for at in range(10)
    ]
    more = [event("progress.updated", 20 + at, progress={"percent": 10 * at}) for at in range(5)]
    moved = event("state.changed", 1, from_state="idle", to_state="writing_output")
    trace = traced([event("session.started", 0), moved, *pieces, *more], whole=False)
    output = next(step for step in steps(trace) if step.kind == "output")
    assert (output.count, output.size, output.quote, output.outcome, output.seconds) == (
        10,
        20,
        "ab" * 10,
        "complete",
        9,
    )
    progress = next(step for step in steps(trace) if step.kind == "progress")
    assert (progress.count, progress.text) == (5, "Progress: 40 percent.")
    assert [step.kind for step in steps(trace)][:4] == ["session", "state", "output", "progress"]


def test_a_piece_that_breaks_a_rule_stands_by_itself() -> None:
    moved = event("state.changed", 1, from_state="idle", to_state="writing_output")
    first = event("output.streaming", 2, chunk="Hello there.", position=0, complete=False, output_id="out_1")
    wrong = event("output.streaming", 3, chunk="Again.", position=99, complete=True, output_id="out_1")
    trace = traced([event("session.started", 0), moved, first, wrong], whole=False)
    alone = next(step for step in steps(trace) if step.text == "A piece of output at position 99.")
    assert [mark.rule for mark in alone.findings if mark.severity != "info"] == ["OUT-001"]
    assert alone.line == 4


def test_pieces_that_break_the_same_rule_one_after_the_other_are_one_step() -> None:
    moved = event("state.changed", 1, from_state="idle", to_state="writing_output")
    said = {"complete": False, "output_id": "out_1", "coalesce_hint": None}
    pieces = [event("output.streaming", 2, chunk="Hello.", position=0, **said)]
    pieces += [event("output.streaming", 3 + at, chunk="No end", position=6 * at + 6, **said) for at in range(5)]
    trace = traced([event("session.started", 0), moved, *pieces], whole=False)
    run = next(step for step in steps(trace) if step.text.startswith("A piece of output"))
    assert (run.count, run.seconds, [mark.rule for mark in run.findings]) == (5, 4.0, ["LVL-010"])
    assert trace.session_traces[0].rule_counts["LVL-010"] == 5


def test_what_is_delivered_again_is_counted_and_not_told() -> None:
    moved = event("state.changed", 1, from_state="idle", to_state="thinking")
    trace = traced([event("session.started", 0), moved, moved, moved], whole=False)
    assert [step.kind for step in steps(trace)][:2] == ["session", "state"]
    assert trace.session_traces[0].repeated_count == 2
    assert "2 events came more than once." in [*render_text(trace)]


def test_the_same_session_on_two_subscriptions_is_two_tracks() -> None:
    trace = traced([(event("session.started", 0), via) for via in ("sub_1", "sub_2")], whole=False)
    assert [(track.number, track.subscription_id, track.event_count) for track in trace.session_traces] == [
        (1, "sub_1", 1),
        (2, "sub_2", 1),
    ]
    ends = [[*track.steps][-1].findings[-1].rule for track in trace.session_traces]
    assert ends == ["SEQ-003", "SEQ-003"]  # each did not end


def test_two_agents_have_a_state_lane_each() -> None:
    one, other = {"agent_id": "one", "agent_name": "One"}, {"agent_id": "other", "agent_name": "Other"}
    trace = traced(
        [
            event("session.started", 0, producer=one),
            event("state.changed", 1, from_state="idle", to_state="thinking", producer=one),
            event("state.changed", 2, from_state="idle", to_state="deciding", producer=other),
        ],
        whole=False,
    )
    shown = words(drawing(trace))
    assert "State, One" in shown and "State, Other" in shown
    assert "By Other." in page(trace)


def test_a_part_of_another_session_says_so() -> None:
    ours = {"attend": {"parent_session_id": "sess_parent"}}
    started = event("session.started", 0, extensions=ours, **{"@context": [sessions.CORE, sessions.ATTEND]})
    assert "It is a part of session sess_parent." in [*render_text(traced([started], whole=False))]


def test_gaps_and_lines_that_hold_no_message_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lost = {"at": "2026-11-03T09:14:07.000000Z", "via": ENTRIES[1]["via"], "gap": "lost", "why": "It went away."}
    lines = [json.dumps(one) for one in [*ENTRIES[:6], lost, *ENTRIES[6:]]]
    file = tmp_path / "c.ndjson"
    file.write_text("\n".join([*lines[:8], "{nonsense", *lines[8:]]) + "\n", encoding="utf-8")
    assert visualize([str(file)]) == 1
    told = capsys.readouterr().out
    assert told.count('The connection was lost. "It went away."') == 2  # in the session, and outside it
    assert "A line could not be read." in told
    assert "Error ENC-001" in told and "line 9. The line is not JSON" in told


def test_what_follows_a_recorded_loss_breaks_no_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missed = {"at": "2026-11-03T09:14:07.000000Z", "via": ENTRIES[1]["via"], "gap": "missed"}
    file = tmp_path / "c.ndjson"
    file.write_text("\n".join(map(json.dumps, [*ENTRIES[:5], missed, *ENTRIES[7:]])) + "\n", encoding="utf-8")
    assert visualize([str(file)]) == 0
    assert "Something is missing here for good." in capsys.readouterr().out


def test_an_answer_that_the_producer_gave_itself_is_told_outside_the_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entries = [
        {**entry, "dir": "out"} if entry.get("message", {}).get("type") == "confirmation.reply" else entry
        for entry in ENTRIES
    ]
    file = tmp_path / "c.ndjson"
    file.write_text("\n".join(map(json.dumps, entries)) + "\n", encoding="utf-8")
    assert visualize([str(file)]) == 1
    told = capsys.readouterr().out
    assert "A message came from the wrong side and does not count." in told
    assert "Error CONF-063" in told


def test_the_trace_finds_what_the_audit_finds() -> None:
    """Nothing that breaks a rule is lost between the two, whatever is fed."""
    for case in vectors.cases("sequence"):
        whole = case.get("whole", True)
        audit, trace = Audit(whole=whole), Trace()
        trace.begin_recording("test", Audit(whole=whole))
        found = []
        for number, step in enumerate(case["steps"]):
            at = vectors.moment(step.get("at", number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            raw, via = vectors.message(step, number), step.get("via", vectors.VIA)
            found += audit.feed(raw, at, via)
            trace.feed(raw, number + 1, at, via)
        found += audit.finish()
        trace.end_recording()
        marks = [mark for track in trace.session_traces for step in track.steps for mark in step.findings]
        assert Counter(mark.rule for mark in marks) >= Counter({one.rule for one in found}), case["name"]
        counts: Counter[str] = sum((Counter(track.severity_counts) for track in trace.session_traces), Counter())
        told_twice = sum(1 for one in found if one.rule.startswith(("CONF", "CLAR")))  # on each track that asked
        assert sum(counts.values()) - len(found) in range(told_twice + 1), case["name"]


@pytest.mark.parametrize("kind", ["message", "sequence"])
def test_whatever_is_wrong_with_a_message_it_can_be_shown(kind: str) -> None:
    trace = Trace()
    trace.begin_recording("test", Audit())
    line = 0
    for case in vectors.cases(kind):
        for step in case.get("steps") or [case["message"]]:
            line += 1
            trace.feed(vectors.message(step, line), line)
    trace.end_recording()
    assert "".join(render_text(trace)) and page(trace)
    assert drawing(trace).get("role") == "img"


# -- long recordings -------------------------------------------------------------------------


def test_of_a_long_session_the_first_the_last_and_the_broken_steps_are_kept() -> None:
    kept = StepBuffer()
    mark = SessionTrace("sess_1", "", "test")
    for number in range(10 * MAX_STEPS_PER_SECTION):
        step = Step(float(number), "state", f"{number}")
        if number == 5 * MAX_STEPS_PER_SECTION:
            mark.add_findings(step, Audit().feed(b"not JSON"), number)
        kept.add(step)
    told = [step.text for step in kept]
    assert told[:MAX_STEPS_PER_SECTION] == [str(number) for number in range(MAX_STEPS_PER_SECTION)]
    assert told[-MAX_STEPS_PER_SECTION:] == [
        str(number) for number in range(9 * MAX_STEPS_PER_SECTION, 10 * MAX_STEPS_PER_SECTION)
    ]
    assert told[MAX_STEPS_PER_SECTION].startswith(
        f"From here on {8 * MAX_STEPS_PER_SECTION - 1:,} steps are left out: state {8 * MAX_STEPS_PER_SECTION - 1:,}."
    )
    assert told[MAX_STEPS_PER_SECTION + 1] == str(5 * MAX_STEPS_PER_SECTION)
    assert len(told) == len(kept) == 2 * MAX_STEPS_PER_SECTION + 2


_PEAK = """
import resource, sys
from aaep import Audit
from aaep.recording.trace import Trace, render_html, render_svg, render_text
from tests.sessions import event
count, trace = int(sys.argv[1]), Trace()
trace.begin_recording("test", Audit())
trace.feed(event("session.started", 0))
trace.feed(event("state.changed", 1, from_state="idle", to_state="writing_output"))
chunk = event("output.streaming", 2, chunk="ab", position=123456, complete=False, output_id="out_1")
moved = event("state.changed", 3, from_state="writing_output", to_state="writing_output")
for at in range(count // 2):
    named = chunk.replace(b'"evt_', b'"evt_c%d' % at)
    trace.feed(named.replace(b"123456", b"%d" % (2 * at)))
    trace.feed(moved.replace(b'"evt_', b'"evt_m%d' % at))
trace.end_recording()
sizes = [sum(map(len, made(trace))) for made in (render_text, render_svg, render_html)]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, trace.event_count, *sizes)
"""


def _peak(events: int) -> list[int]:
    command = [sys.executable, "-c", _PEAK, str(events)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=600)
    return [int(number) for number in done.stdout.split()]


def test_memory_and_what_is_shown_do_not_grow_with_the_events_of_a_session() -> None:
    short, long = _peak(10_000), _peak(100_000)
    assert long[1] == 100_002
    assert long[0] - short[0] < 16  # MiB, for ten times the events
    for one, other in zip(short[2:], long[2:], strict=True):
        assert other < 1.2 * one


def test_a_hundred_thousand_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, drawn, shown = tmp_path / "long.ndjson", tmp_path / "long.svg", tmp_path / "long.html"
    with file.open("wb") as out:
        out.writelines(line + b"\n" for line in recording(100_000))
    assert visualize([str(file)], str(drawn), str(shown)) == 0
    told = capsys.readouterr().out
    number = int(re.search(r"100,000 events in ([\d,]+) sessions", told)[1].replace(",", ""))  # type: ignore[index]  # it is printed, or the test fails here
    made = shown.read_text(encoding="utf-8")
    assert made.count('<section class="session"') == number > 1000
    assert f"Session {number}: Bank Assistant" in made
    assert "only the sum and what broke a rule are shown" in made
    assert len(made) < 20_000_000
    assert ElementTree.parse(drawn).getroot().get("role") == "img"
    assert re.search(r"[\d,]+ more sessions broke no rule", told)


def test_a_session_that_broke_a_rule_is_shown_before_those_that_did_not() -> None:
    fine = [
        event(name, number, session_id=f"sess_{which}", event_id=f"evt_{which}x{number}")
        for which in range(20)
        for number, name in enumerate(("session.started", "session.completed"))
    ]
    broken = event("tool.completed", 50, session_id="sess_bad", tool="x", status="success")
    trace = traced([*fine, event("session.started", 49, session_id="sess_bad"), broken], whole=False)
    told = "\n".join(render_text(trace, max_steps=3))
    assert "Error TOOL-010" in told and "sess_bad" in told
    assert "20 more sessions broke no rule." in told
    assert "Error TOOL-010" in words(ElementTree.fromstring("".join(render_svg(trace, max_steps=3))))
    assert "20 sessions are not drawn." in "".join(render_svg(trace, max_steps=3))


# -- the drawing -----------------------------------------------------------------------------


def test_the_drawing_has_lanes_and_says_in_words_what_it_shows() -> None:
    trace = traced([event("session.started", 0), event("tool.completed", 3, tool="x", status="success")])
    root = drawing(trace)
    shown = [words(one) for one in root.findall(".//{*}text")]
    assert all(lane in shown for lane in ("State", "Tool", "Output", "Prompt", "Rules"))
    assert "Error TOOL-010" in shown  # in letters, not by colour alone
    title, said = (root.findall(f".//{{*}}{name}")[0] for name in ("title", "desc"))
    assert root.get("aria-labelledby") == f"{title.get('id')} {said.get('id')}"
    assert "TOOL-010" in words(said) and "1 event" not in words(said)
    assert "prefers-color-scheme:dark" in words(root)


def test_what_did_not_end_is_drawn_open_to_the_end() -> None:
    moved = event("state.changed", 1, from_state="idle", to_state="thinking")
    root = drawing(traced([event("session.started", 0), moved, event("progress.updated", 9)], whole=False))
    bar = next(one for one in root.findall(".//{*}rect") if "state" in one.get("class", ""))
    assert "open" in bar.get("class", "")
    assert float(bar.get("x", "")) + float(bar.get("width", "")) == pytest.approx(980, abs=1)


# -- the page --------------------------------------------------------------------------------


class Page(HTMLParser):
    """What a browser would make of a page, as far as these tests look."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open = ""
        self.feed(source)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag

    def handle_data(self, data: str) -> None:
        if self._open in self.inside:
            self.inside[self._open].append(data)

    def handle_endtag(self, tag: str) -> None:
        self._open = ""


def evil() -> Trace:
    """Everything a recording may say, said by somebody who wants to get out of it."""
    producer = {"agent_id": EVIL, "agent_name": EVIL}
    return traced(
        [
            event("session.started", 0, summary_normal=EVIL, producer=producer, session_id=EVIL),
            event("state.changed", 1, from_state=EVIL, to_state=EVIL, producer=producer, session_id=EVIL),
            event("tool.invoked", 2, tool=EVIL, summary_normal=EVIL, producer=producer, session_id=EVIL),
            event("output.streaming", 3, chunk=EVIL, language=EVIL, producer=producer, session_id=EVIL, event_id=EVIL),
            event("awaiting.confirmation", 4, action=EVIL, producer=producer, session_id=EVIL),
            event("session.completed", 5, summary_normal=EVIL, type=f"x:{EVIL}", producer=producer, session_id=EVIL),
        ],
        name=EVIL,
    )


def test_nothing_that_was_recorded_can_run_or_look_like_ours() -> None:
    made = page(evil())
    found = Page(made)
    assert Counter(tag for tag, _ in found.tags)["script"] == 1
    assert not [tag for tag, _ in found.tags if tag in ("img", "iframe", "object", "embed", "link", "base")]
    for tag, attributes in found.tags:
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style")], tag
        assert (attributes.get("href") or "#").startswith("#")
    shown = "".join(render_svg(evil()))
    for one in (made, shown, "\n".join(render_text(evil()))):
        assert "\u202e" not in one and "\x1b" not in one
        assert "<script>alert" not in one and "<img" not in one
    assert {child.tag.rpartition("}")[2] for child in drawing(evil()).iter()} <= {
        *("svg", "title", "desc", "style", "rect", "text", "path", "g")
    }


def test_the_policy_lets_only_our_own_style_and_script_in() -> None:
    found = Page(page(evil()))
    policy = next(a["content"] or "" for _, a in found.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert "default-src 'none'" in policy and "unsafe" not in policy
    for kind, parts in found.inside.items():
        digest = base64.b64encode(hashlib.sha256("".join(parts).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_the_page_is_a_table_for_each_session_with_headings_and_unique_ids() -> None:
    found = Page(page(traced([event("session.started", 0), event("session.started", 1, session_id="sess_2")])))
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len({*ids})
    names = {*ids}
    for _, attributes in found.tags:
        for name in ("aria-labelledby", "for"):
            assert {*(attributes.get(name) or "").split()} <= names
        if (target := attributes.get("href")) is not None:
            assert target[1:] in names
    tables = [attributes for tag, attributes in found.tags if tag == "table" and attributes.get("class") == "steps"]
    assert len(tables) == 2
    assert Counter(tag for tag, _ in found.tags)["h1"] == 1
    assert ("html", {"lang": "en"}) in found.tags


def test_a_broken_rule_stands_in_words_in_the_row_of_its_step() -> None:
    made = page(traced([event("session.started", 0), event("tool.completed", 3, tool="x", status="success")]))
    row = next(one for one in made.split("<tr ") if "Tool x is done" in one)
    assert "<strong>Error TOOL-010</strong>" in row and 'data-broken="1"' in row
    assert "The tool was never announced with tool.invoked." in row
    assert '<th scope="row">TOOL-010</th>' in made  # and what the rule asks for, once


def test_other_peoples_text_says_its_language_if_that_is_known() -> None:
    assert isolate_text("Hola", "es-MX") == '<bdi lang="es-MX">Hola</bdi>'
    assert isolate_text("<b>", 'x" onclick="y') == "<bdi>&lt;b&gt;</bdi>"
    hints = {"primary_language": "es-MX"}
    started = event("session.started", 0, summary_normal="Hola.", localization_hints=hints)
    assert '<bdi lang="es-MX">Hola.</bdi>' in page(traced([started], whole=False))


def test_a_page_without_a_script_allows_none() -> None:
    assert "script-src" not in "".join(render_page("Title", ["<p>Text</p>"]))


def test_secrets_are_not_shown() -> None:
    started = event("session.started", 0, summary_normal="Using sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD now.")
    trace = traced([started], whole=False)
    for made in (render_text(trace), render_svg(trace), render_html(trace)):
        assert "sk-abcdefghij" not in "".join(made)


TEXTS = st.text(st.characters(codec="utf-8") | st.sampled_from("<>&\"'\u202e\u2028\u2066\ufffe\x00"), max_size=60)


@given(sessions.legal(), TEXTS, TEXTS)
def test_any_text_in_any_session_can_be_shown(made: list[bytes], one: str, other: str) -> None:
    changed = []
    for raw in made:
        message = json.loads(raw)
        message.update({"summary_normal": one or "x"} if "summary_normal" in message else {})
        message.update({"tool": other or "x"} if "tool" in message else {})
        message["producer"]["agent_name"] = one or "x"
        changed.append(json.dumps(message).encode())
    trace = traced(changed, name=other)
    assert trace.event_count == len(made)
    assert drawing(trace) is not None
    found = Page(page(trace))
    plain = Page(page(traced(made)))
    same = {"bdi", "span"}  # how much text there is may differ; what it is may not
    assert {tag for tag, _ in found.tags} - same == {tag for tag, _ in plain.tags} - same | {
        *({"ul", "li", "strong", "table", "thead", "tbody", "tr", "th", "td", "g"} & {tag for tag, _ in found.tags})
    }
    for line in chain(render_text(trace)):
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]", line)


# -- words -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "no time"),
        (0.001, "1 millisecond"),
        (0.4204, "420 milliseconds"),
        (0.9996, "1 second"),
        (1.04, "1 second"),
        (12.34, "12.3 seconds"),
        (59.96, "1 minute"),
        (3725, "1 hour and 2 minutes"),
    ],
)
def test_a_length_of_time_as_one_says_it(seconds: float, said: str) -> None:
    assert format_exact_duration(seconds) == said


def test_a_quotation_is_cut_at_a_word_and_says_so() -> None:
    assert quote_text("word " * 100).endswith("word…") and len(quote_text("word " * 100)) <= 241
    assert quote_text("Short.") == "Short."
    assert quote_text(None) == quote_text(5) == ""


# -- the command -----------------------------------------------------------------------------


def test_the_drawing_and_the_page_are_written_whole_and_over_nothing_that_is_read(tmp_path: Path) -> None:
    file = tmp_path / "bank.ndjson"
    file.write_bytes(BANK.read_bytes())
    read, twice = str(file), str(tmp_path / "x")
    for svg_file, html_file in ((read, None), (None, read), (twice, twice)):
        with pytest.raises(click.ClickException, match="given twice"):
            visualize([str(file)], svg_file, html_file)
    assert file.read_bytes() == BANK.read_bytes()
    assert visualize([str(file)], str(tmp_path / "b.svg"), str(tmp_path / "b.html")) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.html", "b.svg", "bank.ndjson"]
    missing = str(tmp_path / "missing" / "b.html")
    with pytest.raises(click.ClickException, match=f"^{missing}: No such file or directory.$"):
        visualize([str(file)], None, missing)


def test_a_target_that_is_no_plain_file_stays_what_it_is(tmp_path: Path) -> None:
    visualize([str(BANK)], "/dev/null")
    assert not Path("/dev/null").is_file()
    real, link = tmp_path / "real.html", tmp_path / "link.html"
    real.write_text("old")
    real.chmod(0o644)
    link.symlink_to(real)
    visualize([str(BANK)], None, str(link))
    assert link.is_symlink() and "<html" in real.read_text() and real.stat().st_mode & 0o777 == 0o644


def test_times_that_cannot_be_read_or_go_back_do_no_harm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entries = [json.loads(json.dumps(one)) for one in ENTRIES]
    entries[6]["at"] = "yesterday"
    entries[8]["at"] = "2026-11-03T09:14:05.234Z"
    entries[1]["at"] = entries[2]["at"] = ""
    file = tmp_path / "c.ndjson"
    file.write_text("".join(json.dumps(one) + "\n" for one in entries), encoding="utf-8")
    assert visualize([str(file)], str(tmp_path / "c.svg"), str(tmp_path / "c.html")) == 1
    told = capsys.readouterr().out
    assert "Error VAL-001" in told and "line 7. The line is not an entry of a capture: at is not a timestamp" in told
    assert "16 events in 1 session" in told  # the message itself is sound
    assert "1 second before the beginning: " in told
    assert "At an unknown time: A reader asked to subscribe." in told
    assert "lasted 16.2 seconds and completed" in told


@pytest.mark.parametrize(
    ("base", "told"),
    [
        ("subscription.request", 'A reader asked to subscribe. "Terminal Reader"'),
        ("subscription.rejected", 'The subscription was rejected. "Too many readers are connected.'),
        ("subscription.close", 'The subscription was closed. "The reader is closing."'),
    ],
)
def test_what_a_side_says_of_the_subscription_is_told(base: str, told: str) -> None:
    lines = [*render_text(traced([vectors.message({"base": base}, 1)], whole=False))]
    assert any(told in line for line in lines), lines


def test_several_recordings_are_one_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = tmp_path / "bare.ndjson"
    bare.write_bytes(event("session.started", 0) + b"\n")
    document_ = tmp_path / "list.json"
    document_.write_bytes(b"[" + event("session.started", 1) + b",\n" + event("session.completed", 2) + b"]")
    visualize([str(bare), str(document_)])
    told = capsys.readouterr().out
    assert told.splitlines()[0] == "bare.ndjson, list.json: 3 events in 2 sessions."
    assert "Session 1: Bank Assistant, from bare.ndjson." in told
    assert "Session 2: Bank Assistant, from list.json." in told


def test_what_holds_no_message_cannot_be_shown(tmp_path: Path) -> None:
    file = tmp_path / "empty"
    file.write_bytes(b"\n")
    with pytest.raises(click.ClickException, match="There is no message in it"):
        visualize([str(file)])


# -- the guide -------------------------------------------------------------------------------


def test_the_guide_shows_what_is_printed(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
    found = re.findall(r"^```(\w*)\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    told, shown = (one.strip() for kind, one in found if kind == "sh")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    (tmp_path / "examples").symlink_to(ROOT / "examples")

    def run(command: str) -> subprocess.CompletedProcess[str]:
        given: dict[str, Any] = {"cwd": tmp_path, "env": {**os.environ, "PATH": path}, "capture_output": True}
        return subprocess.run(command, shell=True, check=False, text=True, **given)

    done = run(told)
    assert done.returncode == 1
    printed = iter(done.stdout.splitlines())
    for line in next(one for kind, one in found if kind == "text").splitlines():
        assert line in printed, line  # in this order
    assert run(shown).returncode == 0
    assert (tmp_path / "bank.html").exists() and (tmp_path / "bank.svg").exists()


# -- how sessions end ------------------------------------------------------------------------


def test_a_prompt_that_is_open_at_the_end_has_the_time_of_the_recording() -> None:
    trace = Trace()
    trace.begin_recording("test", Audit())
    for line, raw in enumerate(asking(), start=1):
        trace.feed(raw, line, json.loads(raw)["timestamp"], "sub_1")
    trace.add_gap("lost", "", 4, "2026-05-24T14:22:22.000Z", "sub_1")
    trace.end_recording()
    session = trace.session_traces[-1]
    assert session.seconds == 22
    assert session.seconds_by_state["awaiting input"] == 21
    assert "lasted 22 seconds and did not end" in "\n".join(render_text(trace))


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ([("session.completed", {})], "completed"),
        ([("session.errored", {})], "ended with an error"),
        ([("session.cancelled", {})], "was cancelled"),
        ([("handoff.requested", {}), ("session.completed", {})], "was handed over and completed"),
        ([], "did not end"),
    ],
)
def test_the_drawing_and_the_list_tell_how_a_session_ended(end: list[tuple[str, Any]], outcome: str) -> None:
    other = [
        event("session.started", 0, session_id="sess_other"),
        event("session.completed", 1, session_id="sess_other"),
    ]
    ending = [event(name, 11 + number, **members) for number, (name, members) in enumerate(end)]
    trace = traced([event("session.started", 10), *ending, *other])
    titles = [words(element) for element in drawing(trace).iter() if element.get("class") == "title"]
    assert f"; {outcome};" in titles[1]
    assert f"The session {outcome}." in words(drawing(trace))
    assert f"</a>: {outcome}, " in page(trace)


def test_the_page_lists_notes_only_when_asked() -> None:
    trace = traced([event("session.started", 0, producer={"agent_id": "bank"})], whole=False)
    assert "ENV-032" not in page(trace)
    assert "ENV-032" in "".join(render_html(trace, notes=True))
