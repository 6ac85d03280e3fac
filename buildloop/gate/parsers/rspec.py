"""RSpec: numbered failures, files that failed to load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import Frame, innermost, tidy
from buildloop.gate.parsers.report import Lines, Sighting, ToolReport, added, blocks, tally, unique
from buildloop.patterns import Regex

HEAD = Regex(r"\s{1,4}\d+(?:\.\d+)?\) (?P<title>\S.*)$")
LOADING = Regex(r"An error occurred (?:while loading (?P<file>\S+?)\.?$|in an? `)")
FAILURE = Regex(r"\s*Failure/Error: ")
TYPE = Regex(
    r"\s*(?P<type>[A-Z][\w:]*(?:Error|Exception|Failure|NotFound|Invalid|Timeout|Exit"
    r"|[A-Z]\w*))(?: \(.*\))?:$"
)
FRAME = Regex(r"\s*# (?P<file>[^\s:]+):(?P<line>\d+)(?::in |$)")
FACT = Regex(r"\s+(?P<name>expected|got|received):? +(?P<value>.*)$|\s+expected\b.*")
# Ruby names the place of a syntax error in its message.
BROKEN = Regex(r"\s+(?P<file>\S+\.rb):(?P<line>\d+): (?:syntax error|.*SyntaxError|.*unexpected)")
RERUN = Regex(r"rspec (?P<test>\S+)(?: # .*)?$")
TALLY = Regex(r"(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside)?")
END = Regex(
    r"Finished in |Failed examples:|Pending:|No examples found|Top \d+ slowest|Coverage report"
    r"|\d+ examples?, "
)


def parse(lines: Lines) -> ToolReport:
    rerun = [m["test"] for line in lines if line.startswith("rspec ") and (m := RERUN.match(line))]
    listed = {line.partition(" # ")[2]: line for line in reversed(lines) if RERUN.match(line)}
    sightings = [_with_rerun(sighting, listed) for sighting in _blocks(lines)]
    return ToolReport(tuple(sightings), _counts(lines), unique(rerun))


def _with_rerun(sighting: Sighting, listed: dict[str, str]) -> Sighting:
    """`rspec ./spec/a_spec.rb:4 # Cart total` names the place to run again and, behind the #, the example."""
    rerun = listed.get(sighting.finding.test or "")
    if not rerun:
        return sighting
    own = sighting.finding.lines
    return replace(sighting, finding=replace(sighting.finding, lines=unique([*own[:3], rerun, *own[3:]])))


def _blocks(lines: Lines) -> Iterator[Sighting]:
    for start, end in blocks(lines, lambda line: HEAD.match(line) or LOADING.match(line), END.match):
        yield from _block(lines, start, end)


def _block(lines: Lines, start: int, end: int) -> Iterator[Sighting]:
    block = lines[start:end]
    if not any(FAILURE.match(text) or TYPE.match(text) for text in block):
        return
    head = HEAD.match(block[0])
    frames = [Frame(tidy(m["file"]), int(m["line"][:9])) for text in block if (m := FRAME.match(text))]
    frame = innermost(frames)
    if frame and "rspec-core" in frame.file:
        frame = None
    if broken := next((m for text in block if (m := BROKEN.match(text))), None):
        frame = Frame(broken["file"], int(broken["line"][:9]))
    said = [text for text in block[1:] if text.strip() and not FRAME.match(text) and not FAILURE.match(text)]
    kind = next((m for text in said if (m := TYPE.match(text))), None)
    after = said[said.index(kind.string) + 1 :] if kind else said
    telling = [text for text in after if not text.lstrip().startswith("#")]
    facts = {m["name"]: m["value"].strip() for text in said if (m := FACT.match(text)) and m["name"]}
    place = next((text for text in block if frame and f"{frame.file}:{frame.line}" in text), "")
    failure = [text for text in block if FAILURE.match(text)]
    yield Sighting(
        Finding(
            message=(telling or said or [block[0]])[0].strip(),
            tool="rspec",
            test=head["title"] if head else None,
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type=kind["type"] if kind else "ExpectationNotMet",
            expected=facts.get("expected"),
            actual=facts.get("got") or facts.get("received"),
            lines=unique(
                [*telling[:3], block[0], place, kind.string if kind else "", *failure[:1], *telling[3:6]]
            ),
        ),
        start,
        end,
    )


def _counts(lines: Lines) -> TestCounts | None:
    found = []
    for line in lines:
        if " example" in line and (match := TALLY.match(line.strip())):
            run, failed, pending, outside = (int(number or 0) for number in match.groups())
            found.append(tally(run - failed - pending, failed + outside, pending))
    return added(found)
