"""What memory said about the failure a run ended with, kept beside the run for reports that are made later."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError

from buildloop.files import write_atomic
from buildloop.models import Frozen
from buildloop.report.error_context import SimilarFailure, memory_is_off

FILE = "advice.json"


class Advice(Frozen):
    similar: tuple[SimilarFailure, ...] = ()
    actions: tuple[str, ...] = ()
    memory_off: bool = Field(default_factory=memory_is_off)


def load_advice(run_dir: Path) -> Advice:
    """None given, or a damaged file, is no advice: reports have defaults of their own."""
    try:
        return Advice.model_validate_json((run_dir / FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return Advice()


def save_advice(run_dir: Path, advice: Advice) -> None:
    write_atomic(run_dir / FILE, advice.model_dump_json(indent=2) + "\n")
