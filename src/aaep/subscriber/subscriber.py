"""
The :class:`Subscriber`: what assistive technology holds to subscribe, iterate and answer.

``for event in subscriber`` and ``async for event in subscriber`` both work: the
network side has a thread of its own, and only the waiting differs. Events come
once, in order, over any number of reconnects. Violations in them are reported
and never stop them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import ssl
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar, Unpack

from ..errors import AaepError
from ..identity.origins import is_on_this_machine
from ..presentation.announce import Announcement
from ..presentation.preferences import DEFAULT_PREFERENCES, Preferences
from ..presentation.presenter import Presenter
from ..protocol.attend_extension import attend_member
from ..protocol.audit import Audit, Finding
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope, ProducerInfo
from ..protocol.fields import Verbosity
from ..protocol.messages import Capabilities, Reply
from ..runtime.background import Waitable, check_may_block, is_in_event_loop
from ..runtime.ids import format_timestamp
from ..runtime.options import list_keywords
from ..text.phrases import get_phrases
from ..transports.base import Channel, ChannelLost, connect, find_transport
from ..transports.options import DEFAULT_CONNECT_OPTIONS, ConnectOptions, Tls, Token, keep_supported
from ..version import __version__
from .connection import Connection, Reconnect, SubscriberRuntime
from .fallback import FallbackChannel
from .record import RecordCallback, RecordingChannel
from .replies import LOCAL_USER, build_clarification_reply, build_confirmation_reply, forward_reply, is_refusal
from .request import Terms, TermsChanges
from .status import Status, SubscriptionRefused

if TYPE_CHECKING:  # they bring in the JOSE library, which few need
    from ..identity.signing_keys import TrustedKeys
    from .trust import ManifestVerifier, Proof

__all__ = ["Announcements", "Status", "Subscriber", "SubscriptionRefused", "listen"]

Options = TypeVar("Options", Terms, ConnectOptions)

_CLOSE_TIMEOUT: Final = 3.0  # seconds that close() waits in a plain program
_DEFAULT_TERMS: Final = Terms()
_DEFAULT_RUNTIME: Final = SubscriberRuntime()


class Subscriber:
    """
    A subscription to one producer: iterate over its events, and answer its prompts.

    ``source`` is a URL, or a channel. ``replies=False`` only listens. ``verbosity``, ``languages`` and
    ``replies`` are short for those of ``terms``, which has everything that can be negotiated; ``token``
    and ``tls`` are short for those of ``connect``. ``reconnect=False`` gives up when the connection is
    lost. ``resume_after`` is the id of the last event that was read in an earlier run.

    ``trust`` are the keys that may vouch for a producer: a file with public keys, as a JWK Set, JWK or
    PEM, or :class:`~aaep.identity.signing_keys.TrustedKeys`. Then only a producer that proves its identity
    with a signed manifest is accepted, unless ``terms`` says otherwise; see :attr:`trusted`.

    The callbacks run on another thread. ``on_status`` gets each change of the connection's status,
    ``on_finding`` each finding about what was received, and ``on_message`` every message, with "out" for
    one of the producer and "in" for one of the subscriber.

    Nothing is sent before the first use. A program that reads slowly slows the producer's sending, and
    loses nothing.
    """

    @list_keywords(terms=Terms, connect=ConnectOptions, reconnect=Reconnect, runtime=SubscriberRuntime)
    def __init__(
        self,
        source: str | Channel,
        *,
        subscriber_id: str = "aaep-python",
        name: str = "AAEP for Python",
        replies: bool | None = None,
        verbosity: Verbosity | None = None,
        languages: str | Iterable[str] | None = None,
        terms: Terms = _DEFAULT_TERMS,
        token: Token = None,
        tls: Tls | None = None,
        connect: ConnectOptions = DEFAULT_CONNECT_OPTIONS,
        reconnect: bool | Reconnect = True,
        resume_after: str = "",
        trust: TrustedKeys | str | os.PathLike[str] | None = None,
        on_status: Callable[[Status], None] | None = None,
        on_finding: Callable[[Finding], None] | None = None,
        on_message: RecordCallback | None = None,
        runtime: SubscriberRuntime = _DEFAULT_RUNTIME,
    ) -> None:
        terms = _replace_given(
            terms,
            replies=replies,
            verbosity=verbosity,
            languages=languages,
            require_signed=trust is not None if terms.require_signed is None else None,
        )
        connect = _replace_given(connect, token=token, tls=tls)
        if isinstance(reconnect, bool):
            reconnect = Reconnect(after_loss=reconnect)

        def build_request(terms: Terms, after: str, start: str | bool) -> bytes:
            return terms.build_request(subscriber_id, name, __version__, after, start)

        build_request(terms, resume_after, True)  # raises an error for what cannot be asked, before anything is sent
        channel = _open_channel(source, connect, use_other_transports=reconnect.other_transports)
        if on_message is not None:
            channel = RecordingChannel(channel, on_message)
        self._own_answers: dict[str, str] = {}  # the outcome of each if it counts, by reply token
        self._connection = Connection(
            channel,
            terms,
            build_request,
            resume_after=resume_after,
            reconnect=reconnect,
            is_local=isinstance(source, str) and is_on_this_machine(source),
            on_finding=on_finding,
            on_status=on_status,
            verifier=_build_verifier(trust, channel, source, connect.tls, terms),
            runtime=runtime,
        )
        # A subscriber that is forgotten is closed, unless its callbacks lead back to it: the connection has them. What
        # has ended is not held on to.
        finalizer = weakref.finalize(self, self._connection.close)
        self._connection.done.add_done_callback(lambda _: finalizer.detach())

    # -- iterating -------------------------------------------------------------------------

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Envelope:
        return self._next()

    def _next(self, timeout: float | None = None) -> Envelope:
        check_may_block("Iterating", "Write `async for` in place of `for`.")
        self._connection.start()
        got = self._connection.mailbox.get(timeout)
        if got is None:
            raise StopIteration
        event, self._connection.last_taken_id = got
        return event

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Envelope:
        return await self._anext()

    async def _anext(self, timeout: float | None = None) -> Envelope:
        self._connection.start()
        got = await self._connection.mailbox.get_async(timeout)
        if got is None:
            raise StopAsyncIteration
        event, self._connection.last_taken_id = got
        return event

    def announcements(self, preferences: Preferences | None = None) -> Announcements:
        """
        Iterate over what a person should hear in place of the events, in a plain loop or an asynchronous one.

        Pieces of text are joined to sentences. Without ``preferences``, those count that
        the producer was asked for, and no keys are named.
        """
        get_preferences = self._requested_preferences if preferences is None else lambda: preferences
        return Announcements(self, get_preferences, self._connection.clock)

    def _requested_preferences(self) -> Preferences:
        terms = self._connection.requested_terms
        return Preferences(
            verbosity=terms.verbosity,
            languages=(*terms.languages, *terms.fallback_languages),
            keys={},
            pace=terms.pace_wpm or DEFAULT_PREFERENCES.pace,
            load=terms.cognitive_load,  # type: ignore[arg-type]  # what it may be was checked before it was sent
        )

    # -- how it is -------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """The status of the connection."""
        return self._connection.status

    @property
    def terms(self) -> Capabilities | None:
        """The terms that were granted, never more than was asked for; None before the handshake."""
        return self._connection.terms

    @property
    def subscription_id(self) -> str:
        """The id of the subscription; empty while there is none."""
        return self._connection.subscription_id

    @property
    def producer(self) -> ProducerInfo | None:
        """What the producer says it is; None before the handshake."""
        return self._connection.producer

    @property
    def trusted(self) -> bool:
        """Whether the producer has proved its identity; never without ``trust``."""
        return self._connection.proof is not None and self._connection.proof.is_proven

    @property
    def proof(self) -> Proof | None:
        """The result of checking the producer's identity; None without ``trust`` and before the handshake."""
        return self._connection.proof

    @property
    def notes(self) -> str:
        """What the producer said about the terms. It is untrusted text: sanitize it before showing it."""
        return self._connection.notes

    @property
    def last_event_id(self) -> str:
        """The id to give as ``resume_after`` another time: that of the last event that was read here."""
        return self._connection.last_taken_id

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The newest findings about what was received, oldest of them first."""
        return tuple(self._connection.audit.findings.copy())

    @property
    def audit(self) -> Audit:
        """The audit of everything that was received."""
        return self._connection.audit.audit

    @property
    def prompts(self) -> tuple[AwaitingConfirmation | AwaitingClarification, ...]:
        """The prompts that can be answered, oldest first."""
        with self._connection.lock:
            return self._connection.prompts.pending(self._connection.clock())

    # -- answering -------------------------------------------------------------------------

    def accept(
        self, asked: Envelope | str, *, decided_by: str = LOCAL_USER, rationale: str | None = None
    ) -> Waitable[None]:
        """
        Send the person's yes to a confirmation, given as the event or its token.

        Raises :exc:`~aaep.errors.LocalProtocolError` if the prompt is closed or
        was never asked here. That it was sent does not say that it counted: the
        outcome comes as an event.
        """
        write = partial(build_confirmation_reply, decision="accept", decided_by=decided_by, rationale=rationale)
        return self._reply(asked, write, outcome="accepted")

    def reject(
        self, asked: Envelope | str, *, decided_by: str = LOCAL_USER, rationale: str | None = None
    ) -> Waitable[None]:
        """Send the person's no to a confirmation."""
        write = partial(build_confirmation_reply, decision="reject", decided_by=decided_by, rationale=rationale)
        return self._reply(asked, write, refusing=True, outcome="rejected")

    def answer(
        self, asked: Envelope | str, response: str | bool | int | float, *, decided_by: str = LOCAL_USER
    ) -> Waitable[None]:
        """Send the person's answer to a question."""
        write = partial(build_clarification_reply, response=response, decided_by=decided_by)
        return self._reply(asked, write, outcome="answered")

    def pass_on(self, message: Reply) -> Waitable[None]:
        """Forward a reply that another subscriber gave, unchanged, as a hub does."""
        return self._reply(message.reply_token, partial(forward_reply, message), refusing=is_refusal(message))

    def _reply(
        self, asked: Envelope | str, write: Callable[..., bytes], *, refusing: bool = False, outcome: str = ""
    ) -> Waitable[None]:
        """Send a reply; ``outcome`` is what the prompt comes to if it counts."""
        connection = self._connection
        now = format_timestamp(connection.wall())  # CONF-024: when the person decided
        with connection.lock:
            prompt = connection.prompts.find(asked, connection.clock())
        terms, subscription_id = connection.terms, connection.subscription_id
        if terms is None or not subscription_id:
            raise ChannelLost("There is no connection at the moment. Nothing was sent; answer again when it is back.")
        write = partial(write, prompt, timestamp=now, terms=terms)
        raw = write(subscription_id=subscription_id)
        connection.replies.remember(prompt, write, refuses=refusing)
        if outcome:
            self._own_answers[prompt.reply_token] = outcome
        return connection.run_soon(connection.channel.send(raw))

    # -- changing and ending ---------------------------------------------------------------

    def ready(self) -> Waitable[Capabilities]:
        """Return a value to wait for: the terms, once the producer has granted them."""
        self._connection.start()
        return Waitable(self._connection.ready, owner=self)

    def renegotiate(self, **changes: Unpack[TermsChanges]) -> Waitable[Capabilities]:
        """Ask for other terms, by the names of :class:`Terms`. Returns a value to wait for: those that were granted."""
        self._connection.requested_terms.with_changes(**changes)  # raises at once for what cannot be changed
        return self._connection.run_soon(self._connection.renegotiate(changes), owner=self)

    def stop(self, session_id: str) -> Waitable[Capabilities]:
        """
        Ask the producer to stop a session (CF-147). When it does, a ``session.cancelled`` event arrives.

        It takes a subscription that may answer prompts, and a producer that knows our extension.
        """
        return self._connection.run_soon(self._connection.renegotiate({"cancel": session_id}), owner=self)

    def close(self, reason: str = "subscriber_shutdown", text: str = "The reader has closed.") -> Waitable[None]:
        """Tell the producer and disconnect. In a plain program that is done on return; in asyncio, await it."""
        ended = self._connection.close(reason, text)
        if not is_in_event_loop():
            with contextlib.suppress(TimeoutError):  # it ends by itself; we do not hold anybody up
                ended.wait(_CLOSE_TIMEOUT)
        return ended

    def __enter__(self) -> Self:
        self._connection.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        self._connection.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._connection.close()


