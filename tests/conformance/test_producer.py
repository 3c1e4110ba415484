"""The conformance suite for producers: ours and a plain one earn Level 3, and who breaks a rule is failed for it."""

from __future__ import annotations

import asyncio
import json
import shlex
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner
from click.testing import Result as Outcome

import tests.end_to_end.pipes  # noqa: F401  # which makes an address known
from aaep.cli import main
from aaep.conformance import SUITE_VERSION
from aaep.conformance.judge import compute_granted_level
from aaep.conformance.producer.run import (
    PRODUCER_SCENARIOS,
    ProducerResults,
    collect_tried_rules,
    judge_producer,
)
from aaep.conformance.report import Report, render_junit, render_text, to_json
from aaep.conformance.report_html import render_html
from aaep.producer.producer import ManifestOptions, Producer
from aaep.protocol.catalogue import all_rules
from tests.broken.good_plain import OneAtATime, Plain, Thinks, ThinksAloud, WithoutSubscriptions
from tests.broken.producers import (
    ALL,
    ALL_CARELESS,
    AnswersAnything,
    Broken,
    Careless,
    GoesNowhere,
    MislabelsItsStream,
    NeverEnds,
    NeverFallsSilent,
    OpenToEverySite,
    RejectsAll,
    SaysYesToEverything,
)
from tests.end_to_end.wires import name_of, transports
from tests.peers import (
    GOOD_PRODUCERS,
    HASTE,
    PRODUCER_ADDRESSES,
    careless_scenarios,
    failed,
    judge_our_producer,
    judge_plain,
    left_out,
    producer_scenarios,
    result,
    warned,
)

WAIT = 60.0  # how long a broken build may keep a test waiting
AT_ONCE = 8  # peers that are judged side by side: they mostly wait


EXAMPLES = Path(__file__).parents[2] / "examples"


