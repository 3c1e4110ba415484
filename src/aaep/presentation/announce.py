"""
What a listener hears: an event and a person's preferences become an announcement.

Whole sentences, label first. Nothing here waits, speaks or asks a clock;
:mod:`aaep.presentation.queue` decides what is said when.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from ..protocol.attend_extension import attend_members
from ..protocol.codec import parse_json
from ..protocol.events import (
    CORE_EVENTS,
    CRITICAL,
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Envelope,
    HandoffRequested,
    OutputStreaming,
    ProgressUpdated,
    SessionCancelled,
    SessionCompleted,
    SessionErrored,
    SessionStarted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
    output_language,
)
from ..protocol.fields import Urgency, get_member
from ..text.phrases import PHRASES, phrase, sentence, span, title
from ..text.sanitize import LONGEST, cut, neutralise
from ..text.sentences import cut as cut_at
from ..text.summaries import STATES
from .preferences import KEYS, USUAL, WORDS, Preferences, Reading

__all__ = ["KEYS", "Announcement", "Outputs", "Preferences", "announce"]


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """What to say about one event."""

    text: str
    detail: str  # everything there is to say, nothing cut
    language: str
    urgency: Urgency
    interrupts: bool
    event_id: str
    session_id: str
    event: Envelope
    prompt: str = ""  # the token of the prompt this asks or settles
    asks: bool = False  # whether it is the prompt itself
    about: str = ""  # of a prompt its action or question, nothing cut: what it is told apart by
    timeout: float = 0.0  # seconds left to answer
    keys: tuple[tuple[str, str], ...] = ()  # key, what it does
    detail_keys: tuple[tuple[str, str], ...] = ()  # once the detail was heard
    careful: bool = False  # accepting takes a second key
    cut: bool = False
    seconds: float = 0.0  # how long it takes to say, about
    redundant: bool = False  # the next event says it too, and more


# -- the twelve types ------------------------------------------------------------------------


def _started(event: SessionStarted, read: Reading) -> Iterable[str]:
    yield from (PHRASES["started"], read.summary())
    if read.detailed:
        yield read.time("expected_duration_ms", "takes")


def _completed(event: SessionCompleted, read: Reading) -> Iterable[str]:
    summary = read.summary()
    yield from (PHRASES["completed"], summary)
    if read.detailed:
        yield from (read.say("output_summary"), _unsaid(read.time("duration_ms", "took"), summary))


def _errored(event: SessionErrored, read: Reading) -> Iterable[str]:
    hint = read.say("remediation_hint")
    yield from (PHRASES["errored"], _telling(read.summary()), hint)
    if read.detailed or not hint:
        yield phrase(f"category.{event.error_category}")
    if read.detailed and isinstance(event.error_code, str):
        yield PHRASES["code"].format(neutralise(event.error_code))


def _cancelled(event: SessionCancelled, read: Reading) -> Iterable[str]:
    summary = read.summary()
    yield from (PHRASES["cancelled"], summary)
    if read.detailed or not summary:
        yield phrase(f"by.{event.cancelled_by}")
    if read.detailed and (partial := read.say("partial_result")):
        yield PHRASES["partial"].format(partial)


def _state(event: StateChanged, read: Reading) -> Iterable[str]:
    told = attend_members(event)
    outcome, summary = told.get("outcome"), read.summary()
    if isinstance(outcome, str):
        yield phrase(f"outcome.{outcome}", "outcome.other")
    elif told.get("resync") is True:
        yield PHRASES["resync"]
    if summary:
        yield summary
    elif not isinstance(outcome, str):
        state = neutralise(event.to_state).replace("_", " ").strip()
        yield phrase(f"state.{event.to_state}", "state.other" if state else "state.unnamed").format(cut(state, 80))


def _told_anyway(event: StateChanged, verbosity: str) -> bool:
    """STATE-008: whether a change says nothing of its own, and the event that comes with it says more."""
    back = event.from_state == "calling_tool" and event.to_state == "thinking"  # the tool has just said it is done
    stock = STATES[event.to_state].normal if back or event.to_state in _ACCOMPANIED else ""
    ends = event.from_state == "awaiting_input" or attend_members(event)  # that a question is over has to be heard
    return verbosity != "detailed" and event.summary_normal == stock and not ends


def _progress(event: ProgressUpdated, read: Reading) -> Iterable[str]:
    yield PHRASES["progress"]
    step, total, percent = (get_member(event.progress, name) for name in ("step", "total_steps", "percent"))
    summary = read.summary()
    text = get_member(event.progress, "description")
    description = read.shorten(neutralise(text), "progress") if isinstance(text, str) else ""
    numbers = []
    if isinstance(percent, (int, float)):
        numbers.append(PHRASES["percent"].format(round(percent)))
    if isinstance(step, int):
        known = isinstance(total, int) and total >= step
        numbers.append(PHRASES["step.of" if known else "step"].format(step, total))
    if summary:
        yield summary
        yield from (_unsaid(number, summary) for number in numbers if read.detailed)
    elif description or numbers:
        read.language = read.primary if description else None
        yield from (description, *numbers)
    else:
        yield PHRASES["progress.none"]
    if read.detailed:
        yield read.time("eta_ms", "left")


def _tool(event: ToolInvoked | ToolCompleted, name: str) -> str:
    said = PHRASES[name].format(cut(title(neutralise(event.tool)), 80) or PHRASES["tool"])
    return said[:1].upper() + said[1:]


def _invoked(event: ToolInvoked, read: Reading) -> Iterable[str]:
    label, summary = _tool(event, "invoked"), read.summary()
    yield from (label, _unsaid(summary, label) if summary else read.say("description"))
    if read.detailed:
        yield from (read.say("description") if summary else "", _unsaid(read.say("args_summary"), summary))
        yield read.time("expected_duration_ms", "takes")
    if event.irreversible is True and read.verbosity != "terse":
        yield PHRASES["undo.irreversible"]


def _completed_tool(event: ToolCompleted, read: Reading) -> Iterable[str]:
    summary = read.summary()
    if event.status == "success":
        yield from (_tool(event, "success"), _telling(summary))
    else:
        label = _tool(event, "timeout" if event.status == "timeout" else "error")
        yield label
        told = parse_json(event.raw)[0] if event.raw else None  # C-61: a status we do not know is said as it came
        status = told.get("status") if isinstance(told, dict) else None
        if isinstance(status, str) and status not in ("success", "error", "timeout") and neutralise(status):
            yield PHRASES["status"].format(cut(neutralise(status), 80))
        message = read.say("error_message")
        yield message or _telling(summary)
        if message and read.detailed:
            yield _unsaid(summary, label, message)
    if read.detailed:
        yield _unsaid(read.time("duration_ms", "took"), summary)


def _output(event: OutputStreaming, read: Reading) -> Iterable[str]:
    read.language = event.language if isinstance(event.language, str) else read.primary  # OUT-012
    text = read.shorten(neutralise(event.chunk), "chunk")
    if text and event.position == 0:
        name = get_member(event.producer, "agent_name")
        yield PHRASES["says"].format(cut(neutralise(name), 80) if isinstance(name, str) else PHRASES["agent"])
    yield text


def _confirmation(event: AwaitingConfirmation, read: Reading) -> Iterable[str]:
    """C-51: action and consequence at every verbosity, then risk, time and default; refusing is always possible."""
    yield PHRASES["confirm"]
    action, consequence = read.say("action"), read.say("consequence")
    if read.detailed:
        yield _unsaid(read.summary(), action, consequence)
    yield action or PHRASES["action.none"]
    yield PHRASES["consequence"].format(consequence) if consequence else PHRASES["consequence.none"]
    yield phrase(f"risk.{get_member(event, 'risk_level')}", "risk.none")
    yield PHRASES[f"undo.{_undo(event)}"]
    yield _wait(read, "default.accept" if event.default_decision == "accept" else "default.reject")
    allowed = get_member(event, "allowed_replies")
    yield PHRASES["refusable" if allowed is None or "reject" in allowed else "unrefusable"]  # CF-018
    if allowed is not None and "accept" not in allowed:
        yield PHRASES["unacceptable"]
    if read.cut & {"action", "consequence"}:
        yield PHRASES["uncut"]


def _undo(event: AwaitingConfirmation) -> str:
    """CF-021: what is not stated, or contradicts itself, counts as irreversible."""
    stated, reach = get_member(event, "irreversible"), get_member(event, "reversibility")
    if stated is True or reach == "irreversible":
        return "irreversible"
    if reach in ("reversible", "reversible_with_effort"):
        return str(reach)
    return "reversible" if stated is False else "none"


def _wait(read: Reading, name: str, answer: str = "") -> str:
    if read.left is None or read.left <= 0:
        return PHRASES["expired"]
    return PHRASES[name].format(span(read.left), answer)


def _clarification(event: AwaitingClarification, read: Reading) -> Iterable[str]:
    yield PHRASES["question"]
    question = read.say("question")
    if read.detailed:
        yield _unsaid(read.summary(), question)
    yield question or PHRASES["question.none"]
    if why := read.say("context"):
        yield PHRASES["why"].format(why)
    labels = _labels(event)
    if labels:
        yield PHRASES["choices"]
        yield from (
            PHRASES["choice"].format(number, read.shorten(label, "choices"))
            for number, label in enumerate(labels, start=1)
        )
    for kind in get_member(event, "accepted_response_kinds") or (() if labels else ("freetext",)):
        yield phrase(f"kind.{kind}")
    default = get_member(event, "default_response")
    plain = neutralise(default) if isinstance(default, str) else ""
    yield _wait(read, "default.response" if plain else "default.none", read.shorten(plain, "default_response"))


def _labels(event: AwaitingClarification) -> list[str]:
    """What to read for each choice; a choice without a readable label is read by its value."""
    found = []
    for choice in get_member(event, "choices") or ():
        texts = [getattr(choice, name, None) for name in ("label", "value")]
        plain = [neutralise(text) for text in texts if isinstance(text, str)]
        found.append(next(filter(None, plain), "?"))
    return found


def _handoff(event: HandoffRequested, read: Reading) -> Iterable[str]:
    label, reason, summary = phrase(f"handoff.{event.target_kind}", "handoff.other"), read.say("reason"), read.summary()
    yield from (label, reason or summary)
    if reason and read.verbosity != "terse" and summary != label:
        yield summary


def _other(event: Envelope, read: Reading) -> Iterable[str]:
    """C-08, CF-130: an extension's event, one newer than us, or a core one whose payload cannot be used."""
    kind = CORE_EVENTS.get(event.type)
    yield PHRASES["incomplete" if kind else "notice"]
    parts = [read.say(name) for name in ("action", "consequence", "question", "reason")] if kind in CRITICAL else []
    parts.append(read.summary())
    name = cut(neutralise(event.type), 120).removeprefix("aaep:agent.").replace(".", " ")
    yield from parts if any(parts) else [PHRASES["notice.type"].format(name)]
    if kind in (AwaitingConfirmation, AwaitingClarification):
        yield PHRASES["incomplete.prompt"]


