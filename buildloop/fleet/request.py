"""What a fleet works on: goals from a form, a TOML file or JSON lines, each with the settings of a single run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from buildloop.config import Setting, gather_settings, make_request, nearest
from buildloop.decode import from_json, from_toml
from buildloop.errors import InputError
from buildloop.fields import NotBlank, OwnerAndName, as_a_form
from buildloop.github.labelled import open_issues
from buildloop.github.publish import access_for
from buildloop.home import from_home
from buildloop.request import BuildRequest
from buildloop.request_secrets import without_secrets
from buildloop.run_name import RUN_NAME
from buildloop.wording import in_words

GOAL_KEYS = tuple(name for name in BuildRequest.model_fields if name not in ("run_id", "state_dir"))
NOT_FOR_ALL = frozenset({"goal", "run_id", "state_dir", "branch"})
ISSUE_KEYS = ("label", "repo", "github_repo")
DIRECT = ("parallel", "budget_usd", *ISSUE_KEYS)
FILE_KEYS = ("parallel", "budget_usd", "defaults", "goal", "best_of", *ISSUE_KEYS)


class FleetRequest(BaseModel):
    """Many goals over many repositories; or one goal in several ways, of which the first green one wins."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=as_a_form)

    file: str | None = Field(
        None, description="TOML file with [[goal]] tables, or JSON lines with one goal each; on the worker."
    )
    goals: tuple[dict[str, Any], ...] = Field(
        (), description="Goals written here: objects with goal, repo, test and any other setting of a run."
    )
    defaults: dict[str, Any] = Field(
        default_factory=dict, description="Settings for all goals that do not set them: repo, test, agent …"
    )
    label: NotBlank | None = Field(
        None, description="Also every open GitHub issue with this label, of the repository below."
    )
    repo: str | None = Field(None, description="For issues: path of the checkout on the workers.")
    github_repo: OwnerAndName | None = Field(
        None, description="For issues: OWNER/NAME on GitHub; default: that of the checkout's remote."
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
        raise InputError(in_words(first, f"{first['loc'][0]} of the fleet")) from None


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
    settings = _settings(given, fleet)
    written = (*given.get("goals", ()), *fleet.goals)
    defaults = {**given.get("defaults", {}), **fleet.defaults}
    ways = fleet.best_of or tuple(given.get("best_of", ()))
    issues = _from_issues(settings, defaults)
    goals = (*({**defaults, **each} for each in written), *issues)
    if not goals:
        none = (
            f"no open issue has the label {settings.label!r}"
            if settings.label
            else "give a file or write them down"
        )
        raise InputError(f"the fleet has no goals; {none}")
    if ways and len(goals) != 1:
        raise InputError(f"best_of races ways to reach one goal, but {len(goals)} were given")
    entries = [{**goals[0], **way} for way in ways] or list(goals)
    digits = len(str(len(entries)))
    places = [f"{number:0{digits}}" for number in range(1, len(entries) + 1)]
    if issues and not ways:  # an issue is known by its own number, whichever others are open next time
        places[len(written) :] = [f"issue-{each['issue']}" for each in issues]
    requests = tuple(
        _request(entry, f"{fleet_id}-{place}", number)
        for number, (entry, place) in enumerate(zip(entries, places, strict=True), 1)
    )
    parallel = len(requests) if ways else min(settings.parallel, len(requests))
    return Plan(requests, race=bool(ways), parallel=parallel, budget_usd=settings.budget_usd)


def _settings(given: Mapping[str, Any], fleet: FleetRequest) -> FleetRequest:
    """What was asked for directly comes before what the file says."""
    both = {**given, **fleet.model_dump(exclude_unset=True)}
    return checked({name: both[name] for name in DIRECT if name in both})


def _from_issues(settings: FleetRequest, defaults: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
    """The run itself reads the issue's text."""
    if settings.label is None:
        return ()
    if settings.repo is None:
        raise InputError("goals from issues need the checkout to work on; name it with --repo")
    checkout = from_home(settings.repo).absolute()
    access = access_for(checkout, settings.github_repo, os.environ)
    own = {"repo": str(checkout), "github_repo": access.repo.full_name}
    issues = open_issues(access, settings.label)
    return tuple({**defaults, **own, "issue": issue.number} for issue in issues)


def _usual(fields: Mapping[str, Any]) -> dict[str, Setting]:
    """What the repository of a goal says in its `buildloop.toml`, for what the fleet leaves open."""
    repo = fields.get("repo")
    folder = from_home(repo) if isinstance(repo, str) and repo else None
    found = gather_settings({}, {}, folder) if folder and folder.is_dir() else {}
    return {name: setting for name, setting in found.items() if name in GOAL_KEYS}


def _request(fields: Mapping[str, Any], run_id: str, number: int) -> BuildRequest:
    for key in fields:
        if key not in GOAL_KEYS:
            raise InputError(f"goal {number} has the unknown key {key!r}; {nearest(key, GOAL_KEYS)}")
    settings = {key: Setting(value, f"{key} of goal {number}") for key, value in fields.items()}
    try:
        request = make_request({**_usual(fields), **settings, "run_id": Setting(run_id, "fleet_id")})
        return without_secrets(request, os.environ)
    except InputError as error:
        raise InputError(f"goal {number}: {error}") from None


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
    for number, line in enumerate(text.split("\n"), 1):
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
