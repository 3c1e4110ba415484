"""JSON-RPC over pipes, spoken to with pipes and the json module: nothing of ours is trusted to judge it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self

import pytest
import uvloop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aaep.errors import AaepError
from aaep.hub.hub import Hub
from aaep.identity.credentials import Credentials, Unauthorised
from aaep.identity.peer import Peer
from aaep.protocol.events import AwaitingConfirmation, SessionCompleted
from aaep.subscriber.subscriber import Subscriber
from aaep.transports.base import ChannelLost, ChannelRefused
from aaep.transports.options import ConnectOptions
from aaep.transports.stdio import server as stdio
from aaep.transports.stdio.pipes import PipeEnd
from aaep.transports.stdio.process import AgentProcess, start_agent
from tests import asking
from tests.asking import WAIT, Asker, parting, renegotiation, reply, request
from tests.serving import serve_pipes, served

ROOT = Path(__file__).parents[2]
UNKNOWN = "sub_" + "0" * 32


class Client:
    """Appendix B.6 on two pipes."""

    def __init__(self, reading: int, writing: int) -> None:
        self._in, self._out = os.fdopen(reading, "rb"), os.fdopen(writing, "wb", 0)
        self.id = ""
        self.calls = 0

    def raw(self, data: bytes) -> None:
        while data:  # a pipe may take less than all of it
            data = data[self._out.write(data) :]

    def send(self, method: str, params: Any = None, **more: Any) -> None:
        line = {"jsonrpc": "2.0", "method": method} | ({} if params is None else {"params": params}) | more
        self.raw(json.dumps(line).encode() + b"\n")

    def next(self) -> Any:
        """The next line; None at the end."""
        line = self._in.readline()
        if not line:
            return None
        assert line.endswith(b"\n") and b"\r" not in line
        found = json.loads(line)
        assert found.pop("jsonrpc") == "2.0"
        return found

    def call(self, method: str, params: Any = None) -> Any:
        """What a call is answered with."""
        self.calls += 1
        self.send(method, params, id=self.calls)
        answer = self.next()
        assert answer.pop("id") == self.calls
        return answer

    def subscribe(self, **capabilities: Any) -> Any:
        accepted = self.call("aaep.subscribe", request(**capabilities))["result"]
        assert accepted["type"] == "subscription.accepted", accepted
        self.id = accepted["subscription_id"]
        return accepted

    def event(self) -> Any:
        """The next line, which is an event."""
        line = self.next()
        assert {*line} == {"method", "params"} and line["method"] == "aaep.event", line
        return line["params"]

    def here(self) -> None:
        """Everything that was sent has been taken, and nothing came of it."""
        assert self.call("aaep.ping") == {"result": {}}

    def hang_up(self) -> None:
        self._out.close()

    def deaf(self) -> None:
        self._in.close()

    def close(self) -> None:
        self._in.close()
        self._out.close()


class Server:
    """A hub that is served on two pipes."""

    def __init__(self, door: dict[str, Any] | None = None, **options: Any) -> None:
        theirs, our_end = os.pipe()
        our_start, theirs_too = os.pipe()
        self.hub = asking.hub(**options)
        self.client = Client(our_start, our_end)
        self.agent = Asker(self.hub)
        try:
            self.url = served(self.hub, "stdio:", reading=theirs, writing=theirs_too, **(door or {}))
        except BaseException:
            self.hub.close()
            self.client.close()
            os.close(theirs)
            os.close(theirs_too)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.hub.close()
        self.client.close()


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        yield made


@pytest.fixture
def client(server: Server) -> Client:
    return server.client


# -- the six methods -------------------------------------------------------------------------------


def test_a_whole_conversation(server: Server, client: Client) -> None:
    assert server.url == "stdio:"
    accepted = client.subscribe()
    assert accepted["producer"]["agent_id"] == "bank"  # CF-109: complete
    asked = server.agent.ask("Pay\nthe bill\u2028– now.")
    came = client.event()
    assert (came["event_id"], came["action"]) == (asked.event_id, "Pay\nthe bill\u2028– now.")
    client.send("aaep.reply", reply(client.id, came["reply_token"]))
    client.here()
    assert [(message.reply_token, via) for message, via in server.agent.replies] == [(came["reply_token"], client.id)]
    answer = client.call("aaep.renegotiate", renegotiation(client.id, preferred_verbosity="terse"))
    assert answer["result"]["honored_capabilities"]["preferred_verbosity"] == "terse"
    client.send("aaep.close", parting(client.id))
    client.here()
    assert server.agent.gone.wait(WAIT)
    server.agent.ask()
    client.here()


def test_an_id_may_be_a_text_and_is_given_back(client: Client) -> None:
    client.send("aaep.subscribe", request(), id="é 1")
    assert client.next()["id"] == "é 1"


def test_cf_110_a_rejection_is_a_result_and_another_try_is_possible(client: Client) -> None:
    answer = client.call("aaep.subscribe", request() | {"aaep_version": "9.0.0"})
    assert answer["result"]["type"] == "subscription.rejected"
    client.subscribe()


def test_after_a_close_another_subscription_may_follow(server: Server, client: Client) -> None:
    client.subscribe()
    first = server.agent.ask()
    assert client.event()["event_id"] == first.event_id
    client.send("aaep.close", parting(client.id))
    second = server.agent.ask()
    client.subscribe(attend={"resume_after": first.event_id})  # CF-084
    assert client.event()["event_id"] == second.event_id


def test_a_producer_that_closes_says_so(server: Server, client: Client) -> None:
    client.subscribe()
    server.hub.close()
    said = client.next()
    assert said["method"] == "aaep.close" and "id" not in said
    assert (said["params"]["reason_code"], said["params"]["subscription_id"]) == ("producer_shutdown", client.id)
    assert client.next() is None


def test_a_reader_that_leaves_is_noticed(client: Client, server: Server) -> None:
    client.subscribe()
    client.hang_up()
    assert client.next() is None


def test_a_reader_that_stops_reading_is_noticed() -> None:
    with Server(resume_window=0.01) as server:
        server.client.subscribe()
        server.client.deaf()
        while not server.agent.gone.is_set():
            server.agent.ask()
            server.agent.gone.wait(0.01)


def test_a_reader_that_takes_nothing_is_let_go_and_may_come_back() -> None:
    with Server(max_lag=0.05, high_water_bytes=10_000) as server:
        client = server.client
        client.subscribe()
        while "slow_consumers_total 1" not in server.hub.metrics():
            server.agent.ask("word " * 400)
            server.agent.gone.wait(0.001)  # the hub needs its turn
        last = ""
        while (line := client.next())["method"] == "aaep.event":
            last = line["params"]["event_id"]
        assert line["params"]["reason_code"] == "slow_consumer"
        after = server.agent.ask()
        client.subscribe(attend={"resume_after": last})
        while client.event()["event_id"] != after.event_id:
            pass


def test_closing_does_not_wait_for_who_takes_nothing() -> None:
    with Server() as server:
        server.client.subscribe()
        for _ in range(100):
            server.agent.ask("word " * 400)
        server.hub.close()


# -- what is no call -------------------------------------------------------------------------------


@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"{", -32700),
        (b"hello", -32700),
        (b"\xff", -32700),
        (b'{"jsonrpc":"2.0","method":"aaep.ping","id":1,"x":"\xff"}', -32700),
        (b"[" * 100_000, -32600),
        (b"[]", -32600),
        (b'[{"jsonrpc":"2.0","method":"aaep.ping","id":1}]', -32600),
        (b"{}", -32600),
        (b"1", -32600),
        (b'{"jsonrpc":"1.0","method":"aaep.ping","id":1}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"2.0","method":1,"id":1}', -32600),
        (b'{"jsonrpc":"2.0","method":"aaep.ping","id":null}', -32600),
        (b'{"jsonrpc":"2.0","method":"aaep.ping","id":1.5}', -32600),
    ],
)
def test_cf_110_a_line_that_is_no_call_is_an_error_for_no_call(
    client: Client, line: bytes, code: int, joined: bool
) -> None:
    if joined:
        client.subscribe()
    client.raw(line + b"\n")
    answer = client.next()
    if line.startswith(b"[["):
        code = answer["error"]["code"]  # too deep to be read, or no call: both are true
        assert code in (-32700, -32600)
    assert answer["id"] is None and answer["error"]["code"] == code
    assert {*answer["error"]} == {"code", "message"}
    client.here()


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("aaep.unsubscribe", {}, -32601),
        ("aaep.event", {}, -32601),
        ("", {}, -32600),
        ("aaep.subscribe", None, -32602),
        ("aaep.subscribe", [], -32602),
        ("aaep.subscribe", {"type": "subscription.request"}, -32602),
        ("aaep.subscribe", renegotiation(UNKNOWN), -32602),
        ("aaep.renegotiate", renegotiation(UNKNOWN), -32602),
        ("aaep.renegotiate", request(), -32602),
    ],
)
@pytest.mark.parametrize("joined", [False, True])
def test_cf_110_a_call_that_cannot_be_answered_is_an_error(
    client: Client, method: str, params: Any, code: int, joined: bool
) -> None:
    if joined:
        client.subscribe()
    client.send(method, params, id=99)
    answer = client.next()
    assert answer["error"]["code"] == code
    assert answer["id"] == (99 if method else None)
    client.here()


def test_cf_040_a_second_subscription_beside_the_first_is_refused(client: Client) -> None:
    client.subscribe()
    assert client.call("aaep.subscribe", request())["error"]["code"] == -32602
    client.call("aaep.renegotiate", renegotiation(client.id))["result"]


@pytest.mark.parametrize("call", [False, True], ids=["notification", "call"])
@pytest.mark.parametrize(
    "wrong",
    [
        {"subscription_id": UNKNOWN},
        {"reply_token": "other"},
        {"decision": "maybe"},
        {"timestamp": "now"},
        {"type": "confirmation.replies"},
        {"type": "subscription.close"},
        {"reply_token": 1},
    ],
)
def test_cf_110_a_reply_is_answered_alike_whatever_it_is(
    server: Server, client: Client, wrong: dict[str, Any], call: bool
) -> None:
    client.subscribe()
    answers = []
    for message in (reply(client.id, "rpl_1") | wrong, reply(client.id, "rpl_2")):
        if call:
            answers.append(client.call("aaep.reply", message))
        else:
            client.send("aaep.reply", message)
    client.here()
    assert answers == ([{"result": {}}] * 2 if call else [])
    assert [message.reply_token for message, _ in server.agent.replies] == ["rpl_2"]


@pytest.mark.parametrize("method", ["aaep.reply", "aaep.close", "aaep.subscribe", "aaep.ping", "other"])
@pytest.mark.parametrize("params", [[], 1, None, "x", {}, {"type": "x"}])
def test_a_notification_is_never_answered(server: Server, client: Client, method: str, params: Any) -> None:
    client.subscribe()
    client.send(method, params)
    client.here()
    server.agent.ask()
    client.event()


def test_answers_to_nothing_are_ignored(client: Client) -> None:
    client.raw(b'{"jsonrpc":"2.0","result":{},"id":1}\n{"jsonrpc":"2.0","error":{},"id":null}\n')
    client.here()


def test_a_reply_before_the_handshake_is_none(server: Server, client: Client) -> None:
    client.send("aaep.reply", reply(UNKNOWN, "rpl_1"))
    client.here()
    assert server.agent.replies == []


def test_half_a_line_is_none(server: Server, client: Client) -> None:
    client.subscribe()
    line = {"jsonrpc": "2.0", "method": "aaep.reply", "params": reply(client.id, "rpl_1")}
    client.raw(json.dumps(line).encode())
    client.hang_up()
    assert client.next() is None
    assert server.agent.replies == []


def test_lines_come_in_any_pieces_and_with_either_end(server: Server, client: Client) -> None:
    client.subscribe()
    line = {"jsonrpc": "2.0", "method": "aaep.reply", "params": reply(client.id, "rpl_1")}
    for byte in json.dumps(line).encode() + b"\r\n":
        client.raw(bytes([byte]))
    client.here()
    assert len(server.agent.replies) == 1


def test_cf_114_a_line_that_is_too_long_is_a_protocol_error(server: Server, client: Client) -> None:
    client.subscribe()
    with contextlib.suppress(BrokenPipeError):  # hung up on before all of it was written
        client.raw(b"x" * (1024 * 1024 + 1))
    assert client.next()["error"]["code"] == -32600
    said = client.next()
    assert said["method"] == "aaep.close" and said["params"]["reason_code"] == "protocol_error"
    assert client.next() is None


def test_answers_that_nobody_takes_do_not_pile_up() -> None:
    with Server(high_water_bytes=10_000) as server:
        line = b'{"jsonrpc":"2.0","method":"aaep.ping","id":1}\n' * 100
        os.set_blocking(server.client._out.fileno(), False)
        sent = 0
        while sent < 100_000_000 and (written := server.client._out.write(line)):
            sent += written
        assert sent < 10_000_000  # what the kernel keeps, and no more
        os.set_blocking(server.client._out.fileno(), True)


LINES = st.one_of(
    st.binary(max_size=100),
    st.fixed_dictionaries(
        {"jsonrpc": st.sampled_from(["2.0", "1.0"])},
        optional={
            "method": st.sampled_from(["aaep.reply", "aaep.renegotiate", "aaep.ping", "aaep.event", ""]),
            "id": st.none() | st.integers(-5, 5) | st.text(max_size=3) | st.floats(allow_nan=False),
            "result": st.just({}),
            "params": st.one_of(
                st.none(),
                st.lists(st.integers(), max_size=2),
                st.fixed_dictionaries(
                    {},
                    optional={
                        "type": st.sampled_from(["confirmation.reply", "clarification.reply", "x"]),
                        "reply_token": st.just("rpl_1") | st.integers(),
                        "decision": st.sampled_from(["accept", "reject", 1]),
                        "subscription_id": st.text(max_size=8),
                        "timestamp": st.sampled_from(["2026-05-24T14:22:11.000Z", "now"]),
                    },
                ),
            ),
        },
    ).map(lambda value: json.dumps(value).encode()),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(sent=st.lists(LINES, min_size=1, max_size=4))
def test_nothing_that_is_sent_answers_for_a_person_or_breaks_the_door(server: Server, sent: list[bytes]) -> None:
    client = server.client
    if not client.id:
        client.subscribe()
    for data in sent:
        client.raw(data + b"\n")
    client.send("aaep.ping", id="the end")
    while (line := client.next()) != {"result": {}, "id": "the end"}:
        assert line is not None and ("error" in line or line.get("result") == {}), line
    assert server.agent.replies == []


# -- who is there, and on what ---------------------------------------------------------------------


class Gate:
    def __init__(self, problem: Exception | None = None) -> None:
        self.problem = problem
        self.shown: list[Credentials] = []

    def authenticate(self, given: Credentials) -> Peer:
        self.shown.append(given)
        if self.problem is not None:
            raise self.problem
        return Peer("parent", given.transport)


def test_an_identity_decides() -> None:
    gate = Gate()
    with Server({"identity": gate}) as server:
        server.client.subscribe()
    assert gate.shown == [Credentials(transport="stdio-jsonrpc", is_over_pipes=True)]
    with pytest.raises(Unauthorised):
        Server({"identity": Gate(Unauthorised("Not you."))})


@pytest.mark.parametrize(
    ("url", "door"), [("stdio:python agent.py", {}), ("stdio:", {"reading": 0}), ("stdio:", {"writing": 1})]
)
def test_what_cannot_be_served_is_refused_in_words(url: str, door: dict[str, Any]) -> None:
    hub = asking.hub()
    try:
        with pytest.raises(AaepError):
            served(hub, url, **door)
    finally:
        hub.close()


SERVE = """
from tests import asking
from tests.serving import serve_pipes, served
hub = asking.hub()
try:
    served(hub, "stdio:")
