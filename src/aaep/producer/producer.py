"""The :class:`Producer`: what agent code holds, with its sessions and its tools."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar, overload

import msgspec

from ..errors import AaepError, LocalProtocolError
from ..hub.face import ManifestServer, Server
from ..hub.hub import Hub
from ..hub.recovery import end_orphaned_sessions
from ..hub.relay.attach import attach
from ..hub.sessions import SessionSource
from ..hub.settings import HubSettings
from ..identity.credentials import Identity, resolve_audience
from ..identity.origins import http_url, is_web_origin, origin
from ..journal.base import Journal, JournalInUse
from ..journal.memory import MemoryJournal
from ..journal.sqlite import SqliteJournal
from ..presentation.preferences import Preferences
from ..presentation.presenter import Presenter
from ..protocol.attend_extension import ATTEND, attend_registry
from ..protocol.events import Envelope, ProducerInfo
from ..protocol.extensions import Extension, Registry
from ..protocol.messages import MANIFEST_PATH, Manifest
from ..protocol.negotiation import Offer
from ..runtime.background import Waitable
from ..runtime.files import default_journal_path
from ..runtime.ids import new_id
from ..runtime.options import list_keywords, make_tuples
from ..runtime.signals import EXIT_TERMINATED, SIGTERM_EXIT
from ..text.phrases import Phrases, get_phrases
from ..text.summaries import SummaryLike
from ..transports.base import asgi_application, serve
from ..transports.options import (
    DEFAULT_CONNECT_OPTIONS,
    DEFAULT_SERVER_OPTIONS,
    ConnectOptions,
    ServerOptions,
    Tls,
    Token,
)
from .emitter import Emitter
from .session import CURRENT_SESSIONS, Session
from .tools import Tool

if TYPE_CHECKING:  # it brings in the JOSE library, which few need
    from ..identity.signing_keys import SigningKey

__all__ = ["ManifestOptions", "Producer", "Runtime"]

F = TypeVar("F", bound=Callable[..., Any])

_log: Final = logging.getLogger("aaep.producer")

_SUPPORTED_LEVELS: Final[dict[int, tuple[Literal[1, 2, 3], ...]]] = {1: (1,), 2: (1, 2), 3: (1, 2, 3)}  # LVL-002
_OWN_JOURNAL: Final = "own"  # the agent's own file in the user's state directory
_STOP_GRACE: Final = 1.0  # seconds for sessions to end by themselves once their questions are taken back
_MAX_OWN_JOURNALS: Final = 16  # copies of one agent that may run at the same time, each with its own file


@list_keywords()
@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestOptions:
    """
    What the manifest of an agent states beside its name, and how it is signed.

    ``languages`` are those that the agent can speak beside its own, ``level`` is its conformance level.
    With ``signing_key``, a file with a private key or a :class:`~aaep.identity.signing_keys.SigningKey`,
    the manifest is signed for the addresses that the agent listens on and for ``reached_at``, the URLs
    under which readers know it otherwise, such as a proxy's.
    """

    languages: Iterable[str] = ()
    level: Literal[1, 2, 3] = 3
    extensions: Iterable[Extension] = ()
    signing_key: SigningKey | str | os.PathLike[str] | None = None
    reached_at: str | Iterable[str] = ()

    def __post_init__(self) -> None:
        make_tuples(self, "languages", "extensions", "reached_at")


@list_keywords()
@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """
    The event loop, the clocks and the signals of a producer.

    Without a ``loop`` the hub has a thread of its own. ``clock`` returns seconds that only ever grow,
    ``wall`` seconds since 1970.

    With ``handle_signals``, SIGTERM ends a program as Ctrl-C does, with exit status 143, unless the program
    handles it itself; and a server that :meth:`Producer.asgi` is mounted in is told of SIGINT and SIGTERM only
    once the producer is closed, because it would wait for the streams.
    """

    loop: asyncio.AbstractEventLoop | None = None
    clock: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    handle_signals: bool = True


_DEFAULT_MANIFEST: Final = ManifestOptions()
_DEFAULT_RUNTIME: Final = Runtime()


class Producer:
    """
    An agent, as its readers know it: where they reach it, its sessions and its tools.

    ``listen`` is a URL, or several, at which readers connect; ``hub`` is the URL of a hub that the agent
    connects to instead or as well (``aaep serve``). ``token`` and ``tls`` are for the addresses of
    ``listen``, or without any for the hub; :class:`~aaep.transports.options.ServerOptions` and
    :class:`~aaep.transports.options.ConnectOptions` have the less common options of each.

    ``tell`` is called with each sentence that a listener would hear. Until it returns, other threads that
    emit in the same session wait, so it should not block. ``journal`` stores events for readers that
    reconnect: a file, a :class:`~aaep.journal.base.Journal`, or None to keep them in memory. By default
    it is a file in the user's state directory.

    ``identity`` decides who is let in, see :mod:`aaep.identity`; without one, or with ``token``, all
    readers are one person. Where it knows several, a session is for the user who requested it
    (``requested_by="user:<id>"``), else for the user of this machine, unless ``audience`` here or at the
    session names principals, or ``"*"`` for all (CF-145).

    ``settings`` are the limits of the agent's own hub, and which members of events a role does not get
    (SEC-040).
    """

    @list_keywords(manifest=ManifestOptions, server=ServerOptions, settings=HubSettings, runtime=Runtime)
    def __init__(
        self,
        agent_id: str,
        *,
        name: str | None = None,
        version: str | None = None,
        model: str | None = None,
        listen: str | Iterable[str] | None = None,
        hub: str | None = None,
        tell: Callable[[str], object] | None = None,
        journal: Journal | str | os.PathLike[str] | None = _OWN_JOURNAL,
        language: str = "en-US",
        identity: Identity | None = None,
        token: Token = None,
        tls: Tls | None = None,
        audience: str | Iterable[str] | None = None,
        manifest: ManifestOptions = _DEFAULT_MANIFEST,
        server: ServerOptions = DEFAULT_SERVER_OPTIONS,
        hub_options: ConnectOptions = DEFAULT_CONNECT_OPTIONS,
        settings: HubSettings | None = None,
        runtime: Runtime = _DEFAULT_RUNTIME,
    ) -> None:
        description = {"agent_name": name, "agent_version": version, "model": model}
        self.info = ProducerInfo(
            agent_id=agent_id, **{key: value for key, value in description.items() if value is not None}
        )
        self.language = language
        self.registry: Registry = attend_registry()
        for extension in manifest.extensions:
            self.registry.add(extension)
        if isinstance(listen, int):
            raise TypeError(f'listen= is a URL, such as "http://127.0.0.1:{listen}", not {listen!r}.')
        self._listen_urls = [listen] if isinstance(listen, str) else [*(listen or ())]
        self._hub_url = hub
        self._server_options, self._hub_options = _assign_options(
            server, hub_options, identity, token, tls, has_address=bool(self._listen_urls), has_hub=hub is not None
        )
        self._is_multi_user = _is_multi_user(self._server_options.identity)
        self._audience = audience if audience is None or isinstance(audience, str) else frozenset(audience)
        self._runtime = runtime
        self._teller = _Teller(tell, runtime.clock) if tell is not None else None
        self._tools: dict[str, Tool] = {}
        self._open_sessions: dict[str, Session] = {}
        self._lock = threading.RLock()  # a signal handler may ask while its thread has it
        self._session_ended = threading.Condition(self._lock)
        self._handles_sigterm = False
        self._is_terminated = False  # SIGTERM has cancelled the task that entered the block
        self._journal = _open_journal(journal, agent_id)
        self._owns_journal = journal is None or isinstance(journal, (str, os.PathLike))
        try:
            self.recovered = end_orphaned_sessions(self._journal, self.registry, runtime.wall())
            self.hub = Hub(
                _build_offer(self.info, language, self.registry, manifest),
                self._journal,
                settings=HubSettings() if settings is None else settings,
                loop=runtime.loop,
                clock=runtime.clock,
                wall=runtime.wall,
            )
            if manifest.signing_key is not None:
                self.hub.signer = _build_signer(manifest.signing_key, runtime.wall)
        except BaseException:
            self._release()
            raise
        self.addresses: tuple[str, ...] = ()
        self._started = False
        self._closed = False
        _producers.add(self)

    # -- life --------------------------------------------------------------------------------

    def __enter__(self) -> Producer:
        self.start()
        return self

    async def __aenter__(self) -> Producer:
        self._handle_sigterm(asyncio.get_running_loop(), asyncio.current_task())
        await asyncio.to_thread(self.start) if not self.hub.is_on_loop else await self._start_on_loop()
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close(error)

    async def __aexit__(
        self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.hub.is_on_loop:
            try:
                self._begin_ending()
                self._end_sessions(error)
            finally:
                try:
                    await self.hub.aclose()
                finally:
                    self._release()
        else:
            await asyncio.to_thread(self.close, error)
            SIGTERM_EXIT.release(self)  # here once more: in a thread no handler can be removed
        if self._is_terminated and (error is None or isinstance(error, asyncio.CancelledError)):
            raise SystemExit(EXIT_TERMINATED)

    def start(self) -> None:
        """Listen at the addresses and connect to the hub. Entering the ``with`` block does this."""
        self._handle_sigterm()
        self._mark_started()
        try:
            self.hub.run(self._open_servers())
        except BaseException:
            self.close()
            raise

    async def _start_on_loop(self) -> None:
        self._mark_started()
        try:
            await self._open_servers()
        except BaseException:
            await self.hub.aclose()
            self._release()
            raise

    def _mark_started(self) -> None:
        if self._closed or self._started:
            raise LocalProtocolError("A producer is used once, by the process that made it. Make another one.")
        self._started = True

    async def _open_servers(self) -> None:
        servers = [await serve(self.hub, url, self._server_options) for url in self._listen_urls]
        self.addresses = tuple(server.url for server in servers)
        self._tell_manifest_address(servers)
        if self._hub_url is not None:
            # The hub recognizes this process by its instance when it connects again.
            instance = new_id("inst_")
            self.hub.add_server(await attach(self.hub, self._hub_url, self._hub_options, instance=instance))
        self._check_signed()

    def _tell_manifest_address(self, servers: Iterable[Server]) -> None:
        """Name the address of the manifest in every event and at the handshake, if it has one (ENV-032 §3.2.6)."""
        urls = (*self.hub.offer.origins, *self.addresses)
        origins = [address for url in urls if is_web_origin(address := http_url(origin(url)))]
        uris = [address + MANIFEST_PATH for address in origins]
        if self._hub_url is None:  # whose readers may be elsewhere, and need not know the paths of this machine
            uris += [server.manifest_uri for server in servers if isinstance(server, ManifestServer)]
        if uris:
            self.info = msgspec.structs.replace(self.info, manifest_uri=uris[0])
            self.hub.offer = msgspec.structs.replace(self.hub.offer, producer=self.info)

    def _check_signed(self) -> None:
        """Raise an error if the manifest was to be signed and is not (MAN-016); readers would only stay away."""
        if self.hub.signer is not None and self.addresses and self.hub.signed_offer.signed_manifest is None:
            raise AaepError(
                "The manifest cannot be signed: no reader connects to the addresses that are listened on as they are. "
                "Say with manifest=ManifestOptions(reached_at=…) what readers connect to, such as https://agent.example."
            )

    def close(self, error: BaseException | None = None) -> None:
        """End every open session, tell the readers and disconnect. Closing twice is fine."""
        if self._closed:
            return
        self._closed = True
        try:
            self._begin_ending()
            self._end_sessions(error)
        finally:
            try:
                self.hub.close()
            finally:
                self._release()

    def _close_gracefully(self) -> None:
        """Close the producer, after its questions are taken back and its sessions had some time to end."""
        try:
            for session in self.sessions:
                with suppress(AaepError):  # it cannot speak any more, and is ended below
                    session._withdraw_questions()
            with self._session_ended:
                self._session_ended.wait_for(lambda: not self._open_sessions, _STOP_GRACE)
        finally:
            self.close()

    def _handle_sigterm(
        self, loop: asyncio.AbstractEventLoop | None = None, task: asyncio.Task[Any] | None = None
    ) -> None:
        def cancel() -> None:
            self._is_terminated = True
            if loop is not None and task is not None:
                loop.call_soon_threadsafe(task.cancel)

        if self._runtime.handle_signals and not self._handles_sigterm:
            self._handles_sigterm = SIGTERM_EXIT.acquire(self, None if task is None else cancel, loop)

    def _begin_ending(self) -> None:
        if self._handles_sigterm:
            SIGTERM_EXIT.begin_ending(self)

    def _end_sessions(self, error: BaseException | None) -> None:
        first_failure: Exception | None = None
        for session in self.sessions:
            try:
                session._stop("user" if isinstance(error, KeyboardInterrupt) else "producer")
            except Exception as failure:  # the others are to be ended all the same
                first_failure = first_failure or failure
        if first_failure is not None:
            raise first_failure

    def _disown_after_fork(self) -> None:
        """Give up what was begun before the process forked: here is no loop to serve it."""
        self._lock = threading.RLock()
        self._session_ended = threading.Condition(self._lock)
        self._handles_sigterm = False
        self._closed = self._closed or self.hub.is_started
        for session in [*self._open_sessions.values()]:
            session._disown_after_fork()
            self._remove_session(session)

    def _release(self) -> None:
        self._closed = True
        try:
            if self._owns_journal:
                self._journal.close()
        finally:
            if self._handles_sigterm:
                self._handles_sigterm = False
                SIGTERM_EXIT.release(self)

    # -- sessions ----------------------------------------------------------------------------

    @property
    def is_closed(self) -> bool:
        """Whether the producer has ended."""
        return self._closed

    @property
    def phrases(self) -> Phrases:
        """What texts are composed of in the producer's language, or in English where that has no phrases."""
        return get_phrases((self.language,))

    @property
    def sessions(self) -> list[Session]:
        """The sessions that are open now."""
        with self._lock:
            return [*self._open_sessions.values()]

    @list_keywords()
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
        Return a new session: ``with producer.session("Moving money to your savings.") as session:``.

        ``request`` is what the user asked for, in the user's own words, and
        ``requested_by`` who did, such as ``user:ada``. ``parent`` is the session
        that this one is a part of, and whose audience it has. ``audience`` names the
        principals that may hear it, or ``"*"`` for all.
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
            audience=self._resolve_audience(audience, requested_by, parent),
            language=language,
        )

    def _resolve_audience(
        self, audience: str | Iterable[str] | None, requested_by: str | None, parent: Session | None
    ) -> frozenset[str] | None:
        if audience is None and requested_by is None and parent is not None and parent.audience is not None:
            return parent.audience  # a part of the work is for those that the whole is for
        audience = self._audience if audience is None else audience
        return resolve_audience(audience, requested_by, is_multi_user=self._is_multi_user)

    def _add_session(self, session: Session) -> None:
        if self._closed:
            raise LocalProtocolError("The producer is closed, so the session did not start.")
        with self._lock:
            self._open_sessions[session.session_id] = session
        self.hub.open_session(session._source)

    def _remove_session(self, session: Session) -> None:
        with self._lock:
            self._open_sessions.pop(session.session_id, None)
            self._session_ended.notify_all()
        self.hub.end_session(session._source)

    def _build_emitter(self, source: SessionSource, language: str | None) -> Emitter:
        return Emitter(
            self.info,
            self._journal,
            partial(self.hub.publish, source),
            language=language or self.language,
            registry=self.registry,
            clock=self._runtime.clock,
            wall=self._runtime.wall,
            tell=self._teller,
        )

    @property
    def _is_telling(self) -> bool:
        """Whether the calling thread is inside ``tell``."""
        return self._teller is not None and self._teller.is_telling

    def _find_session(self, tool: str) -> Session:
        """
        Return the session of this task or thread.

        Code that never had one gets the only session there is, but not where several users are
        served: that one may be another user's, who would be asked about what is not theirs.
        """
        current = [session for session in CURRENT_SESSIONS.get() if session.producer is self]
        if current:
            if current[-1].is_open:
                return current[-1]
            current[-1]._emitter.check_usable()
            # The only one there is may be somebody else's, who would be asked about what is not theirs.
            raise LocalProtocolError(
                f"The session that {tool} belongs to is over, so it did not run. "
                "Call it inside `with producer.session(…):`."
            )
        sessions = self.sessions
        if len(sessions) == 1 and not self._is_multi_user:
            return sessions[0]
        why = "No session is open"
        if sessions:
            why = "Several users are served" if self._is_multi_user else "Several sessions are open"
        raise LocalProtocolError(
            f"{why}, so {tool} cannot be announced, and did not run. "
            "Call it inside `with producer.session(…):`, in the same task or thread; "
            "a thread pool takes the session along with session.run(f, …) or session.wrap(f)."
        )

    def reader(self, *, replies: bool = True) -> Waitable[str]:
        """Return a value to wait for until a reader that can answer is connected: ``producer.reader().wait()``."""
        return self.hub.wait_for_reader(replies=replies)

    @list_keywords(server=ServerOptions)
    def asgi(self, *, token: str | None = None, server: ServerOptions = DEFAULT_SERVER_OPTIONS) -> Any:
        """
        Return this agent as an ASGI application, to be mounted in another: ``app.mount("/", producer.asgi())``.

        Who is let in is decided by ``token``, the identity of ``server``, or else that of the producer.
        """
        if token is not None:
            server = dataclasses.replace(server, token=token)
        elif server.identity is None and server.token is None:
            server = dataclasses.replace(server, identity=self._server_options.identity)
        self._is_multi_user = self._is_multi_user or _is_multi_user(server.identity)
        return asgi_application(self.hub, server, self._close_gracefully if self._runtime.handle_signals else None)

    # -- tools -------------------------------------------------------------------------------

    @property
    def tool_names(self) -> tuple[str, ...]:
        """The names of the tools, at most 256 of them."""
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
        done: str | None = None,
        confirm: bool | None = None,
        timeout: int | None = None,
        on_refusal: Literal["return", "raise"] = "return",
    ) -> Callable[[F], F]: ...

    @list_keywords()
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
        done: str | None = None,
        confirm: bool | None = None,
        timeout: int | None = None,
        on_refusal: Literal["return", "raise"] = "return",
    ) -> F | Callable[[F], F]:
        """
        Make a tool of a function: each call is confirmed where it must be, announced, run, and its result announced.

        A tool that is not classified counts as high-risk and irreversible, so
        it is always asked about. ``action`` and ``consequence`` are what the
        person hears; they may name parameters, ``self`` included, and what these
        hold: ``"Transfer {amount} from {self.account} to {to.name}."`` ``summary``
        is heard when the tool begins ("Fetching {url}.") and ``done`` when it has
        succeeded ("Fetched {url}.").
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
                done=done,
                confirm=confirm,
                timeout=timeout,
                on_refusal=on_refusal,
                phrases=self.phrases,
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
    """Calls a function with each sentence, in order, from whichever thread it comes."""

    def __init__(self, say: Callable[[str], object], clock: Callable[[], float]) -> None:
        self._say = say
        self._clock = clock
        # What is told was told before it happens, so nothing waits.
        self._presenter = Presenter(Preferences(keys={}), can_answer=False, can_wait=False)
        self._queue: deque[Envelope] = deque()
        self._lock = threading.Lock()
        self._thread: int | None = None  # the one that is telling

    @property
    def is_telling(self) -> bool:
        """Whether the calling thread is inside the function."""
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
        for announcement in self._presenter.present(event, self._clock()):
            if announcement.text:
                try:
                    self._say(announcement.text)
                except Exception:  # readers have heard it, so nothing is undone because this one could not
                    _log.exception("The tell callback failed.")


def _is_multi_user(identity: Identity | None) -> bool:
    return identity is not None and getattr(identity, "is_multi_user", True)


def _assign_options(
    server: ServerOptions,
    hub_options: ConnectOptions,
    identity: Identity | None,
    token: Token,
    tls: Tls | None,
    *,
    has_address: bool,
    has_hub: bool,
) -> tuple[ServerOptions, ConnectOptions]:
    """Return the options of the addresses and of the hub, which gets ``token`` and ``tls`` if there is no address."""
    given: dict[str, Any] = {name: value for name, value in (("token", token), ("tls", tls)) if value is not None}
    if has_address and callable(token):
        raise TypeError("A function for token= is for a hub. What readers show at an address is a text, or identity=.")
    if has_address:
        server = dataclasses.replace(server, **given)
    elif has_hub and server == DEFAULT_SERVER_OPTIONS:
        hub_options = dataclasses.replace(hub_options, **given)
    elif given or server != DEFAULT_SERVER_OPTIONS:
        name = "server" if has_hub else next(iter(given), "server")
        raise TypeError(
            f"{name}= is for an address, and there is none: give listen= for one where readers come, "
            "or hub= for a hub to go to. An ASGI application has its own: producer.asgi(token=…)."
        )
    if hub_options != DEFAULT_CONNECT_OPTIONS and not has_hub:
        raise TypeError("hub_options= is for a hub, and there is none: give hub= for one to go to.")
    return server if identity is None else dataclasses.replace(server, identity=identity), hub_options


def _build_offer(info: ProducerInfo, language: str, registry: Registry, manifest: ManifestOptions) -> Offer:
    if manifest.level not in _SUPPORTED_LEVELS:
        raise ValueError(f"level is 1, 2 or 3, not {manifest.level!r}.")
    return Offer(
        producer=info,
        levels=_SUPPORTED_LEVELS[manifest.level],
        languages=tuple(dict.fromkeys((language, *manifest.languages))),
        registry=registry,
        namespaces=(ATTEND.namespace, *(extension.namespace for extension in manifest.extensions)),
        origins=tuple(manifest.reached_at),
    )


def _build_signer(
    key: SigningKey | str | os.PathLike[str], wall: Callable[[], float]
) -> Callable[[Manifest], str | None]:
    from ..identity.signed_manifests import ManifestSigner  # noqa: PLC0415  # brings in cryptography, which few need
    from ..identity.signing_keys import SigningKey  # noqa: PLC0415  # brings in cryptography, which few need

    return ManifestSigner(key if isinstance(key, SigningKey) else SigningKey.load(key), wall=wall)


def _open_journal(given: Journal | str | os.PathLike[str] | None, agent_id: str) -> Journal:
    if given is None:
        return MemoryJournal()
    if not isinstance(given, (str, os.PathLike)):
        return given
    if given != _OWN_JOURNAL:
        return SqliteJournal(given)
    path = default_journal_path(agent_id)
    for number in range(1, _MAX_OWN_JOURNALS + 1):
        try:
            return SqliteJournal(path if number == 1 else path.with_name(f"{path.stem}.{number}{path.suffix}"))
        except JournalInUse:
            if number == _MAX_OWN_JOURNALS:
                raise
    raise AssertionError("not reached")
