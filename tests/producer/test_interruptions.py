"""Sessions end, whatever interrupts their agent and whenever: who listens is never left with one that goes on."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import aaep
from aaep.errors import LocalProtocolError
from aaep.journal.base import JournalError
from aaep.journal.memory import MemoryJournal
from aaep.producer.producer import Producer
from aaep.producer.session import Session
from aaep.protocol.events import TERMINAL, SessionCancelled, SessionErrored
from aaep.testing import Listener

SOURCE = Path(aaep.__file__).parent
SPEAKING = {
    str(SOURCE / f"{name}.py")
    for name in (
        "producer/emitter",
        "producer/session",
        "producer/tool_call",
        "hub/delivery",
        "runtime/background",
    )
}


class Interrupted(MemoryJournal):
    """Has something done when an entry is kept that holds some text, before it is or after."""

    def __init__(self, text: bytes, done: Callable[[], object], *, before: bool = False) -> None:
        super().__init__()
        self._text, self._done, self._before = text, done, before

    def append(self, event_id: str, session_id: str, data: bytes, *, at: float) -> None:
        found = self._text in data
        if found and self._before:
            self._do()
        super().append(event_id, session_id, data, at=at)
        if found and not self._before:
            self._do()

    def _do(self) -> None:
        self._text = b"nothing more"
        self._done()


def interrupt() -> None:
    raise KeyboardInterrupt


def work(session: Session) -> None:
    with session.output() as output:
        output.write("One. Two. Three")
    with session.tool("look", risk="low"):
        pass
    session.progress(50)


def looking(producer: Producer, ran: list[str]) -> Callable[[], None]:
    @producer.tool(risk="low")
    def look() -> None:
        ran.append("looked")

    return look


def ends(listener: Listener) -> list[str]:
    return [one for one in listener.types if one.startswith("session.") and one != "session.started"]


def ended(listener: Listener) -> list[str]:
    """How the only session ended, and that nothing is wrong with what was heard of it."""
    listener.wait_for_end()
    assert [str(one) for one in listener.findings()] == []
    return [one for one in listener.types if one.startswith("session.")]


@pytest.mark.parametrize(
    "text",
    [
        b"session.started",
        b"writing_output",
        b"output.streaming",
        b"tool.invoked",
        b"tool.completed",
        b"progress.updated",
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_ctrl_c_in_the_middle_of_an_event_ends_the_session(text: bytes, before: bool) -> None:
    with Producer("bank", journal=Interrupted(text, interrupt, before=before)) as producer:
        listener = Listener(producer)
        with pytest.raises(KeyboardInterrupt), producer.session("Working.") as session:
            work(session)
        assert producer.sessions == []
        if before and text == b"session.started":
            assert producer.hub.journal.read() == []
        else:
            assert ended(listener) == ["session.started", "session.cancelled"]


@pytest.mark.parametrize("before", [True, False])
def test_ctrl_c_in_the_middle_of_the_end_is_an_end(before: bool) -> None:
    with Producer("bank", journal=Interrupted(b"session.completed", interrupt, before=before)) as producer:
        listener = Listener(producer)
        with pytest.raises(KeyboardInterrupt), producer.session("Working.") as session:
            work(session)
        assert producer.sessions == []
        assert ended(listener) == ["session.started", "session.cancelled" if before else "session.completed"]


def interruptions(run: Callable[[], None]) -> Iterator[None]:
    """Runs something again and again, interrupted at the first call where events are made, the second, and so on."""
    place = count = 0

    def watch(frame: FrameType, event: str, _: Any) -> None:
        nonlocal count
        if event in ("call", "c_return") and frame.f_code.co_filename in SPEAKING:
            count += 1
            if count == place:
                sys.setprofile(None)
                raise KeyboardInterrupt

    while count == place:
        place, count = place + 1, 0
        sys.setprofile(watch)
        try:
            run()
        except KeyboardInterrupt:
            pass  # it came as it was meant to
        finally:
            sys.setprofile(None)
        yield


def test_ctrl_c_at_any_moment_of_a_tool_leaves_nothing_open() -> None:
    ran: list[str] = []
    with Producer("bank", journal=None) as producer:
        look = looking(producer, ran)

        def agent() -> None:
            with producer.session("Working."):
                look()

        agent()  # what is made once is made
        listener = Listener(producer)
        rounds = 0
        for _ in interruptions(agent):
            rounds += 1
            for session in producer.sessions:  # where the block was not entered yet, or was just being left
                session._stop("user")
        assert rounds > 100
        with producer.session("Last.") as session:
            pass
        listener.wait(lambda one: one.session_id == session.session_id and isinstance(one, TERMINAL))
        assert len(ends(listener)) == listener.types.count("session.started")
        assert [str(one) for one in listener.findings()] == []


def test_the_program_goes_on_after_an_interruption_that_it_caught() -> None:
    with Producer("bank", journal=Interrupted(b"progress.updated", interrupt)) as producer:
        listener = Listener(producer)
        with producer.session("Working.") as session:
            with pytest.raises(KeyboardInterrupt):
                session.progress(10)
            session.progress(20)
            work(session)
        assert ended(listener) == ["session.started", "session.completed"]
        assert listener.types.count("progress.updated") == 3


@pytest.mark.parametrize("before", [True, False])
def test_a_tool_whose_announcement_is_interrupted_is_over(before: bool) -> None:
    with Producer("bank", journal=Interrupted(b"tool.invoked", interrupt, before=before)) as producer:
        listener = Listener(producer)
        with producer.session("Working.") as session:
            with pytest.raises(KeyboardInterrupt), session.tool("look", risk="low"):
                pytest.fail("it does not run")
            assert not session._activity.calls
            session.write("Never mind.")
            listener.wait("output.streaming")
        assert ended(listener) == ["session.started", "session.completed"]
        assert listener.types.count("tool.completed") == (0 if before else 1)


def test_a_question_that_is_open_while_an_event_is_interrupted_is_answered() -> None:
    with Producer("bank", journal=Interrupted(b"progress.updated", interrupt)) as producer:
        listener = Listener(producer)
        with producer.session("Working.") as session:
            ask = session.confirm("Wipe the disk.", "All is gone.")
            with pytest.raises(KeyboardInterrupt):
                session.progress(10)
            session.progress(20)
            listener.reply(listener.wait("awaiting.confirmation"), "accept")
            assert ask.wait(10)
            with session.tool("wipe", ask=ask):
                pass
            with pytest.raises(LocalProtocolError, match="has been used"), session.tool("wipe", ask=ask):
                pass
        assert ended(listener) == ["session.started", "session.completed"]


# -- other ways to break off -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(1, 9))
def test_a_tell_that_fails_takes_nothing_along(place: int, caplog: pytest.LogCaptureFixture) -> None:
    said: list[str] = []

    def tell(text: str) -> None:
        said.append(text)
        if len(said) == place:
            raise UnicodeEncodeError("ascii", text, 0, 1, "a terminal that knows no such letter")

    with Producer("bank", journal=None, tell=tell) as producer:
        listener = Listener(producer, "accept")

        @producer.tool
        def wipe() -> str:
            return "wiped"

        with producer.session("Working.") as session:
            work(session)
            assert wipe() == "wiped"
        assert ended(listener) == ["session.started", "session.completed"]
    assert ("tell callback failed" in caplog.text) is (place <= len(said))


@pytest.mark.parametrize("settings", [{"requested_by": "x" * 300}, {"expected_seconds": float("nan")}])
def test_a_session_that_could_not_start_is_not_there(settings: dict[str, Any]) -> None:
    with Producer("bank", journal=None) as producer:
        with pytest.raises((LocalProtocolError, ValueError)):
            producer.session("Working.", **settings).start()
        assert producer.sessions == []


@pytest.mark.parametrize("text", [b"output.streaming", b"tool.invoked"])
@pytest.mark.parametrize("before", [True, False])
def test_a_signal_handler_cannot_speak_inside_another_event(text: bytes, before: bool) -> None:
    """Else a tool would be announced, and run, after the end of its session."""
    ran: list[str] = []
    handlers: list[Callable[[], object]] = []
    with Producer("bank", journal=Interrupted(text, lambda: [one() for one in handlers], before=before)) as producer:
        listener = Listener(producer)
        look = looking(producer, ran)
        with pytest.raises(LocalProtocolError, match="A signal handler"), producer.session("Working.") as session:
            handlers.append(session.cancel)
            session.write("One. Two.")
            look()
        assert ran == []
        assert ended(listener) == ["session.started", "session.errored"]


def test_a_session_that_ends_while_everything_is_closed_stops_nothing() -> None:
    producer = Producer("bank", journal=None)
    producer.start()
    listener = Listener(producer)
    session = producer.session("Working.").start()
    ending = threading.Event()

    def agent() -> None:
        with session._emitter.lock:
            ending.set()
            closing.wait(10)
            session.complete()

    closing = threading.Event()
    thread = threading.Thread(target=agent)
    thread.start()
    ending.wait(10)
    real = session.cancel

    def cancel(**more: Any) -> None:  # at its own time, to be sure that it comes between
        closing.set()
        real(**more)

    session.cancel = cancel  # type: ignore[method-assign,assignment]  # see there
    producer.close()
    thread.join(10)
    assert ended(listener) == ["session.started", "session.completed"]
    assert listener.close_message is not None


def test_a_journal_that_fails_keeps_nobody_from_hearing_goodbye() -> None:
    def full() -> None:
        raise JournalError("The disk is full.")

    class Full(Interrupted):
        def _do(self) -> None:
            self._text = b""
            self._done()

    producer = Producer("bank", journal=Full(b"tool.invoked", full, before=True))
    producer.start()
    listener = Listener(producer)
    ran: list[str] = []
    look = looking(producer, ran)
    with pytest.raises(JournalError), producer.session("Working."):
        look()
    with pytest.raises(JournalError):
        producer.close()
    assert ran == []
    assert listener.close_message is not None and producer.hub._closed


def test_who_stopped_it_is_told_by_the_error() -> None:
    for error, kind in ((KeyboardInterrupt(), SessionCancelled), (OSError(), SessionErrored)):
        with Producer("bank", journal=Interrupted(b"tool.invoked", interrupt)) as producer:
            listener = Listener(producer)
            with pytest.raises(type(error)), producer.session("Working.") as session:
                with pytest.raises(KeyboardInterrupt), session.tool("look", risk="low"):
                    pass
                raise error
            assert isinstance(listener.wait_for_end(), kind)
            assert listener.findings() == []


# -- forks -------------------------------------------------------------------------------------------------------------

WAYS = {
    "a harmless tool": ("look()", "before the process forked"),
    "a risky tool": ("wipe()", "before the process forked"),
    "a block": ("session.tool('x', risk='low').begin()", "before the process forked"),
    "an event": ("session.progress(5)", "before the process forked"),
    "text": ("session.write('Hello.')", "before the process forked"),
    "a question": ("session.confirm('Pay.', 'Money goes.')", "before the process forked"),
    "the end": ("session.cancel()", "before the process forked"),
    "another session": ("producer.session('Another.')", "before the process forked"),
    "an answer": ("raise SystemExit(ask.wait().outcome)", "withdrawn"),
    "leaving": ("producer.close(); raise SystemExit('closed')", "closed"),
    "another hub": ("producer.hub.run(producer.hub.aclose())", "before the process forked"),
}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("way", WAYS)
def test_a_child_process_neither_waits_in_vain_nor_acts_unheard(way: str) -> None:
    tried, said = WAYS[way]
    program = f"""
