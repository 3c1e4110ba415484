"""``aaep listen``: from the command line to a real agent and back."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner, Result

import aaep
from aaep.cli import main
from aaep.cli._command import find_languages
from aaep.producer.producer import Producer
from tests.outputs.test_terminal import Script
from tests.presentation.test_announce import event

URL = "http://127.0.0.1:1"
PROGRAM = [sys.executable, "-c", "from aaep.cli import main; main()", "listen"]
NOBODY = "Not interactive: prompts will be shown and not answered."


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the subscriber was made with; it hears one session and its end."""
    found: dict[str, Any] = {}

    def subscriber(url: str, **settings: Any) -> Script:
        found.update(settings, url=url)
        script = Script()
        script.connect(settings["on_status"])
        for name in ("session.started", "tool.invoked", "session.completed"):
            script.events.put(event(name, **({"summary_normal": "Grüße\x1b[2J"} if name == "tool.invoked" else {})))
        script.events.put(None)
        return script

    monkeypatch.setattr("aaep.cli.listen.Subscriber", subscriber)
    return found


def run(*args: str, **settings: Any) -> Result:
    return CliRunner().invoke(main, ["listen", *args], **settings)


def test_every_wish_reaches_the_subscriber(given: dict[str, Any]) -> None:
    options = "--verbosity terse --language yo --language en-GB --rate 5 --token secret --name Ears --no-wait"
    result = run(URL, *options.split())
    assert result.exit_code == 0
    assert callable(given.pop("on_status"))
    assert given == {
        "url": URL,
        "verbosity": "terse",
        "terms": aaep.Terms(languages=("yo", "en-GB"), max_events_per_second=5),
        "connect": aaep.ConnectOptions(token="secret"),
        "name": "Ears",
        "replies": True,
        "reconnect": aaep.Reconnect(at_start=False),
        "trust": None,
    }


def test_several_agents_are_listened_to_and_each_address_once(monkeypatch: pytest.MonkeyPatch) -> None:
    urls: list[str] = []

    def subscriber(url: str, **settings: Any) -> Script:
        urls.append(url)
        script = Script()
        script.connect(settings["on_status"])
        script.events.put(event("session.started", session_id=f"sess_{len(urls)}"))
        script.events.put(None)
        return script

    monkeypatch.setattr("aaep.cli.listen.Subscriber", subscriber)
    result = run(URL, "unix:bank", URL)
    assert result.exit_code == 0 and sorted(urls) == sorted([URL, "unix:bank"])
    assert result.stdout.count("Started.") == 2


def test_a_token_is_shown_to_one_agent_only(given: dict[str, Any]) -> None:
    result = run(URL, "http://127.0.0.1:2", "--token", "secret")
    assert result.exit_code == 2 and "Whose is the token, http://127.0.0.1:1 or http://127.0.0.1:2?" in result.stderr
    assert given == {}


def test_all_addresses_have_to_be_addresses() -> None:
    result = run(URL, "nonsense:")
    assert result.exit_code == 2 and "nonsense" in result.stderr


