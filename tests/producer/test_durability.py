"""What is done after a yes is on disk before it is done, and what is on no disk is heard by nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from aaep import Producer
from aaep.journal.base import JournalError
from aaep.journal.sqlite import SqliteJournal
from aaep.testing import Listener


def read_committed(journal: SqliteJournal) -> str:
    """What would be found in the journal if the process ended now."""
    with journal._connection_lock:
        rows = journal._connection.execute("SELECT data FROM entry ORDER BY number").fetchall()
    return "\n".join(data.decode() for (data,) in rows)


def fill_disk(journal: SqliteJournal, pages: int = 0) -> None:
    with journal._connection_lock:
        (count,) = journal._connection.execute("PRAGMA page_count").fetchone()
        journal._connection.execute(f"PRAGMA max_page_count = {count + pages}")


def test_a_tool_that_was_asked_about_begins_when_its_yes_and_its_call_are_kept(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.db")
    found: list[str] = []
    with Producer("bank", journal=journal) as producer:
        Listener(producer, "accept")

        @producer.tool(action="Pay Ada.", consequence="The money is gone.")
        def pay() -> None:
            found.append(read_committed(journal))

        with producer.session("Paying."):
            pay()
    assert '"outcome":"accepted"' in found[0] and "aaep:agent.tool.invoked" in found[0]


def test_a_tool_that_was_asked_about_begins_when_a_loss_of_power_would_not_undo_its_yes(tmp_path: Path) -> None:
    """Else the next process would say that nothing was done."""
    journal = SqliteJournal(tmp_path / "journal.db")
    synced: list[bool] = []
    with Producer("bank", journal=journal) as producer:
        Listener(producer, "accept")

        @producer.tool(action="Pay Ada.", consequence="The money is gone.")
        def pay() -> None:
            with journal._connection_lock:
                find = "SELECT (SELECT number FROM mark WHERE name = 'synced') >= MAX(number) FROM entry"
                synced.append(bool(journal._connection.execute(find).fetchone()[0]))

        with producer.session("Paying."):
            pay()
    assert synced == [True]


def test_with_a_full_disk_nothing_that_was_asked_about_begins_and_nobody_hears_of_it(tmp_path: Path) -> None:
    journal = SqliteJournal(tmp_path / "journal.db")
    ran: list[str] = []
    with Producer("bank", journal=journal) as producer:

        def answer(_prompt: object) -> str:
            fill_disk(journal)
            return "accept"

        listener = Listener(producer, answer)

        @producer.tool(action="Pay Ada.", consequence="The money is gone.")
        def pay(note: str) -> None:
            ran.append(note)

        try:
            with pytest.raises(JournalError, match="disk is full"), producer.session("Paying."):
                pay("x" * 3000)
            committed = read_committed(journal)
            unkept = [event.type for event in listener.events if event.event_id not in committed]
        finally:
            fill_disk(journal, 100_000)
        assert ran == []
        assert unkept == [], "heard, and in no journal"
        listener.wait("tool.invoked")
        assert ran == []
