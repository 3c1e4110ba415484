"""``aaep journal``: print or delete the sessions in the journal of an agent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from ..errors import AaepError
from ..journal.base import JournalEntry, StoredSession
from ..journal.sqlite import SqliteJournal
from ..outputs.printer import QUOTE_MARK
from ..presentation.announce import Announcement, Preferences
from ..presentation.presenter import Presenter
from ..protocol.codec import read
from ..protocol.events import Envelope
from ..protocol.fields import get_member
from ..recording.recordings import CAPTURE_VERSION
from ..runtime.files import default_journal_path, user_state_folder
from ._command import CONTEXT_SETTINGS, AaepCommand, CannotRun, CommandGroup, format_count, to_json_line, to_printable

__all__ = ["main"]

_FILE_TYPE: Final = click.Path(dir_okay=False)


@click.group(
    "journal",
    cls=CommandGroup,
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep journal show",
)
@click.pass_context
def main(context: click.Context) -> None:
    """See or delete what an agent keeps of its sessions.

    Without a FILE it is the one journal in your own folder for them. A FILE that is not here is looked for there, by
    its name or by the id of its agent.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@main.command("show", cls=AaepCommand, example="aaep journal show --session sess_4f2a")
@click.argument("file", type=_FILE_TYPE, required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a capture, one JSON object per line, instead of text.")
@click.option("--session", "session_id", metavar="ID", help="Only this session.")
def show(*, file: str | None, as_json: bool, session_id: str | None) -> None:
    """Print what is kept as a listener would have heard it, in the order in which it was said.

    Long texts are cut short; --json prints every event whole, as aaep validate and aaep replay read it. The agent must
    not be running: a journal has one owner at a time. Exits with 2 if there is no such journal or session.
    """
    with _open_journal(file) as journal:
        sessions = _select_sessions(journal, session_id)
        entries = journal.read(session=session_id, limit=sum(session.entry_count for session in sessions))
    if as_json:
        started = _format_time(entries[0].at) if entries else None
        header = {"aaep_capture": CAPTURE_VERSION, "source": journal.path.name, "started": started}
        sys.stdout.buffer.write(to_json_line(header))
        for entry in entries:
            line = {"at": _format_time(entry.at), "dir": "out", "message": _decode_message(entry)}
            sys.stdout.buffer.write(to_json_line(line))
        return
    for text in _format_entries(entries):
        click.echo(to_printable(text))
    click.echo(f"{to_printable(str(journal.path))}: {_format_total(sessions)}.")


def _format_entries(entries: Iterable[JournalEntry]) -> Iterator[str]:
    """Yield the announcements of the entries below a title for each session; the raw text of what is no event."""
    session_id = ""
    presenter = Presenter(Preferences(keys={}, progress_interval=0.0, progress_step=0.0), can_answer=False)
    for entry in entries:
        at = _format_time(entry.at)
        event = read(entry.data)[0]
        if entry.session_id != session_id:
            session_id = entry.session_id
            yield f"Session {session_id}{_format_agent(event)}."
        if isinstance(event, Envelope):
            yield from (f"  {at}: {_format_text(announcement)}" for announcement in presenter.present(event, entry.at))
        else:
            yield f"  {at}, event {entry.event_id}: {entry.data.decode(errors='backslashreplace')}"
    for announcement in presenter.flush():  # outputs of sessions that have not ended
        yield f"  Session {announcement.session_id}, not finished: {_format_text(announcement)}"


def _format_text(announcement: Announcement) -> str:
    return f"{QUOTE_MARK if announcement.quoted else ''}{announcement.text}"


def _format_agent(event: object) -> str:
    if not isinstance(event, Envelope):
        return ""
    name = get_member(event.producer, "agent_name") or event.producer.agent_id
    return f" of {name}" if name else ""


@main.command("purge", cls=AaepCommand, example="aaep journal purge --session sess_4f2a")
@click.argument("file", type=_FILE_TYPE, required=False)
@click.option("--session", "session_id", metavar="ID", help="Only this session.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(*, file: str | None, session_id: str | None, yes: bool) -> None:
    """Delete what is kept, for good. Asks before it does.

    The agent must not be running: a journal has one owner at a time. Exits with 0 also if you say no, and 2 if nobody
    is there to ask.
    """
    with _open_journal(file) as journal:
        sessions = _select_sessions(journal, session_id)
        path = to_printable(str(journal.path))
        if not sessions:
            click.echo(f"{path}: nothing is kept, nothing was deleted.")
            return
        if not yes and not _ask_confirmation(f"{path}: {_format_total(sessions)}. Delete for good?"):
            click.echo("Nothing was deleted.")
            return
        journal.purge(session_id)
    click.echo(f"Deleted: {_format_total(sessions)}.")


def _ask_confirmation(question: str) -> bool:
    try:
        return click.confirm(question, default=False)
    except (click.Abort, RuntimeError) as error:  # RuntimeError if standard input is closed
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        raise CannotRun(
            "Nobody is there to ask, so nothing was deleted. Add --yes to delete without asking."
        ) from error


@contextmanager
def _open_journal(file: str | None) -> Iterator[SqliteJournal]:
    try:
        journal = SqliteJournal(_find_only_journal() if file is None else _find_journal(file), create=False)
        try:
            yield journal
        finally:
            journal.close()
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _find_only_journal() -> Path:
    """Return the only journal in the user's state folder, for a command without a file."""
    folder = user_state_folder()
    journals = sorted(folder.glob("*.db"))
    if not journals:
        raise CannotRun(f"There is no journal in {folder}. Name the FILE.")
    if len(journals) > 1:
        names = ", ".join(journal.name for journal in journals)
        raise CannotRun(f"There are {len(journals)} journals in {folder}: {names}. Name one.")
    return journals[0]


def _find_journal(file: str) -> Path:
    """Return a file, or a journal in the state folder by its name or agent id; ``./`` always means a file."""
    if os.path.basename(file) != file or os.path.lexists(file):
        return Path(file)
    for path in (user_state_folder() / file, default_journal_path(file)):
        if os.path.lexists(path):
            return path
    return Path(file)


def _select_sessions(journal: SqliteJournal, session_id: str | None) -> list[StoredSession]:
    """Return all sessions of a journal, or the one with an id."""
    sessions = [
        session for session in journal.list_sessions(open_only=False) if session_id in (None, session.session_id)
    ]
    if session_id is not None and not sessions:
        raise CannotRun(f"Nothing is kept of a session {to_printable(session_id, 100)}.")
    return sessions


def _format_total(sessions: list[StoredSession]) -> str:
    if not sessions:
        return "nothing is kept"
    event_count = sum(session.entry_count for session in sessions)
    unended = sum(not session.has_ended for session in sessions)
    text = f"{format_count(event_count, 'event')} in {format_count(len(sessions), 'session')}"
    if not unended:
        return text
    return text + (", which has not ended" if len(sessions) == 1 else f", {unended} of them not ended")


def _format_time(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


def _decode_message(entry: JournalEntry) -> Any:
    try:
        return json.loads(entry.data)
    except (ValueError, RecursionError):
        return entry.data.decode(errors="backslashreplace")