finally:
    hub.close()
"""


@pytest.mark.parametrize("broken", ["stdin", "stdout", "stderr"])
def test_what_is_no_pipe_is_refused_in_words(broken: str, tmp_path: Path) -> None:
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with (tmp_path / "file").open("w+") as file:
        pipes[broken] = subprocess.STDOUT if broken == "stderr" else file
        done = subprocess.Popen([sys.executable, "-c", SERVE], cwd=ROOT, text=True, **pipes)
        out, said = done.communicate(timeout=WAIT)
    assert done.returncode == 1
    assert ("not a pipe" in said) if broken != "stderr" else ("one pipe" in out)


# -- a process -------------------------------------------------------------------------------------

AGENT = '''
"""An agent that moves money, and prints where it should not."""
import os, subprocess, sys
from aaep import Producer

with Producer("bank", listen="stdio:", journal=None) as producer:
    print("A stray print.")
    sys.stdout.buffer.write(b"stray bytes\\n")
    os.write(1, b"from below\\n")
    subprocess.run(["echo", "from a child"], check=True)
    assert sys.stdin.read() == ""

    @producer.tool(action="Transfer {amount}.", consequence="Funds move at once.")
    def transfer(amount):
        print("Moved", amount)

    producer.reader(replies=True).wait(20)
    with producer.session("Moving money.") as session:
        session.write("First this.")
        transfer("$5")
'''

# What somebody writes who has read Appendix B.6 and nothing else.
READER = """
import json, subprocess, sys

