"""What agent code holds: a :class:`Producer`, its sessions and its tools."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

from ..errors import AaepError, LocalProtocolError
from ..hub.hub import Hub
from ..hub.recovery import end_orphaned_sessions
from ..hub.relay.attach import attach
from ..hub.sessions import SessionSource
from ..hub.settings import HubSettings
from ..identity.credentials import Identity, resolve_audience
from ..journal.base import Journal, JournalInUse
from ..journal.memory import MemoryJournal
from ..journal.sqlite import SqliteJournal
from ..presentation.announce import Outputs
from ..presentation.preferences import Preferences
from ..protocol.attend_extension import ATTEND, attend_registry
from ..protocol.events import Envelope, ProducerInfo
from ..protocol.extensions import Extension, Registry
from ..protocol.messages import Manifest
from ..protocol.negotiation import Offer
from ..runtime.background import Waitable
from ..runtime.files import default_journal_path
from ..runtime.ids import new_id
from ..text.summaries import SummaryLike
from ..transports.base import asgi_application, serve
from .emitter import Emitter
from .session import CURRENT_SESSIONS, Session
from .tools import Tool

if TYPE_CHECKING:  # it brings in the JOSE library, which few need
    from ..identity.signing_keys import SigningKey

__all__ = ["Producer"]

F = TypeVar("F", bound=Callable[..., Any])

_log: Final = logging.getLogger("aaep.producer")

_LEVELS: Final[dict[int, tuple[Literal[1, 2, 3], ...]]] = {1: (1,), 2: (1, 2), 3: (1, 2, 3)}  # LVL-002
_OWN: Final = "own"  # the agent's own file in the user's state directory
_FILES: Final = 16  # copies of one agent that may run at the same time, each with its own file


class Producer:
    """
    An agent, to those who listen to it.

    ``listen`` is the address, or addresses, that readers may connect to;
    ``hub`` is a hub elsewhere that it goes to (``aaep serve``). Whatever else is
    named, such as ``token``, is for the addresses, or without any for the hub;
    ``hub_settings`` are for the hub in any case. ``tell`` is called with each
    sentence a listener would hear; until it returns, other threads that speak in the
    same session wait for it, and so do all readers once somebody joins or answers
    there, so it should not block. The journal holds what was said, for readers who
    come back; ``None`` keeps it in memory.

    With ``signing_key``, a file with a private key or a
    :class:`~aaep.identity.signing_keys.SigningKey`, the manifest is signed, for readers who want
    proof of who this is. It is signed for the addresses that are listened on and
    for ``reached_at``, those under which readers know it beside them, such as a
    proxy's.

    ``identity`` says who is let in, see :mod:`aaep.identity.credentials`; without one, or
    with ``token``, that is one person. Where it knows several, a session is for
    the user it was ``requested_by``, ``user:<id>``, else for the user of this
    machine, unless ``audience`` here or at the session names principals, or
    ``"*"`` for all (CF-145). ``hidden`` names, by role, the members of events
    that a role does not get (SEC-040).
    """

    def __init__(
        self,
        agent_id: str,
        *,
        name: str | None = None,
        version: str | None = None,
        model: str | None = None,
        listen: str | Iterable[str] | None = None,
        hub: str | None = None,
        hub_settings: Mapping[str, Any] | None = None,
        tell: Callable[[str], object] | None = None,
        journal: Journal | str | os.PathLike[str] | None = _OWN,
        language: str = "en-US",
        languages: Iterable[str] = (),
        level: Literal[1, 2, 3] = 3,
        extensions: Iterable[Extension] = (),
        signing_key: SigningKey | str | os.PathLike[str] | None = None,
        reached_at: Iterable[str] = (),
        identity: Identity | None = None,
        audience: str | Iterable[str] | None = None,
        hidden: Mapping[str, Iterable[str]] | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        **settings: Any,
    ) -> None:
        given = {"agent_name": name, "agent_version": version, "model": model}
        self.info = ProducerInfo(agent_id=agent_id, **{key: value for key, value in given.items() if value is not None})
        self.language = language
        self.registry: Registry = attend_registry()
        extensions = tuple(extensions)
        for extension in extensions:
            self.registry.add(extension)
        self._addresses = [listen] if isinstance(listen, str) else [*(listen or ())]
        self._away, self._away_settings = hub, dict(hub_settings or {})
        if settings and not self._addresses:
            settings, self._away_settings = {}, {**_for_hub(settings, hub), **self._away_settings}
        self._settings = settings if identity is None else {**settings, "identity": identity}
        self._is_multi_user = identity is not None and getattr(identity, "is_multi_user", True)
        self._audience = audience if audience is None or isinstance(audience, str) else frozenset(audience)
        self._clock, self._wall = clock, wall
        self._teller = _Teller(tell) if tell is not None else None
        self._tools: dict[str, Tool] = {}
        self._open: dict[str, Session] = {}
        self._lock = threading.RLock()  # a signal handler may ask while its thread has it
        self._journal = _open_journal(journal, agent_id)
        self._owns_journal = journal is None or isinstance(journal, (str, os.PathLike))
        try:
            self.recovered = end_orphaned_sessions(self._journal, self.registry, wall())
            if level not in _LEVELS:
                raise ValueError(f"level is 1, 2 or 3, not {level!r}.")
            offer = Offer(
                producer=self.info,
                levels=_LEVELS[level],
                languages=tuple(dict.fromkeys((language, *languages))),
                registry=self.registry,
                namespaces=(ATTEND.namespace, *(one.namespace for one in extensions)),
                origins=(reached_at,) if isinstance(reached_at, str) else tuple(reached_at),
            )
            own = HubSettings() if hidden is None else HubSettings(hidden_members=hidden)
            self.hub = Hub(offer, self._journal, settings=own, loop=loop, clock=clock, wall=wall)
            if signing_key is not None:
                self.hub.signer = _signer(signing_key, wall)
        except BaseException:
            self._release()
            raise
        self.addresses: tuple[str, ...] = ()
        self._started = self._closed = False
        _producers.add(self)

    # -- life --------------------------------------------------------------------------------

    def __enter__(self) -> Producer:
        self.start()
        return self

    async def __aenter__(self) -> Producer:
        await asyncio.to_thread(self.start) if not self.hub.is_on_loop else await self._start_here()
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close(error)

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.hub.is_on_loop:
            try:
                self._end_sessions(error)
            finally:
                await self.hub.aclose()
                self._release()
        else:
            await asyncio.to_thread(self.close, error)

    def start(self) -> None:
        """Open the doors; the same as entering the block."""
        self._once()
        try:
            self.addresses = tuple(self.hub.run(serve(self.hub, url, **self._settings)).url for url in self._addresses)
            if self._away is not None:
                self.hub.run(self._go(self._away))
            self._signed()
        except BaseException:
            self.close()
            raise

    async def _start_here(self) -> None:
        self._once()
        try:
            servers = [await serve(self.hub, url, **self._settings) for url in self._addresses]
            self.addresses = tuple(server.url for server in servers)
            if self._away is not None:
                await self._go(self._away)
            self._signed()
        except BaseException:
            await self.hub.aclose()
            self._release()
            raise

    def _signed(self) -> None:
        """MAN-016: whoever means to sign is told here if that cannot be, and not by readers who stay away."""
        if self.hub.signer is not None and self.addresses and self.hub.offered.signed_manifest is None:
            raise AaepError(
                "The manifest cannot be signed: no reader connects to the addresses that are listened on as they are. "
                "Say with reached_at= what readers connect to, such as https://agent.example."
            )

    async def _go(self, url: str) -> None:
        """To a hub elsewhere, which readers of many agents use. It finds us again by the instance."""
        self.hub.add_server(await attach(self.hub, url, instance=new_id("inst_"), **self._away_settings))

    def _once(self) -> None:
        if self._closed or self._started:
            raise LocalProtocolError("A producer is used once, by the process that made it. Make another one.")
        self._started = True

    def close(self, error: BaseException | None = None) -> None:
        """End what is open, tell the readers, and let go. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        try:
            self._end_sessions(error)
        finally:
            self.hub.close()
            self._release()

    def _end_sessions(self, error: BaseException | None) -> None:
        problem: Exception | None = None
        for session in self.sessions:
            try:
                session._stop("user" if isinstance(error, KeyboardInterrupt) else "producer")
            except Exception as failure:  # the others are to be ended all the same
                problem = problem or failure
        if problem is not None:
            raise problem

    def _disown_after_fork(self) -> None:
        """Give up, in a forked process, what was begun before: there is no loop to serve it."""
        self._lock = threading.RLock()
        self._closed = self._closed or self.hub.is_started
        for session in [*self._open.values()]:
            session._disown_after_fork()
            self.session_ended(session)

    def _release(self) -> None:
        self._closed = True
        if self._owns_journal:
            self._journal.close()

    # -- sessions ----------------------------------------------------------------------------

    @property
    def is_closed(self) -> bool:
        """Whether the producer has ended."""
        return self._closed

    @property
    def sessions(self) -> list[Session]:
        """The sessions that are open now."""
        with self._lock:
            return [*self._open.values()]

    def session(
        self,
        summary: SummaryLike = None,
        *,
        request: str | None = None,
        requested_by: str | None = None,
        expected_seconds: float | None = None,
        parent: Session | None = None,
        audience: str | Iterable[str] | None = None,
        language: str | None = None,
    ) -> Session:
        """
        Return a piece of work: ``with producer.session("Moving money to your savings.") as session:``.

        ``request`` is what the user asked for, in the user's own words, and
        ``requested_by`` who did, such as ``user:ada``. ``parent`` is the session
        that this one is a part of. ``audience`` names the principals that may hear
        it, or ``"*"`` for all.
        """
        if self._closed:
            raise LocalProtocolError("The producer is closed, or was made before the process forked. Make another one.")
        return Session(
            self,
            summary,
            request=request,
            requested_by=requested_by,
            expected_seconds=expected_seconds,
            parent=parent,
            audience=resolve_audience(
                self._audience if audience is None else audience, requested_by, is_multi_user=self._is_multi_user
            ),
            language=language,
        )

    def session_opened(self, session: Session) -> None:
        """Note that a session begins."""
        if self._closed:
            raise LocalProtocolError("The producer is closed, so the session did not start.")
        with self._lock:
            self._open[session.session_id] = session
        self.hub.open_session(session._source)

    def session_ended(self, session: Session) -> None:
        """Note that a session has ended."""
        with self._lock:
            self._open.pop(session.session_id, None)
        self.hub.end_session(session._source)

    def build_emitter(self, source: SessionSource, language: str | None) -> Emitter:
        """Build what emits the events of a session."""
        return Emitter(
            self.info,
            self._journal,
            partial(self.hub.publish, source),
            language=language or self.language,
            registry=self.registry,
            clock=self._clock,
            wall=self._wall,
            tell=self._teller,
        )

    @property
    def is_telling(self) -> bool:
        """Whether the caller was called by ``tell``."""
        return self._teller is not None and self._teller.is_telling

    def _find_session(self, tool: str) -> Session:
        """Return the session of this task or thread, or the only one there is for code that never had one."""
        current = [session for session in CURRENT_SESSIONS.get() if session.producer is self]
        if current:
            if current[-1].open:
                return current[-1]
            current[-1]._emitter.check_usable()
            # The only one there is may be somebody else's, who would be asked about what is not theirs.
            raise LocalProtocolError(
                f"The session that {tool} belongs to is over, so it did not run. "
                "Call it inside `with producer.session(…):`."
            )
        sessions = self.sessions
        if len(sessions) == 1:
            return sessions[0]
        why = "Several sessions are open" if sessions else "No session is open"
        raise LocalProtocolError(
            f"{why}, so {tool} cannot be announced, and did not run. "
            "Call it inside `with producer.session(…):`, in the same task or thread."
        )

    def reader(self, *, replies: bool = True) -> Waitable[str]:
        """Settles when a reader, one that can answer, is connected: ``producer.reader().wait()``."""
        return self.hub.wait_for_reader(replies=replies)

    def asgi(self, **options: Any) -> Any:
        """Return this agent as an ASGI application, to be mounted in another: ``app.mount("/", producer.asgi())``."""
        return asgi_application(self.hub, **options)

    # -- tools -------------------------------------------------------------------------------

    @property
    def tool_names(self) -> tuple[str, ...]:
        return tuple(self._tools)[:256]

    @overload
    def tool(self, function: F, /) -> F: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        risk: Literal["low", "medium", "high"] | None = None,
        irreversible: bool | None = None,
        action: str | None = None,
        consequence: str | None = None,
        summary: str | None = None,
        confirm: bool | None = None,
        timeout: int | None = None,
        on_refusal: Literal["return", "raise"] = "return",
    ) -> Callable[[F], F]: ...

    def tool(
        self,
        function: F | None = None,
        /,
        *,
        name: str | None = None,
        risk: Literal["low", "medium", "high"] | None = None,
        irreversible: bool | None = None,
        action: str | None = None,
        consequence: str | None = None,
        summary: str | None = None,
        confirm: bool | None = None,
        timeout: int | None = None,
        on_refusal: Literal["return", "raise"] = "return",
    ) -> F | Callable[[F], F]:
        """
        Make a tool of a function: it asks where it must, says what it does, and says how it went.

        A tool that is not classified counts as high-risk and irreversible, so
        it is always asked about. ``action`` and ``consequence`` are what the
        person hears; they may name parameters: ``"Transfer {amount} to {to}."``
        """

        def decorate(function: F) -> F:
            tool = Tool(
                self._find_session,
                function,
                name=name,
                risk=risk,
                irreversible=irreversible,
                action=action,
                consequence=consequence,
                summary=summary,
                confirm=confirm,
                timeout=timeout,
                on_refusal=on_refusal,
            )
            self._tools[tool.name] = tool
            return tool.decorate(function)

        return decorate if function is None else decorate(function)


