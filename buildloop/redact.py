"""Masks secrets: exact values of secret-looking environment variables, and the known shapes of tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from buildloop.patterns import Regex

MASK = "[masked]"
SECRET_NAME = Regex(r"(TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|PRIVATE_KEY|CREDENTIALS?|ACCESS_KEY)", re.I)
SHORTEST_SECRET = 8
SHORTEST_LINE = 24

# Prefixes are what makes these safe to mask: none of them occurs in ordinary logs.
TOKEN_SHAPES = (
    r"sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{40,}",
    r"glpat-[A-Za-z0-9_-]{20,}",
    r"xox[abprs]-[A-Za-z0-9-]{10,}",
    r"AKIA[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"pnu_[A-Za-z0-9]{30,}",
    r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----",
)

Redactor = Callable[[str], str]


def redactor(environment: Mapping[str, str]) -> Redactor:
    """A function that masks every secret it can know of, the longest value first.

    Logs are masked as they come, so the lines of a longer value (a key file) count one by one too.
    """
    values = {
        value
        for name, value in environment.items()
        if SECRET_NAME.search(name) and len(value) >= SHORTEST_SECRET
    }
    values |= {line for value in values for line in value.splitlines() if len(line) >= SHORTEST_LINE}
    exact = [re.escape(value) for value in sorted(values, key=len, reverse=True)]
    pattern = Regex("|".join(exact + list(TOKEN_SHAPES)))

    def mask(text: str) -> str:
        return pattern.sub(MASK, text)

    return mask
