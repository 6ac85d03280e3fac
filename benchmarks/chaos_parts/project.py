"""A repository with one bug an iteration, an agent that removes them, and what a finished run of it looks like."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from buildloop.events import read_events
from buildloop.rundir import RunDir

GATE = "python check.py"
CHECK = """
import re, sys
left = re.findall(r"bug_(\\d+)", open("app.py").read())
for n in left:
    print(f"FAIL: test_{n} (check.Check.test_{n})\\nAssertionError: bug {n} is there")
print(f"Ran BUGS tests in 0.0s\\n\\n" + (f"FAILED (failures={len(left)})" if left else "OK"))
sys.exit(bool(left))
"""


@dataclass(frozen=True)
class Outcome:
    tree: str
    commits: int
    iterations: int
    cost_usd: float
    executed_once: bool
    reason: str


def make_repo(folder: Path, bugs: int) -> Path:
    repo = folder / "repo"
    repo.mkdir(parents=True)
    (repo / "check.py").write_text(CHECK.replace("BUGS", str(bugs)))
    (repo / "app.py").write_text("".join(f"bug_{n}\n" for n in range(1, bugs + 1)))
    git = ["git", "-c", "user.name=chaos", "-c", "user.email=chaos@localhost"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-qm", f"{bugs} bugs"]):
        subprocess.run([*git, *arguments], cwd=repo, check=True)
    return repo


def make_script(folder: Path, bugs: int) -> Path:
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
        for n in range(1, bugs + 1)
    ]
    path = folder / "agent.json"
    path.write_text(json.dumps({"rule": rules}))
    return path


def outcome_of(run: RunDir, repo: Path) -> Outcome:
    """What must be the same, however often the run was killed."""
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
