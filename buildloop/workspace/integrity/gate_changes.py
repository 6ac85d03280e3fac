"""What became of the gate's own files: each is compared with the start, first by its text, then by what it does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from buildloop.workspace.integrity.gate_files import (
    Gate,
    Read,
    is_shell_script,
    joined,
    makefile_in,
    package_scripts,
)
from buildloop.workspace.integrity.gate_kept import makefile_narrowed, package_narrowed, script_narrowed
from buildloop.workspace.integrity.makefiles import MAKEFILES, extends, extends_lines, read_makefile, weakened

ONLY_SAYS = re.compile(r"(?:echo|printf)\s[^|&;<>$`]*$")


@dataclass(frozen=True, slots=True)
class GateChange:
    """`narrows` says what the gate demonstrably no longer does; without it only the text is another."""

    file: str
    text: str
    narrows: str | None


def changed_gate(
    gate: Gate, before: Read, after: Read, changed: set[str], tests: set[str], moved: Mapping[str, str]
) -> Iterator[GateChange]:
    """Everything the gate reaches that is not plainly the same or more. `moved` leads from old names to new."""
    for name in sorted(gate.scripts & changed - tests):
        old, new = before(name) or "", after(moved.get(name, name))
        shell = is_shell_script(name, old)
        if new is None:
            yield GateChange(name, f"{name} is part of the gate and was deleted", "it is gone")
        elif name in moved or not (shell and extends_lines(_code(old), _code(new))):
            lost = script_narrowed(old, new, shell=shell)
            yield GateChange(name, f"{name} is part of the gate and was changed", lost)
    for folder, targets in gate.targets.items():
        if any(joined(folder, name) in changed for name in MAKEFILES) or _includes_changed(
            folder, before, after, changed
        ):
            old_make, new_make = makefile_in(folder, before), makefile_in(folder, after)
            lost = makefile_narrowed(old_make, new_make, targets)
            for problem in weakened(old_make, new_make, targets):
                file = _makefile_name(folder, after)
                yield GateChange(file, f"the Makefile is part of the gate: {problem}", lost)
    for folder, scripts in gate.packages.items():
        name = joined(folder, "package.json")
        for script in sorted(scripts) if name in changed else ():
            old_text, new_text = package_scripts(before(name), script), package_scripts(after(name), script)
            kept = len(old_text) == len(new_text) and all(map(extends, old_text, new_text))
            if old_text and not kept:
                told = " && ".join(new_text) or "nothing"
                lost = package_narrowed(
                    partial(package_scripts, before(name)), partial(package_scripts, after(name)), script
                )
                yield GateChange(
                    name, f"'{script}' in {name} is part of the gate and was changed to: {told}", lost
                )


def _makefile_name(folder: str, read: Read) -> str:
    return next(
        (joined(folder, name) for name in MAKEFILES if read(joined(folder, name)) is not None),
        joined(folder, "Makefile"),
    )


def _includes_changed(folder: str, before: Read, after: Read, changed: set[str]) -> bool:
    included: list[str] = []
    for read in (before, after):
        text = read(_makefile_name(folder, read))
        included += read_makefile(text or "").includes
    return any(joined(folder, name) in changed for name in included)


def _code(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in text.replace("\\\n", " ").splitlines())
    return [line for line in lines if line and not line.startswith("#") and not ONLY_SAYS.match(line)]
