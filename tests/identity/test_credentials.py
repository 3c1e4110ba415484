"""Who is let in, as what, and for how long: credentials that are right, wrong, stale, revoked or forged."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import ECKey, OKPKey, RSAKey

from aaep.errors import AaepError
from aaep.hub.settings import HubSettings
from aaep.hub.visibility import hidden_members_for, hide_members
from aaep.identity.credentials import (
    AuthenticationPending,
    Certificates,
    Credentials,
    First,
    Grant,
    Local,
    Parent,
    TooManyAttempts,
    Unauthenticated,
    Unauthorised,
    Users,
    authenticate_peer,
    resolve_audience,
    validate_principal,
    validate_roles,
)
from aaep.identity.jwt import Jwt, _algorithm_registry
from aaep.identity.key_sources import MAX_KEY_AGE, REFRESH_AFTER, RETRY_DELAY, KeyUrl, parse_key_set
from aaep.identity.peer import LOCAL_PRINCIPAL, Peer
from aaep.identity.rate_limit import (
    FAILURE_LIFETIME,
    FREE_ATTEMPTS,
    MAX_ADDRESSES,
    MAX_RETRY_AFTER,
    RateLimitedIdentity,
    prepare_identity,
)
from aaep.identity.tokens import StaticToken, Tokens, add_entry, create_token, read_entries, revoke_token
from aaep.producer.producer import Producer
from aaep.protocol import codec
from aaep.protocol.events import AwaitingConfirmation, ProducerInfo, SessionStarted, ToolInvoked
from aaep.protocol.messages import Capabilities, SubscriptionRejected, SubscriptionRequest
from tests.hub.test_hub import REPLIES, WHOLE, Agent, Clock, World, change, replied, scene
from tests.options import producer as producer_with

NOW = 1_779_632_531.0  # 2026-05-24T14:22:11Z
DAY = 86_400.0
ADA, BOB = Peer(principal="ada"), Peer(principal="bob")


def shown(bearer: str = "", **more: Any) -> Credentials:
    return Credentials(transport="sse", bearer=bearer, **more)


def peer(principal: str, *roles: str, expires: float | None = None, stands: Callable[[], bool] | None = None) -> Peer:
    return Peer(principal, "sse", frozenset(roles or ("replier",)), expires, stands)


def only(*names: str) -> frozenset[str]:
    return frozenset(names)


# -- without a secret ------------------------------------------------------------------------


def test_the_local_user_is_let_in_by_loopback_by_socket_and_by_pipe_and_nobody_else() -> None:
    """SEC-036"""
    local = Local(1000)
    for good in (shown(is_loopback=True), shown(uid=1000), shown(is_over_pipes=True)):
        assert local.authenticate(good).principal == LOCAL_PRINCIPAL
    for bad in (shown(), shown(uid=1001), shown(uid=0), shown(uid=1001, is_loopback=True), shown("token")):
        with pytest.raises(Unauthenticated):
            local.authenticate(bad)
    assert Local().authenticate(shown(uid=os.geteuid())).principal == LOCAL_PRINCIPAL


def test_cf_141_only_listed_programs_answer_and_the_log_can_say_which_it_was() -> None:
    program = os.readlink(f"/proc/{os.getpid()}/exe")
    here = shown(uid=os.geteuid(), pid=os.getpid())
    assert Local(repliers=[program]).authenticate(here).may_reply
    other = Local(repliers=["/usr/bin/orca"])
    assert not other.authenticate(here).may_reply and other.authenticate(here).may_listen
    assert not other.authenticate(shown(is_loopback=True)).may_reply  # of which nobody can tell what it is
    assert Local().authenticate(here).process == f"Process {os.getpid()}, {program}."


def test_parents_and_users_are_who_the_operator_says_they_are() -> None:
    assert Parent("ada", "listener").authenticate(shown(is_over_pipes=True)).roles == {"listener"}
    with pytest.raises(Unauthenticated):
        Parent().authenticate(shown(is_loopback=True))
    users = Users({1000: "ada", 1001: ("bob", ["listener"]), 1002: Grant("eve", frozenset({"auditor"}))})
    assert [users.authenticate(shown(uid=uid)).principal for uid in (1000, 1001, 1002)] == ["ada", "bob", "eve"]
    assert not users.authenticate(shown(uid=1001)).may_reply
    with pytest.raises(Unauthorised):
        users.authenticate(shown(uid=0))
    with pytest.raises(Unauthenticated):
        users.authenticate(shown(is_loopback=True))


def test_no_credential_makes_somebody_the_user_of_this_machine(file: Path) -> None:
    """CF-065: who that is, only the machine can tell; and it decides what an agent may do at a hub."""
    for claim in (
        lambda: create_token(LOCAL_PRINCIPAL, "listener", now=NOW, lifetime_seconds=DAY),
        lambda: StaticToken("secret", LOCAL_PRINCIPAL),
        lambda: Certificates({"CN:Ada": LOCAL_PRINCIPAL}),
        lambda: Certificates({"CN:Ada": Grant(LOCAL_PRINCIPAL)}),
    ):
        with pytest.raises(AaepError, match="no credential makes somebody that"):
            claim()
    made(file)
    file.write_text(file.read_text().replace('"ada"', f'"{LOCAL_PRINCIPAL}"'))
    with pytest.raises(AaepError, match="no credential makes somebody that"):
        reading(file)
    assert Users({1000: LOCAL_PRINCIPAL}).authenticate(shown(uid=1000)).principal == LOCAL_PRINCIPAL
    assert Parent().authenticate(shown(is_over_pipes=True)).principal == LOCAL_PRINCIPAL


CERTIFICATE = {
    "subject": ((("countryName", "SE"),), (("commonName", "Ada"),)),
    "subjectAltName": (("DNS", "Tablet.Example"), ("email", "ada@example.org"), ("URI", "spiffe://home/ada")),
    "notAfter": "May 25 14:22:11 2026 GMT",
}


@pytest.mark.parametrize(
    "name", ["DNS:tablet.example", "email:ada@example.org", "URI:spiffe://home/ada", "CN:Ada", "cn:Ada"]
)
def test_a_certificate_is_known_by_a_name_of_its_kind_and_counts_until_it_ends(name: str) -> None:
    known = Certificates({name: "ada"}).authenticate(shown(certificate=CERTIFICATE))
    assert (known.principal, known.expires_at) == ("ada", NOW + DAY)


def test_a_certificate_that_names_nobody_or_several_lets_nobody_in() -> None:
    for names in ({"DNS:ada@example.org": "ada"}, {"CN:tablet.example": "ada"}, {"CN:ada": "ada"}):
        with pytest.raises(Unauthorised):
            Certificates(names).authenticate(shown(certificate=CERTIFICATE))
    with pytest.raises(Unauthorised):
        Certificates({"CN:Ada": "ada", "DNS:tablet.example": "bob"}).authenticate(shown(certificate=CERTIFICATE))
    nothing: dict[str, Any] | None
    for nothing in (None, {}):  # {}: shown, and not verified
        with pytest.raises(Unauthenticated):
            Certificates({"CN:Ada": "ada"}).authenticate(shown(certificate=nothing))
    for bad in ("Ada", "OU:Ada", "CN:"):
        with pytest.raises(AaepError, match="DNS:tablet"):
            Certificates({bad: "ada"})


@pytest.mark.parametrize("name", ["", " ada", "a\nb", "a\x1b[2J", "*", "a\u202eb", "x" * 257])
def test_not_everything_can_be_the_name_of_somebody(name: str) -> None:
    with pytest.raises(AaepError):
        validate_principal(name)


@pytest.mark.parametrize("roles", [[], "admin", ["replier", "root"], ["auditor", "replier"]])
def test_roles_exist_and_go_together(roles: Any) -> None:
    with pytest.raises(AaepError):
        validate_roles(roles)


# -- tokens ------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tokens.jsonl"


def made(file: Path, principal: str = "ada", roles: str = "replier", seconds: float | None = DAY) -> str:
    token, entry = create_token(principal, roles, now=NOW, lifetime_seconds=seconds)
    add_entry(file, entry)
    return token


def reading(file: Path, now: float = NOW) -> Tokens:
    return Tokens(file, wall=lambda: now)


def test_a_token_of_the_file_lets_its_principal_in_until_it_expires(file: Path) -> None:
    token = made(file, "ada", "listener")
    known = reading(file).authenticate(shown(token))
    assert (known.principal, known.roles, known.expires_at) == ("ada", only("listener"), NOW + DAY)
    assert reading(file, NOW + DAY - 1).authenticate(shown(token)).principal == "ada"
    with pytest.raises(Unauthenticated, match="expired"):
        reading(file, NOW + DAY).authenticate(shown(token))
    assert reading(file, NOW + 1000 * DAY).authenticate(shown(made(file, "bob", seconds=None))).expires_at is None


def test_the_file_is_private_and_holds_no_token(file: Path) -> None:
    token = made(file)
    assert len(base64.urlsafe_b64decode(token.removeprefix("aaep_") + "=")) == 32
    assert token not in file.read_text() and token.removeprefix("aaep_") not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_wrong_tokens_let_nobody_in(file: Path) -> None:
    token = made(file)
    tokens = reading(file)
    digest = read_entries(file)[0].hash
    for wrong in ("", "x", token[:-1], token + "x", token.upper(), digest, digest.removeprefix("sha256:"), "\udcff"):
        with pytest.raises(Unauthenticated) as refused:
            tokens.authenticate(shown(wrong))
        assert not wrong or wrong not in str(refused.value) or wrong == "x"


def test_what_changes_in_the_file_counts_at_once(file: Path) -> None:
    first = made(file)
    tokens = reading(file)
    known = tokens.authenticate(shown(first))
    assert known.is_still_valid is not None and known.is_still_valid()
    second = made(file, "bob")
    assert tokens.authenticate(shown(second)).principal == "bob"
    revoke_token(file, read_entries(file)[0].id)
    assert not known.is_still_valid()
    with pytest.raises(Unauthenticated):
        tokens.authenticate(shown(first))
    assert tokens.authenticate(shown(second)).principal == "bob"
    with pytest.raises(AaepError, match="no token"):
        revoke_token(file, "tok_none")


@pytest.mark.parametrize("harm", ["unlink", "chmod", "folder"])
def test_a_file_that_can_no_longer_be_trusted_lets_nobody_in(file: Path, harm: str, caplog: Any) -> None:
    token = made(file)
    tokens = reading(file)
    tokens.authenticate(shown(token))
    content = file.read_bytes()
    if harm == "chmod":
        file.chmod(0o644)
    else:
        file.unlink()
    if harm == "folder":
        file.mkdir()
    for _ in range(3):
        with pytest.raises(Unauthenticated):
            tokens.authenticate(shown(token))
    assert len([one for one in caplog.records if one.levelno == logging.ERROR]) == 1
    if harm == "chmod":
        file.chmod(0o600)
    elif harm == "unlink":
        file.touch(0o600)
        file.write_bytes(content)
    else:
        return
    assert tokens.authenticate(shown(token)).principal == "ada"


def test_a_file_that_cannot_be_used_is_said_so_at_once(file: Path) -> None:
    with pytest.raises(AaepError, match="aaep token new"):
        Tokens(file)
    token = made(file)
    for mode in (0o640, 0o604, 0o620, 0o602):
        file.chmod(mode)
        with pytest.raises(AaepError, match="chmod 600"):
            Tokens(file)
    file.chmod(0o600)
    os.chown(file, 12345, -1)
    try:
        with pytest.raises(AaepError, match="another user"):
            Tokens(file)
    finally:
        os.chown(file, os.geteuid(), -1)
    assert Tokens(file, wall=lambda: NOW).authenticate(shown(token)).principal == "ada"


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "nonsense",
        "[]",
        '{"id":"t","hash":"sha256:00","principal":"ada","roles":["replier"]}',
        '{"id":"t","hash":"sha256:%s","principal":"ada","roles":["root"]}' % ("0" * 64),
        '{"id":"t","hash":"sha256:%s","principal":"*","roles":["replier"]}' % ("0" * 64),
        '{"id":"t","hash":"sha256:%s","principal":"ada","roles":["replier"],"expires":"soon"}' % ("0" * 64),
        '{"id":"t","hash":"sha256:%s","principal":"ada","roles":["replier"],"only_from":"10.0.0.1"}' % ("0" * 64),
    ],
)
def test_a_line_that_is_no_entry_is_refused_at_the_start_and_counts_for_nothing_later(file: Path, line: str) -> None:
    token = made(file)
    tokens = reading(file)
    with file.open("a") as opened:
        opened.write(line + "\n\n")
    with pytest.raises(AaepError, match="Line 2"):
        Tokens(file)
    assert tokens.authenticate(shown(token)).principal == "ada"


def test_many_writers_lose_nothing(file: Path) -> None:
    writers = [Thread(target=made, args=(file, f"user{number}")) for number in range(12)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    assert sorted(one.principal for one in read_entries(file)) == sorted(f"user{number}" for number in range(12))
    assert [one.name for one in file.parent.iterdir() if one.name not in (file.name, f".{file.name}.lock")] == []


def test_cf_140_a_static_token_works_and_is_warned_of(caplog: Any) -> None:
    """SEC-035"""
    static = StaticToken("correct-horse")
    assert "never expires" in caplog.text and "correct-horse" not in caplog.text
    assert static.authenticate(shown("correct-horse")).principal == "token"
    for wrong in ("", "correct", "correct-horse2"):
        with pytest.raises(Unauthenticated):
            static.authenticate(shown(wrong))


# -- signed tokens -----------------------------------------------------------------------------

EC, ED, RSA = ECKey.generate_key("P-256"), OKPKey.generate_key("Ed25519"), RSAKey.generate_key(2048)
OTHER = ECKey.generate_key("P-256")
ISSUER, AUDIENCE = "https://login.example", "aaep"
CLAIMS: dict[str, Any] = {
    "iss": ISSUER, "aud": AUDIENCE, "sub": "ada", "roles": ["replier"], "exp": NOW + 3600, "nbf": NOW - 10
}  # fmt: skip


def jwk(key: Any, kid: str | None, **more: Any) -> dict[str, Any]:
    named = {} if kid is None else {"kid": kid}
    return {**key.as_dict(private=False), **named, **more}


def key_set(*keys: dict[str, Any]) -> bytes:
    return json.dumps({"keys": keys}).encode()


ALL = key_set(jwk(EC, "ec", use="sig", alg="ES256"), jwk(ED, "ed"), jwk(RSA, "rsa"))


def signed(key: Any = EC, alg: str = "ES256", kid: str | None = "ec", header: Any = None, **claims: Any) -> str:
    head = {"alg": alg, **({} if kid is None else {"kid": kid}), **(header or {})}
    body = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not ...}
    return jws.serialize_compact(head, json.dumps(body).encode(), key, registry=_algorithm_registry)


def b64(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


@pytest.fixture
def jwks(tmp_path: Path) -> Path:
    path = tmp_path / "jwks.json"
    path.write_bytes(ALL)
    path.chmod(0o644)
    return path


def judging(keys: Any, **more: Any) -> Jwt:
    return Jwt(keys, issuer=ISSUER, audience=AUDIENCE, wall=lambda: NOW, **more)


@pytest.mark.parametrize(
    ("key", "alg", "kid"), [(EC, "ES256", "ec"), (RSA, "RS256", "rsa"), (ED, "EdDSA", "ed"), (ED, "Ed25519", "ed")]
)
def test_a_signed_token_lets_its_subject_in_until_it_expires(jwks: Path, key: Any, alg: str, kid: str) -> None:
    """SEC-034"""
    known = judging(jwks).authenticate(shown(signed(key, alg, kid)))
    assert (known.principal, known.roles, known.expires_at) == ("ada", only("replier"), NOW + 3600)


def with_public_key_as_secret() -> str:
    """The classic: an HMAC with the public key, which everybody has, under the name of that key."""
    head = f"{b64({'alg': 'HS256', 'kid': 'ec'})}.{b64(CLAIMS)}"
    secret = EC.as_pem(private=False)
    return f"{head}.{b64(hmac.new(secret, head.encode(), hashlib.sha256).digest())}"


def tampered() -> str:
    head, _, signature = signed().split(".")
    return f"{head}.{b64({**CLAIMS, 'sub': 'eve'})}.{signature}"


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "a.b.c",
        "....",
        f"{b64({'alg': 'none'})}.{b64(CLAIMS)}.",
        f"{b64({'alg': 'none', 'kid': 'ec'})}.{b64(CLAIMS)}.",
        f"{b64({'alg': 'ES256', 'kid': ['ec']})}.{b64(CLAIMS)}.{b64(b'x' * 64)}",
        f"{b64([])}.{b64(CLAIMS)}.{b64(b'x' * 64)}",
        with_public_key_as_secret(),
        tampered(),
        signed(OTHER),
        signed(OTHER, kid="unknown"),
        signed(OTHER, header={"jwk": jwk(OTHER, "ec")}),
        signed(OTHER, header={"jku": "https://evil.example/keys"}),
        signed(EC, kid="rsa"),
        signed(RSA, "RS256", "ec"),
        signed(header={"typ": "aaep-manifest+jws"}),
        signed(header={"crit": ["kid"]}),
        signed(exp=...),
        signed(exp=NOW),
        signed(exp="tomorrow"),
        signed(exp=True),
        signed(exp=1e300),
        signed(exp=10**400),
        signed(nbf=-(10**400)),
        signed(nbf=NOW + 3600),
        signed(nbf="x"),
        signed(iat=NOW + 3600),
        signed(iat="x"),
        signed(iss="https://evil.example"),
        signed(iss=...),
        signed(aud="other"),
        signed(aud=["other"]),
        signed(aud=...),
        signed() + "x" * 20_000,
        "é.é.é",
        "\udcff.\udcff.\udcff",
    ],
)
def test_tokens_that_are_forged_stale_or_for_others_let_nobody_in(jwks: Path, token: str) -> None:
    with pytest.raises(Unauthenticated) as refused:
        judging(jwks).authenticate(shown(token))
    assert not token or token not in str(refused.value)


@given(st.text(max_size=60) | st.binary(max_size=60).map(lambda raw: raw.decode("latin-1")))
def test_nothing_that_is_shown_makes_an_identity_fail(text: str) -> None:
    class Fixed:
        def get_keys(self, kid: str) -> Any:
            return parse_key_set(ALL)

    for bearer in (text, f"{b64({'alg': 'ES256', 'kid': 'ec'})}.{text}.{text}", f"{text}.{b64(CLAIMS)}.{text}"):
        for identity in (judging(Fixed()), First(judging(Fixed()), Local()), RateLimitedIdentity(judging(Fixed()))):
            with pytest.raises((Unauthenticated, Unauthorised)):
                identity.authenticate(shown(bearer))


def test_who_is_known_and_has_no_role_or_name_here_is_told_so(jwks: Path) -> None:
    for claims in ({"roles": ["boss"]}, {"roles": ...}, {"roles": 7}, {"sub": ...}, {"sub": "local"}, {"sub": "a\nb"}):
        with pytest.raises(Unauthorised):
            judging(jwks).authenticate(shown(signed(**claims)))
    assert judging(jwks, default="listener").authenticate(shown(signed(roles=...))).roles == {"listener"}
    with pytest.raises(Unauthorised):  # the claim is there, and says nothing
        judging(jwks, default="listener").authenticate(shown(signed(roles=[])))


def test_claims_can_have_other_names_and_words(jwks: Path) -> None:
    mine = judging(jwks, principal="email", roles="scope", mapping={"aaep.reply": "replier", "aaep.audit": "auditor"})
    known = mine.authenticate(shown(signed(email="ada@example.org", scope="openid aaep.reply", aud=["x", AUDIENCE])))
    assert (known.principal, known.roles) == ("ada@example.org", only("replier"))
    with pytest.raises(Unauthorised, match="one of the two"):  # which of them was meant nobody knows
        mine.authenticate(shown(signed(email="eve@example.org", scope="aaep.audit aaep.reply")))
    slow = judging(jwks).authenticate(shown(signed(iat=NOW + 5, nbf=NOW + 5)))
    assert slow.principal, "clocks differ a little"
    with pytest.raises(AaepError, match="root"):
        judging(jwks, mapping={"x": "root"})
    with pytest.raises(AaepError, match="issuer"):
        Jwt(jwks, issuer="", audience="aaep")


def test_only_keys_that_can_be_used_are_taken() -> None:
    small = {"kty": "RSA", "n": b64(b"\xc1" * 128), "e": "AQAB", "kid": "small"}
    for bad in (
        {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"},
        jwk(EC, "x", use="enc"),
        jwk(EC, "x", alg="ES512"),
        jwk(ECKey.generate_key("P-384"), "x"),
        {**jwk(EC, "x"), "x": "!!"},
        {"kty": "EC", "crv": "P-256", "kid": "x"},
        {"kty": 7},
        {"kid": 7, **EC.as_dict(private=False), "kty": "EC"} | {"kid": 7},
        small,
    ):
        assert [one.kid for one in parse_key_set(key_set(bad, jwk(ED, "ed")))] == ["ed"], bad
        with pytest.raises(AaepError, match="none that can be used"):
            parse_key_set(key_set(bad))
    for nothing in (b"", b"[]", b'{"keys":7}', b"\xff", b"[" * 100_000):
        with pytest.raises(AaepError):
            parse_key_set(nothing)
    private = parse_key_set(key_set({**EC.as_dict(private=True), "kid": "ec"}))[0]
    assert not private.jose_key.is_private


def test_a_token_without_the_name_of_a_key_needs_the_only_one(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_bytes(key_set(jwk(EC, None)))
    assert judging(path).authenticate(shown(signed(kid=None))).principal == "ada"
    path.write_bytes(key_set(jwk(EC, None), jwk(ED, None)))  # the only one for its algorithm
    assert judging(path).authenticate(shown(signed(kid=None))).principal == "ada"
    path.write_bytes(key_set(jwk(EC, "one"), jwk(OTHER, "two")))
    with pytest.raises(Unauthenticated):
        judging(path).authenticate(shown(signed(kid=None)))


def test_a_file_of_keys_counts_as_it_is_now(jwks: Path, caplog: Any) -> None:
    judge = judging(jwks)
    token = signed(OTHER, kid="new")
    with pytest.raises(Unauthenticated):
        judge.authenticate(shown(token))
    jwks.write_bytes(key_set(jwk(OTHER, "new")))
    assert judge.authenticate(shown(token)).principal == "ada"
    with pytest.raises(Unauthenticated):
        judge.authenticate(shown(signed()))
    jwks.chmod(0o666)
    with pytest.raises(Unauthenticated):
        judge.authenticate(shown(token))
    assert "chmod go-w" in caplog.text
    with pytest.raises(AaepError, match="chmod go-w"):
        judging(jwks)
    with pytest.raises(AaepError, match="cannot be read"):
        judging(jwks.with_name("none"))


class Signer:
    """Serves a key set over HTTP."""

    def __init__(self) -> None:
        self.body, self.status, self.asked = ALL, "200 OK", 0
        self.url = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        self.asked += 1
        head = f"HTTP/1.1 {self.status}\r\nContent-Length: {len(self.body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + self.body)
        await writer.drain()
        writer.close()

    async def __aenter__(self) -> Signer:
        self.server = await asyncio.start_server(self.answer, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/jwks"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        await self.server.wait_closed()


@scene
async def test_keys_are_fetched_once_and_again_when_a_new_one_is_named() -> None:
    clock = Clock()
    async with Signer() as signer:
        judge = judging(KeyUrl(signer.url, clock=clock))
        await First(judge).prepare()
        for _ in range(5):
            assert (await authenticate_peer(judge, shown(signed()))).principal == "ada"
        assert signer.asked == 1
        clock.now += RETRY_DELAY
        signer.body = key_set(jwk(OTHER, "new"))
        assert (await authenticate_peer(judge, shown(signed(OTHER, kid="new")))).principal == "ada"
        assert signer.asked == 2
        for number in range(20):  # invented names do not make us a nuisance
            with pytest.raises(Unauthenticated):
                await authenticate_peer(judge, shown(signed(OTHER, kid=f"invented{number}")))
        assert signer.asked == 2
        with pytest.raises(Unauthenticated):  # what was taken back counts no longer
            await authenticate_peer(judge, shown(signed()))


@scene
async def test_keys_outlive_a_signer_that_is_away_but_not_for_ever() -> None:
    clock = Clock()
    async with Signer() as signer:
        keys = KeyUrl(signer.url, clock=clock)
        judge = judging(keys)
        await judge.prepare()
        signer.status = "500 Oops"
        clock.now += REFRESH_AFTER + 1
        assert (await authenticate_peer(judge, shown(signed()))).principal == "ada"
        coming = keys._fetch_task
        assert coming is not None
        await coming
        assert signer.asked == 2
        clock.now += MAX_KEY_AGE
        with pytest.raises(Unauthenticated):
            await authenticate_peer(judge, shown(signed()))
        signer.status = "200 OK"
        clock.now += RETRY_DELAY
        assert (await authenticate_peer(judge, shown(signed()))).principal == "ada"


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        ("404 No", ALL, "404"),
        ("302 Elsewhere", ALL, "302"),
        ("200 OK", b"x" * 300_000, "more than"),
        ("200 OK", b"[]", "JWKS"),
    ],
)
def test_a_door_does_not_open_without_keys(status: str, body: bytes, said: str) -> None:
    async def play() -> None:
        async with Signer() as signer:
            signer.status, signer.body = status, body
            with pytest.raises(AaepError, match=said):
                await prepare_identity(judging(signer.url))

    asyncio.run(asyncio.wait_for(play(), 30))


@pytest.mark.parametrize(
    "url", ["http://login.example/jwks", "ftp://127.0.0.1/x", "https://", "https://a:b@x/", "file:///etc/passwd"]
)
def test_keys_are_fetched_over_https_only(url: str) -> None:
    with pytest.raises(AaepError):
        KeyUrl(url)


def test_without_a_loop_a_missing_key_is_a_refusal() -> None:
    with pytest.raises(Unauthenticated) as refused:
        judging(KeyUrl("https://login.example/jwks")).authenticate(shown(signed()))
    assert not isinstance(refused.value, AuthenticationPending)


# -- several, and guessing ---------------------------------------------------------------------


def test_the_first_that_knows_somebody_decides_and_a_wrong_token_makes_nobody_local(file: Path, jwks: Path) -> None:
    token = made(file)
    several = First(reading(file), judging(jwks), Local())
    assert several.authenticate(shown(token, is_loopback=True)).principal == "ada"
    assert several.authenticate(shown(signed(sub="bob"), is_loopback=True)).principal == "bob"
    assert several.authenticate(shown(is_loopback=True)).principal == LOCAL_PRINCIPAL
    for wrong in ("wrong", signed(exp=NOW)):
        with pytest.raises(Unauthenticated):
            several.authenticate(shown(wrong, is_loopback=True))
    with pytest.raises(Unauthorised):  # known, and may not: nobody else is asked
        several.authenticate(shown(signed(roles=[]), is_loopback=True))
    with pytest.raises(Unauthenticated):
        several.authenticate(shown())
    with pytest.raises(AaepError):
        First()
    assert (First(StaticToken("x"), Local()).is_multi_user, several.is_multi_user) == (False, True)


def test_who_guesses_waits_longer_and_longer_and_who_knows_does_not(file: Path, caplog: Any) -> None:
    token, clock = made(file), Clock()
    watch = RateLimitedIdentity(reading(file), clock)
    for _ in range(FREE_ATTEMPTS):
        with pytest.raises(Unauthenticated) as refused:
            watch.authenticate(shown("wrong", address="192.0.2.1"))
        assert not isinstance(refused.value, TooManyAttempts)
    waits = []
    for _ in range(20):
        with pytest.raises(TooManyAttempts) as waiting:
            watch.authenticate(shown("wrong", address="192.0.2.1"))
        waits.append(waiting.value.retry_after)
        assert watch.authenticate(shown(token, address="192.0.2.1")).principal == "ada"
    assert waits == sorted(waits) and waits[0] == 2 and waits[-1] == MAX_RETRY_AFTER
    assert "192.0.2.1" in caplog.text and "wrong tokens" in caplog.text
    with pytest.raises(Unauthenticated) as elsewhere:
        watch.authenticate(shown("wrong", address="192.0.2.2"))
    assert not isinstance(elsewhere.value, TooManyAttempts)
    clock.now += FAILURE_LIFETIME * 100
    with pytest.raises(Unauthenticated) as forgiven:
        watch.authenticate(shown("wrong", address="192.0.2.1"))
    assert not isinstance(forgiven.value, TooManyAttempts)


def test_showing_nothing_is_no_guess_and_a_network_counts_as_one_place(file: Path) -> None:
    made(file)
    watch = RateLimitedIdentity(reading(file), Clock())
    for _ in range(FREE_ATTEMPTS * 3):
        with pytest.raises(Unauthenticated) as nothing:
            watch.authenticate(shown(address="192.0.2.1"))
        assert not isinstance(nothing.value, TooManyAttempts)
    assert watch.address_count == 0
    for number in range(FREE_ATTEMPTS + 1):
        with pytest.raises(Unauthenticated) as last:
            watch.authenticate(shown("wrong", address=f"2001:db8::{number:x}"))
    assert isinstance(last.value, TooManyAttempts) and watch.address_count == 1


def test_what_is_remembered_of_guesses_is_bounded(file: Path) -> None:
    made(file)
    watch = RateLimitedIdentity(reading(file), Clock())
    for number in range(MAX_ADDRESSES + 50):
        with pytest.raises(Unauthenticated):
            watch.authenticate(shown("wrong", address=f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"))
    assert watch.address_count == MAX_ADDRESSES


def test_a_counting_identity_is_never_taken_for_none(file: Path) -> None:
    made(file)
    assert bool(RateLimitedIdentity(reading(file)))
    local = Local()
    assert asyncio.run(prepare_identity(local)) is local
    ready = asyncio.run(prepare_identity(reading(file)))
    assert isinstance(ready, RateLimitedIdentity) and asyncio.run(prepare_identity(ready)) is ready


# -- roles in the hub --------------------------------------------------------------------------


@scene
async def test_an_auditor_hears_every_session_and_answers_none() -> None:
    world = World()
    auditor = peer("eve", "auditor")
    heard = world.connect(id := world.subscribe(auditor, **WHOLE, **REPLIES), peer=auditor)
    agent = Agent(world, audience=frozenset({"ada"}))
    token = agent.ask().reply_token
    await world.settle()
    assert heard.ids == [event.event_id for event in agent.sent]
    assert world.hub.eligible_repliers(agent, "confirmation") == set()
    for who in (auditor, peer("eve", "auditor", "replier"), peer("eve", "replier")):
        world.hub.reply(replied(token, id), who)
    assert agent.replies == []


@scene
async def test_whose_answers_do_not_count_is_told_so_in_the_terms() -> None:
    world = World()
    for roles, counts in ((("listener",), False), (("auditor",), False), (("replier",), True)):
        world.connect(world.subscribe(peer("ada", *roles), **REPLIES), peer=peer("ada", *roles))
        assert world.last.terms.supports_confirmation_reply is counts
        assert world.last.may_reply is counts


def rejected(world: World, who: Peer) -> str:
    asked = SubscriptionRequest(aaep_version="1.0.0", subscriber_id="reader", capabilities=Capabilities())
    answer = world.hub.subscribe(asked, who)
    assert isinstance(answer, SubscriptionRejected)
    return answer.reason_code


@scene
async def test_an_agent_alone_may_not_listen() -> None:
    world = World()
    assert rejected(world, peer("bot", "agent")) == "authorization_denied"
    with pytest.raises(Unauthorised):
        world.connect("", peer=peer("bot", "agent"))
    assert world.join(peer("bot", "agent", "listener")).closed == []


@scene
async def test_cf_142_roles_never_share_a_stream_nor_a_subscription() -> None:
    world = World()
    replier, listener = peer("ada", "replier"), peer("ada", "listener")
    mine = world.connect(id := world.subscribe(replier, **WHOLE), peer=replier)
    one = world.last
    theirs = world.join(listener, **WHOLE)
    assert one.stream is not world.last.stream
    agent = Agent(world)
    agent.emit(ToolInvoked, tool="transfer", args_summary="500 to Bob", summary_normal="Paying.")
    await world.settle()
    assert mine.events[-1].args_summary == "500 to Bob"
    assert "500 to Bob" not in b"".join(theirs.writes).decode()
    with pytest.raises(AaepError):
        world.connect(id, peer=listener)
    assert world.hub.renegotiate(change(id, coalesce_boundaries=("none",)), listener) is None


@scene
async def test_sec_040_a_listener_hears_what_happens_and_not_the_words_live_late_or_from_the_journal() -> None:
    """SEC-040"""
    world = World(ring_size=1)
    listener = peer("ada", "listener")
    live = world.connect(id := world.subscribe(listener, **WHOLE), peer=listener)
    agent = Agent(world)
    agent.move("calling_tool")
    agent.emit(ToolInvoked, tool="transfer", tool_call_id="call_1", args_summary="SECRET", summary_normal="Paying.")
    agent.sent[0] = SessionStarted(
        event_id="evt_s", session_id=agent.session_id, timestamp="2026-05-24T14:22:11.342Z",
        producer=ProducerInfo(agent_id="bank"), request_text="SECRET", summary_normal="Moving money.",
    )  # fmt: skip
    agent.pending = [asking(agent.session_id)]
    await world.settle()
    late = world.join(listener, **WHOLE)
    world.hub.disconnect(world.last.id, late)
    again = world.connect(id, after=live.ids[0], peer=listener)
    full = world.join(peer("bob", "replier"), **WHOLE)
    for reader in (live, late, again):
        assert "SECRET" not in b"".join(reader.writes).decode()
    assert any(isinstance(one, ToolInvoked) and one.summary_normal == "Paying." for one in again.events)
    prompt = next(one for one in late.events if isinstance(one, AwaitingConfirmation))
    assert prompt.extra_context == {"tool_call_id": "call_1"}
    assert b"".join(full.writes).decode().count("SECRET") == 2


def asking(session_id: str) -> AwaitingConfirmation:
    return AwaitingConfirmation(
        event_id="evt_q", session_id=session_id, timestamp="2026-05-24T14:22:11.342Z",
        producer=ProducerInfo(agent_id="bank"), action="Pay.", consequence="Money moves.", reply_token="rpl_1",
        timeout_seconds=60, default_decision="reject", extra_context={"tool_call_id": "call_1", "iban": "SECRET"},
    )  # fmt: skip


def test_what_is_hidden_can_be_chosen_and_not_what_an_event_needs() -> None:
    HubSettings(hidden_members={"auditor": ["model"], "listener": "request_text"})
    for name in ("event_id", "reply_token", "chunk", "type"):
        with pytest.raises(AaepError, match=name):
            HubSettings(hidden_members={"listener": [name]})
    table = {"listener": frozenset({"request_text", "args_summary"}), "auditor": frozenset({"request_text"})}
    assert hidden_members_for({"listener", "agent"}, table) == {"request_text", "args_summary"}
    assert hidden_members_for({"listener", "auditor"}, table) == {"request_text"}
    assert hidden_members_for({"listener", "replier"}, table) == frozenset()


def test_what_is_hidden_is_hidden_in_events_of_newer_agents_too() -> None:
    raw = {**json.loads(codec.encode(asking("sess_1"))), "diary": "SECRET", "args": {"x": 1}}
    event = codec.decode(json.dumps(raw).encode())
    assert isinstance(event, AwaitingConfirmation)
    left = hide_members(event, frozenset({"diary", "extra_context"}))
    assert b"SECRET" not in codec.encode(left) and json.loads(codec.encode(left))["args"] == {"x": 1}
    assert "diary" not in left.unknown and hide_members(left, frozenset({"diary"})) is left


# -- how long ----------------------------------------------------------------------------------


@scene
async def test_cf_149_a_subscription_ends_with_its_credential_and_may_come_back_with_another() -> None:
    world = World()
    agent = Agent(world)
    old = peer("ada", expires=world.clock() + 100)
    reader = world.connect(id := world.subscribe(old, **WHOLE, **REPLIES), peer=old)
    token = agent.ask().reply_token
    await world.settle()
    last = reader.ids[-1]
    await world.pass_time(99)
    assert reader.closed == []
    await world.pass_time(1)
    assert reader.reason == "authentication_expired"
    world.hub.reply(replied(token, id), old)
    assert agent.replies == [] and world.hub.renegotiate(change(id), old) is None
    agent.say("While it was away.", complete=True)
    fresh = peer("ada", expires=world.clock() + 100)
    again = world.connect(id, after=last, peer=fresh)
    assert "While it was away." in again.text
    world.hub.reply(replied(token, id), fresh)
    assert agent.replies == [(token, id)]
    await world.pass_time(100)
    assert again.reason == "authentication_expired"
    await world.pass_time(world.settings.resume_window)
    assert ("left", id) in agent.log  # CF-004
    with pytest.raises(AaepError):
        world.connect(id, peer=fresh)


@scene
async def test_cf_149_a_credential_is_renewed_by_the_same_principal_before_it_expires() -> None:
    world = World()
    agent = Agent(world)
    old = peer("ada", expires=world.clock() + 100)
    reader = world.connect(id := world.subscribe(old, **REPLIES), peer=old)
    world.hub.renegotiate(change(id), peer("bob", expires=world.clock() + 900))  # not by another
    world.hub.renegotiate(change(id), peer("ada", "listener", expires=world.clock() + 900))  # nor in another role
    world.hub.reply(replied("rpl_none", id), peer("ada", expires=world.clock() + 300))
    await world.pass_time(299, step=50)
    assert reader.closed == []
    world.hub.reply(replied("rpl_none", id), peer("ada", expires=world.clock() + 0.25))  # takes nothing away
    await world.pass_time(0.5)
    assert reader.closed == []
    await world.pass_time(0.5)
    assert reader.reason == "authentication_expired"
    assert agent.replies == []


@scene
async def test_cf_149_a_bare_stream_ends_with_its_credential_too() -> None:
    world = World()
    reader = world.connect("", peer=peer("ada", expires=world.clock() + 10))
    await world.pass_time(10)
    assert reader.reason == "authentication_expired"
    assert "aaep_subscriptions 0\n" in world.hub.metrics()


@scene
async def test_a_credential_that_was_taken_back_is_noticed_on_an_open_connection() -> None:
    world = World()
    agent = Agent(world)
    good = [True]
    ada = peer("ada", stands=lambda: good[0])
    reader = world.connect(id := world.subscribe(ada, **REPLIES), peer=ada)
    token = agent.ask().reply_token
    await world.pass_time(60, step=5)
    assert reader.closed == []
    good[0] = False
    world.hub.reply(replied(token, id), ada)
    assert agent.replies == []  # at once
    await world.pass_time(20, step=5)
    assert reader.reason == "authentication_expired"


@scene
async def test_who_expired_between_connecting_and_asking_is_rejected() -> None:
    world = World()
    assert rejected(world, peer("ada", expires=world.clock())) == "authentication_required"
    assert rejected(world, peer("ada", stands=lambda: False)) == "authentication_required"


# -- T1 and T8 ---------------------------------------------------------------------------------


@scene
async def test_t1_a_token_that_leaked_to_somebody_else_is_worth_nothing() -> None:
    """
    HITL-012, CONF-019: every way to send another user's reply token.

    Their subscription, one's own, an auditor's, a bare stream's.
    """
    world = World()
    agent = Agent(world, audience=frozenset({"ada"}))
    hers = world.subscribe(ADA, **REPLIES)
    world.connect(hers, peer=ADA)
    his = world.subscribe(BOB, **REPLIES)
    world.connect(his, peer=BOB)
    auditor = peer("eve", "auditor")
    audits = world.subscribe(auditor, **REPLIES)
    world.connect(audits, peer=auditor)
    world.connect("", peer=ADA)
    bare = world.last.id
    token = agent.ask().reply_token
    for id in (hers, his, audits, bare, "sub_none", ""):
        for who in (BOB, auditor, peer("eve", "replier"), peer("ada", "listener"), peer("", "replier"), peer("ADA")):
            world.hub.reply(replied(token, id), who)
    for id in (his, audits, bare, "sub_none", ""):
        world.hub.reply(replied(token, id), ADA)
    assert agent.replies == []
    world.hub.reply(replied(token, hers), ADA)
    assert agent.replies == [(token, hers)]


@scene
async def test_t8_a_subscription_id_proves_nothing() -> None:
    """SEC-031, SEC-032"""
    world = World()
    agent = Agent(world, audience=frozenset({"ada"}))
    reader = world.connect(id := world.subscribe(ADA, **REPLIES, **WHOLE), peer=ADA)
    for thief in (BOB, peer("eve", "auditor"), peer("ada", "listener"), Peer()):
        with pytest.raises(AaepError):
            world.connect(id, peer=thief)
        assert world.hub.renegotiate(change(id), thief) is None
        world.hub.unsubscribe(codec.decode(json.dumps(closing(id)).encode()), thief)  # type: ignore[arg-type]  # decoded from what is one
    agent.say("Still hers.", complete=True)
    await world.settle()
    assert reader.closed == [] and "Still hers." in reader.text


def closing(id: str) -> dict[str, Any]:
    return {"type": "subscription.close", "subscription_id": id, "reason_code": "subscriber_shutdown"}


# -- whose session -----------------------------------------------------------------------------


def test_cf_145_a_session_is_for_whoever_started_it() -> None:
    assert resolve_audience(None, "user:ada", is_multi_user=False) is None
    assert resolve_audience(None, "user:ada", is_multi_user=True) == only("ada")
    for nobody in (None, "system:cron", "agent:x", "user:", "ada"):
        assert resolve_audience(None, nobody, is_multi_user=True) == only(LOCAL_PRINCIPAL)
    assert resolve_audience("bob", "user:ada", is_multi_user=True) == only("bob")
    assert resolve_audience(["bob", "ada"], None, is_multi_user=False) == only("bob", "ada")
    assert resolve_audience("*", "user:ada", is_multi_user=True) is None


@contextmanager
def producing(**settings: Any) -> Iterator[Producer]:
    with producer_with("bank", journal=None, **settings) as producer:
        yield producer


def test_cf_145_a_producer_that_knows_several_keeps_their_sessions_apart(file: Path) -> None:
    made(file)
    with producing(identity=reading(file)) as producer:
        with producer.session("Hers.", requested_by="user:ada") as hers, producer.session("Its own.") as own:
            assert (hers.audience, own.audience) == (only("ada"), only(LOCAL_PRINCIPAL))
        with producer.session("For all.", audience="*") as everybody:
            assert everybody.audience is None
    with producing(identity=reading(file), audience=["ada"]) as producer, producer.session("Hers.") as hers:
        assert hers.audience == only("ada")
    for alone in ({}, {"identity": Local()}, {"identity": First(StaticToken("x"), Local())}):
        with producing(**alone) as producer, producer.session("Mine.", requested_by="user:ada") as mine:
            assert mine.audience is None


@pytest.mark.parametrize(
    ("url", "is_taken"),
    [
        ("http://127.0.0.1:9/keys", True),
        ("http://[::1]:9/keys", True),
        ("http://localhost:9/keys", True),
        ("https://login.example/keys", True),
        ("http://login.example/keys", False),
        ("HTTP://login.example/keys", False),
        ("http://192.168.1.2/keys", False),
        ("http://0.0.0.0/keys", False),
        ("http://127.0.0.1.login.example/keys", False),
        ("http://localhost.login.example/keys", False),
        ("http://2130706433/keys", False),
        ("http://login.example@127.0.0.1/keys", False),
        ("ftp://127.0.0.1/keys", False),
    ],
)
def test_a_key_set_comes_over_plain_http_only_from_this_machine(url: str, is_taken: bool) -> None:
    if is_taken:
        Jwt(url, issuer="https://login.example", audience="aaep")
    else:
        with pytest.raises(AaepError, match=r"(Use|like) https://"):
            Jwt(url, issuer="https://login.example", audience="aaep")
