"""The shortcut audit: how well the label can be guessed from the output text alone.

A metric trained on data with shortcuts may learn which answers tend to be wrong instead of what is wrong with them. The
guesser never sees the instruction. It is a logistic regression on words, on runs of one to four characters, for scripts
without spaces, and on the shape of a text, cross-validated over the folds of items that make up the splits.

All of it is integer arithmetic, from the sparse rows of words and character n-grams on: the guesser decides which
answers a dataset has, and sums of floating-point numbers differ between processors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mores.factory.columns import UNIT, Folds, Integers, Labels, MarkedColumns
from mores.factory.looks import Looks
from mores.types import Record

Classify = Callable[[Any, Labels, Any], Integers]
"""Learns from rows and their labels, and returns the log-odds that other rows are correct, in any unit."""

ONE = 1 << 12
"""The number 1 in fixed point, of odds and probabilities."""
ROUNDS = 12
"""Steps of a fit: too few to converge, which prevents overfitting."""
_PROBABILITY = np.array([round(ONE / (1 + math.exp(-step / 64))) for step in range(-1024, 1025)], np.int64)


class Shortcut(Record):
    """Scaled accuracy of a guesser: 0 is chance, 1 is always correct."""

    value: float
    error: float
    """Standard error."""
    n: int


class SeenTexts(NamedTuple):
    """The features of some texts, and the labels to guess."""

    rows: Any
    correct: Labels
    folds: Folds

    def take(self, at: Integers) -> SeenTexts:
        """Return some of the texts."""
        return SeenTexts(self.rows[at], self.correct[at], self.folds[at])


def see(texts: Iterable[str], correct: Sequence[bool] | Labels, folds: Sequence[int] | Folds) -> SeenTexts:
    """Return texts as the guesser sees them."""
    listed = list(texts)
    rows = Looks(listed.__getitem__)[np.arange(len(listed))]
    return SeenTexts(rows, np.asarray(correct, dtype=bool), np.asarray(folds, dtype=np.int8))


def out_of_fold(seen: SeenTexts, classify: Classify | int) -> Integers:
    """Return the log-odds that each text is correct, from a guesser fitted on the other folds.

    The guesser is a classifier, or a logistic regression of `MarkedColumns` with so many steps.
    """
    rows, correct, fold = seen.rows, seen.correct, seen.folds // 2  # two at a time: half the work
    numbers = [n for n in np.unique(fold) if 0 < correct[fold != n].sum() < np.count_nonzero(fold != n)]
    if isinstance(classify, int):
        if not numbers:
            return np.zeros(len(correct), np.int64)
        return regress(rows, correct, np.stack([fold != number for number in numbers], axis=1), classify)
    odds = np.zeros(len(correct), np.int64)
    for number in numbers:
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        odds[inside] = classify(rows[outside], correct[outside], rows[inside])
    return odds


def regress(rows: MarkedColumns, correct: Labels, used: Labels, rounds: int = ROUNDS) -> Integers:
    """Return the log-odds of each text by a logistic regression that did not learn from it, or 0 where all did.

    The steps are accelerated, with a size for each column. There is one regression for each column of `used`, which
    says from which texts it learns. They are made together: reading the rows takes most of the time.
    """
    count, n_correct = used.sum(axis=0), used[correct].sum(axis=0)
    # In sixteenths: correct and wrong texts count the same.
    weight_of_correct, weight_of_wrong = 8 * count // n_correct, 8 * count // (count - n_correct)

    def miss(some: Integers, odds: Integers) -> Integers:
        label = correct[some, None]
        weight = np.where(label, weight_of_correct, weight_of_wrong) * used[some]
        missing: Integers = (np.where(label, ONE, 0) - probability(odds // UNIT**2)) * weight // 16
        return missing

    weights = before = curvature = np.zeros((len(rows.times), used.shape[1]), np.int64)
    for part in rows.parts():
        curvature = curvature + part.sums(part.lengths[:, None] * used[part.rows])
    curvature = curvature // 4 + UNIT * UNIT // 4
    for step in range(rounds):
        ahead = weights + (weights - before) * step // (step + 3)
        slope = np.zeros(weights.shape, np.int64)
        for part in rows.parts():
            slope += part.sums(miss(part.rows, part @ ahead))
        slope = slope * UNIT - ahead * (UNIT // 4)
        before, weights = weights, ahead + slope * UNIT // curvature
    odds = np.empty(len(rows), np.int64)
    for part in rows.parts():
        odds[part.rows] = np.where(used[part.rows], 0, part @ weights // UNIT**2).sum(axis=1)
    return odds


def probability(odds: Integers) -> Integers:
    """Return the logistic function of log-odds, both in units of `ONE`."""
    return _PROBABILITY[np.clip(odds * 64 // ONE, -1024, 1024) + 1024]


def gain(odds: Integers, correct: Labels) -> Shortcut:
    """Return the scaled accuracy of the guesser: 2 times balanced accuracy, less 1."""
    hit = (odds > 0) == correct
    counts = [int((correct == label).sum()) for label in (True, False)]
    hits = [int(hit[correct == label].sum()) for label in (True, False)]
    rates = [number / count if count else 0.5 for number, count in zip(hits, counts, strict=True)]
    error = math.sqrt(sum(rate * (1 - rate) / max(1, count) for rate, count in zip(rates, counts, strict=True)))
    return Shortcut(value=sum(rates) - 1, error=error, n=len(correct))


def audit(seen: SeenTexts, classify: Classify | int = ROUNDS) -> Shortcut:
    """Return the scaled accuracy of a classifier that sees the texts alone."""
    return gain(out_of_fold(seen, classify), seen.correct)
