"""One pass over a log for what bears on the failure mode beyond the failure itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from buildloop.diagnosis.model import LogReading, Signal, SignalKind
from buildloop.diagnosis.ownership import names_in
from buildloop.diagnosis.signs import agents, jvm, native, node, python, scripting, system
from buildloop.diagnosis.signs.agent_events import read_event
from buildloop.diagnosis.signs.lines import plain, statements
from buildloop.diagnosis.signs.outcomes import Outcomes
from buildloop.diagnosis.signs.sign import Sign
from buildloop.patterns import Regex

FAMILIES = (agents, python, node, native, jvm, scripting, system)
SIGNS: tuple[Sign, ...] = tuple(sign for family in FAMILIES for sign in family.SIGNS)
PORT_TAKEN = (
    "EADDRINUSE",
    "ddress already in use",
    "AddrInUse",
    "WinError 10048",
    "port is already allocated",
)
STARTS_PROCESS = Regex(
    r"subprocess|_execute_child|Popen|popen|os\.exec|in `spawn'|in [`'](?:Kernel#)?(?:`|system|exec"
    r"|spawn)'|Open3"
)
QUOTED = Regex(r"\bassert\b|\bexpect(?:ed|\()|[Rr]eceived|toEqual|toThrow|toMatch")
# What a compiler prints under its error tells whose the missing thing is: `"own.h"` or `<theirs.h>`,
# nothing of that name in a module that exists, or no such crate at all.
DETAILS: dict[str, tuple[tuple[Regex, bool], ...]] = {
    "c": (
        (Regex(r'#\s*(?:include|import)\s*"'), True),
        (Regex(r"#\s*(?:include|import)\s*<"), False),
    ),
    "node": ((Regex(r"^- .*node_modules/"), False), (Regex(r"^- /"), True)),
    "rust": (
        (Regex(r"\^ (?:no `[^`]+` in|could not find `[^`]+` in `)"), True),
        (Regex(r"unlinked crate|undeclared crate|missing crate|cargo add|extern crate"), False),
    ),
}
# The package manager got past its complaints; the agent compacted its context and finished.
FINISHED = Regex(
    r"(?!.*\"is_error\": ?true)(?!.*\"status\": ?\"error\").*\"type\": ?\"(?:turn\.completed|result)\""
)
OVERCOME: dict[str, Regex] = {
    "agent": FINISHED,
    "provider": FINISHED,
    "python": Regex(r"\s*Successfully installed |Requirement already satisfied: |Resolved \d+ packages"),
    "node": Regex(r"(?:added|up to date|audited|changed) .*\bpackages?\b|✨ +Done in |Done in \d"),
    "system": Regex(r"[WE]: Some index files failed to download|Setting up \S+ \("),
    "ruby": Regex(r"Bundle complete!"),
    "php": Regex(r"Generating (?:optimized )?autoload files"),
    "rust": Regex(r"\s*Finished (?:`\w+` profile|dev|test|release) "),
}
CAN_BE_OVERCOME = frozenset({SignalKind.INSTALL, SignalKind.CONTEXT_OVERFLOW})
DETAIL_WITHIN = 8
FRAMES_KEPT = 80
SUBJECTS_KEPT = 20
MAX_SIGNALS = 200
# Clean-up that follows the end of a failed build is short.
NEAR_THE_END = 60


class Scan(NamedTuple):
    signals: tuple[Signal, ...] = ()
    own_names: frozenset[str] = frozenset()


def scan(lines: Sequence[str]) -> Scan:
    scanner = Scanner("\n".join(lines))
    for line in lines:
        scanner.feed(plain(line))
    return scanner.result()


def with_scan(reading: LogReading, seen: Scan) -> LogReading:
    return replace(reading, signals=seen.signals, own_names=seen.own_names, scanned=True)


class Scanner:
    """Fed with plain lines, one by one; a look at the whole text tells which few of the many signs it needs."""

    def __init__(self, text: str) -> None:
        self._signs = [sign for sign in SIGNS if sign.pattern.may_match(text)]
        self._count = 0
        self._last_result = 0
        self._found: dict[Signal, int] = {}
        self._open: Signal | None = None
        self._open_at = 0
        self._details_until = 0
        self._frames_until = 0
        self._around: deque[str] = deque(maxlen=FRAMES_KEPT)
        self._own: set[str] = set()
        self._subjects: deque[str] = deque(maxlen=SUBJECTS_KEPT)
        self._outcomes = Outcomes(text)

    def feed(self, line: str) -> None:
        self._count += 1
        if self._outcomes.feed(line):
            self._last_result = self._count
        if self._count <= self._frames_until:
            self._own |= names_in(self._without_subjects(line))
        else:
            self._around.append(line)
        if self._open:
            self._open = _with_detail(self._open, line)
        self._forget_overcome(line)
        if signal := read_line(line, self._signs):
            self._close()
            self._note(signal)
        elif self._count >= self._details_until:
            self._close()

    def result(self) -> Scan:
        self._close()
        late = max(self._last_result, self._count - NEAR_THE_END)
        signals = [replace(signal, late=at > late) for signal, at in self._found.items()]
        mixed = [Signal(SignalKind.MIXED_OUTCOME, line) for line in self._outcomes.evidence()[:4]]
        return Scan((*signals, *mixed), frozenset(self._own))

    def _note(self, signal: Signal) -> None:
        if signal.kind is SignalKind.MISSING:
            signal = _with_surroundings(signal, self._around)
            self._subjects.append(signal.subject)
            self._own.update(*(names_in(self._without_subjects(line)) for line in self._around))
            self._around.clear()
            self._frames_until = self._count + FRAMES_KEPT
        self._open, self._open_at = signal, self._count
        self._details_until = self._count + DETAIL_WITHIN

    def _forget_overcome(self, line: str) -> None:
        if not self._found and not self._open:
            return
        past = {ecosystem for ecosystem, pattern in OVERCOME.items() if pattern.match(line)}
        if not past:
            return
        if self._open and _is_overcome(self._open, past):
            self._open = None
        self._found = {signal: at for signal, at in self._found.items() if not _is_overcome(signal, past)}

    def _without_subjects(self, line: str) -> str:
        """To be looked for makes nobody a part of the project."""
        for subject in self._subjects:
            line = line.replace(subject, "")
        return line

    def _close(self) -> None:
        """Keeps the newest: what stopped a build is said last."""
        if self._open:
            self._found.pop(self._open, None)
            self._found[self._open] = self._open_at
            if len(self._found) > MAX_SIGNALS:
                self._found.pop(next(iter(self._found)))
        self._open = None


def read_line(line: str, signs: Sequence[Sign]) -> Signal | None:
    """What this line alone proves."""
    if line.lstrip()[:1] in ("{", "[") and (signal := read_event(line)):
        return signal
    if any(words in line for words in PORT_TAKEN) and not QUOTED.search(line):
        return Signal(SignalKind.PORT_TAKEN, line.strip())
    possible = [sign for sign in signs if sign.pattern.may_match(line)]
    for statement in statements(line) if possible else ():
        for sign in possible:
            if signal := sign.read(statement, line.strip()):
                return signal
    return None


def _is_overcome(signal: Signal, past: Collection[str]) -> bool:
    return signal.kind in CAN_BE_OVERCOME and signal.ecosystem in past


def _with_detail(signal: Signal, line: str) -> Signal:
    for pattern, local in DETAILS.get(signal.ecosystem, ()):
        if signal.local is None and pattern.search(line):
            return replace(signal, local=local)
    return signal


def _with_surroundings(signal: Signal, around: Iterable[str]) -> Signal:
    """A file that was not found is a command only if a process was being started."""
    if signal.ecosystem == "command" and "Errno" in signal.line:
        return replace(signal, local=not any(STARTS_PROCESS.search(line) for line in around))
    return signal
