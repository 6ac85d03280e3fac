"""Every recorded call of the real CLIs, read again: outcome and figures, field by field, against another reader.

`captures/TABLE.txt` was made by an independent program. Where we read something else on purpose, it is said below
with the reason and the value; nothing is left out of the comparison.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest

from buildloop.models import AgentOutcome
from tests.agents.captured import CLIS, Capture, load, replay, table

OUTCOMES = {
    "ok": "ok", "empty": "ok", "auth": "refused", "billing": "refused", "not_found": "refused", "usage": "refused",
    "context_overflow": "overflow", "rate_limit": "transient", "overloaded": "transient", "network": "transient",
    "timeout": "transient", "max_turns": "turn_limit", "budget": "turn_limit", "interrupted": "crashed",
    "killed": "crashed", "bad_request": "crashed", "unknown": "crashed",
}  # fmt: skip
FIGURES = ("turns", "fill", "window", "fresh", "read", "written", "out", "cost")
SPENT = ("fresh", "read", "written", "out")
RECORDINGS = {(cli, case): capture for cli in CLIS for case, capture in load(cli).items()}
TABLE = table()

# Figures of one model call each, from the events before the kill; the table has none for calls without an end.
KILLED = {
    "kill_kill": (1, 4, 0, 21207, 1), "kill_pgkill": (1, 4, 0, 21209, 1), "kill_pgterm": (1, 4, 0, 21209, 1),
    "kill_term": (1, 4, 0, 21207, 1), "kill_term_midrequest": (1, 10, 0, 15000, 1),
    "pidns_kill": (1, 4, 0, 21208, 1), "resume_killed_1": (2, 14, 0, 36326, 2),
}  # fmt: skip
KILLED_197 = {"kill_pgkill": (1, 4, 0, 28882, 1), "kill_term": (1, 4, 0, 28881, 1)}

EXPLAINED: dict[tuple[str, str], dict[str, Any]] = {
    # The middle of these recordings is cut out, and with it most of their model calls.
    ("claude", "autocompact2_off"): {"fill": 120111},
    ("opencode", "too_long_anthropic"): {
        "outcome": "crashed",
        "turns": 18,
        "fresh": 15393,
        "out": 90,
        "cost": 0.04753,
    },
    ("opencode", "too_long_first"): {
        "outcome": "crashed",
        "turns": 17,
        "fresh": 17069,
        "out": 85,
        "cost": 0.01724,
    },
    ("opencode", "too_long_mid"): {"turns": 16, "fresh": 21104, "out": 115, "cost": 0.02133},
    # Sub-agents, side models and compactions are paid too.
    ("claude", "subagent"): {"fresh": 22, "read": 15100, "written": 24300, "out": 83},
    ("claude", "too_long_mid_once"): {"fresh": 20338, "out": 77},
    ("claude-2.1.197", "phone_home"): {"fresh": 412, "out": 220},
    # Tokens were used: a cost of 0 is one the program did not know.
    ("claude", "hang_text"): {"cost": None},
    ("claude", "hang_text_idle"): {"cost": None},
    ("claude", "idle_a"): {"cost": None},
    # The session's total, and what it was before is not known here (see the test of a whole session).
    ("claude", "resume_2"): {"cost": None},
    ("claude", "resume_3_continue"): {"cost": None},
    ("claude", "resume_4_fork"): {"cost": None},
    ("claude", "resume_othercwd_2"): {"cost": None},
    # It says itself that it does not know this model, and makes the window up.
    ("claude", "unknown_model"): {"window": None},
    # Classes the other reader left open.
    ("claude", "garbage"): {"outcome": "transient"},
    ("claude", "text_output_err"): {"outcome": "refused"},
    ("opencode", "unknown_model"): {"outcome": "refused"},
    # Too long for its input is too long; the adapter sends a pointer to the prompt instead.
    ("codex", "prompt_2mb_stdin"): {"outcome": "overflow"},
    # Two model calls were made and both are in the program's own figures.
    ("codex", "resume_1"): {"fresh": 6100, "out": 50},
    # Stopped from outside while it was still trying: the limit that stopped it names the outcome.
    ("codex", "builtin_env"): {"outcome": "crashed"},
    ("gemini", "conn_refused"): {"outcome": "crashed"},
}


@pytest.fixture
def folder():
    """Quicker than pytest's own, which looks through all earlier ones every time."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def wanted(capture: Capture) -> dict[str, Any]:
    row = TABLE[capture.cli, capture.case]
    fields = {"outcome": OUTCOMES[row["kind"]], **{name: row[name] for name in FIGURES}}
    if capture.cli == "codex":
        # These are in the rollout file, which was not recorded; stdout has figures of completed fresh threads only.
        fields |= {"turns": None, "fill": None, "window": None}
        if '"turn.completed"' not in capture.stdout or capture.resumed:
            fields |= dict.fromkeys(SPENT)
    elif capture.cli == "gemini":
        # The fill is in the session file, which was not recorded; thoughts are paid as output.
        fields |= {"fill": None, "turns": row["turns"] if "json" in capture.argv else None}
        fields["out"] = row["out"] if row["out"] not in (215, 130, 50, 40) else row["out"] + 12
    elif capture.cli == "aider":
        # Exact figures are in its log, which was not recorded; those on the screen are rounded.
        fields |= dict.fromkeys(("turns", "fill", *SPENT, "cost"))
    killed = {"claude": KILLED, "claude-2.1.197": KILLED_197}.get(capture.cli, {}).get(capture.case)
    if killed:
        fields |= dict(zip(("turns", *SPENT), killed, strict=True))
    return fields | EXPLAINED.get((capture.cli, capture.case), {})


