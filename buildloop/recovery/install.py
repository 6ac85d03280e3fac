"""Installs a project's dependencies the way its own lock file or manifest asks for.

A failed install leaves everything as it was: folders in the workspace are kept aside meanwhile, and what would go
into the user's environment goes into a new folder of the run, which later gates see only if it was finished.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from buildloop.environment import JOINED
from buildloop.errors import InstallUnavailable
from buildloop.process import ProcessResult, run_process
from buildloop.recovery import kept_aside
from buildloop.recovery.complaints import is_unreachable, wrong_dependencies
from buildloop.recovery.ecosystems import FOLDER, PIP_INSTALL, Project, projects_in
from buildloop.recovery.fresh_folder import Fresh, fresh_folder
from buildloop.recovery.pip import PIP_SETTINGS, ManifestError, pip_install, requirements
from buildloop.redact import Redactor

INSTALL_TIMEOUT = 900.0
REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Install:
    """What an install did; `environment` is what later gates need to see it.

    `wrong` names the dependencies that cannot be had as they are declared, with their constraints.
    """

    done: bool
    explanation: str
    environment: Mapping[str, str] = field(default_factory=dict)
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Setting:
    run_dir: Path
    environment: Mapping[str, str]
    mark: str
    redact: Redactor

    @property
    def aside(self) -> Path:
        return self.run_dir / "aside"


def install_dependencies(
    workdir: Path,
    run_dir: Path,
    log: Path,
    environment: Mapping[str, str],
    mark: str,
    redact: Redactor,
    root: Path | None = None,
) -> Install:
    """Install for every ecosystem the project uses. Raises InstallUnavailable where a registry did not answer."""
    setting = _Setting(run_dir, environment, mark, redact)
    kept_aside.put_back(setting.aside)
    projects = projects_in(workdir, root)
    if not projects:
        return Install(False, "no lock file or manifest was found, so there is nothing to install from")
    logs = [log, *(log.with_name(f"{log.stem}-{n}{log.suffix}") for n in range(2, len(projects) + 1))]
    installs: list[Install] = []
    unavailable: list[InstallUnavailable] = []
    for project, own in zip(projects, logs, strict=True):
        try:
            installs.append(_install(project, setting, own))
        except ManifestError as error:
            installs.append(Install(False, str(error)))
        except InstallUnavailable as error:
            unavailable.append(error)
            installs.append(Install(False, str(error)))
    if unavailable and not any(install.done for install in installs):
        raise unavailable[0]
    return _together(installs)


def _together(installs: list[Install]) -> Install:
    """One that succeeded makes the gate worth another run, whatever became of the others."""
    environment: dict[str, str] = {}
    for name, value in (item for install in installs for item in install.environment.items()):
        environment[name] = (
            f"{environment[name]}:{value}" if name in JOINED and name in environment else value
        )
    return Install(
        done=any(install.done for install in installs),
        explanation="; ".join(dict.fromkeys(install.explanation for install in installs)),
        environment=environment,
        wrong=tuple(dict.fromkeys(wrong for install in installs for wrong in install.wrong)),
    )


def _install(project: Project, setting: _Setting, log: Path) -> Install:
    ecosystem = project.ecosystem
    if ecosystem.tool == PIP_INSTALL:
        words = pip_install(setting.environment)
    else:
        found = shutil.which(ecosystem.tool, path=setting.environment.get("PATH"))
        words = (found,) if found else None
    if words is None:
        return Install(False, f"{ecosystem.name} is not installed on this machine")
    with fresh_folder(setting.run_dir / "packages") as fresh:
        kept_aside.move_aside(setting.aside, [project.folder / name for name in ecosystem.produces])
        try:
            result = _run(words, project, fresh.path, setting, log)
            if result.exit_code == 0:
                kept_aside.let_go(setting.aside)
        finally:
            kept_aside.put_back(setting.aside)
        if result.exit_code != 0:
            return _failed(project, result, log)
        if ecosystem.wants_folder:
            fresh.finish()
    return Install(
        True,
        f"{ecosystem.name} installed what {ecosystem.marker} asks for",
        _later(project, fresh),
    )


def _run(
    words: tuple[str, ...], project: Project, folder: Path, setting: _Setting, log: Path
) -> ProcessResult:
    ecosystem = project.ecosystem
    argv = [*words, *ecosystem.argv[1:]]
    if ecosystem.tool == PIP_INSTALL:
        argv = [*words, "--target", str(folder), *requirements(project.folder, ecosystem.marker, folder)]
    return run_process(
        argv,
        cwd=project.folder,
        environment={**setting.environment, **PIP_SETTINGS, **_filled(ecosystem.lasting, folder)},
        mark=setting.mark,
        stdout=log,
        timeout=INSTALL_TIMEOUT,
        redact=setting.redact,
    )


def _later(project: Project, fresh: Fresh) -> dict[str, str]:
    """Environments bring their own interpreter, so PATH is enough; a bare folder needs to be shown to it."""
    if not fresh.finished:
        return {}
    lasting = _filled(project.ecosystem.lasting, fresh.path)
    if project.ecosystem.tool == PIP_INSTALL:
        return {**lasting, "PYTHONPATH": str(fresh.path), "PATH": str(fresh.path / "bin")}
    programs = next(iter(sorted(fresh.path.glob("*/bin/python"))), None)
    return {**lasting, "PATH": str(programs.parent)} if programs else lasting


def _filled(variables: Mapping[str, str], folder: Path) -> dict[str, str]:
    return {name: value.replace(FOLDER, str(folder)) for name, value in variables.items()}


def _failed(project: Project, result: ProcessResult, log: Path) -> Install:
    ecosystem, text = project.ecosystem, log.read_text(encoding="utf-8", errors="replace")
    if is_unreachable(text):
        raise InstallUnavailable(f"{ecosystem.name} could not reach its registry; see {log}")
    wrong = wrong_dependencies(text)
    lines = [line for line in text.splitlines() if line.strip()]
    reason = "; ".join(wrong) or (lines[-1].strip() if lines else f"exit code {result.exit_code}")
    if result.timed_out:
        reason = f"it did not finish within {INSTALL_TIMEOUT:g} s"
    explanation = (
        f"{ecosystem.name} could not install what {ecosystem.marker} asks for: {reason[:REASON_CHARS]}"
    )
    return Install(False, explanation, wrong=wrong)
