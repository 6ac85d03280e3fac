"""What a call of Gemini CLI used: totals of each model in its result, single model requests in its session file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from glob import escape
from typing import Any

from buildloop.agents.output import Event, at, count_at, json_lines, text_at
from buildloop.agents.prices import price_of
from buildloop.agents.reading import Output
from buildloop.models import Usage


@dataclass(frozen=True, slots=True)
class Spent:
    """`model` is the one that was spoken to last, else the busiest: a router may have asked others too."""

    usage: Usage
    model: str | None
    turns: int | None


def spent(stats: object, output: Output, session: str) -> Spent:
    """The result's totals; of a call that was stopped there are none, so its requests are added up."""
    requests = _requests(output, session)
    turns, fill = len(requests) or None, count_at(requests, -1, "tokens", "total") or None
    by_model: list[tuple[str, Usage]]
    if isinstance(stats, dict):
        models = at(stats, "models")
        by_model = [(name, _of_result(figures)) for name, figures in _table(models).items() if _used(figures)]
        usage = _of_result(stats)
    else:
        by_model = [(text_at(one, "model"), _of_request(one)) for one in requests]
        usage = _sum(one for _, one in by_model) if by_model else Usage()
    usage = usage.model_copy(update={"context_tokens": fill, "cost_usd": _cost_of_several(by_model)})
    return Spent(usage, text_at(requests, -1, "model") or _busiest(by_model), turns)


def document_usage(models: Iterable[Event]) -> Usage:
    """The figures of a plain JSON answer."""
    figures = list(models)

    def total(*kinds: str) -> int:
        return sum(count_at(one, "tokens", kind) for one in figures for kind in kinds)

    return Usage(
        input_tokens=total("input"),
        cache_read_tokens=total("cached"),
        cache_write_tokens=0,
        output_tokens=total("candidates", "thoughts"),
    )


def _of_result(stats: object) -> Usage:
    """`input_tokens` include the cached ones. What is in the total and in neither part are thoughts, paid as output."""
    sent, cached = count_at(stats, "input_tokens"), count_at(stats, "cached")
    out = max(count_at(stats, "output_tokens"), count_at(stats, "total_tokens") - sent)
    return Usage(
        input_tokens=sent - cached, cache_read_tokens=cached, cache_write_tokens=0, output_tokens=out
    )


def _of_request(request: Event) -> Usage:
    tokens = at(request, "tokens")
    cached = count_at(tokens, "cached")
    return Usage(
        input_tokens=count_at(tokens, "input") + count_at(tokens, "tool") - cached,
        cache_read_tokens=cached,
        cache_write_tokens=0,
        output_tokens=count_at(tokens, "output") + count_at(tokens, "thoughts"),
    )


def _sum(parts: Iterable[Usage]) -> Usage:
    names = ("input_tokens", "cache_read_tokens", "cache_write_tokens", "output_tokens")
    summed = list(parts)
    return Usage(**{name: sum(getattr(one, name) or 0 for one in summed) for name in names})


def _cost_of_several(by_model: list[tuple[str, Usage]]) -> float | None:
    """Each at its own price. The cost of one model alone follows from its name like everywhere."""
    if len({name for name, _ in by_model}) < 2:
        return None
    prices = [price_of(usage, name) for name, usage in by_model]
    known = [price for price in prices if price is not None]
    return round(sum(known), 10) if len(known) == len(prices) else None


def _busiest(by_model: list[tuple[str, Usage]]) -> str | None:
    totals: dict[str, int] = {}
    for name, usage in by_model:
        totals[name] = totals.get(name, 0) + usage.all_tokens
    return max(totals, key=lambda name: totals[name], default=None) or None


def _used(figures: object) -> bool:
    return count_at(figures, "total_tokens") > 0


def _table(models: object) -> Mapping[str, Any]:
    return models if isinstance(models, dict) else {}


def _requests(output: Output, session: str) -> list[Event]:
    """Every model request of this call (with prompt, answer and thoughts), oldest first. Each is written twice."""
    if not session:
        return []
    files = sorted(
        output.home.glob(f".gemini/tmp/*/chats/session-*-{escape(session[:8])}.json*"), key=os.path.getmtime
    )
    found: dict[str, Event] = {}
    for line in json_lines(files[-1]) if files else ():
        if isinstance(at(line, "tokens"), dict) and _since(text_at(line, "timestamp"), output.started):
            found[text_at(line, "id") or text_at(line, "timestamp")] = line
    return list(found.values())


def _since(stamp: str, started: float) -> bool:
    try:
        return datetime.fromisoformat(stamp).timestamp() >= started
    except (ValueError, OverflowError):
        return True
