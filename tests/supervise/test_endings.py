"""How a run ended, also where it left nothing but the name of its state."""

from __future__ import annotations

import pytest

from buildloop.result import StopReason
from buildloop.supervise.classify import MOST_RETRIES, broad_class
from buildloop.supervise.model import Ending
from tasks.launch import Ended


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("Completed", StopReason.COMPLETE),
        ("Accepted", StopReason.ACCEPTED),
        ("Stuck", None),
        ("Crashed", None),
    ],
)
def test_a_good_end_is_known_by_its_state_where_no_files_are_shared(state, reason):
    """Tried again, finished work would be paid for twice."""
    found = Ended("COMPLETED", state, "", None)
    assert found.reason is reason
    assert Ending(state=state, reason=found.reason).complete is (reason is not None)


def test_a_run_that_kills_its_workers_is_not_started_anew():
    assert MOST_RETRIES[broad_class(Ending(state="CrashedTooOften"))] == 0