agent = subprocess.Popen([sys.executable, sys.argv[1]], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

def send(method, params, **more):
    line = {"jsonrpc": "2.0", "method": method, "params": params, **more}
    agent.stdin.write(json.dumps(line).encode() + b"\\n")
    agent.stdin.flush()

send("aaep.subscribe", json.loads(sys.argv[2]), id=1)
for line in agent.stdout:
    message = json.loads(line)
    if message.get("id") == 1:
        subscription = message["result"]["subscription_id"]
    elif message["method"] == "aaep.event":
        event = message["params"]
        print(event["type"], flush=True)
        if event["type"] == "aaep:agent.awaiting.confirmation":
            answer = {"type": "confirmation.reply", "reply_token": event["reply_token"], "decision": "accept",
                      "subscription_id": subscription, "timestamp": event["timestamp"]}
            send("aaep.reply", answer)
    else:
        print(message["method"], message["params"]["reason_code"])
sys.exit(agent.wait())
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    path = tmp_path / "agent.py"
    path.write_text(AGENT)
    return path


def command(path: Path) -> str:
    return f"stdio:{shlex.quote(sys.executable)} {shlex.quote(str(path))}"


def test_a_reader_of_twenty_lines_listens_and_answers(agent: Path, tmp_path: Path) -> None:
    reader = tmp_path / "reader.py"
    reader.write_text(READER)
    done = subprocess.run(
        [sys.executable, str(reader), str(agent), json.dumps(request())],
        check=True,
        capture_output=True,
        timeout=WAIT,
        text=True,
        cwd=ROOT,
    )
    heard = done.stdout.splitlines()
    assert heard[0] == "aaep:agent.session.started"
    assert heard[-2:] == ["aaep:agent.session.completed", "aaep.close producer_shutdown"]
    assert "aaep:agent.tool.completed" in heard
    # STDIO-011: what was printed is where people look.
    assert {"A stray print.", "stray bytes", "from below", "from a child", "Moved $5"} <= {*done.stderr.splitlines()}


def test_a_subscriber_starts_an_agent_listens_and_answers(agent: Path, capfd: pytest.CaptureFixture[str]) -> None:
    heard = []
    with Subscriber(command(agent)) as subscriber:
        for event in subscriber:
            heard.append(event)
            if isinstance(event, AwaitingConfirmation):
                subscriber.accept(event)
    assert isinstance(heard[-1], SessionCompleted)
    assert "Moved $5" in capfd.readouterr().err  # STDIO-012: inherited, and not read
    assert [str(one) for one in subscriber.findings if one.severity == "error"] == []


# What an agent does, as a program, with a few words of its own to say what it saw.
SCRIPT = """
import json, os, signal, sys, time
def say(**line): sys.stdout.write(json.dumps({"jsonrpc": "2.0", **line}) + "\\n"); sys.stdout.flush()
def note(word): open(sys.argv[1], "a").write(word + "\\n")
def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else None
ACCEPTED = {"type": "subscription.accepted", "subscription_id": "sub_1", "aaep_version": "1.0.0",
            "producer": {"agent_id": "script"}, "honored_capabilities": {}}
note(f"pid {os.getpid()}")
"""


class Script:
    """An agent without our library."""

    def __init__(self, folder: Path, text: str) -> None:
        self.notes, self.path = folder / "notes", folder / "script.py"
        self.path.write_text(SCRIPT + text)
        self.notes.touch()
        self.url = f"{command(self.path)} {shlex.quote(str(self.notes))}"

    @property
    def words(self) -> list[str]:
        return self.notes.read_text().splitlines()

    @property
    def gone(self) -> bool:
        number = int(self.words[0].split()[1])
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return True
        return False


ASK = json.dumps(request()).encode()


def talk(url: str, *, patience: float = WAIT) -> tuple[list[Any], BaseException | None]:
    """What an agent says to one who subscribes, and how it ends."""

    async def listen() -> tuple[list[Any], BaseException | None]:
        channel = stdio.connect(url, ConnectOptions(timeout=patience))
        got = []
        try:
            got.append(json.loads(await channel.request(ASK)))
            async for arrival in channel.receive_messages("sub_1"):
                got.append(json.loads(arrival.data))
        except AaepError as error:
            return got, error
        finally:
            await channel.close()
        return got, None

    return asyncio.run(asyncio.wait_for(listen(), WAIT))


EVENT = {"type": "aaep:agent.session.started", "event_id": "evt_1"}


def test_an_agent_that_ends_is_not_started_again(tmp_path: Path) -> None:
    script = Script(
        tmp_path, f"say(result=ACCEPTED, id=hear()['id']); say(method='aaep.event', params={EVENT})\nsys.exit(3)"
    )
    got, error = talk(script.url)
    assert [one["type"] for one in got] == ["subscription.accepted", EVENT["type"]]
    assert isinstance(error, ChannelRefused) and "exit status 3" in str(error)
    assert len(script.words) == 1 and script.gone


def test_an_agent_that_is_killed(tmp_path: Path) -> None:
    script = Script(tmp_path, "hear(); os.kill(os.getpid(), signal.SIGKILL)")
    got, error = talk(script.url)
    assert got == [] and isinstance(error, ChannelRefused) and "signal 9" in str(error)


def test_a_subscriber_tells_that_the_agent_has_ended(tmp_path: Path) -> None:
    script = Script(tmp_path, "say(result=ACCEPTED, id=hear()['id'])\nsys.exit(3)")
    with Subscriber(script.url) as subscriber, pytest.raises(ChannelRefused, match="exit status 3"):
        next(subscriber)
    assert len(script.words) == 1


def test_lines_that_are_none_and_calls_that_are_unknown(tmp_path: Path) -> None:
    script = Script(
        tmp_path,
        f"""
first = hear()
print("Loading the model...", flush=True)
say(method="aaep.event", params={{"type": "early"}})
say(method="aaep.ping", id="p"); note(json.dumps(hear()))
say(method="aaep.dance", id=7); note(json.dumps(hear()))
say(result={{}}, id=12345)
sys.stdout.write("x" * 2_000_000 + "\\n")
say(result=ACCEPTED, id=first["id"])
say(method="aaep.other", params={{}})
say(method="aaep.event", params={EVENT})
say(method="aaep.close", params={{"type": "subscription.close", "subscription_id": "sub_1", "reason_code": "x"}})
hear()
""",
    )
    got, error = talk(script.url)
    assert [one["type"] for one in got] == ["subscription.accepted", EVENT["type"], "subscription.close"]
    assert isinstance(error, ChannelLost)
    ping, dance = (json.loads(word) for word in script.words[1:])
    assert ping == {"jsonrpc": "2.0", "result": {}, "id": "p"}
    assert dance["id"] == 7 and dance["error"]["code"] == -32601
    assert script.gone


STRAY = f"""
first = hear()
for text in PRINTED:
    print(text, flush=True)
say(result=ACCEPTED, id=first["id"])
say(method="aaep.event", params={EVENT})
"""


def strays(printed: list[str], folder: Path) -> Script:
    """An agent that prints where it should not."""
    return Script(folder, f"PRINTED = {printed!r}\n{STRAY}")


def test_stdio_011_what_an_agent_prints_between_its_messages_is_told_once_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """CF-111: a line is a message. Nothing that it holds may move a cursor."""
    script = strays(["Loading\x1b[2J \u202emodel\tof " + "x" * 500, "{}", *["more"] * 40], tmp_path)
    talk(script.url)
    first, last = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert r"Loading\x1b[2J \u202emodel\tof xxx" in first and "x" * 100 not in first
    assert "standard error" in first and "STDIO-011" in first
    assert last == "The agent printed 41 more lines that are no messages."


@pytest.mark.parametrize(("printed", "more"), [([], []), (["One."], []), (["One.", "Two."], ["1 more line that is"])])
def test_stdio_011_nothing_is_counted_that_was_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, printed: list[str], more: list[str]
) -> None:
    talk(strays(printed, tmp_path).url)
    said = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert len(said) == len(printed)
    assert all(part in text for part, text in zip(more, said[1:], strict=True))


