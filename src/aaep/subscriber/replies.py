"""
A subscriber's open prompts, and the replies it may send to them. Chapter 6

A reply is built only for a prompt of this stream that is still open, and only
when a person or a policy has decided: nothing here answers by itself. Sending a
reply decides nothing either; the outcome arrives as an event.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Final, Literal, NoReturn

import msgspec
from msgspec import UNSET

from ..errors import LocalProtocolError, Violation
from ..protocol import codec, timestamps
from ..protocol.attend_extension import attend_member
from ..protocol.audit import forget_older_half
from ..protocol.catalogue import grade
from ..protocol.consent import PromptState, response_violation
from ..protocol.events import TERMINAL, AwaitingClarification, AwaitingConfirmation, Envelope, StateChanged
from ..protocol.fields import Message, get_member
from ..protocol.messages import Capabilities, ClarificationReply, ConfirmationReply, Reply

__all__ = [
    "LOCAL_USER",
    "OpenPrompt",
    "OpenPrompts",
    "SentReplies",
    "build_clarification_reply",
    "build_confirmation_reply",
    "encode_checked",
    "forward_reply",
    "is_refusal",
]

LOCAL_USER: Final = "user:local"
MAX_TIMEOUT: Final = 10**9  # seconds; an untrusted producer may send any number
MAX_DECIDER_LENGTH: Final = 256  # characters of decided_by (CONF-025)
MAX_REMEMBERED: Final = 4096  # prompts
PromptEvent = AwaitingConfirmation | AwaitingClarification
_DECIDING_MEMBERS: Final = (
    "action",
    "consequence",
    "risk_level",
    "irreversible",
    "reversibility",
    "question",
    "choices",
)


class OpenPrompt(msgspec.Struct, frozen=True):
    """An open prompt and the time, by the subscriber's own clock, until which it can be answered."""

    event: PromptEvent
    deadline: float


class OpenPrompts:
    """
    The open prompts of a subscriber, in the order in which they arrived.

    A prompt is closed by its outcome, by its agent leaving ``awaiting_input``
    (CF-025), by the end of its session (CF-027), or by its timeout (CONF-059).
    """

    def __init__(self) -> None:
        self._open: dict[str, OpenPrompt] = {}
        self._closed: dict[str, str] = {}  # by reply token, with the reason
        self._tokens_on_connection: set[str] = set()  # of new and repeated prompts

    def connection_began(self) -> None:
        """Note that a connection begins, on which the producer sends all open prompts again."""
        self._tokens_on_connection.clear()

    def note_arrival(self, event: Envelope) -> None:
        """Note that an event arrived on this connection, including a repeated one."""
        if isinstance(event, PromptEvent) and len(self._tokens_on_connection) < MAX_REMEMBERED:
            self._tokens_on_connection.add(event.reply_token)

    def update(self, event: Envelope, now: float) -> None:
        """Open or close prompts according to a new event."""
        if isinstance(event, PromptEvent):
            if len(self._open) >= MAX_REMEMBERED:
                forget_older_half(self._open)
            self._closed.pop(event.reply_token, None)
            self._open.setdefault(event.reply_token, OpenPrompt(event, now + min(event.timeout_seconds, MAX_TIMEOUT)))
            return
        token = attend_member(event, "reply_token")
        outcome = attend_member(event, "outcome")
        if isinstance(token, str) and outcome is not None:
            self._close(token, str(outcome).replace("_", " "))
        elif isinstance(event, TERMINAL):
            self._close_all(event, "its session has ended")
        elif isinstance(event, StateChanged) and event.to_state != "awaiting_input":
            is_resync = bool(attend_member(event, "resync"))
            if is_resync or event.from_state == "awaiting_input":
                # A catch-up only names the state: prompts that are still open arrived before it (CF-146).
                excluded = self._tokens_on_connection if is_resync else set[str]()
                self._close_all(event, "the agent has gone on", event.producer.agent_id, excluded)

    def pending(self, now: float) -> tuple[PromptEvent, ...]:
        """Return the prompts that can still be answered, oldest first."""
        return tuple(open_prompt.event for open_prompt in self._open.values() if now < open_prompt.deadline)

    def find(self, prompt: Envelope | str, now: float) -> PromptEvent:
        """Return the open prompt that an event or a reply token names, or raise. CONF-016 §6.2"""
        token = prompt if isinstance(prompt, str) else getattr(prompt, "reply_token", "")
        open_prompt = self._open.get(token)
        if open_prompt is not None and now < open_prompt.deadline:
            return open_prompt.event
        if open_prompt is not None:
            raise _build_closed_error("its time is over", "CONF-035")
        if token in self._closed:
            raise _build_closed_error(self._closed[token], "CONF-034")
        violation = Violation("CONF-016", "A reply answers a prompt that came on this stream.", "/reply_token")
        raise LocalProtocolError("There is no such prompt. Answer one of subscriber.prompts.", [violation])

    def _close_all(
        self, event: Envelope, reason: str, agent_id: str | None = None, excluded: Collection[str] = ()
    ) -> None:
        """Close the prompts of an event's session, of one agent or of all, except those with the excluded tokens."""
        for token, open_prompt in [*self._open.items()]:
            prompt = open_prompt.event
            # After a resume a prompt arrives ahead of older events, which do not concern it.
            is_event_older = timestamps.is_later(prompt.timestamp, event.timestamp)
            if (
                prompt.session_id == event.session_id
                and agent_id in (None, prompt.producer.agent_id)
                and not is_event_older
                and token not in excluded
            ):
                self._close(token, reason)

    def _close(self, token: str, reason: str) -> None:
        if self._open.pop(token, None) is not None:
            if len(self._closed) >= MAX_REMEMBERED:
                forget_older_half(self._closed)
            self._closed[token] = reason


