"""What every task that starts a process needs to know, gathered in one place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildloop.environment import child_environment
from buildloop.models import WorkspaceInfo
from buildloop.redact import Redactor, redactor
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir


@dataclass(frozen=True, slots=True)
class Surroundings:
    run: RunDir
    workdir: Path
    environment: Mapping[str, str]
    redact: Redactor
    mark: str


def surroundings(request: BuildRequest, workspace: WorkspaceInfo, extra: Mapping[str, str]) -> Surroundings:
    return Surroundings(
        run=RunDir(request.run_dir),
        workdir=Path(workspace.workdir),
        environment=child_environment(os.environ, Path(workspace.workdir), extra),
        redact=redactor(os.environ),
        mark=str(request.run_id),
    )
