"""Permutation tests, resamples and adjusted p-values: by hand, against SciPy, and on hostile input."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped,unused-ignore]

from mores.stats import resampling
from mores.stats.resampling import (
    PermutationTest,
    adjust_p_values,
    compare_means,
    compare_with_whole,
    draw_counts,
    percentiles,
    resample_sums,
)

tenths = st.integers(-5, 5).map(lambda value: value / 10)


# -- permutation tests -------------------------------------------------------------------------------------


def test_all_swaps_of_a_few_samples_by_hand() -> None:
    # Differences 1, 1, 1: sums ±3 in 2 of 8 swaps. With a fourth of 0: 4 of 16.
    assert compare_means([1, 1, 1], [0, 0, 0]) == PermutationTest(1.0, 2 / 8, 8, exact=True)
    assert compare_means([1, 1, 1, 5], [0, 0, 0, 5]) == PermutationTest(0.75, 4 / 16, 16, exact=True)
    assert compare_means([2], [1]) == PermutationTest(1.0, 1.0, 2, exact=True)
    assert compare_means([1, 2], [1, 2]) == PermutationTest(0.0, 1.0, 4, exact=True)
    twelve = compare_means(np.ones(12), np.zeros(12), permutations=10)
    assert twelve == PermutationTest(1.0, 2 / 2**12, 2**12, exact=True)
    thirteen = compare_means(np.ones(13), np.zeros(13), permutations=10)
    assert thirteen is not None
    assert (thirteen.permutations, thirteen.exact) == (10, False)


def test_groups_are_swapped_whole() -> None:
    first, second = [1, 1, 1, 1], [0, 0, 0, 0]
    assert compare_means(first, second, groups=["a", "b", "a", "b"]) == PermutationTest(1.0, 0.5, 4, exact=True)


@given(st.lists(st.tuples(tenths, tenths), min_size=1, max_size=7))
@example([(0.0, 0.1), (-0.2, -0.3), (0.3, 0.0), (0.3, -0.2), (-0.4, 0.4)])  # both means cancel out to nearly 0
def test_the_exact_p_value_is_that_of_every_swap(rows: list[tuple[float, float]]) -> None:
    gaps = [round(10 * a) - round(10 * b) for a, b in rows]
    sums = [abs(np.dot(signs, gaps)) for signs in product((1, -1), repeat=len(gaps))]
    expected = sum(one >= abs(sum(gaps)) for one in sums) / len(sums)
    first, second = zip(*rows, strict=True)
    result = compare_means(first, second)
    assert result is not None
    assert (result.p_value, result.exact) == (expected, True)
    assert result.difference == pytest.approx(sum(gaps) / len(gaps) / 10)


def test_agrees_with_scipy_where_both_look_at_all() -> None:
    first, second = np.random.default_rng(4).normal([[0.6], [0.0]], 1, (2, 11))
    expected = stats.permutation_test(
        (first, second), lambda a, b: np.mean(a) - np.mean(b), permutation_type="samples", n_resamples=np.inf
    )
    result = compare_means(first, second)
    assert result is not None
    assert result.p_value == pytest.approx(expected.pvalue)
    assert result.difference == pytest.approx(expected.statistic)


@pytest.mark.slow
def test_sampled_p_values_are_near_the_exact_one(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = np.random.default_rng(5).normal([[0.5], [0.0]], 1, (2, 14))
    exact = compare_means(first, second, permutations=2**14)
    sampled = compare_means(first, second, permutations=10_000)
    assert exact is not None
    assert sampled is not None
    assert (exact.exact, sampled.exact, sampled.permutations) == (True, False, 10_000)
    assert sampled.p_value == pytest.approx(exact.p_value, abs=4 * (exact.p_value / 10_000) ** 0.5)
    monkeypatch.setattr(resampling, "BLOCK_CELLS", 1)
    again = compare_means(first, second, permutations=2**14)
    assert again is not None
    assert again.p_value == exact.p_value
    alike = compare_means(np.ones(14), np.ones(14), permutations=50)  # every one of the 50 is as far
    assert alike == PermutationTest(0.0, 1.0, 50, exact=False)


def test_a_sampled_p_value_is_never_zero_and_repeats_with_its_seed() -> None:
    first, second = np.arange(50.0) + 9, np.arange(50.0)
    assert compare_means(first, second, permutations=99) == PermutationTest(9.0, 1 / 100, 99, exact=False)
    noisy = np.random.default_rng(6).normal(size=50)
    assert compare_means(noisy, -noisy, seed=3) == compare_means(noisy, -noisy, seed=3)
    assert compare_means(noisy, -noisy, seed=3) != compare_means(noisy, -noisy, seed=4)


def test_p_values_are_uniform_without_a_difference() -> None:
    rng = np.random.default_rng(9)
    results = [compare_means(*rng.normal(size=(2, 40)), permutations=199, seed=seed) for seed in range(400)]
    share = np.mean([result.p_value <= 0.1 for result in results if result])
    assert 0.05 < share < 0.15


def test_forty_thousand_samples_without_a_difference_have_none() -> None:
    first, second = np.random.default_rng(11).normal(size=(2, 40_000))
    result = compare_means(first, second, permutations=1000)
    assert result is not None
    assert result.p_value > 1 / 1001


def test_a_group_beside_the_whole_by_hand() -> None:
    """Two of six samples are 1: a random pair has the mean 1 in 1 of 15 cases, and no other is as far from 1/3."""
    p, of_zeros = compare_with_whole([np.ones(2), np.zeros(2)], np.zeros(2), permutations=4000)
    assert p == pytest.approx(1 / 15, abs=0.015)
    # Pairs with the mean 0 (6 of 15) or 1 are at least as far as 1/3.
    assert of_zeros == pytest.approx(7 / 15, abs=0.03)


# -- resamples ---------------------------------------------------------------------------------------------


def test_resampled_sums_are_scipys_with_the_same_draws() -> None:
    values = np.random.default_rng(13).exponential(size=200)
    drawn = resample_sums(values[:, None], resamples=500, seed=14)[:, 0] / 200
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=500, confidence_level=0.9, method="percentile", rng=np.random.default_rng(14)
    ).confidence_interval
    assert percentiles(drawn, confidence=0.9) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_quantiles_of_few_units_are_students() -> None:
    """Means of resamples of n normal values spread √((n - 1) / n) times as much as Student's interval allows for."""
    values = np.random.default_rng(15).normal(size=8)
    drawn = resample_sums(values[:, None], resamples=200_000, seed=16)[:, 0] / 8
    low, high = percentiles(drawn, units=8)
    half = stats.t.isf(0.025, 7) * values.std(ddof=1) / np.sqrt(8)
    assert (high - low) / 2 == pytest.approx(half, rel=0.05)
    assert percentiles(drawn, units=1e9) == pytest.approx(percentiles(drawn), abs=1e-3)


