"""Scenarios about answering: a reply is the person's, says what was decided, and comes while it counts. Chapter 6"""

from __future__ import annotations

from typing import Any, Final

from ..judge import excerpt
from ..producer.harness import JsonObject
from .fake_producer import FakeSession, SubscriberMessage
from .harness import Harness, PrintedAnnouncement, SubscriberRun, subscriber_scenario

__all__ = ["TRICKY_TOKENS"]

# Tokens that a program may take for something else than they are.
TRICKY_TOKENS: Final = ("rpl_0", "rpl_1e5", "rpl_00123456789012345678901234567890", "rpl_TRUE", "rpl_" + "aZ09" * 16)
_ECHO_ADVICE: Final = "Send the reply_token back as the text it came as."
_PERSON_ADVICE: Final = "Send a reply only when the person has decided, and send what was decided."
_CHOICES: Final = [{"value": "c1", "label": "The blue one"}, {"value": "c2", "label": "The red one"}]


@subscriber_scenario(2, "LVL-037 HITL-009 HITL-010 CONF-017 CAP-016 TERM-005 SSE-022 TR-015")
async def the_person_accepts(stage: Harness) -> None:
    async with stage.run_subscriber("accept") as playing:
        await playing.start_session(require_announcement=False)
        _check_declaration(stage, playing)
        for number, token in enumerate(TRICKY_TOKENS):
            prompt = playing.session.build_confirmation(f"Post letter number {number}.", token)
            reply = await playing.ask_person(prompt, "accept", "yes")
            if reply is None:
                _remark_missing_reply(stage, playing, prompt)
                return
            _check_reply(stage, playing, prompt, reply, "accept", [*TRICKY_TOKENS[:number]])
            playing.send(playing.session.build_state_changed("thinking", "It goes on.", "awaiting_input"))
        await playing.wait_quiet_period()
        _check_single_reply(stage, playing)
        _check_content_type(stage, playing)
        await _check_repeated_prompt(stage, playing, prompt)


def _check_declaration(stage: Harness, playing: SubscriberRun) -> None:
    for request in playing.find_messages("subscription.request"):
        wishes = request.message.get("capabilities")
        stage.evidence.check(
            "CAP-016",
            isinstance(wishes, dict) and wishes.get("supports_confirmation_reply") is True,
            "It declares that it can answer confirmations.",
            f"It does not declare that it can answer confirmations: {excerpt(request.raw)}",
            "Set supports_confirmation_reply to true.",
        )


def _remark_missing_reply(stage: Harness, playing: SubscriberRun, prompt: JsonObject) -> None:
    """Whether it does not answer or cannot be made to is not known, unless it told the person and was told."""
    if playing.find_announcements(prompt) and playing.subscriber is not None:
        stage.evidence.add_remark(f"The person decided, and no reply came to {excerpt(prompt)}")
    else:
        stage.evidence.add_remark(f"It did not announce this, so nobody could answer it: {excerpt(prompt)}")


def _check_reply(
    stage: Harness,
    playing: SubscriberRun,
    prompt: JsonObject,
    reply: SubscriberMessage,
    decision: str,
    older: list[str],
) -> None:
    ledger, token = stage.evidence, reply.message.get("reply_token")
    said = excerpt(reply.raw)
    mixed = token in older  # it is a token of ours, but not this one
    ledger.check(
        "HITL-010",
        not mixed and "reply_token" in reply.message,
        f"It came with a token: {said}",
        f"It came with the token of another question: {said}",
        "Send each reply with the token of what it answers.",
    )
    if not mixed:
        ledger.check(
            "HITL-009",
            token == prompt["reply_token"],
            f"The token came back as it was: {said}",
            f"The token was {prompt['reply_token']}, and this came back: {said}",
            _ECHO_ADVICE,
        )
    _check_token_use(stage, playing, prompt, reply)
    meant = reply.type == "confirmation.reply" and reply.message.get("decision") == decision
    ledger.check(
        "TERM-005",
        meant and token == prompt["reply_token"],
        f"It was asked, and answered: {said}",
        f"This is no answer to what was asked: {said}",
        _PERSON_ADVICE,
    )
    ledger.check(
        "LVL-037",
        meant,
        f"When the person decided, this was sent: {said}",
        f"The person decided {decision}, and this was sent: {said}",
        _PERSON_ADVICE,
    )


def _check_token_use(stage: Harness, playing: SubscriberRun, prompt: JsonObject, reply: SubscriberMessage) -> None:
    """CONF-017: neither in another member of the reply nor in what is announced, where others hear it."""
    token = prompt["reply_token"]
    other = [name for name, value in reply.message.items() if name != "reply_token" and value == token]
    aloud = [one.text for one in playing.announcements if token in one.text]
    stage.evidence.check(
        "CONF-017",
        not other and not aloud,
        "The token stands where it belongs and nowhere else.",
        f"The token was used for {', '.join(other)}: {excerpt(reply.raw)}"
        if other
        else f"The token was announced: {aloud[0] if aloud else ''}",
        "Use the token for nothing but the reply.",
    )


