"""
The property behind all of it, over every transport.

No sequence of bytes crashes the hub, or changes the outcome of a pending
confirmation other than a valid reply of somebody who is entitled to give it.
"""

from __future__ import annotations

import json
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.end_to_end.wires import Json, Line, TwoWay
from tests.threats.hall import NAMES, Hall, hall, no_trouble

# Each example is a connection or more; `make fuzz` tries many all the same.
FEW = settings(
    max_examples=max(30, settings().max_examples // 20),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
pytestmark = pytest.mark.fuzz


@pytest.fixture(scope="module", params=NAMES)
def besieged(request: pytest.FixtureRequest) -> Iterator[Hall]:
    """One prompt for all that is thrown at it; at the end Ada answers it."""
    with (
        no_trouble(),
        tempfile.TemporaryDirectory(prefix="aaep-") as folder,
        hall(request.param, Path(folder), life=3600.0) as made,
    ):
        hub = made.bank.producer.hub
        hub.settings = msgspec.structs.replace(hub.settings, resume_window=0.05)  # Mallory leaves many behind
        yield made
        made.decides()


def unmoved(scene: Hall) -> None:
    """The hub answers Ada on her own connection, and her question is open."""
    probe = {"type": "subscription.renegotiate", "subscription_id": scene.ada.id, "capabilities": {}}
    answer = scene.bank.wire("ada").renegotiated(scene.send("ada", probe))
    assert answer["type"] == "subscription.accepted" and answer["subscription_id"] == scene.ada.id
    assert scene.ask.answer is None and scene.session.is_open


# -- bytes -------------------------------------------------------------------------------------------

_PIECES = st.one_of(
    st.binary(max_size=200),
    st.sampled_from(
        [
            b"\r\n",
            b"\r\n\r\n",
            b"\n",
            b"\0",
            b"{",
            b"\0\0\0\x02{}",
            b"\0\x0f\xff\xff",
            b"\xff\xff\xff\xff",
            b"\x81\x80\0\0\0\0",
            b"\x88\x80\0\0\0\0",
            b"\x89\x80\0\0\0\0",
            b"GET /aaep/v1/events HTTP/1.1\r\n",
            b"POST /aaep/v1/replies HTTP/1.1\r\n",
            b"POST /aaep/v1/replies HTTP/1.0\r\n",
            b"GET /aaep/v1/ws HTTP/1.1\r\n",
            b"OPTIONS * HTTP/1.1\r\n",
            b"Host: 127.0.0.1\r\n",
            b"Content-Type: application/json\r\n",
            b"Content-Length: 5\r\n",
            b"Content-Length: -1\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Transfer-Encoding: chunked, identity\r\n",
            b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
            b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n",
            b"Expect: 100-continue\r\n",
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            b"\0\0\0\x04\0\0\0\0\0",
            b'{"jsonrpc":"2.0","method":"aaep.reply","params":{}}\n',
            b'{"jsonrpc":"2.0","id":1,"method":"aaep.subscribe","params":{}}\n',
        ]
    ),
)


def _dialled(url: str) -> socket.socket:
    place = urlsplit(url.removeprefix("asgi+"))
    if place.hostname is None:
        made = socket.socket(socket.AF_UNIX)
        made.connect(place.path)
        return made
    return socket.create_connection((place.hostname, int(place.port or 0)))


@FEW
@given(pieces=st.lists(_PIECES, min_size=1, max_size=12), known=st.booleans())
def test_no_bytes_on_a_fresh_connection_matter(besieged: Hall, pieces: list[bytes], known: bool) -> None:
    """``known``: they also hold what only Ada should know, and her yes, well formed."""
    scene = besieged
    scene.bank.doorman.coming = ("mallory", "replier")
    data = b"".join(pieces)
    if known:
        (shown,) = scene.bank.doorman.headers("mallory", "replier").values()
        host = f"Host: {urlsplit(scene.url).netloc}\r\nAuthorization: {shown}\r\n"
        data = data.replace(b"Host: 127.0.0.1\r\n", host.encode())
        yes = scene.yes(scene.ada.id)
        data += len(yes).to_bytes(4) + yes + b"\n" + yes + b"\n"
        data += b'{"jsonrpc":"2.0","method":"aaep.reply","params":%b}\n' % yes
    with _dialled(scene.url) as line, suppress(ConnectionError, BrokenPipeError):  # it may hang up at any byte
        line.sendall(data)
        line.shutdown(socket.SHUT_WR)
    unmoved(scene)


# -- messages ----------------------------------------------------------------------------------------

_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)
_TYPES = (
    "confirmation.reply",
    "clarification.reply",
    "subscription.request",
    "subscription.renegotiate",
    "subscription.close",
    "subscription.accepted",
    "aaep:agent.session.completed",
)
_MEMBERS = ("type", "reply_token", "decision", "response", "subscription_id", "timestamp", "capabilities", "decided_by")


@st.composite
def messages(draw: st.DrawFn, scene: Hall) -> bytes:
    """Ada's yes with something done to it, or something else altogether. From Mallory none of it counts."""
    good: Json = json.loads(scene.yes(draw(st.sampled_from([scene.ada.id, scene.mallory.id]))))
    good["type"] = draw(st.sampled_from(_TYPES))
    if draw(st.booleans()):
        good["capabilities"] = draw(st.dictionaries(st.text(max_size=10), _VALUES, max_size=3))
        good |= {"aaep_version": "1.0.0", "subscriber_id": "x", "subscriber_name": "x", "reason_code": "x"}
    for member in draw(st.lists(st.sampled_from(_MEMBERS), max_size=2)):
        good[member] = draw(_VALUES)
    raw = json.dumps(good).encode()
    if draw(st.booleans()):
        at = draw(st.integers(0, len(raw)))
        raw = raw[:at] + draw(st.binary(max_size=8)) + raw[at + draw(st.integers(0, 4)) :]
    return raw


@FEW
@given(data=st.data())
def test_no_messages_of_somebody_else_matter(besieged: Hall, data: st.DataObject) -> None:
    scene = besieged
    sent = data.draw(st.lists(messages(scene), min_size=1, max_size=4))
    wire = scene.bank.wire("mallory")
    if not isinstance(wire, TwoWay):
        for raw in sent:
            assert wire.send(scene.url, raw)[0] in (200, 204, 400, 404)
    else:
        with ExitStack() as stack:
            line: Line = wire.dial(scene.url)
            stack.callback(line.cut)
            if data.draw(st.booleans()):
                wish = {"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "x"}
                line.send(json.dumps(wish | {"subscriber_name": "x", "capabilities": {}}).encode())
                assert line.receive()
            with suppress(ConnectionError):  # it may hang up at any of them
                for raw in sent:
                    line.send(raw)
    unmoved(scene)