def test_without_an_address_those_of_the_settings_count(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AAEP_AGENTS", "unix:bank")
    assert run().exit_code == 0
    assert given["url"] == "unix:bank"


@pytest.mark.parametrize("words", [[], ["--discover"]])
def test_agents_of_this_user_are_found_and_no_token_is_shown_to_them(
    words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(prefix="aaep") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        monkeypatch.setenv("AAEP_TOKEN", "secret")
        with (
            Producer("bank", name="Bank", listen="unix:bank", journal=None) as producer,
            subprocess.Popen([*PROGRAM, *words, "--once"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader,
        ):
            producer.reader().wait(30)
            with producer.session("Counting."):
                pass
            printed, _ = reader.communicate(timeout=30)
    assert reader.returncode == 0
    assert "Connected to Bank." in printed.decode() and "Counting." in printed.decode()


def test_settings_count_where_there_is_no_option(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('verbosity = "terse"\nlanguages = ["yo"]\ntime.minimum = 90\nlimits.events = 4\nname = "Ears"\n')
    monkeypatch.setenv("AAEP_SETTINGS", str(path))
    monkeypatch.setenv("AAEP_REPLIES", "no")
    run(URL, "--verbosity", "detailed")
    assert (given["verbosity"], given["name"], given["replies"]) == ("detailed", "Ears", False)
    assert given["terms"] == aaep.Terms(languages=("yo",), max_events_per_second=4, minimum_timeout=90)


def test_a_mistake_in_the_settings_is_told_and_listening_goes_on(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("verbosity = loud\nstates = 3\n")
    monkeypatch.setenv("AAEP_SETTINGS", str(path))
    result = run(URL)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1:3] == [
        "Line 1 of the settings cannot be read, and does not count: verbosity = loud",
        "Line 2 of the settings does not count: states has to be true or false.",
    ]
    assert "Done." in result.stdout


def test_what_is_set_to_begin_quietly_does(given: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AAEP_DO_NOT_DISTURB", "yes")
    result = run(URL)
    assert "Do not disturb. Only questions and warnings are said.\n" in result.stdout
    assert "Started." not in result.stdout


def test_without_wishes_nothing_is_wished(given: dict[str, Any]) -> None:
    run(URL)
    given.pop("on_status")
    assert given == {
        "url": URL,
        "verbosity": "normal",
        "terms": aaep.Terms(),
        "connect": aaep.ConnectOptions(),
        "name": "AAEP for Python",
        "replies": True,
        "reconnect": aaep.Reconnect(),
        "trust": None,
    }


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("always", aaep.Reconnect(after_goodbye=True)),
        ("lost", aaep.Reconnect()),
        ("never", aaep.Reconnect(after_loss=False)),
    ],
)
def test_when_to_connect_again_is_a_wish_too(given: dict[str, Any], word: str, wanted: aaep.Reconnect) -> None:
    run(URL, "--reconnect", word)
    assert given["reconnect"] == wanted


def test_the_token_may_come_from_the_environment(given: dict[str, Any]) -> None:
    run(URL, env={"AAEP_TOKEN": "secret"})
    assert given["connect"].token == "secret"


def test_without_replies_none_are_promised(given: dict[str, Any]) -> None:
    run(URL, "--no-replies")
    assert given["replies"] is False


def test_sentences_are_printed_as_they_are_preferred(given: dict[str, Any]) -> None:
    result = run(URL, "--verbosity", "terse")
    started, called, done = result.stdout.splitlines()[-4:-1]
    assert (started, called[-17:], done) == ("Started. Moving money to your savings.", "Checking balance.", "Done.")
    assert result.stderr == ""


def test_json_prints_each_event_and_nothing_else(given: dict[str, Any]) -> None:
    result = run(URL, "--json")
    events = [json.loads(line) for line in result.stdout_bytes.splitlines()]
    assert [one["type"].rpartition(".")[2] for one in events] == ["started", "invoked", "completed"]
    assert events[1]["summary_normal"] == "Grüße\x1b[2J"
    assert b"\x1b" not in result.stdout_bytes, "escaped, and so the same when it is read"
    assert "Stopped listening." in result.stderr


def test_announcements_are_printed_with_the_weight_they_are_given(given: dict[str, Any]) -> None:
    result = run(URL, "--announcements")
    told = [json.loads(line) for line in result.stdout_bytes.splitlines()]
    assert [one["type"].rpartition(".")[2] for one in told] == ["started", "invoked", "completed"]
    assert all({"event_id", "session_id", "text", "urgency"} <= {*one} for one in told)
    assert "Grüße" in told[1]["text"] and "\x1b" not in told[1]["text"]
    assert [one["urgency"] for one in told] == ["normal"] * 3
    assert "Stopped listening." in result.stderr


def test_only_one_thing_goes_to_standard_output(given: dict[str, Any]) -> None:
    result = run(URL, "--announcements", "--json")
    assert result.exit_code == 2 and "Give --json or --announcements." in result.stderr


def test_whom_to_trust_reaches_the_subscriber(given: dict[str, Any], tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    keys.write_text("{}")
    run(URL, "--trust", str(keys))
    assert given["trust"] == str(keys)


def test_once_ends_after_the_first_session(given: dict[str, Any]) -> None:
    result = run(URL, "--once")
    assert result.exit_code == 0 and result.stdout.endswith("Done. Your balance was checked.\nStopped listening.\n")


def test_nobody_there_and_no_wish_to_wait() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    result = run(f"http://127.0.0.1:{port}", "--no-wait")
    assert result.exit_code == 2
    assert result.stderr.startswith("aaep: ") and len(result.stderr.splitlines()) == 1
    assert "Start the agent or check the address. With --wait it is waited for." in result.stderr


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("gopher://x", "no transport"),
        ("127.0.0.1:8137", "no transport"),
        ("", "no transport"),
        ("http://[::1", "not a URL"),
        ("ws://[nobody]", "not a URL"),
        ("http://127.0.0.1:many", "not a URL"),
        ("grpc://127.0.0.1:70000", "not a URL"),
    ],
)
def test_an_address_that_is_none(url: str, why: str) -> None:
    result = run(url)
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1
    assert why in result.stderr


def test_help_ends_with_an_example() -> None:
    assert "Example: aaep listen http://" in run("--help").stdout


# -- with a real agent ---------------------------------------------------------------------


class Bank:
    """An agent that asks before it transfers."""

    def __init__(self, risk: Literal["high"] | None = None) -> None:
        self.producer = Producer("bank", name="Bank", listen="http://127.0.0.1:0", journal=None)
        self.risk, self.transferred = risk, list[str]()
        self.thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Bank:
        self.producer.start()
        self.url = self.producer.addresses[0]
        self.thread.start()
        return self

    def __exit__(self, *why: object) -> None:
        self.producer.close()
        self.thread.join(30)

    def _work(self) -> None:
        if self.risk is None:
            return
        self.producer.hub.wait_for_reader(replies=True).wait(60)

        @self.producer.tool(
            risk=self.risk, irreversible=True, action="Transfer {amount}.", consequence="The money moves."
        )
        def transfer(amount: str) -> str:
            self.transferred.append(amount)
            return "Moved."

        with self.producer.session("Moving money."):
            transfer(amount="500 dollars")


class Listener:
    """``aaep listen`` in a process of its own."""

    def __init__(self, *args: str, keyboard: int | None = None, hands: int | None = None) -> None:
        self.process = subprocess.Popen(
            [*PROGRAM, *args],
            stdin=subprocess.PIPE if keyboard is None else keyboard,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert self.process.stdout is not None
        self.eyes = self.process.stdout.fileno()
        self.hands = self.process.stdin.fileno() if self.process.stdin is not None else hands
        self.seen = ""

    def __enter__(self) -> Listener:
        return self

    def __exit__(self, *why: object) -> None:
        self.process.kill()
        with contextlib.suppress(OSError):  # waited for already
            self.process.wait()
            for pipe in (self.process.stdin, self.process.stdout):
                if pipe is not None:
                    pipe.close()

    def see(self, text: str, within: float = 60.0) -> bool:
        deadline = time.monotonic() + within
        while text not in self.seen:
            if not select.select([self.eyes], [], [], max(0.0, deadline - time.monotonic()))[0]:
                assert within < 60, f"{text!r} was not printed, but {self.seen!r}"
                return False
            data = os.read(self.eyes, 65_536)
            assert data, f"{text!r} was not printed, but {self.seen!r}"
            self.seen += data.decode()
        self.seen = self.seen.partition(text)[2]
        return True

    def insist(self, keys: str, text: str) -> None:
        """Type until it was heard; what comes in the moment in which a prompt appears does not count."""
        assert self.hands is not None
        for _ in range(30):
            os.write(self.hands, keys.encode())
            if self.see(text, within=2.0):
                return
        raise AssertionError(f"{text!r} was not printed, but {self.seen!r}")

    def ends(self) -> int:
        """Read to the end, with standard input still open."""
        while select.select([self.eyes], [], [], 60)[0]:
            data = os.read(self.eyes, 65_536)
            self.seen += data.decode()
            if not data:
                break
        return self.process.wait(60)


@contextlib.contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    master, slave = pty.openpty()
    try:
        yield master, slave
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize("answer", ["accept", "reject"])
def test_a_line_decides_whether_money_moves(answer: str) -> None:
    with Bank("high") as bank, Listener(bank.url, "--once") as listener:
        listener.see("Not interactive: commands are read from standard input, one on each line.")
        listener.see("Connected to Bank.")
        listener.see("Attention. Confirm. Transfer 500 dollars.")
        if answer == "accept":
            listener.insist("accept\n", "Write yes to accept this: Transfer 500 dollars.")
            assert bank.transferred == []
            listener.insist("yes\n", "Sending: accept.")
        else:
            listener.insist("reject\n", "Sending: refuse.")
        assert listener.ends() == 0
        assert bank.transferred == (["500 dollars"] if answer == "accept" else [])
        assert listener.seen.endswith("Stopped listening.\n")


def test_keys_decide_whether_money_moves() -> None:
    with terminal() as (master, slave), Bank("high") as bank:
        before = termios.tcgetattr(slave)
        with Listener(bank.url, "--once", keyboard=slave, hands=master) as listener:
            listener.see("Attention. Confirm. Transfer 500 dollars.")
            listener.insist("a", "Press y to accept this: Transfer 500 dollars.")
            listener.insist("y", "Sending: accept.")
            assert listener.ends() == 0
        assert bank.transferred == ["500 dollars"]
        assert termios.tcgetattr(slave) == before


def test_more_time_is_given_by_asking_again() -> None:
    """CF-028"""
    with Bank("high") as bank, Listener(bank.url, "--once") as listener:
        listener.see("Refused after 5 minutes")
        listener.insist("time\n", "Asking for 10 minutes.")
        listener.see("\nYou have 10 minutes now.\n")
        listener.insist("reject\n", "Sending: refuse.")
        assert listener.ends() == 0 and bank.transferred == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130), (signal.SIGHUP, 0)])
def test_a_signal_ends_it_in_order_and_gives_the_terminal_back(number: int, status: int) -> None:
    with terminal() as (master, slave), Bank() as bank:
        before = termios.tcgetattr(slave)
        with Listener(bank.url, keyboard=slave, hands=master) as listener:
            listener.see("Connected to Bank.")
            assert termios.tcgetattr(slave) != before
            listener.process.send_signal(number)
            assert listener.ends() == status
            assert listener.seen == "\nStopped listening.\n"
        assert termios.tcgetattr(slave) == before


def test_a_signal_ends_the_waiting_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with Listener(f"http://127.0.0.1:{port}") as listener:
        listener.see("Waiting. This goes on by itself.")
        listener.process.send_signal(signal.SIGTERM)
        assert listener.ends() == 0
        assert listener.seen == "\nStopped listening.\n", "and no word about each try"


def test_the_agent_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with Listener(f"http://127.0.0.1:{port}") as listener:
        listener.see("Waiting. This goes on by itself.")
        with Producer("bank", name="Bank", listen=f"http://127.0.0.1:{port}", journal=None) as producer:
            listener.see("Connected to Bank.")
            producer.hub.wait_for_reader(replies=True).wait(60)
        assert listener.ends() == 0, "the producer said goodbye"
        assert "Bank has ended." in listener.seen


def test_a_reader_may_outlive_the_agent(tmp_path: Path) -> None:
    url = f"unix:{tmp_path}/bank.sock"
    with Listener(url, "--reconnect", "always") as listener:
        for _ in range(2):
            with Producer("bank", name="Bank", listen=url, journal=None) as producer:
                listener.see("onnected")
                producer.hub.wait_for_reader(replies=True).wait(60)
                with producer.session("Reading the balance."):
                    pass
                listener.see("Done.")
            listener.see("Waiting. This goes on by itself.")
        listener.process.send_signal(signal.SIGTERM)
        assert listener.ends() == 0


def test_who_will_not_wait_ends_with_the_connection(tmp_path: Path) -> None:
    with Listener(f"unix:{tmp_path}/nobody.sock", "--reconnect", "never") as listener:
        assert listener.ends() == 2 and "Start the agent or check the address." in listener.seen


def test_at_the_end_of_standard_input_listening_goes_on() -> None:
    with Bank() as bank, Listener(bank.url) as listener:
        listener.see("Connected to Bank.")
        assert listener.process.stdin is not None
        listener.process.stdin.close()
        listener.see("Standard input has ended. Listening goes on. Prompts will be shown and not answered.")
        with bank.producer.session("Reading the balance."):
            listener.see("Started. Reading the balance.")
        listener.see("Done.")


@pytest.mark.parametrize("closed", [False, True])
def test_with_nobody_to_answer_it_says_so_and_promises_no_answers(closed: bool) -> None:
    with Bank() as bank, open(os.devnull) as nothing:
        ended = ["sh", "-c", 'exec "$@" <&-', "sh"] if closed else []
        with subprocess.Popen(
            [*ended, *PROGRAM, bank.url, "--once"], stdin=nothing, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as process:
            bank.producer.hub.wait_for_reader(replies=False).wait(60)
            with bank.producer.session("Reading the balance."):
                pass
            printed = process.communicate(timeout=60)[0].decode()
        assert printed.startswith(f"{NOBODY}\nConnected to Bank.\n") and process.returncode == 0


@pytest.mark.parametrize(
    "verb",
    [["listen", "--no-wait"], ["capture", "--no-wait", "-o", "/dev/null"], ["manifest", "show"]],
    ids=lambda verb: verb[0],
)
def test_a_token_in_the_environment_is_for_those_who_take_one(verb: list[str]) -> None:
    told = CliRunner().invoke(main, [*verb, "unix:///nowhere.sock"], env={"AAEP_TOKEN": "x"})
    assert told.exit_code == 2 and "in the program itself" not in told.stderr


@pytest.mark.parametrize(
    ("given", "environment", "wanted"),
    [
        (["yo-NG,en", "fr"], {"LANG": "de_DE.UTF-8"}, ("yo-NG", "en", "fr")),
        ([], {"LANG": "de_DE.UTF-8"}, ("de-DE",)),
        ([], {"LC_ALL": "fr_CA@euro", "LANG": "de_DE.UTF-8"}, ("fr-CA",)),
        ([], {"LANGUAGE": "yo:ha", "LANG": "en_NG.UTF-8"}, ("yo", "ha", "en-NG")),
        ([], {"LANGUAGE": "yo", "LANG": "C.UTF-8"}, ("yo",)),
        ([], {"LANG": "C"}, ()),
        ([], {"LC_ALL": "POSIX", "LANG": "de_DE.UTF-8"}, ()),
        ([], {}, ()),
    ],
)
def test_the_languages_are_those_given_or_those_of_the_system(
    given: list[str], environment: dict[str, str], wanted: tuple[str, ...]
) -> None:
    assert find_languages(given, environment) == wanted


def test_a_system_in_american_english_asks_for_it_once(given: dict[str, Any]) -> None:
    environment = {"LANG": "en_US.UTF-8", "LC_ALL": None, "LC_MESSAGES": None, "LANGUAGE": None}
    assert run(URL, env=environment).exit_code == 0
    assert given["terms"].languages == ("en-US",)