@pytest.mark.parametrize("verb", ["listen", "capture"])
def test_stdio_011_who_runs_a_command_is_told_on_standard_error(tmp_path: Path, verb: str) -> None:
    script = strays(["Loading the model...", "Done."], tmp_path)
    asked = [verb, script.url, *(["--json"] if verb == "listen" else ["--output", str(tmp_path / "capture")])]
    done = subprocess.run(
        [sys.executable, "-m", "aaep", *asked],
        check=False,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=WAIT,
        text=True,
        cwd=ROOT,
    )
    assert done.stderr.count("Loading the model...") == 1
    assert done.stderr.count("1 more line") == 1
    assert "Loading" not in done.stdout and "Done." not in done.stdout + done.stderr


def test_an_error_for_an_answer_is_told(tmp_path: Path) -> None:
    wrong = {"code": -32601, "message": "No <b>such</b>\nmethod"}
    script = Script(tmp_path, f"say(error={wrong}, id=hear()['id']); hear()")
    got, error = talk(script.url)
    assert got == [] and isinstance(error, ChannelRefused)
    assert str(error) == "The agent refused that: No such method (-32601)."


def test_a_change_of_terms_that_an_agent_does_not_know_leaves_the_rest_as_it_was(tmp_path: Path) -> None:
    script = Script(
        tmp_path,
        f"""
say(result=ACCEPTED, id=hear()["id"])
say(error={{"code": -32601, "message": "Method not found"}}, id=hear()["id"])
say(method="aaep.event", params={EVENT})
note(hear()["method"])
""",
    )

    async def listen() -> None:
        channel = stdio.connect(script.url)
        await channel.request(ASK)
        with pytest.raises(ChannelRefused):
            await channel.request(json.dumps(renegotiation("sub_1")).encode())
        assert (await anext(channel.receive_messages("sub_1"))).id == "evt_1"
        await channel.close()

    asyncio.run(asyncio.wait_for(listen(), WAIT))
    assert script.words[1:] == ["aaep.close"]


