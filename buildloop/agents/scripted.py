"""An agent played from a rule file: how demos, tests and benchmarks meet one that reacts to its prompt.

Rules are tried in order; the first whose `when` fits is played. See docs/scripted-agent.md.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from buildloop.agents.contract import DONE_LINE, AgentCall
from buildloop.decode import from_json, from_toml
from buildloop.errors import InputError
from buildloop.files import write_atomic, write_json
from buildloop.models import AgentOutcome, AgentReply, Frozen, Usage
from buildloop.process import run_process

STATE_FILE = "scripted-agent.json"


class FileState(Frozen):
    path: str
    contains: str | None = None
    exists: bool = True


class When(Frozen):
    """All given conditions must hold. `prompt` and `not_prompt` are regular expressions (multi-line)."""

    call: int | tuple[int, ...] | None = None
    session: int | None = None
    model: str | None = None
    prompt: str | None = None
    not_prompt: str | None = None
    file: FileState | None = None
    times: int | None = Field(None, ge=1, description="Play this rule at most so often in a run.")


class Action(Frozen):
    """Exactly one of write, patch, delete, run."""

    write: str | None = None
    text: str = ""
    patch: str | None = None
    find: str = ""
    replace: str = ""
    delete: str | None = None
    run: tuple[str, ...] | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Action:
        given = [name for name in ("write", "patch", "delete", "run") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError("each action is exactly one of write, patch, delete, run")
        return self


class Rule(Frozen):
    name: str = ""
    when: When = When()
    do: tuple[Action, ...] = ()
    say: str = ""
    done: bool = False
    outcome: AgentOutcome = AgentOutcome.OK
    error: str = ""
    reset_in: float | None = Field(None, description="Seconds after which a transient agent answers again.")
    usage: Usage = Usage()


class Script(Frozen):
    rule: tuple[Rule, ...] = Field(min_length=1)


class ScriptedAgent:
    name = "scripted"

    def __init__(self, path: Path) -> None:
        self.script = load_script(path)

    def run(self, call: AgentCall) -> AgentReply:
        state_file = call.run_dir / STATE_FILE
        played: dict[str, int] = json.loads(state_file.read_text()) if state_file.exists() else {}
        prompt = call.prompt.read_text(encoding="utf-8", errors="surrogateescape")
        calls = sum(played.values()) + 1
        index = next(
            (i for i, r in enumerate(self.script.rule) if _fits(r, i, call, calls, prompt, played)), None
        )
        if index is None:
            return AgentReply(outcome=AgentOutcome.OK, exit_code=0, text="no rule fits; nothing done")
        rule = self.script.rule[index]
        seconds = sum(_play(action, call) for action in rule.do)
        write_json(state_file, {**played, str(index): played.get(str(index), 0) + 1}, view=True)
        spoken = "\n".join(filter(None, (rule.say, DONE_LINE if rule.done else "")))
        write_atomic(call.output_dir / "agent.out", spoken + "\n", view=True)
        return AgentReply(
            outcome=rule.outcome,
            exit_code=0 if rule.outcome is AgentOutcome.OK else 1,
            seconds=seconds,
            usage=rule.usage,
            claims_done=rule.done,
            text=spoken,
            reset_at=datetime.now(UTC) + timedelta(seconds=rule.reset_in)
            if rule.reset_in is not None
            else None,
            error=rule.error or ("" if rule.outcome is AgentOutcome.OK else f"scripted {rule.outcome}"),
        ).masked(call.redact)


def load_script(path: Path) -> Script:
    try:
        text = path.read_text(encoding="utf-8")
        given: Any = from_json(text) if path.suffix == ".json" else from_toml(text)
        script = Script.model_validate(given)
        for rule in script.rule:
            for pattern in (rule.when.prompt, rule.when.not_prompt):
                re.compile(pattern or "")
    except FileNotFoundError:
        raise InputError(f"the agent script {path} does not exist; check --agent-script") from None
    except IsADirectoryError:
        raise InputError(f"the agent script {path} is a folder; name the rule file in it") from None
    except (OSError, UnicodeDecodeError, ValueError, re.error) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise InputError(f"the agent script {path} cannot be read: {reason}") from None
    return script


def _fits(rule: Rule, index: int, call: AgentCall, calls: int, prompt: str, played: dict[str, int]) -> bool:
    when = rule.when
    wanted = (when.call,) if isinstance(when.call, int) else when.call
    return (
        (wanted is None or calls in wanted)
        and (when.session is None or when.session == call.session)
        and (when.model is None or when.model == call.model)
        and (when.prompt is None or re.search(when.prompt, prompt, re.M) is not None)
        and (when.not_prompt is None or re.search(when.not_prompt, prompt, re.M) is None)
        and (when.file is None or _file_fits(when.file, call.workdir))
        and (when.times is None or played.get(str(index), 0) < when.times)
    )


def _file_fits(wanted: FileState, workdir: Path) -> bool:
    path = _inside(workdir, wanted.path)
    if not path.is_file():
        return not wanted.exists
    return wanted.exists and (wanted.contains is None or wanted.contains in path.read_text(errors="replace"))


def _play(action: Action, call: AgentCall) -> float:
    """Do one action in the workspace; the seconds it took, where it runs something."""
    if action.write is not None:
        write_atomic(_inside(call.workdir, action.write), action.text, raw=True)
    elif action.patch is not None:
        path = _inside(call.workdir, action.patch)
        write_atomic(path, path.read_text(encoding="utf-8").replace(action.find, action.replace), raw=True)
    elif action.delete is not None:
        _inside(call.workdir, action.delete).unlink(missing_ok=True)
    elif action.run is not None:
        result = run_process(
            action.run,
            cwd=call.workdir,
            environment=call.environment,
            mark=call.mark,
            stdout=call.output_dir / "agent.err",
            timeout=call.timeout,
            redact=call.redact,
            sandbox=call.sandbox,
        )
        return result.seconds
    return 0.0


def _inside(workdir: Path, name: str) -> Path:
    path = (workdir / name).resolve()
    if not path.is_relative_to(workdir.resolve()):
        raise InputError(f"the agent script names {name!r}, which is outside the workspace")
    return path
