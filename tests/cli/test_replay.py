"""``aaep replay``: a recording is played as the agent it was, and its prompts wait for those who listen now."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

import aaep
from aaep.cli import main
from aaep.cli._demo_agent import run_scenario
from aaep.producer.producer import Producer
from aaep.protocol import timestamps
from aaep.protocol.attend_extension import ATTEND, attend_member, attend_registry
from aaep.protocol.events import AwaitingConfirmation, Envelope, OutputStreaming, SessionStarted, StateChanged
from aaep.protocol.messages import Capabilities
from aaep.recording.capture import CaptureError
from aaep.recording.replay_plan import PromptResult, ReplayPlan
from aaep.recording.replayer import Replayer
from aaep.runtime.ids import format_timestamp
from aaep.testing import Clock, Listener
from tests import vectors
from tests.driving import AAEP, LONG, answered, demo_at

ALL = Capabilities(
    supports_confirmation_reply=True,
    supports_clarification_reply=True,
    supported_conformance_levels=(1, 2, 3),
    supported_extensions=(ATTEND.namespace,),
)
EARS = Capabilities(supported_extensions=(ATTEND.namespace,))
CASES = [
    ("money", "accept"),
    ("money", "reject"),
    ("money", "silence"),
    ("error", "silence"),
    ("clarification", "savings"),
    ("clarification", "silence"),
    ("handoff", "silence"),
    ("cancel", "silence"),
    ("long", "silence"),
]


def recorded(path: Path, scenario: str, answer: str, timeout: int | None = None) -> Listener:
    """A live run of the demo's agent, recorded; who listened to it."""
    with Producer("bank", name="Bank", journal=None) as producer:
        listener = Listener(producer, answer, capabilities=ALL)
        run_scenario(producer, scenario, lambda: None, timeout)
        listener.wait_for_end()
        listener.write_capture(path)
    return listener


def script(path: Path) -> ReplayPlan:
    return ReplayPlan(lambda: path.open("rb"), attend_registry())


@contextmanager
def playing(path: Path, **settings: Any) -> Iterator[tuple[Producer, Replayer]]:
    with Producer("bank", name="Bank", journal=None) as producer:
        yield producer, Replayer(producer, script(path), **{"speed": None, **settings})


def played(path: Path, answer: Any = "silence", capabilities: Capabilities = ALL, **settings: Any) -> Listener:
    """Play it once to somebody who answers so."""
    with playing(path, **settings) as (producer, rehearsal):
        listener = Listener(producer, answer, capabilities=capabilities)
        rehearsal.play()
        listener.wait_for_end()
    return listener


