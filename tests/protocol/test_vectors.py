"""Every vector is run, and every checkable rule has vectors that can pass and vectors that can fail."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from aaep.errors import FrameError, Violation
from aaep.protocol import codec
from aaep.protocol.audit import Audit, Direction
from aaep.protocol.catalogue import all_rules, grade, merged_rules
from aaep.protocol.extensions import Registry, check_declaration
from aaep.protocol.framing import FRAMINGS, Frame, check_frame
from examples.medical_extension import registry
from tests import vectors

SOURCE = Path(__file__).parents[2] / "src" / "aaep"
EVERY_BOUNDARY = 4_000  # bytes; a longer stream is cut byte by byte only
Found = tuple[str, int | None, str, str]  # rule, step, path, severity


@pytest.fixture(scope="module", name="known")
def _known() -> Registry:
    return registry()


def each(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in vectors.cases(kind)]


def graded(violations: Iterable[Violation], strict: bool) -> list[Found]:
    return [(v.rule, None, v.path, grade(v, strict=strict)) for v in violations]


def compare(case: dict[str, Any], found: list[Found]) -> None:
    """Every error and warning, and nothing more; path and severity where the case gives them."""
    loud = [one for one in found if one[3] != "info"]
    expected = case["findings"]
    said = Counter((rule, step) for rule, step, _, _ in loud)
    assert said == Counter((one["rule"], one.get("step")) for one in expected), case["description"]
    left = list(loud)
    # The most exact expectations choose first, or a vague one could take what another needs.
    for one in sorted(expected, key=lambda one: -len(one)):
        fits = [
            got
            for got in left
            if got[:2] == (one["rule"], one.get("step"))
            and one.get("path", got[2]) == got[2]
            and one.get("severity", got[3]) == got[3]
        ]
        assert fits, f"{one} is not among {left}: {case['description']}"
        left.remove(fits[0])


@pytest.mark.parametrize("case", each("message"))
def test_message(case: dict[str, Any], known: Registry) -> None:
    strict = case.get("strict", False)
    _, violations = codec.read(vectors.message(case["message"]), known, strict=strict)
    compare(case, graded(violations, strict))


@pytest.mark.parametrize("case", each("sequence"))
def test_sequence(case: dict[str, Any], known: Registry) -> None:
    whole, strict = case.get("whole", True), case.get("strict", False)
    audit = Audit(known, whole=whole, strict=strict)
    audit.whole = whole  # strict grading does not make a partial recording whole
    found: list[Found] = []
    for number, step in enumerate(case["steps"]):
        at = vectors.moment(step.get("at", number)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        raw = vectors.message(step, number)
        sender: Direction = "in" if step.get("in") else "out"
        for one in audit.feed(raw, at, step.get("via", vectors.VIA), sender):
            found.append((one.rule, number, one.path, one.severity))
    for one in audit.finish():
        found.append((one.rule, len(case["steps"]), one.path, one.severity))
    compare(case, found)


def came_out(case: dict[str, Any], pieces: Iterable[bytes]) -> tuple[list[Any], list[str]]:
    """The messages and the rules broken when the stream arrives in these pieces."""
    items: list[Frame | FrameError] = []
    if case["framing"] == "websocket":
        items = [check_frame(piece) for piece in pieces]
    else:
        decoder = FRAMINGS[case["framing"]]()
        for piece in pieces:
            items += decoder.feed(piece)
        items += decoder.finish()
    messages = [json.loads(item.data) for item in items if isinstance(item, Frame)]
    broken = [v.rule for item in items if isinstance(item, FrameError) for v in item.violations]
    return messages, broken


def cuts(case: dict[str, Any], given: list[bytes]) -> Iterator[list[bytes]]:
    """The stream as given, whole, at every boundary, and byte by byte."""
    yield given
    if case["framing"] == "websocket":
        return  # a WebSocket message is delimited already
    stream = b"".join(given)
    yield [stream]
    yield [stream[index : index + 1] for index in range(len(stream))]
    if len(stream) <= EVERY_BOUNDARY:
        for index in range(1, len(stream)):
            yield [stream[:index], stream[index:]]


@pytest.mark.parametrize("case", each("frames"))
def test_frames(case: dict[str, Any]) -> None:
    """However the bytes are cut, the same messages and the same refusals come out."""
    given = [one.encode() if isinstance(one, str) else base64.b64decode(one["base64"]) for one in case["chunks"]]
    expected = [one["rule"] for one in case["findings"]]
    for pieces in cuts(case, given):
        messages, broken = came_out(case, pieces)
        assert messages == case["messages"]
        assert Counter(broken) == Counter(expected)


@pytest.mark.parametrize("case", each("extension"))
def test_extension(case: dict[str, Any]) -> None:
    given = case["extension"]
    violations = check_declaration(
        namespace=given.get("namespace"),
        prefix=given.get("prefix"),
        context=given.get("context"),
        types=given.get("types", ()),
    )
    compare(case, graded(violations, case.get("strict", False)))


@pytest.mark.parametrize("case", each("context"))
def test_context(case: dict[str, Any]) -> None:
    from aaep.protocol.jsonld import find_context_violations

    compare(case, graded(find_context_violations(case["context"]), case.get("strict", False)))


# -- the vectors themselves -----------------------------------------------------


@pytest.mark.parametrize("path", sorted(vectors.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_files_fit_their_schema(path: Path) -> None:
    if path.name in ("bases.json", "vectors.schema.json"):
        return
    schema = json.loads((vectors.FOLDER / "vectors.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(json.loads(path.read_text()))


def test_ids_are_unique() -> None:
    assert [id_ for id_, number in Counter(case["id"] for case in vectors.cases()).items() if number > 1] == []


def test_sequence_findings_have_steps() -> None:
    for case in vectors.cases("sequence"):
        assert all(0 <= one["step"] <= len(case["steps"]) for one in case["findings"]), case["id"]


def test_used_rules_exist_and_are_not_retired() -> None:
    used = {
        rule
        for case in vectors.cases()
        for rule in (case["rule"], *case.get("also", ()), *(one["rule"] for one in case["findings"]))
    }
    assert sorted(used - set(all_rules())) == []
    assert sorted(used & set(merged_rules())) == []


CHECKABLE = sorted(
    rule.id for rule in all_rules().values() if rule.keyword == "MUST" and rule.kind in ("schema", "sequence")
)


def test_every_checkable_must_can_pass() -> None:
    """At least one sound case names the rule."""
    passing = {
        rule for case in vectors.cases() if not case["findings"] for rule in (case["rule"], *case.get("also", ()))
    }
    assert [rule for rule in CHECKABLE if rule not in passing] == []


def test_every_checkable_must_can_fail() -> None:
    """At least one case finds the rule and nothing else."""
    failing = set()
    for case in vectors.cases():
        broken = {one["rule"] for one in case["findings"]}
        if len(broken) == 1:
            failing |= broken
    assert [rule for rule in CHECKABLE if rule not in failing] == []


def test_secret_cases_are_strict() -> None:
    """SEC-023 is looked for only under strict, so a sound case proves something only there."""
    for case in vectors.cases():
        if case["rule"] == "SEC-023" or any(one["rule"] == "SEC-023" for one in case["findings"]):
            assert case.get("strict"), case["id"]


def test_rules_named_in_the_source_exist() -> None:
    """A rule id that the code cites in a string is one of the catalogue's."""
    literal = re.compile(r"""["']([A-Z][A-Z0-9]*-[0-9]{3})["']""")
    unknown = set()
    for path in sorted(SOURCE.rglob("*.py")):
        for rule in literal.findall(path.read_text()):
            if rule not in all_rules() and rule != "P-256":  # which is a curve
                unknown.add(f"{rule} in {path.relative_to(SOURCE)}")
    assert sorted(unknown) == []
