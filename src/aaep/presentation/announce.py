"""
Announcements: the sentences that a listener hears for an event, according to their preferences.

Announcements are whole sentences, with a label first. Nothing here waits,
speaks or reads a clock; :mod:`aaep.presentation.queue` decides what is said when.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
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
    ProducerInfo,
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
from ..text.actions import describe_undone
from ..text.imitation import guard_value, imitates_any, imitates_reader
from ..text.invisible import has_visible, spell_invisible
from ..text.phrases import ENGLISH, Phrases, capitalize, ensure_full_stop, humanize_name
from ..text.sanitize import MAX_SPOKEN_LENGTH, sanitize, truncate
from ..text.summaries import MAX_TERSE_WORDS, summarize_state
from .pace import estimate_seconds
from .preferences import (
    DEFAULT_KEYS,
    DEFAULT_PREFERENCES,
    NO_BACKGROUND,
    Background,
    EventView,
    Preferences,
    find_agent_phrases,
    find_command_word,
)

__all__ = [
    "DEFAULT_KEYS",
    "SPEAKABLE_BOUNDARIES",
    "Announcement",
    "Preferences",
    "announce",
    "announce_line",
    "choice_labels",
    "list_keys",
]


_WORD: Final = re.compile(r"\w+")
SPEAKABLE_BOUNDARIES: Final = ("sentence", "paragraph", "completion")
_NO_EVENT: Final = Envelope(type="", event_id="", session_id="", timestamp="", producer=ProducerInfo(agent_id=""))
_TRANSIENT_EVENTS: Final = (StateChanged, ProgressUpdated)
# Tools, outputs, prompts, handoffs and the end of a session are announced by events of their own.
_STATES_WITH_OWN_EVENT: Final = {"calling_tool", "writing_output", "awaiting_input", "handing_off", "idle"}


class Announcement(msgspec.Struct, frozen=True, kw_only=True):
    """What to say about an event."""

    text: str  # one line, unless it asks about something of several lines, such as code
    detail: str  # everything there is to say, nothing shortened
    rest: str = ""  # of a prompt that was shortened, what comes after the place where it was cut
    language: str  # of the agent's text, or of our own words where there is nothing else
    own_language: str = "en"  # of our own words
    quoted: bool = False  # it begins with words of the agent, and not with ours
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
    replaces: str = ""  # the reply token of the same prompt as it was asked before, with less time
    background: Background = NO_BACKGROUND  # what the listener knew, to announce it again


# -- sentences for each event type -----------------------------------------------------------


def _compose_started(event: SessionStarted, view: EventView) -> Iterable[str]:
    yield view.phrases["started"]
    summary = view.summary()
    if view.is_terse and summary == view.phrases["started"]:
        normal = view.short_text("summary_normal")
        summary = normal if len(normal.split()) <= MAX_TERSE_WORDS else ""
    yield summary
    if view.background.parent_name:
        yield view.phrases.format(
            "part", parent=ensure_full_stop(guard_value(view.background.parent_name, view.phrases))
        )
    if view.is_detailed:
        yield view.duration_text("expected_duration_ms", "takes")


def _compose_completed(event: SessionCompleted, view: EventView) -> Iterable[str]:
    summary = view.summary()
    ended = view.agent_phrases["ended"]
    is_told = _begins_with(summary, ended) and summary != ended
    if is_told:  # the agent itself says what was not done
        yield summary
    elif view.background.undone:
        yield view.phrases["ended"]
        yield describe_undone(view.background.undone, view.phrases)
        for phrases in (view.agent_phrases, view.phrases):
            summary = summary.removeprefix(phrases["ended"]).removeprefix(phrases["completed"]).strip()
        yield summary
    else:
        yield from (view.phrases["completed"], summary)
    if view.is_detailed:
        yield from (
            view.short_text("output_summary"),
            _omit_if_repeated(view.duration_text("duration_ms", "took"), summary),
        )


def _compose_errored(event: SessionErrored, view: EventView) -> Iterable[str]:
    hint = view.short_text("remediation_hint")
    yield from (view.phrases["errored"], _omit_stock_summary(view.summary(), view), hint)
    if not hint:
        yield view.phrases.format_first(f"category-{event.error_category}")
    if view.is_detailed and isinstance(event.error_code, str):
        yield view.phrases.format("code", code=guard_value(sanitize(event.error_code), view.phrases))


def _compose_cancelled(event: SessionCancelled, view: EventView) -> Iterable[str]:
    phrases = view.phrases
    summary = _omit_stock_summary(view.summary(), view)
    yield phrases["cancelled"]
    stock = [f"{each['cancelled']} {each['unfinished']}" for each in (view.agent_phrases, phrases)]
    is_stock = summary in (phrases["unfinished"], *stock)
    if is_stock:
        summary = phrases["unfinished"]
    yield summary if summary or view.is_terse else phrases["unfinished"]
    if view.is_detailed:
        yield phrases.format_first(f"by-{event.cancelled_by}") if is_stock or not summary else ""
        if partial := view.short_text("partial_result"):
            yield phrases.format("partial", result=partial)


def _compose_state_change(event: StateChanged, view: EventView) -> Iterable[str]:
    members = attend_members(event)
    outcome = members.get("outcome")
    if isinstance(outcome, str):
        yield from _compose_outcome(outcome, view)
        return
    summary = view.summary()
    if members.get("resync") is True:
        yield view.phrases["resync"]
    if summary:
        yield summary
    else:
        state = sanitize(event.to_state).replace("_", " ").strip()
        names = (f"state-{event.to_state}", "state-other" if state else "state-unnamed")
        yield view.phrases.format_first(*names, state=guard_value(truncate(state, 80), view.phrases))


_NOT_DONE_OUTCOMES: Final = ("rejected", "timed_out", "withdrawn", "unavailable", "no_reply_channel")


def _compose_outcome(outcome: str, view: EventView) -> Iterable[str]:
    """Yield how a prompt ended, and what was therefore not done, unless the listener did it."""
    background = view.background
    phrases = view.phrases
    label = phrases.format_first(f"outcome-{outcome}", "outcome-other")
    summary = view.summary()
    # The agent may know better why: that nobody is left, for instance, and not that time ran out.
    names = [f"outcome-{name}" for name in (outcome, *_NOT_DONE_OUTCOMES) if f"outcome-{name}" in phrases]
    told_name = next((name for name in names if _begins_with(summary, view.agent_phrases[name])), "")
    if told_name:
        label = phrases[told_name]
        summary = view.retell(summary.removeprefix(view.agent_phrases[told_name]).strip())
    is_undone = bool(background.action) and outcome in _NOT_DONE_OUTCOMES
    if is_undone and outcome == "timed_out" and background.is_default_accept:
        is_undone = False
        summary = summary or phrases["outcome-granted"]
    if summary == phrases["outcome-modified"]:
        is_undone = False
    elif background.answered_by == "listener":
        is_undone = False  # who refused knows what was not done
        summary = "" if told_name else summary
    elif view.agent_phrases.recognizes("undone", summary):
        if view.agent_phrases is phrases:
            is_undone = False  # the agent says it
        elif background.action:
            summary = ""  # we say it, in the listener's language
    if background.answered_by == "other":
        label = phrases.format_first(f"outcome-{outcome}-elsewhere") or label
    yield label
    undone = describe_undone([background.action], phrases) if is_undone and not view.is_terse else ""
    yield undone
    yield _omit_if_repeated(summary, label, undone)


def _begins_with(text: str, sentence: str) -> bool:
    return f"{text} ".startswith(f"{sentence} ")


def _is_redundant(event: Envelope, preferences: Preferences) -> bool:
    """Whether an event adds nothing to the one that accompanies it. STATE-008"""
    if isinstance(event, ToolInvoked):
        return attend_members(event).get("skipped") is True  # the end of the call tells that it never began
    if not isinstance(event, StateChanged):
        return False
    is_after_tool = event.from_state == "calling_tool" and event.to_state == "thinking"  # tool.completed said it
    has_own_event = is_after_tool or event.to_state in _STATES_WITH_OWN_EVENT
    stock_summary = summarize_state(event.to_state, find_agent_phrases(event)).normal if has_own_event else ""
    members = attend_members(event)
    closes_prompt = event.from_state == "awaiting_input" or "outcome" in members  # which has to be heard
    if members.get("resync") is True and event.to_state != "awaiting_input":  # of which the prompt itself is sent too
        return False
    return not preferences.states and event.summary_normal == stock_summary and not closes_prompt


def _compose_progress(event: ProgressUpdated, view: EventView) -> Iterable[str]:
    step, total, percent = (get_member(event.progress, name) for name in ("step", "total_steps", "percent"))
    summary = view.summary()
    text = get_member(event.progress, "description")
    description = view.shorten(guard_value(sanitize(text), view.phrases), "progress") if isinstance(text, str) else ""
    words = {*_WORD.findall(summary or description)}
    numbers = []
    if isinstance(percent, (int, float)) and math.isfinite(percent) and str(round(percent)) not in words:
        numbers.append(view.phrases.format("percent", percent=round(percent)))
    if isinstance(step, int) and str(step) not in words and (percent is None or view.is_detailed):
        has_total = isinstance(total, int) and total >= step
        numbers.append(view.phrases.format("step-of" if has_total else "step", step=step, total=total))
    if summary:
        yield from (summary, *numbers)
    elif description or numbers:
        view.language = view.primary_language if description else None
        yield from (description, *numbers)
    else:
        yield view.phrases["progress-none"]
    if view.is_detailed:
        yield view.duration_text("eta_ms", "left")


def _format_tool_name(event: ToolInvoked | ToolCompleted, phrases: Phrases) -> str:
    return guard_value(truncate(humanize_name(sanitize(event.tool)), 80), phrases) or phrases["tool"]


def _compose_tool_invoked(event: ToolInvoked, view: EventView) -> Iterable[str]:
    name = _format_tool_name(event, view.phrases)
    label = view.phrases.format("invoked", tool=name)
    summary = view.summary()
    if summary == view.agent_phrases.format("invoked", tool=name):
        summary = label
    description = view.short_text("description")
    yield summary or label
    if not summary:
        yield _omit_if_repeated(description, label)
    elif view.is_detailed:
        yield _omit_if_repeated(description, summary)
    if view.is_detailed:
        yield _omit_if_repeated(view.short_text("args_summary"), summary)
        yield view.duration_text("expected_duration_ms", "takes")
    if event.irreversible is True and not view.is_terse and not view.background.is_agreed:
        yield view.phrases["undo-warning"]


def _compose_tool_completed(event: ToolCompleted, view: EventView) -> Iterable[str]:
    """Yield which call ended: by what was said when it began, or else by the tool's name; and how, once."""
    phrases = view.phrases
    tool = _format_tool_name(event, phrases)
    name = capitalize(tool)
    call_summary = _remove_full_stop(view.background.call_summary)
    subject = name if imitates_reader(call_summary, phrases) else call_summary or name
    summary = view.summary()
    if attend_members(event).get("skipped") is True:
        yield view.short_text("summary_normal")  # all there is to tell of both events of the call
        return
    if event.status == "success":
        stock, agent_stock = (capitalize(each.format("success", tool=tool)) for each in (phrases, view.agent_phrases))
        is_own = bool(summary) and not _begins_with(summary, agent_stock) and not _is_stock_summary(summary, view)
        if is_own:
            yield summary
        else:
            summary = ""
            has_subject = subject != name and (view.background.is_parallel or not view.is_terse)
            yield phrases.format("success-summary", call=subject) if has_subject else stock
    elif event.status == "error" and event.error_message == "cancelled":  # C-42: the tool has stopped
        text = capitalize(phrases.format("stopped", tool=subject))
        yield from (text, _omit_if_repeated(summary, text) if view.is_detailed else "")
    elif event.status == "timeout":
        text = phrases.format("timeout", call=subject)
        yield text
        # C-42: that it may have happened is said once, whatever else repeats it.
        for message in (view.short_text("error_message"), summary):
            is_stock = _is_stock_timeout(message, view)
            yield "" if is_stock else _omit_if_repeated(_omit_stock_summary(message, view), text)
    else:
        yield from _compose_failure(event, view, subject, summary)
    if view.is_detailed:
        yield _omit_if_repeated(view.duration_text("duration_ms", "took"), summary)


