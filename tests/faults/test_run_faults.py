"""A run under which disk, files or memory give way: what was finished stays, and the next start goes on."""

from __future__ import annotations

import errno
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from buildloop import files
from buildloop.memory import sqlite
from buildloop.memory.location import VARIABLE
from buildloop.memory.store import open_store
from buildloop.result import StopReason
from buildloop.rundir import RunDir
from tests.support.scripts import WRITE_FIX, write_script

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture
def full_at(monkeypatch) -> Callable[[int], object]:
    """The disk takes so many writes of the run's files and of Prefect's results, then none."""
    from prefect.filesystems import LocalFileSystem

    handed_over, stored = files._hand_over, LocalFileSystem.awrite_path

    @contextmanager
    def full(writes: int) -> Iterator[None]:
        left = [writes]

        def one_less() -> None:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        def hand_over(stream: IO[Any], *, synced: bool) -> None:
            one_less()
            handed_over(stream, synced=synced)

        async def store(self: LocalFileSystem, path: str, content: bytes) -> str:
            one_less()
            return await stored(self, path, content)

        with monkeypatch.context() as patched:
            patched.setattr(files, "_hand_over", hand_over)
            patched.setattr(LocalFileSystem, "awrite_path", store)
            yield

    return full


def test_a_disk_that_is_full_at_any_write_costs_nothing_that_was_finished(
    build, two_steps, story, full_at, tmp_path
):
    """Each start gets some writes further than the one before, until there is room enough."""
    writes, starts, result = 0, 0, None
    while result is None:
        starts += 1
        assert starts < 60, "it never gets to its end"
        try:
            with full_at(writes):
                result = build(two_steps)
        except Exception as error:
            assert "No space left" in _whole(error), error
            _nothing_torn(two_steps.run_dir)
        writes += 3
    told = story(two_steps, result)
    assert (told.reason, told.iterations, len(told.trees), told.calls) == (StopReason.COMPLETE, 2, 2, 2)
    assert starts > 5


def _whole(error: BaseException | None) -> str:
    return f"{error} {_whole(error.__cause__ or error.__context__)}" if error else ""


def _nothing_torn(run_dir: Path) -> None:
    for path in run_dir.rglob("*.json"):
        json.loads(path.read_text())
    assert [path for path in run_dir.rglob(".*") if path.is_file()] == []


def _set_immutable(path: Path, immutable: bool) -> bool:
    """What a disk that has become read-only does to a folder, also for root."""
    try:
        told = subprocess.run(["chattr", "+i" if immutable else "-i", path], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return told.returncode == 0


def test_a_run_directory_that_becomes_read_only_costs_nothing_that_was_finished(
    build, request_for, repo, story, tmp_path
):
    """The gate makes it so in the middle of the run; given back, the run goes on where it was."""
    if not (_set_immutable(tmp_path, True) and _set_immutable(tmp_path, False)):
        pytest.skip("a folder cannot be made immutable here")
    once, run_dir = tmp_path / "once", tmp_path / "state" / "runs" / "r1"
    script = write_script(tmp_path / "agent.json", {"do": [WRITE_FIX]})
    gate = f"python -m unittest -q && {{ test -e {once} || {{ touch {once}; chattr +i {run_dir}; }}; }}"
    asked = request_for(repo, test=(gate,), agent="scripted", agent_script=str(script), run_id="r1")
    try:
        with pytest.raises(Exception) as refused:
            build(asked)
    finally:
        assert _set_immutable(run_dir, False)
    assert "Operation not permitted" in _whole(refused.value)
    _nothing_torn(run_dir)
    told = story(asked, build(asked))
    assert (told.reason, told.iterations, len(told.trees), told.calls) == (StopReason.COMPLETE, 1, 1, 1)


@pytest.mark.parametrize("harm", ["cut", "nonsense"])
def test_result_files_that_are_damaged_are_made_again(build, two_steps, story, harm):
    """Between two starts all results that Prefect has stored and all views of the run are damaged."""
    stopped = build(two_steps.model_copy(update={"max_iterations": 1, "extension_size": 0}))
    assert stopped.reason is StopReason.MAX_ITERATIONS
    run = RunDir(two_steps.run_dir)
    stored = [path for path in Path(two_steps.state_dir).rglob("*") if path.is_file() and _is_result(path)]
    assert stored
    views = [
        run.path / name for name in ("result.json", "error-summary.json", "failure-mode.json", "worked.json")
    ]
    for path in [*stored, *views, *run.path.rglob("iteration.json")]:
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2] if harm == "cut" else b"\xff{")
    told = story(two_steps, build(two_steps))
    assert (told.reason, told.iterations, len(told.trees), told.calls) == (StopReason.COMPLETE, 2, 2, 2)


def _is_result(path: Path) -> bool:
    return "results" in path.parts and "worktrees" not in path.parts


def test_a_gate_that_deletes_its_own_workspace_is_red_and_the_run_goes_on(build, request_for, repo, tmp_path):
    once = tmp_path / "once"
    gate = f'test -e {once} && python -m unittest -q || {{ touch {once}; rm -rf "$PWD"; exit 1; }}'
    fix = json.dumps({"rule": [{"do": [WRITE_FIX]}]})
    (tmp_path / "agent.json").write_text(fix)
    asked = request_for(repo, test=(gate,), agent="scripted", agent_script=str(tmp_path / "agent.json"))
    assert build(asked).reason is StopReason.COMPLETE


def test_a_worktree_that_is_gone_between_two_starts_is_made_again(build, two_steps, story):
    stopped = build(two_steps.model_copy(update={"max_iterations": 1, "extension_size": 0}))
    assert stopped.reason is StopReason.MAX_ITERATIONS
    shutil.rmtree(Path(two_steps.state_dir) / "worktrees")
    told = story(two_steps, build(two_steps))
    assert (told.reason, told.iterations, told.calls) == (StopReason.COMPLETE, 2, 2)


@pytest.mark.parametrize("harm", ["gone", "locked by somebody"])
def test_memory_that_gives_way_during_the_run_is_said_and_stops_nothing(
    build, two_steps, story, tmp_path, monkeypatch, harm
):
    memory = tmp_path / "memory.db"
    monkeypatch.setattr(sqlite, "WRITE_SECONDS", 0.5)
    monkeypatch.setattr("tasks.remember.open_store", lambda place, *_: open_store(place, 0.5))
    monkeypatch.setenv(VARIABLE, str(memory))
    stopped = build(two_steps.model_copy(update={"max_iterations": 1, "extension_size": 0}))
    assert stopped.reason is StopReason.MAX_ITERATIONS
    assert memory.exists()
    holder = sqlite3.connect(memory, isolation_level=None)
    if harm == "locked by somebody":
        holder.execute("PRAGMA locking_mode = EXCLUSIVE")
        holder.execute("BEGIN EXCLUSIVE")
    else:
        holder.close()
        for path in tmp_path.glob("memory.db*"):
            path.unlink()
    told = story(two_steps, build(two_steps))
    holder.close()
    assert (told.reason, told.iterations, told.calls) == (StopReason.COMPLETE, 2, 2)
    degraded = [e["what"] for e in _events(two_steps.run_dir) if e["type"] == "loop.degraded"]
    assert degraded == ([] if harm == "gone" else ["memory"])


def _events(run_dir: Path) -> list[dict]:
    return [json.loads(line) for line in (run_dir / "events.jsonl").read_text().splitlines()]
