"""Errors in the words of each provider."""

from __future__ import annotations

from typing import Any

ANTHROPIC = {
    "overflow": (400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"),
    "auth": (401, "authentication_error", "invalid x-api-key"),
    "not_found": (404, "not_found_error", "model: none"),
    "billing": (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
    "rate_limit": (429, "rate_limit_error", "This request would exceed your organization's rate limit."),
    "overloaded": (529, "overloaded_error", "Overloaded"),
}
GEMINI = {
    "overflow": (
        400,
        "INVALID_ARGUMENT",
        "The input token count (200001) exceeds the maximum number of tokens.",
    ),
    "auth": (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."),
    "not_found": (404, "NOT_FOUND", "models/none is not found for API version v1beta"),
    "billing": (
        429,
        "RESOURCE_EXHAUSTED",
        "You exceeded your current quota, please check your plan.",
    ),
    "rate_limit": (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    "overloaded": (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
}
OPENAI = {
    "overflow": (400, "context_length_exceeded", "This model's maximum context length is 200000 tokens."),
    "auth": (401, "invalid_api_key", "Incorrect API key provided: dummy."),
    "not_found": (404, "model_not_found", "The model `none` does not exist or you do not have access to it."),
    "billing": (429, "insufficient_quota", "You exceeded your current quota, please check your plan."),
    "rate_limit": (429, "rate_limit_exceeded", "Rate limit reached on tokens per min (TPM). Please try again in 1s."),
    "overloaded": (503, "server_is_overloaded", "The engine is currently overloaded, please try again later"),
}  # fmt: skip


def fault(dialect: str, kind: str) -> tuple[int, dict[str, Any]]:
    if dialect == "anthropic":
        status, name, words = ANTHROPIC[kind]
        return status, {"type": "error", "error": {"type": name, "message": words}}
    if dialect == "gemini":
        status, name, words = GEMINI[kind]
        return status, {"error": {"code": status, "message": words, "status": name}}
    status, name, words = OPENAI[kind]
    return status, {"error": {"message": words, "type": "invalid_request_error", "param": None, "code": name}}
