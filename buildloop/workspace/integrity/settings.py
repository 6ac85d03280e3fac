"""Configuration of test runners, compared by what it does: does it still run everything it ran, as strictly?"""

from __future__ import annotations

import configparser
import json
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from buildloop.workspace.integrity.model import Change, Objection
from buildloop.workspace.integrity.option_lines import HARMLESS_OPTIONS, judged_line
from buildloop.workspace.integrity.readers.tokens import Token, closing, tokenize
from buildloop.workspace.integrity.setting_words import (
    EXCLUDES,
    FIXED,
    INCLUDES,
    JUDGES,
    MAPPINGS,
    THRESHOLDS,
)

JS_CONFIG = re.compile(
    r"(?:^|/)(?:jest|vitest|vite|playwright|cypress|karma|ava|wdio|rollup\.test)\.(?:config|conf|workspace|setup)?\.?[cm]?[jt]s$|(?:^|/)\.mocharc\.[cm]?js$"
)
INI_CONFIG = re.compile(
    r"(?:^|/)(?:pytest\.ini|\.pytest\.ini|tox\.ini|setup\.cfg|\.coveragerc|nose\.cfg|\.noserc)$"
)
JSON_CONFIG = re.compile(
    r"(?:^|/)(?:jest\.config\.json|\.mocharc\.jsonc?|\.nycrc(?:\.json)?|\.c8rc(?:\.json)?|vitest\.workspace\.json|karma\.conf\.json|deno\.jsonc?)$"
)
TOML_CONFIG = re.compile(
    r"(?:^|/)(?:pyproject\.toml|pytest\.toml|Cargo\.toml|\.cargo/config(?:\.toml)?|bunfig\.toml|\.?nextest\.toml)$"
)
YAML_CONFIG = re.compile(r"(?:^|/)(?:\.mocharc\.ya?ml|\.taprc|\.nycrc\.ya?ml|\.nycrc\.yml)$")
OPTION_FILES = re.compile(
    r"(?:^|/)(?:\.rspec(?:-local)?|\.npmrc|\.yarnrc(?:\.yml)?|\.bazelrc|\.perltidyrc|\.proverc|phpunit\.xml(?:\.dist)?|\.simplecov|go\.env|\.env(?:\.test)?|\.envrc)$"
)
TOML_SECTIONS = (
    "tool.pytest",
    "pytest",
    "tool.coverage",
    "lib",
    "test",
    "bin",
    "example",
    "package.autotests",
    "build",
    "target",
    "alias",
    "env",
    "patch",
    "tool.tox",
    "tool.nox",
    "profile",
    "workspace",
)
INI_SECTIONS = ("pytest", "tool:pytest", "coverage", "testenv", "report", "run", "nosetests", "unittest")
JSON_SECTIONS = ("jest", "mocha", "ava", "nyc", "c8", "vitest", "tap")


def is_config(name: str) -> bool:
    return any(
        p.search(name) for p in (JS_CONFIG, INI_CONFIG, JSON_CONFIG, TOML_CONFIG, YAML_CONFIG, OPTION_FILES)
    ) or name.endswith("package.json")


def narrowed_settings(changes: Sequence[Change]) -> list[Objection]:
    """What makes a runner run less, or judge less strictly, than at the start. A setting may move to another file."""
    sides = {
        change: (
            _settings(change.old_name, change.before or ""),
            _settings(change.name, change.after or "") if change.status != "D" else {},
        )
        for change in changes
        if is_config(change.name) or is_config(change.old_name)
    }
    left = {_bare(k): v for before, after in sides.values() for k, v in before.items() if k not in after}
    came = {_bare(k): v for before, after in sides.values() for k, v in after.items() if k not in before}
    found = []
    for change, (before, after) in sides.items():
        if change.status == "D" and any(_bare(key) not in came for key in before):
            found.append(
                Objection("config", change.old_name, f"the test configuration {change.old_name} was deleted")
            )
            continue
        for key in sorted({*before, *after}):
            old, new = before.get(key, left.get(_bare(key))), after.get(key, came.get(_bare(key)))
            if problem := _judged(key, old, new):
                found.append(Objection("config", change.name, f"{change.name}: {problem}"))
    return found


def _settings(name: str, text: str) -> dict[str, Any]:  # noqa: PLR0911
    """`section.key` to value, for the sections that steer tests."""
    try:
        if TOML_CONFIG.search(name):
            return _chosen(dict(_flat(tomllib.loads(text))), TOML_SECTIONS)
        if INI_CONFIG.search(name):
            parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
            parser.read_string(text)
            flat = {
                f"{s}.{k}": (v or "").split("\n") if "\n" in (v or "") else v or ""
                for s in parser.sections()
                for k, v in parser[s].items()
            }
            return _chosen(flat, INI_SECTIONS) if not name.endswith(("pytest.ini", ".coveragerc")) else flat
        if name.endswith("package.json"):
            return _chosen(dict(_flat(json.loads(text))), JSON_SECTIONS)
        if JSON_CONFIG.search(name):
            return dict(_flat(json.loads(text)))
        if YAML_CONFIG.search(name):
            return dict(_flat(yaml.safe_load(text) or {}))
    except (yaml.YAMLError, ValueError, AttributeError, configparser.Error, RecursionError):
        return {"unreadable": text}
    if JS_CONFIG.search(name):
        return _js_settings(tokenize(text, name))
    return {
        f"line {line.strip()}": True
        for line in text.splitlines()
        if line.strip() and not line.strip().startswith(("#", "//", ";"))
    }


def _flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(inner, f"{prefix}{key}.")
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for number, inner in enumerate(value):
            label = inner.get("name", number) if isinstance(inner, Mapping) else number
            yield from _flat(inner, f"{prefix}{label}.")
    else:
        yield prefix.rstrip("."), value


def _chosen(flat: Mapping[str, Any], sections: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in flat.items() if key.startswith(sections)}


def _js_settings(tokens: list[Token]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for index, token in enumerate(tokens[:-2]):
        name = _bare(token.text)
        if tokens[index + 1].text != ":" or name not in INCLUDES | EXCLUDES | THRESHOLDS | FIXED:
            continue
        start = index + 2
        if tokens[start].text == "{":
            continue
        end = closing(tokens, start) if tokens[start].text in "([" else start
        values = [t.text.strip("'\"`") for t in tokens[start : end + 1] if t.kind != "other"]
        found[token.text.strip("'\"")] = values if tokens[start].text == "[" else " ".join(values)
    return found


def _bare(key: str) -> str:
    return re.sub(r"[-_'\"\s]", "", key.rpartition(".")[2]).lower()


def _judged(key: str, old: Any, new: Any) -> str | None:  # noqa: ANN401, PLR0911
    name = _bare(key)
    if old == new:
        return None
    if any(part in JUDGES for part in map(_bare, key.split("."))) and _is_own_file(str(new)):
        return f"{key} now names code of the repository that judges or rewrites the tests: {new}"
    if MAPPINGS & {_bare(part) for part in key.split(".")} and _maps_product(key, str(new)):
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
