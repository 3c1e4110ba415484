"""Boundaries in a growing text."""

from __future__ import annotations

from itertools import accumulate

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from aaep.text.sentences import Boundary, find_boundary, is_finished, split_at, split_by_length, split_with_hints

BOUNDARIES: tuple[Boundary, ...] = ("word", "sentence", "paragraph", "completion")
LANGUAGES = ("en", "de-AT", "fr", "es", "zh-Hant", "el", "hi", "yo", "")

# Everything that has gone wrong in texts like these: marks, spaces of all kinds, things that join what is beside them.
ODD = [
    *".!?…;,:\"'”“»«)(*-。！？、，؟।॥።။‼⁉1 5 \t\n\r\u00a0\u202f\u2028\u2029\u3000\u200b\u200d\u200c\u0301\ufe0f",
    *"aBéß\u0600🇩👩🏽😀각가क्षि你はАا",
    *["Dr.", "z.B.", "etc.", "U.S.", "No.", "\r\n", "\n\n", " »", "👩‍👧", "e\u0301", "क्ष", "1.", ". ", "... "],
]
# Text that goes on and on.
LONG = [
    "word ",
    "and ",
    "it, ",
    "x: ",
    "你好吗",
    "สวัสดี",
    "a" * 60,
    "é" * 40,
    "\n\n",
    "Dr. ",
    "5. ",
    "so。",
    "，",
    " ",
    "end. ",
]
texts = st.one_of(
    st.lists(st.sampled_from(ODD), max_size=30).map("".join),
    st.text(max_size=30),
    st.lists(st.sampled_from(LONG), min_size=20, max_size=120).map("".join),
)
boundaries = st.sampled_from(BOUNDARIES)
languages = st.sampled_from(LANGUAGES)


def ends(parts: list[str]) -> set[int]:
    return {*accumulate(map(len, parts))}


def clusters(text: str) -> set[int]:
    return {0, *accumulate(len(one) for one in regex.findall(r"\X", text))}


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["It costs 3.50 today. ", "Dr. Smith paid. ", "Thanks"]),
        ("en", ["Hello.  ", "World! ", "Why? ", "Because"]),
        ("en", ["Mr. J. R. Smith of the U.S. Army came. ", "He left."]),
        ("en", ["See No. 5, p. 3 and e.g. that. ", "No. ", "Not so."]),
        ("en", ["Apples, pears etc. and more. ", "Plums etc. ", "That was all."]),
        ("en", ["At 5 p.m. we met. ", "At 6 p.m. ", "We left."]),
        ("en", ["Well... maybe. ", "Wait... ", "What?! ", "Oh… ", "Hm… yes."]),
        ("en", ['"Really?" she asked. ', "“Yes.” ", "(Sure.) ", "**Bold.** ", "'So.' ", "Done."]),
        ("en", ["1. First. ", "It is.\n", "2. Second\n", "- IV. Fourth. ", "End"]),
        ("en", ["a heading\n", "and text\r\n", "and more\u2028", "still\n\n", "end"]),
        ("en", ["Visit example.org or x?a=1 or .NET now. ", "Ok"]),
        ("en", ["Dr.\u00a0No is here. ", "it is. ", "so it is."]),
        ("en", ["Great! ", "🎉 Next"]),
        (
            "de",
            ["Am 3. Oktober kam z. B. Hr. Maier, d.h. er. ", "Er sagte: „Ja.“ ", "Im Jahr 1990. ", "Gut usw. ", "So."],
        ),
        ("de", ["»Nein!« ", "Er ging. ", "»Warum?« fragte sie."]),
        ("fr", ["« Quoi\u202f?\u202f» dit M. Dupont. ", "« Non ! » ", "Puis Mme. Roux vint."]),
        ("es", ["¿Qué? ", "¡No! ", "El Sr. López y la Dra. Gil, pág. 3. ", "Fin"]),
        ("el", ["Τι; ", "Ναι. ", "Όχι"]),
        ("zh", ["你好。", "“好！”他说。", "我说：“不！”", "再见。", "真的？！", "「是。」", "好……吧。 ", "再见"]),
        ("ja", ["３．５です。", "はい！", "（え？）", "では"]),
        ("hi", ["नमस्ते।", "ठीक है॥ ", "अच्छा"]),
        ("ar", ["هل؟", "نعم. ", "لا"]),
        ("am", ["ሰላም።", "እሺ"]),
        ("my", ["မင်္ဂလာပါ။", "ဟုတ်"]),
        ("ur", ["ہاں۔ ", "نہیں"]),
        ("en", ["He flew to the U.S. ", "It was late. ", "The U.S. Navy, e.g. The Fleet, knew J. I. Lee."]),
        ("en", ["So I took vitamin D. ", "We both did. ", "It was Plan B. Smith agreed."]),
        ("en", ["Run `make. Then go.` now. ", "Use `a. b`! ", "It prints `Done.` ", "We see `x. Y`"]),
        ("en", ["Apples etc. *and* more. ", "Plums etc. ", "*All* done."]),
        ("de", ["Kapitel 3. ", "Danach am 4. Tag, 5. Mai oder 6. mal. ", "In der Hauptstr. 5 ist es. ", "So."]),
        ("cs", ["Bylo to 3. října. ", "Ano."]),
        ("es", ["—¿Sí? —dijo él. ", "—No. ", "— Ya. ", "— La puerta. ", "El Sr. Gil vino a las 5 p. m. ", "La cena"]),
        ("ja", ["「はい。」と言う。", "「いいえ。」", "「またね。」", "`x`です。", "`y`です。", "“本当？”の話。"]),
        ("ja", ["そうです。", "**注意**が必要。", '"次"です。* ', "では"]),
        ("ar", ["«لماذا؟» سأل د. علي. ", "قال: «لا.» ", "ثم خرج."]),
        ("hi", ["डॉ. ए. के. राय आए। ", "वह गया. ", "“हाँ।” उसने कहा। "]),
        ("th", ["วันนี้เราไปเดินเล่นที่สวน ", "แล้วกลับบ้าน ", "เขาซื้อ 3 ชิ้น ราคา 9.50 บาท ที่ร้าน ABC ใน กทม. เมื่อวานนี้ ", "ดีมาก"]),
        ("th", ["เสร็จแล้วค่ะ ", "README อยู่ที่นี่ ", "คุณ สมชาย ใจดี และ นาย ก. มา ", "ส่วนเรา ช้า ๆ ไป"]),
    ],
)
def test_sentences(language: str, expected: list[str]) -> None:
    """C-82, CF-081"""
    assert split_at("".join(expected), "sentence", language) == expected


