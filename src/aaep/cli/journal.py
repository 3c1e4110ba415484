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
from ..journal.base import Entry, Kept
from ..journal.sqlite import SqliteJournal, folder, path_for
from ..presentation.announce import Outputs, Preferences
from ..protocol.codec import read
from ..protocol.events import Envelope
from ..protocol.fields import get_member
from ._command import SETTINGS, CannotRun, Group, Verb, counted, jsonl, plain

__all__ = ["main"]

_FILE: Final = click.Path(dir_okay=False)


@click.group(
    "journal", cls=Group, context_settings=SETTINGS, invoke_without_command=True, epilog="Example: aaep journal show"
)
@click.pass_context
def main(context: click.Context) -> None:
    """See or delete what an agent keeps of its sessions.

    Without a FILE it is the one journal in your own folder for them. A FILE that is not here is looked for there, by
    its name or by the id of its agent.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@main.command("show", cls=Verb, example="aaep journal show --session sess_4f2a")
@click.argument("file", type=_FILE, required=False)
@click.option("--json", "as_json", is_flag=True, help="Print a capture, one JSON object per line, instead of text.")
@click.option("--session", metavar="ID", help="Only this session.")
def show(*, file: str | None, as_json: bool, session: str | None) -> None:
    """Print what is kept as a listener would have heard it, in the order in which it was said.

    Long texts are cut short; --json prints every event whole, as aaep validate and aaep replay read it. The agent must
    not be running: a journal has one owner at a time. Exits with 2 if there is no such journal or session.
    """
    with _opened(file) as journal:
        held = _chosen(journal, session)
        found = journal.read(session=session, limit=sum(one.entries for one in held))
    if as_json:
        started = _moment(found[0].at) if found else None
        sys.stdout.buffer.write(jsonl({"aaep_capture": 1, "source": journal.path.name, "started": started}))
        for entry in found:
            sys.stdout.buffer.write(jsonl({"at": _moment(entry.at), "dir": "out", "message": _message(entry)}))
        return
    for line in _told(found):
        click.echo(plain(line))
    click.echo(f"{plain(str(journal.path))}: {_sum(held)}.")


def _told(found: Iterable[Entry]) -> Iterator[str]:
    """What a listener would have heard, under the session it was said in; what is no event, as it is kept."""
    session, outputs, at = "", Outputs(Preferences(keys={})), ""
    for entry in found:
        at, event = _moment(entry.at), read(entry.data)[0]
        if entry.session_id != session:
            session = entry.session_id
            yield f"Session {session}{_speaker(event)}."
        if isinstance(event, Envelope):
            yield from (f"  {at}: {said.text}" for said in outputs.tell(event))
        else:
            yield f"  {at}, event {entry.event_id}: {entry.data.decode(errors='backslashreplace')}"
    for said in outputs.flush():  # of sessions that did not end
        yield f"  Session {said.session_id}, not finished: {said.text}"


def _speaker(event: object) -> str:
    name = get_member(event.producer, "agent_name") or event.producer.agent_id if isinstance(event, Envelope) else ""
    return f" of {name}" if name else ""


@main.command("purge", cls=Verb, example="aaep journal purge --session sess_4f2a")
@click.argument("file", type=_FILE, required=False)
@click.option("--session", metavar="ID", help="Only this session.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def purge(*, file: str | None, session: str | None, yes: bool) -> None:
    """Delete what is kept, for good. Asks before it does.

    The agent must not be running: a journal has one owner at a time. Exits with 0 also if you say no, and 2 if nobody
    is there to ask.
    """
    with _opened(file) as journal:
        held = _chosen(journal, session)
        if not held:
            click.echo(f"{plain(str(journal.path))}: nothing is kept, nothing was deleted.")
            return
        if not yes and not _agreed(f"{plain(str(journal.path))}: {_sum(held)}. Delete for good?"):
            click.echo("Nothing was deleted.")
            return
        journal.purge(session)
    click.echo(f"Deleted: {_sum(held)}.")


def _agreed(question: str) -> bool:
    try:
        return click.confirm(question, default=False)
    except (click.Abort, RuntimeError) as error:  # the latter where standard input is closed
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        raise CannotRun(
            "Nobody is there to ask, so nothing was deleted. Add --yes to delete without asking."
        ) from error


@contextmanager
def _opened(file: str | None) -> Iterator[SqliteJournal]:
    try:
        journal = SqliteJournal(_only() if file is None else _named(file), create=False)
        try:
            yield journal
        finally:
            journal.close()
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _only() -> Path:
    """The journal that is meant when none is named."""
    place = folder()
    found = sorted(place.glob("*.db"))
    if not found:
        raise CannotRun(f"There is no journal in {place}. Name the FILE.")
    if len(found) > 1:
        raise CannotRun(
            f"There are {len(found)} journals in {place}: {', '.join(one.name for one in found)}. Name one."
        )
    return found[0]


def _named(file: str) -> Path:
    """A file, or the name of a journal in the folder for them, or its agent. Whoever writes ./ means the one here."""
    if os.path.basename(file) != file or os.path.lexists(file):
        return Path(file)
    return next((kept for kept in (folder() / file, path_for(file)) if os.path.lexists(kept)), Path(file))


def _chosen(journal: SqliteJournal, session: str | None) -> list[Kept]:
    held = [one for one in journal.sessions(open_only=False) if session in (None, one.session_id)]
    if session is not None and not held:
        raise CannotRun(f"Nothing is kept of a session {plain(session, 100)}.")
    return held


def _sum(held: list[Kept]) -> str:
    if not held:
        return "nothing is kept"
    entries, unended = sum(one.entries for one in held), sum(not one.ended for one in held)
    text = f"{counted(entries, 'event')} in {counted(len(held), 'session')}"
    if not unended:
        return text
    return text + (", which has not ended" if len(held) == 1 else f", {unended} of them not ended")


def _moment(at: float) -> str:
    try:
        return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return "at an unknown time"


def _message(entry: Entry) -> Any:
    try:
        return json.loads(entry.data)
    except (ValueError, RecursionError):
        return entry.data.decode(errors="backslashreplace")
