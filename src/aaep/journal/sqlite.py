"""
The default journal: an SQLite file with a write-ahead log.

``append`` only queues the entry, where ``read`` finds it; a writer thread
commits what has queued up since its last commit. Commits survive the end of the
process. Only ``sync`` waits for the disk itself, once for all callers.

The file holds private conversations. It is created for its owner alone, refused
when other users could read or replace it, and locked while it is open: SQLite's
exclusive mode, which also needs no shared memory. Deleted data is overwritten.
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

__all__ = ["SqliteJournal"]

MAX_BATCH_ENTRIES: Final = 1000  # entries in one commit
PORTION_ENTRIES: Final = 5000  # entries looked at before what was appended meanwhile is committed
MAX_PENDING_ENTRIES: Final = 4096  # entries; beyond that, appending waits for the writer
_RETRY_INTERVAL: Final = 1.0  # seconds after which writing that failed is tried again
MAX_PENDING_BYTES: Final = 8 * 1024 * 1024

_APPLICATION_ID: Final = 0x41414550  # "AAEP", in the header of an SQLite file
_SCHEMA_VERSION: Final = 1
_HEADER_BYTES: Final = 100  # bytes of the header in SQLite's file format
_MAGIC: Final = b"SQLite format 3\0"
_COMPANION_SUFFIXES: Final = ("-wal", "-journal", "-shm")  # SQLite trusts the contents of these

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

_open_journals: dict[_FileKey, SqliteJournal] = {}  # of this process, by device and inode
_open_lock = Lock()


# -- the journal -----------------------------------------------------------------


class SqliteJournal:
    """
    A journal in the SQLite file ``path``, which is created if missing unless ``create`` is false.

    Raises :exc:`JournalInUse`, :exc:`JournalUnsafe` or :exc:`JournalDamaged`,
    without changing the file, when it cannot be used.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, retention: Retention | None = None, create: bool = True
    ) -> None:
        self.path = Path(os.path.abspath(path))
        self.retention = retention or Retention()
        self._is_closed = False
        self._is_forked = False
        self._failure: JournalError | None = None
        # _connection_lock guards the connection and is taken first; _lock guards everything below. A signal handler may
        # append while its thread is appending, so the lock is reentrant and numbers follow from positions in _pending.
        self._connection_lock = RLock()
        self._lock = RLock()
        self._work_available = Condition(self._lock)
        self._work_done = Condition(self._lock)
        self._pending: list[_PendingRow] = []  # visible to read(), not yet committed
        self._pending_bytes = 0
        self._sync_target = 0  # the highest number that a call of sync() waits for
        self._commit_callbacks: list[tuple[int, Callable[[], None]]] = []  # each with the number it waits for
        with self._translate_errors(), _open_lock:
            self._file_key, self._connection = _open_database(self.path, create=create)
            try:
                marks = dict(self._connection.execute("SELECT name, number FROM mark"))
                (highest,) = self._connection.execute("SELECT COALESCE(MAX(number), 0) FROM entry").fetchone()
                self._last_deleted = marks["gap"]
                self._last_synced = 0  # earlier entries were committed, not necessarily synced: sync() includes them
                self._last_committed = max(highest, marks["last"])
            except BaseException:
                self._connection.close()
                raise
            _open_journals[self._file_key] = self
        self._thread = Thread(target=self._run_writer, name="aaep-journal", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # before daemon threads are killed

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        """Append an entry, which ``read`` sees at once. Waits, or fails, while the writer cannot keep up."""
        size = len(data)
        has_plain_ids = event_id and session_id and event_id.isascii() and session_id.isascii()
        if not (has_plain_ids and type(data) is bytes and size <= MAX_ENTRY_BYTES and isfinite(at)):  # hardly ever
            data = bytes(data)
            validate_entry(event_id, session_id, data, at)
        with self._lock:
            if self._is_closed or self._is_forked or self._failure is not None:
                self._retry_pending()
            pending = self._pending
            count = len(pending)
            total_bytes = self._pending_bytes + size
            while count and (count >= MAX_PENDING_ENTRIES or total_bytes > MAX_PENDING_BYTES):
                self._work_done.wait()
                self._check_usable()
                count = len(pending)
                total_bytes = self._pending_bytes + size
            if not count:
                # First: interrupted between the two, the entry would wait for ever. All: a notify that was interrupted
                # leaves a waiter behind, which would take the only wake-up of the next.
                self._work_available.notify_all()
            pending.append((event_id, session_id, at + 0.0, data))
            self._pending_bytes = total_bytes

    def _retry_pending(self) -> None:
        """Commit what is pending after a failure, or raise, so that no more is added to it. Needs ``_lock``."""
        self._check_usable(writing=False)
        self._failure = None
        target = self._last_committed + len(self._pending)
        self._work_available.notify_all()
        while self._last_committed < target:
            self._work_done.wait()
            self._check_usable()

    def call_when_committed(self, callback: Callable[[], None]) -> bool:
        """Call back, on any thread, once everything so far is committed; return False if it is already."""
        with self._lock:
            if not self._pending or self._is_closed or self._is_forked:
                return False
            self._commit_callbacks.append((self._last_committed + len(self._pending), callback))
            return True

    def flush(self) -> bool:
        """Wait until everything so far is committed, and return True, or has failed; ``append`` raises the failure."""
        with self._lock:
            target = self._last_committed + len(self._pending)
            while self._last_committed < target and not (self._failure or self._is_closed or self._is_forked):
                self._work_done.wait()
            return bool(self._last_committed >= target)

    def sync(self) -> None:
        """Wait until everything so far is on disk, retrying after a failure."""
        with self._lock:
            self._failure = None
            self._check_usable()
            target = self._last_committed + len(self._pending)
            self._sync_target = max(self._sync_target, target)
            self._work_available.notify_all()
            while self._last_synced < target:
                self._work_done.wait()
                self._check_usable()

    def read(
        self, after: str | None = None, *, session: str | None = None, limit: int = 1000, committed: bool = False
    ) -> list[JournalEntry]:
        """Return the next entries, of all sessions or of one, after an event; all, or only those in the file."""
        limit = max(limit, 0)
        # While _connection_lock is held, no entry moves from the pending ones to the file.
        with self._translate_errors(), self._connection_lock:
            pending = self._list_pending()
            number = 0
            if after is not None:
                number = self._find_number(after, pending)
                if session is None and number < self._last_deleted:
                    raise build_not_retained_error(after)
            condition = ""
            values: tuple[str, ...] = ()
            if session is not None:
                condition = "session_id = ? AND "
                values = (_to_storable_text(session),)
            rows = self._connection.execute(
                f"SELECT event_id, session_id, data, at FROM entry WHERE {condition}number > ? ORDER BY number LIMIT ?",
                (*values, number, limit),
            )
            entries = [JournalEntry(*row) for row in rows]
        for pending_number, (event_id, session_id, at, data) in () if committed else pending:
            if len(entries) >= limit:
                break
            if pending_number > number and session in (None, session_id):
                entries.append(JournalEntry(event_id, session_id, data, at))
        return entries

    def read_before(self, event_id: str, *, limit: int = 1000) -> list[JournalEntry]:
        """Return the last entries up to an event, that one included."""
        limit = max(limit, 0)
        with self._translate_errors(), self._connection_lock:
            pending = self._list_pending()
            number = self._find_number(event_id, pending)
            rows = self._connection.execute(
                "SELECT event_id, session_id, data, at FROM entry WHERE number <= ? ORDER BY number DESC LIMIT ?",
                (number, limit),
            )
            entries = [JournalEntry(*row) for row in rows][::-1]
        for pending_number, (pending_id, session_id, at, data) in pending:
            if pending_number <= number:
                entries.append(JournalEntry(pending_id, session_id, data, at))
        return entries[max(0, len(entries) - limit) :]

    def count_after(self, event_id: str) -> int:
        """Return the number of entries after an event."""
        with self._translate_errors(), self._connection_lock:
            pending = self._list_pending()
            number = self._find_number(event_id, pending)
            if number < self._last_deleted:
                raise build_not_retained_error(event_id)
            cursor = self._connection.execute("SELECT COUNT(*) FROM entry WHERE number > ?", (number,))
            committed_count: int = cursor.fetchone()[0]
        return committed_count + sum(pending_number > number for pending_number, _ in pending)

    def _list_pending(self) -> list[tuple[int, _PendingRow]]:
        """Return what is not in the file yet, numbered. Needs ``_connection_lock``."""
        with self._lock:
            self._check_usable(writing=False)
            return [*enumerate(self._pending, self._last_committed + 1)]

    def _find_number(self, event_id: str, pending: Iterable[tuple[int, _PendingRow]]) -> int:
        """Return the first number of an event."""
        for wanted_id in expand_merged_id(event_id):
            cursor = self._connection.execute(
                "SELECT MIN(number) FROM entry WHERE event_id = ?", (_to_storable_text(wanted_id),)
            )
            number: int | None = cursor.fetchone()[0]
            number = number or next((pending_number for pending_number, row in pending if row[0] == wanted_id), None)
            if number:
                return number
        raise build_not_retained_error(event_id)

    def list_sessions(self, *, open_only: bool = True) -> list[StoredSession]:
        """Return the open sessions, or all of them, in the order in which they began."""
        sessions: dict[str, StoredSession] = {}
        last_number = 0
        while True:
            with self._flush_and_lock():
                rows = self._connection.execute(
                    "SELECT session_id, COUNT(*), SUM(LENGTH(data)), MIN(at), MAX(at), MAX(ends), MAX(number) FROM"
                    " (SELECT * FROM entry WHERE number > ? ORDER BY number LIMIT ?)"
                    " GROUP BY session_id ORDER BY MIN(number)",
                    (last_number, PORTION_ENTRIES),
                ).fetchall()
            if not rows:
                return [session for session in sessions.values() if not (open_only and session.has_ended)]
            for session_id, entry_count, byte_count, first_at, last_at, has_ended, number in rows:
                last_number = max(last_number, number)
                session = StoredSession(session_id, entry_count, byte_count, first_at, last_at, bool(has_ended))
                earlier = sessions.get(session_id)
                sessions[session_id] = session if earlier is None else _join_portions(earlier, session)

    def trim(self, now: float) -> int:
        """Delete ended sessions that exceed the retention, one after another; return the number of entries deleted."""
        deleted_count = 0
        for session_id in find_expired_sessions(self.list_sessions(open_only=False), self.retention, now):
            with self._flush_and_lock():
                deleted_count += self._delete_where("session_id = ?", (session_id,))
        return deleted_count

    def purge(self, session: str | None = None) -> int:
        """Delete one session or all of them, on disk too, and return the number of entries deleted."""
        with self._flush_and_lock():
            if session is None:
                deleted_count = self._delete_where("1")
            else:
                deleted_count = self._delete_where("session_id = ?", (_to_storable_text(session),))
            # The write-ahead log holds old copies: empty it now, not when it happens to be reused.
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return deleted_count

    def _delete_where(self, condition: str, values: tuple[str, ...] = ()) -> int:
        """Delete the entries that a condition selects, and return their number."""
        with self._transaction():
            cursor = self._connection.execute(f"SELECT COALESCE(MAX(number), 0) FROM entry WHERE {condition}", values)
            last_deleted = max(self._last_deleted, cursor.fetchone()[0])
            deleted_count = self._connection.execute(f"DELETE FROM entry WHERE {condition}", values).rowcount
            # Numbers continue after the last one, also when no entry is left to derive it from.
            marks = [(last_deleted, "gap"), (self._last_committed, "last")]
            self._connection.executemany("UPDATE mark SET number = ? WHERE name = ?", marks)
        self._last_deleted = last_deleted
        self._connection.execute("PRAGMA incremental_vacuum").fetchall()
        return deleted_count

    def close(self) -> None:
        """Commit what is pending and close the file. Closing it again has no effect."""
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

    # -- the writer thread --

    def _run_writer(self) -> None:
        while True:
            with self._lock:
                while not self._is_closed and not (self._pending or self._sync_target > self._last_synced):
                    self._work_available.wait()
                if self._failure is not None and not self._is_closed:
                    self._work_available.wait(_RETRY_INTERVAL)
                if self._is_closed:
                    return
            try:
                with self._translate_errors(), self._connection_lock:
                    self._commit_batch()
            except JournalError as error:
                self._record_failure(error)
            except Exception as error:  # whatever it is, waiting callers must learn of it
                self._record_failure(JournalError(f"The journal {self.path} cannot be written: {error}."))

    def _record_failure(self, error: JournalError) -> None:
        """Let waiting callers know; those who wait for a commit to tell readers go on waiting."""
        with self._lock:
            self._failure = error
            self._work_done.notify_all()

    def _commit_batch(self) -> None:
        """Commit the next batch, to the disk itself if sync() waits for it. Needs ``_connection_lock``."""
        with self._lock:
            first = self._last_committed + 1
            batch = self._pending[:MAX_BATCH_ENTRIES]
            last = self._last_committed + len(batch)
            must_sync = self._last_synced < self._sync_target <= last
        if not (batch or must_sync):
            return
        rows = [
            (number, event_id, session_id, at, is_terminal_event(data), data)
            for number, (event_id, session_id, at, data) in enumerate(batch, first)
        ]
        if must_sync:  # with FULL, a commit writes the whole log to the disk, with what earlier commits left there
            self._connection.execute("PRAGMA synchronous = FULL")
        try:
            with self._transaction():
                self._connection.executemany("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?)", rows)
                if must_sync:
                    self._connection.execute("UPDATE mark SET number = ? WHERE name = 'synced'", (last,))
        finally:
            if must_sync:
                self._connection.execute("PRAGMA synchronous = NORMAL")
        with self._lock:
            del self._pending[: len(batch)]
            self._pending_bytes = sum(len(row[3]) for row in self._pending)
            self._last_committed = last
            self._failure = None
            if must_sync:
                self._last_synced = last
            self._work_done.notify_all()
        self._run_callbacks(last)

    def _run_callbacks(self, last: int) -> None:
        """Run the callbacks that wait for numbers up to ``last``."""
        with self._lock:
            ready = []
            waiting = []
            for number, callback in self._commit_callbacks:
                if number <= last:
                    ready.append(callback)
                else:
                    waiting.append((number, callback))
            self._commit_callbacks = waiting
        for callback in ready:
            callback()

    @contextmanager
    def _flush_and_lock(self) -> Iterator[None]:
        """Commit everything that is pending, and keep the connection locked for the block."""
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
                with suppress(sqlite3.Error):  # the original error is raised below
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
        """Turn errors of SQLite and of the system into journal errors that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            _raise_journal_error(self.path, error)
        except OSError as error:
            raise JournalError(f"The journal {self.path} cannot be used: {error.strerror or error}.") from error


def _join_portions(first: StoredSession, second: StoredSession) -> StoredSession:
    """Return what two portions of the journal hold of one session."""
    return StoredSession(
        first.session_id,
        first.entry_count + second.entry_count,
        first.byte_count + second.byte_count,
        min(first.first_at, second.first_at),
        max(first.last_at, second.last_at),
        first.has_ended or second.has_ended,
    )


def _to_storable_text(text: str) -> str:
    """Escape what UTF-8 cannot encode in an id to look up: no stored id has such characters."""
    return text.encode(errors="backslashreplace").decode()


# -- opening and creating files --------------------------------------------------


def _open_database(path: Path, *, create: bool) -> tuple[_FileKey, sqlite3.Connection]:
    """Check a file before SQLite touches it, then open, lock and verify it. Needs ``_open_lock``."""
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
        # The first read takes the lock; until then another process may get it.
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise _build_damaged_error(path)
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
    Create an empty journal under a temporary name and link it to its path when it is complete.

    So the file is never seen incomplete, whenever the process ends. mkstemp
    creates it for its owner alone, and SQLite gives the same mode to its log.
    """
    descriptor, temporary_name = tempfile.mkstemp(prefix=path.name + ".", suffix=".new", dir=path.parent)
    temporary_path = Path(temporary_name)
    try:
        os.close(descriptor)
        temporary_path.chmod(0o600)  # the umask may have removed bits
        with closing(_connect(temporary_path)) as connection:
            connection.executescript(_SCHEMA)
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
        try:
            os.link(temporary_path, path)
        except FileExistsError:
            return  # another process was faster; opening the file checks it
        except OSError:  # a file system without links
            os.rename(temporary_path, path)
        if os.name == "posix":
            folder_descriptor = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder_descriptor)
            finally:
                os.close(folder_descriptor)
    finally:
        temporary_path.unlink(missing_ok=True)


