"""``--ca``: the authority that an encrypted address is to be trusted by."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any, Final

import click

from ._verb import CannotRun, plain

__all__ = ["CA", "trusting"]

CA: Final = click.option(
    "--ca",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The authority of the server's certificate, in PEM format, if this machine does not know it.",
)


def trusting(url: str, ca: Path | None) -> dict[str, Any]:
    """What its transport is given for that: gRPC has its own TLS, and reads the file itself."""
    scheme = url.partition(":")[0].lower()
    if ca is None:
        return {}
    if scheme not in ("https", "wss", "grpcs"):
        raise CannotRun(f"--ca is for an encrypted address, and {plain(url)} is none. Leave it out.")
    try:
        context = ssl.create_default_context(cafile=ca)
    except OSError as error:  # SSLError is one
        raise CannotRun(f"{plain(str(ca))} holds no certificate in PEM format. Give the authority's.") from error
    return {"ca": str(ca)} if scheme == "grpcs" else {"ssl": context}
