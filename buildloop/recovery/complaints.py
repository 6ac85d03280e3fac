"""What package managers say when an install fails: the registry did not answer, or a dependency is wrong."""

from __future__ import annotations

import re

MOST = 5

UNREACHABLE = re.compile(
    r"Temporary failure in name resolution|Name or service not known|nodename nor servname|no such host"
    r"|EAI_AGAIN|ENOTCACHED|ENOTFOUND|Could not resolve host|Unknown host|dns error|failed to lookup address"
    r"|[Cc]onnection (?:timed out|refused|reset|aborted|closed)|ETIMEDOUT|ECONNRESET|ECONNREFUSED|ENETUNREACH"
    r"|ESOCKETTIMEDOUT|ERR_SOCKET_TIMEOUT|[Rr]ead timed out|ReadTimeout|operation timed out|i/o timeout"
    r"|TLS handshake timeout|[Nn]etwork is unreachable|Failed to establish a new connection"
    r"|error sending request for url|tcp connect error|spurious network error|Net::OpenTimeout"
    r"|Failed to open TCP connection|50[234] (?:Service|Bad Gateway|Gateway)|429 Too Many Requests"
    r"|Could not reach host|Unable to load the service index"
)
# pip also says that nothing matches when nobody answered; a list of versions is an answer.
ANSWERED = re.compile(r"from versions: (?!none\))")

# Named `what` is the dependency with its constraint as far as the tool tells it.
WRONG: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.M)
    for pattern in (
        # pip
        r"satisfies the requirement (?P<what>.+?) \(from versions: (?P<have>[^)\n]*)\)",
        r"No matching distribution found for (?P<what>.+)$",
        r"^ +(?P<what>(?:The user requested|\S+ \S+ depends on) \S.*)$",
        r"(?P<what>Package '\S+' requires a different Python: .+)$",
        r"Invalid requirement: (?P<what>'[^']+'|.+?)(?: \(from|$)",
        r"THESE PACKAGES DO NOT MATCH THE HASHES[^\n]*\n +(?P<what>\S+)",
        # uv
        r"there (?:is|are) no versions? of (?P<what>[^,\n]+?)(?: and |,|$)",
        r"(?P<what>\S+) was not found in the (?:package registry|cache|provided package locations)",
        r"(?:Failed to (?:download|fetch|build)|Distribution not found at:?) `?(?P<what>[\w.+-]+==[\w.+!-]+)",
        # poetry
        r"depends on (?P<what>\S+ \([^)]*\)) which (?:doesn't|does not) match any versions",
        r"Unable to find installation candidates for (?P<what>\S+ \([^)]*\))",
        # npm, pnpm, yarn
        r"No matching version found for (?P<what>(?:@[\w.-]+/)?[\w.-]+@[^\s.]\S*?)\.?(?: while |\s|$)",
        r"404  ?'(?P<what>\S+)' is not in this registry",
        r"Could not resolve dependency:\n.*?(?P<what>(?:peer |dev )?\S+@\"[^\"\n]+\" from \S+)",
        r"(?:Missing|Invalid): (?P<what>\S.*(?:from lock file|does not satisfy .*))$",
        r"GET \S+/(?P<what>(?:@[\w.-]+(?:/|%2[fF]))?[\w.-]+): Not Found - 404",
        r"Couldn't find any versions for \"(?P<what>[^\"]+)\" that matches \"(?P<constraint>[^\"]+)\"",
        r"Couldn't find package \"(?P<what>[^\"]+)\"",
        r"(?P<what>\S+@(?:npm:)?\S+): (?:No candidates found|Package not found)",
        r"(?P<what>specifiers in the lockfile \(.*\) don't match specs in package\.json \(.*\))",
        r"^\s*\* \d+ dependenc\w+ (?:were added|are mismatched|were removed): (?P<what>.+)$",
        # cargo
        r"failed to select a version for the requirement `(?P<what>[^`]+)`",
        r"failed to select a version for `(?P<what>[^`]+)`",
        r"no matching package named `(?P<what>[^`]+)` found",
        # go
        r"^go: (?:module )?(?P<what>\S+@\S+): (?:invalid version|reading|module|unrecognized|verifying)",
        r"require (?P<what>\S+: version \"[^\"]+\" invalid)",
        # bundler
        r"Could not find gem '(?P<what>[^']+)'",
        # maven
        r"(?:Could not find artifact|Missing artifact) (?P<what>\S+)",
        # composer
        r"Root composer\.json requires (?P<what>\S+ [^,\n]+?)(?:,| ->| but|$)",
        r"(?P<what>[\w-]+/[\w.-]+) could not be found",
        # NuGet
        r"NU110[123]: Unable to find (?:a stable )?package (?P<what>\S+(?: with version \([^)]*\))?)",
    )
)


def is_unreachable(text: str) -> bool:
    """Whether the same install may work later."""
    return UNREACHABLE.search(text) is not None and ANSWERED.search(text) is None


def wrong_dependencies(text: str) -> tuple[str, ...]:
    """The dependencies that cannot be had as they are declared, in the order of the log."""
    told = _unfolded(text)
    found = [match for pattern in WRONG for match in pattern.finditer(told)]
    return tuple(dict.fromkeys(_named(match) for match in sorted(found, key=lambda m: m.start())))[:MOST]


def _named(match: re.Match[str]) -> str:
    parts = match.groupdict()
    named = " ".join(filter(None, (parts["what"].strip(" .'"), parts.get("constraint"))))
    return f"{named} (there is: {have[-80:]})" if (have := parts.get("have")) and have != "none" else named


def _unfolded(text: str) -> str:
    """npm puts a name before every line; uv folds its sentences at the width of a terminal."""
    plain = re.sub(r"^npm (?:error|ERR!) ?", "", text, flags=re.M)
    return re.sub(r"\n {6}(?:│ +)?(?=[a-z])", " ", plain)
