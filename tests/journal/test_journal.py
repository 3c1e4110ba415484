"""Journals: the same promises behind every file of the folder, and what the one on disk promises beyond them."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Barrier, Condition, Event, Thread
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aaep import AaepError
from aaep.journal import sqlite
from aaep.journal.base import (
    EventNotRetained,
    Journal,
    JournalDamaged,
    JournalEntry,
    JournalError,
    JournalInUse,
    JournalUnsafe,
    Retention,
    expand_merged_id,
)
from aaep.journal.memory import MemoryJournal
from aaep.journal.sqlite import SqliteJournal
from aaep.runtime.files import default_journal_path, user_state_folder

FOLDER = Path(sqlite.__file__).parent
OPEN: dict[str, Callable[[Path, Retention | None], Journal]] = {
    "memory": lambda _, retention: MemoryJournal(retention=retention),
    "sqlite": lambda place, retention: SqliteJournal(place / "journal.db", retention=retention),
}
posix = pytest.mark.skipif(os.name != "posix", reason="owners, modes and signals as POSIX has them")


def test_every_file_of_the_folder_is_tested_here() -> None:
    assert {path.stem for path in FOLDER.glob("[!_]*.py")} - {"base"} == {*OPEN}


@pytest.fixture(params=sorted(OPEN))
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., Journal]]:
    made: list[Journal] = []

    def build(retention: Retention | None = None) -> Journal:
        made.append(OPEN[request.param](tmp_path, retention))
        return made[-1]

    yield build
    for journal in made:
        journal.close()


@pytest.fixture
def journal(make: Callable[..., Journal]) -> Journal:
    return make()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def event(name: str = "output.streaming", size: int = 0) -> bytes:
    return msgspec.json.encode({"type": f"aaep:agent.{name}", "pad": "x" * size})


def fill(journal: Journal, session: str, count: int, *, at: float = 0.0, end: bool = False, size: int = 0) -> list[str]:
    ids = [f"evt_{session[5:]}x{number}" for number in range(count)]
    for number, id_ in enumerate(ids):
        last = end and number == count - 1
        journal.append(id_, session, event("session.completed" if last else "output.streaming", size), at=at + number)
    return ids


def ids(entries: list[JournalEntry]) -> list[str]:
    return [entry.event_id for entry in entries]


# -- every journal ---------------------------------------------------------------


def test_what_was_appended_is_read_at_once_whole_and_in_order(journal: Journal) -> None:
    journal.append("evt_2", "sess_a", b'{"z": "\\u0000"}', at=5.5)
    assert journal.read() == [JournalEntry("evt_2", "sess_a", b'{"z": "\\u0000"}', 5.5)]
    journal.append("evt_1", "sess_b", b"\xff not json", at=4.0)
    expected = [
        JournalEntry("evt_2", "sess_a", b'{"z": "\\u0000"}', 5.5),
        JournalEntry("evt_1", "sess_b", b"\xff not json", 4.0),
    ]
    assert journal.read() == expected
    journal.sync()
    assert journal.read() == expected


def test_what_is_committed_can_be_read_alone(journal: Journal) -> None:
    written = fill(journal, "sess_a", 3)
    journal.flush()
    assert ids(journal.read(written[0], committed=True)) == written[1:]


def test_what_is_on_no_disk_yet_is_not_read_as_committed(file: Path) -> None:
    with closing(SqliteJournal(file)) as journal:
        first = fill(journal, "sess_a", 2)
        journal.flush()
        with journal._connection_lock:  # so that the writer waits
            later = fill(journal, "sess_b", 2)
            assert ids(journal.read()) == [*first, *later]
            assert ids(journal.read(committed=True)) == first
            assert journal.read(later[0], committed=True) == []


@pytest.mark.parametrize("synced", [False, True])
def test_reading_goes_on_after_an_event(journal: Journal, synced: bool) -> None:
    written = fill(journal, "sess_a", 10)
    if synced:
        journal.sync()
    written += fill(journal, "sess_b", 5)
    assert ids(journal.read(written[3])) == written[4:]
    assert ids(journal.read(written[3], limit=8)) == written[4:12]
    assert ids(journal.read(written[3], session="sess_b", limit=2)) == written[10:12]
    assert journal.read(written[-1]) == []
    assert journal.read(session="sess_none") == [] and journal.read(session="\ud800") == []
    assert journal.read(limit=0) == []


@pytest.mark.parametrize("synced", [False, True])
def test_reading_goes_back_from_an_event_too_and_what_follows_it_is_counted(journal: Journal, synced: bool) -> None:
    written = fill(journal, "sess_a", 10)
    if synced:
        journal.sync()
    written += fill(journal, "sess_b", 5)
    assert ids(journal.read_before(written[3])) == written[:4]
    assert ids(journal.read_before(written[12], limit=4)) == written[9:13]
    assert ids(journal.read_before(written[12] + "m2", limit=1)) == written[12:13]
    assert journal.read_before(written[12], limit=0) == []
    assert [journal.count_after(event_id) for event_id in (written[0], written[9], written[-1])] == [14, 5, 0]
    for ask in (journal.read_before, journal.count_after):
        with pytest.raises(EventNotRetained):
            ask("evt_nope")


def test_pages_join_without_gap_or_repeat_while_others_append(journal: Journal) -> None:
    """In whatever state of being written the entries are."""
    total = 3000
    thread = Thread(target=fill, args=(journal, "sess_a", total))
    thread.start()
    seen: list[str] = []
    while len(seen) < total:
        seen += ids(journal.read(seen[-1] if seen else None, limit=70))
    thread.join()
    assert seen == [f"evt_ax{number}" for number in range(total)]


def test_a_merged_id_stands_for_its_last_part(journal: Journal) -> None:
    """C-85: the last part's id, the letter m, and the number of parts."""
    written = fill(journal, "sess_a", 6)
    assert ids(journal.read(written[2] + "m3")) == written[3:]
    assert ids(journal.read(written[2] + "m12")) == written[3:]


