"""Secrets planted wherever text comes in turn up nowhere text goes out: one run of the real command."""

from __future__ import annotations

import base64
import sys
from urllib.parse import quote

import pytest

from tests.support.repos import git, make_repo

pytestmark = [pytest.mark.server, pytest.mark.slow]

# One secret a place, so that a leak names its way. `{n}` keeps them from being one another's parts.
SECRETS = {f"PLANTED_{n}_TOKEN": f"zq{n}-Vx/7+kP{n}wL9rT" for n in "abcdefghijklm"}
SECRETS["PLANTED_f_TOKEN"] = "zqf-Vx7kPfwL9rT"  # becomes a file's name

AGENT = """
import base64, os, subprocess, sys, urllib.parse
take = lambda n: os.environ[f"PLANTED_{n}_TOKEN"]
print("agent says", take("c"))
print("agent complains", take("d"), file=sys.stderr)
open("leak.py", "w").write(f"key = '{take('e')}'\\n")
open(f"{take('f')}.txt", "w").write("x")
open("calc.py", "w").write("def add(a, b):\\n    return a + b\\n")
open("shape.py", "w").write("token = 'ghp_" + "q8Zr3Lk9Xw2Vb7Nm4Tc6Yh1Jd5Fg0SaPeRu" + "'\\n")
subprocess.run(["git", "add", "calc.py"]); subprocess.run(
    ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "used " + take("g")])
print('{"outcome": "ok", "error": "' + take("h") + '"}')
"""
GATE_TEST = """
import base64, os, sys, unittest, urllib.parse
from calc import add
take = lambda n: os.environ[f"PLANTED_{n}_TOKEN"]

class Calc(unittest.TestCase):
    def test_add(self):
        print("gate prints", take("i"))
        print(base64.b64encode(("user:" + take("j")).encode()).decode(), file=sys.stderr)
        print("https://host/?key=" + urllib.parse.quote(take("k"), safe=""))
        self.assertEqual(add(1, 2), 3, "with " + take("l"))
"""


def spelled(value):
    """The value and what people copy it as."""
    yield value
    yield quote(value, safe="")
    yield base64.b64encode(value.encode()).decode()[:-4]
    yield base64.b64encode(f"user:{value}".encode()).decode()[8:-4]


@pytest.fixture
def leaks():
    def find(what, data):
        text = data if isinstance(data, bytes) else data.encode()
        return [
            f"{name} in {what}"
            for name, value in SECRETS.items()
            if any(form.encode() in text for form in spelled(value))
        ]

    return find


def test_planted_secrets_appear_nowhere(tmp_path, tmp_path_factory, buildloop, prefect_server, leaks):
    repo = make_repo(
        tmp_path / "repo",
        {"calc.py": "def add(a, b):\n    return a - b\n", "tests/test_calc.py": GATE_TEST, "conftest.py": ""},
    )
    (tmp_path / "agent.py").write_text(AGENT)
    state = tmp_path / "state"
    ran = buildloop(
        "run",
        f"make it add; use {SECRETS['PLANTED_a_TOKEN']}",
        *("--context", f"the issue says {SECRETS['PLANTED_b_TOKEN']}"),
        *("--repo", str(repo), "--state-dir", str(state), "--max-iterations", "2"),
        *("--test", f"{sys.executable} -m pytest -s -q tests"),
        *("--agent-command", f"{sys.executable} {tmp_path / 'agent.py'}"),
        env=SECRETS,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

    found = leaks("the terminal", ran.stdout + ran.stderr)
    files = [path for path in state.rglob("*") if path.is_file()]
    for path in files:
        found += leaks(path.relative_to(state), path.read_bytes())
    branch = git(repo, "for-each-ref", "--format=%(refname)", "refs/heads/buildloop/")
    found += leaks("the commits", git(repo, "log", "-p", "--all", "--format=%B"))
    for path in tmp_path_factory.getbasetemp().glob("prefect*/**/*.db*"):
        found += leaks(f"Prefect's database {path.name}", path.read_bytes())
    assert found == []

    assert len(files) > 10
    assert any("[masked]" in path.read_text(errors="replace") for path in files if path.name == "gate.log")
    left_out = git(repo, "ls-tree", "-r", "--name-only", branch)
    assert "calc.py" in left_out
    assert "leak.py" not in left_out
    assert "shape.py" not in left_out
    events = (next(state.glob("runs/*/events.jsonl"))).read_text()
    assert events.count("loop.secret_refused") >= 3


def test_a_secret_in_a_command_is_refused_before_anything_is_made(tmp_path, repo, buildloop):
    value = SECRETS["PLANTED_m_TOKEN"]
    ran = buildloop(
        "run", "x", "--repo", str(repo), "--state-dir", str(tmp_path / "s"), "--agent-command", "true",
        "--test", f"curl -H 'key: {value}' localhost", env=SECRETS,
    )  # fmt: skip
    assert ran.returncode == 2
    assert "write $PLANTED_m_TOKEN instead" in ran.stderr
    assert value not in ran.stderr
    assert not (tmp_path / "s" / "runs").exists()
