"""The options that several commands share: ``--language``, and ``--token``, ``--cert`` and ``--ca`` for credentials."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import click

from ..identity.credentials import Certificates, First, Grant, Identity, validate_nonlocal_principal, validate_roles
from ..identity.origins import ENCRYPTED, scheme_of
from ..transports.options import ConnectOptions, Tls
from ._command import CannotRun, LanguageTagType, to_printable

__all__ = [
    "CA_OPTION",
    "CERT_OPTION",
    "LANGUAGE_OPTION",
    "TOKEN_OPTION",
    "ClientCertificate",
    "build_all_connect_options",
    "build_connect_options",
    "build_identity",
    "silence_logging",
]

ClientCertificate = tuple[Path, Path] | None  # the certificate and its key


class _RegularFileType(click.Path):
    """A parameter type for regular files, because OpenSSL would wait for ever for input from a pipe."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path, or fail if it is not a regular file."""
        path: Any = super().convert(value, param, ctx)
        if not Path(path).is_file():
            self.fail(f"{to_printable(str(path))!r} is no regular file, and one is needed.", param, ctx)
        return path


_REGULAR_FILE: Final = _RegularFileType(exists=True, dir_okay=False, path_type=Path)

LANGUAGE_OPTION: Final = click.option(
    "--language",
    "languages",
    type=LanguageTagType(),
    multiple=True,
    help="The languages you want, the best first, such as yo-NG,en. Default: your settings, else those of the system.",
)
TOKEN_OPTION: Final = click.option(
    "--token", envvar="AAEP_TOKEN", help="The bearer token to show. Better set AAEP_TOKEN: others see options."
)
CA_OPTION: Final = click.option(
    "--ca",
    metavar="FILE",
    type=_REGULAR_FILE,
    help="The authority of the server's certificate, in PEM format, if this machine does not know it.",
)
CERT_OPTION: Final = click.option(
    "--cert",
    "own",
    type=(_REGULAR_FILE, _REGULAR_FILE),
    metavar="FILE KEYFILE",
    help="A certificate that shows who you are, and its key, in PEM format.",
)


class _AgentOutputHandler(logging.Handler):
    """A log handler that shows what an agent prints between its messages (STDIO-011) on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a log message on standard error."""
        click.echo(to_printable(record.getMessage()), err=True)


_AGENT_OUTPUT_HANDLER: Final = _AgentOutputHandler(logging.WARNING)


def silence_logging() -> None:
    """Show no log messages of the library, except for the output of agents; the command prints what matters itself."""
    logging.getLogger("aaep").addHandler(logging.NullHandler())
    logging.getLogger("aaep.stdio").addHandler(_AGENT_OUTPUT_HANDLER)


def build_connect_options(url: str, token: str | None, ca: Path | None, own: ClientCertificate) -> ConnectOptions:
    """Return the options of a connection to a URL."""
    # Pipes and Unix sockets take no token: there the system says who connects.
    is_local = scheme_of(url) in ("stdio", "unix")
    return ConnectOptions(token=None if is_local else token, tls=_build_tls(url, ca, own))


def build_all_connect_options(
    urls: Iterable[str], token: str | None, ca: Path | None, own: ClientCertificate
) -> dict[str, ConnectOptions]:
    """Return the options of connections to several URLs, each of which is connected to once."""
    each = [*dict.fromkeys(urls)]
    takers = [url for url in each if scheme_of(url) not in ("stdio", "unix")]
    if token is not None and len(takers) > 1:  # whoever gets a token that is for another could use it
        named = " or ".join(to_printable(url) for url in takers)
        raise CannotRun(f"Whose is the token, {named}? Listen to each of them by itself, or to one hub for all.")
    encrypted = [url for url in each if scheme_of(url) in ENCRYPTED]
    options: dict[str, ConnectOptions] = {}
    for url in each:
        has_tls = url in encrypted or not encrypted  # without any, the error says so
        options[url] = build_connect_options(url, token, ca if has_tls else None, own if has_tls else None)
    return options


def _build_tls(url: str, ca: Path | None, own: ClientCertificate) -> Tls | None:
    if ca is None and own is None:
        return None
    if scheme_of(url) not in ENCRYPTED:
        option = "--cert" if ca is None else "--ca"
        raise CannotRun(f"{option} is for an encrypted address, and {to_printable(url)} is none. Leave it out.")
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:  # SSLError is one
        raise CannotRun(f"{to_printable(str(ca))} holds no certificate in PEM format. Give the authority's.") from error
    if own is not None:
        try:
            context.load_cert_chain(*own)
        except OSError as error:
            files = " and ".join(to_printable(str(file)) for file in own)
            raise CannotRun(f"{files} are not a certificate and its key in PEM format.") from error
    if scheme_of(url) != "grpcs":
        return Tls(context=context)
    cert, key = (None, None) if own is None else (str(own[0]), str(own[1]))
    return Tls(ca=None if ca is None else str(ca), cert=cert, key=key)  # gRPC reads the files itself


# -- identities of a hub -------------------------------------------------------------------


def build_identity(
    tokens: str | None, jwks: str | None, issuer: str, audience: str, certificates: Iterable[tuple[str, str, str]]
) -> Identity | None:
    """Return the identity of a hub, which tries tokens before certificates; None if no option asks for one."""
    if (issuer or audience) and jwks is None:
        raise CannotRun("--issuer and --audience are for signed tokens. Give the keys they are signed with: --jwks")
    known: list[Identity] = []
    if tokens is not None:
        from ..identity.tokens import Tokens  # noqa: PLC0415  # loaded only if it is needed

        known.append(Tokens(tokens))
    if jwks is not None:
        from ..identity.jwt import Jwt  # noqa: PLC0415  # it brings in the JOSE library, which few need

        known.append(Jwt(jwks, issuer=issuer, audience=audience))
    if named := _build_grants(certificates):
        known.append(Certificates(named))
    return First(*known) if len(known) > 1 else next(iter(known), None)


def _build_grants(certificates: Iterable[tuple[str, str, str]]) -> dict[str, Grant]:
    """Return a grant for each certificate name, with all the roles that were given to it."""
    found: dict[str, Grant] = {}
    for name, principal, role in certificates:
        before = found.get(name, Grant(validate_nonlocal_principal(principal), frozenset()))
        if before.principal != principal:
            raise CannotRun(f"{name!r} cannot be both {before.principal!r} and {principal!r}. Name one of them.")
        found[name] = Grant(principal, validate_roles({*before.roles, role}))
    return found
