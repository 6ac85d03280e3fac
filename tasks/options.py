"""The one place where our values become Prefect options, and where its traps are written down."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any, ParamSpec, TypedDict, TypeVar, cast

from prefect import Task
from prefect.client.schemas.objects import State, TaskRun
from prefect.context import TaskRunContext
from prefect.filesystems import LocalFileSystem, RemoteFileSystem
from prefect.serializers import JSONSerializer
from prefect.utilities.annotations import quote
from pydantic import Field

from buildloop.recovery.policy import RetryPolicy
from buildloop.redact import mask_own
from buildloop.request import BuildRequest
from buildloop.storage import bucket
from tasks.bucket import result_storage

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class TaskOptions(TypedDict, total=False):
    retries: int
    retry_delay_seconds: list[float]
    retry_jitter_factor: float
    retry_condition_fn: Any
    timeout_seconds: float
    result_storage: Path | RemoteFileSystem


def step_cache_key(_: TaskRunContext, parameters: dict[str, Any]) -> str:
    """The step's own key, not the flow run's: a later flow run of the same run finds what is finished."""
    return str(parameters["key"])


class OwnFolder(LocalFileSystem):
    """Results in the state directory. Prefect's own walks every folder above to find links, five times a task."""

    _block_type_name = "buildloop folder"
    _block_type_slug = "buildloop-folder"

    def _resolve_path(self, path: str) -> Path:
        base = Path(str(self.basepath))
        found = Path(os.path.normpath(base / path)) if path else base
        if not found.is_relative_to(base):
            raise ValueError(f"{found} is outside of {base}")
        return found


class MaskedJson(JSONSerializer[Any]):
    """Results outlive the run: no secret of this environment is in them."""

    type: str = Field(default="buildloop-json", frozen=True)

    def dumps(self, obj: Any) -> bytes:  # noqa: ANN401
        return mask_own(super().dumps(obj).decode()).encode()


# For every task whose result must survive the process.
DURABLE: dict[str, Any] = {
    "persist_result": True,
    "result_serializer": MaskedJson(),
    "cache_key_fn": step_cache_key,
}


def step_key(request: BuildRequest, session: int, number: int, step: str, tree: str = "") -> str:
    """`tree` belongs into the key of every step whose answer depends on the work tree."""
    suffix = f"-{tree[:12]}" if tree else ""
    return f"{request.run_id}/s{session}/i{number}/{step}{suffix}"


def short_id(flow_run_id: str) -> str:
    """The random end of Prefect's id. Its beginning is a clock: flow runs of the same minute share it."""
    return flow_run_id.replace("-", "")[-12:]


def as_one(value: T) -> T:
    """Hand a task its input whole. Prefect would walk through all of it, looking for futures, before every task; there
    are none, and the history of a run grows. The task receives the value itself."""
    return cast(T, quote(value))


def configured(task: Task[P, R], policy: RetryPolicy, request: BuildRequest) -> Task[P, R]:
    """The task under this policy. Each is made once: Prefect reads a task's source whenever it makes one."""
    return cast("Task[P, R]", _configured(task, policy, request.state_dir, bucket(os.environ)))


@lru_cache(maxsize=256)
def _configured(task: Task[..., Any], policy: RetryPolicy, state_dir: str, url: str | None) -> Task[..., Any]:
    storage = result_storage(state_dir, url)
    made = task.with_options(**task_options(policy, storage))
    if isinstance(storage, Path):
        # Not as an option: there Prefect wants every block to be saved on the server.
        made.result_storage = OwnFolder(basepath=str(storage.resolve()))
    return made


def task_options(policy: RetryPolicy, storage: Path | RemoteFileSystem) -> TaskOptions:
    """Translate a policy.

    Prefect refuses a tuple of delays, and it calls the condition only if it is a plain function: a partial, a
    method or a callable object silently means "never retry". Start from a bare task: an option set to None
    keeps its old value.
    """
    retry_on = policy.retry_on

    def should_retry(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
        return retry_on is not None and isinstance(state.result(raise_on_failure=False), retry_on)

    options: TaskOptions = {
        "retries": policy.retries,
        "retry_delay_seconds": list(policy.delays),
        "retry_condition_fn": should_retry,
        "result_storage": storage,
    }
    if policy.jitter:
        options["retry_jitter_factor"] = policy.jitter
    if policy.timeout is not None:
        options["timeout_seconds"] = policy.timeout
    return options


def attempts_left() -> bool:
    """Whether Prefect would run the current task again if it raised now."""
    context = TaskRunContext.get()
    return context is not None and context.task_run.run_count <= context.task.retries


def attempt_number() -> int:
    context = TaskRunContext.get()
    return context.task_run.run_count if context else 1


def next_delay() -> float:
    """Seconds Prefect will wait (before jitter) if the current task raises now."""
    context = TaskRunContext.get()
    delays = context.task.retry_delay_seconds if context else None
    if not isinstance(delays, list) or not delays:
        return 0.0
    return float(delays[min(attempt_number(), len(delays)) - 1])


def tell(name: str, *tags: str) -> None:
    """Say the outcome in the task run's name, and tag it. Prefect sends both along with the final state.

    Tags given as a task option would make Prefect ask the API for a concurrency slot before every task; on
    SQLite that call collides with the event writer and then waits two seconds.
    """
    context = TaskRunContext.get()
    if context is not None:
        context.task_run.name = name
        context.task_run.tags = ["buildloop", *tags]
