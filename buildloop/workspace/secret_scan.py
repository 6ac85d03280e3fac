"""Secrets in what is about to be committed: known values of this environment, and tokens by their shape.

Tuned for few false alarms: no entropy guesses (hashes of lock files, ids), no keyword guesses (`password = "test"`),
no documented examples, and in tests only what cannot be a stand-in.
"""

from __future__ import annotations

import contextlib
import math
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

from buildloop.models import Secret
from buildloop.redact import TOKEN_SHAPES, redactor
from buildloop.workspace.git import begin_git
from buildloop.workspace.integrity.files import is_test, is_test_data
from buildloop.workspace.patch import AS_STORED, PLAIN, Added, patch_lines, readable, same_name

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
# Long lines are read in parts that overlap: some detectors take more than twice the time for twice the length.
PART, LONGEST_TOKEN = 5000, 500
KNOWN = "the value of a secret environment variable"
PATCHES = ("diff-index", "--cached", "-p", "--no-renames", *PLAIN)
LEAST_ENTROPY = 3.0


@contextlib.contextmanager
def patch_of_index(root: Path, parent: str, output: IO[bytes]) -> Iterator[None]:
    """While other work goes on, git writes into `output` what the index adds over `parent`; afterwards it is there."""
    with tempfile.TemporaryDirectory() as empty:
        # Where a file looks like its entry in the index, git reads the file instead; but the entry is committed.
        away = {"GIT_DIR": str(root / ".git"), "GIT_WORK_TREE": empty}
        wait = begin_git(output, Path(empty), *PATCHES, parent, env={**AS_STORED, **away})
        try:
            yield
        finally:
            wait()


def secrets_in(
    patch: Iterable[bytes], names: Sequence[str], environment: Mapping[str, str]
) -> list[tuple[str, Secret]]:
    """The files, and what the patch adds to them that nobody should commit; one entry a line. `names` are all files
    that it changes."""
    known, exact = redactor(environment), redactor(environment, shapes=False)
    found = [
        (name, Secret(file=known(name), line=0, kind="a secret in its name"))
        for name in names
        if known(name) != name
    ]
    for name, line in _added(patch):
        text = readable(line.content)
        if kind := KNOWN if exact(text) != text else _kind_of(name, text):
            found.append((name, Secret(file=known(name), line=line.number, kind=kind)))
    return found


def _added(patches: Iterable[bytes]) -> Iterator[tuple[str, Added]]:
    name = ""
    for line in patch_lines(patches):
        if isinstance(line, Added):
            yield name, line
        else:
            name = same_name(line) or name


def _kind_of(name: str, line: str) -> str | None:
    if LOCK_FILE.search(name):
        return None
    lenient = is_test(name) or is_test_data(name) or name.endswith((".md", ".rst"))
    for kind, value in _shaped(line):
        if not STAND_IN.search(value) and _entropy(value) >= LEAST_ENTROPY + (1.0 if lenient else 0.0):
            return kind
    private = "PRIVATE KEY-----" in line and "-----BEGIN" in line
    return "a private key" if private and not lenient and not STAND_IN.search(name) else None


def _shaped(line: str) -> Iterator[tuple[str, str]]:
    for start in range(0, max(1, len(line)), PART):
        part = line[start : start + PART + LONGEST_TOKEN]
        for detector in _detectors():
            for secret in detector.analyze_line(filename="x", line=part, line_number=1):
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


def _entropy(text: str) -> float:
    counts = Counter(text)
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts.values()) if text else 0.0
