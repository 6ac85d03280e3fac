"""npm: the block of `npm error` (or `npm ERR!`) lines, without its usage text."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.patterns import Regex

LINE = Regex(r"npm (?:error|ERR!)(?: (?P<text>.*))?$")
CODE = Regex(r"npm (?:error|ERR!) code (?P<code>\w+)$")
USELESS = Regex(
    r"(?:A complete log of this run|\s*/\S+-debug|errno |syscall |cwd |node -v|npm -v|argv|System |\[--|\[-"
    r"|Usage:|Options:|Run \"npm help|aliases:|  --|    |For a full report|/\S+\.txt$|node_modules/\S+$"
    r"|\d{3}$|\d{3} Note that|\d{3} tarball|workspace |location |In most cases|path |stack |This is related"
    r"|peer dep |Clean install a project|notarget In most|Fix the upstream|Lifecycle script|npm ci$|$)"
)
ECHO = Regex(
    r"(?:ELIFECYCLE|Lifecycle script|Test failed|Exit status|command (?:failed|sh)|command |signal"
    r"|weird error|errno|Command failed|Failed at the|This is probably not|\S+@\S+ \w+: `)"
)
EXPLAINS = Regex(
    r"(?:ERESOLVE|Could not resolve|Conflicting|Found:|While resolving|peer |Missing:|Invalid:|missing"
    r"|notarget No|404 |enoent |network request|JSON\.parse|engine |notsup |`npm ci`|The `npm ci`"
    r"|Missing script|request to|EACCES|EPERM|code |gyp ERR! (?:stack Error|find))"
)


def parse(lines: Lines) -> ToolReport:
    return ToolReport(tuple(_blocks(lines)))


def _blocks(lines: Lines) -> Iterator[Sighting]:
    index = 0
    while index < len(lines):
        if not LINE.match(lines[index]):
            index += 1
            continue
        end = index
        while end < len(lines) and (LINE.match(lines[end]) or not lines[end].strip()):
            end += 1
        yield from _block(lines, index, end)
        index = end


def _block(lines: Lines, start: int, end: int) -> Iterator[Sighting]:
    told = [(line, (m["text"] or "") if (m := LINE.match(line)) else "") for line in lines[start:end]]
    useful = [(line, text) for line, text in told if text and not USELESS.match(text)]
    if not useful:
        return
    code = next((m["code"] for line, _ in told if (m := CODE.match(line))), None)
    explaining = [line for line, text in useful if EXPLAINS.match(text)]
    echo = code in (None, "ELIFECYCLE", "1", "2", "127") and all(
        ECHO.match(t) or t.startswith("code ") for _, t in useful
    )
    shown = unique([*explaining[:7], *(line for line, _ in useful)])
    message = next((text for _, text in useful if not text.startswith("code ")), useful[0][1])
    yield Sighting(
        Finding(message.strip(), "npm", type=code or "npm", lines=shown[:12]),
        start,
        end,
        Rank.CASCADE if echo else Rank.CAUSE,
    )
