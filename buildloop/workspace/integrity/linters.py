"""Checkers that the gate runs besides the tests: their configuration may only become stricter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator

from buildloop.workspace.integrity.files import CODE
from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.tricks import added_lines

# Which files a checker reads, and which word in a source file switches it off for the whole file.
CONFIGURED = {
    "eslint": r"eslint\.config\.\w+|\.eslintrc[^/]*|\.eslintignore",
    "ruff": r"\.?ruff\.toml|pyproject\.toml",
    "mypy": r"\.?mypy\.ini|setup\.cfg|pyproject\.toml",
    "pyright": r"pyrightconfig\.json|pyproject\.toml",
    "flake8": r"\.flake8|setup\.cfg|tox\.ini",
    "pylint": r"\.?pylintrc|pyproject\.toml",
    "tsc": r"tsconfig[^/]*\.json",
    "golangci-lint": r"\.golangci\.\w+",
    "rubocop": r"\.rubocop[^/]*\.yml",
    "clippy": r"\.?clippy\.toml|Cargo\.toml",
    "biome": r"biome\.jsonc?",
    "shellcheck": r"\.shellcheckrc",
    "stylelint": r"\.stylelint[^/]*|stylelint\.config\.\w+",
    "phpstan": r"phpstan[^/]*\.neon(?:\.dist)?",
}
SWITCHED_OFF = {
    "eslint": re.compile(r"/\*\s*eslint-disable\s*\*/"),
    "ruff": re.compile(r"#\s*ruff:\s*noqa\b"),
    "flake8": re.compile(r"#\s*flake8:\s*noqa\b"),
    "mypy": re.compile(r"#\s*mypy:\s*ignore-errors"),
    "pylint": re.compile(r"#\s*pylint:\s*skip-file"),
    "tsc": re.compile(r"//\s*@ts-nocheck"),
    "clippy": re.compile(r"#!\[allow\((?:clippy::all|warnings)"),
}
SECTIONED = re.compile(r"(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|Cargo\.toml)$")
LOOSER = re.compile(
    r"\boff\b|:\s*0\b|\bwarn\b|ignore|exclude|disable|skip|\ballow\b|\w\W*[:=]\s*['\"]?false\b|Enabled:\s*false|level:\s*[0-4]\b",
    re.I,
)
STRICT = re.compile(
    r"\berror\b|\bstrict|\bselect\b|\benable|[:=]\s*['\"]?true\b|\bdeny\b|\bforbid\b|fail", re.I
)


def loosened_checkers(change: Change, gate_words: Collection[str]) -> Iterator[Objection]:
    """Only where the gate runs the checker: elsewhere its configuration decides nothing here."""
    for tool in sorted(set(CONFIGURED) & set(gate_words)):
        if re.search(rf"(?:^|/)(?:{CONFIGURED[tool]})$", change.name):
            before, after = (
                _own_part(text or "", change.name, tool) for text in (change.before, change.after)
            )
            for line in _looser_lines(before, after):
                yield Objection(
                    "config",
                    change.name,
                    f"{change.name} makes {tool}, which the gate runs, less strict: {line}",
                )
        off = SWITCHED_OFF.get(tool)
        if (
            off
            and CODE.search(change.name)
            and off.search(change.after or "")
            and not off.search(change.before or "")
        ):
            yield Objection("config", change.name, f"{change.name} switches {tool} off, which the gate runs")


def _own_part(text: str, name: str, tool: str) -> str:
    if not SECTIONED.search(name):
        return text
    kept, inside = [], False
    for line in text.splitlines():
        if line.startswith("["):
            inside = tool in line
        if inside:
            kept.append(line)
    return "\n".join(kept)


def _looser_lines(before: str, after: str) -> Iterator[str]:
    pieces = [Counter(_pieces(text)) for text in (before, after)]
    for piece in pieces[1] - pieces[0]:
        if LOOSER.search(piece):
            yield piece[:120]
    kept = {_key(piece) for piece in pieces[1]}
    for piece in pieces[0] - pieces[1]:
        if STRICT.search(piece) and _key(piece) not in kept:
            yield f"{piece[:120]} is gone"


def _pieces(text: str) -> list[str]:
    """One setting each: several may stand on one line."""
    return [
        piece.strip()
        for line in added_lines("", text, "x.sh")
        for piece in re.split(r"[,{}]", line)
        if piece.strip()
    ]


def _key(piece: str) -> str:
    return re.split(r"[:=]", piece)[0].strip(" '\"")
