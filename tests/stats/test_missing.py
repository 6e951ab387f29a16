"""Missing answers in figures: worked examples, scipy as another implementation, and how often intervals hold the truth.

The coverage is simulated with answers that are missing at random, and with such that are missing because they are wrong
or because they are correct; the seed is fixed.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import brentq
from scipy.stats import beta, norm

from mores.benchmark.msqa import FIGURES
from mores.stats.classification import Floats
from mores.stats.intervals import limits, share_interval
from mores.stats.missing import cover, decide, tail_of
from mores.stats.results import difference_result, mean_result, ratio_result, share_result
from mores.types import Result

# ---- worked examples -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("width", "error"), [(0.0, 0.1), (0.01, 0.1), (0.05, 0.05), (0.2, 0.1), (0.4, 0.02)])
def test_the_tail_solves_the_equation_of_imbens_and_manski(width: float, error: float) -> None:
    c = brentq(lambda c: norm.cdf(c + width / error) - norm.cdf(-c) - 0.95, 1, 3, xtol=1e-12)
    assert float(tail_of(width, error)) == pytest.approx(1 - norm.cdf(c), abs=1e-9)


def test_the_tail_is_between_one_sided_and_two_sided() -> None:
    """Imbens and Manski: c is 1.96 where the parameter is a point, and 1.645 where the bounds are far apart."""
    assert norm.isf(tail_of([0, 1, 0, 0.1], [0.1, 0.1, 0, 0])) == pytest.approx([1.96, 1.645, 1.96, 1.645], abs=1e-3)


def test_a_share_with_missing_answers() -> None:
    """60 of 80 are correct and 20 missing: from 60% to 80%, and one-sided Clopper-Pearson ends of these."""
    result = share_result("correct", 60, 80, 20)
    assert (result.value, result.n, result.unscored, result.missing) == (0.75, 80, 20, 0.2)
    assert (result.low, result.high) == share_interval(60, 80)
    assert result.bounds == pytest.approx((0.6, 0.8))
    assert result.whole == pytest.approx((beta.ppf(0.05, 60, 41), beta.ppf(0.95, 81, 20)), abs=1e-4)
    assert result.interval == result.whole


def test_nothing_is_missing() -> None:
    result = share_result("correct", 60, 80)
    assert result.bounds is result.whole is None
    assert result.interval == (result.low, result.high) == share_interval(60, 80)
    assert "whole" not in result.model_dump()
    moments = np.array([0.75, 0.01, 20])
    assert np.allclose(cover(moments, moments), limits(*moments), atol=1e-9)
    alike = difference_result("difference", [1.0, 0.0], [0.0, 0.0])
    assert alike.value == 0.5
    assert alike.bounds is alike.whole is None
    assert difference_result("difference", [], []) == Result(name="difference", value=None)


def test_with_missing_answers_no_interval_is_narrower() -> None:
    """One of two is correct, and a third missing: one-sided ends of 1 and 2 of 3 are inside those of 1 of 2."""
    result = share_result("correct", 1, 2, 1)
    assert beta.ppf(0.05, 1, 3) > beta.ppf(0.025, 1, 2)
    assert result.whole == pytest.approx((beta.ppf(0.025, 1, 2), beta.ppf(0.975, 2, 1)), abs=1e-4)


def test_all_are_missing() -> None:
    result = share_result("correct", 0, 0, 20)
    assert result.value is None
    assert result.bounds == result.interval == (0.0, 1.0)
    assert decide(result) == 0


def test_a_figure_without_bounds_decides_nothing() -> None:
    complete = Result(name="kendall", value=0.5, low=0.4, high=0.6, n=50)
    assert decide(complete) == 1
    assert decide(complete, 0.7) == -1
    assert decide(complete, 0.5) == 0
    assert decide(complete.model_copy(update={"unscored": 5})) == 0
    assert decide(None) == 0


@pytest.mark.parametrize("name", FIGURES)
def test_ratios_lie_between_those_of_every_way_to_fill_in(name: str) -> None:
    counts, lost = np.array([[2.0, 1, 0], [0, 2, 1], [1, 0, 0]]), [0, 1, 2]
    filled = [counts.sum(axis=0) + np.eye(3)[list(kinds)].sum(axis=0) for kinds in product(range(3), repeat=3)]
    values = FIGURES[name].value(np.array(filled).T)
    result = ratio_result(name, FIGURES[name], counts, 7, lost)
    assert result.bounds == pytest.approx((values.min(), values.max()))
    assert result.whole is not None
    assert result.whole[0] < values.min() < values.max() < result.whole[1]


def test_means_on_a_scale_and_of_groups() -> None:
    """Ratings from 1 to 5; a person who skips an answer may have thought anything of it."""
    values, nan = [5.0, 4.0, 3.0], np.nan
    result = mean_result("mean", [*values, nan], least=1.0, most=5.0)
    assert result.value == 4.0
    assert result.bounds == pytest.approx((3.25, 4.25))
    assert result == mean_result("mean", values, least=1.0, most=5.0, unscored=1)
    alone = mean_result("mean", np.repeat([1.0, 0.0, nan], 8))
    grouped = mean_result("mean", np.repeat([1.0, 0.0, nan], 8), groups=np.repeat(np.arange(6), 4))
    assert alone.bounds == grouped.bounds
    assert alone.whole is not None
    assert grouped.whole is not None
    assert grouped.whole[0] < alone.whole[0] < alone.whole[1] < grouped.whole[1]


def test_the_same_answers_with_a_failing_judge_are_not_better() -> None:
    first = np.repeat([1.0, 0.0], 50)
    second = np.where((first == 0) & (np.arange(100) % 5 > 0), np.nan, first)
    result = difference_result("difference", second, first)
    assert (result.value, result.n, result.unscored) == (0.0, 60, 40)
    assert result.bounds == pytest.approx((0.0, 0.4))
    assert decide(result) == 0
    assert np.nanmean(second) > 0.8  # a rank by the answers that are graded would be the first


def test_a_difference_that_missing_answers_cannot_explain() -> None:
    first, second = np.repeat([1.0, 0.0, np.nan], [90, 5, 5]), np.repeat([0.0, 1.0, np.nan], [50, 45, 5])
    assert decide(difference_result("difference", first, second)) == 1
    assert decide(difference_result("difference", second, first)) == -1


# ---- coverage --------------------------------------------------------------------------------------------------


class Lottery(NamedTuple):
    """What one answer, or pair of answers, can be; and how probable that is."""

    worst: Floats
    best: Floats
    """With what is missing as bad, and as good, as it can be."""
    chance: Floats
    truth: float


def losing(values: npt.ArrayLike, chances: npt.ArrayLike, share: float, why: str) -> Lottery:
    """Values from 0 to 1 of which a share is missing: at random, or because they are wrong or correct."""
    x, p = np.asarray(values, dtype=np.float64), np.asarray(chances, dtype=np.float64)
    prone = {"at random": x >= 0, "wrong": x < 0.5, "correct": x >= 0.5}[why]
    lost = p * prone * min(1.0, share / float(p @ prone))
    worst, best = np.append(x, np.zeros_like(x)), np.append(x, np.ones_like(x))
    return Lottery(worst, best, np.append(p - lost, lost), float(x @ p))


def coverage(answer: Lottery, n: int, least: float = 0.0) -> float:
    """How often the interval of n answers has the truth, of 4,000 times."""
    counts = np.random.default_rng(0).multinomial(n, answer.chance, 4000)
    moments = []
    for values in ((ends - least) / (1 - least) for ends in (answer.worst, answer.best)):
        means = counts @ values / n
        moments += [means, (counts @ values**2 / n - means**2) / n, np.full_like(means, n)]
    kinds, times = np.unique(np.round(moments, 12), axis=1, return_counts=True)
    low, high = cover(kinds[:3], kinds[3:])
    truth = (answer.truth - least) / (1 - least)
    return float(times[(low <= truth) & (truth <= high)].sum() / times.sum())


WHY = ("at random", "wrong", pytest.param("correct", marks=pytest.mark.slow))
"""`correct` is `wrong` in a mirror."""


@pytest.mark.slow
@pytest.mark.parametrize("why", WHY)
@pytest.mark.parametrize("n", [20, *(pytest.param(n, marks=pytest.mark.slow) for n in (50, 100, 500))])
def test_shares(n: int, why: str) -> None:
    for share, missing in product((0.05, 0.3, 0.5, 0.9, 0.98), (0.0, 0.02, 0.1, 0.4)):
        assert coverage(losing([0, 1], [1 - share, share], missing, why), n) >= 0.94, (share, missing)


@pytest.mark.slow
@pytest.mark.parametrize("why", WHY)
@pytest.mark.parametrize("n", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_means_of_ratings(n: int, why: str) -> None:
    """From 1 to 5, as parts of the scale; where rarely a rating is low, those may be the ones that are skipped."""
    ratings = ((0.05, 0.1, 0.2, 0.4, 0.25), (0.3, 0.1, 0.1, 0.1, 0.4), (0, 0.05, 0, 0, 0.95))
    for shares, missing in product(ratings, (0.02, 0.1, 0.4)):
        assert coverage(losing(np.linspace(0, 1, 5), shares, missing, why), n) >= 0.93, (shares, missing)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("why", "other"),
    [("at random", "at random"), pytest.param("wrong", "wrong", marks=pytest.mark.slow), ("wrong", "correct")],
)
@pytest.mark.parametrize("n", [20, *(pytest.param(n, marks=pytest.mark.slow) for n in (100, 500))])
def test_paired_differences(n: int, why: str, other: str) -> None:
    for (first, second), missing in product(
        ((0.5, 0.5), (0.6, 0.5), (0.98, 0.95)), ((0.0, 0.0), (0.05, 0.0), (0.2, 0.2), (0.0, 0.4))
    ):
        one = losing([0, 1], [1 - first, first], missing[0], why)
        two = losing([0, 1], [1 - second, second], missing[1], other)
        worst, best = np.subtract.outer(one.worst, two.best), np.subtract.outer(one.best, two.worst)
        pair = Lottery(worst.ravel(), best.ravel(), np.outer(one.chance, two.chance).ravel(), first - second)
        assert coverage(pair, n, -1.0) >= 0.94, (first, second, missing)


@pytest.mark.often("20-wrong")
@pytest.mark.parametrize("why", WHY)
@pytest.mark.parametrize("n", [20, 100, 500])
def test_the_same_answers_of_which_one_judge_misses_some(n: int, why: str) -> None:
    for share, missing in product((0.3, 0.6, 0.9), (0.02, 0.1, 0.4)):
        graded, correct = losing([0, 1], [1 - share, share], missing, why), np.array([0, 1, 0, 1])
        pair = Lottery(graded.worst - correct, graded.best - correct, graded.chance, 0.0)
        assert coverage(pair, n, -1.0) >= 0.94, (share, missing)
