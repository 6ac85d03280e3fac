"""Hints and answers: told once, kept through crashes, refused in one sentence where they make no sense."""

from __future__ import annotations

import json
import threading

import pytest

from buildloop.cli.tell import tell_run
from buildloop.decide import Stop, decide
from buildloop.errors import InputError
from buildloop.models import Tampering
from buildloop.people.answer import (
    Answer,
    Choice,
    after,
    asks,
    question,
    read_answer,
    waiting_question,
    write_answer,
)
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
    write_answer(tmp_path, 1, Answer(choice=Choice.ACCEPT))
    write_answer(tmp_path, 1, Answer(choice=Choice.STOP))
    assert read_answer(tmp_path, 1) == Answer(choice=Choice.ACCEPT)
    assert read_answer(tmp_path, 2) is None


def test_an_answer_raises_what_was_used_up():
    before = begun(human=True, budget_usd=1.0, max_iterations=3)
    raised = after(before, Answer(more_usd=2.0, more_iterations=7))
    assert raised.request.budget_usd == 3.0
    assert raised.max_iterations >= before.number + 7
    assert (raised.answers, raised.answered_at) == (1, before.number)


def test_only_runs_that_were_told_to_ask_do_so():
    stop = Stop(StopReason.STUCK, "x")
    assert asks(begun(human=True), stop)
    assert not asks(begun(), stop)
    assert not asks(begun(human=True), Stop(StopReason.COMPLETE, "x"))


@pytest.fixture
def run(tmp_path, request_for, repo) -> RunDir:
    asked = request_for(repo, run_id="r1")
    run = RunDir(asked.run_dir)
    run.save("request.json", asked)
    return run


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"hint": None}, "nothing to tell"),
        ({"hint": " "}, "nothing to tell"),
        ({"hint": "x" * 5000}, "keep it under 4000"),
        ({"hint": None, "accept": True, "stop": True}, "exclude each other"),
        ({"hint": None, "accept": True}, "asks nothing"),
    ],
)
def test_what_cannot_be_told_is_said_in_one_sentence(run, arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        tell_run("r1", state_dir=run.path.parents[1], **arguments)
    assert not (run.path / "hints.jsonl").exists()


def test_a_question_is_open_until_it_is_answered(run):
    assert waiting_question(run) is None
    run.events.emit("loop.waiting_for_person", number=2, question="q", url=None)
    assert waiting_question(run) == 2
    tell_run("r1", "use the sign", run.path.parents[1], more_iterations=3)
    assert read_answer(run.path, 2) == Answer(hint="use the sign", more_iterations=3)
    run.events.emit("loop.answered", number=2, choice="continue")
    assert waiting_question(run) is None


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
    eventually(lambda: waiting_question(run))
    tell_run(str(asked.run_id), "turn the sign", tmp_path / "state", more_iterations=4)
    working.join(60)
    result = ended[0].result()
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 3)
    heard = [one.agent.heard for one in run.iterations() if one.agent]
    assert heard == [(), ("answer-1",), ()]
    prompts = [(run.path / f"iterations/1-{n}/prompt.md").read_text() for n in (1, 2, 3)]
    assert ["turn the sign" in prompt for prompt in prompts] == [False, True, False]


@pytest.mark.server
def test_a_person_may_accept_what_no_gate_would(prefect_server, request_for, repo, tmp_path):
    """The answer was given before; a run that is started again does not ask twice."""
    script = write_script(tmp_path / "agent.json", {"do": [wrong(1)]})
    asked = request_for(
        repo, agent="scripted", agent_script=str(script), max_iterations=1, human=True, extension_size=0
    )
    write_answer(asked.run_dir, 1, Answer(choice=Choice.ACCEPT))
    from flows.build_loop import build_loop

    result = build_loop(asked)
    assert (result.reason, result.exit_code) == (StopReason.ACCEPTED, 0)
    assert "All 1 iterations were used" in result.explanation
    played = json.loads((asked.run_dir / "scripted-agent.json").read_text())
    assert sum(played.values()) == 1


def test_changed_tests_are_a_question_for_a_person():
    tampering = Tampering(rule="skipped", file="t.py", text="test_a is skipped now")
    red = RED.model_copy(update={"tampering": (tampering,)})
    seen = state(iteration(0, RED), iteration(1, red), human=True)
    stop = decide(seen)
    assert isinstance(stop, Stop)
    assert "test_a is skipped now" in question(seen, stop)
    assert not isinstance(decide(after(seen, Answer())), Stop)
    assert not isinstance(decide(state(iteration(0, RED), iteration(1, red))), Stop)
