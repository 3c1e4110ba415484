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

from ..runtime.files import UnsafeFile, folder, make_folder, path_for, private, safe_folder
from .base import (
    MOST_BYTES,
    Entry,
    JournalDamaged,
    JournalError,
    JournalInUse,
    JournalUnsafe,
    Kept,
    Retention,
    ends,
    expired,
    names,
    not_kept,
    refuse,
)

__all__ = ["SqliteJournal", "damaged", "explain", "folder", "in_use", "path_for"]

BATCH: Final = 1000  # entries in one commit
MOST_WAITING: Final = 4096  # entries, then appending waits for the disk
MOST_WAITING_BYTES: Final = 8 * 1024 * 1024

_APPLICATION: Final = 0x41414550  # "AAEP", where SQLite keeps the kind of file
_VERSION: Final = 1
_HEADER: Final = 100  # bytes of it, as SQLite's file format says
_MAGIC: Final = b"SQLite format 3\0"
_BESIDE: Final = ("-wal", "-journal", "-shm")  # SQLite would believe what it finds in these

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
    PRAGMA application_id = {_APPLICATION};
    PRAGMA user_version = {_VERSION};
    COMMIT;
"""

_Row = tuple[str, str, float, bytes]  # event_id, session_id, at, data
_Key = tuple[int, int]

_open: dict[_Key, SqliteJournal] = {}  # by device and inode, of this process
_opening = Lock()


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
        self._closed = False
        self._forked = False
        self._failure: JournalError | None = None
        # _disk guards the connection and is taken first; _lock guards everything below. A signal handler may append
        # while its thread is appending: so the lock can be taken twice, and an entry gets its number from its place.
        self._disk = RLock()
        self._lock = RLock()
        self._work = Condition(self._lock)
        self._done = Condition(self._lock)
        self._waiting: list[_Row] = []  # visible, not yet committed
        self._waiting_bytes = 0
        self._wanted = 0  # the number somebody in sync() waits for
        self._calls: list[tuple[int, Callable[[], None]]] = []  # with the number each is for
        with self._explained(), _opening:
            self._key, self._connection = _opened(self.path, create=create)
            try:
                marks = dict(self._connection.execute("SELECT name, number FROM mark"))
                (highest,) = self._connection.execute("SELECT COALESCE(MAX(number), 0) FROM entry").fetchone()
                # What was read back was committed, not necessarily synced: the next sync() is for it too.
                self._gap, self._synced = marks["gap"], 0
                self._committed = max(highest, marks["last"])
            except BaseException:
                self._connection.close()
                raise
            _open[self._key] = self
        self._thread = Thread(target=self._run, name="aaep-journal", daemon=True)
        self._thread.start()
        atexit.register(self.close)  # before threads like ours are cut off

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        size = len(data)
        simple = event_id and session_id and event_id.isascii() and session_id.isascii()
        if not (simple and type(data) is bytes and size <= MOST_BYTES and isfinite(at)):  # hardly ever
            data = bytes(data)
            refuse(event_id, session_id, data, at)
        with self._lock:
            if self._closed or self._forked or self._failure is not None:
                self._try_again()
            waiting = self._waiting
            count, total = len(waiting), self._waiting_bytes + size
            while count and (count >= MOST_WAITING or total > MOST_WAITING_BYTES):
                self._done.wait()
                self._check()
                count, total = len(waiting), self._waiting_bytes + size
            if not count:
                self._work.notify()  # first: interrupted between the two, the entry would wait for ever
            waiting.append((event_id, session_id, at + 0.0, data))
            self._waiting_bytes = total

    def _try_again(self) -> None:
        """After a failure: what waits goes to the disk now, or nothing is added to it. Needs ``_lock``."""
        self._check(writing=False)
        self._failure = None
        target = self._committed + len(self._waiting)
        self._work.notify()
        while self._committed < target:
            self._done.wait()
            self._check()

    def when_kept(self, call: Callable[[], None]) -> bool:
        with self._lock:
            if not self._waiting or self._failure or self._closed or self._forked:
                return False
            self._calls.append((self._committed + len(self._waiting), call))
            return True

    def keep(self) -> None:
        """Wait until everything so far is committed. Of a failure, ``append`` tells."""
        with self._lock:
            target = self._committed + len(self._waiting)
            while self._committed < target and not (self._failure or self._closed or self._forked):
                self._done.wait()

    def sync(self) -> None:
        """Wait until everything so far is on disk. After a failure, it is tried again."""
        with self._lock:
            self._failure = None
            self._check()
            target = self._committed + len(self._waiting)
            self._wanted = max(self._wanted, target)
            self._work.notify()
            while self._synced < target:
                self._done.wait()
                self._check()

    def read(self, after: str | None = None, *, session: str | None = None, limit: int = 1000) -> list[Entry]:
        limit = max(limit, 0)
        with self._explained(), self._disk:  # while we hold it nothing moves from the waiting to the file
            with self._lock:
                self._check(writing=False)
                waiting = [*enumerate(self._waiting, self._committed + 1)]
            number = 0
            if after is not None:
                number = self._number(after, waiting)
                if not number or (session is None and number < self._gap):
                    raise not_kept(after)
            which, values = ("", ()) if session is None else ("session_id = ? AND ", (_text(session),))
            rows = self._connection.execute(
                f"SELECT event_id, session_id, data, at FROM entry WHERE {which}number > ? ORDER BY number LIMIT ?",
                (*values, number, limit),
            )
            found = [Entry(*row) for row in rows]
        for place, (event_id, session_id, at, data) in waiting:
            if len(found) >= limit:
                break
            if place > number and session in (None, session_id):
                found.append(Entry(event_id, session_id, data, at))
        return found

    def _number(self, event_id: str, waiting: Iterable[tuple[int, _Row]]) -> int:
        """The first place of an event, 0 if it has none."""
        for name in names(event_id):
            asked = self._connection.execute("SELECT MIN(number) FROM entry WHERE event_id = ?", (_text(name),))
            number: int | None = asked.fetchone()[0]
            number = number or next((place for place, row in waiting if row[0] == name), None)
            if number:
                return number
        return 0

    def sessions(self, *, open_only: bool = True) -> list[Kept]:
        with self._settled():
            rows = self._connection.execute(
                "SELECT session_id, COUNT(*), SUM(LENGTH(data)), MIN(at), MAX(at), MAX(ends) FROM entry"
                " GROUP BY session_id HAVING NOT (? AND MAX(ends)) ORDER BY MIN(number)",
                (open_only,),
            )
            return [Kept(id_, count, size, first, last, bool(ended)) for id_, count, size, first, last, ended in rows]

    def trim(self, now: float) -> int:
        with self._settled():
            gone = expired(self.sessions(open_only=False), self.retention, now)
            return self._drop("session_id = ?", [(session,) for session in gone]) if gone else 0

    def purge(self, session: str | None = None) -> int:
        with self._settled():
            dropped = self._drop("1", [()]) if session is None else self._drop("session_id = ?", [(_text(session),)])
            # Old copies are in the log as well: empty it now, not whenever it is used again.
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return dropped

    def _drop(self, which: str, each: list[tuple[str, ...]]) -> int:
        dropped, gap = 0, self._gap
        with self._transaction():
            for values in each:
                asked = self._connection.execute(f"SELECT COALESCE(MAX(number), 0) FROM entry WHERE {which}", values)
                gap = max(gap, asked.fetchone()[0])
                dropped += self._connection.execute(f"DELETE FROM entry WHERE {which}", values).rowcount
            # The numbers go on after the last one even if nothing is left to tell it.
            marks = [(gap, "gap"), (self._committed, "last")]
            self._connection.executemany("UPDATE mark SET number = ? WHERE name = ?", marks)
        self._gap = gap
        self._connection.execute("PRAGMA incremental_vacuum").fetchall()
        return dropped

    def close(self) -> None:
        with self._lock:
            if self._closed or self._forked:  # in a child of the owner, the file is not ours to close
                return
            self._closed = True
            self._work.notify_all()
            self._done.notify_all()
        self._thread.join()
        atexit.unregister(self.close)
        with _opening, self._disk:
            try:
                with self._explained():
                    while self._waiting:
                        self._commit()
            finally:
                self._connection.close()  # empties and removes the log
                _open.pop(self._key, None)

    # -- the writer --

    def _run(self) -> None:
        while True:
            with self._lock:
                while not self._closed and (
                    self._failure is not None or not (self._waiting or self._wanted > self._synced)
                ):
                    self._work.wait()
                if self._closed:
                    return
            try:
                with self._explained(), self._disk:
                    self._commit()
            except JournalError as error:
                self._fail(error)
            except Exception as error:  # whatever it is, those who wait must hear of it
                self._fail(JournalError(f"The journal {self.path} cannot be written: {error}."))

    def _fail(self, error: JournalError) -> None:
        with self._lock:
            self._failure = error
            self._done.notify_all()
        self._call(None)

    def _commit(self) -> None:
        """Write the next batch, and ask the disk if somebody waits for what is in it. Needs ``_disk``."""
        with self._lock:
            first = self._committed + 1
            batch = self._waiting[:BATCH]
            last = self._committed + len(batch)
            syncing = self._synced < self._wanted <= last
        if not (batch or syncing):
            return
        rows = [
            (number, event_id, session_id, at, ends(data), data)
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
            del self._waiting[: len(batch)]
            self._waiting_bytes = sum(len(row[3]) for row in self._waiting)
            self._committed = last
            if syncing:
                self._synced = last
            self._done.notify_all()
        self._call(last)

    def _call(self, last: int | None) -> None:
        """Call those who wait for what is committed now; all of them if nothing more will be."""
        with self._lock:
            ready = [call for number, call in self._calls if last is None or number <= last]
            self._calls = [one for one in self._calls if last is not None and one[0] > last]
        for call in ready:
            call()

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """Nothing waits, and nothing is written by anybody else meanwhile."""
        with self._explained(), self._disk:
            with self._lock:
                self._check()
                last = self._committed + len(self._waiting)
            while self._committed < last:
                self._commit()
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

    def _check(self, *, writing: bool = True) -> None:
        if self._closed:
            raise JournalError(f"The journal {self.path} is closed.")
        if self._forked:
            raise JournalError(
                f"The journal {self.path} was opened before a fork: open it in the process that uses it."
            )
        if writing and self._failure is not None:
            raise type(self._failure)(str(self._failure))

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of SQLite and of the system, in words that say what to do."""
        try:
            yield
        except sqlite3.Error as error:
            explain(self.path, error)
        except OSError as error:
            raise JournalError(f"The journal {self.path} cannot be used: {error.strerror or error}.") from error


