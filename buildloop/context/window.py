"""How full the agent's context is, and whether it is time for a new session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from buildloop.models import Usage

DEFAULT_WINDOW = 200_000
DEFAULT_THRESHOLD = 70


def get_context_usage_pct(input_tokens: int, output_tokens: int, window: int = DEFAULT_WINDOW) -> int:
    """Whole percent of the window in use; may exceed 100; 0 for a window that is not known."""
    return (input_tokens + output_tokens) * 100 // window if window > 0 else 0


def check_context_exhaustion(
    input_tokens: int, output_tokens: int, window: int = DEFAULT_WINDOW, threshold: int = DEFAULT_THRESHOLD
) -> bool:
    """True when a new session is due. No tokens or no window: never."""
    if window <= 0 or input_tokens + output_tokens <= 0:
        return False
    return get_context_usage_pct(input_tokens, output_tokens, window) >= threshold


@dataclass(frozen=True, slots=True)
class Fill:
    """What the calls of a session have put into its context; `reported` is the last call's own figure."""

    fresh: int = 0
    output: int = 0
    reported: int | None = None

    def with_call(self, usage: Usage) -> Fill:
        return Fill(
            self.fresh + usage.fresh_tokens, self.output + (usage.output_tokens or 0), usage.context_tokens
        )

    @property
    def tokens(self) -> tuple[int, int]:
        """(input, output) tokens that stand for the fill: the last call's own figure when the agent reports one, else
        the sum of what was new in each call: a proxy that grows with the work done, which is all that is left."""
        return (self.reported, 0) if self.reported is not None else (self.fresh - self.output, self.output)


def session_fill(usages: Sequence[Usage]) -> tuple[int, int]:
    """(input, output) tokens that stand for the fill of the session with these calls."""
    return reduce(Fill.with_call, usages, Fill()).tokens
