"""Runs the real `buildloop` command."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path


def command_environment(api_url: str | None, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "_BUILDLOOP"))
    }
    root = str(Path(__file__).parents[2])
    kept |= {"PYTHONPATH": root, "COLUMNS": "200", **(extra or {})}
    return kept | ({"PREFECT_API_URL": api_url} if api_url else {})


def run_buildloop(
    *arguments: str,
    api_url: str | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 300,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "buildloop.cli.main", *arguments],
        env=command_environment(api_url, env),
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        check=False,
    )
