"""
The coding agents that are known by name: how each is started so that it asks, and what it does not ask about.

All of this was seen with the versions named here, and any of it may change with another. What keeps a person safe
does not rest on it: what runs without having been asked about is noticed whatever the table says.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from .acp_messages import CodingAgentError

__all__ = ["AGENTS", "KnownAgent", "NotAsking", "custom_agent", "find_agent", "judge_mode"]

ModeVerdict = Literal["asks", "does not ask", "unknown"]

# What sessions call the modes in which a person is asked, and those in which the agent or a model decides.
_ASKING_MODES: Final = frozenset({"approve", "ask", "chat", "default", "manual", "plan", "read-only"})
_UNASKING_MODES: Final = frozenset(
    {
        "acceptedits",
        "agent-full-access",
        "allow-all",
        "auto",
        "autoedit",
        "auto-edit",
        "autopilot",
        "bypasspermissions",
        "dontask",
        "full-access",
        "smart_approve",
        "workspace-write",
        "yolo",
    }
)


class NotAsking(CodingAgentError):
    """The agent would act without asking, so it was not started, or was ended again."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class KnownAgent:
    """
    One agent: its command, and how it is made to ask.

    ``mode`` is set when a session begins; a session in which it cannot be set is not used. ``unasking_arguments``
    are those of its command with which it asks no more. ``sandboxed_kinds`` are kinds of tools that it runs unasked
    where they can change nothing, as in a sandbox that only reads.
    """

    name: str
    title: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = dataclasses.field(default_factory=dict)
    removed_variables: tuple[str, ...] = ()
    mode: str | None = None
    login: str | None = None  # the method of authenticate, tried if a session needs it
    unasking_arguments: frozenset[str] = frozenset()
    sandboxed_kinds: frozenset[str] = frozenset()
    package: str = ""  # where it comes from
    needs: str = ""  # before the first session
    unguarded: str = ""  # what it does without asking, whatever is set

    @property
    def is_installed(self) -> bool:
        """Whether its command can be found."""
        return shutil.which(self.command[0]) is not None

    def build_environment(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables to start it with."""
        kept = {name: value for name, value in environment.items() if name not in self.removed_variables}
        return {**kept, **self.environment}

    def find_unasking_argument(self, arguments: Sequence[str]) -> str | None:
        """Return the first argument with which the agent would not ask, None if there is none."""
        for argument in arguments:
            if argument.partition("=")[0] in self.unasking_arguments:
                return argument
        return None


AGENTS: Final[Mapping[str, KnownAgent]] = {
    agent.name: agent
    for agent in (
        KnownAgent(  # claude-agent-acp 0.99.1
            name="claude",
            title="Claude Code",
            command=("claude-agent-acp",),
            mode="default",
            package="npm install -g @agentclientprotocol/claude-agent-acp",
            needs="Node 22 or newer, and a login: run claude once, or set ANTHROPIC_API_KEY.",
            unguarded="What its own settings allow, it does without asking: see permissions.allow there.",
        ),
        KnownAgent(  # codex-acp 2.6.0; its default mode lets a model decide
            name="codex",
            title="Codex",
            command=("codex-acp",),
            environment={"INITIAL_AGENT_MODE": "read-only"},
            mode="read-only",
            sandboxed_kinds=frozenset({"execute"}),
            package="npm install -g @agentclientprotocol/codex-acp",
            needs="Node 20 or newer, and a login: run codex login once, or set OPENAI_API_KEY.",
            unguarded="Commands that only read run unasked in its sandbox. A refusal ends its turn.",
        ),
        KnownAgent(  # gemini-cli 0.61.0
            name="gemini",
            title="Gemini CLI",
            command=("gemini", "--acp"),
            mode="default",
            login="gemini-api-key",
            unasking_arguments=frozenset({"--yolo", "-y", "--approval-mode", "--allowed-tools"}),
            package="npm install -g @google/gemini-cli",
            needs="Node 20 or newer, and GEMINI_API_KEY or a login: run gemini once.",
            unguarded="It does not send what a tool is called with. What is asked is its own wording.",
        ),
        KnownAgent(  # opencode 1.18.33; by default it asks nothing, and the variable beats the project's settings
            name="opencode",
            title="opencode",
            command=("opencode", "acp"),
            environment={
                "OPENCODE_PERMISSION": '{"bash":"ask","edit":"ask","webfetch":"ask","external_directory":"ask"}'
            },
            package="npm install -g opencode-ai",
            needs="A login: run opencode auth login once.",
            unguarded="Tools of MCP servers run unasked, unless its own settings say otherwise.",
        ),
        KnownAgent(  # copilot 1.0.102
            name="copilot",
            title="GitHub Copilot CLI",
            command=("copilot", "--acp"),
            removed_variables=("COPILOT_ALLOW_ALL",),
            mode="https://agentclientprotocol.com/protocol/session-modes#agent",
            unasking_arguments=frozenset(
                {"--allow-all", "--allow-all-tools", "--allow-all-paths", "--allow-tool", "--yolo"}
            ),
            package="npm install -g @github/copilot",
            needs="A login: run copilot once.",
            unguarded="Its command /allow-all switches the questions off; what then runs is told and stops the turn.",
        ),
        KnownAgent(  # goose 1.34.0; by default it asks nothing
            name="goose",
            title="goose",
            command=("goose", "acp", "--with-builtin", "developer"),
            environment={"GOOSE_MODE": "approve"},
            mode="approve",
            package="https://block.github.io/goose",
            needs="A model: run goose configure once.",
            unguarded="Nothing that is known.",
        ),
    )
}


def find_agent(name: str) -> KnownAgent:
    """Return the agent of that name, or raise with the names that there are."""
    try:
        return AGENTS[name]
    except KeyError:
        names = ", ".join(AGENTS)
        raise CodingAgentError(f"{name} is none of the agents that are known: {names}. Use --command.") from None


def judge_mode(mode: str) -> ModeVerdict:
    """Say whether an agent asks in a mode of that name."""
    name = mode.rpartition("#")[2].casefold()
    if name in _UNASKING_MODES:
        return "does not ask"
    return "asks" if name in _ASKING_MODES else "unknown"


def custom_agent(command: Sequence[str]) -> KnownAgent:
    """Return an agent that is known by its command only."""
    name = os.path.basename(command[0]) or "agent"
    return KnownAgent(name=name, title=name, command=tuple(command))
