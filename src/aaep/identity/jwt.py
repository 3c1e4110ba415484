"""
Tokens that somebody else has signed: JSON Web Tokens, as OpenID Connect gives them. SEC-034, CF-140

Who signs is named by the keys and the issuer, for whom by the audience; all
three must be given. The algorithm is that of the key, never what a token says.
"""

from __future__ import annotations

import ssl as tls
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from joserfc import jws
from joserfc.errors import JoseError, UnsupportedAlgorithmError
from joserfc.jws import JWSRegistry

from ..errors import AaepError
from ..transports.base import AUDITOR, REPLIER, Peer
from .credentials import ROLES, Credentials, Grant, Unauthenticated, Unauthorised, as_roles, as_stranger
from .jwks import Keys, keys
from .signing_keys import TrustedKey

__all__ = ["Jwt"]

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
