"""Pairwise agreement of a metric with people, counting ties as ties.

Tie calibration: D. Deutsch, G. Foster and M. Freitag, Ties Matter: Meta-Evaluating Modern Metrics with Pairwise
Accuracy and Tie Calibration, EMNLP 2023. People often give equal scores, and a metric with fine-grained scores almost
never does; so two metric scores count as tied when they differ by at most ε, and ε is chosen to agree best with people.

    accuracy = (pairs ordered alike by both + pairs tied in both) / pairs, per group; then the mean over the groups

Pairs are formed within a group (a source item, say). All of them count: nothing is sampled. Accuracies are compared as
whole numbers, so no rounding decides between two ε. Metric differences are those of float64: 0.3 - 0.2 and 0.2 - 0.1
are two candidates, so compare the best accuracy of two implementations rather than the best ε.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from mores.stats.classification import Bools, Floats, Ints, same_length, vector
from mores.stats.resampling import Indices, group_codes

Weights = npt.NDArray[Any]
"""Whole numbers: int64 if they fit, otherwise Python integers in an object array."""
LARGEST = 1e300
"""Differences of metric scores up to this are finite."""
BLOCK = 2**17
"""Pairs that are processed together: few enough for the processor's cache."""
CELLS, FEWEST_BUCKETS = 2**13, 2**10
"""The number of counts over all group sizes, and the minimum number of buckets."""


@dataclass(frozen=True)
class TieAccuracy:
    """The share of pairs that a metric orders, or ties, as people do."""

    accuracy: float
    """Mean over the groups of each group's accuracy."""
    epsilon: float
    """Metric scores that differ by at most this are tied."""
    pairs: int
    """Those that were judged."""
    left_out: int
    """Those with a missing score, by people or by the metric; they count neither for nor against."""
    groups: int
    """Those with at least one pair; the others have no accuracy and are not in the mean."""


