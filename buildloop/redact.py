"""Masks secrets: exact values of secret-looking environment variables in any common spelling, and the known shapes
of tokens."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import quote, quote_plus

from buildloop.patterns import Regex
from buildloop.secret_parts import (
    NOT_SECRET_NAME,
    SECRET_NAME,
    secrets_in_address,
    secrets_in_basic,
    secrets_in_json,
    secrets_in_urls,
)

MASK = "[masked]"
SHORTEST_SECRET = 8
SHORTEST_LINE = 24
# A value like this is a setting ("disabled"), and a word that files need to stay readable.
WORD = Regex(r"[a-z]{1,12}")

KEY_BEGIN, KEY_END = r"-----BEGIN [A-Z ]*PRIVATE KEY-----", r"-----END [A-Z ]*PRIVATE KEY-----"
LONGEST_KEY = 20_000
# Up to the next key at most: many beginnings without an end must not each be searched to the end of the text.
KEY_BODY = rf"(?:[^-]|-(?!----(?:BEGIN|END) )){{0,{LONGEST_KEY}}}+"
# A part of a JWT. Where one begins inside of other text only a usual length counts, for the same reason.
JWT_HEAD = r"(?:(?<![\w-])eyJ[A-Za-z0-9_-]{10,}+|eyJ[A-Za-z0-9_-]{10,1000}+)"

# Prefixes are what makes these safe to mask: none of them occurs in ordinary logs (but "task-…", "disk-…" do).
TOKEN_SHAPES = (
    r"(?<![aeiouAEIOU])sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{30,}",
    r"github_pat_[A-Za-z0-9_]{40,}",
    r"gl(?:pat|dt|rt|ptt|cbt)-[A-Za-z0-9_-]{20,}",
    r"xox[abeprs]-[A-Za-z0-9-]{10,}",
    r"discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]{20,}",
    r"hooks\.slack\.com/services/[A-Za-z0-9/_-]{20,}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}",
    r"AIza[0-9A-Za-z_-]{35}",
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"npm_[A-Za-z0-9]{36}",
    r"pypi-[A-Za-z0-9_-]{50,}",
    r"pnu_[A-Za-z0-9]{30,}",
    r"hf_[A-Za-z0-9]{30,}",
    r"dop_v1_[a-f0-9]{60,}",
    r"SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}",
    JWT_HEAD + r"\.eyJ[A-Za-z0-9_-]{10,}+\.[A-Za-z0-9_-]{10,}",
    KEY_BEGIN + "(?:" + KEY_BODY + KEY_END + r"|(?:(?:\s|\\[rn]){0,4}[A-Za-z0-9+/=]{16,})*)",
    r"(?<=://)[^\s/:@'\"]{0,100}:[^\s/@'\"]{3,200}(?=@[\w.-])",
    r"(?i:(?<=authorization: bearer )|(?<=authorization: basic )|(?<=x-api-key: ))[A-Za-z0-9._~+/=-]{12,}",
)

NOTHING = r"(?!)"
_KEY_BEGIN, _KEY_END = re.compile(KEY_BEGIN.encode()), re.compile(KEY_END.encode())

Redactor = Callable[[str], str]


def redactor(environment: Mapping[str, str], *, words: bool = True, shapes: bool = True) -> Redactor:
    """A function that masks every secret it can know of, the longest value first.

    Logs are masked as they come, so the lines of a longer value (a key file) count one by one too. Without `words`,
    values that are plain words stay: for files that have to be read again. Without `shapes`, only the values count.
    """
    if environment is os.environ:
        return _own_redactor(words=words, shapes=shapes)
    return _redactor(environment, words=words, shapes=shapes)


def _redactor(environment: Mapping[str, str], *, words: bool, shapes: bool) -> Redactor:
    values = {value for one in environment.items() for value in _values(*one)}
    values |= {line for value in values for line in value.splitlines() if len(line) >= SHORTEST_LINE}
    if not words:
        values = {value for value in values if not WORD.fullmatch(value)}
    spelled = {spelling for value in values for spelling in _spellings(value)}
    exact = [re.escape(value) for value in sorted(spelled, key=len, reverse=True)]
    pattern = Regex("|".join([*exact, *(TOKEN_SHAPES if shapes else ())]) or NOTHING)

    def mask(text: str) -> str:
        return pattern.sub(MASK, text)

    return mask


def unfinished_key(data: bytes) -> int:
    """Where a private key begins that does not end in here; the length when there is none. Its end must be awaited."""
    begins = data.rfind(b"-----BEGIN ")
    if begins < 0 or len(data) - begins > LONGEST_KEY or not _KEY_BEGIN.match(data, begins):
        return len(data)
    return len(data) if _KEY_END.search(data, begins) else begins


def mask_own(text: str) -> str:
    """For everything this process writes: its own environment's secrets, as they are now."""
    return redactor(os.environ, words=False)(text)