class SentReplies:
    """
    The replies that were sent, for sending again if a connection lost them.

    A connection that breaks may lose a reply. If the prompt arrives again after
    that, the producer does not have it, and the decision about this very prompt
    is sent again. A token counts once (CONF-034), and a refusal is never
    replaced by a later reply.
    """

    def __init__(self) -> None:
        self._sent: dict[str, tuple[PromptEvent, Callable[..., bytes], bool]] = {}

    def remember(self, prompt: PromptEvent, write: Callable[..., bytes], *, refuses: bool) -> None:
        """Remember the reply to a prompt; ``write`` builds its message for a subscription."""
        token = prompt.reply_token
        if token in self._sent and self._sent[token][2]:
            return
        if len(self._sent) >= MAX_REMEMBERED:
            forget_older_half(self._sent)
        self._sent[token] = prompt, write, refuses

    def find_repeat(self, event: Envelope, subscription_id: str) -> bytes | None:
        """Return the reply to a prompt that arrives again, for its present subscription, or None."""
        sent = self._sent.get(event.reply_token) if isinstance(event, PromptEvent) else None
        if sent is None:
            return None
        prompt, write, _ = sent
        if _get_deciding_values(prompt) != _get_deciding_values(event):
            return None
        return write(subscription_id=subscription_id)


def _get_deciding_values(event: Envelope) -> list[object]:
    """Return what the decision about a prompt depends on: with other values under the same token it is another one."""
    return [event.event_id, event.session_id, *(getattr(event, name, UNSET) for name in _DECIDING_MEMBERS)]


def _build_closed_error(reason: str, rule: str) -> LocalProtocolError:
    violation = Violation(rule, f"The prompt is closed: {reason}.", "/reply_token")
    return LocalProtocolError("Too late: this prompt cannot be answered any more. Nothing was sent.", [violation])


# -- building replies ----------------------------------------------------------------------


