"""What really ran, then and now: counts of every runner, and test by test where it left a JUnit report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from buildloop.diagnosis.model import LogReading, TestCounts
from buildloop.gate.junit import outcomes
from buildloop.workspace.integrity.model import Objection, Unit

# These say how many tests ran when all is well, too. Go, for one, does not.
ALWAYS_COUNT = frozenset(
    "pytest unittest jest vitest mocha node tap cargo rspec bats junit minitest phpunit".split()
)


@dataclass(frozen=True, slots=True)
class Ran:
    """`tests` are those that passed or failed; `reports` says whether any report was left at all; `said` is what the
    gate complained about."""

    counts: TestCounts | None = None
    tools: tuple[str, ...] = ()
    tests: frozenset[str] = frozenset()
    reports: bool = False
    said: tuple[str, ...] = ()


def ran(reading: LogReading, reports: Iterable[Path]) -> Ran:
    known = [path for path in reports if path.exists()]
    tests = frozenset(test for test, outcome in outcomes(known).items() if outcome != "skipped")
    said = (*reading.error_lines, *(finding.file for finding in reading.findings if finding.file))
    return Ran(reading.counts, tuple(reading.tools), tests, bool(known), said)


def not_run(before: Ran, now: Ran) -> list[Objection]:
    """Objections that need no look at the sources."""
    if before.reports and before.counts and not now.reports:
        return [
            Objection(
                "count",
                "",
                "the test runner left a report at the start and none now: it was ended early or replaced",
            )
        ]
    if before.counts and now.counts and now.counts.run < before.counts.run:
        return [
            Objection(
                "count", "", f"only {now.counts.run} tests ran, but {before.counts.run} ran at the start"
            )
        ]
    counted = before.counts is not None and before.counts.run > 0 and bool(set(before.tools) & ALWAYS_COUNT)
    if counted and now.counts is None and not set(before.tools) - ALWAYS_COUNT:
        return [
            Objection(
                "uncounted",
                "",
                f"no test was counted, but {before.counts.run if before.counts else 0} ran at the start",
            )
        ]
    return []


def red_all_the_same(now: Ran) -> list[Objection]:
    """A gate that is green although its runner counted failures."""
    if now.counts and now.counts.failed and set(now.tools) & ALWAYS_COUNT:
        text = f"the runner counted {now.counts.failed} failed, and the gate is green all the same"
        return [Objection("count", "", text)]
    return []


def missing_tests(before: Ran, now: Ran) -> list[str]:
    """Tests that ran at the start and not now; parameters do not count, they are compared in the sources."""
    if not before.tests or not now.tests:
        return []
    present = {test.partition("[")[0] for test in now.tests}
    return sorted({test.partition("[")[0] for test in before.tests} - present)


def kept_from_running(missing: Sequence[str], before: Iterable[Unit], after: Iterable[Unit]) -> list[str]:
    """Of the tests that no longer run, those whose sources are untouched, or still have them under their name."""
    old, new = {_dotted(unit) for unit in before}, {_dotted(unit) for unit in after}
    return [test for test in missing if _among(test, new) or not _among(test, old)]


def _dotted(unit: Unit) -> str:
    return f"{PurePosixPath(unit.file).with_suffix('').as_posix().replace('/', '.')}.{unit.name}"


def _among(test: str, names: Collection[str]) -> bool:
    """Reports name tests from their runner's root, which may be a folder of the repository."""
    plain = test.replace("::", ".").replace(".py.", ".").replace("/", ".")
    return any(plain == name or name.endswith(f".{plain}") or plain.endswith(f".{name}") for name in names)
