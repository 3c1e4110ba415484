"""
The default journal: one SQLite file with a write-ahead log.

``append`` only puts the entry where ``read`` finds it; a thread of the journal
commits what has gathered since its last commit. Such commits survive the death
of the process. Only ``sync`` asks the disk itself, once for all who wait.

The file holds what people said. It is made for its owner alone, refused when
others could read or replace it, and locked for as long as it is open: SQLite's
exclusive mode, which also does without shared memory. What is deleted is
overwritten.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from math import isfinite
from pathlib import Path
from threading import Condition, Lock, RLock, Thread
from typing import Final, NoReturn

from ..runtime.files import (
    UnsafeFile,
    check_file_private,
    check_folder_safe,
    create_private_folder,
    default_journal_path,
    user_state_folder,
)
from .base import (
    MAX_ENTRY_BYTES,
    JournalDamaged,
    JournalEntry,
    JournalError,
    JournalInUse,
    JournalUnsafe,
    Retention,
    StoredSession,
    build_not_retained_error,
    expand_merged_id,
    find_expired_sessions,
    is_terminal_event,
    validate_entry,
)

__all__ = [
    "SqliteJournal",
    "build_damaged_error",
    "build_in_use_error",
    "default_journal_path",
    "raise_journal_error",
    "user_state_folder",
]

MAX_BATCH_ENTRIES: Final = 1000  # entries in one commit
MAX_PENDING_ENTRIES: Final = 4096  # entries, then appending waits for the disk
MAX_PENDING_BYTES: Final = 8 * 1024 * 1024

_APPLICATION_ID: Final = 0x41414550  # "AAEP", where SQLite keeps the kind of file
_SCHEMA_VERSION: Final = 1
_HEADER_BYTES: Final = 100  # bytes of it, as SQLite's file format says
_MAGIC: Final = b"SQLite format 3\0"
_COMPANION_SUFFIXES: Final = ("-wal", "-journal", "-shm")  # SQLite would believe what it finds in these

_SCHEMA: Final = f"""
    PRAGMA auto_vacuum = INCREMENTAL;
    BEGIN;
    CREATE TABLE entry (
        number INTEGER PRIMARY KEY, event_id TEXT NOT NULL, session_id TEXT NOT NULL,
        at REAL NOT NULL, ends INTEGER NOT NULL, data BLOB NOT NULL
    );
    CREATE INDEX entry_event ON entry (event_id);
    CREATE INDEX entry_session ON entry (session_id, number);
    CREATE TABLE mark (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO mark VALUES ('gap', 0), ('last', 0), ('synced', 0);
    PRAGMA application_id = {_APPLICATION_ID};
    PRAGMA user_version = {_SCHEMA_VERSION};
    COMMIT;
"""

_PendingRow = tuple[str, str, float, bytes]  # event_id, session_id, at, data
_FileKey = tuple[int, int]

_open_journals: dict[_FileKey, SqliteJournal] = {}  # by device and inode, of this process
_open_lock = Lock()


# -- the journal -----------------------------------------------------------------


class SqliteJournal:
    """
    The journal in the file ``path``, made if it is not there (unless ``create`` is false).

    Raises :exc:`JournalInUse`, :exc:`JournalUnsafe` or :exc:`JournalDamaged`
    and leaves the file alone when it may not be used.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, retention: Retention | None = None, create: bool = True
    ) -> None:
        self.path = Path(os.path.abspath(path))
        self.retention = retention or Retention()
        self._is_closed = False
        self._is_forked = False
        self._failure: JournalError | None = None
        # _disk guards the connection and is taken first; _lock guards everything below. A signal handler may append
        # while its thread is appending: so the lock can be taken twice, and an entry gets its number from its place.
        self._connection_lock = RLock()
        self._lock = RLock()
        self._work_available = Condition(self._lock)
        self._work_done = Condition(self._lock)
        self._pending: list[_PendingRow] = []  # visible, not yet committed
        self._pending_bytes = 0
        self._sync_target = 0  # the number somebody in sync() waits for
        self._commit_callbacks: list[tuple[int, Callable[[], None]]] = []  # with the number each is for
        with self._translate_errors(), _open_lock:
            self._file_key, self._connection = _open_database(self.path, create=create)
            try:
                marks = dict(self._connection.execute("SELECT name, number FROM mark"))
                (highest,) = self._connection.execute("SELECT COALESCE(MAX(number), 0) FROM entry").fetchone()
                # What was read back was committed, not necessarily synced: the next sync() is for it too.
                self._last_deleted, self._last_synced = marks["gap"], 0
                self._last_committed = max(highest, marks["last"])
            except BaseException:
                self._connection.close()
                raise
            _open_journals[self._file_key] = self
        self._thread = Thread(target=self._run_writer, name="aaep-journal", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # before threads like ours are cut off

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        size = len(data)
        simple = event_id and session_id and event_id.isascii() and session_id.isascii()
        if not (simple and type(data) is bytes and size <= MAX_ENTRY_BYTES and isfinite(at)):  # hardly ever
            data = bytes(data)
            validate_entry(event_id, session_id, data, at)
        with self._lock:
            if self._is_closed or self._is_forked or self._failure is not None:
                self._retry_pending()
            waiting = self._pending
            count, total = len(waiting), self._pending_bytes + size
            while count and (count >= MAX_PENDING_ENTRIES or total > MAX_PENDING_BYTES):
                self._work_done.wait()
                self._check_usable()
                count, total = len(waiting), self._pending_bytes + size
            if not count:
                self._work_available.notify()  # first: interrupted between the two, the entry would wait for ever
            waiting.append((event_id, session_id, at + 0.0, data))
            self._pending_bytes = total

    def _retry_pending(self) -> None:
        """After a failure: what waits goes to the disk now, or nothing is added to it. Needs ``_lock``."""
        self._check_usable(writing=False)
        self._failure = None
        target = self._last_committed + len(self._pending)
        self._work_available.notify()
        while self._last_committed < target:
            self._work_done.wait()
            self._check_usable()

    def call_when_committed(self, callback: Callable[[], None]) -> bool:
        with self._lock:
            if not self._pending or self._failure or self._is_closed or self._is_forked:
                return False
            self._commit_callbacks.append((self._last_committed + len(self._pending), callback))
            return True

    def flush(self) -> None:
        """Wait until everything so far is committed. Of a failure, ``append`` tells."""
        with self._lock:
            target = self._last_committed + len(self._pending)
            while self._last_committed < target and not (self._failure or self._is_closed or self._is_forked):
                self._work_done.wait()

    def sync(self) -> None:
        """Wait until everything so far is on disk. After a failure, it is tried again."""
        with self._lock:
            self._failure = None
            self._check_usable()
            target = self._last_committed + len(self._pending)
            self._sync_target = max(self._sync_target, target)
            self._work_available.notify()
            while self._last_synced < target:
                self._work_done.wait()
                self._check_usable()

    def read(self, after: str | None = None, *, session: str | None = None, limit: int = 1000) -> list[JournalEntry]:
        limit = max(limit, 0)
        with (
            self._translate_errors(),
            self._connection_lock,
        ):  # while we hold it nothing moves from the waiting to the file
            with self._lock:
                self._check_usable(writing=False)
                waiting = [*enumerate(self._pending, self._last_committed + 1)]
            number = 0
            if after is not None:
                number = self._find_number(after, waiting)
                if not number or (session is None and number < self._last_deleted):
                    raise build_not_retained_error(after)
            which, values = ("", ()) if session is None else ("session_id = ? AND ", (_to_storable_text(session),))
            rows = self._connection.execute(
                f"SELECT event_id, session_id, data, at FROM entry WHERE {which}number > ? ORDER BY number LIMIT ?",
                (*values, number, limit),
            )
            found = [JournalEntry(*row) for row in rows]
        for place, (event_id, session_id, at, data) in waiting:
            if len(found) >= limit:
                break
            if place > number and session in (None, session_id):
                found.append(JournalEntry(event_id, session_id, data, at))
        return found

    def _find_number(self, event_id: str, pending: Iterable[tuple[int, _PendingRow]]) -> int:
        """The first place of an event, 0 if it has none."""
        for name in expand_merged_id(event_id):
            asked = self._connection.execute(
                "SELECT MIN(number) FROM entry WHERE event_id = ?", (_to_storable_text(name),)
            )
            number: int | None = asked.fetchone()[0]
            number = number or next((place for place, row in pending if row[0] == name), None)
            if number:
                return number
        return 0

    def list_sessions(self, *, open_only: bool = True) -> list[StoredSession]:
        with self._flush_and_lock():
            rows = self._connection.execute(
                "SELECT session_id, COUNT(*), SUM(LENGTH(data)), MIN(at), MAX(at), MAX(ends) FROM entry"
                " GROUP BY session_id HAVING NOT (? AND MAX(ends)) ORDER BY MIN(number)",
                (open_only,),
            )
            return [
                StoredSession(id_, count, size, first, last, bool(ended))
                for id_, count, size, first, last, ended in rows
            ]

    def trim(self, now: float) -> int:
        with self._flush_and_lock():
            gone = find_expired_sessions(self.list_sessions(open_only=False), self.retention, now)
            return self._delete_where("session_id = ?", [(session,) for session in gone]) if gone else 0

    def purge(self, session: str | None = None) -> int:
        with self._flush_and_lock():
            dropped = (
                self._delete_where("1", [()])
                if session is None
                else self._delete_where("session_id = ?", [(_to_storable_text(session),)])
            )
            # Old copies are in the log as well: empty it now, not whenever it is used again.
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return dropped

    def _delete_where(self, condition: str, parameters: list[tuple[str, ...]]) -> int:
        dropped, gap = 0, self._last_deleted
        with self._transaction():
            for values in parameters:
                asked = self._connection.execute(
                    f"SELECT COALESCE(MAX(number), 0) FROM entry WHERE {condition}", values
                )
                gap = max(gap, asked.fetchone()[0])
                dropped += self._connection.execute(f"DELETE FROM entry WHERE {condition}", values).rowcount
            # The numbers go on after the last one even if nothing is left to tell it.
            marks = [(gap, "gap"), (self._last_committed, "last")]
            self._connection.executemany("UPDATE mark SET number = ? WHERE name = ?", marks)
        self._last_deleted = gap
        self._connection.execute("PRAGMA incremental_vacuum").fetchall()
        return dropped

    def close(self) -> None:
        with self._lock:
            if self._is_closed or self._is_forked:  # in a child of the owner, the file is not ours to close
                return
            self._is_closed = True
            self._work_available.notify_all()
            self._work_done.notify_all()
        self._thread.join()
        atexit.unregister(self.close)
        with _open_lock, self._connection_lock:
            try:
                with self._translate_errors():
                    while self._pending:
                        self._commit_batch()
            finally:
                self._connection.close()  # empties and removes the log
                _open_journals.pop(self._file_key, None)

    # -- the writer --

    def _run_writer(self) -> None:
        while True:
            with self._lock:
                while not self._is_closed and (
                    self._failure is not None or not (self._pending or self._sync_target > self._last_synced)
                ):
                    self._work_available.wait()
                if self._is_closed:
                    return
            try:
                with self._translate_errors(), self._connection_lock:
                    self._commit_batch()
            except JournalError as error:
                self._record_failure(error)
            except Exception as error:  # whatever it is, those who wait must hear of it
                self._record_failure(JournalError(f"The journal {self.path} cannot be written: {error}."))

    def _record_failure(self, error: JournalError) -> None:
        with self._lock:
            self._failure = error
            self._work_done.notify_all()
        self._run_callbacks(None)

    def _commit_batch(self) -> None:
        """Write the next batch, and ask the disk if somebody waits for what is in it. Needs ``_disk``."""
        with self._lock:
            first = self._last_committed + 1
            batch = self._pending[:MAX_BATCH_ENTRIES]
            last = self._last_committed + len(batch)
            syncing = self._last_synced < self._sync_target <= last
        if not (batch or syncing):
            return
        rows = [
            (number, event_id, session_id, at, is_terminal_event(data), data)
            for number, (event_id, session_id, at, data) in enumerate(batch, first)
        ]
        if syncing:  # with FULL, a commit takes everything in the log to the disk, also what earlier commits left there
            self._connection.execute("PRAGMA synchronous = FULL")
        try:
            with self._transaction():
                self._connection.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", rows)
                if syncing:
                    self._connection.execute("UPDATE mark SET number = ? WHERE name = 'synced'", (last,))
        finally:
            if syncing:
                self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._lock:
            del self._pending[: len(batch)]
            self._pending_bytes = sum(len(row[3]) for row in self._pending)
            self._last_committed = last
            if syncing:
                self._last_synced = last
            self._work_done.notify_all()
        self._run_callbacks(last)

    def _run_callbacks(self, last: int | None) -> None:
        """Call those who wait for what is committed now; all of them if nothing more will be."""
        with self._lock:
            ready = [call for number, call in self._commit_callbacks if last is None or number <= last]
            self._commit_callbacks = [one for one in self._commit_callbacks if last is not None and one[0] > last]
        for call in ready:
            call()

    @contextmanager
    def _flush_and_lock(self) -> Iterator[None]:
        """Nothing waits, and nothing is written by anybody else meanwhile."""
        with self._translate_errors(), self._connection_lock:
            with self._lock:
                self._check_usable()
                last = self._last_committed + len(self._pending)
            while self._last_committed < last:
                self._commit_batch()
            yield

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):  # the error before it is raised below
                    self._connection.execute("ROLLBACK")
            raise

    def _check_usable(self, *, writing: bool = True) -> None:
        if self._is_closed:
            raise JournalError(f"The journal {self.path} is closed.")
        if self._is_forked:
            raise JournalError(
                f"The journal {self.path} was opened before a fork: open it in the process that uses it."
            )
        if writing and self._failure is not None:
            raise type(self._failure)(str(self._failure))

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Errors of SQLite and of the system, in words that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise_journal_error(self.path, error)
        except OSError as error:
            raise JournalError(f"The journal {self.path} cannot be used: {error.strerror or error}.") from error


