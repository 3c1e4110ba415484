"""Scenarios about replies: each is a decision of the person, is sent as decided, and in time. Chapter 6"""

from __future__ import annotations

from typing import Any, Final

from ...protocol.attend_extension import ATTEND
from ...protocol.fields import CORE_CONTEXT
from ..judge import excerpt, excerpt_first
from ..messages import JsonObject
from ..scenario import subscriber_scenario
from .fake_producer import FakeSession, SubscriberMessage
from .harness import Harness, PrintedAnnouncement, SubscriberRun

# Tokens that a program may mistake for a number or a truth value.
_TRICKY_TOKENS: Final = ("rpl_0", "rpl_1e5", "rpl_00123456789012345678901234567890", "rpl_TRUE", "rpl_" + "aZ09" * 16)
_ECHO_ADVICE: Final = "Send the reply_token back as the text it came as."
_PERSON_ADVICE: Final = "Send a reply only when the person has decided, and send what was decided."
_CHOICES: Final = [{"value": "c1", "label": "The blue one"}, {"value": "c2", "label": "The red one"}]


@subscriber_scenario(2, "LVL-037 HITL-009 HITL-010 CONF-017 CAP-016 TERM-005 SSE-022 TR-015")
async def the_person_accepts(harness: Harness) -> None:
    """Have the person accept confirmations with tricky tokens."""
    async with harness.run_subscriber("accept") as run:
        await run.start_session(require_announcement=False)
        _check_declaration(harness, run)
        for number, token in enumerate(_TRICKY_TOKENS):
            prompt = run.session.build_confirmation(f"Post letter number {number}.", token)
            reply = await run.ask_person(prompt, "accept", "yes")
            if reply is None:
                _remark_missing_reply(harness, run, prompt)
                return
            _check_reply(harness, run, prompt, reply, "accept", [*_TRICKY_TOKENS[:number]])
            run.send(run.session.build_state_changed("thinking", "It goes on.", "awaiting_input"))
        await run.wait_quiet_period()
        _check_single_reply(harness, run)
        _check_content_type(harness, run)
        await _check_repeated_prompt(harness, run, prompt)


def _check_declaration(harness: Harness, run: SubscriberRun) -> None:
    for request in run.find_messages("subscription.request"):
        capabilities = request.message.get("capabilities")
        harness.evidence.check(
            "CAP-016",
            isinstance(capabilities, dict) and capabilities.get("supports_confirmation_reply") is True,
            "It declares that it can answer confirmations.",
            f"It does not declare that it can answer confirmations: {excerpt(request.raw)}",
            "Set supports_confirmation_reply to true.",
        )


def _remark_missing_reply(harness: Harness, run: SubscriberRun, prompt: JsonObject) -> None:
    """Remark that no reply came, and whether the person was asked at all."""
    if run.find_announcements(prompt) and run.subscriber is not None:
        harness.evidence.add_remark(f"The person decided, and no reply came to {excerpt(prompt)}")
    else:
        harness.evidence.add_remark(f"It did not announce this, so nobody could answer it: {excerpt(prompt)}")


def _check_reply(
    harness: Harness,
    run: SubscriberRun,
    prompt: JsonObject,
    reply: SubscriberMessage,
    decision: str,
    older_tokens: list[str],
) -> None:
    evidence = harness.evidence
    token = reply.message.get("reply_token")
    text = excerpt(reply.raw)
    is_for_other_prompt = token in older_tokens
    evidence.check(
        "HITL-010",
        not is_for_other_prompt and "reply_token" in reply.message,
        f"It came with a token: {text}",
        f"It came with the token of another question: {text}",
        "Send each reply with the token of what it answers.",
    )
    if not is_for_other_prompt:
        evidence.check(
            "HITL-009",
            token == prompt["reply_token"],
            f"The token came back as it was: {text}",
            f"The token was {prompt['reply_token']}, and this came back: {text}",
            _ECHO_ADVICE,
        )
    _check_token_use(harness, run, prompt, reply)
    is_decided = reply.type == "confirmation.reply" and reply.message.get("decision") == decision
    evidence.check(
        "TERM-005",
        is_decided and token == prompt["reply_token"],
        f"It was asked, and answered: {text}",
        f"This is no answer to what was asked: {text}",
        _PERSON_ADVICE,
    )
    evidence.check(
        "LVL-037",
        is_decided,
        f"When the person decided, this was sent: {text}",
        f"The person decided {decision}, and this was sent: {text}",
        _PERSON_ADVICE,
    )


def _check_token_use(harness: Harness, run: SubscriberRun, prompt: JsonObject, reply: SubscriberMessage) -> None:
    """CONF-017: check that the token is in no other member of the reply and in no announcement."""
    token = prompt["reply_token"]
    other_members = [name for name, value in reply.message.items() if name != "reply_token" and value == token]
    announced_texts = [announcement.text for announcement in run.announcements if token in announcement.text]
    harness.evidence.check(
        "CONF-017",
        not other_members and not announced_texts,
        "The token stands where it belongs and nowhere else.",
        f"The token was used for {', '.join(other_members)}: {excerpt(reply.raw)}"
        if other_members
        else f"The token was announced: {announced_texts[0] if announced_texts else ''}",
        "Use the token for nothing but the reply.",
    )


