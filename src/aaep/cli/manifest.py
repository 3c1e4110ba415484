"""``aaep manifest``: print, sign and verify the manifest of an agent."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import click
from msgspec import UNSET

from ..errors import AaepError
from ..identity.manifests import ManifestInvalid, declared_origins, is_signed, parse_manifest
from ..identity.origins import ENCRYPTED, LOCAL_ORIGIN, origin
from ..identity.signed_manifests import MAX_VALIDITY_DAYS, VerifiedManifest, sign_manifest, verify_manifest
from ..identity.signing_keys import Algorithm, SigningKey, TrustedKeys
from ..protocol.codec import encode
from ..protocol.messages import Manifest
from ..transports.base import connect
from ._command import (
    CONTEXT_SETTINGS,
    AaepCommand,
    CannotRun,
    CommandGroup,
    FiniteRange,
    format_count,
    open_stdin,
    to_json_line,
    to_printable,
)
from ._options import CA_OPTION, CERT_OPTION, TOKEN_OPTION, ClientCertificate, build_connect_options

__all__ = ["main"]

_KEY_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_FETCH_TIMEOUT: Final = 10.0  # seconds
_MAX_MANIFEST_BYTES: Final = 1 << 20  # bytes (CF-114)


@click.group(
    "manifest",
    cls=CommandGroup,
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep manifest show http://127.0.0.1:8137",
)
@click.pass_context
def main(context: click.Context) -> None:
    """See, sign and verify what an agent says of itself.

    A manifest is a FILE, - for standard input, or the URL of a running agent.
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


# -- aaep manifest show --------------------------------------------------------------------


@main.command("show", cls=AaepCommand, example="aaep manifest show http://127.0.0.1:8137")
@click.argument("source", metavar="FILE|URL")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as one JSON object instead of text.")
@TOKEN_OPTION
@CA_OPTION
@CERT_OPTION
def show(*, source: str, as_json: bool, token: str | None, ca: Path | None, own: ClientCertificate) -> None:
    """Print what a manifest says. Nothing is verified: aaep manifest verify does that.

    Exits with 2 if there is none, or if it cannot be read.
    """
    raw = _load_raw(source, token, ca, own)
    manifest = _read_manifest(source, raw)
    if as_json:
        sys.stdout.buffer.write(to_json_line(json.loads(encode(manifest))))
        return
    for line in _format_manifest(manifest):
        click.echo(line)
    click.echo("It is signed; this does not check by whom." if is_signed(raw) else "It is not signed.")


def _format_manifest(manifest: Manifest) -> Iterator[str]:
    name = "" if manifest.agent_name is UNSET else f", called {manifest.agent_name}"
    version = "" if manifest.agent_version is UNSET else f", version {manifest.agent_version}"
    yield to_printable(f"Agent: {manifest.agent_id}{name}{version}.")
    yield to_printable(f"Versions of AAEP: {', '.join(manifest.aaep_versions_supported)}.")
    yield to_printable(f"Levels: {', '.join(map(str, manifest.conformance_levels_supported))}.")
    yield to_printable(f"Transports: {', '.join(manifest.transports_supported)}.")
    yield to_printable(f"Languages: {', '.join(manifest.languages_supported)}.")
    if manifest.extensions_supported is not UNSET and manifest.extensions_supported:
        yield to_printable(f"Extensions: {', '.join(manifest.extensions_supported)}.")
    if manifest.contact is not UNSET:
        yield to_printable(f"Contact: {manifest.contact}.")
    if origins := declared_origins(manifest):
        yield to_printable(f"To be found at: {', '.join(origins)}.")


# -- aaep manifest sign --------------------------------------------------------------------


