"""webpack, rollup, vite, esbuild, parcel, next: a module that cannot be found or parsed."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import tidy
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, unique
from buildloop.patterns import Regex

WEBPACK = Regex(r"ERROR in (?P<file>\S+?)(?: (?P<line>\d+):\d+(?:-\d+)?)?$")
SAID = Regex(
    r"\s*(?P<message>(?:Module (?:not found|parse failed|build failed|Error)|Error: |SyntaxError: "
    r"|TypeError: |.*\bTS\d+: ).*)"
)
ESBUILD = Regex(r"\s*(?:✘|X|>|error:)\s*(?:\[ERROR\] |error: )?(?P<message>\S.*)$")
PLACE = Regex(
    r"\s*(?:file: |at |╭─\[ ?|╷|│ |\| )?(?P<file>(?:/|\./|\.\./)?[\w@./+-]+\.\w{1,6}):(?P<line>\d+):\d+"
)
VITE = Regex(
    r"(?:error during build:|\[vite\]:? .*|\[plugin:? ?\S+\] .*|✗ Build failed.*"
    r"|Build failed with \d+ errors?:|x Build failed.*|RollupError: .*|Failed to compile\.?.*)$"
)
HEADING = Regex(r"(?:error during build:|[✗x] Build failed|Build failed with|Failed to compile)")
STACK = Regex(r"\s+at ")
NEXT = Regex(r"(?P<file>\./\S+\.\w+)(?::(?P<line>\d+):\d+)?$")


def parse(lines: Lines) -> ToolReport:
    return ToolReport((*_webpack(lines), *_esbuild(lines), *_vite(lines)))


def _webpack(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        head = WEBPACK.match(line) if line.startswith("ERROR in ") else None
        if not head:
            continue
        said = [text for text in lines[index + 1 : index + 8] if text.strip()]
        told = next((m for text in said if (m := SAID.match(text))), None)
        place = next((m for text in said if (m := PLACE.match(text))), None)
        number = head["line"] or (place["line"] if place else None)
        finding = Finding(
            message=told["message"] if told else (said or [line])[0].strip(),
            tool="webpack",
            file=tidy(head["file"]),
            line=int(number[:9]) if number else None,
            type="bundle",
            lines=unique([told.string if told else "", line, *said[:4]]),
        )
        yield Sighting(finding, index, index + 1 + (len(said[:1])))


def _esbuild(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        head = ESBUILD.match(line) if "[ERROR]" in line or "error: " in line[:20] else None
        place = (
            next((m for text in lines[index + 1 : index + 4] if (m := PLACE.match(text))), None)
            if head
            else None
        )
        if head and place and "│" in "".join(lines[index + 1 : index + 7]):
            finding = Finding(
                head["message"],
                "esbuild",
                file=tidy(place["file"]),
                line=int(place["line"][:9]),
                type="bundle",
                lines=(line, place.string),
            )
            yield Sighting(finding, index, index + 3)


def _vite(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if not VITE.match(line):
            continue
        block = [text for text in lines[index : index + 14] if text.strip() and not STACK.match(text)]
        said = [text for text in block if not HEADING.match(text) and not NEXT.match(text)] or [line]
        place = next((m for text in block if (m := PLACE.match(text) or NEXT.match(text))), None)
        finding = Finding(
            message=said[0].strip(),
            tool="vite",
            file=tidy(place["file"]) if place else None,
            line=int(place["line"][:9]) if place and place["line"] else None,
            type="bundle",
            lines=unique([said[0], line, *said[1:5]]),
        )
        yield Sighting(finding, index, index + 1 + lines[index:].index(said[0]))
        return
