"""
How a session ends: well, stopped, failed, or broken off.

An interruption such as Ctrl-C may come in the middle of a word, when what was
said and what we remember of it are not the same. The end has to be told all
the same, so what is open is then taken from the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

from ..errors import LocalProtocolError
from . import summaries

if TYPE_CHECKING:
    from .session import Session

__all__ = ["break_off", "leave", "stop", "stopped"]

_STOPPED: Final[dict[type[BaseException], Literal["user", "producer", "system"]]] = {
    KeyboardInterrupt: "user",
    SystemExit: "system",
    asyncio.CancelledError: "producer",
    GeneratorExit: "producer",
}


def stopped(error: BaseException) -> Literal["user", "producer", "system"] | None:
    """Who stopped the work, if an error says that it was stopped and not that it failed."""
    return next((by for kind, by in _STOPPED.items() if isinstance(error, kind)), None)


def leave(session: Session, error: BaseException | None) -> None:
    """The block of a session is left, because of an error if there is one."""
    try:
        _end(session, error)
    except BaseException as problem:
        cause = error or problem
        break_off(session, lambda: _end(session, cause))
        if error is None or not isinstance(problem, LocalProtocolError):
            raise


def stop(session: Session, by: Literal["user", "producer"]) -> None:
    """Everything ends, so this does too, whatever has happened to it."""
    try:
        session.cancel(by=by)
    except LocalProtocolError:
        break_off(session, lambda: session.cancel(by=by))


def break_off(session: Session, end: Callable[[], None]) -> None:
    """End what the journal says is open, then the session, if it is not over."""
    with session.voice.lock:
        session.drop()
        last = session.voice.mend()
        if last is not None and session.open:
            session.voice.close(last)
            end()
        session.producer.shut(session)


def _end(session: Session, error: BaseException | None) -> None:
    if not session.open:
        return
    if error is None:
        _end_well(session)
    elif (by := stopped(error)) is not None:
        session.cancel(by=by)
    else:
        category, name = summaries.failure(error)
        session.fail(category=category, name=name)


def _end_well(session: Session) -> None:
    try:
        if session.handed is False:  # C-53: nobody said that it was taken
            session.cancel(("Not taken.", *("Nobody has taken over. The work is not finished.",) * 2), by="system")
        else:
            session.complete()
    except LocalProtocolError:
        session.fail(category="permanent", name="a mistake in the agent")
        raise
