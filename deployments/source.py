"""The steps of `prefect.yaml`: where a worker takes the code of a flow from.

`choose_source` runs where `prefect deploy` is typed, `use_source` on the worker before every flow run.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from urllib.parse import urlsplit

INSTALLED = "installed"
REPOSITORY = re.compile(r"(?P<url>(?:[a-z+]+://|git@).+?)(?:@(?P<branch>[^@/:]+))?")


def choose_source() -> dict[str, str]:
    """What `BUILDLOOP_SOURCE` says; without it, the checkout that is being deployed."""
    named = os.environ.get("BUILDLOOP_SOURCE", "").strip()
    return {"source": named or str(Path.cwd())}


def use_source(source: str) -> dict[str, str]:
    """Make `flows` importable from there, before anything that is installed."""
    if source == INSTALLED:
        return {"directory": str(Path.cwd())}
    folder = _clone(source) if REPOSITORY.fullmatch(source) else Path(source).expanduser()
    if not (folder / "flows" / "build_loop.py").is_file():
        raise FileNotFoundError(
            f"{source} has no flows/build_loop.py on this worker; deploy again with BUILDLOOP_SOURCE set to a "
            "git URL, to a checkout that every worker can see, or to 'installed'"
        )
    sys.path.insert(0, str(folder))
    return {"directory": str(folder)}


def _clone(source: str) -> Path:
    from prefect.deployments.steps import git_clone  # noqa: PLC0415 (costs seconds; only this way of three needs it)

    found = REPOSITORY.fullmatch(source)
    assert found is not None
    branch = found["branch"] or None
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(urlsplit(found["url"]).path).stem) or "buildloop"
    cloned = git_clone(
        repository=found["url"].removeprefix("git+"), branch=branch, clone_directory_name=f"{name}-source"
    )
    return Path(cloned["directory"]).absolute()
