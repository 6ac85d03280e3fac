"""The run directory: files for people and tools, written atomically. The truth is the results and the commits."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from buildloop.errors import InputError
from buildloop.events import EventLog, read_event
from buildloop.files import write_atomic
from buildloop.ledger import LEDGER_FILE, Ledger
from buildloop.models import AgentReply, Iteration, WorkspaceInfo
from buildloop.request import BuildRequest
from buildloop.result import BuildResult
from buildloop.workspace.lock import is_running

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class RunDir:
    """Paths of one run's files, and the typed ones among them."""

    path: Path

    @property
    def run_id(self) -> str:
        return self.path.name

    @property
    def events(self) -> EventLog:
        return EventLog(self.path / "events.jsonl", self.run_id)

    @property
    def mark(self) -> str:
        """What everything this run starts carries in its environment; a run id alone may be used in two places."""
        return str(self.path)

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.path / LEDGER_FILE)

    @property
    def exclude_file(self) -> Path:
        return self.path / "exclude"

    def iteration_dir(self, session: int, number: int) -> Path:
        folder = self.path / "iterations" / f"{session}-{number}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def save(self, name: str, value: BaseModel) -> None:
        write_atomic(self.path / name, value.model_dump_json(indent=2) + "\n")

    def save_iteration(self, iteration: Iteration) -> None:
        folder = self.iteration_dir(iteration.session, iteration.number)
        write_atomic(folder / "iteration.json", iteration.model_dump_json(indent=2) + "\n", view=True)

    def request(self) -> BuildRequest:
        return self._load("request.json", BuildRequest)

    def workspace(self) -> WorkspaceInfo | None:
        return self._load_if_there("workspace.json", WorkspaceInfo)

    def forget_result(self) -> None:
        (self.path / "result.json").unlink(missing_ok=True)

    def result(self) -> BuildResult | None:
        """None too for a damaged one: it is a view, and the end of the run writes it anew."""
        try:
            return self._load_if_there("result.json", BuildResult)
        except InputError:
            return None

    def reply(self, folder: Path) -> AgentReply | None:
        """What the agent has answered already. An answer that cannot be read is none: it is asked again."""
        try:
            return AgentReply.model_validate_json((folder / "reply.json").read_bytes())
        except FileNotFoundError:
            return None
        except ValidationError:
            self.events.emit(
                "loop.degraded",
                what=f"{folder.name}/reply.json",
                why="it is damaged; the agent is asked again",
            )
            return None

    def iterations(self) -> list[Iteration]:
        """All finished iterations, oldest first; the baseline is number 0. Damaged files are left out."""
        found = [one for path in self._iteration_files() if (one := _iteration(path))]
        return sorted(found, key=lambda one: one.number)

    def damaged_iterations(self) -> tuple[str, ...]:
        files = [path for path in self._iteration_files() if _iteration(path) is None]
        return tuple(str(path.relative_to(self.path)) for path in files)

    def _iteration_files(self) -> list[Path]:
        return sorted((self.path / "iterations").glob("*-*/iteration.json"))

    @property
    def started(self) -> datetime:
        """When the run began: what its first event says. `request.json` is written anew when limits are raised."""
        try:
            with self.events.path.open("rb") as stream:
                first = read_event(stream.readline()) or {}
        except FileNotFoundError:
            first = {}
        told = first.get("ts_epoch")
        known = told if isinstance(told, int | float) else (self.path / "request.json").stat().st_mtime
        return datetime.fromtimestamp(known, UTC)

    def is_running(self) -> bool:
        return is_running(self.path)

    def _load(self, name: str, kind: type[T]) -> T:
        try:
            return kind.model_validate_json((self.path / name).read_bytes())
        except FileNotFoundError:
            raise InputError(f"run {self.run_id} has no {name}; it was never started") from None
        except (ValidationError, json.JSONDecodeError) as error:
            cure = "" if name == "request.json" else "; remove it and go on with 'buildloop resume'"
            raise InputError(f"{self.path / name} is damaged: {str(error).splitlines()[0]}{cure}") from None

    def _load_if_there(self, name: str, kind: type[T]) -> T | None:
        return self._load(name, kind) if (self.path / name).exists() else None


def _iteration(path: Path) -> Iteration | None:
    try:
        return Iteration.model_validate_json(path.read_bytes())
    except ValidationError:
        return None


def runs_in(state_dir: Path) -> list[RunDir]:
    """All runs, newest first."""
    found = [path.parent for path in (state_dir / "runs").glob("*/request.json")]
    return [
        RunDir(path)
        for path in sorted(found, key=lambda p: (p / "request.json").stat().st_mtime, reverse=True)
    ]


def find_run(state_dir: Path, wanted: str | None) -> RunDir:
    """The run with this id, or the only one whose id starts with it; the newest when nothing is said."""
    runs = runs_in(state_dir)
    if not runs:
        raise InputError(f"there are no runs in {state_dir}; start one with 'buildloop run'")
    if wanted is None:
        return runs[0]
    matches = [run for run in runs if run.run_id == wanted] or [
        run for run in runs if run.run_id.startswith(wanted)
    ]
    if len(matches) == 1:
        return matches[0]
    problem = "more than one run starts with" if matches else "there is no run"
    known = ", ".join(run.run_id for run in (matches or runs)[:5])
    raise InputError(f"{problem} {wanted!r}; known runs: {known}")
