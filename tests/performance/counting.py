"""Counts what a piece of work does: calls, processes, requests. Unlike seconds they are the same on every machine."""

from __future__ import annotations

import gc
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

import httpx
import pytest

ROOT = Path(__file__).parents[2]
OWN = tuple(f"{ROOT / name}/" for name in ("buildloop", "tasks", "flows"))
# Calls of their own before Python 3.12, part of their function since.
INLINED = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})


def calls(work: Callable[[], object]) -> int:
    """Calls of Python and C functions that `work` makes in this thread."""
    counted = 0

    def see(frame: FrameType, event: str, _: object) -> None:
        nonlocal counted
        if event == "c_call" or (event == "call" and frame.f_code.co_name not in INLINED):
            counted += 1

    with _profiled(see):
        work()
    return counted


@dataclass
class Tally:
    """What each iteration of a run did. It begins where the agent's turn does; 0 is what comes before the first."""

    own_calls: Counter[int] = field(default_factory=Counter)
    git: Counter[int] = field(default_factory=Counter)
    requests: Counter[int] = field(default_factory=Counter)
    iteration: int = 0

    def mean(self, counted: Counter[int], first: int, last: int) -> float:
        return sum(counted[number] for number in range(first, last + 1)) / (last - first + 1)


@contextmanager
def tallied(beginning: CodeType, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tally]:
    """Counts while the block runs; each call of the function with the code `beginning` begins an iteration."""
    tally = Tally()

    def see(frame: FrameType, event: str, _: object) -> None:
        if event != "call":
            return
        code = frame.f_code
        if code is beginning:
            tally.iteration += 1
        if code.co_filename.startswith(OWN) and code.co_name not in INLINED:
            tally.own_calls[tally.iteration] += 1

    _count_requests(tally, monkeypatch)
    _TALLIES.append(tally)
    try:
        with _profiled(see):
            yield tally
    finally:
        _TALLIES.remove(tally)


def _count_requests(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    """Below every client: what really goes to the server while the loop waits for it. Other threads look for
    cancellations, show artifacts and send logs by the clock: how often depends on the machine."""
    send, waiting = httpx.HTTPTransport.handle_request, threading.get_ident()

    def handle(self: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
        if threading.get_ident() == waiting:
            tally.requests[tally.iteration] += 1
        return send(self, request)

    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", handle)


_TALLIES: list[Tally] = []


def _note_process(event: str, arguments: tuple[object, ...]) -> None:
    if event == "subprocess.Popen" and _TALLIES:
        words = arguments[1]
        program = words[0] if isinstance(words, list | tuple) else str(words).split()[0]
        if Path(str(program)).name == "git":
            for tally in _TALLIES:
                tally.git[tally.iteration] += 1


# Cannot be taken away again, so there is one for all.
sys.addaudithook(_note_process)


@contextmanager
def _profiled(see: Callable[[FrameType, str, object], None]) -> Iterator[None]:
    """The collector would call finalizers at a moment of its own."""
    before, collecting = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(see)
    try:
        yield
    finally:
        sys.setprofile(before)
        if collecting:
            gc.enable()
