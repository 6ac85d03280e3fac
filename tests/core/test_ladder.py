"""The ladder of a stuck loop, and the ladder of agents: steps in order, none twice for the same failure."""

from __future__ import annotations

from buildloop.diagnosis.model import FailureMode
from buildloop.models import LadderStep
from buildloop.recovery.ladder import ORDERS, step_when_stuck, upgrade_is_due
from tests.support.states import RED, iteration, remedy, report, request, state

STUCK = FailureMode.INFINITE_LOOP
FEWER = report(failing=("t::b",), tree="tree-9")
MANY = report(failing=("t::a", "t::b"))


def test_other_approach_then_decompose_then_a_person():
    now = state(iteration(0, RED), iteration(1, RED))
    assert step_when_stuck(now, "f") is LadderStep.OTHER_APPROACH
    now = state(iteration(0, RED), iteration(1, RED, mode=STUCK, step=LadderStep.OTHER_APPROACH))
    assert step_when_stuck(now, "f") is LadderStep.DECOMPOSE
    now = now.with_iteration(iteration(2, RED, mode=STUCK, step=LadderStep.DECOMPOSE))
    assert step_when_stuck(now, "f") is LadderStep.ASK_A_PERSON


def test_before_a_person_is_asked_every_other_agent_is_tried():
    alone = [
        iteration(0, RED),
        iteration(1, RED, mode=STUCK, step=LadderStep.OTHER_APPROACH),
        iteration(2, RED, mode=STUCK, step=LadderStep.DECOMPOSE),
    ]
    agents = {"agent": "command:small,command:large,scripted", "agent_script": "rules.toml"}
    now = state(*alone, **agents)
    assert (now.rung, step_when_stuck(now, "f")) == (0, LadderStep.NEXT_AGENT)
    now = now.with_iteration(_with_rung(iteration(3, RED), 1))
    assert (now.rung, step_when_stuck(now, "f")) == (1, LadderStep.NEXT_AGENT)
    now = now.with_iteration(_with_rung(iteration(4, RED, rung=1), 2))
    assert (now.rung, step_when_stuck(now, "f")) == (2, LadderStep.ASK_A_PERSON)


def _with_rung(one, rung):
    return one.with_remedy(remedy(STUCK, step=LadderStep.NEXT_AGENT, rung=rung))


def test_another_failure_after_progress_gets_the_whole_ladder():
    told = iteration(1, MANY, mode=STUCK, step=LadderStep.OTHER_APPROACH, fingerprint="old")
    before = state(iteration(0, MANY), told, iteration(2, MANY))
    assert step_when_stuck(before, "new") is LadderStep.DECOMPOSE, "nothing got better since"
    after = state(iteration(0, MANY), told, iteration(2, FEWER))
    assert step_when_stuck(after, "new") is LadderStep.OTHER_APPROACH
    assert step_when_stuck(after, "old") is LadderStep.DECOMPOSE, "never twice for the same failure"


def test_every_step_has_words_of_its_own_for_the_agent():
    assert set(ORDERS) == set(LadderStep)
    assert len(set(ORDERS.values())) == len(ORDERS)


def test_a_stronger_model_takes_over_when_the_same_failure_stays():
    models = {"model": "small,large"}
    first = iteration(1, RED, mode=FailureMode.CODE_ERROR)
    assert not upgrade_is_due(state(iteration(0, RED), iteration(1, RED), **models), "f")
    assert upgrade_is_due(state(iteration(0, RED), first, iteration(2, RED), **models), "f")
    assert not upgrade_is_due(state(iteration(0, RED), first, iteration(2, RED), **models), "another")
    assert not upgrade_is_due(state(iteration(0, RED), first, iteration(2, RED)), "f"), "there is no other"
    after = state(iteration(0, RED), first, iteration(2, RED, rung=1), **models)
    assert not upgrade_is_due(after, "f"), "there is none above it"


def test_another_program_is_not_an_upgrade_of_the_model():
    agents = {"agent": "command,scripted", "agent_script": "rules.toml"}
    first = iteration(1, RED, mode=FailureMode.CODE_ERROR)
    assert not upgrade_is_due(state(iteration(0, RED), first, iteration(2, RED), **agents), "f")


def test_agents_and_models_make_one_ladder():
    def ladder(**given):
        return [str(choice) for choice in request(agent_script="rules.toml", **given).agents]

    assert ladder() == ["command"]
    assert ladder(model="small, large") == ["command:small", "command:large"]
    assert ladder(agent="command:small,scripted", model="large") == ["command:small", "scripted:large"]
    assert ladder(agent="command, scripted", model="a,b") == ["command:a", "command:b", "scripted"]
    assert ladder(agent="command:llama3:8b") == ["command:llama3:8b"]
