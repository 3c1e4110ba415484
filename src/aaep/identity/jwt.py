"""
JSON Web Tokens that an identity provider signs, as with OpenID Connect. SEC-034, CF-140

The keys and the issuer say whose tokens are accepted, the audience for whom they
are issued; all three are required. The algorithm is that of the key, never what
a token says.
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
from .credentials import (
    ROLES,
    Credentials,
    Grant,
    Unauthenticated,
    Unauthorised,
    validate_nonlocal_principal,
    validate_roles,
)
from .key_sources import KeySource, open_key_source
from .peer import AUDITOR, REPLIER, Peer
from .signing_keys import ALGORITHMS, TrustedKey

__all__ = ["Jwt"]

MAX_TOKEN_LENGTH: Final = 16 * 1024  # characters of a token
MAX_TIMESTAMP: Final = 1e11  # seconds since the epoch; larger values are invalid
LEEWAY: Final = 30.0  # seconds by which two clocks may differ
ALGORITHM_NAMES: Final[Mapping[str, str]] = {**{name: name for name in ALGORITHMS}, "Ed25519": "EdDSA"}  # RFC 9864
TOKEN_TYPES: Final = ("", "jwt", "at+jwt", "application/jwt", "application/at+jwt")
INVALID_TOKEN_MESSAGE: Final = "Send a valid token in a header: Authorization: Bearer <token>."
EXPIRED_TOKEN_MESSAGE: Final = "This token has expired, or is not valid yet. Ask for a new one."


class _AlgorithmRegistry(JWSRegistry):
    """The allowed algorithms, without joserfc's warning about EdDSA, a name RFC 9864 deprecates but that is in use."""

    max_header_length = 4096

    def get_alg(self, name: str) -> Any:
        """Return an allowed algorithm by its name."""
        if name not in ALGORITHM_NAMES:
            raise UnsupportedAlgorithmError(f"Algorithm {name!r} is not allowed.")
        return self.algorithms[name]


_algorithm_registry: Final = _AlgorithmRegistry(strict_check_header=False)


class Jwt:
    """
    Accepts JSON Web Tokens of one issuer for one audience.

    ``keys`` is a file or an https address of the issuer's public keys (JWKS).
    ``principal`` and ``roles`` name the claims with the peer's name and roles;
    where the issuer has other names for our roles, ``mapping`` translates them.
    ``default`` are the roles of a token without that claim: none, unless given.
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
        self._issuer = issuer
        self._audience = audience
        self._principal_claim = principal
        self._roles_claim = roles
        self._role_mapping = {role: role for role in ROLES} if mapping is None else dict(mapping)
        if unknown := {*self._role_mapping.values()} - {*ROLES}:
            raise AaepError(f"{min(unknown)!r} is no role. Every role is one of {', '.join(ROLES)}.")
        self._default_roles = None if default is None else validate_roles(default)
        self._wall = wall

    async def prepare(self) -> None:
        """Fetch the keys, if they come from an address."""
        if hasattr(self._keys, "prepare"):
            await self._keys.prepare()

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the peer that a valid token names, until the token expires."""
        claims = self._verify_token(credentials.bearer)
        expires_at = self._check_validity_period(claims)
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        if claims.get("iss") != self._issuer or self._audience not in audiences:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        return self._grant_from_claims(claims).to_peer(credentials, expires_at)

    # -- signature -------------------------------------------------------------------------

    def _verify_token(self, token: str) -> dict[str, Any]:
        """Verify the signature of a token and return its claims."""
        if not token or len(token) > MAX_TOKEN_LENGTH or token.count(".") != 2:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        try:
            header = jws.extract_compact(token.encode(), registry=_algorithm_registry).headers()
            key = self._find_key(header)
            signature = jws.deserialize_compact(token, key.jose_key, registry=_algorithm_registry)
            claims = msgspec.json.decode(signature.payload or b"")
        except (JoseError, ValueError, TypeError, RecursionError):  # bad base64 and bad JSON are ValueErrors
            raise Unauthenticated(INVALID_TOKEN_MESSAGE) from None
        if not isinstance(claims, dict):
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        return claims

    def _find_key(self, header: Mapping[str, Any]) -> TrustedKey:
        """Return the one trusted key with the name and algorithm that a header gives (compare CF-121)."""
        token_type = header.get("typ", "")
        kid = header.get("kid", "")
        algorithm = ALGORITHM_NAMES.get(str(header.get("alg")), "")
        if not isinstance(kid, str) or not algorithm:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        # A signed manifest is no token.
        if not isinstance(token_type, str) or token_type.lower() not in TOKEN_TYPES:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        if "crit" in header or "b64" in header:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        keys = [key for key in self._keys.get_keys(kid) if key.algorithm == algorithm and kid in ("", key.kid)]
        if len(keys) != 1:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        return keys[0]

    # -- claims ----------------------------------------------------------------------------

    def _check_validity_period(self, claims: Mapping[str, Any]) -> float:
        """Return when a token expires, or raise if it is not valid now or has no expiry."""
        now = self._wall()
        expires_at = _to_timestamp(claims.get("exp"))
        starts = [_to_timestamp(claims.get(name, 0)) for name in ("nbf", "iat")]
        is_valid = all(start is not None and start <= now + LEEWAY for start in starts)
        if expires_at is None or now >= expires_at or not is_valid:
            raise Unauthenticated(EXPIRED_TOKEN_MESSAGE)
        return expires_at

    def _grant_from_claims(self, claims: Mapping[str, Any]) -> Grant:
        name = claims.get(self._principal_claim)
        if not isinstance(name, str):
            raise Unauthorised("This token does not say whose it is.")
        roles = self._roles_from_claim(claims.get(self._roles_claim))
        if {AUDITOR, REPLIER} <= roles:  # whichever was meant, the other was not
            raise Unauthorised("This token makes its bearer an auditor and a replier. Ask for one with one of the two.")
        try:
            return Grant(validate_nonlocal_principal(name), validate_roles(roles))
        except AaepError:
            raise Unauthorised("This token gives its bearer no name or no role here.") from None

    def _roles_from_claim(self, claim: Any) -> frozenset[str]:
        """Return our roles for a claim, which is a list or a text with spaces; unknown names are ignored."""
        if claim is None and self._default_roles is not None:
            return self._default_roles
        names: list[Any] = []
        if isinstance(claim, str):
            names = claim.split()
        elif isinstance(claim, list):
            names = claim
        return frozenset(
            self._role_mapping[name] for name in names if isinstance(name, str) and name in self._role_mapping
        )


def _to_timestamp(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and abs(value) < MAX_TIMESTAMP else None
