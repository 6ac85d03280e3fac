"""What a provider's error means for the loop: by status first, then by type, words of the error message last.

Only error fields and the error stream are ever given to these functions, never what a model said.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

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
        r"limit reached\|1\d{9}|limit\b.{0,80}\bresets?\b|\bhit your .{0,20}limit.{0,80}try again (at|in)\b",
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

WAIT = Regex(
    r"(?:try again|retry|retrying|resets?) (?:in|after) (?P<n>\d+(?:\.\d+)?) ?"
    r"(?P<unit>ms|s|sec|seconds?|m|min|minutes?|h|hours?)\b",
    re.I,
)
STAMP = Regex(r"\|(?P<epoch>1\d{9})\b")
MOMENT = Regex(r"(?P<iso>20\d\d-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))")
O_CLOCK = Regex(
    r"resets?(?: at)? (?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>am|pm)"
    r"(?: \((?P<zone>[A-Za-z_]+/[A-Za-z_]+|UTC)\))?",
    re.I,
)
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


def failure_outcome(message: str, status: int | None = None) -> AgentOutcome:
    """What to do about an error with this text and this HTTP status. An unknown error is a crash."""
    worded = next((outcome for outcome, pattern in PATTERNS if pattern.search(message)), None)
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


def reset_time(message: str, now: datetime) -> datetime | None:
    """When the error says that it will be over; None where it says nothing, or a moment that does not exist."""
    try:
        return _stated_time(message, now)
    except (ValueError, OverflowError):
        return None


def _stated_time(message: str, now: datetime) -> datetime | None:
    if found := STAMP.search(message):
        return datetime.fromtimestamp(int(found["epoch"]), UTC)
    if found := MOMENT.search(message):
        return datetime.fromisoformat(found["iso"])
    if found := O_CLOCK.search(message):
        return _next_time(found, now)
    if found := WAIT.search(message):
        unit = found["unit"].lower()
        factor = SECONDS["ms"] if unit == "ms" else SECONDS[unit[0]]
        return now + timedelta(seconds=float(found["n"]) * factor)
    return None


def _next_time(found: re.Match[str], now: datetime) -> datetime | None:
    """The next time a clock shows this, in the zone that is named, else in the one of this machine."""
    hour, minute = int(found["hour"]), int(found["minute"] or 0)
    if not 1 <= hour <= 12 or minute > 59:
        return None
    try:
        here = now.astimezone(ZoneInfo(found["zone"]) if found["zone"] else None)
    except (ZoneInfoNotFoundError, ValueError):
        return None
    hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    then = here.replace(hour=hour, minute=minute, second=0, microsecond=0)
    return then if then > here else then + timedelta(days=1)
