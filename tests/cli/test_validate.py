"""``aaep validate``: every form of input, both outputs, and how it ends."""

from __future__ import annotations

import copy
import gc
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from aaep import Audit, ExtensionError, Finding, Profile, Registry, Violation
from aaep.cli import main, validate
from aaep.cli._report import TextReport
from aaep.protocol.attend_extension import ATTEND
from aaep.protocol.audit import Direction
from aaep.protocol.framing import MAX_MESSAGE_BYTES
from aaep.recording import recordings

ROOT = Path(__file__).parents[2]
BANK = ROOT / "examples" / "bank.ndjson"
ENTRIES: list[dict[str, Any]] = [json.loads(line) for line in BANK.read_text(encoding="utf-8").splitlines()]
EVENTS: list[dict[str, Any]] = [e["message"] for e in ENTRIES[1:] if e["message"]["type"].startswith("aaep:agent.")]
SESSION = EVENTS[0]["session_id"]
HEADER = {"aaep_capture": 1, "source": "test", "started": "2026-11-03T09:14:02.118Z", "terms": {}}


def dumped(values: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(value, separators=(",", ":")).encode() + b"\n" for value in values)


def run(*args: str | Path, data: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["validate", *map(str, args)], input=data)


def findings(*args: str | Path, data: bytes | None = None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in run("--json", *args, data=data).stdout.splitlines()]


def told(found: list[dict[str, Any]]) -> list[tuple[int | None, str, str]]:
    return [(one["line"], one["rule"], one["severity"]) for one in found if one["severity"] != "info"]


def broken(event: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**event, **changes}


def surrogate_inputs() -> Iterator[Any]:
    others = {name: value for name, value in EVENTS[-1].items() if name != "summary_normal"}
    line = json.dumps({**others, "summary_normal": "Done \ud83d"}).encode()  # the last member, so that it looks cut
    yield pytest.param(line + b"\n", 1, id="a line")
    yield pytest.param(line, 1, id="a last line without a newline")
    yield pytest.param(b"[\n" + line + b",\n" + line + b"\n]", 2, id="a list")
    entry = b'{"at":"2026-11-03T09:14:02.118Z","message":' + line + b',"via":"sub_1"}'
    yield pytest.param(dumped([HEADER]) + entry + b"\n", 2, id="a capture")
    yield pytest.param(dumped([HEADER]) + entry, 2, id="a capture without a last newline")


@pytest.mark.parametrize(("data", "line"), [*surrogate_inputs()])
def test_half_a_surrogate_pair_is_named_wherever_it_stands(data: bytes, line: int) -> None:
    """C-26: it is neither called a cut recording nor bad JSON, and nothing else is said of it."""
    found = [one for one in findings("-", data=data) if one["severity"] != "info"]
    assert {(one["rule"], one["severity"]) for one in found} == {("ENC-001", "error")}
    assert found[0]["line"] == line
    assert all("half a character" in one["message"] for one in found)
    assert run("-", data=data).exit_code == 1


def test_a_line_that_is_too_long_does_not_accuse_the_next() -> None:
    padded = broken(EVENTS[1], summary_detailed="a" * (MAX_MESSAGE_BYTES + 1))
    data = dumped([EVENTS[0], padded, *EVENTS[2:]])
    assert told(findings("-", data=data)) == [(2, "LIM-001", "error")]


# -- forms of input ------------------------------------------------------------------


@pytest.mark.parametrize("level", ["1", "2", "3"])
def test_the_example_has_no_findings_at_all(level: str) -> None:
    result = run("--strict", "--notes", "--level", level, BANK)
    assert (result.exit_code, result.stdout.splitlines()[-1]) == (0, "Result: no errors, no warnings.")
    assert findings("--strict", "--level", level, BANK) == []


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("lead", [b"", b"\n\n", b"\xef\xbb\xbf"])
def test_a_single_object_is_read_however_it_is_laid_out(indent: int | None, lead: bytes) -> None:
    data = lead + json.dumps(broken(EVENTS[0], verbosity="loud"), indent=indent).encode()
    assert (lead.count(b"\n") + 1, "ENV-037", "error") in told(findings("-", data=data))
    assert run("-", data=lead + json.dumps(EVENTS[0], indent=indent).encode()).exit_code == 0


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_of_messages_is_read_and_each_is_told_by_its_line(indent: int | None) -> None:
    data = json.dumps([*EVENTS[:2], broken(EVENTS[2], verbosity="loud")], indent=indent).encode()
    found = told(findings("-", data=data))
    before = data[: data.index(b"loud")].rsplit(b'"@context"', 1)[0]
    assert found == [(before.count(b"\n") + (0 if indent else 1), "ENV-037", "error")]
    assert run("-", data=json.dumps(EVENTS, indent=indent).encode()).exit_code == 0


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "end", [b"", b",", b",\n{", b',\n{"a": nope}]', b"{}]", b",]", b"] more", b',"\xff', b"\x00", b"," + b"[" * 100_000]
)
def test_the_whole_items_of_a_list_that_is_cut_or_broken_are_judged(indent: int | None, end: bytes) -> None:
    events = [*EVENTS[:2], broken(EVENTS[2], verbosity="loud"), EVENTS[3]]
    sound = json.dumps(events, indent=indent).encode().rstrip(b"]\n")
    found = told(findings("-", data=sound + end))
    assert [one[1:] for one in found] == [("ENV-037", "error"), ("ENC-001", "error")]
    assert found[-1][0] == sound.count(b"\n") + 1
    assert run("-", data=sound + end).stdout.startswith("standard input: 4 events in 1 session.")


