"""Scenarios about hearing: what is announced, when, how often and in which order, and what is lived through."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from typing import Any, Final

from ...protocol.fields import CORE_CONTEXT
from ..judge import excerpt
from ..producer.harness import Json
from .fake_producer import Session
from .harness import Scene, Stage, Unplayable, scene

__all__ = ["PROBES"]

_ANNOUNCE: Final = "Announce it when it comes."
_DOZEN: Final = 12  # events between one and its repetition, so that it is not enough to remember the last few
_CRITICAL: Final = "Announce what is critical as soon as it comes, before whatever else waits."


@scene(1, "LVL-017 LVL-018 OUT-007 STATE-005", "STATE-006")
async def sessions_are_told_from_beginning_to_end(stage: Stage) -> None:
    async with stage.scene() as playing:
        ledger, session = stage.ledger, playing.session
        await playing.opening()
        ledger.show("LVL-015", f"It heard the first event and announced it: {playing.told[0].text}")
        for event in (Session().started("Reading the post."), session.tool("Buying stamps.")):
            told = await playing.hear(event)
            _announced(stage, "LVL-017", told is not None, event)
        known = await playing.hear(session.state("thinking", "It is thinking about stamps.", "calling_tool"))
        odd = session.state("licking_stamps", "It is licking stamps now.")
        told = await playing.hear(odd, None if known is not None else stage.quiet)
        if known is not None or told is not None:
            for rule in ("STATE-005", "STATE-006"):
                ledger.decide(
                    rule,
                    told is not None,
                    f"A state that nobody knows was announced: {told.text if told is not None else ''}",
                    f"A state that is known was announced and this one was not: {excerpt(odd)}",
                    "Announce a state with an unknown name from its summary.",
                )
        await _pieces(stage, playing)
        await _endings(stage, playing)


def _announced(stage: Stage, rule: str, kept: object, event: Json, advice: str = _ANNOUNCE) -> bool:
    return stage.ledger.decide(
        rule, kept, f"It was announced: {excerpt(event)}", f"It was not announced: {excerpt(event)}", advice
    )


async def _pieces(stage: Stage, playing: Scene) -> None:
    """OUT-007: a piece of a sentence, and then the rest of it."""
    session = playing.session
    first = session.chunk("Dear grandmoth", 0, "none", "out_1")
    told = await playing.hear(first, 2 * stage.quiet)
    rest = session.chunk("er, I am well.", 14, "completion", "out_1", complete=True)
    whole = await playing.hear(rest)
    if whole is None and told is None:
        stage.ledger.remark("It announces no output, so nothing is known of how it does that.")
        stage.ledger.exempt("OUT-007", "It announces no output.")
        return
    stage.ledger.decide(
        "OUT-007",
        told is None,
        "A piece without a boundary was held until the rest had come.",
        f"A piece that is hinted none was announced by itself: {told.text if told is not None else ''}",
        "Hold a chunk hinted none until one with a boundary comes, or the output is complete.",
    )


async def _endings(stage: Stage, playing: Scene) -> None:
    """LVL-018: three sessions end in three ways."""
    texts = {}
    for end in ("completed", "errored", "cancelled"):
        other = Session()
        playing.say(other.started())
        event = getattr(other, end)(f"The letter is {end}.")
        told = await playing.hear(event)
        if _announced(stage, "LVL-017", told is not None, event) and told is not None:
            texts[end] = told.text
    stage.ledger.decide(
        "LVL-018",
        len({*texts.values()}) == 3,
        f"They sound different: {'; '.join(texts.values())}",
        f"They cannot be told apart: {'; '.join(texts.values())}",
        "Say of each end which of the three it is.",
    )


# -- what is urgent ------------------------------------------------------------------------------


@scene(1, "TERM-018 TERM-019 EVT-014 BP-003 VER-008")
async def what_is_urgent_is_told_at_once(stage: Stage) -> None:
    async with stage.scene() as playing:
        ledger, session = stage.ledger, playing.session
        await playing.opening()
        rows = (
            ("EVT-014", Session().errored("The roof has come down.", error_code="roof.down")),
            ("TERM-019", session.event("progress.updated", "Water is coming in.", "critical", progress={"percent": 5})),
            ("BP-003", session.event("lights:storm.near", "A storm is near.", "critical", **_foreign("lights"))),
            ("VER-008", Session().cancelled("It was stopped.", cancellation_reason="moonrise", cancelled_by="user")),
        )
        for rule, event in rows:
            told = await playing.hear(event)
            if event["urgency"] == "critical":
                _announced(stage, "TERM-018", told is not None, event, _CRITICAL)
            if not _announced(stage, rule, told is not None, event) or told is None:
                continue
            if rule in ("EVT-014", "TERM-019"):
                ledger.decide(
                    rule,
                    told.urgency == "critical",
                    "It was said with the urgency critical.",
                    f"It was said with the urgency {told.urgency}: {excerpt(event)}",
                    "Give an announcement the weight of the event.",
                )


def _foreign(prefix: str) -> dict[str, Any]:
    return {"@context": [CORE_CONTEXT, {prefix: f"https://{prefix}.example/v1#"}]}


@scene(1, "EVT-016 BP-016 BP-011 HITL-034")
async def much_comes_at_once(stage: Stage) -> None:
    async with stage.scene() as playing:
        session = playing.session
        await playing.opening()
        urgent = {
            "EVT-016": Session().errored("The cellar is full of water."),
            "BP-016": session.event("lights:flood.near", "The river is rising.", "critical", **_foreign("lights")),
            "HITL-034": session.confirm("Open the flood gates."),
        }
        events = [
            session.event("progress.updated", f"Step {n}.", "background", progress={"step": n}) for n in range(97)
        ]
        for place, event in zip((20, 50, 80), urgent.values(), strict=True):
            events.insert(place, event)
        playing.player.burst(events)
        last = await playing.hear(session.tool("Closing the windows."))
        for rule, event in urgent.items():
            told = await playing.heard(event)
            _announced(stage, rule, told is not None, event, "Never leave out what is critical, however much comes.")
        stage.ledger.decide(
            "BP-011",
            last is not None and playing.lives,
            f"After {len(events)} events at once it went on.",
            f"After {len(events)} events at once it did not go on. {playing.ended}",
            "Take bursts up to the rate that was agreed on.",
        )


# -- twice, and out of order -----------------------------------------------------------------------


@scene(1, "TR-015 TR-012 ENV-028")
async def events_come_twice_and_out_of_order(stage: Stage) -> None:
    async with stage.scene() as playing:
        session = playing.session
        await playing.opening()
        event = session.tool("Sealing the envelope.")
        if await playing.hear(event) is None:
            raise Unplayable("It did not announce that a tool was used.")
        playing.player.again(event)
        playing.player.again(event)
        playing.player.burst(session.tool(f"Licking stamp number {n}.") for n in range(_DOZEN))
        playing.player.again(event)
        await playing.hear(session.tool("Walking to the post office."))
        _told_once(stage, playing, event, "came again, at once and after a dozen others,")
        await _shuffled(stage, playing)
        if await _came_back(stage, playing):
            playing.player.again(event)
            await playing.hear(session.tool("Walking home."))
            _told_once(stage, playing, event, "came again after the connection was lost")


def _told_once(stage: Stage, playing: Scene, event: Json, how: str) -> None:
    many = len(playing.of(event))
    stage.ledger.decide(
        "TR-015",
        many == 1,
        f"An event that {how} was announced once.",
        f"An event that {how} was announced {many} times: {excerpt(event)}",
        "Remember the event_id of what came, and drop what comes again.",
    )


async def _came_back(stage: Stage, playing: Scene) -> bool:
    """Cut it off; whether it has come back. If it has to is for another scenario to say."""
    player = playing.player
    if player.address.startswith("stdio:") or player.stream is None:  # there is nothing to cut
        return False
    before = len(player.streams)
    player.cut()
    back = await playing.until(lambda: player.stream if len(player.streams) > before else None, 3 * stage.patience)
    return back is not None


async def _shuffled(stage: Stage, playing: Scene) -> None:
    """Numbers and times that came in another order than they were sent in."""
    other = Session()
    row = [other.started(sequence_number=0)]
    row += [other.tool(f"Stamp number {n}.", sequence_number=n) for n in range(1, 5)]
    playing.player.burst(row[place] for place in (0, 1, 3, 2, 4))
    await playing.heard(row[4])
    await playing.heard(row[2])
    said = [one.event_id for one in playing.told if one.event_id in {event["event_id"] for event in row}]
    kept = said == [event["event_id"] for event in row]
    gave_up = any(one.message.get("reason_code") == "protocol_error" for one in playing.sent("subscription.close"))
    for rule in ("TR-012", "ENV-028"):
        stage.ledger.decide(
            rule,
            kept or gave_up,
            "What came out of order was announced in order." if kept else "It ended the subscription: protocol_error.",
            "What came out of order was announced out of order, or not at all.",
            "Order the events of a session by sequence_number and timestamp, waiting a moment for what is missing.",
        )


# -- events of an unusual kind -----------------------------------------------------------------------


def _pretty(event: Json) -> bytes:
    return json.dumps(event, indent=2).encode()


def _backwards(event: Json) -> bytes:
    return json.dumps(dict(reversed(event.items()))).encode()


def _hints(language: str) -> Json:
    return {"primary_language": language, "text_direction": "ltr"}


Probe = Callable[[Session], tuple[Json, bytes | None]]
_NEW: Final = "agent.weather.felt"

# What comes, the rules that say it has to be lived through, and whether it has to be announced as well.
PROBES: Final[dict[str, tuple[str, bool, Probe]]] = {
    "a core type that is newer": (
        "ENV-011",
        False,
        lambda session: (session.event(f"aaep:{_NEW}", "It feels the weather."), None),
    ),
    "the type of an unknown extension": (
        "ENV-066 EXT-031",
        True,
        lambda session: (session.event("lights:lamp.lit", "A lamp was lit.", **_foreign("lights")), None),
    ),
    "data of an unknown extension": (
        "ENV-053 ENV-054",
        True,
        lambda session: (
            session.tool("Lit by a lamp.", extensions={"lights": {"lamp": [1, {"on": True}]}}, **_foreign("lights")),
            None,
        ),
    ),
    "unknown data of an extension that it listed": (
        "CAP-036",
        True,
        lambda session: (session.tool("Listed.", extensions={"attend": {"never_heard_of": [None, {"a": 1}]}}), None),
    ),
    "no optional member": (
        "ENV-044",
        True,
        lambda session: (session.tool("Sparsely told.", aaep_version=None), None),
    ),
    "members in another order": (
        "ENV-063",
        True,
        lambda session: ((event := session.tool("Backwards.")), _backwards(event)),
    ),
    "JSON on several lines": ("ENC-004", True, lambda session: ((event := session.tool("Pretty.")), _pretty(event))),
    "an unknown value of an enumeration": (
        "VER-007",
        True,
        lambda session: (Session().errored("A new kind of error.", error_category="cosmic_ray"), None),
    ),
    "a language that nobody asked for": (
        "I18N-017",
        True,
        lambda session: (session.tool("Mo ń kọ lẹ́tà.", localization_hints=_hints("yo-NG")), None),
    ),
    "a language without a region": (
        "I18N-009",
        True,
        lambda session: (session.tool("In plain English.", localization_hints=_hints("en")), None),
    ),
    "text that is decomposed": (
        "I18N-027",
        True,
        lambda session: (session.tool(unicodedata.normalize("NFD", "Über die Brücke gehen.")), None),
    ),
    "no @context": ("ENV-005", False, lambda session: (session.tool("Out of context.", **{"@context": None}), None)),
    "half of an event": (
        "TERM-008",
        False,
        lambda session: ((event := session.errored("Torn.")), json.dumps(event).encode()[:-40]),
    ),
}
_NEVER: Final = ("ENV-005", "TERM-008")  # nothing of it may be told


@scene(
    1,
    "ENV-005 ENV-011 ENV-044 ENV-053 ENV-054 ENV-063 ENV-066 ENC-004 TERM-008 VER-007 CAP-036 "
    "I18N-009 I18N-017 I18N-027",
    "EXT-031",
)
async def events_of_an_unusual_kind_come(stage: Stage) -> None:
    left = dict(PROBES)
    while left:
        async with stage.scene() as playing:
            await playing.opening()
            while left and playing.lives:
                what = next(iter(left))
                await _probe(stage, playing, what, *left.pop(what))


async def _probe(stage: Stage, playing: Scene, what: str, named: str, told: bool, make: Probe) -> None:
    if named == "CAP-036" and not _lists(playing):
        stage.ledger.exempt(named, "It listed no extension.")
        return
    event, raw = make(playing.session)
    streams = len(playing.player.streams)
    heard = await playing.hear(event, None if told else stage.quiet, raw)
    lives = await playing.alive() and len(playing.player.streams) == streams
    heard = heard or next(iter(playing.of(event)), None)
    advice = "Take what is known of an event, ignore the rest of it, and go on listening."
    for rule in named.split():
        if not lives:
            text = f"After an event with {what} it did not go on. {playing.ended} {excerpt(raw or event)}"
            stage.ledger.fail(rule, text, advice)
        elif rule in _NEVER:
            stage.ledger.decide(
                rule,
                heard is None,
                f"Nothing of an event with {what} was announced, and it went on.",
                f"An event with {what} was announced: {heard.text if heard is not None else ''}",
                "Do nothing with what is not a whole event.",
            )
        elif told:
            stage.ledger.decide(
                rule,
                heard is not None and (named != "ENV-066 EXT-031" or event["summary_normal"].rstrip(".") in heard.text),
                f"An event with {what} was announced: {heard.text if heard is not None else ''}",
                f"An event with {what} was not announced from its summary: {excerpt(raw or event)}",
                advice,
            )
        else:
            stage.ledger.show(rule, f"After an event with {what} it went on.")


def _lists(playing: Scene) -> bool:
    wishes = [one.message.get("capabilities") for one in playing.sent("subscription.request")]
    return any(isinstance(one, dict) and one.get("supported_extensions") for one in wishes)


# -- a connection that breaks --------------------------------------------------------------------------


@scene(1, "SUB-066 TERM-008 SSE-021")
async def it_is_cut_off(stage: Stage) -> None:
    async with stage.scene() as playing:
        ledger, session, player = stage.ledger, playing.session, playing.player
        await playing.opening()
        if player.address.startswith("stdio:"):
            for rule in ("SUB-066", "TERM-008", "SSE-021"):
                ledger.exempt(rule, "An agent on pipes is the subscriber's own process; who loses it has lost it.")
            return
        before = len(player.streams)
        torn = session.tool("Torn in two.")
        piece = player.framed(torn)
        player.cut(piece[: len(piece) // 2])
        await playing.rest()
        early = playing.of(torn)
        player.say(torn)  # to who is not there
        back = await playing.until(lambda: player.stream if len(player.streams) > before else None, 3 * stage.patience)
        if ledger.decide(
            "SUB-066",
            back is not None,
            "It was cut off without a word, and came back.",
            f"It was cut off without a word, and did not come back. {playing.ended}",
            "Connect again when the connection is lost.",
        ):
            told = await playing.heard(torn)
            _torn(stage, playing, early=bool(early), told=told is not None, event=torn)
        _heads(stage, playing)


def _torn(stage: Stage, playing: Scene, *, early: bool, told: bool, event: Json) -> None:
    if not playing.player.raw:
        stage.ledger.exempt("TERM-008", "This transport carries whole messages only.")
        return
    stage.ledger.decide(
        "TERM-008",
        told and not early and len(playing.of(event)) == 1,
        "Of half an event nothing was announced; the whole, which came later, was.",
        f"Half an event was acted on, or the whole of it lost: {excerpt(event)}",
        "Act on whole events only.",
    )


def _heads(stage: Stage, playing: Scene) -> None:
    """SSE-021: the headers of a request for a stream. There is no credential here to be shown."""
    if not playing.player.raw:
        stage.ledger.exempt("SSE-021", "This transport is not HTTP with server-sent events.")
        return
    for stream in playing.player.streams:
        headers = stream.headers or {}
        kept = "text/event-stream" in headers.get("accept", "") and "no-cache" in headers.get("cache-control", "")
        stage.ledger.decide(
            "SSE-021",
            kept,
            "It asked for the stream with Accept: text/event-stream and Cache-Control: no-cache.",
            f"It asked with accept: {headers.get('accept')!r} and cache-control: {headers.get('cache-control')!r}.",
            "Send both headers with every request for a stream.",
        )