WORDS = "one two three four five six seven eight nine ten"


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", [f"{WORDS} {WORDS} {WORDS[:23]} ", f"{WORDS} {WORDS} {WORDS[:23]} ", WORDS]),
        ("en", [f"{WORDS} {WORDS}, ", f"{WORDS} {WORDS} and that is all."]),
        ("en", ["x" * 300, "x" * 300, "x" * 5]),
        ("zh", ["我们今天去公园散步然后回家吃饭看书听音乐" * 2 + "，", "我们今天去公园散步然后回家吃饭看书听音乐" * 2]),
        ("km", ["ថ្ងៃនេះយើងទៅដើរលេង " * 6, "ថ្ងៃនេះយើងទៅដើរលេង " * 4]),
    ],
)
def test_text_without_marks_is_cut_after_a_clause_or_some_25_words(language: str, expected: list[str]) -> None:
    assert split_at("".join(expected), "sentence", language) == expected


@pytest.mark.parametrize(
    ("text", "eager", "finished"),
    [
        ("Hello", False, False),
        ("Hello.", False, True),
        ("Hello. ", True, True),
        ("Really! ", True, True),
        ("Apples etc. ", False, True),  # and more
        ("I asked Dr. ", False, False),
        ("I asked Dr.", False, False),
        ("1. ", False, False),
        ("Wait... ", False, True),  # for it
        ("a heading\n", True, True),
        ("Hello.\n\n", True, True),
        ("Hello.\r", False, True),  # \n may follow
        ("你好。", True, True),
        ("「你好。", False, True),  # 」 may follow
        ("真的？", False, True),  # ！ may follow
        ("เสร็จแล้วครับ", False, True),
        ("เสร็จแล้วครับ ", True, True),
        ("เสร็จแล้ว ", False, False),
        ('She said "No."', False, True),
        ("see example.org/page.", False, True),
    ],
)
def test_a_sentence_that_has_ended_is_recognised(text: str, eager: bool, finished: bool) -> None:
    assert find_boundary(text, "sentence", eager=True) == (len(text) if eager else 0)
    assert is_finished(text) is finished


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("", 0),
        ("Hello", 0),
        ("Hello.", 0),  # may become Hello.txt
        ("Hello. ", 0),  # more white space would belong to it
        ("Hello. W", 7),
        ("Hello.\n", 0),
        ("Hello.\nW", 7),
        ("It costs 3.", 0),
        ("It costs 3. ", 0),
        ("It costs 3.5", 0),
        ("Dr.", 0),
        ("Dr. S", 0),
        ("你好。", 0),  # a closing mark may follow
        ("你好。」", 0),
        ("你好。」再", 4),
        ("One. Two. Thr", 10),
        ("Hm... ", 0),
        ("Hm... y", 0),
        ("Hm... Y", 6),
        ("Hello. \u0301W", 0),  # a space that carries an accent is not between sentences
        (" \n Hello. W", 10),
    ],
)
def test_a_sentence_end_is_told_when_it_is_sure(text: str, length: int) -> None:
    assert find_boundary(text, "sentence") == length
    assert find_boundary(text, "sentence", final=True) == len(text)