_SAID: Final[Mapping[type[Envelope], Callable[[Any, Reading], Iterable[str]]]] = {
    SessionStarted: _started,
    SessionCompleted: _completed,
    SessionErrored: _errored,
    SessionCancelled: _cancelled,
    StateChanged: _state,
    ProgressUpdated: _progress,
    ToolInvoked: _invoked,
    ToolCompleted: _completed_tool,
    OutputStreaming: _output,
    AwaitingConfirmation: _confirmation,
    AwaitingClarification: _clarification,
    HandoffRequested: _handoff,
}
_WORD: Final = re.compile(r"\w+")
_BOUNDARIES: Final = ("sentence", "paragraph", "completion")
_PASSING: Final = (StateChanged, ProgressUpdated)


def _joined(parts: Iterable[str]) -> str:
    """
    Sentences in a row; a label that the text behind it says too is not said twice.

    Only a whole sentence counts: "Error-free run." must not swallow "Error.".
    """
    said = [part for part in parts if part]
    if len(said) > 1 and f"{said[1]} ".casefold().startswith(f"{said[0]} ".casefold()):
        del said[0]
    return " ".join(said)


def _unsaid(text: str, *said: str) -> str:
    """The text, or nothing where each of its words is said beside it: nobody has to hear a thing twice."""
    heard, left = _words(" ".join(said)), _words(text)
    for one in said:
        left = left.replace(_words(one), " ", 1)
    return "" if not left.strip() or left in heard else text


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _telling(summary: str) -> str:
    """A summary, unless it is but the word that the label before it says in other words."""
    return "" if summary in ("Done.", "Failed.") else summary


