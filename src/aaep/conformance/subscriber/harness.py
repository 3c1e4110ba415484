"""
Where subscribers are put to it: a played producer, the subscriber that was started against it, and what it shows.

What it sends is seen by the player. What it presents is seen only if it says
so: one JSON object for each announcement, a line each, on standard output. The
person at the subscriber is played too, on its standard input or by a task.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import msgspec

from ...identity.signing_keys import SigningKey
from ..judge import Ledger, Line, excerpt
from ..producer.harness import Json
from ..scenario import Scenario, Unplayable, scenario
from .fake_producer import Came, Player, Session, Stream

__all__ = ["SCENES", "TASKS", "Begin", "Running", "Scene", "Stage", "Told", "Unplayable", "scene"]

T = TypeVar("T")

# What the person at the subscriber does; {task} in a command stands for it.
TASKS: Final[Mapping[str, str]] = {
    "none": "Nothing is answered, as if nobody were there.",
    "accept": "Every confirmation is accepted as soon as it is announced.",
    "reject": "Every confirmation is refused as soon as it is announced.",
    "late": "Every confirmation is accepted two seconds after it was announced.",
    "answer": "Every question is answered: with its first choice, with yes, with the number 7, or with the word blue.",
    "renegotiate": "Once listening, other terms are asked for, such as another verbosity.",
}
_REPLIES: Final = ("confirmation.reply", "clarification.reply")
_HOW: Final = (
    "It prints no announcements. To show it, let it print one JSON object for each on standard output, "
    'such as {"event_id": "evt_1", "type": "aaep:agent.tool.invoked", "text": "Posting.", "urgency": "normal"}.'
)


class Told(msgspec.Struct):
    """An announcement of the subscriber's, as it says of itself. Critical: it interrupts whatever else is said."""

    event_id: str
    text: str
    type: str = ""
    urgency: str = "normal"
    at: float = 0.0


class Running(Protocol):
    """A subscriber that was started."""

    typed: bool  # whether the person is played on its standard input
    seen: bool  # whether it is seen to end; otherwise it has ended when it has let go of the producer

    async def type(self, line: str) -> None: ...

    def stop(self) -> None:
        """Tell it to end, as SIGTERM does."""

    async def ended(self) -> str:
        """Wait until it has ended; how."""


Begin = Callable[[str, str, str, Callable[[bytes], None]], Awaitable[Running]]  # URL, task, keys, for each line


class Stage:
    """One run against one subscriber."""

    def __init__(
        self,
        begin: Begin,
        *,
        at: str = "http://127.0.0.1:0",
        patience: float = 5.0,
        quiet: float = 0.4,
        wait: float = 30.0,
        unanswered: float | None = None,
        at_once: int = 4,
        key: SigningKey | None = None,
        keys: Path | None = None,
        reached: Callable[[str], str] = lambda url: url,
    ) -> None:
        self.begin, self.at, self.key, self.keys = begin, at, key, keys
        self.patience, self.quiet = patience, quiet
        self.wait = wait  # seconds that it may take to come
        self.unanswered = patience if unanswered is None else unanswered  # seconds that a prompt is left alone
        self.reached = reached  # the URL that the subscriber is given for the one that is served
        self.gate = asyncio.Semaphore(at_once)
        self.ledger = Ledger()
        self.missed: dict[str, str] = {}  # why a rule could not be tried
        self.requests: list[Json] = []
        self.scenes: list[list[Line]] = []
        self.met = False  # whether it ever came
        self.seen = False  # whether it ever printed an announcement
        self.places = 0

    @asynccontextmanager
    async def scene(self, task: str = "none", **played: Any) -> AsyncIterator[Scene]:
        """Start the subscriber against a player, for a while."""
        player = Player(**{"key": self.key, **played})
        self.places += 1
        player.address = url = self.reached(await player.open(self.at.format(place=self.places)))
        made = Scene(self, player, task)
        try:
            made.running = await self.begin(url, task, str(self.keys or ""), made.take)
            made.watch()
            yield made
        finally:
            self.scenes.append(player.lines)
            self.requests += [one.message for one in player.came if one.type == "subscription.request"]
            await made.leave()
            await player.close()
            made.alone()