class Announcements:
    """An iterator over what a person hears of a subscriber's events, in whole sentences, each once."""

    def __init__(
        self, subscriber: Subscriber, preferences: Callable[[], Preferences], clock: Callable[[], float]
    ) -> None:
        self._subscriber = subscriber
        self._clock = clock
        self._preferences = preferences
        self._presenter = Presenter()
        self._ready: deque[Announcement] = deque()
        self._end_error: BaseException | None = None  # what ended the events; what is held is said before it is told

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Announcement:
        while not self._ready:
            self._raise_if_ended()
            try:
                self._add(self._subscriber._next(self._time_to_wait()))
            except TimeoutError:
                self._advance()
            except (StopIteration, AaepError) as error:
                self._flush(error)
        return self._ready.popleft()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Announcement:
        while not self._ready:
            self._raise_if_ended()
            try:
                self._add(await self._subscriber._anext(self._time_to_wait()))
            except TimeoutError:
                self._advance()
            except (StopAsyncIteration, AaepError) as error:
                self._flush(error)
        return self._ready.popleft()

    def _add(self, event: Envelope) -> None:
        self._presenter.preferences = self._preferences()
        token = attend_member(event, "reply_token")
        if (outcome := self._subscriber._own_answers.pop(token, None)) is not None:
            self._presenter.note_answer(token, outcome)
        self._ready += (
            announcement for announcement in self._presenter.present(event, self._clock()) if announcement.text
        )

    def _time_to_wait(self) -> float | None:
        """Return the seconds until something is due that no event brings, such as the last progress."""
        now = self._clock()
        deadline = self._presenter.next_deadline(now)
        return None if deadline is None else deadline - now

    def _advance(self) -> None:
        due = self._presenter.advance(self._clock())
        self._ready += (announcement for announcement in due if announcement.text)

    def _flush(self, error: BaseException) -> None:
        self._end_error = error
        self._ready += self._presenter.flush()

    def _raise_if_ended(self) -> None:
        end, self._end_error = self._end_error, None
        if end is not None:
            raise end


