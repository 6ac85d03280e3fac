"""Where a run stands: a value that only grows by whole iterations. Everything else is derived from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from buildloop.context.session import window_in_force
from buildloop.context.window import check_context_exhaustion, get_context_usage_pct
from buildloop.diagnosis.fingerprint import fingerprint_reading
from buildloop.diagnosis.model import FailureMode
from buildloop.memory.model import History
from buildloop.models import ContextSummary, GateReport, Iteration, Refutation, Verdict, WorkspaceInfo
from buildloop.request import EXTENSIONS_CAP, RESTART_CAP, BuildRequest
from buildloop.tally import Session, Tally, tally_of

RESTART_BOOST = 2
ITERATIONS_WHEN_STUCK = 10
PROBE_SECONDS = 60.0
# The failing set shrinks as long as one of the last few iterations is the best so far.
PROGRESS_WITHIN = 3


@dataclass(frozen=True, slots=True)
class LoopState:
    """`iterations[0]` is the baseline. `notes` are told to the agent once, in the next prompt. `asked` are
    the questions that people have answered, `answered_at` is the iteration of the last, and below `granted_iterations`
    no limit of iterations is cut. `recalled` is what memory says about the last gate, where it was asked already."""

    request: BuildRequest
    workspace: WorkspaceInfo
    iterations: tuple[Iteration, ...] = ()
    session: int = 1
    max_iterations: int = 0
    max_restarts: int = 0
    extensions: int = 0
    summary: ContextSummary | None = None
    notes: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    answered_at: int | None = None
    granted_iterations: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    recalled: History | None = None

    @classmethod
    def start(cls, request: BuildRequest, workspace: WorkspaceInfo) -> LoopState:
        return cls(
            request, workspace, max_iterations=request.max_iterations, max_restarts=request.max_restarts
        )

    @property
    def baseline(self) -> Iteration:
        return self.iterations[0]

    @property
    def last(self) -> Iteration:
        return self.iterations[-1]

    @property
    def number(self) -> int:
        """The last finished iteration; 0 after the baseline."""
        return self.iterations[-1].number if self.iterations else 0

    @property
    def restarts(self) -> int:
        return self.session - 1

    @property
    def head(self) -> str:
        """The commit the workspace stands at."""
        for iteration in reversed(self.iterations):
            if iteration.recovery and iteration.recovery.back_to:
                return iteration.recovery.back_to
            if iteration.head:
                return iteration.head
        return self.workspace.start_commit

    @property
    def tally(self) -> Tally:
        return tally_of(self.iterations)

    @property
    def fill(self) -> tuple[int, int]:
        return self._session.fill.tokens

    @property
    def window(self) -> int:
        return window_in_force(self.request, self._session.told)

    @property
    def _session(self) -> Session:
        last = self.tally.session
        return last if last.number == self.session else Session(self.session)

    @property
    def context_pct(self) -> int:
        return get_context_usage_pct(*self.fill, self.window)

    @property
    def context_due(self) -> bool:
        return check_context_exhaustion(*self.fill, self.window, self.request.context_threshold)

    @property
    def best(self) -> Iteration:
        """The iteration with the fewest failures; of red ones the earliest, because what came after it did not help, of
        green ones the latest, because it holds the most work."""
        best = self.tally.best
        assert best is not None, "there is a baseline"
        return best

    @property
    def best_commit(self) -> str:
        return self.best.head or self.workspace.start_commit

    @property
    def heard(self) -> frozenset[str]:
        """The hints of people that some prompt has shown."""
        return self.tally.heard

    @property
    def shrinking(self) -> bool:
        """Whether the set of failures got smaller within the last iterations."""
        return self.best.number > 0 and self.number - self.best.number < PROGRESS_WITHIN

    @property
    def rung(self) -> int:
        """The place on the ladder of agents that is called next. It only goes up in one run."""
        return min(self.tally.rung, len(self.request.agents) - 1)

    @property
    def flaky_seen(self) -> bool:
        return self.tally.flaky

    @property
    def refutation(self) -> Refutation | None:
        """What the second agent's test said last, if it has had its try."""
        return self.tally.refutation

    @property
    def redirect(self) -> str:
        """The standing order of the last redirect; it holds as long as the failure it was given for."""
        told = self.tally.redirected
        if told is None or told.recovery is None or self.last.gate.passed:
            return ""
        same = fingerprint_reading(told.gate.reading) == fingerprint_reading(self.last.gate.reading)
        return told.recovery.note if same else ""

    def with_iteration(self, iteration: Iteration) -> LoopState:
        """Add a finished iteration and let its recovery take effect."""
        after = replace(self, iterations=(*self.iterations, iteration), notes=(), recalled=None)._extended()
        if iteration.recovery is None:
            return after
        changes: dict[str, object] = {"environment": self.environment_after(iteration)}
        if iteration.recovery.note and iteration.recovery.strategy.action != "reduce_and_redirect":
            changes["notes"] = (iteration.recovery.note,)
        if iteration.recovery.strategy.mode == FailureMode.INFINITE_LOOP:
            cut = min(after.max_iterations, iteration.number + ITERATIONS_WHEN_STUCK)
            changes["max_iterations"] = max(cut, self.granted_iterations)
        if iteration.recovery.strategy.mode == FailureMode.CONTEXT_EXHAUSTION and self.request.max_restarts:
            boosted = min(RESTART_CAP, self.request.max_restarts + RESTART_BOOST)
            changes["max_restarts"] = max(after.max_restarts, boosted)
        return replace(after, **changes)  # type: ignore[arg-type]

    def _extended(self) -> LoopState:
        """A few iterations more at the limit while that pays. A run that was redirected once is not extended: its
        limit was cut for a reason."""
        redirected = self.tally.went_back is not None
        due = self.number == self.max_iterations and self.extensions < EXTENSIONS_CAP
        if not due or redirected or not self.shrinking or self.last.gate.passed:
            return self
        more = self.max_iterations + self.request.extension_size
        extended = self.extensions + bool(self.request.extension_size)
        return replace(self, max_iterations=more, extensions=extended)

    def was_tried(self, action: str, fingerprint: str) -> bool:
        return (action, fingerprint) in self.tally.tried

    def environment_after(self, iteration: Iteration) -> dict[str, str]:
        """What recoveries have put into the environment of later agents and gates."""
        merged = dict(self.environment)
        for remedy in iteration.remedies:
            merged |= remedy.recovery.environment
        return merged

    def with_note(self, note: str) -> LoopState:
        return replace(self, notes=(*self.notes, note))

    def worth_probing(self, report: GateReport) -> bool:
        """A rerun is cheap and may tell: named tests failed in a way that was not tried before in this run."""
        return (
            report.verdict is Verdict.FAILED
            and bool(report.reading.failing)
            and report.seconds <= PROBE_SECONDS
            and fingerprint_reading(report.reading) not in self.tally.prints
        )

    def restarted(self, summary: ContextSummary) -> LoopState:
        return replace(self, session=self.session + 1, summary=summary, recalled=None)
