"""``aaep journal``: see what an agent's journal keeps, and delete it."""

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
from ..presentation.announce import Outputs, Preferences
from ..protocol.codec import read
from ..protocol.events import Envelope
from ..protocol.fields import get_member
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
@click.option("--session", metavar="ID", help="Only this session.")
def show(*, file: str | None, as_json: bool, session: str | None) -> None:
    """Print what is kept as a listener would have heard it, in the order in which it was said.

    Long texts are cut short; --json prints every event whole, as aaep validate and aaep replay read it. The agent must
    not be running: a journal has one owner at a time. Exits with 2 if there is no such journal or session.
    """
    with _open_journal(file) as journal:
        held = _select_sessions(journal, session)
        found = journal.read(session=session, limit=sum(one.entry_count for one in held))
    if as_json:
        started = _format_time(found[0].at) if found else None
        sys.stdout.buffer.write(to_json_line({"aaep_capture": 1, "source": journal.path.name, "started": started}))
        for entry in found:
            sys.stdout.buffer.write(
                to_json_line({"at": _format_time(entry.at), "dir": "out", "message": _decode_message(entry)})
            )
        return
    for line in _format_entries(found):
        click.echo(to_printable(line))
    click.echo(f"{to_printable(str(journal.path))}: {_format_total(held)}.")


def _format_entries(found: Iterable[JournalEntry]) -> Iterator[str]:
    """What a listener would have heard, under the session it was said in; what is no event, as it is kept."""
    session, outputs, at = "", Outputs(Preferences(keys={})), ""
    for entry in found:
        at, event = _format_time(entry.at), read(entry.data)[0]
        if entry.session_id != session:
            session = entry.session_id
            yield f"Session {session}{_format_agent(event)}."
        if isinstance(event, Envelope):
            yield from (f"  {at}: {said.text}" for said in outputs.announce(event))
        else:
            yield f"  {at}, event {entry.event_id}: {entry.data.decode(errors='backslashreplace')}"
    for said in outputs.flush():  # of sessions that did not end
        yield f"  Session {said.session_id}, not finished: {said.text}"


def _format_agent(event: object) -> str:
    name = get_member(event.producer, "agent_name") or event.producer.agent_id if isinstance(event, Envelope) else ""
    return f" of {name}" if name else ""


@main.command("purge", cls=AaepCommand, example="aaep journal purge --session sess_4f2a")
@click.argument("file", type=_FILE_TYPE, required=False)
@click.option("--session", metavar="ID", help="Only this session.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(*, file: str | None, session: str | None, yes: bool) -> None:
    """Delete what is kept, for good. Asks before it does.

    The agent must not be running: a journal has one owner at a time. Exits with 0 also if you say no, and 2 if nobody
    is there to ask.
    """
    with _open_journal(file) as journal:
        held = _select_sessions(journal, session)
        if not held:
            click.echo(f"{to_printable(str(journal.path))}: nothing is kept, nothing was deleted.")
            return
        if not yes and not _ask_confirmation(
            f"{to_printable(str(journal.path))}: {_format_total(held)}. Delete for good?"
        ):
            click.echo("Nothing was deleted.")
            return
        journal.purge(session)
    click.echo(f"Deleted: {_format_total(held)}.")


def _ask_confirmation(question: str) -> bool:
    try:
        return click.confirm(question, default=False)
    except (click.Abort, RuntimeError) as error:  # the latter where standard input is closed
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
    """The journal that is meant when none is named."""
    place = user_state_folder()
    found = sorted(place.glob("*.db"))
    if not found:
        raise CannotRun(f"There is no journal in {place}. Name the FILE.")
    if len(found) > 1:
        raise CannotRun(
            f"There are {len(found)} journals in {place}: {', '.join(one.name for one in found)}. Name one."
        )
    return found[0]


def _find_journal(file: str) -> Path:
    """A file, or the name of a journal in the folder for them, or its agent. Whoever writes ./ means the one here."""
    if os.path.basename(file) != file or os.path.lexists(file):
        return Path(file)
    return next(
        (kept for kept in (user_state_folder() / file, default_journal_path(file)) if os.path.lexists(kept)), Path(file)
    )


def _select_sessions(journal: SqliteJournal, session: str | None) -> list[StoredSession]:
    held = [one for one in journal.list_sessions(open_only=False) if session in (None, one.session_id)]
    if session is not None and not held:
        raise CannotRun(f"Nothing is kept of a session {to_printable(session, 100)}.")
    return held


def _format_total(held: list[StoredSession]) -> str:
    if not held:
        return "nothing is kept"
    entries, unended = sum(one.entry_count for one in held), sum(not one.has_ended for one in held)
    text = f"{format_count(entries, 'event')} in {format_count(len(held), 'session')}"
    if not unended:
        return text
    return text + (", which has not ended" if len(held) == 1 else f", {unended} of them not ended")


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