@pytest.mark.parametrize(("cli", "case"), list(RECORDINGS), ids=["/".join(key) for key in RECORDINGS])
def test_recorded_call(cli, case, folder):
    capture = RECORDINGS[cli, case]
    reading = replay(capture, folder)
    usage = reading.usage
    assert {
        "outcome": str(reading.outcome),
        "turns": reading.turns,
        "fill": usage.context_tokens,
        "window": reading.context_window,
        "fresh": usage.input_tokens,
        "read": usage.cache_read_tokens,
        "written": usage.cache_write_tokens,
        "out": usage.output_tokens,
        "cost": None if usage.cost_usd is None else pytest.approx(usage.cost_usd, abs=1e-5),
    } == wanted(capture)
    if reading.outcome is not AgentOutcome.OK:
        assert reading.error


def test_nothing_recorded_is_left_out():
    assert set(RECORDINGS) == set(TABLE)
    assert len(RECORDINGS) == 323
    assert set(EXPLAINED) <= set(RECORDINGS)


def test_the_cost_of_each_call_of_one_session_is_its_own(folder):
    """The program adds up over the session; the sum of what we report is its last total."""
    costs = [
        replay(RECORDINGS["claude", case], folder).usage.cost_usd
        for case in ("resume_1", "resume_2", "resume_3_continue")
    ]
    assert costs == [pytest.approx(0.06267), pytest.approx(0.00579), pytest.approx(0.00579)]


def test_an_older_version_that_does_not_add_up_is_noticed(folder):
    costs = [
        replay(RECORDINGS["claude-2.1.197", case], folder).usage.cost_usd for case in ("resume_1", "resume_2")
    ]
    assert costs == [pytest.approx(0.06267), pytest.approx(0.00579)]


@pytest.mark.parametrize(
    ("cli", "case", "denied"),
    [
        ("claude", "perm_default_denied", "Edit"),
        ("claude", "perm_disallow_rule", "Bash(python3 -m pytest -q 2>&1 | tail -3)"),
        ("opencode", "perm_ask", "edit"),
        ("opencode", "perm_deny", "bash(python3 -m pytest -q 2>&1 | tail -3)"),
    ],
)
def test_denied_tools_are_named(cli, case, denied, folder):
    reading = replay(RECORDINGS[cli, case], folder)
    assert any(name.startswith(denied) for name in reading.denials)
    assert reading.outcome is AgentOutcome.OK


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini", "opencode"])
def test_the_text_is_the_last_answer_and_the_session_is_known(cli, folder):
    reading = replay(RECORDINGS[cli, "smoke"], folder)
    assert reading.text == "Fixed add(); the test passes."
    assert reading.session_id


def test_prose_about_errors_decides_nothing(folder):
    """A model that writes of rate limits and invalid keys has only written."""
    words = "litellm.AuthenticationError: rate limit exceeded, prompt is too long, Invalid API key"
    for cli in ("claude", "codex", "gemini", "opencode", "aider"):
        case = "ok_edit" if cli == "aider" else "smoke"
        capture = RECORDINGS[cli, case]
        said = capture.stdout.replace("Fixed add(); the test passes.", words)
        said = said.replace("I will fix add().", f"{words}\n{words}")
        assert said != capture.stdout or cli == "gemini"
        changed = Capture(cli, case, capture.argv, capture.rc, said, capture.stderr)
        assert replay(changed, folder).outcome is AgentOutcome.OK, cli
