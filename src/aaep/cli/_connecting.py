"""``--token`` and ``--ca``: what a command shows of who it is, and the authority that it trusts a server by."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any, Final

import click

from ..claims import ENCRYPTED
from ._verb import CannotRun, plain

__all__ = ["CA", "TOKEN", "bearer", "connecting"]

TOKEN: Final = click.option(
    "--token", envvar="AAEP_TOKEN", help="The bearer token to show. Better set AAEP_TOKEN: others see options."
)
CA: Final = click.option(
    "--ca",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The authority of the server's certificate, in PEM format, if this machine does not know it.",
)


def connecting(url: str, token: str | None, ca: Path | None) -> dict[str, Any]:
    """What the transport of a URL is given for both."""
    return bearer(url, token) | _trusting(url, ca)


def bearer(url: str, token: str | None) -> dict[str, Any]:
    """A token as a transport takes it. Pipes and Unix sockets take none: there the system says who it is."""
    return {} if token is None or _scheme(url) in ("stdio", "unix") else {"token": token}


def _trusting(url: str, ca: Path | None) -> dict[str, Any]:
    """gRPC has its own TLS, and reads the file itself."""
    if ca is None:
        return {}
    if _scheme(url) not in ENCRYPTED:
        raise CannotRun(f"--ca is for an encrypted address, and {plain(url)} is none. Leave it out.")
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:  # SSLError is one
        raise CannotRun(f"{plain(str(ca))} holds no certificate in PEM format. Give the authority's.") from error
    return {"ca": str(ca)} if _scheme(url) == "grpcs" else {"ssl": context}


def _scheme(url: str) -> str:
    return url.partition(":")[0].lower()  # that it may be no URL at all is told elsewhere