class Desk:
    """Where a plain producer's tasks are started."""

    def __init__(self, producer: Plain) -> None:
        class Requests(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                producer.start(json.loads(self.rfile.read(int(self.headers["Content-Length"])))["task"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/start"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


# -- who keeps the rules -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def good() -> Iterator[dict[str, ProducerResults]]:
    """Ours over every transport, and those that were written without our library, side by side."""

    async def judge(folder: str) -> dict[str, ProducerResults]:
        urls = [url.format(folder=folder) for url in PRODUCER_ADDRESSES]
        played = await asyncio.gather(
            *map(judge_our_producer, urls), *(judge_plain(made) for made in GOOD_PRODUCERS.values())
        )
        return dict(zip([*PRODUCER_ADDRESSES, *GOOD_PRODUCERS], played, strict=True))

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        yield asyncio.run(judge(folder))


@pytest.mark.parametrize("which", [*PRODUCER_ADDRESSES, *GOOD_PRODUCERS])
def test_a_good_producer_earns_level_3(good: dict[str, ProducerResults], which: str) -> None:
    """LVL-025, LVL-044"""
    played = good[which]
    assert failed(played) == set()
    assert left_out(played) == set()
    assert compute_granted_level(played.results) == 3


def test_nothing_is_passed_that_was_not_seen(good: dict[str, ProducerResults]) -> None:
    for played in good.values():
        assert all(one.evidence for one in played.results)
        assert result(played, "MAN-020").verdict == "not applicable"  # none of them signs its manifest
        assert result(played, "CAP-045").verdict == "passed"  # and says so


def test_it_is_told_when_calls_of_a_tool_are_taken_at_their_word(good: dict[str, ProducerResults]) -> None:
    told = [which for which, played in good.items() if any("taken at its word" in one for one in played.remarks)]
    assert told == ["one tool"]


def test_what_is_not_over_is_tried_again_or_not_shown_and_never_failed() -> None:
    """SEQ-003: an agent that takes longer than it is given earns Level 3; one that ends nothing earns none."""

    async def judge() -> list[ProducerResults]:
        return [
            *await asyncio.gather(*(judge_plain(made, patience=HASTE) for made in (Thinks, NeverEnds, GoesNowhere)))
        ]

    slow, *endless = asyncio.run(judge())
    assert failed(slow) == set()
    assert left_out(slow) == set()
    assert compute_granted_level(slow.results) == 3
    for played in endless:
        assert failed(played) == set()
        assert compute_granted_level(played.results) == 0
        assert result(played, "SEQ-003").verdict == "not shown"
        assert "--patience" in result(played, "SEQ-003").advice


def test_an_agent_that_never_falls_silent_is_not_waited_for_without_end() -> None:
    chosen = tuple(one for one in PRODUCER_SCENARIOS if one.name == "a session from beginning to end")
    played = asyncio.run(asyncio.wait_for(judge_plain(NeverFallsSilent, chosen, patience=0.3), WAIT))
    assert failed(played) == set()
    assert result(played, "SEQ-003").verdict == "not shown"


def test_an_agent_is_given_the_time_that_it_announces() -> None:
    chosen = tuple(one for one in PRODUCER_SCENARIOS if one.name == "a session from beginning to end")
    played = asyncio.run(judge_plain(ThinksAloud, chosen, patience=HASTE))
    assert result(played, "SEQ-009").verdict == "passed"
    assert not any("--patience" in one for one in played.remarks)


def test_one_that_does_one_thing_at_a_time_is_judged_all_the_same() -> None:
    names = ("two questions are open and one is answered", "a no stops the action")
    chosen = tuple(one for one in PRODUCER_SCENARIOS if one.name in names)
    played = asyncio.run(judge_plain(OneAtATime, chosen, patience=1.0))
    assert failed(played) == set()
    assert any("there was no second one" in one for one in played.remarks)
    assert result(played, "HITL-020").evidence == ("After a reject and then an accept the action was not done.",)


def test_a_producer_that_signs_shows_what_it_signs(tmp_path: Path) -> None:
    key = tmp_path / "key.json"
    assert CliRunner().invoke(main, ["manifest", "key", "new", str(key)]).exit_code == 0
    proof = [one for one in PRODUCER_SCENARIOS if "MAN-020" in one.optional_rules]

    async def judge() -> ProducerResults:
        with Producer(
            "bank", listen="http://127.0.0.1:0", journal=None, manifest=ManifestOptions(signing_key=key)
        ) as producer:
            return await judge_producer(producer.addresses[0], None, scenarios=proof)

    played = asyncio.run(judge())
    assert failed(played) == set()
    for rule in ("MAN-016", "MAN-017", "MAN-018", "MAN-020"):
        assert result(played, rule).verdict == "passed", rule
    assert result(played, "CAP-045").verdict == "not shown"  # it has no reason to reject


def test_our_own_producer_is_not_even_warned_of_but_for_the_short_time_that_the_script_gives(
    good: dict[str, ProducerResults],
) -> None:
    for url in PRODUCER_ADDRESSES:
        assert {one.rule for one in good[url].results if one.verdict == "warning"} == {"HITL-033"}


def test_a_run_in_which_nobody_is_authenticated_says_so(good: dict[str, ProducerResults]) -> None:
    """TR-026: with a warning; where the system itself knows who is there, there is nothing to warn of."""
    for url, played in good.items():
        is_warned = any(one.startswith("Warning:") and "authenticates nobody" in one for one in played.remarks)
        assert is_warned is not url.startswith(("unix:", "pipes:"))


def test_a_producer_without_subscriptions_earns_level_1_and_no_more() -> None:
    """LVL-023"""
    played = asyncio.run(judge_plain(WithoutSubscriptions))
    assert compute_granted_level(played.results) == 1
    assert {all_rules()[rule].level for rule in failed(played)} <= {3}
    assert any("without a subscription" in one for one in played.remarks)


# -- who does not -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bad() -> dict[str, ProducerResults]:
    async def judge() -> list[ProducerResults]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(broken: type[Broken]) -> ProducerResults:
            async with gate:
                return await judge_plain(broken, producer_scenarios(broken))

        return [*await asyncio.gather(*map(one, ALL))]

    return {broken.__name__: played for broken, played in zip(ALL, asyncio.run(judge()), strict=True)}


@pytest.mark.parametrize("broken", ALL, ids=lambda broken: str(broken.__name__))
def test_a_broken_producer_is_failed_for_its_own_rule_and_no_other(
    bad: dict[str, ProducerResults], broken: type[Broken]
) -> None:
    played = bad[broken.__name__]
    assert broken.breaks in failed(played)
    assert failed(played) <= {broken.breaks, *broken.with_it}
    assert compute_granted_level(played.results) < max(all_rules()[broken.breaks].level, 1)
    assert result(played, broken.breaks).advice


def test_for_every_must_that_is_tried_there_is_somebody_who_is_failed_for_it(bad: dict[str, ProducerResults]) -> None:
    broken = {rule for played in bad.values() for rule in failed(played)}
    untried = {
        rule for rule in {*collect_tried_rules(PRODUCER_SCENARIOS)} - broken if all_rules()[rule].keyword == "MUST"
    }
    assert untried == {"SEQ-009"}  # a session that is not over may end yet


def test_for_every_should_about_behaviour_there_is_somebody_who_is_warned_of(bad: dict[str, ProducerResults]) -> None:
    told = {one.rule for each in bad.values() for one in each.results if one.verdict in ("failed", "warning")}
    tried = {
        rule
        for rule in collect_tried_rules(PRODUCER_SCENARIOS)
        if all_rules()[rule].keyword == "SHOULD" and all_rules()[rule].kind == "behaviour"
    }
    assert tried and tried - told == set()


@pytest.mark.parametrize("careless", ALL_CARELESS)
def test_who_neglects_what_is_recommended_is_warned_of_it_and_of_nothing_else(careless: type[Careless]) -> None:
    played = asyncio.run(judge_plain(careless, careless_scenarios(careless)))
    assert warned(played) == {careless.neglects}
    assert failed(played) == set()


def test_that_every_website_may_reply_is_told_as_a_warning_of_our_own() -> None:
    chosen = tuple(one for one in PRODUCER_SCENARIOS if one.name == "other websites cannot reply")
    told = {
        made: [one for one in asyncio.run(judge_plain(made, chosen)).remarks if "Access-Control" in one]
        for made in (OpenToEverySite, Plain)
    }
    assert len(told[OpenToEverySite]) == 1 and told[OpenToEverySite][0].startswith("Warning: /aaep/v1/replies")
    assert told[Plain] == []


@pytest.mark.parametrize("broken", [RejectsAll, SaysYesToEverything, AnswersAnything])
def test_who_lets_nobody_in_is_judged_all_the_same(broken: type[Broken]) -> None:
    played = asyncio.run(judge_plain(broken))
    assert broken.breaks in failed(played) <= {broken.breaks, *broken.with_it}
    assert compute_granted_level(played.results) == 0
    assert any("No subscription was granted" in one for one in played.remarks)


# -- telling it ---------------------------------------------------------------------------------


def report(played: ProducerResults, wanted: int = 3) -> Report:
    return Report("producer", "Agent <x>", "1.0", "http://127.0.0.1:1", "2026-11-15", wanted, played.results)


def test_the_claim_names_level_suite_and_date(good: dict[str, ProducerResults]) -> None:
    """LVL-072, LVL-076, LVL-004, LVL-071"""
    told = report(good["plain"])
    assert told.claim == (
        "Agent <x> 1.0 conforms to AAEP 1.0.0 as a producer at Level 3 (Negotiated), "
        f"verified with the aaep conformance suite {SUITE_VERSION} on 2026-11-15."
    )
    assert told.claim in "\n".join(render_text(told))
    assert json.loads(to_json(told))["claim"] == told.claim


def test_nothing_is_claimed_for_one_who_was_failed(bad: dict[str, ProducerResults]) -> None:
    """TERM-022"""
    told = report(bad["FourTools"])
    assert told.granted_level == 0 and told.claim == "" and not told.has_reached_level
    said = "\n".join(render_text(told))
    assert "TOOL-002, MUST" in said and "To do:" in said and "Claim" not in said
    assert "TOOL-002" in json.loads(to_json(told))["hindrances"]


def test_junit_counts_a_required_rule_that_was_not_shown_as_a_failure(bad: dict[str, ProducerResults]) -> None:
    told = report(bad["StartedAndCompleted"])
    suite = ElementTree.fromstring(render_junit(told))
    cases = {str(case.get("name")).split(" ")[0]: case for case in suite}
    assert cases["LVL-007"].find("failure") is not None
    assert cases["CONF-002"].find("failure") is not None  # no question was ever asked
    assert cases["CLAR-021"].find("skipped") is not None
    assert int(suite.get("failures", "0")) == len(suite.findall("testcase/failure"))
    assert int(suite.get("skipped", "0")) == len(suite.findall("testcase/skipped"))


def test_the_page_holds_every_rule_escapes_what_was_seen_and_runs_nothing(bad: dict[str, ProducerResults]) -> None:
    told = report(bad["TellsWhy"])
    page = "".join(render_html(told))
    assert page.count('<tr role="row" id=') == len(told.results)
    assert "Agent &lt;x&gt;" in page and "<script" not in page
    assert 'href="#CONF-040"' in page and 'id="CONF-040"' in page


# -- the command ----------------------------------------------------------------------------------


def run(*words: str) -> Outcome:
    return CliRunner().invoke(main, ["conformance", *words])


def test_the_command_judges_a_foreign_producer_that_is_started_by_a_request(tmp_path: Path) -> None:
    with Plain() as producer, Desk(producer) as desk:
        page, results = tmp_path / "report.html", tmp_path / "report.xml"
        told = run(
            "producer",
            producer.url,
            *("--start-url", desk.url, "--level", "1", "--json", "--html", str(page), "--junit", str(results)),
        )
    assert told.exit_code == 0, told.output
    members = json.loads(told.stdout)
    assert members["level_granted"] == 1 and members["name"] == "Plain agent" and members["hindrances"] == []
    assert page.read_text().startswith("<!doctype html>")
    assert ElementTree.parse(results).getroot().get("failures") == "0"


def test_the_command_says_so_when_nobody_is_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    told = run("producer", f"http://127.0.0.1:{port}", "--start-command", "true")
    assert told.exit_code == 2
    assert "Is the agent running?" in told.stderr


def test_an_address_that_is_no_aaep_server_is_told_at_once_with_what_was_asked_for() -> None:
    with Plain() as producer:
        told = run("producer", f"{producer.url}/elsewhere", "--start-command", "true")
    assert told.exit_code == 2 and told.stdout == ""
    assert "is no AAEP server" in told.stderr and "/aaep/v1/subscriptions" in told.stderr


@contextmanager
def something_else(status: int, content_type: str, body: bytes) -> Iterator[str]:
    """The address of a server that gives the same answer to everything."""

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Requests) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "content_type", "body"),
    [
        (200, "text/html", b"<h1>Welcome</h1>"),
        (200, "text/plain", b"ok"),
        (301, "text/html", b"Moved"),
        (404, "application/json", b'{"message": "No such page."}'),
        (405, "text/html", b"<h1>Method Not Allowed</h1>"),
        (501, "text/html", b"<h1>Unsupported method</h1>"),  # Python's own server of files, for one
    ],
)
def test_a_server_of_something_else_is_not_judged(status: int, content_type: str, body: bytes) -> None:
    with something_else(status, content_type, body) as url:
        told = run("producer", url, "--start-command", "true")
    assert told.exit_code == 2 and told.stdout == ""
    assert f"{url} is no AAEP server" in told.stderr
    assert "/aaep/v1/subscriptions and /aaep/v1/events were asked for" in told.stderr
    assert ("sends us elsewhere" if status == 301 else f"answered {status}") in told.stderr
    assert told.stderr.count("\n") == 1