def calibrate_ties(
    human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None = None
) -> TieAccuracy | None:
    """Return the highest accuracy that one ε for all groups gives, with the smallest such ε; None without pairs.

    Candidates are 0 and every |metric difference|. A score that is NaN or None is missing, and its pairs are left out.
    Without `groups` all samples form one. Every pair is looked at twice, and only those near the best ε are kept.
    """
    samples = _arrange(human, metric, groups)
    if not samples.sizes.size:
        return None
    unit, weights = _weigh(samples.sizes)
    buckets = _Buckets(max(FEWEST_BUCKETS, CELLS // weights.size), float(np.ptp(samples.metric)))
    epsilon, correct = _sweep(samples, weights, buckets)
    return samples.result(correct / (unit * samples.sizes.size), epsilon)


# -- samples and their pairs -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Samples:
    """Samples without missing scores, group after group, the largest group first; only groups that have pairs."""

    human: Floats
    metric: Floats
    group: Indices
    kind: Indices
    """Which of the distinct group sizes the sample's group has, 0 being the largest."""
    sizes: Ints
    """Samples of each group, falling."""
    left_out: int

    def result(self, accuracy: float, epsilon: float) -> TieAccuracy:
        return TieAccuracy(accuracy, epsilon, int(_count_pairs(self.sizes).sum()), self.left_out, self.sizes.size)


def _arrange(human: npt.ArrayLike, metric: npt.ArrayLike, groups: npt.ArrayLike | None) -> _Samples:
    people, machine = (
        vector(values, name, finite=True, missing=True) for values, name in ((human, "human"), (metric, "metric"))
    )
    same_length(human=people, metric=machine)
    if np.nanmax(np.abs(machine), initial=0.0) > LARGEST:
        raise ValueError(f"metric: scores beyond ±{LARGEST:g}, whose differences overflow; scale them down")
    codes = np.zeros(people.size, dtype=np.intp) if groups is None else group_codes(groups, people.size)
    complete = np.flatnonzero(~(np.isnan(people) | np.isnan(machine)))
    group_sizes = np.bincount(codes)
    complete_sizes = np.bincount(codes[complete], minlength=group_sizes.size)
    by_size = np.argsort(-complete_sizes, kind="stable")
    group_rank = np.empty_like(by_size)
    group_rank[by_size] = np.arange(by_size.size)
    sizes = complete_sizes[by_size][: np.count_nonzero(complete_sizes > 1)]
    order = complete[np.argsort(group_rank[codes[complete]], kind="stable")][: int(sizes.sum())]
    left_out = int((_count_pairs(group_sizes) - _count_pairs(complete_sizes)).sum())
    group, kinds = group_rank[codes[order]], np.unique(-sizes, return_inverse=True)[1]
    return _Samples(people[order], machine[order], group, kinds[group], sizes, left_out)


def _count_pairs(sizes: Ints) -> Ints:
    return sizes * (sizes - 1) // 2


def _pairs(samples: _Samples) -> Iterator[tuple[Indices, Floats, Bools, Bools]]:
    """Yield blocks of (kind, |metric difference|, tied by people, ordered alike), with every pair of a group once.

    Pairs that are neither tied nor ordered alike are not needed: they are ordered differently, or not of one group.
    """
    padding = int(samples.sizes[0])
    human, metric = (np.pad(values, (0, padding), mode="edge") for values in (samples.human, samples.metric))
    group = np.pad(samples.group, (0, padding), constant_values=-1)
    for rows, distance, width in _ranges(samples.sizes):
        others = slice(rows.start + distance, rows.stop + distance)
        inside = sliding_window_view(group, width)[others] == group[rows, None]
        rise = sliding_window_view(metric, width)[others] - metric[rows, None]
        people = sliding_window_view(human, width)[others]
        tied = inside & (people == human[rows, None])
        alike = (people > human[rows, None]) == (rise > 0)
        alike &= inside ^ tied
        alike &= rise != 0
        kind = samples.kind[rows] if width == 1 else np.repeat(samples.kind[rows], width)
        yield kind, np.abs(rise).ravel(), tied.ravel(), alike.ravel()


def _ranges(sizes: Ints) -> Iterator[tuple[slice, int, int]]:
    """Yield samples, the first distance to their partners and the number of distances, in blocks of bounded size.

    Samples of a group stand together, so its pairs are those at distances from 1 to its size. Groups are sorted by
    size, so those with pairs at a distance are the first ones: at most about twice the pairs there are are looked at.
    """
    ends, distance = np.cumsum(sizes), 1
    while distance < sizes[0]:
        count = int(ends[np.count_nonzero(sizes > distance) - 1]) - distance
        width = min(max(1, BLOCK // count), int(sizes[0]) - distance)
        for start in range(0, count, BLOCK):
            yield slice(start, min(start + BLOCK, count)), distance, width
        distance += width


def _weigh(sizes: Ints) -> tuple[int, Weights]:
    """Return what a pair in a group of each kind adds to the sum of the groups' accuracies, in multiples of 1/unit."""
    counts = _count_pairs(np.unique(sizes)[::-1]).tolist()
    unit = lcm(*counts)
    # No sum of steps leaves ± unit · groups, as no group's accuracy leaves 0 to 1.
    fits = unit * sizes.size < 2**62
    return unit, np.array([unit // count for count in counts], dtype=np.int64 if fits else object)


# -- the sweep over ε --------------------------------------------------------------------------------------
# As ε passes a pair's gap, a pair that people tied becomes correct (a gain), one that both ordered alike becomes wrong
# (a loss), and any other stays wrong. So the value at ε is that of no ties at all, plus the steps of the gaps up to ε,
# and the best ε is 0 or the gap of a gain.


@dataclass(frozen=True)
class _Buckets:
    """Equal ranges of gaps, from 0 to the widest."""

    count: int
    widest: float

    def place(self, gaps: Floats) -> Indices:
        """Return each gap's bucket; a larger gap is never in an earlier bucket."""
        return (gaps * ((self.count - 1) / max(self.widest, 1e-300))).astype(np.intp)


def _sweep(samples: _Samples, weights: Weights, buckets: _Buckets) -> tuple[float, int]:
    """Return the best ε and its value, the summed weight of the pairs that it makes correct.

    First gaps are counted in buckets. Inside a bucket the value cannot pass that at its start plus all its gains; only
    the buckets where this reaches the best value at any bucket's end, usually a few in a hundred, are sorted.
    """
    up, down = _tally(samples, weights, buckets)
    untied = int(down.sum())
    ends = np.cumsum(up - down)
    keep = (up > 0) & (ends + down >= max(0, ends.max()))
    skipped = np.cumsum(np.where(keep, 0, up - down))
    gaps, steps = _collect(samples, weights, buckets, keep)
    order = np.argsort(gaps)
    ranked = gaps[order]
    epsilon, gained = _best(ranked, np.cumsum(steps[order]) + skipped[buckets.place(ranked)])
    return epsilon, untied + gained


def _tally(samples: _Samples, weights: Weights, buckets: _Buckets) -> tuple[Weights, Weights]:
    """Sum the weights of the gains and of the losses in each bucket."""
    cells = np.zeros(weights.size * buckets.count * 3, dtype=np.int64)
    for kind, gap, tied, alike in _pairs(samples):
        outcome = tied + np.uint8(2) * alike
        counts = np.bincount((kind * buckets.count + buckets.place(gap)) * 3 + outcome)
        cells[: counts.size] += counts
    _, gains, losses = np.moveaxis(cells.reshape(weights.size, buckets.count, 3), 2, 0).astype(weights.dtype)
    return weights @ gains, weights @ losses


def _collect(samples: _Samples, weights: Weights, buckets: _Buckets, keep: Bools) -> tuple[Floats, Weights]:
    """Return the gaps of gains and losses in the buckets to keep, with the steps that they make."""
    gaps, steps = [], []
    for kind, gap, tied, alike in _pairs(samples):
        near = np.flatnonzero(keep[buckets.place(gap)] & (tied | alike))
        if near.size:
            merged, step = _merge(gap[near], np.where(tied[near], 1, -1) * weights[kind[near]])
            gaps.append(merged)
            steps.append(step)
    return (np.concatenate(gaps), np.concatenate(steps)) if gaps else (np.zeros(0), np.zeros(0, dtype=weights.dtype))


def _merge(gaps: Floats, steps: Weights) -> tuple[Floats, Weights]:
    """Merge equal gaps, with the sum of their steps: a metric with few scores has few gaps, however many pairs."""
    order = np.argsort(gaps)
    ranked = gaps[order]
    starts = np.append(0, np.flatnonzero(ranked[1:] != ranked[:-1]) + 1)
    return ranked[starts], np.add.reduceat(steps[order], starts)


def _best(gaps: Floats, values: Weights) -> tuple[float, int]:
    """Return the smallest ε with the highest value, and that value; the value at a gap is that of its last pair."""
    if not gaps.size:
        return 0.0, 0
    ends = np.append(np.flatnonzero(gaps[1:] != gaps[:-1]), gaps.size - 1)
    best = ends[np.argmax(values[ends])]
    # Without gains at 0, which would be among the gaps, the value at 0 is 0.
    return (float(gaps[best]), int(values[best])) if values[best] > 0 else (0.0, 0)
