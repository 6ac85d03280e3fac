"""Rule files for the scripted agent, written from Python values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

WRITE_FIX = {"write": "calc.py", "text": "def add(a, b):\n    return a + b\n"}


def write_script(path: Path, *rules: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"rule": list(rules)}), encoding="utf-8")
    return path


def wrong(number: int) -> dict[str, Any]:
    """A change that has no effect on the result, different every time."""
    return {"write": "calc.py", "text": f"def add(a, b):\n    return a - b  # try {number}\n"}
