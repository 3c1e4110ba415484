"""A scenario about proof: what a signed manifest is, and what is found where a manifest is said to be. §10.4, §5.10"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any, Final

import aiohttp

from ...errors import AaepError
from ...identity import manifests
from ...protocol import codec
from ...protocol.catalogue import grade
from ..judge import EvidenceLog, excerpt
from ..scenario import scenario
from .harness import LISTENER_CAPABILITIES, FakeSubscriber, Harness
from .scenarios_consent import require_main_subscriber

_ALLOWED_ALGORITHMS: Final = ("ES256", "RS256", "EdDSA")  # CF-121
_SIGNATURE_RULES: Final = ("MAN-016", "MAN-017", "MAN-018", "MAN-020")
_MAX_MANIFEST_BYTES: Final = 1_048_576  # bytes of a manifest


@scenario(3, "", "CAP-045 SUB-049 ENV-036 " + " ".join(_SIGNATURE_RULES))
async def a_manifest_is_signed_where_that_is_demanded(stage: Harness) -> None:
    require_main_subscriber(stage)  # who rejects a usual request as well does not show why
    reader = FakeSubscriber(stage)
    try:
        await reader.request({**LISTENER_CAPABILITIES, "accept_signed_manifests_only": True})
    finally:
        await reader.unsubscribe()
    if reader.acceptance:
        _check_signed_manifest(stage.evidence, reader.acceptance.get("signed_manifest"))
    else:
        _check_rejection(stage.evidence, reader.rejection)
    await _check_manifest_uris(stage)


def _check_rejection(ledger: EvidenceLog, rejected: dict[str, Any]) -> None:
    for rule in ("CAP-045", "SUB-049"):
        ledger.check(
            rule,
            rejected.get("reason_code") == "manifest_signature_required",
            f"A signed manifest was demanded: {excerpt(rejected)}",
            f"A signed manifest was demanded, and the reason given is another one: {excerpt(rejected)}",
            "Reject with manifest_signature_required.",
        )
    for rule in _SIGNATURE_RULES:
        ledger.record_not_applicable(rule, "It signs no manifest, and turns away who demands one.")


def _check_signed_manifest(ledger: EvidenceLog, given: object) -> None:
    for rule in ("MAN-016", "MAN-020"):
        ledger.check(
            rule,
            isinstance(given, str) and manifests.is_signed(given),
            "Where a signed manifest was demanded it came with the acceptance.",
            "A signed manifest was demanded and promised, and the acceptance has none.",
            "Put the JWS into signed_manifest, or reject with manifest_signature_required.",
        )
    if not isinstance(given, str) or not manifests.is_signed(given):
        return
    wrong = _find_fault(given)
    ledger.check(
        "MAN-017",
        not wrong,
        f"What is signed is a manifest; whose key it is, those can tell who know it. {excerpt(given.encode())}",
        f"What is signed is no sound manifest. {wrong}",
        "Sign the manifest of §5.10.",
    )
    algorithm = _read_algorithm(given)
    ledger.check(
        "MAN-018",
        algorithm in _ALLOWED_ALGORITHMS,
        f"It is signed with {algorithm}.",
        f"The algorithm is {algorithm or 'not said'}.",
        "Sign with ES256 or RS256.",
    )


async def _check_manifest_uris(stage: Harness) -> None:
    """ENV-036: what is where an event says that the manifest is."""
    ledger = stage.evidence
    named = {*_find_manifest_uris(stage)}
    if not named:
        ledger.record_not_applicable("ENV-036", "No event names a manifest.")
    for uri in sorted(named):
        if not uri.lower().startswith(("http://", "https://")):
            ledger.record_pass("ENV-036", f"{uri} is a URI; it was not followed.")
            continue
        raw = await _fetch(uri)
        wrong = _find_fault(raw) if raw else ""
        ledger.check(
            "ENV-036",
            not wrong,
            f"At {uri} there is a manifest." if raw else f"Nothing could be fetched from {uri}, which is allowed.",
            f"At {uri} there is something else than a manifest. {wrong}",
            "Let manifest_uri lead to the manifest of §5.10.",
        )


def _find_manifest_uris(stage: Harness) -> Iterator[str]:
    for producer in (
        stage.producer_info,
        *(one["producer"] for one in (stage.main_subscriber.events if stage.main_subscriber else ())),
    ):
        uri = producer.get("manifest_uri") if isinstance(producer, dict) else None
        if isinstance(uri, str):
            yield uri


async def _fetch(uri: str) -> bytes:
    """What is there; nothing if nothing is."""
    timeout = aiohttp.ClientTimeout(total=10)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as session, session.get(uri) as answer:
            return await answer.content.read(_MAX_MANIFEST_BYTES) if answer.status == 200 else b""
    except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
        return b""


def _find_fault(given: bytes | str) -> str:
    """Why it is no sound manifest; empty if it is one."""
    try:
        manifest = manifests.parse_manifest(given)
    except AaepError as error:
        return str(error)
    _, found = codec.read(codec.encode(manifest))
    bad = [one for one in found if grade(one) == "error"]
    return "; ".join(str(one) for one in bad)


def _read_algorithm(given: str) -> str:
    head = given.strip().split(".")[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except ValueError:
        return ""
    found = header.get("alg") if isinstance(header, dict) else None
    return found if isinstance(found, str) else ""
