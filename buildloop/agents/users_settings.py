"""Settings files of the user's: JSON the way people write it, with comments and commas at the end."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from buildloop.errors import InputError
from buildloop.patterns import Regex

# Strings come first: what looks like a comment or a last comma inside of one is neither.
COMMENT = Regex(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.S)
LAST_COMMA = Regex(r'"(?:[^"\\]|\\.)*"|,(?=\s*[}\]])', re.S)


def read_settings(path: Path, remedy: str) -> dict[str, Any]:
    """The object in the file, {} where there is none. `remedy` says what else the user can do about a broken one."""
    if not path.is_file():
        return {}
    try:
        known = json.loads(plain_json(path.read_text(encoding="utf-8-sig")) or "{}")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}; mend it, or {remedy}") from None
    if not isinstance(known, dict):
        raise InputError(f"{path} cannot be read: it is not a JSON object; mend it, or {remedy}")
    return known


def plain_json(text: str) -> str:
    without = _kept_strings(COMMENT, text, " ")
    return _kept_strings(LAST_COMMA, without, "").strip()


def merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """`second` over `first`, table by table."""
    both = dict(first)
    for name, value in second.items():
        before = both.get(name)
        nested = isinstance(before, dict) and isinstance(value, dict)
        both[name] = merged(before, value) if nested else value  # type: ignore[arg-type]
    return both


def _kept_strings(pattern: Regex, text: str, instead: str) -> str:
    return pattern.compiled.sub(lambda found: found[0] if found[0].startswith('"') else instead, text)
