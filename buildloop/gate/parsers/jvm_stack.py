"""Java, Kotlin and Scala stack traces: the last `Caused by` is the root, its first own frame is the place."""

from __future__ import annotations

from dataclasses import dataclass

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import is_foreign_package
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.patterns import Regex

THROWN = Regex(
    r"(?:\[\w+\]\s*)?\s*(?:Exception in thread \"[^\"]*\" |Caused by: |Suppressed: |=> )*"
    r"(?P<type>(?:[a-z_][\w$]*\.)+[A-Z][\w$]*(?:\.\w+)*|[A-Z]\w*(?:Exception|Error"
    r"|Failure))(?::\s*(?P<message>.*)|\s*$)"
)
FRAME = Regex(
    r"(?:\[\w+\])?\s+(?:at )?(?P<where>[\w.$/<>@~-]+)\((?P<file>[\w$.-]+\.(?:java|kt|kts|scala|groovy"
    r"|clj))(?::(?P<line>\d+))?\)"
)
ANY_FRAME = Regex(r"(?:\[\w+\])?\s+(?:at [\w.$/<>@~-]+\(|\.\.\. \d+ (?:more|common))")
EXPECTED = Regex(r"expected:?\s*(?P<e><.*?>|\[.*?\]) but was:?\s*(?P<a><.*?>|\[.*?\])")
MAX_MESSAGE = 12


@dataclass(frozen=True, slots=True)
class Thrown:
    type: str
    message: str
    line: str
    file: str | None
    number: int | None
    frame_line: str


def read_trace(block: Lines) -> tuple[Thrown, ...]:
    """The exceptions of one trace, outermost first."""
    found: list[Thrown] = []
    for index, text in enumerate(block):
        thrown = THROWN.match(text)
        if not thrown or ANY_FRAME.match(text):
            continue
        frames = []
        for after in block[index + 1 : index + 400]:
            if frame := FRAME.match(after):
                frames.append(frame)
            elif THROWN.match(after):
                break
        own = next((f for f in frames if not is_foreign_package(f["where"])), None)
        found.append(
            Thrown(
                thrown["type"],
                (thrown["message"] or "").strip(),
                text,
                own["file"] if own else None,
                int(own["line"][:9]) if own and own["line"] else None,
                own.string if own else "",
            )
        )
    return tuple(found)


def finding_of(block: Lines, tool: str, test: str | None, extra: tuple[str, ...] = ()) -> Finding | None:
    chain = read_trace(block)
    if not chain:
        return None
    root = chain[-1]
    place = next((t for t in reversed(chain) if t.file), None)
    compared = EXPECTED.search(root.message[:1000])
    detail = [
        text for text in block[1:6] if text.strip() and not ANY_FRAME.match(text) and not THROWN.match(text)
    ]
    shown = (root.line, place.frame_line if place else "", *extra, chain[0].line, *detail[:4])
    return Finding(
        message=root.message or root.type,
        tool=tool,
        test=test,
        file=place.file if place else None,
        line=place.number if place else None,
        type=root.type.rpartition(".")[2],
        expected=compared["e"] if compared else None,
        actual=compared["a"] if compared else None,
        lines=unique(shown),
    )


def parse(lines: Lines) -> ToolReport:
    sightings = []
    index = 0
    while index < len(lines):
        if not ANY_FRAME.match(lines[index]):
            index += 1
            continue
        start = _start(lines, index)
        end = index + 1
        while end < len(lines) and (
            ANY_FRAME.match(lines[end]) or lines[end].lstrip().startswith(("Caused by:", "Suppressed:"))
        ):
            end += 1
        finding = finding_of(lines[start:end], "java", None)
        if finding:
            sightings.append(Sighting(finding, start, end, Rank.TRACE))
        index = end
    return ToolReport(tuple(sightings))


def _start(lines: Lines, frame: int) -> int:
    for index in range(frame - 1, max(-1, frame - MAX_MESSAGE), -1):
        if THROWN.match(lines[index]):
            return index
        if ANY_FRAME.match(lines[index]):
            break
    return frame
