"""Finds the test command of each ecosystem from the files that say so."""

from __future__ import annotations

import json
import tomllib

import pytest

from buildloop.cli.init import config_text
from buildloop.detect import detect_tests
from tests.support.repos import write_files

NODE = json.dumps({"scripts": {"test": "vitest run"}})

ECOSYSTEMS = {
    "pytest": ({"pytest.ini": "[pytest]\n"}, "python -m pytest -q"),
    "pytest in pyproject": ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python -m pytest -q"),
    "pytest in setup.cfg": ({"setup.cfg": "[tool:pytest]\n"}, "python -m pytest -q"),
    "pytest by conftest": ({"tests/conftest.py": ""}, "python -m pytest -q"),
    "pytest by style": ({"tests/test_a.py": "import pytest\n"}, "python -m pytest -q"),
    "unittest": ({"test_a.py": "import unittest\n"}, "python -m unittest"),
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
    assert tomllib.loads(text)["test"] == ["python -m pytest -q"]
    assert '#   "make test" (Makefile)' in text


def test_without_any_the_file_is_still_valid_and_asks_for_one():
    assert "test" not in tomllib.loads(config_text([]))
    assert "# test = " in config_text([])
