"""
What a manifest claims: reading it, signed or not, and comparing it with a connection. §5.10, §10.4.2

Nothing here knows of keys; see :mod:`aaep.identity.signatures` for those.
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
    """A manifest does not prove who the producer is. The message says why."""

    def __init__(self, reason: InvalidReason, message: str) -> None:
        super().__init__(message)
        self.reason: InvalidReason = reason


# -- reading -------------------------------------------------------------------------------


def is_signed(raw: bytes | str) -> bool:
    """CF-124: a JWS and a JSON object differ in their first character."""
    text = raw if isinstance(raw, bytes) else raw.encode(errors="replace")
    return text.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"{", b"")


def parse_manifest(raw: bytes | str) -> Manifest:
    """What a manifest says, signed or not. Nothing is verified."""
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
    """What is wrong with it as a manifest: without its type it would be judged as an event (MAN-003)."""
    try:
        given = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return str(error)
    if not isinstance(given, dict) or "type" in given:
        return str(error)
    missing = f"MAN-003: type is missing. Add it: {_MANIFEST_TYPE}."
    try:
        codec.decode(msgspec.json.encode({**given, "type": _MANIFEST_TYPE}))
    except AaepError as more:
        return f"{missing} {str(more).removeprefix('This is not a usable AAEP message. ')}"
    return missing


def _decode_payload(data: bytes) -> bytes:
    parts = data.strip().split(b".")
    try:
        if len(parts) != 3:
            raise ValueError("a JWS has three parts")
        return base64.b64decode(parts[1] + b"=" * (-len(parts[1]) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise ManifestInvalid("malformed", "This is neither a manifest nor a signed one.") from error


# -- addresses -----------------------------------------------------------------------------


def declared_origins(manifest: Manifest) -> tuple[str, ...]:
    """Where a manifest says that the producer is to be found (CF-120); what is no such place is left out."""
    given = attend_member(manifest, "origins")
    return tuple(one for one in given if isinstance(one, str) and origin(one)) if isinstance(given, list) else ()


# -- comparing -----------------------------------------------------------------------------


def check_consistency(manifest: Manifest, *, transport: str | None, terms: Capabilities) -> None:
    """MAN-025: what is offered on this subscription is what the manifest says. Raises :exc:`ManifestInvalid`."""
    if transport is not None and transport not in manifest.transports_supported:
        raise ManifestInvalid("claims", f"The manifest does not list the transport {transport}, which is in use.")
    levels = () if terms.supported_conformance_levels is UNSET else terms.supported_conformance_levels
    more = {*levels} - {*manifest.conformance_levels_supported}
    if more:
        raise ManifestInvalid("claims", f"The manifest does not list level {min(more)}, which was granted.")
    languages = () if terms.languages is UNSET else terms.languages
    served = filter_supported_languages(languages, manifest.languages_supported)
    for tag in languages:
        if tag.lower() not in {one.lower() for one in served}:  # of two spellings one is named
            raise ManifestInvalid(
                "claims", f"The language {sanitize_excerpt(tag)} was granted, and the manifest does not list it."
            )


def sanitize_excerpt(text: str) -> str:
    """A stranger's word, fit for a sentence of ours."""
    return sanitize(text[:200])
