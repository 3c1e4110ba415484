"""Credentials over HTTP, from sockets: who is let in, who is told to wait, and what one user can do to another."""

from __future__ import annotations

import http.client
import json
import logging
import socket
import ssl
import subprocess
import threading
import time
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aaep.errors import AaepError
from aaep.identity.credentials import Certificates, First, Local
from aaep.identity.rate_limit import FREE_ATTEMPTS
from aaep.identity.tokens import Tokens, add_entry, create_token, revoke_token
from aaep.producer.producer import Producer
from aaep.subscriber.status import Status
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.addresses import make_server_ssl_context
from aaep.transports.base import ChannelRefused
from aaep.transports.options import ServerOptions, Tls
from tests.options import producer as producer_with
from tests.transports.test_http import (
    EVENTS,
    JSON,
    MANIFEST,
    REPLIES,
    SUBSCRIPTIONS,
    WAIT,
    Answered,
    Reader,
    Server,
    close,
    reply,
    request,
    serving,
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.jsonl"


def bearer(file: Path, principal: str, role: str = "replier", seconds: float = 3600.0) -> dict[str, str]:
    token, entry = create_token(principal, role, now=time.time(), lifetime_seconds=seconds)
    add_entry(file, entry)
    return {"Authorization": f"Bearer {token}"}


def subscribed(server: Server, who: dict[str, str], **capabilities: Any) -> str:
    answer = server.ask("POST", SUBSCRIPTIONS, request(**capabilities), who)
    assert answer.status == 201, answer.body
    return str(answer.json["subscription_id"])


def status(server: Server, name: str, who: dict[str, str]) -> int:
    with server.read(name, **who) as reader:
        return reader.status


ANSWERS: dict[str, Any] = {"supports_confirmation_reply": True, "supported_conformance_levels": [1, 2]}


def test_who_shows_nothing_or_what_is_wrong_is_401_and_told_how(file: Path) -> None:
    ada = bearer(file, "ada")
    with serving(identity=Tokens(file)) as server:
        nothing = server.ask("GET", MANIFEST)
        assert (nothing.status, nothing.headers["WWW-Authenticate"]) == (401, 'Bearer realm="aaep"')
        wrong = server.ask("GET", MANIFEST, headers={"Authorization": "Bearer wrong"})
        assert wrong.status == 401 and 'error="invalid_token"' in wrong.headers["WWW-Authenticate"]
        assert server.ask("GET", MANIFEST, headers=ada).status == 200
        head = f"GET {MANIFEST} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n"
        for two in (("Bearer wrong", ada["Authorization"]), (ada["Authorization"], "Bearer wrong")):  # which counts?
            lines = "".join(f"Authorization: {one}\r\n" for one in two)
            assert b" 401 " in server.raw(f"{head}{lines}\r\n".encode()).splitlines()[0]


def test_who_may_not_listen_is_403_with_the_rejection(file: Path) -> None:
    """SUB-053"""
    bot = bearer(file, "bot", "agent")
    with serving(identity=Tokens(file)) as server:
        assert server.ask("GET", EVENTS, headers=bot).json["error"] == "authorization_denied"
        rejected = server.ask("POST", SUBSCRIPTIONS, request(), bot)
        assert (rejected.status, rejected.json["reason_code"]) == (403, "authorization_denied")


def test_who_guesses_is_429_and_who_knows_is_let_in_all_the_same(file: Path) -> None:
    ada, wrong = bearer(file, "ada"), {"Authorization": "Bearer wrong"}
    with serving(identity=Tokens(file)) as server:
        assert [server.ask("GET", MANIFEST, headers=wrong).status for _ in range(FREE_ATTEMPTS)] == [
            401
        ] * FREE_ATTEMPTS
        waiting = server.ask("GET", MANIFEST, headers=wrong)
        assert (waiting.status, waiting.json["error"], waiting.headers["Connection"]) == (429, "rate_limit", "close")
        assert int(waiting.headers["Retry-After"]) >= 1
        rejected = server.ask("POST", SUBSCRIPTIONS, request(), wrong)
        assert rejected.status == 429 and rejected.json["type"] == "subscription.rejected"
        assert rejected.json["retry_after_seconds"] == int(rejected.headers["Retry-After"])
        assert server.ask("GET", MANIFEST, headers=ada).status == 200
        assert server.ask("GET", MANIFEST).status == 401
        assert subscribed(server, ada)


def test_t1_t8_another_user_can_neither_hear_nor_answer_nor_close_nor_take_over(file: Path) -> None:
    """SEC-010, SEC-031"""
    ada, bob, display = bearer(file, "ada"), bearer(file, "bob"), bearer(file, "ada", "listener")
    with serving(identity=Tokens(file)) as server:
        server.agent.audience = frozenset({"ada"})
        hers, his = subscribed(server, ada, **ANSWERS), subscribed(server, bob, **ANSWERS)
        with server.read(hers, **ada) as reader, server.read(his, **bob) as other:
            server.agent.ask("Transfer everything.")
            assert reader.id() == "evt_1"
            for thief in (bob, display):
                assert status(server, hers, thief) == 404
                assert server.ask("POST", REPLIES, reply(hers, "rpl_1"), thief).status == 204  # the same for all
                assert server.ask("POST", REPLIES, close(hers), thief).status == 204
            assert server.ask("POST", REPLIES, reply(his, "rpl_1"), bob).status == 204
            assert server.ask("POST", REPLIES, reply(hers, "rpl_1")).status == 401
            server.agent.audience = None
            server.agent.ask("For everybody.")
            assert other.id() == "evt_2" and reader.id() == "evt_2"
            assert server.agent.replies == []
            assert server.ask("POST", REPLIES, reply(hers, "rpl_1"), ada).status == 204
            assert server.agent.heard.wait(WAIT) and len(server.agent.replies) == 1


def test_a_listener_is_told_that_its_answers_do_not_count(file: Path) -> None:
    ada = bearer(file, "ada", "listener")
    with serving(identity=Tokens(file)) as server:
        answer = server.ask("POST", SUBSCRIPTIONS, request(**ANSWERS), ada)
        assert answer.json["honored_capabilities"]["supports_confirmation_reply"] is False


def test_cf_149_a_stream_ends_with_its_token_and_resumes_with_another(file: Path) -> None:
    short = bearer(file, "ada", seconds=1.5)
    with serving(identity=Tokens(file)) as server:
        name = subscribed(server, short)
        with server.read(name, **short) as reader:
            server.agent.ask("Before.")
            assert reader.id() == "evt_1"
            ended = reader.event()
            assert ended is not None and ended["event"] == b"aaep.close"
            assert json.loads(ended["data"])["reason_code"] == "authentication_expired"
            assert reader.event() is None
        assert status(server, name, short) == 401
        server.agent.ask("Meanwhile.")
        with server.read(name, **bearer(file, "ada"), Last_Event_ID="evt_1") as again:
            assert again.id() == "evt_2"


def test_a_token_that_is_revoked_is_refused_at_once(file: Path) -> None:
    ada = bearer(file, "ada")
    with serving(identity=Tokens(file)) as server:
        assert server.ask("GET", MANIFEST, headers=ada).status == 200
        revoke_token(file, json.loads(file.read_text())["id"])
        assert server.ask("GET", MANIFEST, headers=ada).status == 401


def test_no_token_reaches_the_log(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    ada = bearer(file, "ada")
    with serving(identity=Tokens(file)) as server:
        name = subscribed(server, ada, **ANSWERS)
        server.agent.ask()
        server.ask("POST", REPLIES, reply(name, "rpl_1"), ada)
        for _ in range(2 * FREE_ATTEMPTS):
            server.ask("GET", MANIFEST, headers={"Authorization": "Bearer very-secret-guess"})
    secrets = (ada["Authorization"].split()[1], "very-secret-guess", "rpl_1")
    assert "'ada'" in caplog.text and not any(one in caplog.text for one in secrets)


def test_settings_that_contradict_each_other_or_open_the_door_too_wide_are_refused(file: Path) -> None:
    bearer(file, "ada")
    with pytest.raises(AaepError, match="either token= or identity="), serving(token="x", identity=Tokens(file)):
        pass
    door: dict[str, Any] = {"url": "https://0.0.0.0:0", "context": ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)}
    for identity in (None, Local()):
        with pytest.raises(AaepError, match="needs TLS and a credential"), serving(identity=identity, **door):
            pass


# -- mutual TLS --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, another one, and certificates of theirs."""
    folder: Path = tmp_path_factory.mktemp("mutual")

    def openssl(*args: str) -> None:
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)

    new_key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes".split()
    for ca in ("ca", "other"):
        made = ["-keyout", f"{ca}.key", "-out", f"{ca}.pem"]
        openssl("req", "-x509", *new_key, "-days", "2", "-subj", f"/CN={ca}", *made)
    for name, ca, names in (
        ("server", "ca", "DNS:localhost,IP:127.0.0.1"),
        ("ada", "ca", "URI:spiffe://home/ada"),
        ("bob", "ca", "URI:spiffe://home/bob"),
        ("forged", "other", "URI:spiffe://home/ada"),
    ):
        openssl("req", *new_key, "-subj", f"/CN={name}", "-addext", f"subjectAltName={names}",
                "-keyout", f"{name}.key", "-out", f"{name}.csr")  # fmt: skip
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-days", "2",
                "-copy_extensions", "copy", "-out", f"{name}.pem")  # fmt: skip
    return folder


