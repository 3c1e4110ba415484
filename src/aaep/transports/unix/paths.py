"""
Where an agent's socket is, and whether it can be trusted: Appendix B.4.1 and B.4.2.

Whoever may rename a folder above a socket could put another one in its place,
so the whole way to it is looked at, by its real name and without following
links (CF-104).
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import socket
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from ...errors import AaepError
from ...protocol.framing import MAX_MESSAGE_BYTES
from ...runtime.files import agent_file_name, create_private_folder
from ..base import ChannelLost, ChannelRefused

__all__ = [
    "BACKLOG",
    "claim",
    "dial",
    "folders",
    "fresh",
    "manifest_beside",
    "peer_of",
    "put",
    "read",
    "release",
    "wanted",
]

LONGEST: Final = 107 if sys.platform == "linux" else 103  # bytes the kernel has room for in an address
BACKLOG: Final = 1024
_TAIL: Final = ".sock"
_OTHERS: Final = 0o077
_WRITE: Final = 0o022


# -- names ---------------------------------------------------------------------------------


def folders(
    environment: Mapping[str, str] | None = None, platform: str = sys.platform, uid: int | None = None
) -> list[Path]:
    """Where sockets are by convention, the best place first."""
    environment = os.environ if environment is None else environment
    uid = os.geteuid() if uid is None else uid
    found = []
    if platform == "darwin":
        with suppress(RuntimeError):  # there is no home folder
            found.append(Path.home() / "Library" / "Application Support" / "AAEP")  # UDS-002
    else:
        given = environment.get("XDG_RUNTIME_DIR", "")
        # The XDG specification has relative paths ignored.
        found.append(Path(given if given.startswith("/") else f"/run/user/{uid}") / "aaep")  # UDS-001
    return [*found, Path("/tmp") / f"aaep-{uid}"]  # UDS-003: its owner is checked


def wanted(url: str, agent_id: str = "") -> Path | str:
    """What a ``unix:`` URL names: a path, or the id of an agent, which is ``agent_id`` if it names none."""
    rest = url.partition(":")[2]
    if rest.startswith("//") and not rest.startswith("///"):
        raise AaepError(f"{url!r} names a host, and a socket is on this one. Write unix:///path/to/agent.sock.")
    name = unquote(rest.removeprefix("//"))
    if name.startswith("/"):
        path = Path(name)
        if "\0" in name or ".." in path.parts or name.endswith("/") or len(path.parts) < 3:
            raise AaepError(f"{url!r} is not the path of a socket. Write it like unix:///path/to/agent.sock.")
        return path
    if name.startswith(("./", "../", "~")):
        raise AaepError(f"{url!r} is not the path of a socket from the root. Write it like unix:///path/to/agent.sock.")
    if not name and not agent_id:
        raise AaepError("Which agent? Write unix: and its id, or unix:///path/to/agent.sock.")
    return name or agent_id


def fresh(url: str, agent_id: str) -> Path:
    """Where to serve: the path that a URL names, or the first place by convention that can be written to."""
    found = wanted(url, agent_id)
    path = found if isinstance(found, Path) else _writable() / f"{agent_file_name(found)}{_TAIL}"
    _short_enough(path)
    return path


def _writable() -> Path:
    *better, last = folders()
    for place in better:
        above = place.parent
        # A runtime folder that came along with somebody else's environment is not ours to use.
        if above.is_dir() and above.stat().st_uid == os.geteuid() and os.access(above, os.W_OK | os.X_OK):
            return place
    return last


def _existing(url: str) -> Path:
    """Where to connect: the path that a URL names, or the first place by convention that has the agent's socket."""
    found = wanted(url)
    if isinstance(found, Path):
        path = found
    else:
        places = [place / f"{agent_file_name(found)}{_TAIL}" for place in folders()]
        path = next((one for one in places if os.path.lexists(one)), places[0])
    _short_enough(path)
    return path


def _short_enough(path: Path) -> None:
    size = len(os.fsencode(path))
    if size > LONGEST:  # CF-103
        raise AaepError(
            f"The path {path} has {size} bytes, and that of a socket {LONGEST} at most. "
            "Name a shorter one: unix:///short/path.sock."
        )


def manifest_beside(path: Path) -> Path:
    """Where the manifest of an agent is (CF-118)."""
    return path.with_name(f"{path.name.removesuffix(_TAIL)}.manifest.json")


# -- trust ---------------------------------------------------------------------------------


def _unsafe(folder: Path, denied: int) -> str:
    """Why a folder is not to be trusted; nothing if it is. ``denied`` is what others may not do in it."""
    for above in [folder.parent, *folder.parent.parents]:
        found = above.lstat()
        if found.st_uid not in (0, os.geteuid()):
            return f"The folder {above} belongs to another user, who could put something else in place of {folder}."
        if found.st_mode & _WRITE and not found.st_mode & stat.S_ISVTX:
            return f"Other users may write in the folder {above}. Run chmod go-w on it, or use another one."
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        return f"{folder} is a link, which is not followed. Name the folder itself."
    if not stat.S_ISDIR(found.st_mode):
        return f"{folder} is not a folder. Name another one."
    if found.st_uid != os.geteuid():
        return f"The folder {folder} belongs to another user. Name one of your own."
    if found.st_mode & denied:
        return f"Other users have rights in the folder {folder}. Run chmod 700 on it, or name another one."
    return ""