def _compose_failure(event: ToolCompleted, view: EventView, subject: str, summary: str) -> Iterable[str]:
    phrases = view.phrases
    reason = _omit_stock_summary(view.short_text("error_message"), view) or _omit_stock_summary(summary, view)
    reason = reason.removeprefix("The tool failed: ")
    tool_name = capitalize(_format_tool_name(event, phrases))
    for name in (subject, tool_name):
        values = view.agent_phrases.extract("error-reason", reason)
        if values is not None and values["call"] == name:
            reason = values["reason"].strip()
        reason = reason.removeprefix(view.agent_phrases.format("error", call=name)).strip()
    if view.agent_phrases.recognizes("undone", reason):  # a whole sentence of ours: it never began
        yield reason
        return
    text = phrases.format("error-reason" if reason else "error", call=subject, reason=reason)
    yield text
    members = parse_json(event.raw)[0] if event.raw else None  # C-61: an unknown status is said as it is
    status = members.get("status") if isinstance(members, dict) else None
    if isinstance(status, str) and status not in ("success", "error", "timeout") and sanitize(status):
        yield phrases.format("status", status=guard_value(truncate(sanitize(status), 80), phrases))
    stock = view.agent_phrases.format("error-reason", call=tool_name, reason=reason)
    has_news = summary != stock and not {*_WORD.findall(summary.casefold())} <= {*_WORD.findall(text.casefold())}
    if view.is_detailed and has_news:
        yield _omit_stock_summary(summary, view)


