"""Which transport, host, port and origin a URL means, and whether that is this machine."""

from __future__ import annotations

import pytest

from aaep.errors import AaepError
from aaep.identity.origins import (
    ENCRYPTED,
    SCHEMES,
    TRANSPORTS,
    encrypted_scheme,
    format_host,
    http_url,
    is_loopback,
    is_on_this_machine,
    is_web_origin,
    origin,
    same_origin,
    scheme_of,
    split_authority,
    split_server_url,
    split_url,
    url_for_transport,
    web_origin,
)

NETWORK = [name for name, scheme in SCHEMES.items() if scheme.default_port is not None]
LOCALHOST = ["localhost", "LOCALHOST", "localhost.", "Localhost."]


# -- the table of schemes ----------------------------------------------------------------------


def test_every_network_scheme_has_a_default_port_and_the_encrypted_ones_are_known() -> None:
    assert ENCRYPTED == ("https", "wss", "grpcs")
    for name in NETWORK:
        assert SCHEMES[name].default_port == (443 if SCHEMES[name].is_encrypted else 80)


@pytest.mark.parametrize(("scheme", "encrypted"), [("http", "https"), ("ws", "wss"), ("grpc", "grpcs")])
def test_a_plain_scheme_has_an_encrypted_one_of_the_same_transport(scheme: str, encrypted: str) -> None:
    assert encrypted_scheme(scheme) == encrypted
    assert TRANSPORTS[scheme] == TRANSPORTS[encrypted]
    assert encrypted_scheme(encrypted) is None


@pytest.mark.parametrize("scheme", ["unix", "stdio", "pipe", "asgi+http", "gopher"])
def test_sockets_pipes_and_unknown_schemes_have_no_encrypted_one(scheme: str) -> None:
    assert encrypted_scheme(scheme) is None


@pytest.mark.parametrize(
    ("url", "transport", "other"),
    [
        ("http://h:8137", "websocket", "ws://h:8137"),
        ("https://h", "websocket", "wss://h"),
        ("WS://h:1/aaep/v1/ws", "sse", "http://h:1/aaep/v1/ws"),
        ("wss://[::1]:1", "sse", "https://[::1]:1"),
        ("asgi+http://h:1", "sse", "asgi+http://h:1"),
        ("asgi+http://h:1", "websocket", "ws://h:1"),
        ("unix:///a.sock", "unix-socket", "unix:///a.sock"),
        ("https://h", "unheard-of", "https://h"),
        ("", "sse", ""),
    ],
)
def test_the_url_of_one_server_for_another_of_its_transports(url: str, transport: str, other: str) -> None:
    assert url_for_transport(url, transport) == other


def test_a_websocket_url_begins_as_http_and_others_stay() -> None:
    assert http_url("ws://h:1/p") == "http://h:1/p"
    assert http_url("wss://h") == "https://h"
    assert http_url("https://h") == "https://h"
    assert http_url("grpcs://h") == "grpcs://h"
    assert http_url("local") == "local"


# -- origins that are compared -----------------------------------------------------------------


@pytest.mark.parametrize("scheme", [name for name in NETWORK if "+" not in name])
def test_a_default_port_may_be_written_or_left_out_for_every_scheme(scheme: str) -> None:
    port = SCHEMES[scheme].default_port
    assert same_origin(f"{scheme}://h", f"{scheme}://h:{port}")
    assert origin(f"{scheme}://h:{port}") == f"{scheme}://h"
    assert not same_origin(f"{scheme}://h", f"{scheme}://h:8137")


def test_grpcs_without_a_port_is_grpcs_at_443() -> None:
    assert same_origin("grpcs://h", "grpcs://h:443")
    assert same_origin("grpc://h:80", "grpc://h")
    assert not same_origin("grpc://h", "grpcs://h")
    assert not same_origin("grpc://h", "grpc://h:443")


def test_grpc_is_not_http() -> None:
    assert not same_origin("grpcs://h", "https://h")
    assert not same_origin("grpc://h", "http://h")


@pytest.mark.parametrize("name", LOCALHOST)
def test_localhost_means_the_same_everywhere(name: str) -> None:
    assert is_loopback(name)
    assert origin(f"http://{name}:8137") == "http://127.0.0.1:8137"
    assert same_origin(f"ws://{name}:8137", "http://127.0.0.1:8137")
    assert is_on_this_machine(f"grpc://{name}:1")


