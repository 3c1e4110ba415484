"""
A person's own rules: what a coding agent may do without asking each time.

A rule names a kind of call that changes nothing, or one command with all of its arguments. There are no patterns,
because whatever a pattern leaves open would run unheard.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Iterable, Mapping
from typing import Any, Final

from .acp_questions import Proposal

__all__ = ["AllowRule", "find_rule", "read_rules"]

_KINDS: Final = ("read", "search")
_MEMBERS: Final = ("kind", "command", "agent")


@dataclasses.dataclass(frozen=True, kw_only=True)
class AllowRule:
    """
    One thing that is allowed without asking: a ``kind``, "read" or "search", or one ``command``.

    The command is a list of arguments, and applies to exactly that list: ``("git", "status")`` does not allow
    ``git status --short``. With an ``agent`` the rule is for that agent only.
    """

    kind: str | None = None
    command: tuple[str, ...] | None = None
    agent: str | None = None

    def __post_init__(self) -> None:
        if (self.kind is None) == (self.command is None):
            raise ValueError("A rule names a kind or a command, and not both.")
        if self.kind is not None and self.kind not in _KINDS:
            raise ValueError(f"A rule can allow the kinds {' and '.join(_KINDS)}, not {self.kind!r}.")
        if self.command is not None and (
            not self.command or not all(isinstance(argument, str) for argument in self.command)
        ):
            raise ValueError('The command of a rule is a list of its arguments, such as ["git", "status"].')

    def allows(self, proposal: Proposal, agent: str) -> bool:
        """Whether a call is what the rule names, and nothing more."""
        if self.agent is not None and self.agent != agent:
            return False
        if self.kind is not None:
            return proposal.nature == self.kind and not proposal.is_own_words
        # Compared as written: a shell may see more in it than a list of words, a line break for instance.
        return (
            self.command is not None
            and proposal.nature == "run"
            and not proposal.other_arguments
            and proposal.command in (self.command, shlex.join(self.command))
        )


def find_rule(rules: Iterable[AllowRule], proposal: Proposal, agent: str) -> AllowRule | None:
    """Return the first rule that allows a call, None if nobody but the person can."""
    return next((rule for rule in rules if rule.allows(proposal, agent)), None)


def read_rules(settings: Mapping[str, Any]) -> tuple[AllowRule, ...]:
    """
    Return the rules of parsed settings, ``[[allow]]`` in a settings file. Raises :exc:`ValueError` for a mistake.

    A mistake is never left out: a rule that is read wrongly would allow what was not meant, or ask what was allowed.
    """
    tables = settings.get("allow", [])
    if not isinstance(tables, list):
        raise ValueError("allow is a list of tables: write [[allow]].")
    rules = []
    for number, table in enumerate(tables, start=1):
        where = f"Rule {number} of allow"
        if not isinstance(table, Mapping):
            raise ValueError(f"{where} is no table: write [[allow]].")
        unknown = [name for name in table if name not in _MEMBERS]
        if unknown:
            raise ValueError(f"{where} has {unknown[0]}, which is unknown. There are {', '.join(_MEMBERS)}.")
        command = table.get("command")
        if command is not None and not isinstance(command, list):
            raise ValueError(f'{where}: command is a list of arguments, such as ["git", "status"].')
        for name in ("kind", "agent"):
            if table.get(name) is not None and not isinstance(table[name], str):
                raise ValueError(f"{where}: {name} is a text.")
        try:
            rules.append(
                AllowRule(
                    kind=table.get("kind"),
                    command=None if command is None else tuple(command),
                    agent=table.get("agent"),
                )
            )
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from error
    return tuple(rules)
