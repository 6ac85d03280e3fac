"""Any program as an agent: prompt on stdin, outcome from status and exit code, never from prose."""

from __future__ import annotations

import json
import shlex
import sys

import pytest

from buildloop.agents.command import CommandAgent, read_output
from buildloop.agents.contract import says_done
from buildloop.errors import InputError
from buildloop.models import AgentOutcome, Usage
from tests.support.calls import agent_call

# These wait for real processes to end or to be ended.
pytestmark = pytest.mark.slow


def run_python(folder, code: str, prompt: str = "the prompt", **changes: object):
    command = shlex.join([sys.executable, "-I", "-S", "-c", code])
    return CommandAgent(command).run(agent_call(folder, prompt, **changes))


def test_the_prompt_comes_on_stdin_and_the_work_stays_in_the_workspace(tmp_path):
    reply = run_python(tmp_path, "import sys; open('got', 'w').write(sys.stdin.read())", prompt="p" * 300_000)
    assert (tmp_path / "work" / "got").read_text() == "p" * 300_000
    assert (reply.outcome, reply.exit_code) == (AgentOutcome.OK, 0)


def test_the_command_is_words_not_shell(tmp_path):
    reply = CommandAgent("echo '$(touch pwned)' ';' touch pwned").run(agent_call(tmp_path))
    assert reply.text == "$(touch pwned) ; touch pwned\n"
    assert not (tmp_path / "work" / "pwned").exists()


def test_the_last_line_may_be_a_status_line(tmp_path):
    status = {"outcome": "turn_limit", "usage": {"input_tokens": 7, "cost_usd": 0.5}, "error": "40 turns"}
    reply = run_python(tmp_path, f"print('I am on it'); print({json.dumps(status)!r})")
    assert reply.outcome is AgentOutcome.TURN_LIMIT
    assert reply.usage == Usage(input_tokens=7, cost_usd=0.5)
    assert reply.error == "40 turns"
    assert reply.text == "I am on it"


def test_a_status_line_that_is_not_the_last_is_prose():
    spoken, status, _ = read_output('{"outcome": "refused"}\nand then I went on\n')
    assert status.outcome is AgentOutcome.OK
    assert "refused" in spoken


@pytest.mark.parametrize(
    "line", ['{"outcome": "fine"}', '{"use": 1}', '{"usage": {"input_tokens": "many"}}', "[1]", "{broken"]
)
def test_a_status_line_that_is_not_one_is_not_believed(line):
    spoken, status, _ = read_output(f"hello\n{line}")
    assert (status.outcome, status.usage) == (AgentOutcome.OK, Usage())
    assert spoken == f"hello\n{line}"


def test_no_figures_mean_unknown_not_zero():
    assert read_output("hello")[1].usage.input_tokens is None


def test_an_exit_code_other_than_0_is_a_crash_with_its_last_words(tmp_path):
    reply = run_python(tmp_path, "import sys; print('boom', file=sys.stderr); sys.exit(9)")
    assert (reply.outcome, reply.exit_code) == (AgentOutcome.CRASHED, 9)
    assert "exit code 9: boom" in reply.error


def test_a_reported_outcome_outranks_the_exit_code(tmp_path):
    reply = run_python(tmp_path, 'print(\'{"outcome": "refused"}\'); raise SystemExit(1)')
    assert reply.outcome is AgentOutcome.REFUSED


def test_a_timeout_is_an_outcome_and_what_was_done_stays(tmp_path):
    code = "import time; open('half', 'w').write('work'); print('so far', flush=True); time.sleep(600)"
    reply = run_python(tmp_path, code, timeout=1)
    assert reply.outcome is AgentOutcome.TIMEOUT
    assert "so far" in reply.text
    assert (tmp_path / "work" / "half").read_text() == "work"


@pytest.mark.parametrize(
    "prose",
    ["invalid API key", "I added a billing module", "rate limit exceeded", "Fatal error: context window"],
)
def test_prose_decides_nothing(tmp_path, prose):
    reply = run_python(tmp_path, f"print({prose!r})")
    assert reply.outcome is AgentOutcome.OK


@pytest.mark.parametrize("said", ["BUILDLOOP-DONE", "all good\n\n  BUILDLOOP-DONE  \n\n"])
def test_the_claim_is_the_last_line_of_its_own(said):
    assert says_done(said)


@pytest.mark.parametrize(
    "said",
    [
        "",
        "I will NOT output BUILDLOOP-DONE yet",
        "BUILDLOOP-DONE\nbut one thing is left",
        "`BUILDLOOP-DONE`",
        "buildloop-done",
    ],
)
def test_the_word_elsewhere_is_no_claim(said):
    assert not says_done(said)


def test_the_claim_may_stand_before_the_status_line(tmp_path):
    assert run_python(tmp_path, "print('BUILDLOOP-DONE'); print('{}')").claims_done


def test_a_program_that_is_not_there_is_said_before_the_run(tmp_path):
    with pytest.raises(InputError, match="no-such-agent"):
        CommandAgent("no-such-agent --now").check(tmp_path)
    (tmp_path / "agent.sh").write_text("")
    CommandAgent("./agent.sh").check(tmp_path)


def test_only_the_end_of_much_output_is_kept(tmp_path):
    reply = run_python(tmp_path, "print('x' * 1_000_000); print('the end')")
    assert reply.text.endswith("the end\n")
    assert len(reply.text) <= 4000


def test_a_token_that_only_shows_when_the_status_line_is_read_is_masked(tmp_path):
    line = (
        '{"outcome": "refused", "error": "not with \\u0067hp_' + "q8Zr3Lk9Xw2Vb7Nm4Tc6Yh1Jd5Fg0SaPeRuK" + '"}'
    )
    reply = run_python(tmp_path, f"print({line!r})")
    assert (reply.outcome, reply.error) == (AgentOutcome.REFUSED, "not with [masked]")


def test_other_ends_of_lines_do_not_cut_the_status_line():
    _, status, problem = read_output('done\n{"outcome": "turn_limit", "error": "one\u2028two\x85three"}\n')
    assert (status.outcome, status.error, problem) == (AgentOutcome.TURN_LIMIT, "one\u2028two\x85three", "")
