"""dotnet test and build: VSTest's blocks, xUnit's console, NuGet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.diagnostics import read_diagnostics
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

HEAD = Regex(
    r"\s*(?:\[xUnit\.net [\d:.]+\]\s+)?(?:Failed |X )?(?P<test>[\w.+`<>]+\.[\w.+`]+(?:\(.*\))?)(?: \[FAIL\]"
    r"| \[[<> \d.,]+ ?(?:ms|s|m)\])$"
)
FRAME = Regex(
    r"\s*(?:\[xUnit\.net [\d:.]+\]\s+)?(?:at .*? in )?(?P<file>(?:/|[A-Za-z]:\\)\S*?\.(?:cs|fs"
    r"|vb))(?::line |\()(?P<line>\d+)"
)
FACT = Regex(r"\s*(?:\[xUnit\.net [\d:.]+\]\s+)?(?P<name>Expected|Actual|But was)\s*:\s*(?P<value>.*)$")
LABEL = Regex(r"\s*(?:Error Message:|Stack Trace:|Standard Output Messages:)\s*$")
COMPILER = Regex(
    r"\s*(?:(?P<file>(?:[A-Za-z]:)?[^\s:(][^:(]*)\((?P<line>\d+)(?:,\d+){0,3}\)\s?: "
    r"|(?:[^\s:]+ ?: )?)error (?P<type>(?:CS|FS|BC|NU|MSB|NETSDK|CA|IDE|SA"
    r"|RZ)\w*\d+): (?P<message>.*?)(?: \[[^\]]*\])?$"
)
TALLY = Regex(
    r"(?:Failed|Passed)!\s+- Failed:\s+(?P<failed>\d+), Passed:\s+(?P<passed>\d+), "
    r"Skipped:\s+(?P<skipped>\d+)"
)
END = Regex(r"\s*(?:Failed|Passed|Skipped) \S+ \[|(?:Failed|Passed)!|Test Run |Total tests|\s*$")
RAISED = Regex(r"\s*(?P<type>(?:\w+\.)*\w+(?:Exception|Error))\s*: (?P<message>.*)")


def parse(lines: Lines) -> ToolReport:
    compiled = [_nuget(s) for s in read_diagnostics(lines, "dotnet", COMPILER).sightings]
    tests = list(_tests(lines))
    return ToolReport((*compiled, *tests), _counts(lines), unique([s.finding.test or "" for s in tests]))


def _nuget(sighting: Sighting) -> Sighting:
    if not (sighting.finding.type or "").startswith("NU"):
        return sighting
    return replace(sighting, finding=replace(sighting.finding, tool="nuget", file=None))


def _tests(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        head = (
            HEAD.match(line)
            if "[" in line and ("Failed " in line or "FAIL]" in line or line.lstrip().startswith("X "))
            else None
        )
        if not head:
            continue
        end = index + 1
        while end < len(lines) and not END.match(lines[end]) and end < index + 60:
            end += 1
        block = [text for text in lines[index + 1 : end] if not LABEL.match(text)]
        frame = innermost(Frame(m["file"], int(m["line"][:9])) for text in block if (m := FRAME.match(text)))
        facts = {m["name"]: m["value"].strip() for text in block if (m := FACT.match(text))}
        telling = [text for text in block if not FRAME.match(text) and not text.lstrip().startswith("at ")]
        raised = next((m for text in telling if (m := RAISED.match(text))), None)
        place = next((text for text in block if frame and frame.file in text), "")
        finding = Finding(
            message=(raised["message"] if raised else (telling or [line])[0]).strip(),
            tool="dotnet test",
            test=head["test"],
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type=raised["type"].rpartition(".")[2] if raised else "AssertionFailed",
            expected=facts.get("Expected"),
            actual=facts.get("Actual") or facts.get("But was"),
            lines=unique([*telling[:1], *(t for t in telling if FACT.match(t)), line, place, *telling[1:5]]),
        )
        yield Sighting(finding, index, end, Rank.CAUSE if block else Rank.HINT)


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if "! " in line and (match := TALLY.match(line.strip())):
            found.append(tally(int(match["passed"]), int(match["failed"]), int(match["skipped"])))
    return added(found)