def _is_stock_timeout(text: str, view: EventView) -> bool:
    """Whether a text is what we say ourselves of a call that did not finish."""
    return any(view.agent_phrases.recognizes(name, text) for name in ("timeout", "possible"))


def _remove_full_stop(text: str) -> str:
    return text.removesuffix(".").removesuffix("…").rstrip()


def _compose_output(event: OutputStreaming, view: EventView) -> Iterable[str]:
    view.language = event.language if isinstance(event.language, str) else view.primary_language  # OUT-012
    text = ensure_full_stop(sanitize(event.chunk))  # never cut: what is long is announced sentence by sentence
    if imitates_any(text, view.phrases):
        yield view.phrases.format("says-quoted", agent=view.agent_name)
    elif text and event.position == 0:
        yield view.phrases.format("says", agent=view.agent_name)
    yield text


def _compose_confirmation(event: AwaitingConfirmation, view: EventView) -> Iterable[str]:
    """Yield action and consequence at every verbosity, then risk, time, default and whether it can be refused. C-51"""
    phrases = view.phrases
    is_short = view.is_terse or view.background.is_familiar
    yield phrases["confirm"]
    action = view.short_text("action")
    consequence = view.short_text("consequence")
    if view.is_detailed:
        yield _omit_if_repeated(view.summary(), *map(sanitize, (event.action, event.consequence)), action, consequence)
    yield action or phrases["action-none"]
    risk = get_member(event, "risk_level")
    reversibility = _resolve_reversibility(event)
    is_unstated = consequence == phrases["consequence-unstated"] and (risk, reversibility) == ("high", "irreversible")
    if is_unstated and view.background.is_effect_told:
        yield phrases["consequence-again"]
    else:
        yield phrases.format("consequence" if consequence else "consequence-none", consequence=consequence)
    if not is_unstated or view.background.is_effect_told:  # otherwise it was just said in other words
        risk_text = phrases.format_first(f"risk-{risk}", "risk-unstated" if is_short else "risk-none")
        yield phrases.format("risk", risk=risk_text, undo=phrases[f"undo-{reversibility}"])
    default = "default-accept" if event.default_decision == "accept" else "default-reject"
    yield _format_timeout(view, f"{default}-short" if is_short else default)
    allowed = get_member(event, "allowed_replies")
    if allowed is not None and "reject" not in allowed:
        yield phrases["unrefusable"]  # CF-018
    if allowed is not None and "accept" not in allowed:
        yield phrases["unacceptable"]
    if not view.is_heard and view.remainders.keys() & {"action", "consequence"}:
        yield _format_cut_notice(view.preferences)


