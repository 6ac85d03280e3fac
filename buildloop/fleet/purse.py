"""Money for several runs at once: what is promised to one cannot be spent by another."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

# Less than this buys no call worth making.
SMALLEST_USD = 0.01


@dataclass
class Purse:
    """A run takes a share before it starts and pays what it really cost when it ends. Safe for many threads."""

    total: float | None
    shares: int
    spent: float = 0.0
    _promised: float = 0.0
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, wanted: float | None) -> float | None:
        """The dollars this run may spend (None: no limit). 0 when nothing is left and nothing can come back."""
        if self.total is None:
            return wanted
        with self._changed:
            while True:
                free = self.total - self.spent - self._promised
                share = min(wanted or self.total / self.shares, free)
                if share >= SMALLEST_USD:
                    self._promised += share
                    return share
                if self._promised <= 0:
                    return 0.0
                self._changed.wait()

    def pay(self, share: float | None, cost: float | None) -> None:
        """What nobody reported is taken to have cost its whole share: a budget is a promise."""
        if self.total is None:
            self.spent += cost or 0.0
            return
        with self._changed:
            self._promised = max(0.0, self._promised - (share or 0.0))
            if self._promised < SMALLEST_USD:
                self._promised = 0.0
            self.spent += cost if cost is not None else (share or 0.0)
            self._changed.notify_all()
