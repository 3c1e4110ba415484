"""What the README and the guides show is what happens: every Python block is run as pasted."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO
from xml.etree import ElementTree

import pytest

import aaep

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))


def blocks(page: str, language: str = "python") -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    return [text for kind, text in found if kind == language]


def run(code: str, home: Path, timeout: float = 60) -> str:
    environment = {**os.environ, "PYTHONWARNINGS": "error", "XDG_STATE_HOME": str(home)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True, timeout=timeout).stdout


@contextmanager
def agent(code: str, home: Path, url: str) -> Iterator[subprocess.Popen[str]]:
    environment = {**os.environ, "PYTHONWARNINGS": "error", "XDG_STATE_HOME": str(home)}
    command = [sys.executable, "-c", code.replace("http://127.0.0.1:8137", url)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def url() -> str:
    """An address that nobody has; the guides name a fixed one."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{one.getsockname()[1]}"


def test_the_first_example_is_short_and_prints_what_the_readme_says(tmp_path: Path) -> None:
    code, printed = blocks("README.md")[0], blocks("README.md", "")[0]
    assert len(code.strip().splitlines()) <= 12
    assert run(code, tmp_path) == printed


def test_the_second_example_waits_for_a_reader_and_its_yes(tmp_path: Path, url: str) -> None:
    command = blocks("README.md", "")[2].strip().replace("http://127.0.0.1:8137", url)
    reader = [str(Path(sys.executable).parent / "aaep"), *shlex.split(command)[1:], "--once"]
    with (
        agent(blocks("README.md")[1], tmp_path, url) as process,
        subprocess.Popen(reader, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reading,
    ):
        assert reading.stdin is not None and reading.stdout is not None
        lines = iter(reading.stdout.readline, "")
        assert any("Confirm. Transfer $500 to savings." in line for line in lines)
        for word, answer in (("accept", "Not accepted yet."), ("yes", "Accepted.")):
            reading.stdin.write(f"{word}\n")
            reading.stdin.flush()
            assert any(answer in line for line in lines)
        assert any("$500 moved." in line for line in lines)
        assert (reading.wait(30), process.wait(30)) == (0, 0)


def test_the_reader_of_the_readme_prints_what_it_hears(tmp_path: Path, url: str) -> None:
    with agent(blocks("README.md")[1].replace("reader()", "reader(replies=False)"), tmp_path, url):
        heard = run(blocks("README.md")[2].replace("http://127.0.0.1:8137", url), tmp_path)
    assert "Started. Moving money to your savings." in heard and "Nobody is connected" in heard


IN_PIECES = """
import aaep

with aaep.Producer("notes", name="Notes", listen="http://127.0.0.1:8137", journal=None) as producer:
    producer.reader(replies=False).wait()
    with producer.session("Looking it up.") as session, session.output() as output:
        output.write("One moment. Let me look that ")
        with session.thinking():  # what was written is sent before it, wherever it ends
            pass
        output.write("up. Buy milk.")
"""


@pytest.mark.parametrize("page", ["README.md", "docs/readers.md"])
def test_text_that_comes_in_pieces_is_heard_in_sentences(page: str, tmp_path: Path, url: str) -> None:
    reader = next(one for one in blocks(page) if "aaep.listen(" in one)
    with agent(IN_PIECES, tmp_path, url):
        heard = run(reader.replace("http://127.0.0.1:8137", url), tmp_path).splitlines()
    assert "" not in heard
    assert "Let me look that up." in heard and "Buy milk." in heard


@pytest.mark.parametrize("place", range(len(blocks("docs/agents.md"))))
def test_every_example_for_agents_runs(place: int, tmp_path: Path) -> None:
    printed = run(blocks("docs/agents.md")[place], tmp_path)
    assert ["Done. Two notes are in order.", "no_reply_channel", "ordered red"][place] in printed


def test_the_reader_of_the_guide_refuses(tmp_path: Path, url: str) -> None:
    with agent(blocks("README.md")[1], tmp_path, url) as process:
        heard = run(blocks("docs/readers.md")[0].replace("http://127.0.0.1:8137", url), tmp_path)
        assert process.wait(30) == 0
    assert "Refused." in heard


@contextmanager
def curl(command: str) -> Iterator[IO[str]]:
    """What a curl command prints; a machine without curl gets the same request from the standard library."""
    words = shlex.split(command)
    if shutil.which("curl"):
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout
            finally:
                process.kill()
        return
    options = dict(pairwise(words))
    name, _, value = options.get("-H", "Accept: */*").partition(": ")
    body = options["-d"].encode() if "-d" in options else None
    where = next(word for word in words if word.startswith("http"))
    with urllib.request.urlopen(urllib.request.Request(where, body, {name: value})) as answer:
        yield io.TextIOWrapper(answer)


def test_the_curl_commands_work(tmp_path: Path, url: str) -> None:
    commands = [one.strip().replace("http://127.0.0.1:8137", url) for one in blocks("docs/readers.md", "")]
    bare, subscribe, stream, reply = commands
    with agent(blocks("README.md")[1], tmp_path, url) as process:
        probe = aaep.Subscriber(url, replies=False)
        probe.ready().wait(30)  # the agent is up
        with curl(bare) as heard, curl(subscribe) as answer:
            mine = json.loads(answer.read())["subscription_id"]
            with curl(stream.replace("sub_…", mine)) as mail:
                lines = iter(mail.readline, "")
                prompt = next(line for line in lines if "awaiting.confirmation" in line and line.startswith("data: "))
                token = json.loads(prompt.removeprefix("data: "))["reply_token"]
                with curl(reply.replace("sub_…", mine).replace("rpl_…", token)) as silence:
                    assert silence.read() == ""
                assert any("Refused. Nothing was done." in line for line in lines)
                assert process.wait(30) == 0
            assert "Refused. Nothing was done." in heard.read()


def test_a_hub_is_run_beyond_this_machine_as_the_guide_says(tmp_path: Path) -> None:
    page = "docs/deploying.md"
    make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = "-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem"
    subprocess.run([*make.split(), *names.split()], cwd=tmp_path, check=True, capture_output=True)
    serve, listen = (next(one for one in blocks(page, "") if word in one) for word in ("--tokens", "AAEP_TOKEN"))
    code = next(one for one in blocks(page) if "hub=" in one)
    reader, agent, hub = serve.strip().splitlines()
    tokens = {one: shell(one, tmp_path).stdout.strip() for one in (reader, agent)}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_STATE_HOME": str(tmp_path), "SSL_CERT_FILE": "cert.pem"}
    words = shlex.split(hub.replace(":8443", ":0"))
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as serving:
        try:
            assert serving.stderr is not None
            https = serving.stderr.readline().split()[-1].replace("0.0.0.0", "localhost")
            wss = https.replace("https:", "wss:")  # which the same server serves
            shown, words = listen.strip().replace("…", tokens[reader]).split(" ", 1)[0], shlex.split(listen)[1:]
            command = [*words[:-1], https, "--once"]
            own = {**environment, "AAEP_TOKEN": shown.partition("=")[2]}
            working = [sys.executable, "-c", code.replace("wss://hub.example:8443", wss)]
            with (
                subprocess.Popen(
                    command, cwd=tmp_path, env=own, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                ) as reading,
                subprocess.Popen(working, cwd=tmp_path, env={**environment, "AAEP_TOKEN": tokens[agent]}) as acting,
            ):
                try:
                    assert reading.stdout is not None
                    assert any("Moving money to your savings." in line for line in iter(reading.stdout.readline, ""))
                    assert (reading.wait(30), acting.wait(30)) == (0, 0)
                finally:
                    reading.kill()
                    acting.kill()
        finally:
            serving.kill()


def test_the_application_of_the_guide_is_heard(tmp_path: Path, url: str) -> None:
    code = next(one for one in blocks("docs/deploying.md") if "asgi()" in one)
    (tmp_path / "app.py").write_text(code)
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", url.rpartition(":")[2]]
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL) as serving:
        try:
            with aaep.listen(url) as subscriber:
                subscriber.ready().wait(30)
                assert subscriber.producer is not None and subscriber.producer.agent_name == "Bank Assistant"
        finally:
            serving.terminate()