def test_a_list_that_is_not_json_is_one_error() -> None:
    assert told(findings("-", data=json.dumps(EVENTS).encode()[:-5])) == [(1, "ENC-001", "error")]


def test_bare_messages_are_read_line_by_line() -> None:
    result = run("-", data=dumped(EVENTS))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == f"standard input: {len(EVENTS)} events in 1 session."


def test_layout_within_a_line_and_other_line_ends_make_no_difference() -> None:
    data = b"".join(b"  " + json.dumps(event).encode() + b" \r\n" for event in EVENTS)
    assert run("-", data=data).exit_code == 0


def test_blank_lines_are_skipped_and_counted_in_the_line_numbers() -> None:
    data = b"\n\n" + dumped(EVENTS[:1]) + b"\n \n" + dumped([broken(EVENTS[1], verbosity="loud")])
    assert told(findings("-", data=data)) == [(6, "ENV-037", "error")]


@pytest.mark.parametrize("blank", [0, 1, 3])
def test_a_bad_line_does_not_stop_the_rest_even_as_the_first(blank: int) -> None:
    bad = b'{"type": "aaep:agent.session.st\n' + b"\n" * blank
    data = bad + dumped(EVENTS[:1]) + b"nonsense\n" + dumped([broken(EVENTS[1], verbosity="loud")])
    found = told(findings("-", data=data))
    assert found == [(1, "ENC-001", "error"), (3 + blank, "ENC-001", "error"), (4 + blank, "ENV-037", "error")]


def test_lines_that_end_in_commas_are_bad_lines_and_not_one_document() -> None:
    data = b",\n".join(json.dumps(event).encode() for event in EVENTS[:3]) + b"\n"
    assert [line for line, _, _ in told(findings("-", data=data))] == [1, 2]


def test_a_list_on_the_first_of_several_lines_is_a_bad_line() -> None:
    assert told(findings("-", data=b"[]\n" + dumped(EVENTS)))[0] == (1, "VAL-001", "error")


def test_a_capture_is_read_with_times_and_subscriptions() -> None:
    assert run(BANK).stdout.splitlines()[0].endswith(f": {len(EVENTS)} events in 1 session, 4 other messages.")
    late = [dict(entry) for entry in ENTRIES]
    reply = next(i for i, e in enumerate(late) if e.get("message", {}).get("type") == "confirmation.reply")
    for entry in late[reply:]:
        entry["at"] = "2026-11-03T10:00:00.000000Z"  # long after the question ran out
    assert "HITL-020" in [rule for _, rule, _ in told(findings("-", data=dumped(late)))]
    other = [dict(entry) for entry in ENTRIES]
    other[reply]["via"] = "sub_someoneelse000000000000000000"
    assert (reply + 1, "error") in [(line, grade) for line, _, grade in told(findings("-", data=dumped(other)))]


def test_what_one_side_sends_does_not_count_from_the_other() -> None:
    reply = next(i for i, e in enumerate(ENTRIES) if e.get("message", {}).get("type") == "confirmation.reply")
    forged = [{**entry, "dir": "out"} if place == reply else entry for place, entry in enumerate(ENTRIES)]
    found = told(findings("-", data=dumped([{**HEADER, "whole": True}, *forged[1:]])))
    assert found[0] == (reply + 1, "CONF-063", "error")
    assert "HITL-020" in [rule for _, rule, _ in found]  # the tool ran, and nobody had agreed
    asked = next(i for i, e in enumerate(ENTRIES) if e.get("message", {}).get("type") == "aaep:agent.session.started")
    turned = [{**entry, "dir": "in"} if place == asked else entry for place, entry in enumerate(ENTRIES)]
    found = told(findings("-", data=dumped([{**HEADER, "whole": True}, *turned[1:]])))
    assert [one[:2] for one in found] == [(asked + 1, "VAL-001"), (asked + 2, "SEQ-001")]


