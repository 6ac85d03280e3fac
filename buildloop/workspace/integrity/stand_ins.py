"""Something of the tests' own that steps in front of the code under test, its judge, or the test itself."""

from __future__ import annotations

import re
from collections.abc import Sequence

from buildloop.workspace.integrity.model import Objection, Role, Tests, Unit
from buildloop.workspace.integrity.readers.python import SETUP_NAMES

Pairs = Sequence[tuple[Unit, Unit | None]]
JUDGING = re.compile(r"(?:assert|expect|refute|should)\w*")


def stand_ins(pairs: Pairs, before: Tests, after: Tests) -> list[Objection]:
    """A function under the name of what existing tests ask or judge with, or a class in the place of its parent."""
    tests = [old for old, _ in pairs if old.role is Role.TEST]
    asked = {root for unit in tests for one in unit.assertions for root in one.roots}
    words = [JUDGING.match(one.exact) for unit in tests for one in unit.assertions]
    judging = {word.group() for word in words if word}
    helpers = {one.helper for unit in tests for one in unit.assertions if one.helper}
    moved = {unit.name.rpartition(".")[2] for unit in after.units if unit.assertions} & helpers
    made_up = sorted((after.local_functions - before.local_functions) & ((asked | judging) - moved))
    where = next((unit.file for unit in after.units if unit.role is Role.TEST), "")
    found = [
        Objection("replaced", where, f"the tests now bring their own {name} and test that")
        for name in made_up
    ]
    fresh = sorted(after.derived - before.derived)
    return found + [
        Objection(
            "replaced", new.file, f"{new.name} in {new.file} now uses its own {child} in place of {parent}"
        )
        for old, new in pairs
        if new is not None
        for child, parent in fresh
        if child in new.calls - old.calls and parent in old.calls - new.calls
    ]


def new_support(pairs: Pairs, after: Tests) -> list[Objection]:
    """New set-up that skips: it runs before every test of its file, or an existing test asks for it."""
    known = {(new.file, new.name) for _, new in pairs if new is not None}
    existing = [new for old, new in pairs if new is not None and old.role is Role.TEST]
    found = []
    for unit in after.units:
        patched = {target for target in unit.patches if _is_own_code(target)}
        if unit.role is Role.TEST or not (unit.marks or patched) or (unit.file, unit.name) in known:
            continue
        name = unit.name.rpartition(".")[2]
        automatic = name in SETUP_NAMES and any(test.file == unit.file for test in existing)
        if automatic or any(name in test.calls for test in existing):
            what = ", ".join(sorted({*unit.marks, *patched}))
            found.append(
                Objection(
                    "skipped",
                    unit.file,
                    f"{unit.name} in {unit.file} keeps existing tests from deciding ({what})",
                )
            )
    return found


def new_patches(pairs: Pairs) -> list[Objection]:
    """The code under test replaced in a test or fixture that existed before, or for the whole file."""
    return [
        Objection("replaced", new.file, f"{new.name} in {new.file} now replaces {target} by something else")
        for old, new in pairs
        if new is not None and len(new.patches) > len(old.patches)
        for target in sorted(new.patches - old.patches)
        if _is_own_code(target)
    ]


def _is_own_code(target: str) -> bool:
    """Clocks, randomness, the environment and the network may be replaced; nothing else of the code under test."""
    bare = target.strip("'\"`")
    outside = (
        "time.",
        "datetime.",
        "random.",
        "os.",
        "sys.std",
        "socket.",
        "requests.",
        "httpx.",
        "uuid.",
        "logging.",
        "secrets.",
    )
    return not bare.startswith(outside) and not bare.startswith(
        ("os.environ", "Date", "Math", "console", "global", "window", "fs", "axios")
    )
