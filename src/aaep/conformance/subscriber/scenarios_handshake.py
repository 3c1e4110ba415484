"""Scenarios about the subscription: requests, rejections, terms, signed manifests and the close."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, Final

from ...identity.signing_keys import SigningKey
from ..judge import excerpt, excerpt_message
from ..messages import JsonObject
from ..scenario import ScenarioAborted, subscriber_scenario
from .fake_producer import FakeSession, SubscriberMessage
from .harness import Harness, SubscriberRun

_SIGNATURE_RULES: Final = "MAN-021 MAN-022 MAN-023 MAN-024 MAN-025 MAN-026"
_SIGNED_ONLY_MEMBER: Final = "accept_signed_manifests_only"


@subscriber_scenario(3, "SUB-001 TR-034 SUB-065")
async def it_subscribes_and_leaves(harness: Harness) -> None:
    """Let the subscriber subscribe, and tell it to end."""
    async with harness.run_subscriber() as run:
        evidence = harness.evidence
        stream = await run.wait_for_stream()
        requests = run.find_messages("subscription.request")
        evidence.check(
            "SUB-001",
            stream.is_granted and bool(requests),
            "It asked for a subscription, and listened when that was granted.",
            "It listened without a subscription.",
            "Begin with a subscription.request, and listen to what was granted.",
        )
        for request in requests:
            transport_members = [name for name in request.message if "transport" in name]
            evidence.check(
                "TR-034",
                not transport_members,
                "The request names no transport.",
                f"The request names a transport: {excerpt(request.raw)}",
                "Leave it out; the transport is the one that is used.",
            )
        run.send(run.session.build_started())
        await run.wait_quiet_period()
        if run.subscriber is not None:
            run.subscriber.stop()
        close = await run.wait_until(lambda: run.find_first_message("subscription.close"))
        if close is None:  # its last message may still be on its way when it has ended
            await run.wait_for_stream_end()
            await run.wait_quiet_period()
            close = run.find_first_message("subscription.close")
        evidence.check(
            "SUB-065",
            close is not None,
            f"When it was told to end, it said so: {excerpt_message(close)}",
            "When it was told to end, it sent no subscription.close.",
            "Send subscription.close before you end.",
            mandatory=True,
        )


async def _wait_for_request(run: SubscriberRun) -> SubscriberMessage | None:
    """Return the request for a subscription; None if the subscriber opens a stream without one."""
    producer = run.producer
    timeout = run.harness.arrival_timeout
    if not await run.wait_until(lambda: run.find_messages("subscription.request") or producer.streams or None, timeout):
        raise ScenarioAborted(f"It never came. {run.exit_reason}")
    return run.find_first_message("subscription.request")


@subscriber_scenario(3, "SUB-001", "SUB-045")
async def it_is_rejected(harness: Harness) -> None:
    """Reject the request for a subscription."""
    rejection = {"reason_code": "authorization_denied", "retry_after_seconds": 3600}
    async with harness.run_subscriber(rejection=rejection) as run:
        await _wait_for_request(run)
        await run.wait_until(lambda: run.producer.streams or None)  # there should be none
        harness.evidence.check(
            "SUB-001",
            not run.producer.streams,
            "It was rejected, and listened to nothing.",
            "It was rejected, and opened a stream all the same.",
            "A rejection is an answer: without a subscription there is no stream.",
        )
        harness.evidence.check(
            "SUB-045",
            len(run.find_messages("subscription.request")) == 1,
            "It was told to come back in an hour, and did not come sooner.",
            f"It was told to come back in an hour, and came {len(run.find_messages('subscription.request'))} times.",
            "Wait at least retry_after_seconds.",
        )


@subscriber_scenario(3, "SUB-038")
async def less_is_granted_than_was_asked(harness: Harness) -> None:
    """Grant narrower terms than the subscriber requested."""

    def narrow_terms(answer: JsonObject) -> JsonObject:
        if answer["type"] == "subscription.accepted":
            terms = answer["honored_capabilities"]
            terms |= {"supports_confirmation_reply": False, "supports_clarification_reply": False}
            terms |= {"preferred_verbosity": "terse", "max_events_per_second": 1}
        return answer

    async with harness.run_subscriber("accept", transform_answer=narrow_terms) as run:
        await run.start_session()
        announcement = await run.send_and_wait(run.session.build_tool_invoked("Working to rule."))
        harness.evidence.check(
            "SUB-038",
            announcement is not None and run.is_listening,
            "It was granted less than it asked for, and went on with that.",
            f"It was granted less than it asked for, and did not go on. {run.exit_reason}",
            "Work with the terms that were granted.",
        )
        prompt = run.session.build_confirmation("Post it, if you may.")
        await run.send_and_wait(prompt)
        await run.type_line("accept")
        await run.wait_quiet_period()  # a reply, which it may not send, is found by the audit (CONF-063)


@subscriber_scenario(3, "SUB-063")
async def other_terms_are_asked_for(harness: Harness) -> None:
    """Send an event on the old terms after the subscriber has asked for others."""
    async with harness.run_subscriber("renegotiate") as run:
        await run.start_session()
        await run.type_line("verbosity")
        renegotiation = await run.wait_until(lambda: run.find_first_message("subscription.renegotiate"))
        if renegotiation is None:
            harness.evidence.record_not_applicable("SUB-063", "It never asks for other terms.")
            return
        event = run.session.build_tool_invoked("Under the old terms.", verbosity="normal")
        announcement = await run.send_and_wait(event)
        has_continued = await run.check_continues()
        harness.evidence.check(
            "SUB-063",
            announcement is not None and has_continued,
            f"It asked for other terms and coped with what came under the old ones: {excerpt(renegotiation.raw)}",
            f"It asked for other terms, and what came under the old ones was lost on it. {run.exit_reason}",
            "Take what is on its way when the terms change.",
        )


# -- signed manifests ------------------------------------------------------------------------


def _alter_payload(signed: str) -> str:
    """Change the agent name in a signed manifest and keep the signature."""
    header, payload, signature = signed.split(".")
    members = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    members["agent_name"] = "Somebody else"
    forged = base64.urlsafe_b64encode(json.dumps(members).encode()).rstrip(b"=").decode()
    return f"{header}.{forged}.{signature}"


OptionsFactory = Callable[[], dict[str, Any]]
# By what is wrong with a manifest: the rules about it, and the options of a fake producer with such a manifest.
_FORGERIES: Final[dict[str, tuple[str, OptionsFactory]]] = {
    "that is not signed at all": ("MAN-021 MAN-026", lambda: {"transform_signed": lambda _: None}),
    "that was changed after it was signed": ("MAN-023", lambda: {"transform_signed": _alter_payload}),
    "that a key signed which nobody knows": (
        "MAN-022",
        lambda: {"signing_key": SigningKey.generate("ES256", "a-stranger")},
    ),
    "of another agent": (
        "MAN-024",
        lambda: {"transform_manifest": lambda manifest: {**manifest, "agent_id": "another-agent"}},
    ),
    "that speaks of another transport": (
        "MAN-025",
        lambda: {"transform_manifest": lambda manifest: {**manifest, "transports_supported": ["named-pipe"]}},
    ),
}


@subscriber_scenario(3, _SIGNATURE_RULES)
async def only_who_is_proved_is_believed(harness: Harness) -> None:
    """Run a subscriber that demands signed manifests against producers with forged ones."""
    async with harness.run_subscriber() as run:
        request = await _wait_for_request(run)
        capabilities = request.message.get("capabilities") if request is not None else None
        if not isinstance(capabilities, dict) or capabilities.get(_SIGNED_ONLY_MEMBER) is not True:
            for rule in _SIGNATURE_RULES.split():
                harness.evidence.record_not_applicable(rule, "It does not demand signed manifests.")
            return
        await run.start_session(require_announcement=False)
    for fault, (rules, make_options) in _FORGERIES.items():
        async with harness.run_subscriber(**make_options()) as run:
            sign_of_trust = await _find_sign_of_trust(run)
        for rule in rules.split():
            harness.evidence.check(
                rule,
                not sign_of_trust,
                f"With a manifest {fault} it heard nothing; with a good one it did.",
                f"It demanded a signed manifest, got one {fault}, and {sign_of_trust}.",
                "Verify the manifest before anything of the producer is heard, and leave if it cannot be verified.",
            )


async def _find_sign_of_trust(run: SubscriberRun) -> str:
    """Return what the subscriber did that it may do for a trusted producer only; empty if nothing."""
    await _wait_for_request(run)
    producer = run.producer

    def has_left() -> bool | None:
        return True if run.find_messages("subscription.close") else None

    await run.wait_until(lambda: has_left() or producer.current_stream)
    if not producer.streams or has_left():
        return ""
    event = run.send(FakeSession().build_errored("Believe me."))
    await run.wait_until(
        lambda: has_left() or run.find_announcements(event) or (True if producer.current_stream is None else None)
    )
    if run.find_announcements(event):
        return f"announced {run.find_announcements(event)[0].text}"
    # When it has ended, its close and the end of its stream may still be on their way.
    return "listened on" if run.is_listening and not has_left() else ""
