"""
The network side of a subscriber: handshake, stream, reconnect, resume.

It runs on an event loop in a thread of its own, or on one that is given. Events go
into a mailbox, and findings about them and changes of the status to callbacks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from msgspec import UNSET

from ..errors import AaepError, RemoteProtocolError
from ..identity import manifests
from ..identity.peer import HUB_AGENT_ID
from ..protocol.attend_extension import PREFIX, attend_member
from ..protocol.audit import Finding
from ..protocol.events import Envelope, ProducerInfo, SessionStarted
from ..protocol.fields import Message, get_member
from ..protocol.messages import Capabilities, SubscriptionAccepted, SubscriptionClose, SubscriptionRejected
from ..protocol.negotiation import tighten
from ..protocol.subscription import is_admitted, is_critical, with_defaults
from ..runtime.background import BackgroundLoop, Waitable, shield_future
from ..runtime.ids import format_timestamp
from ..runtime.mailbox import Mailbox
from ..runtime.options import list_keywords
from ..text.phrases import describe_close_reason, get_phrases
from ..text.sanitize import sanitize
from ..transports.base import Channel, ChannelLost, ChannelRefused, ReceivedMessage
from .audit import StreamAudit
from .deduplicate import Deduplicator, ReceivedEvent
from .replies import OpenPrompts, SentReplies, encode_checked
from .request import Terms
from .status import (
    RESUMABLE_REASONS,
    ProducerClosed,
    RequestRejected,
    Status,
    StatusKind,
    SubscriptionLost,
    SubscriptionRefused,
    build_refused_error,
    describe_close,
)

if TYPE_CHECKING:  # it brings in the JOSE library, which few need
    from .trust import ManifestVerifier, Proof

__all__ = ["Connection", "Reconnect", "SubscriberRuntime"]

T = TypeVar("T")
log: Final = logging.getLogger("aaep.subscriber")

_random: Final = random.SystemRandom()  # its own: what others seed or replay is not disturbed

FIRST_RETRY_DELAY: Final = 0.5  # seconds between tries, at first
MAX_RETRY_DELAY: Final = 30.0  # and at most
MAX_LOCAL_RETRY_DELAY: Final = 2.0  # at most where it costs nothing: on this machine
OPEN_AFTER: Final = 1.0  # seconds after which a stream that did not break counts as open
FAREWELL_TIMEOUT: Final = 0.7  # seconds for a farewell that nobody may be there to hear
_RETRYABLE_REASONS: Final = ("rate_limit", "transport_unavailable", "unknown")  # SUB-051: may be granted another time
_NORMAL_ENDS: Final = ("producer_shutdown", "subscriber_shutdown", "superseded")  # CF-066


@list_keywords()
@dataclass(frozen=True, slots=True, kw_only=True)
class Reconnect:
    """
    When a subscriber connects again by itself, and until when.

    ``after_loss``: when the connection breaks. ``after_goodbye``: also when an agent said that it ends; a
    hub is waited for in any case. ``at_start``: also when there is no answer at first. With
    ``other_transports``, an address that fails is replaced by another one on the same host that the
    producer's manifest lists. After ``give_up_after`` seconds without a connection it is given up;
    without a number it never is.
    """

    after_loss: bool = True
    after_goodbye: bool = False
    at_start: bool = True
    other_transports: bool = False
    give_up_after: float | None = None


@list_keywords()
@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriberRuntime:
    """
    The event loop, the queue, the clocks and the randomness of a subscriber.

    They are for tests, and for programs with little memory or many subscribers. ``max_queued_events``
    bounds the events that were received and not taken out yet. With a ``loop``, the subscriber has no
    thread of its own: it is used there only, and its callbacks run there.
    """

    max_queued_events: int = 10_000
    loop: asyncio.AbstractEventLoop | None = None
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = _random.random


class Connection:
    """
    The connection of one subscriber to one producer, from the first request to the end.

    ``is_local``: the producer is on this machine, where one may knock more often.
    """

    def __init__(
        self,
        channel: Channel,
        terms: Terms,
        build_request: Callable[[Terms, str, str | bool], bytes],
        *,
        resume_after: str,
        reconnect: Reconnect,
        is_local: bool = False,
        on_finding: Callable[[Finding], None] | None,
        on_status: Callable[[Status], None] | None,
        verifier: ManifestVerifier | None,
        runtime: SubscriberRuntime,
    ) -> None:
        self.channel = channel
        self.requested_terms = terms
        self._phrases = get_phrases((*terms.languages, *terms.fallback_languages))
        self._build_request = build_request
        self._reconnect = reconnect
        self._max_retry_delay = MAX_LOCAL_RETRY_DELAY if is_local else MAX_RETRY_DELAY
        self._on_status = on_status
        self._verifier = verifier
        self.proof: Proof | None = None
        self.clock = runtime.clock
        self.wall = runtime.wall
        self._sleep = runtime.sleep
        self._random = runtime.random
        self._given_loop = runtime.loop
        # Each event with the id to resume after once it was taken out.
        self.mailbox: Mailbox[tuple[Envelope, str]] = Mailbox(runtime.max_queued_events, self._mailbox_drained)
        self.audit = StreamAudit(terms.extension_registry(), on_finding)
        self.status = Status("new", "Not connected yet.")
        self.prompts = OpenPrompts()
        self.replies = SentReplies()
        self.lock = RLock()
        self.subscription_id = ""
        self.last_received_id = resume_after
        self.last_taken_id = resume_after
        self._start: str | None = None  # the event after which the reader started, empty before the first
        self._resume_point = resume_after  # everything up to it is in the mailbox, or was taken out
        self.terms: Capabilities | None = None
        self.producer: ProducerInfo | None = None
        self.notes = ""
        self.ready: Future[Capabilities] = Future()
        self.done: Future[None] = Future()
        self._deduplicator = Deduplicator()
        self._attempts = 0
        self._has_lost_subscription = False  # and had no stream since
        self._unreachable_since: float | None = None  # when it was first tried in vain, since the stream was up
        self._is_open = False  # whether the stream is up
        self._is_resuming = False
        self._connection_stage: Literal["new", "starts", "under way"] = "new"  # which events have come over it
        self._is_renewing = False
        self._closing_task: asyncio.Task[None] | None = None
        self._is_finishing = False
        self._background: BackgroundLoop | None = None
        self._main_task: asyncio.Task[None] | None = None
        self._stream_task: asyncio.Task[None] | None = None
        self._work_tasks: set[asyncio.Task[Any]] = set()  # of run_soon()
        self._has_room = asyncio.Event()
        self._renegotiation_lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None

    # -- from any thread -------------------------------------------------------------------

    def start(self) -> None:
        """Begin, once."""
        with self.lock:
            if self._background is None and not self.done.done():
                self._background = BackgroundLoop("aaep-subscriber", self._given_loop)
                self._background.call_soon(self._begin)
            elif self._background is not None:
                self._background.check_alive()

    def run_soon(self, work: Coroutine[Any, Any, T], *, owner: object = None) -> Waitable[T]:
        """Have the loop do something that is waited for elsewhere; ``owner`` is kept alive meanwhile."""
        self.start()
        with self.lock:
            if self._background is None or self.done.done():
                work.close()
                raise AaepError("The subscription has ended. Make a new Subscriber.")
            future = asyncio.run_coroutine_threadsafe(self._run_work(work), self._background.loop)
            return Waitable(future, owner=owner)

    async def _run_work(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._work_tasks.add(task)
        try:
            return await work
        except asyncio.CancelledError:
            raise AaepError("The subscriber was closed before this was done.") from None
        finally:
            self._work_tasks.discard(task)

    def close(self, reason: str = "subscriber_shutdown", text: str = "The reader has closed.") -> Waitable[None]:
        """Say goodbye and end. Closing twice is fine."""
        with self.lock:
            if self._background is None:
                if not self.done.done():
                    self.done.set_result(None)
                self.mailbox.close()
            else:
                self._background.call_soon(self._begin_closing, reason, text)
        return Waitable(self.done)

    def _mailbox_drained(self) -> None:
        if self._background is not None:
            self._background.call_soon(self._has_room.set)

    # -- from the beginning to the end -----------------------------------------------------

    def _begin(self) -> None:
        self._main_task = asyncio.get_running_loop().create_task(self._run())

    def _begin_closing(self, reason: str, text: str) -> None:
        if self._main_task is not None and not self._closing_task and not self._is_finishing:
            self._closing_task = asyncio.get_running_loop().create_task(
                self._close_gracefully(self._main_task, reason, text)
            )

    async def _close_gracefully(self, main: asyncio.Task[None], reason: str, text: str) -> None:
        """SUB-065 §5.8: said while there is a connection to say it on."""
        await self._unsubscribe(reason, text)
        if not self._is_finishing:
            main.cancel()

    async def _unsubscribe(self, reason: str, text: str) -> None:
        if self.subscription_id:
            message = SubscriptionClose(subscription_id=self.subscription_id, reason_code=reason, reason_message=text)
            await self._try_briefly(self.channel.send(encode_checked(message)))

    async def _run(self) -> None:
        error: BaseException | None = None
        try:
            while await self._connect_and_listen():
                pass
        except asyncio.CancelledError:
            pass  # closed on our side
        except Exception as problem:
            error = problem
            if not isinstance(problem, AaepError):
                log.exception("The subscriber failed. This is a bug.")
        finally:
            await self._finish(error)

    async def _finish(self, error: BaseException | None) -> None:
        self._is_finishing = True
        if self._timer is not None:
            self._timer.cancel()
        await self._try_briefly(self.channel.close())
        for task in self._work_tasks:
            task.cancel()
        self._set_status("ended", str(error or ("Closed." if self._closing_task else self.status.text)))
        self.mailbox.close(error)
        if not self.ready.done():
            self.ready.set_exception(error or AaepError("The subscriber was closed before it was connected."))
        with self.lock:  # so that nobody gives the loop work that it will not do
            self.done.set_result(None)
            if self._background is not None:
                self._background.stop()

    async def _try_briefly(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            async with asyncio.timeout(FAREWELL_TIMEOUT):
                await work
        except (AaepError, TimeoutError) as error:
            log.debug("Leaving without a farewell: %s", error)

    async def _connect_and_listen(self) -> bool:
        """Subscribe if need be, and listen; whether to go on after that."""
        try:
            if not self.subscription_id:
                await self._subscribe()
            self._stream_task = asyncio.get_running_loop().create_task(self._listen())
            await self._stream_task
            raise ChannelLost("The stream ended.")
        except ChannelLost as lost:
            if self._closing_task:
                return False
            await self._wait_before_retry(str(lost), lost)
        except RequestRejected as refused:
            if not self.ready.done() or refused.error.reason_code not in _RETRYABLE_REASONS:
                raise refused.error from None
            await self._wait_before_retry(
                str(refused.error), refused.error, float(refused.error.retry_after or 0)
            )  # SUB-045
        except SubscriptionLost as gone:
            self.subscription_id = ""  # CF-092: a new subscription, from where we were
            # At once: it was waited when the connection was lost. But not one after the other without end.
            if self._has_lost_subscription or not self._reconnect.after_loss:
                await self._wait_before_retry(str(gone.error), gone.error)
            self._has_lost_subscription = True
        except ProducerClosed as ended:
            return await self._handle_close(ended.message)
        except asyncio.CancelledError:
            if not self._is_renewing or self._closing_task:
                raise
            self._is_renewing = False
        return True

    async def _handle_close(self, message: SubscriptionClose) -> bool:
        """The producer closed. CF-066"""
        reason = message.reason_code
        said = "" if message.reason_message is UNSET else sanitize(message.reason_message)
        if reason in RESUMABLE_REASONS and self._reconnect.after_loss:
            error = SubscriptionRefused(reason, said, phrases=self._phrases)
            await self._wait_before_retry(self._phrases[f"resume-{reason}"], error)
            return True
        self.subscription_id = ""
        agent = "" if self.producer is None else self.producer.agent_id  # the end of a hub is not that of its agents
        if reason == "producer_shutdown" and (
            self._reconnect.after_goodbye or (agent == HUB_AGENT_ID and self._reconnect.after_loss)
        ):
            text = said or describe_close_reason(reason, is_hub=agent == HUB_AGENT_ID, phrases=self._phrases)
            await self._wait_before_retry(text, ChannelLost(text), reason_code=reason)
            return True
        log.info("The producer ended the subscription: %s.", sanitize(reason))
        name = "" if self.producer is None else get_member(self.producer, "agent_name") or agent
        self.status = Status("ended", describe_close(message, agent, name, self._phrases), reason_code=reason)
        if reason not in _NORMAL_ENDS:
            raise SubscriptionRefused(reason, said, phrases=self._phrases)
        return False

    async def _wait_before_retry(
        self, why: str, error: AaepError, least: float = 0.0, *, reason_code: str = ""
    ) -> None:
        """Wait before the next try, longer each time, and not in step with others."""
        if not self._reconnect.after_loss or not (self._reconnect.at_start or self.ready.done()):
            raise error
        self._check_patience(why, error)
        self._attempts += 1
        longest = min(self._max_retry_delay, FIRST_RETRY_DELAY * 2 ** min(self._attempts - 1, 10))
        delay = max(least, longest * (0.5 + self._random() / 2))
        text = self._phrases.format("retrying", reason=why, seconds=round(delay, 1))
        log.log(logging.DEBUG if self._on_status else logging.WARNING, "%s", text)  # said once, somewhere
        self._set_status("waiting", text, delay, reason_code)
        await self._sleep(delay)

    def _check_patience(self, why: str, error: AaepError) -> None:
        """Raise if there was no connection for so long that it is given up."""
        now = self.clock()
        if self._unreachable_since is None:
            self._unreachable_since = now
        limit = self._reconnect.give_up_after
        if limit is not None and now - self._unreachable_since >= limit:
            duration = self._phrases.format_duration(limit, "after")
            raise ChannelLost(self._phrases.format("gave_up", duration=duration, reason=why)) from error

    # -- the handshake ---------------------------------------------------------------------

    async def _subscribe(self) -> None:
        self._set_status("connecting", "Connecting.")
        self.audit.audit.subscriptions.clear()  # what is said from here on belongs to a new one
        answer = await self._send_request(self.requested_terms)
        if isinstance(answer, SubscriptionRejected) and answer.reason_code == "capabilities_incompatible":
            other = self.requested_terms.fallback_after_refusal(
                await self._fetch_offered_languages(), answer.reason_message
            )
            if other is not None:  # CF-045, EXT-020
                answer = await self._send_request(other)
                self.requested_terms = other
        if isinstance(answer, SubscriptionRejected):
            raise RequestRejected(build_refused_error(answer, self._phrases))
        self._apply_answer(answer)
        if not answer.aaep_version.startswith(("1.", "0.1.0-draft")):  # CF-047, CF-048
            await self._unsubscribe("protocol_error", "The version that was answered is not spoken here.")
            raise SubscriptionRefused(
                "version_unsupported", f"It answered with version {answer.aaep_version}.", phrases=self._phrases
            )
        await self._verify_producer(answer)
        self._connection_began(anew=True)
        first = not self.ready.done()
        self._is_open, self._is_resuming = True, not first or bool(self.last_received_id)
        self._set_status("connected" if first else "resumed", self._phrases["connected" if first else "reconnected"])
        if first:
            self.ready.set_result(self._effective_terms())

    async def _send_request(self, wishes: Terms) -> SubscriptionAccepted | SubscriptionRejected:
        sent = self._build_request(wishes, self.last_received_id, True if self._start is None else self._start)
        raw = await self.channel.request(sent)
        self.audit.feed(sent, self._timestamp())
        return self._parse_answer(raw)

    def _parse_answer(self, raw: bytes) -> SubscriptionAccepted | SubscriptionRejected:
        """CF-148: what is granted wider than asked is found by the audit."""
        message = self.audit.feed(raw, self._timestamp())
        if not isinstance(message, (SubscriptionAccepted, SubscriptionRejected)):
            raise RemoteProtocolError("What answered is no AAEP producer, or a broken one. Check the address.")
        return message

    def _apply_answer(self, answer: SubscriptionAccepted) -> None:
        self.subscription_id = answer.subscription_id
        self.terms = tighten(self.requested_terms.to_capabilities(), answer.honored_capabilities)  # CF-148
        self.producer = answer.producer
        entry = answer.honored_capabilities.unknown.get(PREFIX)
        start = entry.get("start") if isinstance(entry, dict) else None
        if self._start is None and isinstance(start, str):
            self._start = start
        self.notes = "" if answer.negotiation_notes is UNSET else answer.negotiation_notes

    async def _verify_producer(self, answer: SubscriptionAccepted) -> None:
        """CF-123: who is not who it should be is left before anything of it is heard, and not tried again."""
        if self._verifier is None:
            return
        self.proof = None
        try:
            self.proof = await self._verifier.verify(self.channel, answer, self._effective_terms(), self.wall())
        except AaepError as error:
            if not isinstance(error, ChannelLost):
                await self._unsubscribe("manifest_invalid", "The signed manifest could not be verified.")
            self.subscription_id = ""  # so that nobody listens on before it was looked at again
            raise

    async def _fetch_offered_languages(self) -> Sequence[str]:
        """The languages of the manifest; none if there is no manifest to be had."""
        try:
            return manifests.parse_manifest(await self.channel.manifest()).languages_supported
        except AaepError as error:
            log.debug("There is no manifest: %s", error)
            return ()

    def _effective_terms(self) -> Capabilities:
        return self.terms if self.terms is not None else with_defaults(Capabilities())

    async def renegotiate(self, changes: Mapping[str, Any]) -> Capabilities:
        """Ask for other terms. §5.7"""
        await shield_future(self.ready)
        async with self._renegotiation_lock:  # what is asked for follows from what was granted before
            wanted = self.requested_terms.with_changes(**changes)
            if not self.subscription_id:
                raise ChannelLost("There is no connection at the moment. Try again when there is one.")
            sent = self.requested_terms.build_change(wanted, self.subscription_id)
            raw = await self.channel.request(sent)
            self.audit.feed(sent, self._timestamp())
            answer = self._parse_answer(raw)
            if isinstance(answer, SubscriptionRejected):  # CF-041: the old terms again, rather than none
                log.warning("The change was refused, which ended the subscription. Subscribing again as before.")
                self._resubscribe()
                raise build_refused_error(answer, self._phrases)
            self.requested_terms = wanted
            self._apply_answer(answer)
            try:
                await self._verify_producer(answer)
            except AaepError:
                self._resubscribe()
                raise
        self._deduplicator.terms_changed()
        return self._effective_terms()

    def _resubscribe(self) -> None:
        """Subscribe again."""
        self.subscription_id = ""
        if self._stream_task is not None:
            self._is_renewing = self._stream_task.cancel()

    def _connection_began(self, *, anew: bool = False) -> None:
        self._connection_stage = "new"
        self.audit.connection_began()
        self._deduplicator.connection_began(anew=anew)
        with self.lock:
            self.prompts.connection_began()

    # -- the stream ------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Take what comes until the stream ends."""
        if not self._is_open:
            self._connection_began()
        up = asyncio.get_running_loop().call_later(OPEN_AFTER, self._mark_open)
        messages = self.channel.receive_messages(self.subscription_id, self.last_received_id)
        try:
            async with _closing_iterator(messages):
                async for received in messages:
                    self._mark_open()
                    self._handle_message(received)
                    while (
                        self.mailbox.is_full()
                    ):  # who reads is behind: so is the producer then, and it may merge (CF-083)
                        self._has_room.clear()
                        if self.mailbox.is_full():
                            await self._has_room.wait()
        except ChannelRefused as refused:
            if not refused.gone:
                raise
            raise SubscriptionLost(refused) from refused
        finally:
            up.cancel()
            for event in self._deduplicator.connection_lost():
                self._deliver(event)
            self._update_resume_point()
            self._schedule_advance()
            self._is_open, self._is_resuming = False, True

    def _mark_open(self) -> None:
        self._attempts = 0
        self._has_lost_subscription = False
        self._unreachable_since = None
        if not self._is_open:
            self._is_open = True
            self._set_status("resumed", self._phrases["reconnected"])

    def _handle_message(self, received: ReceivedMessage) -> None:
        message, violations = self.audit.read(received.data)
        if message is None:
            self._notify_status(
                Status("unread", self._phrases["unreadable"])
            )  # SEC-009: it may have been a question, and nobody is to wait for nothing
        self.last_received_id = self._find_resume_id(received, message)
        if isinstance(message, Envelope):
            with self.lock:
                self.prompts.note_arrival(message)
            self._resend_reply(self.replies.find_repeat(message, self.subscription_id))
            event = ReceivedEvent(message, received.data, violations)
            events, late = self._deduplicator.take(event, self.clock())
            self.audit.report_violations(late, message.event_id, message.session_id)
            for event in events[:-1]:
                self._deliver(event)
            self._update_resume_point()
            for event in events[-1:]:
                self._deliver(event)
            self._schedule_advance()
        elif isinstance(message, SubscriptionClose):
            if message.subscription_id == self.subscription_id:
                self.audit.feed(received.data, self._timestamp())
                raise ProducerClosed(message)
            log.warning("A close of another subscription was ignored.")
        elif message is not None:  # CF-038: only subscribers renegotiate, and so with the rest
            log.warning("A %s on the event stream was ignored.", getattr(message, "type", "message"))

    def _update_resume_point(self) -> None:
        """Who resumes after what has come misses nothing of it, unless something is held."""
        if self._deduplicator.next_deadline is None:
            self._resume_point = self.last_received_id

    def _find_resume_id(self, received: ReceivedMessage, message: Message | None) -> str:
        """
        Return the id to resume after, now that a message has come.

        What was sent ahead of others is no place to resume after, nor is what only this
        stream has (C-36), unless it names one. Of the sessions that a catch-up begins
        with, more may be still to come: the subscription is started again, or else
        all that came after the start of the first is heard.
        """
        if not isinstance(message, Envelope):
            return received.id or self.last_received_id
        if attend_member(message, "resync"):
            position = attend_member(message, "position")
            if not isinstance(position, str) or not position:
                return self.last_received_id
            self._start = position
            return position
        if self.audit.is_ahead(message):
            return self.last_received_id
        is_start = isinstance(message, SessionStarted)
        may_start_again = self._start is not None and not self.last_received_id
        is_catching_up = is_start and (may_start_again or self._connection_stage == "starts")
        if self._connection_stage != "under way":
            self._connection_stage = "starts" if is_start else "under way"
        return self.last_received_id if is_catching_up else received.id or message.event_id

    def _resend_reply(self, reply: bytes | None) -> None:
        if reply is not None:
            self._repeated = asyncio.get_running_loop().create_task(self._try_briefly(self.channel.send(reply)))

    def _schedule_advance(self) -> None:
        due = self._deduplicator.next_deadline
        if due is None and self._timer is None:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is not None:
            wait = max(0.0, due - self.clock())
            self._timer = asyncio.get_running_loop().call_later(wait, self._advance)

    def _advance(self) -> None:
        for event in self._deduplicator.advance(self.clock()):
            self._deliver(event)
        self._update_resume_point()
        self._schedule_advance()

    # -- one event -------------------------------------------------------------------------

    def _deliver(self, received: ReceivedEvent) -> None:
        event = received.event
        self.audit.feed_event(received, self._timestamp())
        own = self.requested_terms.own_filters()
        if own is not None and not is_critical(event) and not is_admitted(own, event.type):
            return  # CF-148: it was not asked for, and the audit has said so
        if attend_member(event, "resync") and self._is_resuming:
            self._is_resuming = False
            if not attend_member(event, "repeated"):
                self._set_status("gap", self._phrases["gap"])
        with self.lock:
            self.prompts.update(event, self.clock())
        self.mailbox.put((event, self._resume_point))

    def _timestamp(self) -> str:
        return format_timestamp(self.wall())

    def _set_status(self, kind: StatusKind, text: str, retry: float | None = None, reason_code: str = "") -> None:
        self.status = Status(kind, text, retry, self.status.reason_code if kind == "ended" else reason_code)
        self._notify_status(self.status)

    def _notify_status(self, status: Status) -> None:
        if self._on_status is not None:
            try:
                self._on_status(status)
            except Exception:  # a callback of the caller's must not break the stream
                log.exception("The tell callback failed.")


@contextlib.asynccontextmanager
async def _closing_iterator(messages: AsyncIterator[ReceivedMessage]) -> AsyncIterator[None]:
    try:
        yield
    finally:
        shut = getattr(messages, "aclose", None)
        if shut is not None:
            await shut()
