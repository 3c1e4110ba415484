"""
Announcements: the sentences that a listener hears for an event, according to their preferences.

Announcements are whole sentences, with a label first. Nothing here waits,
speaks or reads a clock; :mod:`aaep.presentation.queue` decides what is said when.
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
)
from ..protocol.fields import Urgency, get_member
from ..text.phrases import PHRASES, ensure_full_stop, format_duration, get_phrase, humanize_name
from ..text.sanitize import MAX_SPOKEN_LENGTH, sanitize, truncate
from ..text.summaries import STATE_SUMMARIES, tells_missing_answer
from .preferences import COMMAND_WORDS, DEFAULT_KEYS, DEFAULT_PREFERENCES, EventView, Preferences

__all__ = ["DEFAULT_KEYS", "SPEAKABLE_BOUNDARIES", "Announcement", "Preferences", "announce", "choice_labels"]


_WORD: Final = re.compile(r"\w+")
SPEAKABLE_BOUNDARIES: Final = ("sentence", "paragraph", "completion")
_TRANSIENT_EVENTS: Final = (StateChanged, ProgressUpdated)
# Tools, outputs, prompts, handoffs and the end of a session are announced by events of their own.
_STATES_WITH_OWN_EVENT: Final = {"calling_tool", "writing_output", "awaiting_input", "handing_off", "idle"}


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """What to say about an event."""

    text: str  # one line, unless it asks about something of several lines, such as code
    detail: str  # everything there is to say, nothing shortened
    rest: str = ""  # of a prompt that was shortened, what comes after the place where it was cut
    language: str
    urgency: Urgency
    interrupts: bool
    event_id: str
    session_id: str
    event: Envelope
    prompt: str = ""  # the reply token of the prompt that this asks or closes
    asks: bool = False  # whether it is the prompt itself
    about: str = ""  # the full action or question of a prompt, which tells prompts apart
    timeout: float = 0.0  # seconds left to answer
    keys: tuple[tuple[str, str], ...] = ()  # pairs of a key and what it does
    detail_keys: tuple[tuple[str, str], ...] = ()  # the keys once the detail was heard
    careful: bool = False  # accepting takes a second key press
    cut: bool = False  # the text was shortened
    seconds: float = 0.0  # approximate speaking time
    redundant: bool = False  # another event says the same and more


# -- sentences for each event type -----------------------------------------------------------


def _compose_started(event: SessionStarted, view: EventView) -> Iterable[str]:
    yield from (PHRASES["started"], view.summary())
    if view.is_detailed:
        yield view.duration_text("expected_duration_ms", "takes")


def _compose_completed(event: SessionCompleted, view: EventView) -> Iterable[str]:
    summary = view.summary()
    is_unfinished = f"{summary} ".startswith(f"{PHRASES['ended']} ")  # then it is not done
    yield from ("" if is_unfinished else PHRASES["completed"], summary)
    if view.is_detailed:
        yield from (
            view.short_text("output_summary"),
            _omit_if_repeated(view.duration_text("duration_ms", "took"), summary),
        )


def _compose_errored(event: SessionErrored, view: EventView) -> Iterable[str]:
    hint = view.short_text("remediation_hint")
    yield from (PHRASES["errored"], _omit_stock_summary(view.summary()), hint)
    if view.is_detailed or not hint:
        yield get_phrase(f"category.{event.error_category}")
    if view.is_detailed and isinstance(event.error_code, str):
        yield PHRASES["code"].format(sanitize(event.error_code))


def _compose_cancelled(event: SessionCancelled, view: EventView) -> Iterable[str]:
    summary = view.summary()
    yield from (PHRASES["cancelled"], summary)
    if view.is_detailed or not summary:
        yield get_phrase(f"by.{event.cancelled_by}")
    if view.is_detailed and (partial := view.short_text("partial_result")):
        yield PHRASES["partial"].format(partial)


def _compose_state_change(event: StateChanged, view: EventView) -> Iterable[str]:
    members = attend_members(event)
    outcome = members.get("outcome")
    summary = view.summary()
    if isinstance(outcome, str):
        is_told = outcome == "timed_out" and tells_missing_answer(summary)
        yield "" if is_told else get_phrase(f"outcome.{outcome}", "outcome.other")
    elif members.get("resync") is True:
        yield PHRASES["resync"]
    if summary:
        yield summary
    elif not isinstance(outcome, str):
        state = sanitize(event.to_state).replace("_", " ").strip()
        phrase = get_phrase(f"state.{event.to_state}", "state.other" if state else "state.unnamed")
        yield phrase.format(truncate(state, 80))


def _is_redundant(event: Envelope, verbosity: str) -> bool:
    """Whether an event adds nothing to the one that accompanies it. STATE-008"""
    if isinstance(event, ToolInvoked):
        return attend_members(event).get("skipped") is True  # the end of the call tells that it never began
    if not isinstance(event, StateChanged):
        return False
    is_after_tool = event.from_state == "calling_tool" and event.to_state == "thinking"  # tool.completed said it
    has_own_event = is_after_tool or event.to_state in _STATES_WITH_OWN_EVENT
    stock_summary = STATE_SUMMARIES[event.to_state].normal if has_own_event else ""
    members = attend_members(event)
    closes_prompt = event.from_state == "awaiting_input" or "outcome" in members  # which has to be heard
    if members.get("resync") is True and event.to_state != "awaiting_input":  # of which the prompt itself is sent too
        return False
    return verbosity != "detailed" and event.summary_normal == stock_summary and not closes_prompt


def _compose_progress(event: ProgressUpdated, view: EventView) -> Iterable[str]:
    yield PHRASES["progress"]
    step, total, percent = (get_member(event.progress, name) for name in ("step", "total_steps", "percent"))
    summary = view.summary()
    text = get_member(event.progress, "description")
    description = view.shorten(sanitize(text), "progress") if isinstance(text, str) else ""
    numbers = []
    if isinstance(percent, (int, float)):
        numbers.append(PHRASES["percent"].format(round(percent)))
    if isinstance(step, int):
        has_total = isinstance(total, int) and total >= step
        numbers.append(PHRASES["step.of" if has_total else "step"].format(step, total))
    if summary:
        yield summary
        yield from (_omit_if_repeated(number, summary) for number in numbers if view.is_detailed)
    elif description or numbers:
        view.language = view.primary_language if description else None
        yield from (description, *numbers)
    else:
        yield PHRASES["progress.none"]
    if view.is_detailed:
        yield view.duration_text("eta_ms", "left")


def _format_tool_label(event: ToolInvoked | ToolCompleted, phrase: str) -> str:
    tool_name = truncate(humanize_name(sanitize(event.tool)), 80) or PHRASES["tool"]
    label = PHRASES[phrase].format(tool_name)
    return label[:1].upper() + label[1:]


def _compose_tool_invoked(event: ToolInvoked, view: EventView) -> Iterable[str]:
    label = _format_tool_label(event, "invoked")
    summary = view.summary()
    yield from (label, _omit_if_repeated(summary, label) if summary else view.short_text("description"))
    if view.is_detailed:
        yield from (
            view.short_text("description") if summary else "",
            _omit_if_repeated(view.short_text("args_summary"), summary),
        )
        yield view.duration_text("expected_duration_ms", "takes")
    if event.irreversible is True and view.verbosity != "terse":
        yield PHRASES["undo.irreversible"]


def _compose_tool_completed(event: ToolCompleted, view: EventView) -> Iterable[str]:
    summary = view.summary()
    if attend_members(event).get("skipped") is True:
        yield view.short_text("summary_normal")  # all there is to tell of both events of the call
        return
    if event.status == "success":
        yield from (_format_tool_label(event, "success"), _omit_stock_summary(summary))
    elif event.status == "error" and event.error_message == "cancelled":  # C-42: the tool has stopped
        label = _format_tool_label(event, "stopped")
        yield from (label, _omit_if_repeated(summary, label) if view.is_detailed else "")
    else:
        label = _format_tool_label(event, "timeout" if event.status == "timeout" else "error")
        yield label
        members = parse_json(event.raw)[0] if event.raw else None  # C-61: an unknown status is said as it is
        status = members.get("status") if isinstance(members, dict) else None
        if isinstance(status, str) and status not in ("success", "error", "timeout") and sanitize(status):
            yield PHRASES["status"].format(truncate(sanitize(status), 80))
        message = _omit_if_repeated(view.short_text("error_message"), label)
        yield message or _omit_stock_summary(_omit_if_repeated(summary, label))
        if message and view.is_detailed:
            yield _omit_if_repeated(summary, label, message)
    if view.is_detailed:
        yield _omit_if_repeated(view.duration_text("duration_ms", "took"), summary)


def _compose_output(event: OutputStreaming, view: EventView) -> Iterable[str]:
    view.language = event.language if isinstance(event.language, str) else view.primary_language  # OUT-012
    text = ensure_full_stop(sanitize(event.chunk))  # never cut: what is long is announced sentence by sentence
    if text and event.position == 0:
        name = get_member(event.producer, "agent_name")
        yield PHRASES["says"].format(truncate(sanitize(name), 80) if isinstance(name, str) else PHRASES["agent"])
    yield text


def _compose_confirmation(event: AwaitingConfirmation, view: EventView) -> Iterable[str]:
    """Yield action and consequence at every verbosity, then risk, time, default and whether it can be refused. C-51"""
    yield PHRASES["confirm"]
    action = view.short_text("action")
    consequence = view.short_text("consequence")
    if view.is_detailed:
        yield _omit_if_repeated(view.summary(), *map(sanitize, (event.action, event.consequence)), action, consequence)
    yield action or PHRASES["action.none"]
    yield PHRASES["consequence"].format(consequence) if consequence else PHRASES["consequence.none"]
    yield get_phrase(f"risk.{get_member(event, 'risk_level')}", "risk.none")
    yield PHRASES[f"undo.{_resolve_reversibility(event)}"]
    yield _format_timeout(view, "default.accept" if event.default_decision == "accept" else "default.reject")
    allowed = get_member(event, "allowed_replies")
    yield PHRASES["refusable" if allowed is None or "reject" in allowed else "unrefusable"]  # CF-018
    if allowed is not None and "accept" not in allowed:
        yield PHRASES["unacceptable"]
    if not view.is_heard and view.remainders.keys() & {"action", "consequence"}:
        yield PHRASES["uncut"]


def _resolve_reversibility(event: AwaitingConfirmation) -> str:
    """Return how an action can be undone; a contradiction counts as irreversible, no statement as "none". CF-021"""
    irreversible = get_member(event, "irreversible")
    reversibility = get_member(event, "reversibility")
    if irreversible is True or reversibility == "irreversible":
        return "irreversible"
    if reversibility in ("reversible", "reversible_with_effort"):
        return str(reversibility)
    return "reversible" if irreversible is False else "none"


def _format_timeout(view: EventView, phrase: str, answer: str = "") -> str:
    """Return the phrase for the time left and for what happens then."""
    if view.seconds_left is None or view.seconds_left <= 0:
        return PHRASES["expired"]
    return PHRASES[phrase].format(format_duration(view.seconds_left), answer)


def _compose_clarification(event: AwaitingClarification, view: EventView) -> Iterable[str]:
    yield PHRASES["question"]
    question = view.short_text("question")
    if view.is_detailed:
        yield _omit_if_repeated(view.summary(), sanitize(event.question), question)
    yield question or PHRASES["question.none"]
    if context := view.short_text("context"):
        yield PHRASES["why"].format(context)
    labels = choice_labels(event)
    if labels:
        yield PHRASES["choices"]
        yield from (
            PHRASES["choice"].format(number, view.shorten(label, "choices"))
            for number, label in enumerate(labels, start=1)
        )
    for kind in get_member(event, "accepted_response_kinds") or (() if labels else ("freetext",)):
        yield get_phrase(f"kind.{kind}")
    default = get_member(event, "default_response")
    answer = sanitize(default) if isinstance(default, str) else ""
    phrase = "default.response" if answer else "default.none"
    yield _format_timeout(view, phrase, view.shorten(answer, "default_response"))


def choice_labels(event: AwaitingClarification) -> list[str]:
    """Return the spoken text of each choice: its label, else its value, else "?"."""
    labels = []
    for choice in get_member(event, "choices") or ():
        texts = [getattr(choice, name, None) for name in ("label", "value")]
        sanitized_texts = [sanitize(text) for text in texts if isinstance(text, str)]
        labels.append(next(filter(None, sanitized_texts), "?"))
    return labels


def _compose_handoff(event: HandoffRequested, view: EventView) -> Iterable[str]:
    label = get_phrase(f"handoff.{event.target_kind}", "handoff.other")
    reason = view.short_text("reason")
    summary = view.summary()
    yield from (label, reason or summary)
    if reason and view.verbosity != "terse" and summary != label:
        yield summary


def _compose_other(event: Envelope, view: EventView) -> Iterable[str]:
    """Yield the sentences for an extension's event, an unknown one, or a core one that is invalid. C-08, CF-130"""
    core_type = CORE_EVENTS.get(event.type)
    yield PHRASES["incomplete" if core_type else "notice"]
    parts = []
    if core_type in CRITICAL:
        parts = [view.short_text(name) for name in ("action", "consequence", "question", "reason")]
    parts.append(view.summary())
    type_name = truncate(sanitize(event.type), 120).removeprefix("aaep:agent.").replace(".", " ")
    yield from parts if any(parts) else [PHRASES["notice.type"].format(type_name)]
    if core_type in (AwaitingConfirmation, AwaitingClarification):
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


