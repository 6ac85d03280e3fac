"""Tests before and after. An existing test may be moved, renamed, split, merged, parametrised, extended or
reformatted; it may not say less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping

from buildloop.workspace.integrity.files import is_collected
from buildloop.workspace.integrity.model import Assertion, Objection, Role, Tests, Unit
from buildloop.workspace.integrity.pool import Pool, pool_of
from buildloop.workspace.integrity.readers import MODULE
from buildloop.workspace.integrity.stand_ins import new_patches, new_support, stand_ins

PATHLIKE = ("/", ".", ":", "\\")


def compare_tests(before: Tests, after: Tests, renamed: Mapping[str, str]) -> list[Objection]:
    """`renamed` leads from a file's old name to its new one."""
    there = after.by_key()
    pairs = [(unit, _counterpart(unit, there, renamed)) for unit in before.units]
    pool = pool_of(pairs, after, after.local_functions - before.local_functions)
    taken = {(new.file, new.name) for _, new in pairs if new is not None}
    found: list[Objection] = []
    for old, new in pairs:
        if new is not None and old.role is Role.TEST:
            found += _compare_test(old, new, pool)
        elif new is not None:
            found += _compare_support(old, new, pool)
        elif old.role is Role.TEST:
            found += _gone(old, pool, after, taken)
    return (
        found
        + new_patches(pairs)
        + new_support(pairs, after)
        + _focused(before, after)
        + stand_ins(pairs, before, after)
    )


def _counterpart(
    unit: Unit, there: Mapping[tuple[str, str], Unit], renamed: Mapping[str, str]
) -> Unit | None:
    found = there.get((renamed.get(unit.file, unit.file), unit.name))
    if found is None or unit.role is not Role.TEST:
        return found
    if found.role is not Role.TEST:
        return None
    return found if is_collected(found.file) or not is_collected(unit.file) else None


def _compare_test(old: Unit, new: Unit, pool: Pool) -> list[Objection]:
    if stopping := new.marks - old.marks:
        what = ", ".join(sorted(stopping))
        return [
            Objection(
                "skipped", new.file, f"the test {new.name} in {new.file} no longer decides anything ({what})"
            )
        ]
    found = _lost_demands(old, new, pool)
    if not found:
        found = _lost_literals(old, new, pool)
    return found


def _compare_support(old: Unit, new: Unit, pool: Pool) -> list[Objection]:
    found = [
        Objection("skipped", new.file, f"{_called(new)} in {new.file} now keeps tests from running ({what})")
        for what in sorted(new.marks - old.marks)
    ]
    found += _lost_demands(old, new, pool)
    if not found and (old.role is Role.SETUP or old.name == MODULE or not old.assertions):
        found += _lost_literals(old, new, pool)
        kept = [one for one in new.literals if one in set(old.literals)]
        if (
            not found
            and old.name != MODULE
            and Counter(kept) == Counter(old.literals)
            and kept != list(old.literals)
        ):
            found.append(
                Objection("values", new.file, f"{_called(new)} in {new.file} gives the tests other data")
            )
    return found


def _lost_demands(old: Unit, new: Unit, pool: Pool) -> list[Objection]:
    left = Counter(a.exact for a in new.assertions if not a.empty and not a.conditional)
    left += Counter(a.exact for a in new.assertions if not a.empty and a.conditional)
    sure = Counter(a.exact for a in new.assertions if not a.empty and not a.conditional)
    found = []
    for demand in (one for one in old.assertions if not one.empty and one.kind != "call"):
        if sure[demand.exact] > 0 or (demand.conditional and left[demand.exact] > 0):
            sure[demand.exact] -= 1
            left[demand.exact] -= 1
        elif not pool.take(demand, frozenset(new.literals)):
            found.append(Objection("weakened", new.file, _how(demand, old, new)))
    return found


