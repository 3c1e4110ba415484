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
from ..text.phrases import PHRASES, ensure_full_stop, format_duration, get_phrase, humanize_name
from ..text.sanitize import MAX_SPOKEN_LENGTH, sanitize, truncate
from ..text.sentences import find_boundary as cut_at
from ..text.summaries import STATE_SUMMARIES
from .preferences import COMMAND_WORDS, DEFAULT_KEYS, DEFAULT_PREFERENCES, EventView, Preferences

__all__ = ["DEFAULT_KEYS", "Announcement", "Outputs", "Preferences", "announce"]


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


def _compose_started(event: SessionStarted, read: EventView) -> Iterable[str]:
    yield from (PHRASES["started"], read.summary())
    if read.is_detailed:
        yield read.duration_text("expected_duration_ms", "takes")


def _compose_completed(event: SessionCompleted, read: EventView) -> Iterable[str]:
    summary = read.summary()
    yield from (PHRASES["completed"], summary)
    if read.is_detailed:
        yield from (
            read.short_text("output_summary"),
            _omit_if_repeated(read.duration_text("duration_ms", "took"), summary),
        )


def _compose_errored(event: SessionErrored, read: EventView) -> Iterable[str]:
    hint = read.short_text("remediation_hint")
    yield from (PHRASES["errored"], _omit_stock_summary(read.summary()), hint)
    if read.is_detailed or not hint:
        yield get_phrase(f"category.{event.error_category}")
    if read.is_detailed and isinstance(event.error_code, str):
        yield PHRASES["code"].format(sanitize(event.error_code))


def _compose_cancelled(event: SessionCancelled, read: EventView) -> Iterable[str]:
    summary = read.summary()
    yield from (PHRASES["cancelled"], summary)
    if read.is_detailed or not summary:
        yield get_phrase(f"by.{event.cancelled_by}")
    if read.is_detailed and (partial := read.short_text("partial_result")):
        yield PHRASES["partial"].format(partial)


def _compose_state_change(event: StateChanged, read: EventView) -> Iterable[str]:
    told = attend_members(event)
    outcome, summary = told.get("outcome"), read.summary()
    if isinstance(outcome, str):
        yield get_phrase(f"outcome.{outcome}", "outcome.other")
    elif told.get("resync") is True:
        yield PHRASES["resync"]
    if summary:
        yield summary
    elif not isinstance(outcome, str):
        state = sanitize(event.to_state).replace("_", " ").strip()
        yield get_phrase(f"state.{event.to_state}", "state.other" if state else "state.unnamed").format(
            truncate(state, 80)
        )


def _is_redundant(event: StateChanged, verbosity: str) -> bool:
    """STATE-008: whether a change says nothing of its own, and the event that comes with it says more."""
    back = event.from_state == "calling_tool" and event.to_state == "thinking"  # the tool has just said it is done
    stock = STATE_SUMMARIES[event.to_state].normal if back or event.to_state in _STATES_WITH_OWN_EVENT else ""
    ends = event.from_state == "awaiting_input" or attend_members(event)  # that a question is over has to be heard
    return verbosity != "detailed" and event.summary_normal == stock and not ends


def _compose_progress(event: ProgressUpdated, read: EventView) -> Iterable[str]:
    yield PHRASES["progress"]
    step, total, percent = (get_member(event.progress, name) for name in ("step", "total_steps", "percent"))
    summary = read.summary()
    text = get_member(event.progress, "description")
    description = read.shorten(sanitize(text), "progress") if isinstance(text, str) else ""
    numbers = []
    if isinstance(percent, (int, float)):
        numbers.append(PHRASES["percent"].format(round(percent)))
    if isinstance(step, int):
        known = isinstance(total, int) and total >= step
        numbers.append(PHRASES["step.of" if known else "step"].format(step, total))
    if summary:
        yield summary
        yield from (_omit_if_repeated(number, summary) for number in numbers if read.is_detailed)
    elif description or numbers:
        read.language = read.primary_language if description else None
        yield from (description, *numbers)
    else:
        yield PHRASES["progress.none"]
    if read.is_detailed:
        yield read.duration_text("eta_ms", "left")


