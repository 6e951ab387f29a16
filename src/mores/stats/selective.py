"""Selective accuracy: how often the most confident answers are correct, for the answers and all resamples at once.

Answers with the same confidence to the same question are one cell. A resample is then a weight for each question, and
every figure is computed for many resamples together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from mores.stats.classification import Bools, Floats, ratios
from mores.stats.intervals import Z95, Interval, limits, ratio_moments
from mores.stats.resampling import Indices, draw_counts


class Ranked(NamedTuple):
    """Samples × confidences, the highest first: how many answers, and how many correct ones."""

    confidence: Floats
    n: Floats
    hits: Floats

    def thresholds(self) -> tuple[Floats, Floats]:
        """Return, for every confidence, the answers at least as confident, and the correct ones; starts with zero."""
        tops = (np.cumsum(part, axis=1) for part in (self.n, self.hits))
        covered, correct = (np.concatenate((np.zeros((len(top), 1)), top), axis=1) for top in tops)
        return covered, correct


class ConfidenceCells(NamedTuple):
    """Answers by confidence, the highest first, and question."""

    confidence: Floats
    n: Floats
    hits: Floats
    unit: Indices
    units: int

    def unweighted(self) -> Ranked:
        """Return the answers themselves."""
        return self.weighted(np.ones((1, self.units)))

    def weighted(self, times: Floats) -> Ranked:
        """Return the answers of resamples, given how often each question is drawn."""
        weights = times[:, self.unit]
        return self.ranked(weights * self.n, weights * self.hits)

    def ranked(self, n: Floats, hits: Floats) -> Ranked:
        """Return samples × cells, combined by confidence."""
        starts = np.flatnonzero(np.concatenate(([True], self.confidence[1:] != self.confidence[:-1])))
        together = (np.add.reduceat(part, starts, axis=1) for part in (n, hits))
        return Ranked(self.confidence[starts], *together)

    def resamples(self) -> Iterator[Ranked]:
        """Return blocks of resamples of the questions."""
        return map(self.weighted, draw_counts(self.units, width=len(self.confidence)))


def make_cells(confidence: Floats, correct: Bools, unit: Indices) -> ConfidenceCells:
    """Return the cells of answers; `unit` may have any numbers."""
    codes = np.unique(unit, return_inverse=True)[1].ravel()
    keys, cell_of = np.unique(np.stack([-confidence, codes], axis=1), axis=0, return_inverse=True)
    cell_of = cell_of.ravel()
    hits: Floats = np.bincount(cell_of, weights=correct.astype(np.float64), minlength=len(keys)).astype(np.float64)
    n = np.bincount(cell_of, minlength=len(keys)).astype(np.float64)
    return ConfidenceCells(-keys[:, 0], n, hits, keys[:, 1].astype(np.intp), int(codes.max(initial=-1)) + 1)


# -- figures of samples × thresholds -----------------------------------------------------------------------


def auroc(covered: Floats, correct: Floats) -> Floats:
    """Return how often a correct answer is more confident than a wrong one; a tie counts half."""
    hits, misses = np.diff(correct, axis=1), np.diff(covered - correct, axis=1)
    wrong = (covered - correct)[:, -1:]
    below = wrong - (covered - correct)[:, 1:] + misses / 2
    return ratios((hits * below).sum(axis=1), correct[:, -1] * wrong[:, 0])


def selective(covered: Floats, correct: Floats, coverage: float) -> Floats:
    """Return the accuracy of the most confident share of the answers; of equally confident ones, a random part."""
    target = coverage * covered[:, -1]
    after = np.maximum((covered < target[:, None] - 1e-9).sum(axis=1), 1)
    row = np.arange(len(covered))
    start, end = covered[row, after - 1], covered[row, after]
    first, last = correct[row, after - 1], correct[row, after]
    hits = first + (last - first) * ratios(target - start, end - start)
    return ratios(hits, target)


def area(covered: Floats, correct: Floats) -> Floats:
    """Return the mean of the selective accuracy over all coverages, exactly: hits grow linearly among ties.

    Between coverages a and b the accuracy is (h + r (t - a)) / t, whose integral is r (b - a) + (h - r a) ln(b / a).
    """
    a, b, h = covered[:, :-1], covered[:, 1:], correct[:, :-1]
    rate = np.nan_to_num(ratios(np.diff(correct, axis=1), b - a))
    logs = np.log(np.divide(b, a, out=np.ones_like(b), where=a > 0))
    mean: Floats = (rate * (b - a) + (h - rate * a) * logs).sum(axis=1) / covered[:, -1]
    return mean


# -- the curve ---------------------------------------------------------------------------------------------


class SelectivePoint(NamedTuple):
    """The accuracy if only the most confident answers are given."""

    coverage: float
    """The share of answers that are given."""
    accuracy: float
    low: float
    high: float
    threshold: float
    """The lowest confidence among them; of equally confident answers a random part is taken."""


def selective_curve(cells: ConfidenceCells, coverages: Floats) -> list[SelectivePoint]:
    """Return the selective accuracy at each coverage, with its interval."""
    ranked = cells.unweighted()
    covered, correct = ranked.thresholds()
    indices = np.maximum((covered[0] < coverages[:, None] * covered[0, -1] - 1e-9).sum(axis=1), 1) - 1
    return [
        SelectivePoint(
            coverage, float(selective(covered, correct, coverage)[0]), *selective_interval(cells, coverage), threshold
        )
        for coverage, threshold in zip(coverages.tolist(), ranked.confidence[indices].tolist(), strict=True)
    ]


def selective_interval(cells: ConfidenceCells, coverage: float) -> Interval:
    """Return the interval of the accuracy of the most confident answers, where the cut-off is uncertain as well.

    In other samples of the questions this cut-off covers another share: c within d = 1.96 standard errors. Where many
    answers have the same confidence, just above it they may be far better than just below, and resampled values lean
    to one side. So the end is the farthest of those of all cut-offs c, where a cut-off that is f of d away leaves
    √(1 - f²) of the interval's side: both errors together are as far as one of them alone may be.
    """
    ranked = cells.unweighted()
    covered = ranked.thresholds()[0][0]
    reach = Z95 * np.sqrt(coverage * (1 - coverage) / cells.units)
    edges = covered[1:] / covered[-1]
    edges = edges[np.abs(edges - coverage) < reach]
    cuts = np.concatenate([coverage + reach * np.linspace(-1, 1, 17), edges[:: 1 + len(edges) // 16]])
    cuts = cuts[(cuts > 0) & (cuts <= 1)]
    covered_shares = np.clip((cuts[:, None] * covered[-1] - covered[:-1]) / np.diff(covered), 0, 1)
    weights = covered_shares[:, np.searchsorted(-ranked.confidence, -cells.confidence)]
    hits, n = (
        np.array([np.bincount(cells.unit, weights=part * weight) for weight in weights], dtype=np.float64)
        for part in (cells.hits, cells.n)
    )
    value, variance, units = ratio_moments(hits, n, n)
    low, high = limits(value, variance, units)
    side = np.sqrt(np.maximum(0.0, 1 - ((cuts - coverage) / reach) ** 2)) if reach else 1.0
    return float((value - side * (value - low)).min()), float((value + side * (high - value)).max())
