"""Events as sentences for a listener, and the queue that decides their order and interruptions."""

from __future__ import annotations

from .announce import Announcement, Outputs, announce
from .preferences import Preferences
from .queue import Queue, Speak, Stop

__all__ = ["Announcement", "Outputs", "Preferences", "Queue", "Speak", "Stop", "announce"]
