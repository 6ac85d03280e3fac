"""Facts for memory, and a place for the events it tells."""

from __future__ import annotations

from typing import Any

from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.diagnosis.model import ErrorClass, FailureMode, Finding
from buildloop.memory.facts import confirm_fix, remember_failure
from buildloop.memory.model import Change, Moment, Suggestion
from buildloop.memory.outcomes import as_failure
from buildloop.memory.store import Store
from buildloop.redact import redactor

REPO, OTHER = "1" * 40, "2" * 40
NOW = 1_700_000_000


class Events(list[dict[str, Any]]):
    def emit(self, event_type: str, **fields: object) -> None:
        self.append({"type": event_type, **fields})

    def types(self) -> list[str]:
        return [event["type"] for event in self]


def finding(message: str = "KeyError: 'user'", test: str | None = "tests/test_a.py::test_a") -> Finding:
    return Finding(message=message, test=test, type=message.split(":")[0], tool="pytest")


def remember(
    store: Store, what: Finding, run: str = "run-1", iteration: int = 0, repo: str = REPO, now: int = NOW
) -> str:
    """Its fingerprint."""
    failure = as_failure(what, FailureMode.CODE_ERROR, redactor({}))
    remember_failure(store, repo, failure, Moment(run=run, iteration=iteration), now)
    return fingerprint(what)


def fix(
    store: Store,
    what: Finding,
    summary: str = "file a.py\n-x\n+y",
    run: str = "run-1",
    iteration: int = 1,
    repo: str = REPO,
) -> str:
    change = Change(summary=summary, approach="did y", files=("a.py",), commit="c" * 40)
    made = confirm_fix(store, repo, fingerprint(what), change, Moment(run=run, iteration=iteration), NOW)
    assert made is not None
    return made


def suggestion(number: int = 1, **changes: object) -> Suggestion:
    fields: dict[str, object] = {
        "id": f"s{number}",
        "category": ErrorClass.TYPE_ERROR,
        "stage": "test",
        "actions": ("do this", "do that"),
        "keys": ("TYPE_ERROR/1", "stage/test"),
        "timestamp": "2026-01-01T00:00:00Z",
        "fingerprint": f"2:{number:016x}",
        "run": "run-1",
        "iteration": number,
        "repo": REPO,
    }
    return Suggestion.model_validate({**fields, **changes})
