"""What a run's history adds up to, kept up to date iteration by iteration."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from buildloop.context.window import Fill
from buildloop.diagnosis.fingerprint import fingerprint_reading
from buildloop.diagnosis.model import FailureMode
from buildloop.fold import Fold
from buildloop.models import AgentReply, AgentRun, Iteration, Refutation
from buildloop.progress import badness


@dataclass(frozen=True, slots=True)
class Session:
    """`told` is the last reply of the session that said how much the model's context holds, if one did."""

    number: int = 0
    fill: Fill = field(default_factory=Fill)
    told: tuple[AgentReply, ...] = ()


@dataclass(frozen=True, slots=True)
class Tally:
    """`best` is the iteration with the fewest failures; `redirected` the last one that was told to change course;
    `prints` are the failures of all gate runs, `tried` the actions with the failures they were for; `files` are all
    that were changed, the latest first; `red` counts the red gates in a row; `session` is the last that had a call."""

    best: Iteration | None = None
    redirected: Iteration | None = None
    went_back: int | None = None
    rung: int = 0
    flaky: bool = False
    commits: int = 0
    heard: frozenset[str] = frozenset()
    prints: frozenset[str] = frozenset()
    tried: frozenset[tuple[str, str]] = frozenset()
    files: tuple[str, ...] = ()
    red: int = 0
    refutation: Refutation | None = None
    session: Session = field(default_factory=Session)


def _goodness(one: Iteration) -> tuple[bool, bool, int, int]:
    return *badness(one.gate), -one.number if one.gate.passed else one.number


def _after(tally: Tally, iterations: tuple[Iteration, ...], place: int) -> Tally:
    one = iterations[place]
    better = tally.best is None or _goodness(one) < _goodness(tally.best)
    tally = replace(
        tally,
        best=one if better else tally.best,
        prints=tally.prints | {fingerprint_reading(report.reading) for report in one.reports},
        red=0 if one.gate.passed or one.agent is None else tally.red + 1,
    )
    if found := [report.refutation for report in one.reports if report.refutation]:
        tally = replace(tally, refutation=found[-1])
    if one.remedies:
        tally = _with_remedies(tally, one)
    return _with_agent(tally, one, one.agent) if one.agent else tally


def _with_remedies(tally: Tally, one: Iteration) -> Tally:
    last = one.remedies[-1].recovery
    return replace(
        tally,
        redirected=one if last.strategy.action == "reduce_and_redirect" else tally.redirected,
        went_back=one.number if last.back_to else tally.went_back,
        rung=max(tally.rung, *(remedy.recovery.rung or 0 for remedy in one.remedies)),
        flaky=tally.flaky or any(r.diagnosis.mode is FailureMode.TEST_FLAKINESS for r in one.remedies),
        tried=tally.tried | {(r.recovery.strategy.action, r.fingerprint) for r in one.remedies},
    )


def _with_agent(tally: Tally, one: Iteration, agent: AgentRun) -> Tally:
    point = agent.checkpoint
    return replace(
        tally,
        rung=max(tally.rung, agent.reply.rung),
        commits=tally.commits + point.changed,
        heard=tally.heard.union(agent.heard),
        files=tuple(dict.fromkeys((*point.files, *tally.files))),
        session=_with_reply(
            tally.session if tally.session.number == one.session else Session(one.session), agent.reply
        ),
    )


def _with_reply(session: Session, reply: AgentReply) -> Session:
    return replace(
        session,
        fill=session.fill.with_call(reply.usage) if reply.keeps_context else session.fill,
        told=(reply,) if reply.context_window else session.told,
    )


tally_of: Fold[Iteration, Tally] = Fold(Tally, _after)
