"""What an agent CLI is given and what it is kept from: environment, home, log-in, permissions, sessions."""

from __future__ import annotations

import json
import tempfile
import tomllib
from pathlib import Path

import pytest

from buildloop.agents.catalogue import CATALOGUE
from buildloop.agents.environment import agent_environment
from buildloop.agents.home import LOG_INS, agent_home, borrowed, forget_homes, scratch_folder
from buildloop.agents.prices import window_of
from buildloop.agents.registry import ADAPTERS, AGENTS, agent_for, cli_agent
from buildloop.agents.users_settings import read_settings
from buildloop.choices import SandboxKind
from buildloop.context.session import session_to_continue, window_in_force
from buildloop.errors import InputError
from buildloop.models import AgentOutcome, AgentReply, AgentRun, Checkpoint, Iteration, Permissions
from buildloop.process import ProcessResult
from buildloop.sandbox import Sandbox
from buildloop.storage_index import portable_files
from tests.support.calls import agent_call
from tests.support.states import report

GIVEN = {
    "PATH": "/bin", "HOME": "/home/me", "LC_ALL": "C", "JAVA_HOME": "/jdk", "GOPATH": "/go", "PYTHONPATH": "src",
    "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GOOGLE_CLOUD_PROJECT": "g", "AWS_SECRET_ACCESS_KEY": "s",
    "GITHUB_TOKEN": "t", "NPM_CONFIG_TOKEN": "n", "DATABASE_URL": "d", "CLAUDECODE": "1", "CODEX_SANDBOX": "x",
    "MY_SETTING": "m",
}  # fmt: skip


def own_prefixes(name: str, model: str | None = None, **more: str) -> tuple[str, ...]:
    with tempfile.TemporaryDirectory() as folder:
        call = agent_call(Path(folder), environment={**GIVEN, **more}, model=model)
        return ADAPTERS[name]().own_prefixes(call)


def test_every_agent_of_the_table_has_an_adapter():
    assert set(ADAPTERS) == set(CATALOGUE)
    assert set(CATALOGUE) < set(AGENTS)


def test_the_environment_has_what_the_gate_needs_and_the_agents_own_keys():
    kept = agent_environment(GIVEN, own_prefixes("claude"), ())
    assert {"PATH", "HOME", "LC_ALL", "JAVA_HOME", "GOPATH", "PYTHONPATH", "ANTHROPIC_API_KEY"} <= set(kept)
    assert not {"OPENAI_API_KEY", "GITHUB_TOKEN", "NPM_CONFIG_TOKEN", "DATABASE_URL", "MY_SETTING"} & set(
        kept
    )


def test_a_toolchains_setting_with_a_password_stays_out_but_the_proxy_is_needed():
    with_password = "https://user:pa55w0rdlong@host/simple"
    given = {
        "PIP_INDEX_URL": with_password, "GOPROXY": f"{with_password},direct", "NPM_CONFIG__AUTH": "dXNlcjpw",
        "COMPOSER_AUTH": "{}", "HTTPS_PROXY": with_password, "PIP_EXTRA_INDEX_URL": "https://host/simple",
    }  # fmt: skip
    assert set(agent_environment(given, (), ())) == {"HTTPS_PROXY", "PIP_EXTRA_INDEX_URL"}


def test_an_outer_session_of_an_agent_does_not_show():
    for name in ADAPTERS:
        assert not {"CLAUDECODE", "CODEX_SANDBOX"} & set(agent_environment(GIVEN, own_prefixes(name), ()))


@pytest.mark.parametrize(
    ("model", "kept"),
    [
        ("anthropic/claude-sonnet-4-5", {"ANTHROPIC_API_KEY"}),
        ("openai/gpt-5", {"OPENAI_API_KEY"}),
        ("bedrock/claude", {"AWS_SECRET_ACCESS_KEY"}),
        ("mine/m1", set()),
        ("gpt-5", {"OPENAI_API_KEY"}),
        ("o3-mini", {"OPENAI_API_KEY"}),
        ("sonnet", {"ANTHROPIC_API_KEY"}),
        ("gemini-2.5-pro", set()),
        (None, {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}),
    ],
)
def test_of_many_providers_keys_only_that_of_the_model_is_handed_on(model, kept):
    keys = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN"}
    for name in ("opencode", "aider"):
        assert keys & set(agent_environment(GIVEN, own_prefixes(name, model), ())) == kept


