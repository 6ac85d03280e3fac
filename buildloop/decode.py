"""JSON and TOML of unknown origin: whatever is wrong with them, it is a `ValueError` with one line.

The standard readers raise `RecursionError` for what is nested too deeply, and tomllib passes on what `int` says of a
number with thousands of digits.
"""

from __future__ import annotations

import json
import tomllib
from typing import Any

TOO_DEEP = "it is nested too deeply"


def from_json(text: str | bytes) -> Any:  # noqa: ANN401 (whatever JSON holds)
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def from_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None