@pytest.mark.parametrize(
    ("type_", "wrong"),
    [
        ("subscription.request", "out"),
        ("subscription.accepted", "in"),
        ("subscription.rejected", "in"),
        ("subscription.renegotiate", "out"),
        ("producer.manifest", "in"),
    ],
)
def test_terms_are_made_only_by_who_may_make_them(type_: str, wrong: str) -> None:
    bases = json.loads((ROOT / "vectors" / "bases.json").read_bytes())
    right = "out" if wrong == "in" else "in"
    for direction, expected in ((wrong, [(2, "VAL-001", "error")]), (right, [])):
        entry = {"at": ENTRIES[1]["at"], "dir": direction, "via": "sub_1", "message": bases[type_]}
        assert told(findings("-", data=dumped([HEADER, entry]))) == expected


def test_the_header_says_whether_what_is_missing_was_never_sent() -> None:
    for whole, status in ((True, 1), (False, 0)):
        data = dumped([{**HEADER, "whole": whole}, *ENTRIES[1:-3]])
        assert run("-", data=data).exit_code == status
    assert told(findings("-", data=dumped([{**HEADER, "whole": True}, *ENTRIES[1:-3]]))) == [(None, "SEQ-003", "error")]


@pytest.mark.parametrize("strict", [(), ("--strict",)])
def test_conf_041_a_reader_that_lost_to_anothers_yes_does_not_blame_the_agent(strict: tuple[str, ...]) -> None:
    """The recording is of one connection, and the yes came on another one."""
    entries = copy.deepcopy(ENTRIES[1:])
    messages = iter([entry["message"] for entry in entries])
    reply = next(one for one in messages if one["type"] == "confirmation.reply")
    reply["decision"] = "reject"
    after = next(messages)
    after["extensions"] = {"attend": {"reply_token": reply["reply_token"], "outcome": "accepted"}}
    after["@context"] = [after["@context"], ATTEND.context]
    found = findings(*strict, data=dumped([HEADER, *entries]))
    assert [(one["rule"], one["severity"]) for one in found] == [("HITL-020", "info")]
    found = findings(*strict, data=dumped([{**HEADER, "whole": True}, *entries]))
    assert [(one["rule"], one["severity"]) for one in found] == [("HITL-020", "error")]


def test_what_follows_a_recorded_loss_is_nobodys_fault() -> None:
    via = ENTRIES[1]["via"]
    first = next(i for i, e in enumerate(ENTRIES) if e.get("message", {}).get("type") == "aaep:agent.session.started")
    for start in range(first, len(ENTRIES)):
        for stop in range(start + 1, len(ENTRIES)):
            gap = {"at": ENTRIES[start]["at"], "via": via, "gap": "missed"}
            found = told(findings("--strict", "-", data=dumped([*ENTRIES[:start], gap, *ENTRIES[stop:]])))
            assert found == [(start + 1, "TR-013", "warning")], (start, stop)
    blamed = findings("--strict", "-", data=dumped([*ENTRIES[: first + 1], *ENTRIES[first + 3 :]]))
    assert "error" in [one["severity"] for one in blamed]  # if nobody says that something is missing


def test_a_loss_on_one_subscription_is_none_on_another() -> None:
    gap = {"at": ENTRIES[3]["at"], "via": "sub_someoneelse000000000000000000", "gap": "missed"}
    cut = [*ENTRIES[:4], gap, *ENTRIES[6:]]
    assert "STATE-001" in [rule for _, rule, _ in told(findings("--strict", "-", data=dumped(cut)))]


def test_a_question_asked_before_a_loss_can_be_answered_after_it() -> None:
    reply = next(i for i, e in enumerate(ENTRIES) if e.get("message", {}).get("type") == "confirmation.reply")
    gap = {"at": ENTRIES[reply]["at"], "via": ENTRIES[1]["via"], "gap": "missed"}
    whole = {**HEADER, "whole": True}
    for answer, rules in (("accept", []), ("reject", ["HITL-020"])):
        given = {**ENTRIES[reply], "message": {**ENTRIES[reply]["message"], "decision": answer}}
        lines = [whole, *ENTRIES[1:reply], gap, given, *ENTRIES[reply + 1 :]]
        found = findings("-", data=dumped(lines))
        assert [one["rule"] for one in found if one["rule"].startswith(("HITL", "TOOL", "CONF"))] == rules


