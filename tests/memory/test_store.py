"""Facts in, facts out: each told twice counts once, on both databases."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import traceback
from contextlib import closing
from pathlib import Path

import pytest

from buildloop.errors import InputError, MemoryUnavailable
from buildloop.memory import upkeep
from buildloop.memory.facts import link_remote, settle_failure
from buildloop.memory.location import VARIABLE, Kind, Location, memory_location
from buildloop.memory.model import Moment, Record
from buildloop.memory.recall import Scope, similar_failures
from buildloop.memory.schema import SCHEMA_VERSION, TABLE_NAMES
from buildloop.memory.sqlite import BATCH
from buildloop.memory.store import open_store
from buildloop.memory.suggestions import mark_suggestion_resolved, record_suggestion
from buildloop.memory.upkeep import Selection, count_selected, exported, forget, stats
from tests.support.memories import NOW, OTHER, REPO, Events, finding, fix, remember, suggestion

ROOT = Path(__file__).parents[2]


def known(store, what, repo=REPO):
    return similar_failures(store, what, 3, Scope(repo))


def test_a_failure_comes_back_with_everything_that_was_told(store):
    remember(store, finding(), run="run-1", now=NOW)
    remember(store, finding(), run="run-2", now=NOW + 60)
    (found,) = known(store, finding())
    assert (found.exact, found.relevance, found.seen) == (True, 1.0, 2)
    assert (found.test, found.message) == ("tests/test_a.py::test_a", "KeyError: 'user'")
    assert (found.first_seen, found.last_seen) == ("2023-11-14T22:13:20Z", "2023-11-14T22:14:20Z")
    assert (found.last_run, found.repo) == ("run-2", REPO)


def test_the_same_fact_told_again_changes_nothing(store):
    """A crash makes a task run again; what it told the first time must not count twice."""
    for _ in range(3):
        remember(store, finding(), run="run-1", iteration=2)
        settle_failure(store, REPO, remember(store, finding()), Moment(run="run-1", iteration=2), fixed=False)
        fix(store, finding(), run="run-1", iteration=3)
    (found,) = known(store, finding())
    assert found.seen == 2
    assert [one.record for one in found.fixes] == [Record(worked=1, tried=1)]
    assert [one.overall for one in stats(store).classes] == [Record(worked=0, tried=1)]


def test_the_same_change_confirmed_by_another_run_adds_to_its_record(store):
    remember(store, finding())
    assert fix(store, finding(), run="run-1") == fix(store, finding(), run="run-2")
    (found,) = known(store, finding())
    assert [one.record.in_words for one in found.fixes] == ["worked 2 of 2"]


def test_a_fix_for_a_failure_nobody_has_seen_is_not_kept(store):
    with pytest.raises(AssertionError):
        fix(store, finding())
    assert stats(store).fixes == 0


def test_facts_survive_closing_and_opening(place):
    with closing(open_store(place)) as first:
        remember(first, finding())
    with closing(open_store(place)) as second:
        assert len(known(second, finding())) == 1


def test_a_transaction_is_all_or_nothing(store):
    with pytest.raises(RuntimeError), store.transaction():
        store.rows("INSERT INTO repos (identity) VALUES (?)", "half")
        raise RuntimeError
    assert store.rows("SELECT count(*) FROM repos")[0][0] == 0


@pytest.mark.parametrize("count", [BATCH - 1, BATCH + 40])
def test_failures_are_found_before_and_after_they_are_indexed(store, count):
    for number in range(count):
        remember(store, finding(f"KeyError: 'column_{number}'", test=f"t::test_{number}"))
    for number in (0, count // 2, count - 1):
        (found,) = known(store, finding(f"KeyError: 'column_{number}'", test="elsewhere::test_x"))
        assert (found.message, found.exact) == (f"KeyError: 'column_{number}'", False)


def test_forgetting_takes_the_words_out_too_and_numbers_are_not_used_again(store):
    for number in range(BATCH + 40):
        remember(
            store, finding(f"KeyError: 'column_{number}'", test=f"t::test_{number}"), run=f"run-{number}"
        )
    assert forget(store, Selection(repo=REPO)) == BATCH + 40
    assert known(store, finding("KeyError: 'column_7'", test="x")) == []
    remember(store, finding("KeyError: 'column_8'", test="t::test_8"))
    assert [one.message for one in known(store, finding("KeyError: 'column_8'", test="x"))] == [
        "KeyError: 'column_8'"
    ]
    assert known(store, finding("KeyError: 'column_9'", test="x")) == []


@pytest.mark.parametrize(
    ("selection", "left"),
    [
        (Selection(run="run-2"), {"a", "c"}),
        (Selection(before=NOW + 50), {"b", "c"}),
        (Selection(repo=OTHER), {"a", "b"}),
        (Selection(repo=OTHER, before=NOW), {"a", "b", "c"}),
        (Selection(), set()),
    ],
)
def test_what_is_forgotten_is_what_was_selected(store, selection, left):
    remember(store, finding("E: a", "a"), run="run-1", now=NOW)
    remember(store, finding("E: b", "b"), run="run-2", now=NOW + 100)
    remember(store, finding("E: c", "c"), run="run-3", now=NOW + 200, repo=OTHER)
    fix(store, finding("E: b", "b"), run="run-2")
    assert count_selected(store, selection) == 3 - len(left)
    assert forget(store, selection) == 3 - len(left)
    assert {one.test for one in exported(store, Selection())} == left
    assert stats(store).fixes == int("b" in left)


def test_to_forget_everything_leaves_nothing_and_memory_goes_on(store):
    """No name of a repository, no record, no word of the index."""
    for number in range(BATCH + 40):
        remember(store, finding(f"E: n{number}", f"t{number}"))
    fix(store, finding("E: n1", "t1"))
    record_suggestion(store, suggestion(), NOW, Events().emit)
    mark_suggestion_resolved(store, "s1", emit=Events().emit)
    link_remote(store, REPO, "remote-x")
    assert forget(store, Selection()) == BATCH + 40
    counted = {name: store.rows(f"SELECT count(*) FROM {name}")[0][0] for name in TABLE_NAMES}
    assert counted == dict.fromkeys(TABLE_NAMES, 0)
    assert store.postings("n1", 10) == []
    remember(store, finding("E: again", "t"))
    assert len(known(store, finding("E: again", "t"))) == 1


def test_a_memory_of_the_first_version_is_taken_over(place):
    with closing(open_store(place)) as store:
        remember(store, finding())
        store.rows("DROP TABLE aliases")
        store.rows(
            "PRAGMA user_version = 1"
            if place.kind is Kind.SQLITE
            else "UPDATE schema_version SET version = 1"
        )
    with closing(open_store(place)) as store:
        assert len(known(store, finding())) == 1
        link_remote(store, REPO, "remote-x")
        assert len(known(store, finding(), "remote-x")) == 1


def test_shallow_clones_and_full_ones_share_what_they_learn(store):
    """A shallow clone goes by its remote; whichever comes first, they meet as soon as a full one has run."""
    remember(store, finding("E: in ci", "ci"), repo="remote-x")
    link_remote(store, REPO, "remote-x")
    remember(store, finding("E: at home", "home"))
    for name in (REPO, "remote-x"):
        assert {one.test for one in exported(store, Selection(repo=name))} == {"ci", "home"}
        assert [
            len(known(store, finding(*text), name)) for text in (("E: in ci", "ci"), ("E: at home", "home"))
        ]
    assert stats(store).repos == 1


def test_a_remote_belongs_to_the_first_project_that_came_with_it(store):
    link_remote(store, REPO, "remote-x")
    link_remote(store, OTHER, "remote-x")
    remember(store, finding("E: mine", "mine"), repo=REPO)
    remember(store, finding("E: other", "other"), repo=OTHER)
    assert {one.test for one in exported(store, Selection(repo="remote-x"))} == {"mine"}
    assert {one.test for one in exported(store, Selection(repo=OTHER))} == {"other"}


def test_export_and_forget_go_on_after_the_first_page(store, monkeypatch):
    monkeypatch.setattr(upkeep, "PAGE", 4)
    for number in range(10):
        remember(store, finding(f"E: n{number}", f"t{number}"))
    assert len({one.fingerprint for one in exported(store, Selection(repo=REPO))}) == 10
    assert forget(store, Selection()) == 10


def test_a_newer_schema_is_refused_with_a_sentence(place):
    with closing(open_store(place)) as store:
        change = (
            f"PRAGMA user_version = {SCHEMA_VERSION + 1}"
            if place.kind is Kind.SQLITE
            else f"UPDATE schema_version SET version = {SCHEMA_VERSION + 1}"
        )
        store.rows(change)
    with pytest.raises(MemoryUnavailable, match="newer buildloop"):
        open_store(place)


WRITER = """
import os, sys
from buildloop.diagnosis.model import Finding
from buildloop.memory.location import memory_location
from buildloop.memory.store import open_store
from tests.support.memories import finding, remember
store = open_store(memory_location(os.environ))
for number in range(int(sys.argv[2])):
    remember(store, finding(f"E: writer {sys.argv[1]} number {number}", f"t{sys.argv[1]}_{number}"), iteration=number)
    remember(store, finding("E: all of them", "same"), run=f"run-{sys.argv[1]}", iteration=number)
