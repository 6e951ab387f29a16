"""Intervals: worked examples, SciPy, and what must hold for any counts."""

from __future__ import annotations

import time
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mores.stats.intervals import (
    beta_quantile,
    difference_interval,
    drawn_interval,
    limits_of,
    mean_interval,
    ratio_interval,
    share_interval,
)
from mores.stats.ratio import Ratio

Z = 1.959964


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [(81, 263, 0.2527, 0.3676), (15, 148, 0.0578, 0.1617), (0, 20, 0.0, 0.1684), (1, 29, 0.0009, 0.1776)],
)
def test_shares_reproduce_newcombe_1998_table_1_method_5(k: int, n: int, low: float, high: float) -> None:
    assert share_interval(k, n) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("n", [1, 2, 7, 88, 1227, 100_000])
def test_shares_agree_with_scipy(n: int) -> None:
    for k in {0, 1, n // 50, n // 3, n // 2, n - 1, n}:
        expected = stats.binomtest(k, n).proportion_ci(0.95, "exact")
        width = expected.high - expected.low
        assert share_interval(k, n) == pytest.approx((expected.low, expected.high), abs=1e-4 * width)


def test_the_beta_quantile_agrees_with_scipy() -> None:
    a, b = np.exp(np.random.default_rng(0).uniform(np.log(0.5), np.log(1e6), (2, 500)))
    for q in (0.025, 0.975):
        width = stats.beta.ppf(0.975, a, b) - stats.beta.ppf(0.025, a, b)
        assert (np.abs(beta_quantile(a, b, q) - stats.beta.ppf(q, a, b)) < 1e-4 * width).all()


def test_nothing_is_known_without_samples() -> None:
    assert share_interval(0, 0) == ratio_interval([], []) == ratio_interval([0.0], [0.0]) == (0.0, 1.0)
    assert mean_interval([], least=-1.0) == (-1.0, 1.0)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (1, 0)])
def test_what_is_no_share_is_refused(k: int, n: int) -> None:
    with pytest.raises(ValueError, match="not a proportion"):
        share_interval(k, n)


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(ValueError, match=r"above\[1\] is 3; expected a number from 0 to its below, 2"):
        ratio_interval([1, 3], [2, 2])
    with pytest.raises(ValueError, match=r"values from 0 to 1\.5; expected 0 to 1"):
        mean_interval([0.0, 1.5])


@pytest.mark.parametrize("times", [1, 2, 10])
def test_identical_answers_say_no_more_than_one(times: int) -> None:
    right = np.array([1.0] * 3 + [0.0] * 17)
    assert ratio_interval(times * right, np.full(20, times)) == pytest.approx(share_interval(3, 20))
    alike = mean_interval(np.repeat(right, times), groups=np.repeat(np.arange(20), times))
    assert alike == pytest.approx(share_interval(3, 20))


