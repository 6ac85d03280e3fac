"""What a call of Claude Code spent and how full its context is: its figures have traps, all of them measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from buildloop.agents.output import Event, at, count_at, dict_at, list_at, number_at, text_at
from buildloop.decode import from_json
from buildloop.files import write_json
from buildloop.models import Usage

TOTALS_FILE = "totals.json"
KINDS = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
MODEL_KINDS = ("inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens", "outputTokens")

Tokens = tuple[int, int, int, int]


@dataclass(slots=True)
class Calls:
    """The model calls of the main agent, in order. Events of one call come several times; the last is the fullest."""

    tokens: dict[str, Tokens] = field(default_factory=dict)
    model: str = ""
    text: str = ""
    compacted_to: int | None = None
    _streaming: str = ""

    def see(self, event: Event) -> None:
        if event.get("parent_tool_use_id"):
            return  # a sub-agent: not this context
        kind = event.get("type")
        if kind == "assistant" and text_at(event, "message", "model") != "<synthetic>":
            self._assistant(at(event, "message"))
        elif kind == "stream_event":
            self._streamed(at(event, "event"), text_at(event, "api_message_id"))
        elif event.get("subtype") == "compact_boundary":
            self.compacted_to = count_at(event, "compact_metadata", "post_tokens") or None

    def _assistant(self, message: object) -> None:
        self.model = text_at(message, "model") or self.model
        for block in list_at(message, "content"):
            self.text = text_at(block, "text") or self.text
        name = text_at(message, "id")
        if name and name not in self.tokens:
            self._count(name, at(message, "usage"))

    def _streamed(self, event: object, name: str) -> None:
        if text_at(event, "type") == "message_start":
            self._streaming = text_at(event, "message", "id")
        elif text_at(event, "type") == "message_delta":
            self._count(name or self._streaming, at(event, "usage"))

    def _count(self, name: str, usage: object) -> None:
        self.tokens[name] = _tokens(usage, KINDS)
        self.compacted_to = None

    @property
    def count(self) -> int | None:
        return len(self.tokens) or None

    @property
    def fill(self) -> int | None:
        """Prompt and answer of the last call; what a compaction left, if that came later; unknown before any."""
        if self.compacted_to is not None:
            return self.compacted_to
        last = next(reversed(self.tokens.values()), None)
        return sum(last) if last else None

    def usage(self) -> Usage:
        """For a call that was stopped: no figures of the program's own, only what each model call said."""
        if not self.tokens:
            return Usage()
        return _usage(_sum(list(self.tokens.values())), None).model_copy(update={"context_tokens": self.fill})


def spent(results: list[Event], home: Path, session: str | None, *, resumed: bool) -> Usage:
    """Tokens and dollars of this call, sub-agents included.

    `usage` is of this call, but without sub-agents, and 0 when a budget stopped it. `modelUsage` and the cost have
    everything, but in a resumed session newer versions add up over all its calls; older ones do not.
    """
    own = _sum([_tokens(at(result, "usage"), KINDS) for result in results])
    models = dict_at(results[-1], "modelUsage")
    total = _sum([_tokens(figures, MODEL_KINDS) for figures in models.values()])
    known = isinstance(at(results[-1], "total_cost_usd"), int | float)
    cost = number_at(results[-1], "total_cost_usd") if known else None
    before = _remembered(home, session) if resumed else ((0, 0, 0, 0), 0.0)
    if session:
        _remember(home, session, total, cost)
    if before is not None:
        since = _difference(total, before[0])
        if _covers(since, own):
            return _usage(since, None if cost is None else cost - before[1])
    if total == own or not resumed:
        return _usage(own, cost)
    return _usage(own, None)


def _usage(tokens: Tokens, cost: float | None) -> Usage:
    """A cost of 0 for tokens that were used is one the program did not know."""
    unknown = cost is None or (cost <= 0 and any(tokens))
    return Usage(
        input_tokens=tokens[0],
        cache_read_tokens=tokens[1],
        cache_write_tokens=tokens[2],
        output_tokens=tokens[3],
        cost_usd=None if unknown else round(cost or 0.0, 10),
    )


def _tokens(figures: object, kinds: tuple[str, ...]) -> Tokens:
    fresh, read, written, out = (count_at(figures, kind) for kind in kinds)
    return fresh, read, written, out


def _sum(parts: list[Tokens]) -> Tokens:
    fresh, read, written, out = (sum(part[i] for part in parts) for i in range(4))
    return fresh, read, written, out


def _difference(now: Tokens, before: Tokens) -> Tokens:
    fresh, read, written, out = (a - b for a, b in zip(now, before, strict=True))
    return fresh, read, written, out


def _covers(one: Tokens, other: Tokens) -> bool:
    return all(a >= b for a, b in zip(one, other, strict=True))


def _remembered(home: Path, session: str | None) -> tuple[Tokens, float] | None:
    known = _totals(home).get(session or "")
    if len(list_at(known, "tokens")) != len(KINDS):
        return None
    fresh, read, written, out = (count_at(known, "tokens", place) for place in range(len(KINDS)))
    return (fresh, read, written, out), number_at(known, "cost")


def _remember(home: Path, session: str, tokens: Tokens, cost: float | None) -> None:
    write_json(home / TOTALS_FILE, {**_totals(home), session: {"tokens": tokens, "cost": cost}})


def _totals(home: Path) -> Event:
    try:
        known = from_json((home / TOTALS_FILE).read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}