def _check_single_reply(harness: Harness, run: SubscriberRun) -> None:
    repeated = [
        reply for reply in run.find_replies() if len(run.find_replies(str(reply.message.get("reply_token")))) > 1
    ]
    if repeated:
        text = f"The person decided once, and this was sent more than once: {excerpt(repeated[0].raw)}"
        harness.evidence.record_failure("LVL-037", text, "Send one reply for one decision.")


async def _check_repeated_prompt(harness: Harness, run: SubscriberRun, prompt: JsonObject) -> None:
    """Repeat a prompt that was answered. To repeat the very same reply does no harm."""
    old_replies = {reply.raw for reply in run.find_replies()}
    run.producer.resend(prompt)
    await run.wait_quiet_period(2 * harness.quiet_period)
    new_replies = [reply for reply in run.find_replies() if reply.raw not in old_replies]
    if new_replies:
        text = f"A question that was answered and came again was answered anew: {excerpt(new_replies[0].raw)}"
        harness.evidence.record_failure(
            "TR-015", text, "Remember the event_id of what came, and drop what comes again."
        )


def _check_content_type(harness: Harness, run: SubscriberRun) -> None:
    """SSE-022: check the content type of replies; the suite asks for no credential."""
    if not run.producer.is_raw_http:
        harness.evidence.record_not_applicable("SSE-022", "This transport is not HTTP.")
        return
    for reply in run.find_replies():
        content_type = (reply.headers or {}).get("content-type", "")
        harness.evidence.check(
            "SSE-022",
            content_type.partition(";")[0].strip().lower() == "application/json",
            f"A reply was posted as {content_type}.",
            f"A reply was posted as {content_type or 'nothing'}.",
            "Post replies with Content-Type: application/json.",
        )


@subscriber_scenario(2, "LVL-037")
async def the_person_refuses(harness: Harness) -> None:
    """Have the person reject a risky action."""
    async with harness.run_subscriber("reject") as run:
        await run.start_session(require_announcement=False)
        risk_members: JsonObject = {"risk_level": "high", "irreversible": True, "reversibility": "irreversible"}
        prompt = run.session.build_confirmation("Burn all letters.", **risk_members)
        reply = await run.ask_person(prompt, "reject")
        if reply is None:
            _remark_missing_reply(harness, run, prompt)
            return
        _check_reply(harness, run, prompt, reply, "reject", [])


@subscriber_scenario(2, "LVL-041 CONF-017")
async def the_person_answers_questions(harness: Harness) -> None:
    """Have the person answer clarifications of every kind."""
    async with harness.run_subscriber("answer") as run:
        await run.start_session(require_announcement=False)
        cases: tuple[tuple[str, str, Any, JsonObject], ...] = (
            ("freetext", "blue", "blue", {}),
            ("multiple_choice", "1", "c1", {"choices": _CHOICES}),
            ("yes_no", "yes", True, {}),
            ("numeric", "7", 7, {}),
        )
        for kind, line, response, members in cases:
            prompt = run.session.build_clarification(f"Which stamp, as {kind.replace('_', ' ')}?", kind, **members)
            reply = await run.ask_person(prompt, line)
            if reply is None:
                _remark_missing_reply(harness, run, prompt)
                return
            message = reply.message
            # The audit finds a response of the wrong kind (CLAR-006 to CLAR-009).
            is_wrong_reply = message.get("reply_token") != prompt["reply_token"] or reply.type != "clarification.reply"
            is_different = type(message.get("response")) is type(response) and message.get("response") != response
            harness.evidence.check(
                "LVL-041",
                not is_wrong_reply and not (is_different and kind != "multiple_choice"),
                f"When the person answered, this was sent: {excerpt(reply.raw)}",
                f"The person answered {line}, and this was sent: {excerpt(reply.raw)}",
                _PERSON_ADVICE,
            )
            _check_token_use(harness, run, prompt, reply)
            run.send(run.session.build_state_changed("thinking", "It goes on.", "awaiting_input"))


