"""
Options of servers and connections.

Each transport lists the options it supports in ``SERVER_OPTIONS`` and ``CONNECT_OPTIONS``. Setting an
option that the transport does not support is an error, never ignored: it may be meant for safety.
"""

from __future__ import annotations

import dataclasses
import ssl
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..errors import AaepError
from ..identity.credentials import Identity
from ..protocol.framing import MAX_MESSAGE_BYTES
from ..runtime.options import list_keywords, make_tuples

__all__ = ["ConnectOptions", "ServerOptions", "Tls", "Token", "check_supported", "keep_supported"]

Token = str | Callable[[], str] | None

ANSWER_TIMEOUT: Final = 30.0  # seconds
REQUEST_TIMEOUT: Final = 30.0  # seconds
MAX_SILENCE: Final = 45.0  # seconds: three heartbeats (CF-090)


@list_keywords()
@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """
    Certificates of an encrypted connection, for the server's side or the client's.

    ``cert`` and ``key`` are files in PEM format with the certificate that is shown to the other side and
    its private key. ``ca`` is a file with the authorities that issue the other side's certificates: on a
    server, it lets clients show certificates (mutual TLS); on a client, it replaces the system's list.
    ``context`` is a ready :class:`ssl.SSLContext` in place of the files; gRPC takes only files.
    """

    cert: str | None = None
    key: str | None = None
    ca: str | None = None
    context: ssl.SSLContext | None = None


@list_keywords(tls=Tls)
@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """
    Options of a server: authentication of clients, TLS, and limits for requests.

    ``identity`` authenticates clients; ``token`` stands for an identity with one token that never expires.
    ``origins`` are the origins of web pages that may use the server, ``hosts`` are further Host headers that
    it accepts, such as the name of a tunnel. ``max_message_bytes`` limits the size of a message, and
    ``request_timeout`` the seconds that a request may take to arrive, or the first subscription.request
    after a connection is opened.
    """

    identity: Identity | None = None
    token: str | None = None
    tls: Tls | None = None
    origins: Iterable[str] = ()
    hosts: Iterable[str] = ()
    max_message_bytes: int = MAX_MESSAGE_BYTES
    request_timeout: float = REQUEST_TIMEOUT

    def __post_init__(self) -> None:
        make_tuples(self, "origins", "hosts")


@list_keywords(tls=Tls)
@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectOptions:
    """
    Options of a client's connection to a server.

    ``token`` is the bearer token to send, or a function that returns one and is called for each
    connection. ``timeout`` is how many seconds an answer may take, and ``max_silence`` after how many
    seconds without any byte a connection counts as lost. ``framing`` is how messages are separated on a
    Unix socket. ``exit_timeout`` is how many seconds an agent that was started by a stdio URL may take to
    exit before it gets SIGTERM, and again before it gets SIGKILL.
    """

    token: Token = None
    tls: Tls | None = None
    timeout: float = ANSWER_TIMEOUT
    max_silence: float = MAX_SILENCE
    framing: Literal["length", "ndjson"] = "length"
    exit_timeout: float = 5.0


DEFAULT_SERVER_OPTIONS: Final = ServerOptions()
DEFAULT_CONNECT_OPTIONS: Final = ConnectOptions()


def check_supported(options: ServerOptions | ConnectOptions, supported: frozenset[str], url: str) -> None:
    """Raise :exc:`~aaep.errors.AaepError` if an option is set that a URL's transport does not support."""
    for field in dataclasses.fields(options):
        if field.name not in supported and getattr(options, field.name) != field.default:
            scheme = url.partition(":")[0]
            names = ", ".join(f"{name}=" for name in sorted(supported)) or "none"
            raise AaepError(f"{scheme}: takes no {field.name}=. Leave it out. Options that it takes: {names}.")


def keep_supported(options: ConnectOptions, supported: frozenset[str]) -> ConnectOptions:
    """Return the options, with those that a transport does not support reset to their defaults."""
    defaults: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(options)}
    return dataclasses.replace(options, **{name: defaults[name] for name in defaults.keys() - supported})
