"""The page of a conformance report, in a real browser: WCAG 2.2 AA with axe-core, light and dark, wide and narrow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from aaep.conformance import VERDICTS, RuleResult
from aaep.conformance.judge import AuditResult, excerpt
from aaep.conformance.producer.run import judge_recording
from aaep.conformance.report import Report, render_text
from aaep.conformance.report_html import render_html
from aaep.protocol.audit import Audit
from aaep.protocol.catalogue import all_rules
from tests.browser import Tab, needed, tab

BANK = Path(__file__).parents[2] / "examples" / "bank.ndjson"
MANY = 12  # rules of each verdict: enough to look at, and a browser needs long for more
STRANGE = '<img src=x onerror=alert(1)> "שלום" \u202e evil'


def judged(*, asked: bool) -> list[RuleResult]:
    """What a recording comes to, as it is or without its question."""
    audit, found = Audit(whole=True), AuditResult([], {})
    for line in BANK.read_text(encoding="utf-8").splitlines()[1:]:
        if asked or ("awaiting.confirmation" not in line and "confirmation.reply" not in line):
            entry = json.loads(line)
            raw = json.dumps(entry["message"]).encode()
            told = audit.feed(raw, entry["at"], entry.get("via", ""))
            found.findings += ((one, excerpt(raw)) for one in told)
            found.count_message(raw)
    results = judge_recording(found)
    kept = {verdict: [one for one in results if one.verdict == verdict][:MANY] for verdict in VERDICTS}
    return [one for one in results if one in kept[one.verdict] or one.rule == "TOOL-002"]


def good() -> Report:
    """Everything that could be shown was."""
    results = [
        one if one.verdict == "not applicable" else RuleResult(one.rule, "passed", one.evidence, "", one.required_level)
        for one in judged(asked=True)
    ]
    return Report("producer", "Bank", "1.0", "http://127.0.0.1:8137", "2026-11-15", 3, results)


def bad() -> Report:
    """Somebody does what cannot be undone, unasked, and says strange things."""
    results = judged(asked=False)
    results[0] = RuleResult(
        "TERM-006", "warning", (STRANGE, f'{STRANGE} {{"type":"{STRANGE}"}}'), "Say something else."
    )
    remarks = ["Warning: nobody was authenticated.", f"Something could not be tried: {STRANGE}"]
    return Report("producer", STRANGE, "", "http://127.0.0.1:8137", "2026-11-15", 3, results, remarks)


REPORTS = {"good": good(), "bad": bad()}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with tab(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, report in REPORTS.items():
        (folder / f"{name}.html").write_text("".join(render_html(report)), encoding="utf-8", errors="backslashreplace")
    return {name: folder / f"{name}.html" for name in REPORTS}


@needed
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_axe_finds_nothing(browser: Tab, pages: dict[str, Path], name: str, scheme: str, width: int) -> None:
    browser.scheme(scheme)
    browser.width(width)
    browser.open(pages[name])
    assert browser.axe() == []
    # WCAG 1.4.10: nothing to scroll sideways
    assert browser.run("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert browser.complaints == []


@needed
def test_the_page_says_what_it_is_to_a_reader_on_a_narrow_screen_too(browser: Tab, pages: dict[str, Path]) -> None:
    for width in (1280, 320):
        browser.width(width)
        browser.open(pages["bad"])
        browser.call("Accessibility.enable")
        tree = browser.call("Accessibility.getFullAXTree")["nodes"]
        said = {(one["role"]["value"], one.get("name", {}).get("value", "")) for one in tree if not one["ignored"]}
        assert ("table", "Failed") in said and ("rowheader", "TOOL-002") in said
        assert {("columnheader", name) for name in ("Rule", "What it asks", "What was seen")} <= said
        headings = [name for role, name in said if role == "heading"]
        assert any(name.endswith(" reaches no level as a producer.") for name in headings)


@needed
def test_a_rule_that_is_folded_away_is_shown_by_its_link(browser: Tab, pages: dict[str, Path]) -> None:
    browser.open(pages["good"])
    folded = "document.getElementById('TOOL-002').closest('details')"
    assert browser.run(f"{folded}.open") is False
    browser.run("location.hash = '#TOOL-002'; new Promise(done => requestAnimationFrame(() => done(true)))")
    assert browser.run(f"{folded}.open") is True


def test_a_level_says_what_stands_against_it_and_not_again_what_stood_against_the_one_before() -> None:
    page = "".join(render_html(REPORTS["bad"]))
    levels = page[page.index("<h2>Levels</h2>") : page.index("<h2>Rules</h2>")]
    assert levels.count('href="#TOOL-002"') == 1 and levels.count("not granted") == 3
    links = [one.partition('"')[0] for one in levels.split('href="#')[1:]]
    assert len(links) == len({*links}) and {*links} == {one.rule for one in REPORTS["bad"].blocking_results}
    assert "granted" in "".join(render_html(REPORTS["good"]))


def test_what_to_do_is_said_and_the_rule_not_twice() -> None:
    told = "\n".join(render_text(REPORTS["bad"]))
    assert "To do: Say something else." in told
    statement = all_rules()["TOOL-002"].statement
    assert told.count(statement) == 1
    assert "To do: Do what the rule asks. aaep rules TOOL-002 says more." in told


def test_of_a_recording_the_page_says_that_nothing_can_be_claimed() -> None:
    report = good()
    report.is_live = False
    page = "".join(render_html(report))
    assert "No level can be claimed from a recording" in page and "<h2>Levels</h2>" not in page


def test_an_excerpt_begins_with_what_the_message_is_about() -> None:
    raw = b'{"@context":"https://aaep-protocol.org/context/v1","producer":{"agent_id":"x"},"type":"t","tool":"wipe"}'
    assert excerpt(raw).startswith('{"type":"t","tool":"wipe","@context"')
    twice = b'{"producer":{},"type":"a","type":"b"}'
    assert excerpt(twice) == twice.decode()
    assert excerpt(b"no json") == "no json"
    assert excerpt(b'{"x":"' + b"y" * 1000 + b'"}').endswith("…")