def test_another_subscription_on_the_same_process(tmp_path: Path) -> None:
    script = Script(
        tmp_path,
        f"""
say(result=ACCEPTED, id=hear()["id"])
note(hear()["method"])
say(method="aaep.event", params={EVENT})
say(result=ACCEPTED | {{"subscription_id": "sub_2"}}, id=hear()["id"])
say(method="aaep.event", params={EVENT | {"event_id": "evt_2"}})
note(hear()["method"])
""",
    )

    async def listen() -> None:
        channel = stdio.connect(script.url)
        await channel.request(ASK)
        assert json.loads(await channel.request(ASK))["subscription_id"] == "sub_2"
        assert (
            await anext(channel.receive_messages("sub_2"))
        ).id == "evt_2"  # what was left of the first is not for the second
        await channel.close()

    asyncio.run(asyncio.wait_for(listen(), WAIT))
    assert script.words[1:] == ["aaep.close", "aaep.close"]


class ReopenedAtOnce(PipeEnd):
    """An end of a pipe whose number somebody else gets as soon as it is free."""

    other = -1

    def close(self) -> None:
        self.other = os.open(os.devnull, os.O_RDONLY)
        super().close()


@pytest.mark.parametrize("make", [asyncio.new_event_loop, uvloop.new_event_loop])
@pytest.mark.parametrize("is_reading", [False, True])
def test_a_descriptor_is_closed_once_though_others_get_its_number(
    make: Callable[[], asyncio.AbstractEventLoop], is_reading: bool
) -> None:
    async def open_and_close() -> None:
        loop = asyncio.get_running_loop()
        reading, writing = os.pipe()
        end = ReopenedAtOnce(reading if is_reading else writing, loop)
        connect = loop.connect_read_pipe if is_reading else loop.connect_write_pipe
        transport, _ = await connect(asyncio.Protocol, end)
        transport.close()
        while end.other < 0:
            await asyncio.sleep(0)  # one turn
        os.close(end.other)  # which raises if it was closed
        os.close(writing if is_reading else reading)
        if end.other != end.fileno():
            with pytest.raises(OSError, match="Bad file descriptor"):
                os.fstat(end.fileno())

    with asyncio.Runner(loop_factory=make) as runner:
        runner.run(open_and_close())


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("hear(); hear(); note('closed')", ["closed"]),
        ("hear(); hear(); print('x' * 1_000_000); sys.stdout.flush(); note('written')", ["written"]),
        (
            "def end(*_): note('told'); sys.exit()\nsignal.signal(signal.SIGTERM, end); note('up'); time.sleep(600)",
            ["up", "told"],
        ),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); note('up'); time.sleep(600)", ["up"]),
    ],
    ids=["leaves when its input ends", "has something left to say", "leaves when told", "does not leave"],
)
def test_an_agent_is_ended_politely_and_surely(tmp_path: Path, text: str, noted: list[str]) -> None:
    script = Script(tmp_path, text)

    async def visit() -> None:
        channel = stdio.connect(script.url, ConnectOptions(timeout=0.2 if "sleep" in text else WAIT))
        asking = asyncio.ensure_future(channel.request(ASK))
        while len(script.words) < (2 if "up" in text else 1):
            await asyncio.sleep(0.01)  # a file is all that the program can write to
        await channel.close()
        await channel.close()
        with pytest.raises(AaepError):
            await asking

    asyncio.run(asyncio.wait_for(visit(), WAIT))
    assert script.gone
    assert script.words[1:] == noted


