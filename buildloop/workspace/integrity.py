"""Whether a green gate was earned: the gate's own files untouched, no test gone, not fewer tests than at the start."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.models import GateReport, Verdict, WorkspaceInfo
from buildloop.workspace.git import git_or_none, run_git

TEST_SOURCE = re.compile(
    r"(^|/)(tests?|specs?|__tests__)/|(^|/)test_[^/]*\.py$|_test\.(py|go|rb|exs)$|_spec\.rb$"
    r"|\.(test|spec)\.[cm]?[jt]sx?$|(Test|Tests|IT)\.(java|kt|cs)$|\.bats$|\.t$"
)
MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
INTERPRETERS = (
    "sh",
    "bash",
    "dash",
    "zsh",
    "python",
    "python3",
    "node",
    "ruby",
    "perl",
    "php",
    "env",
    "time",
)
SEPARATORS = ("&&", "||", ";", "|", "&")
SCRIPT_RUNNERS = ("npm", "pnpm", "yarn", "bun")


@dataclass(frozen=True, slots=True)
class Change:
    """`status` is git's letter: M changed, D deleted, R renamed …"""

    status: str
    name: str


def check_integrity(
    report: GateReport,
    workspace: WorkspaceInfo,
    commit: str,
    commands: Sequence[str],
    baseline: TestCounts | None,
) -> GateReport:
    """A green report as it is, or a red one that says what was done to the gate."""
    if not report.passed:
        return report
    root, start = Path(workspace.root), workspace.start_commit
    changes = changes_between(root, start, commit)
    inside = Path(workspace.workdir).relative_to(root).as_posix()
    texts = {
        change.name: (_text_at(root, start, change.name), _text_at(root, commit, change.name))
        for change in changes
        if Path(change.name).name in (*MAKEFILES, "package.json")
    }
    objections = [
        *edited_gate_files(commands, changes, inside),
        *edited_recipes(commands, texts),
        *deleted_tests(changes),
        *fewer_tests(baseline, report.reading.counts),
    ]
    return object_to(report, objections) if objections else report


def object_to(report: GateReport, objections: Sequence[str]) -> GateReport:
    findings = tuple(Finding(message=text, tool="integrity", lines=(text,)) for text in objections)
    reading = replace(report.reading, findings=findings, error_lines=tuple(objections))
    explanation = f"The commands were green, but that was not earned: {'; '.join(objections)}."
    return report.model_copy(
        update={"verdict": Verdict.FAILED, "reading": reading, "explanation": explanation}
    )


def changes_between(root: Path, start: str, commit: str) -> list[Change]:
    parts = run_git(root, "diff", "--name-status", "-z", "-M", start, commit).split("\0")
    found: list[Change] = []
    while len(parts) > 1:
        status = parts.pop(0)
        if status[:1] in "RC":
            parts.pop(0)
        found.append(Change(status[:1], parts.pop(0)))
    return found


def edited_gate_files(commands: Sequence[str], changes: Sequence[Change], inside: str) -> list[str]:
    """Scripts that a command runs are part of the gate. Test sources are not: those are looked at by their tests."""
    prefix = "" if inside == "." else f"{inside}/"
    named = {f"{prefix}{script.removeprefix('./')}" for command in commands for script in scripts_of(command)}
    return [
        f"{change.name} is part of the gate and was {'deleted' if change.status == 'D' else 'changed'}"
        for change in changes
        if change.status in "MDT" and change.name in named and not TEST_SOURCE.search(change.name)
    ]


def edited_recipes(commands: Sequence[str], texts: Mapping[str, tuple[str, str]]) -> list[str]:
    """Make targets and package scripts that the commands use, compared by what they do."""
    found = []
    for name, (before, after) in texts.items():
        read = script_of if name.endswith("package.json") else recipe_of
        for target in _targets(commands, package=name.endswith("package.json")):
            if read(before, target) and read(before, target) != read(after, target):
                found.append(f"'{target}' in {name} is part of the gate and was changed")
    return found


def deleted_tests(changes: Sequence[Change]) -> list[str]:
    gone = [change.name for change in changes if change.status == "D" and TEST_SOURCE.search(change.name)]
    return [f"the test file {name} was deleted" for name in gone]


def fewer_tests(baseline: TestCounts | None, now: TestCounts | None) -> list[str]:
    """Only where both logs say how many tests ran: many runners say nothing when all is well."""
    if baseline is None or now is None or now.run >= baseline.run:
        return []
    return [f"only {now.run} tests ran, but {baseline.run} ran at the start"]


def recipe_of(makefile: str, target: str) -> str:
    found = re.search(rf"^{re.escape(target)}\s*:(?!=).*\n((?:\t.*\n?|\s*\n)*)", makefile + "\n", re.M)
    return found.group().strip() if found else ""


def script_of(package: str, target: str) -> str:
    try:
        scripts = json.loads(package).get("scripts", {})
    except (ValueError, AttributeError):
        return ""
    return json.dumps([scripts.get(f"{when}{target}") for when in ("pre", "", "post")]) if scripts else ""


def _targets(commands: Sequence[str], *, package: bool) -> list[str]:
    runners = SCRIPT_RUNNERS if package else ("make", "gmake")
    found = []
    for words in map(_words, commands):
        for position, word in enumerate(words[:-1]):
            if word in runners:
                rest = [
                    w
                    for w in words[position + 1 :]
                    if w not in ("run", "-s", "--silent") and not w.startswith("-")
                ]
                found += rest[:1] if package else rest
    return found


def scripts_of(command: str) -> list[str]:
    """What each part of the command runs: its program, and the script if the program is an interpreter."""
    found, expected = [], True
    for word in _words(command):
        if word in SEPARATORS:
            expected = True
        elif expected and not word.startswith("-") and "=" not in word:
            found.append(word)
            expected = Path(word).name in INTERPRETERS
    return found


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command, comments=True)
    except ValueError:
        return command.split()


def _text_at(root: Path, commit: str, name: str) -> str:
    return git_or_none(root, "show", f"{commit}:{name}") or ""
