"""One answer in the words of each provider: as a stream of events, or as one JSON body."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import Any

from tests.support.model.tools import Call

Event = tuple[str | None, Any]


@dataclass
class Answer:
    """`usage` has input (without cached), cache_read, cache_write, output."""

    model: str
    text: str
    usage: dict[str, int]
    calls: list[Call] = field(default_factory=list)


def events(dialect: str, answer: Answer) -> list[Event]:
    return {"anthropic": _anthropic, "responses": _responses, "chat": _chat, "gemini": _gemini}[dialect](
        answer
    )


def body(dialect: str, answer: Answer) -> dict[str, Any]:
    if dialect == "anthropic":
        return _message(answer, _blocks(answer), answer.usage["output"])
    if dialect == "gemini":
        return _candidate(answer, _parts(answer), last=True)
    if dialect == "responses":
        return _response(answer, _items(answer))
    message = {"role": "assistant", "content": answer.text, "tool_calls": _functions(answer) or None}
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return {"id": _id("chatcmpl"), "object": "chat.completion", "created": 0, "model": answer.model,
            "choices": [choice], "usage": _openai_usage(answer, "prompt_tokens", "completion_tokens")}  # fmt: skip


def _id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:24]}"


def _blocks(answer: Answer) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    return blocks + [
        {"type": "tool_use", "id": _id("toolu"), "name": call["name"], "input": call.get("input", {})}
        for call in answer.calls
    ]


def _message(answer: Answer, blocks: list[Any], output: int) -> dict[str, Any]:
    usage = answer.usage
    return {
        "id": _id("msg"), "type": "message", "role": "assistant", "model": answer.model, "content": blocks,
        "stop_reason": "tool_use" if answer.calls else "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": usage["input"], "cache_read_input_tokens": usage["cache_read"],
                  "cache_creation_input_tokens": usage["cache_write"], "output_tokens": output},
    }  # fmt: skip


def _anthropic(answer: Answer) -> list[Event]:
    start = _message(answer, [], 1) | {"stop_reason": None}
    told: list[Event] = [("message_start", {"type": "message_start", "message": start})]
    for index, block in enumerate(_blocks(answer)):
        if block["type"] == "text":
            opening, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            opening = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        told += [
            (
                "content_block_start",
                {"type": "content_block_start", "index": index, "content_block": opening},
            ),
            ("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}),
            ("content_block_stop", {"type": "content_block_stop", "index": index}),
        ]
    end = _message(answer, [], answer.usage["output"])
    delta = {"stop_reason": end["stop_reason"], "stop_sequence": None}
    told.append(("message_delta", {"type": "message_delta", "delta": delta, "usage": end["usage"]}))
    return [*told, ("message_stop", {"type": "message_stop"})]


def _openai_usage(answer: Answer, sent: str, got: str) -> dict[str, Any]:
    usage = answer.usage
    total = usage["input"] + usage["cache_read"] + usage["cache_write"]
    return {
        sent: total, f"{sent}_details": {"cached_tokens": usage["cache_read"]}, got: usage["output"],
        f"{got}_details": {"reasoning_tokens": 0}, "total_tokens": total + usage["output"],
    }  # fmt: skip


def _items(answer: Answer) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        items.append(
            {
                "type": "message",
                "id": _id("msg"),
                "role": "assistant",
                "status": "completed",
                "content": content,
            }
        )
    for call in answer.calls:
        common = {"call_id": _id("call"), "name": call["name"], "status": "completed"}
        if "raw" in call:
            items.append({"type": "custom_tool_call", "id": _id("ctc"), "input": call["raw"], **common})
        else:
            items.append(
                {"type": "function_call", "id": _id("fc"), "arguments": json.dumps(call["input"]), **common}
            )
    return items


def _response(answer: Answer, items: list[Any]) -> dict[str, Any]:
    return {
        "id": _id("resp"), "object": "response", "created_at": 0, "status": "completed", "model": answer.model,
        "output": items, "usage": _openai_usage(answer, "input_tokens", "output_tokens"), "error": None,
        "incomplete_details": None, "tools": [], "metadata": {},
    }  # fmt: skip


def _responses(answer: Answer) -> list[Event]:
    items = _items(answer)
    final = _response(answer, items)
    told = [
        ("response.created", {"response": final | {"output": [], "usage": None, "status": "in_progress"}})
    ]
    for index, item in enumerate(items):
        told.append(
            ("response.output_item.added", {"output_index": index, "item": item | {"status": "in_progress"}})
        )
        told.append(("response.output_item.done", {"output_index": index, "item": item}))
    told.append(("response.completed", {"response": final}))
    return [(name, {"type": name, "sequence_number": n, **data}) for n, (name, data) in enumerate(told)]


def _functions(answer: Answer) -> list[dict[str, Any]]:
    return [
        {"index": index, "id": _id("call"), "type": "function",
         "function": {"name": call["name"], "arguments": json.dumps(call.get("input", {"input": call.get("raw")}))}}
        for index, call in enumerate(answer.calls)
    ]  # fmt: skip


def _finish(answer: Answer) -> str:
    return "tool_calls" if answer.calls else "stop"


def _chat(answer: Answer) -> list[Event]:
    base = {"id": _id("chatcmpl"), "object": "chat.completion.chunk", "created": 0, "model": answer.model}
    deltas: list[tuple[dict[str, Any], str | None]] = [({"role": "assistant", "content": answer.text}, None)]
    deltas += [({"tool_calls": [one]}, None) for one in _functions(answer)]
    deltas.append(({}, _finish(answer)))
    told: list[Event] = [
        (None, base | {"choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
        for delta, end in deltas
    ]
    told.append(
        (None, base | {"choices": [], "usage": _openai_usage(answer, "prompt_tokens", "completion_tokens")})
    )
    return [*told, (None, "[DONE]")]


def _parts(answer: Answer) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
    return parts + [
        {"functionCall": {"name": call["name"], "args": call.get("input", {})}} for call in answer.calls
    ]


def _candidate(answer: Answer, parts: list[Any], *, last: bool) -> dict[str, Any]:
    candidate = {"content": {"role": "model", "parts": parts}, "index": 0} | (
        {"finishReason": "STOP"} if last else {}
    )
    usage = answer.usage
    sent = usage["input"] + usage["cache_read"] + usage["cache_write"]
    figures = {"promptTokenCount": sent, "cachedContentTokenCount": usage["cache_read"],
               "candidatesTokenCount": usage["output"], "totalTokenCount": sent + usage["output"]}  # fmt: skip
    told = {"candidates": [candidate], "modelVersion": answer.model, "responseId": _id("r")}
    return told | ({"usageMetadata": figures} if last else {})


def _gemini(answer: Answer) -> list[Event]:
    told: list[Event] = [(None, _candidate(answer, [part], last=False)) for part in _parts(answer)]
    return [*told, (None, _candidate(answer, [{"text": ""}], last=True))]
