"""Many loops at a time on the embedded server: nobody is turned away because another writes."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

WRITERS, WRITES = 10, 8


@pytest.mark.server
def test_writers_at_the_same_time_wait_for_each_other(prefect_server):
    """Asked without Prefect's client, which would try again and hide it: making a task run reads, then writes.

    A connection for each request: one that is kept might just be closed by the server when it is used again.
    """

    def write(number: int) -> int:
        run = {"task_key": "many", "dynamic_key": str(number)}
        return httpx.post(f"{prefect_server}/task_runs/", json=run, timeout=120).status_code

    with ThreadPoolExecutor(WRITERS) as pool:
        answers = Counter(pool.map(write, range(WRITERS * WRITES)))
    assert answers == {201: WRITERS * WRITES}
