"""Which project a clone's remote is: the same for every way to write its address, and without anybody's password."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import unquote, urlsplit

from buildloop.patterns import Regex
from buildloop.workspace.git import git_or_none

# git@host:owner/project, as ssh writes it; with a slash before the colon it is a path.
SSH_SHORT = Regex(r"(?:[^@/]*@)?(\[[^\]/]+\]|[^:/\[\]]+):(.*)")


def remote_identity(root: Path) -> str:
    """A name made from the address of `origin`, or of the first remote where there is none; "" without any."""
    names = (git_or_none(root, "remote") or "").splitlines()
    if not names:
        return ""
    url = git_or_none(root, "remote", "get-url", "origin" if "origin" in names else names[0])
    if not url:
        return ""
    told = project_address(url, root).encode("utf-8", "surrogateescape")
    return f"remote-{hashlib.sha256(told).hexdigest()[:40]}"


def project_address(url: str, root: Path) -> str:
    """Host and path: no scheme, user, password, port or ".git", because ssh and https differ in these alone. A
    remote on this machine is its path."""
    if "://" in url:
        try:
            parts = urlsplit(url)
        except ValueError:  # git may still understand it; as a name it is as good as any
            return url.rpartition("@")[2]
        if parts.scheme == "file":
            return _on_disk(Path(unquote(parts.path)))
        return _on_host(parts.hostname or "", unquote(parts.path))
    if short := SSH_SHORT.fullmatch(url):
        return _on_host(short[1].strip("[]"), short[2])
    return _on_disk(root / url)


def _on_host(host: str, path: str) -> str:
    return f"{host}/{_plain(path.strip('/'))}".lower()


def _on_disk(path: Path) -> str:
    return _plain(str(path.resolve()))


def _plain(path: str) -> str:
    return path.removesuffix("/").removesuffix(".git").removesuffix("/")
