"""
What the library itself says to a person, in the language of that person, and functions that turn values into words.

The phrases of each language are a Fluent file in ``locales``; ``en.ftl`` has every one of them, with when it is heard.
They are written for somebody who listens at 400 words a minute: the news first, nothing twice, no words of the
protocol. ``docs/phrases.md`` is made from them.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any, Final

from .languages import find_closest_language
from .locale_files import Message, build_template, list_tags, read_locale
from .sanitize import MAX_SPOKEN_LENGTH, truncate

if TYPE_CHECKING:
    from .choices import Choices

__all__ = [
    "ENGLISH",
    "GAP",
    "PHRASES",
    "Phrases",
    "capitalize",
    "describe_close_reason",
    "describe_goodbye",
    "ensure_full_stop",
    "find_phrases",
    "format_duration",
    "format_time_left",
    "get_phrases",
    "humanize_name",
    "truncate_with_notice",
]

GAP: Final = "\x00"  # in the forms of a phrase, what a value fills
_TEMPLATE_GAP: Final = re.compile(r"\{\w+\}")
_UNITS: Final = (("days", 86_400), ("hours", 3600), ("minutes", 60), ("seconds", 1))


class _Arguments(dict[str, Any]):
    """What fills the gaps of a phrase. One that is missing is a mistake of ours, and no reason to say nothing."""

    def __missing__(self, name: str) -> str:
        warnings.warn(f"A phrase was formatted without its argument {name}.", RuntimeWarning, stacklevel=3)
        return "…"


class Phrases:
    """
    The phrases of one language. What its file lacks is said in English.

    The file is read when the first phrase is needed. Nothing here changes after that, so that all threads may use it.
    Values get no marks of direction around them: the texts are heard, compared and quoted, and in what somebody agrees
    to every invisible character is spelled out.
    """

    def __init__(self, language: str) -> None:
        self.language = language  # the tag of its file
        self._templates: dict[str, str | None] = {}

    def __repr__(self) -> str:
        return f"Phrases({self.language!r})"

    def __contains__(self, name: str) -> bool:
        return name in self._messages or name in _read_english()

    def __getitem__(self, name: str) -> str:
        return self.format(name)

    @cached_property
    def _messages(self) -> Mapping[str, Message]:
        return read_locale(self.language).messages

    @cached_property
    def _choices(self) -> Choices:
        from .choices import Choices  # noqa: PLC0415  # Fluent takes 80 ms to load, and many programs say no plural

        return Choices(self.language, self._messages, self.format_number)

    def load(self) -> None:
        """Load everything now, so that the first prompt need not wait for it."""
        self.format("duration-seconds", count=1)

    def format(self, name: str, /, **arguments: Any) -> str:
        """Return the phrase of that name with its gaps filled."""
        has_fraction = False
        for key, value in arguments.items():
            if isinstance(value, float):
                has_fraction = not value.is_integer()
                arguments[key] = value if has_fraction else int(value)
        try:
            template = self._templates[name]
        except KeyError:
            template = self._templates[name] = build_template(name, self._messages)
        if template is None:
            return self._format_choice(name, arguments)
        if has_fraction:
            numbers = {key: value for key, value in arguments.items() if isinstance(value, float)}
            arguments.update((key, self.format_number(value)) for key, value in numbers.items())
        try:
            return template.format_map(arguments)
        except KeyError:
            return template.format_map(_Arguments(arguments))

    def format_first(self, *names: str, **arguments: Any) -> str:
        """Return the first of these phrases that there is, with its gaps filled; nothing if there is none."""
        return next((self.format(name, **arguments) for name in names if name in self), "")

    def _format_choice(self, name: str, arguments: dict[str, Any], attribute: str = "") -> str:
        if name not in self._messages:
            if self is not ENGLISH and name in _read_english():
                return ENGLISH.format(name, **arguments)
            warnings.warn(f"There is no phrase {name}.", RuntimeWarning, stacklevel=3)
            return ""
        try:
            return self._choices.format(name, arguments, attribute)
        except LookupError:
            return self._choices.format(name, _Arguments(arguments), attribute)

    def format_number(self, value: float) -> str:
        """Return a number in digits, without separators of thousands."""
        if isinstance(value, int):
            return str(value)
        return f"{value:g}".replace(".", self.format("decimal-sign"))

    # -- lists and durations -------------------------------------------------------------------

    def join(self, parts: Iterable[str], *, name: str = "list") -> str:
        """Join the parts of a list, two at a time."""
        given = [*parts]
        return reduce(lambda first, second: self.format(name, first=first, second=second), given) if given else ""

    def format_duration(self, seconds: float, form: str = "") -> str:
        """
        Format how long something took, in its two largest units and never rounded up.

        ``form`` is the attribute of another form, for instance "after", where the language has one.
        """
        remaining = max(0, int(seconds))
        parts = []
        for unit, size in _UNITS:
            count, remaining = divmod(remaining, size)
            if count:
                parts.append(self._format_unit(f"duration-{unit}", count, form))
        if not parts:
            return self.format("duration-moment")
        return parts[0] if len(parts) == 1 else self.format("duration-pair", first=parts[0], second=parts[1])

    def _format_unit(self, name: str, count: int, form: str) -> str:
        message = self._messages.get(name)
        if form and message is not None and f".{form} " in message.source:
            return self._format_choice(name, {"count": count}, form)
        return self.format(name, count=count)

    def format_time_left(self, seconds: float, form: str = "") -> str:
        """Format how much time is left, to the nearest second and in its two largest units."""
        return self.format_duration(math.floor(seconds + 0.5), form)

    # -- knowing a phrase again ------------------------------------------------------------------

    def list_forms(self, name: str) -> list[str]:
        """Return every form of a phrase, with :data:`GAP` where values stand."""
        return [_TEMPLATE_GAP.sub(GAP, template) for template in self._list_templates(name)]

    def _list_templates(self, name: str) -> list[str]:
        if name not in self._messages:
            return ENGLISH._list_templates(name) if self is not ENGLISH else []
        template = build_template(name, self._messages)
        return self._choices.list_forms(name) if template is None else [template]

    def recognizes(self, name: str, text: str) -> bool:
        """Whether a text ends with this phrase, whatever fills its gaps."""
        return any(pattern.search(text) is not None for pattern in self._compile_patterns(name))

    def extract(self, name: str, text: str) -> dict[str, str] | None:
        """Return what fills the gaps of a phrase in a text that is nothing else; None for any other text."""
        for pattern in self._compile_patterns(name):
            if (match := pattern.fullmatch(text)) is not None:
                return match.groupdict()
        return None

    @lru_cache(maxsize=1024)  # noqa: B019  # there are a few of these objects, and they live as long as the process
    def _compile_patterns(self, name: str) -> list[re.Pattern[str]]:
        return [_compile_template(template) for template in self._list_templates(name)]

    def list_words(self, name: str) -> list[str]:
        """Return the words of a phrase that is a list of words."""
        return [word.strip() for word in re.split("[,،、]", self.format(name)) if word.strip()]


def _compile_template(template: str) -> re.Pattern[str]:
    """Return the pattern of a text that was made from a template."""
    literals = [re.escape(literal) for literal in _TEMPLATE_GAP.split(template)]
    seen: set[str] = set()
    pattern = literals[0]
    for gap, literal in zip(_TEMPLATE_GAP.findall(template), literals[1:], strict=True):
        name = gap[1:-1]
        pattern += (rf"(?P={name})" if name in seen else rf"(?P<{name}>(?s:.*?))") + literal
        seen.add(name)
    return re.compile(rf"{pattern}\Z")


ENGLISH: Final = Phrases("en")


@cache
def _read_english() -> Mapping[str, Message]:
    return read_locale("en").messages


@cache
def _open_phrases(tag: str) -> Phrases:
    return ENGLISH if tag == "en" else Phrases(tag)


@lru_cache(maxsize=256)
def find_phrases(languages: Sequence[str]) -> Phrases | None:
    """Return the phrases in the first of these languages that has any; None if none has."""
    tag = find_closest_language(languages, list_tags())
    return None if tag is None else _open_phrases(tag)


def get_phrases(languages: Sequence[str]) -> Phrases:
    """Return the phrases in the first of these languages that has any, else in English."""
    return find_phrases(tuple(languages)) or ENGLISH


class _EnglishTemplates(Mapping[str, str]):
    """The English phrases by their names with dots, with numbered gaps; not those that have several forms."""

    def __getitem__(self, name: str) -> str:
        message = _read_english()[name.replace(".", "-")]
        template = build_template(message.name, _read_english())
        if template is None:
            raise KeyError(name)
        for number, example in enumerate(message.examples):
            template = template.replace(f"{{{example.name}}}", f"{{{number}}}")
        return template

    def __iter__(self) -> Iterator[str]:
        return (name for name in _read_english() if build_template(name, _read_english()) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


PHRASES: Final[Mapping[str, str]] = _EnglishTemplates()


def describe_goodbye(code: str, name: str, phrases: Phrases = ENGLISH) -> str:
    """Return what a person hears when the other side, called ``name``, ends the connection."""
    agent = name or phrases["agent"]
    return capitalize(phrases.format_first(f"closed-{code}", "closed-other", agent=agent, reason=code))


def describe_close_reason(code: str, *, is_hub: bool, phrases: Phrases = ENGLISH) -> str:
    """Return the sentence sent to the other side for a reason code; empty for an unknown code. CF-066"""
    if code == "producer_shutdown" and is_hub:
        return phrases["close-hub_shutdown"]
    return phrases.format_first(f"close-{code}")


def format_duration(seconds: float, phrases: Phrases = ENGLISH) -> str:
    """Format how long something took, in its two largest units and never rounded up."""
    return phrases.format_duration(seconds)


def format_time_left(seconds: float, phrases: Phrases = ENGLISH) -> str:
    """Format how much time is left, to the nearest second and in its two largest units."""
    return phrases.format_time_left(seconds)


# -- formatting other text ------------------------------------------------------------------

_SENTENCE_ENDS: Final = tuple(".!?…,–—،、，:;。！？؟।。：；")
# Before a capital after a small letter, and where a word follows an acronym: HTTP Error, but URLs.
_CAMEL_CASE_BREAK: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])")
_ACRONYM: Final = re.compile(r"[A-Z]{2}")
_WORD_SEPARATOR: Final = re.compile(r"[\s_.-]+")
_CLOSING_MARKS: Final = "\"')]”’»」』）\u2069"


def truncate_with_notice(text: str, max_length: float = MAX_SPOKEN_LENGTH, phrases: Phrases = ENGLISH) -> str:
    """Return sanitized text as a sentence; of a longer one its beginning and a notice that it was cut."""
    if len(text) <= max_length:
        return ensure_full_stop(text)
    short = truncate(text, int(max_length))
    return f"{short}… {phrases.format('cut', count=len(text) - len(short))}"


def humanize_name(name: str) -> str:
    """Turn a name into words: check_balance and checkBalance become "check balance", HTTPError "HTTP error"."""
    words = [word for word in _WORD_SEPARATOR.split(_CAMEL_CASE_BREAK.sub(" ", name)) if word]
    has_lower_case = any(char.islower() for char in name)  # otherwise capitals mark no acronym
    kept = [word if has_lower_case and _ACRONYM.match(word) else word.lower() for word in words]
    return " ".join(kept) or name


def capitalize(text: str) -> str:
    """Return a text with its first letter in upper case and the rest as it is."""
    return text[:1].upper() + text[1:]


def ensure_full_stop(text: str) -> str:
    """Add a full stop unless the text ends with a sentence mark."""
    return text if not text or text.rstrip(_CLOSING_MARKS).endswith(_SENTENCE_ENDS) else text + "."
