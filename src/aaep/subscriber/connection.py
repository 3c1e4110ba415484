"""
The network side of a subscriber: handshake, stream, reconnect, resume.

It lives on an event loop in a thread of its own and knows nothing of who
reads: events go into a mailbox, and what is said about them to two callbacks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import Future
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from msgspec import UNSET

from ..errors import AaepError, RemoteProtocolError
from ..identity import manifests
from ..identity.peer import HUB_AGENT_ID
from ..protocol.attend_extension import attend_member
from ..protocol.audit import Finding
from ..protocol.events import Envelope, ProducerInfo
from ..protocol.fields import Message
from ..protocol.messages import Capabilities, SubscriptionAccepted, SubscriptionClose, SubscriptionRejected
from ..protocol.negotiation import tighten
from ..protocol.subscription import admits, is_critical, with_defaults
from ..runtime.background import BackgroundLoop, Waitable
from ..runtime.ids import format_timestamp
from ..runtime.mailbox import Mailbox
from ..text.sanitize import sanitize
from ..transports.base import Arrival, Channel, ChannelLost, ChannelRefused
from .audit import Watch
from .deduplicate import Arrivals, Item
from .replies import Prompts, Replies, checked
from .request import Wishes
from .status import RESUMABLE, UNREAD, Ended, Gone, Kind, Refused, Status, SubscriptionRefused, close_text, refusal

if TYPE_CHECKING:  # it brings in the JOSE library, which few need
    from .trust import Proof, Trust

__all__ = ["Link", "Reconnect"]

T = TypeVar("T")
log: Final = logging.getLogger("aaep.subscriber")

_chance: Final = random.SystemRandom()  # its own: what others seed or replay is not disturbed

Reconnect = Literal["always"] | bool
FIRST: Final = 0.5  # seconds between tries, at first
LONGEST: Final = 30.0  # and at most
SETTLED: Final = 1.0  # seconds after which a stream that did not break counts as open
GOODBYE: Final = 0.7  # seconds for a farewell that nobody may be there to hear
_LATER: Final = ("rate_limit", "transport_unavailable", "unknown")  # SUB-051: may be granted another time
_ENDS: Final = ("producer_shutdown", "subscriber_shutdown", "superseded")  # CF-066


class Link:
    """One subscriber's way to one producer, from the first request to the end."""

    def __init__(
        self,
        channel: Channel,
        wishes: Wishes,
        introduce: Callable[[Wishes, str], bytes],
        *,
        resume_after: str = "",
        reconnect: Reconnect = True,
        wait: bool = True,
        backlog: int = 10_000,
        report: Callable[[Finding], None] | None = None,
        tell: Callable[[Status], None] | None = None,
        trust: Trust | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = _chance.random,
    ) -> None:
        self.channel, self.wishes, self._introduce = channel, wishes, introduce
        self._reconnect, self._wait = reconnect, wait
        self._tell = tell
        self._trust = trust
        self.proof: Proof | None = None
        self.clock, self.wall, self._sleep, self._chance = clock, wall, sleep, chance
        self.mail: Mailbox[tuple[Envelope, str]] = Mailbox(backlog, self._drained)  # with the place to resume after
        self.watch = Watch(wishes.registry(), report)
        self.status = Status("new", "Not connected yet.")
        self.prompts, self.replies, self.lock = Prompts(), Replies(), RLock()
        self.subscription_id, self.after = "", resume_after
        self.heard = self._place = resume_after  # by who reads; and of what is all in the mailbox, or was
        self.terms: Capabilities | None = None
        self.producer: ProducerInfo | None = None
        self.notes = ""
        self.ready: Future[Capabilities] = Future()
        self.done: Future[None] = Future()
        self._arrivals = Arrivals()
        self._tries = 0
        self._open = False  # whether the stream is up
        self._resumed = False
        self._renewing = False
        self._closing: asyncio.Task[None] | None = None
        self._leaving = False
        self._background: BackgroundLoop | None = None
        self._main: asyncio.Task[None] | None = None
        self._stream: asyncio.Task[None] | None = None
        self._room, self._changing = asyncio.Event(), asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None

    # -- from any thread -------------------------------------------------------------------

    def start(self) -> None:
        """Begin, once."""
        with self.lock:
            if self._background is None and not self.done.done():
                self._background = BackgroundLoop("aaep-subscriber")
                self._background.call_soon(self._begin)
            elif self._background is not None:
                self._background.check_alive()

    def later(self, work: Coroutine[Any, Any, T]) -> Waitable[T]:
        """Have the loop do something that is waited for elsewhere."""
        self.start()
        with self.lock:
            if self._background is None or self.done.done():
                work.close()
                raise AaepError("The subscription has ended. Make a new Subscriber.")
            return Waitable(asyncio.run_coroutine_threadsafe(_whole(work), self._background.loop))

    def close(self, reason: str = "subscriber_shutdown", text: str = "The reader has closed.") -> Waitable[None]:
        """Say goodbye and end. Closing twice is fine."""
        with self.lock:
            if self._background is None:
                if not self.done.done():
                    self.done.set_result(None)
                self.mail.close()
            else:
                self._background.call_soon(self._leave, reason, text)
        return Waitable(self.done)

    def _drained(self) -> None:
        if self._background is not None:
            self._background.call_soon(self._room.set)

    # -- from the beginning to the end -----------------------------------------------------

    def _begin(self) -> None:
        self._main = asyncio.get_running_loop().create_task(self._live())

    def _leave(self, reason: str, text: str) -> None:
        if self._main is not None and not self._closing and not self._leaving:
            self._closing = asyncio.get_running_loop().create_task(self._goodbye(self._main, reason, text))

    async def _goodbye(self, main: asyncio.Task[None], reason: str, text: str) -> None:
        """SUB-065 §5.8: said while there is a connection to say it on."""
        await self._unsubscribe(reason, text)
        if not self._leaving:
            main.cancel()

    async def _unsubscribe(self, reason: str, text: str) -> None:
        if self.subscription_id:
            message = SubscriptionClose(subscription_id=self.subscription_id, reason_code=reason, reason_message=text)
            await self._briefly(self.channel.send(checked(message)))

    async def _live(self) -> None:
        error: BaseException | None = None
        try:
            while await self._once():
                pass
        except asyncio.CancelledError:
            pass  # closed on our side
        except Exception as problem:
            error = problem
            if not isinstance(problem, AaepError):
                log.exception("The subscriber failed. This is a bug.")
        finally:
            await self._farewell(error)

    async def _farewell(self, error: BaseException | None) -> None:
        self._leaving = True
        await self._briefly(self.channel.close())
        self._say("ended", str(error or ("Closed." if self._closing else self.status.text)))
        self.mail.close(error)
        if not self.ready.done():
            self.ready.set_exception(error or AaepError("The subscriber was closed before it was connected."))
        with self.lock:  # so that nobody gives the loop work that it will not do
            self.done.set_result(None)
            if self._background is not None:
                self._background.stop()

    async def _briefly(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            async with asyncio.timeout(GOODBYE):
                await work
        except (AaepError, TimeoutError) as error:
            log.debug("Leaving without a farewell: %s", error)

    async def _once(self) -> bool:
        """Subscribe if need be, and listen; whether to go on after that."""
        try:
            if not self.subscription_id:
                await self._subscribe()
            self._stream = asyncio.get_running_loop().create_task(self._listen())
            await self._stream
            raise ChannelLost("The stream ended.")
        except ChannelLost as lost:
            if self._closing:
                return False
            await self._pause(str(lost), lost)
        except Refused as refused:
            if not self.ready.done() or refused.error.reason_code not in _LATER:
                raise refused.error from None
            await self._pause(str(refused.error), refused.error, float(refused.error.retry_after or 0))  # SUB-045
        except Gone as gone:
            self.subscription_id = ""  # CF-092: a new subscription, from where we were
            if self._tries or not self._reconnect:
                await self._pause(str(gone.error), gone.error)
            self._tries += 1
        except Ended as ended:
            return await self._ended(ended.message)
        except asyncio.CancelledError:
            if not self._renewing or self._closing:
                raise
            self._renewing = False
        return True

    async def _ended(self, message: SubscriptionClose) -> bool:
        """The producer closed. CF-066"""
        reason = message.reason_code
        said = "" if message.reason_message is UNSET else sanitize(message.reason_message)
        if reason in RESUMABLE and self._reconnect:
            await self._pause(RESUMABLE[reason], SubscriptionRefused(reason, said))
            return True
        self.subscription_id = ""
        agent = "" if self.producer is None else self.producer.agent_id  # the end of a hub is not that of its agents
        if reason == "producer_shutdown" and (
            self._reconnect == "always" or (agent == HUB_AGENT_ID and self._reconnect)
        ):
            text = f"{said or 'The producer is shutting down.'} Waiting for it to come back."
            await self._pause(text, ChannelLost(text))
            return True
        log.info("The producer ended the subscription: %s.", sanitize(reason))
        self.status = Status("ended", close_text(message, agent), reason_code=reason)
        if reason not in _ENDS:
            raise SubscriptionRefused(reason, said)
        return False

    async def _pause(self, why: str, error: AaepError, least: float = 0.0) -> None:
        """Wait before the next try, longer each time, and not in step with others."""
        if not self._reconnect or not (self._wait or self.ready.done()):
            raise error
        self._tries += 1
        delay = max(least, min(LONGEST, FIRST * 2 ** min(self._tries - 1, 10)) * (0.5 + self._chance() / 2))
        text = f"{why} Trying again in {delay:.1f} seconds."
        log.log(logging.DEBUG if self._tell else logging.WARNING, "%s", text)  # said once, somewhere
        self._say("waiting", text, delay)
        await self._sleep(delay)

    # -- the handshake ---------------------------------------------------------------------

    async def _subscribe(self) -> None:
        self._say("connecting", "Connecting.")
        self.watch.audit.subscriptions.clear()  # what is said from here on belongs to a new one
        answer = await self._request(self.wishes)
        if isinstance(answer, SubscriptionRejected) and answer.reason_code == "capabilities_incompatible":
            other = self.wishes.otherwise(await self._offered(), answer.reason_message)
            if other is not None:  # CF-045, EXT-020
                answer = await self._request(other)
                self.wishes = other
        if isinstance(answer, SubscriptionRejected):
            raise Refused(refusal(answer))
        self._accepted(answer)
        if not answer.aaep_version.startswith(("1.", "0.1.0-draft")):  # CF-047, CF-048
            await self._unsubscribe("protocol_error", "The version that was answered is not spoken here.")
            raise SubscriptionRefused("version_unsupported", f"It answered with version {answer.aaep_version}.")
        await self._examine(answer)
        self._joined(anew=True)
        first = not self.ready.done()
        self._open, self._resumed = True, not first or bool(self.after)
        self._say(*(("connected", "Connected.") if first else ("resumed", "Connected again.")))
        if first:
            self.ready.set_result(self._honoured())

    async def _request(self, wishes: Wishes) -> SubscriptionAccepted | SubscriptionRejected:
        sent = self._introduce(wishes, self.after)
        raw = await self.channel.request(sent)
        self.watch.judge(sent, self._now())
        return self._answer(raw)

    def _answer(self, raw: bytes) -> SubscriptionAccepted | SubscriptionRejected:
        """CF-148: what is granted wider than asked is found by the audit."""
        self.watch.judge(raw, self._now())
        message = self.watch.read(raw)
        if not isinstance(message, (SubscriptionAccepted, SubscriptionRejected)):
            raise RemoteProtocolError("What answered is no AAEP producer, or a broken one. Check the address.")
        return message

    def _accepted(self, answer: SubscriptionAccepted) -> None:
        self.subscription_id = answer.subscription_id
        self.terms = tighten(self.wishes.terms(), answer.honored_capabilities)  # CF-148
        self.producer = answer.producer
        self.notes = "" if answer.negotiation_notes is UNSET else answer.negotiation_notes

    async def _examine(self, answer: SubscriptionAccepted) -> None:
        """CF-123: who is not who it should be is left before anything of it is heard, and not tried again."""
        if self._trust is None:
            return
        self.proof = None
        try:
            self.proof = await self._trust.examine(self.channel, answer, self._honoured(), self.wall())
        except AaepError as error:
            if not isinstance(error, ChannelLost):
                await self._unsubscribe("manifest_invalid", "The signed manifest could not be verified.")
            self.subscription_id = ""  # so that nobody listens on before it was looked at again
            raise

    async def _offered(self) -> Sequence[str]:
        """The languages of the manifest; none if there is no manifest to be had."""
        try:
            return manifests.parse_manifest(await self.channel.manifest()).languages_supported
        except AaepError as error:
            log.debug("There is no manifest: %s", error)
            return ()

    def _honoured(self) -> Capabilities:
        return self.terms if self.terms is not None else with_defaults(Capabilities())

    async def renegotiate(self, changes: dict[str, Any]) -> Capabilities:
        """Ask for other terms. §5.7"""
        await asyncio.shield(asyncio.wrap_future(self.ready))
        async with self._changing:  # what is asked for follows from what was granted before
            wanted = self.wishes.changed(**changes)
            if not self.subscription_id:
                raise ChannelLost("There is no connection at the moment. Try again when there is one.")
            sent = self.wishes.change(wanted, self.subscription_id)
            raw = await self.channel.request(sent)
            self.watch.judge(sent, self._now())
            answer = self._answer(raw)
            if isinstance(answer, SubscriptionRejected):  # CF-041: the old terms again, rather than none
                log.warning("The change was refused, which ended the subscription. Subscribing again as before.")
                self._renew()
                raise refusal(answer)
            self.wishes = wanted
            self._accepted(answer)
            try:
                await self._examine(answer)
            except AaepError:
                self._renew()
                raise
        self._arrivals.reshaped()
        return self._honoured()

    def _renew(self) -> None:
        """Subscribe again."""
        self.subscription_id = ""
        if self._stream is not None:
            self._renewing = self._stream.cancel()

    def _joined(self, *, anew: bool = False) -> None:
        self.watch.connected()
        self._arrivals.connected(anew=anew)
        with self.lock:
            self.prompts.connected()

    # -- the stream ------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Take what comes until the stream ends."""
        if not self._open:
            self._joined()
        up = asyncio.get_running_loop().call_later(SETTLED, self._up)
        arrivals = self.channel.arrivals(self.subscription_id, self.after)
        try:
            async with _closing(arrivals):
                async for arrival in arrivals:
                    self._up()
                    self._tries = 0
                    self._take(arrival)
                    while (
                        self.mail.is_full()
                    ):  # who reads is behind: so is the producer then, and it may merge (CF-083)
                        self._room.clear()
                        if self.mail.is_full():
                            await self._room.wait()
        except ChannelRefused as refused:
            if not refused.gone:
                raise
            raise Gone(refused) from refused
        finally:
            up.cancel()
            for item in self._arrivals.lost():
                self._deliver(item)
            self._settle()
            self._rearm()
            self._open, self._resumed = False, True

    def _up(self) -> None:
        if not self._open:
            self._open = True
            self._say("resumed", "Connected again.")

    def _take(self, arrival: Arrival) -> None:
        message = self.watch.read(arrival.data)
        if message is None:
            self._pass_on(UNREAD)  # SEC-009: it may have been a question, and nobody is to wait for nothing
        if not self._aside(message):
            self.after = arrival.id or (message.event_id if isinstance(message, Envelope) else self.after)
        if isinstance(message, Envelope):
            with self.lock:
                self.prompts.came(message)
            self._repeat(self.replies.again(message, self.subscription_id))
            items, found = self._arrivals.take(message, arrival.data, self.clock())
            self.watch.note(found, message.event_id, message.session_id)
            for item in items[:-1]:
                self._deliver(item)
            self._settle()
            for item in items[-1:]:
                self._deliver(item)
            self._rearm()
        elif isinstance(message, SubscriptionClose):
            if message.subscription_id == self.subscription_id:
                self.watch.judge(arrival.data, self._now())
                raise Ended(message)
            log.warning("A close of another subscription was ignored.")
        elif message is not None:  # CF-038: only subscribers renegotiate, and so with the rest
            log.warning("A %s on the event stream was ignored.", getattr(message, "type", "message"))

    def _settle(self) -> None:
        """Who resumes after what has come misses nothing of it, unless something is held."""
        if self._arrivals.due is None:
            self._place = self.after

    def _aside(self, message: Message | None) -> bool:
        """What is no place to resume after: one sent ahead of others, and one that only this stream has (C-36)."""
        return isinstance(message, Envelope) and (self.watch.ahead(message) or bool(attend_member(message, "resync")))

    def _repeat(self, reply: bytes | None) -> None:
        if reply is not None:
            self._repeated = asyncio.get_running_loop().create_task(self._briefly(self.channel.send(reply)))

    def _rearm(self) -> None:
        due = self._arrivals.due
        if due is None and self._timer is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is not None:
            wait = max(0.0, due - self.clock())
            self._timer = asyncio.get_running_loop().call_later(wait, self._overdue)

    def _overdue(self) -> None:
        for item in self._arrivals.advance(self.clock()):
            self._deliver(item)
        self._settle()
        self._rearm()

    # -- one event -------------------------------------------------------------------------

    def _deliver(self, item: Item) -> None:
        event = item[0]
        self.watch.see(item, self._now())
        own = self.wishes.own_filters()
        if own is not None and not is_critical(event) and not admits(own, event.type):
            return  # CF-148: it was not asked for, and the audit has said so
        if attend_member(event, "resync") and self._resumed:
            self._resumed = False
            self._say("gap", "Connected again. Some of what happened meanwhile is not known here.")
        with self.lock:
            self.prompts.take(event, self.clock())
        self.mail.put((event, self._place))

    def _now(self) -> str:
        return format_timestamp(self.wall())

    def _say(self, kind: Kind, text: str, retry: float | None = None) -> None:
        self.status = Status(kind, text, retry, self.status.reason_code if kind == "ended" else "")
        self._pass_on(self.status)

    def _pass_on(self, status: Status) -> None:
        if self._tell is not None:
            try:
                self._tell(status)
            except Exception:  # a callback of the caller's must not break the stream
                log.exception("The tell callback failed.")


async def _whole(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except asyncio.CancelledError:
        raise AaepError("The subscriber was closed before this was done.") from None


@contextlib.asynccontextmanager
async def _closing(arrivals: AsyncIterator[Arrival]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        shut = getattr(arrivals, "aclose", None)
        if shut is not None:
            await shut()