def test_an_id_that_only_looks_merged_is_itself(journal: Journal) -> None:
    for id_ in ("evt_a", "evt_b", "evt_am2", "evt_c"):
        journal.append(id_, "sess_a", event(), at=0)
    assert ids(journal.read("evt_am2")) == ["evt_c"]
    assert ids(journal.read("evt_am2m4")) == ["evt_c"]
    assert expand_merged_id("evt_m") == ("evt_m",)
    assert expand_merged_id("evt_am0") == ("evt_am0",)


@pytest.mark.parametrize("unknown", ["evt_nope", "evt_nopem2", "", "m2", "'; DROP TABLE entry", "evt_ax0m", "\ud800"])
def test_an_unknown_id_is_a_lookup_error_of_its_own(journal: Journal, unknown: str) -> None:
    """CF-091: so that the caller catches up with a summary instead."""
    fill(journal, "sess_a", 2)
    with pytest.raises(EventNotRetained) as caught:
        journal.read(unknown)
    error: Exception = caught.value
    assert isinstance(error, LookupError)
    assert isinstance(error, AaepError)


def test_an_id_appended_twice_is_found_at_its_first_place(journal: Journal) -> None:
    for id_ in ("evt_a", "evt_b", "evt_a", "evt_c"):
        journal.append(id_, "sess_a", event(), at=0)
    assert ids(journal.read("evt_a")) == ["evt_b", "evt_a", "evt_c"]


@pytest.mark.parametrize("name", ["session.completed", "session.errored", "session.cancelled"])
def test_a_session_is_open_until_its_terminal_event(journal: Journal, name: str) -> None:
    fill(journal, "sess_a", 2, at=10)
    fill(journal, "sess_b", 1, at=5)
    assert [one.session_id for one in journal.list_sessions()] == ["sess_a", "sess_b"]
    journal.append("evt_end", "sess_a", event(name), at=30)
    assert [one.session_id for one in journal.list_sessions()] == ["sess_b"]
    first, second = journal.list_sessions(open_only=False)
    size = 2 * len(event()) + len(event(name))
    assert (first.session_id, first.entry_count, first.byte_count, first.first_at, first.last_at) == (
        "sess_a",
        3,
        size,
        10,
        30,
    )
    assert first.has_ended and not second.has_ended
    assert [*ids(journal.read(session="sess_a", limit=first.entry_count))][-1] == "evt_end"


def test_text_about_an_end_is_no_end(journal: Journal) -> None:
    journal.append("evt_1", "sess_a", b'{"text": "aaep:agent.session.completed", "in": {"type": 1}}', at=0)
    journal.append("evt_2", "sess_a", b'{"type": ["aaep:agent.session.completed"]}', at=0)
    assert [one.session_id for one in journal.list_sessions()] == ["sess_a"]