@dataclass(frozen=True, slots=True)
class _Own:
    """The redactors of this process's environment as it was when they were made."""

    variables: Mapping[bytes, bytes]
    made: dict[tuple[bool, bool], Redactor] = field(default_factory=dict)


_last: list[_Own] = []


def _own_redactor(*, words: bool, shapes: bool) -> Redactor:
    """Made anew only when the environment has changed; everything that is written asks for one."""
    now = getattr(os.environ, "_data", None)  # below the mapping: nothing has to be decoded to be compared
    if now is None:
        return _redactor(os.environ, words=words, shapes=shapes)
    if not _last or _last[0].variables != now:
        _last[:] = [_Own(dict(now))]
    own, kind = _last[0], (words, shapes)
    if kind not in own.made:
        own.made[kind] = _redactor(os.environ, words=words, shapes=shapes)
    return own.made[kind]


def secret_values(environment: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The variables that hold secrets and what is secret in them, for messages that name the variable instead."""
    found = {name: tuple(_values(name, value)) for name, value in environment.items()}
    return {name: values for name, values in found.items() if values}


def _values(name: str, value: str) -> Iterator[str]:
    if len(value) < SHORTEST_SECRET:
        return
    if not SECRET_NAME.search(name) or NOT_SECRET_NAME.search(name):
        # A setting like the address of a package index, whatever its name.
        yield from (one for one in secrets_in_urls(value) if not WORD.fullmatch(one))
        return
    if value.startswith(("/", "~/")) and Path(value).expanduser().exists():
        return
    if name.endswith("MEMORY_URL") and "://" not in value:
        return
    if value.lstrip().startswith("{"):
        yield from secrets_in_json(value)
    if "://" in value:
        inside = secrets_in_address(value)
        yield from (one for one in inside if len(one) >= SHORTEST_SECRET)
        if not inside:
            return
    yield from secrets_in_basic(value)
    yield value


def _spellings(value: str) -> Iterator[str]:
    """As it is, in a URL, in JSON, in XML, and in base64 wherever it stands in the encoded text."""
    yield value
    yield from {quote(value, safe=""), quote(value), quote_plus(value)} - {value}
    in_json = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    yield from (in_json | {one.replace("/", "\\/") for one in in_json}) - {value}
    in_xml = {escape(value), escape(value, quote=False)}
    in_xml |= {
        one.replace("&quot;", double).replace("&#x27;", single)
        for one in in_xml
        for double in ("&quot;", "&#34;")
        for single in ("'", "&apos;", "&#39;")
    }
    yield from in_xml - {value}
    raw = value.encode("utf-8", "surrogateescape")
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + raw).decode()
        # The characters at both ends also depend on what stands beside the value.
        start, rest = (0, 2, 3)[shift], (shift + len(raw)) % 3
        core = encoded[start : len(encoded) - ((0, 3, 2)[rest])]
        if len(core) >= SHORTEST_SECRET:
            yield core
            if core != (safe := core.replace("+", "-").replace("/", "_")):
                yield safe
