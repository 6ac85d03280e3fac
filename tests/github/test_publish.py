"""What an ended run leaves on GitHub: one comment, or one pull request, however often it ends."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from buildloop.errors import GithubError
from buildloop.github.comment import run_mark
from buildloop.github.publish import publish
from buildloop.github.record import DRY_RUN_FILE, FILE, load_record
from buildloop.report.facts import RunFacts
from buildloop.result import StopReason
from tests.support import runs
from tests.support.github_server import REPO, TOKEN, github_server
from tests.support.repos import commit_all, git, write_files

# Real git, many times.
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("environment")]
COMMENTS = rf"/repos/{REPO}/issues/12/comments"
PULLS = rf"/repos/{REPO}/pulls"


@pytest.fixture
def failed(hub) -> RunFacts:
    hub.add_issue(12, "Totals lack VAT", "x", ("ada", "please"))
    found = runs.many_failures()
    return replace(found, request=found.request.model_copy(update={"issue": 12}))


def tell(facts, tmp_path, access):
    return publish(facts, tmp_path, access, os.environ)


def test_a_failed_run_leaves_one_comment_however_often_it_ends(hub, failed, tmp_path, access):
    first = tell(failed, tmp_path, access)
    again = tell(replace(failed, iterations=failed.iterations[:2]), tmp_path, access)
    assert first.comment == again.comment
    assert len(hub.comments[12]) == 2
    mine = hub.comments[12][1]["body"]
    assert mine.startswith(run_mark("1116-081502-3fa9"))
    assert "**buildloop: stuck.**" in mine
    assert "iteration 1" in mine
    assert hub.pulls == []


def test_the_comment_is_found_by_its_mark_when_the_runs_record_is_lost(hub, failed, tmp_path, access):
    tell(failed, tmp_path, access)
    (tmp_path / FILE).unlink()
    tell(failed, tmp_path, access)
    assert len(hub.comments[12]) == 2
    assert hub.said("POST", COMMENTS) == 1


def test_an_unchanged_comment_is_not_sent_again(hub, failed, tmp_path, access):
    tell(failed, tmp_path, access)
    tell(failed, tmp_path, access)
    assert hub.said("PATCH", r".*") == 0


def test_a_deleted_comment_is_made_anew(hub, failed, tmp_path, access):
    tell(failed, tmp_path, access)
    hub.comments[12].pop()
    tell(failed, tmp_path, access)
    assert len(hub.comments[12]) == 2


def test_a_comment_that_arrived_although_the_answer_was_lost_is_not_doubled(hub, failed, tmp_path, access):
    hub.trouble("POST", COMMENTS, 502, done=True)
    assert tell(failed, tmp_path, access).comment == hub.comments[12][1]["id"]
    assert len(hub.comments[12]) == 2


def test_a_comment_that_failed_is_tried_again(hub, failed, tmp_path, access):
    hub.trouble("POST", COMMENTS, 500)
    tell(failed, tmp_path, access)
    assert len(hub.comments[12]) == 2


def test_a_complete_run_opens_a_pull_request_that_closes_the_issue(hub, done, tmp_path, access):
    record = tell(done, tmp_path, access)
    (pull,) = hub.pulls
    assert (record.pull, record.pull_url) == (pull["number"], pull["html_url"])
    assert pull["title"] == runs.GOAL
    assert "Closes #12." in pull["body"]
    assert "What is proven" in pull["body"]
    assert (pull["base"]["ref"], pull["head"]["ref"]) == ("main", "buildloop/1116-081502-3fa9")
    assert hub.comments[12] == []


def test_the_branch_is_really_pushed(hub, done, remote, tmp_path, access):
    tell(done, tmp_path, access)
    branch = "refs/heads/buildloop/1116-081502-3fa9"
    assert git(hub.bare, "rev-parse", branch) == git(remote, "rev-parse", branch)


def test_the_token_reaches_git_only_through_its_environment(hub, done, remote, tmp_path, access, monkeypatch):
    """Not on a command line, not in an address, not in a file: every git call is looked at."""
    calls = tmp_path / "calls"
    shim = tmp_path / "bin" / "git"
    shim.parent.mkdir()
    real = os.popen("command -v git").read().strip()
    shim.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >> {calls}\nexec {real} "$@"\n')
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", f"{shim.parent}:{os.environ['PATH']}")
    tell(done, tmp_path, access)
    said = calls.read_text()
    assert "push" in said
    basic = next(one for one in hub.credentials if one.startswith("Basic "))
    for secret in (TOKEN, basic.removeprefix("Basic ")):
        assert secret not in said
        assert secret not in (remote / ".git" / "config").read_text()
    assert TOKEN not in "".join(path.read_text() for path in tmp_path.glob("*.json"))


def test_a_header_that_a_ci_checkout_left_behind_is_not_sent_twice(hub, done, remote, tmp_path, access):
    git(remote, "config", f"http.{hub.url}/.extraheader", "Authorization: Basic b2xkOm9sZA==")
    tell(done, tmp_path, access)
    assert "Basic b2xkOm9sZA==" not in hub.credentials
    assert len(hub.pulls) == 1


def test_a_second_end_changes_the_pull_request_and_opens_no_other(hub, done, tmp_path, access):
    tell(done, tmp_path, access)
    (tmp_path / FILE).unlink()
    hub.pulls[0]["body"] = "A word of mine.\n\n" + hub.pulls[0]["body"] + "\nAnd another."
    shorter = replace(done, iterations=done.iterations[-2:])
    tell(shorter, tmp_path, access)
    (pull,) = hub.pulls
    assert pull["body"].startswith("A word of mine.")
    assert pull["body"].endswith("And another.")
    assert pull["body"].count("Closes #12.") == 1
    assert hub.said("POST", PULLS) == 1


def test_a_pull_request_that_a_person_closed_is_not_opened_again(hub, done, tmp_path, access):
    tell(done, tmp_path, access)
    hub.pulls[0]["state"] = "closed"
    tell(done, tmp_path, access)
    assert [one["state"] for one in hub.pulls] == ["closed"]


def test_a_pull_request_that_arrived_although_the_answer_was_lost_is_not_doubled(hub, done, tmp_path, access):
    hub.trouble("POST", PULLS, 502, done=True)
    assert tell(done, tmp_path, access).pull == 100
    assert len(hub.pulls) == 1


def test_a_branch_github_does_not_know_is_no_base(hub, done, remote, tmp_path, access):
    git(remote, "checkout", "-q", "-b", "only-here")
    tell(done, tmp_path, access)
    assert hub.pulls[0]["base"]["ref"] == "main"


def test_the_branch_the_user_works_on_is_the_base_where_github_has_it(hub, done, remote, tmp_path, access):
    git(remote, "checkout", "-q", "-b", "develop")
    git(hub.bare, "branch", "develop", "main")
    tell(done, tmp_path, access)
    assert hub.pulls[0]["base"]["ref"] == "develop"


def test_a_run_that_failed_first_and_then_was_completed_says_so_in_its_comment(
    hub, failed, done, tmp_path, access
):
    tell(failed, tmp_path, access)
    tell(done, tmp_path, access)
    (comment,) = [one for one in hub.comments[12] if one["body"].startswith(run_mark("1116-081502-3fa9"))]
    assert "complete" in comment["body"]
    assert "#100" in comment["body"]


def test_a_branch_with_a_secret_in_any_of_its_commits_is_not_pushed(
    hub, done, remote, tmp_path, access, monkeypatch
):
    """Also one that a later commit took out: the history goes with the branch."""
    git(remote, "checkout", "-q", "buildloop/1116-081502-3fa9")
    write_files(remote, {".env": f"KEY={'sk-' + 'a1' * 20}\n"})
    commit_all(remote, "oops")
    (remote / ".env").unlink()
    commit_all(remote, "gone again")
    git(remote, "checkout", "-q", "main")
    with pytest.raises(GithubError, match=r"looks like a secret to \.env"):
        tell(done, tmp_path, access)
    assert git(hub.bare, "branch", "--list", "buildloop/*") == ""
    assert hub.pulls == []


def test_what_lay_below_the_run_and_was_never_pushed_is_looked_at_too(hub, done, remote, tmp_path, access):
    """The snapshot of `--include-dirty`, or a commit of the user: neither is the run's, both would be sent."""
    git(remote, "checkout", "-q", "buildloop/1116-081502-3fa9")
    write_files(remote, {".env": f"KEY={'sk-' + 'a1' * 20}\n"})
    start = commit_all(remote, "uncommitted changes at the start")
    # What is noted here about the other side may be wrong, by mistake or on purpose.
    git(remote, "update-ref", "refs/remotes/origin/main", start)
    write_files(remote, {"more.py": "x = 1\n"})
    commit_all(remote, "buildloop: iteration 1")
    git(remote, "checkout", "-q", "main")
    below = replace(done, workspace=done.workspace.model_copy(update={"start_commit": start}))
    with pytest.raises(GithubError, match=r"looks like a secret to \.env"):
        tell(below, tmp_path, access)
    assert git(hub.bare, "branch", "--list", "buildloop/*") == ""


