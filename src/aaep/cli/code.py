"""``aaep code``: a coding agent at the terminal, in whole sentences, that does nothing without a yes."""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Final, cast

import click

from ..adapters.acp import CodingAgent, TurnResult
from ..adapters.acp_agents import AGENTS, KnownAgent, custom_agent, find_agent
from ..adapters.acp_messages import AgentGone, CodingAgentError
from ..adapters.acp_rules import AllowRule, read_rules
from ..errors import AaepError
from ..outputs.printer import LinePrinter
from ..outputs.stdin import InputSource, NoInput, detect_input
from ..outputs.terminal import Terminal
from ..presentation.announce import Preferences
from ..producer.producer import Producer
from ..protocol.attend_extension import ATTEND
from ..protocol.fields import Verbosity
from ..protocol.messages import Capabilities
from ..settings.file import load_settings_file
from ..settings.resolve import load_settings
from ..subscriber.request import Terms
from ..subscriber.subscriber import Subscriber
from ..testing import Listener
from ..text.phrases import Phrases
from ..text.sanitize import sanitize
from ..transports.base import UnprotectedAddress
from ..version import __version__
from ._command import AaepCommand, CannotRun, find_languages, to_printable
from ._options import LANGUAGE_OPTION, silence_logging
from ._own_language import MANIFEST, choose_language
from ._recording import Recording

__all__ = ["find_mentions", "main"]

_MAX_LAST_WORDS: Final = 10  # lines of what a program wrote before it ended
_CONNECT_TIMEOUT: Final = 30.0  # seconds
_MENTION: Final = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_PUNCTUATION: Final = ".,;:!?)"
_LISTENER_CAPABILITIES: Final = Capabilities(supported_extensions=(ATTEND.namespace,))


@click.command("code", cls=AaepCommand, example="aaep code claude")
@click.argument("agent", required=False, metavar="[AGENT]")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[-- ARGUMENTS]")
@click.option("--list", "wants_list", is_flag=True, help="Say which agents are installed, and what each needs.")
@click.option("--command", metavar="TEXT", help="The command of an agent that is not in the list, such as 'kimi acp'.")
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="Where the agent works. Default: here.",
)
@click.option("--mode", metavar="ID", help="The agent's own mode to work in. Default: the one in which it asks.")
@click.option(
    "--allow-unasked",
    is_flag=True,
    help="Start it even if it does not ask, and do not stop it when something runs unasked. It is still told.",
)
@click.option("--sessions", is_flag=True, help="List the sessions that the agent keeps for this folder.")
@click.option("--resume", metavar="ID", help="Go on with one of these sessions.")
@click.option(
    "--verbosity",
    type=click.Choice(["terse", "normal", "detailed"]),
    default="normal",
    help="How much is said. Default: normal.",
)
@LANGUAGE_OPTION
@click.option("--listen", "urls", metavar="URL", multiple=True, help="An address where other readers can join.")
@click.option(
    "--capture",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Record all that passes. A file that is there is never written over.",
)
def main(
    *,
    agent: str | None,
    arguments: tuple[str, ...],
    wants_list: bool,
    command: str | None,
    folder: Path,
    mode: str | None,
    allow_unasked: bool,
    sessions: bool,
    resume: str | None,
    verbosity: str,
    languages: tuple[str, ...],
    urls: tuple[str, ...],
    capture: Path | None,
) -> int:
    """Work with a coding agent by ear: hear what it does, and decide what it may.

    Press p or Enter to write to it; a backslash at the end of a line begins another one, and @name names a file.
    Keys to answer: a accept, r refuse, m more, s say it again, o next open prompt. ? says the others.
    What is asked is the command or the change itself, and what is long has to be heard before it can be accepted.
    Control-C stops what the agent does, twice ends it. If standard input is not a terminal, lines are read from it.

    Exits with 0 when you quit, 1 when the agent ended by itself, and 2 when it could not begin.
    """
    if wants_list:
        _print_agents()
        return 0
    if command is not None and agent is not None:  # the first argument of that command
        arguments = (agent, *arguments)
        agent = None
    known = _choose_agent(agent, command)
    silence_logging()
    try:
        if sessions:
            return _print_sessions(known, folder, arguments)
        given = find_languages(languages, {})
        resolved = load_settings({"languages": given} if given else {})
        with (
            Recording(capture, source="aaep code") as recording,
            _private_address() as own_address,
            Producer(
                f"code-{known.name}",
                name=known.title,
                version=__version__,
                language=choose_language(resolved.phrases),
                manifest=MANIFEST,
                listen=[own_address, *urls],
                journal=None,
            ) as producer,
        ):
            if recording.is_wanted:
                recording.begin(Listener(producer, capabilities=_LISTENER_CAPABILITIES), whole=False)
            for address in producer.addresses[1:]:
                click.echo(f"Other readers can join: aaep listen {address}")
            source = detect_input(sys.stdin)
            rules, problems = _load_rules(resolved.phrases)
            preferences = Preferences(verbosity=cast(Verbosity, verbosity), languages=resolved.languages)
            desk = _Desk(producer, own_address, source, preferences, recording.save, problems)
            coding_agent = CodingAgent(
                producer,
                known,
                cwd=folder,
                arguments=arguments,
                mode=mode,
                allow_unasked=allow_unasked,
                rules=rules,
                on_notice=desk.terminal.print_soon,
            )
            try:
                coding_agent.start(resume=resume)
                return desk.run(coding_agent)
            finally:
                coding_agent.close()
    except UnprotectedAddress as error:
        raise CannotRun(f"{error.url} can be reached from other machines. Listen on 127.0.0.1.") from error
    except AgentGone as error:
        raise CannotRun(" ".join([str(error), *error.stderr[-_MAX_LAST_WORDS:]])) from error
    except AaepError as error:
        raise CannotRun(str(error)) from error


