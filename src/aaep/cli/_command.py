"""
The base of every command: exit statuses, parameter types, inputs and printing.

Exit statuses: 0 if all is well, 1 if the command found something, 2 if it
could not run and one line on standard error says why, 130 if it was
interrupted, 141 if standard output was closed by its reader, 143 or 129 if it
was ended by SIGTERM or SIGHUP and does not count that as a usual end.
"""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any, Final

import click

if TYPE_CHECKING:  # what a command needs it imports itself; this module is for all of them, and for --help
    from ..protocol.extensions import Registry

__all__ = [
    "CONTEXT_SETTINGS",
    "PROGRESS_OPTION",
    "AaepCommand",
    "BaseCommand",
    "CannotRun",
    "CommandGroup",
    "FiniteRange",
    "IntegerRange",
    "LanguageTagType",
    "build_interrupt",
    "end_on_signals",
    "find_end_signals",
    "find_languages",
    "format_count",
    "load_extensions",
    "open_input",
    "open_stdin",
    "to_json_line",
    "to_printable",
]

CONTEXT_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

# Controls, line and paragraph separators, invisible and direction-changing characters, lone surrogates. The joiners
# U+200C and U+200D stay, because some scripts need them.
_UNSAFE_CHARACTERS: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class CannotRun(click.ClickException):
    """Raised by a command that cannot do what was asked; the message is one line."""

    exit_code = 2


# -- commands ------------------------------------------------------------------------------


