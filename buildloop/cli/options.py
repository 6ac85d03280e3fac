"""Options and arguments that more than one command has, or that need many words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

from typer import Argument, Option

# Typer reads annotations at run time and wants Optional[...].
Text = Optional[str]  # noqa: UP045
Whole = Optional[int]  # noqa: UP045
Seconds = Optional[float]  # noqa: UP045
Folder = Annotated[Optional[Path], Option("--state-dir", help="Where runs are kept.")]  # noqa: UP045
RunId = Annotated[Text, Argument(metavar="[RUN]", help="Run id or its beginning; the newest if left out.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON on stdout and nothing else.")]
Verbose = Annotated[bool, Option("--verbose", "-v", help="Show Prefect's own log lines.")]
Permissions = Annotated[
    Text,
    Option(
        help="ask-nothing: edit and run commands, write only in the workspace; "
        "edit-only: no commands; full: whatever you may. [default: ask-nothing]"
    ),
]
AgentEnvironment = Annotated[
    Optional[list[str]],  # noqa: UP045
    Option("--agent-env", help="Environment variable the agent needs besides its own. Repeatable."),
]
AgentName = Annotated[
    Text, Option(help="claude, codex, gemini, opencode, aider, command or scripted; see 'buildloop agents'.")
]
IdleTimeout = Annotated[
    Seconds, Option(help="Seconds without output before an agent CLI counts as hung. [default: 900]")
]
GateCommands = Annotated[
    Optional[list[str]],  # noqa: UP045
    Option(
        "--test", "--test-cmd", help="Gate command, exit 0 = pass. Repeat for several. Detected if left out."
    ),
]
JunitGlobs = Annotated[
    Optional[list[str]],  # noqa: UP045
    Option("--junit", help="Glob of JUnit XML files the gate leaves. Repeatable; pytest needs none."),
]
