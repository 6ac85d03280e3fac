"""Keeps a run's artifacts up to date from a thread of its own: no iteration waits for the Prefect API to take them.

They show the run as it was a moment ago. What is still to be shown when the run ends is shown then.
"""

from __future__ import annotations

import contextlib
import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

# Views grow with the run, so the pause does too: making them never takes more than one part in so many.
SHORTEST_PAUSE = 2.0
PARTS = 20

Show = Callable[[], None]


@dataclass
class _Desk:
    """What is to be shown next; whatever waited before it is out of date."""

    waiting: Show | None = None
    at_once: bool = False
    closed: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    def put(self, show: Show, *, at_once: bool = False) -> None:
        with self.changed:
            self.waiting, self.at_once = show, at_once
            self.changed.notify()

    def close(self, *, drop: bool) -> None:
        with self.changed:
            self.waiting, self.closed = None if drop else self.waiting, True
            self.changed.notify()

    def take(self, pause: float) -> Show | None:
        """The next thing to show, after the pause; None at the end."""
        with self.changed:
            self.changed.wait_for(lambda: self.closed or self.at_once, pause)
            self.changed.wait_for(lambda: self.closed or self.waiting is not None)
            show, self.waiting, self.at_once = self.waiting, None, False
            return show

    def work(self) -> None:
        pause = 0.0
        while (show := self.take(pause)) is not None:
            began = time.monotonic()
            show()
            pause = max(SHORTEST_PAUSE, (time.monotonic() - began) * PARTS)


_desks: dict[str, _Desk] = {}


@contextlib.contextmanager
def live_views(run_id: str) -> Iterator[None]:
    """Within, `show_soon` returns at once. At the end all is shown, but for an interrupt, which waits for nothing."""
    desk, seen, interrupted = _Desk(), contextvars.copy_context(), True
    thread = threading.Thread(target=lambda: seen.run(desk.work), name="live-views", daemon=True)
    _desks[run_id] = desk
    thread.start()
    try:
        yield
        interrupted = False
    except Exception:
        interrupted = False
        raise
    finally:
        del _desks[run_id]
        desk.close(drop=interrupted)
        if not interrupted:
            thread.join()


def show_soon(run_id: str, show: Show) -> None:
    """`show` must not raise. Where nobody keeps live views it is called here and now."""
    if desk := _desks.get(run_id):
        desk.put(show)
    else:
        show()


def show_now(run_id: str, show: Show) -> None:
    """The last word: nothing older is shown after it, and it is shown when this returns."""
    shown = threading.Event()

    def last() -> None:
        try:
            show()
        finally:
            shown.set()

    if desk := _desks.get(run_id):
        desk.put(last, at_once=True)
        shown.wait()
    else:
        show()
