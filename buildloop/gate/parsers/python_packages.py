"""pip, uv, poetry, pipenv, pdm and conda."""

from __future__ import annotations

from dataclasses import replace

from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport
from buildloop.gate.parsers.said import read_sentences, sentences
from buildloop.patterns import Regex

TABLE = sentences(
    ("conda", "resolve", r"(?:error|critical)\s+libmamba (?P<message>.*)", Rank.CAUSE, 4),
    ("poetry", "resolve", r"(?P<message>(?:Because |So, because ).*)", Rank.CAUSE, 4),
    (
        "pip",
        "build",
        r"\s*ERROR: (?:Failed building wheel for|Could not build wheels|Failed to build installable wheels)",
        Rank.CASCADE,
    ),
    (
        "pip",
        "build",
        r"\s*(?:error: subprocess-exited-with-error|error: metadata-generation-failed"
        r"|× .* did not run successfully\.)",
        Rank.CASCADE,
    ),
    ("pip", "hash", r"\s*ERROR: (?P<message>THESE PACKAGES DO NOT MATCH THE HASHES.*)", Rank.CAUSE, 3),
    (
        "pip",
        "resolve",
        r"\s*ERROR: (?P<message>(?:Cannot install|ResolutionImpossible|Ignored the following"
        r"|Could not find a version"
        r"|No matching distribution|Package .* requires a different Python|pip's dependency resolver"
        r"|Hashes are required|In --require-hashes).*)",
    ),
    ("pip", "resolve", r"\s+(?P<message>(?:The user requested|\S+ \S+ depends on) \S.*)"),
    (
        "pip",
        "resolve",
        r"(?P<message>\S+ \S+ (?:has requirement|requires) .*, (?:but you(?:'ll)? have"
        r"|which is not installed).*)",
    ),
    (
        "pip",
        "install",
        r"\s*ERROR: (?P<message>(?:Could not install|Could not open requirements|Invalid requirement"
        r"|Exception|Directory|Double requirement|HTTP error|Failed to|Could not|Error \["
        r"|.*is not a (?:valid|supported)|Requested|externally-managed).*)",
    ),
    (
        "pip",
        "network",
        r"\s*(?:WARNING: )?(?P<message>(?:Retrying \(Retry|Could not fetch URL"
        r"|There was a problem confirming).*)",
        Rank.HINT,
    ),
    ("pip", "install", r"error: externally-managed-environment"),
    ("uv", "resolve", r"\s*(?:error: |× )(?P<message>No solution found when resolving.*)", Rank.CAUSE, 4),
    ("uv", "lock", r"error: (?P<message>The lockfile at .*)"),
    (
        "uv",
        "python",
        r"error: (?P<message>(?:The requested interpreter|No interpreter found|The Python request"
        r"|Python \S+ is not).*)",
    ),
    (
        "uv",
        "install",
        r"\s*(?:error: |× )(?P<message>(?:Failed to (?:fetch|download|build|spawn|parse|prepare|install"
        r"|resolve|inspect)|Request failed|Because |Distribution|Package|Querying|Unable to find lockfile"
        r"|Project virtual|No virtual).*)",
        Rank.CAUSE,
        4,
    ),
    (
        "poetry",
        "resolve",
        r"\s*(?P<message>.*(?:version solving failed|doesn't match any versions|which doesn't exist"
        r"|is not satisfied|is incompatible with).*)",
        Rank.CAUSE,
        2,
    ),
    (
        "poetry",
        "lock",
        r"\s*(?P<message>(?:Error: )?(?:pyproject\.toml changed significantly|The lock file is not"
        r"|poetry\.lock is not|Error: poetry).*)",
    ),
    (
        "poetry",
        "install",
        r"\s*(?P<message>(?:The current project's (?:supported )?Python requirement"
        r"|The currently activated Python version|Current Python version"
        r"|Unable to find installation candidates|Package operations failed).*)",
    ),
    (
        "pipenv",
        "resolve",
        r"\s*(?:\[\w+\] )?(?P<message>.*(?:ResolutionFailure|Locking Failed"
        r"|Could not find a version that matches|Your Pipfile\.lock).*)",
    ),
    (
        "pdm",
        "resolve",
        r"\s*(?P<message>(?:\[ResolutionImpossible\]|\[?ResolutionTooDeep|Unable to find a resolution"
        r"|Lock file hash doesn't match).*)",
    ),
    (
        "conda",
        "resolve",
        r"\s*(?P<message>(?:PackagesNotFoundError|LibMambaUnsatisfiableError|UnsatisfiableError"
        r"|ResolvePackageNotFound|CondaHTTPError|nothing provides|Could not solve for environment).*)",
        Rank.CAUSE,
        4,
    ),
)


# pip names the line of the requirements file that asked.
REQUIRED = Regex(r"-r (?P<file>\S+) \(line (?P<line>\d{1,8})\)")


def parse(lines: Lines) -> ToolReport:
    sightings = [_required(sighting) for sighting in read_sentences(lines, TABLE).sightings]
    retries = [s for s in sightings if s.finding.type == "network"]
    others = [s for s in sightings if s.finding.type != "network"]
    # pip tries five times; the last attempt says it all, and it is why nothing was found.
    return ToolReport((*(replace(s, rank=Rank.CAUSE) for s in retries[-1:]), *others))


def _required(sighting: Sighting) -> Sighting:
    place = next((m for line in sighting.finding.lines if (m := REQUIRED.search(line))), None)
    if not place:
        return sighting
    return replace(sighting, finding=replace(sighting.finding, file=place["file"], line=int(place["line"])))