@main.command(
    "sign", cls=AaepCommand, example="aaep manifest sign manifest.json --key key.json --origin https://agent.example"
)
@click.argument("source", metavar="FILE|URL")
@click.option("--key", type=_KEY_FILE, required=True, help="The private key, as PEM or JWK.")
@click.option("--kid", default="", help="The key's name. Default: the one in the JWK, or its thumbprint.")
@click.option(
    "--origin",
    "origins",
    metavar="URL",
    multiple=True,
    help="An address at which it may be presented. May be repeated. Default: those in the manifest.",
)
@click.option(
    "--days",
    type=FiniteRange(0, MAX_VALIDITY_DAYS, min_open=True),
    default=MAX_VALIDITY_DAYS,
    metavar="N",
    help=f"For how many days it counts. Default and most: {MAX_VALIDITY_DAYS}.",
)
@TOKEN_OPTION
@CA_OPTION
@CERT_OPTION
def sign_command(
    *,
    source: str,
    key: Path,
    kid: str,
    origins: tuple[str, ...],
    days: float,
    token: str | None,
    ca: Path | None,
    own: ClientCertificate,
) -> None:
    """Print a manifest as a signed one, a JWS in one line.

    An agent with a signing_key does this by itself, again and again before it expires. Exits with 0 when it was
    signed, and 2 when it could not be.
    """
    raw = _load_raw(source, token, ca, own)
    try:
        manifest = _read_manifest(source, raw)
        signing_key = SigningKey.load(key, kid)
        click.echo(sign_manifest(manifest, signing_key, now=time.time(), days=days, origins=origins or None))
    except AaepError as error:
        raise CannotRun(str(error)) from error


# -- aaep manifest verify ------------------------------------------------------------------


