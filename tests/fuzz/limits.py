"""Ends work that does not end: a limit on processor time, which a busy machine does not use up."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

# Inputs are at most some kilobytes; all of them are read within milliseconds.
SECONDS = 10.0


class HangError(AssertionError):
    pass


@contextlib.contextmanager
def within(seconds: float = SECONDS) -> Iterator[None]:
    def strike(*_: object) -> None:
        raise HangError(f"no end after {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, strike)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
