"""What a provider's error means for the loop: by status first, then by type, words of the error message last.

Only error fields and the error stream are ever given to these functions, never what a model said.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from buildloop.agents.reset_times import reset_time
from buildloop.models import AgentOutcome
from buildloop.patterns import Regex

REFUSED_STATUS = frozenset({401, 402, 403, 404})
OVERFLOW_STATUS = frozenset({413})
TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530})

# Order matters: a full context or an empty account comes in the dress of a bad request or a rate limit.
WORDS: tuple[tuple[AgentOutcome, str], ...] = (
    (
        AgentOutcome.OVERFLOW,
        r"prompt is too long|context_length_exceeded|context[ _]window|maximum context length|ContextWindowExceeded"
        r"|ContextOverflow|input token count .* exceeds|ran out of room|has hit a token limit|too many tokens in"
        r"|input_too_large|request_too_large",
    ),
    (
        AgentOutcome.TRANSIENT,
        # An allowance that comes back by itself: a subscription's, with its time.
        r"limit reached\|1\d{9}|limit\b.{0,200}\bresets?\b|\bhit your .{0,20}limit.{0,300}try again (at|in)\b",
    ),
    (
        AgentOutcome.REFUSED,
        r"credit balance is too low|insufficient_quota|quota exceeded|exceeded your current quota|billing|payment"
        r"|usage limit|invalid (x-)?api[ _-]?key|incorrect api key|api key not valid|api[ _]key client option"
        r"|authenticat|unauthorized|not logged in|please run /login|log ?in again|oauth token (has )?expired"
        r"|permission_(error|denied)|forbidden|does not exist or you do not have access|not_found_error"
        r"|is not found for api version|model.{0,60}not found|issue with the selected model"
        r"|missing environment variable|must specify the [A-Z_]+ environment variable|invalid auth method"
        r"|no api key|api key (is )?(missing|required)",
    ),
    (
        AgentOutcome.TRANSIENT,
        r"rate.?limit|too many requests|overloaded|at capacity|high demand|resource.{0,20}exhausted|unavailable"
        r"|internal server ?error|server error|temporar|timed? ?out|timeout|stream disconnected|stream idle"
        r"|connection|network|ECONN\w+|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EPIPE|socket hang up|fetch failed|terminated"
        r"|cannot connect|try again (later|in)|empty or malformed response",
    ),
)
PATTERNS = tuple((outcome, Regex(words, re.I)) for outcome, words in WORDS)


def failure_outcome(message: str, status: int | None = None) -> AgentOutcome:
    """What to do about an error with this text and this HTTP status. An unknown error is a crash."""
    worded = next((outcome for outcome, pattern in PATTERNS if pattern.search(message)), None)
    if worded is AgentOutcome.REFUSED and status in (None, 429) and reset_time(message, datetime.now(UTC)):
        # An allowance for the minute or the day is spoken of like an empty account, but it says when it is back.
        worded = AgentOutcome.TRANSIENT
    if status in OVERFLOW_STATUS:
        return AgentOutcome.OVERFLOW
    if status in REFUSED_STATUS:
        return AgentOutcome.REFUSED
    if status is not None and (status in TRANSIENT_STATUS or status >= 500):
        # 429 is also what an empty account gets; then waiting does not help.
        return (
            AgentOutcome.REFUSED
            if status == 429 and worded is AgentOutcome.REFUSED
            else AgentOutcome.TRANSIENT
        )
    if status == 400 and worded is AgentOutcome.TRANSIENT:
        return AgentOutcome.CRASHED
    return worded or AgentOutcome.CRASHED
