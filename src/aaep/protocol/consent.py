"""
The state of prompts, and the checks on replies to them and on the calls they allow. Chapter 6

The transitions of a prompt are the table ``PROMPT_TRANSITIONS`` of :mod:`aaep.protocol.states`.
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
    SessionCompleted,
    StateChanged,
    ToolCompleted,
    ToolInvoked,
)
from .fields import get_member
from .messages import ClarificationReply, ConfirmationReply, Reply
from .rules import assess_stakes
from .states import FOLLOW_UP_RULES, WORK_EVENTS

__all__ = [
    "RESPONSE_TESTS",
    "Outcome",
    "PromptState",
    "Verdict",
    "find_license",
    "follow_up_violation",
    "is_consent_required",
    "license_violation",
    "reply_violation",
    "response_kinds",
    "response_violation",
    "unproven_license",
]

Outcome = Literal["pending", "accepted", "rejected", "answered", "timed_out", "withdrawn", "unseen"]
_DECIDED_OUTCOMES: Final = ("accepted", "rejected", "answered", "timed_out")
Stakes = tuple[bool, int]  # whether an action is irreversible, and the rank of its risk
_RISK_LEVELS: Final = ("low", "medium", "high")


def _choice_values(question: AwaitingClarification) -> list[str]:
    """Return the values of a question's choices, without ill-formed ones."""
    return [choice.value for choice in get_member(question, "choices") or () if isinstance(choice, Choice)]


def response_kinds(question: AwaitingClarification) -> tuple[Any, ...]:
    """Return the kinds of answer that a question takes; numbers and booleans are never assumed (CF-031)."""
    kinds: tuple[Any, ...] | None = get_member(question, "accepted_response_kinds")
    if kinds:
        return kinds
    return ("multiple_choice",) if get_member(question, "choices") else ("freetext",)


# CLAR-006 to CLAR-009 §6.5.2: which JSON value answers which kind of question.
RESPONSE_TESTS: Final[Mapping[str, tuple[str, Callable[[Any, AwaitingClarification], bool]]]] = {
    "freetext": ("CLAR-006", lambda value, _: isinstance(value, str)),
    "yes_no": ("CLAR-007", lambda value, _: isinstance(value, bool)),
    "multiple_choice": ("CLAR-008", lambda value, question: value in _choice_values(question)),
    "numeric": ("CLAR-009", lambda value, _: isinstance(value, (int, float)) and not isinstance(value, bool)),
}


class PromptState(msgspec.Struct, kw_only=True):
    """
    A prompt and its outcome.

    ``eligible`` holds the subscriptions that may answer; it is None when they are
    not known, as in a recording. ``is_granted`` is true when the action may run.
    """

    event: AwaitingConfirmation | AwaitingClarification
    deadline: float
    eligible: set[str] | None = None
    outcome: Outcome = "pending"  # unseen: it ended in a way that the recording does not show
    is_granted: bool = False
    response: Any = None
    decided_via: str = ""
    is_modified: bool = False  # CF-019: the answer asked for something else, so it counts as a refusal
    is_used: bool = False  # it allowed a call that needed it
    is_followed: bool = False  # some call came after it was granted
    is_claimed: bool = False  # the outcome is the agent's word; no reply was seen
    has_reported_outcome: bool = False  # the agent has reported the outcome
    overruled: Outcome | Literal[""] = ""  # the outcome as seen, where the agent reports another

    @property
    def token(self) -> str:
        """The reply token of the prompt."""
        return self.event.reply_token

    @property
    def kind(self) -> str:
        """``confirmation`` or ``clarification``."""
        return "confirmation" if isinstance(self.event, AwaitingConfirmation) else "clarification"

    @property
    def call_id(self) -> str:
        """The id of the call that this confirmation is about, or empty (C-38)."""
        return self._context_member("tool_call_id")

    @property
    def tool(self) -> str:
        """The tool that this confirmation is about, or empty (C-38)."""
        return self._context_member("tool")

    def _context_member(self, name: str) -> str:
        context = get_member(self.event, "extra_context")
        value = context.get(name) if isinstance(context, dict) else None
        return value if isinstance(value, str) else ""

    def note_call(self, event: ToolInvoked) -> None:
        """Note a call that may be the one that was agreed to. HITL-018 §4.5.3"""
        self.is_followed |= self.is_granted and not self.call_id and self.tool in ("", event.tool)

    def is_granted_by(self, transition: str) -> bool:
        """Whether a transition grants the action; a timeout does only if that is the default (C-39)."""
        return transition in ("accept", "answer") or (transition == "timeout" and self.default_decision == "accept")

    def take_reported_outcome(self, transition: str) -> None:
        """
        Take the outcome that the agent reports (CF-025), where other subscribers may have replied too.

        Of several replies the first decides (CONF-041), and that need not be the one
        that was seen: what the agent reports before any call ran counts then, once.
        """
        if (
            self.outcome in _DECIDED_OUTCOMES
            and not (self.has_reported_outcome or self.is_used)
            and self.is_granted_by(transition) is not self.is_granted
        ):
            self.overruled = self.outcome
            self.outcome = "pending"
        self.has_reported_outcome = True

    @property
    def default_decision(self) -> str:
        """The decision that a timeout takes; empty for a clarification."""
        return self.event.default_decision if isinstance(self.event, AwaitingConfirmation) else ""


