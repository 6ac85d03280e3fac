"""Why an original test is red on the new code: a wrong answer, or a name it uses that is no longer there.

An honest rename leaves the old tests unable to run; that says nothing about the answers, so the comparison of the
sources decides. A value of the wrong kind (an attribute of None, say) is an answer.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

from buildloop.diagnosis.model import Finding
from buildloop.patterns import Regex

NAME_GONE = Regex(
    r"(?:ModuleNotFoundError|No module named|ImportError|cannot import name|NameError|is not defined"
    r"|does not provide an export named|Cannot find (?:module|package)|ERR_MODULE_NOT_FOUND"
    r"|ERR_PACKAGE_PATH_NOT_EXPORTED|is not a (?:function|constructor)|NoMethodError|uninitialized constant"
    r"|undefined (?:method|local variable|reference)|Call to undefined|cannot load such file|Class \S+ not found"
    r"|has no attribute|Could not resolve|fixture '\w+' not found)"
)
# An attribute of a plain value is missing because the answer is wrong, not because something was renamed.
PLAIN_VALUE = Regex(
    r"'(?:NoneType|int|float|str|bool|list|dict|tuple|set|bytes)' object has no attribute|undefined method .* for nil"
    r"|Cannot read propert\w+ of (?:undefined|null)"
)
SIGNATURE = Regex(
    r"TypeError.*(?:positional argument|unexpected keyword|required keyword|multiple values for|not callable)"
    r"|ArgumentError.*wrong number of arguments|unknown keyword|<bound method|<function \w|\[(?:Async)?Function\b|\[class \w"
    r"|assert (?!True\b|False\b|None\b|not\b)[A-Za-z_]\w* (?:==|!=|<|>|is|in)"  # how pytest shows a method
    r"|<property object|<coroutine object|\bPromise \{"
)
DOES_NOT_COMPILE = Regex(
    r"error\[E\d{4}\]|could not compile|: undefined: |\[build failed\]|\[setup failed\]|cannot use .+ as .+ (?:value|type)|too many arguments"
    r"|not enough arguments|error TS\d+|: error: |cannot find symbol|COMPILATION ERROR|no required module provides"
    r"|is not in (?:std|GOROOT)|[Nn]o rule to make target|undeclared|unresolved import|does not implement|vet: "
    r"|^\S+\.go:\d+:\d+: "
)
FILE_GONE = Regex(r"No such file|cannot open|can't open|not found|Can't locate|does not exist")

BROKEN = Regex(
    r"SyntaxError|IndentationError|TabError|collection failure|error during collection|ERROR collecting|fixture '\w+' not"
    r" found|expected declaration|syntax error|FileNotFoundError|ENOENT|Test suite failed to run"
)


def could_not_run(finding: Finding, lost: Sequence[str], known_at_start: Collection[str]) -> bool:
    """`known_at_start` are the lines the gate complained with before anything was changed: what was missing then was
    not renamed since."""
    lines = [line for line in (finding.message, finding.type or "", *finding.lines) if line.strip()]
    telling = [line for line in lines if _excuses(line, lost)]
    return bool(telling) and not any(line.strip() in known_at_start for line in telling)


def names_a_lost_file(lines: Sequence[str], lost: Sequence[str]) -> bool:
    return any(FILE_GONE.search(line) and _names(line, lost) for line in lines)


def _excuses(line: str, lost: Sequence[str]) -> bool:
    if PLAIN_VALUE.search(line):
        return False
    if NAME_GONE.search(line) or SIGNATURE.search(line) or DOES_NOT_COMPILE.search(line):
        return True
    return bool(FILE_GONE.search(line)) and _names(line, lost)


def _names(line: str, lost: Sequence[str]) -> bool:
    return any(name in line or PurePosixPath(name).name in line for name in lost)


def broken_test(finding: Finding) -> bool:
    """Whether a test fails because of itself: it cannot be read, collected or set up."""
    return any(BROKEN.search(line) for line in (finding.message, finding.type or "", *finding.lines))
