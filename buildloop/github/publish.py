"""What an ended run says on GitHub: a pull request when there is something to merge, else one comment on its issue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from buildloop.errors import GithubError
from buildloop.files import write_atomic
from buildloop.github.client import connect, speaking_of
from buildloop.github.comment import find_comment, upsert_comment
from buildloop.github.pull import PullText, upsert_pull
from buildloop.github.push import push_branch
from buildloop.github.record import DRY_RUN_FILE, GithubRecord, load_record, save_record
from buildloop.github.repository import GithubRepo, repository_for, token_advice, token_for
from buildloop.models import WorkspaceInfo
from buildloop.redact import redactor
from buildloop.report.facts import RunFacts
from buildloop.report.github_report import failure_comment, pull_request_body, pull_request_title
from buildloop.report.story import story_of
from buildloop.workspace.git import git_or_none


@dataclass(frozen=True, slots=True)
class Access:
    """A repository and the right to use it. `token` may be empty where only public things are read."""

    repo: GithubRepo
    token: str


def access_for(checkout: Path, given: str | None, environment: Mapping[str, str]) -> Access:
    repo = repository_for(checkout, given, environment)
    return Access(repo, token_for(repo, environment))


def require_token(access: Access) -> None:
    if not access.token:
        raise GithubError(
            f"--issue ends with a comment or a pull request, but there is no token: {token_advice(access.repo)}; "
            "or use --dry-run to send nothing"
        )


def publish(facts: RunFacts, run_dir: Path, access: Access, environment: Mapping[str, str]) -> GithubRecord:
    """Idempotent: what an earlier end of the same run has made is changed, not made again."""
    mask = redactor({**environment, "GITHUB_TOKEN": access.token})
    if facts.request.dry_run:
        write_atomic(run_dir / DRY_RUN_FILE, mask(preview(facts, access.repo)))
        return load_record(run_dir)
    complete = facts.result is not None and facts.result.reason.is_success
    record = load_record(run_dir)
    record = (
        _open_pull(facts, run_dir, access, record, environment)
        if complete
        else _comment(facts, access, record, mask(failure_comment(facts)))
    )
    save_record(run_dir, record)
    return record


def preview(facts: RunFacts, repo: GithubRepo) -> str:
    """What would be sent, for `--dry-run`."""
    if facts.result is not None and facts.result.reason.is_success:
        return (
            f"# Pull request in {repo.full_name} from {facts.branch}\n\nTitle: {pull_request_title(facts)}\n\n"
            f"{pull_request_body(facts)}"
        )
    return f"# Comment on {repo.full_name}#{facts.request.issue}\n\n{failure_comment(facts)}"


def _comment(facts: RunFacts, access: Access, record: GithubRecord, body: str) -> GithubRecord:
    assert facts.request.issue is not None
    with speaking_of(f"a comment on issue #{facts.request.issue}", access.repo):
        made = upsert_comment(
            connect(access.repo, access.token),
            facts.request.issue,
            str(facts.request.run_id),
            body,
            record.comment,
        )
        return record.model_copy(update={"comment": made.id, "comment_url": made.html_url})


def _open_pull(
    facts: RunFacts, run_dir: Path, access: Access, record: GithubRecord, environment: Mapping[str, str]
) -> GithubRecord:
    assert facts.workspace is not None
    mask = redactor({**environment, "GITHUB_TOKEN": access.token})
    repository = connect(access.repo, access.token)
    with speaking_of("the repository", access.repo):
        clone_url = repository.clone_url
    push_branch(facts.workspace, access.repo, clone_url, access.token, mask)
    text = PullText(
        run_id=str(facts.request.run_id),
        branch=facts.workspace.branch,
        wanted_base=_checked_out(facts.workspace),
        title=mask(pull_request_title(facts)),
        body=mask(pull_request_body(facts)),
    )
    with speaking_of("the pull request", access.repo):
        pull = upsert_pull(repository, access.repo.owner, text)
        record = record.model_copy(update={"pull": pull.number, "pull_url": pull.html_url})
    save_record(run_dir, record)
    return _settle_comment(facts, access, record)


def _settle_comment(facts: RunFacts, access: Access, record: GithubRecord) -> GithubRecord:
    """A run that failed, was resumed and has a pull request now: its comment says so."""
    assert facts.request.issue is not None
    repository, run_id = connect(access.repo, access.token), str(facts.request.run_id)
    with speaking_of(f"the comment on issue #{facts.request.issue}", access.repo):
        if find_comment(repository, facts.request.issue, run_id, record.comment) is None:
            return record
    word = story_of(facts).outcome.word
    return _comment(facts, access, record, f"**buildloop: {word}.** See pull request #{record.pull}.\n")


def _checked_out(workspace: WorkspaceInfo) -> str | None:
    return git_or_none(Path(workspace.repo), "symbolic-ref", "--quiet", "--short", "HEAD")