def _to_storable_text(text: str) -> str:
    """An id to look for, which may be any string. What UTF-8 cannot hold was never kept, so it may look different."""
    return text.encode(errors="backslashreplace").decode()


# -- opening ---------------------------------------------------------------------


def _open_database(path: Path, *, create: bool) -> tuple[_FileKey, sqlite3.Connection]:
    """The file, checked before SQLite touches it, locked and found sound. Needs ``_opening``."""
    try:
        if create and not os.path.lexists(path):
            create_private_folder(path.parent)
            check_folder_safe(path.parent)
            _create_database(path)
        check_folder_safe(path.parent)
        key = _check_file(path)
    except UnsafeFile as error:
        raise JournalUnsafe(str(error)) from error
    connection = _connect(path)
    try:
        # Until the first reading takes the lock, another process could have it.
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise build_damaged_error(path)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return key, connection


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path.as_uri() + "?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    for setting in ("locking_mode = EXCLUSIVE", "secure_delete = ON", "temp_store = MEMORY", "trusted_schema = OFF"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.execute(f"PRAGMA journal_size_limit = {4 * 1024 * 1024}").fetchall()
    return connection


def _create_database(path: Path) -> None:
    """
    An empty journal, made beside its place and put there whole.

    So the file is never seen half made, whenever the process ends. mkstemp
    makes it for its owner alone, and SQLite gives the same mode to its log.
    """
    handle, name = tempfile.mkstemp(prefix=path.name + ".", suffix=".new", dir=path.parent)
    fresh = Path(name)
    try:
        os.close(handle)
        fresh.chmod(0o600)  # should the umask have left less
        with closing(_connect(fresh)) as connection:
            connection.executescript(_SCHEMA)
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        try:
            os.link(fresh, path)
        except FileExistsError:
            return  # another process was faster; opening it will tell
        except OSError:  # a file system without links
            os.rename(fresh, path)
        if os.name == "posix":
            where = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(where)
            finally:
                os.close(where)
    finally:
        fresh.unlink(missing_ok=True)


