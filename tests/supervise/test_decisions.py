"""Two levels of diagnosis from structured outcomes, and what follows: bounded, never contradictory, never slept."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from buildloop.diagnosis.model import FailureMode
from buildloop.errors import RunLocked
from buildloop.recovery.strategies import STRATEGIES
from buildloop.result import StopReason
from buildloop.supervise.classify import BY_REASON, MOST_RETRIES, broad_class, granular_mode
from buildloop.supervise.ledger import Ledger
from buildloop.supervise.model import Attempt, BroadClass, Case, Ending, Status
from buildloop.supervise.plan import GiveUp, Later, Policy, next_attempt, with_strategy
from buildloop.supervise.source import DirectorySource
from buildloop.supervise.tick import look
from tests.support.states import request

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FIELDS = {"goal": "g", "repo": "/r", "test": ["true"], "agent_command": "a", "state_dir": "/s"}


def failed(*endings: Ending, **changes: object) -> Case:
    """A case whose runs ended like this."""
    attempts = tuple(
        Attempt(
            number=number,
            key=f"k{number}",
            request=request(run_id=f"x-{number}"),
            planned_at=NOW,
            start_at=NOW,
            handle="h",
            ending=ending,
            broad=broad_class(ending),
            granular=granular_mode(ending),
        )
        for number, ending in enumerate(endings, 1)
    )
    return Case(id="x", title="t", digest="d", fields=FIELDS, attempts=attempts, **changes)


def ending(
    reason: StopReason | None = StopReason.STUCK, mode: FailureMode | None = None, **more: object
) -> Ending:
    return Ending(state="Failed", reason=reason, mode=mode, **{"iterations": 1, **more})


def test_every_way_to_stop_has_a_class():
    assert set(BY_REASON) == set(StopReason) - {StopReason.COMPLETE, StopReason.ACCEPTED}
    assert set(MOST_RETRIES) == set(BroadClass)


@pytest.mark.parametrize(
    "words",
    [
        "expected 401 to equal 200",
        "npm Could not resolve dependency",
        "test_login_failure assert 1 == 2",
        "FAIL src/x.test.ts (502 ms)",
        "prompt is too long: 204311 tokens",
    ],
)
def test_words_of_a_log_decide_nothing(words):
    """Each of these was taken for credentials, an outage or a bad request by a daemon that read prose."""
    assert broad_class(ending(explanation=words)) is BroadClass.BUILD


@pytest.mark.parametrize(
    ("state", "found"),
    [
        ("Crashed", BroadClass.TRANSIENT),
        ("InvalidRequest", BroadClass.INVALID),
        ("Cancelled", BroadClass.CANCELLED),
        ("Failed", BroadClass.UNKNOWN),
    ],
)
def test_a_flow_run_without_a_result_is_judged_by_its_state(state, found):
    assert broad_class(Ending(state=state)) is found


def test_the_second_level_is_only_for_builds_and_contexts():
    mode = FailureMode.TEST_FLAKINESS
    assert granular_mode(ending(StopReason.STUCK, mode)) is mode
    assert granular_mode(ending(StopReason.MAX_RESTARTS, mode)) is mode
    assert granular_mode(ending(StopReason.AGENT_REFUSED, mode)) is None


@pytest.mark.parametrize(
    ("mode", "changes"),
    [
        (FailureMode.TEST_FLAKINESS, {"max_iterations": 3}),
        (FailureMode.DEPENDENCY_ISSUE, {"max_iterations": 5}),
        (FailureMode.INFINITE_LOOP, {"max_iterations": 10}),
        (FailureMode.CONTEXT_EXHAUSTION, {"max_restarts": 5}),
        (FailureMode.CODE_ERROR, {}),
    ],
)
def test_the_strategy_sets_the_limits_of_the_next_run(mode, changes):
    case = failed(ending(mode=mode))
    following = next_attempt(case, Policy(), NOW, 0)
    plain = next_attempt(failed(), Policy(), NOW, 0)
    assert isinstance(following, Attempt)
    assert isinstance(plain, Attempt)
    given, usual = following.request.model_dump(), plain.request.model_dump()
    assert {name: given[name] for name in given if given[name] != usual[name] and name != "run_id"} == changes


@pytest.mark.parametrize("mode", list(FailureMode))
@pytest.mark.parametrize("retries", range(9))
def test_limits_are_bounded_however_often_and_never_loosened_past_what_was_asked(mode, retries):
    asked = request(max_iterations=4, max_restarts=1)
    given = with_strategy(asked, STRATEGIES[mode], retries)
    assert given.max_iterations <= 4
    assert 1 <= given.max_restarts <= 5
    assert with_strategy(request(max_restarts=0), STRATEGIES[mode], retries).max_restarts == 0


def test_a_retry_is_planned_for_later_and_doubles():
    delays = []
    for count in (1, 2):
        following = next_attempt(failed(*[ending()] * count), Policy(), NOW, 0)
        assert isinstance(following, Attempt)
        delays.append(following.start_at - NOW)
    assert delays == [timedelta(seconds=30), timedelta(seconds=60)]


def test_an_outage_continues_the_same_run_and_a_failure_begins_anew():
    away = next_attempt(failed(ending(StopReason.AGENT_UNAVAILABLE)), Policy(), NOW, 0)
    red = next_attempt(failed(ending()), Policy(), NOW, 0)
    assert isinstance(away, Attempt)
    assert isinstance(red, Attempt)
    assert (away.request.run_id, red.request.run_id) == ("x-1", "x-2")
    assert away.start_at - NOW == timedelta(minutes=5)
    assert away.key != failed(ending()).attempts[0].key


@pytest.mark.parametrize(
    ("reason", "runs"),
    [
        (StopReason.AGENT_REFUSED, 1),
        (StopReason.GATE_COULD_NOT_RUN, 1),
        (StopReason.CANCELLED, 1),
        (StopReason.STUCK, 3),
        (StopReason.AGENT_UNAVAILABLE, 5),
    ],
)
def test_every_class_has_its_number_of_runs(reason, runs):
    for count in range(1, runs):
        assert isinstance(next_attempt(failed(*[ending(reason)] * count), Policy(), NOW, 0), Attempt)
    assert isinstance(next_attempt(failed(*[ending(reason)] * runs), Policy(), NOW, 0), GiveUp)


def test_a_request_has_a_budget_over_all_its_runs():
    policy = Policy(budget_usd=2.0)
    second = next_attempt(failed(ending(cost_usd=1.5)), policy, NOW, 0)
    assert isinstance(second, Attempt)
    assert second.request.budget_usd == 0.5
    spent = next_attempt(failed(ending(cost_usd=2.0)), policy, NOW, 0)
    assert isinstance(spent, GiveUp)
    assert "budget of $2.00" in spent.why


def test_too_many_starts_wait_for_the_window_to_move():
    policy = Policy(starts=3)
    assert isinstance(next_attempt(failed(), policy, NOW, 3), Later)
    assert isinstance(next_attempt(failed(), policy, NOW, 2), Attempt)


class Launched:
    """Runs that never end."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def start(self, attempt: Attempt) -> str:
        self.keys.append(attempt.key)
        return attempt.key

    def ended(self, _: Attempt) -> Ending | None:
        return None


