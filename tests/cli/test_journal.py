"""``aaep journal``: what is kept can be seen, and deleted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from aaep.cli import main
from aaep.journal.sqlite import SqliteJournal
from aaep.producer.producer import Producer, Runtime
from aaep.runtime.files import default_journal_path

AT = 1_779_632_531.342  # 2026-05-24T14:22:11.342Z


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "aaep"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    fill(path)
    return path


def fill(path: Path) -> None:
    journal = SqliteJournal(path)
    journal.append("evt_1", "sess_a", '{"type":"aaep:agent.session.started","text":"Grüße\\u001b[2J"}'.encode(), at=AT)
    journal.append("evt_2", "sess_b", b'{"type":"aaep:agent.state.changed"}', at=AT + 1)
    journal.append("evt_3", "sess_a", b'{"type":"aaep:agent.session.completed"}', at=AT + 2)
    journal.append("evt_4", "sess_b", b"\x1b]0;title\x07\xff", at=AT + 3)
    journal.close()


def run(*args: str | Path, answer: str | None = None) -> Result:
    return CliRunner().invoke(main, ["journal", *map(str, args)], input=answer)


def kept(path: Path) -> list[str]:
    journal = SqliteJournal(path, create=False)
    try:
        return [entry.event_id for entry in journal.read()]
    finally:
        journal.close()


def test_everything_is_printed_a_line_each_in_order_and_then_the_sum(file: Path) -> None:
    result = run("show", file)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    start = '  2026-05-24T14:22:11.342Z, event evt_1: {"type":"aaep:agent.session.started"'
    assert lines[1].startswith(start) and "Grüße" in lines[1]
    assert lines[:8:2] == ["Session sess_a.", "Session sess_b."] * 2
    assert [line.split("event ")[1][:5] for line in lines[1:8:2]] == ["evt_1", "evt_2", "evt_3", "evt_4"]
    assert lines[8] == f"{file}: 4 events in 2 sessions, 1 of them not ended."


def test_what_was_said_is_told_as_it_was_heard(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with (
        Producer("notes", name="Note Keeper", journal=str(path), runtime=Runtime(wall=lambda: AT)) as producer,
        producer.session("Tidying up.") as session,
        session.output() as output,
    ):
        output.write("One moment. Let me look that ")
        with session.thinking():
            pass
        output.write("up.")
        first = session.session_id
    lines = run("show", path).stdout.splitlines()
    assert lines[0] == f"Session {first} of Note Keeper."
    heard = [line.removeprefix("  2026-05-24T14:22:11.342Z: ") for line in lines[1:-1]]
    assert heard[0] == "Started. Tidying up." and heard[-1] == "Done."
    assert "| Note Keeper: One moment." in heard and "| Let me look that up." in heard
    assert "event evt_" not in "".join(lines)


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_nothing_that_is_kept_reaches_the_terminal_as_a_control_character(file: Path, form: tuple[str, ...]) -> None:
    printed = run("show", file, *form).stdout_bytes
    assert not {*printed} & {*range(32), 127} - {10}
    assert b"\\u001b]0;title\\u0007\\xff" in printed.replace(b"\\\\", b"\\")


def test_json_is_a_capture(file: Path) -> None:
    header, *lines = map(json.loads, run("show", file, "--json").stdout_bytes.splitlines())
    assert header == {"aaep_capture": 1, "source": "journal.db", "started": "2026-05-24T14:22:11.342Z"}
    assert lines[1] == {
        "at": "2026-05-24T14:22:12.342Z",
        "dir": "out",
        "message": {"type": "aaep:agent.state.changed"},
    }
    assert lines[0]["message"]["text"] == "Grüße\x1b[2J"
    assert len(lines) == 4


def test_one_session_alone(file: Path) -> None:
    result = run("show", file, "--session", "sess_a")
    assert result.stdout.count("sess_a") == 1 and result.stdout.count("evt_") == 2 and "sess_b" not in result.stdout
    assert result.stdout.endswith("2 events in 1 session.\n")


@pytest.mark.parametrize("verb", ["show", "purge"])
def test_an_unknown_session_is_told(file: Path, verb: str) -> None:
    result = run(verb, file, "--session", "sess_\x1bz")
    assert result.exit_code == 2
    assert result.stderr == "aaep: Nothing is kept of a session sess_\\u001bz.\n"


@pytest.mark.parametrize("verb", ["show", "purge"])
def test_a_file_that_is_not_there_is_not_made(tmp_path: Path, verb: str) -> None:
    result = run(verb, tmp_path / "none.db")
    assert result.exit_code == 2 and "There is no journal" in result.stderr
    assert not (tmp_path / "none.db").exists()


@pytest.mark.parametrize("verb", ["show", "purge"])
def test_another_file_is_refused_and_left_alone(tmp_path: Path, verb: str) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("Dear diary")
    other.chmod(0o600)
    result = run(verb, other, *(["--yes"] if verb == "purge" else []))
    assert result.exit_code == 2 and "is not a journal" in result.stderr
    assert other.read_text() == "Dear diary"


def test_a_journal_in_use_is_told(file: Path) -> None:
    journal = SqliteJournal(file)
    try:
        result = run("show", file)
    finally:
        journal.close()
    assert result.exit_code == 2 and "is in use" in result.stderr and len(result.stderr.splitlines()) == 1


def test_without_a_name_it_is_the_only_one_in_the_users_folder(state: Path) -> None:
    result = run("show")
    assert result.exit_code == 2 and f"no journal in {state}" in result.stderr
    fill(default_journal_path("bank"))
    result = run("show")
    assert result.exit_code == 0 and f"{state / 'bank.db'}: 4 events" in result.stdout
    fill(default_journal_path("a/b"))
    result = run("show")
    assert result.exit_code == 2
    assert "There are 2 journals" in result.stderr and "bank.db, id-" in result.stderr


def test_a_name_that_was_offered_is_found_and_a_file_here_comes_first(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fill(default_journal_path("bank"))
    fill(default_journal_path("notes"))
    result = run("show", "bank.db")
    assert result.exit_code == 0 and f"{state / 'bank.db'}: 4 events" in result.stdout
    assert run("show", "bank").stdout == result.stdout  # by the id of its agent
    assert run("purge", "bank.db", "--yes").exit_code == 0
    assert kept(state / "bank.db") == [] and len(kept(state / "notes.db")) == 4
    fill(tmp_path / "notes.db")
    assert run("purge", "notes.db", "--yes").exit_code == 0
    assert kept(tmp_path / "notes.db") == [] and len(kept(state / "notes.db")) == 4
    for name in ("other.db", "./bank.db", "sub/bank.db", ".."):
        assert run("show", name).exit_code == 2, name


@pytest.mark.parametrize("answer", ["n\n", "\n", "N\n"])
def test_purging_asks_and_enter_alone_deletes_nothing(file: Path, answer: str) -> None:
    result = run("purge", file, answer=answer)
    assert result.exit_code == 0
    assert "4 events in 2 sessions, 1 of them not ended. Delete for good?" in result.stdout
    assert result.stdout.endswith("Nothing was deleted.\n")
    assert len(kept(file)) == 4


def test_purging_without_standard_input_deletes_nothing(file: Path) -> None:
    command = ["sh", "-c", 'exec "$0" journal purge "$1" <&-', str(Path(sys.executable).with_name("aaep")), str(file)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 2
    assert "Nobody is there to ask, so nothing was deleted." in done.stderr
    assert len(kept(file)) == 4


def test_purging_when_nobody_answers_deletes_nothing(file: Path) -> None:
    result = run("purge", file, answer="")
    assert result.exit_code == 2 and "nothing was deleted" in result.stderr and "--yes" in result.stderr
    assert len(kept(file)) == 4


def test_purging_after_a_yes(file: Path) -> None:
    result = run("purge", file, answer="y\n")
    assert result.exit_code == 0
    assert result.stdout.endswith("Deleted: 4 events in 2 sessions, 1 of them not ended.\n")
    assert kept(file) == []
    assert run("show", file).stdout == f"{file}: nothing is kept.\n"
    assert "nothing was deleted" in run("purge", file).stdout


def test_purging_one_session_without_asking(file: Path) -> None:
    result = run("purge", file, "--session", "sess_b", "--yes")
    assert result.stdout == "Deleted: 2 events in 1 session, which has not ended.\n"
    assert kept(file) == ["evt_1", "evt_3"]


def test_alone_it_prints_its_help() -> None:
    result = run()
    assert result.exit_code == 0 and "purge" in result.stdout and result.stdout == run("--help").stdout
