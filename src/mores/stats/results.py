"""A share or a mean with its 95% interval, as the record that results are made of."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mores.stats.classification import vector
from mores.stats.intervals import mean_interval, share_interval
from mores.types import Result


def share_result(name: str, hits: int, n: int, unscored: int = 0) -> Result:
    """Return the share hits/n of independent trials; no value where n is 0."""
    low, high = share_interval(hits, n) if n else (None, None)
    return Result(name=name, value=hits / n if n else None, low=low, high=high, n=n, unscored=unscored)


def mean_result(
    name: str,
    values: npt.ArrayLike,
    *,
    groups: npt.ArrayLike | None = None,
    least: float = 0.0,
    most: float = 1.0,
    unscored: int = 0,
) -> Result:
    """Return the mean of values between `least` and `most` with its `mean_interval`; no value without any."""
    array = vector(values, "values")
    if not array.size:
        return Result(name=name, value=None, unscored=unscored)
    low, high = mean_interval(array, groups=groups, least=least, most=most)
    return Result(name=name, value=float(np.mean(array)), low=low, high=high, n=array.size, unscored=unscored)