def _check_file(path: Path) -> _FileKey:
    """Check that the file is a journal of ours that nobody else can read, without following links."""
    for beside in (path.with_name(path.name + ending) for ending in _COMPANION_SUFFIXES):
        with suppress(FileNotFoundError):  # they are there only while it is open
            check_file_private(beside, beside.lstat())
    try:
        found = path.lstat()
    except FileNotFoundError as error:
        raise JournalError(f"There is no journal {path}.") from error
    check_file_private(path, found)
    key = (found.st_dev, found.st_ino)
    # Closing any handle of the file would drop this process's lock on it, so this comes before looking inside.
    if key in _open_journals:
        raise build_in_use_error(path)
    with path.open("rb") as file:
        if os.path.samestat(os.fstat(file.fileno()), found):
            header = file.read(_HEADER_BYTES)
        else:
            raise JournalUnsafe(f"The file {path} was exchanged while it was being opened.")
    kind, version = int.from_bytes(header[68:72]), int.from_bytes(header[60:64])
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES or kind != _APPLICATION_ID:
        text = f"The file {path} is not a journal, or its beginning is damaged."
        raise JournalDamaged(f"{text} It was left as it is: move it away, or name another file.")
    if version != _SCHEMA_VERSION:
        raise JournalDamaged(
            f"The journal {path} is of form {version}, and this program knows {_SCHEMA_VERSION}: update it."
        )
    return key


