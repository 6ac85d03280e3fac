"""Whether a green was earned: what was done to the tests, what those of the start say, what a second agent found."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from buildloop.frozen import Foreign, Frozen


class Tampering(Frozen):
    """Something done to a test, its configuration or the gate, and the diff that has to be undone."""

    rule: str
    file: Foreign
    text: Foreign
    blocks: bool = True
    diff: Foreign = ""


class CounterVerdict(StrEnum):
    """What the tests as they were at the start say about the new code."""

    UPHELD = "upheld"  # they pass: the green does not come from changed tests
    OVERTURNED = "overturned"  # they fail by their answers: it does
    UNCLEAR = "unclear"  # they cannot run on it, as after a rename: the sources decide


class CounterProof(Frozen):
    """The gate once more, with every file of the tests and their runner as at the start commit."""

    verdict: CounterVerdict
    files: tuple[Foreign, ...] = Field((), description="The files that were put back for it.")
    failing: tuple[Foreign, ...] = Field((), description="Which tests of the start fail, and how.")
    why: Foreign = Field("", description="What kept the tests of the start from running.")
    seconds: float = 0.0


class RefutingTest(Frozen):
    """A test file that a second agent wrote, word for word."""

    path: Foreign
    text: Foreign


class Refutation(Frozen):
    """A second agent's try to write a test for the goal that fails on the finished work."""

    agent: str
    refuted: bool = Field(description="Whether its test fails on the tree, twice, by its answer.")
    tried: bool = Field(
        True, description="False if the agent could not be asked; then `why` says what kept it."
    )
    tests: tuple[RefutingTest, ...] = ()
    failing: tuple[Foreign, ...] = Field((), description="What fails, and how.")
    why: Foreign = Field("", description="Why what it wrote does not count, where it does not.")
