"""
What a reader missed, read back from the journal and shaped again for its terms. CF-091

The journal has events as they were made, in the order of appending. A shaped
stream holds some of them back while others pass, so the last event a reader
saw does not say that it saw everything before it: :func:`overtaken` finds what
may have been held at that moment. The reader drops what it has by event id and
by position in the output.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Final

import msgspec

from ..errors import ProtocolError
from ..journal.base import Entry, EventNotKept, Journal, names, not_kept
from ..protocol import codec
from ..protocol.attend_extension import marked
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope, OutputStreaming
from ..protocol.extensions import Registry
from ..protocol.fields import PIECE, present
from ..protocol.messages import Capabilities
from ..shaping.shaper import Shaper

__all__ = ["missed", "overtaken", "shaped"]

_INSIDE: Final = re.compile(PIECE)
MARGIN: Final = 1.0  # seconds between appending an event and publishing it, at the most

_log: Final = logging.getLogger("aaep.hub")

Stored = tuple[Entry, Envelope]


class Bounds(msgspec.Struct, frozen=True):
    """How far back to read: at most so many entries, and so many seconds of what a rate may have held."""

    most: int
    lag: float


def shaped(events: Iterable[Envelope], terms: Capabilities, known: Registry, now: float) -> list[Envelope]:
    """Events as these terms receive them, with nothing held at the end."""
    shaper = Shaper(terms, known=known)
    out = [one for event in events for one in shaper.push(event, now)]
    return [*out, *shaper.flush(now)]


def missed(
    journal: Journal, after: str, terms: Capabilities, known: Registry, bounds: Bounds, heard: Callable[[str], bool]
) -> list[Envelope]:
    """
    The events after one, of the sessions that the reader may hear, in order and not yet shaped.

    With no id, all of them; with the name of a piece from inside an event (see
    :mod:`aaep.shaping.merge`), that event too, for the rest of it is missing.

    Raises :exc:`~aaep.journal.base.EventNotKept`, also when it is too much to read at once.
    """
    inside = _INSIDE.fullmatch(after)
    try:
        entries = journal.read(after or None, limit=bounds.most + 1)
        inside = None
    except EventNotKept:
        if inside is None:
            raise
        after = inside[1]
        entries = journal.read(after, limit=bounds.most + 1)
    if len(entries) > bounds.most:
        raise not_kept(after)
    ids = {entry.event_id for entry in entries}
    before, at = _before(journal, after, ids, known, bounds, heard) if after else ([], None)
    if inside is not None and at is None:
        raise not_kept(after)
    earlier = overtaken(before, at, terms, bounds.lag) if at is not None else []
    cut = [at[1]] if at is not None and inside is not None else []
    return _answerable([*earlier, *cut, *(event for _, event in _decoded(entries, known, heard))])


def overtaken(before: Iterable[Stored], at: Stored, terms: Capabilities, lag: float) -> list[Envelope]:
    """
    What came before an event and may yet have been held when that event was sent.

    Text of outputs that were not complete, except the event's own; and, of
    other sessions, what may have been waiting for the rate, or for its turn
    between the journal and the readers. An event that is not output was
    preceded by all the output of its agent in its session (CF-074), so none of
    that is looked for.
    """
    entry, event = at
    paced = present(terms, "max_events_per_second") is not None or terms.cognitive_load == "low"
    since = entry.at - (lag if paced else MARGIN)
    found: list[tuple[float, int, Envelope]] = []
    outputs: dict[tuple[object, ...], list[tuple[float, int, Envelope]]] = {}
    for number, (row, one) in enumerate(before):
        queued = row.at >= since and one.session_id != event.session_id
        if not isinstance(one, OutputStreaming):
            found += [(row.at, number, one)] if queued else []
        elif not _covered(one, event):
            outputs.setdefault(_output(one), []).append((row.at, number, one))
            if one.complete:
                chunks = outputs.pop(_output(one))
                found += chunks if queued else []
    # The sessions were read one by one, each in its order.
    return [one for _, _, one in sorted([*found, *chain.from_iterable(outputs.values())], key=itemgetter(0, 1))]


def _output(event: OutputStreaming) -> tuple[object, ...]:
    return event.session_id, event.producer.agent_id, event.output_id


def _covered(chunk: OutputStreaming, event: Envelope) -> bool:
    """Whether all of a chunk went out before a later event did."""
    if isinstance(event, OutputStreaming):
        return _output(chunk) == _output(event)
    return (chunk.session_id, chunk.producer.agent_id) == (event.session_id, event.producer.agent_id)


def _before(
    journal: Journal,
    after: str,
    later: Collection[str],
    known: Registry,
    bounds: Bounds,
    heard: Callable[[str], bool],
) -> tuple[list[Stored], Stored | None]:
    """The entries up to an event of the sessions that were going on then, and the event itself."""
    before: list[Stored] = []
    at: Stored | None = None
    budget = 10 * bounds.most  # reading is cheap beside decoding
    for one in sorted(journal.sessions(open_only=False), key=lambda kept: kept.last, reverse=True):
        if at is not None and one.last < at[0].at - bounds.lag:
            break
        if one.entries > budget:
            continue
        budget -= one.entries
        rows = [row for row in journal.read(session=one.session_id, limit=one.entries) if row.event_id not in later]
        stored = _decoded(rows[-bounds.most :], known, heard)
        before += stored
        at = next((pair for pair in stored if pair[0].event_id in names(after)), at)
    return before, at


def _decoded(entries: Iterable[Entry], known: Registry, heard: Callable[[str], bool]) -> list[Stored]:
    found = []
    for entry in entries:
        if not heard(entry.session_id):
            continue
        try:
            event = codec.decode(entry.data, known)
        except ProtocolError:
            _log.warning("An entry of the journal is not a usable event and is left out.")
            continue
        if isinstance(event, Envelope):
            found.append((entry, event))
    return found


def _answerable(events: Sequence[Envelope]) -> list[Envelope]:
    """CF-001: a prompt that was never shown, because nobody could answer it, is not shown afterwards."""
    void = {marked(event, "reply_token") for event in events if marked(event, "outcome") == "no_reply_channel"}
    return [
        event
        for event in events
        if not (isinstance(event, (AwaitingConfirmation, AwaitingClarification)) and event.reply_token in void)
    ]