def asked(server: Server, tls: Path, name: str | None, **headers: str) -> Answered:
    trust = ssl.create_default_context(cafile=str(tls / "ca.pem"))
    if name is not None:
        trust.load_cert_chain(tls / f"{name}.pem", tls / f"{name}.key")
    line = http.client.HTTPSConnection("127.0.0.1", server.port, timeout=WAIT, context=trust)
    with closing(line):
        line.request("POST", SUBSCRIPTIONS, json.dumps(request()), {**JSON, **headers})
        return Answered(line.getresponse())


def test_sec_013_a_certificate_shows_who_somebody_is(tls: Path, file: Path) -> None:
    """SEC-013, TR-023"""
    tokens = bearer(file, "carl")
    identity = First(Certificates({"URI:spiffe://home/ada": "ada"}), Tokens(file))
    door: dict[str, Any] = {
        "cert": str(tls / "server.pem"),
        "key": str(tls / "server.key"),
        "ca": str(tls / "ca.pem"),
    }
    with serving(url="https://127.0.0.1:0", identity=identity, **door) as server:
        assert asked(server, tls, "ada").status == 201
        assert asked(server, tls, "bob").status == 403  # genuine, and nobody we know
        assert asked(server, tls, None).status == 401
        assert asked(server, tls, None, **tokens).status == 201
        with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
            asked(server, tls, "forged")