def test_the_keys_of_a_cloud_are_handed_on_where_the_model_comes_from_there(tmp_path):
    assert "AWS_SECRET_ACCESS_KEY" not in agent_environment(GIVEN, own_prefixes("claude"), ())
    bedrock = own_prefixes("claude", CLAUDE_CODE_USE_BEDROCK="1")
    assert "AWS_SECRET_ACCESS_KEY" in agent_environment(GIVEN, bedrock, ())


def test_what_the_user_names_is_passed_on():
    assert agent_environment(GIVEN, (), ("DATABASE_URL", "NOT_THERE"))["DATABASE_URL"] == "d"


def test_a_log_in_is_lent_and_a_renewed_one_given_back(tmp_path):
    users, own = tmp_path / "users.json", tmp_path / "home" / "auth.json"
    users.write_text("old")
    users.chmod(0o600)
    with borrowed({own: users}):
        assert own.read_text() == "old"
    assert not own.exists()
    with borrowed({own: users}):
        own.unlink()
        own.write_text("renewed")
    assert users.read_text() == "renewed"
    assert users.stat().st_mode & 0o777 == 0o600
    assert not own.exists()


def test_a_log_in_renewed_by_a_call_that_was_killed_is_given_back_by_the_next(tmp_path):
    users, own = tmp_path / "users.json", tmp_path / "auth.json"
    users.write_text("old")
    own.write_text("renewed")
    with borrowed({own: users}):
        assert own.read_text() == users.read_text() == "renewed"


def test_without_a_log_in_nothing_is_lent(tmp_path):
    with borrowed({tmp_path / "own": tmp_path / "missing"}):
        assert not (tmp_path / "own").exists()


def test_the_scratch_folder_is_short_whatever_the_mark_and_what_was_left_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    mark = f"/{'long/' * 60}state/runs/r1"
    killed = scratch_folder(mark)
    with scratch_folder("another"):
        stale = killed.__enter__()
        assert stale.exists()
        with scratch_folder(mark) as folder:
            assert folder.parent == tmp_path
            assert len(folder.name) < 40
            assert not stale.exists()
            assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == []


def test_of_codex_own_configuration_only_the_choice_of_the_model_is_taken(tmp_path):
    folder = tmp_path / "codex"
    folder.mkdir()
    (folder / "config.toml").write_text(
        'model_provider = "mine"\nnotify = ["spy"]\n[mcp_servers.x]\ncommand = "spy"\n'
        '[model_providers.mine]\nname = "mine"\nbase_url = "http://localhost/v1"\nenv_key = "MY_KEY"\n'
    )
    call = agent_call(tmp_path, environment={"HOME": "/", "CODEX_HOME": str(folder), "MY_KEY": "k"})
    invocation = ADAPTERS["codex"]().prepare(call, tmp_path, call.prompt)
    written = tomllib.loads((tmp_path / "config.toml").read_text())
    assert written["model_providers"]["mine"]["base_url"] == "http://localhost/v1"
    assert "notify" not in written
    assert "mcp_servers" not in written
    assert written["analytics"] == {"enabled": False}
    assert invocation.variables["MY_KEY"] == "k"


@pytest.mark.parametrize(
    ("agent", "variable", "text"),
    [
        ("codex", "CODEX_HOME", "not = = toml"),
        ("opencode", "OPENCODE_CONFIG", "{not json"),
        ("opencode", "OPENCODE_CONFIG", "[]"),
    ],
)
def test_a_broken_configuration_of_the_user_is_one_sentence_before_anything_starts(
    tmp_path, monkeypatch, request_for, repo, agent, variable, text
):
    place = tmp_path / "config.toml"
    place.write_text(text)
    monkeypatch.setenv(variable, str(tmp_path if agent == "codex" else place))
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}")
    with pytest.raises(InputError, match=f"cannot be read.*{variable}"):
        agent_for(request_for(repo, agent=agent))


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('{"a": 1} // end', {"a": 1}),
        ('{/* one\ntwo */ "a": "b // c", /* d */ "e": [1, 2,],\n}', {"a": "b // c", "e": [1, 2]}),
        (
            '{"url": "http://x/*y*/", "q": "\\" // no", "c": ",}"}',
            {"url": "http://x/*y*/", "q": '" // no', "c": ",}"},
        ),
        ("// nothing but a comment\n", {}),
    ],
)
def test_settings_may_have_comments_and_last_commas(tmp_path, text, meant):
    (tmp_path / "s.jsonc").write_text(text)
    assert read_settings(tmp_path / "s.jsonc", "") == meant


