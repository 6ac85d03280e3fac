"""Finds the test command of each ecosystem from the files that say so."""

from __future__ import annotations

import json
import re
import shutil
import tomllib

import pytest

from buildloop.cli.init import config_text
from buildloop.config import gather_settings, make_request
from buildloop.detect import detect_tests
from tests.support.repos import write_files

NODE = json.dumps({"scripts": {"test": "vitest run"}})

PYTHON = "python" if shutil.which("python") else "python3"

ECOSYSTEMS = {
    "pytest": ({"pytest.ini": "[pytest]\n"}, f"{PYTHON} -m pytest -q"),
    "pytest in pyproject": ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, f"{PYTHON} -m pytest -q"),
    "pytest in setup.cfg": ({"setup.cfg": "[tool:pytest]\n"}, f"{PYTHON} -m pytest -q"),
    "pytest by conftest": ({"tests/conftest.py": ""}, f"{PYTHON} -m pytest -q"),
    "pytest by style": ({"tests/test_a.py": "import pytest\n"}, f"{PYTHON} -m pytest -q"),
    "unittest": ({"test_a.py": "import unittest\n"}, f"{PYTHON} -m unittest"),
    "npm": ({"package.json": NODE}, "npm test"),
    "pnpm": ({"package.json": NODE, "pnpm-lock.yaml": ""}, "pnpm test"),
    "yarn": ({"package.json": NODE, "yarn.lock": ""}, "yarn test"),
    "cargo": ({"Cargo.toml": "[package]\n"}, "cargo test"),
    "go": ({"go.mod": "module x\n"}, "go test ./..."),
    "maven": ({"pom.xml": "<project/>"}, "mvn -B test"),
    "maven wrapper": ({"pom.xml": "<project/>", "mvnw": ""}, "./mvnw -B test"),
    "gradle": ({"build.gradle": ""}, "gradle test"),
    "gradle kotlin wrapper": ({"build.gradle.kts": "", "gradlew": ""}, "./gradlew test"),
    "make test": ({"Makefile": "all:\n\ntest: all\n\tx\n"}, "make test"),
    "make check": ({"GNUmakefile": "check:\n\tx\n"}, "make check"),
}

UNDETECTABLE = {
    "nothing": {"README.md": "hello"},
    "npm's placeholder": {
        "package.json": json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})
    },
    "broken package.json": {"package.json": "{"},
    "package.json that is a list": {"package.json": "[]"},
    "package.json with odd scripts": {"package.json": '{"scripts": {"test": 3}}'},
    "package.json with scripts as a list": {"package.json": '{"scripts": []}'},
    "no test target": {"Makefile": "build:\n\ttest -f x\n"},
    "other pyproject": {"pyproject.toml": "[project]\n"},
    "binary": {"Makefile": "\x00\x01"},
}


@pytest.mark.parametrize("name", ECOSYSTEMS)
def test_the_command_is_found(tmp_path, name):
    files, command = ECOSYSTEMS[name]
    write_files(tmp_path, files)
    assert detect_tests(tmp_path)[0].command == command
    assert tomllib.loads(config_text(detect_tests(tmp_path)))["test"] == [command]


@pytest.mark.parametrize("name", UNDETECTABLE)
def test_nothing_is_invented(tmp_path, name):
    write_files(tmp_path, UNDETECTABLE[name])
    assert detect_tests(tmp_path) == []


def test_other_ways_are_named_as_comments(tmp_path):
    write_files(tmp_path, ECOSYSTEMS["pytest"][0] | ECOSYSTEMS["make test"][0])
    text = config_text(detect_tests(tmp_path))
    assert tomllib.loads(text)["test"] == [f"{PYTHON} -m pytest -q"]
    assert '#   "make test" (Makefile)' in text


def test_without_any_the_file_is_still_valid_and_asks_for_one():
    assert "test" not in tomllib.loads(config_text([]))
    assert "# test = " in config_text([])


@pytest.mark.parametrize(
    ("installed", "files", "command"),
    [
        (("python", "python3"), {}, "python -m pytest -q"),
        (("python3",), {}, "python3 -m pytest -q"),
        (("python3", "uv"), {"uv.lock": ""}, "uv run pytest -q"),
        (("python3", "poetry"), {"poetry.lock": ""}, "poetry run pytest -q"),
        (("python3",), {"uv.lock": "", "poetry.lock": ""}, "python3 -m pytest -q"),
        (("python3", "uv"), {}, "python3 -m pytest -q"),
    ],
)
def test_python_is_called_as_it_is_installed_here(tmp_path, monkeypatch, installed, files, command):
    for name in installed:
        write_files(tmp_path, {f"bin/{name}": ""})
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    write_files(tmp_path / "project", {"pytest.ini": "[pytest]\n", **files})
    assert detect_tests(tmp_path / "project")[0].command == command


def test_what_is_shown_as_a_comment_can_be_used(tmp_path):
    """Every setting in the written file, uncommented, is one that a run takes."""
    shown = re.sub(r"^# (\w+ = )", r"\1", config_text([]), flags=re.M)
    (tmp_path / "buildloop.toml").write_text(shown)
    flags = {"goal": "g", "repo": str(tmp_path)}
    asked = make_request(gather_settings(flags, {}, tmp_path))
    assert (asked.agent, asked.budget_usd, asked.integrity) == ("claude", 5.0, "block")
    assert asked.protect == ("tests/acceptance/**",)