@contextmanager
def in_background(work: Callable[[], None]) -> Iterator[threading.Thread]:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield thread
    thread.join(LONG)
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def accepted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("replay") / "accepted.ndjson"
    recorded(path, "money", "accept")
    return path


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def written(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
    return path


# -- the same again --------------------------------------------------------------------------


@pytest.mark.parametrize(("scenario", "answer"), CASES)
def test_what_is_heard_is_what_was_heard_live(scenario: str, answer: str, tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    live = recorded(path, scenario, answer, 1 if answer == "silence" else None)
    again = played(path, answer)
    assert again.heard == live.heard
    assert again.types == live.types
    assert again.findings() == []


def test_a_capture_of_the_demo_sounds_the_same_in_aaep_listen(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with demo_at() as url:
        live = answered([AAEP, "capture", url, "-o", str(path), "--replies"], "accept")
    command = [AAEP, "replay", str(path), "--loop", "--no-delay"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            url = address(process)
            for _ in range(2):
                assert answered([AAEP, "listen", url, "--once"], "accept") == live
            process.send_signal(signal.SIGTERM)
            assert process.wait(LONG) == 0
            assert process.stderr is not None and process.stderr.read().endswith("Stopped.\n")
        finally:
            process.kill()


def address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    line = next(line for line in process.stderr if "aaep listen" in line)
    return line.split()[-1]


def test_everything_is_new_and_says_what_it_was(accepted: Path) -> None:
    before = {
        line["message"]["event_id"]: line["message"]
        for line in entries(accepted)
        if "event_id" in line.get("message", {})
    }
    began = time.time()
    with playing(accepted) as (producer, rehearsal):
        listener = Listener(producer, "accept", capabilities=ALL)
        rehearsal.play(rounds=2)
        listener.expect("session.completed", "session.completed")
    sessions = {event.session_id for event in listener.events}
    tokens = {event.reply_token for event in listener.events if isinstance(event, AwaitingConfirmation)}
    assert len(sessions) == 2 and not sessions & {one["session_id"] for one in before.values()}
    assert len(tokens) == 2 and not tokens & {one.get("reply_token") for one in before.values()}
    for event in listener.events:
        assert event.event_id not in before
        moment = timestamps.parse_instant(event.timestamp)
        assert moment is not None and moment >= began - 0.001, "never backdated (C-66)"
        if not isinstance(event, (StateChanged, OutputStreaming)):
            assert before[attend_member(event, "replay_of")]["type"] == event.type
    outcomes = [event for event in listener.events if attend_member(event, "outcome")]
    assert {attend_member(event, "reply_token") for event in outcomes} == tokens


def test_ids_may_be_kept_but_neither_times_nor_tokens(accepted: Path) -> None:
    listener = played(accepted, "accept", keep_ids=True)
    before = [line["message"] for line in entries(accepted) if "event_id" in line.get("message", {})]
    assert [event.event_id for event in listener.events] == [one["event_id"] for one in before]
    assert listener.events[0].session_id == before[0]["session_id"]
    assert listener.prompts[0].reply_token not in {one.get("reply_token") for one in before}
    assert not any(attend_member(event, "replay_of") for event in listener.events)


def test_an_answer_of_then_does_not_count_now(accepted: Path) -> None:
    old = next(line["message"]["reply_token"] for line in entries(accepted) if "decision" in line.get("message", {}))
    with playing(accepted) as (producer, rehearsal):
        listener = Listener(producer, capabilities=ALL)
        with in_background(rehearsal.play):
            prompt = listener.wait("awaiting.confirmation")
            listener.reply(msgspec.structs.replace(prompt, reply_token=old), "accept")
            listener.reply(prompt, "accept")
            listener.wait_for_end()
    assert listener.types.count("awaiting.confirmation") == 1


def test_who_joins_in_the_middle_hears_what_is_going_on(accepted: Path, tmp_path: Path) -> None:
    header, *lines = entries(accepted)
    events = [line for line in lines if "event_id" in line["message"]]
    begun = next(number for number, line in enumerate(events) if line["message"]["type"].endswith("tool.invoked"))
    slow = [{**line, "at": events[0]["at"]} for line in events[: begun + 1]]
    late = format_timestamp(datetime.fromisoformat(events[0]["at"]).timestamp() + 3600)
    path = written(tmp_path / "slow.ndjson", [header, *slow, *({**line, "at": late} for line in events[begun + 1 :])])
    clock = Clock()
    with playing(path, speed=1.0, clock=clock) as (producer, rehearsal):
        first = Listener(producer, "accept", capabilities=ALL)
        with in_background(rehearsal.play):
            first.wait("tool.invoked")
            second = Listener(producer, "accept", capabilities=ALL)
            second.wait("state.changed")
            clock.advance(3600)
            rehearsal.notify()
            second.wait_for_end()
    assert second.heard[1] == "Catching up. Looking up the balance of your checking account."


# -- prompts -----------------------------------------------------------------------------------


def test_a_prompt_waits_for_its_answer(accepted: Path) -> None:
    with playing(accepted) as (producer, rehearsal):
        listener = Listener(producer, capabilities=ALL)
        with in_background(rehearsal.play) as thread:
            prompt = listener.wait("awaiting.confirmation")
            thread.join(0.3)
            assert thread.is_alive() and listener.types[-1] == "awaiting.confirmation"
            listener.reply(prompt, "accept")
            listener.wait_for_end()
    assert "transfer_funds" in listener.tools


@pytest.mark.parametrize(
    ("on_reply", "answer", "runs"),
    [
        ("recorded", "accept", True),
        ("recorded", "reject", True),
        ("given", "accept", True),
        ("given", "reject", False),
        ("accept", "reject", True),
        ("reject", "accept", False),
    ],
)
def test_which_way_it_goes_on(on_reply: Any, answer: str, runs: bool, accepted: Path) -> None:
    told: list[str] = []
    listener = played(accepted, answer, on_reply=on_reply, report=told.append)
    assert ("transfer_funds" in listener.tools) is runs
    assert listener.types[-1] == ("session.completed" if runs else "session.cancelled")
    assert bool(told) is ((on_reply, answer) not in (("recorded", "accept"), ("given", "accept")))
    if not runs:
        outcome = next(event for event in listener.events if attend_member(event, "outcome"))
        assert attend_member(outcome, "outcome") == "rejected"
        assert listener.findings() == [], "what stops early is legal too"
        taken = {"given": "rejected", "reject": "accepted, and is taken as rejected"}[on_reply]
        assert told == [f"The answer was {taken}, for which the recording has nothing. The session stops."]


def test_another_answer_to_a_question_is_another_way(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    recorded(path, "clarification", "savings")
    assert played(path, "savings", on_reply="given").types[-1] == "session.completed"
    assert played(path, "checking", on_reply="given").types[-1] == "session.cancelled"
    assert played(path, "checking", on_reply="recorded").types[-1] == "session.completed"


def test_where_nobody_can_answer_the_recording_does(accepted: Path) -> None:
    listener = played(accepted, capabilities=EARS)
    assert listener.types[-1] == "session.completed" and "transfer_funds" in listener.tools
    forced = played(accepted, capabilities=EARS, on_reply="reject")
    assert forced.types[-1] == "session.cancelled" and "transfer_funds" not in forced.tools


def test_who_leaves_does_not_stop_it(accepted: Path) -> None:
    with playing(accepted) as (producer, rehearsal):
        listener, other = Listener(producer, capabilities=ALL), Listener(producer, capabilities=EARS)
        with in_background(rehearsal.play):
            listener.wait("awaiting.confirmation")
            listener.close()
            other.wait_for_end()


def test_who_comes_late_is_told_and_can_answer(accepted: Path) -> None:
    with playing(accepted) as (producer, rehearsal):
        first = Listener(producer, capabilities=ALL)
        with in_background(rehearsal.play):
            first.wait("awaiting.confirmation")
            late = Listener(producer, "accept", capabilities=ALL)
            late.wait_for_end()
            first.wait_for_end()
    assert late.types[0] == "session.started" and "awaiting.confirmation" in late.types


def test_what_the_agent_took_back_it_takes_back_again(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    with Producer("bank", journal=None) as producer:
        listener = Listener(producer, capabilities=ALL)
        with producer.session("Asking.") as session:
            session.withdraw(session.confirm("Do it.", "It is done."))
        listener.wait_for_end()
        listener.write_capture(path)
    again = played(path)
    assert again.types == listener.types and again.findings() == []


def test_a_reader_may_stop_the_session(accepted: Path) -> None:
    with playing(accepted) as (producer, rehearsal):
        listener = Listener(producer, capabilities=ALL)
        with in_background(rehearsal.play):
            listener.wait("awaiting.confirmation")
            [source] = producer.hub.sessions.audible_to(listener._peer)
            source.cancel(by="user", reason="user_request")
            end = listener.wait_for_end()
    assert end.type.endswith("session.cancelled") and listener.findings() == []


# -- what recordings hold ----------------------------------------------------------------------


def test_a_recording_that_stops_is_ended(accepted: Path, tmp_path: Path) -> None:
    lines = entries(accepted)
    place = max(
        place for place, line in enumerate(lines) if line.get("message", {}).get("type", "").endswith("tool.invoked")
    )
    listener = played(written(tmp_path / "cut.ndjson", lines[: place + 1]), "accept")
    assert listener.types[-2:] == ["tool.completed", "session.cancelled"]
    assert listener.findings() == []


@pytest.mark.parametrize(("sender", "outcome"), [("in", "accepted"), ("out", "pending"), (None, "accepted")])
def test_only_a_reader_can_have_answered(sender: str | None, outcome: str, tmp_path: Path) -> None:
    bases = ["agent.session.started", "agent.awaiting.confirmation", "confirmation.reply"]
    messages = [json.loads(vectors.message({"base": base}, number)) for number, base in enumerate(bases)]
    lines = [{"dir": "out", "message": one} for one in messages[:2]] + [{"dir": sender, "message": messages[2]}]
    path = written(tmp_path / "c.ndjson", messages if sender is None else lines)
    assert [ending.outcome for ending in script(path).prompt_results.values()] == [outcome]


def test_what_was_sent_again_after_a_reconnect_is_played_once(accepted: Path, tmp_path: Path) -> None:
    header, *lines = entries(accepted)
    again = [line for line in lines if line["message"]["type"].endswith(("session.started", "state.changed"))][:3]
    gap = [{"at": lines[6]["at"], "gap": "lost"}, {"at": lines[6]["at"], "gap": "resumed"}]
    path = written(tmp_path / "gap.ndjson", [header, *lines[:7], *gap, *again, *lines[7:]])
    assert played(path, "accept").types == played(accepted, "accept").types


def test_the_state_that_a_late_reader_was_told_is_played_as_a_change(accepted: Path, tmp_path: Path) -> None:
    header, *lines = entries(accepted)
    events = [line for line in lines if "event_id" in line["message"]]
    joined = json.loads(json.dumps(events[1]))
    joined["message"]["extensions"] = {"attend": {"resync": True}}
    listener = played(written(tmp_path / "late.ndjson", [header, events[0], joined, *events[2:]]), "accept")
    assert listener.findings() == [] and not any(attend_member(event, "resync") for event in listener.events)


def test_of_several_subscriptions_at_the_same_time_one_is_played(accepted: Path, tmp_path: Path) -> None:
    header, *lines = entries(accepted)
    both = [one for line in lines for one in (line, {**line, "via": "sub_other"})]
    path = written(tmp_path / "two.ndjson", [header, *both[:-2]])
    found = script(path)
    assert found.subscription_id == lines[0]["via"] or found.subscription_id == "sub_other"
    assert len([*found.iter_steps()]) <= len(lines)
    after = [{**line, "via": "sub_other"} for line in lines]
    assert script(written(tmp_path / "after.ndjson", [header, *lines, *after])).subscription_id is None


def test_bare_events_are_played_in_their_own_time(accepted: Path, tmp_path: Path) -> None:
    events = [line["message"] for line in entries(accepted) if "event_id" in line.get("message", {})]
    path = written(tmp_path / "bare.ndjson", events)
    moments = [cue.at for cue in script(path).iter_steps()]
    assert moments == sorted(moments) and moments[0] == timestamps.parse_instant(events[0]["timestamp"])
    assert played(path, "accept").types == [one["type"].removeprefix("aaep:agent.") for one in events]


def test_the_time_between_is_kept_at_some_speed(accepted: Path) -> None:
    """By a clock that only waiting moves."""
    now, waits = [0.0], list[float]()

    class Changed(threading.Condition):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout or 0.0)
            now[0] += timeout or 0.0
            return True

    with playing(accepted, speed=4.0, clock=lambda: now[0]) as (producer, rehearsal):
        rehearsal._condition = Changed()
        Listener(producer, capabilities=EARS)
        rehearsal.play()
        moments = [cue.at for cue in rehearsal.plan.iter_steps()]
    assert sum(waits) == pytest.approx((moments[-1] - moments[0]) / 4)


def test_what_follows_which_answer() -> None:
    assert PromptResult("accepted").is_compatible_with(PromptResult("unseen")) and PromptResult(
        "answered", 1
    ).is_compatible_with(PromptResult("answered"))
    assert not PromptResult("accepted").is_compatible_with(PromptResult("rejected"))
    assert not PromptResult("answered", 1).is_compatible_with(PromptResult("answered", 2))
    assert not PromptResult("pending").is_compatible_with(PromptResult("pending"))


def test_it_plays_what_broke_a_rule_as_it_was(accepted: Path, tmp_path: Path) -> None:
    header, *lines = entries(accepted)
    kept = [line for line in lines if not line["message"]["type"].endswith("state.changed")]
    listener = played(written(tmp_path / "few.ndjson", [header, *kept]), "accept")
    assert listener.types[-1] == "session.completed" and "transfer_funds" in listener.tools


def test_the_agents_own_name_and_languages_are_offered(accepted: Path) -> None:
    found = script(accepted)
    assert found.producer.agent_name == "Bank" and found.languages[0] == "en-US"
    assert (found.session_count, found.fault_count) == (1, 0)
    with pytest.raises(CaptureError, match="no event"):
        script(Path(os.devnull))


@pytest.mark.parametrize(
    ("url", "transport"),
    [("http://127.0.0.1:0", "sse"), ("ws://127.0.0.1:0", "websocket"), ("unix:", "unix-socket")],
)
def test_what_was_captured_is_played_and_captured_again(
    url: str, transport: str, accepted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TERM-004"""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    path = tmp_path / "again.ndjson"
    with Producer("bank", name="Bank", journal=None, listen=url) as producer:
        rehearsal = Replayer(producer, script(accepted), speed=None)
        with in_background(rehearsal.play):
            again = ["capture", producer.addresses[0], "-o", str(path), "--max-events", "18"]
            result = CliRunner().invoke(main, again)
    assert result.exit_code == 0, result.output
    assert {line["transport"] for line in entries(path)[1:]} == {transport}
    judged = CliRunner().invoke(main, ["validate", "--strict", "--level", "3", str(path)])
    assert judged.exit_code == 0, judged.output


# -- the command -------------------------------------------------------------------------------


def replayed(*arguments: str, stdin: bytes | None = None) -> Any:
    return CliRunner().invoke(main, ["replay", *arguments], input=stdin)


def test_without_a_reader_to_wait_for(accepted: Path) -> None:
    result = replayed(str(accepted), "--no-delay", "--no-wait")
    assert result.exit_code == 0 and "holds 18 events of 1 session." in result.stderr
    assert result.stderr.endswith("Played 18 events.\n") and result.stdout == ""


def test_from_standard_input(accepted: Path) -> None:
    result = replayed("-", "--no-delay", "--no-wait", stdin=accepted.read_bytes() + b"nonsense\n")
    assert result.exit_code == 0 and "1 line could not be read" in result.stderr


def test_a_line_with_two_faults_is_one_line(accepted: Path) -> None:
    faulty = b'{"at":"never","dir":"out","message":{"event_id":7}}\n'
    result = replayed("-", "--no-delay", "--no-wait", stdin=accepted.read_bytes() + faulty + faulty)
    assert result.exit_code == 0 and "2 lines could not be read" in result.stderr


def test_what_stands_behind_the_end_of_its_session_is_left_out_and_that_is_told(accepted: Path, tmp_path: Path) -> None:
    header, *lines = entries(accepted)
    result = replayed(str(written(tmp_path / "back.ndjson", [header, *reversed(lines)])), "--no-delay", "--no-wait")
    assert result.exit_code == 0
    assert "after the end of their session in the recording were left out: 17. Are its lines in order?" in result.stderr
    assert result.stderr.endswith("Played 1 event.\n")
    whole = replayed(str(written(tmp_path / "twice.ndjson", [header, *lines, *lines])), "--no-delay", "--no-wait")
    assert "left out" not in whole.stderr, "what only came again was played"


@pytest.mark.parametrize(
    ("content", "text"),
    [("", "There is no event"), ("nonsense\n", "There is no event"), ('{"aaep_capture":2}\n', "version 2")],
)
def test_what_cannot_be_played_is_told(content: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson"
    path.write_text(content)
    result = replayed(str(path), "--no-wait")
    assert result.exit_code == 2 and text in result.stderr and len(result.stderr.splitlines()) == 1


def test_a_hub_that_is_not_there_is_told_and_nothing_was_played(accepted: Path, tmp_path: Path) -> None:
    done = replayed(str(accepted), "--no-delay", "--no-wait", "--hub", f"unix://{tmp_path}/hub.sock")
    assert done.exit_code == 2
    assert "The hub is not there. There is no socket " in done.stderr
    assert done.stderr.endswith("Start it: aaep serve. Then play it again.\n") and "Played" not in done.stderr


def test_an_address_that_others_can_reach_is_refused_in_words_of_the_command(accepted: Path) -> None:
    done = replayed(str(accepted), "--listen", "http://0.0.0.0:0")
    assert done.exit_code == 2 and "or use --hub." in done.stderr and "cert=" not in done.stderr


def test_kept_ids_cannot_be_heard_twice(accepted: Path) -> None:
    result = replayed(str(accepted), "--keep-ids", "--loop")
    assert result.exit_code == 2 and "do not go together" in result.stderr


def test_an_address_that_cannot_be_served(accepted: Path) -> None:
    result = replayed(str(accepted), "--listen", "gopher://x")
    assert result.exit_code == 2 and "no transport" in result.stderr
    for where in ("--listen", "--hub"):
        result = replayed(str(accepted), where, "ws://[::1")
        assert result.exit_code == 2 and "not a URL" in result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_the_readers_are_told(number: signal.Signals, accepted: Path) -> None:
    command = [AAEP, "replay", str(accepted), "--no-delay"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        try:
            heard: list[Envelope] = []
            with aaep.listen(address(process)) as subscriber:
                for event in subscriber:
                    heard.append(event)
                    if isinstance(event, AwaitingConfirmation):
                        process.send_signal(number)
            assert process.wait(LONG) == 130
        finally:
            process.kill()
    assert isinstance(heard[0], SessionStarted) and heard[-1].type.endswith("session.cancelled")


def test_it_goes_to_a_hub(accepted: Path) -> None:
    command = [AAEP, "serve", "--listen", "http://127.0.0.1:0", "--listen", "ws://127.0.0.1:0", "--journal", "memory"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as hub:
        try:
            assert hub.stderr is not None
            door, way = (hub.stderr.readline().split()[-1] for _ in range(2))
            replay = [AAEP, "replay", str(accepted), "--hub", way, "--no-delay"]
            with subprocess.Popen(replay, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                try:
                    said = answered([AAEP, "listen", door, "--once"], "accept")
                    assert process.wait(LONG) == 0
                finally:
                    process.kill()
        finally:
            hub.kill()
    assert said[0].startswith("Bank. Started. ")
    assert said[-1] == "Done. 500 dollars are in your savings."


def test_it_may_be_looked_at_instead(accepted: Path, tmp_path: Path) -> None:
    page, drawing = tmp_path / "c.html", tmp_path / "c.svg"
    result = replayed(str(accepted), "--visualize", "--html", str(page), "--svg", str(drawing))
    assert result.exit_code == 0 and "savings" in result.stdout
    assert "<html" in page.read_text() and "<svg" in drawing.read_text()
    result = replayed(str(accepted), "--svg", str(drawing))
    assert result.exit_code == 2 and "need --visualize" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["--loop"],
        ["--speed", "1"],
        ["--no-delay"],
        ["--on-reply", "recorded"],
        ["--listen", "http://127.0.0.1:0"],
        ["--hub", "http://127.0.0.1:1"],
        ["--keep-ids"],
        ["--no-wait"],
    ],
)
def test_who_only_looks_at_it_is_told_what_is_for_playing(words: list[str], accepted: Path) -> None:
    result = replayed(str(accepted), "--visualize", *words)
    assert result.exit_code == 2 and result.stdout == ""
    assert "--visualize does not play it, so it takes no " in result.stderr and words[0] in result.stderr


def test_a_token_in_the_environment_does_not_keep_anybody_from_looking(accepted: Path) -> None:
    result = CliRunner().invoke(main, ["replay", str(accepted), "--visualize"], env={"AAEP_TOKEN": "x"})
    assert result.exit_code == 0


def test_a_drawing_that_cannot_be_written_is_told_by_its_own_name_and_before_anything_else(
    accepted: Path, tmp_path: Path
) -> None:
    file = tmp_path / "missing" / "a.svg"
    result = replayed(str(accepted), "--visualize", "--svg", str(file))
    assert result.exit_code == 2 and result.stdout == ""
    assert result.stderr == f"aaep: {file}: No such file or directory.\n"
