"""Waiting for a condition: polls until it holds, fails when it never does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import psutil

T = TypeVar("T")
DEADLINE = 180.0


def eventually(condition: Callable[[], T], seconds: float = DEADLINE) -> T:
    """The first truthy answer of `condition`; an AssertionError after `seconds` without one."""
    pause, end = threading.Event(), time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < end, "the condition never came true"
        pause.wait(0.02)
    return answer


def content(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def processes_with(word: str) -> list[int]:
    """Living processes that carry `word` in their command line or environment."""
    found = []
    for process in psutil.process_iter():
        try:
            words = [*process.cmdline(), *process.environ().values()]
            if process.status() != psutil.STATUS_ZOMBIE and any(word in each for each in words):
                found.append(process.pid)
        except (psutil.Error, OSError):
            continue
    return found