@pytest.mark.parametrize(
    "url", ["", "agent.example", "gopher://h", "http://", "http://h:port", "http://[", "x+http://h"]
)
def test_where_no_client_can_connect_there_is_no_origin(url: str) -> None:
    assert origin(url) == ""
    assert not same_origin(url, url)
    assert not is_on_this_machine(url)


# -- this machine ------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", *LOCALHOST])
def test_loopback_hosts(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["", ".", "localhost..", "localhost.example", "example", "10.0.0.1", "0.0.0.0", "::", "127.1", "127.0.0.1.", "127"],
)
def test_hosts_that_may_mean_another_machine(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("unix:bank", True),
        ("stdio:agent", True),
        ("local", True),
        ("wss://[::1]:1", True),
        ("asgi+http://127.0.0.1:1", True),
        ("http://127.0.0.1.:1", False),
        ("http://0.0.0.0:1", False),
        ("https://agent.example", False),
    ],
)
def test_what_cannot_leave_this_machine(url: str, here: bool) -> None:
    assert is_on_this_machine(url) is here


# -- origins as browsers write them ------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://Reader.Example:443/path", "https://reader.example"),
        ("http://localhost:3000/", "http://localhost:3000"),
        ("http://[::1]:80", "http://[::1]"),
        ("http://h:443", "http://h:443"),
    ],
)
def test_an_origin_as_browsers_write_it(url: str, written: str) -> None:
    assert web_origin(url) == written
    assert is_web_origin(written)


@pytest.mark.parametrize(
    "text",
    ["*", "", "null", "reader.example", "https://h/", "https://H", "https://h:443", "ws://h", "https://h:x", "file://"],
)
def test_texts_that_are_no_origin_of_a_page(text: str) -> None:
    assert not is_web_origin(text)


# -- taking a URL apart ------------------------------------------------------------------------


def test_the_port_of_a_server_url_is_that_of_its_scheme_unless_it_is_written() -> None:
    for scheme in NETWORK:
        assert split_server_url(f"{scheme}://h", (scheme,))[1] == SCHEMES[scheme].default_port
        assert split_server_url(f"{scheme}://h:0", (scheme,))[1] == 0


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("ws://h:99999", "is not a URL: Port out of range 0-65535. Write it like ws://127.0.0.1:8137."),
        ("http://h:x", "is not a URL: Port could not be cast to integer value as 'x'. Write it like http://127"),
        ("ftp://h", "is not the address of an AAEP server. Write it like http://127.0.0.1:8137."),
        ("http:h", "is not the address of an AAEP server. Write it like http://127.0.0.1:8137."),
        ("wss://h?token=x", "is not the address of an AAEP server. Write it like wss://127.0.0.1:8137."),
        ("http://me:secret@h", "No credentials in a URL: it reaches logs and histories. Use token= instead."),
    ],
)
def test_one_text_for_each_mistake_with_an_example_of_the_same_scheme(url: str, text: str) -> None:
    with pytest.raises(AaepError) as caught:
        split_server_url(url, ("http", "https", "ws", "wss"))
    assert text in str(caught.value) and "secret" not in str(caught.value)


def test_a_malformed_url_is_told_in_the_same_words_whatever_it_is_for() -> None:
    texts = set()
    for split in (split_url, lambda url: split_server_url(url, ("http",))):
        with pytest.raises(AaepError) as caught:
            split("http://[::1")
        texts.add(str(caught.value))
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("localhost:8137", ("localhost", 8137)),
        ("[::1]", ("::1", None)),
        ("h:x", ("", None)),
        ("me@h", ("", None)),
        ("h/path", ("", None)),
        ("h?x", ("", None)),
        ("[::1", ("", None)),
    ],
)
def test_the_host_and_port_of_a_host_header(header: str, parts: tuple[str, int | None]) -> None:
    assert split_authority(header) == parts


def test_schemes_and_hosts_are_written_one_way() -> None:
    assert scheme_of("HTTPS://h") == "https" and scheme_of("no url") == "no url"
    assert format_host("::1") == "[::1]" and format_host("h") == "h"
