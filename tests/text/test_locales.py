"""The files of phrases: each has every message with the same gaps and all plural forms, and can hold a session."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from fluent.syntax import ast, parse
from fluent.syntax.visitor import Visitor

import aaep
from aaep import Producer
from aaep.outputs.intents import RunCommand
from aaep.outputs.interpreter import InputInterpreter
from aaep.presentation.preferences import Preferences
from aaep.testing import Listener
from aaep.text.choices import find_plural_rule
from aaep.text.imitation import guard_value, imitates_any
from aaep.text.languages import find_closest_language
from aaep.text.locale_files import build_template, list_tags, read_locale
from aaep.text.phrases import ENGLISH, Phrases, get_phrases
from tests.phrases import example_values

FOLDER = Path(aaep.__file__).parent / "text" / "locales"
TAGS = list_tags()
OTHERS = [tag for tag in TAGS if tag != "en"]
NAMES = [*read_locale("en").messages]
COUNTS = (*range(201), 1000, 0.4, 1.5)
# What may be the same as in English: nothing but gaps and marks, and words that the languages share.
SAME_AS_ENGLISH = {
    "de": {"Code", "pause"},
    "es": {"1 error: \0", "no", "1 byte", "\0 bytes", "1 kilobyte", "\0 kilobytes", "Error."},
    "fr": {"Question.", "Code", "Image", "Attention. \0", "\0 minutes", "pause"},
    "pt-BR": {"\0 bytes", "\0 kilobytes"},
}
_WORD = re.compile(r"[^\W\d_]+")


class Gaps(Visitor):
    """The gaps and the selectors of a message."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.selectors: list[tuple[str, set[str]]] = []

    def visit_VariableReference(self, node: ast.VariableReference) -> None:
        self.names.add(node.id.name)

    def visit_MessageReference(self, node: ast.MessageReference) -> None:
        self.names.add(node.id.name)

    def visit_SelectExpression(self, node: ast.SelectExpression) -> None:
        assert isinstance(node.selector, ast.VariableReference)
        keys = {key.name if isinstance(key := variant.key, ast.Identifier) else key.value for variant in node.variants}
        self.selectors.append((node.selector.id.name, keys))
        self.generic_visit(node)


def read_source(tag: str) -> str:
    return (FOLDER / f"{tag}.ftl").read_text(encoding="utf-8")


def inspect(tag: str) -> dict[str, Gaps]:
    """The gaps of every message, read by Fluent's own parser."""
    found = {}
    for entry in parse(read_source(tag)).body:
        assert not isinstance(entry, ast.Junk), entry.content
        if isinstance(entry, ast.Message):
            assert entry.id.name not in found, f"{entry.id.name} is there twice"
            found[entry.id.name] = gaps = Gaps()
            gaps.visit(entry)
    return found


ENGLISH_GAPS = inspect("en")


@pytest.mark.parametrize("tag", TAGS)
def test_a_file_says_what_it_is(tag: str) -> None:
    first, second, *_ = read_source(tag).splitlines()
    assert first in ("# checked-by-speaker: no", "# checked-by-speaker: yes", "# checked-by-speaker: source")
    assert second == f"# language: {tag}"
    assert first.endswith("source") == (tag == "en")
    assert find_closest_language([tag], TAGS) == tag
    source = read_source(tag)
    assert unicodedata.normalize("NFC", source) == source


@pytest.mark.parametrize("tag", TAGS)
def test_a_file_has_every_message_with_its_gaps(tag: str) -> None:
    found = inspect(tag)
    assert {*found} == {*NAMES}
    assert {name: gaps.names for name, gaps in found.items()} == {
        name: gaps.names for name, gaps in ENGLISH_GAPS.items()
    }
    assert {*read_locale(tag).messages} == {*found}  # our own reader sees the same


@pytest.mark.parametrize("tag", TAGS)
def test_every_plural_form_of_the_language_is_there(tag: str) -> None:
    rule = find_plural_rule(tag)
    needed = {rule(count) for count in range(201)} | {"other"}
    for name, gaps in inspect(tag).items():
        for argument, keys in gaps.selectors:
            if argument == "verbosity":
                assert keys == {"terse", "detailed", "normal"}, name
            else:
                assert needed <= keys, name
                assert {key for key in keys if not key.isdecimal()} <= {*needed, "many"}, name


@pytest.mark.parametrize("tag", TAGS)
def test_every_message_can_be_said(tag: str) -> None:
    phrases = Phrases(tag)
    for name in NAMES:
        values = example_values(name)
        counted = [key for key in values if key in ("count", "seconds")]
        for count in COUNTS if counted else (0,):
            text = phrases.format(name, **{**values, **dict.fromkeys(counted, count)})
            assert text and "{" not in text and "$" not in text, name
            assert text == " ".join(text.split()), name
        for value in values.values():
            if isinstance(value, str) and "verbosity" not in values:
                assert value in phrases.format(name, **values), name


@pytest.mark.parametrize("tag", OTHERS)
def test_nothing_is_left_in_english(tag: str) -> None:
    same = {form for name in NAMES for form in {*Phrases(tag).list_forms(name)} & {*ENGLISH.list_forms(name)}}
    assert {form for form in same if _WORD.search(form)} <= SAME_AS_ENGLISH.get(tag, set())


