"""One call of an agent CLI: prepared by its adapter, run under limits, read by its adapter."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from buildloop.agents.boundaries import confined
from buildloop.agents.catalogue import AgentCli
from buildloop.agents.contract import AgentCall, says_done
from buildloop.agents.environment import agent_environment
from buildloop.agents.home import agent_home, borrowed, scratch_folder
from buildloop.agents.prices import price_of, window_of
from buildloop.agents.reading import Output, Reading
from buildloop.agents.reset_times import reset_time
from buildloop.choices import SandboxKind
from buildloop.errors import InputError
from buildloop.files import write_atomic
from buildloop.models import AgentOutcome, AgentReply, Usage
from buildloop.process import ProcessResult, run_process

SPOKEN_CHARS = 4000
GRACE_SECONDS = 5.0
POINTER = "Your task is in the file {path} because it is long. Read all of it first, in parts if need be, then do it."


@dataclass(frozen=True, slots=True)
class Invocation:
    """How the CLI is called. `lent` are log-in files of the user's: {path in the agent's home: the user's file}."""

    argv: tuple[str, ...]
    variables: Mapping[str, str]
    stdin: Path | None = None
    lent: Mapping[Path, Path] = field(default_factory=dict)


class Adapter(Protocol):
    """What differs between the CLIs. `read` looks at files only: a recorded call reads like a live one."""

    @property
    def cli(self) -> AgentCli: ...

    def check(self, environment: Mapping[str, str]) -> None:
        """Whether the user's settings that will be taken over can be read: said before a run starts, not in it."""
        ...

    def own_prefixes(self, call: AgentCall) -> tuple[str, ...]:
        """How the names of the variables begin that are its own: keys, addresses, switches."""
        ...

    def prepare(self, call: AgentCall, home: Path, prompt: Path) -> Invocation: ...

    def read(self, output: Output) -> Reading: ...

    def session_is_gone(self, output: Output) -> bool: ...


class CliAgent:
    """An agent CLI behind the contract."""

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.name = adapter.cli.name

    def check(self) -> None:
        cli = self.adapter.cli
        if shutil.which(cli.name) is None:
            raise InputError(
                f"{cli.title} ({cli.name}) is not installed on this machine; install it with '{cli.install}'"
            )
        self.adapter.check(os.environ)

    def run(self, call: AgentCall) -> AgentReply:
        reading, result = self._once(call)
        if call.resume is not None and reading is None:
            reading, result = self._once(replace(call, resume=None))
        assert reading is not None
        return self._reply(call, reading, result)

    def _once(self, call: AgentCall) -> tuple[Reading | None, ProcessResult]:
        """None instead of a reading when the session to go on with is not there any more."""
        home = agent_home(call, self.name)
        out, err = call.output_dir / "agent.out", call.output_dir / "agent.err"
        invocation = self.adapter.prepare(call, home, self._prompt(call))
        # A sandbox hides the user's home, and with it the log-ins there.
        lent = invocation.lent if call.sandbox.kind is SandboxKind.NONE else {}
        started = time.time()
        with scratch_folder(call.mark) as scratch, borrowed(lent):
            kept = agent_environment(call.environment, self.adapter.own_prefixes(call), call.extra_env)
            result = run_process(
                confined(invocation.argv, call, home, tuple(lent.values())),
                cwd=call.workdir,
                environment={**kept, "TMPDIR": str(scratch), "TERM": "dumb", **invocation.variables},
                mark=call.mark,
                stdin=invocation.stdin,
                stdout=out,
                stderr=err,
                timeout=call.timeout,
                idle_timeout=call.idle_timeout,
                grace=GRACE_SECONDS,
                redact=call.redact,
                sandbox=call.sandbox.also(home, scratch),
            )
        output = Output(out, err, result.exit_code, home, call.workdir, started, call.resume)
        if call.resume is not None and not result.timed_out and self.adapter.session_is_gone(output):
            return None, result
        return self.adapter.read(output), result

    def _prompt(self, call: AgentCall) -> Path:
        """The prompt itself, or a note that points to it where it is too much for one message."""
        longest = self.adapter.cli.longest_prompt
        if longest is None or call.prompt.stat().st_size <= longest:
            return call.prompt
        note = call.output_dir / "prompt-note.md"
        write_atomic(note, POINTER.format(path=call.prompt) + "\n")
        return note

    def _reply(self, call: AgentCall, reading: Reading, result: ProcessResult) -> AgentReply:
        outcome, error = _ending(call, reading, result)
        error = call.redact(error)
        model = reading.model or call.model
        usage = reading.usage
        if usage.cost_usd is None:
            usage = usage.model_copy(update={"cost_usd": price_of(usage, model)})
        window = reading.context_window or window_of(model)
        if outcome is AgentOutcome.OVERFLOW and window is not None:
            usage = usage.model_copy(update={"context_tokens": window})
        waits = outcome is AgentOutcome.TRANSIENT
        return AgentReply(
            outcome=outcome,
            exit_code=result.exit_code,
            seconds=result.seconds,
            usage=Usage.model_validate(usage.model_dump()),
            claims_done=says_done(reading.text),
            text=reading.text[-SPOKEN_CHARS:],
            error=error,
            reset_at=(reading.reset_at or reset_time(error, datetime.now(UTC))) if waits else None,
            agent=self.name,
            model=model,
            session_id=reading.session_id,
            turns=reading.turns,
            denials=reading.denials,
            context_window=window,
            keeps_context=self.adapter.cli.resumes and call.keep_context,
        ).masked(call.redact)


def _ending(call: AgentCall, reading: Reading, result: ProcessResult) -> tuple[AgentOutcome, str]:
    """A limit of ours outranks what the CLI says about being stopped, but not an answer that was complete."""
    if result.timed_out and not (reading.finished and reading.outcome is AgentOutcome.OK):
        if result.idle:
            return (
                AgentOutcome.HUNG,
                f"no output for {call.idle_timeout:g} s, so it was stopped; its work was kept",
            )
        return AgentOutcome.TIMEOUT, f"stopped after {call.timeout:g} s; its work was kept"
    return reading.outcome, reading.error