def build_confirmation_reply(
    prompt: PromptEvent,
    decision: Literal["accept", "reject"],
    subscription_id: str,
    timestamp: str,
    *,
    terms: Capabilities,
    decided_by: str = LOCAL_USER,
    rationale: str | None = None,
) -> bytes:
    """Return the encoded confirmation.reply to a prompt, or raise if it may not be sent. §6.3"""
    if not isinstance(prompt, AwaitingConfirmation):
        _refuse("CLAR-020", "This prompt is a question. Use answer() with what the person said.")
    if terms.supports_confirmation_reply is not True:
        _refuse("CONF-063", "The producer takes no confirmations from this subscription. Another has to answer.")
    allowed = get_member(prompt, "allowed_replies")
    if allowed is not None and decision not in allowed:  # CF-018: also where reject is missing
        _refuse("CONF-037", f"This prompt does not offer {decision}. Close the subscription to stop listening.")
    if decision == "accept":
        _require_person(prompt, decided_by)
    return encode_checked(
        ConfirmationReply(
            reply_token=prompt.reply_token,
            decision=decision,
            subscription_id=subscription_id,
            timestamp=timestamp,
            decided_by=decided_by,
            decision_rationale=UNSET if rationale is None else rationale,
        )
    )


def build_clarification_reply(
    prompt: PromptEvent,
    response: str | bool | int | float,
    subscription_id: str,
    timestamp: str,
    *,
    terms: Capabilities,
    decided_by: str = LOCAL_USER,
) -> bytes:
    """Return the encoded clarification.reply to a question, or raise if it may not be sent. §6.5"""
    if not isinstance(prompt, AwaitingClarification):
        _refuse("CLAR-020", "This prompt wants a yes or no. Use accept() or reject().")
    if terms.supports_clarification_reply is not True:
        _refuse("CLAR-004", "The producer takes no answers from this subscription. Another has to answer.")
    reply = ClarificationReply(
        reply_token=prompt.reply_token,
        response=response,
        subscription_id=subscription_id,
        timestamp=timestamp,
        decided_by=decided_by,
    )
    rule = response_violation(reply, PromptState(event=prompt, deadline=0.0))
    if rule:
        _refuse(rule, "The answer is not of a kind the question accepts.")
    return encode_checked(reply)


def is_refusal(message: Reply) -> bool:
    """Whether a reply rejects what a prompt asks for."""
    return isinstance(message, ConfirmationReply) and message.decision == "reject"


def forward_reply(
    message: Reply, prompt: PromptEvent, subscription_id: str, timestamp: str, *, terms: Capabilities
) -> bytes:
    """
    Return another subscriber's reply, encoded for our own subscription, so that the producer judges it itself.

    An acceptance keeps its timestamp (CF-014) and its other members (CF-019), either of which may turn it into a
    refusal. Of a rejection only the decision is kept, as the rest could make the producer refuse it (CF-020).
    """
    decided_by = message.decided_by if isinstance(message.decided_by, str) and message.decided_by else LOCAL_USER
    if is_refusal(message):
        return build_confirmation_reply(
            prompt, "reject", subscription_id, timestamp, terms=terms, decided_by=decided_by[:MAX_DECIDER_LENGTH]
        )
    if isinstance(prompt, AwaitingConfirmation):
        _require_person(prompt, decided_by)
    return codec.encode(codec.replace(message, subscription_id=subscription_id))


def encode_checked(message: Message) -> bytes:
    """Encode an outgoing message, or raise :exc:`LocalProtocolError` if it would break the protocol."""
    raw = codec.encode(message)
    decoded, violations = codec.read(raw, strict=True)
    errors = [violation for violation in violations if grade(violation, strict=True) == "error"]
    if decoded is None or errors:
        raise LocalProtocolError("This cannot be sent as it is. Nothing was sent.", errors)
    return raw


def _require_person(prompt: AwaitingConfirmation, decided_by: str) -> None:
    """Raise unless a person decided, or the action is harmless (CF-037)."""
    if not decided_by.startswith("user:") and not _is_harmless(prompt):
        _refuse("CONF-025", "Only a person may accept what is of high risk or cannot be undone.")


def _is_harmless(prompt: AwaitingConfirmation) -> bool:
    """Whether an action is stated to be reversible and of no high risk; unknown values count as harmful."""
    is_reversible = prompt.irreversible is False or prompt.reversibility == "reversible"
    is_irreversible = prompt.irreversible is True or prompt.reversibility == "irreversible"
    return is_reversible and not is_irreversible and prompt.risk_level in ("low", "medium")


def _refuse(rule: str, text: str) -> NoReturn:
    raise LocalProtocolError("Nothing was sent.", [Violation(rule, text)])
