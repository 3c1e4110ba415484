"""The table of all peers and verdicts, which ``make peers`` prints."""

from __future__ import annotations

import pytest

from scripts import peers
from tests.broken import producers, subscribers
from tests.peers import Expected, all_peers


def test_every_peer_has_a_row() -> None:
    named = {(peer.side, peer.name) for peer in all_peers("/nowhere")}
    for side, made in (("producer", [*producers.ALL, *producers.ALL_CARELESS]), ("subscriber", subscribers.ALL)):
        assert {(side, one.__name__) for one in made} <= named


def test_the_table_says_what_was_expected_and_what_was_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert peers.main(["FramesWithoutName"]) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[:2] == [
        "peer                        expected           verdict",
        "producer FramesWithoutName  warned of SSE-009  warned of SSE-009",
    ]
    assert "1 peers, 0 with another verdict than expected, in 0 min" in told.out
    assert "1 of 1: producer FramesWithoutName: warned of SSE-009" in told.err
    monkeypatch.setattr(producers.FramesWithoutName, "neglects", "CONF-011")
    assert peers.main(["FramesWithoutName"]) == 1
    assert "differs" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (Expected(3), "Level 3"),
        (Expected(0), "no level"),
        (Expected(breaks="TOOL-002"), "failed for TOOL-002"),
        (Expected(neglects="SSE-009"), "warned of SSE-009"),
        (Expected(3, neglects="ENV-008"), "Level 3, warned of ENV-008"),
        (Expected(3, remark="Access"), "Level 3, with a remark"),
    ],
)
def test_a_verdict_is_told_in_words(expected: Expected, words: str) -> None:
    assert str(expected) == words
