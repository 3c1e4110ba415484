"""
Tokens that somebody else has signed: JSON Web Tokens, as OpenID Connect gives them. SEC-034, CF-140

Who signs is named by the keys and the issuer, for whom by the audience; all
three must be given. The algorithm is that of the key, never what a token says.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl as tls
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from joserfc import jws
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jws import JWSRegistry

from ..errors import AaepError
from ..runtime.files import open_regular_file
from .credentials import (
    ROLES,
    AuthenticationPending,
    Credentials,
    Grant,
    Unauthenticated,
    Unauthorised,
    validate_nonlocal_principal,
    validate_roles,
)
from .origins import on_this_machine, parts_of
from .peer import AUDITOR, REPLIER, Peer
from .signing_keys import KeyUnusable, TrustedKey, TrustedKeys

__all__ = ["Jwt", "KeyFile", "KeySource", "KeyUrl", "open_key_source", "parse_key_set"]

MAX_TOKEN_LENGTH: Final = 16 * 1024  # characters of a token
MAX_TIMESTAMP: Final = 1e11  # seconds since the epoch: what no clock shows is no moment
LEEWAY: Final = 30.0  # seconds by which two clocks may differ
ALGORITHM_NAMES: Final = {
    "ES256": "ES256",
    "RS256": "RS256",
    "EdDSA": "EdDSA",
    "Ed25519": "EdDSA",
}  # RFC 9864 has the last
TOKEN_TYPES: Final = ("", "jwt", "at+jwt", "application/jwt", "application/at+jwt")
INVALID_TOKEN_MESSAGE: Final = "Send a valid token in a header: Authorization: Bearer <token>."
EXPIRED_TOKEN_MESSAGE: Final = "This token has expired, or is not valid yet. Ask for a new one."


class _AlgorithmRegistry(JWSRegistry):
    """Exactly ours. The library warns of a name that RFC 9864 advises against and that everybody uses."""

    max_header_length = 4096

    def get_alg(self, name: str) -> Any:
        if name not in ALGORITHM_NAMES:
            raise UnsupportedAlgorithmError(f"Algorithm {name!r} is not allowed.")
        return self.algorithms[name]


_algorithm_registry: Final = _AlgorithmRegistry(strict_check_header=False)


class Jwt:
    """
    Holders of a JSON Web Token.

    ``keys`` is a file or an https address of the signer's public keys (JWKS).
    ``principal`` and ``roles`` name the claims that say who somebody is and what
    they may do; where the signer has other words for our roles, ``mapping``
    translates them. ``default`` are the roles of those without that claim:
    none, unless given.
    """

    can_verify_bearer = True

    def __init__(
        self,
        keys: str | Path | KeySource,
        *,
        issuer: str,
        audience: str,
        principal: str = "sub",
        roles: str = "roles",
        mapping: Mapping[str, str] | None = None,
        default: str | Iterable[str] | None = None,
        ssl: tls.SSLContext | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        if not issuer or not audience:
            raise AaepError("Say who signs the tokens, issuer=, and for whom they are, audience=.")
        self._keys = open_key_source(keys, ssl) if isinstance(keys, (str, Path)) else keys
        self._issuer, self._audience = issuer, audience
        self._principal_claim, self._roles_claim = principal, roles
        self._role_mapping = {role: role for role in ROLES} if mapping is None else dict(mapping)
        if unknown := {*self._role_mapping.values()} - {*ROLES}:
            raise AaepError(f"{min(unknown)!r} is no role. Every role is one of {', '.join(ROLES)}.")
        self._default_roles = None if default is None else validate_roles(default)
        self._wall = wall

    async def prepare(self) -> None:
        if hasattr(self._keys, "prepare"):
            await self._keys.prepare()

    def authenticate(self, credentials: Credentials) -> Peer:
        claims = self._verify_token(credentials.bearer)
        ends = self._check_validity_period(claims)
        heard = claims.get("aud")
        if claims.get("iss") != self._issuer or self._audience not in (heard if isinstance(heard, list) else [heard]):
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        return self._grant_from_claims(claims).to_peer(credentials, ends)

    # -- the signature ---------------------------------------------------------------------

    def _verify_token(self, token: str) -> dict[str, Any]:
        """What a token says, once it is known that its signer says so."""
        if not token or len(token) > MAX_TOKEN_LENGTH or token.count(".") != 2:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        try:
            header = jws.extract_compact(token.encode(), registry=_algorithm_registry).headers()
            key = self._find_key(header)
            found = jws.deserialize_compact(token, key.jose_key, registry=_algorithm_registry)
            claims = msgspec.json.decode(found.payload or b"")
        except (JoseError, ValueError, TypeError, RecursionError):  # bad base64 and bad JSON are ValueErrors
            raise Unauthenticated(INVALID_TOKEN_MESSAGE) from None
        if not isinstance(claims, dict):
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        return claims

    def _find_key(self, header: Mapping[str, Any]) -> TrustedKey:
        """The one key that this may be signed with: ours, by its name, for its algorithm (compare CF-121)."""
        kind, kid, alg = header.get("typ", ""), header.get("kid", ""), ALGORITHM_NAMES.get(str(header.get("alg")), "")
        # A manifest is signed too, and is no token.
        if not isinstance(kind, str) or kind.lower() not in TOKEN_TYPES or not isinstance(kid, str) or not alg:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        if "crit" in header or "b64" in header:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        found = [one for one in self._keys.get_keys(kid) if one.algorithm == alg and kid in ("", one.kid)]
        if len(found) != 1:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        return found[0]

    # -- the claims ------------------------------------------------------------------------

    def _check_validity_period(self, claims: Mapping[str, Any]) -> float:
        """When it expires, which it must some day."""
        now, ends, begins = self._wall(), _to_timestamp(claims.get("exp")), _to_timestamp(claims.get("nbf", 0))
        if ends is None or begins is None or now >= ends or begins > now + LEEWAY:
            raise Unauthenticated(EXPIRED_TOKEN_MESSAGE)
        return ends

    def _grant_from_claims(self, claims: Mapping[str, Any]) -> Grant:
        name = claims.get(self._principal_claim)
        if not isinstance(name, str):
            raise Unauthorised("This token does not say whose it is.")
        said = claims.get(self._roles_claim)
        words = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
        roles = frozenset(
            self._role_mapping[one] for one in words if isinstance(one, str) and one in self._role_mapping
        )
        if said is None and self._default_roles is not None:
            roles = self._default_roles
        try:
            # Who is both hears everything and answers nothing: Peer.may_reply.
            return Grant(
                validate_nonlocal_principal(name), validate_roles(roles - {REPLIER} if AUDITOR in roles else roles)
            )
        except AaepError:
            raise Unauthorised("This token gives its bearer no name or no role here.") from None


def _to_timestamp(value: Any) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < MAX_TIMESTAMP
    return float(value) if known else None


# -- jwks --

MAX_KEY_SET_BYTES: Final = 256 * 1024  # bytes of a key set
REFRESH_AFTER: Final = 300.0  # seconds after which it is fetched again, while the old one is used on ...
MAX_KEY_AGE: Final = 3600.0  # ... for so long
RETRY_DELAY: Final = 10.0  # seconds between two attempts, so that invented key ids do not make us a nuisance
FETCH_TIMEOUT: Final = 10.0
UNNAMED_KID: Final = "unnamed"

_log: Final = logging.getLogger("aaep.identity")


def parse_key_set(data: bytes) -> tuple[TrustedKey, ...]:
    """The usable keys of a key set, or of a single key. A key may have no name, here the empty one."""
    try:
        given = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise AaepError("This is not a set of keys (JWKS): it is not JSON.") from None
    each = given.get("keys", [given]) if isinstance(given, dict) else None
    if not isinstance(each, list):
        raise AaepError("This is not a set of keys (JWKS): it has no list of keys.")
    found = tuple(key for one in each if isinstance(one, dict) and (key := _parse_key(one)) is not None)
    if not found:
        raise AaepError("This set of keys has none that can be used: ES256, RS256 or EdDSA, for signatures.")
    return found


def _parse_key(jwk: dict[str, Any]) -> TrustedKey | None:
    """One that others have no use for, or that cannot be used, does not keep us from the rest."""
    kid = jwk.get("kid") or ""
    if jwk.get("alg") == "Ed25519":  # the newer name of the same (RFC 9864)
        jwk = {**jwk, "alg": "EdDSA"}
    try:
        key = TrustedKeys.parse(msgspec.json.encode({**jwk, "kid": kid}), kid or UNNAMED_KID).get(kid or UNNAMED_KID)
    except (KeyUnusable, TypeError):
        _log.info("A key of a key set is not for this, and is left out.")
        return None
    return None if key is None else msgspec.structs.replace(key, kid=kid)


class KeySource(Protocol):
    """Where keys come from. May have ``ready()``, see :class:`aaep.identity.credentials.Identity`."""

    def get_keys(self, kid: str) -> Sequence[TrustedKey]:
        """
        The keys there are, asked for because of one.

        Raises :exc:`~aaep.identity.credentials.Unsettled` if there may be more in a moment.
        """


def open_key_source(location: str | Path, ssl: tls.SSLContext | None = None) -> KeySource:
    """The keys of a file or of an address."""
    if isinstance(location, str) and "://" in location:
        return KeyUrl(location, ssl=ssl)
    return KeyFile(Path(location))


class KeyFile:
    """A file of keys. What changes in it counts at once; if it cannot be read then, nobody is let in."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file_version: tuple[int, ...] = ()
        self._keys: tuple[TrustedKey, ...] = ()
        self._load()

    def get_keys(self, kid: str) -> Sequence[TrustedKey]:
        try:
            found = os.stat(self._path)
            mark: tuple[int, ...] = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        except OSError:
            mark = ()
        if mark != self._file_version:
            try:
                self._load()
            except AaepError as error:
                _log.error("Nobody is let in by a signed token until this is put right: %s", error)
                self._keys, self._file_version = (), mark
        return self._keys

    def _load(self) -> None:
        try:
            with open_regular_file(self._path) as file:
                found = os.fstat(file.fileno())
                if os.name == "posix" and found.st_mode & 0o022:  # who can write it can let themselves in
                    raise AaepError(f"Other users may write the file of keys {self._path}. Run chmod go-w on it.")
                data = file.read(MAX_KEY_SET_BYTES)
        except OSError as error:
            raise AaepError(f"The file of keys {self._path} cannot be read: {error.strerror}.") from error
        try:
            self._keys = parse_key_set(data)
        except AaepError as error:
            raise AaepError(f"{self._path}: {error}") from None
        self._file_version = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


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
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fetch_task: asyncio.Task[None] | None = None

    async def prepare(self) -> None:
        """Fetch them, or say why that is not possible."""
        await self._fetch()

    def get_keys(self, kid: str) -> Sequence[TrustedKey]:
        now = self._clock()
        age = None if self._fetched_at is None else now - self._fetched_at
        usable = age is not None and age <= MAX_KEY_AGE
        known = usable and any(one.kid == kid for one in self._keys)
        if age is None or age > REFRESH_AFTER or not known:
            coming = self._start_refresh(now)
            if coming is not None and not known:
                raise AuthenticationPending("The keys to check this token with are being fetched. Try again.", coming)
        return self._keys if usable else ()

    def _start_refresh(self, now: float) -> asyncio.Task[None] | None:
        """Have them fetched, if that is not too soon."""
        if self._fetch_task is not None and not self._fetch_task.done():
            return self._fetch_task
        if self._tried_at is not None and now - self._tried_at < RETRY_DELAY:
            return None
        self._tried_at = now
        try:
            self._fetch_task = asyncio.get_running_loop().create_task(self._try_fetch())
        except RuntimeError:  # nobody who could wait for it
            return None
        return self._fetch_task

    async def _try_fetch(self) -> None:
        try:
            await self._fetch()
        except AaepError as error:
            _log.warning("The keys for signed tokens could not be fetched. %s", error)

    async def _fetch(self) -> None:
        import aiohttp  # noqa: PLC0415  # slow to load, and most never come here

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
                async for piece in response.content.iter_any():
                    data += piece
                    if len(data) > MAX_KEY_SET_BYTES:
                        raise AaepError(
                            f"{self._url} answered with more than {MAX_KEY_SET_BYTES} bytes, which is no set of keys."
                        )
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            said = str(error) or type(error).__name__
            raise AaepError(f"The keys at {self._url} cannot be fetched: {said}. Is the address right?") from error
        self._keys, self._fetched_at = parse_key_set(bytes(data)), self._clock()
