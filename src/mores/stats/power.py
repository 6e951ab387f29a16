"""How many more ratings a difference needs before a test shows it.

    result = fit(Model("rating", ("model",), ("language",)), data)
    for contrast in contrasts(result, ("model",)):
        contrast_power(result, contrast).more                      # 140 more ratings, 70 of each model

It answers: *if the true difference is as large as the one seen* (or as `difference` says), how many are needed
for a two-sided test at 5% to be significant in 80% of studies. A difference that was seen is often larger than the true
one, so these are the least that one should plan; and what is significant already needs no more by this rule, though it
may have been luck. `mores plan` plans a study before there are data.

Contrasts scale: the standard error of a difference between two models falls with the square root of their ratings, if
the new ones are spread over people, languages and questions as the present ones are. That is exact for the fixed
effects' information and leaves out that new questions or people bring random effects of their own, which cancel in a
difference between models whose answers the same people rate. `tests/stats/test_power.py` compares it with simulations.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from scipy.stats import norm, studentized_range

from mores.stats.intervals import TAIL
from mores.stats.mixed import Fit, MeanContrast
from mores.stats.mixed.comparison import Adjustment, adjusted
from mores.stats.mixed.design import CodedFactor

POWER = 0.8
MOST = 1_000_000
"""More than this are not worth counting: the answer is None."""


@dataclass(frozen=True, slots=True)
class Need:
    """What a test needs to show a difference."""

    difference: float
    """The difference that is to be shown, of latent values."""
    p: float
    """Of the present data, adjusted as the test will be."""
    n: tuple[int, ...]
    """How many ratings there are of each of two models."""
    more: tuple[int, ...] | None
    """How many more of each are needed; zeros where p is significant, None where more than `MOST` are."""
    power: float
    """The power with the present number, if the true difference is this one."""
    detectable: float
    """The least difference that the present number shows with that power."""

    @property
    def total(self) -> int | None:
        """All that are needed."""
        return None if self.more is None else sum(self.more)


def contrast_power(
    result: Fit,
    contrast: MeanContrast,
    *,
    size: int = 2,
    adjust: Adjustment = "none",
    difference: float | None = None,
    power: float = POWER,
) -> Need:
    """Return how many more ratings of the two models a contrast needs, if present proportions stay.

    `size` is how many means are compared with each other, for `adjust` as in `contrasts`; `difference` is what is to
    be shown, in latent units, where that is not the estimate.
    """
    check_power(power)
    critical, goal = critical_value(size, adjust), contrast.estimate if difference is None else difference
    present = count_rows(result, contrast)
    p = adjusted(contrast.z, size, size * (size - 1) // 2, adjust)
    reach = critical + float(norm.ppf(power))
    growth = (reach * contrast.se / goal) ** 2 if goal else float("inf")
    more: tuple[int, ...] | None = None
    if difference is None and p <= 2 * TAIL:
        more = (0, 0)
    elif growth * sum(present) <= MOST:
        more = tuple(max(0, ceil(n * (growth - 1) - 1e-9)) for n in present)
    now = norm.cdf(abs(goal) / contrast.se - critical) + norm.cdf(-abs(goal) / contrast.se - critical)
    return Need(goal, p, present, more, float(now), reach * contrast.se)


def critical_value(size: int, adjust: Adjustment) -> float:
    """Return the |z| beyond which one of the comparisons of so many means is significant at 5%."""
    count = size * (size - 1) // 2
    if count < 1:
        raise ValueError(f"{size} means; a comparison needs at least two")
    if adjust == "tukey" and count > 1:
        return float(studentized_range.isf(2 * TAIL, size, np.inf) / sqrt(2))
    return float(norm.isf(TAIL / (count if adjust == "bonferroni" else 1)))


def count_rows(result: Fit, contrast: MeanContrast) -> tuple[int, int]:
    """Return the ratings in both cells of a contrast."""
    counts = []
    for cell in (contrast.first, contrast.second):
        rows = np.ones(len(result.design.response.codes), dtype=bool)
        for name, level in {**cell, **contrast.within}.items():
            factor = result.design.variables[name]
            if not isinstance(factor, CodedFactor):
                raise ValueError(f"the model has no factor {name!r}")
            rows &= factor.codes == factor.levels.index(level)
        counts.append(int(rows.sum()))
    return counts[0], counts[1]


def check_power(power: float) -> None:
    if not 2 * TAIL < power < 1:
        raise ValueError(f"power is {power:g}; expected a share between 0.05 and 1, such as 0.8")