class Verdict(msgspec.Struct, frozen=True):
    """
    The result of a reply.

    ``rule`` names the check it failed, for the log only: the sender never learns it (CONF-040).
    """

    is_honoured: bool
    prompt: PromptState | None = None
    rule: str = ""


def is_consent_required(event: ToolInvoked) -> bool:
    """Whether a call is irreversible or of high risk, and so needs the user's consent (C-40)."""
    return event.irreversible is True or event.risk_level == "high"


def find_license(prompts: Iterable[PromptState], event: ToolInvoked) -> PromptState | None:
    """
    Return the confirmation that a call runs on. C-38

    It is the last one with the call's id; else, for a call that needs consent, the
    first granted one that names no call and no other tool, each for one call; else
    the last one about this tool, if the answer was no and the call has at least the
    stakes of what was refused (HITL-020).
    """
    confirmations = [prompt for prompt in prompts if prompt.kind == "confirmation"]
    same_call = [prompt for prompt in confirmations if prompt.call_id and prompt.call_id == event.tool_call_id]
    if same_call:
        return same_call[-1]
    unused = [
        prompt for prompt in confirmations if not (prompt.call_id or prompt.is_used) and prompt.tool in ("", event.tool)
    ]
    if unused and is_consent_required(event):
        granted_prompts = [prompt for prompt in unused if prompt.is_granted]
        granted_prompts.sort(key=lambda prompt: not prompt.tool)  # those that name the tool come first
        fitting_prompts = [prompt for prompt in granted_prompts if not license_violation(prompt, event)[0]]
        return next(iter(fitting_prompts or granted_prompts), unused[-1])
    last = next((prompt for prompt in reversed(confirmations) if prompt.tool and prompt.tool == event.tool), None)
    if last is None or last.is_granted or last.outcome not in ("rejected", "timed_out"):
        return None
    return None if _is_riskier(_prompt_stakes(last), _call_stakes(event)) else last


def _prompt_stakes(prompt: PromptState) -> Stakes:
    if not isinstance(prompt.event, AwaitingConfirmation):
        return True, _RISK_LEVELS.index("high")
    is_irreversible, risk = assess_stakes(prompt.event)
    return is_irreversible, _RISK_LEVELS.index(risk)


def _call_stakes(event: ToolInvoked) -> Stakes:
    return event.irreversible is True, 0 if event.risk_level is UNSET else _RISK_LEVELS.index(event.risk_level)


def _is_riskier(first: Stakes, second: Stakes) -> bool:
    """Whether the first is riskier than the second, or irreversible where the second is not."""
    return first[0] > second[0] or first[1] > second[1]


def license_violation(prompt: PromptState | None, event: ToolInvoked) -> tuple[str, str]:
    """Return the rule that a call breaks by running on this confirmation, and a sentence; both empty if none."""
    is_needed = is_consent_required(event)
    if prompt is None:
        if not is_needed:
            return "", ""
        return _consent_rule(event), "The tool needs the user's consent, and nobody was asked."
    if prompt.outcome == "pending":
        return "CONF-006", "The tool runs while the question about it is still open."
    if prompt.outcome == "unseen":
        rule = _consent_rule(event) if is_needed else "HITL-020"
        return rule, "Whether the user agreed cannot be told: the answer is not in the recording."
    if not prompt.is_granted:
        return "HITL-020", f"The tool runs although the answer was: {prompt.outcome.replace('_', ' ')}."
    return _misfit_violation(prompt, event) if is_needed else ("", "")


def unproven_license(prompt: PromptState | None, event: ToolInvoked) -> tuple[str, str]:
    """Return a rule that a call cannot be shown to keep, and a sentence; both empty if there is none (C-38)."""
    if prompt is not None and prompt.overruled:
        seen_outcome = prompt.overruled.replace("_", " ")
        text = "The agent says that somebody else had agreed before; the recording does not show it."
        return "HITL-020", f"The answer that was seen was: {seen_outcome}. {text}"
    if prompt is None or not prompt.is_claimed or not is_consent_required(event):
        return "", ""
    return _consent_rule(event), "The agent says that the user agreed; the recording does not show the answer."


def _consent_rule(event: ToolInvoked) -> str:
    """Return the rule that a call without consent breaks."""
    return "TOOL-002" if event.irreversible is True else "HITL-002"


