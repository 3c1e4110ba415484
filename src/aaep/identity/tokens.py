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
from ..runtime.files import folder, make_folder, regular, safe_folder
from .credentials import Credentials, Grant, Unauthenticated, as_roles, as_stranger, granted
from .peer import REPLIER, Peer

__all__ = ["Entry", "Static", "Tokens", "add", "as_token", "default_file", "entries", "new", "revoke"]

PREFIX: Final = "aaep_"  # so that a token that got somewhere it should not be is found
LARGEST: Final = 4 * 1024 * 1024  # bytes of a file
LONGEST: Final = 4096  # characters of a token
HOW: Final = "Send a token of this server in a header: Authorization: Bearer <token>."

_TOKEN: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*")  # RFC 6750 §2.1
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")

_log: Final = logging.getLogger("aaep.identity")


def as_token(token: str) -> str:
    """A token, if a header can carry it."""
    if not _TOKEN.fullmatch(token) or len(token) > LONGEST:
        raise AaepError("The token cannot be sent in a header. Make one with secrets.token_urlsafe(32).")
    return token


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode(errors="surrogatepass")).digest()


class Static:
    """One token, for one person. It never expires, so it is for trying things out (CF-140, SEC-035)."""

    bearer = True
    several = False

    def __init__(self, token: str, principal: str = "token", roles: str | Iterable[str] = REPLIER) -> None:
        self._digest = _digest(as_token(token))
        self._grant = granted((principal, roles))
        _log.warning("A token that never expires is in use. For more than a trial, make tokens with: aaep token new")

    def admit(self, given: Credentials) -> Peer:
        # In constant time, so that the time of an answer does not tell how much of a guess was right.
        if not given.bearer or not hmac.compare_digest(_digest(given.bearer), self._digest):
            raise Unauthenticated(HOW)
        return self._grant.peer(given)


# -- the file --------------------------------------------------------------------------------


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
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
        return Grant(as_stranger(self.principal), as_roles(self.roles))

    @property
    def ends(self) -> float | None:
        """When it expires, in seconds since the epoch."""
        return None if self.expires is None else timestamps.parse_instant(self.expires)


_line: Final = msgspec.json.Decoder(Entry)


def default_file() -> Path:
    """Where tokens are when no file is named."""
    return folder() / "tokens.jsonl"


def new(
    principal: str, roles: str | Iterable[str], *, now: float, seconds: float | None, note: str = ""
) -> tuple[str, Entry]:
    """A new token, and what is kept of it."""
    token = PREFIX + secrets.token_urlsafe(32)
    entry = Entry(
        id="tok_" + secrets.token_hex(4),
        hash="sha256:" + _digest(token).hex(),
        principal=as_stranger(principal),
        roles=tuple(sorted(as_roles(roles))),
        expires=None if seconds is None else _moment(now + seconds),
        made=_moment(now),
        note=note,
    )
    return token, entry


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def entries(path: Path, *, skip: bool = False) -> list[Entry]:
    """What a file holds. A line that cannot be used is an error, or with ``skip`` is left out and logged."""
    return _read(path, skip=skip)[0]


def add(path: Path, entry: Entry) -> None:
    """Write an entry to a file, which is made if there is none."""
    make_folder(path.parent)
    with _locked(path):
        known = entries(path) if path.exists() else []
        _write(path, [*known, entry])


def revoke(path: Path, name: str) -> Entry:
    """Take an entry out of a file, by its id. Whoever is connected with it is let go of within seconds."""
    with _locked(path):
        known = entries(path)
        gone = [one for one in known if one.id == name]
        if not gone:
            raise AaepError(f"There is no token {name[:100]!r} in {path}. See: aaep token list")
        _write(path, [one for one in known if one.id != name])
    return gone[0]


Mark = tuple[int, ...]


def _mark(found: os.stat_result) -> Mark:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _read(path: Path, *, skip: bool) -> tuple[list[Entry], Mark]:
    try:
        with regular(path) as file:
            found = os.fstat(file.fileno())  # of what is read, whatever is there a moment later
            _private(path, found)
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise AaepError(f"There is no file of tokens {path}. Make one with: aaep token new") from None
    except OSError as error:
        raise AaepError(f"The file of tokens {path} cannot be read: {error.strerror}.") from error
    if len(data) > LARGEST:
        raise AaepError(f"The file of tokens {path} is larger than {LARGEST} bytes. Revoke what is not used.")
    kept = []
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            kept.append(_usable(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, AaepError) as error:
            text = f"Line {number} of the file of tokens {path} is not the entry of a token. Take it out."
            if isinstance(error, AaepError):
                text += f" {error}"
            if not skip:
                raise AaepError(text) from None
            _log.warning("%s Until then it counts for nothing.", text)
    return kept, _mark(found)


def _usable(line: bytes) -> Entry:
    entry = _line.decode(line)
    if not entry.id or not _HASH.fullmatch(entry.hash) or (entry.expires is not None and entry.ends is None):
        raise AaepError("It lacks what an entry needs.")
    as_stranger(entry.principal)
    as_roles(entry.roles)
    return entry


def _private(path: Path, found: os.stat_result) -> None:
    if os.name != "posix":
        return
    if found.st_uid not in (os.geteuid(), 0):
        raise AaepError(f"The file of tokens {path} belongs to another user. Name one of your own.")
    if found.st_mode & 0o077:
        raise AaepError(f"Other users may read or write the file of tokens {path}. Run chmod 600 on it.")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time."""
    safe_folder(path.parent)
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


def _write(path: Path, kept: Iterable[Entry]) -> None:
    """All or nothing: whoever reads meanwhile reads the old file or the new one."""
    path = path.resolve()
    other = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.writelines(msgspec.json.encode(one) + b"\n" for one in kept)
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

    bearer = True

    def __init__(self, path: str | Path, *, wall: Callable[[], float] = time.time) -> None:
        self._path, self._wall = Path(path), wall
        self._entries, self._mark = [], ()  # type: tuple[list[tuple[bytes, Entry]], Mark]
        self._ids: frozenset[str] = frozenset()
        self._take(*_read(self._path, skip=False))

    def admit(self, given: Credentials) -> Peer:
        if not given.bearer or len(given.bearer) > LONGEST:
            raise Unauthenticated(HOW)
        self._look()
        shown, found = _digest(given.bearer), None
        for digest, entry in self._entries:  # all of them, each in constant time
            if hmac.compare_digest(digest, shown):
                found = entry
        if found is None:
            raise Unauthenticated(HOW)
        if found.ends is not None and self._wall() >= found.ends:
            raise Unauthenticated("This token has expired. Ask for a new one.")
        stands = partial(self._stands, found.id)
        return msgspec.structs.replace(found.grant.peer(given, found.ends), stands=stands)

    def _stands(self, name: str) -> bool:
        self._look()
        return name in self._ids

    def _look(self) -> None:
        try:
            mark: Mark = _mark(os.stat(self._path))
        except OSError:
            mark = ()
        if mark == self._mark and mark:
            return
        try:
            self._take(*_read(self._path, skip=True))
        except AaepError as error:
            if self._entries or mark != self._mark:
                _log.error("Nobody is let in by a token until this is put right: %s", error)
            self._take([], mark)

    def _take(self, kept: list[Entry], mark: Mark) -> None:
        self._entries = [(bytes.fromhex(one.hash.removeprefix("sha256:")), one) for one in kept]
        self._ids = frozenset(one.id for one in kept)
        self._mark = mark
