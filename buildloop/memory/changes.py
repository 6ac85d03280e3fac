"""The change that made a failure go green, small enough to be shown again."""

from __future__ import annotations

from pathlib import Path

from buildloop.agents.contract import DONE_LINE
from buildloop.memory.model import Change
from buildloop.memory.words import storable
from buildloop.models import Checkpoint
from buildloop.redact import Redactor
from buildloop.text import one_line
from buildloop.workspace.checkpoint import DIFF
from buildloop.workspace.git import known_git, run_git

SUMMARY_LINES = 40
SUMMARY_CHARS = 1500
LINE_CHARS = 200
MOST_FILES = 8
APPROACH_CHARS = 300


def describe_change(
    root: Path, first_red: str, last_red: str, point: Checkpoint, said: str, redact: Redactor
) -> Change | None:
    """What the iterations that made it green changed, seen from where the failure first was: wasted attempts in
    between cancel out. None where there is nothing to repeat. `point` is the checkpoint that is green."""
    own = last_red == point.parent
    files = list(point.files) if own else _files(root, last_red, point.commit)
    shown = files[:MOST_FILES]
    if own and first_red == last_red and shown == files:
        diff = known_git(root, *DIFF, point.parent, point.commit)  # the diagnosis has asked it too
    else:
        diff = _diff(root, first_red, point.commit, shown) or _diff(root, last_red, point.commit, shown)
    summary = _shortened(storable(redact(diff)))
    if not files or not summary:
        return None
    return Change(
        summary=summary,
        approach=storable(one_line(redact(said).replace(DONE_LINE, ""), APPROACH_CHARS)),
        files=tuple(map(storable, shown)),
        commit=point.commit,
    )


def _files(root: Path, older: str, newer: str) -> list[str]:
    listed = run_git(root, "diff", "--name-only", "-z", "--no-renames", older, newer)
    return [name for name in listed.split("\0") if name]


def _diff(root: Path, older: str, newer: str, files: list[str]) -> str:
    if not files:
        return ""
    return run_git(root, *DIFF, older, newer, "--", *(f":(literal){name}" for name in files))


def _shortened(diff: str) -> str:
    """Without git's headings, which name hashes that are gone tomorrow."""
    noise = ("diff --git", "index ", "new file mode", "deleted file mode", "old mode", "new mode", "--- ")
    lines = [line[:LINE_CHARS] for line in diff.splitlines() if not line.startswith(noise)]
    kept = [line.replace("+++ b/", "file ") if line.startswith("+++ ") else line for line in lines]
    text = "\n".join(kept[:SUMMARY_LINES])
    cut = len(kept) > SUMMARY_LINES or len(text) > SUMMARY_CHARS
    return text[:SUMMARY_CHARS].rstrip() + ("\n… (shortened)" if cut else "")
