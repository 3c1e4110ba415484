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
from ..runtime.files import regular
from .credentials import ROLES, Credentials, Grant, Unauthenticated, Unauthorised, Unsettled, as_roles, as_stranger
from .origins import is_on_this_machine, split_url
from .peer import AUDITOR, REPLIER, Peer
from .signing_keys import KeyUnusable, TrustedKey, TrustedKeys

__all__ = ["Jwt", "KeyFile", "KeyUrl", "Keys", "keys", "parse"]

LONGEST: Final = 16 * 1024  # characters of a token
LAST: Final = 1e11  # seconds since the epoch: what no clock shows is no moment
LEEWAY: Final = 30.0  # seconds by which two clocks may differ
NAMES: Final = {"ES256": "ES256", "RS256": "RS256", "EdDSA": "EdDSA", "Ed25519": "EdDSA"}  # RFC 9864 has the last
TYPES: Final = ("", "jwt", "at+jwt", "application/jwt", "application/at+jwt")
HOW: Final = "Send a valid token in a header: Authorization: Bearer <token>."
OVER: Final = "This token has expired, or is not valid yet. Ask for a new one."


class _Algorithms(JWSRegistry):
    """Exactly ours. The library warns of a name that RFC 9864 advises against and that everybody uses."""

    max_header_length = 4096

    def get_alg(self, name: str) -> Any:
        if name not in NAMES:
            raise UnsupportedAlgorithmError(f"Algorithm {name!r} is not allowed.")
        return self.algorithms[name]


_algorithms: Final = _Algorithms(strict_check_header=False)


class Jwt:
    """
    Holders of a JSON Web Token.

    ``keys`` is a file or an https address of the signer's public keys (JWKS).
    ``principal`` and ``roles`` name the claims that say who somebody is and what
    they may do; where the signer has other words for our roles, ``mapping``
    translates them. ``default`` are the roles of those without that claim:
    none, unless given.
    """

    bearer = True

    def __init__(
        self,
        keys_at: str | Path | Keys,
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
        self._keys = keys(keys_at, ssl) if isinstance(keys_at, (str, Path)) else keys_at
        self._issuer, self._audience = issuer, audience
        self._principal, self._roles = principal, roles
        self._mapping = {role: role for role in ROLES} if mapping is None else dict(mapping)
        if unknown := {*self._mapping.values()} - {*ROLES}:
            raise AaepError(f"{min(unknown)!r} is no role. Every role is one of {', '.join(ROLES)}.")
        self._default = None if default is None else as_roles(default)
        self._wall = wall

    async def ready(self) -> None:
        if hasattr(self._keys, "ready"):
            await self._keys.ready()

    def admit(self, given: Credentials) -> Peer:
        claims = self._claims(given.bearer)
        ends = self._in_time(claims)
        heard = claims.get("aud")
        if claims.get("iss") != self._issuer or self._audience not in (heard if isinstance(heard, list) else [heard]):
            raise Unauthenticated(HOW)
        return self._grant(claims).peer(given, ends)

    # -- the signature ---------------------------------------------------------------------

    def _claims(self, token: str) -> dict[str, Any]:
        """What a token says, once it is known that its signer says so."""
        if not token or len(token) > LONGEST or token.count(".") != 2:
            raise Unauthenticated(HOW)
        try:
            header = jws.extract_compact(token.encode(), registry=_algorithms).headers()
            key = self._key(header)
            found = jws.deserialize_compact(token, key.jose, registry=_algorithms)
            claims = msgspec.json.decode(found.payload or b"")
        except (JoseError, ValueError, TypeError, RecursionError):  # bad base64 and bad JSON are ValueErrors
            raise Unauthenticated(HOW) from None
        if not isinstance(claims, dict):
            raise Unauthenticated(HOW)
        return claims

    def _key(self, header: Mapping[str, Any]) -> TrustedKey:
        """The one key that this may be signed with: ours, by its name, for its algorithm (compare CF-121)."""
        kind, kid, alg = header.get("typ", ""), header.get("kid", ""), NAMES.get(str(header.get("alg")), "")
        # A manifest is signed too, and is no token.
        if not isinstance(kind, str) or kind.lower() not in TYPES or not isinstance(kid, str) or not alg:
            raise Unauthenticated(HOW)
        if "crit" in header or "b64" in header:
            raise Unauthenticated(HOW)
        found = [one for one in self._keys.current(kid) if one.algorithm == alg and kid in ("", one.kid)]
        if len(found) != 1:
            raise Unauthenticated(HOW)
        return found[0]

    # -- the claims ------------------------------------------------------------------------

    def _in_time(self, claims: Mapping[str, Any]) -> float:
        """When it expires, which it must some day."""
        now, ends, begins = self._wall(), _number(claims.get("exp")), _number(claims.get("nbf", 0))
        if ends is None or begins is None or now >= ends or begins > now + LEEWAY:
            raise Unauthenticated(OVER)
        return ends

    def _grant(self, claims: Mapping[str, Any]) -> Grant:
        name = claims.get(self._principal)
        if not isinstance(name, str):
            raise Unauthorised("This token does not say whose it is.")
        said = claims.get(self._roles)
        words = said.split() if isinstance(said, str) else said if isinstance(said, list) else []
        roles = frozenset(self._mapping[one] for one in words if isinstance(one, str) and one in self._mapping)
        if said is None and self._default is not None:
            roles = self._default
        try:
            # Who is both hears everything and answers nothing: Peer.may_reply.
            return Grant(as_stranger(name), as_roles(roles - {REPLIER} if AUDITOR in roles else roles))
        except AaepError:
            raise Unauthorised("This token gives its bearer no name or no role here.") from None


def _number(value: Any) -> float | None:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < LAST
    return float(value) if known else None


# -- jwks --

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
        parts = split_url(url)
        host = parts.hostname or ""
        if not host or parts.username is not None or parts.password is not None:
            raise AaepError(f"{url!r} is not the address of a set of keys. Write it like https://login.example/jwks.")
        if parts.scheme != "https" and not (parts.scheme == "http" and is_on_this_machine(url)):
            raise AaepError(f"Keys from {host} could be swapped on the way. Use https://.")
        self._url, self._ssl, self._clock = url, ssl, clock
        self._trust_env = not is_on_this_machine(url)
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
