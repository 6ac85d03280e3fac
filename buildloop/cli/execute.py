"""Runs the flow for a command: Prefect brought up, progress shown, the result turned into an exit code."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from buildloop.cli.display import Display
from buildloop.cli.interrupts import Interrupts
from buildloop.cli.output import print_json
from buildloop.cli.own_packages import prefer_own_packages
from buildloop.cli.prefect_api import PrefectApi, start_prefect
from buildloop.cli.prefect_state import mark_cancelled
from buildloop.closing import close_run
from buildloop.decide import Stop
from buildloop.errors import BuildloopError, StateWriteError
from buildloop.files import write_atomic
from buildloop.github.record import DRY_RUN_FILE, load_record
from buildloop.report.facts import facts_of
from buildloop.report.outcome import handed_back_text, next_step
from buildloop.report.write import write_reports
from buildloop.request import BuildRequest
from buildloop.result import BuildResult, StopReason
from buildloop.rundir import RunDir
from buildloop.state import LoopState
from buildloop.text import one_line, plain_text
from buildloop.workspace.lock import begun, run_lock

CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM})


def execute(request: BuildRequest, console: Console, *, verbose: bool, as_json: bool) -> int:
    """Work on the run in this process until it ends; the exit code is the command's."""
    with begun(request.run_dir):
        with run_lock(request.run_dir):
            pass  # a second writer is refused before a server is started for it
        return _execute(request, console, verbose=verbose, as_json=as_json)


def _execute(request: BuildRequest, console: Console, *, verbose: bool, as_json: bool) -> int:
    run = RunDir(request.run_dir)
    interrupts = Interrupts()
    try:
        with (
            interrupts,
            Display(run.path / "events.jsonl", console, request.max_iterations) as display,
        ):
            display.say("starting Prefect")
            starting = start_prefect(Path(request.state_dir), verbose=verbose)
            if not (run.path / "request.json").exists():
                run.save("request.json", request)  # from here on it can be resumed
            with interrupts.held():
                prefer_own_packages()
                from flows.build_loop import build_loop

            api = starting.wait()
            display.announce(_headline(request))
            if request.failure_mode:
                display.announce(
                    f"  [yellow]warning[/yellow]        --failure-mode: all is {request.failure_mode}"
                )
            with _without_heartbeat(api):
                state = build_loop(request, return_state=True)
        outcome: Any = state.result(raise_on_failure=False)
    except KeyboardInterrupt:
        if not (run.path / "request.json").exists():
            raise  # nothing has begun
        outcome = _cancelled(run)
    except Exception as error:  # Prefect fails in many ways when its API goes away; the run itself is intact
        outcome = _cancelled(run) if interrupts.arrived else error
    result = _as_result(outcome, run)
    if as_json:
        print_json(result.as_json())
    else:
        _tell(console, result)
    _tell_github(console, run)
    return result.exit_code


def _headline(request: BuildRequest) -> str:
    gate = escape(" && ".join(request.test))
    return f"run [bold]{request.run_id}[/bold] · {request.agent} · {gate}"


def _tell(console: Console, result: BuildResult) -> None:
    colour = "green" if result.reason.is_success else "red"
    words, count = result.reason.replace("_", " "), result.iterations
    spent = f"after {count} iteration{'' if count == 1 else 's'}, {result.seconds:.0f} s"
    console.print(f"\n[{colour} bold]{words}[/{colour} bold] {spent}")
    console.print(f"  {plain_text(result.explanation)}", markup=False)
    if result.branch:
        console.print(f"  branch          {result.branch} ({result.commit[:10]})", markup=False)
    if best := handed_back_text(result):
        console.print(f"                  {best}", markup=False)
    console.print(f"  report          buildloop report {result.run_id}", markup=False)
    console.print(f"  page            {result.run_dir}/report.html", markup=False)
    console.print(f"  next            {plain_text(result.next_step)}", markup=False)


def _tell_github(console: Console, run: RunDir) -> None:
    """Where the pull request or the comment is; in a dry run, what they would say."""
    record, dry = load_record(run.path), run.path / DRY_RUN_FILE
    if record.pull_url or record.comment_url:
        console.print(f"  github          {record.pull_url or record.comment_url}", markup=False)
    if dry.exists():
        console.print(f"\n{dry.read_text(encoding='utf-8')}", markup=False)


def _as_result(outcome: Any, run: RunDir) -> BuildResult:  # noqa: ANN401 (whatever Prefect hands back)
    if isinstance(outcome, BuildResult):
        return outcome
    if isinstance(outcome, BuildloopError):
        raise outcome
    if isinstance(outcome, OSError) and outcome.errno in CANNOT_WRITE:
        where = outcome.filename or run.path
        raise StateWriteError(
            f"cannot write {where}: {outcome.strerror}; what is finished is kept: make room there or give "
            f"permission, then continue with 'buildloop resume {run.run_id}'"
        )
    if isinstance(outcome, BaseException):
        raise BuildloopError(
            f"the run crashed ({type(outcome).__name__}: {one_line(str(outcome))}); {_kept_trace(outcome, run)}"
            f"continue it with 'buildloop resume {run.run_id}'"
        )
    raise BuildloopError(f"the run ended without a result: {outcome!r}")


def _kept_trace(outcome: BaseException, run: RunDir) -> str:
    report = run.path / "crash.txt"
    try:
        write_atomic(report, "".join(traceback.format_exception(outcome)))
    except OSError as error:
        return f"its trace could not be kept ({error.strerror}); "
    return f"see {report}, then "


def _cancelled(run: RunDir) -> BuildResult:
    """Everything finished so far is kept; the same command can go on from there."""
    explanation = "Cancelled; agent and gate were stopped, finished iterations are kept."
    stop = Stop(StopReason.CANCELLED, explanation)
    request, workspace, done = run.request(), run.workspace(), tuple(run.iterations())
    if workspace is None:
        result = _never_begun(run, stop)
    else:
        state = replace(LoopState.start(request, workspace), iterations=done)
        result = close_run(replace(state, session=done[-1].session if done else 1), stop)
    write_reports(run, replace(facts_of(run), result=result, running=False))
    commits = sum(1 for one in done if one.agent and one.agent.checkpoint.changed)
    run.events.emit("loop.completed", reason=result.reason, iterations=result.iterations, commits=commits)
    mark_cancelled(run, explanation)
    return result


def _never_begun(run: RunDir, stop: Stop) -> BuildResult:
    result = BuildResult(
        run_id=run.run_id,
        reason=stop.reason,
        explanation=stop.explanation,
        next_step=next_step(stop.reason, run.run_id, ""),
        iterations=0,
        sessions=1,
        branch="",
        commit="",
        tree="",
        run_dir=str(run.path),
    )
    run.save("result.json", result)
    return result


@contextmanager
def _without_heartbeat(api: PrefectApi) -> Iterator[None]:
    """Nobody listens for a heartbeat on an embedded server, and stopping it costs a second at the end."""
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None} if api.embedded else {}):
        yield
