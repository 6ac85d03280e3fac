"""Any program as an agent: prompt on stdin, work in the workspace, an optional JSON line at the end.

The last line of standard output may be one JSON object:

    {"outcome": "ok", "usage": {"input_tokens": 1200, "output_tokens": 80, "context_tokens": 9000}}

`outcome` is one of the `AgentOutcome` values; `usage` has the fields of `Usage`; both may be left out.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from buildloop.agents.contract import AgentCall, says_done
from buildloop.decode import from_json
from buildloop.errors import InputError
from buildloop.models import AgentOutcome, AgentReply, Frozen, Usage
from buildloop.process import run_process

SPOKEN_CHARS = 4000
TAIL_BYTES = 256 * 1024


class StatusLine(Frozen):
    outcome: AgentOutcome = AgentOutcome.OK
    usage: Usage = Usage()
    error: str = ""


class CommandAgent:
    name = "command"

    def __init__(self, command: str) -> None:
        self._argv = shlex.split(command)

    def check(self, workdir: Path) -> None:
        program = self._argv[0]
        if shutil.which(program) is None and not (workdir / program).is_file():
            raise InputError(f"the agent program {program!r} was not found; check --agent-command")

    def run(self, call: AgentCall) -> AgentReply:
        out, err = call.output_dir / "agent.out", call.output_dir / "agent.err"
        result = run_process(
            self._argv,
            cwd=call.workdir,
            environment=call.environment,
            mark=call.mark,
            stdin=call.prompt,
            stdout=out,
            stderr=err,
            timeout=call.timeout,
            redact=call.redact,
            sandbox=call.sandbox,
        )
        spoken, status, problem = read_output(_tail(out))
        outcome, error = status.outcome, status.error or problem
        if result.timed_out:
            outcome, error = AgentOutcome.TIMEOUT, f"stopped after {call.timeout:g} s; its work was kept"
        elif result.exit_code != 0 and outcome is AgentOutcome.OK:
            outcome = AgentOutcome.CRASHED
            error = f"ended with exit code {result.exit_code}: {_last_line(_tail(err))}"
        return AgentReply(
            outcome=outcome,
            exit_code=result.exit_code,
            seconds=result.seconds,
            usage=status.usage,
            claims_done=says_done(spoken),
            text=spoken[-SPOKEN_CHARS:],
            error=error,
        ).masked(call.redact)


def read_output(text: str) -> tuple[str, StatusLine, str]:
    """What the program said, its status line, and what is wrong with that line if anything."""
    lines = text.rstrip().split("\n")  # other line ends may stand inside of JSON
    if not lines or not lines[-1].lstrip().startswith("{"):
        return text, StatusLine(), ""
    try:
        given: Any = from_json(lines[-1])
        status = StatusLine.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        return text, StatusLine(), f"its status line was ignored: {where}: {first['msg']}"
    except ValueError:
        return text, StatusLine(), ""
    return "\n".join(lines[:-1]), status, ""


def _tail(path: Path) -> str:
    with path.open("rb") as stream:
        stream.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return stream.read().decode("utf-8", "replace")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no message"