def _tool_label(event: ToolInvoked | ToolCompleted, name: str) -> str:
    said = PHRASES[name].format(truncate(humanize_name(sanitize(event.tool)), 80) or PHRASES["tool"])
    return said[:1].upper() + said[1:]


def _compose_tool_invoked(event: ToolInvoked, read: EventView) -> Iterable[str]:
    label, summary = _tool_label(event, "invoked"), read.summary()
    yield from (label, _omit_if_repeated(summary, label) if summary else read.short_text("description"))
    if read.is_detailed:
        yield from (
            read.short_text("description") if summary else "",
            _omit_if_repeated(read.short_text("args_summary"), summary),
        )
        yield read.duration_text("expected_duration_ms", "takes")
    if event.irreversible is True and read.verbosity != "terse":
        yield PHRASES["undo.irreversible"]


def _compose_tool_completed(event: ToolCompleted, read: EventView) -> Iterable[str]:
    summary = read.summary()
    if event.status == "success":
        yield from (_tool_label(event, "success"), _omit_stock_summary(summary))
    else:
        label = _tool_label(event, "timeout" if event.status == "timeout" else "error")
        yield label
        told = parse_json(event.raw)[0] if event.raw else None  # C-61: a status we do not know is said as it came
        status = told.get("status") if isinstance(told, dict) else None
        if isinstance(status, str) and status not in ("success", "error", "timeout") and sanitize(status):
            yield PHRASES["status"].format(truncate(sanitize(status), 80))
        message = read.short_text("error_message")
        yield message or _omit_stock_summary(summary)
        if message and read.is_detailed:
            yield _omit_if_repeated(summary, label, message)
    if read.is_detailed:
        yield _omit_if_repeated(read.duration_text("duration_ms", "took"), summary)


def _compose_output(event: OutputStreaming, read: EventView) -> Iterable[str]:
    read.language = event.language if isinstance(event.language, str) else read.primary_language  # OUT-012
    text = read.shorten(sanitize(event.chunk), "chunk")
    if text and event.position == 0:
        name = get_member(event.producer, "agent_name")
        yield PHRASES["says"].format(truncate(sanitize(name), 80) if isinstance(name, str) else PHRASES["agent"])
    yield text


def _compose_confirmation(event: AwaitingConfirmation, read: EventView) -> Iterable[str]:
    """C-51: action and consequence at every verbosity, then risk, time and default; refusing is always possible."""
    yield PHRASES["confirm"]
    action, consequence = read.short_text("action"), read.short_text("consequence")
    if read.is_detailed:
        yield _omit_if_repeated(read.summary(), action, consequence)
    yield action or PHRASES["action.none"]
    yield PHRASES["consequence"].format(consequence) if consequence else PHRASES["consequence.none"]
    yield get_phrase(f"risk.{get_member(event, 'risk_level')}", "risk.none")
    yield PHRASES[f"undo.{_effective_reversibility(event)}"]
    yield _format_timeout(read, "default.accept" if event.default_decision == "accept" else "default.reject")
    allowed = get_member(event, "allowed_replies")
    yield PHRASES["refusable" if allowed is None or "reject" in allowed else "unrefusable"]  # CF-018
    if allowed is not None and "accept" not in allowed:
        yield PHRASES["unacceptable"]
    if read.cut_fields & {"action", "consequence"}:
        yield PHRASES["uncut"]


def _effective_reversibility(event: AwaitingConfirmation) -> str:
    """CF-021: what is not stated, or contradicts itself, counts as irreversible."""
    stated, reach = get_member(event, "irreversible"), get_member(event, "reversibility")
    if stated is True or reach == "irreversible":
        return "irreversible"
    if reach in ("reversible", "reversible_with_effort"):
        return str(reach)
    return "reversible" if stated is False else "none"


def _format_timeout(read: EventView, name: str, answer: str = "") -> str:
    if read.seconds_left is None or read.seconds_left <= 0:
        return PHRASES["expired"]
    return PHRASES[name].format(format_duration(read.seconds_left), answer)