def _format_cut_notice(preferences: Preferences) -> str:
    """Return the sentence that says how to hear the whole of a prompt. C-22"""
    phrases = preferences.phrases
    key = find_command_word("more", phrases) if preferences.lines else preferences.keys.get("more")
    return phrases.format("uncut", key=key) if key and preferences.keys else phrases["uncut-plain"]


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
        return view.phrases["expired"]
    form = "after" if phrase.startswith("default-") else ""
    duration = view.phrases.format_time_left(view.seconds_left, form)
    return capitalize(view.phrases.format(phrase, duration=duration, answer=answer))


def _compose_clarification(event: AwaitingClarification, view: EventView) -> Iterable[str]:
    yield view.phrases["question"]
    question = view.short_text("question")
    if view.is_detailed:
        yield _omit_if_repeated(view.summary(), sanitize(event.question), question)
    yield question or view.phrases["question-none"]
    if context := view.short_text("context"):
        yield view.phrases.format("why", reason=context)
    labels = choice_labels(event, view.phrases)
    yield from (
        view.phrases.format("choice", number=number, label=view.shorten(guard_value(label, view.phrases), "choices"))
        for number, label in enumerate(labels, start=1)
    )
    if view.is_detailed or not (view.is_terse or view.background.is_familiar):
        for kind in get_member(event, "accepted_response_kinds") or (() if labels else ("freetext",)):
            yield view.phrases.format_first(f"kind-{kind}")
    if _is_yes_no(event) and not view.is_heard and "question" in view.remainders:
        yield _format_cut_notice(view.preferences)
    default = get_member(event, "default_response")
    answer = ""
    if isinstance(default, str):
        answer = guard_value(sanitize(spell_invisible(default, view.phrases)), view.phrases)
    yield _format_timeout(view, "time-default" if answer else "time", view.shorten(answer, "default_response"))


