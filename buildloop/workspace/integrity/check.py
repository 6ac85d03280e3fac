"""Whether a green gate was earned: one look at everything that changed since the start commit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType

from buildloop.models import WorkspaceInfo
from buildloop.workspace.git import known_git
from buildloop.workspace.integrity.compare import compare_tests
from buildloop.workspace.integrity.counter.renames import moved_folders, renamed, renames
from buildloop.workspace.integrity.counter.spliced import inline_tests
from buildloop.workspace.integrity.executed import (
    Ran,
    kept_from_running,
    missing_tests,
    not_run,
    red_all_the_same,
)
from buildloop.workspace.integrity.files import is_collected, is_test, matches
from buildloop.workspace.integrity.gate_changes import GateChange, changed_gate
from buildloop.workspace.integrity.gate_files import Read, gate_of
from buildloop.workspace.integrity.gate_kept import tells_the_outcome
from buildloop.workspace.integrity.hard_coded import Literals, hard_coded
from buildloop.workspace.integrity.hidden import hidden_files
from buildloop.workspace.integrity.linters import loosened_checkers
from buildloop.workspace.integrity.model import Change, Objection, Role, Tests, Unit
from buildloop.workspace.integrity.readers import read_file
from buildloop.workspace.integrity.readers.blocks import JS
from buildloop.workspace.integrity.settings import narrowed_settings
from buildloop.workspace.integrity.surroundings import cut_off, surrounding_tricks
from buildloop.workspace.integrity.trees import Blob, blobs, changes_between
from buildloop.workspace.integrity.tricks import tricks_in

MOST_TEST_FILES = 500
UNLESS_AS_MANY_RAN = {"selection": "config", "support": "gone"}


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is judged: two trees, the commands, what ran at the start and now, what may be changed, and whether the gate
    is green."""

    workspace: WorkspaceInfo
    commit: str
    commands: Sequence[str]
    before: Ran = field(default_factory=Ran)
    now: Ran = field(default_factory=Ran)
    allowed: Sequence[str] = ()
    untracked: Sequence[str] | None = None
    green: bool = False


def objections_to(evidence: Evidence) -> list[Objection]:
    with blobs(Path(evidence.workspace.root)) as blob:
        return _objections(evidence, blob)


def _objections(evidence: Evidence, blob: Blob) -> list[Objection]:
    root, start = Path(evidence.workspace.root), evidence.workspace.start_commit
    changes = changes_between(root, start, evidence.commit, blob)
    old, new = reader(blob, start), reader(blob, evidence.commit)
    inside = Path(evidence.workspace.workdir).relative_to(root).as_posix()
    names = _names(root, start)
    before = tests_of(changes, newer=False, names=renames(changes))
    after = tests_of(changes, newer=True)
    found = [
        *judge_trees(changes, before, after, _literals(names, old)),
        *cut_off(changes, names),
        *_gate(evidence, inside, changes, before, names, old, new),
    ]
    found += hidden_files(root, evidence.untracked)
    found += _execution(evidence, before, after)
    kept = [one for one in found if not (one.file and matches(one.file, evidence.allowed))]
    if any(matches(name, evidence.allowed) for c in changes for name in (c.name, c.old_name)):
        kept = [one for one in kept if one.rule not in ("count", "uncounted")]
    return list(dict.fromkeys(_by_what_ran(one, evidence) for one in kept))


def _by_what_ran(one: Objection, evidence: Evidence) -> Objection:
    """Which files a runner looks at may follow files that moved, and set-up that nothing needs any more may go, where as
    many tests ran as at the start."""
    rule = UNLESS_AS_MANY_RAN.get(one.rule)
    return replace(one, rule=rule) if rule and not _as_many_ran(evidence) else one


def _as_many_ran(evidence: Evidence) -> bool:
    before, now = evidence.before.counts, evidence.now.counts
    return before is not None and now is not None and 0 < before.run <= now.run


def judge_trees(
    changes: Sequence[Change], before: Tests, after: Tests, literals: Literals
) -> list[Objection]:
    """Everything that can be told from the sources alone."""
    renamed = {change.old_name: change.name for change in changes if change.status == "R"}
    found = compare_tests(before, after, renamed)
    with_tests = {u.file for u in before.units if u.role is Role.TEST}
    found += [
        Objection(_deleted(c.old_name, before), c.old_name, f"the test file {c.old_name} was deleted")
        for c in changes
        if c.status == "D"
        and is_test(c.old_name)
        and c.old_name not in with_tests
        and (c.before or "").strip()
    ]
    found += [
        Objection("unreadable", name, f"the test file {name} can no longer be read as code")
        for name in sorted(after.unreadable - before.unreadable)
    ]
    found += narrowed_settings(changes)
    for change in changes:
        found += tricks_in(change)
        found += surrounding_tricks(change)
        if not is_test(change.name):
            found += hard_coded(change, literals)
    return found


