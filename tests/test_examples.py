"""Every example runs, as it stands, in a process of its own, and does what it says."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import aaep

FOLDER = Path(__file__).parent.parent / "examples"
AGENTS = ["plain_script.py", "parallel_tools.py", "streaming_model.py"]
OTHERS = {
    "subscriber_without_library.py",
    "protocol_only.py",
    "medical_extension.py",
}  # the latter has tests/protocol/test_extensions.py


@contextmanager
def running(name: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(FOLDER / name), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield process
            assert process.wait(30) == 0
        finally:
            process.kill()


def address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().split()[-1]


def follow(url: str, answer: Callable[[aaep.Subscriber, Any], object]) -> list[str]:
    """Listen to one session, and what a person would hear of it."""
    heard = []
    with aaep.listen(url) as subscriber:
        for event in subscriber:
            said = aaep.announce(event)
            heard.append(said.text if said is not None else "")
            if isinstance(event, (aaep.AwaitingConfirmation, aaep.AwaitingClarification)):
                answer(subscriber, event)
            if isinstance(event, (aaep.SessionCompleted, aaep.SessionErrored, aaep.SessionCancelled)):
                break
        assert [one for one in subscriber.findings if one.severity == "error"] == []
    return heard


def test_there_is_a_test_for_every_example() -> None:
    assert {path.name for path in FOLDER.glob("*.py")} == {*AGENTS} | OTHERS


@pytest.mark.parametrize(
    ("answer", "printed", "said"),
    [
        (aaep.Subscriber.accept, "500 dollars are in savings now.", "Transfer finished."),
        (
            aaep.Subscriber.reject,
            "The user refused. Nothing was done.",
            "Refused. Transfer 500 dollars to savings was not done.",
        ),
    ],
)
def test_a_plain_script(answer: Callable[[aaep.Subscriber, Any], object], printed: str, said: str) -> None:
    with running("plain_script.py", "http://127.0.0.1:0") as process:
        heard = follow(address(process), answer)
        assert process.stdout is not None
        assert printed in process.stdout.read()
    assert any("Confirm. Transfer 500 dollars to savings." in text for text in heard)
    assert said in heard


def test_an_asyncio_agent_with_parallel_tools() -> None:
    with running("parallel_tools.py", "http://127.0.0.1:0") as process:
        heard = follow(address(process), aaep.Subscriber.accept)
    assert "Looking for flights to Lisbon." in heard
    # Both ran before the first had finished.
    assert heard.index("Looking for hotels in Lisbon.") < heard.index("Find flights finished.")
    assert "Reserve finished." in heard


def test_a_loop_around_a_model_that_streams() -> None:
    with running("streaming_model.py", "http://127.0.0.1:0") as process:
        heard = follow(address(process), aaep.Subscriber.reject)
    text = " ".join(heard)
    assert (
        text.index("Let me look that up.") < text.index("Reading your note.") < text.index("Your note says: Buy milk.")
    )
    assert heard[-1] == "Done."


def test_a_subscriber_that_uses_no_library_of_ours() -> None:
    source = (FOLDER / "subscriber_without_library.py").read_text()
    code = [line for line in source.splitlines()[1:] if line.strip()]
    assert len(code) <= 20 and "aaep " not in "\n".join(line for line in code if "import" in line)
    with running("plain_script.py", "http://127.0.0.1:0") as agent:
        with running("subscriber_without_library.py", address(agent)) as reader:
            assert reader.stdout is not None
            heard = reader.stdout.read()
        assert agent.stdout is not None
        assert "The user refused." in agent.stdout.read()
    assert "Ended. Transfer 500 dollars to savings was not done." in heard
    assert "" not in heard.splitlines()


def test_the_protocol_works_without_the_rest_of_the_library() -> None:
    program = f"import runpy, sys; runpy.run_path({str(FOLDER / 'protocol_only.py')!r}, run_name='__main__')"
    program += "; print('asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert isinstance(aaep.read(lines[0].encode())[0], aaep.SubscriptionAccepted)
    assert [line for line in lines if line.startswith("By ")] == [
        "By what came before:",
        "By all rules:",
        "By what came before: SEQ-001: session.started comes a second time.",
        "By all rules: error SEQ-001 (§4.1, §4.1.1, §4.5.1, §2.2.5): session.started comes a second time.",
    ]
    assert lines[-1] == "False"  # no event loop
