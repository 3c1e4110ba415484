"""
The state of one subscription: its handshake, and what its terms allow. Chapter 5

:func:`find_wider` is the one place that knows what "more permissive" means for
each capability; :class:`Handshake` follows the table of :mod:`aaep.protocol.states`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
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
from .states import BREACHED_RULES, HANDSHAKE_TRANSITIONS

__all__ = [
    "ALL_EVENT_PATTERNS",
    "DEFAULT_CAPABILITIES",
    "ORDERED_VALUES",
    "Handshake",
    "apply_resets",
    "compile_filters",
    "find_wider",
    "is_admitted",
    "is_critical",
    "is_pattern_match",
    "merge_capabilities",
    "with_defaults",
]

ALL_EVENT_PATTERNS: Final = ("aaep:agent.*",)  # CAP-025: the patterns included by default
# §5.3.1: what an absent member means. Rate and pace have no default.
DEFAULT_CAPABILITIES: Final = Capabilities(
    preferred_verbosity="normal",
    languages=("en-US",),
    supports_confirmation_reply=False,
    supports_clarification_reply=False,
    coalesce_boundaries=("sentence", "completion"),
    event_filters=EventFilters(include=ALL_EVENT_PATTERNS, exclude=()),
    supported_conformance_levels=(1,),
    supported_extensions=(),
    cognitive_load="medium",
    accept_signed_manifests_only=False,
)
# The values of these members, from the tightest to the widest.
ORDERED_VALUES: Final = {
    "preferred_verbosity": ("terse", "normal", "detailed"),
    "cognitive_load": ("low", "medium", "high"),
}


def merge_capabilities(base: Capabilities, changes: Capabilities) -> Capabilities:
    """Return the base terms with the members of ``changes`` replaced, each as a whole (CF-042)."""
    changed = {name: value for name in changes.__struct_fields__ if (value := getattr(changes, name)) is not UNSET}
    merged = msgspec.structs.replace(base, **changed)
    unknown = {**base.unknown, **changes.unknown}
    if unknown:
        merged.__dict__["unknown"] = unknown
    return merged


def apply_resets(asked: Capabilities, change: SubscriptionRenegotiate) -> Capabilities:
    """Return the terms with every member that a renegotiation sends as null set to its default (CF-042)."""
    # The type does not allow null, so such a message keeps its raw form.
    message = parse_json(change.raw)[0] if change.raw is not None else None
    members = message.get("capabilities") if isinstance(message, dict) else None
    nulls = [name for name, value in members.items() if value is None] if isinstance(members, dict) else []
    defaults = {name: getattr(DEFAULT_CAPABILITIES, name) for name in nulls if name in Capabilities.__struct_fields__}
    reset = msgspec.structs.replace(asked, **defaults)
    reset.__dict__["unknown"] = dict(asked.unknown)
    return reset


def with_defaults(asked: Capabilities) -> Capabilities:
    """Return the request with defaults for absent members."""
    return merge_capabilities(DEFAULT_CAPABILITIES, asked)


def is_pattern_match(pattern: object, type_: str) -> bool:
    """
    Whether a type matches a literal type, or a prefix and a star. CAP-026, CAP-027 §5.3.1.7

    A pattern that is a full URI is shortened first (CF-051).
    """
    if not isinstance(pattern, str):
        return False  # a request under audit may hold any value
    pattern = canonical_type(pattern)
    return type_.startswith(pattern[:-1]) if pattern.endswith("*") else type_ == pattern


def is_admitted(filters: EventFilters, type_: str) -> bool:
    """Whether filters admit a type: some include matches and no exclude does. CAP-028 §5.3.1.7, CF-049, CF-051"""
    include = ALL_EVENT_PATTERNS if filters.include is UNSET else filters.include
    exclude = () if filters.exclude is UNSET else filters.exclude
    is_included = any(is_pattern_match(pattern, type_) for pattern in include)
    return is_included and not any(is_pattern_match(pattern, type_) for pattern in exclude)


def is_critical(event: Envelope) -> bool:
    """Whether an event is critical by its urgency or by its type (CF-053)."""
    return event.urgency == "critical" or isinstance(event, CRITICAL)


def find_wider(asked: Capabilities, honoured: Capabilities) -> Iterator[Violation]:
    """
    Find where terms are more permissive than the request. SUB-028 to SUB-035 §5.4.4

    An absent member is as requested (CF-043).
    """

    def report(rule: str, name: str, text: str) -> Violation:
        return Violation(rule, f"{name} was granted wider than asked: {text}.", f"/honored_capabilities/{name}")

    requested = with_defaults(asked)
    for name in Capabilities.__struct_fields__:
        granted = getattr(honoured, name)
        wanted = getattr(requested, name)
        if granted is UNSET:
            continue
        if name in ("max_events_per_second", "pace_wpm"):
            if wanted is not UNSET and granted > wanted:
                yield report(
                    "SUB-029" if name == "max_events_per_second" else "SUB-028", name, f"{granted} for {wanted}"
                )
        elif name in ORDERED_VALUES:
            scale = ORDERED_VALUES[name]  # a value outside it is reported by the rules on the message
            if granted in scale and wanted in scale and scale.index(granted) > scale.index(wanted):
                yield report("SUB-028", name, f"{granted} for {wanted}")
        elif name == "event_filters":
            extra = _find_extra_type(wanted, granted)
            if extra:
                yield report("SUB-032", name, f"it admits {extra}")
        elif name == "accept_signed_manifests_only":
            if wanted and not granted:
                yield report("SUB-035", name, "the demand for a signature was dropped")
        elif isinstance(granted, bool):
            if granted and not wanted:
                yield report("SUB-033", name, "true for false")
        else:
            if name == "supported_conformance_levels":  # CF-058: the highest includes the lower ones
                included = [level for level in (1, 2, 3) if any(top in (2, 3) and level <= top for top in wanted)]
                wanted = included or wanted
            wanted_names = {str(item).lower() for item in wanted}
            unrequested = [item for item in granted if str(item).lower() not in wanted_names]
            if unrequested:
                yield report(_LIST_RULES[name], name, f"{unrequested[0]} was not asked for")


_MAX_CACHED_TYPES: Final = 256  # types of events of which a subscription remembers whether they are admitted
_LIST_RULES: Final = {  # the rule that a list wider than the request breaks
    "languages": "SUB-030",
    "coalesce_boundaries": "SUB-031",
    "supported_conformance_levels": "SUB-034",
    "supported_extensions": "SUB-034",
}


def compile_filters(filters: EventFilters) -> Callable[[str], bool]:
    """Return :func:`is_admitted` as a function of the type that is equally fast for any number of patterns."""
    is_included = _compile_patterns(ALL_EVENT_PATTERNS if filters.include is UNSET else filters.include)
    is_excluded = _compile_patterns(() if filters.exclude is UNSET else filters.exclude)
    return lambda type_: is_included(type_) and not is_excluded(type_)


def _compile_patterns(patterns: Iterable[object]) -> Callable[[str], bool]:
    """Return a function that tells whether a type matches any of the patterns."""
    exact_types = {canonical_type(pattern) for pattern in patterns if isinstance(pattern, str)}
    prefixes = {pattern[:-1] for pattern in exact_types if pattern.endswith("*")}
    return lambda type_: type_ in exact_types or any(type_[:length] in prefixes for length in range(len(type_) + 1))


def _find_extra_type(wanted_filters: EventFilters, granted_filters: EventFilters) -> str:
    """Return a type that the granted filters admit and the requested ones do not, or an empty string."""
    # The twelve types, and for each pattern a type that only this pattern would match.
    samples = [*CORE_EVENTS]
    for filters in (wanted_filters, granted_filters):
        for pattern in (*(get_member(filters, "include") or ()), *(get_member(filters, "exclude") or ())):
            if isinstance(pattern, str):
                prefix = canonical_type(pattern).removesuffix("*")
                samples += [prefix, prefix + "x"]
    is_granted = compile_filters(granted_filters)
    is_wanted = compile_filters(wanted_filters)
    return next((type_ for type_ in samples if type_ and is_granted(type_) and not is_wanted(type_)), "")


class Handshake:
    """The state of one subscription's handshake, and the check of what passes on it."""

    def __init__(self, *, whole: bool = True) -> None:
        self.is_whole = whole
        self.stage = "bare"
        self.subscription_id = ""
        self.asked = DEFAULT_CAPABILITIES
        self.terms: Capabilities | None = None  # None without a handshake: there are no terms to break
        self.is_renegotiated = False
        self.since = 0.0  # when it began, in seconds since the epoch; 0 if not known
        self._is_admitted: Callable[[str], bool] = lambda _type: True  # by the filters of the terms

    @property
    def is_partial(self) -> bool:
        """Whether the terms leave out some events of a session (SUB-037)."""
        filters = get_member(self.terms, "event_filters") if self.terms is not None else None
        return filters is not None and not all(is_admitted(filters, type_) for type_ in CORE_EVENTS)

    def feed(self, message: Message) -> Iterable[Violation]:
        """Take the next message and return what is wrong with it at this point."""
        return self.feed_event(message) if isinstance(message, Envelope) else self._feed_message(message)

    def feed_event(self, event: Envelope) -> tuple[Violation, ...]:
        """Take the next event and return what is wrong with it at this point."""
        stage = HANDSHAKE_TRANSITIONS.get((self.stage, "event"))
        if stage is None:
            rule = BREACHED_RULES[self.stage, "event"]
            return (Violation(rule, _BREACH_TEXTS[rule]),)
        self.stage = stage
        if self._is_admitted(event.type) or is_critical(event):
            return ()
        rule = "SUB-061" if self.is_renegotiated else "SUB-037"  # SUB-037 §5.4.4, SUB-061 §5.7.2
        return (Violation(rule, f"The terms' filters do not admit {event.type}.", "/type"),)

    def _feed_message(self, message: Message) -> Iterator[Violation]:
        kind = _MESSAGE_KINDS.get(type(message), "")
        if not kind:
            return
        stage = self.stage
        rule = BREACHED_RULES.get((stage, kind))
        if rule is not None and (stage != "bare" or self.is_whole):
            yield Violation(rule, _BREACH_TEXTS[rule])
        if isinstance(message, SubscriptionRequest):
            self.asked = with_defaults(message.capabilities)
            self.is_renegotiated = False
        elif isinstance(message, (SubscriptionRenegotiate, SubscriptionClose)):
            if self.subscription_id and message.subscription_id != self.subscription_id:
                text = f"subscription_id is {message.subscription_id}; this subscription is {self.subscription_id}."
                yield Violation("SUB-019", text, "/subscription_id")
            if isinstance(message, SubscriptionRenegotiate):
                self.asked = merge_capabilities(apply_resets(self.asked, message), message.capabilities)
        elif isinstance(message, SubscriptionAccepted):
            yield from self._feed_accepted(message, stage)
        self.stage = HANDSHAKE_TRANSITIONS.get((stage, kind), stage)

    def finish(self) -> Iterator[Violation]:
        """End the recording and yield the requests that were never answered."""
        severity: Severity | Any = "" if self.is_whole else "info"
        if self.stage == "requested":
            yield Violation("SUB-005", "The subscription.request was never answered.", severity=severity)
        elif self.stage == "renegotiating":
            yield Violation("SUB-057", "The subscription.renegotiate was never answered.", severity=severity)

    def _feed_accepted(self, message: SubscriptionAccepted, stage: str) -> Iterator[Violation]:
        """Take an acceptance: check it against the request and adopt its terms."""
        if stage == "renegotiating":
            self.is_renegotiated = True
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
        filters = get_member(self.terms, "event_filters")
        if filters is not None:
            self._is_admitted = lru_cache(_MAX_CACHED_TYPES)(compile_filters(filters))


_MESSAGE_KINDS: Final[dict[type[Any], str]] = {
    SubscriptionRequest: "request",
    SubscriptionAccepted: "accepted",
    SubscriptionRejected: "rejected",
    SubscriptionRenegotiate: "renegotiate",
    SubscriptionClose: "close",
}
_BREACH_TEXTS: Final = {
    "SUB-004": "An event came before the request was answered.",
    "SUB-005": "There is no open request that this answers.",
    "SUB-068": "The subscription is closed; nothing may follow on it.",
    "SUB-058": "The renegotiation was rejected, which ended the subscription; nothing may follow on it.",
}