def test_trimming_by_age_drops_ended_sessions_whole_and_no_open_one(make: Callable[..., Journal]) -> None:
    journal = make(Retention(max_age=100))
    fill(journal, "sess_old", 3, at=0, end=True)
    fill(journal, "sess_open", 3, at=0)
    fill(journal, "sess_late", 3, at=97, end=True)  # begun long ago, ended at 99
    assert journal.trim(102) == 0
    assert journal.trim(103) == 3
    assert [one.session_id for one in journal.list_sessions(open_only=False)] == ["sess_open", "sess_late"]
    assert journal.trim(1e9) == 3
    assert [one.session_id for one in journal.list_sessions(open_only=False)] == ["sess_open"]


def test_trimming_by_size_drops_what_ended_first_and_no_open_session(make: Callable[..., Journal]) -> None:
    journal = make(Retention(max_bytes=6000))
    fill(journal, "sess_open", 4, at=0, size=1000)
    fill(journal, "sess_b", 1, at=20, end=True, size=1000)
    fill(journal, "sess_a", 1, at=10, end=True, size=1000)
    assert journal.trim(30) == 1
    assert [one.session_id for one in journal.list_sessions(open_only=False)] == ["sess_open", "sess_b"]
    fill(journal, "sess_more", 9, at=25, size=1000)
    assert journal.trim(30) == 1
    assert [one.session_id for one in journal.list_sessions(open_only=False)] == ["sess_open", "sess_more"]
    assert journal.trim(30) == 0


