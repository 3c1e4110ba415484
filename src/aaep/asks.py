"""
Prompts, and whether a reply to one counts. Chapter 6

Which way a prompt may go is a table in :mod:`aaep.session`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET

from . import timestamps
from .events import (
    TERMINAL,
    AwaitingClarification,
    AwaitingConfirmation,
    Choice,
    Envelope,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from .fields import present
from .messages import ClarificationReply, ConfirmationReply, Reply
from .states import NEXT, WORK

__all__ = [
    "ANSWERS",
    "Ask",
    "Outcome",
    "Verdict",
    "consequential",
    "ill_typed",
    "licence",
    "refused",
    "unfollowed",
    "unlicensed",
]

Outcome = Literal["pending", "accepted", "rejected", "answered", "timed_out", "withdrawn", "unseen"]


def _offered(asked: AwaitingClarification) -> list[str]:
    """The values to choose from; what a peer listed beside them is no choice."""
    return [one.value for one in present(asked, "choices") or () if isinstance(one, Choice)]


# CLAR-006 to CLAR-009 §6.5.2: which JSON value answers which kind of question.
ANSWERS: Final[Mapping[str, tuple[str, Callable[[Any, AwaitingClarification], bool]]]] = {
    "freetext": ("CLAR-006", lambda value, _: isinstance(value, str)),
    "yes_no": ("CLAR-007", lambda value, _: isinstance(value, bool)),
    "multiple_choice": ("CLAR-008", lambda value, asked: value in _offered(asked)),
    "numeric": ("CLAR-009", lambda value, _: isinstance(value, (int, float)) and not isinstance(value, bool)),
}


class Ask(msgspec.Struct, kw_only=True):
    """
    One prompt and what became of it.

    ``eligible`` holds the subscriptions that may answer; None when nobody
    keeps count, as in a recording. ``granted`` is true when the action may run.
    """

    event: AwaitingConfirmation | AwaitingClarification
    deadline: float
    eligible: set[str] | None = None
    outcome: Outcome = "pending"  # unseen: it ended, and the recording does not show how
    granted: bool = False
    response: Any = None
    decided_via: str = ""
    modified: bool = False  # CF-019: the answer asked for something else, so it counts as a refusal
    used: bool = False  # it licensed a call that needed it
    followed: bool = False  # some call came after it was granted

    @property
    def token(self) -> str:
        return self.event.reply_token

    @property
    def kind(self) -> str:
        return "confirmation" if isinstance(self.event, AwaitingConfirmation) else "clarification"

    @property
    def call(self) -> str:
        """C-38: the call that this confirmation is about, if it says."""
        about = present(self.event, "extra_context")
        named = about.get("tool_call_id") if isinstance(about, dict) else None
        return named if isinstance(named, str) else ""

    @property
    def default(self) -> str:
        return self.event.default_decision if isinstance(self.event, AwaitingConfirmation) else ""


class Verdict(msgspec.Struct, frozen=True):
    """What a reply did. ``rule`` names the check it failed, for the log only: the sender never learns it (CONF-040)."""

    honoured: bool
    ask: Ask | None = None
    rule: str = ""


def consequential(event: ToolInvoked) -> bool:
    """C-40: what is irreversible or of high risk needs the user's consent."""
    return event.irreversible is True or event.risk_level == "high"


def licence(asks: Iterable[Ask], event: ToolInvoked) -> Ask | None:
    """
    The confirmation that is about this call. C-38

    By the call's id, and of several the last; else, for a call that needs one,
    the first granted of those that name no call, each for one call.
    """
    asked = [ask for ask in asks if ask.kind == "confirmation"]
    linked = [ask for ask in asked if ask.call and ask.call == event.tool_call_id]
    if linked:
        return linked[-1]
    free = [ask for ask in asked if not ask.call and not ask.used] if consequential(event) else []
    return next((ask for ask in free if ask.granted), free[-1] if free else None)


