"""What a program in the sandbox can and cannot do, with the real bubblewrap."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from buildloop.choices import SandboxKind
from buildloop.errors import InputError
from buildloop.process import run_process
from buildloop.redact import redactor
from buildloop.sandbox import Sandbox, check_sandbox, toolchains


def _works() -> bool:
    try:
        check_sandbox(Sandbox(SandboxKind.BWRAP))
    except InputError:
        return False
    return True


needs_bwrap = pytest.mark.skipif(
    not _works(), reason="bubblewrap is not installed or may not make namespaces here"
)


@pytest.fixture
def inside(tmp_path):
    """Run a shell line in a sandbox whose only writable folder is `work`; its exit code and output."""
    work = tmp_path / "work"
    work.mkdir()

    def run(line, **options):
        sandbox = Sandbox(SandboxKind.BWRAP, writable=(work,), readable=toolchains(os.environ), **options)
        out = tmp_path / "out"
        result = run_process(
            ["/bin/sh", "-c", line], cwd=work, environment=dict(os.environ), mark="m", stdout=out,
            redact=redactor({}), timeout=60, sandbox=sandbox,
        )  # fmt: skip
        return result.exit_code, out.read_text()

    return run


@needs_bwrap
def test_the_workspace_can_be_written_and_nothing_else(inside, tmp_path):
    code, _ = inside("echo x > here.txt && echo y > /tmp/private.txt")
    assert code == 0
    assert (tmp_path / "work" / "here.txt").read_text() == "x\n"
    assert not Path("/tmp/private.txt").exists()
    (tmp_path / "other").mkdir()
    for place in (str(tmp_path / "other" / "x"), "/etc/x", "/usr/x", "/var/lib/x"):
        code, _ = inside(f"echo x > {place}")
        assert code != 0, place


@needs_bwrap
def test_home_is_empty(inside, monkeypatch, tmp_path):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("key")
    monkeypatch.setenv("HOME", str(home))
    code, text = inside(
        f"ls -A {home} $HOME; cat {home}/.ssh/id; cat /root/.bash_history /home/*/.netrc; true"
    )
    assert code == 0
    assert "key" not in text
    assert ".ssh" not in text.replace(f"{home}/.ssh/id", "")


@needs_bwrap
def test_without_network_nothing_is_reached(inside):
    look = "cat /proc/net/dev | grep -c ':'"
    assert inside(look, network=False)[1].strip() == "1"


@needs_bwrap
def test_other_processes_are_neither_seen_nor_killed(inside):
    with subprocess.Popen(["sleep", "60"]) as other:
        code, _ = inside(f"kill -9 {other.pid}")
        assert code != 0
        assert other.poll() is None
        other.kill()


@needs_bwrap
def test_nobody_in_it_can_make_the_root_writable_again(inside):
    """Root keeps its rights in a new namespace unless they are taken from it."""
    assert inside("mount -o remount,rw,bind /")[0] != 0
    _, told = inside("grep CapEff /proc/self/status")
    assert told.split() == ["CapEff:", "0" * 16]


def test_of_a_home_only_the_programs_are_shown(tmp_path, monkeypatch):
    """Beside ~/.local/bin lie key rings, log-ins, and our own runs."""
    home = tmp_path / "real"
    for name in (".local/bin", ".local/share/keyrings", ".local/lib", "bin", "tools/node/bin"):
        (home / name).mkdir(parents=True)
    (tmp_path / "home").symlink_to(home)
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    folders = [tmp_path / "home" / name for name in (".local/bin", "bin", "tools/node/bin")]
    shown = toolchains({"PATH": ":".join(map(str, folders))})
    assert {one for one in shown if one.is_relative_to(tmp_path)} == {
        tmp_path / "home" / name for name in (".local/bin", ".local/lib", "bin", "tools/node")
    }
    hidden = Sandbox(SandboxKind.BWRAP, readable=shown).wrap(["true"], Path("/"), {})
    assert str(home) in [word for before, word in pairwise(hidden) if before == "--tmpfs"]


@needs_bwrap
def test_exit_codes_come_through(inside):
    assert inside("exit 7")[0] == 7


@pytest.mark.parametrize("kind", [SandboxKind.BWRAP, SandboxKind.DOCKER])
def test_a_sandbox_that_is_not_there_is_refused_in_one_sentence(kind, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match=f"--sandbox {kind} needs .* was not found; install it, or choose --sandbox none"
    ):
        check_sandbox(Sandbox(kind, image="x"))


def test_a_sandbox_that_does_not_work_is_refused_with_its_own_words(monkeypatch, tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(InputError, match=r"does not work on this machine \(No permissions"):
        check_sandbox(Sandbox(SandboxKind.BWRAP))


def test_docker_gets_names_of_variables_and_no_values():
    sandbox = Sandbox(SandboxKind.DOCKER, writable=(Path("/w"),), network=False, image="tools:1")
    argv = sandbox.wrap(["make", "test"], Path("/w"), {"API_TOKEN": "s3cret-value", "PATH": "/x"})
    assert argv[-3:] == ["tools:1", "make", "test"]
    assert "s3cret-value" not in " ".join(argv)
    assert {"--network", "none", "/w:/w", "--read-only", "API_TOKEN"} <= set(argv)


def test_a_container_ends_with_the_command_that_started_it(tmp_path, monkeypatch):
    """A stand-in that answers like Docker's command: its container goes on when the command is killed."""
    told = tmp_path / "told"
    (tmp_path / "docker").write_text(
        f'#!/bin/sh\necho "$@" >> {told}\ncase $1 in ps) echo 0c1d;; run) echo $HOME; exec sleep 600;; esac\n'
    )
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sandbox = Sandbox(SandboxKind.DOCKER, image="tools:1")
    ended = run_process(
        ["make"], cwd=tmp_path, environment=dict(os.environ), mark="m7", stdout=tmp_path / "out",
        redact=redactor({}), timeout=1, grace=0.1, sandbox=sandbox,
    )  # fmt: skip
    assert ended.timed_out
    run, ps, rm = told.read_text().splitlines()
    assert "--label buildloop=m7" in run
    assert ps.endswith("--filter label=buildloop=m7")
    assert rm == "rm --force 0c1d"
    assert (tmp_path / "out").read_text().strip() == os.environ["HOME"]


def test_none_changes_nothing():
    assert Sandbox().wrap(["a", "b"], Path("/"), {}) == ["a", "b"]


@needs_bwrap
@pytest.mark.server
@pytest.mark.slow
def test_a_run_in_the_sandbox(buildloop, repo, tmp_path):
    """Agent and gate both work in it; what the agent tries outside fails and stays undone."""
    agent = tmp_path / "agent.sh"
    agent.write_text(
        f"echo x > {tmp_path}/outside 2>/dev/null\n"
        "git branch stolen 2>/dev/null && exit 9\n"
        "printf 'def add(a, b):\\n    return a + b\\n' > calc.py\n"
    )
    ran = buildloop(
        "run", "make it add", "--repo", str(repo), "--state-dir", str(tmp_path / "state"), "--sandbox", "bwrap",
        "--no-sandbox-network", "--sandbox-writable", str(agent), "--test", "python -m unittest -q",
        "--agent-command", f"sh {agent}", "--max-iterations", "1", timeout=300,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not (tmp_path / "outside").exists()
    known = subprocess.run(["git", "rev-parse", "stolen"], cwd=repo, capture_output=True, check=False)
    assert known.returncode != 0
