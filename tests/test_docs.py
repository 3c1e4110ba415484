"""What the README and the guides show is what happens: every block of code is run as pasted, every table is true."""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree

import click
import pytest

import aaep
import aaep.testing
from aaep.cli import main as command_line
from aaep.outputs.interpreter import MIN_READING_TIME
from aaep.text.phrases import PHRASES
from tests.adapters.hooking import claude, daemon, machine, permission
from tests.braille import virtual_display
from tests.speech import speech_server

ROOT = Path(__file__).parent.parent
PAGES = ("README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md")))
TASK_PAGES = tuple(
    f"docs/{name}.md"
    for name in (
        "make-an-agent-audible",
        "stream-a-models-answer",
        "tools-that-ask",
        "parallel-tools",
        "sub-agents",
        "several-users",
        "web-application",
        "write-a-reader",
        "braille",
        "run-a-hub",
        "security",
        "conformance",
        "traces",
        "coding-agents",
        "coding-agent-hooks",
        "listen-by-ear",
        "listen",
    )
)
ALONE = (*TASK_PAGES[:6], "docs/security.md")  # their blocks need no second process

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def all_blocks(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / page).read_text())


def blocks(page: str, language: str = "python") -> list[str]:
    return [text for kind, text in all_blocks(page) if kind == language]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def url() -> str:
    """An address that nobody has; the guides name a fixed one."""
    return f"http://127.0.0.1:{free_port()}"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with the files that the guides take for granted. Its path is short, for sockets."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        make = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
        names = "-addext subjectAltName=DNS:localhost -keyout key.pem -out cert.pem"
        subprocess.run([*make.split(), *names.split()], cwd=place, check=True, capture_output=True)
        shutil.copy(place / "cert.pem", place / "ca.pem")
        (place / "examples").symlink_to(ROOT / "examples")
        yield place


def environment(home: Path, **more: str) -> dict[str, str]:
    own = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "PYTHONWARNINGS": "error"}
    places = {"XDG_STATE_HOME": str(home), "XDG_RUNTIME_DIR": str(home)}
    return {**os.environ, **own, **places, **more}


