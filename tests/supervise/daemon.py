"""A supervisor that can be killed again and again without paying for its start: every line on stdin forks one.

Usage: daemon.py REQUESTS LEDGER DEPLOYMENT; prints the process id of each supervisor it has forked.
"""

from __future__ import annotations

import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from buildloop.supervise.ledger import Ledger
from buildloop.supervise.plan import Policy
from buildloop.supervise.source import DirectorySource
from buildloop.supervise.tick import look
from flows.supervise import FlowRuns

NOW = timedelta()


def watch(requests: Path, ledger: Path, deployment: str) -> None:
    policy = Policy(starts=10_000, first_delay=NOW, first_delay_transient=NOW)
    while True:
        source = DirectorySource(requests, {})
        look(source, Ledger(ledger), FlowRuns(deployment), policy, datetime.now(UTC))
        time.sleep(0.02)


if __name__ == "__main__":
    print("ready", flush=True)
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            watch(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
        print(child, flush=True)
        os.waitpid(child, 0)
