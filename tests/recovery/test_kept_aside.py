"""Whatever is interrupted where: the old folder is there again, or the new one is, whole."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from buildloop.recovery.fresh_folder import fresh_folder
from buildloop.recovery.kept_aside import let_go, move_aside, put_back

ROOT = Path(__file__).parents[2]


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "work" / "node_modules"
    folder.mkdir(parents=True)
    (folder / "old").touch()
    return folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def install(folder: Path) -> None:
    folder.mkdir()
    (folder / "new").touch()


def test_a_failed_install_is_undone(old, tmp_path):
    move_aside(tmp_path / "aside", [old])
    assert not old.exists()
    install(old)
    put_back(tmp_path / "aside")
    assert names(old) == ["old"]


def test_a_failed_first_install_leaves_nothing(tmp_path):
    folder = tmp_path / "node_modules"
    move_aside(tmp_path / "aside", [folder])
    install(folder)
    put_back(tmp_path / "aside")
    assert not folder.exists()


def test_what_succeeded_stays(old, tmp_path):
    move_aside(tmp_path / "aside", [old])
    install(old)
    let_go(tmp_path / "aside")
    put_back(tmp_path / "aside")
    assert names(old) == ["new"]
    assert not (tmp_path / "aside").exists()


def test_a_link_to_the_users_own_folder_is_moved_not_followed(old, tmp_path):
    link = tmp_path / "linked"
    link.symlink_to(old)
    move_aside(tmp_path / "aside", [link])
    install(link)
    put_back(tmp_path / "aside")
    assert link.is_symlink()
    assert names(old) == ["old"]


KILLED = """
import os, sys
from pathlib import Path
from buildloop.recovery.kept_aside import let_go, move_aside

step, seen = int(sys.argv[1]), 0

def count(event, arguments):
    global seen
    if event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir") or (event == "open" and "w" in str(arguments[1])):
        if seen == step:
            os._exit(9)
        seen += 1

store, folder = Path("aside"), Path("work/node_modules").absolute()
sys.addaudithook(count)
move_aside(store, [folder, folder.with_name("other")])
folder.mkdir()
(folder / "new").write_text("x")
let_go(store)
print("done")
"""


def test_a_process_killed_between_any_two_steps_leaves_the_old_or_the_new(tmp_path):
    """The audit hook sees every change to the disk before it happens; the process dies at each of them in turn."""
    finished, found = False, []
    for step in range(60):
        if finished:
            break
        here = tmp_path / str(step)
        folder = here / "work" / "node_modules"
        folder.mkdir(parents=True)
        (folder / "old").touch()
        ran = subprocess.run(
            [sys.executable, "-c", KILLED, str(step)],
            cwd=here,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        )
        finished = "done" in ran.stdout
        put_back(here / "aside")
        assert names(folder) in (["old"], ["new"]), step
        assert not (here / "aside").exists()
        found.append(names(folder))
    assert finished
    assert found[0] == ["old"]
    assert found[-1] == ["new"]


def test_a_folder_counts_only_when_it_is_finished(tmp_path):
    with fresh_folder(tmp_path / "packages") as first:
        (first.path / "half").touch()
    assert not first.path.exists()
    with fresh_folder(tmp_path / "packages") as second:
        second.finish()
    with fresh_folder(tmp_path / "packages") as third:
        assert third.path != second.path
        assert second.path.exists()


def test_a_folder_left_by_a_killed_process_is_removed(tmp_path):
    parent = tmp_path / "packages"
    (parent / "1").mkdir(parents=True)
    (parent / "1.unfinished").touch()
    with fresh_folder(parent) as fresh:
        assert names(fresh.path) == []