@pytest.mark.parametrize("tag", TAGS)
def test_words_that_are_typed_differ_from_each_other(tag: str) -> None:
    phrases = Phrases(tag)
    names = [name for name in NAMES if name.startswith("command-") and name != "command-refuse"]
    words = [phrases[name] for name in (*names, "word-yes", "word-no")]
    assert len({*words}) == len(words)
    assert all(word == word.casefold() and not re.search(r"[\s,]", word) for word in words)


@pytest.mark.parametrize("tag", TAGS)
def test_our_reader_makes_of_a_message_what_fluent_makes_of_it(tag: str) -> None:
    messages = read_locale(tag).messages
    for name, gaps in inspect(tag).items():
        if not gaps.selectors and build_template(name, messages) is None:
            assert "\n" in messages[name].source, name


# -- imitation ---------------------------------------------------------------------------------------

READER_GROUPS = ("Prompts", "Outcomes of prompts", "The connection", "At the terminal", "Answering")
READER_SENTENCES = [
    name
    for name in NAMES
    if read_locale("en").messages[name].group in READER_GROUPS and ENGLISH.list_forms(name)[0][0].isupper()
]
TOO_SHORT_TO_KNOW = {"asking_time", "write-one"}  # one word and a value


@pytest.mark.parametrize("tag", TAGS)
def test_what_an_agent_writes_is_not_taken_for_what_the_reader_says(tag: str) -> None:
    phrases = get_phrases((tag,))
    texts = {name: phrases.format(name, **example_values(name)) for name in READER_SENTENCES}
    unknown = {name for name, text in texts.items() if not imitates_any(f"Xqz vwx. {text}", phrases)}
    assert unknown <= TOO_SHORT_TO_KNOW
    assert not imitates_any("Xqz vwx. Vwx xqz xqz.", phrases)
    prompt = phrases["confirm"]
    assert guard_value(prompt, phrases) == phrases.format("value-quoted", value=prompt)


def test_a_sentence_of_the_reader_in_another_language_is_only_a_text() -> None:
    for tag in OTHERS:
        assert not imitates_any(get_phrases((tag,))["unreadable"])


# -- what a person types -----------------------------------------------------------------------------


@pytest.mark.parametrize("tag", TAGS)
def test_commands_are_understood_in_the_language_and_in_english(tag: str) -> None:
    phrases = Phrases(tag)
    for spoken in (phrases, ENGLISH):
        for command, expected in (("verbosity", "verbosity"), ("repeat", "repeat"), ("quit", "quit")):
            interpreter = InputInterpreter(lines=True, phrases=phrases)
            typed = unicodedata.normalize("NFD", spoken[f"command-{command}"]).upper()
            assert interpreter.enter_line(typed, 0.0) == [RunCommand(expected)]  # type: ignore[arg-type]  # a command


# -- a session ---------------------------------------------------------------------------------------

AGENT = "Zoë"
OWN_NAMES = {"Zoë", "xqz", "Xqz", "vwx", "SHA", "R", "U"}


def hear_session(tag: str, verbosity: str) -> list[str]:
    """Hold a session with tools, questions and an answer, and return what is heard; authors' texts are nonsense."""
    heard: list[str] = []
    preferences = Preferences(languages=(tag,), verbosity=verbosity)  # type: ignore[arg-type]  # one of the three

    def answer(prompt: object) -> object:
        return "vwx" if isinstance(prompt, aaep.AwaitingClarification) else "reject"

    with Producer("zoe", name=AGENT, language=tag, journal=None) as producer:

        @producer.tool(risk="high", irreversible=True)
        def xqz(vwx: str, numbers: list[int]) -> None:
            raise AssertionError("It was refused.")

        @producer.tool(risk="low")
        def vwx(xqz: int) -> None:
            if xqz > 1:
                raise TimeoutError

        def note(announcement: aaep.Announcement) -> None:
            assert announcement.own_language == tag
            heard.extend([announcement.text, announcement.detail, *(effect for _, effect in announcement.keys)])

        listener = Listener(producer, answer, preferences=preferences, on_announcement=note)
        with pytest.raises(TimeoutError), producer.session("Xqz vwx.") as session:
            session.progress(40)
            session.progress(step=2, total=5)
            vwx(1)
            xqz("vwx xqz", [1, 2])
            session.clarify("Xqz?", choices=["vwx", "xqz"], why="Xqz vwx.").wait()
            session.write("Vwx xqz.")
            vwx(2)
        listener.wait_for_end()
        with producer.session() as session:
            session.cancel()
        listener.wait_for_end()
    return heard


@pytest.mark.parametrize("verbosity", ["terse", "normal", "detailed"])
@pytest.mark.parametrize("tag", TAGS)
def test_a_session_is_heard_in_one_language(tag: str, verbosity: str) -> None:
    heard = hear_session(tag, verbosity)
    assert len(heard) > 20
    assert any(get_phrases((tag,))["confirm"] in text for text in heard)
    words_here = {word for name in NAMES for form in Phrases(tag).list_forms(name) for word in _split(form)}
    english = {word for name in NAMES for form in ENGLISH.list_forms(name) for word in _split(form)} - words_here
    names = {word.casefold() for word in OWN_NAMES}
    found = {word for text in heard for word in _split(text)} & english
    assert found - names <= {"numbers", "timeout", "error"}, heard  # an argument's name and an exception's


def _split(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
