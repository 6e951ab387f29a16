"""Ranks of models, and the range of ranks that each may have, from comparing every two on the same questions.

A model ranks after the significantly better ones and before the significantly worse ones; its range lies in between.
Each of the M - 1 comparisons of a model gets 1 / (M - 1) of what may fail (Bonferroni), so that at least 95% of such
ranges hold the true rank; and as of two models that differ only one can be wrongly called the better one, they hold it
on two benchmarks at once. Resampled ranks do not: of ten models that are nearly alike they hold it 60% of the time, and
they are a point where all resamples agree. See M. Mogstad, J. P. Romano, A. Shaikh and D. Wilhelm, Inference
for ranks, Review of Economic Studies 91 (2024).
"""

from __future__ import annotations

import numpy as np

from mores.stats.classification import Floats, Ints, ratios
from mores.stats.intervals import ROUNDING, TAIL, limits


def order(values: Floats) -> Ints:
    """Return models × models: 1 where the first has the higher value, -1 where the second has.

    Values nearer to each other than `ROUNDING` are equal: the order of a sum must not decide a rank.
    """
    gaps = values[:, None] - values[None, :]
    return np.where(np.abs(gaps) <= ROUNDING, 0, np.sign(gaps)).astype(np.int64)


def significant_order(credit: Floats, comparisons: int) -> Ints:
    """Return the order of models, as far as it is significant if that many comparisons must hold together; otherwise 0.

    `credit` is questions × models, from 0 to 1 or nan; each model has some.
    """
    present = ~np.isnan(credit)
    count = present.sum(axis=0)
    means = ratios(np.where(present, credit, 0.0).sum(axis=0), count)
    moved = np.where(present, credit - means, 0.0) / count  # by each question
    together = moved.T @ moved
    single = np.diag(together)
    variance = np.maximum(single[:, None] + single[None, :] - 2 * together, 0.0)
    gaps, units = means[:, None] - means[None, :], np.minimum(count[:, None], count[None, :])
    low, high = limits((1 + gaps) / 2, variance / 4, units, TAIL / comparisons)
    return (low > 0.5).astype(np.int64) - (high < 0.5)


def rank_range(signs: Ints) -> tuple[Ints, Ints]:
    """Return the first and last rank that each model may have in an order; models without a difference share theirs."""
    return 1 + (signs < 0).sum(axis=1), len(signs) - (signs > 0).sum(axis=1)


def tau_range(first: Ints, second: Ints) -> tuple[float, float]:
    """Return the lowest and the highest Kendall's tau of two orders of which only some pairs are significant.

    Every other pair may be in the same order in both or in the opposite one. Ties move tau-b no farther: what remains
    of a mean of ±1 when some of them are left out is reached too when those are all 1, or all -1.
    """
    pairs = np.triu_indices(len(first), 1)
    products = first[pairs] * second[pairs]
    total, open_ = float(products.sum()), float((products == 0).sum())
    return (total - open_) / len(products), (total + open_) / len(products)
