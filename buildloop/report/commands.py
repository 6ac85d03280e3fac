"""The commands that follow from a run, such that they work wherever they are typed."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace

from platformdirs import user_state_path

from buildloop.report.facts import RunFacts
from buildloop.request import BuildRequest, DirtyPolicy
from buildloop.result import StopReason


@dataclass(frozen=True, slots=True)
class Typed:
    """`what` in one word, `line` to type, `note` about what it does."""

    what: str
    line: str
    note: str


def commands_for(facts: RunFacts) -> tuple[Typed, ...]:
    """Review, merge, undo; for a run that can go on, how to."""
    if facts.workspace is None:
        return (_resume(facts.request),) if not facts.running else ()
    git = f"git -C {shlex.quote(facts.workspace.repo)}"
    start, branch = facts.workspace.start_commit, shlex.quote(facts.workspace.branch)
    review = Typed(
        "Review", f"{git} diff {start[:12]} {branch}", "everything the run changed, and nothing else"
    )
    if facts.running:
        return (review,)
    merge = _merge(facts.request, git, start, branch)
    undo = Typed("Undo", f"{git} branch -D {branch}", "drops the branch; your checkout was never touched")
    if _proven(facts):
        return (review, merge, undo)
    unproven = replace(merge, note=f"{merge.note}; the goal is not proven there")
    if facts.result is not None and facts.result.reason.is_success:
        return (review, unproven, undo)
    # The worktree of a run that may go on is still there, and git keeps a branch that one of them is on.
    away = f"{git} worktree remove --force {shlex.quote(facts.workspace.root)}; {undo.line}"
    gone = Typed("Undo", away, "drops branch and workspace; your checkout was never touched")
    return (review, unproven, gone, _resume(facts.request))


def _merge(request: BuildRequest, git: str, start: str, branch: str) -> Typed:
    """A checkout whose uncommitted changes are part of the branch cannot be merged into: git would refuse."""
    if request.dirty is DirtyPolicy.INCLUDE:
        line = f"{git} diff --binary {start[:12]} {branch} | {git} apply"
        return Typed("Merge", line, "adds the run's changes to your uncommitted ones")
    return Typed("Merge", f"{git} merge --no-edit {branch}", "into the branch you have checked out")


def _resume(request: BuildRequest) -> Typed:
    usual = str(user_state_path("buildloop"))
    where = "" if request.state_dir == usual else f" --state-dir {shlex.quote(request.state_dir)}"
    return Typed("Continue", f"buildloop resume {request.run_id}{where}", "finished work is not repeated")


def _proven(facts: RunFacts) -> bool:
    return facts.result is not None and facts.result.reason is StopReason.COMPLETE
