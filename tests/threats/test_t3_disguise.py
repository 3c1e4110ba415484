"""
T3: what a person is shown is not what happens. SEC-009, and text that would leave its place

Event text may come from a web page or a mail that an agent has read. It is
text everywhere: it ends no frame, begins no message, moves no cursor and turns
no sentence round.
"""

from __future__ import annotations

import json
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest

import aaep
from aaep.presentation.announce import Announcement, announce
from aaep.presentation.preferences import Preferences
from aaep.presentation.presenter import Presenter
from aaep.producer.producer import Producer
from aaep.protocol import codec as lenient
from aaep.protocol.attend_extension import attend_registry
from aaep.testing import Listener
from tests.end_to_end.readers import ANSWERS, ENDS, PROMPT, Raw, kinds, outcomes
from tests.end_to_end.wires import LONG, WIRES, Json
from tests.threats.hall import NAMES

EXAMPLES: list[Json] = [
    event
    for event in json.loads((Path(aaep.__file__).parent / "protocol" / "examples.json").read_bytes()).values()
    if str(event.get("type", "")).startswith("aaep:agent.")
]
CLOSE = '{"type":"subscription.close","subscription_id":"sub_1","reason_code":"x"}'
FALSE = '{"type":"aaep:agent.session.completed","event_id":"evt_f","session_id":"sess_f"}'
SMUGGLED = {
    "another event of the stream": f"Hello.\n\nevent: aaep.event\nid: evt_f\ndata: {FALSE}\n\n",
    "the end of the stream": f"Hello.\r\n\r\nevent: aaep.close\r\ndata: {CLOSE}\r\n\r\n",
    "with carriage returns alone": f"Hello.\r\revent: aaep.close\rdata: {CLOSE}\r\r",
    "another id to resume after": "Hello.\nid: evt_f\nretry: 1\n",
    "another line": f"Hello.\n{FALSE}\n{CLOSE}\n",
    "another call": f'Hello.\n{{"jsonrpc":"2.0","method":"aaep.close","params":{CLOSE}}}\n',
    "another length": "Hello.\x00\x00\x00\x4a" + CLOSE,
    "another frame": "Hello.\x81\x05false\x88\x02\x03\xe8",
    "the end of a chunk": "Hello.\r\n0\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
    "line ends of other alphabets": f"Hello.\u2028{FALSE}\u2029{CLOSE}\x85{FALSE}\x0b\x0c\x1c\x1d\x1e",
    "half a character": "Hello.\ud83d",
    "nothing at all": "Hello.\x00",
}


@pytest.mark.parametrize("case", SMUGGLED)
@pytest.mark.parametrize("name", NAMES)
def test_t3_text_stays_within_its_frame(name: str, case: str) -> None:
    wire, text = WIRES[name], SMUGGLED[case]
    with Producer("bank", listen=wire.listen, journal=None) as producer:
        reader = Raw(wire, producer.addresses[0], **ANSWERS)
        with reader.connect() as stream:
            with producer.session(text, request=text) as session:
                session.write(text)
                ask = session.confirm(text, text)
                prompt = reader.wait(stream, PROMPT)
                reader.send(prompt, "reject")
                assert ask.wait(LONG).outcome == "rejected"
            reader.wait(stream, *ENDS)
            assert stream.closing is None
    assert {event["session_id"] for event in reader.got} == {session.session_id}
    assert kinds(reader.got).count("session.completed") == 1 and kinds(reader.got)[-1] == "session.completed"
    assert outcomes(reader.got, prompt) == ["rejected"]
    assert prompt["action"].startswith("Hello.")
    for raw in reader.raw:
        assert raw.isascii() or raw.decode()
        assert not {*b"\r\n\x00"} & {*raw}
    assert reader.errors() == []


# -- what is shown -------------------------------------------------------------------------------

HOSTILE = (
    "\x1b[2J\x1b]0;title\x07\x1b[8m",  # clears the screen, names the window, hides what follows
    "\r\x08\x08\x7f\x9b31m",
    "\u202egnihton\u202c \u2066x\u2069 \u200f\u061c",  # turns round what is read
    "\u2028\u2029\x85\x0b\x0c\n\n",
    "\u200b\u200c\u2060\ufeff\U000e0041",  # is not there to be seen
    "\ud800",
)
MESS = "Pay \u201c5\u201d " + "".join(HOSTILE) + " end"


def _bad(text: str) -> set[str]:
    """What may not be in what is shown: what moves, hides or turns (C-59)."""
    # Lines of our own; and joiners, marks and isolates that are closed again, which some languages need.
    allowed = {*"\n\u200c\u200d\u200e\u200f\u061c\u2066\u2067\u2068\u2069"}
    for line in text.splitlines():
        assert sum(map(line.count, "\u2066\u2067\u2068")) == line.count("\u2069")
    return {one for one in text if unicodedata.category(one) in ("Cc", "Cf", "Cs", "Zl", "Zp") and one not in allowed}


def _messed(value: Any, within: str = "") -> Any:
    """The same, with the mess in every text that is not a name of the protocol's own."""
    if isinstance(value, dict):
        return {key: _messed(one, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_messed(one, within) for one in value]
    named = within in ("@context", "type", "aaep_version", "event_id", "session_id", "timestamp", "reply_token")
    return value + MESS if isinstance(value, str) and not named else value


@pytest.mark.parametrize("messed", [_messed, lambda event: _messed(event) | {"urgency": "critical"}])
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda event: event["type"])
def test_t3_what_is_said_hides_nothing_and_moves_nothing(example: Json, messed: Any) -> None:
    event = lenient.read(json.dumps(messed(example)).encode(errors="surrogatepass"), attend_registry())[0]
    assert isinstance(event, aaep.Envelope)
    verbosities: tuple[Any, ...] = ("terse", "normal", "detailed")
    for verbosity in verbosities:
        told = Preferences(verbosity=verbosity)
        presenter = Presenter(told)
        said = [announce(event, told), *presenter.present(event, 0.0), *presenter.flush()]
        for one in said:
            if isinstance(one, Announcement):
                keys = [word for pair in (*one.keys, *one.detail_keys) for word in pair]
                assert not _bad("".join([one.text, one.detail, *keys])), one


def test_t3_a_terminal_is_not_touched_by_what_an_agent_says() -> None:
    """The command as people use it, its output as bytes."""
    text = MESS.replace("\ud800", "")
    with Producer("bank", name="Bank" + text[:40], listen="http://127.0.0.1:0", journal=None) as producer:
        command = [str(Path(sys.executable).parent / "aaep"), "listen", producer.addresses[0], "--once"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT) as shell:
            try:
                producer.reader().wait(LONG)
                with producer.session(text, request=text) as session:
                    session.write(f"Said: {text}. And more. ")
                    ask = session.confirm(f"Do {text}.", f"Then {text}.", timeout=60)
                    assert shell.stdout is not None
                    said = b""
                    while b"Then Pay" not in said:
                        said += shell.stdout.readline()
                    Listener(producer, "reject")  # somebody else says no
                    assert ask.wait(LONG).outcome == "rejected"
                said += shell.communicate(timeout=LONG)[0]
            finally:
                shell.kill()
    shown = said.decode()
    assert "Do Pay" in shown and "Said: Pay" in shown
    assert not _bad(shown)
