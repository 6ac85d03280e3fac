"""Pushes the run's branch. The token travels in the environment of git: no command line, address or file has it."""

from __future__ import annotations

import os
import re
import shlex
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from git.exc import GitCommandError

from buildloop.errors import GithubError
from buildloop.github.outgoing import secret_in
from buildloop.github.repository import LOOPBACK, GithubRepo, github_remotes
from buildloop.models import WorkspaceInfo
from buildloop.redact import Redactor
from buildloop.text import one_line
from buildloop.workspace.git import run_git

PATIENT = {"http.lowSpeedLimit": "1000", "http.lowSpeedTime": "60"}
CREDENTIALS = re.compile(r"//[^/@\s]+@")
PLACE = "buildloop-pull-request"
SSH = "ssh -oBatchMode=yes -oConnectTimeout=20"


def push_branch(
    workspace: WorkspaceInfo, repo: GithubRepo, clone_url: str, token: str, mask: Redactor
) -> None:
    """To the remote the user has for this repository; if that is not to be had, to GitHub's own address."""
    checkout = Path(workspace.repo)
    own = [one for one in github_remotes(checkout) if one.is_for(repo)]
    places = [*((one.name, one.url) for one in own[:1]), (clone_url, clone_url)]
    problems = []
    for name, url in places:
        environment = place_environment(url, token, os.environ, name if name != url else "")
        try:
            refuse_secrets(checkout, workspace.branch, environment, mask)
            _push(checkout, workspace.branch, environment)
        except GitCommandError as error:
            problems.append(one_line(mask(CREDENTIALS.sub("//", _said(error))), 200))
        else:
            return
    by_hand = shlex.join(["git", "-C", workspace.repo, "push", places[0][0], workspace.branch])
    raise GithubError(
        f"branch {workspace.branch} could not be pushed to {repo.full_name} "
        f"({'; '.join(dict.fromkeys(problems))}); push it yourself: {by_hand}"
    )


def refuse_secrets(checkout: Path, branch: str, environment: Mapping[str, str], mask: Redactor) -> None:
    """Every commit that the other side lacks goes out: the run's, the snapshot it began with, and what the user has
    not pushed yet. The other side itself is asked what it has: what this side notes about it anybody could change."""
    there = run_git(checkout, "ls-remote", "--heads", "--tags", PLACE, env=environment)
    known = {line.split("\t")[0] for line in there.splitlines()}
    if found := secret_in(checkout, f"refs/heads/{branch}", known, mask):
        raise GithubError(
            f"branch {branch} was not pushed: a commit adds what looks like a secret to {found}; "
            "look at it, and take it out of the history before you push it yourself"
        )


def place_environment(
    url: str, token: str, environment: Mapping[str, str], remote: str = ""
) -> dict[str, str]:
    """Settings for one git call: the address under the name PLACE (it may hold a password, and a command line is for
    all to see), whose branches are noted as those of `remote`; and the token. An empty header first drops those that a
    configuration has for this host (CI checkouts leave one): GitHub refuses two."""
    parts = urlsplit(url)
    settings = [*PATIENT.items(), (f"remote.{PLACE}.url", url)]
    if remote:
        settings.append((f"remote.{PLACE}.fetch", f"+refs/heads/*:refs/remotes/{remote}/*"))
    if token and (parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)):
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


def _push(checkout: Path, branch: str, environment: Mapping[str, str]) -> None:
    """This branch and nothing else, whatever the configuration says about tags and submodules."""
    ref = f"refs/heads/{branch}"
    only = ("--no-follow-tags", "--recurse-submodules=no")
    run_git(checkout, "push", "--quiet", "--porcelain", *only, PLACE, f"{ref}:{ref}", env=environment)


def _said(error: GitCommandError) -> str:
    """The line of git's complaint that states the reason."""
    lines = [line.strip() for line in str(error.stderr).strip(" '\n").splitlines() if line.strip()]
    reasons = [line for line in lines if line.startswith(("fatal:", "error:", "! ", "remote:"))]
    return " ".join(reasons[:2] or lines[-1:]) or f"git ended with {error.status}"
