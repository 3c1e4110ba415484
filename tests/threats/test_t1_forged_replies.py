"""T1: a yes that the person did not give. SEC-010, SEC-011, CF-008, CF-012, CF-065, CF-142"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from aaep.producer.producer import Producer
from tests.end_to_end.readers import ANSWERS, PROMPT, Raw, reply, stamp
from tests.end_to_end.wires import LONG, WIRES, TwoWay
from tests.threats.hall import NAMES, Bank, Hall, hall

MADE_UP = "rpl_" + "0" * 32


FORGERIES: dict[str, Callable[[Hall, str], object]] = {
    "with a subscription of her own": lambda hall, token: hall.send(
        "mallory", hall.yes(hall.mallory.id, reply_token=token)
    ),
    "with the subscription of the victim": lambda hall, token: hall.send(
        "mallory", hall.yes(hall.ada.id, reply_token=token)
    ),
    "saying that the victim decided": lambda hall, token: hall.send(
        "mallory", hall.yes(hall.mallory.id, reply_token=token, decided_by="user:ada")
    ),
    "as an answer to a question": lambda hall, token: hall.send(
        "mallory",
        {
            "type": "clarification.reply",
            "reply_token": token,
            "response": "yes",
            "subscription_id": hall.ada.id,
            "timestamp": stamp(),
        },
    ),
    "as a no, which is for the person to say too": lambda hall, token: hall.send(
        "mallory", hall.yes(hall.ada.id, reply_token=token, decision="reject")
    ),
}


@pytest.mark.parametrize("case", FORGERIES)
def test_t1_another_user_decides_nothing_and_learns_nothing(scene: Hall, case: str) -> None:
    """SEC-010, HITL-012"""
    forged = FORGERIES[case](scene, str(scene.prompt["reply_token"]))
    assert forged == FORGERIES[case](scene, MADE_UP)  # a token that is real is answered like one that is not
    scene.decides()


@pytest.mark.parametrize("role", ["listener", "auditor"])
def test_t1_who_hears_without_the_right_to_answer_decides_nothing(name: str, folder: Path, role: str) -> None:
    with hall(name, folder) as scene:
        display = scene.bank.reader("ada", role)
        with display.connect() as shown:
            assert display.wait(shown, PROMPT)["reply_token"] == scene.prompt["reply_token"]  # it was told
            assert display.accepted["honored_capabilities"]["supports_confirmation_reply"] is False
            for one in (display.id, scene.ada.id):
                scene.send("ada", scene.yes(one), role)
            scene.decides("reject")


# On sockets and pipes the kernel, or the birth of a process, says who it is.
@pytest.mark.parametrize("name", [one for one in NAMES if one not in ("unix", "stdio")])
def test_t1_who_shows_no_credential_is_not_heard_at_all(name: str, folder: Path) -> None:
    """SEC-010, CONF-036, TR-023"""
    with hall(name, folder) as scene:
        for headers in ({}, {"Authorization": "Bearer aaep_wrong"}, {"Authorization": "Basic YWRhOmFkYQ=="}):
            nobody = type(scene.bank.wire("ada"))(headers)  # type: ignore[call-arg]  # a wire of this suite takes them
            with pytest.raises((AssertionError, ConnectionError)):
                nobody.subscribe(scene.url, **ANSWERS)
            if name in ("http", "asgi"):
                status = nobody.send(scene.url, scene.yes(scene.ada.id))[0]
                assert status == 401
        scene.decides()


def test_t1_the_prompt_is_told_to_nobody_else(scene: Hall) -> None:
    with scene.bank.producer.session("For all.", audience="*") as other:
        other.write("Hello to everybody.")
    scene.mallory.wait(scene.its, "aaep:agent.session.completed")
    assert {event["session_id"] for event in scene.mallory.got} == {other.session_id}
    token = str(scene.prompt["reply_token"]).encode()
    assert not any(token in raw for raw in scene.mallory.raw)
    scene.decides()


def test_t1_of_many_forgeries_beside_the_right_one_none_counts(scene: Hall) -> None:
    for number in range(24):
        kind = "accept" if number % 2 else "reject"
        scene.send("mallory", scene.yes((scene.mallory, scene.ada)[number // 2 % 2].id, decision=kind))
    scene.decides()


def test_t1_a_yes_is_not_carried_over_to_an_agent_of_somebody_else(name: str, folder: Path) -> None:
    """Mallory's own session has a prompt too; Ada's token answers none of it, nor hers any of Ada's."""
    with Bank(name, folder) as bank:
        readers = {who: bank.reader(who) for who in ("ada", "mallory")}
        with (
            readers["ada"].connect() as hers,
            readers["mallory"].connect() as its,
            bank.producer.session("Ada's.") as one,
            bank.producer.session("Mallory's.", audience="mallory") as two,
        ):
            asks = [each.confirm("Go on.", "It goes on.") for each in (one, two)]
            ada, mallory = readers["ada"].wait(hers, PROMPT), readers["mallory"].wait(its, PROMPT)
            readers["mallory"].send(ada)
            readers["ada"].send(mallory)
            readers["ada"].send(ada, "reject")
            readers["mallory"].send(mallory, "reject")
            assert [ask.wait(LONG).outcome for ask in asks] == ["rejected", "rejected"]


@pytest.mark.parametrize("kind", [one for one in ("ws", "unix", "grpc") if one in NAMES])
def test_t1_a_yes_for_a_connection_counts_over_that_connection_only(kind: str) -> None:
    """CF-008: who has its id, even the same user, cannot answer for it elsewhere."""
    line = WIRES[kind]
    beside = WIRES["http"]
    with (
        Producer("bank", listen=[line.listen, beside.listen], journal=None) as producer,
        producer.session("Moving money.") as session,
    ):
        url, other_url = producer.addresses
        reader = Raw(line, url, **ANSWERS)
        with reader.connect() as stream:
            ask = session.confirm("Transfer $500.", "Funds move at once.", tool="transfer", timeout=3600)
            prompt = reader.wait(stream, PROMPT)
            assert beside.send(other_url, reply(prompt, reader.id))[0] == 204, "answered like every reply"
            assert ask.answer is None
            reader.send(prompt, "reject")
            assert ask.wait(LONG).outcome == "rejected"
        assert isinstance(line, TwoWay)
        line.hang_up()


@pytest.mark.parametrize("decided_by", ["agent:planner", "auto:configured_policy", "system:admin-override", "nobody"])
def test_t1_who_is_no_person_does_not_agree_to_what_is_grave(scene: Hall, decided_by: str) -> None:
    """CF-037: a label proves nothing, but one that says that no person decided is believed."""
    scene.send("ada", scene.yes(scene.ada.id, decided_by=decided_by))
    scene.decides()