import os, signal, warnings
import aaep
from aaep.testing import Listener

warnings.simplefilter("ignore")  # newer Pythons advise against what is tested here
with aaep.Producer("bank", journal=None) as producer:
    listener = Listener(producer)
    look = producer.tool(risk="low", name="look")(lambda: "looked")
    wipe = producer.tool(name="wipe")(lambda: "wiped")
    asking = producer.session("Asking.").start()
    ask = asking.confirm("Wipe the disk.", "All is gone.")
    with producer.session("Working.") as session:
        child = os.fork()
        if not child:
            signal.alarm(20)  # whoever waits in vain is killed
            try:
                {tried}
            except BaseException as error:
                print(error, flush=True)
            os._exit(0)
        status = os.waitpid(child, 0)[1]
        look()
    asking.cancel()
    listener.expect("tool.completed", "session.completed", "session.cancelled")
    print(status, listener.tools, listener.findings())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    child, _, parent = done.stdout.strip().rpartition("\n")
    assert said in child, done.stderr
    assert parent == "0 ['look'] []"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_producer_that_was_not_started_is_used_by_the_child() -> None:
    """As servers do that load a program once and fork for each worker."""
    program = """
import os, warnings
import aaep
from aaep.testing import Listener

warnings.simplefilter("ignore")  # newer Pythons advise against what is tested here
producer = aaep.Producer("bank", journal=None)
wipe = producer.tool(name="wipe")(lambda: "wiped")
child = os.fork()
if not child:
    with producer:
        listener = Listener(producer, "accept")
        with producer.session("Working."):
            print(wipe(), flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "wiped\n0\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_subscriber_of_a_process_that_forked_is_not_waited_for() -> None:
    program = """
import os, signal, warnings
import aaep

warnings.simplefilter("ignore")  # newer Pythons advise against what is tested here
with aaep.Producer("bank", journal=None, listen="http://127.0.0.1:0") as producer:
    subscriber = aaep.listen(producer.addresses[0])
    subscriber.ready().wait()
    child = os.fork()
    if not child:
        signal.alarm(20)  # whoever waits in vain is killed
        try:
            next(subscriber)
        except aaep.AaepError as error:
            print(error, flush=True)
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    subscriber.close()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "This was made before the process forked. Make it in the process that uses it.\n0\n", (
        done.stderr
    )
