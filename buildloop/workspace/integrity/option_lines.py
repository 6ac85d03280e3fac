"""Option files that runners read line by line: .rspec, .npmrc, phpunit.xml and their kin."""

from __future__ import annotations

import re

SENSITIVE_LINE = re.compile(
    r"node-options|script-shell|\bshell\b|NODE_OPTIONS|PYTEST_ADDOPTS|PYTEST_PLUGINS|GOFLAGS|RUBYOPT|PERL5OPT|LD_PRELOAD|BASH_ENV|JAVA_TOOL_OPTIONS|"
    r"--tag|--example|-e\b|--pattern|-P\b|--exclude|--dry-run|--fail-if-no|--failure-exit-code|--only|<exclude|<group|defaultTestSuite|grep|ignore|spec:|yarn-path|yarnPath",
    re.I,
)


def judged_line(line: str, *, added: bool) -> str | None:
    if added and SENSITIVE_LINE.search(line):
        return f"'{line}' was added"
    if not added and re.search(r"<(?:directory|file|testsuite)|minimum_coverage|--fail", line):
        return f"'{line}' was removed"
    return None
