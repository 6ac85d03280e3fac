"""Ranks candidates for a query: BM25, in one place, so that every store gives the same order.

A very common word costs as much to rank by as all failures together and tells nothing. Stores hand over at most
`POSTINGS` failures a word; a word that fills this is common, and weighs little.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

POSTINGS = 500
CANDIDATES = 40
COUNTED = 1000
FEW = 10  # in so small a memory no word can be called common
K1 = 1.2
B = 0.75
USUAL_LENGTH = 14.0


@dataclass(frozen=True, slots=True)
class Weights:
    """What each word of the query is worth, from how many of `total` failures have it; `best` is the score of the
    message asked for itself, `everywhere` the words that more than half of all failures have."""

    by_word: Mapping[str, float]
    best: float = 0.0
    everywhere: frozenset[str] = frozenset()

    @classmethod
    def of(cls, postings: Mapping[str, Sequence[int]], total: int, said: Sequence[str]) -> Weights:
        """`said` are the words of the message. A full match is one of these; the same test is only a bonus: the same
        error in another test is the same error."""
        worth = cls({word: _rarity(len(ids), max(total, 1)) for word, ids in postings.items()})
        most = max(total, FEW) / 2
        everywhere = frozenset(word for word, ids in postings.items() if _frequency(len(ids), total) > most)
        return cls(worth.by_word, worth.score([word for word in said if word in postings]), everywhere)

    def score(self, words: Sequence[str]) -> float:
        """BM25 of a failure with these (distinct) words."""
        length = 1 - B + B * len(words) / USUAL_LENGTH
        matched = sum(self.by_word.get(word, 0.0) for word in words)
        return matched * (K1 + 1) / (1 + K1 * length)

    def relevance(self, said: Sequence[str], test: Sequence[str]) -> float:
        """The score of a failure next to that of the query: 1 is as good as the same message again. To share what
        most failures have is nothing, unless it is most of what this one says."""
        shared = [word for word in said if word in self.by_word]
        if not self.best or (len(shared) * 2 < len(said) and self.everywhere.issuperset(shared)):
            return 0.0
        return min(1.0, self.score(tuple(dict.fromkeys((*said, *test)))) / self.best)


def candidates(postings: Mapping[str, Sequence[int]], weights: Weights) -> list[int]:
    """The failures that share most with the query, best first; the newer of two equals."""
    shared: dict[int, float] = {}
    for word, ids in postings.items():
        weight = weights.by_word[word]
        for failure in ids:
            shared[failure] = shared.get(failure, 0.0) + weight
    return heapq.nlargest(CANDIDATES, shared, key=lambda failure: (shared[failure], failure))


def _rarity(having: int, total: int) -> float:
    """BM25's idf."""
    frequency = _frequency(having, total)
    return math.log(1 + (max(total - frequency, 0) + 0.5) / (frequency + 0.5))


def _frequency(having: int, total: int) -> int:
    """A word with more postings than were read is taken to be in a quarter of all failures."""
    return having if having < POSTINGS else max(POSTINGS, total // 4)
