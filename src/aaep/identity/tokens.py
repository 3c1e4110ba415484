"""
Bearer tokens: one that is given, or a file of them, hashed. TR-023, CF-140

The file has one JSON object per line. It holds no token, only what is left of
each by SHA-256, which cannot be turned back for 256 random bits; so who reads
the file learns who has tokens, and cannot use them. Who can write it can let
themselves in: it is refused if other users can do either.
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
from ..runtime.files import check_folder_safe, create_private_folder, open_regular_file, user_state_folder
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

TOKEN_PREFIX: Final = "aaep_"  # so that a token that got somewhere it should not be is found
MAX_FILE_BYTES: Final = 4 * 1024 * 1024  # bytes of a file
MAX_TOKEN_LENGTH: Final = 4096  # characters of a token
INVALID_TOKEN_MESSAGE: Final = "Send a token of this server in a header: Authorization: Bearer <token>."

_TOKEN_PATTERN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750 §2.1
_HASH_PATTERN: Final = re.compile(r"sha256:[0-9a-f]{64}")

_log: Final = logging.getLogger("aaep.identity")


def validate_token(token: str) -> str:
    """A token, if a header can carry it."""
    if not _TOKEN_PATTERN.fullmatch(token) or len(token) > MAX_TOKEN_LENGTH:
        raise AaepError("The token cannot be sent in a header. Make one with secrets.token_urlsafe(32).")
    return token


def _hash_token(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


class StaticToken:
    """One token, for one person. It never expires, so it is for trying things out (CF-140, SEC-035)."""

    can_verify_bearer = True
    is_multi_user = False

    def __init__(self, token: str, principal: str = "token", roles: str | Iterable[str] = REPLIER) -> None:
        self._token_hash = _hash_token(validate_token(token))
        self._grant = build_grant((principal, roles))
        _log.warning("A token that never expires is in use. For more than a trial, make tokens with: aaep token new")

    def authenticate(self, credentials: Credentials) -> Peer:
        # In constant time, so that the time of an answer does not tell how much of a guess was right.
        if not credentials.bearer or not hmac.compare_digest(_hash_token(credentials.bearer), self._token_hash):
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        return self._grant.to_peer(credentials)


# -- the file --------------------------------------------------------------------------------


class TokenEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One line. A member that is not known may be a limit that is not kept, so such a line counts for nothing."""

    id: str
    hash: str
    principal: str
    roles: tuple[str, ...]
    expires: str | None = None  # RFC 3339; without, never
    made: str = ""
    note: str = ""

    @property
    def grant(self) -> Grant:
        return Grant(validate_nonlocal_principal(self.principal), validate_roles(self.roles))

    @property
    def expires_at(self) -> float | None:
        """When it expires, in seconds since the epoch."""
        return None if self.expires is None else timestamps.parse_instant(self.expires)


_entry_decoder: Final = msgspec.json.Decoder(TokenEntry)


def default_token_file() -> Path:
    """Where tokens are when no file is named."""
    return user_state_folder() / "tokens.jsonl"


def create_token(
    principal: str, roles: str | Iterable[str], *, now: float, lifetime_seconds: float | None, note: str = ""
) -> tuple[str, TokenEntry]:
    """A new token, and what is kept of it."""
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
    """What a file holds. A line that cannot be used is an error, or with ``skip`` is left out and logged."""
    return _read_file(path, skip_invalid=skip_invalid)[0]


def add_entry(path: Path, entry: TokenEntry) -> None:
    """Write an entry to a file, which is made if there is none."""
    create_private_folder(path.parent)
    with _lock_file(path):
        known = read_entries(path) if path.exists() else []
        _write_file(path, [*known, entry])


def revoke_token(path: Path, token_id: str) -> TokenEntry:
    """Take an entry out of a file, by its id. Whoever is connected with it is let go of within seconds."""
    with _lock_file(path):
        known = read_entries(path)
        gone = [one for one in known if one.id == token_id]
        if not gone:
            raise AaepError(f"There is no token {token_id[:100]!r} in {path}. See: aaep token list")
        _write_file(path, [one for one in known if one.id != token_id])
    return gone[0]


FileVersion = tuple[int, ...]


def _version_from_stat(file_stat: os.stat_result) -> FileVersion:
    return file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns, file_stat.st_ctime_ns


