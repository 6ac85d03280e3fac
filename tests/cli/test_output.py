"""What others say reaches the terminal as words: no titles, no cleared screens, no reversed lines."""

from __future__ import annotations

import io
import sys

from rich.console import Console
from rich.table import Table

from buildloop.cli.execute import _tell
from buildloop.cli.output import complain, console
from buildloop.cli.status import show_status
from buildloop.result import BuildResult, StopReason
from buildloop.rundir import RunDir
from tests.support.states import request

HOSTILE = "refused: \x1b]0;pwned\x1b\\ \x1b[2J\x1b[1;1H\x9b2J\u202eword"


def is_clean(text: str) -> bool:
    return "refused:" in text and not any(
        code in text for code in ("\x1b]", "\x1b[2J", "\x1b[1;1H", "\x9b", "\u202e")
    )


def test_complaints_tables_and_lines_have_no_codes_but_our_own(monkeypatch):
    terminal = io.StringIO()
    terminal.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    complain(HOSTILE)
    console().print(f"[green]{HOSTILE}[/green]")
    table = Table(HOSTILE)
    table.add_row(HOSTILE)
    console().print(table)
    assert terminal.getvalue().count("refused:") == 4
    assert is_clean(terminal.getvalue())
    assert "\x1b[3" in terminal.getvalue()  # colours of our own are still there


def test_the_end_of_a_run_is_told_without_codes():
    stream = io.StringIO()
    result = BuildResult(
        run_id="r", reason=StopReason.AGENT_REFUSED, explanation=HOSTILE, next_step=HOSTILE, iterations=0, sessions=1,
        branch="b", commit="c" * 40, tree="", run_dir="/x",
    )  # fmt: skip
    _tell(Console(file=stream, force_terminal=True, width=200), result)
    assert is_clean(stream.getvalue())


def test_a_run_that_never_began_has_no_branch_to_tell_of():
    stream = io.StringIO()
    result = BuildResult(
        run_id="r", reason=StopReason.CANCELLED, explanation="Cancelled.", next_step="resume", iterations=0,
        sessions=1, branch="", commit="", tree="", run_dir="/runs/r",
    )  # fmt: skip
    _tell(Console(file=stream, width=200), result)
    assert "cancelled after 0 iterations" in stream.getvalue()
    assert "branch" not in stream.getvalue()


def test_before_the_first_gate_nothing_is_said_about_failures(tmp_path, capsys):
    RunDir(tmp_path / "runs" / "r1").save("request.json", request())
    show_status(None, tmp_path, as_json=False)
    said = capsys.readouterr().out
    assert "r1" in said
    assert "None" not in said
