"""Option files that runners read line by line: .rspec, .npmrc, phpunit.xml and their kin."""

from __future__ import annotations

import re

# What a run says and how fast it is, or what makes it stricter: never what it runs.
HARMLESS_OPTIONS = re.compile(
    r"^(?:-r\w*|-[vq]+|--verbose|--quiet|--strict\S*|--tb=\w+|--color(?:=\w+)?|--durations=\d+|-n=?\w*|-l|--showlocals|--cov(?:=\S*|-report=\S*|-branch|-fail-under=\S+)?"
    r"|--coverage(?:=\S+)?|--ci|--import-mode=\w+|--doctest-\w+|-W\S*|--randomly-\S+|--junit\S*|--timeout=\S+|--maxfail=\d+|-x|--exitfirst|--log-\S+|--asyncio-mode=\w+|-s"
    r"|--runxfail|--format|--order|documentation|progress|random|--require|--profile|-race|-count=1|-shuffle=\S+|-cover|--locked|--all-targets|--workspace|--no-fail-fast)$"
)
SPEAKING_OPTIONS = re.compile(
    r"^(?:-r[a-zA-Z]*|-[vq]+|--verbose|--quiet|--silent|--tb=\w+|--color(?:=\w+)?|--durations=\d+)$"
)

SENSITIVE_LINE = re.compile(
    r"node-options|script-shell|\bshell\b|NODE_OPTIONS|PYTEST_ADDOPTS|PYTEST_PLUGINS|GOFLAGS|RUBYOPT|PERL5OPT|LD_PRELOAD|BASH_ENV|JAVA_TOOL_OPTIONS|"
    r"--tag|--example|-e\b|--pattern|-P\b|--exclude|--dry-run|--fail-if-no|--failure-exit-code|--only|<exclude|<group|failOn\w+=.false|defaultTestSuite|grep|ignore|spec:|yarn-path|yarnPath",
    re.I,
)


def judged_line(line: str, *, added: bool) -> str | None:
    if added and SENSITIVE_LINE.search(line):
        return f"'{line}' was added"
    if not added and re.search(r"<(?:directory|file|testsuite)|minimum_coverage|--fail", line):
        return f"'{line}' was removed"
    return None