def test_neither_tags_nor_the_token_go_where_nobody_asked(hub, done, remote, tmp_path, access):
    """A remote of the same name on another server is not GitHub; `push.followTags` is the user's, not the run's."""
    with github_server() as other:
        git(remote, "remote", "rename", "origin", "hub")
        git(remote, "remote", "add", "origin", f"{other.url}/{REPO}.git")
        git(remote, "config", "push.followTags", "true")
        git(remote, "-c", "user.name=t", "-c", "user.email=t@localhost", "tag", "-a", "-m", "mine", "v1")
        tell(done, tmp_path, access)
        assert other.asked == []
    assert git(hub.bare, "tag") == ""
    branch = "buildloop/1116-081502-3fa9"
    assert git(remote, "rev-parse", f"refs/remotes/hub/{branch}") == git(remote, "rev-parse", branch)


def test_what_a_person_accepted_is_a_pull_request_that_claims_no_proof(hub, done, tmp_path, access):
    taken = done.result.model_copy(
        update={"reason": StopReason.ACCEPTED, "explanation": "A person accepted it."}
    )
    tell(replace(done, result=taken), tmp_path, access)
    (pull,) = hub.pulls
    assert "### What is known" in pull["body"]
    assert hub.comments[12] == []


def test_a_branch_that_cannot_be_pushed_is_said_without_the_token(hub, done, tmp_path, access):
    hub.bare = Path(str(hub.bare) + "-gone")
    git(tmp_path, "init", "-q", "--bare", str(hub.bare))
    git(hub.bare, "config", "http.receivepack", "false")
    with pytest.raises(GithubError, match="could not be pushed to ada/shop") as caught:
        tell(done, tmp_path, access)
    assert TOKEN not in str(caught.value)


def test_a_dry_run_writes_what_it_would_send_and_sends_nothing(hub, failed, done, tmp_path, access):
    for facts, words in ((failed, "# Comment on ada/shop#12"), (done, "# Pull request in ada/shop")):
        dry = replace(facts, request=facts.request.model_copy(update={"dry_run": True}))
        publish(dry, tmp_path, access, os.environ)
        assert (tmp_path / DRY_RUN_FILE).read_text().startswith(words)
    assert {method for method, _ in hub.asked} <= {"GET"}
    assert load_record(tmp_path).comment is None


def test_a_secret_of_the_environment_reaches_neither_comment_nor_pull_request(
    hub, failed, done, tmp_path, access, monkeypatch
):
    monkeypatch.setenv("SHOP_PASSWORD", "correct-horse-battery")
    goal = f"log in with correct-horse-battery and {TOKEN}"
    for facts in (failed, done):
        leaky = facts.request.model_copy(update={"goal": goal})
        tell(replace(facts, request=leaky), tmp_path / "leaky", access)
    sent = json.dumps([hub.comments, hub.pulls])
    assert "correct-horse" not in sent
    assert TOKEN not in sent
    assert "[masked]" in sent
