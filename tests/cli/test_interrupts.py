"""When an interrupt is let through."""

import os
import signal

import pytest

from buildloop.cli.interrupts import ENDING, Interrupts


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_the_run_at_once(number):
    interrupts = Interrupts()
    with pytest.raises(KeyboardInterrupt), interrupts:
        os.kill(os.getpid(), number)
    assert interrupts.arrived


def test_what_must_not_be_broken_off_is_finished_first():
    done = []
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts, interrupts.held():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("imported")
    assert done == ["imported"]


def test_an_error_inside_is_not_hidden_by_an_interrupt():
    with pytest.raises(ImportError), Interrupts() as interrupts, interrupts.held():
        os.kill(os.getpid(), signal.SIGINT)
        raise ImportError("broken")


def test_the_handlers_of_before_are_put_back():
    before = {number: signal.getsignal(number) for number in ENDING}
    with Interrupts():
        assert signal.getsignal(signal.SIGTERM) != before[signal.SIGTERM]
    assert {number: signal.getsignal(number) for number in ENDING} == before