def test_a_capture_that_lost_its_header_is_still_a_capture() -> None:
    assert told(findings("-", data=dumped(ENTRIES[1:]))) == []


@pytest.mark.parametrize("version", ["1", "one", True, None, [1], {}])
def test_a_version_of_a_capture_that_is_no_number_is_told_as_that(version: object) -> None:
    result = run("-", data=dumped([{**HEADER, "aaep_capture": version}, *ENTRIES[1:]]))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "must give its version as a number" in result.stderr


@pytest.mark.parametrize("version", [2, 0, -1, 1.5])
def test_a_capture_of_another_version_cannot_be_checked(version: object) -> None:
    result = run("-", data=dumped([{**HEADER, "aaep_capture": version}, *ENTRIES[1:]]))
    assert result.exit_code == 2
    assert "capture of version" in result.stderr and "reads version 1" in result.stderr


def test_a_header_of_the_wrong_shape_cannot_be_checked() -> None:
    result = run("-", data=dumped([{**HEADER, "whole": "yes"}, *ENTRIES[1:]]))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("entry", [[], 5, None, "x", {}, {"at": "2026-11-03T09:14:02.118Z"}])
@pytest.mark.parametrize("place", [1, 4])
def test_a_malformed_entry_is_an_error_and_the_rest_is_read(entry: object, place: int) -> None:
    found = told(findings("-", data=dumped([*ENTRIES[:place], entry, *ENTRIES[place:]])))
    assert found == [(place + 1, "VAL-001", "error")]


@pytest.mark.parametrize("changes", [{"at": 5}, {"at": "noon"}, {"via": 5}, {"dir": "up"}, {"message": 5}])
def test_an_entry_with_a_bad_member_is_an_error(changes: dict[str, Any]) -> None:
    data = dumped([HEADER, {**ENTRIES[3], **changes}, *ENTRIES[4:]])
    assert (2, "VAL-001", "error") in told(findings("-", data=data))


def test_a_line_of_a_capture_that_is_not_json_is_an_error_and_the_rest_is_read() -> None:
    data = dumped(ENTRIES[:3]) + b'{"at": nope}\n' + dumped(ENTRIES[3:])
    assert told(findings("-", data=data)) == [(4, "ENC-001", "error")]


@pytest.mark.parametrize("header", [[], ENTRIES[:1]], ids=["bare", "capture"])
def test_a_cut_last_line_is_a_warning_and_not_fatal(header: list[Any]) -> None:
    whole = dumped([*header, *(ENTRIES[1:] if header else EVENTS)])
    lines = len(whole.splitlines())
    for cut in (3, 40, 200):
        result = run("-", data=whole[:-cut])
        assert (lines, "ENC-001", "warning") in told(findings("-", data=whole[:-cut]))
        assert "The recording was cut" in result.stdout
    assert run("-", data=dumped(EVENTS)[:-200]).exit_code == 0
    assert told(findings("-", data=whole[:-1])) == []  # only the newline is missing


def test_a_last_line_that_is_wrong_rather_than_cut_is_an_error() -> None:
    assert told(findings("-", data=dumped(EVENTS) + b'{"a": 1,}'))[0][2] == "error"
    assert told(findings("-", data=dumped(EVENTS) + b"hello"))[0][2] == "error"