# -- joining sentences -----------------------------------------------------------------------


def _join_sentences(parts: Iterable[str]) -> str:
    """
    Join sentences, without a label that the text after it begins with.

    Only a whole sentence counts: "Error-free run." must not replace "Error.".
    """
    sentences = [part for part in parts if part]
    if len(sentences) > 1 and f"{sentences[1]} ".casefold().startswith(f"{sentences[0]} ".casefold()):
        del sentences[0]
    return " ".join(sentences)


def _omit_if_repeated(text: str, *others: str) -> str:
    """Return a text, or nothing if the texts beside it already say all of its words."""
    other_words = _normalize_words(" ".join(others))
    remaining_words = _normalize_words(text)
    for other in others:
        remaining_words = remaining_words.replace(_normalize_words(other), " ", 1)
    return "" if not remaining_words.strip() or remaining_words in other_words else text


def _normalize_words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _omit_stock_summary(summary: str) -> str:
    """Return a summary, or nothing if it only repeats its label in other words."""
    return "" if summary in ("Done.", "Failed.") else summary


# -- prompts ---------------------------------------------------------------------------------


def _prompt_keys(
    event: Envelope, preferences: Preferences, *, is_complete: bool, has_detail: bool
) -> tuple[tuple[str, str], ...]:
    """Return the keys of a prompt; it can be accepted only if action and consequence are said in full (C-22)."""
    commands: list[str] = []
    answers: list[tuple[str, str]] = []
    if isinstance(event, AwaitingConfirmation):
        allowed = get_member(event, "allowed_replies")
        is_readable = all(sanitize(text) for text in (event.action, event.consequence))
        if is_complete and is_readable and (allowed is None or "accept" in allowed):
            commands.append("accept")
        commands.append("reject" if allowed is None or "reject" in allowed else "close")
    elif isinstance(event, AwaitingClarification):
        answers = [(str(number), label) for number, label in enumerate(choice_labels(event), start=1)]
        if "yes_no" in (get_member(event, "accepted_response_kinds") or ()):
            answers += [("y", PHRASES["key.yes"]), ("n", PHRASES["key.no"])]
    elif event.type == "aaep:agent.awaiting.confirmation":
        commands.append("reject")
    commands += ["more", "time"] if has_detail else ["time"]
    keys = preferences.keys
    command_keys = ((keys[command], PHRASES[f"key.{command}"]) for command in commands if command in keys)
    return (*(answers if keys else ()), *command_keys)


