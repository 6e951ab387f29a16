"""Distributions: worked examples, what always holds, and what is refused."""

from __future__ import annotations

import math
from statistics import quantiles
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.distributions import (
    FiveNumbers,
    bhattacharyya,
    jensen_shannon,
    jensen_shannon_of_draws,
    summarise,
)

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


# --- summaries


def test_summary_by_hand() -> None:
    assert summarise([-5, 0, 1, 4]) == FiveNumbers(4, -5, -1.25, 0.5, 1.75, 4, 0, math.sqrt(14))
    assert summarise([1, 3]) == FiveNumbers(2, 1, 1.5, 2, 2.5, 3, 2, math.sqrt(2))
    assert summarise([2]) == FiveNumbers(1, 2, 2, 2, 2, 2, 2, None)
    assert summarise([]) is None


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_summary_is_ordered_and_has_the_quartiles_of_the_standard_library(values: list[float]) -> None:
    summary = summarise(values)
    assert summary is not None
    assert [summary.q1, summary.median, summary.q3] == pytest.approx(quantiles(values, method="inclusive"), abs=1e-6)
    assert min(values) == summary.low <= summary.q1 <= summary.median <= summary.q3 <= summary.high == max(values)
