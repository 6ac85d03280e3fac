"""On what a run of the benchmarks was made: figures without it cannot be compared."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import psutil

from buildloop.frozen import Frozen

# More than this before anything has started: somebody else is working here.
BUSY_LOAD = 0.5


class Machine(Frozen):
    cpu: str
    cores: int
    memory_gb: float
    system: str
    python: str
    prefect: str
    git: str
    load_before: float

    @property
    def in_words(self) -> str:
        return (
            f"{self.cpu}, {self.cores} cores, {self.memory_gb:.0f} GB, {self.system}, Python {self.python}, "
            f"Prefect {self.prefect}, git {self.git}"
        )

    @property
    def busy(self) -> bool:
        return self.load_before > BUSY_LOAD


def this_machine() -> Machine:
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout
    return Machine(
        cpu=_cpu(),
        cores=os.cpu_count() or 1,
        memory_gb=round(psutil.virtual_memory().total / 2**30, 1),
        system=f"{platform.system()} {platform.release().split('-')[0]}",
        python=platform.python_version(),
        prefect=version("prefect"),
        git=git.split()[2],
        load_before=round(os.getloadavg()[0], 2),
    )


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


# What the figures depend on: documentation and tests may differ between two runs that are compared.
CODE = ("buildloop", "tasks", "flows", "benchmarks", "requirements.lock", ":(exclude)benchmarks/history")


def commit_of(root: Path) -> str:
    """The commit that was measured; `+` where code was changed and not committed."""
    head, changed = (
        _git(root, "rev-parse", "--short=10", "HEAD"),
        _git(root, "status", "--porcelain", "--", *CODE),
    )
    return (head or "unknown") + ("+" if changed else "")


def code_of(root: Path) -> str:
    """The same for two commits with the same code."""
    listed = _git(root, "ls-files", "--stage", "--", *CODE) + _git(root, "diff", "HEAD", "--", *CODE)
    return hashlib.sha256(listed.encode()).hexdigest()[:16]


def _git(root: Path, *words: str) -> str:
    ran = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    return ran.stdout.strip()


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
