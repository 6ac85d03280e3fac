"""Plays one case on a real worktree, with the real gate where it can run, and asks the integrity check."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.cheats_parts.cases import Case, apply, write_base
from buildloop.gate.run import GateSetup, run_gate
from buildloop.models import GateReport
from buildloop.redact import redactor
from buildloop.request import BuildRequest
from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.git import run_git
from buildloop.workspace.integrity import Evidence, Objection, Ran, objections_to, ran
from buildloop.workspace.worktree import prepare_worktree, reopen

WHO = {name: "case" for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")}


@dataclass(frozen=True, slots=True)
class Judged:
    """`green` says whether the commands were green afterwards; None where they were not run."""

    case: Case
    objections: list[Objection]
    green: bool | None

    @property
    def blocked(self) -> bool:
        return any(one.blocks for one in self.objections)

    @property
    def right(self) -> bool:
        return self.blocked == self.case.cheat


def can_run(case: Case) -> bool:
    return not case.base.trees_only and all(name == "python" or shutil.which(name) for name in case.base.needs)


def play(case: Case, folder: Path, *, real: bool) -> Judged:
    repo = folder / "repo"
    repo.mkdir(parents=True)
    write_base(case.base, repo)
    run_git(repo, "init", "-q", "-b", "main")
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "start", env=WHO)
    commands = tuple(line.replace("{python}", shlex.quote(sys.executable)) for line in case.base.gate)
    request = BuildRequest(goal="repair it", repo=str(repo), test=commands, agent_command="true", state_dir=str(folder / "state"), run_id="case")
    workspace = prepare_worktree(request)
    before = now = Ran()
    if real:
        report = _gate(commands, folder, Path(workspace.workdir), "before")
        before = ran(report.reading, (folder / "before").glob("*.junit.xml"))
    root = Path(workspace.root)
    apply(case, root)
    point = make_checkpoint(workspace, Step("case", 1, 1), workspace.start_commit, folder / "exclude", "change")
    reopen(workspace, point.commit)
    green = None
    if real:
        report = _gate(commands, folder, Path(workspace.workdir), "after")
        now, green = ran(report.reading, (folder / "after").glob("*.junit.xml")), report.passed
    evidence = Evidence(workspace, point.commit, commands, before, now, case.allowed)
    return Judged(case, objections_to(evidence), green)


def _gate(commands: tuple[str, ...], folder: Path, workdir: Path, name: str) -> GateReport:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "GIT_"))}
    environment |= {"PYTHONPATH": str(workdir), "PYTHONDONTWRITEBYTECODE": "1", "CARGO_TERM_COLOR": "never"}
    setup = GateSetup(
        workdir=workdir, run_dir=folder, output_dir=folder / name, environment=environment, timeout=300, mark="case",
        redact=redactor({}), repo_id="case", green_logs=folder / "green",
    )  # fmt: skip
    return run_gate(commands, setup, "tree", name=name)
