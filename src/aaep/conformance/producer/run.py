"""
Playing every scenario against a live producer, one after the other, with one reader that hears it all.

The order matters in two places: what needs that nobody can answer is played
before anybody came who could, since one that was cut off may come back; and
what judges by what others were answered, or heard, comes after them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Final

from .. import Result
from ..judge import Judged, Ledger, audited, excerpt
from ..judge import judge as judged_by
from ..scenario import SCENARIOS, Scenario, live, numbered
from ..undecidable import UNDECIDABLE
from . import scenarios_consent as consent
from . import scenarios_manifest as proof
from . import scenarios_sessions as streams
from . import scenarios_terms as terms
from .harness import CONNECTING, LISTENS, REPLIES, Reader, Stage, Start, Unplayable

__all__ = [
    "PRODUCER",
    "UNDECIDABLE",
    "Judged",
    "Played",
    "Scenario",
    "Start",
    "excerpt",
    "judge_producer",
    "judge_recording",
    "live",
    "play",
]

_ORDER: Final = (
    consent.nobody_can_answer,
    consent.the_only_one_who_can_answer_leaves,
    terms.subscriptions_are_granted_within_what_was_asked,
    streams.a_session_from_beginning_to_end,
    consent.two_readers_answer_and_the_first_counts,
    consent.wrong_replies_do_nothing,
    consent.two_questions_are_open_and_one_is_answered,
    consent.a_no_stops_the_action,
    consent.a_yes_to_something_else_is_a_no,
    consent.time_runs_out,
    consent.a_question_is_withdrawn,
    consent.no_answer_tells_why,
    consent.a_question_is_answered,
    streams.sessions_that_do_not_end_well,
    streams.a_reader_comes_late,
    streams.tokens_are_never_used_twice,
    consent.what_nobody_agreed_to_was_not_done,
    terms.requests_of_an_unusual_kind,
    terms.the_manifest_can_be_read,
    proof.a_manifest_is_signed_where_that_is_demanded,
    terms.filters_hold_and_critical_events_pass_them,
    terms.a_slow_reader_gets_less_and_critical_events_at_once,
    terms.terms_are_renegotiated,
    streams.a_reader_is_cut_off_and_comes_back,
    streams.a_reader_leaves,
    streams.nonsense_does_no_harm,
)
PRODUCER: Final[tuple[Scenario, ...]] = tuple(
    next(one for one in SCENARIOS if one.play is function) for function in _ORDER
)

_REFUSING: Final = 1.0  # seconds within which a stream is refused, if it is
_LOCAL: Final = ("unix", "stdio", "pipes")  # where the system knows who is at the other end
# TR-026 §8.2.7
_OPEN: Final = (
    "Warning: we showed no credential, so this producer was judged on a connection that authenticates nobody. "
    "That is for tests only. Where others can connect, use TLS and a credential."
)


class Played:
    """What came of a run."""

    def __init__(self, stage: Stage, results: list[Result]) -> None:
        self.producer, self.remarks = stage.producer, stage.ledger.remarks
        self.results, self.lines = results, stage.lines


async def play(stage: Stage, scenarios: Collection[Scenario], say: Callable[[str], object] = lambda _: None) -> None:
    """Play these, each as far as it goes."""
    try:
        await _with(stage, LISTENS, [one for one in scenarios if one.alone], say)
        await _with(stage, REPLIES, [one for one in scenarios if not one.alone], say)
    finally:
        await stage.close()


async def _with(
    stage: Stage, capabilities: dict[str, Any], scenarios: list[Scenario], say: Callable[[str], object]
) -> None:
    """With a reader that hears everything while they are played."""
    if not scenarios:
        return
    reader = Reader(stage)
    try:
        await _listen_throughout(stage, reader, capabilities)
        for one in scenarios:
            say(one.name)
            try:
                await one.play(stage)
            except Unplayable as error:
                stage.ledger.remark(f"{one.name.capitalize()}: {error}")
    finally:
        await reader.leave()
        stage.main, stage.playing = None, False
        stage.older |= {one.session for one in reader.heard}


async def _listen_throughout(stage: Stage, reader: Reader, capabilities: dict[str, Any]) -> None:
    # Only one that can answer is sure to hear what is asked, so only its recording is judged as a whole (CAP-014).
    reader.main = capabilities is REPLIES
    try:
        await reader.join(capabilities)
    except Unplayable as error:
        stage.ledger.remark(str(error))
        if not stage.posts:
            return
        reader.id = ""  # LVL-023: at Level 1 one may listen without having asked
    reader.listen()
    await asyncio.sleep(CONNECTING)  # what is going on already comes first
    if not reader.accepted:
        await reader.find(lambda _: True, _REFUSING)
        if reader.ended:
            return
        stage.ledger.remark("It is listened to without a subscription, which Level 1 allows.")
    stage.main, stage.playing = reader, True


async def judge_producer(
    url: str,
    start: Start | None,
    *,
    level: int = 3,
    strict: bool = False,
    scenarios: Collection[Scenario] = PRODUCER,
    say: Callable[[str], object] = lambda _: None,
    certified: bool = False,
    **settings: Any,
) -> Played:
    """
    Put a producer to everything that a level demands, or to these scenarios only, and judge it.

    ``certified``: a certificate among the settings shows who we are, which cannot be told from an SSL context.
    """
    stage = Stage(url, start, **settings)
    if not certified and not settings.get("token") and stage.scheme not in _LOCAL:
        stage.ledger.remark(_OPEN)
    chosen = [one for one in scenarios if one.level <= level]
    await play(stage, chosen, numbered(say, len(chosen)))
    found: Judged = audited(stage.lines, strict=strict)
    _consequences(stage.ledger, found)
    return Played(stage, judged_by(found, stage.ledger, live=live(PRODUCER), undecidable=UNDECIDABLE))


def judge_recording(judged: Judged) -> list[Result]:
    """What a recording shows of a producer: the messages, but nothing that somebody has to provoke."""
    return judged_by(judged, Ledger(), live=live(PRODUCER), undecidable=UNDECIDABLE)


def _consequences(ledger: Ledger, found: Judged) -> None:
    """What the audit calls one thing breaks the behaviour rule of the same content too."""
    for finding, text in found.findings:
        if finding.rule == "TOOL-002" and finding.severity == "error":
            ledger.fail("HITL-001", f"{finding.message} {text}")
