"""
What a subscriber asks for: the capabilities of its request, and of a change. §5.2, §5.3, §5.7

Every capability that has a value is named (CAP-001). Our own extension is
always listed: without it nobody is told how a prompt ended.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from ..errors import LocalProtocolError, Violation
from ..protocol.attend_extension import ATTEND, PREFIX
from ..protocol.extensions import Extension, Registry
from ..protocol.fields import AAEP_VERSION, Boundary, Verbosity
from ..protocol.messages import Capabilities, EventFilters, SubscriptionRenegotiate, SubscriptionRequest
from ..protocol.subscription import ALL_EVENT_PATTERNS
from ..text.languages import match_language
from .replies import encode_checked

__all__ = ["Terms"]

_NOT_RENEGOTIABLE: Final = ("extensions", "signed")
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


class Terms(msgspec.Struct, frozen=True, kw_only=True):
    """
    What the person wants to be told, and how.

    ``languages`` come in order of preference; ``fallback`` are those to try
    when none of them is offered. ``patience`` is the shortest time, in
    seconds, that prompts should wait for an answer. ``signed``: only a
    producer that proves who it is will do.
    """

    replies: bool = True
    verbosity: Verbosity = "normal"
    languages: tuple[str, ...] = ("en-US",)
    fallback: tuple[str, ...] = ()
    max_events_per_second: int | None = None
    boundaries: tuple[Boundary, ...] = ("sentence", "completion")
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()
    cognitive_load: str = "medium"
    pace_wpm: int | None = None
    extensions: tuple[Extension, ...] = ()
    patience: int | None = None
    cancel: str | None = None  # a session to be stopped
    signed: bool = False

    def extension_registry(self) -> Registry:
        """The extensions we can read."""
        return Registry([ATTEND, *(one for one in self.extensions if one.namespace != ATTEND.namespace)])

    def event_filters(self) -> EventFilters:
        """CF-052: a listed extension's own events are asked for too."""
        include = ALL_EVENT_PATTERNS if self.include is None else self.include
        types = [f"{one.prefix}:*" for one in (ATTEND, *self.extensions)]
        wanted, unwanted = dict.fromkeys([*include, *types]), dict.fromkeys(self.exclude)
        return EventFilters(include=tuple(wanted), exclude=tuple(unwanted))

    def own_filters(self) -> EventFilters | None:
        """What is kept out even if a producer sends it (CF-148); None if the person chose nothing."""
        return self.event_filters() if self.include is not None or self.exclude else None

    def to_capabilities(self, resume_after: str = "") -> Capabilities:
        """All of it."""
        terms = Capabilities(
            max_events_per_second=UNSET if self.max_events_per_second is None else self.max_events_per_second,
            preferred_verbosity=self.verbosity,
            languages=self.languages,
            # CF-059: both, or for a reader that only listens neither (CF-011).
            supports_confirmation_reply=self.replies,
            supports_clarification_reply=self.replies,
            coalesce_boundaries=self.boundaries,
            event_filters=self.event_filters(),
            supported_conformance_levels=(1, 2, 3) if self.replies else (1,),
            supported_extensions=tuple(dict.fromkeys(one.namespace for one in (ATTEND, *self.extensions))),
            cognitive_load=self.cognitive_load,  # type: ignore[arg-type]  # what it may be is checked with the rest
            pace_wpm=UNSET if self.pace_wpm is None else self.pace_wpm,
            accept_signed_manifests_only=self.signed,  # CAP-043
        )
        ours = {
            **({} if self.patience is None else {"minimum_timeout_seconds": self.patience}),  # CF-028
            **({"resume_after": resume_after} if resume_after else {}),  # CF-084
            **({} if self.cancel is None else {"cancel": self.cancel}),  # CF-147
        }
        if ours:
            terms.__dict__["unknown"] = {PREFIX: ours}
        return terms

    def build_request(self, subscriber_id: str, name: str, version: str, resume_after: str = "") -> bytes:
        """The subscription.request that says all this. SUB-006 §5.2"""
        message = SubscriptionRequest(
            aaep_version=AAEP_VERSION,
            subscriber_id=subscriber_id,
            subscriber_name=name,
            subscriber_version=version,
            capabilities=Capabilities(),
        )
        return _encode_with_capabilities(message, _members(self.to_capabilities(resume_after)))

    def build_change(self, wanted: Terms, subscription_id: str) -> bytes:
        """The subscription.renegotiate that leads from these wishes to others. SUB-059 §5.7"""
        before, after = _members(self.to_capabilities()), _members(wanted.to_capabilities())
        gone = before.keys() - after.keys()
        if gone:  # CF-042: null is never sent, and nothing else takes a member back
            text = f"These cannot be taken back, only changed: {', '.join(sorted(gone))}."
            raise LocalProtocolError("Nothing was sent.", [Violation("SUB-059", text, "/capabilities")])
        changes = {name: value for name, value in after.items() if before.get(name) != value}
        return _encode_with_capabilities(
            SubscriptionRenegotiate(subscription_id=subscription_id, capabilities=Capabilities()), changes
        )

    def with_changes(self, **changes: Any) -> Terms:
        """Other wishes, by the same names."""
        unknown = [name for name in changes if name not in self.__struct_fields__ or name in _NOT_RENEGOTIABLE]
        if unknown:
            raise TypeError(f"{unknown[0]} cannot be renegotiated")
        return msgspec.structs.replace(self, **{name: _as_tuple(value) for name, value in changes.items()})

    def fallback_after_refusal(self, offered: Iterable[str], reason: str = "") -> Terms | None:
        """What to ask after a refusal for want of anything in common. None if there is nothing else to ask."""
        clashing = {one.prefix for one in self.extensions} & {*_WORD.findall(reason)}
        if clashing:  # EXT-020, CF-063: the refusal names the prefix that two have
            kept = tuple(one for one in self.extensions if one.prefix not in clashing)
            return msgspec.structs.replace(self, extensions=kept)
        # CF-045: no language fits. The fallbacks, and one that is offered.
        found = [*offered]
        best = match_language(self.languages, found, self.fallback) or (found[0] if found else "")
        asked = tuple(dict.fromkeys([*self.languages, *self.fallback, *([best] if best else [])]))
        return msgspec.structs.replace(self, languages=asked[:32]) if asked != self.languages else None


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _members(terms: Capabilities) -> dict[str, Any]:
    return {**msgspec.to_builtins(terms), **terms.unknown}


def _encode_with_capabilities(
    message: SubscriptionRequest | SubscriptionRenegotiate, capabilities: dict[str, Any]
) -> bytes:
    # Members the type does not name travel in the raw form.
    message.__dict__["raw"] = msgspec.json.encode({**msgspec.to_builtins(message), "capabilities": capabilities})
    return encode_checked(message)