def _compose_clarification(event: AwaitingClarification, read: EventView) -> Iterable[str]:
    yield PHRASES["question"]
    question = read.short_text("question")
    if read.is_detailed:
        yield _omit_if_repeated(read.summary(), question)
    yield question or PHRASES["question.none"]
    if why := read.short_text("context"):
        yield PHRASES["why"].format(why)
    labels = _choice_labels(event)
    if labels:
        yield PHRASES["choices"]
        yield from (
            PHRASES["choice"].format(number, read.shorten(label, "choices"))
            for number, label in enumerate(labels, start=1)
        )
    for kind in get_member(event, "accepted_response_kinds") or (() if labels else ("freetext",)):
        yield get_phrase(f"kind.{kind}")
    default = get_member(event, "default_response")
    plain = sanitize(default) if isinstance(default, str) else ""
    yield _format_timeout(
        read, "default.response" if plain else "default.none", read.shorten(plain, "default_response")
    )


def _choice_labels(event: AwaitingClarification) -> list[str]:
    """What to read for each choice; a choice without a readable label is read by its value."""
    found = []
    for choice in get_member(event, "choices") or ():
        texts = [getattr(choice, name, None) for name in ("label", "value")]
        plain = [sanitize(text) for text in texts if isinstance(text, str)]
        found.append(next(filter(None, plain), "?"))
    return found


def _compose_handoff(event: HandoffRequested, read: EventView) -> Iterable[str]:
    label, reason, summary = (
        get_phrase(f"handoff.{event.target_kind}", "handoff.other"),
        read.short_text("reason"),
        read.summary(),
    )
    yield from (label, reason or summary)
    if reason and read.verbosity != "terse" and summary != label:
        yield summary


def _compose_other(event: Envelope, read: EventView) -> Iterable[str]:
    """C-08, CF-130: an extension's event, one newer than us, or a core one whose payload cannot be used."""
    kind = CORE_EVENTS.get(event.type)
    yield PHRASES["incomplete" if kind else "notice"]
    parts = (
        [read.short_text(name) for name in ("action", "consequence", "question", "reason")] if kind in CRITICAL else []
    )
    parts.append(read.summary())
    name = truncate(sanitize(event.type), 120).removeprefix("aaep:agent.").replace(".", " ")
    yield from parts if any(parts) else [PHRASES["notice.type"].format(name)]
    if kind in (AwaitingConfirmation, AwaitingClarification):
        yield PHRASES["incomplete.prompt"]


_COMPOSERS: Final[Mapping[type[Envelope], Callable[[Any, EventView], Iterable[str]]]] = {
    SessionStarted: _compose_started,
    SessionCompleted: _compose_completed,
    SessionErrored: _compose_errored,
    SessionCancelled: _compose_cancelled,
    StateChanged: _compose_state_change,
    ProgressUpdated: _compose_progress,
    ToolInvoked: _compose_tool_invoked,
    ToolCompleted: _compose_tool_completed,
    OutputStreaming: _compose_output,
    AwaitingConfirmation: _compose_confirmation,
    AwaitingClarification: _compose_clarification,
    HandoffRequested: _compose_handoff,
}
_WORD: Final = re.compile(r"\w+")
_SPEAKABLE_BOUNDARIES: Final = ("sentence", "paragraph", "completion")
_TRANSIENT_EVENTS: Final = (StateChanged, ProgressUpdated)


def _join_sentences(parts: Iterable[str]) -> str:
    """
    Sentences in a row; a label that the text behind it says too is not said twice.

    Only a whole sentence counts: "Error-free run." must not swallow "Error.".
    """
    said = [part for part in parts if part]
    if len(said) > 1 and f"{said[1]} ".casefold().startswith(f"{said[0]} ".casefold()):
        del said[0]
    return " ".join(said)