@list_keywords(terms=Terms, connect=ConnectOptions, reconnect=Reconnect)
def listen(
    url: str,
    *,
    subscriber_id: str = "aaep-python",
    name: str = "AAEP for Python",
    replies: bool | None = None,
    verbosity: Verbosity | None = None,
    languages: str | Iterable[str] | None = None,
    terms: Terms = _DEFAULT_TERMS,
    token: Token = None,
    tls: Tls | None = None,
    connect: ConnectOptions = DEFAULT_CONNECT_OPTIONS,
    reconnect: bool | Reconnect = True,
    resume_after: str = "",
    trust: TrustedKeys | str | os.PathLike[str] | None = None,
) -> Subscriber:
    """
    Listen to the producer at a URL: iterate at once, in a plain loop or an asynchronous one.

    The parameters are those of :class:`Subscriber`, which has a few more.
    """
    return Subscriber(
        url,
        subscriber_id=subscriber_id,
        name=name,
        replies=replies,
        verbosity=verbosity,
        languages=languages,
        terms=terms,
        token=token,
        tls=tls,
        connect=connect,
        reconnect=reconnect,
        resume_after=resume_after,
        trust=trust,
    )


def _replace_given(options: Options, **values: Any) -> Options:
    """Return options with those values replaced that are not None."""
    return dataclasses.replace(options, **{name: value for name, value in values.items() if value is not None})


