"""Values derived from a history that only grows at its end, without walking through all of it every time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from operator import is_
from typing import Generic, TypeVar

Item = TypeVar("Item")
Value = TypeVar("Value")

MOST_HISTORIES = 64
# The last ones of a history: one with the iteration that is being judged, one with it as it was written down.
MOST_OF_EACH = 4


class Fold(Generic[Item, Value]):
    """`step(value, items, place)` over all items, beginning with `start(*setting)`. A pure function of both, and quick:
    it goes on from the longest beginning it has met before."""

    def __init__(
        self, start: Callable[..., Value], step: Callable[[Value, tuple[Item, ...], int], Value]
    ) -> None:
        self._start, self._step = start, step
        self._known: OrderedDict[object, list[tuple[tuple[Item, ...], Value]]] = OrderedDict()

    def __call__(self, items: tuple[Item, ...], *setting: object) -> Value:
        if not items:
            return self._start(*setting)
        key = (
            id(items[0]),
            *setting,
        )  # what is kept holds on to its items, so that no other gets the same id
        met = self._known.get(key, [])
        begun = [one for one in met if len(one[0]) <= len(items) and all(map(is_, one[0], items))]
        done, value = max(begun, key=lambda one: len(one[0]), default=((), self._start(*setting)))
        for place in range(len(done), len(items)):
            value = self._step(value, items, place)
        if len(done) < len(items):
            self._known[key] = [*met[-MOST_OF_EACH + 1 :], (items, value)]
            self._known.move_to_end(key)
            while len(self._known) > MOST_HISTORIES:
                self._known.popitem(last=False)
        return value
