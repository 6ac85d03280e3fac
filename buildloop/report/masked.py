"""Masks the secrets in a value, whatever it is made of: before anything of it is cut, escaped or laid out."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from pydantic import BaseModel

from buildloop.redact import Redactor

T = TypeVar("T")


def masked_value(value: T, mask: Redactor) -> T:
    """The same value with every text in it masked. Parts in which nothing is masked are taken as they are."""
    result: Any = _masked(value, mask)
    return result  # type: ignore[no-any-return]


def _masked(value: Any, mask: Redactor) -> Any:  # noqa: ANN401 (any value there is)
    if isinstance(value, str):
        return value if isinstance(value, Enum) else mask(value)
    if isinstance(value, tuple | list):
        return type(value)(_masked(one, mask) for one in value)
    if isinstance(value, dict):
        return {_masked(key, mask): _masked(one, mask) for key, one in value.items()}
    if isinstance(value, BaseModel):
        changed = _changed({name: getattr(value, name) for name in type(value).model_fields}, mask)
        return value.model_copy(update=changed) if changed else value
    if is_dataclass(value) and not isinstance(value, type):
        changed = _changed({one.name: getattr(value, one.name) for one in fields(value)}, mask)
        return replace(value, **changed) if changed else value
    return value


def _changed(parts: dict[str, Any], mask: Redactor) -> dict[str, Any]:
    after = {name: _masked(part, mask) for name, part in parts.items()}
    return {name: part for name, part in after.items() if part != parts[name]}
