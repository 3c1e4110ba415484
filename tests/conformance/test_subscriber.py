"""The conformance suite for subscribers: ours and a plain one earn Level 3, and who breaks a rule is failed for it."""

from __future__ import annotations

import asyncio
import json
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest
from click.testing import CliRunner
from click.testing import Result as Outcome

import tests.end_to_end.pipes  # noqa: F401  # which makes an address known
from aaep.cli import main
from aaep.conformance.judge import compute_granted_level
from aaep.conformance.producer.run import UNDECIDABLE_RULES
from aaep.conformance.subscriber.fake_producer import FakeProducer
from aaep.conformance.subscriber.raw_http import RawHttpServer
from aaep.conformance.subscriber.run import (
    SUBSCRIBER_SCENARIOS,
    SubscriberLauncher,
    SubscriberResults,
    collect_tried_rules,
    judge_subscriber,
)
from aaep.identity.signing_keys import SigningKey
from aaep.protocol.attend_extension import attend_registry
from aaep.protocol.audit import explain
from aaep.protocol.catalogue import all_rules
from tests.broken.good_reader import Reader
from tests.broken.subscribers import ALL, Broken
from tests.end_to_end.wires import name_of, transports
from tests.listening import ours, plain
from tests.peers import (
    PATIENCE,
    SUBSCRIBER_ADDRESSES,
    failed,
    judge_broken_subscriber,
    judge_good_subscriber,
    left_out,
    result,
)

HERE = Path(__file__).parents[1]
READER = HERE / "broken" / "good_reader.py"
PLAIN = shlex.join([sys.executable, "-S", "-E", str(READER)])
LISTEN = shlex.join([sys.executable, "-c", "from aaep.cli import main; main()", "listen"])
AT_ONCE = 16  # subscribers that are judged side by side: they mostly wait
FEW = 2  # of those who must keep every time limit, of their own and of the rules


@pytest.fixture(scope="module")
def key() -> SigningKey:
    return SigningKey.generate("RS256", "conformance")


# -- who keeps the rules -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def good(key: SigningKey) -> Iterator[dict[str, SubscriberResults]]:
    """Ours over every transport, and one that was written without our library, side by side."""

    async def judge(folder: str) -> dict[str, SubscriberResults]:
        gate = asyncio.Semaphore(FEW)

        async def one(begin: SubscriberLauncher, *at: str) -> SubscriberResults:
            async with gate:
                return await judge_good_subscriber(begin, key, *at)

        listened = await asyncio.gather(
            *(one(ours, url.format(folder=folder)) for url in SUBSCRIBER_ADDRESSES), one(plain(Reader))
        )
        return dict(zip([*SUBSCRIBER_ADDRESSES, "plain"], listened, strict=True))

    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o700)
        yield asyncio.run(judge(folder))


@pytest.mark.parametrize("which", [*SUBSCRIBER_ADDRESSES, "plain"])
def test_a_good_subscriber_earns_level_3(good: dict[str, SubscriberResults], which: str) -> None:
    listened = good[which]
    assert failed(listened) == set()
    assert left_out(listened) == set()
    assert compute_granted_level(listened.results) == 3


def test_nothing_is_passed_that_was_not_seen(good: dict[str, SubscriberResults]) -> None:
    for listened in good.values():
        assert all(one.evidence for one in listened.results)
    assert result(good["http://127.0.0.1:0"], "SSE-021").verdict == "passed"
    assert result(good["grpc://127.0.0.1:0"], "SSE-021").verdict == "not applicable"


def test_no_good_subscriber_is_even_warned_of(good: dict[str, SubscriberResults]) -> None:
    for listened in good.values():
        assert {one.rule for one in listened.results if one.verdict == "warning"} == set()


def test_every_event_that_is_played_as_good_is_valid_by_the_strict_grading(good: dict[str, SubscriberResults]) -> None:
    played = [
        message.raw
        for listened in good.values()
        for messages in listened.messages_by_run
        for message in messages
        if message.is_from_producer and message.is_audited
    ]
    kinds = {json.loads(raw)["type"] for raw in played}
    assert {"aaep:agent.session.errored", "aaep:agent.progress.updated", "lights:lamp.lit"} <= kinds
    wrong = [
        (finding.rule, finding.message)
        for raw in played
        for finding in explain(raw, attend_registry(), strict=True)
        if finding.severity == "error"
    ]
    assert wrong == []


