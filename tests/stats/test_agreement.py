"""Agreement: published examples, the krippendorff package, scikit-learn, and what always holds."""

from __future__ import annotations

import math
from typing import Any, Literal

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from mores.stats.agreement import (
    Level,
    Votes,
    cohen_kappa,
    cohen_kappa_interval,
    count_votes,
    fleiss_kappa,
    fleiss_kappa_interval,
    krippendorff_alpha,
    krippendorff_alpha_interval,
)

N = None
KRIPPENDORFF_2011 = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
    [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
]
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]
LEVELS: list[Level] = ["nominal", "ordinal", "interval"]

matrices = st.tuples(st.integers(2, 5), st.integers(2, 8)).flatmap(
    lambda shape: st.lists(
        st.lists(st.sampled_from([1.0, 2.0, 3.0, 7.0, math.nan]), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    )
)
pairs = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=2, max_size=30)


# --- Krippendorff's alpha


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorff_2011(level: Level, alpha: float) -> None:
    assert krippendorff_alpha(KRIPPENDORFF_2011, level) == pytest.approx(alpha, abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_of_votes_is_that_of_ratings(level: Level) -> None:
    votes = count_votes(KRIPPENDORFF_2011)
    assert votes.values == (1, 2, 3, 4, 5)
    assert np.asarray(votes.counts).tolist()[5] == [1, 1, 1, 1, 0]
    assert krippendorff_alpha(votes, level) == krippendorff_alpha(KRIPPENDORFF_2011, level)


def test_alpha_by_hand() -> None:
    # Units aa, ab: o_ab = o_ba = 1, n_a = 3, n_b = 1, n = 4; alpha = 1 - 3 * 2 / (3 * 1 * 2).
    assert krippendorff_alpha([["a", "a"], ["a", "b"]]) == pytest.approx(0)


@given(matrices, st.sampled_from(LEVELS))
def test_alpha_is_that_of_the_krippendorff_package(ratings: list[list[float]], level: Level) -> None:
    ours = krippendorff_alpha(ratings, level)
    assume(ours is not None)
    theirs = krippendorff.alpha(reliability_data=ratings, level_of_measurement=level)
    assert ours == pytest.approx(theirs, abs=1e-9)


@given(matrices, st.sampled_from(LEVELS))
def test_alpha_does_not_mind_the_order_of_raters_and_units(ratings: list[list[float]], level: Level) -> None:
    turned = [row[::-1] for row in ratings[::-1]]
    ours = krippendorff_alpha(ratings, level)
    assert krippendorff_alpha(turned, level) == (None if ours is None else pytest.approx(ours, abs=1e-9))


@given(st.lists(st.integers(1, 5), min_size=2, max_size=20), st.integers(2, 5), st.sampled_from(LEVELS))
def test_perfect_agreement_is_1(units: list[int], raters: int, level: Level) -> None:
    assume(len(set(units)) > 1)
    assert krippendorff_alpha([units] * raters, level) == pytest.approx(1)
    assert fleiss_kappa([units] * raters) == pytest.approx(1)
    assert cohen_kappa(units, units) == pytest.approx(1)


@pytest.mark.parametrize(
    "ratings",
    [
        pytest.param([[1, 2, 3]], id="one rater"),
        pytest.param([[1], [2]], id="one unit"),
        pytest.param([[1, 2, N], [3, N, 1]], id="one unit with two ratings"),
        pytest.param([[4, 4], [4, 4]], id="no variation"),
        pytest.param([[4, 4, 1], [4, 4, N]], id="no variation among pairs"),
        pytest.param([[N, N], [math.nan, N]], id="nothing"),
        pytest.param([[], []], id="no units"),
    ],
)
@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_undefined(ratings: list[list[float | None]], level: Level) -> None:
    assert krippendorff_alpha(ratings, level) is None


@pytest.mark.parametrize(
    ("data", "level", "message"),
    [
        ([[1, 2], [1]], "nominal", "equally long"),
        ([1, 2], "nominal", "one row per rater"),
        ([[1, "a"], [1, "a"]], "nominal", "mix names and numbers"),
        ([["a", "b"], ["a", "b"]], "ordinal", "as numbers"),
        ([[1, 2], [1, math.inf]], "interval", "finite"),
        ([[1, 2], [1, 2]], "ratio", "expected nominal, ordinal or interval"),
        (Votes((2, 1), np.array([[1, 1], [2, 0]])), "ordinal", "sort them"),
        (Votes((1, 2), np.array([[1, 1, 1], [2, 0, 0]])), "nominal", "units × 2"),
        (Votes((1, 2), np.array([[0.5, 0.5], [1, 0]])), "nominal", "not their shares"),
        (Votes((1, 2), np.array([[3, -1], [1, 1]])), "nominal", "whole numbers"),
        (Votes((1, 2), np.array([[math.nan, 2], [1, 1]])), "nominal", "whole numbers"),
    ],
)
def test_alpha_refuses(data: Any, level: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        krippendorff_alpha(data, level)


# --- Fleiss' kappa


def test_fleiss_of_the_example_with_fourteen_raters() -> None:
    assert fleiss_kappa(Votes((1, 2, 3, 4, 5), FLEISS)) == pytest.approx(0.210, abs=5e-4)


def test_fleiss_by_hand() -> None:
    # P = (1 + 0)/2, p = (3/4, 1/4), chance = 10/16; (8 - 10)/(16 - 10).
    assert fleiss_kappa([["a", "a"], ["a", "b"]]) == pytest.approx(-1 / 3)


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([[1, 0], [0, 1]], id="one rater"),
        pytest.param([[1, 2]], id="one unit"),
        pytest.param([[3, 0], [3, 0]], id="one value"),
        pytest.param(np.zeros((0, 2)), id="no units"),
    ],
)
def test_fleiss_is_undefined(counts: Any) -> None:
    assert fleiss_kappa(Votes((0, 1), counts)) is None


