"""Baselines that do not look at a sample: always an error, never one, and the majority of its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from mores.factory.drafts import draw
from mores.factory.gold import Gold


@dataclass
class Constant:
    """The same score for every sample."""

    score: float
    learns: tuple[str, ...] = ()
    version: str = "1"

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:
        """Do nothing: there is nothing to learn."""

    def scores(self, golds: Sequence[Gold]) -> list[float]:
        return [self.score] * len(golds)


@dataclass
class Majority:
    """An error if most training samples of the source have one; for an unknown source, if most of all samples have.

    If exactly half have one, as in balanced data, the verdict is random: always "correct" would be right by accident
    if the test samples are not balanced.
    """

    learns: tuple[str, ...] = ("train",)
    version: str = "2"
    _balance: Counter[str | None] = field(default_factory=Counter)
    """Correct samples minus wrong ones, by source."""

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:  # noqa: ARG002 - the protocol's signature
        self._balance = Counter()
        for gold in train:
            self._balance[gold.sample.source] += -1 if gold.report.errors else 1

    def scores(self, golds: Sequence[Gold]) -> list[float]:
        total = self._balance.total()
        balances = ((self._balance.get(gold.sample.source, total), draw(0, gold.sample.id)[0] % 2) for gold in golds)
        return [-1.0 if balance < 0 or (balance == 0 and lot) else 0.0 for balance, lot in balances]
