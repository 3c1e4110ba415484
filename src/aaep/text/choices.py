"""
Messages that choose between forms, by a number's plural or by a word: with Fluent, loaded only when one is needed.

A message that is nothing but one choice between lines of text is made into templates, which is much faster;
whatever else Fluent allows is left to its own runtime.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from babel import Locale
from fluent.runtime import FluentBundle, FluentResource
from fluent.runtime.types import FluentFloat, FluentInt, FluentType
from fluent.syntax import ast, parse

from .locale_files import Message, build_template, list_references

__all__ = ["Choices", "PluralRule", "find_plural_rule"]

PluralRule = Callable[[float], str]
_GAP: Final = re.compile(r"\{\w+\}")


def find_plural_rule(tag: str) -> PluralRule:
    """Return the function that gives the plural category of a number in a language."""
    rule: PluralRule = Locale.parse(tag.replace("-", "_")).plural_form
    return rule


class _Choice(NamedTuple):
    argument: str
    templates: Mapping[str | float, str]
    default: str


class Choices:
    """The messages of one language that choose. ``format_number`` writes a number as the language does."""

    def __init__(self, tag: str, messages: Mapping[str, Message], format_number: Callable[[float], str]) -> None:
        self._tag = tag
        self._messages = messages
        self._format_number = format_number
        self._plural_rule = find_plural_rule(tag)
        self._compiled: dict[str, _Choice | None] = {}
        self._bundle: FluentBundle | None = None

    def format(self, name: str, arguments: Mapping[str, Any], attribute: str = "") -> str:
        """Return a message with its gaps filled; raise ``LookupError`` for a gap that nothing fills."""
        choice = None if attribute else self._compile(name)
        if choice is None:
            return self._format_by_fluent(name, arguments, attribute)
        value = arguments[choice.argument]
        template = choice.templates.get(value)
        if template is None and isinstance(value, (int, float)):
            template = choice.templates.get(self._plural_rule(value))
        texts = {key: self._write(argument) for key, argument in arguments.items()}
        return (choice.default if template is None else template).format_map(texts)

    def list_forms(self, name: str) -> list[str]:
        """Return every form that a message can have, as templates; none for what only Fluent understands."""
        choice = self._compile(name)
        return [] if choice is None else [*dict.fromkeys((*choice.templates.values(), choice.default))]

    def _write(self, value: object) -> str:
        return self._format_number(value) if isinstance(value, (int, float)) else str(value)

    def _compile(self, name: str) -> _Choice | None:
        if name not in self._compiled:
            self._compiled[name] = self._compile_choice(self._messages[name])
        return self._compiled[name]

    def _compile_choice(self, message: Message) -> _Choice | None:
        entry = parse(f"{message.source}\n").body[0]
        value = entry.value if isinstance(entry, ast.Message) else None
        if value is None or len(value.elements) != 1 or not isinstance(value.elements[0], ast.Placeable):
            return None
        select = value.elements[0].expression
        if not (isinstance(select, ast.SelectExpression) and isinstance(select.selector, ast.VariableReference)):
            return None
        templates: dict[str | float, str] = {}
        default = ""
        for variant in select.variants:
            template = self._build_variant(variant.value)
            if template is None:
                return None
            key = variant.key
            templates[key.name if isinstance(key, ast.Identifier) else float(key.value)] = template
            default = template if variant.default else default
        return _Choice(select.selector.id.name, templates, default)

    def _build_variant(self, pattern: ast.Pattern) -> str | None:
        parts: list[str] = []
        for element in pattern.elements:
            expression = element.expression if isinstance(element, ast.Placeable) else None
            if isinstance(element, ast.TextElement):
                parts.append(" ".join(element.value.split("\n")))
            elif isinstance(expression, ast.VariableReference):
                parts.append(f"{{{expression.id.name}}}")
            elif isinstance(expression, ast.MessageReference):
                template = build_template(expression.id.name, self._messages)
                if template is None:
                    return None
                parts.append(template)
            else:
                return None
        return "".join(parts)

    def _format_by_fluent(self, name: str, arguments: Mapping[str, Any], attribute: str) -> str:
        if self._bundle is None:
            self._bundle = FluentBundle([self._tag], use_isolating=False)
            self._bundle.add_resource(FluentResource("\n".join(f"{source}\n" for source in self._list_sources())))
        message = self._bundle.get_message(name)
        pattern = message.attributes[attribute] if attribute else message.value
        if pattern is None:
            raise LookupError(name)
        numbered = {key: self._wrap_number(value) for key, value in arguments.items()}
        text, errors = self._bundle.format_pattern(pattern, numbered)
        if errors:
            raise LookupError(f"{name}: {errors[0]}")
        return " ".join(str(text).split())

    def _list_sources(self) -> Iterator[str]:
        """Yield the source of every message that chooses, and of those that it includes."""
        names = [name for name in self._messages if build_template(name, self._messages) is None]
        seen: set[str] = set()
        while names:
            name = names.pop()
            if name not in seen and name in self._messages:
                seen.add(name)
                source = self._messages[name].source
                names += list_references(source)
                yield source

    def _wrap_number(self, value: object) -> object:
        if not isinstance(value, (int, float)):
            return value
        wrapped = _PlainInteger(value) if isinstance(value, int) else _PlainFraction(value)
        wrapped.text = self._format_number(value)
        return wrapped


class _PlainNumber(FluentType):
    """A number that is written as we write it, without separators of thousands."""

    text = ""

    def format(self, locale: Locale) -> str:
        return self.text


class _PlainInteger(_PlainNumber, FluentInt):
    pass


class _PlainFraction(_PlainNumber, FluentFloat):
    pass
