"""The place that an error of an unknown tool names: on its own line, below it, or above it."""

from __future__ import annotations

from buildloop.gate.parsers.frames import Frame, is_foreign, tidy
from buildloop.gate.parsers.report import Lines
from buildloop.patterns import Regex

PLACE = Regex(
    r"(?:File \"(?P<f1>[^\"]+)\", line (?P<l1>\d+)"
    r"|(?P<f2>(?:[A-Za-z]:)?(?:file://)?[\w@./\\+~-]*[\w-]\.[A-Za-z]\w{0,7})(?::|\()(?P<l2>\d+)\b"
    r"|\b(?:in|on|at) (?P<f3>\S+\.\w{1,8}),?:? (?:on )?line (?P<l3>\d+)"
    r"|(?P<f4>[\w./-]+\.\w{1,8}):? line (?P<l4>\d+))"
)
CARET = Regex(r"\s*(?:\d*\s*[│|]\s*)?(?:\^+[~-]*|~+\^+|─+\^|━+)(?:\s|$)")
BELOW = (" ", "\t", "│", "|", "-->", "at ", "╷", "╭", "└")
BARE = Regex(r"\s*\S+\.\w+:\d+(?::\d+)?$")
REACH = 8


def shows_source(lines: Lines, index: int) -> bool:
    """A caret under a line of source, below or above: only compilers and checkers print that."""
    near = [*lines[index + 1 : index + 1 + REACH], *lines[max(0, index - 3) : index]]
    return any(CARET.match(text) for text in near)


def place_near(lines: Lines, index: int) -> Frame | None:
    """On the line, else on the indented lines after it, else above the caret before it."""
    after = lines[index + 1 : index + 1 + REACH]
    end = next((i for i, text in enumerate(after) if not text.startswith(BELOW)), len(after))
    candidates = [lines[index], *after[:end]]
    if any(CARET.match(text) for text in lines[max(0, index - 3) : index]):
        candidates += reversed(lines[max(0, index - 6) : index])
    if index and BARE.match(lines[index - 1]):
        candidates.append(lines[index - 1])
    return next((frame for text in candidates if (frame := place_in(text))), None)


def place_in(text: str) -> Frame | None:
    for found in PLACE.finditer(text[:600]):
        file = found["f1"] or found["f2"] or found["f3"] or found["f4"]
        line = found["l1"] or found["l2"] or found["l3"] or found["l4"]
        numeric = file.replace(".", "").isdigit()
        if not numeric and not is_foreign(file) and "//" not in file.removeprefix("file://"):
            return Frame(tidy(file), int(line[:9]))
    return None
