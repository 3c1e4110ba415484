"""A reader in the background: only one runs, and systemd starts it with the user's session."""

from __future__ import annotations

import contextlib
import os
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from ..runtime.files import create_private_folder, user_config_folder, user_state_folder
from ._command import CannotRun, to_printable

__all__ = ["hold_lock", "install_unit", "remove_unit"]

UNIT: Final = "aaep-listen.service"
_UNIT_TEXT: Final = """\
[Unit]
Description=Hear your agents, whichever window has the focus

[Service]
ExecStart={command} listen --daemon
Restart=on-failure

[Install]
WantedBy=default.target
"""


@contextlib.contextmanager
def hold_lock() -> Iterator[None]:
    """Hold the lock of this user's background reader; raises :exc:`CannotRun` if another one has it."""
    import fcntl  # noqa: PLC0415  # not on Windows

    folder = user_state_folder()
    create_private_folder(folder)
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(folder / "listen.lock", flags, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotRun("A background reader runs already. Two would say everything twice.") from None
        yield
    finally:
        os.close(descriptor)


def install_unit() -> None:
    """Write the unit that starts the background reader, and print it with what to do next."""
    program = Path(sysconfig.get_path("scripts")) / "aaep"
    if not program.is_file():
        raise CannotRun(f"There is no program {to_printable(str(program))} to start. Install aaep first.")
    path = _find_unit()
    text = _UNIT_TEXT.format(command=_quote(str(program)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CannotRun(f"{to_printable(str(path))} cannot be written: {error.strerror}.") from error
    click.echo(f"Written: {to_printable(str(path))}")
    click.echo(text.rstrip("\n"))
    click.echo("Start it now and with each session:")
    click.echo(f"systemctl --user daemon-reload && systemctl --user enable --now {UNIT}")


def remove_unit() -> None:
    """Remove the unit, and print what to do next."""
    path = _find_unit()
    try:
        path.unlink()
    except FileNotFoundError:
        raise CannotRun(f"There is no {to_printable(str(path))}: it was removed, or never installed.") from None
    except OSError as error:
        raise CannotRun(f"{to_printable(str(path))} cannot be removed: {error.strerror}.") from error
    click.echo(f"Removed: {to_printable(str(path))}")
    click.echo("End what runs:")
    click.echo(f"systemctl --user stop {UNIT}; systemctl --user daemon-reload")


def _find_unit() -> Path:
    return user_config_folder(platform="linux").parent / "systemd" / "user" / UNIT


def _quote(path: str) -> str:
    """Return a path as a unit has it, where percent, dollar, quotation marks and backslashes mean something."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'
