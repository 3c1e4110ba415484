"""T8: somebody else's subscription, by its id. SEC-031, SEC-032, CF-065, CF-094, CF-145, CF-149"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.readers import ANSWERS, LISTENS, outcomes
from tests.end_to_end.wires import Gone
from tests.threats.hall import Hall, hall

MADE_UP = "sub_" + "0" * 32


def test_t8_an_id_opens_no_stream_for_another(scene: Hall) -> None:
    """SEC-031"""
    wire = scene.bank.wire("mallory")
    for name in (scene.ada.id, MADE_UP):  # and the two are not told apart
        with pytest.raises(Gone):
            wire.stream(scene.url, name)
        with pytest.raises(Gone):
            wire.stream(scene.url, name, after=scene.ada.got[0]["event_id"])
    scene.decides()


def test_t8_the_events_of_another_are_no_place_to_resume_after(scene: Hall) -> None:
    """Mallory names events of Ada's session, and hears nothing of what came before or after them."""
    places = [event["event_id"] for event in scene.ada.got]
    assert len(places) > 1
    for place in places:
        if scene.bank.wire("mallory").rejoins:
            spy = scene.bank.reader("mallory")
            spy.last = place
        else:
            spy = scene.bank.reader("mallory", **ANSWERS, attend={"resume_after": place})
        with spy.connect() as stream, scene.bank.producer.session("For all.", audience="*") as other:
            other.write("Hello to everybody.")
            mark = other.session_id
            while mark not in {event["session_id"] for event in spy.got if "chunk" in event}:
                spy.wait(stream, "aaep:agent.output.streaming")
            assert scene.session.session_id not in {event["session_id"] for event in spy.got}
    scene.decides()


@pytest.mark.parametrize("role", ["replier", "listener", "auditor"])
def test_t8_nobody_else_changes_the_terms(scene: Hall, role: str) -> None:
    """SEC-031, SEC-032: Not another user; and not a weaker credential of the same one."""
    who = "mallory" if role == "replier" else "ada"
    change = {"type": "subscription.renegotiate", "capabilities": {"supports_confirmation_reply": False}}
    told = scene.send(who, change | {"subscription_id": scene.ada.id}, role)
    assert told == scene.send(who, change | {"subscription_id": MADE_UP}, role)
    scene.decides()  # her subscription may still answer


def test_t8_nobody_else_closes_it(scene: Hall) -> None:
    close = {"type": "subscription.close", "reason_code": "subscriber_shutdown", "reason_message": "Bye."}
    told = scene.send("mallory", close | {"subscription_id": scene.ada.id})
    assert told == scene.send("mallory", close | {"subscription_id": MADE_UP})
    scene.decides()
    with scene.bank.producer.session("Later."):  # and her stream goes on
        scene.ada.wait(scene.hers, "aaep:agent.session.started")


def test_t8_nobody_else_stops_the_session(scene: Hall) -> None:
    """CF-147 is for who could answer: Mallory may wish for it, and nothing happens."""
    for subscription in (scene.mallory.id, scene.ada.id):
        wish = {"attend": {"cancel": scene.session.session_id}}
        message = {"type": "subscription.renegotiate", "subscription_id": subscription, "capabilities": wish}
        scene.send("mallory", message)
    assert scene.session.is_open
    scene.decides()


def test_t8_a_subscriber_id_is_only_a_label(scene: Hall) -> None:
    """SEC-032: All readers of these tests give the same one, and so does Mallory; it makes nobody Ada."""
    impostor = scene.bank.reader("mallory", **LISTENS)
    with impostor.connect() as stream, scene.bank.producer.session("For all.", audience="*"):
        first = impostor.wait(stream, "aaep:agent.session.started")
    assert first["summary_normal"] == "For all."
    scene.decides()


def test_t8_who_takes_over_with_a_right_credential_is_noticed(folder: Path) -> None:
    """CF-094: of two readers of one subscription the newer has it, and the older is told."""
    with hall("http", folder) as scene, scene.bank.wire("ada").stream(scene.url, scene.ada.id) as newer:
        scene.ada.take(scene.hers, lambda _: False)
        assert scene.hers.closing is not None and scene.hers.closing["reason_code"] == "superseded"
        scene.ada.send(scene.prompt, "reject")
        assert any(outcomes([event], scene.prompt) == ["rejected"] for event in newer)


def test_t8_ids_cannot_be_guessed(scene: Hall) -> None:
    ids = {scene.bank.reader("mallory").id for _ in range(20)} | {scene.ada.id, scene.mallory.id}
    assert len(ids) == 22 and all(len(one) == len("sub_") + 32 for one in ids)
    places = [*zip(*(one.removeprefix("sub_") for one in ids), strict=True)]
    assert all(len({*place}) > 4 for place in places)  # no part of them stays the same or counts up
