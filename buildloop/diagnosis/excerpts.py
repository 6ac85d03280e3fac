"""The few lines of source, and of a diff, that stand where an error points."""

from __future__ import annotations

import re
from typing import NamedTuple

from buildloop.patterns import Regex

CONTEXT = 3
MAX_HUNK_LINES = 20
PLACE = Regex(
    r"File \"(?P<f1>[^\"]+)\", line (?P<l1>\d+)"
    r"|(?P<f2>(?:[A-Za-z]:)?[\w@./\\+-]*[\w-]\.[A-Za-z]\w{0,6})(?::\[?|\()(?P<l2>\d+)"
    r"|(?P<f3>[\w./+-]+\.\w{1,6}) (?:on )?line (?P<l3>\d+)"
)
HUNK = Regex(r"@@ -\d+(?:,\d+)? \+(?P<start>\d+)(?:,(?P<count>\d+))? @@")


class Located(NamedTuple):
    file: str
    line: int


def locate(line: str) -> Located | None:
    """The place that a line names, if it names one."""
    found = PLACE.search(re.sub(r"\w+://\S+", " ", line[:4000]))
    if not found:
        return None
    file = found["f1"] or found["f2"] or found["f3"]
    number = found["l1"] or found["l2"] or found["l3"]
    return Located(file.removeprefix("./"), int(number[:9]))


def source_excerpt(source: str, place: Located, context: int = CONTEXT) -> str | None:
    """The lines around the place, numbered, the place marked; None when the file is shorter than that."""
    lines = source.splitlines()
    if not 1 <= place.line <= len(lines):
        return None
    first = max(1, place.line - context)
    last = min(len(lines), place.line + context)
    width = len(str(last))
    shown = [
        f"{'>' if number == place.line else ' '} {number:>{width}} | {lines[number - 1]}"
        for number in range(first, last + 1)
    ]
    return "\n".join([f"  {place.file}:{place.line}", *shown])


def changed_hunk(diff: str, place: Located) -> str | None:
    """The hunk of a unified diff that touches the place, or the file's first hunk when none does."""
    hunks = _hunks_of(diff, place.file)
    touching = next((text for start, end, text in hunks if start <= place.line < end), None)
    if touching or hunks:
        return f"  last change in {place.file}:\n{touching or hunks[0][2]}"
    return None


def _hunks_of(diff: str, file: str) -> list[tuple[int, int, str]]:
    found: list[tuple[int, int, list[str]]] = []
    inside = False
    for line in diff.splitlines():
        if line.startswith("+++ "):
            name = line[4:].split("\t")[0].removeprefix("b/")
            inside = name == file or file.endswith("/" + name) or name.endswith("/" + file)
        elif line.startswith(("diff ", "--- ")):
            inside = False
        elif inside and (hunk := HUNK.match(line)):
            start, count = int(hunk["start"]), int(hunk["count"] or 1)
            found.append((start, start + max(count, 1), [line]))
        elif inside and found and len(found[-1][2]) < MAX_HUNK_LINES:
            found[-1][2].append(line)
    return [(start, end, "\n".join(lines)) for start, end, lines in found]
