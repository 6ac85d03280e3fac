"""Options that read better by name than spelled out where they are used."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

from typer import Argument, Option

# Typer reads annotations at run time and wants Optional[...].
Goal = Annotated[
    str, Argument(help="What the agent shall achieve, in your words.", metavar="[GOAL]", show_default=False)
]
Context = Annotated[
    Optional[str],  # noqa: UP045
    Option(help="Background for the agent beside the goal, shown to it as data."),
]
Issue = Annotated[
    Optional[int],  # noqa: UP045
    Option(help="GitHub issue: gives goal and context, gets the pull request or a comment."),
]
GithubRepo = Annotated[
    Optional[str],  # noqa: UP045
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
