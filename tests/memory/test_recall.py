"""Finding failures again: the fingerprint first, then text; error text is data; the limit is kept."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import closing, contextmanager, suppress

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from buildloop.diagnosis.model import Finding
from buildloop.errors import MemoryUnavailable
from buildloop.memory.location import VARIABLE, Kind, memory_location
from buildloop.memory.recall import Scope, query_similar_failures, similar_failures
from buildloop.memory.store import open_store
from buildloop.memory.words import search_words, words_among
from buildloop.workspace.repository import open_repository
from tests.support.memories import OTHER, REPO, Events, finding, fix, remember
from tests.support.repos import make_repo

PYTEST_LOG = """\
=================================== FAILURES ===================================
_________________________________ test_refund __________________________________

    def test_refund():
>       assert refund(10) == 9
E       AssertionError: refund of 10 must be 9

tests/test_refund.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_refund.py::test_refund - AssertionError: refund of 10 must be 9
"""


def messages(store, error, repo=REPO, **scope):
    return [one.message for one in similar_failures(store, error, 3, Scope(repo, **scope))]


def test_the_same_fingerprint_comes_first_however_alike_others_are(store):
    exact = finding("ValueError: total of order is wrong", test="t::total")
    remember(store, exact)
    for number in range(20):
        remember(store, finding("ValueError: total of order is wrong", test=f"t::other_{number}"))
    first, *others = similar_failures(store, exact, 3, Scope(REPO))
    assert (first.exact, first.test) == (True, "t::total")
    assert len(others) == 2
    assert not any(one.exact for one in others)


def test_line_numbers_times_and_addresses_do_not_hide_a_failure(store):
    remember(store, finding("OSError: /tmp/a1b2/x.py:17 at 0x7f3a failed after 3.2 s"))
    (found,) = similar_failures(
        store, finding("OSError: /tmp/zz99/x.py:40 at 0x91bc failed after 7.9 s"), 3, Scope(REPO)
    )
    assert found.exact


def test_a_whole_log_is_understood(store):
    from buildloop.gate.read import read_text

    remember(store, read_text(PYTEST_LOG, 1).findings[0])
    (found,) = similar_failures(store, PYTEST_LOG.replace("py:12", "py:99"), 3, Scope(REPO))
    assert found.exact


def test_pitfall_32_exact_text_is_found_although_it_is_full_of_pattern_characters(store):
    for text in ("TypeError: foo() takes 1 positional argument but 2 were given", "KeyError: [id]"):
        remember(store, finding(text, test="t::x"))
        assert messages(store, text) == [text]


def test_pitfall_32_a_common_word_does_not_bring_an_unrelated_failure(store):
    for number in range(30):
        remember(store, finding(f"Error: module_{number} cannot find part_{number}", test=f"t::{number}"))
    assert messages(store, "Error") == []
    assert messages(store, "Error: the printer is on fire") == []


def test_pitfall_33_the_right_entry_is_not_outranked_by_common_words(store):
    remember(store, finding("ConnectionError: authentication of tenant_blue failed", test="t::right"))
    for number in range(300):
        text = f"ConnectionError: authentication of service failed on host_{number} for request and retry"
        remember(store, finding(text, test=f"t::{number}"))
    found = similar_failures(
        store, finding("ConnectionError: tenant_blue authentication", test="x::y"), 3, Scope(REPO)
    )
    assert found[0].test == "t::right"


def test_pitfall_35_unrelated_repositories_do_not_share_memory_unless_asked(store):
    remember(store, finding(), repo=OTHER)
    assert messages(store, finding()) == []
    assert messages(store, finding(test="another::test")) == []
    assert messages(store, finding(), shared=True) == ["KeyError: 'user'"]
    assert messages(store, finding(test="another::test"), shared=True) == ["KeyError: 'user'"]


def test_no_text_can_pose_as_another_repository(store):
    """Words of the index are marked with the repository's number; text cannot write such a mark."""
    remember(store, finding("ValueError: 1:secret 2:secret hidden_word"), repo=OTHER)
    remember(store, finding("IndexError: nothing alike"), repo=REPO)
    for text in ("1:secret", "2:secret hidden_word", "ValueError: 1:secret 2:secret hidden_word"):
        assert messages(store, text) == []


