"""Has commands run by guards, and waits for them. See `guard.py` for what a guard does."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

GUARD = Path(__file__).with_name("guard.py")
MARK = "_BUILDLOOP_MARK"
LENGTH_BYTES = 8
# The first that a guard says; its last word is the exit code.
BEGUN = b"begun\n"
# The longest that a guard needs to begin on a machine that is busy; who never begins was stopped.
BEGIN_SECONDS = 60.0
# What a guard needs beyond the grace to end all that it holds.
GUARD_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Order:
    """A command, and the descriptors that become its standard input, output and error."""

    argv: Sequence[str]
    cwd: Path
    environment: Mapping[str, str]
    grace: float
    streams: tuple[int, int, int]

    def encoded(self) -> bytes:
        """Separated by the one byte that can be in none of them."""
        words = [str(self.grace), str(len(self.argv)), str(self.cwd), *self.argv]
        words += [f"{name}={value}" for name, value in self.environment.items()]
        if any("\0" in word for word in words):
            raise ValueError("embedded null byte")
        return b"\0".join(map(os.fsencode, words))


class Guarded:
    """A command under its guard."""

    def __init__(self, job: socket.socket, grace: float) -> None:
        self._job, self._said, self._gone = job, b"", False
        self._longest = grace + GUARD_SECONDS

    def begin(self) -> None:
        """Raises OSError when no guard answers."""
        if not self._hear(BEGIN_SECONDS):
            raise TimeoutError("the guard did not begin")
        if self._gone:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    @property
    def exit_code(self) -> int | None:
        """None as long as it runs, and for ever when its guard was killed."""
        code = self._said.removeprefix(BEGUN)
        return int(code) if code.endswith(b"\n") else None

    @property
    def ended(self) -> bool:
        return self._gone or self.exit_code is not None

    def ends_within(self, seconds: float) -> bool:
        while not self.ended:
            if not self._hear(seconds):
                return False
        return True

    def stop(self) -> None:
        """Has the guard end all that it holds. One that was stopped never does: then `exit_code` stays None."""
        with contextlib.suppress(OSError):
            self._job.shutdown(socket.SHUT_WR)
        self.ends_within(self._longest)

    def close(self) -> None:
        self._job.close()

    def _hear(self, seconds: float) -> bool:
        ready = select.poll()
        ready.register(self._job, select.POLLIN)
        if not ready.poll(seconds * 1000):
            return False
        try:
            part = self._job.recv(64)
        except ConnectionError:
            part = b""
        self._gone, self._said = not part, self._said + part
        return True


@dataclass
class Guards:
    """The process that copies itself for every command of one run."""

    process: subprocess.Popen[bytes]
    orders: socket.socket
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def start(cls, environment: Mapping[str, str], mark: str) -> Guards:
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-I", "-S", str(GUARD), str(theirs.fileno())],
                env={**environment, MARK: mark},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        ours.settimeout(BEGIN_SECONDS)
        return cls(process, ours)

    def run(self, order: Order) -> Guarded:
        """Raises OSError when this process was killed or stopped meanwhile."""
        body = order.encoded()
        ours, theirs = socket.socketpair()
        command = Guarded(ours, order.grace)
        try:
            with theirs, self.lock:
                header = len(body).to_bytes(LENGTH_BYTES, "big")
                socket.send_fds(self.orders, [header], [theirs.fileno(), *order.streams])
                self.orders.sendall(body)
            command.begin()
        except OSError:
            command.close()
            raise
        except BaseException:  # an interrupt: it may run already, or half of the order was sent
            command.stop()
            command.close()
            self.process.kill()
            raise
        return command

    def end(self) -> None:
        """What still runs under its guards is theirs."""
        self.orders.close()
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


_kept: dict[str, Guards | None] = {}
_begun: Counter[str] = Counter()


def commands_begun(mark: str) -> int:
    """How many commands with this mark this process has had started."""
    return _begun[mark]


@contextlib.contextmanager
def guards_kept(mark: str) -> Iterator[None]:
    """Within, the commands of the run with this mark share one process that starts their guards."""
    _kept[mark] = None
    try:
        yield
    finally:
        if guards := _kept.pop(mark):
            guards.end()


@contextlib.contextmanager
def guarded(order: Order, mark: str) -> Iterator[Guarded]:
    """The running command. Whoever leaves before it has ended has it ended by its guard."""
    if not order.cwd.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(order.cwd))
    _begun[mark] += 1
    running, own = _begin(order, mark)
    try:
        yield running
    finally:
        running.stop()
        running.close()
        if own is not None:
            own.end()


def _begin(order: Order, mark: str) -> tuple[Guarded, Guards | None]:
    environment = order.environment
    if mark not in _kept:
        own = Guards.start(environment, mark)
        try:
            return own.run(order), own
        except BaseException:
            own.end()
            raise
    if (known := _kept[mark]) is not None:
        try:
            return known.run(order), None
        except (ConnectionError, TimeoutError):
            known.process.kill()
            known.end()
    guards = _kept[mark] = Guards.start(environment, mark)
    return guards.run(order), None