class Scene:
    """One subscriber against one player."""

    def __init__(self, stage: Stage, player: Player, task: str) -> None:
        self.stage, self.player, self.task = stage, player, task
        self.told: list[Told] = []
        self.running: Running | None = None
        self.ended = ""  # how the subscriber has ended, if it has
        self._watching: asyncio.Task[None] | None = None
        self.session = Session()

    # -- what it shows ---------------------------------------------------------------------

    def take(self, line: bytes) -> None:
        """A line that it printed."""
        try:
            told = msgspec.json.decode(line, type=Told)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            return  # whatever else it prints is its own affair
        told.at = time.monotonic()
        self.told.append(told)
        self.stage.seen = True
        self.player.news.set()

    def watch(self) -> None:
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    async def _watch(self) -> None:
        assert self.running is not None
        self.ended = await self.running.ended() or "It ended."
        self.player.news.set()

    async def until(self, found: Callable[[], T | None], limit: float | None = None) -> T | None:
        """Wait until there is something, if it comes in time; once it has ended no more comes."""
        news = self.player.news
        try:
            async with asyncio.timeout(self.stage.patience if limit is None else limit):
                while True:
                    news.clear()
                    value = found()
                    if value is not None or self.ended:
                        return value
                    await news.wait()
        except TimeoutError:
            return found()

    async def joined(self) -> Stream:
        """Wait until it listens."""
        stream = await self.until(lambda: self.player.stream, self.stage.wait)
        if stream is None:
            asked = any(one.type == "subscription.request" for one in self.player.came)
            how = f" {self.ended}" if self.ended else ""
            raise Unplayable(f"It {'asked for a subscription and never listened' if asked else 'did not come'}.{how}")
        self.stage.met = True
        return stream

    async def opening(self, *, watched: bool = True) -> None:
        """It listens, and a session begins; ``watched``: what it presents is needed."""
        await self.joined()
        await self.hear(self.session.started())
        if watched and not self.told:
            raise Unplayable(_HOW if not self.stage.seen else "It announced nothing here.")

    def say(self, event: Json, raw: bytes | None = None) -> Json:
        return self.player.say(event, raw)

    async def hear(self, event: Json, limit: float | None = None, raw: bytes | None = None) -> Told | None:
        """Say something, and wait until it is announced."""
        self.say(event, raw)
        return await self.heard(event, limit)

    async def heard(self, event: Json, limit: float | None = None) -> Told | None:
        """Wait until it is announced."""
        return await self.until(lambda: next(iter(self.of(event)), None), limit)

    def of(self, event: Json) -> list[Told]:
        """How often it was announced."""
        return [one for one in self.told if one.event_id == event.get("event_id")]

    @property
    def lives(self) -> bool:
        """Whether it runs and listens on."""
        return not self.ended and self.player.stream is not None

    async def alive(self) -> bool:
        """Whether it takes the next event as if nothing had been."""
        mark = self.session.tool("Going on.")
        told = await self.hear(mark)
        return told is not None and not self.ended

    # -- what it sends ---------------------------------------------------------------------

    def sent(self, *types: str) -> list[Came]:
        return [one for one in self.player.came if one.type in types]

    def replies(self, token: str = "") -> list[Came]:
        """Its replies, to one question or to all; in order."""
        return [
            one
            for one in self.player.came
            if (one.type in _REPLIES or "reply_token" in one.message)
            and (not token or one.message.get("reply_token") == token)
        ]

    async def rest(self, seconds: float | None = None) -> None:
        """As long as nothing should happen."""
        # Nothing else tells that nothing comes.
        await asyncio.sleep(self.stage.quiet if seconds is None else seconds)

    # -- the person --------------------------------------------------------------------------

    async def type(self, line: str) -> None:
        """The person writes a line, where the person is played so."""
        if self.running is not None and self.running.typed and not self.ended:
            await self.running.type(line)

    async def decide(self, prompt: Json, line: str, *more: str) -> Came | None:
        """Ask, have the person answer what was announced, and wait for the reply."""
        before = len(self.replies())
        told = await self.hear(prompt, self.stage.patience if self.told else self.stage.quiet)
        if told is not None or not self.told:
            for one in (line, *more):
                await self.type(one)
                if await self.until(lambda: self._replied(before), self.stage.quiet if more else 0.0):
                    break
        return await self.until(lambda: self._replied(before))

    def _replied(self, before: int) -> Came | None:
        replies = self.replies()
        older = {one.raw for one in replies[:before]}  # said again, it is still the reply to another
        return next((one for one in replies[before:] if one.raw not in older), None)

    def alone(self) -> None:
        """SEC-007: where nobody is, nobody answers; also where that is not what is tried."""
        for one in self.replies() if self.task == "none" else ():
            if one.type == "confirmation.reply":
                text = f"Nobody answered, and this was sent: {excerpt(one.raw)}"
                self.stage.ledger.fail("SEC-007", text, "Never answer for the person.")

    async def leave(self) -> None:
        """End it, if it has not ended by itself."""
        if self.running is None:
            return
        if not self.ended:
            self.running.stop()
        if self._watching is not None:
            if not self.running.seen:
                await self.until(lambda: True if self.player.stream is None else None, self.stage.wait)
                self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)


# -- scenarios ---------------------------------------------------------------------------------

SCENES: Final[list[Scenario]] = []
scene: Final = partial(scenario, among=SCENES)
