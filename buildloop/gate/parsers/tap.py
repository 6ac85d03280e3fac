"""Test Anything Protocol and its speakers: node:test, tape, ava --tap, bats, prove, lua-TestMore."""

from __future__ import annotations

import re
from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers import js_stack
from buildloop.gate.parsers.frames import Frame, innermost, tidy
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, tally, unique
from buildloop.patterns import Regex

RESULT = Regex(
    r"(?P<indent>\s*)(?P<failed>not )?ok (?P<number>\d+)(?: -)?(?: (?P<name>.*?))?(?P<directive> # (?:SKIP"
    r"|TODO|skip|todo)\b.*)?$"
)
YAML_FACT = Regex(
    r"\s+(?P<name>error|expected|actual|name|code|location|operator|at|message|found|wanted|file|line"
    r"|failureType)\s*:\s*(?P<value>.*)$"
)
BATS_PLACE = Regex(r"#\s+(?:\(.*)?in (?P<test>test )?file (?P<file>\S+), line (?P<line>\d+)")
SHELL_PLACE = Regex(r"#\s+(?P<file>[\w./-]+): line (?P<line>\d+): ")
PERL_HEAD = Regex(r"#\s+(?:Failed test|at )")
BATS_COMMAND = Regex(r"#\s+`.*' failed")
PERL_PLACE = Regex(r"#?\s*(?:.*? )?at (?P<file>\S+\.\w+) line (?P<line>\d+)")
JS_TOTAL = Regex(r"\s*# (tests|pass|fail|skipped|todo|cancelled) (\d+)$")
PLAN = Regex(r"1\.\.\d+")
BLOCK_TEXT = ("|-", "|", ">-", ">")


def parse(lines: Lines) -> ToolReport:
    if not any(RESULT.match(line) for line in lines if "ok " in line):
        return ToolReport()
    sightings = list(_failures(lines))
    failing = unique([s.finding.test or "" for s in sightings])
    return ToolReport(tuple(sightings), _counts(lines), failing)


def _failures(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        result = RESULT.match(line) if "not ok " in line else None
        if not result or not result["failed"] or result["directive"]:
            continue
        end = index + 1
        while (
            end < len(lines)
            and not RESULT.match(lines[end])
            and not PLAN.match(lines[end])
            and end - index < 200
        ):
            if lines[end].lstrip().startswith("# Subtest:"):
                break
            end += 1
        block = lines[index + 1 : end]
        finding = _node_or_tape(block, line, result["name"]) or _commented(block, line, result["name"])
        parent = finding.type in ("subtestsFailed", "ERR_TEST_FAILURE")
        yield Sighting(finding, index, end, Rank.HINT if parent else Rank.CAUSE)


def _node_or_tape(block: Lines, head: str, name: str | None) -> Finding | None:
    """A YAML block between `---` and `...`."""
    if not block or block[0].strip() != "---":
        return None
    yaml = block[: next((i for i, line in enumerate(block) if line.strip() == "..."), len(block))]
    facts: dict[str, str] = {}
    shown: dict[str, str] = {}
    for index, line in enumerate(yaml):
        fact = YAML_FACT.match(line)
        if fact and fact["name"] not in facts:
            value, at = fact["value"].strip(), index
            if value in BLOCK_TEXT and index + 1 < len(yaml):
                value, at = yaml[index + 1].strip(), index + 1
            facts[fact["name"]], shown[fact["name"]] = value.strip("'\""), yaml[at]
    frames = _stack(yaml)
    declared = js_stack.PLACED.search(facts.get("location", "") or facts.get("at", ""))
    frame = innermost(frames) if frames else None
    if (frame is None or frame.file.startswith("node:")) and declared:
        frame = Frame(tidy(declared["file"]), int(declared["line"][:9]))
    message = facts.get("error") or facts.get("message") or facts.get("operator") or name or head
    wrapper = facts.get("failureType") == "subtestsFailed" or message in ("test failed", "1 subtest failed")
    order = (
        "error",
        "message",
        "actual",
        "expected",
        "found",
        "wanted",
        "code",
        "operator",
        "location",
        "at",
    )
    return Finding(
        message=message,
        tool="tap",
        test=name,
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type="subtestsFailed" if wrapper else facts.get("name") or facts.get("code"),
        expected=facts.get("expected") or facts.get("wanted"),
        actual=facts.get("actual") or facts.get("found"),
        lines=unique(
            [shown[key] for key in order[:2] if key in shown]
            + [head]
            + [shown[key] for key in order[2:] if key in shown]
            + [js_stack.place_line(yaml, frame)]
        ),
    )


STACKED = Regex(r"\s+(?:[\w.<>$ \[\]]+ \()?(?P<file>(?:file://)?/[^\s():]+):(?P<line>\d+):\d+\)?$")


def _stack(yaml: Lines) -> list[Frame]:
    found = (STACKED.match(line) for line in yaml if "location:" not in line)
    return [Frame(tidy(m["file"]), int(m["line"][:9])) for m in found if m]


def _comment_place(comments: Lines) -> re.Match[str] | None:
    """A script that failed, then the line of the test, not that of the assertion library that it called."""
    bats = [m for line in comments if (m := BATS_PLACE.match(line))]
    scripts = (m for line in comments if (m := SHELL_PLACE.match(line)))
    perl = (m for line in comments if (m := PERL_PLACE.match(line)))
    return next(scripts, None) or next((m for m in bats if m["test"]), None) or next(perl, None)


def _commented(block: Lines, head: str, name: str | None) -> Finding:
    """bats and Test::More explain themselves in `#` comments after the result."""
    comments = [line for line in block if line.lstrip().startswith("#")]
    place = _comment_place([line.lstrip() for line in comments])
    telling = [c for c in comments if not BATS_PLACE.match(c.lstrip()) and not PERL_HEAD.match(c.lstrip())]
    commands = [c for c in telling if BATS_COMMAND.match(c.lstrip())]
    output = [c for c in telling if c not in commands and c.strip("#- ")]
    telling = [*output, *commands]
    facts = {}
    for comment in comments:
        key, colon, value = comment.lstrip("# ").partition(":")
        if colon and key.strip() in ("got", "expected", "actual"):
            facts[key.strip()] = value.strip()
    return Finding(
        message=(telling[0].lstrip("# ") if telling else name or head).strip(),
        tool="tap",
        test=name,
        file=place["file"] if place else None,
        line=int(place["line"][:9]) if place else None,
        expected=facts.get("expected"),
        actual=facts.get("got") or facts.get("actual"),
        lines=unique([*telling[:4], head, *comments[:8]]),
    )


def _counts(lines: Lines) -> TestCounts | None:
    told: dict[str, int] = {}
    for line in lines:
        if line.lstrip().startswith("# ") and (total := JS_TOTAL.match(line)):
            told[total[1]] = told.get(total[1], 0) + int(total[2])
    if "pass" in told:
        skipped = told.get("skipped", 0) + told.get("todo", 0)
        return tally(told["pass"], told.get("fail", 0) + told.get("cancelled", 0), skipped)
    passed = failed = skipped = 0
    for line in lines:
        result = RESULT.match(line) if line.startswith(("ok ", "not ok ")) else None
        if result and result["directive"]:
            skipped += 1
        elif result and result["failed"]:
            failed += 1
        elif result:
            passed += 1
    return tally(passed, failed, skipped) if passed or failed or skipped else None
