"""Ranks of models in many resamples at once; the highest value is first, and equal values share their places."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats, ratios

Ints = npt.NDArray[np.int64]
ROUNDING = 1e-12
"""Values nearer to each other than this are equal: the order of a sum must not decide a rank."""


def rank_range(values: Floats) -> tuple[Ints, Ints]:
    """Samples × models: the first and the last place that each model shares."""
    signs = _signs(values)
    above, equal = (signs < 0).sum(axis=2), (signs == 0).sum(axis=2)
    return 1 + above, above + equal


def mid_ranks(values: Floats) -> Floats:
    """Samples × models: the mean of the places that each model shares."""
    first, last = rank_range(values)
    found: Floats = (first + last) / 2
    return found


def rank_spans(values: Floats) -> tuple[Ints, Ints]:
    """For each model, between which places 95% of the samples put it."""
    first, last = rank_range(values)
    low = np.quantile(first, 0.025, axis=0, method="inverted_cdf")
    high = np.quantile(last, 0.975, axis=0, method="inverted_cdf")
    return low.astype(np.int64), high.astype(np.int64)


def kendall(first: Floats, second: Floats) -> Floats:
    """Kendall's tau-b of each sample of both; nan where one of them has all models equal."""
    rows = min(len(first), len(second))
    one, other = _signs(first[:rows]), _signs(second[:rows])
    # Every pair is there twice, above and below.
    above = (one * other).sum(axis=(1, 2))
    below = np.sqrt((one != 0).sum(axis=(1, 2)) * (other != 0).sum(axis=(1, 2)))
    return ratios(above.astype(np.float64), below)


def _signs(values: Floats) -> npt.NDArray[np.int8]:
    """Samples × models × models: 1 where the first is higher, -1 where the second is."""
    gaps = values[:, :, None] - values[:, None, :]
    return np.where(np.abs(gaps) <= ROUNDING, 0, np.sign(gaps)).astype(np.int8)
