"""Events in words."""

from __future__ import annotations

from buildloop.cli.event_lines import FINISHED, NOT_LISTED, doing, finished_line
from buildloop.events import EVENT_FIELDS


def test_every_event_is_listed_or_left_out_on_purpose():
    assert set(FINISHED) | NOT_LISTED == set(EVENT_FIELDS)
    assert not set(FINISHED) & NOT_LISTED


def test_a_question_comes_with_the_ways_to_answer_it():
    event = {
        "type": "loop.waiting_for_person",
        "run_id": "r1",
        "question": "It is [stuck]:\nwhat now?",
        "reason": "stuck",
    }
    told = finished_line(event) or ""
    assert "what now?" in told
    assert 'buildloop tell r1 "a hint"' in told
    assert doing(event) == "waiting for your answer"


def test_a_green_that_was_not_earned_is_told_and_a_mere_note_is_not():
    event = {
        "type": "loop.tampering",
        "rule": "gone",
        "file": "t.py",
        "text": "test_a is gone",
        "blocks": True,
    }
    assert "test_a is gone" in (finished_line(event) or "")
    assert finished_line({**event, "blocks": False}) is None
