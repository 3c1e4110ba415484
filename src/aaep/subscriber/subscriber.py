"""
What assistive technology holds: subscribe, iterate, answer.

``for event in subscriber`` and ``async for event in subscriber`` are the same
subscriber: the network side has a thread of its own, and only the waiting
differs. Events come once, in order, over any number of reconnects. What is
wrong with them is reported and never stops them.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import ssl
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self

from ..errors import AaepError
from ..presentation.announce import Announcement, Outputs
from ..presentation.preferences import DEFAULT_PREFERENCES, Preferences
from ..protocol.audit import Audit, Finding
from ..protocol.events import AwaitingClarification, AwaitingConfirmation, Envelope, ProducerInfo
from ..protocol.extensions import Extension
from ..protocol.fields import Boundary, Verbosity
from ..protocol.messages import Capabilities, Reply
from ..runtime.background import Waitable, is_in_event_loop
from ..runtime.ids import format_timestamp
from ..transports.base import Channel, ChannelLost, transport
from ..version import __version__
from .connection import Connection, Reconnect
from .fallback import FallbackChannel
from .record import RecordCallback, RecordingChannel
from .replies import LOCAL_USER, build_clarification_reply, build_confirmation_reply, forward_reply, is_refusal
from .request import Terms
from .status import Status, SubscriptionRefused

if TYPE_CHECKING:  # they bring in the JOSE library, which few need
    from ..identity.signing_keys import TrustedKeys
    from .trust import ManifestVerifier, Proof

__all__ = ["Announcements", "Status", "Subscriber", "SubscriptionRefused", "listen"]

_CLOSE_TIMEOUT: Final = 3.0  # seconds that close() waits in a plain program
_INTERNAL: Final = ("clock", "wall", "sleep", "chance", "backlog")


class Subscriber:
    """
    One subscription to one producer.

    ``source`` is a URL, or a channel. ``replies=False`` only listens. ``patience``
    is the shortest time, in seconds, that prompts should wait for an answer.
    ``resume_after`` is the id of the last event that was heard in an earlier run.
    ``reconnect`` is False to give up on the first loss, "always" to wait even for
    an agent that said goodbye, as a hub (``aaep serve``) is waited for anyway;
    ``wait`` is False to give up if nobody answers at first. ``report`` gets each
    finding about what was received, and ``tell`` each
    change of the connection's status, both on another thread; so does ``record`` get
    every message that passes, with "out" if it is the producer's and "in" if it is
    ours. Whatever else is named goes to the transport, such as ``token``.

    ``trust`` are the keys that may vouch for a producer: a file with public keys, as
    a JWK Set, JWK or PEM, or :class:`~aaep.identity.signing_keys.TrustedKeys`. Then only a producer
    that proves with a signed manifest who it is will do, unless ``require_signed`` is
    False; see :attr:`trusted`. With ``fall_back`` a way that fails is replaced by
    another one to the same host that the producer's manifest lists.

    Nothing is sent before the first use. Who reads too slowly slows the
    producer's sending, and loses nothing.
    """

    def __init__(
        self,
        source: str | Channel,
        *,
        subscriber_id: str = "aaep-python",
        name: str = "AAEP for Python",
        replies: bool = True,
        verbosity: Verbosity = "normal",
        languages: Iterable[str] = ("en-US",),
        fallback: Iterable[str] = (),
        max_events_per_second: int | None = None,
        boundaries: Iterable[Boundary] = ("sentence", "completion"),
        include: Iterable[str] | None = None,
        exclude: Iterable[str] = (),
        cognitive_load: str = "medium",
        pace_wpm: int | None = None,
        extensions: Iterable[Extension] = (),
        patience: int | None = None,
        resume_after: str = "",
        report: Callable[[Finding], None] | None = None,
        tell: Callable[[Status], None] | None = None,
        reconnect: Reconnect = True,
        wait: bool = True,
        trust: TrustedKeys | str | os.PathLike[str] | None = None,
        require_signed: bool | None = None,
        fall_back: bool = False,
        record: RecordCallback | None = None,
        **settings: Any,
    ) -> None:
        wishes = Terms(
            replies=replies,
            verbosity=verbosity,
            languages=_as_tuple(languages),
            fallback=_as_tuple(fallback),
            max_events_per_second=max_events_per_second,
            boundaries=tuple(boundaries),
            include=None if include is None else _as_tuple(include),
            exclude=_as_tuple(exclude),
            cognitive_load=cognitive_load,
            pace_wpm=pace_wpm,
            extensions=tuple(extensions),
            patience=patience,
            signed=trust is not None if require_signed is None else require_signed,
        )

        def introduce(wishes: Terms, after: str) -> bytes:
            return wishes.build_request(subscriber_id, name, __version__, after)

        introduce(wishes, resume_after)  # what cannot be asked is told here, before anything is sent
        inside = {key: settings.pop(key) for key in _INTERNAL if key in settings}
        channel = _open_channel(source, settings, fall_back=fall_back)
        if record is not None:
            channel = RecordingChannel(channel, record)
        self._connection = Connection(
            channel,
            wishes,
            introduce,
            resume_after=resume_after,
            reconnect=reconnect,
            wait=wait,
            report=report,
            tell=tell,
            trust=_build_verifier(trust, channel, source, settings, required=wishes.signed),
            **inside,
        )
        # The link does not know us: a subscriber that is forgotten is closed.
        weakref.finalize(self, self._connection.close)

    # -- iterating -------------------------------------------------------------------------

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Envelope:
        self._connection.start()
        got = self._connection.mailbox.get()
        if got is None:
            raise StopIteration
        event, self._connection.last_taken_id = got
        return event

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Envelope:
        self._connection.start()
        got = await self._connection.mailbox.get_async()
        if got is None:
            raise StopAsyncIteration
        event, self._connection.last_taken_id = got
        return event

    def announcements(self, preferences: Preferences | None = None) -> Announcements:
        """
        What a person should hear instead of the events, in a plain loop or an asynchronous one.

        Pieces of text are put together to sentences. Without ``preferences`` the
        wishes count that the producer was told of, and no keys are named.
        """
        return Announcements(self, self._requested_preferences if preferences is None else lambda: preferences)

    def _requested_preferences(self) -> Preferences:
        """How the person wants to be told, by what was asked for last."""
        wishes = self._connection.requested_terms
        return Preferences(
            verbosity=wishes.verbosity,
            languages=(*wishes.languages, *wishes.fallback),
            keys={},
            pace=wishes.pace_wpm or DEFAULT_PREFERENCES.pace,
            load=wishes.cognitive_load,  # type: ignore[arg-type]  # what it may be was checked before it was sent
        )

    # -- how it is -------------------------------------------------------------------------

    @property
    def status(self) -> Status:
        """How the connection is."""
        return self._connection.status

    @property
    def terms(self) -> Capabilities | None:
        """What was granted, and never more than was asked; None before the handshake."""
        return self._connection.terms

    @property
    def subscription_id(self) -> str:
        return self._connection.subscription_id

    @property
    def producer(self) -> ProducerInfo | None:
        return self._connection.producer

    @property
    def trusted(self) -> bool:
        """Whether the producer has proved who it is. False is no reproach where no ``trust`` was given."""
        return self._connection.proof is not None and self._connection.proof.is_proven

    @property
    def proof(self) -> Proof | None:
        """What is known of who the producer is, and why; None without ``trust`` and before the handshake."""
        return self._connection.proof

    @property
    def notes(self) -> str:
        """What the producer said about the terms. A stranger's text: neutralise it before it is shown."""
        return self._connection.notes

    @property
    def last_event_id(self) -> str:
        """What to give as ``resume_after`` another time: the place of the last event that was taken out here."""
        return self._connection.last_taken_id

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The newest findings about what was received, oldest of them first."""
        return tuple(self._connection.audit.findings.copy())

    @property
    def audit(self) -> Audit:
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
        return self._reply(
            asked, partial(build_confirmation_reply, decision="accept", decided_by=decided_by, rationale=rationale)
        )

    def reject(
        self, asked: Envelope | str, *, decided_by: str = LOCAL_USER, rationale: str | None = None
    ) -> Waitable[None]:
        """Send the person's no to a confirmation."""
        write = partial(build_confirmation_reply, decision="reject", decided_by=decided_by, rationale=rationale)
        return self._reply(asked, write, refusing=True)

    def answer(
        self, asked: Envelope | str, response: str | bool | int | float, *, decided_by: str = LOCAL_USER
    ) -> Waitable[None]:
        """Send the person's answer to a question."""
        return self._reply(asked, partial(build_clarification_reply, response=response, decided_by=decided_by))

    def pass_on(self, message: Reply) -> Waitable[None]:
        """Send what somebody else has answered, in their words: for who stands between the two, as a hub does."""
        return self._reply(message.reply_token, partial(forward_reply, message), refusing=is_refusal(message))

    def _reply(self, asked: Envelope | str, write: Callable[..., bytes], *, refusing: bool = False) -> Waitable[None]:
        link = self._connection
        now = format_timestamp(link.wall())  # CONF-024: when the person decided
        with link.lock:
            prompt = link.prompts.find(asked, link.clock())
        terms, subscription_id = link.terms, link.subscription_id
        if terms is None or not subscription_id:
            raise ChannelLost("There is no connection at the moment. Nothing was sent; answer again when it is back.")
        write = partial(write, prompt, timestamp=now, terms=terms)
        raw = write(subscription_id=subscription_id)
        link.replies.remember(prompt, write, refuses=refusing)
        return link.run_soon(link.channel.send(raw))

    # -- changing and ending ---------------------------------------------------------------

    def ready(self) -> Waitable[Capabilities]:
        """The terms, when the producer has granted them."""
        self._connection.start()
        return Waitable(self._connection.ready)

    def renegotiate(self, **changes: Any) -> Waitable[Capabilities]:
        """Ask for other terms, by the names of the constructor. Gives those that were granted."""
        return self._connection.run_soon(self._connection.renegotiate(changes))

    def stop(self, session_id: str) -> Waitable[Capabilities]:
        """
        Ask that a session be stopped (CF-147). That it was comes as its ``session.cancelled``.

        Only who may answer prompts is heard, and only by a producer that knows our extension.
        """
        return self.renegotiate(cancel=session_id)

    def close(self, reason: str = "subscriber_shutdown", text: str = "The reader has closed.") -> Waitable[None]:
        """Tell the producer and end. In a plain program it is done on return; in asyncio, await it."""
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
    """What a person hears of a subscriber's events: whole sentences, each once, and never nothing."""

    def __init__(self, subscriber: Subscriber, preferences: Callable[[], Preferences]) -> None:
        self._subscriber, self._preferences = subscriber, preferences
        self._outputs = Outputs()
        self._ready: deque[Announcement] = deque()
        self._end_error: BaseException | None = None  # what ended the events; what is held is said before it is told

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Announcement:
        while not self._ready:
            self._raise_if_ended()
            try:
                self._add(next(self._subscriber))
            except (StopIteration, AaepError) as error:
                self._flush(error)
        return self._ready.popleft()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Announcement:
        while not self._ready:
            self._raise_if_ended()
            try:
                self._add(await anext(self._subscriber))
            except (StopAsyncIteration, AaepError) as error:
                self._flush(error)
        return self._ready.popleft()

    def _add(self, event: Envelope) -> None:
        self._outputs.preferences = self._preferences()
        self._ready += (one for one in self._outputs.announce(event) if one.text and not one.redundant)

    def _flush(self, error: BaseException) -> None:
        self._end_error = error
        self._ready += self._outputs.flush()

    def _raise_if_ended(self) -> None:
        end, self._end_error = self._end_error, None
        if end is not None:
            raise end