def _text(asked: str) -> str:
    """An id to look for, which may be any string. What UTF-8 cannot hold was never kept, so it may look different."""
    return asked.encode(errors="backslashreplace").decode()


# -- opening ---------------------------------------------------------------------


def _opened(path: Path, *, create: bool) -> tuple[_Key, sqlite3.Connection]:
    """The file, checked before SQLite touches it, locked and found sound. Needs ``_opening``."""
    try:
        if create and not os.path.lexists(path):
            make_folder(path.parent)
            safe_folder(path.parent)
            _made(path)
        safe_folder(path.parent)
        key = _ours(path)
    except UnsafeFile as error:
        raise JournalUnsafe(str(error)) from error
    connection = _connected(path)
    try:
        # Until the first reading takes the lock, another process could have it.
        if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise damaged(path)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return key, connection


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path.as_uri() + "?mode=rw", uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    for setting in ("locking_mode = EXCLUSIVE", "secure_delete = ON", "temp_store = MEMORY", "trusted_schema = OFF"):
        connection.execute(f"PRAGMA {setting}").fetchall()
    connection.execute(f"PRAGMA journal_size_limit = {4 * 1024 * 1024}").fetchall()
    return connection


def _made(path: Path) -> None:
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
        with closing(_connected(fresh)) as connection:
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


