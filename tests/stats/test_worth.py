"""What a judge is worth: by hand, and in simulations whose truth is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mores.stats.agreement import krippendorff_alpha
from mores.stats.influence import pearson
from mores.stats.worth import effective_items, interval_alpha, side_by_side, worth_in_people


@pytest.mark.parametrize(
    ("correlation", "rated", "judged", "worth"),
    [
        (0.6, 100, math.inf, 156.25),
        (-0.6, 100, math.inf, 156.25),
        (0.6, 100, 100, 100 / 0.82),
        (0.0, 40, 1000, 40),
        (0.9, 40, 0, 40),
        (1.0, 40, math.inf, math.inf),
        (1.0, 40, 60, 100),
        (0.5, 0, 10, 0),
    ],
)
def test_effective_items_by_hand(correlation: float, rated: int, judged: float, worth: float) -> None:
    assert effective_items(correlation, rated, judged) == pytest.approx(worth)


@pytest.mark.parametrize("arguments", [(1.1, 1, 1), (0.5, -1, 1), (0.5, 1, -1)])
def test_refuses_what_is_no_correlation_and_no_count(arguments: tuple[float, int, float]) -> None:
    with pytest.raises(ValueError, match=r"expected|not from"):
        effective_items(*arguments)


@pytest.mark.parametrize("correlation", [0.3, 0.8])
def test_the_estimate_from_people_and_judge_is_as_precise_as_so_many_people(correlation: float) -> None:
    """4,000 studies of 80 rated and 240 judged answers; the judge is biased by 3 and on another scale."""
    rng = np.random.default_rng(1)
    studies, rated, judged = 4000, 80, 240
    people = rng.normal(size=(studies, rated + judged))
    judge = 3 + 10 * (correlation * people + math.sqrt(1 - correlation**2) * rng.normal(size=people.shape))
    known, score, more = people[:, :rated], judge[:, :rated], judge[:, rated:]
    slope = ((known - known.mean(1)[:, None]) * score).mean(1) / judge.var(axis=1) * judged / (rated + judged)
    together = known.mean(1) + slope * (more.mean(1) - score.mean(1))
    assert together.mean() == pytest.approx(0, abs=0.01)
    gain = known.mean(1).var() / together.var()
    assert gain == pytest.approx(effective_items(correlation, rated, judged) / rated, rel=0.08)


def test_worth_in_people_by_hand() -> None:
    assert worth_in_people(0.5, 0.5) == pytest.approx(1)  # as a person with another
    assert worth_in_people(math.sqrt(0.5 * 0.8), 0.5) == pytest.approx(4)  # 4 people: 4·0.5 / 2.5 = 0.8
    assert worth_in_people(0.0, 0.5) == worth_in_people(-0.4, 0.5) == 0
    assert worth_in_people(0.71, 0.5) == math.inf
    assert worth_in_people(0.5, 0.0) is None


def simulate(rng: np.random.Generator, answers: int, worth: float) -> tuple[list[list[float]], np.ndarray]:
    """Two to four people with errors as large as the differences between answers, and a judge worth so many."""
    truth = rng.normal(size=answers)
    ratings = [list(value + rng.normal(size=rng.integers(2, 5))) for value in truth]
    return ratings, 7 + 2 * (truth + rng.normal(size=answers) / math.sqrt(worth))


@pytest.mark.slow
@pytest.mark.parametrize("worth", [0.5, 1.0, 4.0])
def test_a_judge_with_a_known_worth_in_people(worth: float) -> None:
    ratings, judge = simulate(np.random.default_rng(2), 5_000, worth)
    beside = side_by_side(ratings, judge)
    assert beside is not None
    assert beside.people == pytest.approx(0.5, abs=0.03)
    assert beside.judge == pytest.approx(math.sqrt(0.5 * worth / (worth + 1)), abs=0.03)
    assert beside.worth == pytest.approx(worth, rel=0.15)


@pytest.mark.slow
def test_the_intervals_hold_the_truth() -> None:
    """In 60 studies of 120 answers: worth 2 people, correlations 1/2 and √(1/3)."""
    rng = np.random.default_rng(3)
    held = np.zeros(4)
    for _ in range(60):
        beside = side_by_side(*simulate(rng, 120, 2.0))
        assert beside is not None
        assert beside.worth_interval is not None
        truth = {0.5: beside.people_interval, math.sqrt(1 / 3): beside.judge_interval, 2.0: beside.worth_interval}
        truth[math.sqrt(1 / 3) - 0.5] = beside.difference
        held += [low <= value <= high for value, (low, high) in truth.items()]
    assert (held >= 53).all()


def test_two_people_are_paired_both_ways() -> None:
    ratings = [[1.0, 2.0], [4.0, 4.0], [2.0, 5.0], [5.0, 3.0]]
    judge = [1.0, 4.0, 3.0, 5.0]
    beside = side_by_side(ratings, judge)
    assert beside is not None
    one, other = np.array(ratings).T
    both_ways = np.corrcoef(np.append(one, other), np.append(other, one))[0, 1]
    assert beside.people == pytest.approx(both_ways)
    assert beside.judge == pytest.approx(np.corrcoef(np.append(one, other), np.append(judge, judge))[0, 1])
    assert (beside.answers, beside.ratings) == (4, 8)


def test_nothing_to_compare() -> None:
    assert side_by_side([], []) is None
    assert side_by_side([[1, 1], [1, 1]], [1, 2]) is None
    assert side_by_side([[1, 2], [2, 3]], [4, 4]) is None
    with pytest.raises(ValueError, match="fewer than two ratings"):
        side_by_side([[1]], [1])


def test_alpha_is_that_of_any_number_of_people_and_answers() -> None:
    rng = np.random.default_rng(6)
    ratings = [list(map(float, rng.integers(1, 6, size=rng.integers(2, 5)))) for _ in range(30)]
    figure = interval_alpha(ratings)
    assert figure is not None
    value, (low, high) = figure
    table = [[given[person] if person < len(given) else None for given in ratings] for person in range(4)]
    assert value == pytest.approx(krippendorff_alpha(table, "interval"))
    assert low < value < high
    assert interval_alpha([[2, 2], [2, 2, 2]]) is None
    assert interval_alpha([]) is None


# Pearson's r with its influence


def test_pearson_and_the_influence_of_each_sample() -> None:
    """The influence is n times what leaving a sample out changes, to first order."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=400)
    y = x + rng.normal(size=400)
    statistic = pearson(x, y)
    assert statistic is not None
    assert statistic.value == pytest.approx(np.corrcoef(x, y)[0, 1])
    left_out = [statistic.value - np.corrcoef(np.delete(x, i), np.delete(y, i))[0, 1] for i in range(400)]
    assert np.allclose(statistic.influence, left_out, atol=5e-4)
    assert statistic.error() == pytest.approx((1 - statistic.value**2) / math.sqrt(400), rel=0.15)
    assert pearson([1, 1], [1, 2]) is None
    assert pearson([1], [1]) is None


def test_the_interval_of_pearson_holds_the_truth() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        truth = rng.normal(size=40)
        statistic = pearson(truth, 0.6 * truth + 0.8 * rng.normal(size=40))
        assert statistic is not None
        low, high = statistic.interval()
        held += low <= 0.6 <= high
    assert held >= 0.92 * 300
