"""
A coding agent for tests, run as a program of its own: it plays a script and really does what it is allowed to do.

    python fake_acp_agent.py SCRIPT LOG [ARGUMENT…]

SCRIPT is a JSON file with ``initialize`` and ``new``, the results of these requests, and ``turns``, one list of steps
for each prompt; ``afterwards`` are steps that follow the end of a turn. A step is an object with one of these members:

    update     an update to send
    raw        a line to send as it is
    message    a message to send as it is
    ask        the parameters of a permission request; with ``id`` its id, with ``allowed`` and ``refused`` the steps
               that follow its answer, and with ``run`` a file to which a line is added if it is allowed
    ask_all    several of these at once; with ``then`` the steps before they are answered
    form       the parameters of an elicitation; the answer is logged
    run        a file to which a line is added, without asking anybody
    call       a request of some other method, whose answer is logged
    spawn      start a program that would stay for a long time, and log its process id
    wait       wait for a message of this method
    hang       wait until the turn is cancelled, or for ever with ``deaf``
    die        end the program
    stop       end the turn for this reason

Every message that arrives is added to LOG. In all texts ``{session}`` and ``{cwd}`` are filled in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any

SESSION = "s-1"


class Cancelled(Exception):
    """The turn is to end."""


class FakeAgent:
    def __init__(self, script: dict[str, Any], log: Path) -> None:
        self.script = script
        self.log_path = log
        self.turns = iter(script["turns"])
        self.answers: dict[Any, SimpleQueue[dict[str, Any]]] = {}
        self.methods: SimpleQueue[str] = SimpleQueue()
        self.cancelled = threading.Event()
        self.lock = threading.Lock()
        self.last_id = 100

    def log(self, **entry: Any) -> None:
        with self.lock, self.log_path.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def fill(self, value: Any) -> Any:
        text = json.dumps(value).replace("{session}", SESSION).replace("{cwd}", os.getcwd())
        return json.loads(text)

    def send(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message})
        with self.lock:
            sys.stdout.write(line + "\n")
            sys.stdout.flush()

    def serve(self) -> None:
        for line in sys.stdin:
            message = json.loads(line)
            self.log(received=message)
            method = message.get("method")
            if method is None:
                self.answers[message["id"]].put(message)
            elif method == "session/prompt":
                threading.Thread(target=self.play, args=(message["id"],), daemon=True).start()
            elif method == "session/cancel":
                self.cancelled.set()
                self.methods.put(method)
            else:
                self.methods.put(method)
                self.reply(message, method)

    def reply(self, message: dict[str, Any], method: str) -> None:
        error = self.script.get("errors", {}).get(method)
        if error and error.get("times", 1) > 0:
            error["times"] = error.get("times", 1) - 1
            self.send({"id": message["id"], "error": {"code": error.get("code", -32000), "message": error["message"]}})
            return
        for earlier in self.script.get("replayed", {}).get(method, []):
            self.send(self.fill(earlier))
        name = {"initialize": "initialize", "session/new": "new"}.get(method, method)
        self.send({"id": message["id"], "result": self.fill(self.script.get(name, {}))})

    # -- a turn ----------------------------------------------------------------------------

    def play(self, prompt_id: Any) -> None:
        self.cancelled.clear()
        try:
            reason = self.run_steps(next(self.turns))
        except Cancelled:
            reason = "cancelled"
        if reason is not None:
            self.send({"id": prompt_id, "result": {"stopReason": reason}})
            self.run_steps(self.script.get("afterwards", []))

    def run_steps(self, steps: list[dict[str, Any]]) -> str | None:
        for step in steps:
            reason = self.run_step(step)
            if reason is not None:
                return reason
        return "end_turn"

    def run_step(self, step: dict[str, Any]) -> str | None:
        if "update" in step:
            session = step.get("session", SESSION)
            self.send(
                {"method": "session/update", "params": {"sessionId": session, "update": self.fill(step["update"])}}
            )
        elif "raw" in step:
            with self.lock:
                sys.stdout.write(step["raw"] + "\n")
                sys.stdout.flush()
        elif "message" in step:
            self.send(self.fill(step["message"]))
        elif "ask" in step:
            return self.conclude(step, self.ask(step))
        elif "ask_all" in step:
            waiting = [(one, self.ask(one)) for one in step["ask_all"]]
            for one in step.get("then", []):
                self.run_step(one)
            for one, request_id in waiting:
                self.conclude(one, request_id)
        elif "form" in step:
            self.request("elicitation/create", {"sessionId": SESSION, **step["form"]})
        elif "call" in step:
            self.request(step["call"], {"sessionId": SESSION})
        elif "run" in step:
            self.act(step["run"])
        elif "spawn" in step:
            kept = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
            self.log(spawned=kept.pid)
        elif "wait" in step:
            while self.methods.get() != step["wait"]:
                pass
        elif "hang" in step:
            if step.get("deaf"):
                threading.Event().wait()
            self.cancelled.wait()
            raise Cancelled
        elif "die" in step:
            print("the fake agent dies", file=sys.stderr, flush=True)
            os._exit(step["die"])
        elif "stop" in step:
            return str(step["stop"])
        return None

    def new_id(self) -> int:
        self.last_id += 1
        return self.last_id

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        request_id = self.new_id()
        self.answers[request_id] = SimpleQueue()
        self.send({"id": request_id, "method": method, "params": self.fill(params)})
        return self.answers[request_id].get()

    def ask(self, step: dict[str, Any]) -> Any:
        request_id = step.get("id", self.new_id())
        self.answers[request_id] = SimpleQueue()
        params = {"sessionId": SESSION, **self.fill(step["ask"])}
        self.send({"id": request_id, "method": "session/request_permission", "params": params})
        return request_id

    def conclude(self, step: dict[str, Any], request_id: Any) -> str | None:
        """Wait for the answer as the real agents do: only an option that they offered, and that allows, is a yes."""
        answer = self.answers[request_id].get()
        outcome = (answer.get("result") or {}).get("outcome", {})
        kinds = {option["optionId"]: option["kind"] for option in step["ask"]["options"]}
        chosen = kinds.get(outcome.get("optionId"), "") if outcome.get("outcome") == "selected" else ""
        if chosen.startswith("allow"):
            self.act(step.get("run"))
            steps = step.get("allowed", [])
        else:
            steps = step.get("refused", [])
        if outcome.get("outcome") == "cancelled" and self.cancelled.is_set():
            raise Cancelled
        for one in steps:
            reason = self.run_step(one)
            if reason is not None:
                return reason
        return None

    def act(self, name: str | None) -> None:
        if name is not None:
            with open(name, "a") as file:
                file.write("ran\n")


def main() -> None:
    script = json.loads(Path(sys.argv[1]).read_text())
    agent = FakeAgent(script, Path(sys.argv[2]))
    agent.log(arguments=sys.argv[3:], pid=os.getpid(), environment=dict(os.environ))
    agent.serve()


if __name__ == "__main__":
    main()
