"""What agent CLIs and model providers say when a window is full or the agent goes round in circles.

Only the error formats of the CLIs count. The same words in a test, or in what the model writes, do not.
"""

from __future__ import annotations

import re

from buildloop.diagnosis.model import SignalKind
from buildloop.diagnosis.signs.sign import signs
from buildloop.patterns import Regex

# Sentences of the providers; each must follow one of the error formats in `CHANNEL`.
OVERFLOW = (
    r"prompt is too long",
    r"prompt too long",
    r"input is too long",
    r"input (?:length|tokens?) .{0,40}exceeds? ",
    r"(?:the )?input token count .{0,40}exceeds the maximum",
    r"your input exceeds the context window",
    r"context[_ ]length[_ ]exceeded",
    r"context_window_exceeded",
    r"model_context_window_exceeded",
    r"prompt_too_long",
    r"request_too_large",
    r"request too large \(max",
    r"ContextWindowExceeded",
    r"maximum context length",
    r"request exceeds the available",
    r"exceeds? the (?:available |model'?s? |maximum )?context (?:size|window|length|limit)",
    r"exceed(?:s|ed)? (?:the )?context (?:limit|window|length)",
    r"ran out of room in the model's context window",
    r"context window (?:is full|exceeded|has been exceeded|overflow)",
    r"context (?:limit|length) (?:reached|exceeded)",
    r"conversation (?:is )?too long",
    r"compaction exhausted: context still exceeds",
    r"(?:too many (?:input )?tokens|token limit exceeded|tokens? exceeds? (?:the )?(?:model|context))",
    r"would exceed the (?:remaining )?context window",
    r"request exceeds the maximum size",
)
CHANNEL = (
    r"(?:\W{0,3}(?:API )?Error(?:\s?code)?\b[:\s-]",
    r"\W{0,3}ERROR:? ",
    r"(?:litellm\.)\w+",
    r"[\w.]*(?:BadRequestError|APIError|ApiError|InvalidRequestError|RequestTooLargeError"
    r"|ContextOverflowError|AI_APICallError)\b",
    r"\[API Error: ",
    r"✗ |✖ |■ |⚠ |🔴 )",
)
SAID_BY_CLI = (
    r"Prompt is too long(?: · |$|\.$)",
    r"Request too large \(max \d+ ?MB\)",
    r"Model \S+ has hit a token limit!",
    r"Context low \(0% remaining\)",
    r"Context limit reached · ",
    r"Conversation too long\. Press esc",
    r"Codex ran out of room in the model's context window",
    r"(?:stream error: )?Your input exceeds the context window of this model",
    r"The context window (?:will overflow|has been exceeded)\b",
    r"Sending this message \(\d+ tokens\) might exceed the remaining context window limit",
    r"Your estimated chat context of [\d,]+ tokens exceeds the [\d,]+ token limit",
    r"(?:Chat session|Conversation|Session) (?:has )?(?:exceeded|reached) (?:the"
    r"|its) (?:maximum )?(?:context|token)",
)
SAID_BY_PROVIDER = (
    r"This (?:endpoint|model)'s maximum context length is \d+ tokens",
    r"The conversation is too long for this model",
    r"\"name\": \"ContextOverflowError\"",
)
REPEATING = (
    r"Only \d+ reflections allowed, stopping",
    r"A potential loop was detected\b",
    r"Loop detected, stopping execution",
    r"(?:The )?(?:agent|model) (?:is|appears to be|seems to be) (?:stuck in a loop|repeating itself)",
    r"AgentStuckInLoopError",
    r"Agent got stuck in a loop",
    r"doom[_ ]loop",
    r"Maximum (?:number of )?consecutive (?:mistakes|identical (?:tool calls|actions)) (?:reached|exceeded)",
)


SIGNS = (
    *signs(SignalKind.CONTEXT_OVERFLOW, "agent", *SAID_BY_CLI),
    *signs(SignalKind.CONTEXT_OVERFLOW, "provider", *SAID_BY_PROVIDER),
    *signs(
        SignalKind.CONTEXT_OVERFLOW, "provider", rf"{'|'.join(CHANNEL)}.{{0,400}}?(?i:{'|'.join(OVERFLOW)})"
    ),
    *signs(SignalKind.AGENT_LOOP, "agent", *REPEATING),
)
# JSON events: the sentence is in a field, so it need not start the line.
OVERFLOW_SENTENCE = Regex("|".join(OVERFLOW), re.I)
REPEATING_SENTENCE = Regex("|".join(REPEATING), re.I)
