"""Installs with the real package managers, offline: from folders, wheels and tarballs of the test's own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from buildloop.environment import child_environment
from buildloop.errors import InstallUnavailable
from buildloop.recovery.install import Install, install_dependencies
from buildloop.recovery.pip import declared_in, pip_install

OFFLINE = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_INDEX": "1",
    "UV_OFFLINE": "1",
    "npm_config_offline": "true",
    "CARGO_NET_OFFLINE": "true",
    "GOFLAGS": "-mod=mod",
    "GOPROXY": "off",
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "worktree"
    (folder / ".git").mkdir(parents=True)
    return folder


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def wheel(folder: Path, name: str, version: str = "1.0", requires: str = "") -> None:
    """The smallest wheel: one module that knows its version."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", f"VERSION = {version!r}\n")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(
            f"{info}/entry_points.txt", f"[console_scripts]\n{name}-tool = {name}:VERSION.strip\n"
        )
        archive.writestr(f"{info}/RECORD", "")


def environment(work: Path, **extra: str) -> dict[str, str]:
    return {**child_environment(os.environ, work, {}), **OFFLINE, **extra}


def install(work: Path, environment: dict[str, str]) -> Install:
    run_dir = work.parent / "run"
    return install_dependencies(
        work, run_dir, run_dir / "install.log", environment, "test-mark", lambda text: text
    )


def gate(command: str, work: Path, done: Install) -> subprocess.CompletedProcess[str]:
    """What a later gate sees."""
    seen = child_environment(os.environ, work, done.environment)
    return subprocess.run(
        ["/bin/sh", "-c", command], cwd=work, env={**seen, **OFFLINE}, capture_output=True, text=True
    )


def needs(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed here")
    return found


def test_nothing_to_install_from(work):
    assert not install(work, environment(work)).done


@pytest.mark.slow
class TestPip:
    def test_packages_and_their_programs_are_seen_by_later_gates_only(self, work):
        wheel(work / "vendor", "shelf")
        put(work, {"requirements.txt": "--find-links vendor\nshelf==1.0\n"})
        done = install(work, environment(work))
        assert done.done, done.explanation
        assert gate("python -c 'import shelf' && command -v shelf-tool", work, done).returncode == 0
        assert gate("python -c 'import shelf'", work, Install(True, "")).returncode != 0

    def test_the_wrong_dependency_is_named_and_the_last_good_install_stays(self, work):
        wheel(work / "vendor", "shelf")
        put(work, {"requirements.txt": "--find-links vendor\nshelf==1.0\n"})
        first = install(work, environment(work))
        put(work, {"requirements.txt": "--find-links vendor\nshelf==9.9\n"})
        second = install(work, environment(work))
        assert not second.done
        assert second.wrong[0] == "shelf==9.9 (there is: 1.0)"
        assert "shelf==9.9" in second.explanation
        assert gate("python -c 'import shelf'", work, first).returncode == 0
        assert [path.name for path in (work.parent / "run" / "packages").iterdir()] == ["1"]

    def test_a_conflict_names_both_sides(self, work):
        wheel(work / "vendor", "shelf", requires="board<2")
        wheel(work / "vendor", "board", "1.0")
        wheel(work / "vendor", "board", "2.0")
        put(work, {"requirements.txt": "--find-links vendor\nshelf\nboard>=2\n"})
        done = install(work, environment(work))
        assert not done.done
        assert any("shelf 1.0 depends on board<2" in wrong for wrong in done.wrong)
        assert any("board>=2" in wrong for wrong in done.wrong)

    def test_a_registry_that_does_not_answer_is_another_matter(self, work):
        put(work, {"requirements.txt": "--index-url http://127.0.0.1:9/simple\nshelf==1.0\n"})
        with pytest.raises(InstallUnavailable):
            install(work, environment(work, PIP_NO_INDEX="", PIP_RETRIES="0"))

    def test_a_pyproject_is_read_for_its_dependencies_but_the_project_is_not_copied(self, work):
        wheel(work / "vendor", "shelf")
        wheel(work / "vendor", "tester")
        put(
            work,
            {
                "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\ndependencies = ["shelf"]\n'
                '[project.optional-dependencies]\ntest = ["tester"]\n',
                "shop.py": "",
            },
        )
        done = install(work, environment(work, PIP_FIND_LINKS=str(work / "vendor")))
        assert done.done, done.explanation
        where = gate("python -c 'import shelf, tester, shop; print(shop.__file__)'", work, done)
        assert Path(where.stdout.strip()).parent == work

    def test_an_interpreter_without_pip_gets_its_packages_from_another_installer(self, work, tmp_path):
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True)
        wheel(work / "vendor", "shelf")
        put(work, {"requirements.txt": "shelf\n"})
        path = f"{tmp_path / 'bare' / 'bin'}:{os.environ['PATH']}"
        links = str(work / "vendor")
        found = environment(work, PATH=path, PIP_FIND_LINKS=links, UV_FIND_LINKS=links, UV_NO_INDEX="1")
        words = pip_install(found)
        assert words is not None
        assert str(tmp_path / "bare" / "bin" / "python") in words
        assert install(work, found).done

    def test_only_requirements_are_taken_from_a_pyproject(self, tmp_path):
        """A line that is an option would be obeyed by pip."""
        file = tmp_path / "pyproject.toml"
        file.write_text('[project]\ndependencies = ["shelf>=1", "--index-url=http://evil"]\n')
        assert declared_in(file) == ["shelf>=1"]
        file.write_text('[project]\ndynamic = ["dependencies"]\n')
        assert declared_in(file) is None


