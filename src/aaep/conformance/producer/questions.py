"""A scenario about questions: what answers one, and what does not. §6.5"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from ..judge import excerpt
from ..scenario import scenario
from .harness import Answer, Stage
from .scenarios_consent import CHECK, throughout


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