def test_a_wrong_content_type_is_told_as_that() -> None:
    played = asyncio.run(judge_plain(MislabelsItsStream))
    assert failed(played) == set()
    assert compute_granted_level(played.results) == 0
    why = "its content type is application/json, not text/event-stream"
    assert any(why in one for one in played.remarks)
    assert not any("No session began" in one for one in played.remarks)
    assert why in result(played, "HITL-020").evidence[0]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["http://127.0.0.1:1", "--start-url", "http://127.0.0.1:1", "--start-command", "true"],
        ["http://127.0.0.1:1", "--start-url", "http://127.0.0.1:1", "--start-body", "{"],
        ["gopher://127.0.0.1"],
        ["http://127.0.0.1:1", "--start-command", "start '"],
        ["--command", "start '"],
    ],
)
def test_what_cannot_be_run_is_told_in_one_line(words: list[str]) -> None:
    told = run("producer", *words)
    assert told.exit_code == 2
    assert told.stderr.startswith("aaep: ") and told.stderr.count("\n") == 1
    assert "program itself" not in told.stderr


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-program-anywhere", "Cannot start 'no-such-program-anywhere'"),
        (shlex.join([sys.executable, "-S", "-c", "raise SystemExit(3)"]), "ended with exit status 3"),
        (shlex.join([sys.executable, "-S", "-c", "print('Hello.')"]), "ended with exit status 0"),
    ],
)
def test_a_program_that_never_answered_is_not_judged(command: str, why: str) -> None:
    told = run("producer", "--command", command, "--start-command", "true")
    assert told.exit_code == 2 and told.stdout == ""
    assert "Nothing could be judged." in told.stderr and why in told.stderr


