"""Hints and answers: told once, kept through crashes, refused in one sentence where they make no sense."""

from __future__ import annotations

import json
import socket
import threading

import pytest

from buildloop.cli.status import run_facts
from buildloop.cli.tell import tell_run
from buildloop.decide import Stop, decide
from buildloop.errors import InputError
from buildloop.models import Tampering
from buildloop.people.answer import Answer, Choice, read_answer, was_stopped, write_answer
from buildloop.people.asked import Asked, asks, open_question, question
from buildloop.people.granted import after
from buildloop.people.hints import give, hints, unheard
from buildloop.prompt.compose import compose_prompt
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from tests.support.scripts import WRITE_FIX, write_script, wrong
from tests.support.states import RED, iteration, state
from tests.support.waiting import eventually


def begun(**changes: object) -> LoopState:
    return state(iteration(0, RED), iteration(1, RED), **changes)


def test_a_hint_has_a_section_of_its_own_and_leaves_the_goal_alone():
    text = compose_prompt(begun(), None, ["look at the sign"]).text
    assert "## Guidance From a Person\n\nSomebody who watches this run says:\n\nlook at the sign" in text
    assert "## Your Goal\n\nmake the tests pass\n" in text
    assert "Guidance" not in compose_prompt(begun()).text


@pytest.mark.parametrize("text", ["first\u2028second", "a\x85b", "a\u2029b\x1cc"])
def test_a_hint_may_hold_any_end_of_a_line(tmp_path, text):
    give(tmp_path, text, "me")
    give(tmp_path, "plain", "me")
    assert [one.text for one in hints(tmp_path)] == [text, "plain"]


def test_a_hint_is_the_same_hint_however_often_it_is_given(tmp_path):
    for _ in range(3):
        give(tmp_path, "x", "me", "answer-1")
    assert [hint.id for hint in hints(tmp_path)] == ["answer-1"]
    assert unheard(tmp_path, {"answer-1"}) == ()


def test_two_who_tell_at_once_are_both_heard_and_a_torn_line_is_passed_over(tmp_path):
    (tmp_path / "hints.jsonl").write_text('{"id": "torn')
    givers = [threading.Thread(target=give, args=(tmp_path, f"h{n}", "me")) for n in range(8)]
    for giver in givers:
        giver.start()
    for giver in givers:
        giver.join()
    assert sorted(hint.text for hint in hints(tmp_path)) == [f"h{n}" for n in range(8)]


def test_the_first_answer_to_a_question_counts(tmp_path):
    write_answer(tmp_path, "1-stuck", Answer(choice=Choice.ACCEPT))
    write_answer(tmp_path, "1-stuck", Answer(choice=Choice.STOP))
    assert read_answer(tmp_path, "1-stuck") == Answer(choice=Choice.ACCEPT)
    assert read_answer(tmp_path, "2-stuck") is None


def test_only_runs_that_were_told_to_ask_do_so():
    stop = Stop(StopReason.STUCK, "x")
    assert asks(begun(human=True), stop)
    assert not asks(begun(), stop)
    assert not asks(begun(human=True), Stop(StopReason.COMPLETE, "x"))


@pytest.fixture
def run(tmp_path, request_for, repo) -> RunDir:
    asked = request_for(repo, run_id="r1", budget_usd=1.0)
    run = RunDir(asked.run_dir)
    run.save("request.json", asked)
    return run


def ask(run: RunDir, reason: StopReason = StopReason.STUCK, **more: str) -> Asked:
    asked = Asked(key=f"2-{reason}", reason=reason, token="t", **more)
    run.events.emit("loop.waiting_for_person", **asked.model_dump(), question="q", url=None)
    return asked


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"hint": None}, "nothing to tell"),
        ({"hint": " "}, "nothing to tell"),
        ({"hint": "x" * 5000}, "keep it under 4000"),
        ({"hint": None, "accept": True, "stop": True}, "exclude each other"),
        ({"hint": None, "accept": True}, "asks nothing; end it with"),
        ({"hint": "x", "more": {"more_usd": 1.0}}, "asks nothing; raise its limits with"),
        ({"hint": None, "stop": True, "more": {"more_usd": 1.0}}, "--more-usd is for a run that goes on"),
    ],
)
def test_what_cannot_be_told_is_said_in_one_sentence(run, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        tell_run("r1", state_dir=run.path.parents[1], **arguments)
    assert not (run.path / "hints.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"hint": "go on"}, "used up; say how much more it gets with --more-usd"),
        ({"hint": None, "more": {"more_minutes": 5}}, "has no --budget-minutes"),
        ({"hint": None, "stop": True}, "could not be told to stop: it is not at work"),
        ({"hint": None, "more": {"more_usd": float("inf")}}, "--more-usd must be a finite number"),
        (
            {"hint": "x", "more": {"more_usd": 1, "more_iterations": 10**6}},
            "--more-iterations must be at most",
        ),
    ],
)
def test_an_answer_that_changes_nothing_is_not_taken(run, arguments, sentence):
    asked = ask(run, StopReason.BUDGET)
    with pytest.raises(InputError, match=sentence):
        tell_run("r1", state_dir=run.path.parents[1], **arguments)
    assert read_answer(run.path, asked.key) is None


