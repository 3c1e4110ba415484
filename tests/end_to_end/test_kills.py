"""An agent that is killed at random moments leaves a journal that tells the truth."""

from __future__ import annotations

from pathlib import Path

from bench.kills import kill_agents

KILLS = 100


def test_after_every_kill_the_journal_tells_what_was_done(tmp_path: Path) -> None:
    verdict = kill_agents(tmp_path, KILLS)
    assert verdict.is_good, verdict
    assert verdict.done > KILLS
