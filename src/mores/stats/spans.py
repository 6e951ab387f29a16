"""Precision, recall and F1 of predicted error spans against gold ones.

Counted over characters or over tokens. A match with the correct severity has full credit, with a wrong one half. Over
characters this is F1 of task 2 of the WMT 2023 shared task on quality estimation (F. Blain et al., Findings of the WMT
2023 shared task on quality estimation, and its scoring script), where a character counts once; WMT 2025 counts it once
for every span that covers it, which is not done here.
With `credit=1` severities do not matter, as in the span precision and recall of AutoMQM (P. Fernandes et al., The devil
is in the errors, WMT 2023); with `credit=0` a wrong severity is an error.

Each function compares the spans of one string. A sample with two, an instruction and a text, has the sum of both:

    sum((characters(predicted[side], gold[side]) for side in gold), SpanCounts())

The same sum over samples is micro-averaged, as in the shared task; F1 of the counts of one sample is that sample's.
`match_errors` matches whole spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

CREDIT = 0.5
"""The credit for a wrong severity at the correct position."""
_Array = npt.NDArray[np.float64]


class Span(NamedTuple):
    """Code points `start:end` of a string, half-open."""

    start: int
    end: int
    severity: float = 1.0
    """The weight of its severity, such as -1 and -5; two spans have the same severity when their weights are equal."""


@dataclass(frozen=True)
class SpanCounts:
    """Matched, predicted and gold units; counts of several samples add up."""

    matched: float = 0.0
    """Credit: 1 for each unit in both with the same severity, less for another severity."""
    predicted: int = 0
    gold: int = 0

    def __add__(self, other: SpanCounts) -> SpanCounts:
        return SpanCounts(self.matched + other.matched, self.predicted + other.predicted, self.gold + other.gold)

    @property
    def precision(self) -> float:
        """matched / predicted; 1 if nothing was predicted, because nothing is wrong (as WMT 2025 counts)."""
        return self.matched / self.predicted if self.predicted else 1.0

    @property
    def recall(self) -> float:
        """matched / gold; 1 if there is nothing to find, because nothing is missed."""
        return self.matched / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """2·matched / (predicted + gold), the harmonic mean of both.

        1 when nothing was predicted and nothing was to be found; 0 when only one of them is empty.
        """
        return 2 * self.matched / (self.predicted + self.gold) if self.predicted + self.gold else 1.0


def characters(predicted: Sequence[Span], gold: Sequence[Span], credit: float = CREDIT) -> SpanCounts:
    """Count over characters: each counts once, however many spans cover it.

    It has full credit when one severity is both among the predicted and among the gold ones there.
    """
    _check(predicted, gold, credit)
    # Between neighbouring borders of spans all characters are alike, so that the length of the string does not matter.
    edges = np.unique([border for span in (*predicted, *gold) for border in span[:2]])
    return _units(predicted, gold, np.stack([edges[:-1], edges[1:]], axis=1), np.diff(edges), credit)


def tokens(
    predicted: Sequence[Span], gold: Sequence[Span], offsets: Sequence[tuple[int, int]], credit: float = CREDIT
) -> SpanCounts:
    """Count over the tokens at these offsets: a span covers those that it shares a character with, each once."""
    _check(predicted, gold, credit)
    _check([Span(*offset) for offset in offsets], [], credit)
    positions = np.array(offsets, dtype=np.int64).reshape(-1, 2)
    return _units(predicted, gold, positions, np.ones(len(positions), dtype=np.int64), credit)


def intersection_over_union(first: Span, second: Span) -> float:
    """Return the characters of both by the characters of either: 1 for the same span, 0 for spans apart."""
    both = max(0, min(first.end, second.end) - max(first.start, second.start))
    return both / (first.end - first.start + second.end - second.start - both)


def match_errors(
    predicted: Sequence[Span], errors: Sequence[Sequence[Span]], threshold: float
) -> list[tuple[int, int]]:
    """Return which prediction finds which error, as pairs of their positions.

    An error is given by the spans of all who marked it, which differ by a word: a prediction may find it if its
    intersection over union with one of them is at least `threshold`, and above 0. Each finds, and is found, at most
    once; of all such matchings this is one with the most pairs, and among these with the most overlap.
    """
    if not 0 <= threshold <= 1:
        raise ValueError(f"threshold {threshold:g} is not from 0 to 1")
    _check(predicted, [span for spans in errors for span in spans], CREDIT)
    if not (predicted and errors):
        return []
    overlap = np.array(
        [
            [max((intersection_over_union(span, other) for other in spans), default=0.0) for spans in errors]
            for span in predicted
        ]
    )
    value = np.where((overlap >= threshold) & (overlap > 0), 1 + overlap / (1 + min(overlap.shape)), 0.0)
    return [(row, column) for row, column in _assign(value) if value[row, column]]


def _check(predicted: Sequence[Span], gold: Sequence[Span], credit: float) -> None:
    if not 0 <= credit <= 1:
        raise ValueError(f"credit {credit:g} of a wrong severity is not from 0 to 1; 0.5 is WMT's")
    for span in (*predicted, *gold):
        if not 0 <= span.start < span.end:
            raise ValueError(f"span {span.start}:{span.end} is empty or negative; exclude spans without a position")
        if span.severity != span.severity:
            raise ValueError(f"span {span.start}:{span.end} has no severity; give the weight of one")


def _units(
    predicted: Sequence[Span],
    gold: Sequence[Span],
    positions: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64],
    credit: float,
) -> SpanCounts:
    """Count over units at these positions, each of which represents `size` units."""
    levels = sorted({span.severity for span in (*predicted, *gold)})
    by_prediction, by_gold = _covered(predicted, positions, levels), _covered(gold, positions, levels)
    identical = (by_prediction & by_gold).any(axis=1)
    located = by_prediction.any(axis=1) & by_gold.any(axis=1)
    credited = sizes[identical].sum() + credit * sizes[located & ~identical].sum()
    return SpanCounts(
        float(credited), int(sizes[by_prediction.any(axis=1)].sum()), int(sizes[by_gold.any(axis=1)].sum())
    )


def _covered(spans: Sequence[Span], positions: npt.NDArray[np.int64], levels: Sequence[float]) -> npt.NDArray[np.bool_]:
    """Return units × levels: whether a span of this severity shares a character with the unit."""
    covered = np.zeros((len(positions), len(levels)), dtype=bool)
    for start, end, severity in spans:
        covered[:, levels.index(severity)] |= (start < positions[:, 1]) & (positions[:, 0] < end)
    return covered


def _assign(value: _Array) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns, each in at most one, that have the greatest sum.

    The Hungarian method with potentials: rows are added one by one, each along the shortest augmenting path.
    """
    rows, columns = value.shape
    if rows > columns:
        return [(row, column) for column, row in _assign(value.T)]
    owner = np.full(columns + 1, -1)  # the row of each column; the last one is where every path begins
    row_price, column_price = np.zeros(rows), np.zeros(columns + 1)
    for row in range(rows):
        owner[columns], here = row, columns
        slack, back, visited = np.full(columns, np.inf), np.full(columns, columns), np.zeros(columns + 1, dtype=bool)
        while owner[here] >= 0:
            visited[here] = True
            cost = -value[owner[here]] - row_price[owner[here]] - column_price[:columns]
            closer = ~visited[:columns] & (cost < slack)
            slack[closer], back[closer] = cost[closer], here
            free = np.flatnonzero(~visited[:columns])
            here = int(free[slack[free].argmin()])
            step = slack[here]
            row_price[owner[visited]] += step
            column_price[visited] -= step
            slack[free] -= step
        while here != columns:
            owner[here], here = owner[back[here]], int(back[here])
    return [(int(owner[column]), int(column)) for column in np.flatnonzero(owner[:columns] >= 0)]
