"""Installs without a network: packages of the test's own, and what a later gate sees of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from buildloop.environment import child_environment
from buildloop.recovery.install import Install, install_dependencies
from tests.support.rerunnable.project import HOME

OFFLINE = {
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_NO_INDEX": "1",
    "UV_OFFLINE": "1",
    "npm_config_offline": "true",
    "CARGO_NET_OFFLINE": "true",
    "GOFLAGS": "-mod=mod",
    "GOPROXY": "off",
}


def put(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def wheel(folder: Path, name: str, version: str = "1.0", requires: str = "") -> None:
    """The smallest wheel: one module that knows its version."""
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{name}.py", f"VERSION = {version!r}\n")
        archive.writestr(
            f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}"
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(
            f"{info}/entry_points.txt", f"[console_scripts]\n{name}-tool = {name}:VERSION.strip\n"
        )
        archive.writestr(f"{info}/RECORD", "")


def environment(work: Path, **extra: str) -> dict[str, str]:
    toolchain = {"RUSTUP_HOME": str(HOME / ".rustup")}
    return {**toolchain, **child_environment(os.environ, work, {}), **OFFLINE, **extra}


def install(work: Path, environment: dict[str, str]) -> Install:
    run_dir = work.parent / "run"
    return install_dependencies(
        work, run_dir, run_dir / "install.log", environment, "test-mark", lambda text: text
    )


def gate(command: str, work: Path, done: Install) -> subprocess.CompletedProcess[str]:
    """What a later gate sees."""
    seen = child_environment(os.environ, work, done.environment)
    return subprocess.run(
        ["/bin/sh", "-c", command], cwd=work, env={**seen, **OFFLINE}, capture_output=True, text=True
    )


def needs(tool: str) -> str:
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"{tool} is not installed here")
    return found
