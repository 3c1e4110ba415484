"""
The terms a subscriber asks for, and the requests that carry them. §5.2, §5.3, §5.7

Every capability that has a value is listed (CAP-001). So is our own extension:
without it a subscriber does not learn how a prompt ended.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict

import msgspec
from msgspec import UNSET

from ..errors import LocalProtocolError, Violation
from ..protocol.attend_extension import ATTEND, PREFIX
from ..protocol.extensions import Extension, Registry
from ..protocol.fields import AAEP_VERSION, Boundary, Verbosity
from ..protocol.messages import Capabilities, EventFilters, SubscriptionRenegotiate, SubscriptionRequest
from ..protocol.subscription import ALL_EVENT_PATTERNS
from ..runtime.options import list_keywords, make_tuples
from ..text.languages import match_language
from .replies import encode_checked

__all__ = ["Terms", "TermsChanges"]

_NOT_RENEGOTIABLE: Final = frozenset({"extensions", "require_signed"})
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@list_keywords()
@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """
    The events a subscriber asks for, and the form in which it wants them.

    ``languages`` are in order of preference; ``fallback_languages`` are those to try when none of them is
    offered. ``include`` and ``exclude`` are types of events, with ``*`` for any ending. ``boundaries`` are
    where output may be cut. ``minimum_timeout`` is the shortest time, in seconds, that prompts should wait
    for an answer. With ``require_signed``, the producer has to prove its identity with a signed manifest;
    None means yes for a subscriber that has keys to trust.
    """

    replies: bool = True
    verbosity: Verbosity = "normal"
    languages: Sequence[str] = ("en-US",)
    fallback_languages: Sequence[str] = ()
    max_events_per_second: int | None = None
    boundaries: Sequence[Boundary] = ("sentence", "completion")
    include: Sequence[str] | None = None
    exclude: Sequence[str] = ()
    cognitive_load: str = "medium"
    pace_wpm: int | None = None
    extensions: Sequence[Extension] = ()
    minimum_timeout: int | None = None
    require_signed: bool | None = None
    cancel: str | None = None  # id of a session to stop; Subscriber.stop() sets it

    def __post_init__(self) -> None:
        make_tuples(self, "languages", "fallback_languages", "boundaries", "include", "exclude", "extensions")

    def extension_registry(self) -> Registry:
        """Return a registry of the extensions that the subscriber can read."""
        others = (extension for extension in self.extensions if extension.namespace != ATTEND.namespace)
        return Registry([ATTEND, *others])

    def event_filters(self) -> EventFilters:
        """Return the filters to ask for, which include the events of the listed extensions (CF-052)."""
        include = ALL_EVENT_PATTERNS if self.include is None else self.include
        extension_types = [f"{extension.prefix}:*" for extension in (ATTEND, *self.extensions)]
        included = dict.fromkeys([*include, *extension_types])
        excluded = dict.fromkeys(self.exclude)
        return EventFilters(include=tuple(included), exclude=tuple(excluded))

    def own_filters(self) -> EventFilters | None:
        """Return the filters to apply even if the producer does not (CF-148), None if there are none."""
        return self.event_filters() if self.include is not None or self.exclude else None

    def to_capabilities(self, resume_after: str = "", start: str | bool = False) -> Capabilities:
        """Return the terms as capabilities, with the event to resume after, or at which to start, if there is one."""
        terms = Capabilities(
            max_events_per_second=UNSET if self.max_events_per_second is None else self.max_events_per_second,
            preferred_verbosity=self.verbosity,
            languages=tuple(self.languages),
            # CF-059: both, or for a reader that only listens neither (CF-011).
            supports_confirmation_reply=self.replies,
            supports_clarification_reply=self.replies,
            coalesce_boundaries=tuple(self.boundaries),
            event_filters=self.event_filters(),
            supported_conformance_levels=(1, 2, 3) if self.replies else (1,),
            supported_extensions=tuple(dict.fromkeys(extension.namespace for extension in (ATTEND, *self.extensions))),
            cognitive_load=self.cognitive_load,  # type: ignore[arg-type]  # checked when the message is encoded
            pace_wpm=UNSET if self.pace_wpm is None else self.pace_wpm,
            accept_signed_manifests_only=bool(self.require_signed),  # CAP-043
        )
        attend_members: dict[str, str | int | bool] = {}
        if self.minimum_timeout is not None:
            attend_members["minimum_timeout_seconds"] = self.minimum_timeout  # CF-028
        if resume_after:
            attend_members["resume_after"] = resume_after  # CF-084
        if start is not False and resume_after in ("", start):
            attend_members["start"] = start
        if self.cancel is not None:
            attend_members["cancel"] = self.cancel  # CF-147
        if attend_members:
            terms.__dict__["unknown"] = {PREFIX: attend_members}
        return terms

    def build_request(
        self, subscriber_id: str, name: str, version: str, resume_after: str = "", start: str | bool = True
    ) -> bytes:
        """Return the encoded subscription.request for these terms. SUB-006 §5.2"""
        message = SubscriptionRequest(
            aaep_version=AAEP_VERSION,
            subscriber_id=subscriber_id,
            subscriber_name=name,
            subscriber_version=version,
            capabilities=Capabilities(),
        )
        return _encode_with_capabilities(message, _get_members(self.to_capabilities(resume_after, start)))

    def build_change(self, wanted: Terms, subscription_id: str) -> bytes:
        """Return the encoded subscription.renegotiate that changes these terms to others. SUB-059 §5.7"""
        old_members = _get_members(self.to_capabilities())
        new_members = _get_members(wanted.to_capabilities())
        removed = old_members.keys() - new_members.keys()
        if removed:  # CF-042: null is never sent, and nothing else removes a member
            text = f"These cannot be taken back, only changed: {', '.join(sorted(removed))}."
            raise LocalProtocolError("Nothing was sent.", [Violation("SUB-059", text, "/capabilities")])
        changes = {name: value for name, value in new_members.items() if old_members.get(name) != value}
        return _encode_with_capabilities(
            SubscriptionRenegotiate(subscription_id=subscription_id, capabilities=Capabilities()), changes
        )

    def with_changes(self, **changes: Any) -> Terms:
        """Return a copy with changed fields. Raises :exc:`TypeError` for a field that cannot be renegotiated."""
        allowed = [field.name for field in dataclasses.fields(self) if field.name not in _NOT_RENEGOTIABLE]
        for name in changes:
            if name not in allowed:
                raise TypeError(f"{name} cannot be renegotiated. What can: {', '.join(allowed)}.")
        return dataclasses.replace(self, **changes)

    def fallback_after_refusal(self, offered: Iterable[str], reason: str = "") -> Terms | None:
        """Return the terms to try after incompatible ones were refused, or None if there are no others."""
        clashing = {extension.prefix for extension in self.extensions} & {*_WORD.findall(reason)}
        if clashing:  # EXT-020, CF-063: the refusal names the prefix that two extensions share
            remaining = tuple(extension for extension in self.extensions if extension.prefix not in clashing)
            return dataclasses.replace(self, extensions=remaining)
        # CF-045: no language fits. Ask for the fallbacks and for one that is offered.
        offered_languages = [*offered]
        best = match_language(self.languages, offered_languages, self.fallback_languages)
        if not best and offered_languages:
            best = offered_languages[0]
        languages = tuple(dict.fromkeys([*self.languages, *self.fallback_languages, *([best] if best else [])]))
        return dataclasses.replace(self, languages=languages[:32]) if languages != self.languages else None


class TermsChanges(TypedDict, total=False):
    """The keywords of :meth:`~aaep.subscriber.subscriber.Subscriber.renegotiate`: fields of :class:`Terms`."""

    replies: bool
    verbosity: Verbosity
    languages: Sequence[str]
    fallback_languages: Sequence[str]
    max_events_per_second: int | None
    boundaries: Sequence[Boundary]
    include: Sequence[str] | None
    exclude: Sequence[str]
    cognitive_load: str
    pace_wpm: int | None
    minimum_timeout: int | None


def _get_members(terms: Capabilities) -> dict[str, Any]:
    return {**msgspec.to_builtins(terms), **terms.unknown}


def _encode_with_capabilities(
    message: SubscriptionRequest | SubscriptionRenegotiate, capabilities: dict[str, Any]
) -> bytes:
    """Encode a message with capabilities that may have members its type does not name."""
    message.__dict__["raw"] = msgspec.json.encode({**msgspec.to_builtins(message), "capabilities": capabilities})
    return encode_checked(message)
