"""
Paths of Unix sockets and the checks that they can be trusted (Appendix B.4.1 and B.4.2).

A user who may rename a folder above a socket could replace the socket. Therefore
every folder of the resolved path is checked, without following links (CF-104).
"""

from __future__ import annotations

import errno
import fcntl
import os
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
    "choose_socket_path",
    "connect_socket",
    "get_manifest_path",
    "get_peer_ids",
    "list_socket_folders",
    "open_listening_socket",
    "parse_unix_url",
    "read_manifest",
    "remove_socket",
]

MAX_PATH_BYTES: Final = 107 if sys.platform == "linux" else 103  # that the kernel allows in an address
BACKLOG: Final = 1024  # connections
_SOCKET_SUFFIX: Final = ".sock"
_ANY_ACCESS_BY_OTHERS: Final = 0o077
_WRITE_BY_OTHERS: Final = 0o022


# -- paths ---------------------------------------------------------------------------------


def list_socket_folders(
    environment: Mapping[str, str] | None = None, platform: str = sys.platform, uid: int | None = None
) -> list[Path]:
    """Return the conventional folders for sockets, the preferred one first."""
    environment = os.environ if environment is None else environment
    uid = os.geteuid() if uid is None else uid
    folders = []
    if platform == "darwin":
        with suppress(RuntimeError):  # there is no home folder
            folders.append(Path.home() / "Library" / "Application Support" / "AAEP")  # UDS-002
    else:
        runtime_dir = environment.get("XDG_RUNTIME_DIR", "")
        # The XDG specification requires relative paths to be ignored.
        folders.append(Path(runtime_dir if runtime_dir.startswith("/") else f"/run/user/{uid}") / "aaep")  # UDS-001
    return [*folders, Path("/tmp") / f"aaep-{uid}"]  # UDS-003: its owner is checked


def parse_unix_url(url: str, agent_id: str = "") -> Path | str:
    """Return the path or the agent id that a ``unix:`` URL names; ``agent_id`` if it names neither."""
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


def choose_socket_path(url: str, agent_id: str) -> Path:
    """Return the path to serve at: the one that a URL names, or one in the first usable conventional folder."""
    target = parse_unix_url(url, agent_id)
    path = target if isinstance(target, Path) else _choose_folder() / f"{agent_file_name(target)}{_SOCKET_SUFFIX}"
    _check_path_length(path)
    return path


def _choose_folder() -> Path:
    *preferred, fallback = list_socket_folders()
    for folder in preferred:
        parent = folder.parent
        # A runtime folder inherited with another user's environment must not be used.
        if parent.is_dir() and parent.stat().st_uid == os.geteuid() and os.access(parent, os.W_OK | os.X_OK):
            return folder
    return fallback


def _find_socket_path(url: str) -> Path:
    """Return the path to connect to: the one that a URL names, or the agent's in the first folder that has it."""
    target = parse_unix_url(url)
    if isinstance(target, Path):
        path = target
    else:
        file_name = f"{agent_file_name(target)}{_SOCKET_SUFFIX}"
        candidates = [folder / file_name for folder in list_socket_folders()]
        path = next((candidate for candidate in candidates if os.path.lexists(candidate)), candidates[0])
    _check_path_length(path)
    return path


def _check_path_length(path: Path) -> None:
    size = len(os.fsencode(path))
    if size > MAX_PATH_BYTES:  # CF-103
        raise AaepError(
            f"The path {path} has {size} bytes, and that of a socket {MAX_PATH_BYTES} at most. "
            "Name a shorter one: unix:///short/path.sock."
        )


def get_manifest_path(path: Path) -> Path:
    """Return the path of the manifest that belongs to a socket (CF-118)."""
    return path.with_name(f"{path.name.removesuffix(_SOCKET_SUFFIX)}.manifest.json")


# -- trust ---------------------------------------------------------------------------------


def _find_folder_problem(folder: Path, denied: int) -> str:
    """Return why a folder cannot be trusted; empty if it can. Other users must not have the ``denied`` mode bits."""
    for parent in [folder.parent, *folder.parent.parents]:
        info = parent.lstat()
        if info.st_uid not in (0, os.geteuid()):
            return f"The folder {parent} belongs to another user, who could put something else in place of {folder}."
        if info.st_mode & _WRITE_BY_OTHERS and not info.st_mode & stat.S_ISVTX:
            return f"Other users may write in the folder {parent}. Run chmod go-w on it, or use another one."
    info = folder.lstat()
    if stat.S_ISLNK(info.st_mode):
        return f"{folder} is a link, which is not followed. Name the folder itself."
    if not stat.S_ISDIR(info.st_mode):
        return f"{folder} is not a folder. Name another one."
    if info.st_uid != os.geteuid():
        return f"The folder {folder} belongs to another user. Name one of your own."
    if info.st_mode & denied:
        return f"Other users have rights in the folder {folder}. Run chmod 700 on it, or name another one."
    return ""


def _resolve_folder(folder: Path) -> Path:
    """Return a folder with links above it resolved, so that the path that is checked is the one that is used."""
    return Path(os.path.realpath(folder.parent)) / folder.name


