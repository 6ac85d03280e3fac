"""Ctrl-C, SIGTERM and a closed terminal end a run alike: by KeyboardInterrupt, at a moment that can bear it."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Self

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """While open, each of these signals raises KeyboardInterrupt; `arrived` tells whether one came."""

    def __init__(self) -> None:
        self.arrived = False
        self._holding = False
        self._before: dict[signal.Signals, signal._HANDLER] = {}

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._interrupt) for number in ENDING}
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """An interrupt waits until the end of the block: a package interrupted while it is imported stays broken."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self.arrived:
            raise KeyboardInterrupt

    def _interrupt(self, _: int, __: FrameType | None) -> None:
        self.arrived = True
        if not self._holding:
            raise KeyboardInterrupt
