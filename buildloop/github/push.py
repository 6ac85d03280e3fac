"""Pushes the run's branch. The token travels in the environment of git: no command line, address or file has it."""

from __future__ import annotations

import os
import re
import shlex
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from git.exc import GitCommandError

from buildloop.errors import GithubError
from buildloop.github.repository import GithubRepo, github_remotes
from buildloop.models import WorkspaceInfo
from buildloop.redact import Redactor
from buildloop.text import one_line
from buildloop.workspace.git import run_git

PATIENT = {"http.lowSpeedLimit": "1000", "http.lowSpeedTime": "60"}
CREDENTIALS = re.compile(r"//[^/@\s]+@")
SSH = "ssh -oBatchMode=yes -oConnectTimeout=20"


def push_branch(
    workspace: WorkspaceInfo, repo: GithubRepo, clone_url: str, token: str, mask: Redactor
) -> None:
    """To the remote the user has for this repository; if that is not to be had, to GitHub's own address."""
    checkout = Path(workspace.repo)
    refuse_secrets(checkout, workspace, mask)
    own = [one for one in github_remotes(checkout) if one.full_name.lower() == repo.full_name.lower()]
    # The remote by its name: its address may hold a password, and a command line is for all to see.
    places = [*((one.name, one.url) for one in own[:1]), (clone_url, clone_url)]
    problems = []
    for place, url in places:
        try:
            _push(checkout, workspace.branch, place, auth_environment(url, token, os.environ))
        except GitCommandError as error:
            problems.append(one_line(mask(CREDENTIALS.sub("//", _said(error))), 200))
        else:
            return
    by_hand = shlex.join(["git", "-C", workspace.repo, "push", places[0][0], workspace.branch])
    raise GithubError(
        f"branch {workspace.branch} could not be pushed to {repo.full_name} "
        f"({'; '.join(dict.fromkeys(problems))}); push it yourself: {by_hand}"
    )


def refuse_secrets(checkout: Path, workspace: WorkspaceInfo, mask: Redactor) -> None:
    """Every commit of the branch goes out, so a secret that a later commit removed goes out too."""
    span = f"{workspace.start_commit}..refs/heads/{workspace.branch}"
    log = run_git(checkout, "log", "-p", "--no-color", "--no-ext-diff", "--no-textconv", "--format=", span)
    if found := next(secrets_added(log, mask), None):
        raise GithubError(
            f"branch {workspace.branch} was not pushed: a commit adds what looks like a secret to {found}; "
            "look at it, and take it out of the history before you push it yourself"
        )


def secrets_added(log: str, mask: Redactor) -> Iterator[str]:
    """The files to which a patch adds something that would be masked."""
    file = ""
    for line in log.splitlines():
        if line.startswith("+++ "):
            file = line[4:].removeprefix("b/")
        elif line.startswith("+") and mask(line) != line:
            yield file


def auth_environment(url: str, token: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Settings for one git call. An empty header first drops those that a configuration has for this host (CI
    checkouts leave one): GitHub refuses two."""
    parts = urlsplit(url)
    settings = list(PATIENT.items())
    if token and parts.scheme in ("https", "http"):
        address = f"http.{parts.scheme}://{parts.netloc.rpartition('@')[2]}/.extraHeader"
        secret = b64encode(f"x-access-token:{token}".encode()).decode()
        settings += [(address, ""), (address, f"Authorization: Basic {secret}")]
    given = environment.get("GIT_CONFIG_COUNT", "0")
    start = int(given) if given.isdigit() else 0
    found = {"GIT_CONFIG_COUNT": str(start + len(settings))}
    for number, (key, value) in enumerate(settings, start):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    if "GIT_SSH_COMMAND" not in environment:
        found["GIT_SSH_COMMAND"] = SSH
    return found


def _push(checkout: Path, branch: str, place: str, environment: Mapping[str, str]) -> None:
    ref = f"refs/heads/{branch}"
    run_git(checkout, "push", "--quiet", "--porcelain", place, f"{ref}:{ref}", env=environment)


def _said(error: GitCommandError) -> str:
    """The line of git's complaint that states the reason."""
    lines = [line.strip() for line in str(error.stderr).strip(" '\n").splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("fatal:", "error:", "! ", "remote:"))]
    return " ".join(reasons[:2] or lines[-1:]) or f"git ended with {error.status}"
