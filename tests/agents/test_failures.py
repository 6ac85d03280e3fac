"""What a provider's error means: status first, then type, words of the error last."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from buildloop.agents.failures import failure_outcome, reset_time

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
        ("resets 25pm (UTC)", None),
        ("resets 3pm (No/Where)", None),
        ("try again later", None),
    ],
)
def test_reset_time(message, then):
    assert reset_time(message, NOON) == then