def _read_file(path: Path, *, skip_invalid: bool) -> tuple[list[TokenEntry], FileVersion]:
    try:
        with open_regular_file(path) as file:
            found = os.fstat(file.fileno())  # of what is read, whatever is there a moment later
            _check_private(path, found)
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise AaepError(f"There is no file of tokens {path}. Make one with: aaep token new") from None
    except OSError as error:
        raise AaepError(f"The file of tokens {path} cannot be read: {error.strerror}.") from error
    if len(data) > MAX_FILE_BYTES:
        raise AaepError(f"The file of tokens {path} is larger than {MAX_FILE_BYTES} bytes. Revoke what is not used.")
    kept = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            kept.append(_parse_line(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, AaepError) as error:
            text = f"Line {number} of the file of tokens {path} is not the entry of a token. Take it out."
            if isinstance(error, AaepError):
                text += f" {error}"
            if not skip_invalid:
                raise AaepError(text) from None
            _log.warning("%s Until then it counts for nothing.", text)
    return kept, _version_from_stat(found)


def _parse_line(line: bytes) -> TokenEntry:
    entry = _entry_decoder.decode(line)
    if (
        not entry.id
        or not _HASH_PATTERN.fullmatch(entry.hash)
        or (entry.expires is not None and entry.expires_at is None)
    ):
        raise AaepError("It lacks what an entry needs.")
    validate_nonlocal_principal(entry.principal)
    validate_roles(entry.roles)
    return entry


def _check_private(path: Path, file_stat: os.stat_result) -> None:
    if os.name != "posix":
        return
    if file_stat.st_uid not in (os.geteuid(), 0):
        raise AaepError(f"The file of tokens {path} belongs to another user. Name one of your own.")
    if file_stat.st_mode & 0o077:
        raise AaepError(f"Other users may read or write the file of tokens {path}. Run chmod 600 on it.")


@contextmanager
def _lock_file(path: Path) -> Iterator[None]:
    """One writer at a time."""
    check_folder_safe(path.parent)
    try:
        import fcntl  # noqa: PLC0415  # where there is one
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
    """All or nothing: whoever reads meanwhile reads the old file or the new one."""
    path = path.resolve()
    other = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.writelines(msgspec.json.encode(one) + b"\n" for one in entries)
            file.flush()
            os.fsync(file.fileno())
        os.replace(other, path)
    except BaseException:
        with suppress(FileNotFoundError):  # it was not made yet
            other.unlink()
        raise


class Tokens:
    """
    Those who have a token of a file. What changes in the file counts at once.

    A file that can no longer be used lets nobody in until it is put right.
    """

    can_verify_bearer = True

    def __init__(self, path: str | Path, *, wall: Callable[[], float] = time.time) -> None:
        self._path, self._wall = Path(path), wall
        self._entries, self._file_version = [], ()  # type: tuple[list[tuple[bytes, TokenEntry]], FileVersion]
        self._token_ids: frozenset[str] = frozenset()
        self._set_entries(*_read_file(self._path, skip_invalid=False))

    def authenticate(self, credentials: Credentials) -> Peer:
        if not credentials.bearer or len(credentials.bearer) > MAX_TOKEN_LENGTH:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        self._reload_if_changed()
        shown, found = _hash_token(credentials.bearer), None
        for digest, entry in self._entries:  # all of them, each in constant time
            if hmac.compare_digest(digest, shown):
                found = entry
        if found is None:
            raise Unauthenticated(INVALID_TOKEN_MESSAGE)
        if found.expires_at is not None and self._wall() >= found.expires_at:
            raise Unauthenticated("This token has expired. Ask for a new one.")
        stands = partial(self._is_still_valid, found.id)
        return msgspec.structs.replace(found.grant.to_peer(credentials, found.expires_at), is_still_valid=stands)

    def _is_still_valid(self, token_id: str) -> bool:
        self._reload_if_changed()
        return token_id in self._token_ids

    def _reload_if_changed(self) -> None:
        try:
            mark: FileVersion = _version_from_stat(os.stat(self._path))
        except OSError:
            mark = ()
        if mark == self._file_version and mark:
            return
        try:
            self._set_entries(*_read_file(self._path, skip_invalid=True))
        except AaepError as error:
            if self._entries or mark != self._file_version:
                _log.error("Nobody is let in by a token until this is put right: %s", error)
            self._set_entries([], mark)

    def _set_entries(self, entries: list[TokenEntry], file_version: FileVersion) -> None:
        self._entries = [(bytes.fromhex(one.hash.removeprefix("sha256:")), one) for one in entries]
        self._token_ids = frozenset(one.id for one in entries)
        self._file_version = file_version
