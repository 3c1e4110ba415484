"""Letting a journal forget what it may, where nobody waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Final

from ..journal.base import Journal
from ..runtime.timers import Timers

__all__ = ["Trimming"]

HOUR: Final = 3600.0

_log: Final = logging.getLogger("aaep.hub")


class Trimming:
    """Trims a journal at once and every hour, each time in a thread that ends with it."""

    def __init__(
        self,
        journal: Journal,
        clock: Callable[[], float],
        wall: Callable[[], float],
        timers: Timers,
        *,
        over: Callable[[], bool],
    ) -> None:
        """``over`` says whether the journal may be closed by now, which is no failure."""
        self._journal, self._clock, self._wall, self._timers, self._over = journal, clock, wall, timers, over

    def start(self) -> None:
        threading.Thread(target=self._trim, name="aaep-trim", daemon=True).start()
        self._timers.at(self._clock() + HOUR, self.start)

    def _trim(self) -> None:
        try:
            self._journal.trim(self._wall())
        except Exception:
            if not self._over():
                _log.exception("The journal could not be trimmed.")