def _is_yes_no(event: AwaitingClarification) -> bool:
    """Whether a question can be answered with yes."""
    return "yes_no" in (get_member(event, "accepted_response_kinds") or ())


def choice_labels(event: AwaitingClarification, phrases: Phrases = ENGLISH) -> list[str]:
    """Return the spoken text of each choice: its label, else its value, else "?"."""
    labels = []
    for choice in get_member(event, "choices") or ():
        texts = [getattr(choice, name, None) for name in ("label", "value")]
        sanitized_texts = [sanitize(spell_invisible(text, phrases)) for text in texts if isinstance(text, str)]
        labels.append(next(filter(None, sanitized_texts), "?"))
    return labels


def _compose_handoff(event: HandoffRequested, view: EventView) -> Iterable[str]:
    names = (f"handoff-{event.target_kind}", "handoff-other")
    label = view.phrases.format_first(*names)
    reason = view.short_text("reason")
    summary = view.summary()
    if summary == view.agent_phrases.format_first(*names):
        summary = label
    yield from (label, reason or summary)
    if reason and view.is_detailed and summary != label:
        yield summary


def _compose_other(event: Envelope, view: EventView) -> Iterable[str]:
    """Yield the sentences for an extension's event, an unknown one, or a core one that is invalid. C-08, CF-130"""
    core_type = CORE_EVENTS.get(event.type)
    yield view.phrases["incomplete" if core_type else "notice"]
    parts = []
    if core_type in CRITICAL:
        parts = [view.short_text(name) for name in ("action", "consequence", "question", "reason")]
    parts.append(view.summary())
    type_name = guard_value(truncate(sanitize(event.type), 120), view.phrases)
    type_name = type_name.removeprefix("aaep:agent.").replace(".", " ")
    yield from parts if any(parts) else [view.phrases.format("notice-type", type=type_name)]
    if core_type in (AwaitingConfirmation, AwaitingClarification):
        yield view.phrases["incomplete-prompt"]


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