def _load_rules(phrases: Phrases) -> tuple[tuple[AllowRule, ...], list[str]]:
    """Return the rules of the person's settings, and in sentences why these do not count: then everything is asked."""
    found = load_settings_file(phrases=phrases)
    if found.problem:
        return (), [found.problem]
    try:
        return read_rules(tomllib.loads(found.text)), []
    except ValueError as error:  # that of TOML is one
        return (), [phrases.format("settings-allow", reason=sanitize(str(error)))]


def _choose_agent(name: str | None, command: str | None) -> KnownAgent:
    if (name is None) == (command is None):
        raise CannotRun(f"Name one agent: {', '.join(AGENTS)}; or give --command. aaep code --list says more.")
    if name is not None:
        return _find_agent(name)
    words = shlex.split(command or "")
    if not words:
        raise CannotRun("--command is empty.")
    return custom_agent(words)


def _find_agent(name: str) -> KnownAgent:
    try:
        return find_agent(name)
    except CodingAgentError as error:
        raise CannotRun(str(error)) from error


def _print_agents() -> None:
    for agent in AGENTS.values():
        installed = "installed" if agent.is_installed else f"not installed. Get it with: {agent.package}"
        click.echo(f"{agent.name}: {agent.title}, {installed}{'.' if agent.is_installed else ''}")
        click.echo(f"  It needs: {agent.needs}")
        click.echo(f"  Not guarded: {agent.unguarded}")


def _print_sessions(known: KnownAgent, folder: Path, arguments: tuple[str, ...]) -> int:
    with Producer(f"code-{known.name}", journal=None) as producer:
        agent = CodingAgent(producer, known, cwd=folder, arguments=arguments)
        try:
            agent.connect()
            found = agent.list_sessions()
        finally:
            agent.close()
    for session in found:
        title = session.title.partition("\n")[0] or "no title"
        date = f", {session.updated_at}" if session.updated_at else ""
        click.echo(to_printable(f"{session.id}: {title}{date}"))
    if not found:
        click.echo("No sessions are kept for this folder.")
    return 0


@contextmanager
def _private_address() -> Iterator[str]:
    """Yield an address that nobody but this user can open."""
    with tempfile.TemporaryDirectory(prefix="aaep-") as folder:
        yield f"unix://{folder}/code"


def find_mentions(text: str, folder: Path) -> tuple[list[str], list[str]]:
    """Return the files that a text names with an @ in front, and the names that are no files."""
    files: list[str] = []
    missing: list[str] = []
    for match in _MENTION.finditer(text):
        name = match[1] or match[2]
        candidates = [name, name.rstrip(_PUNCTUATION)]
        found = next((candidate for candidate in candidates if candidate and (folder / candidate).exists()), None)
        target = missing if found is None else files
        if (found or name) not in target:
            target.append(found or name)
    return files, missing