def test_independent_answers_say_more_than_identical_ones() -> None:
    """50 of 100 in 20 questions, five answers each, as if drawn independently: nearer to 100 answers than to 20."""
    hits = np.array([1, 4, 2, 3, 2, 3, 1, 4, 2, 3, 3, 2, 4, 1, 2, 3, 2, 3, 3, 2], dtype=np.float64)
    low, high = ratio_interval(hits, np.full(20, 5.0))
    hundred, twenty = (share_interval(n // 2, n) for n in (100, 20))
    assert hundred[1] - hundred[0] < high - low < (hundred[1] - hundred[0] + twenty[1] - twenty[0]) / 2


def test_values_that_are_all_alike_leave_room_for_others() -> None:
    """20 values of 0.9: a tenth of all may be 0, whose mean is 0.81; but hardly a fifth, with 0.72."""
    low, high = mean_interval([0.9] * 20)
    assert 0.72 < low < 0.81
    assert 0.9 < high < 0.95
    wide = mean_interval([0.0] * 20, least=-1.0)
    assert wide == pytest.approx((-wide[1], wide[1]))
    assert 0.1 < wide[1] < share_interval(0, 20)[1]


def test_resampled_values_give_the_interval_of_their_variance() -> None:
    """Shares that vary as 3 of 20 do, by p (1 - p) / n; and the same on a scale from -1 to 1."""
    share, spread = 3 / 20, sqrt(3 * 17 / 20**3)
    drawn, (low, high) = np.array([share - spread, np.nan, share + spread]), share_interval(3, 20)
    assert drawn_interval(share, drawn, 20) == pytest.approx((low, high))
    scaled = drawn_interval(2 * share - 1, 2 * drawn - 1, 20, least=-1.0)
    assert scaled == pytest.approx((2 * low - 1, 2 * high - 1))
    assert drawn_interval(0.5, [np.nan, np.nan], 20) == pytest.approx(mean_interval([0.5] * 20))


@pytest.mark.parametrize(
    ("k1", "n1", "k2", "n2", "low", "high"),
    [
        (56, 70, 48, 80, 0.0524, 0.3339),
        (9, 10, 3, 10, 0.1705, 0.8090),
        (6, 7, 2, 7, 0.0582, 0.8062),
        (5, 56, 0, 29, -0.0381, 0.1926),
        (0, 10, 0, 20, -0.1611, 0.2775),
        (10, 10, 0, 20, 0.6791, 1.0),
    ],
)
def test_differences_reproduce_newcombe_1998_table_2_method_10(
    k1: int, n1: int, k2: int, n2: int, low: float, high: float
) -> None:
    """His method is of Wilson's intervals."""

    def wilson(k: int, n: int) -> tuple[float, tuple[float, float]]:
        half = Z * sqrt(k * (n - k) / n + Z**2 / 4)
        ends = ((k + Z**2 / 2 - half) / (n + Z**2), (k + Z**2 / 2 + half) / (n + Z**2))
        return k / n, ends

    assert difference_interval(wilson(k1, n1), wilson(k2, n2)) == pytest.approx((low, high), abs=6e-5)


Unit = st.integers(0, 10).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.slow
@given(st.lists(Unit, min_size=1, max_size=30))
def test_any_counts_have_an_interval_around_their_share(units: list[tuple[int, int]]) -> None:
    above, below = np.array(units, dtype=np.float64).T
    low, high = ratio_interval(above, below)
    assert 0 <= low < high <= 1
    if below.sum():
        share = above.sum() / below.sum()
        assert low <= share <= high
        assert (low == 0) == (share == 0)
        assert (high == 1) == (share == 1)
        assert ratio_interval(below - above, below) == pytest.approx((1 - high, 1 - low), abs=1e-9)


def test_ratios_of_kinds_by_hand() -> None:
    """Ten answers of 2 of 2 and ten of 0 of 1, each ±2/3 from 20 of 30; five do not count.

    An answer could count 2, so the units are 30 · (20 · 2) / (20 · 2²).
    """
    units = np.repeat(np.eye(3), [10, 10, 5], axis=0)
    expected = limits_of(20 / 30, 20 * (2 / 3) ** 2 / 30**2, 15)
    assert Ratio((2, 0, 0), (2, 1, 0)).interval(units) == pytest.approx(expected)
    share = Ratio((1, 0), (1, 1)).interval(np.repeat(np.eye(2), [3, 17], axis=0))
    assert share == pytest.approx(share_interval(3, 20))


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=30))
def test_any_labels_have_an_interval_around_their_ratio(counts: list[tuple[int, ...]]) -> None:
    units, figure = np.array(counts, dtype=np.float64), Ratio((1, 0, 0), (1, 1, 0.5))
    low, high = figure.interval(units)
    value = figure.value(units.sum(axis=0)[:, None])[0]
    assert 0 <= low < high <= 1
    assert np.isnan(value) or low <= value <= high


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_any_differences_have_an_interval_around_their_mean(values: list[float]) -> None:
    low, high = mean_interval(values, least=-1.0)
    assert -1 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 1
    assert low < high


def test_a_hundred_intervals_take_less_than_a_second_of_work() -> None:
    """A result has nine figures in a hundred groups."""
    units, figure = (
        np.random.default_rng(0).multinomial(3, [0.5, 0.3, 0.2], 200).astype(np.float64),
        Ratio((1, 0, 0), (1, 1, 0.5)),
    )
    start = time.process_time()
    for _ in range(100):
        figure.interval(units)
    assert time.process_time() - start < 1
