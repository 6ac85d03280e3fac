"""What the variation probe needs of the repository: the values of the tests, and a tree with other ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from buildloop.workspace.git import run_git
from buildloop.workspace.integrity.check import MOST_TEST_FILES, Evidence, reader
from buildloop.workspace.integrity.counter.variation import Told, Varied, told
from buildloop.workspace.integrity.files import is_test, is_test_data
from buildloop.workspace.integrity.gate_files import gate_of
from buildloop.workspace.integrity.trees import Blob
from buildloop.workspace.trial import as_entry, tree_with


def told_by_tests(evidence: Evidence, blob: Blob) -> Callable[[], Told]:
    """Every value in the tests, their data and the gate's scripts at the start; read only when somebody asks."""
    root, start = Path(evidence.workspace.root), evidence.workspace.start_commit
    read = reader(blob, start)
    inside = Path(evidence.workspace.workdir).relative_to(root).as_posix()

    @cache
    def asked() -> Told:
        names = run_git(root, "ls-tree", "-r", "-z", "--name-only", start).split("\0")
        tests = [name for name in names if is_test(name) or is_test_data(name) or name.endswith(".t.sh")]
        scripts = gate_of(evidence.commands, inside, read).scripts
        inline = [name for name in names if name.endswith(".rs") and name not in tests]
        texts = [read(name) or "" for name in (*tests[:MOST_TEST_FILES], *scripts)]
        texts += [(read(name) or "").partition("#[cfg(test)]")[2] for name in inline[:MOST_TEST_FILES]]
        return told(texts)

    return asked


def tree_of(evidence: Evidence, others: Sequence[Varied]) -> str:
    root = Path(evidence.workspace.root)
    listed = run_git(root, "ls-tree", "-z", evidence.commit, "--", *(one.file for one in others))
    modes = {
        name: head.split(" ")[0] for head, _, name in (line.partition("\t") for line in listed.split("\0"))
    }
    entries = {
        one.file: f"{modes.get(one.file, '100644')} {as_entry(root, one.text).partition(' ')[2]}"
        for one in others
    }
    return tree_with(root, evidence.commit, entries)