def test_it_is_told_once_that_the_start_command_failed() -> None:
    with Plain() as producer:
        told = run("producer", producer.url, "--start-command", "false", "--patience", "0.2", "--level", "1", "--json")
    assert told.exit_code == 1
    remarks = json.loads(told.stdout)["remarks"]
    assert [one for one in remarks if "status 1" in one] == [
        "The command that starts a session failed: it was ended with exit status 1."
    ]


def test_a_start_command_may_fail_when_its_session_has_begun() -> None:
    with Plain() as producer, Desk(producer) as desk:
        ask = "import sys, urllib.request as r; r.urlopen(sys.argv[1], sys.argv[2].encode()); sys.exit(1)"
        command = shlex.join([sys.executable, "-c", ask, desk.url, '{"task": "{task}"}'])
        told = run("producer", producer.url, "--start-command", command, "--level", "1", "--json")
    assert told.exit_code == 0
    assert not any("status 1" in one for one in json.loads(told.stdout)["remarks"])


@pytest.mark.parametrize("words", [["http://[::1"], ["http://127.0.0.1:1", "--start-url", "http://[::1/{task}"]])
def test_an_address_that_is_none_is_told_as_such(words: list[str]) -> None:
    told = run("producer", *words)
    assert told.exit_code == 2 and told.stderr.startswith("aaep: ") and "is not a URL" in told.stderr


