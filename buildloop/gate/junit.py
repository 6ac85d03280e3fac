"""JUnit XML, the report that nearly every runner can write, as a LogReading.

A report comes from the code under test, so it is read with expat and without a document type: no entity can
be declared, neither a bomb nor a file to steal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.parsers import expat

from buildloop.diagnosis.model import Finding, LogReading
from buildloop.gate.parsers.frames import Frame, innermost, tidy
from buildloop.gate.parsers.jvm_stack import read_trace
from buildloop.gate.parsers.report import tally, unique
from buildloop.gate.select import choose_lines
from buildloop.patterns import Regex

MAX_TEXT = 20_000
PLACES: tuple[Regex, ...] = (
    Regex(r'File "(?P<file>[^"]+)", line (?P<line>\d+)'),
    Regex(r"(?P<file>(?:file://)?[\w@./\\+-]*[\w-]\.[A-Za-z]\w{0,6}):(?:line )?(?P<line>\d+)"),
)
TELLING = Regex(
    r"\s*(?:E  |AssertionError|\w+(?:Error|Exception)\b|Expected|Received|expected|Actual|actual|got|want)"
)


@dataclass(slots=True)
class _Case:
    name: str
    classname: str
    file: str | None
    line: int | None
    outcome: str = "passed"
    type: str | None = None
    message: str = ""
    text: list[str] = field(default_factory=list)


class UnsafeXmlError(ValueError):
    """The report declares a document type, which no test runner does."""


# An encoding that expat does not know, or that has more than one byte a character, is a LookupError or a ValueError.
UNREADABLE = (expat.ExpatError, OSError, LookupError, ValueError)


class _Handler:
    """Collects the test cases of one document as expat walks through it."""

    def __init__(self) -> None:
        self.cases: list[_Case] = []
        self._inside = False
        self._size = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        if name == "testcase":
            line = attributes.get("line", "")
            self.cases.append(
                _Case(
                    attributes.get("name", ""),
                    attributes.get("classname", ""),
                    attributes.get("file") or None,
                    int(line) if line.isdecimal() and len(line) < 9 else None,
                )
            )
        elif name in ("failure", "error", "skipped") and self.cases:
            case = self.cases[-1]
            if name == "skipped":
                case.outcome = "skipped"
                return
            case.outcome = "failed"
            case.type = case.type or attributes.get("type")
            case.message = case.message or attributes.get("message", "")
            self._inside, self._size = True, 0

    def end(self, tag: str) -> None:
        if tag.rpartition(":")[2] in ("failure", "error"):
            self._inside = False

    def characters(self, text: str) -> None:
        if self._inside and self._size < MAX_TEXT:
            self.cases[-1].text.append(text)
            self._size += len(text)


def read_junit(paths: Iterable[Path]) -> LogReading | None:
    """All reports together, without those that are unsafe, torn or not XML; None when none is left."""
    cases: list[_Case] = []
    readable = False
    for path in paths:
        try:
            cases += _parse(path.read_bytes())
            readable = True
        except UNREADABLE:
            continue
    return _reading(cases) if readable else None


def outcomes(paths: Iterable[Path]) -> dict[str, str]:
    """Every test of the reports and how it ended: passed, failed or skipped. A module that pytest could not load is
    reported like a test, but none has run in it."""
    found: dict[str, str] = {}
    for path in paths:
        try:
            cases = _parse(path.read_bytes())
        except UNREADABLE:
            continue
        found |= {_test_id(case): case.outcome for case in cases if not _is_unloaded_module(case)}
    return found


def _is_unloaded_module(case: _Case) -> bool:
    return not case.classname and case.message.startswith("collection failure")


def read_junit_bytes(document: bytes) -> LogReading:
    """One report; raises ExpatError for what is not XML and UnsafeXmlError for a document type."""
    return _reading(_parse(document))


def merge(text: LogReading, junit: LogReading | None) -> LogReading:
    """The report knows the tests; the log knows the rest, and often the better place."""
    if junit is None:
        return text
    junit = _with_node_ids(junit, text.failing)
    findings = _detailed(junit.findings, text.findings) + tuple(f for f in text.findings if f.test is None)
    if not junit.findings:
        findings = text.findings
    return replace(
        text,
        findings=findings,
        counts=junit.counts or text.counts,
        failing=junit.failing or text.failing,
        error_lines=text.error_lines or choose_lines(findings),
        tools=unique([*text.tools, *junit.tools]),
    )


def _with_node_ids(junit: LogReading, told: Iterable[str]) -> LogReading:
    """pytest's report joins file, class and test with dots; its log has the id that can be run again."""
    known = {_dotted(test): test for test in told}
    findings = tuple(
        replace(finding, test=known.get(finding.test or "", finding.test)) for finding in junit.findings
    )
    return replace(
        junit, findings=findings, failing=unique([known.get(test, test) for test in junit.failing])
    )