@pytest.mark.slow
class TestNpm:
    def project(self, work: Path, version: str = "1.0.0") -> None:
        put(
            work,
            {
                "left/package.json": '{"name": "left", "version": "1.0.0", "main": "i.js"}',
                "left/i.js": "module.exports = 1",
                "package.json": json.dumps({"name": "shop", "dependencies": {"left": "file:left"}}),
            },
        )

    def locked(self, work: Path) -> None:
        needs("npm")
        self.project(work)
        subprocess.run(["npm", "install", "--offline"], cwd=work, check=True, capture_output=True)

    def test_a_locked_install(self, work):
        self.locked(work)
        shutil.rmtree(work / "node_modules")
        done = install(work, environment(work))
        assert done.done, done.explanation
        assert gate("node -e 'require(\"left\")'", work, done).returncode == 0

    def test_a_failed_install_leaves_the_old_packages_as_they_were(self, work):
        self.locked(work)
        (work / "node_modules" / "by-hand").mkdir()
        manifest = json.loads((work / "package.json").read_text())
        manifest["dependencies"]["absent"] = "1.0.0"
        (work / "package.json").write_text(json.dumps(manifest))
        done = install(work, environment(work))
        assert not done.done
        assert any("absent@1.0.0" in wrong for wrong in done.wrong), done.explanation
        assert (work / "node_modules" / "by-hand").is_dir()
        assert gate("node -e 'require(\"left\")'", work, done).returncode == 0

    def test_what_a_killed_install_moved_is_back_before_the_next_one(self, work):
        self.locked(work)
        aside = work.parent / "run" / "aside"
        put(aside, {"note.json": json.dumps([{"path": str(work / "node_modules"), "there": True}])})
        (work / "node_modules").rename(aside / "0")
        (work / "package-lock.json").unlink()
        (work / "package.json").unlink()
        install(work, environment(work))
        assert (work / "node_modules" / "left").exists()

    def test_a_registry_that_does_not_answer_is_another_matter(self, work):
        needs("npm")
        put(work, {"package.json": '{"dependencies": {"left-pad": "1.0.0"}}'})
        unreachable = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
        with pytest.raises(InstallUnavailable):
            install(work, environment(work, npm_config_offline="false", **unreachable))


@pytest.mark.slow
def test_two_ecosystems_are_both_installed_and_one_success_is_worth_a_gate(work):
    needs("npm")
    wheel(work / "vendor", "shelf")
    put(work, {"requirements.txt": "--find-links vendor\nshelf\n"})
    put(work, {"package.json": '{"dependencies": {"absent": "file:nowhere"}}'})
    done = install(work, environment(work))
    assert done.done
    assert "npm could not install" in done.explanation
    assert "pip installed" in done.explanation
    assert gate("python -c 'import shelf'", work, done).returncode == 0


