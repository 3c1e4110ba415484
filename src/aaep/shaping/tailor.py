"""
One event as one set of terms is to have it: its words, its language, its extensions.

* **Verbosity.** ``verbosity`` says the level the reader prefers wherever the
  event has a summary of that level, and on output, which has none (CAP-007).
  All summaries stay: leaving one out would break TERM-013, and a reader may
  choose another level for a single event (CAP-008).
* **Language.** Where a variant such as ``summary_normal_yo`` serves the reader
  better than the primary language (C-57, CF-151), the two change places: the
  variant becomes the main text, and what was the main text becomes a variant.
  So nothing is lost, and ``primary_language`` stays true (I18N-005). It is not
  done where some of the text has no such variant and cannot move: a required
  member, the labels of choices, the description of progress. The event then
  goes out in its primary language; none is ever left out for its language.
* **Extensions.** What the terms do not list is taken out, with its context
  (CF-137). The token and the outcome of a prompt stay (CF-025).
* **sequence_number** is left out, since this stream has gaps (CF-075, C-18).

None of this gives the event another id: it is the same event (C-85).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec
from msgspec import UNSET

from ..protocol.attend_extension import PREFIX
from ..protocol.codec import parse_json
from ..protocol.events import CORE_EVENTS, Envelope, LocalizationHints, OutputStreaming
from ..protocol.extensions import Registry
from ..protocol.fields import CORE_CONTEXT, get_member
from ..protocol.messages import Capabilities
from ..protocol.rules import required_members
from ..text.languages import VARIANT_FIELDS, language_direction, match_language, parse_variant_name

__all__ = ["EventAdapter"]

E = TypeVar("E", bound=Envelope)

_PROMPT_MEMBERS: Final[tuple[str, ...]] = (
    "reply_token",
    "outcome",
)  # CF-137: what everybody who saw the prompt has to know
_CORE_TYPES: Final = frozenset(CORE_EVENTS.values())
_MAX_CACHED: Final = 1000
_ATTRIBUTE_NAMES: Final = {name: "context_" if name == "context" else name for name in VARIANT_FIELDS}


class EventAdapter:
    """Makes events to the measure of some terms."""

    def __init__(self, terms: Capabilities, registry: Registry) -> None:
        self._registry = registry
        self._verbosity = terms.preferred_verbosity
        self._summary_field = f"summary_{self._verbosity}"
        self._languages = terms.languages if terms.languages is not UNSET else ()
        self._listed_extensions = terms.supported_extensions if terms.supported_extensions is not UNSET else ()
        self._unchanged_extensions: set[tuple[object, ...]] = set()  # extensions that could stay as they were
        self._accepted_verbosities = (
            {self._verbosity, UNSET} if self._verbosity == "normal" else {self._verbosity}
        )  # ENV-037: absent is normal

    def is_suitable(self, event: Envelope) -> bool:
        """Whether the event can go as it is. For nearly all of them, fast."""
        if event.verbosity not in self._accepted_verbosities or event.sequence_number is not UNSET or event.__dict__:
            return False
        if event.extensions is UNSET:
            return event.context == CORE_CONTEXT
        return _cache_key(event, event.extensions) in self._unchanged_extensions

    def adapt(self, event: E) -> E:
        """The event as these terms are to have it; the very same if nothing needs to change."""
        changes: dict[str, Any] = {}
        if event.sequence_number is not UNSET:
            changes["sequence_number"] = UNSET
        if event.verbosity not in self._accepted_verbosities and self._has_text(event):
            changes["verbosity"] = self._verbosity
        if event.extensions is not UNSET or event.context != CORE_CONTEXT:
            changes |= self._filter_extensions(event)
        variants: dict[str, str | None] = {}
        if event.__dict__ and event.unknown and type(event) in _CORE_TYPES:
            translated, variants = self._translate(event)
            changes |= translated
        return _replace_members(event, changes, variants) if changes else event

    def _has_text(self, event: Envelope) -> bool:
        return isinstance(event, OutputStreaming) or get_member(event, self._summary_field) is not None

    # -- extensions ------------------------------------------------------------------------

    def _filter_extensions(self, event: Envelope) -> dict[str, Any]:
        """CF-137: the listed extensions' members, and the contexts that what is left needs (ENV-052)."""
        contexts = event.context if isinstance(event.context, tuple) else ()
        given = event.extensions if event.extensions is not UNSET else {}
        names = _cache_key(event, given)
        if names in self._unchanged_extensions:
            return {}
        kept = {}
        claimed, _ = self._registry.declared(contexts)
        strangers = self._may_pass_unclaimed(contexts)
        for prefix, value in given.items():
            owner = claimed.get(prefix)
            if (
                strangers
                if owner is None
                else owner.namespace in self._listed_extensions or owner.context in self._listed_extensions
            ):
                kept[prefix] = value
            elif prefix == PREFIX and isinstance(value, dict):
                told = {name: value[name] for name in _PROMPT_MEMBERS if name in value}
                if told:
                    kept[prefix] = told
        changes: dict[str, Any] = {}
        if kept != given:
            changes["extensions"] = kept or UNSET
        needed = tuple(uri for uri in contexts if self._is_context_needed(event, uri, kept))
        if needed != contexts:
            changes["context"] = needed if len(needed) > 1 else CORE_CONTEXT
        if not changes:
            if len(self._unchanged_extensions) >= _MAX_CACHED:
                self._unchanged_extensions.clear()  # what strangers can think of is without number
            self._unchanged_extensions.add(names)
        return changes

    def _may_pass_unclaimed(self, contexts: Iterable[str]) -> bool:
        """C-07: what nobody claims may belong to any context that we do not know, so all of those have to be listed."""
        strange = [uri for uri in contexts if uri != CORE_CONTEXT and self._registry.context(uri) is None]
        return bool(strange) and all(self._is_listed(uri) for uri in strange)

    def _is_listed(self, uri: str) -> bool:
        return any(uri == one or uri.startswith(one.rstrip("/#") + "/") for one in self._listed_extensions)

    def _is_context_needed(self, event: Envelope, uri: str, kept: Mapping[str, Any]) -> bool:
        if uri == CORE_CONTEXT:
            return True
        owner = self._registry.context(uri)
        if owner is not None:
            return owner.prefix in kept or event.type.startswith(f"{owner.prefix}:")
        return type(event) not in _CORE_TYPES or self._is_listed(uri)  # EXT-018: it may declare the event's own type

    # -- language --------------------------------------------------------------------------

    def _translate(self, event: Envelope) -> tuple[dict[str, Any], dict[str, str | None]]:
        """What changes at the members of the type, and which variants go (None) and come."""
        hints = get_member(event, "localization_hints")
        primary = get_member(hints, "primary_language") if isinstance(hints, LocalizationHints) else None
        offered: dict[str, dict[str, str]] = {}
        for name, text in event.unknown.items():
            found = parse_variant_name(name)
            if found is not None and isinstance(text, str):
                offered.setdefault(found[1], {})[found[0]] = text
        if not offered or not isinstance(primary, str):
            return {}, {}
        best = match_language(self._languages, [primary, *offered], get_member(hints, "fallback_chain") or ())
        if best is None or best.lower() == primary.lower() or best not in offered:
            return {}, {}
        texts = {
            name: text for name in VARIANT_FIELDS if (text := get_member(event, _ATTRIBUTE_NAMES[name])) is not None
        }
        old = primary.lower().replace("-", "_")
        stuck = required_members(type(event)) & texts.keys() - offered[best].keys()
        fixed = get_member(event, "choices") or get_member(get_member(event, "progress") or event, "description")
        untold = any(parse_variant_name(f"{name}_{old}") != (name, primary.lower()) for name in texts)
        if stuck or untold or (fixed and "description" not in texts):
            return {}, {}
        changes: dict[str, Any] = {
            _ATTRIBUTE_NAMES[name]: offered[best].get(name, UNSET) for name in {*texts, *offered[best]}
        }
        changes["localization_hints"] = _adapt_hints(hints, best)
        gone = dict.fromkeys(f"{name}_{best.replace('-', '_')}" for name in offered[best])
        return changes, {**gone, **{f"{name}_{old}": text for name, text in texts.items()}}


