"""Two lists of values for the same samples: how much their means differ, and whether that may be chance."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.stats.intervals import mean_interval
from mores.stats.resampling import compare_means


class PairedDifference(NamedTuple):
    """The mean of the first list minus that of the second."""

    difference: float
    low: float
    high: float
    p_value: float
    """Two-sided, by permutation."""


def paired_difference(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    most: float = 1.0,
    permutations: int = 1000,
) -> PairedDifference | None:
    """Return the difference of two means with its 95% interval and `compare_means`; None without samples.

    Two values of a sample differ by at most `most`.
    """
    test = compare_means(first, second, groups=groups, permutations=permutations)
    if test is None:
        return None
    low, high = mean_interval(np.subtract(first, second), groups=groups, least=-most, most=most)
    return PairedDifference(test.difference, low, high, test.p_value)


def mcnemar(first: int, second: int) -> float:
    """Return two-sided exact p-value, given how many samples are correct only in the first list and only in the second.

    Either is equally likely for each of them: 2·P(X <= the fewer) of a fair coin, at most 1. Q. McNemar,
    Psychometrika 12 (1947), 153-157, in its exact form.
    """
    n = first + second
    below = sum(comb(n, k) for k in range(min(first, second) + 1))
    return min(1.0, float(2 * below / 2**n))
