"""JUnit's own text: the JUnit 4 runner, ant's formatters, the JUnit 5 console, TestNG."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers import jvm_stack
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

NUMBERED = Regex(r"(?:\[junit\] )?\d+\) (?P<method>[\w$\[\]]+)\((?P<class>[\w.$]+)\)$")
TESTCASE = Regex(r"\s*(?:\[junit\] )?Testcase: (?P<method>\S+?)(?:\((?P<class>[\w.$]+)\))?(?: took|:)")
ANT_RESULT = Regex(r"\s*(?:\[junit\]\s*)?(?:FAILED|Caused an ERROR)")
JUPITER = Regex(r"\s+JUnit (?:Jupiter|Vintage):(?P<class>[\w.$]+):(?P<method>.+)$")
RUN = Regex(
    r"\s*(?:\[junit\] )?Tests run: (\d+),\s+Failures: (\d+)(?:,\s+Errors: (\d+))?(?:,\s+Skipped: (\d+))?"
)
CONSOLE = Regex(r"\[\s+(?P<number>\d+) tests (?P<word>successful|failed|skipped|aborted)\s+\]")
PREFIX = Regex(r"\s*\[junit\] ?")


def parse(lines: Lines) -> ToolReport:
    plain = [PREFIX.sub("", line) for line in lines]
    found = list(_failures(plain))
    return ToolReport(tuple(found), _counts(plain), unique([s.finding.test or "" for s in found]))


def _failures(lines: Lines) -> Iterator[Sighting]:
    suite = ""
    for index, line in enumerate(lines):
        suite = line.partition(": ")[2] if line.startswith("Testsuite: ") else suite
        head = NUMBERED.match(line) or JUPITER.match(line)
        case = TESTCASE.match(line) if "Testcase" in line else None
        if case and not any(ANT_RESULT.match(text) for text in lines[index + 1 : index + 2]):
            continue
        head = head or case
        if not head:
            continue
        end = index + 1
        while end < len(lines) and end < index + 300 and (lines[end].strip() or end <= index + 1):
            if end > index + 1 and (
                NUMBERED.match(lines[end]) or TESTCASE.match(lines[end]) or JUPITER.match(lines[end])
            ):
                break
            end += 1
        owner = head["class"] or suite
        test = f"{owner}.{head['method']}" if owner else head["method"]
        finding = jvm_stack.finding_of(lines[index + 1 : end], "junit", test, (line,))
        if finding is None:
            said = [text for text in lines[index + 1 : end] if text.strip()]
            finding = Finding((said or [line])[-1].strip(), "junit", test, lines=(*said[:4], line))
        yield Sighting(finding, index, end)


def _counts(lines: Lines) -> TestCounts | None:
    found, console = [], {}
    for line in lines:
        if "Tests run: " in line and (match := RUN.match(line)) and "[" not in line[:3]:
            run, failures, errors, skipped = (int(number or 0) for number in match.groups())
            found.append(tally(run - failures - errors - skipped, failures + errors, skipped))
        elif match := CONSOLE.match(line.strip()):
            console[match["word"]] = int(match["number"])
    if console:
        found.append(tally(console.get("successful", 0), console.get("failed", 0), console.get("skipped", 0)))
    return added(found)
