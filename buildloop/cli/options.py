"""Options and arguments that more than one command has, or that need many words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

from typer import Argument, Option

GATE, AGENT, LIMITS, GITHUB = "The gate", "The agent", "Limits and budgets", "GitHub"
CONTEXT, TRUST = "Context and diagnosis", "Trust and isolation"


def limit(text: str) -> Any:  # noqa: ANN401 (Typer's options have no public type)
    return Option(help=text, rich_help_panel=LIMITS)


# Typer reads annotations at run time and wants Optional[...].
Text = Optional[str]  # noqa: UP045
Texts = Optional[list[str]]  # noqa: UP045
Whole = Optional[int]  # noqa: UP045
Number = Optional[float]  # noqa: UP045
Folder = Annotated[Optional[Path], Option("--state-dir", help="Where runs are kept.")]  # noqa: UP045
RunId = Annotated[Text, Argument(metavar="RUN", help="Run id or its beginning; the newest if left out.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON on stdout and nothing else.")]
Verbose = Annotated[bool, Option("--verbose", "-v", help="Show Prefect's own log lines.")]

Ask = Annotated[
    Optional[bool],  # noqa: UP045
    Option(
        "--ask",
        help="Wait for a person's answer ('buildloop tell') when the run would end without success.",
        rich_help_panel=LIMITS,
    ),
]
GateCommands = Annotated[
    Texts,
    Option(
        "--test",
        "--test-cmd",
        help="Gate command, exit 0 = pass. Repeat for several. Detected if left out.",
        rich_help_panel=GATE,
    ),
]
JunitGlobs = Annotated[
    Texts,
    Option(
        "--junit",
        help="Glob of JUnit XML files the gate leaves. Repeatable; pytest needs none.",
        rich_help_panel=GATE,
    ),
]
AgentName = Annotated[
    Text,
    Option(
        help="claude, codex, gemini, opencode, aider, command or scripted; see 'buildloop agents'. With commas a "
        "ladder of them, e.g. claude:sonnet,claude:opus,codex.",
        rich_help_panel=AGENT,
    ),
]
Permissions = Annotated[
    Text,
    Option(
        help="ask-nothing: edit and run commands, write only in the workspace; edit-only: no commands; full: "
        "whatever you may. (default: ask-nothing)",
        rich_help_panel=AGENT,
    ),
]
AgentEnvironment = Annotated[
    Texts,
    Option(
        "--agent-env",
        help="Environment variable the agent needs besides its own. Repeatable.",
        rich_help_panel=AGENT,
    ),
]
IdleTimeout = Annotated[
    Number,
    Option(
        help="Seconds without output before an agent CLI counts as hung. (default: 900)",
        rich_help_panel=LIMITS,
    ),
]
BudgetUsd = Annotated[
    Number,
    Option(
        help="Stop before the agent call that would make the run cost more dollars.", rich_help_panel=LIMITS
    ),
]
BudgetTokens = Annotated[
    Whole,
    Option(help="Stop before the call that would use more tokens in all.", rich_help_panel=LIMITS),
]
BudgetMinutes = Annotated[
    Number,
    Option(help="Stop before the call that would make the run work longer.", rich_help_panel=LIMITS),
]
Goal = Annotated[
    str, Argument(help="What the agent shall achieve, in your words.", metavar="GOAL", show_default=False)
]
Context = Annotated[Text, Option(help="Background for the agent beside the goal, shown to it as data.")]
Issue = Annotated[
    Whole,
    Option(
        help="GitHub issue: gives goal and context, gets the pull request or a comment.",
        rich_help_panel=GITHUB,
    ),
]
GithubRepo = Annotated[
    Text,
    Option(help="OWNER/NAME on GitHub. (default: that of the git remote)", rich_help_panel=GITHUB),
]
DryRun = Annotated[
    bool,
    Option(
        "--dry-run",
        help="With --issue: print what would be sent to GitHub, send nothing.",
        rich_help_panel=GITHUB,
    ),
]
SharedMemory = Annotated[
    Optional[bool],  # noqa: UP045
    Option("--shared-memory", help="Also use what runs on other repositories learned."),
]
ReportFormat = Annotated[str, Option("--format", help="terminal, markdown, github, html or json.")]
Output = Annotated[
    Optional[Path],  # noqa: UP045
    Option("--output", "-o", help="Write it to this file and print the file's name."),
]
Integrity = Annotated[
    Text,
    Option(
        help="Weakened tests or an edited gate: block, warn or off. (default: block)", rich_help_panel=TRUST
    ),
]
CounterProof = Annotated[
    Optional[bool],  # noqa: UP045
    Option(
        help="Where tests were changed: run the tests of the start on the new code, too. (default: yes)",
        rich_help_panel=TRUST,
    ),
]
Falsify = Annotated[
    Text,
    Option(
        metavar="AGENT",
        help="A second agent gets one try to write a test for the goal that fails on the finished work.",
        rich_help_panel=TRUST,
    ),
]
FalsifyCommand = Annotated[
    Text, Option(help="Any program as that second agent: prompt on stdin.", rich_help_panel=TRUST)
]
AllowTestChanges = Annotated[
    Texts,
    Option(
        metavar="GLOB",
        help="Tests and test configuration the goal may change. Repeatable.",
        rich_help_panel=TRUST,
    ),
]
Protect = Annotated[
    Texts,
    Option(
        metavar="GLOB",
        help="Files put back to the start before each gate. Repeatable.",
        rich_help_panel=TRUST,
    ),
]
Sandbox = Annotated[
    Text,
    Option(help="Run agent and gate in: none, bwrap or docker. (default: none)", rich_help_panel=TRUST),
]
SandboxImage = Annotated[Text, Option(help="Image for --sandbox docker.", rich_help_panel=TRUST)]
SandboxNetwork = Annotated[
    Optional[bool],  # noqa: UP045
    Option(help="Whether the sandbox has a network. (default: it has)", rich_help_panel=TRUST),
]
SandboxWritable = Annotated[
    Texts,
    Option(metavar="DIR", help="Another folder the sandbox may write to. Repeatable.", rich_help_panel=TRUST),
]
EnvAllow = Annotated[
    Texts,
    Option(
        metavar="GLOB",
        help="Only these environment variables (and basics). Repeatable.",
        rich_help_panel=TRUST,
    ),
]
