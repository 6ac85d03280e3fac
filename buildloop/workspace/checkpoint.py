"""One commit an iteration: whatever the agent left, on the run's branch, recognisable after a crash."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildloop.files import write_json
from buildloop.models import Checkpoint, Secret, WorkspaceInfo
from buildloop.redact import Redactor
from buildloop.workspace.bytecode import drop_bytecode
from buildloop.workspace.git import git_or_none, known_git, run_git
from buildloop.workspace.integrity.files import matches
from buildloop.workspace.kept_git import commit_tree, move_ref
from buildloop.workspace.link import reconnect
from buildloop.workspace.secret_scan import secrets_in
from buildloop.workspace.staging import Added, Staged, look_at_index, stage
from buildloop.workspace.standing import commit_at, has_begun, head_of, on_branch

SUBJECTS_SHOWN = 20
DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames", "--unified=1")


@dataclass(frozen=True, slots=True)
class Step:
    """Which iteration a commit belongs to; written into it as trailers."""

    run_id: str
    session: int
    iteration: int

    @property
    def trailers(self) -> str:
        return (
            f"Buildloop-Run: {self.run_id}\n"
            f"Buildloop-Session: {self.session}\n"
            f"Buildloop-Iteration: {self.iteration}"
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """What must not reach a commit: changes to protected files, and secrets (of this environment, or by shape)."""

    protect: tuple[str, ...] = ()
    secrets: Mapping[str, str] | None = None
    redact: Redactor = str


def make_checkpoint(
    workspace: WorkspaceInfo, step: Step, parent: str, exclude: Path, title: str, rules: Rules | None = None
) -> Checkpoint:
    """Commit the worktree on top of `parent` as one commit, whatever the agent did with git itself.

    Its own commits, branches or resets end up squashed; their subjects are kept in the message. Called again
    after a crash it finds its commit and returns the same checkpoint.
    """
    root, rules = Path(workspace.root), rules or Rules()
    reconnect(workspace)
    head = head_of(workspace) or run_git(root, "rev-parse", "HEAD")
    made = _made_before(exclude, step)
    if made is not None and head == made.commit and parent == made.parent:
        return made
    staged, unkept = stage(root, parent, exclude)
    restored = _restore_protected(root, workspace.start_commit, rules.protect)
    if restored:
        staged = look_at_index(root, parent)
    refused = _refuse_secrets(root, parent, staged, rules)
    if refused:
        staged = look_at_index(root, parent)
    staged.patch.close()
    found, tree = staged.added, staged.tree
    kept_out = {"restored": restored, "refused": refused, "unkept": unkept}
    if not found.files:
        _move_branch(workspace, parent)
        return _point(parent, parent, tree, found).model_copy(update=kept_out)
    subjects = rules.redact(_own_subjects(root, parent, head))
    message = "\n\n".join(part for part in (title, subjects, step.trailers) if part)
    commit = commit_tree(root, tree, parent, message)
    point = _point(parent, commit, tree, found).model_copy(update=kept_out)
    write_json(_note(exclude), {"step": step.trailers, "made": point.model_dump(mode="json")})
    drop_bytecode(root, found.files)
    _move_branch(workspace, commit)
    return point


def _note(exclude: Path) -> Path:
    """Where the last commit is written down before the branch has it. An agent can write trailers too; it cannot write
    to the run directory."""
    return exclude.with_name("checkpoint.json")


def _made_before(exclude: Path, step: Step) -> Checkpoint | None:
    """A note that is missing or damaged costs a second look at the same files, nothing else."""
    try:
        note = json.loads(_note(exclude).read_bytes())
        return Checkpoint.model_validate(note["made"]) if note["step"] == step.trailers else None
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return None


def go_back(workspace: WorkspaceInfo, step: Step, head: str, target: str) -> str:
    """A commit on top of `head` with the tree of `target`: nothing that was tried is lost from the branch."""
    root = Path(workspace.root)
    tree = run_git(root, "rev-parse", f"{target}^{{tree}}")
    if tree == run_git(root, "rev-parse", f"{head}^{{tree}}"):
        return head
    trailers = f"{step.trailers}\nBuildloop-Back-To: {target}"
    message = f"buildloop: back to the best state so far\n\n{trailers}"
    # The date of its parent makes the commit the same one when a crash has it made again.
    date = run_git(root, "log", "-1", "--format=%cI", head)
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    return commit_tree(root, tree, head, message, dates)


def diff_text(workspace: WorkspaceInfo, older: str, newer: str, limit: int = 20_000) -> str:
    return known_git(Path(workspace.root), *DIFF, older, newer)[:limit]


def _restore_protected(root: Path, start: str, globs: tuple[str, ...]) -> tuple[str, ...]:
    """Protected files are in every commit as they were at the start; new ones that match are not in any."""
    if not globs:
        return ()
    listed = run_git(root, "diff", "--cached", "--no-renames", "--name-only", "-z", start).split("\0")
    changed = tuple(name for name in listed if name and matches(name, globs))
    for name in changed:
        run_git(root, "restore", f"--source={start}", "--staged", "--worktree", "--", f":(literal,top){name}")
    return changed


def _refuse_secrets(root: Path, parent: str, staged: Staged, rules: Rules) -> tuple[Secret, ...]:
    """Files with secrets are left out as a whole; the next reset removes what they hold from the workspace too."""
    if rules.secrets is None:
        return ()
    found = secrets_in(staged.patch, staged.added.files, rules.secrets)
    for name in dict.fromkeys(name for name, _ in found):
        run_git(root, "reset", "--quiet", parent, "--", f":(literal,top){name}")
    return tuple(secret for _, secret in found)


def _own_subjects(root: Path, parent: str, head: str) -> str:
    if head == parent:
        return ""
    listed = git_or_none(root, "log", f"-{SUBJECTS_SHOWN}", "--format=* %s", f"{parent}..{head}")
    return f"The agent's own commits:\n{listed}" if listed else ""


def _move_branch(workspace: WorkspaceInfo, commit: str) -> None:
    """The index is as in `commit` already; what the agent began with git and did not end is ended by a reset."""
    root, branch = Path(workspace.root), f"refs/heads/{workspace.branch}"
    if commit_at(workspace, branch) != commit:
        move_ref(root, branch, commit)
    if not on_branch(workspace) or has_begun(workspace):
        run_git(root, "symbolic-ref", "HEAD", branch)
        run_git(root, "reset", "--quiet")


def _point(parent: str, commit: str, tree: str, found: Added) -> Checkpoint:
    return Checkpoint(
        parent=parent,
        commit=commit,
        tree=tree,
        files=found.files,
        insertions=found.insertions,
        deletions=found.deletions,
    )
