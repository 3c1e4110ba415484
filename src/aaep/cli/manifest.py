"""``aaep manifest``: what an agent says of itself, signed and verified."""

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
from ..identity.manifests import ManifestInvalid, is_signed, origins, read
from ..identity.origins import ENCRYPTED, LOCAL_ORIGIN, origin
from ..identity.signatures import MOST_DAYS, Signed, sign, verify
from ..identity.signing_keys import Algorithm, SigningKey, TrustedKeys
from ..protocol.codec import encode
from ..protocol.messages import Manifest
from ..transports.base import transport
from ._command import SETTINGS, CannotRun, Finite, Group, Verb, counted, incoming, jsonl, plain
from ._options import CA, CERT, TOKEN, Own, connecting

__all__ = ["main"]

_KEY_FILE: Final = click.Path(path_type=Path, dir_okay=False)
_PATIENCE: Final = 10.0  # seconds for a manifest that is fetched
_LARGEST: Final = 1 << 20  # bytes (CF-114)


@click.group(
    "manifest",
    cls=Group,
    context_settings=SETTINGS,
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


# -- show ----------------------------------------------------------------------------------


@main.command("show", cls=Verb, example="aaep manifest show http://127.0.0.1:8137")
@click.argument("source", metavar="FILE|URL")
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as one JSON object instead of text.")
@TOKEN
@CA
@CERT
def show(*, source: str, as_json: bool, token: str | None, ca: Path | None, own: Own) -> None:
    """Print what a manifest says. Nothing is verified: aaep manifest verify does that.

    Exits with 2 if there is none, or if it cannot be read.
    """
    raw = _raw(source, token, ca, own)
    manifest = _read(source, raw)
    if as_json:
        sys.stdout.buffer.write(jsonl(json.loads(encode(manifest))))
        return
    for line in _lines(manifest):
        click.echo(line)
    click.echo("It is signed; this does not check by whom." if is_signed(raw) else "It is not signed.")


def _lines(manifest: Manifest) -> Iterator[str]:
    named = "" if manifest.agent_name is UNSET else f", called {manifest.agent_name}"
    version = "" if manifest.agent_version is UNSET else f", version {manifest.agent_version}"
    yield plain(f"Agent: {manifest.agent_id}{named}{version}.")
    yield plain(f"Versions of AAEP: {', '.join(manifest.aaep_versions_supported)}.")
    yield plain(f"Levels: {', '.join(map(str, manifest.conformance_levels_supported))}.")
    yield plain(f"Transports: {', '.join(manifest.transports_supported)}.")
    yield plain(f"Languages: {', '.join(manifest.languages_supported)}.")
    if manifest.extensions_supported is not UNSET and manifest.extensions_supported:
        yield plain(f"Extensions: {', '.join(manifest.extensions_supported)}.")
    if manifest.contact is not UNSET:
        yield plain(f"Contact: {manifest.contact}.")
    if places := origins(manifest):
        yield plain(f"To be found at: {', '.join(places)}.")


# -- sign ----------------------------------------------------------------------------------


@main.command(
    "sign", cls=Verb, example="aaep manifest sign manifest.json --key key.json --origin https://agent.example"
)
@click.argument("source", metavar="FILE|URL")
@click.option("--key", type=_KEY_FILE, required=True, help="The private key, as PEM or JWK.")
@click.option("--kid", default="", help="The key's name. Default: the one in the JWK, or its thumbprint.")
@click.option(
    "--origin",
    "places",
    metavar="URL",
    multiple=True,
    help="An address at which it may be presented. May be repeated. Default: those in the manifest.",
)
@click.option(
    "--days",
    type=Finite(0, MOST_DAYS, min_open=True),
    default=MOST_DAYS,
    metavar="N",
    help=f"For how many days it counts. Default and most: {MOST_DAYS}.",
)
@TOKEN
@CA
@CERT
def sign_(
    *,
    source: str,
    key: Path,
    kid: str,
    places: tuple[str, ...],
    days: float,
    token: str | None,
    ca: Path | None,
    own: Own,
) -> None:
    """Print a manifest as a signed one, a JWS in one line.

    An agent with a signing_key does this by itself, again and again before it expires. Exits with 0 when it was
    signed, and 2 when it could not be.
    """
    raw = _raw(source, token, ca, own)
    try:
        manifest = _read(source, raw)
        found = SigningKey.load(key, kid)
        click.echo(sign(manifest, found, now=time.time(), days=days, origins=places or None))
    except AaepError as error:
        raise CannotRun(str(error)) from error


# -- verify --------------------------------------------------------------------------------


@main.command("verify", cls=Verb, example="aaep manifest verify https://agent.example --keys trusted.json")
@click.argument("source", metavar="FILE|URL")
@click.option("--keys", type=_KEY_FILE, required=True, help="The public keys to trust: a JWK Set, JWK or PEM.")
@click.option("--kid", default="", help="The name of the key, if the file does not give it.")
@click.option("--agent", metavar="ID", help="The agent whose manifest it has to be.")
@click.option("--origin", "place", metavar="URL", help="The address it has to be for. Default: the URL it came from.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
@TOKEN
@CA
@CERT
def verify_(
    *,
    source: str,
    keys: Path,
    kid: str,
    agent: str | None,
    place: str | None,
    as_json: bool,
    token: str | None,
    ca: Path | None,
    own: Own,
) -> int:
    """Check who signed a manifest, for which agent and address, and whether it still counts.

    Exits with 0 when it is all that, 1 when it is not, and 2 when it could not be had or the keys cannot be used.
    """
    try:
        trusted = TrustedKeys.load(keys, kid)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    raw = _raw(source, token, ca, own)
    place = place or (source if _is_url(source) else None)
    try:
        signed = verify(raw, trusted, agent_id=agent, origin=None if place is None else origin(place), now=time.time())
    except ManifestInvalid as error:
        if as_json:
            sys.stdout.buffer.write(jsonl({"verified": False, "reason": error.reason, "message": str(error)}))
        else:
            click.echo(f"Not verified. {plain(str(error))}")
        return 1
    if as_json:
        sys.stdout.buffer.write(jsonl(_found(signed)))
        return 0
    click.echo(plain(f"Verified. This is the manifest of {signed.manifest.agent_id}, signed with {signed.kid}."))
    click.echo(plain(f"It counts until {_date(signed.expires)}, at: {', '.join(signed.origins)}."))
    for line in _unchecked(source, agent, place):
        click.echo(line)
    return 0


def _unchecked(source: str, agent: str | None, place: str | None) -> Iterator[str]:
    """What a person might believe to have been checked."""
    if agent is None:
        yield "Not checked: whether that is the agent you mean. Name it with --agent."
    if place is None:
        yield "Not checked: where it was presented. Name the address with --origin."
    elif _is_url(source) and not origin(source).startswith((*ENCRYPTED, LOCAL_ORIGIN)):
        yield "Not checked: who answered there, for the connection is not encrypted."


def _found(signed: Signed) -> dict[str, Any]:
    return {
        "verified": True,
        "agent_id": signed.manifest.agent_id,
        "kid": signed.kid,
        "algorithm": signed.algorithm,
        "issued": _date(signed.issued),
        "expires": _date(signed.expires),
        "origins": [*signed.origins],
    }


def _date(moment: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


# -- key -----------------------------------------------------------------------------------


@main.group(
    "key",
    cls=Group,
    context_settings=SETTINGS,
    invoke_without_command=True,
    epilog="Example: aaep manifest key new key.json",
)
@click.pass_context
def key_(context: click.Context) -> None:
    """Keys to sign manifests with."""
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


@key_.command("new", cls=Verb, example="aaep manifest key new bank.key.json --kid bank-2026")
@click.argument("file", type=_KEY_FILE)
@click.option(
    "--algorithm",
    type=click.Choice(["ES256", "RS256", "EdDSA"]),
    default="ES256",
    help="What it signs with. Default: ES256.",
)
@click.option("--kid", default="", help="Its name. Default: its thumbprint.")
def new(*, file: Path, algorithm: str, kid: str) -> None:
    """Make a key: the private half in FILE, which you keep, and the public half beside it, for those who listen.

    A FILE that ends in .pem is written as PEM, any other as a JWK. The public half is always a JWK Set. Exits with 2 if
    one of the files is there already: no key is written over.
    """
    pem = file.suffix == ".pem"
    if pem and kid:
        raise CannotRun("A PEM file has no room for a name. Leave --kid out, or choose a name that ends in .json.")
    try:
        key = SigningKey.new(cast(Algorithm, algorithm), kid)
    except AaepError as error:
        raise CannotRun(str(error)) from error
    private = key.jose.as_pem(private=True) if pem else _json(key.jwk(private=True))
    public = file.with_name(f"{file.name.removesuffix('.pem').removesuffix('.json')}.public.json")
    _write(file, private, 0o600)
    try:
        _write(public, _json({"keys": [key.jwk()]}), 0o644)
    except CannotRun:
        file.unlink()  # one half alone would only be in the way of the next try
        raise
    click.echo(f"{plain(str(file))}: the private key. Keep it to yourself.")
    click.echo(f"{plain(str(public))}: the public key. Give it to those who listen.")
    click.echo(f"Its name is {plain(key.kid)}.")


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=2).encode() + b"\n"


def _write(path: Path, data: bytes, mode: int) -> None:
    """Only where nothing is: a key that is overwritten is lost."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(data)
    except FileExistsError as error:
        raise CannotRun(f"{path} exists already and was left as it is. Choose another name.") from error


# -- where a manifest is -------------------------------------------------------------------


def _read(source: str, raw: bytes) -> Manifest:
    try:
        return read(raw)
    except ManifestInvalid as error:
        raise CannotRun(f"{'Standard input' if source == '-' else plain(source)}: {error}") from error


def _is_url(source: str) -> bool:
    return ("://" in source or bool(origin(source))) and not Path(source).exists()


def _raw(source: str, token: str | None, ca: Path | None, own: Own) -> bytes:
    if source == "-":
        raw = incoming().read(_LARGEST + 1)
    elif _is_url(source):
        return _fetched(source, token, ca, own)
    else:
        with Path(source).open("rb") as file:
            raw = file.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise CannotRun(f"{counted(_LARGEST, 'byte')} are the most that a manifest may have.")
    return raw


def _fetched(url: str, token: str | None, ca: Path | None, own: Own) -> bytes:
    settings = connecting(url, token, ca, own)

    async def fetch() -> bytes:
        channel = transport(url).connect(url, **settings)
        try:
            async with asyncio.timeout(_PATIENCE):
                return await channel.manifest()
        finally:
            with suppress(AaepError):  # what was asked for is here, or its own error is on its way
                await channel.close()

    try:
        return asyncio.run(fetch())
    except AaepError as error:
        raise CannotRun(str(error)) from error
    except TimeoutError as error:
        raise CannotRun(f"{url} did not answer in time.") from error
