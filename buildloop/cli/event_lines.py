"""Events in words: a line for the list of what has happened, and what the run is doing now."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from rich.markup import escape

from buildloop.text import one_line, plain_text


def _waiting(event: dict[str, Any]) -> str:
    until = time.strftime("%H:%M:%S", time.localtime(event["ts_epoch"] + event["seconds"]))
    return f"waiting until {until} ({one_line(event['error'], 60)})"


DOING: dict[str, Callable[[dict[str, Any]], str]] = {
    "loop.started": lambda _: "running the gate for the baseline",
    "loop.baseline": lambda _: "calling the agent",
    "loop.iteration_start": lambda _: "agent at work",
    "loop.agent_waiting": _waiting,
    "loop.failure_classified": lambda event: f"recovering from {event['mode']}",
    "loop.iteration_complete": lambda _: "next iteration",
    "loop.restart": lambda _: "new session",
    "loop.waiting_for_person": lambda _: "waiting for your answer",
    "loop.answered": lambda event: f"going on: {event['choice']}",
}


def _iteration_line(event: dict[str, Any]) -> str:
    colour = "green" if event["test_passed"] else "red"
    parts = [f"  iteration {event['iteration']:<4} [{colour}]{escape(event['status'])}[/{colour}]"]
    if counts := event.get("test_counts"):
        parts.append(f"tests {counts[0]}/{counts[1]}")
    files = event.get("files", 0)
    parts.append(f"{files} file{'' if files == 1 else 's'} changed")
    if event.get("outcome") not in (None, "ok"):
        parts.append(f"agent: {event['outcome']}")
    if event.get("mode"):
        parts.append(event["mode"])
    parts.append(f"context {event.get('context_pct', 0)} %")
    return " · ".join(parts)


def _baseline_line(event: dict[str, Any]) -> str:
    return "  baseline       " + (
        "green" if event["verdict"] == "passed" else f"red, {event['failing']} failing"
    )


def _recovery_line(event: dict[str, Any]) -> str | None:
    if event["action"] == "standard_retry":
        return None
    done = escape(one_line(event["outcome"], 100))
    return f"  [yellow]{event['mode']}[/yellow] → {event['action']}: {done}"


def _restart_line(event: dict[str, Any]) -> str:
    return f"  [cyan]restart[/cyan]        session {event['restart'] + 1} starts from a summary"


def _degraded_line(event: dict[str, Any]) -> str:
    return f"  [yellow]degraded[/yellow]       {escape(event['what'])}: {escape(one_line(event['why'], 100))}"


def _question_lines(event: dict[str, Any]) -> str:
    """The question with the ways to answer it; nobody finds them otherwise."""
    asked = escape(plain_text(event["question"]).strip())
    run = escape(event["run_id"])
    return (
        f"\n[bold yellow]The run asks:[/bold yellow] {asked}\n"
        f'  answer         buildloop tell {run} "a hint" | --more-iterations 5 | --accept | --stop\n'
    )


def _note(word: str, text: str) -> str:
    return f"  [yellow]{word:<14}[/yellow] {escape(one_line(text, 160))}"


def _tampering_line(event: dict[str, Any]) -> str | None:
    return _note("not earned", event["text"]) if event["blocks"] else None


def _secret_line(event: dict[str, Any]) -> str:
    return _note("secret", f"{event['kind']} in {event['file']} line {event['line']}: not committed")


def _falsified_line(event: dict[str, Any]) -> str:
    told = "; ".join(event["failing"]) if event["refuted"] else event["why"] or "found nothing wrong"
    return _note("second agent", f"{event['agent']}: {told}")


def _counter_line(event: dict[str, Any]) -> str | None:
    """An overturned green is told by its objections."""
    if event["verdict"] != "upheld":
        return None
    return "  [green]counter-proof[/green]  the tests as they were at the start pass on the new code"


FINISHED: dict[str, Callable[[dict[str, Any]], str | None]] = {
    "loop.flow_run": lambda event: f"  Prefect UI     {event['url']}" if event["url"] else None,
    "loop.baseline": _baseline_line,
    "loop.iteration_complete": _iteration_line,
    "loop.recovery_applied": _recovery_line,
    "loop.agent_waiting": lambda event: f"  agent unavailable, {escape(_waiting(event))}",
    "loop.restart": _restart_line,
    "loop.degraded": _degraded_line,
    "loop.waiting_for_person": _question_lines,
    "loop.answered": lambda event: _note("answered", event["choice"]),
    "loop.agent_changed": lambda event: _note("next agent", f"{event['agent']}: {event['why']}"),
    "loop.extended": lambda event: _note("extended", f"to {event['max']} iterations: the failures get fewer"),
    "loop.tampering": _tampering_line,
    "loop.secret_refused": _secret_line,
    "loop.files_unkept": lambda event: _note("not kept", f"git cannot keep {', '.join(event['files'])}"),
    "loop.falsified": _falsified_line,
    "loop.counter_proof": _counter_line,
}
# These are for the log and the report: the list shows what comes of them, or they come too often.
NOT_LISTED = frozenset(
    {
        "loop.started",
        "loop.resumed",
        "loop.iteration_start",
        "loop.context_efficiency",
        "loop.context_trimmed",
        "loop.context_usage",
        "loop.context_exhaustion_warning",
        "loop.context_exhaustion_restart",
        "loop.failure_classified",
        "loop.failure_mode_forced",
        "loop.stuckness_detected",
        "loop.recovery_outcome",
        "loop.completion_rejected",
        "loop.protected_restored",
        "loop.completed",
        "error.actionability_scored",
        "error.context_generated",
        "suggestion.recorded",
        "suggestion.resolved",
        "github.issue_read",
        "github.commented",
        "github.pull_request",
        "daemon.failure_classified",
        "daemon.granular_failure",
        "daemon.retry",
        "daemon.retry_exhausted",
    }
)


def finished_line(event: dict[str, Any]) -> str | None:
    """One line for an event that a reader of the list wants to keep; None for the others."""
    return _described(FINISHED, event)


def doing(event: dict[str, Any]) -> str | None:
    """What the run does now, if the event tells."""
    return _described(DOING, event)


def _described(
    words: Mapping[str, Callable[[dict[str, Any]], str | None]], event: dict[str, Any]
) -> str | None:
    """None also for an event that lacks what ours have: a log that somebody changed must not end the display."""
    try:
        said = words[event["type"]](event) if event["type"] in words else None
        return said.encode("utf-8", "replace").decode() if said else None
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return None
