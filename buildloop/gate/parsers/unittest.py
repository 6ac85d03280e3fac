"""unittest and what prints like it: Django's runner, nose, testtools."""

from __future__ import annotations

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import innermost
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, tally, unique
from buildloop.gate.parsers.traceback import START, Traceback, read_traceback
from buildloop.patterns import Regex

HEADER = Regex(r"(?:ERROR|FAIL|UNEXPECTED SUCCESS): (?P<name>\S+)(?: \((?P<where>[\w.<>]+)\))?")
RULE = Regex(r"={30,}$|-{30,}$")
RAN = Regex(r"Ran (\d+) tests? in ")
RESULT = Regex(r"(?:FAILED|OK)(?: \((?P<parts>[^)]*)\))?$")
PART = Regex(r"(failures|errors|skipped|unexpected successes)=(\d+)")


def parse(lines: Lines) -> ToolReport:
    sightings, failing = [], []
    for index, line in enumerate(lines):
        header = HEADER.match(line) if line.startswith(("ERROR: ", "FAIL: ", "UNEXPECTED")) else None
        if not header or index == 0 or not lines[index - 1].startswith("======"):
            continue
        test = _test_id(header["name"], header["where"])
        failing.append(test)
        end = _block_end(lines, index)
        sightings.append(Sighting(_finding(lines, index, end, test), index, end))
    counts = _counts(lines, len(failing))
    if not sightings and counts and counts.run == 0:
        sightings = [
            Sighting(Finding("no tests ran", "unittest", type="NoTests", lines=(line,)), i, i + 1)
            for i, line in enumerate(lines)
            if line.startswith(("Ran 0 tests", "NO TESTS RAN"))
        ]
    return ToolReport(tuple(sightings), counts, unique(failing))


def _test_id(name: str, where: str | None) -> str:
    """Python 3.11 says `test_a (pkg.T.test_a)`, older ones `test_a (pkg.T)`."""
    if not where or where.startswith("unittest.loader"):
        return name
    return where if where.endswith("." + name) else f"{where}.{name}"


def _block_end(lines: Lines, start: int) -> int:
    dashes = 0
    for index in range(start + 1, len(lines)):
        if RULE.match(lines[index]):
            dashes += 1
            if dashes > 1 or lines[index].startswith("="):
                return index
    return len(lines)


def _finding(lines: Lines, start: int, end: int, test: str) -> Finding:
    header = lines[start]
    traced: list[Traceback] = []
    index = start
    while index < end:
        traceback = read_traceback(lines, index) if START in lines[index] else None
        if traceback and traceback.end <= end:
            traced.append(traceback)
        index = traceback.end if traceback else index + 1
    if not traced:
        said = [line for line in lines[start + 1 : end] if line.strip() and not RULE.match(line)]
        return Finding((said or [header])[-1].strip(), "unittest", test, lines=(header, *said[:4]))
    last = traced[-1]
    frame = innermost(last.frames)
    place = [line for line in lines[start:end] if frame and f'"{frame.file}", line {frame.line}' in line][-1:]
    captured = next(
        (i for i in range(last.end, end) if lines[i].startswith("-----") or ">> begin" in lines[i]), end
    )
    detail = [line for line in lines[last.end : captured] if line.strip()][:4]
    extra = (header, *place, *detail, *(cause.line for cause in traced[:-1]))
    return last.finding("unittest", test, extra)


def _counts(lines: Lines, failing: int) -> TestCounts | None:
    found, ran = [], None
    for line in lines:
        if match := RAN.match(line):
            ran = int(match[1])
        elif ran is not None and (result := RESULT.match(line)):
            parts = {word: int(number) for word, number in PART.findall(result["parts"] or "")}
            failed = parts.get("failures", 0) + parts.get("errors", 0) + parts.get("unexpected successes", 0)
            skipped = parts.get("skipped", 0)
            found.append(tally(max(0, ran - failed - skipped), failed, skipped))
            ran = None
    if ran is not None:
        found.append(tally(max(0, ran - failing), failing))
    return added(found)
