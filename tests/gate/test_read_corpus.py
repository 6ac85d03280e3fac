"""Floors on the labelled logs, where the corpus lies beside the repository."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from buildloop.diagnosis.categories import category_of, class_of
from buildloop.diagnosis.model import LogReading
from buildloop.gate.read import read_log

CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "dev"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not beside the repository"),
]


@pytest.fixture(scope="module")
def answers() -> list[tuple[dict[str, Any], LogReading]]:
    rows = [json.loads(line) for line in (CORPUS / "single.jsonl").read_text(encoding="utf-8").splitlines()]
    return [(row, read_log(CORPUS / row["file"], row["exit_code"])) for row in rows]


def plain(line: str) -> str:
    return " ".join(re.sub(r"\x1b\[[0-9;?]*[ -/]*[@-~]", "", line).split())


def found(row: dict[str, Any], reading: LogReading) -> Iterator[bool]:
    got = [plain(line) for line in reading.error_lines[:10]]
    for key in map(plain, row["key_lines"]):
        yield any(key in line or (line in key and len(line) >= 0.6 * len(key)) for line in got if line)


def share(hits: list[bool]) -> float:
    return sum(hits) / len(hits)


def test_key_lines_are_among_the_first_ten(answers: list[tuple[dict[str, Any], LogReading]]):
    recalls = [share(list(found(row, reading))) for row, reading in answers if row["key_lines"]]
    assert sum(recalls) / len(recalls) >= 0.96


def test_the_most_important_key_line_is_found(answers: list[tuple[dict[str, Any], LogReading]]):
    assert share([next(found(row, reading)) for row, reading in answers if row["key_lines"]]) >= 0.97


def test_locations(answers: list[tuple[dict[str, Any], LogReading]]):
    hits = []
    for row, reading in answers:
        if best := row["best_location"]:
            place = reading.location or ""
            hits.append(
                place == best or place.endswith("/" + best) or bool(place and best.endswith("/" + place))
            )
    assert share(hits) >= 0.95


def test_categories_and_classes(answers: list[tuple[dict[str, Any], LogReading]]):
    assert share([category_of(reading) in row["category6_ok"] for row, reading in answers]) >= 0.97
    assert share([class_of(reading) in row["category10_ok"] for row, reading in answers]) >= 0.97
