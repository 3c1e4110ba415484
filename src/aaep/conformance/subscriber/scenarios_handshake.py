"""Scenarios about the subscription itself: asked for, granted in part or not at all, changed, proved and ended."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final

from ...identity.signing_keys import SigningKey
from ..judge import excerpt
from ..producer.harness import JsonObject
from .fake_producer import FakeSession, SubscriberMessage
from .harness import Harness, ScenarioAborted, SubscriberRun, subscriber_scenario

__all__ = ["FORGERIES"]

_SIGNED_ONLY_MEMBER: Final = "accept_signed_manifests_only"


@subscriber_scenario(3, "SUB-001 TR-034 SUB-065")
async def it_subscribes_and_leaves(stage: Harness) -> None:
    async with stage.run_subscriber() as playing:
        ledger = stage.evidence
        stream = await playing.wait_for_stream()
        asked = playing.find_messages("subscription.request")
        ledger.check(
            "SUB-001",
            stream.is_granted and bool(asked),
            "It asked for a subscription, and listened when that was granted.",
            "It listened without a subscription.",
            "Begin with a subscription.request, and listen to what was granted.",
        )
        for request in asked:
            named = [name for name in request.message if "transport" in name]
            ledger.check(
                "TR-034",
                not named,
                "The request names no transport.",
                f"The request names a transport: {excerpt(request.raw)}",
                "Leave it out; the transport is the one that is used.",
            )
        playing.send(playing.session.build_started())
        await playing.wait_quiet_period()
        if playing.subscriber is not None:
            playing.subscriber.stop()
        closed = await playing.wait_until(lambda: next(iter(playing.find_messages("subscription.close")), None))
        if closed is None:  # what it said last may still be on its way when it has ended
            await playing.wait_quiet_period()
            closed = next(iter(playing.find_messages("subscription.close")), None)
        ledger.check(
            "SUB-065",
            closed is not None,
            f"When it was told to end, it said so: {excerpt(closed.raw) if closed is not None else ''}",
            "When it was told to end, it sent no subscription.close.",
            "Send subscription.close before you end.",
            mandatory=True,
        )


async def _wait_for_request(playing: SubscriberRun) -> SubscriberMessage | None:
    """Wait until it asks for a subscription; None if it listens without one."""
    player, wait = playing.producer, playing.harness.arrival_timeout
    if not await playing.wait_until(
        lambda: playing.find_messages("subscription.request") or player.streams or None, wait
    ):
        raise ScenarioAborted(f"It never came. {playing.exit_reason}")
    return next(iter(playing.find_messages("subscription.request")), None)


@subscriber_scenario(3, "SUB-001", "SUB-045")
async def it_is_rejected(stage: Harness) -> None:
    refusal = {"reason_code": "authorization_denied", "retry_after_seconds": 3600}
    async with stage.run_subscriber(refusal=refusal) as playing:
        await _wait_for_request(playing)
        await playing.wait_until(lambda: playing.producer.streams or None)  # which should not be
        stage.evidence.check(
            "SUB-001",
            not playing.producer.streams,
            "It was rejected, and listened to nothing.",
            "It was rejected, and opened a stream all the same.",
            "A rejection is an answer: without a subscription there is no stream.",
        )
        stage.evidence.check(
            "SUB-045",
            len(playing.find_messages("subscription.request")) == 1,
            "It was told to come back in an hour, and did not come sooner.",
            "It was told to come back in an hour, "
            f"and came {len(playing.find_messages('subscription.request'))} times.",
            "Wait at least retry_after_seconds.",
        )


@subscriber_scenario(3, "SUB-038")
async def less_is_granted_than_was_asked(stage: Harness) -> None:
    def narrow_terms(answer: JsonObject) -> JsonObject:
        if answer["type"] == "subscription.accepted":
            terms = answer["honored_capabilities"]
            terms |= {"supports_confirmation_reply": False, "supports_clarification_reply": False}
            terms |= {"preferred_verbosity": "terse", "max_events_per_second": 1}
        return answer

    async with stage.run_subscriber("accept", change=narrow_terms) as playing:
        await playing.start_session()
        told = await playing.send_and_wait(playing.session.build_tool_invoked("Working to rule."))
        stage.evidence.check(
            "SUB-038",
            told is not None and playing.is_listening,
            "It was granted less than it asked for, and went on with that.",
            f"It was granted less than it asked for, and did not go on. {playing.exit_reason}",
            "Work with the terms that were granted.",
        )
        prompt = playing.session.build_confirmation("Post it, if you may.")
        await playing.send_and_wait(prompt)
        await playing.type_line("accept")
        await playing.wait_quiet_period()  # a reply, which it may not send, is found by the audit (CONF-063)


@subscriber_scenario(3, "SUB-063")
async def other_terms_are_asked_for(stage: Harness) -> None:
    async with stage.run_subscriber("renegotiate") as playing:
        await playing.start_session()
        await playing.type_line("verbosity")
        asked = await playing.wait_until(lambda: next(iter(playing.find_messages("subscription.renegotiate")), None))
        if asked is None:
            stage.evidence.record_not_applicable("SUB-063", "It never asks for other terms.")
            return
        old = playing.session.build_tool_invoked("Under the old terms.", verbosity="normal")
        told = await playing.send_and_wait(old)
        lives = await playing.can_continue()
        stage.evidence.check(
            "SUB-063",
            told is not None and lives,
            f"It asked for other terms and coped with what came under the old ones: {excerpt(asked.raw)}",
            f"It asked for other terms, and what came under the old ones was lost on it. {playing.exit_reason}",
            "Take what is on its way when the terms change.",
        )


# -- who it is ---------------------------------------------------------------------------------------


def _alter_payload(signed: str) -> str:
    """The same signature under another text."""
    head, payload, signature = signed.split(".")
    members = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    members["agent_name"] = "Somebody else"
    forged = base64.urlsafe_b64encode(json.dumps(members).encode()).rstrip(b"=").decode()
    return f"{head}.{forged}.{signature}"


OptionsFactory = Callable[[], dict[str, Any]]
# What is wrong with a manifest, the rule for it, and how it is played.
FORGERIES: Final[dict[str, tuple[str, OptionsFactory]]] = {
    "that is not signed at all": ("MAN-021 MAN-026", lambda: {"seal": lambda _: None}),
    "that was changed after it was signed": ("MAN-023", lambda: {"seal": _alter_payload}),
    "that a key signed which nobody knows": ("MAN-022", lambda: {"key": SigningKey.generate("ES256", "a-stranger")}),
    "of another agent": ("MAN-024", lambda: {"claims": lambda manifest: {**manifest, "agent_id": "another-agent"}}),
    "that speaks of another transport": (
        "MAN-025",
        lambda: {"claims": lambda manifest: {**manifest, "transports_supported": ["named-pipe"]}},
    ),
}


@subscriber_scenario(3, "MAN-021 MAN-022 MAN-023 MAN-024 MAN-025 MAN-026")
async def only_who_is_proved_is_believed(stage: Harness) -> None:
    everything = "MAN-021 MAN-022 MAN-023 MAN-024 MAN-025 MAN-026".split()
    async with stage.run_subscriber() as playing:
        asked = await _wait_for_request(playing)
        wishes = asked.message.get("capabilities") if asked is not None else None
        if not isinstance(wishes, dict) or wishes.get(_SIGNED_ONLY_MEMBER) is not True:
            for rule in everything:
                stage.evidence.record_not_applicable(rule, "It does not demand signed manifests.")
            return
        await playing.start_session(require_announcement=False)
    for what, (named, played) in FORGERIES.items():
        async with stage.run_subscriber(**played()) as playing:
            believed = await _find_sign_of_trust(playing)
        for rule in named.split():
            stage.evidence.check(
                rule,
                not believed,
                f"With a manifest {what} it heard nothing; with a good one it did.",
                f"It demanded a signed manifest, got one {what}, and {believed}.",
                "Verify the manifest before anything of the producer is heard, and leave if it cannot be verified.",
            )


async def _find_sign_of_trust(playing: SubscriberRun) -> str:
    """What it did that only somebody does who believes."""
    await _wait_for_request(playing)
    player = playing.producer

    def has_left() -> bool | None:
        return True if playing.find_messages("subscription.close") else None

    await playing.wait_until(lambda: has_left() or player.current_stream)
    if not player.streams or has_left():
        return ""
    event = playing.send(FakeSession().build_errored("Believe me."))
    await playing.wait_until(
        lambda: has_left() or playing.find_announcements(event) or (True if player.current_stream is None else None)
    )
    if playing.find_announcements(event):
        return f"announced {playing.find_announcements(event)[0].text}"
    return "" if has_left() or player.current_stream is None else "listened on"
