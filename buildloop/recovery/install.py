"""Installs a project's dependencies the way its own lock file or manifest asks for.

Python packages go into a folder of the run, so the user's environment is never touched; other ecosystems
install inside the workspace. What is replaced is replaced only by an install that succeeded.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from buildloop.errors import InstallUnavailable
from buildloop.models import Iteration
from buildloop.process import run_process
from buildloop.redact import Redactor

INSTALL_TIMEOUT = 900.0
TARGET = "{target}"
PYTHON = "{python}"

# Words that package managers print when the registry did not answer; the same install may work later.
NETWORK_WORDS = (
    "Temporary failure in name resolution",
    "Connection timed out",
    "ETIMEDOUT",
    "ECONNRESET",
    "EAI_AGAIN",
    "Could not resolve host",
    "Read timed out",
    "503 Service",
    "502 Bad Gateway",
)


@dataclass(frozen=True, slots=True)
class Ecosystem:
    """`marker` is the file that says a project uses it; the first match in the table wins."""

    name: str
    marker: str
    argv: tuple[str, ...]
    produces: str | None = None


# Lock files before manifests: the locked install is the reproducible one.
ECOSYSTEMS: tuple[Ecosystem, ...] = (
    Ecosystem("pnpm", "pnpm-lock.yaml", ("pnpm", "install", "--frozen-lockfile"), "node_modules"),
    Ecosystem("yarn", "yarn.lock", ("yarn", "install", "--frozen-lockfile"), "node_modules"),
    Ecosystem("npm", "package-lock.json", ("npm", "ci", "--no-audit", "--no-fund"), "node_modules"),
    Ecosystem(
        "npm", "package.json", ("npm", "install", "--no-audit", "--no-fund", "--no-save"), "node_modules"
    ),
    Ecosystem("uv", "uv.lock", ("uv", "sync", "--frozen"), ".venv"),
    Ecosystem("poetry", "poetry.lock", ("poetry", "install", "--no-interaction"), None),
    Ecosystem(
        "pip",
        "requirements.txt",
        (PYTHON, "-m", "pip", "install", "-q", "--target", TARGET, "-r", "requirements.txt"),
    ),
    Ecosystem("cargo", "Cargo.toml", ("cargo", "fetch"), None),
    Ecosystem("go", "go.mod", ("go", "mod", "download"), None),
    Ecosystem("bundler", "Gemfile", ("bundle", "install"), None),
    Ecosystem("maven", "pom.xml", ("mvn", "-q", "-B", "dependency:resolve"), None),
)


@dataclass(frozen=True, slots=True)
class Install:
    """What an install did; `environment` is what later gates need to see it."""

    done: bool
    explanation: str
    environment: Mapping[str, str]


def declares_anew(iteration: Iteration) -> bool:
    """Whether the agent changed what an install goes by, so that one which did not help before may help now."""
    files = iteration.agent.checkpoint.files if iteration.agent else ()
    return any(PurePosixPath(file).name in {one.marker for one in ECOSYSTEMS} for file in files)


def ecosystem_of(workdir: Path) -> Ecosystem | None:
    return next((one for one in ECOSYSTEMS if (workdir / one.marker).is_file()), None)


def install_dependencies(
    workdir: Path, run_dir: Path, log: Path, environment: Mapping[str, str], mark: str, redact: Redactor
) -> Install:
    ecosystem = ecosystem_of(workdir)
    if ecosystem is None:
        return Install(False, "no lock file or manifest was found, so there is nothing to install from", {})
    tool = _python(environment) if ecosystem.argv[0] == PYTHON else shutil.which(ecosystem.argv[0])
    if tool is None:
        return Install(False, f"{ecosystem.argv[0]} is not installed on this machine", {})
    target, staged = run_dir / "packages", run_dir / "packages.new"
    shutil.rmtree(staged, ignore_errors=True)
    argv = [word.replace(TARGET, str(staged)).replace(PYTHON, tool) for word in ecosystem.argv]
    with _kept_aside(workdir, ecosystem.produces) as aside:
        result = run_process(
            argv,
            cwd=workdir,
            environment=environment,
            mark=mark,
            stdout=log,
            timeout=INSTALL_TIMEOUT,
            redact=redact,
        )
        if result.exit_code != 0:
            return _failed(ecosystem, result.exit_code, log)
        aside.discard()
    if not staged.exists():
        return Install(True, f"{ecosystem.name} installed what {ecosystem.marker} asks for", {})
    shutil.rmtree(target, ignore_errors=True)
    staged.replace(target)
    installed = f"pip installed what {ecosystem.marker} asks for into the run's own folder"
    return Install(True, installed, {"PYTHONPATH": str(target)})


class _Aside:
    """A folder moved out of the way for an install, and moved back unless the install succeeded."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._kept = folder.with_name(f".{folder.name}.buildloop-old") if folder else None

    def __enter__(self) -> _Aside:
        if self.folder and self._kept:
            if self._kept.exists() and not self.folder.exists():
                self._kept.replace(self.folder)
            if self.folder.exists():
                shutil.rmtree(self._kept, ignore_errors=True)
                self.folder.replace(self._kept)
        return self

    def discard(self) -> None:
        if self._kept:
            shutil.rmtree(self._kept, ignore_errors=True)

    def __exit__(self, *_: object) -> None:
        if self.folder and self._kept and self._kept.exists():
            shutil.rmtree(self.folder, ignore_errors=True)
            self._kept.replace(self.folder)


def _kept_aside(workdir: Path, produces: str | None) -> _Aside:
    return _Aside(workdir / produces if produces else None)


def _python(environment: Mapping[str, str]) -> str | None:
    """The interpreter the gate would use, so that the packages fit it."""
    path = environment.get("PATH")
    return shutil.which("python", path=path) or shutil.which("python3", path=path) or sys.executable


def _failed(ecosystem: Ecosystem, exit_code: int, log: Path) -> Install:
    text = log.read_text(encoding="utf-8", errors="replace")
    if any(words in text for words in NETWORK_WORDS):
        raise InstallUnavailable(f"{ecosystem.name} could not reach its registry; see {log}")
    lines = [line for line in text.splitlines() if line.strip()]
    reason = lines[-1][:300] if lines else f"exit code {exit_code}"
    return Install(
        False, f"{ecosystem.name} could not install what {ecosystem.marker} asks for: {reason}", {}
    )
