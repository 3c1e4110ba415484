"""The protocol by hand, as the manual tells it: three commands, and no library of ours at the reader's end."""

from __future__ import annotations

import http.client
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from aaep.producer.producer import Producer
from tests.end_to_end.conftest import Bank
from tests.end_to_end.readers import ENDS, PROMPT, stamp
from tests.end_to_end.wires import LONG, WIRES, Json

REQUEST = """{
  "type": "subscription.request", "aaep_version": "1.0.0",
  "subscriber_id": "curl", "subscriber_name": "curl",
  "capabilities": {"supports_confirmation_reply": true, "supported_conformance_levels": [1, 2, 3]}
}"""


class Curl:
    """curl, or what it would do where there is none."""

    def __init__(self) -> None:
        self._program = shutil.which("curl")

    def post(self, url: str, body: str) -> tuple[int, str]:
        if self._program is None:
            connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=LONG)
            try:
                connection.request("POST", urlsplit(url).path, body, {"Content-Type": "application/json"})
                response = connection.getresponse()
                return response.status, response.read().decode()
            finally:
                connection.close()
        command = [
            self._program,
            "-sS",
            "-w",
            "\n%{http_code}",
            "-H",
            "Content-Type: application/json",
            "-d",
            body,
            url,
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=True)
        answer, _, status = done.stdout.rpartition("\n")
        return int(status), answer

    @contextmanager
    def lines(self, url: str) -> Iterator[Iterator[str]]:
        if self._program is None:
            connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=LONG)
            try:
                connection.request("GET", url.removeprefix(f"http://{urlsplit(url).netloc}"))
                with connection.getresponse() as response:
                    yield (line.decode() for line in response)
            finally:
                connection.close()
            return
        with subprocess.Popen([self._program, "-sSN", url], stdout=subprocess.PIPE, text=True) as process:
            late = threading.Timer(LONG, process.kill)
            late.start()
            try:
                assert process.stdout is not None
                yield iter(process.stdout)
            finally:
                late.cancel()
                process.kill()


@pytest.mark.parametrize("decision", ["accept", "reject"])
def test_subscribe_listen_and_answer_with_curl(decision: str) -> None:
    """TR-021"""
    curl, wire = Curl(), WIRES["http"]
    with Producer("bank", name="Bank", listen=wire.listen, journal=None) as producer:
        bank = Bank(wire, producer)
        status, answer = curl.post(f"{bank.url}/aaep/v1/subscriptions", REQUEST)
        assert status == 201
        accepted = json.loads(answer)
        name = accepted["subscription_id"]
        with curl.lines(f"{bank.url}/aaep/v1/events?subscription_id={name}") as lines:
            producer.reader().wait(LONG)
            bank.start()
            events: list[Json] = []
            for line in lines:
                if not line.startswith("data: "):
                    continue
                events.append(json.loads(line.removeprefix("data: ")))
                if events[-1]["type"] == PROMPT:
                    assert not bank.ran
                    reply = {
                        "type": "confirmation.reply",
                        "reply_token": events[-1]["reply_token"],
                        "decision": decision,
                        "subscription_id": name,
                        "timestamp": stamp(),
                    }
                    assert curl.post(f"{bank.url}/aaep/v1/replies", json.dumps(reply)) == (204, "")
                if events[-1]["type"] in ENDS:
                    break
        bank.finish()
    assert bank.ran == (["$500"] if decision == "accept" else [])
    assert events[-1]["type"] == "aaep:agent.session.completed"