def get_peer_ids(connected: socket.socket, platform: str = sys.platform) -> tuple[int | None, int | None]:
    """Return uid and pid of the peer as the kernel reports them; None for one that it does not report (CF-105)."""
    try:
        if platform == "linux":
            data = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)  # struct ucred
            pid, uid = (int.from_bytes(data[offset : offset + 4], sys.byteorder, signed=True) for offset in (0, 4))
            # A user without a mapping in this namespace is reported as -1, a process outside it as 0.
            return (uid if uid >= 0 else None), pid or None
        data = connected.getsockopt(0, 1, 76)  # SOL_LOCAL, LOCAL_PEERCRED: struct xucred
        return int.from_bytes(data[4:8], sys.byteorder), None
    except OSError:
        return None, None


# -- serving -------------------------------------------------------------------------------


def open_listening_socket(path: Path) -> tuple[socket.socket, Path]:
    """Return a socket that listens at a path, and its resolved path. Blocks while another process does the same."""
    try:
        create_private_folder(path.parent)
        path = _resolve_folder(path.parent) / path.name
        _check_path_length(path)
        problem = _find_folder_problem(path.parent, _ANY_ACCESS_BY_OTHERS)
    except OSError as error:
        raise AaepError(f"Cannot use the folder {path.parent}: {error.strerror}. Name another one.") from error
    if problem:
        raise AaepError(problem)
    try:
        with _lock_folder(path.parent):
            _remove_stale_socket(path)
            listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)  # UDS-004
            try:
                bind_privately(listening, path)
                listening.listen(BACKLOG)
                listening.setblocking(False)
            except BaseException:
                listening.close()
                raise
    except OSError as error:
        raise AaepError(f"Cannot listen at {path}: {error.strerror}.") from error
    return listening, path


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Hold an exclusive lock on a folder, so that no process removes a socket that another has just created."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_stale_socket(path: Path) -> None:
    """Remove a socket of this user that no process listens at; raise for anything else at the path (CF-104)."""
    try:
        info = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(info.st_mode):
        raise AaepError(f"{path} is there, and is no socket. Move it away, or name another path.")
    if info.st_uid != os.geteuid():
        raise AaepError(f"The socket {path} belongs to another user. Name another path.")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except OSError as error:
            if error.errno == errno.ENOENT:
                return
            if error.errno != errno.EAGAIN:  # EAGAIN is a full backlog, so a process listens
                raise
    raise AaepError(f"Somebody listens at {path} already. Stop that agent, or name another path.")


def bind_privately(unbound: socket.socket, path: Path, platform: str = sys.platform) -> None:
    """Bind a socket to a path, accessible to its owner only from the first moment (UDS-004, CF-104)."""
    if platform == "linux":  # the file inherits the mode of the socket; a umask would affect all threads
        os.fchmod(unbound.fileno(), 0o600)
        unbound.bind(os.fspath(path))
    else:
        previous_umask = os.umask(0o177)
        try:
            unbound.bind(os.fspath(path))
        finally:
            os.umask(previous_umask)


def remove_socket(path: Path, inode: int) -> None:
    """Remove a socket and its manifest, unless another process has replaced the socket meanwhile."""
    with suppress(OSError), _lock_folder(path.parent):  # they may be removed already
        if path.lstat().st_ino == inode:
            path.unlink()
            get_manifest_path(path).unlink(missing_ok=True)


# -- connecting ----------------------------------------------------------------------------


def _find_trusted_socket(url: str) -> Path:
    """Return the path of the socket that a URL names, after checking that it is the user's own (CF-104)."""
    path = _find_socket_path(url)
    path = _resolve_folder(path.parent) / path.name
    try:
        problem = _find_folder_problem(path.parent, _WRITE_BY_OTHERS)
        info = path.lstat()
    except FileNotFoundError as error:
        raise ChannelLost(f"There is no socket {path}. Is the agent running?") from error
    except OSError as error:
        raise ChannelRefused(f"Cannot look at {path}: {error.strerror}.") from error
    if not problem and not stat.S_ISSOCK(info.st_mode):
        problem = f"{path} is not a socket."
    if not problem and info.st_uid != os.geteuid():
        problem = f"The socket {path} belongs to another user, so what answers there is not your agent."
    if problem:
        raise ChannelRefused(problem)
    return path


def connect_socket(url: str) -> socket.socket | None:
    """Return a socket connected to the agent; None while its backlog is full. Does not block."""
    path = _find_trusted_socket(url)
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)  # UDS-005
    try:
        connected.setblocking(False)
        connected.connect(os.fspath(path))  # a Unix socket succeeds or fails at once
        uid, _ = get_peer_ids(connected)
        if uid != os.geteuid():
            raise ChannelRefused(f"What answers at {path} belongs to another user, so it is not your agent.")
    except BlockingIOError:
        connected.close()
        return None
    except (ConnectionRefusedError, FileNotFoundError) as error:
        connected.close()
        raise ChannelLost(f"Nobody answers at {path}. Is the agent running?") from error
    except OSError as error:
        connected.close()
        raise ChannelLost(f"Cannot connect to {path}: {error.strerror}.") from error
    except BaseException:
        connected.close()
        raise
    return connected


def read_manifest(url: str) -> bytes:
    """Return the manifest file that lies beside the socket of a URL."""
    path = get_manifest_path(_find_trusted_socket(url))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_size > MAX_MESSAGE_BYTES:
                raise ChannelRefused(f"{path} is not a manifest of your agent.")
            return file.read(MAX_MESSAGE_BYTES)
    except OSError as error:
        raise ChannelRefused(f"There is no manifest to read at {path}: {error.strerror}.") from error
