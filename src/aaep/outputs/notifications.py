"""
Prompts as notifications of the desktop, for a reader that has no terminal.

They go the way that the freedesktop specification describes, over D-Bus with the library jeepney where it is installed,
or else through the program ``notify-send``, which takes no answers. Only what could be accepted with a single key can
be accepted here: a click is made too easily for what is risky or cannot be undone.
"""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
import subprocess
import threading
from collections.abc import Callable
from functools import partial
from queue import SimpleQueue
from typing import Any, Final
from xml.sax.saxutils import escape

import msgspec

from ..errors import AaepError
from ..presentation.announce import Announcement
from ..presentation.queue import Speak
from ..protocol.events import CORE_EVENTS, TERMINAL, AwaitingConfirmation
from ..protocol.fields import get_member
from ..text.imitation import guard_name
from ..text.phrases import ENGLISH, Phrases
from ..text.sanitize import sanitize
from .base import Notice, OutputEvent, PromptAnswered

__all__ = ["DesktopNotifications", "NoNotifications", "NotifySend", "open_notifications"]

SERVICE: Final = "org.freedesktop.Notifications"
PATH: Final = "/org/freedesktop/Notifications"
OPEN_TIMEOUT: Final = 5.0  # seconds for the service to tell what it can do
MAX_SHOWN: Final = 100  # notifications that are remembered; agents may ask any number of things
_CRITICAL: Final = 2  # an urgency: it stays until it was seen
_DECISIONS: Final = ("accept", "reject")


def open_notifications(phrases: Phrases = ENGLISH) -> DesktopNotifications | NotifySend | NoNotifications:
    """Return the way to show notifications on this machine, or an output that says once that there is none."""
    if importlib.util.find_spec("jeepney") is not None:
        with contextlib.suppress(NotificationsUnavailable):
            return DesktopNotifications(phrases)
    program = shutil.which("notify-send")
    return NoNotifications(phrases) if program is None else NotifySend(program, phrases)


class NotificationsUnavailable(AaepError):
    """There is no notification service on this machine, or it does not answer."""


class NoNotifications:
    """An output for machines without notifications, which says so once."""

    name = "notifications"
    is_paced = False
    can_answer = False

    def __init__(self, phrases: Phrases = ENGLISH) -> None:
        self._phrases = phrases

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Report that there are none."""
        report(Notice(self._phrases["notifications-none"]))

    def present(self, utterance: Speak) -> None:
        """Show nothing."""

    def stop(self, utterance_id: int) -> None:
        """Do nothing: nothing is shown."""

    def close(self) -> None:
        """Do nothing: nothing was opened."""


class NotifySend:
    """Notifications through a program, which shows them and takes no answers."""

    name = "notifications"
    is_paced = False
    can_answer = False

    def __init__(self, program: str, phrases: Phrases = ENGLISH) -> None:
        self._program = program
        self._phrases = phrases
        self._shown: dict[str, None] = {}
        self._running: list[subprocess.Popen[bytes]] = []

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Do nothing: the program is run for each notification."""

    def present(self, utterance: Speak) -> None:
        """Show a prompt, once."""
        prompt = utterance.announcement
        if not _is_whole_prompt(utterance) or prompt.prompt in self._shown:
            return
        _remember(self._shown, prompt.prompt, None)
        self._running = [process for process in self._running if process.poll() is None]
        body = f"{_clean(utterance.text)}\n{self._phrases['notification-answer']}"
        words = ["--urgency=critical", "--app-name=aaep", "--", _title(prompt, self._phrases), escape(body)]
        with contextlib.suppress(OSError):  # it is spoken and printed too
            self._running.append(subprocess.Popen([self._program, *words], stdin=subprocess.DEVNULL))

    def stop(self, utterance_id: int) -> None:
        """Do nothing: a notification stays."""

    def close(self) -> None:
        """Wait for the programs that run, which is short, or end them."""
        for process in self._running:
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running = []


class _Shown(msgspec.Struct, eq=False):
    """A notification of a prompt; ``id`` is 0 until the service has told it."""

    prompt: Announcement
    id: int = 0
    sender: str = ""  # the service that shows it, which alone may say what was chosen
    has_actions: bool = False