def unlicensed(ask: Ask | None, event: ToolInvoked) -> tuple[str, str]:
    """The rule a call breaks by running on this confirmation, and a sentence; both empty if it may run."""
    needed, irreversible = consequential(event), event.irreversible is True
    if ask is None:
        if not needed:
            return "", ""
        return "TOOL-002" if irreversible else "HITL-002", "The tool needs the user's consent, and nobody was asked."
    if ask.outcome == "pending":
        return "CONF-006", "The tool runs while the question about it is still open."
    if ask.outcome == "unseen":
        return "TOOL-002", "Whether the user agreed cannot be told: the answer is not in the recording."
    if not ask.granted:
        return "HITL-020", f"The tool runs although the answer was: {ask.outcome.replace('_', ' ')}."
    if needed and ask.used:
        return "TOOL-002" if irreversible else "HITL-002", "The consent was for one call and has been used. Ask again."
    if irreversible and ask.outcome == "timed_out":
        return "TOOL-002", "An irreversible tool needs a yes; silence is not consent."
    if irreversible and ask.default == "accept":
        return "TOOL-003", "The question before an irreversible tool must default to reject."
    return "", ""


def unfollowed(ask: Ask, event: Envelope) -> tuple[str, str]:
    """The rule an event breaks by directly following the end of a prompt, and a sentence; both empty if it may."""
    if isinstance(event, (StateChanged, ToolCompleted, *TERMINAL)):
        return "", ""
    work, rest = NEXT[ask.kind, ask.granted]
    rule = work if isinstance(event, WORK) else rest
    return rule, f"The {ask.kind} ended ({ask.outcome.replace('_', ' ')}); a state.changed should say so first."


def refused(message: Reply, ask: Ask, via: str) -> str:
    """
    The rule that a reply breaks, or nothing. §6.3.4

    The checks are those of the chapter plus the bindings of CF-016. Whatever
    can only stop an action is taken leniently; whatever can start one has to
    pass every check.
    """
    if (ask.kind == "confirmation") is not isinstance(message, ConfirmationReply):
        return "CLAR-020"  # a token answers only the kind of prompt it was issued for
    if ask.eligible is not None and (via not in ask.eligible or message.subscription_id != via):
        return "SEC-011"  # CF-008: a token alone is no authority
    if ask.outcome != "pending":
        return "CONF-034"
    # CF-020: what a lenient reading left out, an unknown or ill-formed member, could be a condition.
    inexact = message.raw is not None
    if isinstance(message, ClarificationReply):
        return "CLAR-015" if inexact else ill_typed(message, ask)
    if message.decision == "reject":
        return ""  # whatever can only stop an action is taken leniently (CF-014, CF-020)
    if inexact:
        return "CONF-031"
    claimed, asked = timestamps.instant(message.timestamp), timestamps.instant(ask.event.timestamp)
    if claimed is None or asked is None or claimed >= asked + ask.event.timeout_seconds:
        return "CONF-035"
    allowed = present(ask.event, "allowed_replies")
    return "CONF-037" if allowed is not None and "accept" not in allowed else ""


def ill_typed(message: ClarificationReply, ask: Ask) -> str:
    """CLAR-017, CLAR-018 §6.5.5: the rule an answer breaks by its JSON type or value, or nothing."""
    asked = ask.event
    if not isinstance(asked, AwaitingClarification):
        return "CLAR-020"
    # CF-031: numbers and booleans are not assumed.
    kinds = present(asked, "accepted_response_kinds") or (
        ("freetext",) if asked.choices is UNSET else ("multiple_choice",)
    )
    # A peer may have listed anything; its question was told of, and is answered by the kinds we know.
    known = [ANSWERS[kind] for kind in kinds if isinstance(kind, str) and kind in ANSWERS]
    if any(fits(message.response, asked) for _, fits in known):
        return ""
    return known[0][0] if known else "CLAR-006"
