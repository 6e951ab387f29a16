"""What n answers are worth: worked examples, and the mean over every draw."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mores.stats.curves import best_of, majority_of, mean_of, plurality_of, worst_of


def test_by_hand() -> None:
    """Two right answers of four: of the six pairs one has none, one has both, four have one of each."""
    right, graded = np.array([2]), np.array([4])
    assert best_of(right, graded, 4)[0].tolist() == pytest.approx([1 / 2, 5 / 6, 1, 1])
    assert worst_of(right, graded, 4)[0].tolist() == pytest.approx([1 / 2, 1 / 6, 0, 0])
    assert majority_of(right, graded, 4)[0].tolist() == pytest.approx([1 / 2, 1 / 2, 1 / 2, 1 / 2])
    assert mean_of(right, graded, 4)[0].tolist() == [0.5] * 4
    # Of the four triples two have both right ones, and two have all three kinds: a lot of one in three.
    assert plurality_of([([2], [1, 1])], 4)[0].tolist() == pytest.approx([1 / 2, 1 / 6 + 2 / 3 / 2 + 0, 2 / 3, 1])


def by_enumeration(answers: Sequence[str], n: int) -> tuple[float, float, float, float]:
    """Best, worst, majority and plurality over every draw of n; answers that begin with R are right."""
    found = []
    for drawn in combinations(answers, n):
        right = sum(one.startswith("R") for one in drawn)
        counts = Counter(drawn)
        top = [one for one, times in counts.items() if times == max(counts.values())]
        won = sum(one.startswith("R") for one in top) / len(top)
        found.append((right > 0, right == n, (2 * right > n) + 0.5 * (2 * right == n), won))
    best, worst, majority, plurality = np.mean(np.array(found, dtype=float), axis=0).tolist()
    return best, worst, majority, plurality


@given(st.lists(st.sampled_from(("R1", "R2", "W1", "W2", "W3", "W4")), min_size=1, max_size=8))
def test_estimators_are_the_mean_over_every_draw(answers: list[str]) -> None:
    counts, most = Counter(answers), 9
    right, graded = (np.array([sum(one[0] == "R" for one in answers)]), np.array([len(answers)]))
    sizes = [[times for one, times in counts.items() if one[0] == kind] for kind in "RW"]
    rows = [best_of(right, graded, most)[0], worst_of(right, graded, most)[0], majority_of(right, graded, most)[0]]
    found = np.stack([*rows, plurality_of([(sizes[0], sizes[1])], most)[0]])
    for n in range(1, len(answers) + 1):
        assert found[:, n - 1].tolist() == pytest.approx(by_enumeration(answers, n), abs=1e-12)
    assert np.isnan(found[:, len(answers) :]).all()


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=1, max_size=20))
def test_more_answers_only_raise_the_best_and_lower_the_worst(pairs: list[tuple[int, int]]) -> None:
    right = np.array([min(pair) for pair in pairs])
    graded = np.array([max(pair) for pair in pairs])
    best, worst, majority = (way(right, graded, 100) for way in (best_of, worst_of, majority_of))
    mean = mean_of(right, graded, 100)
    for own in (best, worst, majority, mean):
        assert (np.isnan(own) == (graded[:, None] < np.arange(1, 101))).all()
    with np.errstate(invalid="ignore"):
        assert not (np.diff(best, axis=1) < -1e-12).any()
        assert not (np.diff(worst, axis=1) > 1e-12).any()
        assert not ((worst > mean + 1e-9) | (mean > best + 1e-9) | (majority > best + 1e-9)).any()
    assert best[:, 0].tolist() == pytest.approx(mean[:, 0].tolist(), nan_ok=True)
    assert majority[:, 0].tolist() == pytest.approx(mean[:, 0].tolist(), nan_ok=True)


def test_a_thousand_questions_with_a_hundred_answers_take_no_time() -> None:
    rng = np.random.default_rng(0)
    graded = np.full(1064, 100)
    right = rng.binomial(100, rng.random(1064))
    started = time.process_time()
    for way in (best_of, worst_of, majority_of, mean_of):
        assert way(right, graded, 100).shape == (1064, 100)
    assert time.process_time() - started < 1


def test_no_questions() -> None:
    none = np.array([], dtype=np.int64)
    for way in (best_of, worst_of, majority_of, mean_of):
        assert way(none, none, 3).shape == (0, 3)
    assert plurality_of([], 3).shape == (0, 3)
    assert plurality_of([([], [2]), ([2], [])], 2).tolist() == [[0, 0], [1, 1]]


def test_estimates_of_a_few_answers_from_many_are_without_bias() -> None:
    """Over 4,000 questions with p = 0.3 and N = 10, the curves are within four standard errors of the truth."""
    rng = np.random.default_rng(1)
    right, graded = rng.binomial(10, 0.3, 4000), np.full(4000, 10)
    for n in range(1, 11):
        for way, truth in ((best_of, 1 - 0.7**n), (worst_of, 0.3**n)):
            own = way(right, graded, 10)[:, n - 1]
            assert own.mean() == pytest.approx(truth, abs=4 * max(float(own.std()) / math.sqrt(4000), 1e-4))
