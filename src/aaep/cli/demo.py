"""``aaep demo``: a scripted agent to listen to, which needs no model, key or network."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from typing import Any, Final

import click

from ..errors import AaepError
from ..outputs.printer import QUOTE_MARK, LinePrinter
from ..outputs.stdin import NoInput, detect_input
from ..outputs.terminal import Terminal
from ..presentation.announce import Announcement
from ..producer.producer import Producer
from ..protocol.attend_extension import ATTEND
from ..protocol.messages import Capabilities
from ..subscriber.subscriber import Subscriber
from ..testing import Listener
from ..text.phrases import ENGLISH
from ..transports.base import UnprotectedAddress
from ..version import __version__
from ._command import AaepCommand, CannotRun, FiniteRange
from ._demo_agent import DEMO_SCENARIOS, run_scenario
from ._recording import Recording

__all__ = ["main"]

_UNANSWERED_TIMEOUT: Final = 3  # seconds until a prompt times out that no reader will answer
_SIGNAL_CHECK_INTERVAL: Final = 0.2  # seconds; a wait without a timeout would block Ctrl+C
_LISTENER_CAPABILITIES: Final = Capabilities(supported_extensions=(ATTEND.namespace,))
_REPLIER_CAPABILITIES: Final = Capabilities(
    supports_confirmation_reply=True,
    supports_clarification_reply=True,
    supported_conformance_levels=(1, 2, 3),
    supported_extensions=(ATTEND.namespace,),
)


@click.command("demo", cls=AaepCommand, example="aaep demo --answer accept")
@click.option(
    "--scenario",
    type=click.Choice([*DEMO_SCENARIOS]),
    default="money",
    help="What is played. Default: money, a transfer that has to be confirmed.",
)
@click.option(
    "--answer",
    type=click.Choice(["accept", "reject", "none", "remote"]),
    help="Who answers: accept and reject are given at once, none never comes, remote waits for another reader and "
    "leaves the decision to it. Default: you.",
)
@click.option(
    "--listen",
    metavar="URL",
    default="http://127.0.0.1:0",
    help="The address for other readers. Default: a free port of this machine.",
)
@click.option(
    "--capture",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Record all that passes. A file that is there is never written over.",
)
@click.option(
    "--pace",
    type=FiniteRange(0, 60),
    metavar="SECONDS",
    help="Seconds that each step takes. Default: 1, or 0 in scripts.",
)
def main(scenario: str, answer: str | None, listen: str, capture: Path | None, pace: float | None) -> int:
    """Listen to a scripted bank assistant at work. It asks before it moves money, and you decide.

    Other readers can join at the address it prints: aaep listen URL, or any program that reads server-sent events.

    Exits with 0 when it is over, whatever was answered, or when you quit, and 2 when it could not begin.
    """
    source = detect_input(sys.stdin)
    if answer is None and not source.is_interactive:
        click.echo("Not interactive: nobody answers here. Use --answer to choose an answer.")
        answer = "none"
    if pace is None:
        pace = 1.0 if answer in (None, "remote") else 0.0
    try:
        with (
            Recording(capture, source="aaep demo") as recording,
            Producer(
                "bank-assistant",
                name="Bank Assistant",
                version=__version__,
                model="none; a script",
                listen=listen,
                journal=None,
            ) as producer,
        ):
            click.echo(f"Other readers can join: aaep listen {producer.addresses[0]}")
            try:
                if answer is None:
                    return _run_interactive(producer, scenario, pace, source, recording)
                return _run_unattended(producer, scenario, pace, answer, recording)
            finally:
                recording.save()  # at once; a second Ctrl-C may end the program before readers were told goodbye
    except UnprotectedAddress as error:
        raise CannotRun(
            f"{error.url} can be reached from other machines. The demo is for this one: listen on 127.0.0.1."
        ) from error
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _run_unattended(producer: Producer, scenario: str, pace: float, answer: str, recording: Recording) -> int:
    """Run a scenario without the terminal: ``answer`` or another reader decides, and a listener prints and records."""
    if answer == "remote":
        click.echo("Waiting for a reader that can answer.")
        _wait_for_reader(producer)
    announcements: Queue[Announcement | None] = Queue()
    listener = Listener(
        producer,
        _make_chooser(answer if answer in ("accept", "reject") else "silence"),
        capabilities=_LISTENER_CAPABILITIES if answer == "remote" else _REPLIER_CAPABILITIES,
        on_announcement=announcements.put,
    )
    recording.begin(listener, whole=True)

    def work() -> None:
        timeout = _UNANSWERED_TIMEOUT if answer == "none" else None
        run_scenario(producer, scenario, _make_pause(pace), timeout)
        listener.wait_for_end()

    # Printed on this thread, so that a closed standard output ends the command and not the listener.
    errors = _start_worker(work, partial(announcements.put, None))
    while (announcement := _next_announcement(announcements)) is not None:
        _print_announcement(announcement)
    if errors:
        raise errors[0]
    return 0


def _run_interactive(producer: Producer, scenario: str, pace: float, source: Any, recording: Recording) -> int:
    """Run a scenario in a thread, while the person reads and answers in the terminal."""
    if recording.is_wanted:
        recording.begin(Listener(producer, capabilities=_LISTENER_CAPABILITIES), whole=False)
    done = threading.Event()

    def work() -> None:
        producer.reader().wait(30)
        run_scenario(producer, scenario, _make_pause(pace), None)

    errors = _start_worker(work, done.set)
    exit_status = Terminal(
        lambda _: Subscriber(producer.addresses[0], name="Demo", replies=not isinstance(source, NoInput)),
        source,
        LinePrinter(sys.stdout),
        once=True,
    ).run()
    if exit_status == 0 and not producer.sessions:
        done.wait(5)
    if errors and isinstance(errors[0], AaepError):
        raise CannotRun(str(errors[0]))
    return exit_status


def _start_worker(work: Callable[[], None], on_done: Callable[[], None]) -> list[BaseException]:
    """Run a function in a thread; return a list that holds its exception, if any, when ``on_done`` is called."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            on_done()

    threading.Thread(target=run, name="aaep-demo", daemon=True).start()
    return errors


def _next_announcement(announcements: Queue[Announcement | None]) -> Announcement | None:
    while True:
        with suppress(Empty):
            return announcements.get(timeout=_SIGNAL_CHECK_INTERVAL)


def _wait_for_reader(producer: Producer) -> None:
    reader = producer.reader()
    while not reader.done:
        with suppress(TimeoutError):
            reader.wait(_SIGNAL_CHECK_INTERVAL)


def _make_chooser(answer: str) -> Callable[[Any], Any]:
    """Return a function that answers prompts: a question with its first choice for accept, its last for reject."""

    def choose(prompt: Any) -> Any:
        if answer == "silence" or not hasattr(prompt, "choices"):
            return answer
        return prompt.choices[0 if answer == "accept" else -1].value

    return choose


def _make_pause(seconds: float) -> Callable[[], None]:
    def pause() -> None:
        if seconds:
            time.sleep(seconds)

    return pause


def _print_announcement(announcement: Announcement) -> None:
    if announcement.text and not announcement.redundant:
        attention = ENGLISH.format("attention", text="") if announcement.interrupts else ""
        click.echo(f"{attention}{QUOTE_MARK if announcement.quoted else ''}{announcement.text}")