@subscriber_scenario(2, "SEC-007 HITL-029 HITL-015 HITL-032 HITL-035 SEC-008 SEC-009")
async def nobody_answers(harness: Harness) -> None:
    """Send prompts that the person leaves open."""
    async with harness.run_subscriber() as run:
        evidence = harness.evidence
        session = run.session
        await run.wait_for_stream()
        await run.send_and_wait(
            session.build_started(), harness.patience if harness.has_announced else 4 * harness.quiet_period
        )
        prompt = session.build_confirmation(
            "Sell the stamp album for 40 euros.",
            consequence="The dealer takes it away.",
            timeout_seconds=1,
            default_decision="accept",
        )
        clarification = FakeSession().build_clarification(
            "Which album, Ada's?", "freetext", timeout_seconds=1, default_response="Ada's"
        )
        lasting = FakeSession().build_confirmation("Buy an album for 90 euros.", consequence="Your savings are gone.")
        await run.wait_quiet_period(0.05)
        for rules, event in (
            (("HITL-015", "SEC-008"), prompt),
            (("HITL-035",), clarification),
            (("HITL-015", "SEC-008"), lasting),
            (("HITL-032",), session.build_handoff("A person has to weigh the parcel.")),
        ):
            announcement = await run.send_and_wait(event, None if run.announcements else 0.0)
            if run.announcements:
                _check_urgency(harness, rules, event, announcement)
        # For two of them to time out, and a while longer.
        await run.wait_quiet_period(1.0 + 4 * harness.quiet_period)
        # SEC-007: a subscriber that answers for the person may take as long as a person would.
        await run.wait_until(lambda: run.find_replies(lasting["reply_token"]) or None, harness.unanswered_timeout)
        if run.announcements:
            _check_contents(harness, run, prompt, "40 euros", "dealer")
            _check_contents(harness, run, lasting, "90 euros", "savings")
        replies = run.find_replies()
        rules_by_token = {
            prompt["reply_token"]: "SEC-007",
            lasting["reply_token"]: "SEC-007",
            clarification["reply_token"]: "HITL-029",
        }
        for rule in ("SEC-007", "HITL-029"):
            wrong_replies = [
                reply
                for reply in replies
                if rules_by_token.get(str(reply.message.get("reply_token")), "SEC-007") == rule
            ]
            evidence.check(
                rule,
                not wrong_replies,
                "Nobody answered, and nothing was sent; not when the time was up either.",
                f"Nobody answered, and this was sent: {excerpt_first(wrong_replies)}",
                "Never answer for the person.",
            )


def _check_urgency(
    harness: Harness, rules: tuple[str, ...], event: JsonObject, announcement: PrintedAnnouncement | None
) -> None:
    for rule in rules:
        text = "nothing" if announcement is None else f"{announcement.text} ({announcement.urgency})"
        harness.evidence.check(
            rule,
            announcement is not None and announcement.urgency == "critical",
            f"It was announced as: {text}",
            f"It was announced as {text}: {excerpt(event)}",
            "Announce it with the urgency critical, and at once.",
        )


def _check_contents(harness: Harness, run: SubscriberRun, event: JsonObject, *words: str) -> None:
    """SEC-009, C-51: check that the action and the consequence are announced, together or apart."""
    text = " ".join(announcement.text for announcement in run.find_announcements(event))
    harness.evidence.check(
        "SEC-009",
        all(word in text for word in words),
        f"It was announced as: {text}",
        f"It was announced as {text or 'nothing'}: {excerpt(event)}",
        "Announce both the action and the consequence, in the words they came in.",
    )


@subscriber_scenario(2, "CONF-059 CONF-073")
async def the_person_is_too_late(harness: Harness) -> None:
    """Have the person answer four prompts that are closed and one that is open."""
    async with harness.run_subscriber("late") as run:
        evidence = harness.evidence
        await run.start_session(require_announcement=False)
        closed_sessions = FakeSession(), FakeSession(), FakeSession()
        expired = FakeSession().build_confirmation("Post it before one second is over.", timeout_seconds=1)
        withdrawn = closed_sessions[0].build_confirmation("Post it, unless it is withdrawn.")
        elsewhere = closed_sessions[1].build_confirmation("Post it, unless somebody else does.")
        ended = closed_sessions[2].build_confirmation("Post it, unless all is over.")
        open_prompt = run.session.build_confirmation("Post it whenever you like.")
        for prompt in (expired, withdrawn, elsewhere, ended):
            await run.send_and_wait(prompt, None if run.announcements else 0.0)
        run.send(closed_sessions[0].build_state_changed("thinking", "The question was withdrawn.", "awaiting_input"))
        outcome = {ATTEND.prefix: {"reply_token": elsewhere["reply_token"], "outcome": "accepted"}}
        run.send(
            closed_sessions[1].build_state_changed(
                "calling_tool",
                "Somebody has accepted.",
                "awaiting_input",
                extensions=outcome,
                **{"@context": [CORE_CONTEXT, ATTEND.context]},
            )
        )
        # When this is announced, the subscriber knows of the other closed prompts too.
        await run.send_and_wait(closed_sessions[2].build_cancelled(), None if run.announcements else 0.0)
        await run.wait_quiet_period(1.0 + harness.quiet_period)
        await run.type_line("accept")
        await run.wait_quiet_period()
        reply = await run.ask_person(open_prompt, "accept", "yes")
        await run.wait_quiet_period()
        if reply is None and not run.find_replies():
            evidence.add_remark(
                "The person answered late, and nothing was sent, not even to the question that is open."
            )
            return
        for rule, prompts, description in (
            ("CONF-059", (expired,), "whose time was over"),
            ("CONF-073", (withdrawn, elsewhere, ended), "that was not open any more"),
        ):
            late_replies = [reply for prompt in prompts for reply in run.find_replies(prompt["reply_token"])]
            evidence.check(
                rule,
                not late_replies,
                f"To a question {description} no reply was sent; to one that was open there was.",
                f"To a question {description} this was sent: {excerpt_first(late_replies)}",
                "Take a question away when it is over, and send nothing for it.",
                mandatory=True,
            )
