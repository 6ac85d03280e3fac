"""Options the chosen agents have no use for are refused or told of; none does nothing in silence."""

from __future__ import annotations

import pytest

from buildloop.agents.registry import check_agents
from buildloop.agents.unused_options import unused_options
from buildloop.errors import InputError


@pytest.fixture(autouse=True)
def everything_is_installed(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")


def test_a_model_that_no_agent_is_left_for_is_refused(request_for, repo):
    with pytest.raises(InputError, match=r"--model sonnet would not be used.*leave one of them out"):
        check_agents(request_for(repo, agent="claude:opus", model="sonnet"))
    check_agents(request_for(repo, agent="claude:opus,codex", model="gpt-5"))


def test_a_program_of_the_users_own_cannot_be_kept_from_running_commands(request_for, repo):
    with pytest.raises(InputError, match=r"edit-only cannot be kept by agent 'command'.*--sandbox bwrap"):
        check_agents(request_for(repo, agent="claude,command", agent_command="fix", permissions="edit-only"))
    check_agents(request_for(repo, agent="claude", permissions="edit-only"))


@pytest.mark.parametrize(
    ("options", "notes"),
    [
        ({"agent": "codex", "max_turns": 3}, ["--max-turns"]),
        ({"agent": "codex,claude", "max_turns": 3}, []),
        (
            {"agent": "command", "agent_command": "fix", "agent_env": ("A",), "model": "m"},
            ["--agent-env", "--model"],
        ),
        ({"agent": "command,claude", "agent_command": "fix", "agent_env": ("A",), "model": "m"}, []),
        ({"agent": "claude", "agent_command": "fix"}, ["--agent-command"]),
        ({"agent": "claude", "agent_script": "rules.toml"}, ["--agent-script"]),
    ],
)
def test_what_does_nothing_is_said(request_for, repo, options, notes):
    told = unused_options(request_for(repo, **{"agent_command": None, **options}))
    assert [note.split()[0] for note in told] == notes
    assert all("does nothing: " in note for note in told)