def _check_single_reply(stage: Harness, playing: SubscriberRun) -> None:
    twice = [
        one for one in playing.find_replies() if len(playing.find_replies(str(one.message.get("reply_token")))) > 1
    ]
    if twice:
        text = f"The person decided once, and this was sent more than once: {excerpt(twice[0].raw)}"
        stage.evidence.record_failure("LVL-037", text, "Send one reply for one decision.")


async def _check_repeated_prompt(stage: Harness, playing: SubscriberRun, prompt: JsonObject) -> None:
    """A question that was answered is delivered once more. To repeat the very same reply does no harm."""
    before = {one.raw for one in playing.find_replies()}
    playing.producer.resend(prompt)
    await playing.wait_quiet_period(2 * stage.quiet_period)
    other = [one for one in playing.find_replies() if one.raw not in before]
    if other:
        text = f"A question that was answered and came again was answered anew: {excerpt(other[0].raw)}"
        stage.evidence.record_failure("TR-015", text, "Remember the event_id of what came, and drop what comes again.")


def _check_content_type(stage: Harness, playing: SubscriberRun) -> None:
    """SSE-022. There is no credential here to be shown."""
    if not playing.producer.is_raw_http:
        stage.evidence.record_not_applicable("SSE-022", "This transport is not HTTP.")
        return
    for reply in playing.find_replies():
        kind = (reply.headers or {}).get("content-type", "")
        stage.evidence.check(
            "SSE-022",
            kind.partition(";")[0].strip().lower() == "application/json",
            f"A reply was posted as {kind}.",
            f"A reply was posted as {kind or 'nothing'}.",
            "Post replies with Content-Type: application/json.",
        )


@subscriber_scenario(2, "LVL-037")
async def the_person_refuses(stage: Harness) -> None:
    async with stage.run_subscriber("reject") as playing:
        await playing.start_session(require_announcement=False)
        risky: JsonObject = {"risk_level": "high", "irreversible": True, "reversibility": "irreversible"}
        prompt = playing.session.build_confirmation("Burn all letters.", **risky)
        reply = await playing.ask_person(prompt, "reject")
        if reply is None:
            _remark_missing_reply(stage, playing, prompt)
            return
        _check_reply(stage, playing, prompt, reply, "reject", [])


@subscriber_scenario(2, "LVL-041 CONF-017")
async def the_person_answers_questions(stage: Harness) -> None:
    async with stage.run_subscriber("answer") as playing:
        await playing.start_session(require_announcement=False)
        rows: tuple[tuple[str, str, Any, JsonObject], ...] = (
            ("freetext", "blue", "blue", {}),
            ("multiple_choice", "1", "c1", {"choices": _CHOICES}),
            ("yes_no", "yes", True, {}),
            ("numeric", "7", 7, {}),
        )
        for kind, line, response, members in rows:
            question = playing.session.build_clarification(
                f"Which stamp, as {kind.replace('_', ' ')}?", kind, **members
            )
            reply = await playing.ask_person(question, line)
            if reply is None:
                _remark_missing_reply(stage, playing, question)
                return
            said = reply.message
            # Whether it is of the right kind at all is told by the audit (CLAR-006 to CLAR-009).
            wrong = said.get("reply_token") != question["reply_token"] or reply.type != "clarification.reply"
            differs = type(said.get("response")) is type(response) and said.get("response") != response
            stage.evidence.check(
                "LVL-041",
                not wrong and not (differs and kind != "multiple_choice"),
                f"When the person answered, this was sent: {excerpt(reply.raw)}",
                f"The person answered {line}, and this was sent: {excerpt(reply.raw)}",
                _PERSON_ADVICE,
            )
            _check_token_use(stage, playing, question, reply)
            playing.send(playing.session.build_state_changed("thinking", "It goes on.", "awaiting_input"))


