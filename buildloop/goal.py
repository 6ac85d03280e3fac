"""`loop-state.md`: where a run stands, for people and tools. The goal in it is data, whatever it contains.

`original_goal` is fixed by the first write and never changes; `goal` may carry notes that were added since.
Both are one-line YAML strings, so no text in a goal can become a setting.
"""

from __future__ import annotations

import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from buildloop.errors import InputError, StateWriteError
from buildloop.files import write_atomic
from buildloop.models import Frozen

MINIMUM_FREE_BYTES = 100 * 2**20
FENCE = "---"

# Text that older state files had appended to the goal; the goal ends where the first of these begins.
LEGACY_MARKERS = (
    "BLOCKING ISSUES",
    "Previous build",
    "KNOWN FIX",
    "HUMAN FEEDBACK",
    "## Previous Session Context",
)


class StateFile(Frozen):
    """The front matter of `loop-state.md`, and the log below it."""

    run_id: str
    goal: str
    original_goal: str
    status: str
    iteration: int
    max_iterations: int
    session: int = 1
    restarts: int = 0
    max_restarts: int = 0
    test_cmd: tuple[str, ...] = ()
    agent: str = ""
    model: str | None = None
    branch: str = ""
    start_commit: str = ""
    started_at: str = ""
    last_iteration_at: str = ""
    consecutive_failures: int = 0
    total_commits: int = 0
    log: tuple[str, ...] = ()


def write_state(path: Path, state: StateFile, free_bytes: int | None = None) -> StateFile:
    """Write the file atomically and return what was written. An existing original goal wins over the given one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(path.parent).free if free_bytes is None else free_bytes
    if free < MINIMUM_FREE_BYTES:
        raise StateWriteError(
            f"only {free // 2**20} MB are free where {path} is kept; free at least 100 MB and resume the run"
        )
    if path.exists():
        state = state.model_copy(update={"original_goal": _original_goal(path)})
    try:
        write_atomic(path, render_state(state), view=True)
    except OSError as error:
        raise StateWriteError(
            f"cannot write {path}: {error.strerror}; the previous state is intact"
        ) from error
    return state


def render_state(state: StateFile) -> str:
    fields = state.model_dump(mode="json", exclude={"log"})
    lines = ((name, tuple(value) if isinstance(value, list) else value) for name, value in fields.items())
    matter = "".join(f"{name}: {_scalar(value)}\n" for name, value in lines)
    log = "\n".join(state.log)
    return f"{FENCE}\n{matter}{FENCE}\n\n## Log\n\n{log}\n"


def read_state(path: Path) -> StateFile:
    try:
        return parse_state(path.read_bytes().decode("utf-8", "surrogateescape"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error


def parse_state(text: str) -> StateFile:
    head, _, rest = text.removeprefix(f"{FENCE}\n").partition(f"\n{FENCE}\n")
    try:
        fields: Any = yaml.safe_load(head)
        if not isinstance(fields, dict) or "goal" not in fields:
            raise InputError("this is not a loop state file: its front matter has no goal")
        fields.setdefault("original_goal", strip_legacy(str(fields["goal"])))
        log = rest.partition("## Log\n")[2].strip("\n")
        return StateFile.model_validate({**fields, "log": tuple(log.splitlines())})
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InputError(f"this loop state file is damaged: {str(error).splitlines()[0]}") from None


def _original_goal(path: Path) -> str:
    """Only this is wanted of the old file, and every field of ours is one line."""
    head = path.read_bytes().decode("utf-8", "surrogateescape").partition(f"\n{FENCE}\n")[0]
    line = next((line for line in head.split("\n") if line.startswith('original_goal: "')), "")
    return _quoted(line) or read_state(path).original_goal


@lru_cache(maxsize=64)
def _quoted(line: str) -> str | None:
    try:
        fields = yaml.safe_load(line)
    except yaml.YAMLError:
        return None
    found = fields.get("original_goal") if isinstance(fields, dict) else None
    return found if isinstance(found, str) else None


def strip_legacy(goal: str) -> str:
    """The user's own words in a goal that an older tool has appended to."""
    positions = [index for marker in LEGACY_MARKERS if (index := goal.find(marker)) > 0]
    return goal[: min(positions)].rstrip() if positions else goal


@lru_cache(maxsize=256, typed=True)
def _scalar(value: str | float | tuple[str, ...] | None) -> str:
    """One line of YAML. Strings are double-quoted with every odd character escaped."""
    style = '"' if isinstance(value, str | tuple) else None
    plain = list(value) if isinstance(value, tuple) else value
    text = yaml.safe_dump(
        plain, default_style=style, default_flow_style=True, width=float("inf"), allow_unicode=True
    )
    return text.removesuffix("...\n").strip()
