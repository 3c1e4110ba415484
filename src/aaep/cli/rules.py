"""``aaep rules``: print the rules of the catalogue and their coverage."""

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
    rules = [*_find_rules(ids)] if ids else [*all_rules().values()]
    rules = [
        rule
        for rule in rules
        if (family is None or rule.id.startswith(_family_prefix(family)))
        and (kind is None or rule.kind == kind)
        and (level is None or rule.level <= level)
        and (role is None or rule.role == role or (rule.role == "both" and role in ("producer", "subscriber")))
    ]
    if family is not None and not any(rule_id.startswith(_family_prefix(family)) for rule_id in all_rules()):
        families = dict.fromkeys(rule_id.partition("-")[0] for rule_id in all_rules())
        raise CannotRun(f"There is no family {family}. There are: {', '.join(families)}.")
    if coverage:
        context.exit(_print_coverage(rules, root, as_json=as_json))
    if as_json:
        for rule in rules:
            sys.stdout.buffer.write(to_json_line(_rule_to_dict(rule)))
        return
    for rule_id in map(str.upper, ids):
        if rule_id in merged_rules():
            click.echo(f"{rule_id} is retired. What it said is in {_join_names(merged_rules()[rule_id])}.\n")
    if ids:
        click.echo("\n\n".join(map(_format_rule, rules)))
        return
    for rule in rules:
        click.echo(f"{rule.id}, {rule.keyword}, {format_spoken_section(rule.section)}: {to_printable(rule.statement)}")
    click.echo(f"{format_count(len(rules), 'rule')}.".capitalize())


def _family_prefix(family: str) -> str:
    return family.upper().rstrip("-") + "-"


def _find_rules(ids: Iterable[str]) -> Iterator[Rule]:
    """Yield the rules with these ids, each once; a retired id stands for the rules it was merged into."""
    valid_ids = {*all_rules(), *merged_rules()}
    yielded: set[str] = set()
    for argument in ids:
        rule_id = argument.upper()
        if rule_id not in valid_ids:
            if any(valid_id.startswith(f"{rule_id}-") for valid_id in valid_ids):
                raise CannotRun(f"{rule_id} is a family of rules. aaep rules --family {rule_id} lists them.")
            near = get_close_matches(rule_id, sorted(valid_ids), n=3, cutoff=0.5)
            hint = f"Near to it: {', '.join(near)}." if near else "aaep rules lists all of them."
            raise CannotRun(f"There is no rule {argument}. {hint}")
        for current_id in merged_rules().get(rule_id, (rule_id,)):
            if current_id not in yielded and current_id in all_rules():
                yielded.add(current_id)
                yield all_rules()[current_id]


def _join_names(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


def _format_rule(rule: Rule) -> str:
    """Return all sentences about a rule, one on each line."""
    severity = rule.severity()
    strict_severity = rule.severity(strict=True)
    severities = f"an {severity}" if severity == "error" else f"a {severity}"
    if strict_severity != severity:
        severities += f", and an {strict_severity} with --strict"
    roles = {"both": "producers and subscribers", "transport": "transports"}.get(rule.role, rule.role + "s")
    always = ", and checked at every level" if rule.always and rule.level > 1 else ""
    lines = [
        f"{rule.id}, {format_spoken_section(rule.section)}.",
        to_printable(rule.statement),
        f"A {rule.keyword} for {roles}, from level {rule.level} on{always}. Its kind is {rule.kind}.",
        f"Breaking it is {severities}.",
    ]
    if rule.readings:
        lines.append(f"Read as decided in {_join_names(rule.readings)}.")
    if rule.note:
        lines.append(f"Note: {to_printable(rule.note)}")
    if retired := _find_retired(rule):
        lines.append(f"It also says what {_join_names(retired)} said.")
    return "\n".join(lines)


def _rule_to_dict(rule: Rule) -> dict[str, Any]:
    members: dict[str, Any] = msgspec.to_builtins(rule)
    members["severity"] = rule.severity()
    members["severity_strict"] = rule.severity(strict=True)
    members["merged"] = _find_retired(rule)
    return members


def _find_retired(rule: Rule) -> list[str]:
    """Return the ids of the retired rules that were merged into a rule."""
    return sorted(retired for retired, merged_into in merged_rules().items() if rule.id in merged_into)


def _print_coverage(rules: Iterable[Rule], root: Path, *, as_json: bool) -> int:
    """Print the coverage of each rule, and return the exit status."""
    measure_coverage = import_module(f"{__package__}._coverage").measure_coverage  # its imports are slow
    lacking = []
    for rule_coverage in measure_coverage(rules, root):
        if rule_coverage.lacking:
            lacking.append(rule_coverage.id)
        if as_json:
            sys.stdout.buffer.write(to_json_line(msgspec.to_builtins(rule_coverage)))
        else:
            click.echo(str(rule_coverage))
    if not as_json:
        if lacking:
            click.echo(f"Not exercised enough: {_join_names(lacking)}.")
        else:
            click.echo(
                "Every MUST here is exercised: by a case that passes and one that fails, live, or by a test; "
                "or no program can decide it."
            )
    return 1 if lacking else 0
