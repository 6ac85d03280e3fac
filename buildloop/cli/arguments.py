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
