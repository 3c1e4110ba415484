"""
Signed manifests: what a producer says of itself, and how it is known that it was the producer who said so. §10.4

A signed manifest is a compact JWS whose payload is the manifest (CF-122). By
itself that proves little, for anybody can copy it; so it says until when it
counts (``iat`` and ``exp``, which every JOSE library knows) and at which
addresses it may be presented (``extensions.attend.origins``), and who verifies
it compares those with the clock and the connection (CF-120).

:exc:`ManifestInvalid` is an :exc:`~aaep.errors.AaepError`; its ``reason`` is a word for programs.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Final

import msgspec
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwa import JWSAlgModel

from ..errors import LocalProtocolError
from ..protocol import codec
from ..protocol.attend_extension import PREFIX
from ..protocol.catalogue import grade
from ..protocol.messages import COMPACT_JWS, Manifest
from .manifests import ManifestInvalid, is_signed, parse_manifest, sanitize_excerpt
from .manifests import declared_origins as origins_of
from .origins import origin, same_origin
from .signing_keys import SigningKey, TrustedKeys

__all__ = [
    "MAX_VALIDITY_DAYS",
    "ManifestInvalid",
    "ManifestSigner",
    "VerifiedManifest",
    "is_signed",
    "parse_manifest",
    "sign_manifest",
    "verify_manifest",
]

MAX_VALIDITY_DAYS: Final = 30  # CF-120
JWS_TYPE: Final = "aaep-manifest+jws"  # CF-122
SECONDS_PER_DAY: Final = 86_400
MAX_CLOCK_SKEW: Final = 300.0  # seconds that two clocks may differ
_COMPACT_PATTERN: Final = re.compile(COMPACT_JWS.encode())
ALGORITHMS: Final = ("ES256", "RS256", "EdDSA")


class VerifiedManifest(msgspec.Struct, frozen=True):
    """A manifest that was verified, and by what."""

    manifest: Manifest
    kid: str
    algorithm: str
    issued_at: float  # seconds since the epoch
    expires_at: float
    origins: tuple[str, ...]


class _AlgorithmRegistry(jws.JWSRegistry):
    """The three that are allowed. joserfc would warn of the name EdDSA, whose successor no schema of AAEP knows."""

    max_header_length = 4096  # somebody may have put a certificate there, which is not looked at
    max_payload_length = 1 << 20

    def get_alg(self, name: str) -> JWSAlgModel:
        return self.algorithms[name]


_ALGORITHM_REGISTRY: Final = _AlgorithmRegistry(algorithms=ALGORITHMS, strict_check_header=False)


# -- signing -------------------------------------------------------------------------------


def sign_manifest(
    manifest: Manifest,
    key: SigningKey,
    *,
    now: float,
    days: float = MAX_VALIDITY_DAYS,
    origins: Iterable[str] | None = None,
) -> str:
    """
    The manifest as a compact JWS that counts for some days from ``now``, in seconds since the epoch. MAN-017

    ``origins`` are the addresses at which it may be presented, in place of
    those that stand in the manifest.
    """
    if not 0 < days <= MAX_VALIDITY_DAYS:
        raise LocalProtocolError(
            f"A manifest is signed for at most {MAX_VALIDITY_DAYS} days. Sign it again before they end."
        )
    given = msgspec.json.decode(codec.encode(manifest))
    allowed = origins_of(manifest) if origins is None else tuple(dict.fromkeys(_require_origin(one) for one in origins))
    if not allowed:
        raise LocalProtocolError("A manifest is signed for addresses. Name one, such as https://agent.example.")
    others = given.get("extensions") or {}
    given["extensions"] = {**others, PREFIX: {**others.get(PREFIX, {}), "origins": [*allowed]}}
    given["iat"] = int(now)
    given["exp"] = int(now) + int(days * SECONDS_PER_DAY)
    payload = msgspec.json.encode(given)
    _check_valid(payload)
    header = {"alg": key.algorithm, "kid": key.kid, "typ": JWS_TYPE}  # CF-122
    return jws.serialize_compact(header, payload, key.jose_key, registry=_ALGORITHM_REGISTRY)


def _require_origin(url: str) -> str:
    found = origin(url)
    if not found:
        raise LocalProtocolError(f"{url!r} is no address that readers connect to. Write it like https://agent.example.")
    return found


def _check_valid(payload: bytes) -> None:
    message, found = codec.read(payload)
    broken = [one for one in found if grade(one) == "error"]
    if not isinstance(message, Manifest) or broken:
        raise LocalProtocolError("This manifest cannot be signed as it is.", broken)


class ManifestSigner:
    """Signs a producer's manifest when it is asked for, and again before it expires or when it has changed."""

    def __init__(
        self, key: SigningKey, *, days: float = MAX_VALIDITY_DAYS, wall: Callable[[], float] = time.time
    ) -> None:
        self._key, self._days, self._wall = key, days, wall
        self._cached: tuple[bytes, float, str] | None = None

    def __call__(self, manifest: Manifest) -> str | None:
        """The manifest, signed; None as long as there is no address to sign it for."""
        if not origins_of(manifest):
            return None
        raw, now = codec.encode(manifest), self._wall()
        made = self._cached
        # Half of its time is left to whoever got it last. A clock that was set back must not make it older than it is.
        if made is None or made[0] != raw or not 0 <= now - made[1] < self._days * SECONDS_PER_DAY / 2:
            made = self._cached = (raw, now, sign_manifest(manifest, self._key, now=now, days=self._days))
        return made[2]


