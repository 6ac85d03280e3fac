"""One run's place in a bucket: objects named by their content, an index that is written last, and a lease."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

from fsspec.core import url_to_fs  # type: ignore[import-untyped]
from pydantic import ValidationError

from buildloop.errors import InputError
from buildloop.storage_index import Index

CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Store:
    """`files` is whichever file system fsspec has for the URL."""

    files: Any
    place: str

    @classmethod
    def of(cls, url: str, run_id: str) -> Store:
        try:
            files, path = url_to_fs(url)
        except (ImportError, ValueError) as error:
            why = str(error).splitlines()[0]
            raise InputError(f"BUILDLOOP_STORAGE={url} cannot be used: {why}") from None
        return cls(files, f"{path}/runs/{run_id}")

    def index(self) -> Index | None:
        found = self.read("index.json")
        try:
            return None if found is None else Index.model_validate_json(found)
        except ValidationError as error:
            why = str(error).splitlines()[0]
            raise InputError(
                f"{self.place}/index.json is damaged: {why}; the run cannot be taken up"
            ) from None

    def write_index(self, index: Index) -> None:
        self.write("index.json", index.model_dump_json().encode())

    def put(self, path: Path, digest: str) -> None:
        target = self._object(digest)
        self.files.makedirs(target.rpartition("/")[0], exist_ok=True)
        self.files.put_file(str(path), target)

    def get(self, digest: str, path: Path) -> None:
        """An object that is not what its name says was cut off on its way, or changed by somebody."""
        self.files.get_file(self._object(digest), str(path))
        if digest_of(path) != digest:
            raise InputError(f"{self._object(digest)} is damaged; the run cannot be taken up from there")

    def remove(self, digests: set[str]) -> None:
        for digest in digests:
            with contextlib.suppress(FileNotFoundError):
                self.files.rm_file(self._object(digest))

    def read(self, name: str) -> bytes | None:
        try:
            # What others have written since must be seen, whatever was listed before.
            self.files.invalidate_cache()
            content: bytes = self.files.cat_file(f"{self.place}/{name}")
        except FileNotFoundError:
            return None
        return content

    def write(self, name: str, content: bytes) -> None:
        """Moved into place: whoever reads it sees the old content or the new."""
        draft = f"{self.place}/{name}-{token_hex(4)}"
        self._write(draft, content)
        self.files.mv(draft, f"{self.place}/{name}")

    def create(self, name: str, content: bytes) -> bool:
        """Whether it was not there. One of several that try at once succeeds, where the file system can tell."""
        target = f"{self.place}/{name}"
        self.files.makedirs(self.place, exist_ok=True)
        try:
            with self.files.open(target, "xb") as stream:
                stream.write(content)
        except FileExistsError:
            return False
        except (ValueError, NotImplementedError):  # a file system that does not know this mode
            if self.files.exists(target):
                return False
            self._write(target, content)
        return True

    def delete(self, name: str) -> None:
        try:
            self.files.rm_file(f"{self.place}/{name}")
        except FileNotFoundError:
            return

    def _object(self, digest: str) -> str:
        return f"{self.place}/objects/{digest}"

    def _write(self, target: str, content: bytes) -> None:
        self.files.makedirs(target.rpartition("/")[0], exist_ok=True)
        self.files.pipe_file(target, content)


def digest_of(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            found.update(chunk)
    return found.hexdigest()