class _Desk:
    """The terminal of one person, and the thread that takes what they write to the agent."""

    def __init__(
        self,
        producer: Producer,
        address: str,
        source: InputSource,
        preferences: Preferences,
        on_turn_end: Callable[[], None],
        notices: Collection[str],
    ) -> None:
        self._requests: SimpleQueue[str | None] = SimpleQueue()
        self._source = source
        self._on_turn_end = on_turn_end
        self._heard_ends = threading.Semaphore(0)  # one for each turn whose end was told
        self._is_busy = False
        self._is_interrupted = False
        self._agent: CodingAgent | None = None
        self._producer = producer
        self._phrases = preferences.phrases
        terms = Terms(languages=tuple(dict.fromkeys((*preferences.languages, producer.language))))
        replies = not isinstance(source, NoInput)
        self.terminal = Terminal(
            lambda on_status: Subscriber(
                address,
                name="aaep code",
                replies=replies,
                verbosity=preferences.verbosity,
                terms=terms,
                on_status=on_status,
            ),
            source,
            LinePrinter(sys.stdout),
            preferences=preferences,
            replies=replies,
            notices=notices,
        )
        self.terminal.enable_writing(
            self._take_request,
            on_interrupt=self._handle_interrupt,
            on_input_end=lambda: self._requests.put(None),
            on_session_end=self._note_turn_end,
        )

    def run(self, agent: CodingAgent) -> int:
        """Run the terminal until the person quits, or the agent ends, and return the exit status."""
        self._agent = agent
        ready = "code-ready-lines" if self._source.is_line_based else "code-ready"
        self.terminal.print_soon(self._phrases.format(ready, agent=agent.agent.title))
        if isinstance(self._source, NoInput):
            self._requests.put(None)
        worker = threading.Thread(target=self._work, args=(agent,), name="aaep-code", daemon=True)
        worker.start()
        try:
            return self.terminal.run()
        finally:
            agent.cancel()
            self._requests.put(None)
            self._heard_ends.release()
            agent.close()
            worker.join(10)

    # -- on the terminal's loop ------------------------------------------------------------------

    def _take_request(self, text: str) -> None:
        self._is_interrupted = False
        if self._is_busy or not self._requests.empty():
            self.terminal.print_soon(self._phrases["code-queued"])
        self._requests.put(text)

    def _handle_interrupt(self) -> bool:
        """Stop the turn at the first Ctrl-C, and end at the second."""
        if self._is_interrupted:
            return False
        self._is_interrupted = True
        if self._is_busy and self._agent is not None:
            self.terminal.print_soon(self._phrases["code-interrupt"])
            threading.Thread(target=self._agent.cancel, name="aaep-code-cancel", daemon=True).start()
        else:
            self.terminal.print_soon(self._phrases["code-interrupt-idle"])
        return True

    def _note_turn_end(self) -> None:
        """Count Ctrl-C anew: the person has heard that the turn is over, though the worker may not be done with it."""
        self._is_busy = False
        self._is_interrupted = False
        self._heard_ends.release()

    # -- on the worker's thread ------------------------------------------------------------------

    def _work(self, agent: CodingAgent) -> None:
        # For the terminal itself: what is asked before it listens would be refused.
        self._producer.reader(replies=not isinstance(self._source, NoInput)).wait(_CONNECT_TIMEOUT)
        while (text := self._requests.get()) is not None:
            self._is_busy = True
            try:
                status = self._send(agent, text)
            finally:
                self._is_busy = False
                self._on_turn_end()
            if status is not None:
                self.terminal.end_soon(status)
                return
        self.terminal.end_soon(0)

    def _send(self, agent: CodingAgent, text: str) -> int | None:
        """Send what was written, with the files that it names; return the exit status if the agent has ended."""
        files, missing = find_mentions(text, Path(agent.cwd))
        for name in files:
            self.terminal.print_soon(self._phrases.format("code-file", file=name))
        for name in missing:
            self.terminal.print_soon(self._phrases.format("code-file-missing", file=name))
        try:
            result = agent.prompt(text, links=files)
        except AaepError as error:
            self.terminal.print_soon(str(error))
            return 1
        self._heard_ends.acquire(timeout=_CONNECT_TIMEOUT)  # what follows is said after it
        return self._report(agent, result)

    def _report(self, agent: CodingAgent, result: TurnResult) -> int | None:
        if result.stop_reason == "error" and result.error:
            self.terminal.print_soon(self._phrases.format("code-error", text=result.error))
        if agent.is_running:
            return None
        last_words = agent.stderr[-_MAX_LAST_WORDS:]
        for line in [self._phrases["code-last_words"], *last_words] if last_words else []:
            self.terminal.print_soon(line)
        return 1
