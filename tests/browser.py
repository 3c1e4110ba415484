"""
A real browser for tests of pages: headless Chromium, spoken to over its own protocol.

``scripts/programs`` installs what this needs; ``make test`` runs it. Set
AAEP_BROWSER=none to leave out the tests that need a browser.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection, connect

AXE = Path(__file__).parent.parent / ".venv" / "browser" / "node_modules" / "axe-core" / "axe.min.js"
NAMES = ("chromium", "chromium-browser", "google-chrome")
WAIT = 120.0  # seconds for anything; nothing is measured by it
FLAGS = """
--headless --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update
--disable-sync --disable-extensions --remote-debugging-port=0""".split()
# WCAG 2.2 AA is made of these.
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

needed = pytest.mark.skipif(
    os.environ.get("AAEP_BROWSER") == "none", reason="AAEP_BROWSER=none leaves out what needs a browser"
)


class Tab:
    """One page in the browser."""

    def __init__(self, link: ClientConnection, session: str, numbers: Iterator[int]) -> None:
        self._link, self._session, self._numbers = link, session, numbers
        self.complaints: list[str] = []  # what the page threw, or its policy refused
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._link.send(json.dumps({"id": number, "method": method, "params": parameters, "sessionId": self._session}))
        return self._until(lambda told: told.get("id") == number)

    def _until(self, wanted: Any) -> dict[str, Any]:
        while True:
            told = json.loads(self._link.recv(timeout=WAIT))
            if told.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(json.dumps(told["params"]))
            elif told.get("method") == "Network.requestWillBeSent" and told["params"].get("type") != "Document":
                self.complaints.append("asked for " + told["params"]["request"]["url"])
            if wanted(told):
                assert "error" not in told, told
                return dict(told.get("result") or {})

    def open(self, page: Path | str) -> None:
        """Show a file, or what is at a URL, and wait until it is there."""
        self.call("Page.navigate", url=page if isinstance(page, str) else page.absolute().as_uri())
        self._until(lambda told: told.get("method") == "Page.loadEventFired")

    def run(self, script: str) -> Any:
        """What a script in the page comes to; a promise is waited for."""
        done = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def press(self, key: str, code: int, text: str = "") -> None:
        """A key, as from a keyboard."""
        key_ = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", **key_, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **key_)

    def scheme(self, name: str) -> None:
        """``light`` or ``dark``."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def width(self, pixels: int, height: int = 900) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=height, deviceScaleFactor=1, mobile=False)

    def picture(self, file: Path) -> None:
        """What is seen of the page, as a PNG file."""
        shot = self.call("Page.captureScreenshot")
        file.write_bytes(base64.b64decode(shot["data"]))

    def axe(self) -> list[str]:
        """What axe-core finds wrong with the page as it is now, one line each."""
        self.run(AXE.read_text(encoding="utf-8") + ";0")
        options = json.dumps({"runOnly": {"type": "tag", "values": TAGS}})
        told = "one => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map(node => node.html).join(' ')}`"
        return list(self.run(f"axe.run(document, {options}).then(done => done.violations.map({told}))"))


@contextmanager
def tab(folder: Path, *flags: str) -> Iterator[Tab]:
    """A browser with one empty page; it keeps its things in ``folder``."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None or not AXE.exists():
        pytest.fail("Chromium or axe-core is missing: run scripts/programs, or set AAEP_BROWSER=none.")
    command = [program, *FLAGS, *flags, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    if os.getuid() == 0:
        command.insert(1, "--no-sandbox")
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stderr is not None
            address = next(filter(None, (re.search(r"ws://\S+", line) for line in process.stderr)))[0]
            with connect(address, max_size=None, compression=None, ping_interval=None) as link:
                yield _first(link)
        finally:
            process.kill()


def _first(link: ClientConnection) -> Tab:
    numbers = itertools.count(1)

    def ask(method: str, **parameters: Any) -> Any:
        number = next(numbers)
        link.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while (told := json.loads(link.recv(timeout=WAIT))).get("id") != number:
            pass
        return told["result"]

    target = ask("Target.createTarget", url="about:blank")["targetId"]
    return Tab(link, ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"], numbers)