def _omit_if_repeated(text: str, *said: str) -> str:
    """The text, or nothing where each of its words is said beside it: nobody has to hear a thing twice."""
    heard, left = _normalize_words(" ".join(said)), _normalize_words(text)
    for one in said:
        left = left.replace(_normalize_words(one), " ", 1)
    return "" if not left.strip() or left in heard else text


def _normalize_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _omit_stock_summary(summary: str) -> str:
    """A summary, unless it is but the word that the label before it says in other words."""
    return "" if summary in ("Done.", "Failed.") else summary


def _prompt_keys(event: Envelope, preferences: Preferences, whole: bool, more: bool) -> tuple[tuple[str, str], ...]:
    """The keys of a prompt. Accepting is not among them unless action and consequence were said in full (C-22)."""
    offered: list[str] = []
    answers: list[tuple[str, str]] = []
    if isinstance(event, AwaitingConfirmation):
        allowed = get_member(event, "allowed_replies")
        readable = all(sanitize(text) for text in (event.action, event.consequence))
        if whole and readable and (allowed is None or "accept" in allowed):
            offered.append("accept")
        offered.append("reject" if allowed is None or "reject" in allowed else "close")
    elif isinstance(event, AwaitingClarification):
        answers = [(str(number), label) for number, label in enumerate(_choice_labels(event), start=1)]
        if "yes_no" in (get_member(event, "accepted_response_kinds") or ()):
            answers += [("y", PHRASES["key.yes"]), ("n", PHRASES["key.no"])]
    elif event.type == "aaep:agent.awaiting.confirmation":
        offered.append("reject")
    offered += ["more", "time"] if more else ["time"]
    keys = preferences.keys
    return (*(answers if keys else ()), *((keys[name], PHRASES[f"key.{name}"]) for name in offered if name in keys))


def _prompt_token(event: Envelope) -> tuple[str, bool]:
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
_STATES_WITH_OWN_EVENT: Final = {"calling_tool", "writing_output", "awaiting_input", "handing_off", "idle"}


def announce(
    event: Envelope, preferences: Preferences = DEFAULT_PREFERENCES, *, remaining: float | None = None
) -> Announcement | None:
    """
    What to say about an event; None if it is not to be said by itself.

    That is so for a piece of output that ends at no boundary (OUT-007; use
    :class:`Outputs`), and for mere progress where the fewest announcements are
    wanted (PROG-003). ``remaining`` is how many seconds a prompt is still open.
    """
    type_ = CORE_EVENTS.get(event.type, type(event))
    urgency: Urgency = "critical" if type_ in CRITICAL else _urgency(event)  # C-16: whatever it says
    prompt, asks = _prompt_token(event)
    passing = type_ in _TRANSIENT_EVENTS and urgency == "background" and not prompt
    if (passing and preferences.load == "low") or (isinstance(event, OutputStreaming) and not _is_at_boundary(event)):
        return None
    left = _seconds_left(event, remaining)
    verbosity = "terse" if preferences.load == "low" else preferences.verbosity
    read = EventView(event, preferences, verbosity, MAX_SPOKEN_LENGTH, left)
    whole = EventView(event, preferences, "detailed", math.inf, left)
    compose = _COMPOSERS.get(type(event), _compose_other)
    text, detail = _join_sentences(compose(event, read)), _join_sentences(compose(event, whole))
    keys = (
        _prompt_keys(event, preferences, not read.cut_fields & {"action", "consequence"}, text != detail)
        if asks
        else ()
    )
    detail_keys = _prompt_keys(event, preferences, True, False) if asks else ()
    text, detail = _append_key_help(text, keys, preferences), _append_key_help(detail, detail_keys, preferences)
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
        about=whole.full_text("question" if type_ is AwaitingClarification else "action") if asks else "",
        timeout=(left or 0.0) if asks else 0.0,
        keys=keys,
        detail_keys=detail_keys,
        careful=isinstance(event, AwaitingConfirmation) and _is_risky(event, read),
        cut=bool(read.cut_fields),
        redundant=isinstance(event, StateChanged) and _is_redundant(event, preferences.verbosity),
        seconds=max(len(text.split()), len(text) / 8) * 60 / max(preferences.pace, 1),  # not every script has spaces
    )


