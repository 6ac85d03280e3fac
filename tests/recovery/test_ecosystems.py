"""The table of package managers, and which of them a project uses."""

from __future__ import annotations

from pathlib import Path

import pytest

from buildloop.recovery.ecosystems import ECOSYSTEMS, PIP_INSTALL, projects_in

EXPECTED = {
    "pnpm-lock.yaml": ("pnpm", "pnpm install --frozen-lockfile"),
    "yarn.lock": ("yarn", "yarn install --frozen-lockfile"),
    "package-lock.json": ("npm", "npm ci"),
    "npm-shrinkwrap.json": ("npm", "npm ci"),
    "package.json": ("npm", "npm install --no-save"),
    "uv.lock": ("uv", "uv sync --frozen"),
    "poetry.lock": ("poetry", "poetry install"),
    "requirements.txt": ("pip", PIP_INSTALL),
    "pyproject.toml": ("pip", PIP_INSTALL),
    "setup.py": ("pip", PIP_INSTALL),
    "Cargo.lock": ("cargo", "cargo fetch --locked"),
    "Cargo.toml": ("cargo", "cargo fetch"),
    "go.mod": ("go", "go mod download"),
    "Gemfile": ("bundler", "bundle install"),
    "pom.xml": ("maven", "mvn -q -B dependency:resolve"),
    "composer.json": ("composer", "composer install"),
    "shop.sln": ("dotnet", "dotnet restore"),
    "shop.csproj": ("dotnet", "dotnet restore"),
}
CONTENT = {"pyproject.toml": "[project]\n"}


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text(CONTENT.get(name, ""))
    return folder


@pytest.mark.parametrize("marker", EXPECTED)
def test_each_marker_has_its_command(marker, tmp_path):
    (project,) = projects_in(put(tmp_path, marker))
    name, command = EXPECTED[marker]
    assert project.ecosystem.name == name
    assert " ".join(project.ecosystem.argv).startswith(command)


def test_every_row_of_the_table_is_tested_and_well_formed():
    assert {one.name for one in ECOSYSTEMS} == {name for name, _ in EXPECTED.values()}
    assert len(ECOSYSTEMS) == len(EXPECTED) + 1  # yarn has two rows for one lock file
    for one in ECOSYSTEMS:
        assert all(word and " " not in word for word in one.argv if word != PIP_INSTALL)
        assert not any(Path(name).is_absolute() or ".." in name for name in one.produces)


def test_what_would_go_into_the_users_environment_goes_into_a_folder_of_the_run():
    """The rest installs into the workspace, or adds to a cache that no version can make worse."""
    assert {one.name for one in ECOSYSTEMS if one.wants_folder} == {"uv", "poetry", "pip", "bundler"}
    caches = {"cargo", "go", "maven", "dotnet"}
    assert all(one.produces for one in ECOSYSTEMS if not one.wants_folder and one.name not in caches)


def test_both_kinds_of_yarn_are_told_by_their_lock_file(tmp_path):
    put(tmp_path, "package.json")
    (tmp_path / "yarn.lock").write_text("# yarn lockfile v1\n")
    assert "--frozen-lockfile" in projects_in(tmp_path)[0].ecosystem.argv
    (tmp_path / "yarn.lock").write_text("__metadata:\n  version: 8\n")
    assert "--immutable" in projects_in(tmp_path)[0].ecosystem.argv


def test_a_lock_file_comes_before_a_manifest(tmp_path):
    put(tmp_path, "package.json", "package-lock.json", "pyproject.toml", "poetry.lock", "requirements.txt")
    assert [p.ecosystem.marker for p in projects_in(tmp_path)] == ["package-lock.json", "poetry.lock"]


def test_a_pyproject_that_only_configures_tools_asks_for_nothing(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.ruff]\n")
    assert projects_in(tmp_path) == []


def test_the_nearest_project_of_each_family_counts_up_to_the_root_of_the_repository(tmp_path):
    put(tmp_path, "Gemfile")
    root = put(tmp_path / "repo", "package-lock.json", "requirements.txt")
    (root / ".git").write_text("gitdir: elsewhere")
    here = put(root / "services" / "api", "requirements.txt")
    found = {p.ecosystem.name: p.folder for p in projects_in(here)}
    assert found == {"pip": here, "npm": root}


def test_where_there_is_none_the_folders_below_are_looked_at(tmp_path):
    put(tmp_path / "frontend", "package-lock.json")
    put(tmp_path / "backend", "requirements.txt")
    put(tmp_path / ".hidden", "Cargo.toml")
    assert [p.ecosystem.name for p in projects_in(tmp_path)] == ["pip", "npm"]


@pytest.mark.parametrize("inside", [".", "api", "api/sub"])
def test_what_lies_behind_a_link_is_not_of_the_project(tmp_path, inside):
    """An agent commits a link to a folder of the user's: a package manager would work there."""
    users = put(tmp_path / "users", "package.json")
    put(users / "sub" / ".git")
    put(users / "sub", "Gemfile")
    root = put(tmp_path / "work")
    (root / ".git").write_text("gitdir: elsewhere")
    for name in ("web", "api"):
        (root / name).symlink_to(users)
    assert projects_in(root / inside, root) == []


def test_a_workspace_behind_a_link_of_the_users_is_one(tmp_path):
    put(tmp_path / "disk" / "work" / "api", "go.mod")
    (tmp_path / "state").symlink_to(tmp_path / "disk")
    root = tmp_path / "state" / "work"
    assert [p.folder for p in projects_in(root / "api", root)] == [root / "api"]
    assert [p.folder for p in projects_in(root, root)] == [root / "api"]
