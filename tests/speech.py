"""
A real Speech Dispatcher with espeak-ng, on a port and with a configuration of its own.

With ``clocked=True`` its sound goes to a PulseAudio that plays to nobody in real time, so that the ends of speech are
true; otherwise to nothing at all, where everything ends at once.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

MODULES = Path("/etc/speech-dispatcher/modules")
START_TIMEOUT = 30.0  # seconds
CONFIGURATION = """
LogLevel 5
LogDir "{folder}/log"
DefaultLanguage "en"
AudioOutputMethod "{audio}"
AudioALSADevice "null"
AddModule "espeak-ng" "sd_espeak-ng" "espeak-ng.conf"
DefaultModule espeak-ng
"""


class SpeechServer:
    """A speech server that can be killed and started again at the same address."""

    def __init__(self, folder: Path, *, clocked: bool) -> None:
        self.folder = folder
        self.clocked = clocked
        self.pulse_socket = folder / "pulse.sock"
        self._pulse: subprocess.Popen[bytes] | None = None
        self._server: subprocess.Popen[bytes] | None = None
        for name in ("conf", "log", "run", "xdg", "home"):
            (folder / name).mkdir(mode=0o700)
        shutil.copytree(MODULES, folder / "conf" / "modules")
        audio = "pulse" if clocked else "alsa"
        (folder / "conf" / "speechd.conf").write_text(CONFIGURATION.format(folder=folder, audio=audio))
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]
        self.environment: Mapping[str, str] = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "XDG_RUNTIME_DIR": str(folder / "xdg"),
            "PULSE_SERVER": f"unix:{self.pulse_socket}",
            "SPEECHD_ADDRESS": f"inet_socket:127.0.0.1:{self.port}",
        }

    def start(self) -> None:
        if self.clocked and self._pulse is None:
            self._pulse = self._run(
                "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disallow-exit",
                "-L", f"module-native-protocol-unix socket={self.pulse_socket} auth-anonymous=1",
                "-L", "module-null-sink sink_name=at rate=22050 channels=1 format=s16le",
            )  # fmt: skip
            _wait_until(self.pulse_socket.exists)
        self._server = self._run(
            "speech-dispatcher", "-s", "-c", "inet_socket", "-p", str(self.port), "-C", str(self.folder / "conf"),
            "-L", str(self.folder / "log"), "-P", str(self.folder / "run" / "pid"), "-t", "0", "-l", "5",
        )  # fmt: skip
        _wait_until(self._answers)

    def kill(self) -> None:
        """Kill the server as a crash would."""
        assert self._server is not None
        self._end(self._server, signal.SIGKILL)
        (self.folder / "run" / "pid").unlink(missing_ok=True)
        self._server = None

    def close(self) -> None:
        for process in (self._server, self._pulse):
            if process is not None:
                self._end(process, signal.SIGKILL)

    def read_log(self) -> str:
        return (self.folder / "log" / "speech-dispatcher.log").read_text(errors="replace")

    def commands(self) -> list[str]:
        """Every line that clients sent, in order, as the server has logged it."""
        return re.findall(r"DATA:\|(.*?)\s*\|", self.read_log(), re.DOTALL)

    def _run(self, *command: str) -> subprocess.Popen[bytes]:
        # A session of its own, so that the module it starts ends with it.
        return subprocess.Popen(
            command,
            env=dict(self.environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    @staticmethod
    def _end(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        process.wait()


def _wait_until(condition: object) -> None:
    deadline = time.monotonic() + START_TIMEOUT
    while not condition():  # type: ignore[operator]  # a function without arguments
        assert time.monotonic() < deadline, "the server did not start"
        time.sleep(0.02)


@contextlib.contextmanager
def speech_server(folder: Path, *, clocked: bool = False) -> Iterator[SpeechServer]:
    """A running server in an empty folder."""
    server = SpeechServer(folder, clocked=clocked)
    try:
        server.start()
        yield server
    finally:
        server.close()
