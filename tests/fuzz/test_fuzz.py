"""Whatever is written into what buildloop reads: no traceback, an end, at most one clear sentence. `make fuzz` asks for
much more of the same."""

from __future__ import annotations

import os

import pytest

from tests.fuzz.target import Target, try_many
from tests.fuzz.targets import TARGETS

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "10"))


@pytest.mark.parametrize("target", TARGETS, ids=[target.name for target in TARGETS])
def test_no_input_breaks_it(target: Target):
    try_many(target, EXAMPLES)


def test_every_target_has_a_name_of_its_own():
    assert len({target.name for target in TARGETS}) == len(TARGETS)
