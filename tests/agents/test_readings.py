"""What no recorded call shows: figures of several models, of a call that was stopped, tools that were taken away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from buildloop.agents.prices import price_of
from buildloop.agents.reading import Output, Reading
from buildloop.agents.registry import ADAPTERS
from buildloop.models import Usage

INIT = {"type": "init", "session_id": "0123456789ab", "model": "auto"}


def read(agent: str, folder: Path, *events: dict[str, Any], exit_code: int = 0) -> Reading:
    (folder / "out").write_text("".join(json.dumps(event) + "\n" for event in events))
    (folder / "err").write_text("")
    return ADAPTERS[agent]().read(Output(folder / "out", folder / "err", exit_code, folder, folder))


def figures(sent: int, cached: int, out: int) -> dict[str, int]:
    return {"total_tokens": sent + out, "input_tokens": sent, "cached": cached, "output_tokens": out}


def gemini_result(**models: dict[str, int]) -> dict[str, Any]:
    named = {name.replace("_", "-").replace("2-5", "2.5"): one for name, one in models.items()}
    total = {kind: sum(one[kind] for one in models.values()) for kind in figures(0, 0, 0)}
    return {"type": "result", "status": "success", "stats": {**total, "models": named}}


def test_gemini_tells_which_model_a_router_chose(tmp_path):
    one = read("gemini", tmp_path, INIT, gemini_result(gemini_2_5_flash=figures(1000, 200, 50)))
    assert one.model == "gemini-2.5-flash"
    assert one.usage == Usage(input_tokens=800, cache_read_tokens=200, cache_write_tokens=0, output_tokens=50)


def test_the_models_of_one_gemini_call_are_paid_at_their_own_prices(tmp_path):
    result = gemini_result(
        gemini_2_5_flash_lite=figures(1000, 0, 50), gemini_2_5_pro=figures(9000, 3000, 700)
    )
    both = read("gemini", tmp_path, INIT, result)
    prices = [
        price_of(Usage(input_tokens=1000, output_tokens=50), "gemini-2.5-flash-lite"),
        price_of(Usage(input_tokens=6000, cache_read_tokens=3000, output_tokens=700), "gemini-2.5-pro"),
    ]
    assert both.model == "gemini-2.5-pro"
    assert both.usage.cost_usd == pytest.approx(sum(price for price in prices if price is not None))


def test_a_gemini_call_that_was_stopped_counts_what_its_session_file_has(tmp_path):
    chats = tmp_path / ".gemini" / "tmp" / "work" / "chats"
    chats.mkdir(parents=True)
    tokens = {"input": 1000, "output": 20, "cached": 300, "thoughts": 5, "tool": 0, "total": 1025}
    answer = {"id": "a", "timestamp": "2026-11-16T12:00:00Z", "model": "gemini-2.5-pro", "tokens": tokens}
    lines = [answer, answer, {**answer, "id": "b"}]
    (chats / "session-x-01234567.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    stopped = read("gemini", tmp_path, INIT, exit_code=137)
    assert (stopped.model, stopped.turns) == ("gemini-2.5-pro", 2)
    assert (stopped.usage.input_tokens, stopped.usage.cache_read_tokens) == (1400, 600)
    assert (stopped.usage.output_tokens, stopped.usage.context_tokens) == (50, 1025)


def test_a_tool_that_opencode_does_not_offer_is_denied_one_that_never_was_is_not(tmp_path):
    def wanted(name: str) -> dict[str, Any]:
        state = {"status": "completed", "input": {"tool": name, "error": f"unavailable tool '{name}'"}}
        return {"type": "tool_use", "part": {"tool": "invalid", "state": state}}

    assert read("opencode", tmp_path, wanted("bash"), wanted("teleport")).denials == ("bash",)
