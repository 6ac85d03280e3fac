"""Stack frames and error headlines as V8, Jest, Vitest and Bun print them."""

from __future__ import annotations

from collections.abc import Sequence

from buildloop.gate.parsers.frames import Frame, innermost, tidy
from buildloop.patterns import Regex

FRAME = Regex(
    r"\s*(?:[❯>|#]\s*)?(?:at |❯ )(?:async )?(?:[^()\n]*\()?(?P<file>(?:[A-Za-z]:(?=[\\/])|file://|node:"
    r"|webpack(?:-internal)?://[^/\s]*/)?[^\s():][^():]*):(?P<line>\d+):\d+\)?"
)
HEADLINE = Regex(
    r"[\s#|]*(?:\S+ \d+ms \W*)?(?:Uncaught |Unhandled |Exception during run: |thrown: |✖ |× |→ )*"
    r"(?P<type>(?:[A-Za-z_$][\w$]*\.)*[A-Za-z_$]*(?:Error|Exception|Rejection|Fault)|Error)"
    r"(?: \[(?P<code>\w+)\])?(?::\s*(?P<message>.*)|$)"
)
PLACED = Regex(
    r"(?P<file>(?:file://)?/?[\w@.-][\w@./+-]*\.[cm]?[jt]sx?|[\w./-]+\.(?:vue|svelte"
    r"|json)):(?P<line>\d+)(?::\d+)?"
)
PARSE_PLACE = Regex(r"SyntaxError: (?P<file>/?[\w@./+-]+\.\w+): .*\((?P<line>\d+):\d+\)")
CODE_FRAME = Regex(r"\s*> +(?P<line>\d+) \|")
EXPECTATION = Regex(
    r"\s*(?:Expected|Received|expected|actual|Actual)(?: \w+){0,3}\s*:|\s*[-+] (?:Expected|Received|actual"
    r"|expected)"
)


def frames(lines: Sequence[str]) -> list[Frame]:
    found = (FRAME.match(line) for line in lines)
    return [Frame(tidy(match["file"]), int(match["line"][:9])) for match in found if match]


def place(lines: Sequence[str], default_file: str | None = None) -> Frame | None:
    """Where a block points: a parser's position, a frame of the project, a bare position, a code frame."""
    stack = [frame for frame in frames(lines) if not frame.file.startswith("node:")]
    own = innermost(stack)
    if parsed := next((m for line in lines if (m := PARSE_PLACE.search(line[:600]))), None):
        return Frame(tidy(parsed["file"]), int(parsed["line"][:9]))
    bare = (m for line in lines if not FRAME.match(line) and (m := PLACED.search(line[:400])))
    named = next(
        (Frame(tidy(m["file"]), int(m["line"][:9])) for m in bare if "node_modules" not in m["file"]), None
    )
    if own and innermost([own, *([named] if named else [])]) == own:
        return own
    if named:
        return named
    coded = next((m for line in lines if (m := CODE_FRAME.match(line))), None)
    if coded and default_file:
        return Frame(default_file, int(coded["line"][:9]))
    return Frame(default_file, None) if default_file else own


def place_line(lines: Sequence[str], frame: Frame | None) -> str:
    """The line of the log that names the place."""
    if frame is None or frame.line is None:
        return ""
    needle = f"{frame.file}:{frame.line}"
    return next((line for line in lines if needle in line), "")


def expectation(lines: Sequence[str]) -> tuple[str | None, str | None]:
    """(expected, actual) where a runner prints them on lines of their own."""
    facts: dict[str, str] = {}
    for line in lines:
        if EXPECTATION.match(line):
            name, colon, value = line.strip().partition(":")
            if colon and value.strip():
                facts.setdefault(name.split()[0].lower(), value.strip())
    return facts.get("expected"), facts.get("received") or facts.get("actual")
