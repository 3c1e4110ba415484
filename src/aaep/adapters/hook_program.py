"""
The program that a coding agent starts for each of its hooks: it passes the event on and prints the answer.

It is started for every message that an agent shows, so it is run by its path and imports the standard library only:
importing the package would take several times as long as everything else.

What is printed decides whether a tool runs. An agent takes a crash, a timeout or output that it cannot read for "no
objection", so for a permission every way out of this program prints a whole JSON object, and only an answer that
the daemon has given to this very question allows anything. Hooks that only tell print nothing and exit with 0.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import stat
import sys
import time
from types import FrameType
from typing import Any, Final, NoReturn

__all__ = [
    "AGENTS",
    "ANSWER_TIMEOUT",
    "HOOK_TIMEOUT",
    "PERMISSION_EVENTS",
    "find_socket_path",
    "format_decision",
    "main",
]

# By the id under which readers find them: unix:claude.
AGENTS: Final = {"claude": "Claude Code", "copilot": "Copilot", "codex": "Codex", "gemini": "Gemini CLI"}
# The event that asks for a permission, for the agents where a hook can give or refuse it.
PERMISSION_EVENTS: Final = {"claude": "PermissionRequest", "copilot": "permissionRequest"}
HOOK_TIMEOUT: Final = 86_400  # seconds that an agent waits for a permission
# Shorter than the agent waits: what an agent gives up waiting for may run.
ANSWER_TIMEOUT: Final = HOOK_TIMEOUT - 60.0

_TELLING_TIMEOUT: Final = 2.0  # seconds that an agent may be held up by an event that only tells
_START_TIMEOUTS: Final = {True: 15.0, False: 3.0}  # seconds for the daemon to start; the longer one for a permission
_SOCKET_NAME: Final = "coding-agents.hooks"
_STDOUT: Final = 1
_RETRY_INTERVAL: Final = 0.02
_FAILURE_TTL: Final = 60.0  # seconds in which a daemon that did not start is not tried again by what only tells
_MAX_EVENT_BYTES: Final = 32 * 1024 * 1024
_UNUSED_MEMBERS: Final = ("tool_response", "toolResponse", "permission_suggestions", "llm_request", "llm_response")
_NOBODY_ASKED: Final = (
    "Nobody could be asked, so this was refused and nothing was done. The user has to run aaep listen unix:copilot."
)
_TIMED_OUT: Final = "The user did not answer in time. Nothing was done."


class _Terminated(Exception):
    """The agent has ended this hook: the person has answered at the terminal, or the agent ends itself."""


class _DaemonFailure(Exception):
    """The daemon could not be reached, or did not answer as it should."""


def main(arguments: list[str] | None = None) -> int:
    """Run one hook; the arguments are the agent and the event. Returns the exit status."""
    agent, event = [*(sys.argv[1:] if arguments is None else arguments), "", ""][:2]
    is_permission = event == PERMISSION_EVENTS.get(agent)
    try:
        if agent not in AGENTS or not event:
            raise ValueError(f"usage: AGENT EVENT, where AGENT is one of {', '.join(AGENTS)}")
        data = _read_event()
        if is_permission:
            _ask(agent, event, data)
        else:
            _tell(agent, event, data)
    except Exception as error:
        _complain(f"The hook failed: {type(error).__name__}: {error}.")
        if is_permission:
            with contextlib.suppress(OSError, ValueError):  # nobody reads it, and the exit status refuses too
                _print_json(format_decision(agent, "deny", "The hook failed, so this was refused. Nothing was done."))
        return 2 if is_permission or event.casefold() == "permissionrequest" else 0
    return 0


def _read_event() -> dict[str, Any]:
    data = json.loads(sys.stdin.buffer.read(_MAX_EVENT_BYTES))
    if not isinstance(data, dict):
        raise ValueError("standard input is no JSON object")
    return {name: value for name, value in data.items() if name not in _UNUSED_MEMBERS}


def _complain(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # nobody reads it
        print(f"aaep: {text}", file=sys.stderr, flush=True)


# -- a permission --------------------------------------------------------------------------------


def format_decision(agent: str, decision: str, message: str = "", *, interrupt: bool = False) -> dict[str, Any]:
    """
    Return what is printed for a decision: ``allow``, ``deny``, or ``none`` if there is none.

    Without one, Claude Code leaves the question to its own dialog. Copilot would go on to its own rules, which may
    allow everything, so there it is refused, unless it is to be left to the agent in any case (``leave``).
    With ``interrupt`` Claude Code ends its turn.
    """
    if agent == "copilot":
        if decision == "allow":
            return {"behavior": "allow"}
        return {} if decision == "leave" else {"behavior": "deny", "message": message or _NOBODY_ASKED}
    if decision in ("none", "leave"):
        return {}
    outcome: dict[str, Any] = {"behavior": "allow"}
    if decision != "allow":
        outcome = {"behavior": "deny", "message": message, **({"interrupt": True} if interrupt else {})}
    return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": outcome}}


def _ask(agent: str, event: str, data: dict[str, Any]) -> None:
    """Ask for a permission and print the decision."""
    signals = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
    connection: socket.socket | None = None
    decision, message, interrupt = "none", "", False
    try:
        for number in signals:
            signal.signal(number, _raise_terminated)
        connection = _connect(is_permission=True)
        decision, message, interrupt = _exchange(connection, agent, event, data)
    except _Terminated:  # closing the connection withdraws the question
        decision = "none"  # also where an answer came in the same moment
    except TimeoutError:
        decision, message = "deny", _TIMED_OUT
    except (OSError, _DaemonFailure) as error:
        _complain(f"{error}. Nothing is allowed by this hook.")
    finally:
        for number in signals:  # from here on the decision is made
            signal.signal(number, signal.SIG_IGN)
    try:
        _print_json(format_decision(agent, decision, message, interrupt=interrupt))
        if connection is not None and decision == "allow":
            _confirm_given(connection)
    finally:
        if connection is not None:
            connection.close()


def _raise_terminated(number: int, frame: FrameType | None) -> NoReturn:
    raise _Terminated


def _print_json(value: dict[str, Any]) -> None:
    # Not by sys.stdout: what it could not write it would try again at the end, and change the exit status.
    remaining = json.dumps(value).encode() + b"\n"
    while remaining:
        remaining = remaining[os.write(_STDOUT, remaining) :]


def _exchange(connection: socket.socket, agent: str, event: str, data: dict[str, Any]) -> tuple[str, str, bool]:
    """Send an event and return the decision on it, a message for the agent's model, and whether it is to stop."""
    ident = os.urandom(16).hex()
    connection.settimeout(ANSWER_TIMEOUT)
    _send(connection, {"id": ident, "agent": agent, "event": event, "data": data})
    answer = _receive(connection)
    if answer.get("id") != ident or answer.get("decision") not in ("allow", "deny", "none", "leave"):
        raise _DaemonFailure("The daemon gave an answer to something else")
    return answer["decision"], str(answer.get("message", "")), answer.get("interrupt") is True


