"""What every task that starts a process needs to know, gathered in one place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildloop.choices import SandboxKind
from buildloop.environment import child_environment
from buildloop.gate.run import GateSetup
from buildloop.home import from_home
from buildloop.models import WorkspaceInfo
from buildloop.redact import Redactor, redactor
from buildloop.request import BuildRequest
from buildloop.rundir import RunDir
from buildloop.sandbox import NO_SANDBOX, Sandbox, toolchains
from buildloop.workspace.link import git_folder, steering_files, worktree_git_folder


@dataclass(frozen=True, slots=True)
class Surroundings:
    run: RunDir
    workdir: Path
    environment: Mapping[str, str]
    redact: Redactor
    mark: str
    sandbox: Sandbox


def surroundings(request: BuildRequest, workspace: WorkspaceInfo, extra: Mapping[str, str]) -> Surroundings:
    environment = child_environment(os.environ, Path(workspace.workdir), extra, request.env_allow)
    return Surroundings(
        run=RunDir(request.run_dir),
        workdir=Path(workspace.workdir),
        environment=environment,
        redact=redactor(os.environ),
        mark=RunDir(request.run_dir).mark,
        sandbox=_sandbox(request, workspace, environment),
    )


def gate_setup(
    here: Surroundings, request: BuildRequest, workspace: WorkspaceInfo, session: int, number: int
) -> GateSetup:
    """How the gate runs in the workspace of the run."""
    return GateSetup(
        workdir=here.workdir,
        run_dir=here.run.path,
        output_dir=here.run.iteration_dir(session, number),
        environment=here.environment,
        timeout=request.gate_timeout,
        mark=here.mark,
        redact=here.redact,
        repo_id=workspace.repo_id,
        green_logs=Path(request.state_dir) / "green",
        junit=request.junit,
        sandbox=here.sandbox,
    )


def _sandbox(request: BuildRequest, workspace: WorkspaceInfo, environment: Mapping[str, str]) -> Sandbox:
    """Of git's own folder only this worktree's part can be written: no branch, hook or setting of the user's."""
    if request.sandbox is SandboxKind.NONE:
        return NO_SANDBOX
    own = worktree_git_folder(workspace)
    added = (Path(one) for one in environment.get("PYTHONPATH", "").split(os.pathsep) if one)
    return Sandbox(
        request.sandbox,
        writable=(
            Path(workspace.root),
            *([own] if own else []),
            *(from_home(one) for one in request.sandbox_writable),
        ),
        readable=(*toolchains(environment), git_folder(workspace), *added),
        fixed=steering_files(workspace),
        network=request.sandbox_network,
        image=request.sandbox_image,
    )
