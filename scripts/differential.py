"""
Judges many messages by the published schemas and by our validator, and records each class of difference.

The argument is a folder with the published schemas: ``schemas`` in a checkout of the specification. A class is a
rule and three verdicts, with the shortest message that shows it. ``tests/protocol/test_differences.py`` compares
the record with ``docs/differences.md``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import jsonschema_rs

from aaep.protocol.audit import Finding, explain
from aaep.protocol.codec import canonical_type

sys.path.insert(0, str(Path(__file__).parent.parent))  # the messages are those of the tests

from tests.mutations import mutated, sources

RECORD: Final = Path(__file__).parent.parent / "tests" / "protocol" / "differential.json"
_PUBLISHED_VERSIONS: Final = (None, "1.0.0")


class Difference(NamedTuple):
    """A class of messages on which the published schemas and ours disagree, by the rule of ours that says so."""

    published: str
    default: str
    strict: str
    rule: str


class PublishedSchemas:
    """The published schemas of core events and handshake messages."""

    def __init__(self, folder: Path) -> None:
        paths = [*folder.rglob("*.schema.json")]
        schemas = {path.name.removesuffix(".schema.json"): json.loads(path.read_text("utf-8")) for path in paths}
        registry = jsonschema_rs.Registry([(schema["$id"], schema) for schema in schemas.values()])
        self._validators = {
            name: jsonschema_rs.validator_for(schema, registry=registry) for name, schema in schemas.items()
        }

    def find_faults(self, message: dict[str, Any]) -> list[str] | None:
        """Return the place of each fault; None if there is no schema for the message."""
        validator = self._validators.get(canonical_type(str(message.get("type"))).removeprefix("aaep:"))
        if validator is None:
            return None
        return [_format_pointer(error.instance_path) for error in validator.iter_errors(message)]


def _format_pointer(parts: Iterable[str | int]) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def grade(findings: Iterable[Finding], rule: str, path: str | None = None) -> str:
    """Return the worst that findings say by a rule, at one place or at any; ``accepted`` if nothing."""
    severities = {one.severity for one in findings if one.rule == rule and path in (None, one.path)}
    return next((severity for severity in ("error", "warning") if severity in severities), "accepted")


def find_differences(message: dict[str, Any], faults: list[str]) -> Iterator[Difference]:
    """Yield the differences that a message shows, by the places where the published schemas find fault with it."""
    if message.get("aaep_version") not in _PUBLISHED_VERSIONS:
        return  # by a version that we do not know everything unknown is judged more mildly; one row says so
    raw = json.dumps(message).encode()
    default, strict = ([*explain(raw, strict=is_strict)] for is_strict in (False, True))
    if not faults:
        for finding in strict:
            if finding.severity == "error":
                yield Difference("accepted", grade(default, finding.rule, finding.path), "error", finding.rule)
        return
    if all(any(one.severity == "error" for one in findings) for findings in (default, strict)):
        return
    told = [one for one in strict if one.severity != "info" and any(_is_within(one.path, fault) for fault in faults)]
    for finding in told:
        yield Difference("refused", grade(default, finding.rule, finding.path), finding.severity, finding.rule)
    if not told:
        yield Difference("refused", "accepted", "accepted", "")


def _is_within(path: str, place: str) -> bool:
    return path == place or (place != "" and path.startswith(f"{place}/"))


def collect(schemas: PublishedSchemas, count: int) -> dict[Difference, dict[str, Any]]:
    """Return each class of difference among ``count`` messages of each type, with its shortest message."""
    examples: dict[Difference, dict[str, Any]] = {}
    for type_, given in sources().items():
        for message in mutated(type_, given, count):
            faults = schemas.find_faults(message)
            for difference in () if faults is None else find_differences(message, faults):
                known = examples.get(difference)
                if known is None or len(json.dumps(message)) < len(json.dumps(known)):
                    examples[difference] = message
    return examples


def main(arguments: list[str] | None = None) -> int:
    """Write the record; with ``--check`` only say, by exiting with 1, which classes it lacks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the folder with the published schemas")
    parser.add_argument("--count", type=int, default=6000, help="messages of each type")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a class is not recorded")
    given = parser.parse_args(arguments)
    examples = collect(PublishedSchemas(given.folder), given.count)
    if given.check:
        recorded = {Difference(*one["class"]) for one in json.loads(RECORD.read_text("utf-8"))}
        for difference in sorted({*examples} - recorded):
            print(f"Not recorded: {' '.join(difference)}: {json.dumps(examples[difference])}", file=sys.stderr)
        return 1 if {*examples} - recorded else 0
    lines = [json.dumps({"class": [*one], "message": examples[one]}) for one in sorted(examples)]
    RECORD.write_text("[\n" + ",\n".join(lines) + "\n]\n", "utf-8")
    print(f"{len(lines)} classes of differences.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
