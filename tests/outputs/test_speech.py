"""Speech with a real Speech Dispatcher and espeak-ng: what was said, in which order, language and priority."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, SimpleQueue

import pytest

from aaep.outputs.base import Finished, Notice, OutputEvent
from aaep.outputs.speech import MAX_RATE, NoSpeech, SpeechOutput, SpeechSettings, open_speech
from aaep.outputs.ssip import SpeechConnection, SpeechEvent, SpeechUnavailable, connect_to_server, find_address
from aaep.presentation.announce import Announcement, announce_line
from aaep.presentation.queue import Speak
from aaep.text.phrases import PHRASES, get_phrases
from tests.outputs.test_terminal import at_a_terminal, light
from tests.presentation.test_announce import SUMMARIES, said
from tests.speech import SpeechServer, speech_server

LONG = "This sentence is the first of three. This sentence is the second of three. This sentence is the third of three."


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpeechServer]:
    """A server whose speech ends at once."""
    with speech_server(tmp_path_factory.mktemp("quick")) as server:
        yield server


@pytest.fixture(scope="module")
def clocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SpeechServer]:
    """A server whose speech takes its time."""
    with speech_server(tmp_path_factory.mktemp("clocked"), clocked=True) as server:
        yield server


class Voice:
    """A voice, and what it reports."""

    def __init__(self, server: SpeechServer, settings: SpeechSettings | None = None) -> None:
        self.server = server
        self.events: SimpleQueue[SpeechEvent] = SimpleQueue()
        self.output = SpeechOutput(settings, environment=server.environment, on_event=self.events.put)
        self.reports: SimpleQueue[OutputEvent] = SimpleQueue()
        self._log_start = len(server.commands())
        self._utterance_id = 0

    def begin(self, text: str, language: str = "en", announcement: Announcement | None = None) -> Finished:
        self._utterance_id += 1
        self.output.present(Speak(text, announcement or announce_line(text, language), self._utterance_id))
        return Finished(self._utterance_id)

    def say(self, text: str, language: str = "en", announcement: Announcement | None = None) -> None:
        end = self.begin(text, language, announcement)
        assert self.reports.get(timeout=30) == end

    def wait_for(self, kind: str, mark: str = "") -> None:
        while (seen := self.events.get(timeout=30)).kind != kind or seen.mark != mark:
            pass

    def commands(self) -> list[str]:
        return self.server.commands()[self._log_start :]

    def spoken(self) -> list[str]:
        return [command for command in self.commands() if command.startswith("<speak>")]


@contextlib.contextmanager
def speaking(server: SpeechServer, settings: SpeechSettings | None = None) -> Iterator[Voice]:
    voice = Voice(server, settings)
    voice.output.open(voice.reports.put)
    try:
        yield voice
    finally:
        voice.output.close()


@contextlib.contextmanager
def other_client(server: SpeechServer) -> Iterator[tuple[SpeechConnection, SimpleQueue[SpeechEvent]]]:
    """Another program that speaks, such as a screen reader."""
    events: SimpleQueue[SpeechEvent] = SimpleQueue()
    raw = connect_to_server(find_address(server.environment))
    connection = SpeechConnection(raw, events.put, lambda: None)
    connection.command("SET SELF CLIENT_NAME user:reader:main")
    connection.command("SET SELF NOTIFICATION ALL ON")
    try:
        yield connection, events
    finally:
        connection.close()


# -- what is given to the server -----------------------------------------------------------


def test_each_sentence_has_a_mark_and_no_text_becomes_markup(quick: SpeechServer) -> None:
    with speaking(quick) as voice:
        voice.say("Done. It is 1 < 2 & 3 > 2.\n.\nQUIT")
        assert voice.spoken() == [
            '<speak><s><mark name="0"/>Done.</s> <s><mark name="1"/>It is 1 &lt; 2 &amp; 3 &gt; 2.</s> '
            '<s><mark name="2"/>.</s> <s><mark name="3"/>QUIT</s></speak>'
        ]


def test_a_text_without_words_ends_too(quick: SpeechServer) -> None:
    with speaking(quick) as voice:
        voice.say("")
        voice.say(" \x00\x1b")
        voice.say("Still here.")


def test_what_is_critical_is_important_and_everything_else_a_message(quick: SpeechServer) -> None:
    with speaking(quick) as voice:
        voice.say("One.")
        voice.say("Failed.", announcement=said("session.errored"))
        voice.say("Two.")
        told = [command for command in voice.commands() if command.startswith(("SET SELF PRIORITY", "<speak>"))]
    assert [command.removeprefix("SET SELF PRIORITY ") for command in told if "speak" not in command] == [
        "MESSAGE",
        "IMPORTANT",
        "MESSAGE",
    ]
    assert "Failed." in told[told.index("SET SELF PRIORITY IMPORTANT") + 1]


def test_the_language_of_each_utterance_is_told_to_the_server(quick: SpeechServer) -> None:
    with speaking(quick) as voice:
        voice.say("Bonjour.", "fr-FR")
        voice.say("Hello.", "en-GB")
        voice.say("Hello again.", "en-GB")
        voice.say("你好。", "zh-Hans")
        asked = [command for command in voice.commands() if command.startswith("SET SELF LANGUAGE")]
    assert [command.split()[-1] for command in asked] == ["fr-fr", "en-gb", "cmn"]
    assert voice.reports.empty()


def test_that_a_language_has_no_voice_is_told_once_with_what_is_used_instead(quick: SpeechServer) -> None:
    with speaking(quick, SpeechSettings(languages=("fr", "yo"))) as voice:
        end = voice.begin("Ẹ káàárọ̀.", "yo-NG")
        told = voice.reports.get(timeout=30)
        assert told == Notice(get_phrases(["fr"]).format("speech-no_voice", language="yoruba", other="français"))
        assert voice.reports.get(timeout=30) == end
        voice.say("Ẹ káàsán.", "yo-NG")
        assert "SET SELF LANGUAGE fr" in voice.commands()


def test_rate_volume_pitch_signs_and_spelling_are_set(quick: SpeechServer) -> None:
    settings = SpeechSettings(rate=MAX_RATE, volume=50, pitch=-20, punctuation="all", spelling=True)
    with speaking(quick, settings) as voice:
        assert voice.output.change_rate(1) == MAX_RATE, "it cannot be faster"
        assert voice.output.change_rate(-1) < MAX_RATE
        voice.say("One.")
        told = voice.commands()
    for expected in ("RATE 100", "VOLUME 50", "PITCH -20", "PUNCTUATION all", "SPELLING ON"):
        assert f"SET SELF {expected}" in told
    assert "SET SELF RATE 93" in told


# -- time ----------------------------------------------------------------------------------


def test_an_utterance_that_was_stopped_ends_silently_and_the_next_is_spoken(clocked: SpeechServer) -> None:
    with speaking(clocked) as voice:
        stopped = voice.begin(LONG)
        voice.wait_for("begin")
        voice.output.stop(stopped.utterance_id)
        voice.say("Next.")
        voice.output.stop(stopped.utterance_id)  # of one that is over, which stops nothing
        voice.say("Last.")
        assert voice.commands().count("CANCEL SELF") == 1


def test_speech_that_was_paused_goes_on(clocked: SpeechServer) -> None:
    with speaking(clocked) as voice:
        end = voice.begin(LONG)
        voice.wait_for("begin")
        voice.output.pause()
        with pytest.raises(Empty):
            voice.reports.get(timeout=1)
        voice.output.resume()
        assert voice.reports.get(timeout=30) == end


def test_what_another_program_has_cut_is_spoken_again(clocked: SpeechServer) -> None:
    with speaking(clocked) as voice, other_client(clocked) as (reader, events):
        end = voice.begin(LONG)
        reader.command("SET SELF PRIORITY IMPORTANT")
        voice.wait_for("mark", "1")
        reader.speak("A key was pressed.")
        assert voice.reports.get(timeout=30) == end
        kinds = {one.kind for one in _drain(events)}
        assert "end" in kinds
        assert len(voice.spoken()) == 2 and "first of three" not in voice.spoken()[1], "from where it was cut"


def _drain(events: SimpleQueue[SpeechEvent]) -> Iterator[SpeechEvent]:
    with contextlib.suppress(Empty):
        while True:
            yield events.get(timeout=0.1)


def test_a_server_that_was_killed_and_started_again_loses_nothing(tmp_path: Path) -> None:
    with speech_server(tmp_path, clocked=True) as server, speaking(server) as voice:
        voice.say("One.")
        end = voice.begin(LONG)
        voice.wait_for("begin")
        server.kill()
        assert voice.reports.get(timeout=30) == Notice(PHRASES["speech.gone"])
        server.start()
        assert voice.reports.get(timeout=30) == Notice(PHRASES["speech.back"])
        assert voice.reports.get(timeout=30) == end
        assert "third of three" in voice.spoken()[-1]
        voice.say("Two.")


def test_while_the_server_is_gone_utterances_last_as_long_as_they_would_take(tmp_path: Path) -> None:
    with speech_server(tmp_path) as server, speaking(server) as voice:
        server.kill()
        assert voice.reports.get(timeout=30) == Notice(PHRASES["speech.gone"])
        voice.say("One.")
        voice.output.stop(voice.begin(LONG).utterance_id)
        voice.say("Two.")


# -- with a terminal -----------------------------------------------------------------------


def test_critical_events_interrupt_real_speech_and_keys_answer_while_it_runs(clocked: SpeechServer) -> None:
    before = len(clocked.commands())
    begun: SimpleQueue[str] = SimpleQueue()
    spoken = SpeechOutput(
        SpeechSettings(rate=400), environment=clocked.environment, on_event=lambda event: begun.put(event.kind)
    )
    with at_a_terminal(outputs=[spoken]) as sitting:
        sitting.hear("tool.invoked", urgency="normal", **dict.fromkeys(SUMMARIES, f"Reading. {LONG}"))
        sitting.see("Reading.")
        while begun.get(timeout=30) != "end":  # of the greeting
            pass
        sitting.script.events.put(light(action="Pay.", consequence="Ada is paid.").event)
        sitting.see("Attention. Confirm. Pay.")
        while begun.get(timeout=30) != "mark":  # the prompt, since what it cut has no more events
            pass
        sitting.type("a")
        sitting.see(PHRASES["keys.too_soon"])
        sitting.see("Again. | Reading.")  # after the prompt was spoken to its end
        sitting.type("a")
        assert sitting.sent() == ("accept", "rpl_light")
        sitting.type("q")
        sitting.see(PHRASES["goodbye"])
    texts = [command for command in clocked.commands()[before:] if command.startswith("<speak>")]
    order = [next(index for index, text in enumerate(texts) if part in text) for part in (">Reading", "Pay.", "Again.")]
    assert order == sorted(order)


# -- without a server ----------------------------------------------------------------------


def test_without_a_server_it_is_told_once_that_nothing_is_spoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEECHD_ADDRESS", "unix_socket:/nonexistent/speechd.sock")
    reports: list[OutputEvent] = []
    output = open_speech()
    assert isinstance(output, NoSpeech) and not output.is_paced
    output.open(reports.append)
    output.present(Speak("One.", announce_line("One."), 1))
    output.stop(1)
    output.close()
    assert reports == [Notice(f"{PHRASES['speech.none']} {PHRASES['speech.unavailable']}")]


@pytest.mark.parametrize(
    ("address", "reason"),
    [("unix_socket:/nonexistent/speechd.sock", "speech-unavailable"), ("tcp:1", "speech-address")],
)
def test_why_nothing_is_spoken_is_told_in_the_language_of_the_person(
    monkeypatch: pytest.MonkeyPatch, address: str, reason: str
) -> None:
    monkeypatch.setenv("SPEECHD_ADDRESS", address)
    phrases = get_phrases(("ja",))
    reports: list[OutputEvent] = []
    open_speech(SpeechSettings(languages=("ja", "en"))).open(reports.append)
    assert reports == [Notice(f"{phrases['speech-none']} {phrases.format(reason, address=address)}")]
    with pytest.raises(SpeechUnavailable) as caught:
        SpeechOutput(SpeechSettings(languages=("ja", "en"))).open(reports.append)
    assert str(caught.value) == phrases.format(reason, address=address)


def test_with_a_server_it_is_used(quick: SpeechServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPEECHD_ADDRESS", quick.environment["SPEECHD_ADDRESS"])
    assert isinstance(open_speech(), SpeechOutput)


@pytest.mark.parametrize("address", ["tcp:1", "inet_socket:host:port"])
def test_an_address_that_cannot_be_read_is_told(address: str) -> None:
    with pytest.raises(SpeechUnavailable, match="Write unix_socket:path or inet_socket:host:port"):
        find_address({"SPEECHD_ADDRESS": address})


def test_addresses() -> None:
    local = find_address({"XDG_RUNTIME_DIR": "/run/user/7"})
    assert local.path == "/run/user/7/speech-dispatcher/speechd.sock" and local.is_default
    assert find_address({"SPEECHD_ADDRESS": "unix_socket:/x"}).path == "/x"
    assert not find_address({"SPEECHD_ADDRESS": "unix_socket:/x"}).is_default
    far = find_address({"SPEECHD_ADDRESS": "inet_socket:box:77"})
    assert (far.host, far.port) == ("box", 77)
