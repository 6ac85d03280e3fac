"""What a model says about a value it cannot take, in the words of people instead of those of its library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from buildloop.text import one_line

LONGEST_SHOWN = 80
WORDS = {
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "finite_number": "must be a finite number",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length}",
    "extra_forbidden": "must not be given: there is no such setting",
    **dict.fromkeys(
        ("int_parsing", "int_type", "int_from_float", "int_parsing_size"), "must be a whole number"
    ),
    **dict.fromkeys(("float_parsing", "float_type"), "must be a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "must be true or false"),
    **dict.fromkeys(("string_type", "string_unicode"), "must be text"),
    **dict.fromkeys(("tuple_type", "list_type"), "must be a list"),
    **dict.fromkeys(("dict_type", "model_type"), "must be a table of keys and values"),
}


def in_words(problem: Mapping[str, Any], where: str) -> str:
    """One problem of a Pydantic error, of the value that stands at `where`, as a sentence."""
    own = WORDS.get(problem["type"])
    said = own.format_map(problem.get("ctx", {})) if own else problem["msg"].removeprefix("Value error, ")
    verb = "" if said.startswith("must ") else "is not usable: "
    return (
        f"{where} {verb}{said[:1].lower()}{said[1:]} (got {one_line(repr(problem['input']), LONGEST_SHOWN)})"
    )
