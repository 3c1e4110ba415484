"""``aaep conformance``: prove or disprove that a producer, a subscriber or a recording keeps the rules."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, Final, TypeVar

import click

from ..conformance.producer.run import (
    AuditResult,
    ProducerResults,
    TaskStarter,
    excerpt,
    judge_producer,
    judge_recording,
)
from ..conformance.producer.scripted_agent import ScriptedAgent
from ..conformance.producer.start import TASK_DESCRIPTIONS, make_command_starter, make_url_starter
from ..conformance.report import Report, render_junit, render_text, to_json
from ..conformance.report_html import render_html
from ..conformance.subscriber import run as subscribers
from ..errors import AaepError
from ..producer.producer import Producer
from ..protocol.attend_extension import attend_registry
from ..protocol.audit import Audit
from ..protocol.catalogue import all_rules
from ..recording import reader as recordings
from ..transports.base import Reachable
from ._command import (
    CONTEXT_SETTINGS,
    AaepCommand,
    CannotRun,
    CommandGroup,
    FiniteRange,
    IntegerRange,
    open_input,
    to_printable,
)
from ._options import CA_OPTION, CERT_OPTION, TOKEN_OPTION, ClientCertificate, build_channel_settings
from ._output_files import check_output_files, write_output_file

__all__ = ["main"]

F = TypeVar("F", bound=Callable[..., Any])
_DEFAULT_BODY: Final = '{"task": "{task}"}'
_OUTPUT_FILE: Final = click.Path(dir_okay=False)
_PROGRESS_OPTION: Final = click.option(
    "--progress", is_flag=True, help="Say on standard error how far it is, even if that is not a terminal."
)


@click.command(
    "conformance",
    cls=CommandGroup,
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep conformance producer --self-test",
)
@click.pass_context
def main(context: click.Context) -> None:
    """Judge a producer, a subscriber or a recording by the rules.

    Exits with 0 if the level is reached, 1 if it is not, and 2 if nothing
    could be judged.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


def _add_report_options(command: F) -> F:
    """The options that say how the report is told."""
    for option in (
        click.option("--html", "page", type=_OUTPUT_FILE, metavar="FILE", help="Write one self-contained page too."),
        click.option("--junit", "cases", type=_OUTPUT_FILE, metavar="FILE", help="Write JUnit XML too."),
        click.option("--json", "members", is_flag=True, help="Print the report as JSON instead of text."),
        click.option("--all", "everything", is_flag=True, help="Tell what was passed, too."),
        click.option(
            "--level",
            type=IntegerRange(1, 3),
            default=3,
            metavar="1|2|3",
            help="The level that is to be reached. Default: 3.",
        ),
    ):
        command = option(command)
    return command


def _print_report(
    report: Report, *, as_json: bool, include_passed: bool, html_file: str | None, junit_file: str | None
) -> int:
    """
    What is printed comes first: a file that cannot be written after all takes nothing away from it.

    Nor does it take anything from the files that nobody reads on what is printed.
    """
    try:
        if as_json:
            sys.stdout.buffer.write(to_json(report))
        else:
            for line in render_text(report, include_passed=include_passed):
                click.echo(to_printable(line))
        sys.stdout.flush()
    finally:
        if html_file is not None:
            write_output_file(html_file, render_html(report), private=False)
        if junit_file is not None:
            write_output_file(junit_file, [render_junit(report)], private=False)
    for file in _drop_missing(html_file, junit_file):
        click.echo(f"aaep: Wrote {to_printable(file)}.", err=True)
    return 0 if report.is_passing else 1


def _drop_missing(*files: str | None) -> list[str]:
    return [file for file in files if file is not None]


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


# -- producers ---------------------------------------------------------------------------------------


def _format_tasks() -> str:
    return "\n".join(f"  {name}: {what}" for name, what in TASK_DESCRIPTIONS.items())


