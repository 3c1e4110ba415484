"""What a producer does, for rules that no other test is about."""

from __future__ import annotations

import json
from typing import Any

from aaep.identity.peer import Peer
from aaep.producer.producer import Producer
from aaep.protocol import codec
from aaep.protocol.messages import SubscriptionAccepted
from aaep.protocol.negotiation import Offer
from tests.end_to_end.wires import WIRES, Json, transports
from tests.hub.test_hub import PRODUCER, Agent, World, change, scene
from tests.sessions import event


class Bilingual(World):
    """A hub whose agent speaks two languages."""

    def begin(self) -> Any:
        made = super().begin()
        made.offer = Offer(producer=PRODUCER, languages=("en-US", "yo"))
        return made


def said(agent: Agent, number: int) -> None:
    """The same in both."""
    members: dict[str, Any] = {"session_id": agent.session_id, "to_state": "thinking"}
    members["from_state"] = "idle" if number == 1 else "thinking"
    raw = event("state.changed", number, **members, summary_normal="Thinking.", summary_normal_yo="Ó ń ronú.")
    made: Any = codec.decode(raw)
    agent.world.journal.append(made.event_id, agent.session_id, raw, at=agent.world.clock())
    agent.world.hub.publish(agent, made, raw)


@scene
async def test_after_a_change_of_language_every_event_is_in_the_new_one() -> None:
    """I18N-024"""
    world = Bilingual()
    agent = Agent(world)
    id = world.subscribe(languages=("en-US",))
    reader = world.connect(id)
    said(agent, 1)
    await world.settle()
    answer = world.hub.renegotiate(change(id, languages=("yo",)), Peer())
    assert isinstance(answer, SubscriptionAccepted) and answer.honored_capabilities.languages == ("yo",)
    said(agent, 2)
    said(agent, 3)
    await world.settle()
    told = [one for one in reader.events if one.type == "aaep:agent.state.changed"]
    assert [one.summary_normal for one in told[-3:]] == ["Thinking.", "Ó ń ronú.", "Ó ń ronú."]
    assert [one.localization_hints.primary_language for one in told[-3:]] == ["en-US", "yo", "yo"]


def handshake(name: str) -> tuple[Json, Json]:
    """What a request and a change of terms are answered with over a transport, by who does not use our library."""
    door = WIRES[name]
    with Producer("bank", name="Bank", listen=door.listen, journal=None) as producer:
        url = producer.addresses[0]
        accepted = door.subscribe(url, preferred_verbosity="terse", max_events_per_second=5)
        with door.stream(url, accepted["subscription_id"]):
            new = {"preferred_verbosity": "detailed"}
            message = {
                "type": "subscription.renegotiate",
                "subscription_id": accepted["subscription_id"],
                "capabilities": new,
            }
            changed = door.renegotiated(door.send(url, json.dumps(message).encode()))
    return accepted, changed


def shape(message: Json) -> Json:
    """All of it but what is new each time, and where the manifest is."""
    alike = {name: value for name, value in message.items() if name not in ("subscription_id", "manifest_uri")}
    if "producer" in alike:
        alike["producer"] = {name: value for name, value in alike["producer"].items() if name != "manifest_uri"}
    return alike


def test_the_handshake_is_the_same_over_every_transport() -> None:
    """SUB-003: member by member; only what carries it differs."""
    answers = {name: handshake(name) for name in transports()}
    assert len(answers) > 4
    for place in (0, 1):
        shapes = {name: shape(both[place]) for name, both in answers.items()}
        assert all(one == shapes["http"] for one in shapes.values()), shapes