def test_who_is_judged_is_known_by_what_it_says_of_itself(good: dict[str, SubscriberResults]) -> None:
    assert (good["plain"].name, good["plain"].version) == ("Plain reader", "0.1.0")


def test_every_transport_is_judged() -> None:
    judged = {name_of(url) for url in SUBSCRIBER_ADDRESSES}
    assert judged - {"end_to_end"} | {"stdio"} == set(transports())  # the pipes of the tests stand for stdio


# -- who does not -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bad(key: SigningKey) -> dict[str, SubscriberResults]:
    async def judge() -> list[SubscriberResults]:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(broken: type[Broken]) -> SubscriberResults:
            async with gate:
                return await judge_broken_subscriber(broken, key)

        return [*await asyncio.gather(*map(one, ALL))]

    return {broken.__name__: listened for broken, listened in zip(ALL, asyncio.run(judge()), strict=True)}


@pytest.mark.parametrize("broken", ALL, ids=lambda broken: str(broken.__name__))
def test_a_broken_subscriber_is_failed_for_its_own_rule_and_no_other(
    bad: dict[str, SubscriberResults], broken: type[Broken]
) -> None:
    listened = bad[broken.__name__]
    assert broken.breaks in failed(listened)
    assert failed(listened) <= {broken.breaks, *broken.with_it}
    assert compute_granted_level(listened.results) < max(all_rules()[broken.breaks].level, 1)
    assert result(listened, broken.breaks).advice


def test_for_every_must_that_is_tried_there_is_somebody_who_is_failed_for_it(bad: dict[str, SubscriberResults]) -> None:
    broken = {rule for listened in bad.values() for rule in failed(listened)}
    waited_for = {rule for rule, level in collect_tried_rules(SUBSCRIBER_SCENARIOS).items() if level is not None}
    tried = {rule for rule in collect_tried_rules(SUBSCRIBER_SCENARIOS) if all_rules()[rule].keyword == "MUST"}
    assert (waited_for | tried) - broken == set()


def test_for_every_should_that_is_tried_there_is_somebody_who_is_warned_of(bad: dict[str, SubscriberResults]) -> None:
    told = {one.rule for each in bad.values() for one in each.results if one.verdict in ("failed", "warning")}
    tried = {rule for rule in collect_tried_rules(SUBSCRIBER_SCENARIOS) if all_rules()[rule].keyword == "SHOULD"}
    assert tried and tried - told == set()


class Impatient(Reader):
    """Comes back at once when it is told to wait."""

    def rejected(self) -> bool:
        self.post("/aaep/v1/subscriptions", self.request())
        return False


def test_what_should_not_be_is_warned_of_and_costs_no_level() -> None:
    chosen = [one for one in SUBSCRIBER_SCENARIOS if "SUB-045" in one.optional_rules]
    listened = asyncio.run(judge_subscriber(plain(Impatient), scenarios=chosen, patience=1.0))
    assert result(listened, "SUB-045").verdict == "warning"
    assert failed(listened) == set()


def test_the_rules_that_are_tried_are_a_subscribers() -> None:
    assert {all_rules()[rule].role for rule in collect_tried_rules(SUBSCRIBER_SCENARIOS)} <= {"subscriber", "both"}
    assert not {*UNDECIDABLE_RULES} & {*collect_tried_rules(SUBSCRIBER_SCENARIOS)}


@pytest.mark.parametrize("turns", range(6))
def test_who_comes_while_the_played_producer_leaves_is_let_go_of(turns: int) -> None:
    """Else a connection stays behind that nobody closes."""

    async def come() -> socket.socket:
        door = await RawHttpServer.serve(cast(FakeProducer, None), "http://127.0.0.1:0")  # nobody asks it anything
        comer = socket.create_connection(("127.0.0.1", int(door.url.rpartition(":")[2])))
        for _ in range(turns):
            await asyncio.sleep(0)  # the loop goes on so far
        await door.close()
        return comer

    with asyncio.run(come()) as comer:
        comer.settimeout(PATIENCE)
        with suppress(ConnectionResetError):  # it was not let in at all
            assert comer.recv(1) == b""


# -- the command ----------------------------------------------------------------------------------


def run(*words: str) -> Outcome:
    return CliRunner().invoke(main, ["conformance", "subscriber", *words])


