"""What goes to Prefect and to request files holds no secret: errors, logs with their traces, goals, commands."""

from __future__ import annotations

import json
import logging
import pickle
from datetime import UTC, datetime

import pytest

from buildloop.errors import AgentLimited, AgentRefused, InputError
from buildloop.falsify import storable
from buildloop.fleet.request import FleetRequest, plan_of
from buildloop.redact import mask_own
from buildloop.request_secrets import without_secrets
from buildloop.supervise.ledger import Ledger
from buildloop.supervise.model import Status
from buildloop.supervise.plan import Policy
from buildloop.supervise.source import DirectorySource
from buildloop.supervise.tick import look
from tests.support.states import request

VALUE = "Zk93hfQpLm27xVbT"
TOKEN = "ghp_" + "q8Zr3Lk9Xw2Vb7Nm4Tc6Yh1Jd5Fg0SaPeRuK"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FIELDS = {"goal": f"use {VALUE}", "repo": "/r", "test": ["true"], "agent_command": "a", "state_dir": "/s"}


@pytest.fixture(autouse=True)
def _secret(monkeypatch):
    monkeypatch.setenv("MY_TOKEN", VALUE)


def test_an_error_of_ours_holds_no_secret_and_still_pickles():
    assert str(AgentRefused(f"refused: {TOKEN}")) == "refused: [masked]"
    limited = pickle.loads(pickle.dumps(AgentLimited(f"{VALUE} later", 5.0)))
    assert (str(limited), limited.reset_at) == ("[masked] later", 5.0)


def test_logs_of_a_run_are_masked_with_their_traces():
    from tasks.masked_logs import LOGGERS, mask_logs

    seen: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(self.format(record))

    kept = {name: Kept() for name in LOGGERS}
    for name, handler in kept.items():
        logging.getLogger(name).addHandler(handler)
    try:
        mask_logs()
        mask_logs()
        try:
            raise ValueError(TOKEN)
        except ValueError:
            logging.getLogger("prefect.task_runs").exception("failed with %s", VALUE)
        assert all(len(handler.filters) == 1 for handler in kept.values())
    finally:
        for name, handler in kept.items():
            logging.getLogger(name).removeHandler(handler)
    assert len(seen) >= 2
    assert all("failed with [masked]" in text and "ValueError: [masked]" in text for text in seen)


def test_a_test_of_the_second_agent_that_holds_a_secret_is_not_taken():
    """It is stored and run again from there: masked, it would be another test."""
    added = {
        "tests/test_a.py": f"assert f('{VALUE}')",
        "tests/test_b.py": "assert f(1)",
        f"tests/{TOKEN}": "",
    }
    assert list(storable(added, mask_own)) == ["tests/test_b.py"]


@pytest.mark.parametrize("field", ["test", "accept", "agent_command", "falsify_command"])
@pytest.mark.parametrize(("held", "advice"), [(VALUE, "write $MY_TOKEN"), (TOKEN, "put it in a variable")])
def test_a_secret_in_any_command_is_refused(field, held, advice):
    command = f"curl -H {held} localhost"
    asked = request().model_copy(update={field: (command,) if field == "test" else command})
    with pytest.raises(InputError, match="holds") as told:
        without_secrets(asked, {"MY_TOKEN": VALUE})
    assert advice in str(told.value)
    assert held not in str(told.value)


def test_a_fleet_keeps_secrets_out_of_its_runs():
    plan = plan_of(_fleet(), "f")
    assert plan.requests[0].goal == "use [masked]"
    with pytest.raises(InputError, match=r"goal 1: the gate command holds the value of MY_TOKEN"):
        plan_of(_fleet(test=[f"curl {VALUE}"]), "f")


def _fleet(**changes: object) -> FleetRequest:
    fields = {name: value for name, value in FIELDS.items() if name != "state_dir"}
    return FleetRequest(goals=({**fields, **changes},))


def test_a_supervised_request_keeps_secrets_out_of_its_runs(tmp_path):
    goals: list[str] = []

    class Launched:
        def start(self, attempt):
            goals.append(attempt.request.goal)
            return "h"

        def ended(self, _):
            return None

    folder = tmp_path / "asked"
    folder.mkdir()
    (folder / "good.json").write_text(json.dumps(FIELDS))
    (folder / "bad.json").write_text(json.dumps({**FIELDS, "test": [f"curl {VALUE}"]}))
    ledger = Ledger(tmp_path / "ledger")
    look(DirectorySource(folder, {}), ledger, Launched(), Policy(), NOW)
    assert goals == ["use [masked]"]
    bad = ledger.case("bad.json")
    assert bad is not None
    assert (bad.status, "value of MY_TOKEN" in bad.why) == (Status.INVALID, True)