def test_drawn_groups_come_whole() -> None:
    groups = np.array([2, 0, 1, 0, 2, 2])
    for times in resample_sums(np.eye(6), groups=groups, resamples=50):
        assert all(len(set(times[groups == group])) == 1 for group in range(3))
        assert sum(times[groups == group][0] for group in range(3)) == 3


def test_counts_are_those_of_the_drawn_sums() -> None:
    values = np.random.default_rng(8).normal(size=(7, 1))
    for width in (1, resampling.BLOCK_CELLS // 10):
        counts = np.concatenate(list(draw_counts(7, resamples=30, width=width)))
        assert (counts.sum(axis=1) == 7).all()
        assert counts @ values == pytest.approx(resample_sums(values, resamples=30))


def test_undefined_resamples_are_left_out() -> None:
    assert percentiles(np.array([np.nan, *np.linspace(0, 1, 41)])) == pytest.approx((0.025, 0.975))


def test_no_samples() -> None:
    assert compare_means([], []) is None


# -- adjusted p-values -------------------------------------------------------------------------------------


def test_adjusted_p_values_by_hand() -> None:
    # Sorted 0.01, 0.02, 0.03, 0.5 times 4/1, 4/2, 4/3, 1: 0.04, 0.04, 0.04, 0.5.
    assert adjust_p_values([0.03, 0.5, 0.01, 0.02]) == pytest.approx([0.04, 0.5, 0.04, 0.04])
    assert adjust_p_values([]).size == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_adjusted_p_values_agree_with_scipy(p_values: list[float]) -> None:
    np.testing.assert_allclose(adjust_p_values(p_values), stats.false_discovery_control(p_values), rtol=1e-12)


# -- hostile input -----------------------------------------------------------------------------------------


def test_refuses_wrong_input() -> None:
    with pytest.raises(ValueError, match="lengths differ: first has 2, second has 1"):
        compare_means([1, 2], [1])
    with pytest.raises(ValueError, match=r"second\[1\] is nan; exclude that sample"):
        compare_means([1, 2], [1, np.nan])
    with pytest.raises(ValueError, match="permutations is 0; expected at least 1"):
        compare_means([1], [2], permutations=0)
    with pytest.raises(ValueError, match="resamples is 0; expected at least 1"):
        resample_sums(np.ones((2, 1)), resamples=0)
    with pytest.raises(ValueError, match="confidence is 95; expected a share"):
        percentiles(np.ones(2), confidence=95)
    with pytest.raises(ValueError, match=r"p_values\[1\] is 1.2; expected a number from 0 to 1"):
        adjust_p_values([0.1, 1.2])


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"], r"groups: shape \(1,\), but there are 2 samples; expected one label per sample"),
        ([1.0, np.nan], r"groups\[1\] is nan; give that sample a group"),
        (["a", None], "groups: labels of one kind are needed"),
    ],
)
def test_refuses_wrong_groups(groups: list[object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare_means([1, 2], [3, 4], groups=groups)  # type: ignore[arg-type]
