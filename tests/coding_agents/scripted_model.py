"""
A language model for tests: it has a coding agent run the commands that a test wants, and then says goodbye.

It answers the requests of Chat Completions, Responses, Messages and Gemini, as streams or whole. Which command comes
next is told by the results that a request holds, so one server serves an agent that asks twice. The tool for a
command is found among those that the agent offers. A request that offers none is for a title, and gets one.
"""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

__all__ = ["CLOSING_WORDS", "OPENING_WORDS", "NewFile", "ScriptedModel"]

OPENING_WORDS: Final = "I will make a file."
CLOSING_WORDS: Final = "That was all."
LYING_WORDS: Final = "List the files."  # what the model says that a command does
MODEL: Final = "scripted"
_SHELL: Final = re.compile(r"(^|__)(shell|bash|run_shell_command|exec_command)$", re.IGNORECASE)
_COMMAND_NAMES: Final = ("command", "cmd")
_WRITER: Final = re.compile(r"^(write|create|write_file)$", re.IGNORECASE)
_PATH_NAMES: Final = ("file_path", "path")
_TEXT_NAMES: Final = ("content", "file_text")
_HOLD_LIMIT: Final = 60.0  # seconds, for a test that has failed

Message = dict[str, Any]


class Tool(NamedTuple):
    """A tool that the agent offers."""

    name: str
    schema: Mapping[str, Any]


class NewFile(NamedTuple):
    """A file that the model wants to write with the agent's own tool for that."""

    path: str
    text: str


class Step(NamedTuple):
    """One answer of the model: words, and the call of a tool unless it is the last."""

    text: str
    tool: str | None = None
    arguments: Mapping[str, Any] = {}


