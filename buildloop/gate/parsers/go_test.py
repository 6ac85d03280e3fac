"""go test: `--- FAIL` with its lines, panics, timeouts, data races; also gotestsum."""

from __future__ import annotations

from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import Frame, innermost, is_foreign
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, tally, unique
from buildloop.patterns import Regex

FAIL = Regex(r"(?P<indent>\s*)--- FAIL: (?P<test>\S+) \([\d.]+s\)")
OTHER = Regex(
    r"\s*--- (?:PASS|SKIP): |\s*=== |ok\s+\S+\s|FAIL$|FAIL\t|PASS$|exit status \d|panic: |DONE \d"
    r"|\?\s+\S+\s+\[no test"
)
PLACED = Regex(r"\s+(?P<file>[\w./-]+\.go):(?P<line>\d+): ?(?P<message>.*)$")
TESTIFY = Regex(r"\s+Error Trace:\s+(?P<file>\S+?\.go):(?P<line>\d+)")
TESTIFY_ERROR = Regex(r"\s+Error:\s+\S")
FACT = Regex(r"\s*(?P<name>got|want|expected|actual|have|Got|Want|Expected|Actual)\s*:\s*(?P<value>.*)$")
GOT_WANT = Regex(
    r"(?:got|=|returned) *[=:]? *(?P<actual>[^,;]{1,200})[,;] *(?:but )?(?:want|wanted"
    r"|expected)(?:ed)? *[=:]? *(?P<expected>.{1,200})$"
)
PANIC = Regex(r"(?:panic: |fatal error: |unexpected fault address|SIGSEGV: )(?P<message>.*)$")
STACK_FRAME = Regex(r"\s+(?P<file>\S+\.(?:go|s)):(?P<line>\d+)(?: \+0x[0-9a-f]+)?$")
RACE = "WARNING: DATA RACE"
DONE = Regex(r"DONE (?P<run>\d+) tests(?:, (?P<skipped>\d+) skipped)?(?:, (?P<failed>\d+) failures?)?")
PASSED = Regex(r"\s*--- PASS: ")
SKIPPED = Regex(r"\s*--- SKIP: ")


def parse(lines: Lines) -> ToolReport:
    failures = list(_failures(lines))
    failing = [s.finding.test for s in failures if s.finding.test]
    return ToolReport((*_panics(lines), *_races(lines), *failures), _counts(lines, failing), unique(failing))


def _failures(lines: Lines) -> Iterator[Sighting]:
    """Go prints a test's lines after its `--- FAIL`, or, with -v, before it."""
    for index, line in enumerate(lines):
        fail = FAIL.match(line) if "--- FAIL: " in line else None
        if not fail:
            continue
        end = index + 1
        while end < len(lines) and not OTHER.match(lines[end]) and not FAIL.match(lines[end]):
            end += 1
        block = list(lines[index + 1 : end])
        if not any(PLACED.match(text) for text in block):
            block = _verbose(lines, index, fail["test"])
        subtests = (
            end < len(lines)
            and FAIL.match(lines[end])
            and lines[end].startswith(" " * (len(fail["indent"]) + 4))
        )
        bare = not block
        rank = Rank.CASCADE if bare and subtests else Rank.HINT if bare else Rank.CAUSE
        yield Sighting(_finding(block, line, fail["test"]), index, end, rank)


def _verbose(lines: Lines, index: int, test: str) -> list[str]:
    """With -v a test's lines stand between its `=== RUN` and its `--- FAIL`."""
    block: list[str] = []
    for text in reversed(lines[max(0, index - 100) : index]):
        if text.lstrip().startswith("--- ") or (text.startswith("=== ") and text.split()[-1] == test):
            break
        if not text.startswith("=== "):
            block.insert(0, text)
    start = next((i for i, text in enumerate(block) if PLACED.match(text)), len(block))
    return block[start:]


