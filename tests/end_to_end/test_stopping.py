"""An agent that is told to stop does so at once, whoever listens. Two seconds are a promise, so they are measured."""

from __future__ import annotations

import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Final

import httpx
import pytest

from aaep.presentation.announce import announce
from aaep.protocol.codec import encode
from aaep.protocol.events import AwaitingConfirmation
from aaep.subscriber.subscriber import Subscriber
from tests.end_to_end.processes import COMMAND, Agent, Program
from tests.end_to_end.readers import ANSWERS, LISTENS, PROMPT, Raw, kinds
from tests.end_to_end.wires import LONG, Stream, Wire

PROMISE: Final = 2.0  # seconds
LOOK: Final = 0.05  # seconds between two looks at how much of them is left


def stop(program: Program, number: signal.Signals = signal.SIGTERM) -> int:
    """
    Ask it to end; it has two seconds.

    Where the machine lets others run although the program could go on, that
    is not the program's time. On a machine with nothing else to do there is none of it.
    """
    process = program.process
    before = kept_waiting(process.pid)
    waited, began = before, time.monotonic()
    process.send_signal(number)
    while time.monotonic() - began - sum(waited.values()) + sum(before.values()) < PROMISE:
        with suppress(TimeoutExpired):  # not yet
            return process.wait(LOOK)
        waited = waited | kept_waiting(process.pid)
    raise AssertionError(f"It goes on, {time.monotonic() - began:.1f} s after it was told to stop.")


def kept_waiting(pid: int) -> dict[str, float]:
    """For how many seconds each thread of a process was ready and had no processor, as far as the system tells."""
    waited = {}
    for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):  # it has ended meanwhile
            waited[thread.parent.name] = int(thread.read_text().split()[1]) / 1e9
    return waited


def rest(reader: Raw, stream: Stream) -> str:
    """What a reader hears until the producer has said goodbye, and why it did."""
    assert reader.take(stream, lambda _: False) is None
    assert stream.closing is not None
    return str(stream.closing["reason_code"])


def demo(wire: Wire) -> tuple[Program, str]:
    program = Program(*COMMAND, "demo", "--answer", "remote", "--listen", wire.listen)
    line = program.hear()
    assert line.startswith("Other readers can join: aaep listen ")
    return program, line.split()[-1]


def test_the_demo_stops_while_it_waits_for_somebody_who_can_answer(wire: Wire) -> None:
    program, url = demo(wire)
    with program:
        reader = Raw(wire, url, **LISTENS)
        with reader.connect() as stream, wire.stream(url) as bare:
            assert stop(program) == 143
            assert rest(reader, stream) == "producer_shutdown"
            assert [*bare] == [] and bare.closing is not None


def test_the_demo_stops_while_its_question_is_open(wire: Wire) -> None:
    program, url = demo(wire)
    with program:
        replier, watcher = Raw(wire, url, **ANSWERS), Raw(wire, url, **LISTENS)
        with watcher.connect() as idle, wire.stream(url), replier.connect() as stream:
            replier.wait(stream, PROMPT)
            assert stop(program) == 143
            for reader, one in ((replier, stream), (watcher, idle)):
                assert rest(reader, one) == "producer_shutdown"
                assert kinds(reader.got)[-1] == "session.cancelled"
                assert reader.errors() == []


@pytest.mark.parametrize("readers", [0, 1, 20])
def test_a_plain_agent_stops_with_idle_readers_attached(wire: Wire, tmp_path: Path, readers: int) -> None:
    with Agent(wire.listen, tmp_path / "agent.db", tmp_path / "ledger") as agent:
        group = [Raw(wire, agent.url, **ANSWERS) for _ in range(readers)]
        streams = [one.connect() for one in group]
        agent.tell("wait")
        assert agent.hear() == "waiting"
        assert stop(agent) == 0
        for one, stream in zip(group, streams, strict=True):
            with stream:
                assert rest(one, stream) == "producer_shutdown"
                assert kinds(one.got) == ["session.started", "session.cancelled"]


