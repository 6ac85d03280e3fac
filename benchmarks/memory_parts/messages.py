"""Generated failures to store and to ask for."""

from __future__ import annotations

import bisect
import itertools
import random

from buildloop.diagnosis.fingerprint import fingerprint
from buildloop.diagnosis.known_packages import words
from buildloop.diagnosis.model import ErrorClass, Finding
from buildloop.memory.model import Failure
from buildloop.memory.words import message_of, test_of

# Common words of real messages; the rest of a message are identifiers with the usual long tail.
SHAPES = (
    ("AssertionError", "assert {a} == {b}, expected {x} of {y} to equal {z}"),
    ("TypeError", "{x}() got an unexpected keyword argument '{y}' in {z}"),
    ("KeyError", "'{x}' not found in {y} of {z}"),
    ("ValueError", "invalid literal for {x}: expected {y}, got {z} ({a})"),
    ("AttributeError", "'{x}' object has no attribute '{y}'; maybe {z}"),
    ("ModuleNotFoundError", "No module named '{x}.{y}' imported from {z}"),
    ("TimeoutError", "waiting for {x} on {y} timed out after {z}"),
    ("FileNotFoundError", "[Errno 2] No such file or directory: '{x}/{y}/{z}.json'"),
)


class Messages:
    """Failures as loops meet them: few shapes, many identifiers, some of those in every other message."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.names = [f"{a}_{b}" for a in PARTS for b in PARTS] + [
            f"{a}{n}" for a in PARTS for n in range(2000)
        ]
        random.Random(1).shuffle(self.names)
        self.weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(self.names))))

    def finding(self) -> Finding:
        kind, shape = self.chance.choice(SHAPES)
        x, y, z, module, test = (self._name() for _ in range(5))
        a, b = self.chance.randrange(1000), self.chance.randrange(1000)
        message = shape.format(x=x, y=y, z=z, a=a, b=b)
        return Finding(
            message=message, type=kind, test=f"tests/test_{module}.py::test_{test}_{a}", tool="pytest"
        )

    def _name(self) -> str:
        return self.names[bisect.bisect(self.weights, self.chance.random() * self.weights[-1])]


PARTS = sorted(
    words(
        "user order cart price tax invoice token session cache index queue worker task event report total refund "
        "payment login parser config loader client server socket stream buffer page row column table schema field "
        "record batch chunk frame window cursor plan policy rule match score rank limit budget retry agent"
    )
)


def failure_of(finding: Finding) -> Failure:
    return Failure(
        fingerprint=fingerprint(finding),
        error_class=ErrorClass.ASSERTION_FAILURE,
        test=test_of(finding),
        message=message_of(finding),
    )
