"""A real BRLTTY with its virtual display: the test is the display, reads its dots and presses its keys."""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator

WAIT = 30.0  # seconds that a broken build may keep a test waiting
KEY_INTERVAL = 0.1  # seconds between two keys, as with a finger: the virtual display loses sight of quicker ones
NUDGE_INTERVAL = 0.3  # seconds after which it is reminded that there may be a line it has not read
BASE_PORT = 4101  # of BrlAPI; the number in its address is added


def as_cells(dots: str) -> bytes:
    """``"134|| 1"`` as cells: the dots of each, as the virtual display is told them."""
    return bytes(sum(1 << (int(dot) - 1) for dot in cell.strip()) for cell in dots.split("|"))


def as_text(cells: bytes) -> str:
    """Cells as braille characters, without the blanks at the end."""
    return "".join(chr(0x2800 + cell) for cell in cells).rstrip("\u2800")


class VirtualDisplay:
    """A display of some width, and the BRLTTY that drives it; both can go and come back."""

    def __init__(self, width: int = 40, *, authorization: str = "none") -> None:
        self.width = width
        self.frames: list[bytes] = []  # everything that was on it since BRLTTY started
        self._authorization = authorization
        self._changed = threading.Condition()
        self._folder = tempfile.TemporaryDirectory(prefix="aaep-brltty-")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(WAIT)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.number = free.getsockname()[1] - BASE_PORT
        self._brltty: subprocess.Popen[bytes] | None = None
        self._device: socket.socket | None = None
        self._reader: threading.Thread | None = None
        self._pressed_at = 0.0
        self.start()

    @property
    def host(self) -> str:
        """The address of its BrlAPI, as in BRLAPI_HOST."""
        return f"127.0.0.1:{self.number}"

    # -- BRLTTY ----------------------------------------------------------------------------

    def start(self) -> None:
        port = self._listener.getsockname()[1]
        folder = self._folder.name
        options = f"auth={self._authorization},host={self.host}"
        self._brltty = subprocess.Popen(
            f"brltty -n -e -q -l error -f /dev/null -b vr -d client:127.0.0.1:{port} -x no -s no -A {options} "
            f"-P {folder}/pid -U {folder}".split(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._device, _ = self._listener.accept()
        self.frames.clear()
        self._device.sendall(f"Cells {self.width} 1\n".encode())
        self._reader = threading.Thread(target=self._read, args=(self._device,), daemon=True)
        self._reader.start()
        self.wait_for(lambda: bool(self.frames))
        self._wait_for_port()

    def _wait_for_port(self) -> None:
        deadline = time.monotonic() + WAIT
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", BASE_PORT + self.number)):
                return
            assert time.monotonic() < deadline, "BrlAPI does not listen"
            threading.Event().wait(0.01)

    def kill(self) -> None:
        """Let BRLTTY die without a word."""
        assert self._brltty is not None and self._device is not None and self._reader is not None
        self._brltty.kill()
        self._brltty.wait()
        self._reader.join(WAIT)
        self._device.close()
        self._brltty = None

    def close(self) -> None:
        if self._brltty is not None:
            self.kill()
        self._listener.close()
        self._folder.cleanup()

    # -- the display -----------------------------------------------------------------------

    def _read(self, device: socket.socket) -> None:
        with device.makefile("rb") as lines, contextlib.suppress(OSError):
            for line in lines:
                found = re.fullmatch(rb'Braille "(.*)"\s*', line)
                if found:
                    with self._changed:
                        self.frames.append(as_cells(found[1].decode()))
                        self._changed.notify_all()

    def wait_for(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds, asking again at each change of the display."""
        with self._changed:
            self.wait_on(self._changed, holds, lambda: f"The display shows {self.shown!r}.")

    def wait_on(self, condition: threading.Condition, holds: Callable[[], bool], describe: Callable[[], str]) -> None:
        """Wait for something that a key may cause."""
        deadline = time.monotonic() + WAIT
        while not condition.wait_for(holds, NUDGE_INTERVAL):
            assert time.monotonic() < deadline, describe()
            with contextlib.suppress(OSError):
                self._send("")

    def wait_for_text(self, braille: str) -> None:
        """Wait until the display shows these braille characters after its status sign."""
        self.wait_for(lambda: as_text(self.frames[-1][2:]) == braille.rstrip("\u2800"))

    @property
    def shown(self) -> str:
        """What is on it now, the status sign and the blank after it included."""
        return as_text(self.frames[-1]) if self.frames else ""

    def press(self, key: str) -> None:
        """Press a key by the name that BRLTTY has for its command: ``FwinRt``, ``Route 5``."""
        threading.Event().wait(max(0.0, self._pressed_at + KEY_INTERVAL - time.monotonic()))
        self._send(key)
        self._pressed_at = time.monotonic()

    def _send(self, line: str) -> None:
        assert self._device is not None
        self._device.sendall(f"{line}\n".encode())

    def resize(self, width: int) -> None:
        self.width = width
        self.press(f"Cells {width} 1")


@contextlib.contextmanager
def virtual_display(width: int = 40, *, authorization: str = "none") -> Iterator[VirtualDisplay]:
    display = VirtualDisplay(width, authorization=authorization)
    try:
        yield display
    finally:
        display.close()
