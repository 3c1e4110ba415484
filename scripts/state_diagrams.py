"""Writes docs/state-machines.md from the tables of protocol/states.py. ``--check`` exits 1 when the file is stale."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from aaep.protocol import states
from aaep.protocol.catalogue import find_rule
from aaep.protocol.events import CORE_EVENTS, Envelope

try:
    from ._page import run
except ImportError:  # run as a script, not as part of the package
    from _page import run  # type: ignore[import-not-found, no-redef]  # the same

PAGE: Final = Path(__file__).parent.parent / "docs" / "state-machines.md"

Table = Mapping[tuple[str, str], str]
MACHINES: Final[tuple[tuple[str, Table, str, str], ...]] = (  # title, table, first state, paragraph
    (
        "A session",
        states.LIFECYCLE_TRANSITIONS,
        "none",
        "One session, from its first event to its last. `started` is agent.session.started, `terminal` is completed, "
        "errored or cancelled, and `other` is every other event.",
    ),
    (
        "A call of a tool",
        states.CALL_TRANSITIONS,
        "new",
        "One call, from agent.tool.invoked to agent.tool.completed. Calls are told apart by tool_call_id, and without "
        "one by agent and tool, oldest first.",
    ),
    (
        "An output",
        states.OUTPUT_TRANSITIONS,
        "new",
        "One output, chunk by chunk. `chunk` is an agent.output.streaming with complete false, `last` one with "
        "complete true.",
    ),
    (
        "A prompt",
        states.PROMPT_TRANSITIONS,
        "pending",
        "One confirmation or clarification, from the moment it is asked. The first thing that happens decides. Nothing "
        "leads out of an outcome: whatever comes later is ignored and breaks no rule of its own. `end` is the end of "
        "the session.",
    ),
    (
        "A subscription",
        states.HANDSHAKE_TRANSITIONS,
        "bare",
        "One subscription, from its handshake to its end. `event` is any event the producer sends on it. Without a "
        "handshake a subscription stays bare, which is how Level 1 works. A request, renegotiation or closing that "
        "is not in the table changes nothing.",
    ),
)


def _rows(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def _machine(title: str, table: Table, first: str, paragraph: str) -> Iterator[str]:
    yield from (f"## {title}", "", paragraph, "", f"It begins as `{first}`.", "")
    yield from _rows(("From", "Input", "To"), [(old, move, new) for (old, move), new in table.items()])
    known = {first, *table.values(), *(old for old, _ in table)}
    moves = {move for _, move in table}
    forbidden = [
        (old, move, id_, find_rule(id_).statement)
        for (old, move), id_ in states.BREACHED_RULES.items()
        if old in known and move in moves
    ]
    yield ""
    if forbidden:
        yield from ("What is forbidden, and the rule it breaks:", "")
        yield from _rows(("From", "Input", "Rule", "The rule says"), forbidden)
    else:
        yield "Nothing else has any effect, and nothing is forbidden."
    yield from ("", "The same as a drawing:", "", "```mermaid", "stateDiagram-v2", f"    [*] --> {first}")
    for (old, move), new in table.items():
        yield f"    {old} --> {new}: {move}"
    for state in sorted(known - {old for old, _ in table}):
        yield f"    {state} --> [*]"
    yield from ("```", "")


def _implied() -> Iterator[str]:
    yield from ("## States that events imply", "")
    yield "An agent.state.changed may leave the state that the last one entered, or a state that an event of the same"
    yield "agent since then implies. An output implies its state only while it is not complete."
    yield ""
    rows = [(_name(event), state) for event, state in states.IMPLIED_STATES.items()]
    yield from _rows(("Event", "Implied state"), rows)
    yield ""


def _name(event: type[Envelope]) -> str:
    return next(type_ for type_, known in CORE_EVENTS.items() if known is event).removeprefix("aaep:")


def _after() -> Iterator[str]:
    yield from ("## What may follow a prompt", "")
    work = [_name(event) for event in states.WORK_EVENTS]
    yield "When a prompt has ended, the next event of its agent should be an agent.state.changed that says so, or the"
    yield "end of the session. A tool.completed of an earlier call may come in between. Any other event breaks these"
    yield "rules. Further work means: " + ", ".join(work[:-1]) + f" or {work[-1]}."
    yield ""
    rows = []
    for (kind, granted), rules in states.FOLLOW_UP_RULES.items():
        if kind == "clarification" and not granted:
            continue  # the same rules, however the question ended
        ended = ("accepted" if granted else "not accepted") if kind == "confirmation" else "ended in any way"
        rows.append(
            (f"{kind}, {ended}", *(f"{id_}: {find_rule(id_).statement}" if id_ else "allowed" for id_ in rules))
        )
    yield from _rows(("Prompt", "Further work", "Anything else"), rows)
    yield ""


def page() -> str:
    """The whole page."""
    lines = ["# State machines", ""]
    lines += [
        "What may come next, drawn from the tables in `src/aaep/protocol/states.py` by `scripts/state_diagrams.py`."
    ]
    lines += ["Do not edit this file. Rule ids are explained in [rules.md](rules.md).", ""]
    for machine in MACHINES:
        lines += _machine(*machine)
    return "\n".join([*lines, *_implied(), *_after()]).rstrip() + "\n"


def main(arguments: list[str] | None = None) -> int:
    return run(page, PAGE, "state_diagrams.py", __doc__, arguments)


if __name__ == "__main__":
    sys.exit(main())
