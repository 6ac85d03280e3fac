"""Missing modules: which one, and whether it is the project's own."""

from __future__ import annotations

import re
from collections.abc import Iterable

from buildloop.patterns import Regex

NAMED: tuple[Regex, ...] = tuple(
    Regex(pattern)
    for pattern in (
        r"No module named '?\"?(?P<name>[\w.]+)",
        r"[Cc]annot find (?:module|package) '(?P<name>[^']+)'",
        r"Can't resolve '(?P<name>[^']+)'",
        r"Failed to load url (?P<name>\S+)",
        r"Failed to resolve (?:import|entry for package) \"(?P<name>[^\"]+)\"",
        r"Could not resolve [\"'](?P<name>[^\"']+)[\"']",
        r"module named \"(?P<name>[\w.]+)\"",
        r"unresolved (?:import|module or unlinked crate) `(?P<name>[\w:]+)`",
        r"cannot find (?:module or )?crate `(?P<name>\w+)`",
        r"cannot load such file -- (?P<name>\S+)",
        r"package (?P<name>[\w.]+) does not exist",
        r"no required module provides package (?P<name>[^;\s]+)",
        r"Can't locate (?P<name>\S+) in @INC",
        r"Class \"?(?P<name>[\w\\]+)\"? not found",
        r"file not found for module `(?P<name>\w+)`",
    )
)
RELATIVE = Regex(r"\.{1,2}(?:/|$)|/|~/|[@#]/|crate\b|self\b|super\b|[A-Za-z]:\\")
# Names that projects give to their own modules; hardly ever a package on a registry that one would install.
HOUSEHOLD = frozenset(
    {
        "app",
        "apps",
        "src",
        "lib",
        "libs",
        "utils",
        "util",
        "helpers",
        "helper",
        "config",
        "settings",
        "models",
    }
    | {"model", "common", "core", "tests", "test", "conftest", "main", "server", "client", "api", "views"}
    | {"services", "internal", "pkg", "db", "constants", "types", "schemas", "handlers", "tasks", "fixtures"}
)


def missing_module(text: str) -> str | None:
    """The name of the module that a line says is missing."""
    return next((found["name"] for pattern in NAMED if (found := pattern.search(text[:2000]))), None)


def is_own_module(name: str, places: Iterable[str] = ()) -> bool:
    """Relative, a part of a package that is there, a household name, or a directory of the failing files.

    Python says `No module named 'a.b'` only when `a` exists: it is `a` that lacks a part.
    """
    if RELATIVE.match(name):
        return True
    if "::" in name:
        return name.split("::", maxsplit=1)[0] in ("crate", "self", "super")
    top = re.split(r"[./:\\]", name)[0].lower()
    if top in HOUSEHOLD:
        return True
    parts = {part.lower() for place in places for part in re.split(r"[/\\]", place)}
    if "." in name and "/" not in name:
        second = name.split(".")[1].lower()
        generic = top in ("com", "org", "net", "io", "dev")
        return (second in parts and top in parts) if generic else top in parts
    return top in parts
