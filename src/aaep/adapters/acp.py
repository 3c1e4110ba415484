"""
Coding agents that speak the Agent Client Protocol: heard by readers, and allowed nothing without a yes.

    with aaep.Producer("coding", listen="unix:coding") as producer:
        with CodingAgent(producer, "goose") as agent:
            agent.prompt("Make the tests pass.")

The agent is a program of its own. One prompt is one session: what the agent says, does and asks until it stops. It
is never offered to read or write files or to run commands through us, since then we would be the ones who act.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import logging
import os
import shutil
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from ..errors import LocalProtocolError
from ..producer.producer import Producer
from ..text.phrases import Phrases
from ..text.sanitize import truncate
from ..version import __version__
from .acp_agents import KnownAgent, NotAsking, find_agent, judge_mode
from .acp_messages import AgentGone, AgentProcess, AgentRefused, CodingAgentError, MethodNotFound, RequestId
from .acp_questions import HARMLESS, PermissionOptions, describe_call
from .acp_rules import AllowRule
from .acp_turn import MAX_WARNING_LENGTH, Turn

__all__ = ["CodingAgent", "StoredSession", "TurnResult"]

_log: Final = logging.getLogger("aaep.adapters")

PROTOCOL_VERSION: Final = 1
START_TIMEOUT: Final = 60.0  # seconds; some download their models first
CANCEL_TIMEOUT: Final = 10.0  # seconds in which an agent has to stop
_STOP_CHECK_INTERVAL: Final = 0.2  # seconds between looks whether a reader has ended the session
_MAX_PAGES: Final = 20  # of the list of sessions
_CAPABILITIES: Final = {
    "fs": {"readTextFile": False, "writeTextFile": False},
    "terminal": False,
    "elicitation": {"form": {}},
}


@dataclasses.dataclass(frozen=True, kw_only=True)
class StoredSession:
    """A session that the agent keeps and may resume."""

    id: str
    title: str = ""
    updated_at: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class TurnResult:
    """
    How a turn ended.

    ``stop_reason`` is the agent's own, or "error" or "gone". ``error`` is what the agent says of an error, for the
    person at this machine only: it may hold anything. ``unasked`` is what ran although nobody was asked.
    """

    stop_reason: str
    error: str = ""
    unasked: tuple[str, ...] = ()
    refusals: int = 0

    @property
    def is_done(self) -> bool:
        """Whether the agent ended its turn by itself."""
        return self.stop_reason == "end_turn"


class CodingAgent:
    """
    One coding agent at work in one folder.

    ``agent`` is a name of :data:`~aaep.adapters.acp_agents.AGENTS` or a :class:`KnownAgent`. ``rules`` are what the
    person allows without being asked. With ``allow_unasked`` an agent may start in a mode in which it does not ask,
    and what runs unasked is only told; otherwise it stops the turn. ``on_notice`` is called with sentences that
    belong to no turn.
    """

    def __init__(
        self,
        producer: Producer,
        agent: KnownAgent | str,
        *,
        cwd: str | os.PathLike[str] | None = None,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        mode: str | None = None,
        rules: Sequence[AllowRule] = (),
        allow_unasked: bool = False,
        on_notice: Callable[[str], None] | None = None,
        cancel_timeout: float = CANCEL_TIMEOUT,
        start_timeout: float = START_TIMEOUT,
    ) -> None:
        self.agent = find_agent(agent) if isinstance(agent, str) else agent
        self.cwd = os.path.abspath(os.fspath(cwd) if cwd is not None else os.getcwd())
        self.rules = tuple(rules)
        self.allows_unasked = allow_unasked
        self.session_id = ""
        self.mode = ""
        self.counts: Counter[str] = Counter()
        self._producer = producer
        self._phrases = producer.phrases
        self._arguments = tuple(arguments)
        self._environment = dict(os.environ if environment is None else environment)
        self._wanted_mode = mode or self.agent.mode
        self._mode_titles: dict[str, str] = {}
        self._on_notice = on_notice
        self._cancel_timeout = cancel_timeout
        self._start_timeout = start_timeout
        self._process: AgentProcess | None = None
        self._capabilities: dict[str, Any] = {}
        self._turn: Turn | None = None
        self._turn_lock = threading.Lock()
        self._prompt_lock = threading.Lock()
        self._tools: dict[str, dict[str, Any]] = {}  # all that is known of each tool call
        self._notices: deque[str] = deque(maxlen=20)  # told with the next turn
        self._told_between: set[str] = set()  # tool calls of which a notice told
        self._is_loading = False

    # -- starting and ending ---------------------------------------------------------------------

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The name of the agent, as rules use it."""
        return self.agent.name

    @property
    def stderr(self) -> list[str]:
        """The last lines that the agent wrote to standard error."""
        return self._process.stderr if self._process is not None else []

    @property
    def is_running(self) -> bool:
        """Whether the agent's program runs."""
        return self._process is not None and not self._process.is_gone

    def start(self, *, resume: str | None = None) -> None:
        """Start the agent and a session of it, or go on with the stored one that ``resume`` names."""
        self.connect()
        try:
            self._begin_session(resume)
        except BaseException:
            self.close()
            raise

    def connect(self) -> None:
        """Start the agent's program without a session, which is enough to list those that it keeps."""
        if self._process is not None:
            raise CodingAgentError(f"{self.agent.title} was started already.")
        argument = self.agent.find_unasking_argument(self._arguments)
        if argument is not None and not self.allows_unasked:
            raise NotAsking(f"With {argument} {self.agent.title} would not ask before it acts, so it was not started.")
        environment = self.agent.build_environment(self._environment)
        command = [*self.agent.command, *self._arguments]
        if shutil.which(command[0], path=environment.get("PATH")) is None:
            hint = f" Get it with: {self.agent.package}" if self.agent.package else ""
            raise CodingAgentError(f"{command[0]} was not found.{hint}")
        self._process = AgentProcess(
            command,
            cwd=self.cwd,
            env=environment,
            on_notification=self._handle_notification,
            on_request=self._handle_request,
        )
        try:
            self._initialize()
        except BaseException:
            self.close()
            raise

    def _initialize(self) -> None:
        answer = self._call(
            "initialize",
            {
                "protocolVersion": PROTOCOL_VERSION,
                "clientCapabilities": _CAPABILITIES,
                "clientInfo": {"name": "aaep", "title": "AAEP for Python", "version": __version__},
            },
        )
        if answer.get("protocolVersion") != PROTOCOL_VERSION:
            raise CodingAgentError(
                f"{self.agent.title} speaks version {answer.get('protocolVersion')} of the Agent Client Protocol. "
                f"Version {PROTOCOL_VERSION} is needed."
            )
        capabilities = answer.get("agentCapabilities")
        self._capabilities = capabilities if isinstance(capabilities, dict) else {}

    def _begin_session(self, resume: str | None) -> None:
        params: dict[str, Any] = {"cwd": self.cwd, "mcpServers": []}
        method = "session/new"
        if resume is not None:
            params["sessionId"] = resume
            method = self._find_resume_method()
        self._is_loading = True
        try:
            answer = self._call_logged_in(method, params)
        finally:
            self._is_loading = False
        session_id = answer.get("sessionId", resume)
        if not isinstance(session_id, str):
            raise CodingAgentError(f"{self.agent.title} began no session.")
        self.session_id = session_id
        self._ensure_asking(answer.get("modes"))

    def _find_resume_method(self) -> str:
        sessions = self._capabilities.get("sessionCapabilities")
        if isinstance(sessions, dict) and sessions.get("resume") is not None:
            return "session/resume"
        if self._capabilities.get("loadSession") is True:
            return "session/load"  # which tells all that was said again
        raise CodingAgentError(f"{self.agent.title} cannot resume a session.")

    def _call_logged_in(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request that may need a login, and log in if it does and a way is known."""
        try:
            return self._call(method, params)
        except AgentRefused as error:
            if self.agent.login is None:
                hint = f" It needs this: {self.agent.needs}" if self.agent.needs else ""
                raise CodingAgentError(f"{error}.{hint}") from error
        self._call("authenticate", {"methodId": self.agent.login})
        return self._call(method, params)

    def _call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if self._process is None:
            raise CodingAgentError(f"{self.agent.title} was not started.")
        answer = self._process.call(method, params, self._start_timeout)
        return answer if isinstance(answer, dict) else {}

    def list_sessions(self) -> list[StoredSession]:
        """Return the sessions that the agent keeps for this folder, where it can tell."""
        sessions = self._capabilities.get("sessionCapabilities")
        if not isinstance(sessions, dict) or sessions.get("list") is None:
            raise CodingAgentError(f"{self.agent.title} does not list its sessions.")
        found: list[StoredSession] = []
        params: dict[str, Any] = {"cwd": self.cwd}
        for _ in range(_MAX_PAGES):
            answer = self._call_logged_in("session/list", params)
            for entry in answer.get("sessions") or []:
                if isinstance(entry, dict) and isinstance(entry.get("sessionId"), str):
                    found.append(
                        StoredSession(
                            id=entry["sessionId"],
                            title=_as_text(entry.get("title")),
                            updated_at=_as_text(entry.get("updatedAt")),
                        )
                    )
            cursor = answer.get("nextCursor")
            if not isinstance(cursor, str):
                break
            params = {**params, "cursor": cursor}
        return found

    def close(self) -> None:
        """End the agent's program, and all that it started. An open question counts as refused."""
        turn = self._turn
        if turn is not None:
            turn.cancel()
        if self._process is not None:
            self._process.close()
            self.counts.update(self._process.counts)
            self._process.counts.clear()

    # -- modes -----------------------------------------------------------------------------------

    def _ensure_asking(self, modes: Any) -> None:
        """Put the session into the mode in which the agent asks, or raise."""
        available = modes.get("availableModes") if isinstance(modes, dict) else None
        for mode in available if isinstance(available, list) else ():
            if isinstance(mode, dict) and isinstance(mode.get("id"), str):
                self._mode_titles[mode["id"]] = _as_text(mode.get("name")) or mode["id"]
        self.mode = _as_text(modes.get("currentModeId")) if isinstance(modes, dict) else ""
        wanted = self._wanted_mode
        if wanted is not None and self.mode != wanted:
            try:
                self._call("session/set_mode", {"sessionId": self.session_id, "modeId": wanted})
                self.mode = wanted
            except AgentRefused as error:
                if not self.allows_unasked:
                    raise NotAsking(
                        f"{self.agent.title} has no mode {wanted}, in which it asks, so it was ended again. "
                        "Another version may be installed than the one that is known."
                    ) from error
        if self.mode and not self._asks_in(self.mode) and not self.allows_unasked:
            others = ", ".join(mode for mode in self._mode_titles if judge_mode(mode) == "asks")
            hint = f" In these it asks: {others}." if others else ""
            raise NotAsking(
                f"In the mode {self.mode} {self.agent.title} acts without asking, so it was ended again.{hint}"
            )
        is_known = bool(self.agent.mode or self.agent.environment) or judge_mode(self.mode) == "asks"
        if not is_known and not self.allows_unasked:
            self._notify(self._phrases["code-mode-unknown"])

    def _asks_in(self, mode: str) -> bool:
        if mode == self.agent.mode:
            return True
        verdict = judge_mode(mode)
        # Of an agent that is known, a mode that is not known is none in which it asks.
        return verdict == "asks" or (verdict == "unknown" and self.agent.mode is None)

    def change_mode(self, mode: str) -> tuple[str, bool]:
        """Note that the agent is in another mode; return its title, and whether the agent asks in it."""
        self.mode = mode
        return self._mode_titles.get(mode, mode), self._asks_in(mode)

    def restore_mode(self) -> None:
        """Have the agent ask again; where that cannot be done, the turn is stopped."""
        wanted = self._wanted_mode
        turn = self._turn
        if wanted is None or self._process is None:
            if turn is not None:
                turn.cancel_soon()
            return

        def handle(answer: Future[Any]) -> None:
            if answer.exception() is not None and turn is not None:
                turn.cancel_soon()

        params = {"sessionId": self.session_id, "modeId": wanted}
        self._process.send_request("session/set_mode", params).add_done_callback(handle)

    def is_sandboxed(self, kind: str) -> bool:
        """Whether the agent runs this kind of tool where it can change nothing."""
        kinds = self.agent.sandboxed_kinds
        return bool(kinds) and self.mode == self.agent.mode and (kind in kinds or kind in HARMLESS)

    # -- turns -----------------------------------------------------------------------------------

    def prompt(self, text: str, *, links: Sequence[str | os.PathLike[str]] = ()) -> TurnResult:
        """
        Send a prompt, and return when the agent has stopped. ``links`` are files that it should look at.

        Ctrl-C, or any other exception in this thread, cancels the turn.
        """
        if self._process is None or not self.session_id:
            raise CodingAgentError(f"{self.agent.title} was not started.")
        with (
            self._prompt_lock,
            self._producer.session(
                self._phrases.format("code-started", agent=self.agent.title), request=text
            ) as session,
        ):
            turn = Turn(session, self)
            with self._turn_lock:
                self._turn = turn
                self._tools.clear()
            try:
                while self._notices:
                    session.write(self._notices.popleft())
                blocks = [{"type": "text", "text": text}, *map(self._link, links)]
                result = self._run_turn(turn, {"sessionId": self.session_id, "prompt": blocks})
            except BaseException:
                turn.cancel()
                self._detach_turn()
                turn.finish(lambda session: session.cancel())
                raise
            return result

    def _detach_turn(self) -> None:
        with self._turn_lock:
            self._turn = None

    def _link(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        full = Path(self.cwd, path)
        return {"type": "resource_link", "uri": full.as_uri(), "name": os.fspath(path)}

    def _run_turn(self, turn: Turn, params: dict[str, Any]) -> TurnResult:
        assert self._process is not None
        answer: Any = None
        failure: CodingAgentError | None = None
        try:
            future = self._process.send_request("session/prompt", params)
            answer = self._wait_for_stop(turn, future)
        except CodingAgentError as error:
            failure = error
        reason = _as_text(answer.get("stopReason")) if isinstance(answer, dict) else ""
        if failure is not None:
            reason = "gone" if isinstance(failure, AgentGone) else "error"
        self._detach_turn()  # first: what arrives from now on has to be noticed all the same
        turn.end(reason)
        return TurnResult(
            stop_reason=reason or "unknown",
            error="" if failure is None else str(failure),
            unasked=tuple(turn.unasked),
            refusals=turn.refusals,
        )

    def _wait_for_stop(self, turn: Turn, future: Future[Any]) -> Any:
        """Wait for the end of the turn; one that was cancelled and does not end is ended with its program."""
        assert self._process is not None
        cancelled_at: float | None = None
        while not future.done():
            concurrent.futures.wait([future], _STOP_CHECK_INTERVAL)
            if not turn.session.is_open:  # a reader has ended it
                turn.cancel()
            if turn.is_cancelling and cancelled_at is None:
                cancelled_at = time.monotonic()
            if cancelled_at is not None and time.monotonic() - cancelled_at > self._cancel_timeout:
                self._process.close()
        return future.result()

    def cancel(self) -> None:
        """Stop the turn: open questions are refused, then the agent is told to stop."""
        turn = self._turn
        if turn is not None:
            turn.cancel()

    def send_cancel(self) -> None:
        """Tell the agent to stop."""
        if self._process is not None:
            self._process.notify("session/cancel", {"sessionId": self.session_id})

    # -- what arrives, on the thread that reads ----------------------------------------------------

    def _handle_notification(self, method: str, params: dict[str, Any]) -> None:
        try:
            if method == "session/update":
                self._handle_update(params)
            elif method == "$/cancel_request":
                turn = self._turn
                if turn is not None:
                    turn.withdraw(params.get("requestId"))
            else:
                self.counts["unknown notification"] += 1
        except Exception:  # the thread that reads must go on, and what it missed may matter
            _log.exception("A message of the coding agent could not be handled.")
            turn = self._turn
            if turn is not None:
                turn.has_failed = True
                turn.cancel_soon()

    def _handle_update(self, params: dict[str, Any]) -> None:
        update = params.get("update")
        if not isinstance(update, dict):
            self.counts["unknown update"] += 1
            return
        if self._is_loading:
            return
        tool = None
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            if not isinstance(update.get("toolCallId"), str):
                self.counts["unknown update"] += 1
                return
            tool = self._remember(update["toolCallId"], update)
        with self._turn_lock:
            turn = self._turn
            if turn is not None:
                turn.update(update, tool, is_own=params.get("sessionId") == self.session_id)
        if turn is None and tool is not None and update.get("status") in ("completed", "failed"):
            self._handle_idle_end(update["toolCallId"], tool)

    def _remember(self, ident: str, update: Mapping[str, Any]) -> dict[str, Any]:
        """Add to what is known of a tool call, whose arguments arrive piece by piece, and return all of it."""
        tool = self._tools.setdefault(ident, {})
        for name, value in update.items():
            if value not in (None, {}, [], ""):
                tool[name] = {**tool.get(name, {}), **value} if name == "_meta" and isinstance(value, dict) else value
        return dict(tool)

    def _handle_idle_end(self, ident: str, tool: Mapping[str, Any]) -> None:
        """Something ended that no turn was open for: it is told, unless it changes nothing."""
        if ident in self._told_between:
            return
        self._told_between.add(ident)
        try:
            proposal = describe_call(tool, self.cwd, self._phrases)
        except LocalProtocolError:
            action = self._phrases["code-undescribed"]
        else:
            if proposal.nature in HARMLESS or self.is_sandboxed(proposal.kind):
                return
            action = truncate(proposal.action, MAX_WARNING_LENGTH)
        self._notify(self._phrases.format("code-unasked", text=action))

    def _notify(self, text: str) -> None:
        """Tell what belongs to no turn: at once where somebody listens for it, otherwise with the next turn."""
        if self._on_notice is not None:
            self._on_notice(text)
        else:
            self._notices.append(text)

    def _handle_request(self, request_id: RequestId, method: str, params: dict[str, Any]) -> Callable[[], Any]:
        if method == "session/request_permission":
            return self._prepare_permission(request_id, params)
        if method == "elicitation/create":
            with self._turn_lock:
                if self._turn is None:
                    return lambda: {"action": "cancel"}
                return self._turn.prepare_form(request_id, params)
        self.counts["unknown request"] += 1
        raise MethodNotFound(method)

    def _prepare_permission(self, request_id: RequestId, params: dict[str, Any]) -> Callable[[], Any]:
        options = PermissionOptions(params.get("options"))
        call = params.get("toolCall")
        if not isinstance(call, dict) or not isinstance(call.get("toolCallId"), str):
            self.counts["unknown request"] += 1
            return options.refuse
        ident = call["toolCallId"]
        tool = self._remember(ident, call)
        with self._turn_lock:
            if self._turn is not None:
                return self._turn.prepare_permission(request_id, ident, tool, options)
        self._told_between.add(ident)
        self._notify(self._phrases.format("code-between", text=_label(tool, self.cwd, self._phrases)))
        return options.refuse


def _label(tool: Mapping[str, Any], cwd: str, phrases: Phrases) -> str:
    try:
        return describe_call(tool, cwd, phrases).label
    except LocalProtocolError:
        return ""


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""
