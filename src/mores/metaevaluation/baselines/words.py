"""Bag-of-words classifiers: logistic regression on the words of the text, or of both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mores.factory.gold import Gold


@dataclass
class Words:
    """The log-odds that a sample is correct, from its words alone."""

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
