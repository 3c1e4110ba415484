"""
Prompts, and whether a reply to one counts. Chapter 6

Which way a prompt may go is a table in :mod:`aaep.protocol.session`.
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
from .fields import get_member
from .messages import ClarificationReply, ConfirmationReply, Reply
from .rules import stakes_of
from .states import AFTER_PROMPT, FURTHER_WORK

__all__ = [
    "RESPONSE_TESTS",
    "Outcome",
    "PromptState",
    "Verdict",
    "find_license",
    "follow_up_violation",
    "license_violation",
    "needs_consent",
    "reply_violation",
    "response_kinds",
    "response_violation",
    "unproven_license",
]

Stakes = tuple[bool, int]  # whether it is irreversible, and the rank of its risk
_RISKS: Final = ("low", "medium", "high")
Outcome = Literal["pending", "accepted", "rejected", "answered", "timed_out", "withdrawn", "unseen"]
_DECIDED: Final = ("accepted", "rejected", "answered", "timed_out")


def _offered(asked: AwaitingClarification) -> list[str]:
    """The values to choose from; what a peer listed beside them is no choice."""
    return [one.value for one in get_member(asked, "choices") or () if isinstance(one, Choice)]


def response_kinds(asked: AwaitingClarification) -> tuple[Any, ...]:
    """CF-031: which kinds of answer a question takes, where it does not say: numbers and booleans are not assumed."""
    given = get_member(asked, "accepted_response_kinds")
    return given or (("multiple_choice",) if get_member(asked, "choices") else ("freetext",))


# CLAR-006 to CLAR-009 §6.5.2: which JSON value answers which kind of question.
RESPONSE_TESTS: Final[Mapping[str, tuple[str, Callable[[Any, AwaitingClarification], bool]]]] = {
    "freetext": ("CLAR-006", lambda value, _: isinstance(value, str)),
    "yes_no": ("CLAR-007", lambda value, _: isinstance(value, bool)),
    "multiple_choice": ("CLAR-008", lambda value, asked: value in _offered(asked)),
    "numeric": ("CLAR-009", lambda value, _: isinstance(value, (int, float)) and not isinstance(value, bool)),
}


class PromptState(msgspec.Struct, kw_only=True):
    """
    One prompt and what became of it.

    ``eligible`` holds the subscriptions that may answer; None when nobody
    keeps count, as in a recording. ``granted`` is true when the action may run.
    """

    event: AwaitingConfirmation | AwaitingClarification
    deadline: float
    eligible: set[str] | None = None
    outcome: Outcome = "pending"  # unseen: it ended, and the recording does not show how
    is_granted: bool = False
    response: Any = None
    decided_via: str = ""
    is_modified: bool = False  # CF-019: the answer asked for something else, so it counts as a refusal
    is_used: bool = False  # it licensed a call that needed it
    is_followed: bool = False  # some call came after it was granted
    is_claimed: bool = False  # how it ended the agent said; no reply was seen
    is_outcome_told: bool = False  # the agent has said how it ended
    overruled: Outcome | Literal[""] = ""  # how it seemed to have ended, where the agent says otherwise

    @property
    def token(self) -> str:
        return self.event.reply_token

    @property
    def kind(self) -> str:
        return "confirmation" if isinstance(self.event, AwaitingConfirmation) else "clarification"

    @property
    def call_id(self) -> str:
        """C-38: the call that this confirmation is about, if it says."""
        return self._named("tool_call_id")

    @property
    def tool(self) -> str:
        """C-38: the tool that this confirmation is about, if it says."""
        return self._named("tool")

    def _named(self, member: str) -> str:
        about = get_member(self.event, "extra_context")
        named = about.get(member) if isinstance(about, dict) else None
        return named if isinstance(named, str) else ""

    def note_call(self, event: ToolInvoked) -> None:
        """HITL-018 §4.5.3: a call came that may be the one that was agreed to."""
        self.is_followed |= self.is_granted and not self.call_id and self.tool in ("", event.tool)

    def grants(self, how: str) -> bool:
        """C-39: time may grant only what was to be granted by default; a reply grants what it says."""
        return how in ("accept", "answer") or (how == "timeout" and self.default_decision == "accept")

    def hear_outcome(self, how: str) -> None:
        """
        The agent tells how it ended (CF-025), and others may have answered too.

        Of several replies the first decides (CONF-041), and that need not be the one that was seen: what the agent
        tells before anything ran counts then, once.
        """
        if (
            self.outcome in _DECIDED
            and not (self.is_outcome_told or self.is_used)
            and self.grants(how) is not self.is_granted
        ):
            self.overruled, self.outcome = self.outcome, "pending"
        self.is_outcome_told = True

    @property
    def default_decision(self) -> str:
        return self.event.default_decision if isinstance(self.event, AwaitingConfirmation) else ""


class Verdict(msgspec.Struct, frozen=True):
    """What a reply did. ``rule`` names the check it failed, for the log only: the sender never learns it (CONF-040)."""

    is_honoured: bool
    prompt: PromptState | None = None
    rule: str = ""


def needs_consent(event: ToolInvoked) -> bool:
    """C-40: what is irreversible or of high risk needs the user's consent."""
    return event.irreversible is True or event.risk_level == "high"


