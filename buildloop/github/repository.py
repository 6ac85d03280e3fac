"""Which repository on GitHub a checkout belongs to, where its API is, and which token may be shown there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from buildloop.errors import GithubError
from buildloop.workspace.git import git_or_none

PUBLIC_HOST = "github.com"
PUBLIC_API = "https://api.github.com"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
SECRET_BLOCK = "buildloop-github-token"  # noqa: S105 (a name)
TOKENS = ("GITHUB_TOKEN", "GH_TOKEN")
ENTERPRISE_TOKENS = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
SCP_FORM = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>.+)")
PREFERRED_REMOTES = ("origin", "upstream")


@dataclass(frozen=True, slots=True)
class GithubRepo:
    """`chosen` says that the user named this server, not only a remote."""

    host: str
    owner: str
    name: str
    api_url: str
    chosen: bool = False

    @property
    def token_names(self) -> tuple[str, ...]:
        """The variables whose token is meant for this server."""
        return TOKENS if self.chosen or self.api_url == PUBLIC_API else ENTERPRISE_TOKENS

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class Remote:
    """A git remote as git would use it, and what it means."""

    name: str
    url: str
    host: str
    owner: str
    repo: str

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.repo}"


def parse_remote(name: str, url: str) -> Remote | None:
    """A remote of the form HOST, OWNER, NAME: https, ssh or git's short ssh form. None for anything else."""
    if "://" in url:
        try:
            parts = urlsplit(url)
            number = parts.port
        except ValueError:
            return None
        if parts.scheme not in ("https", "http", "ssh", "git", "git+ssh") or not parts.hostname:
            return None
        port = f":{number}" if number and parts.scheme.startswith("http") else ""
        host, path = parts.hostname + port, parts.path
    elif found := SCP_FORM.fullmatch(url):
        host, path = found["host"], found["path"]
    else:
        return None
    words = path.strip("/").removesuffix(".git").split("/")
    if len(words) != 2 or not all(words):
        return None
    # GitHub also answers ssh on the https port, under a name of its own.
    return Remote(name, url, host.lower().removeprefix("ssh.").removeprefix("www."), *words)


def github_remotes(checkout: Path) -> list[Remote]:
    """Those that may be on GitHub, the most likely first."""
    names = (git_or_none(checkout, "remote") or "").split("\n")
    ordered = sorted(filter(None, names), key=lambda name: (name not in PREFERRED_REMOTES, name))
    urls = ((name, git_or_none(checkout, "remote", "get-url", "--push", name)) for name in ordered)
    return [found for name, url in urls if url and (found := parse_remote(name, url))]


def repository_for(checkout: Path, given: str | None, environment: Mapping[str, str]) -> GithubRepo:
    """The repository that was named, or that of the remote; on the server that the environment or the remote says."""
    remotes = github_remotes(checkout)
    full_name = given or (remotes[0].full_name if remotes else environment.get("GITHUB_REPOSITORY", ""))
    if not full_name:
        raise GithubError(
            f"{checkout} has no remote on GitHub; name the repository with --github-repo OWNER/NAME"
        )
    matching = [one for one in remotes if one.full_name.lower() == full_name.lower()] or remotes
    server = urlsplit(environment.get("GITHUB_SERVER_URL", "")).netloc
    host = matching[0].host if matching else server or PUBLIC_HOST
    owner, _, name = full_name.partition("/")
    chosen = bool(environment.get("GITHUB_API_URL"))
    return GithubRepo(host, owner, name, _api_url(host, environment), chosen)


def token_for(repo: GithubRepo, environment: Mapping[str, str]) -> str:
    """The token meant for this server. One for github.com is not shown to whatever host a remote names."""
    return next((value for name in repo.token_names if (value := environment.get(name, "").strip())), "")


def token_advice(repo: GithubRepo) -> str:
    return (
        f"set {' or '.join(repo.token_names)}, or the Prefect secret block {SECRET_BLOCK!r}, to a token "
        f"for {repo.full_name} that may read and write issues, contents and pull requests"
    )


def _api_url(host: str, environment: Mapping[str, str]) -> str:
    given = environment.get("GITHUB_API_URL", "").rstrip("/")
    if not given:
        return PUBLIC_API if host == PUBLIC_HOST else f"https://{host}/api/v3"
    parts = urlsplit(given)
    if parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise GithubError(f"GITHUB_API_URL is {given!r}; give an https:// address, a token travels there")
    return given