def test_an_agent_that_is_closed_while_it_starts_is_ended_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(tmp_path, "hear(); note('closed')")

    async def visit() -> None:
        has_started, may_go_on = asyncio.Event(), asyncio.Event()

        async def start_slowly(words: Sequence[str]) -> AgentProcess:
            agent = await start_agent(words)
            has_started.set()
            await may_go_on.wait()
            return agent

        monkeypatch.setattr("aaep.transports.stdio.client.start_agent", start_slowly)
        channel = stdio.connect(script.url, ConnectOptions(exit_timeout=WAIT))
        asking = asyncio.ensure_future(channel.request(ASK))
        await has_started.wait()
        await channel.close()
        may_go_on.set()
        with pytest.raises(ChannelLost):
            await asking

    asyncio.run(asyncio.wait_for(visit(), WAIT))
    assert script.gone and script.words[1:] == ["closed"]


def test_an_agent_whose_start_is_cancelled_is_not_left_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script(tmp_path, "note('up'); time.sleep(600)")

    async def visit() -> None:
        loop = asyncio.get_running_loop()
        has_started = asyncio.Event()

        async def connect_never(*_: object) -> NoReturn:
            has_started.set()
            await asyncio.Event().wait()
            raise AssertionError

        monkeypatch.setattr(loop, "connect_read_pipe", connect_never)  # it takes a moment, as a rule
        starting = asyncio.ensure_future(start_agent([sys.executable, str(script.path), str(script.notes)]))
        await has_started.wait()
        while len(script.words) < 2:
            await asyncio.sleep(0.01)  # a file is all that the program can write to
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting

    asyncio.run(asyncio.wait_for(visit(), WAIT))
    assert script.gone


