"""Where memory is kept: a SQLite file in the user's data directory, or what BUILDLOOP_MEMORY_URL says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_data_path

from buildloop.errors import InputError

VARIABLE = "BUILDLOOP_MEMORY_URL"
FILE = "memory.db"


class Kind(StrEnum):
    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Location:
    """`target` is a path or a connection URL; `shown` is the same without a password, for people."""

    kind: Kind
    target: str

    @property
    def shown(self) -> str:
        if self.kind is not Kind.POSTGRESQL:
            return self.target
        parts = urlsplit(self.target)
        user = f"{parts.username}@" if parts.username else ""
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{user}{parts.hostname or ''}{port}{parts.path}"


def memory_location(environment: Mapping[str, str]) -> Location:
    given = environment.get(VARIABLE, "").strip()
    if not given:
        return Location(Kind.SQLITE, str(user_data_path("buildloop") / FILE))
    if given.lower() in ("off", "none"):
        return Location(Kind.OFF, "off")
    scheme, separator, rest = given.partition("://")
    if not separator:
        return Location(Kind.SQLITE, str(Path(given).expanduser().absolute()))
    if scheme in ("postgresql", "postgres"):
        return Location(Kind.POSTGRESQL, _checked(given))
    if scheme == "sqlite" and rest.strip("/"):
        return Location(Kind.SQLITE, str(Path(rest.removeprefix("/")).expanduser().absolute()))
    raise InputError(
        f"{VARIABLE} is not usable: give a path, sqlite:///PATH, postgresql://USER:PASSWORD@HOST/DATABASE, or off"
    )


def _checked(url: str) -> str:
    """A password must not end up in a sentence, so a URL that cannot be taken apart is not repeated."""
    try:
        urlsplit(url).port  # noqa: B018 (reading it is the check)
    except ValueError:
        raise InputError(
            f"{VARIABLE} is not a valid postgresql:// URL; check host, port and escaping"
        ) from None
    return url
