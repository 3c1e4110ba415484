"""
Adapt single events to one set of terms: verbosity, language and extensions.

* **Verbosity.** ``verbosity`` names the level the reader prefers wherever the
  event has a summary of that level, and on output, which has none (CAP-007).
  All summaries stay: removing one would break TERM-013, and a reader may
  choose another level for a single event (CAP-008).
* **Language.** Where a variant such as ``summary_normal_yo`` serves the reader
  better than the primary language (C-57, CF-151), the two are swapped: the
  variant becomes the main text, and the main text becomes a variant. So nothing
  is lost, and ``primary_language`` stays true (I18N-005). There is no swap where
  some text has no such variant and cannot move: a required member, the labels
  of choices, the description of progress. The event is then sent in its primary
  language; no event is omitted for its language.
* **Extensions.** Extensions that the terms do not list are removed, with their
  contexts (CF-137). The token and the outcome of a prompt stay (CF-025).
* **sequence_number** is removed, since the shaped stream has gaps (CF-075, C-18).

An adapted event keeps its id, for it is still the same event (C-85).
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

# CF-137: members that every reader who saw the prompt has to receive.
_PROMPT_MEMBERS: Final[tuple[str, ...]] = ("reply_token", "outcome")
_CORE_TYPES: Final = frozenset(CORE_EVENTS.values())
_MAX_CACHED: Final = 1000  # combinations of extension members remembered
_ATTRIBUTE_NAMES: Final = {name: "context_" if name == "context" else name for name in VARIANT_FIELDS}


class EventAdapter:
    """Adapts events to one set of terms."""

    def __init__(self, terms: Capabilities, registry: Registry) -> None:
        self._registry = registry
        self._verbosity = terms.preferred_verbosity
        self._summary_field = f"summary_{self._verbosity}"
        self._languages = terms.languages if terms.languages is not UNSET else ()
        self._listed_extensions = terms.supported_extensions if terms.supported_extensions is not UNSET else ()
        self._unchanged_extensions: set[tuple[object, ...]] = set()  # cache keys of extensions that need no filtering
        # ENV-037: absent is normal.
        self._accepted_verbosities = {self._verbosity, UNSET} if self._verbosity == "normal" else {self._verbosity}

    def is_suitable(self, event: Envelope) -> bool:
        """Whether the event can be sent unchanged; a fast check that holds for nearly all events."""
        if event.verbosity not in self._accepted_verbosities or event.sequence_number is not UNSET or event.__dict__:
            return False
        if event.extensions is UNSET:
            return event.context == CORE_CONTEXT
        return _cache_key(event, event.extensions) in self._unchanged_extensions

    def adapt(self, event: E) -> E:
        """Return the event adapted to these terms, or the event itself if nothing needs to change."""
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
        """Return the changes that leave only listed extensions and the contexts they need (CF-137, ENV-052)."""
        contexts = event.context if isinstance(event.context, tuple) else ()
        extensions = event.extensions if event.extensions is not UNSET else {}
        cache_key = _cache_key(event, extensions)
        if cache_key in self._unchanged_extensions:
            return {}
        kept = {}
        claimed, _ = self._registry.declared(contexts)
        may_pass_unclaimed = self._may_pass_unclaimed(contexts)
        for prefix, value in extensions.items():
            owner = claimed.get(prefix)
            if owner is None:
                is_wanted = may_pass_unclaimed
            else:
                is_wanted = owner.namespace in self._listed_extensions or owner.context in self._listed_extensions
            if is_wanted:
                kept[prefix] = value
            elif prefix == PREFIX and isinstance(value, dict):
                prompt_members = {name: value[name] for name in _PROMPT_MEMBERS if name in value}
                if prompt_members:
                    kept[prefix] = prompt_members
        changes: dict[str, Any] = {}
        if kept != extensions:
            changes["extensions"] = kept or UNSET
        needed_contexts = tuple(uri for uri in contexts if self._is_context_needed(event, uri, kept))
        if needed_contexts != contexts:
            changes["context"] = needed_contexts if len(needed_contexts) > 1 else CORE_CONTEXT
        if not changes:
            if len(self._unchanged_extensions) >= _MAX_CACHED:
                self._unchanged_extensions.clear()  # peers may send any number of combinations
            self._unchanged_extensions.add(cache_key)
        return changes

    def _may_pass_unclaimed(self, contexts: Iterable[str]) -> bool:
        """
        Whether members under an unclaimed prefix may be sent.

        They may belong to any context that is not registered here, so the terms have
        to list all of those (C-07).
        """
        unregistered = [uri for uri in contexts if uri != CORE_CONTEXT and self._registry.context(uri) is None]
        return bool(unregistered) and all(self._is_listed(uri) for uri in unregistered)

    def _is_listed(self, uri: str) -> bool:
        return any(uri == listed or uri.startswith(listed.rstrip("/#") + "/") for listed in self._listed_extensions)

    def _is_context_needed(self, event: Envelope, uri: str, kept: Mapping[str, Any]) -> bool:
        if uri == CORE_CONTEXT:
            return True
        owner = self._registry.context(uri)
        if owner is not None:
            return owner.prefix in kept or event.type.startswith(f"{owner.prefix}:")
        return type(event) not in _CORE_TYPES or self._is_listed(uri)  # EXT-018: it may declare the event's own type

    # -- language --------------------------------------------------------------------------

    def _translate(self, event: Envelope) -> tuple[dict[str, Any], dict[str, str | None]]:
        """Return the members to change, and the variants to add or (None) to remove."""
        hints = get_member(event, "localization_hints")
        primary = get_member(hints, "primary_language") if isinstance(hints, LocalizationHints) else None
        offered: dict[str, dict[str, str]] = {}
        for name, text in event.unknown.items():
            variant = parse_variant_name(name)
            if variant is not None and isinstance(text, str):
                offered.setdefault(variant[1], {})[variant[0]] = text
        if not offered or not isinstance(primary, str):
            return {}, {}
        language = match_language(self._languages, [primary, *offered], get_member(hints, "fallback_chain") or ())
        if language is None or language.lower() == primary.lower() or language not in offered:
            return {}, {}
        texts = {
            name: text for name in VARIANT_FIELDS if (text := get_member(event, _ATTRIBUTE_NAMES[name])) is not None
        }
        old_suffix = primary.lower().replace("-", "_")
        untranslated_required = required_members(type(event)) & texts.keys() - offered[language].keys()
        immovable = get_member(event, "choices") or get_member(get_member(event, "progress") or event, "description")
        has_unnameable_variant = any(
            parse_variant_name(f"{name}_{old_suffix}") != (name, primary.lower()) for name in texts
        )
        if untranslated_required or has_unnameable_variant or (immovable and "description" not in texts):
            return {}, {}
        changes: dict[str, Any] = {
            _ATTRIBUTE_NAMES[name]: offered[language].get(name, UNSET) for name in {*texts, *offered[language]}
        }
        changes["localization_hints"] = _adapt_hints(hints, language)
        removed = dict.fromkeys(f"{name}_{language.replace('-', '_')}" for name in offered[language])
        return changes, {**removed, **{f"{name}_{old_suffix}": text for name, text in texts.items()}}


def _cache_key(event: Envelope, extensions: Mapping[str, Any]) -> tuple[object, ...]:
    """Return everything that decides how an event's extensions are filtered."""
    attend_members = extensions.get(PREFIX)
    return (
        event.type,
        event.context,
        len(extensions),
        *extensions,
        *(attend_members if type(attend_members) is dict else ()),
    )


