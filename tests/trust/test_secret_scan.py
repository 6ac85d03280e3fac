"""No corner of a checkpoint hides a secret from the scan, and nothing excuses a value of this environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from buildloop.workspace.checkpoint import Rules, Step, make_checkpoint
from buildloop.workspace.secret_scan import secrets_in
from buildloop.workspace.staging import look_at_index
from buildloop.workspace.worktree import prepare_worktree
from tests.support.repos import git, make_repo

VALUE = "Zk93hfQpLm27xVbT"
TOKEN = "ghp_" + "q8Zr3Lk9Xw2Vb7Nm4Tc6Yh1Jd5Fg0SaPeRuK"


@pytest.fixture
def root(tmp_path, request_for):
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n", "z.txt": "z\n"})
    git(repo, "config", "diff.submodule", "log")
    git(repo, "config", "diff.noprefix", "true")
    return prepare_worktree(request_for(repo))


def refused(workspace, tmp_path, environment) -> list[str]:
    step, rules = Step("run", 1, 1), Rules(secrets=environment)
    point = make_checkpoint(workspace, step, workspace.start_commit, tmp_path / "exclude", "t", rules)
    held = git(Path(workspace.root), "ls-tree", "-r", "--name-only", point.commit).split("\n")
    assert not {one.file for one in point.refused} & ({*held} - {"a.txt", "z.txt"})
    return [one.file for one in point.refused]


def after_a_change_of_type(root):
    (root / "a.txt").unlink()
    (root / "a.txt").symlink_to("z.txt")
    (root / "z.txt").write_text(VALUE)


def behind_a_submodule(root):
    git(root, "init", "-q", "a-sub")
    git(root / "a-sub", "-c", "user.name=a", "-c", "user.email=b", "commit", "-q", "--allow-empty", "-m", "s")
    (root / ".gitmodules").write_text('[submodule "a-sub"]\n\tpath = a-sub\n\turl = ./x\n')
    (root / "z.txt").write_text(VALUE)


def behind_attributes(root):
    (root / ".gitattributes").write_text("* -diff\n")
    (root / "z.txt").write_text(VALUE)


def beside_an_empty_byte(root):
    (root / "z.txt").write_bytes(b"\0" + VALUE.encode())


def in_two_bytes_a_character(root):
    (root / "z.txt").write_bytes(f"one\nkey={VALUE}\n".encode("utf-16"))


def in_a_line_like_a_header(root):
    (root / "z.txt").write_text(f"++ {VALUE}\n")


def far_to_the_right(root):
    (root / "z.txt").write_text("x" * 20_000 + VALUE)


def beside_another_token(root):
    (root / "z.txt").write_text(f"https://user:{'x' * 9}@host {VALUE}\n")


def below_a_replaced_object(root):
    (root / "z.txt").write_text(VALUE)
    hidden = git(root, "hash-object", "-w", "z.txt")
    git(root, "replace", hidden, git(root, "rev-parse", "HEAD:z.txt"))


@pytest.mark.parametrize(
    "hide",
    [
        after_a_change_of_type, behind_a_submodule, behind_attributes, beside_an_empty_byte, in_two_bytes_a_character,
        in_a_line_like_a_header, far_to_the_right, beside_another_token, below_a_replaced_object,
    ],
)  # fmt: skip
def test_a_secret_is_found_wherever_it_is(root, tmp_path, hide):
    hide(Path(root.root))
    assert refused(root, tmp_path, {"MY_TOKEN": VALUE}) == ["z.txt"]


def test_what_is_committed_is_read_and_not_a_file_that_looks_the_same(root):
    place = Path(root.root)
    file = place / "z.txt"
    for setting in ("core.trustctime=false", "core.checkStat=minimal"):
        git(place, "config", *setting.split("="))
    file.write_text(VALUE)
    os.utime(file, (1_000_000_000, 1_000_000_000))
    git(place, "add", "-A")
    file.write_text("x" * len(VALUE))
    os.utime(file, (1_000_000_000, 1_000_000_000))
    assert VALUE in git(place, "show", ":z.txt")
    staged = look_at_index(place, root.start_commit)
    found = secrets_in(staged.patch, ["z.txt"], {"MY_TOKEN": VALUE})
    assert [name for name, _ in found] == ["z.txt"]


def test_a_shape_is_found_beyond_the_first_columns(root, tmp_path):
    for at in (4980, 12_345):
        (Path(root.root) / f"at-{at}.txt").write_text("x " * (at // 2) + TOKEN)
    assert refused(root, tmp_path, {}) == ["at-12345.txt", "at-4980.txt"]


@pytest.mark.parametrize(
    ("variable", "value", "file", "line"),
    [
        ("DATABASE_URL", f"postgres://app:{VALUE}@db.example.com/app", "conf.py", "URL = '{}'"),
        ("STRIPE_SECRET_KEY", "sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc", "conf.py", "KEY = '{}'"),
        ("NPM_TOKEN", "npm_" + "aB3dE5gH7jK9mN1pQ3sT5vX7zA9cD1fG3hJ5", "yarn.lock", "at https://r/x?t={}"),
        ("GITHUB_TOKEN", TOKEN, "requirements.txt", "pkg @ git+https://{}@github.com/o/r"),
    ],
)
def test_a_value_of_the_environment_has_no_excuse(root, tmp_path, variable, value, file, line):
    (Path(root.root) / file).write_text(line.format(value) + "\n")
    assert refused(root, tmp_path, {variable: value}) == [file]
