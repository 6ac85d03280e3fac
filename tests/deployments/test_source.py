"""Where a worker takes the code from: a checkout, a clone, or what is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deployments.source import choose_source, use_source
from tests.support.repos import git, make_repo

ROOT = Path(__file__).parents[2]
SAMPLE = {"flows/__init__.py": "", "flows/build_loop.py": "MARK = 'from the source'\n"}
ASK = """
import sys
from deployments.source import use_source
use_source(sys.argv[1])
from flows.build_loop import MARK
print(MARK)
"""


def imported_from(source: str, folder: Path) -> str:
    """In a process that could import the installed flows just as well."""
    folder.mkdir()
    ran = subprocess.run(
        [sys.executable, "-c", ASK, source],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


def test_a_checkout_comes_before_what_is_installed(tmp_path):
    repo = make_repo(tmp_path / "repo", SAMPLE)
    assert imported_from(str(repo), tmp_path / "cwd") == "from the source"


def test_a_git_url_is_cloned_at_its_branch(tmp_path):
    repo = make_repo(tmp_path / "repo", {"README.md": "nothing here\n"})
    git(repo, "checkout", "-q", "-b", "stable")
    for name, text in SAMPLE.items():
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_text(text)
    git(repo, "add", "-A")
    git(repo, "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-qm", "flows")
    git(repo, "checkout", "-q", "main")
    assert imported_from(f"git+file://{repo}@stable", tmp_path / "cwd") == "from the source"


def test_a_source_without_flows_is_refused_with_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match="BUILDLOOP_SOURCE"):
        use_source(str(tmp_path))


@pytest.mark.parametrize(
    ("variable", "chosen"),
    [("", "here"), ("installed", "installed"), ("https://host/x.git", "https://host/x.git")],
)
def test_whoever_deploys_chooses_the_source(tmp_path, monkeypatch, variable, chosen):
    for name, text in SAMPLE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BUILDLOOP_SOURCE", variable)
    assert choose_source() == {"source": str(tmp_path) if chosen == "here" else chosen}


def test_a_package_that_is_no_checkout_uses_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BUILDLOOP_SOURCE", raising=False)
    assert choose_source() == {"source": "installed"}
