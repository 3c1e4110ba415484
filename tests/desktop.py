"""A desktop for tests: a real D-Bus daemon at an address of its own, and a notification service on it."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from jeepney import DBusAddress, HeaderFields, MessageType, message_bus, new_method_return, new_signal
from jeepney.io.threading import DBusConnection, ReceiveStopped, open_dbus_connection

SERVICE = "org.freedesktop.Notifications"
PATH = "/org/freedesktop/Notifications"
CONFIGURATION = """\
<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:path={folder}/bus</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"""


class Notification(NamedTuple):
    """What was asked to be shown."""

    id: int
    title: str
    body: str
    actions: list[str]
    hints: dict[str, Any]


class Desktop:
    """A notification service in the hands of a test."""

    def __init__(self, address: str, capabilities: list[str]) -> None:
        self.address = address
        self.shown: SimpleQueue[Notification] = SimpleQueue()
        self.closed: SimpleQueue[int] = SimpleQueue()
        self._capabilities = capabilities
        self._last_id = 0
        self._connection: DBusConnection = open_dbus_connection(address)
        self._connection.send(message_bus.RequestName(SERVICE), serial=next(self._connection.outgoing_serial))
        while self._connection.receive(timeout=30).header.message_type is not MessageType.method_return:
            pass
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def choose(self, notification_id: int, action: str) -> None:
        """Choose an action, as a person would with a click."""
        send_signal(self._connection, "ActionInvoked", "us", (notification_id, action))

    def close(self) -> None:
        self._connection.interrupt()
        self._thread.join()
        self._connection.close()

    def _serve(self) -> None:
        with contextlib.suppress(ReceiveStopped, OSError):
            while True:
                self._handle(self._connection.receive())

    def _handle(self, message: Any) -> None:
        if message.header.message_type is not MessageType.method_call:
            return
        member = message.header.fields[HeaderFields.member]
        if member == "GetCapabilities":
            answer = new_method_return(message, "as", (self._capabilities,))
        elif member == "Notify":
            _, replaced, _, title, body, actions, hints, _ = message.body
            self._last_id += not replaced
            answer = new_method_return(message, "u", (replaced or self._last_id,))
            self.shown.put(Notification(replaced or self._last_id, title, body, actions, hints))
        else:
            self.closed.put(message.body[0])
            answer = new_method_return(message)
        self._connection.send(answer)


def send_signal(connection: DBusConnection, name: str, signature: str, body: tuple[Any, ...]) -> None:
    connection.send(new_signal(DBusAddress(PATH, interface=SERVICE), name, signature, body))


@contextlib.contextmanager
def bus(folder: Path) -> Iterator[str]:
    """The address of a real D-Bus daemon."""
    configuration = folder / "bus.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder))
    command = ["dbus-daemon", f"--config-file={configuration}", "--nofork", "--print-address=1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        try:
            assert daemon.stdout is not None
            yield daemon.stdout.readline().strip().partition(",guid=")[0]
        finally:
            daemon.kill()


@contextlib.contextmanager
def desktop(address: str, *capabilities: str) -> Iterator[Desktop]:
    """A notification service on a bus."""
    service = Desktop(address, [*capabilities] or ["body", "actions", "body-markup"])
    try:
        yield service
    finally:
        service.close()