# -- verifying -----------------------------------------------------------------------------


def _parse_jws(data: bytes) -> jws.CompactSignature:
    text = data.strip()
    try:
        if not _COMPACT_PATTERN.fullmatch(text):
            raise ValueError("three parts in base64url are expected")
        found = jws.extract_compact(text, registry=_ALGORITHM_REGISTRY)
    except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ManifestInvalid("malformed", "This is no JWS in compact form, so it proves nothing.") from error
    if not isinstance(found.protected, dict):
        raise ManifestInvalid("malformed", "The header of this JWS is no JSON object.")
    return found


def verify_manifest(
    raw: bytes | str, keys: TrustedKeys, *, agent_id: str | None, origin: str | None, now: float
) -> VerifiedManifest:
    """
    What a signed manifest proves, or :exc:`ManifestInvalid`. §10.4.2

    ``agent_id`` is what the producer calls itself on this connection and
    ``origin`` the address that was connected to; None leaves one of them
    unchecked, which only a tool that looks at files may do.
    """
    data = raw if isinstance(raw, bytes) else raw.encode(errors="replace")
    if not is_signed(data):
        raise ManifestInvalid("unsigned", "The manifest is not signed, so it does not prove who the producer is.")
    found = _parse_jws(data)
    kid, algorithm = _verify_signature(found, keys)
    if is_signed(found.payload):
        raise ManifestInvalid("malformed", "What was signed is no manifest.")
    manifest = parse_manifest(found.payload)
    issued, expires = _check_dates(manifest, now)
    if agent_id is not None and manifest.agent_id != agent_id:  # MAN-024
        raise ManifestInvalid(
            "agent",
            f"The manifest is that of {sanitize_excerpt(manifest.agent_id)}, "
            f"and this producer is {sanitize_excerpt(agent_id)}.",
        )
    allowed = origins_of(manifest)
    if origin is not None and not any(same_origin(origin, one) for one in allowed):
        where = ", ".join(map(sanitize_excerpt, allowed[:10])) or "no address at all"
        raise ManifestInvalid(
            "origin",
            f"The manifest is not for {sanitize_excerpt(origin or 'this connection')} but for {where}. "
            "It may be a copy.",
        )
    return VerifiedManifest(manifest, kid, algorithm, issued, expires, allowed)


def _verify_signature(signature: jws.CompactSignature, keys: TrustedKeys) -> tuple[str, str]:
    """MAN-022, MAN-023: the key that is known by that name, and no key that the header brings along (CF-121)."""
    header = signature.protected
    algorithm, kid, kind = header.get("alg"), header.get("kid"), header.get("typ", JWS_TYPE)
    if algorithm not in ALGORITHMS:
        raise ManifestInvalid(
            "algorithm",
            f"The manifest is signed with {sanitize_excerpt(str(algorithm))}. Only ES256, RS256 and EdDSA count.",
        )
    if "crit" in header or not isinstance(kind, str) or kind.lower().removeprefix("application/") != JWS_TYPE:
        raise ManifestInvalid("malformed", "This JWS was made for something else than a manifest.")
    key = keys.get(kid) if isinstance(kid, str) else None
    if key is None:
        named = f"the key {sanitize_excerpt(kid)}" if isinstance(kid, str) else "a key without a name"
        raise ManifestInvalid("key", f"The manifest is signed with {named}, which is not trusted here.")
    if key.algorithm != algorithm:
        raise ManifestInvalid(
            "algorithm", f"The key {sanitize_excerpt(key.kid)} signs with {key.algorithm}, and this claims {algorithm}."
        )
    try:
        sound = jws.validate_compact(signature, key.jose_key, registry=_ALGORITHM_REGISTRY)
    except (JoseError, ValueError, TypeError):
        sound = False
    if not sound:
        raise ManifestInvalid(
            "signature", f"The signature is not that of the key {sanitize_excerpt(key.kid)}, or was tampered with."
        )
    return key.kid, key.algorithm


def _check_dates(manifest: Manifest, now: float) -> tuple[float, float]:
    """CF-120: a copy must not count for ever."""
    issued, expires = _get_timestamp(manifest, "iat"), _get_timestamp(manifest, "exp")
    if issued is None or expires is None:
        raise ManifestInvalid("date", "The manifest does not say from when to when it counts (iat and exp).")
    if issued > now + MAX_CLOCK_SKEW:
        raise ManifestInvalid("date", f"The manifest counts only from {_format_date(issued)} on. Is the clock right?")
    if expires <= now:
        raise ManifestInvalid(
            "date", f"The manifest expired on {_format_date(expires)}. The producer has to sign it again."
        )
    if expires - issued > MAX_VALIDITY_DAYS * SECONDS_PER_DAY:
        raise ManifestInvalid(
            "date", f"The manifest counts longer than {MAX_VALIDITY_DAYS} days, which is not accepted."
        )
    return issued, expires


def _get_timestamp(manifest: Manifest, name: str) -> float | None:
    value = manifest.unknown.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < 1e11 else None  # what no clock shows is no moment, and NaN is none either


def _format_date(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(moment))
