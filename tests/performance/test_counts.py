"""The hot paths make no more calls than they did, and no path does more the longer a run lasts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from buildloop.attempts import attempts_since_redirect
from buildloop.context.summary import SummaryFacts, summarize_loop_state
from buildloop.decide import decide
from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.diagnosis.model import Finding
from buildloop.diagnosis.observe import observe_text
from buildloop.models import Iteration, Usage
from buildloop.prompt.compose import compose_prompt
from buildloop.state import LoopState
from tests.performance.conftest import exceeded
from tests.performance.counting import calls
from tests.support.states import iteration, report, state

SHORT, LONG = 10, 160
# Values that no cache has seen, all of the same length.
FRESH = count(1001)

LOG = """\
2026-11-16T02:14:07Z INFO  http.server GET /api/v1/items/{n} 200 in 7 ms
tests/test_orders.py::test_total[{n}] PASSED                                [ 12%]
=================================== FAILURES ===================================
_________________________________ test_refund __________________________________

    def test_refund():
>       assert refund({n}) == 9
E       assert {n} == 9

tests/test_refund.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_refund.py::test_refund_{n} - assert {n} == 9
FAILED tests/test_cart.py::test_total_{n} - KeyError: 'price'
========================= 2 failed, 31 passed in 1.27s =========================
--- FAIL: TestLedger{n} (0.01s)
    ledger_test.go:31: Balance() = {n}, want 4
FAIL
src/cart.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.
"""


def log(number: int) -> str:
    noise = "".join(f"DEBUG worker-{n} heartbeat seq={number} lag=0.0{n} queue=empty\n" for n in range(40))
    return noise + LOG.format(n=number) + noise


def finding(number: int) -> Finding:
    message = f"assert {number} == 9 in /tmp/run-{number}/shop.py at 0x7f{number}"
    return Finding(message=message, type="AssertionError", test=f"tests/test_a.py::test_{number}")


def run(length: int, salt: str = "") -> LoopState:
    """A run that makes progress: another test is missing after every iteration."""
    steps = [step(number, salt) for number in range(length + 1)]
    return state(*steps, max_iterations=length + 10)


def step(number: int, salt: str) -> Iteration:
    return iteration(
        number,
        report(tree=f"tree-{salt}{number}", failing=(f"t::step_{salt}{number}",)),
        usage=Usage(input_tokens=900, output_tokens=80, context_tokens=1000 + number),
    )


# Each is called once with other values before it is counted: patterns are compiled, answers are not yet known.
def parse(number: int) -> Callable[[], object]:
    text = log(number)
    return lambda: observe_text(text, 1)


def fingerprints(number: int) -> Callable[[], object]:
    found = [finding(10 * number + n) for n in range(10)]
    return lambda: [fingerprint(one) for one in found]


def classify(number: int) -> Callable[[], object]:
    history = attempts_since_redirect(run(SHORT, f"c{number}-"))
    return lambda: diagnose(history, context_window=200_000)


def prompt(number: int) -> Callable[[], object]:
    now = run(SHORT, f"p{number}-")
    return lambda: compose_prompt(now)


def context_check(number: int) -> Callable[[], object]:
    now = run(SHORT, f"x{number}-")
    return lambda: now.context_due


def summary(number: int) -> Callable[[], object]:
    facts = SummaryFacts(
        goal="g" * 300,
        iteration=number,
        max_iterations=20,
        status="context full",
        tests="3 failing",
        files=[f"shop/file_{n}.py" for n in range(60)],
        errors=[f"E   assert {n} == {number}" for n in range(20)],
        tried=[f"iteration {n}: changed shop/cart.py" for n in range(60)],
    )
    return lambda: summarize_loop_state(facts)


HOT = {
    "parse": parse,
    "fingerprint": fingerprints,
    "classify": classify,
    "compose_prompt": prompt,
    "context check": context_check,
    "summary": summary,
}

# What the loop asks of its state in every iteration.
STATE_WALKS: dict[str, Callable[[LoopState], object]] = {
    "compose_prompt": compose_prompt,
    "context check": lambda now: now.context_due,
    "decide": decide,
    "add an iteration": lambda now: now.with_iteration(now.last),
    "best commit": lambda now: now.best_commit,
    "worth probing": lambda now: now.worth_probing(report(failing=("t::new",))),
}


def counted(make: Callable[[int], Callable[[], object]]) -> int:
    make(next(FRESH))()
    return calls(make(next(FRESH)))


@pytest.mark.parametrize("name", HOT)
def test_a_hot_path_makes_no_more_calls_than_it_did(name, guard):
    guard(f"calls: {name}", counted(HOT[name]))


def growth(walk: Callable[[LoopState], object]) -> float:
    """How many calls more each further iteration of the history costs; 0 is flat.

    Asked as the loop asks: everything was asked before the last iteration came, and is asked once after it.
    """

    def asked_again(length: int) -> int:
        before = run(length, f"{next(FRESH)}-")
        walk(before)
        after = before.with_iteration(step(length + 1, f"{next(FRESH)}-"))
        return calls(lambda: walk(after))

    asked_again(SHORT)
    return (asked_again(LONG) - asked_again(SHORT)) / (LONG - SHORT)


@pytest.mark.parametrize("name", STATE_WALKS)
def test_what_an_iteration_asks_does_not_grow_with_the_run(name, guard):
    guard(f"growth per iteration: {name}", max(0.0, growth(STATE_WALKS[name])))


def test_the_guard_notices_a_walk_through_the_history(counts):
    def walk(now: LoopState) -> object:
        return [one.gate.passed for one in now.iterations]

    assert "grown" in exceeded("growth per iteration: decide", growth(walk), counts)


@pytest.mark.parametrize("name", HOT)
def test_the_guard_notices_a_path_that_does_its_work_twice(name, counts):
    def twice(number: int) -> Callable[[], object]:
        work, again = HOT[name](number), HOT[name](next(FRESH))
        return lambda: (work(), again())

    assert "grown" in exceeded(f"calls: {name}", counted(twice), counts)


def test_counts_are_the_same_every_time():
    for make in HOT.values():
        counts = [counted(make) for _ in range(3)]
        assert max(counts) <= 1.02 * min(counts)
