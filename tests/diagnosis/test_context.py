"""A full window is measured, or said by the agent; a word in a test log is nothing."""

from __future__ import annotations

import pytest

from buildloop.diagnosis.context import detect_context_exhaustion
from tests.diagnosis.builders import log, red


def full(*history, window=200_000, **more):
    return detect_context_exhaustion(history, context_window=window, **more)


def test_a_well_filled_window_and_an_agent_that_did_nothing():
    assert full(red("a", context_tokens=150_000, changed=False))


def test_a_well_filled_window_while_the_agent_still_works():
    assert full(red("a", context_tokens=170_000, changed=True)) is None


def test_a_full_window_whatever_the_agent_did():
    assert full(red("a", context_tokens=199_000, changed=True))


def test_the_threshold_is_the_callers():
    attempt = red("a", context_tokens=100_000, changed=False)
    assert full(attempt) is None
    assert full(attempt, context_threshold=50)


def test_tokens_of_all_calls_together_are_not_fill():
    assert (
        full(red("a", input_tokens=9_000_000, output_tokens=900_000, context_tokens=30_000, changed=False))
        is None
    )
    assert full(red("a", input_tokens=9_000_000, changed=False)) is None


def test_without_a_window_nothing_is_measured():
    assert full(red("a", context_tokens=10**9, changed=False), window=None) is None


SAID = [
    "Prompt is too long · the request is ~213442 tokens (limit 200000) but this conversation is only ~1597 "
    "tokens",
    "Prompt is too long",
    "Request too large (max 32MB). Try with a smaller file.",
    '{"type":"result","subtype":"success","is_error":true,"api_error_status":400,"result":"Prompt is too '
    'long"}',
    '{"type":"error","message":"Codex ran out of room in the model\'s context window. Start a new thread."}',
    'ERROR: {"error": {"message": "Your input exceeds the context window of this model.", "code": '
    '"context_length_exceeded"}}',
    "Error when talking to Gemini API Full report available at: /tmp/x.json _ApiError: "
    '{"error":{"code":400,"message":'
    '"The input token count (2200140) exceeds the maximum number of tokens allowed (1048576)."}}',
    "Model openai/gpt-4o has hit a token limit!",
    "litellm.BadRequestError: OpenAIException - the request exceeds the available ",
    "litellm.ContextWindowExceededError: litellm.BadRequestError: prompt is too long",
    'API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: '
    '208310 tokens"}}',
    '{"type":"error","sessionID":"s","error":{"name":"ContextOverflowError","data":{"message":"too many '
    'tokens"}}}',
    "This endpoint's maximum context length is 262144 tokens. However, you requested about 262833 tokens",
]


@pytest.mark.parametrize("line", SAID)
def test_the_agent_says_so_even_with_exit_0(line):
    assert full(red("a", agent_output=f"working\n{line}\n", agent_status="ok"))
    assert full(*log(line, exit_code=0))


NOT_SAID = [
    "    inv_test.go:9: token limit exceeded: context has 3 tokens, want 2",
    "  ● context window › truncates to the token limit",
    "TypeError: Cannot read properties of undefined (reading 'AuthContext.Provider')",
    "contextlib._GeneratorContextManager failed (truncated)",
    "wait: context deadline exceeded",
    'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}',
    'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"too many requests"}}',
    '{"type":"tool_result","status":"error","output":"prompt is too long"}',
    '{"type":"assistant","message":{"content":[{"type":"text","text":"I fixed the context_length_exceeded '
    'test"}]}}',
    "I compacted the context and the tests about the maximum context length pass now.",
]


@pytest.mark.parametrize("line", NOT_SAID)
def test_what_is_not_the_agents_error_is_not_believed(line):
    assert full(*log(line)) is None
    assert full(red("a", agent_output=line, agent_status="error")) is None


def test_an_agent_that_compacted_and_finished_is_not_exhausted():
    said = '{"type":"error","message":"context_length_exceeded"}\n{"type":"turn.completed","usage":{}}\n'
    assert full(red("a", agent_output=said)) is None
    assert full(red("a", agent_output=said.splitlines()[0]))


def test_a_failing_test_about_a_providers_error_is_a_failing_test():
    text = (
        "======================================================================\n"
        "ERROR: test_raises (test_llm.T.test_raises)\n"
        "----------------------------------------------------------------------\n"
        "Traceback (most recent call last):\n"
        '  File "/w/test_llm.py", line 7, in test_raises\n    client.ask(big)\n'
        "openai.BadRequestError: Error code: 400 - {'error': {'code': 'context_length_exceeded'}}\n\n"
        "----------------------------------------------------------------------\nRan 1 test in "
        "0.001s\n\nFAILED (errors=1)\n"
    )
    assert full(*log(text)) is None
