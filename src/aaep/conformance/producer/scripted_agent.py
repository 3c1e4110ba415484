"""
An agent that shows everything the suite looks for. It follows a script: it needs no model and no key.

``python -m aaep.conformance.producer.scripted_agent URL`` serves it there and prints
two lines: the address of the agent, and the address that starts a task by a POST
of ``{"task": "confirm"}``. It ends when its standard input does.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from ...errors import AaepError
from ...producer.producer import Producer
from ...producer.session import Session

__all__ = ["TASK_FUNCTIONS", "ScriptedAgent", "main"]

log: Final = logging.getLogger("aaep.conformance")

_PROMPT_TIMEOUT: Final = 2  # seconds
_PROMPT_DELAY: Final = 0.3  # seconds for a prompt to arrive before it is withdrawn
_SENTENCE_COUNT: Final = 30
_SENTENCE_DELAY: Final = 0.08  # seconds, as a model takes for a sentence
_MAX_BODY_BYTES: Final = 4096


class ScriptedAgent:
    """The agent and its tasks, each of which runs in a thread of its own."""

    def __init__(self, producer: Producer, *, prompt_timeout: int = _PROMPT_TIMEOUT) -> None:
        self.producer = producer
        self.look_up = producer.tool(name="look_up", risk="low", summary="Looking up {what}.")(self._look_up)
        self.send_letter = self._build_send_tool(None)
        self.send_letter_soon = self._build_send_tool(prompt_timeout)

    def _build_send_tool(self, timeout: int | None) -> Callable[[str], object]:
        tool: Callable[[str], object] = self.producer.tool(
            name="send_letter" if timeout is None else "send_letter_soon",
            risk="high",
            irreversible=True,
            action="Send the letter to {whom}.",
            consequence="A letter that is sent cannot be called back.",
            summary="Sending the letter to {whom}.",
            timeout=timeout,
        )(self._send)
        return tool

    def _look_up(self, what: str) -> str:
        """Look something up."""
        return f"{what}: found"

    def _send(self, whom: str) -> str:
        """Send a letter."""
        return f"sent to {whom}"

    def start(self, task: str) -> None:
        """Start a task, whose name is one of :data:`TASK_FUNCTIONS`, without waiting for it."""
        function = TASK_FUNCTIONS[task]

        def run() -> None:
            try:
                with self.producer.session(f"Working on the task {task}.", request=f"Do {task}.") as session:
                    function(self, session)
            except AaepError:
                log.info("The task %s ended early.", task)
            except OSError:
                log.info("The task %s failed, as it should.", task)

        threading.Thread(target=run, name=f"task-{task}", daemon=True).start()

    # -- tasks ---------------------------------------------------------------------------------

    def confirm(self, session: Session) -> None:
        """Look something up, and send a letter that has to be confirmed."""
        with session.thinking():
            session.progress(50)
        self.look_up("the address")
        self.send_letter("the bank")
        session.write("That is all. Nothing else is left to do.")

    def expire(self, session: Session) -> None:
        """Send a letter, with a confirmation that times out soon."""
        with session.thinking():
            self.send_letter_soon("the bank")

    def withdraw(self, session: Session) -> None:
        """Ask for a confirmation, and withdraw it."""
        with session.thinking():
            prompt = session.confirm("Send the letter.", "It cannot be called back.", tool="send_letter")
        threading.Event().wait(_PROMPT_DELAY)
        prompt.withdraw()
        session.write("It is no longer needed.")

    def cancel(self, session: Session) -> None:
        """Ask for a confirmation, and cancel the session."""
        with session.thinking():
            session.confirm("Send the letter.", "It cannot be called back.", tool="send_letter")
        threading.Event().wait(_PROMPT_DELAY)
        session.cancel(by="user")

    def clarify(self, session: Session) -> None:
        """Ask which of two banks is meant."""
        with session.thinking():
            answer = session.clarify("Which bank?", choices={"first": "The first", "second": "The second"}).wait()
        session.write(f"It is the {answer.response}.")

    def talk(self, session: Session) -> None:
        """Write thirty sentences, and send a letter that has to be confirmed."""
        with session.output() as output:
            for number in range(_SENTENCE_COUNT):
                output.write(f"This is sentence number {number}. ")
                time.sleep(_SENTENCE_DELAY)
        self.send_letter("the bank")

    def fail(self, session: Session) -> None:
        """Fail with an error."""
        with session.thinking():
            raise ConnectionError("the post office does not answer")

    def handoff(self, session: Session) -> None:
        """Hand over to a person."""
        with session.thinking():
            pass
        session.handoff("A person has to sign it.")
        session.handed_over()


TASK_FUNCTIONS: Final[dict[str, Callable[[ScriptedAgent, Session], None]]] = {
    "confirm": ScriptedAgent.confirm,
    "expire": ScriptedAgent.expire,
    "withdraw": ScriptedAgent.withdraw,
    "cancel": ScriptedAgent.cancel,
    "clarify": ScriptedAgent.clarify,
    "talk": ScriptedAgent.talk,
    "fail": ScriptedAgent.fail,
    "handoff": ScriptedAgent.handoff,
}


def _build_task_server(agent: ScriptedAgent) -> ThreadingHTTPServer:
    """Return a server on this machine whose requests start tasks."""

    class TaskHandler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            try:
                body = self.rfile.read(min(int(self.headers.get("Content-Length") or 0), _MAX_BODY_BYTES))
                agent.start(json.loads(body)["task"])
                status = 202
            except (KeyError, TypeError, ValueError):
                status = 400
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: standard output and standard error belong to the agent."""

    return ThreadingHTTPServer(("127.0.0.1", 0), TaskHandler)


def main(url: str = "http://127.0.0.1:0") -> None:
    """Serve the agent until standard input ends."""
    with Producer("conformance-agent", name="Scripted agent", version="1.0.0", listen=url, journal=None) as producer:
        task_server = _build_task_server(ScriptedAgent(producer))
        threading.Thread(target=task_server.serve_forever, name="task-server", daemon=True).start()
        print(producer.addresses[0], flush=True)
        print(f"http://127.0.0.1:{task_server.server_address[1]}/", flush=True)
        try:
            sys.stdin.read()
        except KeyboardInterrupt:
            pass  # the other way to end it
        finally:
            task_server.shutdown()


if __name__ == "__main__":
    main(*sys.argv[1:2])