def _misfit_violation(prompt: PromptState, event: ToolInvoked) -> tuple[str, str]:
    """Return why a granted prompt does not cover a call that needs consent. C-38, C-39"""
    if prompt.is_used:
        return _consent_rule(event), "The consent was for one call and has been used. Ask again."
    if event.tool and prompt.tool not in ("", event.tool):
        return _consent_rule(event), f"The user was asked about {prompt.tool!r}, not about {event.tool!r}. Ask again."
    if prompt.outcome == "timed_out":
        return _consent_rule(event), "What is irreversible or of high risk needs a yes; silence is not consent."
    if event.irreversible is True and prompt.default_decision == "accept":
        return "TOOL-003", "The question before an irreversible tool must default to reject."
    if _is_riskier(_call_stakes(event), _prompt_stakes(prompt)):
        return _consent_rule(event), "The tool is riskier, or harder to undo, than the user was told. Ask again."
    return "", ""


def follow_up_violation(prompt: PromptState, event: Envelope) -> tuple[str, str]:
    """Return the rule an event breaks by directly following a prompt's end, and a sentence; both empty if none."""
    if prompt.outcome == "withdrawn":
        return "", ""
    ending = prompt.outcome.replace("_", " ")
    if prompt.kind == "confirmation" and not prompt.is_granted and isinstance(event, SessionCompleted):
        # §6.1(2): that all is done does not tell that the action was dropped; another end does.
        return "HITL-022", f"The confirmation ended ({ending}); a state.changed should say so before the session ends."
    if isinstance(event, (StateChanged, ToolCompleted, *TERMINAL)):
        return "", ""
    work_rule, other_rule = FOLLOW_UP_RULES[prompt.kind, prompt.is_granted]
    rule = work_rule if isinstance(event, WORK_EVENTS) else other_rule
    return rule, f"The {prompt.kind} ended ({ending}); a state.changed should say so first."


def reply_violation(message: Reply, prompt: PromptState, via: str) -> str:
    """
    Return the rule that a reply breaks, or an empty string. §6.3.4

    The checks are those of the chapter plus the bindings of CF-016. A reply that
    can only stop an action is read leniently; one that can start an action has to
    pass every check.
    """
    if (prompt.kind == "confirmation") is not isinstance(message, ConfirmationReply):
        return "CLAR-020"  # a token answers only the kind of prompt it was issued for
    if prompt.eligible is not None and (via not in prompt.eligible or message.subscription_id != via):
        return "SEC-011"  # CF-008: a token alone is no authority
    if prompt.outcome != "pending":
        return "CONF-034"
    # CF-020: an unknown or ill-formed member, which lenient decoding left out, could be a condition.
    is_inexact = message.raw is not None
    if isinstance(message, ClarificationReply):
        return "CLAR-015" if is_inexact else response_violation(message, prompt)
    if message.decision == "reject":
        return ""  # it can only stop an action, so it is read leniently (CF-014, CF-020)
    if is_inexact or message.decision != "accept":  # nothing but this word is a yes
        return "CONF-031"
    # A recording is judged by the protocol, which lets producers take such a yes (CF-037).
    if prompt.eligible is not None and not _may_decide(message, prompt):
        return "SEC-007"
    replied_at = timestamps.parse_instant(message.timestamp)
    asked_at = timestamps.parse_instant(prompt.event.timestamp)
    if replied_at is None or asked_at is None or replied_at >= asked_at + prompt.event.timeout_seconds:
        return "CONF-035"
    allowed_replies = get_member(prompt.event, "allowed_replies")
    return "CONF-037" if allowed_replies is not None and "accept" not in allowed_replies else ""


def _may_decide(message: ConfirmationReply, prompt: PromptState) -> bool:
    """Whether who decided may agree to this action: to what is irreversible or of high risk only a person may."""
    is_irreversible, risk = _prompt_stakes(prompt)
    is_grave = is_irreversible or risk == _RISK_LEVELS.index("high")
    return not is_grave or message.decided_by is UNSET or message.decided_by.startswith("user:")


def response_violation(message: ClarificationReply, prompt: PromptState) -> str:
    """Return the rule an answer breaks by its JSON type or value, or an empty string. CLAR-017, CLAR-018 §6.5.5"""
    question = prompt.event
    if not isinstance(question, AwaitingClarification):
        return "CLAR-020"
    # A peer may have listed any kind, which is reported elsewhere; only the kinds of the protocol are tested.
    kinds = [kind for kind in response_kinds(question) if isinstance(kind, str) and kind in RESPONSE_TESTS]
    tests = [RESPONSE_TESTS[kind] for kind in kinds]
    if any(is_answer(message.response, question) for _, is_answer in tests):
        return ""
    return tests[0][0] if tests else "CLAR-006"
