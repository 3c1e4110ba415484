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
from ..protocol.catalogue import format_spoken_section
from ._command import format_count, to_json_line, to_printable

__all__ = ["JsonLinesReport", "TextReport"]

MAX_FINDINGS: Final = 1000  # findings that prose keeps, unless told otherwise


class JsonLinesReport:
    """One JSON object per finding, at once."""

    def __init__(self, max_findings: int | None) -> None:
        self.counts: Counter[str] = Counter()
        self.max_findings = max_findings
        self._out = sys.stdout.buffer
        self._file = ""

    def start_file(self, file: str) -> None:
        self._file = file

    def add_finding(self, line: int | None, finding: Finding) -> None:
        self.counts[finding.severity] += 1
        if self.max_findings is not None and self.counts.total() > self.max_findings:
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
        self._out.write(to_json_line(members))
        self._out.flush()

    def finish_file(self, audit: Audit, messages: int) -> None:
        pass

    def finish(self, failed_files: int) -> None:
        hidden = self.counts.total() - self.max_findings if self.max_findings is not None else 0
        if hidden > 0:
            text = (
                f"aaep: {format_count(hidden, 'more finding')} only counted; --max-findings sets how many are printed."
            )
            click.echo(text, err=True)


class _Row(msgspec.Struct):
    first_line: int | None
    finding: Finding
    count: int = 1
    last_line: int | None = None


class TextReport:
    """Sentences, grouped by file and session."""

    def __init__(self, max_findings: int | None, *, notes: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.max_findings = MAX_FINDINGS if max_findings is None else max_findings
        self.is_showing_notes = notes
        self._shown_count = 0
        self._hidden_count = 0
        self._file = ""
        self._rows_by_session: dict[str, dict[tuple[str, str, str], _Row]] = {}

    def start_file(self, file: str) -> None:
        self._file = "standard input" if file == "-" else file
        self._rows_by_session = {}

    def add_finding(self, line: int | None, finding: Finding) -> None:
        self.counts[finding.severity] += 1
        if finding.severity == "info" and not self.is_showing_notes:
            return
        # A message may quote what it found, and nothing says how long that is.
        session_id, text = to_printable(finding.session_id, 100), to_printable(finding.message)
        rows = self._rows_by_session.get(session_id)
        key = (finding.rule, finding.severity, text)
        row = rows.get(key) if rows is not None else None
        if row is not None:
            row.count += 1
            row.last_line = line
            return
        if self._shown_count >= self.max_findings:
            self._hidden_count += 1
            return
        self._shown_count += 1
        kept = msgspec.structs.replace(
            finding,
            message=text,
            session_id=session_id,
            event_id=to_printable(finding.event_id, 100),
            path=to_printable(finding.path, 200),
        )
        self._rows_by_session.setdefault(session_id, {})[key] = _Row(line, kept)

    def finish_file(self, audit: Audit, messages: int) -> None:
        """Tell what was found in the file."""
        if not messages and not self._rows_by_session:
            return
        held = format_count(audit.events, "event")
        followed = audit.events - audit.outside_sessions
        if audit.outside_sessions:
            held += f", {followed or 'none'} of them followed"
        if followed:
            held += f" in {format_count(audit.sessions, 'session')}"
        if messages > audit.events:
            held += f", {format_count(messages - audit.events, 'other message')}"
        click.echo(f"{to_printable(self._file)}: {held}.")
        for session_id, rows in self._rows_by_session.items():
            click.echo(f"Session {session_id}:" if session_id else "Outside any session:")
            for row in rows.values():
                click.echo(f"  {_format_row(row)}")

    def finish(self, failed_files: int) -> None:
        """Tell the sum, and how many files are not in it."""
        if self._hidden_count:
            shown = format_count(self._shown_count, "finding")
            click.echo(
                f"{shown} shown, {self._hidden_count} more only counted; --max-findings sets how many are shown."
            )
        notes = self.counts["info"]
        text = (
            f"Result: {format_count(self.counts['error'], 'error')}, {format_count(self.counts['warning'], 'warning')}"
        )
        if notes:
            text += f", {format_count(notes, 'note')}" + ("" if self.is_showing_notes else "; add --notes to see them")
        if failed_files:
            text += f". {format_count(failed_files, 'file')} could not be checked"
        click.echo(text + ".")


def _format_row(row: _Row) -> str:
    finding = row.finding
    where = "At the end" if row.first_line is None else f"Line {row.first_line}"
    if finding.event_id:
        where += f", event {finding.event_id}"
    if finding.path and finding.path[1:] not in finding.message:
        where += f", at {finding.path}"
    grade = "note" if finding.severity == "info" else finding.severity
    source = f", {to_printable(format_spoken_section(finding.section))}" if finding.section else ""
    text = f"{where}: {grade} {to_printable(finding.rule)}{source}. {finding.message}"
    if row.count > 1:
        last = f", last on line {row.last_line}" if row.last_line is not None else ""
        text += f" And {format_count(row.count - 1, 'more time')}{last}."
    return text
