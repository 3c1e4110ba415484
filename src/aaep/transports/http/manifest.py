"""The manifest over HTTP: JSON, or a JWS for who asks for one (CF-124)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ...protocol.codec import encode

if TYPE_CHECKING:  # the subscriber's side needs no hub
    from ...hub.hub import Hub

__all__ = ["ACCEPT", "JOSE", "VARY", "manifest"]

JOSE: Final = "application/jose"
VARY: Final = {"Vary": "Accept"}
ACCEPT: Final = f"{JOSE}, application/json;q=0.9"  # what a subscriber says that can read both


def manifest(hub: Hub, headers: Mapping[str, str]) -> tuple[bytes, str]:
    """The body and its media type, for the headers of a request. Without a signature it is always JSON."""
    signed = hub.offered.signed_manifest if _prefers_jose(headers.get("Accept", "")) else None
    return (encode(hub.manifest()), "application/json") if signed is None else (signed.encode("ascii"), JOSE)


def _prefers_jose(accept: str) -> bool:
    """Whether a JWS is asked for by name, and not less than JSON."""
    weights = {JOSE: 0.0, "application/json": 0.0}
    for part in accept.split(","):
        name, *parameters = (one.strip().lower() for one in part.split(";"))
        if name in weights:
            weights[name] = _weight(parameters)
    return weights[JOSE] > 0 and weights[JOSE] >= weights["application/json"]


def _weight(parameters: list[str]) -> float:
    for one in parameters:
        name, _, value = one.partition("=")
        if name.strip() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0
