"""
Making fewer events of many, while the stream stays legal. C-85, CF-071, CF-072, CF-074, CF-082

A :class:`Stretch` gathers the fragments of one output and gives them out in
pieces. A :class:`Line` keeps finished events that wait for the rate, and makes
them fewer: text of one output is joined, a chain of states becomes one change,
of progress only the latest is kept. :func:`condense` does the same to a run of
events for a reader that is slow.

**Ids.** An event that went through whole keeps its id. Whoever resumes from the
journal after an id gets everything that was appended after the event it names,
so the name of a made event says how far its text goes:

* ``evt_3m2``: two originals in whole, the last being evt_3 (C-85).
* ``evt_3m1<position><length>``: text that begins or ends inside an original.
  The last original that it finishes is evt_3, so what was begun after it is
  read again. Position and length make the name belong to this text only; the
  number is over a million, which a number of parts is not.
* ``evt_3p<position>x<length>``: text from inside evt_3 that finishes no
  original. The journal knows no such name, and the reader is caught up.

A name that would be too long becomes a digest, which the journal does not know
either.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, TypeVar

import msgspec
from msgspec import UNSET

from ..protocol import codec
from ..protocol.attend_extension import attend_member
from ..protocol.events import TERMINAL, Envelope, OutputStreaming, ProgressUpdated, StateChanged, output_language
from ..protocol.fields import MERGED, PIECE
from ..protocol.subscription import is_critical
from ..protocol.timestamps import is_later
from ..text.sentences import CoalesceHint, split_with_hints

__all__ = ["MergingQueue", "OutputBuffer", "clamp_timestamp", "condense", "fold_states", "is_resync"]

MAX_CHUNK_CHARACTERS: Final = 16_384  # LIM-011: a chunk's ceiling
MAX_EVENT_BYTES: Final = 65_536  # LIM-001
SAFE_CHUNK_CHARACTERS: Final = (
    4_096  # a chunk that cannot be too many bytes: a character is six of them at most, escaped
)
MAX_MERGED_PARTS: Final = 1_000_000
_MERGED_ID: Final = re.compile(MERGED)
_PIECE_ID: Final = re.compile(PIECE)
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_MAX_ID_LENGTH: Final = len("evt_") + 64

E = TypeVar("E", bound=Envelope)


# -- ids -----------------------------------------------------------------------------------


def _shorten_id(id_: str) -> str:
    return id_ if len(id_) <= _MAX_ID_LENGTH else "evt_" + sha256(id_.encode()).hexdigest()[:40]


def _merged_id(last: str, parts: int) -> str:
    """C-85: the id of several originals in whole."""
    return _shorten_id(f"{last}m{parts}")


def _partial_merge_id(last: str, position: int, length: int) -> str:
    """The id of a text whose ends are not those of originals; ``last`` is the last original that it finishes."""
    return _shorten_id(f"{last}m1{position}{length:05d}")


def _piece_id(within: str, position: int, length: int) -> str:
    """The id of a text that finishes no original."""
    return _shorten_id(f"{within}p{position}x{length}")


def _parse_id(id_: str) -> tuple[str, int]:
    """The original an id is named after, and of how many it is made: over a million if ragged, 0 if inside one."""
    inside = _PIECE_ID.fullmatch(id_)
    if inside is not None:
        return inside[1], 0
    whole = _MERGED_ID.fullmatch(id_)
    return (id_, 1) if whole is None else (whole[1], int(whole[2]))


def _joined_id(first: OutputStreaming, second: OutputStreaming) -> str:
    """What two neighbours are called as one."""
    (one, parts), (other, more) = _parse_id(first.event_id), _parse_id(second.event_id)
    if 0 < parts < MAX_MERGED_PARTS and 0 < more < MAX_MERGED_PARTS:
        return _merged_id(other, parts + more)
    length = len(first.chunk) + len(second.chunk)
    if more or parts:
        return _partial_merge_id(other if more else one, first.position, length)
    return _piece_id(other, first.position, length)


# -- two become one ------------------------------------------------------------------------


def is_resync(event: Envelope) -> bool:
    """C-36: whether this catches a reader up; it names a state and leaves none."""
    return attend_member(event, "resync") is True


def can_fold_states(first: StateChanged, second: StateChanged) -> bool:
    """
    Whether two changes of one agent may be told as one.

    A change away from awaiting_input says that a prompt is closed (CF-025), so
    it is always told. What an extension adds to a change is not lost.
    """
    return (
        "awaiting_input" not in (first.from_state, second.from_state)
        and first.extensions is UNSET
        and not is_resync(second)
        and not is_critical(first)
    )


def fold_states(first: StateChanged, second: StateChanged) -> StateChanged | None:
    """CF-072: A to B and B to C is A to C, in the words of the last; nothing if that is no change."""
    if first.from_state == second.to_state:
        return None
    parts = [_parse_id(event.event_id) for event in (first, second)]
    id_ = _merged_id(parts[1][0], parts[0][1] + parts[1][1])
    return codec.replace(second, event_id=id_, from_state=first.from_state)


def is_mergeable(event: OutputStreaming) -> bool:
    """Whether nothing hangs on the event but its text."""
    return event.extensions is UNSET and event.raw is None and event.urgency != "critical"


def is_compatible(one: OutputStreaming, other: OutputStreaming) -> bool:
    """Whether two chunks of an output may be one: the same language, kind of text and sender (OUT-012, C-84)."""
    return (
        one.language == other.language
        and one.content_type == other.content_type
        and one.localization_hints == other.localization_hints
        and one.urgency == other.urgency
        and one.producer == other.producer
        and one.correlation_id == other.correlation_id
    )


def join_chunks(first: OutputStreaming, second: OutputStreaming) -> OutputStreaming | None:
    """Two chunks as one, or None if they do not belong together or would be too long (CF-082)."""
    text = first.chunk + second.chunk
    if (
        first.complete
        or second.position != first.position + len(first.chunk)
        or not (is_mergeable(first) and is_mergeable(second) and is_compatible(first, second))
        or len(text) > _max_chunk_length(second, text)
    ):
        return None
    id_ = _joined_id(first, second)
    return adjust_text_direction(msgspec.structs.replace(second, event_id=id_, chunk=text, position=first.position))


def _max_chunk_length(event: OutputStreaming, text: str) -> int:
    """CF-082: how many characters of a text fit a chunk, so that the event has at most 64 KiB."""
    if len(text) <= SAFE_CHUNK_CHARACTERS:
        return MAX_CHUNK_CHARACTERS
    spent = len(msgspec.json.encode(msgspec.structs.replace(event, chunk=""))) + _MAX_ID_LENGTH
    plain = text.isascii() and len(msgspec.json.encode(text)) == len(text) + 2
    return max(1, min(MAX_CHUNK_CHARACTERS, (MAX_EVENT_BYTES - spent) // (1 if plain else 6)))


def adjust_text_direction(event: OutputStreaming) -> OutputStreaming:
    """I18N-035: text that was put together may run both ways; then it says that its own letters decide."""
    text, hints = event.chunk, event.localization_hints
    if text.isascii() or hints is UNSET or hints.text_direction == "auto" or not _RIGHT_TO_LEFT.search(text):
        return event
    if "L" not in {unicodedata.bidirectional(char) for char in text}:
        return event
    return msgspec.structs.replace(event, localization_hints=msgspec.structs.replace(hints, text_direction="auto"))


def clamp_timestamp(event: E, stamp: str) -> E:
    """The event, not older than what its session has told already: a made event is never dated back (C-14)."""
    return codec.replace(event, timestamp=stamp) if stamp and is_later(stamp, event.timestamp) else event


# -- the text of one output ----------------------------------------------------------------


class OutputBuffer:
    """A run of an output's text that has not been given out yet, and the fragments it came in."""

    __slots__ = (
        "deadline",
        "fragments",
        "is_first_fragment_split",
        "last_fragment",
        "position",
        "soft_length",
        "text",
    )

    def __init__(self, position: int) -> None:
        self.position = position  # where the text begins in its output, in code points (C-44)
        self.text = ""
        self.fragments: list[tuple[OutputStreaming, int]] = []  # and where each ends
        self.is_first_fragment_split = False  # a part of the first fragment has been given out
        self.last_fragment: OutputStreaming | None = None
        self.soft_length = 0  # how much may be given out when nothing more comes
        self.deadline = 0.0  # and when

    def can_append(self, event: OutputStreaming) -> bool:
        """Whether the chunk goes on where this ends."""
        if event.position != self.position + len(self.text):
            return False
        return self.last_fragment is None or is_compatible(self.last_fragment, event)

    def append(self, event: OutputStreaming) -> None:
        self.text += event.chunk
        self.fragments.append((event, self.position + len(self.text)))
        self.last_fragment = event

    def take(self, length: int, hint: CoalesceHint) -> list[OutputStreaming]:
        """The first so many characters, in as few events as their size allows; the last ends at this boundary."""
        event = self.last_fragment
        assert event is not None  # there is text, or an end to tell
        text = self.text[:length]
        limit = _max_chunk_length(event, text)
        if length <= limit:
            return [self._take_piece(length, hint)]
        cut = split_with_hints(text, limit, output_language(event))
        given = [self._take_piece(len(piece), end) for piece, end in cut[:-1]]
        return [*given, self._take_piece(len(cut[-1][0]), hint)]

    def take_overflow(self) -> list[OutputStreaming]:
        """CF-082: what has to be cut off anyway, since no event holds more; keeps a long wait from growing."""
        given: list[OutputStreaming] = []
        while self.last_fragment is not None and len(self.text) > MAX_CHUNK_CHARACTERS:
            window = self.text[: MAX_CHUNK_CHARACTERS + 1]
            limit = _max_chunk_length(self.last_fragment, window)
            piece, hint = split_with_hints(window, limit, output_language(self.last_fragment))[0]
            given.append(self._take_piece(len(piece), hint))
        return given

    def _take_piece(self, length: int, hint: CoalesceHint) -> OutputStreaming:
        start, end = self.position, self.position + length
        done = 0
        while done < len(self.fragments) and self.fragments[done][1] <= end:
            done += 1
        even = done > 0 and self.fragments[done - 1][1] == end
        source = self.fragments[done - 1 if even else done][0]
        if even and done == 1 and not self.is_first_fragment_split:
            piece = source if source.coalesce_hint == hint else msgspec.structs.replace(source, coalesce_hint=hint)
        else:
            if not done:
                id_ = _piece_id(source.event_id, start, length)
            elif even and not self.is_first_fragment_split:
                id_ = _merged_id(source.event_id, done)
            else:
                id_ = _partial_merge_id(self.fragments[done - 1][0].event_id, start, length)
            piece = msgspec.structs.replace(
                source,
                event_id=id_,
                chunk=self.text[:length],
                position=start,
                complete=source.complete and even,
                coalesce_hint=hint,
            )
            piece = adjust_text_direction(piece)
        del self.fragments[:done]
        self.text, self.position, self.is_first_fragment_split = self.text[length:], end, not even
        return piece