def test_one_with_a_fix_that_stands_is_worth_more_than_one_without(store):
    for name in ("a", "b", "c", "d"):
        remember(store, finding("ValueError: price_of cart is negative", test=f"t::{name}"))
    fix(store, finding("ValueError: price_of cart is negative", test="t::c"))
    first = similar_failures(
        store, finding("ValueError: price_of cart is negative", test="t::new"), 2, Scope(REPO)
    )[0]
    assert first.test == "t::c"
    assert [one.record.in_words for one in first.fixes] == ["worked 1 of 1"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=80))
def test_no_text_breaks_the_query(store, text):
    """Quotes, operators, wildcards, surrogates, control characters: all are data."""
    remember(store, Finding(message="KeyError: 'user' " + text, test=text))
    for error in (text, f'"{text}" OR * NEAR(', Finding(message=text)):
        assert isinstance(similar_failures(store, error, 3, Scope(REPO)), list)


@pytest.mark.parametrize(
    "text", ["'; DROP TABLE failures; --", 'a" OR words:*', "%s ? :1 $1", "a\0b", "\ud800"]
)
def test_query_syntax_is_text(store, text):
    remember(store, finding(f"ValueError: needle {text}"))
    assert len(messages(store, finding(f"ValueError: needle {text}", test="t::else"))) == 1
    assert store.rows("SELECT count(*) FROM failures")[0][0] == 1


def slow(store):
    """Make the table of repositories a thing that never comes to an end."""
    endless = (
        "SELECT 1 AS id, CAST(x AS TEXT) AS identity FROM "
        "(WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c) AS numbers"
    )
    store.rows("ALTER TABLE repos RENAME TO repos_before")
    store.rows(f"CREATE VIEW repos AS {endless}")


def test_query_similar_failures_respects_the_time_limit(place):
    """A lookup that would take for ever is interrupted in the database: [] and one event."""
    with closing(open_store(place)) as store:
        remember(store, finding())
        slow(store)
    events, started = Events(), time.monotonic()
    found = query_similar_failures(
        finding(), scope=Scope(REPO), location=place, emit=events.emit, seconds=0.3
    )
    assert found == []
    assert events.types() == ["loop.degraded"]
    assert "too long" in events[0]["why"]
    assert time.monotonic() - started < 60


def test_the_limit_is_for_all_statements_together(place):
    nap = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000) SELECT count(*) FROM c"
    with (
        closing(open_store(place)) as store,
        pytest.raises(MemoryUnavailable, match="too long"),
        store.within(0.2),
    ):
        for _ in range(100_000):
            store.rows(nap)


def test_the_limit_is_lifted_afterwards(store):
    with pytest.raises(MemoryUnavailable), store.within(0.0):
        for _ in range(10_000):
            store.rows("SELECT count(*) FROM failures")
    remember(store, finding())
    assert messages(store, finding())


@contextmanager
def deaf_server(answer=b""):
    """The address of a server that takes every connection, says at most this, and then nothing any more."""
    kept = []

    def serve(listening):
        with suppress(OSError):
            while True:
                kept.append(listening.accept()[0])
                kept[-1].sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        try:
            yield f"postgresql://user:hunter22@127.0.0.1:{listening.getsockname()[1]}/db?sslmode=disable"
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            for one in kept:
                one.close()


# Authentication is fine, the server is ready for a query: and answers none.
GREETING = b"R\0\0\0\x08\0\0\0\0" + b"K\0\0\0\x0c\0\0\0\x01\0\0\0\x02" + b"Z\0\0\0\x05I"