def listen(url: str, **settings: Any) -> Subscriber:
    """
    Listen to the producer at a URL: iterate at once, in a plain loop or an asynchronous one.

    The settings are those of :class:`Subscriber`.
    """
    return Subscriber(url, **settings)


def _open_channel(source: str | Channel, settings: dict[str, Any], *, fall_back: bool) -> Channel:
    if not isinstance(source, str):
        if fall_back:
            raise AaepError("fall_back= needs a URL to begin with. Give one in place of a channel.")
        return source
    if not fall_back:
        return transport(source).connect(source, **settings)

    def connect(url: str) -> Channel:
        to = transport(url).connect
        known = inspect.signature(to).parameters  # of other transports, not all know all that was set for the first
        return to(url, **{name: value for name, value in settings.items() if url == source or name in known})

    return FallbackChannel(source, connect)


def _build_verifier(
    given: TrustedKeys | str | os.PathLike[str] | None,
    channel: Channel,
    source: str | Channel,
    settings: dict[str, Any],
    *,
    required: bool,
) -> ManifestVerifier | None:
    if given is None:
        if required:
            raise AaepError("require_signed= needs to know whom to trust. Give trust=, a file of public keys.")
        return None
    from ..identity.signing_keys import TrustedKeys  # noqa: PLC0415  # brings in cryptography, which few need
    from .trust import ManifestVerifier  # noqa: PLC0415  # brings in cryptography, which few need

    keys = given if isinstance(given, TrustedKeys) else TrustedKeys.load(given)
    context = settings.get("ssl")
    checked = not isinstance(context, ssl.SSLContext) or (
        context.verify_mode is ssl.CERT_REQUIRED and context.check_hostname
    )

    def place() -> str:
        return (
            source
            if isinstance(source, str) and not isinstance(channel, FallbackChannel)
            else getattr(channel, "url", "")
        )

    return ManifestVerifier(keys, place=place, required=required, checked=checked)


def _as_tuple(given: Iterable[str]) -> tuple[str, ...]:
    """A single word is meant as one, not as its letters."""
    return (given,) if isinstance(given, str) else tuple(given)
