"""Distributions: worked examples, what always holds, and what is refused."""

from __future__ import annotations

import math
from statistics import mean, median, quantiles, stdev
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.distributions import (
    Histogram,
    Share,
    Summary,
    bhattacharyya,
    bhattacharyya_of_samples,
    histogram,
    jensen_shannon,
    jensen_shannon_of_draws,
    summarise,
    summarise_likert,
)
from mores.stats.intervals import share_interval

shares = st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=4, max_size=4).filter(any)
"""Without numbers so small that half of one is 0."""
samples = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


# --- Bhattacharyya


def test_bhattacharyya_by_hand() -> None:
    assert bhattacharyya([0.5, 0.5], [0.9, 0.1]) == pytest.approx(math.sqrt(0.45) + math.sqrt(0.05))
    assert bhattacharyya([1, 1], [9, 1]) == pytest.approx(math.sqrt(0.45) + math.sqrt(0.05))
    assert bhattacharyya([1, 0], [0, 1]) == 0
    assert bhattacharyya([2, 7], [2, 7]) == 1  # where rounding alone would pass it


def test_jensen_shannon_by_hand() -> None:
    divergence = (
        0.5 * math.log2(0.5 / 0.7) + 0.5 * math.log2(0.5 / 0.3) + 0.9 * math.log2(0.9 / 0.7) - 0.1 * math.log2(3)
    ) / 2
    assert jensen_shannon([1, 1], [9, 1]) == pytest.approx(math.sqrt(divergence))
    assert jensen_shannon([1, 0], [0, 3]) == 1
    assert jensen_shannon([2, 7], [4, 14]) == 0
    assert jensen_shannon([0, 0], [1, 2]) is None


def test_jensen_shannon_of_a_few_draws() -> None:
    """Two tosses of a coin are one-sided half of the time; that is as far from a coin as (1, 0)."""
    chance = np.random.default_rng(0)
    far = jensen_shannon([1, 1], [1, 0])
    assert far is not None
    assert jensen_shannon_of_draws([1, 1], [3, 3], 2, 20_000, chance) == pytest.approx(far / 2, abs=0.01)
    assert jensen_shannon_of_draws([1, 1], [2, 0], 5, 10, chance) == pytest.approx(far)
    assert jensen_shannon_of_draws([3, 1], [3, 1], 100_000, 10, chance) == pytest.approx(0, abs=0.01)
    assert jensen_shannon_of_draws([0, 0], [1, 2], 5, 10, chance) is None
    assert jensen_shannon_of_draws([1, 1], [1, 2], 0, 10, chance) is None


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=9))
def test_jensen_shannon_is_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    distance = pytest.importorskip("scipy.spatial.distance")
    first, second = map(list, zip(*pairs, strict=True))
    found = jensen_shannon(first, second)
    if found is None:
        assert not any(first) or not any(second)
    else:
        assert found == pytest.approx(float(distance.jensenshannon(first, second, base=2)), abs=1e-7)


@given(shares, shares, st.floats(1e-3, 1e3))
def test_bhattacharyya_is_symmetric_scaleless_and_between_0_and_1(p: list[float], q: list[float], scale: float) -> None:
    value = bhattacharyya(p, q)
    assert value is not None
    assert 0 <= value <= 1
    assert bhattacharyya(q, p) == pytest.approx(value)
    assert bhattacharyya([x * scale for x in p], q) == pytest.approx(value)
    assert bhattacharyya(p, p) == pytest.approx(1)


def test_bhattacharyya_of_huge_and_tiny_counts() -> None:
    assert bhattacharyya([1e308, 1e308], [5e-324, 5e-324]) == pytest.approx(1)


def test_bhattacharyya_of_nothing() -> None:
    assert bhattacharyya([0, 0], [1, 0]) is None
    assert bhattacharyya([], []) is None
    assert bhattacharyya_of_samples([], [1.0]) is None


def test_bhattacharyya_of_samples_by_hand() -> None:
    # Two bins from 0 to 10: (2, 2) and (1, 3); the border 5 is in the upper one.
    assert bhattacharyya_of_samples([0, 1, 5, 10], [2, 6, 7, 8], 2) == pytest.approx(
        math.sqrt(1 / 2 * 1 / 4) + math.sqrt(1 / 2 * 3 / 4)
    )
    assert bhattacharyya_of_samples([0, 1, 5, 10], [2, 6, 7, 8], [0, 3, 20]) == pytest.approx(
        math.sqrt(1 / 2 * 1 / 4) + math.sqrt(1 / 2 * 3 / 4)
    )


def test_bhattacharyya_of_samples_that_are_apart_and_that_are_constant() -> None:
    assert bhattacharyya_of_samples([1, 2], [8, 9]) == 0
    assert bhattacharyya_of_samples([3, 3], [3]) == pytest.approx(1)
    assert bhattacharyya_of_samples([1.0], [math.nextafter(1.0, 2)]) == pytest.approx(1)


