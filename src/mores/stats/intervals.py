"""95% intervals of figures that have a least and a greatest value: shares, ratios of counts, means, differences.

What is independent is a question, not an answer: several answers to a question may all be alike. So every figure here
is of units (questions, texts, items), and each unit brings what it has of what it could have. For the upper end one
more unit is added that has all it could, for the lower end one that has nothing: what was not seen among n units may
still be there, and an interval is never a point. With that unit the figure has a mean and a variance (those of the
Bayesian bootstrap), and the end is the 97.5% or the 2.5% quantile of the beta distribution that has both.

- One answer, correct or wrong, to each question: the interval of C. J. Clopper and E. S. Pearson, Biometrika 26 (1934),
  404-413, exactly. Wilson's covers as little as 89% of the time for 20 to 50 questions, and mid-P 92%.
- Several answers to each: the Clopper-Pearson interval with an effective number of answers, as E. L. Korn and B. I.
  Graubard have it, Survey Methodology 24 (1998), 193-201; but what is added counts as a question, not as an answer.
  Where the effective number alone decides, questions that are rarely all wrong bring the coverage down to 75%.
- Values between 0 and 1: close to the bound of N. Gaffke, Mathematical Methods of Statistics 14 (2005), 451-467; see
  E. Learned-Miller and P. S. Thomas, A new confidence interval for the mean of a bounded random variable (2019).

`tests/stats/test_coverage.py` measures at least 93% for 20 and more questions, shares from 1% to 99%, answers to a
question from independent to identical, and values that are mostly one number and rarely another.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats, vector
from mores.stats.resampling import group_codes

Interval = tuple[float, float]
Moments = tuple[float, float, float]
"""A figure between 0 and 1: its value, its variance, and the units that it rests on."""
Z95 = 1.959963984540054
"""The 97.5% quantile of the standard normal distribution."""
TAIL = 0.025
"""The probability beyond either end."""
ROUNDING = 1e-12
"""A figure nearer to 0 or 1 than this equals it."""
_POINTS = np.linspace(0.0, 1.0, 257)


def share_interval(k: int, n: int) -> Interval:
    """Return the exact interval of k of n independent trials (Clopper and Pearson); (0, 1) where n is 0."""
    if not 0 <= k <= n:
        raise ValueError(f"{k} of {n} is not a proportion; expected 0 <= k <= n")
    if n == 0:
        return 0.0, 1.0
    return limits_of(k / n, k * (n - k) / n**3, n)


def mean_interval(
    values: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, least: float = 0.0, most: float = 1.0
) -> Interval:
    """Return the interval of a mean of values between `least` and `most`; samples of a group depend on each other."""
    moments = mean_moments(values, groups=groups, least=least, most=most)
    low, high = limits_of(*moments) if moments else (0.0, 1.0)
    return least + (most - least) * low, least + (most - least) * high


def mean_moments(
    values: npt.ArrayLike, *, groups: npt.ArrayLike | None = None, least: float = 0.0, most: float = 1.0
) -> Moments | None:
    """Return the moments of a mean, in parts of the way from `least` to `most`; None without values."""
    array = vector(values, "values", finite=True)
    parts = (array - least) / (most - least)
    if (np.abs(parts - 0.5) > 0.5 + 1e-9).any():
        raise ValueError(f"values from {array.min():g} to {array.max():g}; expected {least:g} to {most:g}")
    codes, parts = group_codes(groups, array.size), np.clip(parts, 0.0, 1.0)
    return checked_moments(np.bincount(codes, weights=parts), np.bincount(codes))


def ratio_interval(above: npt.ArrayLike, below: npt.ArrayLike, sizes: npt.ArrayLike | None = None) -> Interval:
    """Return the interval of Σ above / Σ below, where 0 <= above <= below in every unit; (0, 1) where Σ below is 0.

    `sizes` is what the below of each unit could be at most; without it, what it is.
    """
    moments = checked_moments(above, below, sizes)
    return limits_of(*moments) if moments else (0.0, 1.0)


def checked_moments(above: npt.ArrayLike, below: npt.ArrayLike, sizes: npt.ArrayLike | None = None) -> Moments | None:
    top, bottom = vector(above, "above", finite=True), vector(below, "below", finite=True)
    wrong = (top < -ROUNDING) | (top > bottom * (1 + 1e-9) + ROUNDING)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise ValueError(f"above[{index}] is {top[index]:g}; expected a number from 0 to its below, {bottom[index]:g}")
    if not bottom.sum():
        return None
    moments = ratio_moments(top, bottom, bottom if sizes is None else vector(sizes, "sizes"))
    value, variance, units = map(float, moments)
    return value, variance, units


def drawn_interval(
    value: float, resampled: npt.ArrayLike, units: float, *, least: float = 0.0, most: float = 1.0
) -> Interval:
    """Return the interval of a figure between `least` and `most`, with the variance of its resampled values.

    Resamples on which the figure is not defined (nan) are left out.
    """
    low, high = limits_of(*drawn_moments(value, resampled, units, least=least, most=most))
    return least + (most - least) * low, least + (most - least) * high


def drawn_moments(
    value: float, resampled: npt.ArrayLike, units: float, *, least: float = 0.0, most: float = 1.0
) -> Moments:
    """Return the moments of such a figure, in parts of the way from `least` to `most`."""
    values, width = np.asarray(resampled, dtype=np.float64), most - least
    variance = float(np.var(values[~np.isnan(values)])) if not np.isnan(values).all() else 0.0
    return (value - least) / width, variance / width**2, units


def difference_interval(first: tuple[float, Interval], second: tuple[float, Interval]) -> Interval:
    """Return the interval of a difference of two independent figures, each given as its value and its interval.

    From d - √((v1-l1)² + (u2-v2)²) to d + √((u1-v1)² + (v2-l2)²): method 10 of R. G. Newcombe, Interval estimation for
    the difference between independent proportions, Statistics in Medicine 17 (1998), 873-890, for any two intervals.
    """
    (first_value, (low1, high1)), (second_value, (low2, high2)) = first, second
    down, up = (
        sqrt((first_value - low1) ** 2 + (high2 - second_value) ** 2),
        sqrt((high1 - first_value) ** 2 + (second_value - low2) ** 2),
    )
    return first_value - second_value - down, first_value - second_value + up


# -- computation -------------------------------------------------------------------------------------------


def ratio_moments(above: Floats, below: Floats, sizes: Floats) -> tuple[Floats, Floats, Floats]:
    """Return, over the last axis: the ratio, its variance by linearisation, and the units of a typical size.

    A typical size is that of the unit that an answer is in, Σ size² / Σ size (L. Kish, Survey Sampling (1965)): large
    units count for more.
    """
    total = below.sum(axis=-1)
    value = above.sum(axis=-1) / total
    variance = ((above - value[..., None] * below) ** 2).sum(axis=-1) / total**2
    return value, variance, total * sizes.sum(axis=-1) / (sizes**2).sum(axis=-1)


def limits(
    value: npt.ArrayLike, variance: npt.ArrayLike, units: npt.ArrayLike, tail: npt.ArrayLike = TAIL
) -> tuple[Floats, Floats]:
    """Return both ends for figures between 0 and 1, given the variance (0 where all units agree) and units of each."""
    v, s, n = np.broadcast_arrays(*(np.asarray(numbers, dtype=np.float64) for numbers in (value, variance, units)))
    below, above = upper_limits(np.stack([1 - v, v]), s, n, np.asarray(tail))
    return 1 - below, above


@lru_cache(maxsize=16_384)
def limits_of(value: float, variance: float, units: float, tail: float = TAIL) -> Interval:
    """Return both ends for one figure; on a page many figures are of the same counts."""
    low, high = limits(value, variance, units, tail)
    return float(low), float(high)


def upper_limits(value: Floats, variance: Floats, units: Floats, tail: Floats) -> Floats:
    """Return the upper end, from the mean of x of n units and a 1 and its variance, Σ (x - mean)² / ((n+1)(n+2))."""
    room = 1 - value
    mean = value + room / (units + 1)
    spread = (units**2 * variance + room**2 * units / (units + 1)) / ((units + 1) * (units + 2))
    inside = room > ROUNDING
    precision = np.divide(mean * (1 - mean), spread, out=np.full_like(mean, 3.0), where=inside) - 1
    # Units of very different sizes may vary more than any share of so many can; then nearly nothing is known.
    precision = np.maximum(precision, 0.5 / np.where(inside, np.minimum(mean, 1 - mean), 0.5))
    a, b = np.where(inside, (mean * precision, (1 - mean) * precision), 1.0)
    quantiles: Floats = np.where(inside, beta_quantile(a, b, 1 - tail), 1.0)
    return quantiles


def beta_quantile(a: npt.ArrayLike, b: npt.ArrayLike, q: npt.ArrayLike) -> Floats:
    """Return the quantile of beta distributions, to about four digits of its spread.

    On the logit scale the density is smooth and falls off exponentially on both sides, so that sums over equal steps,
    with the first term of Euler and Maclaurin's correction, are nearly exact. From the nearest step on, the sum is
    inverted as a power series.
    """
    parameters = np.broadcast_arrays(*(np.asarray(numbers, dtype=np.float64) for numbers in (a, b, q)))
    alpha, beta, chances = (numbers.reshape(-1, 1) for numbers in parameters)
    total = alpha + beta
    reach, mode = 5.5 * np.sqrt(1 / alpha + 1 / beta), np.log(alpha / beta)
    start, end = mode - reach - 14 / alpha, mode + reach + 14 / beta
    step, at = (end - start) / (_POINTS.size - 1), start + (end - start) * _POINTS
    chance = 1 / (1 + np.exp(-at))
    peak = alpha * np.log(alpha / total) + beta * np.log(beta / total)
    density = np.exp(alpha * at - total * np.log1p(np.exp(at)) - peak)
    tilt = alpha - total * chance
    mass = step * (np.cumsum(density, axis=1) - density / 2) - step**2 / 12 * density * tilt
    goal = chances[:, 0] * mass[:, -1]
    near = np.arange(len(at)), np.argmin(np.abs(mass - goal[:, None]), axis=1)
    move, first, hit = (goal - mass[near]) / density[near], tilt[near], chance[near]
    second = first**2 / 3 + total[:, 0] * hit * (1 - hit) / 6
    logits = at[near] + move - first / 2 * move**2 + second * move**3
    quantiles: Floats = 1 / (1 + np.exp(-logits))
    return quantiles.reshape(parameters[0].shape)