def test_a_question_is_open_until_it_is_answered(run, capsys):
    assert open_question(run) is None
    asked = ask(run)
    assert open_question(run) == asked
    assert run_facts(run)["state"] == "waiting"
    tell_run("r1", "use the sign", run.path.parents[1], more={"more_iterations": 3, "more_usd": None})
    assert read_answer(run.path, asked.key) == Answer(hint="use the sign", more_iterations=3)
    assert "it is not at work" in " ".join(capsys.readouterr().out.split())
    run.events.emit("loop.answered", key=asked.key, choice="continue")
    assert open_question(run) is None


def test_a_run_that_went_on_by_itself_asks_nothing_any_more(run):
    """Its agent refused, it asked, was killed, and was resumed with credentials that work."""
    ask(run, StopReason.AGENT_REFUSED)
    run.events.emit(
        "loop.iteration_start", iteration=3, max=5, session=1, agent="scripted", test_passed=False
    )
    assert open_question(run) is None


def test_an_answer_to_a_suspended_run_is_kept_when_its_server_is_away(run, capsys, monkeypatch):
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    with socket.socket() as taken:  # bound but not listening: nobody answers there
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/api"
        asked = ask(run, flow_run="0190a0b0-0000-7000-8000-000000000000", api=url)
        tell_run("r1", "use the sign", run.path.parents[1])
        with pytest.raises(InputError, match="could not be told to stop"):
            tell_run("r1", None, run.path.parents[1], stop=True)
    said = " ".join(capsys.readouterr().out.split())
    assert f"the Prefect server at {url} does not answer" in said
    assert read_answer(run.path, asked.key) == Answer(hint="use the sign")


@pytest.mark.server
def test_a_run_that_asks_goes_on_with_the_answer(prefect_server, request_for, repo, tmp_path):
    """It waits at its limit; the hint comes with the next prompt, and only with that one."""
    from flows.build_loop import build_loop

    script = write_script(
        tmp_path / "agent.json",
        {"when": {"prompt": "turn the sign"}, "do": [wrong(2)]},
        {"when": {"call": 3}, "do": [WRITE_FIX]},
        {"do": [wrong(1)]},
    )
    asked = request_for(
        repo, agent="scripted", agent_script=str(script), max_iterations=1, human=True, extension_size=0
    )
    run, ended = RunDir(asked.run_dir), []
    working = threading.Thread(target=lambda: ended.append(build_loop(asked, return_state=True)))
    working.start()
    eventually(lambda: open_question(run))
    tell_run(str(asked.run_id), "turn the sign", tmp_path / "state", more={"more_iterations": 4})
    working.join(60)
    result = ended[0].result()
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 3)
    heard = [one.agent.heard for one in run.iterations() if one.agent]
    assert heard == [(), ("answer-1-max_iterations",), ()]
    prompts = [(run.path / f"iterations/1-{n}/prompt.md").read_text() for n in (1, 2, 3)]
    assert ["turn the sign" in prompt for prompt in prompts] == [False, True, False]


@pytest.mark.server
def test_an_answer_is_for_the_question_it_was_given_to(prefect_server, request_for, repo, tmp_path):
    """A run that got more iterations meanwhile meets another question; one that was stopped and is started again asks
    anew; an answer that is known already is not asked for twice."""
    from flows.build_loop import build_loop

    rules = [{"when": {"call": n}, "do": [wrong(n)]} for n in (1, 2)]
    script = write_script(tmp_path / "agent.json", *rules)
    asked = request_for(
        repo, agent="scripted", agent_script=str(script), max_iterations=2, human=True, extension_size=0
    )
    write_answer(asked.run_dir, "1-max_iterations", Answer(choice=Choice.ACCEPT))
    run, ended = RunDir(asked.run_dir), []
    working = threading.Thread(target=lambda: ended.append(build_loop(asked, return_state=True)))
    working.start()
    open_one = eventually(lambda: open_question(run))
    assert open_one.key == "2-max_iterations"
    tell_run(str(asked.run_id), None, tmp_path / "state", stop=True)
    working.join(60)
    stopped = ended[0].result(raise_on_failure=False)
    assert stopped.reason is StopReason.MAX_ITERATIONS
    assert stopped.explanation.startswith("A person was asked and stopped it.")
    assert was_stopped(run.path), "a supervisor does not try it again"

    again = threading.Thread(target=lambda: ended.append(build_loop(asked, return_state=True)))
    again.start()
    assert eventually(lambda: open_question(run)).token != open_one.token
    tell_run(str(asked.run_id), None, tmp_path / "state", accept=True)
    again.join(60)
    result = ended[1].result()
    assert (result.reason, result.exit_code) == (StopReason.ACCEPTED, 0)
    assert "All 2 iterations were used" in result.explanation

    assert build_loop(asked).reason is StopReason.ACCEPTED
    played = json.loads((asked.run_dir / "scripted-agent.json").read_text())
    assert sum(played.values()) == 2


def test_changed_tests_are_a_question_for_a_person():
    tampering = Tampering(rule="skipped", file="t.py", text="test_a is skipped now")
    red = RED.model_copy(update={"tampering": (tampering,)})
    seen = state(iteration(0, RED), iteration(1, red), human=True)
    stop = decide(seen)
    assert isinstance(stop, Stop)
    assert "test_a is skipped now" in question(seen, stop)
    assert not isinstance(decide(after(seen, stop.reason, Answer())), Stop)
    assert not isinstance(decide(state(iteration(0, RED), iteration(1, red))), Stop)