def _check_file(path: Path) -> _FileKey:
    """Check that a file is a private, current journal that is not open yet, and return its key. Follows no links."""
    for suffix in _COMPANION_SUFFIXES:
        companion = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError):  # companions exist only while the journal is open
            check_file_private(companion, companion.lstat())
    try:
        file_stat = path.lstat()
    except FileNotFoundError as error:
        raise JournalError(f"There is no journal {path}.") from error
    check_file_private(path, file_stat)
    key = (file_stat.st_dev, file_stat.st_ino)
    # Closing any descriptor of the file would drop this process's lock on it, so this is checked before reading it.
    if key in _open_journals:
        raise _build_in_use_error(path)
    with path.open("rb") as file:
        if not os.path.samestat(os.fstat(file.fileno()), file_stat):
            raise JournalUnsafe(f"The file {path} was exchanged while it was being opened.")
        header = file.read(_HEADER_BYTES)
    application_id = int.from_bytes(header[68:72])
    version = int.from_bytes(header[60:64])
    if not header.startswith(_MAGIC) or len(header) < _HEADER_BYTES or application_id != _APPLICATION_ID:
        text = f"The file {path} is not a journal, or its beginning is damaged."
        raise JournalDamaged(f"{text} It was left as it is: move it away, or name another file.")
    if version != _SCHEMA_VERSION:
        raise JournalDamaged(
            f"The journal {path} is of form {version}, and this program knows {_SCHEMA_VERSION}: update it."
        )
    return key