def test_of_opencodes_own_configuration_only_the_choice_of_the_model_is_taken(tmp_path):
    folder = tmp_path / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text(
        '{\n  // mine\n  "model": "a/b", "mcp": {"x": {}}, "provider": {"a": {}}\n}'
    )
    call = agent_call(tmp_path, environment={"HOME": str(tmp_path)}, permissions=Permissions.EDIT_ONLY)
    ADAPTERS["opencode"]().prepare(call, tmp_path / "run", call.prompt)
    written = json.loads((tmp_path / "run" / "opencode.json").read_text())
    assert written["model"] == "a/b"
    assert "mcp" not in written
    assert written["permission"]["bash"] == "deny"
    assert written["instructions"] == []


def test_opencode_is_told_to_read_the_notes_of_the_repository_and_of_the_folder_it_works_in(tmp_path):
    inside = tmp_path / "repo" / "inside"
    inside.mkdir(parents=True)
    for folder in (inside, inside.parent, tmp_path):
        (folder / "AGENTS.md").write_text("notes")
    call = agent_call(tmp_path, environment={}, workdir=inside, writable=(inside.parent,))
    ADAPTERS["opencode"]().prepare(call, tmp_path / "run", call.prompt)
    written = json.loads((tmp_path / "run" / "opencode.json").read_text())
    assert written["instructions"] == [str(inside.parent / "AGENTS.md"), str(inside / "AGENTS.md")]


def test_of_a_provider_of_the_users_own_only_the_keys_its_entry_names_are_handed_on(tmp_path):
    folder = tmp_path / ".opencode"
    folder.mkdir()
    entries = {
        "mine": {
            "env": ["MINE_TOKEN"],
            "options": {"apiKey": "{env:OTHER_NAME}", "baseURL": "{env:MINE_URL}"},
        },
        "theirs": {"env": ["THEIR_TOKEN"]},
    }
    (folder / "opencode.json").write_text(json.dumps({"provider": entries, "model": "mine/m1"}))
    call = agent_call(tmp_path, environment={"HOME": str(tmp_path)})
    prefixes = ADAPTERS["opencode"]().own_prefixes(call)
    assert {"MINE_TOKEN", "OTHER_NAME", "MINE_URL"} <= set(prefixes)
    assert not {"THEIR_TOKEN", "OPENAI_", "ANTHROPIC_"} & set(prefixes)


def test_codex_is_confined_by_settings_that_a_continued_session_takes_too(tmp_path, monkeypatch):
    monkeypatch.setattr("buildloop.agents.confine.can_confine", lambda: False)
    for resume in (None, "s1"):
        call = agent_call(tmp_path, environment={"HOME": "/"}, resume=resume)
        argv = ADAPTERS["codex"]().prepare(call, tmp_path / "run", call.prompt).argv
        assert 'sandbox_mode="workspace-write"' in argv
        assert "-s" not in argv


def test_keys_in_the_settings_of_the_user_reach_the_agent_as_they_are(tmp_path):
    key = "sk-" + "a1" * 20
    (tmp_path / ".config" / "opencode").mkdir(parents=True)
    (tmp_path / ".config" / "opencode" / "opencode.json").write_text(
        json.dumps({"provider": {"a": {"options": {"apiKey": key}}}})
    )
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(
        f'[model_providers.a]\nexperimental_bearer_token = "{key}"\n'
    )
    call = agent_call(tmp_path, environment={"HOME": str(tmp_path)})
    for name, file in (("opencode", "opencode.json"), ("codex", "config.toml")):
        home = agent_home(call, name)
        ADAPTERS[name]().prepare(call, home, call.prompt)
        assert key in (home / file).read_text()
        assert [folder.stat().st_mode & 0o777 for folder in (home, home.parent)] == [0o700, 0o700]
    assert [name for name, _ in portable_files(call.run_dir)] == []