def _disown_after_fork() -> None:
    """
    In a child, keep the owner's connections alive for ever.

    Closing one, even at exit, would remove the log under the owner's hands.
    """
    global _open_lock  # noqa: PLW0603  # the lock may have been held when the process forked
    for journal in _open_journals.values():
        journal._is_forked = True
        journal._connection_lock, journal._lock = RLock(), RLock()  # threads that are not here may hold the old ones
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(journal._connection))
    _open_journals.clear()
    _open_lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_after_fork)


# -- what SQLite says, in words that say what to do ---------------------------------------


def raise_journal_error(path: Path, error: sqlite3.Error) -> NoReturn:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what SQLite adds to tell cases apart
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise build_in_use_error(path) from error
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        raise build_damaged_error(path) from error
    if code == sqlite3.SQLITE_FULL:
        raise JournalError(f"The journal {path} cannot grow: the disk is full. Make room, then try again.") from error
    if code == sqlite3.SQLITE_READONLY:
        text = f"The journal {path} cannot be written: allow writing to it and its folder, or name another file."
        raise JournalError(text) from error
    raise JournalError(f"The journal {path} cannot be used: {error}.") from error


def build_in_use_error(path: Path) -> JournalInUse:
    return JournalInUse(f"The journal {path} is in use. End the agent that has it open, or name another file.")


def build_damaged_error(path: Path) -> JournalDamaged:
    return JournalDamaged(f"The journal {path} is damaged. It was left as it is: move it away, or name another file.")
