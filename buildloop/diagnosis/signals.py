"""One pass over a log for what bears on the failure mode: missing things, failed installs, mixed outcomes, agents."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache

from buildloop.diagnosis.model import Signal, SignalKind
from buildloop.diagnosis.ownership import names_in
from buildloop.diagnosis.signs import agents, jvm, native, node, python, scripting, system
from buildloop.diagnosis.signs.agent_events import read_event
from buildloop.diagnosis.signs.lines import plain, statements
from buildloop.diagnosis.signs.outcomes import Outcomes
from buildloop.diagnosis.signs.sign import Sign, indexed

FAMILIES = (agents, python, node, native, jvm, scripting, system)
# Every statement in the tables holds one of these; most lines of a log hold none.
HINT = re.compile(
    r"not |No |no |annot|ould|rror|ERR|ail|equire|issing|nable|ersion|onflict|an't|cannot|does|oop|ran out|too |imit|xceed"
    r"|rogram|E: |mismatch|HASHES|depend|Depend|nmet|IN USE|in use|EADDRINUSE|AddrInUse|ENOENT|unt find|undeclared|UNSAT"
    r"|Unsat|Unsupported|invalid|Invalid|Because|YN0|nteg|lock|LINK|Gem::|Bundler|natively|activated|member|dyld|SECURITY"
)
PORT_TAKEN = re.compile(
    r"\bEADDRINUSE\b|\baddress already in use\b|\bAddrInUse\b|\bport \d+ is already (?:in use|allocated)\b|WinError 10048",
    re.I,
)
STARTS_PROCESS = re.compile(
    r"subprocess|_execute_child|Popen|popen|os\.exec|in `spawn'|in [`'](?:Kernel#)?(?:`|system|exec|spawn)'|Open3"
)
QUOTED = re.compile(r"\bassert\b|\bexpect(?:ed|\()|[Rr]eceived|toEqual|toThrow|toMatch")
# What a compiler prints under its error tells whose the missing thing is: `"own.h"` or `<theirs.h>`,
# nothing of that name in a module that exists, or no such crate at all.
DETAILS: dict[str, tuple[tuple[re.Pattern[str], bool], ...]] = {
    "c": (
        (re.compile(r'#\s*(?:include|import)\s*"'), True),
        (re.compile(r"#\s*(?:include|import)\s*<"), False),
    ),
    "rust": (
        (re.compile(r"\^ (?:no `[^`]+` in|could not find `[^`]+` in `)"), True),
        (re.compile(r"unlinked crate|undeclared crate|missing crate|cargo add|extern crate"), False),
    ),
}
DETAIL_WITHIN = 8
FRAMES_KEPT = 80
MAX_SIGNALS = 200


@dataclass(frozen=True, slots=True)
class Scan:
    signals: tuple[Signal, ...] = ()
    own_names: frozenset[str] = frozenset()


def scan(lines: Iterable[str]) -> Scan:
    """Linear in the log, bounded in memory."""
    found: list[Signal] = []
    outcomes = Outcomes()
    around: deque[str] = deque(maxlen=FRAMES_KEPT)
    own: set[str] = set()
    watching = detailing = 0
    for raw in lines:
        line = plain(raw)
        outcomes.feed(line)
        around.append(line)
        if watching:
            watching -= 1
            own |= names_in(line)
        if detailing:
            detailing -= 1
            found[-1] = _with_detail(found[-1], line)
        if not HINT.search(line):
            continue
        signal = read_line(line)
        if signal is None or len(found) >= MAX_SIGNALS:
            continue
        found.append(signal)
        if signal.kind is SignalKind.MISSING:
            own.update(*map(names_in, around))
            watching = FRAMES_KEPT
            found[-1] = _with_surroundings(signal, around)
            around.clear()
        detailing = DETAIL_WITHIN if signal.ecosystem in DETAILS else 0
    mixed = (Signal(SignalKind.MIXED_OUTCOME, line) for line in outcomes.evidence()[:4])
    return Scan((*_distinct(found), *mixed), frozenset(own))


def read_line(line: str) -> Signal | None:
    """What this line alone proves."""
    if line.lstrip()[:1] in ("{", "["):
        if signal := read_event(line):
            return signal
    if PORT_TAKEN.search(line) and not QUOTED.search(line):
        return Signal(SignalKind.PORT_TAKEN, line.strip())
    rows = [sign for literal, sign in _index() if literal in line]
    for statement in statements(line):
        for sign in rows:
            if signal := sign.read(statement, line.strip()):
                return signal
    return None


@cache
def _index() -> tuple[tuple[str, Sign], ...]:
    return indexed(sign for family in FAMILIES for sign in family.SIGNS)


def _with_detail(signal: Signal, line: str) -> Signal:
    for pattern, local in DETAILS[signal.ecosystem]:
        if signal.local is None and pattern.search(line):
            return replace(signal, local=local)
    return signal


def _with_surroundings(signal: Signal, around: Iterable[str]) -> Signal:
    """A file that was not found is a command only if a process was being started."""
    if signal.ecosystem == "command" and "Errno" in signal.line:
        return replace(signal, local=not any(STARTS_PROCESS.search(line) for line in around))
    return signal


def _distinct(signals: Iterable[Signal]) -> Iterable[Signal]:
    return dict.fromkeys(signals)
