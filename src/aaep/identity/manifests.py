"""
Parsing of manifests, signed or not, and comparing them with a connection. §5.10, §10.4.2

Nothing is verified here; see :mod:`aaep.identity.signed_manifests` for signatures.
"""

from __future__ import annotations

import base64
from typing import Final, Literal

import msgspec
from msgspec import UNSET

from ..errors import AaepError
from ..protocol import codec
from ..protocol.attend_extension import attend_member
from ..protocol.messages import Capabilities, Manifest
from ..text.languages import filter_supported_languages
from ..text.sanitize import sanitize
from .origins import origin

__all__ = [
    "InvalidReason",
    "ManifestInvalid",
    "check_consistency",
    "declared_origins",
    "is_signed",
    "parse_manifest",
    "sanitize_excerpt",
]

InvalidReason = Literal["unsigned", "malformed", "algorithm", "key", "signature", "agent", "date", "origin", "claims"]

_MANIFEST_TYPE: Final = "aaep:producer.manifest"


class ManifestInvalid(AaepError):
    """A manifest is not a valid proof of the producer's identity. The message says why."""

    def __init__(self, reason: InvalidReason, message: str) -> None:
        super().__init__(message)
        self.reason: InvalidReason = reason


# -- parsing -------------------------------------------------------------------------------


def is_signed(raw: bytes | str) -> bool:
    """Whether a manifest is a JWS, which differs from a JSON object in its first character. CF-124"""
    text = raw if isinstance(raw, bytes) else raw.encode(errors="replace")
    return text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"")


def parse_manifest(raw: bytes | str) -> Manifest:
    """Parse a manifest, signed or not, without verifying it. Raises :exc:`ManifestInvalid`."""
    data = raw if isinstance(raw, bytes) else raw.encode(errors="replace")
    if is_signed(data):
        data = _decode_payload(data)
    try:
        message = codec.decode(data)
    except AaepError as error:
        raise ManifestInvalid("malformed", f"This is no manifest. {sanitize(_describe_fault(data, error))}") from error
    if not isinstance(message, Manifest):
        raise ManifestInvalid("malformed", "This is some other message of AAEP, and no manifest.")
    return message


def _describe_fault(data: bytes, error: AaepError) -> str:
    """Return what is wrong with a manifest, also one that lacks its type and so looks like an event (MAN-003)."""
    try:
        members = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return str(error)
    if not isinstance(members, dict) or "type" in members:
        return str(error)
    missing = f"MAN-003: type is missing. Add it: {_MANIFEST_TYPE}."
    try:
        codec.decode(msgspec.json.encode({**members, "type": _MANIFEST_TYPE}))
    except AaepError as other_error:
        return f"{missing} {str(other_error).removeprefix('This is not a usable AAEP message. ')}"
    return missing


def _decode_payload(data: bytes) -> bytes:
    """Return the payload of a compact JWS."""
    parts = data.strip().split(b".")
    try:
        if len(parts) != 3:
            raise ValueError("a JWS has three parts")
        return base64.b64decode(parts[1] + b"=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise ManifestInvalid("malformed", "This is neither a manifest nor a signed one.") from error


# -- origins -------------------------------------------------------------------------------


def declared_origins(manifest: Manifest) -> tuple[str, ...]:
    """Return the valid origins at which a manifest says that its producer can be reached (CF-120)."""
    declared = attend_member(manifest, "origins")
    if not isinstance(declared, list):
        return ()
    return tuple(url for url in declared if isinstance(url, str) and origin(url))


# -- consistency ---------------------------------------------------------------------------


def check_consistency(manifest: Manifest, *, transport: str | None, terms: Capabilities) -> None:
    """Raise :exc:`ManifestInvalid` if a subscription's terms contradict the manifest. MAN-025"""
    if transport is not None and transport not in manifest.transports_supported:
        raise ManifestInvalid("claims", f"The manifest does not list the transport {transport}, which is in use.")
    levels = () if terms.supported_conformance_levels is UNSET else terms.supported_conformance_levels
    unlisted_levels = {*levels} - {*manifest.conformance_levels_supported}
    if unlisted_levels:
        raise ManifestInvalid("claims", f"The manifest does not list level {min(unlisted_levels)}, which was granted.")
    languages = () if terms.languages is UNSET else terms.languages
    supported = filter_supported_languages(languages, manifest.languages_supported)
    supported_tags = {tag.lower() for tag in supported}  # each language is in there with one spelling
    for tag in languages:
        if tag.lower() not in supported_tags:
            raise ManifestInvalid(
                "claims", f"The language {sanitize_excerpt(tag)} was granted, and the manifest does not list it."
            )


def sanitize_excerpt(text: str) -> str:
    """Return the beginning of an untrusted text, sanitized for an error message."""
    return sanitize(text[:200])
