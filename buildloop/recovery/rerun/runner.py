"""What a test runner is to us: how its command begins, how single tests are named to it, and where."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from buildloop.diagnosis.model import LogReading
from buildloop.recovery.rerun.shell_words import Word

Words = tuple[Word, ...]
# The arguments that name the failing tests of a reading, or None where they cannot be named for sure.
Selector = Callable[[LogReading], Sequence[str] | None]
# The runner's own arguments with the (quoted) selecting ones in their place, or None where there is none.
Place = Callable[[Words, Sequence[str]], list[str] | None]

META = re.compile(r"[\\^$.|?*+()\[\]{}/]")


@dataclass(frozen=True, slots=True)
class Runner:
    """`heads` are the words it starts with (the program by its file name); `tools` what the parsers call it.

    `taken` are options that already select tests: a second selection would fight with the first one.
    `lists_all` says that its list of failing tests is complete, whatever else the log complains of.
    """

    heads: tuple[tuple[str, ...], ...]
    tools: frozenset[str]
    select: Selector
    place: Place
    taken: frozenset[str] = frozenset()
    lists_all: bool = False


def starts_with(words: Words, head: tuple[str, ...]) -> bool:
    if len(words) < len(head) or not fnmatchcase(words[0].name, head[0]):
        return False
    return all(fnmatchcase(word.value, pattern) for word, pattern in zip(words[1:], head[1:], strict=False))


def escaped(text: str) -> str:
    """Literal in the pattern languages of JavaScript, Go, PCRE, Ruby, POSIX (extended) and CMake."""
    return META.sub(r"\\\g<0>", text)


def exactly(names: Sequence[str], group: str = "(?:") -> str:
    """One expression that matches these names whole and nothing else."""
    return f"^{group}{'|'.join(map(escaped, dict.fromkeys(names)))})$"


def raw(words: Words) -> list[str]:
    return [word.raw for word in words]


def first(arguments: Words, selecting: Sequence[str]) -> list[str]:
    return [*selecting, *raw(arguments)]


def last(arguments: Words, selecting: Sequence[str]) -> list[str]:
    return [*raw(arguments), *selecting]


def after_dashes(arguments: Words, selecting: Sequence[str]) -> list[str]:
    """For a runner behind another program, which hands on what follows its `--`."""
    own = raw(arguments)
    return [*own, *selecting] if "--" in own else [*own, "--", *selecting]


def instead_of_paths(valued: frozenset[str], flag: re.Pattern[str]) -> Place:
    """For a runner whose arguments add up: the paths must go, or all of their tests would run as well.

    `valued` are the options that take the next word, `flag` those known to take none. A word after any other
    option may be its value or a path: then nothing is safe.
    """

    def place(arguments: Words, selecting: Sequence[str]) -> list[str] | None:
        kept: list[str] = []
        before = ""
        for word in arguments:
            is_option = word.value.startswith("-")
            if not is_option and before.startswith("-") and before not in valued and not flag.match(before):
                return None
            if is_option or before in valued:
                kept.append(word.raw)
            before = word.value if is_option and "=" not in word.value else ""
        return [*kept, *selecting]

    return place