# -- what waits for the rate ---------------------------------------------------------------


class MergingQueue:
    """
    Events that wait, in order, and as few as is legal.

    Order among the events of one agent in a session is kept; text of two
    outputs in parallel does not count as order. What is merged stands where the
    last of it came in, so events leave in the order in which the journal has
    their last parts.
    """

    __slots__ = ("_last_number", "_merge_candidates", "items")

    def __init__(self) -> None:
        self.items: dict[int, tuple[Envelope, float]] = {}
        self._last_number = 0
        # By session and agent: what the next event of a kind, or of an output, could be merged with.
        self._merge_candidates: dict[tuple[str, str], dict[object, int]] = {}

    def __len__(self) -> int:
        return len(self.items)

    def oldest_time(self) -> float:
        """When the oldest came in, or the first part of it."""
        return min(since for _, since in self.items.values())

    def add(self, event: Envelope, now: float) -> None:
        places = self._merge_candidates.setdefault((event.session_id, event.producer.agent_id), {})
        if isinstance(event, OutputStreaming):
            self._add_text(event, places, now)
        elif isinstance(event, StateChanged):
            self._add_state(event, places, now)
        elif isinstance(event, ProgressUpdated):
            self._add_progress(event, places, now)
        else:
            self._forget_candidates(places, ProgressUpdated)
            self._append(event, now)

    def stop_merging(self, session_id: str, agent: str) -> None:
        """Nothing that comes is merged with what this agent has in line."""
        self._merge_candidates.pop((session_id, agent), None)

    def pop(self) -> Envelope:
        """What stands first."""
        event, _ = self.items.pop(next(iter(self.items)))
        if not self.items:
            self._merge_candidates.clear()
        return event

    def drain(self, session_id: str | None = None) -> list[Envelope]:
        """Everything of a session, or everything."""
        taken = [n for n, (one, _) in self.items.items() if session_id is None or one.session_id == session_id]
        events = [self.items.pop(number)[0] for number in taken]
        if not self.items:
            self._merge_candidates.clear()
        return events

    def _append(self, event: Envelope, now: float) -> int:
        self._last_number += 1
        self.items[self._last_number] = (event, now)
        return self._last_number

    def _forget_candidates(self, places: dict[object, int], *but: object) -> None:
        for kind in [kind for kind in places if kind not in but]:
            del places[kind]

    def _add_text(self, event: OutputStreaming, places: dict[object, int], now: float) -> None:
        number = places.get(event.output_id, 0)
        before, since = self.items.get(number, (None, now))
        both = join_chunks(before, event) if isinstance(before, OutputStreaming) else None
        places.pop(StateChanged, None)
        if both is not None:
            del self.items[number]
        places[event.output_id] = self._append(event if both is None else both, now if both is None else since)

    def _add_state(self, event: StateChanged, places: dict[object, int], now: float) -> None:
        before, since = self.items.get(places.get(StateChanged, 0), (None, now))
        self._forget_candidates(places, ProgressUpdated, StateChanged)
        if not (isinstance(before, StateChanged) and can_fold_states(before, event)):
            places[StateChanged] = self._append(event, now)
            return
        del self.items[places.pop(StateChanged)]
        both = fold_states(before, event)
        if both is not None:
            places[StateChanged] = self._append(both, since)

    def _add_progress(self, event: ProgressUpdated, places: dict[object, int], now: float) -> None:
        before, _ = self.items.get(places.get(ProgressUpdated, 0), (None, now))
        if before is not None and before.extensions is UNSET:
            del self.items[places[ProgressUpdated]]
        self._forget_candidates(places, StateChanged)
        places[ProgressUpdated] = self._append(event, now)


def condense(events: Sequence[Envelope]) -> list[Envelope]:
    """
    A run of shaped events made as few as is legal, for a reader that is slow. CF-083

    Nothing crosses a critical or a terminal event, of whatever session.
    """
    fewer: list[Envelope] = []
    line = MergingQueue()
    for event in events:
        if is_critical(event) or isinstance(event, TERMINAL):
            fewer += line.drain()
            fewer.append(event)
        else:
            line.add(event, 0.0)
    return fewer + line.drain()
