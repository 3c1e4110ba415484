"""``aaep capture``: everything that passes, in whole lines, however it ends."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from aaep.cli import main
from aaep.cli.capture import _redact_url
from aaep.hub.hub import Hub
from aaep.producer.producer import Producer
from aaep.recording.capture import CaptureError, CaptureWriter, LineFile, read_capture
from aaep.subscriber.status import UNREADABLE, Status
from tests.driving import AAEP, LONG, answered, demo_at

ACCEPTED = b'{"type":"subscription.accepted","subscription_id":"sub_1","honored_capabilities":{"languages":["en"]}}'
REQUEST = b'{"type":"subscription.request"}'


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["capture", *arguments])


@contextmanager
def agent(work: Callable[[Producer], object]) -> Iterator[str]:
    """An agent that works once somebody listens; its address."""
    with Producer("bank", listen="http://127.0.0.1:0", journal=None) as producer:

        def begin() -> None:
            producer.reader(replies=False).wait(LONG)
            work(producer)

        thread = threading.Thread(target=begin, daemon=True)
        thread.start()
        yield producer.addresses[0]
        thread.join(LONG)


def one_session(producer: Producer) -> None:
    with producer.session("Looking.") as session:
        with session.tool("look", risk="low", irreversible=False):
            pass
        session.write("It is fine.")


def two_sessions(producer: Producer) -> None:
    one_session(producer)
    one_session(producer)


def lines(path: Path) -> list[dict[str, Any]]:
    data = path.read_bytes()
    assert data.endswith(b"\n")
    return [json.loads(line) for line in data.splitlines()]


def types(captured: list[dict[str, Any]]) -> list[str]:
    return [line["message"]["type"].removeprefix("aaep:agent.") for line in captured if "message" in line]


def test_every_message_is_a_line_and_the_capture_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with agent(one_session) as url:
        result = run(url, "-o", str(path), "--max-events", "8")
    assert result.exit_code == 0, result.output
    header, *rest = lines(path)
    assert header["aaep_capture"] == 1 and header["source"] == url
    assert header["terms"]["supports_confirmation_reply"] is False
    assert types(rest)[:3] == ["subscription.request", "subscription.accepted", "session.started"]
    assert [line["dir"] for line in rest[:3]] == ["in", "out", "out"]
    assert rest[-1]["dir"] == "in" and types(rest)[-1] == "subscription.close"
    assert {line["transport"] for line in rest} == {"sse"}
    assert {line["via"] for line in rest} == {rest[1]["message"]["subscription_id"]}
    assert [line["at"] for line in rest] == sorted(line["at"] for line in rest)
    assert header["started"] == rest[0]["at"]
    assert "Recorded 11 messages, 8 events among them" in result.stderr
    judged = CliRunner().invoke(main, ["validate", str(path)])
    assert judged.exit_code == 0, judged.output


def test_it_stops_after_so_many_events_though_more_come(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with agent(two_sessions) as url:
        assert run(url, "-o", str(path), "--max-events", "3").exit_code == 0
    assert sum("event_id" in line.get("message", ()) for line in lines(path)) == 3


def test_it_stops_when_the_time_is_up_though_nothing_happens(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with agent(lambda _: None) as url:
        assert run(url, "-o", str(path), "--duration", "1").exit_code == 0
    assert types(lines(path)[1:]) == ["subscription.request", "subscription.accepted", "subscription.close"]


def test_one_session_of_several_and_the_answers_to_it(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with begun(path, session_id="sess_b") as capture:
        for name in "ab":
            event = {"type": "x", "event_id": f"evt_{name}", "session_id": f"sess_{name}", "reply_token": f"rpl_{name}"}
            capture.record("out", json.dumps(event).encode())
            capture.record("in", json.dumps({"type": "confirmation.reply", "reply_token": f"rpl_{name}"}).encode())
    assert [line["message"].get("reply_token") for line in lines(path)[1:]] == [None, None, "rpl_b", "rpl_b"]


def test_only_some_types_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with agent(one_session) as url:
        result = run(url, "-o", str(path), "--filter", "aaep:agent.tool.*", "--max-events", "2")
    assert result.exit_code == 0
    assert types(lines(path))[2:4] == ["tool.invoked", "tool.completed"]


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("tool.invoked", "Write aaep:agent.tool.invoked."),
        ("tool.*", "Write aaep:agent.tool.*."),
        ("agent.tool.*", "Write aaep:agent.tool.*."),
        ("zzz bad", "Write a type such as aaep:agent.tool.invoked"),
        ("aaep:*.tool", "Write a type such as aaep:agent.tool.invoked"),
        ("", "Write a type such as aaep:agent.tool.invoked"),
    ],
)
def test_a_filter_that_can_match_nothing_is_refused(given: str, right: str, tmp_path: Path) -> None:
    """CAP-026"""
    path = tmp_path / "c.ndjson"
    result = run("http://127.0.0.1:1", "-o", str(path), "--no-wait", "--filter", given)
    assert result.exit_code == 2 and right in result.stderr and not path.exists()


@pytest.mark.parametrize(
    "given", ["*", "aaep:*", "aaep:agent.to*", "lights:lamp.lit", "https://aaep-protocol.org/types/agent.*"]
)
def test_a_filter_that_can_match_something_is_not(given: str, tmp_path: Path) -> None:
    """CF-051"""
    result = run("http://127.0.0.1:1", "-o", str(tmp_path / "c.ndjson"), "--no-wait", "--filter", given)
    assert "Nobody answers at" in result.stderr


def test_a_file_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    path.write_text("mine\n")
    result = run("http://127.0.0.1:1", "-o", str(path))
    assert result.exit_code == 2 and "--append" in result.stderr and path.read_text() == "mine\n"
    result = run("http://127.0.0.1:1", "-o", str(path), "--append")
    assert result.exit_code == 2 and "no capture" in result.stderr and path.read_text() == "mine\n"


def test_it_goes_on_with_a_capture_and_takes_a_cut_line_away(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with agent(one_session) as url:
        assert run(url, "-o", str(path), "--max-events", "2").exit_code == 0
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"at":"2026-11-03T09:14')
    with agent(one_session) as url:
        result = run(url, "-o", str(path), "--append", "--max-events", "2")
    assert result.exit_code == 0 and "was cut" in result.stderr
    assert path.read_bytes().startswith(whole)
    captured = lines(path)
    assert sum("aaep_capture" in line for line in captured) == 1
    assert types(captured).count("session.started") == 2


def test_nobody_there_leaves_no_file(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    path = tmp_path / "c.ndjson"
    result = run(f"http://127.0.0.1:{port}", "-o", str(path), "--no-wait")
    assert result.exit_code == 2 and "With --wait it is waited for." in result.stderr
    result = run(f"http://127.0.0.1:{port}", "-o", str(path), "--duration", "0.3")
    assert result.exit_code == 2 and "Nothing was recorded" in result.stderr
    assert not path.exists()


@pytest.mark.parametrize(
    ("url", "why"), [("gopher://x", "no transport"), ("", "no transport"), ("http://[::1", "not a URL")]
)
def test_an_address_that_is_none(url: str, why: str, tmp_path: Path) -> None:
    result = run(url, "-o", str(tmp_path / "c.ndjson"))
    assert result.exit_code == 2 and why in result.stderr and not (tmp_path / "c.ndjson").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_told_and_ends_it() -> None:
    with agent(one_session) as url:
        result = run(url, "-o", "/dev/full")
    assert result.exit_code == 2 and "No space left on device" in result.stderr


def test_a_connection_that_breaks_is_made_again_and_nothing_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"

    def breaking(producer: Producer) -> None:
        one_session(producer)
        producer.hub.run(cut(producer.hub))
        producer.reader(replies=False).wait(LONG)
        one_session(producer)

    async def cut(hub: Hub) -> None:
        for one in hub.subscriptions.all():
            outlet = one.writer
            if outlet is not None:
                hub.disconnect(one.id, outlet)
                outlet.close(None)

    with agent(breaking) as url:
        result = run(url, "-o", str(path), "--max-events", "18", "--duration", str(LONG))
    assert result.exit_code == 0 and "The connection was lost 1 time; that is marked." in result.stderr
    captured = lines(path)
    assert [line["gap"] for line in captured if "gap" in line] == ["lost", "resumed"]
    assert types(captured).count("session.completed") == 2
    judged = CliRunner().invoke(main, ["validate", str(path)])
    assert judged.exit_code == 0, judged.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_good_order(number: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with agent(one_session) as url:
        command = [AAEP, "capture", url, "-o", str(path)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            try:
                _until(lambda: path.exists() and b"session.completed" in path.read_bytes(), process)
                process.send_signal(number)
                assert process.stderr is not None
                assert "Recorded" in process.stderr.read()
                assert process.wait(LONG) == 0
            finally:
                process.kill()
    assert types(lines(path))[-1] == "subscription.close"


def _until(true: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    over = threading.Event()
    for _ in range(int(LONG / 0.05)):
        if true():
            return
        assert process.poll() is None
        over.wait(0.05)
    raise AssertionError("It never came.")


def test_to_standard_output(tmp_path: Path) -> None:
    with agent(one_session) as url:
        command = [AAEP, "capture", url, "-o", "-", "--max-events", "3"]
        done = subprocess.run(command, capture_output=True, timeout=LONG, check=False)
    assert done.returncode == 0
    captured = [json.loads(line) for line in done.stdout.splitlines()]
    assert "aaep_capture" in captured[0] and types(captured)[-1] == "subscription.close"


def test_the_answers_are_recorded_and_the_demo_passes_as_strictly_as_can_be(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with demo_at() as url:
        said = answered([AAEP, "capture", url, "-o", str(path), "--replies"], "accept")
    assert "Done. 500 dollars are in your savings." in said
    replies = [line for line in lines(path)[1:] if line["dir"] == "in" and "reply_token" in line["message"]]
    assert [one["message"]["decision"] for one in replies] == ["accept"]
    command = [AAEP, "validate", "--strict", "--level", "3", str(path)]
    judged = subprocess.run(command, capture_output=True, text=True, check=False)
    assert judged.returncode == 0, judged.stdout


def test_who_has_no_input_cannot_promise_answers(tmp_path: Path) -> None:
    command = [AAEP, "capture", "http://127.0.0.1:1", "-o", str(tmp_path / "c.ndjson"), "--replies"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONG, check=False)
    assert done.returncode == 2 and "Leave it out to listen only." in done.stderr


def test_a_reader_that_can_answer_stops_by_itself_too(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with agent(one_session) as url:
        command = [AAEP, "capture", url, "-o", str(path), "--replies", "--max-events", "9"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                assert process.wait(LONG) == 0  # though nobody ended its input
            finally:
                process.kill()
    assert types(lines(path))[-2:] == ["session.completed", "subscription.close"]


# -- without a network -----------------------------------------------------------------------


def begun(path: Path, **settings: Any) -> CaptureWriter:
    capture = CaptureWriter(LineFile(path), source="here", transport="sse", **settings)
    capture.record("in", REQUEST)
    capture.record("out", ACCEPTED)
    return capture


def test_a_lost_connection_is_marked_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with begun(path) as capture:
        capture.record("out", b'{"type":"x","event_id":"evt_1"}')
        for _ in range(3):
            capture.record_status(Status("waiting", "The stream ended."))
            capture.record("in", REQUEST)  # which nobody answers
        capture.record("out", b'{"type":"x","event_id":"evt_2"}')
        capture.record_status(Status("resumed", "Connected again."))
        capture.record_status(Status("gap", "Something is missing."))
        assert capture.gap_count == 1
    said = [line.get("gap") or line["message"].get("event_id") for line in lines(path)[3:]]
    assert said == ["evt_1", "lost", "resumed", "evt_2", "missed"]
    assert lines(path)[4]["why"] == "The stream ended."
    judged = CliRunner().invoke(main, ["validate", "--json", str(path)])
    assert "not an entry" not in judged.output, "the validator knows the marks"


def test_what_was_no_message_is_marked_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with begun(path) as capture:
        capture.record("out", b'{"type":"x","event_id":"evt_1"}')
        capture.record("out", b"")
        capture.record("out", b'{"type":"x","event_id":"evt_2"}')
    said = [line.get("gap") or line["message"].get("event_id") for line in lines(path)[3:]]
    assert said == ["evt_1", "missed", "evt_2"]
    assert lines(path)[4]["why"] == UNREADABLE.text


def test_a_request_that_was_refused_is_no_capture(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with CaptureWriter(LineFile(path), source="here") as capture:
        capture.record("in", REQUEST)
        capture.record("out", b'{"type":"subscription.rejected","reason_code":"rate_limit"}')
        assert capture.message_count == 0
    assert not path.exists()


def test_a_new_subscription_has_its_own_name(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with begun(path) as capture:
        capture.record("in", REQUEST)
        capture.record("out", ACCEPTED.replace(b"sub_1", b"sub_2"))
    assert [line["via"] for line in lines(path)[1:]] == ["sub_1", "sub_1", "sub_2", "sub_2"]


def test_a_line_that_cannot_be_written_whole_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "c.ndjson"
    over: list[None] = []
    capture = begun(path, on_done=lambda: over.append(None))
    before, write, calls = path.read_bytes(), os.write, []

    def short(file: int, data: bytes) -> int:
        calls.append(file)
        if len(calls) > 1:
            raise OSError(28, "No space left on device")
        return write(file, bytes(data)[:10])

    monkeypatch.setattr(os, "write", short)
    capture.record("out", b'{"type":"x","event_id":"evt_1"}')
    capture.record("out", b'{"type":"x","event_id":"evt_2"}')
    monkeypatch.undo()
    capture.close()
    assert capture.error is not None and over == [None] and len(calls) == 2
    assert path.read_bytes() == before


@given(st.lists(st.one_of(st.binary(max_size=60), st.just(b'{\n "type":\r\n "x"}'), st.just(b'{"a":"\xff"}'))))
def test_whatever_comes_is_one_line_that_can_be_read(
    tmp_path_factory: pytest.TempPathFactory, data: list[bytes]
) -> None:
    path = tmp_path_factory.mktemp("capture") / "c.ndjson"
    with begun(path) as capture:
        for one in data:
            capture.record("out", one)
    assert len(lines(path)) == 3 + len(data)


def test_what_is_secret_in_an_address_is_not_kept() -> None:
    assert _redact_url("https://me:word@bank.example:81/x?token=abc#y") == "https://bank.example:81/x"


@pytest.mark.parametrize(
    ("version", "said"),
    [("2", "version 2"), *((one, "as a number") for one in ('"1"', "true", "null", "[1]"))],
)
def test_a_capture_of_another_version_is_not_read(version: str, said: str) -> None:
    with pytest.raises(CaptureError, match=said):
        [*read_capture(io.BytesIO(b'{"aaep_capture":%b}\n' % version.encode()))]


def test_lines_that_cannot_be_read_are_told_by_their_number(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    path.write_bytes(
        b'{"aaep_capture":1}\n\n{"type":"x"}\nno\n{"at":"never","message":{}}\n{"message":{"a":1}}\n' + b"x" * 2_200_000
    )
    found: list[int] = []
    with path.open("rb") as file:
        read_ = [
            (number, bytes(line.message)) for number, line in read_capture(file, lambda number, _: found.append(number))
        ]
    assert read_ == [(3, b'{"type":"x"}'), (5, b"{}"), (6, b'{"a":1}')]
    assert found == [4, 5, 7]


def test_an_agent_on_pipes_has_no_address_for_its_manifest_and_is_not_reproached_for_it(tmp_path: Path) -> None:
    """ENV-032 "when known", CF-118"""
    program = tmp_path / "agent.py"
    program.write_text(
        "import aaep\n"
        "about = dict(name='Bank', version='1.0.0', model='m')\n"
        "with aaep.Producer('bank', **about, listen='stdio:', journal=None) as producer:\n"
        "    with producer.session('Looking.') as session:\n"
        "        session.write('It is fine.')\n"
    )
    path = tmp_path / "pipes.ndjson"
    assert run(f"stdio:{sys.executable} {program}", "-o", str(path), "--no-wait").exit_code == 0
    told = CliRunner().invoke(main, ["validate", "--notes", "--strict", str(path)])
    assert told.stdout.endswith("Result: no errors, no warnings.\n"), told.stdout
