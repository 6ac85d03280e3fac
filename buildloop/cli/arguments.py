"""Arguments and options that several commands share."""

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
BudgetUsd = Annotated[
    Seconds, Option(help="Stop before the agent call that would make the run cost more dollars.")
]
BudgetTokens = Annotated[Whole, Option(help="Stop before the call that would use more tokens in all.")]
BudgetMinutes = Annotated[Seconds, Option(help="Stop before the call that would make the run work longer.")]
AsJson = Annotated[bool, Option("--json", help="Print JSON on stdout and nothing else.")]
Verbose = Annotated[bool, Option("--verbose", "-v", help="Show Prefect's own log lines.")]
Goal = Annotated[
    str, Argument(help="What the agent shall achieve, in your words.", metavar="[GOAL]", show_default=False)
]
Context = Annotated[
    Text,
    Option(help="Background for the agent beside the goal, shown to it as data."),
]
Issue = Annotated[
    Whole,
    Option(help="GitHub issue: gives goal and context, gets the pull request or a comment."),
]
GithubRepo = Annotated[
    Text,
    Option(help="OWNER/NAME on GitHub. [default: that of the git remote]"),
]
DryRun = Annotated[
    bool, Option("--dry-run", help="With --issue: print what would be sent to GitHub, send nothing.")
]
ReportFormat = Annotated[str, Option("--format", help="terminal, markdown, github, html or json.")]
Output = Annotated[
    Optional[Path],  # noqa: UP045
    Option("--output", "-o", help="Write it to this file and print the file's name."),
]
