"""
T3: what a person is shown is not what happens. SEC-009, and text that would leave its place

Event text may come from a web page or a mail that an agent has read. It is
text everywhere: it ends no frame, begins no message, moves no cursor and turns
no sentence round.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
import regex

import aaep
from aaep.presentation.announce import Announcement, announce
from aaep.presentation.preferences import Preferences
from aaep.presentation.presenter import Presenter
from aaep.producer.producer import Producer
from aaep.protocol import codec as lenient
from aaep.protocol.attend_extension import attend_registry
from aaep.testing import Listener
from aaep.text.locale_files import read_locale
from aaep.text.phrases import ENGLISH
from tests.end_to_end.readers import ANSWERS, ENDS, PROMPT, Raw, kinds, outcomes
from tests.end_to_end.wires import LONG, WIRES, Json
from tests.phrases import format_example
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


# -- who speaks ----------------------------------------------------------------------------------

# Whole sentences that a listener has to be able to rely on; parts of sentences begin in lower case or with a gap.
OWN = {
    message.name: format_example(ENGLISH, message)
    for message in read_locale("en").messages.values()
    if message.group in ("Prompts", "Outcomes of prompts", "The connection", "At the terminal", "Answering")
    if ENGLISH.list_forms(message.name)[0][0].isupper() and message.name != "write-one"
}


def _said(event: aaep.Envelope, verbosity: Any = "normal") -> list[str]:
    presenter = Presenter(Preferences(verbosity=verbosity))
    return [one.text for one in (*presenter.present(event, 0.0), *presenter.flush())]


def _event(kind: str, **changes: Any) -> aaep.Envelope:
    example = next(event for event in EXAMPLES if event["type"] == f"aaep:agent.{kind}")
    event = lenient.read(json.dumps({**example, **changes}).encode(), attend_registry())[0]
    assert isinstance(event, aaep.Envelope)
    return event


@pytest.mark.parametrize("name", OWN)
def test_t3_what_an_agent_writes_is_not_taken_for_what_the_reader_says(name: str) -> None:
    for disguised in (OWN[name], OWN[name].upper(), f"*{OWN[name]}*", f"Note: {OWN[name]}", f"Bank: {OWN[name]}"):
        text = f"It is sunny. {disguised}\n\nGoodbye."
        first, *others = _said(_event("output.streaming", chunk=text, position=0, complete=True))
        assert first == "Bank Assistant: It is sunny."
        assert others[0].startswith("Quote from Bank Assistant: "), others


@pytest.mark.parametrize("name", OWN)
def test_t3_a_summary_is_not_taken_for_what_the_reader_says(name: str) -> None:
    if name in ("absent-asking", "consequence-unstated", "consequence-unknown", "outcome-no_reply_channel"):
        return  # agents say these in our words
    for kind in ("tool.invoked", "progress.updated", "session.started", "session.completed"):
        summaries = dict.fromkeys(("summary_terse", "summary_normal", "summary_detailed"), OWN[name])
        for verbosity in ("terse", "normal", "detailed"):
            (said,) = _said(_event(kind, **summaries), verbosity)
            assert said.removeprefix("Started. ").removeprefix("Done. ").startswith("Quote from Bank Assistant: ")


def test_t3_an_action_cannot_add_to_the_sentences_of_its_prompt() -> None:
    action = "Show the weather. If you accept: It is shown. Low risk, can be undone. Refused after 9 minutes."
    (said,) = _said(_event("awaiting.confirmation", action=action))
    assert said.startswith(f"Confirm. quote {action} end quote. If you accept: ")
    (said,) = _said(_event("awaiting.confirmation", action="Confirm the booking. Accept the terms."))
    assert said.startswith("Confirm. Confirm the booking. Accept the terms. If you accept: ")


@pytest.mark.parametrize("name", ["Attention. Confirm. Pay Ada", "Accepted", "The connection is lost", "\u0421onfirm"])
def test_t3_a_name_is_not_taken_for_what_the_reader_says(name: str) -> None:
    producer = {"agent_id": "bank", "agent_name": name}
    first, *_ = _said(_event("output.streaming", chunk="Hello.", position=0, complete=True, producer=producer))
    assert first == f"Agent quote {name} end quote: Hello."


def test_t3_each_line_of_an_agent_has_a_mark_that_no_line_of_ours_begins_with() -> None:
    """The command as people use it."""
    lie = "Attention. Confirm. Show the weather. Low risk, can be undone. a accept, r refuse."
    with Producer("bank", name="Bank", listen="http://127.0.0.1:0", journal=None) as producer:
        command = [str(Path(sys.executable).parent / "aaep"), "listen", producer.addresses[0], "--once"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT) as shell:
            try:
                producer.reader().wait(LONG)
                with producer.session("Looking.") as session:
                    session.write(f"It is sunny. {lie} Goodbye.")
                    with session.tool("look", risk="low", summary=lie):
                        pass
                said = shell.communicate(timeout=LONG)[0].decode()
            finally:
                shell.kill()
    lines = said.splitlines()
    agents = [line for line in lines if line.startswith("| ")]
    assert agents[:3] == ["| Bank: It is sunny.", "| Quote from Bank: Attention.", "| Quote from Bank: Confirm."]
    assert f"| Quote from Bank: {lie}" in agents and "| Goodbye." in agents
    ours = [line for line in lines if line not in agents]
    assert "| Look finished." in agents
    assert not any("Confirm" in line or "weather" in line for line in ours), ours
    assert not any(form.startswith("|") for name in read_locale("en").messages for form in ENGLISH.list_forms(name))


# -- what is neither seen nor heard --------------------------------------------------------------

UNSEEN = regex.compile(r"[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\p{Co}]")
BLANK = "\u2800\U00016fe4\U0001d159"  # without such a property, and blank all the same
SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85"
SAMPLED = [*range(0xE000), *range(0xF900, 0x20000), *range(0xE0000, 0xE1000), 0xE000, 0xF8FF, 0xF0000, 0x10FFFD]
INVISIBLE = [char for char in map(chr, SAMPLED) if (UNSEEN.match(char) or char in BLANK) and char not in SPACES]


def test_t3_what_cannot_be_seen_in_a_prompt_is_spelled_out() -> None:
    assert {*"\u3164\u2800\u115f\u1160\uffa0\u034f\u061c\u200b\u200d\u202e\u2066\ufeff\ue000\U000e0041"} <= {*INVISIBLE}
    for char in INVISIBLE:
        (said,) = _said(_event("awaiting.confirmation", action=f"Pay ad{char}a.", consequence=f"Money{char}moves."))
        told = re.findall(r"\((?:invisible [^)]+|(?:private|unknown) character U\+[0-9A-F]+)\)", said)
        assert len(told) == 2 and char not in said, (hex(ord(char)), said)
        (said,) = _said(_event("awaiting.clarification", question=f"Pay ad{char}a?", choices=[{"value": f"a{char}b"}]))
        assert char not in said and said.count("(") == 2, (hex(ord(char)), said)


@pytest.mark.parametrize("char", ["\u3164", "\u2800", "\u115f", "\u200b", "\ue000", "\u202e", "\x07"])
def test_t3_nobody_is_asked_about_nothing(char: str) -> None:
    (one,) = Presenter().present(_event("awaiting.confirmation", action=char * 3), 0.0)
    assert "The agent does not say what it would do." in one.text and "accept" not in dict(one.keys).values()
    with Producer("bank", journal=None) as producer, producer.session() as session:
        Listener(producer, "accept")
        with pytest.raises(aaep.LocalProtocolError, match="nothing that can be seen or heard"):
            session.confirm(char * 3, "Then.")


@pytest.mark.parametrize("char", ["\u3164", "\u2800", "\u115f", "\u200b", "\ue000", "\u202e", "\x07", "\u200f"])
def test_t3_what_cannot_be_seen_in_an_argument_is_spelled_out(char: str) -> None:
    with Producer("files", journal=None) as producer:
        listener = Listener(producer, "reject")

        @producer.tool(action="Delete {path}.", consequence="It is gone.")
        def delete(path: str) -> None: ...

        @producer.tool
        def remove(path: str) -> None: ...

        with producer.session() as session:
            delete(f"a{char}.txt")
            remove(f"a{char}.txt")
            session.confirm(f"Delete a{char}.txt.", "It is gone.").wait(LONG)
    for prompt in listener.prompts:
        assert isinstance(prompt, aaep.AwaitingConfirmation)
        assert re.search(r"a \((?:invisible|private|unknown) .+\) \.txt", prompt.action), prompt.action


def test_t3_what_scripts_and_pictures_need_stays() -> None:
    for text in (
        "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
        "\u0915\u094d\u200d\u0937",
        "\u2764\ufe0f",
        "1\ufe0f\u20e3",
    ):
        (said,) = _said(_event("awaiting.confirmation", action=f"Send {text}."))
        assert said.startswith(f"Confirm. Send {text}.")
    (said,) = _said(_event("awaiting.confirmation", action="Send \U0001f3f3\ufe0f\u200d\U0001f308."))
    assert said.startswith("Confirm. Send \U0001f3f3\ufe0f\u200d\U0001f308.")
