"""
One subscription: its handshake, and what its terms allow. Chapter 5

:func:`wider` is the one place that knows what "more permissive" means for
each capability; :class:`Handshake` walks the table of :mod:`aaep.protocol.states`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..errors import Severity, Violation
from .codec import canonical_type, parse_json
from .events import CORE_EVENTS, CRITICAL, Envelope
from .fields import Message, get_member
from .messages import (
    Capabilities,
    EventFilters,
    SubscriptionAccepted,
    SubscriptionClose,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from .states import BREACHES, HANDSHAKE

__all__ = ["DEFAULTS", "EVERYTHING", "SCALES", "Handshake"]
__all__ += [
    "admits",
    "admitting",
    "find_resets",
    "find_wider",
    "is_critical",
    "matches_pattern",
    "merge_capabilities",
    "with_defaults",
]

# §5.3.1: what an absent member means. Rate and pace have no default.
EVERYTHING: Final = ("aaep:agent.*",)  # CAP-025: what is included where nobody says
DEFAULTS: Final = Capabilities(
    preferred_verbosity="normal",
    languages=("en-US",),
    supports_confirmation_reply=False,
    supports_clarification_reply=False,
    coalesce_boundaries=("sentence", "completion"),
    event_filters=EventFilters(include=EVERYTHING, exclude=()),
    supported_conformance_levels=(1,),
    supported_extensions=(),
    cognitive_load="medium",
    accept_signed_manifests_only=False,
)
# From the tightest to the widest.
SCALES: Final = {
    "preferred_verbosity": ("terse", "normal", "detailed"),
    "cognitive_load": ("low", "medium", "high"),
}


def merge_capabilities(base: Capabilities, changes: Capabilities) -> Capabilities:
    """The terms with some members replaced, whole member by whole member (CF-042)."""
    given = {name: value for name in changes.__struct_fields__ if (value := getattr(changes, name)) is not UNSET}
    both = msgspec.structs.replace(base, **given)
    unknown = {**base.unknown, **changes.unknown}
    if unknown:
        both.__dict__["unknown"] = unknown
    return both


def find_resets(asked: Capabilities, change: SubscriptionRenegotiate) -> Capabilities:
    """The terms with the members that a renegotiation sends as null back at their defaults (CF-042)."""
    # A null has no place in the type, so such a message has been kept as it came.
    sent = parse_json(change.raw)[0] if change.raw is not None else None
    given = sent.get("capabilities") if isinstance(sent, dict) else None
    nulls = [name for name, value in given.items() if value is None] if isinstance(given, dict) else []
    defaults = {name: getattr(DEFAULTS, name) for name in nulls if name in Capabilities.__struct_fields__}
    back = msgspec.structs.replace(asked, **defaults)
    back.__dict__["unknown"] = dict(asked.unknown)
    return back


def with_defaults(asked: Capabilities) -> Capabilities:
    """The request with the defaults filled in."""
    return merge_capabilities(DEFAULTS, asked)


def matches_pattern(pattern: object, type_: str) -> bool:
    """CAP-026, CAP-027 §5.3.1.7: a literal type, or a plain prefix and a star; a full URI is shortened (CF-051)."""
    if not isinstance(pattern, str):
        return False  # a request that is judged may hold anything
    pattern = canonical_type(pattern)
    return type_.startswith(pattern[:-1]) if pattern.endswith("*") else type_ == pattern


def admits(filters: EventFilters, type_: str) -> bool:
    """CAP-028 §5.3.1.7: some include matches and no exclude does (CF-049, CF-051)."""
    include = EVERYTHING if filters.include is UNSET else filters.include
    exclude = () if filters.exclude is UNSET else filters.exclude
    return any(matches_pattern(one, type_) for one in include) and not any(
        matches_pattern(one, type_) for one in exclude
    )


def is_critical(event: Envelope) -> bool:
    """CF-053: by its urgency or by its type."""
    return event.urgency == "critical" or isinstance(event, CRITICAL)


def find_wider(asked: Capabilities, honoured: Capabilities) -> Iterator[Violation]:
    """Where terms are more permissive than the request. SUB-028 to SUB-035 §5.4.4; absent is as requested (CF-043)."""

    def say(rule: str, name: str, text: str) -> Violation:
        return Violation(rule, f"{name} was granted wider than asked: {text}.", f"/honored_capabilities/{name}")

    want = with_defaults(asked)
    for name in Capabilities.__struct_fields__:
        got, wish = getattr(honoured, name), getattr(want, name)
        if got is UNSET:
            continue
        if name in ("max_events_per_second", "pace_wpm"):
            if wish is not UNSET and got > wish:
                yield say("SUB-029" if name == "max_events_per_second" else "SUB-028", name, f"{got} for {wish}")
        elif name in SCALES:
            scale = SCALES[name]  # a value that is not on it is reported with the message it stands in
            if got in scale and wish in scale and scale.index(got) > scale.index(wish):
                yield say("SUB-028", name, f"{got} for {wish}")
        elif name == "event_filters":
            extra = _admitted_too_much(wish, got)
            if extra:
                yield say("SUB-032", name, f"it admits {extra}")
        elif name == "accept_signed_manifests_only":
            if wish and not got:
                yield say("SUB-035", name, "the demand for a signature was dropped")
        elif isinstance(got, bool):
            if got and not wish:
                yield say("SUB-033", name, "true for false")
        else:
            if name == "supported_conformance_levels":  # CF-058: the highest includes the lower ones
                wish = [level for level in (1, 2, 3) if any(one in (2, 3) and level <= one for one in wish)] or wish
            more = [one for one in got if str(one).lower() not in {str(w).lower() for w in wish}]
            if more:
                yield say(_SETS[name], name, f"{more[0]} was not asked for")


_SETS: Final = {
    "languages": "SUB-030",
    "coalesce_boundaries": "SUB-031",
    "supported_conformance_levels": "SUB-034",
    "supported_extensions": "SUB-034",
}


def admitting(filters: EventFilters) -> Callable[[str], bool]:
    """:func:`admits` for many types, which takes as long for each however many patterns there are."""
    included = _caught(EVERYTHING if filters.include is UNSET else filters.include)
    excluded = _caught(() if filters.exclude is UNSET else filters.exclude)
    return lambda type_: included(type_) and not excluded(type_)


def _caught(patterns: Iterable[object]) -> Callable[[str], bool]:
    known = {canonical_type(one) for one in patterns if isinstance(one, str)}
    beginnings = {one[:-1] for one in known if one.endswith("*")}
    return lambda type_: type_ in known or any(type_[:size] in beginnings for size in range(len(type_) + 1))


def _admitted_too_much(wish: EventFilters, got: EventFilters) -> str:
    """A type the granted filters admit and the requested ones do not, or nothing."""
    # The twelve types, and for each pattern a type that only it could be meant for.
    samples = [*CORE_EVENTS]
    for filters in (wish, got):
        for pattern in (*(get_member(filters, "include") or ()), *(get_member(filters, "exclude") or ())):
            if isinstance(pattern, str):
                prefix = canonical_type(pattern).removesuffix("*")
                samples += [prefix, prefix + "x"]
    granted, asked = admitting(got), admitting(wish)
    return next((type_ for type_ in samples if type_ and granted(type_) and not asked(type_)), "")


class Handshake:
    """What has passed on one subscription, and what of it was out of order."""

    def __init__(self, *, whole: bool = True) -> None:
        self.whole = whole
        self.stage = "bare"
        self.subscription_id = ""
        self.asked = DEFAULTS
        self.terms: Capabilities | None = None  # None: no handshake, so no terms to break
        self.renegotiated = False
        self.since = 0.0  # when it began, in seconds since the epoch, if that is known

    @property
    def partial(self) -> bool:
        """Whether its terms leave out some events of a session (SUB-037)."""
        filters = get_member(self.terms, "event_filters") if self.terms is not None else None
        return filters is not None and not all(admits(filters, type_) for type_ in CORE_EVENTS)

    def feed(self, message: Message) -> Iterator[Violation]:
        """Take the next message and say what is wrong with its coming now."""
        kind = _KINDS.get(type(message), "event" if isinstance(message, Envelope) else "")
        if not kind:
            return
        stage = self.stage
        rule = BREACHES.get((stage, kind))
        if rule is not None and (stage != "bare" or self.whole):
            yield Violation(rule, _WORDS[rule])
        if isinstance(message, SubscriptionRequest):
            self.asked = with_defaults(message.capabilities)
            self.renegotiated = False
        elif isinstance(message, (SubscriptionRenegotiate, SubscriptionClose)):
            if self.subscription_id and message.subscription_id != self.subscription_id:
                text = f"subscription_id is {message.subscription_id}; this subscription is {self.subscription_id}."
                yield Violation("SUB-019", text, "/subscription_id")
            if isinstance(message, SubscriptionRenegotiate):
                self.asked = merge_capabilities(find_resets(self.asked, message), message.capabilities)
        elif isinstance(message, SubscriptionAccepted):
            yield from self._accepted(message, stage)
        elif isinstance(message, Envelope) and self.terms is not None and rule is None:
            yield from self._outside(message)
        self.stage = HANDSHAKE.get((stage, kind), stage)

    def finish(self) -> Iterator[Violation]:
        """The recording is over: requests that nobody answered."""
        severity: Severity | Any = "" if self.whole else "info"
        if self.stage == "requested":
            yield Violation("SUB-005", "The subscription.request was never answered.", severity=severity)
        elif self.stage == "renegotiating":
            yield Violation("SUB-057", "The subscription.renegotiate was never answered.", severity=severity)

    def _accepted(self, message: SubscriptionAccepted, stage: str) -> Iterator[Violation]:
        if stage == "renegotiating":
            self.renegotiated = True
            if self.subscription_id and message.subscription_id != self.subscription_id:
                text = f"subscription_id became {message.subscription_id}; it stays {self.subscription_id}."
                yield Violation("SUB-019", text, "/subscription_id")
        if stage in ("requested", "renegotiating"):
            yield from find_wider(self.asked, message.honored_capabilities)
            # CAP-046: the schema's own wording; CF-068 says inline, always.
            if self.asked.accept_signed_manifests_only is True and message.signed_manifest is UNSET:
                yield Violation(
                    "CAP-046", "A signed manifest was demanded and is not there. Put it in signed_manifest."
                )
        if not self.subscription_id or stage == "requested":
            self.subscription_id = message.subscription_id
        self.terms = merge_capabilities(self.asked, message.honored_capabilities)

    def _outside(self, event: Envelope) -> Iterator[Violation]:
        """SUB-037 §5.4.4, SUB-061 §5.7.2"""
        filters = get_member(self.terms, "event_filters") if self.terms is not None else None
        if filters is not None and not is_critical(event) and not admits(filters, event.type):
            yield Violation(
                "SUB-061" if self.renegotiated else "SUB-037", f"The terms' filters do not admit {event.type}.", "/type"
            )


_KINDS: Final[dict[type[Any], str]] = {
    SubscriptionRequest: "request",
    SubscriptionAccepted: "accepted",
    SubscriptionRejected: "rejected",
    SubscriptionRenegotiate: "renegotiate",
    SubscriptionClose: "close",
}
_WORDS: Final = {
    "SUB-004": "An event came before the request was answered.",
    "SUB-005": "There is no open request that this answers.",
    "SUB-068": "The subscription is closed; nothing may follow on it.",
    "SUB-058": "The renegotiation was rejected, which ended the subscription; nothing may follow on it.",
}
