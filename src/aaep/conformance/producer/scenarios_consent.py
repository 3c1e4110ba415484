"""Scenarios about consent: what is asked, who may answer, what counts as an answer, and what follows. Chapter 6"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, Final

from ...errors import AaepError
from ..judge import excerpt
from ..scenario import scenario
from .harness import LISTENS, REPLIES, Answer, Heard, Reader, Run, Stage, Unplayable

__all__ = ["CHECK", "throughout"]

_ASK_FIRST: Final = "Ask with agent.awaiting.confirmation, wait for the accept, and only then send agent.tool.invoked."
CHECK: Final = "Make every check of §6.3.4, in its order, and ignore a reply that fails one."


def throughout(stage: Stage, *, bare: bool = False) -> Reader:
    """The reader that hears everything; with ``bare``, one without a subscription will do."""
    if stage.main is None or not (bare or stage.main.accepted):
        raise Unplayable("No subscription was granted that could listen throughout.")
    return stage.main


# -- who is heard --------------------------------------------------------------------------------


@scenario(2, "CONF-002 CONF-041 HITL-001 HITL-004 CONF-067 CONF-034", "HITL-018 SUB-075 CONF-065 CONF-001 TERM-014")
async def two_readers_answer_and_the_first_counts(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    async with stage.reader(**REPLIES, preferred_verbosity="terse") as second:
        run = await stage.begin("confirm")
        prompt = await run.prompt(main)
        same = await run.find(second, "awaiting.confirmation")
        ledger.decide(
            "CONF-065",
            same is not None,
            "Two readers that may answer were both asked.",
            "A second reader that may answer was not asked.",
        )
        await stage.rest()
        early = run.resolved(main, prompt)
        if early is not None:
            for rule in ("CONF-001", "CONF-002", "HITL-004"):
                ledger.fail(rule, f"Nobody had answered, and this came: {excerpt(early.raw)}", _ASK_FIRST)
        await main.reply(prompt.message)
        stage.answers["a token that was used a moment ago"] = await main.reply(prompt.message, true=False)
        await _taken(stage, run, main, prompt)
        await second.reply(prompt.message, "reject", true=False)
        await run.resolution(main, prompt)
        end = await run.over(main)
        acted = run.acted(main, prompt)
        _first_won(stage, acted=bool(acted))
        if early is None and acted:
            for rule in ("CONF-001", "CONF-002", "HITL-004", "HITL-001"):
                ledger.show(rule, f"It waited for the accept, then: {excerpt(acted[0].raw)}")
        if same is not None:
            told = await run.resolution(second, same)
            for rule in ("CONF-067", "SUB-075"):
                ledger.decide(
                    rule,
                    told is not None,
                    "The reader whose answer came too late was told the outcome.",
                    "The reader whose answer came too late was told nothing.",
                )
        stage.used.append(prompt.message)
        if end is not None:
            await run.over(second)
            _as_many(stage, run, main, second)
            await _again(stage, run, main, prompt)


async def _taken(stage: Stage, run: Run, main: Reader, prompt: Heard) -> None:
    """Until the first reply has arrived: two connections keep no order, and only HTTP says when something arrived."""
    if not stage.posts:
        await run.resolution(main, prompt, 4 * stage.quiet)


def _first_won(stage: Stage, *, acted: bool) -> None:
    stage.ledger.decide(
        "CONF-041",
        acted,
        "After an accept and then a reject the accepted action was done.",
        "After an accept and then a reject the accepted action was not done.",
        "Let the first valid reply decide and ignore the others.",
    )


def _as_many(stage: Stage, run: Run, main: Reader, second: Reader) -> None:
    heard = {one["event_id"] for one in second.of(run.session)}
    lost = [one for one in main.of(run.session) if one["event_id"] not in heard]
    stage.ledger.decide(
        "TERM-014",
        not lost,
        "A reader that prefers short texts had all of the events.",
        f"A reader that prefers short texts did not get this: {excerpt(lost[0].raw) if lost else ''}",
    )


async def _again(stage: Stage, run: Run, main: Reader, prompt: Heard) -> None:
    """The same accept once more, when everything is over."""
    stage.answers["a token that was used"] = await main.reply(prompt.message, true=False)
    await stage.rest()
    acted = run.acted(main, prompt)
    stage.ledger.decide(
        "CONF-034",
        len(acted) <= 1,
        "The same accept, sent again at once and again at the end, did nothing.",
        f"The same accept sent again ran the action again: {excerpt(acted[-1].raw) if acted else ''}",
        "A token is dead after the first valid reply.",
    )


@scenario(2, "", "CONF-075 HITL-001 HITL-004")
async def two_questions_are_open_and_one_is_answered(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    first = await stage.begin("confirm")
    asked = await first.prompt(main)
    place = len(main.heard)
    try:
        second = await stage.begin("confirm")
        other = await second.prompt(main)
    except (Unplayable, AaepError) as error:  # who does one thing at a time may do this one later, or not have it
        await first.through(main)
        late = await main.find(lambda one: one.type == "session.started", stage.patience, place)
        if late is not None:
            await Run(stage, late.session, "confirm").through(main)
        raise Unplayable(f"While one question was open there was no second one. {error}") from error
    await main.reply(asked.message)
    await first.over(main)
    await stage.rest()
    moved = second.resolved(main, other)
    for rule in ("CONF-075", "HITL-001", "HITL-004"):
        ledger.decide(
            rule,
            moved is None,
            "Of two sessions that asked, one was told yes, and the other went on waiting.",
            f"Of two sessions that asked, one was told yes, and from the other came: {excerpt((moved or other).raw)}",
            "An accept answers the question whose token it carries, and no other.",
        )
    await main.reply(other.message, "reject")
    await second.over(main)


@scenario(2, "HITL-019 HITL-020", "CONF-004")
async def a_no_stops_the_action(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    async with stage.reader(**REPLIES) as second:
        run = await stage.begin("confirm")
        prompt = await run.prompt(main)
        await main.reply(prompt.message, "reject")
        await _taken(stage, run, main, prompt)
        await second.reply(prompt.message, "accept", true=False)
        told = await run.resolution(main, prompt)
        await run.over(main)
        await stage.rest()
        acted = run.done(main, prompt)
        ledger.decide(
            "HITL-020",
            not acted,
            "After a reject and then an accept the action was not done.",
            f"After a reject the action was done: {excerpt(acted[0].raw) if acted else ''}",
            "A reject ends it; nothing that comes later counts.",
        )
        ledger.decide(
            "HITL-019",
            told is not None,
            f"The reject was followed by: {excerpt(told.raw) if told is not None else ''}",
            "Nothing told that the action was dropped.",
        )
        stage.used.append(prompt.message)


@scenario(2, "CONF-028")
async def a_yes_to_something_else_is_a_no(stage: Stage) -> None:
    main = throughout(stage)
    run = await stage.begin("confirm")
    prompt = await run.prompt(main)
    await main.reply(prompt.message, modified_action={"amount": "1"})
    ended = await run.over(main)
    if ended is None:  # it neither counts as a yes nor as a no: then a no frees the agent
        await main.reply(prompt.message, "reject")
        await run.over(main)
    acted = run.done(main, prompt)
    offered = prompt["allowed_replies"]
    if acted and isinstance(offered, list) and any(one not in ("accept", "reject") for one in offered):
        stage.ledger.exempt("CONF-028", "The producer says that it can do a modified action.")
        return
    stage.ledger.decide(
        "CONF-028",
        not acted,
        "An accept with a modified_action did not run the action.",
        f"An accept with a modified_action ran the action as it was: {excerpt(acted[0].raw) if acted else ''}",
        "Treat a reply with modified_action as a reject unless the change is done.",
    )


@scenario(2, "CONF-043 HITL-005 CONF-035")
async def time_runs_out(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    run = await stage.begin("expire")
    prompt = await run.prompt(main)
    seconds = prompt["timeout_seconds"]
    if not isinstance(seconds, (int, float)) or seconds > 3 * stage.patience:
        await main.reply(prompt.message, "reject")
        await run.over(main)
        raise Unplayable(f"The question of the task 'expire' waits for {seconds} seconds, which is too long to try.")
    early = await run.resolution(main, prompt, max(0.0, seconds - 0.5))
    told = early or await run.resolution(main, prompt, 0.5 + stage.patience)
    await stage.rest()  # in which the action would begin
    granted = prompt["default_decision"] == "accept"
    done = run.acted if granted else run.done
    acted = done(main, prompt)
    for rule in ("CONF-043", "HITL-005"):
        if early is not None:
            ledger.fail(rule, f"It was decided before its time: {excerpt(early.raw)}", "Wait for all of the time.")
        elif told is None:
            ledger.fail(rule, f"After {seconds} seconds nothing told that the time is up.", "Apply the default then.")
        else:
            ledger.decide(
                rule,
                bool(acted) == granted,
                f"After {seconds} seconds the default, {prompt['default_decision']}, was applied.",
                f"The default is {prompt['default_decision']}, and the action was {'' if acted else 'not '}done.",
            )
    stage.answers["a token that has expired"] = await main.reply(prompt.message, true=False)
    await run.over(main)
    await stage.rest()
    after = done(main, prompt)
    ledger.decide(
        "CONF-035",
        len(after) == len(acted),
        "An accept after the deadline did nothing.",
        f"An accept after the deadline ran the action: {excerpt(after[-1].raw) if after else ''}",
        CHECK,
    )
    stage.used.append(prompt.message)


@scenario(2, "CONF-072", "CONF-070 CONF-071")
async def a_question_is_withdrawn(stage: Stage) -> None:
    main = throughout(stage)
    for task, rule in (("withdraw", "CONF-071"), ("cancel", "CONF-070")):
        run = await stage.begin(task)
        prompt = await run.prompt(main)
        told = await run.resolution(main, prompt)
        if told is None or run.acted(main, prompt):
            await main.reply(prompt.message, "reject")
            await run.over(main)
            stage.ledger.remark(f"The task {task!r} withdrew nothing.")
            continue
        stage.answers["a token that was withdrawn"] = await main.reply(prompt.message, true=False)
        end = await run.over(main)
        await stage.rest()
        acted = run.done(main, prompt)
        stage.ledger.decide(
            "CONF-072",
            not acted,
            f"An accept of a question that was withdrawn did nothing (task {task}).",
            f"An accept of a question that was withdrawn ran the action: {excerpt(acted[0].raw) if acted else ''}",
            "A withdrawn question's token is invalid.",
        )
        if rule == "CONF-071":
            stage.ledger.show(rule, f"It was told: {excerpt(told.raw)}")
        elif end is not None and end.type == "session.cancelled":
            stage.ledger.decide(
                rule,
                not acted,
                f"With the session its question was withdrawn: {excerpt(told.raw)}",
                "The session was cancelled, and its question could still be answered.",
            )


@scenario(2, "CONF-040")
async def no_answer_tells_why(stage: Stage) -> None:
    """Judges what the other scenarios were answered."""
    wrong = stage.answers
    if len(wrong) < 2:
        raise Unplayable("Too few wrong replies were sent to compare how they were answered.")
    kinds: dict[Answer, list[str]] = {}
    for name, answer in wrong.items():
        kinds.setdefault(answer, []).append(name)
    told = "; ".join(f"{answer.status} {answer.body[:100]} for {', '.join(names)}" for answer, names in kinds.items())
    stage.ledger.decide(
        "CONF-040",
        len(kinds) == 1,
        f"All were answered alike: {told}.",
        f"The answers differ, which tells why a reply failed: {told}.",
        "Answer every well-formed reply with the same status, headers and body, whether it counts or not.",
    )


# -- when nobody can answer ---------------------------------------------------------------------------


@scenario(2, "CAP-015", "CAP-014 CAP-019 TOOL-002", alone=True)
async def nobody_can_answer(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger  # here one that cannot answer
    run = await stage.begin("confirm")
    end = await run.over(main, min(stage.patience, 10.0))
    events = main.of(run.session)
    asked = next((one for one in events if one.type == "awaiting.confirmation"), None)
    ledger.decide(
        "CAP-014",
        asked is None,
        "A reader that cannot answer, alone, was asked nothing.",
        f"A reader that cannot answer, alone, was asked: {excerpt(asked.raw) if asked is not None else ''}",
    )
    stage.unasked.append((("TOOL-002", "CAP-015"), events))
    ledger.decide(
        "CAP-015",
        end is not None,
        "With nobody to answer it went on at once.",
        f"With nobody to answer the session was not over after {min(stage.patience, 10.0):g} seconds.",
        "Apply the default at once when no subscription can reply.",
    )
    question = await stage.begin("clarify")
    end = await question.over(main, min(stage.patience, 10.0))
    asked = next((one for one in main.of(question.session) if one.type == "awaiting.clarification"), None)
    if end is not None or asked is not None:
        ledger.decide(
            "CAP-019",
            asked is None,
            "A reader that cannot answer, alone, was asked no question either.",
            f"A reader that cannot answer, alone, was asked: {excerpt(asked.raw) if asked is not None else ''}",
        )


@scenario(3, "SUB-069", alone=True)
async def the_only_one_who_can_answer_leaves(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    async with AsyncExitStack() as stack:
        replier = await stack.enter_async_context(stage.reader(**REPLIES))
        run = await stage.begin("confirm")
        prompt = await run.prompt(replier)
        seconds = prompt["timeout_seconds"]
        if not isinstance(seconds, (int, float)) or seconds < 5:
            raise Unplayable("The question times out too soon to tell whether leaving decided it.")
        await replier.leave()
        end = await run.over(main, min(stage.patience, seconds - 1))
        acted = run.done(main, prompt)
        granted = prompt["default_decision"] == "accept"
        if not granted:
            stage.unasked.append((("SUB-069",), main.of(run.session)))
        if granted and end is None:
            ledger.exempt("SUB-069", "The default is accept, which needs the whole time (CF-005).")
            return
        ledger.decide(
            "SUB-069",
            end is not None and bool(acted) == granted,
            f"When the only one who could answer had left, the default, {prompt['default_decision']}, was applied.",
            "The only one who could answer left, and the question stayed open."
            if end is None
            else f"The default is {prompt['default_decision']}, and it was not what was done.",
            "Apply the default when the last subscription that could answer is closed.",
        )


@scenario(2, "", "TOOL-002 CAP-015 SUB-069")
async def what_nobody_agreed_to_was_not_done(stage: Stage) -> None:
    """Judges what others heard when nobody could answer: which tools need a yes is known only by now."""
    for name in sorted(stage.tools.mixed):
        stage.ledger.remark(f"Some calls of the tool {name!r} need a yes and some do not: each was taken at its word.")
    for broken, events in stage.unasked:
        acted = [one for one in events if stage.tools.grave(one)]
        for rule in broken:
            stage.ledger.decide(
                rule,
                not acted,
                "With nobody to answer nothing was done that needs a yes.",
                f"Nobody could answer, and it was done: {excerpt(acted[0].raw) if acted else ''}",
                "With nobody to ask, nothing irreversible is done, whatever the call says of itself.",
            )


# -- questions --


@scenario(2, "", "CLAR-016 CLAR-017 CLAR-018 CLAR-019 CLAR-020 CLAR-021 CONF-008 HITL-024 CLAR-011 CLAR-022")
async def a_question_is_answered(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    run = await stage.begin("clarify")
    prompt = await run.prompt(main, "clarification")
    tries: dict[str, tuple[str, Callable[[], Awaitable[Answer]]]] = {
        "a confirmation.reply": ("CLAR-020", lambda: main.reply(prompt.message, true=False)),
        "a token that was never issued": (
            "CLAR-016",
            lambda: main.respond({"reply_token": "rpl_" + "0" * 32}, _good(prompt.message), true=False),
        ),
    }
    await stage.rest()
    early = run.resolved(main, prompt)
    if early is not None:
        for rule in ("CONF-008", "HITL-024"):
            ledger.fail(rule, f"Nobody had answered, and this came: {excerpt(early.raw)}", "Wait for the answer.")
        await run.over(main)
        return
    for rule, bad in _bad(prompt.message).items():
        tries[f"the answer {bad!r}"] = (rule, partial(main.respond, prompt.message, bad, true=False))
    for name, (rule, send) in tries.items():
        await send()
        await stage.rest()
        honoured = run.resolved(main, prompt)
        if honoured is not None:
            ledger.fail(rule, f"{name.capitalize()} ended the question: {excerpt(honoured.raw)}", CHECK)
            await run.over(main)
            return
        ledger.show(rule, f"{name.capitalize()} changed nothing.")
    for rule in ("CONF-008", "HITL-024"):
        ledger.show(rule, "Nothing went on while the question was open.")
    await main.respond(prompt.message, _good(prompt.message))
    told = await run.resolution(main, prompt)
    several = len(_kinds(prompt.message)) > 1
    for rule in ("CLAR-021", "CLAR-022", *(("CLAR-011",) if several else ())):
        ledger.decide(
            rule,
            told is not None,
            f"The answer was followed by: {excerpt(told.raw) if told is not None else ''}",
            "An answer of a kind that was offered was not taken, or nothing told so.",
        )
    await run.over(main)


def _kinds(prompt: dict[str, Any]) -> list[str]:
    kinds = prompt.get("accepted_response_kinds")
    return kinds if isinstance(kinds, list) and kinds else ["multiple_choice" if prompt.get("choices") else "freetext"]


def _good(prompt: dict[str, Any]) -> Any:
    """An answer that the question accepts."""
    choices = prompt.get("choices")
    kind = _kinds(prompt)[0]
    if kind == "multiple_choice" and isinstance(choices, list) and choices:
        return choices[0].get("value") if isinstance(choices[0], dict) else choices[0]
    return {"yes_no": True, "numeric": 1}.get(kind, "Whatever you think best.")


def _bad(prompt: dict[str, Any]) -> dict[str, Any]:
    """Answers that it does not accept, by the rule that says so."""
    kinds = _kinds(prompt)
    wrong: dict[str, Any] = {}
    if "freetext" not in kinds:
        rule = "CLAR-018" if "multiple_choice" in kinds else "CLAR-017"
        wrong[rule] = "something that was not offered"
    if "numeric" not in kinds:
        wrong["CLAR-017"] = 12
    if "yes_no" not in kinds:
        wrong["CLAR-019"] = True
    return wrong


# -- wrong --

_FUTURE: Final = "2099-01-01T00:00:00.000Z"
_TOKEN: Final = "rpl_"

Send = Callable[[Stage, Reader, Heard], Awaitable[Answer]]


async def _forged(_: Stage, sender: Reader, prompt: Heard) -> Answer:
    return await sender.reply(prompt.message, true=False, reply_token=_TOKEN + "0" * 32)


def _altered(alter: Callable[[str], str]) -> Send:
    """Who compares only a part of a token, or compares it loosely, takes some of these for it."""

    async def send(_: Stage, sender: Reader, prompt: Heard) -> Answer:
        token = str(prompt["reply_token"])
        random = token.removeprefix(_TOKEN)
        other = token.removesuffix(random) + alter(random)
        if other == token:
            raise Unplayable(f"There is no letter in the token {token} that could be written in the other case.")
        return await sender.reply(prompt.message, true=False, reply_token=other)

    return send


def _another(place: float) -> Callable[[str], str]:
    """Another character at a place of a text, from 0.0 for its first to 1.0 for its last."""

    def alter(text: str) -> str:
        at = round(place * (len(text) - 1))
        return text[:at] + ("0" if text[at : at + 1] != "0" else "1") + text[at + 1 :]

    return alter


async def _unentitled(stage: Stage, _: Reader, prompt: Heard) -> Answer:
    """CF-008: that it hears the question does not let it answer."""
    async with stage.reader(**LISTENS) as listener:
        if listener.terms.get("supports_confirmation_reply"):
            raise Unplayable("A reader that did not ask to answer was told that it may.")
        answer = await listener.reply(prompt.message, true=False)
        await stage.rest()  # until it was judged: who has left is a stranger, too
        return answer


async def _other_kind(_: Stage, sender: Reader, prompt: Heard) -> Answer:
    return await sender.respond(prompt.message, "accept", true=False)


async def _stranger(_: Stage, sender: Reader, prompt: Heard) -> Answer:
    return await sender.reply(prompt.message, true=False, subscription_id="sub_" + "0" * 32)


async def _late(_: Stage, sender: Reader, prompt: Heard) -> Answer:
    return await sender.reply(prompt.message, true=False, timestamp=_FUTURE)


async def _incomplete(_: Stage, sender: Reader, prompt: Heard) -> Answer:
    return await sender.reply(prompt.message, true=False, timestamp=None, subscription_id=None)


async def _mistyped(_: Stage, sender: Reader, prompt: Heard) -> Answer:
    return await sender.reply(prompt.message, [True], true=False)


async def _capital(_: Stage, sender: Reader, prompt: Heard) -> Answer:
    return await sender.reply(prompt.message, "ACCEPT", true=False)


async def _not_offered(_: Stage, sender: Reader, prompt: Heard) -> Answer:
    return await sender.reply(prompt.message, "approve", true=False)


async def _used(stage: Stage, sender: Reader, _: Heard) -> Answer:
    if not stage.used:
        raise Unplayable("There was no earlier question whose token could be used again.")
    return await sender.reply(stage.used[-1], true=False)


# What is wrong with a reply, the rule that a producer breaks by honouring it, and whether it is well-formed.
WRONG: Final[dict[str, tuple[str, bool, Send]]] = {
    "a token that was never issued": ("CONF-033", True, _forged),
    "a token whose first character is another": ("HITL-011", True, _altered(_another(0.0))),
    "a token with another character in its middle": ("HITL-011", True, _altered(_another(0.5))),
    "a token whose last character is another": ("HITL-011", True, _altered(_another(1.0))),
    "a token with small letters for capitals or capitals for small letters": ("HITL-011", True, _altered(str.swapcase)),
    "the token of an earlier session": ("CONF-075", True, _used),
    "the type clarification.reply": ("CLAR-020", True, _other_kind),
    "a timestamp after the deadline": ("CONF-035", True, _late),
    "a subscription_id that was never issued": ("SEC-011", False, _stranger),
    "the subscription_id of a reader that may not answer": ("SEC-011", False, _unentitled),
    "no timestamp and no subscription_id": ("CONF-032", False, _incomplete),
    "a decision that is no text": ("CONF-032", False, _mistyped),
    "a decision that was not offered": ("CONF-037", False, _not_offered),
    "the decision ACCEPT in capitals": ("CONF-037", False, _capital),
}


@scenario(2, "CONF-032 CONF-033 CONF-035 CONF-037 CONF-038 CONF-075 HITL-011 CLAR-020 SEC-011")
async def wrong_replies_do_nothing(stage: Stage) -> None:
    main, ledger = throughout(stage), stage.ledger
    run, prompt = None, None
    async with AsyncExitStack() as stack:
        sender = main if stage.posts else await stack.enter_async_context(stage.reader(**REPLIES))
        for wrong, (rule, formed, send) in WRONG.items():
            if run is None or prompt is None:
                run = await stage.begin("confirm")
                prompt = await run.prompt(main)
            if sender.ended:  # a connection that goes both ways may end with what was wrong
                sender = await stack.enter_async_context(stage.reader(**REPLIES))
            try:
                answer = await send(stage, sender, prompt)
            except Unplayable as error:
                ledger.remark(str(error))
                continue
            if formed:
                stage.answers[wrong] = answer
            if answer.status == "unsendable":
                ledger.exempt(rule, f"The transport cannot carry a reply with {wrong}.")
                continue
            await stage.rest()
            honoured = run.resolved(main, prompt)
            if honoured is None:
                ledger.show(rule, f"A reply with {wrong} changed nothing.")
                continue
            ledger.fail(rule, f"After a reply with {wrong} this came: {excerpt(honoured.raw)}", CHECK)
            await run.over(main)
            run = prompt = None
    if run is not None and prompt is not None:
        await main.reply(prompt.message, "reject")
        stage.used.append(prompt.message)
        told = await run.over(main)
        ledger.decide(
            "CONF-038",
            told is not None,
            "After all the wrong replies the right one still counted.",
            "After wrong replies the right one no longer counted.",
            "A reply that fails a check changes nothing and does not use up the token.",
        )
