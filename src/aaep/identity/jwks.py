"""
The public keys that tokens are signed with: a file, or an address of whoever signs them. RFC 7517

Only keys that one of the three algorithms can use are taken, each for that
algorithm alone. What else is in the set, secrets above all, is left out.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl as tls
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from ..errors import AaepError
from ..runtime.files import regular
from ..transports.base import parts_of
from .claims import on_this_machine
from .credentials import Unsettled
from .signing_keys import KeyUnusable, TrustedKey, TrustedKeys

__all__ = ["KeyFile", "KeyUrl", "Keys", "keys", "parse"]

LARGEST: Final = 256 * 1024  # bytes of a key set
FRESH: Final = 300.0  # seconds after which it is fetched again, while the old one is used on ...
STALE: Final = 3600.0  # ... for so long
PAUSE: Final = 10.0  # seconds between two attempts, so that invented key ids do not make us a nuisance
PATIENCE: Final = 10.0
UNNAMED: Final = "unnamed"

_log: Final = logging.getLogger("aaep.identity")


def parse(data: bytes) -> tuple[TrustedKey, ...]:
    """The usable keys of a key set, or of a single key. A key may have no name, here the empty one."""
    try:
        given = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise AaepError("This is not a set of keys (JWKS): it is not JSON.") from None
    each = given.get("keys", [given]) if isinstance(given, dict) else None
    if not isinstance(each, list):
        raise AaepError("This is not a set of keys (JWKS): it has no list of keys.")
    found = tuple(key for one in each if isinstance(one, dict) and (key := _key(one)) is not None)
    if not found:
        raise AaepError("This set of keys has none that can be used: ES256, RS256 or EdDSA, for signatures.")
    return found


def _key(given: dict[str, Any]) -> TrustedKey | None:
    """One that others have no use for, or that cannot be used, does not keep us from the rest."""
    kid = given.get("kid") or ""
    if given.get("alg") == "Ed25519":  # the newer name of the same (RFC 9864)
        given = {**given, "alg": "EdDSA"}
    try:
        key = TrustedKeys.read(msgspec.json.encode({**given, "kid": kid}), kid or UNNAMED).get(kid or UNNAMED)
    except (KeyUnusable, TypeError):
        _log.info("A key of a key set is not for this, and is left out.")
        return None
    return None if key is None else msgspec.structs.replace(key, kid=kid)


class Keys(Protocol):
    """Where keys come from. May have ``ready()``, see :class:`aaep.identity.credentials.Identity`."""

    def current(self, kid: str) -> Sequence[TrustedKey]:
        """
        The keys there are, asked for because of one.

        Raises :exc:`~aaep.identity.credentials.Unsettled` if there may be more in a moment.
        """


def keys(place: str | Path, ssl: tls.SSLContext | None = None) -> Keys:
    """The keys of a file or of an address."""
    if isinstance(place, str) and "://" in place:
        return KeyUrl(place, ssl=ssl)
    return KeyFile(Path(place))


class KeyFile:
    """A file of keys. What changes in it counts at once; if it cannot be read then, nobody is let in."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._mark: tuple[int, ...] = ()
        self._keys: tuple[TrustedKey, ...] = ()
        self._read()

    def current(self, kid: str) -> Sequence[TrustedKey]:
        try:
            found = os.stat(self._path)
            mark: tuple[int, ...] = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        except OSError:
            mark = ()
        if mark != self._mark:
            try:
                self._read()
            except AaepError as error:
                _log.error("Nobody is let in by a signed token until this is put right: %s", error)
                self._keys, self._mark = (), mark
        return self._keys

    def _read(self) -> None:
        try:
            with regular(self._path) as file:
                found = os.fstat(file.fileno())
                if os.name == "posix" and found.st_mode & 0o022:  # who can write it can let themselves in
                    raise AaepError(f"Other users may write the file of keys {self._path}. Run chmod go-w on it.")
                data = file.read(LARGEST)
        except OSError as error:
            raise AaepError(f"The file of keys {self._path} cannot be read: {error.strerror}.") from error
        try:
            self._keys = parse(data)
        except AaepError as error:
            raise AaepError(f"{self._path}: {error}") from None
        self._mark = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


class KeyUrl:
    """The keys at an address, fetched before a door opens and every now and then."""

    def __init__(
        self, url: str, *, ssl: tls.SSLContext | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        parts = parts_of(url)
        host = parts.hostname or ""
        if not host or parts.username is not None or parts.password is not None:
            raise AaepError(f"{url!r} is not the address of a set of keys. Write it like https://login.example/jwks.")
        if parts.scheme != "https" and not (parts.scheme == "http" and on_this_machine(url)):
            raise AaepError(f"Keys from {host} could be swapped on the way. Use https://.")
        self._url, self._ssl, self._clock = url, ssl, clock
        self._trust_env = not on_this_machine(url)
        self._keys: tuple[TrustedKey, ...] = ()
        self._fetched: float | None = None
        self._tried: float | None = None
        self._coming: asyncio.Task[None] | None = None

    async def ready(self) -> None:
        """Fetch them, or say why that is not possible."""
        await self._fetch()

    def current(self, kid: str) -> Sequence[TrustedKey]:
        now = self._clock()
        age = None if self._fetched is None else now - self._fetched
        usable = age is not None and age <= STALE
        known = usable and any(one.kid == kid for one in self._keys)
        if age is None or age > FRESH or not known:
            coming = self._refresh(now)
            if coming is not None and not known:
                raise Unsettled("The keys to check this token with are being fetched. Try again.", coming)
        return self._keys if usable else ()

    def _refresh(self, now: float) -> asyncio.Task[None] | None:
        """Have them fetched, if that is not too soon."""
        if self._coming is not None and not self._coming.done():
            return self._coming
        if self._tried is not None and now - self._tried < PAUSE:
            return None
        self._tried = now
        try:
            self._coming = asyncio.get_running_loop().create_task(self._try())
        except RuntimeError:  # nobody who could wait for it
            return None
        return self._coming

    async def _try(self) -> None:
        try:
            await self._fetch()
        except AaepError as error:
            _log.warning("The keys for signed tokens could not be fetched. %s", error)

    async def _fetch(self) -> None:
        import aiohttp  # noqa: PLC0415  # slow to load, and most never come here

        self._tried = self._clock()
        timeout = aiohttp.ClientTimeout(total=PATIENCE)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, trust_env=self._trust_env) as session,
                session.get(self._url, allow_redirects=False, ssl=self._ssl or True) as response,
            ):
                if response.status != 200:
                    raise AaepError(f"{self._url} answered {response.status} instead of a set of keys.")
                data = bytearray()
                async for piece in response.content.iter_any():
                    data += piece
                    if len(data) > LARGEST:
                        raise AaepError(
                            f"{self._url} answered with more than {LARGEST} bytes, which is no set of keys."
                        )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            said = str(error) or type(error).__name__
            raise AaepError(f"The keys at {self._url} cannot be fetched: {said}. Is the address right?") from error
        self._keys, self._fetched = parse(bytes(data)), self._clock()
