"""Who may come to a hub, as the options of ``aaep serve`` say it."""

from __future__ import annotations

from collections.abc import Iterable

from ..identity.credentials import Certificates, First, Grant, Identity, as_roles, as_stranger
from ._command import CannotRun

__all__ = ["identity"]


def identity(
    tokens: str | None, jwks: str | None, issuer: str, audience: str, certificates: Iterable[tuple[str, str, str]]
) -> Identity | None:
    """Who is let in; None if that is not said. A token that is shown counts before a certificate."""
    if (issuer or audience) and jwks is None:
        raise CannotRun("--issuer and --audience are for signed tokens. Give the keys they are signed with: --jwks")
    known: list[Identity] = []
    if tokens is not None:
        from ..identity.tokens import Tokens  # noqa: PLC0415  # only where there are any

        known.append(Tokens(tokens))
    if jwks is not None:
        from ..identity.jwt import Jwt  # noqa: PLC0415  # it brings in the JOSE library, which few need

        known.append(Jwt(jwks, issuer=issuer, audience=audience))
    if named := _named(certificates):
        known.append(Certificates(named))
    return First(*known) if len(known) > 1 else next(iter(known), None)


def _named(certificates: Iterable[tuple[str, str, str]]) -> dict[str, Grant]:
    """The holders of certificates, each with all the roles that were given to it."""
    found: dict[str, Grant] = {}
    for name, principal, role in certificates:
        before = found.get(name, Grant(as_stranger(principal), frozenset()))
        if before.principal != principal:
            raise CannotRun(f"{name!r} cannot be both {before.principal!r} and {principal!r}. Name one of them.")
        found[name] = Grant(principal, as_roles({*before.roles, role}))
    return found
