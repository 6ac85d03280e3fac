"""Recorded calls of the real CLIs, and what an independent reader made of them (`captures/TABLE.txt`)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from buildloop.agents.reading import Output, Reading
from buildloop.agents.registry import ADAPTERS

FOLDER = Path(__file__).with_name("captures")
CLIS = ("claude", "claude-2.1.197", "codex", "gemini", "opencode", "aider")
ROW = re.compile(
    r"(?P<cli>\S+)\s+(?P<case>\S+)\s+rc=(?P<rc>.+?)\s+[\d.]+s req=\d+\s+left=\d+ (?P<kind>\w+)\s+turns=(?P<turns>\w+)"
    r" ctx=(?P<fill>\w+)/(?P<window>\w+) use=(?P<fresh>\w+)/(?P<read>\w+)/(?P<written>\w+)/(?P<out>\w+)"
    r" cost=(?P<cost>\S+) "
)
KILLED = 137


@dataclass(frozen=True)
class Capture:
    cli: str
    case: str
    argv: tuple[str, ...]
    rc: int | str
    stdout: str
    stderr: str

    @property
    def exit_code(self) -> int:
        """As our own guard reports it: 128 + n for signal n; what had to be killed was killed."""
        if not isinstance(self.rc, int):
            return KILLED
        return self.rc if self.rc >= 0 else 128 - self.rc

    @property
    def resumed(self) -> str | None:
        flags = ("--resume", "--continue", "--session", "resume")
        return "a session" if any(flag in self.argv for flag in flags) else None


def load(cli: str) -> dict[str, Capture]:
    rows = [json.loads(line) for line in (FOLDER / f"{cli}.jsonl").read_text(encoding="utf-8").splitlines()]
    fields = ("case", "argv", "rc", "stdout", "stderr")
    found = [Capture(cli, *(row[name] for name in fields)) for row in rows]
    return {capture.case: capture for capture in found}


def table() -> dict[tuple[str, str], dict[str, Any]]:
    rows = [ROW.match(line) for line in (FOLDER / "TABLE.txt").read_text(encoding="utf-8").splitlines()]
    assert all(rows)
    return {
        (row["cli"], row["case"]): {k: _value(v) for k, v in row.groupdict().items()} for row in rows if row
    }


def replay(capture: Capture, folder: Path) -> Reading:
    (folder / "out").write_text(capture.stdout, encoding="utf-8")
    (folder / "err").write_text(capture.stderr, encoding="utf-8")
    adapter = ADAPTERS[capture.cli.split("-")[0]]()
    home = folder / "home"
    home.mkdir(exist_ok=True)
    return adapter.read(
        Output(folder / "out", folder / "err", capture.exit_code, home, folder, 0.0, capture.resumed)
    )


def _value(text: str) -> Any:
    if text == "None":
        return None
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text
