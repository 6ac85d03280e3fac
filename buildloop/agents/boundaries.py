"""Where a confined agent may write: its workspace, its own state, and what belongs to nobody in particular."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from buildloop.agents import confine
from buildloop.agents.contract import AgentCall
from buildloop.choices import SandboxKind
from buildloop.models import Permissions

COMMON = (
    "/tmp", "/var/tmp", "/run/lock", "/proc", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom",  # noqa: S108
    "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm",  # noqa: S108 (everybody's folders by intent)
)  # fmt: skip
# What package managers and compilers keep for all projects; a test run without them would fail or start from zero.
CACHES_AT_HOME = (
    ".cache", ".npm", ".yarn", ".pnpm-store", ".local/share/pnpm", ".bun", ".deno", ".node-gyp", ".cargo", ".rustup",
    "go", ".m2", ".gradle", ".ivy2", ".sbt", ".konan", ".nuget", ".dotnet", ".gem", ".bundle", ".composer", ".mix",
    ".hex", ".pub-cache", ".conan2", ".ccache", ".stack", ".cabal", ".opam", ".julia", ".local/share/uv",
    "Library/Caches",
)  # fmt: skip
CACHE_VARIABLES = (
    "XDG_CACHE_HOME", "NPM_CONFIG_CACHE", "CARGO_HOME", "CARGO_TARGET_DIR", "RUSTUP_HOME", "GOPATH", "GOCACHE",
    "GOMODCACHE", "GRADLE_USER_HOME", "UV_CACHE_DIR", "PIP_CACHE_DIR", "CCACHE_DIR",
)  # fmt: skip
SCRIPT = Path(confine.__file__)


def confines(call: AgentCall) -> bool:
    """A sandbox the user asked for keeps the agent by itself, and what we need may not be inside of it."""
    limited = call.permissions is not Permissions.FULL
    return limited and call.sandbox.kind is SandboxKind.NONE and confine.can_confine()


def confined(argv: Sequence[str], call: AgentCall, home: Path, lent: Sequence[Path] = ()) -> list[str]:
    """`argv`, kept from writing outside, unless the user gave full permissions or the system cannot.

    `lent` are log-in files of the user's: a log-in that is renewed must reach the user, the old one is void then.
    """
    if not confines(call):
        return list(argv)
    folders = [*writable_folders(call, home), *(file.resolve() for file in lent)]
    return [sys.executable, "-I", "-S", str(SCRIPT), *map(str, folders), "--", *argv]


def writable_folders(call: AgentCall, home: Path) -> list[Path]:
    own = [call.workdir, home, *call.writable, Path(tempfile.gettempdir())]
    return own + [Path(name) for name in COMMON] + _caches(call.environment)


def _caches(environment: Mapping[str, str]) -> list[Path]:
    named = [Path(environment[name]) for name in CACHE_VARIABLES if environment.get(name)]
    user = environment.get("HOME")
    at_home = [Path(user) / name for name in CACHES_AT_HOME] if user else []
    return [folder for folder in (*named, *at_home) if folder.is_dir()]
