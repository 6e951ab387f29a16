"""The shortcut audit: how well the label can be guessed from the output text alone.

A metric that is trained on such data may learn which answers tend to be wrong instead of what is wrong with them. The
guesser is a bag-of-words logistic regression that never sees the instruction, cross-validated over the folds of items
that the splits are made of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mores.types import Record

Odds = npt.NDArray[np.float64]
Labels = npt.NDArray[np.bool_]


class Shortcut(Record):
    """Scaled accuracy of the guesser: 0 is chance, 1 is always correct."""

    value: float
    error: float
    """Standard error."""
    n: int


class Seen(NamedTuple):
    """What the guesser sees of some texts, and what it is to guess."""

    rows: Any
    """What `words` makes of the texts."""
    correct: Labels
    folds: npt.NDArray[np.int64]

    def take(self, at: npt.NDArray[np.int64]) -> Seen:
        """Some of the texts."""
        return Seen(self.rows[at], self.correct[at], self.folds[at])


def words(texts: Sequence[str]) -> Any:
    """The words of each text, as a sparse row."""
    from sklearn.feature_extraction.text import HashingVectorizer

    return HashingVectorizer(
        n_features=2**18, binary=True, norm=None, alternate_sign=False, token_pattern=r"(?u)\w+"
    ).transform(texts)


def see(texts: Sequence[str], correct: Sequence[bool], folds: Sequence[int]) -> Seen:
    """Texts as the guesser sees them, without the columns of words that none of them has: a fit takes time for each."""
    rows = words(texts)
    return Seen(rows[:, np.unique(rows.indices)], np.asarray(correct, dtype=bool), np.asarray(folds, dtype=np.int64))


def out_of_fold(seen: Seen) -> Odds:
    """The log-odds that each text is correct, from a guesser that was fitted on the other folds."""
    rows, correct, fold = seen.rows, seen.correct, seen.folds // 2  # two at a time: half the work
    odds = np.zeros(len(correct))
    for number in np.unique(fold):
        in_fold = fold == number
        if 0 < correct[~in_fold].sum() < (~in_fold).sum():
            odds[in_fold] = guesser().fit(rows[~in_fold], correct[~in_fold]).decision_function(rows[in_fold])
    return odds


def gain(odds: Odds, correct: Labels) -> Shortcut:
    """How much better than chance the guesser does; 2 times balanced accuracy, less 1."""
    hit = (odds > 0) == correct
    counts = [int((correct == label).sum()) for label in (True, False)]
    rates = [
        float(hit[correct == label].mean()) if count else 0.5
        for label, count in zip((True, False), counts, strict=True)
    ]
    error = math.sqrt(sum(rate * (1 - rate) / max(1, count) for rate, count in zip(rates, counts, strict=True)))
    return Shortcut(value=sum(rates) - 1, error=error, n=len(correct))


def audit(seen: Seen) -> Shortcut:
    """How much the texts alone tell."""
    return gain(out_of_fold(seen), seen.correct)


def guesser() -> Any:
    """A classifier of rows of `words`, not fitted yet."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(solver="liblinear", class_weight="balanced", random_state=0, tol=1e-2)
