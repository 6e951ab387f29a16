"""Retrieval: how far a text agrees with what the nearest training facts say.

The facts are the correct training samples. The `NEAREST` ones to a sample's instruction are found by BM25 (S. Robertson
and H. Zaragoza, The Probabilistic Relevance Framework, 2009); the score is the share of the text's words that they use,
each fact weighted by its BM25 score and each word by how rare it is among the facts, less a threshold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mores.factory.errors.units import keys
from mores.factory.gold import Gold
from mores.meta.baselines.cut import best_cut

NEAREST = 5


@dataclass
class Retrieval:
    """Weighted agreement with the nearest facts, less a threshold."""

    learns: tuple[str, ...] = ("train", "dev")
    version: str = "1"
    _index: Any = None
    _facts: list[frozenset[str]] = field(default_factory=list)
    _rarity: dict[str, float] = field(default_factory=dict)
    _cut: float = 0.0

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:
        right = [gold for gold in train if not gold.report.errors]
        self._facts = [frozenset(_words(gold.sample.text)) for gold in right]
        counts = Counter(word for fact in self._facts for word in fact)
        self._rarity = {word: math.log(1 + len(right) / count) for word, count in counts.items()}
        self._index = _index([_words(f"{gold.sample.instruction} {gold.sample.text}") for gold in right])
        self._cut = best_cut(self._agreement(dev), [not gold.report.errors for gold in dev])

    def scores(self, golds: Sequence[Gold]) -> list[float]:
        return [agreement - self._cut for agreement in self._agreement(golds)]

    def _agreement(self, golds: Sequence[Gold]) -> list[float]:
        if not golds:
            return []
        queries = [_words(gold.sample.instruction) for gold in golds]
        nearest = min(NEAREST, len(self._facts))
        places, weights = self._index.retrieve(queries, k=nearest, show_progress=False, n_threads=0)
        texts = (frozenset(_words(gold.sample.text)) for gold in golds)
        return [self._shared(*row) for row in zip(texts, places.tolist(), weights.tolist(), strict=True)]

    def _shared(self, text: frozenset[str], places: list[int], weights: list[float]) -> float:
        whole = self._weight(text) * sum(weights)
        found = sum(
            weight * self._weight(text & self._facts[place]) for place, weight in zip(places, weights, strict=True)
        )
        return found / whole if whole else 0.0

    def _weight(self, words: frozenset[str]) -> float:
        unknown = math.log(1 + len(self._facts))
        return math.fsum(self._rarity.get(word, unknown) for word in words)


def _words(text: str) -> list[str]:
    return keys(text.casefold())


def _index(documents: list[list[str]]) -> Any:
    import bm25s

    index = bm25s.BM25()
    index.index(documents, show_progress=False)
    return index
