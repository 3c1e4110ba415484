"""
A channel with fallbacks: when one address fails, another from the manifest is tried. §8.4, MAN-028

What was meant for one server is sent to no other (CF-116): a fallback is on the
same host, is never unencrypted where the first address is encrypted, and on this
machine is never a port, which any user may have taken, in place of a socket,
whose owner is known.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from ..errors import AaepError
from ..identity.manifests import declared_origins, parse_manifest
from ..identity.origins import ENCRYPTED, LOCAL_ORIGIN, is_on_this_machine, origin, same_origin
from ..protocol.messages import Manifest
from ..transports.base import Channel, ChannelLost, ChannelRefused, ReceivedMessage, read_message_type

__all__ = ["FallbackChannel"]

log: Final = logging.getLogger("aaep.subscriber")

_MAX_FALLBACKS: Final = 8  # addresses beside the first
_AGENT_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")  # an id that cannot be mistaken for a path
_MANIFEST_TIMEOUT: Final = 5.0  # seconds to fetch a manifest


class FallbackChannel:
    """A :class:`~aaep.transports.base.Channel` to ``url`` that switches to another address if that fails."""

    def __init__(self, url: str, connect: Callable[[str], Channel]) -> None:
        self._connect = connect
        self._urls = [url]
        self.url = url  # the address in use
        self._channel: Channel | None = connect(url)

    async def manifest(self) -> bytes:
        """Fetch the producer's manifest over the current channel."""
        return await self._require_channel().manifest()

    async def request(self, message: bytes) -> bytes:
        """Send a request and return the answer, trying other addresses for a new subscription."""
        if read_message_type(message) != "subscription.request":
            return await self._require_channel().request(message)
        answer = await self._request_anywhere(message)
        if read_message_type(answer) == "subscription.accepted":
            await self._learn_addresses()
        return answer

    async def _request_anywhere(self, message: bytes) -> bytes:
        """Send a subscription request to the address last in use, then to the others in turn."""
        start = self._urls.index(self.url)
        last_error: AaepError = ChannelLost("There is no way to the producer.")
        for url in [*self._urls[start:], *self._urls[:start]]:
            try:
                channel = await self._switch_to(url)
                return await channel.request(message)
            except ChannelLost as error:
                last_error = error
                log.info("No connection by %s: %s", url, error)
            except AaepError as error:
                if url == self._urls[0]:
                    raise  # the requested address itself cannot be used, and retrying will not help
                last_error = ChannelLost(f"{url} cannot be used: {error}")  # a missing extra, or a refusal
        raise last_error

    async def send(self, message: bytes) -> None:
        """Send a message over the current channel."""
        await self._require_channel().send(message)

    async def receive_messages(self, subscription_id: str, after: str = "") -> AsyncGenerator[ReceivedMessage, None]:
        """Yield what arrives for a subscription. A failure before the first arrival ends the subscription."""
        has_arrived = False
        stream = self._require_channel().receive_messages(subscription_id, after)
        try:
            async for arrival in stream:
                has_arrived = True
                yield arrival
        except ChannelLost as error:
            if has_arrived or len(self._urls) == 1:
                raise
            # A subscription belongs to its address; a new one resumes after the last event (CF-084).
            raise ChannelRefused(f"{error} Another way is tried.", gone=True) from error
        finally:
            aclose = getattr(stream, "aclose", None)
            if aclose is not None:
                await aclose()

    async def close(self) -> None:
        """Close the current channel; the next request opens one again."""
        channel = self._channel
        self._channel = None
        if channel is not None:
            await channel.close()

    def _require_channel(self) -> Channel:
        if self._channel is None:
            raise ChannelLost("There is no connection at the moment.")
        return self._channel

    async def _switch_to(self, url: str) -> Channel:
        if url != self.url or self._channel is None:
            await self.close()
            channel = self._connect(url)
            self.url = url
            self._channel = channel
        return self._channel

    async def _learn_addresses(self) -> None:
        """Remember the fallback addresses in the producer's manifest, if it can be fetched."""
        try:
            async with asyncio.timeout(_MANIFEST_TIMEOUT):
                manifest = parse_manifest(await self._require_channel().manifest())
        except (AaepError, TimeoutError) as error:
            log.debug("Other ways are not known: %s", error)
            return
        first = self._urls[0]
        fallbacks = [
            url for url in _advertised_urls(manifest) if may_fall_back(first, url) and not is_same_address(first, url)
        ]
        self._urls = [*dict.fromkeys([first, *fallbacks[:_MAX_FALLBACKS], self.url])]


def may_fall_back(first: str, other: str) -> bool:
    """Whether credentials and messages meant for one URL may be sent to another."""
    first_parts = urlsplit(first)
    other_parts = urlsplit(other)
    if origin(first) == LOCAL_ORIGIN:
        return origin(other) == LOCAL_ORIGIN  # CF-104, T6
    is_downgrade = first_parts.scheme.lower() in ENCRYPTED and other_parts.scheme.lower() not in ENCRYPTED
    if is_downgrade and origin(other) != LOCAL_ORIGIN:
        return False  # also on this machine, where any user may have taken the port and would receive the token
    if is_on_this_machine(first):
        return is_on_this_machine(other)
    return bool(other_parts.hostname) and first_parts.hostname == other_parts.hostname


def is_same_address(first: str, other: str) -> bool:
    """Whether two URLs name the same transport to the same origin."""
    return same_origin(first, other) and urlsplit(first).scheme.lower() == urlsplit(other).scheme.lower()


def _advertised_urls(manifest: Manifest) -> Iterable[str]:
    """Yield the URLs under which a manifest says that its producer can be reached."""
    for declared in declared_origins(manifest):
        if declared != LOCAL_ORIGIN:
            yield origin(declared)
        elif _AGENT_ID.fullmatch(manifest.agent_id):
            yield f"unix:{manifest.agent_id}"  # its conventional socket (UDS-001)
