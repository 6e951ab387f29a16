"""Shares, means, ratios and paired differences as the record that results are made of, missing answers included.

`low` and `high` are of the answers that are there, `whole` of all of them, whatever the missing ones are: see
`stats.missing`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats, same_length, vector
from mores.stats.intervals import mean_interval, mean_moments, share_interval
from mores.stats.missing import Ends, fill, with_missing
from mores.stats.ratio import Ratio
from mores.types import Result


def share_result(name: str, hits: int, n: int, unscored: int = 0) -> Result:
    """Return the share hits/n of independent trials; no value where n is 0."""
    low, high = share_interval(hits, n) if n else (None, None)
    result = Result(name=name, value=hits / n if n else None, low=low, high=high, n=n, unscored=unscored)
    if not unscored:
        return result
    total = n + unscored
    worst, best = ((k / total, k * (total - k) / total**3, total) for k in (hits, hits + unscored))
    return with_missing(result, worst, best)


def mean_result(
    name: str,
    values: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    least: float = 0.0,
    most: float = 1.0,
    unscored: int = 0,
    ends: Ends | None = None,
) -> Result:
    """Return the mean of values between `least` and `most`; nan is unscored, and there is no value without any other.

    So many more `unscored` are not among the values. `ends` are what each value is at least and at most, where more is
    known of it than that.
    """
    array = np.append(vector(values, "values", missing=True), np.full(unscored, np.nan))
    scored, codes = ~np.isnan(array), None if groups is None else np.asarray(groups)
    n, result = int(scored.sum()), Result(name=name, value=None, unscored=int((~scored).sum()))
    if n:
        some = None if codes is None else codes[scored]
        low, high = mean_interval(array[scored], groups=some, least=least, most=most)
        result = result.model_copy(update={"value": float(np.mean(array[scored])), "low": low, "high": high, "n": n})
    if ends is None and not result.unscored:
        return result
    worst, best = (mean_moments(x, groups=codes, least=least, most=most) for x in ends or fill(array, least, most))
    return with_missing(result, worst, best, least=least, most=most)


def ratio_result(name: str, figure: Ratio, units: Floats, n: int, unscored: npt.ArrayLike) -> Result:
    """Return a figure of units × kinds, of n answers; each unit has so many more `unscored`, of any kind.

    Ratios are lowest and highest where all of these are of the same kind.
    """
    lost = np.asarray(unscored, dtype=np.float64)
    kinds, more = np.eye(units.shape[1]), int(lost.sum())
    values = figure.value(units.sum(axis=0)[:, None] + more * kinds)
    extremes = (0, 0) if np.isnan(values).all() else (np.nanargmin(values), np.nanargmax(values))
    worst, best = (units + np.outer(lost, kinds[kind]) for kind in extremes)
    return ratio_between(name, figure, units, (worst, best), n, more)


def ratio_between(name: str, figure: Ratio, units: Floats, ends: Ends, n: int, unscored: int) -> Result:
    """Return a figure of units × kinds, and of what these would be with the unscored as bad and as good as possible."""
    value = float(figure.value(units.sum(axis=0)[:, None])[0])
    result = Result(name=name, value=None, n=n, unscored=unscored)
    if not np.isnan(value):
        low, high = figure.interval(units)
        result = result.model_copy(update={"value": value, "low": low, "high": high})
    return with_missing(result, *map(figure.moments, ends)) if unscored else result


def difference_result(
    name: str,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    least: float = 0.0,
    most: float = 1.0,
    ends: tuple[Ends, Ends] | None = None,
) -> Result:
    """Return the mean of the first less the second on the same samples, where nan is missing in either.

    The value is of the samples that both have; `ends` as in `mean_result`, of the first and of the second.
    """
    a, b = (vector(values, of, missing=True) for values, of in ((first, "first"), (second, "second")))
    same_length(first=a, second=b)
    one, two = ends or (fill(a, least, most), fill(b, least, most))
    width = most - least
    return mean_result(name, a - b, groups=groups, least=-width, most=width, ends=(one[0] - two[1], one[1] - two[0]))
