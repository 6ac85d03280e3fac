"""AddressSanitizer and its sisters, and valgrind."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, unique
from buildloop.patterns import Regex

HEAD = Regex(
    r"(?:==\d+==\s?ERROR: |WARNING: )(?P<type>\w+Sanitizer): (?P<message>.*)"
    r"|(?P<file>[^\s:]+):(?P<line>\d+):\d+: (?P<ub>runtime error: .*)"
    r"|==\d+== (?P<valgrind>(?:Invalid (?:read|write|free)|Conditional jump|Use of uninit"
    r"|Process terminating).*)"
)
FRAME = Regex(
    r"\s+#\d+ (?:0x[0-9a-f]+ (?:in )?)?.*? (?P<file>[^\s()]+?):(?P<line>\d+)(?::\d+)?(?: \(.*)?$"
    r"|==\d+==\s+(?:at|by) 0x[0-9A-Fa-f]+: .*\((?P<vfile>[\w.+-]+):(?P<vline>\d+)\)"
)
SUMMARY = Regex(r"SUMMARY: \w+Sanitizer: ")
MAX_BLOCK = 80


def parse(lines: Lines) -> ToolReport:
    return ToolReport(tuple(_reports(lines)))


def _reports(lines: Lines) -> Iterator[Sighting]:
    index = 0
    while index < len(lines):
        head = HEAD.match(lines[index])
        if not head:
            index += 1
            continue
        end = _end(lines, index)
        block = lines[index:end]
        frame = innermost(
            Frame(m["file"] or m["vfile"], int((m["line"] or m["vline"])[:9]))
            for text in block
            if (m := FRAME.match(text))
        ) or (Frame(head["file"], int(head["line"][:9])) if head["file"] else None)
        place = next((text for text in block if frame and f"{frame.file}:{frame.line}" in text), "")
        finding = Finding(
            message=(head["message"] or head["ub"] or head["valgrind"]).strip(),
            tool="sanitizer",
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type=head["type"] or ("UndefinedBehavior" if head["ub"] else "valgrind"),
            lines=unique(
                [lines[index], place, *block[1:2], *(text for text in block if SUMMARY.match(text))]
            ),
        )
        yield Sighting(finding, index, end)
        index = end


def _end(lines: Lines, start: int) -> int:
    if "runtime error" in lines[start]:
        return start + 1
    for index in range(start + 1, min(len(lines), start + MAX_BLOCK)):
        if SUMMARY.match(lines[index]) or lines[index].startswith("======"):
            return index + 1
        if lines[index].startswith("==") and lines[index].endswith("=="):
            return index
    return min(len(lines), start + MAX_BLOCK)
