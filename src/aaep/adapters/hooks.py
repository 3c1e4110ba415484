"""
The daemon behind the hooks of coding agents: it holds their producers, tells what they do and asks what they may.

The hook program connects for each event and sends one JSON object on one line. An event that only tells is
acknowledged; a permission is answered with the person's decision, and the hook program says when the agent has it.
While a question is open the connection stays open: when it closes, the question was answered elsewhere and is
withdrawn.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, Literal

from ..errors import AaepError
from ..producer.producer import Producer
from .hook_calls import HookCall, read_call
from .hook_program import AGENTS, PERMISSION_EVENTS
from .hook_turns import Decision, Question, Turn

__all__ = ["HookServer"]

_log: Final = logging.getLogger("aaep.hooks")

_MAX_LINE_BYTES: Final = 64 * 1024 * 1024
_MAX_IDLE_PERIODS: Final = 24
_ACKNOWLEDGE_TIMEOUT: Final = 10.0  # seconds in which an agent takes a yes

Kind = Literal["start", "prompt", "message", "before", "after", "failed", "permission", "waiting", "stop", "error"]
_KINDS: Final[Mapping[str, Kind | Literal["end"]]] = {
    "SessionStart": "start",
    "sessionStart": "start",
    "UserPromptSubmit": "prompt",
    "userPromptSubmitted": "prompt",
    "BeforeAgent": "prompt",
    "MessageDisplay": "message",
    "PreToolUse": "before",
    "PostToolUse": "after",
    "postToolUse": "after",
    "AfterTool": "after",
    "PostToolUseFailure": "failed",
    "PermissionRequest": "permission",
    "permissionRequest": "permission",
    "Notification": "waiting",
    "Stop": "stop",
    "agentStop": "stop",
    "AfterAgent": "stop",
    "StopFailure": "error",
    "SessionEnd": "end",
    "sessionEnd": "end",
}
_NOT_A_PERSON: Final = "<task-notification>"  # Claude Code writes such a prompt by itself
_HAS_DIALOG: Final = frozenset({"claude", "codex", "gemini"})  # agents that ask by themselves without our answer
# What a turn ends with, for agents that do not tell their messages one by one.
_LAST_WORDS: Final = {"codex": "last_assistant_message", "gemini": "prompt_response"}


class HookServer:
    """
    Tells readers what hooks report, and asks them about permissions.

    ``open_producer`` is called once for each agent that is heard of, with its id in
    :data:`~aaep.adapters.hook_program.AGENTS`, and returns a producer that has started.
    ``reader_grace`` is how many seconds a permission waits for somebody who can answer. After ``idle_seconds``
    without an event the server ends; if an agent is at work, after 24 times that.
    """

    def __init__(
        self,
        open_producer: Callable[[str], Awaitable[Producer]],
        *,
        reader_grace: float = 30.0,
        idle_seconds: float = 3600.0,
    ) -> None:
        self._open_producer = open_producer
        self._producers: dict[str, Producer] = {}
        self._opening = asyncio.Lock()
        self._reader_grace = reader_grace
        self._idle_seconds = idle_seconds
        self._turns: dict[tuple[str, str], Turn] = {}
        self._connections: set[asyncio.Task[None]] = set()
        self._stopped = asyncio.Event()
        self._idle_periods = 0  # that have passed since the last event
        self._idle_timer: asyncio.TimerHandle | None = None

    def stop(self) -> None:
        """End the server, from its own loop."""
        self._stopped.set()

    async def serve(self, listening: socket.socket) -> None:
        """Serve hooks at a listening socket until nothing has happened for a while."""
        server = await asyncio.start_unix_server(self._accept, sock=listening, limit=_MAX_LINE_BYTES)
        try:
            self._note_activity()
            await self._stopped.wait()
        finally:
            server.close()
            if self._idle_timer is not None:
                self._idle_timer.cancel()
            for task in self._connections:
                task.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    def _note_activity(self) -> None:
        self._idle_periods = 0
        self._arm_idle_timer()

    def _arm_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        self._idle_timer = asyncio.get_running_loop().call_later(self._idle_seconds, self._check_idle)

    def _check_idle(self) -> None:
        is_at_work = any(turn.session.is_open for turn in self._turns.values())
        self._idle_periods += 1
        # A tool may run for hours. But not every turn has an end that is told.
        if self._connections or (is_at_work and self._idle_periods < _MAX_IDLE_PERIODS):
            self._arm_idle_timer()
        else:
            self._stopped.set()

    # -- connections -----------------------------------------------------------------------------

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._handle(reader, writer)
        except (OSError, ValueError, asyncio.IncompleteReadError) as error:
            _log.warning("A hook could not be served: %s", error)
        except asyncio.CancelledError:
            pass  # the server ends; without an answer nothing is allowed
        except Exception:
            _log.exception("A hook could not be served.")
        finally:
            self._connections.discard(task)
            self._note_activity()
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        if not line.endswith(b"\n"):
            return  # somebody looked whether we are there
        message = json.loads(line)
        agent, event, data = message["agent"], message["event"], message["data"]
        if agent not in AGENTS or not isinstance(event, str) or not isinstance(data, dict):
            raise ValueError("no event of a coding agent")
        self._note_activity()
        async with self._opening:  # in the order in which hooks come
            if agent not in self._producers:
                self._producers[agent] = await self._open_producer(agent)
        kind = _KINDS.get(event)
        if kind == "permission" and event == PERMISSION_EVENTS.get(agent):
            await self._handle_permission(agent, data, str(message["id"]), reader, writer)
            return
        try:
            self._tell(agent, "waiting" if kind == "permission" else kind, data)
        except AaepError:
            _log.warning("%s of %s could not be told.", event, agent, exc_info=True)
        await _send(writer, {"told": True})

    # -- telling ---------------------------------------------------------------------------------

    def _tell(self, agent: str, kind: str | None, data: Mapping[str, Any]) -> None:
        if kind in ("start", None):
            return
        if kind == "prompt":
            self._begin_turn(agent, data)
            return
        if kind in ("stop", "error", "end"):
            self._end_turn(agent, kind, data)
            return
        if kind == "waiting" and agent == "claude":
            self._note_notification(agent, data)
            return
        turn = self._get_turn(agent, data)
        if kind == "message":
            turn.show_message(data)
        elif kind == "waiting":
            turn.tell_waiting(_find_call(data))
        elif (call := _find_call(data)) is None:
            _log.warning("%s tells of a tool without a name.", agent)
        elif kind == "before":
            turn.note_begin(call)
        elif not _is_denied(data):
            turn.tell_end(call, is_success=kind == "after" and not _has_failed(data))

    def _note_notification(self, agent: str, data: Mapping[str, Any]) -> None:
        """Take what Claude Code shows as a notice: that it waits for a prompt, or for an answer to a form."""
        notice = data.get("notification_type")
        if notice == "elicitation_dialog":
            self._get_turn(agent, data).tell_waiting(None)
        elif notice == "idle_prompt":  # nothing else tells of the end of a turn that was stopped at the terminal
            turn = self._turns.pop(_find_key(agent, data), None)
            if turn is not None and turn.session.is_open:
                turn.cancel("hooks-idle")

    def _begin_turn(self, agent: str, data: Mapping[str, Any]) -> None:
        prompt = data.get("prompt")
        if isinstance(prompt, str) and prompt.startswith(_NOT_A_PERSON):
            return
        earlier = self._turns.pop(_find_key(agent, data), None)
        if earlier is not None and earlier.session.is_open:
            earlier.cancel("hooks-next")
        self._add_turn(agent, data, prompt if isinstance(prompt, str) else None)

    def _get_turn(self, agent: str, data: Mapping[str, Any]) -> Turn:
        """Return the turn that goes on; one whose beginning was not told begins here."""
        turn = self._turns.get(_find_key(agent, data))
        return turn if turn is not None and turn.session.is_open else self._add_turn(agent, data, None)

    def _add_turn(self, agent: str, data: Mapping[str, Any], prompt: str | None) -> Turn:
        turn = Turn(self._producers[agent], AGENTS[agent], prompt=prompt, has_dialog=agent in _HAS_DIALOG)
        self._turns[_find_key(agent, data)] = turn
        return turn

    def _end_turn(self, agent: str, kind: str, data: Mapping[str, Any]) -> None:
        key = _find_key(agent, data)
        last_words = data.get(_LAST_WORDS.get(agent, ""))
        if kind == "stop" and isinstance(last_words, str):
            self._get_turn(agent, data).write(last_words)
        turn = self._turns.pop(key, None)
        if turn is None or not turn.session.is_open:
            return
        if kind == "stop":
            turn.complete()
        elif kind == "error":
            error = data.get("error")
            turn.fail(error if isinstance(error, str) and error else None)
        else:
            turn.cancel("hooks-closed")

    # -- permissions -----------------------------------------------------------------------------

    async def _handle_permission(
        self,
        agent: str,
        data: Mapping[str, Any],
        ident: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        call = read_call(data)
        if agent == "copilot" and call.is_reading:  # it sends what it would never ask about, too
            await _send(writer, {"id": ident, **Decision("leave")._asdict()})
            return
        gone = asyncio.ensure_future(reader.readline())
        try:
            if not await self._wait_for_reader(agent, gone):
                if not gone.done():
                    await _send(writer, {"id": ident, **Decision("none")._asdict()})
                return
            turn = self._get_turn(agent, data)
            asked = turn.ask(call)
            if isinstance(asked, Decision):
                await _send(writer, {"id": ident, **asked._asdict()})
                return
            await self._put_question(turn, asked, ident, gone, writer)
        finally:
            gone.cancel()

    async def _wait_for_reader(self, agent: str, gone: asyncio.Future[Any]) -> bool:
        """Wait for somebody who can answer; return False if nobody comes, or the hook leaves before."""
        present = self._producers[agent].reader()
        if present.done:
            return True
        waiting: asyncio.Future[Any] = asyncio.ensure_future(_wait(present))
        try:
            await asyncio.wait([waiting, gone], timeout=self._reader_grace, return_when=asyncio.FIRST_COMPLETED)
            return waiting.done() and not gone.done()
        finally:
            waiting.cancel()

    async def _put_question(
        self, turn: Turn, question: Question, ident: str, gone: asyncio.Future[Any], writer: asyncio.StreamWriter
    ) -> None:
        """Wait for the answer or for the hook to leave, whichever comes first, and pass the answer on."""
        answering: asyncio.Future[Any] = asyncio.ensure_future(turn.wait_for_answer(question))
        try:
            await asyncio.wait([answering, gone], return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():
                turn.withdraw(question)
                answering.cancel()
                return
            decision = await answering
            await _send(writer, {"id": ident, **decision._asdict()})
            if decision.decision == "allow":
                await asyncio.wait({gone}, timeout=_ACKNOWLEDGE_TIMEOUT)
                if gone.done() and _is_acknowledged(gone):
                    await turn.begin(question)
                    await _send(writer, {"told": True})
        finally:
            answering.cancel()
            turn.skip(question)  # unless it has begun


async def _wait(present: Any) -> None:
    await present


async def _send(writer: asyncio.StreamWriter, message: Mapping[str, Any]) -> None:
    writer.write(json.dumps(message).encode() + b"\n")
    await writer.drain()


def _is_acknowledged(received: asyncio.Future[Any]) -> bool:
    try:
        return bool(json.loads(received.result()) == {"given": True})
    except (OSError, ValueError):
        return False


def _find_key(agent: str, data: Mapping[str, Any]) -> tuple[str, str]:
    session_id = next((data[name] for name in ("session_id", "sessionId") if isinstance(data.get(name), str)), "")
    return agent, session_id


def _find_call(data: Mapping[str, Any]) -> HookCall | None:
    try:
        return read_call(data)
    except ValueError:
        return None


def _get_result_type(data: Mapping[str, Any]) -> object:
    """Return how a tool of Copilot ended."""
    result = data.get("toolResult")
    return result.get("resultType") if isinstance(result, dict) else None


def _is_denied(data: Mapping[str, Any]) -> bool:
    return _get_result_type(data) in ("denied", "rejected")


def _has_failed(data: Mapping[str, Any]) -> bool:
    return _get_result_type(data) == "failure"
