"""Correlations: by hand, against SciPy, and on hostile input."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped,unused-ignore]

from mores.stats.correlation import PairCounts, count_inversions, count_pairs, kendall_tau_b, kendall_tau_c
from mores.stats.correlation import pearson as pearson_r
from mores.stats.correlation import spearman as spearman_rho

Correlation = Callable[[Any, Any], float | None]
numbers = st.integers(-3, 3) | st.floats(-1e6, 1e6, allow_subnormal=False)
paired = st.lists(st.tuples(numbers, numbers), min_size=2, max_size=50)
every = pytest.mark.parametrize("correlate", [kendall_tau_b, kendall_tau_c, spearman_rho, pearson_r])


def test_kendall_by_hand() -> None:
    # Pairs: (1,1)-(2,3) C, (1,1)-(2,2) C, (1,1)-(3,2) C, (2,3)-(2,2) tied in x, (2,3)-(3,2) D, (2,2)-(3,2) tied in y.
    x, y = [1, 2, 2, 3], [1, 3, 2, 2]
    assert count_pairs(x, y) == PairCounts(6, concordant=3, discordant=1, tied_x=1, tied_y=1, fewest_values=3)
    assert kendall_tau_b(x, y) == pytest.approx(2 / 5)
    assert kendall_tau_c(x, y) == pytest.approx(2 * 2 / (16 * 2 / 3))


@every
def test_perfect_agreement_is_one_exactly(correlate: Correlation) -> None:
    values = np.arange(1000.0)
    assert correlate(values, values) == 1.0
    assert correlate(values, -values) == -1.0


@given(paired)
def test_agrees_with_scipy(rows: list[tuple[float, float]]) -> None:
    x, y = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert kendall_tau_b(x, y) is kendall_tau_c(x, y) is spearman_rho(x, y) is pearson_r(x, y) is None
        return
    assert kendall_tau_b(x, y) == pytest.approx(stats.kendalltau(x, y, variant="b").statistic, abs=1e-14)
    assert kendall_tau_c(x, y) == pytest.approx(stats.kendalltau(x, y, variant="c").statistic, abs=1e-14)
    assert spearman_rho(x, y) == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_pearson_agrees_with_scipy(shift: float) -> None:
    x, noise = np.random.default_rng(1).normal(size=(2, 500))
    expected = stats.pearsonr(x + shift, x + noise).statistic
    assert pearson_r(x + shift, x + noise) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("scale", [5e-320, 1e-200, 1e200, 1.7e308])
def test_pearson_neither_overflows_nor_vanishes(scale: float) -> None:
    assert pearson_r(np.array([-1, 0, 1]) * scale, [1, 2, 3]) == pytest.approx(1.0)
    assert pearson_r(np.array([0, 1, 1]) * scale, [1, 2, 2]) == pytest.approx(1.0)


def test_rounding_does_not_leave_the_range() -> None:
    rng = np.random.default_rng(3)
    found = [pearson_r(x, a * x + 0.1) for x, a in zip(rng.normal(size=(300, 9)), rng.normal(size=300), strict=True)]
    assert {one for one in found if one is not None and abs(one) > 1} == set()
    assert [abs(one) for one in found if one is not None] == pytest.approx([1] * 300)


@given(st.lists(st.integers(0, 40), max_size=60))
def test_inversions_are_those_of_all_pairs(ranks: list[int]) -> None:
    assert count_inversions(np.array(ranks, dtype=np.int64)) == sum(a > b for a, b in combinations(ranks, 2))


@given(paired)
def test_pair_counts_are_those_of_all_pairs(rows: list[tuple[float, float]]) -> None:
    signs = [np.sign([a[0] - b[0], a[1] - b[1]]).prod() for a, b in combinations(rows, 2)]
    found = count_pairs(*zip(*rows, strict=True))
    assert (found.concordant, found.discordant) == (signs.count(1), signs.count(-1))
    assert found.tied_x == sum(a[0] == b[0] for a, b in combinations(rows, 2))
    assert found.tied_y == sum(a[1] == b[1] for a, b in combinations(rows, 2))


@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_forty_thousand_samples_agree_with_scipy(decimals: int) -> None:
    x, noise = np.random.default_rng(2).normal(size=(2, 40_000))
    x, y = np.round(x, decimals), np.round(x + noise, decimals)
    found = kendall_tau_b(x, y)
    assert found == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-14)


def test_infinities_have_an_order_but_no_mean() -> None:
    assert kendall_tau_b([-np.inf, 0, np.inf], [1, 2, 3]) == spearman_rho([-np.inf, 0, np.inf], [1, 2, 3]) == 1.0
    with pytest.raises(ValueError, match=r"^x\[2\] is inf; expected a finite number"):
        pearson_r([0, 1, np.inf], [1, 2, 3])


@every
@pytest.mark.parametrize(("x", "y"), [([], []), ([1], [2]), ([1, 1], [1, 2]), ([1, 2], [3, 3]), ([0, 0], [0, 0])])
def test_undefined(correlate: Correlation, x: list[float], y: list[float]) -> None:
    assert correlate(x, y) is None


@every
def test_refuses_missing_values_and_lengths_that_differ(correlate: Correlation) -> None:
    with pytest.raises(ValueError, match=r"^y\[1\] is nan; exclude that sample"):
        correlate([1, 2], [1, np.nan])
    with pytest.raises(ValueError, match="lengths differ: x has 3, y has 2"):
        correlate([1, 2, 3], [1, 2])
