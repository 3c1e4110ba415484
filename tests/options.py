"""Value objects of options from flat keywords: a test names what it sets, not where the setting lives."""

from __future__ import annotations

import dataclasses
from typing import Any

from aaep.producer.producer import ManifestOptions, Producer, Runtime
from aaep.subscriber.connection import Reconnect, SubscriberRuntime
from aaep.subscriber.request import Terms
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import Channel
from aaep.transports.options import ConnectOptions, ServerOptions, Tls


def server_options(**flat: Any) -> ServerOptions:
    return ServerOptions(**group(flat, tls=Tls))


def connect_options(**flat: Any) -> ConnectOptions:
    return ConnectOptions(**group(flat, tls=Tls))


def subscriber(source: str | Channel, **flat: Any) -> Subscriber:
    grouped = group(flat, tls=Tls, terms=Terms, connect=ConnectOptions, reconnect=Reconnect, runtime=SubscriberRuntime)
    return Subscriber(source, **grouped)


def producer(agent_id: str, **flat: Any) -> Producer:
    return Producer(agent_id, **group(flat, tls=Tls, manifest=ManifestOptions, server=ServerOptions, runtime=Runtime))


_DIRECT = {"replies", "verbosity", "token", "tls", "identity"}  # a producer or a subscriber takes them itself


def group(flat: dict[str, Any], **classes: Any) -> dict[str, Any]:
    """The same settings, with those that are fields of a value object gathered into it."""
    homes = {
        field.name: parameter
        for parameter, value_class in reversed(classes.items())
        for field in dataclasses.fields(value_class)
        if field.name not in _DIRECT
    }
    gathered: dict[str, dict[str, Any]] = {}
    rest = {}
    for name, value in flat.items():
        if name in homes:
            gathered.setdefault(homes[name], {})[name] = value
        else:
            rest[name] = value
    return {**rest, **{parameter: classes[parameter](**fields) for parameter, fields in gathered.items()}}
