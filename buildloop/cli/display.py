"""Shows a run while it runs: on a terminal one live line above the growing list of what is finished, else
plain lines.

Reads the run's event log, so it shows the same for a run in this process and for one elsewhere.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.spinner import Spinner
from rich.text import Text

from buildloop.cli.event_lines import doing, finished_line
from buildloop.events import read_event

POLL_SECONDS = 0.2

# What the live line keeps of the events it sees, if it is what it should be.
SHOWN: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("session", "iteration", "max", "tokens"), (int,)),
    **dict.fromkeys(("context_pct", "cost_usd"), (int, float)),
    "test_counts": (list,),
    "mode": (str,),
}


class Display:
    """Use as a context manager around the run."""

    def __init__(self, events: Path, console: Console, total_iterations: int) -> None:
        self._events, self._console = events, console
        self._offset = events.stat().st_size if events.exists() else 0
        self._line = LiveLine(total_iterations)
        self._stop = threading.Event()
        self._finished: list[str] = []
        self._spinner = Spinner("dots")
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._live = (
            Live(console=console, refresh_per_second=8, transient=True) if console.is_terminal else None
        )

    def __enter__(self) -> Display:
        if self._live:
            self._live.start()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if self._live:
            self._live.stop()
            for line in self._finished:
                self._console.print(line)

    def say(self, text: str) -> None:
        """What is going on while there are no events yet."""
        self._line.doing = text

    def announce(self, line: str) -> None:
        """A line for the list that comes from no event."""
        self._keep(line)

    def _follow(self) -> None:
        while not self._stop.is_set():
            self._take_new_events()
            if self._live:
                self._live.update(self._frame())
            self._stop.wait(POLL_SECONDS)
        self._take_new_events()

    def _frame(self) -> Group:
        """As much of the list as the screen has room for; the whole list stays when the run has ended."""
        room = max(1, self._console.height - 4)
        return Group(self._spinner_with(self._line.text()), *map(Text.from_markup, self._finished[-room:]))

    def _spinner_with(self, text: str) -> Spinner:
        self._spinner.update(text=text)
        return self._spinner

    def _keep(self, line: str) -> None:
        if self._live:
            self._finished.append(line)
        else:
            self._console.print(line)

    def _take_new_events(self) -> None:
        if not self._events.exists():
            return
        with self._events.open("rb") as stream:
            stream.seek(self._offset)
            for raw in stream:
                if not raw.endswith(b"\n"):
                    return
                self._offset += len(raw)
                event = read_event(raw)
                if event is None:
                    continue  # torn by a crash before this command; what follows it counts
                self._line.take(event)
                if line := finished_line(event):
                    self._keep(line)


class LiveLine:
    """Session, iteration, tests, mode, context, tokens, cost, elapsed: all that is known right now."""

    def __init__(self, total_iterations: int) -> None:
        self._started = time.monotonic()
        self._facts: dict[str, Any] = {"max": total_iterations, "iteration": 0, "session": 1}
        self.doing = "starting"

    def take(self, event: dict[str, Any]) -> None:
        self._facts |= {
            name: event[name] for name, kinds in SHOWN.items() if isinstance(event.get(name), kinds)
        }
        if event["type"] == "loop.iteration_complete" and (event.get("test_passed") or not event.get("mode")):
            self._facts["mode"] = None
        self.doing = doing(event) or self.doing

    def text(self) -> str:
        facts, elapsed = self._facts, int(time.monotonic() - self._started)
        parts = [f"session {facts['session']}", f"iteration {facts['iteration']}/{facts['max']}"]
        counts = facts.get("test_counts") or []
        if len(counts) == 2:
            parts.append(f"tests {counts[0]}/{counts[1]}")
        if mode := facts.get("mode"):
            parts.append(str(mode))
        if "context_pct" in facts:
            parts.append(f"context {facts['context_pct']} %")
        if tokens := facts.get("tokens"):
            parts.append(f"{tokens:,} tokens")
        if (cost := facts.get("cost_usd")) is not None:
            parts.append(f"${cost:.2f}")
        parts.append(f"{elapsed // 60}:{elapsed % 60:02d}")
        return escape(f"{self.doing} · " + " · ".join(parts)).encode("utf-8", "replace").decode()
