"""
What a producer grants of what a subscriber asks. §5.3 to §5.7

Everything here is decided from the request and the :class:`Offer` alone: the
same question gets the same answer. Nothing granted is wider than the request
(:func:`aaep.protocol.subscription.wider` finds nothing), every core member that has a
value is named (CF-043), and what was narrowed is said in plain sentences that
repeat none of the peer's own text.

A request is often read leniently, so a member may hold what its type does not
allow; :func:`usable` is the one place that sorts this out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import UNSET

from ..text.languages import filter_supported_languages
from . import attend_extension
from .codec import canonical_type
from .events import ProducerInfo
from .extensions import Extension, Registry
from .fields import AAEP_VERSION, Message, get_member
from .messages import (
    Capabilities,
    EventFilters,
    SubscriptionAccepted,
    SubscriptionRejected,
    SubscriptionRenegotiate,
    SubscriptionRequest,
)
from .rules import check_patterns
from .subscription import EVERYTHING, SCALES, find_resets, merge_capabilities, with_defaults

__all__ = ["Offer", "apply_change", "negotiate", "renegotiate", "tighten", "usable_capabilities"]

_ALIASES: Final = {"0.1.0-draft": "1.0.0"}  # CF-048
_VERSION: Final = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:-[A-Za-z0-9.-]+)?")
_MAJOR: Final = re.compile(r"/v([0-9]{1,9})(?=/|#|$)")
_HIGHEST: Final = {"max_events_per_second": 100_000, "pace_wpm": 1000}  # CF-057: more is not refused, only not used
_LEFT_OUT: Final = "Values that cannot be used were lowered or left out."
_LONGEST: Final = {"languages": 32, "supported_extensions": 64}

Version = tuple[int, int, int]


class Offer(msgspec.Struct, frozen=True, kw_only=True):
    """
    What a producer can grant.

    ``namespaces`` are the extensions it sends data of; ``registry`` has to know
    them, for it says which prefix each of them has (CF-061). A producer whose
    ``levels`` end at 1 takes no replies. ``origins`` are addresses it is reached
    at beside those it listens on, such as a proxy's (CF-120).
    """

    producer: ProducerInfo
    versions: tuple[str, ...] = (AAEP_VERSION,)
    levels: tuple[Literal[1, 2, 3], ...] = (1, 2, 3)
    languages: tuple[str, ...] = ("en-US",)
    registry: Registry = msgspec.field(default_factory=attend_extension.attend_registry)
    namespaces: tuple[str, ...] = ()
    max_events_per_second: int | None = None
    max_subscriptions: int | None = None
    retry_after_seconds: int = 30
    manifest_uri: str | None = None
    signed_manifest: str | None = None
    origins: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("versions", "levels", "languages"):
            if not getattr(self, name):
                raise ValueError(f"An offer needs {name}.")
        if any(_version(version) is None for version in self.versions):
            raise ValueError(f"A version is three numbers, such as {AAEP_VERSION}.")
        if self.max_events_per_second is not None and self.max_events_per_second < 1:
            raise ValueError("max_events_per_second is at least 1, or None for no limit.")
        for uri in self.namespaces:
            if self.registry.namespace(uri) is None:
                raise ValueError(f"The extension {uri} is offered, but not registered.")


# -- what was asked ------------------------------------------------------------------------


def usable_capabilities(given: Capabilities) -> tuple[Capabilities, tuple[str, ...]]:
    """
    The members that can be used, and the names of those that cannot.

    Of a list the items that are understood are kept, for leaving one out asks
    for less (§12.2); not so of filters, where leaving an exclude out asks for
    more. A number above its range is the highest of it (CF-057).
    """
    kept: dict[str, Any] = {}
    lost: list[str] = []
    for name in Capabilities.__struct_fields__:
        value = getattr(given, name)
        if value is UNSET:
            continue
        if isinstance(value, tuple):
            value = tuple(dict.fromkeys(one for one in value if _sound(name, (one,))))[: _LONGEST.get(name)]
        elif name in _HIGHEST and isinstance(value, int):
            value = min(value, _HIGHEST[name])
        if _sound(name, value):
            kept[name] = value
        else:
            lost.append(name)
    return _with(Capabilities(**kept), given.unknown), tuple(lost)


def _sound(name: str, value: object) -> bool:
    try:
        one = msgspec.convert({name: msgspec.to_builtins(value)}, Capabilities)
    except msgspec.ValidationError:
        return False
    filters = get_member(one, "event_filters")
    return not any(True for part in (one, filters) if part is not None for _ in check_patterns(part))


def _with(terms: Capabilities, unknown: Any) -> Capabilities:
    if unknown:
        terms.__dict__["unknown"] = dict(unknown)
    return terms


def apply_change(asked: Capabilities, change: SubscriptionRenegotiate) -> Capabilities:
    """
    What a subscriber asks for after a renegotiation: the request to keep for the next one.

    CF-042: a member that is there replaces the whole member, null resets it to
    its default, and one that cannot be used leaves it as it was (CF-041).
    """
    before, _ = usable_capabilities(asked)
    given, _ = usable_capabilities(change.capabilities)
    both = merge_capabilities(find_resets(before, change), given)
    both.__dict__["unknown"] = {prefix: value for prefix, value in both.unknown.items() if value is not None}
    return both


# -- what is granted -----------------------------------------------------------------------


def negotiate(
    request: SubscriptionRequest, offer: Offer, subscription_id: str, *, active: int = 0
) -> SubscriptionAccepted | SubscriptionRejected:
    """
    Answer a request: the terms, or why there are none. SUB-016 §5.4, SUB-039 §5.5

    ``subscription_id`` is a fresh one and ``active`` the number of
    subscriptions there are. Who may subscribe at all (SUB-052 to SUB-054) is
    decided before.
    """
    manifest = _or_unset(offer.manifest_uri)
    version = _spoken(request.aaep_version, offer)
    if version is None:
        served = ", ".join(dict.fromkeys(_ALIASES.get(one, one) for one in offer.versions))
        text = f"That version is not served here. Served: {served}."
        return _rejected("version_unsupported", text, manifest)  # SUB-048
    if offer.max_subscriptions is not None and active >= offer.max_subscriptions:  # SUB-051
        text = f"There are too many subscriptions. Try again in {offer.retry_after_seconds} seconds."
        return _rejected("rate_limit", text, retry=offer.retry_after_seconds)
    asked, lost = usable_capabilities(request.capabilities)
    if lost:
        text = f"These capabilities cannot be used as they are: {', '.join(lost)}."
        return _rejected("capabilities_incompatible", text, manifest)
    want = with_defaults(asked)
    if want.accept_signed_manifests_only is True and offer.signed_manifest is None:
        return _unsigned(manifest)
    if not filter_supported_languages(_list(want.languages), offer.languages):  # CF-045
        text = f"None of the languages asked for is offered. Offered: {', '.join(offer.languages)}."
        return _rejected("capabilities_incompatible", text, manifest)
    _, clashing = _extensions(want, offer)
    if clashing:  # EXT-019 §7.3.1
        text = f"Two extensions share the prefix {clashing[0]}. Ask for one of them."
        return _rejected("capabilities_incompatible", text, manifest)
    notes = [_LEFT_OUT] if asked != request.capabilities else []
    if version != request.aaep_version:
        notes.append(f"Version {version} is spoken.")
    return _accepted(want, offer, subscription_id, version, notes)


def renegotiate(
    asked: Capabilities, change: SubscriptionRenegotiate, offer: Offer, *, version: str = AAEP_VERSION
) -> SubscriptionAccepted | SubscriptionRejected:
    """
    Answer a change of terms: always the full set. SUB-057 §5.7

    ``asked`` is what the subscriber asked for until now; keep
    :func:`changed` of it for the next time. ``version`` is the one agreed on.
    A rejection would end the subscription and with it the way to reply, so
    what cannot be granted is left out and said (CF-041); there is no such way
    out only where a signature is demanded and there is none (CAP-045).
    """
    want = with_defaults(apply_change(asked, change))
    if want.accept_signed_manifests_only is True and offer.signed_manifest is None:
        return _unsigned(_or_unset(offer.manifest_uri))
    given, lost = usable_capabilities(change.capabilities)
    notes = []
    if lost:
        notes.append(f"These capabilities could not be used and stay as they were: {', '.join(lost)}.")
    elif given != change.capabilities:
        notes.append(_LEFT_OUT)
    return _accepted(want, offer, change.subscription_id, version, notes)


def _accepted(
    want: Capabilities, offer: Offer, subscription_id: str, version: str, notes: list[str]
) -> SubscriptionAccepted:
    extensions, clashing = _extensions(want, offer)
    terms, entries = _terms(want, offer, extensions, clashing, notes)
    signed = offer.signed_manifest if want.accept_signed_manifests_only is True else None  # CF-068
    accepted = SubscriptionAccepted(
        subscription_id=subscription_id,
        aaep_version=version,
        producer=offer.producer,
        honored_capabilities=terms,
        manifest_uri=_or_unset(offer.manifest_uri),
        signed_manifest=_or_unset(signed),
        negotiation_notes=_short(" ".join(notes)) if notes else UNSET,
    )
    if entries:  # CAP-050: members the type does not name travel in the raw form
        sent = msgspec.to_builtins(accepted)
        sent["honored_capabilities"] |= entries
        accepted.__dict__["raw"] = msgspec.json.encode(sent)
    return accepted


def _terms(
    want: Capabilities, offer: Offer, extensions: list[Extension], clashing: list[str], notes: list[str]
) -> tuple[Capabilities, dict[str, Any]]:
    """The terms, the entries of extensions beside them, and into the notes what was narrowed. SUB-028 §5.4.4"""
    rate = _rate(want, offer, notes)
    languages = _languages(want, offer, notes)
    replies = max(offer.levels) >= 2
    if not replies and True in (want.supports_confirmation_reply, want.supports_clarification_reply):
        notes.append("Replies are not taken here.")
    confirms = want.supports_confirmation_reply is True and replies
    levels = _levels(want, offer, notes, replies=replies, confirms=confirms)
    entries = _entries(want, extensions, clashing, notes)
    filters = get_member(want, "event_filters") or EventFilters()
    terms = msgspec.structs.replace(
        want,
        max_events_per_second=rate,
        languages=languages,
        supports_confirmation_reply=confirms,
        supports_clarification_reply=want.supports_clarification_reply is True and replies,
        event_filters=EventFilters(
            include=_compact(EVERYTHING if filters.include is UNSET else filters.include),
            exclude=_compact(() if filters.exclude is UNSET else filters.exclude),
        ),
        supported_conformance_levels=levels,
        supported_extensions=tuple(one.namespace for one in extensions),
    )
    return _with(terms, entries), entries


def _rate(want: Capabilities, offer: Offer, notes: list[str]) -> Any:
    """CAP-003: without a limit on either side there is none, and no value to name."""
    limits = [
        one for one in (get_member(want, "max_events_per_second"), offer.max_events_per_second) if one is not None
    ]
    rate = min(*limits, _HIGHEST["max_events_per_second"]) if limits else UNSET
    if rate != want.max_events_per_second:
        notes.append(f"At most {rate} events per second are sent, not counting critical ones.")
    return rate


def _languages(want: Capabilities, offer: Offer, notes: list[str]) -> tuple[str, ...]:
    requested = _list(want.languages)
    languages = filter_supported_languages(requested, offer.languages)
    if not languages:
        # Only in a renegotiation: no event is dropped for its language (CF-045) and an empty list cannot be sent.
        notes.append(f"None of the languages asked for is offered. Text stays in {offer.languages[0]}.")
        return requested
    if len(languages) < len(requested):
        notes.append("Not every language asked for is offered.")
    return languages


def _levels(
    want: Capabilities, offer: Offer, notes: list[str], *, replies: bool, confirms: bool
) -> tuple[Literal[1, 2, 3], ...]:
    """CF-058: the highest includes the lower ones, and no level above 1 goes without a way to reply."""
    levels = _list(want.supported_conformance_levels)
    ceiling = min(max(levels), max(offer.levels) if confirms else 1)
    granted = tuple(level for level in levels if level <= ceiling) or (ceiling,)
    if granted != levels:
        why = "" if confirms or not replies else ", for it cannot answer confirmations"
        notes.append(f"The subscription is served as Level {max(granted)}{why}.")
    return granted


def _entries(want: Capabilities, extensions: list[Extension], clashing: list[str], notes: list[str]) -> dict[str, Any]:
    """What extensions in play ask for under their prefixes."""
    if clashing:
        notes.append(f"Extensions that share the prefix {clashing[0]} are left out.")
    if len(extensions) < len(_list(want.supported_extensions)):
        notes.append("Not every extension asked for is in use.")
    entries = {
        one.prefix: value
        for one in extensions
        if (value := want.unknown.get(one.prefix)) is not None
        and one.capabilities is not None
        and _shaped(value, one.capabilities)
    }
    if len(entries) < len(want.unknown):  # CAP-048: ignored, and never a reason to reject
        notes.append("Capabilities that are not known here, or of extensions that are not listed, are ignored.")
    return entries


def _shaped(value: object, shape: type[msgspec.Struct]) -> bool:
    try:
        one = msgspec.convert(value, shape)
    except msgspec.ValidationError:
        return False
    return not any(True for _ in check_patterns(cast(Message, one), rule="CAP-047"))


def _compact(patterns: Iterable[str]) -> tuple[str, ...]:
    """CF-051: full URIs in their short form."""
    return tuple(dict.fromkeys(canonical_type(one) for one in patterns))


def _extensions(want: Capabilities, offer: Offer) -> tuple[list[Extension], list[str]]:
    """The extensions in play, one for each prefix, and the prefixes that two of them claim."""
    families: dict[str, dict[str, Extension]] = {}
    for uri in _list(want.supported_extensions):
        one = offer.registry.namespace(uri) if uri in offer.namespaces else None  # CF-064: others are inert
        if one is not None:
            family = families.setdefault(one.prefix, {})
            # CF-062: two majors are one extension; the higher is used.
            family[one.family] = max(family.get(one.family, one), one, key=_major)
    clashing = [prefix for prefix, family in families.items() if len(family) > 1]
    return [one for family in families.values() if len(family) == 1 for one in family.values()], clashing


def _major(extension: Extension) -> int:
    found = _MAJOR.search(extension.namespace)
    return int(found[1]) if found is not None else 0


def _version(text: str) -> Version | None:
    found = _VERSION.fullmatch(_ALIASES.get(text, text))
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found is not None else None


def _spoken(requested: str, offer: Offer) -> str | None:
    """CF-047, C-62: within one major the lower of the requested version and our highest."""
    wish = _version(requested)
    ours = [version for one in offer.versions if (version := _version(one)) is not None]
    same = [version for version in ours if wish is not None and version[0] == wish[0]]
    return "{}.{}.{}".format(*min(wish, max(same))) if wish is not None and same else None


def _unsigned(manifest: Any) -> SubscriptionRejected:
    """SUB-049 §5.5.3, CAP-045 §5.3.1.12"""
    return _rejected("manifest_signature_required", "There is no signed manifest here.", manifest)


def _rejected(code: Any, text: str, manifest: Any = UNSET, retry: Any = UNSET) -> SubscriptionRejected:
    return SubscriptionRejected(
        reason_code=code, reason_message=_short(text), retry_after_seconds=retry, alternative_manifest_uri=manifest
    )


def _short(text: str) -> str:
    return text if len(text) <= 4096 else text[:4095] + "…"  # SUB-026, SUB-042


def _or_unset(value: str | None) -> Any:
    return UNSET if value is None else value


def _list(value: Any) -> tuple[Any, ...]:
    return () if value is UNSET else tuple(value)


# -- what a subscriber goes on with ----------------------------------------------------------


def tighten(asked: Capabilities, honoured: Capabilities) -> Capabilities:
    """
    The tighter of the two, member by member: what a subscriber goes on with. CF-148

    A member the producer left out, or that cannot be used, is as requested
    (CF-043). A list is empty where the two have nothing in common. These terms
    are for use at home; they are not sent.
    """
    want, got = with_defaults(usable_capabilities(asked)[0]), usable_capabilities(honoured)[0]
    both: dict[str, Any] = {}
    for name in Capabilities.__struct_fields__:
        one, other = getattr(want, name), getattr(got, name)
        if other is UNSET or one is UNSET:
            both[name] = one if other is UNSET else other
        elif name in SCALES:
            both[name] = min(one, other, key=SCALES[name].index)
        elif name == "event_filters":
            both[name] = _common(one, other)
        elif name == "accept_signed_manifests_only":
            both[name] = one or other
        elif isinstance(one, bool):
            both[name] = one and other
        elif isinstance(one, int):
            both[name] = min(one, other)
        elif name == "supported_conformance_levels":  # CF-058
            ceiling = min(max(one), max(other))
            both[name] = tuple(level for level in one if level <= ceiling) or (ceiling,)
        else:
            theirs = {item.lower() for item in other}
            both[name] = tuple(item for item in one if item.lower() in theirs)
    entries = {prefix: value for prefix, value in got.unknown.items() if prefix in want.unknown}
    return _with(Capabilities(**both), entries)


def _common(one: EventFilters, other: EventFilters) -> EventFilters:
    """Filters that admit what both admit: of two patterns that overlap, one is inside the other."""
    ours, theirs = (_compact(EVERYTHING if each.include is UNSET else each.include) for each in (one, other))
    include = [inner for mine in ours for its in theirs if (inner := _inner(mine, its)) is not None]
    exclude = (*_compact(_list(one.exclude)), *_compact(_list(other.exclude)))
    return EventFilters(include=tuple(dict.fromkeys(include)), exclude=tuple(dict.fromkeys(exclude)))


def _inner(one: str, other: str) -> str | None:
    for wide, narrow in ((one, other), (other, one)):
        if wide == narrow or (wide.endswith("*") and narrow.startswith(wide[:-1])):
            return narrow
    return None
