"""Kills a run again and again and compares what comes out with an undisturbed run.

    python benchmarks/chaos.py [--kills 50] [--seed 1] [--json FILE]

A run of twelve iterations is killed with SIGKILL at random moments (the process; its whole process group; the Prefect
server) and resumed each time. In the end tree, commits, iterations and cost must equal those of the undisturbed run,
and every finished iteration must have been executed once.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from buildloop.events import read_events  # noqa: E402
from buildloop.rundir import RunDir, runs_in  # noqa: E402

BUGS = 12
GATE = "python check.py"
CHECK = """
import re, sys
left = re.findall(r"bug_(\\d+)", open("app.py").read())
for n in left:
    print(f"FAIL: test_{n} (check.Check.test_{n})\\nAssertionError: bug {n} is there")
print(f"Ran {12} tests in 0.0s\\n\\n" + (f"FAILED (failures={len(left)})" if left else "OK"))
sys.exit(bool(left))
"""
LONGEST_WAIT = 20.0
TARGETS = ("process", "group", "process", "group", "server")


@dataclass(frozen=True)
class Outcome:
    tree: str
    commits: int
    iterations: int
    cost_usd: float
    executed_once: bool
    reason: str


def make_repo(folder: Path) -> Path:
    repo = folder / "repo"
    repo.mkdir(parents=True)
    (repo / "check.py").write_text(CHECK)
    (repo / "app.py").write_text("".join(f"bug_{n}\n" for n in range(1, BUGS + 1)))
    git = ["git", "-c", "user.name=chaos", "-c", "user.email=chaos@localhost"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "twelve bugs"]):
        subprocess.run([*git, *arguments], cwd=repo, check=True)
    return repo


def make_script(folder: Path) -> Path:
    """One bug a call; each step takes a moment, so that a kill can fall into it."""
    rules = [
        {
            "when": {"file": {"path": "app.py", "contains": f"bug_{n}\n"}},
            "do": [
                {"run": ["sleep", "0.15"]},
                {"patch": "app.py", "find": f"bug_{n}\n", "replace": ""},
                {"run": ["sleep", "0.1"]},
            ],
            "usage": {"input_tokens": 100 + n, "output_tokens": n, "cost_usd": n / 100},
        }
        for n in range(1, BUGS + 1)
    ]
    path = folder / "agent.json"
    path.write_text(json.dumps({"rule": rules}))
    return path


def command(*arguments: str, state: Path) -> list[str]:
    return [sys.executable, "-m", "buildloop.cli.main", *arguments, "--state-dir", str(state)]


def environment() -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "BUILDLOOP_"))
    }
    return {**kept, "PYTHONPATH": str(ROOT)}


def start(arguments: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        arguments,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def run_once(folder: Path, kills: int, dice: random.Random, *, show: bool = False) -> tuple[Outcome, int]:
    """One run from start to end; at most `kills` times something is killed on the way. Also how often that was."""
    repo, script, state = make_repo(folder), make_script(folder), folder / "state"
    first = ["run", "remove all bugs", "--repo", str(repo), "--test", GATE, "--agent-script", str(script)]
    process, delivered = start(command(*first, state=state)), 0
    for number in range(kills):
        if not wait_for_work(process, state, dice):
            break
        target = TARGETS[number % len(TARGETS)]
        strike(process, state, target)
        end(process)
        delivered += 1
        if show:
            print(f"\rkill {number + 1}/{kills} ({target})  ", end="", flush=True)
        process = start(command("resume", state=state))
    process.wait()
    if show:
        print()
    return outcome(state, repo), delivered


def wait_for_work(process: subprocess.Popen[bytes], state: Path, dice: random.Random) -> bool:
    """Let it get to work, then a random moment longer; False when it ended by itself."""
    before = count_events(state)
    while process.poll() is None and count_events(state) <= before:
        time.sleep(0.02)
    deadline = time.monotonic() + dice.uniform(0.0, 0.7)
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    return process.poll() is None


def end(process: subprocess.Popen[bytes]) -> None:
    """A run whose server is gone ends by itself after a while; we need not wait for all of its patience."""
    try:
        process.wait(LONGEST_WAIT)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def strike(process: subprocess.Popen[bytes], state: Path, target: str) -> None:
    if target == "server":
        address = state / "prefect" / "server.json"
        if address.exists():
            os.kill(json.loads(address.read_text())["pid"], signal.SIGKILL)
    elif target == "group":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def count_events(state: Path) -> int:
    return sum(1 for run in runs_in(state) for _ in read_events(run.path / "events.jsonl"))


def outcome(state: Path, repo: Path) -> Outcome:
    run = RunDir(runs_in(state)[0].path)
    result = run.result()
    if result is None:
        raise SystemExit(f"the run has no result; see {run.path}")
    done = Counter(
        event["iteration"]
        for event in read_events(run.path / "events.jsonl")
        if event["type"] == "loop.iteration_complete"
    )
    listed = subprocess.run(
        ["git", "rev-list", "--count", f"HEAD..{result.branch}"],
        cwd=repo,
        capture_output=True,
        text=True,
        check=True,
    )
    return Outcome(
        tree=result.tree,
        commits=int(listed.stdout),
        iterations=result.iterations,
        cost_usd=round(result.usage.cost_usd or 0, 6),
        executed_once=set(done.values()) == {1} and len(done) == result.iterations,
        reason=str(result.reason),
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    dice = random.Random(options.seed)
    with tempfile.TemporaryDirectory(prefix="buildloop-chaos-") as folder:
        calm, _ = run_once(Path(folder) / "calm", 0, dice)
        print("undisturbed:", calm)
        killed, rounds, worst = 0, 0, []
        while killed < options.kills:
            rounds += 1
            stormy, delivered = run_once(
                Path(folder) / f"storm-{rounds}", options.kills - killed, dice, show=True
            )
            killed += delivered
            print(f"after {delivered} kills:", stormy)
            if stormy != calm:
                worst.append(asdict(stormy))
    print(f"{killed} kills in {rounds} runs: {'all equal' if not worst else f'{len(worst)} runs differ'}")
    if options.json:
        options.json.write_text(
            json.dumps({"calm": asdict(calm), "kills": killed, "different": worst}, indent=2)
        )
    return 1 if worst else 0


if __name__ == "__main__":
    sys.exit(main())
