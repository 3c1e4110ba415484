"""``aaep manifest``: shown, signed, verified, and the keys for it."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path

import jwt
import pytest
from click.testing import CliRunner, Result

from aaep.cli import main
from aaep.identity.signed_manifests import sign_manifest, verify_manifest
from aaep.identity.signing_keys import SigningKey, TrustedKeys
from aaep.producer.producer import ManifestOptions, Producer
from aaep.protocol import codec
from aaep.protocol.messages import Manifest

HERE = "https://agent.example"
MANIFEST = Manifest(
    agent_id="bank",
    agent_name="Bank \x1b[2J",
    agent_version="1.0",
    aaep_versions_supported=("1.0.0",),
    conformance_levels_supported=(1, 2, 3),
    transports_supported=("sse",),
    languages_supported=("en-US",),
    contact="accessibility@bank.example",
)


def run(*args: str | Path, given: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["manifest", *map(str, args)], input=given)


@pytest.fixture(autouse=True)
def no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AAEP_TOKEN", raising=False)


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "manifest.json"
    path.write_bytes(codec.encode(MANIFEST))
    return path


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "bank.json"
    assert run("key", "new", path, "--kid", "bank-2026").exit_code == 0
    return path


@pytest.fixture
def keys(key: Path) -> Path:
    return key.with_name("bank.public.json")


@pytest.fixture
def signed(plain: Path, key: Path, tmp_path: Path) -> Path:
    path = tmp_path / "manifest.jws"
    path.write_text(run("sign", plain, "--key", key, "--origin", HERE).stdout)
    return path


def test_a_manifest_without_its_type_is_judged_as_a_manifest(tmp_path: Path, plain: Path, key: Path) -> None:
    given = json.loads(plain.read_text())
    del given["type"]
    for rest in ((), ("languages_supported",)):
        for name in rest:
            del given[name]
        plain.write_text(json.dumps(given))
        for result in (run("show", plain), run("sign", plain, "--key", key)):
            assert result.exit_code == 2 and "ENV-" not in result.stderr
            assert "MAN-003: type is missing" in result.stderr
            assert ("MAN-008: languages_supported is missing" in result.stderr) is bool(rest)


def test_the_public_half_is_told_to_be_that(plain: Path, keys: Path) -> None:
    result = run("sign", plain, "--key", keys)
    assert result.exit_code == 2 and "public half" in result.stderr and "chmod" not in result.stderr


# -- keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "EdDSA"])
@pytest.mark.parametrize("name", ["bank.json", "bank.pem", "bank"])
def test_a_new_key_signs_and_its_public_half_verifies(tmp_path: Path, name: str, algorithm: str) -> None:
    file = tmp_path / name
    result = run("key", "new", file, "--algorithm", algorithm)
    assert result.exit_code == 0, result.output
    public = tmp_path / "bank.public.json"
    assert [line.split(":")[0] for line in result.stdout.splitlines()[:2]] == [str(file), str(public)]
    made = SigningKey.load(file)
    assert made.algorithm == algorithm
    assert result.stdout.splitlines()[2] == f"Its name is {made.kid}."
    assert file.read_bytes().startswith(b"-----BEGIN") is (name == "bank.pem")
    text = sign_manifest(MANIFEST, made, now=1000.0, origins=[HERE])
    assert verify_manifest(text, TrustedKeys.load(public), agent_id="bank", origin=HERE, now=1000.0).kid == made.kid
    assert not {"d", "p", "q"} & json.loads(public.read_text())["keys"][0].keys()


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
def test_a_private_key_is_for_its_owner_only(key: Path) -> None:
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_a_key_is_never_overwritten(key: Path, keys: Path, tmp_path: Path) -> None:
    before = key.read_bytes(), keys.read_bytes()
    result = run("key", "new", key)
    assert result.exit_code == 2 and "exists already" in result.stderr
    assert (key.read_bytes(), keys.read_bytes()) == before
    other = tmp_path / "bank"  # its public half would be the one that is there
    assert run("key", "new", other).exit_code == 2
    assert not other.exists()


def test_a_pem_file_has_no_room_for_a_name(tmp_path: Path) -> None:
    assert run("key", "new", tmp_path / "k.pem", "--kid", "x").exit_code == 2
    assert run("key", "new", tmp_path / "k.json", "--kid", "two words").exit_code == 2
    assert [*tmp_path.iterdir()] == []


# -- sign ------------------------------------------------------------------------------------


def test_what_is_signed_is_one_line_that_another_library_verifies(signed: Path, key: Path) -> None:
    text = signed.read_text()
    assert text.count("\n") == 1 and text.endswith("\n")
    public = jwt.PyJWK(SigningKey.load(key).to_jwk()).key
    found = jwt.decode(text.strip(), public, algorithms=["ES256"])
    assert found["agent_id"] == "bank" and found["exp"] - found["iat"] == 30 * 86_400
    assert jwt.get_unverified_header(text.strip())["kid"] == "bank-2026"


def test_days_and_name_can_be_chosen(plain: Path, key: Path) -> None:
    text = run("sign", plain, "--key", key, "--origin", HERE, "--days", "1.5", "--kid", "other").stdout.strip()
    found = jwt.decode(text, options={"verify_signature": False})
    assert found["exp"] - found["iat"] == 129_600
    assert jwt.get_unverified_header(text)["kid"] == "other"


def test_from_standard_input(plain: Path, key: Path, keys: Path) -> None:
    made = run("sign", "-", "--key", key, "--origin", HERE, given=plain.read_bytes())
    assert made.exit_code == 0
    assert run("verify", "-", "--keys", keys, given=made.stdout_bytes).exit_code == 0


@pytest.mark.parametrize(
    "more",
    [
        [],  # no address
        ["--origin", "nonsense"],
        ["--origin", HERE, "--days", "31"],
        ["--origin", HERE, "--days", "0"],
        ["--origin", HERE, "--kid", "two words"],
    ],
)
def test_what_cannot_be_signed_is_told_in_one_line(plain: Path, key: Path, more: list[str]) -> None:
    result = run("sign", plain, "--key", key, *more)
    assert result.exit_code == 2
    assert result.stdout == "" and result.stderr.count("\n") == 1


def test_what_is_no_manifest_or_no_private_key_is_not_signed(plain: Path, key: Path, keys: Path) -> None:
    assert run("sign", "-", "--key", key, "--origin", HERE, given=b'{"type":"x"}').exit_code == 2
    assert run("sign", plain, "--key", keys, "--origin", HERE).exit_code == 2
    assert run("sign", plain, "--key", plain, "--origin", HERE).exit_code == 2
    assert run("sign", plain, "--key", plain.with_name("nowhere"), "--origin", HERE).exit_code == 2


# -- verify ----------------------------------------------------------------------------------


def test_what_was_checked_and_what_was_not_is_told(signed: Path, keys: Path) -> None:
    result = run("verify", signed, "--keys", keys)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == "Verified. This is the manifest of bank, signed with bank-2026."
    assert lines[1].endswith(f"at: {HERE}.")
    assert [line[:12] for line in lines[2:]] == ["Not checked:"] * 2
    result = run("verify", signed, "--keys", keys, "--agent", "bank", "--origin", f"{HERE}/path")
    assert result.exit_code == 0 and len(result.stdout.splitlines()) == 2


@pytest.mark.parametrize(
    ("more", "reason"),
    [(["--agent", "other"], "agent"), (["--origin", "https://evil.example"], "origin"), (["--origin", "x"], "origin")],
)
def test_what_does_not_fit_is_found(signed: Path, keys: Path, more: list[str], reason: str) -> None:
    result = run("verify", signed, "--keys", keys, *more)
    assert result.exit_code == 1 and result.stdout.startswith("Not verified. ")
    result = run("verify", signed, "--keys", keys, *more, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["reason"] == reason


def test_what_is_unsigned_tampered_with_old_or_a_strangers_is_found(
    plain: Path, signed: Path, key: Path, keys: Path, tmp_path: Path
) -> None:
    def why(text: bytes) -> str:
        result = run("verify", "-", "--keys", keys, "--json", given=text)
        assert result.exit_code == 1
        return str(json.loads(result.stdout)["reason"])

    assert why(plain.read_bytes()) == "unsigned"
    head, body, mac = signed.read_text().strip().split(".")
    assert why(f"{head}.{body[:-4]}AAAA.{mac}".encode()) == "signature"
    old = sign_manifest(MANIFEST, SigningKey.load(key), now=time.time() - 31 * 86_400, origins=[HERE])
    assert why(old.encode()) == "date"
    assert why(sign_manifest(MANIFEST, SigningKey.generate(), now=time.time(), origins=[HERE]).encode()) == "key"


def test_the_json_says_what_was_verified(signed: Path, keys: Path) -> None:
    found = json.loads(run("verify", signed, "--keys", keys, "--json").stdout)
    assert found["verified"] is True
    assert (found["agent_id"], found["kid"], found["algorithm"]) == ("bank", "bank-2026", "ES256")
    assert found["origins"] == [HERE] and found["issued"] < found["expires"]


def test_without_usable_keys_it_cannot_run(signed: Path, plain: Path) -> None:
    assert run("verify", signed, "--keys", plain).exit_code == 2
    assert run("verify", signed, "--keys", plain.with_name("nowhere")).exit_code == 2
    assert run("verify", signed).exit_code == 2


# -- show, and running agents ----------------------------------------------------------------


def test_what_a_manifest_says_is_shown_a_line_each_and_safe_to_print(plain: Path, signed: Path) -> None:
    first, second = run("show", plain).stdout, run("show", signed).stdout
    assert first.splitlines()[0] == "Agent: bank, called Bank \\u001b[2J, version 1.0."
    assert first.splitlines()[-1] == "It is not signed."
    assert f"To be found at: {HERE}." in second.splitlines()
    assert second.splitlines()[-1] == "It is signed; this does not check by whom."
    assert "\x1b" not in first + second


def test_a_file_that_is_not_what_it_should_be_is_named(plain: Path, key: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text('"a text"')
    wrong: list[list[str | Path]] = [["show", other], ["sign", other, "--key", key], ["sign", plain, "--key", other]]
    for words in wrong:
        told = run(*words)
        assert told.exit_code == 2 and told.stderr.startswith(f"aaep: {other}: This "), told.stderr
    told = run("verify", plain, "--keys", other)
    assert told.exit_code == 2 and told.stderr.startswith(f"aaep: {other}: This JSON is no JWK and no JWK Set.")


def test_as_json_it_is_the_manifest(plain: Path, signed: Path) -> None:
    assert json.loads(run("show", plain, "--json").stdout) == json.loads(codec.encode(MANIFEST))
    assert json.loads(run("show", signed, "--json").stdout)["agent_id"] == "bank"


@pytest.mark.parametrize("text", [b"", b"{}", b"<html>", b"a.b.c", b"\xff", b'{"type":"subscription.close"}'])
def test_what_is_no_manifest_cannot_be_shown(text: bytes) -> None:
    result = run("show", "-", given=text)
    assert result.exit_code == 2
    assert result.stdout == "" and result.stderr.count("\n") == 1


def test_a_running_agent_is_shown_and_verified(key: Path, keys: Path) -> None:
    with Producer(
        "bank", listen="http://127.0.0.1:0", journal=None, manifest=ManifestOptions(signing_key=key)
    ) as producer:
        (url,) = producer.addresses
        assert run("show", url).stdout.splitlines()[-1] == "It is signed; this does not check by whom."
        result = run("verify", url, "--keys", keys, "--agent", "bank")
        assert result.exit_code == 0
        lines = result.stdout.splitlines()
        assert lines[-1] == "Not checked: who answered there, for the connection is not encrypted."
        other = run("verify", url, "--keys", keys, "--origin", HERE)
        assert other.exit_code == 1 and "It may be a copy." in other.stdout
    result = run("show", url)
    assert result.exit_code == 2 and "Nobody answers" in result.stderr


@pytest.mark.parametrize("args", [[], ["key"]])
def test_alone_it_says_what_there_is(args: list[str]) -> None:
    result = run(*args)
    assert result.exit_code == 0 and "Usage: " in result.stdout


@pytest.mark.parametrize("url", ["http://[::1", "gopher://127.0.0.1"])
def test_an_address_that_is_none_is_not_taken_for_a_file(url: str) -> None:
    result = run("show", url)
    assert result.exit_code == 2 and "No such file" not in result.stderr and url in result.stderr
