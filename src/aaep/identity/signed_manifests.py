"""
Signing and verifying of manifests, with which a producer proves its identity. §10.4

A signed manifest is a compact JWS whose payload is the manifest (CF-122). As it
can be copied, it also says how long it is valid (``iat`` and ``exp``, which every
JOSE library knows) and at which addresses it may be presented
(``extensions.attend.origins``); verifying it compares these with the clock and
the connection (CF-120).

:exc:`ManifestInvalid` is an :exc:`~aaep.errors.AaepError`; its ``reason`` is a code for programs.
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
from .manifests import ManifestInvalid, declared_origins, is_signed, parse_manifest, sanitize_excerpt
from .origins import origin, same_origin
from .signing_keys import ALGORITHMS, SigningKey, TrustedKeys

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
MAX_CLOCK_SKEW: Final = 300.0  # seconds by which two clocks may differ
MAX_TIMESTAMP: Final = 1e11  # seconds since the epoch; larger values are invalid
_COMPACT_PATTERN: Final = re.compile(COMPACT_JWS.encode())


class VerifiedManifest(msgspec.Struct, frozen=True):
    """A verified manifest, with the key that signed it and its validity."""

    manifest: Manifest
    kid: str
    algorithm: str
    issued_at: float  # seconds since the epoch
    expires_at: float
    origins: tuple[str, ...]


class _AlgorithmRegistry(jws.JWSRegistry):
    """The allowed algorithms, without joserfc's warning about EdDSA: AAEP's schemas do not know the newer name."""

    max_header_length = 4096  # bytes; it may contain a certificate, which is ignored
    max_payload_length = 1 << 20  # bytes

    def get_alg(self, name: str) -> JWSAlgModel:
        """Return an algorithm by its name."""
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
    Return a manifest as a compact JWS that is valid for some days from ``now``, in seconds since the epoch. MAN-017

    ``origins`` are the addresses at which it may be presented, in place of
    those in the manifest.
    """
    if not 0 < days <= MAX_VALIDITY_DAYS:
        raise LocalProtocolError(
            f"A manifest is signed for at most {MAX_VALIDITY_DAYS} days. Sign it again before they end."
        )
    members = msgspec.json.decode(codec.encode(manifest))
    if origins is None:
        allowed_origins = declared_origins(manifest)
    else:
        allowed_origins = tuple(dict.fromkeys(_require_origin(url) for url in origins))
    if not allowed_origins:
        raise LocalProtocolError("A manifest is signed for addresses. Name one, such as https://agent.example.")
    extensions = members.get("extensions") or {}
    members["extensions"] = {**extensions, PREFIX: {**extensions.get(PREFIX, {}), "origins": [*allowed_origins]}}
    members["iat"] = int(now)
    members["exp"] = int(now) + int(days * SECONDS_PER_DAY)
    payload = msgspec.json.encode(members)
    _check_valid(payload)
    header = {"alg": key.algorithm, "kid": key.kid, "typ": JWS_TYPE}  # CF-122
    return jws.serialize_compact(header, payload, key.jose_key, registry=_ALGORITHM_REGISTRY)


def _require_origin(url: str) -> str:
    """Return the origin of a URL, or raise :exc:`LocalProtocolError` if it has none."""
    url_origin = origin(url)
    if not url_origin:
        raise LocalProtocolError(f"{url!r} is no address that readers connect to. Write it like https://agent.example.")
    return url_origin


def _check_valid(payload: bytes) -> None:
    """Raise :exc:`LocalProtocolError` unless a payload is a valid manifest."""
    message, violations = codec.read(payload)
    errors = [violation for violation in violations if grade(violation) == "error"]
    if not isinstance(message, Manifest) or errors:
        raise LocalProtocolError("This manifest cannot be signed as it is.", errors)


class ManifestSigner:
    """Signs a producer's manifest on request, and again before it expires or when it has changed."""

    def __init__(
        self, key: SigningKey, *, days: float = MAX_VALIDITY_DAYS, wall: Callable[[], float] = time.time
    ) -> None:
        self._key = key
        self._days = days
        self._wall = wall
        self._cached: tuple[bytes, float, str] | None = None  # the encoded manifest, when it was signed, and the JWS

    def __call__(self, manifest: Manifest) -> str | None:
        """Return the signed manifest, or None as long as it has no address to be signed for."""
        if not declared_origins(manifest):
            return None
        raw = codec.encode(manifest)
        now = self._wall()
        if self._cached is not None:
            signed_raw, signed_at, signed = self._cached
            # Signed again at half of its time, so that every copy is valid for the other half. The age is negative
            # if the clock was set back.
            if signed_raw == raw and 0 <= now - signed_at < self._days * SECONDS_PER_DAY / 2:
                return signed
        signed = sign_manifest(manifest, self._key, now=now, days=self._days)
        self._cached = (raw, now, signed)
        return signed


# -- verifying -----------------------------------------------------------------------------