@pytest.mark.parametrize("greeting", [b"", GREETING], ids=["silent", "greets"])
def test_a_server_that_takes_the_connection_and_hangs_does_not_hold_a_run(greeting):
    events = Events()
    with deaf_server(greeting) as address:
        place = memory_location({VARIABLE: address})
        assert (
            query_similar_failures("x", scope=Scope(REPO), location=place, emit=events.emit, seconds=0.5)
            == []
        )
    assert events.types() == ["loop.degraded"]
    assert "in time" in events[0]["why"]
    assert "hunter22" not in events[0]["why"]


@pytest.mark.slow
def test_a_server_that_hangs_in_a_lookup_and_cannot_be_asked_to_stop_is_hung_up_on(new_database, monkeypatch):
    """Without the cancel request the only way out is to end the connection."""
    monkeypatch.setattr(psycopg.Connection, "cancel_safe", lambda *_, **__: None)
    with (
        closing(open_store(memory_location({VARIABLE: new_database()}))) as store,
        pytest.raises(MemoryUnavailable, match="too long"),
        store.within(0.5),
    ):
        store.rows("SELECT pg_sleep(3)")


def test_without_a_scope_it_is_the_repository_one_stands_in(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(tmp_path / "memory.db"))
    repo = make_repo(tmp_path / "repo", {"a": "b"})
    with closing(open_store(memory_location({VARIABLE: str(tmp_path / "memory.db")}))) as store:
        remember(store, finding(), repo=open_repository(repo).repo_id)
    monkeypatch.chdir(repo)
    assert [one.message for one in query_similar_failures("KeyError: 'user'", max_results=3)] == [
        "KeyError: 'user'"
    ]
    monkeypatch.chdir(tmp_path)
    events = Events()
    assert query_similar_failures("KeyError: 'user'", emit=events.emit) == []
    assert "not a git repository" in events[0]["why"]


def test_words_of_failures_that_are_not_indexed_yet_are_cut_like_all_others():
    name = "find_" + "a_very_long_name_of_a_function_" * 3
    asked = frozenset(search_words(name))
    assert words_among(asked, f"NameError: {name}") == asked


@pytest.mark.parametrize("damage", ["no database", "folder", "unreachable server", "wrong address"])
def test_query_similar_failures_is_empty_and_says_so_once_when_memory_is_unavailable(
    tmp_path, damage, monkeypatch
):
    path = tmp_path / "memory.db"
    address = str(path)
    if damage == "no database":
        path.write_text("this is no database, " * 100)
    elif damage == "folder":
        path.mkdir()
    elif damage == "unreachable server":
        address = "postgresql://nobody@127.0.0.1:1/nothing"
    elif damage == "wrong address":
        address = "oracle://x/y"
    monkeypatch.setenv(VARIABLE, address)
    events = Events()
    assert query_similar_failures("KeyError: 'user'", scope=Scope(REPO), emit=events.emit) == []
    assert events.types() == ["loop.degraded"]
    assert events[0]["what"] == "memory"


def test_memory_that_is_switched_off_is_silent(monkeypatch):
    monkeypatch.setenv(VARIABLE, "off")
    events = Events()
    assert query_similar_failures("KeyError: 'user'", scope=Scope(REPO), emit=events.emit) == []
    assert events == []


def test_an_empty_memory_is_no_problem(place):
    events = Events()
    assert query_similar_failures("x", scope=Scope(REPO), location=place, emit=events.emit) == []
    assert query_similar_failures("", scope=Scope(REPO, shared=True), location=place, emit=events.emit) == []
    assert events == []


def test_at_most_as_many_as_asked_for(store):
    for number in range(10):
        remember(store, finding("ValueError: price_of cart is negative", test=f"t::{number}"))
    asked = finding("ValueError: price_of cart is negative", test="t::new")
    assert [len(similar_failures(store, asked, most, Scope(REPO))) for most in (1, 3, 5)] == [1, 3, 5]


def test_an_interrupted_lookup_leaves_the_store_usable(place):
    if place.kind is Kind.SQLITE:
        assert memory_location({VARIABLE: place.target}) == place
    with closing(open_store(place)) as store:
        with pytest.raises(MemoryUnavailable), store.within(0.2):
            store.rows(
                "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
            )
        remember(store, finding())
        assert messages(store, finding())
