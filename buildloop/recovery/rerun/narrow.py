"""From a gate command and what failed in it, the command that runs only the failing tests."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

from buildloop.diagnosis.model import LogReading
from buildloop.models import GateReport, Verdict
from buildloop.recovery.rerun import javascript, managed, native, python, scripting
from buildloop.recovery.rerun.early_stop import may_stop_early
from buildloop.recovery.rerun.runner import Place, Runner, Words, raw, starts_with
from buildloop.recovery.rerun.shell_words import plain_command

MOST_TESTS = 10
MOST_BYTES = 32 * 1024
RUNNERS: tuple[Runner, ...] = (
    *python.RUNNERS,
    *javascript.RUNNERS,
    *native.RUNNERS,
    *managed.RUNNERS,
    *scripting.RUNNERS,
)
# Programs that start another one, which is named after their own options.
LAUNCHERS: tuple[tuple[str, ...], ...] = tuple(
    tuple(words.split())
    for words in (
        "python*|uv run|poetry run|pipenv run|pdm run|hatch run|rye run|coverage run|npx|npm exec|pnpm|pnpm exec"
        "|yarn|yarn run|yarn exec|bunx|node|bundle exec|ruby|php|timeout|nice|xvfb-run"
    ).split("|")
)
DURATION = re.compile(r"\d+[smhd]?$")


def narrowed_command(command: str, reading: LogReading) -> str | None:
    """None where the runner is unknown, the command is no plain one, or not every failure has a name.

    The tests it names all failed; it may run a few more, never fewer. Whether it really ran them is seen only
    afterwards: ask `covers`.
    """
    plain = plain_command(command)
    if plain is None or not reading.failing or failures(reading) > MOST_TESTS:
        return None
    for head, runner, place in _candidates(plain.words, reading):
        arguments = plain.words[head:]
        selecting = runner.select(reading) if _all_named(reading, runner) else None
        if not selecting or _taken(arguments, runner):
            continue
        placed = place(arguments, [shlex.quote(word) for word in selecting])
        if placed is not None:
            narrowed = plain.before + " ".join([*raw(plain.words[:head]), *placed])
            return narrowed if len(narrowed.encode()) <= MOST_BYTES else None
    return None


def narrowed_gate(commands: Sequence[str], report: GateReport) -> str | None:
    """The same for a gate of several commands: only where one of them is red, all failures are its own.

    Not for a command that may have stopped at its first failure: the tests it never came to would be missing.
    """
    pairs = zip(commands, report.commands, strict=False)
    red = [(command, result.verdict) for command, result in pairs if result.verdict is not Verdict.PASSED]
    if len(red) != 1 or red[0][1] is not Verdict.FAILED or may_stop_early(red[0][0]):
        return None
    return narrowed_command(red[0][0], report.reading)


def covers(rerun: LogReading, first: LogReading) -> bool:
    """Whether a narrowed run ran the tests it was to run, and nothing else went wrong in it.

    Many runners are green when a name matches nothing; others count what they could not load as a test.
    """
    if rerun.counts is None or rerun.counts.run < failures(first):
        return False
    return set(rerun.failing) <= set(first.failing) and rerun.counts.failed <= _names(rerun)


def failures(reading: LogReading) -> int:
    """How many tests failed; suites that failed with them have a name but are not counted by their runner."""
    counted = reading.counts.failed if reading.counts else 0
    return min(len(reading.failing), counted or len(reading.failing))


def _all_named(reading: LogReading, runner: Runner) -> bool:
    """A failure without a name (a suite that did not load, a compiler error) would be missing from the rerun."""
    if runner.lists_all:
        return True
    nameless = [f for f in reading.findings if not f.test and f.file not in reading.failing]
    counted = reading.counts.failed if reading.counts else 0
    return not nameless and counted <= _names(reading)


def _names(reading: LogReading) -> int:
    """Tests of one name in several files have a finding each."""
    return max(len(reading.failing), sum(1 for finding in reading.findings if finding.test))


def _candidates(words: Words, reading: LogReading) -> Iterator[tuple[int, Runner, Place]]:
    """Where a runner's own arguments begin, the runner, and where its selection goes; the last one first:
    `uv run --with pytest pytest` names it twice."""
    tools = frozenset(reading.tools)
    for start in reversed(range(len(words))):
        if not _launches(words[:start]):
            continue
        for runner in RUNNERS:
            for head in runner.heads:
                if starts_with(words[start:], head) and runner.tools & tools:
                    yield start + len(head), runner, runner.place
        for script, place in javascript.SCRIPTS:
            if starts_with(words[start:], script):
                yield from (
                    (start + len(script), runner, place)
                    for runner in javascript.SCRIPT_RUNNERS
                    if runner.tools & tools
                )


def _launches(words: Words) -> bool:
    """Whether these words only start what follows them."""
    if not words:
        return True
    for head in LAUNCHERS:
        if starts_with(words, head):
            rest = words[len(head) :]
            if any(_launches(rest[skipped:]) for skipped in range(_options(rest) + 1)):
                return True
    return False


def _options(words: Words) -> int:
    """How many of the first words can be a launcher's options and their values."""
    before = ""
    for number, word in enumerate(words):
        if not (word.value.startswith("-") or before.startswith("-") or DURATION.match(word.value)):
            return number
        before = word.value
    return len(words)


def _taken(arguments: Words, runner: Runner) -> bool:
    return any(word.value.partition("=")[0] in runner.taken for word in arguments)
