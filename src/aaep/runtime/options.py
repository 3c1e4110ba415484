"""Support for classes of options: errors that list the right keywords, and sequences as tuples."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["list_keywords", "make_tuples"]

C = TypeVar("C", bound=Callable[..., Any])


def list_keywords(**options: type) -> Callable[[C], C]:
    """
    Make an unknown keyword argument of a function or class an error that lists the known ones.

    ``options`` are the parameters that take a value object, with its class: a keyword that is a
    field there is answered with where to write it.
    """

    def decorate(target: C) -> C:
        if isinstance(target, type):
            target.__init__ = _check(target.__init__, target.__name__, options)  # type: ignore[misc]  # mypy: any class
            return target
        name = target.__qualname__.removesuffix(".__init__").rpartition(".")[2]
        return _check(target, name, options)

    return decorate


def _check(function: C, name: str, options: dict[str, type]) -> C:
    code = function.__code__
    known = code.co_varnames[code.co_posonlyargcount : code.co_argcount + code.co_kwonlyargcount]
    known = tuple(keyword for keyword in known if keyword != "self")

    @functools.wraps(function)
    def call(*args: Any, **keywords: Any) -> Any:
        for keyword in keywords:
            if keyword not in known:
                raise TypeError(f"{name}() has no keyword {keyword!r}. {_suggest(keyword, known, options)}")
        return function(*args, **keywords)

    return call  # type: ignore[return-value]  # it takes and returns what the function does


def _suggest(keyword: str, known: tuple[str, ...], options: dict[str, type]) -> str:
    for parameter, value_class in options.items():
        if keyword in value_class.__annotations__:
            return f"Write {parameter}={value_class.__name__}({keyword}=…)."
    close = difflib.get_close_matches(keyword, known, n=1)
    hint = f"Did you mean {close[0]}? " if close else ""
    return f"{hint}It takes: {', '.join(known)}."


def make_tuples(options: object, *names: str) -> None:
    """
    Turn fields of a frozen dataclass into tuples, from its ``__post_init__``.

    A single text is meant as one item, not as its letters. None stays None.
    """
    for name in names:
        value = getattr(options, name)
        items = (value,) if isinstance(value, str) else value
        object.__setattr__(options, name, None if items is None else tuple(items))