def put(folder, name: str, **fields: object) -> None:
    (folder / name).write_text(json.dumps({**FIELDS, **fields}))


def test_failures_of_one_request_do_not_hold_up_another(tmp_path):
    """The rate is counted over a window for all, and nothing sleeps: a full window only delays starts."""
    launched, ledger = Launched(), Ledger(tmp_path / "ledger")
    for name in ("a.json", "b.json", "c.json"):
        put(tmp_path, name)
    source, policy = DirectorySource(tmp_path, {}), Policy(starts=2)
    assert look(source, ledger, launched, policy, NOW).started == 2
    assert look(source, ledger, launched, policy, NOW + timedelta(minutes=59)).started == 0
    assert look(source, ledger, launched, policy, NOW + timedelta(minutes=61)).started == 1
    assert len(set(launched.keys)) == 3


class Failed(Launched):
    """Runs that have failed by the next look."""

    def ended(self, _: Attempt) -> Ending | None:
        return ending(StopReason.AGENT_UNAVAILABLE)


def test_pitfall_47_failures_weeks_apart_pause_nothing_and_a_delay_holds_up_nobody_else(tmp_path):
    """However many failed in the past, a new request starts at once; a retry is planned for later, not slept."""
    launched, ledger, policy = Failed(), Ledger(tmp_path / "ledger"), Policy()
    source = DirectorySource(tmp_path, {})
    for week in range(15):
        now, name = NOW + timedelta(weeks=week), f"{week}.json"
        put(tmp_path, name)
        look(source, ledger, launched, policy, now)
        assert [one.start_at for one in ledger.case(name).attempts] == [now]
    put(tmp_path, "new.json")
    look(source, ledger, launched, policy, now)
    assert ledger.case(name).last.start_at > now
    assert ledger.case("new.json").last.start_at == now


def test_a_request_that_cannot_be_run_is_answered_and_may_be_mended(tmp_path):
    launched, ledger = Launched(), Ledger(tmp_path / "ledger")
    put(tmp_path, "a.json", tset=["x"])
    source = DirectorySource(tmp_path, {})
    look(source, ledger, launched, Policy(), NOW)
    assert launched.keys == []
    (answer,) = (tmp_path / "a.json.answers").glob("*.md")
    assert "tset" in answer.read_text()
    put(tmp_path, "a.json")
    look(source, ledger, launched, Policy(), NOW)
    assert len(launched.keys) == 1
    assert ledger.case("a.json").status is Status.OPEN


def test_there_is_one_supervisor_at_a_time(tmp_path):
    ledger = Ledger(tmp_path)
    with ledger.held(), pytest.raises(RunLocked, match="another supervisor"), Ledger(tmp_path).held():
        pass