@pytest.mark.parametrize("first", [True, False])
def test_a_line_over_one_mebibyte_is_an_error_and_is_not_kept_in_memory(tmp_path: Path, first: bool) -> None:
    path = tmp_path / "long.ndjson"
    with path.open("wb") as file:
        file.write(b"" if first else dumped(EVENTS[:1]))
        file.write(b'{"type": "')
        for _ in range(24):
            file.write(b"x" * 1_048_576)
        file.write(b'"}\n' + dumped(EVENTS[1:] if not first else EVENTS))
    tracemalloc.start()
    found = told(findings(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [(1 if first else 2, "LIM-001", "error")]
    assert peak < 12 * 1_048_576


def test_a_long_line_at_the_very_end_is_told_once() -> None:
    data = dumped(EVENTS) + b'{"type": "' + b"x" * 3_000_000
    assert told(findings("-", data=data)) == [(len(EVENTS) + 1, "LIM-001", "error")]


def test_what_is_too_long_to_be_judged_is_not_passed() -> None:
    padded = b" " * 1_048_576 + json.dumps(EVENTS[1]).encode() + b"\n"
    result = run("-", data=dumped(EVENTS[:1]) + padded + dumped(EVENTS[2:]))
    assert result.exit_code == 1
    assert "it was not read and not judged" in result.stdout


@pytest.mark.parametrize("header", [[], [HEADER]], ids=["without header", "with header"])
def test_a_message_of_one_mebibyte_is_read_whatever_a_capture_writes_around_it(header: list[Any]) -> None:
    large = {**ENTRIES[3], "message": {"type": "x", "pad": ""}}
    large["message"]["pad"] = "x" * (1_048_576 - len(json.dumps(large["message"], separators=(",", ":"))))
    found = [one[1:] for one in told(findings("-", data=dumped([*header, ENTRIES[1], large])))]
    assert ("ENV-001", "error") in found and ("LIM-001", "error") not in found


def test_a_document_that_is_too_long_is_refused_politely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "MAX_DOCUMENT_BYTES", 10_000)
    result = run("-", data=json.dumps(EVENTS).encode())
    assert result.exit_code == 2
    assert "64 MiB" in result.stderr and "NDJSON" in result.stderr


class Endless:
    """A recording that is never all there; ``readline`` is all that is needed of it."""

    def __init__(self, lines: int) -> None:
        self.left = lines

    def readline(self, _size: int) -> bytes:
        self.left -= 1
        return b'{"number":%d}\n' % self.left if self.left >= 0 else b""


def test_reading_and_telling_take_the_same_memory_however_long_the_recording() -> None:
    class Deaf(Audit):
        """Finds something new in every line, so that all the memory is ours."""

        def feed(self, raw: bytes, at: str = "", via: str = "", direction: Direction = "") -> list[Finding]:
            return [Finding("ENV-001", "§3.1", "error", "", raw.decode(), "", raw.decode())]

    peaks = []
    for lines in (3_000, 120_000):
        gc.collect()
        report = TextReport(None, notes=True)
        report.start_file("-")
        tracemalloc.start()
        recording = recordings.open_recording(Endless(lines))  # type: ignore[arg-type]  # not a whole stream
        assert recordings.audit_recording(recording, Deaf(), report.add_finding, lambda _: None) == lines
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # Four bytes a line would be seen; what other threads of this process allocate meanwhile would not.
    assert peaks[1] < peaks[0] + 4 * 117_000


# -- text --------------------------------------------------------------------------------


def test_text_is_grouped_by_file_and_session_and_names_line_event_rule_and_section(tmp_path: Path) -> None:
    path = tmp_path / "bad.ndjson"
    path.write_bytes(dumped([EVENTS[0], broken(EVENTS[1], verbosity="loud")]) + b"nonsense\n")
    lines = run(path, BANK).stdout.splitlines()
    assert lines[0] == f"{path}: 2 events in 1 session, 1 other message."
    assert lines[1] == f"Session {SESSION}:"
    assert lines[2].startswith(f"  Line 2, event {EVENTS[1]['event_id']}: error ENV-037, section 3.3.1")
    assert lines[3] == "Outside any session:"
    assert lines[4].startswith("  Line 3: error ENC-001, section 3.8")
    assert lines[5].startswith(f"{BANK}: ")
    assert lines[6].startswith("Result: 2 errors, no warnings")


def test_events_that_take_no_part_in_a_session_are_not_counted_to_it() -> None:
    same = [broken(EVENTS[0], session_id=f"sess_{number}") for number in range(5)]
    assert run("-", data=dumped(same)).stdout.startswith("standard input: 5 events, 1 of them followed in 1 session.")
    told_of = run("-", data=dumped([HEADER, {**ENTRIES[3], "dir": "in"}])).stdout
    assert told_of.startswith("standard input: 1 event, none of them followed.")


def test_repeats_in_a_session_are_collapsed() -> None:
    bad = [broken(event, verbosity="loud") for event in EVENTS]
    (line,) = [line for line in run("-", data=dumped(bad)).stdout.splitlines() if "ENV-037" in line]
    assert line.endswith(f"And {len(bad) - 1} more times, last on line {len(bad)}.")


def test_notes_are_counted_and_shown_on_demand() -> None:
    data = dumped(EVENTS[:-1])
    quiet, loud = run("-", data=data).stdout, run("--notes", "-", data=data).stdout
    assert "note; add --notes to see them." in quiet or "notes; add --notes to see them." in quiet
    assert ": note SEQ-003" not in quiet
    assert "  At the end: note SEQ-003, section" in loud
    assert "add --notes" not in loud


def test_only_so_many_findings_are_kept_and_the_rest_counted() -> None:
    bad = [broken(event, verbosity=f"loud{number}") for number, event in enumerate(EVENTS)]
    result = run("--max-findings", "2", "-", data=dumped(bad))
    assert result.stdout.count("ENV-037") == 2
    assert f"2 findings shown, {len(bad) - 2} more only counted" in result.stdout
    assert f"Result: {len(bad)} errors" in result.stdout
    as_json = run("--json", "--max-findings", "2", "-", data=dumped(bad))
    assert len(as_json.stdout.splitlines()) == 2
    assert as_json.exit_code == 1
    assert "more findings only counted" in as_json.stderr


def test_a_thousand_findings_are_kept_unless_told_otherwise() -> None:
    result = run("-", data=b"".join(b"nonsense%d\n" % number + b"{%d}\n" % number for number in range(1500)))
    assert len(result.stdout.splitlines()) < 1010


@pytest.mark.parametrize("char", ["\u202e", "\x1b", "\x07", "\x9b", "\u2066", "\u2028", "\x7f", "\U000e0041"])
@pytest.mark.parametrize("option", ["--notes", "--json"])
def test_what_could_move_the_cursor_or_turn_the_text_is_escaped(char: str, option: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{char}y.ndjson"
    bad = broken(EVENTS[0], **{f"na{char}me": 1}, verbosity=f"lo{char}ud", session_id=f"sess_{char}", event_id=char)
    path.write_bytes(dumped([bad]))
    output = run(option, path).output
    assert char not in output
    assert "\\u" in output


def test_letters_of_every_script_are_printed_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "می‌خواهم.ndjson"
    path.write_bytes(dumped(EVENTS))
    assert str(path) in run(path).stdout


# -- JSON Lines --------------------------------------------------------------------------


def test_json_lines_hold_every_member_and_nothing_else_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "bad.ndjson"
    path.write_bytes(dumped([EVENTS[0], broken(EVENTS[1], verbosity="loud")]))
    found = [one for one in findings(path) if one["severity"] == "error"]
    assert found == [
        {
            "file": str(path),
            "line": 2,
            "event_id": EVENTS[1]["event_id"],
            "session_id": SESSION,
            "rule": "ENV-037",
            "section": found[0]["section"],
            "severity": "error",
            "path": "/verbosity",
            "message": found[0]["message"],
        }
    ]
    assert found[0]["section"].startswith("§3.3.1")


# -- options -----------------------------------------------------------------------------


def test_strict_makes_errors_of_softened_rules_and_of_what_is_missing() -> None:
    data = dumped(EVENTS[:-1])
    assert run("-", data=data).exit_code == 0
    assert run("--strict", "-", data=data).exit_code == 1


def test_a_lower_level_leaves_out_what_only_a_higher_one_demands() -> None:
    bad = next(broken(event, timeout_seconds=0) for event in EVENTS if event["type"].endswith("awaiting.confirmation"))
    at = [{rule for _, rule, _ in told(findings("--level", level, "-", data=dumped([bad])))} for level in "123"]
    assert at[0] <= at[1] <= at[2]
    assert run("--level", "4", "-", data=b"").exit_code == 2


def shouting(message: Any) -> Iterator[Violation]:
    yield Violation("BANK-001", "Banks speak softly.", "/urgency")


def test_an_installed_profile_is_checked_when_named(monkeypatch: pytest.MonkeyPatch) -> None:
    uri = "https://bank.example/profiles/calm"

    def installed(known: Registry) -> Registry:
        known.add_profile(Profile(uri=uri, version="1", prefix="BANK", level=1, checks=(shouting,)))
        return known

    monkeypatch.setattr("aaep.protocol.extensions.add_installed", installed)
    assert told(findings("-", data=dumped(EVENTS[:1]))) == []
    assert (1, "BANK-001", "error") in told(findings("--profile", uri, "-", data=dumped(EVENTS[:1])))
    result = run("--profile", "urn:none", "-", data=dumped(EVENTS))
    assert result.exit_code == 2
    assert uri in result.stderr


def test_a_profile_that_judges_by_rules_of_others_stops_with_its_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    uri = "https://bank.example/profiles/calm"

    def installed(known: Registry) -> Registry:
        known.add_profile(Profile(uri=uri, version="1", prefix="CALM", level=1, checks=(shouting,)))
        return known

    monkeypatch.setattr("aaep.protocol.extensions.add_installed", installed)
    result = run("--profile", uri, "-", data=dumped(EVENTS))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "BANK-001" in result.stderr and "Use CALM-" in result.stderr


def test_a_broken_installed_extension_stops_with_its_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    error = ExtensionError("No.", [Violation("EXT-022", "Taken.")])

    def installed(known: Registry) -> Registry:
        raise error

    monkeypatch.setattr("aaep.protocol.extensions.add_installed", installed)
    result = run("-", data=dumped(EVENTS))
    assert (result.exit_code, result.stderr.count("\n"), result.stdout) == (2, 1, "")
    assert " ".join(str(error).split()) in result.stderr


def test_progress_is_told_in_plain_lines_and_only_on_demand_or_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "LINES_PER_TICK", 2)
    monkeypatch.setattr(validate, "PROGRESS_LINES", 5)
    told_on = run("--progress", "-", data=dumped(EVENTS[:13])).stderr.splitlines()
    assert [line.split(": ")[2].split(",")[0] for line in told_on] == ["6 lines read", "12 lines read"]
    assert run("-", data=dumped(EVENTS[:12])).stderr == ""


@pytest.mark.parametrize(
    ("data", "noun"), [(dumped(EVENTS[:8]), "lines"), (json.dumps(EVENTS[:8]).encode(), "messages")]
)
def test_progress_is_told_after_some_time_however_little_was_read(
    data: bytes, noun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = count(step=validate.PROGRESS_SECONDS / 2)
    monkeypatch.setattr(validate, "monotonic", lambda: next(seconds))
    monkeypatch.setattr(recordings, "LINES_PER_TICK", 2)
    told_on = run("--progress", "-", data=data).stderr.splitlines()
    assert [line.split(": ")[2].split(",")[0] for line in told_on] == [f"4 {noun} read", f"8 {noun} read"]


def test_line_numbers_go_on_from_one_stride_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "LINES_PER_TICK", 5)
    data = dumped([*EVENTS[:10], broken(EVENTS[10], verbosity="loud")])
    assert told(findings("-", data=data)) == [(11, "ENV-037", "error")]


# -- how it ends ---------------------------------------------------------------------------


@pytest.mark.parametrize("data", [b"", b"\n \n", dumped([HEADER]), dumped(EVENTS)[:50]])
def test_an_input_without_messages_could_not_be_checked(data: bytes) -> None:
    result = run("-", data=data)
    assert result.exit_code == 2
    assert "no message" in result.stderr


def test_what_cannot_be_read_is_named_and_the_rest_is_checked(tmp_path: Path) -> None:
    result = run(tmp_path / "none.ndjson", tmp_path, BANK)
    assert result.exit_code == 2
    assert [line.split(": ")[1] for line in result.stderr.splitlines()] == [
        str(tmp_path / "none.ndjson"),
        str(tmp_path),
    ]
    assert str(BANK) in result.stdout
    assert "2 files could not be checked." in result.stdout


def test_an_unknown_option_is_one_line_and_status_two() -> None:
    result = run("--colour")
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)


