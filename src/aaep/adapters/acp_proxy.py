"""
Between an editor and its coding agent: everything passes, and a permission is asked in both places.

The editor starts this program as its agent, and this program starts the agent. Each line passes as it is, whatever it
holds. When the agent asks for a permission, the editor gets its request as ever, and the readers of a producer get a
confirmation. The first answer counts, and the other question is withdrawn. Where nobody listens, or something here
fails, the editor decides alone, as if this program were not there.

Two threads pass lines on, one in each direction, and do nothing that could wait for a reader. A third one observes
what has passed, and tells it. Each question has a thread of its own, which waits for the person.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty, SimpleQueue
from typing import Any, Final, Literal

from ..producer.producer import Producer
from .acp_agents import judge_mode
from .acp_messages import MAX_LINE_BYTES, RequestId, parse_message, start_guarded
from .acp_questions import PermissionOptions
from .acp_rules import AllowRule
from .acp_turn import Turn

__all__ = ["AcpProxy"]

_log: Final = logging.getLogger("aaep.adapters")

EXIT_TIMEOUT: Final = 2.0  # seconds for an agent to end by itself when its editor has left
_STOP_CHECK_INTERVAL: Final = 0.2  # seconds between looks whether a reader has ended a session
_OPENING_METHODS: Final = ("session/new", "session/load", "session/resume", "session/fork")
_CHUNK_BYTES: Final = 65_536

Message = dict[str, Any]


class AcpProxy:
    """
    One agent for one editor.

    ``editor_input`` and ``editor_output`` are descriptors; the agent writes its errors where this program does.
    ``producer`` is started already, or None to pass everything on and do nothing else.
    """

    def __init__(
        self, command: Sequence[str], *, producer: Producer | None, editor_input: int, editor_output: int, title: str
    ) -> None:
        self.title = title
        self.counts: Counter[str] = Counter()
        self._producer = producer
        self._editor_input = editor_input
        self._editor_output = editor_output
        self._editor_lock = threading.Lock()
        self._agent_lock = threading.Lock()
        self._race_lock = threading.Lock()
        self._races: dict[str, _Race] = {}  # open questions, by the id of the agent's request
        self._is_closing = False
        self._has_ended = threading.Event()  # one of the two
        self._has_agent_ended = threading.Event()
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._observer = threading.Thread(target=self._observe, name="aaep-proxy-observe", daemon=True)
        # These belong to the observer.
        self._sessions: dict[str, _EditorSession] = {}  # by the agent's id
        self._prompts: dict[str, _EditorSession] = {}  # whose turn an answer will end
        self._openings: dict[str, Message] = {}  # parameters of requests that open sessions
        self._process: subprocess.Popen[bytes]
        self._process, self._control = start_guarded(command)

    def run(self) -> int:
        """Pass everything on until the editor or the agent has ended, and return the exit status."""
        from_agent = threading.Thread(target=self._pass_to_editor, name="aaep-proxy-agent", daemon=True)
        # It may be left waiting for a line: nothing can end that.
        from_editor = threading.Thread(target=self._pass_to_agent, name="aaep-proxy-editor", daemon=True)
        for descriptor in (self._editor_input, self._editor_output):
            os.set_blocking(descriptor, True)  # some editors leave it otherwise
        for thread in (self._observer, from_agent, from_editor):
            thread.start()
        try:
            self._has_ended.wait()
        finally:
            status = self._close()
            from_agent.join()
        return status

    def _close(self) -> int:
        """End the agent if it goes on, then what is told of it."""
        has_agent_ended = self._has_agent_ended.is_set()
        with self._race_lock:
            self._is_closing = True  # nobody may allow anything now
        self._jobs.put(lambda: self._end_turns(is_agent_gone=has_agent_ended))
        self._jobs.put(None)
        with self._agent_lock, contextlib.suppress(OSError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_TIMEOUT)
        if self._control is not None:
            os.close(self._control)
            self._control = None
        else:
            self._process.kill()
        status = self._process.wait()
        self._observer.join()
        return status if has_agent_ended else 0

    # -- passing on ------------------------------------------------------------------------------

    def _pass_to_agent(self) -> None:
        try:
            for line in _read_lines(self._editor_input):
                if self._guard(self._is_for_agent, line):
                    self._write_to_agent(line)
        except OSError:  # one of them is gone
            pass
        finally:
            self._has_ended.set()

    def _pass_to_editor(self) -> None:
        assert self._process.stdout is not None
        try:
            for line in _read_lines(self._process.stdout.fileno()):
                self._guard(self._note_agent_line, line)
                self._write_to_editor(line)
            self._has_agent_ended.set()
        except OSError:
            pass
        finally:
            self._process.stdout.close()
            self._has_ended.set()

    def _guard(self, look: Callable[[bytes], bool], line: bytes) -> bool:
        """Look at a line, and return whether it passes; a failure to understand it must not keep it from passing."""
        try:
            return look(line)
        except Exception:
            _log.exception("A line between the editor and its agent could not be looked at.")
            return True

    def _write_to_agent(self, line: bytes) -> None:
        assert self._process.stdin is not None
        with self._agent_lock:
            try:
                self._process.stdin.write(line)
                self._process.stdin.flush()
            except ValueError as error:  # it was closed here
                raise BrokenPipeError from error

    def _write_to_editor(self, line: bytes) -> None:
        with self._editor_lock:
            left = memoryview(line)
            while left:
                left = left[os.write(self._editor_output, left) :]

    def _is_for_agent(self, line: bytes) -> bool:
        """Whether a line of the editor is passed on: all are, but for an answer that came too late."""
        message = parse_message(line)
        if message is None:
            return True
        if isinstance(message.get("method"), str):
            self._jobs.put(lambda: self._observe_editor(message))
            return True
        with self._race_lock:
            race = self._races.get(_key(message.get("id")))
            if race is None:
                return True
            if race.winner == "reader":
                race.late_line = line
                return False
            race.winner = "editor"
            del self._races[_key(race.request_id)]
        self._jobs.put(lambda: self._settle(race, race.options.is_allowed_by(message.get("result"))))
        return True

    def _note_agent_line(self, line: bytes) -> bool:
        """Note what the agent says before it is passed on, since the answer to a question could be there at once."""
        message = parse_message(line)
        if message is None:
            return True
        params = message.get("params")
        members = params if isinstance(params, dict) else {}
        method = message.get("method")
        if method == "session/request_permission" and "id" in message:
            race = _Race(message["id"], members)
            with self._race_lock:
                self._races[_key(race.request_id)] = race
            self._jobs.put(lambda: self._ask(race))
        elif method == "$/cancel_request":
            with self._race_lock:
                cancelled = self._races.get(_key(members.get("requestId")))
                if cancelled is not None:
                    cancelled.is_withdrawn = True
            self._jobs.put(lambda: self._withdraw(members.get("requestId")))
        else:
            self._jobs.put(lambda: self._observe_agent(message, members))
        return True

    # -- questions -------------------------------------------------------------------------------

    def _ask(self, race: _Race) -> None:
        session = self._sessions.get(race.session_id)
        if session is None or session.turn is None or not race.tool_id:
            return  # asked outside of a turn: for the editor alone
        turn = session.turn
        tool = session.remember(race.tool_id, race.tool)
        decide = turn.prepare_opinion(race.request_id, race.tool_id, tool, race.options, lambda: self._claim(race))
        threading.Thread(target=self._answer, args=(race, decide), name="aaep-proxy-ask", daemon=True).start()

    def _claim(self, race: _Race) -> bool:
        """Take the right to answer; return False if it was taken before."""
        with self._race_lock:
            if race.winner is not None or race.is_withdrawn or self._is_closing:
                return False
            race.winner = "reader"
            return True

    def _answer(self, race: _Race, decide: Callable[[], bool | None]) -> None:
        """Answer for the person here, if they were the first, and have the editor ask no more."""
        is_allowed = decide()
        if is_allowed is None:
            self._give_up(race)
            return
        result = race.options.grant() if is_allowed else race.options.refuse()
        # First the editor: what the agent does next must not come to it before its question is gone.
        with contextlib.suppress(OSError):  # one of them has ended, and the other ends with it
            self._write_to_editor(_encode({"method": "$/cancel_request", "params": {"requestId": race.request_id}}))
            self._write_to_agent(_encode({"id": race.request_id, "result": result}))

    def _give_up(self, race: _Race) -> None:
        """Leave the answer to the editor, and pass it on if it was held back meanwhile."""
        with self._race_lock:
            if race.winner != "reader":
                return
            line = race.late_line
            race.winner = None if line is None else "editor"
        if line is not None:
            with contextlib.suppress(OSError):
                self._write_to_agent(line)

    def _settle(self, race: _Race, is_allowed: bool) -> None:
        session = self._sessions.get(race.session_id)
        if session is not None and session.turn is not None and race.tool_id:
            tool = session.remember(race.tool_id, race.tool)
            session.turn.settle(race.request_id, race.tool_id, tool, is_allowed=is_allowed)

    def _withdraw(self, request_id: RequestId) -> None:
        for session in self._sessions.values():
            if session.turn is not None:
                session.turn.withdraw(request_id)

    # -- observing -------------------------------------------------------------------------------

    def _observe(self) -> None:
        while True:
            self._check_stopped()
            try:
                job = self._jobs.get(timeout=_STOP_CHECK_INTERVAL)
            except Empty:
                continue
            if job is None:
                return
            if self._producer is None:
                continue
            try:
                job()
            except Exception:  # what is not told must not keep the editor from its agent
                _log.exception("A message between the editor and its agent could not be told.")

    def _check_stopped(self) -> None:
        """Stop the turn of a session that a reader has ended."""
        for session in self._sessions.values():
            if session.turn is not None and not session.turn.session.is_open and not session.turn.is_cancelling:
                session.turn.cancel_soon()

    def _observe_editor(self, message: Message) -> None:
        method, key = message["method"], _key(message.get("id"))
        params = message.get("params")
        members: Message = params if isinstance(params, dict) else {}
        if method in _OPENING_METHODS:
            self._openings[key] = members
        elif method == "session/prompt":
            session = self._find_session(members.get("sessionId"), {})
            if session is not None and self._producer is not None and session.turn is None:
                session.begin_turn(self._producer, _read_prompt(members.get("prompt")))
                self._prompts[key] = session

    def _observe_agent(self, message: Message, params: Message) -> None:
        method = message.get("method")
        if method is None:
            self._observe_answer(message)
            return
        session = self._sessions.get(str(params.get("sessionId")))
        turn = None if session is None else session.turn
        if session is None or turn is None:
            return
        if method == "session/update" and isinstance(params.get("update"), dict):
            update = params["update"]
            is_tool = update.get("sessionUpdate") in ("tool_call", "tool_call_update")
            ident = update.get("toolCallId")
            if is_tool and not isinstance(ident, str):
                self.counts["unknown update"] += 1
                return
            turn.update(update, session.remember(ident, update) if is_tool else None, is_own=True)
        elif method == "elicitation/create" and isinstance(params.get("toolCallId"), str):
            turn.note_form(params["toolCallId"])

    def _observe_answer(self, message: Message) -> None:
        key = _key(message.get("id"))
        result = message.get("result")
        members = result if isinstance(result, dict) else {}
        opening = self._openings.pop(key, None)
        if opening is not None:
            self._find_session(members.get("sessionId", opening.get("sessionId")), opening)
        session = self._prompts.pop(key, None)
        if session is not None:
            reason = members.get("stopReason") if "result" in message else "error"
            session.end_turn(reason if isinstance(reason, str) else "unknown")

    def _find_session(self, ident: Any, opening: Message) -> _EditorSession | None:
        if not isinstance(ident, str):
            return None
        session = self._sessions.get(ident)
        if session is None:
            cwd = opening.get("cwd")
            session = _EditorSession(self, ident, cwd if isinstance(cwd, str) else os.getcwd())
            self._sessions[ident] = session
        return session

    def _end_turns(self, *, is_agent_gone: bool) -> None:
        for session in self._sessions.values():
            session.end_turn("gone" if is_agent_gone else "editor gone")

    def send_cancel(self, session_id: str) -> None:
        """Tell the agent to stop, for a reader who wants that."""
        with contextlib.suppress(OSError):
            self._write_to_agent(_encode({"method": "session/cancel", "params": {"sessionId": session_id}}))


class _Race:
    """One request for a permission, and who has answered it."""

    def __init__(self, request_id: RequestId, params: Mapping[str, Any]) -> None:
        self.request_id = request_id
        self.session_id = str(params.get("sessionId"))
        self.options = PermissionOptions(params.get("options"))
        call = params.get("toolCall")
        self.tool: Mapping[str, Any] = call if isinstance(call, dict) else {}
        ident = self.tool.get("toolCallId")
        self.tool_id = ident if isinstance(ident, str) else ""
        self.winner: Literal["editor", "reader"] | None = None
        self.is_withdrawn = False  # by the agent
        self.late_line: bytes | None = None  # the editor's answer, when a reader's was first


class _EditorSession:
    """A session between the editor and the agent: what a turn needs to know of it."""

    def __init__(self, proxy: AcpProxy, ident: str, cwd: str) -> None:
        self.cwd = cwd
        self.name = proxy.title
        self.mode = ""
        self.rules: tuple[AllowRule, ...] = ()
        self.allows_unasked = True  # the editor may have been told to allow something always
        self.counts = proxy.counts
        self.turn: Turn | None = None
        self._proxy = proxy
        self._ident = ident
        self._tools: dict[str, dict[str, Any]] = {}

    def begin_turn(self, producer: Producer, text: str) -> None:
        """Tell that the agent is at work."""
        self._tools.clear()
        session = producer.session(producer.phrases.format("code-started", agent=self.name), request=text)
        self.turn = Turn(session.start(), self)

    def end_turn(self, reason: str) -> None:
        """Tell how the turn has ended, if there is one."""
        turn, self.turn = self.turn, None
        if turn is None:
            return
        if turn.has_failed:
            turn.finish(lambda session: session.fail(session.phrases["code-editor-fault"], category="permanent"))
        elif reason == "editor gone":
            turn.finish(lambda session: session.cancel(session.phrases["code-editor-gone"], by="user"))
        else:
            turn.end(reason)

    def remember(self, ident: str, update: Mapping[str, Any]) -> dict[str, Any]:
        """Add to what is known of a tool call, whose arguments arrive piece by piece, and return all of it."""
        tool = self._tools.setdefault(ident, {})
        tool.update({name: value for name, value in update.items() if value not in (None, {}, [], "")})
        return dict(tool)

    def is_sandboxed(self, kind: str) -> bool:
        """Whether the agent runs this kind of tool where it can change nothing, which is not known."""
        return False

    def send_cancel(self) -> None:
        """Tell the agent to stop, unless it was something here that failed."""
        if self.turn is None or not self.turn.has_failed:
            self._proxy.send_cancel(self._ident)

    def change_mode(self, mode: str) -> tuple[str, bool]:
        """Note that the agent is in another mode; return its title, and whether the agent asks in it."""
        self.mode = mode
        return mode, judge_mode(mode) != "does not ask"

    def restore_mode(self) -> None:
        """Leave the mode: it is the editor's."""


def _key(request_id: Any) -> str:
    """Return an id as a key: 1 and "1" are two."""
    return json.dumps(request_id)


def _encode(message: Message) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"


def _read_lines(descriptor: int) -> Iterator[bytes]:
    """Yield what arrives line by line, without a byte lost; a line that is too long comes in pieces."""
    pieces: list[bytes] = []
    size = 0
    while data := os.read(descriptor, _CHUNK_BYTES):
        *ends, rest = data.split(b"\n")
        for end in ends:
            yield b"".join([*pieces, end, b"\n"])
            pieces.clear()
            size = 0
        pieces.append(rest)
        size += len(rest)
        if size > MAX_LINE_BYTES:
            yield b"".join(pieces)
            pieces.clear()
            size = 0
    if size:
        yield b"".join(pieces)


def _read_prompt(blocks: Any) -> str:
    """Return the text of a prompt."""
    texts = [block.get("text") for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    return "\n".join(text for text in texts if isinstance(text, str))
