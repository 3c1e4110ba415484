"""Scenarios about answering: a reply is the person's, says what was decided, and comes while it counts. Chapter 6"""

from __future__ import annotations

from typing import Any, Final

from ..judge import excerpt
from ..producer.harness import Json
from .fake_producer import Came, Session
from .harness import Scene, Stage, Told, scene

__all__ = ["TOKENS"]

# Tokens that a program may take for something else than they are.
TOKENS: Final = ("rpl_0", "rpl_1e5", "rpl_00123456789012345678901234567890", "rpl_TRUE", "rpl_" + "aZ09" * 16)
_ECHO: Final = "Send the reply_token back as the text it came as."
_PERSON: Final = "Send a reply only when the person has decided, and send what was decided."
_CHOICES: Final = [{"value": "c1", "label": "The blue one"}, {"value": "c2", "label": "The red one"}]


@scene(2, "LVL-037 HITL-009 HITL-010 CONF-017 CAP-016 TERM-005 SSE-022 TR-015")
async def the_person_accepts(stage: Stage) -> None:
    async with stage.scene("accept") as playing:
        await playing.opening(watched=False)
        _declared(stage, playing)
        for number, token in enumerate(TOKENS):
            prompt = playing.session.confirm(f"Post letter number {number}.", token)
            reply = await playing.decide(prompt, "accept", "yes")
            if reply is None:
                _silent(stage, playing, prompt)
                return
            _right(stage, playing, prompt, reply, "accept", [*TOKENS[:number]])
            playing.say(playing.session.state("thinking", "It goes on.", "awaiting_input"))
        await playing.rest()
        _once(stage, playing)
        _posted(stage, playing)
        await _asked_again(stage, playing, prompt)


def _declared(stage: Stage, playing: Scene) -> None:
    for request in playing.sent("subscription.request"):
        wishes = request.message.get("capabilities")
        stage.ledger.decide(
            "CAP-016",
            isinstance(wishes, dict) and wishes.get("supports_confirmation_reply") is True,
            "It declares that it can answer confirmations.",
            f"It does not declare that it can answer confirmations: {excerpt(request.raw)}",
            "Set supports_confirmation_reply to true.",
        )


def _silent(stage: Stage, playing: Scene, prompt: Json) -> None:
    """Whether it does not answer or cannot be made to is not known, unless it told the person and was told."""
    if playing.of(prompt) and playing.running is not None:
        stage.ledger.remark(f"The person decided, and no reply came to {excerpt(prompt)}")
    else:
        stage.ledger.remark(f"It did not announce this, so nobody could answer it: {excerpt(prompt)}")


def _right(stage: Stage, playing: Scene, prompt: Json, reply: Came, decision: str, older: list[str]) -> None:
    ledger, token = stage.ledger, reply.message.get("reply_token")
    said = excerpt(reply.raw)
    mixed = token in older  # it is a token of ours, but not this one
    ledger.decide(
        "HITL-010",
        not mixed and "reply_token" in reply.message,
        f"It came with a token: {said}",
        f"It came with the token of another question: {said}",
        "Send each reply with the token of what it answers.",
    )
    if not mixed:
        ledger.decide(
            "HITL-009",
            token == prompt["reply_token"],
            f"The token came back as it was: {said}",
            f"The token was {prompt['reply_token']}, and this came back: {said}",
            _ECHO,
        )
    _nowhere_else(stage, playing, prompt, reply)
    meant = reply.type == "confirmation.reply" and reply.message.get("decision") == decision
    ledger.decide(
        "TERM-005",
        meant and token == prompt["reply_token"],
        f"It was asked, and answered: {said}",
        f"This is no answer to what was asked: {said}",
        _PERSON,
    )
    ledger.decide(
        "LVL-037",
        meant,
        f"When the person decided, this was sent: {said}",
        f"The person decided {decision}, and this was sent: {said}",
        _PERSON,
    )


def _nowhere_else(stage: Stage, playing: Scene, prompt: Json, reply: Came) -> None:
    """CONF-017: neither in another member of the reply nor in what is announced, where others hear it."""
    token = prompt["reply_token"]
    other = [name for name, value in reply.message.items() if name != "reply_token" and value == token]
    aloud = [one.text for one in playing.told if token in one.text]
    stage.ledger.decide(
        "CONF-017",
        not other and not aloud,
        "The token stands where it belongs and nowhere else.",
        f"The token was used for {', '.join(other)}: {excerpt(reply.raw)}"
        if other
        else f"The token was announced: {aloud[0] if aloud else ''}",
        "Use the token for nothing but the reply.",
    )


