"""Baselines that do not look at a sample (always an error, never one, the majority of its source), or only at words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

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


@dataclass
class Words:
    """The log-odds that a sample is correct, from its words alone: logistic regression on a bag of words."""

    both: bool
    """Whether it also sees the instruction."""
    learns: tuple[str, ...] = ("train",)
    version: str = "1"
    _fitted: Any = None

    def fit(self, train: Sequence[Gold], dev: Sequence[Gold]) -> None:  # noqa: ARG002 - the protocol's signature
        from sklearn.linear_model import LogisticRegression

        guesser = LogisticRegression(solver="liblinear", class_weight="balanced", random_state=0, tol=1e-2)
        self._fitted = guesser.fit(self._rows(train), [not gold.report.errors for gold in train])

    def scores(self, golds: Sequence[Gold]) -> list[float]:
        return [float(odds) for odds in self._fitted.decision_function(self._rows(golds))] if golds else []

    def _rows(self, golds: Sequence[Gold]) -> Any:
        from scipy.sparse import hstack

        text = _words([gold.sample.text for gold in golds])
        return hstack([text, _words([gold.sample.instruction for gold in golds])]).tocsr() if self.both else text


def _words(texts: Sequence[str]) -> Any:
    """Return the words of each text, as a sparse row."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        n_features=2**18, binary=True, norm=None, alternate_sign=False, token_pattern=r"(?u)\w+"
    ).transform(texts)
