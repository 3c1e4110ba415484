"""
Bearer tokens: a single static one, or a file of hashed ones. TR-023, CF-140

The file has one JSON object per line. It contains no tokens, only their SHA-256
hashes, which cannot be reversed for 256 random bits: reading the file shows who
has tokens, but not the tokens. As writing it grants access, the file is refused
if other users can read or write it.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from ..errors import AaepError
from ..protocol import timestamps
from ..runtime.files import (
    FileVersion,
    check_folder_safe,
    create_private_folder,
    get_file_version,
    open_regular_file,
    user_state_folder,
)
from .credentials import Credentials, Grant, Unauthenticated, build_grant, validate_nonlocal_principal, validate_roles
from .peer import REPLIER, Peer

__all__ = [
    "StaticToken",
    "TokenEntry",
    "Tokens",
    "add_entry",
    "create_token",
    "default_token_file",
    "read_entries",
    "revoke_token",
    "validate_token",
]

TOKEN_PREFIX: Final = "aaep_"  # so that leaked tokens can be found
MAX_FILE_BYTES: Final = 4 * 1024 * 1024  # bytes
MAX_TOKEN_LENGTH: Final = 4096  # characters
INVALID_TOKEN_MESSAGE: Final = "Send a token of this server in a header: Authorization: Bearer <token>."

_TOKEN_PATTERN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750 §2.1
_HASH_PATTERN: Final = re.compile(r"sha256:[0-9a-f]{64}")

_log: Final = logging.getLogger("aaep.identity")


def validate_token(token: str) -> str:
    """Return a token if it can be sent in a header, or raise :exc:`AaepError`."""
    if not _TOKEN_PATTERN.fullmatch(token) or len(token) > MAX_TOKEN_LENGTH:
        raise AaepError("The token cannot be sent in a header. Make one with secrets.token_urlsafe(32).")
    return token


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


class StaticToken:
    """Accepts a single token that never expires, for trying things out (CF-140, SEC-035)."""

    can_verify_bearer = True
    is_multi_user = False

    def __init__(self, token: str, principal: str = "token", roles: str | Iterable[str] = REPLIER) -> None:
        self._token_hash = _hash_token(validate_token(token))
        self._grant = build_grant((principal, roles))
        _log.warning("A token that never expires is in use. For more than a trial, make tokens with: aaep token new")

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the configured peer for the right token."""
        # In constant time, so that the time of an answer does not reveal how much of a guess was right.
        if not credentials.bearer or not hmac.compare_digest(_hash_token(credentials.bearer), self._token_hash):
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        return self._grant.to_peer(credentials)


# -- token files -----------------------------------------------------------------------------


class TokenEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """A line of a token file. One with unknown members is invalid: they may be restrictions that we would ignore."""

    id: str
    hash: str
    principal: str
    roles: tuple[str, ...]
    expires: str | None = None  # RFC 3339; None: never
    made: str = ""
    note: str = ""

    @property
    def grant(self) -> Grant:
        """The principal and roles of the token."""
        return Grant(validate_nonlocal_principal(self.principal), validate_roles(self.roles))

    @property
    def expires_at(self) -> float | None:
        """When the token expires, in seconds since the epoch, None if never."""
        return None if self.expires is None else timestamps.parse_instant(self.expires)


_entry_decoder: Final = msgspec.json.Decoder(TokenEntry)


def default_token_file() -> Path:
    """Return the path of the token file that is used when none is given."""
    return user_state_folder() / "tokens.jsonl"


def create_token(
    principal: str, roles: str | Iterable[str], *, now: float, lifetime_seconds: float | None, note: str = ""
) -> tuple[str, TokenEntry]:
    """Return a new token, and its entry for a token file."""
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    entry = TokenEntry(
        id="tok_" + secrets.token_hex(4),
        hash="sha256:" + _hash_token(token).hex(),
        principal=validate_nonlocal_principal(principal),
        roles=tuple(sorted(validate_roles(roles))),
        expires=None if lifetime_seconds is None else _format_time(now + lifetime_seconds),
        made=_format_time(now),
        note=note,
    )
    return token, entry