@pytest.mark.parametrize(
    "expected",
    [
        ["Hello ", "there,  ", "you"],
        ["10\u202f000 ", "Dr.\u00a0No ", "x"],
        ["你好，", "世界。", "「是」、", "再见 ", "吧"],
        ["ሰላም፡", "ነው"],
        ["สวัสดี\u200b", "ครับ"],
        ["\n\n Hello\n\n", "you"],
    ],
)
def test_words(expected: list[str]) -> None:
    assert split_at("".join(expected), "word") == expected


@pytest.mark.parametrize(
    "expected",
    [
        ["One.\nStill one.\n\n", "Two\n \t\n\n  ", "Three\r\n\r\n", "Four\r\nstill\u2029", "Five\n"],
        ["\n\n"],
        ["\n\nOne"],
    ],
)
def test_paragraphs(expected: list[str]) -> None:
    assert split_at("".join(expected), "paragraph") == expected


def test_completion_comes_with_the_end_and_not_before() -> None:
    assert find_boundary("One.\n\nTwo.\n\nThree", "completion") == 0
    assert find_boundary("One.\n\nTwo", "completion", final=True) == 9
    assert split_at("One.\n\nTwo", "completion") == ["One.\n\nTwo"]
    assert split_at("", "sentence") == []


@given(st.lists(texts, max_size=8), boundaries, languages)
def test_what_is_sent_one_after_another_is_the_text(chunks: list[str], boundary: Boundary, language: str) -> None:
    """However the text grows; and each is cut where the whole finished text is."""
    sent: list[str] = []
    held = ""
    for chunk in chunks:
        held += chunk
        length = find_boundary(held, boundary, language=language)
        if length:
            sent.append(held[:length])
            held = held[length:]
    length = find_boundary(held, boundary, final=True, language=language)
    if length:
        sent.append(held[:length])
    text = "".join(chunks)
    assert "".join(sent) == text
    assert ends(sent) <= ends(split_at(text, boundary, language))


@given(texts, texts, boundaries, languages)
def test_nothing_is_taken_back(text: str, more: str, boundary: Boundary, language: str) -> None:
    length = find_boundary(text, boundary, language=language)
    assert length <= find_boundary(text + more, boundary, language=language)
    assert length in {0, *ends(split_at(text, boundary, language))}
    assert length in {0, *ends(split_at(text + more, boundary, language))}


plain = st.lists(
    st.sampled_from([*" \t\n\r.!?)\"'*;,1xA", "no", "Dr", "IV", "so. ", "A word. ", "words here"]), max_size=20
)


@given(plain.map("".join), languages)
def test_the_short_way_for_plain_text_cuts_where_the_long_one_does(text: str, language: str) -> None:
    """Text that is all ASCII is cut with fewer looks; whole texts in pieces are not."""
    assert find_boundary(text, "sentence", language=language) == sum(
        map(len, split_at(text, "sentence", language)[:-1])
    )


@given(texts, boundaries, languages)
def test_every_prefix_of_a_text_agrees_with_it(text: str, boundary: Boundary, language: str) -> None:
    whole = {0, *ends(split_at(text, boundary, language))}
    assert {find_boundary(text[:size], boundary, language=language) for size in range(len(text) + 1)} <= whole


@given(texts, boundaries, languages)
def test_no_piece_ends_inside_a_cluster(text: str, boundary: Boundary, language: str) -> None:
    """C-60, I18N-028"""
    assert ends(split_at(text, boundary, language)) <= clusters(text)
    length = find_boundary(text, boundary, language=language)
    assert length == 0 or length < len(text), "the last cluster is held back"


