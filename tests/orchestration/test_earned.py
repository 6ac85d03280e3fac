"""A green that was earned: the tests of the start are run on the new code, and a second agent may try to refute it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from buildloop.events import read_events
from buildloop.models import CounterVerdict
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from buildloop.workspace.git import run_git
from buildloop.workspace.lock import is_running
from tests.support.command import command_environment
from tests.support.repos import make_repo
from tests.support.scripts import WRITE_FIX, write_script
from tests.support.waiting import content, eventually, processes_with

WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = "def add(a, b):\n    return a + b\n"
HELPER = "from calc import add\n\n\ndef result(a, b):\n    return add(a, b)\n"
TEST = (
    "import unittest\n\nfrom helping import result\n\n\nclass Add(unittest.TestCase):\n"
    "    def test_add(self):\n        self.assertEqual(result(2, 3), 5)\n"
)


def told(run, kind):
    return [event for event in read_events(run.path / "events.jsonl") if event["type"] == kind]


@pytest.fixture
def with_helper(tmp_path):
    """The tests reach the code through a helper of theirs, where a cheat is hard to tell from the sources."""
    files = {"calc.py": WRONG, "tests/__init__.py": "", "tests/helping.py": HELPER, "tests/test_add.py": TEST}
    return make_repo(tmp_path / "helped", files)


GATE = (f"PYTHONPATH=tests:. {shlex.quote(sys.executable)} -m unittest discover -q -s tests",)


def test_a_green_that_comes_from_the_test_side_is_red_and_the_agent_is_told(play, with_helper):
    cheat = {"write": "tests/helping.py", "text": HELPER.replace("add(a, b)", "add(a, -b)")}
    honest = [{"write": "tests/helping.py", "text": HELPER}, {"write": "calc.py", "text": RIGHT}]
    result, run = play(
        {"when": {"call": 1}, "do": [cheat]},
        {"when": {"prompt": "as it was at the start"}, "do": honest},
        where=with_helper,
        test=GATE,
    )
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 2)
    (event,) = told(run, "loop.counter_proof")
    assert (event["verdict"], event["files"]) == ("overturned", ["tests/helping.py"])
    (rejected,) = told(run, "loop.completion_rejected")
    assert rejected["iteration"] == 1
    assert "tests/helping.py" in rejected["reason"]
    assert "test_add" in event["failing"][0]
    assert run.iterations()[1].gate.tampering[0].rule == "counter-proof"
    assert "return add(a, -b)" in run.iterations()[1].gate.tampering[0].diff


def test_a_changed_test_side_is_proven_once_and_the_report_says_so(play, with_helper):
    more = TEST + "\n    def test_zero(self):\n        self.assertEqual(result(0, 0), 0)\n"
    work = [{"write": "tests/test_add.py", "text": more}, {"write": "calc.py", "text": RIGHT}]
    result, run = play({"do": work}, where=with_helper, test=GATE)
    assert result.reason is StopReason.COMPLETE
    assert [event["verdict"] for event in told(run, "loop.counter_proof")] == ["upheld"]
    assert all(one.counter_proof.verdict is CounterVerdict.UPHELD for one in run.iterations()[1].reports)
    assert (
        "the tests as they were at the start pass on the new code" in (run.path / "report.html").read_text()
    )


def test_untouched_tests_cost_no_second_run(play, with_helper):
    _, run = play({"do": [{"write": "calc.py", "text": RIGHT}]}, where=with_helper, test=GATE)
    assert told(run, "loop.counter_proof") == []
    assert run.iterations()[1].gate.counter_proof is None


def test_it_can_be_switched_off(play, with_helper):
    cheat = {"write": "tests/helping.py", "text": HELPER.replace("add(a, b)", "add(a, -b)")}
    result, run = play({"do": [cheat]}, where=with_helper, test=GATE, max_iterations=1, counter_proof=False)
    assert told(run, "loop.counter_proof") == []
    assert result.reason is StopReason.COMPLETE


HANGS = (
    "if grep -q 'a + b' calc.py && ! grep -q zero tests/test_add.py; "
    "then touch {place}/inside; while [ ! -e {place}/go ]; do sleep 0.1; done; fi"
)
START = (
    "import sys; from buildloop.request import BuildRequest; from flows.build_loop import build_loop; "
    "build_loop(BuildRequest.model_validate_json(open(sys.argv[1]).read()))"
)


@pytest.mark.slow
def test_killed_while_the_tests_of_the_start_run_they_are_run_again(
    build, request_for, with_helper, tmp_path, prefect_server
):
    """SIGKILL while the worktree stands on the old tests: the next one finds the new ones in it again."""
    more = TEST + "\n    def test_zero(self):\n        self.assertEqual(result(0, 0), 0)\n"
    work = [{"write": "tests/test_add.py", "text": more}, {"write": "calc.py", "text": RIGHT}]
    script = write_script(tmp_path / "agent.json", {"do": work})
    hangs = HANGS.format(place=shlex.quote(str(tmp_path)))
    request = request_for(
        with_helper, agent="scripted", agent_script=str(script), test=(f"{hangs}; {GATE[0]}",)
    )
    (tmp_path / "request.json").write_text(request.model_dump_json())
    begun = subprocess.Popen(
        [sys.executable, "-c", START, str(tmp_path / "request.json")],
        env=command_environment(prefect_server),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    eventually((tmp_path / "inside").exists, 120)
    os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    eventually(lambda: not is_running(request.run_dir))
    run = RunDir(request.run_dir)
    workspace = run.workspace()
    assert "zero" not in (Path(workspace.workdir) / "tests/test_add.py").read_text()
    (tmp_path / "go").touch()
    eventually(lambda: not processes_with(f"touch {tmp_path}/inside"))
    result = build(request)
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 1)
    assert [event["verdict"] for event in told(run, "loop.counter_proof")] == ["upheld"]
    assert run_git(with_helper, "show", f"{result.branch}:tests/test_add.py") == more.rstrip("\n")


REFUTE = """\
import pathlib, sys
prompt = sys.stdin.read()
assert "make the tests pass" in prompt and "return a + b" in prompt
pathlib.Path("calc.py").write_text("broken by the second agent")
pathlib.Path("test_more.py").write_text({test!r})
"""
FAILS = (
    "import unittest\n\nfrom calc import add\n\n\nclass More(unittest.TestCase):\n"
    "    def test_text(self):\n        self.assertEqual(add('1', 2), 3)\n"
)
BY_VALUE = FAILS.replace("add('1', 2), 3", "add(1.2, 2.6), 4")


@pytest.fixture
def refuting(tmp_path):
    def command(test):
        script = tmp_path / "refute.py"
        script.write_text(REFUTE.format(test=test))
        return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))}"

    return command


def test_a_test_that_fails_keeps_the_run_open_until_the_work_meets_it(play, repo, refuting):
    better = {"write": "calc.py", "text": "def add(a, b):\n    return round(a + b)\n"}
    rules = (
        {"when": {"call": 1}, "do": [WRITE_FIX]},
        {"when": {"prompt": "A Test That Fails"}, "do": [better]},
    )
    result, run = play(*rules, falsify_command=refuting(BY_VALUE))
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 2)
    assert [event["refuted"] for event in told(run, "loop.falsified")] == [True, False]
    prompt = (run.iteration_dir(1, 2) / "prompt.md").read_text()
    assert "self.assertEqual(add(1.2, 2.6), 4)" in prompt
    calls = [call.agent for call in run.ledger.calls()]
    assert calls == ["scripted", "command (falsify)", "scripted"]
    first = run.iterations()[1]
    assert first.diagnosis.mode == "code_error"
    assert not first.gate.reading.failing
    assert "test_more.py" not in first.agent.checkpoint.files


def test_a_test_that_is_wrong_itself_refutes_nothing(play, refuting):
    result, run = play(
        {"do": [WRITE_FIX]}, falsify_command=refuting(FAILS.replace("import add", "import plus as add"))
    )
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 1)
    (event,) = told(run, "loop.falsified")
    assert not event["refuted"]
    assert "fails by itself" in event["why"]
    assert "without success" in (run.path / "report.html").read_text()


@pytest.mark.parametrize(
    ("outcome", "changes", "asked", "why"),
    [
        ("refused", {}, 1, "gave no answer: no credit left"),
        ("transient", {}, 6, "gave no answer: no credit left"),
        ("ok", {"budget_tokens": 100}, 0, "budget"),
    ],
    ids=["refused", "away", "nothing left to pay it"],
)
def test_a_second_agent_that_cannot_be_asked_takes_nothing_away(play, tmp_path, outcome, changes, asked, why):
    """The work is proven without it; that nobody tried to refute it is said."""
    calls = tmp_path / "calls"
    status = json.dumps({"outcome": outcome, "error": "no credit left"})
    second = shlex.join(["sh", "-c", f"echo call >> {calls}; echo '{status}'"])
    fix = {"do": [WRITE_FIX], "usage": {"input_tokens": 90, "output_tokens": 9}}
    result, run = play(fix, falsify_command=second, **changes)
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 1)
    assert content(calls).count("call") == asked
    (degraded,) = told(run, "loop.degraded")
    assert "nobody tried to refute" in degraded["what"]
    assert why in degraded["why"]
    assert told(run, "loop.falsified") == []
    report = (run.path / "report.html").read_text()
    assert "Nobody tried to refute it: the second agent (command) could not be asked" in report
    assert "without success" not in report


def test_a_second_agent_is_paid_once_wherever_the_run_breaks_off(
    build, request_for, repo, refuting, tmp_path, monkeypatch
):
    """Before its answer is on disk the call is lost, and said to be; after that neither the answer nor its line is
    made again."""
    from tasks import falsify

    script = write_script(tmp_path / "agent.json", {"do": [WRITE_FIX]})
    command, calls = refuting(FAILS.replace("add('1', 2)", "add(1, 2)")), tmp_path / "calls"
    second = shlex.join(["sh", "-c", f"echo call >> {calls}; exec {command}"])
    asked = request_for(repo, agent="scripted", agent_script=str(script), falsify_command=second)
    run = RunDir(asked.run_dir)

    def second_agents_rows():
        return [call.interrupted for call in run.ledger.calls()][1:]

    def breaks_off_at(step):
        with monkeypatch.context() as patched, pytest.raises(MemoryError):
            patched.setattr(falsify, step, Mock(side_effect=MemoryError))
            build(asked)

    breaks_off_at("added_files")  # it has answered, and nobody has written that down
    assert (content(calls).count("call"), second_agents_rows()) == (1, [])
    breaks_off_at("call_of")  # the answer is on disk, its line in the ledger is not
    assert (content(calls).count("call"), second_agents_rows()) == (2, [True])
    breaks_off_at("judged")  # both are there, the outcome is not
    assert (content(calls).count("call"), second_agents_rows()) == (2, [True, False])
    assert build(asked).reason is StopReason.COMPLETE
    assert (content(calls).count("call"), second_agents_rows()) == (2, [True, False])
    assert [event["refuted"] for event in told(run, "loop.falsified")] == [False]
