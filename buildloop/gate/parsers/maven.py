"""Maven: surefire's test blocks and results, and goals that failed before any test."""

from __future__ import annotations

import re
from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers import jvm_stack
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

FAILED = Regex(
    r"(?:\[ERROR\]\s+)?(?:(?P<method>[\w$\[\]{}., -]+?)\((?P<class>[\w.$]+)\)"
    r"|(?P<qualified>[\w.$]+\.[\w$\[\]{}() -]+?))"
    r"\s+(?:-- )?Time elapsed: .*<<< (?:FAILURE|ERROR)!"
)
RESULT = Regex(
    r"\[ERROR\]\s+(?P<class>[\w$.]+)\.(?P<method>[\w$]+)(?:\[[^\]]*\])?(?:->\S+)?:(?P<line>\d+)(?P<message>"
    r".*)$"
)
RUN = Regex(r"(?:\[\w+\]\s+)?Tests run: (\d+), Failures: (\d+), Errors: (\d+), Skipped: (\d+)$")
GOAL = Regex(
    r"\[ERROR\] (?P<message>(?:Failed to execute goal|Unresolveable|Plugin |Unknown lifecycle|No goals"
    r"|The goal you|Could not|Non-|Malformed|The build could not|Unrecognised|Error resolving"
    r"|Some problems were).*)"
)
ECHO = Regex(
    r"\[ERROR\] Failed to execute goal .*(?:There are test failures|Compilation failure|You have \d+ )"
)


def parse(lines: Lines) -> ToolReport:
    results = {
        (_simple(m["class"]), m["method"]): m
        for line in lines
        if "[ERROR] " in line and (m := RESULT.match(line))
    }
    tests = list(_tests(lines, results))
    told = {s.finding.test for s in tests}
    summary = [
        Sighting(_from_result(m), i, i + 1)
        for i, line in enumerate(lines)
        if not told and (m := RESULT.match(line))
    ]
    failing = [s.finding.test for s in (*tests, *summary) if s.finding.test]
    return ToolReport((*tests, *summary, *_goals(lines)), _counts(lines), unique(failing))


def _simple(name: str) -> str:
    return name.rpartition(".")[2]


def _tests(lines: Lines, results: dict[tuple[str, str], re.Match[str]]) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        failed = FAILED.match(line) if "<<<" in line else None
        if not failed:
            continue
        end = index + 1
        while (
            end < len(lines)
            and lines[end].strip()
            and not lines[end].startswith(("[INFO]", "[ERROR]"))
            and end < index + 300
        ):
            end += 1
        qualified = failed["qualified"] or f"{failed['class']}.{failed['method']}"
        owner, _, method = qualified.rpartition(".")
        result = results.get((_simple(owner), method))
        finding = jvm_stack.finding_of(
            lines[index + 1 : end], "surefire", f"{owner}#{method}", (result.string if result else "", line)
        )
        if finding:
            yield Sighting(finding, index, end)


def _from_result(result: re.Match[str]) -> Finding:
    return Finding(
        message=result["message"].strip(" »"),
        tool="surefire",
        test=f"{result['class']}#{result['method']}",
        file=f"{_simple(result['class'])}.java",
        line=int(result["line"][:9]),
        lines=(result.string,),
    )


def _goals(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        goal = GOAL.match(line) if line.startswith("[ERROR] ") else None
        if goal:
            rest = [text for text in lines[index + 1 : index + 5] if _goes_on(text)]
            shown = (
                (*rest[-1:], line, *rest[:-1])
                if line.startswith("[ERROR] The build could not")
                else (line, *rest)
            )
            rank = Rank.CASCADE if ECHO.match(line) else Rank.CAUSE
            yield Sighting(
                Finding(" ".join((goal["message"], *shown[1:3])), "maven", type="goal", lines=shown),
                index,
                index + 1,
                rank,
            )


def _goes_on(text: str) -> bool:
    return (
        text.startswith("[ERROR] ")
        and not text.startswith(("[ERROR] ->", "[ERROR] [Help"))
        and not GOAL.match(text)
    )


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if "Tests run: " in line and (match := RUN.match(line)):
            run, failures, errors, skipped = (int(number) for number in match.groups())
            found.append(tally(run - failures - errors - skipped, failures + errors, skipped))
    return added(found)
