"""Standard errors of statistics over pairs of samples, by how much each sample moves them.

A statistic over pairs, θ = mean of h(i, j), has to first order the variance Σ f(i)², where f(i) = 2/n · (mean over j
of h(i, j) - θ) is the influence of sample i (W. Hoeffding, A class of statistics with asymptotically normal
distribution, Annals of Mathematical Statistics 19 (1948), 293-325); a ratio of such statistics follows by the delta
method. Samples of one group are not independent, so their influences are added up before they are squared (K.-Y. Liang
and S. L. Zeger, Biometrika 73 (1986), 13-22). Two metrics on the same samples are compared by the difference of their
influences, so that one pass over the pairs of each metric serves all comparisons; resampling would need one each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import atanh, erfc, sqrt, tanh

import numpy as np
import numpy.typing as npt

from mores.stats.classification import Floats, auc, labels, same_length, vector
from mores.stats.intervals import ROUNDING, TAIL, limits
from mores.stats.resampling import group_codes

BLOCK = 250_000
"""Pairs that are looked at together: few enough for the processor's cache."""
FEWEST = 20
"""Samples (or groups) from which a correlation has the interval of Fisher's z."""
LEVELS = 64
"""Up to this many levels of x are processed one by one, without looking at pairs."""


@dataclass(frozen=True)
class Influenced:
    """A statistic, and the influence of each sample on it."""

    value: float
    influence: Floats
    units: float
    """How many samples of one class, or pairs without a common sample, it is based on."""
    least: float = -1.0
    """The lowest possible value; the highest is 1."""
    curve: float | None = None
    """Of a correlation, the least standard error of Fisher's z, times √(samples - 3); None where it has no z."""

    def error(self, groups: npt.ArrayLike | None = None) -> float:
        """Return the standard error; samples of a group are taken to depend on each other."""
        return _error(self.influence, groups)

    def interval(self, groups: npt.ArrayLike | None = None) -> tuple[float, float]:
        """Return the 95% interval, which is never a point, even if all samples agree.

        Of a correlation of 20 samples (or groups) and more that do not all agree it is that of Fisher's z, with this
        standard error and Student's t: symmetric ends around a high correlation would be far too wide.
        """
        if self.has_z(groups):
            assert self.curve is not None
            count, slope = np.unique(group_codes(groups, self.influence.size)).size, 1 - self.value**2
            error = max(self.error(groups) * sqrt(count / (count - 3)) / slope, self.curve / sqrt(count - 3))
            from scipy.special import stdtrit  # not above: an installation without extras lacks it

            reach, z = float(stdtrit(count - 3, 1 - TAIL)) * error, atanh(self.value)
            return tanh(z - reach), tanh(z + reach)
        return _interval(self.value, self.error(groups), _independent(self, groups), self.least, 1.0)

    def has_z(self, groups: npt.ArrayLike | None = None) -> bool:
        """Return whether its interval is that of Fisher's z."""
        enough = np.unique(group_codes(groups, self.influence.size)).size >= FEWEST
        return self.curve is not None and enough and self.error(groups) > ROUNDING and abs(self.value) < 1


@dataclass(frozen=True)
class ZTest:
    """The difference of two statistics on the same samples."""

    difference: float
    low: float
    high: float
    p_value: float
    """Two-sided."""


def kendall_b(human: npt.ArrayLike, metric: npt.ArrayLike) -> Influenced | None:
    """Return τ-b: S / √(X·Y), with S the mean of sign(Δx)·sign(Δy) over pairs, X and Y the shares without ties.

    None where one side is constant. The value is that of `correlation.kendall_tau_b`.
    """
    x, y = _pair_up(human, metric)
    if x.size < 2:
        return None
    per_sample = np.stack([_concordance(x, y), x.size - _alike(x), x.size - _alike(y)]) / (x.size - 1)
    s, untied_x, untied_y = per_sample.mean(axis=1)
    if not untied_x or not untied_y:
        return None
    tau = float(s / np.sqrt(untied_x * untied_y))
    of_ties = tau / 2 * ((per_sample[1] - untied_x) / untied_x + (per_sample[2] - untied_y) / untied_y)
    influence = 2 / x.size * ((per_sample[0] - s) / np.sqrt(untied_x * untied_y) - of_ties)
    return Influenced(tau, influence, x.size / 2, curve=0.0)


def pearson(human: npt.ArrayLike, metric: npt.ArrayLike) -> Influenced | None:
    """Return r, with the influence zx·zy - r/2 (zx² + zy²) of each sample (S. J. Devlin, R. Gnanadesikan and J. R.
    Kettenring, Biometrika 62 (1975), 531-545). None where one side is constant.
    """
    x, y = _pair_up(human, metric)
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    zx, zy = ((values - values.mean()) / values.std() for values in (x, y))
    r = float(np.clip((zx * zy).mean(), -1.0, 1.0))
    return Influenced(r, (zx * zy - r / 2 * (zx**2 + zy**2)) / x.size, float(x.size), curve=1.0)


def _alike(values: Floats) -> Floats:
    """Return how many samples have each sample's value."""
    _, level, counts = np.unique(values, return_inverse=True, return_counts=True)
    return counts[level].astype(np.float64)


