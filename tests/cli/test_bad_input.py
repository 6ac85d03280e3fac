"""Bad input gets one clear sentence and exit code 2, and nothing is changed anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import run_buildloop
from tests.support.repos import every_file, git, write_files

pytestmark = pytest.mark.slow

GOOD = ("--test", "true", "--agent-command", "true")


@pytest.fixture
def refused(repo, tmp_path):
    """Run the command in a world of its own; returns the sentence after checking that nothing else happened."""

    def run(*arguments: str, **options: object) -> str:
        before = every_file(tmp_path)
        ended = run_buildloop(*arguments, cwd=tmp_path, **options)
        assert ended.returncode == 2, ended.stderr
        assert ended.stdout == ""
        assert "Traceback" not in ended.stderr
        lines = ended.stderr.splitlines()
        assert len(lines) == 1, ended.stderr
        assert lines[0].startswith("buildloop: ")
        assert every_file(tmp_path) == before
        return lines[0]

    return run


def run_in(repo: Path, *arguments: str, goal: str = "goal") -> tuple[str, ...]:
    return ("run", goal, "--repo", str(repo), "--state-dir", str(repo.parent / "state"), *arguments)


def test_not_a_git_repository(refused, tmp_path):
    (tmp_path / "plain").mkdir()
    assert "is not a git repository; run 'git init'" in refused(*run_in(tmp_path / "plain", *GOOD))


def test_no_such_folder(refused, tmp_path):
    assert "is not a directory" in refused(*run_in(tmp_path / "missing", *GOOD))


def test_the_home_of_a_user_nobody_knows(refused):
    assert "is not a directory" in refused(*run_in(Path("~nobody-has-this-name/project"), *GOOD))


def test_no_commits_yet(refused, tmp_path):
    git(tmp_path, "init", "-q", "empty")
    assert "has no commits yet" in refused(*run_in(tmp_path / "empty", *GOOD))


def test_a_bare_repository(refused, tmp_path):
    git(tmp_path, "init", "-q", "--bare", "bare.git")
    assert "is a bare repository" in refused(*run_in(tmp_path / "bare.git", *GOOD))


@pytest.mark.parametrize("goal", ["", " \n\t "])
def test_an_empty_goal(refused, repo, goal):
    assert "the goal must not be empty; say what to achieve, or name an issue" in refused(
        *run_in(repo, *GOOD, goal=goal)
    )


def test_an_unknown_agent_names_the_known_ones(refused, repo):
    said = refused(*run_in(repo, "--test", "true", "--agent", "comand"))
    assert "no agent 'comand'; did you mean 'command'?" in said
    assert "scripted" in said


def test_no_agent_at_all(refused, repo):
    assert "no agent was chosen; give --agent claude" in refused(*run_in(repo, "--test", "true"))


def test_an_agent_program_that_is_not_there(refused, repo):
    said = refused(*run_in(repo, "--test", "true", "--agent-command", "no-such-agent --go"))
    assert "the agent program 'no-such-agent' was not found" in said


def test_an_agent_script_that_is_not_there(refused, repo):
    said = refused(*run_in(repo, "--test", "true", "--agent-script", "none.toml"))
    assert "none.toml does not exist" in said


def test_no_test_command_and_none_to_detect(refused, repo):
    (repo / "test_calc.py").unlink()
    git(repo, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qam", "no tests")
    assert "give the gate command with --test" in refused(*run_in(repo, "--agent-command", "true"))


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--context-threshold", "0"),
        ("--context-threshold", "101"),
        ("--max-iterations", "-1"),
        ("--agent-timeout", "-5"),
        ("--gate-timeout", "inf"),
        ("--max-restarts", "many"),
        ("--branch", "main"),
    ],
)
def test_a_value_that_cannot_work_names_its_flag(refused, repo, flag, value):
    assert flag in refused(*run_in(repo, *GOOD, flag, value))


def test_an_unknown_option(refused, repo):
    assert "--max-iteration" in refused(*run_in(repo, *GOOD, "--max-iteration", "3"))


def test_a_missing_goal(refused):
    assert "GOAL" in refused("run").upper()


def test_an_unknown_command(refused):
    assert "rnu" in refused("rnu", "goal")


def test_uncommitted_changes_name_both_ways_out(refused, repo):
    write_files(repo, {"calc.py": "changed"})
    said = refused(*run_in(repo, *GOOD))
    assert "calc.py" in said
    assert "--include-dirty" in said
    assert "--from-head" in said
    both = refused(*run_in(repo, *GOOD, "--include-dirty", "--from-head"))
    assert "exclude each other" in both


@pytest.mark.parametrize("kind", ["folder", "bytes", "syntax"])
def test_an_unreadable_config(refused, repo, kind):
    path = repo / "buildloop.toml"
    if kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"\xff\xfe\x00" if kind == "bytes" else b"test = [")
    said = refused(*run_in(repo, *GOOD, "--from-head"))
    assert "buildloop.toml" in said
    assert ("is a folder" if kind == "folder" else "is not valid TOML") in said


def test_a_wrong_key_names_the_nearest_right_one(refused, repo):
    (repo / "buildloop.toml").write_text("max_iteration = 3\n")
    assert "did you mean 'max_iterations'?" in refused(*run_in(repo, *GOOD, "--from-head"))
    (repo / "buildloop.toml").unlink()
    said = refused(*run_in(repo, *GOOD), env={"BUILDLOOP_AGENT_TIMEOT": "3"})
    assert "did you mean 'BUILDLOOP_AGENT_TIMEOUT'?" in said


def test_a_state_dir_that_cannot_be_written(refused, repo, tmp_path):
    (tmp_path / "file").write_text("")
    arguments = ("run", "goal", "--repo", str(repo), *GOOD, "--state-dir")
    assert "cannot be written" in refused(*arguments, str(tmp_path / "file"))
    assert "cannot be written" in refused(*arguments, str(tmp_path / "file" / "below"))
    assert "cannot be written" in refused(*arguments, "/proc/buildloop")


def test_a_prefect_server_that_does_not_answer(repo, tmp_path):
    """Nothing was started: no branch, no worktree, no run to list."""
    before = every_file(repo)
    ended = run_buildloop(*run_in(repo, *GOOD), api_url="http://127.0.0.1:9/api")
    assert (ended.returncode, ended.stdout, len(ended.stderr.splitlines())) == (2, "", 1)
    assert "http://127.0.0.1:9/api does not answer" in ended.stderr
    assert every_file(repo) == before
    listed = run_buildloop("status", "--json", "--state-dir", str(tmp_path / "state"))
    assert json.loads(listed.stdout) == []


@pytest.mark.parametrize("command", ["resume", "report", "status"])
def test_a_run_that_does_not_exist(refused, tmp_path, command):
    (tmp_path / "state" / "runs").mkdir(parents=True)
    said = refused(command, "no-such-run", "--state-dir", str(tmp_path / "state"))
    assert "there are no runs in" in said


def test_a_damaged_request_is_said_with_its_path(refused, tmp_path):
    write_files(tmp_path, {"state/runs/r1/request.json": "{"})
    for command in ("resume", "report", "status"):
        said = refused(command, "r1", "--state-dir", str(tmp_path / "state"))
        assert "r1/request.json is damaged" in said


def test_init_wants_a_repository(refused, tmp_path):
    (tmp_path / "plain").mkdir()
    assert "is not a git repository" in refused("init", str(tmp_path / "plain"))


def test_init_does_not_replace_a_config(refused, repo):
    (repo / "buildloop.toml").write_text("max_iterations = 3\n")
    assert "use --force" in refused("init", str(repo))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ui", "--port", "99999"), "must be at most 65535 (see 'buildloop ui --help')"),
        (("run", "--nosuch"), "there is no option --nosuch (see 'buildloop run --help')"),
        (("memory", "export", "missing/file"), "make it first, or name another file"),
    ],
)
def test_what_cannot_be_done_is_said_at_once(refused, arguments, said):
    assert said in refused(*arguments)


def test_an_unknown_report_format(refused, tmp_path):
    assert "choose terminal, markdown, github, html, json" in refused(
        "report", "--format", "pdf", "--state-dir", str(tmp_path)
    )