def test_homes_go_with_the_end_of_a_run_but_not_a_log_in_of_the_users(tmp_path):
    call = agent_call(tmp_path, environment={"HOME": str(tmp_path)})
    lent = {}
    for name in ADAPTERS:
        home = agent_home(call, name)
        (home / "session.jsonl").write_text("raw")
        lent[name] = ADAPTERS[name]().prepare(call, home, call.prompt).lent
    assert {path.name for files in lent.values() for path in files} == LOG_INS
    (renewed,) = lent["codex"]
    renewed.write_text("renewed by a call that was killed")
    forget_homes(call.run_dir)
    assert [home.name for home in (call.run_dir / "agents").iterdir()] == ["codex"]


def test_in_a_sandbox_no_log_in_is_lent(tmp_path, monkeypatch):
    users = tmp_path / ".claude" / ".credentials.json"
    users.parent.mkdir()
    users.write_text("log-in")
    seen = []

    def run_process(argv, **options):
        own = tmp_path / "run" / "agents" / "claude" / ".credentials.json"
        seen.append((own.exists(), users in options["sandbox"].writable))
        return ProcessResult(exit_code=0, seconds=0.0, timed_out=False)

    monkeypatch.setattr("buildloop.agents.cli_agent.run_process", run_process)
    for kind in (SandboxKind.NONE, SandboxKind.BWRAP):
        call = agent_call(tmp_path, environment={"HOME": str(tmp_path)}, sandbox=Sandbox(kind))
        cli_agent("claude").run(call)
    assert seen == [(True, False), (False, False)]


@pytest.mark.parametrize(
    ("model", "window"),
    [
        ("gemini-2.5-pro", 1_048_576),
        ("google/gemini-2.5-flash", 1_048_576),
        ("opencode/claude-sonnet-4-5", 200_000),
        ("github-copilot/gpt-5", window_of("gpt-5")),
        ("mine/m1", None),
        (None, None),
    ],
)
def test_the_window_of_a_model_is_the_same_whoever_sells_it(model, window):
    assert window_of(model) == window


def test_a_program_that_is_not_installed_is_one_sentence_with_the_way_to_get_it(
    request_for, repo, monkeypatch
):
    monkeypatch.setenv("PATH", "/nowhere")
    for name, cli in CATALOGUE.items():
        with pytest.raises(InputError, match=f"{name}.*not installed.*install it with") as caught:
            agent_for(request_for(repo, agent=name))
        assert cli.install in str(caught.value)


def test_a_permission_the_agent_cannot_keep_is_refused_before_anything_starts(request_for, repo):
    with pytest.raises(InputError, match="Codex CLI has no way to allow edit-only; choose --permissions"):
        agent_for(request_for(repo, agent="codex", permissions="edit-only"))


def iteration(**reply) -> Iteration:
    point = Checkpoint(parent="a", commit="b", tree="t")
    given = {"outcome": AgentOutcome.OK, "agent": "claude", "session_id": "s1", **reply}
    run = AgentRun(reply=AgentReply(**given), checkpoint=point)
    return Iteration(session=1, number=1, reports=(report(),), agent=run)


def test_the_agents_session_goes_on_within_a_session_of_the_run(request_for, repo):
    request = request_for(repo)
    assert session_to_continue(request, "claude", iteration(), 1) == "s1"
    assert session_to_continue(request, "claude", iteration(outcome=AgentOutcome.TIMEOUT), 1) == "s1"


@pytest.mark.parametrize(
    ("agent", "session", "reply", "changes"),
    [
        ("codex", 1, {}, {}),
        ("claude", 2, {}, {}),
        ("claude", 1, {"outcome": AgentOutcome.OVERFLOW}, {}),
        ("claude", 1, {"outcome": AgentOutcome.HUNG}, {}),
        ("claude", 1, {"outcome": AgentOutcome.CRASHED}, {}),
        ("claude", 1, {"keeps_context": False}, {}),
        ("claude", 1, {}, {"agent_session": "fresh"}),
    ],
)
def test_otherwise_it_starts_anew(request_for, repo, agent, session, reply, changes):
    assert session_to_continue(request_for(repo, **changes), agent, iteration(**reply), session) is None


def test_the_window_is_the_users_else_the_agents_else_a_common_one(request_for, repo):
    told = [AgentReply(outcome=AgentOutcome.OK, context_window=1_000_000)]
    assert window_in_force(request_for(repo, context_window=5), told) == 5
    assert window_in_force(request_for(repo, context_window=0), told) == 0
    assert window_in_force(request_for(repo), told) == 1_000_000
    assert window_in_force(request_for(repo), []) == 200_000
