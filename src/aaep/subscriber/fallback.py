"""
Several ways to one producer: when one fails, the next that its manifest lists is tried. §8.4, MAN-028

What the person entrusted to one server goes to no other (CF-116): a way leads
to the same host, never from an encrypted connection to one that is not, and on
this machine never from a socket, whose owner is known, to a port that any user
may have taken.
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
from ..identity.origins import ENCRYPTED, LOCAL_ORIGIN, on_this_machine, origin, same_origin
from ..protocol.messages import Manifest
from ..transports.base import Arrival, Channel, ChannelLost, ChannelRefused, type_of

__all__ = ["FallbackChannel"]

log: Final = logging.getLogger("aaep.subscriber")

_MAX_ADDRESSES: Final = 8
_AGENT_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")  # an id that cannot be taken for a path
_MANIFEST_TIMEOUT: Final = 5.0  # seconds for a manifest


class FallbackChannel:
    """A :class:`~aaep.transports.base.Channel` that begins at ``url`` and goes on by another way if it must."""

    def __init__(self, url: str, connect: Callable[[str], Channel]) -> None:
        self._connect = connect
        self._urls = [url]
        self.url = url  # the one in use
        self._channel: Channel | None = connect(url)

    async def manifest(self) -> bytes:
        return await self._require_channel().manifest()

    async def request(self, message: bytes) -> bytes:
        if type_of(message) != "subscription.request":
            return await self._require_channel().request(message)
        answer = await self._request_anywhere(message)
        if type_of(answer) == "subscription.accepted":
            await self._learn_addresses()
        return answer

    async def _request_anywhere(self, message: bytes) -> bytes:
        """By the way that was last in use, then by those after it, all around."""
        start = self._urls.index(self.url)
        problem: AaepError = ChannelLost("There is no way to the producer.")
        for url in [*self._urls[start:], *self._urls[:start]]:
            try:
                channel = await self._switch_to(url)
                return await channel.request(message)
            except ChannelLost as error:
                problem = error
                log.info("No connection by %s: %s", url, error)
            except AaepError as error:
                if url == self._urls[0]:
                    raise  # what the person asked for cannot be had, and trying again will not help
                problem = ChannelLost(f"{url} cannot be used: {error}")  # it may lack an extra, or refuse us
        raise problem

    async def send(self, message: bytes) -> None:
        await self._require_channel().send(message)

    async def arrivals(self, subscription_id: str, after: str = "") -> AsyncGenerator[Arrival, None]:
        came = False
        stream = self._require_channel().arrivals(subscription_id, after)
        try:
            async for arrival in stream:
                came = True
                yield arrival
        except ChannelLost as error:
            if came or len(self._urls) == 1:
                raise
            # A subscription belongs to its way; a new one goes on after the last event (CF-084).
            raise ChannelRefused(f"{error} Another way is tried.", gone=True) from error
        finally:
            shut = getattr(stream, "aclose", None)
            if shut is not None:
                await shut()

    async def close(self) -> None:
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.close()

    def _require_channel(self) -> Channel:
        if self._channel is None:
            raise ChannelLost("There is no connection at the moment.")
        return self._channel

    async def _switch_to(self, url: str) -> Channel:
        if url != self.url or self._channel is None:
            await self.close()
            self.url, self._channel = url, self._connect(url)
        return self._channel

    async def _learn_addresses(self) -> None:
        """Remember the other ways. Not knowing them is no reason to fail."""
        try:
            async with asyncio.timeout(_MANIFEST_TIMEOUT):
                manifest = parse_manifest(await self._require_channel().manifest())
        except (AaepError, TimeoutError) as error:
            log.debug("Other ways are not known: %s", error)
            return
        first = self._urls[0]
        found = [
            one for one in _advertised_urls(manifest) if may_fall_back(first, one) and not is_same_address(first, one)
        ]
        self._urls = [*dict.fromkeys([first, *found[:_MAX_ADDRESSES], self.url])]


def may_fall_back(first: str, other: str) -> bool:
    """Whether what was meant for one URL may be sent to another."""
    one, two = urlsplit(first), urlsplit(other)
    if origin(first) == LOCAL_ORIGIN:
        return origin(other) == LOCAL_ORIGIN  # CF-104, T6
    if one.scheme.lower() in ENCRYPTED and two.scheme.lower() not in ENCRYPTED and origin(other) != LOCAL_ORIGIN:
        return False  # also on this machine: who has taken a port proves nothing, and is shown the token
    if on_this_machine(first):
        return on_this_machine(other)
    return bool(two.hostname) and one.hostname == two.hostname


def is_same_address(one: str, other: str) -> bool:
    """Whether two URLs are one way: the same transport to the same place."""
    return same_origin(one, other) and urlsplit(one).scheme.lower() == urlsplit(other).scheme.lower()


def _advertised_urls(manifest: Manifest) -> Iterable[str]:
    for place in declared_origins(manifest):
        if place != LOCAL_ORIGIN:
            yield origin(place)
        elif _AGENT_ID.fullmatch(manifest.agent_id):
            yield f"unix:{manifest.agent_id}"  # where it is by convention (UDS-001)
