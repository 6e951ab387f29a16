"""Selective accuracy: whether its interval holds the truth, and the curve."""

from __future__ import annotations

import numpy as np
import pytest

from mores.stats.intervals import share_interval
from mores.stats.selective import make_cells, selective_curve, selective_interval


@pytest.mark.parametrize(("questions", "alike", "below"), [(20, 1, 0.01), (50, 1, 0.01), (20, 5, 0.1)])
def test_the_accuracy_of_the_surer_half_is_held_where_it_ends_at_a_cliff(
    questions: int, alike: int, below: float
) -> None:
    """Half of all answers are surer than the rest, and 98% of them are right; a sample has more or fewer of them."""
    above, samples, sure = 0.98, 400, np.array([0.9, 0.9, 0.6, 0.6])
    shares = np.array([above, 1 - above, below, 1 - below]) / 2
    drawn = np.random.default_rng(1).multinomial(questions, shares, samples)
    kinds, times = np.unique(drawn, axis=0, return_counts=True)
    held = 0
    for counts, often in zip(kinds, times, strict=True):
        kind = np.repeat(np.repeat(np.arange(4), counts), alike)
        cells = make_cells(sure[kind], kind % 2 == 0, np.repeat(np.arange(questions), alike))
        low, high = selective_interval(cells, 0.5)
        held += often * (0 <= low <= above <= high <= 1)
    assert held / samples >= 0.93


def test_the_curve_of_four_answers_by_hand() -> None:
    cells = make_cells(np.array([0.9, 0.9, 0.6, 0.3]), np.array([True, False, True, False]), np.arange(4))
    curve = selective_curve(cells, np.array([0.25, 0.5, 0.75, 1.0]))
    assert [point.accuracy for point in curve] == pytest.approx([1 / 2, 1 / 2, 2 / 3, 1 / 2])
    assert [point.threshold for point in curve] == [0.9, 0.9, 0.6, 0.3]
    assert all(0 <= point.low <= point.accuracy <= point.high <= 1 for point in curve)


def test_intervals_of_a_part_whose_confidence_is_the_same_are_those_of_shares() -> None:
    """Of 100 answers the 50 surer ones are alike, 40 of them correct; and of the others 5."""
    correct = np.repeat([True, False, True, False], [40, 10, 5, 45])
    cells = make_cells(np.repeat([0.9, 0.5], 50), correct, np.arange(100))
    assert selective_interval(cells, 0.4) == pytest.approx(share_interval(40, 50))
    assert selective_interval(cells, 1.0) == pytest.approx(share_interval(45, 100))
    low, high = selective_interval(cells, 0.5)
    assert low < share_interval(40, 50)[0] < high == pytest.approx(share_interval(40, 50)[1])
    # At 55% the upper end is that of the surer half, a cut-off that is 5% away of the d that is possible.
    value, d = 0.8, 1.959964 * np.sqrt(0.55 * 0.45 / 100)
    farthest = value + np.sqrt(1 - (0.05 / d) ** 2) * (share_interval(40, 50)[1] - value)
    assert selective_interval(cells, 0.55)[1] == pytest.approx(farthest)
    few, many = (selective_curve(cells, np.array([part]))[0] for part in (0.5, 0.51))
    assert (few.threshold, few.accuracy, many.threshold) == (0.9, 0.8, 0.5)
    assert many.accuracy == pytest.approx((40 + 0.1) / 51)