@given(texts, languages)
def test_a_paragraph_end_is_a_sentence_end_and_that_is_a_word_end(text: str, language: str) -> None:
    found = [ends(split_at(text, boundary, language)) for boundary in BOUNDARIES]
    assert found[3] <= found[2] <= found[1] <= found[0]


@given(texts, boundaries, languages)
def test_white_space_belongs_to_the_piece_before(text: str, boundary: Boundary, language: str) -> None:
    parts = split_at(text, boundary, language)
    assert "".join(parts) == text
    assert all(parts)
    assert not any(regex.match(r"[ \t\r\n\u2028\u2029\u3000\u00a0]", part) for part in parts[1:])


@example("\u094de\u0301", 2, "en")
@given(texts, st.integers(1, 12), languages)
def test_a_split_text_keeps_to_the_limit(text: str, limit: int, language: str) -> None:
    """CF-082"""
    parts = split_by_length(text, limit, language)
    assert "".join(parts) == text
    assert all(0 < len(part) <= limit for part in parts)
    if all(len(one) <= limit for one in regex.findall(r"\X", text)):
        assert ends(parts) <= clusters(text)


def test_a_text_is_split_at_the_best_boundary_there_is() -> None:
    """CF-082: all but the last carry the boundary used."""
    text = "One two.\n\nThree four. Five six seven eight nineteentwentyone👩‍👧👩‍👧 end"
    assert split_with_hints(text, 16) == [
        ("One two.\n\n", "paragraph"),
        ("Three four. ", "sentence"),
        ("Five six seven ", "word"),
        ("eight ", "word"),
        ("nineteentwentyon", "none"),
        ("e👩‍👧👩‍👧 end", "completion"),
    ]
    assert split_by_length("a👩‍👧b", 3) == ["a", "👩‍👧", "b"]
    assert split_by_length("xक्षिy", 4) == ["x", "क्षि", "y"], "a conjunct is one cluster"
    assert split_by_length("x" + "\u0301" * 5, 4) == ["x\u0301\u0301\u0301", "\u0301\u0301"], "the limit is a hard one"
    pieces = split_by_length("a" * 40000, 16384)
    assert "".join(pieces) == "a" * 40000 and max(map(len, pieces)) <= 16384
    assert split_by_length("", 5) == []


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_admits_nothing_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        split_by_length("text", limit)


@pytest.mark.parametrize("boundary", ["word", "sentence", "paragraph"])
@pytest.mark.parametrize("mark", ["Dr. ", ". ", "...", "\n ", "\r", '."', "。", "1. ", "\u00a0", "\u0301", "a."])
def test_a_long_text_of_one_mark_is_cut_in_one_pass(boundary: Boundary, mark: str) -> None:
    """No pattern goes back over what it has read: this would not end."""
    text = mark * 50000
    assert find_boundary(text, boundary) <= len(text)


@pytest.mark.parametrize(
    "sentences",
    [
        [
            "บทความนี้เขียนโดย ดร. มานี ใจงาม ",
            "ตรวจทานโดย ผศ. สมบัติ ทองดี ",
            "ผู้รับเอกสารฉบับสุดท้ายคือ นพ. วิชัย สุขสันต์ ",
            "โปรดอ่านก่อนวันศุกร์",
        ],
        [
            "เครื่องพิมพ์อยู่ในห้อง 305 ",
            "แต่กุญแจอยู่กับคุณมาลี ",
            "ตั๋วสองใบราคา 350 บาท ",
            "เราจองที่นั่งแถว 7 ให้คุณแล้ว ",
            "มีคนสมัคร 12 แล้ว ",
            "การประชุมครั้งต่อไปคือวันที่ 12 ",
            "ถ้าไม่สะดวกช่วยบอกฉันก่อน",
        ],
        ["กดปุ่มบันทึก ", "หลังจากนั้นปิดหน้าต่างนี้ ", "ไฟล์ถูกส่งแล้ว ", "ต้องการพิมพ์ออกมาด้วยไหมครับ"],
    ],
    ids=["names with abbreviated titles", "after numbers", "by the first letters of the next clause"],
)
def test_thai_sentences_end_at_spaces_that_a_reader_breathes_at(sentences: list[str]) -> None:
    text = "".join(sentences)
    assert split_at(text, "sentence", "th") == sentences
    for index in range(1, len(sentences)):
        ended = "".join(sentences[:index])
        following = sentences[index][:4]  # about one token
        assert find_boundary(ended + following, "sentence", language="th") == len(ended)
