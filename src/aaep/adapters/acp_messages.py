"""
JSON-RPC with a coding agent: a program of its own, one JSON object on each line of its standard input and output.

What arrives is read tolerantly: lines that are no JSON, answers to nothing and members of the wrong type are counted
and left out. Requests of the agent are answered in every case, with an error if nothing better can be said, because
an agent takes an error for a no and silence for nothing at all.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import IO, Any, Final

from ..errors import AaepError
from . import process_guard

__all__ = [
    "AgentGone",
    "AgentProcess",
    "AgentRefused",
    "CodingAgentError",
    "MethodNotFound",
    "parse_message",
    "start_guarded",
]

MAX_LINE_BYTES: Final = 64 * 1024 * 1024  # opencode sends whole files on a line
MAX_STDERR_LINES: Final = 50
CLOSE_TIMEOUT: Final = 5.0  # seconds for the guard, which needs one at most
METHOD_NOT_FOUND: Final = -32601
INTERNAL_ERROR: Final = -32603

Message = dict[str, Any]
RequestId = int | float | str | None


class CodingAgentError(AaepError):
    """The base class of what goes wrong with a coding agent."""


class AgentGone(CodingAgentError):
    """The agent's program has ended, or never started. ``stderr`` has its last lines."""

    def __init__(self, message: str, stderr: Sequence[str] = ()) -> None:
        self.stderr = tuple(stderr)
        super().__init__(message)


class AgentRefused(CodingAgentError):
    """The agent answered a request with an error."""

    def __init__(self, method: str, error: Mapping[str, Any]) -> None:
        self.method = method
        self.code = error.get("code")
        text = error.get("message")
        data = error.get("data")
        details = data.get("details") or data.get("message") if isinstance(data, dict) else data
        parts = [part for part in (text, details) if isinstance(part, str) and part.strip()]
        super().__init__(f"{method} was answered with an error: {': '.join(parts) or self.code}")


class MethodNotFound(CodingAgentError):
    """The agent asks for something that is not offered."""


