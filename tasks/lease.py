"""One run, one machine, where runs are kept in a bucket: a lease that its holder renews, and that runs out by itself.

The lock of the run directory is only seen on one machine. Whoever finds a lease waits until it runs out, or until it is
renewed: then its holder is alive. A holder that was taken for dead, because its machine slept, notices before it keeps
anything.
"""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from secrets import token_hex

import psutil
from pydantic import ValidationError

from buildloop.errors import RunLocked
from buildloop.models import Frozen
from buildloop.request import BuildRequest
from buildloop.storage import bucket
from tasks.bucket_store import Store

LEASE = "lease.json"
LEASE_SECONDS = 60.0
RENEW_SECONDS = 15.0
LOOK_SECONDS = 0.5
LOOKS = 20


class Lease(Frozen):
    owner: str
    host: str
    pid: int
    expires: float

    @property
    def over(self) -> bool:
        """Run out, or of a process of this machine that is gone."""
        gone = self.host == socket.gethostname() and not psutil.pid_exists(self.pid)
        return gone or self.expires < time.time()


# The leases of this process, by run directory.
_held: dict[Path, tuple[Store, str]] = {}


@contextlib.contextmanager
def leased(request: BuildRequest) -> Iterator[None]:
    """Hold the run against other machines. Without a bucket there are none."""
    url = bucket(os.environ)
    if url is None:
        yield
        return
    store, owner = Store.of(url, str(request.run_id)), token_hex(8)
    _take(store, owner, str(request.run_id))
    _held[request.run_dir] = (store, owner)
    try:
        with _renewing(store, owner):
            yield
    finally:
        del _held[request.run_dir]
        if _is_ours(store, owner):
            store.delete(LEASE)


def check_lease(run_dir: Path) -> None:
    """Raises where another machine works on the run by now."""
    if run_dir not in _held:
        return
    store, owner = _held[run_dir]
    if not _is_ours(store, owner):
        raise _refusal(run_dir.name, _read(store))


def _take(store: Store, owner: str, run_id: str) -> None:
    first: Lease | None = None
    while True:
        found = _read(store)
        if found is None or found.over:
            if found is not None:
                store.delete(LEASE)
            if store.create(LEASE, _written(owner)) and _is_ours(store, owner):
                return
        elif first is not None and found != first:
            raise _refusal(run_id, found)
        else:
            first = found
        time.sleep(LOOK_SECONDS)


@contextlib.contextmanager
def _renewing(store: Store, owner: str) -> Iterator[None]:
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(RENEW_SECONDS):
            with contextlib.suppress(
                OSError
            ):  # storage that is away for a while; what is kept is checked again
                if not _is_ours(store, owner):
                    return
                store.write(LEASE, _written(owner))

    thread = threading.Thread(target=renew, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _read(store: Store) -> Lease | None:
    """One that cannot be read may be just being written; if it stays so, its writer was cut off, and it is over."""
    for _ in range(LOOKS):
        found = store.read(LEASE)
        if found is None:
            return None
        with contextlib.suppress(ValidationError):
            return Lease.model_validate_json(found)
        time.sleep(LOOK_SECONDS)
    return Lease(owner="", host="", pid=0, expires=0)


def _is_ours(store: Store, owner: str) -> bool:
    found = _read(store)
    return found is not None and found.owner == owner


def _written(owner: str) -> bytes:
    lease = Lease(
        owner=owner, host=socket.gethostname(), pid=os.getpid(), expires=time.time() + LEASE_SECONDS
    )
    return lease.model_dump_json().encode()


def _refusal(run_id: str, found: Lease | None) -> RunLocked:
    by = f"by process {found.pid} on {found.host}" if found else "by another machine"
    return RunLocked(f"run {run_id} is being worked on {by}; wait for it, or cancel it there")
