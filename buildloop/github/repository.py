"""Which repository on GitHub a checkout belongs to, where its API is, and which token may be shown there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
    """`host` is where its pages and its git are; `chosen` says that the user named this server, not only a remote."""

    host: str
    owner: str
    name: str
    api_url: str
    chosen: bool = False

    @property
    def is_meant(self) -> bool:
        """It is the GitHub that a token is for when nothing else is said: the public one, or the one that was named."""
        return self.chosen or self.api_url == PUBLIC_API

    @property
    def token_names(self) -> tuple[str, ...]:
        """The variables whose token is meant for this server."""
        return TOKENS if self.is_meant else ENTERPRISE_TOKENS

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

    @property
    def is_web(self) -> bool:
        return self.url.startswith(("https://", "http://"))

    @property
    def is_alias(self) -> bool:
        """`git@github-work:ada/shop`: a name from the configuration of ssh. Only that knows which server it is."""
        return not self.is_web and "." not in self.host

    def is_on(self, host: str) -> bool:
        """The port of the web says nothing about that of ssh."""
        return self.host == (host if self.is_web else host.partition(":")[0])

    def is_for(self, repo: GithubRepo) -> bool:
        return self.is_on(repo.host) and self.full_name.lower() == repo.full_name.lower()


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
    """The repository that was named, or that of a remote, or that CI says; a remote on the GitHub that is meant counts
    before one anywhere else. The server is what the environment says, else that of the remote."""
    api = _given_api(environment)
    meant = _host_of(api) if api else urlsplit(environment.get("GITHUB_SERVER_URL", "")).netloc or PUBLIC_HOST
    remotes = sorted(github_remotes(checkout), key=lambda one: (not one.is_on(meant), one.is_alias))
    here = [one.full_name for one in remotes if one.is_on(meant)]
    elsewhere = [one.full_name for one in remotes if api or not one.is_alias]
    in_ci = environment.get("GITHUB_REPOSITORY", "")
    full_name = given or next(filter(None, [*here, in_ci, *elsewhere]), "")
    if not full_name:
        raise GithubError(_without_repository(checkout, remotes))
    owner, _, name = full_name.partition("/")
    if api:
        return GithubRepo(meant, owner, name, api, chosen=True)
    matching = [one for one in remotes if one.full_name.lower() == full_name.lower()] or remotes
    named = [one.host for one in matching if not one.is_alias]
    from_ci = full_name == in_ci and not given
    host = named[0] if named and not (from_ci and not here) else meant
    return GithubRepo(host, owner, name, PUBLIC_API if host == PUBLIC_HOST else f"https://{host}/api/v3")


def _without_repository(checkout: Path, remotes: Sequence[Remote]) -> str:
    if not remotes:
        return f"{checkout} has no remote on GitHub; name the repository with --github-repo OWNER/NAME"
    return (
        f"the host {remotes[0].host!r} of the remote {remotes[0].name!r} is a name of ssh, not a server; say which "
        f"GitHub it is with GITHUB_API_URL ({PUBLIC_API} for {PUBLIC_HOST})"
    )


def token_for(repo: GithubRepo, environment: Mapping[str, str]) -> str:
    """The token meant for this server. One for github.com is not shown to whatever host a remote names."""
    return next((value for name in repo.token_names if (value := environment.get(name, "").strip())), "")


def token_advice(repo: GithubRepo) -> str:
    block = f", or the Prefect secret block {SECRET_BLOCK!r}," if repo.is_meant else ""
    return (
        f"set {' or '.join(repo.token_names)}{block} to a token "
        f"for {repo.full_name} that may read and write issues, contents and pull requests"
    )


def _given_api(environment: Mapping[str, str]) -> str:
    given = environment.get("GITHUB_API_URL", "").rstrip("/")
    parts = urlsplit(given)
    secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if given and not secure:
        raise GithubError(f"GITHUB_API_URL is {given!r}; give an https:// address, a token travels there")
    return given


def _host_of(api: str) -> str:
    """Where the pages and the git of an API are: api.github.com belongs to github.com, HOST/api/v3 to HOST."""
    return urlsplit(api).netloc.rpartition("@")[2].lower().removeprefix("api.")
