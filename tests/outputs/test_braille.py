"""A braille display beside the terminal: real BRLTTY with its virtual display, real liblouis, a real agent."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from aaep.outputs.base import KeyPressed, Notice, OutputEvent
from aaep.outputs.braille import BrailleOutput
from aaep.outputs.brlapi import BrlapiConnection, BrlttyUnavailable, find_tty_path
from aaep.outputs.liblouis import BrailleTranslator, Liblouis, LiblouisUnavailable
from aaep.outputs.printer import LinePrinter
from aaep.outputs.stdin import detect_input
from aaep.outputs.terminal import Terminal
from aaep.presentation.announce import Announcement, announce_line
from aaep.presentation.braille import PROMPT_SIGN, WAITING_DOTS, find_windows
from aaep.presentation.preferences import Preferences
from aaep.presentation.queue import Speak
from aaep.producer.producer import Producer
from aaep.producer.questions import Ask
from aaep.producer.session import Session
from aaep.subscriber.subscriber import Subscriber
from aaep.text.phrases import PHRASES, get_phrases
from tests.braille import VirtualDisplay, as_text, virtual_display
from tests.presentation.test_announce import said

WAIT = 30.0  # seconds that a broken build may keep a test waiting
LATER = 5.0  # seconds after which a key cannot be meant for what was there before
SENTENCE = "The deletion of four files in the folder build cannot be undone, and nobody else has a copy of them."


class Desk:
    """An output at a display, and what it reported."""

    def __init__(self, display: VirtualDisplay, **options: Any) -> None:
        self.display = display
        self.reports: list[OutputEvent] = []
        self._changed = threading.Condition()
        self._number = 0
        self.output = BrailleOutput(host=display.host, retry_interval=0.05, environment={}, **options)
        self.output.open(self._report)

    def _report(self, event: OutputEvent) -> None:
        with self._changed:
            self.reports.append(event)
            self._changed.notify_all()

    def present(self, announcement: Announcement, *, text: str = "", answer: bool = False) -> None:
        self._number += 1
        self.output.present(Speak(text or announcement.text, announcement, self._number, is_answer=answer))

    def say(self, text: str, language: str = "en", *, answer: bool = False) -> None:
        self.present(announce_line(text, language), answer=answer)

    def ask(self, prompt: Announcement) -> None:
        self.output.update_prompts(frozenset([prompt.prompt]), "")
        self.present(prompt)
        self.output.update_prompts(frozenset([prompt.prompt]), prompt.prompt)
        self.display.wait_for(lambda: self.display.frames[-1][0] == PROMPT_SIGN)

    def expect(self, *events: OutputEvent) -> None:
        with self._changed:
            self.display.wait_on(
                self._changed, lambda: len(self.reports) >= len(events), lambda: f"Reported was {self.reports}."
            )
            assert self.reports == [*events]


@contextlib.contextmanager
def desk(width: int = 40, **options: Any) -> Iterator[Desk]:
    with virtual_display(width) as display:
        sitting = Desk(display, **options)
        try:
            yield sitting
        finally:
            sitting.output.close()


def windows_of(text: str, width: int, language: str = "en", **options: Any) -> list[str]:
    """What each window of a text has to show, after the sign of the display."""
    translation = BrailleTranslator(**options)(text, language)
    windows = find_windows(text, translation, width - 2)
    return [as_text(translation.cells[window.start : window.stop][: width - 2]) for window in windows]


def spell(text: str, language: str = "en") -> str:
    return as_text(BrailleTranslator(contracted=False)(text, language).cells)


def see(display: VirtualDisplay, text: str, language: str = "en") -> None:
    """Wait until a text without contractions is on the display by itself."""
    display.wait_for(lambda: spell(text, language) in display.shown)


def seek(display: VirtualDisplay, text: str, language: str = "en") -> int:
    """Pan to the right until a text without contractions is there, and return the cell where it begins."""
    wanted = spell(text, language)
    for _ in range(60):
        if wanted in display.shown:
            return display.shown.rindex(wanted)
        count = len(display.frames)
        display.press("FwinRt")
        display.wait_for(lambda count=count: len(display.frames) > count)  # type: ignore[misc]  # a default
    raise AssertionError(f"{text!r} is nowhere; the display shows {display.shown}")


# -- the display ---------------------------------------------------------------------------


@pytest.mark.parametrize("width", [14, 20, 40, 80])
def test_a_message_is_shown_window_by_window(width: int) -> None:
    windows = windows_of(SENTENCE, width)
    with desk(width) as sitting:
        sitting.say(SENTENCE)
        for window in windows:
            sitting.display.wait_for_text(window)
            sitting.display.press("FwinRt")
        for window in windows[-2::-1]:
            sitting.display.press("FwinLt")
            sitting.display.wait_for_text(window)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("he", "למחוק ארבעה קבצים?"),
        ("ar", "حذف أربعة ملفات"),
        ("fr", "Supprimer les quatre fichiers ?"),
        ("yo", "Ṣé o fẹ́ pa fáìlì mẹ́rin rẹ́?"),
    ],
)
def test_text_is_shown_in_the_braille_of_its_language(language: str, text: str) -> None:
    with desk(80) as sitting:
        sitting.say(text, language)
        [window] = windows_of(text, 80, language)
        sitting.display.wait_for_text(window)


def test_a_kind_that_is_not_to_be_shown_is_shown_on_request_only() -> None:
    with desk(80, unshown=["done"], contracted=False) as sitting:
        for text, earcon, is_requested in (("One.", "working", False), ("Two.", "done", False), ("Six.", "done", True)):
            line = announce_line(text, "en")
            sitting.output.present(Speak(text, line, 7, earcon=earcon, is_requested=is_requested))
        see(sitting.display, "Six.")
        assert not any(spell("Two.") in as_text(frame) for frame in sitting.display.frames)


def test_a_language_without_a_table_is_told_once() -> None:
    with desk(80) as sitting:
        sitting.say("Mo ti bẹ̀rẹ̀.", "yo")
        sitting.say("Mo ti parí.", "yo")
        sitting.display.wait_for_text(windows_of("Mo ti parí.", 80, "yo")[0])
        sitting.expect(Notice(PHRASES["braille.no_table"].format("Yoruba")), Notice(PHRASES["braille.marks"]))


def test_what_the_display_says_of_itself_is_in_the_language_of_the_person() -> None:
    phrases = get_phrases(("de",))
    with desk(80, language="de", phrases=phrases) as sitting:
        sitting.say("Mo ti bẹ̀rẹ̀.", "yo")
        notices = [phrases.format("braille-no_table", language="Yoruba"), phrases["braille-marks"]]
        sitting.expect(*map(Notice, notices))
        sitting.display.kill()
        sitting.display.start()
        notices += [phrases["braille-lost"], phrases["braille-back"]]
        sitting.expect(*map(Notice, notices))


def test_of_many_messages_at_once_only_the_newest_is_written() -> None:
    with desk() as sitting:
        before = len(sitting.display.frames)
        for number in range(300):
            sitting.say(f"Step {number}.")
        sitting.display.wait_for_text(windows_of("Step 299.", 40)[0])
        assert len(sitting.display.frames) - before < 150
        sitting.display.press("LnUp")
        sitting.display.wait_for_text(windows_of("Step 298.", 40)[0])
        sitting.display.press("LnDn")
        sitting.display.wait_for_text(windows_of("Step 299.", 40)[0])


def test_a_display_of_another_width_is_filled_anew() -> None:
    with desk(80) as sitting:
        sitting.say(SENTENCE)
        sitting.display.wait_for_text(windows_of(SENTENCE, 80)[0])
        sitting.display.resize(20)
        sitting.display.wait_for_text(windows_of(SENTENCE, 20)[0])
        sitting.display.resize(40)
        sitting.display.wait_for_text(windows_of(SENTENCE, 40)[0])


def test_a_brltty_that_dies_and_comes_back_shows_what_was_there_and_what_came_meanwhile() -> None:
    with desk(40) as sitting:
        sitting.say(SENTENCE)
        sitting.display.wait_for_text(windows_of(SENTENCE, 40)[0])
        sitting.display.press("FwinRt")
        sitting.display.wait_for_text(windows_of(SENTENCE, 40)[1])
        sitting.display.kill()
        sitting.expect(Notice(PHRASES["braille.lost"]))
        sitting.say("Done.")
        sitting.display.width = 20
        sitting.display.start()
        sitting.expect(Notice(PHRASES["braille.lost"]), Notice(PHRASES["braille.back"]))
        sitting.display.wait_for(lambda: sitting.display.frames[-1][0] & WAITING_DOTS == WAITING_DOTS)
        seek_text = windows_of("Done.", 20)[0]
        for _ in range(20):
            if as_text(sitting.display.frames[-1][2:]) == seek_text:
                break
            count = len(sitting.display.frames)
            sitting.display.press("FwinRt")
            sitting.display.wait_for(lambda count=count: len(sitting.display.frames) > count)  # type: ignore[misc]
        sitting.display.wait_for_text(seek_text)


def test_closing_gives_the_display_back() -> None:
    with desk() as sitting:
        sitting.say("Hello.")
        sitting.display.wait_for_text(windows_of("Hello.", 40)[0])
        sitting.output.close()
        other = Desk(sitting.display)
        other.say("Mine now.")
        sitting.display.wait_for_text(windows_of("Mine now.", 40)[0])
        other.output.close()


# -- keys ----------------------------------------------------------------------------------


def test_keys_are_reported_as_those_of_the_keyboard() -> None:
    with desk() as sitting:
        expected = []
        for name, key in [("Help", "?"), ("Return", "\n"), ("PassDots 0x17", "r"), ("Key_Enter", "\n")]:
            sitting.display.press(name)
            expected.append(KeyPressed(key))
            sitting.expect(*expected)


def test_a_prompt_stays_while_other_things_come_and_home_returns_to_it() -> None:
    prompt = said("awaiting.confirmation")
    first = windows_of(prompt.text, 40)[0]
    with desk(40) as sitting:
        sitting.ask(prompt)
        sitting.display.wait_for_text(first)
        assert sitting.display.frames[-1][0] == PROMPT_SIGN
        sitting.say("Reading a file.")
        sitting.display.wait_for(lambda: sitting.display.frames[-1][0] == PROMPT_SIGN | WAITING_DOTS)
        sitting.display.wait_for_text(first)
        sitting.display.press("Route 1")  # the virtual display cannot press the first one
        sitting.display.wait_for_text(windows_of("Reading a file.", 40)[0])
        sitting.display.press("Home")
        sitting.display.wait_for_text(first)
        sitting.output.update_prompts(frozenset(), "")
        sitting.say("Refused.")
        sitting.display.wait_for_text(windows_of("Refused.", 40)[0])


@pytest.mark.parametrize(("word", "key"), [("accept,", "a"), ("refuse,", "r"), ("time.", "t")])
def test_a_routing_key_above_a_word_of_a_prompt_presses_its_key(word: str, key: str) -> None:
    with desk(40, contracted=False) as sitting:
        sitting.ask(said("awaiting.confirmation"))
        cell = seek(sitting.display, word)
        sitting.display.press(f"Route {cell}")
        sitting.expect(KeyPressed(key))


@pytest.mark.parametrize("tag", ["ar", "de", "ja"])
def test_the_words_of_a_prompt_are_keys_in_the_language_of_the_person(tag: str) -> None:
    phrases = get_phrases((tag,))
    hints = {"localization_hints": {"primary_language": tag}}
    texts = {"action": "Xqz.", "consequence": "Vwx."}  # so short that no window ends between a key and its word
    prompt = said("awaiting.confirmation", to=Preferences(languages=(tag,)), **texts, **hints)
    with desk(80, contracted=False, language=tag, phrases=phrases) as sitting:
        sitting.ask(prompt)
        sitting.display.press("PassDots 0x01")
        see(sitting.display, phrases["braille-read_on"][:20], tag)
        assert not sitting.reports
        sitting.display.press("Home")
        see(sitting.display, phrases["confirm"], tag)
        sitting.display.wait_for(lambda: sitting.display.frames[-1][0] == PROMPT_SIGN)
        for name, keys in (("accept", "a"), ("reject", "ar"), ("time", "art")):
            cell = seek(sitting.display, f"{keys[-1]} {phrases[f'key-{name}']}", tag)
            sitting.display.press(f"Route {cell}")
            sitting.expect(*map(KeyPressed, keys))
        text = phrases.format("accept-second-key", action="x.")
        sitting.say(text, tag, answer=True)
        see(sitting.display, text.split(" y")[0], tag)
        cell = seek(sitting.display, text[text.index("y") : text.index("x")], tag)
        sitting.display.press(f"Route {cell}")
        sitting.expect(*map(KeyPressed, "arty"))
        choices = [{"value": "one", "label": "xqz"}, {"value": "two", "label": "vwx"}]
        sitting.ask(said("awaiting.clarification", to=Preferences(languages=(tag,)), choices=choices, **hints))
        see(sitting.display, phrases["question"], tag)
        cell = seek(sitting.display, "vwx", tag)
        sitting.display.press(f"Route {cell}")
        sitting.expect(*map(KeyPressed, "arty2"))
        see(sitting.display, phrases.format("braille-choice", choice="2"), tag)
        cell = seek(sitting.display, phrases.format("braille-choice", choice="2"), tag)
        sitting.display.press(f"Route {cell}")
        sitting.expect(*map(KeyPressed, "arty2\n"))


QUESTION = said("awaiting.clarification", "choices", question="May I go on?", accepted_response_kinds=["yes_no"])


@pytest.mark.parametrize(
    ("prompt", "key", "dots"),
    [(said("awaiting.confirmation"), "a", "0x01"), (QUESTION, "y", "0x3D")],
    ids=["accept", "yes"],
)
def test_nothing_is_agreed_to_that_was_not_read_to_its_end(prompt: Announcement, key: str, dots: str) -> None:
    with desk(40, contracted=False) as sitting:
        sitting.ask(prompt)
        sitting.display.wait_for_text(windows_of(prompt.text, 40, contracted=False)[0])
        sitting.display.press(f"PassDots {dots}")
        sitting.display.wait_for_text(windows_of(PHRASES["braille.read_on"], 40, contracted=False)[0])
        sitting.display.press("Home")
        see(sitting.display, prompt.text.split()[0])
        seek(sitting.display, "time.")
        sitting.display.press(f"PassDots {dots}")
        sitting.expect(KeyPressed(key))


def test_keys_of_a_closed_prompt_press_nothing() -> None:
    with desk(40, contracted=False) as sitting:
        sitting.ask(said("awaiting.confirmation"))
        cell = seek(sitting.display, "accept,")
        sitting.output.update_prompts(frozenset(), "")
        sitting.display.press(f"Route {cell}")
        sitting.display.press("Help")
        sitting.expect(KeyPressed("?"))


def test_a_choice_is_typed_by_a_routing_key_and_sent_by_another() -> None:
    question = said("awaiting.clarification")
    with desk(40, contracted=False) as sitting:
        sitting.ask(question)
        cell = seek(sitting.display, "1:")
        sitting.display.press(f"Route {cell}")
        sitting.expect(KeyPressed("1"))
        see(sitting.display, "Enter sends 1")
        sitting.display.press("Home")
        see(sitting.display, "Question.")
        cell = seek(sitting.display, "2:")
        sitting.display.press(f"Route {cell}")
        sitting.expect(KeyPressed("1"), KeyPressed("\x1b"), KeyPressed("2"))
        see(sitting.display, "Enter sends 2")
        cell = seek(sitting.display, "Enter sends 2")
        sitting.display.press(f"Route {cell}")
        sitting.expect(KeyPressed("1"), KeyPressed("\x1b"), KeyPressed("2"), KeyPressed("\n"))


def test_a_prompt_with_more_time_stays_the_one_that_keys_answer() -> None:
    prompt = said("awaiting.confirmation")
    longer = msgspec.structs.replace(prompt, text="You have 10 minutes now.", prompt="rpl_new", replaces=prompt.prompt)
    with desk(40, contracted=False) as sitting:
        sitting.ask(prompt)
        sitting.output.update_prompts(frozenset(["rpl_new"]), "rpl_new")  # where speech is still on its way
        sitting.present(longer)
        sitting.display.wait_for(lambda: sitting.display.frames[-1][0] == PROMPT_SIGN | WAITING_DOTS)
        cell = seek(sitting.display, "refuse,")
        sitting.display.press(f"Route {cell}")
        sitting.output.update_prompts(frozenset(["rpl_new"]), "rpl_new")
        sitting.expect(KeyPressed("r"))


# -- what is missing -----------------------------------------------------------------------


def test_without_brltty_there_is_an_error_that_says_what_to_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = free.getsockname()[1] - 4101
    with pytest.raises(BrlttyUnavailable, match=r"Nothing answers at 127\.0\.0\.1:\d+\. Start BRLTTY, .*BRLAPI_HOST"):
        BrailleOutput(host=f"127.0.0.1:{number}", environment={}).open(lambda event: None)


def test_that_there_is_no_display_is_told_in_the_language_of_the_person() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    phrases = get_phrases(("de",))
    with pytest.raises(BrlttyUnavailable) as caught:
        BrailleOutput(host=f"127.0.0.1:{port - 4101}", phrases=phrases, environment={}).open(lambda event: None)
    assert str(caught.value) == phrases.format("braille-unavailable", address=f"127.0.0.1:{port}")
    with pytest.raises(LiblouisUnavailable, match=phrases["braille-library"].partition(".")[0]):
        Liblouis(["libnothing.so.1"], phrases=phrases)


def test_something_else_at_the_address_is_told_from_brltty() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(BrlttyUnavailable, match=r"something else\. Check BRLAPI_HOST"):
            BrlapiConnection(host=f"127.0.0.1:{server.getsockname()[1] - 4101}")
        thread.join(WAIT)


def test_a_server_that_never_answers_does_not_keep_the_reader_waiting_for_ever() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        pytest.raises(BrlttyUnavailable, match="does not answer"),
    ):
        BrlapiConnection(host=f"127.0.0.1:{server.getsockname()[1] - 4101}", timeout=0.05)


def test_brltty_lets_in_who_has_the_key_and_others_are_told_which_file_it_is(tmp_path: Path) -> None:
    key_file = tmp_path / "brlapi.key"
    key_file.write_text("a secret\n")
    with virtual_display(authorization=f"keyfile:{key_file}") as display:
        BrlapiConnection(host=display.host, key_file=str(key_file)).close()
        environment = {"BRLAPI_HOST": display.host, "BRLAPI_AUTH": f"keyfile:{tmp_path}/nothing"}
        with pytest.raises(BrlttyUnavailable, match=r"can read .*/nothing, and we cannot: No such file"):
            BrailleOutput(environment=environment).open(lambda event: None)
        wrong = tmp_path / "wrong.key"
        wrong.write_text("something else\n")
        with pytest.raises(BrlttyUnavailable, match="refused us"):
            BrlapiConnection(host=display.host, key_file=str(wrong))


def test_a_table_that_is_not_there_is_told_before_the_display_is_taken() -> None:
    with pytest.raises(LiblouisUnavailable, match="no braille table called nothing"):
        BrailleOutput(table="nothing", host="127.0.0.1:1", environment={}).open(lambda event: None)


@pytest.mark.parametrize(
    ("environment", "path"),
    [
        ({"WINDOWPATH": "1:7"}, [1, 7]),
        ({"XDG_VTNR": "3"}, [3]),
        ({"WINDOWPATH": "2", "XDG_VTNR": "3"}, [2]),
        ({}, []),
        ({"XDG_VTNR": "x"}, []),
    ],
)
def test_the_terminal_is_found_in_the_environment(environment: dict[str, str], path: list[int]) -> None:
    assert find_tty_path(environment) == path


# -- a person, a display, and an agent -----------------------------------------------------


class Clock:
    """The time, with a hand to move it on: nobody waits until a prompt can have been read."""

    def __init__(self) -> None:
        self._offset = 0.0

    def __call__(self) -> float:
        return time.monotonic() + self._offset

    def move_on(self) -> None:
        self._offset += LATER


class Person:
    """Somebody with a display of 80 cells, who listens to an agent by ``Terminal``."""

    def __init__(self, display: VirtualDisplay, producer: Producer, **options: Any) -> None:
        self.display = display
        self.clock = Clock()
        self.page = io.StringIO()
        self._hands, terminal_side = pty.openpty()
        self._typed = os.fdopen(terminal_side, "r")
        output = BrailleOutput(host=display.host, retry_interval=0.05, environment={}, contracted=False, **options)
        terminal = Terminal(
            lambda tell: Subscriber(producer.addresses[0], on_status=tell),
            detect_input(self._typed),
            LinePrinter(self.page),
            outputs=[output],
            clock=self.clock,
        )
        self._thread = threading.Thread(target=terminal.run, daemon=True)
        self._thread.start()

    def press(self, key: str) -> None:
        self.clock.move_on()
        self.display.press(key)

    def route(self, text: str) -> None:
        """Press the routing key above a text, wherever it stands."""
        self.press(f"Route {seek(self.display, text)}")

    def leave(self) -> None:
        for key in (b"q", b"l", b"q"):  # more than one where a failed test has left a prompt open
            if self._thread.is_alive():
                os.write(self._hands, key)
                self._thread.join(WAIT / 3)
        assert not self._thread.is_alive()
        self._typed.close()
        os.close(self._hands)


@pytest.fixture
def meeting() -> Iterator[tuple[Person, Session]]:
    with (
        virtual_display(80) as display,
        Producer("files", name="Files", listen="http://127.0.0.1:0", journal=None) as producer,
    ):
        person = Person(display, producer)
        try:
            see(display, "Connected to Files")
            with producer.session("Tidying up") as session:
                yield person, session
        finally:
            person.leave()


def asks(session: Session) -> Ask:
    return session.confirm("Delete a.txt.", "It is gone.", tool="delete", timeout=600)


def outcome(person: Person, ask: Ask) -> str:
    """Wait for what becomes of a prompt."""
    person.display.wait_for(lambda: ask.answer is not None)
    return ask.wait(0).outcome


def test_a_risky_action_is_accepted_with_a_second_key(meeting: tuple[Person, Session]) -> None:
    person, session = meeting
    ask = asks(session)
    see(person.display, "Confirm. Delete a.txt.")
    person.route("accept,")
    see(person.display, "Press y to accept")
    assert ask.answer is None  # the first key accepts nothing
    person.route("y to accept")
    assert outcome(person, ask) == "accepted"
    see(person.display, "Accepted.")
    with session.tool("delete", ask=ask):
        see(person.display, "Calling delete.")


def test_a_first_key_that_is_followed_by_another_one_accepts_nothing(meeting: tuple[Person, Session]) -> None:
    person, session = meeting
    ask = asks(session)
    see(person.display, "Confirm. Delete a.txt.")
    person.route("accept,")
    see(person.display, "Press y to accept")
    person.press("Return")
    see(person.display, "Taken back.")
    assert ask.answer is None
    person.press("Home")
    see(person.display, "Confirm. Delete a.txt.")
    person.route("refuse,")
    assert outcome(person, ask) == "rejected"


def test_a_prompt_stays_through_news_and_a_dead_brltty_and_is_refused_by_a_letter(
    meeting: tuple[Person, Session],
) -> None:
    person, session = meeting
    ask = asks(session)
    see(person.display, "Confirm. Delete a.txt.")
    session.progress(50)
    person.display.kill()
    person.display.start()
    see(person.display, "Confirm. Delete a.txt.")
    person.press("PassDots 0x17")
    assert outcome(person, ask) == "rejected"
    assert person.page.getvalue().count(PHRASES["braille.lost"]) == 1
    assert person.page.getvalue().count(PHRASES["braille.back"]) == 1


def test_an_outcome_takes_the_place_of_its_prompt(meeting: tuple[Person, Session]) -> None:
    person, session = meeting
    ask = asks(session)
    see(person.display, "Confirm. Delete a.txt.")
    ask.withdraw()
    see(person.display, "No longer asked.")
    assert person.display.frames[-1][0] & PROMPT_SIGN != PROMPT_SIGN


DOTS = {"n": "0x1d", "o": "0x15", "t": "0x1e", "e": "0x11"}
CURSOR_OR_BLANK = "\u28c0\u2800"


def see_typed(person: Person, text: str) -> None:
    """Wait until a text is all there is beside the status cells and the cursor."""
    person.display.wait_for(lambda: person.display.shown[2:].rstrip(CURSOR_OR_BLANK) == spell(text))


def test_an_answer_is_shown_as_it_is_typed_on_the_display(meeting: tuple[Person, Session]) -> None:
    person, session = meeting
    ask = session.clarify("What is its name?", timeout=600)
    see(person.display, "What is its name?")
    person.press("Return")
    for letter, typed in [("n", "n"), ("o", "no"), ("t", "not"), ("e", "note")]:
        person.press(f"PassDots {DOTS[letter]}")
        see_typed(person, typed)
    person.press("Key_Backspace")
    see_typed(person, "not")
    person.press("Return")
    person.display.wait_for(lambda: ask.answer is not None)
    assert ask.wait(0).response == "not"


def test_who_leaves_with_a_prompt_open_is_asked_and_the_display_is_given_back(
    meeting: tuple[Person, Session],
) -> None:
    person, session = meeting
    ask = asks(session)
    see(person.display, "Confirm. Delete a.txt.")
    person.press("PassDots 0x1f")  # q
    see(person.display, "1 question is open.")
    assert ask.answer is None
    person.press("PassDots 0x07")  # l
    see(person.display, "Stopped listening.")
    ask.withdraw()