def _once(stage: Stage, playing: Scene) -> None:
    twice = [one for one in playing.replies() if len(playing.replies(str(one.message.get("reply_token")))) > 1]
    if twice:
        text = f"The person decided once, and this was sent more than once: {excerpt(twice[0].raw)}"
        stage.ledger.fail("LVL-037", text, "Send one reply for one decision.")


async def _asked_again(stage: Stage, playing: Scene, prompt: Json) -> None:
    """A question that was answered is delivered once more. To repeat the very same reply does no harm."""
    before = {one.raw for one in playing.replies()}
    playing.player.again(prompt)
    await playing.rest(2 * stage.quiet)
    other = [one for one in playing.replies() if one.raw not in before]
    if other:
        text = f"A question that was answered and came again was answered anew: {excerpt(other[0].raw)}"
        stage.ledger.fail("TR-015", text, "Remember the event_id of what came, and drop what comes again.")


def _posted(stage: Stage, playing: Scene) -> None:
    """SSE-022. There is no credential here to be shown."""
    if not playing.player.raw:
        stage.ledger.exempt("SSE-022", "This transport is not HTTP.")
        return
    for reply in playing.replies():
        kind = (reply.headers or {}).get("content-type", "")
        stage.ledger.decide(
            "SSE-022",
            kind.partition(";")[0].strip().lower() == "application/json",
            f"A reply was posted as {kind}.",
            f"A reply was posted as {kind or 'nothing'}.",
            "Post replies with Content-Type: application/json.",
        )


@scene(2, "LVL-037")
async def the_person_refuses(stage: Stage) -> None:
    async with stage.scene("reject") as playing:
        await playing.opening(watched=False)
        risky: Json = {"risk_level": "high", "irreversible": True, "reversibility": "irreversible"}
        prompt = playing.session.confirm("Burn all letters.", **risky)
        reply = await playing.decide(prompt, "reject")
        if reply is None:
            _silent(stage, playing, prompt)
            return
        _right(stage, playing, prompt, reply, "reject", [])


@scene(2, "LVL-041 CONF-017")
async def the_person_answers_questions(stage: Stage) -> None:
    async with stage.scene("answer") as playing:
        await playing.opening(watched=False)
        rows: tuple[tuple[str, str, Any, Json], ...] = (
            ("freetext", "blue", "blue", {}),
            ("multiple_choice", "1", "c1", {"choices": _CHOICES}),
            ("yes_no", "yes", True, {}),
            ("numeric", "7", 7, {}),
        )
        for kind, line, response, members in rows:
            question = playing.session.ask(f"Which stamp, as {kind.replace('_', ' ')}?", kind, **members)
            reply = await playing.decide(question, line)
            if reply is None:
                _silent(stage, playing, question)
                return
            said = reply.message
            # Whether it is of the right kind at all is told by the audit (CLAR-006 to CLAR-009).
            wrong = said.get("reply_token") != question["reply_token"] or reply.type != "clarification.reply"
            differs = type(said.get("response")) is type(response) and said.get("response") != response
            stage.ledger.decide(
                "LVL-041",
                not wrong and not (differs and kind != "multiple_choice"),
                f"When the person answered, this was sent: {excerpt(reply.raw)}",
                f"The person answered {line}, and this was sent: {excerpt(reply.raw)}",
                _PERSON,
            )
            _nowhere_else(stage, playing, question, reply)
            playing.say(playing.session.state("thinking", "It goes on.", "awaiting_input"))


