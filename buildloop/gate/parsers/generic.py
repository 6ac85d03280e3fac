"""Error lines of tools that nobody listed: anchored, so that a word in passing is not an error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import Frame, is_foreign, tidy
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique

MARK = r"[\s✖✗✘×❌⨯!*>│|·•╭╰─▶█#\[\]()=-]*"
STAMP = r"(?:\[?[\d:.,TZ/ +-]{5,40}\]?\s+)?"
SEVERITY = (
    r"(?:fatal(?: error)?|error|err!|panic|critical|severe|exception|uncaught exception|failure|failed|fail)"
)
STATED = re.compile(
    rf"{MARK}{STAMP}(?:\[?[\w./@-]{{1,40}}\]?[:>]?\s+)?\[?(?i:{SEVERITY})\]?(?:\s?[\[(][\w/-]+[\])])?\s*[:!"
    rf"\]|-]+\s*(?P<message>\S.*)$"
)
SHOUTED = re.compile(
    rf"{MARK}{STAMP}(?:FATAL|ERROR|CRITICAL|SEVERE|FAILED|FAIL|FAILURE|Error|Fatal)\s+(?P<message>\S.*)$"
)
RAISED = re.compile(
    r"\s*(?:\w+: )?(?P<type>(?:[A-Za-z_][\w$]*[.:\\]{1,2})*[A-Z]\w*(?:Error|Exception|Failure"
    r"|Fault))(?: \[\w+\])?: (?P<message>\S.*)$"
)
PLACED = re.compile(
    r"\s*(?P<file>(?:[A-Za-z]:)?[\w@./\\+-]+\.\w{1,8}):(?P<line>\d+)(?::\d+)?:?\s+(?:\[?(?i:error|fatal"
    r"|failure)\]?:?\s*)(?P<message>\S.*)$"
)
HELPLESS = re.compile(
    rf"{MARK}(?:\S{{1,40}}:? )?(?P<message>(?:[Cc]ould not|[Cc]annot|[Cc]an't|[Cc]ouldn't|[Uu]nable to"
    rf"|[Ff]ailed to"
    rf"|[Nn]ot able to|[Ii]nvalid|[Uu]nknown (?:option|command|argument|field)|[Uu]nrecognized|[Mm]issing"
    rf"|[Nn]o tests?|[Uu]nexpected|[Pp]ermission denied|[Aa]ccess denied|[Cc]onnection refused"
    rf"|[Uu]ndefined)\b.*)$"
)
CROSSED = re.compile(r"\s*[✖✗✘×❌⨯]\s+(?P<message>\S.*)$")

# The end of the story, not its beginning.
ECHO = re.compile(
    r"(?i:.*(?:exited? with (?:code|status|error|\d)|exit (?:code|status):? \d|returned (?:a )?non-zero"
    r"|non-zero exit|command failed|build failed|tests? failed$|failed with exit|"
    r"process completed with|completed with errors|exiting with|aborting|error: test failed"
    r"|failed! see above|some (?:checks|tests) failed|did not complete successfully|job failed"
    r"|errors? generated|"
    r"^FAILED \((?:failures|errors)=|\d+ errors?(?: and| ,|,|\.|$)|found \d+ errors?|\d+ (?:failed|failing"
    r"|failures?)\b|errors? found$|compilation failed|failed tests:|tests unsuccessful|there (?:were"
    r"|are) \d* ?(?:test )?(?:failures|errors|failing)))"
)
HARMLESS = re.compile(
    r"(?i:.*(?:\b0 (?:errors?|failures?|failed|failing)\b|no errors?\b|errors?[:=] ?0\b|failures?[:=] ?0\b"
    r"|failed[:=] ?0\b|\bpassed\b|without errors?|total time:|\bretrying\b|deprecat|failing tests:$"
    r"|^\s*warn|\[warn|warning:|npm warn|"
    r"error[- ]handl|ignor(?:ed|ing)|--no-error|-Werror|errors? suppressed|(?:✓|✔|√|ok \d+|\bPASS\b)))"
)
ANYWHERE = re.compile(
    r"(?:File \"(?P<f1>[^\"]+)\", line (?P<l1>\d+)"
    r"|(?P<f2>(?:[A-Za-z]:)?(?:file://)?[\w@./\\+~-]*[\w-]\.[A-Za-z]\w{0,7})(?::|\()(?P<l2>\d+)\b"
    r"|\b(?:in|on|at) (?P<f3>\S+\.\w{1,8}),?:? (?:on )?line (?P<l3>\d+)"
    r"|(?P<f4>[\w./-]+\.\w{1,8}):? line (?P<l4>\d+))"
)
CARET = re.compile(r"\s*(?:\d*\s*[│|]\s*)?(?:\^+~*|~+\^+|─+\^|━+)(?:\s|$)")
MAX_HINTS = 40
LOOKAHEAD = 8


def parse(lines: Lines) -> ToolReport:
    found = []
    for index, line in enumerate(lines):
        hint = _hint(lines, index, line) if line else None
        if hint:
            found.append(hint)
            if len(found) >= MAX_HINTS:
                break
    return ToolReport(tuple(found))


def _hint(lines: Lines, index: int, line: str) -> Sighting | None:
    text = line[:1000]
    stated = PLACED.match(text) or RAISED.match(text) or STATED.match(text) or SHOUTED.match(text)
    weak = None if stated else CROSSED.match(text) or HELPLESS.match(text)
    told = stated or weak
    if not told or (HARMLESS.match(text) and not RAISED.match(text)):
        return None
    echo = ECHO.match(text) is not None
    frame = _place(lines, index)
    kind = told.groupdict().get("type")
    finding = Finding(
        message=told["message"].strip(),
        tool="compiler" if _shows_source(lines, index) and not kind else "generic",
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type=kind.replace("\\", ".").rpartition(".")[2] if kind else None,
        lines=unique([line, *_context(lines, index, frame)]),
    )
    return Sighting(finding, index, index + 1, Rank.CASCADE if echo else Rank.HINT)


def _shows_source(lines: Lines, index: int) -> bool:
    """A caret under a line of source: only compilers and checkers print that."""
    return any(CARET.match(text) for text in lines[index + 1 : index + 1 + LOOKAHEAD])


def _place(lines: Lines, index: int) -> Frame | None:
    """A place named on the line itself, or on one of the indented lines right after it."""
    for offset, text in enumerate(lines[index : index + 1 + LOOKAHEAD]):
        if offset and not text.startswith((" ", "\t", "│", "|", "-->", "at ", "╷", "╭")):
            break
        for found in ANYWHERE.finditer(text[:600]):
            file = found["f1"] or found["f2"] or found["f3"] or found["f4"]
            line = found["l1"] or found["l2"] or found["l3"] or found["l4"]
            if (
                file
                and not is_foreign(file)
                and not file.replace(".", "").isdigit()
                and "//" not in file.removeprefix("file://")
            ):
                return Frame(tidy(file), int(line[:9]))
    return None


def _context(lines: Lines, index: int, frame: Frame | None) -> Iterator[str]:
    if frame is None:
        return
    for text in lines[index + 1 : index + 1 + LOOKAHEAD]:
        if frame.file in text:
            yield text
            return