def _open_channel(source: str | Channel, options: ConnectOptions, *, use_other_transports: bool) -> Channel:
    if not isinstance(source, str):
        if use_other_transports:
            raise AaepError("Other transports need a URL to begin with. Give one in place of a channel.")
        return source
    if not use_other_transports:
        return connect(source, options)

    def connect_to(url: str) -> Channel:
        if url == source:
            return connect(url, options)
        return connect(url, keep_supported(options, find_transport(url).CONNECT_OPTIONS))

    return FallbackChannel(source, connect_to)


def _build_verifier(
    trust: TrustedKeys | str | os.PathLike[str] | None,
    channel: Channel,
    source: str | Channel,
    tls: Tls | None,
    terms: Terms,
) -> ManifestVerifier | None:
    is_required = bool(terms.require_signed)
    if trust is None:
        if is_required:
            raise AaepError("require_signed= needs to know whom to trust. Give trust=, a file of public keys.")
        return None
    from ..identity.signing_keys import TrustedKeys  # noqa: PLC0415  # brings in cryptography, which few need
    from .trust import ManifestVerifier  # noqa: PLC0415  # brings in cryptography, which few need

    keys = trust if isinstance(trust, TrustedKeys) else TrustedKeys.load(trust)
    context = None if tls is None else tls.context
    is_server_verified = context is None or (context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname)

    def get_url() -> str:
        if isinstance(source, str) and not isinstance(channel, FallbackChannel):
            return source
        return getattr(channel, "url", "")

    return ManifestVerifier(
        keys,
        place=get_url,
        required=is_required,
        checked=is_server_verified,
        phrases=get_phrases((*terms.languages, *terms.fallback_languages)),
    )
