"""The status of a subscriber's connection, and the errors that end an attempt to subscribe."""

from __future__ import annotations

from typing import Final, Literal

import msgspec
from msgspec import UNSET

from ..errors import AaepError
from ..identity.peer import HUB_AGENT_ID
from ..protocol.messages import SubscriptionClose, SubscriptionRejected
from ..text.imitation import guard_name
from ..text.phrases import ENGLISH, Phrases, describe_close_reason, describe_goodbye, ensure_full_stop
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

StatusKind = Literal["new", "connecting", "connected", "waiting", "resumed", "gap", "unread", "notice", "ended"]

_CREDENTIAL_OPTIONS: Final = "--token or AAEP_TOKEN, or token= in Python"
RESUMABLE_REASONS: Final = ("slow_consumer", "authentication_expired")  # CF-083, CF-149


_REFUSAL_CODES: Final = frozenset(
    (
        "version_unsupported",
        "manifest_invalid",
        "manifest_signature_required",
        "capabilities_incompatible",
        "rate_limit",
        "authentication_required",
        "authentication_expired",
        "authorization_denied",
        "transport_unavailable",
        "unknown",
        "slow_consumer",
        "rate_violation",
        "protocol_error",
    )
)


class Status(msgspec.Struct, frozen=True):
    """
    The state of the connection, as a word for programs and a sentence for people.

    ``waiting`` means that the next attempt is in ``retry`` seconds; ``resumed``
    is connected again with nothing missed, and ``gap`` with something missed.
    ``unread`` reports that something arrived that is no message; the connection
    stays as it was. ``notice`` is a sentence about one of several connections.
    """

    kind: StatusKind
    text: str
    retry: float | None = None
    reason_code: str = ""  # the code with which the producer ended it, also while it is waited for


UNREADABLE: Final = Status("unread", ENGLISH["unreadable"])


class SubscriptionRefused(AaepError):
    """The producer refused the subscription, or ended it for good. The message says what to do."""

    def __init__(
        self, reason_code: str, reason_message: str, retry_after: int | None = None, *, phrases: Phrases = ENGLISH
    ) -> None:
        self.reason_code = reason_code
        self.reason_message = reason_message
        self.retry_after = retry_after
        message = ensure_full_stop(sanitize(reason_message))
        known = phrases.format_first(f"refused-{reason_code}") if reason_code in _REFUSAL_CODES else ""
        if known:  # SUB-041 and CF-066, in words
            refusal = phrases.format("refused", reason=f"{known} {message}".rstrip())
        elif message:  # an unknown code is better than nothing
            refusal = phrases.format("refused-code", code=sanitize(reason_code), reason=message)
        else:
            refusal = phrases.format("refused-code-only", code=sanitize(reason_code))
        names = (f"advice-{reason_code}", "advice-unknown")
        super().__init__(f"{refusal} {phrases.format_first(*names, options=_CREDENTIAL_OPTIONS)}")


def build_refused_error(answer: SubscriptionRejected, phrases: Phrases = ENGLISH) -> SubscriptionRefused:
    """Return the error that corresponds to a subscription.rejected message."""
    retry_after = answer.retry_after_seconds
    retry_seconds = None if retry_after is UNSET else retry_after
    return SubscriptionRefused(answer.reason_code, answer.reason_message, retry_seconds, phrases=phrases)


# -- outcomes of an attempt ----------------------------------------------------------------


class RequestRejected(Exception):
    """The producer rejected the subscription request, at least for now."""

    def __init__(self, error: SubscriptionRefused) -> None:
        self.error = error


class SubscriptionLost(Exception):
    """The producer no longer knows the subscription."""

    def __init__(self, error: AaepError) -> None:
        self.error = error


class ProducerClosed(Exception):
    """The producer closed the subscription."""

    def __init__(self, message: SubscriptionClose) -> None:
        self.message = message


def describe_close(message: SubscriptionClose, agent_id: str, name: str = "", phrases: Phrases = ENGLISH) -> str:
    """Return the sentence for a subscription that the producer closed; an unknown reason code is quoted."""
    text = describe_goodbye(sanitize(message.reason_code), guard_name(name, phrases=phrases), phrases)
    is_hub = agent_id == HUB_AGENT_ID
    known = [describe_close_reason(message.reason_code, is_hub=is_hub, phrases=each) for each in (ENGLISH, phrases)]
    details = "" if message.reason_message is UNSET else sanitize(message.reason_message)
    return f"{text} {details}" if details and details not in (*known, text) else text
