"""The nouns of the integrity check: what a test says, and what is objected to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Role(StrEnum):
    TEST = "test"
    SETUP = "setup"
    HELPER = "helper"


@dataclass(frozen=True, slots=True)
class Assertion:
    """One thing a test demands. `exact` is its text without formatting; `literals` and `roots` (the functions it
    asks) also count what reaches it through local variables."""

    kind: str
    exact: str
    literals: tuple[str, ...] = ()
    roots: frozenset[str] = frozenset()
    conditional: bool = False
    empty: bool = False  # true whatever the code does
    helper: str = ""  # a call that demands whatever this function of the tests demands
    smoothed: frozenset[str] = frozenset()  # what makes different answers look alike before they are compared

    @property
    def line(self) -> str:
        return self.exact if len(self.exact) <= 160 else self.exact[:159] + "…"


@dataclass(frozen=True, slots=True)
class Unit:
    """One test, fixture or helper of one file. `marks` keep it from deciding anything (skip, xfail, focus …);
    `patches` are the names it replaces."""

    file: str
    name: str
    role: Role
    assertions: tuple[Assertion, ...] = ()
    literals: tuple[str, ...] = ()
    marks: frozenset[str] = frozenset()
    patches: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()

    @property
    def label(self) -> str:
        return f"{self.file}: {self.name}"


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a diff. `status` is git's letter: A added, M changed, D deleted, R renamed, T type changed."""

    status: str
    name: str
    old_name: str
    before: str | None = None
    after: str | None = None
    mode: str = ""


@dataclass(frozen=True, slots=True)
class Objection:
    """What was done to a test, its configuration or the gate, and in which file."""

    rule: str
    file: str
    text: str
    blocks: bool = True


@dataclass(frozen=True, slots=True)
class Tests:
    """All units of the changed files on one side."""

    units: tuple[Unit, ...] = ()
    local_functions: frozenset[str] = frozenset()
    unreadable: frozenset[str] = frozenset()
    derived: frozenset[tuple[str, str]] = frozenset()  # a class of the tests, and what it inherits from

    __test__ = False

    def by_key(self) -> Mapping[tuple[str, str], Unit]:
        return {(unit.file, unit.name): unit for unit in self.units}


@dataclass(frozen=True, slots=True)
class FileReading:
    """What a reader found in one file."""

    units: tuple[Unit, ...] = ()
    functions: frozenset[str] = field(default_factory=frozenset)
    derived: frozenset[tuple[str, str]] = field(default_factory=frozenset)
