"""cargo test, nextest and Rust panics."""

from __future__ import annotations

import re
from collections.abc import Iterator

from buildloop.diagnosis.model import Finding, TestCounts
from buildloop.gate.parsers.frames import is_foreign
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, added, tally, unique
from buildloop.patterns import Regex

PANIC = Regex(r"\s*thread '(?P<thread>[^']*)'(?: \(\d+\))? panicked at (?P<rest>.*)$")
PLACE_FIRST = Regex(r"(?P<file>[^:'\s][^:']*):(?P<line>\d+):\d+:?$")
MESSAGE_FIRST = Regex(r"'(?P<message>.*)', (?P<file>[^:']+):(?P<line>\d+):\d+$")
RESULT = Regex(r"\s*test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
FAILED = Regex(r"\s*test (?P<test>\S+)(?: - .*)? \.\.\. FAILED$")
NEXTEST = Regex(
    r"\s+(?:FAIL|TIMEOUT|SIG\w+|ABORT|LEAK-FAIL|TRY \d+ FAIL) \[ *[><]?[\d.]+s\](?: \([ \d/]+\))? "
    r"(?P<test>\S+(?: \S+)?)$"
)
NEXTEST_SUMMARY = Regex(
    r"\s+Summary \[ *[\d.]+s\] +(?P<run>\d+)(?:/\d+)? tests? run: (?P<passed>\d+) passed(?P<rest>.*)"
)
STDOUT = Regex(r"\s*---- (?P<test>\S+)(?: - .*)? stdout ----")
DETAIL = Regex(r"\s*(?:left|right|Error|cause|expected|actual)\b[^:]*:")
STACK = Regex(r"thread '(?P<thread>[^']*)'(?: \(\d+\))? has overflowed its stack")
SIGNAL = Regex(
    r"\s*(?:error: test failed|process didn't exit successfully"
    r"|Caused by:).*\(signal: (?P<signal>\d+), (?P<name>[^)]*)\)"
)
END = Regex(r"\s*(?:note: |stack backtrace:|failures:|---- |test result|thread '|$)")


def parse(lines: Lines) -> ToolReport:
    panics = [*_panics(lines), *_overflows(lines)]
    failed = [m["test"] for line in lines if "FAILED" in line and (m := FAILED.match(line))]
    nextest = [m["test"] for line in lines if "[" in line and (m := NEXTEST.match(line))]
    told = {p.finding.test for p in panics}
    silent = [
        Sighting(
            Finding(line.strip(), "cargo test", m["test"], lines=_own_output(lines, m["test"], line)),
            i,
            i + 1,
        )
        for i, line in enumerate(lines)
        if ("FAILED" in line or "[" in line)
        and (m := FAILED.match(line) or NEXTEST.match(line))
        and not _told(lines, m["test"], told)
    ]
    return ToolReport((*panics, *silent), _counts(lines), unique(nextest or failed))


def _told(lines: Lines, test: str, told: set[str | None]) -> bool:
    """Whether a panic already tells about the test; that of a doctest is in the main thread of a program."""
    own = any(PANIC.match(text) for text in _section(lines, test))
    return own or test.rsplit(maxsplit=1)[-1] in told


def _section(lines: Lines, test: str) -> list[str]:
    """What a test printed, under its own heading."""
    start = next((i for i, text in enumerate(lines) if (m := STDOUT.match(text)) and m["test"] == test), None)
    if start is None:
        return []
    after = lines[start + 1 : start + 40]
    end = next((i for i, text in enumerate(after) if text.startswith(("---- ", "failures:"))), len(after))
    return [text for text in after[:end] if text.strip()]


def _own_output(lines: Lines, test: str, line: str) -> tuple[str, ...]:
    """A test that returns an error prints it without a panic."""
    return unique([*_section(lines, test)[:5], line])


def _panics(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        panic = PANIC.match(line) if " panicked at " in line else None
        if not panic:
            continue
        first, last = PLACE_FIRST.match(panic["rest"]), MESSAGE_FIRST.match(panic["rest"])
        end = index + 1
        while first and end < min(len(lines), index + 60) and not END.match(lines[end]):
            end += 1
        said = list(lines[index + 1 : end])
        message = last["message"] if last else (said[0].strip() if said else line.strip())
        place = first or last
        place = place if place and not is_foreign(place["file"]) else None
        facts = {
            k.strip(): v.strip() for text in said if DETAIL.match(text) for k, _, v in [text.partition(":")]
        }
        thread = panic["thread"]
        finding = Finding(
            message=message,
            tool="cargo test",
            test=None if thread in ("main", "<unnamed>") else thread,
            file=place["file"] if place else None,
            line=int(place["line"][:9]) if place else None,
            type="assertion" if message.startswith("assertion") else "panic",
            expected=facts.get("right"),
            actual=facts.get("left"),
            lines=unique([*said[:3], line, *said[3:6]]),
        )
        echo = message.lower().startswith("some tests failed")
        yield Sighting(finding, index, end, Rank.CASCADE if echo else Rank.CAUSE)


def _overflows(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        if "overflowed its stack" in line and (found := STACK.match(line)):
            shown = (
                line,
                *(
                    text
                    for text in lines[index + 1 : index + 12]
                    if "SIGABRT" in text or "fatal runtime" in text
                ),
            )
            yield Sighting(
                Finding(line, "cargo test", found["thread"], type="StackOverflow", lines=shown),
                index,
                index + 2,
            )
        elif "(signal:" in line and (died := SIGNAL.match(line)):
            kind = f"signal {died['signal']} {died['name']}"
            yield Sighting(
                Finding(line.strip(), "cargo test", type=kind, lines=(line,)), index, index + 1, Rank.HINT
            )


def _counts(lines: Lines) -> TestCounts | None:
    """nextest runs every test in a process of its own, whose `test result` must not be counted again."""
    plain, nextest = [], []
    for line in lines:
        if "test result: " in line and (match := RESULT.match(line)):
            plain.append(tally(int(match[1]), int(match[2]), int(match[3])))
        elif " run: " in line and (match := NEXTEST_SUMMARY.match(line)):
            skipped = re.search(r"(\d+) skipped", match["rest"])
            run, passed = int(match["run"]), int(match["passed"])
            nextest.append(tally(passed, run - passed, int(skipped[1]) if skipped else 0))
    return added(nextest or plain)
