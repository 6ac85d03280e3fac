"""`buildloop run` and the commands around it, as a user types them."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from buildloop.events import read_events
from tests.support.repos import checkout_state, git, make_repo, write_files

pytestmark = [pytest.mark.server, pytest.mark.slow]

PYTHON = shlex.quote(sys.executable)
PYTEST = f"{PYTHON} -m pytest -q -p no:cacheprovider"
BROKEN = {
    "calc.py": "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return a\n",
    "test_calc.py": "from calc import add, double\n\n\ndef test_add():\n    assert add(1, 2) == 3\n\n\n"
    "def test_double():\n    assert double(2) == 4\n",
}
# Mends one function a call, and only one that the prompt names.
FIX = """
import pathlib, sys
prompt, code = sys.stdin.read(), pathlib.Path("calc.py")
text = code.read_text()
if "test_add" in prompt and "a - b" in text:
    code.write_text(text.replace("a - b", "a + b"))
    print("add() subtracted")
elif "test_double" in prompt:
    code.write_text(text.replace("return a\\n", "return 2 * a\\n"))
    print("double() did nothing")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("must-show")


@pytest.fixture(scope="module")
def finished(place, prefect_server):
    """The command of the issue, once: (what it left, the checkout before, the repository)."""
    from tests.support.command import run_buildloop

    repo = make_repo(place / "R", BROKEN)
    write_files(place, {"fix.py": FIX})
    before = checkout_state(repo)
    command = ["run", "make the tests pass", "--repo", str(repo), "--test", PYTEST]
    command += ["--agent-command", f"{PYTHON} fix.py", "--state-dir", str(place / "state")]
    return run_buildloop(*command, api_url=prefect_server, cwd=place), before, repo


@pytest.fixture
def ask(buildloop, place):
    """Another command about that run."""

    def run(*arguments: str):
        return buildloop(*arguments, "--state-dir", str(place / "state"))

    return run


def run_dir(place: Path) -> Path:
    (found,) = (place / "state" / "runs").iterdir()
    return found


def test_it_ends_with_0_and_says_what_to_do_next(finished, place):
    ended, _, _ = finished
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "complete after 2 iterations" in ended.stdout
    assert f"git merge buildloop/{run_dir(place).name}" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr
    assert ended.stderr == ""


def test_the_result_is_a_branch_with_one_commit_per_iteration(finished, place):
    _, _, repo = finished
    branch = f"buildloop/{run_dir(place).name}"
    messages = git(repo, "log", "--format=%s", f"main..{branch}").splitlines()
    assert messages == ["buildloop: iteration 2", "buildloop: iteration 1"]
    assert git(
        repo, "log", "--format=%(trailers:key=Buildloop-Iteration,valueonly)", f"main..{branch}"
    ).split() == ["2", "1"]
    assert "2 * a" in git(repo, "show", f"{branch}:calc.py")
    assert git(repo, "diff", "--name-only", "main", branch) == "calc.py"


def test_the_users_checkout_and_index_are_byte_identical(finished):
    _, before, repo = finished
    assert checkout_state(repo) == before
    assert git(repo, "worktree", "list").count("\n") == 0
    assert git(repo, "status", "--porcelain") == ""


def test_report_tells_the_story(finished, ask):
    told = ask("report").stdout
    for part in (
        "make the tests pass",
        "**complete**",
        "code_error",
        "| baseline |",
        "| 0 | passed |",
        "merge --no-edit buildloop/",
    ):
        assert part in told
    assert told.index("| baseline |") < told.index("| 1 |") < told.index("| 2 |")
    facts = json.loads(ask("report", "--json").stdout)
    assert [one["number"] for one in facts["iterations"]] == [0, 1, 2]
    assert facts["state"] == "complete"


def test_status_json_is_the_list_of_runs_and_one_run_with_an_id(finished, ask, place):
    (listed,) = json.loads(ask("status", "--json").stdout)
    assert (listed["state"], listed["iteration"], listed["failing"]) == ("complete", 2, 0)
    run_id = run_dir(place).name
    assert json.loads(ask("status", run_id[:8], "--json").stdout)["run_id"] == run_id
    assert run_id in ask("status").stdout


