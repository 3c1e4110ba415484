"""``aaep serve``: what it opens, and what it says when it cannot."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvloop
from click.testing import CliRunner, Result
from joserfc import jws
from joserfc.jwk import ECKey

import aaep
from aaep.cli import main
from aaep.identity.signing_keys import SigningKey
from aaep.identity.tokens import add_entry, create_token
from aaep.subscriber.request import Terms
from aaep.transports.options import Tls

PROGRAM = [sys.executable, "-c", "from aaep.cli import main; main()"]
LONG = 60.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate and its key, one of another, and the key again with a pass phrase."""
    place: Path = tmp_path_factory.mktemp("tls")
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    for name, subject in (("cert", names), ("other", "subjectAltName=DNS:elsewhere.example")):
        files = ["-keyout", f"{name}.key", "-out", f"{name}.pem", "-subj", f"/CN={name}", "-addext", subject]
        subprocess.run([*make.split(), *files], cwd=place, check=True, capture_output=True)
    lock = "openssl ec -in cert.key -aes128 -passout pass:secret -out locked.key"
    subprocess.run(lock.split(), cwd=place, check=True, capture_output=True)
    return place


def served(*args: str) -> Result:
    return CliRunner().invoke(main, ["serve", "--journal", "memory", *args])


@contextmanager
def hub(*args: str, listening: int, number: signal.Signals = signal.SIGTERM) -> Iterator[list[str]]:
    """A hub in a process of its own, and where it listens."""
    command = [*PROGRAM, "serve", "--journal", "memory", *args]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            yield [process.stderr.readline().split()[-1] for _ in range(listening)]
            process.stderr.readline()  # that agents and readers can come
            process.send_signal(number)
            assert process.wait(LONG) == 0
            assert process.stderr.read().endswith("Stopped.\n")
        finally:
            process.kill()


def test_a_hub_serves_on_the_faster_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    loops = []

    async def serve(*_: object) -> int:
        loops.append(asyncio.get_running_loop())
        return 0

    monkeypatch.setattr("aaep.cli.serve._serve", serve)
    assert served().exit_code == 0
    assert [type(loop) for loop in loops] == [uvloop.Loop]


def test_a_hangup_ends_it_in_order_and_its_socket_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "hub"
    with hub("--listen", f"unix:{path}", listening=1, number=signal.SIGHUP):
        assert path.is_socket()
    assert not path.exists()