def _keys(event: Envelope, preferences: Preferences, whole: bool, more: bool) -> tuple[tuple[str, str], ...]:
    """The keys of a prompt. Accepting is not among them unless action and consequence were said in full (C-22)."""
    offered: list[str] = []
    answers: list[tuple[str, str]] = []
    if isinstance(event, AwaitingConfirmation):
        allowed = get_member(event, "allowed_replies")
        readable = all(neutralise(text) for text in (event.action, event.consequence))
        if whole and readable and (allowed is None or "accept" in allowed):
            offered.append("accept")
        offered.append("reject" if allowed is None or "reject" in allowed else "close")
    elif isinstance(event, AwaitingClarification):
        answers = [(str(number), label) for number, label in enumerate(_labels(event), start=1)]
        if "yes_no" in (get_member(event, "accepted_response_kinds") or ()):
            answers += [("y", PHRASES["key.yes"]), ("n", PHRASES["key.no"])]
    elif event.type == "aaep:agent.awaiting.confirmation":
        offered.append("reject")
    offered += ["more", "time"] if more else ["time"]
    keys = preferences.keys
    return (*(answers if keys else ()), *((keys[name], PHRASES[f"key.{name}"]) for name in offered if name in keys))


def _token(event: Envelope) -> tuple[str, bool]:
    """The token of the prompt an event asks or settles, and whether it asks."""
    if isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
        return event.reply_token, True
    if CORE_EVENTS.get(event.type) in (AwaitingConfirmation, AwaitingClarification):
        given = event.unknown.get("reply_token")
        return (given, True) if isinstance(given, str) else ("", False)
    told = attend_members(event)
    given = told.get("reply_token")
    return (given, False) if isinstance(given, str) and "outcome" in told else ("", False)