"""


@pytest.mark.slow
def test_pitfall_36_many_writers_at_once_lose_nothing(place, monkeypatch):
    """The first of them also make the tables, all at the same time. `benchmarks/memory.py` does it with 40 x 250."""
    monkeypatch.setenv(VARIABLE, place.target)
    command = [sys.executable, "-c", WRITER]
    writers = [subprocess.Popen([*command, str(number), "25"], cwd=ROOT) for number in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    with closing(open_store(place)) as store:
        assert (stats(store).failures, stats(store).sightings) == (4 * 25 + 1, 4 * 25 * 2)
        assert store.rows("SELECT seen FROM failures WHERE test = ?", "same")[0][0] == 4 * 25


def test_the_file_is_the_users_alone(tmp_path):
    path = tmp_path / "new" / "memory.db"
    open_store(memory_location({VARIABLE: str(path)})).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(
    ("given", "kind", "target"),
    [
        ("/a/b.db", Kind.SQLITE, "/a/b.db"),
        ("sqlite:////a/b.db", Kind.SQLITE, "/a/b.db"),
        ("postgresql://u:p@h/d", Kind.POSTGRESQL, "postgresql://u:p@h/d"),
        ("postgres://h/d", Kind.POSTGRESQL, "postgres://h/d"),
        ("off", Kind.OFF, "off"),
    ],
)
def test_where_memory_is(given, kind, target):
    place = memory_location({VARIABLE: given})
    assert (place.kind, place.target) == (kind, target)


def test_by_default_memory_is_in_the_users_data_directory(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    place = memory_location({})
    assert place.target.endswith("buildloop/memory.db")
    assert not place.target.startswith(str(ROOT))


@pytest.mark.parametrize(
    "given",
    [
        "mysql://h/d",
        "sqlite://",
        "postgresql://u:secret@h:port/d",
        "postgresql://u:sec%ret-secret@h/d",
        "postgresql://u:pa/secret@h/d",
        "postgresql://u:1?secret@h/d",
        "postgresql://u:p@secret@h/d",
        "postgresql:/u:secret@h/d",
        "host=h dbname=d password=secret",
        "password=secret host=h",
    ],
)
def test_a_wrong_address_is_one_sentence_without_the_password(given):
    with pytest.raises(InputError, match=VARIABLE) as caught:
        memory_location({VARIABLE: given})
    assert "secret" not in str(caught.value)


def test_a_password_is_never_shown():
    place = memory_location({VARIABLE: "postgresql://user:hunter22@db.example:5433/team?sslmode=require"})
    assert place.shown == "postgresql://db.example:5433/team"
    assert (
        memory_location({VARIABLE: "postgresql://a,b:5433/team?user=u"}).shown == "postgresql://a,b:5433/team"
    )


def test_an_address_the_driver_cannot_read_is_not_quoted():
    """Written past the check of the address, as a later version of the driver may be stricter."""
    place = Location(Kind.POSTGRESQL, "postgresql://user:pa%ss-hunter22@h/d")
    with pytest.raises(MemoryUnavailable, match=VARIABLE) as caught:
        open_store(place)
    assert "hunter22" not in "".join(traceback.format_exception(caught.value))
