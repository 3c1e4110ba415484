"""
A guard around another program: whatever happens to us, the program and all that it started end with us.

Run as a script by :mod:`aaep.adapters.acp_messages`, with nothing but the standard library::

    python -I -S process_guard.py DESCRIPTOR COMMAND…

The descriptor is the reading end of a pipe whose other end only we hold. When it closes, because we closed it or
because we were killed, the program's process group is ended, and on Linux also what has left that group.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Final

GRACE: Final = 1.0  # seconds between SIGTERM and SIGKILL
COMMAND_NOT_FOUND: Final = 127
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36


def main() -> int:
    """Run the program until it ends or the pipe closes, and return its exit status."""
    control = int(sys.argv[1])
    command = sys.argv[2:]
    os.set_inheritable(control, False)
    _call_prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wakeup_receiver, wakeup_sender = os.pipe()
    os.set_blocking(wakeup_sender, False)
    signal.set_wakeup_fd(wakeup_sender)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    child = os.fork()
    if child == 0:
        _become(command)
    with contextlib.suppress(OSError):  # the child has done it already, or has ended
        os.setpgid(child, child)
    # Only the program may hold these: whoever reads its output waits for the last writer to close it.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    status: int | None = None
    while status is None:
        ready = select.select([control, wakeup_receiver], [], [])[0]
        status = _reap(child)
        if control in ready:
            break
        os.read(wakeup_receiver, 4096)
    return _end_all(child, status)


def _become(command: list[str]) -> None:
    """Turn this process into the program, in a process group of its own."""
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setpgid(0, 0)
        _call_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # should the guard itself be killed
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(COMMAND_NOT_FOUND)


def _call_prctl(option: int, value: int) -> None:
    """Set an attribute of this process, where the system has it."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415  # slow to load, and of no use elsewhere

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _reap(child: int) -> int | None:
    """Collect every process that has ended; return the exit status of the program if it is one of them."""
    status = None
    while True:
        try:
            process, raw_status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if process == 0:
            return status
        if process == child:
            status = os.waitstatus_to_exitcode(raw_status)


def _end_all(child: int, status: int | None) -> int:
    """End the group of the program and what it left behind, first politely."""
    deadline = time.monotonic() + GRACE
    _signal_group(child, signal.SIGTERM)
    while _has_group(child) and time.monotonic() < deadline:
        time.sleep(0.01)
        ended = _reap(child)
        status = status if ended is None else ended
    _signal_group(child, signal.SIGKILL)
    for _ in range(100):  # those that end leave us theirs
        orphans = _list_children()
        if not orphans:
            break
        for process in orphans:
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
        time.sleep(0.01)
        ended = _reap(child)
        status = status if ended is None else ended
    return 128 - status if status is not None and status < 0 else status or 0


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(OSError):  # it is empty
        os.killpg(group, number)


def _has_group(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _list_children() -> list[int]:
    """Return the processes that are left to us, where the system tells."""
    try:
        return [int(process) for process in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:
        return []


if __name__ == "__main__":
    sys.exit(main())
