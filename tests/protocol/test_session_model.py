"""``aaep.protocol.session`` and the naive model of tests/model.py must find the same errors in any trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st

from aaep.errors import Violation
from aaep.protocol import codec
from aaep.protocol.catalogue import grade
from aaep.protocol.events import Envelope
from aaep.protocol.messages import ClarificationReply, ConfirmationReply
from aaep.protocol.session import SessionState
from tests import vectors
from tests.model import Model, Step

NAMES = {
    "started": "agent.session.started",
    "completed": "agent.session.completed",
    "errored": "agent.session.errored",
    "cancelled": "agent.session.cancelled",
    "state": "agent.state.changed",
    "progress": "agent.progress.updated",
    "invoked": "agent.tool.invoked",
    "returned": "agent.tool.completed",
    "chunk": "agent.output.streaming",
    "confirm": "agent.awaiting.confirmation",
    "clarify": "agent.awaiting.clarification",
    "handoff": "agent.handoff.requested",
    "reply": "confirmation.reply",
    "answer": "clarification.reply",
}
STATES = ("idle", "thinking", "deciding", "calling_tool", "writing_output", "awaiting_input")
CALLS = ("", "call_a", "call_b")
STAKES = (("low", False), ("low", False), ("medium", False), ("high", False), ("low", True), ("high", True))


def rendered(step: Step, number: int, now: int) -> bytes:
    """A step as the bytes of a message."""
    stamp = vectors.moment(now).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    changes: dict[str, Any] = {"/timestamp": stamp}
    remove: list[str] = []
    if step.kind not in ("reply", "answer"):
        changes |= {"/event_id": f"evt_{number:032d}", "/producer/agent_id": step.agent}
    if step.kind == "state":
        changes |= {"/from_state": step.old, "/to_state": step.new}
        if step.told:
            changes["/extensions"] = {"attend": {"reply_token": step.token, "outcome": step.told}}
    elif step.kind in ("invoked", "returned"):
        changes["/tool"] = step.tool
        if step.call:
            changes["/tool_call_id"] = step.call
        else:
            remove.append("/tool_call_id")
        if step.kind == "invoked":
            changes |= {"/risk_level": step.risk, "/irreversible": step.irreversible}
    elif step.kind == "chunk":
        changes |= {"/position": step.position, "/chunk": step.text, "/complete": step.complete}
        if step.output:
            changes["/output_id"] = step.output
        else:
            remove.append("/output_id")
    elif step.kind in ("confirm", "clarify"):
        changes |= {"/reply_token": step.token, "/timeout_seconds": step.timeout}
        if step.kind == "confirm":
            changes |= {"/action": step.action, "/default_decision": step.default}
            named = {"tool": step.about, "tool_call_id": step.call}
            changes["/extra_context"] = {name: value for name, value in named.items() if value}
            changes |= {"/risk_level": step.risk, "/irreversible": step.irreversible}
            changes["/reversibility"] = "irreversible" if step.irreversible else "reversible"
        else:
            changes["/accepted_response_kinds"] = ["freetext"]
    elif step.kind == "reply":
        changes |= {"/reply_token": step.token, "/decision": step.decision}
    elif step.kind == "answer":
        changes |= {"/reply_token": step.token, "/response": "Yes."}
    base = vectors.BASES[NAMES[step.kind]]
    remove = [pointer for pointer in remove if pointer[1:] in base]
    return vectors.message({"base": NAMES[step.kind], "remove": remove, "set": changes})


def errors(found: list[Violation]) -> list[str]:
    return [violation.rule for violation in found if grade(violation) == "error"]


def judged(steps: list[Step], *, others: bool = False) -> list[tuple[int, str]]:
    """The errors that a Session finds."""
    session, now = SessionState(vectors.BASES[NAMES["started"]]["session_id"], others=others), 0
    start = vectors.START.timestamp()
    found = []
    for number, step in enumerate(steps):
        now += step.wait
        message = codec.decode(rendered(step, number, now))
        if isinstance(message, Envelope):
            found += [(number, rule) for rule in errors(session.feed(message, start + now))]
        else:
            assert isinstance(message, (ConfirmationReply, ClarificationReply))
            session.reply(message, start + now, vectors.VIA)
    return found + [(len(steps), rule) for rule in errors(session.finish())]


def modelled(steps: list[Step], *, others: bool = False) -> list[tuple[int, str]]:
    """The errors that the model finds."""
    model = Model(others)
    found = [(number, rule) for number, step in enumerate(steps) for rule in model.take(step)]
    return found + [(len(steps), rule) for rule in model.finish()]


def token(number: int) -> str:
    return f"rpl_{number:032d}"


@st.composite
def candidates(draw: st.DrawFn, model: Model) -> Step:
    """Anything that could come next, sound or not."""
    number = len(model.prompts)
    issued = token(draw(st.sampled_from((number, number, number, number, max(0, number - 1)))))
    kinds = "state state state invoked invoked returned returned chunk chunk confirm confirm clarify handoff progress"
    kind = draw(st.sampled_from([*kinds.split(), "started", "ending", *["reply"] * 3 * bool(number)]))
    agent = draw(st.sampled_from(("one", "one", "one", "two")))
    wait = draw(st.sampled_from((1, 1, 1, 1, 20)))
    if kind == "ending":
        kind = draw(st.sampled_from(("completed", "completed", "errored", "cancelled")))
    if kind == "reply":
        asked = draw(st.sampled_from(model.prompts)).step
        if asked.kind == "clarify":
            return Step(kind="answer", token=asked.token, wait=wait)
        decision = draw(st.sampled_from(("accept", "reject")))
        return Step(kind="reply", token=asked.token, decision=decision, wait=wait)
    if kind == "state":
        mine = [step.new for step in model.history if step.kind == "state" and step.agent == agent]
        usual = mine[-1] if mine else "idle"
        old = draw(st.sampled_from((usual, usual, *STATES)))
        step = Step(kind=kind, agent=agent, wait=wait, old=old, new=draw(st.sampled_from(STATES)))
        if number and draw(st.integers(0, 3)) == 0:
            asked = draw(st.sampled_from(model.prompts)).step
            ways = ("answered",) if asked.kind == "clarify" else ("accepted", "rejected")
            told = draw(st.sampled_from((*ways, "timed_out", "withdrawn")))
            return replace(step, token=asked.token, told=told)
        return step
    if kind in ("invoked", "returned"):
        risk, irreversible = draw(st.sampled_from(STAKES))
        return Step(
            kind=kind,
            agent=agent,
            wait=wait,
            tool=draw(st.sampled_from(("check", "send"))),
            call=draw(st.sampled_from(CALLS)),
            risk=risk if kind == "invoked" else "low",
            irreversible=irreversible and kind == "invoked",
        )
    if kind == "chunk":
        return Step(
            kind=kind,
            agent=agent,
            wait=wait,
            output=draw(st.sampled_from(("", "out_1"))),
            position=draw(st.sampled_from((0, 5, 10, 3))),
            text=draw(st.sampled_from(("Five.", ""))),
            complete=draw(st.booleans()),
        )
    if kind == "confirm":
        risk, irreversible = draw(st.sampled_from((*STAKES, ("high", True), ("high", True))))
        return Step(
            kind=kind,
            agent=agent,
            wait=wait,
            token=issued,
            call=draw(st.sampled_from(CALLS)),
            about=draw(st.sampled_from(("", "check", "send"))),
            risk=risk,
            irreversible=irreversible,
            action=draw(st.sampled_from(("Send it.", "Delete it."))),
            timeout=draw(st.sampled_from((60, 60, 10))),
            default=draw(st.sampled_from(("reject", "reject", "accept"))),
        )
    if kind == "clarify":
        timeout = draw(st.sampled_from((60, 10)))
        return Step(kind=kind, agent=agent, wait=wait, token=issued, timeout=timeout)
    return Step(kind=kind, agent=agent, wait=wait)


@st.composite
def traces(draw: st.DrawFn, *, others: bool = False) -> list[Step]:
    """Mostly sound steps, with unsound ones among them."""
    model = Model(others)
    sound = draw(st.sampled_from((100, 95, 80, 50)))
    steps = [] if draw(st.integers(0, 20)) == 20 else [Step(kind="started")]
    for step in steps:
        model.take(step)
    for _ in range(draw(st.integers(1, 25))):
        wanted = draw(st.integers(1, 100)) <= sound
        for _try in range(8):
            step = draw(candidates(model))
            if not wanted:
                break
            if step.kind in ("completed", "errored", "cancelled") and draw(st.integers(0, 3)):
                continue  # or most traces would be short
            if not model.copy().take(step):
                break
        else:
            continue
        model.take(step)
        steps.append(step)
    if draw(st.booleans()) and not model.ended:
        steps.append(Step(kind="completed"))
    return steps


@settings(max_examples=600)
@given(traces())
def test_session_and_model_find_the_same_errors(steps: list[Step]) -> None:
    expected = modelled(steps)
    event("sound" if not expected else "one error" if len(expected) == 1 else "several errors")
    assert Counter(judged(steps)) == Counter(expected)


@settings(max_examples=600)
@given(traces(others=True))
def test_they_do_where_others_may_have_answered_too(steps: list[Step]) -> None:
    expected = modelled(steps, others=True)
    event("the same if nobody had" if modelled(steps) == expected else "another if nobody had")
    assert Counter(judged(steps, others=True)) == Counter(expected)


def example(*steps: Step) -> list[Step]:
    return [Step(kind="started"), *steps, Step(kind="completed")]


ASKED = Step(kind="confirm", token=token(0), call="call_a", action="Send it.", risk="high", irreversible=True)
SENT = Step(kind="invoked", tool="send", call="call_a", irreversible=True)
BACK = Step(kind="returned", tool="send", call="call_a")
THINKING: Callable[[str], Step] = lambda old: Step(kind="state", old=old, new="thinking")  # noqa: E731  # one of several like it


def test_the_model_knows_a_sound_session() -> None:
    """The model is not the kind that finds fault with everything, or with nothing."""
    steps = example(THINKING("idle"), ASKED, Step(kind="reply", token=token(0)), THINKING("awaiting_input"), SENT, BACK)
    assert modelled(steps) == judged(steps) == []
    steps = example(THINKING("idle"), SENT, BACK)
    assert modelled(steps) == judged(steps) == [(2, "TOOL-002")]


def test_of_several_running_calls_with_one_id_the_oldest_is_meant() -> None:
    """Also where the first of them is over."""
    check, send = (Step(kind="invoked", tool=tool, call="call_a") for tool in ("check", "send"))
    over = Step(kind="returned", tool="check", call="call_a")
    steps = example(check, send, replace(over, call=""), check, over)
    assert modelled(steps) == judged(steps)
    assert (5, "TOOL-006") in judged(steps)


def test_what_another_agent_tells_of_a_prompt_is_nothing_to_follow_up() -> None:
    """A prompt that was withdrawn ended without an answer, whatever it seemed before."""
    asked = replace(ASKED, agent="two")
    told = Step(kind="state", old="idle", new="thinking", token=token(0), told="withdrawn")
    steps = example(asked, Step(kind="reply", token=token(0)), told, Step(kind="progress", agent="two"))
    assert modelled(steps, others=True) == judged(steps, others=True) == []
