"""Real coding agents with a scripted model: what was refused is not done, and what nobody was asked about is told."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aaep.adapters.acp_agents import NotAsking
from aaep.protocol.events import AwaitingConfirmation
from tests.coding_agents.real import FREE, PROPRIETARY, ROOT, RealAgent, Stage, staged
from tests.coding_agents.scripted_model import CLOSING_WORDS, LYING_WORDS, OPENING_WORDS, ScriptedModel

REAL_AGENTS = {real.name: real for real in (*FREE, *PROPRIETARY)}
MARKS = {
    **{real.name: pytest.mark.real_agents for real in FREE},
    **{real.name: pytest.mark.proprietary_agents for real in PROPRIETARY},
}


def agents(*names: str) -> pytest.MarkDecorator:
    """Run a test with each of these agents, by default with all."""
    return pytest.mark.parametrize(
        "real", [pytest.param(REAL_AGENTS[name], marks=MARKS[name], id=name) for name in names or REAL_AGENTS]
    )


def answer_by_name(prompt: AwaitingConfirmation) -> str:
    """Refuse what has REFUSED in it, and accept the rest."""
    return "reject" if "REFUSED" in prompt.action else "accept"


@agents()
def test_what_was_accepted_is_done_and_what_was_refused_is_not(tmp_path: Path, real: RealAgent) -> None:
    """Both in one turn, so a yes for one command is seen to be no yes for the next."""
    with staged(tmp_path, real, "touch RAN", "touch REFUSED", answer=answer_by_name) as stage:
        result = stage.prompt()
        assert result.refusals == 1 and result.unasked == ()
        asked = [prompt.action for prompt in stage.listener.prompts if isinstance(prompt, AwaitingConfirmation)]
        assert len(asked) == 2
        assert "touch RAN" in asked[0] and "touch REFUSED" in asked[1]
        assert len(stage.listener.tools) == 1  # what was refused is not told as if it had begun
        assert OPENING_WORDS in stage.listener.output
        assert LYING_WORDS not in " ".join(stage.listener.heard)
        assert stage.model.unknown_paths == []
        stage.check()
    # And nothing is left that could still do it.
    assert stage.has("RAN") and not stage.has("REFUSED")


@agents()
def test_what_runs_unasked_is_told_and_the_turn_is_stopped(tmp_path: Path, real: RealAgent) -> None:
    """The table is wrong about the agent here, as it may become with any new version."""
    with staged(tmp_path, real, "touch RAN", "touch LATER", hold=1, asks=False) as stage:
        result = stage.prompt()
        stage.model.release()
        assert stage.has("RAN")
        assert stage.listener.prompts == []
        assert len(result.unasked) == 1 and "touch RAN" in result.unasked[0]
        stage.check()
        told = " ".join(stage.listener.heard)
        assert "It did this without asking:" in told and "It is being stopped." in told
        # An agent that waits for its model may not hear that it is to stop, as goose does not: then it is ended.
        has_stopped = stage.listener.types[-1] == "session.cancelled"
        assert has_stopped or "It did not stop, so its program was ended." in told
        assert CLOSING_WORDS not in stage.listener.output
    assert not stage.has("LATER")


@agents("goose", "opencode")
def test_with_allow_unasked_what_runs_is_told_and_the_turn_goes_on(tmp_path: Path, real: RealAgent) -> None:
    with staged(tmp_path, real, "touch RAN", "touch LATER", asks=False, allow_unasked=True) as stage:
        result = stage.prompt()
        assert stage.has("RAN") and stage.has("LATER")
        assert result.is_done and len(result.unasked) == 2
        stage.check()
        assert " ".join(stage.listener.heard).count("It did this without asking:") == 2


@agents("goose", "codex")
def test_in_a_mode_in_which_it_does_not_ask_an_agent_is_not_used(tmp_path: Path, real: RealAgent) -> None:
    with ScriptedModel(["touch RAN"]) as model:
        stage = Stage(tmp_path, real, model, asks=False)
        stage.agent.agent = replace(stage.agent.agent, mode=None)
        try:
            with pytest.raises(NotAsking, match="acts without asking, so it was ended again"):
                stage.agent.start()
            assert not stage.agent.is_running
        finally:
            stage.close()


# -- a bridge that is killed ---------------------------------------------------------------------------------

BRIDGE = """
import sys
from pathlib import Path
from aaep.protocol.events import AwaitingConfirmation
from tests.coding_agents.real import Stage
from tests.coding_agents.test_real_agents import REAL_AGENTS

class Model:
    address = sys.argv[3]

def tell(said):
    if said.asks:
        print(said.text, flush=True)

stage = Stage(Path(sys.argv[1]), REAL_AGENTS[sys.argv[2]], Model(), answer="silence", on_announcement=tell)
stage.agent.start()
stage.prompt()
"""


def find_descendants(pid: int) -> Iterator[int]:
    """Return the processes that a process has started, and those that they have started."""
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield child
            yield from find_descendants(child)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
@agents()
def test_a_killed_bridge_runs_nothing_and_leaves_nothing_behind(tmp_path: Path, real: RealAgent) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with ScriptedModel(["touch RAN"], extra=real.extra) as model:
        command = [sys.executable, "-c", BRIDGE, str(tmp_path), real.name, model.address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT) as bridge:
            assert bridge.stdout is not None
            assert "touch RAN" in bridge.stdout.readline()
            watched = [os.pidfd_open(pid) for pid in find_descendants(bridge.pid)]
            assert len(watched) >= 2  # the guard and the agent
            bridge.kill()
            for descriptor in watched:
                assert select.select([descriptor], [], [], 30)[0], "the process has ended"
                os.close(descriptor)
    assert not (tmp_path / "work" / "RAN").exists()