def test_a_producer_that_never_begins_anything_is_not_passed() -> None:
    with Plain() as producer:
        told = run("producer", producer.url, "--wait", "0.1", "--level", "1", "--json")
    assert told.exit_code == 1
    members = json.loads(told.stdout)
    assert members["level_granted"] == 0 and "SEQ-009" in members["hindrances"]
    assert {one["rule"]: one["verdict"] for one in members["results"]}["SEQ-009"] == "not shown"


def test_a_good_recording_is_judged_and_no_level_is_claimed_from_it() -> None:
    told = run("capture", str(EXAMPLES / "bank.ndjson"), "--json")
    assert told.exit_code == 0, told.output
    members = json.loads(told.stdout)
    assert members["claim"] is None and members["level_granted"] is None
    verdicts = {one["rule"]: one["verdict"] for one in members["results"]}
    assert verdicts["TOOL-002"] == "passed" and verdicts["CONF-040"] == "not shown"


def test_a_recording_in_which_something_runs_unasked_is_failed_for_it(tmp_path: Path) -> None:
    lines = (EXAMPLES / "bank.ndjson").read_text().splitlines()
    kept = [line for line in lines if "awaiting.confirmation" not in line and "confirmation.reply" not in line]
    bare = tmp_path / "unasked.ndjson"
    bare.write_text("\n".join(kept) + "\n")
    told = run("capture", str(bare))
    assert told.exit_code == 1
    assert "TOOL-002, MUST" in told.stdout


def test_what_follows_a_recorded_loss_is_not_failed(tmp_path: Path) -> None:
    lines = (EXAMPLES / "bank.ndjson").read_text().splitlines()
    entry = json.loads(lines[1])
    gap = json.dumps({"at": entry["at"], "via": entry["via"], "gap": "missed"})
    path = tmp_path / "holes.ndjson"
    for between, status in (([], 1), ([gap], 0)):
        path.write_text("\n".join([*lines[:5], *between, *lines[7:]]) + "\n")
        assert run("capture", str(path)).exit_code == status


def test_every_transport_is_judged() -> None:
    judged = {name_of(url) for url in PRODUCER_ADDRESSES}
    assert judged - {"end_to_end"} | {"stdio"} == set(transports())  # the pipes of the tests stand for stdio