class DesktopNotifications:
    """Notifications over D-Bus, with actions to answer what takes a single key."""

    name = "notifications"
    is_paced = False

    def __init__(self, phrases: Phrases = ENGLISH) -> None:
        from jeepney import DBusAddress  # noqa: PLC0415  # an extra, which need not be installed
        from jeepney.io.threading import open_dbus_connection  # noqa: PLC0415

        self._phrases = phrases
        self._address = DBusAddress(PATH, bus_name=SERVICE, interface=SERVICE)
        try:
            self._connection: Any = open_dbus_connection("SESSION")
        except Exception as error:  # no bus, no address, refused: the library names them in many ways
            raise NotificationsUnavailable(self._phrases["notifications-none"]) from error
        try:
            self._capabilities = self._fetch_capabilities()
        except NotificationsUnavailable:
            self._connection.close()
            raise
        self._report: Callable[[OutputEvent], None] = lambda event: None
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._shown: dict[str, _Shown] = {}  # by reply token
        self._unanswered: dict[int, _Shown] = {}  # by the serial number of the call that shows it
        self._is_closed = False
        self._threads: list[threading.Thread] = []

    @property
    def can_answer(self) -> bool:
        """Whether prompts can be answered here."""
        return "actions" in self._capabilities

    def open(self, report: Callable[[OutputEvent], None]) -> None:
        """Begin, in threads of its own."""
        self._report = report
        for target in (self._receive, self._run):
            thread = threading.Thread(target=target, name="aaep-notifications", daemon=True)
            thread.start()
            self._threads.append(thread)

    def present(self, utterance: Speak) -> None:
        """Show a prompt, and take away those that were closed."""
        self._jobs.put(partial(self._show, utterance))

    def stop(self, utterance_id: int) -> None:
        """Do nothing: a notification stays."""

    def close(self) -> None:
        """Take away what is shown, and disconnect."""
        self._jobs.put(self._close_all)
        self._jobs.put(None)
        if self._threads:
            self._threads[1].join(OPEN_TIMEOUT)
        self._is_closed = True
        with contextlib.suppress(OSError):
            self._connection.interrupt()
        for thread in self._threads[:1]:
            thread.join(OPEN_TIMEOUT)
        self._connection.close()

    # -- calls -------------------------------------------------------------------------------

    def _fetch_capabilities(self) -> frozenset[str]:
        from jeepney import MatchRule, MessageType, message_bus, new_method_call  # noqa: PLC0415

        rule = MatchRule(type="signal", interface=SERVICE, path=PATH)
        self._call(message_bus.AddMatch(rule))
        serial = self._call(new_method_call(self._address, "GetCapabilities"))
        try:
            while (message := self._connection.receive(timeout=OPEN_TIMEOUT)) is not None:
                if _get_reply_serial(message) == serial:
                    break
        except (OSError, TimeoutError) as error:
            raise NotificationsUnavailable(self._phrases["notifications-none"]) from error
        if message.header.message_type is not MessageType.method_return:
            raise NotificationsUnavailable(self._phrases["notifications-none"])
        return frozenset(message.body[0])

    def _call(self, message: Any) -> int:
        serial: int = next(self._connection.outgoing_serial)
        self._connection.send(message, serial=serial)
        return serial

    # -- the thread that reads -----------------------------------------------------------------

    def _receive(self) -> None:
        from jeepney.io.threading import ReceiveStopped  # noqa: PLC0415

        while True:
            try:
                message = self._connection.receive()
            except (ReceiveStopped, OSError, EOFError):
                if not self._is_closed:
                    self._report(Notice(self._phrases["notifications-gone"]))
                return
            self._jobs.put(partial(self._handle_message, message))

    # -- the thread that shows -----------------------------------------------------------------

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            with contextlib.suppress(OSError):  # the connection is lost, which the other thread tells
                job()

    def _show(self, utterance: Speak) -> None:
        announcement = utterance.announcement
        self._take_away_closed(announcement)
        if not _is_whole_prompt(utterance):
            return
        before = self._shown.pop(announcement.replaces, None)
        if announcement.prompt in self._shown:
            return
        if len(self._shown) >= MAX_SHOWN:
            self._take_away(next(iter(self._shown)))
        actions = [*self._list_actions(announcement)]
        shown = _Shown(announcement, id=before.id if before else 0, has_actions=bool(actions))
        self._shown[announcement.prompt] = shown
        self._unanswered[self._call(self._compose(utterance, shown.id, actions))] = shown

    def _list_actions(self, prompt: Announcement) -> list[str]:
        """Return the actions of a prompt, each with its label; none where a second key would be needed."""
        event = prompt.event
        if not (self.can_answer and isinstance(event, AwaitingConfirmation)) or prompt.careful or prompt.cut:
            return []
        allowed = get_member(event, "allowed_replies") or _DECISIONS
        labels = {"accept": self._phrases["notification-accept"], "reject": self._phrases["notification-reject"]}
        return [word for decision in _DECISIONS if decision in allowed for word in (decision, labels[decision])]

    def _compose(self, utterance: Speak, replaced_id: int, actions: list[str]) -> Any:
        from jeepney import new_method_call  # noqa: PLC0415

        body = _clean(utterance.text)
        if not actions:
            body = f"{body}\n{self._phrases['notification-answer']}"
        if "body-markup" in self._capabilities:
            body = escape(body)
        hints = {"urgency": ("y", _CRITICAL), "category": ("s", "im.received")}
        title = _title(utterance.announcement, self._phrases)
        return new_method_call(
            self._address, "Notify", "susssasa{sv}i", ("aaep", replaced_id, "", title, body, actions, hints, 0)
        )

    def _take_away_closed(self, announcement: Announcement) -> None:
        """Take away the notifications of prompts that an announcement closes."""
        ends_session = CORE_EVENTS.get(announcement.event.type) in TERMINAL
        for token, shown in [*self._shown.items()]:
            is_outcome = announcement.prompt == token and not announcement.asks
            if is_outcome or (ends_session and shown.prompt.session_id == announcement.session_id):
                self._take_away(token)

    def _take_away(self, token: str) -> None:
        from jeepney import new_method_call  # noqa: PLC0415

        shown = self._shown.pop(token, None)
        if shown is not None and shown.id:
            self._call(new_method_call(self._address, "CloseNotification", "u", (shown.id,)))

    def _close_all(self) -> None:
        for token in [*self._shown]:
            self._take_away(token)

    def _handle_message(self, message: Any) -> None:
        from jeepney import HeaderFields, MessageType  # noqa: PLC0415

        fields = message.header.fields
        shown = self._unanswered.pop(_get_reply_serial(message), None)
        if shown is not None and message.header.message_type is MessageType.method_return:
            shown.id = message.body[0]
            shown.sender = fields.get(HeaderFields.sender, "")
            if self._shown.get(shown.prompt.prompt) is not shown:  # it was closed meanwhile
                self._shown[shown.prompt.prompt] = shown
                self._take_away(shown.prompt.prompt)
        elif message.header.message_type is MessageType.signal:
            self._handle_signal(fields.get(HeaderFields.member), fields.get(HeaderFields.sender), message.body)

    def _handle_signal(self, member: str | None, sender: str | None, body: tuple[Any, ...]) -> None:
        found = next((shown for shown in self._shown.values() if body and shown.id and shown.id == body[0]), None)
        if found is None or sender != found.sender:  # another program must not answer
            return
        if member == "ActionInvoked" and body[1] in _DECISIONS and found.has_actions:
            found.has_actions = False  # once
            self._report(PromptAnswered(found.prompt.prompt, body[1]))
        elif member == "NotificationClosed":
            found.id = 0  # which may be given to another one


def _is_whole_prompt(utterance: Speak) -> bool:
    """Whether an utterance is a prompt, and not that there is another one or how much time is left."""
    return utterance.announcement.asks and utterance.text.endswith(utterance.announcement.text)


def _title(prompt: Announcement, phrases: Phrases) -> str:
    producer = prompt.event.producer
    name = guard_name(get_member(producer, "agent_name") or producer.agent_id, phrases=phrases)
    return phrases.format("notification-title", agent=name)


def _clean(text: str) -> str:
    return "\n".join(sanitize(line) for line in text.split("\n"))


def _remember(known: dict[str, None], token: str, value: None) -> None:
    known[token] = value
    if len(known) > MAX_SHOWN:
        del known[next(iter(known))]


def _get_reply_serial(message: Any) -> int:
    from jeepney import HeaderFields  # noqa: PLC0415

    serial: int = message.header.fields.get(HeaderFields.reply_serial, -1)
    return serial