def test_tr_027_no_tls_older_than_1_2(tls: Path) -> None:
    files = Tls(cert=str(tls / "server.pem"), key=str(tls / "server.key"), ca=str(tls / "ca.pem"))
    made = make_server_ssl_context("https://x", "https", files)
    assert made is not None and made.minimum_version >= ssl.TLSVersion.TLSv1_2
    assert made.verify_mode is ssl.CERT_OPTIONAL
    for bad in ("/nowhere.pem", str(tls / "ca.key")):
        with pytest.raises(AaepError, match="ca="):
            make_server_ssl_context("https://x", "https", replace(files, ca=bad))
    with pytest.raises(AaepError, match="ca="):
        make_server_ssl_context("https://x", "https", Tls(context=ssl.create_default_context(), ca="ca.pem"))
    with pytest.raises(AaepError, match="https://"):
        make_server_ssl_context("http://x", "http", Tls(ca="ca.pem"))


# -- a producer --------------------------------------------------------------------------------


def test_cf_145_a_producer_keeps_its_users_apart(file: Path) -> None:
    ada, bob, eve = bearer(file, "ada"), bearer(file, "bob"), bearer(file, "eve", "auditor")
    with Producer("bank", journal=None, listen="http://127.0.0.1:0", identity=Tokens(file)) as producer:
        port = int(producer.addresses[0].rpartition(":")[2])
        readers = [Reader(port, EVENTS, who) for who in (ada, bob, eve)]
        assert [one.status for one in readers] == [200] * 3
        try:
            for name in ("ada", "bob"):
                with producer.session(f"For {name}.", requested_by=f"user:{name}"):
                    pass
            first = [json.loads(read(one))["requested_by"] for one in readers]
            assert first == ["user:ada", "user:bob", "user:ada"]
            seen = [json.loads(read(readers[2])) for _ in range(3)]
            assert "user:bob" in [one.get("requested_by") for one in seen]
        finally:
            for one in readers:
                one.__exit__()