# -- inside a web server -------------------------------------------------------------------------------------------


def serve_web_agent(app: str, *options: str) -> tuple[Program, str]:
    """The agent of ``web_agent.py``, served by uvicorn."""
    program = Program("-m", "uvicorn", f"tests.end_to_end.web_agent:{app}", "--port", "0", *options)
    assert program.process.stderr is not None
    while "Uvicorn running on" not in (line := program.process.stderr.readline()):
        assert line, "It ended."
    return program, line.split("running on ")[1].split()[0]


def hear_until_asked(subscriber: Subscriber) -> None:
    for event in subscriber:
        if isinstance(event, AwaitingConfirmation):
            return
    raise AssertionError("Nobody was asked.")


def hear_rest(subscriber: Subscriber) -> list[str]:
    """The kinds of the events until the producer says goodbye, each that ends a question with its outcome."""
    heard = []
    for event in subscriber:
        message = json.loads(encode(event))
        outcome = message.get("extensions", {}).get("attend", {}).get("outcome", "")
        heard.append(f"{message['type'].removeprefix('aaep:agent.')} {outcome}".strip())
        announcement = announce(event)
        assert not outcome or (announcement is not None and announcement.text)  # a person hears of it
    return heard


@pytest.mark.parametrize(
    ("app", "scheme", "number"),
    [
        ("app", "http", signal.SIGINT),
        ("app", "ws", signal.SIGINT),
        ("app", "ws", signal.SIGTERM),
        ("app_without_lifespan", "http", signal.SIGTERM),
    ],
)
def test_a_web_server_stops_with_readers_and_they_are_told(app: str, scheme: str, number: signal.Signals) -> None:
    program, url = serve_web_agent(app)
    with program, ThreadPoolExecutor(1) as pool, Subscriber(url.replace("http", scheme)) as subscriber:
        subscriber.ready().wait(LONG)
        paying = pool.submit(httpx.post, f"{url}/pay", timeout=LONG, trust_env=False)
        hear_until_asked(subscriber)
        stop(program, number)
        assert "Nothing was done." in paying.result(LONG).text  # the request was answered, too
        heard = hear_rest(subscriber)
        assert heard[0] == "state.changed withdrawn"
        assert heard[-1] == "session.completed"
        assert subscriber.status.reason_code == "producer_shutdown"
        assert program.process.stderr is not None
        assert "Traceback" not in program.process.stderr.read()


def test_a_terminal_and_a_supervisor_may_both_tell_a_web_server_to_stop() -> None:
    """A WebSocket is closed by the server itself as soon as it knows, which must not be before the goodbye."""
    program, url = serve_web_agent("app")
    with program, Subscriber(url.replace("http", "ws")) as subscriber:
        subscriber.ready().wait(LONG)
        program.process.send_signal(signal.SIGINT)
        stop(program, signal.SIGTERM)
        assert hear_rest(subscriber) == []
        assert subscriber.status.reason_code == "producer_shutdown"


# -- a plain script ----------------------------------------------------------------------------------------------

SCRIPT: Final = """
import aaep
with aaep.Producer("bank", name="Bank", journal=None, listen="http://127.0.0.1:0") as producer:
    @producer.tool(action="Transfer.", consequence="Funds move at once.")
    def transfer():
        return "moved"
    print(producer.addresses[0])
    producer.reader().wait()
    with producer.session("Moving money."):
        transfer()
"""
ASYNC_SCRIPT: Final = """
import aaep, asyncio
async def main():
    async with aaep.Producer("bank", name="Bank", journal=None, listen="http://127.0.0.1:0") as producer:
        @producer.tool(action="Transfer.", consequence="Funds move at once.")
        async def transfer():
            return "moved"
        print(producer.addresses[0])
        await producer.reader()
        async with producer.session("Moving money."):
            await transfer()
asyncio.run(main())
"""
UVLOOP_SCRIPT: Final = ASYNC_SCRIPT.replace("asyncio.run(", "import uvloop; uvloop.run(")
OWN_LOOP_SCRIPT: Final = ASYNC_SCRIPT.replace(
    "journal=None,", "journal=None, runtime=aaep.Runtime(loop=asyncio.get_running_loop()),"
)