def _dotted(node_id: str) -> str:
    path, bracket, parameters = node_id.partition("[")
    file, *inner = path.split("::")
    return ".".join([file.removesuffix(".py").replace("/", "."), *inner]) + bracket + parameters


def _detailed(reported: tuple[Finding, ...], told: tuple[Finding, ...]) -> tuple[Finding, ...]:
    by_test = {finding.test: finding for finding in told}
    return tuple(by_test.get(finding.test, finding) for finding in reported)


def _parse(document: bytes) -> list[_Case]:
    handler = _Handler()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _refuse("a document type")
    parser.EntityDeclHandler = _refuse("an entity")
    parser.StartElementHandler = handler.start
    parser.EndElementHandler = handler.end
    parser.CharacterDataHandler = handler.characters
    parser.buffer_text = True
    parser.Parse(document, True)
    return handler.cases


def _refuse(what: str) -> Callable[..., None]:
    def refuse(*_: object) -> None:
        raise UnsafeXmlError(f"the report declares {what}")

    return refuse


def _reading(cases: list[_Case]) -> LogReading:
    failed = [case for case in cases if case.outcome == "failed"]
    skipped = sum(1 for case in cases if case.outcome == "skipped")
    findings = tuple(_finding(case) for case in failed)
    return LogReading(
        findings=findings,
        counts=tally(len(cases) - len(failed) - skipped, len(failed), skipped) if cases else None,
        failing=unique([_test_id(case) for case in failed]),
        error_lines=choose_lines(findings),
        tools=("junit",) if cases else (),
    )


def _test_id(case: _Case) -> str:
    """pytest names the file, the others a class: `tests/test_a.py::test_b`, `com.acme.CartTest.total`."""
    if case.file and case.file.endswith(".py"):
        module = case.file.removesuffix(".py").replace("/", ".")
        inner = case.classname.removeprefix(module).strip(".").replace(".", "::")
        return "::".join(part for part in (case.file, inner, case.name) if part)
    return f"{case.classname}.{case.name}" if case.classname else case.name


def _finding(case: _Case) -> Finding:
    body = [line.rstrip() for line in "".join(case.text).splitlines() if line.strip()]
    frames = [
        Frame(tidy(m["file"]), int(m["line"][:9]))
        for line in body
        if (m := next((m for p in PLACES if (m := p.search(line[:500]))), None))
    ]
    # Python and pytest print the innermost frame last, the others first.
    frame = innermost(frames[::-1] if case.file and case.file.endswith(".py") else frames)
    thrown = next((t for t in reversed(read_trace(body)) if t.file), None)
    if thrown and thrown.file:
        frame = Frame(thrown.file, thrown.number)
    first = case.message.strip().splitlines()[0] if case.message.strip() else (body[0] if body else case.name)
    telling = [line for line in body if TELLING.match(line)]
    place = next((line for line in body if frame and frame.file in line and str(frame.line) in line), "")
    return Finding(
        message=first.strip(),
        tool="junit",
        test=_test_id(case),
        file=frame.file if frame else case.file,
        line=frame.line if frame else case.line,
        type=case.type or _type_in(first),
        lines=unique([first, place, *telling[:6], *body[:4]]),
    )


def _type_in(message: str) -> str | None:
    found = re.match(r"(?:[\w.]*\.)?(\w+(?:Error|Exception|Failure))\b", message)
    return found[1] if found else None
