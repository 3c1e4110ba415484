"""
The rules of a session, said a second time.

Deliberately naive: whole histories are kept and searched, nothing is a table,
and nothing here is shared with ``aaep.protocol.session``. Written from the catalogue
and the readings, so that two statements of the same rules can be compared.
Only what is graded as an error is said here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

TERMINAL = ("completed", "errored", "cancelled")
RISKS = ("low", "medium", "high")
WORK = ("invoked", "progress", "confirm", "clarify")
IMPLIES = {
    "invoked": "calling_tool",
    "confirm": "awaiting_input",
    "clarify": "awaiting_input",
    "handoff": "handing_off",
}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One thing that happens. ``kind`` is an event, or ``reply`` or ``answer``, which come from the person."""

    kind: str
    agent: str = "one"
    wait: int = 1  # seconds since the step before
    old: str = ""  # the state a state.changed leaves
    new: str = ""  # and the one it enters
    tool: str = "check"
    call: str = ""  # tool_call_id, or the call a confirmation names
    about: str = ""  # the tool a confirmation names
    risk: str = "low"  # of a call, or as a confirmation tells it
    irreversible: bool = False
    output: str = ""
    position: int = 0
    text: str = ""
    complete: bool = False
    token: str = ""
    action: str = "Act."
    timeout: int = 60
    default: str = "reject"
    decision: str = "accept"
    told: str = ""  # on a state.changed: what became of the prompt with the token, as the agent tells it


@dataclass(kw_only=True)
class Prompt:
    """A question, as it was asked, and its outcome."""

    step: Step
    deadline: int
    outcome: str = "pending"
    by_silence: bool = False
    used: bool = False
    followed: bool = False  # names no call, and some call came after the yes
    told: bool = False  # the agent has said what became of it

    @property
    def open(self) -> bool:
        return self.outcome == "pending"


@dataclass(kw_only=True)
class Called:
    """A call of a tool."""

    agent: str
    tool: str
    id: str
    open: bool = True