def _concordance(x: Floats, y: Floats) -> Floats:
    """Sum sign(x_i - x_j)·sign(y_i - y_j) over j: level by level of x where they are few, as people's scores are."""
    total = np.zeros(x.size)
    levels = np.unique(x)
    if levels.size > LEVELS:
        for rows, dx, dy in _differences(x, y):
            total[rows] = (np.sign(dx) * np.sign(dy)).sum(axis=1)
        return total
    for level in levels:
        others = np.sort(y[x == level])
        below, upto = np.searchsorted(others, y, "left"), np.searchsorted(others, y, "right")
        total += np.sign(x - level) * (below - (others.size - upto))
    return total


def tie_accuracy(human: npt.ArrayLike, metric: npt.ArrayLike, epsilon: float) -> Influenced | None:
    """Return the tie-calibrated accuracy over all pairs at a given ε, which is taken as fixed. None without pairs.

    The value is that of `ties.tie_accuracy` with one group.
    """
    x, y = _pair_up(human, metric)
    if x.size < 2:
        return None
    correct = np.zeros(x.size)
    for rows, dx, dy in _differences(x, y):
        alike = np.where(np.abs(dy) <= epsilon, dx == 0, dx * dy > 0)
        correct[rows] = alike.sum(axis=1) - 1  # a sample agrees with itself
    per_sample = correct / (x.size - 1)
    return Influenced(float(per_sample.mean()), 2 / x.size * (per_sample - per_sample.mean()), x.size / 2, least=0.0)


def area(gold: npt.ArrayLike, scores: npt.ArrayLike) -> Influenced | None:
    """Return the area under the ROC curve, with the influences of E.

    R. DeLong et al., Biometrics 44 (1988), 837-845.
    """
    truth, values = labels(gold, "gold"), vector(scores, "scores", finite=True)
    value = auc(truth, values)
    if value is None:
        return None
    influence = np.empty(values.size)
    for side in (True, False):
        scores_of_side, others = values[truth == side], np.sort(values[truth != side])
        below = np.searchsorted(others, scores_of_side, "left") + np.searchsorted(others, scores_of_side, "right")
        beaten = below / (2 * others.size)
        influence[truth == side] = ((beaten if side else 1 - beaten) - value) / scores_of_side.size
    return Influenced(value, influence, float(min(truth.sum(), (~truth).sum())), least=0.0)


def compare(first: Influenced, second: Influenced, groups: npt.ArrayLike | None = None) -> ZTest:
    """Test whether two statistics of the same samples are equal: z = difference / error of the difference.

    The p-value is at least 2 / 2ⁿ for n samples (or groups), as no paired test of so few can give less. The difference
    of two correlations with Fisher's z has an interval of both (G. Y. Zou, Toward using confidence intervals to compare
    correlations, Psychological Methods 12 (2007), 399-413), which depend on each other as their influences do.
    """
    same_length(first=first.influence, second=second.influence)
    difference = first.value - second.value
    error = _error(first.influence - second.influence, groups)
    p_value = erfc(abs(difference) / error / sqrt(2)) if error else float(difference == 0)
    units = np.unique(group_codes(groups, first.influence.size)).size
    least = min(1.0, 2.0 ** (1 - units))
    if error > ROUNDING and first.has_z(groups) and second.has_z(groups):
        errors = first.error(groups), second.error(groups)
        alike = (errors[0] ** 2 + errors[1] ** 2 - error**2) / (2 * errors[0] * errors[1])
        (low1, high1), (low2, high2) = first.interval(groups), second.interval(groups)
        below, above = (first.value - low1, high2 - second.value), (high1 - first.value, second.value - low2)
        down, up = (sqrt(max(0.0, a**2 + b**2 - 2 * alike * a * b)) for a, b in (below, above))
        return ZTest(difference, difference - down, difference + up, max(p_value, least))
    width = 1 - min(first.least, second.least)
    low, high = _interval(
        difference, error, min(_independent(statistic, groups) for statistic in (first, second)), -width, width
    )
    return ZTest(difference, low, high, max(p_value, least))


def _independent(statistic: Influenced, groups: npt.ArrayLike | None) -> float:
    """Return its units, counting the samples of a group as one."""
    n = statistic.influence.size
    return statistic.units * np.unique(group_codes(groups, n)).size / n


def _interval(value: float, error: float, units: float, least: float, most: float) -> tuple[float, float]:
    width = most - least
    low, high = limits((value - least) / width, (error / width) ** 2, units)
    return least + width * float(low), least + width * float(high)


def _error(influence: Floats, groups: npt.ArrayLike | None) -> float:
    codes = group_codes(groups, influence.size)
    return float(np.sqrt((np.bincount(codes, weights=influence) ** 2).sum())) if influence.size else 0.0


def _pair_up(human: npt.ArrayLike, metric: npt.ArrayLike) -> tuple[Floats, Floats]:
    x, y = vector(human, "human", finite=True), vector(metric, "metric", finite=True)
    same_length(human=x, metric=y)
    return x, y


def _differences(x: Floats, y: Floats) -> Iterator[tuple[slice, Floats, Floats]]:
    """Yield the differences of some samples to all, block by block."""
    step = max(1, BLOCK // max(1, x.size))
    for start in range(0, x.size, step):
        rows = slice(start, start + step)
        yield rows, x[rows, None] - x[None, :], y[rows, None] - y[None, :]
