"""The pages that are written from tables: they are fresh, and staleness is noticed."""

from __future__ import annotations

import re
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import pytest

import aaep
from aaep.protocol import states
from aaep.protocol.catalogue import all_rules, merged_rules
from scripts import api_page, phrases_page, rules_page, settings_page, state_diagrams

PAGES = [
    pytest.param(state_diagrams, id="state-machines"),
    pytest.param(rules_page, id="rules"),
    pytest.param(api_page, id="api"),
    pytest.param(phrases_page, id="phrases"),
    pytest.param(settings_page, id="settings"),
]


@pytest.mark.parametrize("script", PAGES)
def test_the_page_in_the_repository_is_fresh(script: ModuleType) -> None:
    assert script.main(["--check"]) == 0


@pytest.mark.parametrize("script", PAGES)
def test_staleness_is_noticed_and_mended(
    script: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / script.PAGE.name
    assert script.main(["--check", str(page)]) == 1  # missing
    page.write_text(script.PAGE.read_text(encoding="utf-8") + "One line more.\n", encoding="utf-8")
    assert script.main(["--check", str(page)]) == 1
    assert "is stale. Run: python scripts/" in capsys.readouterr().err
    assert "One line more." in page.read_text(encoding="utf-8")  # a check writes nothing
    assert script.main([str(page)]) == 0
    assert script.main(["--check", str(page)]) == 0
    assert capsys.readouterr().err == ""


def test_a_changed_table_makes_the_page_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "IMPLIED_STATES", {})
    assert state_diagrams.main(["--check"]) == 1


def test_every_move_and_breach_is_on_the_page() -> None:
    page = state_diagrams.page()
    for table in (
        states.LIFECYCLE_TRANSITIONS,
        states.CALL_TRANSITIONS,
        states.OUTPUT_TRANSITIONS,
        states.PROMPT_TRANSITIONS,
        states.HANDSHAKE_TRANSITIONS,
    ):
        for (old, move), new in table.items():
            assert f"| {old} | {move} | {new} |" in page
            assert f"    {old} --> {new}: {move}" in page
    for (old, move), rule in states.BREACHED_RULES.items():
        assert page.count(f"| {old} | {move} | {rule} | {all_rules()[rule].statement} |") == 1


def test_every_rule_is_on_the_page_once() -> None:
    page = rules_page.page()
    for rule in all_rules():
        assert page.count(f'<a id="{rule.lower()}"></a>{rule} |') == 1
    for retired in merged_rules():
        assert f"| {retired} | " in page


def test_every_public_name_is_on_the_page_once_and_all_that_is_said_of_it_is_true() -> None:
    told = " ".join(api_page.GROUPS.values()).split()
    faces = {f"{face}.{name}" for face in ("protocol", "identity") for name in getattr(aaep, face).__all__}
    assert sorted(told) == sorted({*aaep.__all__} - {"__version__"} | faces - {"protocol.Finding"})
    for name, members in api_page.MEMBERS.items():
        for member in members.split():
            assert hasattr(attrgetter(name)(aaep), member) or f"{name}.{member}" in api_page.ATTRIBUTES, (name, member)
    assert not re.search(r" at 0x|: $", api_page.page(), re.MULTILINE)


def test_links_lead_somewhere() -> None:
    """Every reading a rule cites has a place, and every anchor of this page exists."""
    page = rules_page.page()
    cited = {reading for rule in all_rules().values() for reading in rule.readings}
    assert sorted(cited - set(rules_page.readings())) == []
    here = set(re.findall(r'<a id="([^"]+)">', page)) | {
        rules_page.anchor(heading) for heading in re.findall(r"^## (.+)$", page, re.MULTILINE)
    }
    assert sorted(set(re.findall(r"\]\(#([^)]+)\)", page)) - here) == []
