"""Pairwise accuracy with ties: by hand, against all pairs and every ε in exact fractions, and on hostile input."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import isnan, lcm

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats import ties
from mores.stats.ties import TieAccuracy, calibrate_ties

NAN = float("nan")
Scores = Sequence[float]

# People rate five outputs of each of five items; the metric is finer. Two ratings and two scores are missing.
HUMAN: list[list[float]] = [
    [4, 4, 3, 1, 0],
    [2, NAN, 2, 2, 1],
    [0, 0, 0, 0, 0],
    [5, 4, 3, 2, 1],
    [1, NAN, 3, 3, 3],
]
METRIC: list[list[float]] = [
    [0.90, 0.85, 0.70, 0.30, 0.35],
    [0.50, 0.40, 0.45, 0.65, 0.10],
    [0.20, 0.30, NAN, 0.25, 0.80],
    [0.95, 0.60, 0.70, 0.40, 0.41],
    [0.15, 0.55, 0.60, NAN, 0.50],
]
ROWS = np.repeat(np.arange(5), 5)

score = st.sampled_from([0.0, 0.1, 0.2, 0.25, 0.5, 1.0, -1.0, NAN]) | st.floats(-3, 3)
rating = st.sampled_from([0.0, 1.0, 2.0, 3.0, NAN])
samples = st.lists(st.tuples(rating, score, st.integers(0, 4)), max_size=40)


def brute_force(human: Scores, metric: Scores, groups: Scores, epsilon: float) -> tuple[Fraction | None, int, int, int]:
    """Mean accuracy, pairs, pairs left out and groups, from every pair and the definition."""
    right: dict[float, list[bool]] = {}
    left_out = 0
    for (h1, m1, g1), (h2, m2, g2) in combinations(zip(human, metric, groups, strict=True), 2):
        if g1 != g2:
            continue
        if any(map(isnan, (h1, h2, m1, m2))):
            left_out += 1
            continue
        machine = 0 if abs(m1 - m2) <= epsilon else (m1 > m2) - (m1 < m2)
        right.setdefault(g1, []).append(machine == (h1 > h2) - (h1 < h2))
    means = [Fraction(sum(each), len(each)) for each in right.values()]
    mean = sum(means, Fraction(0)) / len(means) if means else None
    return mean, sum(map(len, right.values())), left_out, len(means)


def search(human: Scores, metric: Scores, groups: Scores) -> TieAccuracy | None:
    """The best of every candidate; the first of the sorted ones that is best."""
    gaps = {abs(metric[i] - metric[j]) for i, j in combinations(range(len(metric)), 2) if groups[i] == groups[j]}
    best: TieAccuracy | None = None
    highest: Fraction = Fraction(-1)
    for epsilon in sorted({0.0} | {gap for gap in gaps if not isnan(gap)}):
        mean, *counts = brute_force(human, metric, groups, epsilon)
        if mean is not None and mean > highest:
            highest, best = mean, TieAccuracy(float(mean), epsilon, *counts)
    return best


# -- calibration -------------------------------------------------------------------------------------------


def test_by_hand() -> None:
    # Pairs (people, |Δ|): a-b tied 1; a-c alike 3; b-c alike 2. ε = 0: 2 of 3; ε = 1: all; ε = 2: 2; ε = 3: 1.
    human, metric = [1, 1, 2], [0, 1, 3]
    assert calibrate_ties(human, metric) == TieAccuracy(1.0, 1.0, 3, 0, 1)


def test_discordant_pairs_and_ties_of_one_side_do_not_count() -> None:
    assert calibrate_ties([1, 2], [1, 1]) == TieAccuracy(0.0, 0.0, 1, 0, 1)  # tied by the metric only
    assert calibrate_ties([1, 2], [2, 1]) == TieAccuracy(0.0, 0.0, 1, 0, 1)  # no ε helps: the smallest


def test_of_equal_maxima_the_smallest_epsilon_is_taken() -> None:
    # ε = 0: the pair 3-4 (alike, Δ 2) is right. ε = 1: also 1-2 (tied). ε = 2: 3-4 is lost. ε = 3: 5-6 is won.
    human, metric, groups = [1, 1, 1, 2, 1, 1], [0, 1, 0, 2, 0, 3], [0, 0, 1, 1, 2, 2]
    assert calibrate_ties(human, metric, groups) == TieAccuracy(2 / 3, 1.0, 3, 0, 3)


def test_groups_weigh_the_same_whatever_their_size() -> None:
    # One pair that needs ε = 1 against three that ε = 1 spoils: 1 + 0 beats 0 + 1/3 only because groups are averaged.
    human, metric, groups = [1, 1, 1, 2, 3], [0, 1, 5, 5.5, 4], ["a", "a", "b", "b", "b"]
    assert calibrate_ties(human, metric, groups) == TieAccuracy(0.5, 1.0, 4, 0, 2)
    assert calibrate_ties(human, metric) == search(human, metric, [0] * 5)


def test_a_matrix_with_missing_values() -> None:
    human, metric = np.ravel(HUMAN), np.ravel(METRIC)
    result = calibrate_ties(human, metric, ROWS)
    assert result == search(human.tolist(), metric.tolist(), ROWS.tolist())
    assert result is not None
    # Four items keep 10, 6, 6 and 10 pairs; the last loses a rating and a score of different outputs, and keeps 3.
    assert (result.pairs, result.left_out, result.groups) == (35, 15, 5)
    assert 0 < result.epsilon < 0.85
    as_none = [None if isnan(value) else value for value in metric.tolist()]
    assert calibrate_ties(human, as_none, ROWS) == result  # type: ignore[arg-type]


@pytest.mark.slow
@given(samples)
def test_is_the_best_of_every_epsilon_over_all_pairs(rows: list[tuple[float, float, int]]) -> None:
    human, metric, groups = (list(part) for part in zip(*rows, strict=True)) if rows else ([], [], [])
    assert calibrate_ties(human, metric, groups) == search(human, metric, groups)
    assert calibrate_ties(human, metric) == search(human, metric, [0] * len(human))


@pytest.mark.parametrize("cells", [1, pytest.param(3, marks=pytest.mark.slow), 2**13])
@pytest.mark.parametrize("block", [pytest.param(1, marks=pytest.mark.slow), 7, 2**17])
def test_the_sizes_of_blocks_and_buckets_change_nothing(
    cells: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ties, "CELLS", cells)
    monkeypatch.setattr(ties, "FEWEST_BUCKETS", 1)
    monkeypatch.setattr(ties, "BLOCK", block)
    rng = np.random.default_rng(5)
    for sizes in ([30], [6, 6, 6], [9, 7, 7, 2, 1], [4, 3, 3]):
        groups = np.repeat(np.arange(len(sizes)), sizes)
        human = rng.integers(0, 3, groups.size).astype(float)
        metric = human + rng.normal(0, 1, groups.size).round(1)
        expected = search(human.tolist(), metric.tolist(), groups.tolist())
        assert calibrate_ties(human, metric, groups) == expected


def test_weights_beyond_64_bits_stay_exact() -> None:
    sizes = np.arange(2, 60)
    groups = np.repeat(sizes, sizes)
    assert lcm(*(size * (size - 1) // 2 for size in sizes.tolist())) > 2**64
    rng = np.random.default_rng(7)
    human = rng.integers(0, 3, groups.size).astype(float)
    metric = (human + rng.normal(0, 1.5, groups.size)).round(1)
    metric[rng.random(groups.size) < 0.05] = np.nan
    result = calibrate_ties(human, metric, groups)
    assert result is not None
    assert result.epsilon > 0
    mean, *counts = brute_force(human.tolist(), metric.tolist(), groups.tolist(), result.epsilon)
    assert mean is not None
    assert result == TieAccuracy(float(mean), result.epsilon, *counts)


def test_order_of_samples_and_names_of_groups_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    human, metric, groups = rng.integers(0, 4, 300), rng.normal(size=300), rng.integers(0, 20, 300)
    names, shuffled = np.array([f"item {group}" for group in groups]), rng.permutation(300)
    expected = calibrate_ties(human, metric, groups)
    assert expected is not None
    assert calibrate_ties(human[shuffled], metric[shuffled], names[shuffled]) == expected


def test_all_ties_and_scores_that_do_not_differ() -> None:
    assert calibrate_ties([1, 1, 1], [5, 5, 5]) == TieAccuracy(1.0, 0.0, 3, 0, 1)
    assert calibrate_ties([1, 1, 1], [0, 2, 7]) == TieAccuracy(1.0, 7.0, 3, 0, 1)
    assert calibrate_ties([1, 2, 3], [5, 5, 5]) == TieAccuracy(0.0, 0.0, 3, 0, 1)
    assert calibrate_ties([1, 1, 2], [0, 5e-324, 1]) == TieAccuracy(1.0, 5e-324, 3, 0, 1)


@pytest.mark.parametrize(
    ("human", "metric", "groups"),
    [([], [], None), ([1], [1], None), ([1, 2], [1, NAN], None), ([1, 2], [1, 2], ["a", "b"]), ([], [], [])],
)
def test_undefined_without_pairs(human: Scores, metric: Scores, groups: list[str] | None) -> None:
    assert calibrate_ties(human, metric, groups) is None


def test_refuses_wrong_input() -> None:
    with pytest.raises(ValueError, match="lengths differ: human has 2, metric has 1"):
        calibrate_ties([1, 2], [1])
    with pytest.raises(ValueError, match=r"groups: shape \(1,\), but there are 2 samples"):
        calibrate_ties([1, 2], [1, 2], ["a"])
    with pytest.raises(ValueError, match=r"metric\[1\] is inf; expected a finite number"):
        calibrate_ties([1, 2], [1, np.inf])
    with pytest.raises(ValueError, match=r"scores beyond ±1e\+300, whose differences overflow"):
        calibrate_ties([1, 2], [1e308, -1e308])
