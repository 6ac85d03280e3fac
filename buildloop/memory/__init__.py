"""Failures and confirmed fixes across runs: found again by fingerprint or by text, suggested, and measured.

The names below are loaded when they are asked for: the address of memory is needed in places that must start fast.
"""

from typing import TYPE_CHECKING

from buildloop.lazy import loader

if TYPE_CHECKING:
    from buildloop.memory.actions import generate_suggested_actions
    from buildloop.memory.recall import query_similar_failures
    from buildloop.memory.suggestions import (
        mark_suggestion_resolved,
        record_suggestion,
        resolve_outstanding_suggestions,
    )

__all__ = [
    "generate_suggested_actions",
    "mark_suggestion_resolved",
    "query_similar_failures",
    "record_suggestion",
    "resolve_outstanding_suggestions",
]
MODULES = {
    "generate_suggested_actions": "actions",
    "mark_suggestion_resolved": "suggestions",
    "query_similar_failures": "recall",
    "record_suggestion": "suggestions",
    "resolve_outstanding_suggestions": "suggestions",
}

__getattr__ = loader(__name__, MODULES)