@main.command(
    "producer",
    cls=AaepCommand,
    example="aaep conformance producer http://127.0.0.1:8137 --start-url http://127.0.0.1:9000/chat",
    help=f"""Put a live producer to everything that a level demands.

    It is listened to by several readers at once, at its URL or, with
    --command, on its pipes. For each scenario it is made to begin something: by
    a command, by a request to a URL, or by somebody else while we wait. In the
    command and the request, {{task}} stands for what is needed. A producer that
    knows no tasks does the same each time, and what it does not show is told.

    Exits with 0 if the level is reached, 1 if it is not, and 2 if nothing
    could be judged.

    \b
{chr(10).join("    " + line for line in _format_tasks().splitlines())}
    """,
)
@click.argument("url", required=False)
@click.option("--command", metavar="COMMAND", help="Start the producer with this command and talk to it on its pipes.")
@click.option("--self-test", is_flag=True, help="Judge our own scripted agent, here or at URL.")
@click.option("--start-command", metavar="COMMAND", help="Run this to have a session begin.")
@click.option("--start-url", metavar="URL", help="POST to this to have a session begin.")
@click.option(
    "--start-body", metavar="JSON", default=_DEFAULT_BODY, help=f"What is sent there. Default: {_DEFAULT_BODY}"
)
@click.option(
    "--wait",
    type=FiniteRange(0.1),
    metavar="SECONDS",
    default=60.0,
    help="Seconds to wait for a session that somebody else begins. Default: 60.",
)
@click.option(
    "--patience",
    type=FiniteRange(0.1),
    metavar="SECONDS",
    default=10.0,
    help="Seconds that each step may take. Default: 10.",
)
@TOKEN_OPTION
@CA_OPTION
@CERT_OPTION
@click.option("--strict", is_flag=True, help="Grade as a producer should grade itself: every broken MUST is a failure.")
@_PROGRESS_OPTION
@_add_report_options
@click.pass_context
def _check_producer(
    context: click.Context,
    *,
    url: str | None,
    command: str | None,
    self_test: bool,
    start_command: str | None,
    start_url: str | None,
    start_body: str,
    wait: float,
    patience: float,
    token: str | None,
    ca: Path | None,
    own: ClientCertificate,
    strict: bool,
    progress: bool,
    level: int,
    members: bool,
    everything: bool,
    page: str | None,
    cases: str | None,
) -> None:
    if self_test == bool(url or command) and not (self_test and url):
        raise CannotRun("Name the producer: a URL, or --command, or --self-test for our own.")
    if start_command and start_url:
        raise CannotRun("A session is started by --start-command or by --start-url, not by both.")
    check_output_files((), _drop_missing(page, cases))
    source = url or (f"stdio:{command}" if command else "http://127.0.0.1:0")
    settings = {} if self_test else build_channel_settings(source, token, ca, own)  # ours asks nobody who they are
    settings["certified"] = own is not None and not self_test
    audible = progress or sys.stderr.isatty()

    def report_progress(name: str) -> None:
        if audible:
            click.echo(f"aaep: {name}", err=True)

    async def run_suite(at: str, start: TaskStarter | None) -> ProducerResults:
        return await judge_producer(
            at, start, level=level, strict=strict, on_progress=report_progress, wait=wait, patience=patience, **settings
        )

    try:
        if self_test:
            played, source = _judge_own_agent(source, run_suite)
        else:
            start = make_command_starter(start_command) if start_command else None
            start = make_url_starter(start_url, start_body) if start_url else start
            played = asyncio.run(run_suite(source, start))
    except Reachable as error:
        raise _to_cannot_run(error) from error
    except AaepError as error:
        raise CannotRun(str(error)) from error
    context.exit(
        _print_report(
            _build_report(played, source, level),
            as_json=members,
            include_passed=everything,
            html_file=page,
            junit_file=cases,
        )
    )


def _to_cannot_run(error: Reachable) -> CannotRun:
    """Who plays here asks nobody who they are (TR-024)."""
    return CannotRun(f"{to_printable(error.url)} can be reached from other machines. Play it on this one: 127.0.0.1.")


def _judge_own_agent(url: str, run: Callable[[str, TaskStarter | None], Any]) -> tuple[ProducerResults, str]:
    with Producer("conformance-agent", name="Scripted agent", version="1.0.0", listen=url, journal=None) as producer:
        agent = ScriptedAgent(producer)

        async def start(task: str) -> None:
            agent.start(task)

        at = producer.addresses[0]
        return asyncio.run(run(at, start)), at


def _build_report(played: ProducerResults, source: str, level: int) -> Report:
    about = played.producer_info
    name = about.get("agent_name") or about.get("agent_id") or ""
    return Report(
        side="producer",
        name=str(name),
        version=str(about.get("agent_version") or ""),
        source=source,
        date=_today(),
        requested_level=level,
        results=played.results,
        remarks=played.remarks,
    )


# -- recordings --------------------------------------------------------------------------------------


