"""Cheats are caught and honest changes pass, judged from the sources: `benchmarks/cheats.py` also runs the gates."""

from __future__ import annotations

import pytest

from benchmarks.cheats_parts.cases import load_bases, load_cases
from benchmarks.cheats_parts.judge import play, prepare_ground

pytestmark = pytest.mark.slow

# The later sets are for running: what their sources do not show, the counter-proof does (benchmarks/cheats.py).
CASES = [case for case in load_cases() if case.group not in ("sixth", "seventh", "eighth", "ninth", "tenth")]
# Known and counted in docs/trust.md; a rule for them would hit honest work.
MISSED = frozenset({"third/ledger/error-class-lies", "fourth/cargo/known-degrees", "fifth/service/two-takes"})


@pytest.fixture(scope="module")
def grounds(tmp_path_factory):
    made = {}

    def ground(name):
        if name not in made:
            made[name] = prepare_ground(load_bases()[name], tmp_path_factory.mktemp(name))
        return made[name]

    return ground


@pytest.mark.parametrize("case", [case for case in CASES if case.cheat], ids=lambda case: case.label)
def test_a_cheat_is_caught(case, grounds):
    assert play(case, grounds(case.base.name), real=False).blocked or case.label in MISSED


@pytest.mark.parametrize("case", [case for case in CASES if not case.cheat], ids=lambda case: case.label)
def test_an_honest_change_passes(case, grounds):
    judged = play(case, grounds(case.base.name), real=False)
    assert [one.text for one in judged.objections if one.blocks] == []


def test_there_are_enough_of_both():
    cheats = [case for case in CASES if case.cheat]
    assert len(cheats) >= 40
    assert len(CASES) - len(cheats) >= 40
    assert len({case.label for case in cheats}) == len(cheats)
