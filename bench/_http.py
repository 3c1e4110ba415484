"""The least of an HTTP client that the benchmarks need: sockets, and what goes over them."""

from __future__ import annotations

import socket
from typing import Any
from urllib.parse import urlsplit

import msgspec

__all__ = ["connected", "post", "stream", "subscribe"]


def connected(url: str) -> socket.socket:
    """A connection to a server on this machine."""
    parts = urlsplit(url)
    opened = socket.create_connection((parts.hostname or "127.0.0.1", parts.port or 80))
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return opened


def _host(opened: socket.socket) -> bytes:
    return b"Host: %b:%d\r\n" % (opened.getpeername()[0].encode(), opened.getpeername()[1])


def post(opened: socket.socket, path: str, message: dict[str, Any]) -> bytes:
    """Post a message and give back the body of the answer."""
    body = msgspec.json.encode(message)
    head = b"POST %b HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n" % (path.encode(), len(body))
    opened.sendall(head + _host(opened) + b"\r\n" + body)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += opened.recv(65_536)
    said, _, rest = answer.partition(b"\r\n\r\n")
    if not said.startswith(b"HTTP/1.1 20"):
        raise SystemExit(f"The server refused: {answer!r}")
    size = next((int(line[15:]) for line in said.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    while len(rest) < size:
        rest += opened.recv(65_536)
    return rest


def subscribe(opened: socket.socket, **capabilities: Any) -> str:
    """Shake hands, and give back the id of the subscription."""
    request = {
        "type": "subscription.request",
        "aaep_version": "1.0.0",
        "subscriber_id": "aaep-bench",
        "subscriber_name": "Bench",
        "capabilities": capabilities,
    }
    answer: dict[str, Any] = msgspec.json.decode(post(opened, "/aaep/v1/subscriptions", request))
    return str(answer["subscription_id"])


def stream(opened: socket.socket, subscription_id: str) -> None:
    """Ask for the events of a subscription. What comes is for the caller to read."""
    path = f"/aaep/v1/events?subscription_id={subscription_id}".encode()
    opened.sendall(b"GET %b HTTP/1.1\r\nAccept: text/event-stream\r\n" % path + _host(opened) + b"\r\n")
