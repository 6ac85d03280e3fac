"""When a limit will be over, as providers and agent CLIs say it: a span, a time of day, a date, a stamp."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from buildloop.patterns import Regex

LEAD = r"\b(?:try(?:ing)? again|retry(?:ing)?|resets?|available(?: again)?|until)"
UNIT = r"(?:ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)(?![a-z])"
SPAN = Regex(
    rf"{LEAD} (?:in|after) (?:about |approximately |~)?"
    rf"(?P<span>(?:\d+(?:\.\d+)?|an?|one)\s?{UNIT}(?:(?:,? and |, | )?\d+(?:\.\d+)?\s?{UNIT})*)",
    re.I,
)
PART = Regex(r"(?P<n>\d+(?:\.\d+)?|\b(?:an?|one)\b)\s?(?P<unit>ms|milli|s|m|h|d|w)", re.I)
# Names of fields and headers, with seconds as their values.
FIELD = Regex(r"\bretry[-_ ]?(?:after|delay)\W{1,8}(?P<n>\d+(?:\.\d+)?)(?:s\b|(?![\w:.-]))", re.I)
STAMP = Regex(r"\|(?P<epoch>1\d{9})\b")
MOMENT = Regex(
    rf"{LEAD}[^.;\n]{{0,30}}?(?P<iso>20\d\d-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)? ?(?:Z|UTC|[+-]\d\d:\d\d))",
    re.I,
)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
CLOCK = Regex(
    rf"{LEAD}(?: (?:at|on|by))?"
    rf"(?: (?P<month>{'|'.join(MONTHS)})[a-z]*\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?:,? (?P<year>20\d\d))?,?(?: at)?)?"
    r" (?P<hour>\d{1,2})(?::(?P<minute>\d\d)(?::\d\d)?)?(?:\s?(?P<half>[ap])\.?m\b)?"
    r"(?:\s\(?(?P<zone>[a-z]+(?:[/_+-][a-z\d]+)+|UTC|GMT|[A-Z]{3,4}(?=\)))\)?)?",
    re.I,
)
SECONDS = {"ms": 0.001, "milli": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
# A time of day has no seconds: what has just been is over, and not meant for tomorrow.
JUST_NOW = timedelta(minutes=10)


def reset_time(message: str, now: datetime) -> datetime | None:
    """When the error says that it will be over; None where it does not, or not in a way that can be trusted."""
    try:
        return _stated_time(message, now)
    except (ValueError, OverflowError, OSError):  # a moment that does not exist
        return None


def _stated_time(message: str, now: datetime) -> datetime | None:
    if found := STAMP.search(message):
        return datetime.fromtimestamp(int(found["epoch"]), UTC)
    if found := MOMENT.search(message):
        return datetime.fromisoformat(re.sub(r" ?UTC$", "Z", found["iso"], flags=re.I))
    if found := SPAN.search(message):
        return _later(now, sum(_seconds(part) for part in PART.finditer(found["span"])))
    if found := CLOCK.search(message):
        return _next_time(found, now)
    if found := FIELD.search(message):
        return _later(now, float(found["n"]))
    return None


def _seconds(part: re.Match[str]) -> float:
    count = float(part["n"]) if part["n"][0].isdigit() else 1.0
    return count * SECONDS[part["unit"].lower()]


def _later(now: datetime, seconds: float) -> datetime | None:
    try:
        return now + timedelta(seconds=seconds)
    except OverflowError:
        return None


def _next_time(found: re.Match[str], now: datetime) -> datetime | None:
    """The next time a clock shows this, in the zone that is named, else in the one of this machine."""
    try:
        here = now.astimezone(ZoneInfo(found["zone"]) if found["zone"] else None)
        then = here.replace(hour=_hour(found), minute=int(found["minute"] or 0), second=0, microsecond=0)
        if not found["month"]:
            return then if then > here - JUST_NOW else then + timedelta(days=1)
        month = MONTHS.index(found["month"].lower()) + 1
        then = then.replace(year=int(found["year"] or here.year), month=month, day=int(found["day"]))
        past = not found["year"] and then < here - timedelta(days=1)
        return then.replace(year=then.year + 1) if past else then
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _hour(found: re.Match[str]) -> int:
    hour = int(found["hour"])
    if not found["half"]:
        if not found["minute"]:
            raise ValueError("a number alone is no time of day")
        return hour
    if not 1 <= hour <= 12:
        raise ValueError("no such hour on a clock with halves")
    return hour % 12 + (12 if found["half"].lower() == "p" else 0)
