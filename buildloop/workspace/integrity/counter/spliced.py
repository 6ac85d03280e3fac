"""Files that are half test, half product: the product's half as it is now, the tests' half as it was."""

from __future__ import annotations

import json
import re

from buildloop.workspace.integrity.setting_files import JSON_SECTIONS

SECTION = re.compile(r"^\[+\s*(?P<name>[^\]]+?)\s*\]+\s*(?:#.*)?$", re.M)
# What a Cargo manifest says about the product: features and packages it needs. The rest decides what is tested.
PRODUCT_SECTIONS = re.compile(r"(?:.*\.)?(?:dev-|build-)?dependencies(?:\..*)?|features|patch(?:\..*)?")
INLINE_TESTS = re.compile(
    r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\s+)?mod\s+\w+\s*(?P<open>[{;])"
)
# Comments, strings and characters, where braces mean nothing.
RUST_QUIET = re.compile(
    r"//[^\n]*|/\*.*?\*/|r(?P<hash>#*)\".*?\"(?P=hash)|\"(?:\\.|[^\"\\])*\"|'(?:\\.[^']*|[^'\\])'", re.S
)


def spliced(name: str, before: str, after: str) -> str | None:
    """The text to test with; None where the file is not of two halves."""
    if name.endswith("package.json"):
        return _package(before, after)
    if name.endswith("Cargo.toml"):
        return _cargo(before, after)
    if name.endswith(".rs"):
        return _rust(before, after)
    return None


def _package(before: str, after: str) -> str:
    try:
        old, new = json.loads(before), json.loads(after)
    except ValueError:
        return before
    if not isinstance(old, dict) or not isinstance(new, dict):
        return before
    steering = ("scripts", *JSON_SECTIONS)
    kept = {key: value for key, value in new.items() if key not in steering}
    return json.dumps(kept | {key: old[key] for key in steering if key in old}, indent=2) + "\n"


def _cargo(before: str, after: str) -> str:
    kept = [text for name, text in _sections(before) if not PRODUCT_SECTIONS.fullmatch(name)]
    needed = [text for name, text in _sections(after) if PRODUCT_SECTIONS.fullmatch(name)]
    return "\n".join(text.rstrip("\n") + "\n" for text in (*kept, *needed) if text.strip())


def _sections(text: str) -> list[tuple[str, str]]:
    heads = list(SECTION.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    first = heads[0].start() if heads else len(text)
    found = [(head["name"], text[head.start() : end]) for head, end in zip(heads, ends, strict=True)]
    return [("", text[:first]), *found]


def inline_tests(text: str) -> str:
    """The tests of a Rust file without its product; all of it where they are not set apart."""
    return "\n\n".join(text[start:end] for start, end in _test_modules(text)) or text


def _rust(before: str, after: str) -> str | None:
    """The new code with the old test modules: what the file tested at the start, it tests again."""
    old = [before[start:end] for start, end in _test_modules(before)]
    if not old:
        return None
    rest = after
    for start, end in reversed(_test_modules(after)):
        rest = rest[:start] + rest[end:]
    return rest.rstrip("\n") + "\n\n" + "\n\n".join(old) + "\n"


def _test_modules(text: str) -> list[tuple[int, int]]:
    quiet = RUST_QUIET.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)
    places: list[tuple[int, int]] = []
    for found in INLINE_TESTS.finditer(quiet):
        if places and found.start() < places[-1][1]:
            continue
        end = found.end() if found["open"] == ";" else _closing(quiet, found.start("open"))
        places.append((found.start(), end))
    return places


def _closing(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return at + 1
    return len(text)