def _is_at_boundary(event: OutputStreaming) -> bool:
    """OUT-007: whether there is text, and it ends at a boundary."""
    hint, text = get_member(event, "coalesce_hint"), sanitize(event.chunk)
    return bool(text) and (
        event.complete or hint in _SPEAKABLE_BOUNDARIES or (hint != "none" and ensure_full_stop(text) == text)
    )


def _seconds_left(event: Envelope, remaining: float | None) -> float | None:
    """How many seconds there are to answer; a stranger may send any number."""
    known = remaining is not None and math.isfinite(remaining)
    left = remaining if known else get_member(event, "timeout_seconds")
    return float(min(left, 10**9)) if isinstance(left, (int, float)) else None


def _is_risky(event: AwaitingConfirmation, read: EventView) -> bool:
    """Whether accepting takes a second key: for what was not heard in full, is risky, or cannot be undone."""
    final, risk = _effective_reversibility(event) in ("irreversible", "none"), get_member(event, "risk_level")
    return bool(read.cut_fields) or final or risk not in ("low", "medium")


def _language(read: EventView) -> str:
    """Of the event's text; nothing but our own phrases is English."""
    if read.language is None:
        return "en"
    return read.language or next(iter(read.preferences.languages), "en")  # C-17: what nobody states is assumed


def _urgency(event: Envelope) -> Urgency:
    return event.urgency if event.urgency in ("background", "critical") else "normal"


def _append_key_help(text: str, keys: tuple[tuple[str, str], ...], preferences: Preferences) -> str:
    words = {"y": "yes", "n": "no", **{key: COMMAND_WORDS.get(name, key) for name, key in preferences.keys.items()}}
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

    def __init__(self, preferences: Preferences = DEFAULT_PREFERENCES, max_length: int = 16_384) -> None:
        self.preferences = preferences
        self.max_length = max_length  # what is held is let go when it gets longer than this
        self._pending: dict[tuple[str, str, str], tuple[OutputStreaming, str, int]] = {}

    def feed(self, event: Envelope) -> list[Announcement]:
        """Take any event; what can now be said of the outputs, before the event itself is."""
        if isinstance(event, OutputStreaming):
            return self._add_chunk(event)
        if isinstance(event, TERMINAL) or CORE_EVENTS.get(event.type) in TERMINAL:
            return self.flush(event.session_id)
        return []

    def announce(self, event: Envelope) -> list[Announcement]:
        """All that is to be said when an event comes: of the outputs first, then of the event itself."""
        said = self.feed(event)
        own = None if isinstance(event, OutputStreaming) else announce(event, self.preferences)
        return said if own is None else [*said, own]

    def flush(self, session_id: str = "") -> list[Announcement]:
        """Say whatever is held, of one session or of all: at its end, or when too long was waited."""
        keys = [key for key in self._pending if session_id in ("", key[0])]
        held = [self._pending.pop(key) for key in keys]
        return [said for event, text, start in held for said in self._announce_text(event, text, start)]

    def _add_chunk(self, event: OutputStreaming) -> list[Announcement]:
        key = (event.session_id, event.producer.agent_id, get_member(event, "output_id") or "")  # C-47
        _, text, start = self._pending.pop(key, (event, "", event.position))
        text += event.chunk
        hint = get_member(event, "coalesce_hint")
        if event.complete or hint in _SPEAKABLE_BOUNDARIES or len(text) > self.max_length:
            return self._announce_text(event, text, start)
        size = 0 if hint == "none" else cut_at(text, "sentence", language=output_language(event))
        if size < len(text):
            self._pending[key] = (event, text[size:], start + size)
        return self._announce_text(event, text[:size], start)

    def _announce_text(self, event: OutputStreaming, text: str, start: int) -> list[Announcement]:
        whole = msgspec.structs.replace(event, chunk=text, position=start, coalesce_hint="sentence")
        said = announce(whole, self.preferences)
        return [] if said is None else [said]