def test_a_mistake_of_ours_is_one_line_and_status_two(monkeypatch: pytest.MonkeyPatch) -> None:
    def feed(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(Audit, "feed", feed)
    result = run(BANK)
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "ZeroDivisionError" in result.stderr and "Traceback" not in result.output


def test_an_interrupt_is_quiet_and_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def feed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Audit, "feed", feed)
    result = run(BANK)
    assert result.exit_code == 130
    assert result.output.strip() == ""


def test_the_collector_is_as_it_was_afterwards() -> None:
    run(BANK)
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0


@pytest.mark.parametrize("verb", [[], ["validate"], ["rules"], ["schema"], ["capture"], ["replay"]])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_every_command_has_help_that_ends_with_an_example(verb: list[str], option: str) -> None:
    result = CliRunner().invoke(main, [*verb, option])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1].strip().startswith("Example: aaep ")


def test_every_file_is_a_verb_and_no_command_is_an_error() -> None:
    alone = CliRunner().invoke(main, [])
    assert alone.exit_code == 0
    for verb in ("capture", "replay", "rules", "schema", "validate"):
        assert f"\n  {verb} " in alone.stdout
    result = CliRunner().invoke(main, ["_verb"])
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert CliRunner().invoke(main, ["--version"]).stdout.startswith("aaep 0.")


