"""How much an error line tells whoever must fix it (seed 002)."""

from __future__ import annotations

import re

from buildloop.patterns import Regex

# They stand for facts, not for words: `:443` in a URL is no line number.
EXTENSION = (
    r"py|pyi|js|mjs|cjs|ts|tsx|jsx|go|rs|rb|java|kt|kts|scala|groovy|c|cc|cpp|cxx|h|hpp|hh|m|mm|swift|sh"
    r"|bash|bats|php|pl|pm|t"
    r"|cs|fs|vb|ex|exs|erl|hs|elm|lua|dart|r|jl|sql|vue|svelte|css|scss|html|xml|json|ya?ml|toml|ini|cfg"
    r"|gradle|tf|txt|md|mk|lock"
)
PATH = Regex(
    rf"(?<![\w:/.-])(?:\.{{0,2}}/|~/|[A-Za-z]:\\)?(?:[\w@.+-]+[/\\])*[\w@+-][\w@.+-]*\.(?:{EXTENSION})\b(?!"
    rf"\.\w)|\b(?:Makefile|Dockerfile|Gemfile|Rakefile|CMakeLists\.txt)\b"
)
URL = Regex(r"\w+://\S+")
CLOCK = Regex(r"(?<![\w:.])\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?\b|\d{4}-\d\d-\d\d[T ]\S*")
LINE_NUMBER = Regex(
    r"(?<=[\w)\]\"'])[:(\[]\d+\b|\bline \d+|\(\d+[:,]\d+\)|\[\d+,\d+\]|^\s*\d+:\d+\s", re.IGNORECASE
)
ERROR_TYPE = Regex(
    r"\b(?:[A-Za-z_]\w*)?[a-z]Error\b|\b[A-Z]\w*(?:Exception|Warning|Failure)\b|\b(?:SyntaxError|TypeError)\b"
    r"|\bE[A-Z]{3,}[A-Z0-9_]*\b(?<!ERROR)(?<!ERRORS)|\berror(?:\[E\d+\]| [A-Z]{2,3}\d+)|\bSIG[A-Z]{3,}\b"
    r"|\[[a-z]+(?:-[a-z]+)+\]$"
    r"|\bpanicked at\b|^panic: |\b[A-Z]{1,4}\d{3,4}\b|\bSegmentation fault\b|\bAddressSanitizer\b"
    r"|(?i:\bsyntax error\b|\bparse error\b|\bfatal error\b|\bassertion\b.*\bfailed\b|\bpermission denied\b"
    r"|\bno such file\b|\bcommand not found\b)"
)
DETAIL = Regex(
    r"\bexpect(?:ed|s|ing)?\b|\b(?:got|want(?:ed)?|received|actual|missing|undefined|undeclared|unresolved"
    r"|unexpected|unknown|invalid|unsupported)\b"
    r"|\bnot (?:defined|found|assignable|callable|a function|installed|declared|allowed|supported|in scope"
    r"|iterable)\b|\bdoes not exist\b"
    r"|\bcan ?not\b|\bcan't\b|\bcould not\b|\bunable to\b|\bno (?:such|module|attribute|matching|member"
    r"|property|method|field|rule|space)\b|\bhas no\b"
    r"|\bis (?:null|undefined|not)\b|\bdenied\b|\brefused\b|\balready in use\b|\btimed out\b|\bmust be\b"
    r"|\brequires?\b|\bassert .+(?:==|!=|<|>| in | is )|\S+ != \S+"
    r"|\b(?:mismatched|incompatible|moved|borrow(?:ed)?|unused|duplicate|ambiguous|conflict\w*|exceed\w*"
    r"|out of (?:range|bounds|memory))\b",
    re.IGNORECASE,
)
SUGGESTION = Regex(
    r"\bdid you mean\b|\b(?:try|consider|please) \w+|\bhelp: |\bhint: |\byou (?:may|might|can|could|should"
    r"|need to|must) \w+|\bto fix\b|\buse .+ instead\b"
    r"|\brun `|\bmake sure\b|\bperhaps\b|\bto add it:|\bdid you forget\b",
    re.IGNORECASE,
)


def score_error_line(line: str) -> int:
    """0..100: file 25, line number 20, type 20, detail 20, suggestion 15."""
    return sum(points for points, present in _facts(line[:4000]) if present)


def _facts(line: str) -> tuple[tuple[int, bool], ...]:
    plain = URL.sub(" ", line)
    timeless = CLOCK.sub(" ", plain)
    return (
        (25, PATH.search(plain) is not None),
        (20, LINE_NUMBER.search(timeless) is not None),
        (20, ERROR_TYPE.search(plain) is not None),
        (20, DETAIL.search(plain) is not None),
        (15, SUGGESTION.search(plain) is not None),
    )
