"""Ruby programs that die: `file.rb:3:in 'run': message (SomeError)`, syntax errors, rake."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.patterns import Regex

RAISED = Regex(
    r"(?P<file>[^\s:]+(?:\.rb|\.rake|Rakefile|Gemfile)|<internal:\S+?>"
    r"|\S*bin/\w+):(?P<line>\d+):in [`'](?P<where>[^']*)': (?P<message>.*?)"
    r"(?: \((?P<type>[A-Z][\w:]*)\))?$"
)
SYNTAX = Regex(
    r"(?P<file>[^\s:]+\.rb):(?P<line>\d+): (?P<message>(?:syntax error|warning: )?.*(?:syntax error"
    r"|unexpected|unterminated|SyntaxError).*)"
)
FRAME = Regex(r"\s+(?:from |\d+: from )?(?P<file>[^\s:]+):(?P<line>\d+):in ")
HEADED = Regex(r"(?P<type>[A-Z]\w*(?:::[A-Z]\w*)+): (?P<message>.*)$")
BARE_FRAME = Regex(r"\s*(?P<file>[\w./+-]+\.(?:rb|rake)):(?P<line>\d+):in ")
ABORTED = ("rake aborted!", "rails aborted!", "bin/rails aborted!")
RAKE = Regex(
    r"(?P<type>[A-Z]\w*(?:::\w+)*): ?(?P<message>.*)|(?P<told>Don't know how to build task.*"
    r"|Command failed with status.*)"
)


def parse(lines: Lines) -> ToolReport:
    return ToolReport((*_raised(lines), *_rake(lines), *_headed(lines)))


def _raised(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        raised = (RAISED.match(line) if ":in " in line else None) or (
            SYNTAX.match(line) if ".rb:" in line else None
        )
        if not raised:
            continue
        end = index + 1
        while end < len(lines) and FRAME.match(lines[end]):
            end += 1
        frames = [Frame(raised["file"], int(raised["line"][:9]))]
        frames += [
            Frame(m["file"], int(m["line"][:9]))
            for text in lines[index + 1 : end]
            if (m := FRAME.match(text))
        ]
        frame = innermost(frames)
        place = next(
            (text for text in lines[index:end] if frame and f"{frame.file}:{frame.line}" in text), ""
        )
        kind = raised.groupdict().get("type") or ("SyntaxError" if "syntax" in line.lower() else None)
        finding = Finding(
            raised["message"],
            "ruby",
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type=kind,
            lines=unique([line, place]),
        )
        yield Sighting(finding, index, end, Rank.TRACE)


def _rake(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if line not in ABORTED or index + 1 >= len(lines):
            continue
        said = RAKE.match(lines[index + 1])
        if said:
            echo = (said["told"] or "").startswith("Command failed")
            more = [text for text in lines[index + 2 : index + 8] if text.strip()]
            place = next((m for text in lines[index : index + 15] if (m := BARE_FRAME.match(text))), None)
            finding = Finding(
                message=said["message"] or (more or [lines[index + 1]])[0].strip(),
                tool="rake",
                file=place["file"] if place else None,
                line=int(place["line"][:9]) if place else None,
                type=said["type"],
                lines=(lines[index + 1], *more[:3], line),
            )
            yield Sighting(finding, index, index + 2, Rank.CASCADE if echo else Rank.TRACE)


def _headed(lines: Lines) -> Iterator[Sighting]:
    """`Some::Problem: message` above a backtrace of bare places, as Bundler, Rails and Thor print it."""
    for index, line in enumerate(lines):
        head = HEADED.match(line) if "::" in line else None
        places = [m for text in lines[index + 1 : index + 8] if (m := BARE_FRAME.match(text))] if head else []
        if head and places:
            frame = innermost(Frame(m["file"], int(m["line"][:9])) for m in places)
            finding = Finding(
                message=head["message"],
                tool="ruby",
                file=frame.file if frame else None,
                line=frame.line if frame else None,
                type=head["type"],
                lines=(line, places[0].string),
            )
            yield Sighting(finding, index, index + 1, Rank.TRACE)