def _compose_rest(view: EventView) -> str:
    """Return what is left of a prompt's texts after the places where they were cut."""
    phrase = "rest.{0}" if len(view.remainders) > 1 else "rest"
    return " ".join(
        get_phrase(phrase.format(name), "rest").format(ensure_full_stop(rest)) for name, rest in view.remainders.items()
    )


def _find_prompt_token(event: Envelope) -> tuple[str, bool]:
    """Return the token of the prompt that an event asks or closes, and whether it asks."""
    if isinstance(event, (AwaitingConfirmation, AwaitingClarification)):
        return event.reply_token, True
    if CORE_EVENTS.get(event.type) in (AwaitingConfirmation, AwaitingClarification):
        token = event.unknown.get("reply_token")
        return (token, True) if isinstance(token, str) else ("", False)
    members = attend_members(event)
    token = members.get("reply_token")
    return (token, False) if isinstance(token, str) and "outcome" in members else ("", False)


# -- announcements ---------------------------------------------------------------------------


def announce(
    event: Envelope,
    preferences: Preferences = DEFAULT_PREFERENCES,
    *,
    remaining: float | None = None,
    heard: bool = False,
) -> Announcement | None:
    """
    Return the announcement of an event, or None if it is not announced by itself.

    That is so for a chunk of output that ends at no boundary (OUT-007; use
    :class:`~aaep.presentation.presenter.Presenter`), and for background progress where the listener wants the
    fewest announcements (PROG-003). ``remaining`` is the number of seconds that
    a prompt is still open, and ``heard`` says that the whole of it was heard
    before, so that it can be accepted though it is shortened (C-22).
    """
    event_type = CORE_EVENTS.get(event.type, type(event))
    urgency: Urgency = "critical" if event_type in CRITICAL else _get_urgency(event)  # C-16: whatever it says
    prompt, asks = _find_prompt_token(event)
    is_transient = event_type in _TRANSIENT_EVENTS and urgency == "background" and not prompt
    if is_transient and preferences.load == "low":
        return None
    if isinstance(event, OutputStreaming) and not _is_at_boundary(event):
        return None
    seconds_left = _get_seconds_left(event, remaining)
    verbosity = "terse" if preferences.load == "low" else preferences.verbosity
    view = EventView(event, preferences, verbosity, MAX_SPOKEN_LENGTH, seconds_left, is_heard=heard)
    full_view = EventView(event, preferences, "detailed", math.inf, seconds_left)
    compose = _COMPOSERS.get(type(event), _compose_other)
    text = _join_sentences(compose(event, view))
    detail = _join_sentences(compose(event, full_view))
    keys: tuple[tuple[str, str], ...] = ()
    detail_keys: tuple[tuple[str, str], ...] = ()
    about = ""
    if asks:
        is_complete = heard or not view.remainders.keys() & {"action", "consequence"}
        keys = _prompt_keys(event, preferences, is_complete=is_complete, has_detail=text != detail)
        detail_keys = _prompt_keys(event, preferences, is_complete=True, has_detail=False)
        about = full_view.full_text("question" if event_type is AwaitingClarification else "action")
    text = _append_key_help(text, keys, preferences)
    detail = _append_key_help(detail, detail_keys, preferences)
    rest = _append_key_help(_compose_rest(view), detail_keys, preferences) if asks and view.remainders else ""
    return Announcement(
        text=text,
        detail=detail,
        rest=rest,
        language=_get_language(view),
        urgency=urgency,
        interrupts=urgency == "critical",
        event_id=event.event_id,
        session_id=event.session_id,
        event=event,
        prompt=prompt,
        asks=asks,
        about=about,
        timeout=(seconds_left or 0.0) if asks else 0.0,
        keys=keys,
        detail_keys=detail_keys,
        careful=isinstance(event, AwaitingConfirmation) and _is_risky(event, view),
        cut=bool(view.remainders),
        redundant=_is_redundant(event, preferences.verbosity),
        seconds=max(len(text.split()), len(text) / 8) * 60 / max(preferences.pace, 1),  # not every script has spaces
    )