class AgentProcess:
    """
    A program that speaks JSON-RPC.

    ``on_notification`` and ``on_end`` are called on the thread that reads, in the order in which things arrived, and
    must not wait. ``on_request`` is called there too, and returns a function which is called on a thread of its own,
    may take as long as a person takes, and returns the result.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | os.PathLike[str],
        env: Mapping[str, str] | None = None,
        on_notification: Callable[[str, Message], None],
        on_request: Callable[[RequestId, str, Message], Callable[[], Any]],
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.counts: Counter[str] = Counter()  # what was left out: "garbage", "overlong", "unmatched"
        self._on_notification = on_notification
        self._on_request = on_request
        self._on_end = on_end
        self._write_lock = threading.Lock()
        self._state_lock = threading.Lock()
        self._last_id = 0
        self._pending: dict[int, tuple[str, Future[Any]]] = {}
        self._stderr: deque[str] = deque(maxlen=MAX_STDERR_LINES)
        self._is_gone = False
        self._name = os.path.basename(command[0])
        self._control: int | None = None
        self._process = self._start([*command], cwd, env)
        self._threads = [
            threading.Thread(target=target, name=name, daemon=True)
            for target, name in ((self._read, "aaep-acp-read"), (self._read_stderr, "aaep-acp-stderr"))
        ]
        for thread in self._threads:
            thread.start()

    def _start(
        self, command: list[str], cwd: str | os.PathLike[str], env: Mapping[str, str] | None
    ) -> subprocess.Popen[bytes]:
        process, self._control = start_guarded(command, cwd=cwd, env=env, stderr=subprocess.PIPE)
        return process

    # -- sending -----------------------------------------------------------------------------

    def call(self, method: str, params: Message, timeout: float | None = None) -> Any:
        """Send a request and wait for its result; raise if the agent answers with an error, ends, or takes too long."""
        future = self.send_request(method, params)
        try:
            return future.result(timeout)
        except TimeoutError as error:
            raise CodingAgentError(f"{self._name} did not answer {method} within {timeout:g} seconds.") from error

    def send_request(self, method: str, params: Message) -> Future[Any]:
        """Send a request and return the future of its result."""
        future: Future[Any] = Future()
        with self._state_lock:
            if self._is_gone:
                raise self._describe_end()
            self._last_id += 1
            number = self._last_id
            self._pending[number] = method, future
        try:
            self._send({"id": number, "method": method, "params": params})
        except AgentGone:
            with self._state_lock:
                self._pending.pop(number, None)
            raise
        return future

    def notify(self, method: str, params: Message) -> None:
        """Send a notification."""
        self._send({"method": method, "params": params})

    def _send(self, message: Message) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        stdin = self._process.stdin
        with self._write_lock:
            try:
                if stdin is None or stdin.closed:
                    raise BrokenPipeError
                stdin.write(data)
                stdin.flush()
            except OSError as error:
                raise self._describe_end() from error

    # -- reading -----------------------------------------------------------------------------

    def _read(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        try:
            while line := self._read_line(stdout):
                self._handle_line(line)
        except (OSError, ValueError):  # it was closed by us
            pass
        finally:
            self._handle_end()

    def _read_line(self, stdout: IO[bytes]) -> bytes:
        """Return the next line that is not too long, and nothing at the end."""
        while True:
            line = stdout.readline(MAX_LINE_BYTES)
            if len(line) < MAX_LINE_BYTES or line.endswith(b"\n"):
                return line
            self.counts["overlong"] += 1
            while line and not line.endswith(b"\n"):
                line = stdout.readline(MAX_LINE_BYTES)

    def _handle_line(self, line: bytes) -> None:
        if not line.strip():
            return
        message = parse_message(line)
        if message is None:
            self.counts["garbage"] += 1
            return
        method = message.get("method")
        params = message.get("params")
        if isinstance(method, str):
            members = params if isinstance(params, dict) else {}
            if "id" in message:
                self._handle_request(message["id"], method, members)
            else:
                self._on_notification(method, members)
        else:
            self._handle_answer(message)

    def _handle_answer(self, message: Message) -> None:
        number = message.get("id")
        with self._state_lock:
            pending = self._pending.pop(number, None) if type(number) is int else None
        if pending is None:
            self.counts["unmatched"] += 1
            return
        method, future = pending
        error = message.get("error")
        if error is not None or "result" not in message:
            future.set_exception(AgentRefused(method, error if isinstance(error, dict) else {}))
        else:
            future.set_result(message["result"])

    def _handle_request(self, request_id: RequestId, method: str, params: Message) -> None:
        try:
            handle = self._on_request(request_id, method, params)
        except Exception as error:
            self._answer_error(request_id, error)
            return
        threading.Thread(target=self._answer, args=(request_id, handle), name="aaep-acp-ask", daemon=True).start()

    def _answer(self, request_id: RequestId, handle: Callable[[], Any]) -> None:
        try:
            result = handle()
        except Exception as error:  # every agent takes an error for a no
            self._answer_error(request_id, error)
            return
        with contextlib.suppress(AgentGone):  # who asked has ended
            self._send({"id": request_id, "result": result})

    def _answer_error(self, request_id: RequestId, error: Exception) -> None:
        """Answer with an error. Its text stays here, since it may hold anything."""
        is_unknown = isinstance(error, MethodNotFound)
        told = {
            "code": METHOD_NOT_FOUND if is_unknown else INTERNAL_ERROR,
            "message": "Method not found" if is_unknown else type(error).__name__,
        }
        with contextlib.suppress(AgentGone):
            self._send({"id": request_id, "error": told})

    def _read_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        with contextlib.suppress(OSError, ValueError):  # it was closed by us
            while line := stderr.readline(65_536):
                self._stderr.append(line.decode(errors="replace").rstrip())

    # -- the end -----------------------------------------------------------------------------

    @property
    def is_gone(self) -> bool:
        """Whether the program has ended."""
        return self._is_gone

    @property
    def stderr(self) -> list[str]:
        """The last lines that the program wrote to standard error."""
        return [*self._stderr]

    def _describe_end(self) -> AgentGone:
        return AgentGone(f"{self._name} has ended.", self.stderr)

    def _handle_end(self) -> None:
        with self._state_lock:
            self._is_gone = True
            pending = [*self._pending.values()]
            self._pending.clear()
        with contextlib.suppress(RuntimeError):  # its thread is this one
            self._threads[1].join(1)  # so that its last words are there
        error = self._describe_end()
        for _, future in pending:
            future.set_exception(error)
        self._on_end()

    def _close_control(self) -> None:
        if self._control is not None:
            os.close(self._control)
            self._control = None

    def close(self) -> None:
        """End the program and all that it started, and wait until they are gone."""
        with self._write_lock, contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        self._close_control()
        if os.name != "posix":
            self._process.terminate()
        try:
            self._process.wait(CLOSE_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(CLOSE_TIMEOUT)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def start_guarded(
    command: Sequence[str],
    *,
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    stderr: int | None = None,
) -> tuple[subprocess.Popen[bytes], int | None]:
    """
    Start a program that ends with us, see :mod:`aaep.adapters.process_guard`.

    Returns the process and the descriptor whose closing ends it and all that it started; None where there are none.
    """
    name = command[0]
    guarded = [*command]
    inherited: tuple[int, ...] = ()
    control: int | None = None
    kept: int | None = None
    if os.name == "posix":
        control, kept = os.pipe()
        inherited = (control,)
        guarded = [sys.executable, "-I", "-S", str(process_guard.__file__), str(control), *command]
    try:
        process = subprocess.Popen(
            guarded,
            cwd=cwd,
            env=None if env is None else {**env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,  # Ctrl-C at the terminal is for us, and cancels the turn
            pass_fds=inherited,
        )
    except OSError as error:
        if kept is not None:
            os.close(kept)
        raise AgentGone(f"{name} cannot be started: {error.strerror}.") from error
    finally:
        if control is not None:
            os.close(control)
    return process, kept


def parse_message(line: bytes) -> Message | None:
    """Return the JSON object on a line, None if it is none."""
    try:
        message = json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    # Programs that cut texts in the middle of a character send half of it, which no event can hold.
    return _replace_surrogates(message) if b"\\ud" in line or b"\\uD" in line else message


def _replace_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_replace_surrogates(name): _replace_surrogates(item) for name, item in value.items()}
    return value
