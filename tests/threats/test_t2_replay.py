"""T2: a yes that was given once, sent again. CONF-034, CONF-035, CONF-075, SEC-017"""

from __future__ import annotations

import json
import logging
import socket
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from aaep.producer.producer import Producer
from tests.end_to_end.readers import ANSWERS, PROMPT, Raw, outcomes
from tests.end_to_end.wires import LONG, WIRES, Wire
from tests.threats.hall import Hall, hall


def test_t2_a_yes_counts_once_whoever_sends_it_again(scene: Hall) -> None:
    yes = scene.yes(scene.ada.id)
    first = scene.send("ada", yes)
    assert scene.ask.wait(LONG).granted
    with scene.session.tool("transfer", ask=scene.ask) as call:
        call.result("Moved.")
    again = scene.session.confirm("Transfer $500.", "Funds move at once.", tool="transfer")  # word for word the same
    prompt = scene.ada.wait(scene.hers, PROMPT)
    assert prompt["reply_token"] != scene.prompt["reply_token"]
    assert [scene.send("ada", yes) for _ in range(3)] == [first] * 3
    scene.send("mallory", yes)
    assert again.answer is None
    scene.ada.send(prompt, "reject")
    assert again.wait(LONG).outcome == "rejected"
    scene.ada.take(scene.hers, lambda event: bool(outcomes([event], prompt)))
    assert outcomes(scene.ada.got, scene.prompt) == ["accepted"]


def test_t2_a_yes_that_was_kept_back_does_not_count_after_a_no(scene: Hall) -> None:
    yes = scene.yes(scene.ada.id)
    scene.decides("reject")
    scene.send("ada", yes)
    assert not scene.ask.wait(LONG).granted
    assert outcomes(scene.ada.got, scene.prompt) == ["rejected"]


def test_t2_a_yes_does_not_outlive_the_agent_that_asked(wire: Wire, tmp_path: Path) -> None:
    """The next process knows the question from the journal, and that it is over."""
    journal = str(tmp_path / "journal.db")
    with Producer("bank", listen=wire.listen, journal=journal) as producer:
        reader = Raw(wire, producer.addresses[0], **ANSWERS)
        with reader.connect() as stream:
            session = producer.session("Moving money.").start()
            ask = session.confirm("Transfer $500.", "Funds move at once.")
            prompt = reader.wait(stream, PROMPT)
    assert not ask.wait(LONG).granted
    with Producer("bank", listen=wire.listen, journal=journal) as producer:
        reader = Raw(wire, producer.addresses[0], **ANSWERS)
        with reader.connect() as stream, producer.session("Moving money again.") as session:
            ask = session.confirm("Transfer $500.", "Funds move at once.")
            fresh = reader.wait(stream, PROMPT)
            reader.send(prompt)
            reader.send(prompt, subscription_id=reader.id, reply_token=prompt["reply_token"])
            reader.send(fresh, "reject")
            assert ask.wait(LONG).outcome == "rejected"


@pytest.fixture(params=["http", "websocket", "unix", "stdio"])
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


def test_t2_the_very_bytes_of_a_request_can_be_sent_again_for_nothing(folder: Path) -> None:
    """Somebody recorded the connection, credential and all, and plays it once more for the next question."""
    with hall("http", folder) as scene:
        place = urlsplit(scene.url)
        body = scene.yes(scene.ada.id)
        (shown,) = scene.bank.doorman.headers("ada", "replier").values()
        head = (
            f"POST /aaep/v1/replies HTTP/1.1\r\nHost: {place.netloc}\r\nAuthorization: {shown}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        recorded = head.encode() + body

        def played() -> bytes:
            with socket.create_connection((str(place.hostname), int(place.port or 0)), LONG) as wire:
                wire.sendall(recorded)
                answer = b""
                while piece := wire.recv(65_536):
                    answer += piece
                return answer.split(b"\r\n", 1)[0]

        assert played() == b"HTTP/1.1 204 No Content"
        assert scene.ask.wait(LONG).granted
        with scene.session.tool("transfer", ask=scene.ask) as call:
            call.result("Moved.")
        again = scene.session.confirm("Transfer $500.", "Funds move at once.")
        prompt = scene.ada.wait(scene.hers, PROMPT)
        assert [played() for _ in range(3)] == [b"HTTP/1.1 204 No Content"] * 3
        assert again.answer is None
        scene.ada.send(prompt, "reject")
        assert again.wait(LONG).outcome == "rejected"


def test_t2_sec_017_what_is_refused_is_in_the_log_and_the_token_is_not(
    scene: Hall, caplog: pytest.LogCaptureFixture
) -> None:
    """SEC-017"""
    with caplog.at_level(logging.INFO, "aaep"):
        scene.send("mallory", scene.yes(scene.ada.id))
        scene.send("mallory", scene.yes(scene.mallory.id))
        scene.decides("reject")
        scene.send("ada", scene.yes(scene.ada.id))
    text = caplog.text
    assert text.count("A reply was refused") == 1, "the others are counted"
    assert scene.prompt["reply_token"] not in text
    assert "Transfer" not in text
    for headers in ("ada", "mallory"):
        assert scene.bank.doorman.headers(headers, "replier")["Authorization"].split()[1] not in text


def test_t2_a_reply_from_the_future_or_the_past_does_not_count(scene: Hall) -> None:
    for moment in ("2099-01-01T00:00:00.000Z", "9999-12-31T23:59:59.999Z"):
        scene.send("ada", scene.yes(scene.ada.id, timestamp=moment))
    doubled = scene.yes(scene.ada.id).replace(b'"decision": "accept"', b'"decision": "reject", "decision": "accept"')
    assert json.loads(doubled)["decision"] == "accept"
    scene.undecided()
    scene.send("ada", doubled)  # which of the two? A reader who is careless says one thing and its log another.
    scene.undecided()
    scene.decides()
