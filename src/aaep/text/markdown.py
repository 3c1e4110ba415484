"""
Markdown by ear: what a growing text of markdown means, in passages that can be spoken.

A heading is announced as one, a list item by its number, a table row with its
column names, code by its language and length; emphasis, fences and rules are
silent. What is left out can be asked for: the address of a link, the code itself.

The text grows, and what was spoken cannot be taken back. So a block is spoken
when no more text can change what it is: a paragraph sentence by sentence, a row or
a heading when its line has ended, code when it is closed. The parser reads the
unfinished part again each time, which begins at the last block that may still grow.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import regex

from .phrases import ENGLISH, Phrases, ensure_full_stop
from .sentences import find_boundary, is_finished, split_at

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["Passage", "PassageReader", "name_emoji"]


class Passage(NamedTuple):
    """A sentence to be spoken, or something announced in place of what it stands for."""

    text: str
    source: str  # what it was made of
    detail: str = ""  # what is spoken on request; empty if the text is all


# -- inline text ---------------------------------------------------------------------------

_INLINE_MARKUP: Final = re.compile(
    r"(?<![\w*])\*{1,3}(?=[^\s*])[^*\n]*[^\s*]\*{1,3}(?![\w*])"  # *emphasis* and **strong**
    r"|(?<!\w)__?(?=[^\s_])[^\n]*?[^\s_]__?(?!\w)"
    r"|(?<![\w*])\*\*(?=\w)"  # not closed yet
    r"|~~(?=\S)[^\n]*?\S~~"
    r"|`[^`\n]+`"
    r"|!?\[[^\]\n]*\]\([^()\s]*(?:\s+\"[^\"\n]*\")?\)"  # a link or an image
)
# A line that may still become the beginning of another kind of block.
_BLOCK_BEGINNING: Final = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*|[-+*_][-*_ \t]*|\d{1,9}[.)]?[ \t]*|`{1,3}|~{1,3}|\|.*)?\Z"
)
# To the parser the number of an item without any text, to a person an answer: "42."
_BARE_NUMBER: Final = re.compile(r"^[ \t]*(\d{1,9}[.)])\s*\Z", re.MULTILINE)
_LOOSE_EMPHASIS: Final = re.compile(r"\*\*|__(?=\w)|(?<=\w)__|~~|(?<![\w*])\*(?=\w)|(?<=[\w.!?])\*(?![\w*])")
_TASK: Final = re.compile(r"\[([ xX])\][ \t]+")

# Emoji that say something; all others are decoration beside words.
_TELLING_EMOJI: Final = frozenset("✅❌⚠✔✖❗❓⛔🚫🔴🟢🟡🟠☑➡⬅⬆⬇👍👎")
_EMOJI_CLUSTER: Final = regex.compile(
    r"(?:\p{Regional_Indicator}{2}|[0-9#*]\ufe0f?\u20e3|(?:\p{Emoji_Presentation}|\p{Extended_Pictographic})"
    r"[\p{Emoji_Modifier}\ufe0f]*(?:\u200d(?:\p{Extended_Pictographic})[\p{Emoji_Modifier}\ufe0f]*)*)",
    regex.V1,
)
_SPACE_BEFORE_MARK: Final = re.compile(r" (?=[.,;:!?](?:\s|$))")
_NOT_EMOJI: Final = frozenset("©®™")


def name_emoji(text: str, *, is_all: bool = True) -> str:
    """
    Replace emoji that carry meaning, or stand alone, by their names; leave the others out.

    ``is_all`` says that there is no other text before it, of which an emoji could be an ornament.
    """
    if text.isascii() or _EMOJI_CLUSTER.search(text) is None:
        return text
    stands_alone = is_all and not any(char.isalnum() for char in _EMOJI_CLUSTER.sub("", text))

    def replace(match: regex.Match[str]) -> str:
        cluster = match[0]
        if cluster[0] in _NOT_EMOJI or cluster[0].isascii():
            return cluster.replace("\ufe0f", "").replace("\u20e3", "")
        if not (stands_alone or cluster[0] in _TELLING_EMOJI):
            return ""
        name = unicodedata.name(cluster[0], "").lower().removeprefix("white heavy ").removeprefix("heavy ")
        return f" {name} " if name else ""

    named = " ".join(_EMOJI_CLUSTER.sub(replace, text).split())
    return _SPACE_BEFORE_MARK.sub("", named)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415  # takes 50 ms, and many agents write no markdown

    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


def _describe_image(text: str, phrases: Phrases) -> str:
    return phrases.format("markdown-image", text=text) if text else phrases["markdown-picture"]


def _speak_inline(source: str, phrases: Phrases) -> tuple[str, str]:
    """Return what inline markdown says: its words, and its words with the addresses of links."""
    words: list[str] = []
    details: list[str] = []
    address = ""
    for token in _parser().parseInline(source)[0].children or ():
        if token.type == "link_open":
            address = str(token.attrs.get("href", ""))
        elif token.type == "link_close":
            if address:
                details.append(f" ({address})")
            address = ""
        elif token.type == "image":
            image = _describe_image(token.content, phrases)
            words.append(image)
            details.append(image)
        elif token.type in ("text", "code_inline"):
            content = token.content if token.type == "code_inline" else _LOOSE_EMPHASIS.sub("", token.content)
            words.append(content)
            details.append(content)
        elif token.type in ("softbreak", "hardbreak"):
            words.append(" ")
            details.append(" ")
    return name_emoji("".join(words)), name_emoji("".join(details))


class _OpenInline(NamedTuple):
    """Inline markup that a text ends inside of: what goes before its rest, and what would close it."""

    before: str = ""
    after: str = ""


_CLOSED: Final = _OpenInline()


def _find_open_inline(text: str) -> _OpenInline:
    """Return the inline code or link that a text ends inside of."""
    if text.count("`") % 2:
        return _OpenInline("`", "`")
    if text.rfind("[") > text.rfind("]"):
        return _OpenInline("[", "](x)")
    if re.search(r"\]\([^)\s]*\Z", text) is not None:
        return _OpenInline("[](", ")")
    return _CLOSED


def _speak_rest_of_line(block: _Block, source: str, start: int, phrases: Phrases) -> str:
    """Return the words of a heading or a row from ``start`` on; cells that begin there have their columns' names."""
    opening = _find_open_inline(source[:start]).before
    first, *cells = f"{opening}{source[start:]}".split("\n", 1)[0].split("|")
    if block.kind != "row":
        return _speak_cells("|".join((first, *cells)), phrases)
    index = source[:start].count("|") - source.lstrip().startswith("|") + 1
    words = [_speak_inline(first.strip(), phrases)[0].strip()]
    for column, cell in zip(block.columns[index:], cells, strict=False):
        if cell.strip():
            spoken = [_speak_inline(each.strip(), phrases)[0] for each in (column, cell)]
            words.append(phrases.format("markdown-cell", column=spoken[0], cell=spoken[1]))
    return phrases.join(filter(None, words))


