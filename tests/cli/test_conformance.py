"""``aaep conformance``: where its reports go, what they say of a recording, and what it takes for an option."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from click.testing import Result as Outcome

from aaep.cli import main
from aaep.errors import AaepError
from aaep.transports.options import ConnectOptions

BANK = Path(__file__).parents[2] / "examples" / "bank.ndjson"
AAEP = str(Path(sys.executable).parent / "aaep")
UNHEARD = ("producer", "http://127.0.0.1:1", "--start-command", "true")  # nobody is there


def run(*words: str, **given: Any) -> Outcome:
    return CliRunner().invoke(main, ["conformance", *words], **given)


# -- files ---------------------------------------------------------------------------------------


def test_a_report_is_written_over_nothing_that_is_read_or_just_written(tmp_path: Path) -> None:
    mine, both = tmp_path / "mine.ndjson", tmp_path / "both"
    mine.write_bytes(BANK.read_bytes())
    (tmp_path / "link").symlink_to(mine)
    for words in (
        ["--html", str(mine)],
        ["--junit", str(tmp_path / "link")],
        ["--html", str(both), "--junit", str(both)],
    ):
        told = run("capture", str(mine), *words)
        assert told.exit_code == 2 and "is given twice" in told.stderr and told.stdout == ""
    assert mine.read_bytes() == BANK.read_bytes() and not both.exists()


@pytest.mark.parametrize("words", [("capture", str(BANK)), UNHEARD, ("subscriber", "--command", "true {url}")])
@pytest.mark.parametrize("option", ["--html", "--junit"])
def test_a_file_that_cannot_be_written_is_told_before_anything_is_judged(
    words: tuple[str, ...], option: str, tmp_path: Path
) -> None:
    file = str(tmp_path / "missing" / "x")
    told = run(*words, option, file)
    assert told.exit_code == 2 and told.stderr == f"aaep: {file}: No such file or directory.\n" and told.stdout == ""


def test_the_report_is_printed_even_if_its_file_cannot_be_written_after_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    file = tmp_path / "x.html"
    told = run("capture", str(BANK), "--html", str(file))
    assert told.exit_code == 2 and "nothing in the recording breaks a rule." in told.stdout
    assert told.stderr == f"aaep: {file}: No space left on device.\n"
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("words", [["conformance", "capture", "--all"], ["replay", "--visualize"]])
def test_files_are_written_though_nobody_reads_on_what_is_printed(words: list[str], tmp_path: Path) -> None:
    long, page = tmp_path / "long.ndjson", tmp_path / "x.html"
    long.write_bytes(BANK.read_bytes() * 30)  # more than a pipe holds
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb") as closed:
        done = subprocess.run([AAEP, *words, str(long), "--html", str(page)], stdout=closed, check=False, timeout=60)
    assert done.returncode == 141
    assert page.read_text().startswith("<!doctype html>")


def test_a_dash_is_no_file_to_write_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (
        ["conformance", "capture", str(BANK), "--html", "-"],
        ["replay", str(BANK), "--visualize", "--svg", "-"],
    ):
        told = CliRunner().invoke(main, words)
        assert told.exit_code == 2 and "- is no file." in told.stderr
    assert [*tmp_path.iterdir()] == []


def test_reports_are_as_open_as_other_files_that_are_written(tmp_path: Path) -> None:
    other, page = tmp_path / "other", tmp_path / "x.html"
    other.write_text("")
    assert run("capture", str(BANK), "--html", str(page)).exit_code == 0
    assert page.stat().st_mode == other.stat().st_mode and page.read_text().startswith("<!doctype html>")


# -- recordings ----------------------------------------------------------------------------------


def test_nothing_keeps_a_recording_from_a_level_that_it_cannot_have(tmp_path: Path) -> None:
    cases = tmp_path / "r.xml"
    told = run("capture", str(BANK), "--json", "--junit", str(cases))
    members = json.loads(told.stdout)
    assert told.exit_code == 0 and not members["live"]
    assert members["hindrances"] == [] and members["reached"] is None and members["level_granted"] is None
    suite = ElementTree.parse(cases).getroot()
    assert suite.get("failures") == "0" and suite.find(".//failure") is None
    assert suite.get("skipped") == str(members["counts"]["not shown"])
    assert {one.get("name"): one.get("value") for one in suite.iter("property")}["level"] == ""


def test_what_a_recording_is_failed_for_is_a_failure(tmp_path: Path) -> None:
    kept = [line for line in BANK.read_text().splitlines() if "confirmation" not in line]
    unasked, cases = tmp_path / "unasked.ndjson", tmp_path / "r.xml"
    unasked.write_text("\n".join(kept) + "\n")
    told = run("capture", str(unasked), "--json", "--junit", str(cases))
    failures = int(ElementTree.parse(cases).getroot().get("failures", "0"))
    assert told.exit_code == 1 and failures == json.loads(told.stdout)["counts"]["failed"] > 0


@pytest.mark.parametrize("written", ['"a text"', "[1, null]", "3"])
def test_what_is_no_message_is_a_failure(written: str, tmp_path: Path) -> None:
    """VAL-001"""
    file = tmp_path / "x.json"
    file.write_text(written)
    told = run("capture", str(file))
    assert told.exit_code == 1 and "VAL-001, MUST, section 3.9 step 1: " in told.stdout


def test_what_a_reader_sent_is_not_the_fault_of_the_producer(tmp_path: Path) -> None:
    first, *rest = BANK.read_text().splitlines()
    strange = {**json.loads(rest[0]), "message": 3}
    file = tmp_path / "x.ndjson"
    file.write_text("\n".join([first, json.dumps(strange), *rest]) + "\n")
    told = run("capture", str(file))
    assert strange["dir"] == "in" and told.exit_code == 0
    assert "Rules: 0 failed, 0 warnings, " in told.stdout


def test_how_far_it_is_can_be_heard() -> None:
    told = run("producer", "--self-test", "--level", "1", "--progress")
    assert told.exit_code == 0
    first, *_, last = told.stderr.splitlines()
    total = len(told.stderr.splitlines())
    assert first == f"aaep: Scenario 1 of {total}: a session from beginning to end."
    assert last.startswith(f"aaep: Scenario {total} of {total}: ")


def test_an_address_that_others_can_reach_is_refused_in_words_of_the_command() -> None:
    told = run("producer", "http://0.0.0.0:0", "--self-test")
    assert told.exit_code == 2 and "Play it on this one: 127.0.0.1." in told.stderr and "cert=" not in told.stderr


@pytest.mark.parametrize("url", ["http://0.0.0.0:0", "HTTP://0.0.0.0:0", "http://[::]:0", "ws://0.0.0.0:0"])
def test_tr_024_producers_are_played_on_this_machine_only(url: str) -> None:
    """They ask nobody who they are."""
    for words in ([url, "--wait", "0.1"], ["--command", "true {url}", "--at", url]):
        told = run("subscriber", *words)
        assert told.exit_code == 2 and "can be reached from other machines" in told.stderr, told.stderr
        assert "127.0.0.1" in told.stderr and "cert=" not in told.stderr


@pytest.mark.parametrize("place", ["127.0.0.1", "localhost", "[::1]"])
def test_a_reader_is_given_an_address_it_can_use(place: str, tmp_path: Path) -> None:
    reader, seen = tmp_path / "reader.py", tmp_path / "seen"
    reader.write_text(f"import sys\nopen({str(seen)!r}, 'w').write(sys.argv[1])\n")
    told = run("subscriber", "--command", f"{sys.executable} {reader} {{url}}", "--at", f"http://{place}:0")
    assert told.exit_code == 2 and "never came" in told.stderr
    assert re.fullmatch(rf"http://{re.escape(place)}:[0-9]+", seen.read_text())


def test_without_more_it_says_what_it_can_judge() -> None:
    told = run()
    assert told.exit_code == 0 and told.stderr == ""
    assert "\nCommands:\n  capture " in told.stdout


def test_a_recording_may_come_on_standard_input() -> None:
    told = run("capture", "-", input=BANK.read_bytes())
    assert told.exit_code == 0 and told.stdout.startswith("standard input: nothing in the recording breaks a rule.\n")
    empty = run("capture", "-", input=b"")
    assert empty.exit_code == 2 and empty.stderr == "aaep: standard input: There is no message in it.\n"


# -- options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["nan", "inf", "1e999"])
@pytest.mark.parametrize(
    "words",
    [
        (*("conformance", *UNHEARD), "--patience"),
        (*("conformance", *UNHEARD), "--wait"),
        ("conformance", "subscriber", "--command", "true {url}", "--patience"),
        ("conformance", "subscriber", "--command", "true {url}", "--wait"),
        ("capture", "http://127.0.0.1:1", "-o", "/dev/null", "--no-wait", "--duration"),
        ("replay", str(BANK), "--no-wait", "--speed"),
        ("demo", "--pace"),
    ],
)
def test_a_number_that_is_none_is_refused(words: tuple[str, ...], number: str) -> None:
    told = CliRunner().invoke(main, [*words, number])
    assert told.exit_code == 2 and f"Invalid value for '{words[-1]}'" in told.stderr


@pytest.mark.parametrize("words", [["--token", "open sesame"], []])
def test_the_token_is_taken_from_the_environment_too(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[object] = []

    async def judged(*_: object, options: ConnectOptions, **settings: object) -> None:
        shown.append(options.token)
        raise AaepError("That will do.")

    monkeypatch.setattr("aaep.cli.conformance.judge_producer", judged)
    monkeypatch.setenv("AAEP_TOKEN", "open sesame" if not words else "another")
    assert "That will do." in run("producer", "http://127.0.0.1:1", *words).stderr
    assert "That will do." in run("producer", "--self-test", *words).stderr
    assert "That will do." in run("producer", "--command", "true", *words).stderr
    assert shown == ["open sesame", None, None], "our own agent asks for none, and pipes take none"


# -- signals -----------------------------------------------------------------------------------------

CHILD = """
import os, signal, sys, time
print(os.getpid(), file=open(sys.argv[2], "w"))
os.rename(sys.argv[2], sys.argv[3])
signal.pause()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_what_it_has_started(number: signal.Signals, tmp_path: Path) -> None:
    child, begun, told = (str(tmp_path / name) for name in ("child.py", "begun", "told"))
    Path(child).write_text(CHILD)
    command = f"{sys.executable} {child} {{url}} {begun} {told}"
    words = [AAEP, "conformance", "subscriber", "--command", command, "--progress"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            over = threading.Event()
            while not Path(told).exists():
                assert process.poll() is None
                over.wait(0.05)
            process.send_signal(number)
            said, complaints = process.communicate(timeout=60)
            assert (process.returncode, said) == (128 + number, "")
            assert "Traceback" not in complaints
        finally:
            process.kill()
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path(told).read_text()), 0)
