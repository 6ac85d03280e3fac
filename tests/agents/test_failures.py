"""What a provider's error means: status first, then type, words of the error last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from buildloop.agents.failures import failure_outcome
from buildloop.agents.reset_times import reset_time

NOON = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "message", "outcome"),
    [
        (401, "whatever", "refused"),
        (402, "pay first", "refused"),
        (403, "no", "refused"),
        (404, "no such model", "refused"),
        (413, "payload", "overflow"),
        (429, "slow down", "transient"),
        (429, "You exceeded your current quota, please check your plan and billing details.", "refused"),
        (429, "Claude usage limit reached, resets 3pm", "transient"),
        (500, "oops", "transient"),
        (503, "overloaded", "transient"),
        (529, "Overloaded", "transient"),
        (599, "gateway", "transient"),
        (400, "prompt is too long: 200001 tokens > 200000 maximum", "overflow"),
        (400, "Your credit balance is too low", "refused"),
        (400, "temporarily malformed", "crashed"),
        (400, "messages: bad request", "crashed"),
        (None, "Not logged in · Please run /login", "refused"),
        (None, "Claude AI usage limit reached|1794830400", "transient"),
        (None, "You've hit your limit · resets 3pm (Europe/Berlin)", "transient"),
        (
            None,
            "You’ve hit your usage limit. Visit the page to purchase more credits or try again later.",
            "refused",
        ),
        (None, "You’ve hit your usage limit. Upgrade, or try again in 3 hours.", "transient"),
        (
            429,
            "You exceeded your current quota, please check your plan and billing details.\n* Quota exceeded for "
            "metric: generate_content_free_tier_requests, limit: 5\nPlease retry in 34.07s.",
            "transient",
        ),
        (
            None,
            "Rate limit reached for gpt-5 on tokens per min. You can increase it by adding a payment method. "
            "Please try again in 20s.",
            "transient",
        ),
        (
            None,
            "You've hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit "
            "https://chatgpt.com/codex/settings/usage to purchase more credits or try again at 4:32 PM.",
            "transient",
        ),
        (401, "Invalid API key; retry after 30", "refused"),
        (None, "Invalid API key (request of 2026-11-16T12:00:00Z)", "refused"),
        (400, "prompt is too long; try again in 20s", "overflow"),
        (None, "connect ECONNREFUSED 127.0.0.1:1", "transient"),
        (None, "TypeError: terminated", "transient"),
        (None, "something nobody has seen", "crashed"),
    ],
)
def test_outcome(status, message, outcome):
    assert failure_outcome(message, status) == outcome


@pytest.mark.parametrize(
    ("message", "then"),
    [
        ("Please try again in 20s.", NOON + timedelta(seconds=20)),
        ("try again in 1.5 minutes", NOON + timedelta(seconds=90)),
        ("Retry after 250ms", NOON + timedelta(seconds=0.25)),
        ("try again in 3 hours", NOON + timedelta(hours=3)),
        ("usage limit reached|1794830400", datetime.fromtimestamp(1794830400, UTC)),
        ("available at 2026-11-16T15:30:00Z", datetime(2026, 11, 16, 15, 30, tzinfo=UTC)),
        ("limit reached · resets 3pm (UTC)", NOON.replace(hour=15)),
        ("limit reached, resets at 11:30am (UTC)", NOON.replace(hour=11, minute=30) + timedelta(days=1)),
        ("resets 2pm (Europe/Berlin)", NOON.replace(hour=13)),
        ("resets 12am (UTC)", NOON.replace(hour=0) + timedelta(days=1)),
        ("Please retry in 34.07s.", NOON + timedelta(seconds=34.07)),
        ("try again in 1m30.5s", NOON + timedelta(seconds=90.5)),
        ("Try again in 3 days 4 hours.", NOON + timedelta(days=3, hours=4)),
        ("try again in 1 day, 2 hours and 5 minutes", NOON + timedelta(days=1, hours=2, minutes=5)),
        ("try again in an hour", NOON + timedelta(hours=1)),
        ("Retry-After: 30", NOON + timedelta(seconds=30)),
        ('"retryDelay": "34s"', NOON + timedelta(seconds=34)),
        ("try again at 4:32 PM (UTC)", NOON.replace(hour=16, minute=32)),
        ("try again at 4:32\u202fPM UTC.", NOON.replace(hour=16, minute=32)),
        ("try again at 16:32 UTC", NOON.replace(hour=16, minute=32)),
        ("try again at 11:58 AM (UTC)", NOON.replace(hour=11, minute=58)),
        ("try again at Nov 20th, 2026 9:14 PM (UTC)", datetime(2026, 11, 20, 21, 14, tzinfo=UTC)),
        ("resets Nov 20 at 3pm (Europe/Berlin)", datetime(2026, 11, 20, 14, tzinfo=UTC)),
        ("resets Jan 2, 3pm (UTC)", datetime(2027, 1, 2, 15, tzinfo=UTC)),
        ("resets Nov 31 at 3pm (UTC)", None),
        ("resets 9:30am (America/Argentina/Buenos_Aires)", NOON.replace(hour=12, minute=30)),
        ("resets 3pm (America/Nowhere/City)", None),
        ("resets 3pm (XYZ)", None),
        ("resets 25pm (UTC)", None),
        ("try again with 5 of 7", None),
        ("try again in 3 steps", None),
        ("it failed at 2026-11-16T15:30:00Z", None),
        ("resets 3pm (No/Where)", None),
        ("try again later", None),
    ],
)
def test_reset_time(message, then):
    assert reset_time(message, NOON) == then


def test_a_time_without_a_zone_is_one_of_this_machine():
    here = NOON.astimezone()
    later = (here + timedelta(hours=2)).replace(minute=32)
    assert reset_time(f"try again at {later:%I:%M %p}", NOON) == later
    assert reset_time(f"try again at {later:%b} {later.day}th, {later.year} {later:%I:%M %p}.", NOON) == later
