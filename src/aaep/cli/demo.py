"""``aaep demo``: an agent that works, asks and waits, to be listened to. No model, no key, no network."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from types import FrameType
from typing import Any, Final

import click

from ..errors import AaepError
from ..outputs.printer import LinePrinter
from ..outputs.stdin import NoInput, detect_input
from ..outputs.terminal import Terminal
from ..presentation.announce import Announcement
from ..producer.producer import Producer
from ..protocol.attend_extension import ATTEND
from ..protocol.messages import Capabilities
from ..subscriber.subscriber import Subscriber
from ..testing import Listener
from ..transports.base import Reachable
from ._command import AaepCommand, CannotRun, FiniteRange, to_printable
from ._demo_agent import DEMO_SCENARIOS, run_scenario

__all__ = ["main"]

_UNANSWERED_TIMEOUT: Final = 3  # seconds to answer where nobody will
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
    typed = detect_input(sys.stdin)
    if answer is None and not typed.is_interactive:
        click.echo("Not interactive: nobody answers here. Use --answer to choose an answer.")
        answer = "none"
    # Whoever captures, or answers by option, needs no terminal: a listener in this process does it.
    mine = answer is None
    waits = 1.0 if pace is None and (mine or answer == "remote") else pace or 0.0
    if capture is not None:
        _check_writable(capture)
    try:
        with (
            _exit_on_sigterm(),
            Producer("bank-assistant", name="Bank Assistant", listen=listen, journal=None) as agent,
        ):
            click.echo(f"Other readers can join: aaep listen {agent.addresses[0]}")
            if mine:
                return _run_interactive(agent, scenario, waits, typed, capture)
            return _run_unattended(agent, scenario, waits, str(answer), capture)
    except Reachable as error:
        raise CannotRun(
            f"{error.url} can be reached from other machines. The demo is for this one: listen on 127.0.0.1."
        ) from error
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _run_unattended(agent: Producer, scenario: str, waits: float, answer: str, capture: Path | None) -> int:
    """The answer is settled, or another reader's; here it is only listened."""
    decides = answer in ("accept", "reject")
    if answer == "remote":
        click.echo("Waiting for a reader that can answer.")
        _wait_for_reader(agent)
    given = {"accept": "accept", "reject": "reject"}.get(answer, "silence")
    heard: Queue[Announcement | None] = Queue()
    listener = Listener(
        agent,
        _make_chooser(given),
        capabilities=_LISTENER_CAPABILITIES if answer == "remote" else _REPLIER_CAPABILITIES,
        on_announcement=heard.put,
    )

    def work() -> None:
        run_scenario(
            agent, scenario, _make_pause(waits), _UNANSWERED_TIMEOUT if not decides and answer == "none" else None
        )
        listener.wait_for_end()

    # Printed here and not where it is heard: when nobody reads any more, that ends the command and not a connection.
    failed = _start_worker(work, partial(heard.put, None))
    while (said := _next_announcement(heard)) is not None:
        _print_announcement(said)
    if failed:
        raise failed[0]
    if capture is not None:
        listener.write_capture(capture, source="aaep demo")
        click.echo(f"Recorded in {to_printable(str(capture))}.")
    return 0


def _run_interactive(agent: Producer, scenario: str, waits: float, typed: Any, capture: Path | None) -> int:
    """The agent works in a thread, and the person reads and answers here."""
    listener = Listener(agent, capabilities=_LISTENER_CAPABILITIES) if capture is not None else None
    over = threading.Event()

    def work() -> None:
        agent.reader().wait(30)
        run_scenario(agent, scenario, _make_pause(waits), None)

    failed = _start_worker(work, over.set)
    status = Terminal(
        lambda _: Subscriber(agent.addresses[0], name="Demo", replies=not isinstance(typed, NoInput)),
        typed,
        LinePrinter(sys.stdout),
        once=True,
    ).run()
    if status == 0 and not agent.sessions:
        over.wait(5)
    if listener is not None and capture is not None:
        listener.write_capture(capture, source="aaep demo", whole=False)
        click.echo(f"Recorded in {to_printable(str(capture))}.")
    if failed and isinstance(failed[0], AaepError):
        raise CannotRun(str(failed[0]))
    return status


def _start_worker(work: Callable[[], None], done: Callable[[], None]) -> list[BaseException]:
    """Have the agent work in a thread of its own; what it failed with, if it did, once it is done."""
    failed: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)
        finally:
            done()

    threading.Thread(target=run, name="aaep-demo", daemon=True).start()
    return failed


def _next_announcement(heard: Queue[Announcement | None]) -> Announcement | None:
    while True:  # in short waits, so that a signal gets through
        with suppress(Empty):  # nothing yet
            return heard.get(timeout=0.2)


def _check_writable(file: Path) -> None:
    """Fail now and not when all is over. What can be opened only once, such as a pipe, is not tried."""
    if file.is_file():
        raise CannotRun(f"{to_printable(str(file))} is there already. Give another name.")
    if not file.exists():
        file.open("xb").close()
        file.unlink()


def _wait_for_reader(agent: Producer) -> None:
    reader = agent.reader()
    while not reader.done:  # in short waits, so that a signal gets through
        try:
            reader.wait(0.2)
        except TimeoutError:
            continue  # nobody yet


def _make_chooser(answer: str) -> Callable[[Any], Any]:
    """What the listener says to a prompt: to a question, its first choice for accept and its last for reject."""

    def choose(prompt: Any) -> Any:
        if answer == "silence" or not hasattr(prompt, "choices"):
            return answer
        return prompt.choices[0 if answer == "accept" else -1].value

    return choose


def _make_pause(seconds: float) -> Callable[[], None]:
    def pause() -> None:
        if seconds:
            time.sleep(seconds)  # so that it can be followed

    return pause


def _print_announcement(said: Announcement) -> None:
    if said.text and not said.redundant:
        click.echo(("Attention. " if said.interrupts else "") + said.text)


@contextmanager
def _exit_on_sigterm() -> Any:
    """SIGTERM ends the demo as Ctrl-C does: the session is cancelled and the readers are told."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise SystemExit(143)

    main_thread = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGTERM, stop) if main_thread else None
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)
