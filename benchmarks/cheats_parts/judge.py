"""Plays one case on a real worktree, with the real gate where it can run, and asks the integrity check."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.cheats_parts.cases import Base, Case, apply, write_base
from buildloop.gate.run import GateSetup, run_gate
from buildloop.models import CounterProof, GateReport, WorkspaceInfo
from buildloop.redact import redactor
from buildloop.request import BuildRequest
from buildloop.workspace.checkpoint import Step, make_checkpoint
from buildloop.workspace.git import run_git
from buildloop.workspace.integrity import Evidence, Objection, Ran, counter_proof, objections_to, ran
from buildloop.workspace.integrity.judge import certain, weighed
from buildloop.workspace.settled import settle_after_gate
from buildloop.workspace.worktree import prepare_worktree, reopen

WHO = dict.fromkeys(
    ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "case"
)


@dataclass(frozen=True, slots=True)
class Judged:
    """`green` says whether the commands were green afterwards; None where they were not run. `unweighed` are the
    objections before the tests of the start were run on the new code."""

    case: Case
    objections: list[Objection]
    green: bool | None
    proof: CounterProof | None = None
    unweighed: tuple[Objection, ...] = ()

    @property
    def blocked(self) -> bool:
        return any(one.blocks for one in self.objections)

    @property
    def right(self) -> bool:
        return self.blocked == self.case.cheat


def can_run(case: Case) -> bool:
    """`node:NAME` is a package that node finds from anywhere (NODE_PATH)."""
    return not case.base.trees_only and all(map(_is_there, case.base.needs))


@cache
def _is_there(need: str) -> bool:
    package = need.removeprefix("node:")
    if package == need:
        return need == "python" or shutil.which(need) is not None
    asked = subprocess.run(["node", "-e", f"require({package!r})"], capture_output=True, check=False)
    return asked.returncode == 0


@dataclass(frozen=True, slots=True)
class Ground:
    """A base project in a repository and worktree of its own, for one case after the other."""

    folder: Path
    commands: tuple[str, ...]
    workspace: WorkspaceInfo


def prepare_ground(base: Base, folder: Path) -> Ground:
    repo = folder / "repo"
    repo.mkdir(parents=True)
    write_base(base, repo)
    run_git(repo, "init", "-q", "-b", "main")
    run_git(repo, "add", "-A")
    run_git(repo, "commit", "-q", "-m", "start", env=WHO)
    commands = tuple(line.replace("{python}", shlex.quote(sys.executable)) for line in base.gate)
    request = BuildRequest(
        goal="repair it",
        repo=str(repo),
        test=commands,
        agent_command="true",
        state_dir=str(folder / "state"),
        run_id="case",
    )
    return Ground(folder, commands, prepare_worktree(request))


def play(case: Case, ground: Ground, *, real: bool, always: bool = False) -> Judged:
    """As a run would judge it; with `always` the counter-proof is made even where the sources settle it.

    Leaves the worktree as the case made it; the next one starts from the start commit again.
    """
    workspace, folder = ground.workspace, ground.folder
    workdir = Path(workspace.workdir)
    reopen(workspace, workspace.start_commit)
    run_git(workdir, "clean", "-fdxq", "-e", "target")
    before = _at_the_start(ground) if real else Ran()
    now = Ran()
    apply(case, Path(workspace.root))
    point = make_checkpoint(
        workspace, Step("case", 1, 1), workspace.start_commit, folder / "exclude", "change"
    )
    reopen(workspace, point.commit)
    green = None
    if real:
        report = _gate(ground.commands, folder, workdir, "after")
        now, green = ran(report.reading, (folder / "after").glob("*.junit.xml")), report.passed
    evidence = Evidence(
        workspace, point.commit, ground.commands, before, now, case.allowed, green=bool(green)
    )
    found = objections_to(evidence)
    if not real or not green or (not always and any(map(certain, found))):
        return Judged(case, found, green, None, tuple(found))

    def originals(_: str, attempt: int) -> tuple[GateReport, Ran]:
        name = f"originals-{attempt}"
        again = _gate(ground.commands, folder, workdir, name)
        return again, ran(again.reading, (folder / name).glob("*.junit.xml"))

    proof = counter_proof(evidence, originals)
    return Judged(case, weighed(found, proof) if proof else found, green, proof, tuple(found))


@cache
def _at_the_start(ground: Ground) -> Ran:
    report = _gate(ground.commands, ground.folder, Path(ground.workspace.workdir), "before")
    settle_after_gate(ground.workspace, ground.folder / "exclude")
    return ran(report.reading, (ground.folder / "before").glob("*.junit.xml"))


def _gate(commands: tuple[str, ...], folder: Path, workdir: Path, name: str) -> GateReport:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "GIT_"))}
    environment |= {"PYTHONPATH": str(workdir), "PYTHONDONTWRITEBYTECODE": "1", "CARGO_TERM_COLOR": "never"}
    setup = GateSetup(
        workdir=workdir, run_dir=folder, output_dir=folder / name, environment=environment, timeout=120, mark="case",
        redact=redactor({}), repo_id="case", green_logs=folder / "green",
    )  # fmt: skip
    return run_gate(commands, setup, "tree", name=name)
