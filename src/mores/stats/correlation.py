"""Correlation of two lists of numbers: Kendall's tau-b and tau-c, Spearman, Pearson.

None when a correlation is undefined: fewer than two samples, or one list holds a single value only.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats, Ints, same_length, vector


@dataclass(frozen=True)
class PairCounts:
    """All pairs of samples, by how the two lists order them."""

    pairs: int
    concordant: int
    """Ordered the same way by both."""
    discordant: int
    """Ordered in opposite ways."""
    tied_x: int
    """Equal in x, whether or not also in y."""
    tied_y: int
    """Equal in y, whether or not also in x."""
    fewest_values: int
    """Distinct values of the list that has fewer of them."""


def kendall_tau_b(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """Return (C - D) / √((pairs - tied in x)(pairs - tied in y)), in O(n log n).

    M. G. Kendall, The treatment of ties in ranking problems, Biometrika 33 (1945), 239-251.
    """
    counts = count_pairs(x, y)
    below = (counts.pairs - counts.tied_x) * (counts.pairs - counts.tied_y)
    return (counts.concordant - counts.discordant) / sqrt(below) if below else None


def kendall_tau_c(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """Return 2 (C - D) / (n² (m - 1) / m), with m the distinct values of the list that has fewer, in O(n log n).

    A. Stuart, The estimation and comparison of strengths of association in contingency tables, Biometrika 40 (1953),
    105-110.
    """
    counts = count_pairs(x, y)
    m, n = counts.fewest_values, np.size(x)
    return 2 * (counts.concordant - counts.discordant) * m / (n**2 * (m - 1)) if m > 1 else None


def spearman(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """Return Pearson's correlation of the ranks; equal values share their mean rank.

    C. Spearman, The proof and measurement of association between two things, American Journal of Psychology 15 (1904).
    """
    first, second = _pair_up(x, y, finite=False)
    return pearson(_mean_ranks(first), _mean_ranks(second))


def pearson(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """Return Σ (x - x̄)(y - ȳ) / √(Σ (x - x̄)² Σ (y - ȳ)²).

    K. Pearson, Notes on regression and inheritance in the case of two parents, Proc. Royal Society 58 (1895), 240-242.
    """
    first, second = _pair_up(x, y, finite=True)
    if not first.size or np.all(first == first[0]) or np.all(second == second[0]):
        return None
    first, second = _centre(first), _centre(second)
    correlation = float(first @ second) / sqrt(float(first @ first) * float(second @ second))
    return min(1.0, max(-1.0, correlation))  # rounding must not leave the range


def count_pairs(x: npt.ArrayLike, y: npt.ArrayLike) -> PairCounts:
    """Count concordant, discordant and tied pairs by sorting and counting inversions.

    W. R. Knight, A computer method for calculating Kendall's tau with ungrouped data, JASA 61 (1966), 436-439.
    """
    first, second = (np.unique(values, return_inverse=True)[1] for values in _pair_up(x, y, finite=False))
    # By x, then by y: pairs that are tied in x are then in order, and every inversion of y is a discordant pair.
    order = np.lexsort((second, first))
    discordant = count_inversions(second[order])
    combined = (first * (int(second.max(initial=0)) + 1) + second)[order]
    runs = np.diff(np.flatnonzero(np.concatenate(([True], combined[1:] != combined[:-1], [True]))))
    tied_x, tied_y, tied_both = map(_count_ties, (np.bincount(first), np.bincount(second), runs))
    pairs = first.size * (first.size - 1) // 2
    return PairCounts(
        pairs=pairs,
        concordant=pairs - tied_x - tied_y + tied_both - discordant,
        discordant=discordant,
        tied_x=tied_x,
        tied_y=tied_y,
        fewest_values=min(int(first.max(initial=-1)), int(second.max(initial=-1))) + 1,
    )


def count_inversions(ranks: Ints) -> int:
    """Count pairs i < j with ranks[i] > ranks[j], of whole numbers from 0, in one linear pass per bit of the largest.

    A pair is decided at the highest bit in which the two differ. So for each bit, from the highest: among the numbers
    that agree above it, which stand together in their first order, count the ones before each zero; then move
    the zeros before the ones.
    """
    total, position = 0, np.arange(ranks.size)
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        prefix = ranks >> bit
        ones = prefix & 1
        counts = np.bincount(prefix)
        starts = np.cumsum(counts) - counts
        start = starts[prefix & ~1]  # where the numbers that agree above this bit begin
        ones_before = np.cumsum(ones) - ones
        ones_before -= ones_before[start]
        total += int(ones_before[ones == 0].sum())
        moved = np.empty_like(ranks)
        moved[starts[prefix] + np.where(ones == 1, ones_before, position - start - ones_before)] = ranks
        ranks = moved
    return total


def _count_ties(counts: Ints) -> int:
    """Count pairs of equal values, from how often each occurs."""
    return int((counts * (counts - 1) // 2).sum())


def _mean_ranks(values: Floats) -> Floats:
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    return ranks


def _centre(values: Floats) -> Floats:
    """Scale to mean 0 and size 1; a power of two first brings values near 1, so that no square overflows."""
    near_one = np.ldexp(values, -np.frexp(np.abs(values).max())[1])
    centred = near_one - near_one.mean()
    scaled: Floats = centred / np.abs(centred).max()
    return scaled


def _pair_up(x: npt.ArrayLike, y: npt.ArrayLike, *, finite: bool) -> tuple[Floats, Floats]:
    first, second = vector(x, "x", finite=finite), vector(y, "y", finite=finite)
    same_length(x=first, y=second)
    return first, second