# A tool, an output, a question, a handoff and an end speak for themselves.
_ACCOMPANIED: Final = {"calling_tool", "writing_output", "awaiting_input", "handing_off", "idle"}


def announce(
    event: Envelope, preferences: Preferences = USUAL, *, remaining: float | None = None
) -> Announcement | None:
    """
    What to say about an event; None if it is not to be said by itself.

    That is so for a piece of output that ends at no boundary (OUT-007; use
    :class:`Outputs`), and for mere progress where the fewest announcements are
    wanted (PROG-003). ``remaining`` is how many seconds a prompt is still open.
    """
    type_ = CORE_EVENTS.get(event.type, type(event))
    urgency: Urgency = "critical" if type_ in CRITICAL else _urgency(event)  # C-16: whatever it says
    prompt, asks = _token(event)
    passing = type_ in _PASSING and urgency == "background" and not prompt
    if (passing and preferences.load == "low") or (isinstance(event, OutputStreaming) and not _ends(event)):
        return None
    left = _left(event, remaining)
    verbosity = "terse" if preferences.load == "low" else preferences.verbosity
    read = Reading(event, preferences, verbosity, LONGEST, left)
    whole = Reading(event, preferences, "detailed", math.inf, left)
    compose = _SAID.get(type(event), _other)
    text, detail = _joined(compose(event, read)), _joined(compose(event, whole))
    keys = _keys(event, preferences, not read.cut & {"action", "consequence"}, text != detail) if asks else ()
    detail_keys = _keys(event, preferences, True, False) if asks else ()
    text, detail = _pressed(text, keys, preferences), _pressed(detail, detail_keys, preferences)
    return Announcement(
        text=text,
        detail=detail,
        language=_language(read),
        urgency=urgency,
        interrupts=urgency == "critical",
        event_id=event.event_id,
        session_id=event.session_id,
        event=event,
        prompt=prompt,
        asks=asks,
        about=whole.pick("question" if type_ is AwaitingClarification else "action") if asks else "",
        timeout=(left or 0.0) if asks else 0.0,
        keys=keys,
        detail_keys=detail_keys,
        careful=isinstance(event, AwaitingConfirmation) and _careful(event, read),
        cut=bool(read.cut),
        redundant=isinstance(event, StateChanged) and _told_anyway(event, preferences.verbosity),
        seconds=max(len(text.split()), len(text) / 8) * 60 / max(preferences.pace, 1),  # not every script has spaces
    )


