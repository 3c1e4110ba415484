"""An agent or a hub that is killed at random moments: the journal tells the truth, and a reader misses nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bench.kills import SLOW_SHARE, Verdict, kill_agents, kill_hubs

KILLS = 100


@pytest.mark.longest
@pytest.mark.parametrize("is_slow", [False, True], ids=["fast reader", "slow reader"])
@pytest.mark.parametrize("kill", [kill_agents, kill_hubs])
def test_after_every_kill_the_journal_tells_what_was_done(
    kill: Callable[..., Verdict], is_slow: bool, tmp_path: Path
) -> None:
    tmp_path.chmod(0o700)
    kills = KILLS // SLOW_SHARE if is_slow else KILLS
    verdict = kill(tmp_path, kills, is_slow=is_slow)
    assert verdict.is_good, verdict
    assert verdict.done > kills and verdict.heard > kills
