"""Narrowed commands against the runners themselves: a real red project, its real log, only its failures rerun."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from buildloop.diagnosis.model import LogReading
from buildloop.gate.read import read_log
from buildloop.recovery.rerun.narrow import covers, narrowed_command
from tests.support.rerunnable.compiled import COMPILED
from tests.support.rerunnable.interpreted import INTERPRETED
from tests.support.rerunnable.project import CURES, HOME, Project
from tests.support.rerunnable.scripted import SCRIPTED

pytestmark = pytest.mark.slow
PROJECTS = {**INTERPRETED, **COMPILED, **SCRIPTED}


@dataclass(frozen=True)
class Red:
    """A project whose gate has run and failed."""

    project: Project
    where: Path
    first: LogReading


@pytest.fixture(scope="module", params=PROJECTS)
def red(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Red:
    project = PROJECTS[request.param]
    require(project)
    where = tmp_path_factory.mktemp("project") / "work"
    where.mkdir()
    write(project, where)
    run(project.setup, project, where)
    return Red(project, where, run(project.command, project, where))


def test_names_that_match_nothing_are_not_taken_for_a_green_rerun(red: Red) -> None:
    """Most runners exit with 0 then: a test that vanished has not become green."""
    project, first = red.project, red.first
    if project is PROJECTS["prove"]:
        pytest.skip("its tests are files: one that is not there is an error of its own")
    renamed = replace(
        first,
        failing=tuple(other_name(test) for test in first.failing if "hook" not in test),
        findings=tuple(replace(finding, test=other_name(finding.test or "")) for finding in first.findings),
    )
    narrowed = narrowed_command(project.command, renamed)
    assert narrowed is not None
    assert not covers(run(narrowed, project, red.where), first), narrowed


def test_only_the_failing_tests_run_again(red: Red) -> None:
    """After the other one, because it cures the project."""
    project, where, first = red.project, red.where, red.first
    assert set(first.failing) == project.failing
    narrowed = narrowed_command(project.command, first)
    assert narrowed is not None
    again = run(narrowed, project, where)
    assert set(again.failing) == project.failing, narrowed
    assert again.counts is not None
    assert again.counts.run == project.runs, narrowed
    assert covers(again, first)
    cure(project, where)
    green = run(narrowed, project, where)
    assert green.failing == ()
    assert covers(green, first), green.counts


def other_name(test: str) -> str:
    return re.sub("(?<=[a-z])(?=[a-z])", "q", test, count=1)


def cure(project: Project, where: Path) -> None:
    for name, text in project.files.items():
        for wrong, right in CURES.items():
            text = text.replace(wrong, right)
        (where / name).write_text(text)
    run(project.setup, project, where)


def usable(tool: str) -> bool:
    """Installed, and for the JavaScript runners also able to start: distributions ship some that are not."""
    if shutil.which(tool) is None:
        return False
    if tool not in ("mocha", "jest", "vitest", "ava"):
        return True
    return subprocess.run([tool, "--version"], capture_output=True, check=False).returncode == 0


def require(project: Project) -> None:
    missing = [tool for tool in (project.tool, *project.also) if not usable(tool)]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed here")
    if absent := [path for path in project.needs if not path.exists()]:
        pytest.skip(f"{absent[0]} is missing, and it cannot be fetched offline")


def write(project: Project, where: Path) -> None:
    for name, text in project.files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text)
    program = Path(shutil.which(project.tool) or "")
    if program.parent.name == ".bin":
        (where / "node_modules").symlink_to(program.parent.parent)


def run(command: str, project: Project, where: Path) -> LogReading:
    log = where.parent / f"{where.name}.log"
    toolchains = {"RUSTUP_HOME": str(HOME / ".rustup"), "GOCACHE": str(where.parent / "go-cache")}
    environment = {**toolchains, **os.environ, **project.environment}
    with log.open("wb") as stream:
        done = subprocess.run(
            ["/bin/sh", "-c", command], cwd=where, stdout=stream, stderr=stream, env=environment, check=False
        )
    return read_log(log, done.returncode)
