"""Events as sentences for a listener, and the queue that decides their order and interruptions."""

from __future__ import annotations

from .announce import Announcement, announce
from .preferences import Preferences
from .presenter import Presenter
from .queue import Queue, Speak, Stop

__all__ = ["Announcement", "Preferences", "Presenter", "Queue", "Speak", "Stop", "announce"]
