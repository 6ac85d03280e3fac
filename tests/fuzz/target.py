"""One row of the fuzz table, and how a row is tried."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from buildloop.errors import InputError
from tests.fuzz.limits import within
from tests.fuzz.mutate import texts_in, variant

# Files are made and synced by the thousand; memory is where that costs nothing.
FAST = Path("/dev/shm")
FEWEST_GENERATED = 10


@dataclass(frozen=True)
class Target:
    """Something that reads what others wrote. `any_text`: a text in its input may be replaced by any other."""

    name: str
    inputs: st.SearchStrategy[Any]
    work: Callable[[Any, Path], None]
    any_text: bool = True

    def try_one(self, value: object) -> None:
        with tempfile.TemporaryDirectory(dir=FAST if FAST.is_dir() else None) as folder, within():
            try:
                self.work(value, Path(folder))
            except InputError as error:
                sentence = str(error)
                assert sentence.strip(), "an error without a word"
                assert "\n" not in sentence, f"more than one line: {sentence!r}"


def try_many(target: Target, examples: int, seed: int | None = None) -> None:
    """Raises what the first failing input raised, with that input in its notes.

    Some inputs are generated, and shrunk when they fail; most are variants of those.
    """
    generated = max(FEWEST_GENERATED, examples // 5) if target.any_text else examples
    seen: list[Any] = []
    _try_generated(target, min(generated, examples), seed, seen)
    random = Random(seed)
    others = [text for value in seen for text in texts_in(value)]
    for _ in range(examples - generated if others else 0):
        value = variant(random.choice(seen), others, random)
        try:
            target.try_one(value)
        except BaseException as error:
            error.add_note(f"the input was {value!r:.3000}")
            raise


def _try_generated(target: Target, examples: int, seed: int | None, seen: list[Any]) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    chosen = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=checks,
        phases=(Phase.generate, Phase.shrink),
    )

    @chosen
    @given(value=target.inputs)
    def trial(value: object) -> None:
        seen.append(value)
        target.try_one(value)

    if seed is not None:
        from hypothesis import seed as seeded

        trial = seeded(seed)(trial)
    trial()


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
