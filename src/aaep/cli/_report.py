"""
Telling what was found: as prose that reads well aloud, or as JSON Lines.

Both keep count. Prose is grouped by file and session, so it waits for the end
of each file; what it keeps is collapsed and bounded.
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Final

import click
import msgspec

from ..protocol.audit import Audit, Finding
from ..protocol.catalogue import speak_section
from ._command import counted, jsonl, plain

__all__ = ["JsonLines", "Prose"]

MOST: Final = 1000  # findings that prose keeps, unless told otherwise


class JsonLines:
    """One JSON object per finding, at once."""

    def __init__(self, most: int | None) -> None:
        self.counts: Counter[str] = Counter()
        self.most = most
        self._out = sys.stdout.buffer
        self._file = ""

    def open(self, file: str) -> None:
        self._file = file

    def say(self, line: int | None, finding: Finding) -> None:
        self.counts[finding.severity] += 1
        if self.most is not None and self.counts.total() > self.most:
            return
        members = {
            "file": self._file,
            "line": line,
            "event_id": finding.event_id or None,
            "session_id": finding.session_id or None,
            "rule": finding.rule,
            "section": finding.section,
            "severity": finding.severity,
            "path": finding.path,
            "message": finding.message,
        }
        self._out.write(jsonl(members))
        self._out.flush()

    def close(self, audit: Audit, messages: int) -> None:
        pass

    def end(self, failed: int) -> None:
        hidden = self.counts.total() - self.most if self.most is not None else 0
        if hidden > 0:
            text = f"aaep: {counted(hidden, 'more finding')} only counted; --max-findings sets how many are printed."
            click.echo(text, err=True)


class _Row(msgspec.Struct):
    first: int | None
    finding: Finding
    times: int = 1
    last: int | None = None


class Prose:
    """Sentences, grouped by file and session."""

    def __init__(self, most: int | None, *, notes: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.most = MOST if most is None else most
        self.notes = notes
        self._kept = 0
        self._dropped = 0
        self._file = ""
        self._sessions: dict[str, dict[tuple[str, str, str], _Row]] = {}

    def open(self, file: str) -> None:
        self._file = "standard input" if file == "-" else file
        self._sessions = {}

    def say(self, line: int | None, finding: Finding) -> None:
        self.counts[finding.severity] += 1
        if finding.severity == "info" and not self.notes:
            return
        # A message may quote what it found, and nothing says how long that is.
        session_id, text = plain(finding.session_id, 100), plain(finding.message)
        rows = self._sessions.get(session_id)
        key = (finding.rule, finding.severity, text)
        row = rows.get(key) if rows is not None else None
        if row is not None:
            row.times += 1
            row.last = line
            return
        if self._kept >= self.most:
            self._dropped += 1
            return
        self._kept += 1
        kept = msgspec.structs.replace(
            finding,
            message=text,
            session_id=session_id,
            event_id=plain(finding.event_id, 100),
            path=plain(finding.path, 200),
        )
        self._sessions.setdefault(session_id, {})[key] = _Row(line, kept)

    def close(self, audit: Audit, messages: int) -> None:
        """Tell what was found in the file."""
        if not messages and not self._sessions:
            return
        held = counted(audit.events, "event")
        followed = audit.events - audit.outside_sessions
        if audit.outside_sessions:
            held += f", {followed or 'none'} of them followed"
        if followed:
            held += f" in {counted(audit.sessions, 'session')}"
        if messages > audit.events:
            held += f", {counted(messages - audit.events, 'other message')}"
        click.echo(f"{plain(self._file)}: {held}.")
        for session_id, rows in self._sessions.items():
            click.echo(f"Session {session_id}:" if session_id else "Outside any session:")
            for row in rows.values():
                click.echo(f"  {_told(row)}")

    def end(self, failed: int) -> None:
        """Tell the sum, and how many files are not in it."""
        if self._dropped:
            shown = counted(self._kept, "finding")
            click.echo(f"{shown} shown, {self._dropped} more only counted; --max-findings sets how many are shown.")
        notes = self.counts["info"]
        text = f"Result: {counted(self.counts['error'], 'error')}, {counted(self.counts['warning'], 'warning')}"
        if notes:
            text += f", {counted(notes, 'note')}" + ("" if self.notes else "; add --notes to see them")
        if failed:
            text += f". {counted(failed, 'file')} could not be checked"
        click.echo(text + ".")


def _told(row: _Row) -> str:
    finding = row.finding
    where = "At the end" if row.first is None else f"Line {row.first}"
    if finding.event_id:
        where += f", event {finding.event_id}"
    if finding.path and finding.path[1:] not in finding.message:
        where += f", at {finding.path}"
    grade = "note" if finding.severity == "info" else finding.severity
    source = f", {plain(speak_section(finding.section))}" if finding.section else ""
    text = f"{where}: {grade} {plain(finding.rule)}{source}. {finding.message}"
    if row.times > 1:
        last = f", last on line {row.last}" if row.last is not None else ""
        text += f" And {counted(row.times - 1, 'more time')}{last}."
    return text