def _format_time(epoch_seconds: float) -> str:
    return datetime.fromtimestamp(epoch_seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def read_entries(path: Path, *, skip_invalid: bool = False) -> list[TokenEntry]:
    """Return the entries of a token file. An invalid line raises, or with ``skip_invalid`` is left out and logged."""
    return _read_file(path, skip_invalid=skip_invalid)[0]


def add_entry(path: Path, entry: TokenEntry) -> None:
    """Add an entry to a token file, which is created if it is missing."""
    create_private_folder(path.parent)
    with _lock_file(path):
        entries = read_entries(path) if path.exists() else []
        _write_file(path, [*entries, entry])


def revoke_token(path: Path, token_id: str) -> TokenEntry:
    """Remove the entry with an id from a token file and return it. Its connections end within seconds."""
    with _lock_file(path):
        entries = read_entries(path)
        revoked = [entry for entry in entries if entry.id == token_id]
        if not revoked:
            raise AaepError(f"There is no token {token_id[:100]!r} in {path}. See: aaep token list")
        _write_file(path, [entry for entry in entries if entry.id != token_id])
    return revoked[0]


def _read_file(path: Path, *, skip_invalid: bool) -> tuple[list[TokenEntry], FileVersion]:
    """Return the entries of a token file, and the version of the file that was read."""
    try:
        with open_regular_file(path) as file:
            file_stat = os.fstat(file.fileno())  # of the open file, which may be replaced meanwhile
            _check_private(path, file_stat)
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise AaepError(f"There is no file of tokens {path}. Make one with: aaep token new") from None
    except OSError as error:
        raise AaepError(f"The file of tokens {path} cannot be read: {error.strerror}.") from error
    if len(data) > MAX_FILE_BYTES:
        raise AaepError(f"The file of tokens {path} is larger than {MAX_FILE_BYTES} bytes. Revoke what is not used.")
    entries = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entries.append(_parse_line(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, AaepError) as error:
            text = f"Line {number} of the file of tokens {path} is not the entry of a token. Take it out."
            if isinstance(error, AaepError):
                text += f" {error}"
            if not skip_invalid:
                raise AaepError(text) from None
            _log.warning("%s Until then it counts for nothing.", text)
    return entries, get_file_version(file_stat)


def _parse_line(line: bytes) -> TokenEntry:
    """Return the entry in a line, or raise if it is invalid."""
    entry = _entry_decoder.decode(line)
    has_invalid_expiry = entry.expires is not None and entry.expires_at is None
    if not entry.id or not _HASH_PATTERN.fullmatch(entry.hash) or has_invalid_expiry:
        raise AaepError("It lacks what an entry needs.")
    validate_nonlocal_principal(entry.principal)
    validate_roles(entry.roles)
    return entry


def _check_private(path: Path, file_stat: os.stat_result) -> None:
    """Raise :exc:`AaepError` if other users can access a token file. It may belong to root."""
    if os.name != "posix":
        return
    if file_stat.st_uid not in (os.geteuid(), 0):
        raise AaepError(f"The file of tokens {path} belongs to another user. Name one of your own.")
    if file_stat.st_mode & 0o077:
        raise AaepError(f"Other users may read or write the file of tokens {path}. Run chmod 600 on it.")


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    """Hold the lock of a token file for the block, so that there is one writer at a time."""
    check_folder_safe(path.parent)
    try:
        import fcntl  # noqa: PLC0415  # not on Windows
    except ImportError:
        yield
        return
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _write_file(path: Path, entries: Iterable[TokenEntry]) -> None:
    """Replace a token file atomically."""
    path = path.resolve()
    temporary_path = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(temporary_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.writelines(msgspec.json.encode(entry) + b"\n" for entry in entries)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary_path, path)
    except BaseException:
        with suppress(FileNotFoundError):  # it has been renamed already
            temporary_path.unlink()
        raise


# -- tokens of a file ------------------------------------------------------------------------


class Tokens:
    """
    Accepts the tokens in a file, which is read again when it changes.

    While the file cannot be used, no token is accepted.
    """

    can_verify_bearer = True

    def __init__(self, path: str | Path, *, wall: Callable[[], float] = time.time) -> None:
        self._path = Path(path)
        self._wall = wall
        self._entries: list[tuple[bytes, TokenEntry]] = []  # each with its hash
        self._file_version: FileVersion = ()
        self._token_ids: frozenset[str] = frozenset()
        self._set_entries(*_read_file(self._path, skip_invalid=False))

    def authenticate(self, credentials: Credentials) -> Peer:
        """Return the peer with the grant of its token, until that expires or is revoked."""
        if not credentials.bearer or len(credentials.bearer) > MAX_TOKEN_LENGTH:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        self._reload_if_changed()
        token_hash = _hash_token(credentials.bearer)
        match = None
        for entry_hash, entry in self._entries:  # all of them, each in constant time
            if hmac.compare_digest(entry_hash, token_hash):
                match = entry
        if match is None:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        if match.expires_at is not None and self._wall() >= match.expires_at:
            raise Unauthenticated("This token has expired. Ask for a new one.")
        peer = match.grant.to_peer(credentials, match.expires_at)
        return msgspec.structs.replace(peer, is_still_valid=partial(self._is_still_valid, match.id))

    def _is_still_valid(self, token_id: str) -> bool:
        self._reload_if_changed()
        return token_id in self._token_ids

    def _reload_if_changed(self) -> None:
        try:
            file_version = get_file_version(os.stat(self._path))
        except OSError:
            file_version = ()
        if file_version == self._file_version and file_version:
            return
        try:
            self._set_entries(*_read_file(self._path, skip_invalid=True))
        except AaepError as error:
            if self._entries or file_version != self._file_version:
                _log.error("Nobody is let in by a token until this is put right: %s", error)
            self._set_entries([], file_version)

    def _set_entries(self, entries: list[TokenEntry], file_version: FileVersion) -> None:
        self._entries = [(bytes.fromhex(entry.hash.removeprefix("sha256:")), entry) for entry in entries]
        self._token_ids = frozenset(entry.id for entry in entries)
        self._file_version = file_version
