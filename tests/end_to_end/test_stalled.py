"""A reader that does not read, beside one that does."""

from __future__ import annotations

import threading
from collections.abc import Callable

from aaep.producer.session import Session
from tests.end_to_end.conftest import Bank
from tests.end_to_end.readers import ANSWERS, ENDS, PROMPT, critical, ids, outcomes, text
from tests.end_to_end.wires import LONG, Json

BATCH = 10  # lines, which fit into what a hub lets a reader leave lying: who reads them is never behind
LINE = "word " * 3200 + "end. "  # of which a few thousand are more than any buffer between two sockets holds
MOST = 300  # batches


class Pace:
    """Lets the agent write as much as the healthy reader has read, so that only the other one is behind."""

    def __init__(self) -> None:
        self.batches = threading.Semaphore(1)
        self.enough = threading.Event()


def test_a_stalled_reader_delays_nobody_and_loses_nothing_critical(bank: Bank) -> None:
    pace = Pace()

    def script(session: Session) -> None:
        bank.transfer("$1")
        with session.output() as out:
            while not pace.enough.is_set():
                assert pace.batches.acquire(timeout=LONG)
                for _ in range(BATCH):
                    out.write(LINE)
        bank.transfer("$2")
        session.fail("It did not work out.")

    healthy = bank.reader(**ANSWERS | {"coalesce_boundaries": ["sentence", "completion"]})
    stalled = bank.reader(**ANSWERS)
    with stalled.connect(buffer=4096) as asleep, healthy.connect() as awake:
        bank.start(script)
        healthy.send(healthy.wait(awake, PROMPT))
        batches = 0
        while not pace.enough.is_set():
            # The last line of a batch waits for what follows it.
            assert healthy.take(awake, _reached((batches + 1) * BATCH - 1)) is not None
            batches += 1
            if "slow_consumers_total 1" in bank.producer.hub.metrics() or batches == MOST:
                pace.enough.set()
            pace.batches.release()
        second = healthy.wait(awake, PROMPT)
        healthy.send(second)
        healthy.wait(awake, *ENDS)
        bank.finish()

        # Only now does the other one wake up.
        assert stalled.take(asleep, lambda _: False) is None
        assert asleep.closing is not None and asleep.closing["reason_code"] == "slow_consumer"
        assert set(critical(bank.journal)) - set(ids(stalled.got)), "It was not behind, so nothing is shown."
    with stalled.connect() as again:
        stalled.wait(again, *ENDS)
    said = bank.journal
    assert ids(healthy.got) == ids(said)
    assert set(critical(said)) <= set(ids(stalled.got))
    assert text(healthy.got) == text(said)
    assert bank.ran == ["$1", "$2"]
    assert outcomes(stalled.got, second) == ["accepted"]
    assert healthy.errors() == []


def _reached(lines: int) -> Callable[[Json], bool]:
    """Whether an event takes its output up to so many lines."""
    return lambda event: "chunk" in event and event["position"] + len(event["chunk"]) >= lines * len(LINE)
