"""Pitfalls 1 to 8 of the old loop: work, money and control stay with the user."""

from __future__ import annotations

import json
import shlex
import sys

from buildloop.events import read_events
from buildloop.models import AgentOutcome
from buildloop.result import StopReason
from tests.support.repos import GREEN, checkout_state, git, make_repo, write_files
from tests.support.scripts import WRITE_FIX, wrong


def calls_of(run) -> int:
    return sum(json.loads((run.path / "scripted-agent.json").read_text()).values())


def test_pitfall_01_a_questionable_file_costs_neither_the_iteration_nor_the_users_files(play, repo):
    """Invalid JSON and the words "rate limit" made the old loop reset everything, untracked files included."""
    write_files(repo, {"my-notes.md": "mine, not committed"})
    before = checkout_state(repo)
    jsonc = {"write": "tsconfig.json", "text": '{\n  // a comment\n  "strict": true,\n}\n'}
    limiter = {"write": "src/limiter.ts", "text": "// rate limit: 429\nexport const limit = 5;\n"}
    result, _ = play({"do": [jsonc, limiter, wrong(1)]}, dirty="ignore", max_iterations=1)
    committed = git(repo, "ls-tree", "-r", "--name-only", result.branch).split()
    assert committed == ["calc.py", "src/limiter.ts", "test_calc.py", "tsconfig.json"]
    assert checkout_state(repo) == before


def test_pitfall_02_cache_reads_do_not_fill_the_context_and_nothing_breaks_before_commit_and_gate(play):
    """One realistic call reads 412k from the cache; the old loop stopped a finished job at 228 %."""
    usage = {
        "input_tokens": 200,
        "cache_read_tokens": 412_000,
        "cache_write_tokens": 31_000,
        "output_tokens": 9_800,
    }
    result, run = play(
        {"when": {"call": 1}, "do": [wrong(1)], "usage": usage}, {"do": [WRITE_FIX], "usage": usage}
    )
    assert (result.reason, result.sessions, result.iterations) == (StopReason.COMPLETE, 1, 2)
    assert [one.agent.checkpoint.changed for one in run.iterations()[1:]] == [True, True]


def test_pitfall_05_a_goal_is_never_executed(build, request_for, repo, tmp_path):
    goal = f'Fix the "login" bug $(touch {tmp_path}/PWNED) `touch {tmp_path}/PWNED`; touch {tmp_path}/PWNED\n# \' "'
    code = f"import sys, pathlib; pathlib.Path({str(tmp_path / 'seen')!r}).write_text(sys.stdin.read())"
    agent = shlex.join([sys.executable, "-c", code])
    build(request_for(repo, goal=goal, agent_command=agent, max_iterations=1))
    assert goal in (tmp_path / "seen").read_text()
    assert not (tmp_path / "PWNED").exists()


def test_pitfall_06_an_agent_that_commits_by_itself_makes_progress(play, repo):
    """Three iterations, each with a commit of the agent's own, and the harness sees all three."""
    commit = {"run": ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "mine"]}
    rules = [{"when": {"call": n}, "do": [wrong(n), commit]} for n in (1, 2)]
    result, run = play(*rules, {"do": [WRITE_FIX, commit]})
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 3)
    assert git(repo, "rev-list", "--count", f"main..{result.branch}") == "3"
    assert all(one.agent.checkpoint.changed for one in run.iterations()[1:])


def test_pitfall_06_an_agent_that_does_nothing_is_stopped(play, repo):
    """No own log or state file counts as progress, and the run ends long before its limit."""
    result, run = play({"say": "thinking"}, max_iterations=20)
    assert result.reason is StopReason.STUCK
    assert result.iterations < 12
    assert git(repo, "rev-list", "--count", f"main..{result.branch}") == "0"
    assert all(one.agent.reply.outcome is AgentOutcome.NO_CHANGE for one in run.iterations()[1:])


def test_pitfall_07_a_refused_completion_is_not_taken_for_one(play, tmp_path):
    """The gate was green before, so a claim is needed; the word in a sentence is none."""
    place = make_repo(tmp_path / "green", GREEN)
    prose = "I will NOT output BUILDLOOP-DONE yet"
    rules = (
        {"when": {"call": 1}, "do": [{"write": "a.txt", "text": "a"}], "say": prose},
        {"do": [{"write": "b.txt", "text": "b"}], "say": "now it is", "done": True},
    )
    result, run = play(*rules, where=place)
    assert (result.reason, result.iterations) == (StopReason.COMPLETE, 2)
    assert "proves nothing" in (run.path / "iterations" / "1-2" / "prompt.md").read_text()


def test_pitfall_08_a_timeout_and_a_turn_limit_keep_the_work_and_go_on(play):
    rules = (
        {"when": {"call": 1}, "do": [wrong(1)], "outcome": "timeout"},
        {"when": {"call": 2}, "do": [wrong(2)], "outcome": "turn_limit"},
        {"do": [WRITE_FIX], "outcome": "timeout"},
    )
    result, run = play(*rules)
    assert (result.reason, result.iterations, result.sessions) == (StopReason.COMPLETE, 3, 1)
    assert all(one.agent.checkpoint.changed for one in run.iterations()[1:])


def test_pitfall_09_prose_is_not_fatal_and_bad_credentials_are_not_retried(play):
    rules = (
        {
            "when": {"call": 1},
            "do": [wrong(1)],
            "say": "I added a billing module. Error: invalid API key (401)",
        },
        {"outcome": "refused", "error": "invalid API key"},
    )
    result, run = play(*rules)
    assert (result.reason, result.exit_code, result.iterations) == (StopReason.AGENT_REFUSED, 4, 1)
    assert "invalid API key" in result.explanation
    assert calls_of(run) == 2
    assert not [e for e in read_events(run.path / "events.jsonl") if e["type"] == "loop.restart"]
