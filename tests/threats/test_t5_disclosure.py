"""T5: secrets in what people are told. SEC-023, SEC-024, TOOL-005, CF-143"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from aaep.errors import LocalProtocolError
from aaep.producer.producer import Producer
from aaep.producer.session import Session
from aaep.protocol.codec import encode
from aaep.testing import Listener
from tests.end_to_end.readers import ANSWERS, LISTENS
from tests.threats.hall import Bank

SECRETS = [
    "sk-ant-REDACTED",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefghijkl",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl",
    "4111 1111 1111 1111",
    "hunter2hunter2",  # behind its name
]


def _text(secret: str) -> str:
    return f"The password is password={secret} and that is all."


def _failing(session: Session, text: str) -> None:
    with pytest.raises(RuntimeError), session.tool("look", risk="low"):
        raise RuntimeError(text)


def _tool(session: Session, text: str) -> None:
    with session.tool("look", risk="low", args=text, summary=text, description=text) as call:
        call.result(text)


def _output(session: Session, text: str) -> None:
    with session.output() as out:
        out.write(text)


def _typed(session: Session, text: str) -> None:
    """As a model streams it: a few letters at a time, so that no piece looks like a secret."""
    with session.output() as out:
        for at in range(0, len(text), 3):
            out.write(text[at : at + 3])


def _handoff(session: Session, text: str) -> None:
    session.handoff(text, context={"notes": [text, {"more": text}]}, summary=text)
    session.handed_over(text)


PLACES: dict[str, Callable[[Session, str], object]] = {
    "what a tool was given and gave back": _tool,
    "why a tool failed": _failing,
    "output": _output,
    "output in pieces": _typed,
    "a confirmation": lambda session, text: session.confirm(text, text, context={"a": text}, summary=text).wait(30),
    "a question": lambda session, text: session.clarify(text, choices=[text, "No"]).wait(30),
    "a question with a default": lambda session, text: session.clarify(text, default=text).wait(30),
    "a handoff": _handoff,
    "progress": lambda session, text: session.progress(50, description=text),
    "thinking": lambda session, text: session.thinking(text).__enter__(),
    "a result": lambda session, text: session.result(text),
    "the end": lambda session, text: session.complete(text),
    "a failure": lambda session, text: session.fail(text),
    "a withdrawal": lambda session, text: session.cancel(summary=text),
}


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("place", PLACES)
def test_t5_a_secret_is_told_to_nobody_and_written_nowhere(place: str, secret: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal.db"
    with Producer("bank", journal=str(journal)) as producer:
        listener = Listener(producer, lambda event: "reject" if hasattr(event, "action") else "No")
        session = producer.session(_text(secret), request=_text(secret)).start()
        try:
            PLACES[place](session, _text(secret))
        except LocalProtocolError as error:  # nobody is asked to agree to what they do not hear
            assert "not read out" in str(error) and listener.prompts == []
            assert place in ("a confirmation", "a question", "a question with a default")
        finally:
            if session.is_open:
                session.complete()
        listener.wait_for_end()
        heard = json.dumps([json.loads(line) for line in _lines(listener)]) + "".join(listener.heard)
    assert secret not in heard
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in written
    assert "that is all" in heard  # the rest of it was said


def _lines(listener: Listener) -> list[bytes]:
    return [encode(event) for event in listener.events]


def test_t5_the_words_of_an_exception_are_not_told(tmp_path: Path) -> None:
    with Producer("bank", journal=None) as producer:
        listener = Listener(producer)
        with pytest.raises(ZeroDivisionError), producer.session("Working."):
            raise ZeroDivisionError("/home/ada/.secrets has bluebird in it")
        listener.wait_for_end()
        assert "bluebird" not in str([*_lines(listener)]) and "/home" not in str([*_lines(listener)])


def test_t5_arguments_that_are_called_secret_are_not_shown() -> None:
    with Producer("bank", journal=None) as producer:

        @producer.tool(risk="low")
        def log_in(user: str, password: str, api_key: str) -> str:
            return "Welcome."

        listener = Listener(producer)
        with producer.session("Logging in."):
            log_in("ada", "bluebird", api_key="robin")
        listener.wait_for_end()
        told = str([*_lines(listener)])
        assert "ada" in told and "bluebird" not in told and "robin" not in told


def test_t5_who_only_listens_does_not_hear_the_words_of_the_user(name: str, folder: Path) -> None:
    with Bank(name, folder) as bank:
        display, ada = bank.reader("ada", "listener", **LISTENS), bank.reader("ada", **ANSWERS)
        with display.connect() as shown, ada.connect() as hers:
            session = bank.producer.session("Working.", request="Tell nobody of the bluebird.")
            with session, session.tool("look", risk="low", args="bluebird") as call:
                call.result("Done.")
            display.wait(shown, "aaep:agent.session.completed")
            ada.wait(hers, "aaep:agent.session.completed")
        assert b"bluebird" in b"".join(ada.raw) and b"bluebird" not in b"".join(display.raw)
