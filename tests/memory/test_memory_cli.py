"""`buildloop memory` and `buildloop suggestions` as a user types them."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from buildloop.memory.location import VARIABLE, memory_location
from buildloop.memory.store import open_store
from buildloop.memory.suggestions import record_suggestion
from buildloop.workspace.repository import open_repository
from tests.support.command import run_buildloop
from tests.support.memories import NOW, OTHER, Events, finding, fix, remember, suggestion

# Each of these starts the command several times.
pytestmark = pytest.mark.slow


@pytest.fixture
def told(repo, tmp_path, monkeypatch):
    """A memory with one fixed failure of `repo` and one of another; the command, run in `repo`."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "memory.db"))
    identity = open_repository(repo).repo_id
    with closing(open_store(memory_location({VARIABLE: str(tmp_path / "memory.db")}))) as store:
        remember(store, finding(), repo=identity)
        fix(store, finding(), repo=identity)
        remember(store, finding("ValueError: elsewhere only"), repo=OTHER)
        record_suggestion(store, suggestion(1, id="run-1-s1-i1-aa", repo=identity), NOW, Events().emit)

    def run(*arguments, code=0):
        ran = run_buildloop(*arguments, cwd=repo)
        assert ran.returncode == code, ran.stderr
        assert "Traceback" not in ran.stderr
        return ran.stdout if code == 0 else ran.stderr

    return run


def test_search_stats_and_export_tell_what_is_known(told, tmp_path):
    shown = told("memory", "search", "KeyError: 'user'")
    assert "worked 1 of 1" in shown
    assert "+y" in shown
    (found,) = json.loads(told("memory", "search", "KeyError: 'user'", "--json"))
    assert found["fixes"][0]["change"]["approach"] == "did y"
    assert json.loads(told("memory", "search", "ValueError: elsewhere only", "--json")) == []
    assert len(json.loads(told("memory", "search", "ValueError: elsewhere only", "--all", "--json"))) == 1
    facts = json.loads(told("memory", "stats", "--json"))
    assert (facts["failures"], facts["fixes"], facts["repos"]) == (2, 1, 2)
    told("memory", "export", str(tmp_path / "out.jsonl"))
    assert len([json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]) == 2


def test_forget_does_what_it_said_it_would(told):
    assert "1 failures would be forgotten" in told("memory", "forget", "--repo", ".", "--dry-run")
    assert json.loads(told("memory", "stats", "--json"))["failures"] == 2
    assert json.loads(told("memory", "forget", "--repo", ".", "--yes", "--json")) == {"forgotten": 1}
    facts = json.loads(told("memory", "stats", "--json"))
    assert (facts["failures"], facts["fixes"], facts["suggestions"]) == (1, 0, 1)


def test_suggestions_are_listed_and_settled_once(told):
    (one,) = json.loads(told("suggestions", "list", "--all", "--json"))
    assert one["resolved"] is None
    assert "worked" in told("suggestions", "resolve", "run-1-s1")
    assert json.loads(told("suggestions", "list", "--all", "--open", "--json")) == []
    assert "settled already" in told("suggestions", "resolve", "run-1-s1", "--failed", code=2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("memory", "forget"), "say what to forget"),
        (("memory", "forget", "--everything", "--run", "x"), "alone"),
        (("memory", "forget", "--older-than", "soon"), "90d"),
        (("memory", "search", " "), "no error text"),
        (("memory", "search", "x", "--repo", "/nowhere"), "not a directory"),
        (("suggestions", "resolve", "unknown"), "no suggestion"),
    ],
)
def test_bad_input_is_one_sentence(told, arguments, says):
    complaint = told(*arguments, code=2)
    assert says in complaint
    assert complaint.count("\n") == 1


def test_a_memory_that_cannot_be_used_is_one_sentence(told, tmp_path, monkeypatch):
    (tmp_path / "bad.db").write_text("no database " * 300)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "bad.db"))
    assert "cannot be used" in told("memory", "stats", code=1)
    monkeypatch.setenv(VARIABLE, "off")
    assert "switched off" in told("memory", "stats", code=2)


def test_the_doctor_says_where_memory_is_how_large_and_what_is_wrong_with_it(told, tmp_path, monkeypatch):
    def memory():
        return next(one for one in json.loads(told("doctor", "--json")) if one["name"] == "memory")

    assert (memory()["state"], "sqlite" in memory()["found"], "2 failures" in memory()["found"]) == (
        "ok",
        True,
        True,
    )
    monkeypatch.setenv(VARIABLE, "postgresql://user:hunter22@127.0.0.1:1/team")
    assert memory()["state"] == "warn"
    assert "hunter22" not in str(memory())
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.db"))
    assert "empty" in memory()["found"]
    assert not (tmp_path / "none.db").exists()
