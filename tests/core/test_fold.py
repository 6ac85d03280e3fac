"""A fold over a history says the same as a walk through all of it, and takes only the steps that are new."""

from __future__ import annotations

from buildloop.fold import MOST_HISTORIES, Fold


class Item:
    """Compared by identity, as histories are."""

    def __init__(self, value: int) -> None:
        self.value = value


def counting() -> tuple[Fold[Item, tuple[int, ...]], list[int]]:
    steps: list[int] = []

    def step(value: tuple[int, ...], items: tuple[Item, ...], place: int) -> tuple[int, ...]:
        steps.append(place)
        return (*value, items[place].value)

    return Fold(lambda first=0: (first,), step), steps


def test_only_what_was_added_is_looked_at():
    fold, steps = counting()
    items: tuple[Item, ...] = ()
    for number in range(50):
        items = (*items, Item(number))
        assert fold(items) == (0, *range(number + 1))
        assert fold(items) == (0, *range(number + 1))
    assert steps == list(range(50))


def test_another_ending_and_a_shorter_history_get_their_own_values():
    fold, _ = counting()
    begun = tuple(map(Item, range(5)))
    assert fold((*begun, Item(7))) == (0, 0, 1, 2, 3, 4, 7)
    assert fold((*begun, Item(8), Item(9))) == (0, 0, 1, 2, 3, 4, 8, 9)
    assert fold(begun[:3]) == (0, 0, 1, 2)
    assert fold(()) == (0,)


def test_the_same_items_in_another_setting_are_another_history():
    fold, _ = counting()
    items = (Item(1),)
    assert (fold(items, 5), fold(items, 6), fold(items, 5)) == ((5, 1), (6, 1), (5, 1))


def test_old_histories_are_forgotten():
    fold, steps = counting()
    first = (Item(0),)
    fold(first)
    others = [(Item(number),) for number in range(MOST_HISTORIES)]
    for other in others:
        fold(other)
    assert fold(first) == (0, 0)
    assert len(steps) == MOST_HISTORIES + 2
