"""Influences: the values of the plain functions, errors like the bootstrap's, and a test that keeps its level."""

from __future__ import annotations

from collections.abc import Callable
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats import influence
from mores.stats.classification import Floats, Ints, auc
from mores.stats.correlation import kendall_tau_b
from mores.stats.influence import Influenced, area, compare, kendall_b, pearson, tie_accuracy
from mores.stats.resampling import draw_swaps, group_codes

EPSILON = 0.3
scores = st.lists(st.tuples(st.integers(-3, 0), st.integers(-8, 8).map(lambda n: n / 4)), min_size=1, max_size=25)


def known(found: Influenced | None) -> Influenced:
    assert found is not None
    return found


def plain_ties(x: Floats, y: Floats) -> float | None:
    first, second = np.triu_indices(len(x), 1)
    people, machine = np.sign(x[first] - x[second]), y[first] - y[second]
    alike = np.where(np.abs(machine) <= EPSILON, 0, np.sign(machine)) == people
    return float(alike.mean()) if alike.size else None


STATISTICS: dict[
    str, tuple[Callable[[Floats, Floats], Influenced | None], Callable[[Floats, Floats], float | None]]
] = {
    "kendall": (kendall_b, kendall_tau_b),
    "ties": (lambda x, y: tie_accuracy(x, y, EPSILON), plain_ties),
    "area": (lambda x, y: area(x < 0, -y), lambda x, y: auc(x < 0, -y)),
}
each = pytest.mark.parametrize("name", STATISTICS)


def simulate(count: int, seed: int, size: int = 1, noise: float = 1.0) -> tuple[Floats, Floats, Floats, Ints]:
    """Scores of people on four levels, those of two metrics that follow them, and the groups.

    The first metric has this much noise, the second 1. Samples of a group share most of the truth and of the noise.
    """
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(count), size)
    shared, own = rng.normal(size=(3, count))[:, groups], rng.normal(size=(3, groups.size))
    truth, one, two = np.sqrt(0.8) * shared + np.sqrt(0.2) * own
    human = -np.digitize(truth, [-0.5, 0.3, 1.0]).astype(np.float64)
    return human, -truth + noise * one, -truth + two, groups


# -- values ------------------------------------------------------------------------------------------------


@each
@given(rows=scores)
def test_the_value_is_that_of_the_plain_function(name: str, rows: list[tuple[int, float]]) -> None:
    influenced, plain = STATISTICS[name]
    x, y = np.array(rows, dtype=np.float64).T
    found, expected = influenced(x, y), plain(x, y)
    assert (found is None) == (expected is None)
    if found and expected is not None:
        assert found.value == pytest.approx(expected, abs=1e-12)
        assert found.influence.shape == x.shape
        assert found.influence.sum() == pytest.approx(0, abs=1e-9)


