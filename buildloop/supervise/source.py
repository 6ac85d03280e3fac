"""Where requests come from, and where a person reads what became of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

from buildloop.decode import from_json, from_toml
from buildloop.files import write_atomic


@dataclass(frozen=True, slots=True)
class Item:
    """One request as its source has it. `problem` says why it cannot be read."""

    id: str
    title: str
    digest: str
    fields: Mapping[str, Any]
    problem: str = ""


class Source(Protocol):
    def items(self) -> list[Item]:
        """All requests there are at the moment."""

    def say(self, request_id: str, key: str, text: str) -> None:
        """Tell the people who asked. Said again with the same key, it is not said twice."""


@dataclass(frozen=True, slots=True)
class DirectorySource:
    """A folder of request files (`*.toml`, `*.json`) with the settings of a run; answers go to `<name>.answers/`."""

    folder: Path
    defaults: Mapping[str, Any]

    def items(self) -> list[Item]:
        paths = [path for path in sorted(self.folder.iterdir()) if path.suffix in (".toml", ".json")]
        return [self._item(path) for path in paths if path.is_file() and not path.name.startswith(".")]

    def say(self, request_id: str, key: str, text: str) -> None:
        write_atomic(self.folder / f"{request_id}.answers" / f"{key}.md", text.rstrip() + "\n")

    def _item(self, path: Path) -> Item:
        content = b""
        try:
            content = path.read_bytes()
            text = content.decode("utf-8")
            fields = from_json(text) if path.suffix == ".json" else from_toml(text)
            problem = "" if isinstance(fields, dict) else "it must be a table of settings"
        except (OSError, ValueError) as error:
            fields, problem = {}, f"it cannot be read: {error}"
        given = {**self.defaults, **fields} if not problem else {}
        title = str(given.get("goal", path.stem)).strip().partition("\n")[0]
        return Item(path.name, title, sha256(content).hexdigest(), given, problem)
