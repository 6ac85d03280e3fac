"""What the attempts of a loop have in common: the same code, the same failures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from buildloop.diagnosis.fingerprint import fingerprints, identity
from buildloop.diagnosis.model import Attempt
from buildloop.diagnosis.relevance import may_matter


def code_versions(history: Sequence[Attempt]) -> list[int]:
    """A number per attempt, equal where the code that the gate judged is the same.

    The same tree is the same code; so is a tree that differs only in prose and comments.
    """
    versions: list[int] = []
    by_tree: dict[str, int] = {}
    for index, attempt in enumerate(history):
        known = by_tree.get(attempt.tree) if attempt.tree else None
        if known is not None:
            version = known
        elif index and _untouched(attempt):
            version = versions[-1]
        else:
            version = max(versions, default=-1) + 1
        versions.append(version)
        if attempt.tree:
            by_tree.setdefault(attempt.tree, version)
    return versions


def _untouched(attempt: Attempt) -> bool:
    if attempt.diff:
        return not may_matter(attempt.diff)
    return attempt.changed is False


def failing_tests(attempt: Attempt) -> frozenset[str]:
    """The failing tests under names without what changes from run to run."""
    return _steady_names(attempt.reading.failing)


@lru_cache(maxsize=512)
def _steady_names(tests: tuple[str, ...]) -> frozenset[str]:
    return frozenset(identity(test) for test in tests)


def signature(attempt: Attempt) -> frozenset[str]:
    """The failures of one attempt; empty when the log named none."""
    return fingerprints(attempt.reading)


def trailing_failures(history: Sequence[Attempt]) -> list[Attempt]:
    """The attempts since the gate was last green."""
    failures: list[Attempt] = []
    for attempt in reversed(history):
        if attempt.passed:
            break
        failures.append(attempt)
    return failures[::-1]
