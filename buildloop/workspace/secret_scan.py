"""Secrets in what is about to be committed: known values of this environment, and tokens by their shape.

Tuned for few false alarms: no entropy guesses (hashes of lock files, ids), no keyword guesses (`password = "test"`),
no documented examples, and in tests only what cannot be a stand-in.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from buildloop.models import Secret
from buildloop.redact import MASK, TOKEN_SHAPES, redactor
from buildloop.workspace.git import run_git
from buildloop.workspace.integrity.files import is_test, is_test_data

# detect-secrets' detectors that know a shape; those that guess by entropy or keyword are left out.
DETECTORS = (
    "ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "CloudantDetector", "DiscordBotTokenDetector",
    "GitHubTokenDetector", "GitLabTokenDetector", "IbmCosHmacDetector", "JwtTokenDetector", "MailchimpDetector",
    "NpmDetector", "OpenAIDetector", "PrivateKeyDetector", "PypiTokenDetector", "SendGridDetector", "SlackDetector",
    "SquareOAuthDetector", "StripeDetector", "TelegramBotTokenDetector", "TwilioKeyDetector",
)  # fmt: skip
STAND_IN = re.compile(
    r"example|sample|dummy|fake|placeholder|your[_-]|xxxx|changeme|redacted|masked|<[^>]+>|\.\.\.|\*\*\*|test|abcdef|012345|123456|aaaa|1111|0000",
    re.I,
)
LOCK_FILE = re.compile(r"(?:^|/)(?:[^/]*\.lock|[^/]*lock\.(?:json|ya?ml)|go\.sum|requirements[^/]*\.txt)$")
LONGEST_LINE = 5000
LEAST_ENTROPY = 3.0


def staged_secrets(
    root: Path, parent: str, names: Sequence[str], environment: Mapping[str, str]
) -> list[tuple[str, Secret]]:
    """The files, and what the index adds to them over `parent` that nobody should commit; one entry a line. `names` are
    all files that it changes, in git's order."""
    options = ("diff", "--cached", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv")
    if not names:
        return []
    patches = re.split(r"^diff --git ", run_git(root, *options, "-U0", parent), flags=re.M)[1:]
    known = redactor(environment)
    found: list[tuple[str, Secret]] = []
    for name, patch in zip(names, patches, strict=False):
        if known(name) != name:
            found.append((name, Secret(file=known(name), line=0, kind="a secret in its name")))
        for number, line in _added(patch):
            if kind := _kind_of(name, line, known(line) != line and _only_shapes(line) == line):
                found.append((name, Secret(file=known(name), line=number, kind=kind)))
    return found


def _added(patch: str) -> Iterator[tuple[int, str]]:
    number = 0
    for line in patch.split("\n"):
        if head := re.match(r"@@ -\S+ \+(\d+)", line):
            number = int(head[1]) - 1
        elif line.startswith("+") and number >= 0 and not line.startswith("+++ "):
            number += 1
            yield number, line[1 : LONGEST_LINE + 1]


def _kind_of(name: str, line: str, is_known: bool) -> str | None:
    if is_known:
        return "the value of a secret environment variable"
    if LOCK_FILE.search(name):
        return None
    lenient = is_test(name) or is_test_data(name) or name.endswith((".md", ".rst"))
    for kind, value in _shaped(line):
        if not STAND_IN.search(value) and _entropy(value) >= LEAST_ENTROPY + (1.0 if lenient else 0.0):
            return kind
    private = "PRIVATE KEY-----" in line and "-----BEGIN" in line
    return "a private key" if private and not lenient and not STAND_IN.search(name) else None


def _shaped(line: str) -> Iterator[tuple[str, str]]:
    for detector in _detectors():
        for secret in detector.analyze_line(filename="x", line=line, line_number=1):
            if secret.type != "Private Key":
                yield secret.type, secret.secret_value or ""
    for found in _shapes().finditer(line):
        if (
            "PRIVATE KEY" not in found.group()
            and "://" not in line[max(0, found.start() - 3) : found.start()]
        ):
            yield "a token", found.group()


@cache
def _detectors() -> Sequence[Any]:
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class  # noqa: PLC0415

    kinds: Iterable[Any] = get_mapping_from_secret_type_to_class().values()
    known = {kind.__name__: kind for kind in kinds}
    return [known[name]() for name in DETECTORS if name in known]


@cache
def _shapes() -> re.Pattern[str]:
    return re.compile("|".join(TOKEN_SHAPES))


def _only_shapes(line: str) -> str:
    return _shapes().sub(MASK, line)


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) if text else 0.0
