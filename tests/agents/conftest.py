"""Real agent CLIs against a scripted model. `make test` drives the two quick ones, `make test-agents` all of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from buildloop.agents.contract import AgentCall
from buildloop.agents.registry import cli_agent
from buildloop.models import AgentReply
from tests.support.agent_clis import programs_of, why_not
from tests.support.calls import agent_call
from tests.support.model import ScriptedModel
from tests.support.repos import GREEN, make_repo

QUICK, ALL = ("claude", "codex"), ("claude", "codex", "gemini", "opencode", "aider")
DRIVEN = ALL if os.environ.get("ALL_AGENTS") else QUICK
only_with_all = pytest.mark.skipif(DRIVEN is QUICK, reason="a longer look: make test-agents")
MODELS = {
    "claude": "claude-sonnet-4-5",
    "codex": "gpt-5",
    "gemini": "gemini-2.5-pro",
    "opencode": "scripted/m1",
    "aider": "openai/gpt-4o",
}
BUG = {"calc.py": "def add(a, b):\n    return a - b\n"}
READ = {"say": "Reading.", "do": [{"read": "calc.py"}]}
FIX = {"say": "Fixing.", "do": [{"edit": ["calc.py", "    return a - b\n", "    return a + b\n"]}]}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cli_name" in metafunc.fixturenames:
        metafunc.parametrize("cli_name", DRIVEN)


def variables_for(name: str, url: str, home: Path) -> dict[str, str]:
    """How each CLI is sent to the scripted model, the way a user would send it to a gateway."""
    if name == "opencode":
        model = {
            "limit": {"context": 128_000, "output": 8000},
            "cost": {"input": 1, "output": 2, "cache_read": 0.1},
        }
        options = {"baseURL": f"{url}/v1", "apiKey": "dummy-key"}
        provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"m1": model}}
        folder = home / ".config" / "opencode"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "opencode.json").write_text(json.dumps({"provider": {"scripted": provider}}))
    return {
        "claude": {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "dummy-key"},
        "codex": {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "dummy-key"},
        "gemini": {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "dummy-key"},
        "opencode": {},
        "aider": {"OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": "dummy-key"},
    }[name]


@dataclass
class Driver:
    """One CLI in one sample repository; `call` makes it work through turns of a script."""

    name: str
    folder: Path
    environment: dict[str, str]
    model: ScriptedModel | None = None

    @property
    def is_aider(self) -> bool:
        """It makes one request, runs no commands and has no sessions."""
        return self.name == "aider"

    @property
    def workdir(self) -> Path:
        return self.folder / "work"

    @property
    def source(self) -> str:
        return (self.workdir / "calc.py").read_text()

    def call(
        self, *turns: dict[str, Any], prompt: str = "Fix calc.py, its tests fail.", **changes: Any
    ) -> AgentReply:
        with ScriptedModel(list(turns)) as self.model:
            return cli_agent(self.name).run(self.given(self.model.url, prompt, **changes))

    def given(self, url: str, prompt: str, **changes: Any) -> AgentCall:
        extra = variables_for(self.name, url, Path(self.environment["HOME"]))
        options = {
            "model": MODELS[self.name],
            "timeout": 240,
            "idle_timeout": 120,
            "mark": f"t-{self.folder.name}",
        }
        return agent_call(
            self.folder, prompt, environment={**self.environment, **extra}, **{**options, **changes}
        )


@pytest.fixture
def driver(cli_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Driver:
    if reason := why_not(cli_name):
        pytest.skip(reason)
    monkeypatch.setenv("PATH", f"{programs_of(cli_name)}:{os.environ['PATH']}")
    make_repo(tmp_path / "work", GREEN | BUG)
    return Driver(cli_name, tmp_path, dict(os.environ))


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts the real CLI of this name on PATH, or skips."""

    def put(name: str) -> None:
        if reason := why_not(name):
            pytest.skip(reason)
        monkeypatch.setenv("PATH", f"{programs_of(name)}:{os.environ['PATH']}")

    return put
