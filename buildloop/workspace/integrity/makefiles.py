"""Makefiles, compared by what the wanted targets do: their recipes, prerequisites and the variables they use."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from buildloop.workspace.integrity.option_lines import HARMLESS_OPTIONS, SPEAKING_OPTIONS

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
RULE = re.compile(
    r"^(?P<targets>[^\t:=#][^:=#]*?)\s*::?(?!=)\s*(?P<needs>[^=;#|]*)(?:\|[^;#]*)?(?:;(?P<inline>.*))?$"
)
ASSIGNED = re.compile(r"^(?:export\s+|override\s+)*(?P<name>[\w.]+)\s*(?P<how>[:+?!]{0,3}=)\s*(?P<value>.*)$")
CONDITION = re.compile(r"(?:ifdef|ifndef|ifeq|ifneq|else)\b")
INCLUDED = re.compile(r"^[-s]?include\s+(?P<files>.+)$")
USED = re.compile(r"\$[({](?P<name>[\w.]+)[:)} ]|\$(?P<one>\w)")
GLOBAL_VARIABLES = (
    "SHELL",
    ".SHELLFLAGS",
    "MAKEFLAGS",
    ".RECIPEPREFIX",
    ".DEFAULT_GOAL",
    "PATH",
    "PYTEST_ADDOPTS",
    "NODE_OPTIONS",
    "GOFLAGS",
    "PYTHONPATH",
)
GLOBAL_TARGETS = (".IGNORE", ".ONESHELL", ".POSIX")


@dataclass(slots=True)
class Makefile:
    needs: dict[str, list[str]] = field(default_factory=dict)
    recipes: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    includes: list[str] = field(default_factory=list)
    order: list[str] = field(default_factory=list)


def read_makefile(text: str) -> Makefile:
    made = Makefile()
    targets: list[str] = []
    again: set[str] = set()  # a later recipe replaces the earlier one
    lines = text.replace("\\\n", " ").splitlines()
    for line, following in itertools.pairwise([*lines, ""]):
        if line.startswith("\t") or (CONDITION.match(line) and following.startswith("\t")):
            for target in targets:
                if target in again:
                    made.recipes[target] = []
                    again.discard(target)
                made.recipes[target].append(" ".join(line.split()))
            continue
        bare = line.split(" #")[0].strip()
        if not bare or bare.startswith("#"):
            continue
        if assigned := ASSIGNED.match(bare):
            old = made.variables.get(assigned["name"], "") if assigned["how"].startswith("+") else ""
            made.variables[assigned["name"]] = f"{old} {assigned['value']}".strip()
        elif included := INCLUDED.match(bare):
            made.includes += included["files"].split()
        elif rule := RULE.match(bare):
            targets = rule["targets"].split()
            again = {target for target in targets if made.recipes.get(target)}
            for target in targets:
                made.needs.setdefault(target, []).extend(rule["needs"].split())
                made.recipes.setdefault(target, [])
                made.order.append(target)
                if rule["inline"]:
                    made.recipes[target].append(" ".join(rule["inline"].split()))
    return made


def reached(make: Makefile, targets: Iterable[str]) -> list[str]:
    """The targets that are made, in the order they are met. Without a name it is the first."""
    queue = list(targets) or [target for target in make.order if not target.startswith(".")][:1]
    found: list[str] = []
    while queue:
        target = queue.pop(0)
        if target in found:
            continue
        found.append(target)
        queue += [need for need in make.needs.get(target, []) if need in make.recipes]
        for line in make.recipes.get(target, []):
            queue += re.findall(r"\$[({]MAKE[)}]\s+(?:-\S+\s+)*([\w.-]+)", line)
    return found


def weakened(before: Makefile, after: Makefile, targets: list[str]) -> list[str]:
    """What the wanted targets no longer do as they did."""
    used = reached(before, targets)
    found = []
    for target in used:
        if target not in after.recipes and target in before.recipes:
            found.append(f"the target '{target}' is gone")
            continue
        if gone := [
            need
            for need in before.needs.get(target, [])
            if need not in after.needs.get(target, []) and need in before.recipes
        ]:
            found.append(f"'{target}' no longer needs {', '.join(gone)}")
        if not extends_lines(before.recipes.get(target, []), after.recipes.get(target, [])):
            found.append(f"what '{target}' does was changed")
    real = [one for one in before.needs.get(".PHONY", []) if one in used and one in after.recipes]
    found += [
        f"'{one}' is no longer made when there is a file of that name"
        for one in real
        if one not in after.needs.get(".PHONY", [])
    ]
    names = {*GLOBAL_VARIABLES, *_variables(before, used)}
    for name in sorted(names):
        old, new = before.variables.get(name), after.variables.get(name)
        if old != new and not (
            old is not None and new is not None and extends(old, new) and name not in GLOBAL_VARIABLES
        ):
            found.append(f"the variable {name} was {'set' if old is None else 'changed'}")
    found += [
        f"{one} was added" for one in GLOBAL_TARGETS if one in after.recipes and one not in before.recipes
    ]
    return found


def _variables(make: Makefile, targets: Iterable[str]) -> set[str]:
    queue = [
        line for target in targets for line in [*make.recipes.get(target, []), *make.needs.get(target, [])]
    ]
    found: set[str] = set()
    while queue:
        for use in USED.finditer(queue.pop()):
            name = use["name"] or use["one"]
            if name in make.variables and name not in found:
                found.add(name)
                queue.append(make.variables[name])
    return found


def extends_lines(before: list[str], after: list[str]) -> bool:
    """Every old line is still there, in order, perhaps with more to look at; new ones neither end nor excuse anything."""
    place = 0
    for old in before:
        while place < len(after) and not extends(old, after[place]):
            if not harmless_line(after[place]):
                return False
            place += 1
        if place == len(after):
            return False
        place += 1
    return all(harmless_line(line) for line in after[place:])


def extends(old: str, new: str) -> bool:
    """The same command, perhaps with more arguments that are no options."""
    first, second = old.split(), new.split()
    if first == second:
        return True
    if first[:1] == second[:1] == ["set"]:
        return _stricter_shell(first[1:], second[1:])
    first = [word for word in first if not SPEAKING_OPTIONS.match(word)]
    if not first or not second or first[0] != second[0]:
        return False
    rest, added = iter(second), []
    for word in first:
        for candidate in rest:
            if candidate == word:
                break
            added.append(candidate)
        else:
            return False
    added += list(rest)
    return all(_only_more(word) for word in added)


def _only_more(word: str) -> bool:
    """Another thing to look at, or an option that changes what is said and never what is run."""
    if word.startswith("-"):
        return bool(HARMLESS_OPTIONS.match(word)) and word not in (
            "--require",
            "-W",
            "-s",
            "--order",
            "--format",
        )
    return bool(re.fullmatch(r"[\w./@%:+][\w./@%:+-]*", word)) and word not in ("true", "exit")


def _stricter_shell(old: list[str], new: list[str]) -> bool:
    """`set -eu` may become `set -euxo pipefail`."""
    letters, more = (
        {char for word in words if word.startswith("-") for char in word} for words in (old, new)
    )
    return letters <= more and not any(word.startswith("+") for word in new)


def harmless_line(line: str) -> bool:
    """Another step of a recipe or script that cannot turn red into green."""
    return not re.search(
        r"^(?:ifn?def|ifn?eq|else)\b|\bexit\b|\|\||;\s*true|\btrap\b|set \+e|\bexport\b|\bPATH=|\balias\b|\bfunction\b|\(\)|\bsed\b|\breturn\b|\bkill\b|\bexec\b|\bgit\b|\bcp\b|\bmv\b|\brm\b|^\s*-",
        line,
    )
