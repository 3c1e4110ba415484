"""Sources of the public keys that verify JSON Web Tokens: a JWKS file, or the https address of one."""

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
from ..runtime.files import FileVersion, get_file_version, open_regular_file
from .credentials import AuthenticationPending
from .origins import is_on_this_machine, split_url
from .signing_keys import KeyUnusable, TrustedKey, TrustedKeys

__all__ = ["KeyFile", "KeySource", "KeyUrl", "open_key_source", "parse_key_set"]

MAX_KEY_SET_BYTES: Final = 256 * 1024  # bytes
REFRESH_AFTER: Final = 300.0  # seconds after which keys are fetched again, while the old ones stay in use ...
MAX_KEY_AGE: Final = 3600.0  # ... until they are this old, in seconds
RETRY_DELAY: Final = 10.0  # seconds between two fetches, so that invented key ids do not flood the server
FETCH_TIMEOUT: Final = 10.0  # seconds
UNNAMED_KID: Final = "unnamed"

_log: Final = logging.getLogger("aaep.identity")


def parse_key_set(data: bytes) -> tuple[TrustedKey, ...]:
    """Return the usable keys of a JWK Set or of a single JWK. The kid of a key without one is empty."""
    try:
        decoded = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise AaepError("This is not a set of keys (JWKS): it is not JSON.") from None
    jwks = decoded.get("keys", [decoded]) if isinstance(decoded, dict) else None
    if not isinstance(jwks, list):
        raise AaepError("This is not a set of keys (JWKS): it has no list of keys.")
    keys = tuple(key for jwk in jwks if isinstance(jwk, dict) and (key := _parse_key(jwk)) is not None)
    if not keys:
        raise AaepError("This set of keys has none that can be used: ES256, RS256 or EdDSA, for signatures.")
    return keys


def _parse_key(jwk: dict[str, Any]) -> TrustedKey | None:
    """Return the key of a JWK, or None if it is for another purpose or cannot be used."""
    kid = jwk.get("kid") or ""
    if jwk.get("alg") == "Ed25519":  # the newer name (RFC 9864)
        jwk = {**jwk, "alg": "EdDSA"}
    try:
        key = TrustedKeys.parse(msgspec.json.encode({**jwk, "kid": kid}), kid or UNNAMED_KID).get(kid or UNNAMED_KID)
    except (KeyUnusable, TypeError):
        _log.info("A key of a key set is not for this, and is left out.")
        return None
    return None if key is None else msgspec.structs.replace(key, kid=kid)


class KeySource(Protocol):
    """A source of keys. It may have ``prepare()``, see :class:`aaep.identity.credentials.Identity`."""

    def get_keys(self, kid: str) -> Sequence[TrustedKey]:
        """
        Return the known keys, of which the one named ``kid`` is needed.

        Raises :exc:`~aaep.identity.credentials.AuthenticationPending` if that one is being fetched.
        """


def open_key_source(location: str | Path, ssl: tls.SSLContext | None = None) -> KeySource:
    """Return the key source for a path or a URL."""
    if isinstance(location, str) and "://" in location:
        return KeyUrl(location, ssl=ssl)
    return KeyFile(Path(location))


class KeyFile:
    """A JWKS file, read again when it changes. If it cannot be read then, there are no keys."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file_version: FileVersion = ()
        self._keys: tuple[TrustedKey, ...] = ()
        self._load()

    def get_keys(self, kid: str) -> Sequence[TrustedKey]:
        """Return the keys in the file as it is now."""
        try:
            file_version = get_file_version(os.stat(self._path))
        except OSError:
            file_version = ()
        if file_version != self._file_version:
            try:
                self._load()
            except AaepError as error:
                _log.error("Nobody is let in by a signed token until this is put right: %s", error)
                self._keys = ()
                self._file_version = file_version
        return self._keys

    def _load(self) -> None:
        try:
            with open_regular_file(self._path) as file:
                file_stat = os.fstat(file.fileno())
                if os.name == "posix" and file_stat.st_mode & 0o022:  # writing a key into it would grant access
                    raise AaepError(f"Other users may write the file of keys {self._path}. Run chmod go-w on it.")
                data = file.read(MAX_KEY_SET_BYTES)
        except OSError as error:
            raise AaepError(f"The file of keys {self._path} cannot be read: {error.strerror}.") from error
        try:
            self._keys = parse_key_set(data)
        except AaepError as error:
            raise AaepError(f"{self._path}: {error}") from None
        self._file_version = get_file_version(file_stat)


class KeyUrl:
    """A JWKS at a URL, fetched before a server opens and again from time to time."""

    def __init__(
        self, url: str, *, ssl: tls.SSLContext | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        parts = split_url(url)
        host = parts.hostname or ""
        if not host or parts.username is not None or parts.password is not None:
            raise AaepError(f"{url!r} is not the address of a set of keys. Write it like https://login.example/jwks.")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_on_this_machine(url)):
            raise AaepError(f"Keys from {host} could be swapped on the way. Use https://.")
        self._url = url
        self._ssl = ssl
        self._clock = clock
        self._trust_env = not is_on_this_machine(url)
        self._keys: tuple[TrustedKey, ...] = ()
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fetch_task: asyncio.Task[None] | None = None

    async def prepare(self) -> None:
        """Fetch the keys, or raise :exc:`AaepError` if that fails."""
        await self._fetch()

    def get_keys(self, kid: str) -> Sequence[TrustedKey]:
        """Return the known keys, and fetch them again if they are old or lack the one that is needed."""
        now = self._clock()
        age = None if self._fetched_at is None else now - self._fetched_at
        is_usable = age is not None and age <= MAX_KEY_AGE
        is_known = is_usable and any(key.kid == kid for key in self._keys)
        if age is None or age > REFRESH_AFTER or not is_known:
            task = self._start_refresh(now)
            if task is not None and not is_known:
                raise AuthenticationPending("The keys to check this token with are being fetched. Try again.", task)
        return self._keys if is_usable else ()

    def _start_refresh(self, now: float) -> asyncio.Task[None] | None:
        """Return the task that fetches the keys, or None if the last attempt was too recent."""
        if self._fetch_task is not None and not self._fetch_task.done():
            return self._fetch_task
        if self._tried_at is not None and now - self._tried_at < RETRY_DELAY:
            return None
        self._tried_at = now
        try:
            self._fetch_task = asyncio.get_running_loop().create_task(self._try_fetch())
        except RuntimeError:  # no running loop
            return None
        return self._fetch_task

    async def _try_fetch(self) -> None:
        try:
            await self._fetch()
        except AaepError as error:
            _log.warning("The keys for signed tokens could not be fetched. %s", error)

    async def _fetch(self) -> None:
        import aiohttp  # noqa: PLC0415  # slow to import, and rarely needed

        self._tried_at = self._clock()
        timeout = aiohttp.ClientTimeout(total=FETCH_TIMEOUT)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout, trust_env=self._trust_env) as session,
                session.get(self._url, allow_redirects=False, ssl=self._ssl or True) as response,
            ):
                if response.status != 200:
                    raise AaepError(f"{self._url} answered {response.status} instead of a set of keys.")
                data = bytearray()
                async for chunk in response.content.iter_any():
                    data += chunk
                    if len(data) > MAX_KEY_SET_BYTES:
                        raise AaepError(
                            f"{self._url} answered with more than {MAX_KEY_SET_BYTES} bytes, which is no set of keys."
                        )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise AaepError(f"The keys at {self._url} cannot be fetched: {reason}. Is the address right?") from error
        self._keys = parse_key_set(bytes(data))
        self._fetched_at = self._clock()
