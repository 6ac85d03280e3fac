"""Files that steer a test runner, as settings: `section.key` and its value."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from buildloop.workspace.integrity.readers.tokens import Token, closing, tokenize
from buildloop.workspace.integrity.setting_words import EXCLUDES, FIXED, INCLUDES, JUDGES, THRESHOLDS

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


def settings_in(name: str, text: str) -> dict[str, Any]:  # noqa: PLR0911
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
        name = bare_name(token.text)
        if tokens[index + 1].text != ":" or name not in INCLUDES | EXCLUDES | THRESHOLDS | FIXED | JUDGES:
            continue
        start = index + 2
        if tokens[start].text == "{":
            continue
        end = closing(tokens, start) if tokens[start].text in "([" else start
        values = [t.text.strip("'\"`") for t in tokens[start : end + 1] if t.kind != "other"]
        found[token.text.strip("'\"")] = values if tokens[start].text == "[" else " ".join(values)
    return found


def bare_name(key: str) -> str:
    return re.sub(r"[-_'\"\s]", "", key.rpartition(".")[2]).lower()
