"""Missing answers as a part of a figure: bounds, and intervals that cover the sample's chance and them together.

An answer that is missing may be anything, and what fails is rarely a random part: a judge fails on the answers that it
would get wrong, people skip the bad ones. So a figure is computed twice, with every missing answer as bad and as good
as it can be (C. F. Manski, Nonparametric bounds on treatment effects, American Economic Review 80 (1990), 319-323).
Its value for all answers is between the two, and the interval from the lower end of the one to the upper end of the
other covers it 95% of the time (G. W. Imbens and C. F. Manski, Confidence intervals for partially identified
parameters, Econometrica 72 (2004), 1845-1857). The value cannot be at both ends at once: where the two are far apart,
all of the 5% may lie beyond either end, and where nothing is missing, half of it (`tail_of`). The ends are those of
`stats.intervals`, which hold for 20 answers too; without missing answers the interval is the usual one.

An interval of the answers that are there assumes that the others are like them ("missing at random"). It is narrower,
and stands beside; no verdict rests on it. Kendall's τ, α and mixed models have no bounds here: they are of the
complete cases, with the share that is missing, and no verdict rests on them where some are.

`tests/stats/test_missing.py` measures at least 94% for shares and paired differences and 93% for mean ratings, of 20 to
500 answers with 0 to 40% missing, whether at random or because they are wrong, or correct. The least is 92%, for means
of values of which one is rare, and all of the rare ones are missing.
"""

from __future__ import annotations

from math import erf

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats, vector
from mores.stats.intervals import TAIL, Moments, upper_limits
from mores.types import Result

Ends = tuple[Floats, Floats]
"""What each value is at least, and at most."""
STEPS = 8
"""Newton's steps; the function is concave and they start on its left, so they never overshoot."""


def tail_of(width: npt.ArrayLike, error: npt.ArrayLike) -> Floats:
    """Return the probability beyond each end: 1 - Φ(c), where Φ(c + width/error) - Φ(-c) = 0.95 (Imbens and Manski).

    `width` is the distance between the bounds and `error` the larger of their standard errors.
    """
    apart, spread = np.broadcast_arrays(*(np.asarray(numbers, dtype=np.float64) for numbers in (width, error)))
    ratio = np.minimum(np.divide(apart, spread, out=np.where(apart > 0, 9.0, 0.0), where=spread > 0), 9.0)
    c = np.full_like(ratio, 1.6448)
    for _ in range(STEPS):
        slope = (np.exp(-((c + ratio) ** 2) / 2) + np.exp(-(c**2) / 2)) / np.sqrt(2 * np.pi)
        c = c - (_normal(c + ratio) - _normal(-c) - (1 - 2 * TAIL)) / slope
    return 1 - _normal(c)


def _normal(x: Floats) -> Floats:
    shares: Floats = (1 + np.asarray(_erf(x / np.sqrt(2)), dtype=np.float64)) / 2
    return shares


_erf = np.frompyfunc(erf, 1, 1)  # np.vectorize takes more than twice as long for one number


def cover(worst: Floats, best: Floats) -> tuple[Floats, Floats]:
    """Return both ends for figures between 0 and 1, from their moments if all that is missing is bad, or is good."""
    (low, low_variance, _), (high, high_variance, _) = worst, best
    tail = tail_of(high - low, np.sqrt(np.maximum(low_variance, high_variance)))
    values, (variances, units) = np.stack([1 - low, high]), np.stack([worst[1:], best[1:]], axis=1)
    below, above = upper_limits(values, variances, units, tail)
    return 1 - below, above


def fill(values: npt.ArrayLike, least: float = 0.0, most: float = 1.0) -> Ends:
    """Return what values are at least and at most, where nan is missing."""
    array = vector(values, "values", missing=True)
    return np.where(np.isnan(array), least, array), np.where(np.isnan(array), most, array)


def with_missing(
    result: Result, worst: Moments | None, best: Moments | None, *, least: float = 0.0, most: float = 1.0
) -> Result:
    """Return a result between `least` and `most` with its bounds and their interval, where something is missing."""
    if worst is None or best is None or worst == best:
        return result
    ends = ((worst[0], best[0]), map(float, cover(np.array(worst), np.array(best))))
    bounds, whole = ((least + (most - least) * low, least + (most - least) * high) for low, high in ends)
    # With the missing answers filled in it may come out narrower, where very few are there.
    if result.low is not None and result.high is not None:
        whole = min(whole[0], result.low), max(whole[1], result.high)
    return result.model_copy(update={"bounds": bounds, "whole": whole})


def decide(difference: Result | None, than: float = 0.0) -> int:
    """Return 1 where a figure is above a number, -1 where below, missing answers included; 0 where that is not shown.

    Of a paired difference, 1 says that the first is higher.
    """
    interval = difference and difference.interval
    return int(interval[0] > than) - int(interval[1] < than) if interval else 0
