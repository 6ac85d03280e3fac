"""The contract, held by the real programs: each outcome, exact figures, nothing left behind."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

import psutil
import pytest

from buildloop.agents.catalogue import CATALOGUE
from buildloop.choices import SandboxKind
from buildloop.errors import InputError
from buildloop.models import AgentOutcome, Permissions
from buildloop.sandbox import Sandbox, check_sandbox, toolchains
from tests.agents.conftest import FIX, MODELS, READ, only_with_all
from tests.support.agent_clis import folder_of
from tests.support.waiting import content, eventually, processes_with

pytestmark = pytest.mark.slow

# Requests after which each gives up on a rate limit by itself; the slow ones ride out a single one instead.
PATIENCE = {"claude": 4, "codex": 1, "gemini": 3}
# Seconds of silence at the start that are normal.
START_UP = {"claude": 4, "codex": 4, "gemini": 25, "opencode": 60, "aider": 45}


def test_it_fixes_the_bug_and_every_figure_is_exact(driver):
    turns = [
        READ | {"usage": {"input": 10, "cache_read": 0, "output": 40}},
        FIX | {"usage": {"input": 20, "cache_read": 1000, "output": 30}},
        {"say": "Both done.\nBUILDLOOP-DONE", "usage": {"input": 5, "cache_read": 1500, "output": 20}},
    ]
    if driver.is_aider:
        turns = [FIX | {"usage": {"input": 5, "cache_read": 1500, "output": 20}}]
    settings = (driver.workdir / ".git" / "config").read_text()
    reply = driver.call(*turns)
    assert reply.outcome is AgentOutcome.OK
    assert "return a + b" in driver.source
    assert (driver.workdir / ".git" / "config").read_text() == settings
    assert driver.model.turns_left == 0
    assert (reply.agent, reply.model, reply.turns) == (driver.name, MODELS[driver.name], len(turns))
    assert reply.usage.context_tokens == 1525
    if driver.is_aider:
        assert (reply.usage.input_tokens, reply.usage.output_tokens) == (1505, 20)
    else:
        assert reply.claims_done
        assert (reply.usage.input_tokens, reply.usage.cache_read_tokens) == (35, 2500)
        assert (reply.usage.cache_write_tokens, reply.usage.output_tokens) == (0, 90)
    assert reply.usage.cost_usd is not None
    assert reply.usage.cost_usd > 0
    assert bool(reply.session_id) is CATALOGUE[driver.name].resumes
    assert processes_with(f"t-{driver.folder.name}") == []


@pytest.mark.parametrize("before", [pytest.param(0, marks=only_with_all), 1])
def test_a_full_context_is_an_overflow(driver, before):
    before = 0 if driver.is_aider else before
    reply = driver.call(*[READ] * before, {"error": "overflow", "times": -1})
    assert reply.outcome is AgentOutcome.OVERFLOW
    if reply.context_window:
        assert reply.usage.context_tokens == reply.context_window


def test_a_rate_limit_passes(driver):
    times = PATIENCE.get(driver.name)
    if times is None:
        assert driver.call({"error": "rate_limit"}, FIX, {"say": "Done."}).outcome is AgentOutcome.OK
        return
    reply = driver.call({"error": "rate_limit", "times": times})
    assert reply.outcome is AgentOutcome.TRANSIENT
    assert driver.model.turns_left == 0
    assert driver.call(READ, FIX, {"say": "Done."}).outcome is AgentOutcome.OK
    assert "return a + b" in driver.source


@pytest.mark.parametrize("kind", ["auth", pytest.param("not_found", marks=only_with_all)])
def test_what_no_retry_can_help_is_a_refusal(driver, kind):
    reply = driver.call({"error": kind, "times": -1})
    assert reply.outcome is AgentOutcome.REFUSED
    assert reply.error


def test_silence_is_a_hang(driver):
    reply = driver.call({"hang": True, "times": -1}, idle_timeout=START_UP[driver.name])
    assert reply.outcome is AgentOutcome.HUNG
    assert "no output" in reply.error
    assert processes_with(f"t-{driver.folder.name}") == []


@only_with_all
def test_a_time_limit_keeps_the_work(driver):
    if driver.is_aider:
        pytest.skip("aider makes one request only")
    reply = driver.call(READ, FIX, {"hang": True, "times": -1}, timeout=START_UP[driver.name] + 20)
    assert reply.outcome is AgentOutcome.TIMEOUT
    assert "return a + b" in driver.source
    assert reply.session_id
    assert reply.usage.output_tokens == 20
    assert reply.usage.cost_usd


def test_a_killed_program_is_a_crash_and_its_commands_die_with_it(driver):
    """Its tool runs in a session of its own, where a signal to the group does not reach."""
    code = "import os, time; open('tool.pid', 'w').write(str(os.getpid())); time.sleep(600)"
    turn = {"say": "Waiting.", "do": [{"run": f'python3 -c "{code}"'}]}
    replies = []
    thread = threading.Thread(
        target=lambda: replies.append(driver.call({"hang": True} if driver.is_aider else turn))
    )
    thread.start()
    if driver.is_aider:
        eventually(lambda: driver.model and driver.model.requests, 300)
    else:
        eventually(lambda: content(driver.workdir / "tool.pid"), 300)
    for pid in _programs(driver.name, f"t-{driver.folder.name}"):
        os.kill(pid, signal.SIGKILL)
    thread.join()
    assert replies[0].outcome is AgentOutcome.CRASHED
    assert processes_with(f"t-{driver.folder.name}") == []


@only_with_all
def test_what_it_leaves_running_ends_with_the_call(driver):
    if driver.is_aider:
        pytest.skip("aider runs no commands")
    left = {"say": "x", "do": [{"run": "setsid sleep 600 >/dev/null 2>&1 & echo started"}]}
    assert driver.call(left, {"say": "Done."}).outcome is AgentOutcome.OK
    assert processes_with(f"t-{driver.folder.name}") == []


def test_a_session_is_continued_and_a_lost_one_begun_anew(driver):
    if not CATALOGUE[driver.name].resumes:
        pytest.skip("each call starts anew")
    first = driver.call(READ, {"say": "The secret word is xyzzy."})
    again = driver.call({"say": "Done."}, resume=first.session_id)
    assert "xyzzy" in driver.model.requests[0].text
    assert again.usage.output_tokens == 10
    assert again.turns == 1
    lost = driver.call({"say": "Done."}, resume="00000000-0000-4000-8000-000000000000")
    assert lost.outcome is AgentOutcome.OK
    assert "xyzzy" not in driver.model.requests[0].text


@only_with_all
def test_it_may_edit_and_nothing_else(driver):
    if Permissions.EDIT_ONLY not in CATALOGUE[driver.name].permissions or driver.is_aider:
        pytest.skip("not a choice for this one")
    _settings_of_opencode(Path(driver.environment["HOME"]), driver.folder / "hook-ran")
    run = {"say": "x", "do": [{"run": "touch made-by-command"}]}
    reply = driver.call(READ, run, FIX, {"say": "Done."}, permissions=Permissions.EDIT_ONLY)
    assert reply.outcome is AgentOutcome.OK
    assert "return a + b" in driver.source
    assert not (driver.workdir / "made-by-command").exists()
    assert any(name.lower().startswith(("bash", "run_shell_command")) for name in reply.denials), (
        reply.denials
    )


@only_with_all
def test_a_prompt_of_two_megabytes(driver):
    """Whole, or as a file it is told to read."""
    prompt = "Fix calc.py.\n" + "some words of context\n" * 100_000
    reply = driver.call(FIX if driver.is_aider else READ, {"say": "Done."}, prompt=prompt)
    assert reply.outcome is AgentOutcome.OK
    sent = driver.model.requests[0].text
    assert sent.count("some words of context") == 100_000 or str(driver.folder / "out" / "prompt.md") in sent


@only_with_all
def test_a_limit_of_turns_keeps_the_work(driver):
    if not CATALOGUE[driver.name].limits_turns:
        pytest.skip("this one has no such limit")
    reply = driver.call(READ, FIX, READ, READ, READ, READ, max_turns=3)
    assert reply.outcome is AgentOutcome.TURN_LIMIT
    assert "return a + b" in driver.source


def test_the_users_own_settings_hooks_and_secrets_stay_out(driver, monkeypatch):
    """Neither the user's hooks nor those of the repository run; no secret but the agent's own is there. What the
    repository has to say to agents is read."""
    if driver.is_aider:
        pytest.skip("aider runs no commands")
    marker = driver.folder / "hook-ran"
    hook = (
        f'{{"hooks": {{"PreToolUse": [{{"hooks": [{{"type": "command", "command": "touch {marker}"}}]}}]}}}}'
    )
    for folder in (
        driver.folder / "work" / ".claude",
        *(Path(driver.environment["HOME"]) / name for name in (".claude", ".gemini")),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(hook)
    _settings_of_opencode(Path(driver.environment["HOME"]), marker)
    driver.environment |= {
        "GITHUB_SECRET": "not-for-agents",
        "MY_DB_PASSWORD": "not-for-agents",
        "CLAUDECODE": "1",
    }
    for name in ("CLAUDE.md", "AGENTS.md", "GEMINI.md"):
        (driver.workdir / name).write_text("Remember the word plugh.\n")
    show = {"say": "x", "do": [{"run": "env > seen.txt"}]}
    assert driver.call(show, {"say": "Done."}).outcome is AgentOutcome.OK
    assert not marker.exists()
    assert "plugh" in driver.model.requests[0].text
    seen = (driver.workdir / "seen.txt").read_text()
    assert "not-for-agents" not in seen
    assert "PATH=" in seen


def test_where_the_kernel_has_no_boundary_codex_goes_on_in_its_own(driver, monkeypatch):
    if driver.name != "codex":
        pytest.skip("the others have none of their own")
    monkeypatch.setattr("buildloop.agents.confine.can_confine", lambda: False)
    first = driver.call(READ, {"say": "The secret word is xyzzy."})
    again = driver.call({"say": "Done."}, resume=first.session_id)
    assert (first.outcome, again.outcome) == (AgentOutcome.OK, AgentOutcome.OK)
    assert "xyzzy" in driver.model.requests[0].text
    assert again.session_id == first.session_id


def test_what_is_left_of_the_budget_bounds_a_call(driver):
    if driver.name != "claude":
        pytest.skip("only Claude Code can be told")
    dear = READ | {"usage": {"input": 10_000, "cache_read": 0, "output": 4000}}
    first = driver.call(dear, dear, dear, {"say": "Done."}, budget_usd=0.1)
    assert first.outcome is AgentOutcome.TURN_LIMIT
    assert "budget" in first.error
    assert first.usage.cost_usd == pytest.approx(0.18)
    again = driver.call(dear, {"say": "Done."}, budget_usd=0.1, resume=first.session_id)
    assert again.outcome is AgentOutcome.OK
    assert again.usage.cost_usd == pytest.approx(0.09, abs=0.01)


def _settings_of_opencode(home: Path, marker: Path) -> None:
    """It looks into this folder of the home too, after whatever file it is told to take."""
    server = {"type": "local", "command": ["touch", str(marker)], "enabled": True}
    (home / ".opencode").mkdir(parents=True, exist_ok=True)
    settings = {"mcp": {"spy": server}, "permission": {"bash": "allow"}}
    (home / ".opencode" / "opencode.json").write_text(json.dumps(settings))


@only_with_all
def test_it_works_in_a_sandbox(driver):
    if driver.is_aider:
        pytest.skip("aider runs no commands")
    readable = (folder_of(CATALOGUE[driver.name]), *toolchains(os.environ))
    sandbox = Sandbox(SandboxKind.BWRAP, (driver.workdir, driver.folder / "out"), readable)
    try:
        check_sandbox(sandbox)
    except InputError as error:
        pytest.skip(str(error))
    look = {"say": "x", "do": [{"run": f"ls {Path.home()} > seen.txt; echo done"}]}
    reply = driver.call(READ, FIX, look, {"say": "Done."}, sandbox=sandbox)
    assert reply.outcome is AgentOutcome.OK
    assert "return a + b" in driver.source


def _programs(name: str, mark: str) -> list[int]:
    """The CLI itself: what our guard started, not what it runs."""
    found = []
    for pid in processes_with(mark):
        words = psutil.Process(pid).cmdline()
        if any(word.endswith(f"/{name}") or word == name for word in words) and "guard.py" not in " ".join(
            words
        ):
            found.append(pid)
    return found
