"""Reads what a gate log says. The one door to the parsers."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from buildloop.diagnosis.model import Finding, LogReading
from buildloop.gate.clean import clean_lines
from buildloop.gate.parsers import PARSERS, ParserEntry
from buildloop.gate.parsers.report import Rank, Sighting, ToolReport, added, unique
from buildloop.gate.select import choose_lines
from buildloop.gate.skim import WHOLE, skim

MAX_FINDINGS = 100
MAX_FAILING = 1000


def read_log(path: Path, exit_code: int | None = None) -> LogReading:
    """One pass over a log of any size; raises only what opening the file raises."""
    with path.open("rb") as stream:
        return _read(skim(stream).decode("utf-8", "replace"), exit_code)


def read_text(text: str, exit_code: int | None = None) -> LogReading:
    if len(text) <= WHOLE:
        return _read(text, exit_code)
    excerpt = skim(io.BytesIO(text.encode("utf-8", "replace")))
    return _read(excerpt.decode("utf-8", "replace"), exit_code)


def _read(text: str, exit_code: int | None) -> LogReading:
    lines = clean_lines(text)
    plain = "\n".join(lines)
    reports = [(entry, _parse(entry, lines)) for entry in PARSERS if entry.concerns(plain)]
    if exit_code == 0 and not _agent_spoke(reports):
        return LogReading(counts=added([report.counts for _, report in reports if report.counts]))
    heard = _unclaimed([report for _, report in reports])
    sightings = _ranked([sighting for report in heard for sighting in report.sightings])
    told = tuple(_distinct(sighting.finding for sighting in sightings))
    findings = tuple(_distinct(sighting.finding for sighting in _closest(sightings)))[:MAX_FINDINGS]
    if exit_code and all(sighting.rank is Rank.CASCADE for sighting in sightings):
        last_words = _last_words(lines[: sightings[0].at] if sightings else lines)
        told, findings = (*last_words, *told), (*last_words, *findings)
    return LogReading(
        findings=findings,
        counts=added([report.counts for report in heard if report.counts]),
        failing=unique([test for report in heard for test in report.failing])[:MAX_FAILING],
        error_lines=choose_lines(told),
        tools=unique([sighting.finding.tool for sighting in sightings]),
    )


def _parse(entry: ParserEntry, lines: Sequence[str]) -> ToolReport:
    report = import_module(f"buildloop.gate.parsers.{entry.module}").parse(lines)
    assert isinstance(report, ToolReport)
    return report


def _agent_spoke(reports: Sequence[tuple[ParserEntry, ToolReport]]) -> bool:
    """Agents end with 0 although they gave up; their own error channel is believed over the exit code."""
    return any(entry.is_agent and report.sightings for entry, report in reports)


def _unclaimed(reports: Sequence[ToolReport]) -> list[ToolReport]:
    """Parsers come most specific first: what one explained, a later one must not explain again.

    A report of which nothing is left was a misunderstanding; its counts and test names go too.
    """
    heard: list[ToolReport] = []
    claimed: set[int] = set()
    for report in reports:
        fresh = tuple(s for s in report.sightings if s.at not in claimed)
        if fresh or not report.sightings:
            heard.append(replace(report, sightings=fresh))
        for sighting in fresh:
            claimed.update(range(sighting.at, sighting.until))
    return heard


def _ranked(sightings: Sequence[Sighting]) -> list[Sighting]:
    """Causes before hints before consequences; within each, the order of the log: the first is the root."""
    ordered = sorted(sightings, key=lambda s: (s.rank, s.at))
    worth = [s for s in ordered if s.rank is not Rank.CASCADE]
    return ordered if len(worth) < 3 else worth


def _closest(sightings: Sequence[Sighting]) -> list[Sighting]:
    """The failures themselves: where a tool says what is wrong, hints are lines to show, not findings."""
    best = max(Rank.CAUSE, min((sighting.rank for sighting in sightings), default=Rank.CASCADE))
    return [sighting for sighting in sightings if sighting.rank <= best]


def _distinct(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each failure once; a hint whose only line an earlier finding has shown is no finding of its own."""
    seen: set[Finding] = set()
    shown: set[str] = set()
    for finding in findings:
        identity = replace(finding, lines=(), tool="")
        if identity in seen or (finding.test is None and finding.lines and shown.issuperset(finding.lines)):
            continue
        seen.add(identity)
        shown.update(finding.lines)
        yield finding


def _last_words(lines: Sequence[str]) -> tuple[Finding, ...]:
    """Nobody understood the log, but it is red: what was said last is the best that there is to show."""
    spoken = [line for line in lines[-200:] if any(character.isalnum() for character in line)][-8:]
    return (Finding(message=spoken[-1].strip(), lines=tuple(spoken)),) if spoken else ()