def _finding(block: list[str], head: str, test: str) -> Finding:
    placed = [m for text in block if (m := PLACED.match(text))]
    own = next((m for m in placed if not is_foreign(m["file"])), placed[0] if placed else None)
    traced = next((m for text in block if (m := TESTIFY.match(text))), None)
    facts = {m["name"].lower(): m["value"] for text in block if (m := FACT.match(text))}
    message = next((m["message"] for m in placed if m["message"].strip()), "")
    said = [text for text in block if text.strip()]
    first = own.string if own else (said[0] if said else "")
    if not message and len(said) > 1:
        message = " ".join(text.strip() for text in said[1:3])
    compared_lines = [text for text in said if FACT.match(text) or TESTIFY_ERROR.match(text)]
    compared = GOT_WANT.search(message[:600])
    place = traced or own
    return Finding(
        message=(message or first or head).strip(),
        tool="go test",
        test=test,
        file=place["file"] if place else None,
        line=int(place["line"][:9]) if place else None,
        type="race" if "race detected" in message else None,
        expected=facts.get("want") or facts.get("expected") or (compared["expected"] if compared else None),
        actual=facts.get("got")
        or facts.get("actual")
        or facts.get("have")
        or (compared["actual"].strip() if compared else None),
        lines=unique([first, *compared_lines[:3], head, *said[:10]]),
    )


def _panics(lines: Lines) -> Iterator[Sighting]:
    index = 0
    while index < len(lines):
        panic = (
            PANIC.match(lines[index])
            if lines[index].startswith(("panic: ", "fatal error: ", "unexpected fault"))
            else None
        )
        if not panic:
            index += 1
            continue
        end = index + 1
        while end < min(len(lines), index + 400) and not lines[end].startswith(
            ("FAIL", "ok  ", "exit status")
        ):
            end += 1
        frames = [
            Frame(m["file"], int(m["line"][:9]))
            for text in lines[index:end]
            if (m := STACK_FRAME.match(text))
        ]
        own = [frame for frame in frames if not is_foreign(frame.file)]
        frame = own[0] if own else None
        place = next(
            (text for text in lines[index:end] if frame and f"{frame.file}:{frame.line}" in text), ""
        )
        notes = [
            text for text in lines[index + 1 : index + 6] if text.startswith(("\t", "running tests", "["))
        ]
        message = panic["message"].removesuffix(" [recovered]")
        finding = Finding(
            message=message,
            tool="go test",
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type="timeout" if "test timed out" in message else "panic",
            lines=unique([lines[index], place, *notes[:3]]),
        )
        yield Sighting(finding, index, end)
        index = end


def _races(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if line.strip() != RACE:
            continue
        end = next((i for i in range(index + 1, len(lines)) if lines[i].startswith("=====")), len(lines))
        frames = [
            Frame(m["file"], int(m["line"][:9]))
            for text in lines[index:end]
            if (m := STACK_FRAME.match(text))
        ]
        frame = innermost(frames)
        place = next(
            (text for text in lines[index:end] if frame and f"{frame.file}:{frame.line}" in text), ""
        )
        after = [text for text in lines[end : end + 6] if "race detected" in text]
        finding = Finding(
            "data race",
            "go test",
            file=frame.file if frame else None,
            line=frame.line if frame else None,
            type="race",
            lines=unique([line, *lines[index + 1 : index + 3], place, *after]),
        )
        yield Sighting(finding, index, end)


def _counts(lines: Lines, failing: list[str]) -> TestCounts | None:
    """Without -v go tells only what failed; gotestsum tells all."""
    for line in lines:
        if line.startswith("DONE ") and (done := DONE.match(line)):
            run, failed, skipped = int(done["run"]), int(done["failed"] or 0), int(done["skipped"] or 0)
            return tally(run - failed - skipped, failed, skipped)
    passed = sum(1 for line in lines if "--- PASS: " in line and PASSED.match(line))
    skipped = sum(1 for line in lines if "--- SKIP: " in line and SKIPPED.match(line))
    return tally(passed, len(set(failing)), skipped) if passed or failing else None
