"""Where memory is kept: a SQLite file in the user's data directory, or what BUILDLOOP_MEMORY_URL says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit

from platformdirs import user_data_path

from buildloop.errors import InputError
from buildloop.home import from_home
from buildloop.patterns import Regex

VARIABLE = "BUILDLOOP_MEMORY_URL"
FILE = "memory.db"
BAD_ESCAPE = Regex(r"%(?![0-9A-Fa-f]{2})")
# PostgreSQL's other spelling, or half an address: no file is meant, and it may hold a password.
CONNECTION_WORDS = Regex(r"(?:postgres(?:ql)?:|(?:\S+\s*=.*\s)?(?:host|hostaddr|dbname|user|password)\s*=)")


class Kind(StrEnum):
    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Location:
    """`target` is a path or a connection URL; `shown` is the same for people, without user and password."""

    kind: Kind
    target: str

    @property
    def shown(self) -> str:
        if self.kind is not Kind.POSTGRESQL:
            return self.target
        parts = urlsplit(self.target)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def memory_location(environment: Mapping[str, str]) -> Location:
    given = environment.get(VARIABLE, "").strip()
    if not given:
        return Location(Kind.SQLITE, str(user_data_path("buildloop") / FILE))
    if given.lower() in ("off", "none"):
        return Location(Kind.OFF, "off")
    scheme, separator, rest = given.partition("://")
    if not separator and not CONNECTION_WORDS.match(given):
        return Location(Kind.SQLITE, str(from_home(given).absolute()))
    if scheme in ("postgresql", "postgres"):
        return Location(Kind.POSTGRESQL, _checked(given))
    if scheme == "sqlite" and rest.strip("/"):
        return Location(Kind.SQLITE, str(from_home(rest.removeprefix("/")).absolute()))
    raise InputError(
        f"{VARIABLE} is not usable: give a path, sqlite:///PATH, postgresql://USER:PASSWORD@HOST/DATABASE, or off"
    )


def _checked(url: str) -> str:
    """Only an address that can be read in one way: what one reader takes for a host, another takes for the rest of a
    password, and says so. One that cannot is not repeated."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 (reading it is the check)
        beside = url.removeprefix(f"{parts.scheme}://").replace(parts.netloc, "", 1)
        clear = parts.netloc.count("@") <= 1 and "@" not in beside and not BAD_ESCAPE.search(url)
    except ValueError:
        clear = False
    if not clear:
        raise InputError(
            f"{VARIABLE} is not a valid postgresql:// URL; check host and port, and write special characters of "
            "user and password as %XX (@ as %40, / as %2F, % as %25)"
        )
    return url