def _parse_jws(data: bytes) -> jws.CompactSignature:
    """Parse a compact JWS without verifying it."""
    text = data.strip()
    try:
        if not _COMPACT_PATTERN.fullmatch(text):
            raise ValueError("three parts in base64url are expected")
        signature = jws.extract_compact(text, registry=_ALGORITHM_REGISTRY)
    except (JoseError, ValueError, TypeError, KeyError, RecursionError) as error:
        raise ManifestInvalid("malformed", "This is no JWS in compact form, so it proves nothing.") from error
    if not isinstance(signature.protected, dict):
        raise ManifestInvalid("malformed", "The header of this JWS is no JSON object.")
    return signature


def verify_manifest(
    raw: bytes | str, keys: TrustedKeys, *, agent_id: str | None, origin: str | None, now: float
) -> VerifiedManifest:
    """
    Verify a signed manifest, or raise :exc:`ManifestInvalid`. §10.4.2

    ``agent_id`` is the producer's id on this connection and ``origin`` the
    address that was connected to; None leaves one of them unchecked, which is
    only for tools that inspect files.
    """
    data = raw if isinstance(raw, bytes) else raw.encode(errors="replace")
    if not is_signed(data):
        raise ManifestInvalid("unsigned", "The manifest is not signed, so it does not prove who the producer is.")
    signature = _parse_jws(data)
    kid, algorithm = _verify_signature(signature, keys)
    if is_signed(signature.payload):
        raise ManifestInvalid("malformed", "What was signed is no manifest.")
    manifest = parse_manifest(signature.payload)
    issued_at, expires_at = _check_dates(manifest, now)
    if agent_id is not None and manifest.agent_id != agent_id:  # MAN-024
        raise ManifestInvalid(
            "agent",
            f"The manifest is that of {sanitize_excerpt(manifest.agent_id)}, "
            f"and this producer is {sanitize_excerpt(agent_id)}.",
        )
    allowed_origins = declared_origins(manifest)
    if origin is not None and not any(same_origin(origin, allowed) for allowed in allowed_origins):
        addresses = ", ".join(map(sanitize_excerpt, allowed_origins[:10])) or "no address at all"
        raise ManifestInvalid(
            "origin",
            f"The manifest is not for {sanitize_excerpt(origin or 'this connection')} but for {addresses}. "
            "It may be a copy.",
        )
    return VerifiedManifest(manifest, kid, algorithm, issued_at, expires_at, allowed_origins)


def _verify_signature(signature: jws.CompactSignature, keys: TrustedKeys) -> tuple[str, str]:
    """
    Verify a signature and return the kid and the algorithm. MAN-022, MAN-023

    Only a trusted key of that name counts, never one in the header (CF-121).
    """
    header = signature.protected
    algorithm = header.get("alg")
    kid = header.get("kid")
    jws_type = header.get("typ", JWS_TYPE)
    if algorithm not in ALGORITHMS:
        raise ManifestInvalid(
            "algorithm",
            f"The manifest is signed with {sanitize_excerpt(str(algorithm))}. Only ES256, RS256 and EdDSA count.",
        )
    has_type = isinstance(jws_type, str) and jws_type.lower().removeprefix("application/") == JWS_TYPE
    if "crit" in header or not has_type:
        raise ManifestInvalid("malformed", "This JWS was made for something else than a manifest.")
    key = keys.get(kid) if isinstance(kid, str) else None
    if key is None:
        key_name = f"the key {sanitize_excerpt(kid)}" if isinstance(kid, str) else "a key without a name"
        raise ManifestInvalid("key", f"The manifest is signed with {key_name}, which is not trusted here.")
    if key.algorithm != algorithm:
        raise ManifestInvalid(
            "algorithm", f"The key {sanitize_excerpt(key.kid)} signs with {key.algorithm}, and this claims {algorithm}."
        )
    try:
        is_valid = jws.validate_compact(signature, key.jose_key, registry=_ALGORITHM_REGISTRY)
    except (JoseError, ValueError, TypeError):
        is_valid = False
    if not is_valid:
        raise ManifestInvalid(
            "signature", f"The signature is not that of the key {sanitize_excerpt(key.kid)}, or was tampered with."
        )
    return key.kid, key.algorithm


def _check_dates(manifest: Manifest, now: float) -> tuple[float, float]:
    """Check the validity period and return its bounds: a copy must not be valid for ever. CF-120"""
    issued_at = _get_timestamp(manifest, "iat")
    expires_at = _get_timestamp(manifest, "exp")
    if issued_at is None or expires_at is None:
        raise ManifestInvalid("date", "The manifest does not say from when to when it counts (iat and exp).")
    if issued_at > now + MAX_CLOCK_SKEW:
        raise ManifestInvalid(
            "date", f"The manifest counts only from {_format_date(issued_at)} on. Is the clock right?"
        )
    if expires_at <= now:
        raise ManifestInvalid(
            "date", f"The manifest expired on {_format_date(expires_at)}. The producer has to sign it again."
        )
    if expires_at - issued_at > MAX_VALIDITY_DAYS * SECONDS_PER_DAY:
        raise ManifestInvalid(
            "date", f"The manifest counts longer than {MAX_VALIDITY_DAYS} days, which is not accepted."
        )
    return issued_at, expires_at


def _get_timestamp(manifest: Manifest, name: str) -> float | None:
    value = manifest.unknown.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < MAX_TIMESTAMP else None  # excludes NaN too


def _format_date(epoch_seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(epoch_seconds))
