"""Retrieval: how well a text agrees with the nearest training facts.

The facts are the correct training samples. The `NEAREST` ones to a sample's instruction are found by BM25 (S. Robertson
and H. Zaragoza, The Probabilistic Relevance Framework, 2009); the score is the share of the text's words that they use,
each fact weighted by its BM25 score and each word by how rare it is among the facts, minus a threshold.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mores.factory.gold import Gold
from mores.language.units import keys
from mores.metaevaluation.baselines.similarity import best_cut
from mores.search.index import PassageScorer, best, weigh
from mores.types import Sample

NEAREST = 5


@dataclass
class RetrievalBaseline:
    """Weighted agreement with the nearest facts, minus a threshold."""

    learns: tuple[str, ...] = ("train", "dev")
    version: str = "2"
    _scorer: PassageScorer | None = None
    _facts: list[frozenset[str]] = field(default_factory=list)
    _rarity: dict[str, float] = field(default_factory=dict)
    _cut: float = 0.0

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:
        correct = [gold.sample for gold in train if not gold.report.errors]
        self._facts = [frozenset(_words(sample.text)) for sample in correct]
        counts = Counter(word for fact in self._facts for word in fact)
        self._rarity = {word: math.log(1 + len(correct) / count) for word, count in counts.items()}
        self._scorer = PassageScorer(weigh(_words(f"{sample.instruction} {sample.text}") for sample in correct))
        self._cut = best_cut([self._agreement(gold.sample) for gold in dev], [not gold.report.errors for gold in dev])

    def scores(self, golds: Sequence[Gold]) -> list[float]:
        return [self._agreement(gold.sample) - self._cut for gold in golds]

    def _agreement(self, sample: Sample) -> float:
        assert self._scorer is not None
        text = frozenset(_words(sample.text))
        scores = self._scorer.scores(_words(sample.instruction))
        nearest = {index: float(scores[index]) for index in best(scores, NEAREST)}
        total = self._weight(text) * sum(nearest.values())
        shared = sum(score * self._weight(text & self._facts[index]) for index, score in nearest.items())
        return shared / total if total else 0.0

    def _weight(self, words: frozenset[str]) -> float:
        unknown = math.log(1 + len(self._facts))
        return math.fsum(self._rarity.get(word, unknown) for word in words)


def _words(text: str) -> list[str]:
    return keys(text.casefold())