@main.command("capture", cls=AaepCommand, example="aaep conformance capture session.ndjson")
@click.argument("file", metavar="FILE|-", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@click.option("--strict", is_flag=True, help="Grade as a producer should grade itself: every broken MUST is a failure.")
@_add_report_options
@click.pass_context
def _check_capture(
    context: click.Context,
    *,
    file: str,
    strict: bool,
    level: int,
    members: bool,
    everything: bool,
    page: str | None,
    cases: str | None,
) -> None:
    """Judge what a recording shows of a producer. No level can be claimed from it: nobody provoked anything.

    With -, standard input is read. Exits with 0 if nothing in it is failed, 1 if something is, and 2 if it
    cannot be read.
    """
    check_output_files((file,), _drop_missing(page, cases))
    source = "standard input" if file == "-" else file
    try:
        with open_input(file) as stream:
            judged = _audit_recording(stream, strict=strict, level=level)
    except recordings.UnreadableRecording as error:
        raise CannotRun(f"{source}: {error}") from error
    if not judged.type_counts:
        raise CannotRun(f"{source}: There is no message in it.")
    report = Report(
        side="producer",
        name=Path(source).name,
        version="",
        source=source,
        date=_today(),
        requested_level=level,
        results=judge_recording(judged),
        is_live=False,
    )
    context.exit(_print_report(report, as_json=members, include_passed=everything, html_file=page, junit_file=cases))


def _audit_recording(stream: IO[bytes], *, strict: bool, level: int) -> AuditResult:
    judged = AuditResult([], {})
    recording = recordings.open_recording(stream)
    audit = Audit(attend_registry(), whole=recording.is_whole, strict=strict, level=level)
    for one in recordings.iter_lines(recording):
        if one.gap == "missed":
            audit.missed(one.via)
        if one.fault is not None:
            judged.findings.append((one.fault, f"Line {one.number}."))
        elif one.raw:
            found = audit.feed(one.raw, one.at, one.via, one.dir)
            if one.dir == "in":  # of what a reader sent, what makes it no message is not the producer's fault
                found = [finding for finding in found if all_rules()[finding.rule].role != "validator"]
            judged.findings += ((finding, f"Line {one.number}: {excerpt(one.raw)}") for finding in found)
            judged.count_message(one.raw)
    judged.findings += ((finding, "At the end.") for finding in audit.finish())
    return judged


# -- subscribers -------------------------------------------------------------------------------------


def _format_person_tasks() -> str:
    return "\n".join(f"  {name}: {what}" for name, what in subscribers.PERSON_TASKS.items())


@main.command(
    "subscriber",
    cls=AaepCommand,
    example="aaep conformance subscriber --command 'aaep listen {url} --announcements --trust {keys}'",
    help=f"""Put a subscriber to everything that a level demands, against producers good and bad.

    With --command it is started anew for each of them; {{url}} stands for where
    it has to connect, and {{keys}} for a file with the public key of those who
    are to be trusted. With URL the producers are played there, and somebody
    starts the subscriber each time and does what standard error says.

    To show what it presents, the subscriber prints one JSON object for each
    announcement, with event_id, type, text and urgency, a line each. Critical
    is what interrupts.

    Exits with 0 if the level is reached, 1 if it is not, and 2 if nothing
    could be judged.

    What the person decides is written to its standard input as soon as a prompt
    was announced: accept, reject, or an answer; yes if it asks once more. Or
    {{task}} stands in the command for what the person does:

    \b
{chr(10).join("    " + line for line in _format_person_tasks().splitlines())}
    """,
)
@click.argument("url", required=False)
@click.option("--command", metavar="COMMAND", help="How the subscriber is started.")
@click.option(
    "--at",
    metavar="URL",
    default="http://127.0.0.1:0",
    help="Where the producers are played for --command, over any transport; {place} in it is a number. "
    "Default: http://127.0.0.1:0",
)
@click.option("--name", default="", help="What it is called, for the claim. Default: as it says.")
@click.option("--release", default="", metavar="VERSION", help="Its version, for the claim. Default: as it says.")
@click.option(
    "--patience",
    type=FiniteRange(0.1),
    metavar="SECONDS",
    help="Seconds that each step may take, and that a prompt is left unanswered. "
    "Default: 5, and 30 if somebody does it by hand.",
)
@click.option(
    "--wait",
    type=FiniteRange(0.1),
    metavar="SECONDS",
    default=60.0,
    help="Seconds that it may take to come, and to go. Default: 60.",
)
@click.option("--strict", is_flag=True, help="Grade as strictly as a subscriber should grade itself.")
@_PROGRESS_OPTION
@_add_report_options
@click.pass_context
def _check_subscriber(
    context: click.Context,
    *,
    url: str | None,
    command: str | None,
    at: str,
    name: str,
    release: str,
    patience: float | None,
    wait: float,
    strict: bool,
    progress: bool,
    level: int,
    members: bool,
    everything: bool,
    page: str | None,
    cases: str | None,
) -> None:
    if bool(url) == bool(command):
        raise CannotRun("Name the subscriber: --command to start it, or a URL where it will come to.")
    check_output_files((), _drop_missing(page, cases))
    audible = progress or sys.stderr.isatty()

    def print_message(text: str) -> None:
        click.echo(f"aaep: {to_printable(text)}", err=True)

    place = url or at
    settings: dict[str, Any] = {"at": place, "keys": "{keys}" in (command or "")}
    if url or not (at.endswith(":0") or "{place}" in at):
        settings["at_once"] = 1  # one pair of hands, or room for one
    try:
        begin = (
            subscribers.make_manual_launcher(print_message)
            if command is None
            else subscribers.make_command_launcher(command)
        )
        heard = asyncio.run(
            subscribers.judge_subscriber(
                begin,
                level=level,
                strict=strict,
                on_progress=print_message if audible or url else lambda _: None,
                patience=patience or (30.0 if url else 5.0),
                wait=wait,
                **settings,
            )
        )
    except Reachable as error:
        raise _to_cannot_run(error) from error
    except AaepError as error:
        raise CannotRun(str(error)) from error
    report = Report(
        side="subscriber",
        name=name or heard.name,
        version=release or heard.version,
        source=command or url or "",
        date=_today(),
        requested_level=level,
        results=heard.results,
        remarks=heard.remarks,
    )
    context.exit(_print_report(report, as_json=members, include_passed=everything, html_file=page, junit_file=cases))
