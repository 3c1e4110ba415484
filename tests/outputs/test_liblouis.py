"""Text in braille, by real tables; what lou_translate says is the measure."""

from __future__ import annotations

import subprocess
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest

from aaep.outputs.liblouis import BrailleTranslator, Liblouis, LiblouisUnavailable
from aaep.presentation.braille import Translation, find_windows
from tests.braille import as_text

LIBLOUIS = Liblouis()
YORUBA = "Ṣé o fẹ́ pa fáìlì mẹ́rin rẹ́?"
TEXTS = {
    "en": ("en-ueb-g2.ctb", "The deletion of 4 files cannot be undone."),
    "en-GB": ("en-ueb-g2.ctb", "Shall I go on with it?"),
    "fr-CA": ("fr-bfu-g2.ctb", "Supprimer les quatre fichiers ?"),
    "de": ("de-g2.ctb", "Vier Dateien werden gelöscht."),
    "ar-EG": ("ar-ar-g2.ctb", "حذف أربعة ملفات"),
    "he": ("he-IL.utb", "למחוק ארבעה קבצים?"),
    "es": ("es-g1.ctb", "¿Borrar cuatro archivos?"),
    "pt-BR": ("pt-pt-g1.utb", "Apagar quatro arquivos?"),
    "sw": ("sw-ke-g1.utb", "Futa faili nne?"),
    "hi": ("hi-in-g1.utb", "चार फ़ाइलें हटाएँ?"),
    "ja": ("ja-kantenji.utb", "ファイルを削除"),
    "zh": ("zhcn-g1.ctb", "删除四个文件"),
    "zh-TW": ("zh-tw.ctb", "刪除四個檔案"),
    "pl": ("pl.tbl", "Zażółć gęślą jaźń."),  # found by what the table says of itself
}


def translator(notices: list[str] | None = None, **options: object) -> BrailleTranslator:
    notify = (lambda text: None) if notices is None else notices.append
    return BrailleTranslator(liblouis=LIBLOUIS, notify=notify, **options)  # type: ignore[arg-type]


def measure(table: str, text: str) -> str:
    """What the program of liblouis makes of a text."""
    command = ["lou_translate", "--forward", f"unicode.dis,{table}"]
    done = subprocess.run(command, input=text, capture_output=True, check=True, text=True, timeout=60)
    return done.stdout.strip("\n").replace(" ", "\u2800").rstrip("\u2800")


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_is_translated_by_the_table_of_its_language(language: str) -> None:
    table, text = TEXTS[language]
    notices: list[str] = []
    translate = translator(notices)
    text = unicodedata.normalize("NFC", text)
    assert translate.find_table(language) == table
    assert as_text(translate(text, language).cells) == measure(table, text)
    assert notices == []


@pytest.mark.parametrize(
    ("language", "table"), [("en", "en-ueb-g1.ctb"), ("fr", "fr-bfu-comp6.utb"), ("de", "de-g0.utb")]
)
def test_braille_without_contractions_can_be_preferred(language: str, table: str) -> None:
    text = TEXTS.get(language, TEXTS["fr-CA"])[1]
    assert as_text(translator(contracted=False)(text, language).cells) == measure(table, text)


@pytest.mark.parametrize("name", ["en-us-g2.ctb", "en-us-g2"])
def test_a_table_can_be_named_with_or_without_its_ending(name: str) -> None:
    translate = translator(table=name)
    assert as_text(translate("the people", "fr").cells) == measure("en-us-g2.ctb", "the people")


def test_a_named_table_does_not_have_to_know_every_script() -> None:
    translate = translator(table="en-us-g2.ctb")
    assert as_text(translate("שלום", "he").cells) == measure("he-IL.utb", "שלום")


def test_a_table_that_is_not_there_is_an_error_that_says_what_to_do() -> None:
    with pytest.raises(LiblouisUnavailable, match=r"no braille table called klingon\. Give the name of a file in /"):
        translator(table="klingon")


def test_a_library_that_is_not_there_is_an_error_that_says_what_to_install() -> None:
    with pytest.raises(LiblouisUnavailable, match=r"not installed\. On Debian: apt install liblouis20 liblouis-data"):
        Liblouis(["libnothing.so.1"])