def test_fleiss_refuses_missing_ratings() -> None:
    with pytest.raises(ValueError, match=r"from 1 to 2 ratings.*use krippendorff_alpha"):
        fleiss_kappa([[1, 2], [1, N]])


@given(st.lists(st.lists(st.integers(1, 3), min_size=4, max_size=4), min_size=2, max_size=10))
def test_fleiss_is_at_most_1_and_near_alpha(units: list[list[int]]) -> None:
    ratings = np.array(units).T
    kappa, alpha = fleiss_kappa(ratings), krippendorff_alpha(ratings)
    assume(kappa is not None)
    assert kappa is not None
    assert -1 / 3 - 1e-9 <= kappa <= 1
    # Without missing ratings, alpha is kappa with the correction for small samples: 1 - a = (1 - k)(1 - 1/N).
    assert alpha == pytest.approx(1 - (1 - kappa) * (1 - 1 / ratings.size))


# --- Cohen's kappa


def test_cohen_by_hand() -> None:
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)


def test_cohen_with_weights_by_hand() -> None:
    # Costs of 11, 22, 33, 13 are 2 and 4. Of all first × second, by 4: (5 + 3 + 3 + 5)/4 and (9 + 3 + 5 + 9)/4.
    first, second = [1, 2, 3, 1], [1, 2, 3, 3]
    assert cohen_kappa(first, second, "linear") == pytest.approx(1 - 2 / 4)
    assert cohen_kappa(first, second, "quadratic") == pytest.approx(1 - 4 / 6.5)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@given(ratings=pairs)
def test_cohen_is_that_of_scikit_learn(
    weights: Literal["linear", "quadratic"] | None, ratings: list[tuple[int, int]]
) -> None:
    first, second = zip(*ratings, strict=True)
    ours = cohen_kappa(first, second, weights, levels=[1, 2, 3, 4])
    assert ours == cohen_kappa(second, first, weights, levels=[1, 2, 3, 4])
    assume(ours is not None)
    assert ours == pytest.approx(cohen_kappa_score(first, second, weights=weights, labels=[1, 2, 3, 4]), abs=1e-9)
    without = cohen_kappa(first, second, weights)
    assert without == pytest.approx(cohen_kappa_score(first, second, weights=weights), abs=1e-9)


def test_cohen_counts_levels_that_do_not_occur() -> None:
    first, second = ["a", "a", "d", "b"], ["a", "d", "d", "b"]
    assert cohen_kappa(first, second, "quadratic", ["a", "b", "c", "d"]) == pytest.approx(1 - 9 / 15)
    assert cohen_kappa(first, second, "quadratic", ["a", "b", "d"]) == pytest.approx(1 - 4 / 6.5)


def test_cohen_is_undefined() -> None:
    assert cohen_kappa([2, 2, 2], [2, 2, 2]) is None
    assert cohen_kappa([1], [2]) is None
    assert cohen_kappa([], []) is None