@pytest.mark.slow
class TestEnvironments:
    """uv and poetry make environments: inside of the run, never in the workspace or in the one that is active."""

    def manifest(self, work: Path) -> None:
        wheel(work / "vendor", "shelf")
        put(
            work,
            {
                "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.11"\n'
                'dependencies = ["shelf"]\n'
                '[tool.uv.sources]\nshelf = { path = "vendor/shelf-1.0-py3-none-any.whl" }\n'
                "[tool.poetry]\npackage-mode = false\n"
                '[tool.poetry.dependencies]\nshelf = { path = "vendor/shelf-1.0-py3-none-any.whl" }\n'
            },
        )

    def path_with(self, tool: str) -> str:
        beside = shutil.which(tool, path=str(Path(sys.executable).parent))
        return f"{os.environ['PATH']}:{Path(beside or needs(tool)).parent}"

    @pytest.mark.parametrize(("tool", "lock"), [("uv", "uv lock"), ("poetry", "poetry lock")])
    def test_its_interpreter_is_the_gates_and_nothing_else_changes(self, work, tool, lock, tmp_path):
        path = self.path_with(tool)
        self.manifest(work)
        active = tmp_path / "active"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", active], check=True)
        found = environment(work, PATH=path, VIRTUAL_ENV=str(active), POETRY_VIRTUALENVS_CREATE="true")
        subprocess.run(
            lock.split(), cwd=work, env={**found, "VIRTUAL_ENV": ""}, check=True, capture_output=True
        )
        before = sorted(active.rglob("*"))
        done = install(work, found)
        assert done.done, done.explanation
        assert gate("python -c 'import shelf'", work, done).returncode == 0
        assert not (work / ".venv").exists()
        assert sorted(active.rglob("*")) == before

    def test_a_failed_sync_leaves_no_half_environment(self, work):
        path = self.path_with("uv")
        self.manifest(work)
        found = environment(work, PATH=path)
        subprocess.run(["uv", "lock"], cwd=work, env=found, check=True, capture_output=True)
        (work / "vendor" / "shelf-1.0-py3-none-any.whl").unlink()
        done = install(work, found)
        assert not done.done
        assert list((work.parent / "run" / "packages").iterdir()) == []


SMALL = {
    "cargo": (
        {
            "Cargo.toml": '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
            '[dependencies]\nshelf = { path = "shelf" }\n',
            "src/lib.rs": "",
            "shelf/Cargo.toml": '[package]\nname = "shelf"\nversion = "0.1.0"\nedition = "2021"\n',
            "shelf/src/lib.rs": "",
        },
        {"shelf/Cargo.toml": '[package]\nname = "shelf"\nversion = "0.1.0"\n[dependencies]\nabsent = "9"\n'},
        "absent",
    ),
    "go": (
        {
            "go.mod": "module shop\n\ngo 1.19\n\nrequire example.com/shelf v1.0.0\n"
            "replace example.com/shelf => ./shelf\n",
            "shelf/go.mod": "module example.com/shelf\n",
        },
        {"go.mod": "module shop\n\ngo 1.19\n\nrequire example.com/absent v9.9.9\n"},
        "example.com/absent@v9.9.9",
    ),
    "bundle": (
        {
            "Gemfile": "gem 'shelf', path: 'shelf'\n",
            "shelf/shelf.gemspec": "Gem::Specification.new { |s| s.name = 'shelf'; s.version = '1'; s.summary = 's'; "
            "s.authors = ['a'] }\n",
        },
        {"Gemfile": "gem 'shelf', '= 9', path: 'shelf'\n"},
        "shelf (= 9)",
    ),
    "pnpm": (
        {
            "package.json": '{"dependencies": {"left": "link:left"}}',
            "left/package.json": '{"name": "left", "version": "1.0.0"}',
            "pnpm-lock.yaml": "lockfileVersion: '9.0'\nsettings:\n  autoInstallPeers: true\n"
            "  excludeLinksFromLockfile: false\nimporters:\n  .:\n    dependencies:\n      left:\n"
            "        specifier: link:left\n        version: link:left\n",
        },
        {"package.json": '{"dependencies": {"left": "link:left", "absent": "9.9.9"}}'},
        "absent@9.9.9",
    ),
    "yarn": (
        {
            "package.json": '{"name": "shop", "version": "1.0.0", "dependencies": {"left": "link:left"}}',
            "left/package.json": '{"name": "left", "version": "1.0.0"}',
            "yarn.lock": '# yarn lockfile v1\n\n\n"left@link:left":\n  version "0.0.0"\n  uid ""\n',
        },
        None,
        "",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("tool", SMALL)
def test_others_install_what_is_there_and_name_what_is_not(tool, work, monkeypatch):
    needs(tool)
    good, bad, named = SMALL[tool]
    put(work, good)
    found = environment(work, GOFLAGS="-mod=mod")
    done = install(work, found)
    assert done.done, done.explanation
    if bad is None:
        return
    put(work, bad)
    done = install(work, found)
    assert not done.done
    assert any(named in wrong for wrong in done.wrong), done.explanation
