"""What the command says when the run's files could not be written: one sentence, never a trace."""

from __future__ import annotations

import errno
import os

import pytest

from buildloop.cli.execute import _as_result
from buildloop.errors import BuildloopError, StateWriteError
from buildloop.rundir import RunDir


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EACCES])
def test_a_state_that_cannot_be_written_any_more_is_one_sentence_with_the_way_on(tmp_path, number):
    with pytest.raises(StateWriteError) as told:
        _as_result(OSError(number, os.strerror(number), str(tmp_path / "f")), RunDir(tmp_path / "r1"))
    assert os.strerror(number) in str(told.value)
    assert "buildloop resume r1" in str(told.value)
    assert "\n" not in str(told.value)


def test_a_crash_whose_trace_cannot_be_kept_is_still_one_sentence(tmp_path):
    (tmp_path / "r1").write_text("a file where the folder should be")
    with pytest.raises(BuildloopError) as told:
        _as_result(RuntimeError("boom"), RunDir(tmp_path / "r1"))
    assert "boom" in str(told.value)
    assert "could not be kept" in str(told.value)
    assert "buildloop resume r1" in str(told.value)