def test_what_is_said_while_old_sessions_are_deleted_does_not_wait_for_all_of_them(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.db", retention=Retention(max_age=0))
    for name in ("sess_a", "sess_b", "sess_c"):
        fill(journal, name, 3, at=0, end=True)
    deleted: list[int] = []
    delete = journal._delete_where

    def say_and_delete(condition: str, values: tuple[str, ...]) -> int:
        committed = [entry.event_id for entry in journal.read(session="sess_new", committed=True)]
        assert committed == [f"evt_new_{number}" for number in range(len(deleted))]
        journal.append(f"evt_new_{len(deleted)}", "sess_new", b"{}", at=9)
        deleted.append(delete(condition, values))
        return deleted[-1]

    with patch.object(journal, "_delete_where", say_and_delete):
        assert journal.trim(10) == 9
    assert deleted == [3, 3, 3]
    journal.close()


def test_the_defaults_are_a_week_and_64_mebibytes() -> None:
    """SEC-039"""
    assert Retention() == Retention(max_age=604_800, max_bytes=67_108_864)


def test_a_reader_from_before_the_trimmed_is_told(make: Callable[..., Journal]) -> None:
    """It would otherwise miss a whole session and never know."""
    journal = make(Retention(max_age=10))
    journal.append("evt_before", "sess_open", event(), at=0)
    gone = fill(journal, "sess_gone", 2, end=True)
    journal.append("evt_behind", "sess_open", event(), at=2)
    assert journal.trim(100) == 2
    for id_ in ("evt_before", "evt_beforem2", *gone):
        with pytest.raises(EventNotRetained):
            journal.read(id_)
    assert journal.read("evt_behind") == []
    # Of its own session nothing is missing.
    assert ids(journal.read("evt_before", session="sess_open")) == ["evt_behind"]
    assert ids(journal.read()) == ["evt_before", "evt_behind"]


def test_purging_one_session_or_all(journal: Journal) -> None:
    """SEC-039"""
    fill(journal, "sess_a", 3)
    fill(journal, "sess_b", 2, end=True)
    assert journal.purge("sess_none") == 0
    assert journal.purge("sess_a") == 3
    assert {entry.session_id for entry in journal.read()} == {"sess_b"}
    fill(journal, "sess_c", 1)
    assert journal.purge() == 3
    assert journal.read() == [] and journal.list_sessions(open_only=False) == []
    written = fill(journal, "sess_b", 2)
    assert ids(journal.read()) == written
    assert [one.session_id for one in journal.list_sessions()] == ["sess_b"]


def test_threads_append_at_once_and_each_keeps_its_order(journal: Journal) -> None:
    count, each = 8, 400
    ready = Barrier(count)

    def work(number: int) -> None:
        ready.wait()
        fill(journal, f"sess_{number}", each)
        journal.sync()

    threads = [Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = journal.read(limit=count * each + 1)
    assert len(found) == count * each
    for number in range(count):
        session = f"sess_{number}"
        mine = [f"evt_{number}x{one}" for one in range(each)]
        assert [entry.event_id for entry in found if entry.session_id == session] == mine
        assert ids(journal.read(session=session)) == mine


@pytest.mark.parametrize(
    "bad",
    [
        ("", "sess_a", b"{}", 0.0),
        ("evt_a", "", b"{}", 0.0),
        ("evt_\ud800", "sess_a", b"{}", 0.0),
        ("evt_a", "sess_a", b"{}", float("nan")),
        ("evt_a", "sess_a", bytes(16 * 1024 * 1024 + 1), 0.0),
    ],
    ids=["no id", "no session", "no text", "no time", "too large"],
)
def test_what_could_not_be_written_later_is_refused_at_once(
    journal: Journal, bad: tuple[str, str, bytes, float]
) -> None:
    with pytest.raises(ValueError):
        journal.append(*bad[:3], at=bad[3])
    fill(journal, "sess_a", 1)
    journal.sync()
    assert len(journal.read()) == 1


def test_a_closed_journal_says_so(journal: Journal) -> None:
    journal.close()
    journal.close()
    calls: list[Callable[[], object]] = [
        lambda: journal.append("evt_a", "sess_a", b"{}", at=0),
        journal.sync,
        journal.read,
        journal.list_sessions,
        journal.purge,
        lambda: journal.trim(0),
    ]
    for call in calls:
        with pytest.raises(JournalError, match="closed"):
            call()


SESSIONS = st.sampled_from(["sess_a", "sess_b", "sess_c"])
KINDS = st.sampled_from(["output.streaming", "output.streaming", "session.completed"])
STEPS = st.one_of(
    st.tuples(st.just("append"), SESSIONS, KINDS, st.integers(0, 30)),
    st.tuples(st.just("read"), st.integers(0, 25), SESSIONS | st.none(), st.integers(0, 5)),
    st.tuples(st.just("back"), st.integers(0, 25), st.integers(0, 5)),
    st.tuples(st.just("trim"), st.integers(0, 60)),
    st.tuples(st.just("purge"), SESSIONS | st.none()),
    st.tuples(st.just("sync")),
)


@settings(max_examples=60)
@given(st.lists(STEPS, max_size=40))
def test_all_journals_answer_alike(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as place, patch.object(sqlite, "PORTION_ENTRIES", 3):
        journals = [OPEN[name](Path(place), Retention(max_age=20, max_bytes=400)) for name in sorted(OPEN)]
        try:
            for number, (verb, *values) in enumerate(steps):
                answers = [answer(journal, verb, values, number) for journal in journals]
                assert all(one == answers[0] for one in answers), verb
                kept = [journal.list_sessions(open_only=False) for journal in journals]
                assert all(one == kept[0] for one in kept)
        finally:
            for journal in journals:
                journal.close()


def answer(journal: Journal, verb: str, values: list[Any], number: int) -> object:
    match verb, values:
        case "append", [session, kind, at]:
            journal.append(f"evt_{number}", session, event(kind), at=at)
            return journal.read(limit=100)
        case "read", [after, session, limit]:
            try:
                return journal.read(f"evt_{after}m2", session=session, limit=limit)
            except EventNotRetained as error:
                return str(error)
        case "back", [event_id, limit]:
            try:
                return journal.read_before(f"evt_{event_id}", limit=limit), journal.count_after(f"evt_{event_id}")
            except EventNotRetained as error:
                return str(error)
        case "trim", [now]:
            return journal.trim(now)
        case "purge", [session]:
            return journal.purge(session)
    journal.sync()
    return None


# -- the one on disk -------------------------------------------------------------


def test_everything_is_there_after_opening_again(file: Path) -> None:
    first = SqliteJournal(file, retention=Retention(max_age=10))
    first.append("evt_before", "sess_a", event(), at=0)
    fill(first, "sess_gone", 3, end=True)
    written = fill(first, "sess_a", 2500, at=1)
    assert first.trim(1000) == 3
    held = first.read(limit=5000)
    first.close()
    assert [path.name for path in file.parent.iterdir()] == ["journal.db"]
    second = SqliteJournal(file)
    try:
        assert second.read(limit=5000) == held
        assert [one.entry_count for one in second.list_sessions()] == [2501]
        with pytest.raises(EventNotRetained):  # the gap is remembered
            second.read("evt_before")
        second.append("evt_new", "sess_a", event(), at=5)
        assert ids(second.read(written[-1])) == ["evt_new"]
        second.sync()
    finally:
        second.close()


def test_after_purging_everything_and_opening_again_new_entries_are_found(file: Path) -> None:
    journal = SqliteJournal(file)
    fill(journal, "sess_a", 10)
    journal.purge()
    journal.close()
    journal = SqliteJournal(file)
    written = fill(journal, "sess_b", 3)
    try:
        assert ids(journal.read(written[0])) == written[1:]
    finally:
        journal.close()


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_files_and_folders_are_for_their_owner_alone_from_the_first(tmp_path: Path, umask: int) -> None:
    file = tmp_path / "state" / "aaep" / "journal.db"
    if umask == 0o777:
        file.parent.mkdir(parents=True, mode=0o700)
    before = os.umask(umask)
    try:
        journal = SqliteJournal(file)
        fill(journal, "sess_a", 3)
        journal.sync()
    finally:
        os.umask(before)
    try:
        modes = {path.name: path.stat().st_mode & 0o777 for path in file.parent.iterdir()}
        assert modes == {"journal.db": 0o600, "journal.db-wal": 0o600}
        assert umask == 0o777 or [path.stat().st_mode & 0o777 for path in (file.parent, file.parent.parent)] == [
            0o700,
            0o700,
        ]
    finally:
        journal.close()


@posix
@pytest.mark.parametrize("name", ["journal.db", "journal.db-wal"])
def test_a_file_that_others_may_read_is_refused(file: Path, name: str) -> None:
    SqliteJournal(file).close()
    open_to_others = file.with_name(name)
    open_to_others.touch()
    open_to_others.chmod(0o640)
    with pytest.raises(JournalUnsafe, match="chmod 600"):
        SqliteJournal(file)


@posix
def test_a_file_or_folder_of_somebody_else_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    SqliteJournal(file).close()
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    with pytest.raises(JournalUnsafe, match="another user"):
        SqliteJournal(file)


@posix
def test_a_folder_others_may_write_in_is_refused_unless_files_in_it_are_protected(tmp_path: Path) -> None:
    place = tmp_path / "open"
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(JournalUnsafe, match="go-w"):
        SqliteJournal(place / "journal.db")
    assert [*place.iterdir()] == []
    place.chmod(0o1777)
    SqliteJournal(place / "journal.db").close()


@posix
def test_a_link_is_not_followed(tmp_path: Path, file: Path) -> None:
    SqliteJournal(file).close()
    for target in (file, tmp_path / "nothing.db"):
        link = tmp_path / f"link-{target.name}"
        link.symlink_to(target)
        with pytest.raises(JournalUnsafe, match="plain file"):
            SqliteJournal(link)
    assert not (tmp_path / "nothing.db").exists()


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE entry (number)")
    other.close()


def torn(path: Path) -> None:
    """A journal whose pages, but not its header, were overwritten."""
    journal = SqliteJournal(path)
    fill(journal, "sess_a", 200, size=500)
    journal.close()
    data = bytearray(path.read_bytes())
    data[4096 * 5 : 4096 * 12] = b"\xa5" * (4096 * 7)
    path.write_bytes(data)


def newer(path: Path) -> None:
    SqliteJournal(path).close()
    data = bytearray(path.read_bytes())
    data[60:64] = (99).to_bytes(4)
    path.write_bytes(data)


def cut(path: Path) -> None:
    SqliteJournal(path).close()
    path.write_bytes(path.read_bytes()[:5000])


def wiped(path: Path) -> None:
    path.write_bytes(bytes(8192))


@pytest.mark.parametrize("spoil", [Path.touch, foreign, torn, newer, cut, wiped], ids=lambda spoil: str(spoil.__name__))
def test_a_damaged_or_foreign_file_is_refused_and_left_as_it_is(file: Path, spoil: Callable[[Path], None]) -> None:
    spoil(file)
    file.chmod(0o600)
    before = file.read_bytes()
    with pytest.raises(JournalDamaged, match=r"move it away|update it") as caught:
        SqliteJournal(file)
    assert str(file) in str(caught.value)
    assert file.read_bytes() == before
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_without_leave_to_create_nothing_is_made(file: Path) -> None:
    with pytest.raises(JournalError, match="There is no journal"):
        SqliteJournal(file, create=False)
    assert [*file.parent.iterdir()] == []


def test_the_same_file_opened_twice_in_one_process_is_in_use(file: Path) -> None:
    """And the lock of the first still holds after the second attempt."""
    journal = SqliteJournal(file)
    try:
        with pytest.raises(JournalInUse):
            SqliteJournal(file)
        other = subprocess.run([sys.executable, "-c", TRY, file], capture_output=True, text=True, check=False)
        assert other.stdout == "JournalInUse\n", other.stderr
        fill(journal, "sess_a", 1)
        journal.sync()
    finally:
        journal.close()
    SqliteJournal(file).close()


TRY = """
import sys
from aaep.journal import JournalError
from aaep.journal.sqlite import SqliteJournal
try:
    SqliteJournal(sys.argv[1]).close()
    print("opened")
except JournalError as error:
    print(type(error).__name__)
"""

WRITER = """
import sys, itertools
from aaep.journal.sqlite import SqliteJournal
journal = SqliteJournal(sys.argv[1])
sync = int(sys.argv[2])
for number in itertools.count(1):
    journal.append(f"evt_{number}", "sess_a", b'{"type": "aaep:agent.output.streaming"}' + b" " * 300, at=number)
    if number % sync == 0:
        journal.sync()
        print(number, flush=True)
"""


@posix
@pytest.mark.parametrize(("every", "confirmed"), [(1, 30), (7, 20), (700, 6)])
def test_killed_in_the_middle_only_what_was_not_confirmed_may_be_missing(
    file: Path, every: int, confirmed: int
) -> None:
    with subprocess.Popen([sys.executable, "-c", WRITER, file, str(every)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        told = [int(writer.stdout.readline()) for _ in range(confirmed)]
        # While it lives, the file is its own.
        with pytest.raises(JournalInUse, match="in use"):
            SqliteJournal(file)
        writer.send_signal(signal.SIGKILL)
        told += [int(line) for line in writer.stdout]
    assert writer.returncode == -signal.SIGKILL
    journal = SqliteJournal(file)
    try:
        found = journal.read(limit=10**9)
        assert ids(found) == [f"evt_{number}" for number in range(1, len(found) + 1)]
        assert len(found) >= told[-1]
        assert [one.session_id for one in journal.list_sessions()] == ["sess_a"]
        journal.append("evt_end", "sess_a", event("session.errored"), at=0)
        journal.sync()
        assert journal.list_sessions() == []
    finally:
        journal.close()
    with sqlite3.connect(file) as checked:
        assert checked.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    checked.close()


def test_sync_asks_the_disk_also_for_what_was_committed_before(file: Path) -> None:
    """A commit with synchronous = NORMAL survives the process, but not a loss of power."""
    journal = SqliteJournal(file)
    fill(journal, "sess_a", 3)
    assert len(journal.list_sessions()) == 1  # committed by now
    said: list[str] = []
    journal._connection.set_trace_callback(said.append)
    journal.sync()
    journal.sync()  # nothing new, nothing to do
    journal._connection.set_trace_callback(None)
    journal.close()
    assert said[0] == "PRAGMA synchronous = FULL" and said[-1] == "PRAGMA synchronous = NORMAL"
    assert said.count("COMMIT") == 1 and any(statement.startswith("UPDATE mark") for statement in said)


@posix
def test_a_copy_taken_at_any_moment_of_the_log_holds_a_beginning(file: Path, tmp_path: Path) -> None:
    """What a loss of power leaves: the log cut anywhere. No entry is half there, and none is there before its turn."""
    journal = SqliteJournal(file)
    for number in range(40):
        journal.append(f"evt_{number}", "sess_a", event(size=900), at=number)
        if number % 4 == 0:
            journal.sync()
    log = file.with_name("journal.db-wal").read_bytes()
    main = file.read_bytes()
    journal.close()
    counts = []
    for cut_at in range(0, len(log), 7001):
        place = tmp_path / f"cut{cut_at}"
        place.mkdir(mode=0o700)
        for name, data in (("journal.db", main), ("journal.db-wal", log[:cut_at])):
            (place / name).write_bytes(data)
            (place / name).chmod(0o600)
        copy = SqliteJournal(place / "journal.db")
        found = ids(copy.read())
        copy.close()
        assert found == [f"evt_{number}" for number in range(len(found))]
        counts.append(len(found))
        shutil.rmtree(place)
    assert counts == sorted(counts) and counts[0] == 0 and counts[-1] > 30


@posix
@pytest.mark.parametrize("name", sorted(OPEN))
def test_a_signal_handler_may_append_in_the_middle_of_appending(name: str, tmp_path: Path) -> None:
    """An agent that is told to stop says so from its handler."""
    program = """
import itertools, signal, sys
from pathlib import Path
from tests.journal.test_journal import OPEN
journal = OPEN[sys.argv[1]](Path(sys.argv[2]), None)
told = itertools.count()
def tell(*_):
    journal.append(f"evt_told{next(told)}", "sess_b", b"{}", at=0)
signal.signal(signal.SIGALRM, tell)
signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
for number in range(20000):
    journal.append(f"evt_{number}", "sess_a", b"{}", at=0)
signal.setitimer(signal.ITIMER_REAL, 0)
journal.sync()
found = [entry.event_id for entry in journal.read(limit=10**6)]
count = next(told)
assert len(found) == 20000 + count, (len(found), count)
assert [id_ for id_ in found if "told" not in id_] == [f"evt_{number}" for number in range(20000)]
journal.close()
"""
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, name, tmp_path], capture_output=True, text=True, check=False, cwd=root
    )
    assert done.returncode == 0, done.stderr


@posix
def test_a_forked_child_can_neither_use_nor_harm_the_journal(file: Path) -> None:
    program = f"""
import os, sys
from aaep.journal import JournalError
from aaep.journal.sqlite import SqliteJournal
journal = SqliteJournal({str(file)!r})
journal.append("evt_1", "sess_a", b"{{}}", at=0)
journal.sync()
child = os.fork()
if not child:
    try:
        journal.append("evt_2", "sess_a", b"{{}}", at=0)
    except JournalError:
        sys.exit(7)  # an orderly end, which closes what it can reach
    sys.exit(8)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), os.path.exists({str(file) + "-wal"!r}))
journal.append("evt_3", "sess_a", b"{{}}", at=0)
journal.sync()
print(len(journal.read()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "7 True\n2\n", done.stderr
    journal = SqliteJournal(file)
    assert ids(journal.read()) == ["evt_1", "evt_3"]
    journal.close()


def test_a_program_that_ends_without_closing_loses_nothing(file: Path) -> None:
    program = f"""
from aaep.journal.sqlite import SqliteJournal
journal = SqliteJournal({str(file)!r})
for number in range(2500):
    journal.append(f"evt_{{number}}", "sess_a", b"{{}}", at=0)
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    journal = SqliteJournal(file)
    assert len(journal.read(limit=9999)) == 2500
    journal.close()


def test_what_is_purged_is_no_longer_in_any_file(file: Path) -> None:
    journal = SqliteJournal(file)
    secret = b"the words of somebody"
    for number in range(50):
        journal.append(f"evt_{number}", "sess_a", secret * 50, at=0)
    journal.append("evt_other", "sess_b", b"something else", at=0)
    journal.sync()
    try:
        assert any(secret in path.read_bytes() for path in file.parent.iterdir())
        journal.purge("sess_a")
        assert not any(secret in path.read_bytes() for path in file.parent.iterdir())
        assert ids(journal.read()) == ["evt_other"]
    finally:
        journal.close()


def room(journal: SqliteJournal, pages: int) -> None:
    """Let the file grow by so many pages, as if the disk had no more."""
    with journal._connection_lock:
        (now,) = journal._connection.execute("PRAGMA page_count").fetchone()
        journal._connection.execute(f"PRAGMA max_page_count = {now + pages}")


def test_when_the_disk_refuses_callers_hear_it_nothing_is_forgotten_and_sync_tries_again(file: Path) -> None:
    journal = SqliteJournal(file)
    fill(journal, "sess_a", 3)
    journal.sync()
    room(journal, 0)
    journal.append("evt_large", "sess_a", event(size=100_000), at=0)
    with pytest.raises(JournalError, match="disk is full"):
        journal.sync()
    with pytest.raises(JournalError, match="disk is full"):
        journal.append("evt_more", "sess_a", event(), at=0)
    assert ids(journal.read())[-1] == "evt_large"
    room(journal, 1000)
    journal.sync()
    journal.append("evt_more", "sess_a", event(), at=0)
    journal.close()
    journal = SqliteJournal(file)
    assert ids(journal.read())[-2:] == ["evt_large", "evt_more"]
    journal.close()


def test_when_the_disk_has_room_again_appending_goes_on(file: Path) -> None:
    journal = SqliteJournal(file)
    journal.append("evt_first", "sess_a", event(), at=0)
    journal.sync()
    room(journal, 0)
    journal.append("evt_large", "sess_a", event(size=100_000), at=0)
    journal.flush()
    for _ in range(2):
        with pytest.raises(JournalError, match="Make room, then try again"):
            journal.append("evt_not", "sess_a", event(), at=0)
    room(journal, 1000)
    journal.append("evt_more", "sess_a", event(), at=0)
    journal.close()
    journal = SqliteJournal(file)
    assert ids(journal.read()) == ["evt_first", "evt_large", "evt_more"]
    journal.close()


def test_an_interruption_while_appending_keeps_nothing_from_the_disk(file: Path) -> None:
    class Interrupted(list[Any]):
        def append(self, one: Any) -> None:
            super().append(one)
            raise KeyboardInterrupt

    journal = SqliteJournal(file)
    with journal._lock:
        journal._pending = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        journal.append("evt_1", "sess_a", event(), at=0)
    written = Event()
    assert not journal.call_when_committed(written.set) or written.wait(30)
    journal.close()


def test_an_interruption_while_the_writer_is_woken_does_not_cost_it_the_next_wake_up(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Ctrl-C may come within ``notify``, which then has released the waiting thread but still lists it."""

    class Interrupted(Condition):
        is_armed = False
        sleeping = Event()

        def wait(self, timeout: float | None = None) -> bool:
            self.sleeping.set()
            return super().wait(timeout)

        def notify(self, n: int = 1) -> None:
            if self.is_armed:
                self.is_armed = False
                next(iter(self._waiters)).release()  # type: ignore[attr-defined]  # what typeshed does not know
                raise KeyboardInterrupt
            super().notify(n)

    monkeypatch.setattr(sqlite, "Condition", Interrupted)
    journal = SqliteJournal(file)
    condition = journal._work_available
    assert isinstance(condition, Interrupted) and condition.sleeping.wait(30)
    with condition:  # so it waits
        condition.is_armed = True
        condition.sleeping.clear()
    with pytest.raises(KeyboardInterrupt):
        journal.append("evt_1", "sess_a", event(), at=0)
    assert condition.sleeping.wait(30)  # again
    journal.append("evt_2", "sess_a", event(), at=0)
    written = Event()
    assert not journal.call_when_committed(written.set) or written.wait(30)
    journal.close()


def test_a_journal_that_cannot_be_written_says_what_to_do(file: Path) -> None:
    journal = SqliteJournal(file)
    with journal._connection_lock:  # what SQLite says is the same where the file system does not allow it
        journal._connection.execute("PRAGMA query_only = ON")
    journal.append("evt_1", "sess_a", event(), at=0)
    journal.flush()
    with pytest.raises(JournalError, match="allow writing to it"):
        journal.append("evt_2", "sess_a", event(), at=0)
    with journal._connection_lock:
        journal._connection.execute("PRAGMA query_only = OFF")
    journal.close()


@pytest.mark.parametrize(("count", "size"), [(sqlite.MAX_PENDING_ENTRIES, 1), (8, sqlite.MAX_PENDING_BYTES // 8)])
def test_a_disk_that_stalls_makes_appending_wait_not_memory_grow(file: Path, count: int, size: int) -> None:
    journal = SqliteJournal(file)
    through = Event()
    with journal._connection_lock:  # the disk stalls
        for number in range(count):
            journal.append(f"evt_{number}", "sess_a", bytes(size), at=0)

        def one_more() -> None:
            journal.append("evt_last", "sess_a", bytes(size), at=0)
            through.set()

        thread = Thread(target=one_more)
        thread.start()
        assert len(journal._pending) == count and not through.is_set()
        assert len(journal.read(limit=count + 1)) == count
    thread.join()
    try:
        assert ids(journal.read("evt_0", limit=count))[-1] == "evt_last"
    finally:
        journal.close()


# -- where journals are ----------------------------------------------------------


def test_the_folder_is_the_users_state_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_state_folder({}, "linux") == tmp_path / ".local/state/aaep"
    assert user_state_folder({"XDG_STATE_HOME": "/elsewhere"}, "linux") == Path("/elsewhere/aaep")
    assert user_state_folder({"XDG_STATE_HOME": "not/absolute"}, "linux") == tmp_path / ".local/state/aaep"
    assert user_state_folder({}, "darwin") == tmp_path / "Library/Application Support/AAEP"
    assert user_state_folder({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/AAEP")


@pytest.mark.parametrize("agent_id", ["bank-assistant", "A.b_c-9", "x" * 64, "..."])
def test_a_harmless_agent_id_is_the_file_name(agent_id: str) -> None:
    assert default_journal_path(agent_id).name == f"{agent_id}.db"


@pytest.mark.parametrize("agent_id", ["", ".", "..", "a/b", "../../etc/passwd", "a\0b", "x" * 65, "é", "a\n", "\ud800"])
def test_any_other_agent_id_becomes_a_digest(agent_id: str) -> None:
    """CF-103: no id leads out of the folder."""
    path = default_journal_path(agent_id)
    assert path.parent == user_state_folder()
    assert path.name.startswith("id-") and len(path.name) == len("id-.db") + 32
    assert {*path.stem.removeprefix("id-")} <= {*"0123456789abcdef"}
