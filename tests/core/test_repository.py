"""The user's repository is looked at, never changed; what cannot be worked on is one sentence."""

from __future__ import annotations

import pytest

from buildloop.errors import InputError
from buildloop.request import DirtyPolicy
from buildloop.workspace.remote import project_address
from buildloop.workspace.repository import open_repository, start_commit, uncommitted
from tests.support.repos import checkout_state, commit_all, git, make_repo, write_files

# Real git, many commands each.
pytestmark = pytest.mark.slow
ME = ("-c", "user.name=t", "-c", "user.email=t@localhost")


def refusal(path) -> str:
    with pytest.raises(InputError) as raised:
        open_repository(path)
    assert len(str(raised.value).splitlines()) == 1
    return str(raised.value)


def test_not_a_directory_not_a_repository_no_commits_and_bare_are_refused(tmp_path):
    assert "not a directory" in refusal(tmp_path / "missing")
    assert "not a git repository" in refusal(tmp_path)
    git(tmp_path, "init", "-q", "empty")
    assert "no commits yet" in refusal(tmp_path / "empty")
    git(tmp_path, "init", "-q", "--bare", "bare")
    assert "bare repository" in refusal(tmp_path / "bare")


def test_a_folder_inside_is_the_repository_and_remembers_the_place(tmp_path):
    repo = make_repo(tmp_path / "r", {"services/api/a.py": ""})
    found = open_repository(repo / "services" / "api")
    assert (found.root, found.inside) == (repo, "services/api")
    assert open_repository(repo).inside == "."


def test_identity_is_the_root_commit(repo, tmp_path):
    """Clones are the same project; another repository without a remote is not."""
    git(tmp_path, "clone", "-q", str(repo), "clone")
    assert open_repository(repo).repo_id == open_repository(tmp_path / "clone").repo_id
    other = make_repo(tmp_path / "other", {"x": "y"})
    assert open_repository(repo).repo_id != open_repository(other).repo_id


def test_a_shallow_clone_goes_by_its_remote(repo, tmp_path):
    """It has no root commit. The full clone knows what the shallow one is called."""
    write_files(repo, {"more": "x"})
    commit_all(repo, "more")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    git(tmp_path, "clone", "-q", str(repo), "full")
    shallow, full = open_repository(tmp_path / "shallow"), open_repository(tmp_path / "full")
    assert full.repo_id == open_repository(repo).repo_id != shallow.repo_id
    assert shallow.repo_id == shallow.remote_id == full.remote_id
    write_files(repo, {"more": "y"})
    commit_all(repo, "later")
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "later")
    assert open_repository(tmp_path / "later").repo_id == shallow.repo_id


def test_where_histories_were_joined_the_main_line_says_which_project_it_is(repo, tmp_path):
    before = open_repository(repo).repo_id
    for number in range(4):
        other = make_repo(tmp_path / f"other{number}", {f"file{number}": "z"})
        git(repo, "fetch", "-q", str(other), "main")
        git(repo, *ME, "merge", "-q", "--no-edit", "--allow-unrelated-histories", "FETCH_HEAD")
    assert open_repository(repo).repo_id == before


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Acme/shop",
        "https://github.com/acme/shop.git/",
        "https://user:hunter22@github.com:443/acme/shop.git",
        "git@github.com:acme/shop.git",
        "github.com:acme/shop",
        "ssh://git@github.com:22/acme/shop.git",
        "git://github.com/acme/shop.git",
    ],
)
def test_every_way_to_write_a_remote_is_the_same_project(url, tmp_path):
    assert project_address(url, tmp_path) == "github.com/acme/shop"


def test_other_remotes_are_other_projects(tmp_path):
    urls = ("https://gitlab.com/acme/shop", "https://github.com/acme/shop2", "/srv/acme/shop.git", "../shop")
    assert len({project_address(url, tmp_path) for url in urls}) == 4
    assert project_address("https://me:hunter22@[broken/shop", tmp_path) == "[broken/shop"
    assert project_address("ssh://git@[::1]:22/shop", tmp_path) == project_address("git@[::1]:shop", tmp_path)
    assert project_address("file:///srv/acme/shop.git", tmp_path) == project_address(
        "/srv/acme/shop/", tmp_path
    )


def test_uncommitted_changes_are_refused_with_both_choices(repo):
    write_files(repo, {"calc.py": "changed", "new file.txt": "x"})
    with pytest.raises(InputError) as raised:
        start_commit(open_repository(repo), DirtyPolicy.REFUSE, "r1")
    for part in ("calc.py", "new file.txt", "--include-dirty", "--from-head"):
        assert part in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_ignored_files_are_not_changes(repo):
    write_files(repo, {".gitignore": "*.log\n"})
    commit_all(repo, "ignore logs")
    write_files(repo, {"a.log": "x"})
    assert uncommitted(repo) == []


def test_ignore_starts_from_head(repo):
    write_files(repo, {"calc.py": "changed"})
    assert start_commit(open_repository(repo), DirtyPolicy.IGNORE, "r1") == git(repo, "rev-parse", "HEAD")


def test_include_snapshots_everything_and_touches_nothing(repo):
    """Staged, unstaged, new and deleted files are in the snapshot; checkout and index stay byte for byte."""
    write_files(repo, {"staged.txt": "staged", "calc.py": "unstaged", "sub/new.txt": "new"})
    git(repo, "add", "staged.txt")
    (repo / "test_calc.py").unlink()
    before = checkout_state(repo)
    made = start_commit(open_repository(repo), DirtyPolicy.INCLUDE, "r1")
    assert checkout_state(repo) == before
    assert git(repo, "ls-tree", "-r", "--name-only", made).split() == ["calc.py", "staged.txt", "sub/new.txt"]
    assert git(repo, "show", f"{made}:calc.py") == "unstaged"
    assert git(repo, "rev-parse", f"{made}^") == git(repo, "rev-parse", "HEAD")


def test_include_without_changes_is_head(repo):
    assert start_commit(open_repository(repo), DirtyPolicy.INCLUDE, "r1") == git(repo, "rev-parse", "HEAD")


def test_looking_does_not_refresh_the_users_index(repo):
    """`git status` would rewrite the index when a file was only touched."""
    (repo / "calc.py").write_bytes((repo / "calc.py").read_bytes())
    before = (repo / ".git" / "index").read_bytes()
    assert uncommitted(repo) == []
    assert (repo / ".git" / "index").read_bytes() == before


def test_settings_that_are_not_committed_yet_are_no_reason_to_refuse(repo):
    """`buildloop init` and then `buildloop run` is the newcomer's way; the file is read from the checkout anyway."""
    write_files(repo, {"buildloop.toml": "max_iterations = 3\n"})
    assert start_commit(open_repository(repo), DirtyPolicy.REFUSE, "r1") == git(repo, "rev-parse", "HEAD")
    write_files(repo, {"other.toml": "x"})
    with pytest.raises(InputError, match=r"\(other\.toml\)"):
        start_commit(open_repository(repo), DirtyPolicy.REFUSE, "r1")