def find_license(asks: Iterable[PromptState], event: ToolInvoked) -> PromptState | None:
    """
    The confirmation that is about this call. C-38

    By the call's id, and of several the last; else, for a call that needs one,
    the first granted of those that name no call and no other tool, each for one
    call; else the last about this tool, if the answer was no and the call is no
    lesser thing than what was refused (HITL-020).
    """
    asked = [ask for ask in asks if ask.kind == "confirmation"]
    linked = [ask for ask in asked if ask.call_id and ask.call_id == event.tool_call_id]
    if linked:
        return linked[-1]
    free = [ask for ask in asked if not (ask.call_id or ask.is_used) and ask.tool in ("", event.tool)]
    if free and needs_consent(event):
        granted = sorted(
            (ask for ask in free if ask.is_granted), key=lambda ask: not ask.tool
        )  # who names it comes first
        fitting = [ask for ask in granted if not license_violation(ask, event)[0]]
        return next(iter(fitting or granted), free[-1])
    last = next((ask for ask in reversed(asked) if ask.tool and ask.tool == event.tool), None)
    if last is None or last.is_granted or last.outcome not in ("rejected", "timed_out"):
        return None
    return None if _exceeds(_asked(last), _called(event)) else last


def _asked(ask: PromptState) -> Stakes:
    irreversible, risk = stakes_of(ask.event) if isinstance(ask.event, AwaitingConfirmation) else (True, "high")
    return irreversible, _RISKS.index(risk)


def _called(event: ToolInvoked) -> Stakes:
    return event.irreversible is True, 0 if event.risk_level is UNSET else _RISKS.index(event.risk_level)


def _exceeds(one: Stakes, other: Stakes) -> bool:
    """Whether one is riskier than the other, or cannot be undone where the other can."""
    return one[0] > other[0] or one[1] > other[1]


def license_violation(ask: PromptState | None, event: ToolInvoked) -> tuple[str, str]:
    """The rule a call breaks by running on this confirmation, and a sentence; both empty if it may run."""
    needed = needs_consent(event)
    if ask is None:
        return (_unasked(event), "The tool needs the user's consent, and nobody was asked.") if needed else ("", "")
    if ask.outcome == "pending":
        return "CONF-006", "The tool runs while the question about it is still open."
    if ask.outcome == "unseen":
        rule = _unasked(event) if needed else "HITL-020"
        return rule, "Whether the user agreed cannot be told: the answer is not in the recording."
    if not ask.is_granted:
        return "HITL-020", f"The tool runs although the answer was: {ask.outcome.replace('_', ' ')}."
    return _unfit(ask, event) if needed else ("", "")


def unproven_license(ask: PromptState | None, event: ToolInvoked) -> tuple[str, str]:
    """C-38: the rule of which it cannot be told whether a call keeps it, and a sentence; both empty if it can."""
    if ask is not None and ask.overruled:
        seen = ask.overruled.replace("_", " ")
        text = "The agent says that somebody else had agreed before; the recording does not show it."
        return "HITL-020", f"The answer that was seen was: {seen}. {text}"
    if ask is None or not ask.is_claimed or not needs_consent(event):
        return "", ""
    return _unasked(event), "The agent says that the user agreed; the recording does not show the answer."


def _unasked(event: ToolInvoked) -> str:
    return "TOOL-002" if event.irreversible is True else "HITL-002"


def _unfit(ask: PromptState, event: ToolInvoked) -> tuple[str, str]:
    """The same for a call that needs a yes and a prompt that got one: whether the yes was to this. C-38, C-39"""
    if ask.is_used:
        return _unasked(event), "The consent was for one call and has been used. Ask again."
    if event.tool and ask.tool not in ("", event.tool):
        return _unasked(event), f"The user was asked about {ask.tool!r}, not about {event.tool!r}. Ask again."
    if ask.outcome == "timed_out":
        return _unasked(event), "What is irreversible or of high risk needs a yes; silence is not consent."
    if event.irreversible is True and ask.default_decision == "accept":
        return "TOOL-003", "The question before an irreversible tool must default to reject."
    if _exceeds(_called(event), _asked(ask)):
        return _unasked(event), "The tool is riskier, or harder to undo, than the user was told. Ask again."
    return "", ""


def follow_up_violation(ask: PromptState, event: Envelope) -> tuple[str, str]:
    """The rule an event breaks by directly following the end of a prompt, and a sentence; both empty if it may."""
    if ask.outcome == "withdrawn" or isinstance(event, (StateChanged, ToolCompleted, *TERMINAL)):
        return "", ""
    work, rest = AFTER_PROMPT[ask.kind, ask.is_granted]
    rule = work if isinstance(event, FURTHER_WORK) else rest
    return rule, f"The {ask.kind} ended ({ask.outcome.replace('_', ' ')}); a state.changed should say so first."


def reply_violation(message: Reply, ask: PromptState, via: str) -> str:
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
        return "CLAR-015" if inexact else response_violation(message, ask)
    if message.decision == "reject":
        return ""  # whatever can only stop an action is taken leniently (CF-014, CF-020)
    if inexact or message.decision != "accept":  # whoever made it: nothing but this word is a yes
        return "CONF-031"
    claimed, asked = timestamps.parse_instant(message.timestamp), timestamps.parse_instant(ask.event.timestamp)
    if claimed is None or asked is None or claimed >= asked + ask.event.timeout_seconds:
        return "CONF-035"
    allowed = get_member(ask.event, "allowed_replies")
    return "CONF-037" if allowed is not None and "accept" not in allowed else ""


def response_violation(message: ClarificationReply, ask: PromptState) -> str:
    """CLAR-017, CLAR-018 §6.5.5: the rule an answer breaks by its JSON type or value, or nothing."""
    asked = ask.event
    if not isinstance(asked, AwaitingClarification):
        return "CLAR-020"
    # A peer may have listed anything; its question was told of, and is answered by the kinds we know.
    known = [RESPONSE_TESTS[kind] for kind in response_kinds(asked) if isinstance(kind, str) and kind in RESPONSE_TESTS]
    if any(fits(message.response, asked) for _, fits in known):
        return ""
    return known[0][0] if known else "CLAR-006"
