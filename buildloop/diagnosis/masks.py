"""What changes from run to run although the failure is the same, as ordered data."""

from __future__ import annotations

import re
from collections.abc import Callable

from buildloop.diagnosis.known_packages import words
from buildloop.patterns import Regex
from buildloop.text import ESCAPES

Replacement = str | Callable[[re.Match[str]], str]
MAX_ROUNDS = 8
# Whatever differs from run to run holds a digit or is a path or an address, which may be all letters.
VOLATILE = Regex(r"[\d/\\@\x1b]")
Mask = tuple[Regex, Replacement]

# First components of absolute paths. Anything else that starts with a slash may be a route of the project.
FILE_ROOTS = words(
    "home Users root tmp var private opt usr build builds workspace workspaces mnt srv github __w data nix "
    "code "
    "repo repos work app apps Volumes media go runner project projects tmpfs etc lib run dev storage"
)
TEMPORARY = frozenset({"tmp", "temp", "Temp", "T", "TEMP", "TMP"})
# These names say nothing without their folder.
ANONYMOUS_FILES = frozenset({"index.js", "index.ts", "index.tsx", "mod.rs", "__init__.py"})
CHECKOUT_SUFFIX = Regex(r"[-_.](?:wt|worktree|checkout|clone|copy)[-_]?[0-9a-z]{0,12}$")
NUMBERED = Regex(r"[0-9A-Za-z]*\d[0-9A-Za-z]*")
MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
DURATION_UNITS = (
    "(?:nanoseconds?|microseconds?|milliseconds?|seconds?|secs?|minutes?|mins?|hours?|ns|[µu]s|ms|s|m|h)"
)


def _shorten_path(found: re.Match[str]) -> str:
    """Only the name of an absolute path is the project's; the folders above are where it was checked out."""
    parts = re.split(r"[/\\]", found.group("path"))
    if not found.group("drive") and parts[1] not in FILE_ROOTS:
        return found.group()
    name = CHECKOUT_SUFFIX.sub("", parts[-1])
    if not TEMPORARY.isdisjoint(parts[1:-1]):
        return "<tmp>:" + NUMBERED.sub("<id>", name)
    return f"<path>:{parts[-2]}:{name}" if name in ANONYMOUS_FILES else f"<path>:{name}"


def _mask(pattern: str, replacement: Replacement, flags: int = 0) -> Mask:
    return Regex(pattern, flags), replacement


