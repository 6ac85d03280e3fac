"""Shell text as the steps it takes: each command, whether its failure still counts, and what it depends on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

OPERATOR = re.compile(r"&&|\|\||;;|[;|&]")
LOOP = re.compile(r"\bfor (?P<name>\w+) in (?P<values>[^;\n]*?)\s*[;\n]\s*do\b(?P<body>.*?)\bdone\b", re.S)
# What an `or` may lead to without hiding that the step failed.
TELLS = re.compile(
    r"exit\s+(?:[1-9$]|\"\$)|return\s+(?:[1-9$]|\"\$)|\w+=(?:1|\$\?|\"\$\?\"|yes|true|\$\()|false\b|die\b|fail\w*\b|abort\b|\{\s*(?:$|echo|printf|exit|return|fail|die)|exit$|\(\("
)
PROBES = re.compile(r"(?:if\s+|!\s*)*(?:\[\[?|test|command\s+-v|which|hash|type|false)(?:\s|$)")
FUNCTION = re.compile(r"(?:function\s+)?(?P<name>[\w-]+)\s*\(\)\s*\{?(?P<rest>.*)", re.S)
SAYS = re.compile(r"(?:echo|printf|:|true|export|local|readonly|cd|mkdir|umask|date)(?:\s|$)")
OPENS = {"if": "fi", "case": "esac", "while": "done", "until": "done", "for": "done", "select": "done"}
CONDITIONS = frozenset({"fi", "esac"})
FOLLOWS = frozenset("then do else elif { ( ! time".split())
CLOSES = frozenset("} ) fi done esac".split())
PATTERN = re.compile(r"[^()]+\)")


@dataclass(frozen=True, slots=True)
class Step:
    """`excused`: its failure no longer shows. `depth`: how many conditions it stands behind."""

    words: tuple[str, ...]
    excused: bool = False
    depth: int = 0
    inside: bool = False  # of a function
    joined: bool = False  # one of several conditions

    @property
    def ends(self) -> bool:
        return self.words[0] in ("exit", "return", "exec") and self.words[1:2] in ((), ("0",))


@dataclass(frozen=True, slots=True)
class Steps:
    steps: tuple[Step, ...]
    functions: frozenset[str]
    text: str


def steps_in(text: str, *, recipe: bool = False) -> Steps:
    """`recipe`: a line of a Makefile, where only the last command of a `;` list decides."""
    text = _unrolled(_joined(text))
    pipefail, careful = "pipefail" in text, not recipe or re.search(r"set -\w*e", text) is not None
    stack: list[str] = []
    functions: set[str] = set()
    found: list[Step] = []
    for line in text.splitlines():
        parts = list(_parts(line))
        for index, (before, part, after) in enumerate(parts):
            following = parts[index + 1][1] if index + 1 < len(parts) else ""
            words, condition = _opened(part, stack, functions)
            if words:
                excused = (
                    (after == "||" and not TELLS.match(following))
                    or (after == "|" and not pipefail)
                    or after == "&"
                    or (after == ";" and not careful and not _structure(following) and not condition)
                )
                depth = sum(one in CONDITIONS for one in stack) - condition
                depth += before in ("&&", "||") and bool(PROBES.match(parts[index - 1][1]))
                joined = condition and after in ("&&", "||")
                found.append(Step(words, excused, depth, "}" in stack, joined))
    return Steps(tuple(found), frozenset(functions), text)


def says(step: Step) -> bool:
    """It only tells, or prepares: nothing depends on whether it is there."""
    return bool(SAYS.match(" ".join(step.words)))


def _joined(text: str) -> str:
    return re.sub(r"\\\n", " ", text)


def _unrolled(text: str) -> str:
    """A loop over written-out values as what it does for each."""

    def once(loop: re.Match[str]) -> str:
        values = loop["values"].split()
        if not values or any(char in loop["values"] for char in '$*?`"'):
            return loop.group()
        uses = re.compile(rf"\${{1,2}}(?:\{{{loop['name']}\}}|{loop['name']}\b)")
        bodies = [uses.sub(lambda _, value=value: value, loop["body"]) for value in values]
        return "\n".join(body.strip().rstrip(";") for body in bodies)

    return LOOP.sub(once, text)


def _parts(line: str) -> Iterator[tuple[str, str, str]]:
    """(operator before, command, operator after), splitting outside of quotes and substitutions."""
    pieces, operators, current, place = [], [""], "", 0
    quote, depth = "", 0
    while place < len(line):
        char = line[place]
        if quote:
            if char == "\\" and quote == '"':
                current += char
                place += 1
                char = line[place : place + 1]
            elif char == quote and not depth:
                quote = ""
            depth += quote == '"' and line.startswith("$(", place)
            depth -= quote == '"' and depth > 0 and char == ")"
        elif char in "'\"`":
            quote = char
        elif char == "#" and (not current or current[-1].isspace()):
            break
        elif line.startswith("$(", place) or (char == "(" and depth):
            depth += 1
        elif char == ")" and depth:
            depth -= 1
        elif not depth and (found := OPERATOR.match(line, place)) and not _redirection(line, place):
            pieces.append(current)
            operators.append(found.group())
            current, place = "", found.end()
            continue
        current += char
        place += 1
    pieces.append(current)
    operators.append("")
    for index, piece in enumerate(pieces):
        if piece.strip():
            yield operators[index], piece.strip(), operators[index + 1]


def _redirection(line: str, place: int) -> bool:
    return line[place] == "&" and (
        line[place - 1 : place] in (">", "<") or line[place + 1 : place + 2] == ">"
    )


def _structure(part: str) -> bool:
    return not part or part.split(maxsplit=1)[0] in ("then", "do", "done", "fi", "else", "esac", "}", "elif")


def _opened(part: str, stack: list[str], functions: set[str]) -> tuple[tuple[str, ...], bool]:
    """The command without the words around it; the stack says what is open after it."""
    condition = False
    if (made := FUNCTION.fullmatch(part)) and "(" not in made["name"]:
        functions.add(made["name"])
        stack.append("}")
        part = made["rest"].strip()
    words = part.split()
    while words:
        first = words[0]
        if first in OPENS:
            stack.append(OPENS[first])
            if first in ("for", "case", "select"):
                return (), False
            condition = first == "if"
            words = words[1:]
        elif stack and first == stack[-1]:
            stack.pop()
            words = words[1:]
        elif first in FOLLOWS or first in CLOSES or (stack[-1:] == ["esac"] and PATTERN.fullmatch(first)):
            words = words[1:]
        else:
            break
    return tuple(words), condition and bool(words)


def same_program(words: Sequence[str]) -> tuple[str, ...]:
    """`bash x` for `sh x`, `python3 -m pytest` for `pytest`: the same command."""
    known = {"bash": "sh", "dash": "sh", "/bin/sh": "sh", "/bin/bash": "sh", "python3": "python"}
    plain = tuple(known.get(word, word) for word in words)
    return plain[2:] if plain[:2] == ("python", "-m") else plain
