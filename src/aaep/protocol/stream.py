"""
Judging long recordings, fast.

:func:`judge` gives what :meth:`aaep.protocol.audit.Audit.feed` would give for every line.
It is faster because nearly every event of a sound recording is the usual one:
written in our own layout, like others of its type that were found sound, and in
the middle of a session with nothing pending. Such an event needs no more than
what a :class:`_Run` does. Everything else goes to the audit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec

from ..errors import Violation
from .audit import MAX_REMEMBERED, TURNING, Audit, Finding, forget_older_half
from .events import CORE_EVENTS, OutputStreaming
from .fields import MAX_SAFE_INTEGER
from .quick import PLANS, Plan, met
from .session import ANY, MOVES, AgentState, SessionState
from .states import OutputState
from .timestamps import minute

__all__ = ["judge"]

Move = Callable[..., None] | None

_encode_into: Final = msgspec.json.Encoder().encode_into
_decode_text: Final = msgspec.json.Decoder(str).decode
_SESSION: Final = b'","session_id":"'
_TIME: Final = b'","timestamp":"'
_SECONDS: Final = frozenset(b"%02d." % second for second in range(60))
_CHUNKS: Final = PLANS[OutputStreaming]


def judge(audit: Audit, lines: Iterable[bytes]) -> Iterator[tuple[int, list[Finding]]]:
    """Feed bare messages to an audit; gives the place (from 0) and the findings of each line that has any."""
    ways = {} if audit.strict or audit.profiles else _WAYS  # under strict every rule runs on every event
    run, at = _Run(audit), 0
    for place, raw in enumerate(lines):
        # Some letters tell the types apart, looked for where they stood last; the run compares the others.
        way = ways.get(raw[at : at + 8])
        if way is not None:
            plan, judged, applied = way
            if run.takes(raw, plan, judged, applied):
                continue
        run.end()
        found = audit.feed(raw)
        at = raw.find(b'"type":"') + 19  # behind aaep:agent.
        if found:
            yield place, found
    run.end()


class _Run:
    """
    Usual events of one agent in one session, one after the other.

    It holds what is the same on all of them, as bytes. How many they were, and
    what time it is, the audit and the session learn at the end of the run.
    """

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self.scratch = bytearray(65_536)
        self.found: list[Violation] = []
        self.session: SessionState | None = None
        self.agent = AgentState("")
        self.between = self.middle = b"\0"  # from the event_id to the time, and on to its seconds
        self.width = self.point = 0  # of the event_id behind its evt_; of that and the middle
        self.taken = 0
        self.last = b""  # the time of the last event
        self.output = OutputState()
        self.ending = self.tail = b""  # of the next chunk, if a chunk came last: behind its position; behind its text

    def takes(self, raw: bytes, plan: Plan, judged: Move, applied: Move) -> bool:
        """
        Whether an event is a usual one. If so, there is nothing to say about it, and it has happened.

        In our own layout the bytes up to the event_id, those up to the time, and
        those from producer to localization_hints are found without looking, and are
        the same as before. Such an event is not numbered. If it is new and not early,
        all that can be wrong with its coming now is its order among its own kind.
        """
        start = plan.start
        if not raw.startswith(plan.head):
            return False
        same = raw[start + self.width : start + self.point] == self.middle and self.agent.id == plan.agent
        if not same and not self._follows(raw, plan):
            return False
        end, point, seen = start + self.width, start + self.point, self.audit.seen
        key, stamp, at = raw[start - 4 : end], raw[point - 17 : point + 7], point + 6 + plan.size
        if (
            raw[point + 6 : at] != plan.shared
            or stamp < self.last
            or raw[point : point + 3] not in _SECONDS
            or not raw[point + 3 : point + 6].isdigit()
            or not raw[start:end].isalnum()  # less than ENV-012 allows; the rest is for the rule itself
            or key in seen
            or not raw.isascii()
            or 60 in raw  # <
            or len(raw) > 16_384
        ):
            return False
        tail = self.tail
        next_ = tail and plan is _CHUNKS and raw.endswith(tail) and self._goes_on(raw[at : 1 - len(tail)])
        if not next_ and not self._fits(b"{" + raw[at:], plan, judged, applied):
            return False
        self.last = stamp
        self.taken += 1
        if len(seen) >= MAX_REMEMBERED:
            forget_older_half(seen)
        seen[key] = raw
        return True

    def end(self) -> None:
        """Something else comes now."""
        if self.session is not None and self.taken:
            self.audit.events += self.taken
            self.agent.timestamp = self.session.last_timestamp = self.last.decode()
        self.session, self.taken = None, 0
        self.between, self.middle, self.tail = b"\0", b"\0", b""

    def _follows(self, raw: bytes, plan: Plan) -> bool:
        """Whether an event is of this run, or begins another, although not all up to its seconds is as before."""
        end = raw.find(b'"', plan.start)
        same = raw.startswith(self.between, end) and self.agent.id == plan.agent
        if end - plan.start > 64 or not (same or self._begin(raw, plan, end)):
            return False
        time = end + len(self.between)
        begun = minute(raw[time : time + 24].decode(errors="replace"))
        if begun is None:
            return False
        self.width, self.middle = end - plan.start, self.between + begun.encode()
        self.point = self.width + len(self.middle)
        return True

    def _begin(self, raw: bytes, plan: Plan, end: int) -> bool:
        """Whether an event, whose event_id ends there, may begin another run."""
        self.end()
        audit, start = self.audit, end + len(_SESSION)
        stop = raw.find(b'"', start)
        id_ = raw[start:stop].decode(errors="replace")
        session = audit.open_sessions.get(id_)
        if session is None or not session.plain or audit.subscriptions or not met(id_, "sess"):
            return False
        agent = session.agents.get(plan.agent)
        between = _SESSION + raw[start:stop] + _TIME
        if agent is None or not raw.startswith(between, end):
            return False
        self.session, self.agent, self.between, self.last = session, agent, between, session.last_timestamp.encode()
        return True

    def _fits(self, rest: bytes, plan: Plan, judged: Move, applied: Move) -> bool:
        """Whether the rest of an event is like others that were sound, and in order; if so, it has happened."""
        scratch = self.scratch
        try:
            event = plan.decode(rest)
            _encode_into(event, scratch)
        except (msgspec.MsgspecError, RecursionError):
            return False
        # Nothing stands twice in what we would write just so (C-26).
        if scratch != rest or plan.particular(event) not in plan.sound:
            return False
        if judged is not None:
            judged(self.session, event, self.agent, self.found)
            if self.found:
                self.found.clear()
                return False
        if applied is not None:
            applied(self.session, event, self.agent, 0.0)
        self.tail = b""
        if plan is _CHUNKS:
            self._expect(event, rest)
        return True

    def _expect(self, event: Any, rest: bytes) -> None:
        """A chunk came. The next one of its output differs from it in text and position, and nearly always comes."""
        output = self.output = self.agent.outputs[event.output_id]
        writing = output.stage == "open" and self.agent.state == "writing_output"
        if writing and not output.shift and output.end < MAX_SAFE_INTEGER // 2:
            self.ending = rest[rest.rindex(b',"complete":') :]
            self.tail = b'","position":%d%b' % (output.end, self.ending)

    def _goes_on(self, rest: bytes) -> bool:
        """Whether this, with the expected tail behind it, is the next chunk of the output; if so, it has come."""
        if not rest.startswith(b'"chunk":"') or 92 in rest:  # a backslash: it may stand for anything
            return False
        try:
            size = len(_decode_text(rest[8:]))
        except msgspec.MsgspecError:
            return False
        output = self.output
        output.last = output.end
        output.end += size
        self.tail = b'","position":%d%b' % (output.end, self.ending)
        return True


# The first and the last event of a session, and prompts, are never usual.
_WAYS: Final[dict[bytes, tuple[Plan, Move, Move]]] = {
    type_.encode()[11:19]: (PLANS[cls], *MOVES.get(cls, ANY)[1:])
    for type_, cls in CORE_EVENTS.items()
    if MOVES.get(cls, ANY)[0] == "other" and cls not in TURNING
}
