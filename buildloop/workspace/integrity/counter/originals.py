"""The tree for the counter-proof: the new code with the tests, their data and their runner's files of the start."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from buildloop.workspace.git import run_git
from buildloop.workspace.integrity.check import Evidence, reader
from buildloop.workspace.integrity.counter.renames import renamed, renames
from buildloop.workspace.integrity.counter.spliced import spliced
from buildloop.workspace.integrity.counter.test_side import TestSide, makefiles_of
from buildloop.workspace.integrity.files import is_test, matches
from buildloop.workspace.integrity.gate_files import gate_of
from buildloop.workspace.integrity.model import Change
from buildloop.workspace.integrity.trees import Blob
from buildloop.workspace.trial import GONE, as_entry, tree_with

MOST_TOLD = 300


@dataclass(frozen=True, slots=True)
class Originals:
    """`restored` are the files that differ from the new tree; `lost` are the product's files that are no longer where
    the old tests look for them; `names` are the new names by the old ones, where they are called by these."""

    tree: str
    restored: tuple[str, ...]
    lost: tuple[str, ...]
    names: Mapping[str, str] = field(default_factory=dict)


def originals(
    evidence: Evidence, changes: Sequence[Change], blob: Blob, *, under_new_names: bool = False
) -> Originals | None:
    """None when nothing of the test side was changed: then the gate has already run the original tests. With
    `under_new_names` the old tests call the product by the names it has now; None where it was not renamed."""
    root, start = Path(evidence.workspace.root), evidence.workspace.start_commit
    side = _test_side(evidence, changes, blob)
    names = renames(changes, side.gate.scripts) if under_new_names else {}
    entries = _entries(root, start, changes, side)
    entries |= _under_new_names(root, entries, names, blob)
    if not entries or (under_new_names and not names):
        return None
    lost = [c.old_name for c in changes if c.status in "DR" and c.old_name not in entries]
    removed = [c.name for c in changes if entries.get(c.name) == GONE and not is_test(c.name)]
    tree = tree_with(root, evidence.commit, entries)
    return Originals(tree, tuple(sorted(entries)), (*lost, *removed), names)


def _test_side(evidence: Evidence, changes: Sequence[Change], blob: Blob) -> TestSide:
    root, start = Path(evidence.workspace.root), evidence.workspace.start_commit
    old, new = reader(blob, start), reader(blob, evidence.commit)
    inside = Path(evidence.workspace.workdir).relative_to(root).as_posix()
    gate = gate_of(evidence.commands, inside, old)
    said = "\n".join(evidence.before.said)
    makefiles = makefiles_of(gate, old, new)
    tests = [name for c in changes if is_test(name := c.old_name)][:MOST_TOLD]
    told = [text for name in (*makefiles, *sorted(gate.scripts), *tests) if (text := old(name))]
    return TestSide(
        gate=gate,
        read=old,
        inside="" if inside == "." else inside,
        subject=frozenset(n for n in gate.sourced if posixpath.basename(n) in said),
        allowed=evidence.allowed,
        told=(*evidence.commands, *told),
        makefiles=makefiles,
    )


def _entries(root: Path, start: str, changes: Sequence[Change], side: TestSide) -> dict[str, str]:
    """Path to `MODE HASH`, for `git update-index`."""
    old: dict[str, str] = {}
    for change in changes:
        mixed = _mixed(change, side)
        if mixed is not None:
            if mixed != change.after:
                old[change.name] = as_entry(root, mixed)
            continue
        back = change.status != "A" and side.held(change.old_name)
        if back:
            old[change.old_name] = ""
        is_new = change.name != change.old_name or change.status == "A"
        if is_new and (back or side.steers(change)):
            old[change.name] = GONE
    known = _known(root, start, [name for name, entry in old.items() if not entry])
    return old | known


def _under_new_names(
    root: Path, entries: Mapping[str, str], names: dict[str, str], blob: Blob
) -> dict[str, str]:
    found = {}
    for name, entry in entries.items() if names else ():
        mode, _, digest = entry.partition(" ")
        text = blob(digest) if mode.startswith("100") else None
        if text and (adapted := renamed(text, names)) != text:
            found[name] = f"{mode} {as_entry(root, adapted).partition(' ')[2]}"
    return found


def _mixed(change: Change, side: TestSide) -> str | None:
    if change.before is None or change.after is None or change.status not in "MR":
        return None
    if matches(change.name, side.allowed) or is_test(change.old_name):
        return None
    return spliced(change.name, change.before, change.after)


def _known(root: Path, start: str, names: Sequence[str]) -> dict[str, str]:
    if not names:
        return {}
    listed = run_git(root, "ls-tree", "-r", "-z", start).split("\0")
    wanted, found = set(names), {}
    for line in filter(None, listed):
        head, _, name = line.partition("\t")
        if name in wanted:
            mode, _, digest = head.split(" ")
            found[name] = f"{mode} {digest}"
    return found
