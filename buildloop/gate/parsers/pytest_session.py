"""pytest outside of any test: a conftest that does not load, wrong arguments, a crash, a hang."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from buildloop.diagnosis.model import Finding
from buildloop.gate.parsers.frames import Frame, innermost
from buildloop.gate.parsers.pytest_block import NATIVE_FRAME, read_block
from buildloop.gate.parsers.report import Lines, Rank, Sighting, unique
from buildloop.patterns import Regex

LOOSE = Regex(
    r"(?:ERROR: (?:file or directory not found|not found|Unknown|unknown|could not"
    r"|.*unrecognized arguments)"
    r"|(?:__main__\.py|pytest|py\.test): error: "
    r"|ImportError while loading conftest "
    r"|INTERNALERROR> +(?:[a-z_]\w*\.)*[A-Z]\w+(?:Error|Exception)\b"
    r"|worker 'gw\d+' crashed while running"
    r"|Fatal Python error: "
    r"|\++ Timeout \++)"
)


def session_trouble(lines: Lines, claimed: set[int]) -> Iterator[Sighting]:
    """Trouble outside of any test: a conftest that fails to load, wrong arguments, a crash of the runner."""
    for index, line in enumerate(lines):
        if index in claimed or not LOOSE.match(line):
            continue
        end = index + 1
        blank = end + 1 if line.startswith("Fatal") else end  # a dump begins after a blank line
        while end < min(len(lines), index + 200) and not lines[end].startswith("="):
            if not lines[end].strip() and end >= blank:
                break
            end += 1
        block = read_block(lines[index + 1 : end], "")
        crash = line.startswith(("Fatal", "worker", "+"))
        if block and any(e.startswith("E ") for e in lines[index + 1 : end]):
            finding = replace(block, test=None, lines=unique([block.lines[0], line, *block.lines[1:]]))
        else:
            own = (line, *(follow for follow in lines[index + 1 : end] if crash))[:5]
            frames = [
                Frame(m["file"], int(m["line"][:9])) for f in lines[index:end] if (m := NATIVE_FRAME.match(f))
            ]
            frame = innermost(frames)
            finding = Finding(
                message=line.strip(),
                tool="pytest",
                file=frame.file if frame else None,
                line=frame.line if frame else None,
                type=_loose_type(line),
                lines=own,
            )
        # A dump of threads is worth less than the failure that it belongs to.
        yield Sighting(finding, index, end, Rank.HINT if claimed and line.startswith("+") else Rank.CAUSE)


def _loose_type(line: str) -> str | None:
    """An option that pytest does not know belongs to a plugin that is not there."""
    if "unrecognized arguments: -" in line:
        return "MissingPlugin"
    if line.startswith(("Fatal", "worker")):
        return None
    return "Timeout" if line.startswith("+") else "NoTests"
