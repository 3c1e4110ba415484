"""
Whether a producer is who it says it is: the subscriber's side of signed manifests. §10.4.2, CF-120, CF-123
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET

from ..identity.manifests import ManifestInvalid, check_consistency
from ..identity.origins import ENCRYPTED, LOCAL_ORIGIN, TRANSPORTS, is_on_this_machine, origin
from ..identity.signed_manifests import VerifiedManifest, verify_manifest
from ..identity.signing_keys import TrustedKeys
from ..protocol.messages import Capabilities, SubscriptionAccepted
from ..text.phrases import ENGLISH, Phrases
from ..text.sanitize import sanitize
from ..transports.base import Channel, ChannelRefused

__all__ = ["ManifestVerifier", "Proof"]


class Proof(msgspec.Struct, frozen=True):
    """
    What is known about who the producer is, in a sentence that can be shown.

    ``proven`` takes a signature of a trusted key, for this agent and this
    address, and a connection that nobody else can have answered.
    """

    is_proven: bool
    text: str
    signed: VerifiedManifest | None = None


class ManifestVerifier:
    """
    Verifies the producer of one subscription.

    ``place`` gives the URL that is connected to, and ``checked`` says whether
    its certificate is verified. With ``required`` whatever cannot be verified
    is an error; without, it is only not proven.
    """

    def __init__(
        self,
        keys: TrustedKeys,
        *,
        place: Callable[[], str],
        required: bool = True,
        checked: bool = True,
        phrases: Phrases = ENGLISH,
    ) -> None:
        self._phrases = phrases
        self._keys, self._current_url, self._is_required, self._is_certificate_checked = keys, place, required, checked

    async def verify(self, channel: Channel, accepted: SubscriptionAccepted, terms: Capabilities, now: float) -> Proof:
        """Verify the manifest of who accepted us. Raises :exc:`ManifestInvalid` if that is required."""
        try:
            return self._judge(await _fetch_manifest(channel, accepted), accepted, terms, now)
        except ManifestInvalid as error:
            if self._is_required:
                raise
            return Proof(False, f"{self._phrases['unproven']} {error}")

    def _judge(self, given: bytes | str, accepted: SubscriptionAccepted, terms: Capabilities, now: float) -> Proof:
        place = self._current_url()
        where, scheme = origin(place), urlsplit(place).scheme.lower()
        signed = verify_manifest(given, self._keys, agent_id=accepted.producer.agent_id, origin=where, now=now)
        check_consistency(signed.manifest, transport=TRANSPORTS.get(scheme), terms=terms)
        names = {"agent": sanitize(signed.manifest.agent_id), "key": sanitize(signed.kid)}
        if where == LOCAL_ORIGIN or (scheme in ENCRYPTED and self._is_certificate_checked):
            return Proof(True, self._phrases.format("proven", **names), signed)
        if not is_on_this_machine(place):
            raise ManifestInvalid(
                "origin", f"The connection to {where} is not protected, so anybody on the way can answer. Use TLS."
            )
        text = f"{self._phrases['unproven']} {self._phrases.format('unproven-local', **names)}"
        return Proof(False, text, signed)


async def _fetch_manifest(channel: Channel, accepted: SubscriptionAccepted) -> bytes | str:
    """MAN-021, CF-068: inline or, from a producer that publishes it only, where it is published."""
    if accepted.signed_manifest is not UNSET:
        return accepted.signed_manifest
    try:
        return await channel.manifest()
    except ChannelRefused as error:
        raise ManifestInvalid("unsigned", "The producer gave no signed manifest.") from error