@given(samples, samples, st.integers(1, 20))
def test_bhattacharyya_of_samples_is_symmetric_and_between_0_and_1(a: list[float], b: list[float], bins: int) -> None:
    value = bhattacharyya_of_samples(a, b, bins)
    assert value is not None
    assert 0 <= value <= 1
    assert bhattacharyya_of_samples(b, a, bins) == pytest.approx(value)
    assert bhattacharyya_of_samples(a, a, bins) == pytest.approx(1)


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([1, 2], [1], "over the same ones"),
        ([1, -1], [1, 1], "negative"),
        ([1, math.nan], [1, 1], "exclude it"),
        ([[1]], [[1]], "flat list"),
    ],
)
def test_bhattacharyya_refuses(p: Any, q: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bhattacharyya(p, q)


# --- Likert


def test_likert_by_hand() -> None:
    summary = summarise_likert([5, 4, 4, 2])
    assert summary is not None
    assert (summary.n, summary.mean, summary.median) == (4, 3.75, 4)
    assert summary.sd == pytest.approx(math.sqrt((1.25**2 + 2 * 0.25**2 + 1.75**2) / 3))
    assert [share.k for share in summary.levels.values()] == [0, 1, 0, 2, 1]
    assert summary.levels[4] == Share(2, 4, 0.5, *share_interval(2, 4))
    assert [share.k for share in summary.at_least.values()] == [4, 4, 3, 3, 1]
    assert summary.at_least[4].value == 0.75


def test_likert_of_one_and_of_none() -> None:
    one = summarise_likert([0], levels=[0, 1])
    assert one is not None
    assert (one.mean, one.sd, one.levels[0].value, one.at_least[1].k) == (0, None, 1, 0)
    assert summarise_likert([]) is None


@pytest.mark.parametrize(
    ("ratings", "levels", "message"),
    [
        ([6], (1, 2, 3, 4, 5), "rating 6 is not one of the levels"),
        ([2.5], (1, 2, 3), "rating 2.5 is not one of the levels"),
        ([None], (1, 2), "exclude it, and report how many"),
        ([1], (2, 1), "not ascending"),
        ([], (), "not ascending"),
    ],
)
def test_likert_refuses(ratings: Any, levels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        summarise_likert(ratings, levels)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=30))
def test_likert_is_that_of_the_standard_library(ratings: list[int]) -> None:
    summary = summarise_likert(ratings)
    assert summary is not None
    assert summary.mean == pytest.approx(mean(ratings))
    assert summary.sd == pytest.approx(stdev(ratings), abs=1e-9)
    assert summary.median == median(ratings)
    assert sum(share.value for share in summary.levels.values()) == pytest.approx(1)
    assert summary.at_least[1].value == 1
    assert all(share.low <= share.value <= share.high for share in summary.at_least.values())


# --- summaries and histograms


def test_summary_by_hand() -> None:
    assert summarise([-5, 0, 1, 4]) == Summary(4, -5, -1.25, 0.5, 1.75, 4, 0, math.sqrt(14))
    assert summarise([2]) == Summary(1, 2, 2, 2, 2, 2, 2, None)
    assert summarise([]) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_summary_is_ordered_and_has_the_quartiles_of_the_standard_library(values: list[float]) -> None:
    summary = summarise(values)
    assert summary is not None
    assert [summary.q1, summary.median, summary.q3] == pytest.approx(quantiles(values, method="inclusive"), abs=1e-6)
    assert min(values) == summary.low <= summary.q1 <= summary.median <= summary.q3 <= summary.high == max(values)


def test_histogram_by_hand() -> None:
    assert histogram([0, 1, 2, 3, 4], 2) == Histogram((0, 2, 4), (2, 3))
    assert histogram([0.3, 0.35], [0, 0.3, 1]) == Histogram((0, 0.3, 1), (0, 2))
    assert histogram([7], 1) == Histogram((6.5, 7.5), (1,))
    assert histogram([]) is None


@given(samples, st.integers(1, 30))
def test_histogram_loses_nothing_and_has_its_ends(values: list[float], bins: int) -> None:
    found = histogram(values, bins)
    assert found is not None
    assert sum(found.counts) == len(values)
    assert len(found.edges) == bins + 1
    assert found.edges[0] <= min(values) <= max(values) <= found.edges[-1]


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=30).filter(lambda v: len(set(v)) > 1))
def test_histogram_is_that_of_numpy(values: list[int]) -> None:
    found = histogram(values, 8)
    assert found is not None
    counts, edges = np.histogram(values, 8)
    assert found.edges == pytest.approx(edges.tolist())
    assert found.counts == tuple(np.histogram(values, np.array(found.edges))[0])
    assert counts.sum() == sum(found.counts)


@pytest.mark.parametrize(
    ("values", "bins", "message"),
    [
        ([1, math.inf], 3, "infinite"),
        ([1, math.nan], 3, "missing"),
        ([1, 2], 0, "at least 1"),
        ([1, 2], [2, 1], "not ascending"),
        ([1, 2], [2], "at least two"),
        ([1, 2], [0, 1.5], "widen these"),
    ],
)
def test_histogram_refuses(values: Any, bins: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        histogram(values, bins)
