"""How fast a log is diagnosed: MB/s on a huge one beside one plain `re` scan of the same bytes, and start-up.

    python benchmarks/diagnose.py [--megabytes 200] [--keep PATH] [--json PATH] [--no-start-up]

The log is generated: hours of ordinary output of several tools, with a few real failures in the middle.
"""

from __future__ import annotations

import argparse
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from buildloop.diagnosis.classify import diagnose
from buildloop.diagnosis.model import Attempt
from buildloop.diagnosis.observe import observe_log
from buildloop.files import write_json

PLAIN_SCAN = re.compile(rb"error|fail|exception|panic", re.IGNORECASE)
CHUNK = 1 << 20
ORDINARY = (
    "2026-11-16T02:14:{s:02d}.{n:03d}Z INFO  http.server GET /api/v1/items/{n} 200 in {s} ms",
    "[INFO] Compiling module {n} of 4096 to target/classes/com/acme/part{s}",
    "tests/test_orders.py::test_total[{n}-{s}] PASSED                                [ {s}%]",
    "   Compiling serde_derive v1.0.{s} (/build/registry/src/serde-{n})",
    "    ✓ renders row {n} of the table ({s} ms)",
    "ok {n} - handles the error branch of parser {s}",
    "DEBUG worker-{s} heartbeat seq={n} lag=0.{n:03d} queue=empty",
    "npm http fetch GET 200 https://registry.example/pkg-{n} {s}ms (cache hit)",
    "=== RUN   TestRoundTrip/case_{n}",
    "WARN  retry {s} of upload {n} was not needed",
)
FAILURES = (
    """=================================== FAILURES ===================================
_________________________________ test_refund __________________________________

    def test_refund():
>       assert refund(10) == 9
E       assert 10 == 9

tests/test_refund.py:12: AssertionError
=========================== short test summary info ============================
FAILED tests/test_refund.py::test_refund - assert 10 == 9
""",
    """--- FAIL: TestLedger (0.01s)
    ledger_test.go:31: Balance() = 3, want 4
FAIL
""",
    "src/cart.ts(14,7): error TS2322: Type 'string' is not assignable to type 'number'.\n",
)


def generated(megabytes: int) -> Iterator[bytes]:
    chance = random.Random(7)
    blocks = [_block(chance) for _ in range(8)]
    size, target, told = 0, megabytes * 1_000_000, 0
    while size < target:
        block = chance.choice(blocks)
        if told < len(FAILURES) and size > target * (told + 1) // 5:
            block += FAILURES[told].encode()
            told += 1
        size += len(block)
        yield block


def _block(chance: random.Random) -> bytes:
    lines = [
        chance.choice(ORDINARY).format(n=chance.randrange(999), s=chance.randrange(60)) for _ in range(9000)
    ]
    return ("\n".join(lines) + "\n").encode()


def plain_scan(path: Path) -> int:
    with path.open("rb") as stream:
        return sum(
            sum(1 for _ in PLAIN_SCAN.finditer(chunk)) for chunk in iter(lambda: stream.read(CHUNK), b"")
        )


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def start_up(log: Path, times: int = 15) -> tuple[float, float]:
    """Seconds of an empty Python and of `buildloop diagnose` on a small log; the least, because noise only adds."""
    commands = (
        [sys.executable, "-c", "pass"],
        [sys.executable, "-m", "buildloop.cli.main", "diagnose", str(log)],
    )
    empty, ours = (min(_seconds(command) for _ in range(times)) for command in commands)
    return empty, ours


def _seconds(command: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--megabytes", type=int, default=200)
    arguments.add_argument("--keep", type=Path, help="where to leave the generated log")
    arguments.add_argument("--json", type=Path, help="where to save the figures")
    arguments.add_argument("--no-start-up", action="store_true", help="leave out the start-up of the command")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        path = options.keep or Path(directory) / "mixed.log"
        with path.open("wb") as stream:
            for block in generated(options.megabytes):
                stream.write(block)
        megabytes = path.stat().st_size / 1e6

        started = time.perf_counter()
        reading = observe_log(path, 1)
        diagnosis = diagnose([Attempt(passed=False, reading=reading)])
        seconds = time.perf_counter() - started
        memory = peak_megabytes()

        started = time.perf_counter()
        hits = plain_scan(path)
        scan_seconds = time.perf_counter() - started

        small = Path(directory) / "small.log"
        small.write_text("".join(FAILURES), encoding="utf-8")
        started_up = None if options.no_start_up else start_up(small)

    print(f"log          {megabytes:8.0f} MB")
    print(
        f"diagnosis    {megabytes / seconds:8.0f} MB/s   "
        f"({seconds:.2f} s, {len(reading.findings)} findings, {diagnosis.mode})"
    )
    print(f"plain scan   {megabytes / scan_seconds:8.0f} MB/s   ({scan_seconds:.2f} s, {hits} hits)")
    print(f"ratio        {scan_seconds / seconds:8.2f}")
    print(f"peak memory  {memory:8.0f} MB")
    if started_up:
        empty, ours = started_up
        print(f"start-up     {ours * 1000:8.0f} ms     (limit {(3 * empty + 0.15) * 1000:.0f} ms)")
    if options.json:
        figures = {"megabytes": megabytes, "diagnosis_s": seconds, "scan_s": scan_seconds, "peak_mb": memory}
        write_json(options.json, figures)
    for finding in reading.findings[:5]:
        print(f"  {finding.tool}: {finding.location}: {finding.message}")


if __name__ == "__main__":
    main()
