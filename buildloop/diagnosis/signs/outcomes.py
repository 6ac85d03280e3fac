"""Whether one log shows the same tests passing and failing."""

from __future__ import annotations

import re
from collections.abc import Iterable

from buildloop.diagnosis.signs import reruns
from buildloop.patterns import Regex, possible

# Two runs of one or two tests may be two packages that happen to be as small; many are the same run again.
MANY_RUNS, MANY_TESTS = 3, 4
HINT = Regex(
    r"PASS|FAIL|[Pp]assed|[Ff]ailed|\bok\b|OK|failure|[✓✔√✘✗ℹ]|fail \d|[Tt]ests|RERUN|[Ff]lak|FLAKY|RETRY"
    r"|exit|Exit|rc="
    r"|Running |Doc-tests|platform |commands|^[+$>#\[]|^\W*(?i:test )?(?i:run|attempt|try|iteration|round"
    r"|retry|repeat)"
    r"|Entering directory|Attempt \d|\.t \.\."
)
Outcome = dict[str, str]


class Outcomes:
    """Fed line by line. Remembers, for every test and every run, the first line of each outcome."""

    def __init__(self, text: str) -> None:
        self._flaky_signs = possible(reruns.STATED_FLAKY, text)
        self._scopes = possible(reruns.SCOPES, text)
        self._test_outcomes = possible(reruns.TEST_OUTCOMES, text)
        self._run_summaries = possible(reruns.RUN_SUMMARIES, text)
        self._scope = ""
        self._total = 0
        self._segment = 0
        self._stated: list[str] = []
        self._tests: dict[tuple[str, str], Outcome] = {}
        self._go: list[tuple[str, str, str]] = []
        self._retried: dict[str, str] = {}
        self._segments: dict[int, str] = {}
        self._runs: dict[tuple[Regex, int, str], list[tuple[str, str]]] = {}

    def feed(self, line: str) -> bool:
        """Whether the line reports the outcome of a test or a run."""
        if not HINT.search(line):
            return False
        if any(pattern.match(line) for pattern in self._flaky_signs):
            self._stated.append(line)
        self._feed_scope(line)
        self._feed_retry(line)
        return self._feed_test(line) or self._feed_go(line) or self._feed_run(line)

    def evidence(self) -> tuple[str, ...]:
        """The lines that prove that outcomes differ; none when they do not."""
        self._flush_go("")
        mixed = [line for outcomes in self._tests.values() if len(outcomes) > 1 for line in outcomes.values()]
        return tuple(dict.fromkeys([*self._stated, *mixed, *self._mixed_segments(), *self._mixed_runs()]))

    def _feed_scope(self, line: str) -> None:
        for pattern in self._scopes:
            if found := pattern.match(line):
                self._scope = found.group("scope")

    def _feed_test(self, line: str) -> bool:
        for pattern in self._test_outcomes:
            if found := pattern.match(line):
                test = reruns.REPETITION.sub("", found.group("test"))
                self._note(self._scope, test, _outcome(found), line)
                return True
        return False

    def _feed_go(self, line: str) -> bool:
        if found := reruns.GO_TEST.match(line):
            self._go.append((found.group("test"), _outcome(found), line))
        elif found := reruns.GO_PACKAGE.match(line):
            self._flush_go(found.group("test"))
            self._note(self._scope, found.group("test"), _outcome(found), line)
            self._end_segment(_outcome(found))
        return found is not None

    def _flush_go(self, package: str) -> None:
        for test, outcome, line in self._go:
            self._note(package, test, outcome, line)
        self._go.clear()

    def _feed_retry(self, line: str) -> None:
        if found := reruns.RETRIED.match(line):
            self._retried.setdefault(found.group("test"), line)
        elif self._retried and (found := reruns.TICKED.match(line)) and found.group("test") in self._retried:
            self._stated += [self._retried[found.group("test")], line]

    def _feed_run(self, line: str) -> bool:
        if reruns.SEPARATOR.match(line):
            self._segment += 1
        elif found := reruns.EXIT.match(line):
            self._end_segment("pass" if int(found.group("code")) == 0 else "fail")
        elif found := reruns.TOTAL_BEFORE.match(line):
            self._total = int(found.group("total"))
        for pattern in self._run_summaries:
            if found := pattern.match(line):
                key = (pattern, _total(line) or self._total, self._scope)
                self._runs.setdefault(key, []).append((_outcome(found), line))
                self._end_segment(_outcome(found))
                return True
        return False

    def _note(self, scope: str, test: str, outcome: str, line: str) -> None:
        self._tests.setdefault((scope, test), {}).setdefault(outcome, line)

    def _end_segment(self, outcome: str) -> None:
        """A segment fails when anything in it fails."""
        if self._segment and self._segments.get(self._segment) != "fail":
            self._segments[self._segment] = outcome

    def _mixed_segments(self) -> Iterable[str]:
        if set(self._segments.values()) == {"pass", "fail"}:
            passed = sum(outcome == "pass" for outcome in self._segments.values())
            yield f"{passed} of {len(self._segments)} runs of the unchanged code passed, the others failed"

    def _mixed_runs(self) -> Iterable[str]:
        for (_, total, _), runs in self._runs.items():
            outcomes = dict(runs)
            if len(outcomes) > 1 and (len(runs) >= MANY_RUNS or total >= MANY_TESTS):
                yield from outcomes.values()


def _outcome(found: re.Match[str]) -> str:
    return "pass" if found.group("pass") else "fail"


def _total(line: str) -> int:
    if found := reruns.TOTAL_WITHIN.search(line):
        return int(next(group for group in found.groups() if group))
    return sum(int(count) for count in reruns.COUNTED.findall(line))