def _ours(path: Path) -> _Key:
    """Check that the file is a journal of ours that nobody else can read, without following links."""
    for beside in (path.with_name(path.name + ending) for ending in _BESIDE):
        with suppress(FileNotFoundError):  # they are there only while it is open
            private(beside, beside.lstat())
    try:
        found = path.lstat()
    except FileNotFoundError as error:
        raise JournalError(f"There is no journal {path}.") from error
    private(path, found)
    key = (found.st_dev, found.st_ino)
    # Closing any handle of the file would drop this process's lock on it, so this comes before looking inside.
    if key in _open:
        raise in_use(path)
    with path.open("rb") as file:
        if os.path.samestat(os.fstat(file.fileno()), found):
            header = file.read(_HEADER)
        else:
            raise JournalUnsafe(f"The file {path} was exchanged while it was being opened.")
    kind, version = int.from_bytes(header[68:72]), int.from_bytes(header[60:64])
    if not header.startswith(_MAGIC) or len(header) < _HEADER or kind != _APPLICATION:
        text = f"The file {path} is not a journal, or its beginning is damaged."
        raise JournalDamaged(f"{text} It was left as it is: move it away, or name another file.")
    if version != _VERSION:
        raise JournalDamaged(f"The journal {path} is of form {version}, and this program knows {_VERSION}: update it.")
    return key


def _after_fork() -> None:
    """
    In a child, keep the owner's connections alive for ever.

    Closing one, even at exit, would remove the log under the owner's hands.
    """
    global _opening  # noqa: PLW0603  # the lock may have been held when the process forked
    for journal in _open.values():
        journal._forked = True
        journal._disk, journal._lock = RLock(), RLock()  # threads that are not here may hold the old ones
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(journal._connection))
    _open.clear()
    _opening = Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# -- what SQLite says, in words that say what to do ---------------------------------------


def explain(path: Path, error: sqlite3.Error) -> NoReturn:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what SQLite adds to tell cases apart
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        raise in_use(path) from error
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        raise damaged(path) from error
    if code == sqlite3.SQLITE_FULL:
        raise JournalError(f"The journal {path} cannot grow: the disk is full. Make room, then try again.") from error
    if code == sqlite3.SQLITE_READONLY:
        text = f"The journal {path} cannot be written: allow writing to it and its folder, or name another file."
        raise JournalError(text) from error
    raise JournalError(f"The journal {path} cannot be used: {error}.") from error


def in_use(path: Path) -> JournalInUse:
    return JournalInUse(f"The journal {path} is in use. End the agent that has it open, or name another file.")


def damaged(path: Path) -> JournalDamaged:
    return JournalDamaged(f"The journal {path} is damaged. It was left as it is: move it away, or name another file.")
