"""Ranks: worked examples, and how often their ranges hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from mores.stats.paired import mcnemar
from mores.stats.ranks import order, rank_range, significant_order, tau_range


def test_ranks_by_hand() -> None:
    first, last = rank_range(order(np.array([0.5, 0.9, 0.5, 0.1])))
    assert (first.tolist(), last.tolist()) == ([2, 1, 2, 4], [3, 1, 3, 4])
    assert rank_range(order(np.array([0.1 + 0.2, 0.3])))[0].tolist() == [1, 1]


def test_tau_of_what_is_sure() -> None:
    """Of three pairs one is in the same order on both, and one in the opposite; the third may be either."""
    first, second = (np.array([[0, 1, one], [-1, 0, 1], [-one, -1, 0]]) for one in (1, 0))
    second[1, 2], second[2, 1] = -1, 1
    assert tau_range(first, second) == pytest.approx((-1 / 3, 1 / 3))
    assert tau_range(first, first) == (1.0, 1.0)
    assert tau_range(first, 0 * first) == (-1.0, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    "models", [(0.5, 0.51, 0.52, 0.53, 0.54), pytest.param((0.1, 0.3, 0.5, 0.9, 0.95), marks=pytest.mark.slow)]
)
def test_ranges_of_ranks_shifts_and_tau_hold_the_truth(models: tuple[float, ...]) -> None:
    """Five models and 20 or 50 questions, some of them hard for all; on another benchmark the best is the worst."""
    rng, samples, count = np.random.default_rng(3), 200, len(models)
    chances = np.array([models, models[::-1]])
    true = [rank_range(order(own))[0] for own in chances]
    held = np.zeros((3, count))
    for sample in range(samples):
        questions = 20 if sample % 2 else 50
        luck = np.where(
            rng.random((2, questions, 1)) < 0.3, rng.random((2, questions, 1)), rng.random((2, questions, count))
        )
        tables = (luck < chances[:, None]).astype(np.float64)
        (low, high), (least, most) = (rank_range(significant_order(table, count - 1)) for table in tables)
        taus = tau_range(*(significant_order(table, count * (count - 1) // 2) for table in tables))
        held[0] += (low <= true[0]) & (true[0] <= high)
        held[1] += (least - high <= true[1] - true[0]) & (true[1] - true[0] <= most - low)
        held[2] += taus[0] <= -1 <= taus[1]
    assert held.min() / samples >= 0.93


def test_models_that_never_differ_are_not_told_apart() -> None:
    """Twenty questions that all answer alike: no order is sure, though every resample has the same."""
    assert not significant_order(np.tile([1.0, 1.0, 1.0], (20, 1)), 2).any()
    assert significant_order(np.tile([1.0, 0.0, np.nan], (20, 1))[:, :2], 1).tolist() == [[0, 1], [-1, 0]]
    assert not significant_order(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, np.nan]]), 1).any()


@pytest.mark.parametrize(
    ("better", "worse", "comparisons", "p"),
    [(11, 3, 1, 0.057), (12, 3, 1, 0.035), (3, 12, 1, 0.035), (15, 3, 10, 0.0075), (16, 3, 10, 0.0044)],
)
def test_an_order_is_significant_where_mcnemars_test_with_bonferronis_correction_is(
    better: int, worse: int, comparisons: int, p: float
) -> None:
    """Of 60 questions, both answer 30 correctly; p just above and just below 0.05, and a tenth of it."""
    assert mcnemar(better, worse) == pytest.approx(p, rel=0.02)
    counts = better, worse, 30, 30 - better - worse
    credit = np.repeat([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]], counts, axis=0)
    sign = int(np.sign(better - worse)) if p * comparisons < 0.05 else 0
    assert significant_order(credit, comparisons).tolist() == [[0, sign], [-sign, 0]]


def test_questions_that_one_model_lacks_do_not_vary() -> None:
    """Ten of 30 are correct in the first alone; on 30 more the second has no answer, and the first is correct again."""
    both = np.repeat([[1.0, 1.0], [1.0, 0.0]], [20, 10], axis=0)
    more = np.concatenate([both, np.tile([1.0, np.nan], (30, 1))])
    assert significant_order(both, 1).tolist() == significant_order(more, 1).tolist() == [[0, 1], [-1, 0]]
