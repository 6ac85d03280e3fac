"""Views are shown beside the loop: the latest of each name, and all of them by the end."""

from __future__ import annotations

import threading

import pytest

from tasks import live_views as module
from tasks.live_views import live_views, show_now, show_soon


@pytest.fixture(autouse=True)
def nothing_in_between(monkeypatch):
    """After the first view the next ones are due when somebody asks for them, however slow the machine is."""
    monkeypatch.setattr(module, "SHORTEST_PAUSE", 3600.0)


def test_whoever_shows_does_not_wait_and_only_the_latest_is_shown():
    shown: list[str] = []
    first, go_on = threading.Event(), threading.Event()

    def slow() -> None:
        first.set()
        go_on.wait()
        shown.append("first")

    with live_views("run"):
        show_soon("run", "report", slow)
        assert first.wait(60)
        for number in range(5):
            show_soon("run", "report", lambda number=number: shown.append(f"report {number}"))
        show_soon("run", "table", lambda: shown.append("table"))
        go_on.set()
    assert shown == ["first", "report 4", "table"]


def test_the_last_word_comes_after_everything_that_waited():
    shown: list[str] = []
    with live_views("run"):
        show_soon("run", "table", lambda: shown.append("table"))
        show_soon("run", "report", lambda: shown.append("old"))
        show_now("run", "report", lambda: shown.append("final"))
        assert shown[-1] == "final"
        assert "table" in shown


def test_after_an_error_what_waits_is_shown_and_after_an_interrupt_it_is_not():
    shown: list[str] = []
    for kind, expected in ((ValueError, ["x", "x"]), (KeyboardInterrupt, ["x"])):
        shown.clear()
        begun = threading.Event()
        with pytest.raises(kind), live_views("run"):
            show_soon("run", "a", lambda begun=begun: (shown.append("x"), begun.set()))
            assert begun.wait(60)
            show_soon("run", "a", lambda: shown.append("x"))
            raise kind
        assert shown == expected


def test_without_anybody_who_keeps_views_they_are_shown_at_once():
    shown: list[str] = []
    show_soon("run", "a", lambda: shown.append("soon"))
    show_now("run", "a", lambda: shown.append("now"))
    assert shown == ["soon", "now"]


def test_what_goes_wrong_beside_the_loop_is_heard_in_it():
    def full() -> None:
        raise OSError("no space left")

    shown: list[str] = []
    with live_views("run"):
        with pytest.raises(OSError, match="no space left"):
            show_now("run", "report", full)
        show_now("run", "report", lambda: shown.append("again"))
    assert shown == ["again"]
