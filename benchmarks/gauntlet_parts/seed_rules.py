"""The seeds' literal rules: their patterns in their order, and the effects their steps have inside a loop."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from benchmarks.gauntlet_parts.commands import environment_for
from benchmarks.gauntlet_parts.while_loop import Place, Standing, Turn
from buildloop.context.window import check_context_exhaustion
from buildloop.diagnosis.model import FailureMode
from buildloop.request import RESTART_CAP

DEPENDENCY = re.compile(
    r"npm ERR.*ERESOLVE|npm ERR.*peer dep|Module not found|Cannot find module|"
    r"pip.*install.*fail|ModuleNotFoundError|ImportError|cargo.*fetch|cargo.*resolve|unresolved import|"
    r"ENOENT.*node_modules|package.*not found|version.*conflict",
    re.I,
)
FLAKY = re.compile(r"timeout|EADDRINUSE|ECONNREFUSED|race|flaky|intermittent", re.I)
CONTEXT = re.compile(r"context|token.*limit|compact|truncat", re.I)
ERROR_LINE = re.compile(r"error|fail|assert|exception|panic", re.I)
SUMMARY_LINES, LINES_READ = 10, 30
REPEATS = 3
CAP_WHEN_STUCK = 10
INSTALL_SECONDS = 120


def react_by_the_seeds(standing: Standing, turns: list[Turn], place: Place) -> Standing:
    match mode_of(turns):
        case FailureMode.INFINITE_LOOP:
            return replace(standing, cap=min(standing.cap, CAP_WHEN_STUCK))
        case FailureMode.DEPENDENCY_ISSUE:
            return _reinstall(standing, place)
        case FailureMode.CONTEXT_EXHAUSTION:
            return _new_session(standing, turns)
        case _:  # flaky: a message only; code error: the next call
            return _new_session(standing, turns) if _window_is_full(standing, turns) else standing


def mode_of(turns: Sequence[Turn]) -> FailureMode:
    lines = error_lines(turns[-1])
    text, before = "\n".join(lines), turns[:-1]
    red_before = bool(before) and not before[-1].gate.passed
    if DEPENDENCY.search(text):
        return FailureMode.DEPENDENCY_ISSUE
    if _alternations(turns) >= 2 or FLAKY.search(text) or (red_before and error_lines(before[-1]) != lines):
        return FailureMode.TEST_FLAKINESS
    if _same_line_repeats(turns) or (len(turns) > REPEATS and not any(t.changed for t in turns[-REPEATS:])):
        return FailureMode.INFINITE_LOOP
    return FailureMode.CONTEXT_EXHAUSTION if CONTEXT.search(text) else FailureMode.CODE_ERROR


def error_lines(turn: Turn) -> list[str]:
    """The error summary of the loop the seeds describe."""
    return [line for line in turn.gate.log.splitlines()[-LINES_READ:] if ERROR_LINE.search(line)][
        :SUMMARY_LINES
    ]


def _alternations(turns: Sequence[Turn]) -> int:
    verdicts = [turn.gate.passed for turn in turns]
    return sum(one != other for one, other in pairwise(verdicts))


def _same_line_repeats(turns: Sequence[Turn]) -> bool:
    recent = turns[-REPEATS:]
    if len(recent) < REPEATS or any(turn.gate.passed for turn in recent):
        return False
    return bool(set.intersection(*(set(error_lines(turn)) for turn in recent)))


def _window_is_full(standing: Standing, turns: Sequence[Turn]) -> bool:
    """All tokens of the session added up: the proxy of the seeds."""
    spent = [turn.usage for turn in turns[standing.begun :]]
    return check_context_exhaustion(
        sum(usage.input_tokens or 0 for usage in spent),
        sum(usage.output_tokens or 0 for usage in spent),
        standing.window,
    )


def _new_session(standing: Standing, turns: Sequence[Turn]) -> Standing:
    if standing.session > RESTART_CAP:
        return standing
    summary = "Summary of the previous session:\n" + "\n".join(error_lines(turns[-1]))
    return replace(standing, session=standing.session + 1, begun=len(turns), summary=summary)


def _reinstall(standing: Standing, place: Place) -> Standing:
    """`npm ci` or `pip install -r`, errors swallowed; pip is kept out of this machine's own packages."""
    packages = place.root / "packages"
    extra = {**standing.environment, "PIP_TARGET": str(packages)}
    if (place.repo / "package.json").is_file():
        shutil.rmtree(place.repo / "node_modules", ignore_errors=True)
        command = ("npm", "ci")
    elif (place.repo / "requirements.txt").is_file():
        command = ("pip", "install", "-r", "requirements.txt")
    else:
        return standing
    subprocess.run(
        command,
        cwd=place.repo,
        env=environment_for(place.repo, extra),
        capture_output=True,
        timeout=INSTALL_SECONDS,
        check=False,
    )
    return replace(standing, environment={**standing.environment, "PYTHONPATH": str(packages)})
