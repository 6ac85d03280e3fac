"""What the gate's commands run besides the tests: scripts, make targets, package scripts, and what those call."""

from __future__ import annotations

import itertools
import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from buildloop.workspace.integrity.makefiles import (
    INCLUDED,
    MAKEFILES,
    Makefile,
    reached,
    read_makefile,
)

Read = Callable[[str], str | None]

INTERPRETERS = frozenset(
    "sh bash dash zsh ksh python python3 node ruby perl php deno bun tsx ts-node".split()
)
PREFIXES = frozenset(
    "env time exec nice sudo command if then else elif do while until ! { ( timeout xvfb-run poetry uv pipenv run bundle hatch pdm".split()
)
SCRIPT_RUNNERS = frozenset("npm pnpm yarn bun".split())
RUNNER_FILES = {
    "nox": ("noxfile.py",), "just": ("justfile", "Justfile", ".justfile"), "rake": ("Rakefile",),
    "task": ("Taskfile.yml", "Taskfile.yaml"), "invoke": ("tasks.py",), "tox": ("tox.ini",), "earthly": ("Earthfile",),
}  # fmt: skip
SPLIT = re.compile(r"&&|\|\||[;\n&]|\|")
INFRASTRUCTURE = re.compile(
    r"(?:^|/)(?:\.?ci|scripts?|tools?|build|hack|tests?|qa|\.github|make|mk|dev|etc|spec|e2e|\.circleci|bin/ci)/"
    r"|(?:^|/)[^/]*(?:test|check|verify|lint|unit|smoke|assert|expect|validate|gate|spec|compare|diff|golden|harness|^ci)[^/]*$",
    re.I,
)
OWN_FOLDER = re.compile(
    r"\$\(\s*dirname\s+(?:--\s+)?\"?\$\{?(?:0|BASH_SOURCE(?:\[0\])?)\}?\"?\s*\)|\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}"
)
MOST_FILES = 200


@dataclass(slots=True)
class Gate:
    """Everything the commands reach at the start: script files, make targets by folder, package scripts by folder."""

    scripts: set[str] = field(default_factory=set)
    sourced: set[str] = field(default_factory=set)
    targets: dict[str, list[str]] = field(default_factory=dict)
    packages: dict[str, set[str]] = field(default_factory=dict)
    programs: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)


def gate_of(commands: Sequence[str], inside: str, read: Read) -> Gate:
    gate = Gate()
    queue = [(command, "" if inside == "." else inside, True) for command in commands]
    seen: set[tuple[str, str]] = set()
    while queue and len(seen) < MOST_FILES:
        text, folder, named = queue.pop(0)
        if (text, folder) not in seen:
            seen.add((text, folder))
            queue += _follow(text, folder, named, gate, read)
    return gate


def _follow(text: str, folder: str, named: bool, gate: Gate, read: Read) -> Iterator[tuple[str, str, bool]]:
    for words in _simple_commands(text):
        if words[0] == "cd" and len(words) > 1:
            folder = joined(folder, words[1])
            continue
        program = posixpath.basename(words[0])
        gate.programs.add(program)
        gate.words |= {posixpath.basename(word) for word in words}
        if program in ("make", "gmake"):
            yield from _make(words, folder, gate, read)
        elif program in SCRIPT_RUNNERS:
            yield from _package(words, folder, gate, read)
        for name in (joined(folder, one) for one in RUNNER_FILES.get(program, ())):
            if read(name) is not None:
                gate.scripts.add(name)
        script = _script(words, folder, read)
        if (
            script
            and script not in gate.scripts
            and (named or words[0] in (".", "source") or INFRASTRUCTURE.search(script))
        ):
            gate.scripts.add(script)
            if not named and words[0] in (".", "source"):
                gate.sourced.add(script)
            content = OWN_FOLDER.sub(posixpath.dirname(script) or ".", read(script) or "")
            if is_shell_script(script, content):
                yield content, folder, False


