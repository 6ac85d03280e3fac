"""`buildloop diagnose` for people and for programs."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from buildloop.cli.diagnose import main, run_batch

FIELDS = [
    *("mode", "confidence", "runner_up", "evidence", "category", "error_class", "tests", "error_lines"),
    *("location", "actionability", "fingerprint"),
]
LOG = "E   ModuleNotFoundError: No module named 'sqlalchemy'\n"


def batch(*requests: object) -> list[dict]:
    lines = [request if isinstance(request, str) else json.dumps(request) for request in requests]
    answers = io.StringIO()
    assert run_batch([line + "\n" for line in lines], answers) == 0
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def log_request(**more: object) -> dict:
    return {"kind": "log", "id": "l", "text": LOG, **more}


def test_a_log_request_is_answered_in_full():
    (answer,) = batch(log_request(exit_code=1))
    assert list(answer) == ["id", *FIELDS]
    assert answer["mode"] == "dependency_issue"
    assert any("sqlalchemy" in line for line in answer["error_lines"])
    assert len(answer["error_lines"]) <= 20


def test_first_party_and_repo_decide_whose_a_module_is(tmp_path):
    (tmp_path / "sqlalchemy").mkdir()
    (tmp_path / "sqlalchemy" / "core.py").touch()
    known, found = batch(log_request(first_party=["sqlalchemy"]), log_request(repo=str(tmp_path)))
    assert known["mode"] == found["mode"] == "code_error"


def test_a_log_may_be_a_path(tmp_path):
    path = tmp_path / "gate.log"
    path.write_bytes(b"\xff\xfe\x00bad\n" + LOG.encode())
    (answer,) = batch({"kind": "log", "id": 7, "log": str(path)})
    assert (answer["id"], answer["mode"]) == (7, "dependency_issue")


def test_an_episode_request_is_answered_for_every_iteration():
    red = {"passed": False, "text": "E   assert 1 == 2\n", "exit_code": 1}
    (answer,) = batch(
        {"kind": "episode", "id": "e", "iterations": [{"passed": True, "tree": "A"}, {**red, "tree": "A"}]}
    )
    assert answer["modes"] == [None, "test_flakiness"]
    assert answer["mode"] == "test_flakiness"
    assert answer["evidence"]


def test_a_green_episode_has_no_mode():
    (answer,) = batch({"kind": "episode", "id": "e", "iterations": [{"passed": True}]})
    assert (answer["mode"], answer["modes"]) == (None, [None])


def test_a_pair_request():
    same, other = batch(
        {"kind": "pair", "id": "p", "a": "t.py:3: assert 1 == 2", "b": "t.py:9: assert 1 == 2"},
        {"kind": "pair", "id": "q", "a": "assert 1 == 2", "b": "assert 1 == 3"},
    )
    assert (same, other) == ({"id": "p", "same": True}, {"id": "q", "same": False})


BAD = {
    "no JSON": "{",
    "no object": "[1]",
    "no kind": {"id": "x"},
    "unknown kind": {"kind": "poem", "id": "x"},
    "no log": {"kind": "log", "id": "x"},
    "unreadable path": {"kind": "log", "id": "x", "log": "/nowhere/at/all.log"},
    "path with a null byte": {"kind": "log", "id": "x", "log": "a\0b"},
    "wrong exit code": {"kind": "log", "id": "x", "text": "", "exit_code": "1"},
    "wrong names": {"kind": "log", "id": "x", "text": "", "first_party": "shop"},
    "no iterations": {"kind": "episode", "id": "x", "iterations": []},
    "iteration without outcome": {"kind": "episode", "id": "x", "iterations": [{"text": ""}]},
    "half a pair": {"kind": "pair", "id": "x", "a": "1"},
}


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_bad_request_gets_an_error_and_the_rest_go_on(bad):
    first, second, third = batch(log_request(id="before"), bad, log_request(id="after"))
    assert (first["id"], third["id"]) == ("before", "after")
    assert isinstance(second["error"], str)
    assert second["id"] == (bad.get("id") if isinstance(bad, dict) else None)
    assert "mode" not in second


def test_each_answer_is_written_before_the_next_request_is_read():
    answers = io.StringIO()

    def requests():
        for number in range(3):
            assert len(answers.getvalue().splitlines()) == number
            yield json.dumps(log_request(id=number)) + "\n"

    run_batch(requests(), answers)


def test_a_person_gets_a_short_explanation(tmp_path, capsys):
    path = tmp_path / "gate.log"
    path.write_text(LOG)
    assert main([str(path)]) == 0
    shown = capsys.readouterr().out
    assert "dependency_issue" in shown
    assert "sqlalchemy" in shown
    assert "next" in shown
    assert "\x1b" not in shown
    assert len(shown.splitlines()) < 30


def test_json_for_one_log(tmp_path, capsys):
    path = tmp_path / "gate.log"
    path.write_text(LOG)
    assert main(["--json", str(path)]) == 0
    assert json.loads(capsys.readouterr().out)["mode"] == "dependency_issue"


def test_control_codes_of_a_log_never_reach_the_terminal(tmp_path, capsys):
    path = tmp_path / "gate.log"
    path.write_text("E   AssertionError: \x1b]0;owned\x07\x1b[2J\x1b[1;1H\u202egnp\x9b31m\x00 broken\n")
    assert main([str(path)]) == 0
    shown = capsys.readouterr().out
    assert not [
        char
        for char in shown
        if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160 or char == "\u202e")
    ]


@pytest.mark.parametrize("argv", [[], ["/nowhere/at/all.log"], ["--repo", "/nowhere", "-"]])
def test_bad_input_is_one_sentence_and_exit_2(argv, capsys):
    assert main(argv) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1


def test_standard_input_and_the_module_by_itself():
    run = subprocess.run(
        [sys.executable, "-m", "buildloop.cli.diagnose", "-", "--json"],
        input=LOG.encode(),
        capture_output=True,
        check=True,
    )
    assert json.loads(run.stdout)["mode"] == "dependency_issue"


def test_nothing_heavy_is_imported():
    code = "import sys, buildloop.cli.diagnose; print(sorted({m.split('.')[0] for m in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"prefect", "pydantic", "typer", "rich", "git", "psutil", "yaml"} & set(eval(run.stdout))


def test_an_unknown_option_is_one_sentence(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--nosuch"])
    said = capsys.readouterr().err
    assert (ended.value.code, len(said.splitlines())) == (2, 1)
    assert "--nosuch (see 'buildloop diagnose --help')" in said
