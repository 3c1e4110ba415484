"""All our peers, right and broken: how each is judged, and the verdict that each has to get."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import tests.end_to_end.pipes  # noqa: F401  # which makes an address known
from aaep.conformance import RuleResult
from aaep.conformance.judge import compute_granted_level
from aaep.conformance.producer.run import PRODUCER_SCENARIOS, ProducerResults, Scenario, judge_producer
from aaep.conformance.producer.scripted_agent import ScriptedAgent
from aaep.conformance.subscriber.run import (
    SUBSCRIBER_SCENARIOS,
    SubscriberLauncher,
    SubscriberResults,
    judge_subscriber,
)
from aaep.identity.signing_keys import SigningKey
from aaep.producer.producer import Producer
from aaep.protocol.catalogue import all_rules
from tests.broken import good_plain, producers, subscribers
from tests.broken.good_plain import FullUris, OneTool, PacesSlower, Plain, Thinks
from tests.broken.good_reader import Reader
from tests.listening import ours, plain

# A place for each transport; what stands for a path is filled in.
PRODUCER_ADDRESSES = [
    "http://127.0.0.1:0",
    "asgi+http://127.0.0.1:0",
    "ws://127.0.0.1:0",
    "grpc://127.0.0.1:0",
    "unix://{folder}/agent.sock",
    "pipes://{folder}/pipes.sock",
]
SUBSCRIBER_ADDRESSES = [
    "http://127.0.0.1:0",
    "asgi+http://127.0.0.1:0",
    "ws://127.0.0.1:0",
    "grpc://127.0.0.1:0",
    "unix://{folder}/{{place}}.sock",
    "pipes://{folder}/{{place}}.pipes",
]
# Written without our library.
GOOD_PRODUCERS: dict[str, type[Plain]] = {
    "plain": Plain,
    "one tool": OneTool,
    "full URIs": FullUris,
    "paces slower": PacesSlower,
}
HASTE = Thinks.pause * 0.7  # less patience than such an agent needs
PATIENCE = 30.0  # costs nothing where all that is waited for comes
UNANSWERED = 4.0  # and this long it is waited for what must not come
SHORT_TIME = "HITL-033"  # the task "expire" asks for less time than is recommended
BRIDGE = Path(__file__).parent / "bridge.py"


class Judged(Protocol):
    results: list[RuleResult]
    remarks: list[str]


def failed(judged: Judged) -> set[str]:
    return {one.rule for one in judged.results if one.verdict == "failed"}


def warned(judged: Judged) -> set[str]:
    return {one.rule for one in judged.results if one.verdict == "warning"}


def left_out(judged: Judged) -> set[str]:
    return {one.rule for one in judged.results if one.verdict == "not shown" and one.required_level is not None}


def result(judged: Judged, rule: str) -> RuleResult:
    return next(one for one in judged.results if one.rule == rule)


# -- producers -------------------------------------------------------------------------------------


async def judge_our_producer(url: str) -> ProducerResults:
    with Producer("conformance-agent", name="Scripted agent", listen=url, journal=None) as producer:
        agent = ScriptedAgent(producer)

        async def start(task: str) -> None:
            agent.start(task)

        at = producer.addresses[0]
        if at.startswith("pipes"):
            bridge = shlex.join([sys.executable, "-S", "-E", str(BRIDGE), at.removeprefix("pipes://")])
            return await judge_producer(f"stdio:{bridge}", start, shared=True)
        return await judge_producer(at, start)


async def judge_plain(
    made: type[Plain], scenarios: Collection[Scenario] = PRODUCER_SCENARIOS, *, patience: float = 4.0
) -> ProducerResults:
    with made() as producer:

        async def start(task: str) -> None:
            producer.start(task)

        return await judge_producer(producer.url, start, scenarios=scenarios, patience=patience, quiet=0.3)


def producer_scenarios(broken: type[producers.Broken]) -> tuple[Scenario, ...]:
    """Those that show the rule, after a session that nothing disturbs."""
    chosen = [one for one in PRODUCER_SCENARIOS if broken.breaks in (*one.required_rules, *one.optional_rules)]
    first = next(one for one in PRODUCER_SCENARIOS if one.name == "a session from beginning to end")
    # What is said of the replies to others needs them.
    before = [
        one
        for one in PRODUCER_SCENARIOS
        if broken.breaks in ("CONF-040", "CONF-012") and "CONF-033" in one.required_rules
    ]
    return tuple(one for one in PRODUCER_SCENARIOS if one in (*chosen, *before, first))


def careless_scenarios(careless: type[producers.Careless]) -> tuple[Scenario, ...]:
    """Those that show what is neglected, after a few sessions."""
    names = ("a session from beginning to end", "a no stops the action", "tokens are never used twice")
    return tuple(one for one in PRODUCER_SCENARIOS if one.name in names or careless.neglects in one.optional_rules)


# -- subscribers -----------------------------------------------------------------------------------


def bridged(url: str) -> str:
    """Who comes over pipes starts the agent: here, a program that leads to the player."""
    if not url.startswith("pipes:"):
        return url
    return "stdio:" + shlex.join([sys.executable, "-S", "-E", str(BRIDGE), url.removeprefix("pipes://")])


async def judge_good_subscriber(
    launch: SubscriberLauncher, key: SigningKey, at: str = "http://127.0.0.1:0"
) -> SubscriberResults:
    return await judge_subscriber(launch, key=key, patience=PATIENCE, unanswered=UNANSWERED, at=at, reached=bridged)


async def judge_broken_subscriber(broken: type[subscribers.Broken], key: SigningKey) -> SubscriberResults:
    signed: dict[str, Any] = {"key": key} if broken.breaks.startswith("MAN-") else {}
    chosen = subscriber_scenarios(broken)
    return await judge_subscriber(plain(broken), scenarios=chosen, patience=4.0, quiet=0.3, **signed)


def subscriber_scenarios(broken: type[subscribers.Broken]) -> tuple[Scenario, ...]:
    """Those that show the rule; what the audit finds is in what is sent when the person decides."""
    tried = tuple(one for one in SUBSCRIBER_SCENARIOS if broken.breaks in (*one.required_rules, *one.optional_rules))
    wanted = {"CLAR": "LVL-041", "CONF": "LVL-037", "SUB": "SUB-065"}[broken.breaks.split("-")[0]] if not tried else ""
    if broken.breaks == "CONF-063":
        wanted = "SUB-038"
    return tried or tuple(one for one in SUBSCRIBER_SCENARIOS if wanted in one.required_rules)


# -- the verdict that each has to get ----------------------------------------------------------------


class Expected(NamedTuple):
    """
    A verdict.

    Of a broken peer its own rule is failed, and perhaps rules that say the same
    ``with_it``; of a careless one its rule is warned of. ``remark`` has to be
    told, if it is given. Only of a peer that is judged by all scenarios the
    ``level`` is known.
    """

    level: int | None = None
    breaks: str = ""
    with_it: frozenset[str] = frozenset()
    neglects: str = ""
    remark: str = ""

    def __str__(self) -> str:
        if self.breaks:
            return f"failed for {self.breaks}"
        return self._describe(self.level, {self.neglects} - {""}, is_remarked=bool(self.remark))

    def _describe(self, level: int | None, warnings: set[str], *, is_remarked: bool) -> str:
        parts = [] if self.level is None and warnings else [_name_level(level)]
        if warnings:
            parts.append(f"warned of {', '.join(sorted(warnings))}")
        return ", ".join([*parts, *(["with a remark"] if is_remarked else [])])

    def describe(self, judged: Judged) -> str:
        """The verdict that was given, in the words of this one if it is the same."""
        wrong, granted = failed(judged), compute_granted_level(judged.results)
        if self.breaks:
            is_barred = granted < max(all_rules()[self.breaks].level, 1)
            if is_barred and self.breaks in wrong <= {self.breaks, *self.with_it}:
                return str(self)
            return f"failed for {', '.join(sorted(wrong))}" if wrong else _name_level(granted)
        # Who claims a level may lack what a higher one demands.
        if wrong and not (self.level and all(all_rules()[rule].level > self.level for rule in wrong)):
            return f"failed for {', '.join(sorted(wrong))}"
        is_remarked = bool(self.remark) and any(self.remark in one for one in judged.remarks)
        return self._describe(granted, warned(judged) - {SHORT_TIME}, is_remarked=is_remarked)


def _name_level(level: int | None) -> str:
    return f"Level {level}" if level else "no level"


class Peer(NamedTuple):
    """A peer that can be judged, and what has to come of it."""

    side: str
    name: str
    expected: Expected
    judge: Callable[[], Awaitable[Judged]]
    at_once: int  # how many of its kind are judged side by side: they mostly wait


def all_peers(folder: str) -> Iterator[Peer]:
    """All peers; ``folder`` is for sockets, and its owner's alone."""
    key = SigningKey.generate("RS256", "conformance")
    full, few, many = Expected(3), 2, 8
    for url in PRODUCER_ADDRESSES:
        at = url.format(folder=folder)
        yield Peer("producer", f"ours at {url.partition(':')[0]}", full, partial(judge_our_producer, at), many)
    for made in GOOD_PRODUCERS.values():
        # ENV-008: the short spelling of types is recommended, and no more.
        yield _plain_producer(made, Expected(3, neglects="ENV-008") if made is FullUris else full)
    yield _plain_producer(Thinks, full, patience=HASTE)
    yield _plain_producer(producers.NeverEnds, Expected(0, neglects="TR-039"), patience=HASTE)
    yield _plain_producer(producers.GoesNowhere, Expected(0), patience=HASTE)
    yield _plain_producer(good_plain.WithoutSubscriptions, Expected(1))
    yield _plain_producer(producers.OpenToEverySite, Expected(3, remark="Access-Control-Allow-Origin"))
    for careless in producers.ALL_CARELESS:
        yield _plain_producer(careless, Expected(neglects=careless.neglects), careless_scenarios(careless))
    for broken in producers.ALL:
        yield _plain_producer(
            broken, Expected(breaks=broken.breaks, with_it=broken.with_it), producer_scenarios(broken)
        )
    for url in SUBSCRIBER_ADDRESSES:
        at = url.format(folder=folder)
        name = f"ours at {url.partition(':')[0]}"
        # Such a one has to keep every time limit, of its own and of the rules.
        yield Peer("subscriber", name, full, partial(judge_good_subscriber, ours, key, at), few)
    yield Peer("subscriber", "Reader", full, partial(judge_good_subscriber, plain(Reader), key), few)
    for bad in subscribers.ALL:
        expected = Expected(breaks=bad.breaks, with_it=bad.with_it)
        yield Peer("subscriber", bad.__name__, expected, partial(judge_broken_subscriber, bad, key), 2 * many)


def _plain_producer(
    made: type[Plain],
    expected: Expected,
    scenarios: Collection[Scenario] = PRODUCER_SCENARIOS,
    patience: float = 4.0,
) -> Peer:
    return Peer("producer", made.__name__, expected, partial(judge_plain, made, scenarios, patience=patience), 8)
