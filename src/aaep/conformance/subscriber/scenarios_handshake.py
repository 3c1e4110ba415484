"""Scenarios about the subscription itself: asked for, granted in part or not at all, changed, proved and ended."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final

from ...identity.signing_keys import SigningKey
from ..judge import excerpt
from ..producer.harness import Json
from .fake_producer import Came, Session
from .harness import Scene, Stage, Unplayable, scene

__all__ = ["FORGERIES"]

_DEMAND: Final = "accept_signed_manifests_only"


@scene(3, "SUB-001 TR-034 SUB-065")
async def it_subscribes_and_leaves(stage: Stage) -> None:
    async with stage.scene() as playing:
        ledger = stage.ledger
        stream = await playing.joined()
        asked = playing.sent("subscription.request")
        ledger.decide(
            "SUB-001",
            stream.known and bool(asked),
            "It asked for a subscription, and listened when that was granted.",
            "It listened without a subscription.",
            "Begin with a subscription.request, and listen to what was granted.",
        )
        for request in asked:
            named = [name for name in request.message if "transport" in name]
            ledger.decide(
                "TR-034",
                not named,
                "The request names no transport.",
                f"The request names a transport: {excerpt(request.raw)}",
                "Leave it out; the transport is the one that is used.",
            )
        playing.say(playing.session.started())
        await playing.rest()
        if playing.running is not None:
            playing.running.stop()
        closed = await playing.until(lambda: next(iter(playing.sent("subscription.close")), None))
        if closed is None:  # what it said last may still be on its way when it has ended
            await playing.rest()
            closed = next(iter(playing.sent("subscription.close")), None)
        ledger.decide(
            "SUB-065",
            closed is not None,
            f"When it was told to end, it said so: {excerpt(closed.raw) if closed is not None else ''}",
            "When it was told to end, it sent no subscription.close.",
            "Send subscription.close before you end.",
            firm=True,
        )


async def _came(playing: Scene) -> Came | None:
    """Wait until it asks for a subscription; None if it listens without one."""
    player, wait = playing.player, playing.stage.wait
    if not await playing.until(lambda: playing.sent("subscription.request") or player.streams or None, wait):
        raise Unplayable(f"It never came. {playing.ended}")
    return next(iter(playing.sent("subscription.request")), None)


@scene(3, "SUB-001", "SUB-045")
async def it_is_rejected(stage: Stage) -> None:
    refusal = {"reason_code": "authorization_denied", "retry_after_seconds": 3600}
    async with stage.scene(refusal=refusal) as playing:
        await _came(playing)
        await playing.until(lambda: playing.player.streams or None)  # which should not be
        stage.ledger.decide(
            "SUB-001",
            not playing.player.streams,
            "It was rejected, and listened to nothing.",
            "It was rejected, and opened a stream all the same.",
            "A rejection is an answer: without a subscription there is no stream.",
        )
        stage.ledger.decide(
            "SUB-045",
            len(playing.sent("subscription.request")) == 1,
            "It was told to come back in an hour, and did not come sooner.",
            f"It was told to come back in an hour, and came {len(playing.sent('subscription.request'))} times.",
            "Wait at least retry_after_seconds.",
        )


@scene(3, "SUB-038")
async def less_is_granted_than_was_asked(stage: Stage) -> None:
    def narrower(answer: Json) -> Json:
        if answer["type"] == "subscription.accepted":
            terms = answer["honored_capabilities"]
            terms |= {"supports_confirmation_reply": False, "supports_clarification_reply": False}
            terms |= {"preferred_verbosity": "terse", "max_events_per_second": 1}
        return answer

    async with stage.scene("accept", change=narrower) as playing:
        await playing.opening()
        told = await playing.hear(playing.session.tool("Working to rule."))
        stage.ledger.decide(
            "SUB-038",
            told is not None and playing.lives,
            "It was granted less than it asked for, and went on with that.",
            f"It was granted less than it asked for, and did not go on. {playing.ended}",
            "Work with the terms that were granted.",
        )
        prompt = playing.session.confirm("Post it, if you may.")
        await playing.hear(prompt)
        await playing.type("accept")
        await playing.rest()  # a reply, which it may not send, is found by the audit (CONF-063)


@scene(3, "SUB-063")
async def other_terms_are_asked_for(stage: Stage) -> None:
    async with stage.scene("renegotiate") as playing:
        await playing.opening()
        await playing.type("verbosity")
        asked = await playing.until(lambda: next(iter(playing.sent("subscription.renegotiate")), None))
        if asked is None:
            stage.ledger.exempt("SUB-063", "It never asks for other terms.")
            return
        old = playing.session.tool("Under the old terms.", verbosity="normal")
        told = await playing.hear(old)
        lives = await playing.alive()
        stage.ledger.decide(
            "SUB-063",
            told is not None and lives,
            f"It asked for other terms and coped with what came under the old ones: {excerpt(asked.raw)}",
            f"It asked for other terms, and what came under the old ones was lost on it. {playing.ended}",
            "Take what is on its way when the terms change.",
        )


# -- who it is ---------------------------------------------------------------------------------------


def _altered(signed: str) -> str:
    """The same signature under another text."""
    head, payload, signature = signed.split(".")
    members = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    members["agent_name"] = "Somebody else"
    forged = base64.urlsafe_b64encode(json.dumps(members).encode()).rstrip(b"=").decode()
    return f"{head}.{forged}.{signature}"


Played = Callable[[], dict[str, Any]]
# What is wrong with a manifest, the rule for it, and how it is played.
FORGERIES: Final[dict[str, tuple[str, Played]]] = {
    "that is not signed at all": ("MAN-021 MAN-026", lambda: {"seal": lambda _: None}),
    "that was changed after it was signed": ("MAN-023", lambda: {"seal": _altered}),
    "that a key signed which nobody knows": ("MAN-022", lambda: {"key": SigningKey.new("ES256", "a-stranger")}),
    "of another agent": ("MAN-024", lambda: {"claims": lambda manifest: {**manifest, "agent_id": "another-agent"}}),
    "that speaks of another transport": (
        "MAN-025",
        lambda: {"claims": lambda manifest: {**manifest, "transports_supported": ["named-pipe"]}},
    ),
}


@scene(3, "MAN-021 MAN-022 MAN-023 MAN-024 MAN-025 MAN-026")
async def only_who_is_proved_is_believed(stage: Stage) -> None:
    everything = "MAN-021 MAN-022 MAN-023 MAN-024 MAN-025 MAN-026".split()
    async with stage.scene() as playing:
        asked = await _came(playing)
        wishes = asked.message.get("capabilities") if asked is not None else None
        if not isinstance(wishes, dict) or wishes.get(_DEMAND) is not True:
            for rule in everything:
                stage.ledger.exempt(rule, "It does not demand signed manifests.")
            return
        await playing.opening(watched=False)
    for what, (named, played) in FORGERIES.items():
        async with stage.scene(**played()) as playing:
            believed = await _believed(playing)
        for rule in named.split():
            stage.ledger.decide(
                rule,
                not believed,
                f"With a manifest {what} it heard nothing; with a good one it did.",
                f"It demanded a signed manifest, got one {what}, and {believed}.",
                "Verify the manifest before anything of the producer is heard, and leave if it cannot be verified.",
            )


async def _believed(playing: Scene) -> str:
    """What it did that only somebody does who believes."""
    await _came(playing)
    player = playing.player

    def left() -> bool | None:
        return True if playing.sent("subscription.close") else None

    await playing.until(lambda: left() or player.stream)
    if not player.streams or left():
        return ""
    event = playing.say(Session().errored("Believe me."))
    await playing.until(lambda: left() or playing.of(event) or (True if player.stream is None else None))
    if playing.of(event):
        return f"announced {playing.of(event)[0].text}"
    return "" if left() or player.stream is None else "listened on"
