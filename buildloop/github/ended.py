"""Tells GitHub about a run that has ended, writes down what came of it, and never fails the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from buildloop.errors import GithubError
from buildloop.github.publish import Access, publish
from buildloop.github.record import GithubRecord, load_record
from buildloop.redact import redactor
from buildloop.report.facts import RunFacts, degraded_in
from buildloop.report.write import write_page
from buildloop.rundir import RunDir


def is_untold(run: RunDir) -> bool:
    """Its branch is to be merged and there is no pull request yet: it was stopped, or GitHub was not to be had."""
    request, result = run.request(), run.result()
    wanted = request.issue is not None and not request.dry_run
    return wanted and result is not None and result.reason.is_success and load_record(run.path).pull is None


def tell_ended(
    run: RunDir, facts: RunFacts, access_to: Callable[[], Access], environment: Mapping[str, str]
) -> tuple[GithubRecord, str]:
    """What is on GitHub now, and why that is not all; empty if it is."""
    why = ""
    try:
        record = publish(facts, run.path, access_to(), environment)
    except Exception as error:  # whatever GitHub, git or the network do: the run has its result
        said = str(error) if isinstance(error, GithubError) else f"{type(error).__name__}: {error}"
        why = redactor(environment)(said)[:500]
        run.events.emit("loop.degraded", what="github", why=why)
        record = load_record(run.path)
    else:
        _emit(run, facts, record)
    write_page(run, replace(facts, degraded=degraded_in(run), pull_request=record.pull_url))
    return record, why


def _emit(run: RunDir, facts: RunFacts, record: GithubRecord) -> None:
    if facts.request.dry_run:
        return
    if record.pull is not None:
        run.events.emit("github.pull_request", number=record.pull, url=record.pull_url)
    else:
        run.events.emit("github.commented", issue=facts.request.issue, url=record.comment_url)