def _adapt_hints(hints: LocalizationHints, tag: str) -> LocalizationHints:
    """Return the hints for another primary language; the direction is auto where it may differ (C-56)."""
    direction = hints.text_direction if hints.text_direction is not UNSET else "ltr"
    return msgspec.structs.replace(
        hints,
        primary_language=_format_language_tag(tag),
        text_direction=direction if direction == language_direction(tag) else "auto",
        script=UNSET,
    )


def _format_language_tag(tag: str) -> str:
    """Return a language tag in its usual spelling, such as zh-Hant-TW."""
    language, *subtags = tag.split("-")
    return "-".join([language, *map(_format_subtag, subtags)])


def _format_subtag(subtag: str) -> str:
    if len(subtag) == 4:  # a script
        return subtag.title()
    return subtag.upper() if len(subtag) == 2 else subtag  # two letters are a region


def _replace_members(event: E, changes: dict[str, Any], variants: Mapping[str, str | None]) -> E:
    """Return a copy with changed members and variants, keeping the members its type does not know."""
    changed = msgspec.structs.replace(event, **changes)
    if event.raw is None:
        return changed
    members = parse_json(event.raw)[0]
    wire_names = dict(zip(event.__struct_fields__, event.__struct_encode_fields__, strict=True))
    changed_members = [(wire_names[name], value) for name, value in changes.items()]
    for name, value in [*changed_members, *variants.items()]:
        members.pop(name, None)
        if value is not UNSET and value is not None:
            members[name] = msgspec.to_builtins(value)
    changed.__dict__["raw"] = msgspec.json.encode(members)
    known_names = event.__struct_encode_fields__
    changed.__dict__["unknown"] = {name: value for name, value in members.items() if name not in known_names}
    return changed