class ScriptedModel:
    """
    A server on a free port of this machine.

    ``commands`` are run, and files written, one after another. The answer with the command of index ``hold`` is kept
    back until :meth:`release`, or until the agent has given up. ``extra`` are arguments that the agent's tool is given
    too.
    """

    def __init__(
        self, commands: Sequence[str | NewFile], *, hold: int | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        self.commands = list(commands)
        self.unknown_paths: list[str] = []
        self.offered: set[str] = set()
        self._hold = hold
        self._extra = dict(extra or {})
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._server.model = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def address(self) -> str:
        """Where it listens, without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, _type: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.release()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def release(self) -> None:
        """Give the answer that was kept back."""
        self._released.set()

    def choose(self, tools: Sequence[Tool], results: int) -> Step:
        """Return the answer to a request that offers these tools and holds this many results of earlier calls."""
        if not tools:
            return Step("Title")
        self.offered.update(tool.name for tool in tools)
        if results == self._hold:
            self._released.wait(_HOLD_LIMIT)
        if results >= len(self.commands):
            return Step(CLOSING_WORDS)
        wanted = self.commands[results]
        name = _WRITER if isinstance(wanted, NewFile) else _SHELL
        tool = next((tool for tool in tools if name.search(tool.name)), None)
        if tool is None:
            return Step("No tool does that.")
        return Step(OPENING_WORDS if results == 0 else "", tool.name, self._fill_in(tool, wanted))

    def _fill_in(self, tool: Tool, command: str | NewFile) -> dict[str, Any]:
        """Return the arguments with which a tool runs a command or writes a file."""
        properties = tool.schema.get("properties") or {}
        if isinstance(command, NewFile):
            path_name, text_name = (
                next(name for name in names if name in properties) for names in (_PATH_NAMES, _TEXT_NAMES)
            )
            return {path_name: command.path, text_name: command.text}
        name = next((name for name in _COMMAND_NAMES if name in properties), _COMMAND_NAMES[0])
        member = properties.get(name)
        is_list = isinstance(member, dict) and str(member.get("type")).lower() == "array"
        arguments: dict[str, Any] = {name: ["sh", "-c", command] if is_list else command}
        if "description" in properties:
            arguments["description"] = LYING_WORDS
        return {**arguments, **self._extra}


class _Handler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"

    @property
    def model(self) -> ScriptedModel:
        model: ScriptedModel = self.server.model  # type: ignore[attr-defined]
        return model

    def log_message(self, format: str, *arguments: Any) -> None:
        """Write nothing: a test tells what went wrong."""

    def handle(self) -> None:
        """Answer until the agent has left, which it may do at any time."""
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def do_HEAD(self) -> None:
        """Say that the server is there."""
        self._send(b"", "application/json")

    def do_GET(self) -> None:
        """List the one model."""
        entry = {"id": MODEL, "object": "model", "type": "model", "display_name": MODEL, "owned_by": "tests"}
        self._send_json({"object": "list", "data": [entry], "models": [], "has_more": False})

    def do_POST(self) -> None:
        """Answer a request for the model's next words."""
        body = self._read_body()
        path = self.path.partition("?")[0]
        is_stream = body.get("stream") is True
        if path.endswith("/chat/completions"):
            self._answer(is_stream, _chat(body, self.model), with_done=True)
        elif path.endswith("/responses"):
            self._answer(is_stream, _responses(body, self.model))
        elif path.endswith("/messages"):
            self._answer(is_stream, _messages(body, self.model))
        elif path.endswith("/count_tokens") or path.endswith(":countTokens"):
            self._send_json({"input_tokens": 1, "totalTokens": 1})
        elif path.endswith((":streamGenerateContent", ":generateContent")):
            self._answer("stream" in path, _gemini(body, self.model))
        else:
            self.model.unknown_paths.append(self.path)
            self._send_json({}, status=404)

    def _read_body(self) -> Message:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = b""
            while size := int(self.rfile.readline().partition(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            data = gzip.decompress(data)
        body = json.loads(data or b"{}")
        return body if isinstance(body, dict) else {}

    def _answer(self, is_stream: bool, pieces: Iterator[tuple[str, Message]], *, with_done: bool = False) -> None:
        """Send the pieces as events; the first one is the whole answer, for those who do not want a stream."""
        _, whole = next(pieces)
        if not is_stream:
            self._send_json(whole)
            return
        lines = []
        for event, piece in pieces:
            lines.append((f"event: {event}\n" if event else "") + f"data: {json.dumps(piece)}\n\n")
        if with_done:
            lines.append("data: [DONE]\n\n")
        self._send("".join(lines).encode(), "text/event-stream")

    def _send_json(self, value: Message, *, status: int = 200) -> None:
        self._send(json.dumps(value).encode(), "application/json", status=status)

    def _send(self, data: bytes, content_type: str, *, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


# -- one function for each interface: first the whole answer, then the events of a stream --------------------


def _chat(body: Message, model: ScriptedModel) -> Iterator[tuple[str, Message]]:
    """Chat Completions: goose, opencode, Copilot."""
    tools = [
        Tool(tool["function"]["name"], tool["function"].get("parameters") or {}) for tool in body.get("tools") or []
    ]
    results = sum(message.get("role") == "tool" for message in body["messages"])
    step = model.choose(tools, results)
    head = {"id": f"chat-{results}", "created": 1, "model": body.get("model")}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    message: Message = {"role": "assistant", "content": step.text}
    calls: Message = {}
    if step.tool is not None:
        function = {"name": step.tool, "arguments": json.dumps(step.arguments)}
        calls["tool_calls"] = [{"index": 0, "id": f"call_{results}", "type": "function", "function": function}]
    reason = "stop" if step.tool is None else "tool_calls"
    choice = {"index": 0, "message": {**message, **calls}, "finish_reason": reason}
    yield "", {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    head["object"] = "chat.completion.chunk"
    for delta in (message, calls):
        yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield "", {**head, "choices": [], "usage": usage}


def _responses(body: Message, model: ScriptedModel) -> Iterator[tuple[str, Message]]:
    """Responses: Codex."""
    tools = [Tool(tool.get("name") or tool["type"], tool.get("parameters") or {}) for tool in body.get("tools") or []]
    entries = body["input"] if isinstance(body.get("input"), list) else []
    results = sum(entry.get("type") == "function_call_output" for entry in entries)
    step = model.choose(tools, results)
    items: list[Message] = []
    if step.text:
        content = [{"type": "output_text", "text": step.text, "annotations": []}]
        items.append({"type": "message", "id": f"msg_{results}", "role": "assistant", "content": content})
    if step.tool is not None:
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{results}",
                "call_id": f"call_{results}",
                "name": step.tool,
                "arguments": json.dumps(step.arguments),
            }
        )
    head = {"id": f"resp_{results}", "object": "response", "created_at": 1, "model": body.get("model")}
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    whole = {**head, "status": "completed", "output": items, "usage": usage}
    yield "", whole
    yield _event("response.created", response={**head, "status": "in_progress", "output": []})
    for index, item in enumerate(items):
        yield _event("response.output_item.added", output_index=index, item=item)
        if item["type"] == "message":
            where = {"item_id": item["id"], "output_index": index, "content_index": 0}
            yield _event("response.output_text.delta", **where, delta=step.text)
            yield _event("response.output_text.done", **where, text=step.text)
        yield _event("response.output_item.done", output_index=index, item=item)
    yield _event("response.completed", response=whole)


def _messages(body: Message, model: ScriptedModel) -> Iterator[tuple[str, Message]]:
    """Messages: Claude Code."""
    tools = [Tool(tool["name"], tool.get("input_schema") or {}) for tool in body.get("tools") or []]
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    results = sum(block.get("type") == "tool_result" for content in contents for block in content)
    step = model.choose(tools, results)
    blocks: list[Message] = []
    if step.text:
        blocks.append({"type": "text", "text": step.text})
    if step.tool is not None:
        blocks.append({"type": "tool_use", "id": f"toolu_{results}", "name": step.tool, "input": dict(step.arguments)})
    reason = "end_turn" if step.tool is None else "tool_use"
    usage = {"input_tokens": 1, "output_tokens": 1, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    head = {"id": f"msg_{results}", "type": "message", "role": "assistant", "model": body.get("model"), "usage": usage}
    end = {"stop_reason": reason, "stop_sequence": None}
    yield "", {**head, **end, "content": blocks}
    yield _event("message_start", message={**head, "content": [], "stop_reason": None, "stop_sequence": None})
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty: Message = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=empty)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    yield _event("message_delta", delta=end, usage=usage)
    yield _event("message_stop")


def _gemini(body: Message, model: ScriptedModel) -> Iterator[tuple[str, Message]]:
    """Gemini's own interface: Gemini CLI."""
    tools = [
        Tool(function["name"], function.get("parametersJsonSchema") or function.get("parameters") or {})
        for tool in body.get("tools") or []
        for function in tool.get("functionDeclarations") or []
    ]
    parts = [part for content in body.get("contents") or [] for part in content.get("parts") or []]
    step = model.choose(tools, sum("functionResponse" in part for part in parts))
    told: list[Message] = [{"text": step.text}] if step.text else []
    if step.tool is not None:
        told.append({"functionCall": {"name": step.tool, "args": dict(step.arguments)}})
    config = body.get("generationConfig") or {}
    if config.get("responseMimeType") == "application/json":  # which model to use, who speaks next
        told = [{"text": json.dumps({"reasoning": "", "model_choice": "flash", "next_speaker": "user"})}]
    candidate = {"index": 0, "content": {"role": "model", "parts": told}, "finishReason": "STOP"}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": MODEL}
    yield "", whole
    yield "", whole


def _event(kind: str, **members: Any) -> tuple[str, Message]:
    return kind, {"type": kind, **members}
