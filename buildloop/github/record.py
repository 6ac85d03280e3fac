"""What a run has made on GitHub, kept in its directory so that a resume changes it instead of making it again."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from buildloop.files import write_atomic
from buildloop.models import Frozen

FILE = "github.json"
DRY_RUN_FILE = "github-dry-run.md"


def heading(number: int) -> str:
    """Begins what an issue gives to a run's context, and so shows that it has been read."""
    return f"[issue #{number}]"


class GithubRecord(Frozen):
    comment: int | None = None
    comment_url: str = ""
    pull: int | None = None
    pull_url: str = ""


def load_record(run_dir: Path) -> GithubRecord:
    """Nothing, where there is none or it is damaged: then GitHub itself is asked what is there."""
    try:
        return GithubRecord.model_validate_json((run_dir / FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return GithubRecord()


def save_record(run_dir: Path, record: GithubRecord) -> None:
    write_atomic(run_dir / FILE, record.model_dump_json(indent=2) + "\n")
