"""
How every command ends, and how it prints.

0: fine. 1: found something. 2: could not run, and one line on standard error
says why. 130: interrupted. 141: nobody reads what we print any more.
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final

import click

from ..errors import ExtensionError
from ..protocol.attend_extension import attend_registry
from ..protocol.extensions import Registry, add_installed
from ..recording.recordings import UnreadableRecording
from ..text.languages import is_well_formed_tag

__all__ = [
    "CONTEXT_SETTINGS",
    "AaepCommand",
    "BaseCommand",
    "CannotRun",
    "CommandGroup",
    "FiniteRange",
    "IntegerRange",
    "format_count",
    "interrupt_on_sigterm",
    "load_extensions",
    "open_input",
    "open_stdin",
    "to_json_line",
    "to_printable",
]

CONTEXT_SETTINGS: Final = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

# Controls, line and paragraph separators, invisible and direction-changing characters, lone surrogates. What joins
# letters (U+200C, U+200D) stays: some scripts need it.
_UNSAFE_CHARACTERS: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


class CannotRun(click.ClickException):
    """The command cannot do what was asked; the message is one line."""

    exit_code = 2


class _WordedRange:
    """Bounds of a number in words: signs of comparison are read out one by one, or not at all."""

    min: Any
    max: Any
    min_open: bool

    def _describe_range(self) -> str:
        if self.min_open:
            return f"above {self.min}" + ("" if self.max is None else f" up to {self.max}")
        return f"from {self.min} {'on' if self.max is None else f'to {self.max}'}"


class IntegerRange(_WordedRange, click.IntRange):
    """A whole number within bounds."""


class FiniteRange(_WordedRange, click.FloatRange):
    """A number within bounds; what Python also reads as one, such as nan and inf, is none to wait or to divide by."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class LanguageTagType(click.types.StringParamType):
    """A language by its tag. Another would be refused by whoever it is sent to, in words about messages."""

    name = "TAG"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not is_well_formed_tag(value):
            self.fail(f"{value!r} is not the tag of a language. Write it like en-GB.", param, ctx)
        return value


class _HelpFormatter(click.HelpFormatter):
    """
    As narrow as the terminal, or the braille line, is.

    Where two columns would leave a few letters to each, what an option does stands below it.
    """

    def __init__(self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None) -> None:
        if width is None:
            width = max(min(shutil.get_terminal_size().columns, max_width or 80) - 2, 30)
        super().__init__(indent_increment, width, max_width)

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([*rows], 2 if self.width < 60 else col_max, col_spacing)


class _Context(click.Context):
    formatter_class = _HelpFormatter


class BaseCommand(click.Command):
    """A command that ends as the module says."""

    context_class = _Context

    def get_short_help_str(self, limit: int = 45) -> str:
        """Its first sentence, whole: half of one helps nobody who hears it."""
        return super().get_short_help_str(1000)

    def main(  # type: ignore[override]  # the overloads say when it returns, which matters to nobody here
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
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
        if context.parent is not None:  # the outermost command answers for all
            return super().invoke(context)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
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
    """A command of ours: ``-h`` works, and the help ends with an example."""

    def __init__(
        self, name: str | None, *, example: str, context_settings: Mapping[str, Any] | None = None, **extra: Any
    ) -> None:
        settings = {**CONTEXT_SETTINGS, **(context_settings or {})}
        super().__init__(name, context_settings=settings, epilog=f"Example: {example}", **extra)


class CommandGroup(BaseCommand, click.Group):
    """A command with commands of its own."""


def _reserve_standard_streams() -> None:
    """The place of a closed standard stream is taken, or the next file or socket would be where others print."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (file := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # it takes the place of a closed one, so that nothing else does
    if sys.stderr is None:  # nobody wants to be told what goes wrong
        sys.stderr = os.fdopen(file, "w")
    else:
        os.close(file)


def open_stdin() -> IO[bytes]:
    """Standard input, from which the command reads what it works on."""
    if sys.stdin is None:
        raise CannotRun("Standard input is closed. Name a file instead.")
    if sys.stdin.isatty():
        click.echo("aaep: Reading standard input. End it with Control-D.", err=True)
    return sys.stdin.buffer


def _flush_stdout() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _discard_stdout()


def _discard_stdout() -> None:
    """Nobody reads any more: what is still buffered goes nowhere, or the interpreter would complain at its end."""
    with suppress(OSError):  # then there was no output to begin with
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _describe_internal_error(error: Exception) -> str:
    """A mistake of ours, or of an extension's: still one line, but with the place in it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"Something in the program itself failed, in {Path(place.filename).name}, line {place.lineno}: "
        f"{type(error).__name__}: {error}. Please report this."
    )


def _print_error(text: str) -> None:
    click.echo(to_printable(text), err=True)


def _to_sentence(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith((".", "?")) else line + "."


def _escape_character(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1] if match[0] != "\x7f" else "\\u007f"


def to_printable(text: str, max_chars: int = 2000) -> str:
    """Text that is safe to print in one line: nothing in it moves the cursor or turns the reading order."""
    if len(text) > max_chars:
        text = text[:max_chars] + "…"
    return _UNSAFE_CHARACTERS.sub(_escape_character, text)


def to_json_line(value: Any) -> bytes:
    """One line of JSON Lines, UTF-8 whatever the terminal, escaped where text would be unsafe to print."""
    return _UNSAFE_CHARACTERS.sub(_escape_character, json.dumps(value, ensure_ascii=False)).encode() + b"\n"


def format_count(number: int, noun: str) -> str:
    """``no errors``, ``1 error``, ``2 errors``."""
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


# -- _stopping --


@contextmanager
def interrupt_on_sigterm() -> Iterator[None]:
    """Within the block SIGTERM raises :exc:`KeyboardInterrupt` too."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():  # nobody else may have it
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def load_extensions() -> Registry:
    """What a recording may hold: our own extension, and those of other installed packages."""
    try:
        return add_installed(attend_registry())
    except ExtensionError as error:
        raise CannotRun(f"An installed extension is refused: {error}") from error


@contextmanager
def open_input(file: str) -> Iterator[IO[bytes]]:
    """A file, or with - standard input."""
    if file == "-":
        if sys.stdin is None:
            raise UnreadableRecording("It is closed. Name a file instead.")
        yield open_stdin()
    else:
        with open(file, "rb", buffering=1 << 18) as stream:
            yield stream
