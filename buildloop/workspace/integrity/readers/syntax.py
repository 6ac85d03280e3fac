"""Python source as a syntax tree."""

from __future__ import annotations

import ast
import threading
import warnings

# CPython 3.11 counts the depth of a tree per interpreter: two threads that parse at once raise SystemError.
_parsing = threading.Lock()


def parse_python(text: str) -> ast.Module | None:
    """None where the text is no Python."""
    with _parsing, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