@scene(2, "SEC-007 HITL-029 HITL-015 HITL-032 HITL-035 SEC-008 SEC-009")
async def nobody_answers(stage: Stage) -> None:
    async with stage.scene() as playing:
        ledger, session = stage.ledger, playing.session
        await playing.joined()
        await playing.hear(session.started(), stage.patience if stage.seen else 4 * stage.quiet)
        prompt = session.confirm(
            "Sell the stamp album for 40 euros.",
            consequence="The dealer takes it away.",
            timeout_seconds=1,
            default_decision="accept",
        )
        question = Session().ask("Which album, Ada's?", "freetext", timeout_seconds=1, default_response="Ada's")
        lasting = Session().confirm("Buy an album for 90 euros.", consequence="Your savings are gone.")
        await playing.rest(0.05)
        for rules, event in (
            (("HITL-015", "SEC-008"), prompt),
            (("HITL-035",), question),
            (("HITL-015", "SEC-008"), lasting),
            (("HITL-032",), session.handoff("A person has to weigh the parcel.")),
        ):
            told = await playing.hear(event, None if playing.told else 0.0)
            if playing.told:
                _prominent(stage, rules, event, told)
        await playing.rest(1.0 + 4 * stage.quiet)  # until two of them have run out of time, and a while longer
        # SEC-007: who answers for the person may take as long as a person would.
        await playing.until(lambda: playing.replies(lasting["reply_token"]) or None, stage.unanswered)
        if playing.told:
            _contents(stage, playing, prompt, "40 euros", "dealer")
            _contents(stage, playing, lasting, "90 euros", "savings")
        answered = playing.replies()
        asked = {
            prompt["reply_token"]: "SEC-007",
            lasting["reply_token"]: "SEC-007",
            question["reply_token"]: "HITL-029",
        }
        for rule in ("SEC-007", "HITL-029"):
            wrong = [one for one in answered if asked.get(str(one.message.get("reply_token")), "SEC-007") == rule]
            ledger.decide(
                rule,
                not wrong,
                "Nobody answered, and nothing was sent; not when the time was up either.",
                f"Nobody answered, and this was sent: {excerpt(wrong[0].raw) if wrong else ''}",
                "Never answer for the person.",
            )


def _prominent(stage: Stage, rules: tuple[str, ...], event: Json, told: Told | None) -> None:
    for rule in rules:
        text = "nothing" if told is None else f"{told.text} ({told.urgency})"
        stage.ledger.decide(
            rule,
            told is not None and told.urgency == "critical",
            f"It was announced as: {text}",
            f"It was announced as {text}: {excerpt(event)}",
            "Announce it with the urgency critical, and at once.",
        )


def _contents(stage: Stage, playing: Scene, event: Json, *words: str) -> None:
    """SEC-009, C-51: both the action and the consequence are said, in one announcement or in several."""
    text = " ".join(one.text for one in playing.of(event))
    stage.ledger.decide(
        "SEC-009",
        all(word in text for word in words),
        f"It was announced as: {text}",
        f"It was announced as {text or 'nothing'}: {excerpt(event)}",
        "Announce both the action and the consequence, in the words they came in.",
    )


@scene(2, "CONF-059 CONF-073")
async def the_person_is_too_late(stage: Stage) -> None:
    """Four questions that are over when the person answers, and one that is not."""
    async with stage.scene("late") as playing:
        ledger = stage.ledger
        await playing.opening(watched=False)
        gone = Session(), Session(), Session()
        expired = Session().confirm("Post it before one second is over.", timeout_seconds=1)
        withdrawn = gone[0].confirm("Post it, unless it is withdrawn.")
        elsewhere = gone[1].confirm("Post it, unless somebody else does.")
        ended = gone[2].confirm("Post it, unless all is over.")
        still = playing.session.confirm("Post it whenever you like.")
        for prompt in (expired, withdrawn, elsewhere, ended):
            await playing.hear(prompt, None if playing.told else 0.0)
        playing.say(gone[0].state("thinking", "The question was withdrawn.", "awaiting_input"))
        outcome = {"attend": {"reply_token": elsewhere["reply_token"], "outcome": "accepted"}}
        playing.say(gone[1].state("calling_tool", "Somebody has accepted.", "awaiting_input", extensions=outcome))
        playing.say(gone[2].cancelled())
        await playing.rest(1.0 + stage.quiet)
        await playing.type("accept")
        await playing.rest()
        reply = await playing.decide(still, "accept", "yes")
        await playing.rest()
        if reply is None and not playing.replies():
            ledger.remark("The person answered late, and nothing was sent, not even to the question that is open.")
            return
        for rule, prompts, what in (
            ("CONF-059", (expired,), "whose time was over"),
            ("CONF-073", (withdrawn, elsewhere, ended), "that was not open any more"),
        ):
            late = [one for prompt in prompts for one in playing.replies(prompt["reply_token"])]
            ledger.decide(
                rule,
                not late,
                f"To a question {what} no reply was sent; to one that was open there was.",
                f"To a question {what} this was sent: {excerpt(late[0].raw) if late else ''}",
                "Take a question away when it is over, and send nothing for it.",
                firm=True,
            )
