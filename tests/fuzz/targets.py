"""Everything that reads what others wrote, one row each: what is generated for it, and what must hold.

`work` gets one generated input and an empty folder of its own. It may raise `InputError` with one sentence; anything
else it raises is a bug, and so is not ending.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from atexit import register
from contextlib import closing
from functools import cache
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from buildloop.agents.command import read_output
from buildloop.agents.scripted import load_script
from buildloop.cli.diagnose import run_batch
from buildloop.config import VARIABLES, gather_settings, make_request
from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.model import Attempt
from buildloop.diagnosis.observe import observe_log
from buildloop.diagnosis.protocol import log_answer
from buildloop.diagnosis.run_dir import classify_build_loop_failure
from buildloop.fleet.request import FleetRequest, plan_of
from buildloop.gate.clean import clean_lines
from buildloop.gate.junit import merge, outcomes, read_junit
from buildloop.gate.parsers import PARSERS
from buildloop.gate.read import read_text
from buildloop.gate.run import first_program
from buildloop.github.issue import make_brief, with_brief
from buildloop.github.repository import parse_remote
from buildloop.goal import StateFile, parse_state, render_state
from buildloop.memory.location import VARIABLE, Location, memory_location
from buildloop.memory.recall import Scope, query_similar_failures
from buildloop.memory.store import open_store
from buildloop.prompt.compose import compose_prompt
from buildloop.supervise.source import DirectorySource
from tests.fuzz.files import FILE_TARGETS
from tests.fuzz.inputs import (
    CLEAN,
    EPISODE,
    FRONT,
    GOAL,
    LOG_REQUEST,
    PAIR,
    PROSE,
    RULES,
    SUFFIXED,
    SUMMARY,
    TOML,
    URL,
    VALUES,
    XML,
)
from tests.fuzz.replies import REPLY_TARGETS
from tests.fuzz.target import FAST, Target, put
from tests.fuzz.values import (
    DEEP,
    DIGITS,
    EXIT_CODES,
    LOGS,
    LONG,
    TEXT,
    as_bytes,
    lines_of,
    near,
)
from tests.support.memories import REPO, finding, remember
from tests.support.states import RED, iteration, request, state

HEADINGS = frozenset(
    line
    for line in compose_prompt(state(iteration(0, RED), context="c")).text.splitlines()
    if line.startswith("## ")
)


def _every_parser(log: str, _: Path) -> None:
    lines = clean_lines(log)
    for entry in PARSERS:
        import_module(f"buildloop.gate.parsers.{entry.module}").parse(lines)


def _log_reader(given: tuple[bytes, int | None], folder: Path) -> None:
    log, exit_code = given
    reading = observe_log(put(folder / "gate.log", log), exit_code)
    diagnosis = diagnose([Attempt(passed=False, reading=reading, exit_code=exit_code)])
    json.dumps(log_answer(reading, diagnosis))
    assert len(reading.error_lines) <= 20


def _junit(document: bytes, folder: Path) -> None:
    path = put(folder / "report.xml", document)
    merge(read_text("FAILED t.py::a - boom", 1), read_junit([path]))
    outcomes([path])


def _front_matter(text: str, _: Path) -> None:
    parse_state(text)


def _front_matter_round_trip(fields: dict[str, Any], _: Path) -> None:
    written = StateFile.model_validate({"run_id": "r", "status": "s", **fields})
    assert parse_state(render_state(written)) == written


def _config_file(text: str, folder: Path) -> None:
    put(folder / "buildloop.toml", as_bytes(text))
    given = gather_settings({"goal": "g", "repo": str(folder)}, {}, folder)
    make_request(given)


def _config_environment(variables: dict[str, str], folder: Path) -> None:
    given = gather_settings({"goal": "g", "repo": str(folder), "test": ("t",)}, variables, folder)
    make_request(given)


def _fleet_file(given: tuple[str, str], folder: Path) -> None:
    suffix, text = given
    plan_of(FleetRequest(file=str(put(folder / f"goals{suffix}", as_bytes(text)))), "fleet")


def _request_file(given: tuple[str, str], folder: Path) -> None:
    suffix, text = given
    put(folder / f"one{suffix}", as_bytes(text))
    (item,) = DirectorySource(folder, {}).items()
    assert item.problem or isinstance(item.fields, dict)


def _agent_script(given: tuple[str, str], folder: Path) -> None:
    suffix, text = given
    load_script(put(folder / f"script{suffix}", as_bytes(text)))


def _command_agent(text: str, _: Path) -> None:
    said, status, _problem = read_output(text)
    status.model_dump_json()
    assert said in text or "\n".join(text.splitlines()).startswith(said)


def _outside_fences(prompt: str) -> list[str]:
    outside, fence = [], ""
    for line in prompt.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif found := re.fullmatch("(`{3,})text", line):
            fence = found[1]
        else:
            outside.append(line)
    return outside


def _issue(given: tuple[str, str | None, list[str], int], _: Path) -> None:
    title, body, said, budget = given
    comments = [SimpleNamespace(user=None, author_association="NONE", body=text) for text in said]
    issue = SimpleNamespace(title=title, body=body)
    brief = make_brief(7, issue, comments)  # type: ignore[arg-type]
    asked = with_brief(request(issue=7, goal=""), brief)
    goal, context = asked.goal if asked.goal.strip() else "g", asked.context
    prompt = compose_prompt(state(iteration(0, RED), goal=goal, context=context, prompt_budget=budget)).text
    own = [line for line in _outside_fences(prompt) if line in HEADINGS]
    assert len(own) == len(set(own)), "a text has opened a section of ours a second time"
    assert own[-1] == "## Rules", "a text has swallowed what comes after it"


@cache
def _memory() -> Location:
    """One memory for all inputs of a process, with some failures in it."""
    folder = tempfile.TemporaryDirectory(dir=FAST if FAST.is_dir() else None)
    register(folder.cleanup)
    place = memory_location({VARIABLE: f"{folder.name}/memory.db"})
    with closing(open_store(place)) as store:
        for word in ("KeyError: 'user'", "a1 %$ AND NOT", "assert 1 == 2"):
            remember(store, finding(word))
    return place


def _memory_search(text: str, _: Path) -> None:
    place = _memory()
    told: list[object] = []
    query_similar_failures(text, scope=Scope(REPO), location=place, emit=lambda *a, **b: told.append((a, b)))
    assert not told


def _remote(url: str, _: Path) -> None:
    parse_remote("origin", url)


def _memory_address(url: str, _: Path) -> None:
    assert memory_location({VARIABLE: url}).shown is not None


def _diagnose_lines(text: str, _: Path) -> None:
    lines = text.splitlines()
    answers = io.StringIO()
    assert run_batch(lines, answers) == 0
    told = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert len(told) == sum(1 for line in lines if line.strip())
    assert not [one for one in told if "internal error" in str(one.get("error", ""))]


def _run_summary(given: tuple[str, str], folder: Path) -> None:
    summary, progress = given
    put(folder / "error-summary.json", as_bytes(summary))
    put(folder / "progress.md", as_bytes(progress))
    put(folder / "restart-1" / "error-summary.json", as_bytes(summary))
    assert classify_build_loop_failure(folder)


def _command(text: str, _: Path) -> None:
    first_program(text)


TARGETS: tuple[Target, ...] = (
    Target("every gate parser", LOGS, _every_parser),
    Target(
        "log reader",
        st.tuples(LOGS.map(as_bytes) | st.binary(max_size=3000) | LONG.map(as_bytes), EXIT_CODES),
        _log_reader,
    ),
    Target("junit xml", XML, _junit),
    Target("front matter", FRONT | PROSE, _front_matter),
    Target(
        "front matter round trip",
        st.fixed_dictionaries(
            {
                "goal": CLEAN,
                "original_goal": CLEAN,
                "iteration": st.integers(),
                "max_iterations": st.integers(),
            },
            optional={"test_cmd": st.lists(CLEAN, max_size=3), "model": st.none() | CLEAN, "branch": CLEAN},
        ),
        _front_matter_round_trip,
        any_text=False,
    ),
    Target("buildloop.toml", TOML, _config_file),
    Target(
        "BUILDLOOP_ variables",
        st.dictionaries(
            st.sampled_from([*VARIABLES, VARIABLE, "BUILDLOOP_X", "OTHER"]),
            TEXT | DIGITS | st.sampled_from(VALUES),
        ),
        _config_environment,
    ),
    Target("fleet file", SUFFIXED | st.tuples(st.just(".jsonl"), lines_of(GOAL)), _fleet_file),
    Target("request file", SUFFIXED | st.tuples(st.just(".json"), near(GOAL) | DEEP), _request_file),
    Target(
        "agent script",
        st.tuples(st.just(".json"), near(RULES) | DEEP) | st.tuples(st.just(".toml"), TOML),
        _agent_script,
    ),
    Target(
        "output of a command agent", lines_of({"outcome": "ok", "usage": {"input_tokens": 1}}), _command_agent
    ),
    Target(
        "issue text",
        st.tuples(PROSE, st.none() | PROSE, st.lists(PROSE, max_size=3), st.integers(1000, 9000)),
        _issue,
    ),
    Target("memory search", PROSE | LOGS, _memory_search),
    Target("remote URL", URL, _remote),
    Target("memory URL", URL, _memory_address),
    Target("diagnose --jsonl", lines_of(LOG_REQUEST, EPISODE, PAIR), _diagnose_lines),
    Target("error summary", st.tuples(near(SUMMARY) | DEEP, PROSE), _run_summary),
    Target("gate command", PROSE | TEXT, _command),
    *FILE_TARGETS,
    *REPLY_TARGETS,
)
