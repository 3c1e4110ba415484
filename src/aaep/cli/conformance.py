"""``aaep conformance``: judge a producer, a subscriber or a recording by the rules."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Mapping
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
from ..recording import recordings
from ..transports.base import UnprotectedAddress
from ..transports.options import ConnectOptions
from ._command import (
    CONTEXT_SETTINGS,
    PROGRESS_OPTION,
    AaepCommand,
    CannotRun,
    CommandGroup,
    FiniteRange,
    IntegerRange,
    open_input,
    to_printable,
)
from ._options import CA_OPTION, CERT_OPTION, TOKEN_OPTION, ClientCertificate, build_connect_options
from ._output_files import check_output_files, write_output_file

__all__ = ["main"]

F = TypeVar("F", bound=Callable[..., Any])
_DEFAULT_BODY: Final = '{"task": "{task}"}'
_OUTPUT_FILE: Final = click.Path(dir_okay=False)
# Every grading is the strict one; the option is still taken, so that what was written with it runs on.
_STRICT_OPTION: Final = click.option("--strict", is_flag=True, hidden=True, expose_value=False)


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
    """Add the options for the level and the form of the report to a command."""
    for option in (
        click.option(
            "--html", "html_file", type=_OUTPUT_FILE, metavar="FILE", help="Write one self-contained page too."
        ),
        click.option("--junit", "junit_file", type=_OUTPUT_FILE, metavar="FILE", help="Write JUnit XML too."),
        click.option("--json", "as_json", is_flag=True, help="Print the report as JSON instead of text."),
        click.option("--all", "include_passed", is_flag=True, help="Tell what was passed, too."),
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
    Print a report, write its files, and return the exit status.

    The report is printed first, so that it is there even if a file cannot be
    written; and the files are written even if standard output is closed.
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


def _format_tasks(descriptions: Mapping[str, str]) -> str:
    """Return tasks and their descriptions as a list for a help text."""
    return "\n".join(f"      {name}: {description}" for name, description in descriptions.items())


# -- aaep conformance producer -----------------------------------------------------------------------


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
{_format_tasks(TASK_DESCRIPTIONS)}
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
    help="Seconds that a session may be silent; more if the agent says so, or is seen to take longer. Default: 10.",
)
@TOKEN_OPTION
@CA_OPTION
@CERT_OPTION
@_STRICT_OPTION
@PROGRESS_OPTION
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
    show_progress: bool,
    level: int,
    as_json: bool,
    include_passed: bool,
    html_file: str | None,
    junit_file: str | None,
) -> None:
    if self_test == bool(url or command) and not (self_test and url):
        raise CannotRun("Name the producer: a URL, or --command, or --self-test for our own.")
    if start_command and start_url:
        raise CannotRun("A session is started by --start-command or by --start-url, not by both.")
    check_output_files((), _drop_missing(html_file, junit_file))
    source = url or (f"stdio:{command}" if command else "http://127.0.0.1:0")
    options = ConnectOptions() if self_test else build_connect_options(source, token, ca, own)  # ours needs none

    def report_progress(name: str) -> None:
        if show_progress:
            click.echo(f"aaep: {name}", err=True)

    async def run_suite(producer_url: str, start: TaskStarter | None) -> ProducerResults:
        return await judge_producer(
            producer_url,
            start,
            level=level,
            on_progress=report_progress,
            certified=own is not None and not self_test,
            wait=wait,
            patience=patience,
            options=options,
        )

    try:
        if self_test:
            results, source = _judge_own_agent(source, run_suite)
        else:
            start = make_command_starter(start_command) if start_command else None
            start = make_url_starter(start_url, start_body) if start_url else start
            results = asyncio.run(run_suite(source, start))
    except UnprotectedAddress as error:
        raise _to_cannot_run(error) from error
    except AaepError as error:
        raise CannotRun(str(error)) from error
    report = _build_report(results, source, level)
    context.exit(
        _print_report(
            report, as_json=as_json, include_passed=include_passed, html_file=html_file, junit_file=junit_file
        )
    )


def _to_cannot_run(error: UnprotectedAddress) -> CannotRun:
    """TR-024: the agents and producers of the suite authenticate no client, so they may only listen locally."""
    return CannotRun(f"{to_printable(error.url)} can be reached from other machines. Play it on this one: 127.0.0.1.")


def _judge_own_agent(url: str, run_suite: Callable[[str, TaskStarter | None], Any]) -> tuple[ProducerResults, str]:
    """Run the suite against the scripted agent, and return its results and the URL of the agent."""
    with Producer("conformance-agent", name="Scripted agent", version="1.0.0", listen=url, journal=None) as producer:
        agent = ScriptedAgent(producer)

        async def start(task: str) -> None:
            agent.start(task)

        producer_url = producer.addresses[0]
        return asyncio.run(run_suite(producer_url, start)), producer_url


def _build_report(results: ProducerResults, source: str, level: int) -> Report:
    info = results.producer_info
    name = info.get("agent_name") or info.get("agent_id") or ""
    return Report(
        side="producer",
        name=str(name),
        version=str(info.get("agent_version") or ""),
        source=source,
        date=_today(),
        requested_level=level,
        results=results.results,
        remarks=results.remarks,
    )


# -- aaep conformance capture ------------------------------------------------------------------------


@main.command("capture", cls=AaepCommand, example="aaep conformance capture session.ndjson")
@click.argument("file", metavar="FILE|-", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@_STRICT_OPTION
@_add_report_options
@click.pass_context
def _check_capture(
    context: click.Context,
    *,
    file: str,
    level: int,
    as_json: bool,
    include_passed: bool,
    html_file: str | None,
    junit_file: str | None,
) -> None:
    """Judge what a recording shows of a producer. No level can be claimed from it: nobody provoked anything.

    With -, standard input is read. Exits with 0 if nothing in it is failed, 1 if something is, and 2 if it
    cannot be read.
    """
    check_output_files((file,), _drop_missing(html_file, junit_file))
    source = "standard input" if file == "-" else file
    try:
        with open_input(file) as stream:
            result = _audit_recording(stream, level=level)
    except recordings.UnreadableRecording as error:
        raise CannotRun(f"{source}: {error}") from error
    if not result.type_counts:
        raise CannotRun(f"{source}: There is no message in it.")
    report = Report(
        side="producer",
        name=Path(source).name,
        version="",
        source=source,
        date=_today(),
        requested_level=level,
        results=judge_recording(result),
        is_live=False,
    )
    context.exit(
        _print_report(
            report, as_json=as_json, include_passed=include_passed, html_file=html_file, junit_file=junit_file
        )
    )


def _audit_recording(stream: IO[bytes], *, level: int) -> AuditResult:
    """Audit a recording, and return the findings with the lines they are about."""
    result = AuditResult([], {})
    recording = recordings.open_recording(stream)
    audit = Audit(attend_registry(), whole=recording.is_whole, strict=True, level=level)
    for line in recordings.iter_lines(recording):
        if line.gap == "missed":
            audit.missed(line.via)
        if line.fault is not None:
            result.findings.append((line.fault, f"Line {line.number}."))
        elif line.raw:
            findings = audit.feed(line.raw, line.at, line.via, line.dir)
            if line.dir == "in":  # a message of a reader that is invalid is not the producer's fault
                findings = [finding for finding in findings if all_rules()[finding.rule].role != "validator"]
            result.findings += ((finding, f"Line {line.number}: {excerpt(line.raw)}") for finding in findings)
            result.count_message(line.raw)
    result.findings += ((finding, "At the end.") for finding in audit.finish())
    return result


# -- aaep conformance subscriber ---------------------------------------------------------------------


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
{_format_tasks(subscribers.PERSON_TASKS)}
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
@_STRICT_OPTION
@PROGRESS_OPTION
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
    show_progress: bool,
    level: int,
    as_json: bool,
    include_passed: bool,
    html_file: str | None,
    junit_file: str | None,
) -> None:
    if bool(url) == bool(command):
        raise CannotRun("Name the subscriber: --command to start it, or a URL where it will come to.")
    check_output_files((), _drop_missing(html_file, junit_file))

    def print_message(text: str) -> None:
        click.echo(f"aaep: {to_printable(text)}", err=True)

    settings: dict[str, Any] = {"at": url or at, "keys": "{keys}" in (command or "")}
    if url or not (at.endswith(":0") or "{place}" in at):
        settings["at_once"] = 1  # a person starts one subscriber at a time, and a fixed address serves one producer
    try:
        if command is None:
            launcher = subscribers.make_manual_launcher(print_message)
        else:
            launcher = subscribers.make_command_launcher(command)
        results = asyncio.run(
            subscribers.judge_subscriber(
                launcher,
                level=level,
                on_progress=print_message if show_progress or url else lambda _: None,
                patience=patience or (30.0 if url else 5.0),
                wait=wait,
                **settings,
            )
        )
    except UnprotectedAddress as error:
        raise _to_cannot_run(error) from error
    except AaepError as error:
        raise CannotRun(str(error)) from error
    report = Report(
        side="subscriber",
        name=name or results.name,
        version=release or results.version,
        source=command or url or "",
        date=_today(),
        requested_level=level,
        results=results.results,
        remarks=results.remarks,
    )
    context.exit(
        _print_report(
            report, as_json=as_json, include_passed=include_passed, html_file=html_file, junit_file=junit_file
        )
    )