def _how(lost: Assertion, old: Unit, new: Unit) -> str:
    where = f"the test {new.name} in {new.file}" if old.role is Role.TEST else f"{_called(new)} in {new.file}"
    if any(a.exact == lost.exact for a in new.assertions):
        return f"{where} no longer always checks: {lost.line}"
    known = {a.exact for a in old.assertions}
    instead = [
        a for a in new.assertions if a.exact not in known and (a.roots & lost.roots or a.kind == lost.kind)
    ]
    if instead:
        return f"{where} demanded: {lost.line} — and now: {instead[0].line}"
    return f"{where} no longer demands: {lost.line}"


def _lost_literals(old: Unit, new: Unit, pool: Pool) -> list[Objection]:
    """Values that a test or fixture works with: what it gives the code decides as much as what it expects."""
    lost = Counter(old.literals) - Counter(new.literals)
    if {one.exact for one in old.assertions} - {one.exact for one in new.assertions}:
        # Rewritten: how often a value is spelled out follows the form; that it is used does not.
        lost = Counter(set(lost) - set(new.literals))
    gone = []
    for value, times in lost.items():
        if old.role is not Role.TEST and (value in new.literals or pool.literals[value] > 0):
            continue
        if value in pool.shared:
            continue
        covered = min(times, pool.literals[value])
        pool.literals[value] -= covered
        if times > covered and not (old.role is not Role.TEST and _like_a_path(value)):
            gone.append(value)
    if not gone:
        return []
    shown = ", ".join(sorted(gone)[:5])
    what = f"the test {new.name}" if old.role is Role.TEST else _called(new)
    return [
        Objection(
            "values", new.file, f"{what} in {new.file} no longer uses the values it was written with: {shown}"
        )
    ]


def _like_a_path(value: str) -> bool:
    return value[:1] in "'\"`" and any(char in value for char in PATHLIKE)


def _gone(old: Unit, pool: Pool, after: Tests, taken: Collection[tuple[str, str]]) -> list[Objection]:
    """Moved, renamed, split or merged is fine: then everything it demanded is demanded somewhere else. One that has its
    name in another file is not gone; what it says there is compared as if it had stayed. `taken` are those that
    another test of the start has become.
    """
    short = old.name.rpartition(".")[2]
    moved = [
        u
        for u in after.units
        if u.name.rpartition(".")[2] == short and u.role is Role.TEST and is_collected(u.file)
    ]
    demands = [one for one in old.assertions if not one.empty and one.kind != "call"]
    if demands and all(pool.take(one) for one in demands):
        return []
    if not demands and (moved or _same_calls(old, after)):
        return []
    skipped = next((u for u in moved if u.marks - old.marks), None)
    arrived = skipped or next((u for u in moved if (u.file, u.name) not in taken and _says(u)), None)
    if arrived is not None:
        return _compare_test(old, arrived, pool)
    return [
        Objection(
            "gone", old.file, f"the test {old.name} of {old.file} is gone, and no other test demands the same"
        )
    ]


def _says(unit: Unit) -> bool:
    return any(not one.empty for one in unit.assertions)


def _same_calls(old: Unit, after: Tests) -> bool:
    """A test without assertions (it only must not raise) is known by what it calls."""
    return any(
        u.role is Role.TEST and is_collected(u.file) and u.calls and u.calls >= old.calls for u in after.units
    )


def _focused(before: Tests, after: Tests) -> list[Objection]:
    """A focused test switches off all others, so it counts in new tests too."""
    known = {(unit.file, mark) for unit in before.units for mark in unit.marks}
    focus = (
        "fit",
        "fdescribe",
        "ftest",
        "fcontext",
        ".only",
        "only: true",
        ":focus",
        "focus: true",
        "fspecify",
    )
    return [
        Objection(
            "focused",
            unit.file,
            f"{unit.name} in {unit.file} is focused ({mark}): the other tests do not run",
        )
        for unit in after.units
        for mark in unit.marks
        if mark in focus and (unit.file, mark) not in known
    ]


def _called(unit: Unit) -> str:
    return "the file's own code" if unit.name == MODULE else unit.name
