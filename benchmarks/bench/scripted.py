"""The agent and the gate of every measurement, as Bash scripts that write down when they began and ended.

They start no other program, so that what remains is the cost of whoever calls them.
"""

from __future__ import annotations

import subprocess
import textwrap
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

AGENT = """\
#!/bin/bash
began=$EPOCHREALTIME
read -r n < count
n=$((n + 1))
{wait}
for ((i = 1; i <= {changes}; i++)); do echo "$n" > "changed/f$i.txt"; done
echo "$n" > count
echo "agent $began $EPOCHREALTIME" >> {log}
"""

# Another test is missing at every step, as it is when an agent makes progress.
GATE = """\
#!/bin/bash
began=$EPOCHREALTIME
read -r n < count
if ((n >= {wanted})); then
  echo "{wanted} passed in 0.01s"; code=0
else
  echo "FAILED tests/test_step.py::test_step_$n - AssertionError: step $n is missing"
  echo "1 failed, $n passed in 0.01s"; code=1
fi
echo "gate $began $EPOCHREALTIME" >> {log}
exit $code
"""

PLAIN_LOOP = """\
#!/bin/bash
cd {repo} || exit 2
while true; do
  {agent} < {prompt} > agent.out 2>&1
  {gate} > gate.out 2>&1 && break
done
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the agent or the gate; seconds since the epoch."""

    who: str
    began: float
    ended: float

    @property
    def seconds(self) -> float:
        return self.ended - self.began


@dataclass(frozen=True, slots=True)
class Task:
    """A repository that is done when its agent was called `wanted` times."""

    folder: Path
    repo: Path
    wanted: int

    @property
    def agent(self) -> Path:
        return self.folder / "agent.sh"

    @property
    def gate(self) -> Path:
        return self.folder / "gate.sh"

    @property
    def calls(self) -> list[Call]:
        log = self.folder / "calls.log"
        if not log.exists():
            return []
        lines = [line.split() for line in log.read_text().splitlines()]
        return [Call(who, float(began), float(ended)) for who, began, ended in lines]

    def plain_loop(self) -> Path:
        (self.folder / "prompt.md").write_text("reach the count\n")
        script = PLAIN_LOOP.format(
            repo=self.repo, agent=self.agent, gate=self.gate, prompt=self.folder / "prompt.md"
        )
        return _executable(self.folder / "plain.sh", script)


def make_task(folder: Path, wanted: int, *, seconds: float = 0, files: int = 10, changes: int = 0) -> Task:
    """`changes` files are written at each call besides the counter."""
    folder.mkdir(parents=True)
    log, wait = folder / "calls.log", f"sleep {seconds}" if seconds else ":"
    task = Task(folder, folder / "repo", wanted)
    _executable(task.agent, AGENT.format(wait=wait, changes=changes, log=log))
    _executable(task.gate, GATE.format(wanted=wanted, log=log))
    make_repository(
        task.repo, files, {"count": "0", **{f"changed/f{n + 1}.txt": "0" for n in range(changes)}}
    )
    return task


def make_repository(repo: Path, files: int, extra: dict[str, str] | None = None) -> Path:
    """Written as one import: as many single files would take minutes."""
    subprocess.run(["git", "init", "-q", "-b", "main", str(repo)], check=True)
    named = {f"d{number // 100}/f{number}.txt": f"file {number}" for number in range(files)} | (extra or {})
    entries = "".join(f"M 644 inline {name}\ndata <<END\n{text}\nEND\n" for name, text in named.items())
    head = "commit refs/heads/main\ncommitter t <t@localhost> 1700000000 +0000\ndata 5\nstart\n"
    subprocess.run(["git", "fast-import", "--quiet"], input=(head + entries).encode(), cwd=repo, check=True)
    subprocess.run(["git", "reset", "-q", "--hard", "main"], cwd=repo, check=True)
    return repo


def overheads(calls: list[Call]) -> list[float]:
    """Seconds of each iteration that neither agent nor gate worked: from one call of the agent to the next."""
    found = []
    starts = [place for place, call in enumerate(calls) if call.who == "agent"]
    for here, following in pairwise(starts):
        inside = sum(call.seconds for call in calls[here:following])
        found.append(calls[following].began - calls[here].began - inside)
    return found


def _executable(path: Path, text: str) -> Path:
    path.write_text(textwrap.dedent(text))
    path.chmod(0o755)
    return path
