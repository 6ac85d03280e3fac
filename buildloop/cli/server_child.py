"""The embedded Prefect server: lives as long as some buildloop command uses it, and not a second longer.

    python -m buildloop.cli.server_child FOLDER [PORT]

Every command that uses the server holds a shared lock on FOLDER/clients.lock. The kernel drops that lock when
the command ends, however it ends. Once the server can have the lock for itself, nobody is left, and it goes.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import sys
import threading
import time
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from buildloop.files import write_json

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession, AsyncSessionTransaction

POLL_SECONDS = 0.3
SHUTDOWN_SECONDS = 5.0


def main() -> None:
    folder = Path(sys.argv[1])
    listener = _listen(int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    port = listener.getsockname()[1]
    os.environ["PREFECT_API_URL"] = f"http://127.0.0.1:{port}/api"
    os.environ["PREFECT_UI_API_URL"] = f"http://127.0.0.1:{port}/api"
    gone = threading.Event()
    threading.Thread(target=_wait_for_nobody, args=(folder / "clients.lock", gone), daemon=True).start()

    import uvicorn
    from prefect.server.api.server import create_app

    _writers_wait_their_turn()
    server = uvicorn.Server(uvicorn.Config(create_app(), log_level="warning", timeout_graceful_shutdown=1))

    def stop_when_gone() -> None:
        gone.wait()
        server.should_exit = True
        time.sleep(SHUTDOWN_SECONDS)
        os._exit(0)

    def announce() -> None:
        while not server.started:
            time.sleep(0.02)
        write_json(folder / "server.json", {"pid": os.getpid(), "port": port})

    threading.Thread(target=stop_when_gone, daemon=True).start()
    threading.Thread(target=announce, daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listener])


def _writers_wait_their_turn() -> None:
    """Prefect begins its SQLite transactions as readers. One that has read and then wants to write fails at once when
    another wrote meanwhile, whatever the busy timeout; with some loops at a time its client gives up after six such
    answers, and the run has crashed. Begun as writers they queue."""
    from prefect.server.database.configurations import AioSqliteConfiguration

    begin = AioSqliteConfiguration.begin_transaction

    def begin_as_writer(
        self: AioSqliteConfiguration,
        session: AsyncSession,
        with_for_update: bool = False,  # noqa: ARG001 (Prefect's signature)
    ) -> AbstractAsyncContextManager[AsyncSessionTransaction]:
        return begin(self, session, with_for_update=True)

    AioSqliteConfiguration.begin_transaction = begin_as_writer  # type: ignore[method-assign, assignment]


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError:
        listener.bind(("127.0.0.1", 0))
    return listener


def _wait_for_nobody(lock: Path, gone: threading.Event) -> None:
    """The lock stays ours once we have it: a newcomer waits until we are gone and starts a new server."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(POLL_SECONDS)
        else:
            (lock.parent / "server.json").unlink(missing_ok=True)
            gone.set()
            return


if __name__ == "__main__":
    main()
