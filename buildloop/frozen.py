"""The base of every value that crosses a border."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from buildloop.text import writable

# Text that programs and file systems gave us: they do not keep to UTF-8, what stores it does.
Foreign = Annotated[str, AfterValidator(writable)]


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
