"""The package managers: which file says that a project uses one, and how its packages get where they belong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from buildloop.models import Iteration

# Filled in when the command is made: the install's own folder, and the pip that fits the gate's interpreter.
FOLDER = "{folder}"
PIP_INSTALL = "{pip install}"
# Files that say what to install although no row goes by them.
ALSO_DECLARES = (
    "requirements*.txt",
    "constraints*.txt",
    "*.lock",
    "*-lock.json",
    "*-lock.yaml",
    "go.sum",
    "setup.cfg",
)


@dataclass(frozen=True, slots=True)
class Ecosystem:
    """Of each `family` the first row whose `marker` is there (and holds the text `contains`) is used.

    What it `produces` inside the workspace is kept aside meanwhile. What would land in the user's own environment
    goes into a folder of the run instead; `lasting` variables show it to the later gates.
    """

    family: str
    name: str
    marker: str
    argv: tuple[str, ...]
    contains: str = ""
    produces: tuple[str, ...] = ()
    lasting: Mapping[str, str] = field(default_factory=dict)

    @property
    def tool(self) -> str:
        return self.argv[0]

    @property
    def wants_folder(self) -> bool:
        return self.tool == PIP_INSTALL or any(FOLDER in value for value in self.lasting.values())

    def is_used_in(self, folder: Path) -> bool:
        found = [path for path in folder.glob(self.marker) if path.is_file()]
        if not self.contains:
            return bool(found)
        return any(self.contains in path.read_text(encoding="utf-8", errors="replace") for path in found)


@dataclass(frozen=True, slots=True)
class Project:
    ecosystem: Ecosystem
    folder: Path


def _npm(marker: str, *argv: str) -> Ecosystem:
    options = ("--no-audit", "--no-fund", "--loglevel=error")
    return Ecosystem("node", "npm", marker, ("npm", *argv, *options), produces=("node_modules",))


def _pip(marker: str, contains: str = "") -> Ecosystem:
    return Ecosystem("python", "pip", marker, (PIP_INSTALL,), contains)


POETRY_ENVIRONMENT = {
    "POETRY_VIRTUALENVS_PATH": FOLDER,
    "POETRY_VIRTUALENVS_CREATE": "true",
    "POETRY_VIRTUALENVS_IN_PROJECT": "false",
    "VIRTUAL_ENV": "",  # poetry would install into the environment that is active
}
PNP = (".pnp.cjs", ".pnp.loader.mjs", ".yarn/install-state.gz")

# Lock files before manifests: the locked install is the reproducible one.
ECOSYSTEMS: tuple[Ecosystem, ...] = (
    Ecosystem(
        "node",
        "pnpm",
        "pnpm-lock.yaml",
        ("pnpm", "install", "--frozen-lockfile", "--reporter=append-only"),
        produces=("node_modules",),
    ),
    Ecosystem(
        "node", "yarn", "yarn.lock", ("yarn", "install", "--immutable"), "__metadata:", ("node_modules", *PNP)
    ),
    Ecosystem(
        "node",
        "yarn",
        "yarn.lock",
        ("yarn", "install", "--frozen-lockfile", "--non-interactive"),
        produces=("node_modules",),
    ),
    _npm("package-lock.json", "ci"),
    _npm("npm-shrinkwrap.json", "ci"),
    _npm("package.json", "install", "--no-save", "--no-package-lock"),
    Ecosystem(
        "python",
        "uv",
        "uv.lock",
        ("uv", "sync", "--frozen", "--no-install-project", "--no-progress"),
        lasting={"UV_PROJECT_ENVIRONMENT": f"{FOLDER}/env"},
    ),
    Ecosystem(
        "python",
        "poetry",
        "poetry.lock",
        ("poetry", "install", "--no-root", "--no-interaction", "--no-ansi"),
        lasting=POETRY_ENVIRONMENT,
    ),
    _pip("requirements.txt"),
    _pip("pyproject.toml", "[project]"),
    _pip("setup.py"),
    Ecosystem("rust", "cargo", "Cargo.lock", ("cargo", "fetch", "--locked")),
    Ecosystem("rust", "cargo", "Cargo.toml", ("cargo", "fetch")),
    Ecosystem("go", "go", "go.mod", ("go", "mod", "download")),
    Ecosystem("ruby", "bundler", "Gemfile", ("bundle", "install"), lasting={"BUNDLE_PATH": FOLDER}),
    Ecosystem("java", "maven", "pom.xml", ("mvn", "-q", "-B", "dependency:resolve")),
    Ecosystem(
        "php",
        "composer",
        "composer.json",
        ("composer", "install", "--no-interaction", "--no-progress"),
        produces=("vendor",),
    ),
    Ecosystem("dotnet", "dotnet", "*.sln", ("dotnet", "restore")),
    Ecosystem("dotnet", "dotnet", "*.[cfv][sb]proj", ("dotnet", "restore")),
)


def projects_in(workdir: Path, root: Path | None = None) -> list[Project]:
    """One project a family: in the folder the gate works in, or the nearest one above it up to the workspace's `root`
    (without one: to that of the repository around it). Where there is none at all, those of the folders directly below.

    An agent can put a link in a folder's place, and an install runs outside of the sandbox: what lies behind a link is
    not looked at.
    """
    root = root or _repository_around(workdir)
    nearest: dict[str, Project] = {}
    for folder in (workdir, *workdir.parents):
        if folder.is_relative_to(root) and _really_below(folder, root):
            for project in _in_folder(folder):
                nearest.setdefault(project.ecosystem.family, project)
    if nearest or not _really_below(workdir, root):
        return list(nearest.values())
    below = sorted(path for path in workdir.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [project for folder in below if _really_below(folder, root) for project in _in_folder(folder)]


def _in_folder(folder: Path) -> Iterator[Project]:
    seen: set[str] = set()
    for ecosystem in ECOSYSTEMS:
        if ecosystem.family not in seen and ecosystem.is_used_in(folder):
            seen.add(ecosystem.family)
            yield Project(ecosystem, folder)


def _repository_around(workdir: Path) -> Path:
    """Nothing outside of the repository is ours; without one, only the folder itself is."""
    chain = (workdir, *workdir.parents)
    return next((folder for folder in chain if (folder / ".git").exists()), workdir)


def _really_below(folder: Path, root: Path) -> bool:
    return folder.resolve() == root.resolve() / folder.relative_to(root)


def declares_anew(iteration: Iteration) -> bool:
    """Whether the agent changed what an install goes by, so that one which did not help before may help now."""
    files = iteration.agent.checkpoint.files if iteration.agent else ()
    patterns = (*(one.marker for one in ECOSYSTEMS), *ALSO_DECLARES)
    return any(fnmatch(PurePosixPath(file).name, pattern) for file in files for pattern in patterns)
