"""Notifications of the desktop: with a real D-Bus daemon, and with a program in their place."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from jeepney.io.threading import open_dbus_connection

from aaep.outputs.base import Notice, OutputEvent, PromptAnswered
from aaep.outputs.notifications import DesktopNotifications, NoNotifications, NotifySend, open_notifications
from aaep.presentation.announce import Announcement
from aaep.presentation.preferences import Preferences
from aaep.presentation.queue import Speak
from aaep.text.phrases import ENGLISH, PHRASES, Phrases, get_phrases
from tests.desktop import Desktop, bus, desktop, send_signal
from tests.outputs.test_terminal import at_a_terminal
from tests.presentation.test_announce import said
from tests.presentation.test_queue import outcome

ANSWER = PHRASES["notification.answer"]


def light(token: str = "rpl_1", **changes: Any) -> Announcement:
    """A prompt that takes a single key."""
    harmless: dict[str, Any] = {"risk_level": "low", "irreversible": False, "reversibility": "reversible"}
    return said("awaiting.confirmation", reply_token=token, **(harmless | changes))


def speak(announcement: Announcement, text: str = "") -> Speak:
    return Speak(text or announcement.text, announcement, 1)


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="aaep") as folder, bus(Path(folder)) as found:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", found)
        yield found


@contextlib.contextmanager
def notifying(phrases: Phrases = ENGLISH) -> Iterator[tuple[DesktopNotifications, SimpleQueue[OutputEvent]]]:
    reports: SimpleQueue[OutputEvent] = SimpleQueue()
    output = open_notifications(phrases)
    assert isinstance(output, DesktopNotifications)
    output.open(reports.put)
    try:
        yield output, reports
    finally:
        output.close()


def check_next_answer(output: DesktopNotifications, service: Desktop, reports: SimpleQueue[OutputEvent]) -> None:
    """Check that nothing that was chosen so far counts: the next answer is one to another prompt."""
    output.present(speak(light("rpl_next")))
    service.choose(service.shown.get(timeout=30).id, "reject")
    assert reports.get(timeout=30) == PromptAnswered("rpl_next", "reject")


def test_a_prompt_without_risk_can_be_answered_with_a_click(address: str) -> None:
    with desktop(address) as service, notifying() as (output, reports):
        assert output.can_answer
        output.present(speak(light()))
        shown = service.shown.get(timeout=30)
        assert shown.title == "Bank Assistant asks" and shown.body.startswith("Confirm. Transfer 50 dollars")
        assert shown.actions == ["accept", "Accept", "reject", "Refuse"] and ANSWER not in shown.body
        assert shown.hints["urgency"] == ("y", 2)
        service.choose(shown.id, "accept")
        assert reports.get(timeout=30) == PromptAnswered("rpl_1", "accept")
        service.choose(shown.id, "reject")
        check_next_answer(output, service, reports)
        output.present(speak(outcome()))
        assert service.closed.get(timeout=30) == shown.id


@pytest.mark.parametrize("changes", [{"risk_level": "high"}, {"irreversible": True, "reversibility": "irreversible"}])
def test_what_takes_a_second_key_is_answered_in_a_terminal(address: str, changes: dict[str, Any]) -> None:
    with desktop(address) as service, notifying() as (output, reports):
        output.present(speak(light(**changes)))
        shown = service.shown.get(timeout=30)
        assert shown.actions == [] and shown.body.endswith(f"\n{ANSWER}")
        service.choose(shown.id, "accept")
        check_next_answer(output, service, reports)


def test_control_characters_and_markup_are_text(address: str) -> None:
    prompt = light(action="Pay if 1 < 2 & 3 > 2\x1b[2J\u202e.")
    with desktop(address) as service, notifying() as (output, _):
        output.present(speak(prompt))
        shown = service.shown.get(timeout=30)
    assert "1 &lt; 2 &amp; 3 &gt; 2" in shown.body
    assert not {"\x1b", "\u202e", "<"} & {*shown.body}


def test_a_service_without_markup_gets_plain_text_and_one_without_actions_no_buttons(address: str) -> None:
    with desktop(address, "body") as service, notifying() as (output, _):
        assert not output.can_answer
        output.present(speak(light(action="Pay if 1 < 2.")))
        shown = service.shown.get(timeout=30)
    assert "1 < 2" in shown.body and shown.actions == [] and shown.body.endswith(ANSWER)


def test_nobody_but_the_service_can_say_what_was_chosen(address: str) -> None:
    with desktop(address) as service, notifying() as (output, reports):
        output.present(speak(light()))
        shown = service.shown.get(timeout=30)
        stranger = open_dbus_connection(address)
        send_signal(stranger, "ActionInvoked", "us", (shown.id, "accept"))
        stranger.close()
        service.choose(shown.id, "reject")
        assert reports.get(timeout=30) == PromptAnswered("rpl_1", "reject")
    assert reports.empty()


def test_only_prompts_are_shown_each_once_and_the_end_of_the_session_takes_them_away(address: str) -> None:
    with desktop(address) as service:
        with notifying() as (output, _):
            output.present(speak(said("session.started")))
            output.present(speak(light(), "Half a minute left: pay."))
            output.present(speak(light()))
            output.present(speak(light()))
            output.present(speak(light("rpl_2", session_id="sess_other")))
            first, second = (service.shown.get(timeout=30) for _ in range(2))
            output.present(speak(said("session.completed", session_id="sess_other")))
            assert service.closed.get(timeout=30) == second.id
            assert first.id != second.id and service.shown.empty()
        assert service.closed.get(timeout=30) == first.id, "what is left is taken away at the end"


def test_a_desktop_that_closes_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="aaep") as folder, contextlib.ExitStack() as daemon:
        address = daemon.enter_context(bus(Path(folder)))
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
        with desktop(address), notifying() as (output, reports):
            daemon.close()
            assert reports.get(timeout=30) == Notice(PHRASES["notifications.gone"])
            output.present(speak(light()))
        assert reports.empty()


def test_the_terminal_sends_a_click_to_the_prompt_that_it_was_made_on(address: str) -> None:
    with desktop(address) as service, at_a_terminal(outputs=[open_notifications()], replies=False) as sitting:
        for token in ("rpl_1", "rpl_2"):
            sitting.script.events.put(light(token, action=f"Send {token}.").event)
        shown = [service.shown.get(timeout=30) for _ in range(2)]
        service.choose(shown[0].id, "accept")
        assert sitting.script.sent.get(timeout=30) == ("accept", "rpl_1")
        service.choose(shown[1].id, "reject")
        assert sitting.script.sent.get(timeout=30) == ("reject", "rpl_2")


def test_without_a_service_a_program_shows_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {tmp_path}/shown\n')
    program.chmod(0o755)
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nobody")
    monkeypatch.setenv("PATH", str(tmp_path))
    output = open_notifications()
    assert isinstance(output, NotifySend)
    for _ in range(2):
        output.present(speak(light(action="Pay if 1 < 2.")))
    output.close()
    lines = (tmp_path / "shown").read_text().splitlines()
    assert lines[2:4] == ["--", "Bank Assistant asks"] and lines.count("--") == 1
    assert "1 &lt; 2" in lines[4] and lines[-1] == ANSWER


@pytest.mark.parametrize("tag", ["ar", "de", "ja"])
def test_notifications_are_in_the_language_of_the_person(address: str, tag: str) -> None:
    phrases = get_phrases((tag,))
    preferences = Preferences(languages=(tag,))
    with desktop(address) as service, notifying(phrases) as (output, _):
        output.present(speak(light(to=preferences)))
        shown = service.shown.get(timeout=30)
        assert shown.title == phrases.format("notification-title", agent="Bank Assistant")
        labels = [phrases["notification-accept"], phrases["notification-reject"]]
        assert shown.body.startswith(phrases["confirm"]) and shown.actions[1::2] == labels
        output.present(speak(light("rpl_2", risk_level="high", to=preferences)))
        assert service.shown.get(timeout=30).body.endswith(f"\n{phrases['notification-answer']}")


def test_without_notifications_it_is_told_in_the_language_of_the_person(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nobody")
    monkeypatch.setenv("PATH", str(tmp_path))
    reports: list[OutputEvent] = []
    open_notifications(get_phrases(("de",))).open(reports.append)
    assert reports == [Notice(get_phrases(("de",))["notifications-none"])]


def test_without_either_it_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={tmp_path}/nobody")
    monkeypatch.setenv("PATH", str(tmp_path))
    output = open_notifications()
    reports: list[OutputEvent] = []
    output.open(reports.append)
    output.present(speak(light()))
    output.close()
    assert isinstance(output, NoNotifications) and reports == [Notice(PHRASES["notifications.none"])]
