"""An agent or a hub that is killed at random moments: the journal tells the truth, and a reader misses nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.kills import Verdict, kill_agents, kill_hubs

KILLS = 100


@pytest.mark.parametrize("kill", [kill_agents, kill_hubs])
def test_after_every_kill_the_journal_tells_what_was_done(kill: Callable[[Path, int], Verdict], tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    verdict = kill(tmp_path, KILLS)
    assert verdict.is_good, verdict
    assert verdict.done > KILLS and verdict.heard > KILLS
