"""The steps of `prefect.yaml`: where a worker takes the code of a flow from.

`choose_source` runs where `prefect deploy` is typed, `use_source` on the worker before every flow run. Nothing of
buildloop is imported here: what is imported once would not be taken from the source.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

INSTALLED = "installed"
REPOSITORY = re.compile(r"(?P<url>(?:[a-z+]+://|git@).+?)(?:@(?P<branch>[^@/:]+))?")


def choose_source() -> dict[str, str]:
    """What `BUILDLOOP_SOURCE` says; without it, the checkout that is being deployed, or the package if it is none."""
    named = os.environ.get("BUILDLOOP_SOURCE", "").strip()
    here = Path.cwd()
    return {"source": named or (str(here) if _has_flows(here) else INSTALLED)}


def use_source(source: str) -> dict[str, str]:
    """Make `flows` importable from there, before anything that is installed."""
    if source == INSTALLED:
        return {"directory": str(Path.cwd())}
    folder = _clone(source) if REPOSITORY.fullmatch(source) else Path(source).expanduser()
    if not _has_flows(folder):
        raise FileNotFoundError(
            f"{source} has no flows/build_loop.py on this worker; deploy again with BUILDLOOP_SOURCE set to a "
            "git URL, to a checkout that every worker can see, or to 'installed'"
        )
    sys.path.insert(0, str(folder))
    return {"directory": str(folder)}


def _has_flows(folder: Path) -> bool:
    return (folder / "flows" / "build_loop.py").is_file()


def _clone(source: str) -> Path:
    """Into the working directory of this flow run, which is its own and goes with it."""
    found = REPOSITORY.fullmatch(source)
    assert found is not None
    target = Path.cwd() / "buildloop-source"
    branch = ["--branch", found["branch"]] if found["branch"] else []
    url = found["url"].removeprefix("git+")
    subprocess.run(
        ["git", "clone", "--quiet", "--depth", "1", *branch, "--", url, str(target)],
        check=True,
        env={**os.environ, "GIT_TERMINAL_PROMPT": "0"},
    )
    return target
