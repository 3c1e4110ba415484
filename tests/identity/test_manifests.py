"""Signed manifests: who signed what, for whom, for how long; and the ways to pretend."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa, x25519
from hypothesis import given
from hypothesis import strategies as st

from aaep.errors import AaepError, LocalProtocolError
from aaep.identity import manifests
from aaep.identity.manifests import ManifestInvalid, check_consistency, declared_origins
from aaep.identity.origins import origin, same_origin
from aaep.identity.signed_manifests import (
    MAX_VALIDITY_DAYS,
    ManifestSigner,
    VerifiedManifest,
    is_signed,
    parse_manifest,
    sign_manifest,
    verify_manifest,
)
from aaep.identity.signing_keys import Algorithm, KeyUnusable, SigningKey, TrustedKeys
from aaep.protocol import codec
from aaep.protocol.messages import Capabilities, Manifest

NOW = 1_779_632_531.0
DAY = 86_400
HERE = "https://agent.example"
ALGORITHMS: list[Algorithm] = ["ES256", "RS256", "EdDSA"]
KEYS = {name: SigningKey.generate(name, f"key-{name}") for name in ALGORITHMS}
KEY = KEYS["ES256"]
TRUSTED = TrustedKeys(key.public_key for key in KEYS.values())
MANIFEST = Manifest(
    agent_id="bank",
    agent_name="Bank",
    agent_version="1.0",
    aaep_versions_supported=("1.0.0",),
    conformance_levels_supported=(1, 2, 3),
    transports_supported=("sse",),
    languages_supported=("en-US", "de"),
)


def signed(key: SigningKey = KEY, **more: Any) -> str:
    return sign_manifest(MANIFEST, key, **{"now": NOW, "origins": [HERE], **more})


def checked(given: bytes | str, keys: TrustedKeys = TRUSTED, **more: Any) -> VerifiedManifest:
    return verify_manifest(given, keys, **{"agent_id": "bank", "origin": HERE, "now": NOW + 60, **more})


def reason(given: bytes | str, keys: TrustedKeys = TRUSTED, **more: Any) -> str:
    with pytest.raises(ManifestInvalid) as error:
        checked(given, keys, **more)
    return error.value.reason


def part(value: Any) -> str:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def opened(jws: str) -> tuple[dict[str, Any], dict[str, Any]]:
    head, body, _ = (base64.urlsafe_b64decode(one + "==") for one in jws.split("."))
    return json.loads(head), json.loads(body)


def pem(key: SigningKey, *, private: bool = True) -> bytes:
    return key.jose_key.as_pem(private=private)


def forged(payload: dict[str, Any], key: SigningKey = KEY, **header: Any) -> str:
    """What another library signs, with any header."""
    named = {"kid": key.kid, "typ": "aaep-manifest+jws", **header}
    text = json.dumps(payload).encode()
    return jwt.api_jws.encode(text, pem(key), algorithm=key.algorithm, headers=named)


def claimed(**changes: Any) -> dict[str, Any]:
    _, payload = opened(signed())
    payload.update(changes)
    return {name: value for name, value in payload.items() if value is not None}


# -- what is signed ------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_what_was_signed_is_verified_and_says_everything_the_manifest_says(algorithm: Algorithm) -> None:
    """MAN-017"""
    found = checked(signed(KEYS[algorithm]))
    assert (found.kid, found.algorithm) == (f"key-{algorithm}", algorithm)
    assert (found.issued_at, found.expires_at) == (NOW, NOW + MAX_VALIDITY_DAYS * DAY)
    assert found.origins == (HERE,)
    assert found.manifest.agent_id == "bank"
    assert {**json.loads(codec.encode(MANIFEST)), **json.loads(codec.encode(found.manifest))} == json.loads(
        codec.encode(found.manifest)
    )


def test_header_and_payload_are_as_the_readings_say() -> None:
    """MAN-017"""
    header, payload = opened(signed(days=1))
    assert header == {"alg": "ES256", "kid": "key-ES256", "typ": "aaep-manifest+jws"}  # CF-122
    assert (payload["iat"], payload["exp"]) == (int(NOW), int(NOW) + DAY)  # CF-120
    assert payload["extensions"] == {"attend": {"origins": [HERE]}}  # CF-119
    message, found = codec.read(json.dumps(payload).encode())
    assert isinstance(message, Manifest) and not found


def test_what_the_manifest_holds_beside_is_signed_too() -> None:
    raw = json.dumps({**json.loads(codec.encode(MANIFEST)), "x_other": 5, "extensions": {"attend": {"instance": "i"}}})
    manifest = parse_manifest(raw)
    _, payload = opened(sign_manifest(manifest, KEY, now=NOW, origins=[HERE]))
    assert payload["x_other"] == 5
    assert payload["extensions"]["attend"] == {"instance": "i", "origins": [HERE]}


def test_es256_signatures_are_the_64_raw_bytes_that_jose_wants() -> None:
    assert len(base64.urlsafe_b64decode(signed().split(".")[2] + "==")) == 64


@pytest.mark.parametrize("days", [0, -1, 30.01, 365])
def test_nothing_is_signed_for_longer_than_thirty_days(days: float) -> None:
    with pytest.raises(LocalProtocolError):
        signed(days=days)


@pytest.mark.parametrize("places", [[], ["nonsense"], ["https://0.0.0.0:1"], ["ftp://agent.example"], ["https://[x"]])
def test_nothing_is_signed_for_no_address(places: list[str]) -> None:
    with pytest.raises(LocalProtocolError):
        signed(origins=places)


def test_what_is_no_sound_manifest_is_not_signed() -> None:
    with pytest.raises(LocalProtocolError):
        sign_manifest(codec.replace(MANIFEST, agent_id=""), KEY, now=NOW, origins=[HERE])


# -- attacks -------------------------------------------------------------------------------


def test_alg_none_is_refused() -> None:
    header = {"alg": "none", "kid": KEY.kid, "typ": "aaep-manifest+jws"}
    assert reason(f"{part(header)}.{part(claimed())}.AA") == "algorithm"
    assert reason(f"{part(header)}.{part(claimed())}.") == "malformed"  # not even in compact form (SUB-025)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("kind", ["pem", "jwk", "text"])
def test_hmac_with_the_public_key_as_its_secret_is_refused(algorithm: Algorithm, kind: str) -> None:
    key = KEYS[algorithm]
    secret = {
        "pem": pem(key, private=False),
        "jwk": json.dumps(key.to_jwk()).encode(),
        "text": json.dumps(key.jose_key.as_dict(private=False), separators=(",", ":")).encode(),
    }[kind]
    start = f"{part({'alg': 'HS256', 'kid': key.kid, 'typ': 'aaep-manifest+jws'})}.{part(claimed())}"
    mac = hmac.new(secret, start.encode(), hashlib.sha256).digest()
    assert reason(f"{start}.{part(mac)}") == "algorithm"


@pytest.mark.parametrize(
    "name", ["HS256", "PS256", "ES384", "es256", "None", "NONE", "Ed25519", "", None, 1, ["ES256"], {}]
)
def test_any_other_algorithm_is_refused(name: Any) -> None:
    header = {"alg": name, "kid": KEY.kid, "typ": "aaep-manifest+jws"}
    assert reason(f"{part(header)}.{part(claimed())}.{signed().split('.')[2]}") == "algorithm"


def test_a_key_counts_for_its_own_algorithm_only() -> None:
    """CF-121: a genuine ES256 signature under the name of an RSA key, and the other way round."""
    assert reason(forged(claimed(), KEY, kid="key-RS256")) == "algorithm"
    assert reason(forged(claimed(), KEYS["RS256"], kid="key-ES256")) == "algorithm"


def test_a_kid_that_is_not_known_here_is_refused() -> None:
    assert reason(signed(SigningKey.generate(kid="stranger"))) == "key"


@pytest.mark.parametrize("kid", [None, 5, "", "../key-ES256", "https://agent.example/keys", ["key-ES256"], {}])
def test_a_kid_is_a_name_and_nothing_is_fetched_or_opened_for_it(kid: Any) -> None:
    header = {"alg": "ES256", "kid": kid, "typ": "aaep-manifest+jws"}
    assert reason(f"{part(header)}.{part(claimed())}.{signed().split('.')[2]}") == "key"


def test_another_key_under_a_known_name_is_refused() -> None:
    assert reason(signed(SigningKey.generate(kid=KEY.kid))) == "signature"


@pytest.mark.parametrize("kid", ["key-ES256", "thief", ""])
def test_a_key_in_the_header_is_never_used(kid: str) -> None:
    thief = SigningKey.generate(kid="thief")
    brought = {
        "jwk": thief.to_jwk(),
        "jku": "https://evil.example/jwks",
        "x5u": "https://evil.example/x",
        "x5c": ["AA=="],
    }
    for name, value in brought.items():
        assert reason(forged(claimed(), thief, kid=kid, **{name: value})) in ("key", "signature"), name


def test_a_key_in_the_header_of_a_genuine_one_is_ignored() -> None:
    assert (
        checked(forged(claimed(), KEY, jwk=SigningKey.generate().to_jwk(), jku="https://evil.example")).kid == KEY.kid
    )


@pytest.mark.parametrize(
    ("header", "why"),
    [({"crit": ["exp"]}, "malformed"), ({"typ": "JWT"}, "malformed"), ({"typ": 5}, "malformed")],
)
def test_a_signature_that_was_made_for_something_else_is_refused(header: dict[str, Any], why: str) -> None:
    assert reason(_by_hand(claimed(), header)) == why


def _by_hand(payload: Any, header: dict[str, Any]) -> str:
    from joserfc import jws

    full = {"alg": "ES256", "kid": KEY.kid, "typ": "aaep-manifest+jws", **header}
    start = f"{part(full)}.{part(payload)}"
    alg = jws.JWSRegistry.algorithms["ES256"]
    return f"{start}.{part(alg.sign(start.encode(), KEY.jose_key))}"


def test_signing_by_hand_makes_what_is_verified() -> None:
    """Otherwise the tests that use it would pass for a wrong reason."""
    assert checked(_by_hand(claimed(), {})).kid == KEY.kid
    assert checked(_by_hand(claimed(), {"typ": "application/AAEP-manifest+jws", "other": 1})).kid == KEY.kid


@pytest.mark.parametrize("payload", [b"", b"[]", b"5", b"{}", b"\xff", {"type": "subscription.close"}, {"sub": "bank"}])
def test_a_genuine_signature_over_what_is_no_manifest_is_refused(payload: Any) -> None:
    assert reason(_by_hand(payload, {})) == "malformed"


def test_a_signed_manifest_within_a_signature_is_refused() -> None:
    assert reason(_by_hand(signed().encode(), {})) == "malformed"


@pytest.mark.parametrize(
    ("changes", "now"),
    [
        ({}, NOW + MAX_VALIDITY_DAYS * DAY),  # expired
        ({}, NOW + 10 * MAX_VALIDITY_DAYS * DAY),
        ({}, NOW - 301),  # from the future
        ({"exp": int(NOW) + 31 * DAY}, NOW),  # for too long
        ({"exp": None}, NOW),
        ({"iat": None}, NOW),
        ({"exp": str(int(NOW) + DAY)}, NOW),
        ({"exp": True, "iat": False}, 0.5),
        ({"iat": -5, "exp": 5}, 1.0),
        ({"exp": 1e300}, NOW),
    ],
)
def test_what_does_not_count_now_is_refused(changes: dict[str, Any], now: float) -> None:
    assert reason(forged(claimed(**changes)), now=now) == "date"


def test_it_counts_from_its_first_to_its_last_second() -> None:
    for now in (NOW - 299, NOW, NOW + MAX_VALIDITY_DAYS * DAY - 1):
        assert checked(signed(), now=now).kid == KEY.kid


@pytest.mark.parametrize("agent", ["bank2", "Bank", "", "bank "])
def test_the_manifest_of_another_agent_is_refused(agent: str) -> None:
    assert reason(signed(), agent_id=agent) == "agent"


@pytest.mark.parametrize(
    "place",
    [
        "https://evil.example",
        "http://agent.example",
        "https://agent.example:8443",
        "https://agent.example.evil.example",
        "https://sub.agent.example",
        "https://agent.example@evil.example",
        "local",
        "",
    ],
)
def test_a_copy_at_another_address_is_refused(place: str) -> None:
    assert reason(signed(), origin=origin(place)) == "origin"


@pytest.mark.parametrize("others", [None, {}, {"attend": 5}, {"attend": {"origins": []}}, {"attend": {"origins": "x"}}])
def test_one_that_is_for_no_address_is_refused(others: Any) -> None:
    assert reason(forged(claimed(extensions=others))) in ("origin", "malformed")


def test_a_manifest_without_a_signature_proves_nothing() -> None:
    assert reason(codec.encode(MANIFEST)) == "unsigned"
    assert reason(b"") == "unsigned"


@given(st.data())
def test_no_character_of_it_can_be_changed(data: st.DataObject) -> None:
    text = signed()
    # The last character of a signature has bits that mean nothing.
    place = data.draw(st.integers(0, len(text) - 2))
    other = data.draw(st.sampled_from("ABCxyz019-_.=+/ {\n"))
    if other != text[place]:
        with pytest.raises(ManifestInvalid):
            checked(text[:place] + other + text[place + 1 :])


@given(st.binary(max_size=200) | st.text(max_size=200))
def test_whatever_is_given_is_answered_with_a_reason(junk: bytes | str) -> None:
    with pytest.raises(ManifestInvalid):
        checked(junk)
    with pytest.raises(ManifestInvalid):
        parse_manifest(junk)


@given(
    st.dictionaries(
        st.sampled_from(["alg", "kid", "typ", "jwk", "crit", "b64", "x5c", "zip"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.sampled_from(["ES256", "key-ES256", "aaep-manifest+jws"]),
            lambda one: st.lists(one, max_size=3),
        ),
    ),
    st.binary(max_size=40),
)
def test_whatever_header_is_given_without_the_key_is_refused(header: dict[str, Any], mac: bytes) -> None:
    with pytest.raises(ManifestInvalid):
        checked(f"{part(header)}.{part(claimed())}.{part(mac)}")


def test_deep_nesting_in_a_header_is_refused_and_nothing_else() -> None:
    assert reason(f"{part(b'[' * 3000)}.{part(claimed())}.AA") == "malformed"


def test_the_reason_is_a_plain_sentence_whatever_the_stranger_wrote() -> None:
    bad = "\x1b[2J\u202eevil<b>"
    strange = [forged(claimed(agent_id=bad)), forged(claimed(), kid=bad), _by_hand(claimed(), {"alg": bad})]
    for text in strange:
        with pytest.raises(ManifestInvalid) as error:
            checked(text)
        assert "evil" in str(error.value)
        assert not {"\x1b", "\u202e", "<"} & {*str(error.value)}


# -- another library -----------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_another_library_verifies_what_we_sign(algorithm: Algorithm) -> None:
    key = KEYS[algorithm]
    text = sign_manifest(MANIFEST, key, now=time.time(), origins=[HERE])
    public = jwt.PyJWK(key.to_jwk()).key
    found = jwt.decode(text, public, algorithms=[algorithm], options={"require": ["iat", "exp"]})
    assert found["agent_id"] == "bank"
    assert jwt.get_unverified_header(text)["kid"] == key.kid
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.decode(text, jwt.PyJWK(SigningKey.generate(algorithm).to_jwk()).key, algorithms=[algorithm])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_we_verify_what_another_library_signs(algorithm: Algorithm) -> None:
    assert checked(forged(claimed(), KEYS[algorithm])).algorithm == algorithm


def test_one_without_a_typ_is_taken() -> None:
    """Other producers may not set one; what the payload is says its own type."""
    text = jwt.api_jws.encode(
        json.dumps(claimed()).encode(), pem(KEY), algorithm="ES256", headers={"kid": KEY.kid, "typ": None}
    )
    assert "typ" not in jwt.get_unverified_header(text)
    assert checked(text).kid == KEY.kid


# -- signing again and again -----------------------------------------------------------------


class Clock:
    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


PLACED = codec.replace(MANIFEST, extensions={"attend": {"origins": [HERE]}})


def test_a_signature_is_kept_and_renewed_long_before_it_expires() -> None:
    clock = Clock()
    signer = ManifestSigner(KEY, days=10, wall=clock)
    first = signer(PLACED)
    assert first is not None
    clock.now += 5 * DAY - 1
    assert signer(PLACED) == first
    clock.now += 2
    second = signer(PLACED)
    assert second is not None and second != first
    assert checked(second, now=clock.now).issued_at == int(clock.now)


def test_what_has_changed_is_signed_anew() -> None:
    signer = ManifestSigner(KEY, wall=Clock())
    other = codec.replace(PLACED, transports_supported=("sse", "websocket"))
    assert signer(PLACED) != signer(other)
    assert parse_manifest(str(signer(other))).transports_supported == ("sse", "websocket")


def test_after_the_clock_was_set_back_it_does_not_count_from_the_future() -> None:
    clock = Clock()
    signer = ManifestSigner(KEY, wall=clock)
    signer(PLACED)
    clock.now -= 100 * DAY
    assert checked(str(signer(PLACED)), now=clock.now).issued_at == int(clock.now)


def test_without_an_address_nothing_is_signed() -> None:
    assert ManifestSigner(KEY, wall=Clock())(MANIFEST) is None


# -- keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_key_is_the_same_as_pem_and_as_jwk(algorithm: Algorithm, tmp_path: Path) -> None:
    key = SigningKey.generate(algorithm)
    for name, data in (("k.pem", pem(key)), ("k.json", json.dumps(key.to_jwk(private=True)).encode())):
        path = tmp_path / name
        path.write_bytes(data)
        path.chmod(0o600)
        again = SigningKey.load(path)
        assert (again.kid, again.algorithm) == (key.kid, algorithm)
        assert (
            verify_manifest(signed(again), TrustedKeys([key.public_key]), agent_id="bank", origin=HERE, now=NOW).kid
            == key.kid
        )
    for text in (pem(key, private=False), json.dumps(key.to_jwk()), json.dumps({"keys": [key.to_jwk()]}), pem(key)):
        assert TrustedKeys.parse(text).get(key.kid) is not None


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_public_half_holds_nothing_private(algorithm: Algorithm) -> None:
    key = KEYS[algorithm]
    private = {"d", "p", "q", "dp", "dq", "qi"}
    assert not private & key.to_jwk().keys()
    assert not key.public_key.jose_key.is_private
    found = TrustedKeys.parse(pem(key), kid="k").get("k")
    assert found is not None and not found.jose_key.is_private


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
@pytest.mark.parametrize("mode", [0o604, 0o602, 0o666])
def test_a_private_key_that_others_can_read_is_not_used(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "k.pem"
    path.write_bytes(pem(KEY))
    path.chmod(mode)
    with pytest.raises(KeyUnusable, match="chmod 600"):
        SigningKey.load(path)


def _pem_of(key: Any, password: bytes | None = None) -> bytes:
    hidden = serialization.NoEncryption() if password is None else serialization.BestAvailableEncryption(password)
    kind = serialization.PrivateFormat.PKCS8
    return bytes(key.private_bytes(serialization.Encoding.PEM, kind, hidden))


@pytest.mark.parametrize(
    "text",
    [
        _pem_of(rsa.generate_private_key(65537, 1024)),
        _pem_of(ec.generate_private_key(ec.SECP384R1())),
        _pem_of(ec.generate_private_key(ec.SECP256R1()), b"secret"),
        pem(KEY, private=False),
        b"-----BEGIN NOTHING-----\n",
        b"",
        b"[]",
        b"{}",
        b"5",
        b"\xff\xfe",
        b'{"kty":"oct","k":"c2VjcmV0"}',
        b'{"kty":"RSA","n":"AQAB","e":"AQAB","d":"AQAB"}',
        b'{"kty":"RSA","n":5}',
        _pem_of(x25519.X25519PrivateKey.generate()),
        b'{"kty":"EC","crv":"P-256","x":"AA","y":"AA","d":"AA"}',
        b'{"kty":"EC","crv":"P-256"}',
        b'{"kty":"EC","crv":5,"x":[],"y":{},"d":1}',
        json.dumps({**KEY.to_jwk(private=True), "alg": "ES384"}).encode(),
        json.dumps({**KEY.to_jwk(private=True), "use": "enc"}).encode(),
        json.dumps({**KEY.to_jwk(private=True), "kid": "with space"}).encode(),
        json.dumps({"keys": [KEY.to_jwk(private=True), KEYS["EdDSA"].to_jwk(private=True)]}).encode(),
    ],
)
def test_what_cannot_sign_is_refused_with_a_sentence(text: bytes) -> None:
    with pytest.raises(KeyUnusable) as error:
        SigningKey.parse(text)
    assert str(error.value).endswith(".") or "aaep manifest key new" in str(error.value)


def test_of_a_set_what_is_for_something_else_is_left_alone() -> None:
    others = [{"kty": "oct", "k": "AA"}, {"kty": "EC", "crv": "P-384", "x": "AA", "y": "AA"}, {"kty": "new"}, 5]
    text = json.dumps({"keys": [*others, {**KEYS["RS256"].to_jwk(), "use": "enc"}, KEY.to_jwk()]})
    keys = TrustedKeys.parse(text)
    assert len(keys) == 1 and keys.get(KEY.kid) is not None


@pytest.mark.parametrize("text", ['{"keys":[]}', '{"keys":[{"kty":"oct","k":"AA"}]}', "{}", '{"kty":"oct","k":"AA"}'])
def test_a_file_without_a_usable_key_is_an_error_and_not_an_empty_list(text: str) -> None:
    with pytest.raises(KeyUnusable):
        TrustedKeys.parse(text)


def test_two_keys_of_one_name_are_refused() -> None:
    with pytest.raises(KeyUnusable):
        TrustedKeys.parse(json.dumps({"keys": [KEY.to_jwk(), {**SigningKey.generate().to_jwk(), "kid": KEY.kid}]}))


def test_a_file_that_is_not_there_is_told() -> None:
    with pytest.raises(AaepError, match="nowhere"):
        TrustedKeys.load("nowhere")


# -- addresses and claims ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("HTTPS://Agent.Example:443/path?q#f", "https://agent.example"),
        ("https://agent.example.:8443", "https://agent.example:8443"),
        ("http://localhost:8137", "http://127.0.0.1:8137"),
        ("wss://agent.example/aaep/v1/ws", "wss://agent.example"),
        ("grpcs://agent.example:443", "grpcs://agent.example"),
        ("http://[::1]:80", "http://[::1]"),
        ("asgi+http://127.0.0.1:5", "http://127.0.0.1:5"),
        ("unix:///run/user/1/aaep/x.sock", "local"),
        ("stdio:agent --flag", "local"),
        ("local", "local"),
        ("http://0.0.0.0:8137", ""),
        ("https://[::]:1", ""),
        ("https://host:port", ""),
        ("https://", ""),
        ("agent.example", ""),
    ],
)
def test_where_a_url_leads(url: str, place: str) -> None:
    assert origin(url) == place
    assert origin(place) == place


def test_a_websocket_leads_where_its_http_does() -> None:
    assert same_origin("wss://a.example", "https://a.example")
    assert not same_origin("ws://a.example", "https://a.example")
    assert not same_origin("wss://a.example:1", "https://a.example")
    assert not same_origin("", "")


def test_addresses_that_are_none_are_left_out() -> None:
    given = {"attend": {"origins": [HERE, 5, None, "nonsense", "https://0.0.0.0"]}}
    assert declared_origins(codec.replace(MANIFEST, extensions=given)) == (HERE,)


@pytest.mark.parametrize(
    ("transport", "terms", "fits"),
    [
        ("sse", {}, True),
        (None, {}, True),
        ("websocket", {}, False),
        ("sse", {"supported_conformance_levels": (1, 2)}, True),
        ("sse", {"languages": ("en-GB", "en", "DE")}, True),
        ("sse", {"languages": ("en-US", "ja")}, False),
    ],
)
def test_what_is_granted_has_to_be_what_the_manifest_says(transport: str | None, terms: Any, fits: bool) -> None:
    if fits:
        check_consistency(MANIFEST, transport=transport, terms=Capabilities(**terms))
    else:
        with pytest.raises(ManifestInvalid) as error:
            check_consistency(MANIFEST, transport=transport, terms=Capabilities(**terms))
        assert error.value.reason == "claims"


def test_a_level_that_the_manifest_does_not_list_is_no_level_to_be_granted() -> None:
    low = codec.replace(MANIFEST, conformance_levels_supported=(1,))
    with pytest.raises(ManifestInvalid, match="level 2"):
        check_consistency(low, transport="sse", terms=Capabilities(supported_conformance_levels=(1, 2)))


def test_a_manifest_is_read_signed_or_not() -> None:
    assert not is_signed(b" \n" + codec.encode(MANIFEST)) and not is_signed(b"\xef\xbb\xbf{}")
    assert is_signed(signed()) and is_signed(signed().encode())
    assert (
        parse_manifest(codec.encode(MANIFEST)).agent_id
        == parse_manifest(signed()).agent_id
        == manifests.parse_manifest(signed() + "\n").agent_id
    )