MODULES = re.compile(r"\baaep\.([a-z_]+)\.[A-Z]")


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_in_a_guide_is_there_after_import_aaep(page: str) -> None:
    named = {*MODULES.findall((ROOT / page).read_text())}
    code = f"import aaep; [getattr(aaep, name) for name in {sorted(named)}]"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- proving that something conforms ---------------------------------------------------------------

DATE = re.compile(r"\d{4}-\d\d-\d\d")


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "XDG_STATE_HOME": str(folder)}
    return subprocess.run(
        command, shell=True, check=False, cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )


def printed(done: subprocess.CompletedProcess[str], shown: str) -> bool:
    """Whether a line of the guide was printed, on whatever day."""
    return DATE.sub("", shown.strip()) in [DATE.sub("", line) for line in done.stdout.splitlines()]


def test_the_agent_of_the_guide_is_judged_as_the_guide_says(tmp_path: Path, url: str) -> None:
    page = "docs/conformance.md"
    judge, *_ = blocks(page, "")
    assert judge.strip() in blocks(page, "yaml")[0]
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        desk = one.getsockname()[1]
    (code,) = blocks(page)
    with agent(code.replace("8138", str(desk)), tmp_path, url):
        probe = aaep.Subscriber(url, replies=False)
        probe.ready().wait(30)  # the agent is up
        probe.close()
        done = shell(judge.replace("http://127.0.0.1:8137", url).replace("8138", str(desk)), tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    reached, claim, _ = blocks(page, "text")
    assert printed(done, reached) and printed(done, claim)
    assert "1 warning" in done.stdout and "HITL-033" in done.stdout and "authenticates nobody" in done.stdout
    assert ElementTree.parse(tmp_path / "report.xml").getroot().get("failures") == "0"
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_recording_and_a_reader_are_judged_as_the_guide_says(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    _, recording, reader = blocks("docs/conformance.md", "")
    assert shell(recording, tmp_path).returncode == 0
    done = shell(reader, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert printed(done, blocks("docs/conformance.md", "text")[2])


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_is_named_is_there(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+?)\)", (ROOT / page).read_text()):
        if not target.startswith("http"):
            assert ((ROOT / page).parent / target).exists(), target
