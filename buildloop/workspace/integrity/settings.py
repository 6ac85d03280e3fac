"""Configuration of test runners, compared by what it does: does it still run everything it ran, as strictly?"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Any

from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.option_lines import HARMLESS_OPTIONS, judged_line
from buildloop.workspace.integrity.setting_files import bare_name, is_config, settings_in
from buildloop.workspace.integrity.setting_words import (
    EXCLUDES,
    FIXED,
    INCLUDES,
    JUDGES,
    MAPPINGS,
    THRESHOLDS,
)


def narrowed_settings(changes: Sequence[Change]) -> list[Objection]:
    """What makes a runner run less, or judge less strictly, than at the start. A setting may move to another file."""
    sides = {
        change: (
            settings_in(change.old_name, change.before or ""),
            settings_in(change.name, change.after or "") if change.status != "D" else {},
        )
        for change in changes
        if is_config(change.name) or is_config(change.old_name)
    }
    left = {bare_name(k): v for before, after in sides.values() for k, v in before.items() if k not in after}
    came = {bare_name(k): v for before, after in sides.values() for k, v in after.items() if k not in before}
    found = []
    for change, (before, after) in sides.items():
        if change.status == "D" and any(bare_name(key) not in came for key in before):
            found.append(
                Objection("config", change.old_name, f"the test configuration {change.old_name} was deleted")
            )
            continue
        for key in sorted({*before, *after}):
            old, new = before.get(key, left.get(bare_name(key))), after.get(key, came.get(bare_name(key)))
            if problem := _judged(key, old, new):
                chosen = bare_name(key) in INCLUDES | EXCLUDES
                found.append(
                    Objection("selection" if chosen else "config", change.name, f"{change.name}: {problem}")
                )
    return found


def _judged(key: str, old: Any, new: Any) -> str | None:  # noqa: ANN401, PLR0911
    name = bare_name(key)
    if old == new:
        return None
    if any(part in JUDGES for part in map(bare_name, key.split("."))) and _is_own_file(str(new)):
        return f"{key} now names code of the repository that judges or rewrites the tests: {new}"
    if MAPPINGS & {bare_name(part) for part in key.split(".")} and _maps_product(key, str(new)):
        return f"{key} now puts {new} in the place of the code under test"
    if key.startswith("line "):
        return judged_line(key.removeprefix("line "), added=new is not None)
    if name in ("addopts", "opts", "addoptions", "commands", "command"):
        return _judged_options(key, _words(old), _words(new))
    if name in INCLUDES and old is not None:
        gone = set(_globs(old)) - set(_globs(new))
        return f"{key} no longer names {', '.join(sorted(gone))}" if gone and new is not None else None
    if name in INCLUDES and name != "members":
        return f"{key} was set, so that only {', '.join(_words(new))} is looked at"
    if name in EXCLUDES:
        more = set(_words(new)) - set(_words(old))
        return f"{key} now leaves out {', '.join(sorted(more))}" if more else None
    if name in THRESHOLDS:
        return f"{key} was lowered from {old} to {new}" if _number(new) < _number(old) else None
    if name == "filterwarnings":
        return (
            f"{key} no longer turns warnings into errors"
            if "error" in _words(old) and "error" not in _words(new)
            else None
        )
    if name in FIXED or ".patch." in f".{key}." or key.startswith(("alias.", "target.")):
        return (
            None if _strict(name, new) else f"{key} was {'set to' if old is None else 'changed to'} {new!r}"
        )
    return None


def _is_own_file(value: str) -> bool:
    return bool(re.search(r"(?:^|[\s\[\"'])(?:\./|<rootDir>|\.\./)", value))


def _maps_product(key: str, value: str) -> bool:
    """An alias for a folder is fine; one for a file that is imported by its place, or to a fake, is not."""
    return bool(re.search(r"\.{1,2}\\*/", key) or re.search(r"(?i)mock|fake|stub|dummy", value))


def _strict(name: str, value: Any) -> bool:  # noqa: ANN401
    """Values that only make the runner stricter."""
    told = str(value).lower()
    if name in (
        "xfailstrict",
        "forbidonly",
        "forbidpending",
        "strict",
        "test",
        "autotests",
        "harness",
        "doctest",
        "errorondeprecated",
    ):
        return told in ("true", "1", "yes", "none") and name != "harness"
    return name in (
        "bail",
        "retries",
        "stoponfailure",
        "passwithnotests",
        "allowonly",
        "updatesnapshot",
    ) and told in ("false", "0", "none", "never", "1")


def _judged_options(key: str, old: list[str], new: list[str]) -> str | None:
    added = [word for word in new if word not in old]
    removed = [word for word in old if word not in new]
    doubtful = [word for word in added if not HARMLESS_OPTIONS.match(word)]
    strict = [
        word for word in removed if re.match(r"--(?:strict|cov-fail-under|doctest|fail|error|check)|-W", word)
    ]
    if doubtful:
        return f"{key} now has {' '.join(doubtful)}"
    if strict:
        return f"{key} no longer has {' '.join(strict)}"
    paths = [word for word in removed if not word.startswith("-")]
    return f"{key} no longer has {' '.join(paths)}" if paths else None


def _globs(value: Any) -> list[str]:  # noqa: ANN401
    """`a.{js,ts}` as the two names it stands for."""
    found = []
    for word in _words(value):
        head, brace, tail = word.partition("{")
        inner, closed, rest = tail.partition("}")
        found += [f"{head}{one}{rest}" for one in inner.split(",")] if brace and closed else [word]
    return found


def _words(value: Any) -> list[str]:  # noqa: ANN401
    if value is None:
        return []
    if isinstance(value, list):
        return [word for one in value for word in _words(one)]
    try:
        return shlex.split(str(value))
    except ValueError:
        return str(value).split()


def _number(value: Any) -> float:  # noqa: ANN401
    try:
        return float(str(value).rstrip("%"))
    except ValueError:
        return 0.0