_producers: weakref.WeakSet[Producer] = weakref.WeakSet()  # made in this process, or before it was forked off


def _after_fork() -> None:
    for producer in [*_producers]:
        producer._disown_after_fork()
    _producers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _Teller:
    """Says each sentence to a function, in order, whichever thread it comes from."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._outputs = Outputs(Preferences(keys={}))  # nothing can be answered here
        self._queue: deque[Envelope] = deque()
        self._lock = threading.Lock()
        self._thread: int | None = None  # the one that is telling

    @property
    def is_telling(self) -> bool:
        """Whether the caller was called by the function."""
        return self._thread == threading.get_ident()

    def __call__(self, event: Envelope) -> None:
        self._queue.append(event)
        while self._queue and self._lock.acquire(blocking=False):
            try:
                self._thread = threading.get_ident()
                while self._queue:
                    self._tell(self._queue.popleft())
            finally:
                self._thread = None
                self._lock.release()

    def _tell(self, event: Envelope) -> None:
        for announcement in self._outputs.announce(event):
            if announcement.text and not announcement.redundant:
                try:
                    self._say(announcement.text)
                except Exception:  # readers have heard it, so nothing is undone because this one could not
                    _log.exception("The tell callback failed.")


def _for_hub(settings: dict[str, Any], hub: str | None) -> dict[str, Any]:
    """What was set for addresses, where there is none but a hub's."""
    if hub is None:
        raise TypeError(
            f"{next(iter(settings))} is for an address, and there is none: give listen= for one where readers "
            "come, or hub= for a hub to go to."
        )
    return settings


def _signer(given: SigningKey | str | os.PathLike[str], wall: Callable[[], float]) -> Callable[[Manifest], str | None]:
    from ..identity.signed_manifests import ManifestSigner  # noqa: PLC0415  # brings in cryptography, which few need
    from ..identity.signing_keys import SigningKey  # noqa: PLC0415  # brings in cryptography, which few need

    return ManifestSigner(given if isinstance(given, SigningKey) else SigningKey.load(given), wall=wall)


def _open_journal(given: Journal | str | os.PathLike[str] | None, agent_id: str) -> Journal:
    if given is None:
        return MemoryJournal()
    if not isinstance(given, (str, os.PathLike)):
        return given
    if given != _OWN:
        return SqliteJournal(given)
    place = default_journal_path(agent_id)
    for number in range(1, _FILES + 1):
        try:
            return SqliteJournal(place if number == 1 else place.with_name(f"{place.stem}.{number}{place.suffix}"))
        except JournalInUse:
            if number == _FILES:
                raise
    raise AssertionError("not reached")