def run(code: str, home: Path, **more: str) -> str:
    command, own = [sys.executable, "-c", code], environment(home, **more)
    done = subprocess.run(command, env=own, cwd=home, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def shell(command: str, home: Path) -> subprocess.CompletedProcess[str]:
    own = environment(home)
    return subprocess.run(
        command, shell=True, check=False, cwd=home, env=own, capture_output=True, text=True, timeout=300
    )


@contextmanager
def running(command: list[str], home: Path, **more: str) -> Iterator[subprocess.Popen[str]]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    own = environment(home, **more)
    with subprocess.Popen(command, cwd=home, env=own, text=True, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def agent(code: str, home: Path, url: str) -> Iterator[subprocess.Popen[str]]:
    with running([sys.executable, "-c", code.replace("http://127.0.0.1:8137", url)], home) as process:
        yield process


def wait_until_up(url: str) -> None:
    probe = aaep.Subscriber(url, replies=False)
    probe.ready().wait(30)
    probe.close()


# -- the README ------------------------------------------------------------------------------------


def test_the_first_example_is_short_and_prints_what_the_readme_says(tmp_path: Path) -> None:
    code, printed = blocks("README.md")[0], blocks("README.md", "")[0]
    assert len(code.strip().splitlines()) <= 12
    assert run(code, tmp_path) == printed


def test_the_second_example_waits_for_a_reader_and_its_yes(tmp_path: Path, url: str) -> None:
    command = next(one for one in blocks("README.md", "") if "aaep listen" in one)
    reader = [*shlex.split(command.replace("http://127.0.0.1:8137", url)), "--once"]
    with (
        agent(blocks("README.md")[1], tmp_path, url) as process,
        running([str(Path(sys.executable).parent / reader[0]), *reader[1:]], tmp_path) as reading,
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
    assert "Started. Moving money to your savings." in heard and "Nobody can answer." in heard


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


@pytest.mark.parametrize("page", ["README.md", "docs/write-a-reader.md"])
def test_text_that_comes_in_pieces_is_heard_in_sentences(page: str, tmp_path: Path, url: str) -> None:
    reader = next(one for one in blocks(page) if "aaep.listen(" in one)
    with agent(IN_PIECES, tmp_path, url):
        heard = run(reader.replace("http://127.0.0.1:8137", url), tmp_path).splitlines()
    assert "" not in heard
    assert "Let me look that up." in heard and "Buy milk." in heard


# -- pages whose code runs by itself ---------------------------------------------------------------


@pytest.mark.parametrize("page", ALONE)
def test_every_block_of_a_page_runs_in_order_and_prints_what_the_page_says(page: str, folder: Path) -> None:
    ports = {"8137": str(free_port()), "8443": str(free_port())}

    def move(text: str) -> str:
        for shown, free in ports.items():
            text = text.replace(shown, free)
        return text

    found = all_blocks(page)
    for (kind, text), (next_kind, expected) in pairwise([*found, ("", "")]):
        assert kind in ("python", "sh", "text"), text
        if kind == "python":
            printed = run(move(text), folder)
            assert next_kind != "text" or printed == move(expected)
        elif kind == "sh":
            done = shell(text, folder)
            assert done.returncode == 0, done.stderr


# -- readers ---------------------------------------------------------------------------------------


def test_the_commands_of_the_page_on_listening_work(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    first, background, unit = blocks("docs/listen.md", "sh")
    *settings_lines, last = first.splitlines()
    assert last == "aaep listen" and background.splitlines()[-1] == "aaep listen --daemon"
    for line in (*settings_lines, *unit.splitlines()):
        done = shell(line, folder)
        assert done.returncode == 0, done.stderr
    assert "rate = 300" in (folder / "aaep" / "settings.toml").read_text()


def test_the_reader_of_the_guide_refuses(tmp_path: Path, url: str) -> None:
    with agent(blocks("README.md")[1], tmp_path, url) as process:
        heard = run(blocks("docs/write-a-reader.md")[0].replace("http://127.0.0.1:8137", url), tmp_path)
        assert process.wait(30) == 0
    assert "Refused." in heard


def test_the_other_blocks_of_the_guide_for_readers_run(tmp_path: Path) -> None:
    _, together, terms = blocks("docs/write-a-reader.md")
    assert "normal Note Keeper: All tidy." in run(together, tmp_path)
    assert run(terms, tmp_path) == blocks("docs/write-a-reader.md", "text")[0]


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
    commands = [one.strip().replace("http://127.0.0.1:8137", url) for one in blocks("docs/write-a-reader.md", "sh")]
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
                assert any("Refused. Transfer $500 to savings was not done." in line for line in lines)
                assert process.wait(30) == 0
            assert "Refused. Transfer $500 to savings was not done." in heard.read()


def test_a_braille_display_shows_what_the_guide_says_and_its_key_refuses(folder: Path, url: str) -> None:
    command = shlex.split(blocks("docs/braille.md", "sh")[0].replace("http://127.0.0.1:8137", url))
    with (
        virtual_display(80) as display,
        agent(blocks("README.md")[1], folder, url) as process,
        running([*command, "--once", "--uncontracted"], folder, BRLAPI_HOST=display.host) as reading,
    ):
        display.wait_for(lambda: "⠠⠉⠕⠝⠋⠊⠗⠍⠲" in display.shown)  # Confirm.
        time.sleep(MIN_READING_TIME)  # by the clock of another process: before, nobody has read it and no key counts
        display.press("PassDots 0x17")  # r
        display.wait_for(lambda: "⠠⠎⠞⠕⠏⠏⠑⠙⠀⠇⠊⠎⠞⠑⠝⠊⠝⠛⠲" in display.shown)  # Stopped listening.
        assert (reading.wait(30), process.wait(30)) == (0, 0)
        assert reading.stdout is not None and "Refused." in reading.stdout.read()


# -- hubs ------------------------------------------------------------------------------------------


def hub_blocks() -> dict[str, str]:
    """The blocks of the page by what is special to them."""
    sh, python = blocks("docs/run-a-hub.md", "sh"), blocks("docs/run-a-hub.md")
    names = ("serve", "listen", "install", "remote_serve", "remote_listen")
    return {**dict(zip(names, sh, strict=True)), **dict(zip(("agent", "both", "remote_agent"), python, strict=True))}


def next_line(stream: IO[str] | None, words: str) -> str:
    assert stream is not None
    return next(line for line in iter(stream.readline, "") if words in line)


def test_a_hub_is_run_on_this_machine_as_the_guide_says(folder: Path, url: str) -> None:
    shown = hub_blocks()
    serve, listen = (shlex.split(shown[name].replace("http://127.0.0.1:8137", url)) for name in ("serve", "listen"))
    with running(serve, folder) as serving:
        next_line(serving.stderr, "Agents and readers can come.")
        with running([*listen, "--once"], folder) as reading:
            next_line(serving.stderr, "reader")  # the log says that it came
            run(shown["agent"], folder)
            next_line(reading.stdout, "Nothing to do.")
            assert reading.wait(30) == 0
        for path in ("/healthz", "/metrics"):
            assert urllib.request.urlopen(url + path).status == 200
        serving.send_signal(signal.SIGTERM)
        assert serving.wait(10) == 0
    assert "nothing is kept" not in shell("aaep journal show aaep-hub", folder).stdout
    run(shown["both"], folder, AAEP_TOKEN="aaep_0123456789")


def test_a_hub_is_run_beyond_this_machine_as_the_guide_says(folder: Path) -> None:
    shown = hub_blocks()
    reader, publisher, hub = shown["remote_serve"].strip().splitlines()
    tokens = {one: shell(one, folder).stdout.strip() for one in (reader, publisher)}
    with running(shlex.split(hub.replace(":8443", ":0")), folder, SSL_CERT_FILE="cert.pem") as serving:
        https = next_line(serving.stderr, "Listening at").split()[-1].replace("0.0.0.0", "localhost")
        wss = https.replace("https:", "wss:")  # which the same server serves
        assignment, *words, _ = shlex.split(shown["remote_listen"].replace("…", tokens[reader]))
        code = shown["remote_agent"].replace("wss://hub.example:8443", wss)
        mine = {"SSL_CERT_FILE": "cert.pem", "AAEP_TOKEN": assignment.partition("=")[2]}
        with (
            running([*words, https, "--once"], folder, **mine) as reading,
            running(
                [sys.executable, "-c", code], folder, SSL_CERT_FILE="cert.pem", AAEP_TOKEN=tokens[publisher]
            ) as acts,
        ):
            next_line(reading.stdout, "Moving money to your savings.")
            assert (reading.wait(30), acts.wait(30)) == (0, 0)


# -- inside a web application ----------------------------------------------------------------------


def test_the_application_of_the_guide_is_heard(folder: Path, url: str) -> None:
    page = "docs/web-application.md"
    (folder / "app.py").write_text(blocks(page)[0])
    command = shlex.split(blocks(page, "sh")[0].replace("8137", url.rpartition(":")[2]))
    with running(command, folder) as serving, aaep.listen(url) as subscriber:
        subscriber.ready().wait(30)
        assert subscriber.producer is not None and subscriber.producer.agent_name == "Bank Assistant"
        serving.send_signal(signal.SIGTERM)
        serving.wait(10)  # although a reader is connected


def test_the_server_of_the_guide_tells_readers_that_it_ends(folder: Path, url: str) -> None:
    code = blocks("docs/web-application.md")[1].replace("8137", url.rpartition(":")[2])
    (folder / "app.py").write_text(code)
    with running([sys.executable, "app.py"], folder) as serving, aaep.listen(url) as subscriber:
        subscriber.ready().wait(30)
        urllib.request.urlopen(urllib.request.Request(f"{url}/ask", method="POST")).close()
        heard = []
        for said in subscriber.announcements():
            heard.append(said.text)
            if said.text.endswith("You have 1240 dollars."):  # so the stream is there, through which goodbye is said
                serving.send_signal(signal.SIGINT)
        assert serving.wait(10) == 0
    assert heard[-2:] == ["Bank Assistant: You have 1240 dollars.", "Done."]
    assert subscriber.status.reason_code == "producer_shutdown"


def test_the_application_with_tokens_can_be_made(folder: Path) -> None:
    shell(blocks("docs/several-users.md", "sh")[0], folder)
    run(blocks("docs/web-application.md")[2], folder)


# -- coding agents ---------------------------------------------------------------------------------


def test_hooks_are_installed_checked_and_removed_as_the_guide_says(folder: Path) -> None:
    begin, _, end = blocks("docs/coding-agent-hooks.md", "sh")
    home = f"export HOME={shlex.quote(str(folder))}\n"
    done = shell(home + begin, folder)
    assert done.returncode == 0 and done.stdout.endswith("Result: all is well.\n")
    assert shell(home + end, folder).returncode == 0
    assert not (folder / ".claude" / "settings.json").exists()


def test_a_turn_of_claude_code_is_heard_as_the_guide_says() -> None:
    with machine() as host, daemon(host) as running_daemon:
        listener = aaep.testing.Listener(
            running_daemon.producer, answer=lambda prompt: "reject" if "push" in prompt.action else "accept"
        )
        read = {"tool_name": "Read", "tool_input": {"file_path": "/home/ada/shop/test_cart.py"}, "tool_use_id": "1"}
        edit = {"file_path": "/home/ada/shop/test_cart.py", "old_string": "== 2", "new_string": "== 3"}
        push = {"command": "git push --force", "description": "Show the status"}
        shown = {"index": 0, "final": True}
        host.tell("UserPromptSubmit", claude("UserPromptSubmit", prompt="Correct the test and push."))
        first = {**shown, "message_id": "m1", "delta": "The test expects 3. I will correct it."}
        host.tell("MessageDisplay", claude("MessageDisplay", **first))
        host.tell("PostToolUse", claude("PostToolUse", **read))
        host.run("PermissionRequest", permission("Edit", edit))
        host.tell("PostToolUse", claude("PostToolUse", tool_name="Edit", tool_input=edit, tool_use_id="2"))
        host.run("PermissionRequest", permission("Bash", push))
        last = {**shown, "message_id": "m2", "delta": "The test is corrected. I did not push."}
        host.tell("MessageDisplay", claude("MessageDisplay", **last))
        host.tell("Stop", claude("Stop"))
        listener.wait_for_end()
        assert listener.heard == blocks("docs/coding-agent-hooks.md", "text")[0].splitlines()


# -- traces and conformance ------------------------------------------------------------------------

DATE = re.compile(r"\d{4}-\d\d-\d\d")


def printed(done: subprocess.CompletedProcess[str], shown: str) -> bool:
    """Whether lines of the guide were printed, on whatever day."""
    lines = [DATE.sub("", line) for line in done.stdout.splitlines()]
    return all(DATE.sub("", line) in lines for line in shown.strip("\n").splitlines())


def test_traces_are_told_as_the_guide_says(folder: Path) -> None:
    text, files = blocks("docs/traces.md", "sh")
    done = shell(text, folder)
    assert done.returncode == 1 and printed(done, blocks("docs/traces.md", "text")[0])
    assert shell(files, folder).returncode == 0
    assert (folder / "bank.html").exists() and (folder / "bank.svg").exists()


def test_the_agent_of_the_guide_is_judged_as_the_guide_says(folder: Path, url: str) -> None:
    page = "docs/conformance.md"
    _, judge, *_ = blocks(page, "sh")
    assert judge.strip() in blocks(page, "yaml")[0]
    desk = str(free_port())
    (code,) = blocks(page)
    with agent(code.replace("8138", desk), folder, url):
        wait_until_up(url)
        done = shell(judge.replace("http://127.0.0.1:8137", url).replace("8138", desk), folder)
    assert done.returncode == 0, done.stdout + done.stderr
    reached, claim, _ = blocks(page, "text")
    assert printed(done, reached) and printed(done, claim)
    assert "1 warning" in done.stdout and "HITL-033" in done.stdout and "authenticates nobody" in done.stdout
    assert ElementTree.parse(folder / "report.xml").getroot().get("failures") == "0"
    assert (folder / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_others_are_judged_as_the_guide_says(folder: Path) -> None:
    own, _, recording, reader = blocks("docs/conformance.md", "sh")
    assert shell(own, folder).returncode == 0
    assert shell(recording, folder).returncode == 0
    done = shell(reader, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert printed(done, blocks("docs/conformance.md", "text")[2])


# -- speech ----------------------------------------------------------------------------------------


def test_the_demo_is_spoken_as_the_guide_says(folder: Path, url: str) -> None:
    first = blocks("docs/listen-by-ear.md", "sh")[0].replace("http://127.0.0.1:8137", url)
    assert url in first
    first = first.replace("aaep demo", "aaep demo --scenario long")  # in which nobody has to answer
    with (
        speech_server(folder) as server,
        running(["sh", "-c", first], folder, SPEECHD_ADDRESS=server.environment["SPEECHD_ADDRESS"]) as process,
    ):
        assert process.stdout is not None
        heard = process.stdout.read()  # standard input stays open: somebody could answer
        assert process.wait(30) == 0
        assert "Shall I look at travel more closely?" in "".join(server.commands())
    assert PHRASES["speech.none"] not in heard and "\nDone.\n" in heard


def test_the_recordings_of_the_guide_can_be_made(folder: Path) -> None:
    made, other = blocks("docs/listen-by-ear.md", "sh")[1:]
    target = made.strip().removeprefix("make ")
    assert f"\n{target}: setup\n\t@$(BIN)/python scripts/demo_speech.py demo.wav\n" in (ROOT / "Makefile").read_text()
    done = shell(other.replace(".venv/bin/python", sys.executable).replace("scripts/", f"{ROOT}/scripts/"), folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "long.wav").stat().st_size > 100_000


# -- what every page has ---------------------------------------------------------------------------


@pytest.mark.parametrize("page", TASK_PAGES)
def test_a_page_begins_with_a_short_block_to_paste(page: str) -> None:
    lines = (ROOT / page).read_text().splitlines()
    begin = next(place for place, line in enumerate(lines) if line.startswith("```"))
    assert begin < 12 and lines[begin] in ("```python", "```sh")
    assert lines.index("```") - begin - 1 <= 15
    assert lines[0].startswith("# ")


TABLE = re.compile(
    r"^(?P<intro>[^|\n]+):\n\n\| name \| default \| meaning \|\n\|[-|]+\|\n(?P<rows>(?:\|.*\n?)+)", re.MULTILINE
)
SUBJECT = re.compile(r"(?:parameters|fields|options) of `([^`]+)`", re.IGNORECASE)
NO_DEFAULT = "–"
NAMES = {**{name: getattr(aaep, name) for name in aaep.__all__}, "time": time}  # in which defaults are written


def settings(page: str) -> Iterator[tuple[str, str, str]]:
    """The object, a name and the default shown, for each setting in the tables of a page."""
    text = (ROOT / page).read_text()
    found = [*TABLE.finditer(text)]
    assert len(found) == text.count("| name | default | meaning |")
    for table in found:
        subject = SUBJECT.search(table["intro"])
        assert subject is not None, table["intro"]
        for row in table["rows"].strip().splitlines():
            names, default, meaning = (cell.strip() for cell in row.strip("|").split(" | "))
            assert meaning.rstrip("|").strip()
            yield from ((subject[1], name, default) for name in re.findall(r"`([^`]+)`", names))


def find_object(name: str) -> Any:
    found: Any = aaep
    for part in name.removesuffix("(...)").removeprefix("aaep.").split("."):
        found = getattr(found, part)
    return found


def find_options(command: str) -> dict[str, click.Option]:
    found: click.Command = command_line
    for word in command.split()[1:]:
        assert isinstance(found, click.Group)
        child = found.get_command(click.Context(found), word)
        assert child is not None, command
        found = child
    options = [one for one in found.params if isinstance(one, click.Option)]
    return {name: one for one in options for name in (*one.opts, *one.secondary_opts)}


def defaults(name: str) -> dict[str, Any]:
    """The parameters or fields of an object, with their defaults."""
    target = find_object(name)
    parameters = inspect.signature(target).parameters
    found = {one.name: one.default for one in parameters.values() if one.name != "self"}
    if target is aaep.HubSettings:  # a field with a factory has no default in its signature
        found = {one: getattr(aaep.HubSettings(), one) for one in found}
    return found


@pytest.mark.parametrize("page", TASK_PAGES)
def test_the_settings_of_a_page_are_real_and_have_the_defaults_shown(page: str) -> None:
    told = [*settings(page)]
    assert told
    for subject, name, default in told:
        shown = default.strip("`")
        if subject.startswith("aaep ") and " " in subject:
            text = find_options(subject)[name].help or ""
            said = text.partition("Default: ")[2]
            assert shown in said if default != NO_DEFAULT else not said, (subject, name, said)
            continue
        real = defaults(subject)[name]
        if default == "required":
            assert real is inspect.Parameter.empty, (subject, name)
        else:
            assert real == eval(shown, NAMES), (subject, name, real)


TOLD_WHOLE = (
    *("Producer", "Producer.session", "Producer.tool", "Producer.asgi", "listen", "Subscriber"),
    *("Session.tool", "Session.output", "Session.confirm", "Session.clarify", "Session.handoff"),
    *("Tls", "ServerOptions", "ConnectOptions", "ManifestOptions", "HubSettings", "Runtime", "Terms", "Reconnect"),
)
NOT_TOLD = {"function", "source", "cancel"}  # what is decorated; url by another name; set by Subscriber.stop


def test_every_setting_is_told_on_some_page() -> None:
    told: dict[str, set[str]] = {}
    for page in TASK_PAGES:
        for subject, name, _ in settings(page):
            told.setdefault(subject.removesuffix("(...)").removeprefix("aaep."), set()).add(name)
    told["Subscriber"] |= told["listen"]  # which takes the same, but for a few
    for subject in TOLD_WHOLE:
        assert {*defaults(subject)} - NOT_TOLD <= told[subject], subject
    serve = {name for name in find_options("aaep serve") if name.startswith("--")} - {"--help"}
    assert serve <= told["aaep serve"]


MODULES = re.compile(r"\baaep\.([a-z_]+)\.[A-Z]")


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_in_a_guide_is_there_after_import_aaep(page: str) -> None:
    named = {*MODULES.findall((ROOT / page).read_text())}
    code = f"import aaep; [getattr(aaep, name) for name in {sorted(named)}]"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- links -----------------------------------------------------------------------------------------

LINK = re.compile(r"\]\(([^)\s]+)\)")
LINKED = (*PAGES, "CONTRIBUTING.md", "SECURITY.md", "vectors/README.md")


def anchors(path: Path) -> set[str]:
    text = path.read_text()
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", text), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)
    return {*plain, *re.findall(r'<a id="([^"]+)">', text)}


@pytest.mark.parametrize("page", LINKED)
def test_every_link_leads_somewhere(page: str) -> None:
    for target in LINK.findall((ROOT / page).read_text()):
        if target.startswith("http"):
            continue
        name, _, fragment = target.partition("#")
        path = (ROOT / page).parent / name if name else ROOT / page
        assert path.exists(), target
        assert not fragment or fragment in anchors(path), target


def test_the_index_lists_every_page() -> None:
    listed = [one for one in LINK.findall((ROOT / "docs/README.md").read_text()) if "/" not in one]
    assert sorted(f"docs/{one}" for one in listed) == sorted({*PAGES} - {"README.md", "docs/README.md"})
    assert {*TASK_PAGES} <= {*PAGES}


def test_the_readme_links_every_task_page_and_every_example() -> None:
    linked = {*LINK.findall((ROOT / "README.md").read_text())}
    examples = {f"examples/{path.name}" for path in (ROOT / "examples").iterdir() if path.is_file()}
    assert {*TASK_PAGES} | examples <= linked
