"""The run's files for people and tools, as values: `progress.md`, `error-summary.json` and the others."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import Any

from buildloop.fold import Fold
from buildloop.goal import StateFile
from buildloop.models import Iteration
from buildloop.prompt.compose import describe
from buildloop.state import LoopState

ERROR_LINES_KEPT = 20
FILES_SHOWN = 20
COMMITS_SHOWN = 5
LOG_SHOWN = 200


def state_file(state: LoopState, status: str, started_at: str, now: datetime) -> StateFile:
    """Notes and redirects go into `goal`; `original_goal` is the user's text and nothing else."""
    added = [note for note in (*state.notes, state.redirect) if note]
    return StateFile(
        run_id=str(state.request.run_id),
        goal="\n\n".join([state.request.goal, *added]),
        original_goal=state.request.goal,
        status=status,
        iteration=state.number,
        max_iterations=state.max_iterations,
        session=state.session,
        restarts=state.restarts,
        max_restarts=state.max_restarts,
        test_cmd=state.request.test,
        agent=state.request.agent,
        model=state.request.model,
        branch=state.workspace.branch,
        start_commit=state.workspace.start_commit,
        started_at=started_at,
        last_iteration_at=timestamp(now),
        consecutive_failures=state.tally.red,
        total_commits=state.tally.commits,
        log=_log(state.iterations),
    )


def _described(log: tuple[str, ...], iterations: tuple[Iteration, ...], place: int) -> tuple[str, ...]:
    return (*log[-LOG_SHOWN + 1 :], describe(iterations[place]))


_log: Fold[Iteration, tuple[str, ...]] = Fold(tuple, _described)


def progress_text(state: LoopState, status: str, now: datetime) -> str:
    last = state.last
    commits = (one for one in reversed(state.iterations) if one.agent and one.agent.checkpoint.changed)
    recent = list(islice(commits, COMMITS_SHOWN))[::-1]
    parts = [
        ("Goal", state.request.goal),
        (
            "Status",
            f"- Iteration: {state.number}/{state.max_iterations}\n"
            f"- Session restart: {state.restarts}/{state.max_restarts}\n"
            f"- Tests passing: {str(last.gate.passed).lower()}\n"
            f"- Status: {status}",
        ),
        ("Recent Commits", "\n".join(f"- {_commit_line(one)}" for one in recent)),
        ("Changed Files", "\n".join(f"- {file}" for file in state.tally.files[:FILES_SHOWN])),
        ("Last Error", "\n".join(last.gate.reading.error_lines[:10]) if not last.gate.passed else ""),
        ("Timestamp", timestamp(now)),
    ]
    return "\n\n".join(f"## {title}\n\n{body or '(none)'}" for title, body in parts) + "\n"


def error_summary(iteration: Iteration, commands: tuple[str, ...], now: datetime) -> dict[str, Any]:
    reading = iteration.gate.reading
    return {
        "iteration": iteration.number,
        "timestamp": timestamp(now),
        "error_count": iteration.gate.failing_count,
        "error_lines": list(reading.error_lines[:ERROR_LINES_KEPT]),
        "test_cmd": " && ".join(commands),
    }


def log_line(one: Iteration) -> str:
    """The iteration in one `key=value` line, for the flow run's log."""
    facts = {
        "session": one.session,
        "iteration": one.number,
        "verdict": one.gate.verdict,
        "failing": one.gate.failing_count,
        "mode": one.diagnosis.mode if one.diagnosis else "-",
        "action": one.recovery.strategy.action if one.recovery else "-",
        "context": f"{one.context_pct}%",
    }
    return " ".join(f"{name}={value}" for name, value in facts.items())


def timestamp(now: datetime) -> str:
    return now.isoformat(timespec="seconds").replace("+00:00", "Z")


def _commit_line(one: Iteration) -> str:
    assert one.agent is not None
    return f"{one.agent.checkpoint.commit[:10]} iteration {one.number}: {one.gate.in_words}"