def _disown_after_fork() -> None:
    """
    Keep the parent's connections open for ever in a forked child.

    Closing one, even at exit, would remove the log that the parent is using.
    """
    global _open_lock  # noqa: PLW0603  # the lock may have been held when the process forked
    for journal in _open_journals.values():
        journal._is_forked = True
        # Threads that do not exist in the child may have held the old locks.
        journal._connection_lock = RLock()
        journal._lock = RLock()
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(journal._connection))
    _open_journals.clear()
    _open_lock = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_disown_after_fork)


# -- errors ----------------------------------------------------------------------


def _raise_journal_error(path: Path, error: sqlite3.Error) -> NoReturn:
    """Raise the journal error that corresponds to an error of SQLite."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code, without SQLite's extended part
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise _build_in_use_error(path) from error
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        raise _build_damaged_error(path) from error
    if code == sqlite3.SQLITE_FULL:
        raise JournalError(f"The journal {path} cannot grow: the disk is full. Make room, then try again.") from error
    if code == sqlite3.SQLITE_READONLY:
        text = f"The journal {path} cannot be written: allow writing to it and its folder, or name another file."
        raise JournalError(text) from error
    raise JournalError(f"The journal {path} cannot be used: {error}.") from error


def _build_in_use_error(path: Path) -> JournalInUse:
    return JournalInUse(f"The journal {path} is in use. End the agent that has it open, or name another file.")


def _build_damaged_error(path: Path) -> JournalDamaged:
    return JournalDamaged(f"The journal {path} is damaged. It was left as it is: move it away, or name another file.")
