"""The figures that are committed, and the one rule for all of them: 20 % more is a regression."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from buildloop.files import write_json

THIS_PYTHON = ".".join(platform.python_version_tuple()[:2])
COUNTS = Path(__file__).with_name("counts.json")
TOLERANCE = 0.20
# Figures of a few are whole numbers: one more of three would be a third.
SLACK = 0.5


def exceeded(name: str, count: float, known: dict[str, float]) -> str:
    """Why `count` is too much; nothing when it is not."""
    if name not in known:
        return f"{name}: there is no figure for it yet; take it with 'make counts'"
    allowed = max(known[name] * (1 + TOLERANCE), known[name] + SLACK)
    if count <= allowed:
        return ""
    grown = f"by {100 * (count / known[name] - 1):.0f} %" if known[name] else "from 0"
    return (
        f"{name}: {count:,.1f}, was {known[name]:,.1f}: grown {grown}. If that is meant, take new figures "
        "with 'make counts' and say why in the commit"
    )


class Counts(dict[str, float]):
    """Those of the repository, or with `make counts` those that are being taken. Each Python makes its own calls: the
    figures are of one, newer ones make fewer and are held to the same."""

    def __init__(self) -> None:
        saved = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.exists() else {}
        self.python = saved.get("python", THIS_PYTHON)
        self.known: dict[str, float] = saved.get("counts", {})
        self.taking = bool(os.environ.get("TAKE_COUNTS"))
        super().__init__({} if self.taking else self.known)

    def save(self) -> None:
        if self.taking:
            write_json(COUNTS, {"python": THIS_PYTHON, "counts": dict(sorted((self.known | self).items()))})


@pytest.fixture(scope="session")
def counts() -> Iterator[Counts]:
    figures = Counts()
    yield figures
    figures.save()


@pytest.fixture
def guard(counts: Counts, capsys: pytest.CaptureFixture[str]) -> Callable[[str, float], None]:
    def say(sentence: str) -> None:
        with capsys.disabled():
            print(f"\n{sentence}")

    def check(name: str, count: float) -> None:
        if counts.taking:
            before = counts.known.get(name)
            counts[name] = round(count, 1)
            say(f"{name}: {counts[name]:,}" + ("" if before is None else f", was {before:,}"))
            return
        assert not exceeded(name, count, counts), exceeded(name, count, counts)
        if counts.python == THIS_PYTHON and count < counts[name] * (1 - TOLERANCE):
            say(f"{name}: {count:,.1f}, was {counts[name]:,.1f}: better; keep it with 'make counts'")

    return check
