"""
Reports of findings: as text that reads well aloud, or as JSON Lines.

Both count the findings. Text is grouped by file and session, so it is printed
at the end of each file; until then repeated findings are merged, and their
number is bounded.
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

MAX_FINDINGS: Final = 1000  # the default for text


class JsonLinesReport:
    """A report that prints each finding at once as a JSON object."""

    def __init__(self, max_findings: int | None) -> None:
        self.counts: Counter[str] = Counter()
        self.max_findings = max_findings
        self._out = sys.stdout.buffer
        self._file = ""

    def start_file(self, file: str) -> None:
        """Begin the next file."""
        self._file = file

    def add_finding(self, line: int | None, finding: Finding) -> None:
        """Count a finding, and print it unless there were too many already."""
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
        """Do nothing: everything about the file is printed already."""

    def finish(self, failed_files: int) -> None:
        """Print on standard error how many findings were only counted."""
        hidden = self.counts.total() - self.max_findings if self.max_findings is not None else 0
        if hidden > 0:
            text = f"{format_count(hidden, 'more finding')} only counted; --max-findings sets how many are printed."
            click.echo(f"aaep: {text}", err=True)


class _Row(msgspec.Struct):
    """A finding and its repetitions on other lines."""

    first_line: int | None
    finding: Finding
    count: int = 1
    last_line: int | None = None


class TextReport:
    """A report in sentences, grouped by file and session."""

    def __init__(self, max_findings: int | None, *, notes: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.max_findings = MAX_FINDINGS if max_findings is None else max_findings
        self.is_showing_notes = notes
        self._shown_count = 0
        self._hidden_count = 0
        self._file = ""
        self._rows_by_session: dict[str, dict[tuple[str, str, str], _Row]] = {}

    def start_file(self, file: str) -> None:
        """Begin the next file."""
        self._file = "standard input" if file == "-" else file
        self._rows_by_session = {}

    def add_finding(self, line: int | None, finding: Finding) -> None:
        """Count a finding, and keep it for :meth:`finish_file` unless there were too many already."""
        self.counts[finding.severity] += 1
        if finding.severity == "info" and not self.is_showing_notes:
            return
        # The texts may quote the recording, which sets no limit to their length.
        session_id = to_printable(finding.session_id, 100)
        text = to_printable(finding.message)
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
        printable = msgspec.structs.replace(
            finding,
            message=text,
            session_id=session_id,
            event_id=to_printable(finding.event_id, 100),
            path=to_printable(finding.path, 200),
        )
        self._rows_by_session.setdefault(session_id, {})[key] = _Row(line, printable)

    def finish_file(self, audit: Audit, messages: int) -> None:
        """Print the contents of the file and its findings."""
        if not messages and not self._rows_by_session:
            return
        contents = format_count(audit.events, "event")
        followed = audit.events - audit.outside_sessions
        if audit.outside_sessions:
            contents += f", {followed or 'none'} of them followed"
        if followed:
            contents += f" in {format_count(audit.sessions, 'session')}"
        if messages > audit.events:
            contents += f", {format_count(messages - audit.events, 'other message')}"
        click.echo(f"{to_printable(self._file)}: {contents}.")
        for session_id, rows in self._rows_by_session.items():
            click.echo(f"Session {session_id}:" if session_id else "Outside any session:")
            for row in rows.values():
                click.echo(f"  {_format_row(row)}")

    def finish(self, failed_files: int) -> None:
        """Print the totals, and the number of files that are not in them."""
        if self._hidden_count:
            shown = format_count(self._shown_count, "finding")
            click.echo(
                f"{shown} shown, {self._hidden_count} more only counted; --max-findings sets how many are shown."
            )
        errors = format_count(self.counts["error"], "error")
        warnings = format_count(self.counts["warning"], "warning")
        notes = self.counts["info"]
        text = f"Result: {errors}, {warnings}"
        if notes:
            text += f", {format_count(notes, 'note')}" + ("" if self.is_showing_notes else "; add --notes to see them")
        if failed_files:
            text += f". {format_count(failed_files, 'file')} could not be checked"
        click.echo(text + ".")


def _format_row(row: _Row) -> str:
    finding = row.finding
    location = "At the end" if row.first_line is None else f"Line {row.first_line}"
    if finding.event_id:
        location += f", event {finding.event_id}"
    if finding.path and finding.path[1:] not in finding.message:
        location += f", at {finding.path}"
    severity = "note" if finding.severity == "info" else finding.severity
    source = f", {to_printable(format_spoken_section(finding.section))}" if finding.section else ""
    text = f"{location}: {severity} {to_printable(finding.rule)}{source}. {finding.message}"
    if row.count > 1:
        last = f", last on line {row.last_line}" if row.last_line is not None else ""
        text += f" And {format_count(row.count - 1, 'more time')}{last}."
    return text