def _ends(event: OutputStreaming) -> bool:
    """OUT-007: whether there is text, and it ends at a boundary."""
    hint, text = get_member(event, "coalesce_hint"), neutralise(event.chunk)
    return bool(text) and (event.complete or hint in _BOUNDARIES or (hint != "none" and sentence(text) == text))


def _left(event: Envelope, remaining: float | None) -> float | None:
    """How many seconds there are to answer; a stranger may send any number."""
    known = remaining is not None and math.isfinite(remaining)
    left = remaining if known else get_member(event, "timeout_seconds")
    return float(min(left, 10**9)) if isinstance(left, (int, float)) else None


def _careful(event: AwaitingConfirmation, read: Reading) -> bool:
    """Whether accepting takes a second key: for what was not heard in full, is risky, or cannot be undone."""
    final, risk = _undo(event) in ("irreversible", "none"), get_member(event, "risk_level")
    return bool(read.cut) or final or risk not in ("low", "medium")


def _language(read: Reading) -> str:
    """Of the event's text; nothing but our own phrases is English."""
    if read.language is None:
        return "en"
    return read.language or next(iter(read.preferences.languages), "en")  # C-17: what nobody states is assumed


def _urgency(event: Envelope) -> Urgency:
    return event.urgency if event.urgency in ("background", "critical") else "normal"


def _pressed(text: str, keys: tuple[tuple[str, str], ...], preferences: Preferences) -> str:
    words = {"y": "yes", "n": "no", **{key: WORDS.get(name, key) for name, key in preferences.keys.items()}}
    letters = [
        PHRASES["key"].format(words.get(key, key) if preferences.lines else key, what)
        for key, what in keys
        if not key.isdecimal()  # numbers were read already
    ]
    how = PHRASES["write" if preferences.lines else "press"]
    return f"{text} {how.format(', '.join(letters))}" if letters else text


# -- output ----------------------------------------------------------------------------------


class Outputs:
    """Collects the chunks of every output and gives announcements at boundaries only (OUT-007, C-46)."""

    def __init__(self, preferences: Preferences = USUAL, most: int = 16_384) -> None:
        self.preferences = preferences
        self.most = most  # what is held is let go when it gets longer than this
        self._held: dict[tuple[str, str, str], tuple[OutputStreaming, str, int]] = {}

    def feed(self, event: Envelope) -> list[Announcement]:
        """Take any event; what can now be said of the outputs, before the event itself is."""
        if isinstance(event, OutputStreaming):
            return self._take(event)
        if isinstance(event, TERMINAL) or CORE_EVENTS.get(event.type) in TERMINAL:
            return self.flush(event.session_id)
        return []

    def tell(self, event: Envelope) -> list[Announcement]:
        """All that is to be said when an event comes: of the outputs first, then of the event itself."""
        said = self.feed(event)
        own = None if isinstance(event, OutputStreaming) else announce(event, self.preferences)
        return said if own is None else [*said, own]

    def flush(self, session_id: str = "") -> list[Announcement]:
        """Say whatever is held, of one session or of all: at its end, or when too long was waited."""
        keys = [key for key in self._held if session_id in ("", key[0])]
        held = [self._held.pop(key) for key in keys]
        return [said for event, text, start in held for said in self._say(event, text, start)]

    def _take(self, event: OutputStreaming) -> list[Announcement]:
        key = (event.session_id, event.producer.agent_id, get_member(event, "output_id") or "")  # C-47
        _, text, start = self._held.pop(key, (event, "", event.position))
        text += event.chunk
        hint = get_member(event, "coalesce_hint")
        if event.complete or hint in _BOUNDARIES or len(text) > self.most:
            return self._say(event, text, start)
        size = 0 if hint == "none" else cut_at(text, "sentence", language=output_language(event))
        if size < len(text):
            self._held[key] = (event, text[size:], start + size)
        return self._say(event, text[:size], start)

    def _say(self, event: OutputStreaming, text: str, start: int) -> list[Announcement]:
        whole = msgspec.structs.replace(event, chunk=text, position=start, coalesce_hint="sentence")
        said = announce(whole, self.preferences)
        return [] if said is None else [said]
