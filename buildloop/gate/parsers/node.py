"""Node, Deno and Bun programs that die of an error, and what node:test's spec reporter and ava print."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers import js_stack
from buildloop.gate.parsers.frames import Frame, tidy
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.patterns import Regex

SOURCE = Regex(r"[#\s]*(?:Exception during run: )?(?P<file>(?:file://)?/[^\s:]+\.\w+):(?P<line>\d+)$")
HEAP = Regex(
    r"FATAL ERROR: .*(?:heap|memory|Allocation)|.*JavaScript heap out of memory"
    r"|RangeError: Maximum call stack"
)
UNHANDLED = Regex(r"\[?(?:UnhandledPromiseRejection|ERR_UNHANDLED_REJECTION)")
LOADED = Regex(r"Require stack:|\s+- /|\s*- ")
CAUSE = Regex(r"\s+\[?cause\]?: (?P<type>\w*Error)(?: \[\w+\])?: (?P<message>.*)$")
MAX_CAUSE = 12
MAX_MESSAGE = 40


def parse(lines: Lines) -> ToolReport:
    return ToolReport((*_stacks(lines), *_stackless(lines)))


def _stacks(lines: Lines) -> Iterator[Sighting]:
    index = 0
    while index < len(lines):
        if not js_stack.FRAME.match(lines[index]):
            index += 1
            continue
        end = index
        while end < len(lines) and (js_stack.FRAME.match(lines[end]) or LOADED.match(lines[end])):
            end += 1
        head = _headline(lines, index)
        if head is not None:
            yield _sighting(lines, head, end)
        index = end


def _headline(lines: Lines, stack: int) -> int | None:
    """The error line above a stack; its message may go on for several lines."""
    for index in range(stack - 1, max(-1, stack - MAX_MESSAGE), -1):
        if js_stack.HEADLINE.match(lines[index]):
            return index
        if js_stack.FRAME.match(lines[index]):
            return None
    return None


def _sighting(lines: Lines, head: int, end: int) -> Sighting:
    block = lines[head:end]
    told = js_stack.HEADLINE.match(lines[head])
    frame = js_stack.place(block)
    source = next((m for i in range(max(0, head - 6), head + 1) if (m := SOURCE.match(lines[i]))), None)
    if source and "SyntaxError" in lines[head]:
        frame = Frame(tidy(source["file"]), int(source["line"][:9]))
    expected, actual = js_stack.expectation(block)
    message = [line for line in block if not js_stack.FRAME.match(line) and line.strip()]
    cause = next((m for text in lines[end : end + MAX_CAUSE] if (m := CAUSE.match(text))), None)
    shown = [
        lines[head],
        cause.string if cause else "",
        js_stack.place_line([*lines[max(0, head - 6) : head], *block], frame),
        *message[1:8],
    ]
    return Sighting(
        Finding(
            message=(cause["message"] if cause else (told["message"] if told else "") or lines[head]).strip(),
            tool="node",
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type=cause["type"] if cause else told["type"] if told else None,
            expected=expected,
            actual=actual,
            lines=unique(shown),
        ),
        max(0, head - 4) if source else head,
        end,
        Rank.TRACE,
    )


def _stackless(lines: Lines) -> Iterator[Sighting]:
    """A full heap and a rejection with something that is no Error have no stack of the program."""
    for index, line in enumerate(lines):
        heap = HEAP.match(line)
        if heap or UNHANDLED.match(line):
            finding = Finding(line.strip(), "node", type="OutOfMemory" if heap else "Error", lines=(line,))
            yield Sighting(finding, index, index + 1, Rank.CAUSE if heap else Rank.TRACE)
            return
