"""The supervisor's memory: one file a request, replaced as a whole. One supervisor at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from buildloop.errors import RunLocked
from buildloop.events import EventLog, read_events
from buildloop.files import write_atomic
from buildloop.supervise.model import Case


@dataclass(frozen=True, slots=True)
class Ledger:
    folder: Path

    @property
    def events(self) -> EventLog:
        return EventLog(self.folder / "events.jsonl", self.folder.name)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """The kernel lets go when the holder dies, however it dies."""
        self.folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        except BlockingIOError:
            raise RunLocked(
                f"another supervisor works on {self.folder}; it looks again soon enough"
            ) from None
        finally:
            os.close(descriptor)

    def case(self, request_id: str) -> Case | None:
        path = self._path(request_id)
        return Case.model_validate_json(path.read_bytes()) if path.exists() else None

    def cases(self) -> list[Case]:
        paths = sorted((self.folder / "cases").glob("*.json"))
        return [Case.model_validate_json(path.read_bytes()) for path in paths]

    def write(self, case: Case) -> Case:
        write_atomic(self._path(case.id), case.model_dump_json(indent=2) + "\n")
        return case

    def untold(self, event: str, case: Case) -> bool:
        """Whether this was not told yet for the last attempt; a crash may have kept us from writing that down."""
        told = (each for each in read_events(self.events.path) if each["type"] == event)
        attempt = len(case.attempts)
        return not any(each.get("issue") == case.id and each.get("attempt") == attempt for each in told)

    def _path(self, request_id: str) -> Path:
        """Readable, and different for ids that differ only in what a file name cannot hold."""
        safe = re.sub(r"[^A-Za-z0-9._-]+", "-", request_id)[:60].strip(".")
        mark = sha256(request_id.encode("utf-8", "surrogateescape")).hexdigest()[:8]
        return self.folder / "cases" / f"{safe}-{mark}.json"
