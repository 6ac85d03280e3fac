"""Runners that list failures as `1) title` after the run: mocha, cypress, playwright, jasmine, karma."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers import js_stack
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, blocks, tally, unique
from buildloop.patterns import Regex

HEAD = Regex(r"(?P<indent> {0,4})(?P<number>\d+)\) (?P<title>\S.*)$")
PLAYWRIGHT = Regex(r"(?:\[[\w -]+\] › )?(?P<file>\S+?):(?P<line>\d+):\d+ › (?P<name>.*?)[ ─]*$")
FAILING = Regex(
    r"\s+(?P<number>\d+) (?P<word>passing|failing|pending|passed|failed|flaky|skipped|did not run)\b"
)
FLAKY = Regex(r"\s+\d+ flaky$")
JASMINE = Regex(r"(?P<total>\d+) specs?, (?P<failed>\d+) failures?(?:, (?P<pending>\d+) pending)?")
HOOK = Regex(r'\s+\d+\) "(?:before|after) (?:all|each)" hook')
END = Regex(
    r"\s*(?:\d+ (?:passing|failing|pending|failed|flaky|passed|skipped)\b|\d+ specs?, \d+ fail|npm "
    r"|error Command|\([A-Z]\w+\)$)"
)
NOISE = Regex(r"\s*(?:at |\d+ \||> \d+ \||\| +\^|attachment #|Error Context:|─+$|Message:$|Stack:$|$)")


def parse(lines: Lines) -> ToolReport:
    found = list(_blocks(lines))
    flaky = [line for line in lines if FLAKY.match(line)]
    found = [_with_note(block, flaky[:1]) for block in found]
    failing = [block.finding.test for block in found if block.finding.test]
    return ToolReport(tuple(found), _counts(lines), unique(failing))


def _with_note(block: Sighting, note: list[str]) -> Sighting:
    own = block.finding.lines
    return replace(block, finding=replace(block.finding, lines=unique([*own[:3], *note, *own[3:]])))


def _blocks(lines: Lines) -> Iterator[Sighting]:
    """Only a head with a body is a failure: mocha's progress lists the same numbers without one."""
    for start, end in blocks(lines, lambda line: ") " in line[:10] and HEAD.match(line), END.match):
        yield from _block(lines, start, end)


def _block(lines: Lines, start: int, end: int) -> Iterator[Sighting]:
    block = lines[start:end]
    title, body = _title(block)
    said = [line for line in body if not NOISE.match(line)]
    headline = next((line for line in said if js_stack.HEADLINE.match(line)), said[0] if said else "")
    if not headline or not any(js_stack.FRAME.match(line) or js_stack.HEADLINE.match(line) for line in body):
        return
    placed = PLAYWRIGHT.match(title)
    frame = js_stack.place(body, placed["file"] if placed else None)
    told = js_stack.HEADLINE.match(headline)
    expected, actual = js_stack.expectation(said)
    hooks = [
        line
        for line in lines
        if '" hook' in line and HOOK.match(line) and title.split('"')[-2:-1] == line.split('"')[-2:-1]
    ]
    diff = [line for line in said if line.lstrip().startswith(("-", "+"))]
    facts = [line for line in said if js_stack.EXPECTATION.match(line)]
    shown = [headline, *facts[:3], *diff[:4], *hooks[:1], *block[: len(block) - len(body)]]
    yield Sighting(
        Finding(
            message=headline.strip(),
            tool="playwright" if placed else "mocha",
            test=placed["name"] if placed else title.rstrip(":"),
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type="AssertionError" if "expect(" in headline else told["type"] if told else None,
            expected=expected,
            actual=actual,
            lines=unique([*shown, js_stack.place_line(body, frame), *said[:10]]),
        ),
        start,
        end,
    )


def _title(block: Lines) -> tuple[str, Lines]:
    """mocha writes one level of `describe` a line; the last level ends with a colon."""
    head = HEAD.match(block[0])
    parts = [head["title"] if head else block[0].strip()]
    size = 1
    if not parts[0].endswith(":") and "›" not in parts[0]:
        for line in block[1:8]:
            if line.strip() in ("", "Message:") or js_stack.HEADLINE.match(line):
                break
            parts.append(line.strip())
            size += 1
            if line.endswith(":"):
                break
    return " ".join(parts), block[size:]


def _counts(lines: Lines) -> TestCounts | None:
    told: dict[str, int] = {}
    found = []
    for line in lines:
        if match := FAILING.match(line):
            told[match["word"]] = told.get(match["word"], 0) + int(match["number"])
        elif " spec" in line and (match := JASMINE.match(line.strip())):
            total, failed, pending = int(match["total"]), int(match["failed"]), int(match["pending"] or 0)
            found.append(tally(max(0, total - failed - pending), failed, pending))
    passed = told.get("passing", 0) + told.get("passed", 0) + told.get("flaky", 0)
    failed = told.get("failing", 0) + told.get("failed", 0)
    skipped = told.get("pending", 0) + told.get("skipped", 0) + told.get("did not run", 0)
    if told:
        found.append(tally(passed, failed, skipped))
    return added(found)
