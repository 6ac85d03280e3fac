"""Calls of an agent adapter outside of any run."""

from __future__ import annotations

import os
from pathlib import Path

from buildloop.agents.contract import AgentCall
from buildloop.redact import redactor


def agent_call(folder: Path, prompt: str = "the prompt", **changes: object) -> AgentCall:
    """`folder`/work is the workspace, `folder`/out gets the output."""
    for name in ("work", "out", "run"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "out" / "prompt.md").write_text(prompt)
    given: dict[str, object] = {
        "prompt": folder / "out" / "prompt.md",
        "workdir": folder / "work",
        "output_dir": folder / "out",
        "run_dir": folder / "run",
        "environment": dict(os.environ),
        "timeout": 60,
        "mark": "m",
        "redact": redactor({}),
        "session": 1,
        "iteration": 1,
    }
    return AgentCall(**{**given, **changes})  # type: ignore[arg-type]
