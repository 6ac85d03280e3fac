"""Error lines of tools that nobody listed: anchored, so that a word in passing is not an error."""

from __future__ import annotations

import re

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.anywhere import place_near, shows_source
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.patterns import Regex

MARK = r"[\s✖✗✘×❌⨯!*>│|·•╭╰─▶█#\[\]()=-]*"
STAMP = r"(?:\[?[\d:.,TZ/ +-]{5,40}\]?\s+)?"
SEVERITY = (
    r"(?:fatal(?: error)?|error|err!|panic|critical|severe|exception|uncaught exception|failure|failed|fail)"
)
# Strong signs, in the order in which they are asked for: a place, a type, a severity.
STATED: tuple[Regex, ...] = (
    Regex(
        r"\s*(?P<file>(?:[A-Za-z]:)?[\w@./\\+-]+\.\w{1,8})[:(](?P<line>\d+)(?:[:,] ?\d+)?\)?:?\s+"
        r"\[?(?i:error|fatal|failure)\]?:?\s*(?P<message>\S.*)$"
    ),
    Regex(
        r"\s*(?:\w+: )?(?P<type>(?:[A-Za-z_][\w$]*[.:\\]{1,2})*[A-Z]\w*(?:Error|Exception|Failure"
        r"|Fault))(?: \[\w+\])?: (?P<message>\S.*)$"
    ),
    Regex(
        rf"{MARK}{STAMP}(?:\[?[\w./@-]{{1,40}}\]?[:>]?\s+)?\[?(?i:{SEVERITY})\]?(?:\s?[\[(][\w/-]+[\])])?"
        rf"\s*[:!\]|-]+\s*(?P<message>\S.*)$"
    ),
    Regex(
        rf"{MARK}{STAMP}(?:FATAL|ERROR|CRITICAL|SEVERE|FAILED|FAIL|FAILURE|Error|Fatal)\s+(?P<message>\S.*)$"
    ),
)
# A logger's line: its stamp, its name and its thread stand before the level.
LOGGED = Regex(r"[\s\]|:-](?:ERROR|FATAL|CRITICAL|SEVERE)[\s:\]|-]+(?P<message>\S.*)$")
LEVEL_WITHIN = 160
# Without one of these a line is not worth a closer look.
SUSPECT = Regex(
    r"err|fail|fatal|exception|panic|critical|severe|fault|could|can't|cannot|unable|invalid|unknown|missing"
    r"|no test|unexpected|denied|refused|undefined|unrecognized|not able|[✖✗✘×❌⨯]|\.\w+:\d",
    re.IGNORECASE,
)
# Weak ones: a cross, a complaint, a bare place with something said about it.
WEAK: tuple[Regex, ...] = (
    Regex(r"\s*[✖✗✘×❌⨯]\s+(?P<message>\S.*)$"),
    Regex(
        rf"{MARK}(?:\S{{1,40}}:? )?(?P<message>(?:[Cc]ould not|[Cc]annot|[Cc]an't|[Cc]ouldn't|[Uu]nable to"
        rf"|[Ff]ailed to|[Nn]ot able to|[Ii]nvalid|[Uu]nknown (?:option|command|argument|field)"
        rf"|[Uu]nrecognized|[Mm]issing|[Nn]o tests?|[Uu]nexpected|[Pp]ermission denied|[Aa]ccess denied"
        rf"|[Cc]onnection refused|[Uu]ndefined)\b.*)$"
    ),
    Regex(
        r"(?P<file>[\w@./\\+-]+\.[A-Za-z]\w{0,7}):(?P<line>\d+)(?::\d+)?:\s?(?!\d"
        r"|in [`'])(?P<message>[^\s:].{3,})$"
    ),
)
TYPED = STATED[1]

# The end of the story, not its beginning.
ECHO = Regex(
    r"(?i:exited? with (?:code|status|error|\d)|exit (?:code|status):? \d|returned (?:a )?non-zero"
    r"|non-zero exit|command failed|build failed|tests? failed$|failed with exit|process completed with"
    r"|completed with errors|exiting with|aborting|error: test failed|failed! see above"
    r"|some (?:checks|tests) failed|did not complete successfully|job failed|errors? generated"
    r"|commands failed$|evaluation failed|marked build as failure|^FAILED \((?:failures|errors)="
    r"|\d+ errors?(?: and| ,|,|\.|$)|found \d+ errors?|\d+ (?:failed|failing|failures?)\b|errors? found$"
    r"|compilation failed|failed tests:|tests unsuccessful"
    r"|there (?:were|are) \d* ?(?:test )?(?:failures|errors|failing))"
)
HARMLESS = Regex(
    r"(?i:\b0 (?:errors?|failures?|failed|failing)\b|no errors?\b|errors?[:=] ?0\b|failures?[:=] ?0\b"
    r"|failed[:=] ?0\b|\bpassed\b|without errors?|total time:|\bretrying\b|deprecat|failing tests:$"
    r"|(?:failures|errors):$|\d+ problems?\b|^\s*warn|\[warn|warning[: ]|npm warn|\binfo\b|\bdebug\b"
    r"|: note: |error[- ]handl|ignor(?:ed|ing)|--no-error|-Werror|errors? suppressed"
    r"|(?:✓|✔|√|ok \d+|\bPASS\b))"
)
# The first ones may be the cause, the last ones are what it died of.
FIRST_KEPT = 25
LAST_KEPT = 15


def parse(lines: Lines) -> ToolReport:
    found = [hint for index, line in enumerate(lines) if line and (hint := _hint(lines, index, line[:1000]))]
    if len(found) > FIRST_KEPT + LAST_KEPT:
        found = [*found[:FIRST_KEPT], *found[-LAST_KEPT:]]
    return ToolReport(tuple(_located(lines, sighting) for sighting in found))


def _hint(lines: Lines, index: int, text: str) -> Sighting | None:
    if not SUSPECT.search(text):
        return None
    stated = next((m for sign in STATED if (m := sign.match(text))), None) or _logged(text)
    told = stated or next((m for sign in WEAK if (m := sign.match(text))), None)
    if not told or (HARMLESS.search(text) and not TYPED.match(text)):
        return None
    kind = told.groupdict().get("type")
    finding = Finding(
        message=told["message"].strip(),
        tool="generic",
        type=kind.replace("\\", ".").rpartition(".")[2] if kind else None,
        lines=(lines[index],),
    )
    rank = Rank.CASCADE if ECHO.search(text) else Rank.HINT if stated else Rank.WEAK
    return Sighting(finding, index, index + 1, rank)


def _logged(text: str) -> re.Match[str] | None:
    found = LOGGED.search(text)
    return found if found and found.start() < LEVEL_WITHIN else None


def _located(lines: Lines, sighting: Sighting) -> Sighting:
    """With the place that it names; what shows source, or begins with a place, is a compiler's."""
    finding, index = sighting.finding, sighting.at
    frame = place_near(lines, index)
    opening = frame is not None and lines[index].lstrip().startswith((frame.file, f"./{frame.file}"))
    compiled = not finding.type and (opening or shows_source(lines, index))
    around = [*lines[index + 1 : index + 9], *lines[max(0, index - 6) : index]]
    named = next((text for text in around if frame and frame.file in text), "")
    return Sighting(
        Finding(
            message=finding.message,
            tool="compiler" if compiled else finding.tool,
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type=finding.type,
            lines=unique([*finding.lines, named]),
        ),
        index,
        sighting.until,
        sighting.rank,
    )