def _speak_cells(text: str, phrases: Phrases) -> str:
    """Return the words of a part of a table's row."""
    cells = [_speak_inline(cell.strip(), phrases)[0].strip() for cell in text.split("|")]
    return phrases.join(filter(None, cells))


# -- blocks --------------------------------------------------------------------------------


class _Block(NamedTuple):
    """A part of a text that is announced by itself: a paragraph, a heading, a row of a table, or code."""

    kind: str  # paragraph, heading, header, row, code or html
    content: str
    first_line: int
    end_line: int
    root: int  # the first line of the outermost block around it, or of the outermost item of a list
    label: str = ""  # bullet, number or quote, for the first block of one
    number: str = ""  # of a numbered item
    columns: tuple[str, ...] = ()  # the header of its table
    cells: tuple[str, ...] = ()
    language: str = ""  # of code
    attributes: str = ""  # what follows the language of code
    is_fenced: bool = False
    is_closed: bool = True  # no more text can change it


class _BlockWalker:
    """Collects the blocks of a parsed text, in order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._blocks: list[_Block] = []
        self._root = 0
        self._list_kinds: list[str] = []  # of the lists that are open, outermost first
        self._label = ""  # of the item or quotation whose first block is to come
        self._number = ""
        self._heading: Token | None = None
        self._is_header = False
        self._columns: tuple[str, ...] = ()
        self._cells: list[str] = []
        self._row_lines = (0, 0)

    def walk(self, tokens: Sequence[Token]) -> list[_Block]:
        """Return the blocks of a parsed text."""
        for token in tokens:
            if token.level == 0 and token.map is not None:
                self._root = token.map[0]
            self._visit(token)
        return self._blocks

    def _visit(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._list_kinds.append("bullet" if token.type == "bullet_list_open" else "number")
            case "bullet_list_close" | "ordered_list_close":
                self._list_kinds.pop()
            case "list_item_open":
                if len(self._list_kinds) == 1 and token.level == 1:
                    self._root = _get_lines(token)[0]
                self._label = self._list_kinds[-1] + ("-nested" if len(self._list_kinds) > 1 else "")
                self._number = token.info
            case "blockquote_open":
                self._label = "quote"
            case "heading_open":
                self._heading = token
            case "thead_open" | "thead_close":
                self._is_header = token.type == "thead_open"
            case "tr_open":
                self._cells = []
                self._row_lines = _get_lines(token)
            case "tr_close":
                self._add_row()
            case "table_close":
                self._columns = ()
            case "inline":
                self._add_inline(token)
            case "fence" | "code_block":
                language, *attributes = token.info.split(maxsplit=1) or [""]
                self._add(
                    "code",
                    token,
                    language=language,
                    attributes=" ".join(attributes).strip(),
                    is_fenced=token.type == "fence",
                    is_closed=self._is_closed_code(token),
                )
            case "html_block":
                self._add("html", token, is_closed=False)

    def _add_inline(self, token: Token) -> None:
        if self._row_lines != (0, 0):
            self._cells.append(token.content)
        else:
            outer = self._heading or token  # the lines of a heading include those that underline it
            self._add("paragraph" if self._heading is None else "heading", token, lines=_get_lines(outer))
            self._heading = None

    def _add_row(self) -> None:
        first, end = self._row_lines
        self._row_lines = (0, 0)
        cells = tuple(self._cells)
        if self._is_header:
            self._columns = cells
        kind = "header" if self._is_header else "row"
        self._blocks.append(_Block(kind, "", first, end, self._root, columns=self._columns, cells=cells))

    def _add(
        self,
        kind: str,
        token: Token,
        *,
        lines: tuple[int, int] | None = None,
        language: str = "",
        attributes: str = "",
        is_fenced: bool = False,
        is_closed: bool = True,
    ) -> None:
        first, end = lines or _get_lines(token)
        self._blocks.append(
            _Block(
                kind,
                token.content,
                first,
                end,
                self._root,
                label=self._label,
                number=self._number,
                language=language,
                attributes=attributes,
                is_fenced=is_fenced,
                is_closed=is_closed,
            )
        )
        self._label = ""
        self._number = ""

    def _is_closed_code(self, token: Token) -> bool:
        """Whether the closing fence of code has come; indented code has none."""
        first, end = _get_lines(token)
        if token.type != "fence" or end - 1 <= first:
            return False
        last = self._lines[end - 1].strip(" \t>")
        return len(last) >= len(token.markup) and not last.strip(token.markup[0])


def _get_lines(token: Token) -> tuple[int, int]:
    first, end = token.map or (0, 0)
    return first, end


# -- reading a growing text ----------------------------------------------------------------

_Extent = Literal["sentences", "boundary", "all"]
# Without any of these a text is no markdown.
_POSSIBLE_MARKUP: Final = re.compile(r"[#*_`|>~\[\]]|^[ \t]*(?:[-+=]|\d{1,9}[.)])", re.MULTILINE)
_LONG_CODE_LINES: Final = 8  # about two seconds of a fast model
_MAX_OPEN_LENGTH: Final = 600  # characters for which inline code or a link may stay open


class PassageReader:
    """
    Reads a growing text and gives the passages that can be spoken.

    ``markup`` is ``markdown`` where the text is known to be that, ``auto``
    where plain text may be, and ``none`` where signs are to be read as signs.
    """

    def __init__(
        self,
        language: str = "en",
        markup: Literal["markdown", "auto", "none"] = "auto",
        phrases: Phrases = ENGLISH,
    ) -> None:
        self._phrases = phrases  # of the listener
        self._language = language
        self._markup = markup
        self._source = ""
        self._spoken_blocks = 0  # blocks of the source that were given
        self._spoken_length = 0  # characters of the next block that were given
        self._has_spoken = False

    @property
    def has_unspoken(self) -> bool:
        """Whether there is text that was not given yet."""
        return bool(self._unspoken())

    @property
    def is_finished(self) -> bool:
        """Whether the text that was not given yet ends with a sentence."""
        return is_finished(self._unspoken().rstrip("*_`~ "), self._language)

    @property
    def ends_in_code(self) -> bool:
        """Whether the text ends in a block of code, of which no words are given."""
        if self._markup == "none" or not self._may_have_markup():
            return False
        blocks = self._parse()
        return bool(blocks) and blocks[-1].kind in ("code", "html")

    def _unspoken(self) -> str:
        if not self._spoken_blocks and not self._spoken_length:
            return self._source
        blocks = self._parse()
        if self._spoken_blocks >= len(blocks):
            return self._find_bare_number(blocks)
        block = blocks[self._spoken_blocks]
        return block.content[self._spoken_length :] or " ".join(block.cells) or self._find_bare_number(blocks)

    def read(self, text: str, extent: _Extent = "sentences") -> list[Passage]:
        """
        Add text, and return the passages that are complete with it.

        ``boundary`` says that a sentence ends with the text, and ``all`` that
        something else follows, or nothing.
        """
        self._source += text
        if self._markup == "none" or not self._may_have_markup():
            return self._read_plain(extent)
        passages: list[Passage] = []
        blocks = self._parse()
        lines = self._source.split("\n")
        for block in blocks[self._spoken_blocks :]:
            is_last = block is blocks[-1]
            passages += self._speak(block, lines, extent if is_last else "all")
            if is_last and not self._is_over(block, lines, extent):
                break
            self._spoken_blocks += 1
            self._spoken_length = 0
        number = self._find_bare_number(blocks) if extent == "all" else ""
        if number:
            self._source = ""
            self._spoken_blocks = 0
            self._spoken_length = 0
            return [*passages, Passage(number, number)]
        self._forget_spoken(blocks, lines)
        return passages

    def _find_bare_number(self, blocks: Sequence[_Block]) -> str:
        """Return the number that the text ends with, if it stands alone in its line and belongs to no block."""
        match = _BARE_NUMBER.search(self._source)
        if match is None:
            return ""
        line = self._source.count("\n", 0, match.start(1))
        return match[1] if all(block.end_line <= line for block in blocks) else ""

    def _may_have_markup(self) -> bool:
        if self._spoken_blocks or self._spoken_length or _POSSIBLE_MARKUP.search(self._source):
            return True
        return self._markup == "markdown" and "\n" in self._source

    def _read_plain(self, extent: _Extent) -> list[Passage]:
        size = self._find_end(self._source, extent)
        pieces = split_at(self._source[:size], "sentence", self._language)
        self._source = self._source[size:]
        passages = []
        for piece in pieces:
            passages.append(Passage(name_emoji(piece, is_all=not self._has_spoken).strip(), piece))
            self._has_spoken = self._has_spoken or any(map(str.isalnum, piece))
        return passages

    def _parse(self) -> list[_Block]:
        return _BlockWalker(self._source.split("\n")).walk(_parser().parse(self._source))

    def _find_end(self, text: str, extent: _Extent) -> int:
        if extent != "sentences":
            return len(text)
        return find_boundary(text, "sentence", eager=True, language=self._language)

    # -- speaking blocks --------------------------------------------------------------------

    def _speak(self, block: _Block, lines: Sequence[str], extent: _Extent) -> list[Passage]:
        """Return the passages of a block that are complete."""
        if block.kind == "paragraph":
            return self._speak_paragraph(block, lines, extent)
        if extent != "all" and not self._is_over(block, lines, extent):
            return self._announce_long_code(block) if block.kind == "code" else []
        source = "\n".join(lines[block.first_line : block.end_line])
        if block.kind == "code":
            return [_describe_code(block, source, self._phrases)]
        if block.kind == "html":
            words, detail = _speak_inline(block.content, self._phrases)
            return [Passage(words.strip(), source, detail.strip())] if words.strip() else []
        return self._speak_line(block, source)

    def _announce_long_code(self, block: _Block) -> list[Passage]:
        """Return the notice that code is coming, once there is so much of it that silence would be long."""
        if self._spoken_length or block.content.count("\n") < _LONG_CODE_LINES:
            return []
        self._spoken_length = 1
        parts = (self._phrases["markdown-code"], block.language, self._phrases["markdown-coming"])
        return [Passage(f"{self._phrases.join(filter(None, parts))}.", "")]

    def _speak_line(self, block: _Block, source: str) -> list[Passage]:
        """Return a heading or a row, or what has come of one since its beginning was given."""
        spoken_length = self._spoken_length
        self._spoken_length = len(source)
        if spoken_length:
            rest = _speak_rest_of_line(block, source, spoken_length, self._phrases)
            return [Passage(rest, source[spoken_length:])] if rest else []
        if block.kind != "heading":
            return [_speak_row(block, source, self._phrases)]
        words, detail = (ensure_full_stop(each.strip()) for each in _speak_inline(block.content, self._phrases))
        text, more = (self._phrases.format("markdown-heading", text=each) for each in (words, detail))
        return [Passage(text, source, more if more != text else "")] if words else []

    def _is_over(self, block: _Block, lines: Sequence[str], extent: _Extent) -> bool:
        """Whether the last block is complete, so that no more text belongs to it."""
        if block.kind == "paragraph":
            return False
        if block.kind in ("code", "html"):
            return extent == "all" or block.is_closed
        return block.end_line < len(lines)  # its line has ended

    def _speak_paragraph(self, block: _Block, lines: Sequence[str], extent: _Extent) -> list[Passage]:
        content = block.content
        is_plain = self._markup == "auto" and not block.label and _INLINE_MARKUP.search(content) is None
        if not is_plain:
            content = content.replace("\n", " ")
        text = content[self._spoken_length :]
        if extent != "all":
            text = text[: self._find_sure_end(block, lines, text, extent, is_plain=is_plain)]
        passages = []
        for piece in self._split_sentences(text):
            opening = _find_open_inline(content[: self._spoken_length])
            closing = _find_open_inline(content[: self._spoken_length + len(piece)])
            if is_plain:
                words = detail = name_emoji(piece)
            elif piece.lstrip().startswith("|"):
                words = detail = _speak_cells(piece, self._phrases)
            else:
                words, detail = _speak_inline(f"{opening.before}{piece.strip()}{closing.after}", self._phrases)
            task = _TASK.match(piece) if block.label and not self._spoken_length else None
            if task is not None:
                words, detail = (each[len(task[0]) :] for each in (words, detail))
            is_first = not self._spoken_length
            self._spoken_length += len(piece)
            if words.strip():
                spoken, more = words.strip(), detail.strip()
                if is_first:
                    spoken, more = (_label(block, task, each, self._phrases) for each in (spoken, more))
                passages.append(Passage(spoken, piece, more if more != spoken else ""))
        return passages

    def _find_sure_end(self, block: _Block, lines: Sequence[str], text: str, extent: _Extent, *, is_plain: bool) -> int:
        """Return how much of the last paragraph can be spoken while the text goes on."""
        last_line = lines[-1]
        is_line_ended = not last_line.strip()
        if block.first_line == block.end_line - 1 and lines[block.first_line].lstrip(" \t>").startswith("|"):
            return 0  # the next line tells whether it is the header of a table
        if _BLOCK_BEGINNING.match(last_line) and not is_line_ended:
            return 0
        is_paragraph_over = is_line_ended and len(lines) - 1 > block.end_line
        is_wrapped = is_line_ended and not is_paragraph_over and not block.label and not is_plain
        if is_wrapped and not is_finished(text, self._language):
            extent = "sentences"  # the line ends, and the sentence does not
        ended = f"{text} " if is_line_ended else text
        size = len(text) if is_paragraph_over else min(len(text), self._find_end(ended, extent))
        while size and len(text) - size < _MAX_OPEN_LENGTH and _find_open_inline(text[:size]) is not _CLOSED:
            size = find_boundary(text[: size - 1], "sentence", language=self._language) if size > 1 else 0
        return size

    def _split_sentences(self, text: str) -> Iterator[str]:
        """Yield the sentences of a text, none of which ends inside code or a link."""
        held = ""
        for piece in split_at(text, "sentence", self._language):
            held += piece
            if _find_open_inline(held) is _CLOSED:
                yield held
                held = ""
        if held:
            yield held

    # -- forgetting -------------------------------------------------------------------------

    def _forget_spoken(self, blocks: Sequence[_Block], lines: Sequence[str]) -> None:
        """Drop the text of blocks that were given and that nothing can be added to."""
        if not blocks:
            if not self._source.strip():
                self._source = ""
            return
        current = blocks[min(self._spoken_blocks, len(blocks) - 1)]
        is_all_spoken = self._spoken_blocks == len(blocks)
        kept = lines[current.root :]
        dropped = sum(block.root < current.root for block in blocks)
        if current.kind in ("header", "row"):
            # The header stays, for the rows to come.
            header = next(block for block in blocks if block.root == current.root)
            kept = [
                *lines[header.first_line : header.first_line + 2],
                *lines[max(current.first_line, header.end_line + 1) :],
            ]
            dropped = blocks.index(current) - (current.kind == "row")
        elif current.kind == "code" and is_all_spoken and not current.is_closed:
            kept = [lines[current.first_line], *lines[current.end_line :]]  # the code may go on
            if not current.is_fenced:
                kept = lines[current.end_line :]
            dropped = len(blocks)
        elif current.kind in ("heading", "code") and is_all_spoken and current.root == current.first_line:
            kept = lines[current.end_line :]
            dropped = len(blocks)
        self._spoken_blocks -= dropped
        self._source = "\n".join(kept)


def _label(block: _Block, task: re.Match[str] | None, text: str, phrases: Phrases) -> str:
    """Return the text of a paragraph after what it is."""
    if task is not None:
        return phrases.format("markdown-unchecked" if task[1] == " " else "markdown-checked", text=text)
    if block.label.startswith("number"):
        return phrases.format("markdown-number", number=block.number, text=text)
    return phrases.format(f"markdown-{block.label}", text=text) if block.label else text


def _describe_code(block: _Block, source: str, phrases: Phrases) -> Passage:
    code = block.content.rstrip("\n")
    count = len(code.split("\n")) if code else 0
    size = phrases.format("markdown-lines", count=count) if count else ""
    parts = filter(None, (phrases["markdown-code"], block.language, size))
    text = f"{phrases.join(parts)}."
    details = [part for part in (block.attributes, code) if part]  # what follows the language is often a file name
    return Passage(text, source, "\n".join([text, *details]) if details else "")


def _speak_row(block: _Block, source: str, phrases: Phrases) -> Passage:
    cells = [_speak_inline(cell, phrases)[0].strip() for cell in block.cells]
    columns = [_speak_inline(column, phrases)[0].strip() for column in block.columns]
    if block.kind == "header":
        return Passage(phrases.format("markdown-table", columns=phrases.join(filter(None, cells))), source)
    pairs = [
        phrases.format("markdown-cell", column=column, cell=cell) if column else cell
        for column, cell in zip(columns, cells, strict=False)
        if cell
    ]
    return Passage(ensure_full_stop(phrases.join(pairs)), source)