@pytest.mark.parametrize("script", [SCRIPT, ASYNC_SCRIPT, UVLOOP_SCRIPT, OWN_LOOP_SCRIPT])
def test_sigterm_takes_back_the_question_of_a_plain_script(script: str) -> None:
    with Program("-c", script) as program, Subscriber(program.hear()) as subscriber:
        hear_until_asked(subscriber)
        assert stop(program) == 143
        heard = hear_rest(subscriber)
        assert heard[0] == "state.changed withdrawn"
        assert heard[-1] == "session.cancelled"
        assert subscriber.status.reason_code == "producer_shutdown"


# The signal interrupts a wait of the thread that gets it, and no other's.
OTHER_THREAD_SCRIPT: Final = """
import aaep, asyncio, signal, threading

def send(is_idle):
    is_idle.wait()
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

async def main():
    async with aaep.Producer("bank", journal=None):
        is_idle = threading.Event()
        threading.Thread(target=send, args=[is_idle], daemon=True).start()
        is_idle.set()
        await asyncio.Event().wait()
asyncio.run(main())
"""


def test_an_event_loop_that_waits_is_woken_by_a_signal_that_did_not_interrupt_it() -> None:
    with Program("-c", OTHER_THREAD_SCRIPT) as program:
        assert program.process.wait(LONG) == 143


def test_a_person_hears_that_the_question_is_withdrawn_and_that_the_agent_has_ended() -> None:
    with Program("-c", SCRIPT) as program, Program(*COMMAND, "listen", program.hear()) as reader:
        while "Transfer." not in reader.hear():
            pass
        assert stop(program) == 143
        assert reader.process.stdout is not None
        lines = reader.process.stdout.read().splitlines()
        assert lines[0] == "Attention. No longer asked. Transfer was not done."
        assert "has ended." in " ".join(lines)
        assert reader.process.wait(LONG) == 0  # it does not wait for what will not come back


HANDLERS_SCRIPT: Final = """
import aaep, os, signal, sys, threading

def count(number, frame):
    print("handled")

def send():
    os.kill(os.getpid(), signal.SIGTERM)

default = signal.getsignal(signal.SIGTERM)
with aaep.Producer("bank", journal=None), aaep.Producer("shop", journal=None):
    print(signal.getsignal(signal.SIGTERM) == default)
print(signal.getsignal(signal.SIGTERM) == default)
with aaep.Producer("bank", journal=None, runtime=aaep.Runtime(handle_signals=False)):
    print(signal.getsignal(signal.SIGTERM) == default)
signal.signal(signal.SIGTERM, count)
with aaep.Producer("bank", journal=None):
    send()
signal.signal(signal.SIGTERM, default)
with aaep.Producer("bank", journal=None):
    signal.signal(signal.SIGTERM, count)
send()
signal.signal(signal.SIGTERM, default)
producer = aaep.Producer("bank", journal=None)
producer.start()
closing = threading.Thread(target=producer.close)
closing.start()
closing.join()
send()
"""


def test_a_handler_of_the_application_is_never_replaced_and_ours_is_removed() -> None:
    with Program("-c", HANDLERS_SCRIPT) as program:
        said = [program.hear() for _ in range(5)]
        assert said == ["False", "True", "True", "handled", "handled"]
        assert program.process.wait(LONG) == -signal.SIGTERM  # as if there had never been a producer


FORKING_SCRIPT: Final = """
import aaep, os, signal
with aaep.Producer("bank", journal=None):
    if (child := os.fork()) == 0:
        os.kill(os.getpid(), signal.SIGTERM)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_dies_of_sigterm_as_ever() -> None:
    with Program("-W", "ignore", "-c", FORKING_SCRIPT) as program:
        assert program.hear() == str(-signal.SIGTERM)
