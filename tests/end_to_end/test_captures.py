"""What the demo records of every scenario is sound, judged as strictly as a producer judges itself."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from aaep.cli._demo_agent import DEMO_SCENARIOS
from tests.end_to_end.processes import COMMAND, ROOT
from tests.end_to_end.readers import kinds, outcomes
from tests.end_to_end.wires import LONG, Json

ANSWERS = ("accept", "reject", "none")
RUNS = [(scenario, answer) for scenario in DEMO_SCENARIOS for answer in ANSWERS]
OUTCOMES = {"accept": "accepted", "reject": "rejected", "none": "timed_out"}
ENDS = {"error": "session.errored", "cancel": "session.cancelled"}


def aaep(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *COMMAND, *arguments],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=3 * LONG,
        check=False,
    )


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, str], Path]]:
    """A recording of each; made at once, for some wait until their time is up."""
    folder = tmp_path_factory.mktemp("captures")

    def record(run: tuple[str, str]) -> Path:
        scenario, answer = run
        path = folder / f"{scenario}-{answer}.ndjson"
        done = aaep("demo", "--scenario", scenario, "--answer", answer, "--capture", str(path))
        assert done.returncode == 0, done.stdout + done.stderr
        return path

    with ThreadPoolExecutor(6) as pool:
        yield dict(zip(RUNS, pool.map(record, RUNS), strict=True))


def test_the_recording_of_every_scenario_is_sound(captures: dict[tuple[str, str], Path]) -> None:
    done = aaep("validate", "--level", "3", "--strict", *map(str, captures.values()))
    assert done.returncode == 0, done.stdout + done.stderr
    for path in captures.values():
        assert path.name in done.stdout


@pytest.mark.parametrize(("scenario", "answer"), RUNS)
def test_every_scenario_ends_as_it_was_answered(
    captures: dict[tuple[str, str], Path], scenario: str, answer: str
) -> None:
    lines = [json.loads(line) for line in captures[scenario, answer].read_text().splitlines()]
    assert lines[0]["aaep_capture"] == 1
    events: list[Json] = [line["message"] for line in lines[1:] if "event_id" in line["message"]]
    replies = [line["message"] for line in lines[1:] if line["dir"] == "in" and "reply_token" in line["message"]]
    assert kinds(events)[0] == "session.started"
    assert kinds(events)[-1] == ENDS.get(scenario, "session.completed")
    prompts = [event for event in events if "reply_token" in event]
    assert bool(prompts) is (scenario in ("money", "clarification"))
    assert len(replies) == (len(prompts) if answer != "none" else 0)
    tools = [event["tool"] for event in events if event["type"].endswith("tool.invoked")]
    assert ("transfer_funds" in tools) is ((scenario, answer) == ("money", "accept"))
    if scenario == "money":
        assert outcomes(events, prompts[0]) == [OUTCOMES[answer]]
    if scenario == "clarification":
        assert outcomes(events, prompts[0]) == ["timed_out" if answer == "none" else "answered"]
        assert ("handoff.requested" in kinds(events)) is (answer == "none")