def _is_at_boundary(event: OutputStreaming) -> bool:
    """Whether a chunk has text that ends at a boundary. OUT-007"""
    hint = get_member(event, "coalesce_hint")
    text = sanitize(event.chunk)
    return bool(text) and (
        event.complete or hint in SPEAKABLE_BOUNDARIES or (hint != "none" and ensure_full_stop(text) == text)
    )


def _get_seconds_left(event: Envelope, remaining: float | None) -> float | None:
    """Return the number of seconds left to answer, limited as an untrusted producer may send any number."""
    is_known = remaining is not None and math.isfinite(remaining)
    seconds = remaining if is_known else get_member(event, "timeout_seconds")
    return float(min(seconds, 10**9)) if isinstance(seconds, (int, float)) else None


def _is_risky(event: AwaitingConfirmation, view: EventView) -> bool:
    """Whether accepting takes a second key press: not heard in full, of high risk, or irreversible."""
    is_final = _resolve_reversibility(event) in ("irreversible", "none")
    has_low_risk = get_member(event, "risk_level") in ("low", "medium")
    return bool(view.remainders) or is_final or not has_low_risk


def _get_language(view: EventView) -> str:
    """Return the language of the event's text, or English where only our own phrases are said."""
    if view.language is None:
        return "en"
    return view.language or next(iter(view.preferences.languages), "en")  # C-17: assumed where it is not stated


def _get_urgency(event: Envelope) -> Urgency:
    return event.urgency if event.urgency in ("background", "critical") else "normal"


def _append_key_help(text: str, keys: tuple[tuple[str, str], ...], preferences: Preferences) -> str:
    """Append the sentence that lists the keys, or the command words where input is by lines."""
    words = {"y": "yes", "n": "no", **{key: COMMAND_WORDS.get(name, key) for name, key in preferences.keys.items()}}
    hints = [
        PHRASES["key"].format(words.get(key, key) if preferences.lines else key, effect)
        for key, effect in keys
        if not key.isdecimal()  # the numbers of choices are part of the text
    ]
    if not hints:
        return text
    sentence = PHRASES["write" if preferences.lines else "press"].format(", ".join(hints))
    return f"{text} {sentence}"