class _HelpFormatter(click.HelpFormatter):
    """
    A help formatter that fits a narrow terminal or braille display.

    Below 60 columns the description of an option stands below it instead of beside it.
    """

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        if width is None:
            width = max(min(shutil.get_terminal_size().columns, max_width or 80) - 2, 30)
        super().__init__(indent_increment, width, max_width)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a definition list, in one column if the width is small."""
        super().write_dl([*rows], 2 if self.width < 60 else col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _HelpFormatter


class BaseCommand(click.Command):
    """A command that ends with the exit statuses of this module."""

    context_class = _Context

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the complete first sentence, because a truncated one is of no use when read aloud."""
        return super().get_short_help_str(1000)

    def main(  # type: ignore[override]  # the overloads say when it returns, which does not matter here
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        """Run the command, print errors as one line, and exit."""
        if not extra.pop("standalone_mode", True):
            return super().main(args, prog_name, standalone_mode=False, **extra)
        _reserve_standard_streams()
        if sys.stdout is None:
            _print_error("aaep: Standard output is closed. Send it to /dev/null if nobody is to read it.")
            sys.exit(2)
        try:
            status = super().main(args, prog_name, standalone_mode=False, **extra)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx is not None else "aaep"
            _print_error(f"{path}: {_to_sentence(error.format_message())} {path} --help says more.")
            status = 2
        except click.ClickException as error:
            _print_error(f"aaep: {_to_sentence(error.format_message())}")
            status = 2
        except click.Abort:
            status = 130
        sys.exit(status if isinstance(status, int) else 0)

    def invoke(self, context: click.Context) -> Any:
        """Run the callback, and turn every exception into one that :meth:`main` handles."""
        if context.parent is not None:  # the outermost command handles exceptions for all
            return super().invoke(context)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            with end_on_signals():
                status = super().invoke(context)
            sys.stdout.flush()
        except BrokenPipeError:
            _discard_stdout()
            context.exit(141)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            _flush_stdout()
            raise
        except OSError as error:
            raise CannotRun(f"{error.filename or 'Output'}: {error.strerror or error}.") from error
        except Exception as error:
            raise CannotRun(_describe_internal_error(error)) from error
        return status


class AaepCommand(BaseCommand):
    """A command with ``-h`` and an example at the end of its help."""

    def __init__(
        self, name: str | None, *, example: str, context_settings: Mapping[str, Any] | None = None, **extra: Any
    ) -> None:
        settings = {**CONTEXT_SETTINGS, **(context_settings or {})}
        super().__init__(name, context_settings=settings, epilog=f"Example: {example}", **extra)


class CommandGroup(BaseCommand, click.Group):
    """A command with subcommands."""


# -- parameter types and options -----------------------------------------------------------


class _WordedRange:
    """A range that its help describes in words, because screen readers spell out comparison signs or skip them."""

    min: Any
    max: Any
    min_open: bool

    def _describe_range(self) -> str:
        if self.min_open:
            return f"above {self.min}" + ("" if self.max is None else f" up to {self.max}")
        return f"from {self.min} {'on' if self.max is None else f'to {self.max}'}"


class IntegerRange(_WordedRange, click.IntRange):
    """A parameter type for whole numbers within bounds."""


class FiniteRange(_WordedRange, click.FloatRange):
    """A parameter type for numbers within bounds, without nan and inf."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the value as a number, or fail."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class LanguageTagType(click.types.StringParamType):
    """A parameter type for language tags, checked here because a producer's refusal would be harder to understand."""

    name = "TAG"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the tag, or several with commas between them; fail if one is not well-formed."""
        from ..text.languages import is_well_formed_tag  # noqa: PLC0415  # loaded only if it is needed

        for tag in value.split(","):
            if not is_well_formed_tag(tag):
                self.fail(f"{tag!r} is not the tag of a language. Write it like en-GB.", param, ctx)
        return value


def find_languages(given: Iterable[str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """
    Return the languages that a person wants, the best first: those given, else those that the system is set to.

    Each text that was given may hold several tags with commas between them.
    """
    from ..text.languages import list_system_languages  # noqa: PLC0415  # not for --help

    tags = [tag for text in given for tag in text.split(",")]
    return tuple(dict.fromkeys(filter(None, tags))) or list_system_languages(environment)


PROGRESS_OPTION: Final = click.option(
    "--progress",
    "show_progress",
    is_flag=True,
    callback=lambda _context, _option, value: value or sys.stderr.isatty(),
    help="Say on standard error how far it is, even if that is not a terminal.",
)


# -- inputs and signals --------------------------------------------------------------------


def open_stdin() -> IO[bytes]:
    """Return standard input, and say so on standard error if it is a terminal."""
    if sys.stdin is None:
        raise CannotRun("Standard input is closed. Name a file instead.")
    if sys.stdin.isatty():
        click.echo("aaep: Reading standard input. End it with Control-D.", err=True)
    return sys.stdin.buffer


@contextmanager
def open_input(file: str) -> Iterator[IO[bytes]]:
    """Open a file, or standard input for ``-``."""
    if file == "-":
        if sys.stdin is None:
            from ..recording.recordings import UnreadableRecording  # noqa: PLC0415  # loaded only if it is needed

            raise UnreadableRecording("It is closed. Name a file instead.")
        yield open_stdin()
    else:
        with open(file, "rb", buffering=1 << 18) as stream:
            yield stream


def load_extensions() -> Registry:
    """Return a registry with the attend extension and those of other installed packages."""
    from ..errors import ExtensionError  # noqa: PLC0415  # loaded only if it is needed
    from ..protocol.attend_extension import attend_registry  # noqa: PLC0415  # the same
    from ..protocol.extensions import add_installed  # noqa: PLC0415  # the same

    try:
        return add_installed(attend_registry())
    except ExtensionError as error:
        raise CannotRun(f"An installed extension is refused: {error}") from error


def _build_exit(number: int) -> BaseException:
    return SystemExit(128 + number)


@contextmanager
def end_on_signals(make_exception: Callable[[int], BaseException] = _build_exit) -> Iterator[None]:
    """
    Raise an exception on SIGTERM and SIGHUP within the block, so that everything is ended in order as after Ctrl-C.

    By default the program then ends with the status of the signal. What is being ended is not interrupted by further
    ones. A hangup that is ignored, as under ``nohup``, stays so.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set signal handlers
        yield
        return
    first: int | None = None

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if first is not None:
            return
        first = number
        on_interrupt = signal.getsignal(signal.SIGINT)
        if _is_in_event_loop() and callable(on_interrupt):
            on_interrupt(signal.SIGINT, frame)  # asyncio's: it cancels the main task, and leaves the others to that one
        else:
            raise make_exception(number)

    previous = {number: signal.signal(number, handle) for number in find_end_signals()}
    try:
        yield
    except KeyboardInterrupt:
        if first is None:
            raise
        raise make_exception(first) from None
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def _is_in_event_loop() -> bool:
    """Whether this thread runs an event loop, without importing asyncio, which in a signal handler may go wrong."""
    asyncio = sys.modules.get("asyncio")
    try:
        return asyncio is not None and asyncio.get_running_loop() is not None
    except (RuntimeError, AttributeError):  # there is none, or asyncio is just being imported
        return False


def find_end_signals() -> list[signal.Signals]:
    """Return SIGTERM and SIGHUP, as far as the system has them and they are not ignored."""
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


def build_interrupt(_number: int) -> BaseException:
    """Return what Ctrl-C raises, for :func:`end_on_signals`."""
    return KeyboardInterrupt()


# -- standard streams ----------------------------------------------------------------------


def _reserve_standard_streams() -> None:
    """Open /dev/null for closed standard streams; the next file or socket would get their descriptors otherwise."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (fd := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    if sys.stderr is None:
        sys.stderr = os.fdopen(fd, "w")
    else:
        os.close(fd)


def _flush_stdout() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()


def _discard_stdout() -> None:
    """Redirect standard output to /dev/null, so that the interpreter does not fail to flush it at exit."""
    with suppress(OSError):  # standard output has no file descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# -- texts ---------------------------------------------------------------------------------


def to_printable(text: str, max_chars: int = 2000) -> str:
    """Return text on one line, with characters escaped that move the cursor or change the reading order."""
    if len(text) > max_chars:
        text = text[:max_chars] + "…"
    return _UNSAFE_CHARACTERS.sub(_escape_character, text)


def to_json_line(value: Any) -> bytes:
    """Return a value as one line of JSON Lines in UTF-8, with the characters escaped that are unsafe to print."""
    return _UNSAFE_CHARACTERS.sub(_escape_character, json.dumps(value, ensure_ascii=False)).encode() + b"\n"


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: ``no errors``, ``1 error``, ``2 errors``."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _escape_character(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"


def _print_error(text: str) -> None:
    click.echo(to_printable(text), err=True)


def _to_sentence(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith((".", "?")) else line + "."


def _describe_internal_error(error: Exception) -> str:
    """Return one line with the place of a bug in this program or in an extension."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"Something in the program itself failed, in {Path(frame.filename).name}, line {frame.lineno}: "
        f"{type(error).__name__}: {error}. Please report this."
    )
