"""What a person is told: events in words, in the order and with the interruptions that suit a listener."""

from __future__ import annotations

from .announce import Announcement, Outputs, announce
from .preferences import Preferences
from .queue import Queue, Speak, Stop

__all__ = ["Announcement", "Outputs", "Preferences", "Queue", "Speak", "Stop", "announce"]