@pytest.mark.parametrize("where", ["producer", "server", "asgi"])
def test_cf_145_users_are_kept_apart_wherever_their_identity_is_named(file: Path, where: str) -> None:
    bearer(file, "ada")
    known = Tokens(file)
    options: dict[str, Any] = {"listen": "http://127.0.0.1:0", "identity": known}
    if where == "server":
        options = {"listen": "http://127.0.0.1:0", "server": ServerOptions(identity=known)}
    elif where == "asgi":
        options = {}
    producer = Producer("bank", journal=None, **options)
    if where == "asgi":
        producer.asgi(server=ServerOptions(identity=known))
    with producer, producer.session("For ada.", requested_by="user:ada") as session:
        assert session.audience == frozenset({"ada"})
        with producer.session("A part of it.", parent=session) as part:
            assert part.audience == frozenset({"ada"})
        with producer.session("For bob.", parent=session, requested_by="user:bob") as other:
            assert other.audience == frozenset({"bob"})


def test_cf_145_a_part_of_work_for_all_is_not_for_all(file: Path) -> None:
    bearer(file, "ada")
    with (
        Producer("plan", journal=None) as planner,
        planner.session("For whoever is here.") as plan,
        Producer("bank", journal=None, identity=Tokens(file)) as producer,
    ):
        assert plan.audience is None
        assert producer.session("A part of it.", parent=plan).audience == frozenset({"local"})


def read(reader: Reader) -> bytes:
    fields = reader.event()
    assert fields is not None
    return fields["data"]


def test_authentication_comes_before_the_body(file: Path) -> None:
    bearer(file, "ada")
    with serving(identity=Tokens(file)) as server, socket.create_connection(("127.0.0.1", server.port), WAIT) as line:
        head = f"POST {REPLIES} HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Type: application/json\r\n"
        line.sendall(head.encode() + b"Content-Length: 1000\r\n\r\n")
        assert line.makefile("rb").readline().startswith(b"HTTP/1.1 401 ")


def test_what_a_proxy_passes_on_is_not_the_local_user() -> None:
    with serving() as server:
        assert server.ask("GET", MANIFEST).status == 200
        for name in ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"):
            assert server.ask("GET", MANIFEST, headers={name: "198.51.100.7"}).status == 401


@pytest.mark.parametrize("scheme", ["http", "ws", "grpc"])
def test_cf_149_a_subscriber_shows_its_new_token_and_misses_nothing(file: Path, scheme: str) -> None:
    resumed = threading.Event()

    def current() -> str:
        return (short if time.time() < until else fresh)["Authorization"].removeprefix("Bearer ")

    def tell(status: Status) -> None:
        if status.kind == "resumed":
            resumed.set()

    fresh = bearer(file, "ada")
    door: dict[str, Any] = {"listen": f"{scheme}://127.0.0.1:0", "identity": Tokens(file), "audience": "ada"}
    with producer_with("bank", journal=None, **door) as producer, ExitStack() as stack:
        until = time.time() + 3.0  # by when it is connected, also where everything takes long
        short = bearer(file, "ada", seconds=3.0)
        reader = stack.enter_context(Subscriber(producer.addresses[0], token=current, on_status=tell))
        events = iter(reader)
        with producer.session("Before."):
            assert next(events).type == "aaep:agent.session.started"
            name = reader.subscription_id
        assert next(events).type == "aaep:agent.session.completed"
        assert resumed.wait(WAIT)
        with producer.session("After."):
            assert next(events).type == "aaep:agent.session.started"
        assert (reader.subscription_id == name) is (scheme == "http")  # elsewhere it is its connection (CF-040)


def test_cf_149_a_subscriber_without_another_token_is_told_so(file: Path) -> None:
    short = bearer(file, "ada", seconds=1.5)["Authorization"].removeprefix("Bearer ")
    with serving(identity=Tokens(file)) as server, pytest.raises(ChannelRefused, match="401"):
        for _ in Subscriber(server.url, token=short):
            pass


@pytest.mark.parametrize("scheme", ["http", "ws", "grpc"])
def test_a_token_from_a_file_is_shown_and_what_is_none_is_told(file: Path, scheme: str) -> None:
    token = bearer(file, "ada")["Authorization"].removeprefix("Bearer ")
    with Producer("bank", journal=None, listen=f"{scheme}://127.0.0.1:0", identity=Tokens(file)) as producer:
        with Subscriber(producer.addresses[0], token=f"{token}\n") as reader:
            reader.ready().wait(WAIT)
        for wrong in ("two words", "two\nlines", "n\xe9", lambda: "nul\0"):
            with (
                pytest.raises(AaepError, match="no token holds"),
                Subscriber(producer.addresses[0], token=wrong) as nobody,
            ):
                nobody.ready().wait(WAIT)