# -- as real processes -----------------------------------------------------------------------


def process(name: str, *args: str, data: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    command = str(Path(sys.executable).with_name(name))
    setting = {**os.environ, **environment}
    return subprocess.run([command, *args], input=data, capture_output=True, check=False, env=setting)


def closing(stream: str, *args: str) -> subprocess.CompletedProcess[str]:
    """A command that is started with a standard stream closed."""
    command = str(Path(sys.executable).with_name("aaep"))
    closed = ["sh", "-c", f'exec "$0" "$@" {stream}', command, *args]
    return subprocess.run(closed, stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_what_cannot_be_written_is_not_blamed_on_what_is_read() -> None:
    command = [str(Path(sys.executable).with_name("aaep")), "validate", str(BANK)]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, text=True)
    assert (done.returncode, done.stderr) == (2, "aaep: Output: No space left on device.\n")


@pytest.mark.parametrize(
    "args", [["validate", str(BANK)], ["rules"], ["schema", "list"], ["conformance", "capture", str(BANK)], ["--help"]]
)
def test_without_standard_output_a_sentence_says_so(args: list[str]) -> None:
    done = closing(">&-", *args)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith("aaep: Standard output is closed.")


@pytest.mark.parametrize(
    "args", [["validate"], ["replay", "-"], ["replay", "--visualize", "-"], ["manifest", "show", "-"]]
)
def test_without_standard_input_a_sentence_says_so(args: list[str]) -> None:
    done = closing("<&-", *args)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "is closed. Name a file instead." in done.stderr


def test_who_closes_a_stream_that_is_not_needed_gets_the_same_result() -> None:
    for stream in ("<&-", "2>&-"):
        assert closing(stream, "validate", str(BANK)).returncode == 0
        assert closing(stream, "validate", "nowhere.ndjson").returncode == 2
        assert "1 file could not be checked" in closing(stream, "validate", "nowhere.ndjson").stdout


def test_nothing_that_is_opened_takes_the_place_of_a_closed_stream() -> None:
    code = (
        "import os, contextlib; from aaep.cli import main\n"
        "with contextlib.suppress(SystemExit): main(['--version'])\n"
        "print(os.open(os.devnull, os.O_RDONLY))"
    )
    for stream in ("<&-", "2>&-"):
        closed = ["sh", "-c", f'exec "$0" -c "$1" {stream}', sys.executable, code]
        done = subprocess.run(closed, stdin=subprocess.DEVNULL, capture_output=True, check=True, text=True)
        assert int(done.stdout.splitlines()[-1]) > 2


def test_the_command_reads_standard_input_and_sets_the_status() -> None:
    command = ("aaep", "validate")
    assert process(*command, data=BANK.read_bytes()).returncode == 0
    assert process(*command, "-", data=dumped([broken(EVENTS[0], verbosity="loud")])).returncode == 1
    empty = process(*command, "-")
    assert (empty.returncode, empty.stdout) == (2, b"Result: no errors, no warnings. 1 file could not be checked.\n")


def test_extensions_of_installed_packages_are_loaded_and_a_broken_one_stops(tmp_path: Path) -> None:
    (tmp_path / "sound.py").write_text(
        "from aaep import Extension\n"
        "CALM = Extension(namespace='https://bank.example/calm/v1', prefix='calm', context='https://bank.example/calm')\n"
        "TAKEN = Extension(namespace='https://bank.example/x/v1', prefix='aaep', context='https://bank.example/x')\n"
    )
    declared = tmp_path / "sound-1.0.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: sound\nVersion: 1.0\n")
    contexts = [EVENTS[0]["@context"], "https://bank.example/calm"]
    marked = broken(EVENTS[0], **{"@context": contexts, "extensions": {"calm": {"level": 1}}})
    for name, status in (("sound:CALM", 0), ("sound:TAKEN", 2), ("sound:NONE", 2), ("silent:CALM", 2)):
        (declared / "entry_points.txt").write_text(f"[aaep.extensions]\nit = {name}\n")
        done = process("aaep", "validate", "-", data=dumped([marked]), PYTHONPATH=str(tmp_path))
        assert (done.returncode, done.stderr.count(b"\n")) == (status, 1 if status else 0), done
        assert name != "sound:TAKEN" or b"EXT-022" in done.stderr


def test_a_terminal_that_cannot_show_a_letter_is_no_reason_to_fail(tmp_path: Path) -> None:
    path = tmp_path / "búsqueda.ndjson"
    path.write_bytes(dumped([broken(EVENTS[0], verbosity="łoud")]))
    for option in ("--notes", "--json"):
        done = process("aaep", "validate", option, str(path), PYTHONIOENCODING="ascii")
        assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.parametrize("option", ["--json", "--notes"])
def test_a_reader_that_goes_away_is_no_reason_to_complain(option: str) -> None:
    command = [str(Path(sys.executable).with_name("aaep")), "validate", option, "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None and child.stderr is not None
        child.stdout.close()  # before anything is there to be printed
        child.stdin.write(b"nonsense\n" * 50)
        child.stdin.close()
        assert child.stderr.read() == b""
        assert child.wait() == 141


def test_findings_are_printed_at_once_as_json_lines() -> None:
    command = [str(Path(sys.executable).with_name("aaep")), "validate", "--json", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(dumped(EVENTS[:1]) + b"nonsense\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["line"] == 2  # while the input is still open
        child.stdin.close()
        child.stdout.read()
        assert child.wait() == 1
