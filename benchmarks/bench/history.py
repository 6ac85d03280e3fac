"""What earlier runs of the benchmarks measured: one JSON file a run, never changed afterwards."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field, ValidationError

from benchmarks.bench.figure import Figure, Measured
from benchmarks.bench.machine import Machine
from benchmarks.bench.place import ROOT
from buildloop.errors import InputError
from buildloop.files import write_atomic
from buildloop.frozen import Frozen

# Full runs are worth keeping in the repository; quick ones only say whether something is badly wrong.
FULL, QUICK = ROOT / "benchmarks" / "history", ROOT / "benchmarks" / "results" / "quick"


class Entry(Frozen):
    at: str
    commit: str
    code: str
    quick: bool
    seconds: float
    machine: Machine
    measured: Measured
    failed: dict[str, str] = Field(default_factory=dict)
    took: dict[str, float] = Field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.at.replace(':', '').replace('-', '')}-{self.commit.rstrip('+')}"

    @property
    def figures(self) -> dict[str, Figure]:
        return {figure.key: figure for figure in self.measured.figures}

    @property
    def missed(self) -> list[Figure]:
        return [figure for figure in self.measured.figures if figure.met is False]


def save(entry: Entry) -> Path:
    path = (QUICK if entry.quick else FULL) / f"{entry.name}.json"
    write_atomic(path, entry.model_dump_json(indent=1) + "\n")
    return path


def load(path: Path) -> Entry:
    try:
        return Entry.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        known = ", ".join(entry.stem for entry in entries(quick=False)[-5:]) or "none yet"
        raise InputError(f"there is no run of the benchmarks at {path}; known: {known}") from None
    except ValidationError as error:
        raise InputError(f"{path} is no run of the benchmarks: {str(error).splitlines()[0]}") from None


def entries(*, quick: bool) -> list[Path]:
    """Oldest first."""
    return sorted((QUICK if quick else FULL).glob("*.json"))


def run_before(entry: Entry) -> Entry | None:
    """The last run of the same kind on the same machine and the same code: the two differ by chance only."""
    for path in reversed(entries(quick=entry.quick)):
        try:
            other = load(path)
        except InputError:
            continue
        same_machine = (other.machine.cpu, other.machine.cores) == (entry.machine.cpu, entry.machine.cores)
        if same_machine and other.code == entry.code and other.at < entry.at:
            return other
    return None


def find(word: str) -> Path:
    """A path, the name of a run, or `last` and `before`."""
    if word in ("last", "before"):
        known = entries(quick=False)
        place = -1 if word == "last" else -2
        if len(known) < -place:
            raise InputError(f"there are only {len(known)} full runs in {FULL}; make one with 'make bench'")
        return known[place]
    given = Path(word)
    if given.exists():
        return given
    found = [path for path in (*entries(quick=False), *entries(quick=True)) if path.stem.startswith(word)]
    return found[0] if len(found) == 1 else FULL / f"{word}.json"
