"""Writes the run's reports into its directory."""

from __future__ import annotations

from buildloop.files import write_atomic
from buildloop.report.facts import RunFacts
from buildloop.report.html import html_report
from buildloop.report.markdown import run_report
from buildloop.rundir import RunDir


def write_page(run: RunDir, facts: RunFacts) -> None:
    """`report.html`, also while the run goes on. It is a view: a run that cannot be drawn goes on all the same."""
    try:
        write_atomic(run.path / "report.html", html_report(facts), view=True)
    except Exception as error:  # a template meets whatever a log may hold
        run.events.emit("loop.degraded", what="report.html", why=f"{type(error).__name__}: {error}"[:300])


def write_reports(run: RunDir, facts: RunFacts) -> None:
    """Everything, at the end."""
    write_atomic(run.path / "report.md", run_report(facts), view=True)
    write_page(run, facts)