def test_who_does_not_wait_leaves_no_process_behind(tmp_path: Path) -> None:
    script = Script(tmp_path, "note('up'); time.sleep(600)")

    async def visit() -> None:
        channel = stdio.connect(script.url, ConnectOptions(timeout=0.1))
        asking = asyncio.ensure_future(channel.request(ASK))
        while len(script.words) < 2:
            await asyncio.sleep(0.01)  # a file is all that the program can write to
        asking.cancel()
        with contextlib.suppress(TimeoutError):  # unless the program has ended already
            await asyncio.wait_for(channel.close(), 0.01)

    asyncio.run(asyncio.wait_for(visit(), WAIT))
    for thread in threading.enumerate():
        if thread.name == "aaep-stdio-end":
            thread.join(WAIT)
    assert script.gone


def test_ctrl_c_does_not_reach_the_agent_before_the_reader(tmp_path: Path) -> None:
    script = Script(tmp_path, "note(str(os.getpgrp() == os.getpid())); hear()")
    talk_to_nobody = stdio.connect(script.url)

    async def visit() -> None:
        asking = asyncio.ensure_future(talk_to_nobody.request(ASK))
        with contextlib.suppress(AaepError):  # how it fails is tested above; here, that it ends
            await asking
        await talk_to_nobody.close()

    asyncio.run(asyncio.wait_for(visit(), WAIT))
    assert script.words[1:] == ["True"]