def _real(folder: Path) -> Path:
    """The folder by its real name, so that what is checked is what is used. Its own last part is not followed."""
    return Path(os.path.realpath(folder.parent)) / folder.name


def peer_of(connected: socket.socket, platform: str = sys.platform) -> tuple[int | None, int | None]:
    """The user and the process at the other end, as the kernel knows them; None for what it does not tell. CF-105"""
    try:
        if platform == "linux":
            data = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)  # struct ucred
            pid, uid = (int.from_bytes(data[at : at + 4], sys.byteorder, signed=True) for at in (0, 4))
            # What has no user in our namespace is shown as -1, and a process outside it as 0.
            return (uid if uid >= 0 else None), pid or None
        data = connected.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: struct xucred
        return int.from_bytes(data[4:8], sys.byteorder), None
    except OSError:
        return None, None


# -- serving -------------------------------------------------------------------------------


def claim(path: Path) -> tuple[socket.socket, Path]:
    """A socket that listens at a path, and its real path. Waits, if somebody else is doing the same there."""
    try:
        create_private_folder(path.parent)
        path = _real(path.parent) / path.name
        _short_enough(path)
        problem = _unsafe(path.parent, _OTHERS)
    except OSError as error:
        raise AaepError(f"Cannot use the folder {path.parent}: {error.strerror}. Name another one.") from error
    if problem:
        raise AaepError(problem)
    try:
        with _alone(path.parent):
            _clear(path)
            opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)  # UDS-004
            try:
                bind(opened, path)
                opened.listen(BACKLOG)
                opened.setblocking(False)
            except BaseException:
                opened.close()
                raise
    except OSError as error:
        raise AaepError(f"Cannot listen at {path}: {error.strerror}.") from error
    return opened, path


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Of two that find a stale socket, the slower would remove the socket of the quicker."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        os.close(opened)


def _clear(path: Path) -> None:
    """CF-104: a socket that nobody listens at any more is removed, if it was ours; nothing else is."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise AaepError(f"{path} is there, and is no socket. Move it away, or name another path.")
    if found.st_uid != os.geteuid():
        raise AaepError(f"The socket {path} belongs to another user. Name another path.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial:
        trial.setblocking(False)
        try:
            trial.connect(os.fspath(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            if error.errno == errno.ENOENT:
                return
            if error.errno != errno.EAGAIN:  # that is a full backlog, and so somebody's
                raise
    raise AaepError(f"Somebody listens at {path} already. Stop that agent, or name another path.")


def bind(opened: socket.socket, path: Path, platform: str = sys.platform) -> None:
    """Give a socket its path, for its owner alone from the first moment on (UDS-004, CF-104)."""
    if platform == "linux":  # the file gets the rights of the socket; the umask is that of all threads
        os.fchmod(opened.fileno(), 0o600)
        opened.bind(os.fspath(path))
    else:
        before = os.umask(0o177)
        try:
            opened.bind(os.fspath(path))
        finally:
            os.umask(before)


def put(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, for its owner alone."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(opened, "wb") as file:
            file.write(data)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def release(path: Path, inode: int) -> None:
    """Remove a socket and the manifest beside it, unless the place is somebody else's by now."""
    with suppress(OSError), _alone(path.parent):  # what is gone need not be removed
        if path.lstat().st_ino == inode:
            path.unlink()
            manifest_beside(path).unlink(missing_ok=True)


# -- connecting ----------------------------------------------------------------------------


def _trusted(url: str) -> Path:
    """The path of a socket that is the user's own (CF-104)."""
    path = _existing(url)
    path = _real(path.parent) / path.name
    try:
        problem = _unsafe(path.parent, _WRITE)
        found = path.lstat()
    except FileNotFoundError as error:
        raise ChannelLost(f"There is no socket {path}. Is the agent running?") from error
    except OSError as error:
        raise ChannelRefused(f"Cannot look at {path}: {error.strerror}.") from error
    if not problem and not stat.S_ISSOCK(found.st_mode):
        problem = f"{path} is not a socket."
    if not problem and found.st_uid != os.geteuid():
        problem = f"The socket {path} belongs to another user, so what answers there is not your agent."
    if problem:
        raise ChannelRefused(problem)
    return path


def dial(url: str) -> socket.socket | None:
    """A connection to the agent; None when it has too many callers at the moment. Does not wait."""
    path = _trusted(url)
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)  # UDS-005
    try:
        made.setblocking(False)
        made.connect(os.fspath(path))  # done or failed at once, on this kind of socket
        uid, _ = peer_of(made)
        if uid != os.geteuid():
            raise ChannelRefused(f"What answers at {path} belongs to another user, so it is not your agent.")
    except BlockingIOError:
        made.close()
        return None
    except (ConnectionRefusedError, FileNotFoundError) as error:
        made.close()
        raise ChannelLost(f"Nobody answers at {path}. Is the agent running?") from error
    except OSError as error:
        made.close()
        raise ChannelLost(f"Cannot connect to {path}: {error.strerror}.") from error
    except BaseException:
        made.close()
        raise
    return made


def read(url: str) -> bytes:
    """The manifest beside a socket."""
    path = manifest_beside(_trusted(url))
    try:
        opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(opened, "rb") as file:
            found = os.fstat(opened)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_size > MAX_MESSAGE_BYTES:
                raise ChannelRefused(f"{path} is not a manifest of your agent.")
            return file.read(MAX_MESSAGE_BYTES)
    except OSError as error:
        raise ChannelRefused(f"There is no manifest to read at {path}: {error.strerror}.") from error
