"""
Rules on the payload of single types, which their shapes cannot say.

Like all rules, each is one function that yields violations; :mod:`aaep.protocol.rules`
calls them.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..errors import Violation
from . import events, messages
from .events import Envelope
from .fields import STATES, Message, pointer, present

__all__ = ["PAYLOADS", "stakes"]


def summaries(event: Envelope) -> Iterator[Violation]:
    """TERM-013 §2.2.8, LVL-013 §9.3.1(9)"""
    announced = isinstance(event, (events.StateChanged, events.ToolInvoked, events.AwaitingConfirmation))
    for name in ("summary_terse", "summary_detailed") if announced else ():
        if getattr(event, name) is UNSET:
            yield Violation("TERM-013", f"{name} is missing. Give all three summaries on what is announced.")
    if not isinstance(event, events.ToolInvoked) and getattr(event, "summary_normal", "") is UNSET:
        yield Violation("LVL-013", "summary_normal is missing, so there is nothing to announce.")


def state_names(event: events.StateChanged) -> Iterator[Violation]:
    """STATE-004 §4.2.1"""
    for name in ("from_state", "to_state"):
        value = getattr(event, name)
        if isinstance(value, str) and value and value not in STATES:
            yield Violation("STATE-004", f"{value!r} is not one of the seven usual states.", pointer(name))


def error(event: events.SessionErrored) -> Iterator[Violation]:
    """C-77"""
    if event.error_category == "permanent" and event.recoverable is True:
        message = "A permanent error cannot be recoverable. Leave recoverable out, or say transient."
        yield Violation("EVT-012", message, "/recoverable", severity="warning")


def progress(event: events.ProgressUpdated) -> Iterator[Violation]:
    """EVT-023, EVT-025 §4.2.2"""
    now = event.progress
    if not isinstance(now, events.Progress):
        return
    if not any(getattr(now, name) is not UNSET for name in now.__struct_fields__) and not now.unknown:
        yield Violation("EVT-023", "progress is empty. Give percent, step, total_steps or description.", "/progress")
    if isinstance(now.step, int) and isinstance(now.total_steps, int) and now.step > now.total_steps:
        yield Violation(
            "EVT-025", f"Step {now.step} is beyond the {now.total_steps} steps there are.", "/progress/step"
        )


def invoked(event: events.ToolInvoked) -> Iterator[Violation]:
    """TOOL-011 §4.5.2, HITL-003 §2.3.5"""
    if event.tool_call_id is UNSET:
        yield Violation("TOOL-011", "tool_call_id is missing. It tells calls of the same tool apart.")
    for name in ("risk_level", "irreversible"):
        if getattr(event, name) is UNSET:
            yield Violation("HITL-003", f"{name} is missing. Classify every tool.")


def completed(event: events.ToolCompleted) -> Iterator[Violation]:
    """TOOL-011 §4.5.2, EVT-030"""
    if event.tool_call_id is UNSET:
        yield Violation("TOOL-011", "tool_call_id is missing. It tells calls of the same tool apart.")
    if event.status in ("error", "timeout") and event.error_message is UNSET:
        yield Violation("EVT-030", f"status is {event.status}, but error_message does not say why.")


# C-82: the ends of sentences in other scripts too, and what may close behind them.
_ENDS: Final = tuple(".!?\u3002\uff01\uff1f\u061f\u0964\u0965\u1362\u104b")
_CLOSING: Final = "\"'\u201d\u2019)]"


def _ends_sentence(text: str) -> bool:
    said = text.rstrip()
    return "\n" in text[len(said) :] or said.rstrip(_CLOSING).endswith(_ENDS)


def chunk(event: events.OutputStreaming) -> Iterator[Violation]:
    """OUT-008 §4.3.3, LVL-010 §9.3.1(6)"""
    hint = present(event, "coalesce_hint")
    if (hint == "completion") is not (event.complete is True) and hint is not None:
        text = "The hint completion belongs on the last chunk, and only there."
        yield Violation("OUT-008", text, "/coalesce_hint", severity="warning")
    open_ = hint is None and event.complete is False and isinstance(event.chunk, str)
    if open_ and not _ends_sentence(event.chunk):
        yield Violation("LVL-010", "The chunk ends inside a sentence and has no coalesce_hint.")


# §6.4.1 as the readings decide (C-39, CF-022): what a default of accept breaks.
_DEFAULTS: Final = {
    (True, "high"): "HITL-006",
    (True, "medium"): "HITL-007",
    (True, "low"): "CONF-046",
    (False, "high"): "CONF-047",
}
_WAITS: Final = {"high": (180, 600), "medium": (60, 180), "low": (30, 90)}  # §6.4.2


def stakes(event: events.AwaitingConfirmation) -> tuple[bool, str]:
    """CF-021, C-41: whether what is asked about is irreversible, and its risk; silence about either is the worst."""
    stated, reach, risk = present(event, "irreversible"), present(event, "reversibility"), present(event, "risk_level")
    irreversible = stated is True or reach == "irreversible" or (stated is None and reach is None)
    return irreversible, risk if isinstance(risk, str) and risk else "high"


def confirmation(event: events.AwaitingConfirmation) -> Iterator[Violation]:
    """HITL-006, HITL-007 §6.4.1, CONF-046, CONF-047, HITL-033, HITL-036"""
    stated, reach = present(event, "irreversible"), present(event, "reversibility")
    irreversible, risk = stakes(event)
    if event.default_decision == "accept":
        rule = _DEFAULTS.get((irreversible, risk))
        if rule is not None:
            what = "an irreversible" if irreversible else "a reversible"
            message = f"The default is accept for {what}, {risk}-risk action. Silence is not consent: use reject."
            yield Violation(rule, message, "/default_decision")
    if stated is not None and reach is not None and stated is not (reach == "irreversible"):
        message = "irreversible and reversibility contradict each other; it counts as irreversible."
        yield Violation("HITL-003", message, "/irreversible")
    low, high = _WAITS.get(risk, _WAITS["high"])
    if isinstance(event.timeout_seconds, int) and not low <= event.timeout_seconds <= high:
        message = f"{event.timeout_seconds} seconds is outside the {low} to {high} suggested for {risk} risk."
        yield Violation("HITL-033", message, "/timeout_seconds")
    replies = present(event, "allowed_replies")
    if isinstance(replies, tuple) and "reject" not in replies:
        yield Violation(
            "HITL-036", "allowed_replies leaves the user no way to refuse. List reject.", "/allowed_replies"
        )
    elif isinstance(replies, tuple) and any(reply not in ("accept", "reject") for reply in replies):
        message = "Only accept and reject are core replies; others need an extension."
        yield Violation("HITL-036", message, "/allowed_replies", severity="warning")


def clarification(event: events.AwaitingClarification) -> Iterator[Violation]:
    """EVT-037, CONF-054 §6.4.2"""
    kinds = present(event, "accepted_response_kinds")
    if isinstance(kinds, tuple) and "multiple_choice" in kinds and event.choices is UNSET:
        yield Violation("EVT-037", "multiple_choice is listed, but there are no choices to choose from.")
    if isinstance(event.timeout_seconds, int) and not 60 <= event.timeout_seconds <= 300:
        message = f"{event.timeout_seconds} seconds is outside the 60 to 300 suggested for a question."
        yield Violation("CONF-054", message, "/timeout_seconds")


# -- handshake and manifest ----------------------------------------------------------------


def capabilities(message: messages.SubscriptionRequest | messages.SubscriptionRenegotiate) -> Iterator[Violation]:
    """CAP-016 §5.3.1.4"""
    asked = message.capabilities
    if not isinstance(asked, messages.Capabilities) or isinstance(message, messages.SubscriptionRenegotiate):
        return
    levels = present(asked, "supported_conformance_levels")
    if not isinstance(levels, tuple) or (2 not in levels and 3 not in levels):
        return
    if asked.supports_confirmation_reply is not True:
        text = "Level 2 or 3 is listed, so supports_confirmation_reply has to be true."
        yield Violation("CAP-016", text, "/capabilities")
    elif asked.supports_clarification_reply is not True:  # CF-059
        text = "Level 2 or 3 is listed, but clarifications cannot be answered."
        yield Violation("CAP-016", text, "/capabilities", severity="warning")


def signature(message: messages.SubscriptionAccepted) -> Iterator[Violation]:
    """MAN-018 §10.4.1(2): ES256, RS256 or EdDSA; never none, never HMAC (CF-121)."""
    signed = present(message, "signed_manifest")
    if not isinstance(signed, str) or not re.fullmatch(messages.COMPACT_JWS, signed):
        return
    try:
        head = signed.split(".")[0]
        header = msgspec.json.decode(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)), type=dict[str, Any])
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        header = {}
    if header.get("alg") not in ("ES256", "RS256", "EdDSA"):
        found = header.get("alg", "no readable header")
        text = f"The manifest is signed with {found!r}. Use ES256, RS256 or EdDSA."
        yield Violation("MAN-018", text, "/signed_manifest")


PAYLOADS: Final[Mapping[type[Message], tuple[Callable[[Any], Iterable[Violation]], ...]]] = {
    events.SessionErrored: (error,),
    events.StateChanged: (summaries, state_names),
    events.ProgressUpdated: (summaries, progress),
    events.ToolInvoked: (summaries, invoked),
    events.ToolCompleted: (summaries, completed),
    events.OutputStreaming: (chunk,),
    events.AwaitingConfirmation: (summaries, confirmation),
    events.AwaitingClarification: (summaries, clarification),
    events.HandoffRequested: (summaries,),
    messages.SubscriptionRequest: (capabilities,),
    messages.SubscriptionAccepted: (signature,),
}
