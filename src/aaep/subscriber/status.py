"""What a subscriber says of its connection: how it is, and why there is none."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from msgspec import UNSET

from ..errors import AaepError
from ..identity.peer import HUB_AGENT_ID
from ..protocol.messages import SubscriptionClose, SubscriptionRejected
from ..text.phrases import describe_close_reason, ensure_full_stop
from ..text.sanitize import sanitize

__all__ = [
    "RESUMABLE_REASONS",
    "UNREADABLE",
    "ProducerClosed",
    "RequestRejected",
    "Status",
    "StatusKind",
    "SubscriptionLost",
    "SubscriptionRefused",
    "build_refused_error",
    "describe_close",
]

StatusKind = Literal["new", "connecting", "connected", "waiting", "resumed", "gap", "unread", "ended"]

_REASON_TEXTS: Final = {  # SUB-041 and CF-066, in words
    "version_unsupported": "it speaks no version of the protocol that we speak",
    "manifest_invalid": "a manifest could not be verified",
    "manifest_signature_required": "it has no signed manifest",
    "capabilities_incompatible": "it cannot give what we asked for",
    "rate_limit": "too much is asked of it at the moment",
    "authentication_required": "it does not know who we are",
    "authentication_expired": "our credential has expired",
    "authorization_denied": "we do not have access",
    "transport_unavailable": "it cannot be used in this way at the moment",
    "unknown": "it names no reason",
    "slow_consumer": "we were too slow",
    "rate_violation": "we sent too much",
    "protocol_error": "we sent what the protocol does not allow",
}
_ADVICE: Final = {
    "version_unsupported": "Use a version of this library that speaks theirs.",
    "manifest_invalid": "Ask the producer's operator for a manifest that can be verified.",
    "manifest_signature_required": "Ask the producer's operator for a signed manifest.",
    "capabilities_incompatible": "Ask for less, or for a language the producer offers.",
    "rate_limit": "Try again later.",
    "authentication_required": "Give a valid token: --token or AAEP_TOKEN, or token= in Python.",
    "authentication_expired": "Connect again with a fresh credential.",
    "authorization_denied": "Ask the producer's operator for access.",
    "transport_unavailable": "Try again later, or use another transport.",
    "slow_consumer": "Ask for fewer events, or read them faster.",
    "rate_violation": "Send fewer replies and changes.",
}
RESUMABLE_REASONS: Final = {  # CF-083, CF-149
    "slow_consumer": "We were too slow, and go on from where we were.",
    "authentication_expired": "Our credential expired. We show what we have now, and go on from where we were.",
}


class Status(msgspec.Struct, frozen=True):
    """
    How the connection is, in a word and in a sentence.

    ``waiting`` is for the next try, in ``retry`` seconds; ``resumed`` is
    connected again with nothing missed, and ``gap`` with something missed.
    ``unread`` is only told and leaves the connection as it is: something came
    that is no message.
    """

    kind: StatusKind
    text: str
    retry: float | None = None
    reason_code: str = ""  # of the producer that ended it, for programs and logs


UNREADABLE: Final = Status(
    "unread", "Something came that could not be read. If the agent asks something, it may be waiting for an answer."
)


class SubscriptionRefused(AaepError):
    """The producer will not have this subscription, or not any more. The message says what to do."""

    def __init__(self, reason_code: str, reason_message: str, retry_after: int | None = None) -> None:
        self.reason_code, self.reason_message, self.retry_after = reason_code, reason_message, retry_after
        said = ensure_full_stop(sanitize(reason_message))
        if why := _REASON_TEXTS.get(reason_code):
            said = f": {why}. {said}".rstrip()
        else:  # a code that nobody knows is better than nothing
            said = f", {sanitize(reason_code)}{f': {said}' if said else '.'}"
        advice = _ADVICE.get(reason_code, "Ask the producer's operator what it means.")
        super().__init__(f"The producer refused the subscription{said} {advice}")


def build_refused_error(answer: SubscriptionRejected) -> SubscriptionRefused:
    """The error that a rejection is."""
    after = answer.retry_after_seconds
    return SubscriptionRefused(answer.reason_code, answer.reason_message, None if after is UNSET else after)


# -- how a try ends ------------------------------------------------------------------------


class RequestRejected(Exception):
    """There is no subscription, at least not now."""

    def __init__(self, error: SubscriptionRefused) -> None:
        self.error = error


class SubscriptionLost(Exception):
    """The subscription is not known any more."""

    def __init__(self, error: AaepError) -> None:
        self.error = error


class ProducerClosed(Exception):
    """The producer closed the subscription."""

    def __init__(self, message: SubscriptionClose) -> None:
        self.message = message


def describe_close(message: SubscriptionClose, agent_id: str) -> str:
    """What a person is told when the producer with that id ends a subscription. A code nobody knows is told as such."""
    words = describe_close_reason(message.reason_code, is_hub=agent_id == HUB_AGENT_ID)
    text = "The producer ended the subscription"
    text += f". {words}" if words else f" ({sanitize(message.reason_code)})."
    more = "" if message.reason_message is UNSET else sanitize(message.reason_message)
    return f"{text} {more}" if more and more != words else text