@subscriber_scenario(2, "SEC-007 HITL-029 HITL-015 HITL-032 HITL-035 SEC-008 SEC-009")
async def nobody_answers(stage: Harness) -> None:
    async with stage.run_subscriber() as playing:
        ledger, session = stage.evidence, playing.session
        await playing.wait_for_stream()
        await playing.send_and_wait(
            session.build_started(), stage.patience if stage.has_announced else 4 * stage.quiet_period
        )
        prompt = session.build_confirmation(
            "Sell the stamp album for 40 euros.",
            consequence="The dealer takes it away.",
            timeout_seconds=1,
            default_decision="accept",
        )
        question = FakeSession().build_clarification(
            "Which album, Ada's?", "freetext", timeout_seconds=1, default_response="Ada's"
        )
        lasting = FakeSession().build_confirmation("Buy an album for 90 euros.", consequence="Your savings are gone.")
        await playing.wait_quiet_period(0.05)
        for rules, event in (
            (("HITL-015", "SEC-008"), prompt),
            (("HITL-035",), question),
            (("HITL-015", "SEC-008"), lasting),
            (("HITL-032",), session.build_handoff("A person has to weigh the parcel.")),
        ):
            told = await playing.send_and_wait(event, None if playing.announcements else 0.0)
            if playing.announcements:
                _check_urgency(stage, rules, event, told)
        await playing.wait_quiet_period(
            1.0 + 4 * stage.quiet_period
        )  # until two of them have run out of time, and a while longer
        # SEC-007: who answers for the person may take as long as a person would.
        await playing.wait_until(lambda: playing.find_replies(lasting["reply_token"]) or None, stage.unanswered_timeout)
        if playing.announcements:
            _check_contents(stage, playing, prompt, "40 euros", "dealer")
            _check_contents(stage, playing, lasting, "90 euros", "savings")
        answered = playing.find_replies()
        asked = {
            prompt["reply_token"]: "SEC-007",
            lasting["reply_token"]: "SEC-007",
            question["reply_token"]: "HITL-029",
        }
        for rule in ("SEC-007", "HITL-029"):
            wrong = [one for one in answered if asked.get(str(one.message.get("reply_token")), "SEC-007") == rule]
            ledger.check(
                rule,
                not wrong,
                "Nobody answered, and nothing was sent; not when the time was up either.",
                f"Nobody answered, and this was sent: {excerpt(wrong[0].raw) if wrong else ''}",
                "Never answer for the person.",
            )


def _check_urgency(stage: Harness, rules: tuple[str, ...], event: JsonObject, told: PrintedAnnouncement | None) -> None:
    for rule in rules:
        text = "nothing" if told is None else f"{told.text} ({told.urgency})"
        stage.evidence.check(
            rule,
            told is not None and told.urgency == "critical",
            f"It was announced as: {text}",
            f"It was announced as {text}: {excerpt(event)}",
            "Announce it with the urgency critical, and at once.",
        )


def _check_contents(stage: Harness, playing: SubscriberRun, event: JsonObject, *words: str) -> None:
    """SEC-009, C-51: both the action and the consequence are said, in one announcement or in several."""
    text = " ".join(one.text for one in playing.find_announcements(event))
    stage.evidence.check(
        "SEC-009",
        all(word in text for word in words),
        f"It was announced as: {text}",
        f"It was announced as {text or 'nothing'}: {excerpt(event)}",
        "Announce both the action and the consequence, in the words they came in.",
    )


@subscriber_scenario(2, "CONF-059 CONF-073")
async def the_person_is_too_late(stage: Harness) -> None:
    """Four questions that are over when the person answers, and one that is not."""
    async with stage.run_subscriber("late") as playing:
        ledger = stage.evidence
        await playing.start_session(require_announcement=False)
        gone = FakeSession(), FakeSession(), FakeSession()
        expired = FakeSession().build_confirmation("Post it before one second is over.", timeout_seconds=1)
        withdrawn = gone[0].build_confirmation("Post it, unless it is withdrawn.")
        elsewhere = gone[1].build_confirmation("Post it, unless somebody else does.")
        ended = gone[2].build_confirmation("Post it, unless all is over.")
        still = playing.session.build_confirmation("Post it whenever you like.")
        for prompt in (expired, withdrawn, elsewhere, ended):
            await playing.send_and_wait(prompt, None if playing.announcements else 0.0)
        playing.send(gone[0].build_state_changed("thinking", "The question was withdrawn.", "awaiting_input"))
        outcome = {"attend": {"reply_token": elsewhere["reply_token"], "outcome": "accepted"}}
        playing.send(
            gone[1].build_state_changed("calling_tool", "Somebody has accepted.", "awaiting_input", extensions=outcome)
        )
        playing.send(gone[2].build_cancelled())
        await playing.wait_quiet_period(1.0 + stage.quiet_period)
        await playing.type_line("accept")
        await playing.wait_quiet_period()
        reply = await playing.ask_person(still, "accept", "yes")
        await playing.wait_quiet_period()
        if reply is None and not playing.find_replies():
            ledger.add_remark("The person answered late, and nothing was sent, not even to the question that is open.")
            return
        for rule, prompts, what in (
            ("CONF-059", (expired,), "whose time was over"),
            ("CONF-073", (withdrawn, elsewhere, ended), "that was not open any more"),
        ):
            late = [one for prompt in prompts for one in playing.find_replies(prompt["reply_token"])]
            ledger.check(
                rule,
                not late,
                f"To a question {what} no reply was sent; to one that was open there was.",
                f"To a question {what} this was sent: {excerpt(late[0].raw) if late else ''}",
                "Take a question away when it is over, and send nothing for it.",
                mandatory=True,
            )
