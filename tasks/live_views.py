"""Keeps the views of a run up to date from a thread of its own: no iteration waits until they are drawn and sent.

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
    """What is to be shown next, by name; what waited under the same name before is out of date."""

    waiting: dict[str, Show] = field(default_factory=dict)
    at_once: bool = False
    closed: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)
    error: Exception | None = None

    def put(self, name: str, show: Show, *, at_once: bool = False) -> None:
        self.complain()
        with self.changed:
            self.waiting = {
                **{other: kept for other, kept in self.waiting.items() if other != name},
                name: show,
            }
            self.at_once = self.at_once or at_once
            self.changed.notify()

    def close(self, *, drop: bool) -> None:
        with self.changed:
            self.waiting, self.closed = {} if drop else self.waiting, True
            self.changed.notify()

    def take(self, pause: float) -> list[Show]:
        """The next things to show, after the pause; none at the end."""
        with self.changed:
            self.changed.wait_for(lambda: self.closed or self.at_once, pause)
            self.changed.wait_for(lambda: self.closed or bool(self.waiting))
            shows, self.waiting, self.at_once = list(self.waiting.values()), {}, False
            return shows

    def complain(self) -> None:
        """What went wrong here goes wrong there: a full disk stops a run, whoever met it first."""
        error, self.error = self.error, None
        if error is not None:
            raise error

    def work(self) -> None:
        pause = 0.0
        while shows := self.take(pause):
            began = time.monotonic()
            for show in shows:
                try:
                    show()
                except Exception as error:  # the loop hears of it with the next thing it wants shown
                    self.error = error
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


def show_soon(run_id: str, name: str, show: Show) -> None:
    """Where nobody keeps live views it is called here and now. Raises what an earlier one has raised meanwhile."""
    if desk := _desks.get(run_id):
        desk.put(name, show)
    else:
        show()


def show_now(run_id: str, name: str, show: Show) -> None:
    """The last word: when this returns it is shown, and so is everything that waited before it."""
    shown = threading.Event()

    def last() -> None:
        try:
            show()
        finally:
            shown.set()

    if desk := _desks.get(run_id):
        desk.put(name, last, at_once=True)
        shown.wait()
        desk.complain()
    else:
        show()
