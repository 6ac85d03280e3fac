"""One failure block of pytest: its `E` lines, its frames, the line of source that failed."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, unique
from buildloop.patterns import Regex

RAISED = Regex(r"E\s+(?P<type>(?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::(?: (?P<message>.*))?)?$")
ASSERTED = Regex(r"E\s+(?:AssertionError: )?assert (?P<actual>.+?) (?:==|is) (?P<expected>.+)$")
FRAME = Regex(r"(?P<file>[^\s:>][^:]*\.pyx?):(?P<line>\d+)(?:: ?(?:in \S.*|[\w.]+.*)?)?$")
NATIVE_FRAME = Regex(r'(?:E\s+)?\s*File "(?P<file>[^"]+)", line (?P<line>\d+)')
CAPTURED = Regex(r"-{3,} (?:Captured|generated) ")


def read_block(block: Lines, test: str) -> Finding | None:
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
        type=None if "::" in test else "CollectionError",
        lines=tuple(said[:6]),
    )
