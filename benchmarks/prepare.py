"""How much longer the workspace of a run takes than git's own worktree, in a repository with many files.

    python -m benchmarks.prepare [--files 100000] [--rounds 3] [--json PATH]

The bar is a ratio of times on the same machine: at most 3. Ends with 1 above it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.bench.scripted import make_repository
from buildloop.files import write_json
from buildloop.request import BuildRequest
from buildloop.workspace.worktree import prepare_worktree, release

BAR = 3.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="where to save the figures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="buildloop-prepare-") as folder:
        repo = make_repository(Path(folder) / "repo", options.files)
        plain, ours = [], []
        for number in range(options.rounds):
            plain.append(seconds(lambda n=number: worktree_add(repo, Path(folder) / f"plain-{n}")))
            ours.append(seconds(lambda n=number: prepare(repo, Path(folder) / "state", f"r{n}")))
            print(f"round {number + 1}: git {plain[-1]:.2f} s, prepare {ours[-1]:.2f} s", flush=True)
    git, prepared = statistics.median(plain), statistics.median(ours)
    print(
        f"{options.files} files: git worktree add {git:.2f} s, prepare {prepared:.2f} s, ratio {prepared / git:.2f}"
    )
    if options.json:
        write_json(options.json, {"files": options.files, "git_s": plain, "prepare_s": ours})
    return int(prepared > BAR * git)


def worktree_add(repo: Path, place: Path) -> None:
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(place)], cwd=repo, check=True)


def prepare(repo: Path, state: Path, name: str) -> None:
    request = BuildRequest(
        goal="g", repo=str(repo), test=("true",), agent_command="true", state_dir=str(state), run_id=name
    )
    release(prepare_worktree(request), keep=True)


def seconds(work: Callable[[], None]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


if __name__ == "__main__":
    sys.exit(main())
