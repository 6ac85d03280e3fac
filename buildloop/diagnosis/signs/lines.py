"""From a raw line of a log to the statement it makes."""

from __future__ import annotations

from buildloop.patterns import Regex
from buildloop.text import ESCAPES

# GitHub Actions, GitLab and docker put a time before every line; `gh run view --log` also job and step.
CI_PREFIX = Regex(
    r"^\ufeff?(?:[^\t\n]{1,80}\t[^\t\n]{1,80}\t\ufeff?)?\[?\d{4}-\d\d-\d\d[T "
    r"]\d\d:\d\d:\d\d(?:[.,]\d+)?Z?\]?\s(?:\d\d[OE][ +]?)?"
)
WORKFLOW_COMMAND = Regex(r"^(?:##\[error\]|::error[^:]*::)")
# What stands before a statement without being part of it: margins of reporters, levels, where it was said.
LEAD = Regex(
    r"\s+|E\s{2,}|[#>$│┃║╎|×✗✘✖╰╭─┌└├●•!⨯❌⎯■✕↳→ℹ⚠✦]+\s*|\*\*\* |\d+\)\s|\[(?:ERROR|error|FATAL|fatal"
    r"|E)\]:?\s*"
    r"|\d+ error(?: |$)(?=\S+ )|(?:error|Error|ERROR|fatal|FATAL|Fatal|fatal error|Caused by|cause|Reason"
    r"|Exception during run|Uncaught|thrown"
    r"|CMake Error|Failure|failure|panic|warning: build failed|ValueError|RuntimeError|Traceback"
    r"|Original error"
    r"|unhandled|Unhandled \w+|Exception in thread \"[^\"]*\"|X \[ERROR\]|✘ \[ERROR\]):?\s+(?=\S)"
    r"|(?:[A-Za-z]:)?[\w./@+~<>$\\-]*\.[A-Za-z]\w{0,9}(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\)"
    r"|:\[\d+,\d+\])(?:: in [^:]+|:in [`'][^']*')?:?\s+-?\s*"
    r"|\S+\.\w+proj(?:\(\d+,\d+\))?\s?:\s+|<internal:[^>]*>:\d+:in [`'][^']*':\s+"
    r"|bundler: (?=failed to load command)"
    r"|In file included from \S+\s*|go: (?=\S)|\(node:\d+\) |\[\w[\w/-]*\] (?=\w+Error: )"
)
MAX_LEADS = 8


def plain(line: str) -> str:
    """The line without colours, carriage returns and the prefixes of CI systems."""
    line = ESCAPES.sub("", line) if "\x1b" in line else line
    line = line.rstrip("\r\n")
    if "\r" in line:
        line = line.rsplit("\r", 1)[-1]
    if line[:1].isdigit() or line[:1] in "[\ufeff" or "\t" in line[:80]:
        line = CI_PREFIX.sub("", line)
    return WORKFLOW_COMMAND.sub("", line)


def statements(line: str) -> list[str]:
    """The line read from each place where its statement may begin: whole first, then without its lead-ins."""
    found = []
    rest = line.strip()
    for _ in range(MAX_LEADS):
        found.append(rest)
        lead = LEAD.match(rest)
        if not lead or lead.end() == 0 or not rest[lead.end() :]:
            break
        rest = rest[lead.end() :]
    return found