@dataclass
class Model:
    """
    One session. ``take`` returns the rules a step breaks; ``finish`` those that show at the end.

    With ``others`` there may be replies that the steps do not hold.
    """

    others: bool = False
    now: int = 0
    history: list[Step] = field(default_factory=list)  # the events so far
    prompts: list[Prompt] = field(default_factory=list)
    calls: list[Called] = field(default_factory=list)
    # HITL-019, CLAR-021: what an agent has to follow up, by the token of the prompt
    awaited: dict[str, dict[str, str]] = field(default_factory=dict)
    restarted: bool = False

    @property
    def ended(self) -> bool:
        return any(step.kind in TERMINAL for step in self.history)

    def copy(self) -> Model:
        """Another like it, for trying a step out."""
        return Model(
            self.others,
            self.now,
            [*self.history],
            [replace(prompt) for prompt in self.prompts],
            [replace(call) for call in self.calls],
            {agent: {**rules} for agent, rules in self.awaited.items()},
            self.restarted,
        )

    def take(self, step: Step) -> list[str]:
        self.now += step.wait
        if not self.ended:
            self._clock()
        if step.kind in ("reply", "answer"):
            self._decide(step)
            return []
        broken = self._event(step)
        self.history.append(step)
        return broken

    def finish(self) -> list[str]:
        """SEQ-003: a whole recording shows the end."""
        return ["SEQ-003"] if self.history and not self.ended else []

    def _clock(self) -> None:
        """HITL-018, HITL-019: silence until the deadline is the default decision."""
        for prompt in self.prompts:
            if prompt.open and prompt.deadline <= self.now:
                prompt.by_silence = True
                if prompt.step.kind == "clarify":
                    prompt.outcome = "unanswered"
                    self._await(prompt, "CLAR-021")
                elif prompt.step.default == "accept":
                    prompt.outcome = "accepted"
                else:
                    prompt.outcome = "rejected"
                    self._await(prompt, "HITL-019")

    def _await(self, prompt: Prompt, rule: str) -> None:
        self.awaited.setdefault(prompt.step.agent, {})[prompt.step.token] = rule

    def _decide(self, step: Step) -> None:
        kind = "confirm" if step.kind == "reply" else "clarify"
        for prompt in self.prompts:
            if prompt.step.token == step.token and prompt.step.kind == kind and prompt.open:
                if step.kind == "answer":
                    prompt.outcome = "answered"
                    self._await(prompt, "CLAR-021")
                elif step.decision == "accept":
                    prompt.outcome = "accepted"
                else:
                    prompt.outcome = "rejected"
                    self._await(prompt, "HITL-019")

    def _event(self, step: Step) -> list[str]:
        if self.ended:
            return self._after_the_end(step)
        broken = []
        if (not self.history) is not (step.kind == "started"):
            broken.append("SEQ-001")
        if step.kind == "state":
            broken += self._state(step)
        elif step.kind == "invoked":
            broken += self._invoked(step)
        elif step.kind == "returned":
            broken += self._returned(step)
        elif step.kind == "chunk":
            broken += self._chunk(step)
        elif step.kind in ("confirm", "clarify"):
            broken += self._ask(step)
        elif step.kind in TERMINAL:
            broken += self._end(step)
        if step.kind in WORK:
            owed = {*self.awaited.get(step.agent, {}).values()}
            broken += [rule for rule in owed if rule != "HITL-019" or "HITL-020" not in broken]
        if step.kind != "returned":  # the end of an earlier call says nothing about the prompt
            self.awaited.pop(step.agent, None)
        return broken

    def _after_the_end(self, step: Step) -> list[str]:
        """SEQ-003, SEQ-004, ENV-019"""
        if self.restarted:
            return []
        if step.kind == "started":
            self.restarted = True
            return ["ENV-019"]
        return ["SEQ-003"] if step.kind in TERMINAL else ["SEQ-004"]

    def _state(self, step: Step) -> list[str]:
        broken = []
        mine = [past for past in self.history if past.agent == step.agent]
        changes = [index for index, past in enumerate(mine) if past.kind == "state"]
        if not changes:
            if step.old != "idle":
                broken.append("STATE-001")
        else:
            allowed = {mine[changes[-1]].new}
            for past in mine[changes[-1] :]:
                if past.kind in IMPLIES:
                    allowed.add(IMPLIES[past.kind])
                if past.kind == "chunk" and not past.complete:
                    allowed.add("writing_output")
            if step.old not in allowed:
                broken.append("STATE-002")
        leaves = step.old != step.new
        busy = any(call.open and call.agent == step.agent for call in self.calls)
        if leaves and step.old == "calling_tool" and step.new != "awaiting_input" and busy:
            broken.append("TOOL-007")
        if step.told:
            self._tell(step)
        elif leaves and step.old == "awaiting_input":
            for prompt in self.prompts:
                if prompt.open and prompt.step.agent == step.agent:
                    prompt.outcome = "withdrawn"
                    if prompt.step.kind == "confirm" and step.new not in ("thinking", "deciding"):
                        broken.append("CONF-071")
        return broken

    def _tell(self, step: Step) -> None:
        """CF-025. CONF-041: the first of several replies decided, and only the agent knows which one that was."""
        for prompt in self.prompts:
            if prompt.step.token != step.token:
                continue
            silent = {"accept": "accepted", "reject": "rejected"}[prompt.step.default]
            if prompt.step.kind == "clarify":
                silent = "unanswered"
            new = silent if step.told == "timed_out" else step.told
            going = ("accepted", "answered")  # the agent may go on with what it asked about
            ended = prompt.outcome not in ("pending", "withdrawn")
            doubtful = self.others and ended and not prompt.told and not prompt.used
            if prompt.open or (doubtful and (new in going) != (prompt.outcome in going)):
                prompt.outcome, prompt.by_silence = new, step.told == "timed_out"
                self.awaited.get(prompt.step.agent, {}).pop(step.token, None)
                if prompt.step.agent != step.agent and new != "withdrawn":  # whoever asked has not said anything yet
                    if prompt.step.kind == "clarify":
                        self._await(prompt, "CLAR-021")
                    elif new == "rejected":
                        self._await(prompt, "HITL-019")
            prompt.told = True

    def _invoked(self, step: Step) -> list[str]:
        broken = []
        if step.call and any(call.id == step.call for call in self.calls):
            broken.append("TOOL-004")
        self.calls.append(Called(agent=step.agent, tool=step.tool, id=step.call))
        broken += self._consent(step)
        for prompt in self.prompts:
            if prompt.outcome == "accepted" and not prompt.step.call and prompt.step.about in ("", step.tool):
                prompt.followed = True
        return broken

    def _consent(self, step: Step) -> list[str]:
        asked = [prompt for prompt in self.prompts if prompt.step.kind == "confirm"]
        linked = [prompt for prompt in asked if step.call and prompt.step.call == step.call]
        grave = step.irreversible or step.risk == "high"
        unasked = "TOOL-002" if step.irreversible else "HITL-002"
        loose = [
            prompt
            for prompt in asked
            if not prompt.step.call and not prompt.used and prompt.step.about in ("", step.tool)
        ]
        if linked:
            prompt = linked[-1]  # what the person said last
        elif grave and loose:
            yes = [prompt for prompt in loose if prompt.outcome == "accepted"]
            yes = [prompt for prompt in yes if prompt.step.about] + [prompt for prompt in yes if not prompt.step.about]
            good = [prompt for prompt in yes if not self._misfit(prompt, step)]
            prompt = [*good, *yes, loose[-1]][0]
        elif self._refused_before(asked, step):
            return ["HITL-020"]
        else:
            return [unasked] if grave else []
        if prompt.open:
            return ["CONF-006"]
        if prompt.outcome != "accepted":
            return ["HITL-020"]
        broken = self._misfit(prompt, step) if grave else []
        prompt.used = True
        return broken

    def _misfit(self, prompt: Prompt, step: Step) -> list[str]:
        """C-38, C-39, C-41: what the person agreed to, beside what is called now."""
        told = prompt.step
        unasked = "TOOL-002" if step.irreversible else "HITL-002"
        if prompt.used or prompt.by_silence or (told.about and told.about != step.tool):
            return [unasked]
        if step.irreversible and told.default == "accept":
            return ["TOOL-003"]
        final = step.irreversible and not told.irreversible
        riskier = RISKS.index(step.risk) > RISKS.index(told.risk)
        return [unasked] if final or riskier else []

    def _refused_before(self, asked: list[Prompt], step: Step) -> bool:
        """HITL-020: the last answer about this tool was no, and nothing says that this is a lesser thing."""
        mine = [prompt for prompt in asked if prompt.step.about == step.tool]
        if not mine or mine[-1].outcome != "rejected":
            return False
        told = mine[-1].step
        safer = RISKS.index(step.risk) < RISKS.index(told.risk)
        return not (safer or (told.irreversible and not step.irreversible))

    def _returned(self, step: Step) -> list[str]:
        if step.call:
            named = [call for call in self.calls if call.id == step.call]
            for call in named:
                if call.open:
                    call.open = False
                    return [] if call.tool == step.tool else ["TOOL-006"]
            return ["TOOL-012"] if named else ["TOOL-010"]
        mine = [call for call in self.calls if (call.agent, call.tool) == (step.agent, step.tool)]
        for call in mine:  # first come, first served among calls without an id
            if call.open and not call.id:
                call.open = False
                return []
        for call in mine:
            if call.open:
                call.open = False
                return ["TOOL-004"]
        return ["TOOL-010"]

    def _chunk(self, step: Step) -> list[str]:
        before = [
            past
            for past in self.history
            if past.kind == "chunk"
            and past.output == step.output
            and past.agent == step.agent  # C-47: an output is an agent's own, whatever its id
        ]
        if any(past.complete for past in before):
            return ["OUT-005"]
        return ["OUT-002"] if before and step.position < before[-1].position else []

    def _ask(self, step: Step) -> list[str]:
        broken = []
        if step.kind == "confirm":
            for prompt in self.prompts:
                same = prompt.step.action == step.action or (step.call and prompt.step.call == step.call)
                if prompt.open and prompt.step.kind == "confirm" and same:
                    broken = ["CONF-007"]
        if any(prompt.step.token == step.token for prompt in self.prompts):
            return [*broken, "CONF-012"]  # what it asks, no reply can answer
        self.prompts.append(Prompt(step=step, deadline=self.now + step.timeout))
        return broken

    def _end(self, step: Step) -> list[str]:
        broken = ["TOOL-008" for call in self.calls if call.open]
        outputs: dict[tuple[str, str], bool] = {}
        for past in self.history:
            if past.kind == "chunk":
                key = (past.output, past.agent)
                outputs[key] = outputs.get(key, False) or past.complete
        broken += ["OUT-003" for complete in outputs.values() if not complete]
        for prompt in self.prompts:
            accepted = (
                prompt.step.kind == "confirm" and prompt.outcome == "accepted" and not (prompt.used or prompt.followed)
            )
            if accepted and step.kind == "completed":
                broken.append("HITL-018")
            if prompt.open:
                prompt.outcome = "withdrawn"
        return broken
