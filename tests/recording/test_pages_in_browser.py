"""The pages in a real browser: WCAG 2.2 AA with axe-core, the keyboard, filter and search, light and dark."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aaep.cli._visualize import visualize
from tests.browser import Tab, needed, tab

pytestmark = needed

BANK = Path(__file__).parents[2] / "examples" / "bank.ndjson"
SETTLED = (
    "new Promise(done => setTimeout(() => requestAnimationFrame(() => done(true)), 200))"  # the search waits a bit
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with tab(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of a sound recording, and one of a recording that breaks rules, in two sessions and two languages."""
    folder = tmp_path_factory.mktemp("pages")
    broken = folder / "broken.ndjson"
    lines = BANK.read_text(encoding="utf-8").splitlines()
    broken.write_text("\n".join([lines[0], *_broken(lines[1:])]) + "\n", encoding="utf-8")
    made = {"sound": BANK, "broken": broken}
    for name, file in made.items():
        visualize([str(file)], str(folder / f"{name}.svg"), str(folder / f"{name}.html"))
    return {name: folder / f"{name}.html" for name in made}


def _broken(lines: list[str]) -> Iterator[str]:
    entries: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for entry in entries:
        message = entry["message"]
        if message["type"] == "confirmation.reply":
            message["decision"] = "reject"
        if message["type"] == "aaep:agent.tool.completed" and message["tool"] == "check_balance":
            continue
        if message["type"] != "subscription.close":
            yield json.dumps(entry)
    for entry in entries:
        message = entry["message"]
        if message["type"] in ("aaep:agent.session.started", "aaep:agent.state.changed"):
            hints = {"primary_language": "es-MX", "text_direction": "ltr"}
            other = {"session_id": "sess_2", "event_id": message["event_id"] + "2", "localization_hints": hints}
            said = {"summary_normal": "<img src=x onerror=alert(1)> Transferencia en curso."}
            yield json.dumps({**entry, "message": {**message, **other, **said}})


@pytest.mark.parametrize("name", ["sound", "broken"])
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


def test_axe_finds_something_where_something_is_wrong(browser: Tab, tmp_path: Path) -> None:
    """Otherwise the tests above would say nothing."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<!doctype html><title>x</title><p style='color:#999;background:#aaa'>Hard to read.<input>", encoding="utf-8"
    )
    browser.open(page)
    found = " ".join(browser.axe())
    assert "html-has-lang" in found and "color-contrast" in found and "label" in found


def test_the_colours_follow_the_system(browser: Tab, pages: dict[str, Path]) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        for file in (pages["broken"], pages["broken"].with_suffix(".svg")):
            browser.open(file)
            grounds.append(browser.run("getComputedStyle(document.body || document.documentElement).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)"] * 2 + ["rgb(23, 23, 27)"] * 2


def shown(browser: Tab) -> list[str]:
    """The rows that can be seen, their cells with a tab between them."""
    rows = "[...document.querySelectorAll('.steps tbody tr')].filter(row => row.checkVisibility())"
    return list(browser.run(f"{rows}.map(row => [...row.cells].map(cell => cell.textContent).join('\\t'))"))


def test_search_and_filter_show_what_was_asked_for_and_say_how_much_that_is(
    browser: Tab, pages: dict[str, Path]
) -> None:
    browser.width(1280)
    browser.open(pages["broken"])
    everything = shown(browser)
    browser.run("document.getElementById('find').focus()")
    browser.call("Input.insertText", text="TRANSFERENCIA")
    browser.run(SETTLED)
    found = shown(browser)
    assert found and all("Transferencia" in row for row in found)
    told = browser.run("document.getElementById('count').textContent")
    assert told == f"{len(found)} steps of {len(everything)} shown, in 1 section."
    browser.run("document.querySelector('button[type=reset]').click()")
    browser.run(SETTLED)
    assert shown(browser) == everything
    browser.run("document.getElementById('only').click()")
    browser.run(SETTLED)
    assert shown(browser) and all("Error" in row or "Warning" in row for row in shown(browser))
    browser.run("document.querySelector('button[type=reset]').click()")
    browser.run(
        "document.querySelectorAll('input[name=kind]').forEach(box => { if (box.value !== 'tool') box.click(); })"
    )
    browser.run(SETTLED)
    assert shown(browser) and all("\tTool\t" in row for row in shown(browser))
    assert browser.run("document.getElementById('count').getAttribute('role')") == "status"


def test_everything_can_be_reached_and_done_with_the_keyboard(browser: Tab, pages: dict[str, Path]) -> None:
    browser.width(1280)
    browser.open(pages["broken"])
    reached: list[str] = []
    while len(reached) < 60 and "BODY" not in " ".join(reached):  # past the end there is nothing
        browser.press("Tab", 9)
        told = "(e => e.id || e.name || e.type || e.tagName + ' ' + e.textContent)(document.activeElement)"
        reached.append(browser.run(told))
        if reached.count(reached[0]) > 1:
            break  # round again
        ring = browser.run("getComputedStyle(document.activeElement).outlineStyle")
        assert ring != "none" or reached[-1].startswith("BODY")
    assert reached[0] == "A Skip to the sessions"
    assert [one for one in reached if one in ("find", "only", "previous", "next", "open", "shut", "reset")] == [
        *("find", "only", "previous", "next", "open", "shut", "reset")
    ]
    assert any(one.startswith("SUMMARY") for one in reached)
    # Close everything, then go to the next broken rule: it opens what it is in, and is where the focus is.
    browser.run("document.getElementById('shut').focus()")
    browser.press("Enter", 13, "\r")
    assert shown(browser) == []
    browser.run("document.getElementById('next').focus()")
    browser.press("Enter", 13, "\r")
    assert "Error" in browser.run("document.activeElement.textContent")
    assert browser.run("document.activeElement.checkVisibility()")
    assert browser.run("document.getElementById('count').textContent").startswith("Broken rule 1 of ")


def test_the_drawing_and_the_table_say_what_they_are_to_a_screen_reader(browser: Tab, pages: dict[str, Path]) -> None:
    browser.width(1280)
    browser.open(pages["broken"])
    browser.call("Accessibility.enable")
    told: set[tuple[str, str]] = set()
    deadline = time.monotonic() + 30
    while ("searchbox", "Search") not in told and time.monotonic() < deadline:  # the browser builds it when it can
        nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
        told = {(one["role"]["value"], one.get("name", {}).get("value", "")) for one in nodes if not one["ignored"]}
    assert ("heading", "Trace of broken.ndjson") in told
    assert ("table", "Steps") in told
    assert ("columnheader", "What happened") in told
    assert any(role == "rowheader" and name == "0 seconds" for role, name in told)
    drawings = [name for role, name in told if role in ("image", "img")]
    assert drawings and all("Time runs from left to right" in name for name in drawings)
    assert any("HITL-020" in name for name in drawings)
    assert ("searchbox", "Search") in told


def test_without_its_script_the_page_still_holds_everything(browser: Tab, pages: dict[str, Path]) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["broken"])
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert len(shown(browser)) > 20
    assert browser.run("document.getElementById('filter').hidden")
