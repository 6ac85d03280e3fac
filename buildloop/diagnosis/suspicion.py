"""What a code error could turn out to be: too little to act on, enough to be named as the runner-up."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.diagnosis.context import fill_of
from buildloop.diagnosis.history import signature, trailing_failures
from buildloop.diagnosis.model import Attempt, ErrorClass, FailureMode, SignalKind

UNSTEADY = frozenset({ErrorClass.TIMEOUT, ErrorClass.NETWORK_ERROR})


def suspect(
    history: Sequence[Attempt], error_class: ErrorClass, *, context_window: int | None, context_threshold: int
) -> FailureMode | None:
    last = history[-1]
    if fill_of(last, context_window) >= max(context_threshold, 1):
        return FailureMode.CONTEXT_EXHAUSTION
    if _twice(trailing_failures(history)):
        return FailureMode.INFINITE_LOOP
    if any(signal.kind in (SignalKind.MISSING, SignalKind.INSTALL) for signal in last.reading.signals):
        return FailureMode.DEPENDENCY_ISSUE
    return FailureMode.TEST_FLAKINESS if error_class in UNSTEADY else None


def _twice(failures: Sequence[Attempt]) -> bool:
    return (
        len(failures) > 1
        and bool(signature(failures[-1]))
        and signature(failures[-1]) == signature(failures[-2])
    )