def _confirm_given(connection: socket.socket) -> None:
    """Tell the daemon that the agent has its yes, and wait until the call was announced."""
    try:
        connection.settimeout(_TELLING_TIMEOUT)
        _send(connection, {"given": True})
        _receive(connection)
    except (OSError, _DaemonFailure) as error:
        _complain(f"{error}. The answer was given, and what it allows may not be told.")


# -- what is only told ---------------------------------------------------------------------------


def _tell(agent: str, event: str, data: dict[str, Any]) -> None:
    """Pass an event on. The agent is not disturbed by whatever may happen to that."""
    try:
        with _connect(is_permission=False) as connection:
            connection.settimeout(_TELLING_TIMEOUT)
            _send(connection, {"id": "", "agent": agent, "event": event, "data": data})
            _receive(connection)  # so that events are told in their order
    except (OSError, _DaemonFailure) as error:
        if str(error):
            _complain(f"{error}. Readers do not hear of this.")


# -- the daemon ----------------------------------------------------------------------------------


def find_socket_path() -> str:
    """Return the path of the daemon's socket, beside those of the user's agents (UDS-001 to UDS-003)."""
    uid = os.geteuid()
    if sys.platform == "darwin":
        parent, name = os.path.expanduser("~/Library/Application Support"), "AAEP"
    else:
        runtime_dir = os.environ.get("XDG_RUNTIME_DIR", "")
        parent, name = runtime_dir if runtime_dir.startswith("/") else f"/run/user/{uid}", "aaep"
    folder = f"/tmp/aaep-{uid}"
    if os.path.isdir(parent) and os.stat(parent).st_uid == uid and os.access(parent, os.W_OK | os.X_OK):
        folder = os.path.join(parent, name)
    # Not .sock: an agent's socket is that, and readers look for these.
    return os.path.join(folder, _SOCKET_NAME)


