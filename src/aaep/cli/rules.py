"""``aaep rules``: read the catalogue."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from ..protocol.catalogue import Rule, all_rules, format_spoken_section, merged_rules
from ._command import AaepCommand, CannotRun, IntegerRange, format_count, to_json_line, to_printable

__all__ = ["main"]

_ROLES: Final = ("producer", "subscriber", "both", "validator", "transport")
_KINDS: Final = ("schema", "sequence", "behaviour", "presentation")


@click.command("rules", cls=AaepCommand, example="aaep rules ENV-012")
@click.argument("ids", metavar="[ID...]", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per rule instead of text.")
@click.option("--coverage", is_flag=True, help="Say what exercises each rule. Needs the sources.")
@click.option("--root", type=click.Path(path_type=Path), default=".", help="The sources. Default: the current folder.")
@click.option("--family", metavar="ENV", help="Only rules whose id begins with this.")
@click.option("--kind", type=click.Choice(_KINDS), help="Only rules of this kind.")
@click.option("--level", type=IntegerRange(1, 3), metavar="1|2|3", help="Only rules that this level demands.")
@click.option("--role", type=click.Choice(_ROLES), help="Only rules for this role.")
@click.pass_context
def main(
    context: click.Context,
    *,
    ids: tuple[str, ...],
    as_json: bool,
    coverage: bool,
    root: Path,
    family: str | None,
    kind: str | None,
    level: int | None,
    role: str | None,
) -> None:
    """Print the rules: all of them in a line each, or those with an ID in full.

    Exits with 2 if there is no rule with that ID.
    With --coverage, exits with 1 if a MUST about messages has no case that
    passes or none that fails, or if a MUST about behaviour is neither tried
    live nor checked by a test, and nothing says why no program can decide it.
    """
    chosen = [*_find_rules(ids)] if ids else [*all_rules().values()]
    chosen = [
        rule
        for rule in chosen
        if (family is None or rule.id.startswith(_family_prefix(family)))
        and (kind is None or rule.kind == kind)
        and (level is None or rule.level <= level)
        and (role is None or rule.role == role or (rule.role == "both" and role in ("producer", "subscriber")))
    ]
    if family is not None and not any(one.startswith(_family_prefix(family)) for one in all_rules()):
        families = dict.fromkeys(one.partition("-")[0] for one in all_rules())
        raise CannotRun(f"There is no family {family}. There are: {', '.join(families)}.")
    if coverage:
        context.exit(_print_coverage(chosen, root, as_json=as_json))
    if as_json:
        for rule in chosen:
            sys.stdout.buffer.write(to_json_line(_rule_to_dict(rule)))
        return
    for id_ in ids:
        if id_.upper() in merged_rules():
            click.echo(f"{id_.upper()} is retired. What it said is in {_join_names(merged_rules()[id_.upper()])}.\n")
    if ids:
        click.echo("\n\n".join(map(_format_rule, chosen)))
        return
    for rule in chosen:
        click.echo(f"{rule.id}, {rule.keyword}, {format_spoken_section(rule.section)}: {to_printable(rule.statement)}")
    click.echo(f"{format_count(len(chosen), 'rule')}.".capitalize())


def _family_prefix(family: str) -> str:
    return family.upper().rstrip("-") + "-"


def _find_rules(ids: Iterable[str]) -> Iterator[Rule]:
    """The rules of these ids; a retired id stands for the rules it went into."""
    known = {*all_rules(), *merged_rules()}
    told = set()
    for given in ids:
        id_ = given.upper()
        if id_ not in known:
            near = get_close_matches(id_, sorted(known), n=3, cutoff=0.5)
            if any(one.startswith(f"{id_}-") for one in known):
                raise CannotRun(f"{id_} is a family of rules. aaep rules --family {id_} lists them.")
            hint = f"Near to it: {', '.join(near)}." if near else "aaep rules lists all of them."
            raise CannotRun(f"There is no rule {given}. {hint}")
        for one in merged_rules().get(id_, (id_,)):
            if one not in told and one in all_rules():
                told.add(one)
                yield all_rules()[one]


def _join_names(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


def _format_rule(rule: Rule) -> str:
    normal, strict = rule.severity(), rule.severity(strict=True)
    graded = f"an {normal}" if normal == "error" else f"a {normal}"
    if strict != normal:
        graded += f", and an {strict} with --strict"
    who = {"both": "producers and subscribers", "transport": "transports"}.get(rule.role, rule.role + "s")
    always = ", and checked at every level" if rule.always and rule.level > 1 else ""
    lines = [
        f"{rule.id}, {format_spoken_section(rule.section)}.",
        to_printable(rule.statement),
        f"A {rule.keyword} for {who}, from level {rule.level} on{always}. Its kind is {rule.kind}.",
        f"Breaking it is {graded}.",
    ]
    if rule.readings:
        lines.append(f"Read as decided in {_join_names(rule.readings)}.")
    if rule.note:
        lines.append(f"Note: {to_printable(rule.note)}")
    retired = sorted(old for old, into in merged_rules().items() if rule.id in into)
    if retired:
        lines.append(f"It also says what {_join_names(retired)} said.")
    return "\n".join(lines)


def _rule_to_dict(rule: Rule) -> dict[str, Any]:
    built: dict[str, Any] = msgspec.to_builtins(rule)
    built["severity"] = rule.severity()
    built["severity_strict"] = rule.severity(strict=True)
    built["merged"] = sorted(old for old, into in merged_rules().items() if rule.id in into)
    return built


# -- coverage --------------------------------------------------------------------


def _print_coverage(chosen: Iterable[Rule], root: Path, *, as_json: bool) -> int:
    """Print what exercises each rule, and return the exit status."""
    covered = import_module(f"{__package__}._coverage").measure_coverage  # what it needs would slow the rest down
    lacking = []
    for found in covered(chosen, root):
        if found.lacking:
            lacking.append(found.id)
        if as_json:
            sys.stdout.buffer.write(to_json_line(msgspec.to_builtins(found)))
        else:
            click.echo(str(found))
    if not as_json:
        if lacking:
            click.echo(f"Not exercised enough: {_join_names(lacking)}.")
        else:
            click.echo(
                "Every MUST here is exercised: by a case that passes and one that fails, live, or by a test; "
                "or no program can decide it."
            )
    return 1 if lacking else 0
