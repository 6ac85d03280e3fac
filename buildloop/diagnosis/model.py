"""The nouns of diagnosis. Plain dataclasses, no Pydantic: `buildloop diagnose` must start in a blink."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class FailureMode(StrEnum):
    """Why a gate is red, in the five words that recovery understands."""

    CONTEXT_EXHAUSTION = "context_exhaustion"
    INFINITE_LOOP = "infinite_loop"
    TEST_FLAKINESS = "test_flakiness"
    DEPENDENCY_ISSUE = "dependency_issue"
    CODE_ERROR = "code_error"


class Category(StrEnum):
    """What kind of error a line states (six-way)."""

    SYNTAX = "syntax"
    RUNTIME = "runtime"
    ASSERTION = "assertion"
    DEPENDENCY = "dependency"
    BUILD = "build"
    UNKNOWN = "unknown"


class ErrorClass(StrEnum):
    """What kind of error a report is about (ten-way); suggestions are chosen by it."""

    FILE_ACCESS = "FILE_ACCESS"
    FUNCTION_ERROR = "FUNCTION_ERROR"
    SYNTAX_ERROR = "SYNTAX_ERROR"
    ASSERTION_FAILURE = "ASSERTION_FAILURE"
    TYPE_ERROR = "TYPE_ERROR"
    TIMEOUT = "TIMEOUT"
    MEMORY_ERROR = "MEMORY_ERROR"
    NETWORK_ERROR = "NETWORK_ERROR"
    RESOURCE_ERROR = "RESOURCE_ERROR"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure in a gate report. `lines` are the log's own lines, cause first, never enriched."""

    message: str
    tool: str = ""
    test: str | None = None
    file: str | None = None
    line: int | None = None
    type: str | None = None
    expected: str | None = None
    actual: str | None = None
    lines: tuple[str, ...] = ()

    @property
    def location(self) -> str | None:
        if self.file is None:
            return None
        return f"{self.file}:{self.line}" if self.line is not None else self.file


@dataclass(frozen=True, slots=True)
class TestCounts:
    """How many tests ran; `run` = passed + failed (skipped ones did not run)."""

    __test__ = False

    run: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0


class SignalKind(StrEnum):
    """What a line of a log proves beyond the failure itself."""

    MISSING = "missing"  # something named was not found; whose it is must still be resolved
    INSTALL = "install"  # a package manager, linker or toolchain gave up
    MIXED_OUTCOME = "mixed_outcome"  # the same code passed and failed in this very log
    PORT_TAKEN = "port_taken"  # another process holds the address
    CONTEXT_OVERFLOW = "context_overflow"  # an agent's own error: its window is full
    AGENT_LOOP = "agent_loop"  # an agent's own error: it repeats itself


@dataclass(frozen=True, slots=True)
class Signal:
    """One line of a log that bears on the failure mode. `subject` is the missing thing, as the log names it.

    `local` says whose it is where the log itself shows it; `late` that no test was run after it.
    """

    kind: SignalKind
    line: str
    subject: str = ""
    ecosystem: str = ""
    local: bool | None = None
    late: bool = True


@dataclass(frozen=True, slots=True)
class LogReading:
    """Everything the text of one gate log says. `counts` is None when no runner reported any.

    `signals` and `own_names` (names of the project's own modules that the log shows) come from
    `buildloop.diagnosis.signals.scan`; unless `scanned`, only findings and error lines are judged.
    """

    findings: tuple[Finding, ...] = ()
    counts: TestCounts | None = None
    failing: tuple[str, ...] = ()
    error_lines: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    signals: tuple[Signal, ...] = ()
    own_names: frozenset[str] = frozenset()
    scanned: bool = False

    @property
    def location(self) -> str | None:
        return next((f.location for f in self.findings if f.location), None)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One gate run in a loop's history, as much of it as is known. Token figures are of this agent call."""

    passed: bool
    reading: LogReading = field(default_factory=LogReading)
    exit_code: int | None = None
    tree: str | None = None
    changed: bool | None = None
    diff: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    context_tokens: int | None = None
    agent_status: str | None = None
    agent_output: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mode with the reasons for it. `confidence` is 0..1; `runner_up` is the next best guess."""

    mode: FailureMode
    confidence: float
    evidence: tuple[str, ...] = ()
    runner_up: FailureMode | None = None
    category: Category = Category.UNKNOWN
    error_class: ErrorClass = ErrorClass.UNKNOWN
    preexisting: tuple[str, ...] = ()
    forced: bool = False
