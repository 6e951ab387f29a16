"""Distributions of values, and the overlap of two of them.

Without values the result is None; a missing value among others is refused, because the caller must exclude and count
it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mores.stats.intervals import share_interval

_Array = npt.NDArray[np.float64]


class ShareEstimate(NamedTuple):
    """k of n, with its 95% interval."""

    k: int
    n: int
    value: float
    low: float
    high: float


class FiveNumbers(NamedTuple):
    """Five numbers (J. W. Tukey, Exploratory Data Analysis, 1977, chapter 2), and mean and spread."""

    n: int
    low: float
    q1: float
    median: float
    q3: float
    high: float
    mean: float
    sd: float | None
    """Of a sample, with n - 1; None for one value."""


def bhattacharyya(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Return Bhattacharyya's Σ √(pᵢ qᵢ): 1 for equal distributions, 0 for those that share no outcome.

    Takes shares or counts over the same outcomes in the same order, and divides each by its sum; None when one sums to
    0. A. Bhattacharyya, On a measure of divergence between two statistical populations, Bulletin of the Calcutta
    Mathematical Society 35 (1943), 99-109.
    """
    shares = _shares(first, second)
    return None if shares is None else min(1.0, float(np.sqrt(shares[0] * shares[1]).sum()))  # rounding may pass 1


def jensen_shannon(first: npt.ArrayLike, second: npt.ArrayLike) -> float | None:
    """Return the Jensen-Shannon distance: 0 for equal distributions, 1 for those that share no outcome.

    The square root of the divergence ½ KL(p‖m) + ½ KL(q‖m), m = ½(p + q), in bits. Takes what `bhattacharyya` takes.
    D. M. Endres and J. E. Schindelin, A new metric for probability distributions, IEEE Transactions on Information
    Theory 49 (2003), 1858-1860.
    """
    shares = _shares(first, second)
    if shares is None:
        return None
    return float(_distances(*shares))


def jensen_shannon_of_draws(
    first: npt.ArrayLike, second: npt.ArrayLike, n: int, draws: int, generator: np.random.Generator
) -> float | None:
    """Return the mean distance of `first` from the shares of `n` outcomes drawn from `second`, over so many draws.

    It lies above the distance of the two, also where they are equal: a few outcomes never have the shares that they
    are drawn with.
    """
    shares = _shares(first, second)
    if shares is None or n < 1:
        return None
    return float(_distances(shares[0], generator.multinomial(n, shares[1], size=draws) / n).mean())


def _distances(first: _Array, second: _Array) -> _Array:
    """Return Jensen-Shannon distances along the last axis."""
    middle = (first + second) / 2
    terms = [
        p * np.log2(np.divide(p, middle, out=np.ones_like(middle), where=(p > 0) & (middle > 0)))
        for p in np.broadcast_arrays(first, second)
    ]
    distances: _Array = np.sqrt(np.clip((terms[0] + terms[1]).sum(axis=-1) / 2, 0.0, 1.0))
    return distances


def _shares(first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[_Array, _Array] | None:
    """Return both divided by their sums; None when one sums to 0."""
    p, q = _numbers(first), _numbers(second)
    if len(p) != len(q):
        raise ValueError(f"{len(p)} outcomes and {len(q)}; give both over the same ones, with 0 for what did not occur")
    if (p < 0).any() or (q < 0).any():
        raise ValueError("a share is negative; give probabilities or counts")
    if not (p.any() and q.any()):
        return None
    p, q = p / p.max(), q / q.max()  # scaled first, so that the sums do not leave the range of numbers
    return p / p.sum(), q / q.sum()


def summarise(values: npt.ArrayLike) -> FiveNumbers | None:
    """Return five numbers, mean and spread; quartiles interpolate linearly between values.

    That is definition 7 of R. J. Hyndman and Y. Fan, Sample quantiles in statistical packages, The American
    Statistician 50 (1996), 361-365, and numpy's.
    """
    numbers = _numbers(values)
    if not len(numbers):
        return None
    low, q1, median, q3, high = np.quantile(numbers, (0, 0.25, 0.5, 0.75, 1)).tolist()
    sd = float(numbers.std(ddof=1)) if len(numbers) > 1 else None
    return FiveNumbers(len(numbers), low, q1, median, q3, high, float(numbers.mean()), sd)


def _numbers(values: npt.ArrayLike) -> _Array:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1:
        raise ValueError(f"values have {numbers.ndim} dimensions; give a flat list")
    if not np.isfinite(numbers).all():
        raise ValueError("a value is missing or infinite; exclude it, and report how many there were")
    return numbers


def share_of(k: int, n: int) -> ShareEstimate:
    """Return k of n with its interval; n is at least 1."""
    return ShareEstimate(k, n, k / n, *share_interval(k, n))
