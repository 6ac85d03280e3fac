"""A person's decision about a run that would end, kept beside the run under the question it answers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import Field, ValidationError

from buildloop.files import write_atomic
from buildloop.models import Frozen
from buildloop.people.hints import LONGEST_HINT

ANSWERS = "answers"


class Choice(StrEnum):
    CONTINUE = "continue"
    ACCEPT = "accept"
    STOP = "stop"


class Answer(Frozen):
    """What to do now; the numbers are added to what the run may use."""

    choice: Choice = Choice.CONTINUE
    hint: str = Field("", max_length=LONGEST_HINT)
    more_iterations: int = Field(5, ge=0, le=1000)
    more_usd: float = Field(0, ge=0, allow_inf_nan=False)
    more_minutes: float = Field(0, ge=0, allow_inf_nan=False)
    more_tokens: int = Field(0, ge=0)


def read_answer(run_dir: Path, key: str) -> Answer | None:
    """None where there is no answer, or one that cannot be read: then the question is still open."""
    return _read(run_dir / ANSWERS / f"{key}.json")


def write_answer(run_dir: Path, key: str, answer: Answer) -> None:
    """The first answer to a question is the answer: a run that has gone on with it is not told another."""
    if read_answer(run_dir, key) is None:
        write_atomic(run_dir / ANSWERS / f"{key}.json", answer.model_dump_json(indent=2) + "\n")


def forget_stops(run_dir: Path) -> None:
    """Somebody who starts a stopped run again wants it to go on; the question it stopped with is open again."""
    for path in _stops(run_dir):
        path.unlink(missing_ok=True)


def was_stopped(run_dir: Path) -> bool:
    """Whether a person has answered that the run shall end, and nobody has started it again since."""
    return bool(_stops(run_dir))


def _stops(run_dir: Path) -> list[Path]:
    answers = (run_dir / ANSWERS).glob("*.json")
    return [path for path in answers if (known := _read(path)) is not None and known.choice is Choice.STOP]


def _read(path: Path) -> Answer | None:
    try:
        return Answer.model_validate_json(path.read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