def _simple_commands(text: str) -> Iterator[list[str]]:
    """The commands whose exit code counts; what stands in `$(…)` or feeds a pipe is only looked at."""
    text = re.sub(r"\\\n", " ", text)
    bare = re.sub(r"\$\([^()]*(?:\([^()]*\)[^()]*)*\)|`[^`]*`", "SUBSTITUTED", text)
    bare = re.sub(r"[^|\n;&]*\|(?!\|)", "", bare)
    for part in SPLIT.split(bare):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            words = part.split()
        words = [word.lstrip("@-+") if i == 0 else word for i, word in enumerate(words)]
        while words and (
            words[0] in PREFIXES or re.match(r"\w+=", words[0]) or words[0].startswith("-") or not words[0]
        ):
            words = words[1:]
        if words:
            yield words


def _script(words: Sequence[str], folder: str, read: Read) -> str | None:
    candidates = [words[0]]
    if (
        words[0] in (".", "source")
        or re.fullmatch(r"(?:.*/)?(?:python|node|ruby|perl|php)[\d.]*", words[0])
        or posixpath.basename(words[0]) in INTERPRETERS
    ):
        rest = [word for word in words[1:] if not word.startswith("-")]
        if "-m" in words[:-1]:
            module = words[words.index("-m") + 1].replace(".", "/")
            rest = [f"{module}.py", f"{module}/__main__.py"]
        candidates = rest[: 2 if "-m" in words else 1]
    names = [joined(folder, candidate) for candidate in candidates]
    return next((name for name in names if read(name) is not None), None)


def is_shell_script(name: str, content: str) -> bool:
    return (
        name.endswith((".sh", ".bash"))
        or bool(re.match(r"#!.*\b(?:ba|da|z|k)?sh\b", content))
        or "." not in posixpath.basename(name)
    )


def _make(words: Sequence[str], folder: str, gate: Gate, read: Read) -> Iterator[tuple[str, str, bool]]:
    targets = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    for flag, value in itertools.pairwise(words):
        if flag in ("-C", "-f", "-j"):
            targets = [one for one in targets if one != value]
            folder = joined(folder, value) if flag == "-C" else folder
    gate.targets.setdefault(folder, []).extend(targets)
    make = makefile_in(folder, read)
    for target in reached(make, targets):
        for line in make.recipes.get(target, []):
            yield _expanded(line, make), folder, False


def makefile_in(folder: str, read: Read) -> Makefile:
    """The Makefile that make would take here, with what it includes."""
    for name in MAKEFILES:
        text = read(joined(folder, name))
        if text is not None:
            return read_makefile(_with_includes(text, folder, read))
    return Makefile()


def _with_includes(text: str, folder: str, read: Read, depth: int = 3) -> str:
    """As make reads it: what is included stands where it is included."""
    lines = []
    for line in text.splitlines():
        lines.append(line)
        if depth and (included := INCLUDED.match(line)):
            texts = (read(joined(folder, name)) or "" for name in included["files"].split())
            lines += [_with_includes(one, folder, read, depth - 1) for one in texts]
    return "\n".join(lines)


def _expanded(line: str, make: Makefile) -> str:
    return re.sub(r"\$[({](\w+)[)}]", lambda use: make.variables.get(use[1], use[0]), line)


def _package(words: Sequence[str], folder: str, gate: Gate, read: Read) -> Iterator[tuple[str, str, bool]]:
    rest = [
        word for word in words[1:] if not word.startswith("-") and word not in ("run", "run-script", "exec")
    ]
    if not rest:
        return
    script = "test" if rest[0] == "t" else rest[0]
    gate.packages.setdefault(folder, set()).add(script)
    for text in package_scripts(read(joined(folder, "package.json")), script):
        yield text, folder, False


def package_scripts(package: str | None, name: str) -> list[str]:
    try:
        scripts = json.loads(package or "{}").get("scripts", {})
        return [str(scripts[key]) for key in (f"pre{name}", name, f"post{name}") if key in scripts]
    except (ValueError, AttributeError):
        return []


def joined(folder: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(folder, name.strip("\"'")))
