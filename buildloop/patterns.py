"""Regular expressions that cost nothing until a log calls for them.

The tables know hundreds of tools and a log speaks of three. An expression is compiled when it is first asked,
and the texts without which it cannot match tell quickly whether it needs to be asked at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

from buildloop.literals import required_literals


class Regex:
    """Like the result of `re.compile`, later. Each method is looked up once and then as quick as the original."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    def may_match(self, text: str) -> bool:
        """False only where no part of `text` can match."""
        return not self.literals or any(literal in text for literal in self.literals)

    @cached_property
    def literals(self) -> tuple[str, ...]:
        return () if self.flags & (re.IGNORECASE | re.VERBOSE) else required_literals(self.pattern)

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self.flags)

    @cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.match

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.search

    @cached_property
    def fullmatch(self) -> Callable[[str], re.Match[str] | None]:
        return self.compiled.fullmatch

    @cached_property
    def finditer(self) -> Callable[[str], Iterator[re.Match[str]]]:
        return self.compiled.finditer

    @cached_property
    def findall(self) -> Callable[[str], list[Any]]:
        return self.compiled.findall

    @cached_property
    def sub(self) -> Callable[[str | Callable[[re.Match[str]], str], str], str]:
        return self.compiled.sub


def possible(patterns: Iterable[Regex], text: str) -> tuple[Regex, ...]:
    """Those of a table that can match anywhere in `text`: mostly a few of many."""
    return tuple(pattern for pattern in patterns if pattern.may_match(text))


def regexes(*patterns: str) -> tuple[Regex, ...]:
    return tuple(Regex(pattern) for pattern in patterns)