def test_a_subscriber_is_started_by_a_command_and_driven_by_tasks() -> None:
    told = run("--command", f"{PLAIN} {{url}} {{task}} {{keys}}", "--patience", "10", "--json")
    assert told.exit_code == 0, told.output
    members = json.loads(told.stdout)
    assert members["level_granted"] == 3 and members["side"] == "subscriber" and members["hindrances"] == []
    assert members["claim"].startswith("Plain reader 0.1.0 conforms to AAEP 1.0.0 as a subscriber at Level 3")
    assert {one["rule"]: one["verdict"] for one in members["results"]}["MAN-023"] == "passed"


def test_aaep_listen_is_driven_by_its_standard_input_and_shows_what_it_announces() -> None:
    told = run(
        *("--command", f"{LISTEN} {{url}} --announcements", "--level", "1", "--json"), "--patience", str(PATIENCE)
    )
    assert told.exit_code == 0, told.output
    members = json.loads(told.stdout)
    assert members["level_granted"] == 1 and members["name"] == "AAEP for Python"


def test_what_is_not_printed_is_not_shown() -> None:
    """A subscriber that answers well and shows nothing of what it presents reaches no level."""
    program = "import os, runpy, sys; os.dup2(2, 1); sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
    silent = shlex.join([sys.executable, "-S", "-E", "-c", program, str(READER), "{url}", "{task}"])
    told = run("--command", silent, "--patience", "1", "--json")
    assert told.exit_code == 1, told.output
    members = json.loads(told.stdout)
    verdicts = {one["rule"]: one["verdict"] for one in members["results"]}
    assert members["level_granted"] == 0
    assert verdicts["LVL-017"] == verdicts["TR-015"] == verdicts["HITL-015"] == "not shown"
    assert verdicts["HITL-009"] == verdicts["SEC-007"] == verdicts["SUB-065"] == "passed"
    assert any("one JSON object for each" in one for one in members["remarks"])
    assert "one JSON object for each" in next(
        one["evidence"][0] for one in members["results"] if one["rule"] == "TR-012"
    )


def test_somebody_can_start_it_by_hand(tmp_path: Path) -> None:
    """With a URL, standard error says what to do; here a thread does it."""
    program = [sys.executable, "-c", "from aaep.cli import main; main()", "conformance", "subscriber"]
    asked = ["http://127.0.0.1:0", "--level", "1", "--patience", "0.3", "--json"]
    reader = None
    told = []
    report = tmp_path / "report.json"
    with (
        report.open("wb") as out,
        subprocess.Popen([*program, *asked], stdout=out, stderr=subprocess.PIPE, text=True) as suite,
    ):
        assert suite.stderr is not None
        for line in suite.stderr:
            told.append(line)
            if "Start the subscriber at http://" in line:
                reader = Reader(line.split(" at ")[1].split(". ")[0], "none", "", lambda _: None)
                threading.Thread(target=reader.run, daemon=True).start()
            if "End the subscriber now." in line and reader is not None:
                reader.stop()
    members = json.loads(report.read_bytes())
    assert suite.returncode == 1 and members["level_granted"] == 0  # nobody saw what it presents
    assert members["name"] == "Plain reader"
    assert sum("Start the subscriber" in line for line in told) == sum(one.level == 1 for one in SUBSCRIBER_SCENARIOS)
    assert all(line.startswith("aaep: ") for line in told)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "Name the subscriber"),
        (["http://127.0.0.1:0", "--command", "reader {url}"], "Name the subscriber"),
        (["--command", "reader"], "Write {url}"),
        (["--command", "reader {url} '"], "cannot be taken apart: no closing quotation."),
        (["--command", "/nowhere/reader {url}"], "cannot be started"),
        (["--command", "true {url}"], "never came"),
        (["--command", "true {url}", "--at", "gopher://127.0.0.1"], "no transport"),
        (["--command", "true {url}", "--at", "http://[::1"], "not a URL"),
        (["--command", "true {url}", "--at", "http://127.0.0.1:many"], "not a URL"),
        (["--command", "true {url}", "--at", "ws://[::1"], "not a URL"),
    ],
)
def test_what_cannot_be_run_is_told_in_one_line(words: list[str], why: str) -> None:
    told = run(*words)
    assert told.exit_code == 2
    assert told.stderr.startswith("aaep: ") and told.stderr.count("\n") == 1
    assert why in told.stderr