def _cache_key(event: Envelope, given: Mapping[str, Any]) -> tuple[object, ...]:
    """All that decides what becomes of an event's extensions; an outcome is like others before it."""
    ours = given.get(PREFIX)
    return (event.type, event.context, len(given), *given, *(ours if type(ours) is dict else ()))


def _adapt_hints(hints: LocalizationHints, tag: str) -> LocalizationHints:
    """C-56: where the new main text may run the other way than the rest, the text itself decides."""
    way = hints.text_direction if hints.text_direction is not UNSET else "ltr"
    return msgspec.structs.replace(
        hints,
        primary_language=_format_language_tag(tag),
        text_direction=way if way == language_direction(tag) else "auto",
        script=UNSET,
    )


def _format_language_tag(tag: str) -> str:
    """The usual way to write a tag: zh-Hant-TW."""
    first, *rest = tag.split("-")
    return "-".join([first, *(one.title() if len(one) == 4 else one.upper() if len(one) == 2 else one for one in rest)])


def _replace_members(event: E, changes: dict[str, Any], variants: Mapping[str, str | None]) -> E:
    """A copy with other members, keeping what the type does not know, apart from variants that go and come."""
    changed = msgspec.structs.replace(event, **changes)
    if event.raw is None:
        return changed
    given = parse_json(event.raw)[0]
    names = dict(zip(event.__struct_fields__, event.__struct_encode_fields__, strict=True))
    for name, value in [*((names[name], value) for name, value in changes.items()), *variants.items()]:
        given.pop(name, None)
        if value is not UNSET and value is not None:
            given[name] = msgspec.to_builtins(value)
    changed.__dict__["raw"] = msgspec.json.encode(given)
    changed.__dict__["unknown"] = {n: v for n, v in given.items() if n not in event.__struct_encode_fields__}
    return changed