def _connect(*, is_permission: bool) -> socket.socket:
    """Return a connection to the daemon, which is started if it does not run."""
    path = find_socket_path()
    connection = _try_to_connect(path)
    if connection is not None:
        return connection
    marker = f"{path}.failed"
    if not is_permission and _is_recent(marker):
        raise _DaemonFailure("")  # it was said
    log = _start_daemon(path)
    deadline = time.monotonic() + _START_TIMEOUTS[is_permission]
    while time.monotonic() < deadline:
        connection = _try_to_connect(path)
        if connection is not None:
            return connection
        time.sleep(_RETRY_INTERVAL)
    with open(marker, "w", encoding="utf-8"):
        pass
    raise _DaemonFailure(f"The daemon does not start; {log} may say why")


def _try_to_connect(path: str) -> socket.socket | None:
    """Return a connection to a daemon of this user; None if none listens."""
    try:
        folder = os.lstat(os.path.dirname(path))
    except FileNotFoundError:
        return None
    uid = os.geteuid()
    # Whoever can put another socket there could say yes in the person's name.
    if not stat.S_ISDIR(folder.st_mode) or folder.st_uid != uid or folder.st_mode & 0o077:
        raise _DaemonFailure(f"The folder {os.path.dirname(path)} is not for you alone, so nothing there is trusted")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(_TELLING_TIMEOUT)
        connection.connect(path)
        return connection
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
        return None
    except TimeoutError as error:  # which would be taken for a person who did not answer
        connection.close()
        raise _DaemonFailure("The daemon does not answer") from error
    except BaseException:
        connection.close()
        raise


def _is_recent(marker: str) -> bool:
    try:
        return time.time() - os.stat(marker).st_mtime < _FAILURE_TTL
    except OSError:
        return False


def _start_daemon(path: str) -> str:
    """Start the daemon on its own, and return the file with what it may say."""
    import subprocess  # noqa: PLC0415  # most runs find the daemon running

    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    log = f"{path}.log"
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)
    try:
        # -P and the other folder: what the agent works on may have a module of our name.
        subprocess.Popen(
            [sys.executable, "-P", "-m", "aaep", "hooks", "daemon"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=descriptor,
            cwd="/",
            start_new_session=True,
        )
    finally:
        os.close(descriptor)
    return log


def _send(connection: socket.socket, message: dict[str, Any]) -> None:
    connection.sendall(json.dumps(message).encode() + b"\n")


def _receive(connection: socket.socket) -> dict[str, Any]:
    """Return the next line of the daemon."""
    line = b""
    while not line.endswith(b"\n"):
        received = connection.recv(65536)
        if not received:
            raise _DaemonFailure("The daemon has gone")
        line += received
        if len(line) > _MAX_EVENT_BYTES:
            raise _DaemonFailure("The daemon sends too much")
    try:
        message = json.loads(line)
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise _DaemonFailure("The daemon gave an answer that cannot be read")
    return message


if __name__ == "__main__":
    sys.exit(main())
