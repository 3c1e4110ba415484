"""Markdown as it is heard, from texts that grow."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aaep.text.markdown import PassageReader, name_emoji


def read(*pieces: str, markup: str = "markdown") -> list[str]:
    reader = PassageReader("en", markup)  # type: ignore[arg-type]  # one of the three
    return [passage.text for piece in (*pieces, None) for passage in give(reader, piece)]


def give(reader: PassageReader, piece: str | None) -> list:  # type: ignore[type-arg]
    return reader.read("", "all") if piece is None else reader.read(piece)


@pytest.mark.parametrize(
    ("source", "heard"),
    [
        ("## Weekly report\n\nAll is well.", ["Heading: Weekly report.", "All is well."]),
        ("Title\n=====\n\nText.", ["Heading: Title.", "Text."]),
        ("- Milk\n- Eggs. Six of them.\n", ["Bullet: Milk", "Bullet: Eggs.", "Six of them."]),
        ("* Fruit\n  * Apples\n", ["Bullet: Fruit", "Sub-bullet: Apples"]),
        ("1. First\n2. Second\n7. Last\n", ["1: First", "2: Second", "7: Last"]),
        ("- [x] Paid\n- [ ] Sent\n", ["Checked: Paid", "Not checked: Sent"]),
        ("It is **very** *important* and ~~not~~ `x_y`.", ["It is very important and not x_y."]),
        ("See [the wiki](https://example.org/a?b=1#c).", ["See the wiki."]),
        ("![A chart](chart.png) of it.", ["Image: A chart of it."]),
        (
            "| Name | Size |\n|------|-----:|\n| a.txt | 1 KB |\n| b.txt | |\n",
            ["Table: Name, Size.", "Name: a.txt, Size: 1 KB.", "Name: b.txt."],
        ),
        ("Run:\n\n```sh\nls -l\nrm x\n```\n\nDone it.", ["Run:", "Code, sh, 2 lines.", "Done it."]),
        ("```\nx\n", ["Code, 1 line."]),
        ("> Be brief.\n> And kind.\n", ["Quote: Be brief.", "And kind."]),
        ("One.\n\n---\n\nTwo.", ["One.", "Two."]),
        ("**Note: this. And that.** More.", ["Note: this.", "And that.", "More."]),
        ("A line that\nis wrapped. Next.", ["A line that is wrapped.", "Next."]),
        ("Use `a. b. c` or [x. y](z). Then stop.", ["Use a. b. c or x. y.", "Then stop."]),
        ("2 * 3 * 4 is 24 and snake_case_name stays.", ["2 * 3 * 4 is 24 and snake_case_name stays."]),
        ("Line one<br>line <b>two</b>.", ["Line oneline two."]),
        ("\\*not emphasis\\*", ["not emphasis"]),
        ("", []),
        ("\n\n\n", []),
    ],
)
def test_markdown_is_heard_as_what_it_means(source: str, heard: list[str]) -> None:
    assert read(source) == heard
    assert read(*source) == heard, "letter by letter"


@pytest.mark.parametrize(
    ("source", "heard"),
    [
        ("Plain text. With two sentences.", ["Plain text.", "With two sentences."]),
        ("First line\nsecond line\n", ["First line", "second line"]),
        ("# Report\n\nIt is **done**.", ["Heading: Report.", "It is done."]),
        ("- Milk\n- Eggs\n", ["Bullet: Milk", "Bullet: Eggs"]),
        ("Use 2 * 3 and a_b_c and <eve@example.org>.", ["Use 2 * 3 and a_b_c and <eve@example.org>."]),
        ("It costs 5. Then 6.", ["It costs 5.", "Then 6."]),
    ],
)
def test_plain_text_is_read_as_markdown_only_where_it_plainly_is(source: str, heard: list[str]) -> None:
    assert [text.strip() for text in read(source, markup="auto")] == heard
    assert [text.strip() for text in read(*source, markup="auto")] == heard, "letter by letter"


def test_signs_are_read_where_they_are_wanted() -> None:
    assert read("# A *b*. `c`", markup="none") == ["# A *b*.", "`c`"]


def test_what_is_left_out_can_be_asked_for() -> None:
    reader = PassageReader("en", "markdown")
    passages = reader.read("See [it](https://example.org).\n\n```py\nx = 1\n  y\n```\n", "all")
    assert [passage.detail for passage in passages] == [
        "See it (https://example.org).",
        "Code, py, 2 lines.\nx = 1\n  y",
    ]


def test_a_sentence_is_given_before_its_paragraph_ends_and_a_row_when_its_line_does() -> None:
    reader = PassageReader("en", "markdown")
    heard = []
    for piece in (
        "One. T",
        "wo. ",
        "Three",
        ".\n\n",
        "| A |\n",
        "|---|\n",
        "| 1 ",
        "|\n",
        "| 2 |\n",
        "```\nx\n",
        "```\n",
    ):
        heard.append([passage.text for passage in reader.read(piece)])
    assert heard == [
        ["One."],
        ["Two."],
        [],
        ["Three."],
        [],
        ["Table: A."],
        [],
        ["A: 1."],
        ["A: 2."],
        [],
        ["Code, 1 line."],
    ]


def test_long_code_is_announced_before_it_is_there() -> None:
    reader = PassageReader("en", "markdown")
    heard = [
        (number, passage.text) for number in range(20) for passage in reader.read("```py\n" if not number else "x\n")
    ]
    assert heard == [(8, "Code, py, coming.")]
    assert [passage.text for passage in reader.read("```\n")] == ["Code, py, 19 lines."]


def test_what_follows_the_language_of_code_is_heard_with_the_code() -> None:
    reader = PassageReader("en", "markdown")
    [passage] = reader.read('```py title="a.py"\nx = 1\n```\n')
    assert (passage.text, passage.detail) == ("Code, py, 1 line.", 'Code, py, 1 line.\ntitle="a.py"\nx = 1')


def test_what_goes_on_after_an_interruption_is_given_once() -> None:
    reader = PassageReader("en", "markdown")
    heard = []
    for piece in ("Be careful with", " this. And\n```py\na\n", "b\n```\nThe e", "nd."):
        heard.append([passage.text for passage in reader.read(piece, "all")])
    assert heard == [
        ["Be careful with"],
        ["this.", "And", "Code, py, 1 line."],
        ["Code, py, 1 line.", "The e"],
        ["nd."],
    ]


@pytest.mark.parametrize(
    ("pieces", "heard"),
    [
        (
            ("| A | B |\n|--|--|\n| one | tw", "o |\n| three | four |\n"),
            ["Table: A, B.", "A: one, B: tw.", "o", "A: three, B: four."],
        ),
        (("| A | B |\n|--|--|\n| one", " more | two |\n"), ["Table: A, B.", "A: one.", "more, B: two"]),
        (("| A | ", "B |\n|--|--|\n| one | two |\n"), ["A", "B", "A: one, B: two."]),
        (("## A he", "ading\n\nText."), ["Heading: A he.", "ading", "Text."]),
        (("See [the wi", "ki](http://x.y/z) now."), ["See the wi", "ki now."]),
        (("See [the wiki](http://x", ".y/z) now."), ["See the wiki", "now."]),
        (("Run `rm ", "x` now."), ["Run rm", "x now."]),
    ],
)
def test_an_interruption_in_the_middle_of_something_loses_and_repeats_nothing(
    pieces: tuple[str, str], heard: list[str]
) -> None:
    reader = PassageReader("en", "markdown")
    assert [passage.text for piece in pieces for passage in reader.read(piece, "all")] == heard


PARTS = st.sampled_from(
    """
    alpha |beta. |Gamma;|;;|- delta;|## Epsilon;|> zeta;|1. eta;|`theta` |**iota** |¦ kappa ¦ mu ¦;|¦---¦---¦;
    |```;|[nu](http://x.y) |é |漢字。|~~xi~~ |* |_|*|`|[|  - rho;""".replace("\n    ", "")
    .replace(";", "\n")
    .split("|")
).map(lambda part: part.replace("¦", "|"))


@given(st.lists(PARTS, max_size=25), st.data())
def test_every_word_is_heard_once_and_in_order(parts: list[str], data: st.DataObject) -> None:
    source = "".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(source)), max_size=5)))
    pieces = [source[start:end] for start, end in pairwise([0, *cuts, len(source)])]
    reader = PassageReader("en", "markdown")
    passages = [passage for piece in pieces for passage in reader.read(piece)] + reader.read("", "all")
    words = re.findall(r"alpha|beta|Gamma|delta|Epsilon|zeta|eta|theta|iota|kappa|mu|nu|漢字|xi", source)
    heard: list[str] = []
    for passage in passages:
        text = f"{passage.text} {passage.detail}" if passage.text.startswith("Code") else passage.text
        found = re.findall(r"alpha|beta|Gamma|delta|Epsilon|zeta|eta|theta|iota|kappa|mu|nu|漢字|xi", text)
        heard += found
    spare = [word for word in heard if word in ("kappa", "mu", *words)]
    assert [word for word in spare if heard.count(word) == words.count(word)] == [
        word for word in words if heard.count(word) == words.count(word)
    ]
    # A column's name is said with every row; nothing else is said twice, and nothing is lost.
    for word in {*words}:
        assert heard.count(word) >= words.count(word), (word, [passage.text for passage in passages])


def test_emoji_are_named_where_they_say_something() -> None:
    assert name_emoji("Weekly report 📊") == "Weekly report"
    assert name_emoji("✅ Tests pass ❌ Lint") == "check mark Tests pass cross mark Lint"
    assert name_emoji("👍🏽") == "thumbs up sign"
    assert name_emoji("Costs 5 € ©") == "Costs 5 € ©"
    assert name_emoji("👩‍👧 Family") == "Family"


def test_a_long_list_and_a_long_table_are_read_in_time() -> None:
    for line in ("- item with some words in it\n", "| a | b |\n"):
        reader = PassageReader("en", "markdown")
        reader.read("| A | B |\n|---|---|\n" if line.startswith("|") else "")
        assert sum(len(reader.read(line)) for _ in range(600)) >= 599


@pytest.mark.parametrize("text", ["42.", "42. ", "42.\n", "2026)"])
def test_an_answer_that_is_only_a_number_is_heard(text: str) -> None:
    assert [passage.text for passage in PassageReader().read(text, "all")] == [text.strip()]
    assert [passage.text for passage in PassageReader().read(f"How many?\n\n{text}", "all")] == [
        "How many?",
        text.strip(),
    ]


def test_a_number_that_was_heard_alone_keeps_the_text_after_it() -> None:
    reader = PassageReader()
    assert reader.read("1.", "sentences") == []
    waits = [reader.has_unspoken]
    assert [passage.text for passage in reader.read("", "all")] == ["1."]
    assert [*waits, reader.has_unspoken] == [True, False]
    assert [passage.text for passage in reader.read(" First of all.", "all")] == ["First of all."]
