"""
The function behind a tool: its name, its parameters, and the arguments that are bound to it already.

What a person agrees to is a call with all of its arguments, whether they come with
the call or were bound before, by ``functools.partial`` or by a method's object.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any, Final

__all__ = ["ToolFunction"]

_PLACEHOLDER: Final = getattr(functools, "Placeholder", object())  # of Python 3.14


class ToolFunction:
    """
    A callable as its calls are described.

    ``owner`` is the name of the parameter that a method's object is given as,
    ``self`` as a rule, and None if it is no method. ``bound_owner`` is that
    object where it is known already, as for ``account.wipe``. Of an ``is_opaque``
    one nobody can say what is bound to it, as of ``operator.methodcaller("pay")``.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._bound_args: tuple[Any, ...] = ()
        self._bound_kwargs: dict[str, Any] = {}
        while isinstance(function, functools.partial):
            self._bound_args = _merge_positional(function.args, self._bound_args)
            self._bound_kwargs = {**function.keywords, **self._bound_kwargs}
            function = function.func
        self.name = _find_name(function)
        self.bound_owner, target = _split_method(function)
        if self.bound_owner is not None:
            self._bound_args = (self.bound_owner, *self._bound_args)
        self.is_opaque = not (inspect.isroutine(target) or inspect.isclass(target) or hasattr(target, "__wrapped__"))
        self.signature = inspect.signature(target)
        first = next(iter(self.signature.parameters), None)
        is_method = self.bound_owner is not None or (first in ("self", "cls") and _is_in_class(target))
        self.owner = first if is_method else None

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return all arguments of a call by name: bound ones and defaults too."""
        all_args = _merge_positional(self._bound_args, args)
        bound = self.signature.bind(*all_args, **{**self._bound_kwargs, **kwargs})
        bound.apply_defaults()
        return dict(bound.arguments)


def _split_method(function: Callable[..., Any]) -> tuple[Any, Callable[..., Any]]:
    """Return the object of a bound method or a callable object, None for any other function, and what it runs."""
    if isinstance(function, types.MethodType):
        return function.__self__, function.__func__
    if isinstance(function, (types.BuiltinMethodType, types.MethodWrapperType)):
        holder = function.__self__
        if holder is not None and not isinstance(holder, (types.ModuleType, type)):
            return holder, getattr(type(holder), function.__name__)
    elif isinstance(call := type(function).__call__, types.FunctionType):
        return function, call
    return None, function


def _merge_positional(bound: tuple[Any, ...], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return bound arguments followed by those of a call, of which the first ones take the places left open."""
    if not any(value is _PLACEHOLDER for value in bound):
        return (*bound, *args)
    rest = iter(args)
    filled = [next(rest, _PLACEHOLDER) if value is _PLACEHOLDER else value for value in bound]
    return (*filled, *rest)


def _find_name(function: Callable[..., Any]) -> str:
    """Return the name of a function; of an internal method such as ``_run``, that of its class says more."""
    name = getattr(function, "__name__", None)
    if name is None:
        return type(function).__name__
    if name.startswith("_") and _is_in_class(function):
        holder = getattr(function, "__self__", None)
        if holder is not None:
            return (holder if isinstance(holder, type) else type(holder)).__name__
        return str(function.__qualname__.split(".")[-2])
    return str(name)


def _is_in_class(function: Callable[..., Any]) -> bool:
    """Whether a function is defined in the body of a class."""
    return "." in getattr(function, "__qualname__", "").rpartition("<locals>.")[2]
