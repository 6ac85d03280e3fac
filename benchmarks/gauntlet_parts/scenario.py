"""A scenario: a small repository, a gate, an agent that reacts, and how it should end."""

from __future__ import annotations

import shlex
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError, model_validator

from buildloop.agents.scripted import Rule, load_script
from buildloop.errors import InputError
from buildloop.files import write_json
from buildloop.models import Frozen, Usage
from buildloop.result import StopReason

PYTHON = "{python}"
# What a call costs when a rule does not say. The fill is given too: each call is a process of its own.
ORDINARY_CALL = Usage(input_tokens=8000, output_tokens=600, context_tokens=30_000)


class Archive(Frozen):
    """A package file (.whl or .tgz) made from text, so that dependencies need no network."""

    path: str
    files: dict[str, str]


class Scenario(Frozen):
    """`protected` files are put back before the judge looks; `judge` decides what a policy's claim is worth."""

    name: str
    description: str
    goal: str
    files: dict[str, str] = Field(default_factory=dict)
    folder: str | None = None
    archive: tuple[Archive, ...] = ()
    gate: tuple[str, ...] = Field(min_length=1)
    accept: str | None = None
    cap: int = Field(20, ge=1)
    gate_timeout: float = Field(60, gt=0)
    context_window: int = 200_000
    solvable: bool
    expect: StopReason
    requires: Literal["integrity"] | None = None
    needs: tuple[str, ...] = ()
    judge: tuple[str, ...] = ()
    protected: tuple[str, ...] = ("test*",)
    rule: tuple[Rule, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _consistent(self) -> Scenario:
        if self.solvable != (self.expect is StopReason.COMPLETE):
            raise ValueError("solvable is true exactly where expect is 'complete'")
        if not self.files and not self.folder:
            raise ValueError("give files or a folder")
        return self

    @property
    def gate_commands(self) -> tuple[str, ...]:
        return tuple(with_python(command) for command in self.gate)

    @property
    def accept_command(self) -> str | None:
        return with_python(self.accept) if self.accept else None

    @property
    def all_commands(self) -> tuple[str, ...]:
        """What a user with one gate and no acceptance command would put into it."""
        return (*self.gate_commands, *filter(None, (self.accept_command,)))

    @property
    def judge_commands(self) -> tuple[str, ...]:
        return tuple(with_python(command) for command in self.judge) or self.all_commands

    @property
    def missing_programs(self) -> tuple[str, ...]:
        return tuple(program for program in self.needs if shutil.which(program) is None)

    def write_agent_script(self, path: Path) -> Path:
        write_json(path, {"rule": [_complete(rule).model_dump(mode="json") for rule in self.rule]})
        load_script(path)
        return path


def load_scenarios(folder: Path) -> list[Scenario]:
    paths = sorted(folder.glob("*.toml"))
    if not paths:
        raise InputError(f"there are no scenarios (*.toml) in {folder}")
    return [load_scenario(path) for path in paths]


def load_scenario(path: Path) -> Scenario:
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
        scenario = Scenario.model_validate({"name": path.stem, **given})
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(f"the scenario {path} is not usable: {where} {first['msg']}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"the scenario {path} cannot be read: {error}") from None
    if scenario.folder is None:
        return scenario
    return scenario.model_copy(update={"folder": str((path.parent / scenario.folder).resolve())})


def with_python(command: str) -> str:
    return command.replace(PYTHON, shlex.quote(sys.executable))


def _complete(rule: Rule) -> Rule:
    """The rule with this machine's interpreter, and with an ordinary price unless it has its own."""
    actions = tuple(
        action.model_copy(update={"run": tuple(word.replace(PYTHON, sys.executable) for word in action.run)})
        if action.run
        else action
        for action in rule.do
    )
    priced = rule.usage if rule.usage != Usage() else ORDINARY_CALL
    return rule.model_copy(update={"do": actions, "usage": priced})
