"""
Merge events so that fewer are sent and the stream stays valid. C-85, CF-071, CF-072, CF-074, CF-082

An :class:`OutputBuffer` collects the fragments of one output and releases them
in pieces. A :class:`MergingQueue` holds finished events that wait for the rate
limit and reduces them: text of one output is joined, a chain of state changes
becomes one change, and of progress only the latest is kept. :func:`condense`
does the same to a list of events for a slow reader.

**Ids.** An event that is passed on unchanged keeps its id. A reader that resumes
from the journal after an id gets everything that was appended after the event
with that id, so the id of a merged event says how far its text goes:

* ``evt_3m2``: two complete originals, the last being evt_3 (C-85).
* ``evt_3m1<position><length>``: text that begins or ends inside an original.
  evt_3 is the last original that it completes, so an original that was only
  begun after it is read again. Position and length make the id unique to this
  text; the number is over a million, which a count of originals never is.
* ``evt_3p<position>x<length>``: text from inside evt_3 that completes no
  original. The journal has no such id, so the reader gets a catch-up instead.

An id that would be too long becomes a digest, which the journal does not have
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
from ..protocol.fields import MERGED_ID_PATTERN, PIECE_ID_PATTERN
from ..protocol.subscription import is_critical
from ..protocol.timestamps import is_later
from ..text.sentences import CoalesceHint, split_with_hints

__all__ = ["MergingQueue", "OutputBuffer", "clamp_timestamp", "condense", "fold_states", "is_resync"]

MAX_CHUNK_CHARACTERS: Final = 16_384  # LIM-011: a chunk's ceiling
MAX_EVENT_BYTES: Final = 65_536  # LIM-001
SAFE_CHUNK_CHARACTERS: Final = 4_096  # never too many bytes: an escaped character has at most six
MAX_MERGED_PARTS: Final = 1_000_000  # a larger number in an id means position and length
_MERGED_ID: Final = re.compile(MERGED_ID_PATTERN)
_PIECE_ID: Final = re.compile(PIECE_ID_PATTERN)
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_MAX_ID_LENGTH: Final = len("evt_") + 64

E = TypeVar("E", bound=Envelope)


# -- ids -----------------------------------------------------------------------------------


def _shorten_id(id_: str) -> str:
    return id_ if len(id_) <= _MAX_ID_LENGTH else "evt_" + sha256(id_.encode()).hexdigest()[:40]


def _merged_id(last_id: str, parts: int) -> str:
    """Return the id of an event that holds several complete originals (C-85)."""
    return _shorten_id(f"{last_id}m{parts}")


def _partial_merge_id(last_id: str, position: int, length: int) -> str:
    """Return the id of text that begins or ends inside an original; ``last_id`` is the last it completes."""
    return _shorten_id(f"{last_id}m1{position}{length:05d}")


def _piece_id(original_id: str, position: int, length: int) -> str:
    """Return the id of text that completes no original."""
    return _shorten_id(f"{original_id}p{position}x{length}")


def _parse_id(id_: str) -> tuple[str, int]:
    """
    Return the original that an id is derived from, and the number of originals in it.

    The number is over a million for a partial merge and 0 for a piece.
    """
    piece = _PIECE_ID.fullmatch(id_)
    if piece is not None:
        return piece[1], 0
    merged = _MERGED_ID.fullmatch(id_)
    return (id_, 1) if merged is None else (merged[1], int(merged[2]))


def _joined_id(first: OutputStreaming, second: OutputStreaming) -> str:
    """Return the id of two neighbouring chunks joined."""
    first_original, first_parts = _parse_id(first.event_id)
    second_original, second_parts = _parse_id(second.event_id)
    if 0 < first_parts < MAX_MERGED_PARTS and 0 < second_parts < MAX_MERGED_PARTS:
        return _merged_id(second_original, first_parts + second_parts)
    length = len(first.chunk) + len(second.chunk)
    if second_parts or first_parts:
        return _partial_merge_id(second_original if second_parts else first_original, first.position, length)
    return _piece_id(second_original, first.position, length)


# -- merging two events --------------------------------------------------------------------


def is_resync(event: Envelope) -> bool:
    """Whether this is the state change of a catch-up, which names a state and leaves none (C-36)."""
    return attend_member(event, "resync") is True


def can_fold_states(first: StateChanged, second: StateChanged) -> bool:
    """
    Whether two state changes of one agent may be sent as one.

    A change away from awaiting_input says that a prompt is closed (CF-025), so it
    is always sent. A change that carries extension members is not dropped either.
    """
    return (
        "awaiting_input" not in (first.from_state, second.from_state)
        and first.extensions is UNSET
        and not is_resync(second)
        and not is_critical(first)
    )


def fold_states(first: StateChanged, second: StateChanged) -> StateChanged | None:
    """
    Merge A to B and B to C into A to C with the texts of the second (CF-072).

    Return None if the state is the same before and after.
    """
    if first.from_state == second.to_state:
        return None
    _, first_parts = _parse_id(first.event_id)
    second_original, second_parts = _parse_id(second.event_id)
    id_ = _merged_id(second_original, first_parts + second_parts)
    return codec.replace(second, event_id=id_, from_state=first.from_state)


def is_mergeable(event: OutputStreaming) -> bool:
    """Whether the event carries nothing but its text, so that merging loses nothing."""
    return event.extensions is UNSET and event.raw is None and event.urgency != "critical"


def is_compatible(first: OutputStreaming, second: OutputStreaming) -> bool:
    """Whether two chunks of an output have the same language, content type and sender (OUT-012, C-84)."""
    return (
        first.language == second.language
        and first.content_type == second.content_type
        and first.localization_hints == second.localization_hints
        and first.urgency == second.urgency
        and first.producer == second.producer
        and first.correlation_id == second.correlation_id
    )


def join_chunks(first: OutputStreaming, second: OutputStreaming) -> OutputStreaming | None:
    """Return two chunks joined, or None if they do not belong together or would be too long (CF-082)."""
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
    """Return how many characters of a text fit into one chunk, so that the event has at most 64 KiB (CF-082)."""
    if len(text) <= SAFE_CHUNK_CHARACTERS:
        return MAX_CHUNK_CHARACTERS
    overhead = len(msgspec.json.encode(msgspec.structs.replace(event, chunk=""))) + _MAX_ID_LENGTH
    is_plain = text.isascii() and len(msgspec.json.encode(text)) == len(text) + 2
    bytes_per_character = 1 if is_plain else 6
    return max(1, min(MAX_CHUNK_CHARACTERS, (MAX_EVENT_BYTES - overhead) // bytes_per_character))


def adjust_text_direction(event: OutputStreaming) -> OutputStreaming:
    """Set ``text_direction`` to auto where joined text mixes directions (I18N-035)."""
    text = event.chunk
    hints = event.localization_hints
    if text.isascii() or hints is UNSET or hints.text_direction == "auto" or not _RIGHT_TO_LEFT.search(text):
        return event
    if "L" not in {unicodedata.bidirectional(char) for char in text}:
        return event
    return msgspec.structs.replace(event, localization_hints=msgspec.structs.replace(hints, text_direction="auto"))


def clamp_timestamp(event: E, earliest: str) -> E:
    """Return the event dated no earlier than what its session has already sent (C-14)."""
    return codec.replace(event, timestamp=earliest) if earliest and is_later(earliest, event.timestamp) else event


# -- buffering one output ------------------------------------------------------------------


class OutputBuffer:
    """Text of one output that has not been sent yet, and the fragments it came in."""

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
        self.fragments: list[tuple[OutputStreaming, int]] = []  # each with the position it ends at
        self.is_first_fragment_split = False  # part of the first fragment has been taken
        self.last_fragment: OutputStreaming | None = None
        self.soft_length = 0  # code points that may be sent at the deadline if nothing more arrives
        self.deadline = 0.0

    def can_append(self, event: OutputStreaming) -> bool:
        """Whether the chunk continues where the buffered text ends."""
        if event.position != self.position + len(self.text):
            return False
        return self.last_fragment is None or is_compatible(self.last_fragment, event)

    def append(self, event: OutputStreaming) -> None:
        """Add a chunk to the end of the buffered text."""
        self.text += event.chunk
        self.fragments.append((event, self.position + len(self.text)))
        self.last_fragment = event

    def take(self, length: int, hint: CoalesceHint) -> list[OutputStreaming]:
        """Take the first ``length`` characters in as few events as possible; the last gets ``hint``."""
        event = self.last_fragment
        assert event is not None  # the caller has checked that there is something to take
        text = self.text[:length]
        limit = _max_chunk_length(event, text)
        if length <= limit:
            return [self._take_piece(length, hint)]
        pieces = split_with_hints(text, limit, output_language(event))
        taken = [self._take_piece(len(piece), piece_hint) for piece, piece_hint in pieces[:-1]]
        return [*taken, self._take_piece(len(pieces[-1][0]), hint)]

    def take_overflow(self) -> list[OutputStreaming]:
        """Take text that exceeds what one event can hold, so that a long wait does not grow the buffer (CF-082)."""
        taken: list[OutputStreaming] = []
        while self.last_fragment is not None and len(self.text) > MAX_CHUNK_CHARACTERS:
            window = self.text[: MAX_CHUNK_CHARACTERS + 1]
            limit = _max_chunk_length(self.last_fragment, window)
            piece, hint = split_with_hints(window, limit, output_language(self.last_fragment))[0]
            taken.append(self._take_piece(len(piece), hint))
        return taken

    def _take_piece(self, length: int, hint: CoalesceHint) -> OutputStreaming:
        start = self.position
        end = start + length
        completed = 0  # fragments that this piece completes
        while completed < len(self.fragments) and self.fragments[completed][1] <= end:
            completed += 1
        ends_with_fragment = completed > 0 and self.fragments[completed - 1][1] == end
        source = self.fragments[completed - 1 if ends_with_fragment else completed][0]
        if ends_with_fragment and completed == 1 and not self.is_first_fragment_split:
            piece = source if source.coalesce_hint == hint else msgspec.structs.replace(source, coalesce_hint=hint)
        else:
            if not completed:
                id_ = _piece_id(source.event_id, start, length)
            elif ends_with_fragment and not self.is_first_fragment_split:
                id_ = _merged_id(source.event_id, completed)
            else:
                id_ = _partial_merge_id(self.fragments[completed - 1][0].event_id, start, length)
            piece = msgspec.structs.replace(
                source,
                event_id=id_,
                chunk=self.text[:length],
                position=start,
                complete=source.complete and ends_with_fragment,
                coalesce_hint=hint,
            )
            piece = adjust_text_direction(piece)
        del self.fragments[:completed]
        self.text = self.text[length:]
        self.position = end
        self.is_first_fragment_split = not ends_with_fragment
        return piece


# -- queueing for the rate limit ------------------------------------------------------------


class MergingQueue:
    """
    A queue of events that wait for the rate limit, merged where the protocol allows.

    The order of one agent's events in a session is kept, except between chunks of
    two parallel outputs. A merged event stands where its last part was added, so
    events leave in the order in which the journal has their last parts.
    """

    __slots__ = ("_last_number", "_merge_candidates", "items")

    def __init__(self) -> None:
        self.items: dict[int, tuple[Envelope, float]] = {}
        self._last_number = 0
        # By session and agent: the number of the item that the next event of a type or output may be merged with.
        self._merge_candidates: dict[tuple[str, str], dict[object, int]] = {}

    def __len__(self) -> int:
        return len(self.items)

    def oldest_time(self) -> float:
        """Return the time at which the oldest event, or its first part, was added."""
        return min(since for _, since in self.items.values())

    def add(self, event: Envelope, now: float) -> None:
        """Add an event, merging it with one that waits if possible."""
        candidates = self._merge_candidates.setdefault((event.session_id, event.producer.agent_id), {})
        if isinstance(event, OutputStreaming):
            self._add_text(event, candidates, now)
        elif isinstance(event, StateChanged):
            self._add_state(event, candidates, now)
        elif isinstance(event, ProgressUpdated):
            self._add_progress(event, candidates, now)
        else:
            self._forget_candidates(candidates, ProgressUpdated)
            self._append(event, now)

    def stop_merging(self, session_id: str, agent_id: str) -> None:
        """Keep later events of this agent from being merged with those already queued."""
        self._merge_candidates.pop((session_id, agent_id), None)

    def pop(self) -> Envelope:
        """Remove and return the first event."""
        event, _ = self.items.pop(next(iter(self.items)))
        if not self.items:
            self._merge_candidates.clear()
        return event

    def drain(self, session_id: str | None = None) -> list[Envelope]:
        """Remove and return all events of a session, or of all sessions."""
        numbers = [
            number for number, (event, _) in self.items.items() if session_id is None or event.session_id == session_id
        ]
        events = [self.items.pop(number)[0] for number in numbers]
        if not self.items:
            self._merge_candidates.clear()
        return events

    def _append(self, event: Envelope, now: float) -> int:
        self._last_number += 1
        self.items[self._last_number] = (event, now)
        return self._last_number

    def _forget_candidates(self, candidates: dict[object, int], *kept: object) -> None:
        for kind in [kind for kind in candidates if kind not in kept]:
            del candidates[kind]

    def _add_text(self, event: OutputStreaming, candidates: dict[object, int], now: float) -> None:
        number = candidates.get(event.output_id, 0)
        previous, since = self.items.get(number, (None, now))
        joined = join_chunks(previous, event) if isinstance(previous, OutputStreaming) else None
        candidates.pop(StateChanged, None)
        if joined is None:
            candidates[event.output_id] = self._append(event, now)
        else:
            del self.items[number]
            candidates[event.output_id] = self._append(joined, since)

    def _add_state(self, event: StateChanged, candidates: dict[object, int], now: float) -> None:
        previous, since = self.items.get(candidates.get(StateChanged, 0), (None, now))
        self._forget_candidates(candidates, ProgressUpdated, StateChanged)
        if not (isinstance(previous, StateChanged) and can_fold_states(previous, event)):
            candidates[StateChanged] = self._append(event, now)
            return
        del self.items[candidates.pop(StateChanged)]
        folded = fold_states(previous, event)
        if folded is not None:
            candidates[StateChanged] = self._append(folded, since)

    def _add_progress(self, event: ProgressUpdated, candidates: dict[object, int], now: float) -> None:
        previous, _ = self.items.get(candidates.get(ProgressUpdated, 0), (None, now))
        if previous is not None and previous.extensions is UNSET:
            del self.items[candidates[ProgressUpdated]]
        self._forget_candidates(candidates, StateChanged)
        candidates[ProgressUpdated] = self._append(event, now)


def condense(events: Sequence[Envelope]) -> list[Envelope]:
    """
    Merge a list of shaped events into as few as the protocol allows, for a slow reader. CF-083

    Nothing is moved across a critical or a terminal event of any session.
    """
    condensed: list[Envelope] = []
    queue = MergingQueue()
    for event in events:
        if is_critical(event) or isinstance(event, TERMINAL):
            condensed += queue.drain()
            condensed.append(event)
        else:
            queue.add(event, 0.0)
    return condensed + queue.drain()
