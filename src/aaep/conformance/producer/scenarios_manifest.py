"""A scenario about manifests: the signed one, and the documents that manifest URIs lead to. §10.4, §5.10"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, Final

import aiohttp

from ...errors import AaepError
from ...identity import manifests
from ...identity.signing_keys import ALGORITHMS
from ...protocol import codec
from ...protocol.catalogue import grade
from ...protocol.framing import MAX_MESSAGE_BYTES
from ..judge import EvidenceLog, excerpt
from ..scenario import producer_scenario
from .harness import LISTENER_CAPABILITIES, FakeSubscriber, Harness

_SIGNATURE_RULES: Final = ("MAN-016", "MAN-017", "MAN-018", "MAN-020")
_FETCH_TIMEOUT: Final = 10.0  # seconds


@producer_scenario(3, "", "CAP-045 SUB-049 ENV-036 " + " ".join(_SIGNATURE_RULES))
async def a_manifest_is_signed_where_that_is_demanded(harness: Harness) -> None:
    """Demand a signed manifest, and check it or the rejection."""
    harness.require_main_subscriber()  # a producer that rejects a usual request too does not show why
    subscriber = FakeSubscriber(harness)
    try:
        await subscriber.request({**LISTENER_CAPABILITIES, "accept_signed_manifests_only": True})
    finally:
        await subscriber.unsubscribe()
    if subscriber.acceptance:
        _check_signed_manifest(harness.evidence, subscriber.acceptance.get("signed_manifest"))
    else:
        _check_rejection(harness.evidence, subscriber.rejection)
    await _check_manifest_uris(harness)


def _check_rejection(evidence: EvidenceLog, rejection: dict[str, Any]) -> None:
    for rule in ("CAP-045", "SUB-049"):
        evidence.check(
            rule,
            rejection.get("reason_code") == "manifest_signature_required",
            f"A signed manifest was demanded: {excerpt(rejection)}",
            f"A signed manifest was demanded, and the reason given is another one: {excerpt(rejection)}",
            "Reject with manifest_signature_required.",
        )
    for rule in _SIGNATURE_RULES:
        evidence.record_not_applicable(rule, "It signs no manifest, and turns away who demands one.")


def _check_signed_manifest(evidence: EvidenceLog, signed: object) -> None:
    for rule in ("MAN-016", "MAN-020"):
        evidence.check(
            rule,
            isinstance(signed, str) and manifests.is_signed(signed),
            "Where a signed manifest was demanded it came with the acceptance.",
            "A signed manifest was demanded and promised, and the acceptance has none.",
            "Put the JWS into signed_manifest, or reject with manifest_signature_required.",
        )
    if not isinstance(signed, str) or not manifests.is_signed(signed):
        return
    fault = _find_fault(signed)
    evidence.check(
        "MAN-017",
        not fault,
        f"What is signed is a manifest; whose key it is, those can tell who know it. {excerpt(signed.encode())}",
        f"What is signed is no sound manifest. {fault}",
        "Sign the manifest of §5.10.",
    )
    algorithm = _read_algorithm(signed)
    evidence.check(
        "MAN-018",
        algorithm in ALGORITHMS,  # CF-121
        f"It is signed with {algorithm}.",
        f"The algorithm is {algorithm or 'not said'}.",
        "Sign with ES256 or RS256.",
    )


async def _check_manifest_uris(harness: Harness) -> None:
    """ENV-036: check the documents at the manifest URIs of the producer and its events."""
    evidence = harness.evidence
    uris = {*_find_manifest_uris(harness)}
    if not uris:
        evidence.record_not_applicable("ENV-036", "No event names a manifest.")
    for uri in sorted(uris):
        if not uri.lower().startswith(("http://", "https://")):
            evidence.record_pass("ENV-036", f"{uri} is a URI; it was not followed.")
            continue
        raw = await _fetch(uri)
        fault = _find_fault(raw) if raw else ""
        evidence.check(
            "ENV-036",
            not fault,
            f"At {uri} there is a manifest." if raw else f"Nothing could be fetched from {uri}, which is allowed.",
            f"At {uri} there is something else than a manifest. {fault}",
            "Let manifest_uri lead to the manifest of §5.10.",
        )


def _find_manifest_uris(harness: Harness) -> Iterator[str]:
    events = harness.main_subscriber.events if harness.main_subscriber else []
    for producer in (harness.producer_info, *(event["producer"] for event in events)):
        uri = producer.get("manifest_uri") if isinstance(producer, dict) else None
        if isinstance(uri, str):
            yield uri


async def _fetch(uri: str) -> bytes:
    """Fetch the document at a URI; return nothing if there is none."""
    timeout = aiohttp.ClientTimeout(total=_FETCH_TIMEOUT)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(uri) as response:
            return await response.content.read(MAX_MESSAGE_BYTES) if response.status == 200 else b""
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        return b""


def _find_fault(document: bytes | str) -> str:
    """Return why a document is no valid manifest; empty if it is one."""
    try:
        manifest = manifests.parse_manifest(document)
    except AaepError as error:
        return str(error)
    _, violations = codec.read(codec.encode(manifest))
    return "; ".join(str(violation) for violation in violations if grade(violation) == "error")


def _read_algorithm(signed: str) -> str:
    """Return the algorithm that the header of a JWS names; empty if it names none."""
    head = signed.strip().split(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except ValueError:
        return ""
    algorithm = header.get("alg") if isinstance(header, dict) else None
    return algorithm if isinstance(algorithm, str) else ""
