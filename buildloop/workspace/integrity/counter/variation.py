"""The variation probe: inputs of the tests that are written into the product, exchanged for others.

A branch that compares with a test's own input may be a rule or the answer to that one test. So the gate runs once more
with other values in the new comparisons: where as many tests fail as at the start, nothing but these comparisons had
turned them green. Words of a language or protocol (plain lower-case words, texts that the product had before) are no
data of a test, and base cases (0, 1, empty) say nothing.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from buildloop.workspace.integrity.files import CODE, is_test
from buildloop.workspace.integrity.model import Change
from buildloop.workspace.integrity.tricks import added_lines

QUOTED = r"(?:'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\")"
LITERAL = rf"(?:-?\d+(?:\.\d+)?|{QUOTED})"
BARE = r"(?:[\w.,:@%+/-]+)"
ONE = re.compile(LITERAL)
# A plain name compared with a value: what is computed from the input first (`n % 100`, a length) is a property.
NAME = r"(?<![\w%&*/+\-)\]])(?<![%&*/+-] )(?:\*|&)?[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*|\[\d\]|\.as_str\(\)|\.trim\(\)|\.join\(\))*"
COMPARED = re.compile(
    rf"(?:{NAME}\s*(?:===?|\.equals\(|\beq\b)\s*(?P<right>{LITERAL}))|(?:(?P<left>{LITERAL})\s*===?\s*{NAME})"
    rf"|(?:\b(?:case|when)\s+(?P<cases>[^\n:]*?{LITERAL}[^\n:]*?)\s*(?::|then\b|=>|->|$))"
    rf"|(?:(?:^\s*|[{{(\[,|]\s*)(?P<key>{LITERAL}(?:\s*\|\s*{LITERAL})*)\s*(?:=>|:(?!:))\s*\S)"
    rf"|(?:\[\s*(?P<pair>{LITERAL})\s*,\s*{LITERAL}\s*\])"
    rf"|(?:===?\s*(?P<whole>[\[(]\s*{LITERAL}(?:\s*,\s*{LITERAL})*\s*,?\s*[\])]))"
    rf"|(?P<collected>[\[{{]\s*{LITERAL}(?:\s*,\s*{LITERAL})+\s*,?\s*[\]}}])"
    rf"|(?:{NAME}\s+in\s+[(\[{{](?P<within>{LITERAL}(?:\s*,\s*{LITERAL})*))"
    rf"|(?:\[(?P<listed>{LITERAL}(?:\s*,\s*{LITERAL})*)\]\.(?:includes|contains|include\?|indexOf)\()"
)
SHELL_COMPARED = re.compile(
    rf"(?:\[\[?\s+\"?\$\{{?\w+\}}?(?:\s\$\{{?\w+\}}?)*\"?\s+(?:=|==|-eq)\s+(?P<right>{QUOTED}|{BARE}))"
    rf"|(?:(?:^\s*|\bin\s+|;;\s*)\(?(?P<cases>(?:{QUOTED}|{BARE})(?:\s*\|\s*(?:{QUOTED}|{BARE}))*)\))"
)
SHELL_ONE = re.compile(rf"{QUOTED}|{BARE}")
TRIVIAL = frozenset({"", "0", "1", "2", "-1", "10", "100", "0.0", "1.0", " "})
PLAIN_WORD = re.compile(r"[a-z][a-z_-]*|[A-Z][A-Z_]*|-{1,2}[a-z][\w-]*|\W|\w")
QUIET = re.compile(r"\"\"\".*?\"\"\"|/\*.*?\*/|(?m:(?:^|\s)(?:#|//).*$)", re.S)
SMALL_NUMBERS = frozenset(map(str, (*range(3, 11), 100, 1000)))
WORD = re.compile(r"[\w.:/@%+-]+")
MORE_CODE = re.compile(r"\.(?:awk|sed|sql|[rR]|jl|hs|mli?|nim|zig|erl|fs|vb|tcl|m|mm)$")
# Some output of several lines with a number in it, whole: what a golden file holds.
WHOLE_OUTPUT = re.compile(QUOTED)
BRANCHES = re.compile(r"\b(?:if|elif|case|when|match|switch)\b|\?")
SHORTEST_LIST = 3
# Nobody writes longer ones by hand, and patterns take their time with them.
LONGEST, LONGEST_LINE = 300_000, 400
MOST_WORDS = 4  # in an output that could be a message like others
LENGTH = re.compile(r"\b(?:len|length|size|count)\b")


@dataclass(frozen=True, slots=True)
class Varied:
    """A file of the product with other values in its new comparisons, and which values were exchanged."""

    file: str
    text: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """The values that tests are made of, and all their words in a row: `"2 3"` is what `sum 2 3` was given."""

    values: frozenset[str]
    rows: str

    def has(self, value: str) -> bool:
        words = re.findall(r"\w+", value.replace("\\n", " "))
        return value in self.values or (len(words) > 1 and f" {' '.join(words)} " in self.rows)


def told(texts: Iterable[str]) -> Told:
    known = [text for text in texts if len(text) <= LONGEST]
    row = " ".join(re.findall(r"\w+", " ".join(known)))
    return Told(frozenset[str]().union(*map(values_in, known)), f" {row} ")


def varied(changes: Sequence[Change], tests: Callable[[], Told]) -> list[Varied]:
    """`tests` says what the tests of the start are made of."""
    found = []
    for change in changes:
        if (
            change.after is None
            or is_test(change.name)
            or not _is_code(change)
            or len(change.after) > LONGEST
        ):
            continue
        lines_added = added_lines(change.before or "", change.after, change.name)
        fresh = {line for line in lines_added if len(line) <= LONGEST_LINE}
        if not any(_asked(line, change) for line in fresh):
            continue
        words = {bare(one) for one in re.findall(QUOTED, QUIET.sub("", change.before or ""))}
        spelled = {bare(one) for line in fresh for one in (*ONE.findall(line), *SHELL_ONE.findall(line))}
        whole = {
            bare(one)
            for line in fresh
            for found in COMPARED.finditer(line)
            for one in ONE.findall(found["whole"] or "")
        }
        telling = {one for one in spelled - words if (_telling(one) or one in whole) and tests().has(one)}
        small = SMALL_NUMBERS & tests().values
        lines: list[str] = []
        values: list[str] = []
        for line, following in itertools.pairwise([*change.after.splitlines(), ""]):
            if line.strip() not in fresh:
                lines.append(line)
                continue
            # A small number is data where the answer to it is.
            answered = any(bare(one) in telling for one in ONE.findall(f"{line} {following}"))
            listed = _answers_with_a_list(line, lines[-1:], tests)
            exchanged, seen = _exchanged(line, change, telling | listed | (small if answered else set()))
            lines.append(exchanged)
            values += seen
        if values:
            text = "\n".join(lines) + "\n" * change.after.endswith("\n")
            found.append(Varied(change.name, text, tuple(dict.fromkeys(values))))
    return found


def _answers_with_a_list(line: str, before: Sequence[str], tests: Callable[[], Told]) -> set[str]:
    """The values of a list that a test has as it stands, where a condition leads to it."""
    if not any(BRANCHES.search(one) for one in (line, *before)):
        return set()
    lists = [
        [bare(one) for one in ONE.findall(found["collected"] or "")] for found in COMPARED.finditer(line)
    ]
    return {
        value
        for values in lists
        if len(values) >= SHORTEST_LIST and tests().has(" ".join(values))
        for value in values
    }


def values_in(text: str) -> set[str]:
    """Everything in a text that could be a value: quoted strings, numbers, and words as a shell sees them."""
    quoted = {bare(one) for one in ONE.findall(text)}
    return quoted | set(WORD.findall(text)) | {line.strip() for line in text.splitlines()}


def bare(literal: str) -> str:
    return literal[1:-1] if literal[:1] in "'\"" and len(literal) > 1 else literal.removesuffix(".0")


def _is_code(change: Change) -> bool:
    return bool(CODE.search(change.name) or MORE_CODE.search(change.name)) or (change.after or "").startswith(
        "#!"
    )


def _shell(change: Change) -> bool:
    return change.name.endswith((".sh", ".bash")) or bool(
        re.match(r"#!.*\bd?(?:ba|z|k)?sh\b", change.after or "")
    )


def _asked(line: str, change: Change) -> bool:
    return "\\n" in line or (SHELL_COMPARED if _shell(change) else COMPARED).search(line) is not None


def _telling(value: str) -> bool:
    return value not in TRIVIAL and not PLAIN_WORD.fullmatch(value)


def _exchanged(line: str, change: Change, telling: Collection[str]) -> tuple[str, list[str]]:
    seen: list[str] = []

    def other(literal: re.Match[str]) -> str:
        """Beside one value of the tests, the others in the same place are of the same kind."""
        value = bare(literal.group())
        if value not in telling and not (seen and _telling(value)):
            return literal.group()
        seen.append(value)
        return another(literal.group(), telling)

    def comparison(found: re.Match[str]) -> str:
        whole = found.group()
        name = found.lastgroup
        if name is None or LENGTH.search(whole):
            return whole
        if name == "collected" and sum(bare(one) in telling for one in ONE.findall(whole)) < 2:
            return whole
        start, end = found.start(name) - found.start(), found.end(name) - found.start()
        one = SHELL_ONE if _shell(change) else ONE
        return whole[:start] + one.sub(other, whole[start:end]) + whole[end:]

    def output(literal: re.Match[str]) -> str:
        whole = literal.group()
        long = "\\n" in whole and len(re.findall(r"\w+", whole)) > MOST_WORDS and re.search(r"\d", whole)
        return other(literal) if long and bare(whole) in telling else whole

    changed = (SHELL_COMPARED if _shell(change) else COMPARED).sub(comparison, line)
    return WHOLE_OUTPUT.sub(output, changed), seen


def another(literal: str, taken: Collection[str]) -> str:
    """A value of the same kind that no test uses."""
    if literal[:1] in "'\"":
        return f"{literal[:-1]}~{literal[-1]}"
    number = re.fullmatch(r"(-?\d+)((?:\.\d+)?)", literal)
    if number is None:
        return f"{literal}~"
    value = int(number[1])
    step = next(step for step in (7, 11, 13, 17, 19, 23, 29, 31, 10_007) if str(value + step) not in taken)
    return f"{value + step}{number[2]}"
