"""pytest: failure blocks, the short summary, collection and usage errors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, tally, unique

SECTION = re.compile(r"={3,} (?P<title>.+?) ={3,}$")
BLOCK = re.compile(r"_{3,} (?P<title>.{1,300}?) _{3,}$")
RAISED = re.compile(r"E\s+(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::(?: (?P<message>.*))?)?$")
ASSERTED = re.compile(r"E\s+(?:AssertionError: )?assert (?P<actual>.+?) (?:==|is) (?P<expected>.+)$")
FRAME = re.compile(r"(?P<file>[^\s:>][^:]*\.pyx?):(?P<line>\d+)(?:: ?(?:in \S.*|[\w.]+.*)?)?$")
NATIVE_FRAME = re.compile(r'(?:E\s+)?\s*File "(?P<file>[^"]+)", line (?P<line>\d+)')
SUMMARY = re.compile(r"(?:FAILED|ERROR) (?P<test>\S+\.pyx?(?:::.+?)?)(?: - (?P<message>.*))?$")
PROGRESS = re.compile(
    r"(?:\[gw\d+\] \[ *\d+%\] (?:FAILED|ERROR) (?P<worker>\S+::\S+)|(?P<own>\S+\.py::\S.*?) (?:FAILED"
    r"|ERROR)\b)"
)
TALLY = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed)\b")
TALLY_LINE = re.compile(r"(?:=+ )?(?:\d+ \w+, )*\d+ \w+ in [\d.]+ ?s")
LOOSE = re.compile(
    r"(?:ERROR: (?:file or directory not found|not found|usage|Unknown|unknown|could not"
    r"|.*unrecognized arguments)"
    r"|(?:__main__\.py|pytest|py\.test): error: "
    r"|ImportError while loading conftest "
    r"|INTERNALERROR> +(?:[a-z_]\w*\.)*[A-Z]\w+(?:Error|Exception)\b"
    r"|worker 'gw\d+' crashed while running"
    r"|Fatal Python error: "
    r"|\++ Timeout \++)"
)
NO_TESTS = re.compile(r"(?:=+ )?(?:no tests ran|no tests collected|\d+ deselected in )")
CAPTURED = re.compile(r"-{3,} (?:Captured|generated) ")
COLLECTING = "ERROR collecting "


def parse(lines: Lines) -> ToolReport:
    summary = _summary(lines)
    blocks = list(_blocks(lines, summary))
    explained = {block.finding.test for block in blocks}
    claimed = {index for block in blocks for index in range(block.at, block.until)}
    rest = [
        Sighting(_from_summary(test, line), at, at + 1)
        for test, (at, line) in summary.items()
        if test not in explained
    ]
    found = [*blocks, *rest, *_loose(lines, claimed)] or list(_nothing_ran(lines))
    return ToolReport(tuple(found), _counts(lines), unique([*summary, *_progressed(lines)]))


def _summary(lines: Lines) -> dict[str, tuple[int, str]]:
    """Failing test ids with the place and text of their line in the short summary."""
    found: dict[str, tuple[int, str]] = {}
    for index, line in enumerate(lines):
        if line.startswith(("FAILED ", "ERROR ")) and (match := SUMMARY.match(line)):
            found.setdefault(match["test"], (index, line))
    return found


def _blocks(lines: Lines, summary: dict[str, tuple[int, str]]) -> Iterator[Sighting]:
    inside, start, title = False, -1, ""
    for index, line in enumerate([*lines, "=== end ==="]):
        begins = BLOCK.match(line) if line.startswith("___") else None
        section = SECTION.match(line) if line.startswith("===") else None
        if (begins or section) and start >= 0:
            test = _test_id(title, summary)
            finding = _read_block(lines[start + 1 : index], test)
            if finding:
                said = summary.get(test, (0, ""))[1]
                shown = (*finding.lines[:4], said, *finding.lines[4:]) if said else finding.lines
                yield Sighting(replace(finding, lines=shown), start, index)
            start = -1
        if section:
            inside = section["title"] in ("FAILURES", "ERRORS")
        elif begins and inside:
            start, title = index, begins["title"]


def _test_id(title: str, summary: dict[str, tuple[int, str]]) -> str:
    """A block is headed `TestCart.test_sum`; the runner wants `tests/test_cart.py::TestCart::test_sum`."""
    name = (
        title.removeprefix(COLLECTING)
        .removeprefix("ERROR at setup of ")
        .removeprefix("ERROR at teardown of ")
    )
    dotted, _, parameters = name.partition("[")
    suffix = dotted.replace(".", "::") + (f"[{parameters}" if parameters else "")
    return next((test for test in summary if test == name or test.endswith("::" + suffix)), name)


def _read_block(block: Lines, test: str) -> Finding | None:
    """The last group of `E` lines is what was raised; groups before it are the causes of a chain."""
    captured = next((i for i, line in enumerate(block) if CAPTURED.match(line)), len(block))
    body = block[:captured]
    groups = list(_error_groups(body))
    if not groups:
        return _read_frames_only(body, test)
    start, errors = groups[-1]
    headline = next((line for line in errors if RAISED.match(line)), errors[0])
    raised = RAISED.match(headline)
    asserted = ASSERTED.match(headline)
    frames = _frames(body, groups)
    frame = innermost(frames)
    source = next((line for line in reversed(body[:start]) if line.startswith(">")), "")
    place = next((line for line in body if frame and line.startswith(f"{frame.file}:{frame.line}:")), "")
    detail = [line for line in errors if line != headline and line.strip() != "E"]
    causes = [next((e for e in group if RAISED.match(e)), group[0]) for _, group in groups[:-1]]
    return Finding(
        message=headline[1:].strip(),
        tool="pytest",
        test=test,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type=raised["type"] if raised else "AssertionError" if "assert" in headline else None,
        expected=asserted["expected"][:500] if asserted else None,
        actual=asserted["actual"][:500] if asserted else None,
        lines=unique([headline, place, source, *causes[-1:], *detail[:6], *causes[:-1]]),
    )


def _error_groups(body: Lines) -> Iterator[tuple[int, list[str]]]:
    group: list[str] = []
    start = 0
    for index, line in enumerate([*body, ""]):
        if line.startswith(("E  ", "E\t")) or line == "E":
            start = start if group else index
            group.append(line)
        elif group:
            yield start, group
            group = []


def _frames(body: Lines, groups: list[tuple[int, list[str]]]) -> list[Frame]:
    """Frames of the last exception, the error first; in a chain they follow the earlier group of lines."""
    start = groups[-2][0] + len(groups[-2][1]) + 1 if len(groups) > 1 else 0
    found = []
    for line in body[start:]:
        match = FRAME.match(line) or NATIVE_FRAME.match(line)
        if match:
            found.append(Frame(match["file"], int(match["line"][:9])))
    return found[::-1]


def _read_frames_only(body: Lines, test: str) -> Finding | None:
    """`--tb=line`, doctests and plugins print a block without `E` lines."""
    said = [line for line in body if line.strip()]
    if not said:
        return None
    frame = innermost(
        [Frame(m["file"], int(m["line"][:9])) for line in body[::-1] if (m := FRAME.match(line))]
    )
    return Finding(
        message=said[0].strip(),
        tool="pytest",
        test=test,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        lines=tuple(said[:6]),
    )


def _from_summary(test: str, line: str) -> Finding:
    match = SUMMARY.match(line)
    message = (match["message"] if match else None) or line
    kind = RAISED.match(f"E {message}")
    return Finding(
        message=message,
        tool="pytest",
        test=test,
        file=test.split("::", maxsplit=1)[0],
        type=kind["type"] if kind else "AssertionError" if message.startswith("assert ") else None,
        lines=(line,),
    )


def _loose(lines: Lines, claimed: set[int]) -> Iterator[Sighting]:
    """Trouble outside of any test: a conftest that fails to load, wrong arguments, a crash of the runner."""
    for index, line in enumerate(lines):
        if index in claimed or not LOOSE.match(line):
            continue
        end = index + 1
        blank = end + 1 if line.startswith("Fatal") else end  # a dump begins after a blank line
        while end < min(len(lines), index + 200) and not lines[end].startswith("="):
            if not lines[end].strip() and end >= blank:
                break
            end += 1
        block = _read_block(lines[index + 1 : end], "")
        crash = line.startswith(("Fatal", "worker", "+"))
        if block and any(e.startswith("E ") for e in lines[index + 1 : end]):
            finding = replace(block, test=None, lines=unique([block.lines[0], line, *block.lines[1:]]))
        else:
            own = (line, *(follow for follow in lines[index + 1 : end] if crash))[:5]
            frames = [
                Frame(m["file"], int(m["line"][:9])) for f in lines[index:end] if (m := NATIVE_FRAME.match(f))
            ]
            frame = innermost(frames)
            finding = Finding(
                message=line.strip(),
                tool="pytest",
                file=frame.file if frame else None,
                line=frame.line if frame else None,
                type="Timeout" if "Timeout" in line else None if crash else "NoTests",
                lines=own,
            )
        yield Sighting(finding, index, end)


def _nothing_ran(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if NO_TESTS.match(line):
            yield Sighting(Finding("no tests ran", "pytest", type="NoTests", lines=(line,)), index, index + 1)


def _progressed(lines: Lines) -> list[str]:
    return [
        found["worker"] or found["own"]
        for line in lines
        if ("FAILED" in line or "ERROR" in line) and "::" in line and (found := PROGRESS.match(line))
    ]


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if " in " not in line or not TALLY_LINE.match(line):
            continue
        told = {word.rstrip("s"): int(number) for number, word in TALLY.findall(line)}
        if told:
            passed = told.get("passed", 0) + told.get("xpassed", 0)
            failed = told.get("failed", 0) + told.get("error", 0)
            found.append(tally(passed, failed, told.get("skipped", 0) + told.get("xfailed", 0)))
    return added(found)