@pytest.mark.parametrize(
    ("first", "second", "options", "message"),
    [
        ([1, 2], [1], {}, "one of each rater for every unit"),
        ([1, None], [1, 2], {}, "exclude the units"),
        ([1, math.nan], [1, 2], {}, "exclude the units"),
        (["low", "high"], ["low", "low"], {"weights": "linear"}, "give `levels`"),
        ([1, 9], [1, 1], {"levels": [1, 2]}, "label 9 is not one of the levels"),
        ([1, 2], [1, 1], {"levels": [1, 2, 1]}, "occurs twice"),
        ([1, "a"], [1, 1], {}, "mix names and numbers"),
    ],
)
def test_cohen_refuses(first: list[Any], second: list[Any], options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cohen_kappa(first, second, **options)


def _crowd(rng: np.random.Generator, units: int, skill: float) -> np.ndarray[Any, Any]:
    """Three raters × units of three labels; each gives the true one as often as their skill."""
    truth = rng.integers(0, 3, units)
    noise = rng.integers(0, 3, (3, units))
    return np.where(rng.random((3, units)) < skill, truth, noise).astype(np.float64)


@pytest.mark.slow
def test_intervals_of_alpha_and_kappa_hold_the_true_value() -> None:
    rng = np.random.default_rng(1)
    # Two raters agree beyond chance where both were skilled, so the true coefficient is skill².
    held = {"alpha": 0, "kappa": 0}
    rounds = 100
    for _ in range(rounds):
        ratings = _crowd(rng, 40, 0.8)
        for name, interval in (
            ("alpha", krippendorff_alpha_interval(ratings)),
            ("kappa", fleiss_kappa_interval(ratings)),
        ):
            assert interval is not None
            held[name] += interval[0] <= 0.64 <= interval[1]
    assert all(count >= 0.92 * rounds for count in held.values()), held


def test_intervals_are_none_where_the_coefficients_are_and_narrow_with_more_units() -> None:
    assert krippendorff_alpha_interval([["a", "a"], ["a", "a"]]) is None
    assert fleiss_kappa_interval([["a"], ["b"]]) is None
    rng = np.random.default_rng(2)
    few, many = (krippendorff_alpha_interval(_crowd(rng, units, 0.7)) for units in (20, 2000))
    assert few is not None
    assert many is not None
    assert many[1] - many[0] < (few[1] - few[0]) / 4
    perfect = krippendorff_alpha_interval([["a", "b", "a", "b"]] * 3)
    assert perfect is not None
    assert perfect[1] == 1
    assert perfect[0] < 1, "four units do not prove it"


@pytest.mark.parametrize(
    ("raters", "units", "noise", "rare"),
    [
        (4, 40, 0.25, 0.4),
        (4, 20, 0.1, 0.1),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((10, 40, 0.6, 0.4), (2, 40, 0.05, 0.4))),
    ],
)
def test_intervals_of_coefficients_hold_the_truth(raters: int, units: int, noise: float, rare: float) -> None:
    """Raters give the true one of two labels, or with `noise` a random one: κ is (1 - noise)² of many units.

    With hardly any unit that raters differ about, Fisher's z would hold 82%.
    """
    rng, held, samples = np.random.default_rng(5), 0, 300
    for _ in range(samples):
        true = rng.random(units) < rare
        said = np.where(rng.random((raters, units)) < noise, rng.random((raters, units)) < rare, true).sum(axis=0)
        interval = fleiss_kappa_interval(Votes((0.0, 1.0), np.column_stack([raters - said, said])), resamples=200)
        held += interval is None or interval[0] <= (1 - noise) ** 2 <= interval[1]
    assert held >= 0.93 * samples


def test_the_interval_of_cohens_kappa_has_the_standard_error_of_fleiss_cohen_and_everitt() -> None:
    # J. Fleiss, J. Cohen, B. Everitt, Large sample standard errors of kappa, Psychological Bulletin 72 (1969), 323-327.
    table = np.array([[53, 5, 2], [11, 14, 5], [1, 6, 3]]) * 3
    pairs = [(a, b) for a in range(3) for b in range(3) for _ in range(table[a, b])]
    first, second = map(list, zip(*pairs, strict=True))
    shares = table / table.sum()
    rows, columns = shares.sum(axis=1), shares.sum(axis=0)
    observed, chance = float(np.trace(shares)), float(rows @ columns)
    kappa = (observed - chance) / (1 - chance)
    alike = sum(shares[i, i] * (1 - chance - (rows[i] + columns[i]) * (1 - observed)) ** 2 for i in range(3))
    unlike = sum(shares[i, j] * (columns[i] + rows[j]) ** 2 for i in range(3) for j in range(3) if i != j)
    rest = (observed * chance - 2 * chance + observed) ** 2
    error = math.sqrt((alike + (1 - observed) ** 2 * unlike - rest) / len(pairs)) / (1 - chance) ** 2
    interval = cohen_kappa_interval(first, second, [0, 1, 2])
    assert interval is not None
    low, high = interval
    assert low < kappa < high
    assert high - low == pytest.approx(2 * 1.96 * error, rel=0.06)
    assert kappa == pytest.approx(cohen_kappa(first, second))
