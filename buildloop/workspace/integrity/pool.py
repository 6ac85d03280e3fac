"""What new tests say beyond the old ones: here a demand that left its test may turn up again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from buildloop.workspace.integrity.files import is_collected
from buildloop.workspace.integrity.model import Assertion, Role, Tests, Unit
from buildloop.workspace.integrity.readers import MODULE

# A stronger demand may stand in for a weaker one.
STRONGER = {
    "true": frozenset({"Eq", "Is", "isinstance", "In", "Gt", "GtE"}),
    "IsNot": frozenset({"Eq", "Is", "isinstance"}),
    "In": frozenset({"Eq", "raises"}),
    "isinstance": frozenset({"Eq"}),
    "NotEq": frozenset({"Eq"}),
    "approximately": frozenset({"Eq"}),
    "Gt": frozenset({"Eq"}),
    "Lt": frozenset({"Eq"}),
    "GtE": frozenset({"Eq", "Gt"}),
    "LtE": frozenset({"Eq", "Lt"}),
}


@dataclass(slots=True)
class Pool:
    """What the new tests say beyond what the old ones said: a lost demand may turn up here, once."""

    demands: list[tuple[Assertion, Unit]]
    literals: Counter[str]
    shared: frozenset[str]  # values that set-up and tables have for all tests
    local: frozenset[str]
    rows: list[tuple[Unit, frozenset[str]]]
    old_helpers: Mapping[str, Unit]
    new_helpers: Mapping[str, Unit]

    def take(self, lost: Assertion, still: frozenset[str] = frozenset()) -> bool:
        """`still` are values that the test itself has kept. Several small demands may merge into one of all their
        values; a demand without values stands in for one only."""
        for index, (demand, unit) in enumerate(self.demands):
            if self._covers(demand, unit, lost, still):
                if not lost.literals or demand.exact == lost.exact:
                    del self.demands[index]
                return True
        return any(_covers_as_row(unit, added, lost) for unit, added in self.rows)

    def _covers(self, demand: Assertion, unit: Unit, lost: Assertion, still: frozenset[str]) -> bool:
        """Directly, or through a helper of the tests that demands the same of what it is given."""
        if not demand.helper or demand.helper not in self.new_helpers:
            return demand.kind != "call" and _same_demand(demand, unit, lost, self.local, still)
        if demand.conditional and not lost.conditional:
            return False
        helper = self.new_helpers[demand.helper]
        if lost.helper in self.old_helpers:
            before = Counter(one.exact for one in self.old_helpers[lost.helper].assertions if not one.empty)
            same = not before - Counter(one.exact for one in helper.assertions if not one.empty)
        else:
            same = any(one.kind == lost.kind and not one.empty for one in helper.assertions)
        enough = set(lost.literals) <= set(demand.literals)
        return same and enough and not lost.roots - demand.roots - {lost.helper}


def pool_of(pairs: Sequence[tuple[Unit, Unit | None]], after: Tests, local: frozenset[str]) -> Pool:
    matched = {(new.file, new.name): old for old, new in pairs if new is not None}
    demands: list[tuple[Assertion, Unit]] = []
    literals: Counter[str] = Counter()
    grown: list[tuple[Unit, frozenset[str]]] = []
    tables: dict[str, set[str]] = {}
    used = frozenset[str]().union(*(unit.calls for unit in after.units))
    for unit in after.units:
        old = matched.get((unit.file, unit.name))
        fresh = Counter(unit.literals) - Counter(old.literals if old else ())
        literals += fresh
        if unit.role is not Role.TEST:
            tables.setdefault(unit.file, set()).update(fresh)
        if unit.role is Role.TEST and (unit.marks - (old.marks if old else frozenset())):
            continue
        if (
            not is_collected(unit.file)
            if unit.role is Role.TEST
            else unit.name.rpartition(".")[2] not in {*used, MODULE, "main"}
        ):
            continue
        known = Counter(a.exact for a in old.assertions) if old else Counter[str]()
        told = len(demands)
        for demand in unit.assertions:
            if known[demand.exact] > 0:
                known[demand.exact] -= 1
            elif not demand.empty:
                demands.append((demand, unit))
        if fresh or len(demands) > told:
            grown.append((unit, frozenset(fresh)))
    rows = [(unit, added | frozenset(tables.get(unit.file, ()))) for unit, added in grown]
    shared = frozenset[str]().union(*tables.values())
    return Pool(
        demands, literals, shared, local, rows, _helpers(old for old, _ in pairs), _helpers(after.units)
    )


def _same_demand(
    demand: Assertion, unit: Unit, lost: Assertion, local: frozenset[str], still: frozenset[str]
) -> bool:
    if demand.empty or (demand.conditional and not lost.conditional):
        return False
    if demand.exact == lost.exact:
        return set(lost.literals) <= {*demand.literals, *still}
    as_strong = demand.kind == lost.kind or demand.kind in STRONGER.get(lost.kind, ())
    if not as_strong or demand.smoothed - lost.smoothed or not _keeps_values(demand, lost):
        return False
    missing, fresh = lost.roots - demand.roots, demand.roots - lost.roots
    if not missing:
        return bool(lost.roots) or bool(set(lost.literals) & set(demand.literals)) or not lost.literals
    # A renamed function: the old name is not called any more, and the new one is not made up in the tests.
    return len(missing) <= len(fresh) and not missing & unit.calls and not fresh & local


def _keeps_values(demand: Assertion, lost: Assertion) -> bool:
    """A loop says a value once that was written twice; a value that was written instead of another is another value."""
    written = re.findall(r"\d[\w.]*|'[^']*'|\"[^\"]*\"", demand.exact)
    if set(written) - set(lost.literals):
        return not Counter(lost.literals) - Counter(demand.literals)
    return set(lost.literals) <= set(demand.literals)


def _helpers(units: Iterable[Unit]) -> dict[str, Unit]:
    return {
        unit.name.rpartition(".")[2]: unit for unit in units if unit.role is not Role.TEST and unit.assertions
    }


def _covers_as_row(unit: Unit, added: frozenset[str], lost: Assertion) -> bool:
    """A test that became another row of a table: the table's test demands it, with the lost values among the new ones."""
    if not lost.literals or set(lost.literals) - added:
        return False
    return any(one.kind == lost.kind and lost.roots <= one.roots and not one.empty for one in unit.assertions)