UUID = _mask(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b", "<id>")
ADDRESS = _mask(r"\b0x[0-9a-fA-F]+\b", "<addr>")
HASH = _mask(r"\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,128}\b", "<id>")
# Order matters: the most specific goes first, because each mask eats digits that a later one would misread.
# No replacement is matched by a mask, so masking masked text changes nothing.
# No repetition is ambiguous: a line of a megabyte takes linear time.
MASKS: tuple[Mask, ...] = (
    # decoration of terminals and runners
    (ESCAPES, ""),
    _mask(r"\s+", " "),
    _mask(r"\[ ?\d{1,3}%\]", " "),
    _mask(r"\[gw\d+\]|\bgw\d+\b", " "),
    _mask(r"^ *(?:\d+\) )+", " "),
    _mask(r"^( *(?:not )?ok) \d+\b", r"\1"),
    _mask(r"^ *\d+/\d+ (Test) +#\d+\b", r"\1"),
    # identities
    UUID,
    ADDRESS,
    _mask(r"(?<=[\w$\])])@[0-9a-f]{5,16}\b", "@<addr>"),
    # dates and times
    _mask(
        r"\b\d{4}[-/]\d\d[-/]\d\d(?:[T _]\d\d[:_-]\d\d(?:[:_-]\d\d(?:[.,_]\d{1,9})?)?)?"
        r"(?:Z|[+-]\d\d:?\d\d)?(?!\w)",
        "<time>",
    ),
    _mask(
        rf"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? (?:\d\d? )?{MONTH}(?: \d\d?\b)?(?: \d{{4}}\b)?(?!\w)", "<time>"
    ),
    _mask(rf"\b\d\d?[ /-]{MONTH}[ /-]\d{{4}}\b|\b{MONTH} \d\d?,? \d{{4}}\b", "<time>"),
    _mask(r"\b(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?(?: ?[AP]M)?(?!\w)", "<time>"),
    _mask(r"(?<![\w.])1\d{9}(?:\d{3}){0,3}(?:\.\d+)?(?!\w)", "<time>"),
    _mask(r"\b\d\d:\d\d\.\d+\b", "<duration>"),
    # where it was checked out or written
    _mask(r"(?<= v)([\w.+-]+) \((?:/|[A-Za-z]:)[^()]+\)", r"\1"),
    _mask(r"(?:file://)?(?<![\w.>:/\\])(?P<drive>[A-Za-z]:)?(?P<path>(?:[/\\][\w.@+~-]+)+)", _shorten_path),
    _mask(r"file://(?P<drive>[A-Za-z]:)?(?P<path>(?:[/\\][\w.@+~-]+)+)", _shorten_path),
    _mask(r"\btmp(?=[a-z_]*\d)[a-z0-9_]{6,10}\b", "<tmp>"),
    # addresses and ports
    _mask(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b", "<host>"),
    _mask(r"\b(localhost|::1\]|::\]):\d{2,5}\b", r"\1:<port>"),
    _mask(r"(?<!\w)(:::?)\d{2,5}\b", r"\1<port>"),
    _mask(r"\b(ports?)([ =:]{1,2})\d{2,5}\b", r"\1\2<port>", re.I),
    # line numbers
    _mask(r"(\.[A-Za-z_]\w{0,9}|file|CMakeLists\.txt):\d+(?::\d+)?(?!\w)", r"\1:<line>"),
    _mask(r"(\.[A-Za-z]\w{0,9})(?:\(\d+(?:,\d+)?\)|:\[\d+,\d+\])", r"\1:<line>"),
    _mask(r"^( *)\d+:\d+(?= |$)", r"\1<line>"),
    _mask(r"\(\d+:\d+\)", "(<line>)"),
    _mask(r"^( *>? *)\d+ ?\|", r"\1<line> |"),
    _mask(r"^( *(?:\w{0,9}sh|make)(?:\[\d+\])?:) \d+:", r"\1 <line>:"),
    _mask(r"\b(lines?|columns?|col|char)([ :]{1,2})\d+(?:[-:,]\d+)*\b", r"\1\2<line>", re.I),
    _mask(r"\bmake\[\d+\]", "make"),
    # processes, workers, seeds, tries
    _mask(r"\b(pid|ppid|tid|process|thread|goroutine|worker)([ =:#]{1,3})\d+\b", r"\1\2<pid>", re.I),
    _mask(r"==\d+==", "==<pid>=="),
    _mask(r"(?<=') \(\d+\) (?=panicked|has overflowed)", " "),
    _mask(r"\b((?:Thread|Worker|worker|pool|[A-Za-z]*PoolWorker)-)\d+(?:-thread-\d+)?\b", r"\1<pid>"),
    _mask(r"\b(seed)([ =:]{1,3})\d+\b", r"\1\2<seed>", re.I),
    _mask(r"\b(retry|attempt|try)([ =:#]{1,2})\d+(?:(?: of |/)\d+)?\b", r"\1\2<try>", re.I),
    # durations
    _mask(
        r"\b(time|elapsed|duration|took)([ =:]{1,3})\d+(?:\.\d+)?(?:e[+-]?\d+)?\b", r"\1\2<duration>", re.I
    ),
    _mask(rf"(?<![\w.])\d+(?:\.\d+)? ?{DURATION_UNITS}\b", "<duration>"),
    # hashes and generated numbers, never the two sides of a comparison
    HASH,
    _mask(r"\b(?=[A-F]*\d)(?=\d*[A-F])[0-9A-F]{8,128}\b", "<id>"),
    _mask(r"(?<![=<>!.\w] )(?<![\w.=<>])\d{8,40}(?![\w.]| [=<>!])", "<id>"),
    _mask(r"\s+", " "),
)


def normalise(text: str) -> str:
    """One line of a log without what differs between two runs of the same failure.

    What one mask takes away may uncover what another looks for: they are laid on until nothing changes.
    """
    if not VOLATILE.search(text):
        return " ".join(text.split())
    for _ in range(MAX_ROUNDS):
        masked = _mask_once(text)
        if masked == text:
            break
        text = masked
    return text


def _mask_once(text: str) -> str:
    for pattern, replacement in MASKS:
        text = pattern.sub(replacement, text)
    return text.strip()
