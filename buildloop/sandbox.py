"""The command line that runs a program in a sandbox: bubblewrap, docker, or none at all.

The workspace is the only place of the project that can be written; home is empty, /tmp is the program's own. A sandbox
that cannot be had is an error with one sentence, never a silent run without it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from buildloop.choices import SandboxKind
from buildloop.errors import InputError
from buildloop.request import BuildRequest

TRY_SECONDS = 60.0
TOOLS_AT_HOME = (
    ".pyenv",
    ".rustup",
    ".cargo",
    ".nvm",
    ".volta",
    ".asdf",
    ".rbenv",
    ".sdkman",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/uv",
    ".local/share/pipx",
    ".local/share/pnpm",
    ".local/share/fnm",
    ".local/share/mise",
    "go",
    ".bun",
    ".deno",
)
# Files with keys among the tools.
KEYS = (".cargo/credentials", ".cargo/credentials.toml", ".cargo/config.toml", ".npmrc", ".pypirc", ".netrc")
PACKAGE = Path(__file__).parent.parent
LABEL = "buildloop"
# In a sandbox the user's home does not exist; tools get an empty one.
HOME = "/tmp/home"  # noqa: S108 (inside of the sandbox, where /tmp belongs to the program alone)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """`writable` are the folders that stay writable under their own path, but for the files `fixed` in them; everything
    else is read-only or gone."""

    kind: SandboxKind = SandboxKind.NONE
    writable: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    fixed: tuple[Path, ...] = ()
    network: bool = True
    image: str | None = None

    def wrap(
        self, argv: Sequence[str], cwd: Path, environment: Mapping[str, str], mark: str = ""
    ) -> list[str]:
        """`mark` is what `end` finds it by."""
        match self.kind:
            case SandboxKind.BWRAP:
                return [*_bwrap(self, cwd), *argv]
            case SandboxKind.DOCKER:
                return [*_docker(self, cwd, environment, mark), *argv]
            case _:
                return list(argv)

    def end(self, mark: str) -> None:
        """A container is a child of the Docker daemon: it outlives the command that started it."""
        if self.kind is SandboxKind.DOCKER:
            end_containers(mark)

    def also(self, *writable: Path) -> Sandbox:
        return replace(self, writable=(*self.writable, *writable))

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """Docker's own command needs the user's home, where it is told which daemon to ask."""
        return {**given, "HOME": HOME, "TMPDIR": "/tmp"} if self.kind is SandboxKind.BWRAP else dict(given)  # noqa: S108


NO_SANDBOX = Sandbox()


def end_containers(mark: str) -> None:
    """End every container of a run, also those of a process that was killed."""
    if shutil.which("docker") is None:
        return
    listing = ["docker", "ps", "--all", "--quiet", "--filter", f"label={LABEL}={mark}"]
    found = subprocess.run(listing, capture_output=True, text=True, check=False).stdout.split()
    if found:
        subprocess.run(["docker", "rm", "--force", *found], capture_output=True, check=False)


def toolchains(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """What programs need of a home that is hidden: the folders of PATH in it, and the tools installed there."""
    home, hidden = Path.home(), _private_folders()
    # All of these would show what people keep beside their programs: log-ins, key rings, our own runs.
    too_much = (home, home / ".local", *map(Path, hidden))
    on_path = [Path(one) for one in environment.get("PATH", "").split(os.pathsep) if one]
    inside = [one for one in on_path if any(one.resolve().is_relative_to(folder) for folder in hidden)]
    roots = [
        one.parent if one.name in ("bin", "shims") and one.parent not in too_much else one for one in inside
    ]
    named = [Path(environment[name]) for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if environment.get(name)]
    known = [home / name for name in TOOLS_AT_HOME]
    found = [*roots, *named, *known, Path(sys.prefix), Path(sys.base_prefix), PACKAGE]
    return tuple(dict.fromkeys(one for one in found if one not in too_much and one.exists()))


def sandbox_of(request: BuildRequest) -> Sandbox:
    """The kind that was asked for; what is writable in it is known once there is a workspace."""
    return Sandbox(request.sandbox, network=request.sandbox_network, image=request.sandbox_image)


def check_sandbox(sandbox: Sandbox) -> None:
    """Start something in it once, before a run is made; say in one sentence why it cannot be had."""
    if sandbox.kind is SandboxKind.NONE:
        return
    program = {SandboxKind.BWRAP: "bwrap", SandboxKind.DOCKER: "docker"}[sandbox.kind]
    advice = "install it, or choose --sandbox none, knowing that then nothing confines agent and gate"
    if shutil.which(program) is None:
        raise InputError(f"--sandbox {sandbox.kind} needs {program}, which was not found; {advice}")
    try:
        tried = subprocess.run(
            sandbox.wrap(["true"], Path("/"), {}),
            capture_output=True,
            text=True,
            timeout=TRY_SECONDS,
            check=False,
        )
        problem = tried.stderr.strip().splitlines()[-1:] if tried.returncode else []
        failed = bool(tried.returncode)
    except subprocess.TimeoutExpired:
        problem, failed = [f"no answer within {TRY_SECONDS:g} s"], True
    if failed:
        said = f" ({problem[0]})" if problem else ""
        raise InputError(
            f"--sandbox {sandbox.kind} does not work on this machine{said}; repair it or use --sandbox none"
        )


def _bwrap(sandbox: Sandbox, cwd: Path) -> list[str]:
    """A read-only root without home, a private /tmp, /dev, /proc, process and IPC space, and what may be written."""
    command = [
        "bwrap", "--die-with-parent", "--cap-drop", "ALL", "--unshare-pid", "--unshare-ipc", "--unshare-uts",
        "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp",  # noqa: S108
    ]  # fmt: skip
    for folder in _private_folders():
        command += ["--tmpfs", folder]
    command += ["--dir", HOME]
    for path in sandbox.readable:
        command += ["--ro-bind-try", str(path), str(path)]
    for path in (Path.home() / name for name in KEYS):
        command += ["--ro-bind", "/dev/null", str(path)] if path.exists() and _shown(path, sandbox) else []
    for path in sandbox.writable:
        command += ["--bind-try", str(path), str(path)]
    for path in sandbox.fixed:
        command += ["--ro-bind-try", str(path), str(path)]
    if not sandbox.network:
        command.append("--unshare-net")
    return [*command, "--chdir", str(cwd), "--"]


def _shown(path: Path, sandbox: Sandbox) -> bool:
    return any(path.is_relative_to(folder) for folder in sandbox.readable)


def _private_folders() -> list[str]:
    """Where people keep keys and where services listen; hidden, not just read-only."""
    own = Path.home()
    candidates = ("/home", "/root", str(own), "/run", "/var/run", "/var/tmp", "/dev/shm")  # noqa: S108
    real = {str(Path(one).resolve()) for one in candidates if Path(one).is_dir()}
    return sorted(
        one for one in real if not any(one != other and one.startswith(f"{other}/") for other in real)
    )


def _docker(sandbox: Sandbox, cwd: Path, environment: Mapping[str, str], mark: str) -> list[str]:
    """The image's own system, our folders under their own paths, our user, no privileges."""
    assert sandbox.image is not None
    command = [
        "docker", "run", "--rm", "-i", "--init", "--read-only", "--tmpfs", "/tmp:exec", "--cap-drop", "ALL",  # noqa: S108
        "--security-opt", "no-new-privileges", "--user", f"{os.getuid()}:{os.getgid()}", "--workdir", str(cwd),
    ]  # fmt: skip
    for path in sandbox.readable:
        command += ["--volume", f"{path}:{path}:ro"]
    for path in sandbox.writable:
        command += ["--volume", f"{path}:{path}"]
    for path in sandbox.fixed:
        command += ["--volume", f"{path}:{path}:ro"]
    if not sandbox.network:
        command += ["--network", "none"]
    # Names only: the values come from our environment and stand on no command line.
    for name in sorted(environment):
        if name not in ("PATH", "HOME", "TMPDIR"):
            command += ["--env", name]
    command += ["--env", f"HOME={HOME}", "--env", "TMPDIR=/tmp", "--label", f"{LABEL}={mark}"]
    return [*command, sandbox.image]