def _deleted(name: str, before: Tests) -> str:
    """Set-up may go with the form that needed it; what a runner collects, or what demands something, is a loss."""
    demands = any(unit.assertions for unit in before.units if unit.file == name)
    told_by_name = name.endswith((".py", ".go"))
    return "gone" if (is_collected(name) if told_by_name else demands) else "support"


def tests_of(
    changes: Sequence[Change], *, newer: bool, names: Mapping[str, str] = MappingProxyType({})
) -> Tests:
    """The tests of one side; those of the start as they would call the product by its new names."""
    units: list[Unit] = []
    functions: set[str] = set()
    unreadable: set[str] = set()
    derived: set[tuple[str, str]] = set()
    for change in changes:
        name, text = (change.name, change.after) if newer else (change.old_name, change.before)
        if text is None or not (is_test(name) or (name.endswith(".rs") and "#[" in text and "test" in text)):
            continue
        reading = read_file(name, renamed(text if is_test(name) else inline_tests(text), names))
        if reading is None:
            unreadable.add(name)
            continue
        units += reading.units
        functions |= reading.functions
        derived |= reading.derived
    return Tests(tuple(units), frozenset(functions), frozenset(unreadable), frozenset(derived))


def _literals(names: Callable[[], Sequence[str]], read: Read) -> Literals:
    """The values of every test of the start commit, test by test; a fixture's values belong to each of its language."""

    @cache
    def literals(suffix: str) -> list[frozenset[str]]:
        same = JS.search if JS.search(suffix) else lambda name: name.endswith(suffix)
        tests = [name for name in names() if same(name) and (is_test(name) or suffix == ".rs")]
        units = [
            u for n in tests[:MOST_TEST_FILES] if (found := read_file(n, read(n) or "")) for u in found.units
        ]
        shared = {one for unit in units if unit.role is Role.SETUP for one in unit.literals}
        wanted = ({*unit.literals, *shared} for unit in units if unit.role is Role.TEST)
        return [frozenset(one.removesuffix(".0") for one in test) for test in wanted]

    return literals


def _names(root: Path, start: str) -> Callable[[], Sequence[str]]:
    return cache(lambda: known_git(root, "ls-tree", "-r", "-z", "--name-only", start).split("\0"))


def _gate(
    evidence: Evidence,
    inside: str,
    changes: Sequence[Change],
    before: Tests,
    names: Callable[[], Sequence[str]],
    old: Read,
    new: Read,
) -> list[Objection]:
    gate = gate_of(evidence.commands, inside, old)
    changed = {name for change in changes for name in (change.name, change.old_name)}
    with_tests = {
        unit.file
        for unit in before.units
        if unit.role is Role.TEST or (unit.assertions and is_test(unit.file))
    }
    # What the gate's script only reads in, and the gate complained about at the start, is there to be mended.
    said = "\n".join(evidence.before.said)
    subject = {name for name in gate.sourced if name.rpartition("/")[2] in said}
    moved = {change.old_name: change.name for change in changes if change.status == "R"}
    called = moved | moved_folders(changes, names()) | renames(changes, gate.scripts)

    def under_new_names(name: str) -> str | None:
        """A gate that only follows what the product is called now is the same gate."""
        text = old(name)
        return renamed(text, called) if text and called else text

    counted = _as_many_ran(evidence)

    def narrows(one: GateChange) -> bool:
        """A program of the gate's own that runs the tests may do so in another way, if as many run and it tells."""
        rewritten = (
            counted and one.file in gate.scripts and tells_the_outcome(new(moved.get(one.file, one.file)))
        )
        return bool(one.narrows) and not rewritten

    edits = changed_gate(gate, under_new_names, new, changed - subject, with_tests, moved)
    found = [
        Objection("gate", one.file, f"{one.text} ({one.narrows})")
        if narrows(one)
        else Objection("gate kept" if counted else "gate edited", one.file, one.text)
        for one in edits
    ]
    shims = [
        c.name
        for c in changes
        if c.status == "A" and c.mode == "100755" and c.name.rpartition("/")[2] in gate.programs
    ]
    found += [one for change in changes for one in loosened_checkers(change, gate.words)]
    return found + [
        Objection("shadowed", name, f"{name} has the name of a program that the gate runs") for name in shims
    ]


def _execution(evidence: Evidence, before: Tests, after: Tests) -> list[Objection]:
    missing = missing_tests(evidence.before, evidence.now)
    unheard = red_all_the_same(evidence.now) if evidence.green else []
    return (
        unheard
        + not_run(evidence.before, evidence.now)
        + [
            Objection("not run", _file_of(test, before), f"{test} ran at the start and did not run now")
            for test in kept_from_running(missing, before.units, after.units)
        ]
    )


def _file_of(test: str, tests: Tests) -> str:
    return next((u.file for u in tests.units if test.endswith(u.name.replace("::", "."))), "")


def reader(blob: Blob, commit: str) -> Read:
    @cache
    def read(name: str) -> str | None:
        return None if name.startswith(("..", "/")) or name == "." else blob(f"{commit}:{name}")

    return read
