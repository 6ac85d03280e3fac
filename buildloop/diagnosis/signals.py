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
    r"not |No |no |ot find|ould|rror|ERR|[Ff]ail|equire|issing|nable|ersion|onflict|an't|oes|[Ll]oop|ran out|[Tt]oo |imit"
    r"|xceed|rogram|E: |mismatch|HASHES|epend|nmet|n use|IN USE|InUse|ADDRINUSE|NOENT|ndeclared|nsupported|nvalid|Because"
    r"|YN0|nteg|lock|LINK|Gem|gem|Bundler|ctivated|ember|dyld|SECURITY|ontext|onversation|ession|nput|rompt|etected|doom"
    r"|epeat|onsecutive|esol|ut you|xternally|urrent project|NotFound|ndefined|nrecognized|elative|code |notarget|peer |etwork"
    r"|ncompat|GET |found|find |nvironment|equested|ngine|using|CMAKE|nknown|unlinked|edition|ommand|ackage|updates|vendoring"
    r"|running go|erifying|eading|Get |git |module |lookup|ownload|oolchain|exec|xception|-res|maven|JAVA_HOME|compatible|nstall"
    r"|ramework|adapter|omposer|omplete|sufficient|ermission|denied|natively|anifest|driver|spawn|recogni[sz]ed|cpan|Mix"
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
# Clean-up that follows the end of a failed build is short.
NEAR_THE_END = 60


@dataclass(frozen=True, slots=True)
class Scan:
    signals: tuple[Signal, ...] = ()
    own_names: frozenset[str] = frozenset()


def scan(lines: Iterable[str]) -> Scan:
    """Linear in the log, bounded in memory."""
    scanner = Scanner()
    for line in lines:
        scanner.feed(plain(line))
    return scanner.result()


class Scanner:
    """Fed with plain lines, one by one, of a log of any length."""

    def __init__(self) -> None:
        self._count = 0
        self._last_result = 0
        self._found: dict[Signal, int] = {}
        self._open: Signal | None = None
        self._details_until = 0
        self._frames_until = 0
        self._around: deque[str] = deque(maxlen=FRAMES_KEPT)
        self._own: set[str] = set()
        self._outcomes = Outcomes()

    def feed(self, line: str) -> None:
        self._count += 1
        if self._outcomes.feed(line):
            self._last_result = self._count
        if self._count <= self._frames_until:
            self._own |= names_in(line)
        else:
            self._around.append(line)
        if self._open:
            self._open = _with_detail(self._open, line)
        if HINT.search(line) and (signal := read_line(line)):
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
            self._own.update(*map(names_in, self._around))
            self._around.clear()
            self._frames_until = self._count + FRAMES_KEPT
        self._open = signal
        self._details_until = self._count + DETAIL_WITHIN

    def _close(self) -> None:
        """Keeps the newest: what stopped a build is said last."""
        if self._open:
            self._found.pop(self._open, None)
            self._found[self._open] = self._count
            if len(self._found) > MAX_SIGNALS:
                self._found.pop(next(iter(self._found)))
        self._open = None


def read_line(line: str) -> Signal | None:
    """What this line alone proves."""
    if line.lstrip()[:1] in ("{", "["):
        if signal := read_event(line):
            return signal
    if PORT_TAKEN.search(line) and not QUOTED.search(line):
        return Signal(SignalKind.PORT_TAKEN, line.strip())
    rows = [sign for literals, sign in _index() if any(literal in line for literal in literals)]
    for statement in statements(line):
        for sign in rows:
            if signal := sign.read(statement, line.strip()):
                return signal
    return None


@cache
def _index() -> tuple[tuple[tuple[str, ...], Sign], ...]:
    return indexed(sign for family in FAMILIES for sign in family.SIGNS)


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