@main.command("verify", cls=AaepCommand, example="aaep manifest verify https://agent.example --keys trusted.json")
@click.argument("source", metavar="FILE|URL")
@click.option("--keys", type=_KEY_FILE, required=True, help="The public keys to trust: a JWK Set, JWK or PEM.")
@click.option("--kid", default="", help="The name of the key, if the file does not give it.")
@click.option("--agent", "agent_id", metavar="ID", help="The agent whose manifest it has to be.")
@click.option("--origin", "url", metavar="URL", help="The address it has to be for. Default: the URL it came from.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@TOKEN_OPTION
@CA_OPTION
@CERT_OPTION
def verify_command(
    *,
    source: str,
    keys: Path,
    kid: str,
    agent_id: str | None,
    url: str | None,
    as_json: bool,
    token: str | None,
    ca: Path | None,
    own: ClientCertificate,
) -> int:
    """Check who signed a manifest, for which agent and address, and whether it still counts.

    Exits with 0 when it is all that, 1 when it is not, and 2 when it could not be had or the keys cannot be used.
    """
    try:
        trusted = TrustedKeys.load(keys, kid)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    raw = _load_raw(source, token, ca, own)
    url = url or (source if _is_url(source) else None)
    expected_origin = None if url is None else origin(url)
    try:
        verified = verify_manifest(raw, trusted, agent_id=agent_id, origin=expected_origin, now=time.time())
    except ManifestInvalid as error:
        if as_json:
            sys.stdout.buffer.write(to_json_line({"verified": False, "reason": error.reason, "message": str(error)}))
        else:
            click.echo(f"Not verified. {to_printable(str(error))}")
        return 1
    if as_json:
        sys.stdout.buffer.write(to_json_line(_verified_to_dict(verified)))
        return 0
    agent = verified.manifest.agent_id
    click.echo(to_printable(f"Verified. This is the manifest of {agent}, signed with {verified.kid}."))
    click.echo(to_printable(f"It counts until {_format_time(verified.expires_at)}, at: {', '.join(verified.origins)}."))
    for line in _list_unchecked(source, agent_id, url):
        click.echo(line)
    return 0


def _list_unchecked(source: str, agent_id: str | None, url: str | None) -> Iterator[str]:
    """Yield sentences about what was not checked, though a person might believe so."""
    if agent_id is None:
        yield "Not checked: whether that is the agent you mean. Name it with --agent."
    if url is None:
        yield "Not checked: where it was presented. Name the address with --origin."
    elif _is_url(source) and not origin(source).startswith((*ENCRYPTED, LOCAL_ORIGIN)):
        yield "Not checked: who answered there, for the connection is not encrypted."


def _verified_to_dict(verified: VerifiedManifest) -> dict[str, Any]:
    return {
        "verified": True,
        "agent_id": verified.manifest.agent_id,
        "kid": verified.kid,
        "algorithm": verified.algorithm,
        "issued": _format_time(verified.issued_at),
        "expires": _format_time(verified.expires_at),
        "origins": [*verified.origins],
    }


def _format_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


# -- aaep manifest key ---------------------------------------------------------------------


@main.group(
    "key",
    cls=CommandGroup,
    context_settings=CONTEXT_SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep manifest key new key.json",
)
@click.pass_context
def key_group(context: click.Context) -> None:
    """Keys to sign manifests with."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@key_group.command("new", cls=AaepCommand, example="aaep manifest key new bank.key.json --kid bank-2026")
@click.argument("file", type=_KEY_FILE)
@click.option(
    "--algorithm",
    type=click.Choice(["ES256", "RS256", "EdDSA"]),
    default="ES256",
    help="What it signs with. Default: ES256.",
)
@click.option("--kid", default="", help="Its name. Default: its thumbprint.")
def new_key(*, file: Path, algorithm: str, kid: str) -> None:
    """Make a key: the private half in FILE, which you keep, and the public half beside it, for those who listen.

    A FILE that ends in .pem is written as PEM, any other as a JWK. The public half is always a JWK Set. Exits with 2 if
    one of the files is there already: no key is written over.
    """
    is_pem = file.suffix == ".pem"
    if is_pem and kid:
        raise CannotRun("A PEM file has no room for a name. Leave --kid out, or choose a name that ends in .json.")
    try:
        key = SigningKey.generate(cast(Algorithm, algorithm), kid)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    private_data = key.jose_key.as_pem(private=True) if is_pem else _to_json(key.to_jwk(private=True))
    public_file = file.with_name(f"{file.name.removesuffix('.pem').removesuffix('.json')}.public.json")
    _write_new_file(file, private_data, 0o600)
    try:
        _write_new_file(public_file, _to_json({"keys": [key.to_jwk()]}), 0o644)
    except CannotRun:
        file.unlink()  # one half alone would make the next attempt fail
        raise
    click.echo(f"{to_printable(str(file))}: the private key. Keep it to yourself.")
    click.echo(f"{to_printable(str(public_file))}: the public key. Give it to those who listen.")
    click.echo(f"Its name is {to_printable(key.kid)}.")


def _to_json(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _write_new_file(path: Path, data: bytes, mode: int) -> None:
    """Write a file that does not exist yet; a key that is overwritten would be lost."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
    except FileExistsError as error:
        raise CannotRun(f"{path} exists already and was left as it is. Choose another name.") from error


# -- reading and fetching manifests --------------------------------------------------------


def _read_manifest(source: str, raw: bytes) -> Manifest:
    try:
        return parse_manifest(raw)
    except ManifestInvalid as error:
        raise CannotRun(f"{'Standard input' if source == '-' else to_printable(source)}: {error}") from error


def _is_url(source: str) -> bool:
    return ("://" in source or bool(origin(source))) and not Path(source).exists()


def _load_raw(source: str, token: str | None, ca: Path | None, own: ClientCertificate) -> bytes:
    """Return the bytes of a manifest from standard input, a URL or a file."""
    if source == "-":
        raw = open_stdin().read(_MAX_MANIFEST_BYTES + 1)
    elif _is_url(source):
        return _fetch(source, token, ca, own)
    else:
        with Path(source).open("rb") as file:
            raw = file.read(_MAX_MANIFEST_BYTES + 1)
    if len(raw) > _MAX_MANIFEST_BYTES:
        raise CannotRun(f"{format_count(_MAX_MANIFEST_BYTES, 'byte')} are the most that a manifest may have.")
    return raw


def _fetch(url: str, token: str | None, ca: Path | None, own: ClientCertificate) -> bytes:
    options = build_connect_options(url, token, ca, own)

    async def fetch() -> bytes:
        channel = connect(url, options)
        try:
            async with asyncio.timeout(_FETCH_TIMEOUT):
                return await channel.manifest()
        finally:
            with suppress(AaepError):  # the manifest has been received, or its own error is raised already
                await channel.close()

    try:
        return asyncio.run(fetch())
    except AaepError as error:
        raise CannotRun(str(error)) from error
    except TimeoutError as error:
        raise CannotRun(f"{url} did not answer in time.") from error