def test_resume_of_a_complete_run_changes_nothing(finished, ask, place):
    events = (run_dir(place) / "events.jsonl").read_bytes()
    ended = ask("resume", "--json")
    assert ended.returncode == 0
    assert json.loads(ended.stdout)["reason"] == "complete"
    assert (run_dir(place) / "events.jsonl").read_bytes() == events


def test_the_run_directory_has_the_files_of_the_architecture(finished, place):
    there = {path.name for path in run_dir(place).iterdir()}
    assert there >= {
        "request.json",
        "loop-state.md",
        "progress.md",
        "failure-mode.json",
        "events.jsonl",
        "iterations",
    }
    first = {path.name for path in (run_dir(place) / "iterations" / "1-1").iterdir()}
    assert first >= {"prompt.md", "agent.out", "agent.err", "gate.log"}
    assert not (run_dir(place) / "error-summary.json").exists()
    types = [event["type"] for event in read_events(run_dir(place) / "events.jsonl")]
    assert types.count("loop.iteration_complete") == 2
    assert types[-1] == "loop.completed"


def test_json_prints_only_json_and_settings_follow_their_precedence(buildloop, repo, tmp_path):
    """Flag over variable over file: 1 iteration by flag, the test command by variable, the agent by file.

    The gate is full of square brackets, which are markup to the terminal library and must stay text.
    """
    write_files(repo, {"buildloop.toml": 'max_iterations = 9\ntest = ["false"]\nagent_command = "true"\n'})
    git(repo, "add", "-A")
    git(repo, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", "settings")
    test = "grep -q '[/]' calc.py || grep -q '[red]ness' calc.py"
    variables = {"BUILDLOOP_MAX_ITERATIONS": "5", "BUILDLOOP_TEST": test}
    where = ("--repo", str(repo), "--state-dir", str(tmp_path / "state"))
    ended = buildloop("run", "fix [it] [/now]", *where, "--max-iterations", "1", "--json", env=variables)
    result = json.loads(ended.stdout)
    assert ended.returncode == result["exit_code"] == 1
    assert (result["reason"], result["iterations"]) == ("max_iterations", 1)
    kept = json.loads((Path(result["run_dir"]) / "request.json").read_text())
    assert (kept["max_iterations"], kept["test"], kept["agent_command"]) == (1, [test], "true")
    assert kept["goal"] == "fix [it] [/now]"
    assert test in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_gate_that_is_not_found_ends_with_3(buildloop, repo, tmp_path):
    """Not executable is the same verdict: tests/core/test_gate_run.py."""
    arguments = ("run", "g", "--repo", str(repo), "--state-dir", str(tmp_path / "state"))
    ended = buildloop(*arguments, "--test", "no-such-gate --fast", "--agent-command", "true")
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "no-such-gate was not found" in ended.stdout
    assert "Traceback" not in ended.stdout + ended.stderr


@pytest.mark.parametrize(
    ("files", "command"),
    [({"go.mod": "module x"}, "go test ./..."), ({"pytest.ini": ""}, "python -m pytest -q")],
)
def test_init_writes_what_it_detects(buildloop, tmp_path, files, command):
    """All ecosystems are in tests/core/test_detect.py; here the command itself."""
    make_repo(tmp_path / "project", files)
    ended = buildloop("init", str(tmp_path / "project"))
    assert ended.returncode == 0
    assert command in ended.stdout
    assert f'test = ["{command}"]' in (tmp_path / "project" / "buildloop.toml").read_text()


def test_doctor_json_says_what_is_there_and_what_to_do(buildloop, repo, tmp_path):
    ended = buildloop("doctor", "--json", "--repo", str(repo), "--state-dir", str(tmp_path / "state"))
    checks = {check["name"]: check for check in json.loads(ended.stdout)}
    assert ended.returncode == 0
    assert {"git", "repository", "prefect", "state", "disk", "database", "memory"} <= checks.keys()
    assert all(check["advice"] for check in checks.values() if check["state"] != "ok")


def test_every_command_has_help(buildloop):
    listed = buildloop("--help").stdout
    for name in ("run", "resume", "status", "report", "diagnose", "init", "doctor", "demo", "ui"):
        assert name in listed
    assert "--max-iterations" in buildloop("run", "--help").stdout
