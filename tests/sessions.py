"""Legal sessions as a producer would send them, for tests of what lies behind it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from tests import vectors

ATTEND = "https://aaep.readthedocs.io/extensions/attend/v1/context"
CORE = "https://aaep-protocol.org/context/v1"


def event(name: str, number: int = 0, **members: Any) -> bytes:
    """An event of a kind, with its own id and time, and some members set. None takes a member away."""
    base = f"agent.{name}"
    changes = {f"/{member}": value for member, value in members.items() if value is not None}
    remove = [f"/{member}" for member, value in members.items() if value is None and member in vectors.BASES[base]]
    return vectors.message({"base": base, "set": changes, "remove": remove}, number)


def outcome(number: int, token: str, how: str, **members: Any) -> bytes:
    """The state.changed that says how a prompt ended."""
    ours = {"attend": {"reply_token": token, "outcome": how}}
    members = {"from_state": "awaiting_input", "to_state": "thinking", "urgency": "critical"} | members
    return event("state.changed", number, **members, **{"@context": [CORE, ATTEND]}, extensions=ours)


def resync(number: int, state: str, **members: Any) -> bytes:
    """The state.changed that catches a reader up."""
    ours = {"attend": {"resync": True}}
    return event(
        "state.changed",
        number,
        from_state=state,
        to_state=state,
        **{"@context": [CORE, ATTEND]},
        extensions=ours,
        **members,
    )


def token(number: int) -> str:
    return f"rpl_{number:032d}"


@st.composite
def legal(draw: st.DrawFn, session: str = "sess_1") -> list[bytes]:
    """One whole session: states, progress, calls, outputs in pieces, prompts and their outcomes."""
    made: list[bytes] = []
    state = "idle"

    def add(name: str, **members: Any) -> None:
        made.append(event(name, len(made), session_id=session, **members))

    def go(to: str) -> None:
        nonlocal state
        if to != state:
            add("state.changed", from_state=state, to_state=to)
            state = to

    add("session.started")
    for _ in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["state", "progress", "call", "output", "prompt"]))
        here = len(made)
        if kind == "state":
            go(draw(st.sampled_from(["thinking", "deciding"])))
        elif kind == "progress":
            add("progress.updated")
        elif kind == "call":
            go("calling_tool")
            call = {"tool": "check", "tool_call_id": f"call_{here}"}
            add("tool.invoked", **call, risk_level="low", irreversible=False)
            add("tool.completed", **call)
            go("thinking")
        elif kind == "prompt":
            go("awaiting_input")
            add("awaiting.confirmation", reply_token=token(here), extra_context={})
            made.append(outcome(len(made), token(here), "rejected", session_id=session))
            state = "thinking"
        else:
            go("writing_output")
            text = draw(st.text("abc é😀.\n", min_size=1, max_size=30))
            cuts = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=4))})
            for start, end in pairwise(cuts):
                last = end == len(text)
                hint = "completion" if last else "none"
                piece = {"chunk": text[start:end], "position": start, "complete": last, "coalesce_hint": hint}
                add("output.streaming", output_id=f"out_{here}", **piece)
            go("thinking")
    add("session.completed")
    return made