@given(scores)
def test_level_by_level_and_pair_by_pair_are_the_same(rows: list[tuple[int, float]]) -> None:
    x, y = np.array(rows, dtype=np.float64).T
    few = kendall_b(x, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(influence, "LEVELS", 0)
        patch.setattr(influence, "BLOCK", 7)
        many = kendall_b(x, y)
    assert (few is None) == (many is None)
    if few and many:
        assert few.value == many.value
        assert few.influence.tolist() == many.influence.tolist()


def test_many_levels_of_people_too() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = x + rng.normal(size=300)
    assert known(kendall_b(x, y)).value == pytest.approx(kendall_tau_b(x, y) or nan)
    assert known(kendall_b(x, y)).influence == pytest.approx(known(kendall_b(y, x)).influence)


def test_the_influences_of_three_samples_by_hand() -> None:
    # Pairs (0, 1) and (0, 2) are ordered alike, (1, 2) is not: means of the samples 1, 1/2, 1/2; overall 2/3.
    found = known(tie_accuracy([0, -1, -2], [3, 1, 2], 0))
    assert found.value == pytest.approx(2 / 3)
    assert found.influence == pytest.approx([2 / 9, -1 / 9, -1 / 9])
    assert found.error() == pytest.approx(np.sqrt(6) / 9)
    assert found.error(["a", "b", "b"]) == pytest.approx(np.sqrt(8) / 9)
    low, high = found.interval()
    assert 0 < low < 2 / 3 - 1.959964 * np.sqrt(6) / 9  # three samples: wider than the normal approximation
    assert 2 / 3 < high < 1


@given(scores)
def test_an_influence_is_how_far_a_little_more_weight_moves_the_value(rows: list[tuple[int, float]]) -> None:
    x, y = np.array(rows, dtype=np.float64).T
    found = kendall_b(x, y)
    if found is None:
        return
    sx, sy = np.sign(x[:, None] - x), np.sign(y[:, None] - y)

    def weighted(weights: Floats) -> float:
        pairs = np.outer(weights, weights)
        return float((pairs * sx * sy).sum() / np.sqrt((pairs * sx**2).sum() * (pairs * sy**2).sum()))

    for i, moved in enumerate(found.influence):
        step = np.zeros(x.size)
        step[i] = 1e-5
        slope = (weighted(1 + step) - weighted(1 - step)) / 2e-5
        assert moved == pytest.approx(slope, abs=1e-6)


# -- standard errors ---------------------------------------------------------------------------------------


@pytest.mark.often("samples-area", "groups-kendall", "groups-area")
@each
@pytest.mark.parametrize("size", [1, 4], ids=["samples", "groups"])
def test_the_error_is_that_of_the_bootstrap(name: str, size: int) -> None:
    influenced, plain = STATISTICS[name]
    x, y, _, groups = simulate(240 // size, seed=1, size=size)
    found = known(influenced(x, y))
    members = np.argsort(group_codes(groups, x.size), kind="stable").reshape(-1, size)
    drawn = np.random.default_rng(0).integers(0, len(members), (200, len(members)))
    values = np.array([plain(x[at], y[at]) for at in members[drawn].reshape(200, -1)], dtype=np.float64)
    assert found.error(groups) == pytest.approx(float(values.std()), rel=0.2)
    if size > 1:
        assert found.error(groups) > 1.3 * found.error()


@each
def test_the_error_is_the_spread_over_fresh_samples(name: str) -> None:
    influenced, _ = STATISTICS[name]
    made = [simulate(120, seed) for seed in range(200)]
    found = [known(influenced(x, y)) for x, y, _, _ in made]
    spread = float(np.std([one.value for one in found]))
    assert np.mean([one.error() for one in found]) == pytest.approx(spread, rel=0.15)


# -- comparisons -------------------------------------------------------------------------------------------


@pytest.mark.slow
@each
@pytest.mark.parametrize(
    ("count", "size"),
    [pytest.param(60, 1, id="samples", marks=pytest.mark.slow), pytest.param(40, 3, id="groups")],
)
def test_equal_metrics_are_called_different_in_one_of_twenty(name: str, count: int, size: int) -> None:
    influenced, _ = STATISTICS[name]
    significant = 0
    for seed in range(150):
        human, first, second, groups = simulate(count, seed, size)
        test = compare(known(influenced(human, first)), known(influenced(human, second)), groups)
        significant += test.p_value < 0.05
    assert 1 <= significant <= 18  # 7 or 8 expected; more than 18 would be a chance of 1 in 3,000


@pytest.mark.slow
def test_groups_that_are_ignored_are_taken_for_more_than_they_are() -> None:
    """That the test above can fail."""
    p_values = []
    for seed in range(100):
        human, first, second, _ = simulate(30, seed, size=6)
        p_values.append(compare(known(kendall_b(human, first)), known(kendall_b(human, second))).p_value)
    assert np.mean(np.array(p_values) < 0.05) > 0.15


@pytest.mark.slow
@pytest.mark.parametrize("noise", [0.75, *(pytest.param(noise, marks=pytest.mark.slow) for noise in (1.0, 0.6))])
def test_the_p_value_is_about_that_of_the_permutation_test(noise: float) -> None:
    human, first, second, _ = simulate(150, 5, noise=noise)
    test = compare(known(kendall_b(human, first)), known(kendall_b(human, second)))
    [swaps] = draw_swaps(150, 400, 0)

    def tau(scores: Floats) -> float:
        return kendall_tau_b(human, scores) or 0.0

    swapped = [tau(np.where(row, second, first)) - tau(np.where(row, first, second)) for row in swaps]
    difference = tau(first) - tau(second)
    assert test.difference == pytest.approx(difference)
    assert test.p_value == pytest.approx(float((np.abs(swapped) >= abs(difference)).mean()), abs=0.05)


def test_a_comparison_turned_around_is_the_same() -> None:
    human, first, second, groups = simulate(40, 2, size=2)
    one, two = known(kendall_b(human, first)), known(kendall_b(human, second))
    there, back = compare(one, two, groups), compare(two, one, groups)
    assert there.p_value == back.p_value
    assert (there.difference, there.low, there.high) == pytest.approx((-back.difference, -back.high, -back.low))
    assert compare(one, one, groups).p_value == 1.0
    assert compare(one, one, groups).difference == 0


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(20), 2)])
def test_intervals_of_differences_of_correlations_hold_and_are_narrow(groups: Ints | None) -> None:
    """Of 40 items; those of a beta distribution were 0.44 wide and always held."""
    rng, truth, held, widths = np.random.default_rng(0), 1.25**-0.5 - 2**-0.5, 0, 0.0
    for _ in range(100):
        human = rng.normal(size=40)
        first, second = human + rng.normal(0, 0.5, 40), human + rng.normal(0, 1, 40)
        test = compare(known(pearson(human, first)), known(pearson(human, second)), groups)
        held += test.low <= truth <= test.high
        widths += test.high - test.low
    assert held >= 93
    assert widths < (40 if groups is None else 60)
    same = known(pearson(human, first))
    assert compare(same, same).low < 0 < compare(same, same).high, "never a point"


