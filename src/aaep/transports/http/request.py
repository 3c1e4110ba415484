"""The head of an HTTP request, independent of the server library that has read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from aiohttp import web
from multidict import CIMultiDict, MultiDict, MultiMapping

from ...identity.origins import SCHEMES, http_url, is_loopback

__all__ = ["RequestHead"]


class RequestHead(msgspec.Struct, frozen=True, kw_only=True):
    """The head of a request, and facts about the connection that it came on."""

    method: str
    path: str  # decoded, relative to the path where the application is mounted
    target: str  # of the request line; "/" if the server does not provide it
    version: tuple[int, int]  # of HTTP
    headers: MultiMapping[str]
    query_string: str
    scheme: str  # of the server: http or https
    port: int  # of the server
    is_loopback: bool  # whether the connection comes from this machine
    address: str  # of the client
    certificate: dict[str, Any] | None = None  # of the client, verified by TLS, as ssl's getpeercert() gives it
    root: str = ""  # the path where the application is mounted
    subprotocols: tuple[str, ...] = ()  # that a WebSocket client offers
    is_websocket_upgrade: bool = False

    @property
    def query(self) -> MultiDict[str]:
        """The parameters of the query, including those without a value."""
        return MultiDict(parse_qsl(self.query_string, keep_blank_values=True))

    @classmethod
    def from_aiohttp(cls, request: web.BaseRequest, *, scheme: str, port: int, is_loopback: bool) -> RequestHead:
        """Return the head of an aiohttp request to the server at this scheme and port."""
        transport = request.transport
        peername: Any = None if transport is None else transport.get_extra_info("peername")
        ssl_object: Any = None if transport is None else transport.get_extra_info("ssl_object")
        headers = request.headers
        return cls(
            method=request.method,
            path=request.path,
            target=request.raw_path,
            version=request.version,
            headers=headers,
            query_string=request.rel_url.raw_query_string,
            scheme=scheme,
            port=port,
            is_loopback=is_loopback,
            address=str(peername[0]) if peername else "",
            certificate=None if ssl_object is None else ssl_object.getpeercert() or None,
            subprotocols=_read_subprotocols(headers),
            is_websocket_upgrade="Upgrade" in headers and _is_websocket_upgrade(headers),
        )

    @classmethod
    def from_asgi(cls, scope: Mapping[str, Any]) -> RequestHead:
        """Return the head of an ASGI scope for HTTP or WebSocket."""
        headers = CIMultiDict((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"])
        is_websocket = scope["type"] == "websocket"
        major, _, minor = scope.get("http_version", "1.1").partition(".")
        # For a mounted application, `path` begins with the root path.
        path = str(scope["path"])
        root = str(scope.get("root_path", "")).rstrip("/")
        scheme = http_url(str(scope.get("scheme", "http")))
        address = str((scope.get("client") or ("",))[0])
        return cls(
            method=scope.get("method", "GET"),
            path=path[len(root) :] if root and path.startswith(f"{root}/") else path,
            target="/",
            version=(int(major), int(minor or 0)),
            headers=headers,
            query_string=scope.get("query_string", b"").decode("latin-1"),
            scheme=scheme,
            port=int((scope.get("server") or ("", None))[1] or SCHEMES[scheme].default_port or 0),
            is_loopback=is_loopback(address),
            address=address,
            root=root,
            subprotocols=tuple(scope.get("subprotocols", ())) if is_websocket else _read_subprotocols(headers),
            is_websocket_upgrade=is_websocket,
        )


def _split_list_header(headers: MultiMapping[str], name: str) -> tuple[str, ...]:
    """Return the items of a comma-separated header, which may occur several times."""
    return tuple(item.strip() for line in headers.getall(name, []) for item in line.split(","))


def _read_subprotocols(headers: MultiMapping[str]) -> tuple[str, ...]:
    return _split_list_header(headers, "Sec-WebSocket-Protocol") if "Sec-WebSocket-Protocol" in headers else ()


def _is_websocket_upgrade(headers: MultiMapping[str]) -> bool:
    options = [option.lower() for option in _split_list_header(headers, "Connection")]
    return headers["Upgrade"].lower() == "websocket" and "upgrade" in options
