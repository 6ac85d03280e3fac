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
CANDIDATES = 60
COUNTED = 4000
K1 = 1.2
B = 0.75
USUAL_LENGTH = 14.0


@dataclass(frozen=True, slots=True)
class Weights:
    """What each word of the query is worth, from how many of `total` failures have it; `best` is the score of the
    message asked for itself."""

    by_word: Mapping[str, float]
    best: float = 0.0

    @classmethod
    def of(cls, postings: Mapping[str, Sequence[int]], total: int, said: Sequence[str]) -> Weights:
        """`said` are the words of the message. A full match is one of these; the same test is only a bonus: the same
        error in another test is the same error."""
        worth = cls({word: _rarity(len(ids), max(total, 1)) for word, ids in postings.items()})
        return cls(worth.by_word, worth.score([word for word in said if word in postings]))

    def score(self, words: Sequence[str]) -> float:
        """BM25 of a failure with these (distinct) words."""
        length = 1 - B + B * len(words) / USUAL_LENGTH
        matched = sum(self.by_word.get(word, 0.0) for word in words)
        return matched * (K1 + 1) / (1 + K1 * length)

    def relevance(self, words: Sequence[str]) -> float:
        """The score next to that of the query itself: 1 is as good as the same words again."""
        return min(1.0, self.score(words) / self.best) if self.best else 0.0


def candidates(postings: Mapping[str, Sequence[int]], weights: Weights) -> list[int]:
    """The failures that share most with the query, best first; the newer of two equals."""
    shared: dict[int, float] = {}
    for word, ids in postings.items():
        weight = weights.by_word[word]
        for failure in ids:
            shared[failure] = shared.get(failure, 0.0) + weight
    return heapq.nlargest(CANDIDATES, shared, key=lambda failure: (shared[failure], failure))


def _rarity(having: int, total: int) -> float:
    """BM25's idf. A word with more postings than were read is taken to be in a quarter of all failures."""
    frequency = having if having < POSTINGS else max(POSTINGS, total // 4)
    return math.log(1 + (max(total - frequency, 0) + 0.5) / (frequency + 0.5))