def test_few_samples_never_make_a_difference_sure() -> None:
    right, blind = known(area([1, 0], [2, 1])), known(area([1, 0], [1, 1]))
    assert compare(right, blind).p_value == 0.5  # of four swaps two are as extreme
    human, first, second, _ = simulate(50, 0, noise=0.1)
    one_group = compare(known(kendall_b(human, first)), known(kendall_b(human, second)), ["same"] * 50)
    assert one_group.p_value == 1.0
    gold = np.arange(200) % 2
    assert compare(known(area(gold, gold)), known(area(gold, gold * 0))).p_value < 1e-50


# -- hostile input -----------------------------------------------------------------------------------------


@each
def test_nothing_is_defined_without_pairs(name: str) -> None:
    influenced, _ = STATISTICS[name]
    assert influenced(np.zeros(0), np.zeros(0)) is None
    assert influenced(np.array([-1.0]), np.array([0.5])) is None


def test_constant_scores() -> None:
    assert kendall_b([0, 0, 0], [1, 2, 3]) is None
    assert kendall_b([1, 2, 3], [0, 0, 0]) is None
    assert area([1, 1], [0, 1]) is None
    assert known(area([1, 0], [3, 3])).value == 0.5
    all_tied = known(tie_accuracy([0, 0, 0], [1, 1, 1], 0))
    low, high = all_tied.interval()
    assert (all_tied.value, all_tied.error(), high) == (1.0, 0.0, 1.0)
    assert low < 0.2  # three samples without a difference are no proof that there is none


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: kendall_b([0, nan], [1, 2]), r"human\[1\] is nan"),
        (lambda: kendall_b([0, 1], [float("inf"), 2]), r"metric\[0\] is inf"),
        (lambda: tie_accuracy([0, 1], [1, nan], 0), r"metric\[1\] is nan"),
        (lambda: area([0, 1], [1, nan]), r"scores\[1\] is nan"),
        (lambda: area([0, 2], [1, 1]), r"gold\[1\] is 2"),
        (lambda: kendall_b([0, 1, 2], [1, 2]), "human has 3, metric has 2"),
        (lambda: tie_accuracy([0, 1, 2], [1, 2], 0), "human has 3, metric has 2"),
        (lambda: area([0, 1, 1], [1, 2]), "gold has 3, scores has 2"),
        (lambda: compare(known(area([0, 1], [1, 2])), known(area([0, 1, 1], [1, 2, 2]))), "first has 2, second has 3"),
        (lambda: known(area([0, 1], [1, 2])).error(["a"]), "groups: shape"),
    ],
)  # fmt: skip
def test_wrong_input_is_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
