"""pip, uv and poetry, offline: packages go where only later gates see them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from buildloop.errors import InstallUnavailable
from buildloop.recovery.install import Install
from buildloop.recovery.pip import declared_in, pip_install
from tests.support.installing import environment, gate, install, needs, put, wheel


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("[project]\noptional-dependencies = []\ndependencies = ['a']\n", ["a"]),
        ("project = 3\n", []),
        ("[project]\ndependencies = 'a'\n", []),
    ],
)
def test_a_manifest_of_another_shape_declares_what_it_declares(tmp_path, text, declared):
    put(tmp_path, {"pyproject.toml": text})
    assert declared_in(tmp_path / "pyproject.toml") == declared


def test_a_manifest_in_pieces_is_an_install_that_failed(work):
    put(work, {"pyproject.toml": "[project]\nname = 'x'\ndependencies = ['a' 'b']\n"})
    tried = install(work, environment(work))
    assert not tried.done
    assert "pyproject.toml cannot be read" in tried.explanation


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
        put(work, {"requirements.txt": "-i http://127.0.0.1:9/simple\nshelf==1.0\n"})
        with pytest.raises(InstallUnavailable):
            install(work, environment(work, PIP_NO_INDEX="", PIP_RETRIES="1"))

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
        file.write_text('[project]\ndependencies = ["shelf>=1", "--find-links=http://evil"]\n')
        assert declared_in(file) == ["shelf>=1"]
        file.write_text('[project]\ndynamic = ["dependencies"]\n')
        assert declared_in(file) is None


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
