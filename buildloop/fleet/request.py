"""What a fleet works on: goals from a form, a TOML file or JSON lines, each with the settings of a single run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from buildloop.config import Setting, make_request, nearest
from buildloop.decode import from_json, from_toml
from buildloop.errors import InputError
from buildloop.fields import in_this_order
from buildloop.request import BuildRequest
from buildloop.run_name import RUN_NAME

GOAL_KEYS = tuple(name for name in BuildRequest.model_fields if name not in ("run_id", "state_dir"))
NOT_FOR_ALL = frozenset({"goal", "run_id", "state_dir", "branch"})
FILE_KEYS = ("parallel", "budget_usd", "defaults", "goal", "best_of")


class FleetRequest(BaseModel):
    """Many goals over many repositories; or one goal in several ways, of which the first green one wins."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=in_this_order)

    file: str | None = Field(
        None, description="TOML file with [[goal]] tables, or JSON lines with one goal each; on the worker."
    )
    goals: tuple[dict[str, Any], ...] = Field(
        (), description="Goals written here: objects with goal, repo, test and any other setting of a run."
    )
    defaults: dict[str, Any] = Field(
        default_factory=dict, description="Settings for all goals that do not set them: repo, test, agent …"
    )
    best_of: tuple[dict[str, Any], ...] = Field(
        (),
        description="Race: settings of each way to try the one goal (agent, model …), all at once in "
        "worktrees of their own. The first green one wins, the others are cancelled.",
    )
    parallel: int = Field(4, ge=1, le=64, description="Most runs at the same time.")
    budget_usd: float | None = Field(None, gt=0, description="Most dollars all runs together may cost.")
    deployment: str | None = Field(
        None,
        description="Run each goal as this deployment (e.g. build-loop/on-demand) on any worker; left out: in "
        "this flow's own process.",
    )
    fleet_id: str | None = Field(None, description="Continue this fleet, or name the new one.")

    @field_validator("fleet_id")
    @classmethod
    def _safe(cls, value: str | None) -> str | None:
        if value is not None and (len(value) > 40 or not RUN_NAME.fullmatch(value)):
            raise ValueError("use lower-case letters, digits, '.', '_' and '-', 40 at most")
        return value


def checked(fields: Mapping[str, Any]) -> FleetRequest:
    """What cannot be asked for is said in one sentence."""
    try:
        return FleetRequest.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        said = first["msg"].removeprefix("Value error, ")
        raise InputError(f"{first['loc'][0]} of the fleet is not usable: {said}") from None


def read_goals(path: Path) -> dict[str, Any]:
    """The fields of a fleet request that a file gives."""
    try:
        text = path.read_text(encoding="utf-8")
        return _from_lines(text, path) if path.suffix in (".jsonl", ".ndjson") else _from_toml(text, path)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"the file of goals {path} cannot be read: {why}") from None


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run; in a race all of them aim at the same goal and one is enough."""

    requests: tuple[BuildRequest, ...]
    race: bool
    parallel: int
    budget_usd: float | None


def plan_of(fleet: FleetRequest, fleet_id: str) -> Plan:
    """One checked request a goal, or one a way of the race; each named after its place, so that a rerun finds it."""
    given = read_goals(Path(fleet.file)) if fleet.file else {}
    goals = (*given.get("goals", ()), *fleet.goals)
    defaults = {**given.get("defaults", {}), **fleet.defaults}
    ways = fleet.best_of or tuple(given.get("best_of", ()))
    if not goals:
        raise InputError("the fleet has no goals; give a file or write them down")
    if ways and len(goals) != 1:
        raise InputError(f"best_of races ways to reach one goal, but {len(goals)} were given")
    entries = [{**goals[0], **way} for way in ways] or list(goals)
    digits = len(str(len(entries)))
    requests = tuple(
        _request({**defaults, **entry}, f"{fleet_id}-{number:0{digits}}", number)
        for number, entry in enumerate(entries, 1)
    )
    limits = _checked_limits(
        {name: given[name] for name in ("parallel", "budget_usd") if name in given}, fleet
    )
    parallel = len(requests) if ways else min(limits.parallel, len(requests))
    return Plan(requests, race=bool(ways), parallel=parallel, budget_usd=limits.budget_usd)


def _checked_limits(given: Mapping[str, Any], fleet: FleetRequest) -> FleetRequest:
    """What was asked for directly comes before what the file says."""
    direct: dict[str, Any] = fleet.model_dump(include={"parallel", "budget_usd"}, exclude_unset=True)
    return checked({**given, **direct})


def _request(fields: Mapping[str, Any], run_id: str, number: int) -> BuildRequest:
    for key in fields:
        if key not in GOAL_KEYS:
            raise InputError(f"goal {number} has the unknown key {key!r}; {nearest(key, GOAL_KEYS)}")
    settings = {key: Setting(value, f"{key} of goal {number}") for key, value in fields.items()}
    return make_request({**settings, "run_id": Setting(run_id, "fleet_id")})


def _from_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        content = from_toml(text)
    except ValueError as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    for key in content:
        if key not in FILE_KEYS:
            raise InputError(f"{path} has the unknown key {key!r}; {nearest(key, FILE_KEYS)}")
    tables = content.pop("goal", [])
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise InputError(f"{path}: write each goal as a table [[goal]]")
    for key in content.get("defaults", {}):
        if key in NOT_FOR_ALL:
            raise InputError(f"{path}: {key!r} belongs into each [[goal]], not into [defaults]")
    return {**content, "goals": tuple(tables)}


def _from_lines(text: str, path: Path) -> dict[str, Any]:
    goals = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            entry = from_json(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number} is not JSON: {error}") from None
        if not isinstance(entry, dict):
            raise InputError(f"{path}, line {number} must be an object with goal, repo and test")
        goals.append(entry)
    return {"goals": tuple(goals)}
