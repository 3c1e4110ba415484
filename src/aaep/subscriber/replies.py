"""
The prompts a subscriber was asked, and the replies it may send. Chapter 6

A reply is made only for a prompt of this stream that is still open, and only
when somebody decided: nothing here answers by itself. What was sent proves
nothing either; the outcome comes as an event.
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
MAX_TIMEOUT: Final = 10**9  # seconds; a stranger may send any number
MAX_DECIDER_LENGTH: Final = 256  # characters of who decided (CONF-025)
MAX_REMEMBERED: Final = 4096
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
    """An open prompt, and until when by our own clock it can be answered."""

    event: PromptEvent
    deadline: float


class OpenPrompts:
    """
    The open prompts of one subscriber, in the order they came.

    A prompt is closed by its outcome, by its agent's leaving ``awaiting_input``
    (CF-025), by the end of its session (CF-027), or by time (CONF-059).
    """

    def __init__(self) -> None:
        self._open: dict[str, OpenPrompt] = {}
        self._closed: dict[str, str] = {}  # and how
        self._tokens_on_connection: set[str] = set()  # tokens that came, once more or not, on this connection

    def connection_began(self) -> None:
        """A connection begins: what is still open comes again."""
        self._tokens_on_connection.clear()

    def note_arrival(self, event: Envelope) -> None:
        """An event arrived, were it only a repetition."""
        if isinstance(event, PromptEvent) and len(self._tokens_on_connection) < MAX_REMEMBERED:
            self._tokens_on_connection.add(event.reply_token)

    def update(self, event: Envelope, now: float) -> None:
        """An event came."""
        if isinstance(event, PromptEvent):
            if len(self._open) >= MAX_REMEMBERED:
                forget_older_half(self._open)
            self._closed.pop(event.reply_token, None)
            self._open.setdefault(event.reply_token, OpenPrompt(event, now + min(event.timeout_seconds, MAX_TIMEOUT)))
            return
        token, outcome = attend_member(event, "reply_token"), attend_member(event, "outcome")
        if isinstance(token, str) and outcome is not None:
            self._close(token, str(outcome).replace("_", " "))
        elif isinstance(event, TERMINAL):
            self._close_all(event, "its session has ended")
        elif isinstance(event, StateChanged) and event.to_state != "awaiting_input":
            resync = bool(attend_member(event, "resync"))
            if resync or event.from_state == "awaiting_input":
                # A catch-up only names the state: what is open came just before it (CF-091).
                spared = self._tokens_on_connection if resync else set[str]()
                self._close_all(event, "the agent has gone on", event.producer.agent_id, spared)

    def pending(self, now: float) -> tuple[PromptEvent, ...]:
        """The prompts that can still be answered, oldest first."""
        return tuple(prompt.event for prompt in self._open.values() if now < prompt.deadline)

    def find(self, asked: Envelope | str, now: float) -> PromptEvent:
        """The open prompt that an event or a token names; raises if there is none. CONF-016 §6.2"""
        token = asked if isinstance(asked, str) else getattr(asked, "reply_token", "")
        prompt = self._open.get(token)
        if prompt is not None and now < prompt.deadline:
            return prompt.event
        if prompt is not None:
            raise _closed_error("its time is over", "CONF-035")
        if token in self._closed:
            raise _closed_error(self._closed[token], "CONF-034")
        broken = Violation("CONF-016", "A reply answers a prompt that came on this stream.", "/reply_token")
        raise LocalProtocolError("There is no such prompt. Answer one of subscriber.prompts.", [broken])

    def _close_all(self, event: Envelope, how: str, agent: str | None = None, spared: Collection[str] = ()) -> None:
        for token, prompt in [*self._open.items()]:
            asked = prompt.event
            # After a resume a prompt comes before older events; those do not speak of it.
            older = timestamps.is_later(asked.timestamp, event.timestamp)
            if (
                asked.session_id == event.session_id
                and agent in (None, asked.producer.agent_id)
                and not older
                and token not in spared
            ):
                self._close(token, how)

    def _close(self, token: str, how: str) -> None:
        if self._open.pop(token, None) is not None:
            if len(self._closed) >= MAX_REMEMBERED:
                forget_older_half(self._closed)
            self._closed[token] = how


class SentReplies:
    """
    What the person answered, until it is known that it arrived.

    A connection that breaks may take a reply with it. If the prompt comes
    again after that, the producer has not heard; what the person decided about
    this very prompt is then said again. A token counts once (CONF-034), and a no
    that was given stays one, whatever is said after it.
    """

    def __init__(self) -> None:
        self._sent: dict[str, tuple[PromptEvent, Callable[..., bytes], bool]] = {}

    def remember(self, asked: PromptEvent, write: Callable[..., bytes], *, refuses: bool) -> None:
        """The person has answered; ``write`` makes the message for a subscription."""
        token = asked.reply_token
        if token in self._sent and self._sent[token][2]:
            return
        if len(self._sent) >= MAX_REMEMBERED:
            forget_older_half(self._sent)
        self._sent[token] = asked, write, refuses

    def find_repeat(self, event: Envelope, subscription_id: str) -> bytes | None:
        """The reply to a prompt that comes once more, for the subscription it comes on now."""
        kept = self._sent.get(event.reply_token) if isinstance(event, PromptEvent) else None
        if kept is None or _deciding_values(kept[0]) != _deciding_values(event):
            return None
        return kept[1](subscription_id=subscription_id)


def _deciding_values(event: Envelope) -> list[object]:
    """What a person who answers a prompt has heard. One that says something else under the same token is another."""
    return [event.event_id, event.session_id, *(getattr(event, name, UNSET) for name in _DECIDING_MEMBERS)]


def _closed_error(how: str, rule: str) -> LocalProtocolError:
    broken = Violation(rule, f"The prompt is closed: {how}.", "/reply_token")
    return LocalProtocolError("Too late: this prompt cannot be answered any more. Nothing was sent.", [broken])


# -- what is sent --------------------------------------------------------------------------


def build_confirmation_reply(
    asked: PromptEvent,
    decision: Literal["accept", "reject"],
    subscription_id: str,
    timestamp: str,
    *,
    terms: Capabilities,
    decided_by: str = LOCAL_USER,
    rationale: str | None = None,
) -> bytes:
    """The confirmation.reply to a prompt. §6.3"""
    if not isinstance(asked, AwaitingConfirmation):
        _refuse("CLAR-020", "This prompt is a question. Use answer() with what the person said.")
    if terms.supports_confirmation_reply is not True:
        _refuse("CONF-063", "The producer takes no confirmations from this subscription. Another has to answer.")
    allowed = get_member(asked, "allowed_replies")
    if allowed is not None and decision not in allowed:  # CF-018: also where reject is missing
        _refuse("CONF-037", f"This prompt does not offer {decision}. Close the subscription to stop listening.")
    if decision == "accept":
        _require_person(asked, decided_by)
    return encode_checked(
        ConfirmationReply(
            reply_token=asked.reply_token,
            decision=decision,
            subscription_id=subscription_id,
            timestamp=timestamp,
            decided_by=decided_by,
            decision_rationale=UNSET if rationale is None else rationale,
        )
    )


def build_clarification_reply(
    asked: PromptEvent,
    response: str | bool | int | float,
    subscription_id: str,
    timestamp: str,
    *,
    terms: Capabilities,
    decided_by: str = LOCAL_USER,
) -> bytes:
    """The clarification.reply to a question. §6.5"""
    if not isinstance(asked, AwaitingClarification):
        _refuse("CLAR-020", "This prompt wants a yes or no. Use accept() or reject().")
    if terms.supports_clarification_reply is not True:
        _refuse("CLAR-004", "The producer takes no answers from this subscription. Another has to answer.")
    reply = ClarificationReply(
        reply_token=asked.reply_token,
        response=response,
        subscription_id=subscription_id,
        timestamp=timestamp,
        decided_by=decided_by,
    )
    rule = response_violation(reply, PromptState(event=asked, deadline=0.0))
    if rule:
        _refuse(rule, "The answer is not of a kind the question accepts.")
    return encode_checked(reply)


def is_refusal(message: Reply) -> bool:
    """Whether a reply can only stop something."""
    return isinstance(message, ConfirmationReply) and message.decision == "reject"


def forward_reply(
    message: Reply, asked: PromptEvent, subscription_id: str, timestamp: str, *, terms: Capabilities
) -> bytes:
    """
    Somebody else's reply under our own subscription, for the producer to judge as if it had come straight to it.

    When it was decided (CF-014) and what is wanted instead (CF-019) go along, for either may make a no of a yes.
    Of a no only that goes along, for the rest could be what it is refused for (CF-020).
    """
    by = message.decided_by if isinstance(message.decided_by, str) and message.decided_by else LOCAL_USER
    if is_refusal(message):
        return build_confirmation_reply(
            asked, "reject", subscription_id, timestamp, terms=terms, decided_by=by[:MAX_DECIDER_LENGTH]
        )
    if isinstance(asked, AwaitingConfirmation):
        _require_person(asked, by)
    return codec.encode(codec.replace(message, subscription_id=subscription_id))


def encode_checked(message: Message) -> bytes:
    """The bytes of a message of ours; raises if it would break the protocol."""
    raw = codec.encode(message)
    read, found = codec.read(raw, strict=True)
    broken = [violation for violation in found if grade(violation, strict=True) == "error"]
    if read is None or broken:
        raise LocalProtocolError("This cannot be sent as it is. Nothing was sent.", broken)
    return raw


def _require_person(asked: AwaitingConfirmation, decided_by: str) -> None:
    """CF-037: whether a yes that names who gave it may be sent."""
    if not decided_by.startswith("user:") and not _is_harmless(asked):
        _refuse("CONF-025", "Only a person may accept what is of high risk or cannot be undone.")


def _is_harmless(asked: AwaitingConfirmation) -> bool:
    """What is not known is not harmless."""
    undone = asked.irreversible is False or asked.reversibility == "reversible"
    kept = asked.irreversible is True or asked.reversibility == "irreversible"
    return undone and not kept and asked.risk_level in ("low", "medium")


def _refuse(rule: str, text: str) -> NoReturn:
    raise LocalProtocolError("Nothing was sent.", [Violation(rule, text)])
