"""What a person has granted holds: through replays, diagnoses and resumes."""

from __future__ import annotations

from dataclasses import replace

from buildloop.decide import Restart, Stop, decide
from buildloop.diagnosis.model import FailureMode
from buildloop.people.answer import Answer, Choice, forget_stops, read_answer, write_answer
from buildloop.people.asked import question_key
from buildloop.people.granted import Granted, after, granted_in, read_granted, with_granted
from buildloop.request import RESTART_CAP
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from tests.support.states import RED, iteration, state

BUDGET = Stop(StopReason.BUDGET, "no money left")


def begun(**changes: object) -> LoopState:
    return state(iteration(0, RED), iteration(1, RED), human=True, **changes)


def test_an_answer_raises_what_was_used_up():
    limits = {"budget_usd": 1.0, "budget_minutes": 10.0, "budget_tokens": 100, "max_iterations": 3}
    raised = after(
        begun(**limits),
        StopReason.BUDGET,
        Answer(more_usd=2.0, more_minutes=5, more_tokens=50, more_iterations=7),
    )
    assert granted_in(raised) == Granted(
        max_iterations=8, max_restarts=4, budget_usd=3.0, budget_minutes=15.0, budget_tokens=150
    )
    assert raised.answered_at == 1


def test_a_limit_that_was_not_set_stays_unset():
    raised = after(begun(), StopReason.STUCK, Answer(more_usd=2.0))
    assert raised.request.budget_usd is None
    assert with_granted(begun(), Granted(budget_usd=5.0)).request.budget_usd is None


def test_limits_are_at_least_what_was_granted_and_granting_twice_adds_nothing(tmp_path):
    raised = after(begun(budget_usd=1.0), StopReason.BUDGET, Answer(more_usd=2.0))
    RunDir(tmp_path).save("granted.json", granted_in(raised))
    for budget, holds in ((1.0, 3.0), (2.0, 3.0), (9.0, 9.0)):
        again = with_granted(begun(budget_usd=budget), read_granted(tmp_path))
        assert again.request.budget_usd == holds
        assert again.max_restarts == raised.max_restarts


def test_no_diagnosis_takes_back_what_a_person_gave():
    given = with_granted(begun(max_restarts=1, max_iterations=5), Granted(max_iterations=60, max_restarts=9))
    stuck = given.with_iteration(iteration(2, RED, mode=FailureMode.INFINITE_LOOP))
    assert stuck.max_iterations == 60
    full = stuck.with_iteration(iteration(3, RED, mode=FailureMode.CONTEXT_EXHAUSTION))
    assert full.max_restarts == 9


def test_a_person_may_go_beyond_the_cap_on_restarts():
    """Else the run would ask the same again, whatever it is told."""
    full = iteration(1, RED, session=RESTART_CAP + 1, mode=FailureMode.CONTEXT_EXHAUSTION)
    for allowed in (0, RESTART_CAP):
        used_up = replace(
            state(iteration(0, RED), human=True, max_restarts=allowed), session=allowed + 1
        ).with_iteration(full.model_copy(update={"session": allowed + 1}))
        stop = decide(used_up)
        assert isinstance(stop, Stop)
        assert stop.reason is StopReason.MAX_RESTARTS
        assert isinstance(decide(after(used_up, stop.reason, Answer())), Restart)


def test_a_question_is_known_by_place_and_reason():
    now = begun()
    assert question_key(now, BUDGET) == "1-budget"
    assert question_key(now, Stop(StopReason.STUCK, "x")) == "1-stuck"
    assert question_key(replace(now, asked=("1-budget",)), BUDGET) == "1-budget-2"
    assert question_key(replace(now, asked=("1-budget", "1-budget-2")), BUDGET) == "1-budget-3"
    assert question_key(replace(now, asked=("11-budget",)), BUDGET) == "1-budget"


def test_only_a_stop_is_forgotten(tmp_path):
    for key, choice in (("1-stuck", Choice.CONTINUE), ("2-stuck", Choice.STOP)):
        write_answer(tmp_path, key, Answer(choice=choice))
    (tmp_path / "answers" / "3-stuck.json").write_text("{torn")
    forget_stops(tmp_path)
    assert read_answer(tmp_path, "1-stuck") == Answer()
    assert read_answer(tmp_path, "2-stuck") is None
    forget_stops(tmp_path / "nothing-there")