@pytest.mark.parametrize(
    ("url", "said"), [("stdio:", "Which agent"), ("stdio:  ", "Which agent"), ("stdio:agent 'x", "taken apart")]
)
def test_a_command_that_is_none(url: str, said: str) -> None:
    with pytest.raises(AaepError, match=said):
        stdio.connect(url)


@pytest.mark.parametrize("name", ["/nowhere/agent", "/", "a\0b"])
def test_a_command_that_cannot_be_started(name: str) -> None:
    got, error = talk(f"stdio:{name}")
    assert got == [] and isinstance(error, ChannelRefused) and "Cannot start" in str(error)


def test_there_is_no_manifest() -> None:
    with pytest.raises(ChannelRefused):
        asyncio.run(stdio.connect("stdio:true").manifest())


def test_it_works_on_the_loop_of_the_standard_library_too() -> None:
    async def both() -> None:
        hub = Hub(asking.OFFER, asking.hub().journal, loop=asyncio.get_running_loop())
        theirs, our_end = os.pipe()
        our_start, theirs_too = os.pipe()
        await serve_pipes(hub, "stdio:", {"reading": theirs, "writing": theirs_too})
        client, agent = Client(our_start, our_end), Asker(hub)
        await asyncio.to_thread(client.subscribe)
        asked = agent.ask()
        assert (await asyncio.to_thread(client.event))["event_id"] == asked.event_id
        client.send("aaep.reply", reply(client.id, "rpl_1"))
        await asyncio.to_thread(client.here)
        assert agent.replies
        await hub.aclose()
        assert (await asyncio.to_thread(client.next))["method"] == "aaep.close"
        assert await asyncio.to_thread(client.next) is None
        client.close()

    asyncio.run(asyncio.wait_for(both(), WAIT))


@pytest.mark.parametrize("data", [b'{"a":"b","c":[1,2]}', b'{"a":\n"b"}', b'{"a":"b",\r\n"c":1}', '{"ü":1}'.encode()])
def test_an_event_is_one_line_however_it_was_written(data: bytes) -> None:
    line = stdio._frame_event("evt_1", data)
    assert line.count(b"\n") == 1 and line.endswith(b"\n") and b"\r" not in line
    assert json.loads(line) == {"jsonrpc": "2.0", "method": "aaep.event", "params": json.loads(data)}
