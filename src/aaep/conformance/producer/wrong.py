"""A scenario about replies that do not count: each is wrong in one thing, and changes nothing. §6.3.4"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Final

from ..judge import excerpt
from ..scenario import scenario
from .harness import LISTENS, REPLIES, Answer, Heard, Reader, Stage, Unplayable
from .scenarios_consent import CHECK, throughout

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
