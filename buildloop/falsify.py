"""The second agent's one try: what it is asked, which of its files count, and when its test refutes the work."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from buildloop.diagnosis.model import Finding
from buildloop.models import GateReport, Refutation, RefutingTest, Verdict
from buildloop.prompt.contain import fenced
from buildloop.prompt.sections import Priority, Prompt, Section, assemble
from buildloop.redact import Redactor
from buildloop.request import BuildRequest
from buildloop.text import one_line, plain_text
from buildloop.workspace.integrity.counter.unrunnable import broken_test, could_not_run
from buildloop.workspace.integrity.files import is_collected, is_test_data
from buildloop.workspace.integrity.model import Role
from buildloop.workspace.integrity.readers import read_file

MOST_CHARS = 20_000
MOST_NAMED = 10

ORDER = """\
Another agent says that the goal above is reached, and the gate is green. You have one try to show that it is not.

1. Read the code. Think about what the goal demands that no test checks yet: edges, wrong input, other callers.
2. If something is wrong, write one or a few tests in new files beside the existing tests, named so that the gate's
   runner finds them. Each must fail now, by an assertion about what the code answers, and must pass once the goal is
   really met. Demand nothing that the goal does not demand.
3. Run them. A test that fails because of itself (a wrong import, a missing fixture) does not count.
4. Change nothing else: only new test files are taken. If you find nothing wrong, leave no file."""


def falsify_prompt(request: BuildRequest, diff: str) -> Prompt:
    gate = "\n".join(f"- `{command}`" for command in request.test)
    return assemble(
        (
            Section("The Goal", request.goal, Priority.ESSENTIAL),
            Section("Gate", f"These commands decide:\n{gate}", Priority.ESSENTIAL),
            Section("Your Task", ORDER, Priority.ESSENTIAL),
            Section(
                "What Was Changed for the Goal",
                fenced(plain_text(diff)) if diff else "",
                Priority.HELPFUL,
                limit=40_000,
                quotes=True,
            ),
        ),
        request.prompt_budget,
    )


def storable(added: Mapping[str, str], mask: Redactor) -> dict[str, str]:
    """Those that can be kept as they are. Tests are stored, and run again from there: with its secret a test cannot be
    stored, and masked it would be another test."""
    return {name: text for name, text in added.items() if mask(name) == name and mask(text) == text}


def tests_among(added: Mapping[str, str]) -> tuple[RefutingTest, ...]:
    """Of the files the agent added, those that are tests of their own, and data for them."""
    kept = {name: text for name, text in added.items() if is_collected(name) or is_test_data(name)}
    if not any(_asks_the_code(name, text) for name, text in kept.items()):
        return ()
    return tuple(RefutingTest(path=name, text=text) for name, text in sorted(kept.items()))


def _asks_the_code(name: str, text: str) -> bool:
    """`assert False` fails on any code: a test must demand something of what some code answers."""
    if not is_collected(name) or (reading := read_file(name, text)) is None:
        return is_collected(name)
    tests = [unit for unit in reading.units if unit.role is Role.TEST]
    return not reading.units or any(unit.calls or any(a.roots for a in unit.assertions) for unit in tests)


def judged(agent: str, tests: Sequence[RefutingTest], reports: Sequence[GateReport]) -> Refutation:
    """`reports` are gate runs with the tests in place. The gate was green without them, so what fails is theirs."""
    if not tests:
        return Refutation(agent=agent, refuted=False, why="It left no test of its own.")
    if any(report.verdict is Verdict.PASSED for report in reports):
        return Refutation(agent=agent, refuted=False, tests=tuple(tests), why="Its tests pass.")
    wrong = [_wrong_answers(report) for report in reports]
    both = [text for key, text in wrong[0].items() if all(key in other for other in wrong)]
    if not both:
        return Refutation(agent=agent, refuted=False, tests=tuple(tests), why=_excuse(reports))
    return Refutation(agent=agent, refuted=True, tests=tuple(tests), failing=tuple(both[:MOST_NAMED]))


def _wrong_answers(report: GateReport) -> dict[str, str]:
    if report.verdict is not Verdict.FAILED:
        return {}
    telling = [one for one in report.reading.findings if not _fails_by_itself(one)]
    return {one.test or one_line(one.message): _sentence(one) for one in telling}


def _fails_by_itself(finding: Finding) -> bool:
    return could_not_run(finding, (), ()) or broken_test(finding)


def _sentence(finding: Finding) -> str:
    return f"{finding.test}: {one_line(finding.message)}" if finding.test else one_line(finding.message)


def _excuse(reports: Iterable[GateReport]) -> str:
    said = next((f.message for report in reports for f in report.reading.findings), "")
    return (
        f"What it wrote fails by itself or not always: {one_line(said)}" if said else "It could not be run."
    )


def refuted(report: GateReport, found: Refutation) -> GateReport:
    """A green report with what the second agent found; red where its test stands."""
    if not found.refuted:
        return report.model_copy(update={"refutation": found})
    findings = tuple(Finding(message=text, tool="falsify", lines=(text,)) for text in found.failing)
    reading = replace(report.reading, findings=findings, error_lines=found.failing)
    explanation = (
        "The gate is green, but a second agent wrote a test for the goal that fails: "
        f"{'; '.join(found.failing)}"
    )
    return report.model_copy(
        update={
            "verdict": Verdict.FAILED,
            "reading": reading,
            "explanation": explanation,
            "refutation": found,
        }
    )


def refutation_text(found: Refutation | None) -> str:
    """For the working agent: the tests, word for word, and how they fail."""
    if found is None or not found.refuted:
        return ""
    parts = [
        "The gate is green, but a second agent has written a test for the goal that fails on your work. Read it; where "
        "it demands what the goal demands, fix the code, and add the test to the repository. It is run again on your "
        "next green, and the run is not complete while it fails:",
        "\n".join(f"- {one_line(text, 500)}" for text in found.failing),
    ]
    left = MOST_CHARS
    for test in found.tests:
        parts.append(f"`{one_line(test.path)}`:\n\n{fenced(plain_text(test.text)[:left])}")
        left = max(0, left - len(test.text))
    return "\n\n".join(parts)