_STOCK_SUMMARIES: Final = ("Done.", "Failed.", "Stopped.", "Cancelled.")  # also of agents that are not ours
_STOCK_LABELS: Final = ("completed", "errored", "cancelled")


def _is_stock_summary(summary: str, view: EventView) -> bool:
    """Whether a summary only repeats its label, in whichever words."""
    labels = [each[name] for each in (view.phrases, view.agent_phrases) for name in _STOCK_LABELS]
    return summary in _STOCK_SUMMARIES or summary in labels


def _omit_stock_summary(summary: str, view: EventView) -> str:
    """Return a summary, or nothing if it only repeats its label."""
    return "" if _is_stock_summary(summary, view) else summary


# -- prompts ---------------------------------------------------------------------------------


def _prompt_keys(
    event: Envelope, preferences: Preferences, *, is_complete: bool, has_detail: bool
) -> tuple[tuple[str, str], ...]:
    """Return the keys of a prompt; accept and yes are among them only if what is asked was said in full (C-22)."""
    phrases = preferences.phrases
    commands: list[str] = []
    answers: list[tuple[str, str]] = []
    if isinstance(event, AwaitingConfirmation):
        allowed = get_member(event, "allowed_replies")
        is_readable = all(has_visible(sanitize(text)) for text in (event.action, event.consequence))
        if is_complete and is_readable and (allowed is None or "accept" in allowed):
            commands.append("accept")
        commands.append("reject" if allowed is None or "reject" in allowed else "close")
    elif isinstance(event, AwaitingClarification):
        answers = [(str(number), label) for number, label in enumerate(choice_labels(event, phrases), start=1)]
        if _is_yes_no(event):
            answers += [("y", phrases["key-yes"])] if is_complete else []
            answers.append(("n", phrases["key-no"]))
    elif event.type == "aaep:agent.awaiting.confirmation":
        commands.append("reject")
    commands += ["more", "time"] if has_detail else ["time"]
    keys = preferences.keys
    command_keys = ((keys[command], phrases[f"key-{command}"]) for command in commands if command in keys)
    return (*(answers if keys else ()), *command_keys)


