"""
Text in braille, with the tables of liblouis that are installed.

Each language has its own code, usually a contracted one, chosen by language tag. Where there is no table, and for
characters that a table does not know, nothing is dropped: a word in another script is translated by a table of that
script, and a letter with a sign that no table knows is shown as the plain letter with dot 8 added.

The library is called through ctypes, one call at a time in the whole process, as it is not made for several threads.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import itertools
import re
import threading
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from ..errors import AaepError
from ..presentation.braille import Translation
from ..text.graphemes import find_grapheme_starts
from ..text.languages import describe_language, is_well_formed_tag, match_language
from ..text.phrases import ENGLISH, Phrases

__all__ = ["BrailleTranslator", "Liblouis", "LiblouisUnavailable"]

LIBRARY_NAMES: Final = ("liblouis.so.20", "liblouis.so.21", "liblouis.so", "liblouis.dylib", "liblouis.dll")
TABLE_FOLDERS: Final = ("/usr/share/liblouis/tables", "/usr/local/share/liblouis/tables")
TABLE_ENDINGS: Final = ("", ".ctb", ".utb", ".tbl")
DOT_8: Final = 0b10000000

_DOTS_IO: Final = 4  # cells instead of the characters of some display table
_UNICODE_BRAILLE: Final = 64
_NO_UNDEFINED: Final = 128  # nothing for a character that the table does not know
_NO_CONTRACTION_FORM: Final = 0x1000
_LOG_OFF: Final = 60000
_FIRST_BRAILLE_CHAR: Final = 0x2800
_LOCK: Final = threading.Lock()  # one for all of the process: the tables and buffers of the library are global

# The code that most readers of a language know, and the one without contractions.
_TABLES: Final[Mapping[str, tuple[str, str]]] = {
    "en": ("en-ueb-g2.ctb", "en-ueb-g1.ctb"),
    "fr": ("fr-bfu-g2.ctb", "fr-bfu-comp6.utb"),
    "de": ("de-g2.ctb", "de-g0.utb"),
    "ar": ("ar-ar-g2.ctb", "ar-ar-g1.utb"),
    "he": ("he-IL.utb", "he-IL.utb"),
    "es": ("es-g1.ctb", "es-g1.ctb"),
    "pt": ("pt-pt-g1.utb", "pt-pt-g1.utb"),
    "sw": ("sw-ke-g1.utb", "sw-ke-g1.utb"),
    "hi": ("hi-in-g1.utb", "hi-in-g1.utb"),
    "ja": ("ja-kantenji.utb", "ja-kantenji.utb"),
    "zh-Hans": ("zhcn-g1.ctb", "zhcn-g1.ctb"),
    "zh-Hant": ("zh-tw.ctb", "zh-tw.ctb"),
    "zh-Hant-HK": ("zh-hk.ctb", "zh-hk.ctb"),
    "zh-HK": ("zh-hk.ctb", "zh-hk.ctb"),
}
_FALLBACK_TABLE: Final = "en-ueb-g1.ctb"
_LANGUAGES_BY_SCRIPT: Final[Mapping[str, str]] = {  # by the first word of a character's name
    "HEBREW": "he",
    "ARABIC": "ar",
    "DEVANAGARI": "hi",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh-Hans",
    "CYRILLIC": "ru",
    "GREEK": "el",
    "HANGUL": "ko",
    "THAI": "th",
    "LATIN": "en",
}
_PLAIN_LETTERS: Final = {  # letters that Unicode does not take apart
    "ɓ": "b", "Ɓ": "B", "ɗ": "d", "Ɗ": "D", "ƙ": "k", "Ƙ": "K", "ƴ": "y", "Ƴ": "Y", "ŋ": "n", "Ŋ": "N",
    "ɛ": "e", "Ɛ": "E", "ɔ": "o", "Ɔ": "O", "ı": "i", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ø": "o", "Ø": "O",
}  # fmt: skip
# Paths, addresses and names of programs are spelt out: contractions are for words.
_CODE: Final = re.compile(r"\S*[/\\_@=<>{}$]\S*|\S+\.[A-Za-z]\w{0,4}\b\S*|--?\w\S*|\S+\(\)\S*")


class LiblouisUnavailable(AaepError):
    """Liblouis or a table of it is not installed."""


class Liblouis:
    """The library itself: cells for a text by the name of a table."""

    def __init__(self, library_names: Sequence[str] = LIBRARY_NAMES, *, phrases: Phrases = ENGLISH) -> None:
        self._library = _load_library(library_names, phrases)
        self._library.lou_setLogLevel(_LOG_OFF)  # otherwise it writes to the terminal
        self._char_size: int = self._library.lou_charSize()
        self._encoding = "utf-32-le" if self._char_size == 4 else "utf-16-le"
        self._library.lou_findTable.restype = ctypes.c_void_p  # which nobody can free
        self._is_indexed = False

    def has_table(self, name: str) -> bool:
        """Whether a table is installed and can be used."""
        with _LOCK:
            return bool(self._library.lou_checkTable(name.encode()))

    def find_table(self, language: str, *, contracted: bool) -> str:
        """Return a table for a language by what the tables say of themselves, empty if there is none."""
        literary = f"language:{language} type:literary"
        contractions = (" contraction:full",) if contracted else ()
        with _LOCK:
            self._index_tables()
            for contraction in (*contractions, " contraction:no", ""):
                query = f"{literary}{contraction}"
                found = self._library.lou_findTable(query.encode())
                if found:
                    return ctypes.string_at(found).decode()
        return ""

    def _index_tables(self) -> None:
        if self._is_indexed:
            return
        self._is_indexed = True
        folders = [Path(folder) for folder in TABLE_FOLDERS if Path(folder).is_dir()]
        names = sorted({path.name for folder in folders for path in folder.iterdir() if path.suffix in TABLE_ENDINGS})
        array = (ctypes.c_char_p * (len(names) + 1))(*(name.encode() for name in names), None)
        self._library.lou_indexTables(array)

    def translate(
        self, table: str, text: str, forms: Sequence[int] = (), *, drops_unknown: bool = False
    ) -> Translation:
        """Return the cells of a text, each with the position of the character that it belongs to."""
        if not text:
            return Translation(b"", ())
        if self._char_size == 2:  # in which others would take two units, and all positions be wrong
            text = "".join(char if char <= "\uffff" else "\ufffd" for char in text)
        data = text.encode(self._encoding)
        mode = _DOTS_IO | _UNICODE_BRAILLE | (_NO_UNDEFINED if drops_unknown else 0)
        capacity = len(text) * 16 + 64
        while True:
            consumed = ctypes.c_int(len(text))
            produced = ctypes.c_int(capacity)
            cells = ctypes.create_string_buffer(capacity * self._char_size)
            outgoing = (ctypes.c_int * capacity)()
            incoming = (ctypes.c_int * capacity)()
            typeforms = (ctypes.c_ushort * capacity)(*forms) if forms else None
            with _LOCK:
                is_done = self._library.lou_translate(
                    table.encode(),
                    ctypes.create_string_buffer(data, len(data)),
                    ctypes.byref(consumed),
                    cells,
                    ctypes.byref(produced),
                    typeforms,
                    None,
                    outgoing,
                    incoming,
                    None,
                    mode,
                )
            if not is_done:
                raise LiblouisUnavailable(f"The braille table {table} cannot be used. Install liblouis-data.")
            if consumed.value >= len(text) or capacity > len(text) * 256:
                break
            capacity *= 2
        chars = cells.raw[: produced.value * self._char_size].decode(self._encoding)
        return Translation(
            bytes(max(ord(char) - _FIRST_BRAILLE_CHAR, 0) & 0xFF for char in chars),
            _make_monotonic(incoming[: produced.value], len(text)),
        )


def _load_library(names: Sequence[str], phrases: Phrases) -> ctypes.CDLL:
    found = (name for name in (*names, ctypes.util.find_library("louis") if names is LIBRARY_NAMES else None) if name)
    for name in found:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise LiblouisUnavailable(phrases["braille-library"])


def _make_monotonic(positions: Iterable[int], length: int) -> tuple[int, ...]:
    """Return positions that never go back: what a code writes before its letter belongs where it stands."""
    monotonic: list[int] = []
    highest = 0
    for position in positions:
        highest = max(highest, min(position, max(length - 1, 0)))
        monotonic.append(highest)
    return tuple(monotonic)


class _Prepared(msgspec.Struct):
    """A part of a text for one table: its characters, where each was in the text, and which get dot 8."""

    table: str
    chars: list[str] = msgspec.field(default_factory=list)
    positions: list[int] = msgspec.field(default_factory=list)
    marked: list[int] = msgspec.field(default_factory=list)  # indexes of characters


class BrailleTranslator:
    """
    Translates the texts of one person, each by its language.

    ``table`` is used for every language, as far as it knows the characters. ``notify`` is called with a sentence
    from ``phrases``, once for each language without a table and once when letters are marked with dot 8.
    """

    def __init__(
        self,
        *,
        table: str = "",
        contracted: bool = True,
        language: str = "en",
        phrases: Phrases = ENGLISH,
        notify: Callable[[str], None] = lambda text: None,
        liblouis: Liblouis | None = None,
    ) -> None:
        self.notify = notify
        self._phrases = phrases
        self._liblouis = liblouis or Liblouis(phrases=phrases)
        self._is_contracted = contracted
        self._language = language
        if not self._liblouis.has_table(_FALLBACK_TABLE):
            raise LiblouisUnavailable("The braille tables are missing. On Debian: apt install liblouis-data.")
        self._table = self._find_named_table(table) if table else ""
        self._tables: dict[str, str] = {}  # by language; empty without one
        self._known: dict[tuple[str, str], bool] = {}  # by table and character
        self._reported_languages: set[str] = set()
        self._has_reported_marks = False

    def _find_named_table(self, name: str) -> str:
        for ending in TABLE_ENDINGS:
            if self._liblouis.has_table(f"{name}{ending}"):
                return f"{name}{ending}"
        raise LiblouisUnavailable(
            f"There is no braille table called {name}. Give the name of a file in {TABLE_FOLDERS[0]}."
        )

    def __call__(self, text: str, language: str) -> Translation:
        """Return the cells of a text in a language; without one, in the person's own."""
        tag = language or self._language
        table = self._table or self.find_table(tag)
        if not table:
            self._report_language(tag)
            table = _FALLBACK_TABLE
        cells = bytearray()
        positions: list[int] = []
        for part in self._prepare(text, table):
            translation = self._translate_part(part)
            cells += translation.cells
            positions += [part.positions[index] for index in translation.positions]
        return Translation(bytes(cells), _make_monotonic(positions, len(text)))

    def find_table(self, language: str) -> str:
        """Return the table for a language, empty if none is installed."""
        if language not in self._tables:
            self._tables[language] = self._choose_table(language)
        return self._tables[language]

    def _choose_table(self, language: str) -> str:
        match = match_language([language], [*_TABLES])
        names: list[str] = [*_TABLES[match]] if match is not None else []
        for name in names if self._is_contracted else names[::-1]:
            if self._liblouis.has_table(name):
                return name
        if not is_well_formed_tag(language):
            return ""
        name = self._liblouis.find_table(language.partition("-")[0].lower(), contracted=self._is_contracted)
        return name if name and self._liblouis.has_table(name) else ""

    # -- characters that a table does not know ---------------------------------------------

    def _prepare(self, text: str, table: str) -> list[_Prepared]:
        """Divide a text into parts for one table each, with every letter that the table knows or its plain form."""
        parts = [_Prepared(table)]
        starts = sorted(find_grapheme_starts(text))
        for start, end in itertools.pairwise(starts):
            grapheme = text[start:end]
            chars = "".join(char for char in grapheme if unicodedata.category(char) not in ("Cc", "Cf"))
            is_marked = False
            part_table = table
            if chars and not all(self._is_known(table, char) for char in chars):
                plain = self._find_plain(table, chars)
                other_table = "" if plain else self._find_script_table(chars)
                is_marked = bool(plain)
                chars = plain or chars
                part_table = other_table or table
            elif chars == " ":
                part_table = parts[-1].table  # so that words of one script stay together
            if part_table != parts[-1].table:
                parts.append(_Prepared(part_table))
            part = parts[-1]
            if is_marked:
                part.marked.append(len(part.chars))
                self._report_marks()
            part.chars += chars
            part.positions += [start] * len(chars)
        return [part for part in parts if part.chars]

    def _is_known(self, table: str, char: str) -> bool:
        if char.isascii():
            return True
        if (table, char) not in self._known:
            # What it does not know it spells as a number. A sign that it knows may still have no cell of its own.
            spelt = self._liblouis.translate(table, char).cells
            self._known[table, char] = spelt == self._liblouis.translate(table, char, drops_unknown=True).cells
        return self._known[table, char]

    def _find_plain(self, table: str, grapheme: str) -> str:
        """
        Return a letter without the signs that a table does not know, empty if it does not know the letter either.

        ẹ́ in a table that knows é but no dot below becomes é.
        """
        decomposed = unicodedata.normalize("NFD", grapheme)
        base = decomposed[0]
        plain = _PLAIN_LETTERS.get(base, base)
        if not plain.isalpha() or not self._is_known(table, plain):
            return ""
        for sign in decomposed[1:]:
            composed = unicodedata.normalize("NFC", plain + sign)
            if len(composed) == len(plain) and self._is_known(table, composed[-1]):
                plain = composed
            elif len(composed) > len(plain) and self._is_known(table, sign):
                plain += sign
        return plain

    def _find_script_table(self, grapheme: str) -> str:
        """Return a table that knows a character of another script, empty if there is none."""
        script = unicodedata.name(grapheme[0], "").partition(" ")[0]
        language = _LANGUAGES_BY_SCRIPT.get(script, "")
        table = self.find_table(language) if language else ""
        return table if table and all(self._is_known(table, char) for char in grapheme) else ""

    def _translate_part(self, part: _Prepared) -> Translation:
        text = "".join(part.chars)
        forms: list[int] = []
        if self._is_contracted and (codes := [*_CODE.finditer(text)]):
            forms = [0] * len(text)
            for code in codes:
                forms[code.start() : code.end()] = [_NO_CONTRACTION_FORM] * (code.end() - code.start())
        translation = self._liblouis.translate(part.table, text, forms)
        cells = bytearray(translation.cells)
        for index in part.marked:
            of_letter = [cell for cell, position in enumerate(translation.positions) if position <= index]
            if of_letter:
                cells[of_letter[-1]] |= DOT_8
        return Translation(bytes(cells), translation.positions)

    # -- notices ---------------------------------------------------------------------------

    def _report_language(self, language: str) -> None:
        primary = language.partition("-")[0].lower()
        if primary not in self._reported_languages:
            self._reported_languages.add(primary)
            name = describe_language(primary, self._phrases.language)
            self.notify(self._phrases.format("braille-no_table", language=name))

    def _report_marks(self) -> None:
        if not self._has_reported_marks:
            self._has_reported_marks = True
            self.notify(self._phrases["braille-marks"])
