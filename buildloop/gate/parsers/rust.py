"""rustc, cargo and clippy: `error[E0382]: …` with its arrow, and what cargo says when it cannot build."""

from __future__ import annotations

import re
from collections.abc import Iterator

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.report import Lines, Rank, Sighting, ToolReport, unique
from buildloop.patterns import Regex

ERROR = Regex(r"\s*error(?:\[(?P<type>E\d{4})\])?: (?P<message>.+)$")
ARROW = Regex(r"\s*-->\s(?P<file>[^:]+):(?P<line>\d+):\d+")
CAUSE = Regex(r"(?:Caused by:|  +\S)")
CASCADE = Regex(
    r"(?:could not compile|aborting due to|test failed, to rerun|\d+ targets? failed|build failed"
    r"|process didn't exit successfully"
    r"|Recipe `|test run failed|doctest failed)"
)
NOTE = Regex(r"\s+= (?:note|help): (?P<text>.*)|\s+\S.*error: .*|(?:help|note): ")
LINKER = Regex(r".*(?:unable to find library|cannot find -l|undefined (?:reference|symbol)|ld: .*not found)")
SPURIOUS = Regex(r"warning: spurious network error")
# Cargo aligns its verbs to the right.
CARGO_VERB = Regex(
    r" {3,}(?:Compiling|Updating|Checking|Downloading|Downloaded|Finished|Running|Blocking|Locking|Adding) "
)
CARGO_SAID = Regex(
    r"error: (?:cannot update the lock file|the lock file|no matching package|failed to (?:select a version"
    r"|get `"
    r"|load |parse manifest|download|resolve|run custom build)|package `|could not find `Cargo\.toml`"
    r"|no such command"
    r"|rustc .* is not supported|toolchain |the package `|no bin target|failed to run `rustc`|checksum for `)"
)
MAX_BLOCK = 60


def parse(lines: Lines) -> ToolReport:
    return ToolReport(tuple(_errors(lines)))


def _errors(lines: Lines) -> Iterator[Sighting]:
    for index, line in enumerate(lines):
        error = ERROR.match(line) if "error" in line[:40] else None
        if not error:
            continue
        end = _block_end(lines, index)
        block = lines[index:end]
        frames = [Frame(m["file"], int(m["line"][:9])) for text in block if (m := ARROW.match(text))]
        cascade = CASCADE.match(error["message"]) is not None
        if not (error["type"] or frames or cascade or _is_cargo(lines, index, block)):
            continue
        yield Sighting(
            _finding(lines, index, error, block, frames), index, end, Rank.CASCADE if cascade else Rank.CAUSE
        )


def _block_end(lines: Lines, start: int) -> int:
    """A diagnostic ends at a blank line; cargo's chain of causes goes on after one."""
    end = start + 1
    while end < min(len(lines), start + MAX_BLOCK):
        follows = lines[end + 1] if end + 1 < len(lines) else ""
        if not lines[end].strip() and not follows.startswith(("Caused by:", "  ")):
            break
        if ERROR.match(lines[end]) and not lines[end].startswith("  "):
            break
        end += 1
    return end


def _is_cargo(lines: Lines, index: int, block: Lines) -> bool:
    """A bare `error: …` is cargo's when cargo was just talking, or when it goes on in cargo's manner."""
    before = lines[max(0, index - 15) : index]
    spoken = any(CARGO_VERB.match(text) for text in before)
    return (
        spoken
        or CARGO_SAID.match(lines[index]) is not None
        or any(text.startswith("Caused by:") or LINKER.match(text) for text in block)
    )


def _finding(lines: Lines, index: int, error: re.Match[str], block: Lines, frames: list[Frame]) -> Finding:
    frame = innermost(frames)
    arrow = next((text for text in block if frame and f"{frame.file}:{frame.line}:" in text), "")
    linker = [
        text
        for text in block
        if LINKER.match(text) and not text.lstrip().startswith(('= note:  "', '= note: "'))
    ]
    causes = [
        text
        for i, text in enumerate(block)
        if i and (block[i - 1].startswith("Caused by:") or NOTE.match(text))
    ]
    spurious = [text for text in lines[max(0, index - 6) : index] if SPURIOUS.match(text)]
    labels = [text for text in block[1:12] if "^" in text and text.strip(" |^-")]
    message = linker[0].strip() if linker else error["message"]
    short = [text for text in causes if len(text) < 400]
    if not frames and not error["type"]:
        spoken = next((i for i, text in enumerate(block) if text.strip() == "--- stderr"), 0)
        short += [text for text in block[spoken + 1 : spoken + 10] if text.strip() and len(text) < 400]
    return Finding(
        message=message,
        tool="rustc" if error["type"] or frames else "cargo",
        file=frame.file if frame else None,
        line=frame.line if frame else None,
        type=error["type"] or ("linker" if linker else None),
        lines=unique([*linker[:1], lines[index], arrow, *spurious[-1:], *labels[:2], *short[:6]]),
    )
