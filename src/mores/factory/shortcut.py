"""The shortcut audit: how well the label can be guessed from the output text alone.

A metric that is trained on such data may learn which answers tend to be wrong instead of what is wrong with them. The
guesser is a bag-of-words logistic regression that never sees the instruction, cross-validated over the folds of items
that the splits are made of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mores.types import Record

_Array = npt.NDArray[np.float64]


class Shortcut(Record):
    """Scaled accuracy of the guesser: 0 is chance, 1 is always right."""

    value: float
    error: float
    """Standard error."""
    n: int


def out_of_fold(texts: Sequence[str], right: Sequence[bool], folds: Sequence[int]) -> _Array:
    """The log-odds of being right of each text, from a guesser that was fitted on the other folds."""
    features, labels, fold = _features(texts), np.asarray(right), np.asarray(folds) // 2  # two at a time: half the work
    odds = np.zeros(len(texts))
    for one in np.unique(fold):
        here = fold == one
        if 0 < labels[~here].sum() < (~here).sum():
            odds[here] = _guesser().fit(features[~here], labels[~here]).decision_function(features[here])
    return odds


def audit(texts: Sequence[str], right: Sequence[bool], folds: Sequence[int]) -> Shortcut:
    """How much better than chance the guesser does; 2 times balanced accuracy, less 1."""
    if not texts:
        return Shortcut(value=0.0, error=0.0, n=0)
    labels = np.asarray(right)
    hit = (out_of_fold(texts, right, folds) > 0) == labels
    rates = [hit[labels == label].mean() if (labels == label).any() else 0.5 for label in (True, False)]
    spread = sum(
        r * (1 - r) / max(1, int((labels == label).sum())) for r, label in zip(rates, (True, False), strict=True)
    )
    return Shortcut(value=float(sum(rates) - 1), error=math.sqrt(spread), n=len(texts))


def _features(texts: Sequence[str]) -> Any:
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        n_features=2**18, binary=True, norm=None, alternate_sign=False, token_pattern=r"(?u)\w+"
    ).transform(texts)


def _guesser() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="liblinear", class_weight="balanced", random_state=0, tol=1e-2)
