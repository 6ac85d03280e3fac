"""Names that the product gave up for others, as its tests show: the old tests can then run under the new names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath

from buildloop.workspace.integrity.files import is_test
from buildloop.workspace.integrity.model import Change

TOKEN = re.compile(r"\w+|[^\w\s]")
NAME = re.compile(r"[A-Za-z_]\w+")
NO_PRODUCT = re.compile(r"(?:^|/)(?:GNUm|[mM])akefile$|\.(?:mk|json|toml|ya?ml|ini|cfg|lock|md)$")
# Beyond this a comparison token by token takes longer than the tests.
MOST_TOKENS = 20_000


def renames(changes: Sequence[Change], gate: Collection[str] = ()) -> dict[str, str]:
    """Old spelling to new: files that moved, and identifiers that the product no longer has and its tests replaced by
    one it did not have before. What is only said in files of the gate was not renamed in the product."""
    return moved_files(changes) | _identifiers(changes, gate)


def renamed(text: str, names: Mapping[str, str]) -> str:
    for old in sorted(names, key=len, reverse=True):
        text = names[old].join(re.split(rf"(?<!\w){re.escape(old)}(?!\w)", text))
    return text


def moved_files(changes: Sequence[Change]) -> dict[str, str]:
    found = {}
    for change in changes:
        if change.status == "R" and not is_test(change.old_name):
            old, new = PurePosixPath(change.old_name), PurePosixPath(change.name)
            found[old.as_posix()] = new.as_posix()
            if len(old.parts) > 1 and old.suffix:
                found[old.with_suffix("").as_posix()] = new.with_suffix("").as_posix()
                found[".".join(old.with_suffix("").parts)] = ".".join(new.with_suffix("").parts)
    return found


def moved_folders(changes: Sequence[Change], start: Sequence[str]) -> dict[str, str]:
    """Folders that have another name now: none of their files (`start` has all of that time) is left in them, and all
    that moved went to the same place."""
    places: dict[str, set[str]] = {}
    for change in changes:
        if change.status == "R":
            old, new = PurePosixPath(change.old_name).parent, PurePosixPath(change.name).parent
            while old.name == new.name and old.name:
                old, new = old.parent, new.parent
            if old != new and old.name and new.name:
                places.setdefault(old.as_posix(), set()).add(new.as_posix())
    left = {change.old_name for change in changes if change.status in "DR"}
    there = {*start} - left | {change.name for change in changes if change.status != "D"}
    return {
        old: min(new)
        for old, new in places.items()
        if len(new) == 1 and not any(name.startswith(f"{old}/") for name in there)
    }


def _identifiers(changes: Sequence[Change], gate: Collection[str]) -> dict[str, str]:
    side = [c for c in changes if is_test(c.name) or c.old_name in gate or c.name.endswith(".rs")]
    product = [
        change
        for change in changes
        if (change not in side or change.name.endswith(".rs")) and not NO_PRODUCT.search(change.name)
    ]
    before = {word for change in product for word in NAME.findall(_code(change.name, change.before))}
    after = {word for change in product for word in NAME.findall(_code(change.name, change.after))}
    seen: dict[str, set[str]] = {}
    for change in side:
        for old, new in _replaced(change.before or "", change.after or ""):
            seen.setdefault(old, set()).add(new)
    return {
        old: new
        for old, all_new in seen.items()
        for new in all_new
        if len(all_new) == 1 and old in before - after and new in after - before
    }


def _code(name: str, text: str | None) -> str:
    """Of a Rust file only what is not test; its tests are in the same file."""
    return (text or "").partition("#[cfg(test)]")[0] if name.endswith(".rs") else text or ""


def _replaced(before: str, after: str) -> list[tuple[str, str]]:
    old, new = TOKEN.findall(before), TOKEN.findall(after)
    if old == new or max(len(old), len(new)) > MOST_TOKENS:
        return []
    found = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "replace" and b - a == d - c:
            found += [
                (x, y)
                for x, y in zip(old[a:b], new[c:d], strict=True)
                if x != y and NAME.fullmatch(x) and NAME.fullmatch(y)
            ]
    return found