@pytest.mark.parametrize(("language", "name"), [("yo-NG", "Yoruba"), ("ha", "Hausa"), ("ig", "Igbo"), ("xx", "xx")])
def test_a_language_without_a_table_is_told_once(language: str, name: str) -> None:
    notices: list[str] = []
    translate = translator(notices)
    for _ in range(3):
        translate("Pele o", language)
    assert notices == [f"There is no braille table for the language {name}. English letters are used."]


def test_no_letter_of_yoruba_hausa_or_igbo_is_lost_and_each_is_told_from_the_plain_one() -> None:
    notices: list[str] = []
    translate = translator(notices)
    letters = [
        "e",
        "ẹ",
        "é",
        "ẹ́",
        "ẹ̀",
        "o",
        "ọ",
        "ọ́",
        "s",
        "ṣ",
        "b",
        "ɓ",
        "d",
        "ɗ",
        "k",
        "ƙ",
        "i",
        "ị",
        "u",
        "ụ",
        "n",
        "ṅ",
    ]
    seen = [as_text(translate(unicodedata.normalize("NFC", letter), "yo").cells) for letter in letters]
    assert len(set(seen)) == len(letters)
    assert max(len(cells) for cells in seen) <= 3  # and not eight cells of digits
    assert notices[1:] == ["In braille, dot 8 marks a letter with a sign that the table lacks."]


def test_dot_8_is_added_to_the_letter_and_signs_that_the_table_knows_stay() -> None:
    translate = translator()
    assert as_text(translate("é", "yo").cells) == "⠘⠌⠑"
    assert as_text(translate(unicodedata.normalize("NFC", "ẹ́"), "yo").cells) == "⠘⠌⢑"
    assert as_text(translate("Ẹ", "yo").cells) == "⠠⢑"


def test_composed_and_decomposed_letters_of_a_normalized_text_are_the_same() -> None:
    translate = translator()
    whole = translate(unicodedata.normalize("NFC", YORUBA), "yo").cells
    taken_apart = translate(unicodedata.normalize("NFD", YORUBA), "yo").cells
    assert whole == taken_apart


def test_words_of_another_script_are_translated_by_a_table_of_that_script() -> None:
    cells = as_text(translator()("Delete שלום now", "en").cells)
    assert measure("he-IL.utb", "שלום") in cells
    assert cells.startswith(measure("en-ueb-g2.ctb", "Delete"))


def test_what_nothing_knows_is_spelt_as_a_number_and_not_dropped() -> None:
    assert len(translator()("😀", "en").cells) > 3


def test_paths_and_names_of_programs_are_not_contracted() -> None:
    cells = as_text(translator()("Open the/sting.py there", "en").cells)
    assert measure("en-ueb-g1.ctb", "the/sting.py") in cells
    assert cells.endswith(measure("en-ueb-g2.ctb", "there"))


@pytest.mark.parametrize("language", [*TEXTS, "yo"])
@pytest.mark.parametrize("width", [14, 38, 78])
def test_every_cell_knows_its_character_and_windows_break_between_words(language: str, width: int) -> None:
    text = unicodedata.normalize("NFC", " ".join([TEXTS.get(language, ("", YORUBA))[1]] * 4))
    translation: Translation = translator()(text, language)
    assert len(translation.cells) == len(translation.positions)
    assert [*translation.positions] == sorted(translation.positions)
    assert translation.positions[-1] < len(text)
    windows = find_windows(text, translation, width)
    assert [index for window in windows for index in window] == [*range(len(translation.cells))]


def test_a_long_text_is_translated_to_its_end() -> None:
    text = "Ọ̀rọ̀ " * 3000 + "end"
    translation = translator()(unicodedata.normalize("NFC", text), "yo")
    assert as_text(translation.cells).endswith(measure("en-ueb-g1.ctb", "end"))


def test_nothing_is_translated_to_nothing() -> None:
    assert translator()("", "en") == Translation(b"", ())
    assert translator()("\u2066\u2069", "en").cells == b""


def test_translators_of_several_threads_do_not_disturb_each_other() -> None:
    texts = {
        "en": "Four files are gone. " * 20,
        "fr": "Supprimer les quatre fichiers ? " * 20,
        "de": "Über Größe. " * 20,
    }
    expected = {language: BrailleTranslator()(text, language) for language, text in texts.items()}

    def translate(language: str) -> bool:
        return all(BrailleTranslator()(texts[language], language) == expected[language] for _ in range(30))

    with ThreadPoolExecutor() as pool:
        assert all(pool.map(translate, [*texts] * 2))
