"""A connection to PostgreSQL that is there in time or not at all, and whose address no error repeats."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from buildloop.errors import MemoryUnavailable
from buildloop.memory.location import VARIABLE, Location
from buildloop.memory.store import LOOKUP_SECONDS, WRITE_SECONDS, Row
from buildloop.redact import MASK

if TYPE_CHECKING:
    import psycopg

NAMESPACE = "buildloop_memory"
NO_ANSWER = "the server did not answer in time"


def driver() -> ModuleType:
    try:
        import psycopg  # noqa: PLC0415 (an extra)
    except ImportError:
        raise MemoryUnavailable(
            f"memory in PostgreSQL needs its driver; install buildloop[postgres], or unset {VARIABLE}"
        ) from None
    return psycopg


def connected(location: Location, seconds: float) -> psycopg.Connection[Row]:
    """In a thread of its own: nothing interrupts the lookup of a name, or a server that takes a connection and then
    says nothing. A connection that comes too late is closed."""
    given, attempt = _parameters(location, seconds), _Attempt()
    thread = threading.Thread(target=attempt.make, args=(given,), daemon=True)
    thread.start()
    thread.join(seconds)
    with attempt.lock:
        attempt.given_up = True
        if attempt.connection is not None:
            return attempt.connection
    if attempt.problem is not None:
        raise attempt.problem
    raise MemoryUnavailable(f"the memory at {location.shown} cannot be used: {NO_ANSWER}")


def hang_up(connection: psycopg.Connection[Row]) -> None:
    """End whatever waits for the server: it reads the end of the connection."""
    with suppress(OSError, driver().Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
        line.shutdown(socket.SHUT_RDWR)


class _Attempt:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.given_up = False
        self.connection: psycopg.Connection[Row] | None = None
        self.problem: Exception | None = None

    def make(self, given: dict[str, Any]) -> None:
        try:
            made = driver().connect(
                **given,
                autocommit=True,
                # A plan made for the value at hand knows how frequent this very word is.
                prepare_threshold=None,
            )
            made.execute(f"SET search_path TO {NAMESPACE}; SET statement_timeout = '{WRITE_SECONDS:.0f}s'")
        except Exception as problem:  # told by the thread that waits for it
            self.problem = problem
            return
        with self.lock:
            if not self.given_up:
                self.connection = made
                return
        made.close()


def _parameters(location: Location, seconds: float) -> dict[str, Any]:
    """Taken apart before it is used: the complaint about an address that cannot be read quotes it."""
    psycopg = driver()
    from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 (an extra)

    try:
        given = conninfo_to_dict(location.target)
    except psycopg.Error:
        raise MemoryUnavailable(
            f"the memory cannot be used: {VARIABLE} is not an address that PostgreSQL understands"
        ) from None
    defaults = {"tcp_user_timeout": int(LOOKUP_SECONDS * 1000), "application_name": "buildloop"}
    return {**defaults, **given, "connect_timeout": max(2, round(seconds))}  # less than 2 it does not take


def without_names(reason: str, location: Location) -> str:
    """What a server says, without the user it says it of."""
    parts = urlsplit(location.target)
    for name in filter(None, (parts.username, parts.password)):
        reason = reason.replace(f'"{unquote(name)}"', f'"{MASK}"')
    return reason