@pytest.mark.parametrize(
    ("cert", "key", "said"),
    [
        ("cert.pem", "nowhere.key", "--tls-key '{}/nowhere.key' cannot be used: No such file"),
        ("nowhere.pem", "cert.key", "--tls-cert '{}/nowhere.pem' cannot be used: No such file"),
        ("cert.key", "cert.key", "--tls-cert '{}/cert.key' cannot be used: it holds no certificate"),
        ("cert.pem", "cert.pem", "--tls-key '{}/cert.pem' cannot be used: it holds no key"),
        ("cert.pem", "other.key", "--tls-key '{}/other.key' cannot be used: it does not belong to the certificate"),
        ("cert.pem", "locked.key", "'{}/locked.key' needs a pass phrase"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_and_by_its_option(folder: Path, cert: str, key: str, said: str) -> None:
    result = served("--listen", "https://127.0.0.1:0", "--tls-cert", f"{folder}/{cert}", "--tls-key", f"{folder}/{key}")
    assert result.exit_code == 2 and said.format(folder) in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        "serve --journal memory --tokens {}",
        "serve --journal memory --jwks {} --issuer a --audience b",
        "serve --journal memory --listen https://127.0.0.1:0 --tls-cert {} --tls-key cert.key",
        "serve --journal memory --listen https://127.0.0.1:0 --tls-cert cert.pem --tls-key {}",
        "serve --journal memory --listen https://127.0.0.1:0 --tls-cert cert.pem --tls-key cert.key "
        "--client-ca {} --certificate CN:Ada ada replier",
        "token new --principal ada --file {}",
        "token list --file {}",
        "listen https://127.0.0.1:1 --ca {}",
        "listen https://127.0.0.1:1 --cert {} cert.key",
    ],
)
def test_a_pipe_is_refused_where_a_regular_file_is_needed(folder: Path, tmp_path: Path, command: str) -> None:
    """And not opened, which would wait for somebody to write to it."""
    os.mkfifo(tmp_path / "pipe", 0o600)
    args = [*PROGRAM, *command.format(tmp_path / "pipe").split()]
    done = subprocess.run(args, cwd=folder, check=False, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 2 and f"{tmp_path}/pipe" in done.stderr and "regular file" in done.stderr


def test_a_key_may_come_through_a_pipe_that_somebody_writes(tmp_path: Path) -> None:
    """As a shell hands over what a program prints; it is read once. From a pipe that nobody writes comes nothing."""
    os.mkfifo(tmp_path / "pipe", 0o600)
    serve = [*PROGRAM, "serve", "--journal", "memory", "--listen", "http://127.0.0.1:0", "--signing-key"]
    done = subprocess.run([*serve, str(tmp_path / "pipe")], check=False, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 2 and "pipe is empty" in done.stderr
    key, (reading, writing) = SigningKey.generate(), os.pipe()
    try:
        os.write(writing, json.dumps(key.to_jwk(private=True)).encode())
        os.close(writing)
        assert SigningKey.load(f"/dev/fd/{reading}").kid == key.kid
    finally:
        os.close(reading)


def test_what_is_missing_is_told_as_options() -> None:
    result = served("--listen", "https://127.0.0.1:0")
    assert result.exit_code == 2 and "needs --tls-cert and --tls-key" in result.stderr
    result = served("--listen", "http://0.0.0.0:0")
    assert result.exit_code == 2 and "with --tls-cert and --tls-key, and --tokens." in result.stderr
    for scheme in ("http", "ws", "grpc"):
        result = served("--listen", f"{scheme}://0.0.0.0:0")
        assert result.exit_code == 2 and f"use {scheme}s:// with" in result.stderr
    result = served("--listen", "http://127.0.0.1:0", "--tls-cert", "cert.pem")
    assert result.exit_code == 2 and "encrypted" in result.stderr


@pytest.mark.parametrize("scheme", ["https", "wss", "grpcs"])
def test_a_plain_local_address_stands_beside_an_encrypted_one(folder: Path, scheme: str) -> None:
    """And a command trusts the encrypted one by its authority."""
    tls = ["--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/cert.key"]
    with hub("--listen", "http://127.0.0.1:0", "--listen", f"{scheme}://127.0.0.1:0", *tls, listening=2) as places:
        with aaep.listen(places[0]) as subscriber:
            subscriber.ready().wait(LONG)
        show = [*PROGRAM, "manifest", "show", places[1]]
        done = subprocess.run(show, check=False, capture_output=True, text=True, timeout=LONG)
        assert done.returncode == 2 and "not trusted" in done.stderr and "--ca" in done.stderr
        show += ["--ca", f"{folder}/cert.pem"]
        done = subprocess.run(show, check=False, capture_output=True, text=True, timeout=LONG)
        assert done.returncode == 0 and "aaep-hub" in done.stdout


def test_a_recording_is_played_to_an_encrypted_hub_by_its_authority(folder: Path) -> None:
    recording = str(Path(__file__).parents[2] / "examples" / "bank.ndjson")
    tls = ["--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/cert.key"]
    with hub("--listen", "wss://127.0.0.1:0", *tls, listening=1) as (place,):
        play = ["replay", recording, "--hub", place, "--no-wait", "--no-delay"]
        told = CliRunner().invoke(main, play)
        assert told.exit_code == 2 and "not trusted" in told.stderr
        told = CliRunner().invoke(main, [*play, "--ca", f"{folder}/cert.pem"])
        assert told.exit_code == 0 and "Played 16 events." in told.stderr
    told = CliRunner().invoke(main, ["replay", recording, "--ca", f"{folder}/cert.pem"])
    assert told.exit_code == 2 and "--ca is for a hub." in told.stderr
    told = CliRunner().invoke(main, ["replay", recording, "--cert", f"{folder}/cert.pem", f"{folder}/cert.key"])
    assert told.exit_code == 2 and "--cert is for a hub." in told.stderr


def test_a_certificate_for_another_name_is_told(folder: Path) -> None:
    tls = ["--tls-cert", f"{folder}/other.pem", "--tls-key", f"{folder}/other.key"]
    with hub("--listen", "grpcs://127.0.0.1:0", *tls, listening=1) as (place,):
        result = CliRunner().invoke(main, ["manifest", "show", place, "--ca", f"{folder}/other.pem"])
    assert result.exit_code == 2 and "is for another name" in result.stderr


def test_an_authority_is_for_an_encrypted_address_and_is_one(folder: Path) -> None:
    result = CliRunner().invoke(main, ["listen", "http://127.0.0.1:1", "--ca", f"{folder}/cert.pem"])
    assert result.exit_code == 2 and "encrypted address" in result.stderr
    result = CliRunner().invoke(main, ["listen", "https://127.0.0.1:1", "--ca", f"{folder}/cert.key"])
    assert result.exit_code == 2 and "no certificate" in result.stderr


def test_who_comes_and_goes_is_logged_with_the_time_and_nothing_of_what_is_said(tmp_path: Path) -> None:
    command = [*PROGRAM, "serve", "--journal", "memory", "--listen", f"unix://{tmp_path}/hub.sock"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            place = process.stderr.readline().split()[-1]
            with (
                aaep.Producer("bank", hub=place, journal=None) as agent,
                aaep.listen(place, subscriber_id="ears") as subscriber,
            ):
                agent.reader().wait(LONG)
                with agent.session("A secret."):
                    pass
                assert next(iter(subscriber)).type == "aaep:agent.session.started"
            process.send_signal(signal.SIGTERM)
            assert process.wait(LONG) == 0
            logged = process.stderr.read()
        finally:
            process.kill()
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO: "
    for told in (
        "The agent 'bank' of 'local' came over unix-socket.",
        "A reader of 'local' came over unix-socket: 'ears'.",
        "A reader of 'local' is gone: 'ears'.",
    ):
        assert re.search(f"^{moment}{re.escape(told)}$", logged, re.MULTILINE), logged
    assert "secret" not in logged


@pytest.mark.parametrize(("token", "why"), [("wrong", "401"), ("two\nlines", "The token holds what no token holds")])
def test_an_agent_that_a_hub_does_not_take_is_told_so(
    token: str, why: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tokens = tmp_path / "tokens"
    assert CliRunner().invoke(main, ["token", "new", "--principal", "ada", "--file", str(tokens)]).exit_code == 0
    with (
        hub("--listen", "ws://127.0.0.1:0", "--tokens", str(tokens), listening=1) as (place,),
        aaep.Producer("bank", hub=place, token=token, journal=None) as agent,
        agent.session("Working."),
    ):
        pass
    told = [one.getMessage() for one in caplog.records if one.name == "aaep.attach"]
    assert len(told) == 1 and f"This agent cannot go to the hub at {place}." in told[0] and why in told[0]


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_whoever_goes_to_the_address_that_was_printed_is_answered(scheme: str) -> None:
    """Also where it is another name for this machine; what names another one is refused as ever."""
    with hub("--listen", f"{scheme}://127.1:0", listening=1) as (place,):
        port = urlsplit(place).port
        assert place == f"{scheme}://127.1:{port}"
        for host, status in ((f"127.1:{port}", 200), (f"localhost:{port}", 200), (f"evil.example:{port}", 421)):
            with closing(HTTPConnection("127.0.0.1", port, timeout=LONG)) as line:
                line.request("GET", "/healthz", headers={"Host": host})
                assert line.getresponse().status == status


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@pytest.mark.parametrize(("first", "second"), [("http", "ws"), ("ws", "http")])
def test_http_and_websocket_on_one_port_are_one_server(first: str, second: str) -> None:
    port = free_port()
    places = [f"{scheme}://127.0.0.1:{port}" for scheme in (first, second)]
    listening = ["--listen", places[0], "--listen", places[1]]
    command = [*PROGRAM, "serve", "--journal", "memory", *listening]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == f"Listening at {places[0]}\n"
            assert process.stderr.readline() == f"The server at {places[0]} also listens at {places[1]}\n"
            assert heard(f"http://127.0.0.1:{port}", f"ws://127.0.0.1:{port}", reader={}, agent={}).endswith("started")
            process.send_signal(signal.SIGTERM)
            assert process.wait(LONG) == 0
        finally:
            process.kill()


def test_one_address_is_for_readers_and_agents_over_http_and_websocket() -> None:
    with hub("--listen", "http://127.0.0.1:0", listening=1) as (place,):
        assert heard(place, place.replace("http:", "ws:"), reader={}, agent={}) == "aaep:agent.session.started"
        show = CliRunner().invoke(main, ["manifest", "show", place])
        assert show.exit_code == 0 and place.replace("http:", "ws:") in show.stdout


def test_encrypted_and_plain_addresses_do_not_share_a_port(folder: Path) -> None:
    port = free_port()
    tls = ["--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/cert.key"]
    result = served("--listen", f"http://127.0.0.1:{port}", "--listen", f"wss://127.0.0.1:{port}", *tls)
    assert result.exit_code == 2 and f"Port {port} is in use" in result.stderr


@pytest.mark.parametrize("scheme", ["http", "ws", "asgi+http"])
def test_a_hub_answers_to_the_pages_and_the_names_that_were_listed(scheme: str, tmp_path: Path) -> None:
    """Beside a socket, which knows of neither."""
    listed = ["--origin", "https://reader.example", "--origin", "http://localhost:3000"]
    listed += ["--host-name", "Hub.tunnel.example", "--host-name", "localhost:9999"]
    doors = ["--listen", f"{scheme}://127.0.0.1:0", "--listen", f"unix://{tmp_path}/hub.sock"]
    with hub(*doors, *listed, listening=2) as (place, _):
        port = urlsplit(place).port
        here, ours = f"127.0.0.1:{port}", "https://reader.example"
        for host, origin, status in (
            (here, ours, 200),
            (here, "http://localhost:3000", 200),
            (here, "https://evil.example", 403),
            ("hub.tunnel.example", ours, 200),
            ("localhost:9999", ours, 200),
            ("evil.example", ours, 421),
        ):
            with closing(HTTPConnection("127.0.0.1", port, timeout=LONG)) as line:
                line.request("GET", "/.well-known/aaep-manifest.json", headers={"Host": host, "Origin": origin})
                assert line.getresponse().status == status, (host, origin)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--listen unix:hub --origin https://reader.example", "--origin is for web pages"),
        ("--listen grpc://127.0.0.1:0 --host-name hub.example", "--host-name is for"),
        ("--stdio --host-name hub.example", "--host-name is for"),
        ("--listen http://127.0.0.1:0 --origin https://reader.example/page", "is not an origin"),
        ("--listen ws://127.0.0.1:0 --origin *", "is not an origin"),
        ("--listen http://127.0.0.1:0 --host-name https://hub.example", "'https://hub.example' is not the name"),
        ("--listen ws://127.0.0.1:0 --host-name *.example", "'*.example' is not the name"),
        ("--listen asgi+http://127.0.0.1:0 --host-name hub.example/", "'hub.example/' is not the name"),
    ],
)
def test_a_page_or_a_name_that_can_mean_nothing_is_told(given: str, said: str) -> None:
    result = served(*given.split())
    assert result.exit_code == 2 and said in result.stderr


def test_stdio_010_a_hub_ends_with_who_started_it(tmp_path: Path) -> None:
    """Were it killed: nobody else knows of its pipes."""
    command = [*PROGRAM, "serve", "--journal", "memory", "--stdio", "--listen", f"unix://{tmp_path}/hub.sock"]
    with person(command) as hub:
        assert hub.stderr is not None and hub.stdin is not None
        assert any("Press Ctrl-C" in line for line in hub.stderr)
        hub.stdin.close()
        assert hub.wait(LONG) == 0


def test_a_socket_knows_its_user_however_its_scheme_is_written(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.jsonl"
    add_entry(tokens, create_token("ada", "replier", now=0.0, lifetime_seconds=None)[1])
    with (
        hub("--listen", f"UNIX://{tmp_path}/hub.sock", "--tokens", str(tokens), listening=1) as (place,),
        aaep.listen(place) as subscriber,
    ):
        subscriber.ready().wait(LONG)


# -- who comes with what somebody else has signed ------------------------------------------------


def bearer(key: ECKey, principal: str, *roles: str) -> str:
    claims = {"iss": "https://login.example", "aud": "hub", "sub": principal, "roles": roles, "exp": time.time() + 3600}
    return jws.serialize_compact({"alg": "ES256", "kid": "1"}, json.dumps(claims).encode(), key)


def heard(place: str, where: str, **settings: Any) -> str:
    """The first sentence that somebody hears of an agent that comes too."""
    with aaep.listen(place, **settings["reader"]) as subscriber:
        subscriber.ready().wait(LONG)
        with aaep.Producer("bank", hub=where, journal=None, **settings["agent"]) as agent:
            agent.reader().wait(LONG)
            with agent.session("Counting."):
                return next(iter(subscriber)).type


def test_a_hub_lets_in_by_json_web_tokens(tmp_path: Path) -> None:
    key, other = ECKey.generate_key("P-256"), ECKey.generate_key("P-256")
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [{**key.as_dict(private=False), "kid": "1"}]}))
    keys.chmod(0o644)
    whose = ["--jwks", str(keys), "--issuer", "https://login.example", "--audience", "hub"]
    with hub("--listen", "http://127.0.0.1:0", "--listen", "ws://127.0.0.1:0", *whose, listening=2) as places:
        reader, agent = ({"token": bearer(key, "ada", role)} for role in ("replier", "agent"))
        assert heard(*places, reader=reader, agent=agent) == "aaep:agent.session.started"
        for forged in (bearer(other, "ada", "replier"), bearer(key, "local", "replier"), bearer(key, "ada")):
            with (
                pytest.raises(aaep.AaepError, match=r"does not know who we are|do not have access"),
                aaep.listen(places[0], token=forged) as nobody,
            ):
                nobody.ready().wait(LONG)


def test_a_hub_lets_in_by_certificates(folder: Path) -> None:
    tls = ["--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/cert.key", "--client-ca", f"{folder}/other.pem"]
    for role in ("replier", "agent"):
        tls += ["--certificate", "CN:other", "ada", role]
    known, unknown = (ssl.create_default_context(cafile=f"{folder}/cert.pem") for _ in range(2))
    known.load_cert_chain(f"{folder}/other.pem", f"{folder}/other.key")
    with hub("--listen", "https://127.0.0.1:0", "--listen", "wss://127.0.0.1:0", *tls, listening=2) as places:
        assert (
            heard(*places, reader={"tls": Tls(context=known)}, agent={"tls": Tls(context=known)})
            == "aaep:agent.session.started"
        )
        with (
            pytest.raises(aaep.AaepError, match="client certificate"),
            aaep.listen(places[0], tls=Tls(context=unknown)) as nobody,
        ):
            nobody.ready().wait(LONG)


@pytest.mark.parametrize("scheme", ["https", "wss", "grpcs"])
def test_a_person_with_a_certificate_listens_with_it(folder: Path, scheme: str) -> None:
    tls = ["--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/cert.key", "--client-ca", f"{folder}/other.pem"]
    tls += ["--certificate", "CN:other", "local-user", "replier"]
    with hub("--listen", f"{scheme}://127.0.0.1:0", *tls, listening=1) as (place,):
        listen = [*PROGRAM, "listen", place, "--no-wait", "--ca", f"{folder}/cert.pem"]
        with person(listen) as nobody:
            assert nobody.wait(LONG) == 2
        with person([*listen, "--cert", f"{folder}/other.pem", f"{folder}/other.key"]) as known:
            assert known.stdout is not None
            assert any(line.startswith("Connected") for line in known.stdout)
            known.communicate("quit\n", LONG)
            assert known.returncode == 0


@pytest.mark.parametrize("scheme", ["https", "wss", "grpcs"])
def test_every_command_that_connects_can_show_a_certificate(folder: Path, scheme: str, tmp_path: Path) -> None:
    tls = ["--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/cert.key", "--client-ca", f"{folder}/other.pem"]
    for role in ("replier", "agent"):
        tls += ["--certificate", "CN:other", "ada", role]
    recording = str(Path(__file__).parents[2] / "examples" / "bank.ndjson")
    with hub("--listen", f"{scheme}://127.0.0.1:0", *tls, listening=1) as (place,):
        commands = [
            ["manifest", "show", place],
            ["capture", place, "--output", f"{tmp_path}/session.ndjson", "--no-wait", "--duration", "0.1"],
            ["conformance", "producer", place, "--level", "1", "--wait", "0.1", "--patience", "0.5"],
        ]
        if scheme == "wss":
            commands.append(["replay", recording, "--hub", place, "--no-wait", "--no-delay"])
        for command in commands:
            command += ["--ca", f"{folder}/cert.pem"]
            nobody = CliRunner().invoke(main, command)
            known = CliRunner().invoke(main, [*command, "--cert", f"{folder}/other.pem", f"{folder}/other.key"])
            if command[0] == "conformance":  # what there is to judge is a hub where nothing happens
                assert nobody.exit_code and "No session began" not in nobody.output
                assert "No session began" in known.output and "authenticates nobody" not in known.output
            else:
                assert (nobody.exit_code, known.exit_code) == (2, 0), known.output


@contextmanager
def person(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Somebody at a command, who says nothing yet."""
    pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def test_what_is_no_certificate_of_ours_is_told(folder: Path) -> None:
    listen = ["listen", "https://127.0.0.1:1", "--cert", f"{folder}/cert.pem", f"{folder}/other.key"]
    result = CliRunner().invoke(main, listen)
    assert result.exit_code == 2 and "are not a certificate and its key" in result.stderr
    result = CliRunner().invoke(main, [one.replace("https", "http") for one in listen])
    assert result.exit_code == 2 and "--cert is for an encrypted address" in result.stderr


def test_a_hub_proves_who_it_is(folder: Path, tmp_path: Path) -> None:
    key = SigningKey.generate()
    (tmp_path / "key.json").write_text(json.dumps(key.to_jwk(private=True)))
    (tmp_path / "key.json").chmod(0o600)
    (tmp_path / "trusted.json").write_text(json.dumps(key.to_jwk()))
    tls = ["--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/cert.key"]
    sign = ["--signing-key", str(tmp_path / "key.json")]
    trust: dict[str, Any] = {"trust": tmp_path / "trusted.json", "terms": Terms(require_signed=True)}
    with (
        hub("--listen", "https://127.0.0.1:0", *tls, *sign, listening=1) as (place,),
        aaep.listen(
            place, tls=Tls(context=ssl.create_default_context(cafile=f"{folder}/cert.pem")), **trust
        ) as subscriber,
    ):
        subscriber.ready().wait(LONG)
        assert subscriber.trusted


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("--jwks nowhere.json --issuer a --audience b", "nowhere.json cannot be read"),
        ("--jwks nowhere.json", "--issuer, and for whom they are, --audience"),
        ("--issuer a", "--jwks"),
        ("--client-ca ca.pem --listen https://127.0.0.1:0", "--certificate whose they are"),
        ("--certificate CN:Ada ada replier", "--client-ca says which"),
        ("--client-ca ca.pem --certificate CN:Ada ada replier", "encrypted addresses"),
        ("--certificate Ada ada replier --client-ca ca.pem --listen https://127.0.0.1:0", "'Ada' is no name"),
        ("--certificate CN:Ada local replier --client-ca ca.pem --listen https://127.0.0.1:0", "Use another name"),
        (
            "--certificate CN:Ada ada replier --certificate CN:Ada bob agent --client-ca c --listen https://127.0.0.1:0",
            "both 'ada' and 'bob'",
        ),
        ("--signing-key nowhere.json", "nowhere.json: No such file"),
    ],
)
def test_what_does_not_go_together_is_told(given: str, said: str) -> None:
    result = served(*given.split())
    assert result.exit_code == 2 and said in result.stderr


def test_a_manifest_is_signed_for_where_readers_go(folder: Path, tmp_path: Path) -> None:
    """Nobody goes to all addresses of a machine."""
    (tmp_path / "key.json").write_text(json.dumps(SigningKey.generate().to_jwk(private=True)))
    (tmp_path / "key.json").chmod(0o600)
    add_entry(tmp_path / "tokens.jsonl", create_token("ada", "replier", now=0.0, lifetime_seconds=None)[1])
    given = ["--listen", "https://0.0.0.0:0", "--tls-cert", f"{folder}/cert.pem", "--tls-key", f"{folder}/cert.key"]
    given += ["--tokens", f"{tmp_path}/tokens.jsonl", "--signing-key", f"{tmp_path}/key.json"]
    result = served(*given)
    assert result.exit_code == 2 and "--reached-at" in result.stderr
    with hub(*given, "--reached-at", "https://hub.example", listening=1):
        pass