def _compose_rest(view: EventView) -> str:
    """Return what is left of a prompt's texts after the places where they were cut."""
    is_one = len(view.remainders) == 1
    return " ".join(
        view.phrases.format_first("rest" if is_one else f"rest-{name}", "rest", text=ensure_full_stop(rest))
        for name, rest in view.remainders.items()
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
    background: Background = NO_BACKGROUND,
) -> Announcement | None:
    """
    Return the announcement of an event, or None if it is not announced by itself.

    That is so for a chunk of output that ends at no boundary (OUT-007; use
    :class:`~aaep.presentation.presenter.Presenter`), and for background progress where the listener wants the
    fewest announcements (PROG-003). ``remaining`` is the number of seconds that
    a prompt is still open, ``heard`` says that the whole of it was heard
    before, so that it can be accepted though it is shortened (C-22), and
    ``background`` is what the listener knows already.
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
    unfamiliar = msgspec.structs.replace(background, is_familiar=False, is_effect_told=False)
    view = EventView(event, preferences, verbosity, MAX_SPOKEN_LENGTH, seconds_left, background, is_heard=heard)
    full_view = EventView(event, preferences, "detailed", math.inf, seconds_left, unfamiliar)
    compose = _COMPOSERS.get(type(event), _compose_other)
    sentences = [*compose(event, view)]
    text = _join_sentences(sentences)
    detail = _join_sentences(compose(event, full_view))
    keys: tuple[tuple[str, str], ...] = ()
    detail_keys: tuple[tuple[str, str], ...] = ()
    about = ""
    if asks:
        is_complete = heard or not view.remainders.keys() & {"action", "consequence", "question"}
        whole_view = EventView(event, preferences, verbosity, MAX_SPOKEN_LENGTH, seconds_left, unfamiliar)
        has_detail = _join_sentences(compose(event, whole_view)) != detail
        keys = _prompt_keys(event, preferences, is_complete=is_complete, has_detail=has_detail)
        detail_keys = _prompt_keys(event, preferences, is_complete=True, has_detail=False)
        about = full_view.full_text("question" if event_type is AwaitingClarification else "action")
    if not (background.is_familiar or verbosity == "terse"):
        text = _append_key_help(text, keys, preferences)
    detail = _append_key_help(detail, detail_keys, preferences)
    rest = _append_key_help(_compose_rest(view), detail_keys, preferences) if asks and view.remainders else ""
    if background.session_name:
        name_session = partial(preferences.phrases.format, "session", work=background.session_name)
        text = name_session(text=text)
        detail = name_session(text=detail)
        rest = name_session(text=rest) if rest else ""
    if background.answered_by == "listener":  # the echo of one's own answer is no alarm
        urgency = "normal"
    return Announcement(
        text=text,
        detail=detail,
        rest=rest,
        language=_get_language(view),
        own_language=view.phrases.language,
        quoted=_is_quoted(event, view, next(filter(None, sentences), "")),
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
        background=background,
        redundant=_is_redundant(event, preferences),
        seconds=estimate_seconds(text, preferences.pace),
    )


def announce_line(text: str, language: str = "en") -> Announcement:
    """Return the announcement of a line that the reader itself says, for instance of what a key has done."""
    return Announcement(
        text=text,
        detail=text,
        language=language,
        own_language=language,
        urgency="normal",
        interrupts=False,
        event_id="",
        session_id="",
        event=_NO_EVENT,
        seconds=estimate_seconds(text, DEFAULT_PREFERENCES.pace),
    )


def _is_quoted(event: Envelope, view: EventView, first: str) -> bool:
    """Whether an announcement that begins with this sentence begins with words of the agent."""
    if isinstance(event, OutputStreaming) or first.startswith(
        view.phrases.format("says-quoted", agent=view.agent_name)
    ):
        return True
    return first in view.quoted_texts and not imitates_any(first, view.phrases)


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
    """Return the language of the event's text, or that of our own words where only these are said."""
    if view.language is None:
        return view.phrases.language
    return view.language or next(iter(view.preferences.languages), "en")  # C-17: assumed where it is not stated


def _get_urgency(event: Envelope) -> Urgency:
    return event.urgency if event.urgency in ("background", "critical") else "normal"


def list_keys(keys: Iterable[tuple[str, str]], phrases: Phrases) -> str:
    """Return the sentence that lists keys with what each of them does."""
    return f"{phrases.join(phrases.format('key', key=key, effect=effect) for key, effect in keys)}."


def _append_key_help(text: str, keys: tuple[tuple[str, str], ...], preferences: Preferences) -> str:
    """Append the sentence that lists the keys, or the command words where input is by lines."""
    listed = [(key, effect) for key, effect in keys if not key.isdecimal()]  # choices have their numbers in the text
    if not listed:
        return text
    phrases = preferences.phrases
    if not preferences.lines:
        return f"{text} {list_keys(listed, phrases)}"
    words = {"y": phrases["word-yes"], "n": phrases["word-no"]}
    words |= {key: find_command_word(name, phrases) for name, key in preferences.keys.items() if name in DEFAULT_KEYS}
    *others, last = (words.get(key, key) for key, _ in listed)
    if not others:
        return f"{text} {phrases.format('write-one', word=last)}"
    return f"{text} {phrases.format('write', words=phrases.join(others), last=last)}"
